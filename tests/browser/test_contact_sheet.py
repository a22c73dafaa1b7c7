"""Every room of the page on one sheet."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image, ImageStat

from companion.lab.contact_sheet import BESIDE, DEVICES, ENDED, GAP, HEAD, LABEL, ON_BOARD, named
from companion.lab.worlds.boards import BOARDS

pytestmark = pytest.mark.browser


def made(*arguments: str) -> subprocess.CompletedProcess[str]:
    # As a program of its own: this process may drive a browser already, and Playwright allows one driver in each.
    program = [sys.executable, "-m", "companion.lab.contact_sheet", *arguments]
    return subprocess.run(program, check=False, capture_output=True, text=True, timeout=300)


def test_a_sheet_shows_rooms_on_every_device_in_both_themes(tmp_path: Path) -> None:
    out = tmp_path / "sheet.png"
    done = made(str(out), "--language", "fr", "--room", "start", "--room", "round: table")
    assert done.returncode == 0, done.stderr
    with Image.open(out) as sheet:
        high = max(device.size[1] for device in DEVICES) + GAP
        assert sheet.size == (LABEL + 2 * sum(device.shown + GAP for device in DEVICES), HEAD + 2 * high)
        for row in range(2):
            left, mean = LABEL, []
            for device in (*DEVICES, *DEVICES):
                wide, tall = device.size
                cell = sheet.crop((left, HEAD + row * high, left + wide, HEAD + row * high + tall)).convert("L")
                low, most = cell.getextrema()
                assert most - low > 100, "something is drawn"
                mean.append(ImageStat.Stat(cell).mean[0])
                left += wide + GAP
            assert min(mean[:3]) > max(mean[3:]), "the first three are light, the others dark"


def test_the_television_is_shown_on_a_phone_too(tmp_path: Path) -> None:
    """A board that is folded there has letters of no size: made as large as can be read they stopped the browser."""
    out = tmp_path / "sheet.png"
    done = made(str(out), "--language", "en", "--device", "phone", "--room", "arctic: television", "--room", "album")
    assert done.returncode == 0, done.stderr
    with Image.open(out) as sheet:
        assert sheet.size[1] == HEAD + 2 * (DEVICES[0].size[1] + GAP)


@pytest.mark.long
def test_every_window_opens(tmp_path: Path) -> None:
    windows = [room for room in (*BESIDE, *named(BOARDS[-1], *ON_BOARD), *ENDED) if room.taps]
    assert len(windows) > 6
    asked = [word for room in windows for word in ("--room", room.name)]
    done = made(str(tmp_path / "sheet.png"), "--language", "de", "--device", "phone", *asked)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_room_that_there_is_not_is_said(tmp_path: Path) -> None:
    done = made(str(tmp_path / "sheet.png"), "--language", "en", "--room", "attic")
    assert done.returncode == 2
    assert "No room is called so." in done.stderr
