"""A second Iglu Iglu, written from the rulebook and nothing else, slow and plain: it must agree with the engine.

It reads positions in the one form of a board, and shares no code with the engine: squares are names, sets are sets,
every move there could be is tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from random import Random
from typing import Any

import pytest

from companion.rules import game
from companion.rules.core import CHANCE, NOBODY
from tests.worlds.sizes import size

# Not measured for coverage: that takes three times as long, and the other tests reach nearly every branch.
pytestmark = pytest.mark.no_cover

NAMES = [column + row for row in "12345678" for column in "abcdefgh"]
CORNERS = {"a1", "a8", "h1", "h8"}
WAYS = {"n": (0, 1), "s": (0, -1), "e": (1, 0), "w": (-1, 0)}
TRIBES = ["red", "blue", "yellow", "green"]
TOKENS = ["fish 1", "fish 2", "fish 3", "fox 1", "fox 2", "fox 3", "bear"]
IN_BOX = {"fish 1": 8, "fish 2": 12, "fish 3": 8, "fox 1": 3, "fox 2": 4, "fox 3": 3, "bear": 4}
RED = ("thaw", "harpoon", "animals", "endurance")


def beyond(square: str, way: str) -> str | None:
    across, up = WAYS[way]
    name = chr(ord(square[0]) + across) + chr(ord(square[1]) + up)
    return name if name in NAMES else None


def beside(square: str) -> list[str]:
    return [other for way in WAYS if (other := beyond(square, way))]


class Naive:
    """The rulebook, read literally, over one position."""

    def __init__(self, position: dict[str, Any]) -> None:
        self.p = position
        self.me = position["turn"]
        self.tribes = [player["colour"] for player in position["players"]]
        self.option = position["options"]

    # --- what lies where --------------------------------------------------------------------------------------------

    def ground(self, square: str) -> str:
        return self.p["places"][square]["ground"]

    def water(self, square: str) -> bool:
        return self.ground(square) == "water"

    def floe(self, square: str) -> bool:
        return self.ground(square) in ("floe", "pack")

    def things(self, square: str, kind: str) -> list[dict[str, Any]]:
        return [thing for thing in self.p["places"][square]["things"] if thing["kind"] == kind]

    def has(self, square: str, kind: str) -> bool:
        return bool(self.things(square, kind))

    def tribes_on(self, square: str, kind: str) -> set[str]:
        return {thing["colour"] for thing in self.things(square, kind)}

    def animals(self, square: str) -> set[str]:
        found = {f"{t['kind']} {t['value']}" for kind in ("fish", "fox") for t in self.things(square, kind)}
        return found | ({"bear"} if self.has(square, "bear") else set())

    def count(self, token: str) -> int:
        """Count a token everywhere: on the board, in trophies, out of the game."""
        kind, _, value = token.partition(" ")
        heaps = [place["things"] for place in self.p["places"].values()]
        heaps += [*self.p["trophies"].values(), self.p["piles"]["removed"]]
        return sum(
            t["count"]
            for heap in heaps
            for t in heap
            if t["kind"] == kind and (kind == "bear" or t["value"] == int(value))
        )

    def left(self, token: str) -> int:
        return IN_BOX[token] - self.count(token)

    # --- hands ------------------------------------------------------------------------------------------------------

    def unseen(self, face: str) -> int:
        return self.p["piles"]["tiles"].get(face, 0)

    def may_hold(self, tribe: str, face: str) -> bool:
        hand = self.p["hands"][tribe]
        return hand["tiles"].get(face, 0) > 0 or (hand["unknown"] > 0 and self.unseen(face) > 0)

    def playable(self, face: str) -> bool:
        return face.split(maxsplit=1)[0] not in self.p["played"] and self.may_hold(self.me, face)

    # --- melting ----------------------------------------------------------------------------------------------------

    def empty(self, square: str) -> bool:
        return self.ground(square) == "floe" and not self.p["places"][square]["things"]

    def at_water(self, square: str) -> bool:
        return any(self.water(other) for other in beside(square))

    def meltable(self) -> set[str]:
        empty = {square for square in NAMES if self.empty(square)}
        shore = {square for square in empty if self.at_water(square)}
        edge = {square for square in empty if square[0] in "ah" or square[1] in "18"}
        return shore or edge

    def thawable(self) -> set[str]:
        return {s for s in NAMES if self.ground(s) == "floe" and self.at_water(s) and not self.has(s, "igloo")}

    # --- drift ------------------------------------------------------------------------------------------------------

    def shelters(self, square: str) -> list[str]:
        return [other for other in beside(square) if self.water(other) and not self.has(other, "bear")]

    def swims(self, square: str) -> bool:
        return bool(self.p["places"][square]["things"])

    def drift_ok(self, square: str, way: str) -> bool:
        if not self.floe(square):
            return False
        ahead: str | None = square
        while ahead and self.floe(ahead):
            ahead = beyond(ahead, way)
        if ahead is None or not self.water(ahead):
            return False
        return not self.swims(ahead) or bool(self.shelters(ahead))

    def drifts(self) -> Iterator[str]:
        found = [f"drift {square} {way}" for square in NAMES for way in WAYS if self.drift_ok(square, way)]
        yield from found or ["drift none"]

    def displacements(self) -> Iterator[str]:
        origin = self.p["pending"]["square"]
        free = self.shelters(origin)
        if self.option["iglu.displace_together"]:
            yield from (f"displace {origin} {target}" for target in free)
            return
        for token, target in product(self.animals(origin), free):
            if token != "bear" or len(free) > 1 or not self.has(origin, "fish"):
                yield f"displace {origin} {target} {token}"

    # --- moving animals ---------------------------------------------------------------------------------------------

    def step_ok(self, token: str, origin: str, target: str) -> bool:
        if token not in self.animals(origin) or target not in beside(origin) or target in CORNERS:
            return False
        if token.startswith("fish"):
            return self.water(target)
        if token.startswith("fox"):
            return self.floe(target)
        return not self.has(target, "bear")

    def steps(self) -> Iterator[str]:
        for token, origin in product(TOKENS, NAMES):
            for target in beside(origin):
                if self.step_ok(token, origin, target):
                    yield f"move {token} {origin} {target}"
        if self.option["iglu.animals_all_three"] == "warn":
            yield "stop"

    # --- action points ----------------------------------------------------------------------------------------------

    def mine(self, square: str) -> bool:
        return self.me in self.tribes_on(square, "inuit")

    def enter(self, square: str) -> bool:
        rivals = self.tribes_on(square, "igloo") - {self.me}
        return self.floe(square) and not (self.option["variant.igloo_block"] and rivals)

    def with_harpoon(self, square: str) -> str | None:
        """Return what must stand behind the move, or None where the square may not be entered."""
        if not self.has(square, "bear"):
            return ""
        return " harpoon" if self.playable("harpoon") else None

    def walks(self) -> Iterator[str]:
        for origin in filter(self.mine, NAMES):
            for target in beside(origin):
                if self.p["points"] >= 1 and self.enter(target) and self.with_harpoon(target) is not None:
                    yield f"walk {origin} {target}{self.with_harpoon(target)}"

    def paddle(self, square: str) -> set[str]:
        """Return the water that a kayak can go over from a square."""
        seen: set[str] = set()
        todo = [s for s in beside(square) if self.water(s) and not self.has(s, "bear")]
        while todo:
            here = todo.pop()
            if here not in seen:
                seen.add(here)
                todo += [s for s in beside(here) if self.water(s) and not self.has(s, "bear")]
        return seen

    def kayaks(self) -> Iterator[str]:
        if self.p["points"] < 3:
            return
        for origin in filter(self.mine, NAMES):
            if origin in CORNERS and not self.option["iglu.kayak_from_corner"]:
                continue
            water = self.paddle(origin)
            for target in NAMES:
                reached = target != origin and any(square in water for square in beside(target))
                if reached and self.enter(target) and self.with_harpoon(target) is not None:
                    yield f"kayak {origin} {target}{self.with_harpoon(target)}"

    def in_reach(self, token: str, square: str) -> bool:
        spots = beside(square) if token.startswith("fish") else [square]
        return any(self.mine(spot) and self.floe(spot) for spot in spots)

    def hunts(self) -> Iterator[str]:
        for square in NAMES:
            for token in self.animals(square):
                if not self.in_reach(token, square):
                    continue
                if token != "bear" and self.p["points"] >= int(token[-1]):
                    yield f"hunt {square} {token}"
                if self.playable("harpoon"):
                    yield f"harpoon {square} {token}"

    def builds(self) -> Iterator[str]:
        built = sum(self.me in self.tribes_on(square, "igloo") for square in NAMES)
        for square in filter(self.mine, NAMES):
            alone = self.tribes_on(square, "inuit") == {self.me}
            if self.floe(square) and alone and not self.has(square, "igloo") and built < 2 and self.p["points"] >= 3:
                yield f"build {square}"

    def tiles(self) -> Iterator[str]:
        if self.playable("thaw"):
            yield from (f"thaw {square}" for square in self.thawable())
        late = self.option["iglu.animal_move_timing"] == "phase_2_only"
        if self.playable("animals") and not (late and self.p["phase"] == "start"):
            yield "animals"
        if self.p["phase"] == "act":
            yield from (f"endurance {n}" for n in range(1, 10) if self.playable(f"endurance {n}"))

    # --- bears ------------------------------------------------------------------------------------------------------

    def answers(self) -> Iterator[str]:
        asked = self.p["pending"]["asked"]
        yield f"decline {asked}"
        spent = asked == self.me and "harpoon" in self.p["played"]
        if self.may_hold(asked, "harpoon") and not spent:
            yield f"defend {asked}"

    def flights(self) -> Iterator[str]:
        square = self.p["pending"]["square"]
        for tribe in self.tribes_on(square, "inuit") - self.tribes_on(square, "igloo"):
            yield from (f"flee {tribe} {square} {corner}" for corner in CORNERS)

    # --- the box ----------------------------------------------------------------------------------------------------

    def faces(self) -> Iterator[str]:
        square = self.p["pending"]["square"]
        hidden = sum(n for face, n in self.p["piles"]["tiles"].items() if face.startswith(RED))
        hidden -= sum(hand["unknown"] for hand in self.p["hands"].values())
        tokens = {"fish 2": 2, "fish 3": 3, "bear": 1, "pack": 1}
        for face in self.p["box"]["tiles"]:
            kind = "fox" if face == "pack" else face.split()[0]
            enough = sum(self.left(t) for t in TOKENS if t.startswith(kind)) >= tokens.get(face, 0)
            if self.unseen(face) and (hidden > 0 if face.startswith(RED) else enough):
                yield f"reveal {square} {face}"
        if hidden > 0:
            yield f"reveal {square} kept"

    def draws(self) -> Iterator[str]:
        square = self.p["pending"]["square"]
        kind = "fox" if self.ground(square) == "pack" else "fish"
        yield from (f"draw {square} {token}" for token in TOKENS if token.startswith(kind) and self.left(token))

    def starts(self) -> Iterator[str]:
        looked = set(self.p.get("pending", {}).get("looked", ()))
        yield from (f"melt {square}" for square in self.meltable() - looked or self.meltable())
        yield from self.tiles()
        if not self.meltable():
            yield "end"

    def peeks(self) -> Iterator[str]:
        square = self.p["pending"]["square"]
        yield f"accept {square}"
        looked = {square, *self.p["pending"].get("looked", ())}
        self.p["places"][square]["ground"] = "floe"
        if self.meltable() - looked:
            yield f"putback {square}"
        self.p["places"][square]["ground"] = "water"

    def acts(self) -> Iterator[str]:
        yield "end"
        for some in (self.walks(), self.kayaks(), self.hunts(), self.builds(), self.tiles()):
            yield from some

    def placings(self) -> Iterator[str]:
        ring = (s for s in NAMES if (s[0] in "ah" or s[1] in "18") and s not in CORNERS)
        yield from (f"place {self.me} {square}" for square in ring)

    def moves(self) -> set[str]:
        """Return every legal move of the position."""
        by_phase: dict[str, Iterable[str]] = {
            "setting": self.draws(),
            "placing": self.placings(),
            "start": self.starts(),
            "peeking": self.peeks(),
            "revealing": self.faces(),
            "drawing": self.draws(),
            "drifting": self.drifts(),
            "displacing": self.displacements(),
            "act": self.acts(),
            "moving": self.steps(),
            "defending": self.answers(),
            "fleeing": self.flights(),
            "over": (),
        }
        return set(by_phase[self.p["phase"]])

    # --- the score --------------------------------------------------------------------------------------------------

    def islands(self) -> list[set[str]]:
        left = {square for square in NAMES if self.floe(square)}
        found = []
        while left:
            island = {left.pop()}
            while more := {s for here in island for s in beside(here)} & left:
                island |= more
                left -= more
            found.append(island)
        return found

    def strength(self, tribe: str, island: set[str]) -> int:
        inuit = sum(t["count"] for s in island for t in self.things(s, "inuit") if t["colour"] == tribe)
        return inuit + 2 * sum(tribe in self.tribes_on(square, "igloo") for square in island)

    def island_points(self, tribe: str, island: set[str]) -> int:
        own = self.strength(tribe, island)
        rivals = [self.strength(other, island) for other in self.tribes if other != tribe]
        size = len(island)
        table = self.option["variant.island_table"]
        worth = {1: 1, 2: 3, 3: 6, 4: 10, 5: 15}.get(size, 21) if table else size
        if own == 0:
            return 0
        if not any(rivals):
            return worth if table else size * size
        if own >= max(rivals):
            return worth
        stronger = {rival for rival in rivals if rival > own}
        return worth // 2 if len(stronger) == 1 else 0

    def trophies(self, tribe: str) -> int:
        return sum(t["value"] * t["count"] for t in self.p["trophies"][tribe])

    def score(self) -> dict[str, tuple[int, int]]:
        """Return for each tribe its total and its trophies."""
        return {
            tribe: (
                self.trophies(tribe) + sum(self.island_points(tribe, i) for i in self.islands()),
                self.trophies(tribe),
            )
            for tribe in self.tribes
        }


# --- they agree -----------------------------------------------------------------------------------------------------

IGLU = game("iglu-iglu")


def agree(state: Any) -> None:
    naive = Naive(state.position())
    assert {str(move) for move in state.legal_moves} == naive.moves(), str(state)
    sheets = state.score().sheets
    found = {c: (sheets[n].total, sheets[n].tie_break[0]) for n, c in enumerate(state.colours)}
    assert found == naive.score(), str(state)


@pytest.mark.sized
@pytest.mark.parametrize("seats", [2, *(pytest.param(more, marks=pytest.mark.long) for more in (3, 4))])
@pytest.mark.parametrize("hidden", [False, True])
def test_both_engines_agree_in_random_games(seats: int, hidden: bool) -> None:
    checked = 0
    for seed in range(size(2, 4)):
        rng = Random(1000 * seats + seed)
        options = {option.name: rng.choice(option.values) for option in IGLU.options} if seed % 2 else None
        state = IGLU.start(IGLU.seats(seats), options)
        while state.to_move != NOBODY:
            if state.phase != 1 and (state.phase != 8 or rng.random() < 0.3):
                agree(state)
                checked += 1
            moves = list(state.legal_moves)
            kept = [move for move in moves if str(move).endswith("kept")]
            if state.to_move == CHANCE:
                state = state.play(kept[0] if hidden and kept else state.chance(rng))
            else:
                # Tiles are rare in random play and their questions are the hard ones: play them when they come.
                rare = [m for m in moves if str(m).split()[0] in ("animals", "thaw", "harpoon", "defend", "build")]
                state = state.play(rng.choice(rare if rare and rng.random() < 0.5 else moves))
        agree(state)
    assert checked > 300


@pytest.mark.parametrize("seed", range(6))
def test_both_engines_agree_on_crowded_boards(seed: int) -> None:
    rng = Random(seed)
    for _ in range(60):
        state = IGLU.from_position(crowded(rng))
        agree(state)


def crowded(rng: Random) -> dict[str, Any]:
    """Return a made-up position that play would hardly reach: much on few squares, all questions at once."""
    tribes = TRIBES[: rng.choice((2, 3, 4))]
    bears, people, huts = rng.randrange(5), {t: 5 if len(tribes) == 2 else 3 for t in tribes}, dict.fromkeys(tribes, 2)
    places: dict[str, Any] = {}
    share = rng.random()
    for name in NAMES:
        ground = (
            "land" if name in CORNERS else "water" if rng.random() < share else rng.choice(["floe", "floe", "pack"])
        )
        places[name] = {"ground": ground, "things": []}
    fish, foxes = ["1"] * 8 + ["2"] * 12 + ["3"] * 8, ["1"] * 3 + ["2"] * 4 + ["3"] * 3
    rng.shuffle(fish)
    rng.shuffle(foxes)
    for _ in range(rng.randrange(60)):
        name = rng.choice(NAMES)
        place, things = places[name], places[name]["things"]
        tribe = rng.choice(tribes)
        if place["ground"] == "water" and fish and rng.random() < 0.7:
            add(things, {"kind": "fish", "value": int(fish.pop())})
        elif place["ground"] != "land" and bears and not any(t["kind"] == "bear" for t in things):
            things.append({"kind": "bear", "value": 4, "count": 1})
            bears -= 1
        elif place["ground"] in ("floe", "pack") and foxes and rng.random() < 0.3:
            add(things, {"kind": "fox", "value": int(foxes.pop())})
        elif place["ground"] in ("floe", "pack") and huts[tribe] and not any(t["kind"] == "igloo" for t in things):
            huts[tribe] -= 1
            things.append({"kind": "igloo", "colour": tribe, "count": 1})
        elif place["ground"] != "water" and people[tribe]:
            people[tribe] -= 1
            add(things, {"kind": "inuit", "colour": tribe})
    hands = {
        t: {"tiles": {f: 1 for f in ("thaw", "harpoon", "animals") if rng.random() < 0.4}, "unknown": rng.randrange(2)}
        for t in tribes
    }
    options = {option.name: rng.choice(option.values) for option in IGLU.options}
    return {
        "players": [{"name": t, "colour": t} for t in tribes],
        "places": places,
        "hands": hands,
        "options": options,
        "turn": rng.choice(tribes),
        "phase": rng.choice(["start", "act", "act", "drifting"]),
        "points": rng.randrange(6),
        "played": [tile for tile in RED if rng.random() < 0.2],
    }


def add(things: list[dict[str, Any]], thing: dict[str, Any]) -> None:
    for other in things:
        if {**other, "count": 0} == {**thing, "count": 0}:
            other["count"] += 1
            return
    things.append({**thing, "count": 1})
