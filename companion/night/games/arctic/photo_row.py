"""Arctic's River and piles in a picture: which turns leave what lies in the open (ARC-A.1, ARC-B.1, ARC-C.1).

What nobody can see stays open: cards below those that show, what goes to Penalty zones, which card was turned up and
taken again. A turn of which that would have to be known is left to people.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from companion.night.games.capabilities import OpenRow, RowTurns
from companion.rules.arctic.components import (
    ANIMALS,
    FACE_DOWN,
    HAND_LIMIT,
    PLACEMENT,
    RIVER,
    TEXT,
    UNKNOWN,
    cards_of,
    in_play,
)
from companion.rules.arctic.inference.search import find
from companion.rules.arctic.legality import can_give, setup_needs, usable
from companion.rules.arctic.moves import ArcticMove
from companion.rules.arctic.state import ArcticState
from companion.rules.core import State
from companion.rules.inference.turns import Evidence, Turn, content

_MOST: Final = 4_000
"""States that are looked at before the search gives up."""
_LIMIT: Final = 1_000
"""Turns that are told apart before it is not known whether there are others."""
_BEFORE: Final = frozenset({4, 10, 11, 12})
"""Powers by which more or fewer cards are placed than the visible card says, or elsewhere than on top."""
_ELSEWHERE: Final = frozenset({11, 12})
_ELSEWHENCE: Final = frozenset({"draw-pile", "draw-penalty"})
_REFILL: Final = 7
_AGAIN: Final = frozenset({_REFILL, 9})
_OPEN: Final = frozenset({"place", "river", "swap"})
_SECRET: Final = frozenset({"penalty", "discard", "give", "draw-penalty"})
"""Moves whose card lies in the open then, and those whose card nobody sees."""


class ArcticPhotoRow:
    """The :class:`companion.night.games.capabilities.PhotoOpenRow` of Arctic."""

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

    def pieces(self, state: State[Any]) -> Mapping[str, int]:
        """Return on which landscape card each animal's token lies."""
        return dict(zip(ANIMALS, _arctic(state).tokens, strict=True))

    def mover(self, state: State[Any]) -> int:
        """Return whose phase A begins here."""
        s = _arctic(state)
        return s.seat if s.phase == "A" and not s.count and not s.used else -1

    def likely(self, state: State[Any]) -> tuple[Mapping[str, float], Mapping[str, float] | None]:
        """Return how likely each card is the one that is laid next, and the one that comes into the River.

        Which of a hand is laid nobody knows, nor which unseen card any is. A hand's card may be swapped into the River
        (ARC-P.3): then it is not told what comes there.
        """
        s = _arctic(state)
        hand, pool, veiled = s.hands[s.seat], cards_of(s.pool()), cards_of(s.veiled[s.seat])
        laid = {TEXT[card]: 1 / len(hand) for card in hand if card != UNKNOWN}
        unseen, of = hand.count(UNKNOWN) / max(1, len(hand)), s.unseen(s.seat)
        if unseen:
            laid |= {TEXT[card]: unseen / of for card in veiled}
            # What was not seen to come there is any card that nobody has seen.
            laid |= {TEXT[card]: unseen * max(0, of - len(veiled)) / of / len(pool) for card in pool}
        if usable(s, 3):
            return laid | {TEXT[card]: 1 / max(1, len(hand)) for card in s.river}, None
        return laid, {TEXT[card]: 1 / len(pool) for card in pool}

    def turns(self, state: State[Any], seen: OpenRow) -> RowTurns:
        """Return the turns that leave this River and these cards on the mover's pile."""
        s = _arctic(state)
        if not seen.laid or self.mover(state) < 0:
            return RowTurns(())
        held = {s.powers[animal] for animal in range(6) if s.held >> animal & 1}
        pile, hand = s.piles[s.seat], len(s.hands[s.seat])
        expected = min(PLACEMENT[s.visible(s.seat)] if s.visible(s.seat) >= 0 else 1, hand)
        as_many = len(seen.laid) == expected
        every = seen.joined or not pile or (as_many and not held & _BEFORE)
        if not every:
            return RowTurns((), all_told=False, hidden=True)
        # One more may lie below the pile, or below the visible card.
        one_more = bool(held & _ELSEWHERE) and (not as_many or 10 in held)
        before = [f"down:{TEXT[card - FACE_DOWN]}" if card >= FACE_DOWN else TEXT[card] for card in pile]
        places: dict[str, Any] = {}
        for number in range(RIVER):
            things = [_thing(seen.row[number])] if number < len(seen.row) else []
            places[f"river{number + 1}"] = {content({"ground": "river", "things": things}): 0.0}
        fields: dict[str, Any] = {f"p{s.seat + 1}.pile": [*before, *seen.laid]}
        found = find(s, Evidence(places, fields, graded=True), _LIMIT, _MOST)
        seen_cards = {*seen.row, *seen.laid}
        told: dict[str, Turn] = {}
        others: set[str] = set()
        for turn in sorted(found.turns, key=lambda one: len(one.moves)):
            key = _shown(turn.state)
            if _names_only(turn, seen_cards):
                told.setdefault(key, turn)
            else:
                others.add(key)
        again = s.stage != "last" and any(_may_take_again(turn.state, s.seat) for turn in told.values())
        unnamed = bool(others - set(told)) or again
        looked = found.complete and len(found.turns) < _LIMIT
        return RowTurns(tuple(told.values()), looked and not unnamed and not one_more, unnamed)

    def goes_on(self, before: State[Any], turn: Turn, seen: OpenRow) -> bool:
        """Return whether the River and the tokens may look just so in the middle of a turn (ARC-P.6, P.8, P.9).

        A full River of which cards were drawn is filled after the last one (ARC-C.1), unless ARC-P.7 fills it before.
        """
        s, kinds = _arctic(before), [move.kind for move in cast("tuple[ArcticMove, ...]", turn.moves)]
        if s.stage == "last" or _is_open(_arctic(turn.state)) or ("draw" in kinds and _ELSEWHENCE.isdisjoint(kinds)):
            return False
        return "draw" not in kinds or len(seen.row) < RIVER or _REFILL in _own(turn.state, s.seat)

    def part(self, before: State[Any], turns: Sequence[Turn]) -> Turn | None:
        """Return what some turns have in common, up to where what nobody sees, or one more step, may still follow."""
        parts = {_up_to_open(_arctic(before), turn) for turn in turns}
        if None in parts or len({state for _, state in cast("set[tuple[Any, ArcticState]]", parts)}) != 1:
            return None
        moves, state = cast("tuple[tuple[ArcticMove, ...], ArcticState]", min(parts, key=str))
        return Turn(moves, state, 0.0)

    def rests(self, state: State[Any]) -> tuple[Turn, ...]:
        """Return how a turn may end of which a part was entered, first that nothing more followed."""
        s = _arctic(state)
        if not _is_open(s):
            return ()
        moves, over = [], s
        while over.seat == s.seat and over.phase in {"B2", "D"}:
            too_many = over.phase == "D" and len(over.hands[over.seat]) > HAND_LIMIT
            moves.append(ArcticMove("discard", UNKNOWN) if too_many else ArcticMove("end"))
            if over.refusal(moves[-1]) is not None:
                return ()
            over = over.after(moves[-1])
        seen = [move for move in s.moves() if move.kind == "extra"]
        return (Turn(tuple(moves), over, 0.0), *(Turn((move,), s.after(move), 0.0) for move in seen))


def _is_open(s: ArcticState) -> bool:
    """Return whether a turn may be over here, or what nobody sees may follow (ARC-P.5), or one last step (ARC-P.1, 2).

    After other last steps cards are drawn, which tells that they were taken.
    """
    return can_give(s) if s.phase == "D" else s.phase == "B2" and s.stage == "last"


def _up_to_open(s: ArcticState, turn: Turn) -> tuple[tuple[ArcticMove, ...], ArcticState] | None:
    """Return the moves of a turn up to where it is open, and the position there: gifts may be the last of phase C."""
    taken, tokens = [], _arctic(turn.state).tokens
    for move in cast("tuple[ArcticMove, ...]", turn.moves):
        if move.kind != "give":
            taken.append(move)
            s = s.after(move)
        if _is_open(s) and s.tokens == tokens:
            return tuple(taken), s
    return None


def _shown(state: State[Any]) -> str:
    """Return what everybody at the table can tell of a position."""
    view: Any = state.view(None)
    zones = [(one["pile"], one["powers"], len(one["hand"]), len(one["penalty"])) for one in view["players"]]
    return str((view["places"], zones, view["pile_left"], view["reserve"]))


def _names_only(turn: Turn, seen: set[str]) -> bool:
    """Return whether every card that a turn names is one that was seen, and no other."""
    for kind, a, b in cast("tuple[ArcticMove, ...]", turn.moves):
        if kind in _OPEN and TEXT[a] not in seen:
            return False
        if (kind in _SECRET and a != UNKNOWN) or (kind == "hand" and b != UNKNOWN):
            return False
    return True


def _may_take_again(state: State[Any], seat: int) -> bool:
    """Return whether a card may have been turned up and taken again, one more being drawn (ARC-P.7 with ARC-P.9)."""
    return _own(state, seat) >= _AGAIN


def _own(state: State[Any], seat: int) -> set[int]:
    """Return the powers that a player has."""
    s = _arctic(state)
    return {s.powers[animal] for animal in range(6) if s.owners[animal] == seat}


def _thing(card: str) -> dict[str, Any]:
    main, value, companion = card.split("-")
    return {"kind": main, "value": int(value), "companion": companion}


def _arctic(state: State[Any]) -> ArcticState:
    return cast("ArcticState", state)
