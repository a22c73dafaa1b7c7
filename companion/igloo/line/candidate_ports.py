"""Which serial ports there are, who they are by name and USB number, and which must never be opened.

Opening a port is not harmless: it raises DTR, which starts an Arduino again, and a 3-D printer in the middle of
its print as well. So a port whose name or USB number says that it is something else is left alone.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PORT_NAMES = ("ttyACM*", "ttyUSB*")
"""The names of ports that are looked at; others (a Pi's own UART) must be named."""

DEFAULT_DENY: tuple[str, ...] = (
    # printers of paper, receipts and labels
    "printer",
    "03f0:*",  # HP
    "04a9:*",  # Canon
    "04b8:*",  # Epson
    "04f9:*",  # Brother
    "0519:*",  # Star Micronics
    "0a5f:*",  # Zebra
    # printers of plastic, mills and their boards
    "prusa",
    "ultimaker",
    "makerbot",
    "creality",
    "bambu",
    "reprap",
    "marlin",
    "klipper",
    "smoothie",
    "duet",
    "grbl",
    "2c99:*",  # Prusa
    "27b1:*",  # UltiMachine
    "23c1:*",  # MakerBot
    "1d50:614e",  # Klipper
    "1d50:6015",  # Smoothieboard
    "1d50:60ec",  # Duet
    # modems, mobile radio and satellite receivers
    "modem",
    "huawei",
    "sierra_wireless",
    "quectel",
    "telit",
    "simtech",
    "u-blox",
    "gps",
    "12d1:*",  # Huawei
    "1199:*",  # Sierra Wireless
    "2c7c:*",  # Quectel
    "1bc7:*",  # Telit
    "1e0e:*",  # SIMCom
    "19d2:*",  # ZTE
    "1546:*",  # u-blox
    # radio of home automation
    "zigbee",
    "z-wave",
    "zwave",
    "conbee",
    "skyconnect",
    "sonoff",
    "1cf1:0030",  # ConBee II
    "0658:0200",  # Aeotec Z-Stick
    # help for blind people
    "braille",
)
"""What a port is known by that is no igloo: USB numbers ``vid:pid`` in hexadecimal, and parts of names."""

_USB = re.compile(r"[0-9a-fA-F*?]{1,4}:[0-9a-fA-F*?]{1,4}")


@dataclass(frozen=True, slots=True)
class CandidatePort:
    """A port that might be an igloo's: ``path`` opens it, ``name`` stays when it is plugged in again.

    ``aliases`` are all names it is known by; ``usb`` is ``vid:pid`` or empty. ``node`` is another one for every
    time the device is plugged in.
    """

    path: str
    name: str
    aliases: tuple[str, ...]
    usb: str
    node: tuple[int, ...]


def denied(candidate: CandidatePort, deny: Iterable[str]) -> str | None:
    """Return the entry of ``deny`` that forbids a port, or None.

    An entry is ``vid:pid`` (with ``*``), a pattern with ``*`` or ``?``, or a part of a name; case is ignored.
    """
    names = [alias.lower() for alias in candidate.aliases]
    for entry in deny:
        wanted = entry.strip().lower()
        if not wanted:
            continue
        if _USB.fullmatch(wanted):
            if fnmatch.fnmatchcase(candidate.usb.lower(), wanted):
                return entry
        elif any(c in wanted for c in "*?["):
            if any(fnmatch.fnmatchcase(name, wanted) for name in names):
                return entry
        elif any(wanted in name for name in names):
            return entry
    return None


def _links(folder: Path) -> dict[str, str]:
    """Return what the symbolic links of a folder lead to: the device's path -> the link's name."""
    found: dict[str, str] = {}
    with suppress(OSError):
        for entry in sorted(folder.iterdir()):
            with suppress(OSError, RuntimeError):
                found[str(entry.resolve(strict=True))] = entry.name
    return found


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""


def _usb(sys_root: Path, tty: str) -> tuple[str, str | None, str]:
    """Return ``vid:pid``, serial number (None: not known whether there is one) and product of a tty."""
    try:
        device = (sys_root / "class" / "tty" / tty / "device").resolve(strict=True)
    except (OSError, RuntimeError):
        return "", None, ""
    for folder in (device, *device.parents):
        vid = _read(folder / "idVendor")
        if vid:
            words = f"{_read(folder / 'manufacturer')} {_read(folder / 'product')}".replace(" ", "_")
            return f"{vid}:{_read(folder / 'idProduct')}", _read(folder / "serial"), words
        if folder == sys_root:
            break
    return "", None, ""


def _named(sys_root: Path, tty: str, udev: Path) -> bool:
    """Return whether udev is done with a tty, where one runs: before, it has neither its group nor its lasting name."""
    number = _read(sys_root / "class" / "tty" / tty / "dev")
    return not number or not (udev / "control").exists() or (udev / "data" / f"c{number}").exists()


def scan(
    root: Path = Path("/dev"), sys_root: Path = Path("/sys"), udev: Path = Path("/run/udev")
) -> list[CandidatePort]:
    """Return the ports there are now, each device once; one that udev is not done with yet comes later.

    A name that stays is the one in ``serial/by-id``; but cheap converters have no serial number, so that two of
    them share one such name: these are known by the socket that they are in (``serial/by-path``).
    """
    # The ports first: a name that comes while this looks is then there for each of them.
    entries = [entry for pattern in PORT_NAMES for entry in sorted(root.glob(pattern))]
    early = {os.path.realpath(entry) for entry in entries if not _named(sys_root, entry.name, udev)}
    by_id, by_path = _links(root / "serial" / "by-id"), _links(root / "serial" / "by-path")
    found: dict[str, CandidatePort] = {}
    for entry in entries:
        with suppress(OSError, RuntimeError):
            device = str(entry.resolve(strict=True))
            if device in early:
                continue
            facts = Path(device).stat()
            usb, serial_number, words = _usb(sys_root, entry.name)
            stays = root / "serial" / "by-id" / by_id[device] if device in by_id and serial_number != "" else None
            socket = root / "serial" / "by-path" / by_path[device] if device in by_path else None
            best = stays or socket or entry
            names = (by_id.get(device), by_path.get(device), entry.name, words or None)
            found.setdefault(
                device,
                CandidatePort(
                    path=str(best),
                    name=best.name,
                    aliases=tuple(name for name in names if name),
                    usb=usb,
                    node=(facts.st_dev, facts.st_ino, facts.st_rdev, facts.st_ctime_ns),
                ),
            )
    for device, name in by_id.items():
        # A name of udev's for a port of another kind (a test's, or a new driver's) is as good.
        if device not in found and device not in early:
            with suppress(OSError):
                facts = Path(device).stat()
                tty = Path(device).name
                usb, _, words = _usb(sys_root, tty)
                found[device] = CandidatePort(
                    path=str(root / "serial" / "by-id" / name),
                    name=name,
                    aliases=tuple(alias for alias in (name, by_path.get(device), tty, words or None) if alias),
                    usb=usb,
                    node=(facts.st_dev, facts.st_ino, facts.st_rdev, facts.st_ctime_ns),
                )
    return list(found.values())
