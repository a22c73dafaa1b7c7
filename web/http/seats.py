"""Who sits where: a phone that is called as a player has that player's seat, without anybody taking it.

A hand is shown on the phone that has its seat. Names are told by whoever holds the phone, as seats are taken: both are
for a table that trusts its guests with the PIN.
"""

from __future__ import annotations

from contextlib import suppress

from companion.night.people import PeopleError
from companion.rules.names import name_key
from web.protocols.companion import CompanionApi

TOPIC = "seats"
"""What streams hear when a phone may have another name or seat: each asks then for its own."""


def remember(companion: CompanionApi, name: str) -> None:
    """Have whoever said a name among the people of the house; one who is known already, or too many, is no matter."""
    with suppress(PeopleError):
        companion.people.add(name)


def seat_by_name(companion: CompanionApi, *, anew: bool = False) -> None:
    """Give each player's seat that no phone has to the phone that is called so, the last to join where there are more.

    With ``anew`` all seats are given back before: in a new game nobody sees the hand of somebody else who took the
    colour over.
    """
    match, sessions = companion.night.view()["match"], companion.access.sessions()
    taken = {} if anew else {one.colour: one for one in sessions if one.colour is not None}
    seated = {one.id for one in taken.values()}
    wanted = {one.id: None for one in sessions if anew and one.colour is not None}
    for player in match["players"] if match is not None else ():
        key = name_key(player["name"])
        phones = [one for one in sessions if one.id not in seated and one.label and name_key(one.label) == key]
        if phones and player["colour"] not in taken:
            wanted[phones[-1].id] = player["colour"]
            seated.add(phones[-1].id)
    for session, colour in wanted.items():
        companion.access.bind(session, colour)
    companion.hub.publish(TOPIC, {})
