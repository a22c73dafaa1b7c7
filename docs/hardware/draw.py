"""Draws the diagrams of hardware.md. Pins come from the firmware's header and the panel, so that no drawing lies.

``python docs/hardware/draw.py`` writes the SVG files beside it; a test draws them again and compares.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT))

from companion.panel.pins import STANDARD, physical  # noqa: E402

INK, FAINT, BOARD, MODULE, PAPER = "#1b2a38", "#7b8a99", "#d9e8f2", "#e6e0f5", "#fbfdff"
WIRES = {
    "CS": "#c2410c",
    "MOSI": "#1d4ed8",
    "MISO": "#15803d",
    "SCK": "#a16207",
    "3V3": "#b91c1c",
    "5V": "#b91c1c",
    "GND": "#334155",
    "RX": "#0e7490",
    "TX": "#7c3aed",
    "DTR": "#64748b",
}
BEADS = ("#dc2626", "#2563eb", "#16a34a", "#d97706")
MODULE_PINS = (("CS", "CS"), ("MOSI", "SDA"), ("MISO", "SDO"), ("SCK", "SCL"), ("3V3", "VCC"), ("GND", "GND"))
"""What each signal is called on an ADXL345 module."""

Point = tuple[float, float]


def avr_pins() -> dict[str, str]:
    """Return signal -> Arduino pin, from the firmware's own header."""
    text = (ROOT / "firmware" / "avr" / "pins.h").read_text(encoding="utf-8")
    return dict(re.findall(r"^#define PIN_(\w+) P\w\d .*// Arduino (D\d+)", text, re.MULTILINE))


def pico_pins() -> dict[str, tuple[str, int]]:
    """Return signal -> (GP number, pin of the Pico), from the firmware's own header."""
    text = (ROOT / "firmware" / "rp2040" / "pins.h").read_text(encoding="utf-8")
    found = re.findall(r"^#define PIN_(\w+) (\d+) +// Pico pin (\d+)", text, re.MULTILINE)
    return {signal: (f"GP{gpio}", int(pin)) for signal, gpio, pin in found}


class Sheet:
    """A drawing in millimetre-like units, collected as SVG elements."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.width, self.height, self.title = width, height, title
        self.parts: list[str] = []

    def rect(self, x: float, y: float, w: float, h: float, fill: str, *, r: float = 6, stroke: str = INK) -> None:
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="{r:g}" fill="{fill}" stroke="{stroke}" '
            'stroke-width="1.5"/>'
        )

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        size: int = 14,
        anchor: str = "start",
        colour: str = INK,
        bold: bool = False,
    ) -> None:
        weight = ' font-weight="600"' if bold else ""
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" fill="{colour}"{weight}>'
            f"{escape(words)}</text>"
        )

    def line(self, points: Sequence[Point], colour: str = INK, *, width: float = 2.5, dashed: bool = False) -> None:
        way = " ".join(f"{x:g},{y:g}" for x, y in points)
        dash = ' stroke-dasharray="6 5"' if dashed else ""
        self.parts.append(
            f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="{width:g}" '
            f'stroke-linejoin="round"{dash}/>'
        )

    def path(self, d: str, *, fill: str = "none", stroke: str = INK, width: float = 2) -> None:
        self.parts.append(f'<path d="{d}" fill="{fill}" stroke="{stroke}" stroke-width="{width:g}"/>')

    def dot(self, x: float, y: float, colour: str = INK, r: float = 4) -> None:
        self.parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="{r:g}" fill="{colour}"/>')

    def board(
        self, x: float, y: float, w: float, h: float, title: str, fill: str, pins: Sequence[tuple[str, float, str]]
    ) -> dict[str, Point]:
        """Draw a board with pins at its left or right edge: (label, y, side); return where each is."""
        self.rect(x, y, w, h, fill)
        self.text(x + w / 2, y + 24, title, anchor="middle", bold=True)
        where = {}
        for label, py, side in pins:
            px = x if side == "left" else x + w
            self.dot(px, py)
            inner = (px + 10, "start") if side == "left" else (px - 10, "end")
            self.text(inner[0], py + 5, label, anchor=inner[1])
            where[f"{label}@{side}"] = where.setdefault(label, (px, py))
            where[f"{label}@{side}"] = (px, py)
        return where

    def resistor(self, x: float, y: float, label: str, *, down: bool = False) -> None:
        if down:
            self.rect(x - 7, y, 14, 30, PAPER, r=2)
            self.text(x + 12, y + 20, label, size=12)
        else:
            self.rect(x, y - 7, 34, 14, PAPER, r=2)
            self.text(x + 17, y - 12, label, size=12, anchor="middle")

    def ground(self, x: float, y: float) -> None:
        for n, half in enumerate((11, 7, 3)):
            self.line([(x - half, y + 5 * n), (x + half, y + 5 * n)], WIRES["GND"], width=2)

    def svg(self) -> str:
        """Return the drawing."""
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" '
            f'height="{self.height}" font-family="DejaVu Sans, Helvetica, Arial, sans-serif" role="img">'
        )
        paper = f'<rect width="{self.width}" height="{self.height}" rx="10" fill="{PAPER}"/>'
        return "\n".join([head, f"<title>{escape(self.title)}</title>", paper, *self.parts, "</svg>", ""])


def sensor_module(sheet: Sheet, rows: Sequence[float]) -> dict[str, Point]:
    """Draw the sensor's module at the right, a pin a row; return where each is."""
    pins = [(name, y, "left") for (_, name), y in zip(MODULE_PINS, rows, strict=True)]
    return sheet.board(690, 40, 170, 300, "ADXL345 module", MODULE, pins)


def usb_adapter(sheet: Sheet, rows: Sequence[float], names: Sequence[str]) -> dict[str, Point]:
    """Draw the serial adapter at the left, with pins of these names from the top; return where each is."""
    pins = [(name, rows[n], "right") for n, name in enumerate(names)]
    return sheet.board(40, 40, 200, 300, "USB adapter, 3.3 V", BOARD, pins)


def pro_mini() -> Sheet:
    """The igloo of a 3.3 V board: six wires, nothing between."""
    pins = avr_pins()
    sheet = Sheet(900, 400, "Pro Mini 3.3 V with an ADXL345 module and a USB adapter")
    rows = [90 + 42 * n for n in range(6)]
    signals = [signal for signal, _ in MODULE_PINS]
    names = [pins.get(signal, {"3V3": "VCC"}.get(signal, signal)) for signal in signals]
    left = ["DTR", "TXO", "RXI", "VCC", "GND"]
    board = sheet.board(
        370,
        40,
        190,
        300,
        "Pro Mini 3.3 V, 8 MHz",
        BOARD,
        [(name, y, "right") for name, y in zip(names, rows, strict=True)]
        + [(name, rows[n], "left") for n, name in enumerate(left)],
    )
    module = sensor_module(sheet, rows)
    adapter = usb_adapter(sheet, rows, ["DTR", "RXD", "TXD", "3V3", "GND"])
    for signal, (_, name), mine in zip(signals, MODULE_PINS, names, strict=True):
        a, b = board[f"{mine}@right"], module[name]
        sheet.line([a, b], WIRES[signal])
        sheet.text((a[0] + b[0]) / 2, a[1] - 6, signal, size=12, anchor="middle", colour=WIRES[signal])
    for theirs, mine, colour in (
        ("DTR", "DTR", "DTR"),
        ("RXD", "TXO", "TX"),
        ("TXD", "RXI", "RX"),
        ("3V3", "VCC", "3V3"),
        ("GND", "GND", "GND"),
    ):
        sheet.line([adapter[theirs], board[f"{mine}@left"]], WIRES[colour])
    sheet.text(
        40,
        372,
        "Module to board: at most 15 cm. CS must not be tied to VCC on the module (then it speaks I²C).",
        size=13,
    )
    return sheet


def nano() -> Sheet:
    """The igloo of a 5 V board: three dividers in the lines that the board drives."""
    pins = avr_pins()
    sheet = Sheet(900, 470, "Arduino Nano 5 V with an ADXL345 module: dividers")
    rows = [90 + 56 * n for n in range(6)]
    signals = [signal for signal, _ in MODULE_PINS]
    names = [pins.get(signal, signal) for signal in signals]
    board = sheet.board(
        40,
        40,
        210,
        370,
        "Nano 5 V, 16 MHz",
        BOARD,
        [(name, y, "right") for name, y in zip(names, rows, strict=True)],
    )
    module = sheet.board(
        690,
        40,
        170,
        370,
        "ADXL345 module",
        MODULE,
        [(name, y, "left") for (_, name), y in zip(MODULE_PINS, rows, strict=True)],
    )
    sheet.text(145, 395, "USB to the Raspberry Pi", size=12, anchor="middle", colour=FAINT)
    column = 0
    for signal, (_, name), mine in zip(signals, MODULE_PINS, names, strict=True):
        (x1, y), (x2, _) = board[mine], module[name]
        if signal in {"CS", "MOSI", "SCK"}:
            node = 390 + 84 * column
            column += 1
            sheet.line([(x1, y), (node - 60, y)], WIRES[signal])
            sheet.resistor(node - 60, y, "1 kΩ")
            sheet.line([(node - 26, y), (x2, y)], WIRES[signal])
            sheet.dot(node, y, WIRES[signal])
            sheet.line([(node, y), (node, y + 8)], WIRES[signal])
            sheet.resistor(node, y + 8, "2 kΩ", down=True)
            sheet.ground(node, y + 42)
        else:
            sheet.line([(x1, y), (x2, y)], WIRES[signal])
        sheet.text(x2 - 34, y - 6, signal, size=12, anchor="middle", colour=WIRES[signal])
    sheet.text(
        40,
        440,
        "The sensor is a 3.3 V part: 5 V on CS, SDA or SCL damages it. Converters made for I²C are too slow at 4 MHz.",
        size=13,
    )
    return sheet


def pico() -> Sheet:
    """The igloo of a Pico: six wires to the module, three to an adapter."""
    pins = pico_pins()
    sheet = Sheet(900, 400, "Raspberry Pi Pico with an ADXL345 module and a USB adapter")
    rows = [90 + 42 * n for n in range(6)]
    names = {signal: f"{gpio} · {pin}" for signal, (gpio, pin) in pins.items()} | {"3V3": "3V3 · 36", "GND": "GND · 38"}
    left = [("RX", "TXD"), ("TX", "RXD"), ("GND", "GND")]
    ground = "GND · 3"
    board = sheet.board(
        370,
        40,
        190,
        300,
        "Raspberry Pi Pico",
        BOARD,
        [(names[signal], y, "right") for (signal, _), y in zip(MODULE_PINS, rows, strict=True)]
        + [(names[mine] if mine != "GND" else ground, rows[n], "left") for n, (mine, _) in enumerate(left)],
    )
    module = sensor_module(sheet, rows)
    adapter = usb_adapter(sheet, rows, [theirs for _, theirs in left])
    for signal, name in MODULE_PINS:
        a, b = board[f"{names[signal]}@right"], module[name]
        sheet.line([a, b], WIRES[signal])
        sheet.text((a[0] + b[0]) / 2, a[1] - 6, signal, size=12, anchor="middle", colour=WIRES[signal])
    for mine, theirs in left:
        there = board[f"{ground if mine == 'GND' else names[mine]}@left"]
        sheet.line([adapter[theirs], there], WIRES[mine])
    sheet.text(465, 325, "power: its USB socket", size=12, anchor="middle", colour=FAINT)
    sheet.text(
        40, 372, "Instead of the adapter: the Raspberry Pi's own pins 8 (TXD), 10 (RXD) and 6 (GND), crossed.", size=13
    )
    return sheet


def panel() -> Sheet:
    """Buttons, lights and buzzer at the header, as `standard` has them."""
    sheet = Sheet(900, 640, "The panel at the Raspberry Pi's header")
    words = {
        "legal": ("green LED: legal", "330 Ω"),
        "doubt": ("amber LED: doubt", "330 Ω"),
        "turn-red": ("RGB LED, red leg", "330 Ω"),
        "turn-green": ("RGB LED, green leg", "330 Ω"),
        "turn-blue": ("RGB LED, blue leg", "330 Ω"),
        "next": ("button: next", ""),
        "dispute": ("button: dispute", ""),
        "undo": ("button: undo", ""),
        "shake": ("button: shake", ""),
        "buzzer": ("active buzzer, 3.3 V, at most 15 mA", "100 Ω"),
    }
    order = sorted(STANDARD, key=lambda name: physical(STANDARD[name]))
    rows = {name: 92 + 48 * n for n, name in enumerate(order)}
    sheet.rect(40, 40, 210, 560, BOARD)
    sheet.text(145, 66, "Raspberry Pi header", anchor="middle", bold=True)
    ground_x = 820
    bottom = max(rows.values()) + 34
    sheet.line([(ground_x, min(rows.values())), (ground_x, bottom), (250, bottom)], WIRES["GND"], width=3)
    sheet.dot(250, bottom)
    sheet.text(240, bottom + 5, "GND: pin 9, 14, 20, 30, 34 or 39", anchor="end", size=12)
    for name in order:
        y, pin = rows[name], STANDARD[name]
        label, series = words[name]
        sheet.dot(250, y)
        sheet.text(240, y + 5, f"pin {physical(pin)} · GPIO{pin}", anchor="end", size=13)
        sheet.text(50, y + 5, name, size=13, bold=True)
        colour = {"legal": "#15803d", "doubt": "#c2410c", "buzzer": "#7c3aed"}.get(
            name, {"turn-red": "#b91c1c", "turn-green": "#15803d", "turn-blue": "#1d4ed8"}.get(name, "#0e7490")
        )
        if series:
            sheet.line([(250, y), (330, y)], colour)
            sheet.resistor(330, y, series)
            sheet.line([(364, y), (430, y)], colour)
        else:
            sheet.line([(250, y), (430, y)], colour)
        if label.startswith("button"):
            sheet.dot(430, y, colour)
            sheet.dot(478, y, colour)
            sheet.line([(430, y), (472, y - 14)], colour)
            sheet.line([(454, y - 9), (454, y - 20)], colour, width=2)
        elif "buzzer" in label:
            sheet.path(f"M430 {y - 12} h48 v24 h-48 z", fill="#efe9fb", stroke=colour)
        else:
            sheet.path(f"M438 {y - 12} L438 {y + 12} L464 {y} Z", fill=colour, stroke=colour)
            sheet.line([(466, y - 12), (466, y + 12)], colour)
            sheet.line([(430, y), (438, y)], colour)
            sheet.line([(466, y), (478, y)], colour)
        sheet.line([(478, y), (ground_x, y)], WIRES["GND"], width=1.5)
        sheet.text(500, y - 8, label, size=13)
    sheet.text(40, 624, "Buttons close to ground; the Pi's own pull-ups are used. RGB LED: common cathode.", size=13)
    return sheet


def camera() -> Sheet:
    """Where camera and lamp go, from the side."""
    sheet = Sheet(900, 480, "Camera and light above the table")
    table = 400
    eye = (450, 90)
    sheet.path(f"M{eye[0]} {eye[1]} L200 {table} L700 {table} Z", fill="#e0f2fe", stroke="#7dd3fc", width=1.5)
    sheet.rect(60, table, 780, 16, "#c8a97e", r=3)
    sheet.rect(270, table - 8, 360, 8, "#dbeafe", r=1)
    sheet.text(450, table + 44, "board", anchor="middle")
    for x in (232, 640):
        sheet.rect(x, table - 4, 28, 4, "#111827", r=0)
        sheet.text(x + 14, table + 44, "marker", anchor="middle", size=12)
    sheet.rect(eye[0] - 34, eye[1] - 30, 68, 30, "#374151")
    sheet.dot(eye[0], eye[1], "#93c5fd", 8)
    sheet.text(eye[0] - 46, eye[1] - 10, "camera, straight down or a little aslant", anchor="end")
    sheet.line([(100, eye[1]), (100, table)], FAINT, width=1.5)
    sheet.text(90, 250, "h", anchor="end", bold=True)
    sheet.line([(200, table - 26), (700, table - 26)], FAINT, width=1.5, dashed=True)
    sheet.text(450, table - 34, "sees 1.15 × h with 60°, 1.3 × h with 66°", anchor="middle", size=13)
    sheet.path("M780 60 l50 26 l-14 26 l-50 -26 z", fill="#fde68a", stroke="#a16207")
    sheet.line([(776, 112), (640, 250)], "#eab308", dashed=True)
    sheet.text(870, 46, "lamp at the side, diffuse", size=13, anchor="end")
    warning = "no bare lamp behind the camera: it is mirrored in the board"
    sheet.text(450, 32, warning, anchor="middle", size=13, colour="#b91c1c")
    return sheet


def builds() -> Sheet:
    """The cap under an igloo and the igloo with the board inside, cut open."""
    sheet = Sheet(900, 380, "Build A, the cap, and build B, the sensor igloo, cut open")
    for x, title in ((220, "A: the cap clips under any igloo"), (660, "B: the board lives in its own igloo")):
        sheet.text(x, 44, title, anchor="middle", bold=True)
        sheet.path(f"M{x - 120} 270 A120 180 0 0 1 {x + 120} 270", fill="#eef6fb", stroke=INK, width=5)
        sheet.line([(x - 124, 270), (x + 124, 270)], INK, width=4)
    for n in range(7):
        sheet.dot(130 + 30 * n, 257 - (17 if n in {2, 4} else 0), BEADS[n % 4], 9)
    sheet.text(220, 190, "glass beads, as they are", anchor="middle", size=13)
    sheet.rect(88, 276, 264, 46, "#e2e8f0", r=8)
    sheet.rect(108, 288, 74, 22, MODULE, r=3)
    sheet.text(145, 304, "ADXL345", anchor="middle", size=12)
    sheet.rect(196, 288, 92, 22, BOARD, r=3)
    sheet.text(242, 304, "Pro Mini", anchor="middle", size=12)
    sheet.line([(182, 299), (196, 299)], WIRES["MOSI"])
    sheet.line([(288, 299), (400, 299), (420, 340)], FAINT, width=5)
    sheet.text(220, 350, "sensor glued flat to the cap's floor, nothing loose", anchor="middle", size=13)
    sheet.rect(590, 222, 140, 40, "#e2e8f0", r=5)
    sheet.rect(600, 231, 52, 22, MODULE, r=3)
    sheet.rect(660, 231, 60, 22, BOARD, r=3)
    sheet.line([(652, 242), (660, 242)], WIRES["MOSI"])
    sheet.line([(556, 200), (764, 200)], INK, width=3)
    for n in range(5):
        sheet.dot(612 + 24 * n, 188, BEADS[n % 3], 9)
    sheet.text(660, 326, "beads above a glued floor, board and sensor below", anchor="middle", size=13)
    sheet.line([(730, 242), (800, 242), (830, 300)], FAINT, width=5)
    sheet.text(660, 350, "one igloo only: for training, and for trying things", anchor="middle", size=13)
    return sheet


def scad(model: str, name: str) -> float:
    """Return a number that is written into a model for OpenSCAD."""
    text = (HERE / model).read_text(encoding="utf-8")
    found = re.search(rf"^{name} = ([\d.]+);", text, re.MULTILINE)
    if found is None:
        raise ValueError(f"{model} has no number {name}")
    return float(found[1])


def balance() -> Sheet:
    """The referee's balance from the side; its lengths are those of the model."""
    sheet = Sheet(900, 400, "Build D: the referee's balance, from the side")
    free, apart, plate = (3 * scad("balance.scad", name) for name in ("free", "apart", "plate"))
    base, top = 250.0, 170.0
    end = base + free
    sheet.rect(60, top - 40, base - 60, 210, "#cbd5e1")
    sheet.text(150, top + 40, "heavy base", anchor="middle", bold=True)
    sheet.text(150, top + 60, "2 kg and more", anchor="middle", size=13)
    for x in (base - 42, end):
        sheet.rect(x, top, 42, apart, "#f1f5f9", r=2)
    for y in (top, top + apart):
        sheet.line([(base - 42, y), (end + 42, y)], "#475569", width=4)
        for x in (base - 21, end + 21):
            sheet.dot(x, y, INK, 5)
    sheet.rect(end, top - 14, plate, 8, "#c8a97e", r=1)
    middle = end + plate / 2
    sheet.path(f"M{middle - 84} {top - 14} A84 110 0 0 1 {middle + 84} {top - 14}", fill="#eef6fb", width=4)
    for n in range(5):
        sheet.dot(middle - 48 + 24 * n, top - 24, BEADS[n % 4], 8)
    sheet.rect(middle - 30, top - 4, 60, 14, MODULE, r=2)
    sheet.text(end + 54, top + 32, "sensor, glued under the middle", size=12)
    sheet.line([(middle - 30, top + 3), (end + 42, top + 8), (base + 20, top + 14), (base - 60, top + 100)], FAINT)
    sheet.text(62, top + 190, "cable along a blade, fixed at the base", size=12)
    sheet.line([(base, top + apart + 34), (end, top + apart + 34)], FAINT, width=1.5)
    sheet.text((base + end) / 2, top + apart + 54, f"{free / 3:g} mm free", anchor="middle", size=13)
    sheet.text((base + end) / 2, top + apart / 2 + 18, f"{apart / 3:g} mm", anchor="middle", size=13)
    sheet.line([(middle + 118, top - 80), (middle + 118, top + 10)], "#0e7490", width=3)
    sheet.text(middle + 130, top - 30, "up and down", size=13, colour="#0e7490")
    sheet.text(450, 376, "Tap the plate beside the igloo, lightly, three times.", anchor="middle", size=13)
    return sheet


DRAWINGS = {
    "balance.svg": balance,
    "wiring-pro-mini.svg": pro_mini,
    "wiring-nano.svg": nano,
    "wiring-pico.svg": pico,
    "panel.svg": panel,
    "camera.svg": camera,
    "builds.svg": builds,
}


def main(folder: Path = HERE) -> None:
    """Write every drawing."""
    for name, draw in DRAWINGS.items():
        (folder / name).write_text(draw().svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
