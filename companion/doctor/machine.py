"""The machine itself: groups, clock, disk, card, temperature, supply, memory."""

from __future__ import annotations

import errno
import os
import platform
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from companion import __version__
from companion.doctor.finding import Finding, FindingState, found
from companion.doctor.host import Host
from companion.night.log.data_folder import refusal
from companion.night.messages import Words

GROUPS = {
    "dialout": Words("the igloo’s port"),
    "video": Words("the camera"),
    "gpio": Words("buttons and lights"),
}
LOW_MB, FULL_MB = 1000, 50
HOT_C, TOO_HOT_C = 70.0, 80.0
LOW_MEMORY_MB = 80

# Bits of the firmware's throttling word (Raspberry Pi documentation, "vcgencmd get_throttled").
LOW_NOW, SLOWED_NOW, LOW_BEFORE = 1 << 0, (1 << 1) | (1 << 2) | (1 << 3), 1 << 16


def system(host: Host) -> Iterator[Finding]:
    """Say what machine this is."""
    release = dict(line.split("=", 1) for line in host.text("/etc/os-release").splitlines() if "=" in line)
    yield found(
        "system",
        FindingState.GOOD,
        "system",
        model=host.text("/proc/device-tree/model") or platform.machine(),
        system=release.get("PRETTY_NAME", platform.system()).strip('"'),
        python=platform.python_version(),
        version=__version__,
    )


def groups(host: Host) -> Iterator[Finding]:
    """Ask whether the user is in the groups that devices belong to; a group that is not there is no matter."""
    good = []
    for group, why in GROUPS.items():
        number = host.group(group)
        if number is None or host.user.uid == 0:
            continue
        if number in host.user.gids:
            good.append(group)
        else:
            yield found(
                "groups",
                FindingState.WRONG if group == "dialout" else FindingState.WARNING,
                "group-missing",
                cure="group",
                user=host.user.name,
                group=group,
                why=why,
            )
    if good:
        yield found("groups", FindingState.GOOD, "groups-good", user=host.user.name, groups=", ".join(good))


def clock(host: Host, last_at_ms: int, now: float | None = None) -> Iterator[Finding]:
    """Ask whether the clock can be right, and whether something keeps it so."""
    now = time.time() if now is None else now
    year = time.gmtime(now).tm_year
    if year < 2025:
        yield found("clock", FindingState.WRONG, "clock-wrong", cure="clock", year=year)
    elif now * 1000 + 120_000 < last_at_ms:
        hours = round((last_at_ms / 1000 - now) / 3600, 1)
        yield found("clock", FindingState.WRONG, "clock-behind", cure="clock", hours=hours)
    elif (
        host.path("/run/systemd/timesync/synchronized").exists()
        or host.ask("timedatectl", "show", "-p", "NTPSynchronized", "--value") == "yes"
        or host.path("/sys/class/rtc/rtc0").exists()
    ):
        yield found("clock", FindingState.GOOD, "clock-good")
    else:
        yield found("clock", FindingState.NOTE, "clock-alone", cure="clock")


def disk(folder: Path) -> Iterator[Finding]:
    """Ask for room where the nights lie, and whether it can be written at all."""
    place = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    free_mb = shutil.disk_usage(place).free // 1_000_000
    refused = refusal(place)
    if os.statvfs(place).f_flag & os.ST_RDONLY or (refused is not None and refused.errno == errno.EROFS):
        yield found("disk", FindingState.WRONG, "disk-read-only", cure="read-only")
    elif refused is not None and refused.errno == errno.EIO:
        yield found("disk", FindingState.WRONG, "disk-failed", cure="card", why=refused.strerror)
    elif free_mb < FULL_MB:
        yield found("disk", FindingState.WRONG, "disk-full", cure="room", free_mb=free_mb)
    elif free_mb < LOW_MB:
        yield found("disk", FindingState.WARNING, "disk-low", cure="room", free_mb=free_mb)
    else:
        yield found("disk", FindingState.GOOD, "disk-good", free_mb=free_mb)


def card(host: Host) -> Iterator[Finding]:
    """Ask kernel and card for errors and wear, where they tell."""
    errors = False
    for path in sorted(host.path("/sys/fs/ext4").glob("*/errors_count")):
        count = host.text(path)
        if count.isdecimal() and int(count) > 0:
            errors = True
            yield found(
                "card", FindingState.WRONG, "card-errors", cure="card", device=path.parent.name, errors=int(count)
            )
    for block in sorted(host.path("/sys/block").glob("mmcblk[0-9]*")):
        # Two estimates in steps of ten per cent, eMMC only (JEDEC JESD84-B51, EXT_CSD 268 and 269).
        life = [int(part, 16) for part in host.text(block / "device" / "life_time").split() if part.startswith("0x")]
        if life and max(life) >= 9:
            errors = True
            percent = 10 * min(max(life), 10)
            yield found("card", FindingState.WARNING, "card-worn", cure="card", device=block.name, percent=percent)
        name = host.text(block / "device" / "name")
        if name:
            yield found("card", FindingState.GOOD, "card", name=name, date=host.text(block / "device" / "date") or "?")
    if not errors:
        yield found("card", FindingState.GOOD, "card-good")


def warmth(host: Host) -> Iterator[Finding]:
    """Ask for the processor's temperature."""
    degrees = []
    for zone in host.path("/sys/class/thermal").glob("thermal_zone*"):
        value = host.text(zone / "temp")
        if "cpu" in host.text(zone / "type") and value.lstrip("-").isdecimal():
            degrees.append(int(value) / 1000)
    if degrees:
        celsius = round(max(degrees), 1)
        hot = celsius >= HOT_C
        state = FindingState.WRONG if celsius >= TOO_HOT_C else FindingState.WARNING if hot else FindingState.GOOD
        key = "temperature-high" if hot else "temperature-good"
        yield found("temperature", state, key, cure="cool" if hot else "", celsius=celsius)
    else:
        yield found("temperature", FindingState.NOTE, "temperature-untold")


def supply(host: Host) -> Iterator[Finding]:
    """Ask the firmware, or the kernel, whether the supply voltage fell."""
    word = host.ask("vcgencmd", "get_throttled").removeprefix("throttled=")
    if not word:
        word = host.text("/sys/devices/platform/soc/soc:firmware/get_throttled")
        word = f"0x{word.removeprefix('0x')}" if word else ""
    try:
        bits: int | None = int(word, 16)
    except ValueError:
        bits = None
    if bits is None:
        alarms = [
            host.text(path / "in0_lcrit_alarm")
            for path in host.path("/sys/class/hwmon").glob("*")
            if host.text(path / "name") == "rpi_volt"
        ]
        if not alarms:
            yield found("supply", FindingState.NOTE, "power-untold")
            return
        bits = LOW_NOW if "1" in alarms else 0
    if bits & LOW_NOW:
        yield found("supply", FindingState.WRONG, "power-low", cure="power", bits=bits)
    elif bits & LOW_BEFORE:
        yield found("supply", FindingState.WARNING, "power-was-low", cure="power", bits=bits)
    else:
        yield found("supply", FindingState.GOOD, "power-good", bits=bits)
    if bits & SLOWED_NOW:
        yield found("supply", FindingState.WARNING, "slowed", cure="cool", bits=bits)


def memory(host: Host) -> Iterator[Finding]:
    """Ask for free memory."""
    for line in host.text("/proc/meminfo").splitlines():
        name, _, value = line.partition(":")
        if name == "MemAvailable":
            free_mb = int(value.split()[0]) // 1000
            low = free_mb < LOW_MEMORY_MB
            key = "memory-low" if low else "memory-good"
            state = FindingState.WARNING if low else FindingState.GOOD
            yield found("memory", state, key, cure="memory" if low else "", free_mb=free_mb)
