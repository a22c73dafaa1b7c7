"""What is in the box, read from ``data/igloo_pop.toml`` (POP-K.1 … POP-K.6)."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Final

_BOX = tomllib.loads((Path(__file__).parents[1] / "data" / "igloo_pop.toml").read_text(encoding="utf-8"))

COLOURS: Final[tuple[str, ...]] = tuple(_BOX["colours"])
"""The six colours of thalers."""

THALERS: Final[int] = _BOX["thalers"]
"""Thalers of one colour."""

IGLOOS: Final[tuple[int, ...]] = tuple(_BOX["igloos"])
"""The numbers under the igloos: how many beads each holds."""

CARDS: Final[tuple[tuple[int, ...], ...]] = tuple(tuple(map(int, card.split("/"))) for card in _BOX["cards"])
"""The cards of the box, each a tuple of its numbers; a card's place in this list is its index."""

PLACES: Final[tuple[str, ...]] = tuple(f"card{n + 1}" for n in range(_BOX["circle"]))
"""The places of the circle, clockwise."""

POINTS: Final[tuple[int, ...]] = tuple(_BOX["points"][str(len(card))] for card in CARDS)
"""The Eskimos on each card, by its index."""

CARD_INDEX: Final[dict[tuple[int, ...], int]] = {card: index for index, card in enumerate(CARDS)}
CARD_TEXT: Final[tuple[str, ...]] = tuple("/".join(map(str, card)) for card in CARDS)
CARD_BITS: Final = tuple(sum(1 << number for number in card) for card in CARDS)
"""The numbers of each card as bits: bit n stands for the number n."""


def card_text(card: tuple[int, ...]) -> str:
    """Return a card as it is written: ``4/5``."""
    return "/".join(map(str, card))


def card_points(card: tuple[int, ...]) -> int:
    """Return the Eskimos on a card (POP-K.3)."""
    return int(_BOX["points"][str(len(card))])
