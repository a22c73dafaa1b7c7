"""Where a position that somebody lays by hand begins, and what may be laid in it; the rules read it from there."""

from __future__ import annotations

from collections.abc import Mapping

from companion.night.games import game_view
from companion.rules import game
from companion.rules.core import JSON


def beginning(game_id: str, options: Mapping[str, JSON], setup: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return ``{"position", "things": [{"id", "en", "fr"}]}``: where laying begins, and the names of what is laid.

    The position is in the one form of a board, in the middle of a game in which nothing has happened yet; ``options``
    are those of the house, ``setup`` is what an owner entered of the box, and the ``layout`` of its boards. Things are
    cards or the faces of floes; a game without things names its pieces by kind and colour.

    :raises companion.rules.core.SetupError: for a game that is not known, or a layout that it does not have.
    """
    rules = game(game_id)
    position, things = game_view(game_id).beginning(setup)
    complete = {**position, "options": rules.settled_options(options)}
    return {"position": complete, "things": [{"id": name, **words.to_json()} for name, words in things]}
