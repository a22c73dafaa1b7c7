"""Live streams (server-sent events): a fixed number of places, a heartbeat, and nothing missed after a gap.

Guests have places of their own, and those of one address not all of them; whoever joined, and the host before all,
finds one however many guests there are.

A stream begins with ``hello`` (who you are, what version), the full state and every device; the events follow as
they happen. The id of a ``state`` event is the journal's number, so a browser that reconnects says with
``Last-Event-ID`` what it has. When all places are taken the answer is 503, and the page polls ``/api/state``.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from math import ceil
from typing import Annotated, Any

from flask import Blueprint, Response, current_app, request
from msgspec import Meta

from companion.night.answers import Role
from web.http.assets import accepts_gzip
from web.http.gzip_blocks import HEAD, Blocks
from web.http.json_forms import count_form
from web.http.openapi import documented
from web.http.requests import Query
from web.http.responses import RefusedError, languages
from web.http.seats import TOPIC as SEATS
from web.http.sessions import COOKIE, PhoneForm, companion, phone_form, role, who
from web.http.sse_state import TOPICS, StateTexts, compact, devices, event
from web.protocols.companion import CompanionApi

HEARTBEAT_S = 2.0
LOOK_S = 0.5
"""How often a stream with nothing to say looks whether its client is still there."""

POLL_MS = 1500
RETRY_MS = 1000

views = Blueprint("streams", __name__)


MEMBER_PLACES = 12
"""Places that guests cannot take, for the phones of a table and its screens …"""
HOST_PLACES = 2
"""… and of these some that nobody but the host can."""
SESSION_PLACES = 6
"""Streams of one session: no browser keeps more connections to one address."""
ADDRESS_SHARE = 0.75
"""Of the places for guests, those that guests of one address may take: phones behind a router share one."""


class Streams:
    """The places for live streams: ``limit`` for everybody, and some more for those who joined."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.places = limit + MEMBER_PLACES
        self._lock = threading.Lock()
        self._open: Counter[tuple[Role, str]] = Counter()
        self.closed = threading.Event()

    def __len__(self) -> int:
        """Return how many streams are open."""
        return self._open.total()

    def take(self, role: Role, who: str) -> bool:
        """Take a place; False when there is none for ``who``, or when the service is ending.

        ``who`` is the id of a session, and the address of whoever has none.
        """
        with self._lock:
            if self.closed.is_set() or not self._has_room(role, self._open[role, who]):
                return False
            self._open[role, who] += 1
            return True

    def _has_room(self, role: Role, mine: int) -> bool:
        if role is Role.SPECTATOR:
            guests = sum(count for (one, _), count in self._open.items() if one is Role.SPECTATOR)
            within = guests < self.limit and mine < ceil(ADDRESS_SHARE * self.limit)
        else:
            within = mine < SESSION_PLACES
        return within and len(self) < self.places - (0 if role is Role.HOST else HOST_PLACES)

    def give_back(self, role: Role, who: str) -> None:
        """Free a place."""
        with self._lock:
            self._open[role, who] -= 1
            self._open += Counter()

    def close(self) -> None:
        """End every stream soon, and let no other begin."""
        self.closed.set()


class Stream:
    """One live stream as the iterable that the server reads; holds a place until it is closed."""

    def __init__(
        self,
        companion: CompanionApi,
        streams: Streams,
        texts: StateTexts,
        *,
        role: Role,
        who: str,
        hello: Mapping[str, object],
        since: int | None,
        gone: Callable[[], bool],
        board: str | None = None,
        mine: Callable[[], PhoneForm] = lambda: phone_form(None),
        blocks: Blocks | None = None,
    ) -> None:
        self._companion, self._streams, self._texts = companion, streams, texts
        self._role, self._who, self._hello, self._since, self._gone = role, who, hello, since, gone
        self._lang, self._mine, self._blocks = board, mine, blocks
        self._drawn: tuple[int, str | None] | None = None
        self._told: Mapping[str, Any] = {}
        self._hidden = False
        # What a round hides: what it tells of itself then is only that.
        self._sittings = {"bench": companion.calibration_run.state, "balance": companion.balance_run.state}
        self._held = True
        self._events = self._run()

    def __iter__(self) -> Iterator[bytes]:
        return self._events if self._blocks is None else self._packed(self._blocks)

    def _packed(self, blocks: Blocks) -> Iterator[bytes]:
        yield HEAD
        for chunk in self._events:
            yield blocks.block(chunk)

    def close(self) -> None:
        """Free the place, once; called by the server when the answer is over, however it ended."""
        if self._held:
            self._held = False
            self._streams.give_back(self._role, self._who)

    def _state(self) -> bytes:
        self._told = self._companion.night.view(self._role)
        seq, data = self._texts.event(self._role, self._since)
        self._since = seq
        return data + self._board()

    def _board(self) -> bytes:
        """Return the board behind the state, in the language that was asked for, once for each change."""
        match = self._companion.night.view()["match"]
        if self._lang is None or match is None or not match.get("board"):
            return b""
        colour = self._mine()["colour"]
        found = self._texts.board(colour, self._lang)
        if found is None or (found[0], colour) == self._drawn:
            return b""
        self._drawn = found[0], colour
        return found[1]

    def _all(self) -> bytes:
        topics = devices(self._companion)
        self._hidden = bool(topics["count"]["hidden"])
        return self._state() + b"".join(event(topic, compact(data)) for topic, data in topics.items())

    def _count(self) -> bytes:
        data = count_form(self._companion.igloos.count(), self._companion.night.gate)
        self._hidden = bool(data["hidden"])
        return event("count", compact(data))

    def _me(self) -> bytes:
        return event("me", compact(self._mine())) + self._board()

    def _sitting(self, topic: str) -> bytes:
        return event(topic, compact(self._sittings[topic]()))

    def _run(self) -> Iterator[bytes]:
        with self._companion.hub.subscribe((*TOPICS, SEATS)) as subscription:
            yield f"retry: {RETRY_MS}\n\n".encode() + event("hello", compact(self._hello)) + self._all()
            said = time.monotonic()
            while not self._streams.closed.is_set() and not subscription.closed and not self._gone():
                happened = subscription.get(LOOK_S)
                chunk = b""
                if subscription.lagging:
                    subscription.caught_up()
                    chunk = self._all() + self._me()
                elif happened is not None and happened.topic == SEATS:
                    chunk = self._me()
                elif happened is not None and happened.topic == "state":
                    # A burst is told once: the state that is sent is the newest, whatever event woke us.
                    if self._since is None or happened.seq is None or happened.seq > self._since:
                        chunk = self._state()
                    elif happened.seq == self._since and happened.data is not self._told:
                        # Nothing was played, but somebody has another name, in the log and on the board too.
                        self._since = self._drawn = None
                        chunk = self._state()
                    if self._hidden is self._companion.night.gate.is_open():
                        chunk += self._count() + b"".join(map(self._sitting, self._sittings))
                elif happened is not None and happened.topic == "count":
                    chunk = self._count()
                elif happened is not None and happened.topic in {"wave", *self._sittings}:
                    # A round that began after it was told hides it.
                    chunk = self._companion.night.gate.through(event(happened.topic, happened.text), b"")
                    if not chunk and happened.topic in self._sittings:
                        chunk = self._sitting(happened.topic)
                elif happened is not None:
                    chunk = event(happened.topic, happened.text)
                elif time.monotonic() - said >= HEARTBEAT_S:
                    chunk = event("beat", str(self._since or 0))
                if chunk:
                    said = time.monotonic()
                    yield chunk


class EventsQuery(Query, frozen=True):
    """After which number of the journal the log begins, and the language of boards.

    ``open``: the boards are as everybody may see them, whatever seat this phone has.
    """

    after: str = ""
    board: str = ""
    open: Annotated[int, Meta(ge=0, le=1)] = 0


def _since(after: str) -> int | None:
    text = request.headers.get("Last-Event-ID") or after
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 15 else None


def _mine(*, seated: bool) -> Callable[[], PhoneForm]:
    """Return what tells name and seat of this phone, also after they changed or its rights were withdrawn.

    Without ``seated`` it has no seat, whatever it took.
    """
    access, secret = companion().access, request.cookies.get(COOKIE, "")
    joined = who() is not None

    def mine() -> PhoneForm:
        form = phone_form(access.session(secret) if joined else None)
        return form if seated else {**form, "colour": None}

    return mine


def _gone() -> Callable[[], bool]:
    """Return what tells that nobody reads any more, or that the phone lost its rights: its page then begins anew."""
    access, secret = companion().access, request.cookies.get(COOKIE, "")
    unread: Callable[[], bool] = request.environ.get("waitress.client_disconnected", lambda: False)
    if who() is None:
        return unread
    asked = time.monotonic()

    def gone() -> bool:
        nonlocal asked
        if (now := time.monotonic()) - asked < HEARTBEAT_S:
            return unread()
        asked = now
        return unread() or access.session(secret) is None

    return gone


@views.get("/api/events")
@documented(answer=("text/event-stream",))
def events(query: EventsQuery) -> Response:
    """Answer with the live stream; 503 when all places are taken (poll ``/api/state`` instead).

    With ``?board=LANGUAGE`` each state is followed by the drawn board, where a game on a board is open; with ``open``
    as everybody may see it.
    """
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no", "Vary": "Accept-Encoding"}
    packed = accepts_gzip()
    if packed:
        headers["Content-Encoding"] = "gzip"
    if request.method == "HEAD":
        return Response(mimetype="text/event-stream", headers=headers)
    streams: Streams = current_app.extensions["companion-streams"]
    session, mine, told = who(), role(), _mine(seated=not query.open)
    holder = session.id if session is not None else request.remote_addr or ""
    if not streams.take(mine, holder):
        raise RefusedError(503, "no-place", "All places for live updates are taken; this page keeps asking.")
    try:
        stream = Stream(
            companion(),
            streams,
            current_app.extensions["companion-texts"],
            role=mine,
            who=holder,
            hello={
                "me": told(),
                "version": companion().version,
                "stamp": current_app.extensions["companion-assets"].stamp,
            },
            since=_since(query.after),
            gone=_gone(),
            board=query.board if query.board in languages() else None,
            mine=told,
            blocks=current_app.extensions["companion-blocks"] if packed else None,
        )
        return Response(stream, mimetype="text/event-stream", headers=headers)
    except BaseException:
        streams.give_back(mine, holder)
        raise
