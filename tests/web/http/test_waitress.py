"""What the server builds on inside waitress, which promises none of it: another version fails here first."""

from __future__ import annotations

import importlib.metadata
import inspect
import re
import socket
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.buffers import FileBasedBuffer, OverflowableBuffer
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.receiver import ChunkedReceiver, FixedStreamReceiver
from waitress.server import TcpWSGIServer
from waitress.task import WSGITask

from web.http.admission import RequestHead, Ticket
from web.http.server import Channel, RequestParser
from web.http.workers import Workers

ROOT = Path(__file__).resolve().parents[3]
CALLED = {
    wasyncore.loop: "timeout use_poll map count",
    wasyncore.close_all: "map",
    TcpWSGIServer.__init__: "self application map dispatcher adj",
    TcpWSGIServer.handle_accept: "self",
    TcpWSGIServer.maintenance: "self now",
    TcpWSGIServer.pull_trigger: "self",
    TcpWSGIServer.add_task: "self task",
    HTTPChannel.received: "self data",
    HTTPChannel.service: "self",
    HTTPChannel.writable: "self",
    HTTPChannel.handle_read: "self",
    HTTPChannel.handle_write: "self",
    HTTPChannel.handle_close: "self",
    HTTPChannel.send: "self data do_close",
    HTTPChannel.cancel: "self",
    HTTPChannel.handle_close: "self",
    HTTPChannel.__init__: "self server sock addr adj map",
    HTTPRequestParser.received: "self data",
    HTTPRequestParser.parse_header: "self header_plus",
    FixedStreamReceiver.__init__: "self cl buf",
    HTTPRequestParser.close: "self",
    ChunkedReceiver.__init__: "self buf",
    OverflowableBuffer.__init__: "self overflow",
    OverflowableBuffer._set_large_buffer: "self",
    FileBasedBuffer.__init__: "self file from_buffer",
    WSGITask.get_environment: "self",
    WSGITask.build_response_header: "self",
    WSGITask.execute: "self",
    WSGITask.write: "self data",
}
"""What is called or overridden, with the parameters that are counted on."""


class Everything:
    """Admits whatever comes."""

    spool = None

    def admit(self, head: RequestHead) -> Ticket:
        assert head.address == "192.168.7.7"
        return Ticket(1 << 20)


def test_the_version_is_pinned_to_the_one_that_was_looked_into() -> None:
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    (pinned,) = (one for one in needed if one.startswith("waitress"))
    assert pinned == f"waitress=={importlib.metadata.version('waitress')}", "read web/http/README.md before moving on"
    for lock in ("requirements.txt", "constraints.txt"):
        assert re.search(rf"^{re.escape(pinned)} ", (ROOT / lock).read_text(encoding="utf-8"), re.MULTILINE), lock


@pytest.mark.parametrize("what", CALLED, ids=lambda what: what.__qualname__)
def test_what_is_called_or_overridden_is_there(what: Any) -> None:
    assert set(CALLED[what].split()) <= inspect.signature(what).parameters.keys()


def test_a_connection_knows_what_the_guards_ask_of_it() -> None:
    adjustments = Adjustments(host="127.0.0.1", port=0)
    server: Any = SimpleNamespace(active_channels={}, add_task=lambda task: None, admission=Everything())
    ours, theirs = socket.socketpair()
    with ours, theirs:
        channel = Channel(server, ours, ("192.168.7.7", 5), adjustments, map={})
        assert list(server.active_channels.values()) == [channel], "active_channels"
        assert (channel.addr[0], channel.requests, channel.request) == ("192.168.7.7", [], None)
        assert (channel.will_close, channel.total_outbufs_len, channel.last_activity > 0) == (False, 0, True)
        assert channel.received(b"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\na")
        assert channel.request.headers_finished
        assert isinstance(channel.request, RequestParser)
        assert channel.received(b"bc")
        assert channel.request is None
        assert channel.requests[0].completed


def test_a_body_is_followed_by_what_the_guards_follow() -> None:
    channel: Any = SimpleNamespace(server=SimpleNamespace(admission=Everything()), addr=("192.168.7.7", 5), owed=0)
    adjustments = Adjustments(host="127.0.0.1", port=0)
    parser = RequestParser(adjustments, channel)
    parser.received(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n")
    parser.received(b"3\r\nabc\r\n")
    assert (parser.chunked, parser.completed, parser.error) == (True, False, None)
    assert parser.body_bytes_received > 3
    parser = RequestParser(adjustments, channel)
    parser.received(b"POST /x HTTP/1.1\r\nContent-Length: 7\r\nCookie: a=b\r\n\r\n")
    assert (parser.content_length, parser.path, parser.headers["COOKIE"]) == (7, "/x", "a=b")
    assert isinstance(parser.body_rcv, FixedStreamReceiver)
    assert (parser.body_rcv.remain, parser.body_rcv.completed) == (7, False)
    assert isinstance(parser.body_rcv.getbuf(), OverflowableBuffer)


def test_an_error_of_the_head_is_answered_and_ends_the_connection() -> None:
    channel: Any = SimpleNamespace(server=SimpleNamespace(admission=Everything()), addr=("192.168.7.7", 5), owed=0)
    parser = RequestParser(Adjustments(host="127.0.0.1", port=0), channel)
    parser.received(b"POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n")
    assert (parser.completed, parser.error.code) == (True, 400)
    assert issubclass(ParsingError, Exception)


def test_the_server_takes_any_dispatcher_and_tells_its_port() -> None:
    sockets: dict[int, object] = {}
    workers = Workers(1)
    adjustments = Adjustments(host="127.0.0.1", port=0)
    server = TcpWSGIServer(lambda *_: [], sockets, dispatcher=workers, adj=adjustments)
    try:
        assert server.channel_class is HTTPChannel
        assert server.task_dispatcher is workers
        assert int(server.effective_port) > 0
        assert server.accepting is True
        assert adjustments.socket_options, "what make_server puts in its place"
    finally:
        workers.shutdown()
        wasyncore.close_all(sockets)


def test_only_the_server_looks_into_it() -> None:
    found = {
        str(path.relative_to(ROOT))
        for top in ("companion", "vision", "web")
        for path in (ROOT / top).rglob("*.py")
        if re.search(r"^\s*(?:from|import) waitress", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert found == {"web/http/server.py"}
