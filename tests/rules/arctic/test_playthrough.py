"""Two golden games: every ruling and the score of each, so that a change of behaviour shows itself.

`a`: three players, one side of every power card, all cards known. `b`: two players, the other sides, the other
values of both options, written as the table saw it: what was secret is `?`.

After a wanted change, write them anew and read the difference:
`companion referee tests/rules/arctic/playthrough_a.jsonl > tests/rules/arctic/playthrough_a.txt`, and the same with
`companion score --json` and `playthrough_a.score.json`.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from companion.cli import run
from companion.rules import game
from companion.rules.arctic.moves import KINDS
from companion.rules.playouts import playout
from companion.rules.record import read_file

HERE = Path(__file__).parent
GAMES = ["a", "b"]


@pytest.fixture(autouse=True)
def a_pipe_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize(("command", "golden"), [(["referee"], "txt"), (["score", "--json"], "score.json")])
def test_the_golden_games_are_ruled_and_scored_as_they_were(
    name: str, command: list[str], golden: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*command, str(HERE / f"playthrough_{name}.jsonl")]) == 0
    out = capsys.readouterr()
    assert out.err == ""
    assert out.out == (HERE / f"playthrough_{name}.{golden}").read_text(encoding="utf-8")


def test_the_golden_games_have_every_kind_of_step_and_every_power() -> None:
    kinds, cited = set(), set()
    for name in GAMES:
        replay = read_file(HERE / f"playthrough_{name}.jsonl")
        assert replay.error is None and replay.record is not None
        kinds |= {text.split()[0] for text in replay.record.moves}
        cited |= {clause for _, ruling in replay.rulings() for clause in ruling.clauses}
    assert kinds == set(KINDS) - {"side"}, "the sides were told in the set-up"
    assert {f"ARC-P.{n}" for n in range(1, 13)} <= cited


@pytest.mark.parametrize("name", GAMES)
def test_the_golden_games_say_the_same_in_french(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["referee", str(HERE / f"playthrough_{name}.jsonl"), "--lang", "fr"]) == 0
    french = capsys.readouterr().out.splitlines()
    english = (HERE / f"playthrough_{name}.txt").read_text(encoding="utf-8").splitlines()
    assert len(french) == len(english)
    assert not set(french) & set(english)


@pytest.mark.parametrize("players", ["2", "3", "4"])
def test_a_playout_is_a_record_that_is_refereed_and_scored(
    players: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for option in ("arc.end_trigger=bga", "arc.facedown_alone=false"):
        assert run(["playout", "arctic", "--players", players, "--seed", "3", "--option", option]) == 0
        path = tmp_path / "r.jsonl"
        path.write_text(capsys.readouterr().out, encoding="utf-8")
        assert run(["referee", str(path), "--json"]) == 0
        *moves, last = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert all(move["legal"] for move in moves)
        assert last["outcome"]["winners"] == last["outcome"]["ranking"][0]
        assert last["outcome"]["ended_by"]["clauses"] == ["ARC-E.1"]
        assert last["outcome"]["decided_by"]["clauses"] == ["ARC-V.4"]
        assert run(["score", str(path), "--json"]) == 0
        sheet = json.loads(capsys.readouterr().out)
        assert [p["total"] for p in sheet["players"]] == last["outcome"]["totals"]


def test_a_refused_move_gives_the_valid_prefix(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = (HERE / "playthrough_a.jsonl").read_text(encoding="utf-8").splitlines()
    path = tmp_path / "r.jsonl"
    path.write_text("\n".join([*lines[:40], "take-back", *lines[40:]]), encoding="utf-8")
    assert run(["referee", str(path)]) == 1
    assert capsys.readouterr().err.startswith("companion: line 41, IllegalMoveError: ")
    replay = read_file(path)
    assert replay.record is not None and len(replay.record.moves) == 39
    assert replay.state == read_file(HERE / "playthrough_a.jsonl").at(39)


def test_complete_games_of_every_number_of_players_end_whole() -> None:
    arctic = game("arctic")
    for players in (2, 3, 4):
        for seed in range(8):
            record, state = playout(arctic, players, Random(seed))
            assert state.outcome() is not None and state.problems() == ()
            again = record.replay()
            assert again.error is None and again.state == state
            cut = len(record.moves) // 2
            assert record.prefix(cut).replay().state == again.at(cut)
