"""Admission control: what a request may bring is decided at its head, before any of its body is read.

Whoever has no session brings little: no body beyond 64 KB, and a small sum of unfinished ones, for each address and in
all. A phone that joined may send a photo or a piece of a backup; one photo a session is looked at, and a few in all,
because each takes a core for seconds. What is refused here is answered in one sentence, as any refusal is.

Only heads are seen here, in the loop that reads for everybody: nothing may take long.
"""

from __future__ import annotations

import shutil
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from flask import Flask, request
from werkzeug.exceptions import HTTPException
from werkzeug.http import parse_cookie

from companion.night.log.data_folder import NEARLY_FULL
from companion.night.log.database import StorageError, unwritten
from web.http.openapi import promise_of
from web.http.requests import MAX_JSON_BYTES
from web.http.responses import RefusedError
from web.http.sessions import COOKIE, session_of, watching
from web.protocols.companion import CompanionApi

REFUSAL = "companion.refusal"
"""Where in its environment a request that was refused at its head carries why."""

FREE_BYTES = 4 * 1024
"""Bodies up to here (a tap, a PIN) are bounded by the number of connections alone: nobody can be crowded out."""
MAX_BODY_BYTES = 16 * 1024 * 1024
"""A body that a view may want is kept up to here."""
STRANGER_BYTES, STRANGERS_BYTES = 256 * 1024, 4 * 1024 * 1024
"""Unfinished bodies of an address without a session, and of all such addresses …"""
MEMBER_BYTES, MEMBERS_BYTES = 20 * 1024 * 1024, 64 * 1024 * 1024
"""… of one session (a photo beside a piece of a backup), and of all sessions."""
MOST_PHOTOS = 3
"""Photos at work at the same time: a Pi has four cores, and one is everybody's."""
WAIT_S = 2

REFUSALS = (RefusedError, StorageError, MemoryError)
"""What :meth:`Admission.admit` raises: the application has an answer for each."""


@dataclass(frozen=True, slots=True)
class RequestHead:
    """The head of a request: ``length`` of its body in bytes (None: in chunks), ``cookies`` as they were sent."""

    method: str
    path: str
    cookies: str
    length: int | None
    address: str


class ByteBudget:
    """Bytes that may be under way: ``one`` for each who sends, ``all_bytes`` together. Thread-safe."""

    def __init__(self, one: int, all_bytes: int) -> None:
        self._one, self._all = one, all_bytes
        self._lock = threading.Lock()
        self._held: Counter[str] = Counter()

    def __len__(self) -> int:
        """Return how many bytes are under way."""
        return self._held.total()

    def take(self, who: str, size: int) -> None:
        """Take bytes from the budget.

        :raises RefusedError: where ``who`` (429), or all together (503), would have too many.
        """
        with self._lock:
            if self._held[who] + size > self._one:
                raise RefusedError(
                    429, "too-much", "Too much is being sent from here at once. Try again in a moment.", wait_s=WAIT_S
                )
            if self._held.total() + size > self._all:
                raise RefusedError(
                    503, "too-much", "Too much is being sent at once. Try again in a moment.", wait_s=WAIT_S
                )
            self._held[who] += size

    def give_back(self, who: str, size: int) -> None:
        """Give bytes back; whoever has none under way is forgotten."""
        with self._lock:
            self._held[who] -= size
            self._held += Counter()


class Photos:
    """The photos that are at work, by the secret of the session that sent them, with its address. Thread-safe."""

    def __init__(self, most: int = MOST_PHOTOS) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._senders: dict[str, str] = {}

    def __len__(self) -> int:
        """Return how many are at work."""
        return len(self._senders)

    def refuse_second(self, sender: str) -> None:
        """Return quietly where no photo of ``sender`` is at work.

        :raises RefusedError: where one is (429).
        """
        if sender in self._senders:
            raise RefusedError(
                429,
                "photo-at-work",
                "Your last photo is still being read. Wait a moment.",
                wait_s=WAIT_S,
            )

    def begin(self, sender: str, address: str) -> None:
        """Note that a photo of ``sender`` is on its way, or looked at.

        One address may have all places but one: with the PIN it gets as many sessions as it likes.

        :raises RefusedError: where one is already (429), or too many of others are (503).
        """
        with self._lock:
            self.refuse_second(sender)
            from_here = sum(one == address for one in self._senders.values())
            if len(self._senders) >= self._most or from_here >= self._most - 1:
                raise RefusedError(
                    503,
                    "photos-at-work",
                    "Too many photos are being read just now. Try again in a moment.",
                    wait_s=WAIT_S,
                )
            self._senders[sender] = address

    def end(self, sender: str) -> None:
        """Note that it has been looked at, or will never be."""
        with self._lock:
            self._senders.pop(sender, None)


class Ticket:
    """What an admitted request holds until it is answered: ``keep`` bytes of its body at most, and places."""

    def __init__(self, keep: int) -> None:
        self.keep = keep
        self._lock = threading.Lock()
        self._back: list[Callable[[], None]] = []

    def on_release(self, back: Callable[[], None]) -> None:
        """Have ``back`` called when the request is over."""
        self._back.append(back)

    def release(self) -> None:
        """Give everything back, once."""
        with self._lock:
            back, self._back = self._back, []
        for give_back in back:
            give_back()


class Admission:
    """Says at the head of each request whether its body is read, kept, dropped or refused."""

    def __init__(self, app: Flask, spool: Path | None = None) -> None:
        """Guard ``app``; large bodies lie in the folder ``spool`` while they come in (None: the system's own)."""
        self._companion: CompanionApi = app.extensions["companion-api"]
        self._views = app.view_functions
        self._routes = app.url_map.bind("localhost")
        self.spool = spool
        self.photos = Photos()
        self.strangers = ByteBudget(STRANGER_BYTES, STRANGERS_BYTES)
        self.members = ByteBudget(MEMBER_BYTES, MEMBERS_BYTES)

    def admit(self, head: RequestHead) -> Ticket:
        """Return what a request may bring; see :data:`REFUSALS`.

        :raises RefusedError: it is too much, or from somebody who may not bring so much.
        :raises StorageError: the data folder has no room for it, or the sessions cannot be read.
        """
        media = self._media(head)
        photo = media is not None and media.startswith("image/")
        keep = MAX_JSON_BYTES if media is None else MAX_BODY_BYTES
        ticket = Ticket(keep)
        brought = keep if head.length is None else head.length
        if brought <= FREE_BYTES and not photo:
            return ticket
        secret = parse_cookie(head.cookies).get(COOKIE, "")
        if photo:
            # A flood of them asks no database who sends it.
            self.photos.refuse_second(secret)
        session = session_of(self._companion, secret)
        if session is None and brought > MAX_JSON_BYTES:
            if head.length is not None:
                raise watching()
            # How long a body in chunks will be nobody knows: it is cut where it becomes too long.
            ticket.keep = brought = MAX_JSON_BYTES
        if photo and session is not None:
            self.photos.begin(secret, head.address)
            ticket.on_release(lambda: self.photos.end(secret))
        if brought <= ticket.keep:
            try:
                self._take(ticket, session.id if session is not None else head.address, brought, session is not None)
            except REFUSALS:
                ticket.release()
                raise
        return ticket

    def _take(self, ticket: Ticket, who: str, size: int, member: bool) -> None:
        budget = self.members if member else self.strangers
        budget.take(who, size)
        ticket.on_release(lambda: budget.give_back(who, size))
        if size > MAX_JSON_BYTES and self.spool is not None:
            try:
                free = shutil.disk_usage(self.spool).free
            except OSError as error:
                raise unwritten(error) from error
            if free < size + NEARLY_FULL:
                raise StorageError("disk-full")

    def _media(self, head: RequestHead) -> str | None:
        """Return the kind of body that the view wants, None where it is JSON, a form, or none."""
        try:
            # As the server hands it on: with one slash at its beginning.
            endpoint, _ = self._routes.match("/" + head.path.lstrip("/"), method=head.method)
        except HTTPException:
            return None
        promise = promise_of(self._views[endpoint])
        return None if promise is None else promise.media


def refuse_early(app: Flask) -> None:
    """Answer a request that was refused at its head with why, before anything else is asked of it."""

    @app.before_request
    def check_admission() -> None:
        refusal: Exception | None = request.environ.get(REFUSAL)
        if refusal is not None:
            raise refusal
