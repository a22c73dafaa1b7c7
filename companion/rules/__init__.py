"""The rules of the games: pure, complete, and able to cite themselves. This is the registry: a game is a folder here.

A folder is a game when its ``__init__.py`` says where it stands among the games of the page, in a line of its own:
``PLACE = 3``, or ``PLACE = None`` for an example, which only a developer sees. The game's id is the folder's name with
hyphens. The folder offers the game as ``GAME``; whatever else a room needs of it stands in a module of a known name.

>>> from companion.rules import game
>>> game("igloo-pop").players
range(2, 7)
"""

from __future__ import annotations

import importlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

    from companion.rules.core import Game


def games(*, examples: bool = False) -> tuple[str, ...]:
    """Return the ids of the games that are here, in the order of the page, without importing them.

    ``examples``: with those for developers, which come last; everybody finds one by its id, but nobody is offered it.
    """
    return tuple(name for name, place in _places(tuple(__path__)).items() if examples or place is not None)


def package_name(game_id: str) -> str:
    """Return what a game is called where a name may have no hyphens: its folder, its modules in other rooms."""
    return game_id.replace("-", "_")


@cache
def _places(folders: tuple[str, ...]) -> dict[str, int | None]:
    """Return the games below some folders, each with its place, in the order of places and ids; examples last."""
    found: dict[str, int | None] = {}
    for folder in folders:
        for source in Path(folder).glob("*/__init__.py"):
            # Importing a game, to ask for a number, would make each start of the command line slow.
            for line in source.read_text(encoding="utf-8").splitlines():
                name, _, value = line.partition(" = ")
                if name == "PLACE":
                    found[source.parent.name.replace("_", "-")] = None if value == "None" else int(value)
    return dict(sorted(found.items(), key=lambda one: (one[1] is None, one[1] or 0, one[0])))


def game(game_id: str) -> Game[Any]:
    """Return a game by its id, an example too.

    :raises SetupError: when there is no such game.
    """
    if game_id not in games(examples=True):
        from companion.rules.core import SetupError  # noqa: PLC0415 - only the refusal needs it

        there = ", ".join(games())
        raise SetupError("There is no game {game_id!r}; there is {there}.", game_id=str(game_id)[:40], there=there)
    found: Game[Any] = importlib.import_module(f"{__name__}.{package_name(game_id)}").GAME
    return found


def find_part(package: str, game_id: str, module: str = "") -> ModuleType | None:
    """Import what a game has in another room, or in a part of its own folder; None where it has nothing there.

    ``find_part("companion.night.games", "igloo-pop")`` is ``companion.night.games.igloo_pop``; a ``module`` is looked
    for inside that.
    """
    if game_id not in games(examples=True):
        return None
    wanted = ".".join(filter(None, (package, package_name(game_id), module)))
    try:
        return importlib.import_module(wanted)
    except ModuleNotFoundError as error:
        # A module that the part itself misses is no part that is missing.
        if not f"{wanted}.".startswith(f"{error.name}."):
            raise
        return None
