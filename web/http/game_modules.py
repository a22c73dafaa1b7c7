"""The games' own modules of the page, and the registry that imports those of the games that are offered.

What the page knows of a game stands in one module, ``js/games/<id>.js``, or in a folder of the game's with
``game.js`` in it (its form: ``static/js/README.md``). The registry is written here and lies in no folder, so a new game
is a new file and no line elsewhere; it adds what the rulebook knows already: the name, and how clauses begin.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Container, Sequence

from companion.rules.rulebook import rulebook

REGISTRY = "js/registry.js"
"""The name of the module that is written here."""
PART = re.compile(r'\b(\w+): \(\) => import\("(\.{1,2}/[\w./-]+)"\)')
"""How a game's module names a part that is fetched when it is needed: ``sheet: () => import("./sheet.js")``."""

log = logging.getLogger(__name__)


def module_of(names: Container[str], game_id: str) -> str | None:
    """Return the name of a game's module among those of all files; None where the page knows nothing of the game."""
    found = (f"js/games/{game_id}.js", f"js/games/{game_id}/game.js")
    return next((name for name in found if name in names), None)


def registry(names: Container[str], offered: Sequence[str]) -> str:
    """Return a module with the offered games in their order; those that have no module are left out, and logged."""
    imports, entries = [], []
    for number, game_id in enumerate(offered):
        module = module_of(names, game_id)
        if module is None:
            log.warning("The page has no module for the game %s: it is left out of the page.", game_id)
            continue
        imports.append(f'import game{number} from "./{module.removeprefix("js/")}";\n')
        book = rulebook(game_id)
        known = {"id": game_id, "name": book.name.to_json(), "clauses": next(iter(book.clauses)).partition("-")[0]}
        entries.append(f"  {{ ...game{number}, {json.dumps(known, ensure_ascii=False)[1:-1]} }},\n")
    return f"{''.join(imports)}export const GAMES = [\n{''.join(entries)}];\n"
