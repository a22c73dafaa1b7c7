"""The images as files, `companion firmware`, and what the README says of the pins."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from pathlib import Path

import pytest

from companion.cli import run
from companion.flasher import images, uf2

pytestmark = pytest.mark.process

FIRMWARE = Path(__file__).resolve().parents[2] / "firmware"


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the source, so that nothing else builds there."""
    out = tmp_path / "firmware"
    out.mkdir()
    for part in ("core", "avr", "rp2040"):
        shutil.copytree(FIRMWARE / part, out / part)
    shutil.copy(FIRMWARE / "Makefile", out)
    monkeypatch.setattr(images, "SOURCE", out)
    return out


def test_build_and_list(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["firmware", "build", "--json"]) == 0
    built = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(image["clock_hz"], image["baud"]) for image in built] == [
        (16_000_000, 500_000),
        (8_000_000, 500_000),
        (48_000_000, 500_000),
    ]
    for image in built:
        content = (source / "build" / image["file"]).read_bytes()
        assert image["sha256"] == hashlib.sha256(content).hexdigest()
        if image["chip"] == "rp2040":
            assert 3000 < image["flash"] < 8192 and image["flash"] <= len(uf2.unpack(content))
            continue
        assert image["chip"] == "atmega328p"
        assert image["flash"] == len(images.hex_bytes(content.decode()))
        assert 2000 < image["flash"] < 4096 and 256 < image["ram"] < 768  # small, and worth a look when it is not
    assert run(["firmware", "build", "--baud", "250000"]) == 0
    capsys.readouterr()
    assert run(["firmware", "list", "--json"]) == 0
    listed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {image["baud"] for image in listed} == {250_000, 500_000}
    assert [image for image in listed if image["baud"] == 500_000] == built
    assert run(["firmware", "list"]) == 0
    assert "16 MHz, 500000 baud" in capsys.readouterr().out


def test_what_is_no_longer_what_was_built_is_refused(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = images.build()[0]
    path = source / "build" / first.file
    path.write_text(path.read_text().replace(":00000001FF", ":0000000100"))
    assert run(["firmware", "list"]) == 2
    assert "is not the file that was built" in capsys.readouterr().err
    (source / "build" / images.MANIFEST).write_text("[{}]")
    assert run(["firmware", "list"]) == 2
    assert "damaged" in capsys.readouterr().err
    again = images.build()
    assert again and images.known() == again


def test_nothing_built_yet(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["firmware", "list", "--json"]) == 1
    captured = capsys.readouterr()
    assert captured.out == "" and "No image was built yet" in captured.err


def test_no_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(images, "SOURCE", tmp_path / "nowhere")
    assert run(["firmware", "build"]) == 2
    assert "checkout" in capsys.readouterr().err


def test_no_compiler(source: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PATH", str(source))
    assert run(["firmware", "build"]) == 2
    assert "on Debian it comes with the package" in capsys.readouterr().err


def test_source_that_does_not_compile(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (source / "core" / "frame.c").write_text("int wrong(\n")
    assert run(["firmware", "build"]) == 2
    assert "make failed" in capsys.readouterr().err


def test_source_that_knows_its_folder(source: Path) -> None:
    main = source / "avr" / "main.c"
    main.write_text(main.read_text().replace(".baud = BAUD", ".baud = sizeof HERE"))
    makefile = source / "Makefile"
    makefile.write_text(makefile.read_text().replace("-DF_CPU=", "-DHERE='\"$(CURDIR)\"' -DF_CPU="))
    with pytest.raises(images.FirmwareError, match=r"Two builds of .* differ"):
        images.build()


def test_a_rate_that_the_clock_cannot_make(source: Path) -> None:
    with pytest.raises(images.FirmwareError, match="make failed"):
        images.build(115_200)


@pytest.mark.parametrize("bad", ["", ":00000001FE", "hello", ":0400000001020304F3\n:00000001FF", ":0100000001FE"])
def test_hex_files_that_are_none(bad: str) -> None:
    with pytest.raises(images.FirmwareError):
        images.hex_bytes(bad)


def test_hex_records() -> None:
    text = ":0200000402007E\n:01000000AA55\n:020000021000EC\n:01000500BB3F\n:00000001FF\n"
    text = text.replace(":0200000402007E", ":020000040200F8")
    assert images.hex_bytes(text) == {0x02000000: 0xAA, 0x10005: 0xBB}


def test_the_pins_of_the_readme_are_those_of_the_source() -> None:
    source = (FIRMWARE / "avr" / "pins.h").read_text(encoding="utf-8")
    pins = {
        name: (port, arduino)
        for name, port, arduino in re.findall(r"^#define PIN_(\w+) P(\w\d) .*// Arduino (D\d+)", source, re.MULTILINE)
    }
    readme = (FIRMWARE / "README.md").read_text(encoding="utf-8")
    rows = {
        signal: (port, arduino)
        for signal, port, arduino in re.findall(r"^\| (\w+) \| P(\w\d) \| (D\d+) \|", readme, re.MULTILINE)
    }
    assert len(pins) == 6 and rows == pins
