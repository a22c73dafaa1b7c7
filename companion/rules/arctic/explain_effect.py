"""What a legal step of Arctic does: keys and facts of the sentences. Nothing here is quick.

It tells what happens by itself as well: the power card that is taken, the Reserve that is opened, the last round.
"""

from __future__ import annotations

from collections.abc import Callable

from companion.rules.arctic.components import (
    ANIMALS,
    LANDSCAPE,
    MAIN,
    PLACEMENT,
    TEXT,
    UNKNOWN,
)
from companion.rules.arctic.explain_refusal import Facts, Why, together
from companion.rules.arctic.moves import BOTTOM, TOP, ArcticMove, arrow_step
from companion.rules.arctic.position import ArcticPosition
from companion.rules.core import Reason


def what_it_does(s: ArcticPosition, move: ArcticMove) -> Reason:
    """Return what a legal step does, what follows by itself, and by which clauses."""
    facts: Facts = {"who": s.seat}
    first = _YES[move.kind](s, move, facts)
    return together(facts, [first, *_follows(s, move, facts)])


def _yes_place(s: ArcticPosition, move: ArcticMove, facts: Facts) -> Why:
    facts |= {"card": TEXT[move.a], "nth": s.count + 1, "value": s.value}
    if move.b == TOP:
        return "placed", ()
    where = "bottom" if move.b == BOTTOM else "under"
    if s.count + 1 < s.value:
        return f"placed-{where}-short", ()
    return f"placed-{where}-only" if s.value == 1 else f"placed-{where}", ()


def _yes_swap(s: ArcticPosition, move: ArcticMove, facts: Facts) -> Why:
    del s
    facts |= {"card": TEXT[move.a], "river": TEXT[move.b]}
    return "swapped", ()


def _yes_take_back(s: ArcticPosition, move: ArcticMove, facts: Facts) -> Why:
    del move
    pile = s.piles[s.seat]
    below = pile[-2] if len(pile) > 1 else -1
    seen = 0 <= below < UNKNOWN
    change = s.value - PLACEMENT[pile[-1]]
    facts |= {"card": TEXT[pile[-1]], "value": (PLACEMENT[below] if seen else 1) + change}
    return "took-back" if seen else "took-back-last" if below < 0 else "took-back-covered", ()


def _yes_value(s: ArcticPosition, move: ArcticMove, facts: Facts) -> Why:
    facts["value"] = value = s.value + move.a
    if s.phase == "C":
        return "draw-value-edge" if value in {0, 6} else "draw-value", ()
    if value == 0:
        return "place-none", ()
    return "place-value-saves" if move.a < 0 and len(s.hands[s.seat]) < s.value - s.count else "place-value", ()


def _yes_end(s: ArcticPosition, move: ArcticMove, facts: Facts) -> Why:
    del move
    facts |= {"left": s.value - s.count, "value": s.value}
    if s.phase == "C":
        return "draws-nothing" if s.count >= s.value else "draws-no-more", ()
    return {"A": "pays-missing", "B2": "waives-extra"}.get(s.phase, "ends-turn"), ()


def _yes_tokens(s: ArcticPosition, move: ArcticMove, facts: Facts) -> Why:
    (main, up), (companion, down) = arrow_step(move.a), arrow_step(move.b)
    ends = (s.tokens[main] in {0, 5}) + (s.tokens[companion] in {0, 5})
    facts |= {
        "main": ANIMALS[main],
        "companion": ANIMALS[companion],
        "from": [LANDSCAPE[s.tokens[main]], LANDSCAPE[s.tokens[companion]]],
        "to": [LANDSCAPE[s.tokens[main] + up], LANDSCAPE[s.tokens[companion] + down]],
    }
    return ("tokens-moved", "tokens-moved-end", "tokens-moved-ends")[ends], ()


def _yes_extra(s: ArcticPosition, move: ArcticMove, facts: Facts) -> Why:
    animal, step = arrow_step(move.a)
    at = s.tokens[animal]
    facts |= {"animal": ANIMALS[animal], "from": LANDSCAPE[at], "to": LANDSCAPE[at + step]}
    return "extra-inward" if at in {0, 5} else "extra-step", (f"ARC-P.{s.powers[2]}",)


def _yes_draw(s: ArcticPosition, move: ArcticMove, facts: Facts) -> Why:
    facts |= {"nth": s.count + 1, "value": s.value}
    if move.a >= 0:
        facts["card"] = TEXT[move.a]
    return {"draw": "drew", "draw-penalty": "drew-penalty", "draw-pile": "drew-pile"}[move.kind], ()


def _yes_give(s: ArcticPosition, move: ArcticMove, facts: Facts) -> Why:
    del s
    facts["to"] = move.b
    return "gave", ()


def _yes_dealt(s: ArcticPosition, move: ArcticMove, facts: Facts) -> Why:
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


def _yes_bare(s: ArcticPosition, move: ArcticMove, facts: Facts) -> Why:
    facts["river"] = len(s.river)
    return {"refill": "fills-early", "discard": "discarded"}[move.kind], ()


_YES: dict[str, Callable[[ArcticPosition, ArcticMove, Facts], Why]] = {
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


def _follows(s: ArcticPosition, move: ArcticMove, facts: Facts) -> list[Why]:
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


def _power_taken(s: ArcticPosition, after: ArcticPosition, facts: Facts) -> Why:
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


def _opened(s: ArcticPosition, move: ArcticMove) -> Why:
    if s.options["arc.end_trigger"] == "bga" and s.pile_left == 1:
        return "reserve-opens-early", ()
    if s.phase in {"A", "penalty"}:
        return "reserve-opens-penalty", ()
    return "reserve-opens-draw" if move.kind == "draw-pile" else "reserve-opens", ()
