"""Reading a position of Iglu Iglu from the one form of a board.

What is broken (not a board at all) is a :class:`SetupError` in one sentence. What is merely wrong, such as five bears,
is read as it is and answered by ``problems()``; the few wrongs that bit sets cannot hold are noted while reading.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from companion.rules.core import CHANCE, JSON, NOBODY, Problem, SetupError
from companion.rules.i18n import Words
from companion.rules.iglu_iglu import components
from companion.rules.iglu_iglu.board import CORNERS, DIRECTIONS, NUMBER, SQUARES
from companion.rules.iglu_iglu.drifting import line
from companion.rules.iglu_iglu.json_form import GAME
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
    PLAYED,
    REVEALING,
    SETTING,
    START,
    TO_FACE,
    IgluSetup,
)
from companion.rules.iglu_iglu.state import IgluState

GROUNDS = ("water", "floe", "pack", "land")
KINDS = ("inuit", "igloo", "fish", "fox", "bear")
MOST = 64
MOST_TOKENS = 31
"""More than the box has of any token: a wrong count is read, and answered by a problem."""
FIELDS = (
    "game",
    "players",
    "options",
    "places",
    "phase",
    "turn",
    "to_move",
    "points",
    "melted",
    "played",
    "hands",
    "trophies",
    "piles",
    "box",
    "first",
    "pending",
)
"""The fields of a position."""


def mapping(value: JSON, what: str) -> Mapping[str, JSON]:
    """Return a JSON object; ``what`` is its path in the position.

    :raises SetupError: when it is none.
    """
    if not isinstance(value, Mapping):
        raise SetupError(
            "{what} is an object, not {shown}.", "{what} est un objet, pas {shown}.", what=what, shown=shown(value)
        )
    return value


def whole(value: JSON, what: str, most: int = MOST) -> int:
    """Return a whole number from 0 on.

    :raises SetupError: when it is none, or more than ``most``.
    """
    if type(value) is not int or not 0 <= value <= most:
        raise SetupError(
            "{what} is a whole number from 0 to {most}, not {shown}.",
            "{what} est un nombre entier de 0 à {most}, pas {shown}.",
            what=what,
            most=most,
            shown=shown(value),
        )
    return value


def chosen(value: JSON, allowed: Sequence[str], what: str) -> str:
    """Return one of the allowed words.

    :raises SetupError: when it is none of them.
    """
    if not isinstance(value, str) or value not in allowed:
        there = ", ".join(allowed)
        raise SetupError(
            "{what} is one of {there}, not {shown}.",
            "{what} est l’un de {there}, pas {shown}.",
            what=what,
            there=there,
            shown=shown(value),
        )
    return value


def flag(value: JSON, what: str) -> bool:
    """Return true or false.

    :raises SetupError: when it is neither.
    """
    if type(value) is not bool:
        raise SetupError(
            "{what} is true or false, not {shown}.",
            "{what} est true ou false, pas {shown}.",
            what=what,
            shown=shown(value),
        )
    return value


def shown(value: JSON) -> str:
    """Return a value as an error shows it, short."""
    text = repr(value)
    return text if len(text) <= 40 else text[:40] + "…"


def square_of(value: JSON, what: str) -> int:
    """Return the number of a named square.

    :raises SetupError: when it is none.
    """
    if not isinstance(value, str) or value not in NUMBER:
        raise SetupError(
            "{what} is a square from a1 to h8, not {shown}.",
            "{what} est une case de a1 à h8, pas {shown}.",
            what=what,
            shown=shown(value),
        )
    return NUMBER[value]


def listed(value: JSON, what: str) -> Sequence[JSON]:
    """Return a JSON list.

    :raises SetupError: when it is none, or far too long.
    """
    if not isinstance(value, list | tuple) or len(value) > MOST:
        raise SetupError(
            "{what} is a list of at most {most}, not {shown}.",
            "{what} est une liste d’au plus {most}, pas {shown}.",
            what=what,
            most=MOST,
            shown=shown(value),
        )
    return value


def known(fields: Mapping[str, JSON], allowed: Sequence[str], what: str) -> None:
    """Refuse fields that nobody reads: a misspelled one would be silently unknown.

    :raises SetupError: for the first of them.
    """
    for field in fields:
        if field not in allowed:
            there = ", ".join(allowed)
            raise SetupError(
                "{what} has no field {shown}; it has {there}.",
                "{what} n’a pas de champ {shown} ; il y a {there}.",
                what=what,
                shown=shown(field),
                there=there,
            )


def check_form(position: Mapping[str, JSON]) -> Mapping[str, JSON]:
    """Return the places of a position that says what lies on every square.

    :raises SetupError: for unknown fields, another game, or squares that are not told.
    """
    known(mapping(position, "position"), FIELDS, "position")
    chosen(position.get("game", GAME), (GAME,), "game")
    places = mapping(position.get("places"), "places")
    known(places, SQUARES, "places")
    missing = [name for name in SQUARES if places.get(name) is None and not CORNERS >> NUMBER[name] & 1]
    if missing:
        few = ", ".join(missing[:5])
        more = Words("{few} … ({count} squares)", "{few} … ({count} cases)").filled({"few": few, "count": len(missing)})
        raise SetupError(
            "The position does not say what lies on {squares}.",
            "La position ne dit pas ce qui se trouve sur {squares}.",
            squares=more if len(missing) > 5 else few,
        )
    return places


def tribes_in(position: Mapping[str, JSON]) -> list[str]:
    """Return the tribes to take where a position names no players: those on it, filled up to a game.

    Red and blue alone make a game of two; any other tribe makes a game of at least three (IGLU-S.5).
    """
    seen = set()
    for name, place in mapping(position.get("places"), "places").items():
        for thing in listed(mapping(place or {}, f"places.{name}").get("things", ()), f"places.{name}.things"):
            if isinstance(thing, Mapping) and thing.get("colour") in components.COLOURS:
                seen.add(thing["colour"])
    for field in ("hands", "trophies"):
        seen.update(colour for colour in mapping(position.get(field) or {}, field) if colour in components.COLOURS)
    wanted = 2 if seen <= {"red", "blue"} else 3
    for colour in components.COLOURS:
        if len(seen) < wanted:
            seen.add(colour)
    return [colour for colour in components.COLOURS if colour in seen]


class Reader:
    """Fills an empty state from a checked position."""

    def __init__(self, table: IgluSetup, state: IgluState) -> None:
        """Take the table with the players of the position, and an empty state of it."""
        self.table = table
        self.state = state
        self.inuit: list[list[int]] = [[] for _ in table.colours]
        self.igloos = [0] * table.players
        self.fish: list[int] = []
        self.fox: list[int] = []
        self.faults: list[Problem] = []

    def read(self, position: Mapping[str, JSON], places: Mapping[str, JSON]) -> tuple[IgluState, list[Problem]]:
        """Return the state, and the problems that its bit sets cannot hold.

        :raises SetupError: in one sentence, when the form is broken.
        """
        for name, place in places.items():
            if place is not None:
                self._place(name, mapping(place, f"places.{name}"))
        s = self.state
        for seat, squares in enumerate(self.inuit):
            s.set_inuit(seat, tuple(sorted(squares)))
        s.igloos = tuple(self.igloos)
        s.igloo_squares = 0
        for own in self.igloos:
            s.igloo_squares |= own
        s.set_fish(tuple(sorted(self.fish)))
        s.set_fox(tuple(sorted(self.fox)))
        self._elsewhere(position)
        self._turn(position)
        return s, self.faults

    def _place(self, name: str, place: Mapping[str, JSON]) -> None:
        known(place, ("ground", "things"), f"places.{name}")
        number = NUMBER[name]
        bit = 1 << number
        corner = bool(CORNERS & bit)
        ground = chosen(place.get("ground", "land" if corner else None), GROUNDS, f"places.{name}.ground")
        if corner != (ground == "land"):
            key = "ground-corner" if corner else "ground-land"
            self.faults.append(Problem(key, {"square": name, "ground": ground}, ("IGLU-K.1", "IGLU-G.3")))
        if ground in ("floe", "pack"):
            self.state.floes |= bit
        if ground == "pack":
            self.state.packs |= bit
        for thing in listed(place.get("things", ()), f"places.{name}.things"):
            self._thing(name, mapping(thing, f"places.{name}.things[]"))

    def _thing(self, name: str, thing: Mapping[str, JSON]) -> None:
        number = NUMBER[name]
        bit = 1 << number
        here = f"places.{name}"
        known(thing, ("kind", "colour", "value", "count"), f"{here}.things[]")
        kind = chosen(thing.get("kind"), KINDS, f"{here}.kind")
        count = whole(thing.get("count", 1), f"{here}.count")
        if kind in ("inuit", "igloo"):
            colour = chosen(thing.get("colour"), components.COLOURS, f"{here}.colour")
            if colour not in self.table.colours:
                self.faults.append(
                    Problem("stranger", {"who": colour, "kind": kind, "square": name}, ("IGLU-S.4", "IGLU-S.5"))
                )
                return
            seat = self.table.colours.index(colour)
            if kind == "inuit":
                self.inuit[seat].extend([number] * count)
                return
            if count + (self.igloos[seat] >> number & 1) > 1:
                facts = {"who": colour, "square": name, "count": count}
                self.faults.append(Problem("igloo-twice", facts, ("IGLU-G.7", "IGLU-2.C.1")))
            if count:
                self.igloos[seat] |= bit
            return
        if kind == "bear":
            if count + (self.state.bears >> number & 1) > 1:
                self.faults.append(Problem("bears-together", {"square": name, "count": count}, ("IGLU-G.7",)))
            if count:
                self.state.bears |= bit
            return
        value = self._value(thing, here)
        (self.fox if kind == "fox" else self.fish).extend([4 * number + value] * count)

    @staticmethod
    def _value(thing: Mapping[str, JSON], where: str) -> int:
        value = thing.get("value")
        if type(value) is not int or not 1 <= value <= 3:
            raise SetupError(
                "{where}.value of fish and foxes is 1, 2 or 3, not {shown}.",
                "{where}.value des poissons et des renards est 1, 2 ou 3, pas {shown}.",
                where=where,
                shown=shown(value),
            )
        return value

    def _tokens(self, tokens: JSON, what: str) -> int:
        counts: dict[int, int] = {}
        for item in listed(tokens, what):
            token = mapping(item, f"{what}[]")
            known(token, ("kind", "value", "count"), f"{what}[]")
            kind = chosen(token.get("kind"), ("fish", "fox", "bear"), f"{what}[].kind")
            value = 4 if kind == "bear" else self._value(token, f"{what}[]")
            number = components.TOKEN[kind, value]
            counts[number] = counts.get(number, 0) + whole(token.get("count", 1), f"{what}[].count", MOST_TOKENS)
            whole(counts[number], f"{what}[].count", MOST_TOKENS)
        return components.tally(counts)

    def _elsewhere(self, position: Mapping[str, JSON]) -> None:
        """Read trophies, hands and piles."""
        s, table = self.state, self.table
        trophies = self._by_colour(position, "trophies")
        s.trophies = tuple(self._tokens(trophies.get(colour, ()), f"trophies.{colour}") for colour in table.colours)
        hands = self._by_colour(position, "hands")
        s.hands = tuple(
            self._hand(mapping(hands.get(colour, {}), f"hands.{colour}"), f"hands.{colour}") for colour in table.colours
        )
        piles = mapping(position.get("piles") or {}, "piles")
        known(piles, ("removed", "tiles"), "piles")
        s.removed = self._tokens(piles.get("removed", ()), "piles.removed")
        unseen = piles.get("tiles")
        if unseen is None:
            s.tiles = self._unseen()
            return
        faces = table.mix.faces
        known(mapping(unseen, "piles.tiles"), faces, "piles.tiles")
        s.tiles = tuple(whole(unseen.get(face, 0), f"piles.tiles.{face}") for face in faces)

    def _by_colour(self, position: Mapping[str, JSON], field: str) -> Mapping[str, JSON]:
        found = mapping(position.get(field) or {}, field)
        known(found, self.table.colours, field)
        return found

    def _hand(self, hand: Mapping[str, JSON], what: str) -> tuple[int, ...]:
        known(hand, ("tiles", "unknown"), what)
        faces = self.table.mix.faces[components.RED :]
        tiles = mapping(hand.get("tiles", {}), f"{what}.tiles")
        known(tiles, faces, f"{what}.tiles")
        unknown = whole(hand.get("unknown", 0), f"{what}.unknown")
        return (unknown, *(whole(tiles.get(face, 0), f"{what}.tiles.{face}") for face in faces))

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

    def _seat(self, colour: JSON, what: str) -> int:
        return self.table.colours.index(chosen(colour, self.table.colours, what))

    def _turn(self, position: Mapping[str, JSON]) -> None:
        """Read whose step it is and how far the turn is."""
        s = self.state
        default = "act" if position.get("points") is not None else "start"
        s.phase = PHASES.index(chosen(position.get("phase") or default, PHASES, "phase"))
        to_move = position.get("to_move")
        turn = position.get("turn")
        if turn is None:
            turn = to_move if to_move is not None else self.table.colours[self.table.first]
        s.turn = self._seat(turn, "turn")
        s.melted = flag(position.get("melted", s.phase in (ACT, OVER)), "melted") or s.phase == ACT
        s.points = whole(position.get("points") or 0, "points")
        s.played = sum({1 << PLAYED.index(chosen(tile, PLAYED, "played[]")) for tile in self._played(position)})
        self._pending(mapping(position.get("pending") or {}, "pending"))
        if s.phase in (SETTING, REVEALING, DRAWING):
            s.to_move = CHANCE
        elif s.phase == OVER:
            s.to_move = NOBODY
        else:
            s.to_move = s.defender if s.phase == DEFENDING else s.turn
        if to_move is not None and (s.to_move < 0 or self._seat(to_move, "to_move") != s.to_move):
            phase = PHASES[s.phase]
            raise SetupError(
                "In the phase {phase} of {turn}'s turn to_move is not {shown}.",
                "Dans la phase {phase} du tour de {turn}, to_move n’est pas {shown}.",
                phase=phase,
                turn=turn,
                shown=shown(to_move),
            )
        if s.phase == START:
            s.test_end()

    @staticmethod
    def _played(position: Mapping[str, JSON]) -> Sequence[JSON]:
        return listed(position.get("played") or (), "played")

    def _pending(self, pending: Mapping[str, JSON]) -> None:
        known(pending, ("square", "left", "asked", "drift", "looked"), "pending")
        s = self.state
        s.square = square_of(pending["square"], "pending.square") if "square" in pending else -1
        s.remaining = whole(pending.get("left", 0), "pending.left", 3)
        s.defender = self._seat(pending["asked"], "pending.asked") if "asked" in pending else -1
        looked = listed(pending.get("looked", ()), "pending.looked")
        s.looked = sum({1 << square_of(name, "pending.looked[]") for name in looked})
        s.push = None
        if "drift" in pending:
            drift = listed(pending["drift"], "pending.drift")
            start, direction = drift if len(drift) == 2 else (None, None)
            square = square_of(start, "pending.drift[0]")
            s.push = (square, chosen(direction, tuple(DIRECTIONS), "pending.drift[1]"))
        if not self._phase_fits():
            phase = PHASES[s.phase]
            raise SetupError(
                "The phase {phase} needs in pending what it asks about; see the README of the game.",
                "La phase {phase} demande dans pending ce dont il s’agit ; voir le README du jeu.",
                phase=phase,
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
