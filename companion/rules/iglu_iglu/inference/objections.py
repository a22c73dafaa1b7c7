"""What is plainly wrong with a board of Iglu Iglu after a turn: it cannot lie so, a rival's piece, too few points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from companion.rules.core import JSON, Reason
from companion.rules.iglu_iglu import melting
from companion.rules.iglu_iglu import moves as m
from companion.rules.iglu_iglu.actions import COST_IGLOO, COST_KAYAK, reachable
from companion.rules.iglu_iglu.board import CORNERS, DIRECTIONS, NEAR, RAYS, SEA, SQUARES, names, numbers
from companion.rules.iglu_iglu.components import DRIFT, FOX
from companion.rules.iglu_iglu.inference.bounds import DISTANCE, Means, SeenConstraints, unmelted
from companion.rules.iglu_iglu.moves import IgluMove
from companion.rules.iglu_iglu.state import IgluState
from companion.rules.inference.explain import Objection, impossible
from companion.rules.inference.turns import Evidence
from companion.rules.rulebook import rulebook

LIES_WRONG: Final = (
    *("inuit-water", "igloo-no-floe", "igloos-two", "igloo-twice", "fish-dry", "fox-afloat", "bear-ashore"),
    *("bears-together", "corner-not-land", "sea-as-land", "stranger"),
)
"""Problems that a single square has."""
TOO_MANY: Final = ("inuit-many", "inuit-few", "igloos-many", "tokens-many")
"""Problems that only a whole board has."""
FAR: Final = 99


def objections(before: IgluState, evidence: Evidence) -> Iterator[Objection]:
    """Yield what no turn explains, whatever was melted and played."""
    found = list(impossible(before, evidence, LIES_WRONG, TOO_MANY))
    yield from found
    # Of what cannot lie so it is not asked who brought it there.
    named = frozenset[str]().union(*(objection.places for objection in found))
    others = _of_pieces(before, evidence)
    yield from (objection for objection in others if not named & {*objection.places, *str(objection.move).split()})


def _of_pieces(before: IgluState, evidence: Evidence) -> Iterator[Objection]:
    w = SeenConstraints(evidence, before.table.colours)
    # Where a floe lies on what was water a drift may have carried anything.
    drift = bool(w.may_floe & SEA & ~before.floes)
    yield from _rivals(before, w, drift=drift)
    if not drift:
        yield from _igloos_gone(before, w)
        yield from _points(before, w)


def of_others(before: IgluState, evidence: Evidence) -> set[str]:
    """Return the places where something of another player than whose turn it is came or went."""
    w = SeenConstraints(evidence, before.table.colours)
    found: set[str] = set()
    for seat in range(before.table.players):
        if seat != before.turn:
            inuit = before.inuit[seat]
            changed = [q for q in set(inuit) if inuit.count(q) > w.most[seat][q]]
            changed += [q for q, least in w.least[seat].items() if inuit.count(q) < least]
            found |= {SQUARES[q] for q in changed}
            found |= set(
                names((w.must_igloo[seat] & ~before.igloos[seat]) | (before.igloos[seat] & ~w.may_igloo[seat]))
            )
    # The floes that are gone are of both turns.
    gone = before.floes & ~w.may_floe
    return found | set(names(gone)) if found or gone.bit_count() > 1 else set()


def _objection(
    s: IgluState, move: IgluMove | str, key: str, facts: dict[str, JSON], squares: Sequence[int], *, sure: bool = False
) -> Objection:
    ruling = rulebook("iglu-iglu").ruling(False, Reason(key, facts), s)
    return Objection(move, ruling, frozenset(SQUARES[q] for q in squares), sure)


def _moved(s: IgluState, w: SeenConstraints, seat: int) -> tuple[list[int], list[int]]:
    """Return the squares that inuit of a seat left, and those they came to, one entry each."""
    inuit = s.inuit[seat]
    gone = [q for q in sorted(set(inuit)) for _ in range(inuit.count(q) - w.most[seat][q])]
    come = [q for q, least in sorted(w.least[seat].items()) for _ in range(least - inuit.count(q))]
    return gone, come


def _pairs(gone: Sequence[int], come: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield from where to where inuit went, each the shortest way that is left."""
    left = list(gone)
    for target in come:
        if not left:
            return
        origin = min(left, key=lambda q: DISTANCE[q][target])
        left.remove(origin)
        yield origin, target


def _carried(s: IgluState, w: SeenConstraints) -> int:
    """Return the squares of the rows that may have drifted by one, onto the square that melted, and left one behind."""
    found = 0
    for hole in numbers(melting.takeable(s)) if unmelted(s) and s.tiles[DRIFT] > 0 else ():
        for direction in DIRECTIONS:
            row = 1 << hole
            for square in RAYS[direction][hole]:
                if not s.floes >> square & 1:
                    break
                row |= 1 << square
                if not w.must_floe >> square & 1:
                    found |= row
    return found


def _rivals(s: IgluState, w: SeenConstraints, *, drift: bool) -> Iterator[Objection]:
    """Yield what was moved or built that belongs to somebody whose turn it is not."""
    colours = s.table.colours
    carried = _carried(s, w)
    for seat, other in enumerate(colours):
        if seat == s.turn:
            continue
        facts: dict[str, JSON] = {"who": colours[s.turn], "other": other}
        gone, come = _moved(s, w, seat)
        for origin, target in _pairs(gone, [q for q in come if not CORNERS >> q & 1]):
            # A drift carries a floe by one square.
            if not drift or (not w.unknown & ~CORNERS and all(DISTANCE[other_one][target] > 1 for other_one in gone)):
                way = {"square": SQUARES[origin], "target": SQUARES[target]}
                sure = not carried >> origin & carried >> target & 1
                yield _objection(s, "", "rival-moved", {**facts, **way}, (origin, target), sure=sure)
        if not drift:
            for square in numbers(w.must_igloo[seat] & ~s.igloos[seat]):
                sure = not carried >> square & 1
                yield _objection(s, "", "rival-built", {**facts, "square": SQUARES[square]}, (square,), sure=sure)


def _igloos_gone(s: IgluState, w: SeenConstraints) -> Iterator[Objection]:
    carried = _carried(s, w)
    for seat, owner in enumerate(s.table.colours):
        # Where its floe has gone too, that is what is wrong.
        for square in numbers(s.igloos[seat] & w.may_floe & ~w.may_igloo[seat]):
            facts: dict[str, JSON] = {"owner": owner, "square": SQUARES[square]}
            yield _objection(s, "", "igloo-taken", facts, (square,), sure=not carried >> square & 1)


# --- points -----------------------------------------------------------------------------------------------------------


class InuitRoute(NamedTuple):
    """How an inuit got from a square to another: steps on foot and points at least, ``FAR`` where there is no way."""

    origin: int
    target: int
    steps: int
    points: int


def _points(s: IgluState, w: SeenConstraints) -> Iterator[Objection]:
    """Yield what the points of a turn do not reach: a way on foot, or all together."""
    if _may_flee(s, w):
        return
    seat, who = s.turn, s.table.colours[s.turn]
    means = Means(s, drift=False)
    gone, come = _moved(s, w, seat)
    ways = [_way(s, w, origin, target) for origin, target in _pairs(gone, come) if not CORNERS >> target & 1]
    facts: dict[str, JSON] = {"who": who, "points": means.points}
    more = ["points-endurance"] if means.points > (3 if unmelted(s) else s.points) else []
    for way in ways:
        if way.steps > means.points and way.points > means.points:
            steps = way.steps if way.steps < FAR else DISTANCE[way.origin][way.target]
            ends = {"square": SQUARES[way.origin], "target": SQUARES[way.target], "steps": steps}
            key = "walk-steps" if steps > means.points else "walk-no-way"
            also = {"also": more} if steps > means.points and more else {}
            yield _objection(s, m.Walk(way.origin, way.target), key, {**facts, **ends, **also}, ())
    if any(way.points > means.points for way in ways):
        return
    fresh = w.must_igloo[seat] & ~s.igloos[seat]
    cost = sum(way.points for way in ways) + COST_IGLOO * fresh.bit_count() + _hunted(s, w, means)
    if cost > means.points:
        squares = [*(q for way in ways for q in (way.origin, way.target)), *numbers(fresh)]
        also = {"also": more} if more else {}
        yield _objection(s, "", "points-short", {**facts, "cost": cost, **also}, squares)


def _may_flee(s: IgluState, w: SeenConstraints) -> bool:
    """Return whether inuit of whose turn it is may have fled to a corner, by a thaw or a bear, and walked on."""
    standing = s.inuit_at[s.turn] & s.floes
    moved = s.bears and (s.bears & ~w.may_bear or w.must_bear & ~s.bears)
    return bool(standing & ~w.may_floe or moved)


def _way(s: IgluState, w: SeenConstraints, origin: int, target: int) -> InuitRoute:
    """Return the shortest way of an inuit: on foot over floes, or by kayak once what melted has gone."""
    steps = _on_foot(s, origin, target)
    after = s.copy()
    after.floes = s.floes & w.may_floe
    by_water = reachable(after, origin) >> target & 1 if s.floes >> origin & 1 or s.table.kayak_from_corner else 0
    return InuitRoute(origin, target, steps, min(steps, COST_KAYAK if by_water else FAR))


def _on_foot(s: IgluState, origin: int, target: int) -> int:
    """Return how many steps over floes lead there; FAR where none do."""
    reached, edge = 1 << origin, 1 << origin
    steps = 0
    while edge:
        if reached >> target & 1:
            return steps
        grown = 0
        for square in numbers(edge):
            grown |= NEAR[square]
        edge = grown & s.floes & ~reached
        reached |= edge
        steps += 1
    return FAR


def _hunted(s: IgluState, w: SeenConstraints, means: Means) -> int:
    """Return the points of the tokens that are gone from the board, less the dearest where a harpoon may have been."""
    values: list[int] = []
    for token in range(6):
        codes, value = (s.fish, token + 1) if token < FOX else (s.fox, token - 2)
        over = sum(code & 3 == value for code in codes) - w.total_most[token]
        values += [value] * max(0, over)
    values.sort(reverse=True)
    return 0 if s.bears else sum(values[int(means.harpoon) :])
