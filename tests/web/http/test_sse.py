"""Live streams over a real server: room for plain requests, dead clients, gaps, restarts, clients that mean ill."""

from __future__ import annotations

import http.client
import json
import re
import socket
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from companion.lab.worlds.boards import players
from companion.night.answers import Role
from companion.ports import MotionState
from tests.web.assembly import NAME, Service, SmallCompanion, served
from tests.worlds.wait import PATIENCE_S, wait
from web.http import admission, server, sse
from web.http.seats import seat_by_name
from web.http.sessions import COOKIE
from web.http.sse_state import StateTexts

pytestmark = pytest.mark.process


def get(service: Service, path: str, **headers: str) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=PATIENCE_S)
    try:
        connection.request("GET", path, headers={"Host": NAME, **headers})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


class Listener:
    """A browser's side of a stream: events as (name, data, id)."""

    def __init__(
        self,
        service: Service,
        *,
        last: int | None = None,
        after: int | None = None,
        secret: str = "",
        address: str = "127.0.0.1",
    ) -> None:
        self.connection = http.client.HTTPConnection(
            "127.0.0.1", service.port, timeout=PATIENCE_S, source_address=(address, 0)
        )
        headers = {"Host": NAME} | ({"Last-Event-ID": str(last)} if last is not None else {})
        headers |= {"Cookie": f"{COOKIE}={secret}"} if secret else {}
        query = f"?after={after}" if after is not None else ""
        self.connection.request("GET", f"/api/events{query}", headers=headers)
        self.answer = self.connection.getresponse()
        self.status = self.answer.status
        self.last: int | None = last

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        name, data = "", ""
        for raw in iter(self.answer.readline, b""):
            line = raw.decode().rstrip("\n")
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                data = line.removeprefix("data: ")
            elif line.startswith("id: "):
                self.last = int(line.removeprefix("id: "))
            elif not line and name:
                yield name, json.loads(data)
                name = ""

    def until(self, wanted: str, fits: Callable[[Any], bool] = lambda data: True) -> Any:
        for name, data in self:
            if name == wanted and fits(data):
                return data
        raise AssertionError(f"the stream ended without {wanted}")

    def close(self) -> None:
        # shutdown() first: the response holds the socket open otherwise.
        if self.connection.sock is not None:
            self.connection.sock.close()
        self.answer.close()
        self.connection.close()


@contextmanager
def listening(service: Service, **how: Any) -> Iterator[Listener]:
    listener = Listener(service, **how)
    try:
        yield listener
    finally:
        listener.close()


def places(service: Service) -> int:
    return len(service.app.extensions["companion-streams"])


def test_a_stream_begins_with_everything(service: Service) -> None:
    service.companion.plug_in()
    service.companion.open_match()
    with listening(service) as listener:
        assert listener.status == 200
        assert listener.answer.getheader("Content-Type", "").startswith("text/event-stream")
        told = {}
        for name, data in listener:
            told[name] = data
            if len(told) == 9:
                break
        assert list(told) == ["hello", "state", "igloo", "motion", "count", "camera", "bench", "balance", "ballot"]
        assert told["hello"]["me"]["role"] == "spectator"
        assert told["state"]["match"]["phase"] == "ready"
        assert told["igloo"]["igloos"][0]["kind"] == "simulated"
        assert listener.last == service.companion.night.seq


def test_changes_arrive_with_the_journals_number_and_only_the_new_log(service: Service) -> None:
    service.companion.open_match()
    with listening(service) as listener:
        whole = listener.until("state")
        assert whole["log_since"] is None
        answer = service.companion.moves("start")
        view = listener.until("state")
        assert view["seq"] == answer.seq == listener.last
        assert view["log_since"] == whole["seq"]
        assert [entry["seq"] for entry in view["log"]] == [answer.seq]
        service.companion.do("undo", {"to": 0, "agreed": True})
        view = listener.until("state")
        assert view["undone"] == [answer.seq]
        service.companion.feel(MotionState.LIFTED)
        assert listener.until("motion")["state"] == "lifted"


def test_a_live_round_hides_the_count_on_the_stream(service: Service) -> None:
    companion = service.companion
    companion.plug_in()
    companion.open_match()
    companion.hear(9)
    with listening(service) as listener:
        assert listener.until("count")["count"] == 9
        companion.moves("start")
        assert listener.until("count") == {"hidden": True, "state": None}
        # Even what is published by mistake goes nowhere.
        companion.hub.publish("count", {"hidden": False, "count": 11, "posterior": {"11": 1.0}})
        assert listener.until("count") == {"hidden": True, "state": None}
        companion.do("check")
        assert listener.until("count")["count"] == 9


def test_a_silent_stream_has_a_heartbeat(service: Service) -> None:
    with listening(service) as listener:
        assert listener.until("beat") == service.companion.night.seq


def test_forty_streams_leave_room_for_everybody_else(service: Service) -> None:
    with ExitStack() as stack:
        listeners = [
            stack.enter_context(listening(service, address=f"127.0.0.{1 + number % 2}")) for number in range(40)
        ]
        for listener in listeners:
            listener.until("camera")
        assert places(service) == 40
        status, refused = get(service, "/api/events")
        assert status == 503
        assert refused["error"]["code"] == "no-place"
        for _ in range(20):
            assert get(service, "/api/health")[0] == 200
        # Those beyond the cap poll, and see what the others see.
        seq = get(service, "/api/state")[1]["seq"]
        assert get(service, f"/api/state?after={seq}")[1]["view"] is None
        service.companion.open_match()
        assert get(service, f"/api/state?after={seq}")[1]["view"]["match"]["phase"] == "ready"
        for listener in listeners:
            assert listener.until("state")["match"]["phase"] == "ready"


def test_guests_send_nobody_to_polling_who_joined(service: Service) -> None:
    access = service.companion.access
    host, _ = access.redeem(access.host_token(), "test")
    with ExitStack() as stack:

        def status(**how: Any) -> int:
            return stack.enter_context(listening(service, **how)).status

        assert [status() for _ in range(60)] == [200] * 30 + [503] * 30, "the guests of one address"
        assert [status(address="127.0.0.2") for _ in range(11)] == [200] * 10 + [503], "all guests"
        # A player who opens too many is sent to polling alone …
        greedy, _ = access.join(access.pin, "test")
        assert [status(secret=greedy) for _ in range(7)] == [200] * 6 + [503]
        # … and all players leave some for the host.
        players = [access.join(access.pin, "test")[0] for _ in range(5)]
        assert [status(secret=secret) for secret in players] == [200] * 4 + [503]
        assert [status(secret=host) for _ in range(3)] == [200] * 2 + [503]
        assert places(service) == 52
        assert get(service, "/api/health")[0] == 200
    wait(lambda: places(service) == 0)
    with listening(service) as listener:
        assert listener.status == 200


def test_a_head_request_takes_no_place(service: Service) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=PATIENCE_S)
    for _ in range(3):
        connection.request("HEAD", "/api/events", headers={"Host": NAME})
        assert connection.getresponse().read() == b""
    connection.close()
    assert places(service) == 0


def test_a_phone_that_goes_away_frees_its_place(tmp_path: Path) -> None:
    with served(tmp_path, streams=3) as service, ExitStack() as stack:
        first = [stack.enter_context(listening(service)) for _ in range(3)]
        for listener in first:
            listener.until("camera")
        assert get(service, "/api/events")[0] == 503
        for listener in first:
            listener.close()
        wait(lambda: places(service) == 0)
        again = [stack.enter_context(listening(service)) for _ in range(3)]
        assert [listener.status for listener in again] == [200] * 3


def test_a_phone_that_never_reads_loses_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "UNREAD_MS", 1000)
    with served(tmp_path, streams=2) as service:
        deaf = socket.socket()
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect(("127.0.0.1", service.port))
        deaf.sendall(f"GET /api/events HTTP/1.1\r\nHost: {NAME}\r\n\r\n".encode())
        wait(lambda: places(service) == 1)

        def shout() -> bool:
            service.companion.hub.publish("notice", {"en": "x" * 200_000})
            # Nobody else suffers meanwhile.
            assert get(service, "/api/health")[0] == 200
            return places(service) == 0

        wait(shout)
        deaf.close()


def test_a_request_that_trickles_in_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "REQUEST_S", 0.5)
    with served(tmp_path) as service:
        slow = socket.create_connection(("127.0.0.1", service.port), timeout=PATIENCE_S)
        slow.sendall(b"GET / HTTP/1.1\r\n")

        def cut_off() -> bool:
            try:
                slow.sendall(b"X-More: 1\r\n")
                slow.settimeout(0.05)
                return slow.recv(1) == b""
            except TimeoutError:
                return False
            except OSError:
                return True

        wait(cut_off)
        slow.close()
        assert get(service, "/api/health")[0] == 200


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"\x00\x01\x02\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: companion.test\r\nContent-Length: x\r\n\r\n", 400),
        (b"GET / HTTP/9.9\r\n\r\n", 421),
        (b"POST /api/do HTTP/1.1\r\nHost: companion.test\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        (b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: companion.test\r\n\r\n", 431),
        (b"GET http://companion.test/api/state HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421),
        (b"POST /api/do HTTP/1.1\r\nHost: companion.test\r\nContent-Length: 999999999999\r\n\r\n", 413),
    ],
)
def test_malformed_requests_are_refused(service: Service, request_bytes: bytes, status: int) -> None:
    with socket.create_connection(("127.0.0.1", service.port), timeout=PATIENCE_S) as connection:
        connection.sendall(request_bytes)
        answer = connection.recv(200)
    assert int(answer.split()[1]) == status
    assert get(service, "/api/health")[0] == 200


def test_a_body_that_is_too_large_is_answered_after_it_was_read(service: Service) -> None:
    secret, _ = service.companion.access.join(service.companion.access.pin, "test")
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=PATIENCE_S)
    headers = {"Host": NAME, "X-Companion": "1", "Cookie": f"{COOKIE}={secret}"}
    connection.request("POST", "/api/photo", body=b"x" * 17_500_000, headers=headers)
    answer = connection.getresponse()
    assert answer.status == 413
    assert "15 MB" in json.loads(answer.read())["error"]["en"]
    # What was dropped is not taken for the next request.
    connection.request("GET", "/api/health", headers={"Host": NAME})
    assert connection.getresponse().status == 200
    connection.close()


def test_a_body_in_chunks_ends_where_it_becomes_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "MAX_JSON_BYTES", 100_000)
    with (
        served(tmp_path) as service,
        socket.create_connection(("127.0.0.1", service.port), timeout=PATIENCE_S) as connection,
    ):
        connection.sendall(f"POST /api/photo HTTP/1.1\r\nHost: {NAME}\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        connection.sendall(b"ffff\r\n" + b"x" * 0xFFFF + b"\r\n")
        connection.sendall(b"ffff\r\n" + b"x" * 0xFFFF + b"\r\n")
        assert int(connection.recv(200).split()[1]) == 413


def test_idle_connections_of_one_client_leave_room(service: Service) -> None:
    with ExitStack() as stack, listening(service) as listener:
        listener.until("camera")
        idle = [
            stack.enter_context(socket.create_connection(("127.0.0.1", service.port), timeout=PATIENCE_S))
            for _ in range(400)
        ]
        assert get(service, "/api/health")[0] == 200
        # The eldest were closed; the newest, and the stream, were not.
        assert idle[0].recv(1) == b""
        idle[-1].sendall(f"GET /api/health HTTP/1.1\r\nHost: {NAME}\r\n\r\n".encode())
        assert idle[-1].recv(200).split()[1] == b"200"
        service.companion.feel(MotionState.LIFTED)
        assert listener.until("motion")["state"] == "lifted"


def test_half_sent_requests_of_one_client_leave_room(service: Service) -> None:
    with ExitStack() as stack:
        for _ in range(300):
            half = stack.enter_context(socket.create_connection(("127.0.0.1", service.port), timeout=PATIENCE_S))
            half.sendall(b"GET / HTTP/1.1\r\n")
        assert get(service, "/api/health")[0] == 200


def test_nothing_is_missed_over_a_gap(service: Service) -> None:
    companion = service.companion
    companion.open_match()
    with listening(service) as listener:
        listener.until("state")
        known = listener.last
    companion.moves("start")
    companion.moves("place red card1")
    companion.moves("place blue card2")
    for how in ({"last": known}, {"after": known}):
        with listening(service, **how) as listener:
            view = listener.until("state")
            assert view["log_since"] == known
            assert [entry["seq"] for entry in view["log"]] == list(range(known + 1, companion.night.seq + 1))
            assert view["match"]["cards"][1]["igloos"]


@pytest.mark.parametrize("last", [10**9, 10**14])
def test_a_position_that_never_was_gets_everything(service: Service, last: int) -> None:
    with listening(service, last=last) as listener:
        view = listener.until("state")
        assert view["log_since"] is None
        assert view["log"]


def test_a_restart_is_survived_and_nothing_is_missed(service: Service) -> None:
    service.companion.open_match()
    with listening(service) as listener:
        listener.until("camera")
        known = listener.last
        service.stop()
        # The stream has ended, so that the page connects again.
        assert not any(name == "state" for name, _ in listener)
    service.start()
    service.companion.moves("start")
    with listening(service, last=known) as listener:
        view = listener.until("state")
        assert view["match"]["phase"] == "shaking"
        assert [entry["seq"] for entry in view["log"]] == [service.companion.night.seq]


def test_a_burst_is_told_once_and_ends_in_the_newest_state(service: Service) -> None:
    service.companion.open_match()
    with listening(service) as listener:
        listener.until("camera")
        for _ in range(100):
            service.companion.moves("start")
            service.companion.do("undo", {"to": 0, "agreed": True})
        last = service.companion.moves("start").seq
        view = listener.until("state", lambda view: view["seq"] == last)
        assert view["match"]["phase"] == "shaking"


def test_a_listener_that_lags_gets_everything_again(companion: SmallCompanion) -> None:
    places = sse.Streams(1)
    assert places.take(Role.SPECTATOR, "here")
    hello = {"me": {}}
    stream = sse.Stream(
        companion,
        places,
        StateTexts(companion),
        role=Role.SPECTATOR,
        who="here",
        hello=hello,
        since=None,
        gone=lambda: False,
    )
    told = iter(stream)
    assert next(told).count(b"event: ") == 9
    for _ in range(200):
        companion.feel(MotionState.SHAKEN)
    companion.open_match()
    again = next(told)
    assert re.findall(rb"event: (\w+)", again) == [
        b"state",
        b"igloo",
        b"motion",
        b"count",
        b"camera",
        b"bench",
        b"balance",
        b"ballot",
        b"me",
    ]
    assert b'"phase":"ready"' in again
    stream.close()
    stream.close()
    assert len(places) == 0


# --- boards on the stream ----------------------------------------------------------------------------------------


def boards(service: Service, **headers: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=PATIENCE_S)
    connection.request("GET", "/api/events?board=en", headers={"Host": NAME, **headers})
    return connection.getresponse()


def board_after(answer: http.client.HTTPResponse, state: int, reader: Callable[[bytes], bytes]) -> dict[str, Any]:
    """Return the first board of a state, reading no further than needed."""
    text = b""
    while True:
        text += reader(answer.read1(65536))
        for found in re.findall(rb"event: board\ndata: (.*)\n\n", text):
            told: dict[str, Any] = json.loads(found)
            if told["state"] == state:
                return told


def test_the_board_comes_behind_the_state_and_is_packed_once(service: Service) -> None:
    companion = service.companion
    opened = companion.do("open-match", {"game": "iglu-iglu", "players": players("iglu-iglu"), "draw": False})
    with ExitStack() as stack:
        streams = [stack.enter_context(closing(boards(service, **{"Accept-Encoding": "gzip"}))) for _ in range(6)]
        plain = stack.enter_context(closing(boards(service)))
        readers = [zlib.decompressobj(16 + zlib.MAX_WBITS).decompress for _ in streams]
        first = [board_after(answer, opened.state, read) for answer, read in zip(streams, readers, strict=True)]
        assert first == [board_after(plain, opened.state, bytes)] * 6
        assert first[0] == companion.night.board(None, "en")
        before = service.app.extensions["companion-blocks"].packed
        moved = companion.moves(str(first[0]["moves"][0]["text"]))
        after = [board_after(answer, moved.state, read) for answer, read in zip(streams, readers, strict=True)]
        assert after == [companion.night.board(None, "en")] * 6
        # The same bytes for all: one packing for the state with its board, none for each phone.
        assert service.app.extensions["companion-blocks"].packed - before <= 2


def test_a_hand_goes_to_the_phone_that_has_the_seat_and_leaves_with_its_rights(service: Service) -> None:
    companion = service.companion
    secret, session = companion.access.join(companion.access.pin, "test") or pytest.fail("no session")
    opened = companion.do("open-match", {"game": "arctic", "players": players("arctic"), "draw": True})
    dealt = companion.do("deal")
    assert opened.ok
    companion.access.bind(session.id, "p1")
    with closing(boards(service, Cookie=f"{COOKIE}={secret}")) as mine, closing(boards(service)) as others:
        assert board_after(mine, dealt.state, bytes)["private"]
        assert board_after(others, dealt.state, bytes)["private"] == []
        companion.access.revoke(session.id)
        paused = companion.do("pause")
        assert board_after(mine, paused.state, bytes)["private"] == []


def test_a_new_name_is_on_every_phone_at_once(service: Service) -> None:
    companion = service.companion
    companion.do("open-match", {"game": "arctic", "players": players("arctic")})
    person = next(one["id"] for one in companion.people.all() if one["name"] == "Ann")
    with listening(service) as listener, closing(boards(service)) as drawn:
        assert listener.until("state")["match"]["players"][0]["name"] == "Ann"
        assert "Ann" in board_after(drawn, companion.night.state, bytes)["svg"]
        companion.people.change(person, {"name": "Annabel"})
        view = listener.until("state")
        assert view["match"]["players"][0]["name"] == "Annabel"
        assert view["log_since"] is None
        assert "Annabel" in board_after(drawn, companion.night.state, bytes)["svg"]
    assert get(service, "/api/state")[1]["view"]["match"]["players"][0]["name"] == "Annabel"


def test_a_phone_hears_of_its_own_name_and_seat(service: Service) -> None:
    companion = service.companion
    companion.open_match()
    secret, session = companion.access.join(companion.access.pin, "test") or pytest.fail("no session")
    with listening(service, secret=secret) as mine, listening(service) as others:
        for listener in (mine, others):
            assert listener.until("hello")["me"]["colour"] is None
            listener.until("ballot")
        companion.access.call(session.id, "Ann")
        seat_by_name(companion)
        told = mine.until("me")
        assert (told["label"], told["colour"]) == ("Ann", "red")
        assert others.until("me")["role"] == "spectator"
