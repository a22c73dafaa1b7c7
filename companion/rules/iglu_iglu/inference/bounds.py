"""What a turn of Iglu Iglu can still bring about: the bounds that prune the search of :mod:`.search`.

Each test is a lower bound: it never gives up a state that could still succeed. It is made of a few operations on bit
sets: too many floes would have to go, an inuit is too far from where it stands afterwards, an animal came or went and
nothing that moves, eats, hunts or draws animals is left. What was seen, as bit sets (:class:`SeenConstraints`), and
what the two searches ask of a face and of the end of a turn stand here too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from companion.rules.iglu_iglu import components
from companion.rules.iglu_iglu.board import ALL, CORNER_SQUARES, CORNERS, NUMBER, SEA, numbers
from companion.rules.iglu_iglu.json_form import to_json
from companion.rules.iglu_iglu.position import (
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
    PEEKING,
    REVEALING,
    START,
    THAW_PLAYED,
    TO_FACE,
    IgluPosition,
)
from companion.rules.inference.turns import Belief, Content, Evidence

MANY = 99
PLAIN, EARLY, THOROUGH = range(3)
"""Care of a walk: tiles in phase 2 only; also before melting; also animals that are back where they were."""
DISTANCE: tuple[tuple[int, ...], ...] = tuple(
    tuple(abs(a % 8 - b % 8) + abs(a // 8 - b // 8) for b in range(64)) for a in range(64)
)
"""Steps between two squares."""
WITHIN: tuple[tuple[int, ...], ...] = tuple(
    tuple(sum(1 << n for n, far in enumerate(row) if far <= steps) for steps in range(max(row) + 1)) for row in DISTANCE
)
"""The squares that are at most 0, 1 … steps away from each."""


Span = tuple[int, int]
"""How many of a thing there are at least and at most."""


class SeenSquare(NamedTuple):
    """What may lie on a square: its ground, and how many of each thing at least and at most."""

    floe: bool
    no_water: bool
    pack: bool
    only_pack: bool
    bare: bool
    bears: Span
    tokens: tuple[Span, ...]
    igloos: tuple[Span, ...]
    inuit: tuple[Span, ...]


@lru_cache(4096)
def _seen(contents: tuple[Content, ...], colours: tuple[str, ...]) -> SeenSquare:
    """Return what the contents say of a square that are possible there."""
    grounds = {ground for ground, _ in contents}
    floe = grounds & {"floe", "pack"}
    counts = [{(kind, what): count for kind, what, count in things} for _, things in contents]

    def span(*things: tuple[str, Any]) -> Span:
        found = [sum(count.get(thing, 0) for thing in things) for count in counts]
        return min(found, default=0), max(found, default=0)

    return SeenSquare(
        bool(floe),
        floe == grounds,
        "pack" in grounds,
        grounds == {"pack"},
        not any(counts),
        span(("bear", 4), ("bear", None)),
        tuple(span(components.TOKENS[token]) for token in range(6)),
        tuple(span(("igloo", colour)) for colour in colours),
        tuple(span(("inuit", colour)) for colour in colours),
    )


class SeenConstraints:
    """What was seen, as bit sets: for every thing where it may lie and where it must."""

    def __init__(self, evidence: Evidence, colours: tuple[str, ...]) -> None:
        """Compile the evidence for the players of a game."""
        self.evidence = evidence
        # How far a walk looks, and what it has left out: it notes here which care would have looked at it.
        self.care = self.left_out = PLAIN
        # Bounds and means that were worked out before: states that differ in a part agree in the others.
        self.costs: dict[object, int] = {}
        self.means: dict[object, Means] = {}
        self.places: dict[int, Mapping[Content, float]] = {
            NUMBER[name]: seen for name, seen in evidence.places.items() if not isinstance(seen, Belief)
        }
        self.unknown = ALL
        self.may_floe = self.may_pack = self.may_bear = ALL
        self.must_floe = self.must_pack = self.must_bear = 0
        self.may_token = [ALL] * 6
        self.must_token = [0] * 6
        self.may_igloo = [ALL] * len(colours)
        self.must_igloo = [0] * len(colours)
        self.least: list[dict[int, int]] = [{} for _ in colours]
        self.most: list[list[int]] = [[MANY] * 64 for _ in colours]
        # How many tokens of a kind were seen at least, and at most where every place was seen.
        self.total_least, self.total_most = [0] * 7, [0] * 7
        bare = 0
        for square, contents in self.places.items():
            found = _seen(tuple(contents), colours)
            self._ground(1 << square, found)
            if found.bare:
                bare |= 1 << square
                for most in self.most:
                    most[square] = 0
            else:
                self._things(1 << square, square, found)
        # Most squares are bare.
        self.may_token = [may & ~bare for may in self.may_token]
        self.may_igloo = [may & ~bare for may in self.may_igloo]
        if self.unknown & ~CORNERS:
            self.total_most = [MANY] * 7
        self.bears_most = self.total_most.pop()
        self.floes_least = self.must_floe.bit_count()
        self.floes_most = (self.may_floe & SEA).bit_count()

    def _ground(self, bit: int, seen: SeenSquare) -> None:
        self.unknown &= ~bit
        if not seen.floe:
            self.may_floe &= ~bit
        if seen.no_water:
            self.must_floe |= bit
        if not seen.pack:
            self.may_pack &= ~bit
        if seen.only_pack:
            self.must_pack |= bit
        if not seen.bears[1]:
            self.may_bear &= ~bit
        if seen.bears[0]:
            self.must_bear |= bit
        self.total_least[components.BEAR_TOKEN] += seen.bears[0]
        self.total_most[components.BEAR_TOKEN] += seen.bears[1]

    def _things(self, bit: int, square: int, seen: SeenSquare) -> None:
        for token, (least, most) in enumerate(seen.tokens):
            self.total_least[token] += least
            self.total_most[token] += most
            if not most:
                self.may_token[token] &= ~bit
            if least:
                self.must_token[token] |= bit
        for seat, (least, most) in enumerate(seen.igloos):
            if not most:
                self.may_igloo[seat] &= ~bit
            if least:
                self.must_igloo[seat] |= bit
        for seat, (least, most) in enumerate(seen.inuit):
            self.most[seat][square] = most
            if least:
                self.least[seat][square] = least


def tells(face: str) -> bool:
    """Return whether a face is told apart on the board: red tiles all look the same, kept."""
    return face == components.KEPT or face in components.FACES[: components.RED]


def fields_agree(s: IgluPosition, evidence: Evidence) -> bool:
    """Return whether a state has won what it must have."""
    if not evidence.fields:
        return True
    position = to_json(s)
    for name, wanted in evidence.fields.items():
        if any(_sorted(position[name].get(colour, ())) != _sorted(tokens) for colour, tokens in wanted.items()):
            return False
    return True


def _sorted(tokens: Iterable[Mapping[str, Any]]) -> list[tuple[str, int]]:
    return sorted((str(t["kind"]), int(t.get("value") or 4)) for t in tokens for _ in range(t.get("count", 1)))


class Means:
    """What is left to a turn in a state: what may still melt, drift, thaw, move, be paid.

    While the tile of this turn is not known there are two cases, looked at one after the other: it is a drift
    (``drift``), or it is not. A tile that may still come into the hand this turn counts as a means.
    """

    __slots__ = ("draw", "drift", "face", "flight", "harpoon", "melt", "points", "steps", "thaw")

    def __init__(self, s: IgluPosition, *, drift: bool) -> None:
        """Count the means."""
        self.melt = unmelted(s)
        self.drift = drift
        self.face = undecided(s) and not drift
        self.draw = self.face or s.phase == DRAWING
        self.thaw = not s.played & THAW_PLAYED and self.has(s, HAND_THAW)
        self.harpoon = not s.played & HARPOON_PLAYED and self.has(s, HAND_HARPOON)
        self.steps = s.remaining if s.phase in (MOVING, DEFENDING, FLEEING) else 0
        if not s.played & ANIMALS_PLAYED and self.has(s, HAND_ANIMALS):
            self.steps += 3
        self.points = s.points if s.melted else 3
        if not s.played & ENDURANCE_PLAYED:
            faces = s.table.mix.faces
            for place in range(len(s.hands[s.turn]) - 1, HAND_ENDURANCE - 1, -1):
                if self.has(s, place):
                    self.points += components.endurance(faces[place + TO_FACE])
                    break
        self.flight = self.thaw or s.phase in (DEFENDING, FLEEING) or (self.steps > 0 and (s.bears > 0 or self.face))

    def has(self, s: IgluPosition, place: int) -> bool:
        """Return whether a tile is in the hand, or may come into it this turn."""
        return s.can_play(s.turn, place) or (self.face and s.tiles[place + TO_FACE] > 0)


def unmelted(s: IgluPosition) -> bool:
    """Return whether the floe of this turn is still to be taken."""
    return not s.melted and s.phase in (START, MOVING, DEFENDING, FLEEING)


def undecided(s: IgluPosition) -> bool:
    """Return whether the tile of this turn is not known yet."""
    return unmelted(s) or s.phase in (PEEKING, REVEALING)


def hopeless(s: IgluPosition, w: SeenConstraints) -> bool:
    """Return whether no way leads from here to what was seen."""
    if undecided(s):
        return _hopeless(s, w, _means(s, w, drift=False)) and _hopeless(s, w, _means(s, w, drift=True))
    return _hopeless(s, w, _means(s, w, drift=s.phase in (DRIFTING, DISPLACING)))


def _means(s: IgluPosition, w: SeenConstraints, *, drift: bool) -> Means:
    hand = s.hands[s.turn]
    key = (s.phase, s.melted, s.played, s.remaining, s.points, hand, s.tiles, s.bears > 0, drift)
    found = w.means.get(key)
    if found is None:
        found = w.means[key] = Means(s, drift=drift)
    return found


def _hopeless(s: IgluPosition, w: SeenConstraints, means: Means) -> bool:
    if _floes_hopeless(s, w, means):
        return True
    # Animals first: of the many steps they could take nearly all are given up here.
    cost = _animal_cost(s, w, means)
    return cost > means.points or cost + _inuit_cost(s, w, means) > means.points


def _floes_hopeless(s: IgluPosition, w: SeenConstraints, means: Means) -> bool:
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


def _inuit_cost(s: IgluPosition, w: SeenConstraints, means: Means) -> int:
    """Return the points that inuit and igloos cost at least, or MANY where no points help."""
    key = (s.turn, s.inuit, s.igloos, means.drift, means.flight)
    found = w.costs.get(key)
    if found is None:
        found = w.costs[key] = _fresh_inuit_cost(s, w, means)
    return found


def _fresh_inuit_cost(s: IgluPosition, w: SeenConstraints, means: Means) -> int:
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
        inuit = s.inuit[seat]
        travel = fled = missing = 0
        for square, least in w.least[seat].items():
            short = least - inuit.count(square)
            if short <= 0:
                continue
            missing += short
            if CORNERS >> square & 1:
                fled += short
            elif own:
                row = DISTANCE[square]
                nearest = min((row[origin] for origin in inuit if origin != square), default=MANY)
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
        for square in set(inuit):
            over = inuit.count(square) - most[square]
            if over > 0:
                crowd += over
        if own:
            free = means.drift or means.flight
            cost += travel if free else max(travel, crowd)
        elif crowd and not (means.drift or means.flight):
            return MANY
    return min(cost, MANY)


def _animal_cost(s: IgluPosition, w: SeenConstraints, means: Means) -> int:
    """Return the points that hunting costs at least, or MANY where animals cannot become what was seen."""
    drawing = s.remaining if s.phase == DRAWING else -1
    square = s.square if means.draw else -1
    left = (means.melt, means.drift, means.face, means.thaw, means.harpoon, means.steps)
    key = (s.fish, s.fox, s.bears, left, drawing, square, s.phase == DEFENDING)
    found = w.costs.get(key)
    if found is None:
        away = _drifting_away(s, w) if means.drift else _away(s, w, means)
        found = w.costs[key] = MANY if away > means.steps else _hunting_cost(s, w, means)
    return found


def _away(s: IgluPosition, w: SeenConstraints, means: Means) -> int:
    """Return how many steps animals are away at least from where they were seen, if no drift moves them."""
    # Where a tile is turned tokens come from the box.
    here = ALL if means.melt and means.face else 1 << s.square if means.draw and s.square >= 0 else 0
    away = 0
    fresh = 0
    for token in range(6):
        stand = s.fish_at[token] if token < components.FOX else s.fox_at[token - components.FOX]
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


def _hunting_cost(s: IgluPosition, w: SeenConstraints, means: Means) -> int:
    """Return the points for the animals that are more than were seen anywhere, or MANY where too few are left."""
    fresh = 3 if means.face else s.remaining if s.phase == DRAWING else 0
    gone, short = _hunted(s, w, means)
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


def _hunted(s: IgluPosition, w: SeenConstraints, means: Means) -> tuple[list[int], int]:
    """Return the values of the animals that must have been hunted, and how many are fewer than were seen."""
    # A step of a bear, also of one that comes or gives way to a drift, eats what it meets.
    eaters = ALL if means.face or means.drift else s.bears
    gone: list[int] = []
    short = 0
    for token in range(6):
        codes, value = (s.fish, token + 1) if token < components.FOX else (s.fox, token - 2)
        squares = [code >> 2 for code in codes if code & 3 == value]
        short += max(0, w.total_least[token] - len(squares))
        extra = len(squares) - w.total_most[token]
        if extra > 0 and not (means.thaw and token >= components.FOX):
            if means.steps or means.drift:
                extra -= sum(_near_bear(square, eaters, means.steps + means.drift) for square in squares)
            gone += [value] * extra
    return gone, short


def steps_left(s: IgluPosition, w: SeenConstraints) -> int:
    """Return how many steps are missing at least until a board is what was seen.

    It is told in phase 2 only, where each step moves one inuit, builds one igloo, thaws one floe, hunts one animal or
    moves one; elsewhere it is 0.
    """
    if s.phase not in (ACT, MOVING) or not s.melted:
        return 0
    means = _means(s, w, drift=False)
    seat = s.turn
    inuit = s.inuit[seat]
    steps: int = (w.must_igloo[seat] & ~s.igloos[seat]).bit_count() + int(bool(s.floes & ~w.may_floe))
    # To a corner an inuit may have fled.
    steps += sum(
        max(0, least - inuit.count(square)) for square, least in w.least[seat].items() if not CORNERS >> square & 1
    )
    hunts = len(_hunted(s, w, means)[0])
    away = _away(s, w, means)
    all_three: bool = s.table.all_three
    if s.phase == MOVING:
        moved = s.remaining if all_three else away
        return steps + hunts + moved
    played = (1 + (3 if all_three else away)) if away else 0
    return steps + max(played + hunts, _cleared(s, w, means))


def _cleared(s: IgluPosition, w: SeenConstraints, means: Means) -> int:
    """Return how many steps it takes at least to rid squares of animals that were not seen there."""
    stands = (*s.fish_at, *(() if means.thaw else s.fox_at))
    over: int = sum((stand & ~may).bit_count() for stand, may in zip(stands, w.may_token, strict=False))
    if not means.steps:
        return over
    # The tile, and its steps: a bear may eat several at once.
    moved = 1 + (3 if s.table.all_three else 1)
    return min(over, moved if s.bears else moved + max(0, over - 3))


def _near_bear(square: int, bears: int, steps: int) -> bool:
    rings = WITHIN[square]
    return bool(bears & rings[min(steps, len(rings) - 1)])


def _drifting_away(s: IgluPosition, w: SeenConstraints) -> int:
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
        stand = s.fox_at[token - components.FOX]
        for square in numbers(w.must_token[token] & ~stand):
            away += _walk(1 << square, stand) - 1
    for square in numbers(w.must_bear & ~s.bears):
        away += _walk(1 << square, s.bears) - 1
    return away


@lru_cache(1 << 14)
def _walk(come: int, stand: int) -> int:
    """Return how many steps the tokens that are missing somewhere are away at least."""
    total = 0
    for square in numbers(come):
        total += next((far for far, ring in enumerate(WITHIN[square]) if ring & stand), MANY)
    return total
