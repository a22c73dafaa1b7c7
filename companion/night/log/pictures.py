"""Pictures kept as evidence beside the journal, each named by its SHA-256."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
from pathlib import Path

from companion.night.log.data_folder import own_file, real_folder, sync_folder
from companion.ports import BadDataError, CompanionError

SUFFIXES = {".jpg": "image/jpeg", ".png": "image/png"}
"""The kinds of picture that are kept, with their media types."""

_SHA256 = re.compile(r"[0-9a-f]{64}")


class EvidenceError(CompanionError, OSError):
    """A picture could not be kept; the message is one sentence."""


class EvidenceStore:
    """A folder of pictures. A picture is there whole or not at all, also after a power cut; twice the same is once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def keep(self, data: bytes, suffix: str) -> str:
        """Keep a picture durably and return its SHA-256 as 64 hexadecimal digits.

        :raises BadDataError: for a suffix other than ``.jpg`` and ``.png``.
        :raises EvidenceError: when it cannot be written (a full or read-only card).
        """
        if suffix not in SUFFIXES:
            raise BadDataError(f"Evidence is kept as {' or '.join(SUFFIXES)}, not as {suffix!r}.")
        sha256 = hashlib.sha256(data).hexdigest()
        final = self.folder / f"{sha256}{suffix}"
        # A name that nobody else uses, so that two threads with the same picture do not write into one file.
        new = self.folder / f".{sha256[:16]}-{secrets.token_hex(4)}.new"
        try:
            real_folder(self.folder, make=True)
            if final.exists() and final.stat().st_size == len(data):
                return sha256
            with os.fdopen(own_file(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            new.replace(final)
            sync_folder(self.folder)
        except OSError as error:
            with contextlib.suppress(OSError):
                new.unlink(missing_ok=True)
            raise EvidenceError(f"The picture could not be kept: {error.strerror}.") from error
        return sha256

    def open(self, sha256: str) -> tuple[bytes, str] | None:
        """Return a picture and its media type; None when there is none of that name, or it is no name at all.

        A picture whose bytes no longer match its name is not given out as evidence: None.
        """
        if not _SHA256.fullmatch(sha256):
            return None
        for suffix, media_type in SUFFIXES.items():
            try:
                with os.fdopen(own_file(self.folder / f"{sha256}{suffix}", os.O_RDONLY), "rb") as file:
                    data = file.read()
            except OSError:
                continue
            if hashlib.sha256(data).hexdigest() == sha256:
                return data, media_type
        return None
