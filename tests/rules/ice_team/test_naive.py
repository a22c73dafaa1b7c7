"""A second Ice Team, written from the rulebook and nothing else, slow and plain: it must agree with the engine.

It shares no code with `companion.rules`. A space is a point of the plane: neighbours are a step of length one away, a
straight line is the same step again and again, and a board is turned by turning its points.
"""

from __future__ import annotations

import cmath
from random import Random
from typing import Any

import pytest

from companion.rules import game
from companion.rules.ice_team.components import default_box
from tests.worlds.sizes import size

# Not measured for coverage: that takes three times as long, and the other tests reach nearly every branch.
pytestmark = pytest.mark.no_cover

ICE = game("ice-team")
BOX = default_box().to_json()
FACES = [
    *("plain", "penguin1", "penguin2", "penguin3", "drift", "paw", "drift", "paw", "drift"),
    *("plain-fragile", "penguin1-fragile", "penguin2-fragile", "drift-fragile"),
]
TURNED = {
    "boards": [
        {"board": "a", "at": [0, 0], "turn": 0},
        {"board": "b", "at": [5, 2], "turn": 3},
        {"board": "d", "at": [6, 0]},
        {"board": "c", "at": [11, 0], "turn": 1},
    ],
    "start": [[-1, 0], [-1, 1], [-1, 2], [-1, 3]],
    "village": [[12, -1], [12, 0], [12, 1], [12, 2], [12, 3]],
}
LAYOUTS: list[Any] = ["line", "bend", "squares", TURNED]


class Naive:
    """The whole game with points, dictionaries and lists."""

    def __init__(self, layout: Any, options: dict[str, Any]) -> None:
        self.options = options
        described = BOX["layouts"][layout] if isinstance(layout, str) else layout
        hexagons = BOX["boards"][described["boards"][0]["board"]]["grid"] == "hex"
        turn = cmath.exp(1j * cmath.pi / 3) if hexagons else 1j
        self.steps = [turn**k for k in range(6 if hexagons else 4)]
        down = self.steps[1]
        self.points: dict[str, list[complex]] = {"start": [], "village": []}
        self.igloos = set()
        for placed in described["boards"]:
            number = 0
            for y, row in enumerate(BOX["boards"][placed["board"]]["rows"]):
                for x, sign in enumerate(row):
                    number += 1
                    name = f"{placed['board']}{number}"
                    here = placed["at"][0] + placed["at"][1] * down + (x + y * down) * turn ** placed.get("turn", 0)
                    self.points[name] = [here]
                    if sign == "I":
                        self.igloos.add(name)
        for edge in ("start", "village"):
            self.points[edge] = [x + y * down for x, y in described[edge]]
        self.names = {self.key(point): name for name, points in self.points.items() for point in points}
        self.spaces = [name for name in self.points if name not in ("start", "village")]

    @staticmethod
    def key(point: complex) -> tuple[int, int]:
        return round(point.real * 100), round(point.imag * 100)

    def at(self, point: complex) -> str | None:
        return self.names.get(self.key(point))

    def take(self, position: dict[str, Any]) -> None:
        """Begin from a position in which a bear is to be moved."""
        self.ground = {name: position["places"][name]["ground"] for name in self.spaces}
        self.bears = [
            [thing["colour"], name]
            for name, place in position["places"].items()
            for thing in place["things"]
            for _ in range(thing.get("count", 1))
        ]
        self.fresh = {player["colour"]: player["fresh"] for player in position["players"]}
        self.frozen = {player["colour"]: player["frozen"] for player in position["players"]}
        self.turn, self.actions = position["turn"], position["actions"]
        self.phase = "act"
        self.bear: list[str] | None = None
        self.extra = False
        self.removed = list(position["removed"])
        self.loser: str | None = None
        self.rolled: list[str] = []

    @property
    def other(self) -> str:
        return "red" if self.turn == "green" else "green"

    def bear_on(self, name: str) -> list[str] | None:
        return next((bear for bear in self.bears if bear[1] == name), None)

    def ordinary(self, name: str | None) -> bool:
        return name is not None and name not in ("start", "village")

    def can_land(self, name: str | None, origin: str) -> bool:
        """A bear ends on Start, Village, or an unoccupied floe or igloo, and not where it was."""
        if name is None or name == origin:
            return False
        return not self.ordinary(name) or (self.ground[name] != "sea" and self.bear_on(name) is None)

    def ways(self, origin: str) -> set[tuple[str, str, int]]:
        """Return (kind, where, number of the direction) for every movement of a bear from a place."""
        found = set()
        if origin == "village":
            return found
        for point in self.points[origin]:
            for number, step in enumerate(self.steps):
                # Walking.
                first = self.at(point + step)
                if self.can_land(first, origin):
                    found.add(("walk", first, number))
                # Leaping.
                if self.ordinary(first) and first != origin and self.bear_on(first) is not None:
                    behind = self.at(point + 2 * step)
                    if self.can_land(behind, origin):
                        found.add(("leap", behind, number))
                # Swimming.
                far = 1
                while self.ordinary(self.at(point + far * step)) and self.ground[self.at(point + far * step)] == "sea":
                    far += 1
                end = self.at(point + far * step)
                if far > 1 and self.can_land(end, origin):
                    found.add(("swim", end, number))
        return found

    def movable(self) -> list[list[str]]:
        if self.extra:
            return [self.bear]
        return [bear for bear in self.bears if bear[0] == self.turn]

    def stuck(self) -> bool:
        return not any(self.ways(place) for _, place in self.movable())

    def hops(self) -> set[tuple[str, str, int]]:
        return {
            way
            for way in self.ways(self.bear[1])
            if way[0] == "leap" and way[1] != self.origin and way[1:] not in self.landings
        }

    def simple_drifts(self) -> set[str]:
        here = self.bear[1]
        found = set()
        for step in self.steps:
            far = 1
            while self.ordinary(self.at(self.points[here][0] + far * step)):
                name = self.at(self.points[here][0] + far * step)
                if self.ground[name] != "sea":
                    break
                found.add(name)
                far += 1
        if self.options["ice.simple_drift_straight"]:
            return found
        growing = True
        while growing:
            near = {self.at(self.points[name][0] + step) for name in found for step in self.steps}
            more = {name for name in near if self.ordinary(name) and self.ground[name] == "sea"} - found
            growing = bool(more)
            found |= more
        return found

    def block_drifts(self) -> dict[str, list[tuple[str, str]]]:
        """Push the row one space at a time, as fingers do; every stop is a possible end."""
        found = {}
        for number in self.directions:
            step = self.steps[number]
            begin = self.points[self.bear[1]][0]
            floes = {self.bear[1]: begin}
            front = self.at(begin + step)
            if not self.ordinary(front) or self.ground[front] in ("sea", "igloo", "searched"):
                continue
            pushed = 0
            while True:
                # The tiles that now touch one another in front of the drifting one.
                taken = {self.key(point): name for name, point in floes.items()}
                ahead = begin + (pushed + 1) * step
                joined = False
                blocked = False
                while True:
                    if self.key(ahead) in taken:
                        ahead += step
                        continue
                    name = self.at(ahead)
                    if not self.ordinary(name) or self.ground[name] in ("igloo", "searched"):
                        blocked = True
                        break
                    if self.ground[name] == "sea" or name in floes:
                        break
                    floes[name] = ahead
                    taken[self.key(ahead)] = name
                    joined = pushed > 0
                if blocked or (joined and not self.options["ice.block_picks_up"]):
                    break
                floes = {name: point + step for name, point in floes.items()}
                pushed += 1
                end = self.at(begin + pushed * step)
                found[end] = [(name, self.at(point)) for name, point in floes.items()]
        return found

    # --- the steps ----------------------------------------------------------------------------------------------------

    def legal(self) -> set[str]:
        if self.phase == "act":
            return {f"{kind} {bear[1]} {end}" for bear in self.movable() for kind, end, _ in self.ways(bear[1])}
        if self.phase == "hop":
            return {"stop", *(f"leap {self.bear[1]} {end}" for _, end, _ in self.hops())}
        if self.phase == "drift":
            return {f"drift {end}" for end in self.simple_drifts()} | {f"push {end}" for end in self.block_drifts()}
        if self.phase == "freeze":
            penguins = int(self.ground[self.bear[1]].removeprefix("penguin")[0])
            return {f"freeze {n}" for n in range(penguins + 1) if n <= self.fresh[self.turn]}
        if self.phase == "roll":
            return {f"roll 1 {face}" for face in BOX["dice"][0]}
        if self.phase == "roll-both":
            return {f"roll {len(self.rolled) + 1} {face}" for face in BOX["dice"][len(self.rolled)]}
        if self.phase == "choose":
            return {"choose 1", "choose 2"}
        return set()

    def play(self, text: str) -> None:
        word, *rest = text.split()
        if word in ("walk", "leap", "swim"):
            self.move(word, *rest)
        elif word == "stop":
            self.arrive()
        elif word == "freeze":
            self.fresh[self.turn] -= int(rest[0])
            self.frozen[self.turn] += int(rest[0])
            self.done()
        elif word == "roll" and self.phase == "roll":
            self.apply(rest[1])
        elif word == "roll":
            self.rolled.append(rest[1])
            self.phase = "choose" if len(self.rolled) == 2 else "roll-both"
        elif word == "choose":
            self.apply(self.rolled[int(rest[0]) - 1])
        elif word == "drift":
            self.shift([(self.bear[1], rest[0])])
        else:
            self.shift(self.block_drifts()[rest[0]])

    def move(self, word: str, origin: str, target: str) -> None:
        directions = {number for kind, end, number in self.ways(origin) if (kind, end) == (word, target)}
        if self.phase != "hop":
            if not self.extra:
                self.bear = next(bear for bear in self.bears if bear == [self.turn, origin])
            self.origin, self.landings = origin, set()
        self.bear[1] = target
        self.directions = directions
        if word == "leap":
            self.landings |= {(target, number) for number in directions}
            self.phase = "hop"
            if self.hops():
                return
        self.arrive()

    def arrive(self) -> None:
        # Fragile ice breaks as soon as the movement is over.
        ice = self.ground.get(self.origin, "")
        if ice == "paw" or ice.endswith("-fragile"):
            self.ground[self.origin] = "sea"
            self.removed.append(ice)
        self.extra = False
        here = self.bear[1]
        if here == "village":
            self.phase, self.rolled = "roll-both", []
            return
        tile = self.ground.get(here, "")
        if tile == "igloo":
            self.ground[here] = "searched"
            self.fresh[self.turn] += 1
            self.phase = "roll"
        elif tile.startswith("penguin") and self.fresh[self.turn]:
            self.phase = "freeze"
        elif tile.startswith("drift") and (self.simple_drifts() or self.block_drifts()):
            self.phase = "drift"
        elif tile == "paw":
            self.phase, self.extra = "act", True
            if self.stuck():
                self.done()
        else:
            self.done()

    def apply(self, face: str) -> None:
        if face == "steal":
            stolen = min(2, self.fresh[self.other])
            self.fresh[self.other] -= stolen
            self.fresh[self.turn] += stolen
        else:
            self.fresh[self.turn] += int(face[4:])
        self.done()

    def shift(self, tiles: list[tuple[str, str]]) -> None:
        faces = {old: self.ground[old] for old, _ in tiles}
        riders = {old: self.bear_on(old) for old, _ in tiles}
        for old, _ in tiles:
            self.ground[old] = "sea"
        for old, new in tiles:
            self.ground[new] = faces[old]
            if riders[old]:
                riders[old][1] = new
        self.done()

    def done(self) -> None:
        self.extra = False
        if self.bears.count([self.turn, "village"]) == 4:
            self.phase = "over"
            return
        self.phase = "act"
        self.actions -= 1
        if self.actions == 1 and self.stuck():
            if self.options["ice.blocked_second_action"] == "lose":
                self.phase, self.loser = "over", self.turn
                return
            self.actions = 0
        if self.actions == 0:
            self.turn, self.actions = self.other, 2
            if self.stuck():
                self.phase, self.loser = "over", self.turn

    def told(self) -> dict[str, Any]:
        """Return what can be compared with a position of the engine."""
        return {
            "ground": self.ground,
            "bears": sorted(map(tuple, self.bears)),
            "fresh": self.fresh,
            "frozen": self.frozen,
            "removed": sorted(self.removed),
            "phase": self.phase,
            "turn": self.turn,
            "actions": self.actions,
            "loser": self.loser,
        }


def told(position: dict[str, Any]) -> dict[str, Any]:
    """Return the same of a position of the engine."""
    bears = [
        (thing["colour"], name)
        for name, place in position["places"].items()
        for thing in place["things"]
        for _ in range(thing["count"])
    ]
    return {
        "ground": {n: p["ground"] for n, p in position["places"].items() if n not in ("start", "village")},
        "bears": sorted(bears),
        "fresh": {player["colour"]: player["fresh"] for player in position["players"]},
        "frozen": {player["colour"]: player["frozen"] for player in position["players"]},
        "removed": sorted(position["removed"]),
        "phase": position["phase"],
        "turn": position["turn"],
        "actions": position["actions"],
        "loser": position["loser"],
    }


def random_position(naive: Naive, layout: Any, rng: Random) -> dict[str, Any]:
    """Return any position in which a bear is to be moved; whether a box could have brought it does not matter."""
    wet, crowded = rng.random(), rng.random()
    places: dict[str, Any] = {}
    for name in naive.spaces:
        if name in naive.igloos:
            ground = rng.choice(("igloo", "searched"))
        else:
            ground = "sea" if rng.random() < wet else rng.choice(FACES)
        places[name] = {"ground": ground, "things": []}
    dry = [name for name, place in places.items() if place["ground"] != "sea"]
    rng.shuffle(dry)
    places |= {"start": {"ground": "start", "things": []}, "village": {"ground": "village", "things": []}}
    for colour in ("green", "red"):
        for number in range(4):
            where = rng.choice(("start", "village") if number < 3 else ("start",))
            if dry and rng.random() < crowded:
                where = dry.pop()
            places[where]["things"].append({"kind": "bear", "colour": colour, "count": 1})
    fish = [rng.choice((0, 1, 2, 3, 9)) for _ in range(4)]
    return {
        "layout": layout,
        "options": naive.options,
        "players": [
            {"name": "Ann", "colour": "green", "fresh": fish[0], "frozen": fish[1]},
            {"name": "Bob", "colour": "red", "fresh": fish[2], "frozen": fish[3]},
        ],
        "places": places,
        "turn": rng.choice(("green", "red")),
        "actions": rng.choice((1, 2)),
        "removed": [],
    }


def every_text(naive: Naive, rng: Random) -> list[str]:
    """Return a hundred moves as people may try them, most of them wrong."""
    names = list(naive.points)
    tries = [f"{rng.choice(('walk', 'leap', 'swim'))} {rng.choice(names)} {rng.choice(names)}" for _ in range(60)]
    bears = [place for _, place in naive.bears]
    tries += [f"{rng.choice(('walk', 'leap', 'swim'))} {rng.choice(bears)} {rng.choice(names)}" for _ in range(60)]
    tries += [f"{rng.choice(('drift', 'push'))} {rng.choice(names)}" for _ in range(20)]
    return [*tries, "stop", "freeze 0", "freeze 2", "freeze 4", "roll 1 fish1", "roll 2 steal", "choose 1", "pick 2"]


@pytest.mark.cites("ICE-1.1", "ICE-1.2", "ICE-1.3", "ICE-1.4", "ICE-2.6a", "ICE-2.6b", "ICE-2.6c", "ICE-0.3", "ICE-0.4")
@pytest.mark.parametrize(
    "layout",
    [*(pytest.param(one, marks=pytest.mark.long) for one in LAYOUTS[:3]), LAYOUTS[3]],
    ids=["line", "bend", "squares", "turned"],
)
def test_the_engine_agrees_with_the_naive_game(layout: Any) -> None:
    positions = kinds = 0
    seen: set[str] = set()
    for seed in range(45):
        rng = Random(seed)
        options = {option.name: rng.choice(option.values) for option in ICE.options}
        naive = Naive(layout, options)
        position = random_position(naive, layout, rng)
        naive.take(position)
        if naive.stuck():
            continue
        state = ICE.from_position(position)
        for _ in range(25):
            assert told(state.position()) == naive.told(), str(state)
            legal = naive.legal()
            assert [str(move) for move in state.legal_moves if str(move) not in legal] == [], str(state)
            assert len(legal) == len(state.legal_moves), (legal, str(state))
            for text in every_text(naive, rng):
                assert (state.refusal(ICE.parse(text)) is None) == (text in legal), (text, str(state))
            positions += 1
            if not legal:
                break
            seen |= {text.split()[0] for text in legal}
            # Drifts, pushes and leaps are rarer than walks, and are what there is to be wrong about.
            rare = sorted(text for text in legal if text.split()[0] in ("leap", "swim", "push"))
            text = rng.choice(rare if rare and rng.random() < 0.6 else sorted(legal))
            kinds += text.split()[0] in ("leap", "swim", "push", "drift")
            naive.play(text)
            state = state.play(ICE.parse(text))
    assert positions > 700 and kinds > 250
    assert seen == {"walk", "leap", "swim", "stop", "freeze", "roll", "choose", "drift", "push"}


@pytest.mark.sized
def test_the_naive_game_follows_whole_games() -> None:
    for seed in range(size(3, 6)):
        rng = Random(seed)
        layout = LAYOUTS[seed % len(LAYOUTS)]
        options = {option.name: rng.choice(option.values) for option in ICE.options}
        naive = Naive(layout, options)
        state = ICE.start(ICE.seats(2), options, {"layout": layout})
        while state.position()["phase"] == "setup":
            state = state.play(state.chance(rng))
        naive.take(state.position())
        while True:
            assert {str(move) for move in state.legal_moves} == naive.legal()
            if naive.phase == "over":
                break
            text = rng.choice(sorted(naive.legal()))
            naive.play(text)
            state = state.play(ICE.parse(text))
            assert told(state.position()) == naive.told(), str(state)
        assert state.outcome() is not None
