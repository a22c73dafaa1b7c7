"""The hash chain over the journal's entries, and the mark outside it that remembers the last acknowledged one.

SQLite notices a page that is no page and a log whose sum is wrong; it does not notice a bit that flipped in a row at
rest, and of a log whose sum is wrong it silently leaves out the rest. So every entry has a link: the SHA-256 of the
link before it and of the entry. A *mark* beside the journal holds number and link of the last entry that somebody was
told is safe. A journal that is shorter than its mark has lost entries; a link that does not fit tells which entry
changed.

What people wrote by hand is left out of the links, because names may be taken out of it: an entry that has only lost a
name is as it was.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain as concat
from pathlib import Path
from typing import Any, Final, NamedTuple

NOTES: Final = {"correct": "reason", "fault": "note"}
"""What people write by hand, by the kind of entry: it stands in no link."""
COLUMNS: Final = "seq, at, kind, body, by, by_role, action_id, asked, device_kind"
"""The columns of an entry, in the order in which they are linked."""
FIRST: Final = bytes(32)
"""The link before the first entry."""
MARK: Final = ".mark"
"""What the mark's file is called beside the journal."""

_SLOT: Final = struct.Struct("<8sQQ32sI")
_MAGIC: Final = b"igluMark"
_SLOT_AT: Final = (0, 4096)
"""Two places, in blocks of their own, written in turn: a write that the power cuts off leaves the other as it was."""


class Mark(NamedTuple):
    """The last entry that was acknowledged: its number and its link."""

    seq: int
    link: bytes


@dataclass(frozen=True, slots=True)
class Damage:
    """Entries, from ``first`` to ``last``, that are not as they were written: changed, or ``missing``.

    ``link`` is the one that the last of them had, empty where nobody knows.
    """

    first: int
    last: int
    missing: bool
    link: bytes = field(default=b"", compare=False)


def link(before: bytes, row: Sequence[Any]) -> bytes:
    """Return the link of an entry whose columns are :data:`COLUMNS`, after the link ``before`` it."""
    digest = sha256(before)
    for column, value in enumerate(row):
        text = _without_note(row[2], value) if column == 3 else value
        data = b"" if text is None else str(text).encode("utf-8", "surrogateescape")
        digest.update(struct.pack("<q", -1 if text is None else len(data)))
        digest.update(data)
    return digest.digest()


def _without_note(kind: object, text: Any) -> Any:
    if kind not in NOTES:
        return text
    with contextlib.suppress(ValueError, TypeError, RecursionError):
        body = json.loads(text)
        if isinstance(body, dict):
            return json.dumps({**body, NOTES[str(kind)]: ""}, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return text


def forge(db: sqlite3.Connection) -> None:
    """Link the entries of a journal that has no links yet; call it in a transaction."""
    before = FIRST
    for row in db.execute(f"SELECT {COLUMNS} FROM entry ORDER BY seq").fetchall():  # noqa: S608 - names of ours
        before = link(before, row)
        db.execute("INSERT INTO link (seq, hash) VALUES (?, ?)", (row[0], before))


def last_link(db: sqlite3.Connection, seq: int) -> bytes:
    """Return the link of an entry; that before the first where there is none."""
    row = db.execute("SELECT hash FROM link WHERE seq = ?", (seq,)).fetchone()
    return FIRST if row is None or not isinstance(row[0], bytes) else row[0]


def changed(db: sqlite3.Connection) -> list[int]:
    """Return the numbers of the entries that are not as they were written.

    A link fits its entry and the link before it. Where one does not, but the next fits the link that it should have
    been, the link itself was hit, and the entry is as it was.
    """
    found: list[int] = []
    before, expected = FIRST, FIRST
    doubtful: int | None = None
    columns = ", ".join(f"entry.{name}" for name in COLUMNS.split(", "))
    rows = db.execute(
        f"SELECT {columns}, link.hash FROM entry LEFT JOIN link USING (seq) ORDER BY seq"  # noqa: S608 - names of ours
    )
    for *row, stored in rows:
        fits = link(before, row)
        if doubtful is not None:
            if stored == fits or stored != link(expected, row):
                found.append(doubtful)
            else:
                fits = stored
            doubtful = None
        if stored != fits:
            doubtful, expected = int(row[0]), fits
        before = stored if isinstance(stored, bytes) else fits
    return found if doubtful is None else [*found, doubtful]


def damage(db: sqlite3.Connection, mark: Mark | None) -> list[Damage]:
    """Return what of a journal is not as it was acknowledged; nothing where it is, or where the mark lags behind."""
    found = [Damage(first, last, missing=False, link=last_link(db, last)) for first, last in _runs(changed(db))]
    (newest,) = db.execute("SELECT coalesce(max(seq), 0) FROM entry").fetchone()
    if mark is None:
        return found
    if mark.seq > newest:
        found.append(Damage(newest + 1, mark.seq, missing=True, link=mark.link))
    elif last_link(db, mark.seq) != mark.link and not any(one.first <= mark.seq <= one.last for one in found):
        # All links fit each other, but this is another history than the one that was acknowledged.
        found.append(Damage(mark.seq, mark.seq, missing=True, link=mark.link))
    return found


def _runs(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    first = last = None
    for number in concat(numbers, (None,)):
        if first is not None and last is not None and number == last + 1:
            last = number
            continue
        if first is not None and last is not None:
            yield first, last
        first = last = number


class MarkFile:
    """The file beside the journal that remembers the last acknowledged entry."""

    def __init__(self, journal: Path) -> None:
        """Name the file; nothing is opened before something is written."""
        self.path = journal.with_name(journal.name + MARK)
        self._handle: int | None = None
        self._written = 0

    def read(self) -> Mark | None:
        """Return the newest mark that is whole; None where there is none, or nothing can be read.

        :raises OSError: when the medium fails.
        """
        try:
            handle = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            return None
        try:
            found = [_unpacked(os.pread(handle, _SLOT.size, at)) for at in _SLOT_AT]
        finally:
            os.close(handle)
        self._written, mark = max(found, key=lambda one: one[0])
        return mark

    def write(self, mark: Mark) -> None:
        """Remember an entry; it is on the card when this returns.

        :raises OSError: it could not be written; then the mark is the one before.
        """
        if self._handle is None:
            new = not self.path.exists()
            self._handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            if new:
                os.ftruncate(self._handle, _SLOT_AT[-1] + _SLOT.size)
                os.fsync(self._handle)
        # The newest is the one that was written last, not the one of the highest number: a restore goes back.
        self._written += 1
        packed = _SLOT.pack(_MAGIC, self._written, mark.seq, mark.link, 0)[:-4]
        os.pwrite(self._handle, packed + struct.pack("<I", zlib.crc32(packed)), _SLOT_AT[self._written % 2])
        os.fdatasync(self._handle)

    def close(self) -> None:
        """Close the file; closing twice does no harm."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def _unpacked(data: bytes) -> tuple[int, Mark | None]:
    """Return how many times was written before, and the mark; (0, None) for what is not whole."""
    if len(data) != _SLOT.size:
        return 0, None
    magic, written, seq, hashed, crc = _SLOT.unpack(data)
    whole = magic == _MAGIC and crc == zlib.crc32(data[:-4])
    return (written, Mark(seq, hashed)) if whole else (0, None)
