"""`companion vision follow` on a rendered table: a turn that is seen is entered; bad input is one line."""

from __future__ import annotations

import json
import shutil
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cv2
import pytest

from companion.cli import run
from companion.events.hub import Hub
from companion.follow.cards import CardTable
from companion.follow.follower import CameraFollower
from companion.follow.following import FollowState
from companion.follow.table_model import SeenTable
from companion.lab.worlds.board import RenderedBoard, nearby, random_view, shoot
from companion.lab.worlds.board_art import Art
from companion.night.answers import TABLE
from companion.night.commands.night import Night
from companion.night.log.journal import Journal
from companion.ports import DeviceKind
from companion.rules import game
from companion.settings import Settings
from vision.board.labels import from_json
from vision.board.layout import open_layout
from vision.board.patches import Sampler
from vision.camera.frame import CapturedFrame
from vision.decode.photo import read_photo_file
from vision.read.lesson import learn
from vision.read.profile import load_profile, save_profile
from vision.read.relocate import BoardRelocator

pytestmark = pytest.mark.learning

RULES = game("iglu-iglu")
SET_UP = ["draw d4 fish 1", "draw e4 fish 3", "draw d5 fish 2", "draw e5 fish 3"]
INUIT = (("b1", "f1"), ("a5", "h3"), ("c8", "g8"), ("e1", "a3"), ("h6", "d8"))
NEW = ("c6", "f6", "g3")
PAGE_SAYS = {
    FollowState.WATCHING: "unchanged",
    FollowState.ENTERED: "entered",
    FollowState.QUESTION: "question",
}
TURN = ["melt c4", "reveal c4 kept", "walk b1 b2", "walk b2 b3", "walk c8 c7", "end"]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a record up to the first turn, photos before and after that turn, and a profile taught from the first."""
    folder = tmp_path_factory.mktemp("follow")
    players = RULES.seats(2)
    moves = [*SET_UP, *(f"place {c} {q}" for pair in INUIT for c, q in zip(("red", "blue"), pair, strict=True))]
    state: Any = RULES.start(players)
    positions = []
    for text in (*moves, None, *TURN):
        if text is None:
            positions.append(state.position()["places"])
        else:
            state = state.play(RULES.parse(text))
    positions.append(state.position()["places"])
    # Then three things of a kind that is never taught stand where nothing may be built.
    igloo = {"kind": "igloo", "colour": "red", "count": 1}
    positions.append({n: {**there, "things": [igloo]} if n in NEW else there for n, there in positions[-1].items()})
    header = json.dumps({"game": "iglu-iglu", "players": players})
    (folder / "game.jsonl").write_text("\n".join([header, *moves]) + "\n", encoding="utf-8")
    art = Art(41)
    camera, light = random_view(3, RenderedBoard({}, art=art))
    for number, places in enumerate(positions):
        shot = shoot(RenderedBoard(places, art=art, seed=1000 + number), *nearby(camera, light, number, 1.0), number)
        (folder / f"{number}.jpg").write_bytes(shot.jpeg)
    profile = folder / "profile"
    photo = str(folder / "0.jpg")
    assert run(["vision", "calibrate", "iglu-iglu", photo, "--profile", str(profile)]) == 0
    # As `vision teach` does, but in a few seconds: with fewer examples of each thing.
    layout = open_layout("iglu-iglu")
    known = load_profile(profile, layout)
    image = read_photo_file(folder / "0.jpg")
    sampler = Sampler(layout)
    pose = BoardRelocator(known, sampler).find(image)
    assert pose is not None
    contents = {layout.index[name]: content for name, content in from_json(positions[0], layout).items()}
    save_profile(profile, learn(known.taught(sampler.straighten(image, pose), contents), size=0.5))
    return folder


def test_a_turn_that_a_photo_shows_is_told(table: Path, capfd: pytest.CaptureFixture[str]) -> None:
    capfd.readouterr()
    photos = [str(table / "0.jpg"), str(table / "1.jpg")]
    call = ["vision", "follow", "iglu-iglu", str(table / "game.jsonl"), *photos, "--profile", str(table / "profile")]
    status = run([*call, "--json"])
    first, second = (json.loads(line) for line in capfd.readouterr().out.splitlines())
    assert first["state"] == "unchanged" and first["photo"] == photos[0] and first["board"]["found"]
    # One photo taught it all it knows: it may ask, but what it thinks likeliest is what was played.
    assert second["state"] in ("entered", "question") and status == (second["state"] == "question")
    assert sorted(second["candidates"][0]["turn"]) == sorted(TURN)
    assert sum(candidate["p"] for candidate in second["candidates"]) <= 1.001
    assert run(call) == status
    out = capfd.readouterr().out
    assert f"{photos[0]}: nothing has changed" in out and "· melt c4" in out
    assert "The floe on c4 is face down" in out, "in sentences, notation beside them"
    assert run([*call, "--lang", "fr"]) == status
    assert "rien n’a changé" in capfd.readouterr().out


def test_the_command_says_what_the_page_says(table: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The same photos of a drawn game, shown to the service's follower and to the command."""
    shutil.copytree(table / "profile", tmp_path / "profile")
    known = SeenTable("iglu-iglu", tmp_path / "profile", on_change=lambda: None)
    journal, settings, shown = (
        Journal(tmp_path / "journal.sqlite"),
        Settings(None),
        SimpleNamespace(t=1000.0, jpeg=b"", since=0.0),
    )
    settings.set({"camera_settle_tenths": 3, "camera_follow": True})
    night = Night(journal, Hub())
    numbers = count()
    follower = CameraFollower(
        night,
        settings,
        newest=lambda: CapturedFrame(
            t=shown.t, number=next(numbers), source="test", kind=DeviceKind.RECORDED, jpeg=shown.jpeg
        ),
        table_of=lambda _: known,
        on_change=lambda: None,
        cards=CardTable(tmp_path / "tables"),
        clock=lambda: shown.t,
    )
    seats = [{"name": name, "colour": colour} for name, colour in (("Ann", "red"), ("Bob", "blue"))]
    record = (table / "game.jsonl").read_text(encoding="utf-8").splitlines()[1:]
    for command, body in (
        ("open-match", {"game": "iglu-iglu", "players": seats, "draw": False}),
        ("moves", {"moves": record}),
    ):
        assert night.do(command, body, by=TABLE, action_id=command).ok
    photos = [str(table / name) for name in ("0.jpg", "1.jpg", "2.jpg")]
    page = []
    for photo in photos:
        shown.jpeg, shown.since = Path(photo).read_bytes(), shown.t
        while follower.now.looked_t <= shown.since:
            shown.t += 0.2
            follower.tick()
        page.append((follower.now.state, follower.now.question, night.snapshot()))
    journal.close()
    capfd.readouterr()
    call = ["vision", "follow", "iglu-iglu", str(table / "game.jsonl"), *photos, "--profile", str(table / "profile")]
    assert run([*call, "--json"]) == 1
    lines = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    states = ["unchanged", "entered", "question"]
    assert [line["state"] for line in lines] == states == [PAGE_SAYS[state] for state, _, _ in page]
    entered = page[1][2]
    assert entered is not None
    assert lines[1]["turn"] == [str(move) for move in entered.moves[len(record) :]]
    asked = page[2][1]
    assert asked is not None
    assert lines[2]["places"] == list(asked.places)
    offered = [one for one in lines[2]["candidates"] if one["kind"] != "none"][: len(asked.candidates)]
    assert [one["turn"] for one in offered] == [[str(move) for move in one.moves] for one in asked.candidates]
    assert [one["p"] for one in offered] == pytest.approx([one.p for one in asked.candidates], abs=0.001)


def test_the_referee_rules_by_photo(table: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """From a photo to the next, and from the record to it, a legal turn leads; not from the second to the first."""
    first, second, record = (str(table / name) for name in ("0.jpg", "1.jpg", "game.jsonl"))
    profile = ["--profile", str(table / "profile")]
    out = table / "ruled.png"
    for before in (first, record):
        capfd.readouterr()
        assert run(["vision", "rule", "iglu-iglu", before, second, *profile, "--json", "--out", str(out)]) == 0
        told = json.loads(capfd.readouterr().out)
        assert told["legal"] and "melt c4" in told["turns"][0] and "c4" in told["changed"] and told["wrong"] == []
        assert cv2.imread(str(out)).shape == cv2.imread(second).shape
    assert run(["vision", "rule", "iglu-iglu", second, first, *profile, "--lang", "fr"]) == 1
    assert "Aucun tour permis" in capfd.readouterr().out
    assert run(["vision", "rule", "iglu-iglu", str(table / "none.jsonl"), first, *profile]) == 2
    assert len(capfd.readouterr().err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("lang", "sentence"),
    [
        ("en", "The floe on c4 is face down"),
        ("fr", "La tuile en c4 est face cachée"),
        ("de", "Die Eisscholle auf c4 ist verdeckt"),
    ],
)
def test_the_ruling_by_photo_is_told_step_by_step(
    lang: str, sentence: str, table: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    record, photo = str(table / "game.jsonl"), str(table / "1.jpg")
    capfd.readouterr()
    profile = ["--profile", str(table / "profile")]
    assert run(["vision", "rule", "iglu-iglu", record, photo, *profile, "--lang", lang]) == 0
    (line,) = [line for line in capfd.readouterr().out.splitlines() if sentence in line]
    assert line.index(sentence) < line.index("· melt c4")


def test_bad_input_is_one_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    header = json.dumps({"game": "iglu-iglu", "players": RULES.seats(2)})
    records = {"good": f"{header}\n{SET_UP[0]}\n", "wrong": f"{header}\nmelt a1\n", "nobody": "{}\n", "empty": ""}
    for name, text in records.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    for name in (*records, "missing"):
        capfd.readouterr()
        arguments = [str(tmp_path / name), str(tmp_path / "photo.jpg"), "--profile", str(tmp_path / "none")]
        assert run(["vision", "follow", "iglu-iglu", *arguments]) == 2, name
        captured = capfd.readouterr()
        assert captured.out == "" and captured.err.strip() and "Traceback" not in captured.err
