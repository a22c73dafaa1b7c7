"""What lies in a place as one answer over whole contents that were taught: ridge regression (Hoerl and Kennard 1970).

It learns from the features that the network learns from, without its hidden layer and its noise, in a part of a second.
So it errs in other places than the network, and where both say the same they are right more often. What was never
taught together it cannot tell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from vision.board.labels import Content

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from vision.learn.augment import Examples

    Floats = NDArray[np.float32]
    Arrays = Mapping[str, NDArray[Any]]

ARRAYS: Final = ("whole_answers", "whole_usual", "whole_ground", "whole_counts")
"""What it is stored as; profiles of before there was one, and of boards of other games, are without."""
_HELD: Final = 0.5
"""How much the regression is held back, of 0.5 and 2 the better on real tiles (Kingdomino's boards 1–37)."""


def ridge(seen: Floats, rows: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """Return (features, states) and (states,): ``seen`` (n, features) times the one plus the other answers ``rows``.

    ``rows`` (n,) numbers the state of each. A rare one weighs more, by the root of how rare it is.
    """
    inputs = seen.astype(np.float64)
    targets = np.eye(int(rows.max()) + 1)[rows]
    usual = targets.mean(axis=0)
    weight = 1 / np.sqrt(np.bincount(rows))[rows]
    weight /= weight.mean()
    held = _HELD * float((inputs**2).sum(axis=1).mean())
    inner = inputs.T @ (inputs * weight[:, None]) + held * np.eye(inputs.shape[1])
    answers = np.linalg.solve(inner, inputs.T @ ((targets - usual) * weight[:, None]))
    return answers.astype(np.float32), usual.astype(np.float32)


def train_whole(features: Floats, by: Arrays, examples: Examples) -> dict[str, NDArray[Any]]:
    """Return the :data:`ARRAYS` of examples (n, features): of those that were taught, not of what was put together.

    ``by`` holds ``mean`` and ``scale`` of the features.
    """
    taught = np.nonzero(examples.source >= 0)[0]
    _, first, rows = np.unique(examples.state[taught], return_index=True, return_inverse=True)
    answers, usual = ridge((features[taught] - by["mean"]) * by["scale"], rows)
    return {
        "whole_answers": answers,
        "whole_usual": usual,
        "whole_ground": examples.ground[taught][first],
        "whole_counts": examples.counts[taught][first],
    }


def read_whole(features: Floats, arrays: Arrays) -> tuple[Content, ...] | None:
    """Return the likeliest taught content of each place (n, features); None where that was never learnt."""
    if "whole_answers" not in arrays:
        return None
    seen = (features - arrays["mean"]) * arrays["scale"]
    likeliest = (seen @ arrays["whole_answers"] + arrays["whole_usual"]).argmax(axis=1).tolist()
    contents = [
        Content(int(ground), tuple((thing, n) for thing, n in enumerate(counts) if n))
        for ground, counts in zip(arrays["whole_ground"].tolist(), arrays["whole_counts"].tolist(), strict=True)
    ]
    return tuple(contents[index] for index in likeliest)
