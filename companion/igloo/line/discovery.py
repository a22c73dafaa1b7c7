"""Finds igloos by itself, now and later: looks for ports, listens, keeps those that speak, leaves the others alone.

A port at which nothing spoke as an igloo does is closed again and tried seldom, or when something is plugged in
anew. An igloo that was heard once is never forgotten: while it is away it is *missing*, and when it comes back, at
whatever port, it is the same one and its counts go on.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self

from companion.igloo import messages
from companion.igloo.line.candidate_ports import DEFAULT_DENY, CandidatePort, denied, scan
from companion.igloo.line.link import SerialLink, Timing
from companion.igloo.line.replayed import RecordedLink
from companion.ports import DeviceState, IglooLink, IglooStatus, Samples

RETRY_S = (60.0, 120.0, 300.0, 600.0)
"""After how long a port where nothing spoke is listened to again; the last one for ever."""

CHECK_S = 0.25
"""How often the links are looked after, and changes told."""

Listener = Callable[[IglooLink, Samples], None]
ChangeListener = Callable[[list[IglooStatus]], None]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PortReport:
    """What became of one port: ``verdict`` is igloo, listening, denied, given-up or refused."""

    path: str
    name: str
    usb: str
    verdict: str
    note: str = ""


@dataclass(slots=True)
class _Entry:
    link: SerialLink
    named: bool
    candidate: CandidatePort | None


@dataclass(slots=True)
class _GivenUp:
    candidate: CandidatePort
    until: float
    times: int
    note: str


class IglooDiscovery:
    """All igloos at this machine; every one an :class:`~companion.ports.IglooLink`.

    ``named`` ports are used whatever they are called, and never given up; a name that ends in ``.csv`` or
    ``.npz`` is a recording, played again and again. With ``search`` the folder ``root`` is searched as well.
    Callbacks come from the links' threads (samples) and from the finder's own (changes). ``clock`` gives the
    seconds by which ports are searched, listened to and tried again.
    """

    def __init__(
        self,
        *,
        named: Iterable[str] = (),
        search: bool = True,
        root: Path = Path("/dev"),
        sys_root: Path = Path("/sys"),
        deny: Iterable[str] = DEFAULT_DENY,
        timing: Timing | None = None,
        scan_s: float = 1.0,
        retry_s: tuple[float, ...] = RETRY_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._search, self._root, self._sys_root = search, root, sys_root
        self._deny = tuple(deny)
        self._timing = timing or Timing()
        self._scan_s, self._retry_s, self._clock = scan_s, retry_s, clock
        self._lock = threading.RLock()
        self._closing = threading.Event()
        self._entries: list[_Entry] = []
        self._recorded: list[RecordedLink] = []
        self._gone: dict[str, IglooStatus] = {}
        self._given_up: dict[str, _GivenUp] = {}
        self._denied: list[tuple[CandidatePort, str]] = []
        self._listeners: tuple[Listener, ...] = ()
        self._watchers: tuple[ChangeListener, ...] = ()
        self._doubles: tuple[IglooLink, ...] = ()
        self._reported: object = None
        self._thread = threading.Thread(target=self._run, name="igloo finder", daemon=True)
        for port in named:
            self.add(port)

    def start(self) -> Self:
        """Begin to search."""
        self._thread.start()
        return self

    def __enter__(self) -> Self:
        """Begin to search; stop at the end of the block."""
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        """Close everything."""
        self.close()

    # --- what others ask -----------------------------------------------------------------------------------------

    def links(self) -> list[IglooLink]:
        """Return the links to igloos that were heard, also of those that are missing now; each key once."""
        with self._lock:
            keys: set[str] = set()
            links: list[IglooLink] = []
            for entry in self._entries:
                if entry.link.heard and not entry.link.superseded and (key := entry.link.status().key) not in keys:
                    keys.add(key)
                    links.append(entry.link)
            return [*links, *self._recorded]

    def statuses(self) -> list[IglooStatus]:
        """Return how every igloo is doing: those heard, named or just being listened for, and those missing."""
        with self._lock:
            keys: set[str] = set()
            found: list[IglooStatus] = []
            for entry in sorted(self._entries, key=lambda e: not e.link.heard):
                status = entry.link.status()
                if status.key in keys:
                    status = replace(
                        status, key=f"{status.key}@{entry.link.name}", state=DeviceState.FAULTY, note=messages.SAME_UNIT
                    )
                keys.add(status.key)
                found.append(status)
            found += [status for key, status in self._gone.items() if key not in keys]
            return found + [link.status() for link in self._recorded]

    def ports(self) -> list[PortReport]:
        """Return what became of every port, also of those left alone."""
        with self._lock:
            reports = []
            for entry in self._entries:
                status = entry.link.status()
                verdict = "igloo" if entry.link.heard else "listening"
                if not entry.link.heard and status.state is DeviceState.FAULTY:
                    verdict = "refused"
                usb = entry.candidate.usb if entry.candidate else ""
                reports.append(PortReport(entry.link.port, entry.link.name, usb, verdict, status.note))
            listening = {report.name for report in reports}
            for left in self._given_up.values():
                if left.candidate.name in listening:
                    continue
                known = left.candidate
                reports.append(PortReport(known.path, known.name, known.usb, "given-up", left.note))
            reports += [PortReport(c.path, c.name, c.usb, "denied", rule) for c, rule in self._denied]
            return reports

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call ``listener`` with link and samples of every igloo, now and later; return what ends that."""
        with self._lock:
            self._listeners = (*self._listeners, listener)

        def end() -> None:
            with self._lock:
                self._listeners = tuple(kept for kept in self._listeners if kept is not listener)

        return end

    def on_change(self, watcher: ChangeListener) -> Callable[[], None]:
        """Call ``watcher`` with all statuses whenever a state, key, port, unit or note changed."""
        with self._lock:
            self._watchers = (*self._watchers, watcher)

        def end() -> None:
            with self._lock:
                self._watchers = tuple(kept for kept in self._watchers if kept is not watcher)

        return end

    def add(self, port: str) -> None:
        """Use a port, or play a recording, because somebody named it.

        :raises BadDataError: when it is a recording that cannot be read.
        """
        with self._lock:
            if port.lower().endswith((".csv", ".npz")):
                recorded = RecordedLink(Path(port), loop=True)
                recorded.subscribe(lambda samples: self._hear(recorded, samples))
                self._recorded.append(recorded)
                return
            device = str(Path(port).resolve())
            for entry in [e for e in self._entries if str(Path(e.link.port).resolve()) == device]:
                if entry.named:
                    return
                self._remove(entry)
            self._connect(port, Path(port).name, None)

    def remove(self, port: str) -> None:
        """Close a named port and forget its igloo."""
        with self._lock:
            for entry in [e for e in self._entries if e.named and e.link.port == port]:
                self._remove(entry)

    def close(self) -> None:
        """Stop searching and free all ports."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join(timeout=5.0)
        with self._lock:
            for entry in self._entries:
                entry.link.close()
            for recorded in self._recorded:
                recorded.close()

    # --- the thread ----------------------------------------------------------------------------------------------

    def _run(self) -> None:
        scanned = -math.inf
        while not self._closing.is_set():
            now = self._clock()
            try:
                with self._lock:
                    self._look_after(now)
                    if self._search and now - scanned >= self._scan_s:
                        scanned = now
                        self._look_around(now)
                self._tell()
            except Exception:
                _log.exception("The search for igloos stumbled.")
            self._closing.wait(CHECK_S)

    def _look_around(self, now: float) -> None:
        candidates = scan(self._root, self._sys_root)
        here = {candidate.name: candidate for candidate in candidates}
        for name, left in list(self._given_up.items()):
            if name not in here or here[name].node != left.candidate.node:
                del self._given_up[name]  # unplugged, or plugged in anew: another chance
        self._denied = []
        for candidate in candidates:
            device = str(Path(candidate.path).resolve())
            entry = next(
                (
                    e
                    for e in self._entries
                    if e.link.name == candidate.name or str(Path(e.link.port).resolve()) == device
                ),
                None,
            )
            if entry is not None and not self._taken_over(entry, candidate, now):
                continue
            rule = denied(candidate, self._deny)
            if rule is not None:
                self._denied.append((candidate, rule))
                continue
            left_alone = self._given_up.get(candidate.name)
            if left_alone is None or now >= left_alone.until:
                self._connect(candidate.path, candidate.name, candidate)

    def _taken_over(self, entry: _Entry, candidate: CandidatePort, now: float) -> bool:
        """Return whether a known igloo's port is something else's now; then the igloo is missing."""
        if entry.named or not entry.link.heard or entry.candidate is None:
            return False
        if entry.link.status().state is DeviceState.CONNECTED:
            entry.candidate = candidate
            return False
        forbidden = denied(candidate, self._deny) is not None
        if candidate.node == entry.candidate.node or (entry.link.sweeps == 0 and not forbidden):
            return False
        status = entry.link.status()
        self._gone[status.key] = replace(status, state=DeviceState.MISSING, note=messages.MISSING)
        if forbidden:
            self._remove(entry)
        else:
            self._give_up(entry, candidate, status.note, now)
        return True

    def _is_no_other(self, name: str) -> bool:
        """Return whether what is at a port now may be opened at all."""
        here = [candidate for candidate in scan(self._root, self._sys_root) if candidate.name == name]
        return not here or denied(here[0], self._deny) is None

    def _look_after(self, now: float) -> None:
        for entry in list(self._entries):
            link = entry.link
            if link.superseded:
                self._remove(entry)
                if not link.renamed:
                    status = link.status()
                    self._gone[status.key] = status
                self._connect(link.port, link.name, None if entry.named else entry.candidate)
            elif not link.heard and not entry.named and entry.candidate is not None:
                status = link.status()
                if link.fruitless:
                    self._give_up(entry, entry.candidate, status.note, now)
                elif status.state is DeviceState.MISSING:
                    self._remove(entry)
        self._reunite()

    def _reunite(self) -> None:
        """Let an igloo that came back at another port go on with the counts that it had."""
        heard = [(entry, entry.link.status()) for entry in self._entries if entry.link.heard]
        for entry, status in heard:
            if status.state is DeviceState.MISSING:
                continue
            self._given_up.pop(entry.link.name, None)
            gone = self._gone.pop(status.key, None)
            if gone is not None:
                entry.link.adopt(gone.counts)
            for other, was in heard:
                lost = other is not entry and was.key == status.key and was.state is DeviceState.MISSING
                if lost and not other.named:
                    entry.link.adopt(was.counts)
                    self._remove(other)
        known = self.links()
        self._doubles = tuple(e.link for e in self._entries if e.link.heard and e.link not in known)

    def _give_up(self, entry: _Entry, candidate: CandidatePort, note: str, now: float) -> None:
        self._remove(entry)
        before = self._given_up.get(candidate.name)
        times = before.times + 1 if before else 0
        wait = self._retry_s[min(times, len(self._retry_s) - 1)]
        self._given_up[candidate.name] = _GivenUp(candidate, now + wait, times, note)

    def _connect(self, port: str, name: str, candidate: CandidatePort | None) -> None:
        if candidate is None:
            link = SerialLink(port, name=name, timing=self._timing, clock=self._clock)
        else:
            link = SerialLink(
                port,
                name=name,
                usb=candidate.usb,
                timing=self._timing,
                may_open=lambda: self._is_no_other(name),
                clock=self._clock,
            )
        link.subscribe(lambda samples: self._hear(link, samples))
        self._entries.append(_Entry(link, candidate is None, candidate))

    def _remove(self, entry: _Entry) -> None:
        # A listener that waits for our lock would keep its link from ending: do not wait long.
        entry.link.close(timeout=0.5)
        self._entries.remove(entry)

    def _hear(self, link: IglooLink, samples: Samples) -> None:
        if link in self._doubles:
            return
        for listener in self._listeners:
            listener(link, samples)

    def _tell(self) -> None:
        watchers = self._watchers
        if not watchers:
            return
        statuses = self.statuses()
        now = [(s.key, s.kind, s.state, s.port, s.unit, s.note, s.protocol) for s in statuses]
        if now == self._reported:
            return
        self._reported = now
        for watcher in watchers:
            try:
                watcher(statuses)
            except Exception:
                _log.exception("A listener for changes failed.")
