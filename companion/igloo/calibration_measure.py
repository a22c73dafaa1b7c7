"""How good counts are after a calibration, on labelled shakes of many igloos by several hands: rows 2 to 5 of the aims.

The igloos are those of any simulator (or real ones); nothing here looks at more than vectors and labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from companion.igloo.calibrate_model import Known
from companion.igloo.learn import bootstrap, scores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from companion.igloo.calibrate_learn import Shakes
    from companion.igloo.calibrate_model import Prior

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]
    Masks = tuple[NDArray[np.bool_], NDArray[np.bool_]]

FOLDS = 6
DRAWS = 300


@dataclass(frozen=True, slots=True)
class Row:
    """One way to calibrate and to test.

    ``split(hand, number)`` gives, for the pieces of one igloo, pairs of masks: what calibrates, what is judged.
    ``hand`` numbers the hands from 0, ``number`` the shakes of each hand. Of a shake at most so many pieces are
    joined.
    """

    name: str
    split: Callable[[IntArray, IntArray], Iterator[Masks]]
    pieces: int = 99


def free_rows() -> list[Row]:
    """Return the rows for shakes as anybody shakes; hand 0 has 36 or more, for the last row 144."""
    return [
        Row("nothing known", lambda h, n: iter([(h < 0, h >= 0)])),
        Row("12 calibration shakes, same hand", lambda h, n: iter([((h == 0) & (n < 12), (h == 0) & (n >= 12))])),
        Row("12 calibration shakes, new hands", lambda h, n: iter([((h == 0) & (n < 12), h > 0)])),
        Row("36 calibration shakes of one hand, new hands", lambda h, n: iter([((h == 0) & (n < 36), h > 0)])),
        Row(
            "36 calibration shakes of two hands, a new hand",
            lambda h, n: iter([(((h == 0) & (n < 24)) | ((h == 1) & (n < 12)), h == 2)]),
        ),
    ]


def enrolled_rows() -> list[Row]:
    """Return the row for an igloo and a person with 120 shakes, of 144 that are each judged once by the others."""

    def folds(hand: IntArray, number: IntArray) -> Iterator[Masks]:
        for k in range(FOLDS):
            own = hand == 0
            yield own & (number // 24 != k), own & (number // 24 == k)

    return [Row("device and person enrolled, 120 shakes", folds)]


def guided_rows() -> list[Row]:
    """Return the rows with the metronome; the last hand's shakes are long and judged."""
    found = []
    for pieces in (1, 2, 4):
        found.append(
            Row(
                f"36 guided shakes of one hand, a new hand, {4 * pieces} s",
                lambda h, n: iter([((h == 0) & (n < 36), h == h.max())]),
                pieces,
            )
        )
        found.append(
            Row(
                f"36 guided shakes of three hands, a new hand, {4 * pieces} s",
                lambda h, n: iter([((h < 3) & (n < 12), h == h.max())]),
                pieces,
            )
        )
    return found


def measure(row: Row, shakes: Shakes, number: IntArray, prior: Prior) -> dict[str, Any]:
    """Return scores of one row with 95 % intervals, bootstrapped by igloo; ``number`` (n,) names each piece's shake."""
    answers: list[FloatArray] = []
    truth: list[int] = []
    igloos: list[int] = []
    for device in np.unique(shakes.devices):
        mine = np.flatnonzero(shakes.devices == device)
        hands = shakes.hands[mine]
        order = np.zeros(len(mine), dtype=np.int64)
        for hand in np.unique(hands):
            own = number[mine][hands == hand]
            order[hands == hand] = np.searchsorted(np.unique(own), own)
        for calibrates, judged in row.split(hands, order):
            known, test = shakes.of(mine[calibrates]), mine[judged]
            process = Known(prior, known.vectors, known.counts, [str(hand) for hand in known.hands])
            for shake in np.unique(number[test]):
                at = test[number[test] == shake][: row.pieces]
                answer = process.answer(shakes.vectors[at], [str(hand) for hand in shakes.hands[at]])
                answers.append(answer.joined(prior.stretch))
                truth.append(int(shakes.counts[at[0]]))
                igloos.append(int(device))
    p, counts = np.array(answers), np.array(truth)
    found: dict[str, Any] = {name: round(value, 3) for name, value in scores(p, counts).items()}
    interval = bootstrap(p, counts, np.array(igloos), DRAWS)
    return found | {"shakes": len(counts), "igloos": len(set(igloos)), "interval": interval}
