"""`companion vision table` and `companion kit`, as a person runs them."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from companion.cli import run
from companion.lab.worlds import table
from vision import messages
from vision.decode.photo import read_photo_file

pytestmark = pytest.mark.process


@pytest.fixture
def photo(tmp_path: Path, still: list[table.Picture]) -> Path:
    path = tmp_path / "photo.jpg"
    path.write_bytes(still[0].jpeg)
    return path


def test_the_straightened_table(
    photo: Path, tmp_path: Path, still: list[table.Picture], capfd: pytest.CaptureFixture[str]
) -> None:
    for suffix in (".png", ".jpg"):
        out = tmp_path / f"table{suffix}"
        assert run(["vision", "table", str(photo), "--out", str(out), "--json"]) == 0
        answer = json.loads(capfd.readouterr().out)
        assert (answer["found"], answer["missing"], answer["note"]) == (True, [], messages.TABLE_FOUND)
        assert (answer["width"], answer["height"], answer["out"]) == (1280, 960, str(out))
        for number, quad in answer["markers"].items():
            assert np.abs(np.array(quad) - still[0].corners[int(number)]).max() < 0.5
        assert len(answer["corners"]) == 4
        straight = read_photo_file(out)
        assert straight.shape[:2] == (answer["table"]["height"], answer["table"]["width"])
    assert run(["vision", "table", str(photo)]) == 0
    said = capfd.readouterr().out
    assert "marker 0: " in said
    assert messages.TABLE_FOUND in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["photo.jpg", "table.jpg", "table.png"]


def test_no_table_is_a_no(tmp_path: Path, hidden: table.Picture, capfd: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "hidden.png", tmp_path / "out.png"
    cv2.imwrite(str(path), hidden.image)
    assert run(["vision", "table", str(path), "--out", str(out)]) == 1
    said = capfd.readouterr()
    assert "missing: 2" in said.out
    assert messages.SOME_MISSING in said.out
    assert said.err == ""
    assert not out.exists()
    assert run(["vision", "table", str(path), "--json"]) == 1
    answer = json.loads(capfd.readouterr().out)
    assert (answer["found"], answer["missing"], answer["table"], answer["out"]) == (False, [2], None, None)


def test_bad_input_is_one_line(tmp_path: Path, photo: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty.jpg").write_bytes(b"")
    (tmp_path / "text.jpg").write_text("hello")
    (tmp_path / "cut.jpg").write_bytes(photo.read_bytes()[:20_000])
    calls = [
        ([str(tmp_path / "none.jpg")], messages.FILE_UNREADABLE),
        ([str(tmp_path)], messages.FILE_UNREADABLE),
        ([str(tmp_path / "empty.jpg")], messages.PHOTO_EMPTY),
        ([str(tmp_path / "text.jpg")], messages.PHOTO_WRONG_TYPE),
        ([str(tmp_path / "cut.jpg")], messages.PHOTO_CUT_OFF),
        ([str(photo), "--out", str(tmp_path / "table.gif")], "--out must end in .png or .jpg"),
        ([str(photo), "--out", str(photo)], "--out would write over the photo"),
        ([str(photo), "--out", str(tmp_path / "none" / "table.png")], "cannot be written"),
        ([], "PHOTO"),
    ]
    for arguments, sentence in calls:
        assert run(["vision", "table", *arguments]) == 2
        said = capfd.readouterr()
        assert sentence in said.err
        assert said.err.count("\n") == 1
        assert "Traceback" not in said.err


def test_the_kit(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["kit"]) == 0
    assert run(["kit", "--paper", "letter", "--out", "letter.pdf"]) == 0
    assert "150 mm" in capfd.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["companion-kit.pdf", "letter.pdf"]
    assert (tmp_path / "letter.pdf").read_bytes().startswith(b"%PDF-")
    assert run(["kit", "--paper", "a5"]) == 2
    assert run(["kit", "--out", str(tmp_path / "none" / "kit.pdf")]) == 2
    assert "cannot be written" in capfd.readouterr().err
    # What is no plain file is written to, never replaced.
    assert run(["kit", "--out", "/dev/null"]) == 0
    assert Path("/dev/null").is_char_device()
