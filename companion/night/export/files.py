"""A night to take home: everything as JSON, the scores as CSV. Reads the journal only, also while it is written."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

from companion import __version__
from companion.night.log.journal import Entry, Journal
from companion.night.log.match import Match
from companion.night.log.projection import NightProjection
from companion.rules.set_position import SetPosition

FORMAT = 1
"""The version of the JSON form."""

COLUMNS = ("night", "opened", "match", "game", "finished", "place", "name", "colour", "score", "correction", "ended")


def nights(journal: Journal) -> Iterator[NightProjection]:
    """Yield every night of a journal as it ended, oldest first."""
    names, same = journal.people(), journal.same()
    entries: list[Entry] = []
    for entry in journal.since(0):
        if entry.kind == "open-night" and entries:
            yield _folded(names, same, entries)
            entries = []
        entries.append(entry)
    if entries:
        yield _folded(names, same, entries)


def _folded(names: dict[str, str | None], same: dict[str, str], entries: Sequence[Entry]) -> NightProjection:
    projection = NightProjection(names, same)
    for entry in entries:
        projection.apply(entry)
    return projection


def to_json(journal: Journal) -> dict[str, Any]:
    """Return every night with its matches, as JSON.

    ``{"format": 1, "companion": version, "nights": [{"id", "opened", "matches": [{"id", "game", "opened",
    "players": [{"name", "colour", "person"}], "options", "setup", "moves": [text …] in force, "finished",
    "ended": null | "rules" | "sheet" | "early", "sheet": null | the position that was kept,
    "corrections": [{"seq", "colour", "points", "reason"}], "scores": {colour: points}, "ranking": [[colour …] …],
    "faults": [{"seq", "clause", "colour", "note", "kind", "motion", "place", "round", "dismissed"}],
    "evidence": […]}]}]}``. Times are UTC milliseconds. A match's ``players``, ``options``, ``setup`` and ``moves``
    are those of a game record: where a position was set, that is an object.
    """
    return {
        "format": FORMAT,
        "companion": __version__,
        "nights": [
            {
                "id": projection.id,
                "opened": projection.opened,
                "matches": [_match(match) for match in projection.matches],
            }
            for projection in nights(journal)
        ],
    }


def _match(match: Match) -> dict[str, Any]:
    return {
        "id": match.id,
        "game": match.game.id,
        "opened": match.opened,
        "players": [{"name": s.name, "colour": s.colour, "person": s.person} for s in match.seats],
        "options": dict(match.header["options"]),
        "setup": dict(match.header["setup"]),
        "moves": [
            step.move.to_json() if isinstance(step.move, SetPosition) else str(step.move) for step in match.steps
        ],
        "finished": match.over,
        "ended": match.ending,
        "sheet": match.state.position() if match.ending == "sheet" else None,
        "corrections": [
            {"seq": seq, "colour": colour, "points": points, "reason": reason}
            for seq, colour, points, reason in match.corrections
        ],
        "scores": match.scores(),
        "ranking": _ranking(match),
        "faults": [
            {
                "seq": f.seq,
                "clause": f.clause,
                "colour": f.colour,
                "note": f.note,
                "kind": f.kind,
                "motion": f.motion,
                "place": f.place,
                "round": f.round,
                "dismissed": f.dismissed,
            }
            for f in match.faults.values()
        ],
        "evidence": match.evidence,
    }


def _ranking(match: Match) -> list[list[str]]:
    return [[match.colours[player] for player in place] for place in match.score().ranking]


_FORMULA = re.compile(r"""^(?=[\t\r\n])|(?:^|[;,\t\r\n])(?=[\s"']*[=+\-@|%])""")
"""Where a spreadsheet may see a formula begin: at the start of a cell, and after what some take for its end.

Which sign parts cells depends on the country of the spreadsheet; blanks and quotes before a formula are passed over."""


def _plain(name: str) -> str:
    """Return a name as a spreadsheet shows it: with an apostrophe where a formula would begin."""
    # Full-width signs are formulas to some.
    begins = {match.end() for match in _FORMULA.finditer("".join(_narrow(sign) for sign in name))}
    return "".join(f"'{sign}" if at in begins else sign for at, sign in enumerate(name))


def _narrow(sign: str) -> str:
    """Return the narrow form of a wide sign, as one character."""
    narrow = unicodedata.normalize("NFKC", sign)
    return narrow if len(narrow) == 1 else sign


def to_csv(journal: Journal) -> str:
    """Return the scores of every match as CSV: a line a player, the columns of :data:`COLUMNS`.

    ``opened`` is UTC milliseconds; ``finished`` is yes or no (an unfinished match has the scores it was left with);
    ``ended`` is ``rules``, ``sheet`` (counted at the end), ``early`` (by the table: the place is the one so far) or
    empty while the game goes on. Who shares a place leaves free as many below it: 1, 1, 3.
    A name that a spreadsheet would take for a formula is quoted with an apostrophe.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for projection in nights(journal):
        for match in projection.matches:
            scored = match.score()
            for seat, sheet in zip(match.seats, scored.sheets, strict=True):
                corrected = sum(points for _, colour, points, _ in match.corrections if colour == seat.colour)
                writer.writerow(
                    (
                        projection.id,
                        match.opened,
                        match.id,
                        match.game.id,
                        "yes" if match.over else "no",
                        scored.ranks[sheet.player],
                        _plain(seat.name),
                        seat.colour,
                        sheet.total,
                        corrected,
                        match.ending or "",
                    )
                )
    return text.getvalue()
