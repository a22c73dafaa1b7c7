"""The data folder: what lies where in it, and the address under which the running service can be reached."""

from __future__ import annotations

import contextlib
import errno
import json
import os
from collections.abc import Sequence
from pathlib import Path

JOURNAL = "journal.sqlite"
ACCESS = "access.sqlite"
EVIDENCE = "evidence"
BOXES = "boxes"
VOTES = "votes.json"
BALLOTS = "ballots.json"
PEOPLE = "people"
"""Photos of people."""
FORGOTTEN = "forgotten.json"
"""Ids of people who were forgotten; of no backup, so that a restored one brings no name back."""
ADDRESS = "address.json"
MOST_SMALL = 16 << 20
"""No small file has more bytes."""
NEARLY_FULL = 4_000_000
"""Bytes that are left where a move may no longer find room."""
_ENDED = frozenset({"ro", "emergency_ro", "shutdown"})


def default_folder() -> Path:
    """Return the data folder where nobody names one: ``$COMPANION_DATA``, else the user's own data folder."""
    if named := os.environ.get("COMPANION_DATA"):
        return Path(named)
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "companion"


def unlinked(path: Path) -> None:
    """Refuse a symbolic link in the data folder: whoever planted it would have another file read or written.

    :raises OSError: when it is one.
    """
    if path.is_symlink():
        raise OSError(errno.ELOOP, "a symbolic link, which is not followed here", str(path))


def real_folder(path: Path, *, make: bool = False) -> None:
    """Refuse a folder that is a symbolic link; with ``make`` it is made, for the service's user alone.

    :raises OSError: when it is one, or cannot be made.
    """
    unlinked(path)
    if make:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)


def own_file(path: Path, flags: int) -> int:
    """Open a file in the data folder, for the service's user alone; neither it nor its folder may be a link.

    :raises OSError: when it cannot be opened.
    """
    place = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        return os.open(path.name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=place)
    finally:
        os.close(place)


def read_small(path: Path) -> str:
    """Return the text of a small file in the data folder.

    :raises OSError: when it cannot be read, or is a symbolic link.
    :raises ValueError: when it is no text.
    """
    with os.fdopen(own_file(path, os.O_RDONLY), "rb") as file:
        return file.read(MOST_SMALL).decode("utf-8")


def write_address(folder: Path, urls: Sequence[str]) -> None:
    """Say, for `companion host`, where the page of the running service is; the best address comes first."""
    path = folder / ADDRESS
    new = path.with_name(path.name + ".new")
    with os.fdopen(own_file(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "w", encoding="utf-8") as file:
        json.dump({"urls": list(urls)}, file)
    new.replace(path)


def read_address(folder: Path) -> tuple[str, ...]:
    """Return the addresses that :func:`write_address` left; none when no service runs, or what is there is unfit."""
    with contextlib.suppress(OSError, ValueError, RecursionError):
        said = json.loads(read_small(folder / ADDRESS))
        urls = said.get("urls") if isinstance(said, dict) else None
        if isinstance(urls, list):
            return tuple(url for url in urls if isinstance(url, str) and url.startswith(("http://", "https://")))
    return ()


def remove_address(folder: Path) -> None:
    """Say that the service has stopped."""
    with contextlib.suppress(OSError):
        (folder / ADDRESS).unlink(missing_ok=True)


def refusal(folder: Path) -> OSError | None:
    """Return why nothing can be written in a folder now, None where something can be; nothing of it is left.

    What the mount says of itself is not asked: a card whose errors made the kernel stop all writing may say nothing.
    """
    try:
        handle = os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o600)
    except OSError as error:
        # FAT and its kin know no file without a name.
        return None if error.errno in {errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL} else error
    try:
        os.write(handle, bytes(4096))
    except OSError as error:
        return error
    finally:
        os.close(handle)
    return None


def is_read_only(folder: Path) -> bool:
    """Return whether the system says that the card of a folder is read-only."""
    return bool(os.statvfs(folder).f_flag & os.ST_RDONLY)


def unwritable(folder: Path, mounts: Path = Path("/proc/self/mountinfo")) -> bool:
    """Return whether the system says that a folder cannot be written, or is nearly full; nothing is written for it.

    A card whose errors ended all writing is told by its mount: ``ro``, with newer kernels ``emergency_ro``.
    """
    facts = os.statvfs(folder)
    if is_read_only(folder) or facts.f_bavail * facts.f_frsize < NEARLY_FULL:
        return True
    place, found = folder.resolve(), (-1, "")
    with contextlib.suppress(OSError):
        for line in mounts.read_text(encoding="utf-8", errors="replace").splitlines():
            fields = line.split(" ")
            # A service that systemd shuts in sees its card twice: read-only as the system, writable as its folder.
            if place.is_relative_to(fields[4]):
                found = max(found, (len(fields[4]), f"{fields[5]},{fields[-1]}"))
    return not _ENDED.isdisjoint(found[1].split(","))


def write_small(path: Path, text: str) -> None:
    """Write a small file whole or not at all, for the service's user alone, so that it survives a power cut.

    :raises OSError: it could not be written; what was there before still is.
    """
    new = path.with_name(path.name + ".new")
    with os.fdopen(own_file(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on the card: a file's own fsync does not keep its name through a power cut.

    :raises OSError: the folder cannot be opened, or its medium fails.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
