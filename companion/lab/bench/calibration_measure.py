"""How good counts are after a calibration, on labelled shakes of many igloos by several hands: rows 2 to 5 of the aims.

The igloos are those of any simulator (or real ones); nothing here looks at more than vectors and labels. Beside every
row stands a plain ridge regression on the features of the same calibration shakes, which knows no other igloo.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from companion.igloo.calibration.gaussian_process import Known
from companion.igloo.calibration.joined import outlook
from companion.igloo.calibration.sizes import of_hands
from companion.igloo.count.ensemble import LIMIT, bootstrap, plain_scores, scores
from companion.igloo.count.features import FEATURES
from companion.igloo.count.guided import LONGEST_S, SURE_P
from companion.ports import COUNTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from companion.igloo.calibration.gaussian_process import Counted, Prior
    from companion.lab.train.calibration_prior import LabelledShakes

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]
    Masks = tuple[NDArray[np.bool_], NDArray[np.bool_]]

DRAWS = 300
PIECE_S = 3.84
CEILING = "360 calibration shakes, the same hand"
"""The row that stands for all that a free shake can tell: more shakes of one igloo by one hand than anybody makes."""
STRENGTHS = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
"""Strengths of the ridge regression, of which the best by leaving one calibration shake out is taken."""


@dataclass(frozen=True, slots=True)
class Row:
    """One way to calibrate and to test.

    ``split(hand, number)`` gives, for the pieces of one igloo, pairs of masks: what calibrates, what is judged.
    ``hand`` numbers the hands from 0, ``number`` the shakes of each hand. Of a shake at most so many pieces are
    joined; with ``together``, those of the same number by several hands are.
    """

    name: str
    split: Callable[[IntArray, IntArray], Iterator[Masks]]
    aim: str = ""
    pieces: int = 99
    together: bool = False


def free_rows() -> list[Row]:
    """Return the rows for shakes as anybody shakes; hand 0 has 48 of them, another hand 12 or more."""
    twelve, many, enrolled = "50 / 90 / 0.65", "60 / 95 / 0.50", ""
    return [
        Row(
            "12 calibration shakes, the same hand",
            lambda h, n: iter([((h == 0) & (n < 12), (h == 0) & (n >= 12))]),
            twelve,
        ),
        Row("12 calibration shakes, a new hand", lambda h, n: iter([((h == 0) & (n < 12), h > 0)]), twelve),
        Row("36 calibration shakes, a new hand", lambda h, n: iter([((h == 0) & (n < 36), h > 0)]), many),
        Row(
            "36 calibration shakes, the same hand",
            lambda h, n: iter([((h == 0) & (n < 36), (h == 0) & (n >= 36))]),
            enrolled,
        ),
    ]


def enrolled_rows() -> list[Row]:
    """Return the rows of many shakes: hand 0 has 144 of them, a new hand 12."""
    return [
        Row("60 calibration shakes, the same hand", lambda h, n: iter([((h == 0) & (n < 60), (h == 0) & (n >= 60))])),
        Row("60 calibration shakes, a new hand", lambda h, n: iter([((h == 0) & (n < 60), h > 0)])),
        Row("device and person enrolled, 120 shakes", _each_once(6, 24), "80 / 99.5 / 0.22"),
        Row("120 calibration shakes, a new hand", lambda h, n: iter([((h == 0) & (n < 120), h > 0)])),
    ]


def long_rows() -> list[Row]:
    """Return the rows of very many shakes: hand 0 has 396 of them, a new hand 12."""
    return [
        Row(CEILING, _each_once(11, 36)),
        Row("360 calibration shakes, a new hand", lambda h, n: iter([((h == 0) & (n < 360), h > 0)])),
    ]


def _each_once(parts: int, size: int) -> Callable[[IntArray, IntArray], Iterator[Masks]]:
    """Return how hand 0's shakes, so many parts of one size, are each judged once by those of the other parts."""

    def split(hand: IntArray, number: IntArray) -> Iterator[Masks]:
        for k in range(parts):
            own = hand == 0
            yield own & (number // size != k), own & (number // size == k)

    return split


def guided_rows() -> list[Row]:
    """Return the rows with the beat: hand 0 has 36 shakes of 4 s, two others one of 8 s of each count."""

    def own(hand: IntArray, number: IntArray) -> Iterator[Masks]:
        for k in range(12):
            mine = hand == 0
            yield mine & (number % 12 != k), mine & (number % 12 == k)

    def left_out(hand: IntArray, number: IntArray) -> Iterator[Masks]:
        for k in range(36):
            yield (hand == 0) & (number != k), (hand == 0) & (number == k)

    aim = "97 / 100 / 0.03"
    known = "36 guided calibration shakes"
    return [
        Row(f"{known}, a new hand, 4 s", lambda h, n: iter([(h == 0, h > 0)]), aim, 1),
        Row(f"{known}, a new hand, 8 s", lambda h, n: iter([(h == 0, h > 0)]), aim, 2),
        Row(f"{known}, two new hands, 8 s each", lambda h, n: iter([(h == 0, h > 0)]), aim, 2, together=True),
        Row("35 guided calibration shakes, the same hand, 4 s", left_out),
        Row("33 guided, the same hand, a count it has not met, 4 s", own),
    ]


def measure(
    row: Row, shakes: LabelledShakes, number: IntArray, prior: Prior, counter: Counted | None = None
) -> dict[str, Any]:
    """Return scores of one row with 95 % intervals, bootstrapped by igloo; ``number`` (n,) names each piece's shake.

    ``counter`` is what :class:`Known` asks for the counter's own opinion. ``ridge`` are the scores of
    the plain regression, ``fixed`` those with the sizes as shipped, ``confusion`` (12, 12) how often each count was
    answered.
    """
    answers: list[FloatArray] = []
    fixed: list[FloatArray] = []
    plain: list[float] = []
    truth: list[int] = []
    igloos: list[int] = []
    for device in np.unique(shakes.devices):
        mine = np.flatnonzero(shakes.devices == device)
        order = orders(shakes.hands[mine], number[mine])
        for calibrates, judged in row.split(shakes.hands[mine], order):
            known, test = shakes.of(mine[calibrates]), mine[judged]
            process = Known(prior, known.vectors, known.counts, [str(hand) for hand in known.hands], counter)
            own = adapted(process, known, number[mine[calibrates]])
            regression = ridge(known.vectors[:, :FEATURES], known.counts)
            unit = order[judged] + (0 if row.together else 1000 * shakes.hands[test])
            for one in np.unique(unit):
                at = test[_first(unit == one, shakes.hands[test], row.pieces)]
                hands = [str(hand) for hand in shakes.hands[at]]
                answers.append(own.answer(shakes.vectors[at], hands).joined(prior.stretch))
                fixed.append(process.answer(shakes.vectors[at], hands).joined(prior.stretch))
                plain.append(float(np.mean(regression(shakes.vectors[at, :FEATURES]))))
                truth.append(int(shakes.counts[at[0]]))
                igloos.append(int(device))
    p, counts = np.array(answers), np.array(truth)
    guess = np.clip(np.rint(np.exp(plain)), COUNTS.start, COUNTS.stop - 1)
    confusion = np.zeros((len(COUNTS), len(COUNTS)), dtype=np.int64)
    np.add.at(confusion, (counts - COUNTS.start, p.argmax(axis=1)), 1)
    found: dict[str, Any] = {name: round(value, 3) for name, value in scores(p, counts).items()}
    return found | {
        "shakes": len(counts),
        "igloos": len(set(igloos)),
        "interval": bootstrap(p, counts, np.array(igloos), DRAWS),
        "ridge": {name: round(value, 3) for name, value in plain_scores(guess, counts).items()},
        "fixed": {name: round(value, 3) for name, value in scores(np.array(fixed), counts).items()},
        "confusion": confusion.tolist(),
        "aim": row.aim,
    }


def adapted(process: Known, known: LabelledShakes, number: IntArray) -> Known:
    """Return an igloo's process with sizes of its own, as a calibration with these shakes (n) has it."""
    sizes = of_hands(process, known.vectors, number)
    return process.adapted({name: one.applied(process.prior) for name, one in sizes.items()})


def stopped(shakes: LabelledShakes, number: IntArray, prior: Prior, counter: Counted | None = None) -> dict[str, Any]:
    """Return how the guided count ends: 8 s of one new hand, then 8 s of another, until the answer is sure.

    ``sure`` is the part that became sure, ``right`` how many of these were exact, ``seconds`` the median of all; the
    scores are of all answers, sure or not.
    """
    answers: list[FloatArray] = []
    truth: list[int] = []
    lengths: list[float] = []
    igloos: list[int] = []
    for device in np.unique(shakes.devices):
        mine = np.flatnonzero(shakes.devices == device)
        order = orders(shakes.hands[mine], number[mine])
        known = shakes.of(mine[shakes.hands[mine] == 0])
        process = Known(prior, known.vectors, known.counts, ["0"] * len(known.counts), counter)
        new = shakes.hands[mine] > 0
        for one in np.unique(order[new]):
            at = mine[new][_first(order[new] == one, shakes.hands[mine][new], 2)]
            p = np.full(len(COUNTS), 1 / len(COUNTS))
            pieces = 0
            while pieces < len(at) and (pieces + 1) * PIECE_S <= LONGEST_S + 1e-9 and p.max() < SURE_P:
                pieces += 1
                part = at[:pieces]
                answer = process.answer(shakes.vectors[part], [str(hand) for hand in shakes.hands[part]])
                p = answer.joined(prior.stretch)
            answers.append(p)
            truth.append(int(shakes.counts[at[0]]))
            lengths.append(pieces * PIECE_S)
            igloos.append(int(device))
    return _ended(answers, truth, lengths, igloos) | {"aim": "97 / 100 / 0.03"}


def shaken_on(
    shakes: LabelledShakes, number: IntArray, prior: Prior, counter: Counted | None = None, known: int = 36
) -> dict[str, Any]:
    """Return how free shakes end that are joined until sure: hand 0's first ``known`` shakes calibrate its others.

    As :func:`stopped`; ``ten`` says how many of ten and more beads became sure, of how many. ``told`` are four numbers
    of the counts that were not sure after three shakes: of how many it was said then that they would be with the shakes
    that were left, and how many of these were; how many others were; and how many there are.
    """
    answers: list[FloatArray] = []
    truth: list[int] = []
    lengths: list[float] = []
    igloos: list[int] = []
    told = np.zeros((2, 2), dtype=np.int64)
    for device in np.unique(shakes.devices):
        mine = np.flatnonzero((shakes.devices == device) & (shakes.hands == 0))
        order = orders(shakes.hands[mine], number[mine])
        calibrates = shakes.of(mine[order < known])
        process = Known(prior, calibrates.vectors, calibrates.counts, ["0"] * len(calibrates.counts), counter)
        process = adapted(process, calibrates, number[mine[order < known]])
        for count in COUNTS:
            at = mine[(order >= known) & (shakes.counts[mine] == count)]
            path: list[FloatArray] = []
            while len(path) < len(at) and (not path or path[-1].max() < SURE_P):
                part = at[: len(path) + 1]
                path.append(process.answer(shakes.vectors[part], ["0"] * len(part)).joined(prior.stretch))
            answers.append(path[-1])
            truth.append(count)
            lengths.append(len(path) * PIECE_S)
            igloos.append(int(device))
            if len(path) > 3 and (ahead := outlook(np.array(path[:3]))):
                told[int(ahead.shakes <= len(at) - 3), int(path[-1].max() >= SURE_P)] += 1
    found = _ended(answers, truth, lengths, igloos)
    ten = np.array(truth) >= 10
    sure = np.array(answers).max(axis=1) >= SURE_P
    return found | {
        "ten": [int(sure[ten].sum()), int(ten.sum())],
        "told": [int(told[1].sum()), int(told[1, 1]), int(told[0, 1]), int(told.sum())],
        "aim": "",
    }


def _ended(answers: list[FloatArray], truth: list[int], lengths: list[float], igloos: list[int]) -> dict[str, Any]:
    """Return the scores of counts that ended after so many seconds, and how many of them were sure."""
    p, counts = np.array(answers), np.array(truth)
    sure = p.max(axis=1) >= SURE_P
    right = p.argmax(axis=1) + COUNTS.start == counts
    found: dict[str, Any] = {name: round(value, 3) for name, value in scores(p, counts).items()}
    return found | {
        "shakes": len(counts),
        "igloos": len(set(igloos)),
        "interval": bootstrap(p, counts, np.array(igloos), DRAWS),
        "sure": round(float(sure.mean()), 3),
        "right": [int(right[sure].sum()), int(sure.sum())],
        "seconds": round(float(np.median(lengths)), 2),
    }


def orders(hands: IntArray, number: IntArray) -> IntArray:
    """Return for each piece of one igloo the how-manieth of its hand's shakes it is of."""
    found = np.zeros(len(hands), dtype=np.int64)
    for hand in np.unique(hands):
        own = number[hands == hand]
        found[hands == hand] = np.searchsorted(np.unique(own), own)
    return found


def _first(use: NDArray[np.bool_], hands: IntArray, pieces: int) -> IntArray:
    """Return the places of the first so many pieces of each hand."""
    places = np.flatnonzero(use)
    return np.concatenate([places[hands[places] == hand][:pieces] for hand in np.unique(hands[places])])


def ridge(features: FloatArray, counts: IntArray) -> Callable[[FloatArray], FloatArray]:
    """Return a plain ridge regression of log count on the features (n, f) of one igloo's own shakes.

    Its strength is the one with the least error when each shake is left out in turn.
    """
    middle, scale = features.mean(axis=0), features.std(axis=0) + 1e-3
    x = np.clip((features - middle) / scale, -LIMIT, LIMIT)
    y = np.log(counts)
    centre = float(y.mean())
    best, least = np.zeros(x.shape[1]), np.inf
    for strength in STRENGTHS:
        inverse = np.linalg.inv(x @ x.T + strength * np.eye(len(x)))
        dual = inverse @ (y - centre)
        # what leaving a shake out changes follows from the inverse's diagonal
        error = float(np.mean((dual / np.diag(inverse)) ** 2))
        if error < least:
            best, least = x.T @ dual, error
    return lambda f: centre + np.clip((f - middle) / scale, -LIMIT, LIMIT) @ best
