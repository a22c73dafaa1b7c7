"""A golden game: every ruling and the score of one whole game, so that a change of behaviour shows itself.

After a wanted change, write it anew and read the difference:
`companion referee tests/rules/igloo_pop/playthrough.jsonl > tests/rules/igloo_pop/playthrough.txt`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from companion.cli import run
from companion.rules.record import read_file

HERE = Path(__file__).parent
RECORD = HERE / "playthrough.jsonl"


@pytest.fixture(autouse=True)
def a_pipe_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)


def test_the_golden_game_is_ruled_as_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["referee", str(RECORD)]) == 0
    out = capsys.readouterr()
    assert out.err == ""
    assert out.out == (HERE / "playthrough.txt").read_text(encoding="utf-8")


def test_the_golden_game_has_every_kind_of_move_and_result() -> None:
    replay = read_file(RECORD)
    assert replay.error is None
    assert replay.record is not None
    kinds = {text.split()[0] for text in replay.record.moves}
    assert kinds == {"deal", "start", "take", "return", "place", "pass", "reveal"}
    cited = {clause for _, ruling in replay.rulings() for clause in ruling.clauses}
    assert {f"POP-3.{n}" for n in (2, 3, 4, 5, 6, 7, 8)} <= cited


def test_the_golden_game_says_the_same_in_french(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["referee", str(RECORD), "--lang", "fr"]) == 0
    french = capsys.readouterr().out.splitlines()
    english = (HERE / "playthrough.txt").read_text(encoding="utf-8").splitlines()
    assert len(french) == len(english)
    assert not set(french) & set(english)
