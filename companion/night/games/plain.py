"""What most games are to the night: nothing is hidden, entered or taught. A game's own view says what differs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from companion.night.games.capabilities import Beginning, BoxContents, TeachableCards
from companion.night.messages import Words
from companion.rules import game
from companion.rules.core import JSON, Game, State
from companion.rules.rulebook import Rulebook, rulebook


class PlainView:
    """The part of a :class:`companion.night.games.GameView` that a game without specialities need not write."""

    game_id: ClassVar[str]
    series_to: int | None = None
    box: BoxContents | None = None
    followed: bool = False

    @property
    def cards(self) -> TeachableCards | None:
        """Return None: there are no cards to teach."""
        return None

    @property
    def rules(self) -> Game[Any]:
        """Return the game."""
        return game(self.game_id)

    @property
    def book(self) -> Rulebook:
        """Return its clauses and words."""
        return rulebook(self.game_id)

    def both(self, word: str) -> Words:
        """Return a word of the game in every language."""
        return self.book.words(word)

    def beginning(self, setup: Mapping[str, JSON]) -> Beginning:
        """Return a game of two before its first move; its pieces are named by kind and colour."""
        return self.rules.start(self.rules.seats(2), None, setup).position(), []

    def overfull(self, state: State[Any]) -> Words | None:
        """Return None: the rules count all that the box holds."""
        del state
        return None

    def arranging(self, state: State[Any]) -> list[Any]:
        """Return nothing: what the table lays out is entered as it lies."""
        del state
        return []

    def secret(self, state: State[Any], move: Any) -> bool:
        """Return False: no move tells what only the player to move may know."""
        del state, move
        return False

    def acting(self, move: Any) -> str | None:
        """Return None: one plays after the other."""
        del move
        return None

    def seen(self, state: State[Any]) -> State[Any]:
        """Return the state: nothing of it is hidden from a bystander."""
        return state

    def series_winners(self, totals: Mapping[str, int]) -> list[str]:
        """Return nobody: the rules know no series."""
        del totals
        return []
