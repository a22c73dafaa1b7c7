"""The page over TLS: the same answers and the same limits, and what is told to those who come without it."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.web.secured import Secured
from tests.worlds.wait import PATIENCE_S, wait
from web.http import server as server_module
from web.http import tls as tls_module
from web.http.server import MOST_WAITING


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Secured]:
    found = Secured(tmp_path / "data")
    yield found
    found.close()


def test_one_joins_over_tls_and_the_cookie_is_for_tls_alone(house: Secured) -> None:
    page = house.ask("GET", "/")
    assert page.status == 200 and b'rel="manifest"' in page.data
    origin = f"https://127.0.0.1:{house.server.port}"
    told = {"pin": house.companion.access.pin, "label": "Ann"}
    joined = house.ask("POST", "/api/join", told, Origin=origin)
    assert joined.status == 200
    cookie = joined.getheader("Set-Cookie")
    assert "Secure" in cookie and "HttpOnly" in cookie
    assert house.ask("POST", "/api/join", told, Origin=origin.replace("https", "http")).status == 403
    form = json.loads(house.ask("GET", "/manifest.webmanifest").data)
    assert form["display"] == "standalone" and house.ask("GET", form["icons"][0]["src"]).status == 200
    assert house.authority.root == house.ask("GET", "/trust/root.crt").data


def test_without_tls_one_hears_how_to_trust_it_and_nothing_else(house: Secured) -> None:
    house.companion.open_match()
    for path in ("/", "/join", "/training", "/host/xyz"):
        sent = house.ask("GET", path, tls=False)
        assert (sent.status, sent.getheader("Location")) == (302, "/trust"), path
    page = house.ask("GET", "/trust", tls=False)
    text = page.data.decode()
    assert page.status == 200 and house.authority.fingerprint in text
    assert f'href="https://127.0.0.1:{house.server.port}/"' in text and "iPhone" in text and "Android" in text
    assert f"http://127.0.0.1:{house.plain.port}/trust" in text
    assert 'rel="manifest"' not in text
    root = house.ask("GET", "/trust/root.crt", tls=False)
    assert (root.data, root.getheader("Content-Type")) == (house.authority.root, "application/x-x509-ca-cert")
    assert house.ask("GET", "/trust/code.svg", tls=False).data.startswith(b"<?xml")
    # The service's own watchdog and doctor ask for this.
    assert house.ask("GET", "/api/health", tls=False).status == 200
    for method, path in (("GET", "/api/state"), ("POST", "/api/join"), ("GET", "/api/events"), ("POST", "/join")):
        refused = house.ask(method, path, {} if method == "POST" else None, tls=False, **{"X-Companion": "test"})
        assert refused.status == 403, path
    assert json.loads(house.ask("GET", "/api/state", tls=False).data)["error"]["code"] == "use-tls"


def test_a_large_body_and_a_large_answer_pass_whole(house: Secured) -> None:
    big = b"x" * 3_000_000
    line = http.client.HTTPSConnection("127.0.0.1", house.server.port, timeout=PATIENCE_S, context=house.client)
    line.request("POST", "/api/photo", big, {"Content-Type": "image/jpeg", "X-Companion": "test"})
    answer = line.getresponse()
    assert answer.status == 403 and answer.read()
    for name in ("js/main.js", "css/table.css"):
        url = house.app.extensions["companion-assets"].url(name)
        line.request("GET", url)
        answer = line.getresponse()
        assert answer.read() == house.app.extensions["companion-assets"].get(name).plain
    line.close()


def test_requests_that_lie_in_one_record_are_all_answered(house: Secured) -> None:
    with house.line() as line:
        one = b"GET /api/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        line.sendall(one * 3)
        heard = b""
        while heard.count(b"HTTP/1.1 200") < 3:
            heard += line.recv(65536)


def test_the_stream_comes_while_the_phone_sends_nothing(house: Secured) -> None:
    with house.line() as line:
        line.sendall(b"GET /api/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        heard = b""
        while b"event: state" not in heard:
            heard += line.recv(65536)
        house.companion.open_match()
        while heard.count(b"event: state") < 2:
            heard += line.recv(65536)


# --- slow, silent and wrong clients --------------------------------------------------------------------------------


def ended(line: socket.socket) -> bool:
    """Wait until the server has let go of a connection."""
    line.settimeout(PATIENCE_S)
    try:
        while line.recv(65536):
            pass
    except TimeoutError:
        return False
    except OSError:
        pass
    return True


def test_a_handshake_that_never_ends_is_cut_off(house: Secured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tls_module, "REQUEST_S", 0.2)
    with house.line(handshake=False) as silent, house.line(handshake=False) as half:
        half.sendall(b"\x16\x03\x01\x02\x00\x01")
        assert ended(silent) and ended(half)
        assert house.ask("GET", "/api/health").status == 200


def test_a_head_that_trickles_in_is_cut_off(house: Secured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "REQUEST_S", 0.2)
    with house.line() as line:
        line.sendall(b"GET / HTTP/1.1\r\nHo")
        assert ended(line)


def test_plain_http_and_junk_do_no_harm(house: Secured) -> None:
    for said in (
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"\x00" * 5000,
        b"\x16\x03\x01\xff\xff" + b"\x01" * 5000,
    ):
        with house.line(handshake=False) as line:
            line.sendall(said)
            assert ended(line)
    assert house.ask("GET", "/api/health").status == 200


def test_a_phone_that_does_not_trust_the_root_is_let_go(house: Secured) -> None:
    with pytest.raises(ssl.SSLCertVerificationError):
        ssl.create_default_context().wrap_socket(house.line(handshake=False), server_hostname="127.0.0.1")
    wait(lambda: not house.server.active_channels)


def test_an_address_keeps_so_many_lines_and_no_more(house: Secured) -> None:
    lines = [house.line(handshake=False) for _ in range(MOST_WAITING + 10)]
    try:
        # The oldest made room; whoever comes now is answered, and each is known by its own address.
        assert ended(lines[0])
        assert house.ask("GET", "/api/health").status == 200
        assert len(house.server.active_channels) <= MOST_WAITING + 1
        assert {channel.addr[0] for channel in list(house.server.active_channels.values())} == {"127.0.0.1"}
    finally:
        for line in lines:
            line.close()


def test_another_certificate_is_taken_up_while_lines_go_on(house: Secured) -> None:
    with house.line() as line:
        before = line.getpeercert(binary_form=True)  # type: ignore[attr-defined]
        assert house.authority.renew(["127.0.0.1", "10.1.2.3"])
        with house.line() as other:
            assert other.getpeercert(binary_form=True) != before  # type: ignore[attr-defined]
        line.sendall(b"GET /api/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert line.recv(65536).startswith(b"HTTP/1.1 200")


def test_many_at_once(house: Secured) -> None:
    done: list[int] = []
    threads = [threading.Thread(target=lambda: done.append(house.ask("GET", "/").status)) for _ in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=PATIENCE_S)
    assert done == [200] * 24
