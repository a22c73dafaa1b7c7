"""`companion explain`: two positions a turn apart, and the legal turns between them, or the clauses in the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from companion.cli.printing import MARKS, as_json, console, emit, language, read_json, ruling_text, write_picture
from companion.rules import game
from companion.rules.core import JSON, InvalidMoveError, Ruling, SetupError, State
from companion.rules.i18n import Words
from companion.rules.inference.explain import explain_best
from companion.rules.inference.explanation import DECIDES, Explanation, FieldDifference, Told, told
from companion.rules.inference.turns import Evidence, cases
from companion.rules.rulebook import rulebook

FILE = click.Path(exists=True, dir_okay=False, allow_dash=True)
SHARED = ("players", "options", "layout", "box", "packs", "powers", "first")
"""What a game keeps from one position to the next, where the second does not tell it."""


@click.command()
@click.argument("game_id", metavar="GAME")
@click.argument("before", type=FILE)
@click.argument("after", type=FILE)
@click.option(
    "--svg",
    type=click.Path(path_type=Path),
    help="Draw the first refused step (or else the last of the turn) into this file, or all steps into this folder.",
)
@language
@as_json
def command(game_id: str, before: str, after: str, svg: Path | None, lang: str, json_: bool) -> int:
    """Say how AFTER came from BEFORE, two positions a whole turn of GAME apart (of Igloo Pop: of one round).

    In AFTER a place may be missing or null, and so may all that stands beside the places: then it is unknown. Where
    BEFORE tells no hands, any card or tile may have been played; where it tells no turn, anybody may have moved.

    With --svg come pictures of what is said: BEFORE with the steps that are refused, or the steps of the shortest turn,
    each in the position it is taken in; one where a file NAME.svg is named, all where a folder is.

    Exit status 1: no legal turn leads there, or AFTER is impossible.
    """
    first, last = _position(before), _position(after)
    states = cases(game_id, first)
    whole = _whole(first, last)
    _read(game_id, whole)
    evidence = Evidence.of_position(last, game_id)
    start, best = explain_best(states, evidence)
    problems = _problems(game_id, whole, states[0], evidence, best.legal, lang)
    if json_:
        emit({**best.to_json(), "problems": problems})
    else:
        show(best, start, problems, lang)
    if svg is not None:
        _draw(svg, start, best, lang)
    return 0 if best.legal else 1


def _draw(path: Path, start: State[Any], found: Explanation, lang: str) -> None:
    """Draw refused steps, or those of the shortest turn; BEFORE alone where neither is known."""
    pictures: list[tuple[State[Any], Any, Ruling | None]] = []
    if found.legal:
        state = start
        for move in found.turns[0].moves:
            pictures.append((state, move, None))
            state = state.after(move)
    else:
        for text, refusal in found.rulings:
            with suppress(InvalidMoveError):  # what is refused may be more than one move
                pictures.append((start, start.game.parse(str(text)), refusal))
    pictures = pictures or [(start, None, None)]
    if path.suffix.lower() == ".svg":
        write_picture(path, *pictures[-1 if found.legal else 0], lang=lang)
        return
    path.mkdir(parents=True, exist_ok=True)
    for number, (state, move, ruling) in enumerate(pictures, 1):
        write_picture(path / f"step-{number:02}.svg", state, move, ruling, lang=lang)


def _position(path: str) -> dict[str, JSON]:
    found = read_json(path)
    if not isinstance(found, dict) or not isinstance(found.get("places"), dict):
        raise SetupError("{path} holds no position: an object with places.", path=path)
    return found


def _whole(first: Mapping[str, JSON], last: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return the second position with what it leaves open as it was in the first."""
    stated = {name: place for name, place in last["places"].items() if place is not None}
    whole = {key: first[key] for key in SHARED if first.get(key) is not None}
    whole |= {**last, "places": {**first["places"], **stated}}
    seats, mine = first.get("players"), last.get("players")
    if isinstance(seats, list) and isinstance(mine, list):
        whole["players"] = _seats(seats, mine)
    return whole


def _seats(seats: list[JSON], others: list[JSON]) -> list[JSON]:
    """Return the players of the first position with what the second tells, by colour where there are colours."""
    found = list(seats)
    for number, player in enumerate(others):
        colour = player.get("colour") if isinstance(player, Mapping) else None
        same = [n for n, seat in enumerate(seats) if isinstance(seat, Mapping) and seat.get("colour") == colour]
        at = same[0] if colour is not None and same else number
        if at >= len(found) or (colour is not None and not same):
            found.append(player)
        else:
            found[at] = {**found[at], **player} if isinstance(player, Mapping) else player
    return found


def _read(game_id: str, position: Mapping[str, JSON]) -> Any:
    return game(game_id).from_position(position)


def _problems(
    game_id: str, position: Mapping[str, JSON], before: State[Any], evidence: Evidence, legal: bool, lang: str
) -> list[str]:
    """Return what is wrong with a position; nothing where a place is unknown.

    A photo tells the places alone: what lies elsewhere is then as it was, and it is said where no legal turn leads.
    """
    known = Evidence.of_position(before.position(), game_id)
    if not set(known.places) <= set(evidence.places):
        return []
    if legal and not set(known.fields) <= set(evidence.fields):
        return []
    state = _read(game_id, position)
    return [rulebook(game_id).problem(problem, state, lang) for problem in state.problems()]


OTHERWISE = Words("It also leaves things other than the places different.")
OR = Words("Or:")
MORE = Words("{count:plural|Another legal turn leads|# other legal turns lead} there.")
ALTERNATIVES = 3
"""Further legal turns that are told; the others are counted."""


def show(found: Explanation, start: State[Any], problems: Sequence[str], lang: str) -> None:
    """Print an explanation: each step and each reason a sentence, and beside it how the move is written."""
    out = console()
    mark, colour = MARKS[found.legal]
    headline = Text(f"{mark} ", style=colour)
    headline.append(found.headline.of(lang))
    out.print(headline)
    if found.legal:
        _steps(found.steps, lang)
        for turn in found.turns[1 : 1 + ALTERNATIVES]:
            out.print(OR.of(lang))
            _steps(told(start, turn.moves), lang)
        if len(found.turns) > 1 + ALTERNATIVES:
            out.print(MORE.filled({"count": len(found.turns) - 1 - ALTERNATIVES}).of(lang))
    else:
        _steps(found.rulings, lang)
        if found.decisive:
            out.print(DECIDES.of(lang))
            _steps(found.decisive, lang)
        for opening, half in found.halves():
            out.print(opening.of(lang))
            _steps(half, lang)
        nearest = found.nearest_words()
        if nearest:
            out.print(nearest[0].of(lang))
            _steps(found.steps, lang)
            for words in nearest[1:]:
                out.print(Text(f"  {words.of(lang)}"))
            fields = [one.place for one in found.differences if isinstance(one, FieldDifference)]
            if fields:
                line = Text(f"  {OTHERWISE.of(lang)}")
                out.print(line.append(f"  · {', '.join(fields)}", style="dim"))
    said = {ruling.words.of(lang) for _, ruling in found.rulings}
    for problem in problems:
        if problem not in said:
            out.print(Text(f"! {problem}", style="yellow"))


def _steps(steps: Told, lang: str) -> None:
    """Print what each step does or why it is refused, and beside it how it is written."""
    for move, ruling in steps:
        line = Text("  ").append_text(ruling_text(ruling, lang))
        if str(move):
            line.append(f"  · {move}", style="dim")
        console().print(line)
