"""What hardware.md says is what firmware, panel, flasher and drawings say; its links lead somewhere."""

from __future__ import annotations

import importlib.util
import re
import xml.dom.minidom
from pathlib import Path
from types import ModuleType

import pytest

from companion.flasher.avr import BOARDS
from companion.night.backup.scheduler import STICK_FOLDER
from companion.panel.pins import STANDARD, physical

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "hardware.md").read_text(encoding="utf-8")
DRAWINGS = ROOT / "docs" / "hardware"


@pytest.fixture(scope="module")
def draw() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_hardware_draw", DRAWINGS / "draw.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_igloos_pins_are_the_firmwares() -> None:
    header = (ROOT / "firmware" / "avr" / "pins.h").read_text(encoding="utf-8")
    pins = {
        name: (port, arduino)
        for name, port, arduino in re.findall(r"^#define PIN_(\w+) P(\w\d) .*// Arduino (D\d+)", header, re.MULTILINE)
    }
    rows = {
        name: (port, arduino)
        for name, port, arduino in re.findall(r"^\| (\w+) \| P(\w\d) \| (D\d+) \|", PAGE, re.MULTILINE)
    }
    assert len(pins) == 6 and rows == pins


def test_the_picos_pins_are_the_firmwares() -> None:
    header = (ROOT / "firmware" / "rp2040" / "pins.h").read_text(encoding="utf-8")
    told = re.findall(
        r"^#define PIN_(\w+) (\d+) +// Pico pin (\d+), (?:module (.*)|the line's \w+)$", header, re.MULTILINE
    )
    pins = {name: (gpio, pin, pad) for name, gpio, pin, pad in told}
    rows = {
        name: (gpio, pin, pad.strip())
        for name, gpio, pin, pad in re.findall(r"^\| (\w+) \| GP(\d+) \| (\d+) \|(.*)\|$", PAGE, re.MULTILINE)
    }
    assert len(pins) == 6 and rows == pins


def test_the_panels_pins_are_the_standard_ones() -> None:
    rows = {
        name: (int(gpio), int(pin))
        for name, gpio, pin in re.findall(r"^\| ([a-z-]+) \| (\d+) \| (\d+) \|", PAGE, re.MULTILINE)
    }
    assert rows == {name: (gpio, physical(gpio)) for name, gpio in STANDARD.items()}


def test_the_boards_are_the_flashers() -> None:
    rows = {
        name: (words, int(mhz) * 1_000_000, int(baud.replace(",", "")))
        for name, words, mhz, baud in re.findall(
            r"^\| `([\w-]+)` \| (.+?) \| (\d+) MHz \| ([\d,]+) baud \|", PAGE, re.MULTILINE
        )
    }
    assert rows == {board.name: (board.words, board.clock_hz, board.loader_baud) for board in BOARDS.values()}
    assert f"`{STICK_FOLDER}`" in PAGE


def test_the_drawings_are_drawn_from_the_same_pins(draw: ModuleType, tmp_path: Path) -> None:
    draw.main(tmp_path)
    made = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    kept = {path.name: path.read_text(encoding="utf-8") for path in DRAWINGS.glob("*.svg")}
    assert made == kept, "python docs/hardware/draw.py draws them anew"
    for name, text in kept.items():
        xml.dom.minidom.parseString(text)  # noqa: S318 - our own
        assert f"docs/hardware/{name}" in PAGE
    for pin in ("D10", "D11", "D12", "D13"):
        assert f">{pin}<" in kept["wiring-pro-mini.svg"] and f">{pin}<" in kept["wiring-nano.svg"]
    for gpio in ("GP0", "GP1", "GP16", "GP17", "GP18", "GP19"):
        assert f">{gpio} · " in kept["wiring-pico.svg"]
    for gpio in STANDARD.values():
        assert f"GPIO{gpio}<" in kept["panel.svg"]


def test_no_text_leaves_its_drawing(draw: ModuleType) -> None:
    for name, make in draw.DRAWINGS.items():
        sheet = make()
        for x, size, anchor, words in re.findall(
            r'<text x="([\d.-]+)" y="[\d.-]+" font-size="(\d+)" text-anchor="(\w+)"[^>]*>([^<]*)<', "".join(sheet.parts)
        ):
            width = 0.56 * int(size) * len(words)
            left = float(x) - {"start": 0.0, "middle": width / 2, "end": width}[anchor]
            assert left > 0 and left + width < sheet.width, (name, words)


def anchors_of(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)]+)\)", PAGE):
        page, _, anchor = target.partition("#")
        assert (ROOT / page).exists(), target
        assert not anchor or anchor in anchors_of(ROOT / (page or "hardware.md")), target
