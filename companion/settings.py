"""One place for every setting: changed on the page, kept on disk, checked before it is kept.

Settings lie in ``settings.json`` in the data folder, written whole and atomically (a power cut leaves the old
or the new file, never half of one). A file that cannot be read is moved aside, never overwritten, and said.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from companion.ports import BadDataError

OFFERED = "settings-offered.json"
"""Beside the settings: what a backup that was brought back had of settings that it may not set itself."""
MOST_BYTES = 1 << 20
"""No file of settings is longer."""

_log = logging.getLogger(__name__)

UNREADABLE = "The settings could not be read; the file was moved aside, and they start afresh."
IGNORED = "A setting in the file does not fit and was ignored."
NOTES = (UNREADABLE, IGNORED)

Value = bool | int | str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: ``words`` is the question the page asks (an English sentence, translated by its text).

    ``%(game)s`` in it is a game that is here;
    ``low`` and ``high`` bound an integer, a list is a tuple of short lines. One that is ``local`` is of this machine
    (network, devices, files) or lets others see more: a backup that is brought back offers it, and does not set it.
    """

    name: str
    default: Value
    words: str
    low: int = 0
    high: int = 0
    restart: bool = False
    local: bool = False

    def checked(self, value: object) -> Value:
        """Return ``value`` as this setting keeps it.

        :raises BadDataError: when it does not fit, in one sentence.
        """
        default = self.default
        if isinstance(default, bool):
            if isinstance(value, bool):
                return value
            raise BadDataError(f"{self.name} is yes or no, not {value!r}.")
        if isinstance(default, int):
            if isinstance(value, int) and not isinstance(value, bool) and self.low <= value <= self.high:
                return value
            raise BadDataError(f"{self.name} is a number from {self.low} to {self.high}, not {value!r}.")
        if isinstance(default, str):
            if isinstance(value, str) and len(value) <= 500 and "\n" not in value:
                return value.strip()
            raise BadDataError(f"{self.name} is one line of text of at most 500 characters.")
        if isinstance(value, (list, tuple)) and len(value) <= 50:
            lines = [v.strip() for v in value if isinstance(v, str) and "\n" not in v and len(v) <= 200]
            if len(lines) == len(value):
                return tuple(line for line in lines if line)
        raise BadDataError(f"{self.name} is a list of at most 50 short lines.")


SETTINGS: tuple[Setting, ...] = (
    Setting("house_name", "", "What is this house called on the page?"),
    Setting("host_names", (), "Names under which phones may reach this page, besides its addresses", local=True),
    Setting("igloo_port", "", "Serial port of the igloo (empty: it is found automatically)", restart=True, local=True),
    Setting("igloo_deny", (), "Serial ports never to be opened (parts of their names)", restart=True, local=True),
    Setting(
        "camera_source", "", "Camera: usb:0, pi, an http address of an MJPEG stream, or empty for none", local=True
    ),
    Setting("camera_follow", False, "Follow the game with the camera"),
    Setting("camera_settle_tenths", 4, "Tenths of a second the board must lie still before a move counts", 3, 100),
    Setting("camera_everyone", True, "Every player may answer what the camera asks (otherwise only the host)"),
    Setting("keep_pictures_days", 30, "Days to keep pictures taken as evidence", low=0, high=3650),
    Setting("keep_shakes", 300, "Shakes of the igloo kept to be heard again in the training room", low=0, high=5000),
    Setting("evidence_each_round", True, "Keep a picture of the table with each round’s result"),
    Setting("max_streams", 40, "Phones with live updates at the same time; the others keep asking", 1, 100, True),
    Setting("players_move", True, "Players may enter moves (otherwise only the host)"),
    Setting("players_pictures", True, "Players may see pictures of the table", local=True),
    Setting("watchers_pictures", False, "Those who only watch may see pictures of the table", local=True),
    Setting("joining", True, "New phones may join with the PIN", local=True),
    Setting("session_days", 90, "Days without use after which a phone has to join again", 1, 365, local=True),
    Setting("host_link_days", 7, "Days that a host link stays valid", 1, 30, local=True),
    Setting("nightly_backups", 7, "Backups kept beside the journal, one a day (0: none)", low=0, high=60),
    Setting("stick_backup", True, "Copy the nights to a USB stick that has a folder companion-backup", local=True),
    Setting(
        "mqtt_address",
        "",
        "Home automation: an MQTT broker, such as mqtt://user:password@host (empty: none)",
        restart=True,
        local=True,
    ),
    Setting("bgg_ids", (), "BoardGameGeek numbers for BG Stats, one line per game, such as %(game)s 12345"),
    Setting(
        "panel_pins",
        (),
        "Buttons and lights: standard, or one line per part, such as next 5; empty for none",
        restart=True,
        local=True,
    ),
)


def read_settings(path: Path) -> tuple[dict[str, Value], bool]:
    """Return what a file of settings says that fits, and whether something in it does not.

    :raises OSError: the file cannot be read.
    :raises ValueError: it is no such file.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        with os.fdopen(handle, encoding="utf-8") as file:
            raw = json.loads(file.read(MOST_BYTES))
    except RecursionError as error:
        raise ValueError("too deep") from error
    if not isinstance(raw, dict):
        raise ValueError("not an object")
    values: dict[str, Value] = {}
    ignored = False
    for setting in SETTINGS:
        if setting.name in raw:
            try:
                values[setting.name] = setting.checked(raw[setting.name])
            except BadDataError as error:
                ignored = True
                _log.warning("%s %s", IGNORED, error)
    return values, ignored


def write_settings(path: Path, values: Mapping[str, Value]) -> None:
    """Write a file of settings whole or not at all, for the service's user alone, so that it survives a power cut.

    :raises OSError: it could not be written; what was there before still is.
    """
    new = path.with_name(path.name + ".new")
    new.unlink(missing_ok=True)
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump({k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}, file, indent=2)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


class Settings:
    """The settings of one data folder. Thread-safe; listeners hear of each change after it is on disk."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lock = threading.RLock()
        self._known = {setting.name: setting for setting in SETTINGS}
        self._values: dict[str, Value] = {}
        self._listeners: list[Callable[[str, Value], None]] = []
        self.note = ""
        self._load()

    def _load(self) -> None:
        if self._path is None or not self._path.exists():
            return
        try:
            self._values, ignored = read_settings(self._path)
        except (OSError, ValueError):
            aside = self._path.with_name(f"{self._path.name}.unreadable-{int(time.time())}")
            self._path.replace(aside)
            self.note = UNREADABLE
            return
        self.note = IGNORED if ignored else ""

    def __getitem__(self, name: str) -> Value:
        with self._lock:
            return self._values.get(name, self._known[name].default)

    def text(self, name: str) -> str:
        """Return a text setting."""
        value = self[name]
        return value if isinstance(value, str) else str(value)

    def number(self, name: str) -> int:
        """Return an integer setting."""
        value = self[name]
        if not isinstance(value, int):
            raise TypeError(f"{name} is no number")
        return value

    def lines(self, name: str) -> tuple[str, ...]:
        """Return a list setting."""
        value = self[name]
        if not isinstance(value, tuple):
            raise TypeError(f"{name} is no list")
        return value

    def all(self) -> dict[str, Any]:
        """Return every setting with its value, as JSON."""
        return {name: list(v) if isinstance(v := self[name], tuple) else v for name in self._known}

    def offered(self) -> dict[str, Value]:
        """Return what a backup that was brought back would have set, where it is not so: it waits to be asked for."""
        if self._path is None:
            return {}
        try:
            found, _ = read_settings(self._path.with_name(OFFERED))
        except (OSError, ValueError):
            return {}
        return {name: value for name, value in found.items() if self._known[name].local and value != self[name]}

    def settle(self, names: Iterable[str]) -> None:
        """Ask no more for these settings: the host has seen what was offered, and set them.

        :raises OSError: it could not be written.
        """
        with self._lock:
            before = self.offered()
            left = {name: value for name, value in before.items() if name not in set(names)}
            if self._path is not None and left != before:
                write_settings(self._path.with_name(OFFERED), left)

    def set(self, changes: Mapping[str, object]) -> None:
        """Check and keep several settings at once, all or none.

        :raises BadDataError: for an unknown name or a value that does not fit.
        """
        with self._lock:
            checked: dict[str, Value] = {}
            for name, value in changes.items():
                if name not in self._known:
                    raise BadDataError(f"There is no setting called {name!r}.")
                checked[name] = self._known[name].checked(value)
            values = {**self._values, **checked}
            self._save(values)
            self._values = values
            listeners = list(self._listeners)
        for name, value in checked.items():
            for listener in listeners:
                listener(name, value)

    def on_change(self, listener: Callable[[str, Value], None]) -> None:
        """Call ``listener(name, value)`` after each change."""
        with self._lock:
            self._listeners.append(listener)

    def _save(self, values: Mapping[str, Value]) -> None:
        if self._path is not None:
            write_settings(self._path, values)
