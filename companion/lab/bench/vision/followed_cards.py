"""Games of cards as `companion bench follow` tells them: turns of Arctic, rounds of Igloo Pop."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from companion.lab.bench.follow import question_rows, time_rows
from companion.lab.bench.vision import checks, placings, rivers
from companion.lab.rows import Row, row
from companion.lab.worlds.cards.river import PlayedTurn, drawn_table, played
from companion.lab.worlds.traced.cards_art import MANNERS
from companion.lab.worlds.traced.checks import traced_check
from companion.lab.worlds.traced.placings import SHEET, traced_round
from companion.lab.worlds.traced.river import traced_table
from companion.rules.igloo_pop.components import CARD_TEXT

ARCTIC, POP = "arctic", "igloo-pop"
PLAYERS: Final = (2, 3, 4)
A_ROUND: Final = 20
"""A round of Igloo Pop is followed for so many turns of another game."""
SIMULATED: Final = "simulated time from when it lay there; the processor's below: of one look"


def rows(turns: int, seed: int, game: str, world: str) -> Iterable[Row]:
    """Follow so many turns of Arctic, or a round of Igloo Pop for each twenty, and tell what came of them.

    ``world``: ``drawn`` or ``traced``.
    """
    if game == ARCTIC:
        yield from _arctic(turns, seed, world)
    else:
        yield from _rounds(max(1, turns // A_ROUND), seed, world)


def _arctic(turns: int, seed: int, world: str) -> Iterable[Row]:
    players = PLAYERS[seed % len(PLAYERS)]
    tally, told = rivers.RiverTally(), list[str]()

    def said(number: int, kind: str, note: str, turn: PlayedTurn) -> None:
        if kind != "entered":
            told.append(f"turn {number + 1}, {kind}: {note} Played: {', '.join(map(str, turn.moves))}")

    with tempfile.TemporaryDirectory() as folder:
        table: rivers.RiverTable
        if world == "traced":
            table = traced_table(seed, seed % len(MANNERS))
        else:
            table = drawn_table(seed, rivers.FAMILIES[seed % len(rivers.FAMILIES)])
        cards = rivers.taught(Path(folder) / "tables", table)
        rivers.follow_game(Path(folder), table, played(seed, players)[:turns], tally, cards, said)
    yield row("turns followed", tally.turns, note=f"{ARCTIC}, seed {seed}, {players} players; {world}")
    entered = f"{tally.entered} entered by the camera; what nobody sees of {tally.told} turns entered by hand"
    yield row("wrong entries", tally.wrong, aim="0", note=entered)
    yield from question_rows(tally.turns, tally.asked, tally.causes, tally.among, tally.first)
    yield row(
        "turns left to people", tally.left, aim="0", note="; ".join(f"{n} × {why}" for why, n in tally.notes.items())
    )
    yield row("turns typed by hand", tally.typed, aim="0")
    yield row("score at the end is the truth", all(tally.scores), aim="True", note="without totems, which nobody shows")
    yield from time_rows(tally.answers, tally.answer_work, "simulated time, and that of the processor")
    yield row("work of the processor a turn", f"{_middle(tally.work):.1f}", "s")
    for number, line in enumerate(told, 1):
        yield row(f"looked at, {number}", line.split(":")[0], note=line)


def _rounds(many: int, seed: int, world: str) -> Iterable[Row]:
    seeds = range(seed, seed + many)
    if world == "traced":
        yield from _traced_rounds(seeds)
        return
    yield from rows_of_rounds(placings.measure_placings(seeds), checks.measure_checks(seeds), f"{POP}, {seeds}; drawn")


def _traced_rounds(seeds: Sequence[int]) -> Iterable[Row]:
    """Follow whole rounds: the circle read by the camera, the placing, and the check of what then stands there."""
    placed, checked, circles = placings.PlacedTally(), checks.CheckTally(), 0
    for seed in seeds:
        colours, manner = placings.colours_of(seed), seed % len(MANNERS)
        film = traced_round(seed, manner, colours)
        with tempfile.TemporaryDirectory() as folder:
            deck = rivers.taught_by_sheets(Path(folder) / "tables", POP, len(CARD_TEXT), SHEET, film.sheet)
            night = checks.CheckedNight(Path(folder), traced_check(seed, film), colours, deck)
            placings.follow_round(night, placed)
            circles += night.read
            checks.follow_check(night, checked)
            night.journal.close()
    yield row("circles read by the camera", circles, aim=f"{len(seeds)}", note=f"{POP}, {seeds}; traced")
    yield from rows_of_rounds(placed, checked, f"{POP}, {seeds}; traced")


def rows_of_rounds(placed: placings.PlacedTally, checked: checks.CheckTally, note: str) -> Iterable[Row]:
    """Return the rows of what came of rounds: how they were placed, and how they were checked."""
    yield row("igloos put on cards", placed.put, note=note)
    yield row("wrong entries, placing", placed.wrong, aim="0", note=f"{placed.right} entered by the camera")
    yield row("left to people in a round, placing", placed.left / max(1, placed.rounds), aim="0.5")
    yield from time_rows(placed.delays, placed.work, SIMULATED)
    yield row("igloos turned over in the check", checked.turned, note=note)
    yield row("wrong entries, check", checked.wrong, aim="0", note=f"{checked.right} entered by the camera")
    yield row("left to people in a round, check", checked.left / max(1, checked.rounds), aim="0.5")
    yield row("numbers at the end are the truth", f"{checked.ended_right} of {checked.rounds}", aim="every round")
    yield from time_rows(checked.delays, checked.work, SIMULATED)
    for number, line in enumerate((*placed.notes, *checked.notes), 1):
        yield row(f"looked at, {number}", line.split()[0], note=line)


def _middle(seconds: Sequence[float]) -> float:
    ordered = sorted(seconds) or [0.0]
    return ordered[len(ordered) // 2]
