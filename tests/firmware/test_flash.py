"""`companion firmware flash`: the real avrdude, a boot loader on a pseudo-terminal; the packed images."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from companion.cli import firmware, run
from companion.flasher import images
from companion.flasher.avr import BOARDS, LOADER_BAUDS
from tests.worlds.bootloader import Board

pytestmark = pytest.mark.process


@pytest.fixture
def board() -> Iterator[Callable[..., Board]]:
    made: list[Board] = []

    def make(*arguments: Any, **options: Any) -> Board:
        made.append(Board(*arguments, **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


def content(name: str) -> dict[int, int]:
    return images.hex_bytes((images.PREBUILT / name).read_text(encoding="ascii"))


# --- the images of the package -----------------------------------------------------------------------------------


def test_a_rebuild_gives_the_same_bytes(tmp_path: Path) -> None:
    packed = {image.name: image for image in images.prebuilt()}
    assert {(image.chip, image.clock_hz, image.baud) for image in packed.values()} == {
        ("atmega328p", 16_000_000, 500_000),
        ("atmega328p", 8_000_000, 500_000),
        ("rp2040", 48_000_000, 500_000),
    }
    compilers = {"atmega328p": "avr-gcc", "rp2040": "arm-none-eabi-gcc"}
    built = {path.name: path for path in images._make(images.SOURCE, tmp_path / "again", 500_000)}
    for image in packed.values():
        said = subprocess.run([compilers[image.chip], "--version"], capture_output=True, text=True, check=True).stdout
        assert image.compiler == said.splitlines()[0], (
            "the images of the package were made by another compiler; build them again"
        )
        assert built[image.file].read_bytes() == (images.PREBUILT / image.file).read_bytes()


def test_the_package_holds_them_for_every_board() -> None:
    for one in BOARDS.values():
        image, path = images.find("atmega328p", one.clock_hz, 500_000)
        assert path.is_file() and image.clock_hz == one.clock_hz
        assert one.loader_baud in LOADER_BAUDS
    with pytest.raises(images.FirmwareError, match="There is no image"):
        images.find("atmega328p", 20_000_000, 500_000)


def test_a_damaged_package_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "PREBUILT", tmp_path)
    monkeypatch.setattr(images, "SOURCE", tmp_path / "none")
    assert images.prebuilt() == []
    (tmp_path / images.MANIFEST).write_text("[]")
    with pytest.raises(images.FirmwareError, match="There is no image"):
        images.find("atmega328p", 16_000_000, 500_000)
    (tmp_path / images.MANIFEST).write_text(
        json.dumps([{**dict.fromkeys(images.Image.__dataclass_fields__, "x"), "file": "x.hex"}])
    )
    with pytest.raises(images.FirmwareError, match="is damaged"):
        images.prebuilt()


# --- flashing ----------------------------------------------------------------------------------------------------


def test_a_board_is_flashed_read_back_and_speaks(
    board: Callable[..., Board], capsys: pytest.CaptureFixture[str]
) -> None:
    nano = board(115_200)
    assert run(["firmware", "flash", "--port", nano.port, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["board"], said["chip"], said["speaks"], said["unit"]) == ("nano", "m328p", True, 7)
    wanted = content("igloo-atmega328p-16mhz-500000.hex")
    assert {address: nano.image[address] for address in wanted} == wanted
    assert nano.sessions == 1


def test_where_the_clock_cannot_be_told_a_person_says_it(
    board: Callable[..., Board], capsys: pytest.CaptureFixture[str]
) -> None:
    mini = board(57_600, clock_hz=8_000_000)
    assert run(["firmware", "flash", "--port", mini.port]) == 2
    error = capsys.readouterr().err
    assert "--board pro-mini" in error and "8 MHz" in error and error.count("\n") == 1
    assert mini.image == b"\xff" * 32768
    assert run(["firmware", "flash", "--port", mini.port, "--board", "nano"]) == 2
    assert "57600 baud" in capsys.readouterr().err
    assert run(["firmware", "flash", "--port", mini.port, "--board", "pro-mini", "--no-check"]) == 0
    assert "Written and read back" in capsys.readouterr().out
    wanted = content("igloo-atmega328p-8mhz-500000.hex")
    assert {address: mini.image[address] for address in wanted} == wanted


def test_a_board_that_does_not_speak_afterwards(
    board: Callable[..., Board], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(firmware, "HELLO_S", 1.0)
    mute = board(115_200, speaks=False)
    assert run(["firmware", "flash", "--port", mute.port]) == 1
    assert "does not say hello" in capsys.readouterr().err


def test_a_chip_of_the_newer_kind_and_a_wrong_one(
    board: Callable[..., Board], capsys: pytest.CaptureFixture[str]
) -> None:
    newer = board(115_200, signature=b"\x1e\x95\x16")
    assert run(["firmware", "flash", "--port", newer.port, "--no-check", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["chip"] == "m328pb"
    wrong = board(115_200, signature=b"\x1e\x98\x01")
    assert run(["firmware", "flash", "--port", wrong.port]) == 2
    assert "0x1e9801; it is no ATmega328P" in capsys.readouterr().err


def test_flash_that_reads_back_otherwise(board: Callable[..., Board], capsys: pytest.CaptureFixture[str]) -> None:
    worn = board(115_200, spoil=1000)
    assert run(["firmware", "flash", "--port", worn.port, "--no-check"]) == 2
    error = capsys.readouterr().err
    assert "could not be written" in error and error.count("\n") == 1


def test_bad_input(
    tmp_path: Path, board: Callable[..., Board], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    nano = board(115_200)
    (tmp_path / "x.hex").write_text("hello")
    for arguments, says in (
        (["--board", "mega"], "There is no board"),
        (["--port", "/dev/nothing"], "There is nothing at /dev/nothing"),
        (["--port", nano.port, "--image", str(tmp_path / "x.hex")], "damaged"),
        (["--port", nano.port, "--image", str(tmp_path / "none.hex")], "No such file"),
        (["--port", nano.port, "--baud", "250000"], "There is no image"),
    ):
        monkeypatch.setattr(images, "SOURCE", tmp_path / "none")
        assert run(["firmware", "flash", *arguments]) == 2, arguments
        error = capsys.readouterr().err
        assert says in error and error.count("\n") == 1, error
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run(["firmware", "flash", "--port", nano.port]) == 2
    assert "apt install avrdude" in capsys.readouterr().err
    assert nano.image == b"\xff" * 32768


def test_which_port(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from companion.igloo.line import candidate_ports

    def port(name: str, usb: str = "1a86:7523") -> candidate_ports.CandidatePort:
        return candidate_ports.CandidatePort(f"/dev/{name}", name, (name,), usb, (1,))

    monkeypatch.setattr(candidate_ports, "scan", list)
    assert run(["firmware", "flash"]) == 2
    assert "No board is plugged in" in capsys.readouterr().err
    monkeypatch.setattr(
        candidate_ports, "scan", lambda: [port("ttyUSB0"), port("ttyUSB1"), port("ttyACM0", "2c99:0002")]
    )
    assert run(["firmware", "flash"]) == 2
    assert "--port: /dev/ttyUSB0, /dev/ttyUSB1." in capsys.readouterr().err
    monkeypatch.setattr(candidate_ports, "scan", lambda: [port("ttyUSB7"), port("ttyACM0", "2c99:0002")])
    assert run(["firmware", "flash"]) == 2
    assert "There is nothing at /dev/ttyUSB7" in capsys.readouterr().err
