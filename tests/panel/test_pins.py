"""The panel's pins: read from the settings, refused in one sentence, drawn as the header is."""

from __future__ import annotations

import pytest

from companion.panel.pins import BUTTONS, HEADER, LIGHTS, PARTS, STANDARD, parse, physical
from companion.ports import BadDataError


def test_the_header_is_that_of_the_board() -> None:
    # Raspberry Pi documentation, "GPIO": some that everybody knows, and every GPIO once.
    assert len(HEADER) == 40
    assert sorted(pin for pin in HEADER if isinstance(pin, int)) == list(range(28))
    assert (HEADER.count("GND"), HEADER.count("5V"), HEADER.count("3V3")) == (8, 2, 2)
    assert [physical(pin) for pin in (2, 3, 4, 14, 17, 18, 10, 5, 21, 26)] == [3, 5, 7, 8, 11, 12, 19, 29, 40, 37]
    assert [n for n, pin in enumerate(HEADER, 1) if pin == "GND"] == [6, 9, 14, 20, 25, 30, 34, 39]


def test_the_standard_build() -> None:
    pins = parse(["standard"])
    assert dict(pins.at) == STANDARD
    assert set(STANDARD) == set(PARTS)
    # Sensor buses and the serial port stay free for other things.
    assert not set(STANDARD.values()) & {0, 1, 2, 3, 7, 8, 9, 10, 11, 14, 15}
    assert not parse([])


def test_lines_change_and_take_away() -> None:
    pins = parse(["standard", "Next GPIO12", "buzzer 0"])
    assert pins.at["next"] == 12 and "buzzer" not in pins.at
    assert dict(parse(["dispute 6"]).at) == {"dispute": 6}
    assert list(parse(["undo 7", "next 8"]).at) == ["next", "undo"]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("next", "its GPIO number"),
        ("jump 5", "its GPIO number"),
        ("next five", "from 2 to 27"),
        ("next 28", "from 2 to 27"),
        ("next 1", "from 2 to 27"),
        ("next ٣", "from 2 to 27"),
        ("next -4", "from 2 to 27"),
        ("next 5 6", "its GPIO number"),
        ("dispute 5", "both at GPIO 5"),
    ],
)
def test_what_does_not_fit(line: str, says: str) -> None:
    with pytest.raises(BadDataError, match=says) as refusal:
        parse(["next 5", line])
    assert "\n" not in str(refusal.value)


def test_the_drawing_shows_every_part_beside_its_pin() -> None:
    lines = parse(["standard"]).drawing()
    assert len(lines) == 20
    for name, gpio in STANDARD.items():
        place = physical(gpio)
        line = lines[(place - 1) // 2]
        assert f"{name} = GPIO{gpio}" in line
        left, right = line.split(f"{(place - 1) // 2 * 2 + 1:>2} ", 1)[0], line.split("●")[-1] + line.split("○")[-1]
        assert (f"{name} =" in left) == (place % 2 == 1) or f"{name} =" in right
    assert sum(line.count("●") for line in lines) == len(BUTTONS) + len(LIGHTS) + 1
    assert "●" not in "".join(parse([]).drawing())
