"""Which steps Arctic allows in a position, and the reason for each yes and no."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from companion.rules.arctic.cards import (
    ANIMALS,
    COMPANION,
    HAND_LIMIT,
    LANDSCAPE,
    MAIN,
    PACK_MASK,
    PHASE_OF_POWER,
    SIDES,
    TEXT,
    UNKNOWN,
)
from companion.rules.arctic.moves import BOTTOM, TOP, UNDER, ArcticMove, arrow, arrow_step
from companion.rules.core import Reason

if TYPE_CHECKING:
    from companion.rules.arctic.state import ArcticState

NOT_DEALT = -2
USED = {3: 1, 4: 2, 10: 4, 1: 8, 2: 8, 9: 16, 5: 32}
"""The bit that remembers that a once-a-turn power was used."""

ANIMAL_OF_POWER = {power: animal for animal, sides in SIDES.items() for power in sides}


def usable(s: ArcticState, power: int) -> bool:
    """Return whether the player to move may use ``power`` now, phase aside."""
    return s.may_use(power, ANIMAL_OF_POWER[power], USED.get(power, 0))


def extra_animal(s: ArcticState) -> int:
    """Return the animal that ARC-P.1 or ARC-P.2 may move a step further, or -1."""
    visible = s.visible(s.seat)
    if usable(s, 1):
        return MAIN[visible]
    return COMPANION[visible] if usable(s, 2) else -1


def token_steps(s: ArcticState) -> list[tuple[int, int]]:
    """Return the ways the two tokens of the visible card may go: codes of main, then companion (ARC-B.1 … B.3)."""
    visible = s.visible(s.seat)
    main, companion = MAIN[visible], COMPANION[visible]
    inward = {0: 1, 5: -1}
    a, b = inward.get(s.tokens[main], 0), inward.get(s.tokens[companion], 0)
    if a and b:
        ways = [(a, b)]
    elif a or b:
        ways = [(a or -b, b or -a)]
    else:
        ways = [(1, -1), (-1, 1)]
    return [(arrow(main, up), arrow(companion, down)) for up, down in ways]


def _hidden_cards(s: ArcticState) -> list[int]:
    pool = s.pool()
    return [card for card in range(120) if pool >> card & 1]


def _zone(s: ArcticState, cards: tuple[int, ...]) -> list[int]:
    """Return what a zone may hold: its known cards, and anything unlocated where it holds an unseen one."""
    known = [card for card in cards if card != UNKNOWN]
    return known + _hidden_cards(s) if len(known) < len(cards) else known


def _has(s: ArcticState, cards: tuple[int, ...], card: int) -> bool:
    if card in cards:
        return True
    return UNKNOWN in cards and card < UNKNOWN and bool(s.pool() >> card & 1)


# --- the legal steps -----------------------------------------------------------------------------------------


def moves(s: ArcticState) -> Iterator[ArcticMove]:
    """Yield every legal step of a position once."""
    return _MOVES[s.phase](s)


def setup_needs(s: ArcticState) -> dict[str, int]:
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


def _setup_moves(s: ArcticState) -> Iterator[ArcticMove]:
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


def _placing_moves(s: ArcticState) -> Iterator[ArcticMove]:
    hand = s.hands[s.seat]
    visible = s.visible(s.seat)
    if s.count == 0:
        if hand and usable(s, 3):
            yield from (ArcticMove("swap", mine, card) for mine in _zone(s, hand) for card in s.river)
        if visible >= 0 and usable(s, 4):
            yield ArcticMove("take-back")
    if usable(s, 10):
        yield ArcticMove("value", 1)
        yield ArcticMove("value", -1)
    if not hand:
        yield ArcticMove("end")
        return
    cards = _zone(s, hand)
    yield from (ArcticMove("place", card, TOP) for card in cards)
    if s.count + 1 == s.value or len(hand) == 1:
        if usable(s, 11):
            yield from (ArcticMove("place", card, BOTTOM) for card in cards)
        if visible >= 0 and usable(s, 12):
            yield from (ArcticMove("place", card, UNDER) for card in cards)
            if UNKNOWN in hand:
                yield ArcticMove("place", UNKNOWN, UNDER)


def _penalty_moves(s: ArcticState) -> Iterator[ArcticMove]:
    yield from (ArcticMove("penalty", card) for card in _hidden_cards(s))
    yield ArcticMove("penalty", UNKNOWN)


def _token_moves(s: ArcticState) -> Iterator[ArcticMove]:
    yield from (ArcticMove("tokens", a, b) for a, b in token_steps(s))


def _extra_moves(s: ArcticState) -> Iterator[ArcticMove]:
    animal = extra_animal(s)
    for step in (1, -1):
        if 0 <= s.tokens[animal] + step <= 5:
            yield ArcticMove("extra", arrow(animal, step))
    yield ArcticMove("end")


def _drawing_moves(s: ArcticState) -> Iterator[ArcticMove]:
    if usable(s, 9):
        yield ArcticMove("value", 1)
        if s.value:
            yield ArcticMove("value", -1)
    yield from _give_moves(s)
    if s.count >= s.value:
        yield ArcticMove("end")
        return
    yield from (ArcticMove("draw", card) for card in s.river)
    mine = s.penalties[s.seat]
    if mine and usable(s, 6):
        yield from (ArcticMove("draw-penalty", card) for card in _zone(s, mine))
        if UNKNOWN in mine:
            yield ArcticMove("draw-penalty", UNKNOWN)
    if s.pile_left + s.reserve and usable(s, 8):
        yield ArcticMove("draw-pile")


def _give_moves(s: ArcticState) -> Iterator[ArcticMove]:
    mine = s.penalties[s.seat]
    if not (mine and usable(s, 5)):
        return
    cards = _zone(s, mine) + ([UNKNOWN] if UNKNOWN in mine else [])
    yield from (ArcticMove("give", card, seat) for card in cards for seat in range(s.players) if seat != s.seat)


def _drawn_cards(s: ArcticState, seat: int) -> Iterator[ArcticMove]:
    yield from (ArcticMove("hand", seat, card) for card in _hidden_cards(s))
    yield ArcticMove("hand", seat, UNKNOWN)


def _drawn_moves(s: ArcticState) -> Iterator[ArcticMove]:
    yield from _drawn_cards(s, s.seat)


def _refill_moves(s: ArcticState) -> Iterator[ArcticMove]:
    yield from (ArcticMove("river", card) for card in _hidden_cards(s))


def _closing_moves(s: ArcticState) -> Iterator[ArcticMove]:
    yield from _give_moves(s)
    hand = s.hands[s.seat]
    if len(hand) > HAND_LIMIT:
        yield from (ArcticMove("discard", card) for card in _zone(s, hand))
        if UNKNOWN in hand:
            yield ArcticMove("discard", UNKNOWN)
    else:
        yield ArcticMove("end")


def _totem_moves(s: ArcticState) -> Iterator[ArcticMove]:
    seat = s.totems.index(-1)
    yield from (ArcticMove("totem", seat, animal) for animal in range(6) if animal not in s.totems)


_MOVES: dict[str, Callable[[ArcticState], Iterator[ArcticMove]]] = {
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


# --- the reason for a no -------------------------------------------------------------------------------------


def refusal(s: ArcticState, move: ArcticMove) -> Reason | None:
    """Return why a step is refused in a position, or None when it is legal."""
    if s.phase == "over":
        return Reason("over")
    test = _TESTS.get((s.phase, move.kind))
    if test is None:
        return _not_now(s, move)
    return test(s, move)


def _not_now(s: ArcticState, move: ArcticMove) -> Reason:
    facts = {"step": move.kind, "phase": s.phase, "who": s.seat}
    if s.phase == "A" and move.kind in {"draw", "tokens"}:
        return Reason("place-first", {**facts, "left": s.value - s.count})
    if s.phase == "B" and move.kind in {"end", "draw", "place"}:
        return Reason("move-tokens-first", facts)
    if move.kind == "place":
        return Reason("all-placed", facts)
    if move.kind == "draw" and s.phase == "D":
        return Reason("all-drawn", facts)
    return Reason("not-now", facts)


def _card_free(s: ArcticState, card: int) -> Reason | None:
    if card == UNKNOWN or s.pool() >> card & 1:
        return None
    mask = 0
    for pack in s.packs:
        mask |= PACK_MASK[pack]
    return Reason("card-elsewhere" if mask >> card & 1 else "card-not-in-play", {"card": TEXT[card]})


def _setup_test(s: ArcticState, move: ArcticMove) -> Reason | None:
    needs = setup_needs(s)
    what = move.kind
    if what not in needs:
        return Reason("setup-waits", {"step": what, "waits": list(needs)})
    if what in {"totem", "hand"} and move.a != needs[what]:
        return Reason("setup-seat", {"who": needs[what]})
    if what == "pack":
        return Reason("pack-taken", {"pack": move.a}) if move.a in s.packs else None
    if what == "side":
        return Reason("side-taken", {"animal": ANIMALS[move.a]}) if s.powers[move.a] else None
    if what == "totem":
        return Reason("totem-taken", {"animal": ANIMALS[move.b]}) if move.b >= 0 and move.b in s.totems else None
    if what == "first":
        return None if move.a < s.players else Reason("no-seat", {"seat": move.a + 1})
    return _card_free(s, move.b) if what == "hand" else _river_test(s, move)


def _power_test(s: ArcticState, power: int) -> Reason | None:
    """Return why the player to move cannot use a power, or None."""
    if usable(s, power):
        return None
    animal = ANIMAL_OF_POWER[power]
    facts = {"who": s.seat, "power": f"P.{power}", "animal": ANIMALS[animal]}
    if s.powers[animal] != power:
        return Reason("power-not-in-play", facts)
    if s.owners[animal] != s.seat:
        return Reason("power-not-held", facts)
    if PHASE_OF_POWER[power] == "A" and not s.held >> animal & 1:
        return Reason("power-fresh", facts)
    return Reason("power-used", facts)


def _swap_test(s: ArcticState, move: ArcticMove) -> Reason | None:
    reason = _power_test(s, 3)
    if reason is not None:
        return reason
    if s.count:
        return Reason("before-placing", {"who": s.seat})
    if not _has(s, s.hands[s.seat], move.a) or move.a == UNKNOWN:
        return Reason("not-in-hand", {"who": s.seat, "card": TEXT[move.a]})
    return None if move.b in s.river else Reason("not-in-river", {"card": TEXT[move.b]})


def _take_back_test(s: ArcticState, move: ArcticMove) -> Reason | None:
    del move
    reason = _power_test(s, 4)
    if reason is not None:
        return reason
    if s.count:
        return Reason("before-placing", {"who": s.seat})
    return None if s.visible(s.seat) >= 0 else Reason("no-visible", {"who": s.seat})


def _place_value_test(s: ArcticState, move: ArcticMove) -> Reason | None:
    del move
    return _power_test(s, 10)


def _draw_value_test(s: ArcticState, move: ArcticMove) -> Reason | None:
    reason = _power_test(s, 9)
    if reason is None and s.value + move.a < 0:
        return Reason("value-below-zero", {"who": s.seat})
    return reason


def _place_test(s: ArcticState, move: ArcticMove) -> Reason | None:
    hand = s.hands[s.seat]
    if not _has(s, hand, move.a):
        return Reason("not-in-hand", {"who": s.seat, "card": TEXT[move.a]})
    if move.b == TOP:
        return None
    reason = _power_test(s, 11 if move.b == BOTTOM else 12)
    if reason is not None:
        return reason
    if move.b == UNDER and s.visible(s.seat) < 0:
        return Reason("under-nothing", {"who": s.seat})
    if s.count + 1 != s.value and len(hand) != 1:
        return Reason("not-the-last", {"who": s.seat, "left": s.value - s.count})
    return None


def _stop_placing_test(s: ArcticState, move: ArcticMove) -> Reason | None:
    del move
    if s.hands[s.seat]:
        return Reason("place-all", {"who": s.seat, "value": s.value, "left": s.value - s.count})
    return None


def _penalty_test(s: ArcticState, move: ArcticMove) -> Reason | None:
    return _card_free(s, move.a)


def _river_test(s: ArcticState, move: ArcticMove) -> Reason | None:
    return Reason("river-face-up") if move.a >= UNKNOWN else _card_free(s, move.a)


def _tokens_test(s: ArcticState, move: ArcticMove) -> Reason | None:
    visible = s.visible(s.seat)
    ways = token_steps(s)
    if (move.a, move.b) in ways:
        return None
    main, companion = MAIN[visible], COMPANION[visible]
    at = [LANDSCAPE[s.tokens[main]], LANDSCAPE[s.tokens[companion]]]
    facts = {"who": s.seat, "main": ANIMALS[main], "companion": ANIMALS[companion], "at": at}
    if (move.a >> 1, move.b >> 1) != (main, companion):
        return Reason("other-animals", facts)
    if len(ways) == 2:
        return Reason("tokens-opposite", facts)
    both = s.tokens[main] in {0, 5} and s.tokens[companion] in {0, 5}
    return Reason("tokens-both-inward" if both else "tokens-inward", facts)


def _extra_test(s: ArcticState, move: ArcticMove) -> Reason | None:
    animal, step = arrow_step(move.a)
    if animal != extra_animal(s):
        return Reason("extra-other-animal", {"animal": ANIMALS[extra_animal(s)]})
    if not 0 <= s.tokens[animal] + step <= 5:
        return Reason("off-landscape", {"animal": ANIMALS[animal]})
    return None


def _draw_test(s: ArcticState, move: ArcticMove) -> Reason | None:
    if s.count >= s.value:
        return Reason("all-drawn", {"step": "draw", "phase": s.phase, "who": s.seat})
    return None if move.a in s.river else Reason("not-in-river", {"card": TEXT[move.a]})


def _draw_penalty_test(s: ArcticState, move: ArcticMove) -> Reason | None:
    reason = _power_test(s, 6)
    if reason is not None:
        return reason
    if s.count >= s.value:
        return Reason("all-drawn", {"step": "draw", "phase": s.phase, "who": s.seat})
    return _penalty_has(s, move.a)


def _penalty_has(s: ArcticState, card: int) -> Reason | None:
    if _has(s, s.penalties[s.seat], card):
        return None
    return Reason("not-in-penalty", {"who": s.seat, "card": TEXT[card]})


def _draw_pile_test(s: ArcticState, move: ArcticMove) -> Reason | None:
    del move
    reason = _power_test(s, 8)
    if reason is not None:
        return reason
    if s.count >= s.value:
        return Reason("all-drawn", {"step": "draw", "phase": s.phase, "who": s.seat})
    return None if s.pile_left + s.reserve else Reason("pile-empty")


def _give_test(s: ArcticState, move: ArcticMove) -> Reason | None:
    reason = _power_test(s, 5)
    if reason is not None:
        return reason
    if move.b >= s.players:
        return Reason("no-seat", {"seat": move.b + 1})
    if move.b == s.seat:
        return Reason("give-self", {"who": s.seat})
    return _penalty_has(s, move.a)


def _drawn_test(s: ArcticState, move: ArcticMove) -> Reason | None:
    if move.a != s.seat:
        return Reason("setup-seat", {"who": s.seat})
    return _card_free(s, move.b)


def _discard_test(s: ArcticState, move: ArcticMove) -> Reason | None:
    hand = s.hands[s.seat]
    if len(hand) <= HAND_LIMIT:
        return Reason("no-excess", {"who": s.seat, "cards": len(hand)})
    if _has(s, hand, move.a):
        return None
    return Reason("not-in-hand", {"who": s.seat, "card": TEXT[move.a]})


def _stop_drawing_test(s: ArcticState, move: ArcticMove) -> Reason | None:
    del move
    if s.count < s.value:
        return Reason("draw-all", {"who": s.seat, "value": s.value, "left": s.value - s.count})
    return None


def _close_test(s: ArcticState, move: ArcticMove) -> Reason | None:
    del move
    cards = len(s.hands[s.seat])
    return Reason("excess", {"who": s.seat, "cards": cards}) if cards > HAND_LIMIT else None


def _totem_test(s: ArcticState, move: ArcticMove) -> Reason | None:
    if move.a >= s.players or s.totems[move.a] != -1 or move.b < 0 or move.a != s.totems.index(-1):
        return Reason("setup-seat", {"who": s.totems.index(-1)})
    return Reason("totem-taken", {"animal": ANIMALS[move.b]}) if move.b in s.totems else None


def _always(s: ArcticState, move: ArcticMove) -> Reason | None:
    del s, move
    return None


_TESTS: dict[tuple[str, str], Callable[[ArcticState, ArcticMove], Reason | None]] = {
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
    ("C", "give"): _give_test,
    ("C", "end"): _stop_drawing_test,
    ("drawn", "hand"): _drawn_test,
    ("refill", "river"): _river_test,
    ("D", "give"): _give_test,
    ("D", "discard"): _discard_test,
    ("D", "end"): _close_test,
    ("totems", "totem"): _totem_test,
}


# --- the grounds of a yes ------------------------------------------------------------------------------------


def grounds(s: ArcticState, move: ArcticMove) -> Reason:
    """Return what a legal step does, by which clauses."""
    kind, a, b = move
    if kind == "place":
        facts = {"who": s.seat, "card": TEXT[a], "nth": s.count + 1, "value": s.value}
        return Reason({TOP: "placed", BOTTOM: "placed-bottom", UNDER: "placed-under"}[b], facts)
    if kind == "tokens":
        return _token_grounds(s, move)
    if kind == "extra":
        animal, step = arrow_step(a)
        to = LANDSCAPE[s.tokens[animal] + step]
        clause = "ARC-P.1" if s.powers[2] == 1 else "ARC-P.2"
        return Reason("extra-step", {"who": s.seat, "animal": ANIMALS[animal], "to": to}, (clause,))
    if kind == "value":
        key = "place-value" if s.phase == "A" else "draw-value"
        return Reason(key, {"who": s.seat, "value": s.value + a})
    if kind == "end":
        return Reason(
            {"A": "pays-missing", "B2": "waives-extra", "C": "draws-nothing"}.get(s.phase, "ends-turn"), {"who": s.seat}
        )
    if kind in {"hand", "totem"}:
        shown = TEXT[b] if kind == "hand" else (ANIMALS[b] if b >= 0 else "?")
        key = "drew-unseen" if s.phase == "drawn" else f"dealt-{kind}"
        return Reason(key if s.phase != "totems" else "totem-shown", {"who": a, "what": shown})
    if kind == "give":
        return Reason("gave", {"who": s.seat, "to": b})
    if kind == "swap":
        return Reason("swapped", {"who": s.seat, "card": TEXT[a], "river": TEXT[b]})
    if kind == "side":
        return Reason("side-set", {"animal": ANIMALS[a], "power": f"P.{b}"})
    if kind == "first":
        return Reason("first-set", {"who": a})
    if kind == "pack":
        return Reason("pack-set", {"pack": a})
    card = TEXT[a] if 0 <= a < len(TEXT) else ""
    return Reason(_DONE[kind], {"who": s.seat, "card": card})


def _token_grounds(s: ArcticState, move: ArcticMove) -> Reason:
    (main, up), (companion, down) = arrow_step(move.a), arrow_step(move.b)
    ends = (s.tokens[main] in {0, 5}) + (s.tokens[companion] in {0, 5})
    facts = {
        "who": s.seat,
        "main": ANIMALS[main],
        "companion": ANIMALS[companion],
        "from": [LANDSCAPE[s.tokens[main]], LANDSCAPE[s.tokens[companion]]],
        "to": [LANDSCAPE[s.tokens[main] + up], LANDSCAPE[s.tokens[companion] + down]],
    }
    return Reason("tokens-moved", facts, (f"ARC-B.{1 + ends}",))


_DONE = {
    "river": "river-card",
    "penalty": "penalty-card",
    "take-back": "took-back",
    "draw": "drew",
    "draw-penalty": "drew-penalty",
    "draw-pile": "drew-pile",
    "discard": "discarded",
}
