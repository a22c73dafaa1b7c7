"""Arctic's River and piles in a picture: which turns leave what lies in the open (ARC-A.1, ARC-B.1, ARC-C.1).

What nobody can see stays open: cards below those that show, what goes to Penalty zones, which card was turned up and
taken again. A turn of which that would have to be known is left to people.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

from companion.night.games.capabilities import OpenRow, RowTurns
from companion.rules.arctic.components import FACE_DOWN, PLACEMENT, RIVER, TEXT, UNKNOWN, cards_of, in_play
from companion.rules.arctic.inference.search import find
from companion.rules.arctic.legality import setup_needs
from companion.rules.arctic.moves import ArcticMove
from companion.rules.arctic.state import ArcticState
from companion.rules.core import State
from companion.rules.inference.turns import Evidence, Turn, content

_MOST: Final = 4_000
"""States that are looked at before the search gives up."""
_LIMIT: Final = 40
_BEFORE: Final = frozenset({4, 10, 11, 12})
"""Powers by which more or fewer cards are placed than the visible card says, or elsewhere than on top."""
_ELSEWHERE: Final = frozenset({11, 12})


class ArcticPhotoRow:
    """The :class:`companion.night.games.capabilities.PhotoRow` of Arctic."""

    def may_lie(self, state: State[Any]) -> list[str]:
        """Return the cards of the packs in play; of all packs where these are not known."""
        s = _arctic(state)
        return [TEXT[card] for card in cards_of(in_play(s.packs or (1, 2, 3, 4)))]

    def row(self, state: State[Any]) -> tuple[str, ...]:
        """Return the River."""
        return tuple(TEXT[card] for card in _arctic(state).river)

    def awaited(self, state: State[Any]) -> int:
        """Return how many cards the River is to get in the set-up, once nothing else is due."""
        s = _arctic(state)
        return RIVER if s.phase == "setup" and "river" in setup_needs(s) and not s.river else 0

    def fill(self, row: Sequence[str]) -> list[str]:
        """Return the moves that lay the River."""
        return [f"river {card}" for card in row]

    def tops(self, state: State[Any]) -> tuple[str | None, ...]:
        """Return the visible card of each seat."""
        s = _arctic(state)
        return tuple(TEXT[card] if card >= 0 else None for card in map(s.visible, range(s.players)))

    def piles(self, state: State[Any]) -> frozenset[str]:
        """Return the cards that lie in the piles face up."""
        return frozenset(TEXT[card] for pile in _arctic(state).piles for card in pile if card < UNKNOWN)

    def mover(self, state: State[Any]) -> int:
        """Return whose phase A begins here."""
        s = _arctic(state)
        return s.seat if s.phase == "A" and not s.count and not s.used else -1

    def turns(self, state: State[Any], seen: OpenRow) -> RowTurns:
        """Return the turns that leave this River and these cards on the mover's pile."""
        s = _arctic(state)
        if not seen.laid or self.mover(state) < 0:
            return RowTurns(())
        held = {s.powers[animal] for animal in range(6) if s.held >> animal & 1}
        pile, hand = s.piles[s.seat], len(s.hands[s.seat])
        expected = min(PLACEMENT[s.visible(s.seat)] if s.visible(s.seat) >= 0 else 1, hand)
        as_many = len(seen.laid) == expected
        told = seen.joined or not pile or (as_many and not held & _BEFORE)
        if not told or (held & _ELSEWHERE and (not as_many or 10 in held)):
            return RowTurns((), all_told=False, hidden=True)
        before = [f"down:{TEXT[card - FACE_DOWN]}" if card >= FACE_DOWN else TEXT[card] for card in pile]
        places: dict[str, Any] = {}
        for number in range(RIVER):
            things = [_thing(seen.row[number])] if number < len(seen.row) else []
            places[f"river{number + 1}"] = {content({"ground": "river", "things": things}): 0.0}
        fields: dict[str, Any] = {f"p{s.seat + 1}.pile": [*before, *seen.laid]}
        found = find(s, Evidence(places, fields, graded=True), _LIMIT, _MOST)
        known = {turn for turn in map(_Told, found.turns) if turn.names_only({*seen.row, *seen.laid})}
        unnamed = len(known) < len({_Told(turn) for turn in found.turns})
        shown = sorted(known, key=lambda one: len(one.turn.moves))
        return RowTurns(tuple(one.turn for one in shown), found.complete and not unnamed, unnamed)


class _Told:
    """A turn, the same as another one that leaves the same in the open."""

    def __init__(self, turn: Turn) -> None:
        self.turn = turn
        self._key = str(turn.state.view(None))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Told) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def names_only(self, seen: set[str]) -> bool:
        """Return whether every card that the turn lays or turns up is one that was seen."""
        moves = cast("tuple[ArcticMove, ...]", self.turn.moves)
        named = [TEXT[move.a] for move in moves if move.kind in {"place", "river"}]
        return all(card in seen for card in named)


def _thing(card: str) -> dict[str, Any]:
    main, value, companion = card.split("-")
    return {"kind": main, "value": int(value), "companion": companion}


def _arctic(state: State[Any]) -> ArcticState:
    return cast("ArcticState", state)
