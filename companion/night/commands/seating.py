"""Who sits where: the players that a command names, as seats of people who are known or new."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from companion.night.commands.bodies import SeatedPlayer
from companion.night.commands.context import refused
from companion.night.log.match import Seat
from companion.rules.core import Game
from companion.rules.names import LONGEST_NAME, name_key, proper_name, told_apart


def seated(players: Sequence[SeatedPlayer], known: Mapping[str, str | None]) -> tuple[tuple[Seat, ...], dict[str, str]]:
    """Return the seats, and who is new among them; a name that was here before is the same person.

    The second Ann at a table is somebody else, who is called "Ann (2)" from now on.

    :raises companion.night.commands.context.CommandRefusedError: for players that cannot be.
    """
    by_name = {name_key(name): person for person, name in known.items() if name}
    seats: list[Seat] = []
    people: dict[str, str] = {}
    for player, name in zip(players, told_apart([_name(player) for player in players]), strict=True):
        if player.colour is None:
            raise refused("bad-input", "bad-field", field="colour")
        person = by_name.get(name_key(name)) if name else None
        if name and person is None:
            person = by_name[name_key(name)] = uuid.uuid4().hex[:12]
            people[person] = name
        seats.append(Seat(person, name, player.colour))
    return tuple(seats), people


def _name(player: SeatedPlayer) -> str:
    name = proper_name(player.name) if player.name.strip() else ""
    if name is None:
        raise refused("bad-input", "bad-name", most=LONGEST_NAME)
    return name


def right_seats(rules: Game[Any], seats: tuple[Seat, ...]) -> None:
    """Return quietly when a game without colours has the seats p1, p2 … in their order.

    :raises companion.night.commands.context.CommandRefusedError: otherwise.
    """
    if rules.colours:
        return
    if [seat.colour for seat in seats] != [f"p{n + 1}" for n in range(len(seats))]:
        raise refused("bad-input", "bad-field", field="colour")
