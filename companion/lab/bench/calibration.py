"""The counter on fresh simulated igloos: as shipped and calibrated, guided, and where nothing was ever known.

Every igloo is shaken by people of its own, once as calibration and once to be judged; every shake counts, also those
that the counter would rather not answer. Beside each row stands a plain ridge regression on the same calibration
shakes. The simulator is given, so that one that no training saw can be asked
(``companion/lab/bench/fresh_igloos.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from companion.igloo.calibration.features import counted, hear
from companion.igloo.calibration.gaussian_process import Known
from companion.igloo.calibration.outlier import beyond
from companion.igloo.calibration.store import priors, usual
from companion.igloo.count.counter import embed, embed_blocks
from companion.igloo.count.counter import shipped as counter
from companion.igloo.count.ensemble import as_vector, bootstrap, scores
from companion.igloo.count.features import FEATURES, TIERS, FeatureStream
from companion.lab.bench import calibration_measure as measured
from companion.lab.bench.scores import in_words, scores_row
from companion.lab.train.calibration_prior import LabelledShakes
from companion.ports import COUNTS, Samples

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from companion.lab.physics.draws import Record
    from companion.lab.physics.world import SensorRecording

    FloatArray = NDArray[np.float64]
    Progress = Callable[[int, int], None]
    Row = dict[str, Any]

AS_SHIPPED = "as shipped, nothing known"
STOPPED = "the guided count: until sure, two new hands, 15 s at most"
SHAKEN_ON = "36 calibration shakes, the same hand shakes on until sure, nine shakes at most"
AIM = "40 / 82 / 0.90"
ENROLLED_EVERY = 4
"""One igloo in so many is shaken 144 times by one person, for the rows of 60 and 120 calibration shakes."""
LONG_EVERY = 16
"""One igloo in so many is shaken 396 times by one person."""


@dataclass(frozen=True, slots=True)
class CalibrationTrial:
    """Shakes of one kind for every igloo: (hand, how many, seconds each); ``every`` so many igloos."""

    name: str
    hands: tuple[tuple[int, int, float], ...]
    guided: bool = False
    every: int = 1
    design: int = 0


PARTS = (
    CalibrationTrial("free", ((0, 48, 4.0), (1, 12, 4.0))),
    CalibrationTrial("guided", ((0, 36, 4.0), (1, 12, 8.0), (2, 12, 8.0)), guided=True),
    CalibrationTrial("enrolled", ((0, 144, 4.0), (1, 12, 4.0)), every=ENROLLED_EVERY),
    CalibrationTrial("long", ((0, 396, 4.0), (1, 12, 4.0)), every=LONG_EVERY),
)


@dataclass(slots=True)
class Gathered:
    """What was heard of one part: vectors of pieces with count, igloo, hand and number of the shake; and ``plain``.

    ``plain`` are the counter's own probabilities of each shake (k, 12), with its count and igloo.
    """

    vectors: list[FloatArray] = field(default_factory=list)
    labels: list[tuple[int, int, int, int]] = field(default_factory=list)
    plain: list[tuple[FloatArray, int, int]] = field(default_factory=list)

    def shakes(self) -> tuple[LabelledShakes, NDArray[np.int64]]:
        """Return the pieces, and the number of each one's shake."""
        count, device, hand, number = np.array(self.labels, dtype=np.int64).T
        return LabelledShakes(np.array(self.vectors), count, device, hand), number


def gather(
    record: Record,
    part: CalibrationTrial,
    igloos: int,
    seed: int,
    tick: Callable[[], object] = lambda: None,
    *,
    whole: bool = False,
) -> Gathered:
    """Shake igloos of a simulator and hear them; with ``whole`` also where the hand hardly moves."""
    from companion.lab.physics import draws, guided, people

    found = Gathered()
    number = 0
    for device in range(0, igloos, part.every):
        for person, many, seconds in part.hands:
            igloo, hand = draws.pair(seed, device, person)
            for i in range(many):
                rng = draws.generator(seed, device, person, i)
                if part.guided:
                    habit = draws.generator(seed, device, person, 0, 0)
                    path = guided.guided(hand, seconds, habit, rng, guided.DESIGNS[part.design])
                else:
                    path = people.shake(hand, seconds, rng)
                count = COUNTS[i % len(COUNTS)]
                one = record(igloo, hand.grip, path, count, rng)
                heard = hear([Samples(one.g, 0.0, one.rate_hz, 0)])
                plain = embed(one.g, one.rate_hz)
                number += 1
                tick()
                if plain is not None:
                    found.plain.append((plain.p, count, device))
                for vector in _whole(one) if whole else heard.vectors:
                    found.vectors.append(vector)
                    found.labels.append((count, device, person, number))
    return found


def _whole(one: SensorRecording) -> FloatArray:
    """Return the vector (1, f + h + 1) of all blocks but the first, whether the hand moved in them or not."""
    stream = FeatureStream(one.rate_hz)
    stream.feed(one.g)
    ensemble = counter().tiers[stream.tier]
    found = embed_blocks(ensemble, stream.tier, stream.rows[1:], stream.cells[1:], stream.sounds[1:])
    return as_vector(found, ensemble)[None]


def total(igloos: int) -> int:
    """Return how many shakes are simulated for so many igloos."""
    return sum(len(range(0, igloos, part.every)) * sum(many for _, many, _ in part.hands) for part in PARTS)


def figures(record: Record, igloos: int, seed: int, tick: Callable[[], object] = lambda: None) -> dict[str, Any]:
    """Return the scores of every row, by its name, on so many fresh igloos of a simulator."""
    known = priors()
    found: dict[str, Any] = {}
    for part in PARTS:
        heard = gather(record, part, igloos, seed, tick)
        if part.name == "free":
            found[AS_SHIPPED] = shipped(heard.plain)
        rows = {
            "free": measured.free_rows,
            "guided": measured.guided_rows,
            "enrolled": measured.enrolled_rows,
            "long": measured.long_rows,
        }
        shakes, number = heard.shakes()
        prior, own = known[TIERS[0], part.guided], partial(counted, TIERS[0])
        for row in rows[part.name]():
            found[row.name] = measured.measure(row, shakes, number, prior, own)
        if part.guided:
            found[STOPPED] = measured.stopped(shakes, number, prior, own)
        if part.name == "enrolled":
            found[SHAKEN_ON] = measured.shaken_on(shakes, number, prior, own)
    return found


def shipped(plain: Sequence[tuple[FloatArray, int, int]]) -> dict[str, Any]:
    """Return the scores of the counter's own answers: probabilities, count, igloo."""
    p = np.array([one[0] for one in plain])
    counts, igloos = (np.array([one[k] for one in plain], dtype=np.int64) for k in (1, 2))
    result: dict[str, Any] = {name: round(value, 3) for name, value in scores(p, counts).items()}
    interval = bootstrap(p, counts, igloos, measured.DRAWS)
    return result | {"shakes": len(counts), "igloos": len(set(igloos)), "interval": interval, "aim": AIM}


def motions(record: Record, igloos: int, seed: int) -> Iterator[Row]:
    """Yield what each motion that could be guided tells, by the plain ridge regression on one igloo's 24 shakes of 4 s.

    A new hand's shakes are judged, and each of the same hand's when four of them were left out.
    """
    from companion.lab.physics.guided import DESIGNS

    for number, design in enumerate(DESIGNS):
        part = CalibrationTrial(design.name, ((0, 24, 4.0), (1, 12, 4.0)), guided=True, design=number)
        heard = gather(record, part, igloos, seed, whole=True)
        shakes, order = heard.shakes()
        said = []
        for judged in ("a new hand", "the same hand"):
            apart: list[float] = []
            for device in np.unique(shakes.devices):
                mine = np.flatnonzero(shakes.devices == device)
                first = measured.orders(shakes.hands[mine], order[mine])
                own = shakes.hands[mine] == 0
                for known, test in _folds(own, first, new=judged == "a new hand"):
                    regression = measured.ridge(shakes.vectors[mine[known], :FEATURES], shakes.counts[mine[known]])
                    guess = np.exp(regression(shakes.vectors[mine[test], :FEATURES]))
                    apart += list(np.abs(np.clip(np.rint(guess), 2, 13) - shakes.counts[mine[test]]))
            off = np.array(apart)
            score_text = f"{100 * (off == 0).mean():.0f} / {100 * (off <= 1).mean():.0f} / {off.mean():.2f}"
            said.append(f"{judged} {score_text} ({len(off)})")
        yield {"what": design.name, "value": "; ".join(said), "unit": "", "aim": "", "note": f"{igloos} igloos"}


def _folds(
    own: NDArray[np.bool_], number: NDArray[np.int64], *, new: bool
) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    """Yield what calibrates and what is judged of one igloo's shakes."""
    if new:
        yield own, ~own
        return
    for k in range(6):
        left = own & (number // 4 == k)
        yield own & ~left, left


def unlike(record: Record, others: Iterable[SensorRecording], igloos: int, seed: int) -> float:
    """Return the area under the curve of telling ``others`` from an igloo's own shakes, after 12 calibration shakes.

    The measure is the sum of strangeness and of the probability of a count beyond the box; of each igloo's shakes a
    new hand's are judged, and the others are each held against the igloos in turn.
    """
    part = CalibrationTrial("unlike", ((0, 12, 4.0), (1, 12, 4.0)))
    shakes, _ = gather(record, part, igloos, seed).shakes()
    known, prior = usual(), priors()[TIERS[0], False]
    if known is None:
        raise ValueError("The priors do not say what is usual.")
    processes = []
    own: list[float] = []

    def strange(vectors: FloatArray, process: Known, mine: FloatArray) -> float:
        return known.strangeness(vectors, mine) + beyond(process.answer(vectors, ["?"] * len(vectors)))

    for device in np.unique(shakes.devices):
        mine = shakes.of((shakes.devices == device) & (shakes.hands == 0))
        process = Known(prior, mine.vectors, mine.counts, ["0"] * len(mine.counts))
        processes.append((process, mine.vectors))
        rest = shakes.of((shakes.devices == device) & (shakes.hands == 1))
        own += [strange(vector[None], process, mine.vectors) for vector in rest.vectors]
    foreign = []
    for k, other in enumerate(others):
        heard = embed_vectors(other)
        if heard is not None:
            foreign.append(strange(heard, *processes[k % len(processes)]))
    greater = np.array(foreign)[:, None] > np.array(own)[None]
    return float(greater.mean())


def embed_vectors(one: SensorRecording) -> FloatArray | None:
    """Return the vector (1, f + h + 1) of a whole shake, also where the counter would refuse it."""
    from companion.igloo.calibration.features import vector

    found = vector(one.g, one.rate_hz)
    return None if found is None else found[0][None]


def rows(found: dict[str, Any], where: str) -> Iterator[Row]:
    """Yield figures as lines of the table, each with the ridge regression beside it."""
    ceiling = found.get(measured.CEILING, {}).get("exact")
    for name, one in found.items():
        line = scores_row(f"{name}, {where}", one)
        if ceiling and name != measured.CEILING and "guided" not in name:
            line["note"] += f"; {100 * one['exact'] / ceiling:.0f} % of the ceiling's exact"
        if "ridge" in one:
            ridge = one["ridge"]
            line["note"] += f"; plain ridge {100 * ridge['exact']:.0f} / {100 * ridge['within_one']:.0f} / "
            line["note"] += f"{ridge['mae']:.2f}"
        if "fixed" in one:
            line["note"] += f"; with the sizes as shipped {in_words(one['fixed'])}"
        if "sure" in one:
            right, sure = one["right"]
            line["note"] += f"; sure {100 * one['sure']:.0f} %, of these right {right} of {sure}"
            line["note"] += f"; median {one['seconds']:.1f} s"
        if "told" in one:
            said, became, others, of = one["told"]
            line["note"] += f"; of ten and more beads sure {one['ten'][0]} of {one['ten'][1]}; after three shakes it"
            line["note"] += f" said of {said} that they would be ({became} were), of {of - said} not ({others} were)"
        yield line
