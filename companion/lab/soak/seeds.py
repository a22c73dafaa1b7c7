"""Seeds for the fuzzer: a small right sample or two of what each reader is for, and what once made one stumble."""

from __future__ import annotations

import io
import json
import random
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path


def seeds(reader: str) -> list[bytes]:
    """Return the seeds of a reader, small ones."""
    made = _MADE.get(reader)
    return list(made()) if made is not None else []


def _frames() -> Iterator[bytes]:
    from companion.igloo.line.protocol import Data, Frame, Hello, Status, body_of, encode

    hello = Hello(1, 1, 0xE5, 0x0F, 0x0B, 3200, 3906, 16_000_000, 500_000, 9)
    rows = [(n, -n, 256) for n in range(16)]
    data = [Data.of(2 + n, 5000 * n, 16 * n, 0, rows) for n in range(8)]
    frames: tuple[Frame, ...] = (hello, *data, Status(10, 1, 0, 0, 0, 0, 0, 0))
    yield b"".join(encode(frame) for frame in frames)
    yield b"\0" + encode(hello)
    yield b"".join(encode(frame) for frame in (hello, data[0], data[5], data[5], data[1]))
    bodies = [body_of(frame) for frame in frames[:-1]]
    yield b"\1" + b"".join(bytes([len(body)]) + body for body in bodies)


def _lines() -> Iterator[bytes]:
    line = b"0.01\t-0.02\t1.00\r\n"
    yield b"|".join([line * 3] * 12)
    yield b"|".join([b"0.1,9.8,0.2\n" * 3] * 12)
    yield b"1e99,-.5,+3.\n" + b"x" * 120 + b"\n,,\n"


def _records() -> Iterator[bytes]:
    from companion.rules import game, games
    from companion.rules.playouts import playout

    for name in games():
        record, _ = playout(game(name), min(game(name).players), random.Random(1))
        yield "\n".join(list(record.lines())[:12]).encode()
        yield next(iter(record.lines())).encode()
    colours = game(games()[0]).colours
    seats = [{"name": "A", "colour": colours[0]}, {"colour": colours[-1]}]
    yield f'{json.dumps({"game": games()[0], "players": seats})}\n"start"\n'.encode()


def _positions() -> Iterator[bytes]:
    from companion.rules import game, games
    from companion.rules.playouts import playout

    for name in games():
        record, _ = playout(game(name), min(game(name).players), random.Random(2))
        for moves in (0, len(record.moves) // 2):
            position = record.prefix(moves).replay().at(moves).position()
            yield json.dumps(position, separators=(",", ":"), ensure_ascii=False).encode()


def _moves() -> Iterator[bytes]:
    from companion.rules import game, games
    from companion.rules.playouts import playout

    for name in games():
        record, _ = playout(game(name), min(game(name).players), random.Random(3))
        yield from sorted({move.encode() for move in record.moves[:40]})


def _csv() -> Iterator[bytes]:
    rows = "".join(f"{n / 3200:.6f},0.01,0.02,{1 + n % 3 / 100}\n" for n in range(20))
    yield f"t,ax,ay,az\n{rows}".encode()
    yield b"\xef\xbb\xbfaz,t,ay,ax\n1,0,0,0\n1,0.1,0,0\n"


def _npz() -> Iterator[bytes]:
    import numpy as np

    accel = np.zeros((1, 12, 3), np.float32)
    for arrays in ({"accel": accel, "rate_hz": np.float64(3200.0)}, {"accel": accel[0], "rate_hz": 100, "count": [5]}):
        file = io.BytesIO()
        np.savez(file, **arrays)
        yield file.getvalue()


def _uploads() -> Iterator[bytes]:
    import cv2
    import numpy as np

    image = np.zeros((12, 16, 3), np.uint8)
    image[:, 8:] = 200
    for suffix, options in (
        (".jpg", []),
        (".jpg", [cv2.IMWRITE_JPEG_PROGRESSIVE, 1]),
        (".png", []),
        (".webp", [cv2.IMWRITE_WEBP_QUALITY, 101]),
    ):
        yield cv2.imencode(suffix, image, options)[1].tobytes()


def _settings() -> Iterator[bytes]:
    yield b'{"house_name": "Hus", "host_names": ["box"], "max_streams": 7, "joining": false, "igloo_port": "/dev/x"}'
    yield b'{"urls": ["http://10.0.0.1:8080"], "pid": 1}'
    yield b"[" * 3000


def _names() -> Iterator[bytes]:
    yield "Zoë ☃".encode()
    yield "Ann\u202e".encode("utf-16-le")
    from companion.rules import games

    yield f"{games()[0]} 123\n{games()[-1]} 4".encode()
    yield f"{games()[0]} {'9' * 189}".encode()


def _layouts() -> Iterator[bytes]:
    from vision.board.layout import SHIPPED

    for path in sorted(SHIPPED.glob("*.toml")):
        data = path.read_bytes()
        if len(data) <= 4096:
            yield data


def _backups() -> Iterator[bytes]:
    from companion.night.backup.archive import back_up
    from companion.night.log.journal import Journal

    with tempfile.TemporaryDirectory(prefix="companion-seed-") as name, closing(Journal(Path(name) / "journal.sqlite")):
        back_up(Path(name), Path(name) / "made.zip")
        yield (Path(name) / "made.zip").read_bytes()
    for manifest in (b"{}", b'{"format": 1, "made": "x", "seq": 1, "parts": []}'):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("manifest.json", manifest)
            archive.writestr("journal.sqlite", b"SQLite format 3\0")
        yield file.getvalue()


def _databases() -> Iterator[bytes]:
    from companion.night.log.journal import Journal
    from companion.practice.database import PracticeDatabase

    with tempfile.TemporaryDirectory(prefix="companion-seed-") as name:
        place = Path(name) / "journal.sqlite"
        with closing(Journal(place)) as journal:
            journal.append("open-night", {"night": "one"}, people={"p": "Ann"})
            journal.append("pause", {})
        yield place.read_bytes()
        with closing(PracticeDatabase(Path(name) / "training.sqlite")) as training:
            training.add_person("Ann")
        yield (Path(name) / "training.sqlite").read_bytes()


def _hosts() -> Iterator[bytes]:
    yield from (b"box:8080", b"[fd00::1]:80", b"192.168.1.7", b"localhost.", b"http://box", b"box.evil.example")


_MADE = {
    "frames": _frames,
    "text lines": _lines,
    "records": _records,
    "positions": _positions,
    "moves": _moves,
    "recordings as text": _csv,
    "recordings as arrays": _npz,
    "uploads": _uploads,
    "settings": _settings,
    "names": _names,
    "layouts": _layouts,
    "backups": _backups,
    "databases of a backup": _databases,
    "damaged journals": _databases,
    "hosts": _hosts,
}
