"""What reads bytes that strangers wrote, each as a function for a fuzzer: whole bytes in, nothing out, no surprise.

A reader may refuse with the errors that its own documentation names; anything else is a fault. The seeds are small
samples of what each reader is for, and what once made one stumble.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path

from companion.ports import CompanionError

Reader = Callable[[bytes], object]


def _frames() -> Reader:
    """Igloo to companion: frames in pieces, and the stream that makes samples of them."""
    from companion.igloo.line.protocol import FrameReader, cobs_encode, crc16
    from companion.igloo.line.samples import FrameStream

    def framed(data: bytes) -> bytes:
        """Make right frames of bodies, each behind its length: no fuzzer finds a CRC."""
        made, at = b"", 0
        while at < len(data):
            body = data[at + 1 : at + 1 + data[at]]
            at += 1 + data[at]
            made += cobs_encode(body + crc16(body).to_bytes(2, "little")) + b"\0"
        return made

    def read(data: bytes) -> None:
        reader, stream = FrameReader(), FrameStream()
        if data[:1] == b"\1":
            data = framed(data[1:])
        step = 1 + len(data) // 40
        for number, start in enumerate(range(0, len(data), step)):
            frames = reader.feed(data[start : start + step])
            for run in stream.feed(frames, 10.0 + 0.01 * number):
                if not len(run.accel):
                    raise AssertionError("a run without samples")
        stream.counts()

    return read


def _lines() -> Reader:
    """Igloo to companion: the text fallback."""
    from companion.igloo.line.text_protocol import LineReader, TextStream

    def read(data: bytes) -> None:
        reader, stream = LineReader(), TextStream()
        for number, part in enumerate(data.split(b"|")):
            stream.feed(reader.feed(part), 10.0 + 0.25 * number)
        stream.counts()

    return read


def _records() -> Reader:
    from companion.rules.record import read as read_record

    def read(data: bytes) -> None:
        replay = read_record(data.splitlines(keepends=True))
        for _, ruling in replay.rulings():
            if not ruling.en or not ruling.fr:
                raise AssertionError("a ruling without a sentence")

    return read


def _positions() -> Reader:
    from companion.rules import game, games
    from companion.rules.core import RulesError
    from companion.rules.inference.turns import Evidence, cases

    def read(data: bytes) -> None:
        try:
            position = json.loads(data)
        except (ValueError, RecursionError):
            return
        if not isinstance(position, dict) or position.get("game") not in games():
            return
        for use in (game(position["game"]).from_position, Evidence.of_position, lambda one: cases(one["game"], one)):
            try:
                use(position)
            except RulesError as error:
                if not error.en or not error.fr:
                    raise AssertionError("a refusal without a sentence") from error

    return read


def _moves() -> Reader:
    from companion.rules import game, games
    from companion.rules.core import RulesError

    played = [game(name) for name in games()]

    def read(data: bytes) -> None:
        text = data.decode("utf-8", "replace")
        for one in played:
            try:
                move = one.parse(text)
            except RulesError:
                continue
            if one.parse(str(move)) != move:
                raise AssertionError(f"{move} reads back as another move")

    return read


def _file(suffix: str, use: Callable[[Path], object]) -> Reader:
    """Return a reader of files of this name."""

    def read(data: bytes) -> None:
        with tempfile.TemporaryDirectory(prefix="companion-fuzz-") as folder:
            path = Path(folder) / f"given{suffix}"
            path.write_bytes(data)
            use(path)

    return read


def _recordings(suffix: str) -> Reader:
    from companion.igloo.recordings import read_recording

    def use(path: Path) -> None:
        recording = read_recording(path)
        for number in range(len(recording.shakes)):
            recording.runs(number)

    return _file(suffix, use)


def _settings() -> Reader:
    from companion.night.log.data_folder import read_address
    from companion.settings import SETTINGS, Settings

    def use(path: Path) -> None:
        settings = Settings(path)
        for setting in SETTINGS:
            setting.checked(settings[setting.name])
        path.with_name("address.json").write_bytes(path.read_bytes() if path.exists() else b"")
        read_address(path.parent)

    return _file(".json", use)


def _uploads() -> Reader:
    """Pictures: heads and the cutter of streams; what claims to be whole is decoded too."""
    from vision.camera.jpeg_stream import JpegCutter
    from vision.decode.photo import read_photo

    def read(data: bytes) -> None:
        cutter = JpegCutter()
        for picture in [*cutter.feed(data[: len(data) // 2]), *cutter.feed(data[len(data) // 2 :]), data]:
            try:
                read_photo(picture)
            except CompanionError:
                continue

    return read


def _names() -> Reader:
    """Names as a phone sends them, in a link for BG Stats; and BoardGameGeek's numbers as the owner writes them."""
    from urllib.parse import quote

    from companion.night.commands.context import printable
    from companion.night.export.bgstats import bgg_ids
    from companion.ports import BadDataError
    from companion.settings import SETTINGS

    setting = next(one for one in SETTINGS if one.name == "bgg_ids")

    def read(data: bytes) -> None:
        text = data.decode("utf-8", "surrogatepass") if len(data) % 2 else data.decode("utf-16-le", "surrogatepass")
        quote(json.dumps({"name": printable(text)}, ensure_ascii=False))
        try:
            lines = setting.checked(text.splitlines())
            bgg_ids(lines if isinstance(lines, tuple) else ())
        except BadDataError:
            return

    def lenient(data: bytes) -> None:
        try:
            read(data)
        except UnicodeDecodeError:
            return

    return lenient


def _layouts() -> Reader:
    from vision.board.layout import read_layout

    return lambda data: read_layout(data.decode("utf-8", "replace"))


def _backups() -> Reader:
    from companion.night.backup.restore import look_into

    return _file(".zip", look_into)


def _databases() -> Reader:
    """A journal and a training book out of a backup that anybody may have made."""
    from companion.night.backup.foreign import TRAINING, adopt
    from companion.night.log.data_folder import JOURNAL

    def use(path: Path) -> None:
        adopt(path, TRAINING if path.read_bytes()[68:72] == b"TRN1" else JOURNAL, shown=path.name)

    return _file(".sqlite", use)


def _damaged_journals() -> Reader:
    """A journal as a card may leave it, which the service opens."""
    from companion.night.log.salvage import open_or_salvage

    return _file(".sqlite", lambda path: open_or_salvage(path).close())


def _hosts() -> Reader:
    """The Host header and the Origin of a change."""
    from web.http.security import change_is_ours, host_is_ours

    def read(data: bytes) -> None:
        text = data.decode("latin-1")
        if host_is_ours(text, ("box",)) and not text.lower().startswith(OWN):
            raise AssertionError(f"{text!r} is not ours")
        if change_is_ours(text, None, None, "http://box") and text != "http://box":
            raise AssertionError(f"{text!r} is another site")

    return read


OWN = ("box", "localhost", "10.", "172.", "192.168.", "169.254.", "127.", "[")


TARGETS: dict[str, Callable[[], Reader]] = {
    "frames": _frames,
    "text lines": _lines,
    "records": _records,
    "positions": _positions,
    "moves": _moves,
    "recordings as text": lambda: _recordings(".csv"),
    "recordings as arrays": lambda: _recordings(".npz"),
    "uploads": _uploads,
    "settings": _settings,
    "names": _names,
    "layouts": _layouts,
    "backups": _backups,
    "databases of a backup": _databases,
    "damaged journals": _damaged_journals,
    "hosts": _hosts,
}
"""Readers by name; each is made when wanted, so that a fuzzer can watch what it imports."""


def given(reader: Reader, data: bytes) -> None:
    """Let a reader read; what it is documented to refuse with is no fault."""
    try:
        reader(data)
    except CompanionError:
        return
