"""The walk through a turn of Iglu Iglu for :mod:`companion.rules.turns`: breadth first, pruned by what is missing.

A state is given up when the turn cannot any more bring about what was seen, whatever is played: too many floes would
have to go, an inuit is too far from where it stands afterwards, an animal came or went and nothing that moves, eats,
hunts or draws animals is left. Each test is a lower bound (it never gives up a state that could still succeed), made of
a few operations on bit sets. The steps worth trying come from the same comparison.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from companion.rules.core import NOBODY
from companion.rules.iglu_iglu import actions, box, drifting, kept, melting
from companion.rules.iglu_iglu import moves as m
from companion.rules.iglu_iglu.board import ALL, CORNER_SQUARES, CORNERS, NUMBER, SEA, numbers
from companion.rules.iglu_iglu.game import GAME
from companion.rules.iglu_iglu.situation import (
    ACT,
    ANIMALS_PLAYED,
    DEFENDING,
    DISPLACING,
    DRAWING,
    DRIFTING,
    ENDURANCE_PLAYED,
    FLEEING,
    HAND_ANIMALS,
    HAND_ENDURANCE,
    HAND_HARPOON,
    HAND_THAW,
    HARPOON_PLAYED,
    MOVING,
    OVER,
    PEEKING,
    REVEALING,
    START,
    THAW_PLAYED,
    TO_FACE,
)
from companion.rules.turns import Content, Evidence, Found, Turn

if TYPE_CHECKING:
    from companion.rules.iglu_iglu.moves import IgluMove
    from companion.rules.iglu_iglu.state import IgluState

MANY = 99
PLAIN, EARLY, THOROUGH = range(3)
"""Care of a walk: tiles in phase 2 only; also before melting; also animals that are back where they were."""
DISTANCE: tuple[tuple[int, ...], ...] = tuple(
    tuple(abs(a % 8 - b % 8) + abs(a // 8 - b // 8) for b in range(64)) for a in range(64)
)
"""Steps between two squares."""


class Wanted:
    """What was seen, as bit sets: for every thing where it may lie and where it must."""

    def __init__(self, evidence: Evidence, colours: tuple[str, ...]) -> None:
        """Compile the evidence for the players of a game."""
        self.evidence = evidence
        # How far a walk looks, and what it has left out: it notes here which care would have looked at it.
        self.care = self.left_out = PLAIN
        self.places: dict[int, Mapping[Content, float]] = {NUMBER[name]: c for name, c in evidence.places.items()}
        self.unknown = ALL
        self.may_floe = self.may_pack = self.may_bear = ALL
        self.must_floe = self.must_pack = self.must_bear = 0
        self.may_token = [ALL] * 6
        self.must_token = [0] * 6
        self.may_igloo = [ALL] * len(colours)
        self.must_igloo = [0] * len(colours)
        self.least: list[dict[int, int]] = [{} for _ in colours]
        self.most: list[list[int]] = [[MANY] * 64 for _ in colours]
        for square, contents in self.places.items():
            self._place(1 << square, square, list(contents), colours)
        known = not self.unknown & ~CORNERS
        counts = [self._range(kind, value) for kind, value in box.TOKENS]
        self.total_least = [least for least, _ in counts]
        self.total_most = [most if known else MANY for _, most in counts]
        self.bears_most = self.total_most.pop()
        self.floes_least = self.must_floe.bit_count()
        self.floes_most = (self.may_floe & SEA).bit_count()

    def _range(self, kind: str, value: int) -> tuple[int, int]:
        """Return how many tokens of a kind were seen at least, and at most where every place was seen."""
        least = most = 0
        for contents in self.places.values():
            counts = [sum(n for k, v, n in things if k == kind and v in (value, None)) for _, things in contents]
            least += min(counts, default=0)
            most += max(counts, default=0)
        return least, most

    def _place(self, bit: int, square: int, contents: list[Content], colours: tuple[str, ...]) -> None:
        self.unknown &= ~bit
        grounds = {ground for ground, _ in contents}
        floe = grounds & {"floe", "pack"}
        self.may_floe &= ALL if floe else ~bit
        self.must_floe |= bit if floe == grounds else 0
        self.may_pack &= ALL if "pack" in grounds else ~bit
        self.must_pack |= bit if grounds == {"pack"} else 0
        counts = [{(kind, what): count for kind, what, count in things} for _, things in contents]
        bears = [found.get(("bear", 4), 0) + found.get(("bear", None), 0) for found in counts]
        self.may_bear &= ALL if any(bears) else ~bit
        self.must_bear |= bit if all(bears) else 0
        for token in range(6):
            found = [c.get(box.TOKENS[token], 0) for c in counts]
            self.may_token[token] &= ALL if any(found) else ~bit
            self.must_token[token] |= bit if all(found) else 0
        for seat, colour in enumerate(colours):
            igloos = [c.get(("igloo", colour), 0) for c in counts]
            self.may_igloo[seat] &= ALL if any(igloos) else ~bit
            self.must_igloo[seat] |= bit if all(igloos) else 0
            inuit = [c.get(("inuit", colour), 0) for c in counts]
            self.most[seat][square] = max(inuit, default=0)
            if min(inuit, default=0):
                self.least[seat][square] = min(inuit)


class Means:
    """What is left to a turn in a state: what may still melt, drift, thaw, move, be paid.

    While the tile of this turn is not known there are two cases, looked at one after the other: it is a drift
    (``drift``), or it is not. A tile that may still come into the hand this turn counts as a means.
    """

    __slots__ = ("draw", "drift", "face", "flight", "harpoon", "melt", "points", "steps", "thaw")

    def __init__(self, s: IgluState, *, drift: bool) -> None:
        """Count the means."""
        self.melt = unmelted(s)
        self.drift = drift
        self.face = undecided(s) and not drift
        self.draw = self.face or s.phase == DRAWING
        self.thaw = not s.played & THAW_PLAYED and self.has(s, HAND_THAW)
        self.harpoon = not s.played & HARPOON_PLAYED and self.has(s, HAND_HARPOON)
        self.steps = s.left if s.phase in (MOVING, DEFENDING, FLEEING) else 0
        if not s.played & ANIMALS_PLAYED and self.has(s, HAND_ANIMALS):
            self.steps += 3
        self.points = s.points if s.melted else 3
        if not s.played & ENDURANCE_PLAYED:
            faces = s.table.mix.faces
            for place in range(len(s.hands[s.turn]) - 1, HAND_ENDURANCE - 1, -1):
                if self.has(s, place):
                    self.points += box.endurance(faces[place + TO_FACE])
                    break
        self.flight = self.thaw or s.phase in (DEFENDING, FLEEING) or (self.steps > 0 and (s.bears > 0 or self.face))

    def has(self, s: IgluState, place: int) -> bool:
        """Return whether a tile is in the hand, or may come into it this turn."""
        return s.can_play(s.turn, place) or (self.face and s.tiles[place + TO_FACE] > 0)


def unmelted(s: IgluState) -> bool:
    """Return whether the floe of this turn is still to be taken."""
    return not s.melted and s.phase in (START, MOVING, DEFENDING, FLEEING)


def undecided(s: IgluState) -> bool:
    """Return whether the tile of this turn is not known yet."""
    return unmelted(s) or s.phase in (PEEKING, REVEALING)


def hopeless(s: IgluState, w: Wanted) -> bool:
    """Return whether no way leads from here to what was seen."""
    if undecided(s):
        return _hopeless(s, w, Means(s, drift=False)) and _hopeless(s, w, Means(s, drift=True))
    return _hopeless(s, w, Means(s, drift=s.phase in (DRIFTING, DISPLACING)))


def _hopeless(s: IgluState, w: Wanted, means: Means) -> bool:
    if _floes_hopeless(s, w, means):
        return True
    # Animals first: of the many steps they could take nearly all are given up here.
    cost = _animal_cost(s, w, means)
    return cost > means.points or cost + _inuit_cost(s, w, means) > means.points


def _floes_hopeless(s: IgluState, w: Wanted, means: Means) -> bool:
    floes = s.floes
    hole = 1 << s.square if means.face and s.phase in (PEEKING, REVEALING) else 0
    gone = (floes & ~w.may_floe).bit_count()
    come = (w.must_floe & ~floes & ~hole).bit_count()
    removals = means.melt + means.thaw
    if means.drift:
        if come > 1 or gone > removals + 1:
            return True
        # A drift moves floes but makes none, and its own tile is gone.
        count = floes.bit_count()
        return not w.floes_least <= count - means.melt or count - removals > w.floes_most
    if come or gone > removals or s.packs & ~w.may_pack:
        return True
    return (w.must_pack & ~s.packs).bit_count() > means.face


def _inuit_cost(s: IgluState, w: Wanted, means: Means) -> int:
    """Return the points that inuit and igloos cost at least, or MANY where no points help."""
    cost = 0
    carried = 1 if means.drift else 0
    for seat in range(s.table.players):
        own = seat == s.turn
        fresh = (w.must_igloo[seat] & ~s.igloos[seat]).bit_count()
        if means.drift:
            fresh = max(0, w.must_igloo[seat].bit_count() - s.igloos[seat].bit_count())
        elif s.igloos[seat] & ~w.may_igloo[seat]:
            return MANY
        if fresh and not own:
            return MANY
        cost += 3 * fresh
        men = s.men[seat]
        travel = fled = missing = 0
        for square, least in w.least[seat].items():
            short = least - men.count(square)
            if short <= 0:
                continue
            missing += short
            if CORNERS >> square & 1:
                fled += short
            elif own:
                row = DISTANCE[square]
                nearest = min((row[origin] for origin in men if origin != square), default=MANY)
                if means.flight:
                    # Fleeing to a corner costs nothing, and one may walk on from there.
                    nearest = min(nearest, *(row[corner] for corner in CORNER_SQUARES))
                travel += short * min(max(nearest - carried, 1 - carried), 3)
            elif not means.drift:
                return MANY
        if fled and not means.flight:
            return MANY
        most = w.most[seat]
        crowd = 0
        for square in set(men):
            over = men.count(square) - most[square]
            if over > 0:
                crowd += over
        if own:
            free = means.drift or means.flight
            cost += travel if free else max(travel, crowd)
        elif crowd and not (means.drift or means.flight):
            return MANY
    return min(cost, MANY)


def _animal_cost(s: IgluState, w: Wanted, means: Means) -> int:
    """Return the points that hunting costs at least, or MANY where animals cannot become what was seen."""
    away = _drifting_away(s, w) if means.drift else _away(s, w, means)
    if away > means.steps:
        return MANY
    return _hunting_cost(s, w, means)


def _away(s: IgluState, w: Wanted, means: Means) -> int:
    """Return how many steps animals are away at least from where they were seen, if no drift moves them."""
    # Where a tile is turned tokens come from the box.
    here = ALL if means.melt and means.face else 1 << s.square if means.draw and s.square >= 0 else 0
    away = 0
    fresh = 0
    for token in range(6):
        stand = s.fish_at[token] if token < box.FOX else s.fox_at[token - box.FOX]
        come = w.must_token[token] & ~stand
        if come & ~here:
            away += _walk(come & ~here, stand | here)
        fresh |= come & here
    come = w.must_bear & ~s.bears
    if come & ~here:
        away += _walk(come & ~here, s.bears | here)
    fresh |= come & here
    # New tokens come to one square only; those on any other have walked there.
    return away + max(0, fresh.bit_count() - 1)


def _hunting_cost(s: IgluState, w: Wanted, means: Means) -> int:
    """Return the points for the animals that are more than were seen anywhere, or MANY where too few are left."""
    fresh = 3 if means.face else s.left if s.phase == DRAWING else 0
    # A step of a bear, also of one that comes or gives way to a drift, eats what it meets.
    eaters = ALL if means.face or means.drift else s.bears
    gone: list[int] = []
    short = 0
    for token in range(6):
        codes, value = (s.fish, token + 1) if token < box.FOX else (s.fox, token - 2)
        squares = [code >> 2 for code in codes if code & 3 == value]
        short += max(0, w.total_least[token] - len(squares))
        extra = len(squares) - w.total_most[token]
        if extra > 0 and not (means.thaw and token >= box.FOX):
            if means.steps or means.drift:
                extra -= sum(_near_bear(square, eaters, means.steps + means.drift) for square in squares)
            gone += [value] * extra
    if short > fresh:
        return MANY
    bears = s.bears.bit_count() - w.bears_most
    harpoon = int(means.harpoon)
    if bears > 0 and not means.thaw and s.phase != DEFENDING and not means.steps:
        if bears > harpoon:
            return MANY
        harpoon -= bears
    if s.bears.bit_count() + means.face < w.must_bear.bit_count():
        return MANY
    gone.sort(reverse=True)
    return sum(gone[harpoon:])


def _near_bear(square: int, bears: int, steps: int) -> bool:
    row = DISTANCE[square]
    return any(row[bear] <= steps for bear in numbers(bears))


def _drifting_away(s: IgluState, w: Wanted) -> int:
    """Return how many steps animals are away at least from where they were seen, when a drift comes or is on.

    A drift carries foxes and bears one square, and moves what swims on one square to a square beside it.
    """
    away = 0
    fish: dict[int, int] = {}
    for token in range(3):
        stand = s.fish_at[token]
        for square in numbers(w.must_token[token] & ~stand):
            away += _walk(1 << square, stand)
            fish[square] = fish.get(square, 0) + 1
    if fish:
        away -= max(fish.values()) if s.table.together else min(sum(fish.values()), 4)
    for token in range(3, 6):
        stand = s.fox_at[token - box.FOX]
        for square in numbers(w.must_token[token] & ~stand):
            away += _walk(1 << square, stand) - 1
    for square in numbers(w.must_bear & ~s.bears):
        away += _walk(1 << square, s.bears) - 1
    return away


def _walk(come: int, stand: int) -> int:
    """Return how many steps the tokens that are missing somewhere are away at least."""
    total = 0
    for square in numbers(come):
        row = DISTANCE[square]
        total += min((row[origin] for origin in numbers(stand)), default=MANY)
    return total


# --- the steps worth trying -----------------------------------------------------------------------------------------


def candidates(s: IgluState, w: Wanted) -> Iterable[IgluMove]:
    """Yield the legal steps that may lead to what was seen; what changes nothing that was seen is left out."""
    if s.phase == REVEALING:
        return (x for x in melting.moves_reveal(s) if isinstance(x, m.Reveal) and _tells(x.face))
    if s.phase == START:
        return _start(s, w)
    if s.phase == ACT:
        return _act(s, w)
    if s.phase == DRIFTING:
        return (x for x in drifting.moves_drift(s) if isinstance(x, m.Drift) and _drift_fits(s, w, x))
    return s.moves()


def _drift_fits(s: IgluState, w: Wanted, move: m.Drift) -> bool:
    """Return whether a drift leaves the floes as they were seen, but for one that may still thaw."""
    if move.square < 0:
        return True
    _, end = drifting.line(s, move.square, move.direction)
    floes = s.floes & ~(1 << move.square) | 1 << end
    gone = (floes & ~w.may_floe).bit_count()
    return not w.must_floe & ~floes and gone <= (not s.played & THAW_PLAYED and s.can_play(s.turn, HAND_THAW))


def _tells(face: str) -> bool:
    """Return whether a face is told apart on the board: red tiles all look the same, kept."""
    return face == box.KEPT or face in box.FACES[: box.RED]


def _start(s: IgluState, w: Wanted) -> Iterator[IgluMove]:
    melts = melting.moves_melt(s)
    yield from melts
    if w.care >= EARLY or not melts:
        yield from _tiles(s, w)
    else:
        w.left_out = max(w.left_out, EARLY)


def _tiles(s: IgluState, w: Wanted) -> Iterator[IgluMove]:
    for thaw in kept.moves_thaw(s):
        # A floe that stays can only be filled again by a drift.
        if isinstance(thaw, m.Thaw) and (not w.must_floe >> thaw.square & 1 or not s.melted):
            yield thaw
    if kept.can_move_animals(s):
        if _animals_differ(s, w) or (w.care == THOROUGH and _may_come_back(s)):
            yield m.THE_ANIMALS
        elif _may_come_back(s):
            w.left_out = THOROUGH


def _may_come_back(s: IgluState) -> bool:
    """Return whether animals that moved may be back in the end: by a drift, or where a table lets one stop early."""
    return not s.melted or not s.table.all_three


def _animals_differ(s: IgluState, w: Wanted) -> bool:
    """Return whether animals are not, or need not be, where they were seen.

    Three steps change the board, if no drift follows: each takes an animal to a square of the other colour of a
    chessboard.
    """
    unknown = w.unknown
    for token in range(6):
        stand = s.fish_at[token] if token < box.FOX else s.fox_at[token - box.FOX]
        if stand & (unknown | ~w.may_token[token]) or w.must_token[token] & ~stand:
            return True
    if s.bears & (unknown | ~w.may_bear) or w.must_bear & ~s.bears:
        return True
    return _counts_differ(s, w)


def _counts_differ(s: IgluState, w: Wanted) -> bool:
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


def _act(s: IgluState, w: Wanted) -> Iterator[IgluMove]:
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


def _must_go(s: IgluState, w: Wanted, move: m.Hunt) -> bool:
    """Return whether a token is more than was seen on its square, or a bear in the way."""
    if move.token == box.BEAR_TOKEN:
        return True
    code = 4 * move.square + move.token % 3 + 1
    count = (s.fox if move.token >= box.FOX else s.fish).count(code)
    contents = w.places.get(move.square)
    if contents is None:
        return False
    least = min((_count(content, move.token) for content in contents), default=0)
    return count > least


def _count(content: Content, token: int) -> int:
    return sum(count for kind, what, count in content[1] if (kind, what) == box.TOKENS[token])


# --- the walk -------------------------------------------------------------------------------------------------------

Parents = dict["IgluState", list[tuple["IgluState", "IgluMove"]]]


def find(before: IgluState, evidence: Evidence, limit: int, most: int) -> Found:
    """Return the shortest legal turns of the player to move that end as was seen.

    Turns that play tiles before melting are looked at only where there is no other, and last those in which animals
    move and are back in the end.
    """
    w = Wanted(evidence, before.table.colours)
    if hopeless(before, w):
        return Found((), True, 0)
    looked = 0
    for care in (PLAIN, EARLY, THOROUGH):
        w.care, w.left_out = care, PLAIN
        found = _search(before, w, limit, most - looked)
        looked += found.looked
        if found.turns or not found.complete or w.left_out == PLAIN:
            break
    return Found(found.turns, found.complete, looked)


def _search(before: IgluState, w: Wanted, limit: int, most: int) -> Found:
    parents: Parents = {before: []}
    level = [before]
    looked = 0
    while level:
        ends = [s for s in level if s.phase in (ACT, OVER) and _agrees(s, w)]
        if ends:
            return Found(_turns(before, ends, parents, w, limit), True, looked)
        following: Parents = {}
        for s in level:
            if s.phase == OVER:
                continue
            looked += 1
            if looked > most:
                return Found((), False, looked)
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
    return Found((), True, looked)


def _agrees(s: IgluState, w: Wanted) -> bool:
    """Return whether a state is what was seen: by sets first, then place by place."""
    floes = s.floes
    if floes & ~w.may_floe or w.must_floe & ~floes or s.packs & ~w.may_pack or w.must_pack & ~s.packs:
        return False
    if s.bears & ~w.may_bear or w.must_bear & ~s.bears:
        return False
    for stand, may, must in zip((*s.fish_at, *s.fox_at), w.may_token, w.must_token, strict=True):
        if stand & ~may or must & ~stand:
            return False
    for seat, men in enumerate(s.men):
        least, most = w.least[seat], w.most[seat]
        if any(men.count(square) < count for square, count in least.items()):
            return False
        if any(men.count(square) > most[square] for square in men):
            return False
    position = s.position()
    if w.evidence.misses(position):
        return False
    for name, wanted in w.evidence.fields.items():
        if any(_sorted(position[name].get(colour, ())) != _sorted(tokens) for colour, tokens in wanted.items()):
            return False
    return True


def _sorted(tokens: Iterable[Mapping[str, Any]]) -> list[tuple[str, int]]:
    return sorted((str(t["kind"]), int(t.get("value") or 4)) for t in tokens for _ in range(t.get("count", 1)))


def _turns(before: IgluState, ends: list[IgluState], parents: Parents, w: Wanted, limit: int) -> tuple[Turn, ...]:
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
    told = position.get("turn") is not None or position.get("to_move") is not None
    turns = [first.colours[first.turn]] if told else list(first.colours)
    found = []
    for colour in turns:
        case = dict(position) if told else {**position, "turn": colour}
        if position.get("hands") is None:
            # One red tile is left for the floe of this turn.
            left = max(0, sum(first.tiles[box.RED :]) - 1)
            hands = {}
            for other in sorted(first.colours, key=lambda c: c != colour):
                unknown = min(left, UNTOLD_OWN if other == colour else UNTOLD_OTHER)
                left -= unknown
                hands[other] = {"tiles": {}, "unknown": unknown}
            case["hands"] = hands
        found.append(GAME.from_position(case))
    return found


# --- what may have been meant ---------------------------------------------------------------------------------------


def suspects(s: IgluState, evidence: Evidence) -> Iterator[IgluMove]:
    """Yield the moves that would make a difference good at once, were they legal: the ones to be asked about."""
    w = Wanted(evidence, s.table.colours)
    seat = s.turn
    if s.phase == START:
        yield from (m.MELTS[square] for square in numbers(s.floes & ~w.may_floe))
        return
    if s.phase == DRIFTING:
        for square in numbers(s.floes & ~w.may_floe):
            yield from (m.Drift(square, direction) for direction in ("n", "e", "s", "w"))
        return
    if s.phase != ACT:
        return
    for square in numbers(s.floes & ~w.may_floe):
        yield from (m.THAWS[square], m.MELTS[square])
    origins = [square for square in sorted(set(s.men[seat])) if s.men[seat].count(square) > w.most[seat][square]]
    targets = [square for square, least in w.least[seat].items() if s.men[seat].count(square) < least]
    for origin in origins:
        for target in targets or [n for n in numbers(w.unknown) if DISTANCE[origin][n] == 1]:
            for harpoon in (False, True) if s.bears >> target & 1 else (False,):
                yield m.Walk(origin, target, harpoon)
                yield m.Kayak(origin, target, harpoon)
    yield from (m.BUILDS[square] for square in numbers(w.must_igloo[seat] & ~s.igloos[seat]))
    for token in range(7):
        stand = s.bears if token == 6 else s.fish_at[token] if token < box.FOX else s.fox_at[token - box.FOX]
        may = w.may_bear if token == 6 else w.may_token[token]
        must = w.must_bear if token == 6 else w.must_token[token]
        for square in numbers(stand & ~may):
            yield m.Hunt(square, token)
            yield m.Hunt(square, token, True)
            yield from (m.Step(token, square, n) for n in numbers(must & ~stand) if DISTANCE[square][n] <= 3)
    for other, own in enumerate(s.table.colours):
        if other == seat:
            continue
        for square in sorted(set(s.men[other])):
            if s.men[other].count(square) > w.most[other][square]:
                corners = [c for c in CORNER_SQUARES if s.men[other].count(c) < w.least[other].get(c, 0)]
                yield from (m.Flee(own, square, corner) for corner in corners)
