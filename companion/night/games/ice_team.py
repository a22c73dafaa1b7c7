"""Ice Team as the night sees it: spaces to tap, floes and dice to enter; nothing of it is hidden from a player."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, cast

from companion.night.games.board import BoardView, Tap, fill
from companion.night.games.capabilities import Beginning, only_known, toml_text, toml_value
from companion.night.messages import Words
from companion.rules.core import JSON, State
from companion.rules.ice_team import svg
from companion.rules.ice_team.components import DIE_FACES, FACES, default_box, read_box
from companion.rules.ice_team.moves import MOST_PENGUINS, IceMove
from companion.rules.ice_team.position import TEAM
from companion.rules.ice_team.state import IceTeamState

PROMPTS: dict[str, Words] = {
    "setup": Words("Tap a floe to say what it shows; or who begins."),
    "act": Words("Tap a bear, then where it goes."),
    "hop": Words("Leap on, or stop here."),
    "turn-up": Words("What does the floe on {space} show?"),
    "pick": Words("Which die is rolled?"),
    "roll": Words("What does the die show?"),
    "roll-both": Words("What does die {die} show?"),
    "choose": Words("Which result counts?"),
    "freeze": Words("How many fish freeze?"),
    "drift": Words("Drift: tap where the floe ends."),
    "over": Words("The game is over."),
}
WAYS: dict[str, Words] = {
    "walk": Words("Walk from {a} to {b}"),
    "leap": Words("Leap from {a} to {b}"),
    "swim": Words("Swim from {a} to {b}"),
}
STOP = Words("Stop here")
BEGINS = Words("{who} begins")
DIE = Words("Die {n}")
RESULT = Words("Die {n}: {face}")
FREEZE = Words("Freeze {n}")
FREEZE_NONE = Words("Freeze none")
DRIFT = Words("Drift to {a}")
PUSH = Words("Push on to {a}")
FISH = Words("fresh {fresh}, frozen {frozen}")
HOME = Words("bears home: {home} of {all}")
GROUNDS: dict[str, Words] = {
    "sea": Words("open sea"),
    "igloo": Words("igloo"),
    "searched": Words("igloo, searched"),
    "floe": Words("floe, not turned up"),
    "plain": Words("floe"),
}
FLOE = Words("floe with {face}")
KINDS: dict[str, Words] = {"bear": Words("bear")}
LIES = Words("The floe on {space}")
MANY_FISH = Words("The sheet has {count} fish, but the tokens of the box have {most} in all.")


class IceTeamBox:
    """The boards, floes, dice and fish of a real box."""

    def default(self) -> dict[str, Any]:
        """Return our stand-in."""
        return default_box().to_json()

    def checked(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return a box whose layouts fit its boards."""
        only_known(data, ("real_box", "tiles", "dice", "fish_tokens", "boards", "layouts"))
        box = read_box({**data, "real_box": True})
        for name in box.layouts:
            box.layout(name)
        return box.to_json()

    def toml(self, data: Mapping[str, Any]) -> str:
        """Return the file of an owner's box."""
        lines = ["# This house's box of Ice Team.", "real_box = true"]
        lines += [f"{part} = {toml_value(data[part])}" for part in ("tiles", "dice", "fish_tokens")]
        for part in ("boards", "layouts"):
            for name, one in data[part].items():
                lines += ["", f"[{part}.{toml_text(name)}]"]
                lines += [f"{toml_text(key)} = {toml_value(value)}" for key, value in one.items()]
        return "\n".join([*lines, ""])

    def choices(self) -> dict[str, JSON]:
        """Return the faces of floes and dice."""
        return {"faces": list(FACES), "dice": list(DIE_FACES)}

    def real(self, data: Mapping[str, Any]) -> bool:
        """Return whether it was read from a box."""
        return bool(data["real_box"])

    def setup(self, data: Mapping[str, Any]) -> dict[str, JSON]:
        """Return the whole box."""
        return {"box": dict(data)}

    def in_position(self, data: Mapping[str, Any]) -> dict[str, JSON]:
        """Return the whole box."""
        return {"data": dict(data)}


class IceTeamView(BoardView):
    """Ice Team on the page."""

    game_id = "ice-team"
    followed = True
    box = IceTeamBox()
    chances: ClassVar[frozenset[str]] = frozenset({"floe", "first", "roll"})
    grounds: ClassVar[Mapping[str, Words]] = GROUNDS
    kinds: ClassVar[Mapping[str, Words]] = KINDS

    def beginning(self, setup: Mapping[str, JSON]) -> Beginning:
        """Return the boards with their floes not read and no bear on them: all wait on Start; green is to move."""
        start: Any = self.rules.start(self.rules.seats(2), None, setup).position()
        kept = {key: start[key] for key in ("game", "layout", "places")}
        # Bears that a position does not name wait on Start: whoever lays one elsewhere takes it from there.
        kept["places"]["start"]["things"] = []
        players = [
            {"name": one["colour"], "colour": one["colour"], "fresh": 0, "frozen": 0} for one in start["players"]
        ]
        box = {"box": {"data": setup["box"]}} if "box" in setup else {}
        position = {**kept, **box, "players": players, "turn": "green", "actions": 2}
        return position, [(face, self.both(face)) for face in FACES]

    def overfull(self, state: State[Any]) -> Words | None:
        """Return when there are more fish than the tokens of the box have (ICE-K.9)."""
        s = _ice(state)
        _, ones, twos, threes = s.table.box.tokens
        most, count = ones + 2 * twos + 3 * threes, sum(s.fresh) + sum(s.frozen)
        return MANY_FISH.filled({"count": count, "most": most}) if most and count > most else None

    def ground(self, ground: str) -> Words:
        """Return what lies there: the sea, an igloo, a floe with what it shows."""
        face = self.both(ground)
        return self.grounds.get(ground) or FLOE.filled({"face": face})

    def phase(self, state: State[Any]) -> str:
        """Return the phase's name."""
        return _ice(state).phase

    def turn(self, state: State[Any]) -> int:
        """Return whose turn it is."""
        return _ice(state).seat

    def points(self, state: State[Any]) -> int | None:
        """Return the actions left."""
        s = _ice(state)
        return None if s.phase in {"setup", "over"} else s.actions

    def prompt(self, state: State[Any]) -> Words:
        """Return what the phase asks for."""
        s = _ice(state)
        space = s.table.layout.names[s.to_turn_up()] if s.phase == "turn-up" else ""
        return PROMPTS[s.phase].filled({"space": space, "die": len(s.dice) + 1})

    def draw(self, state: State[Any], lang: str, viewer: int | None, move: Any = None) -> str:
        """Return the boards; nothing is hidden."""
        del viewer
        return svg.draw(_ice(state), move, lang)

    def notes(self, state: State[Any], seat: int) -> list[Words]:
        """Return fish and bears at home."""
        s = _ice(state)
        return [
            FISH.filled({"fresh": s.fresh[seat], "frozen": s.frozen[seat]}),
            HOME.filled({"home": s.home(seat), "all": TEAM}),
        ]

    def stand_in(self, state: State[Any]) -> bool:
        """Return whether boards, floes and dice are our default."""
        return not _ice(state).table.box.real

    def about(self, state: State[Any]) -> list[str]:
        """Return the space whose floe is turned up, or where the bear stands whose action goes on."""
        s = _ice(state)
        space = s.to_turn_up() if s.phase == "turn-up" else s.bears[s.bear] if s.bear >= 0 else -1
        return [s.table.layout.names[space]] if 0 <= space < s.table.layout.start else []

    def arranging(self, state: State[Any]) -> list[Any]:
        """Return who may begin: floes are read when a bear comes to them."""
        s = _ice(state)
        return [IceMove("first", colour) for colour in s.colours] if s.phase == "setup" else []

    def tap(self, state: State[Any], move: Any) -> Tap:
        """Return how a move is tapped."""
        s = _ice(state)
        kind, a, b = cast("IceMove", move)
        if kind in WAYS:
            return Tap((a, b), fill(WAYS[kind], {"a": self.both(a), "b": self.both(b)}))
        if kind == "floe":
            # In the set-up any floe may be named; later it is the one that is turned up.
            return Tap((a,) if s.phase == "setup" else (), fill(self.both(b), {}), fill(LIES, {"space": a}))
        if kind in {"drift", "push"}:
            return Tap((a,), (DRIFT if kind == "drift" else PUSH).filled({"a": a}))
        if kind == "first":
            return Tap((), fill(BEGINS, {"who": self.both(a)}))
        if kind == "roll":
            return Tap((), fill(self.both(b), {}))
        if kind == "choose":
            return Tap((), fill(RESULT, {"n": a, "face": self.both(DIE_FACES[s.dice[int(a) - 1]])}))
        if kind == "pick":
            return Tap((), DIE.filled({"n": a}))
        if kind == "freeze":
            return Tap((), FREEZE.filled({"n": a}) if a != "0" else FREEZE_NONE)
        return Tap((), STOP)

    def gestures(self, state: State[Any]) -> list[str]:
        """Return what is said without a space: a stop, how many fish freeze."""
        del state
        return ["stop", *(f"freeze {n}" for n in range(MOST_PENGUINS + 1))]

    def lying_so(self, state: Any, places: Mapping[str, JSON], turn: str) -> dict[str, JSON]:
        """Return what changes: two actions are left, and a floe that is gone is taken out of the game."""
        position = state.position()
        was = Counter(position["places"][name]["ground"] for name in places)
        now = Counter(place["ground"] for place in places.values())
        gone = Counter(position["removed"]) + (was - now) - (now - was)
        rest = {
            "removed": [face for face in gone.elements() if face in FACES],
            "phase": "act",
            "to_move": turn,
            "actions": 2,
            "pending": {},
        }
        return super().lying_so(state, places, turn) | rest

    def attempts(self, state: State[Any], path: Sequence[str]) -> Iterator[str]:
        """Yield what two spaces, or one, may mean."""
        del state
        if len(path) >= 2:
            yield from (f"{kind} {path[-2]} {path[-1]}" for kind in WAYS)
        elif path:
            yield from (f"{kind} {path[0]}" for kind in ("drift", "push"))


def _ice(state: State[Any]) -> IceTeamState:
    return cast("IceTeamState", state)


VIEW = IceTeamView()
