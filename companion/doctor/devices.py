"""What is plugged in: serial ports and who grabs them, cameras, the panel's pins."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

from companion.doctor.finding import Finding, FindingState, found
from companion.doctor.host import Host
from companion.igloo.line.candidate_ports import DEFAULT_DENY, denied, scan
from companion.panel.pins import parse
from companion.ports import BadDataError

GRABBERS = {"ModemManager": "ModemManager", "brltty": "brltty"}
"""Programs that open every new serial port, with the name of their systemd unit."""

OURS = "companion"
NOT_CAMERAS = re.compile(
    r"codec|isp|hevc|rpivid|image_fx|pispbe|unicam|rp1-cfe|^rpi-|^bcm2835-|metadata|radio", re.IGNORECASE
)
"""Video devices of a Raspberry Pi that are no cameras, or the raw half of its own, which only rpicam-vid can use."""


def ports(host: Host, deny: tuple[str, ...], *, service: bool, heard: bool = False) -> Iterator[Finding]:
    """Look at every serial port without opening it; with ``service`` the companion may hold some itself.

    Where an igloo is ``heard``, a simulated one needs no port.
    """
    rules = [path for path in host.path("/etc/udev/rules.d").glob("*.rules") if OURS in path.name]
    candidates = scan(host.path("/dev"), host.path("/sys"))
    running = host.running()
    wanted = []
    for candidate in candidates:
        device = Path(candidate.path).resolve()
        facts = {"port": f"/dev/{device.name}", "name": candidate.name, "usb": candidate.usb}
        rule = denied(candidate, (*DEFAULT_DENY, *deny))
        if rule is not None:
            yield found("igloo-port", FindingState.NOTE, "port-denied", rule=rule, **facts)
            continue
        wanted.append(candidate)
        holder = host.holder(device)
        if holder and not (service and holder in {"companion", "python", "python3"}):
            yield found("igloo-port", FindingState.WRONG, "port-held", cure="held", program=holder, **facts)
        elif not host.user.may(device):
            yield found(
                "igloo-port",
                FindingState.WRONG,
                "port-forbidden",
                cure="group",
                group="dialout",
                user=host.user.name,
                **facts,
            )
        else:
            yield found("igloo-port", FindingState.GOOD, "port", **facts)
    if not candidates and not heard:
        yield found("igloo-port", FindingState.NOTE, "no-port")
    if rules:
        yield found("udev", FindingState.GOOD, "udev-good")
    for program, unit in GRABBERS.items():
        # The rules tell ModemManager to leave the usual converters alone; brltty is kept off by no rule of ours.
        if program in running and (not rules or program == "brltty"):
            state = FindingState.WRONG if wanted else FindingState.WARNING
            yield found("udev", state, "grabber", cure="grabber", program=program, unit=unit)


def cameras(host: Host, source: str) -> Iterator[Finding]:
    """Look at every camera without opening it, and at the one that the settings name."""
    names = _usb_cameras(host)
    for device, name in names.items():
        path = host.path(device)
        if path.exists() and not host.user.may(path):
            yield found(
                "camera",
                FindingState.WRONG,
                "camera-forbidden",
                cure="group",
                device=device,
                user=host.user.name,
                group="video",
            )
        else:
            yield found("camera", FindingState.GOOD, "camera", device=device, name=name)
    if source == "pi":
        if not host.has("rpicam-vid") and not host.has("libcamera-vid"):
            yield found("camera", FindingState.WRONG, "pi-camera-program", cure="rpicam")
    elif (match := re.fullmatch(r"usb(?::(\d+))?", source)) is not None:
        # The n-th that is found, whatever its device is called.
        if int(match[1] or 0) >= len(names):
            yield found("camera", FindingState.WRONG, "camera-chosen-missing", cure="camera", source=source)
    elif source.startswith("/dev/"):
        if not host.path(source).exists():
            yield found("camera", FindingState.WRONG, "camera-chosen-missing", cure="camera", source=source)
    elif not names and not source:
        yield found("camera", FindingState.NOTE, "no-camera")


def _usb_cameras(host: Host) -> dict[str, str]:
    """Return the devices of the USB cameras with their names, in the order in which ``usb:0`` and so on count them."""
    names: dict[str, str] = {}
    folder = host.path("/sys/class/video4linux")
    for path in sorted(folder.glob("video[0-9]*"), key=lambda path: int(path.name[5:])):
        name = host.text(path / "name")
        # A camera's second device gives its metadata: its index is 1.
        if host.text(path / "index") in {"", "0"} and not NOT_CAMERAS.search(name):
            names[f"/dev/{path.name}"] = name or "?"
    return names


def panel(host: Host, lines: tuple[str, ...]) -> Iterator[Finding]:
    """Look at the panel's pins; the finding's facts hold the header as a drawing."""
    try:
        pins = parse(lines)
    except BadDataError as error:
        yield found("panel", FindingState.WRONG, "panel-bad", cure="pins", why=str(error))
        return
    if not pins:
        yield found("panel", FindingState.NOTE, "panel-none")
        return
    yield found(
        "panel", FindingState.GOOD, "panel-good", parts=len(pins.at), pins=dict(pins.at), drawing=pins.drawing()
    )
    chips = sorted(path for path in host.path("/dev").glob("gpiochip*") if host.is_device(path))
    if not chips:
        yield found("panel", FindingState.WRONG, "panel-no-header", cure="no-pins")
        return
    if not any(host.user.may(chip) for chip in chips):
        yield found(
            "panel",
            FindingState.WRONG,
            "panel-forbidden",
            cure="group",
            device=f"/dev/{chips[0].name}",
            user=host.user.name,
            group="gpio",
        )
    if host.root == Path("/") and importlib.util.find_spec("lgpio") is None:
        yield found("panel", FindingState.WRONG, "panel-no-library", cure="lgpio")
