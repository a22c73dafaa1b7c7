"""The training of the bead counter, from simulated and recorded shakes to a model with its data card."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from companion import __version__
from companion.igloo.count import ensemble as count_ensemble
from companion.igloo.count.convnet import pack
from companion.igloo.count.counter import CountModel, count_recording, together
from companion.igloo.count.features import BLOCK_S, FEATURES, TIERS
from companion.lab.train import dataset
from companion.lab.train import ensemble as training
from companion.lab.train.gather import (
    DatasetPlan,
    Labelled,
    Progress,
    ShakeDataset,
    fit,
    gathered,
    labelled,
    shipped_config,
)
from companion.ports import COUNTS, DeviceKind

FloatArray = NDArray[np.float64]
Tested = tuple[FloatArray, float, int, int]
"""A labelled shake, and the number of its igloo."""


def repeats_of(model: CountModel, groups: list[list[Labelled]]) -> float:
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
        tried = CountModel(model.tiers, float(repeats), model.card)
        loss = 0.0
        for known, count in answered:
            loss -= np.log(together(known, model=tried).p[count - COUNTS.start] + 1e-12)
        if loss < best_loss:
            best, best_loss = float(repeats), loss
    return best


def figures(
    model: CountModel, shakes: Iterable[Tested], ridge: Callable[[FloatArray], FloatArray] | None
) -> dict[str, Any]:
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
            answer = count_recording(dataset.slower(accel, factor), rate / factor, model=model)
            note(f"whole at {TIERS[0] / factor:.0f} Hz", np.asarray(answer.p) if answer.p else flat, count, device)
        if ridge is not None:
            found = dataset.pieces(dataset.listen(accel, rate, TIERS[0]), None)
            guesses.append(float(ridge(found[0][1][None])[0]) if found else 7.0)
    result: dict[str, Any] = {"shakes": len(table["whole"]), "devices": len(set(where["whole"])), "not_judged": refused}
    for name, rows in table.items():
        p, counts, devices = np.asarray(rows), np.asarray(truth[name]), np.asarray(where[name])
        result[name] = rounded(count_ensemble.scores(p, counts)) | {
            "interval": count_ensemble.bootstrap(p, counts, devices)
        }
    if guesses:
        result["ridge, whole"] = rounded(count_ensemble.plain_scores(np.asarray(guesses), np.asarray(truth["whole"])))
    p, counts = np.asarray(table["whole"]), np.asarray(truth["whole"])
    guess = p.argmax(axis=1) + COUNTS.start
    result["by_count"] = {
        str(n): rounded(count_ensemble.plain_scores(guess[counts == n], counts[counts == n]))
        for n in COUNTS
        if (counts == n).any()
    }
    confusion = np.zeros((len(COUNTS), len(COUNTS)), dtype=np.int64)
    np.add.at(confusion, (counts - COUNTS.start, guess - COUNTS.start), 1)
    result["confusion"] = confusion.tolist()
    result["reliability"] = [
        [round(said, 3), round(right, 3), many] for said, right, many in count_ensemble.reliability(p, counts)
    ]
    return result


def ridge_of(known: ShakeDataset) -> Callable[[FloatArray], FloatArray]:
    """Return the plain ridge regression on the longest pieces of shakes: what the networks are measured beside."""
    features, counts, _, blocks = known.arrays()
    long = blocks >= blocks.max() - 2
    return training.ridge(features[long], counts[long])


def rounded(values: dict[str, float]) -> dict[str, float]:
    """Return figures with three digits after the point."""
    return {name: round(float(value), 3) for name, value in values.items()}


def card(
    tiers: dict[float, count_ensemble.Ensemble],
    plan: DatasetPlan,
    bead_net_config: Any,
    trained_on: dict[str, Any],
    repeats: float,
) -> dict[str, Any]:
    """Return the data card of a model, without its figures."""
    return {
        "title": "Bead counter of the tabletop companion",
        "version": __version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "answers": "probabilities of 2 ... 13 beads in a shaken igloo",
        "tiers": sorted(tiers, reverse=True),
        "nets": plan.ensemble_config.nets,
        "listeners": {f"{tier:.0f}": len(one.bead_nets) for tier, one in tiers.items()},
        "ear_weights": sorted(
            {name for one in tiers.values() for bead_net in one.bead_nets for name in pack(bead_net.weights)}
        ),
        "course": bead_net_config.to_card(),
        "layers": len(plan.ensemble_config.width) + 1,
        "features": FEATURES,
        "block_s": BLOCK_S,
        "recipe": asdict(plan.ensemble_config),
        "trained_on": trained_on,
        "repeats": repeats,
        "stretch": {f"{tier:.0f}": round(ensemble.stretch, 3) for tier, ensemble in tiers.items()},
        "limits": (
            "Its shakes are simulated unless recorded ones are named above; nothing of the device or the hand is known "
            "to it. Under other physics than its simulator's it is biased and too sure: see the figures of others."
        ),
    }


def build(
    plan: DatasetPlan,
    simulator: Any,
    *,
    workers: int = 1,
    recorded: Sequence[Labelled] = (),
    tests: Mapping[str, Sequence[Tested]] | None = None,
    progress: Progress | None = None,
) -> CountModel:
    """Train a model and score it on fresh simulated igloos and on other labelled shakes.

    ``simulator`` is :mod:`companion.lab.physics.draws`, or a module that offers the same; ``workers`` processes share
    the work and do not change the model.
    """
    bead_net_config = plan.bead_net_config or shipped_config()
    found = gathered(plan, simulator.__name__, recorded, workers, progress)
    tiers = fit(found, plan, bead_net_config, workers, progress)
    trained_on = {
        "simulator": "companion.lab.physics (soft spheres)",
        "shakes": plan.shakes,
        "seconds": plan.seconds,
        "seed": plan.seed,
        "each_shake": "an igloo, a sensor and a hand of its own",
        "with_the_beat": sum(map(plan.with_beat, range(plan.shakes))),
        "heard": {f"{tier:.0f}": len(one.heard) for tier, one in found.items()},
        "pieces": {f"{tier:.0f}": len(one.counts) for tier, one in found.items()},
        "held_back": plan.shakes - plan.first_back,
        "recorded_shakes": len(recorded),
        "ranges": simulator.Ranges().to_json(),
    }
    model = CountModel(tiers, 1.0, card(tiers, plan, bead_net_config, trained_on, 1.0))
    groups = [
        [labelled(simulator.again(plan.seed + 1_000_000, d, 2 + d % 12, s, plan.seconds)) for s in range(3)]
        for d in range(min(plan.devices, 60))
    ]
    repeats = repeats_of(model, groups)
    model = CountModel(tiers, repeats, card(tiers, plan, bead_net_config, trained_on, repeats))
    ridge = ridge_of(found[TIERS[0]])
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


def counted(shakes: Iterable[Any], what: str, total: int, progress: Progress | None) -> Iterator[Any]:
    """Pass shakes on and tell how many went by."""
    for number, shake in enumerate(shakes):
        yield shake
        if progress:
            progress(what, number + 1, total)
