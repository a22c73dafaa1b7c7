"""The training of the bead counter, from simulated and recorded shakes to a model with its data card."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from companion import __version__
from companion.igloo import learn, lessons
from companion.igloo.count import Model, count_recording, together
from companion.igloo.features import BLOCK_S, FEATURES, TIERS
from companion.igloo.hearing import Heard, Listener, pack
from companion.ports import COUNTS, BadDataError, DeviceKind

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Labelled = tuple[FloatArray, float, int]
"""A shake (n, 3) in g, its true rate, its beads."""
Tested = tuple[FloatArray, float, int, int]
"""The same, and the number of its igloo."""
Progress = Callable[[str, int, int], None]
"""Called with what is done, how far, and how far it goes."""

NO_JAX = "Training needs jax and numba: install the dependency group, `pip install --group train`."
HELD_BACK = 0.1
"""The part of the training shakes that only sets the spread."""
FIT = learn.Recipe()
LONG_EVERY = 4
"""One dozen of shakes in so many is of the plan's full length; the others are short, for more igloos in less time."""
SHORT = 0.4
"""How long a short shake is, as a part of a long one."""
LOW_EVERY = 3
MOST_SAMPLES = 11776
"""A shake to learn from is cut here: 3.7 s at 3200 Hz."""


@dataclass(slots=True)
class Lessons:
    """Features of pieces of shakes for one tier, with the number of the shake each piece is of.

    At the highest tier ``heard`` is what the listeners hear of each shake, by its number.
    """

    features: list[NDArray[np.float32]] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    shakes: list[int] = field(default_factory=list)
    blocks: list[int] = field(default_factory=list)
    heard: dict[int, Heard] = field(default_factory=dict)

    def arrays(self) -> tuple[FloatArray, IntArray, IntArray, IntArray]:
        """Return features (m, f), counts, shakes and blocks (m,)."""
        return (
            np.asarray(self.features, dtype=np.float64).reshape(-1, FEATURES),
            np.asarray(self.counts, dtype=np.int64),
            np.asarray(self.shakes, dtype=np.int64),
            np.asarray(self.blocks, dtype=np.int64),
        )


def gather(
    shakes: Iterable[Labelled], seed: int, tiers: tuple[float, ...] = TIERS, first: int = 0
) -> dict[float, Lessons]:
    """Return the lessons of labelled shakes at 3200 Hz or so, for each tier; ``first`` is the first shake's number.

    At the lower tiers only one dozen in :data:`LOW_EVERY` is listened to.
    """
    found = {tier: Lessons() for tier in tiers}
    for number, (accel, rate, count) in enumerate(shakes, first):
        for tier in tiers if number // len(COUNTS) % LOW_EVERY == 0 else tiers[:1]:
            rng = np.random.default_rng([seed, number, 0, int(tier)])
            one = lessons.listen(accel[:MOST_SAMPLES], rate, tier)
            for blocks, features in lessons.pieces(one, rng):
                found[tier].features.append(features.astype(np.float32))
                found[tier].counts.append(count)
                found[tier].shakes.append(number)
                found[tier].blocks.append(blocks)
            if tier == TIERS[0] and (heard := one.heard):
                # half the memory; the sensor's own steps are coarser than the 16 bits' for all but the loudest
                found[tier].heard[number] = Heard(heard.sound.astype(np.float16), heard.motion.astype(np.float16))
    return found


def fit(
    found: dict[float, Lessons], recipe: learn.Recipe, course: Any = None, progress: Progress | None = None
) -> dict[float, learn.Ensemble]:
    """Train the networks of each tier and, by a ``course`` of :mod:`companion.igloo.tuition`, the listeners.

    The spread is set on shakes that they did not see.
    """
    tiers = {}
    for tier, one in found.items():
        features, counts, shakes, _ = one.arrays()
        if not len(features):
            raise ValueError("There is no shake to learn from.")
        seen = shakes < (1 - HELD_BACK) * (shakes.max() + 1)

        def tell(done: int, of: int, what: str = f"Learning at {tier:.0f} Hz") -> None:
            if progress:
                progress(what, done, of)

        ensemble = learn.train(features[seen], counts[seen], recipe, tell)
        # the longest piece of each shake stands for it where the whole shake is heard
        _, firsts = np.unique(shakes, return_index=True)
        if course is None or not one.heard:
            tiers[tier] = replace(ensemble, stretch=learn.stretch_for(ensemble, features[~seen], counts[~seen]))
            continue
        firsts = np.array([i for i in firsts if int(shakes[i]) in one.heard])
        known, fresh = firsts[seen[firsts]], firsts[~seen[firsts]]
        listeners = _listeners(one, shakes[known], counts[known], course, progress)
        ensemble = replace(ensemble, listeners=listeners, trust=recipe.trust)
        some = known[:: max(len(known) // 1500, 1)]
        layers = ensemble.last_layers(features[some], [one.heard[int(n)] for n in shakes[some]])
        ensemble = replace(ensemble, inner=learn.inner_axes(layers))
        heard = [one.heard[int(n)] for n in shakes[fresh]]
        tiers[tier] = replace(ensemble, stretch=learn.stretch_for(ensemble, features[fresh], counts[fresh], heard))
    return tiers


def _listeners(
    one: Lessons, shakes: IntArray, counts: IntArray, course: Any, progress: Progress | None
) -> tuple[Listener, ...]:
    """Train the listeners on shakes (by number) with known counts."""
    from companion.igloo import tuition

    def tell(done: int, of: int) -> None:
        if progress:
            progress("Learning to listen", done, of)

    return tuition.train([one.heard[int(n)] for n in shakes], counts, course, tell)


def repeats_of(model: Model, groups: list[list[Labelled]]) -> float:
    """Return how far shakes of one igloo by one hand repeat each other's errors: what makes the best likelihood.

    ``groups`` are shakes of the same igloo, hand and count.
    """
    answered = []
    for group in groups:
        answers = [count_recording(accel, rate, model=model) for accel, rate, _ in group]
        known = [one for one in answers if one.p]
        if len(known) > 1:
            answered.append((known, group[0][2]))
    best, best_loss = 1.0, np.inf
    for repeats in np.linspace(0.0, 1.0, 21):
        tried = Model(model.tiers, float(repeats), model.card)
        loss = 0.0
        for known, count in answered:
            loss -= np.log(together(known, model=tried).p[count - COUNTS.start] + 1e-12)
        if loss < best_loss:
            best, best_loss = float(repeats), loss
    return best


def figures(model: Model, shakes: Iterable[Tested], ridge: Callable[[FloatArray], FloatArray] | None) -> dict[str, Any]:
    """Return scores on labelled shakes (accel in g, rate, count, device), at 3200 Hz and slowed down.

    Every shake counts: one that the counter would not judge is guessed from a flat distribution. Intervals are of 95 %,
    bootstrapped by device.
    """
    table: dict[str, list[FloatArray]] = {}
    truth: dict[str, list[int]] = {}
    where: dict[str, list[int]] = {}
    guesses: list[float] = []
    refused = 0

    def note(name: str, p: FloatArray, count: int, device: int) -> None:
        table.setdefault(name, []).append(p)
        truth.setdefault(name, []).append(count)
        where.setdefault(name, []).append(device)

    flat = np.full(len(COUNTS), 1 / len(COUNTS))
    for accel, rate, count, device in shakes:
        whole = count_recording(accel, rate, model=model, kind=DeviceKind.SIMULATED)
        refused += not whole.p
        note("whole", np.asarray(whole.p) if whole.p else flat, count, device)
        for seconds in (2.0, 1.0, 0.5):
            # a little is lost at the beginning, where the shake swells
            part = accel[int(0.2 * rate) : int((0.2 + seconds + 0.17) * rate)]
            answer = count_recording(part, rate, model=model, kind=DeviceKind.SIMULATED)
            note(f"{seconds:g} s", np.asarray(answer.p) if answer.p else flat, count, device)
        for factor in (2, 4):
            answer = count_recording(lessons.slower(accel, factor), rate / factor, model=model)
            note(f"whole at {TIERS[0] / factor:.0f} Hz", np.asarray(answer.p) if answer.p else flat, count, device)
        if ridge is not None:
            found = lessons.pieces(lessons.listen(accel, rate, TIERS[0]), None)
            guesses.append(float(ridge(found[0][1][None])[0]) if found else 7.0)
    result: dict[str, Any] = {"shakes": len(table["whole"]), "devices": len(set(where["whole"])), "not_judged": refused}
    for name, rows in table.items():
        p, counts, devices = np.asarray(rows), np.asarray(truth[name]), np.asarray(where[name])
        result[name] = rounded(learn.scores(p, counts)) | {"interval": learn.bootstrap(p, counts, devices)}
    if guesses:
        result["ridge, whole"] = rounded(learn.plain_scores(np.asarray(guesses), np.asarray(truth["whole"])))
    p, counts = np.asarray(table["whole"]), np.asarray(truth["whole"])
    guess = p.argmax(axis=1) + COUNTS.start
    result["by_count"] = {
        str(n): rounded(learn.plain_scores(guess[counts == n], counts[counts == n]))
        for n in COUNTS
        if (counts == n).any()
    }
    confusion = np.zeros((len(COUNTS), len(COUNTS)), dtype=np.int64)
    np.add.at(confusion, (counts - COUNTS.start, guess - COUNTS.start), 1)
    result["confusion"] = confusion.tolist()
    result["reliability"] = [
        [round(said, 3), round(right, 3), many] for said, right, many in learn.reliability(p, counts)
    ]
    return result


def rounded(values: dict[str, float]) -> dict[str, float]:
    """Return figures with three digits after the point."""
    return {name: round(float(value), 3) for name, value in values.items()}


def card(
    tiers: dict[float, learn.Ensemble], recipe: learn.Recipe, course: Any, trained_on: dict[str, Any], repeats: float
) -> dict[str, Any]:
    """Return the data card of a model, without its figures."""
    return {
        "title": "Bead counter of the tabletop companion",
        "version": __version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "answers": "probabilities of 2 ... 13 beads in a shaken igloo",
        "tiers": sorted(tiers, reverse=True),
        "nets": recipe.nets,
        "listeners": max(len(one.listeners) for one in tiers.values()),
        "ear_weights": sorted({name for one in tiers.values() for ear in one.listeners for name in pack(ear.weights)}),
        "course": asdict(course) if course else None,
        "layers": len(recipe.width) + 1,
        "features": FEATURES,
        "block_s": BLOCK_S,
        "recipe": asdict(recipe),
        "trained_on": trained_on,
        "repeats": repeats,
        "stretch": {f"{tier:.0f}": round(ensemble.stretch, 3) for tier, ensemble in tiers.items()},
        "limits": (
            "Its shakes are simulated unless recorded ones are named above; nothing of the device or the hand is known "
            "to it. Under other physics than its simulator's it is biased and too sure: see the figures of others."
        ),
    }


@dataclass(frozen=True, slots=True)
class Plan:
    """What a model is trained and tested with; the same plan and recordings give the same model."""

    shakes: int
    seconds: float
    seed: int
    devices: int
    recipe: learn.Recipe = FIT
    course: Any = None
    """The course of the listeners (:class:`companion.igloo.tuition.Course`); None for the one that ships."""

    def length(self, number: int) -> float:
        """Return how long training shake ``number`` is, in seconds."""
        return self.seconds if number // len(COUNTS) % LONG_EVERY == 0 else SHORT * self.seconds


def shipped_course() -> Any:
    """Return the course of the shipped listeners.

    :raises BadDataError: when jax, which trains them, is not installed.
    """
    try:
        from companion.igloo import tuition
    except ModuleNotFoundError as error:
        raise BadDataError(NO_JAX) from error
    return tuition.Course()


def build(
    plan: Plan,
    simulator: Any,
    *,
    found: dict[float, Lessons] | None = None,
    recorded: Sequence[Labelled] = (),
    tests: Mapping[str, Sequence[Tested]] | None = None,
    progress: Progress | None = None,
) -> Model:
    """Train a model and score it on fresh simulated igloos and on other labelled shakes.

    ``simulator`` is :mod:`companion.physics.draws`, or what offers the same; ``found`` are the lessons where they
    have been gathered already.
    """
    if found is None:
        simulated = (labelled(simulator.shake(plan.seed, i, plan.length(i))) for i in range(plan.shakes))
        every = counted(chain(simulated, recorded), "Shaking and listening", plan.shakes + len(recorded), progress)
        found = gather(every, plan.seed)
    course = plan.course or shipped_course()
    tiers = fit(found, plan.recipe, course, progress)
    trained_on = {
        "simulator": "companion.physics (soft spheres)",
        "shakes": plan.shakes,
        "seconds": plan.seconds,
        "seed": plan.seed,
        "each_shake": "an igloo, a sensor and a hand of its own",
        "pieces": len(found[TIERS[0]].counts),
        "recorded_shakes": len(recorded),
        "ranges": simulator.Ranges().to_json(),
    }
    model = Model(tiers, 1.0, card(tiers, plan.recipe, course, trained_on, 1.0))
    groups = [
        [labelled(simulator.again(plan.seed + 1_000_000, d, 2 + d % 12, s, plan.seconds)) for s in range(3)]
        for d in range(min(plan.devices, 60))
    ]
    repeats = repeats_of(model, groups)
    model = Model(tiers, repeats, card(tiers, plan.recipe, course, trained_on, repeats))
    features, counts, _, blocks = found[TIERS[0]].arrays()
    long = blocks >= blocks.max() - 2
    ridge = learn.ridge(features[long], counts[long])
    fresh = (
        (*labelled(simulator.again(plan.seed + 2_000_000, d, count, 0, plan.seconds)), d)
        for d in range(plan.devices)
        for count in COUNTS
    )
    total = plan.devices * len(COUNTS)
    scored = {"fresh igloos of the same simulator": figures(model, counted(fresh, "Testing", total, progress), ridge)}
    for name, shakes in (tests or {}).items():
        scored[name] = figures(model, counted(shakes, f"Testing on {name}", len(shakes), progress), ridge)
    model.card["figures"] = scored
    return model


def labelled(recording: Any) -> Labelled:
    """Return a simulated recording as accel in g, rate and count."""
    return recording.g, recording.rate_hz, recording.count


def counted(shakes: Iterable[Any], what: str, total: int, progress: Progress | None) -> Iterator[Any]:
    """Pass shakes on and tell how many went by."""
    for number, shake in enumerate(shakes):
        yield shake
        if progress:
            progress(what, number + 1, total)
