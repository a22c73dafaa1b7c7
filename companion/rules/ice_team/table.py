"""What does not change while a game of Ice Team is played."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from companion.rules.core import JSON, Game, SetupError, player_name
from companion.rules.ice_team.board import TrackLayout
from companion.rules.ice_team.components import Box, default_box, read_box
from companion.rules.ice_team.moves import COLOURS, IceMove


@dataclass(frozen=True)
class IceSetup:
    """The game, its boards, box and people; ``said`` is how the layout was named (in the box, or by a description)."""

    game: Game[IceMove]
    layout: TrackLayout
    said: JSON
    box: Box
    names: tuple[str, ...]
    colours: tuple[str, ...]
    options: Mapping[str, JSON]


def make_table(
    game: Game[IceMove],
    players: Sequence[Mapping[str, JSON]],
    options: Mapping[str, JSON] | None,
    given: Mapping[str, Any],
) -> IceSetup:
    """Return the boards, the box and the people of a set-up.

    :raises SetupError: in one sentence.
    """
    box = box_of(given.get("box"))
    said = given.get("layout")
    layout = box.layout(said)
    names, colours = seats_of(players)
    said = next(iter(box.layouts)) if said is None else said
    return IceSetup(game, layout, said, box, names, colours, game.settled_options(options))


def box_of(given: JSON) -> Box:
    """Return the box that an owner entered, or that of the data file.

    :raises SetupError: when what was entered is no box.
    """
    if given is None:
        return default_box()
    if not isinstance(given, Mapping):
        raise SetupError("box is an object.")
    return read_box(given)


def seats_of(players: Sequence[Mapping[str, JSON]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return names and colours in seat order.

    :raises SetupError: when they are no two players of Ice Team.
    """
    if len(players) != 2:
        raise SetupError("Ice Team is for two players, not {count}.", count=len(players))
    names, colours = [], []
    for seat, player in enumerate(players):
        colour = player.get("colour", COLOURS[seat]) if isinstance(player, Mapping) else None
        name = player_name(player.get("name", colour) if isinstance(player, Mapping) else None)
        if not isinstance(colour, str) or colour not in COLOURS:
            raise SetupError("The teams are green and red.")
        names.append(name)
        colours.append(colour)
    if colours[0] == colours[1]:
        raise SetupError("The two teams have different colours.")
    return tuple(names), tuple(colours)
