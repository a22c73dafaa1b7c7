"""What strangers and one phone may bring at once: bodies, photos, requests in two readings, and short memory."""

from __future__ import annotations

import errno
import http.client
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from companion.night.log.database import StorageError
from companion.ports import ShortMemoryError, TableStatus
from tests.web.assembly import NAME, Service, SmallCompanion
from tests.worlds.wait import PATIENCE_S, wait
from web.app import create_app
from web.http import admission, server
from web.http.admission import MOST_PHOTOS, Admission, ByteBudget, RequestHead
from web.http.requests import MAX_JSON_BYTES
from web.http.responses import RefusedError
from web.http.sessions import COOKIE

pytestmark = pytest.mark.process

LARGE = 900_000


class Line:
    """A connection that says what it likes."""

    def __init__(self, service: Service, address: str = "127.0.0.1") -> None:
        self.socket = socket.create_connection(
            ("127.0.0.1", service.port), timeout=PATIENCE_S, source_address=(address, 0)
        )

    def head(self, path: str, length: int | None, secret: str = "", *, more: str = "") -> None:
        self.socket.sendall(
            f"POST {path} HTTP/1.1\r\nHost: {NAME}\r\nX-Companion: 1\r\n".encode()
            + (f"Content-Length: {length}\r\n".encode() if length is not None else b"")
            + (f"Cookie: theirs=1; {COOKIE}={secret}\r\n".encode() if secret else b"")
            + f"{more}\r\n".encode()
        )

    def answer(self) -> tuple[int, dict[str, str], Any]:
        response = http.client.HTTPResponse(self.socket, method="POST")
        response.begin()
        return response.status, dict(response.getheaders()), json.loads(response.read())

    def refused(self) -> tuple[int, str]:
        status, _, body = self.answer()
        assert body["error"]["en"] != body["error"]["fr"]
        return status, body["error"]["code"]

    def ended(self) -> bool:
        return self.socket.recv(1) == b""

    def close(self) -> None:
        self.socket.close()


@contextmanager
def lines(service: Service) -> Iterator[Callable[..., Line]]:
    with ExitStack() as stack:
        yield lambda *where: stack.enter_context(closing(Line(service, *where)))


@pytest.fixture
def phone(service: Service) -> str:
    return joined(service)


def joined(service: Service) -> str:
    access = service.companion.access
    return access.join(access.pin, "test")[0]


def door(service: Service) -> Admission:
    return service._server.admission


# --- photos ------------------------------------------------------------------------------------------------------


class SlowEye:
    """Looks at photos until the test lets it go on."""

    def __init__(self, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
        self.looking, self.most = 0, 0
        self.go_on = threading.Event()
        self._lock = threading.Lock()
        self._table = TableStatus((), (), False, 1)
        monkeypatch.setattr(service.companion.camera_service, "take_photo", self._look)

    def _look(self, data: bytes) -> TableStatus:
        with self._lock:
            self.looking += 1
            self.most = max(self.most, self.looking)
        self.go_on.wait(PATIENCE_S)
        with self._lock:
            self.looking -= 1
        return self._table


@pytest.fixture
def eye(service: Service, monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowEye]:
    made = SlowEye(service, monkeypatch)
    yield made
    made.go_on.set()


@pytest.mark.parametrize("path", ["/api/photo", "//api/photo"])
def test_one_photo_a_phone_is_at_work_and_the_next_is_refused_at_its_head(
    service: Service, phone: str, eye: SlowEye, path: str
) -> None:
    with lines(service) as line:
        first = line()
        first.head(path, 4, phone)
        first.socket.sendall(b"\xff\xd8\xff\xe0")
        wait(lambda: eye.looking == 1)
        second = line()
        second.head(path, LARGE, phone)
        status, headers, body = second.answer()  # of the body not one byte was sent
        assert (status, body["error"]["code"]) == (429, "photo-at-work")
        assert headers["Retry-After"] == "2"
        eye.go_on.set()
        assert first.answer()[0] == 200
        # What comes of the refused body is dropped, and the connection goes on.
        second.socket.sendall(b"x" * LARGE)
        second.head(path, 4, phone)
        second.socket.sendall(b"\xff\xd8\xff\xe0")
        assert second.answer()[0] == 200


def test_who_has_the_answer_to_a_photo_may_send_the_next_at_once(service: Service, phone: str) -> None:
    with lines(service) as line:
        first, second = line(), line()
        for one in (first, second) * 20:
            one.head("/api/photo", 4, phone)
            one.socket.sendall(b"\xff\xd8\xff\xe0")
            assert one.answer()[0] == 200


def test_a_few_photos_are_at_work_in_all_and_not_all_of_one_address(service: Service, eye: SlowEye) -> None:
    with lines(service) as line:

        def send(*where: str) -> Line:
            one = line(*where)
            one.head("/api/photo", 4, joined(service))
            one.socket.sendall(b"\xff\xd8\xff\xe0")
            return one

        at_work = [send() for _ in range(MOST_PHOTOS - 1)]
        wait(lambda: eye.looking == MOST_PHOTOS - 1)
        assert send().refused() == (503, "photos-at-work"), "a third session of the same address"
        at_work.append(send("127.0.0.2"))
        wait(lambda: eye.looking == MOST_PHOTOS)
        late = joined(service)
        refused = line("127.0.0.3")
        refused.head("/api/photo", LARGE, late)
        assert refused.refused() == (503, "photos-at-work"), "a fourth photo"
        eye.go_on.set()
        assert [one.answer()[0] for one in at_work] == [200] * MOST_PHOTOS
        refused.socket.sendall(b"x" * LARGE)
        refused.head("/api/photo", 4, late)
        refused.socket.sendall(b"\xff\xd8\xff\xe0")
        assert refused.answer()[0] == 200


def test_two_hundred_photos_from_one_phone_keep_nobody_waiting(service: Service, phone: str, eye: SlowEye) -> None:
    """The first is looked at for as long as all others, and those who tap, are answered; the watchdog, too."""
    photo = b"\xff\xd8\xff\xe0" + b"x" * LARGE
    with lines(service) as line:
        first = line()
        first.head("/api/photo", len(photo), phone)
        first.socket.sendall(photo)
        wait(lambda: eye.looking == 1)

        def send(codes: list[tuple[int, str]]) -> None:
            with closing(Line(service)) as one:
                one.head("/api/photo", len(photo), phone)
                one.socket.sendall(photo)
                codes.append(one.refused())

        codes: list[tuple[int, str]] = []
        senders = [threading.Thread(target=send, args=(codes,)) for _ in range(199)]
        for sender in senders:
            sender.start()
        tapping = joined(service)
        for _ in range(20):
            tap = line()
            tap.head("/api/leave", 0, "")
            assert tap.answer()[0] == 200
            assert service._server.lives(PATIENCE_S)
        for sender in senders:
            sender.join(PATIENCE_S)
        assert codes == [(429, "photo-at-work")] * 199
        assert eye.most == 1
        assert service.companion.access.session(tapping) is not None
        eye.go_on.set()
        assert first.answer()[0] == 200


def test_a_phone_that_hangs_up_while_it_sends_may_send_again(service: Service, phone: str) -> None:
    half = Line(service)
    half.head("/api/photo", LARGE, phone)
    half.socket.sendall(b"x" * 1000)
    wait(lambda: len(door(service).photos) == 1)
    assert len(door(service).members) == LARGE
    half.close()
    wait(lambda: len(door(service).photos) == 0)
    assert len(door(service).members) == 0


def test_an_answer_that_fails_leaves_no_photo_at_work(
    service: Service, phone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(self: server.RequestTask) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(server.WSGITask, "service", fails)
    monkeypatch.setattr(server.Channel.error_task_class, "service", fails)
    with lines(service) as line:
        one = line()
        one.head("/api/photo", 4, phone)
        one.socket.sendall(b"\xff\xd8\xff\xe0")
        assert one.ended()
    assert len(door(service).photos) == 0


# --- bodies ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/api/photo", "/api/do", "/api/nowhere", "/api/backups/brought?at=0&size=9"])
@pytest.mark.parametrize("secret", ["", "x" * 43])
def test_no_large_body_comes_in_without_a_session(
    service: Service, path: str, secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server.tempfile, "TemporaryFile", lambda **_: pytest.fail("it is kept"))
    with lines(service) as line:
        stranger = line()
        stranger.head(path, LARGE, secret)
        assert stranger.refused() == (403, "watching")
        stranger.socket.sendall(b"x" * LARGE)
        stranger.head("/api/leave", 0)
        assert stranger.answer()[0] == 200
    assert len(door(service).strangers) == 0


def test_a_page_is_refused_as_a_page(service: Service) -> None:
    with lines(service) as line:
        stranger = line()
        stranger.head("/join", LARGE, more="Content-Type: application/x-www-form-urlencoded\r\n")
        said = stranger.socket.recv(1 << 16)
        assert said.startswith(b"HTTP/1.1 403 ")
        assert b"text/html" in said


def test_who_asks_first_whether_to_send_is_told_not_to(service: Service) -> None:
    with lines(service) as line:
        stranger = line()
        stranger.head("/api/photo", LARGE, more="Expect: 100-continue\r\n")
        assert stranger.refused() == (403, "watching")
        assert stranger.ended()


def test_a_large_body_that_no_view_wants_is_not_kept(
    service: Service, phone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server.tempfile, "TemporaryFile", lambda **_: pytest.fail("it is kept"))
    with lines(service) as line:
        member = line()
        member.head("/api/do", LARGE, phone, more="Content-Type: application/json\r\n")
        assert member.refused() == (413, "too-large")
        member.socket.sendall(b"x" * LARGE)
        member.head("/api/leave", 0)
        assert member.answer()[0] == 200


def nameless(folder: Path) -> int:
    """Return how many files without a name in a folder this process holds."""
    found = 0
    for link in Path("/proc/self/fd").iterdir():
        try:
            target = str(link.readlink())
        except OSError:
            continue
        found += target.startswith(f"{folder}/") and target.endswith("(deleted)")
    return found


def test_what_comes_in_lies_in_the_data_folder_without_a_name_and_goes(
    service: Service, phone: str, tmp_path: Path
) -> None:
    spool = tmp_path / "spool"
    spool.mkdir()
    door(service).spool = spool
    half = Line(service)
    half.head("/api/photo", LARGE, phone)
    half.socket.sendall(b"x" * (LARGE - 1))
    wait(lambda: nameless(spool) == 1)
    assert list(spool.iterdir()) == []
    half.close()
    wait(lambda: nameless(spool) == 0)
    with lines(service) as line:
        whole = line()
        whole.head("/api/photo", LARGE, phone)
        whole.socket.sendall(b"\xff\xd8" + b"x" * (LARGE - 2))
        assert whole.answer()[0] == 200
        assert service.companion.camera_service.shown["frame"] == b"\xff\xd8" + b"x" * (LARGE - 2)
    wait(lambda: nameless(spool) == 0)


def test_a_card_that_takes_no_writes_keeps_no_photo_from_being_looked_at(
    service: Service, phone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(**_: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(server.tempfile, "TemporaryFile", refused)
    photo = b"\xff\xd8" + bytes(range(256)) * 4000
    with lines(service) as line:
        member = line()
        member.head("/api/photo", len(photo), phone)
        member.socket.sendall(photo)
        assert member.answer()[0] == 200
    assert service.companion.camera_service.shown["frame"] == photo


@pytest.mark.parametrize("trouble", ["full", "gone"])
def test_a_card_without_room_refuses_at_the_head(
    service: Service, phone: str, tmp_path: Path, trouble: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    door(service).spool = tmp_path / "gone"
    if trouble == "full":
        door(service).spool = tmp_path
        usage = admission.shutil.disk_usage(tmp_path)._replace(free=3_000_000)
        monkeypatch.setattr(admission.shutil, "disk_usage", lambda _: usage)
    with lines(service) as line:
        member = line()
        member.head("/api/photo", LARGE, phone)
        assert member.refused() == (503, "storage")
    assert (len(door(service).photos), len(door(service).members)) == (0, 0)


def test_unfinished_bodies_are_bounded_for_each_address_and_taps_come_through(service: Service) -> None:
    size = MAX_JSON_BYTES
    with lines(service) as line:
        for number in range(4):
            line().head("/api/do", size)
            wait(lambda number=number: len(door(service).strangers) == (number + 1) * size)
        fifth = line()
        fifth.head("/api/do", size)
        assert fifth.refused() == (429, "too-much")
        tap = line()
        tap.head("/api/leave", 0)
        assert tap.answer()[0] == 200
        other = line("127.0.0.2")
        other.head("/api/do", size)
        wait(lambda: len(door(service).strangers) == 5 * size)
        # What those who joined send is counted apart.
        member = line()
        member.head("/api/do", size, joined(service))
        wait(lambda: len(door(service).members) == size)
    wait(lambda: len(door(service).strangers) + len(door(service).members) == 0)


def test_a_body_in_chunks_of_a_stranger_ends_at_64_kb(service: Service) -> None:
    with lines(service) as line:
        stranger = line()
        stranger.head("/api/photo", None, more="Transfer-Encoding: chunked\r\n")
        wait(lambda: len(door(service).strangers) == MAX_JSON_BYTES)
        stranger.socket.sendall(b"ffff\r\n" + b"x" * 0xFFFF + b"\r\n" + b"1\r\nx\r\n")
        assert int(stranger.socket.recv(200).split()[1]) == 413
    wait(lambda: len(door(service).strangers) == 0)


def test_a_photo_in_chunks_is_taken_from_who_joined(service: Service, phone: str) -> None:
    photo = b"\xff\xd8" + b"x" * 100_000
    with lines(service) as line:
        member = line()
        member.head("/api/photo", None, phone, more="Transfer-Encoding: chunked\r\n")
        member.socket.sendall(f"{len(photo):x}\r\n".encode() + photo + b"\r\n0\r\n\r\n")
        assert member.answer()[0] == 200
    assert service.companion.camera_service.shown["frame"] == photo


def test_a_refused_body_in_chunks_ends_the_connection(service: Service, phone: str, eye: SlowEye) -> None:
    with lines(service) as line:
        first, second = line(), line()
        first.head("/api/photo", 4, phone)
        first.socket.sendall(b"\xff\xd8\xff\xe0")
        wait(lambda: eye.looking == 1)
        second.head("/api/photo", None, phone, more="Transfer-Encoding: chunked\r\n")
        assert second.refused() == (429, "photo-at-work")
        assert second.ended()


def test_a_budget_is_for_each_and_for_all() -> None:
    budget = ByteBudget(10, 15)

    def refused(who: str, size: int) -> int:
        with pytest.raises(RefusedError) as error:
            budget.take(who, size)
        return error.value.status

    budget.take("a", 10)
    assert refused("a", 1) == 429
    budget.take("b", 5)
    assert refused("b", 1) == 503
    assert len(budget) == 15
    budget.give_back("a", 10)
    budget.take("b", 5)
    assert len(budget) == 10


def test_sessions_that_cannot_be_read_are_no_strangers(
    app: Flask, companion: SmallCompanion, monkeypatch: pytest.MonkeyPatch
) -> None:
    def torn(_: str) -> None:
        raise StorageError("disk-busy")

    monkeypatch.setattr(companion.access, "session", torn)
    with pytest.raises(StorageError):
        Admission(app).admit(RequestHead("POST", "/api/photo", f"{COOKIE}=x", LARGE, "10.0.0.1"))


# --- one request, two readings -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "framing",
    [
        b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        b"Content-Length: 0\r\nTransfer-Encoding:\tchunked \r\n",
        b"transfer-encoding: \r\nContent-Length: 5\r\n",
        b"Transfer-Encoding: chunked, chunked\r\n",
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        b"Content-Length: 5\r\nContent-Length: 5\r\n",
    ],
)
def test_a_request_that_ends_in_two_places_is_refused_and_nothing_behind_it_is_answered(
    service: Service, framing: bytes
) -> None:
    head = b"POST /api/leave HTTP/1.1\r\nHost: companion.test\r\nX-Companion: 1\r\n"
    behind = b"GET /api/health HTTP/1.1\r\nHost: companion.test\r\n\r\n"
    with lines(service) as line:
        two = line()
        two.socket.sendall(head + framing + b"\r\n0\r\n\r\n" + behind)
        said = b""
        while piece := two.socket.recv(4096):
            said += piece
    assert said.startswith(b"HTTP/1.1 400 ")
    assert b"\r\nConnection: close\r\n" in said
    assert said.count(b"HTTP/1.") == 1


def test_an_old_request_has_no_chunks(service: Service) -> None:
    with lines(service) as line:
        old = line()
        old.socket.sendall(
            b"POST /api/leave HTTP/1.0\r\nHost: companion.test\r\nConnection: keep-alive\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        )
        assert old.socket.recv(200).split()[1] == b"400"


# --- the watchdog's question -------------------------------------------------------------------------------------


def test_a_crowd_does_not_stand_before_the_watchdog(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    gate, busy = threading.Event(), threading.Semaphore(0)
    real = service.companion.access.revoke

    def held(session_id: str) -> bool:
        busy.release()
        gate.wait(PATIENCE_S)
        return real(session_id)

    monkeypatch.setattr(service.companion.access, "revoke", held)
    workers = service._server.task_dispatcher
    monkeypatch.setattr(workers, "_most", 4)
    with lines(service) as line:
        for _ in range(4):
            line().head("/api/leave", 0, joined(service))
        for _ in range(4):
            assert busy.acquire(timeout=PATIENCE_S)
        assert len(workers) == 4
        # Every thread is taken, and still the page lives: nobody waits.
        assert service._server.lives(PATIENCE_S)
        late = line()
        late.head("/api/leave", 0)
        wait(lambda: workers.stalled_s > 0.3)
        # Somebody has waited too long: the page answers, but not to those at the table.
        assert not service._server.lives(0.3)
        gate.set()
        assert late.answer()[0] == 200
        assert workers.stalled_s == 0
    assert service._server.lives(PATIENCE_S)


def test_the_refused_are_answered_apart_and_stand_in_nobodys_way(
    service: Service, phone: str, eye: SlowEye, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers = service._server.task_dispatcher
    monkeypatch.setattr(workers, "_most", 1)
    with lines(service) as line:
        first = line()
        first.head("/api/photo", 4, phone)
        first.socket.sendall(b"\xff\xd8\xff\xe0")
        wait(lambda: eye.looking == 1)
        # No thread is left, and each is refused all the same.
        for _ in range(5):
            refused = line()
            refused.head("/api/photo", LARGE, phone)
            assert refused.refused() == (429, "photo-at-work")
        assert (len(workers), workers.stalled_s) == (1, 0.0)


def test_a_crowd_of_one_address_waits_for_itself(companion: SmallCompanion) -> None:
    served = server.make_server(create_app(companion))
    at = ("127.0.0.1", served.port)
    crowd, rounds = server.READS_A_ROUND + 5, 0
    with ExitStack() as stack:
        for address in ["127.0.0.2"] * crowd + ["127.0.0.3"]:
            line = stack.enter_context(socket.create_connection(at, PATIENCE_S, source_address=(address, 0)))
            line.sendall(b"GET / HTTP/1.1\r\n")
        try:
            while served.reads["127.0.0.3"] == 0:
                served.go_round()
                rounds += 1
            assert served.reads["127.0.0.2"] == server.READS_A_ROUND
            late = [one for one in served.active_channels.values() if one.put_off]
            assert {one.addr[0] for one in late} == {"127.0.0.2"} and len(late) == 5
            # They have something to say: none of them makes room for others as one that waits does.
            assert not any(one.waits for one in late)
            served.go_round()
            assert not any(one.put_off for one in served.active_channels.values())
        finally:
            served.stop()
            served.run()
    assert rounds <= 3


def test_who_sends_a_second_photo_is_refused_without_a_look_at_the_sessions(
    service: Service, phone: str, eye: SlowEye, monkeypatch: pytest.MonkeyPatch
) -> None:
    with lines(service) as line:
        first = line()
        first.head("/api/photo", 4, phone)
        first.socket.sendall(b"\xff\xd8\xff\xe0")
        wait(lambda: eye.looking == 1)
        asked: list[str] = []
        real = admission.session_of
        monkeypatch.setattr(admission, "session_of", lambda house, secret: asked.append(secret) or real(house, secret))
        second = line()
        second.head("/api/photo", LARGE, phone)
        assert (second.refused(), asked) == ((429, "photo-at-work"), [])


def test_a_page_that_hangs_or_has_ended_does_not_live(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = threading.Event()
    health = service.companion.health
    monkeypatch.setattr(service.companion, "health", lambda: gate.wait(PATIENCE_S) and health())
    assert not service._server.lives(0.2)
    gate.set()
    assert service._server.lives(PATIENCE_S)
    monkeypatch.setattr(service.companion, "health", lambda: 1 // 0)
    assert not service._server.lives(PATIENCE_S)
    service._server.stop()
    service._thread.join(PATIENCE_S)
    assert not service._server.lives(0.1)


# --- short memory ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [MemoryError(), OSError(errno.ENOMEM, "x"), ShortMemoryError("x")])
def test_short_memory_is_one_sentence(
    player: FlaskClient, companion: SmallCompanion, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def short(*_: object) -> None:
        raise error

    monkeypatch.setattr(companion, "health", short)
    monkeypatch.setattr(companion.camera_service, "take_photo", short)
    for answer in (player.get("/api/health"), player.post("/api/photo", data=b"\xff\xd8")):
        assert answer.status_code == 503
        assert answer.json["error"]["code"] == "short-memory"
        assert answer.json["error"]["en"] == "This machine is short of memory just now. Try again in a moment."
        assert answer.headers["Retry-After"] == "5"


STARVED = """
import json, sqlite3, sys
from contextlib import suppress
from pathlib import Path
from tests.web.assembly import NAME, PLAYERS, SmallCompanion
from web.app import create_app

companion = SmallCompanion(Path(sys.argv[1]))
companion.open_match()
phone = create_app(companion).test_client()
names = {"base_url": f"http://{NAME}", "headers": {"Origin": f"http://{NAME}"}}
phone.post("/api/join", json={"pin": companion.access.pin}, **names)
seq, state = companion.night.seq, companion.night.view()["state"]
# From here on SQLite gets no more memory: a limit that no connection can lift again, which holds for this one, too.
with suppress(MemoryError):
    sqlite3.connect(":memory:").execute("PRAGMA hard_heap_limit = 1")
move = {"command": "moves", "body": {"moves": ["start"]}, "action_id": "starved-1234", "state": state}
for answer in (phone.post("/api/do", json=move, **names), phone.get("/api/table", **names)):
    print(json.dumps([answer.status_code, answer.json["error"]]))
print(companion.night.seq - seq)
"""


def test_where_sqlite_has_no_memory_nothing_is_done_and_it_is_said(tmp_path: Path) -> None:
    """A process of its own: the limit holds for all databases of a process, for good."""
    done = subprocess.run(
        [sys.executable, "-c", STARVED, str(tmp_path / "data")], capture_output=True, text=True, check=False
    )
    *answers, written = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(status, error["code"]) for status, error in answers] == [(503, "short-memory")] * 2, done.stderr
    assert written == 0


def test_where_there_is_no_memory_for_an_answer_either_one_was_made_before(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    def short(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(service._server, "application", short)
    with lines(service) as line:
        one = line()
        one.head("/api/leave", 0)
        status, headers, body = one.answer()
        assert (status, headers["Content-Type"], body["error"]["code"]) == (503, "application/json", "short-memory")
        assert body["error"]["fr"]
        # The connection goes on.
        one.head("/api/leave", 0)
        assert one.answer()[0] == 503


def test_an_answer_that_had_begun_ends_with_its_connection(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    def half(_: object, start: Callable[..., object]) -> Iterator[bytes]:
        start("200 OK", [("Content-Length", "10")])
        yield b"half"
        raise MemoryError

    monkeypatch.setattr(service._server, "application", half)
    with lines(service) as line:
        one = line()
        one.head("/api/leave", 0)
        said = b""
        while piece := one.socket.recv(4096):
            said += piece
        assert said.endswith(b"\r\n\r\nhalf")
