"""What a real systemd says of the service, and what the unit's restrictions hold back, tried from inside."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from companion.lab.machine.channel import CommandChannel

UNIT = "companion.service"
PROPERTIES = (
    *("NoNewPrivileges", "CapabilityBoundingSet", "ProtectSystem", "ReadWritePaths", "ProtectHome", "PrivateTmp"),
    *("ProtectHostname", "ProtectKernelLogs", "ProtectKernelModules", "ProtectKernelTunables", "ProtectControlGroups"),
    *("RestrictAddressFamilies", "RestrictNamespaces", "RestrictRealtime", "RestrictSUIDSGID", "LockPersonality"),
    *("SystemCallArchitectures", "SystemCallFilter", "SystemCallErrorNumber", "IPAddressDeny", "IPAddressAllow"),
    *("User", "Group", "StateDirectory", "StateDirectoryMode", "UMask", "WorkingDirectory", "MemoryMax", "TasksMax"),
)
"""Of the unit: all that is given to each try as it stands there."""
LISTED = ("IPAddressDeny", "IPAddressAllow")
"""Of these systemd-run takes a name such as ``localhost`` by itself only; given again, they add up, as in a unit."""
ALLOWED, HELD = "allowed", "held back"
REFUSED = "Operation not permitted"
PUBLIC, PRIVATE = "192.0.2.1", "10.0.2.2"
"""An address of documentation, which is no house's; and the machine's own router."""

SEND = "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', "


@dataclass(frozen=True)
class Try:
    """Something that a service may try, as a Python expression, and what is meant to become of it."""

    what: str
    python: str
    wanted: str = HELD
    why: str = ""
    """The system's words that must stand with it, where another reason would prove nothing."""


TRIES = (
    Try("write in its own folder", "open('/var/lib/companion/.tried', 'w')", ALLOWED),
    Try("read its own program", "open('/opt/companion/current/bin/companion').read()", ALLOWED),
    Try("write its own program", "open('/opt/companion/current/bin/companion', 'a')"),
    Try("write in /etc", "open('/etc/tried', 'w')"),
    Try("write beside its folder", "open('/var/lib/tried', 'w')"),
    Try("write in /usr/local", "open('/usr/local/tried', 'w')"),
    Try("read root's home", "os.listdir('/root')"),
    Try("set the kernel's tunables", "open('/proc/sys/kernel/hostname', 'w').write('x')"),
    Try("read the kernel's log", "open('/dev/kmsg').read(1)"),
    Try("become root", "os.setuid(0)"),
    Try("make a program that runs as its owner", "os.chmod('/var/lib/companion/.tried', 0o4755)"),
    Try("make a namespace", "libc(ctypes.CDLL(None, use_errno=True).unshare(0x10000000))"),
    Try("mount something", "libc(ctypes.CDLL(None, use_errno=True).mount(b'x', b'/tmp', b'tmpfs', 0, None))"),
    Try("real-time scheduling", "os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))"),
    Try("a raw packet socket", "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)"),
    Try("send to a public address", f"{SEND}('{PUBLIC}', 9))", why=REFUSED),
    Try("send to an address of the house", f"{SEND}('{PRIVATE}', 9))", ALLOWED),
)
TRIED = """
import ctypes, os, socket, sys
def libc(answer):
    if answer:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
for number, text in enumerate(sys.argv[1:]):
    try:
        eval(text)
        print(number, "allowed", flush=True)
    except OSError as error:
        print(number, "held back", error.strerror, flush=True)
"""

DIGEST = """
import hashlib, json, sqlite3
digest, after = hashlib.sha256(), []
after.append(digest.hexdigest()[:16])
for row in sqlite3.connect("file:/var/lib/companion/journal.sqlite?mode=ro", uri=True).execute(
        "SELECT seq, at, kind, body, by, by_role, action_id FROM entry ORDER BY seq"):
    digest.update(repr(row).encode())
    after.append(digest.hexdigest()[:16])
print(json.dumps({"entries": len(after) - 1, "digest": after[-1], "digest of": after}))
"""
"""Asked inside: how many entries the journal has, and a digest of its first ones, for each number of them."""


def options(unit: str) -> list[str]:
    """Return the restrictions of a unit's text as options of systemd-run."""
    found = []
    for line in unit.splitlines():
        name, _, value = line.partition("=")
        if name in PROPERTIES:
            for one in value.split() if name in LISTED else [value]:
                found += ["-p", f"{name}={one}"]
    return found


def tried(said: str) -> dict[str, str]:
    """Return what became of each try, by its words, from what :data:`TRIED` printed."""
    found = {}
    for number, what, why in re.findall(r"^(\d+) (allowed|held back) ?(.*)$", said, re.MULTILINE):
        found[TRIES[int(number)].what] = f"{what} ({why})" if why else what
    return found


def wrong(found: dict[str, str]) -> list[str]:
    """Return the tries that ended otherwise than meant, or not at all."""
    return [
        one.what
        for one in TRIES
        if not (said := found.get(one.what, "nothing")).startswith(one.wanted) or one.why not in said
    ]


def quoted(words: list[str]) -> str:
    """Return words as one line of a shell."""
    return " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)


def restrictions(channel: CommandChannel) -> dict[str, Any]:
    """Have systemd run the tries under the unit's own restrictions; return what became of them, and of the service."""
    unit = channel.check(f"cat /etc/systemd/system/{UNIT}")
    # QEMU names no router in a network that leads nowhere. Without restrictions a public address must be reachable.
    channel.check(f"ip route replace default via {PRIVATE}")
    channel.check(quoted(["python3", "-c", f"import socket; {SEND}('{PUBLIC}', 9))"]))
    command = ["systemd-run", "--quiet", "--wait", "--pipe", "--collect", *options(unit)]
    said = channel.check(quoted([*command, "/usr/bin/python3", "-c", TRIED, *(one.python for one in TRIES)]))
    channel.check("rm -f /var/lib/companion/.tried")
    found = tried(said)
    status = channel.check(f"cat /proc/$(systemctl show -P MainPID {UNIT})/status")
    kept = dict(re.findall(r"^(NoNewPrivs|CapEff|CapBnd|Seccomp|Uid):\s*(\S+)", status, re.MULTILINE))
    exposure = channel.run(f"systemd-analyze security --no-pager {UNIT} | tail -n 1").said.strip()
    return {"tries": found, "wrong": wrong(found), "process": kept, "systemd-analyze security": exposure}


def memory(channel: CommandChannel) -> dict[str, Any]:
    """Return what the service holds now: its control group's memory and its own process's, in MB."""
    told = channel.check(
        f"systemctl show -P MemoryCurrent {UNIT}; cat /proc/$(systemctl show -P MainPID {UNIT})/status"
    )
    status = dict(re.findall(r"^(VmRSS|VmHWM):\s+(\d+) kB", told, re.MULTILINE))
    free = dict(re.findall(r"^(MemTotal|MemAvailable):\s+(\d+) kB", channel.check("cat /proc/meminfo"), re.MULTILINE))
    return {
        "control group, MB": round(int(told.split()[0]) / 1e6),
        "resident, MB": round(int(status["VmRSS"]) * 1024 / 1e6),
        "resident at most, MB": round(int(status["VmHWM"]) * 1024 / 1e6),
        "machine, MB": round(int(free["MemTotal"]) * 1024 / 1e6),
        "free for others, MB": round(int(free["MemAvailable"]) * 1024 / 1e6),
    }


def written_mb(channel: CommandChannel) -> float:
    """Return what was written to the machine's disk since it was switched on, in MB, all of it flushed."""
    return int(channel.check("sync; cat /sys/block/vda/stat").split()[6]) * 512 / 1e6


def journal(channel: CommandChannel) -> dict[str, Any]:
    """Return how many entries the journal has and what digests, read beside the service."""
    answer: dict[str, Any] = json.loads(channel.check(quoted(["python3", "-c", DIGEST])))
    return answer
