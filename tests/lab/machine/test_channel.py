"""The command channel of the emulated machine: its lines, and both its ends joined without a machine between."""

from __future__ import annotations

import base64
import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from companion.lab.machine.agent import TIMED_OUT, MessageReader, answers, packed
from companion.lab.machine.channel import ChannelError, CommandChannel
from companion.lab.machine.drivers import PIECE, put


def test_lines_come_together_from_any_pieces() -> None:
    sent = b"".join(packed({"id": number, "out": bytes(range(256))}) for number in range(3))
    for size in (1, 7, len(sent)):
        lines = MessageReader()
        found = [one for start in range(0, len(sent), size) for one in lines.feed(sent[start : start + size])]
        assert [one["id"] for one in found] == [0, 1, 2]
        assert all(base64.b64decode(one["out"]) == bytes(range(256)) for one in found)


def test_what_is_no_message_is_passed_over() -> None:
    assert MessageReader().feed(b'half a line\n\n[1]\n\xff\xfe\n{"id": 1}\n{"id":') == [{"id": 1}]


@pytest.fixture
def joined(tmp_path: Path) -> Iterator[Callable[[], CommandChannel]]:
    """Both ends on one socket; the agent's answers a line for a line, after rubbish and an old greeting."""
    place = tmp_path / "channel"
    port = socket.socket(socket.AF_UNIX)
    port.bind(str(place))
    port.listen()

    def serve() -> None:
        line = port.accept()[0]
        with line:
            line.sendall(b"rubbish\n" + packed({"hello": 12.5}) + packed({"id": 99, "exit": 1}))
            lines = MessageReader()
            while data := line.recv(1 << 16):
                for message in lines.feed(data):
                    if message.get("run") == "end":
                        return
                    for answer in answers(message):
                        line.sendall(packed(answer))

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    channels: list[CommandChannel] = []

    def connect() -> CommandChannel:
        channels.append(CommandChannel(place, lambda: True))
        return channels[-1]

    yield connect
    for one in channels:
        one.close()
    thread.join(timeout=30)
    port.close()


@pytest.mark.process
def test_scripts_run_one_after_the_other(joined: Callable[[], CommandChannel]) -> None:
    channel = joined()
    assert channel.wait_ready(30) == 12.5
    heard: list[str] = []
    done = channel.run("echo Zoé; echo beside >&2; exit 3", heard=heard.append)
    assert (sorted(done.said.split()), done.status) == (["Zoé", "beside"], 3)
    assert "".join(heard) == done.said
    assert channel.check("head -c 300000 /dev/zero | tr '\\0' x") == "x" * 300_000
    with pytest.raises(ChannelError, match="status 1: the last word"):
        channel.check("echo the last word; false")


@pytest.mark.process
def test_a_file_arrives_whole(joined: Callable[[], CommandChannel], tmp_path: Path) -> None:
    data = os.urandom(3 * PIECE)
    put(joined(), data, str(tmp_path / "folder" / "file"))
    assert (tmp_path / "folder" / "file").read_bytes() == data
    assert [one.name for one in (tmp_path / "folder").iterdir()] == ["file"]


@pytest.mark.process
def test_a_script_that_takes_too_long_is_ended_with_its_children(joined: Callable[[], CommandChannel]) -> None:
    channel = joined()
    # What it began holds its output: the answer comes when all of them are gone.
    done = channel.run("sleep 1000 & echo begun; wait", limit_s=2)
    assert (done.said, done.status) == ("begun\n", TIMED_OUT)
    assert done.seconds < 500


@pytest.mark.process
def test_a_machine_that_ends_is_told(joined: Callable[[], CommandChannel]) -> None:
    with pytest.raises(ChannelError, match="has ended"):
        joined().run("end")
