"""`docs/rules-notes.md`: each place where a rulebook disagrees with the summary stands there once, and is a clause."""

from __future__ import annotations

import re
from pathlib import Path

from companion.rules import games
from companion.rules.rulebook import rulebook

NOTES = Path(__file__).parents[2] / "docs" / "rules-notes.md"
ROW = re.compile(r"^\| ([A-Z]+-[\w.]+) \| (.+?) \| (.+?) \| (\*.+) \|$", re.MULTILINE)
WANTED = {
    *("ARC-P.7", "ARC-K.3", "ARC-V.5", "ARC-C.2", "ARC-0.1"),
    *("ICE-M.2", "ICE-Q.1", "ICE-Q.6", "ICE-K.9", "ICE-S.4"),
    *("IGLU-2.A.6", "IGLU-1.F.6", "IGLU-2.C.1", "IGLU-K.3"),
}


def test_each_place_stands_once_with_its_source() -> None:
    rows = ROW.findall(NOTES.read_text(encoding="utf-8"))
    assert len(rows) == len({row[0] for row in rows})
    assert {row[0] for row in rows} == WANTED


def test_every_clause_that_is_named_is_there() -> None:
    known = {one for game_id in games() for one in (*rulebook(game_id).clauses, *rulebook(game_id).disputes)}
    assert set(re.findall(r"\b(?:IGLU|ARC|ICE|POP)-[\w.]*\w", NOTES.read_text(encoding="utf-8"))) <= known


def test_the_clauses_follow_the_rulebook() -> None:
    def said(clause_id: str) -> str:
        book = next(rulebook(one) for one in games() if clause_id in rulebook(one).clauses)
        clause = book.clauses[clause_id]
        return f"{clause.text.en} {clause.note.en}"

    assert "Optional" in said("ARC-P.7")
    assert "follows from" in said("ARC-K.3")
    assert "Only after phase C" in said("ARC-C.2")
    assert "no power to take, no token to move" in said("ARC-0.1")
    assert rulebook("arctic").clauses["ARC-V.5"].heading.en == "Powers of the animals"
    assert "Start" in said("ICE-M.2") and "ICE-0.4" in said("ICE-M.2")
    assert "30" in said("ICE-K.9") and "40" in said("ICE-K.9")
    assert "bank" in said("ICE-S.4")
    disputes = rulebook("ice-team").disputes
    assert "ICE-E.3" in disputes["ICE-Q.1"].clauses
    assert "another tile" in disputes["ICE-Q.6"].ruling.en
    assert "misprint" in said("IGLU-K.3")
    assert "drift carries" in said("IGLU-2.C.1")
    assert "leaves nobody out" in said("IGLU-1.F.6")
    assert "deduced" in said("IGLU-2.A.6")
    statuses = {key: rulebook("iglu-iglu").disputes[key].status for key in ("IGLU-Q.1", "IGLU-Q.2", "IGLU-Q.4")}
    assert set(statuses.values()) == {"deduced"}
