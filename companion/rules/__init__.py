"""The rules of the games: pure, complete, and able to cite themselves.

>>> from companion.rules import game
>>> game("igloo-pop").players
range(2, 7)
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from companion.rules.core import Game

# id -> the module that holds the game as GAME; it is imported when the game is first asked for.
_MODULES = {
    "igloo-pop": "companion.rules.igloo_pop",
    "iglu-iglu": "companion.rules.iglu_iglu",
    "arctic": "companion.rules.arctic",
    "ice-team": "companion.rules.ice_team",
    "thin-ice": "companion.rules.thin_ice",
}


def games() -> tuple[str, ...]:
    """Return the ids of the games that are here, without importing them."""
    return tuple(name for name, module in _MODULES.items() if _is_here(module))


def _is_here(module: str) -> bool:
    spec = importlib.util.find_spec(module)
    return spec is not None and spec.origin is not None


def game(game_id: str) -> Game[Any]:
    """Return a game by its id.

    :raises SetupError: when there is no such game.
    """
    if game_id not in games():
        from companion.rules.core import SetupError  # noqa: PLC0415 - only the refusal needs it

        there = ", ".join(games())
        raise SetupError(
            "There is no game {game_id!r}; there is {there}.",
            "Il n’y a pas de jeu {game_id!r} ; il y a {there}.",
            game_id=str(game_id)[:40],
            there=there,
        )
    found: Game[Any] = importlib.import_module(_MODULES[game_id]).GAME
    return found
