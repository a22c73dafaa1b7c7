"""The walk through a turn of Iglu Iglu for the shared search: the fewest steps first, pruned by what is missing.

States from which the turn cannot any more bring about what was seen are given up (:mod:`.bounds`), and only the steps
that may matter for a difference are tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from heapq import heappop, heappush
from math import inf
from typing import Any

from companion.rules.core import JSON, NOBODY
from companion.rules.iglu_iglu import actions, components, drifting, melting
from companion.rules.iglu_iglu import moves as m
from companion.rules.iglu_iglu import red_tiles as iglu_iglu_red_tiles
from companion.rules.iglu_iglu.board import SEA
from companion.rules.iglu_iglu.game import GAME
from companion.rules.iglu_iglu.inference import best_first
from companion.rules.iglu_iglu.inference.bounds import (
    EARLY,
    PLAIN,
    THOROUGH,
    SeenConstraints,
    fields_agree,
    hopeless,
    steps_left,
    tells,
)
from companion.rules.iglu_iglu.inference.gains import NEVER
from companion.rules.iglu_iglu.inference.likelihood import IgluLikelihood
from companion.rules.iglu_iglu.inference.near_misses import in_place, near_misses
from companion.rules.iglu_iglu.inference.objections import objections, of_others
from companion.rules.iglu_iglu.inference.priors import Scale
from companion.rules.iglu_iglu.moves import IgluMove
from companion.rules.iglu_iglu.position import (
    ACT,
    ANIMALS_PLAYED,
    DRIFTING,
    HAND_THAW,
    OVER,
    PLACING,
    REVEALING,
    SETTING,
    START,
    THAW_PLAYED,
)
from companion.rules.iglu_iglu.state import IgluState
from companion.rules.inference.turns import Content, Evidence, SearchResult, Turn, content

__all__ = ["cases", "evidence_of", "find", "in_place", "near_misses", "nearest", "objections", "of_others", "turn_of"]

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

Parents = dict[IgluState, tuple[int, list[tuple[IgluState, IgluMove]]]]

LINES = 8
"""Lines, steps that are tried, that count as one state."""
WEIGHED = 15
"""Lines that weighing the bounds of a state counts for: it takes as long."""
QUICK = 250
"""States that are looked at first: most turns are found so."""
PROOF = 300
"""States that are looked at next, with the bounds that take time: most often they exclude a turn at once."""
HASTE = ((1, 1500), (2, 1500))
"""How many steps a missing one counts for where any turn will do, and the states that are looked at so."""
SHORTEST = 2500
"""States that are looked at for all the shortest turns where some turn was found."""
CAREFUL = (1000, 500)
"""States that are looked at for turns that need more care.

These numbers of states were set on random turns of our own (seeds 777001, 777002, 777031, 777032).
"""
MOST_ANY = 200
"""States that are looked at for any turn at all, likely or not, before a few of each level are followed."""
RELAXED = (400, 30)
"""States that the search for the nearest legal turn looks at with places unknown: in all, and in each attempt."""


def find(
    before: IgluState, evidence: Evidence, limit: int, most: int, above: float = -inf, within: float | None = None
) -> SearchResult:
    """Return the shortest legal turns of the player to move that end as was seen.

    Turns that play tiles before melting are looked at only where there is no other, and last those in which animals
    move and are back in the end. Where ``most`` runs out, any turn will do.
    ``above``: of graded evidence, turns whose total is less are not looked for, nor those that come to so much less
    than the best as ``within`` says.
    """
    if not evidence.certain:
        margin = best_first.MARGIN if within is None else within
        return best_first.find(before, IgluLikelihood(evidence, before), limit, most, above, margin)
    w = SeenConstraints(evidence, before.table.colours)
    if hopeless(before, w):
        return SearchResult((), True, 0)
    walk = ShortestFirst(before, w)
    if most <= QUICK:
        return _short(walk, limit, most)
    complete = walk.ahead(QUICK)
    if walk.ends:
        return SearchResult(walk.turns(limit), complete, walk.looked)
    likelihood = IgluLikelihood(evidence, before)
    looked = 0
    if not complete:
        # Where there is no turn its proof is short; where there is one it is found sooner without.
        proof = ShortestFirst(before, w, Scale(likelihood))
        complete = proof.ahead(PROOF)
        looked += proof.looked
        if not complete:
            for haste, share in HASTE:
                some = ShortestFirst(before, w, haste=haste)
                complete = some.ahead(share)
                looked += some.looked
                if complete:
                    break
            if some.ends:
                complete = walk.ahead(SHORTEST)
                if not walk.ends:
                    return SearchResult(some.turns(limit), False, looked + walk.looked)
        elif proof.ends:
            walk = proof
    looked += walk.looked
    if walk.ends:
        return SearchResult(walk.turns(limit), True, looked)
    plain_excluded = complete
    for care, part in zip((EARLY, THOROUGH), CAREFUL, strict=True):
        if w.left_out == PLAIN:
            break
        w.care, w.left_out = care, PLAIN
        scale = Scale(likelihood)
        scale.early = True
        # Three steps take an animal to a square of the other colour of a chessboard: only a drift brings it back.
        scale.drift_only = care == THOROUGH and before.table.all_three
        further = ShortestFirst(before, w, scale)
        complete = further.ahead(part) and complete
        looked += further.looked
        if further.ends:
            return SearchResult(further.turns(limit), complete, looked)
    # Of turns with tiles before melting, where every place was seen, no more is found than so.
    if complete or (plain_excluded and not w.unknown & SEA):
        return SearchResult((), complete, looked)
    any_turn = best_first.BestFirstSearch(before, likelihood, 0.0, NEVER / 2, early=True)
    complete = any_turn.ahead(MOST_ANY)
    for width in (best_first.WIDTH, best_first.WIDE):
        if not any_turn.ends and not complete:
            any_turn.beam(width)
    return SearchResult(any_turn.turns(limit, 0.0), complete, looked + any_turn.looked)


def _short(walk: ShortestFirst, limit: int, most: int) -> SearchResult:
    """Return what is found in little time: the shortest turns, or else any."""
    complete = walk.ahead(most // 2)
    if complete:
        return SearchResult(walk.turns(limit), True, walk.looked)
    some = ShortestFirst(walk.before, walk.w, haste=2)
    complete = some.ahead(most - most // 2) and not some.ends
    return SearchResult(some.turns(limit), complete, walk.looked + some.looked)


def nearest(before: IgluState, evidence: Evidence, share: int = 1) -> Turn | None:
    """Return the legal turn that misses the fewest things of what was seen, as far as a bounded search finds it."""
    return next(iter(best_first.nearest(before, evidence, best_first.MOST_NEAREST // share).turns), None)


class ShortestFirst:
    """One walk: states in the order of the fewest steps that a turn through them can have.

    With a ``scale`` states are also given up that its bounds exclude. With ``haste`` the first turn found will do: of
    states that promise the same the one that is further comes first, and a step that is missing counts for so many.
    What a walk has looked at is reckoned in states of as many lines each as states usually have.
    """

    def __init__(self, before: IgluState, w: SeenConstraints, scale: Scale | None = None, haste: int = 0) -> None:
        """Begin before the turn."""
        self.before, self.w, self.scale, self.haste = before, w, scale, haste
        self.lines = 0
        self.parents: Parents = {before: (0, [])}
        self.ends: list[IgluState] = []
        # What states are ordered by, steps taken (negative with haste: the most first), the order of finding.
        self.heap: list[tuple[int, int, int, IgluState]] = []
        if scale is not None and scale.least(before, 0.0) >= NEVER:
            # With the bounds of tiles before melting none of them is left out.
            w.left_out = EARLY if before.phase == START and not scale.early else PLAIN
        else:
            self.heap.append((0, 0, 0, before))

    @property
    def looked(self) -> int:
        """Return how many states were looked at."""
        return 1 + self.lines // LINES

    def ahead(self, most: int) -> bool:
        """Look at so many states in all; return whether the shortest turns were found, or that there is none."""
        heap, parents, w = self.heap, self.parents, self.w
        number = len(parents)
        while heap:
            if self.lines > most * LINES:
                return False
            fewest, tie, _, s = heappop(heap)
            taken = abs(tie)
            if self.ends and (self.haste or fewest > parents[self.ends[0]][0]):
                break
            if taken > parents[s][0]:
                continue
            if s.phase in (ACT, OVER) and _agrees(s, w):
                self.ends.append(s)
            if s.phase == OVER or self.ends:
                continue
            taken += 1
            for move in candidates(s, w):
                self.lines += 1
                new = s.after(move)
                if new.turn != s.turn and new.to_move != NOBODY:
                    continue
                known = parents.get(new)
                if known is not None and known[0] <= taken:
                    if known[0] == taken:
                        known[1].append((s, move))
                    continue
                if known is None:
                    if hopeless(new, w):
                        continue
                    if self.scale is not None and new.phase != OVER:
                        self.lines += WEIGHED
                        if self.scale.least(new, 0.0) >= NEVER:
                            continue
                parents[new] = taken, [(s, move)]
                number += 1
                left = steps_left(new, w)
                order = taken + self.haste * left if self.haste > 1 else max(fewest, taken + left)
                heappush(heap, (order, -taken if self.haste else taken, number, new))
        return True

    def turns(self, limit: int) -> tuple[Turn, ...]:
        """Return the turns found, each set of steps once, the likeliest first."""
        return _turns(self.before, self.ends, self.parents, self.w, limit)


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
            todo += [(parent, (move, *tail)) for parent, move in parents[s][1]]
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


def turn_of(s: IgluState) -> int | None:
    """Return whose turn runs, or None."""
    return None if s.phase in (SETTING, PLACING, OVER) else s.turn


def evidence_of(position: Mapping[str, Any]) -> tuple[dict[str, dict[Content, float]], dict[str, JSON]]:
    """Return what a position is evidence of: its places, where a bear need not tell its value, and trophies."""
    places = {name: {content(_valued(place)): 0.0} for name, place in position["places"].items() if place is not None}
    return places, {key: position[key] for key in ("trophies",) if position.get(key)}


def _valued(place: Mapping[str, Any]) -> dict[str, Any]:
    bears = {"value": components.TOKENS[components.BEAR_TOKEN][1]}
    things = [{**thing, **bears} if thing["kind"] == "bear" else thing for thing in place.get("things", ())]
    return {**place, "things": things}
