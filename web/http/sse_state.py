"""What is live: the night and the devices as one snapshot, and as the texts of a server-sent event stream."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from typing import Any, TypedDict

from companion.night.answers import Role
from companion.rules.core import JSON
from web.http.json_forms import (
    BallotForm,
    CameraForm,
    CountForm,
    IgloosForm,
    MotionForm,
    ballot_form,
    camera_form,
    count_form,
    igloos_form,
    motion_form,
)
from web.protocols.companion import CompanionApi

TOPICS = ("state", "igloo", "motion", "count", "wave", "bench", "balance", "camera", "ballot", "notice")
"""What a page hears of; ``state`` events carry the journal's number as their id."""


def compact(data: object) -> str:
    """Return JSON without blanks."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


class DevicesForm(TypedDict):
    """The devices by topic."""

    igloo: IgloosForm
    motion: MotionForm
    count: CountForm
    camera: CameraForm
    bench: dict[str, JSON]
    balance: dict[str, JSON]
    ballot: BallotForm


def devices(companion: CompanionApi) -> DevicesForm:
    """Return the devices by topic. In a live round nothing in it tells a count."""
    return {
        "igloo": igloos_form(companion.igloos.statuses(), simulated=companion.igloos.simulated),
        "motion": motion_form(companion.igloos.motion()),
        "count": count_form(companion.igloos.count(), companion.night.gate),
        "camera": camera_form(
            companion.camera_service.status(), companion.camera_service.table(), companion.follow_service.status()
        ),
        "bench": companion.calibration_run.state(),
        "balance": companion.balance_run.state(),
        "ballot": ballot_form(companion),
    }


def event(name: str, text: str, seq: int | None = None) -> bytes:
    """Return one server-sent event; ``text`` is JSON, which has no line breaks."""
    head = "" if seq is None else f"id: {seq}\n"
    return f"{head}event: {name}\ndata: {text}\n\n".encode()


class StateTexts:
    """The state as JSON texts, made once for all streams of a role that stand at the same place.

    A stream that has the log up to ``since`` gets only the entries after it (``log_since`` says so), with the
    numbers of all entries that are undone by now; the page puts the log together. Everybody else gets it whole.
    """

    def __init__(self, companion: CompanionApi) -> None:
        self._companion = companion
        self._lock = threading.Lock()
        self._texts: dict[tuple[str, int, int | None], str] = {}
        self._seq = -1
        self._view: Mapping[str, Any] = {}
        self._drawn_of: Mapping[str, Any] = {}
        self._events: dict[tuple[str, int | None], bytes] = {}
        self._drawing = threading.Lock()
        self._boards: dict[tuple[int, str | None, str], bytes] = {}

    def text(self, role: Role, since: int | None) -> tuple[int, str]:
        """Return the journal's number and the state for a role, with the log entries after ``since`` (None: all)."""
        view = self._companion.night.view(role)
        seq = int(view["seq"])
        with self._lock:
            # A view is made anew for every change, also where only somebody's name is another.
            if view is not self._view:
                self._texts.clear()
                self._events.clear()
                self._seq, self._view = seq, view
            key = (str(role), seq, since)
            text = self._texts.get(key)
            if text is None:
                text = self._texts[key] = compact(with_log_since(view, since))
            return seq, text

    def event(self, role: Role, since: int | None) -> tuple[int, bytes]:
        """Return the same as an event of the stream."""
        seq, text = self.text(role, since)
        with self._lock:
            if seq != self._seq:
                return seq, event("state", text, seq)
            made = self._events.get((str(role), since))
            if made is None:
                made = self._events[str(role), since] = event("state", text, seq)
            return seq, made

    def board(self, colour: str | None, lang: str) -> tuple[int, bytes] | None:
        """Return the state number and the drawn board as an event, as the phone that plays ``colour`` may see it.

        Drawn and written once for all phones that see the same; None where no game on a board is open.
        """
        view = self._companion.night.view()
        match = view["match"]
        if match is None:
            return None
        seat = colour if any(player["colour"] == colour for player in match["players"]) else None
        with self._drawing:
            if view is not self._drawn_of:
                self._boards.clear()
                self._drawn_of = view
            made = self._boards.get((view["state"], seat, lang))
            if made is not None:
                return view["state"], made
            board = self._companion.night.board(seat, lang)
            if board is None:
                return None
            state = int(board["state"])
            made = self._boards[state, seat, lang] = event("board", compact(board))
            return state, made


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
