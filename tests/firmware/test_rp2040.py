"""The Raspberry Pi Pico: the image of the package in rp2040js, its pins, and how it is put onto the board."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path

import pytest

from companion.cli import run
from companion.flasher import images, uf2
from companion.igloo.line.protocol import Data, Frame, FrameReader, Hello, Status
from tests.worlds.pico import Pico, Run

pytestmark = pytest.mark.process

FIRMWARE = Path(__file__).resolve().parents[2] / "firmware"
IMAGE = images.PREBUILT / "igloo-rp2040-48mhz-500000.uf2"


@pytest.fixture(scope="module")
def pico(tmp_path_factory: pytest.TempPathFactory) -> Pico:
    return Pico(tmp_path_factory.mktemp("pico"), uf2.unpack(IMAGE.read_bytes()))


def frames(sent: bytes) -> list[Frame]:
    reader = FrameReader()
    found = reader.feed(sent)
    assert reader.corrupt == 0
    return found


def samples(run_: Run) -> list[tuple[int, int, int]]:
    """Return the samples in order, checked to be those that the sensor took, without gap or double."""
    data = [frame for frame in frames(run_.sent) if isinstance(frame, Data)]
    assert [frame.index for frame in data] == [16 * n for n in range(len(data))]
    assert all(frame.flags == 0 for frame in data[1:])
    got = [sample for frame in data for sample in frame.samples]
    first = next(n for n in range(2001) if 2 * (n - 1000) == got[0][0])
    assert first < 40  # what was taken before the FIFO was emptied for the start
    for n, sample in enumerate(got, start=first):
        assert sample == (2 * (n % 2001 - 1000), 2 * (n % 997), 256), n
    return got


def test_every_sample_arrives(pico: Pico) -> None:
    seen = pico.run(2.2)
    found = frames(seen.sent)
    hello = next(frame for frame in found if isinstance(frame, Hello))
    assert (hello.devid, hello.bw_rate, hello.data_format) == (0xE5, 0x0F, 0x0B)
    assert (hello.f_cpu, hello.baud, hello.unit, hello.rate_hz) == (48_000_000, 500_000, 0, 3200)
    got = samples(seen)
    assert 0 <= seen.sensor["taken"] - len(got) < 80
    assert (seen.sensor["overwritten"], seen.sensor["early_reads"]) == (0, 0)
    status = [frame for frame in found if isinstance(frame, Status)][-1]
    assert (status.state, status.overruns, status.tx_dropped) == (0, 0, 0)
    assert len([frame for frame in found if isinstance(frame, Hello)]) == 3  # at boot, and each second
    # The clocks are what HELLO says, and the sensor's limits are kept (2 to 5 MHz).
    assert (seen.chip["clk_sys"], seen.chip["baud"], seen.chip["spi_hz"]) == (48_000_000, 500_000, 4_000_000)
    assert seen.chip["uart_bytes"] / seen.chip["simulated_s"] < 500_000 / 10


def test_a_sensor_that_is_five_per_cent_fast(pico: Pico) -> None:
    seen = pico.run(1.2, rate_error=0.05)
    assert len(samples(seen)) > 3200
    assert (seen.sensor["overwritten"], seen.sensor["early_reads"]) == (0, 0)


def test_its_number_and_an_answer_to_a_question(pico: Pico) -> None:
    found = frames(pico.run(0.5, unit=7, feed=[[0.2, "h"]]).sent)
    hellos = [frame for frame in found if isinstance(frame, Hello)]
    assert [hello.unit for hello in hellos] == [7, 7]


def test_the_pins_of_the_readme_are_those_of_the_source() -> None:
    header = (FIRMWARE / "rp2040" / "pins.h").read_text(encoding="utf-8")
    pins = {
        name: (f"GP{gpio}", pin)
        for name, gpio, pin in re.findall(r"^#define PIN_(\w+) (\d+) +// Pico pin (\d+)", header, re.MULTILINE)
    }
    for page in (FIRMWARE / "README.md", FIRMWARE.parent / "hardware.md"):
        rows = {
            name: (gpio, pin)
            for name, gpio, pin in re.findall(
                r"^\| (\w+) \| (GP\d+) \| (\d+) \|", page.read_text(encoding="utf-8"), re.MULTILINE
            )
        }
        assert len(pins) == 6 and rows == pins, page


# --- UF2 ---------------------------------------------------------------------------------------------------------


def test_uf2_round_trip_and_its_crc() -> None:
    # The CRC's check value for "123456789" with these parameters (CRC-32/MPEG-2).
    assert uf2.crc32(b"123456789") == 0x0376E6E7
    image = uf2.sealed(bytes(range(252)) + bytes(4) + b"program" * 100)
    assert uf2.unpack(uf2.pack(image))[: len(image)] == image
    with pytest.raises(images.FirmwareError, match="boot stage"):
        uf2.sealed(b"x" * 1000)


def test_uf2_files_that_are_none() -> None:
    good = bytearray(IMAGE.read_bytes())
    other = bytes(good[:28]) + struct.pack("<I", 0xADA52840) + bytes(good[32:])
    swapped = bytes(good[512:1024]) + bytes(good[:512]) + bytes(good[1024:])
    broken = bytes(good[:40]) + bytes([good[40] ^ 1]) + bytes(good[41:])
    for bad, says in (
        (b"", "cut off"),
        (bytes(good[:700]), "cut off"),
        (bytes(512), "damaged"),
        (other, "another chip"),
        (swapped, "not where"),
        (broken, "boot stage"),
    ):
        with pytest.raises(images.FirmwareError, match=says):
            uf2.unpack(bad)


# --- onto the board ----------------------------------------------------------------------------------------------


def test_a_pico_in_its_boot_mode_is_found_and_gets_its_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    drive = tmp_path / "RPI RP2"
    drive.mkdir()
    (drive / "INFO_UF2.TXT").write_text("UF2 Bootloader v3.0\nModel: Raspberry Pi RP2\nBoard-ID: RPI-RP2\n")
    mounts = tmp_path / "mounts"
    mounts.write_text(f"proc /proc proc rw 0 0\n/dev/sda1 {str(drive).replace(' ', chr(92) + '040')} vfat rw 0 0\n")
    assert uf2.find_drive(mounts) == drive
    assert uf2.find_drive(tmp_path / "nothing") is None
    monkeypatch.setattr(uf2, "find_drive", lambda: drive)
    assert run(["firmware", "flash", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["board"], said["image"]) == ("pico", IMAGE.name)
    assert (drive / IMAGE.name).read_bytes() == IMAGE.read_bytes()
    assert run(["firmware", "flash", "--board", "pico"]) == 0
    assert "GP0" in capsys.readouterr().out
    bad = tmp_path / "bad.uf2"
    bad.write_bytes(b"x" * 512)
    assert run(["firmware", "flash", "--board", "pico", "--image", str(bad)]) == 2
    assert "damaged" in capsys.readouterr().err
    monkeypatch.setattr(uf2, "find_drive", lambda: None)
    assert run(["firmware", "flash", "--board", "pico"]) == 2
    assert "BOOTSEL" in capsys.readouterr().err
