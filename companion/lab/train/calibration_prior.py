"""Learns what is known before a calibration from many igloos, each shaken by several hands.

The common part is a generalised least squares fit: what differs from igloo to igloo and from hand to hand counts
little in it. The sizes of the differences are chosen by the likelihood of held-back igloos: each is calibrated with a
few of its shakes, as a user would, and judged on the others. First all sizes but those of the bends are chosen, with
the common part fitted anew each time; then (:func:`refine`) all of them, the spread and how far the counter itself is
believed, with the common part left as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from companion.igloo.calibration.gaussian_process import (
    CENTRE,
    SHAPES,
    Known,
    PredictiveDistribution,
    Prior,
    combined,
    spread,
)
from companion.igloo.count.ensemble import nll
from companion.ports import COUNTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from companion.igloo.calibration.gaussian_process import Counted

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]

FIRST = {"device_bias": 0.2, "device_slope": 0.15, "hand_bias": 0.03, "hand_slope": 0.06, "noise": 0.12}
RIDGE = 12.0
FACTORS = (2.0, 1.4)
SMALLEST = 1e-3
BENDS = {"curve": 0.1, "reach": 1.0, "share": 0.9}
TRUST = 0.3
"""What the bends and the trust in the counter begin with."""


@dataclass(frozen=True, slots=True)
class LabelledShakes:
    """Labelled shakes of many igloos: ``vectors`` (n, f), ``counts``, ``devices`` and ``hands`` (n,)."""

    vectors: FloatArray
    counts: IntArray
    devices: IntArray
    hands: IntArray

    def of(self, use: NDArray[np.bool_] | IntArray) -> LabelledShakes:
        """Return some of them."""
        return LabelledShakes(self.vectors[use], self.counts[use], self.devices[use], self.hands[use])


@dataclass(frozen=True, slots=True)
class Trial:
    """An igloo held back: places of the shakes that calibrate it and of those that it is judged on."""

    known: IntArray
    judged: IntArray


def trials(shakes: LabelledShakes, sizes: tuple[int, ...] = (12, 36), seed: int = 1) -> list[Trial]:
    """Return for each igloo and each size a trial with hands that calibrated and, where there are more, others.

    Of the calibration shakes every count comes as often as the others, as far as that goes.
    """
    rng = np.random.default_rng(seed)
    found = []
    for device in np.unique(shakes.devices):
        mine = np.flatnonzero(shakes.devices == device)
        hands = rng.permutation(np.unique(shakes.hands[mine]))
        for size in sizes:
            pool = mine[shakes.hands[mine] != hands[-1]] if len(hands) > 1 else mine
            if size <= 12:
                pool = mine[shakes.hands[mine] == hands[0]]
            order = _evenly(shakes.counts[pool], rng)
            known = pool[order[:size]]
            judged = np.setdiff1d(mine, known)
            if len(judged):
                found.append(Trial(known, judged))
    return found


def _evenly(counts: IntArray, rng: np.random.Generator) -> IntArray:
    """Return an order in which every count comes once before any comes twice."""
    shuffled = rng.permutation(len(counts))
    turn = np.zeros(len(counts), dtype=np.int64)
    seen: dict[int, int] = {}
    for i in shuffled:
        turn[i] = seen.get(int(counts[i]), 0)
        seen[int(counts[i])] = int(turn[i]) + 1
    return np.asarray(shuffled[np.argsort(turn[shuffled], kind="stable")])


def scaling(vectors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return middle and scale of vectors (n, f), outliers apart."""
    middle = np.median(vectors, axis=0)
    reach = np.percentile(vectors, 84, axis=0) - np.percentile(vectors, 16, axis=0)
    return middle, np.maximum(0.5 * reach, 0.05 * vectors.std(axis=0) + 1e-3)


def fit_weights(prior: Prior, shakes: LabelledShakes) -> Prior:
    """Return the prior with the common part that fits shakes of many igloos best, given the sizes of differences."""
    size = len(prior.middle)
    x = prior.represent(shakes.vectors)
    y = np.log(shakes.counts) - CENTRE
    left, right = RIDGE * np.eye(size), np.zeros(size)
    for device in np.unique(shakes.devices):
        mine = shakes.devices == device
        hands = [str(hand) for hand in shakes.hands[mine]]
        noisy = prior.covariance(x[mine], hands, x[mine], hands)
        noisy[np.diag_indices_from(noisy)] += prior.noise**2
        weighed = np.linalg.solve(noisy, np.column_stack([x[mine], y[mine]])) * prior.noise**2
        left += x[mine].T @ weighed[:, :-1]
        right += x[mine].T @ weighed[:, -1]
    return replace(prior, weights=np.asarray(np.linalg.solve(left, right), dtype=np.float64))


def judge(prior: Prior, shakes: LabelledShakes, judged: list[Trial]) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return mean, standard deviation and true count of every judged shake, alone, and of shakes alike joined.

    Alike are those of one count by one hand; so the errors that they share are judged too.
    """
    means: list[float] = []
    deviations: list[float] = []
    truth: list[int] = []
    for trial in judged:
        known, test = shakes.of(trial.known), shakes.of(trial.judged)
        process = Known(prior, known.vectors, known.counts, [str(hand) for hand in known.hands])
        answer = process.answer(test.vectors, [str(hand) for hand in test.hands])
        means.extend(answer.mean)
        deviations.extend(np.sqrt(np.diag(answer.covariance)))
        truth.extend(test.counts)
        alike = test.hands * COUNTS.stop + test.counts
        for group in np.unique(alike):
            at = np.flatnonzero(alike == group)
            if len(at) > 1:
                mean, deviation = combined(answer.mean[at], answer.covariance[np.ix_(at, at)])
                means += [mean] * len(at)
                deviations += [deviation] * len(at)
                truth.extend(test.counts[at])
    return np.array(means), np.array(deviations), np.array(truth)


@dataclass(frozen=True, slots=True)
class LaidOut:
    """All that sizes are tried on, of one igloo that was held back from the common part: n shakes.

    Mean products (n, n) and mean squared distances (n, n) of their features, whether one hand made both (n, n), the
    common part (n,), what the counter says (n, 12; logarithms), counts and hands (n,), and its trials.
    """

    alike: FloatArray
    apart: FloatArray
    same: NDArray[np.bool_]
    common: FloatArray
    said: FloatArray | None
    counts: IntArray
    hands: IntArray
    trials: tuple[Trial, ...]

    def answers(self, prior: Prior) -> list[tuple[FloatArray, int]]:
        """Return probabilities and true count of every judged shake alone, and of shakes alike joined."""
        found: list[tuple[FloatArray, int]] = []
        every = prior.mixed(self.alike, self.apart, self.same)
        own = np.log(self.counts) - self.common
        for trial in self.trials:
            known, judged = trial.known, trial.judged
            noisy = every[np.ix_(known, known)] + prior.noise**2 * np.eye(len(known))
            across = every[np.ix_(judged, known)]
            solved = np.linalg.solve(noisy, np.column_stack([own[known], across.T]))
            covariance = every[np.ix_(judged, judged)] - across @ solved[:, 1:] + prior.noise**2 * np.eye(len(judged))
            mean = self.common[judged] + across @ solved[:, 0]
            said = None if self.said is None else prior.believed(self.said[judged])
            share = 1.0 if said is None else prior.share
            answer = PredictiveDistribution(mean, covariance, said, share)
            found.extend(zip(answer.each(prior.stretch), self.counts[judged], strict=True))
            alike = self.hands[judged] * COUNTS.stop + self.counts[judged]
            for group in np.unique(alike):
                at = np.flatnonzero(alike == group)[:3]
                if len(at) > 1:
                    some = None if said is None else said[at]
                    both = PredictiveDistribution(mean[at], covariance[np.ix_(at, at)], some, share).joined(
                        prior.stretch
                    )
                    found += [(both, int(self.counts[judged][at[0]]))] * len(at)
        return found


def lay_out(prior: Prior, shakes: LabelledShakes, every: list[Trial], counter: Counted | None = None) -> list[LaidOut]:
    """Return what sizes are tried on, for the igloos of these trials, of whose shakes the common part saw none."""
    found = []
    for device in np.unique([shakes.devices[trial.judged[0]] for trial in every]):
        mine = np.flatnonzero(shakes.devices == device)
        x = prior.represent(shakes.vectors[mine])
        alike = x @ x.T / x.shape[1]
        power = np.diag(alike)
        found.append(
            LaidOut(
                alike,
                power[:, None] + power[None] - 2 * alike,
                shakes.hands[mine][:, None] == shakes.hands[mine][None],
                CENTRE + x @ prior.weights,
                np.log(counter(shakes.vectors[mine])) if counter else None,
                shakes.counts[mine],
                shakes.hands[mine],
                tuple(
                    Trial(np.searchsorted(mine, trial.known), np.searchsorted(mine, trial.judged))
                    for trial in every
                    if shakes.devices[trial.judged[0]] == device
                ),
            )
        )
    return found


def cost_of(prior: Prior, igloos: list[LaidOut]) -> float:
    """Return the mean negative log likelihood of all that is judged."""
    answers = [answer for one in igloos for answer in one.answers(prior)]
    return nll(np.array([p for p, _ in answers]), np.array([count for _, count in answers]))


def evened(p: FloatArray, counts: IntArray) -> FloatArray:
    """Return factors (12,) that make what is expected of probabilities (n, 12) as often as the true counts (n,)."""
    came = (np.bincount(counts - COUNTS.start, minlength=len(COUNTS)) + 0.5) / (len(counts) + 0.5 * len(COUNTS))
    factors = np.ones(len(COUNTS))
    for _ in range(200):
        weighed = p * factors
        factors *= np.sqrt(came / (weighed / weighed.sum(axis=1, keepdims=True)).mean(axis=0))
    return np.asarray(factors / np.exp(np.log(factors).mean()))


def refine(prior: Prior, igloos: list[LaidOut], progress: Callable[[int, int], None] | None = None) -> Prior:
    """Return the prior with the sizes, the spread and the trust that suit igloos that were held back best."""
    prior = replace(prior, curve=BENDS["curve"], reach=BENDS["reach"])
    names = [name for name in SHAPES if name not in ("share", "trust")]
    if igloos[0].said is not None:
        said = np.concatenate([one.said for one in igloos if one.said is not None])
        even = evened(np.exp(said), np.concatenate([one.counts for one in igloos]))
        prior = replace(prior, share=BENDS["share"], trust=TRUST, even=even)
        names = list(SHAPES)
    cost = cost_of(prior, igloos)
    total, done = len(FACTORS) * len(names), 0
    for factor in FACTORS:
        for name in names:
            for step in (factor**0.5, factor**-0.5):
                while (value := getattr(prior, name) * step) > SMALLEST:
                    tried = replace(prior, **{name: value})
                    new = cost_of(tried, igloos)
                    if new > cost - 3e-4:
                        break
                    prior, cost = tried, new
            done += 1
            if progress:
                progress(done, total)
    return prior


def learn(
    shakes: LabelledShakes,
    seed: int = 1,
    progress: Callable[[int, int], None] | None = None,
    counter: Counted | None = None,
) -> Prior:
    """Return what shakes of many igloos teach; the same shakes and seed give the same prior.

    ``progress(done, of)`` is called as the sizes are tried. ``counter`` turns vectors (m, f) into the counter's own
    probabilities (m, 12); without it only the process answers.
    """
    middle, scale = scaling(shakes.vectors)
    prior = Prior(middle, scale, np.zeros(len(middle)), **FIRST, even=np.ones(len(COUNTS)))
    rng = np.random.default_rng(seed)
    folds = np.array_split(rng.permutation(np.unique(shakes.devices)), 3)
    every = trials(shakes, seed=seed)

    def loss(tried: Prior) -> tuple[float, float]:
        """Return the likelihood lost on held-back igloos, and the stretch that is best there."""
        parts = []
        for fold in folds:
            out = np.isin(shakes.devices, fold)
            fitted = fit_weights(tried, shakes.of(~out))
            parts.append(judge(fitted, shakes, [one for one in every if out[one.judged[0]]]))
        mean, deviation, counts = (np.concatenate(values) for values in zip(*parts, strict=True))
        costs = {s: nll(spread(mean, deviation * s), counts) for s in np.exp(np.linspace(-0.4, 0.6, 11))}
        best = min(costs, key=lambda s: costs[s])
        return costs[best], float(best)

    cost, stretch = loss(prior)
    names = list(FIRST)
    total, done = len(FACTORS) * len(names), 0
    for factor in FACTORS:
        for name in names:
            for step in (factor, 1 / factor):
                while (value := getattr(prior, name) * step) > SMALLEST:
                    tried = replace(prior, **{name: value})
                    new, wide = loss(tried)
                    if new > cost - 5e-4:
                        break
                    prior, cost, stretch = tried, new, wide
            done += 1
            if progress:
                progress(done, total)
    prior = replace(prior, stretch=stretch)
    held: list[LaidOut] = []
    for fold in folds:
        out = np.isin(shakes.devices, fold)
        fitted = fit_weights(prior, shakes.of(~out))
        held += lay_out(fitted, shakes, [one for one in every if out[one.judged[0]]], counter)
    return fit_weights(refine(prior, held, progress), shakes)
