"""The walk through a turn of Iglu Iglu for the shared search: breadth first, pruned by what is missing.

States from which the turn cannot any more bring about what was seen are given up (:mod:`.bounds`), and only the steps
that may matter for a difference are tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import inf
from typing import Any

from companion.rules.core import JSON, NOBODY
from companion.rules.iglu_iglu import actions, components, drifting, melting
from companion.rules.iglu_iglu import moves as m
from companion.rules.iglu_iglu import red_tiles as iglu_iglu_red_tiles
from companion.rules.iglu_iglu.board import CORNER_SQUARES, names, numbers
from companion.rules.iglu_iglu.game import GAME
from companion.rules.iglu_iglu.inference import best_first
from companion.rules.iglu_iglu.inference.bounds import (
    DISTANCE,
    EARLY,
    PLAIN,
    THOROUGH,
    SeenConstraints,
    fields_agree,
    hopeless,
    tells,
)
from companion.rules.iglu_iglu.inference.likelihood import IgluLikelihood
from companion.rules.iglu_iglu.moves import IgluMove
from companion.rules.iglu_iglu.position import (
    ACT,
    ANIMALS_PLAYED,
    DRIFTING,
    HAND_THAW,
    OVER,
    REVEALING,
    START,
    THAW_PLAYED,
)
from companion.rules.iglu_iglu.state import IgluState
from companion.rules.inference.turns import Content, Evidence, SearchResult, Turn, content

GRADED = True
"""Beliefs are weighed here, not turned into lists of contents."""

# --- the steps worth trying -----------------------------------------------------------------------------------------


def candidates(s: IgluState, w: SeenConstraints) -> Iterable[IgluMove]:
    """Yield the legal steps that may lead to what was seen; what changes nothing that was seen is left out."""
    if s.phase == REVEALING:
        return (x for x in melting.moves_reveal(s) if isinstance(x, m.Reveal) and tells(x.face))
    if s.phase == START:
        return _start(s, w)
    if s.phase == ACT:
        return _act(s, w)
    if s.phase == DRIFTING:
        return (x for x in drifting.moves_drift(s) if isinstance(x, m.Drift) and _drift_fits(s, w, x))
    return s.moves()


def _drift_fits(s: IgluState, w: SeenConstraints, move: m.Drift) -> bool:
    """Return whether a drift leaves the floes as they were seen, but for one that may still thaw."""
    if move.square < 0:
        return True
    _, end = drifting.line(s, move.square, move.direction)
    floes = s.floes & ~(1 << move.square) | 1 << end
    gone = (floes & ~w.may_floe).bit_count()
    return not w.must_floe & ~floes and gone <= (not s.played & THAW_PLAYED and s.can_play(s.turn, HAND_THAW))


def _start(s: IgluState, w: SeenConstraints) -> Iterator[IgluMove]:
    melts = melting.moves_melt(s)
    yield from melts
    if w.care >= EARLY or not melts:
        yield from _tiles(s, w)
    else:
        w.left_out = max(w.left_out, EARLY)


def _tiles(s: IgluState, w: SeenConstraints) -> Iterator[IgluMove]:
    for thaw in iglu_iglu_red_tiles.moves_thaw(s):
        # A floe that stays can only be filled again by a drift.
        if isinstance(thaw, m.Thaw) and (not w.must_floe >> thaw.square & 1 or not s.melted):
            yield thaw
    if iglu_iglu_red_tiles.can_move_animals(s):
        if _animals_differ(s, w) or (w.care == THOROUGH and _may_come_back(s)):
            yield m.THE_ANIMALS
        elif _may_come_back(s):
            w.left_out = THOROUGH


def _may_come_back(s: IgluState) -> bool:
    """Return whether animals that moved may be back in the end: by a drift, or where a table lets one stop early."""
    return not s.melted or not s.table.all_three


def _animals_differ(s: IgluState, w: SeenConstraints) -> bool:
    """Return whether animals are not, or need not be, where they were seen.

    Three steps change the board, if no drift follows: each takes an animal to a square of the other colour of a
    chessboard.
    """
    unknown = w.unknown
    for token in range(6):
        stand = s.fish_at[token] if token < components.FOX else s.fox_at[token - components.FOX]
        if stand & (unknown | ~w.may_token[token]) or w.must_token[token] & ~stand:
            return True
    if s.bears & (unknown | ~w.may_bear) or w.must_bear & ~s.bears:
        return True
    return _counts_differ(s, w)


def _counts_differ(s: IgluState, w: SeenConstraints) -> bool:
    """Return whether a square that was seen holds another number of a kind than it did."""
    for square, contents in w.places.items():
        for kind, codes in (("fish", s.fish), ("fox", s.fox)):
            values = [code & 3 for code in codes if code >> 2 == square]
            if values and not any(_fits(kind, values, content) for content in contents):
                return True
    return False


def _fits(kind: str, values: list[int], content: Content) -> bool:
    seen = {what: count for name, what, count in content[1] if name == kind}
    return seen == {value: values.count(value) for value in set(values)}


def _act(s: IgluState, w: SeenConstraints) -> Iterator[IgluMove]:
    seat = s.turn
    open_hunt = bool(w.evidence.fields.get("trophies"))
    for move in actions.moves_act(s):
        kind = move.kind
        if isinstance(move, m.Build):
            # An igloo nobody saw helps only to hide from a bear that is moved afterwards.
            if w.must_igloo[seat] >> move.square & 1 or (
                w.unknown >> move.square & 1 and s.bears and not s.played & ANIMALS_PLAYED
            ):
                yield move
        elif isinstance(move, m.Hunt):
            if open_hunt or _must_go(s, w, move):
                yield move
        elif isinstance(move, m.Endurance):
            if s.points < 3:
                yield move
        elif kind in (m.WALK, m.KAYAK):
            yield move
    yield from _tiles(s, w)


def _must_go(s: IgluState, w: SeenConstraints, move: m.Hunt) -> bool:
    """Return whether a token is more than was seen on its square, or a bear in the way."""
    if move.token == components.BEAR_TOKEN:
        return True
    code = 4 * move.square + move.token % 3 + 1
    count = (s.fox if move.token >= components.FOX else s.fish).count(code)
    contents = w.places.get(move.square)
    if contents is None:
        return False
    least = min((_count(content, move.token) for content in contents), default=0)
    return count > least


def _count(content: Content, token: int) -> int:
    return sum(count for kind, what, count in content[1] if (kind, what) == components.TOKENS[token])


# --- the walk -------------------------------------------------------------------------------------------------------

Parents = dict[IgluState, list[tuple[IgluState, IgluMove]]]


def find(before: IgluState, evidence: Evidence, limit: int, most: int, above: float = -inf) -> SearchResult:
    """Return the shortest legal turns of the player to move that end as was seen.

    Turns that play tiles before melting are looked at only where there is no other, and last those in which animals
    move and are back in the end. ``above``: of graded evidence, turns whose total is less are not looked for.
    """
    if not evidence.certain:
        return best_first.find(before, IgluLikelihood(evidence, before), limit, most, above)
    w = SeenConstraints(evidence, before.table.colours)
    if hopeless(before, w):
        return SearchResult((), True, 0)
    looked = 0
    for care in (PLAIN, EARLY, THOROUGH):
        w.care, w.left_out = care, PLAIN
        found = _search(before, w, limit, most - looked)
        looked += found.looked
        if found.turns or not found.complete or w.left_out == PLAIN:
            break
    return SearchResult(found.turns, found.complete, looked)


def nearest(before: IgluState, evidence: Evidence) -> Turn | None:
    """Return the legal turn that misses the fewest things of what was seen, as far as a bounded search finds it."""
    return next(iter(best_first.nearest(before, evidence, best_first.MOST_NEAREST).turns), None)


def _search(before: IgluState, w: SeenConstraints, limit: int, most: int) -> SearchResult:
    parents: Parents = {before: []}
    level = [before]
    looked = 0
    while level:
        ends = [s for s in level if s.phase in (ACT, OVER) and _agrees(s, w)]
        if ends:
            return SearchResult(_turns(before, ends, parents, w, limit), True, looked)
        following: Parents = {}
        for s in level:
            if s.phase == OVER:
                continue
            looked += 1
            if looked > most:
                return SearchResult((), False, looked)
            for move in candidates(s, w):
                new = s.after(move)
                if new in parents or (new.turn != s.turn and new.to_move != NOBODY):
                    continue
                known = following.get(new)
                if known is not None:
                    known.append((s, move))
                elif not hopeless(new, w):
                    following[new] = [(s, move)]
        parents.update(following)
        level = list(following)
    return SearchResult((), True, looked)


def _agrees(s: IgluState, w: SeenConstraints) -> bool:
    """Return whether a state is what was seen: by sets first, then place by place."""
    floes = s.floes
    if floes & ~w.may_floe or w.must_floe & ~floes or s.packs & ~w.may_pack or w.must_pack & ~s.packs:
        return False
    if s.bears & ~w.may_bear or w.must_bear & ~s.bears:
        return False
    for stand, may, must in zip((*s.fish_at, *s.fox_at), w.may_token, w.must_token, strict=True):
        if stand & ~may or must & ~stand:
            return False
    for seat, inuit in enumerate(s.inuit):
        least, most = w.least[seat], w.most[seat]
        if any(inuit.count(square) < count for square, count in least.items()):
            return False
        if any(inuit.count(square) > most[square] for square in inuit):
            return False
    position = s.position()
    return not w.evidence.misses(position) and fields_agree(s, w.evidence)


def _turns(
    before: IgluState, ends: list[IgluState], parents: Parents, w: SeenConstraints, limit: int
) -> tuple[Turn, ...]:
    """Return the ways to the ends, each set of steps once, the likeliest first."""
    found: dict[tuple[str, ...], Turn] = {}
    tries = 50 * limit
    for last in ends:
        likely = w.evidence.log_likelihood(last.position())
        todo: list[tuple[IgluState, tuple[IgluMove, ...]]] = [(last, ())]
        while todo and len(found) < limit and tries:
            s, tail = todo.pop()
            if s == before:
                tries -= 1
                key = tuple(sorted(map(str, tail)))
                if key not in found:
                    closing: tuple[IgluMove, ...] = () if last.phase == OVER else (m.THE_END,)
                    state = last if last.phase == OVER else last.after(m.THE_END)
                    found[key] = Turn((*tail, *closing), state, likely)
                continue
            todo += [(parent, (move, *tail)) for parent, move in parents[s]]
    return tuple(sorted(found.values(), key=lambda turn: -turn.log_likelihood))


# --- what a position leaves open ------------------------------------------------------------------------------------

UNTOLD_OWN, UNTOLD_OTHER = 4, 1
"""Unknown tiles in hands that a position does not speak of: one of each type for whose turn it is, a harpoon each."""


def cases(position: Mapping[str, Any]) -> list[IgluState]:
    """Return the states that a position may stand for: each player's turn, hands of unknown tiles.

    :raises SetupError: when it is no position.
    """
    first = GAME.from_position(position)
    turn_known = position.get("turn") is not None or position.get("to_move") is not None
    turns = [first.colours[first.turn]] if turn_known else list(first.colours)
    found = []
    for colour in turns:
        case = dict(position) if turn_known else {**position, "turn": colour}
        if position.get("hands") is None:
            # One red tile is left for the floe of this turn.
            red_tiles = max(0, sum(first.tiles[components.RED :]) - 1)
            hands = {}
            for other in sorted(first.colours, key=lambda c: c != colour):
                unknown = min(red_tiles, UNTOLD_OWN if other == colour else UNTOLD_OTHER)
                red_tiles -= unknown
                hands[other] = {"tiles": {}, "unknown": unknown}
            case["hands"] = hands
        found.append(GAME.from_position(case))
    return found


# --- what may have been meant ---------------------------------------------------------------------------------------


def near_misses(s: IgluState, evidence: Evidence) -> Iterator[IgluMove]:
    """Yield the moves that would make a difference good at once, were they legal: the ones to be asked about."""
    w = SeenConstraints(evidence, s.table.colours)
    seat = s.turn
    if s.phase == START:
        yield from (m.MELTS[square] for square in numbers(s.floes & ~w.may_floe))
        if all(_lies_there_still(evidence, name) for name in names(s.floes)):
            yield m.THE_END
        return
    if s.phase == DRIFTING:
        for square in numbers(s.floes & ~w.may_floe):
            yield from (m.Drift(square, direction) for direction in ("n", "e", "s", "w"))
        return
    if s.phase != ACT:
        return
    for square in numbers(s.floes & ~w.may_floe):
        yield from (m.THAWS[square], m.MELTS[square])
    origins = [square for square in sorted(set(s.inuit[seat])) if s.inuit[seat].count(square) > w.most[seat][square]]
    targets = [square for square, least in w.least[seat].items() if s.inuit[seat].count(square) < least]
    for origin in origins:
        for target in targets or [n for n in numbers(w.unknown) if DISTANCE[origin][n] == 1]:
            for harpoon in (False, True) if s.bears >> target & 1 else (False,):
                yield m.Walk(origin, target, harpoon)
                yield m.Kayak(origin, target, harpoon)
    yield from (m.BUILDS[square] for square in numbers(w.must_igloo[seat] & ~s.igloos[seat]))
    for token in range(7):
        stand = (
            s.bears if token == 6 else s.fish_at[token] if token < components.FOX else s.fox_at[token - components.FOX]
        )
        may = w.may_bear if token == 6 else w.may_token[token]
        must = w.must_bear if token == 6 else w.must_token[token]
        for square in numbers(stand & ~may):
            yield m.Hunt(square, token)
            yield m.Hunt(square, token, True)
            yield from (m.Step(token, square, n) for n in numbers(must & ~stand) if DISTANCE[square][n] <= 3)
    for other, own in enumerate(s.table.colours):
        if other == seat:
            continue
        for square in sorted(set(s.inuit[other])):
            if s.inuit[other].count(square) > w.most[other][square]:
                corners = [c for c in CORNER_SQUARES if s.inuit[other].count(c) < w.least[other].get(c, 0)]
                yield from (m.Flee(own, square, corner) for corner in corners)


def in_place(s: IgluState, move: IgluMove) -> bool:
    """Return whether a move would have its place in a phase: a floe melts at the start of a turn."""
    return s.phase == START or not isinstance(move, m.Melt)


def _lies_there_still(evidence: Evidence, name: str) -> bool:
    """Return whether a floe was seen face down where it lay."""
    return name in evidence.places and {ground for ground, _ in evidence.places[name]} == {"floe"}


def evidence_of(position: Mapping[str, Any]) -> tuple[dict[str, dict[Content, float]], dict[str, JSON]]:
    """Return what a position is evidence of: its places, where a bear need not tell its value, and trophies."""
    places = {name: {content(_valued(place)): 0.0} for name, place in position["places"].items() if place is not None}
    return places, {key: position[key] for key in ("trophies",) if position.get(key)}


def _valued(place: Mapping[str, Any]) -> dict[str, Any]:
    bears = {"value": components.TOKENS[components.BEAR_TOKEN][1]}
    things = [{**thing, **bears} if thing["kind"] == "bear" else thing for thing in place.get("things", ())]
    return {**place, "things": things}
