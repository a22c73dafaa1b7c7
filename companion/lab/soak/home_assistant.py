"""`make home-assistant`: a real Home Assistant and a real Mosquitto, and what both make of a table that is played at.

Home Assistant is installed by pip into an environment of its own in ``$XDG_CACHE_HOME/companion-machine``; it needs a
Python 3.13, and takes a quarter of an hour where its parts must be compiled. It is set up as an owner does: a login,
then its MQTT integration, told where the broker is. First the broker keeps what 0.1.0 described, a sensor a message.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion

from companion.events.hub import Hub
from companion.lab.phone import free_port
from companion.lab.soak.play import ServedCompanion
from companion.lab.worlds.evening import SEATS, SHAKEN
from companion.service.mqtt import DISCOVERY, SENSORS, MqttPublisher, broker

PYTHON = "python3.13"
PACKAGES = ("homeassistant", "paho-mqtt")
USER, WORD = "owner", "of this run only"
PATIENCE_S = 600.0
LOOK_S = 0.5
AWAY = "unavailable"


class NotAsMeantError(OSError):
    """Home Assistant does not show what the table is at."""


def environment(folder: Path, python: str) -> Path:
    """Return Home Assistant's program; it is installed where it is not there yet."""
    program = folder / "bin" / "hass"
    if not program.exists():
        subprocess.run([python, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    return program


class Mosquitto:
    """Mosquitto on a port of its own, which keeps what is retained over a new start."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self._config = folder / "mosquitto.conf"
        lines = [f"listener {self.port} 127.0.0.1", "allow_anonymous true", "persistence true", "user root"]
        self._config.write_text("\n".join([*lines, f"persistence_location {folder}/", ""]), encoding="utf-8")
        self.start()

    def start(self) -> None:
        """Start it."""
        program = shutil.which("mosquitto") or "/usr/sbin/mosquitto"
        self._process = subprocess.Popen(
            [program, "-c", str(self._config)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def stop(self) -> None:
        """Stop it."""
        self._process.terminate()
        self._process.wait(60)

    def keep(self, told: dict[str, Any]) -> None:
        """Publish payloads by topic, retained."""
        client = mqtt.Client(CallbackAPIVersion.VERSION2)
        until(lambda: _connected(client, self.port), "Mosquitto does not answer.")
        client.loop_start()
        for topic, payload in told.items():
            client.publish(topic, json.dumps(payload), qos=1, retain=True).wait_for_publish(60)
        client.disconnect()
        client.loop_stop()

    def kept(self) -> list[str]:
        """Return the topics below discovery that are retained."""
        client, found = mqtt.Client(CallbackAPIVersion.VERSION2), []
        ended: list[object] = []
        client.on_message = lambda _, __, message: found.append(message.topic) if message.retain else ended.append(1)
        until(lambda: _connected(client, self.port), "Mosquitto does not answer.")
        client.loop_start()
        client.subscribe(f"{DISCOVERY}/#", qos=1)
        # What is kept comes first.
        client.publish(f"{DISCOVERY}/end", "x", qos=1)
        until(lambda: ended, "Mosquitto does not send.")
        client.disconnect()
        client.loop_stop()
        return sorted(found)


def _connected(client: mqtt.Client, port: int) -> bool:
    with contextlib.suppress(OSError):
        client.connect("127.0.0.1", port)
        return True
    return False


class HomeAssistant:
    """Home Assistant as a process, with a user and a way to ask it."""

    def __init__(self, program: Path, folder: Path) -> None:
        self._program, self._folder = program, folder
        folder.mkdir()
        self.port = free_port()
        lines = ["http:", "  server_host: 127.0.0.1", f"  server_port: {self.port}", "api:", "config:", ""]
        (folder / "configuration.yaml").write_text("\n".join(lines), encoding="utf-8")
        auth = [str(program), "--script", "auth", "--config", str(folder), "add", USER, WORD]
        subprocess.run(auth, check=True, stdout=subprocess.DEVNULL)
        self._token = ""
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers; the first time, log in."""
        with (self._folder / "said.log").open("ab") as said:
            self._process = subprocess.Popen(
                [str(self._program), "--config", str(self._folder), "--skip-pip-packages", "paho-mqtt"],
                stdout=said,
                stderr=said,
                cwd=self._folder,
            )
        until(self._answers, "Home Assistant does not answer.")
        if not self._token:
            self._token = self._login()
        until(lambda: self.get("/api/config")["state"] == "RUNNING", "Home Assistant does not come to run.")

    def stop(self) -> None:
        """End it in order."""
        self._process.terminate()
        self._process.wait(120)

    def get(self, path: str) -> Any:
        """Ask it for something."""
        return self._ask("GET", path, None)

    def post(self, path: str, told: Any) -> Any:
        """Tell it something, as JSON."""
        return self._ask("POST", path, json.dumps(told), "application/json")

    def add_mqtt(self, port: int) -> None:
        """Set the MQTT integration up, as its dialogue does."""
        flow = self.post("/api/config/config_entries/flow", {"handler": "mqtt", "show_advanced_options": False})
        told = {"broker": "127.0.0.1", "port": port}
        done = self.post(f"/api/config/config_entries/flow/{flow['flow_id']}", told)
        if done.get("type") != "create_entry":
            raise NotAsMeantError(f"The MQTT integration was refused: {json.dumps(done)[:300]}")

    def sensors(self) -> dict[str, dict[str, Any]]:
        """Return what it shows of the table, by the sensor's key."""
        found = {}
        for one in self.get("/api/states"):
            for key, (name, _, _) in SENSORS.items():
                ending = "_" + name.lower().replace(" ", "_")
                if one["entity_id"].startswith("sensor.tabletop_companion") and one["entity_id"].endswith(ending):
                    found[key] = one
        return found

    def complaints(self) -> list[str]:
        """Return what it wrote of errors and warnings about MQTT."""
        told = (self._folder / "said.log").read_text(encoding="utf-8", errors="replace").splitlines()
        about = [line for line in told if "components.mqtt" in line]
        return [line for line in about if " ERROR " in line or " WARNING " in line]

    def _login(self) -> str:
        own = f"http://127.0.0.1:{self.port}/"
        begun = self.post(
            "/auth/login_flow", {"client_id": own, "handler": ["homeassistant", None], "redirect_uri": own}
        )
        told = {"client_id": own, "username": USER, "password": WORD}
        code = self.post(f"/auth/login_flow/{begun['flow_id']}", told)["result"]
        form = urlencode({"grant_type": "authorization_code", "code": code, "client_id": own})
        return str(self._ask("POST", "/auth/token", form, "application/x-www-form-urlencoded")["access_token"])

    def _answers(self) -> bool:
        if self._process.poll() is not None:
            said = (self._folder / "said.log").read_text(encoding="utf-8", errors="replace")
            raise NotAsMeantError(f"Home Assistant ended: {' '.join(said.split())[-400:]}")
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        with contextlib.suppress(OSError, http.client.HTTPException), contextlib.closing(connection):
            connection.request("GET", "/auth/providers")
            return bool(connection.getresponse().status)
        return False

    def _ask(self, method: str, path: str, body: str | None, kind: str = "") -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        try:
            connection.request(method, path, body, headers | ({"Content-Type": kind} if kind else {}))
            answer = connection.getresponse()
            said = answer.read()
        finally:
            connection.close()
        if answer.status >= 300:
            raise NotAsMeantError(f"Home Assistant answered {path} with {answer.status}: {said[:200]!r}")
        return json.loads(said)


def until(holds: Callable[[], Any], what: str | Callable[[], str]) -> Any:
    """Wait until something holds, and return it.

    :raises NotAsMeantError: when it does not in time.
    """
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if told := holds():
            return told
        # Home Assistant tells of changes over a websocket only, for which this would need another library.
        time.sleep(LOOK_S)
    raise NotAsMeantError(what if isinstance(what, str) else what())


def as_before(node: str) -> dict[str, Any]:
    """Return what 0.1.0 left with the broker: a message a sensor."""
    base = f"companion/{node}"
    device = {"identifiers": [f"companion_{node}"], "name": f"Tabletop companion ({node})", "sw_version": "0.1.0"}
    told: dict[str, Any] = {}
    for key, (name, icon, template) in SENSORS.items():
        told[f"{DISCOVERY}/sensor/companion_{node}/{key}/config"] = {
            "name": name,
            "icon": icon,
            "unique_id": f"companion_{node}_{key}",
            "state_topic": f"{base}/state",
            "value_template": template,
            "availability_topic": f"{base}/status",
            "device": device,
        }
    return told


def evening(program: Path, folder: Path) -> list[tuple[str, str]]:
    """Do all that may happen between a table and Home Assistant; return rows of what was seen.

    :raises NotAsMeantError: when Home Assistant shows something else.
    """
    rows = []
    house = Mosquitto(folder)
    address = f"mqtt://127.0.0.1:{house.port}"
    node = MqttPublisher(broker(address), Hub(), dict).node
    house.keep(as_before(node))
    home = HomeAssistant(program, folder / "home")
    rows.append(("Home Assistant", str(home.get("/api/config")["version"])))
    table: ServedCompanion | None = None

    def shows(wanted: dict[str, str]) -> dict[str, dict[str, Any]]:
        def holds() -> dict[str, dict[str, Any]] | None:
            found = home.sensors()
            return found if all(found.get(key, {}).get("state") == value for key, value in wanted.items()) else None

        def seen() -> str:
            return f"{wanted} wanted, { ({key: one['state'] for key, one in home.sensors().items()}) } shown"

        told: dict[str, dict[str, Any]] = until(holds, seen)
        return told

    try:
        home.add_mqtt(house.port)
        old = until(
            lambda: (found := home.sensors()).keys() == SENSORS.keys() and found, "The old sensors are not shown."
        )
        names = {key: one["entity_id"] for key, one in old.items()}
        data = folder / "data"
        data.mkdir()
        (data / "settings.json").write_text(json.dumps({"mqtt_address": address}), encoding="utf-8")
        table = ServedCompanion(data, "--simulate")
        shows({"game": ""})
        left = until(
            lambda: (kept := house.kept()) == [f"{DISCOVERY}/device/companion_{node}/config"] and kept,
            lambda: f"The broker keeps {house.kept()}.",
        )
        rows.append(("handed over from 0.1.0's sensors", f"{len(names)} of {len(names)}; retained since: {left[0]}"))
        table.do("open-match", {"game": SHAKEN, "players": SEATS, "draw": True}, os.urandom(8).hex())
        match = table.view()["match"]
        title = match["title"]["en"]
        now = shows({"game": title, "score": ", ".join(f"{one['name']} {one['score']}" for one in match["players"])})
        if {key: one["entity_id"] for key, one in now.items()} != names:
            raise NotAsMeantError(f"Other entities: {names}, then {now}")
        rows.append(("a match, shown", f"{title}; {now['score']['state']}; the same entities as before"))
        home.stop()
        home.start()
        shows({"game": title})
        rows.append(("after a new start of Home Assistant", "shown again"))
        house.stop()
        shows({"game": AWAY})
        house.start()
        shows({"game": title})
        rows.append(("after a new start of the broker", f"{AWAY}, then shown again"))
        table.close()
        shows(dict.fromkeys(SENSORS, AWAY))
        table.start()
        shows({"game": title})
        table.process.kill()
        table.process.wait()
        shows(dict.fromkeys(SENSORS, AWAY))
        rows.append(("companion ended, and killed", f"{AWAY}, both times"))
        rows.append(("errors and warnings about MQTT in its log", "; ".join(home.complaints())[:300] or "none"))
    finally:
        if table is not None:
            table.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            home.stop()
        house.stop()
    return rows


def main() -> int:
    """Install it where it is not there, try all of it, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m companion.lab.soak.home_assistant", description=__doc__)
    parser.add_argument("--python", default=PYTHON, help=f"a Python that Home Assistant runs on ({PYTHON})")
    given = parser.parse_args()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "companion-machine"
    program = environment(cache / "home-assistant", given.python)
    with tempfile.TemporaryDirectory() as folder:
        try:
            for name, value in evening(program, Path(folder)):
                print(f"{name}: {value}", flush=True)
        except (NotAsMeantError, subprocess.CalledProcessError) as error:
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
