"""Backups under a passphrase: what is written goes through a cipher, what is read comes out of it, never a plain file.

The form is that of age (age-encryption.org/v1, with one scrypt recipient), so that a backup can be opened without a
companion, too: ``age --decrypt companion-0007-20261120.zip.age``. Its parts: scrypt makes a key of the passphrase, and
that wraps the file's own key; ChaCha20-Poly1305 seals the file in pieces of 64 KiB, of which any can be read alone, and
the last one is marked, so that a file that was cut off is told.

So that backups by night are encrypted the box has to know the passphrase: it lies in the data folder, as plain as the
nights themselves do, for the service's user alone, and is in no backup. This protects what leaves the box.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import functools
import hashlib
import hmac
import io
import os
import re
import secrets
import tempfile
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from companion.night.backup.messages import BackupError
from companion.night.log.data_folder import refusal, write_small

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

SUFFIX = ".age"
KEPT = ".backup-passphrase"
"""The file of a data folder with the passphrase of its backups; a leading dot keeps it out of those, of any version."""

LEAST = 10
"""Characters of a passphrase, at least: whoever has the file may try as often as they like …"""
MOST = 200
LOG_N = 16
"""… and each try costs 2^16 rounds and 64 MB, as much as a Zero 2 W can spare. age itself takes 2^18."""
MOST_LOG_N = 18

MAGIC = b"age-encryption.org/v1"
PIECE = 64 * 1024
_TAG = 16
_HEAD = re.compile(
    MAGIC + rb"\n-> scrypt ([A-Za-z0-9+/]{22}) ([1-9][0-9]?)\n([A-Za-z0-9+/]{43})\n---(?: ([A-Za-z0-9+/]{43})\n)"
)
_MOST_HEAD = 256


def checked(passphrase: str) -> str:
    """Return a passphrase as every keyboard means it.

    :raises BackupError: when it is too short, too long, or has characters that no keyboard types.
    """
    meant = unicodedata.normalize("NFC", passphrase)
    if not LEAST <= len(meant) <= MOST or not meant.isprintable():
        raise BackupError("passphrase-unfit", least=LEAST)
    return meant


def kept_passphrase(folder: Path) -> str:
    """Return the passphrase with which a data folder's backups are made; empty when they are not encrypted."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        handle = os.open(folder / KEPT, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(handle, encoding="utf-8") as file:
            return file.read(4 * MOST)
    return ""


def keep_passphrase(folder: Path, passphrase: str) -> None:
    """Encrypt a data folder's backups from now on; with an empty passphrase no more.

    :raises BackupError: when it is not fit, or cannot be written down.
    """
    try:
        if passphrase:
            write_small(folder / KEPT, checked(passphrase))
        else:
            (folder / KEPT).unlink(missing_ok=True)
    except OSError as error:
        if isinstance(error, BackupError):
            raise
        raise BackupError("cannot-write", why=error.strerror or str(error)) from error


def is_encrypted(path: Path) -> bool:
    """Return whether a file says that it is encrypted.

    :raises OSError: when it cannot be read.
    """
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def locked(path: Path, passphrase: str) -> bool:
    """Return whether a backup is encrypted with another passphrase; a damaged one is not called locked."""
    try:
        with opened(path, passphrase):
            return False
    except BackupError as error:
        return error.key in {"needs-passphrase", "wrong-passphrase"}
    except OSError:
        return False


@contextlib.contextmanager
def opened(source: Path | BinaryIO, passphrase: str, shown: str = "") -> Iterator[BinaryIO]:
    """Open a backup for reading anywhere in it: as it is, or through the cipher. ``shown`` is its name for people.

    A file that is open already stays open.

    :raises BackupError: when the passphrase is missing or another one, or when something of it was changed.
    :raises OSError: when it cannot be read.
    """
    with source.open("rb") if isinstance(source, Path) else contextlib.nullcontext(source) as file:
        file.seek(0)
        if file.read(len(MAGIC)) != MAGIC:
            file.seek(0)
            yield file
            return
        name = shown or Path(file.name).name
        key, begin = _unlocked(file, passphrase, name)
        with io.BufferedReader(_Opened(file, key, begin, name), PIECE) as plain:
            # Its end first: whoever reads an archive takes a failure there for an archive of another kind.
            plain.seek(-min(1, plain.seek(0, os.SEEK_END)), os.SEEK_END)
            plain.read(1)
            plain.seek(0)
            yield cast(BinaryIO, plain)


@contextlib.contextmanager
def sealed(file: BinaryIO, passphrase: str) -> Iterator[BinaryIO]:
    """Write a backup into an open file: as it is where there is no passphrase, else through the cipher."""
    if not passphrase:
        yield file
        return
    file_key, salt = secrets.token_bytes(16), secrets.token_bytes(16)
    wrap = ChaCha20Poly1305(_stretched(passphrase, salt, LOG_N))
    head = b"%s\n-> scrypt %s %d\n%s\n---" % (MAGIC, _text(salt), LOG_N, _text(wrap.encrypt(bytes(12), file_key, None)))
    nonce = secrets.token_bytes(16)
    file.write(head + b" " + _text(_mac(file_key, head)) + b"\n" + nonce)
    with _Sealed(file, ChaCha20Poly1305(_derived(file_key, nonce, b"payload"))) as plain:
        yield cast(BinaryIO, plain)
        plain.finish()


def scratch(folder: Path, target: Path, passphrase: str) -> Path:
    """Return the folder for a database's copy while it is packed: beside the target, or where nights lie plain anyway.

    A card that can be read only leaves the system's temporary folder.
    """
    if not passphrase:
        return target.parent
    return folder if refusal(folder) is None else Path(tempfile.gettempdir())


@functools.lru_cache(maxsize=16)
def _stretched(passphrase: str, salt: bytes, log_n: int) -> bytes:
    cost = 1 << log_n
    text = unicodedata.normalize("NFC", passphrase).encode("utf-8", "surrogateescape")
    return hashlib.scrypt(text, salt=MAGIC + b"/scrypt" + salt, n=cost, r=8, p=1, dklen=32, maxmem=2 * 128 * 8 * cost)


def _derived(key: bytes, salt: bytes, what: bytes) -> bytes:
    return HKDF(SHA256(), 32, salt, what).derive(key)


def _mac(file_key: bytes, head: bytes) -> bytes:
    return hmac.digest(_derived(file_key, b"", b"header"), head, "sha256")


def _text(data: bytes) -> bytes:
    return base64.b64encode(data).rstrip(b"=")


def _data(text: bytes) -> bytes:
    return binascii.a2b_base64(text + b"=" * (-len(text) % 4))


def _unlocked(file: BinaryIO, passphrase: str, name: str) -> tuple[bytes, int]:
    """Return the key of the pieces, and where they begin."""
    file.seek(0)
    found = _HEAD.match(file.read(_MOST_HEAD))
    if found is None or int(found[2]) > MOST_LOG_N:
        raise BackupError("not-ours", file=name)
    if not passphrase:
        raise BackupError("needs-passphrase", file=name)
    head = found[0][: found.start(4) - 1]
    try:
        wrap = ChaCha20Poly1305(_stretched(passphrase, _data(found[1]), int(found[2])))
        file_key = wrap.decrypt(bytes(12), _data(found[3]), None)
    except InvalidTag:
        raise BackupError("wrong-passphrase", file=name) from None
    if not hmac.compare_digest(_mac(file_key, head), _data(found[4])):
        raise BackupError("broken", file=name, part=name)
    file.seek(found.end())
    nonce = file.read(16)
    return _derived(file_key, nonce, b"payload"), found.end() + 16


def _count(number: int, last: bool) -> bytes:
    return number.to_bytes(11, "big") + bytes([last])


class _Sealed(io.RawIOBase):
    """Takes bytes and writes them sealed, in pieces; :meth:`finish` writes the last one."""

    def __init__(self, file: BinaryIO, cipher: ChaCha20Poly1305) -> None:
        self._file, self._cipher, self._number = file, cipher, 0
        self._waiting = bytearray()

    def writable(self) -> bool:
        """Return that it is for writing."""
        return True

    def write(self, data: ReadableBuffer) -> int:
        """Take bytes; what fills a piece, and is not the end yet, is written."""
        taken = bytes(data)
        self._waiting += taken
        while len(self._waiting) > PIECE:
            self._put(PIECE, last=False)
        return len(taken)

    def finish(self) -> None:
        """Write the last piece."""
        self._put(len(self._waiting), last=True)

    def _put(self, size: int, *, last: bool) -> None:
        piece = bytes(self._waiting[:size])
        del self._waiting[:size]
        self._file.write(self._cipher.encrypt(_count(self._number, last), piece, None))
        self._number += 1


class _Opened(io.RawIOBase):
    """Reads what :class:`_Sealed` wrote, from anywhere; each piece is proved before a byte of it is given."""

    def __init__(self, file: BinaryIO, key: bytes, begin: int, name: str) -> None:
        self._file, self._cipher, self._begin, self._name = file, ChaCha20Poly1305(key), begin, name
        sealed_size = file.seek(0, os.SEEK_END) - begin
        self._pieces = max(1, -(-sealed_size // (PIECE + _TAG)))
        self._size = max(0, sealed_size - self._pieces * _TAG)
        self._at = 0

    def readable(self) -> bool:
        """Return that it is for reading."""
        return True

    def seekable(self) -> bool:
        """Return that any place in it can be read."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go somewhere in the plain bytes."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        if base + offset < 0:
            raise OSError(22, "before the beginning")
        self._at = base + offset
        return self._at

    def tell(self) -> int:
        """Return where it is in the plain bytes."""
        return self._at

    def readinto(self, target: WriteableBuffer) -> int:
        """Read what is left of the piece at this place."""
        number, skipped = divmod(self._at, PIECE)
        if self._at >= self._size:
            return 0
        self._file.seek(self._begin + number * (PIECE + _TAG))
        piece = self._file.read(PIECE + _TAG)
        try:
            plain = self._cipher.decrypt(_count(number, number == self._pieces - 1), piece, None)[skipped:]
        except InvalidTag:
            raise BackupError("broken", file=self._name, part=self._name) from None
        view = memoryview(target).cast("B")
        taken = min(len(view), len(plain))
        view[:taken] = plain[:taken]
        self._at += taken
        return taken
