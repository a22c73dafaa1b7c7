"""What is known before any calibration, learnt from simulated igloos that several hands shake, and from real ones."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from companion import __version__
from companion.igloo.calibration.features import PIECE_S, counted, hear, heard_by, pieces, vector
from companion.igloo.calibration.gaussian_process import SHAPES
from companion.igloo.calibration.outlier import learn_usual
from companion.igloo.calibration.store import check_labels
from companion.igloo.count.features import FEATURES, TIERS, tier_of
from companion.igloo.count.signal_validity import scale_of
from companion.lab.train import calibration_prior
from companion.lab.train.calibration_prior import LabelledShakes
from companion.lab.train.dataset import slower
from companion.ports import COUNTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from companion.igloo.calibration.gaussian_process import Prior
    from companion.igloo.calibration.outlier import Usual
    from companion.igloo.count.counter import CountModel
    from companion.igloo.recordings import Recording

    FloatArray = NDArray[np.float64]
    Labelled = tuple[FloatArray, float, int, int, int]
    Progress = Callable[[str, int, int], None]


REAL = 1_000_000
"""From this number on igloos are real ones."""


@dataclass(frozen=True, slots=True)
class SimulationPlan:
    """How many igloos are simulated for each kind of motion; every hand shakes every count ``rounds`` times.

    Many igloos teach more than many shakes of each. ``measured`` is what is known of the box
    (:data:`companion.lab.physics.ranges.MEASURED`): the igloos are then all of such a box.
    """

    devices: int = 130
    guided: int = 160
    hands: int = 2
    rounds: int = 1
    seconds: float = PIECE_S
    seed: int = 41
    measured: Mapping[str, tuple[float, float]] = field(default_factory=dict)


def shaken(plan: SimulationPlan, *, guided: bool) -> Iterator[Labelled]:
    """Yield simulated shakes: samples (n, 3) in g, rate, count, igloo, hand."""
    from companion.lab.physics import draws, people, world
    from companion.lab.physics import guided as beat

    ranges = draws.Ranges().of_box(plan.measured)
    seed = plan.seed + (20 if guided else 0)
    for device in range(plan.guided if guided else plan.devices):
        for person in range(plan.hands):
            igloo, hand = draws.pair(seed, device, person, ranges)
            for number in range(plan.rounds * len(COUNTS)):
                rng = draws.generator(seed, device, person, number)
                if guided:
                    habit = draws.generator(seed, device, person, 0, 0)
                    path = beat.guided(hand, plan.seconds, habit, rng)
                else:
                    path = people.shake(hand, plan.seconds, rng)
                one = world.record(igloo, hand.grip, path, COUNTS[number % len(COUNTS)], rng)
                yield one.g, one.rate_hz, one.count, device, person


@dataclass(slots=True)
class Recorded:
    """Labelled shakes of real igloos, as :func:`shaken` yields simulated ones, and how many could not be used."""

    free: list[Labelled] = field(default_factory=list)
    beat: list[Labelled] = field(default_factory=list)
    igloos: int = 0
    refused: int = 0


def recorded(recordings: Iterable[tuple[str, Recording]]) -> Recorded:
    """Return the shakes of labelled recordings (name of the file, recording); their igloos are numbered from REAL on.

    An igloo of a file is one of its own, whatever those of other files are called: owners do not agree on names.

    :raises BadDataError: when a shake does not say how many beads there were.
    """
    found = Recorded()
    for name, recording in recordings:
        check_labels(name, recording)
        igloos: dict[str, int] = {}
        hands: dict[str, int] = {}
        for i, count in enumerate(recording.count):
            heard = hear(recording.runs(i), key=name)
            if not len(heard.vectors):
                found.refused += 1
                continue
            igloo = recording.device[i] if recording.device else ""
            person = recording.person[i] if recording.person else ""
            device = igloos.setdefault(igloo, REAL + found.igloos + len(igloos))
            hand = hands.setdefault(person, len(hands))
            into = found.beat if recording.guided and recording.guided[i] and heard.kept else found.free
            scale = scale_of(recording.shakes[i]) or 1.0
            for run in recording.runs(i):
                for piece in pieces(run.accel * scale, run.rate_hz):
                    into.append((piece, run.rate_hz, count, device, hand))
        found.igloos += len(igloos)
    return found


def listen(
    shakes: Iterable[Labelled], tiers: tuple[float, ...] = TIERS, model: CountModel | None = None
) -> dict[float, LabelledShakes]:
    """Return what calibration hears of labelled shakes at each tier of rates that is not above their own."""
    rows: dict[float, list[tuple[FloatArray, int, int, int]]] = {tier: [] for tier in tiers}
    for accel, rate, count, device, hand in shakes:
        own = tier_of(rate) or 0.0
        for tier in (tier for tier in tiers if tier <= own):
            factor = round(own / tier)
            found = vector(slower(accel, factor), rate / factor, model)
            if found and found[2] == tier:
                rows[tier].append((found[0], count, device, hand))
    return {
        tier: LabelledShakes(
            np.array([row[0] for row in of]),
            np.array([row[1] for row in of], dtype=np.int64),
            np.array([row[2] for row in of], dtype=np.int64),
            np.array([row[3] for row in of], dtype=np.int64),
        )
        for tier, of in rows.items()
        if of
    }


def write(path: Path, found: dict[tuple[float, bool], Prior], usual: Usual, card: dict[str, Any]) -> None:
    """Write priors, for each (tier, guided), and what shakes are usually like, whole or not at all."""
    arrays: dict[str, Any] = usual.arrays()
    sizes = {}
    for (tier, guided), prior in found.items():
        name = f"{tier:.0f}/{int(guided)}"
        arrays |= prior.arrays(name)
        sizes[name] = {shape: round(float(getattr(prior, shape)), 4) for shape in SHAPES}
    whole = {
        "title": "What is known before an igloo is calibrated",
        "version": __version__,
        "numpy": np.__version__,
        "priors": [[tier, guided] for tier, guided in found],
        "heard_by": {f"{tier:.0f}": heard_by(tier) for tier, _ in found},
        "standard_deviations_of_log_count": sizes,
        **card,
    }
    part = path.with_name(f".{path.name}.part")
    with part.open("wb") as file:
        np.savez_compressed(file, card=np.asarray(json.dumps(whole, ensure_ascii=False)), **arrays)
    part.replace(path)


def build(
    plan: SimulationPlan, progress: Progress | None = None, real: Recorded | None = None
) -> tuple[dict[tuple[float, bool], Prior], Usual, dict[str, Any]]:
    """Return what simulated and real igloos teach and its data card; the same plan and recordings give the same."""
    real = real or Recorded()
    usual = None
    found: dict[tuple[float, bool], Prior] = {}
    used = {}
    for guided in (False, True):
        what = "Shaking with the beat" if guided else "Shaking"
        total = (plan.guided if guided else plan.devices) * plan.hands * plan.rounds * len(COUNTS)

        def with_progress(total: int = total, what: str = what, guided: bool = guided) -> Iterator[Labelled]:
            for number, one in enumerate(shaken(plan, guided=guided), start=1):
                if progress:
                    progress(what, number, total)
                yield one

        used["guided" if guided else "free"] = total
        own = real.beat if guided else real.free
        for tier, shakes in listen(chain(with_progress(), own)).items():
            name = f"Learning at {tier:.0f} Hz{', with the beat' if guided else ''}"
            tell = partial(progress, name) if progress else None
            if tier == TIERS[0] and not guided:
                usual = learn_usual(shakes.vectors[:, :FEATURES], shakes.devices)
            found[tier, guided] = calibration_prior.learn(shakes, progress=tell, counter=partial(counted, tier))
    if usual is None:
        raise ValueError("There is no shake to learn from.")
    return (
        found,
        usual,
        {
            "simulator": "companion.lab.physics (soft spheres)",
            "seed": plan.seed,
            "box": {name: list(reach) for name, reach in plan.measured.items()},
            "shakes": used,
            "real": {"igloos": real.igloos, "pieces": len(real.free) + len(real.beat), "refused": real.refused},
            "hands_per_igloo": plan.hands,
        },
    )
