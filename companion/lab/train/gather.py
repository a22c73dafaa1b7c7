"""What the bead counter learns from, gathered by several processes, and the learning itself.

Each shake is made and heard by its number alone, and each bead network learns by itself: so the number of processes
changes nothing but the time.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from companion.igloo.count import ensemble as count_ensemble
from companion.igloo.count.convnet import BeadNet, NetInput
from companion.igloo.count.features import FEATURES, TIERS
from companion.lab.train import dataset
from companion.lab.train import ensemble as training
from companion.ports import COUNTS, BadDataError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Labelled = tuple[FloatArray, float, int]
"""A shake (n, 3) in g, its true rate, its beads."""
Progress = Callable[[str, int, int], None]
"""Called with what is done, how far, and how far it goes."""

NO_JAX = "Training needs jax and numba: install the dependency group, `pip install --group train`."
HELD_BACK = 1 / 18
"""The part of the simulated shakes, the last of them, that only sets the spread."""
FEW = 0.2
"""The part of the others from which features are taken, also at the lower tiers: time goes to the bead networks."""
LONG_EVERY = 4
"""One dozen of shakes in so many is of the plan's full length; the others are short, for more igloos in less time."""
SHORT = 0.4
"""How long a short shake is, as a part of a long one."""
BEAT_EVERY = 5
"""One dozen in so many is shaken with the beat that the page gives, the others freely."""
MOST_SAMPLES = 11776
"""A shake to learn from is cut here: 3.7 s at 3200 Hz."""
CHUNK = 20 * len(COUNTS)
"""How many shakes a process makes at a time."""


@dataclass(frozen=True, slots=True)
class DatasetPlan:
    """What a model is trained and tested with; the same plan and recordings give the same model."""

    shakes: int
    seconds: float
    seed: int
    devices: int
    ensemble_config: training.EnsembleTrainingConfig = field(default_factory=training.EnsembleTrainingConfig)
    bead_net_config: Any = None
    """A :class:`companion.lab.train.train_convnet.BeadNetTrainingConfig`; None for the one that ships."""
    few: float = FEW

    def length(self, number: int) -> float:
        """Return how long training shake ``number`` is, in seconds."""
        return self.seconds if number // len(COUNTS) % LONG_EVERY == 0 else SHORT * self.seconds

    def with_beat(self, number: int) -> bool:
        """Tell whether training shake ``number`` follows the beat."""
        return number // len(COUNTS) % BEAT_EVERY == 1

    @property
    def first_back(self) -> int:
        """The first simulated shake that is held back."""
        return self.shakes - max(int(HELD_BACK * self.shakes), len(COUNTS))

    def held_back(self, number: IntArray) -> NDArray[np.bool_]:
        """Tell which shakes only set the spread; what was recorded comes after the simulated ones and is learnt."""
        return (number >= self.first_back) & (number < self.shakes)

    def in_full(self, number: int) -> bool:
        """Tell whether features and lower tiers are taken of a shake."""
        return number < self.few * self.first_back or number >= self.first_back


@dataclass(slots=True)
class ShakeDataset:
    """Features of pieces of shakes for one tier, with the number of the shake each piece is of.

    ``heard`` is what the bead networks hear of each shake, and ``beads`` how many there were, by its number.
    """

    features: list[NDArray[np.float32]] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    shakes: list[int] = field(default_factory=list)
    blocks: list[int] = field(default_factory=list)
    heard: dict[int, NetInput] = field(default_factory=dict)
    beads: dict[int, int] = field(default_factory=dict)

    def arrays(self) -> tuple[FloatArray, IntArray, IntArray, IntArray]:
        """Return features (m, f), counts, shakes and blocks (m,)."""
        return (
            np.asarray(self.features, dtype=np.float64).reshape(-1, FEATURES),
            np.asarray(self.counts, dtype=np.int64),
            np.asarray(self.shakes, dtype=np.int64),
            np.asarray(self.blocks, dtype=np.int64),
        )

    def add(self, more: ShakeDataset) -> None:
        """Take in the features of other shakes."""
        self.features += more.features
        self.counts += more.counts
        self.shakes += more.shakes
        self.blocks += more.blocks
        self.heard |= more.heard
        self.beads |= more.beads


def labelled(recording: Any) -> Labelled:
    """Return a simulated recording as accel in g, rate and count."""
    return recording.g, recording.rate_hz, recording.count


def gather(shakes: Iterable[Labelled], plan: DatasetPlan, first: int = 0) -> dict[float, ShakeDataset]:
    """Return the features of labelled shakes at 3200 Hz or so, for each tier; ``first`` is the first shake's number."""
    found = {tier: ShakeDataset() for tier in TIERS}
    for number, (accel, rate, count) in enumerate(shakes, first):
        for tier in TIERS if plan.in_full(number) else TIERS[:1]:
            one = dataset.listen(accel[:MOST_SAMPLES], rate, tier)
            if plan.in_full(number):
                rng = np.random.default_rng([plan.seed, number, 0, int(tier)])
                for blocks, features in dataset.pieces(one, rng):
                    found[tier].features.append(features.astype(np.float32))
                    found[tier].counts.append(count)
                    found[tier].shakes.append(number)
                    found[tier].blocks.append(blocks)
            if heard := one.heard:
                # half the memory; the sensor's own steps are coarser than the 16 bits' for all but the loudest
                found[tier].heard[number] = NetInput(heard.sound.astype(np.float16), heard.motion.astype(np.float16))
                found[tier].beads[number] = count
    return found


def simulated(plan: DatasetPlan, simulator: str, first: int) -> dict[float, ShakeDataset]:
    """Return the features of the next :data:`CHUNK` shakes of a plan, made by the module called ``simulator``."""
    draws = importlib.import_module(simulator)
    numbers = range(first, min(first + CHUNK, plan.shakes))
    shakes = (draws.shake(plan.seed, i, plan.length(i), beat=plan.with_beat(i)) for i in numbers)
    return gather(map(labelled, shakes), plan, first)


def gathered(
    plan: DatasetPlan, simulator: str, recorded: Sequence[Labelled], workers: int, progress: Progress | None
) -> dict[float, ShakeDataset]:
    """Return the features of all shakes of a plan, and of what was recorded, made by so many processes."""
    found = {tier: ShakeDataset() for tier in TIERS}
    starts = range(0, plan.shakes, CHUNK)
    with _Processes(workers) as mapped:
        for done, chunk in enumerate(mapped(partial(simulated, plan, simulator), starts), 1):
            for tier, one in chunk.items():
                found[tier].add(one)
            if progress:
                progress("Shaking and listening", min(done * CHUNK, plan.shakes), plan.shakes)
    for tier, one in gather(recorded, replace(plan, few=np.inf), plan.shakes).items():
        found[tier].add(one)
    return found


class _Processes:
    """A ``map`` over so many processes, in order; over this one where it is one."""

    def __init__(self, workers: int) -> None:
        self._pool = ProcessPoolExecutor(workers, get_context("spawn")) if workers > 1 else None

    def __enter__(self) -> Callable[[Callable[..., Any], Iterable[Any]], Iterator[Any]]:
        return self._pool.map if self._pool else map

    def __exit__(self, *_: object) -> None:
        if self._pool:
            self._pool.shutdown(cancel_futures=True)


def fit(
    found: dict[float, ShakeDataset],
    plan: DatasetPlan,
    bead_net_config: Any,
    workers: int = 1,
    progress: Progress | None = None,
) -> dict[float, count_ensemble.Ensemble]:
    """Train the networks of each tier and, by a ``BeadNetTrainingConfig``, the bead networks.

    The spread is set on shakes that they did not see.
    """
    bead_nets = taught(found, plan, bead_net_config, workers, progress)
    tiers = {}
    for tier, one in found.items():
        features, counts, shakes, _ = one.arrays()
        if not len(features):
            raise ValueError("There is no shake to learn from.")
        fresh = plan.held_back(shakes)

        def tell(done: int, of: int, what: str = f"Learning at {tier:.0f} Hz") -> None:
            if progress:
                progress(what, done, of)

        ensemble = training.train(features[~fresh], counts[~fresh], plan.ensemble_config, tell)
        ensemble = replace(ensemble, bead_nets=bead_nets[tier], trust=plan.ensemble_config.trust)
        # the longest piece of each shake stands for it where the whole shake is heard
        _, firsts = np.unique(shakes, return_index=True)
        firsts = np.array([i for i in firsts if int(shakes[i]) in one.heard])
        back = firsts[fresh[firsts]]
        stretch = training.stretch_for(
            ensemble, features[back], counts[back], [one.heard[int(n)] for n in shakes[back]]
        )
        tiers[tier] = replace(ensemble, stretch=stretch)
    return tiers


def taught(
    found: dict[float, ShakeDataset], plan: DatasetPlan, bead_net_config: Any, workers: int, progress: Progress | None
) -> dict[float, tuple[BeadNet, ...]]:
    """Train the bead networks of the highest tier; then let the last of them go on learning at each lower one."""
    top, *lower = TIERS
    bead_nets: dict[float, tuple[BeadNet, ...]] = {}
    with TemporaryDirectory() as name, _Processes(workers) as mapped:
        for tier, one in found.items():
            _lay_down(Path(name) / f"{tier:.0f}", one, plan)

        def all_of(pupils: Iterator[BeadNet], what: str, of: int) -> tuple[BeadNet, ...]:
            done: list[BeadNet] = []
            for pupil in pupils:
                done.append(pupil)
                if progress:
                    progress(what, len(done), of)
            return tuple(done)

        teach = partial(_pupil, Path(name) / f"{top:.0f}", bead_net_config)
        bead_nets[top] = all_of(
            mapped(teach, range(bead_net_config.bead_nets)), "Learning to listen", bead_net_config.bead_nets
        )
        teach = partial(_slowed, Path(name), bead_net_config, bead_nets[top][-1])
        for tier, pupil in zip(
            lower, all_of(mapped(teach, lower), "Listening at lower rates", len(lower)), strict=True
        ):
            bead_nets[tier] = (pupil,)
    return bead_nets


def _lay_down(folder: Path, one: ShakeDataset, plan: DatasetPlan) -> None:
    """Write what was heard, but for what is held back, where every process can read it without a copy of its own."""
    numbers = [n for n in one.heard if not plan.held_back(np.array([n]))[0]]
    if not numbers:
        raise ValueError("There is no shake to learn from.")
    folder.mkdir()
    heard = [one.heard[n] for n in numbers]
    np.save(folder / "sound.npy", np.concatenate([each.sound for each in heard]))
    np.save(folder / "motion.npy", np.concatenate([each.motion for each in heard]))
    np.save(folder / "sizes.npy", np.array([(len(each.sound), len(each.motion)) for each in heard]))
    np.save(folder / "counts.npy", np.array([one.beads[n] for n in numbers]))


def _taken_up(folder: Path) -> tuple[list[NetInput], IntArray]:
    """Return what lies in a folder, and its counts."""
    sound, motion = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("sound", "motion"))
    ends = np.cumsum(np.load(folder / "sizes.npy"), axis=0)
    starts = np.concatenate([[[0, 0]], ends[:-1]])
    heard = [NetInput(sound[a:b], motion[c:d]) for (a, c), (b, d) in zip(starts, ends, strict=True)]
    return heard, np.load(folder / "counts.npy")


def _pupil(folder: Path, bead_net_config: Any, number: int) -> BeadNet:
    """Train one bead network on what lies in a folder."""
    from companion.lab.train import train_convnet

    return train_convnet.train_one(*_taken_up(folder), bead_net_config, number)


def _slowed(folder: Path, bead_net_config: Any, bead_net: BeadNet, tier: float) -> BeadNet:
    """Let a bead network go on learning on what lies in a lower tier's folder."""
    from companion.lab.train import train_convnet

    return train_convnet.slow_down(
        bead_net, *_taken_up(folder / f"{tier:.0f}"), bead_net_config, round(TIERS[0] / tier)
    )


def shipped_config() -> Any:
    """Return the configuration of the shipped bead networks.

    :raises BadDataError: when jax, which trains them, is not installed.
    """
    try:
        from companion.lab.train import train_convnet
    except ModuleNotFoundError as error:
        raise BadDataError(NO_JAX) from error
    return train_convnet.BeadNetTrainingConfig()
