"""Write a file whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from companion.ports import CompanionError


class WriteError(CompanionError, OSError):
    """A file could not be written; the message is one sentence."""


def write_whole(path: Path, data: bytes) -> None:
    """Write ``data`` beside ``path`` and put it in its place in one step; what is no plain file is written directly.

    :raises WriteError: it cannot be written; an older file is then still there.
    """
    new = path.with_name(f".{path.name[:100]}-{secrets.token_hex(4)}.new")
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as device:
                device.write(data)
            return
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:
            file.write(data)
        new.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)
        raise WriteError(f"{path} cannot be written: {error.strerror}.") from error
