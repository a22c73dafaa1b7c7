"""Home automation against a real Mosquitto: discovery, state, availability, and nothing that a round hides."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import paho.mqtt.client as mqtt
import pytest
from paho.mqtt.enums import CallbackAPIVersion

from companion.events.hub import Hub, Subscription
from companion.ports import BadDataError, MotionState
from companion.service import Service, messages
from companion.service.mqtt import SENSORS, Broker, MqttPublisher, broker
from companion.service.options import ServeOptions
from tests.worlds.served import Served
from tests.worlds.wait import PATIENCE_S, wait

pytestmark = pytest.mark.process

PLAYERS = [{"name": "Ann", "colour": "red"}, {"name": "", "colour": "blue"}]
CARDS = ["4", "4/5", "5/6", "6/7", "7/8", "8/9", "9/10", "2", "3"]


class Mosquitto:
    """The broker as a process, on a port of its own."""

    def __init__(self, folder: Path, password: str = "") -> None:
        self.folder, self.password = folder, password
        if password:
            subprocess.run(["mosquitto_passwd", "-b", "-c", str(folder / "passwords"), "me", password], check=True)
        # It cannot be given port 0. Below those that the kernel hands out nobody takes one who did not name it; one
        # that is taken all the same is left to whoever has it.
        rng = Random()
        while True:
            self.port = rng.randrange(20_000, 32_000)
            if self._runs():
                break

    def start(self) -> None:
        """Begin again, on the same port."""
        wait(self._runs)

    def _runs(self) -> bool:
        """Start it; return whether it says that it runs, and not that its port is taken."""
        lines = [f"listener {self.port} 127.0.0.1", f"allow_anonymous {'false' if self.password else 'true'}"]
        lines.append("user root")  # as root it would become somebody who may not read a test's folder; else ignored
        lines.append("log_dest stderr")
        if self.password:
            lines.append(f"password_file {self.folder / 'passwords'}")
        (self.folder / "mosquitto.conf").write_text("\n".join(lines) + "\n")
        told = self.folder / "told"
        with told.open("wb") as line:
            self.process = subprocess.Popen(
                ["/usr/sbin/mosquitto", "-c", str(self.folder / "mosquitto.conf")],
                stdout=subprocess.DEVNULL,
                stderr=line,
            )
        wait(lambda: b" running\n" in told.read_bytes() or self.process.poll() is not None, seen=told.read_text)
        if (ended := self.process.poll()) is not None:
            assert "Address already in use" in told.read_text(), (ended, told.read_text())
        return ended is None

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=PATIENCE_S)


class Ear:
    """Hears every topic."""

    def __init__(self, port: int) -> None:
        self.heard: list[tuple[str, str, bool]] = []
        self.client = mqtt.Client(CallbackAPIVersion.VERSION2)
        self.client.on_message = lambda client, data, message: self.heard.append(
            (message.topic, message.payload.decode(), message.retain)
        )
        ready = threading.Event()
        self.client.on_subscribe = lambda *_: ready.set()
        self.client.connect("127.0.0.1", port)
        self.client.loop_start()
        self.client.subscribe("#", qos=1)
        assert ready.wait(PATIENCE_S)

    def last(self, topic: str) -> str | None:
        return next((payload for heard, payload, _ in reversed(self.heard) if heard == topic), None)

    def state(self, node: str) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(self.last(f"companion/{node}/state") or "{}")
        return told

    def close(self) -> None:
        self.client.disconnect()
        self.client.loop_stop()


@pytest.fixture
def mosquitto(tmp_path: Path) -> Iterator[Mosquitto]:
    (tmp_path / "broker").mkdir()
    made = Mosquitto(tmp_path / "broker")
    yield made
    made.close()


@pytest.fixture
def ear(mosquitto: Mosquitto) -> Iterator[Ear]:
    made = Ear(mosquitto.port)
    yield made
    made.close()


def told_to(data: Path, address: str) -> None:
    data.mkdir(exist_ok=True)
    (data / "settings.json").write_text(json.dumps({"mqtt_address": address}))


def test_a_game_as_home_assistant_sees_it(tmp_path: Path, mosquitto: Mosquitto, ear: Ear) -> None:
    told_to(tmp_path / "data", f"mqtt://127.0.0.1:{mosquitto.port}")
    service = Service(ServeOptions(tmp_path / "data", "127.0.0.1", 0, simulate=True))
    try:
        service.start()
        assert service._mqtt is not None
        node = service._mqtt.node
        wait(lambda: ear.last(f"companion/{node}/status") == "online")
        device = f"homeassistant/device/companion_{node}/config"
        config = json.loads(wait(lambda: ear.last(device)) or "")
        assert config["state_topic"] == f"companion/{node}/state"
        assert config["availability_topic"] == f"companion/{node}/status"
        assert config["device"]["identifiers"] == [f"companion_{node}"]
        assert config["origin"]["name"] == "Tabletop companion"
        assert {key: part["platform"] for key, part in config["components"].items()} == dict.fromkeys(SENSORS, "sensor")
        assert {part["unique_id"] for part in config["components"].values()} == {
            f"companion_{node}_{k}" for k in SENSORS
        }
        # A count outside a round is told …
        wait(lambda: [status for status in service.igloos.statuses() if status.state == "connected" and status.rate_hz])
        service.igloos.simulate(home_action("shake"), 5)
        wait(lambda: ear.state(node).get("count"))
        service.igloos.simulate(home_action("set_down"))

        do(service, "open-match", {"game": "igloo-pop", "players": PLAYERS, "setup": {"cards": CARDS}})
        wait(lambda: ear.state(node).get("score") == "Ann 10, blue 10")
        assert ear.state(node)["game"] == "Igloo Pop"
        # … and in a live round no count leaves, whatever is shaken.
        do(service, "moves", {"moves": ["start"]})
        wait(lambda: ear.state(node).get("phase") == "shaking" and ear.state(node)["count"] is None)
        mark = len(ear.heard)
        with service.hub.subscribe(["motion"]) as motions:
            service.igloos.simulate(home_action("shake"), 7)
            service.igloos.simulate(home_action("set_down"))
            do(service, "moves", {"moves": ["take red"]})
            wait(
                lambda: (
                    "Ann" in ear.state(node)["ruling"]
                    and len({ear.state(node)[key] for key in ("ruling", "ruling_fr", "ruling_de")}) == 3
                )
            )
            felt(motions, MotionState.SHAKEN)
            felt(motions, MotionState.SET_DOWN, MotionState.REST)
        # What was counted while it was shaken would be told with the next change, or before.
        ruling = ear.state(node)["ruling"]
        do(service, "moves", {"moves": ["take blue"]})
        wait(lambda: ear.state(node)["ruling"] != ruling)
        assert [json.loads(p)["count"] for topic, p, _ in ear.heard[mark:] if topic.endswith("/state")] == [None] * len(
            [1 for topic, _, _ in ear.heard[mark:] if topic.endswith("/state")]
        )
        # Home Assistant starts anew: everything is said again.
        mark = len(ear.heard)
        ear.client.publish("homeassistant/status", "online").wait_for_publish(PATIENCE_S)
        wait(
            lambda: [1 for topic, _, _ in ear.heard[mark:] if topic == f"homeassistant/device/companion_{node}/config"]
        )
        wait(lambda: [1 for topic, _, _ in ear.heard[mark:] if topic == f"companion/{node}/state"])
    finally:
        service.close()
    wait(lambda: ear.last(f"companion/{node}/status") == "offline")
    # What is retained is what a newcomer hears.
    late = Ear(mosquitto.port)
    try:
        wait(lambda: late.last(f"companion/{node}/status") == "offline" and late.state(node).get("game") == "Igloo Pop")
        assert all(retained for _, _, retained in late.heard)
    finally:
        late.close()


def felt(motions: Subscription, *states: MotionState) -> None:
    """Read on until the igloo was felt to be in one of the states."""
    while (event := motions.get(PATIENCE_S)) is not None:
        if event.data["state"] in states:
            return
    raise AssertionError(states)


def home_action(name: str) -> Any:
    from companion.ports import SimulatedAction

    return SimulatedAction(name)


def do(service: Service, command: str, body: dict[str, Any]) -> None:
    from companion.night.answers import TABLE

    answer = service.night.do(command, body, by=TABLE, action_id=f"a{time.monotonic_ns()}")
    assert answer.ok, answer


def test_a_killed_companion_is_away_and_a_broker_that_comes_back_hears_all(
    tmp_path: Path, mosquitto: Mosquitto, ear: Ear
) -> None:
    told_to(tmp_path / "data", f"127.0.0.1:{mosquitto.port}")
    served = Served(tmp_path / "data")
    node = next(
        iter(wait(lambda: {t.split("/")[1] for t, p, _ in ear.heard if t.endswith("/status") and p == "online"}))
    )
    mosquitto.close()
    mosquitto.start()
    again = Ear(mosquitto.port)
    try:
        wait(lambda: again.last(f"companion/{node}/status") == "online" and again.state(node))
        served.process.kill()
        wait(lambda: again.last(f"companion/{node}/status") == "offline", 120)
    finally:
        again.close()
        served.close()


def test_sensors_that_an_earlier_version_described_one_by_one_are_handed_over(
    mosquitto: Mosquitto, ear: Ear, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("companion.service.mqtt.SETTLE_S", 0.0)
    single = {f"homeassistant/sensor/companion_den/{key}/config" for key in SENSORS}
    for topic in single:
        ear.client.publish(topic, json.dumps({"name": "as it was"}), qos=1, retain=True).wait_for_publish(PATIENCE_S)
    mark = len(ear.heard)
    publisher = MqttPublisher(Broker("127.0.0.1", mosquitto.port), Hub(), dict, node="den")
    publisher.start()
    device = "homeassistant/device/companion_den/config"
    wait(lambda: {topic for topic, payload, _ in ear.heard[mark:] if topic in single and not payload} == single)
    told = ear.heard[mark:]
    announced = [at for at, line in enumerate(told) if line[1] == '{"migrate_discovery": true}']
    cleared = [at for at, line in enumerate(told) if line[0] in single and not line[1]]
    assert {told[at][0] for at in announced} == single and len(announced) == len(cleared) == len(single)
    # What Home Assistant lets go of is announced before the device takes its place, and cleared after it: a device that
    # is described before is a conflict to it.
    described = [at for at, line in enumerate(told) if line[0] == device]
    assert len(described) == 1 and max(announced) < described[0] < min(cleared)
    # And once more.
    wait(lambda: len([1 for topic, payload, _ in ear.heard[mark:] if topic == device]) == 2)
    publisher.close()
    late = Ear(mosquitto.port)
    wait(lambda: late.last("companion/den/status") == "offline")
    assert {topic for topic, _, _ in late.heard if topic.endswith("/config")} == {device}
    late.close()
    # Where nothing is left of them nothing is handed over.
    mark = len(ear.heard)
    publisher = MqttPublisher(Broker("127.0.0.1", mosquitto.port), Hub(), dict, node="den")
    publisher.start()
    wait(lambda: ear.state("den") == {} and [1 for topic, _, _ in ear.heard[mark:] if topic == "companion/den/state"])
    publisher.close()
    wait(lambda: ear.last("companion/den/status") == "offline")
    assert not [topic for topic, _, _ in ear.heard[mark:] if topic in single]


def test_a_broker_with_a_password(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "broker").mkdir()
    locked = Mosquitto(tmp_path / "broker", "se cret")
    try:
        right = MqttPublisher(broker(f"mqtt://me:se%20cret@127.0.0.1:{locked.port}"), Hub(), dict, node="Right Table!")
        wrong = MqttPublisher(Broker("127.0.0.1", locked.port), Hub(), dict, node="wrong")
        assert right.node == "right_table_"
        right.start()
        wrong.start()
        wait(lambda: right.connected)
        wait(lambda: "The broker refused" in caplog.text)
        assert not wrong.connected
        right.close()
        wrong.close()
    finally:
        locked.close()


def test_no_broker_there_holds_up_nothing(tmp_path: Path) -> None:
    told_to(tmp_path / "data", "mqtt://127.0.0.1:9")
    service = Service(ServeOptions(tmp_path / "data", "127.0.0.1", 0))
    service.start()
    assert service._mqtt is not None and not service._mqtt.connected
    service.close()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("mqtt://pi", Broker("pi")),
        ("pi:1884", Broker("pi", 1884)),
        ("mqtt://a:b%40c@pi.lan", Broker("pi.lan", 1883, "a", "b@c")),
        (" mqtt://[::1]:1/ ", Broker("::1", 1)),
    ],
)
def test_addresses(text: str, found: Broker) -> None:
    assert broker(text) == found


@pytest.mark.parametrize("text", ["http://pi", "mqtt://", "mqtt://pi:x", "mqtt://pi/path", "mqtt://pi:99999"])
def test_addresses_that_are_none(text: str, tmp_path: Path) -> None:
    with pytest.raises(BadDataError, match="A broker is named"):
        broker(text)
    told_to(tmp_path / "data", text)
    service = Service(ServeOptions(tmp_path / "data", "127.0.0.1", 0))
    service.start()
    assert service._mqtt is None
    service.close()


def test_without_the_library_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "paho.mqtt.client", None)
    with pytest.raises(BadDataError, match="pip install paho-mqtt"):
        MqttPublisher(Broker("pi"), Hub(), dict)
    assert messages.NO_MQTT.endswith(".")
