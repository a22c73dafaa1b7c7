"""What goes wrong by itself: a page that hangs, a runaway, a clock that jumps, a full disk, a disk that only reads."""

from __future__ import annotations

import json
import re
import time
from typing import Any

from companion.lab.machine.channel import CommandChannel
from companion.lab.machine.checks import UNIT, journal, quoted
from companion.lab.machine.evening import NotTakenError, close_match, do, health
from companion.lab.phone import Phone
from companion.lab.worlds.evening import SEATS, SHAKEN, evening

HANGS_S = 1800.0
"""How long systemd may take to see that the service hangs, and the service to come back; its watchdog has 60 s."""
LOOK_S = 2.0
FILL = "/var/lib/filled"
GROUP = f"/sys/fs/cgroup/system.slice/{UNIT}"
HOG = f"""
import os
with open("{GROUP}/cgroup.procs", "w") as group:
    group.write(str(os.getpid()))
held = []
while True:
    held.append(b"x" * 2**20)
"""
"""Run inside: a part of the service that takes all the memory it can get."""
OPENING: dict[str, Any] = {"game": SHAKEN, "players": SEATS, "draw": True}


class TroubleError(OSError):
    """The service did not bear something."""


def hang(channel: CommandChannel, phone: Phone) -> dict[str, Any]:
    """Stop the service's process as it is; systemd must kill it and start another one with the same nights.

    :raises TroubleError: when it does not, or a night is another one afterwards.
    """
    before = health(phone)["journal"]
    took = _started_anew(channel, f"kill -STOP $(systemctl show -P MainPID {UNIT})")
    said = channel.run(
        f"journalctl --unit {UNIT} --no-pager --output cat | grep -i 'watchdog timeout' | tail -n 1"
    ).said
    if not said.strip():
        raise TroubleError("It was not the watchdog that started it anew.")
    if (now := health(phone)["journal"]) != before:
        raise TroubleError(f"The night was {before!r}, and is {now!r}.")
    return {"hangs: active again after, s": round(took), "systemd": said.strip()}


def runaway(channel: CommandChannel, phone: Phone) -> dict[str, Any]:
    """Have a part of the service take memory without end: MemoryMax must end it alone, and play must go on.

    :raises TroubleError: when the service was started anew by it, or nothing ended it.
    """
    pid = channel.check(f"systemctl show -P MainPID {UNIT}")
    limit = int(channel.check(f"cat {GROUP}/memory.max"))
    ended = channel.run(quoted(["python3", "-c", HOG]), HANGS_S)
    kills = channel.check(f"grep '^oom_kill ' {GROUP}/memory.events").split()[1]
    if not ended.status or kills == "0":
        raise TroubleError(f"A runaway ended with {ended.status}, {kills} killed.")
    _played(phone)
    if channel.check(f"systemctl show -P MainPID {UNIT}") != pid:
        raise TroubleError("A runaway took the service with it.")
    return {"runaway": f"killed at {limit / 1e6:.0f} MB, the service stayed"}


def jump(channel: CommandChannel, phone: Phone) -> dict[str, Any]:
    """Set the clock back by a year, as a Pi without a clock of its own starts, and forth again while a game is played.

    :raises TroubleError: when the service was started anew by it.
    """
    pid = channel.check(f"systemctl show -P MainPID {UNIT}")
    seq = health(phone)["journal"]["seq"]
    for days in (-400, 400):
        channel.check(f"date -s @$(($(date +%s) + {days * 86400}))")
        _played(phone)
    if channel.check(f"systemctl show -P MainPID {UNIT}") != pid:
        raise TroubleError("A clock that jumps ended the service.")
    return {"clock back and forth by 400 days": f"{health(phone)['journal']['seq'] - seq} entries more, no new start"}


def full(channel: CommandChannel, phone: Phone) -> dict[str, Any]:
    """Fill the disk, and play until a change is refused; then make room, and kill the service.

    :raises TroubleError: when nothing was refused, or a change that was acknowledged is not there afterwards.
    """
    fill = f"fallocate -l $(($(df --output=avail -B1 / | tail -n 1))) {FILL}; dd if=/dev/zero of={FILL}.rest bs=4k"
    channel.run(f"{fill}; sync")
    try:
        taken, words = _until_refused(phone)
        kept = _acknowledged(channel, phone)
    finally:
        channel.run(f"rm -f {FILL} {FILL}.rest; sync")
    if not words:
        raise TroubleError(f"The disk is full, and {taken} changes were taken.")
    _played(phone)
    _started_anew(channel, f"systemctl kill --signal=KILL {UNIT}")
    still_there(channel, phone, kept)
    return {"disk full": f"{taken} changes taken and kept, then refused ({words})"}


def read_only(channel: CommandChannel, phone: Phone) -> tuple[dict[str, Any], dict[str, Any]]:
    """Have the kernel take away writing from the disk, as it does when a card fails, and play until that is refused.

    Return the figures, and the journal of what was acknowledged: whoever pulls the plug now must find it again.
    """
    channel.check(
        "echo u > /proc/sysrq-trigger; for n in $(seq 100); do touch /root/t || exit 0; sleep 1; done; exit 1"
    )
    taken, words = _until_refused(phone)
    told = f"then refused ({words})" if words else "none refused"
    figures = {"disk read-only, then the plug pulled": f"{taken} changes taken and kept, {told}"}
    return figures, _acknowledged(channel, phone)


def still_there(channel: CommandChannel, phone: Phone, kept: dict[str, Any]) -> None:
    """Hold a journal against what was acknowledged, and hear what the service, started anew, thinks of it.

    :raises TroubleError: when an entry of ``kept`` is not there any more, or is called another than it was.
    """
    now, view = journal(channel), json.loads(phone.ask("GET", "/api/state")[1])["view"]
    if view["damage"]:
        raise TroubleError(view["damage"][0]["en"])
    if now["entries"] < kept["entries"] or now["digest of"][kept["entries"]] != kept["digest"]:
        raise TroubleError(f"{kept['entries']} entries were acknowledged, {now['entries']} are there.")


def _acknowledged(channel: CommandChannel, phone: Phone) -> dict[str, Any]:
    """Return the journal; the service must not know of more than lies there."""
    kept, seq = journal(channel), health(phone)["journal"]["seq"]
    if kept["entries"] != seq:
        raise TroubleError(f"{seq} entries were acknowledged, {kept['entries']} lie there.")
    return kept


def _until_refused(phone: Phone) -> tuple[int, str]:
    """Play until a change is refused; return how many were taken, and the words of the refusal."""
    taken = 0
    for command, body in (one for _, told in evening() for one in told):
        try:
            do(phone, command, body)
        except NotTakenError as error:
            said = re.search(r'"en": "([^"]+)"', str(error))
            return taken, said[1] if said else str(error)[-200:]
        taken += 1
    return taken, ""


def _started_anew(channel: CommandChannel, script: str) -> float:
    """End the service by a script; return the seconds until systemd has it active again.

    :raises TroubleError: when it has not in time.
    """
    starts, began = _starts(channel), time.monotonic()
    channel.check(script)
    while _starts(channel) == starts or channel.run(f"systemctl is-active -q {UNIT}").status:
        if time.monotonic() - began > HANGS_S:
            raise TroubleError("A service that ended is not started anew.")
        time.sleep(LOOK_S)
    return time.monotonic() - began


def _played(phone: Phone) -> None:
    """Open a match and close it, each acknowledged."""
    close_match(phone)
    do(phone, "open-match", OPENING)
    do(phone, "close-match", {})


def _starts(channel: CommandChannel) -> int:
    return int(channel.check(f"systemctl show -P NRestarts {UNIT}"))
