"""How the tokens of a kind are read by prints that they are compared with, and how far their scores are trusted.

That is told by taught tokens that are read by those of other places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.ports import FloatArray

_DOUBT: Final = 0.01
_USUAL: Final = 100.0
_SPREAD: Final = 0.5
_SHARPNESS: Final = np.geomspace(5, 160, 16)
_LIKELY = np.exp(-0.5 * (np.log(_SHARPNESS / _USUAL) / _SPREAD) ** 2)
EVEN: Final = _LIKELY / _LIKELY.sum()


@dataclass(frozen=True)
class TokenJudgement:
    """How the tokens of a kind are read: how far scores are trusted, what is taken off them, and which turns count.

    ``trust`` has how likely each of the ``_SHARPNESS`` is. A strange ``tint`` costs, and so does a print of another
    kind; where only one value of the kind was taught, its ``own`` prints are left out, as they would always be the
    likest. Tokens that lie askew as they fall count in all ``TURNS``; tiles that fit their places only in a quarter's.
    """

    trust: FloatArray
    tint: float
    foreign: float
    own: bool
    turns: NDArray[np.bool_]

    def chances(self, scores: FloatArray, shown: float = 1.0) -> FloatArray:
        """Return how likely each of the scores (…, values) is the true one's, of a token of which a share is shown."""
        off = (scores - scores.max(axis=-1, keepdims=True))[..., None, :] * (_SHARPNESS[:, None] * shown)
        p = np.exp(off)
        p /= p.sum(axis=-1, keepdims=True)
        mixed: FloatArray = (1 - _DOUBT) * np.einsum("...sv,s->...v", p, self.trust) + _DOUBT / scores.shape[-1]
        return mixed


def judged(scores: FloatArray, truth: NDArray[np.int64]) -> tuple[FloatArray, float]:
    """Return how likely each of the ``_SHARPNESS`` is by what was read, and the logarithm of how likely that was."""
    off = (scores - scores.max(axis=1, keepdims=True)) * _SHARPNESS[:, None, None]
    p = np.exp(off)
    p = (1 - _DOUBT) * p / p.sum(axis=2, keepdims=True) + _DOUBT / p.shape[2]
    likely = np.log(p[:, np.arange(len(truth)), truth]).sum(axis=1)
    most = float(likely.max())
    weight = np.exp(likely - most) * EVEN
    return weight / weight.sum(), most
