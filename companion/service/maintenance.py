"""What the service does for the nights by itself: finishes a restore, makes backups, watches clock and card."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from companion.events.hub import Hub
from companion.night.backup.clock_check import ClockWatch
from companion.night.backup.messages import message
from companion.night.backup.scheduler import BackupScheduler, sticks
from companion.night.log.data_folder import refusal, unwritable
from companion.night.log.database import unwritten
from companion.night.log.journal import Journal
from companion.night.messages import Words, say
from companion.settings import Settings

TEND_EVERY_S = 45.0
"""How often is looked whether a backup is due or a stick was plugged in, and the journal is brought into its file, …"""

FIRST_S = 5.0
"""… for the first time so long after the start, when the page is there."""

REMIND_S = 600.0
"""So often is said anew that nothing can be written, while it is so."""

log = logging.getLogger(__name__)


class Maintenance:
    """A thread that keeps the nights safe and says on the hub (topic ``notice``) what became of it."""

    def __init__(
        self,
        folder: Path,
        journal: Journal,
        settings: Settings,
        hub: Hub,
        *,
        every_s: float = TEND_EVERY_S,
        find_sticks: Callable[[], list[Path]] = sticks,
        watch: ClockWatch | None = None,
    ) -> None:
        """Prepare; :meth:`start` begins."""
        self._journal, self._hub, self._every_s = journal, hub, every_s
        self._watch = watch or ClockWatch()
        newest = journal.since(journal.last_seq - 1)
        self._newest_at = newest[-1].at if newest else 0
        self._keeper = BackupScheduler(
            folder,
            last_seq=lambda: journal.last_seq,
            keep=lambda: settings.number("nightly_backups"),
            use_sticks=lambda: bool(settings["stick_backup"]),
            find_sticks=find_sticks,
        )
        self._folder = folder
        self._card: tuple[str, float] = ("", 0.0)
        self._last: dict[str, Any] = {}
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="caretaker", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def close(self) -> None:
        """Stop; a backup under way is finished first, or left out whole."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join(timeout=30)

    def status(self) -> dict[str, Any]:
        """Return what became of the newest backup of each place: ``{"card": {"ok", "en", "fr", "file"}, …}``."""
        return dict(self._last)

    def may_forget(self) -> bool:
        """Return whether files may be deleted by their age: not after the clock jumped or where it is behind."""
        return self._watch.trusted(self._newest_at)

    def _run(self) -> None:
        if self._watch.behind(self._newest_at):
            self._say(message("clock-behind"), clock="behind")
        wait = min(FIRST_S, self._every_s)
        while not self._closing.wait(wait):
            wait = self._every_s
            try:
                jump = self._watch.look()
                if jump is not None:
                    self._say(jump.words, clock="jumped", seconds=round(jump.seconds))
                self._try_the_card()
                self._journal.checkpoint()
                for done in self._keeper.tend():
                    ok = done.manifest is not None
                    self._last[done.where] = {"ok": ok, **done.words.to_json(), "file": done.path.name}
                    if done.where == "stick" or not ok:
                        self._say(done.words, backup=done.where, ok=ok)
            except Exception:
                log.exception("The caretaker stumbled.")

    def _try_the_card(self) -> None:
        """Say that nothing can be written, before somebody loses a move to it; and that it can again."""
        # Asked each minute: a try would wear the card, so it is made only where something is wrong.
        refused = refusal(self._folder) if self._card[0] or unwritable(self._folder) else None
        key = "" if refused is None else unwritten(refused).key.replace("disk-", "card-")
        before, said_at = self._card
        now = time.monotonic()
        if refused is not None and (key != before or now - said_at >= REMIND_S):
            self._card = (key, now)
            self._say(say(key, {"why": refused.strerror}), card=key)
        elif refused is None and before:
            self._card = ("", now)
            self._say(say("card-again", {}), card="card-again")

    def _say(self, words: Words, **facts: object) -> None:
        log.warning("%s", words.en)
        self._hub.publish("notice", {**words.to_json(), **facts})
