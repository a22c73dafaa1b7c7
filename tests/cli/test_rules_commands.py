"""The commands: rule, referee, score, playout."""

from __future__ import annotations

import io
import json
import resource
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest

from companion.cli import run
from companion.rules import game, games
from companion.rules.core import CHANCE
from companion.rules.iglu_iglu.position import PLACING, SETTING
from companion.rules.record import read

GOLDEN = Path(__file__).parents[1] / "rules" / "igloo_pop" / "playthrough.jsonl"
RED, BLUE = {"name": "Ann", "colour": "red"}, {"name": "Bob", "colour": "blue"}
CLI = "import sys; from companion.cli import main; main()"


def lines(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture(autouse=True)
def a_pipe_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)


# --- rule ------------------------------------------------------------------------------------------------------


def test_rule_prints_a_clause_with_its_ground_and_the_disputes_about_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rule", "pop-3.7"]) == 0
    out = capsys.readouterr().out
    assert "POP-3.7" in out
    assert "house ruling" in out
    assert "pop.none_match" in out
    assert "POP-Q.2" in out


def test_rule_prints_a_dispute_with_its_question(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rule", "POP-Q.7", "--lang", "fr"]) == 0
    out = capsys.readouterr().out
    assert "Une pièce de sa couleur récupérée au contrôle" in out
    assert "Oui" in out
    assert "voir POP-2.5" in out


def test_rule_speaks_french_and_finds_words_without_accents(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rule", "PIECES", "gagnees", "--lang", "fr", "--game", "igloo-pop"]) == 0
    out = capsys.readouterr().out
    assert "POP-2.5" in out
    assert "écrit dans la règle" in out


def test_rule_as_json_is_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rule", "POP-4.2", "--json"]) == 0
    (item,) = lines(capsys.readouterr().out)
    assert (item["game"], item["id"], item["kind"], item["status"]) == (
        "igloo-pop",
        "POP-4.2",
        "clause",
        "house ruling",
    )
    assert item["option"] == "pop.cards_end"
    assert item["heading"]["fr"] == "Fin de la partie"
    assert run(["rule", "none", "matches", "--json", "--game", "igloo-pop"]) == 0
    assert {item["kind"] for item in lines(capsys.readouterr().out)} == {"clause", "dispute"}


def test_rule_leaves_out_rulebooks_that_know_fewer_of_the_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rule", "igloo", "pop", "youngest", "counts", "three", "--json"]) == 0
    assert {(item["game"], item["id"]) for item in lines(capsys.readouterr().out)} == {("igloo-pop", "POP-1.2")}


def test_rule_says_when_there_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rule", "xyzzy"]) == 1
    assert "xyzzy" in capsys.readouterr().err
    assert run(["rule", "igloo", "--game", "chess"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert run(["rule"]) == 2


# --- referee ---------------------------------------------------------------------------------------------------


def test_referee_exits_0_1_and_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = GOLDEN.read_text(encoding="utf-8").splitlines()
    for status, extra in ((0, []), (1, ['"start"']), (2, ['"start"', "gibberish"])):
        path = tmp_path / f"{status}.jsonl"
        path.write_text("\n".join(text[:15] + extra + text[15:20]), encoding="utf-8")
        assert run(["referee", str(path)]) == status
        out = capsys.readouterr()
        assert len(out.out.splitlines()) == 19 + len(extra) + 1
        assert out.err.count("\n") == (1 if extra else 0)
        assert out.err == "" or out.err.startswith("companion: line 16, IllegalMoveError: ")


def test_referee_as_json_has_a_line_a_move_and_the_outcome(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["referee", str(GOLDEN), "--json"]) == 0
    *moves, last = lines(capsys.readouterr().out)
    replay = read(GOLDEN.read_text(encoding="utf-8").splitlines())
    assert replay.record is not None
    assert [m["move"] for m in moves] == list(replay.record.moves)
    assert all(m.keys() >= {"line", "move", "legal", "clauses", "status", "facts", "en", "fr"} for m in moves)
    assert all(m["legal"] and m["error"] is None for m in moves)
    assert last["valid_moves"] == len(moves)
    assert last["outcome"]["winners"] == last["outcome"]["ranking"][0]
    assert last["outcome"]["ended_by"]["clauses"] == ["POP-4.1"]
    assert last["error"] is None


def test_referee_reads_the_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(GOLDEN.read_bytes())))
    assert run(["referee", "-", "--json", "--lang", "fr"]) == 0
    assert lines(capsys.readouterr().out)[-1]["refused"] == 0


@pytest.mark.parametrize("data", [b"", b"\x00" * 100, b"{}", b"\xff\xfe", b'{"game": "igloo-pop"}', b"[" * 9999])
def test_what_is_no_record_ends_in_one_line(data: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "r"
    path.write_bytes(data)
    for command in ("referee", "score"):
        for lang in ("en", "fr"):
            assert run([command, str(path), "--lang", lang]) == 2
            out = capsys.readouterr()
            assert out.out == ""
            assert out.err.count("\n") == 1
    assert run(["score", "--position", str(path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_record_of_a_header_alone_is_a_game_not_yet_begun(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(GOLDEN.read_text(encoding="utf-8").splitlines()[0], encoding="utf-8")
    assert run(["referee", str(path), "--json"]) == 0
    assert lines(capsys.readouterr().out) == [
        {"outcome": None, "valid_moves": 0, "refused": 0, "unreadable": 0, "error": None}
    ]
    assert run(["referee", str(path)]) == 0
    assert run(["score", str(path)]) == 0


def test_what_would_steer_a_terminal_is_not_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "r.jsonl"
    head = GOLDEN.read_text(encoding="utf-8").splitlines()[0]
    path.write_text(head + '\n"\\u001b[2Jtake \\ud800"\n', encoding="utf-8")
    assert run(["referee", str(path)]) == 2
    out = capsys.readouterr()
    assert "\x1b" not in out.out + out.err
    assert run(["referee", str(path), "--json"]) == 2
    assert lines(capsys.readouterr().out)[0]["move"] == "\x1b[2Jtake \ud800"


@pytest.mark.parametrize("data", [b"[" * 200_000, b" " * 9_000_000, b"3", b'{"game": 3}', b'{"game": "igloo-pop"}'])
def test_what_is_no_position_ends_in_one_line(data: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.json"
    path.write_bytes(data)
    assert run(["score", "--position", str(path)]) == 2
    out = capsys.readouterr()
    assert (out.out, out.err.count("\n")) == ("", 1)


@pytest.mark.parametrize(
    ("data", "en", "fr"),
    [
        (
            b"{]",
            "line 1, RecordError: The line is not valid JSON.",
            "ligne 1, RecordError\u00a0: La ligne n’est pas du JSON",
        ),
        (
            b'\n{"game": "chess"}',
            "line 2, SetupError: There is no game 'chess';",
            "ligne 2, SetupError\u00a0: Il n’y a pas de jeu 'chess'",
        ),
        ('{"game": "arctic"}'.encode("utf-16-le"), "line 1, RecordError: The line is not text in UTF-8.", "UTF-8"),
    ],
)
@pytest.mark.parametrize("command", ["referee", "score"])
def test_a_wrong_header_has_its_line_and_its_class(
    data: bytes, en: str, fr: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(data)
    assert run([command, str(path)]) == 2
    assert capsys.readouterr().err.startswith(f"companion: {en}")
    assert run([command, str(path), "--lang", "fr"]) == 2
    said = capsys.readouterr().err
    assert fr in said and said.startswith("companion: ligne ") and said.count("\n") == 1


@pytest.mark.parametrize(
    ("position", "sentence"),
    [
        ({"game": "arctic", "pileleft": 3}, "A position of Arctic has no field 'pileleft'; it has game, places,"),
        (
            {"game": "arctic", "players": [{"penalties": 3}]},
            "A player of Arctic has no field 'penalties'; it has name,",
        ),
        ({"game": "arctic", "places": {"land2": None}}, "Arctic has no place 'land2'; it has land0, land1, land3,"),
        ({"game": "arctic", "places": {"pile0": None}}, "Arctic has no place 'pile0';"),
        ({"game": "ice-team", "fish": 3}, "A position of Ice Team has no field 'fish'; it has game, players,"),
        (
            {"game": "ice-team", "players": [{**RED, "Fresh": 3}, {"name": "G", "colour": "green"}]},
            "A player of Ice Team has no field 'Fresh'; it has name, colour, fresh, frozen (players[1]).",
        ),
        ({"game": "ice-team", "pending": {"bears": "start"}}, "What is pending in Ice Team has no field 'bears';"),
        (
            {"game": "igloo-pop", "places": {}, "players": [{**RED, "thalers": 4}, BLUE]},
            "A player of Igloo Pop has no field 'thalers'; it has name, colour, own,",
        ),
        (
            {"game": "igloo-pop", "places": {}, "players": [RED, BLUE], "stack": 4},
            "A position of Igloo Pop has no field 'stack'; it has game, phase,",
        ),
        (
            {"game": "iglu-iglu", "places": {}, "trophy": {}},
            "A position of Iglu Iglu has no field 'trophy'; it has game, players,",
        ),
    ],
)
def test_a_misspelt_field_of_a_position_is_not_left_out_in_silence(
    position: dict[str, Any], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.json"
    path.write_text(json.dumps(position), encoding="utf-8")
    assert run(["score", "--position", str(path)]) == 2
    assert capsys.readouterr().err.startswith(f"companion: {sentence}")


def test_a_missing_file_or_a_folder_ends_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for argument in (str(tmp_path / "none"), str(tmp_path)):
        for command in (["referee", argument], ["score", argument], ["score", "--position", argument]):
            assert run(command) == 2
            assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.process
def test_large_rubbish_ends_within_bounds_of_memory(tmp_path: Path) -> None:
    head = GOLDEN.read_text(encoding="utf-8").splitlines()[0]
    million, flat = tmp_path / "million", tmp_path / "flat"
    million.write_text(head + "\n" * 1_000_000, encoding="utf-8")
    with flat.open("wb") as file:
        file.write(head.encode() + b"\n")
        file.truncate(100 * 1024 * 1024)

    def bounded() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (256 * 1024 * 1024,) * 2)

    for path in (million, flat):
        command = [sys.executable, "-c", CLI, "referee", str(path)]
        done = subprocess.run(command, check=False, capture_output=True, text=True, preexec_fn=bounded)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert "RecordError" in done.stderr


# --- score -----------------------------------------------------------------------------------------------------


def test_score_of_a_record_has_every_line_with_its_clause(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["score", str(GOLDEN), "--json"]) == 0
    (sheet,) = lines(capsys.readouterr().out)
    assert sheet["game"] == "igloo-pop"
    assert [sheet["players"][seat]["name"] for seat in sheet["ranking"][0]] == ["Zoé"]
    for player in sheet["players"]:
        assert sum(line["points"] for line in player["lines"]) == player["total"]
        assert all(line["clauses"] and line["en"] and line["fr"] for line in player["lines"])
    assert run(["score", str(GOLDEN), "--lang", "fr"]) == 0
    assert "1. Zoé (vert)\u00a0: " in capsys.readouterr().out


def test_score_of_a_position(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state = read(GOLDEN.read_text(encoding="utf-8").splitlines()).state
    assert state is not None
    path = tmp_path / "p.json"
    path.write_text(json.dumps(state.position()), encoding="utf-8")
    assert run(["score", "--position", str(path), "--json"]) == 0
    (sheet,) = lines(capsys.readouterr().out)
    assert [p["total"] for p in sheet["players"]] == [s.total for s in state.score().sheets]


@pytest.mark.parametrize(
    ("position", "totals"),
    [
        (
            {
                "game": "igloo-pop",
                "players": [
                    {"colour": "red", "cards": ["7", "4/5"], "own": 4, "captured": 2},
                    {"colour": "blue", "own": 8},
                ],
            },
            {"red": 5 + 4 + 2, "blue": 8},
        ),
        (
            {"game": "ice-team", "players": [{"colour": "red", "fresh": 3, "frozen": 2}, {"colour": "green"}]},
            {"red": 5, "green": 0},
        ),
        (
            {"game": "arctic", "places": {f"pile{n}": {"things": [{"kind": "fox"}]} for n in (1, 2, 3)}},
            {"Player 1": 3},
        ),
    ],
)
def test_what_is_to_be_counted_is_enough_for_a_score(
    position: dict[str, Any], totals: dict[str, int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.json"
    path.write_text(json.dumps(position), encoding="utf-8")
    assert run(["score", "--position", str(path), "--json"]) == 0
    sheet = json.loads(capsys.readouterr().out)
    assert {player["name"]: player["total"] for player in sheet["players"]} == totals


def test_score_of_an_impossible_position_says_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    position = game("igloo-pop").start(game("igloo-pop").seats(2)).position()
    position["players"][0]["own"] = 13
    path = tmp_path / "p.json"
    path.write_text(json.dumps(position), encoding="utf-8")
    assert run(["score", "--position", str(path)]) == 1
    assert "13 red thalers" in capsys.readouterr().out
    assert run(["score", "--position", str(path), "--json"]) == 1
    assert lines(capsys.readouterr().out)[0]["problems"][0]["clauses"] == ["POP-K.6"]


def test_score_of_a_broken_record_scores_the_valid_prefix(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = GOLDEN.read_text(encoding="utf-8").splitlines()
    for status, extra in ((1, '"start"'), (2, "gibberish")):
        path = tmp_path / "r.jsonl"
        path.write_text("\n".join([*text[:40], extra, *text[40:]]), encoding="utf-8")
        assert run(["score", str(path)]) == status
        out = capsys.readouterr()
        assert "The game is not over." in out.out
        assert "line 41" in out.err


def test_score_wants_one_thing_to_score(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["score"]) == 2
    assert run(["score", str(GOLDEN), "--position", str(GOLDEN)]) == 2
    assert capsys.readouterr().err.count("\n") == 2


# --- playout ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", games(examples=True))
def test_a_playout_is_a_record_that_the_referee_accepts(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for count in (game(name).players[0], game(name).players[-1]):
        assert run(["playout", name, "--players", str(count), "--seed", "5"]) == 0
        path = tmp_path / "r.jsonl"
        path.write_text(capsys.readouterr().out, encoding="utf-8")
        assert run(["referee", str(path), "--json"]) == 0
        assert lines(capsys.readouterr().out)[-1]["outcome"] is not None
        assert run(["score", str(path), "--json"]) == 0
        assert len(lines(capsys.readouterr().out)[0]["players"]) == count
        assert run(["score", str(path)]) == 0
        assert capsys.readouterr().out


def test_a_playout_takes_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["playout", "igloo-pop", "--option", "pop.cards_end=last_round"]) == 0
    header = lines(capsys.readouterr().out)[0]
    assert header["options"] == {"pop.cards_end": "last_round", "pop.none_match": "remove"}
    assert len(header["players"]) == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["chess"],
        ["igloo-pop", "--players", "7"],
        ["igloo-pop", "--option", "pop.speed=1"],
        ["igloo-pop", "--option", "pop.cards_end"],
        ["igloo-pop", "--option", "pop.cards_end=never"],
        ["igloo-pop", "--seed", "x"],
    ],
)
def test_a_playout_that_cannot_be_ends_in_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["playout", *arguments]) == 2
    out = capsys.readouterr()
    assert out.out == ""
    assert out.err.count("\n") == 1


# --- as people ask ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "first"),
    [
        (["POP", "3.4"], ["POP-3.4"]),
        (["pop-3.4."], ["POP-3.4"]),
        (["(IGLU-Q.3)?"], ["IGLU-Q.3"]),
        (["ours", "coin"], None),
    ],
)
def test_rule_understands_how_people_ask(
    words: list[str], first: list[str] | None, capsys: pytest.CaptureFixture[str]
) -> None:
    """French words are looked up in French, though English is spoken and one of them is an English word too."""
    assert run(["rule", *words, "--json"]) == 0
    found = [item["id"] for item in lines(capsys.readouterr().out)]
    if first is not None:
        assert found == first
    else:
        assert "IGLU-1.E.11d" in found[:2]


def test_rule_finds_how_ties_are_broken_in_every_game(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rule", "tie", "--json"]) == 0
    assert {"ARC-V.4", "ICE-E.2", "POP-4.4", "IGLU-V.1"} <= {item["id"] for item in lines(capsys.readouterr().out)}


@pytest.mark.parametrize("begun", [True, False])
def test_explain_says_what_is_wrong_with_places_alone(
    begun: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A photo tells no hands and no trophies: an impossible board is called so all the same [IGLU-2.C.1]."""
    rules = game("iglu-iglu")
    state: Any = rules.start(rules.seats(2))
    rng = Random(5)
    while begun and state.phase in (SETTING, PLACING):
        state = state.after(state.chance(rng) if state.to_move == CHANCE else rng.choice(list(state.moves())))
    places = state.position()["places"]
    floe = next(name for name, place in places.items() if place["ground"] == "floe" and not place["things"])
    wrong = {**places, floe: {"ground": "floe", "things": [{"kind": "igloo", "colour": "red", "count": 2}]}}
    before, after = tmp_path / "before.json", tmp_path / "after.json"
    before.write_text(json.dumps(state.position()), encoding="utf-8")
    after.write_text(json.dumps({"game": "iglu-iglu", "places": wrong}), encoding="utf-8")
    assert run(["explain", "iglu-iglu", str(before), str(after), "--json"]) == 1
    (answer,) = lines(capsys.readouterr().out)
    assert not answer["legal"] and any(floe in json.dumps(problem) for problem in answer["problems"])
