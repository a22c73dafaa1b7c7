"""The walk through a turn of Thin Ice for the shared search: a penguin is put, then the die is rolled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from companion.rules.core import JSON
from companion.rules.inference import depth_first
from companion.rules.inference.explanation import Explanation
from companion.rules.inference.turns import Evidence, SearchResult
from companion.rules.thin_ice.game import GAME
from companion.rules.thin_ice.json_form import COLOURS
from companion.rules.thin_ice.state import ThinIceMove, ThinIceState


class ThinIceGoal(depth_first.Goal):
    """What was seen after a turn of Thin Ice."""

    @staticmethod
    def fields(position: Mapping[str, JSON]) -> dict[str, JSON]:
        """Return nothing: all that counts lies on the board."""
        del position
        return {}

    def candidates(self, s: ThinIceState) -> Iterator[ThinIceMove]:
        """Yield every legal step: there are few."""
        return s.moves()

    def left(self, s: ThinIceState) -> int:
        """Return how many steps are missing at least."""
        return 1 if s.last else 2

    def ends(self, s: ThinIceState) -> bool:
        """Return whether the turn has passed."""
        return bool(s.seat != self.before.seat)

    def near_misses(self, s: ThinIceState, missed: Sequence[str]) -> Iterator[ThinIceMove]:
        """Yield the puts that would have made good what is missed."""
        return (ThinIceMove("put", square) for square in missed)


def find(before: ThinIceState, evidence: Evidence, limit: int, most: int) -> SearchResult:
    """Return the shortest legal turns of the player to move that end as was seen."""
    return depth_first.find(before, ThinIceGoal(before, evidence), limit, most)


def explain(before: ThinIceState, evidence: Evidence, limit: int) -> Explanation:
    """Return the legal turns to what was seen, or the nearest one and the clauses in the way."""
    return depth_first.explain(before, evidence, ThinIceGoal, limit)


def cases(position: Mapping[str, Any]) -> list[ThinIceState]:
    """Return the states that a position may stand for: each colour's turn, where it is not told.

    :raises SetupError: when it is no position.
    """
    turns = [position["turn"]] if position.get("turn") is not None else COLOURS
    return [GAME.from_position({**position, "turn": colour}) for colour in turns]
