"""Makes a position of Iglu Iglu of the one form of a board.

What the form itself is, and what breaks it, stands in :mod:`.json_form`. What is merely wrong, such as five bears, is
read as it is and answered by ``problems()``; the few wrongs that bit sets cannot hold are noted while reading.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from companion.rules.core import CHANCE, JSON, NOBODY, Problem, SetupError
from companion.rules.i18n import Words
from companion.rules.iglu_iglu import components
from companion.rules.iglu_iglu.board import CORNERS, NUMBER, SQUARES
from companion.rules.iglu_iglu.drifting import line
from companion.rules.iglu_iglu.json_form import TOKENS
from companion.rules.iglu_iglu.position import (
    ACT,
    DEFENDING,
    DISPLACING,
    DRAWING,
    FLEEING,
    MOVING,
    OVER,
    PEEKING,
    PHASES,
    REVEALING,
    SETTING,
    START,
    TO_FACE,
    IgluSetup,
)
from companion.rules.iglu_iglu.state import IgluState
from companion.rules.position_form import Reading


def check_squares(places: Mapping[str, Any], reading: Reading) -> None:
    """Keep that a position does not say what lies on every square."""
    missing = [name for name in SQUARES if name not in places and not CORNERS >> NUMBER[name] & 1]
    if missing:
        few = ", ".join(missing[:5])
        more = Words("{few} … ({count} squares)").filled({"few": few, "count": len(missing)})
        words = Words("The position does not say what lies on {squares}.")
        reading.say((None, "places"), words.filled({"squares": more if len(missing) > 5 else few}))


def check_tokens(told: Mapping[str, Any], reading: Reading) -> None:
    """Keep that there are more tokens of a kind, in several entries, than any count may be."""
    zones = [(((None, "trophies"), colour), tokens) for colour, tokens in told["trophies"].items()]
    for at, tokens in [*zones, (((None, "piles"), "removed"), told["piles"]["removed"])]:
        counts: dict[tuple[str, int], int] = {}
        for kind, value, count in tokens:
            counts[kind, value] = counts.get((kind, value), 0) + count
        for count in counts.values():
            TOKENS.read(count, at, reading)


def tribes_in(places: Mapping[str, Any], position: Mapping[str, JSON]) -> tuple[str, ...]:
    """Return the tribes to take where a position names no players: those on it, filled up to a game.

    Red and blue alone make a game of two; any other tribe makes a game of at least three (IGLU-S.5).
    """
    seen = {thing[1] for _, things in places.values() for thing in things if thing[0] in ("inuit", "igloo")}
    for field in ("hands", "trophies"):
        named = position.get(field)
        if isinstance(named, Mapping):
            seen.update(colour for colour in components.COLOURS if colour in named)
    wanted = 2 if seen <= {"red", "blue"} else 3
    for colour in components.COLOURS:
        if len(seen) < wanted:
            seen.add(colour)
    return tuple(colour for colour in components.COLOURS if colour in seen)


class Filler:
    """Fills an empty state with what a position tells."""

    def __init__(self, table: IgluSetup, state: IgluState) -> None:
        """Take the table with the players of the position, and an empty state of it."""
        self.table = table
        self.state = state
        self.inuit: list[list[int]] = [[] for _ in table.colours]
        self.igloos = [0] * table.players
        self.fish: list[int] = []
        self.fox: list[int] = []
        self.faults: list[Problem] = []

    def fill(self, told: Mapping[str, Any]) -> tuple[IgluState, list[Problem]]:
        """Return the state, and the problems that its bit sets cannot hold.

        :raises SetupError: in one sentence, when the phase lacks what it asks about, or somebody else is to move.
        """
        for name, (ground, things) in told["places"].items():
            self._place(name, ground, things)
        s = self.state
        for seat, squares in enumerate(self.inuit):
            s.set_inuit(seat, tuple(sorted(squares)))
        s.igloos = tuple(self.igloos)
        s.igloo_squares = 0
        for own in self.igloos:
            s.igloo_squares |= own
        s.set_fish(tuple(sorted(self.fish)))
        s.set_fox(tuple(sorted(self.fox)))
        self._elsewhere(told)
        self._turn(told)
        return s, self.faults

    def _place(self, name: str, ground: str, things: Sequence[tuple[Any, ...]]) -> None:
        bit = 1 << NUMBER[name]
        corner = bool(CORNERS & bit)
        if corner != (ground == "land"):
            key = "ground-corner" if corner else "ground-land"
            self.faults.append(Problem(key, {"square": name, "ground": ground}, ("IGLU-K.1", "IGLU-G.3")))
        if ground in ("floe", "pack"):
            self.state.floes |= bit
        if ground == "pack":
            self.state.packs |= bit
        for kind, which, count in things:
            self._thing(name, kind, which, count)

    def _thing(self, name: str, kind: str, which: Any, count: int) -> None:
        number = NUMBER[name]
        bit = 1 << number
        if kind in ("inuit", "igloo"):
            if which not in self.table.colours:
                facts = {"who": which, "kind": kind, "square": name}
                self.faults.append(Problem("stranger", facts, ("IGLU-S.4", "IGLU-S.5")))
                return
            seat = self.table.colours.index(which)
            if kind == "inuit":
                self.inuit[seat].extend([number] * count)
                return
            if count + (self.igloos[seat] >> number & 1) > 1:
                facts = {"who": which, "square": name, "count": count}
                self.faults.append(Problem("igloo-twice", facts, ("IGLU-G.7", "IGLU-2.C.1")))
            if count:
                self.igloos[seat] |= bit
        elif kind == "bear":
            if count + (self.state.bears >> number & 1) > 1:
                self.faults.append(Problem("bears-together", {"square": name, "count": count}, ("IGLU-G.7",)))
            if count:
                self.state.bears |= bit
        else:
            (self.fox if kind == "fox" else self.fish).extend([4 * number + which] * count)

    def _elsewhere(self, told: Mapping[str, Any]) -> None:
        """Read trophies, hands and piles."""
        s, table = self.state, self.table
        s.trophies = tuple(_tally(told["trophies"].get(colour, ())) for colour in table.colours)
        red = table.mix.faces[components.RED :]
        hands = (told["hands"].get(colour, ({}, 0)) for colour in table.colours)
        s.hands = tuple((unknown, *(tiles.get(face, 0) for face in red)) for tiles, unknown in hands)
        s.removed = _tally(told["piles"]["removed"])
        unseen = told["piles"]["tiles"]
        s.tiles = self._unseen() if unseen is None else tuple(unseen.get(face, 0) for face in table.mix.faces)

    def _unseen(self) -> tuple[int, ...]:
        """Return the tiles that nobody need have seen, given what is out: the position does not say more."""
        s = self.state
        unseen = list(self.table.mix.counts)
        unseen[components.PACK] -= s.packs.bit_count()
        unseen[components.BEAR] -= components.IN_BOX[components.BEAR_TOKEN] - s.reserve(components.BEAR_TOKEN)
        for hand in s.hands:
            for place in range(1, len(hand)):
                unseen[place + TO_FACE] -= hand[place]
        fish = sum(components.IN_BOX[token] - s.reserve(token) for token in range(3)) - 4
        while fish > 0 and unseen[components.FISH_3] > 0:
            unseen[components.FISH_3] -= 1
            fish -= 3
        while fish > 0 and unseen[components.FISH_2] > 0:
            unseen[components.FISH_2] -= 1
            fish -= 2
        return tuple(max(count, 0) for count in unseen)

    def _turn(self, told: Mapping[str, Any]) -> None:
        """Read whose step it is and how far the turn is."""
        s = self.state
        to_move, turn = told["to_move"], told["turn"]
        usual = START if told["points"] is None else ACT
        s.phase = usual if told["phase"] is None else told["phase"]
        s.turn = turn if turn is not None else to_move if to_move is not None else self.table.first
        melted = told["melted"]
        s.melted = s.phase in (ACT, OVER) if melted is None else melted or s.phase == ACT
        s.points = told["points"] or 0
        s.played = sum(1 << bit for bit in set(told["played"]))
        self._pending(told["pending"])
        if s.phase in (SETTING, REVEALING, DRAWING):
            s.to_move = CHANCE
        elif s.phase == OVER:
            s.to_move = NOBODY
        else:
            s.to_move = s.defender if s.phase == DEFENDING else s.turn
        if to_move is not None and to_move != s.to_move:
            raise SetupError(
                "In the phase {phase} of {turn}’s turn to_move is not {shown}.",
                phase=PHASES[s.phase],
                turn=self.table.colours[s.turn],
                shown=repr(self.table.colours[to_move]),
            )
        if s.phase == START:
            s.test_end()

    def _pending(self, pending: Mapping[str, Any]) -> None:
        s = self.state
        s.square, s.remaining = pending.get("square", -1), pending.get("left", 0)
        s.defender, s.push = pending.get("asked", -1), pending.get("drift")
        s.looked = sum(1 << square for square in set(pending.get("looked", ())))
        if not self._phase_fits():
            phase = PHASES[s.phase]
            raise SetupError(
                "The phase {phase} needs in pending what it asks about; see the README of the game.", phase=phase
            )

    def _phase_fits(self) -> bool:
        """Return whether a phase has what it asks about."""
        s = self.state
        there = s.square >= 0
        if s.phase in (SETTING, DRAWING):
            return there and s.remaining > 0 and not CORNERS >> s.square & 1
        if s.phase == MOVING:
            return s.remaining > 0
        if s.phase in (PEEKING, REVEALING):
            return there and not (s.floes | CORNERS) >> s.square & 1
        if s.phase == DISPLACING:
            return there and self._drift_waits()
        if s.phase == DEFENDING:
            return there and s.defender >= 0 and bool(s.bears & s.inuit_at[s.defender] & 1 << s.square)
        if s.phase == FLEEING:
            return there and bool(s.fleeing())
        return True

    def _drift_waits(self) -> bool:
        s = self.state
        if s.push is None or not s.floes >> s.push[0] & 1:
            return False
        return line(s, *s.push)[1] == s.square and bool((s.shoals | s.bears) >> s.square & 1)


def _tally(tokens: Sequence[tuple[str, int, int]]) -> int:
    counts: dict[int, int] = {}
    for kind, value, count in tokens:
        number = components.TOKEN[kind, value]
        counts[number] = counts.get(number, 0) + count
    return components.tally(counts)
