"""The table in the house's automation: MQTT with Home Assistant's discovery, only where the owner names a broker.

Published is what any spectator sees: whose turn it is, the score, the last ruling, the last count (never in a live
round). Discovery and state are retained, and sent again when Home Assistant says that it has started; the broker says
that the companion is away when it is. Nothing is taken in: no message changes anything at the table.

The table is one device with its sensors in one retained message (Home Assistant 2024.12 and later). Earlier versions of
the companion described each sensor in a message of its own; where a broker still keeps these, they are handed over as
Home Assistant's documentation says: announced, described anew, cleared. Its entities stay what they were, since what
identifies them (device and component, unique id) does.
"""

from __future__ import annotations

import importlib
import json
import logging
import re
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from companion import __version__
from companion.events.hub import Hub
from companion.ports import BadDataError
from companion.rules.i18n import ENGLISH, languages
from companion.service.messages import BAD_BROKER, NO_MQTT

log = logging.getLogger(__name__)

DISCOVERY = "homeassistant"
QUIET_S = 0.2
"""Changes that follow each other this closely are told as one."""
SETTLE_S = 5.0
"""After a handing over the device is described once more: Home Assistant passes over a sensor that it is letting go."""


@dataclass(frozen=True, slots=True)
class Broker:
    """Where the broker is, and who asks."""

    host: str
    port: int = 1883
    user: str = ""
    password: str = ""


def broker(text: str) -> Broker:
    """Return the broker that a setting names.

    :raises BadDataError: for a text of another form.
    """
    parts = urlsplit(text.strip() if "://" in text else f"mqtt://{text.strip()}")
    try:
        port = parts.port or 1883
    except ValueError as error:
        raise BadDataError(BAD_BROKER) from error
    if parts.scheme != "mqtt" or not parts.hostname or parts.path not in {"", "/"}:
        raise BadDataError(BAD_BROKER)
    return Broker(parts.hostname, port, unquote(parts.username or ""), unquote(parts.password or ""))


SENSORS: Mapping[str, tuple[str, str, str]] = {
    "turn": ("Turn", "mdi:account-arrow-right", "{{ value_json.turn }}"),
    "score": ("Score", "mdi:counter", "{{ value_json.score }}"),
    "ruling": ("Last ruling", "mdi:gavel", "{{ value_json.ruling[:250] }}"),
    "count": ("Last count", "mdi:dots-hexagon", "{{ value_json.count }}"),
    "game": ("Game", "mdi:dice-multiple", "{{ value_json.game }}"),
}
"""What Home Assistant shows: name, icon, and where the value is. A state holds at most 255 characters there."""


def state_of(view: Mapping[str, Any], count: int | None) -> dict[str, Any]:
    """Return what is told of a night as a spectator sees it; ``count`` is None in a live round."""
    match = view["match"]
    lines = [line for line in view["log"] if not line["undone"]]
    data: dict[str, Any] = {
        "game": "",
        "phase": "",
        "round": None,
        "turn": "",
        "score": "",
        "scores": {},
        "ruling": lines[-1]["en"] if lines else "",
        **{f"ruling_{code}": lines[-1][code] if lines else "" for code in languages() if code != ENGLISH},
        "count": count,
    }
    if match is not None:
        names = [player["name"] or player["colour"] for player in match["players"]]
        turn = match.get("to_move")
        data |= {
            "game": match["title"]["en"],
            "phase": match["phase"],
            "round": match.get("round"),
            "turn": names[turn] if isinstance(turn, int) and 0 <= turn < len(names) and not match["over"] else "",
            "score": ", ".join(f"{n} {p['score']}" for n, p in zip(names, match["players"], strict=True)),
            "scores": {n: p["score"] for n, p in zip(names, match["players"], strict=True)},
        }
    return data


class MqttPublisher:
    """The line to a broker; paho's own thread keeps it up, a thread of ours tells it what changes."""

    def __init__(
        self, where: Broker, hub: Hub, state: Callable[[], dict[str, Any]], *, node: str = "", retry_s: int = 60
    ) -> None:
        """Prepare; ``state`` gives :func:`state_of` as it is now.

        :raises BadDataError: when the library is not installed.
        """
        try:
            paho = importlib.import_module("paho.mqtt.client")
            enums = importlib.import_module("paho.mqtt.enums")
        except ImportError as error:
            raise BadDataError(NO_MQTT) from error
        self.node = re.sub(r"[^a-z0-9_]", "_", (node or socket.gethostname().split(".")[0]).lower()) or "table"
        self._where, self._hub, self._state = where, hub, state
        self._base = f"companion/{self.node}"
        self._discovery = f"{DISCOVERY}/device/companion_{self.node}/config"
        self._single = {key: f"{DISCOVERY}/sensor/companion_{self.node}/{key}/config" for key in SENSORS}
        self._heard = f"{self._base}/heard"
        self._kept: set[str] = set()  # of what an earlier version described, by this connection's broker
        self._again = threading.Event()
        self._closing = threading.Event()
        self._describe_at: float | None = None
        self.connected = False
        self._client = paho.Client(enums.CallbackAPIVersion.VERSION2, client_id=f"companion-{self.node}")
        if where.user:
            self._client.username_pw_set(where.user, where.password)
        self._client.will_set(f"{self._base}/status", "offline", qos=1, retain=True)
        self._client.reconnect_delay_set(1, retry_s)
        self._client.on_connect = self._on_connect
        self._client.on_disconnect = self._on_disconnect
        self._client.on_message = self._on_message
        self._thread = threading.Thread(target=self._run, name="home", daemon=True)

    def start(self) -> None:
        """Connect, now or whenever the broker is there."""
        self._client.connect_async(self._where.host, self._where.port, keepalive=30)
        self._client.loop_start()
        self._thread.start()

    def close(self) -> None:
        """Say that the table is away, and hang up."""
        self._closing.set()
        self._again.set()
        if self._thread.is_alive():
            self._thread.join(timeout=5)
        if self.connected:
            gone = self._client.publish(f"{self._base}/status", "offline", qos=1, retain=True)
            try:
                gone.wait_for_publish(timeout=2)
            except (RuntimeError, ValueError):
                log.warning("The broker did not hear that the table is away.")
        self._client.disconnect()
        self._client.loop_stop()

    # --- paho's thread -----------------------------------------------------------------------------------------------

    def _on_connect(self, client: Any, userdata: object, flags: object, reason: Any, properties: object) -> None:
        del userdata, flags, properties
        if reason.is_failure:
            log.warning("The broker refused: %s", reason)
            return
        self.connected = True
        self._kept.clear()
        client.subscribe([(topic, 1) for topic in (f"{DISCOVERY}/status", self._heard, *self._single.values())])
        # A broker sends what it keeps before what it is told later: when this comes back, all that it keeps was heard.
        client.publish(self._heard, "", qos=1)

    def _on_disconnect(self, client: object, userdata: object, flags: object, reason: Any, properties: object) -> None:
        del client, userdata, flags, properties
        self.connected = False
        if not self._closing.is_set():
            log.warning("The line to the broker was lost: %s", reason)

    def _on_message(self, client: object, userdata: object, message: Any) -> None:
        del client, userdata
        if message.topic == f"{DISCOVERY}/status":
            if message.payload == b"online":
                self._introduce()
        elif message.topic == self._heard:
            self._introduce()
        elif message.retain and message.payload:
            self._kept.add(message.topic)

    def _describe(self) -> None:
        """Say what there is."""
        data = {
            "device": {
                "identifiers": [f"companion_{self.node}"],
                "name": f"Tabletop companion ({self.node})",
                "sw_version": __version__,
            },
            "origin": {"name": "Tabletop companion", "sw_version": __version__},
            "state_topic": f"{self._base}/state",
            "availability_topic": f"{self._base}/status",
            "components": {
                key: {
                    "platform": "sensor",
                    "name": name,
                    "icon": icon,
                    "unique_id": f"companion_{self.node}_{key}",
                    "value_template": template,
                    **({"json_attributes_topic": f"{self._base}/state"} if key == "score" else {}),
                }
                for key, (name, icon, template) in SENSORS.items()
            },
        }
        self._client.publish(self._discovery, json.dumps(data), qos=1, retain=True)

    def _introduce(self) -> None:
        """Say what there is, then how it is; the device takes the place of single sensors that the broker still keeps.

        These are announced first: what is described twice is a conflict to Home Assistant.
        """
        kept, self._kept = sorted(self._kept), set()
        for topic in kept:
            self._client.publish(topic, json.dumps({"migrate_discovery": True}), qos=1)
        self._describe()
        for topic in kept:
            self._client.publish(topic, "", qos=1, retain=True)
        if kept:
            self._describe_at = time.monotonic() + SETTLE_S
        self._client.publish(f"{self._base}/status", "online", qos=1, retain=True)
        self._again.set()

    # --- our own thread ----------------------------------------------------------------------------------------------

    def _run(self) -> None:
        last = ""
        with self._hub.subscribe(["state", "count"], size=4) as changes:
            while not self._closing.is_set():
                changes.get(timeout=0.5)
                if self._describe_at is not None and time.monotonic() >= self._describe_at:
                    self._describe_at = None
                    self._describe()
                if changes.lagging:
                    changes.caught_up()
                if self._closing.wait(QUIET_S):
                    return
                again = self._again.is_set()
                self._again.clear()
                data = json.dumps(self._state(), ensure_ascii=False)
                if self.connected and (data != last or again):
                    last = data
                    self._client.publish(f"{self._base}/state", data, qos=1, retain=True)
