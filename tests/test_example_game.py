"""The example game through every room but the page: played, refereed, explained, scored, drawn, read from photos."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property, reduce
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from companion.cli import run
from companion.lab.bench.follow import followed
from companion.lab.worlds.board import RenderedBoard, nearby, random_view, shoot
from companion.lab.worlds.board_art import Art
from companion.lab.worlds.filmed import noisy
from companion.lab.worlds.mjpeg import MjpegServer
from companion.rules import game, games

NAME = "thin-ice"
MOVES = ["put b2", "roll hold", "put a1", "roll hold", "put a2", "roll crack", "put c3", "roll hold"]


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """A record of four turns; Red has b2, Blue has a1 and c3, and a2 is water."""
    lines = [json.dumps({"game": NAME, "players": [{"name": "Ann"}, {"name": "Bob"}]}), *map(json.dumps, MOVES)]
    path = tmp_path / "game.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def after(count: int) -> dict[str, Any]:
    """Return the position after so many moves."""
    state: Any = game(NAME).start([{"name": "Ann"}, {"name": "Bob"}])
    for text in MOVES[:count]:
        state = state.play(state.game.parse(text))
    position: dict[str, Any] = state.position()
    return position


def said(capfd: pytest.CaptureFixture[str], status: int, *call: str) -> list[dict[str, Any]]:
    """Return what a command says in JSON."""
    capfd.readouterr()
    assert run([*call, "--json"]) == status
    return [json.loads(line) for line in capfd.readouterr().out.splitlines()]


def test_it_is_an_example() -> None:
    assert NAME in games(examples=True)
    assert NAME not in games()


def test_its_clauses_are_told_to_those_who_name_them(capfd: pytest.CaptureFixture[str]) -> None:
    assert said(capfd, 0, "rule", "THIN-2.1")[0]["game"] == NAME
    assert said(capfd, 0, "rule", "--game", NAME, "die")[0]["game"] == NAME
    assert NAME not in {one["game"] for one in said(capfd, 0, "rule", "die")}


def test_random_games_of_it_are_refereed_and_scored(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["playout", NAME, "--seed", "5"]) == 0
    (tmp_path / "random.jsonl").write_text(capfd.readouterr().out, encoding="utf-8")
    rulings = said(capfd, 0, "referee", str(tmp_path / "random.jsonl"))
    assert all(one["legal"] for one in rulings if "move" in one)
    (sheet,) = said(capfd, 0, "score", str(tmp_path / "random.jsonl"))
    assert {clause for one in sheet["players"] for line in one["lines"] for clause in line["clauses"]} == {"THIN-3.2"}


def test_a_refused_move_is_told_with_its_clause_and_drawn(
    record: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with record.open("a", encoding="utf-8") as more:
        more.write('"put a2"\n')
    picture = tmp_path / "refused.svg"
    *_, last, _ = said(capfd, 1, "referee", str(record), "--svg", str(picture), "--lang", "fr")
    assert (last["legal"], last["clauses"]) == (False, ["THIN-1.1", "THIN-2.1"])
    assert "banquise a craqué" in last["fr"]
    drawn = picture.read_text(encoding="utf-8")
    assert drawn.startswith("<svg") and "THIN-1.1" in drawn


def test_a_position_is_scored(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "position.json").write_text(json.dumps(after(8)), encoding="utf-8")
    (sheet,) = said(capfd, 0, "score", "--position", str(tmp_path / "position.json"))
    assert [one["total"] for one in sheet["players"]] == [1, 2]


def test_a_turn_is_explained(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for name, count in (("before", 4), ("after", 6)):
        (tmp_path / f"{name}.json").write_text(json.dumps(after(count)), encoding="utf-8")
    (told,) = said(capfd, 0, "explain", NAME, str(tmp_path / "before.json"), str(tmp_path / "after.json"))
    assert told["turns"] == [["put a2", "roll crack"]]
    (told,) = said(capfd, 1, "explain", NAME, str(tmp_path / "after.json"), str(tmp_path / "before.json"))
    assert not told["legal"]


@pytest.mark.learning
@pytest.mark.timeout(1200)
def test_its_board_is_read_from_photos(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    art = Art(7)
    camera, light = random_view(5, RenderedBoard({}, columns=3, rows=3, art=art))
    for number, count in enumerate((0, 2, 4, 6, 8)):
        board = RenderedBoard(after(count)["places"], columns=3, rows=3, art=art, seed=number)
        shot = shoot(board, *nearby(camera, light, number, 1.0), number)
        (tmp_path / f"{number}.jpg").write_bytes(shot.jpeg)
        (tmp_path / f"{number}.json").write_text(json.dumps(after(count)), encoding="utf-8")
    profile = ["--profile", str(tmp_path / "table")]
    assert run(["vision", "calibrate", NAME, str(tmp_path / "0.jpg"), *profile]) == 0
    pairs = [str(tmp_path / f"{number}.{kind}") for number in range(4) for kind in ("jpg", "json")]
    assert run(["vision", "teach", NAME, *pairs, *profile]) == 0
    assert capfd.readouterr().out.splitlines()[-1].endswith("4 photos in the profile")
    (read,) = said(capfd, 0, "vision", "look", NAME, str(tmp_path / "4.jpg"), *profile)
    assert read["board"]["found"]
    for name, place in after(8)["places"].items():
        seen = read["places"][name]
        assert max(seen["ground"], key=seen["ground"].__getitem__) == place["ground"], name
        things = [(one["kind"], one["colour"], one["count"]) for one in place["things"]]
        assert [(one["kind"], one["colour"], one["count"]) for one in seen["things"]] == things, name


@dataclass(frozen=True)
class ThinIceFilm:
    """A game for a camera to follow, on a table that nothing was tuned on; the set-up is a bare board."""

    game: str = NAME
    setup: dict[str, Any] = field(default_factory=dict)
    set_up: list[str] = field(default_factory=list)
    corners: None = None
    lessons: tuple[()] = ()
    played: list[list[str]] = field(default_factory=lambda: [MOVES[n : n + 2] for n in range(0, len(MOVES), 2)])

    @cached_property
    def states(self) -> list[Any]:
        """Return the position before each turn, and the last one."""
        state: Any = game(NAME).start([{"name": "Ann"}, {"name": "Bob"}])
        return list(accumulate(self.played, lambda s, turn: reduce(_played, turn, s), initial=state))

    def frames(self, number: int) -> list[bytes]:
        """Return the board after so many turns, with noise of three kinds."""
        art = Art(11)
        camera, light = random_view(9, RenderedBoard({}, columns=3, rows=3, art=art))
        board = RenderedBoard(self.states[number].position()["places"], columns=3, rows=3, art=art, seed=1)
        return noisy(shoot(board, camera, light, 100 + number).jpeg, 3, number)


def _played(state: Any, text: str) -> Any:
    return state.play(state.game.parse(text))


@pytest.mark.long
@pytest.mark.learning
@pytest.mark.timeout(1200)
def test_it_is_followed_by_the_camera(tmp_path: Path) -> None:
    film = ThinIceFilm()
    with MjpegServer(film.frames(0), fps=5) as camera:
        found, scores = followed(tmp_path, film, camera)
    assert found.turns == len(film.played)
    assert (found.wrong, found.among) == (0, found.questions)
    assert scores == [1, 2]
