"""Iglu Iglu: players, options, set-up, notation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from companion.rules.core import JSON, Game, Option, SetupError
from companion.rules.i18n import AND, listed
from companion.rules.iglu_iglu import components, json_reader
from companion.rules.iglu_iglu.board import CENTRE, CENTRE_SQUARES, NUMBER, SEA, SQUARES
from companion.rules.iglu_iglu.melting import begin_placing
from companion.rules.iglu_iglu.moves import MOVE_TYPES, IgluMove
from companion.rules.iglu_iglu.notation import parse
from companion.rules.iglu_iglu.position import SETTING, IgluSetup
from companion.rules.iglu_iglu.state import IgluState
from companion.rules.rulebook import Rulebook, rulebook

MOST_NAME = 40


class IgluIglu(Game[IgluMove]):
    """Iglu Iglu (Faidutti and Cathala, Goldsieber 2004), with the advanced game as two switches."""

    id = "iglu-iglu"
    players = range(2, 5)
    colours = components.COLOURS
    move_types = MOVE_TYPES
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
                "Two players take the red and the blue tribe (IGLU-S.5), not {colours}.",
                "À deux, on prend les tribus rouge et bleue (IGLU-S.5), pas {colours}.",
                colours=listed(colours, AND),
            )
        given = json_reader.mapping(setup or {}, "setup")
        json_reader.known(given, ("tiles", "fish", "first"), "setup")
        mix = self._mix({"tiles": given["tiles"]} if "tiles" in given else {})
        first = colours.index(json_reader.chosen(given.get("first", colours[0]), colours, "setup.first"))
        s = self._empty(self._table(names, colours, options, mix, first))
        s.floes = SEA & ~CENTRE
        s.phase = SETTING
        fish = []
        for square, value in json_reader.mapping(given.get("fish") or {}, "setup.fish").items():
            json_reader.chosen(square, [SQUARES[number] for number in CENTRE_SQUARES], "setup.fish")
            if value == 0 or json_reader.whole(value, f"setup.fish.{square}", 3) == 0:
                raise SetupError(
                    "setup.fish.{square} is 1, 2 or 3, not 0.",
                    "setup.fish.{square} est 1, 2 ou 3, pas 0.",
                    square=square,
                )
            fish.append(4 * NUMBER[square] + value)
        s.set_fish(tuple(sorted(fish)))
        return begin_placing(s)

    def parse(self, text: str) -> IgluMove:
        """Return the move that ``text`` says; the notation is in this folder's README.

        :raises InvalidMoveError: when it says none.
        :raises AmbiguousMoveError: when a shortened verb has more than one reading.
        """
        return parse(text)

    def from_position(self, position: Mapping[str, JSON]) -> IgluState:
        """Return a state from the one form of a board; a wrong position is answered by ``problems()``.

        :raises SetupError: in one sentence, when the form is broken or a square is not told.
        """
        places = json_reader.check_form(position)
        if position.get("players") is None:
            colours = tuple(json_reader.tribes_in(position))
            names = colours
        else:
            names, colours = self._seats(json_reader.listed(position["players"], "players"))
        mix = self._mix(json_reader.mapping(position.get("box") or {}, "box"))
        first = colours.index(json_reader.chosen(position.get("first", colours[0]), colours, "first"))
        options = json_reader.mapping(position.get("options") or {}, "options")
        empty = self._empty(self._table(names, colours, options, mix, first))
        state, faults = json_reader.Reader(empty.table, empty).read(position, places)
        if faults:
            state.table = replace(state.table, faults=tuple(faults))
        return state

    def _seats(self, players: Sequence[Mapping[str, JSON]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        if not isinstance(players, list | tuple) or len(players) not in self.players:
            raise SetupError("Iglu Iglu is for 2 to 4 players.", "Iglu Iglu se joue de 2 à 4 joueurs.")
        names, colours = [], []
        for number, player in enumerate(players, 1):
            found = json_reader.mapping(player, f"players[{number}]")
            colour = json_reader.chosen(found.get("colour"), components.COLOURS, f"players[{number}].colour")
            name = found.get("name", colour)
            if not isinstance(name, str) or not 0 < len(name.strip()) <= MOST_NAME:
                raise SetupError(
                    "The name of player {number} has 1 to {most} characters.",
                    "Le nom du joueur {number} a de 1 à {most} caractères.",
                    number=number,
                    most=MOST_NAME,
                )
            names.append(name.strip())
            colours.append(colour)
        if len(set(colours)) < len(colours):
            raise SetupError(
                "Each player has a colour of their own, not {colours}.",
                "Chaque joueur a sa propre couleur, pas {colours}.",
                colours=", ".join(colours),
            )
        return tuple(names), tuple(colours)

    def _mix(self, given: Mapping[str, JSON]) -> components.Mix:
        json_reader.known(given, ("tiles", "real"), "box")
        if "tiles" not in given:
            return components.default_mix()
        return components.mix(
            json_reader.mapping(given["tiles"], "tiles"), real=json_reader.flag(given.get("real", True), "box.real")
        )

    def _table(
        self,
        names: tuple[str, ...],
        colours: tuple[str, ...],
        options: Mapping[str, JSON] | None,
        mix: components.Mix,
        first: int,
    ) -> IgluSetup:
        settled: dict[str, Any] = self.settled_options(options)
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


GAME = IgluIglu()
