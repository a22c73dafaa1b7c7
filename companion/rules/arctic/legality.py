"""Which steps Arctic allows in a position: quick, without a word about why (that is :mod:`.explain_refusal`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from companion.rules.arctic.components import (
    ANIMAL_OF_POWER,
    COMPANION,
    HAND_LIMIT,
    MAIN,
    NOT_DEALT,
    RIVER,
    SIDES,
    UNKNOWN,
    USED_DISCARD,
    USED_DRAW_VALUE,
    USED_EXTRA,
    USED_GIVE,
    USED_PLACE_VALUE,
    USED_SWAP,
    USED_TAKE_BACK,
    cards_of,
)
from companion.rules.arctic.moves import BOTTOM, TOP, UNDER, ArcticMove, arrow, arrow_step
from companion.rules.arctic.position import ArcticPosition

ONCE = {
    3: USED_SWAP,
    4: USED_TAKE_BACK,
    10: USED_PLACE_VALUE,
    1: USED_EXTRA,
    2: USED_EXTRA,
    9: USED_DRAW_VALUE,
    5: USED_GIVE,
}
"""The bit that remembers that a once-a-turn power was used."""

_INWARD = {0: 1, 5: -1}
"""Where a token at an end of the landscape must go."""


def usable(s: ArcticPosition, power: int) -> bool:
    """Return whether the player to move may use ``power`` now, phase aside."""
    return s.may_use(power, ANIMAL_OF_POWER[power], ONCE.get(power, 0))


def extra_animal(s: ArcticPosition) -> int:
    """Return the animal that ARC-P.1 or ARC-P.2 may move a step further, or -1."""
    visible = s.visible(s.seat)
    if visible < 0:
        return -1
    if usable(s, 1):
        return MAIN[visible]
    return COMPANION[visible] if usable(s, 2) else -1


def token_steps(s: ArcticPosition) -> list[tuple[int, int]]:
    """Return the ways the two tokens of the visible card may go: codes of main, then companion (ARC-B.1 … B.3)."""
    visible = s.visible(s.seat)
    if visible < 0:
        return []
    main, companion = MAIN[visible], COMPANION[visible]
    a, b = _INWARD.get(s.tokens[main], 0), _INWARD.get(s.tokens[companion], 0)
    if a and b:
        ways = [(a, b)]
    elif a or b:
        ways = [(a or -b, b or -a)]
    else:
        ways = [(1, -1), (-1, 1)]
    return [(arrow(main, up), arrow(companion, down)) for up, down in ways]


def can_give(s: ArcticPosition) -> bool:
    """Return whether ARC-P.5 may still be used: phase C is over with the first excess card put away (ARC-C.2)."""
    return bool(s.players > 1 and s.penalties[s.seat] and not s.used & USED_DISCARD and usable(s, 5))


def is_last(s: ArcticPosition) -> bool:
    """Return whether the next card is the last one to be placed (ARC-Q.10)."""
    return s.count + 1 == s.value or len(s.hands[s.seat]) == 1


def may_fill(s: ArcticPosition) -> bool:
    """Return whether ARC-P.7 may fill the River now, between two cards that are drawn."""
    return len(s.river) < RIVER and s.count < s.value and bool(s.pile_left + s.reserve) and usable(s, 7)


def zone_cards(s: ArcticPosition, cards: tuple[int, ...]) -> list[int]:
    """Return what a zone of the player to move may hold: its known cards, and what an unseen one may be."""
    if UNKNOWN not in cards:
        return list(cards)
    return [card for card in cards if card != UNKNOWN] + cards_of(s.may_be(s.seat))


def holds(s: ArcticPosition, cards: tuple[int, ...], card: int) -> bool:
    """Return whether a zone of the player to move holds a card, or may."""
    return card in cards or (UNKNOWN in cards and 0 <= card < UNKNOWN and bool(s.may_be(s.seat) >> card & 1))


def moves_unseen(s: ArcticPosition, cards: tuple[int, ...]) -> bool:
    """Return whether a card may leave a zone unseen: there is one, and the companion does not see all this seat has."""
    return UNKNOWN in cards or (bool(cards) and s.is_secret(s.seat))


# --- the legal steps -----------------------------------------------------------------------------------------


def moves(s: ArcticPosition) -> Iterator[ArcticMove]:
    """Yield every legal step of a position once."""
    return _MOVES[s.phase](s)


def setup_needs(s: ArcticPosition) -> dict[str, int]:
    """Return what the set-up may take next, each with its seat (-1: nobody's).

    Packs, power sides, totems and the first player come in any order; then the hands, in turn order; the River last.
    """
    needs = {}
    if len(s.packs) < s.players:
        needs["pack"] = -1
    if 0 in s.powers:
        needs["side"] = -1
    if NOT_DEALT in s.totems:
        needs["totem"] = s.totems.index(NOT_DEALT)
    if s.first < 0:
        needs["first"] = -1
    if needs:
        return needs
    for step in range(s.players):
        seat = (s.first + step) % s.players
        if len(s.hands[seat]) < 3:
            return {"hand": seat}
    return {"river": -1}


def _setup_moves(s: ArcticPosition) -> Iterator[ArcticMove]:
    for what, seat in setup_needs(s).items():
        if what == "pack":
            yield from (ArcticMove("pack", pack) for pack in (1, 2, 3, 4) if pack not in s.packs)
        elif what == "side":
            yield from (ArcticMove("side", a, power) for a in range(6) if not s.powers[a] for power in SIDES[a])
        elif what == "totem":
            yield from (ArcticMove("totem", seat, animal) for animal in range(6) if animal not in s.totems)
            yield ArcticMove("totem", seat, -1)
        elif what == "first":
            yield from (ArcticMove("first", first) for first in range(s.players))
        elif what == "hand":
            yield from _drawn_cards(s, seat)
        else:
            yield from _refill_moves(s)


def _placing_moves(s: ArcticPosition) -> Iterator[ArcticMove]:
    hand = s.hands[s.seat]
    visible = s.visible(s.seat)
    if s.count == 0:
        if hand and usable(s, 3):
            yield from (ArcticMove("swap", mine, card) for mine in zone_cards(s, hand) for card in s.river)
        if visible >= 0 and usable(s, 4):
            yield ArcticMove("take-back")
    if usable(s, 10):
        yield ArcticMove("value", 1)
        if s.value:
            yield ArcticMove("value", -1)
    if not hand or s.count >= s.value:
        yield ArcticMove("end")
        return
    cards = zone_cards(s, hand)
    yield from (ArcticMove("place", card, TOP) for card in cards)
    if is_last(s):
        if usable(s, 11):
            yield from (ArcticMove("place", card, BOTTOM) for card in cards)
        if visible >= 0 and usable(s, 12):
            yield from (ArcticMove("place", card, UNDER) for card in cards)
            if moves_unseen(s, hand):
                yield ArcticMove("place", UNKNOWN, UNDER)


def _penalty_moves(s: ArcticPosition) -> Iterator[ArcticMove]:
    if s.pile_left:
        yield from (ArcticMove("penalty", card) for card in cards_of(s.pool()))
        yield ArcticMove("penalty", UNKNOWN)


def _token_moves(s: ArcticPosition) -> Iterator[ArcticMove]:
    yield from (ArcticMove("tokens", a, b) for a, b in token_steps(s))


def _extra_moves(s: ArcticPosition) -> Iterator[ArcticMove]:
    animal = extra_animal(s)
    for step in (1, -1):
        if animal >= 0 and 0 <= s.tokens[animal] + step <= 5:
            yield ArcticMove("extra", arrow(animal, step))
    yield ArcticMove("end")


def _drawing_moves(s: ArcticPosition) -> Iterator[ArcticMove]:
    if usable(s, 9):
        yield ArcticMove("value", 1)
        if s.value:
            yield ArcticMove("value", -1)
    yield from _give_moves(s)
    if s.count >= s.value or not s.river:
        yield ArcticMove("end")
    if s.count >= s.value:
        return
    yield from (ArcticMove("draw", card) for card in s.river)
    mine = s.penalties[s.seat]
    if mine and usable(s, 6):
        yield from (ArcticMove("draw-penalty", card) for card in zone_cards(s, mine))
        if moves_unseen(s, mine):
            yield ArcticMove("draw-penalty", UNKNOWN)
    if s.pile_left + s.reserve and usable(s, 8):
        yield ArcticMove("draw-pile")
    if may_fill(s):
        yield ArcticMove("refill")


def _give_moves(s: ArcticPosition) -> Iterator[ArcticMove]:
    if not can_give(s):
        return
    mine = s.penalties[s.seat]
    cards = zone_cards(s, mine) + ([UNKNOWN] if moves_unseen(s, mine) else [])
    yield from (ArcticMove("give", card, seat) for card in cards for seat in range(s.players) if seat != s.seat)


def _drawn_cards(s: ArcticPosition, seat: int) -> Iterator[ArcticMove]:
    if s.pile_left:
        yield from (ArcticMove("hand", seat, card) for card in cards_of(s.pool()))
        yield ArcticMove("hand", seat, UNKNOWN)


def _drawn_moves(s: ArcticPosition) -> Iterator[ArcticMove]:
    yield from _drawn_cards(s, s.seat)


def _refill_moves(s: ArcticPosition) -> Iterator[ArcticMove]:
    if s.pile_left and len(s.river) < RIVER:
        yield from (ArcticMove("river", card) for card in cards_of(s.pool()))


def _closing_moves(s: ArcticPosition) -> Iterator[ArcticMove]:
    yield from _give_moves(s)
    hand = s.hands[s.seat]
    if len(hand) > HAND_LIMIT:
        yield from (ArcticMove("discard", card) for card in zone_cards(s, hand))
        if moves_unseen(s, hand):
            yield ArcticMove("discard", UNKNOWN)
    else:
        yield ArcticMove("end")


def _totem_moves(s: ArcticPosition) -> Iterator[ArcticMove]:
    seat = s.totems.index(-1)
    yield from (ArcticMove("totem", seat, animal) for animal in range(6) if animal not in s.totems)


_MOVES: dict[str, Callable[[ArcticPosition], Iterator[ArcticMove]]] = {
    "setup": _setup_moves,
    "A": _placing_moves,
    "penalty": _penalty_moves,
    "B": _token_moves,
    "B2": _extra_moves,
    "C": _drawing_moves,
    "drawn": _drawn_moves,
    "refill": _refill_moves,
    "D": _closing_moves,
    "totems": _totem_moves,
    "over": lambda _s: iter(()),
}


# --- one step ------------------------------------------------------------------------------------------------


def allowed(s: ArcticPosition, move: ArcticMove) -> bool:
    """Return whether a step is legal in a position."""
    test = _TESTS.get((s.phase, move.kind))
    return test is not None and test(s, move)


def is_free(s: ArcticPosition, card: int) -> bool:
    """Return whether the pile may turn up a card, or an unseen one."""
    return bool(s.pile_left) and (card == UNKNOWN or (0 <= card < UNKNOWN and bool(s.pool() >> card & 1)))


def _setup_test(s: ArcticPosition, move: ArcticMove) -> bool:
    kind, a, b = move
    seat = setup_needs(s).get(kind)
    if seat is None:
        return False
    if kind == "pack":
        return a not in s.packs
    if kind == "side":
        return not s.powers[a]
    if kind == "totem":
        return a == seat and (b < 0 or b not in s.totems)
    if kind == "first":
        return a < s.players
    return a == seat and is_free(s, b) if kind == "hand" else _river_test(s, move)


def _swap_test(s: ArcticPosition, move: ArcticMove) -> bool:
    return (
        s.count == 0 and usable(s, 3) and move.a != UNKNOWN and holds(s, s.hands[s.seat], move.a) and move.b in s.river
    )


def _take_back_test(s: ArcticPosition, move: ArcticMove) -> bool:
    del move
    return s.count == 0 and s.visible(s.seat) >= 0 and usable(s, 4)


def _place_value_test(s: ArcticPosition, move: ArcticMove) -> bool:
    return s.value + move.a >= 0 and usable(s, 10)


def _draw_value_test(s: ArcticPosition, move: ArcticMove) -> bool:
    return s.value + move.a >= 0 and usable(s, 9)


def _place_test(s: ArcticPosition, move: ArcticMove) -> bool:
    _, card, where = move
    hand = s.hands[s.seat]
    if s.count >= s.value:
        return False
    if card == UNKNOWN:
        if where != UNDER or not moves_unseen(s, hand):
            return False
    elif not holds(s, hand, card):
        return False
    if where == TOP:
        return True
    if not is_last(s):
        return False
    return usable(s, 11) if where == BOTTOM else s.visible(s.seat) >= 0 and usable(s, 12)


def _stop_placing_test(s: ArcticPosition, move: ArcticMove) -> bool:
    del move
    return not s.hands[s.seat] or s.count >= s.value


def _penalty_test(s: ArcticPosition, move: ArcticMove) -> bool:
    return is_free(s, move.a)


def _river_test(s: ArcticPosition, move: ArcticMove) -> bool:
    return len(s.river) < RIVER and move.a != UNKNOWN and is_free(s, move.a)


def _tokens_test(s: ArcticPosition, move: ArcticMove) -> bool:
    return (move.a, move.b) in token_steps(s)


def _extra_test(s: ArcticPosition, move: ArcticMove) -> bool:
    animal, step = arrow_step(move.a)
    return animal == extra_animal(s) and 0 <= s.tokens[animal] + step <= 5


def _draw_test(s: ArcticPosition, move: ArcticMove) -> bool:
    return s.count < s.value and move.a in s.river


def _penalty_holds(s: ArcticPosition, card: int) -> bool:
    mine = s.penalties[s.seat]
    return moves_unseen(s, mine) if card == UNKNOWN else holds(s, mine, card)


def _draw_penalty_test(s: ArcticPosition, move: ArcticMove) -> bool:
    return s.count < s.value and usable(s, 6) and _penalty_holds(s, move.a)


def _draw_pile_test(s: ArcticPosition, move: ArcticMove) -> bool:
    del move
    return s.count < s.value and bool(s.pile_left + s.reserve) and usable(s, 8)


def _refill_step_test(s: ArcticPosition, move: ArcticMove) -> bool:
    del move
    return may_fill(s)


def _give_test(s: ArcticPosition, move: ArcticMove) -> bool:
    return can_give(s) and move.b != s.seat and move.b < s.players and _penalty_holds(s, move.a)


def _drawn_test(s: ArcticPosition, move: ArcticMove) -> bool:
    return move.a == s.seat and is_free(s, move.b)


def _discard_test(s: ArcticPosition, move: ArcticMove) -> bool:
    hand = s.hands[s.seat]
    if len(hand) <= HAND_LIMIT:
        return False
    return moves_unseen(s, hand) if move.a == UNKNOWN else holds(s, hand, move.a)


def _stop_drawing_test(s: ArcticPosition, move: ArcticMove) -> bool:
    del move
    return s.count >= s.value or not s.river


def _close_test(s: ArcticPosition, move: ArcticMove) -> bool:
    del move
    return len(s.hands[s.seat]) <= HAND_LIMIT


def _totem_test(s: ArcticPosition, move: ArcticMove) -> bool:
    return move.a == s.totems.index(-1) and move.b >= 0 and move.b not in s.totems


def _always(s: ArcticPosition, move: ArcticMove) -> bool:
    del s, move
    return True


_TESTS: dict[tuple[str, str], Callable[[ArcticPosition, ArcticMove], bool]] = {
    **{("setup", kind): _setup_test for kind in ("pack", "side", "totem", "first", "hand", "river")},
    ("A", "swap"): _swap_test,
    ("A", "take-back"): _take_back_test,
    ("A", "value"): _place_value_test,
    ("A", "place"): _place_test,
    ("A", "end"): _stop_placing_test,
    ("penalty", "penalty"): _penalty_test,
    ("B", "tokens"): _tokens_test,
    ("B2", "extra"): _extra_test,
    ("B2", "end"): _always,
    ("C", "value"): _draw_value_test,
    ("C", "draw"): _draw_test,
    ("C", "draw-penalty"): _draw_penalty_test,
    ("C", "draw-pile"): _draw_pile_test,
    ("C", "refill"): _refill_step_test,
    ("C", "give"): _give_test,
    ("C", "end"): _stop_drawing_test,
    ("drawn", "hand"): _drawn_test,
    ("refill", "river"): _river_test,
    ("D", "give"): _give_test,
    ("D", "discard"): _discard_test,
    ("D", "end"): _close_test,
    ("totems", "totem"): _totem_test,
}
