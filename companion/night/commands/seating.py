"""Who sits where: the players that a command names, as seats of people who are known or new."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from companion.night.commands.bodies import SeatedPlayer
from companion.night.commands.context import printable, refused
from companion.night.log.match import Seat
from companion.rules.core import Game


def seated(players: Sequence[SeatedPlayer], known: Mapping[str, str | None]) -> tuple[tuple[Seat, ...], dict[str, str]]:
    """Return the seats, and who is new among them; a name that was here before is the same person.

    :raises companion.night.commands.context.CommandRefusedError: for players that cannot be.
    """
    by_name = {name.casefold(): person for person, name in known.items() if name}
    seats: list[Seat] = []
    people: dict[str, str] = {}
    for player in players:
        if player.colour is None:
            raise refused("bad-input", "bad-field", field="colour")
        name = printable(player.name)
        person = by_name.get(name.casefold()) if name else None
        if name and person is None:
            person = by_name[name.casefold()] = uuid.uuid4().hex[:12]
            people[person] = name
        if person is not None and any(seat.person == person for seat in seats):
            raise refused("refused", "same-name", name=name)
        seats.append(Seat(person, name, player.colour))
    return tuple(seats), people


def right_seats(rules: Game[Any], seats: tuple[Seat, ...]) -> None:
    """Return quietly when a game without colours has the seats p1, p2 … in their order.

    :raises companion.night.commands.context.CommandRefusedError: otherwise.
    """
    if rules.colours:
        return
    if [seat.colour for seat in seats] != [f"p{n + 1}" for n in range(len(seats))]:
        raise refused("bad-input", "bad-field", field="colour")
