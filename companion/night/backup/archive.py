"""One file that holds the nights: a consistent copy of the journal, with pictures, profiles and settings.

A backup is a ZIP file that any computer opens. Databases are copied with SQLite's backup API, so the service may
write meanwhile; the journal comes first, so that every picture it names is there when the pictures are copied.
Secrets (who may host, the PIN) stay at home. The file appears under its name only when it is whole, on the disk, and
was read back: each file against its SHA-256, each database by its own check.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import lzma
import os
import re
import secrets
import sqlite3
import struct
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

import msgspec

from companion import __version__
from companion.night.backup.encryption import kept_passphrase, opened, scratch, sealed
from companion.night.backup.foreign import adopt
from companion.night.backup.messages import BackupError
from companion.night.log.data_folder import EVIDENCE, FORGOTTEN, JOURNAL, own_file, real_folder, sync_folder, unlinked
from companion.night.log.database import StorageError, open_database
from companion.night.log.journal import SCHEMA, wall_clock
from companion.settings import OFFERED

FORMAT = 1
"""The version of the backup's form."""

MANIFEST = "manifest.json"
LOCK = "lock"
BACKUPS = "backups"
STAGE = ".restoring"
FORMER = "before-restore-"
CHUNK = 1 << 20
MOST_CONTENTS = 8 << 20
"""The largest table of contents of an archive, in bytes: some sixty thousand pictures …"""
MOST_MANIFEST = 16 << 20
"""… and the largest manifest."""
MOST_TAIL = 76 + 22 + 0xFFFF
"""An archive ends with the place of its table of contents, twice where it is large, and a comment."""
NO_BACKUP = (
    *(zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, struct.error, zlib.error, lzma.LZMAError),
    *(ValueError, KeyError, OverflowError),
)
"""What reading an archive raises that no backup of ours could cause: damaged, locked, packed in another way."""

_STAYS = {LOCK, "address.json", BACKUPS, STAGE, FORGOTTEN, OFFERED}
"""Names at the top of a data folder that are of this machine or this moment."""

_OF_THIS_MACHINE = "access.sqlite"
_DRAFT = re.compile(r"\..+\.zip(?:\.age)?-(\d+)-[0-9a-f]{8}\.part(?:\.db\.part)?(?:-journal|-wal|-shm)?")
_FLEETING = (".lock", ".new", "-wal", "-shm", "-journal", ".part", ".mark")


@dataclass(frozen=True, slots=True)
class BackupFile:
    """One file of a backup: its path in the data folder, size, SHA-256, and when it was last changed (seconds)."""

    name: str
    size: int
    sha256: str
    changed: float

    def to_json(self) -> dict[str, Any]:
        """Return the form that stands in the manifest."""
        return {"name": self.name, "size": self.size, "sha256": self.sha256, "changed": self.changed}


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup says of itself. ``made`` is UTC milliseconds as the clock said; ``seq`` the journal's last entry.

    ``pictures`` tells whether pictures were to be copied at all: a restore keeps the present ones where not.
    """

    made: int
    seq: int
    companion: str
    pictures: bool
    parts: tuple[BackupFile, ...]

    @property
    def picture_count(self) -> int:
        """Return how many pictures it holds."""
        return sum(part.name.startswith(f"{EVIDENCE}/") for part in self.parts)

    @property
    def size(self) -> int:
        """Return the bytes of all files, unpacked."""
        return sum(part.size for part in self.parts)

    def to_json(self) -> dict[str, Any]:
        """Return the form that lies in the file as ``manifest.json``."""
        return {
            "format": FORMAT,
            "companion": self.companion,
            "made": self.made,
            "seq": self.seq,
            "pictures": self.pictures,
            "files": [part.to_json() for part in self.parts],
        }


def kept(name: str) -> bool:
    """Return whether something at the top of a data folder belongs to a backup."""
    return not (
        name in _STAYS
        or name.startswith((_OF_THIS_MACHINE, FORMER, "."))
        or name.endswith(_FLEETING)
        or ".damaged-" in name
        or ".unreadable-" in name
    )


@contextlib.contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold a data folder as the service does, so that no service starts meanwhile.

    :raises BackupError: when a service runs on it.
    """
    handle = own_file(folder / LOCK, os.O_RDWR | os.O_CREAT)
    try:
        give_to_owner(folder / LOCK, folder)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BackupError("in-use", folder=folder) from None
        yield
    finally:
        os.close(handle)


def give_to_owner(path: Path, folder: Path) -> None:
    """Give what root made (`sudo companion …`) to the data folder's owner, else its service could not read it."""
    if os.geteuid() != 0:
        return
    owner = folder.stat()
    for part in [path, *(path.rglob("*") if path.is_dir() else ())]:
        with contextlib.suppress(OSError):
            os.chown(part, owner.st_uid, owner.st_gid, follow_symlinks=False)


def back_up(
    folder: Path,
    target: Path,
    *,
    pictures: bool = True,
    passphrase: str | None = None,
    fill: Callable[[BinaryIO], Manifest] | None = None,
) -> Manifest:
    """Copy the nights of a data folder into the file ``target``, also while a service writes them.

    With a ``passphrase`` it is encrypted; None takes the one that the folder keeps, empty where it keeps none. ``fill``
    writes the whole file, sealed or not: for where another user reads the folder than writes it.

    :raises BackupError: when there is nothing to copy, ``target`` exists, or it could not be written.
    :raises companion.night.log.database.StorageError: when the journal is damaged or cannot be read.
    """
    if not folder.is_dir():
        raise BackupError("no-folder", folder=folder)
    if not (folder / JOURNAL).exists():
        raise BackupError("nothing-to-keep", folder=folder)
    if target.exists():
        raise BackupError("exists", file=target)
    real_folder(target.parent)
    draft = target.with_name(f".{target.name}-{os.getpid()}-{secrets.token_hex(4)}.part")
    passphrase = kept_passphrase(folder) if passphrase is None else passphrase
    copy = scratch(folder, target, passphrase) / f"{draft.name}.db.part"
    try:
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        with os.fdopen(os.open(draft, flags, 0o600), "w+b") as file:
            if fill is not None:
                manifest = fill(file)
            else:
                with sealed(file, passphrase) as plain:
                    manifest = write_backup(plain, folder, copy, pictures)
            file.flush()
            os.fsync(file.fileno())
            examine(draft, file=file, shown=target.name, passphrase=passphrase)
        publish(draft, target)
    except OSError as error:
        if isinstance(error, BackupError | StorageError):
            raise
        raise BackupError("cannot-write", why=error.strerror or str(error)) from error
    except sqlite3.Error as error:
        raise BackupError("cannot-write", why=str(error)) from error
    finally:
        for left in (draft, copy, copy.with_name(copy.name + "-journal")):
            with contextlib.suppress(OSError):
                left.unlink(missing_ok=True)
    return manifest


def clear_drafts(place: Path) -> None:
    """Remove what backups left that were cut off: by a kill, a power cut, a stick that was pulled out."""
    for path in place.glob(".*.part*"):
        found = _DRAFT.fullmatch(path.name)
        if found is not None and not Path("/proc", found[1]).exists():
            with contextlib.suppress(OSError):
                path.unlink()


def publish(draft: Path, target: Path) -> None:
    """Give a whole draft its name beside it, for good; the draft itself is the caller's to remove.

    :raises BackupError: when something has that name already.
    :raises OSError: when it could not be written.
    """
    try:
        os.link(draft, target, follow_symlinks=False)
    except FileExistsError:
        raise BackupError("exists", file=target) from None
    except OSError:
        draft.replace(target)  # a stick formatted as FAT knows no links
    sync_folder(target.parent)


def write_backup(file: BinaryIO, folder: Path, copy: Path, pictures: bool) -> Manifest:
    """Write the nights of a data folder into an open file; ``copy`` is where databases are copied to meanwhile.

    :raises OSError: something could not be read or written.
    :raises sqlite3.Error: a database could not be copied.
    """
    made, parts, seq = wall_clock(), [], 0
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
        for path in _sources(folder, pictures):
            name = path.relative_to(folder).as_posix()
            try:
                changed = round(path.stat().st_mtime, 3)
                if path.suffix == ".sqlite":
                    newest = _copy_database(path, copy, journal=name == JOURNAL)
                    seq = newest if name == JOURNAL else seq
                    parts.append(add_part(archive, name, copy, changed))
                    copy.unlink()
                else:
                    parts.append(add_part(archive, name, path, changed))
            except FileNotFoundError:
                continue  # a picture whose days were over
        manifest = Manifest(made, seq, __version__, pictures, tuple(parts))
        archive.writestr(named_entry(MANIFEST, packed=True), json.dumps(manifest.to_json(), indent=1))
    return manifest


def _sources(folder: Path, pictures: bool) -> Iterator[Path]:
    """Yield what is copied: the journal first, the pictures last."""
    tops = sorted((entry for entry in folder.iterdir() if kept(entry.name)), key=lambda p: (p.name != JOURNAL, p.name))
    tops.sort(key=lambda p: p.name == EVIDENCE)
    for top in tops:
        if top.name == EVIDENCE and not pictures:
            continue
        whole = top.is_dir() and not top.is_symlink()
        for place, folders, names in os.walk(top) if whole else [(folder, list[str](), [top.name])]:
            folders.sort()
            for path in (Path(place) / name for name in sorted(names)):
                inside = path.relative_to(folder).parts
                if path.is_file() and not path.is_symlink() and all(kept(part) for part in inside[1:]):
                    yield path


def _copy_database(path: Path, copy: Path, *, journal: bool) -> int:
    """Copy a database as it stands at one moment; return the journal's last number."""
    os.close(own_file(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    source = open_database(path, SCHEMA, read_only=True) if journal else _open_other(path)
    with contextlib.closing(source), contextlib.closing(sqlite3.connect(copy, isolation_level=None)) as target:
        source.backup(target)
        # Of one file, so that it can be read where no companion file can be written (a stick, a CD).
        target.execute("PRAGMA journal_mode = DELETE")
        if not journal:
            return 0
        (seq,) = target.execute("SELECT coalesce(max(seq), 0) FROM entry").fetchone()
        return int(seq)


def _open_other(path: Path) -> sqlite3.Connection:
    for part in ("", "-wal", "-shm"):
        unlinked(path.with_name(path.name + part))
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)


def named_entry(name: str, *, packed: bool) -> zipfile.ZipInfo:
    """Return the entry of a file in a backup."""
    # A Pi without a clock may stand in 1970; ZIP files begin in 1980.
    year, *rest = time.gmtime()[:6]
    info = zipfile.ZipInfo(name, (year, *rest) if 1980 <= year <= 2107 else (1980, 1, 1, 0, 0, 0))  # type: ignore[arg-type]
    info.compress_type = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
    info.external_attr = 0o600 << 16
    return info


def add_part(archive: zipfile.ZipFile, name: str, path: Path, changed: float) -> BackupFile:
    """Put a file into a backup and return what the manifest says of it."""
    packed = path.suffix not in {".jpg", ".png", ".npz"}
    digest, size = hashlib.sha256(), 0
    with (
        os.fdopen(own_file(path, os.O_RDONLY), "rb") as source,
        archive.open(named_entry(name, packed=packed), "w", force_zip64=True) as target,
    ):
        while chunk := source.read(CHUNK):
            digest.update(chunk)
            size += len(chunk)
            target.write(chunk)
    return BackupFile(name, size, digest.hexdigest(), changed)


# --- reading one -------------------------------------------------------------------------------------------------


def examine(
    path: Path,
    *,
    unpack: Path | None = None,
    pictures: bool = True,
    shown: str = "",
    passphrase: str = "",
    file: BinaryIO | None = None,
) -> Manifest:
    """Read a backup to its end, compare every file with its SHA-256, and return what it says.

    With ``unpack`` the files are written below that folder, durably, and of the databases the rows in fresh ones, as
    :func:`companion.night.backup.foreign.adopt` has them; without ``pictures`` those are only read. ``shown`` is the
    name that a person knows, ``file`` the file itself where it is open already.

    :raises BackupError: when it is no backup, damaged, cut off, or made by a newer companion.
    """
    name = shown or path.name
    try:
        with opened(file or path, passphrase, name) as plain, _listing(plain) as archive:
            manifest = _manifest(archive, name)
            files = {info.filename: info for info in archive.infolist()}
            if set(files) != {MANIFEST, *(part.name for part in manifest.parts)} or len(files) != len(
                archive.infolist()
            ):
                raise BackupError("broken", file=name, part=MANIFEST)
            for part in manifest.parts:
                written = pictures or not part.name.startswith(f"{EVIDENCE}/")
                _read_part(archive, files[part.name], part, name, unpack if written else None)
    except OSError as error:
        if isinstance(error, BackupError | StorageError):
            raise
        if isinstance(error, FileNotFoundError | PermissionError | IsADirectoryError):
            raise BackupError("cannot-read", file=name, why=error.strerror) from error
        # An offset in it leads before its beginning; a packed part, said to be packed by bzip2, is not.
        if error.errno in (errno.EINVAL, None):
            raise BackupError("broken", file=name, part=MANIFEST) from error
        raise
    except NO_BACKUP as error:
        raise BackupError("not-ours", file=name) from error
    if JOURNAL not in {part.name for part in manifest.parts}:
        raise BackupError("broken", file=name, part=JOURNAL)
    return manifest


def read_manifest(path: Path, *, shown: str = "", passphrase: str = "") -> Manifest:
    """Return what a backup says of itself, without reading the rest; ``shown`` is the name that a person knows.

    :raises BackupError: when it is no backup of ours.
    """
    try:
        with opened(path, passphrase, shown) as file, _listing(file) as archive:
            return _manifest(archive, shown or path.name)
    except (OSError, *NO_BACKUP) as error:
        if isinstance(error, BackupError):
            raise
        raise BackupError("not-ours", file=shown or path.name) from error


class _Listed(msgspec.Struct):
    """The manifest as it lies in the file; each file in it stays text until its turn comes."""

    format: int
    made: int
    seq: int
    companion: str
    pictures: bool
    files: list[msgspec.Raw]


class _ListedFile(msgspec.Struct):
    name: str
    size: int
    sha256: str
    changed: float


@contextlib.contextmanager
def _listing(file: BinaryIO) -> Iterator[zipfile.ZipFile]:
    """Open an archive whose table of contents is no longer than that of any night of ours.

    A few bytes of it become some kilobytes in memory: so it is measured before it is read.
    """
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - MOST_TAIL))
    tail = file.read(MOST_TAIL)
    end = tail.rfind(b"PK\5\6")
    if end < 0 or len(tail) < end + 22:
        raise zipfile.BadZipFile
    (length,) = struct.unpack_from("<I", tail, end + 12)
    if end >= 76 and tail[end - 20 : end - 16] == b"PK\6\7":
        # An archive of gigabytes (ZIP64) says it here, and this is what counts then.
        (length,) = struct.unpack_from("<Q", tail, end - 36)
    if length > MOST_CONTENTS:
        raise zipfile.BadZipFile
    with zipfile.ZipFile(file) as archive:
        yield archive


def _manifest(archive: zipfile.ZipFile, name: str) -> Manifest:
    info = archive.getinfo(MANIFEST)
    # It has some words for each file of the archive, and each letter of a name takes six at most.
    allowed = sum(200 + 6 * len(entry.filename) for entry in archive.infolist())
    if info.file_size > min(allowed, MOST_MANIFEST):
        raise BackupError("not-ours", file=name)
    try:
        raw = msgspec.json.decode(archive.read(info), type=_Listed)
        if raw.format > FORMAT:
            raise BackupError("newer", file=name)
        if len(raw.files) >= len(archive.infolist()):
            raise BackupError("broken", file=name, part=MANIFEST)
        listed = (msgspec.json.decode(one, type=_ListedFile) for one in raw.files)
        parts = tuple(BackupFile(_safe(one.name), one.size, one.sha256, one.changed) for one in listed)
        return Manifest(raw.made, raw.seq, raw.companion, raw.pictures, parts)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise BackupError("not-ours", file=name) from error


def _safe(name: str) -> str:
    """Return a path that stays inside a data folder, and overwrites nothing that a backup does not hold."""
    path = PurePosixPath(name)
    inside = not path.is_absolute() and path.parts and all(kept(part) for part in path.parts)
    if not inside or str(path) != name or "\\" in name or "\0" in name or len(name) > 500:
        raise ValueError(name)
    return name


def _read_part(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, part: BackupFile, shown: str, unpack: Path | None
) -> None:
    digest, size = hashlib.sha256(), 0
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(archive.open(info))
        target: BinaryIO | None = None
        if unpack is not None:
            path = unpack / part.name
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            target = stack.enter_context(
                os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb")
            )
        try:
            while size <= part.size and (chunk := source.read(CHUNK)):
                digest.update(chunk)
                size += len(chunk)
                if target is not None:
                    target.write(chunk)
        except (zipfile.BadZipFile, EOFError, zlib.error) as error:
            raise BackupError("broken", file=shown, part=part.name) from error
        if size != part.size or digest.hexdigest() != part.sha256:
            raise BackupError("broken", file=shown, part=part.name)
        if target is not None:
            target.flush()
            os.fsync(target.fileno())
    if unpack is not None:
        if part.name.endswith(".sqlite"):
            adopt(unpack / part.name, part.name, shown=shown)
        os.utime(unpack / part.name, (part.changed, part.changed))
