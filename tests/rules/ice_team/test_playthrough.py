"""A golden game: every ruling and the score of one whole game, so that a change of behaviour shows itself.

After a wanted change, write it anew and read the difference:
`companion referee tests/rules/ice_team/playthrough.jsonl > tests/rules/ice_team/playthrough.txt`, and the same with
`companion score --json` and `playthrough.score.json`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from companion.cli import run
from companion.rules.record import read_file

HERE = Path(__file__).parent
RECORD = HERE / "playthrough.jsonl"


@pytest.mark.parametrize(
    ("command", "golden"), [(["referee"], "playthrough.txt"), (["score", "--json"], "playthrough.score.json")]
)
def test_the_golden_game_is_ruled_and_scored_as_it_was(
    command: list[str], golden: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*command, str(RECORD)]) == 0
    out = capsys.readouterr()
    assert out.err == ""
    assert out.out == (HERE / golden).read_text(encoding="utf-8")


def test_the_golden_game_has_every_kind_of_step() -> None:
    replay = read_file(RECORD)
    assert replay.error is None
    assert replay.record is not None
    assert {text.split()[0] for text in replay.record.moves} == {
        *("floe", "first", "walk", "leap", "swim", "stop", "pick", "roll", "freeze", "drift", "push", "choose"),
    }
    read_late = [n for n, text in enumerate(replay.record.moves) if text.startswith("floe")]
    assert max(read_late) > replay.record.moves.index("first green"), "a floe is read when it is reached"


def test_the_golden_game_says_the_same_in_french(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["referee", str(RECORD), "--lang", "fr"]) == 0
    french = capsys.readouterr().out.splitlines()
    english = (HERE / "playthrough.txt").read_text(encoding="utf-8").splitlines()
    assert len(french) == len(english)
    assert not set(french) & set(english)


@pytest.mark.cites("ICE-T.10")
def test_a_random_game_from_the_command_line_is_refereed_and_scored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--option", "ice.block_picks_up=false", "--option", "ice.blocked_second_action=lose"]
    assert run(["playout", "ice-team", "--seed", "3", *options]) == 0
    text = capsys.readouterr().out
    header = json.loads(text.splitlines()[0])
    assert header["options"] == {
        "ice.simple_drift_straight": False,
        "ice.block_picks_up": False,
        "ice.blocked_second_action": "lose",
    }
    path = tmp_path / "r.jsonl"
    path.write_text(text, encoding="utf-8")
    assert run(["referee", str(path), "--json"]) == 0
    *moves, last = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert last["outcome"]["ended_by"]["clauses"] == ["ICE-E.1"]
    assert last["outcome"]["ranking"][0] == last["outcome"]["winners"]
    first = next(move for move in moves if move["move"].startswith("first"))
    assert "stand-in" in first["en"] and "provisoires" in first["fr"] and "ICE-K.9" in first["clauses"]
    assert run(["score", str(path), "--json"]) == 0
    sheet = json.loads(capsys.readouterr().out)
    assert [player["total"] for player in sheet["players"]] == last["outcome"]["totals"]


def test_a_wrong_step_in_a_record_is_told_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = RECORD.read_text(encoding="utf-8").splitlines()
    path = tmp_path / "r.jsonl"
    path.write_text("\n".join([*lines[:30], "walk village a1", *lines[30:40]]), encoding="utf-8")
    assert run(["referee", str(path)]) == 1
    out = capsys.readouterr()
    assert out.err.startswith("companion: line 31, IllegalMoveError: ")
    path.write_text("\n".join([*lines[:30], "p 1", *lines[30:40]]), encoding="utf-8")
    assert run(["referee", str(path)]) == 2
    assert "AmbiguousMoveError" in capsys.readouterr().err
