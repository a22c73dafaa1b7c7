"""Which addresses this machine has on its local networks, asked of the kernel; no packet leaves."""

from __future__ import annotations

import fcntl
import ipaddress
import socket
import struct

SIOCGIFADDR = 0x8915
"""Linux: the IPv4 address of an interface (netdevice(7))."""


def lan_addresses() -> list[str]:
    """Return the private IPv4 addresses of this machine, the likeliest for phones first.

    Bridges of containers and tunnels come last; loopback is not listed.
    """
    found: list[tuple[int, str]] = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            request = struct.pack("256s", name.encode()[:15])
            try:
                answer = fcntl.ioctl(probe.fileno(), SIOCGIFADDR, request)
            except OSError:
                continue
            address = socket.inet_ntoa(answer[20:24])
            if ipaddress.ip_address(address).is_loopback:
                continue
            rank = 0 if name.startswith(("wl", "en", "eth")) else 1
            if name.startswith(("docker", "br-", "veth", "virbr", "tun", "tap")):
                rank = 2
            found.append((rank, address))
    return [address for _, address in sorted(found)]


def page_urls(host: str, port: int, scheme: str = "http") -> list[str]:
    """Return the addresses under which the page answers, for a listener on ``host``; the best comes first."""
    if host in {"0.0.0.0", "::", ""}:  # noqa: S104 - compared, not bound
        name = socket.gethostname().split(".")[0]
        local = [f"{name}.local"] if name and name != "localhost" else []
        found = lan_addresses()
        # Without a network only this machine itself can open the page.
        hosts = [*found, *local, "localhost"] if found else ["localhost", *local]
    else:
        hosts = [host]
    return [f"{scheme}://{f'[{h}]' if ':' in h else h}:{port}" for h in hosts]


def only_here(host: str) -> bool:
    """Return whether what listens on ``host`` can be reached from this machine alone."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
