"""A photo of the table at the end of a game, read for its score sheet: what lies where, and what a person checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from companion.follow import messages
from companion.ports import BadDataError
from vision.read.count_constraints import summed

if TYPE_CHECKING:
    from companion.follow.table_model import SeenTable
    from companion.ports import ByteArray


def read_sheet(table: SeenTable, image: ByteArray) -> dict[str, Any]:
    """Return what lies in each place of a picture (BGR), and where in it the place is, for the page.

    Where it is known how many there are of a thing, they add up.

    :raises BadDataError: no board is found, or nothing was taught.
    """
    seen = table.look(image)
    if seen.pose is None or seen.straight is None:
        raise BadDataError(seen.note)
    strips = table.strips
    width, height = seen.pose.size
    return {
        "width": width,
        "height": height,
        "places": {
            name: {**place.content.to_json(table.layout), "p": round(place.p, 3), "unsure": place.unsure}
            for name, place in summed(seen, strips.read(seen.straight)).items()
        },
        "cells": table.cells(seen.pose),
        "grounds": list(table.layout.grounds),
        "things": table.things(),
        "untaught": _untaught(table),
        "note": messages.NOT_TAUGHT_ALONE if strips.lacking else "",
    }


def _untaught(table: SeenTable) -> dict[str, list[Any]]:
    """Return the grounds and things that were never taught: they are read as something else, sometimes surely.

    Things in a colour of which nothing was taught belong to nobody at this table.
    """
    layout, most = table.layout, table.most()
    shots = table.profile.shots if table.profile is not None else ()
    seen = {content.ground for shot in shots for content in shot.contents.values()}
    colours = {None, *(layout.things[thing].colour for thing in most)}
    things = [t.to_json() for n, t in enumerate(layout.things) if n not in most and t.colour in colours]
    return {"grounds": [name for n, name in enumerate(layout.grounds) if n not in seen], "things": things}
