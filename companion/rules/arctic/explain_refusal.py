"""Why a step of Arctic is refused: keys and facts of the sentences. Nothing here is quick.

A refusal tells all that stands in the way, not only the first thing. What a legal step does stands in
:mod:`…arctic.explain_effect`.
"""

from __future__ import annotations

from collections.abc import Callable

from companion.rules.arctic.components import (
    ANIMAL_OF_POWER,
    ANIMALS,
    COMPANION,
    HAND_LIMIT,
    LANDSCAPE,
    MAIN,
    PHASE_OF_POWER,
    RIVER,
    SIDES,
    TEXT,
    UNKNOWN,
    USED_DISCARD,
    in_play,
)
from companion.rules.arctic.legality import (
    extra_animal,
    holds,
    is_last,
    moves_unseen,
    setup_needs,
    token_steps,
    usable,
)
from companion.rules.arctic.moves import BOTTOM, TOP, UNDER, ArcticMove, arrow_step
from companion.rules.arctic.position import ArcticPosition
from companion.rules.core import JSON, Reason
from companion.rules.rulebook import rulebook

Facts = dict[str, JSON]
Why = tuple[str, tuple[str, ...]]
"""The key of a sentence, and clauses beside its own."""

_SHOWN = frozenset({"hand", "river", "penalty", "totem", "side", "pack", "first"})
"""Steps that nobody decides: something is dealt or turned up."""
_POWER = {"swap": (3,), "take-back": (4,), "draw-penalty": (6,), "draw-pile": (8,), "refill": (7,), "give": (5,)}
"""The powers that a step uses."""
_OF_A = frozenset({"swap", "take-back", "place"})
_OF_B = frozenset({"tokens", "extra"})


def together(facts: Facts, why: list[Why]) -> Reason:
    """Return one reason for several: the first speaks, the others follow, and the clauses of all are cited."""
    sentences = rulebook("arctic").sentences
    cited = [clause for key, more in why for clause in (*sentences[key].clauses, *more)]
    clauses = tuple(dict.fromkeys(cited))
    if len(why) > 1:
        facts = facts | {"also": [key for key, _ in why[1:]]}
    return Reason(why[0][0], facts, clauses)


# --- the reason for a no -------------------------------------------------------------------------------------


def why_not(s: ArcticPosition, move: ArcticMove) -> Reason:
    """Return why a step that is not allowed is refused."""
    facts: Facts = {"step": move.kind, "phase": s.phase, "who": s.seat}
    if s.phase == "over":
        return Reason("over", facts)
    if s.phase == "setup":
        return _no_setup(s, move, facts)
    if s.phase in _CHANCE:
        return _nothing_else(s, move, facts)
    if move.kind in _SHOWN:
        return Reason("nothing-dealt", facts)
    why = _NO[move.kind](s, move, facts)
    return together(facts, why)


_CHANCE = {"penalty": "penalty", "drawn": "hand", "refill": "river", "totems": "totem"}
"""What is to be turned up in the phases of chance."""


def _no_setup(s: ArcticPosition, move: ArcticMove, facts: Facts) -> Reason:
    needs = setup_needs(s)
    kind, a, b = move
    if kind not in needs:
        return Reason("setup-waits", facts | {"waits": list(needs)})
    if kind in {"totem", "hand"} and a != needs[kind]:
        return Reason("other-seat", facts | {"who": needs[kind]})
    if kind == "pack":
        return Reason("pack-taken", facts | {"pack": a})
    if kind == "side":
        return Reason("side-taken", facts | {"animal": ANIMALS[a]})
    if kind == "totem":
        return Reason("totem-taken", facts | {"animal": ANIMALS[b]})
    if kind == "first":
        return Reason("no-seat", facts | {"seat": a + 1, "players": s.players})
    return _card_not_free(s, b if kind == "hand" else a, facts)


def _nothing_else(s: ArcticPosition, move: ArcticMove, facts: Facts) -> Reason:
    kind = _CHANCE[s.phase]
    if move.kind != kind:
        return Reason("chance-first", facts | {"waits": kind})
    seat = s.totems.index(-1) if s.phase == "totems" else s.seat
    if kind in {"totem", "hand"} and move.a != seat:
        return Reason("other-seat", facts | {"who": seat})
    if kind == "totem":
        if move.b < 0:
            return Reason("totem-is-shown", facts | {"who": seat})
        return Reason("totem-taken", facts | {"animal": ANIMALS[move.b]})
    return _card_not_free(s, move.b if kind == "hand" else move.a, facts)


def _card_not_free(s: ArcticPosition, card: int, facts: Facts) -> Reason:
    facts["card"] = TEXT[card]
    if not s.pile_left:
        return Reason("pile-empty", facts)
    if s.phase == "refill" and len(s.river) >= RIVER:
        return Reason("river-full", facts)
    if card == UNKNOWN:
        return Reason("river-face-up", facts)
    return Reason("card-elsewhere" if in_play(s.packs) >> card & 1 else "card-not-in-play", facts)


def _no_power(s: ArcticPosition, power: int, facts: Facts) -> list[Why]:
    """Return why the player to move cannot use a power, or nothing."""
    if usable(s, power):
        return []
    animal = ANIMAL_OF_POWER[power]
    facts |= {"power": f"P.{power}", "animal": ANIMALS[animal]}
    if s.powers[animal] != power:
        key = "power-not-in-play"
    elif s.owners[animal] != s.seat:
        key = "power-not-held"
    elif PHASE_OF_POWER[power] == "A" and not s.held >> animal & 1:
        key = "power-fresh"
    else:
        key = "power-used"
    return [(key, (f"ARC-P.{power}",))]


def _wrong_phase(s: ArcticPosition, move: ArcticMove, facts: Facts) -> list[Why]:
    """Return why a step does not belong to this phase: what comes first, or that it is too late."""
    kind, phase = move.kind, s.phase
    if phase == "A" and s.count < s.value:
        facts |= {"left": s.value - s.count, "value": s.value}
        return [("place-first", ())]
    if phase == "B":
        return [("move-tokens-first" if s.visible(s.seat) >= 0 else "no-animals", ())]
    if kind == "place":
        return [("all-placed", ())]
    if kind in _OF_A:
        return [("before-placing", ())]
    if kind in _OF_B:
        return [("tokens-done", ())]
    if phase == "B2" and extra_animal(s) >= 0:
        facts["animal"] = ANIMALS[extra_animal(s)]
        return [("extra-first", ())]
    if phase == "C":
        return [("discard-later", ())]
    if phase == "D":
        return [("all-drawn", ())]
    return [("not-now", ())]


def _no_swap(s: ArcticPosition, move: ArcticMove, facts: Facts) -> list[Why]:
    facts |= {"card": TEXT[move.a], "river": TEXT[move.b]}
    why = _no_power(s, 3, facts)
    if s.phase != "A" or s.count:
        return [*why, ("before-placing", ("ARC-P.3",))]
    if move.a == UNKNOWN:
        why.append(("name-it", ("ARC-P.3",)))
    elif not holds(s, s.hands[s.seat], move.a):
        why.append(("not-in-hand", ("ARC-P.3",)))
    if move.b not in s.river:
        why.append(("not-in-river", ("ARC-P.3",)))
    return why


def _no_take_back(s: ArcticPosition, move: ArcticMove, facts: Facts) -> list[Why]:
    del move
    why = _no_power(s, 4, facts)
    if s.phase != "A" or s.count:
        return [*why, ("before-placing", ("ARC-P.4",))]
    return why if s.visible(s.seat) >= 0 else [*why, ("no-visible", ())]


def _no_value(s: ArcticPosition, move: ArcticMove, facts: Facts) -> list[Why]:
    if s.phase not in {"A", "C"}:
        return [("value-not-now", ())]
    facts["value"] = s.value
    why = _no_power(s, 10 if s.phase == "A" else 9, facts)
    return [*why, ("value-below-zero", ())] if s.value + move.a < 0 else why


def _no_place(s: ArcticPosition, move: ArcticMove, facts: Facts) -> list[Why]:
    _, card, where = move
    hand = s.hands[s.seat]
    facts |= {"card": TEXT[card], "left": s.value - s.count, "value": s.value}
    if s.phase != "A" or s.count >= s.value:
        return _wrong_phase(s, move, facts)
    why: list[Why] = []
    if card == UNKNOWN and where != UNDER:
        why.append(("name-it", ("ARC-A.1",)))
    elif not (moves_unseen(s, hand) if card == UNKNOWN else holds(s, hand, card)):
        why.append(("not-in-hand", ("ARC-A.1",)))
    if where == TOP:
        return why
    why += _no_power(s, 11 if where == BOTTOM else 12, facts)
    if where == UNDER and s.visible(s.seat) < 0:
        why.append(("under-nothing", ()))
    if not is_last(s):
        why.append(("not-the-last", ("ARC-P.11" if where == BOTTOM else "ARC-P.12",)))
    return why


def _no_tokens(s: ArcticPosition, move: ArcticMove, facts: Facts) -> list[Why]:
    visible = s.visible(s.seat)
    if s.phase != "B" or visible < 0:
        return _wrong_phase(s, move, facts)
    main, companion = MAIN[visible], COMPANION[visible]
    facts |= {
        "main": ANIMALS[main],
        "companion": ANIMALS[companion],
        "at": [LANDSCAPE[s.tokens[main]], LANDSCAPE[s.tokens[companion]]],
    }
    if (move.a >> 1, move.b >> 1) != (main, companion):
        return [("other-animals", ())]
    if len(token_steps(s)) == 2:
        return [("tokens-opposite", ())]
    both = s.tokens[main] in {0, 5} and s.tokens[companion] in {0, 5}
    return [("tokens-both-inward" if both else "tokens-inward", ())]


def _no_extra(s: ArcticPosition, move: ArcticMove, facts: Facts) -> list[Why]:
    power = s.powers[2] if s.powers[2] in SIDES[2] else 1
    why = _no_power(s, power, facts)
    if s.phase != "B2":
        return [*why, *(_wrong_phase(s, move, facts) if s.phase in {"A", "B"} or not why else [])]
    if why or extra_animal(s) < 0:
        return why or [("no-animals", ())]
    animal, step = arrow_step(move.a)
    facts |= {"moved": ANIMALS[animal], "animal": ANIMALS[extra_animal(s)]}
    if animal != extra_animal(s):
        why.append(("extra-other-animal", (f"ARC-P.{power}",)))
    if not 0 <= s.tokens[animal] + step <= 5:
        why.append(("off-landscape", (f"ARC-P.{power}",)))
    return why


def _no_draw(s: ArcticPosition, move: ArcticMove, facts: Facts) -> list[Why]:
    kind = move.kind
    why = [one for power in _POWER.get(kind, ()) for one in _no_power(s, power, facts)]
    if s.phase != "C":
        return [*why, *_wrong_phase(s, move, facts)]
    if s.count >= s.value:
        why.append(("all-drawn", ()))
    if kind == "draw" and move.a not in s.river:
        facts["river"] = TEXT[move.a]
        why.append(("not-in-river", ("ARC-C.1",)))
    if kind == "draw-penalty":
        why += _not_in_penalty(s, move.a, "ARC-P.6", facts)
    if kind in {"draw-pile", "refill"} and not s.pile_left + s.reserve:
        why.append(("pile-empty", ()))
    if kind == "refill" and len(s.river) >= RIVER:
        why.append(("river-full", ()))
    return why


def _not_in_penalty(s: ArcticPosition, card: int, clause: str, facts: Facts) -> list[Why]:
    mine = s.penalties[s.seat]
    if moves_unseen(s, mine) if card == UNKNOWN else holds(s, mine, card):
        return []
    facts["card"] = TEXT[card]
    return [("not-in-penalty", (clause,))]


def _no_give(s: ArcticPosition, move: ArcticMove, facts: Facts) -> list[Why]:
    facts["seat"] = move.b + 1
    why = _no_power(s, 5, facts)
    if s.phase not in {"C", "D"}:
        return [*why, *_wrong_phase(s, move, facts)]
    if s.used & USED_DISCARD:
        why.append(("give-too-late", ()))
    if move.b >= s.players:
        facts["players"] = s.players
        why.append(("no-seat", ()))
    elif move.b == s.seat:
        why.append(("give-self", ()))
    return [*why, *_not_in_penalty(s, move.a, "ARC-P.5", facts)]


def _no_discard(s: ArcticPosition, move: ArcticMove, facts: Facts) -> list[Why]:
    if s.phase != "D":
        return _wrong_phase(s, move, facts)
    hand = s.hands[s.seat]
    facts |= {"cards": len(hand), "card": TEXT[move.a]}
    why: list[Why] = [] if len(hand) > HAND_LIMIT else [("no-excess", ())]
    if not (moves_unseen(s, hand) if move.a == UNKNOWN else holds(s, hand, move.a)):
        why.append(("not-in-hand", ("ARC-C.2",)))
    return why


def _no_end(s: ArcticPosition, move: ArcticMove, facts: Facts) -> list[Why]:
    del move
    facts |= {"value": s.value, "left": s.value - s.count, "cards": len(s.hands[s.seat])}
    if s.phase == "A":
        return [("place-all", ())]
    if s.phase == "B":
        return [("move-tokens-first" if s.visible(s.seat) >= 0 else "no-animals", ())]
    return [("draw-all" if s.phase == "C" else "excess", ())]


_NO: dict[str, Callable[[ArcticPosition, ArcticMove, Facts], list[Why]]] = {
    "swap": _no_swap,
    "take-back": _no_take_back,
    "value": _no_value,
    "place": _no_place,
    "tokens": _no_tokens,
    "extra": _no_extra,
    "draw": _no_draw,
    "draw-penalty": _no_draw,
    "draw-pile": _no_draw,
    "refill": _no_draw,
    "give": _no_give,
    "discard": _no_discard,
    "end": _no_end,
}
