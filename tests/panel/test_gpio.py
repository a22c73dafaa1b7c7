"""The panel on gpiozero's simulated pins: presses out, lights and sounds in, what is missing said."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from gpiozero.pins.mock import MockFactory

from companion.panel import gpio, messages
from companion.panel.debounce import SETTLE_S
from companion.panel.gpio import COLOURS, LEGAL_S, Panel, open_factory
from companion.panel.pins import STANDARD, Pins, parse
from companion.panel.status import PanelError
from companion.ports import DeviceKind
from tests.worlds.clock import Clock
from tests.worlds.wait import wait


@pytest.fixture
def heard() -> list[str]:
    return []


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def table(heard: list[str], clock: Clock) -> Iterator[Panel]:
    """A panel whose time passes only when the test says so: contacts bounce as fast as they are told to."""
    opened = Panel(parse(["standard"]), heard.append, factory=MockFactory(), clock=clock)
    yield opened
    opened.close()


def pin(table: Panel, name: str) -> Any:
    return table.factory.pin(STANDARD[name])


def press(table: Panel, name: str, *, bounces: int = 4) -> None:
    for _ in range(bounces):
        pin(table, name).drive_low()
        pin(table, name).drive_high()
    pin(table, name).drive_low()


def test_a_bouncing_button_is_heard_once(table: Panel, heard: list[str], clock: Clock) -> None:
    for name in ("next", "dispute", "undo", "shake"):
        press(table, name)
        clock.go(SETTLE_S)
        wait(lambda name=name: name in heard)
    for name in ("next", "dispute"):
        for _ in range(5):
            pin(table, name).drive_high()
            pin(table, name).drive_low()
        pin(table, name).drive_high()
    press(table, "undo")  # still held: nothing new
    clock.go(SETTLE_S)
    wait(lambda: not any(contact.pressed for name, contact in table._contacts.items() if name in {"next", "dispute"}))
    assert heard == ["next", "dispute", "undo", "shake"]
    press(table, "next")
    clock.go(SETTLE_S)
    wait(lambda: len(heard) == 5)
    assert heard[-1] == "next"


def test_the_factory_says_simulated(table: Panel) -> None:
    assert table.status().kind is DeviceKind.SIMULATED


def test_lights(table: Panel, clock: Clock) -> None:
    for colour, (red, green, blue) in COLOURS.items():
        table.turn(colour)
        wait(
            lambda r=red, g=green, b=blue: table.lit() | {"turn-red": r, "turn-green": g, "turn-blue": b} == table.lit()
        )
    table.turn("mauve")
    wait(lambda: all(table.lit()[lamp] for lamp in ("turn-red", "turn-green", "turn-blue")))
    table.turn(None)
    wait(lambda: not any(table.lit().values()))
    table.doubt(True)
    wait(lambda: table.lit()["doubt"])
    table.doubt(False)
    table.legal()
    wait(lambda: table.lit()["legal"] and not table.lit()["doubt"])
    clock.go(LEGAL_S)
    wait(lambda: not table.lit()["legal"])


def test_beeps_are_counted(table: Panel, clock: Clock) -> None:
    buzzer = pin(table, "buzzer")
    buzzer.clear_states()
    table.beep(3)
    clock.go(1.0)
    wait(lambda: len(buzzer.states) >= 7)
    assert [state.state for state in buzzer.states] == [False, True, False, True, False, True, False]


def test_parts_that_are_not_there_are_left_out(heard: list[str]) -> None:
    small = Panel(Pins({"dispute": 6}), heard.append, factory=MockFactory())
    try:
        small.beep(2)
        small.turn("red")
        small.legal()
        small.factory.pin(6).drive_low()
        wait(lambda: heard == ["dispute"])
        assert small.lit() == {}
    finally:
        small.close()


def test_a_button_that_stumbles_does_not_end_the_panel(clock: Clock) -> None:
    heard: list[str] = []

    def stumble(name: str) -> None:
        heard.append(name)
        raise RuntimeError("as if")

    table = Panel(parse(["standard"]), stumble, factory=MockFactory(), clock=clock)
    try:
        press(table, "next")
        clock.go(SETTLE_S)
        wait(lambda: heard == ["next"])
        press(table, "undo")
        clock.go(SETTLE_S)
        wait(lambda: heard == ["next", "undo"])
    finally:
        table.close()


def test_closing_frees_the_pins_and_puts_the_lights_out(heard: list[str]) -> None:
    factory = MockFactory()
    first = Panel(parse(["standard"]), heard.append, factory=factory)
    first.doubt(True)
    wait(lambda: first.lit()["doubt"])
    first.close()
    assert threading.active_count() == 1 or not any(t.name == "panel" for t in threading.enumerate())
    again = Panel(parse(["standard"]), heard.append, factory=factory)
    with pytest.raises(PanelError) as busy:
        Panel(parse(["standard"]), heard.append, factory=factory)
    assert busy.value.note == messages.BUSY
    again.close()


def test_without_pins_it_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GPIOZERO_PIN_FACTORY", raising=False)
    monkeypatch.setitem(sys.modules, "gpiozero.pins.lgpio", None)
    with pytest.raises(PanelError) as refusal:
        open_factory()
    assert refusal.value.note == messages.NO_LIBRARY
    monkeypatch.setenv("GPIOZERO_PIN_FACTORY", "mock")
    assert isinstance(open_factory(), MockFactory)


@pytest.mark.parametrize(
    ("error", "note"),
    [
        (PermissionError(13, "Permission denied"), messages.NO_PERMISSION),
        (FileNotFoundError(2, "No such file"), messages.NO_HEADER),
        (OSError(16, "Device or resource busy"), messages.BUSY),
        (Exception("'can not open gpiochip'"), messages.NO_HEADER),
        (Exception("'GPIO busy'"), messages.BUSY),
        (Exception("something else"), messages.CANNOT_OPEN),
    ],
)
def test_what_the_system_says_becomes_a_sentence(error: Exception, note: str) -> None:
    assert gpio._explained(error).note == note
