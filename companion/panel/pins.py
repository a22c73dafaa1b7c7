"""Which part of the panel is at which pin, and the header as a drawing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from companion.ports import BadDataError

BUTTONS: Final = ("next", "dispute", "undo", "shake")
LIGHTS: Final = ("legal", "doubt", "turn-red", "turn-green", "turn-blue")
BUZZER: Final = "buzzer"
PARTS: Final = (*BUTTONS, *LIGHTS, BUZZER)

STANDARD: Final[Mapping[str, int]] = {
    "next": 5,
    "dispute": 6,
    "undo": 13,
    "shake": 19,
    "buzzer": 26,
    "legal": 17,
    "doubt": 27,
    "turn-red": 22,
    "turn-green": 23,
    "turn-blue": 24,
}
"""GPIO numbers of the build in hardware.md: buttons in a row at the far end, lights near the middle; I²C, SPI and the
serial pins stay free."""

# The 40-pin header of every Raspberry Pi since the B+: physical pin 1, 2, 3 … (Raspberry Pi documentation, "GPIO").
HEADER: Final[tuple[str | int, ...]] = (
    *("3V3", "5V", 2, "5V", 3, "GND", 4, 14, "GND", 15, 17, 18, 27, "GND", 22, 23, "3V3", 24, 10, "GND"),
    *(9, 25, 11, 8, "GND", 7, 0, 1, 5, "GND", 6, 12, 13, "GND", 19, 16, 26, 20, "GND", 21),
)
RESERVED: Final[Mapping[int, str]] = {0: "the identity of a HAT", 1: "the identity of a HAT"}


@dataclass(frozen=True, slots=True)
class Pins:
    """The GPIO number of each part that is there."""

    at: Mapping[str, int]

    def __bool__(self) -> bool:
        return bool(self.at)

    def drawing(self) -> list[str]:
        """Return the header as lines of text, pin 1 at the top left as on the board, with the panel's parts."""
        part = {number: name for name, number in self.at.items()}

        def words(pin: str | int) -> str:
            if isinstance(pin, str):
                return pin
            return f"{part[pin]} = GPIO{pin}" if pin in part else f"GPIO{pin}"

        lines = []
        for number in range(1, 41, 2):
            left, right = HEADER[number - 1], HEADER[number]
            signs = ["●" if pin in part else "○" for pin in (left, right)]
            line = f"{words(left):>22} {number:>2} {signs[0]} {signs[1]} {number + 1:<2} {words(right)}"
            lines.append(line.rstrip())
        return lines


def physical(gpio: int) -> int:
    """Return the place of a GPIO on the header, 1 … 40."""
    return HEADER.index(gpio) + 1


def parse(lines: Iterable[str]) -> Pins:
    """Return the pins as the setting ``panel_pins`` says: nothing, ``standard``, or a line a part (``next 5``).

    After ``standard`` further lines change it, and 0 takes a part away.

    :raises BadDataError: for a line of another form, a pin that is not there, or two parts at one pin.
    """
    at: dict[str, int] = {}
    for line in lines:
        words = line.lower().split()
        if words == ["standard"]:
            at = dict(STANDARD)
            continue
        if len(words) != 2 or words[0] not in PARTS:
            raise BadDataError(f"A line is standard or a part ({', '.join(PARTS)}) and its GPIO number, not {line!r}.")
        name, number = words
        number = number.removeprefix("gpio")
        if not number.isascii() or not number.isdecimal() or len(number) > 2:
            raise BadDataError(f"{name} needs a GPIO number from 2 to 27, not {number!r}.")
        pin = int(number)
        at.pop(name, None)
        if pin == 0:
            continue
        if pin in RESERVED or pin not in HEADER:
            raise BadDataError(f"{name} needs a GPIO number from 2 to 27, not {number!r}.")
        at[name] = pin
    for name, pin in at.items():
        other = next((o for o, p in at.items() if p == pin and o != name), None)
        if other is not None:
            raise BadDataError(f"{name} and {other} are both at GPIO {pin}.")
    return Pins({name: at[name] for name in PARTS if name in at})
