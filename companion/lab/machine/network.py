"""What the house's network hears of the machine, by mDNS, and that the service starts after what it needs."""

from __future__ import annotations

import json
from typing import Any

from companion.lab.machine.channel import CommandChannel
from companion.lab.machine.checks import UNIT, quoted
from companion.lab.machine.emulator import PAGE

BEFORE = ("avahi-daemon.service", "network.target")
"""What is started before the service, where it is there."""
ASKED = """
import json, socket, struct, sys
HEAD = struct.Struct(">6H")
def named(name):
    return b"".join(bytes([len(one)]) + one.encode() for one in name.split(".")) + b"\\0"
def name_at(data, at):
    words, after = [], None
    while data[at]:
        if data[at] >= 0xC0:
            after, at = after or at + 2, struct.unpack(">H", data[at:at + 2])[0] & 0x3FFF
            continue
        words.append(data[at + 1:at + 1 + data[at]].decode())
        at += 1 + data[at]
    return ".".join(words), after or at + 1
def asked(name, kind):
    # Not from port 5353: then the answer comes to us alone (RFC 6762, 6.7).
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.settimeout(5)
        line.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(sys.argv[1]))
        for _ in range(24):
            line.sendto(HEAD.pack(7, 0, 1, 0, 0, 0) + named(name) + struct.pack(">2H", kind, 1), ("224.0.0.251", 5353))
            try:
                data = line.recv(9000)
            except TimeoutError:
                continue
            _, _, questions, answers, others, more = HEAD.unpack(data[:12])
            at, found = 12, []
            for _ in range(questions):
                at = name_at(data, at)[1] + 4
            for _ in range(answers + others + more):
                owner, at = name_at(data, at)
                what, _, _, size = struct.unpack(">2HIH", data[at:at + 10])
                at += 10
                if what == 1:
                    found.append([owner, "address", socket.inet_ntoa(data[at:at + 4])])
                if what == 12:
                    found.append([owner, "service", name_at(data, at)[0]])
                if what == 33:
                    found.append([owner, "port", struct.unpack(">H", data[at + 4:at + 6])[0]])
                at += size
            return found
    return []
name = socket.gethostname() + ".local"
print(json.dumps({"name": asked(name, 1), "service": asked("_http._tcp.local", 12)}))
"""
"""Asked inside, with the machine's own address: what mDNS answers for its name and for pages."""


class NetworkError(OSError):
    """The machine is not announced as meant, or its service started too early."""


def announced(channel: CommandChannel) -> dict[str, Any]:
    """Ask the network for the machine's name and for pages, as phones do; return the figures.

    :raises NetworkError: when an answer does not lead to the page.
    """
    address = channel.check("ip -4 -o address show eth0 | awk '{print $4}' | cut -d / -f 1").strip()
    said = channel.check(quoted(["python3", "-c", ASKED, address]), 600)
    told = json.loads(said.strip().splitlines()[-1])
    name = [where for _, kind, where in told["name"] if kind == "address"]
    services = [where for _, kind, where in told["service"] if kind == "service"]
    ports = [where for _, kind, where in told["service"] if kind == "port"]
    if address not in name or not services or ports not in ([], [PAGE]):
        raise NetworkError(f"mDNS with {address}: {json.dumps(told)[:400]}")
    return {"mDNS": f"{told['name'][0][0]} is {name[0]}; {services[0]}"}


def order(channel: CommandChannel) -> dict[str, Any]:
    """Return how long before the service became ready what it starts after was there.

    :raises NetworkError: when one of it was later.
    """
    ready = _since(channel, UNIT, "ActiveEnterTimestampMonotonic")
    began = _since(channel, UNIT, "InactiveExitTimestampMonotonic")
    wanted = {unit: _since(channel, unit, "ActiveEnterTimestampMonotonic") for unit in BEFORE}
    late = [unit for unit, there in wanted.items() if not 0 < there <= began]
    if late:
        raise NetworkError(f"Begun at {began} µs, and these later or never: {', '.join(late)}")
    there = ", ".join(f"{unit} {(began - at) / 1e6:.1f} s before" for unit, at in wanted.items())
    return {"started after": there, "from its start to its page, s": round((ready - began) / 1e6, 1)}


def _since(channel: CommandChannel, unit: str, what: str) -> int:
    return int(channel.check(f"systemctl show -P {what} {unit}").strip() or 0)
