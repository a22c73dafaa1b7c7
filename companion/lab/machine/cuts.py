"""The plug pulled from an emulated machine at ten moments and more, and a whole boot after each.

QEMU is killed: what had reached it stays in the disk's file, what the kernel inside still held is gone. What a card
loses of what had reached it, `make machine-plug` tries.
"""

from __future__ import annotations

import contextlib
import http.client
import random
import threading
import time
from collections.abc import Callable
from typing import Any

from companion.lab.machine.checks import journal
from companion.lab.machine.emulator import Machine
from companion.lab.machine.evening import Played, close_match, do
from companion.lab.machine.image import CARRIED
from companion.lab.machine.steps import (
    INSTALL_S,
    MAKE_INSTALL,
    OFFLINE,
    SMALL_MB,
    FailedError,
    Figures,
    Visit,
    program,
    same,
)
from companion.lab.phone import Phone
from companion.lab.worlds.evening import evening

SEED = 11
EVENINGS, BACKUPS, STARTS = 6, 2, 2
"""So often the plug is pulled during play, during a backup, and while the machine starts."""
COMMANDS = (1, 25)
"""So many commands are acknowledged before it is pulled."""
IN_FLIGHT_S = 0.6
"""So long after the last of them at most: the next one is on its way, or has just been answered."""
BACKUP_S = 6.0
START_S = (15.0, 90.0)
"""After this time from power-on; a start takes a minute and a half on two free cores."""
UPGRADE, WAY_BACK = (0.1, 0.5, 0.9), (0.2, 0.8)
"""At these parts of the time that an upgrade and the way back take."""
STATES = """
! journalctl -b --no-pager -k | grep -E "EXT4-fs (error|warning)" || exit 1
systemctl start companion && systemctl is-active companion
python3 -c 'import sqlite3; print(sqlite3.connect("file:/var/lib/companion/journal.sqlite?mode=ro", uri=True)
  .execute("PRAGMA integrity_check").fetchone()[0])'
"""
"""Asked inside after a boot: no complaint of the file system, the service, and whether the journal's file is sound."""
SOUND = """
for one in /var/lib/companion/backups/*.zip; do
  companion restore --check "$one" >/dev/null && echo sound || { echo "$one"; exit 1; }
done
"""
"""Asked inside: a word for each backup; it fails with the name of one that is not whole."""


def after_boot(machine: Machine, kept: dict[str, Any]) -> dict[str, Any]:
    """Hold a machine that has booted again against what was acknowledged; return its journal.

    :raises FailedError: when an entry of ``kept`` is not there any more, or the file system or the journal is damaged.
    """
    machine.wait_page()
    told = machine.channel.check(STATES).split()
    same("service and journal", ["active", "ok"], told)
    now = journal(machine.channel)
    if now["entries"] < kept["entries"]:
        raise FailedError(f"{kept['entries']} entries before, {now['entries']} after.")
    same("the acknowledged entries", kept["digest"], now["digest of"][kept["entries"]])
    return now


def during_play(visit: Visit) -> Figures:
    """The plug pulled in the middle of play, again and again: every acknowledged change is there after a boot."""
    rng = random.Random(SEED)
    played, more = Played(), []
    for _ in range(EVENINGS):
        machine = visit.on("first", SMALL_MB)
        machine.wait_page()
        phone = visit.host(machine)
        close_match(phone)
        commands = [one for _, told in evening() for one in told]
        most = rng.randint(*COMMANDS)
        for command, body in commands[:most]:
            do(phone, command, body)
            played.acknowledged += 1
        kept = journal(machine.channel)
        following = threading.Thread(target=_tried, args=(phone, *commands[most]))
        following.start()
        time.sleep(rng.uniform(0.0, IN_FLIGHT_S))
        visit.off(cut=True)
        following.join()
        now = after_boot(visit.on("first", SMALL_MB), kept)
        more.append(now["entries"] - kept["entries"])
    figures = {"times": EVENINGS, "commands acknowledged": played.acknowledged, "acknowledged and lost": 0}
    return figures | {"unanswered that were kept": sum(more)}


def during_backup(visit: Visit) -> Figures:
    """The plug pulled during `companion backup`: no backup that is there is a part of one."""
    rng, sound = random.Random(SEED), 0
    for _ in range(BACKUPS):
        machine = visit.on("first", SMALL_MB)
        machine.wait_page()
        kept = journal(machine.channel)
        _cut_during(visit, machine, "companion backup", rng.uniform(0.0, BACKUP_S))
        machine = visit.on("first", SMALL_MB)
        after_boot(machine, kept)
        sound = machine.channel.check(SOUND).split().count("sound")
    return {"times": BACKUPS, "backups there, all sound": sound}


def during_start(visit: Visit) -> Figures:
    """The plug pulled while the machine starts: it starts all the same the next time."""
    rng, at = random.Random(SEED), []
    machine = visit.on("first", SMALL_MB)
    machine.wait_page()
    kept = journal(machine.channel)
    for _ in range(STARTS):
        visit.on("first", SMALL_MB, anew=True)
        at.append(round(rng.uniform(*START_S)))
        time.sleep(at[-1])
        visit.off(cut=True)
        after_boot(visit.on("first", SMALL_MB), kept)
    return {"times": STARTS, "seconds after power-on": at}


def during_upgrade(visit: Visit) -> Figures:
    """The plug pulled during `make install` over 0.1.0: one version answers, whole; the last try is left to its end."""
    machine = visit.on("second")
    machine.wait_page()
    then, kept = program(machine), journal(machine.channel)
    script = f"cd {CARRIED}/now && {OFFLINE} {MAKE_INSTALL}"
    took = float(visit.kept["upgrade, s"])
    in_place = []
    for part in UPGRADE:
        _cut_during(visit, machine, script, part * took)
        machine = visit.on("second")
        after_boot(machine, kept)
        in_place.append("0.1.0" if program(machine) == then else "this one")
    visit.run(machine, script, INSTALL_S)
    if program(machine) == then:
        raise FailedError("The former version is still the one in place.")
    visit.kept["upgraded"] = after_boot(machine, kept) | {"digest of": []}
    return {"times": len(UPGRADE), "in place after it": in_place}


def during_way_back(visit: Visit) -> Figures:
    """The plug pulled during `install.sh --rollback`: one version answers, whole, and no night is lost."""
    machine = visit.on("second")
    machine.wait_page()
    kept = visit.kept["then"]
    script = f"cd {CARRIED}/now && ./install.sh --rollback --old-nights"
    in_place = []
    for part in WAY_BACK:
        _cut_during(visit, machine, script, part * float(visit.kept["way back, s"]))
        machine = visit.on("second")
        now = after_boot(machine, kept)
        in_place.append("0.1.0" if program(machine) == kept["program"] else "this one")
        if now["entries"] < visit.kept["upgraded"]["entries"]:
            machine.channel.check(SOUND)  # the nights of today lie there
    return {"times": len(WAY_BACK), "in place after it": in_place}


def _tried(phone: Phone, command: str, body: dict[str, Any]) -> None:
    """Give a command whose answer the pulled plug may keep back."""
    with contextlib.suppress(OSError, ValueError, http.client.HTTPException):
        do(phone, command, body)


def _cut_during(visit: Visit, machine: Machine, script: str, seconds: float) -> None:
    """Begin a script inside and pull the plug so many seconds later, or when it ends before."""
    ended = threading.Event()

    def run() -> None:
        with contextlib.suppress(OSError):
            machine.channel.run(script, INSTALL_S)
        ended.set()

    running = threading.Thread(target=run)
    running.start()
    ended.wait(seconds)
    visit.off(cut=True)
    running.join()


CUTS: tuple[tuple[str, Callable[[Visit], Figures]], ...] = (
    ("cut: play", during_play),
    ("cut: backup", during_backup),
    ("cut: start", during_start),
    ("cut: upgrade", during_upgrade),
    ("cut: way back", during_way_back),
)
"""What `make machine-soak` does after the steps of `make machine`."""
