"""What is live: the night and the devices as one snapshot, and as the texts of a server-sent event stream."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from typing import Any

from companion.night.answers import Role
from web.forms import camera_form, count_form, igloos_form, motion_form
from web.house import House

TOPICS = ("state", "igloo", "motion", "count", "wave", "bench", "camera", "notice")
"""What a page hears of; ``state`` events carry the journal's number as their id."""


def compact(data: object) -> str:
    """Return JSON without blanks."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def devices(house: House) -> dict[str, dict[str, Any]]:
    """Return the devices by topic. In a live round nothing in it tells a count."""
    return {
        "igloo": igloos_form(house.igloos(), simulated=house.simulated()),
        "motion": motion_form(house.motion()),
        "count": count(house),
        "camera": camera_form(house.camera(), house.table(), house.sight.status()),
        "bench": house.bench.state(),
    }


def count(house: House) -> dict[str, Any]:
    """Return the count, or that it is hidden. The gate is asked after the count, so that it cannot close between."""
    newest = house.count()
    return count_form(newest, hidden=house.night.live_round())


class StateTexts:
    """The state as JSON texts, made once for all streams of a role that stand at the same place.

    A stream that has the log up to ``since`` gets only the entries after it (``log_since`` says so), with the
    numbers of all entries that are undone by now; the page puts the log together. Everybody else gets it whole.
    """

    def __init__(self, house: House) -> None:
        self._house = house
        self._lock = threading.Lock()
        self._texts: dict[tuple[str, int, int | None], str] = {}
        self._seq = -1

    def text(self, role: Role, since: int | None) -> tuple[int, str]:
        """Return the journal's number and the state for a role, with the log entries after ``since`` (None: all)."""
        view = self._house.night.view(role)
        seq = int(view["seq"])
        with self._lock:
            if seq != self._seq:
                self._texts.clear()
                self._seq = seq
            key = (str(role), seq, since)
            text = self._texts.get(key)
            if text is None:
                text = self._texts[key] = compact(with_log_since(view, since))
            return seq, text


def with_log_since(view: Mapping[str, Any], since: int | None) -> dict[str, Any]:
    """Return a view whose log holds only what came after ``since``, where the log reaches back that far."""
    log = view["log"]
    if since is None or not log or log[0]["seq"] > since or since > int(view["seq"]):
        return {**view, "log_since": None}
    return {
        **view,
        "log_since": since,
        "log": [entry for entry in log if entry["seq"] > since],
        "undone": [entry["seq"] for entry in log if entry["undone"]],
    }
