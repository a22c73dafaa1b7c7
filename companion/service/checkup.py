"""Everything looked at: the machine, the nights, the devices, the service, the network; for terminal and page."""

from __future__ import annotations

import json
import os
import socket
import ssl
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from companion.doctor import devices, machine, nights
from companion.doctor.finding import Finding, FindingState, found
from companion.doctor.host import Host, User
from companion.night.log.data_folder import read_address
from companion.rules.i18n import noted
from companion.service.addresses import lan_addresses


def check_up(folder: Path) -> Iterator[Finding]:
    """Yield every finding about a data folder, on behalf of the user to whom it belongs: the service has its own."""
    uid = folder.stat().st_uid if folder.is_dir() else os.getuid()
    yield from examined(Host(User.of(uid)), folder)


def examined(host: Host, folder: Path) -> Iterator[Finding]:
    """Yield every finding: the machine, the nights, the devices, service and network."""
    yield from machine.system(host)
    yield from machine.groups(host)
    findings, kept = nights.nights(host, folder)
    yield from machine.clock(host, kept.last_at_ms)
    yield from machine.disk(folder)
    yield from machine.card(host)
    yield from machine.warmth(host)
    yield from machine.supply(host)
    yield from machine.memory(host)
    yield from findings
    live = list(_service(folder))
    runs = any(finding.check == "igloo" for finding in live) or any("devices" in f.facts for f in live)
    heard = any(finding.check == "igloo" and finding.state is FindingState.GOOD for finding in live)
    yield from devices.ports(host, kept.lines("igloo_deny"), service=runs, heard=heard)
    yield from devices.cameras(host, kept.text("camera_source"))
    yield from devices.panel(host, kept.lines("panel_pins"))
    yield from live
    yield from _network(host)


def _service(folder: Path) -> Iterator[Finding]:
    """Ask the running service how its devices are doing."""
    urls = read_address(folder)
    if not urls:
        yield found("service", FindingState.NOTE, "service-none", folder=str(folder))
        return
    scheme, port = urls[0].split(":", 1)[0], urls[0].rsplit(":", 1)[1]
    health = next((h for url in (f"{scheme}://127.0.0.1:{port}", *urls) if (h := _health(url)) is not None), None)
    if health is None:
        yield found("service", FindingState.WRONG, "service-silent", cure="restart", url=urls[0])
        return
    yield found("service", FindingState.GOOD, "service-runs", url=urls[0], devices=len(health["devices"]))
    for device in health["devices"]:
        if device.get("device") == "igloo":
            yield from _igloo(device)
        elif device.get("device") == "camera":
            facts = {key: device.get(key, "") for key in ("source", "state", "kind")}
            good = device.get("state") == "connected"
            yield found(
                "camera",
                FindingState.GOOD if good else FindingState.WRONG,
                "camera-live",
                cure="" if good else "camera",
                **facts,
            )


def _health(url: str) -> dict[str, Any] | None:
    try:
        # Under TLS it is asked on this machine, by an address from our own file: who it is need not be proved.
        context = ssl._create_unverified_context()  # noqa: S323
        with urllib.request.urlopen(f"{url}/api/health", timeout=3, context=context) as answer:  # noqa: S310
            reply = json.loads(answer.read(1_000_000))
    except (OSError, ValueError):
        return None
    return reply if isinstance(reply, dict) and isinstance(reply.get("devices"), list) else None


def _igloo(device: Mapping[str, Any]) -> Iterator[Finding]:
    note = str(device.get("note") or "")
    rate, nominal = device.get("rate_hz") or 0, device.get("nominal_hz") or 0
    counts = device.get("counts") or {}
    good = device.get("state") == "connected"
    yield found(
        "igloo",
        FindingState.GOOD if good else FindingState.WRONG,
        "igloo",
        cure="" if good else "igloo",
        key=device.get("key", "?"),
        state=device.get("state", "?"),
        kind=device.get("kind", "?"),
        driver=device.get("protocol") or "?",
        rate_hz=round(rate),
        lost=counts.get("lost", 0),
        note=noted(note),
    )
    if wild := counts.get("glitches", 0):
        key = device.get("key", "?")
        yield found("igloo", FindingState.WARNING, "igloo-wild", cure="igloo", key=key, wild=wild)
    if good and rate and nominal and rate < 0.9 * nominal:
        facts = {"key": device.get("key", "?"), "rate_hz": round(rate), "nominal_hz": round(nominal)}
        yield found("igloo", FindingState.WRONG, "igloo-slow", cure="slow", **facts)


def _network(host: Host) -> Iterator[Finding]:
    addresses = lan_addresses()
    if not addresses:
        yield found("network", FindingState.WRONG, "no-network", cure="network")
        return
    yield found("network", FindingState.GOOD, "network", addresses=", ".join(addresses))
    yield from _name(host, socket.gethostname().split(".")[0])


def _name(host: Host, name: str) -> Iterator[Finding]:
    """Say under which name the page is announced in the network, by mDNS."""
    if "avahi-daemon" not in host.running():
        yield found("network", FindingState.NOTE, "no-mdns", cure="mdns", host=name)
    elif not host.path("/etc/avahi/services/companion.service").exists():
        yield found("network", FindingState.NOTE, "mdns-name-only", cure="mdns-service", host=name)
    else:
        yield found("network", FindingState.GOOD, "mdns-good", host=name)
