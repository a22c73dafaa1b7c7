"""The child process that decodes: what a picture may take of the machine, and what becomes of one that takes more."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import cv2
import numpy as np
import pytest

from companion.ports import ShortMemoryError
from tests.worlds.wait import wait
from vision import messages
from vision.decode import photo, sandbox
from vision.decode.photo import read_photo
from vision.decode.sandbox import DamagedPictureError, Decoder, DecodeRequest, TooMuchError

pytestmark = pytest.mark.process

FLAT = np.full((48, 64, 3), (10, 120, 200), np.uint8)
SMALL = cv2.imencode(".png", FLAT)[1].tobytes()


@pytest.fixture
def fresh() -> Iterator[Decoder]:
    made = Decoder(seconds=1)
    yield made
    made.close()


def many_scans(side: int, scans: int) -> bytes:
    """A progressive JPEG that repeats one of its scans: each costs a walk over the whole picture, and few bytes."""
    whole = cv2.imencode(".jpg", np.full((side, side, 3), 90, np.uint8), [cv2.IMWRITE_JPEG_PROGRESSIVE, 1])[1].tobytes()
    last = whole.rindex(b"\xff\xda")
    return whole[:last] + whole[last:-2] * scans + whole[-2:]


def wait_until_gone(pid: int) -> None:
    """Wait until a process has ended, whether somebody has asked how or not."""

    def gone() -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
        except (FileNotFoundError, ProcessLookupError):
            return True

    wait(gone)


def when_asked(monkeypatch: pytest.MonkeyPatch, module: ModuleType, work: Callable[[], object]) -> None:
    """Have ``work`` done when a child was asked for a picture, before its answer is waited for."""
    received = sandbox.received

    def answer(line: socket.socket, length: int) -> bytes:
        monkeypatch.setattr(module, "received", received)
        work()
        return received(line, length)

    monkeypatch.setattr(module, "received", answer)


def test_one_child_serves_all_in_turn(fresh: Decoder) -> None:
    found: list[bool] = []

    def ask() -> None:
        found.extend((fresh.decode(SMALL, (64, 48)) == FLAT).all() for _ in range(5))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 20
    assert fresh.started == 1
    assert fresh.decode(SMALL, (64, 48), DecodeRequest.SMALL).shape == (120, 160)


def test_a_picture_stands_back_where_others_want_the_processor(fresh: Decoder) -> None:
    assert (fresh.decode(SMALL, (64, 48)) == FLAT).all()
    ours = os.getpriority(os.PRIO_PROCESS, 0)
    assert fresh.pid is not None
    assert os.getpriority(os.PRIO_PROCESS, fresh.pid) == min(19, ours + sandbox.child.NICENESS)


def test_a_picture_that_takes_too_much_memory_is_refused_and_the_next_is_not() -> None:
    large = cv2.imencode(".png", np.zeros((5000, 5000, 3), np.uint8))[1].tobytes()
    bounded = Decoder(memory_mb=40)
    try:
        with pytest.raises(TooMuchError):
            bounded.decode(large, (5000, 5000))
        assert (bounded.decode(SMALL, (64, 48)) == FLAT).all()
        assert bounded.started == 1, "the child came through it"
        peak = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{bounded.pid}/status").read_text())[1]
        assert int(peak) < 110_000
    finally:
        bounded.close()


def test_a_picture_that_takes_too_long_is_given_up(fresh: Decoder) -> None:
    with pytest.raises(TooMuchError):
        fresh.decode(many_scans(2400, 4000), (2400, 2400))
    assert (fresh.decode(SMALL, (64, 48)) == FLAT).all()
    assert fresh.started == 2


def test_a_child_that_hangs_is_given_up(fresh: Decoder) -> None:
    fresh.decode(SMALL, (64, 48))
    os.kill(fresh.pid, signal.SIGSTOP)
    with pytest.raises(TooMuchError):
        fresh.decode(SMALL, (64, 48))
    assert (fresh.decode(SMALL, (64, 48)) == FLAT).all()


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT])
def test_a_crash_is_a_damaged_picture_and_another_child(
    fresh: Decoder, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh.decode(SMALL, (64, 48))
    pid = fresh.pid
    os.kill(pid, signal.SIGSTOP)
    when_asked(monkeypatch, sandbox, lambda: [os.kill(pid, each) for each in (number, signal.SIGCONT)])
    with pytest.raises(DamagedPictureError):
        fresh.decode(SMALL, (64, 48))
    assert (fresh.decode(SMALL, (64, 48)) == FLAT).all()
    assert fresh.started == 2


def test_a_child_that_ended_between_two_pictures_is_replaced(fresh: Decoder) -> None:
    fresh.decode(SMALL, (64, 48))
    os.kill(fresh.pid, signal.SIGKILL)
    wait_until_gone(fresh.pid)
    assert (fresh.decode(SMALL, (64, 48)) == FLAT).all()


def test_the_child_may_open_and_start_nothing(fresh: Decoder) -> None:
    fresh.decode(SMALL, (64, 48))
    limits = Path(f"/proc/{fresh.pid}/limits").read_text()
    for what in ("open files", "file size", "processes", "core file size"):
        assert re.search(rf"^Max {what}\s+0\s+0\s", limits, re.MULTILINE), what
    assert Path(f"/proc/{fresh.pid}/oom_score_adj").read_text().strip() == "1000"


def test_more_pixels_than_the_head_promised_are_not_taken(fresh: Decoder) -> None:
    with pytest.raises(DamagedPictureError):
        fresh.decode(SMALL, (63, 48))
    turned = fresh.decode(SMALL, (48, 64))
    assert turned.shape == FLAT.shape, "a picture may lie on its side"


def test_the_child_goes_with_its_parent() -> None:
    program = (
        "import sys\nfrom vision.decode import photo, sandbox\nphoto.read_photo(sys.stdin.buffer.read())\n"
        "print(sandbox.shared().pid, flush=True)\nimport signal\nsignal.pause()"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        parent.stdin.write(SMALL)
        parent.stdin.close()
        child = int(parent.stdout.readline())
        assert Path(f"/proc/{child}").exists()
        parent.kill()
    wait_until_gone(child)


def test_a_forked_process_has_a_child_of_its_own() -> None:
    read_photo(SMALL)
    ours = sandbox.shared().pid
    end, told = os.pipe()
    forked = os.fork()
    if forked == 0:
        with contextlib.suppress(Exception):
            read_photo(SMALL)
            os.write(told, str(sandbox.shared().pid).encode())
            sandbox.shared().close()
        os._exit(0)
    os.waitpid(forked, 0)
    os.close(told)
    theirs = int(os.read(end, 20))
    os.close(end)
    assert theirs not in (0, ours)
    assert (read_photo(SMALL) == FLAT).all()
    assert sandbox.shared().pid == ours


def test_on_a_machine_with_little_memory_left_pictures_are_kept_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    large = cv2.imencode(".jpg", np.full((2000, 3000, 3), 90, np.uint8))[1].tobytes()
    assert read_photo(large).shape == (2000, 3000, 3)
    monkeypatch.setattr(photo, "available_mb", lambda: 60)
    assert read_photo(large).shape == (1000, 1500, 3)
    monkeypatch.setattr(photo, "available_mb", lambda: 15)
    assert read_photo(large).shape == (500, 750, 3)


def test_what_the_decoder_refuses_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(error: type[Exception]) -> None:
        class Refusing:
            def decode(self, *_: object, **_more: object) -> None:
                raise error

        monkeypatch.setattr(photo, "shared", Refusing)

    for error, sentence in (
        (TooMuchError, messages.PHOTO_TOO_MANY_PIXELS),
        (DamagedPictureError, messages.PHOTO_DAMAGED),
    ):
        refuses(error)
        with pytest.raises(ValueError, match=re.escape(sentence)):
            read_photo(SMALL)


# --- a machine that is short of memory ---------------------------------------------------------------------------


def test_a_picture_that_only_this_machine_has_no_room_for_now_is_not_called_too_large(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    large = cv2.imencode(".png", np.zeros((5000, 5000, 3), np.uint8))[1].tobytes()
    decoder = Decoder()
    try:
        monkeypatch.setattr(sandbox, "available_mb", lambda: 60)
        with pytest.raises(ShortMemoryError, match=re.escape(messages.SHORT_MEMORY)):
            decoder.decode(large, (5000, 5000))
        assert (decoder.decode(SMALL, (64, 48)) == FLAT).all()
        monkeypatch.undo()
        assert decoder.decode(large, (5000, 5000)).shape == (5000, 5000, 3)
    finally:
        decoder.close()


@pytest.mark.parametrize(("left_mb", "said"), [(60, ShortMemoryError), (1 << 20, TooMuchError)])
def test_a_child_that_the_kernel_ends_is_one_that_had_too_little_memory(
    fresh: Decoder, left_mb: int, said: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh.decode(SMALL, (64, 48))
    pid = fresh.pid
    os.kill(pid, signal.SIGSTOP)
    monkeypatch.setattr(sandbox, "available_mb", lambda: left_mb)
    when_asked(monkeypatch, sandbox, lambda: os.kill(pid, signal.SIGKILL))
    with pytest.raises(said):
        fresh.decode(SMALL, (64, 48))


@pytest.mark.parametrize("number", [errno.ENOMEM, errno.EAGAIN])
def test_a_child_that_cannot_be_started_for_want_of_memory_says_so(
    fresh: Decoder, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused() -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(sandbox, "start_child", refused)
    with pytest.raises(ShortMemoryError):
        fresh.decode(SMALL, (64, 48))
    monkeypatch.undo()
    assert (fresh.decode(SMALL, (64, 48)) == FLAT).all()


def test_a_child_that_cannot_be_started_at_all_is_no_want_of_memory(
    fresh: Decoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused() -> None:
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))

    monkeypatch.setattr(sandbox, "start_child", refused)
    with pytest.raises(FileNotFoundError):
        fresh.decode(SMALL, (64, 48))


def test_a_child_that_is_ended_while_it_starts_had_too_little_memory(
    fresh: Decoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = sandbox.start_child

    def start_and_kill() -> tuple[subprocess.Popen[bytes], socket.socket]:
        process, line = start()
        process.kill()
        process.wait()
        return process, line

    monkeypatch.setattr(sandbox, "start_child", start_and_kill)
    with pytest.raises(ShortMemoryError):
        fresh.decode(SMALL, (64, 48))
