"""One packed stream for many: blocks that fit together in any order, made once."""

from __future__ import annotations

import random
import threading
import zlib

from web.http.gzip_blocks import HEAD, Blocks


def unpacked(*parts: bytes) -> list[bytes]:
    """Return what each part brings, read one after the other as a browser does."""
    reader = zlib.decompressobj(16 + zlib.MAX_WBITS)
    assert reader.decompress(HEAD) == b""
    return [reader.decompress(part) for part in parts]


def test_blocks_fit_into_any_stream_in_any_order() -> None:
    blocks, rng = Blocks(), random.Random(4)
    texts = [bytes(rng.choices(b"abcde{}:,", k=n)) for n in (1, 40, 299, 300, 5_000, 90_000)]
    for _ in range(20):
        order = rng.choices(texts, k=12)
        assert unpacked(*(blocks.block(text) for text in order)) == order
    assert len(blocks.block(texts[-1])) < 0.5 * len(texts[-1])


def test_what_all_get_at_once_is_packed_once() -> None:
    blocks, text = Blocks(), b"a board, drawn " * 4_000
    got: list[bytes] = []
    phones = [threading.Thread(target=lambda: got.append(blocks.block(text))) for _ in range(30)]
    for phone in phones:
        phone.start()
    for phone in phones:
        phone.join()
    assert len({id(block) for block in got}) == 1
    assert blocks.packed == 1


def test_few_are_kept() -> None:
    blocks = Blocks(most=2)
    first, second, third = (bytes([n]) * 1_000 for n in range(3))
    kept = blocks.block(first)
    assert blocks.block(first) is kept
    blocks.block(second)
    blocks.block(third)
    assert blocks.block(first) is not kept
    assert blocks.packed == 4
