"""Whether a token lies where one was found: by how like its prints it is, and by how much of it has its colour.

Both are learnt from places where one token of a kind lies alone: what it is like itself, and what is found there beside
it where nothing more lies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

FEWEST: Final = 4
"""Tokens, and places beside them, that must be known."""
_SPREADS: Final = ((0.04, 0.08), (0.1, 0.1))
"""The least spread of each sign, of tokens and of what is none."""
_MOST_ODDS: Final = 20.0
"""What each sign tells at the most."""

Signs = tuple[float, float]
"""How like its prints a token is, and how like its colour."""


@dataclass(frozen=True)
class TokenFit:
    """What tokens of a kind are like, and what is none; of each sign the mean and the spread."""

    there: Sequence[tuple[float, float]]
    none: Sequence[tuple[float, float]]

    def odds(self, seen: Signs, *, first: bool) -> float:
        """Return how much likelier it is that a token is there than that it is not.

        Of the ``first`` of a place its colour says nothing: that there is any is told from afar, by just that.
        """
        odds = 1.0
        for sign, (mean, spread), (other, wide) in zip(
            seen[:1] if first else seen, self.there, self.none, strict=False
        ):
            # Better than usual is no evidence against, on either side.
            there, none = min(sign - mean, 0.0) / spread, max(sign - other, 0.0) / wide
            ratio = float(np.exp(0.5 * (none**2 - there**2))) * wide / spread
            odds *= min(max(ratio, 1 / _MOST_ODDS), _MOST_ODDS)
        return odds


def find_fit(there: Sequence[Sequence[float]], none: Sequence[Sequence[float]]) -> TokenFit | None:
    """Return the fit by both signs of tokens that lie there and of what was found beside them.

    None where too few are known.
    """
    if min(len(values) for values in (*there, *none)) < FEWEST:
        return None
    fits = []
    for which, signs in enumerate((there, none)):
        usual = [float(np.mean(values)) for values in signs]
        spreads = [max(float(np.std(values)), least[which]) for values, least in zip(signs, _SPREADS, strict=True)]
        fits.append(list(zip(usual, spreads, strict=True)))
    return TokenFit(*fits)
