"""Why a step is refused and what a legal one does: keys and facts of the sentences. Nothing here is quick.

A refusal tells all that stands in the way, not only the first thing; a legal step tells what happens by itself as well:
the power card that is taken, the Reserve that is opened, the last round.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from companion.rules.arctic.cards import (
    ANIMAL_OF_POWER,
    ANIMALS,
    COMPANION,
    HAND_LIMIT,
    LANDSCAPE,
    MAIN,
    PHASE_OF_POWER,
    PLACEMENT,
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
from companion.rules.core import JSON, Reason
from companion.rules.rulebook import rulebook

if TYPE_CHECKING:
    from companion.rules.arctic.state import ArcticState

Facts = dict[str, JSON]
Why = tuple[str, tuple[str, ...]]
"""The key of a sentence, and clauses beside its own."""

_SHOWN = frozenset({"hand", "river", "penalty", "totem", "side", "pack", "first"})
"""Steps that nobody decides: something is dealt or turned up."""
_POWER = {"swap": (3,), "take-back": (4,), "draw-penalty": (6,), "draw-pile": (8,), "refill": (7,), "give": (5,)}
"""The powers that a step uses."""
_OF_A = frozenset({"swap", "take-back", "place"})
_OF_B = frozenset({"tokens", "extra"})


def _together(facts: Facts, why: list[Why]) -> Reason:
    """Return one reason for several: the first speaks, the others follow, and the clauses of all are cited."""
    sentences = rulebook("arctic").sentences
    cited = [clause for key, more in why for clause in (*sentences[key].clauses, *more)]
    clauses = tuple(dict.fromkeys(cited))
    if len(why) > 1:
        facts = facts | {"also": [key for key, _ in why[1:]]}
    return Reason(why[0][0], facts, clauses)


# --- the reason for a no -------------------------------------------------------------------------------------


def why_not(s: ArcticState, move: ArcticMove) -> Reason:
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
    return _together(facts, why)


_CHANCE = {"penalty": "penalty", "drawn": "hand", "refill": "river", "totems": "totem"}
"""What is to be turned up in the phases of chance."""


def _no_setup(s: ArcticState, move: ArcticMove, facts: Facts) -> Reason:
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


def _nothing_else(s: ArcticState, move: ArcticMove, facts: Facts) -> Reason:
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


def _card_not_free(s: ArcticState, card: int, facts: Facts) -> Reason:
    facts["card"] = TEXT[card]
    if not s.pile_left:
        return Reason("pile-empty", facts)
    if s.phase == "refill" and len(s.river) >= RIVER:
        return Reason("river-full", facts)
    if card == UNKNOWN:
        return Reason("river-face-up", facts)
    return Reason("card-elsewhere" if in_play(s.packs) >> card & 1 else "card-not-in-play", facts)


def _no_power(s: ArcticState, power: int, facts: Facts) -> list[Why]:
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


def _wrong_phase(s: ArcticState, move: ArcticMove, facts: Facts) -> list[Why]:
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


def _no_swap(s: ArcticState, move: ArcticMove, facts: Facts) -> list[Why]:
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


def _no_take_back(s: ArcticState, move: ArcticMove, facts: Facts) -> list[Why]:
    del move
    why = _no_power(s, 4, facts)
    if s.phase != "A" or s.count:
        return [*why, ("before-placing", ("ARC-P.4",))]
    return why if s.visible(s.seat) >= 0 else [*why, ("no-visible", ())]


def _no_value(s: ArcticState, move: ArcticMove, facts: Facts) -> list[Why]:
    if s.phase not in {"A", "C"}:
        return [("value-not-now", ())]
    facts["value"] = s.value
    why = _no_power(s, 10 if s.phase == "A" else 9, facts)
    return [*why, ("value-below-zero", ())] if s.value + move.a < 0 else why


def _no_place(s: ArcticState, move: ArcticMove, facts: Facts) -> list[Why]:
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


def _no_tokens(s: ArcticState, move: ArcticMove, facts: Facts) -> list[Why]:
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


def _no_extra(s: ArcticState, move: ArcticMove, facts: Facts) -> list[Why]:
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


def _no_draw(s: ArcticState, move: ArcticMove, facts: Facts) -> list[Why]:
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


def _not_in_penalty(s: ArcticState, card: int, clause: str, facts: Facts) -> list[Why]:
    mine = s.penalties[s.seat]
    if moves_unseen(s, mine) if card == UNKNOWN else holds(s, mine, card):
        return []
    facts["card"] = TEXT[card]
    return [("not-in-penalty", (clause,))]


def _no_give(s: ArcticState, move: ArcticMove, facts: Facts) -> list[Why]:
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


def _no_discard(s: ArcticState, move: ArcticMove, facts: Facts) -> list[Why]:
    if s.phase != "D":
        return _wrong_phase(s, move, facts)
    hand = s.hands[s.seat]
    facts |= {"cards": len(hand), "card": TEXT[move.a]}
    why: list[Why] = [] if len(hand) > HAND_LIMIT else [("no-excess", ())]
    if not (moves_unseen(s, hand) if move.a == UNKNOWN else holds(s, hand, move.a)):
        why.append(("not-in-hand", ("ARC-C.2",)))
    return why


def _no_end(s: ArcticState, move: ArcticMove, facts: Facts) -> list[Why]:
    del move
    facts |= {"value": s.value, "left": s.value - s.count, "cards": len(s.hands[s.seat])}
    if s.phase == "A":
        return [("place-all", ())]
    if s.phase == "B":
        return [("move-tokens-first" if s.visible(s.seat) >= 0 else "no-animals", ())]
    return [("draw-all" if s.phase == "C" else "excess", ())]


_NO: dict[str, Callable[[ArcticState, ArcticMove, Facts], list[Why]]] = {
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


# --- the grounds of a yes ------------------------------------------------------------------------------------


def what_it_does(s: ArcticState, move: ArcticMove) -> Reason:
    """Return what a legal step does, what follows by itself, and by which clauses."""
    facts: Facts = {"who": s.seat}
    first = _YES[move.kind](s, move, facts)
    return _together(facts, [first, *_follows(s, move, facts)])


def _yes_place(s: ArcticState, move: ArcticMove, facts: Facts) -> Why:
    facts |= {"card": TEXT[move.a], "nth": s.count + 1, "value": s.value}
    if move.b == TOP:
        return "placed", ()
    where = "bottom" if move.b == BOTTOM else "under"
    if s.count + 1 < s.value:
        return f"placed-{where}-short", ()
    return f"placed-{where}-only" if s.value == 1 else f"placed-{where}", ()


def _yes_swap(s: ArcticState, move: ArcticMove, facts: Facts) -> Why:
    del s
    facts |= {"card": TEXT[move.a], "river": TEXT[move.b]}
    return "swapped", ()


def _yes_take_back(s: ArcticState, move: ArcticMove, facts: Facts) -> Why:
    del move
    pile = s.piles[s.seat]
    below = pile[-2] if len(pile) > 1 else -1
    seen = 0 <= below < UNKNOWN
    change = s.value - PLACEMENT[pile[-1]]
    facts |= {"card": TEXT[pile[-1]], "value": (PLACEMENT[below] if seen else 1) + change}
    return "took-back" if seen else "took-back-last" if below < 0 else "took-back-covered", ()


def _yes_value(s: ArcticState, move: ArcticMove, facts: Facts) -> Why:
    facts["value"] = value = s.value + move.a
    if s.phase == "C":
        return "draw-value-edge" if value in {0, 6} else "draw-value", ()
    if value == 0:
        return "place-none", ()
    return "place-value-saves" if move.a < 0 and len(s.hands[s.seat]) < s.value - s.count else "place-value", ()


def _yes_end(s: ArcticState, move: ArcticMove, facts: Facts) -> Why:
    del move
    facts |= {"left": s.value - s.count, "value": s.value}
    if s.phase == "C":
        return "draws-nothing" if s.count >= s.value else "draws-no-more", ()
    return {"A": "pays-missing", "B2": "waives-extra"}.get(s.phase, "ends-turn"), ()


def _yes_tokens(s: ArcticState, move: ArcticMove, facts: Facts) -> Why:
    (main, up), (companion, down) = arrow_step(move.a), arrow_step(move.b)
    ends = (s.tokens[main] in {0, 5}) + (s.tokens[companion] in {0, 5})
    facts |= {
        "main": ANIMALS[main],
        "companion": ANIMALS[companion],
        "from": [LANDSCAPE[s.tokens[main]], LANDSCAPE[s.tokens[companion]]],
        "to": [LANDSCAPE[s.tokens[main] + up], LANDSCAPE[s.tokens[companion] + down]],
    }
    return ("tokens-moved", "tokens-moved-end", "tokens-moved-ends")[ends], ()


def _yes_extra(s: ArcticState, move: ArcticMove, facts: Facts) -> Why:
    animal, step = arrow_step(move.a)
    at = s.tokens[animal]
    facts |= {"animal": ANIMALS[animal], "from": LANDSCAPE[at], "to": LANDSCAPE[at + step]}
    return "extra-inward" if at in {0, 5} else "extra-step", (f"ARC-P.{s.powers[2]}",)


def _yes_draw(s: ArcticState, move: ArcticMove, facts: Facts) -> Why:
    facts |= {"nth": s.count + 1, "value": s.value}
    if move.a >= 0:
        facts["card"] = TEXT[move.a]
    return {"draw": "drew", "draw-penalty": "drew-penalty", "draw-pile": "drew-pile"}[move.kind], ()


def _yes_give(s: ArcticState, move: ArcticMove, facts: Facts) -> Why:
    del s
    facts["to"] = move.b
    return "gave", ()


def _yes_dealt(s: ArcticState, move: ArcticMove, facts: Facts) -> Why:
    kind, a, b = move
    if kind == "pack":
        facts["pack"] = a
    elif kind == "side":
        facts |= {"animal": ANIMALS[a], "power": f"P.{b}"}
    elif kind == "hand":
        facts |= {"who": a, "card": TEXT[b]}
    elif kind == "totem":
        facts |= {"who": a, "animal": ANIMALS[b] if b >= 0 else "?"}
    elif kind == "first":
        facts["who"] = a
    else:
        facts["card"] = TEXT[a]
    if kind == "hand" and s.phase == "drawn":
        return "drew-unseen", ()
    if kind == "totem":
        return "totem-shown" if s.phase == "totems" else "dealt-totem" if b >= 0 else "dealt-secret", ()
    if kind == "river" and s.phase == "setup":
        return "river-dealt", ()
    return {"pack": "pack-set", "side": "side-set", "first": "first-set", "hand": "dealt-hand"}.get(
        kind, f"{kind}-card"
    ), ()


def _yes_bare(s: ArcticState, move: ArcticMove, facts: Facts) -> Why:
    facts["river"] = len(s.river)
    return {"refill": "fills-early", "discard": "discarded"}[move.kind], ()


_YES: dict[str, Callable[[ArcticState, ArcticMove, Facts], Why]] = {
    "place": _yes_place,
    "swap": _yes_swap,
    "take-back": _yes_take_back,
    "value": _yes_value,
    "end": _yes_end,
    "tokens": _yes_tokens,
    "extra": _yes_extra,
    "draw": _yes_draw,
    "draw-penalty": _yes_draw,
    "draw-pile": _yes_draw,
    "refill": _yes_bare,
    "discard": _yes_bare,
    "give": _yes_give,
    **dict.fromkeys(("pack", "side", "totem", "first", "hand", "river", "penalty"), _yes_dealt),
}


def _follows(s: ArcticState, move: ArcticMove, facts: Facts) -> list[Why]:
    """Return what happens by itself after a step: a power card, missing cards, the end coming nearer."""
    after = s.after(move)
    found: list[Why] = []
    if s.phase == "A" and after.phase == "penalty":
        facts["missing"] = after.value
        found.append(("must-pay", ()))
    if s.phase in {"A", "penalty"} and (after.phase not in {"A", "penalty"} or after.seat != s.seat):
        found.append(_power_taken(s, after, facts))
    if after.stage != s.stage and after.stage == "last" and s.stage == "normal":
        found.append(_opened(s, move))
    if after.stage != s.stage:
        found.append(_opened(s, move) if after.stage == "final" else ("last-round", ()))
    if after.phase in {"over", "totems"} and s.phase not in {"over", "totems"}:
        found.append(("all-played", ()))
    return found


def _power_taken(s: ArcticState, after: ArcticState, facts: Facts) -> Why:
    visible = after.visible(s.seat)
    if visible < 0:
        return "no-power", ()
    animal = MAIN[visible]
    owner = s.owners[animal]
    facts["animal"] = ANIMALS[animal]
    if owner == s.seat:
        return "power-kept", ()
    if owner < 0:
        return "power-from-centre", ()
    facts["owner"] = owner
    return "power-from-player", ()


def _opened(s: ArcticState, move: ArcticMove) -> Why:
    if s.options["arc.end_trigger"] == "bga" and s.pile_left == 1:
        return "reserve-opens-early", ()
    if s.phase in {"A", "penalty"}:
        return "reserve-opens-penalty", ()
    return "reserve-opens-draw" if move.kind == "draw-pile" else "reserve-opens", ()
