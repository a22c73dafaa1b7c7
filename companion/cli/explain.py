"""`companion explain`: two positions a turn apart, and the legal turns between them, or the clauses in the way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click
from rich.text import Text

from companion.cli.rules_text import MARKS, as_json, console, emit, language, read_json, ruling_text
from companion.rules import game
from companion.rules.core import JSON, SetupError
from companion.rules.rulebook import rulebook
from companion.rules.turns import Evidence, Explanation, cases, explain

FILE = click.Path(exists=True, dir_okay=False, allow_dash=True)


@click.command()
@click.argument("game_id", metavar="GAME")
@click.argument("before", type=FILE)
@click.argument("after", type=FILE)
@language
@as_json
def command(game_id: str, before: str, after: str, lang: str, json_: bool) -> int:
    """Say how AFTER came from BEFORE, two positions a whole turn of GAME apart.

    In AFTER a place may be missing or null: then it is unknown. Where BEFORE tells no hands, any tile may have been
    played; where it tells no turn, anybody may have moved.

    Exit status 1: no legal turn leads there, or AFTER is impossible.
    """
    first, last = _position(before), _position(after)
    states = cases(game_id, first)
    _read(game_id, {**last, "places": {**first["places"], **_told(last)}})
    evidence = Evidence.of_position(last)
    found = [explain(state, evidence) for state in states]
    best = min(found, key=lambda e: (not e.legal, len(e.differences) or 99, len(e.turns[0].moves) if e.legal else 0))
    problems = _problems(game_id, last, lang)
    if json_:
        emit({**best.to_json(), "problems": problems})
    else:
        _show(best, problems, lang)
    return 0 if best.legal else 1


def _position(path: str) -> dict[str, JSON]:
    found = read_json(path)
    if not isinstance(found, dict) or not isinstance(found.get("places"), dict):
        raise SetupError(f"{path} holds no position: an object with places.", f"{path} ne contient pas de position.")
    return found


def _told(position: Mapping[str, JSON]) -> dict[str, JSON]:
    return {name: place for name, place in position["places"].items() if place is not None}


def _read(game_id: str, position: Mapping[str, JSON]) -> Any:
    return game(game_id).from_position(position)


def _problems(game_id: str, position: Mapping[str, JSON], lang: str) -> list[str]:
    """Return what is wrong with a position that tells every place; nothing where one is unknown."""
    try:
        state = _read(game_id, position)
    except SetupError:
        return []
    return [rulebook(game_id).problem(problem, state, lang) for problem in state.problems()]


def _show(found: Explanation, problems: list[str], lang: str) -> None:
    out, french = console(), lang == "fr"
    mark, colour = MARKS[found.legal]
    headline = Text(f"{mark} ", style=colour)
    if found.legal:
        headline.append("Un tour permis y mène :" if french else "A legal turn leads there:")
        out.print(headline)
        for turn in found.turns:
            out.print(f"  {', '.join(map(str, turn.moves))}")
    else:
        en, fr = found.sentences()[0].split(".")[0], found.sentences()[1].split(".")[0]
        headline.append(f"{fr if french else en}.")
        out.print(headline)
        for move, ruling in found.rulings:
            out.print(Text(f"  {move}: ").append_text(ruling_text(ruling, lang)))
        if found.nearest is not None:
            moves = ", ".join(map(str, found.nearest.moves))
            out.print(f"{'Le tour permis le plus proche' if french else 'The nearest legal turn'}: {moves}")
            places = ", ".join(difference.place for difference in found.differences)
            out.print(f"{'Il laisse autre chose en' if french else 'It leaves something else on'} {places}.")
    for problem in problems:
        out.print(Text(f"! {problem}", style="yellow"))
