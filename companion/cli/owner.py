"""A data folder that is somebody else's: a command that root runs gives root up before it opens a file in it.

Whoever owns the folder may plant a link in it, and wait for `sudo companion backup` to follow it. So a command becomes
the folder's owner first, for good. What only root may read or write was named on the command line: it is opened
before, and nothing but the open file is handed on.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import json
import os
import pwd
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from companion.night.backup.messages import BackupError
from companion.night.log.database import StorageError

DONE, FAILED = b"+", b"-"
"""How what the owner's process says begins."""


def owner_of(folder: Path) -> tuple[int, int] | None:
    """Return user and group of a data folder that root should not touch as root; None where it may.

    A link is not followed: whoever made it has chosen where it leads.
    """
    if os.geteuid() != 0:
        return None
    try:
        facts = folder.lstat()
        if stat.S_ISLNK(facts.st_mode) and facts.st_uid == 0:
            facts = folder.stat()
    except OSError:
        return None
    return (facts.st_uid, facts.st_gid) if facts.st_uid != 0 else None


def belongs_to_owner(place: Path, folder: Path) -> bool:
    """Return whether the data folder's owner may write in ``place``, as far as its own owner tells."""
    owner = owner_of(folder)
    if owner is None:
        return True
    near = next(one for one in (place, *place.absolute().parents) if one.exists())
    return near.stat().st_uid == owner[0]


def give_up_root(folder: Path) -> Path:
    """Become the owner of a data folder, for good, where this is root and the folder is somebody else's.

    Return where the folder lies: it may be reached by a link, what is in it may not.

    :raises OSError: when it cannot be done; then nothing more may be done either.
    """
    owner = owner_of(folder)
    if owner is None:
        return folder.resolve()
    uid, gid = owner
    _load()
    try:
        groups = os.getgrouplist(pwd.getpwuid(uid).pw_name, gid)
    except KeyError:
        groups = [gid]
    os.setgroups(groups)
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
    # The home of root is not to be read now, and nothing is to be kept there.
    os.environ["HOME"] = str(folder)
    return folder.resolve()


def _load() -> None:
    """Read what is read late otherwise: Python and the companion may lie where only root reads, in root's home say."""
    from companion.rules import game, games

    # Files in archives are named by it.
    codecs.lookup("cp437")
    for name in games():
        game(name).rulebook  # noqa: B018 - read, and kept


@contextlib.contextmanager
def brought(path: Path | None, folder: Path) -> Iterator[Callable[[], Path]]:
    """Hold a file that was named on the command line; what it gives is where the folder's owner can read it.

    :raises OSError: when it cannot be read.
    """
    if path is None or owner_of(folder) is None:
        yield lambda: path or folder
        return
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(path.open("rb"))

        def readable() -> Path:
            if os.access(path, os.R_OK):
                return path
            place = stack.enter_context(tempfile.TemporaryDirectory(dir=folder, prefix=".brought-"))
            copy = Path(place) / path.name
            with copy.open("xb") as target:
                shutil.copyfileobj(file, target)
            return copy

        yield readable


def from_owner(folder: Path, work: Callable[[BinaryIO], None]) -> bytes:
    """Return what ``work`` writes, done as the folder's owner; what is open here stays open for it.

    Where this is not root, or the folder is root's, it is done here; else in a process of its own.

    :raises BackupError: and :raises StorageError: as ``work`` does.
    """
    if owner_of(folder) is None:
        written = io.BytesIO()
        work(written)
        return written.getvalue()
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            os.close(ours)
            with os.fdopen(theirs, "wb") as pipe:
                pipe.write(_answer(folder, work))
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, "rb") as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    if said[:1] == DONE:
        return said[1:]
    raise _failure(said[1:])


def _answer(folder: Path, work: Callable[[BinaryIO], None]) -> bytes:
    written = io.BytesIO()
    try:
        give_up_root(folder)
        work(written)
    except BackupError as error:
        return _told("backup", error.key, error.facts)
    except StorageError as error:
        return _told("storage", error.key, error.facts)
    except Exception as error:
        return _told("other", str(error) or type(error).__name__, {})
    return DONE + written.getvalue()


def _told(kind: str, key: str, facts: Mapping[str, object]) -> bytes:
    return FAILED + json.dumps([kind, key, {name: _plain(one) for name, one in facts.items()}]).encode()


def _plain(fact: object) -> int | str:
    return fact if isinstance(fact, int) else str(fact)


def _failure(said: bytes) -> Exception:
    try:
        kind, key, facts = json.loads(said)
    except ValueError:
        return BackupError("cannot-write", why="interrupted")
    if kind == "storage":
        return StorageError(key, **facts)
    return BackupError(key, **facts) if kind == "backup" else BackupError("cannot-write", why=key)
