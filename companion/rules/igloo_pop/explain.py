"""Why a move is refused and what a legal one does: the keys and facts of the sentences. Nothing here is quick."""

from __future__ import annotations

from companion.rules.core import JSON, Reason
from companion.rules.igloo_pop import moves as m
from companion.rules.igloo_pop.components import CARD_BITS, CARD_TEXT, COLOURS, IGLOOS, PLACES, card_text
from companion.rules.igloo_pop.moves import IglooPopMove
from companion.rules.igloo_pop.position import PopPosition
from companion.rules.igloo_pop.settling import explain_card
from companion.rules.rulebook import rulebook


def why_not(state: PopPosition, move: IglooPopMove) -> Reason:
    """Return why an illegal ``move`` is refused in ``state``."""
    if state.phase == "over":
        end = state.end_reason
        clauses = rulebook("igloo-pop").sentences[end.key].clauses if end else ()
        return Reason("game-over", {"phase": state.phase}, clauses)
    if move.code == m.DEAL:
        return _no_deal(state, move)
    if move.code == m.START:
        return _no_start(state)
    if move.code == m.REVEAL:
        return _no_reveal(state, move)
    return _no_announcement(state, move)


def _card(state: PopPosition, place: str) -> str:
    numbers = state.cards[place]
    return card_text(numbers) if numbers else "unknown"


def _together(facts: dict[str, JSON], *keys: str) -> Reason:
    """Return one reason for several: the first speaks, the others follow, and the clauses of all are cited."""
    if len(keys) == 1:
        return Reason(keys[0], facts)
    sentences = rulebook("igloo-pop").sentences
    clauses = tuple(dict.fromkeys(clause for key in keys for clause in sentences[key].clauses))
    return Reason(keys[0], facts | {"also": list(keys[1:])}, clauses)


def _no_deal(state: PopPosition, move: IglooPopMove) -> Reason:
    place, card = PLACES[move.where], CARD_TEXT[move.card]
    facts: dict[str, JSON] = {"place": place, "card": card, "phase": state.phase, "stack": state.stack_left}
    keys = []
    if state.cards[place] is not None:
        facts["lying"] = _card(state, place)
        keys.append("place-has-card")
    if state.card_seen(move.card) and facts.get("lying") != card:
        keys.append("card-used")
    if not state.has_card(move.where):
        if state.phase != "deal":
            keys.append("deal-not-now")
        elif not state.stack_left:
            keys.append("stack-empty")
    return _together(facts, *keys)


def _no_start(state: PopPosition) -> Reason:
    missing = state.missing_cards
    if state.phase in ("deal", "ready"):
        return Reason("circle-not-full", {"missing": missing, "phase": state.phase, "stack": state.stack_left})
    return Reason("start-not-now", {"phase": state.phase})


def _no_reveal(state: PopPosition, move: IglooPopMove) -> Reason:
    place = PLACES[move.where]
    facts: dict[str, JSON] = {"place": place, "number": move.number, "phase": state.phase}
    if state.phase != "checking":
        return Reason("check-not-now", facts)
    if state.begun not in (None, place):
        return Reason("finish-begun-card", facts | {"begun": state.begun})
    if not state.igloos[place]:
        return Reason("no-igloo-there", facts)
    if state.cards[place] is None:
        return Reason("card-unknown", facts)
    return Reason("number-used", facts)


def _no_announcement(state: PopPosition, move: IglooPopMove) -> Reason:
    colour = COLOURS[move.who]
    if state.phase != "shaking":
        return Reason("round-not-running", {"phase": state.phase})
    if colour not in state.colours:
        return Reason("not-playing", {"colour": colour})
    facts: dict[str, JSON] = {"who": colour}
    if move.code == m.RETURN:
        return Reason("nothing-in-hand", facts)
    holds, broke = colour in state.hands, state.own[colour] <= 0
    if move.code == m.PASS:
        return Reason("pass-with-igloo" if holds else "counts-as-passed" if broke else "already-passed", facts)
    keys = []
    if holds and move.code == m.TAKE:
        keys.append("hands-full")
    if broke:
        facts |= {"own": 0, "captured": state.captured[colour]}
        keys.append("no-own-thaler")
    if move.code == m.PLACE and not state.has_card(move.where):
        facts["place"] = PLACES[move.where]
        keys.append("no-card-there")
    if state.village_left <= 0 and not (holds and move.code == m.PLACE):
        held = len(state.hands)
        facts |= {"village": 0, "held": held, "placed": len(IGLOOS) - held}
        keys.append("village-empty")
    return _together(facts, *keys)


def what_it_does(state: PopPosition, move: IglooPopMove) -> Reason:
    """Return what a legal ``move`` does in ``state``."""
    if move.code == m.DEAL:
        laid = {"place": PLACES[move.where], "card": CARD_TEXT[move.card]}
        if state.has_card(move.where):
            return Reason("names-card", laid)
        return Reason("deals" if state.round == 1 else "refills", laid)
    if move.code == m.START:
        return Reason("starts", {"round": state.round, "cards": 9 - state.missing_cards})
    if move.code == m.REVEAL:
        return _revealed(state, move)
    colour = COLOURS[move.who]
    if move.code == m.TAKE:
        return Reason("takes", {"who": colour, "village": state.village_left - 1})
    ends = state.after(move).phase != "shaking"
    if move.code == m.RETURN:
        return Reason("returns-and-ends" if ends else "returns", {"who": colour, "village": state.village_left + 1})
    if move.code == m.PASS:
        return Reason("passes-and-ends" if ends else "passes", {"who": colour})
    place = PLACES[move.where]
    others = len(state.igloos[place])
    facts: dict[str, JSON] = {
        "who": colour,
        "place": place,
        "card": _card(state, place),
        "left": state.own[colour] - 1,
        "others": others,
    }
    return Reason("places-and-ends" if ends else "places-among-others" if others else "places", facts)


def _revealed(state: PopPosition, move: IglooPopMove) -> Reason:
    reason = _shown(state, move)
    if state.begun is None and _next_clockwise(state) not in (None, PLACES[move.where]):
        return Reason(reason.key, {**reason.facts, "next": _next_clockwise(state), "also": ["other-order"]})
    return reason


def _next_clockwise(state: PopPosition) -> str | None:
    """Return the card whose turn it is after the last one that was checked; None where any may be the first."""
    results = state.last_results if state.phase == "checking" else ()
    if not results:
        return None
    last = PLACES.index(results[-1].place)
    ahead = [PLACES[(last + step) % len(PLACES)] for step in range(1, len(PLACES))]
    return next((place for place in ahead if state.igloos_at(PLACES.index(place))), None)


def _shown(state: PopPosition, move: IglooPopMove) -> Reason:
    here = state.igloos_at(move.where)
    turned = next(i for i, igloo in enumerate(here) if not igloo & 15)
    card = state.card_at(move.where)
    if turned + 1 == len(here):
        igloos = (*here[:turned], here[turned] | move.number)
        return explain_card(move.where, card, igloos, state.options["pop.none_match"] == "remove")
    facts = {
        "who": COLOURS[here[turned] >> 4],
        "place": PLACES[move.where],
        "card": CARD_TEXT[card],
        "number": move.number,
    }
    return Reason("shows-match" if CARD_BITS[card] >> move.number & 1 else "shows-miss", facts)
