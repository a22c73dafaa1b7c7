"""One packed stream made of blocks that many streams share: what goes out to thirty phones is packed once.

A gzip stream (RFC 1952) is a head and then deflate blocks (RFC 1951). A block that ends with a full flush begins and
ends at a byte and refers to nothing before it, so it fits into any stream; each stream is then a head of its own and
blocks that are the same bytes for all. A live stream has no end, and so no check sum.
"""

from __future__ import annotations

import struct
import threading
import zlib
from collections import OrderedDict

HEAD = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
"""The head of a gzip stream without name and time."""

PACKED_FROM = 300
"""Shorter ones go as they are: packing would gain nothing."""

MOST_STORED = 0xFFFF
LEVEL = 5


class Blocks:
    """Blocks of what was packed last. Thread-safe: streams that want the same at the same moment get one's work."""

    def __init__(self, most: int = 8) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._made: OrderedDict[bytes, bytes] = OrderedDict()
        self.packed = 0

    def block(self, data: bytes) -> bytes:
        """Return ``data`` as deflate blocks that fit into any stream."""
        if len(data) < PACKED_FROM:
            # A stored block: not the last one, its length and the complement of it.
            return b"\0" + struct.pack("<HH", len(data), MOST_STORED - len(data)) + data
        with self._lock:
            found = self._made.pop(data, None)
            if found is None:
                work = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
                found = work.compress(data) + work.flush(zlib.Z_FULL_FLUSH)
                self.packed += 1
            self._made[data] = found
            while len(self._made) > self._most:
                self._made.popitem(last=False)
            return found
