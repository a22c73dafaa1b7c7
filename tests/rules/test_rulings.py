"""A golden ruling of every kind: what the moves of whole games are told in every position of those games.

Each move of a record is tried in many positions of it, where it is mostly refused. The first ruling of each kind is
kept with its facts, clauses and status, so that a change of any of them shows itself. After a wanted change, write
them anew and read the difference: `python tests/rules/test_rulings.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from companion.rules import games, package_name
from companion.rules.record import read_file

HERE = Path(__file__).parent
RECORDS = {
    one: sorted(str(path.relative_to(HERE)) for path in (HERE / package_name(one)).glob("playthrough*.jsonl"))
    for one in games(examples=True)
}
NEAR = (-5, -2, -1, 1, 2, 5)
STRIDE = 9
"""Of the moves farther off, so manieth are tried in each position."""


def golden(game_id: str) -> Path:
    return HERE / package_name(game_id) / "rulings.jsonl"


def rulings(game_id: str) -> Iterator[dict[str, Any]]:
    """Yield the first ruling of each kind: its key with those of what follows."""
    known: set[tuple[Any, ...]] = set()
    for name in RECORDS[game_id]:
        replay = read_file(HERE / name)
        assert replay.record is not None and replay.state is not None
        moves = [replay.state.game.parse(text) for text in replay.record.moves]
        for number in range(len(moves) + 1):
            state = replay.at(number)
            tried = [number, *(number + step for step in NEAR), *range(number % STRIDE, len(moves), STRIDE)]
            for move in dict.fromkeys(moves[at] for at in tried if 0 <= at < len(moves)):
                reason = state.refusal(move)
                legal = reason is None
                reason = state.explain_effect(move) if reason is None else reason
                kind = legal, reason.key, *reason.facts.get("also", [])
                if kind not in known:
                    known.add(kind)
                    ruling = state.check(move)
                    yield {
                        "after": number,
                        "move": str(move),
                        "legal": ruling.legal,
                        "kind": list(kind[1:]),
                        "clauses": list(ruling.clauses),
                        "status": ruling.status,
                        "facts": dict(ruling.facts),
                    }


@pytest.mark.parametrize("game_id", RECORDS)
def test_every_kind_of_ruling_is_as_it_was(game_id: str) -> None:
    known = [json.loads(line) for line in golden(game_id).read_text(encoding="utf-8").splitlines()]
    found = [json.loads(json.dumps(ruling)) for ruling in rulings(game_id)]
    assert [ruling["kind"] for ruling in found] == [ruling["kind"] for ruling in known]
    for ruling, was in zip(found, known, strict=True):
        assert ruling == was
    assert {ruling["legal"] for ruling in known} == {True, False}


if __name__ == "__main__":
    for one in RECORDS:
        text = "".join(json.dumps(ruling, ensure_ascii=False) + "\n" for ruling in rulings(one))
        golden(one).write_text(text, encoding="utf-8")
