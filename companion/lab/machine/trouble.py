"""What goes wrong at a table by itself: a page that hangs, a clock that jumps, a full disk, a disk that only reads."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from companion.lab.machine.channel import CommandChannel
from companion.lab.machine.checks import UNIT
from companion.lab.machine.evening import close_match, do, health
from companion.lab.phone import Phone
from companion.lab.worlds.evening import SEATS, SHAKEN

HANGS_S = 1800.0
"""How long systemd may take to see that the service hangs, and the service to come back; its watchdog has 60 s."""
LOOK_S = 2.0
FILL = "/var/lib/filled"
OPENING: dict[str, Any] = {"game": SHAKEN, "players": SEATS, "draw": True}


class TroubleError(OSError):
    """The service did not bear something."""


def hang(channel: CommandChannel, phone: Phone) -> dict[str, Any]:
    """Stop the service's process as it is; systemd must kill it and start another one with the same nights.

    :raises TroubleError: when it does not, or a night is another one afterwards.
    """
    before, starts = health(phone)["journal"], _starts(channel)
    began = time.monotonic()
    channel.check(f"kill -STOP $(systemctl show -P MainPID {UNIT})")
    while _starts(channel) == starts or channel.run(f"systemctl is-active -q {UNIT}").status:
        if time.monotonic() - began > HANGS_S:
            raise TroubleError("A service that hangs is not started anew.")
        time.sleep(LOOK_S)
    took = time.monotonic() - began
    said = channel.run(
        f"journalctl --unit {UNIT} --no-pager --output cat | grep -i 'watchdog timeout' | tail -n 1"
    ).said
    if not said.strip():
        raise TroubleError("It was not the watchdog that started it anew.")
    _same(before, health(phone)["journal"])
    return {"hangs: active again after, s": round(took), "systemd": said.strip()}


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
    """Fill the disk; changes must be refused, or be kept, and play must go on once there is room.

    :raises TroubleError: when a change was acknowledged and is not there.
    """
    fill = f"fallocate -l $(($(df --output=avail -B1 / | tail -n 1))) {FILL}; dd if=/dev/zero of={FILL}.rest bs=4k"
    channel.run(f"{fill}; sync")
    try:
        return {"disk full": _refused(phone, lambda: channel.check(f"rm -f {FILL} {FILL}.rest; sync"))}
    finally:
        channel.run(f"rm -f {FILL} {FILL}.rest")


def read_only(channel: CommandChannel, phone: Phone) -> dict[str, Any]:
    """Have the kernel take away writing from the disk, as it does when a card fails; then mend it.

    :raises TroubleError: when a change was acknowledged meanwhile, or play does not go on afterwards.
    """
    channel.check(
        "echo u > /proc/sysrq-trigger; for n in $(seq 100); do touch /root/t || exit 0; sleep 1; done; exit 1"
    )
    try:
        return {"disk read-only": _refused(phone, lambda: channel.check("mount -o remount,rw / && touch /root/t"))}
    finally:
        channel.run("mount -o remount,rw /")


def _refused(phone: Phone, mend: Callable[[], object]) -> str:
    before = health(phone)["journal"]
    refused, taken, words = 0, 0, ""
    for command, body in (("open-match", OPENING), ("close-match", {})) * 2:
        told = {
            "command": command,
            "body": body,
            "action_id": f"trouble-{time.monotonic_ns()}",
            "state": before["state"],
        }
        answer = json.loads(phone.ask("POST", "/api/do", told)[1])
        if answer.get("ok"):
            taken += 1
            break
        refused += 1
        words = words or str(answer.get("message") or answer.get("error") or answer)[:120]
    kept = health(phone)["journal"]
    if not taken:
        _same(before, kept)
    mend()
    _played(phone)
    return f"{refused} changes refused, {taken} taken ({words})"


def _played(phone: Phone) -> None:
    """Open a match and close it, each acknowledged."""
    close_match(phone)
    do(phone, "open-match", OPENING)
    do(phone, "close-match", {})


def _starts(channel: CommandChannel) -> int:
    return int(channel.check(f"systemctl show -P NRestarts {UNIT}"))


def _same(before: object, after: object) -> None:
    if before != after:
        raise TroubleError(f"The night was {before!r}, and is {after!r}.")
