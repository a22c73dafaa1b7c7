"""The walk through a turn of Ice Team for the shared search: what was seen as masks, and what prunes.

A turn is both actions with their effects, dice and turned-up tiles. What cannot be seen afterwards is not told apart:
of two dice in the Village the one that was not chosen shows the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import Any

from companion.rules.core import JSON, SetupError
from companion.rules.ice_team.board import between
from companion.rules.ice_team.components import (
    DIE_FACES,
    DRIFTS,
    FIRST_FACE,
    FRAGILE,
    IGLOO,
    PAW,
    PENGUINS,
    SEA,
    SEARCHED,
    STEAL,
    TILE_TEXT,
    UNKNOWN,
)
from companion.rules.ice_team.game import GAME
from companion.rules.ice_team.inference import likelihood
from companion.rules.ice_team.inference import objections as ice_objections
from companion.rules.ice_team.moves import COLOURS, IceMove
from companion.rules.ice_team.position import TEAM, IcePosition
from companion.rules.inference import depth_first
from companion.rules.inference.belief import Belief
from companion.rules.inference.explain import Objection
from companion.rules.inference.explanation import Explanation
from companion.rules.inference.turns import Content, Evidence, SearchResult, content

ANY = (1 << len(TILE_TEXT)) - 1
FLOES = ANY & ~(1 << SEA | 1 << IGLOO | 1 << SEARCHED)
READ = FLOES & ~(1 << UNKNOWN)
"""Masks of tile codes: all of them, floes, and floes whose face is known."""
FISH = ("fresh", "frozen")


class IceGoal(depth_first.Goal):
    """What was seen after a turn of Ice Team: for every space the tiles and bears that may be there, and the fish."""

    OPEN = True
    MOST = 3_000
    RELAXED = 600

    def __init__(self, before: IcePosition, evidence: Evidence) -> None:
        """Compile what was seen."""
        super().__init__(before, evidence)
        layout = before.table.layout
        self.me = before.seat
        self.start, self.village = layout.start, layout.village
        self.may_tile = [ANY] * layout.start
        # For each seat: the bears that a space has at least and at most.
        self.least = [[0] * (layout.start + 2) for _ in COLOURS]
        self.most = [[2 * TEAM] * (layout.start + 2) for _ in COLOURS]
        self.single = all(len(list(contents)) == 1 for contents in evidence.places.values())
        self.seen_spaces = [layout.index(name) for name in evidence.places]
        for name, contents in evidence.places.items():
            self._see(layout.index(name), list(contents))
        self.may_floe = sum(1 << space for space, may in enumerate(self.may_tile) if may & FLOES)
        self.must_floe = sum(1 << space for space, may in enumerate(self.may_tile) if not may & ~FLOES)
        fields = evidence.fields
        self.fish: list[list[int | None]] = [
            [fields.get(f"{colour}.{kind}") for kind in FISH] for colour in before.colours
        ]
        self.over = fields.get("over")
        self.whose = fields.get("turn")

    def _see(self, space: int, contents: Sequence[Content]) -> None:
        if space < self.start:
            self.may_tile[space] = sum({bit for ground, _ in contents for bit in _tiles(ground)})
        for seat, colour in enumerate(self.before.colours):
            counts = [sum(n for kind, what, n in things if what == colour) for _, things in contents]
            self.least[seat][space] = min(counts, default=0)
            self.most[seat][space] = max(counts, default=0)

    @staticmethod
    def fields(position: Mapping[str, JSON]) -> dict[str, JSON]:
        """Return the fish of each team, whose turn it is, whether the game is over, and the floes that left it."""
        found: dict[str, JSON] = {}
        for seat, player in enumerate(position.get("players") or ()):
            colour = player.get("colour", COLOURS[seat])
            found.update({f"{colour}.{kind}": player[kind] for kind in FISH if player.get(kind) is not None})
        if position.get("phase") is not None:
            found["over"] = position["phase"] == "over"
        if position.get("turn") is not None and not found.get("over"):
            found["turn"] = position["turn"]
        if position.get("removed") is not None:
            found["removed"] = sorted(position["removed"])
        return found

    def fits_place(self, name: str, seen: Any, here: Any) -> bool:
        """Return whether a content may have been seen; a floe that nobody has read may show any face."""
        seen_ground, seen_bears = seen
        if seen_bears != here[1]:
            return False
        space = self.before.table.layout.index(name)
        return space >= self.start or TILE_TEXT.index(here[0]) in _codes(seen_ground)

    def ends(self, s: IcePosition) -> bool:
        """Return whether the turn has passed, or the game is over."""
        return s.phase == "over" or s.seat != self.me

    def misses(self, s: IcePosition) -> list[str]:
        """Return what is not as it was seen; quick where nothing is."""
        return [] if self._agrees(s) else super().misses(s)

    def _agrees(self, s: IcePosition) -> bool:
        if "removed" in self.evidence.fields or not self._known_turn(s):
            return False
        for may, tile in zip(self.may_tile, s.tiles, strict=True):
            if not may >> tile & 1:
                return False
        for seat in (0, 1):
            team = s.bears[TEAM * seat : TEAM * seat + TEAM]
            least, most = self.least[seat], self.most[seat]
            if any(team.count(space) > most[space] for space in team):
                return False
            if any(count and team.count(space) < count for space, count in enumerate(least)):
                return False
            for wanted, count in zip(self.fish[seat], (s.fresh[seat], s.frozen[seat]), strict=True):
                if wanted is not None and wanted != count:
                    return False
        # Where two contents are possible their parts may not be mixed.
        return self.single

    def _known_turn(self, s: IcePosition) -> bool:
        over = s.phase == "over"
        if self.over is not None and self.over != over:
            return False
        return over or self.whose is None or self.whose == s.colours[s.seat]

    # --- bounds -------------------------------------------------------------------------------------------------------

    def left(self, s: IcePosition) -> int:
        """Return how many steps are missing at least."""
        if not self._fish_can(s):
            return depth_first.HOPELESS
        if s.phase == "act" and s.actions == 1 and not self._last_can(s):
            return depth_first.HOPELESS
        return 1

    def _fish_can(self, s: IcePosition) -> bool:
        """Return whether the fish can become what was told: nothing thaws, and only mine grow in number."""
        me = self.me
        fresh, frozen = self.fish[me]
        if frozen is not None and (s.frozen[me] > frozen or (fresh is not None and self._total(s) > fresh + frozen)):
            return False
        theirs, kept = self.fish[1 - me]
        if kept is not None and kept != s.frozen[1 - me]:
            return False
        return theirs is None or theirs <= s.fresh[1 - me]

    def _total(self, s: IcePosition) -> int:
        return s.fresh[self.me] + s.frozen[self.me]

    def _last_can(self, s: IcePosition) -> bool:
        """Return whether one action, with its paws, can set right what is still otherwise."""
        if self.may_drift(s):
            return True
        # Without a drift one bear of mine moves, nobody else's; no floe comes, and only cracked ones go.
        if s.sea & self.must_floe:
            return False
        return self._surplus(s, 1 - self.me) == 0 and self._surplus(s, self.me) <= 1

    def may_drift(self, s: IcePosition) -> bool:
        """Return whether a drift may end the turn: its tile leaves sea behind, and lies where sea was or ice broke."""
        if not any((DRIFTS[tile] or tile == UNKNOWN) and self.may_tile[n] & 1 for n, tile in enumerate(s.tiles)):
            return False
        open_ = s.sea
        for space in s.bears[TEAM * self.me : TEAM * self.me + TEAM]:
            open_ |= s.table.layout.bit[space]
        open_ |= sum(1 << space for space, tile in enumerate(s.tiles) if tile in (PAW, UNKNOWN))
        return bool(open_ & self.may_floe)

    def _surplus(self, s: IcePosition, seat: int) -> int:
        """Return how many bears of a seat stand where fewer were seen."""
        team, most = s.bears[TEAM * seat : TEAM * seat + TEAM], self.most[seat]
        return sum(max(0, team.count(space) - most[space]) for space in set(team))

    # --- the steps worth trying ---------------------------------------------------------------------------------------

    def candidates(self, s: IcePosition) -> Iterable[IceMove]:
        """Yield the legal steps, of dice that cannot be told apart one."""
        if s.phase == "roll":
            return self._rolls(s)
        if s.phase == "roll-both":
            return self._both(s)
        if s.phase == "turn-up":
            return self._faces(s)
        if s.phase == "choose":
            return [IceMove("choose", "1")] if s.dice[0] == s.dice[1] else list(s.moves())
        frozen = self.fish[self.me][1]
        if s.phase == "freeze" and frozen is not None and s.actions == 1:
            return [move for move in s.moves() if int(move.a) == frozen - s.frozen[self.me]]
        return s.moves()

    def _faces(self, s: IcePosition) -> Iterator[IceMove]:
        """Yield the faces that a floe may show; where none was seen there, one of those that act alike."""
        space = s.to_turn_up()
        seen_face = self.may_tile[space] != ANY if space < self.start else False
        seen: set[tuple[Any, ...]] = set()
        for move in s.moves():
            face = TILE_TEXT.index(move.b)
            alike = (min(PENGUINS[face], s.fresh[s.seat]), DRIFTS[face], face == PAW, FRAGILE[face])
            if seen_face or alike not in seen:
                seen.add(alike)
                yield move

    def _rolls(self, s: IcePosition) -> Iterator[IceMove]:
        wanted = self._wanted(s)
        for move in s.moves():
            if wanted is None or _gain(s, DIE_FACES.index(move.b)) == wanted:
                yield move

    def _wanted(self, s: IcePosition) -> int | None:
        """Return how many fish the last action of the turn brings; None where it is not known."""
        fresh = self.fish[self.me][0]
        if s.actions > 1 or fresh is None:
            return None
        return fresh - s.fresh[self.me]

    def _both(self, s: IcePosition) -> Iterator[IceMove]:
        """Yield the rolls of two dice that tell what was chosen: the other die shows the same, where it can."""
        dice = s.table.box.dice
        wanted = self._wanted(s)
        if not s.dice:
            for face in sorted(set(dice[0]) | set(dice[1])):
                first = face if face in dice[0] else dice[0][0]
                if wanted is None or _gain(s, face) == wanted:
                    yield IceMove("roll", "1", DIE_FACES[first])
            return
        shown = s.dice[0]
        faces = [shown] if shown in dice[1] else [dice[1][0]]
        if shown == dice[0][0]:
            # The first die may be the one that was left.
            faces = list(dict.fromkeys([*faces, *(face for face in dice[1] if face not in dice[0])]))
        yield from (IceMove("roll", "2", DIE_FACES[face]) for face in faces)

    # --- what may have been meant -------------------------------------------------------------------------------------

    def distance(self, s: IcePosition) -> int:
        """Return how many spaces and fields are not as they were seen."""
        first, second = s.bears[:TEAM], s.bears[TEAM:]
        wrong = set()
        for space in self.seen_spaces:
            tile = space >= self.start or self.may_tile[space] >> s.tiles[space] & 1
            for seat, team in enumerate((first, second)):
                count = team.count(space) if space in team else 0
                if count < self.least[seat][space] or count > self.most[seat][space]:
                    tile = False
            if not tile:
                wrong.add(space)
        total = len(wrong)
        for seat in (0, 1):
            pair = s.fresh[seat], s.frozen[seat]
            total += sum(w is not None and w != n for w, n in zip(self.fish[seat], pair, strict=True))
        return total + (not self._known_turn(s))

    def _unmoved(self, s: IcePosition) -> bool:
        """Return whether all that was seen of my bears is as it is here."""
        team = s.bears[TEAM * self.me : TEAM * self.me + TEAM]
        least, most = self.least[self.me], self.most[self.me]
        return all(least[n] <= team.count(n) <= most[n] for n in self.seen_spaces)

    def _movements(self, s: IcePosition, missed: Sequence[str]) -> Iterator[IceMove]:
        """Yield movements from where bears stood before, and should be no longer, to where they were seen."""
        names = s.table.layout.names
        for seat in (self.me, 1 - self.me):
            team, then = (state.bears[TEAM * seat : TEAM * seat + TEAM] for state in (s, self.before))
            surplus = [n for n in sorted(set(team)) if team.count(n) > self.most[seat][n] and n in then]
            origins = [n for n in surplus if names[n] in missed] or surplus or self._unseen(team, seat)
            seen = [n for n, least in enumerate(self.least[seat]) if team.count(n) < least]
            targets = [n for n in seen if names[n] in missed] or seen
            yield from (move for origin in origins for target in targets for move in _movements(s, origin, target))

    def _unseen(self, team: Sequence[int], seat: int) -> list[int]:
        """Return where bears stand of which nobody saw whether they still do; of the other team's, nowhere."""
        return [n for n in dict.fromkeys(team) if n not in self.seen_spaces and n != self.village and seat == self.me]

    def near_misses(self, s: IcePosition, missed: Sequence[str]) -> Iterator[IceMove]:
        """Yield the movements and drifts that end as was seen, and what would leave an effect out."""
        names = s.table.layout.names
        if s.phase in {"act", "hop"}:
            yield from self._movements(s, missed)
            mine = s.bears[TEAM * self.me : TEAM * self.me + TEAM]
            if self._unmoved(self.before) and not set(self.misses(self.before)) & set(names):
                moved = [n for n in sorted(set(mine)) if n < self.start]
                yield from (IceMove("leap" if s.phase == "hop" else "walk", names[n], names[n]) for n in moved[:1])
        elif s.phase == "drift":
            here = s.bears[s.bear]
            mine = s.bears[TEAM * self.me : TEAM * self.me + TEAM]
            ends = [n for n, least in enumerate(self.least[self.me][: self.start]) if mine.count(n) < least]
            ends = ends or [n for n in range(self.start) if s.sea & self.must_floe & 1 << n]
            yield from (IceMove(kind, names[n]) for n in ends for kind in ("push", "drift"))
            if names[here] not in missed or self.least[self.me][here]:
                yield IceMove("drift", names[here])
        elif s.phase == "roll":
            if any(name.endswith(".fresh") for name in missed):
                yield IceMove("roll", str(s.die + 1), "steal")
        elif s.phase == "freeze":
            frozen = self.fish[self.me][1]
            if frozen is not None and 0 <= frozen - s.frozen[self.me] <= TEAM:
                yield IceMove("freeze", str(frozen - s.frozen[self.me]))


def _tiles(ground: str) -> list[int]:
    return [1 << code for code in _codes(ground)]


def _codes(ground: str) -> list[int]:
    """Return the tiles that may be what was seen: a floe not read may be any, and one not read before any after."""
    if ground not in TILE_TEXT:
        return list(range(len(TILE_TEXT)))
    code = TILE_TEXT.index(ground)
    if code == UNKNOWN:
        return list(range(UNKNOWN, len(TILE_TEXT)))
    return [code, UNKNOWN] if code >= FIRST_FACE else [code]


def _gain(s: IcePosition, face: int) -> int:
    """Return how many fish a die brings the player to move."""
    return min(2, s.fresh[1 - s.seat]) if face == STEAL else face + 1


def _movements(s: IcePosition, origin: int, target: int) -> Iterator[IceMove]:
    """Yield the movements from one space to another, the likeliest to be meant first."""
    layout = s.table.layout
    lines = between(layout, origin, target)
    if origin == layout.village:
        lines = [[]]
    a, b = layout.names[origin], layout.names[target]
    if layout.bit[target] & s.sea:
        kinds: tuple[str, ...] = ("walk",)
    elif any(line and all(layout.bit[space] & s.sea for space in line) for line in lines):
        kinds = ("swim",)
    elif any(len(line) == 1 for line in lines):
        kinds = ("leap",) if any(layout.bit[line[0]] & s.taken for line in lines if line) else ("leap", "swim")
    elif lines and all(lines):
        kinds = ("swim", "leap")
    elif lines:
        kinds = ("walk",)
    else:
        kinds = ("walk", "leap", "swim")
    yield from (IceMove(kind, a, b) for kind in kinds)


# --- what a game's search offers --------------------------------------------------------------------------------------


def evidence_of(position: Mapping[str, Any]) -> tuple[dict[str, dict[Content, float]], dict[str, JSON]]:
    """Return what a position is evidence of: its places and its fields."""
    places = {name: {content(place): 0.0} for name, place in position["places"].items() if place is not None}
    return places, IceGoal.fields(position)


def _goal(before: IcePosition, evidence: Evidence) -> IceGoal:
    """Compile what was seen; a turn that is told as it was before is taken for not told.

    :raises SetupError: when the game has not begun.
    """
    if before.phase == "setup":
        raise SetupError("The game has not begun: nobody has a turn yet.")
    whose = evidence.fields.get("turn")
    return IceGoal(before, evidence.without(["turn"]) if whose == before.colours[before.seat] else evidence)


GRADED = True
"""What a camera believes is weighed by a walk of its own (:mod:`.likelihood`)."""
is_unseen = likelihood.is_unseen
CAMERAS = "line"
"""The layout of the boards whose places the camera knows (``vision/board/layouts/ice-team.toml``)."""


def is_as_taught(s: IcePosition) -> bool:
    """Return whether the boards lie as the camera's layout has their places: in a row."""
    return bool(s.table.said == CAMERAS)


def is_laid(s: IcePosition) -> bool:
    """Return whether it is known what every floe shows: else a picture cannot be compared with the record."""
    return UNKNOWN not in s.tiles


def find(
    before: IcePosition, evidence: Evidence, limit: int, most: int, above: float = -inf, within: float | None = None
) -> SearchResult:
    """Return the shortest legal turns of the player to move that end as was seen; of beliefs, the likeliest."""
    if any(isinstance(seen, Belief) for seen in evidence.places.values()):
        return likelihood.find(before, evidence, limit, most, above, within)
    return depth_first.find(before, _goal(before, evidence), limit, min(most, IceGoal.MOST))


def explain(before: IcePosition, evidence: Evidence, limit: int) -> Explanation:
    """Return the legal turns to what was seen, or the nearest one and the clauses in the way."""
    return depth_first.explain(before, evidence, _goal, limit)


def objections(before: IcePosition, evidence: Evidence) -> Iterator[Objection]:
    """Yield what no turn explains: more pieces than there are, more bears than actions."""
    goal = _goal(before, evidence)
    return ice_objections.objections(before, evidence, goal.most, carried=goal.may_drift(before))


def of_others(before: IcePosition, evidence: Evidence) -> set[str]:
    """Return the places and fields of the other team that are not as they were."""
    goal = _goal(before, evidence)
    return ice_objections.of_others(before, goal.least, goal.most, goal.misses(before))


def turn_of(s: IcePosition) -> int | None:
    """Return whose turn runs, or None."""
    return None if s.phase in {"setup", "over"} else s.seat


def cases(position: Mapping[str, Any]) -> list[IcePosition]:
    """Return the states that a position may stand for: each team's turn, where it is not told.

    :raises SetupError: when it is no position.
    """
    first = GAME.from_position(position)
    if position.get("turn") is not None or position.get("to_move") is not None:
        return [first]
    return [GAME.from_position({**position, "turn": colour}) for colour in first.colours]
