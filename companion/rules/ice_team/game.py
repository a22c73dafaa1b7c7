"""Ice Team as a :class:`~companion.rules.core.Game`: options, set-up, notation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from companion.rules.core import JSON, Game, InvalidMoveError, Option, SetupError
from companion.rules.ice_team.box import Box, default_box, read_box
from companion.rules.ice_team.moves import COLOURS, IceMove, parse_move
from companion.rules.ice_team.position import from_json
from companion.rules.ice_team.state import IceTeamState
from companion.rules.rulebook import Rulebook, rulebook

SETUP_KEYS = frozenset({"box", "layout", "floes", "first"})


class IceTeam(Game[IceMove]):
    """Ice Team for two. A set-up may give the box, a layout's name, the floes that lie on it, and who begins."""

    id: ClassVar[str] = "ice-team"
    players: ClassVar[range] = range(2, 3)
    colours: ClassVar[tuple[str, ...]] = COLOURS
    options: ClassVar[tuple[Option, ...]] = (
        Option("ice.simple_drift_straight", (False, True), "ICE-2.6a"),
        Option("ice.block_picks_up", (True, False), "ICE-2.6b"),
        Option("ice.blocked_second_action", ("forfeit", "lose"), "ICE-E.3"),
    )
    move_types: ClassVar[tuple[type, ...]] = (IceMove,)

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

        ``setup``: ``box`` (the owner's, in the form of the data file), ``layout`` (a name in it), ``floes``
        {space: face}, ``first`` (a colour).

        :raises SetupError: in one sentence.
        """
        given = dict(setup or {})
        unknown = set(given) - SETUP_KEYS
        if unknown:
            raise SetupError(
                f"A set-up of Ice Team has {', '.join(sorted(SETUP_KEYS))}, not {', '.join(sorted(unknown))}.",
                f"Une mise en place d'Ice Team a {', '.join(sorted(SETUP_KEYS))}, pas {', '.join(sorted(unknown))}.",
            )
        state = self.empty(players, options, given)
        for move in _setup_moves(given):
            if state.refusal(move) is not None:
                ruling = state.check(move)
                raise SetupError(
                    f"The set-up does not fit at {str(move)!r}: {ruling.en}",
                    f"La mise en place ne convient pas à {str(move)!r} : {ruling.fr}",
                )
            state = state.after(move)
        return state

    def empty(
        self, players: Sequence[Mapping[str, JSON]], options: Mapping[str, JSON] | None, given: Mapping[str, Any]
    ) -> IceTeamState:
        """Return the boards without floes, for the players."""
        box: Box = read_box(given["box"]) if isinstance(given.get("box"), Mapping) else default_box()
        layout = box.layout(str(given.get("layout", next(iter(box.layouts), ""))))
        return IceTeamState(self, layout, box, _players(players), self.settled_options(options))

    def parse(self, text: str) -> IceMove:
        """Return the step that ``text`` says."""
        return parse_move(text)

    def from_position(self, position: Mapping[str, JSON]) -> IceTeamState:
        """Return a state from the one form of a board."""
        return from_json(self, position)


def _players(players: Sequence[Mapping[str, JSON]]) -> tuple[tuple[str, str], ...]:
    if len(players) != 2:
        raise SetupError(
            f"Ice Team is for two players, not {len(players)}.", f"Ice Team se joue à deux, pas à {len(players)}."
        )
    found = []
    for seat, player in enumerate(players):
        name = player.get("name") if isinstance(player, Mapping) else None
        colour = player.get("colour", COLOURS[seat]) if isinstance(player, Mapping) else None
        if not isinstance(name, str) or not name.strip() or len(name) > 60:
            raise SetupError("Every player has a name of 1 to 60 characters.", "Chacun a un nom de 1 à 60 caractères.")
        if colour not in COLOURS:
            raise SetupError("The teams are green and red.", "Les équipes sont green (vert) et red (rouge).")
        found.append((name.strip(), colour))
    if found[0][1] == found[1][1]:
        raise SetupError("The two teams have different colours.", "Les deux équipes ont des couleurs différentes.")
    return tuple(found)


def _setup_moves(given: Mapping[str, Any]) -> list[IceMove]:
    floes = given.get("floes", {})
    if not isinstance(floes, Mapping):
        raise SetupError("floes maps spaces to faces.", "floes associe des cases à des faces.")
    try:
        moves = [parse_move(f"floe {space} {face}") for space, face in floes.items()]
        return [*moves, parse_move(f"first {given['first']}")] if "first" in given else moves
    except InvalidMoveError as error:
        raise SetupError(error.en, error.fr) from error


GAME = IceTeam()
