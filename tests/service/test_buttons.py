"""The panel through the whole service, on simulated pins: buttons play, lights follow, every phone hears of a doubt."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from companion.lab.phone import Phone
from companion.panel import messages
from companion.panel.pins import STANDARD
from companion.service import Service
from companion.service.options import ServeOptions
from tests.worlds.wait import wait
from web.app import create_app
from web.http.server import make_server

pytestmark = pytest.mark.process

PLAYERS = [{"name": "Ann", "colour": "red"}, {"name": "Bob", "colour": "blue"}]


class House:
    """The service with its page, in this process, so that the test can press its pins."""

    def __init__(self, data: Path, pins: list[str]) -> None:
        data.mkdir(exist_ok=True)
        (data / "settings.json").write_text(json.dumps({"panel_pins": pins}), encoding="utf-8")
        self.service = Service(ServeOptions(data, "127.0.0.1", 0))
        self.server = make_server(create_app(self.service), "127.0.0.1", 0)
        self.service.start()
        self.service.announce(self.server.port)
        self.thread = threading.Thread(target=self.server.run, daemon=True)
        self.thread.start()
        self.host = Phone(self.server.port)
        assert self.host.ask("POST", f"/host/{self.service.access.host_token()}")[0] == 303

    def press(self, name: str) -> None:
        """Press and let go, with bouncing contacts."""
        pin = self.panel.factory.pin(STANDARD[name])
        contact = self.panel._contacts[name]
        for level in (True, False):
            for _ in range(3):
                (pin.drive_low if level else pin.drive_high)()
                (pin.drive_high if level else pin.drive_low)()
            (pin.drive_low if level else pin.drive_high)()
            wait(lambda level=level: contact.pressed is level and contact.due is None)

    @property
    def panel(self) -> Any:
        return self.service.buttons.panel

    def do(self, command: str, body: dict[str, Any]) -> None:
        state = json.loads(self.host.ask("GET", "/api/health")[1])["journal"]["state"]
        told = {"command": command, "body": body, "action_id": f"a{time.monotonic_ns()}", "state": state}
        answer = json.loads(self.host.ask("POST", "/api/do", told)[1])
        assert answer["ok"], answer

    @property
    def match(self) -> dict[str, Any]:
        match: dict[str, Any] = json.loads(self.host.ask("GET", "/api/state")[1])["view"]["match"]
        return match

    def close(self) -> None:
        self.server.stop()
        self.thread.join(timeout=20)
        self.service.close()


@pytest.fixture
def companion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    monkeypatch.setenv("GPIOZERO_PIN_FACTORY", "mock")
    made = House(tmp_path / "data", ["standard"])
    yield made
    made.close()


def notices(phone: Phone) -> list[dict[str, Any]]:
    return [told for _, topic, _, told in phone.heard if topic == "notice"]


def test_a_night_at_the_buttons(companion: House) -> None:
    phones = [Phone(companion.server.port) for _ in range(4)]
    for phone in phones:
        phone.listen()
    wait(lambda: all(any(topic == "state" for _, topic, _, _ in phone.heard) for phone in phones))
    devices = json.loads(companion.host.ask("GET", "/api/health")[1])["devices"]
    assert {"device": "panel", "kind": "simulated", "state": "connected", "note": ""} in devices
    assert any("Panel: connected (simulated)" in line for line in companion.service.describe())

    # Nothing is going on: the button says so, in both languages, and changes nothing.
    companion.press("next")
    (nothing,) = wait(lambda: notices(phones[0]))
    assert nothing["panel"] == "next" and nothing["en"] and nothing["fr"] != nothing["en"]

    # Next deals, shake starts the round, undo takes a step back (but not out of a live round), next begins the check.
    companion.do("open-match", {"game": "igloo-pop", "players": PLAYERS, "draw": True})
    companion.press("next")
    wait(lambda: companion.match["phase"] == "ready")
    companion.press("shake")
    wait(lambda: companion.match["phase"] == "shaking")
    wait(lambda: companion.panel.lit()["legal"])
    companion.press("undo")
    wait(lambda: any("together" in n.get("en", "") for n in notices(phones[0])))
    assert companion.match["phase"] == "shaking"
    companion.do("moves", {"moves": ["place blue card2"]})
    companion.press("undo")
    wait(lambda: not any(card["igloos"] for card in companion.match["cards"]))
    companion.do("moves", {"moves": ["place red card1"]})

    # Somebody doubts: every phone hears of it, the amber lamp burns until the matter is settled.
    companion.press("dispute")
    for phone in phones:
        told = wait(lambda phone=phone: [n for n in notices(phone) if n["panel"] == "dispute"])
        assert "doubt" in told[0]["en"] and "doute" in told[0]["fr"]
    wait(lambda: companion.panel.lit()["doubt"])
    companion.do("moves", {"moves": ["place blue card3"]})
    wait(lambda: not companion.panel.lit()["doubt"])
    companion.press("dispute")
    wait(lambda: companion.panel.lit()["doubt"])
    companion.press("dispute")
    wait(lambda: not companion.panel.lit()["doubt"])

    # A breach lights the lamp too, until the table dismisses it.
    companion.do("fault", {"clause": "POP-2.3", "colour": "red"})
    wait(lambda: companion.panel.lit()["doubt"])
    companion.do("dismiss-fault", {"fault": companion.match["faults"][0]["seq"], "agreed": True})
    wait(lambda: not companion.panel.lit()["doubt"])

    companion.press("next")
    wait(lambda: companion.match["phase"] == "checking")
    # In the check only people can tell what the igloos show.
    before = companion.match
    companion.press("next")
    wait(lambda: len([n for n in notices(phones[0]) if n["panel"] == "next" and n.get("en")]) == 2)
    assert companion.match == before
    # What the button did is in the journal as the table's own doing.
    assert {entry.by for entry in companion.service._journal.since(0)} >= {"table"}


def test_without_pins_there_is_no_panel(tmp_path: Path) -> None:
    companion = House(tmp_path / "data", [])
    try:
        assert companion.service.buttons.status() is None
        assert not any("Panel" in line for line in companion.service.describe())
    finally:
        companion.close()


def test_pins_that_do_not_fit_are_said_and_the_service_runs(tmp_path: Path) -> None:
    companion = House(tmp_path / "data", ["next 5", "undo 5"])
    try:
        status = companion.service.buttons.status()
        assert status is not None and (status.state, status.note) == ("faulty", messages.BAD_PINS)
        assert "both at GPIO 5" in status.detail
    finally:
        companion.close()


def test_a_machine_without_pins_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GPIOZERO_PIN_FACTORY", raising=False)
    companion = House(tmp_path / "data", ["standard"])
    try:
        status = companion.service.buttons.status()
        assert status is not None and status.state == "missing" and status.note in messages.NOTES
        assert any("Panel: missing" in line for line in companion.service.describe())
    finally:
        companion.close()


def test_a_board_game_shows_whose_turn_it_is_in_colour(companion: House) -> None:
    companion.do("open-match", {"game": "iglu-iglu", "players": PLAYERS, "draw": True})
    companion.press("next")
    wait(lambda: companion.match["to_move"] == 0)
    lamps = ("turn-red", "turn-green", "turn-blue")
    wait(lambda: [companion.panel.lit()[lamp] for lamp in lamps] == [True, False, False])
