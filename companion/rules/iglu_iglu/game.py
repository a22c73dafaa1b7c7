"""Iglu Iglu: players, options, set-up, notation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from companion.rules.core import JSON, Game, Option, SetupError
from companion.rules.i18n import AND, listed
from companion.rules.iglu_iglu import components, json_reader
from companion.rules.iglu_iglu.board import CENTRE, CENTRE_SQUARES, NUMBER, SEA, SQUARES
from companion.rules.iglu_iglu.json_form import COLOUR, HEAD, form
from companion.rules.iglu_iglu.melting import begin_placing
from companion.rules.iglu_iglu.moves import MOVE_TYPES, IgluMove
from companion.rules.iglu_iglu.notation import parse
from companion.rules.iglu_iglu.position import SETTING, IgluSetup
from companion.rules.iglu_iglu.state import IgluState
from companion.rules.position_form import (
    NEEDED,
    AnyObject,
    ByName,
    DictRecord,
    Field,
    Name,
    OneOf,
    Reading,
    Whole,
    numbered,
)
from companion.rules.rulebook import Rulebook, rulebook

_SETUP = DictRecord(
    Field("tiles", AnyObject()),
    Field("fish", ByName(dict.fromkeys([SQUARES[number] for number in CENTRE_SQUARES], Whole(1, 3))), {}),
    Field("first", COLOUR),
)
_PLAYER = DictRecord(Field("name", Name(), null=False), Field("colour", COLOUR, NEEDED), part=True)
"""What a set-up asks of a player; a table may know more of them."""


class IgluIglu(Game[IgluMove]):
    """Iglu Iglu (Faidutti and Cathala, Goldsieber 2004), with the advanced game as two switches."""

    id = "iglu-iglu"
    players = range(2, 5)
    colours = components.COLOURS
    move_types = MOVE_TYPES
    settable = frozenset({"places", "turn", "to_move", "phase", "points", "melted", "played", "pending", "trophies"})
    options = (
        Option("iglu.no_repick", (True, False), "IGLU-1.6"),
        Option("iglu.animal_move_timing", ("own_turn_any_phase", "phase_2_only"), "IGLU-1.E.12"),
        Option("iglu.end_check_before_thaw", (True, False), "IGLU-E.4"),
        Option("iglu.kayak_from_corner", (False, True), "IGLU-2.A.6"),
        Option("iglu.displace_together", (True, False), "IGLU-1.E.4d"),
        Option("iglu.animals_all_three", ("refuse", "warn"), "IGLU-1.E.11"),
        Option("variant.igloo_block", (False, True), "IGLU-X.1"),
        Option("variant.island_table", (False, True), "IGLU-X.2"),
    )

    @property
    def rulebook(self) -> Rulebook:
        """Return the clauses and sentences."""
        return rulebook(self.id)

    def start(
        self,
        players: Sequence[Mapping[str, JSON]],
        options: Mapping[str, JSON] | None = None,
        setup: Mapping[str, JSON] | None = None,
    ) -> IgluState:
        """Return the first state: chance draws the four fish of the centre, then the inuit are placed.

        ``setup`` may hold ``tiles`` (how many of each face the box has, as an owner counted them), ``fish`` (the four
        fish of the centre, ``{"d4": 2, …}``) and ``first`` (the colour that begins; else the first player named).

        :raises SetupError: in one sentence, when players, options or set-up do not fit.
        """
        names, colours = self._seats(players)
        if len(colours) == 2 and set(colours) != {"red", "blue"}:
            raise SetupError(
                "Two players take the red and the blue tribe (IGLU-S.5), not {colours}.", colours=listed(colours, AND)
            )
        reading = Reading()
        given = _SETUP.read(setup or {}, (None, "setup"), reading)
        first = OneOf(numbered(colours)).read(given["first"] or colours[0], ((None, "setup"), "first"), reading)
        reading.finish()
        s = self._empty(self._table(names, colours, self.settled_options(options), _mix(given["tiles"]), first))
        s.floes = SEA & ~CENTRE
        s.phase = SETTING
        s.set_fish(tuple(sorted(4 * NUMBER[square] + value for square, value in given["fish"].items())))
        return begin_placing(s)

    def parse(self, text: str) -> IgluMove:
        """Return the move that ``text`` says; the notation is in this folder's README.

        :raises InvalidMoveError: when it says none.
        :raises AmbiguousMoveError: when a shortened verb has more than one reading.
        """
        return parse(text)

    def from_position(self, position: Mapping[str, JSON]) -> IgluState:
        """Return a state from the one form of a board; a wrong position is answered by ``problems()``.

        :raises SetupError: when the form is broken, with all that is wrong with it, or says too little for its phase.
        """
        reading = Reading()
        told = HEAD.read(position, None, reading)
        options = reading.options(self, told["options"])
        box = told["box"]
        mix = (
            reading.keep(((None, "box"), "tiles"), lambda: _mix(box["tiles"], real=box["real"]))
            or components.default_mix()
        )
        seats = None
        if told["players"] is None:
            tribes = json_reader.tribes_in(told["places"], position) if reading.sound("places") else components.COLOURS
            seats = tribes, tribes
        elif reading.sound("players"):
            people = [{"name": name or colour, "colour": colour} for name, colour in told["players"]]
            seats = reading.keep((None, "players"), lambda: self._seats(people))
        names, colours = seats or (components.COLOURS, components.COLOURS)
        told = form(colours, mix.faces).read(position, None, reading, told)
        if reading.sound("places"):
            json_reader.check_squares(told["places"], reading)
        if reading.sound("trophies", "piles"):
            json_reader.check_tokens(told, reading)
        reading.finish()
        empty = self._empty(self._table(names, colours, options, mix, told["first"]))
        state, faults = json_reader.Filler(empty.table, empty).fill(told)
        if faults:
            state.table = replace(state.table, faults=tuple(faults))
        return state

    def _seats(self, players: Sequence[Mapping[str, JSON]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        if not isinstance(players, list | tuple) or len(players) not in self.players:
            raise SetupError("Iglu Iglu is for 2 to 4 players.")
        reading = Reading()
        people = [_PLAYER.read(one, ((None, "players"), number), reading) for number, one in enumerate(players, 1)]
        reading.finish()
        colours = [one["colour"] for one in people]
        names = [one["name"] or one["colour"] for one in people]
        if len(set(colours)) < len(colours):
            raise SetupError("Each player has a colour of their own, not {colours}.", colours=", ".join(colours))
        return tuple(names), tuple(colours)

    def _table(
        self,
        names: tuple[str, ...],
        colours: tuple[str, ...],
        settled: dict[str, Any],
        mix: components.Mix,
        first: int,
    ) -> IgluSetup:
        return IgluSetup(
            game=self,
            names=names,
            colours=colours,
            options=settled,
            mix=mix,
            first=first,
            inuit_each=5 if len(colours) == 2 else 3,
            faults=(),
            no_repick=settled["iglu.no_repick"],
            animals_any_phase=settled["iglu.animal_move_timing"] == "own_turn_any_phase",
            end_before_thaw=settled["iglu.end_check_before_thaw"],
            kayak_from_corner=settled["iglu.kayak_from_corner"],
            together=settled["iglu.displace_together"],
            all_three=settled["iglu.animals_all_three"] == "refuse",
            igloo_block=settled["variant.igloo_block"],
            island_table=settled["variant.island_table"],
        )

    @staticmethod
    def _empty(table: IgluSetup) -> IgluState:
        """Return a state with nothing on the board, everything in the box."""
        s = object.__new__(IgluState)
        seats = table.players
        s.table = table
        s.phase = SETTING
        s.turn = s.to_move = table.first
        s.floes = s.packs = s.bears = s.inuit_squares = s.igloo_squares = 0
        s.inuit = ((),) * seats
        s.inuit_at = s.igloos = (0,) * seats
        s.set_fish(())
        s.set_fox(())
        s.trophies = (0,) * seats
        s.removed = 0
        s.tiles = table.mix.counts
        s.hands = ((0,) * (len(table.mix.faces) - components.RED + 1),) * seats
        s.points = s.played = s.remaining = s.looked = 0
        s.melted = False
        s.square = s.defender = -1
        s.push = None
        return s


def _mix(tiles: Mapping[str, JSON] | None, *, real: bool = True) -> components.Mix:
    return components.default_mix() if tiles is None else components.mix(tiles, real=real)


GAME = IgluIglu()
