"""Killed at random moments (SIGKILL) while it writes, the night loses nothing it acknowledged and doubles nothing."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from companion.events.hub import Hub
from companion.night.answers import TABLE
from companion.night.commands.night import Night
from companion.night.log.database import StorageError
from companion.night.log.journal import Journal
from tests.worlds.wait import wait

pytestmark = pytest.mark.process

ROUNDS = 20
MOST_READ = 40
"""A child is killed after at most so many acknowledgements were read."""

CHILD = """
import sys
from pathlib import Path
from companion.night.answers import TABLE
from companion.events.hub import Hub
from companion.night.log.journal import Journal
from companion.night.commands.night import Night

night = Night(Journal(Path(sys.argv[1])), Hub())
if night.view()["match"] is None:
    players = [{"name": "Ann", "colour": "red"}, {"name": "Bob", "colour": "blue"}]
    night.do("open-match", {"game": "igloo-pop", "players": players, "draw": True}, by=TABLE, action_id="open")
    night.do("deal", {}, by=TABLE, action_id="deal")
    night.do("moves", {"moves": ["start"]}, by=TABLE, action_id="start")
n = int(sys.argv[2])
while True:
    n += 1
    word = "take" if n % 2 else "return"
    answer = night.do("moves", {"moves": [f"{word} red"]}, by=TABLE, action_id=f"n{n}")
    assert answer.ok, answer
    sys.stdout.write(f"{n} {answer.seq} {answer.state}\\n")
    sys.stdout.flush()
"""


def acknowledged(path: Path, done: int, rng: random.Random) -> tuple[dict[int, tuple[int, int]], str]:
    """Let a child play on from action ``done`` + 1, kill it, return what it acknowledged and what it complained of."""
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, str(path), str(done)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        # It writes on while this is read: where in its next writings the kill finds it is chance.
        begun = "".join(child.stdout.readline() for _ in range(rng.randint(1, MOST_READ)))
        os.kill(child.pid, signal.SIGKILL)
        rest = child.stdout.read()
        complaint = child.stderr.read()
    # A line that the kill cut short was not acknowledged.
    lines = [line for line in (begun + rest).splitlines(keepends=True) if line.endswith("\n")]
    return {int(n): (int(seq), int(state)) for n, seq, state in (line.split() for line in lines)}, complaint


def test_killed_while_it_writes(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    rng = random.Random(20)
    known: dict[int, tuple[int, int]] = {}
    for number in range(ROUNDS):
        newest = max(known, default=0)
        acks, complaint = acknowledged(path, newest, rng)
        assert acks, complaint
        assert list(acks) == list(range(newest + 1, newest + 1 + len(acks)))
        known.update(acks)

        # What lies there after the kill, looked at as a copy, so that looking changes nothing.
        copy = tmp_path / f"copy{number}"
        copy.mkdir()
        for part in ("", "-wal"):
            source = path.with_name(path.name + part)
            if source.exists():
                shutil.copyfile(source, copy / source.name)
        journal = Journal(copy / path.name)
        entries = journal.since(0)
        assert journal.check() == []
        assert [e.seq for e in entries] == list(range(1, len(entries) + 1))
        actions = {int(e.action_id[1:]): e.seq for e in entries if e.action_id and e.action_id[0] == "n"}
        assert len(actions) == sum(e.action_id is not None and e.action_id[0] == "n" for e in entries)
        assert {n: seq for n, (seq, _) in known.items()}.items() <= actions.items()
        # At most the one action that was under way is there without having been acknowledged.
        assert set(actions) - set(known) <= {max(known) + 1}

        # The night goes on where it was acknowledged; the last action, sent again, gets its old answer.
        night = Night(journal, Hub())
        last = max(known)
        word = "take" if last % 2 else "return"
        again = night.do("moves", {"moves": [f"{word} red"]}, by=TABLE, action_id=f"n{last}")
        assert (again.ok, again.seq, again.state) == (True, *known[last])
        assert night.view()["match"]["players"][0]["in_hand"] == (max(actions) % 2 == 1)
        assert journal.last_seq == len(entries)
        journal.close()
        shutil.rmtree(copy)
    assert len(known) >= ROUNDS


def test_a_killed_writer_leaves_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    acknowledged(path, 0, random.Random(1))

    def opened() -> Journal | None:
        try:
            return Journal(path)
        except StorageError:
            return None

    journal = wait(opened)
    assert journal is not None
    assert journal.append("pause", {}).seq == journal.last_seq
    journal.close()
