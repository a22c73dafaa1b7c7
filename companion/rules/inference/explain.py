"""The referee's question: how did this come from that? The legal turns, or why there is none and the nearest one.

A "no" has a reason that a table would accept. It may be two turns. Else what is plainly wrong with what was seen comes
first (a game's ``objections``): it cannot lie so, it was not that player's to move, the points ran out; then what the
moves that would have made it good are refused for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, Final, NamedTuple

from companion.rules.core import JSON, NOBODY, Move, Ruling, SetupError, State
from companion.rules.inference.explanation import Difference, Explanation, Told, content_json, spoken, told
from companion.rules.inference.turns import LIMIT, Content, Evidence, SearchResult, Turn, content, search_of, turns
from companion.rules.rulebook import rulebook

MOST: Final = 20_000
"""States that the search for a turn looks at before it gives up."""
FIRST_MOST: Final = 250
"""States that the search for the nearest legal turn looks at first, without what is plainly wrong."""
COUNTERPARTS: Final = 3
"""Places that such a search tries as those where what is plainly wrong came from, or went to."""
RELAXED_MOST, RELAXED_EACH = 4_000, 600
"""States that the search for the nearest legal turn looks at: in all, and in each of its attempts."""
REFUSALS: Final = 4
"""Refused moves that an explanation tells at most."""
FIRST_TURNS: Final = 8
"""First turns that are tried where two turns may explain what was seen."""
TWO_MOST: Final = 150
"""States that each search for one of two turns looks at."""
ALL_CASES: Final = 4
"""States that a position may stand for which are all explained; of more, one for each that may be to move."""


class Objection(NamedTuple):
    """Something that is wrong with what was seen, whatever was moved: the ruling, and the places that it speaks of.

    ``move`` is the move that it is the ruling on, or empty. ``sure``: no legal turn leads there; ``alone``: nor do two.
    """

    move: Move | str
    ruling: Ruling
    places: frozenset[str] = frozenset()
    sure: bool = False
    alone: bool = False


def explain(
    before: State[Any], evidence: Evidence, *, limit: int = LIMIT, found: SearchResult | None = None, share: int = 1
) -> Explanation:
    """Return the legal turns from one position to what was seen, or the nearest one and the clauses in the way.

    ``found`` is what a search found already, where that was nothing. ``share``: among how many questions like this the
    effort is shared.

    :raises SetupError: when the game has no search.
    """
    plain = _objections(before, evidence)
    explained = _searched(before, evidence, limit, found, share, plain)
    if explained.legal:
        steps = told(before, explained.turns[0].moves)
        return replace(explained, because=steps, steps=steps)
    return _reasoned(before, evidence, explained, plain)


def explain_best(states: Sequence[State[Any]], evidence: Evidence) -> tuple[State[Any], Explanation]:
    """Return of the states that a position may stand for the one with the shortest legal explanation, and that.

    Where none has a legal one, that which misses the least.

    :raises SetupError: when the game has no search.
    """
    if len(states) == 1:
        return states[0], explain(states[0], evidence)
    share = min(len(states), ALL_CASES)
    searched = [(state, turns(state, evidence, limit=1, most=MOST // share)) for state in states]
    legal = [state for state, found in searched if found.turns]
    if legal:
        explained = [(state, explain(state, evidence)) for state in legal]
    else:
        if len(states) > ALL_CASES:
            searched = list({state.to_move: (state, found) for state, found in reversed(searched)}.values())[::-1]
        explained = [(state, explain(state, evidence, found=found, share=share)) for state, found in searched]
    return min(explained, key=lambda pair: _rank(pair[1]))


def _rank(found: Explanation) -> tuple[bool, bool, int, int]:
    length = len(found.turns[0].moves) if found.legal else 0
    return not found.legal, found.two is None, len(found.differences) or 99, length


# --- why there is none ------------------------------------------------------------------------------------------------


def _reasoned(before: State[Any], evidence: Evidence, found: Explanation, plain: Sequence[Objection]) -> Explanation:
    """Return an explanation with a reason for its "no", without what is beside the point."""
    found = replace(found, steps=told(before, found.nearest.moves) if found.nearest is not None else ())
    if before.end_reason is None and not any(objection.alone for objection in plain):
        two = _two_turns(before, evidence, found.nearest)
        ruling = spoken(before, "two-turns", _whose(before, two[0])) if two is not None else None
        if two is not None and ruling is not None:
            halves = told(before, two[0].moves), told(two[0].state, two[1].moves)
            return replace(found, rulings=(("", ruling),), because=(), two=halves)
    if plain:
        named = frozenset[str]().union(*(objection.places for objection in plain))
        moves = [objection.move for objection in plain if str(objection.move)]
        others = [(m, r) for m, r in found.rulings if m not in moves and not set(str(m).split()) & named]
        rulings = (*((objection.move, objection.ruling) for objection in plain), *others)
        return replace(found, rulings=rulings[:REFUSALS], because=())
    if not found.rulings and not found.because:
        ruling = spoken(before, "unexplained", _whose(before, found.nearest))
        return found if ruling is None else replace(found, rulings=(("", ruling),))
    return found


def _objections(before: State[Any], evidence: Evidence) -> list[Objection]:
    own = getattr(search_of(before.game.id), "objections", None)
    return [] if own is None or before.to_move == NOBODY else list(own(before, evidence))


def _whose(before: State[Any], turn: Turn | None) -> dict[str, JSON]:
    after = before.to_move if turn is None else turn.state.to_move
    return {"who": before.to_move, "other": after}


def _two_turns(before: State[Any], evidence: Evidence, nearest: Turn | None) -> tuple[Turn, Turn] | None:
    """Return two legal turns of two players that lead to what was seen, where a bounded search finds them.

    The first leaves open what a game says is another player's (``of_others``); the nearest legal turn is one too.
    """
    search = search_of(before.game.id)
    of_others = getattr(search, "of_others", None)
    whose = getattr(search, "turn_of", None)
    if of_others is None or whose is None:
        return None
    names = of_others(before, evidence)
    if not names:
        return None
    firsts = [nearest] if nearest is not None and nearest.moves else []
    firsts += turns(before, evidence.without(names), limit=FIRST_TURNS, most=TWO_MOST).turns
    tried: set[State[Any]] = set()
    for first in firsts:
        state = first.state
        if state in tried or whose(state) in (None, whose(before)):
            continue
        tried.add(state)
        second = turns(state, evidence, limit=1, most=TWO_MOST).turns
        if second and second[0].moves:
            return first, second[0]
    return None


def impossible(
    before: State[Any], evidence: Evidence, sure: Iterable[str], counted: Iterable[str]
) -> Iterator[Objection]:
    """Yield what cannot lie as it was seen, whoever moved: the problems of that position that the one before has not.

    ``sure`` are the keys of problems of single places, ``counted`` of those that need all places to be known.
    """
    position = before.position()
    known = {name: next(iter(seen)) for name, seen in evidence.places.items() if len(list(seen)) == 1}
    position["places"] = {**position["places"], **{name: content_json(found) for name, found in known.items()}}
    keys = {*sure, *(counted if len(known) == len(position["places"]) else ())}
    try:
        after = before.game.from_position(position)
    except SetupError:
        return
    old = [(problem.key, dict(problem.facts)) for problem in before.problems()]
    book = rulebook(before.game.id)
    for problem in after.problems():
        if problem.key in keys and (problem.key, dict(problem.facts)) not in old:
            words = book.problem_words(problem, after)
            ruling = Ruling(False, problem.clauses, dict(problem.facts), words, book.weakest_status(problem.clauses))
            places = frozenset(_names(problem.facts) & set(position["places"]))
            yield Objection("", ruling, places, sure=True, alone=True)


def _names(facts: Mapping[str, JSON]) -> set[str]:
    """Return the texts among facts."""
    lists = [fact if isinstance(fact, list | tuple) else [fact] for fact in facts.values()]
    return {one for many in lists for one in many if isinstance(one, str)}


# --- the nearest legal turn -------------------------------------------------------------------------------------------


def _searched(
    before: State[Any],
    evidence: Evidence,
    limit: int,
    found: SearchResult | None,
    share: int,
    plain: Sequence[Objection],
) -> Explanation:
    """Return the legal turns, or the nearest one and what it misses, without the reasons that were found before."""
    own = getattr(search_of(before.game.id), "explain", None)
    if own is not None:
        explained: Explanation = own(before, evidence, limit)
        return explained
    game_id = before.game.id
    if found is None and any(objection.sure for objection in plain):
        found = SearchResult((), True, 0)
    found = found or turns(before, evidence, limit=limit, most=MOST // share)
    if found.turns:
        return Explanation(game_id, True, found.turns, None, (), (), found.complete, looked=found.looked)
    nearest = _nearest(before, evidence, share, plain)
    if nearest is None:
        over = before.end_reason
        rulings = () if over is None else (("", before.game.rulebook.ruling(False, over, before)),)
        return Explanation(game_id, False, (), None, (), rulings, found.complete, looked=found.looked)
    return _short_of(before, evidence, nearest, found)


def _nearest(before: State[Any], evidence: Evidence, share: int, plain: Sequence[Objection]) -> Turn | None:
    """Return the legal turn that misses the fewest places, as far as a bounded search finds it.

    What is ``plain``ly wrong is taken for unknown, with the place it came from or went to; else one place after the
    other, then pairs; a game may know what else to try (``nearest``). Last, all that differ are unknown at once.
    """
    search = search_of(before.game.id)
    doubtful = evidence.misses(before.position())
    most, each = getattr(search, "RELAXED", (RELAXED_MOST, RELAXED_EACH))
    wrong = frozenset[str]().union(*(objection.places for objection in plain))
    if wrong:
        # What is wrong there is likely to have come from somewhere, or gone to it.
        others = _counterparts(before, evidence, wrong, doubtful)
        for names in (*({*wrong, other} for other in others[:COUNTERPARTS]), wrong):
            tried = turns(before, evidence.without(names), limit=1, most=FIRST_MOST // share)
            if tried.turns:
                return tried.turns[0]
    sure = frozenset[str]().union(*(objection.places for objection in plain if objection.sure))
    found = relaxed(before, evidence, doubtful, most // share, each, sure)
    if found is not None:
        return found
    own = getattr(search, "nearest", None)
    if own is not None:
        other: Turn | None = own(before, evidence, share)
        return other
    loose = turns(before, evidence.without(doubtful), limit=LIMIT)
    return min(loose.turns, key=lambda turn: len(evidence.misses(turn.state.position())), default=None)


def relaxed(
    before: State[Any],
    evidence: Evidence,
    doubtful: Sequence[str],
    most: int,
    each: int,
    sure: frozenset[str] = frozenset(),
) -> Turn | None:
    """Return a short legal turn with one or two of the doubtful places unknown, the likeliest ones first.

    No turn makes those good that are ``sure`` to be wrong: they are always among the unknown ones.
    """
    position = before.position()
    changed = {name: _changed(content(position["places"][name]), evidence.places[name]) for name in doubtful}
    pairs = [pair for pair in combinations(doubtful, 2) if sure.issubset(pair)]
    # Two places where the same thing changed, as one that moved does, are the likeliest to go together.
    alike = [pair for pair in pairs if changed[pair[0]] & changed[pair[1]]]
    others = [pair for pair in pairs if not changed[pair[0]] & changed[pair[1]]]
    left = most
    for group in (alike, [(name,) for name in doubtful if sure <= {name}], others):
        best: Turn | None = None
        rank = len(doubtful) + 1, 0
        for names in group:
            if left <= 0:
                break
            tried = turns(before, evidence.without(names), limit=1, most=min(left, each))
            left -= tried.looked + 1
            for turn in tried.turns:
                here = len(evidence.misses(turn.state.position())), len(turn.moves)
                if best is None or here < rank:
                    best, rank = turn, here
            # What only just misses will not be bettered by much.
            if best is not None and (group is others or rank[0] == 1):
                break
        if best is not None:
            return best
    return None


def _counterparts(before: State[Any], evidence: Evidence, wrong: Iterable[str], doubtful: Iterable[str]) -> list[str]:
    """Return the other doubtful places that gained a thing which one of the wrong ones lost, or the other way."""
    places = before.position()["places"]
    gains = {name: _gains(content(places[name]), evidence.places.get(name, ())) for name in {*wrong, *doubtful}}
    there = {(thing, -more) for name in wrong for thing, more in gains[name]}
    return [name for name in doubtful if name not in wrong and there & gains[name]]


def _gains(before: Content, seen: Iterable[Content]) -> set[tuple[tuple[str, Any], int]]:
    """Return the things of which a place surely has more than before (1), or fewer (-1)."""
    held, there = Counter(_counted(before)), [Counter(_counted(one)) for one in seen]
    found = set()
    for thing in {*held, *(thing for one in there for thing in one)}:
        signs = {(one[thing] > held[thing]) - (one[thing] < held[thing]) for one in there}
        if len(signs) == 1 and 0 not in signs:
            found.add((thing, signs.pop()))
    return found


def _counted(one: Content) -> dict[tuple[str, Any], int]:
    return {(kind, what): count for kind, what, count in one[1]}


def _changed(before: Content, seen: Iterable[Content]) -> set[Any]:
    """Return the grounds and things of a place that are not as they were."""
    all_parts: list[set[Any]] = [{("ground", ground, 1), *things} for ground, things in (before, *seen)]
    return {part[:2] for part in set.union(*all_parts) - set.intersection(*all_parts)}


def _short_of(before: State[Any], evidence: Evidence, nearest: Turn, found: SearchResult) -> Explanation:
    """Return the explanation that a nearest turn gives: what it misses, and the refusals on its way."""
    position = nearest.state.position()
    missed = evidence.misses(position)
    differences = tuple(
        Difference(name, tuple(evidence.places[name]), content(position["places"][name])) for name in missed
    )
    search = search_of(before.game.id)
    in_place = getattr(search, "in_place", lambda _state, _move: True)
    rulings: dict[Move, Ruling] = {}
    state = before
    for move in nearest.moves:
        for suspect in search.near_misses(state, evidence):
            # Later states overrule earlier ones, as far as the move would have had its place there.
            if state.refusal(suspect) is None:
                rulings.pop(suspect, None)
            elif suspect not in rulings or in_place(state, suspect):
                rulings[suspect] = state.check(suspect)
        state = state.after(move)
    changed = set(evidence.misses(before.position()))
    relevant = _to_the_point(rulings, set(missed), changed, set(position["places"]))
    return Explanation(before.game.id, False, (), nearest, differences, relevant, found.complete, looked=found.looked)


def _to_the_point(rulings: Mapping[Move, Ruling], missed: set[str], changed: set[str], places: set[str]) -> Told:
    """Return a few refusals that speak of what is missed.

    At best of nothing else, and of places that changed; else of what changed, of what is missed, of that too. A move
    that names no place is asked about only where it is to the point.
    """
    named = {move: {word for word in str(move).split() if word in places} for move in rulings}
    chosen = (
        [move for move, names in named.items() if names <= missed & changed]
        or [move for move, names in named.items() if names <= changed]
        or [move for move, names in named.items() if names <= missed]
        or [move for move, names in named.items() if names & missed]
    )
    return tuple((move, rulings[move]) for move in chosen[:REFUSALS])
