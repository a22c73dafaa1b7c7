"""Thin Ice as a game: its players, its set-up and its notation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from companion.rules.core import JSON, Game, InvalidMoveError, Option, SetupError, player_name
from companion.rules.position_form import Reading
from companion.rules.rulebook import Rulebook, rulebook
from companion.rules.thin_ice.json_form import COLOURS, FORM, cells_of
from companion.rules.thin_ice.state import DICE, PUTS, ThinIceMove, ThinIceState

MOVES: Final = {str(move): move for move in (*PUTS, *DICE)}


class ThinIce(Game[ThinIceMove]):
    """Thin Ice for two. Red begins; it has neither options nor a set-up."""

    id: ClassVar[str] = "thin-ice"
    players: ClassVar[range] = range(2, 3)
    colours: ClassVar[tuple[str, ...]] = COLOURS
    options: ClassVar[tuple[Option, ...]] = ()
    move_types: ClassVar[tuple[type, ...]] = (ThinIceMove,)
    settable = frozenset({"places", "turn", "phase", "last"})

    @property
    def rulebook(self) -> Rulebook:
        """Return the clauses and sentences of Thin Ice."""
        return rulebook(self.id)

    def start(
        self,
        players: Sequence[Mapping[str, JSON]],
        options: Mapping[str, JSON] | None = None,
        setup: Mapping[str, JSON] | None = None,
    ) -> ThinIceState:
        """Return the first state.

        :raises SetupError: in one sentence, when players, options or set-up do not fit.
        """
        self.settled_options(options)
        if setup:
            raise SetupError("Thin Ice has no set-up.")
        names = (player.get("name") for player in players)
        return ThinIceState(self, tuple(player_name(name) if name else "" for name in names))

    def parse(self, text: str) -> ThinIceMove:
        """Return the move that ``text`` says.

        :raises InvalidMoveError: when it says none.
        """
        move = MOVES.get(" ".join(text.casefold().split()))
        if move is None:
            raise InvalidMoveError("A move of Thin Ice is put a1 … put c3, roll hold or roll crack.")
        return move

    def from_position(self, position: Mapping[str, JSON]) -> ThinIceState:
        """Return a state from the one form of a board; a square that is not told is a free floe.

        :raises SetupError: when the form itself is broken.
        """
        reading = Reading()
        told = FORM.read(position, None, reading)
        reading.options(self, told["options"] if reading.sound("options") else None)
        reading.finish()
        cells, last = cells_of(told["places"]), told["last"]
        if last is None and told["phase"] == "roll":
            raise SetupError("Say for which square the die is rolled.")
        names = {colour: name for name, colour in told["players"] if name}
        return ThinIceState(self, tuple(names.get(one, one) for one in COLOURS), cells, told["turn"], last)


GAME: Final = ThinIce()
"""The one instance; the registry hands it out."""
