"""Ice Team as a :class:`~companion.rules.core.Game`: options, set-up, notation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from companion.rules.core import JSON, Game, InvalidMoveError, Option, Reason, Ruling, SetupError
from companion.rules.ice_team.json_reader import from_json
from companion.rules.ice_team.moves import COLOURS, IceMove, parse_move
from companion.rules.ice_team.state import IceTeamState
from companion.rules.ice_team.table import make_table
from companion.rules.rulebook import Rulebook, rulebook

SETUP_KEYS = ("box", "first", "floes", "layout")


class IceTeam(Game[IceMove]):
    """Ice Team for two. A set-up may give the box, a layout, the floes that lie on it, and who begins."""

    id: ClassVar[str] = "ice-team"
    players: ClassVar[range] = range(2, 3)
    colours: ClassVar[tuple[str, ...]] = COLOURS
    options: ClassVar[tuple[Option, ...]] = (
        Option("ice.simple_drift_straight", (False, True), "ICE-2.6a"),
        Option("ice.block_picks_up", (True, False), "ICE-2.6b"),
        Option("ice.blocked_second_action", ("forfeit", "lose"), "ICE-E.3"),
    )
    move_types: ClassVar[tuple[type, ...]] = (IceMove,)
    settable = frozenset({"places", "turn", "to_move", "phase", "actions", "pending", "removed"})

    @property
    def rulebook(self) -> Rulebook:
        """Return the clauses and sentences of Ice Team."""
        return rulebook(self.id)

    def start(
        self,
        players: Sequence[Mapping[str, JSON]],
        options: Mapping[str, JSON] | None = None,
        setup: Mapping[str, JSON] | None = None,
    ) -> IceTeamState:
        """Return the first state; floes and first player that the set-up leaves out come by chance steps.

        ``setup``: ``box`` (the owner's, in the form of the data file), ``layout`` (a name in it, or a description in
        its form), ``floes`` {space: face}, ``first`` (a colour).

        :raises SetupError: in one sentence.
        """
        given = dict(setup or {})
        if not set(given) <= set(SETUP_KEYS):
            known = ", ".join(SETUP_KEYS)
            raise SetupError("A set-up of Ice Team has {known} and nothing else.", known=known)
        state = self.empty(players, options, given)
        for move in _setup_moves(given):
            if state.refusal(move) is not None:
                ruling = state.check(move)
                raise SetupError("The set-up does not fit at {move!r}: {why}", move=str(move), why=ruling.words)
            state = state.after(move)
        return state

    def empty(
        self, players: Sequence[Mapping[str, JSON]], options: Mapping[str, JSON] | None, given: Mapping[str, Any]
    ) -> IceTeamState:
        """Return the boards of a set-up without floes, for the players.

        :raises SetupError: in one sentence.
        """
        return IceTeamState(make_table(self, players, options, given))

    def parse(self, text: str) -> IceMove:
        """Return the step that ``text`` says."""
        return parse_move(text)

    def from_position(self, position: Mapping[str, JSON]) -> IceTeamState:
        """Return a state from the one form of a board."""
        return from_json(self, position)

    def warnings(self, setup: Mapping[str, JSON] | None = None) -> tuple[Ruling, ...]:
        """Return what is doubtful about the box of a set-up (none: the data file), each as a ruling with its clauses.

        >>> from companion.rules import game
        >>> [warning.clauses[-1] for warning in game("ice-team").warnings()]
        ['ICE-K.10', 'ICE-K.9']

        :raises SetupError: when the set-up's box is none.
        """
        state = self.empty(self.seats(2), None, dict(setup or {}))
        return tuple(self.rulebook.ruling(True, Reason(key), state) for key in state.table.box.warnings())


def _setup_moves(given: Mapping[str, Any]) -> list[IceMove]:
    floes = given.get("floes", {})
    if not isinstance(floes, Mapping):
        raise SetupError("floes maps spaces to faces.")
    try:
        moves = [parse_move(f"floe {space} {face}") for space, face in floes.items()]
        return [*moves, parse_move(f"first {given['first']}")] if "first" in given else moves
    except InvalidMoveError as error:
        raise SetupError("{why}", why=error.words) from error


GAME = IceTeam()
