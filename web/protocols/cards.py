"""What the page may ask of photos of cards: the Protocol that ``companion/follow/cards.py`` implements.

Errors are :class:`companion.ports.BadDataError` with one sentence; games without cards are a ``KeyError``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol


class CardsApi(Protocol):
    """Teaching a game's cards, and reading them: a pile, a circle that is laid, a round with igloos on it."""

    def taught(self, game: str) -> dict[str, Any]:
        """Return ``{"game", "names": in the order they are asked for, "taught": [name …], "bytes"}``."""
        ...

    def forget(self, game: str) -> None:
        """Forget a game's cards."""
        ...

    def teach(self, game: str, data: bytes, first: int, count: int) -> dict[str, Any]:
        """Learn a photo of a sheet: ``count`` cards from number ``first`` of the order on.

        ``{"width", "height", "cards": [{"card", "corners"}]}``.
        """
        ...

    def pile(self, game: str, data: bytes) -> dict[str, Any]:
        """Return a fanned-out pile from the bottom up: ``{"width", "height", "cards": [{"card", "p", "kind", "kind_p",
        "kinds", "unsure", "gap_before", "corners"}]}``.
        """
        ...

    def round(
        self, game: str, data: bytes, first: str | None, only: Sequence[str], colours: Sequence[str]
    ) -> dict[str, Any]:
        """Return what a photo of a round shows: ``{"id", "width", "height", "cards": […], "igloos": [{"on_card", "at",
        "colour", "number", "unsure"}]}``; ``first`` is the id of the photo before the check.
        """
        ...

    def circle(self, game: str, data: bytes) -> dict[str, Any]:
        """Return the cards that lie in the circle, clockwise from the top: as :meth:`pile` does."""
        ...
