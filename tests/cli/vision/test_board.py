"""A rendered Iglu Iglu table through the command line: calibrate, teach, look; and what is said to bad input."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from companion.cli import run
from companion.lab.worlds.board import BoardShot, RenderedBoard, nearby, random_view, shoot
from companion.lab.worlds.board_art import Art
from vision.board.detect import BoardError
from vision.board.labels import from_json
from vision.board.layout import open_layout
from vision.read.calibrate import calibrate
from vision.read.profile import ProfileError, load_profile
from vision.read.reader import TaughtBoard

pytestmark = pytest.mark.learning

INUIT = {"kind": "inuit", "count": 1}


def set_up() -> dict[str, Any]:
    """The board at the set-up with some inuit placed."""
    places: dict[str, Any] = {f"{c}{r}": {"ground": "floe", "things": []} for c in "abcdefgh" for r in range(1, 9)}
    for corner in ("a1", "a8", "h1", "h8"):
        places[corner] = {"ground": "land", "things": []}
    for name, value in (("d4", 1), ("e4", 3), ("d5", 2), ("e5", 3)):
        places[name] = {"ground": "water", "things": [{"kind": "fish", "value": value, "count": 1}]}
    for name, colour in (("b1", "red"), ("f1", "blue"), ("a5", "red"), ("h3", "blue"), ("c8", "red"), ("g8", "blue")):
        places[name] = {"ground": "floe", "things": [{**INUIT, "colour": colour}]}
    return places


def later() -> dict[str, Any]:
    """The same board some turns later: floes have gone, inuit have moved, two stand together."""
    places = set_up()
    for name in ("c4", "c5", "f4"):
        places[name] = {"ground": "water", "things": []}
    for name in ("b1", "f1", "a5"):
        places[name] = {"ground": "floe", "things": []}
    places["b2"] = {"ground": "floe", "things": [{**INUIT, "colour": "red"}]}
    places["g3"] = {"ground": "floe", "things": [{**INUIT, "colour": "blue"}]}
    return places


@dataclass(frozen=True)
class Rendered:
    """Photos of one table in files, and the shots they were made of."""

    folder: Path
    shots: list[BoardShot]


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Rendered:
    folder = tmp_path_factory.mktemp("board")
    art = Art(41)
    camera, light = random_view(3, RenderedBoard({}, art=art))
    shots = []
    for number, places in enumerate((set_up(), later())):
        shots.append(
            shoot(RenderedBoard(places, art=art, seed=1000 + number), *nearby(camera, light, number, 1.5), number)
        )
        (folder / f"{number}.jpg").write_bytes(shots[-1].jpeg)
        (folder / f"{number}.json").write_text(json.dumps({"game": "iglu-iglu", "places": places}))
    return Rendered(folder, shots)


def off_in_places(corners: Any, shot: BoardShot) -> float:
    unit = np.sqrt(cv2.contourArea(shot.grid.astype(np.float32))) / 8
    return float(np.linalg.norm(np.array(corners) - shot.grid, axis=1).mean() / unit)


@pytest.fixture(scope="module")
def profile(rendered: Rendered) -> Path:
    profile = rendered.folder / "profile"
    photo = str(rendered.folder / "0.jpg")
    assert run(["vision", "calibrate", "iglu-iglu", photo, "--profile", str(profile)]) == 0
    labels = str(rendered.folder / "0.json")
    assert run(["vision", "teach", "iglu-iglu", photo, labels, "--profile", str(profile)]) == 0
    return profile


def test_calibrate_by_markers_by_lines_and_by_corners(
    rendered: Rendered, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    photo, shot = rendered.folder / "0.jpg", rendered.shots[0]
    out = tmp_path / "grid.png"
    call = ["vision", "calibrate", "iglu-iglu", str(photo), "--profile", str(tmp_path / "p"), "--json"]
    assert run([*call, "--out", str(out)]) == 0
    board = json.loads(capfd.readouterr().out)["board"]
    assert (board["found"], board["how"]) == (True, "markers")
    assert off_in_places(board["corners"], shot) < 0.06
    assert 0 < board["error_px"] < 5
    assert cv2.imread(str(out)).shape == shot.image.shape
    clicked = shot.grid + np.array([[9, -7], [-8, 6], [5, 9], [-9, -5]])
    assert run([*call, "--corners", " ".join(f"{x:.0f},{y:.0f}" for x, y in clicked)]) == 0
    board = json.loads(capfd.readouterr().out)["board"]
    assert board["how"] == "corners"
    assert off_in_places(board["corners"], shot) < 0.06


def test_loose_tiles_and_a_bent_lens_move_the_corners_little() -> None:
    off = []
    for seed in (5, 7):
        board = RenderedBoard(set_up(), art=Art(60 + seed, seed % 3), seed=seed * 1000)
        camera, light = random_view(seed, board)
        shot = shoot(board, replace(camera, k1=-0.12, k2=0.0), light, seed)
        (found,) = calibrate([shot.image], open_layout("iglu-iglu"))
        off.append(off_in_places(found.pose.corners(8, 8), shot))
        unit = found.pose.unit_px(8, 8)
        assert off[-1] < 3 * found.pose.error_px / unit < 0.12
    assert np.mean(off) < 0.02


def test_look_after_one_photo_was_taught(rendered: Rendered, profile: Path, capfd: pytest.CaptureFixture[str]) -> None:
    capfd.readouterr()
    photos = [str(rendered.folder / "0.jpg"), str(rendered.folder / "1.jpg")]
    assert run(["vision", "look", "iglu-iglu", *photos, "--profile", str(profile), "--json"]) == 0
    answers = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    for answer, shot, photo, truth in zip(answers, rendered.shots, photos, (set_up(), later()), strict=True):
        assert answer["photo"] == photo
        assert answer["board"]["found"] is True
        assert off_in_places(answer["board"]["corners"], shot) < 0.06
        assert set(answer["places"]) == set(truth)
        wrong = []
        for name, place in answer["places"].items():
            assert sum(place["ground"].values()) == pytest.approx(1, abs=1e-3)
            ground = max(place["ground"], key=place["ground"].__getitem__)
            said = {(t["kind"], t.get("colour", t.get("value"))): t["count"] for t in place["things"]}
            meant = {(t["kind"], t.get("colour", t.get("value"))): t["count"] for t in truth[name]["things"]}
            if (ground, said) != (truth[name]["ground"], meant):
                wrong.append(name)
        assert len(wrong) <= 2, wrong


def test_bad_input_is_one_sentence_and_changes_nothing(
    rendered: Rendered, profile: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = {path.name: path.read_bytes() for path in profile.iterdir()}
    photo, labels = str(rendered.folder / "1.jpg"), rendered.folder / "1.json"
    empty = tmp_path / "wood.jpg"
    wood = np.random.default_rng(0).normal(120, 6, (600, 800, 3)).clip(0, 255).astype(np.uint8)
    cv2.imwrite(str(empty), wood)
    csv = tmp_path / "labels.csv"
    csv.write_text("place,ground,kind,colour_or_value,count\nd4,lava,,,\n")
    layout = tmp_path / "game.toml"
    layout.write_text('[board]\nkind = "grid"\ncolumns = 4\nrows = 99\n[ground]\nclasses = ["a"]\n')
    p = ["--profile", str(profile)]
    calls: list[tuple[list[str], str]] = [
        (["teach", "iglu-iglu", photo, str(csv), *p], "no ground 'lava'"),
        (["teach", "iglu-iglu", photo, str(tmp_path / "none"), *p], "cannot be read"),
        (["teach", "iglu-iglu", str(empty), str(labels), *p], "The board was not found"),
        (["teach", "arctic", photo, str(labels), *p], "another layout"),
        (["teach", "iglu-iglu", photo, str(labels), photo, *p], "needs its labels behind it"),
        (["look", "iglu-iglu", str(csv), *p], "not a JPEG"),
        (["look", "iglu-iglu", photo, "--profile", str(tmp_path / "nothing")], "no profile"),
        (["look", str(layout), photo, *p], "rows is a whole number"),
        (["look", "chess", photo, *p], "neither a layout file nor"),
        (["calibrate", "iglu-iglu", str(empty), *p], "No grid was found"),
        (["calibrate", "iglu-iglu", photo, *p, "--corners", "1,2 3,4"], "--corners"),
        (["calibrate", "iglu-iglu", photo, *p, "--corners", "9,9 9,800 900,800 900,9"], "clockwise"),
    ]
    for arguments, sentence in calls:
        assert run(["vision", *arguments]) == 2, arguments
        said = capfd.readouterr()
        assert sentence in said.err, said.err
        assert said.err.count("\n") == 1
    assert {path.name: path.read_bytes() for path in profile.iterdir()} == before
    assert run(["vision", "look", "iglu-iglu", str(empty), *p]) == 1


@pytest.fixture(scope="module")
def table(profile: Path) -> TaughtBoard:
    return TaughtBoard.open(open_layout("iglu-iglu"), profile)


def test_a_board_is_found_turned_shrunk_and_moved(rendered: Rendered, profile: Path) -> None:
    image = rendered.shots[1].image
    height, width = image.shape[:2]
    corners = rendered.shots[1].grid
    turned = cv2.rotate(image, cv2.ROTATE_90_CLOCKWISE)
    small = cv2.resize(image, (width * 2 // 3, height * 2 // 3), interpolation=cv2.INTER_AREA)
    shifted = cv2.warpAffine(image, np.array([[1, 0, 90.0], [0, 1, -40.0]]), (width, height), borderValue=(60, 70, 80))
    views = [
        (turned, np.column_stack([height - 1 - corners[:, 1], corners[:, 0]])),
        (small, (corners + 0.5) * 2 / 3 - 0.5),
        (shifted, corners + np.array([90, -40])),
    ]
    unit = np.sqrt(cv2.contourArea(corners.astype(np.float32))) / 8
    for view, there in views:
        found = TaughtBoard.open(open_layout("iglu-iglu"), profile).find(view)
        assert found is not None
        scale = view.shape[1] * view.shape[0] / (width * height)
        off = np.linalg.norm(found.corners(8, 8) - there, axis=1).mean()
        assert off / (unit * np.sqrt(scale)) < 0.07


def test_a_hand_is_something_else(rendered: Rendered, table: TaughtBoard) -> None:
    shot = rendered.shots[1]
    crossings = shot.points.reshape(9, 9, 2)
    outline = [crossings[2, 5], crossings[2, 8], crossings[5, 8], crossings[5, 5]]
    held = shot.image.copy()
    cv2.fillConvexPoly(held, np.round(np.array(outline)).astype(np.int32), (120, 150, 205))
    pose = table.find(shot.image)
    before, look = table.look(shot.image, pose), table.look(held, pose)
    covered = {f"{column}{row}" for column in "fgh" for row in (4, 5, 6)}
    assert all(look.places[name].unsure for name in covered)
    assert sum(before.places[name].unsure for name in covered) <= 2
    away = [name for name in look.places if name[0] in "abcd"]
    assert [look.places[name].content for name in away] == [before.places[name].content for name in away]


def test_what_was_confirmed_is_believed_the_more(rendered: Rendered, profile: Path) -> None:
    layout = open_layout("iglu-iglu")
    table = TaughtBoard.open(layout, profile)
    truth = from_json({"places": later()}, layout)
    before = table.look(rendered.shots[1].image)
    table.confirm(before, truth)
    after = table.look(rendered.shots[1].image)
    gained = [after.places[name].probability(c) - before.places[name].probability(c) for name, c in truth.items()]
    assert min(gained) > -0.05
    assert after.places["f4"].log_likelihood(truth["f4"]) >= before.places["f4"].log_likelihood(truth["f4"])


def test_boards_that_are_cut_off_or_doubly_marked(rendered: Rendered) -> None:
    layout = open_layout("iglu-iglu")
    image = rendered.shots[0].image
    with pytest.raises(BoardError):
        calibrate([np.ascontiguousarray(image[: image.shape[0] // 2])], layout)
    doubled = image.copy()
    marker = rendered.shots[0].cards[0]
    left, far = (marker.min(axis=0) - 14).astype(int)
    right, near = (marker.max(axis=0) + 14).astype(int)
    card = image[far:near, left:right]
    doubled[-card.shape[0] - 4 : -4, 600 : 600 + card.shape[1]] = card
    with pytest.raises(BoardError, match="there twice"):
        calibrate([doubled], layout)


def test_a_damaged_profile_is_one_sentence(profile: Path, tmp_path: Path) -> None:
    layout = open_layout("iglu-iglu")
    whole = {path.name: path.read_bytes() for path in profile.iterdir()}
    said = json.loads(whole["profile.json"])
    network = next(name for name in whole if name.startswith("network-"))
    damages: list[tuple[str, bytes]] = [
        ("profile.json", b"{"),
        ("profile.json", b"[]"),
        ("profile.json", json.dumps({**said, "version": 99}).encode()),
        ("profile.json", json.dumps({**said, "network": "../../secret"}).encode()),
        ("profile.json", json.dumps({**said, "corners": [1, 2]}).encode()),
        (network, whole[network][:2000]),
        (said["look"], b"no picture"),
    ]
    for number, (name, data) in enumerate(damages):
        folder = tmp_path / str(number)
        folder.mkdir()
        for other, content in {**whole, name: data}.items():
            (folder / other).write_bytes(content)
        with pytest.raises(ProfileError) as caught:
            load_profile(folder, layout)
        assert "\n" not in str(caught.value)
    assert load_profile(profile, layout).network is not None
