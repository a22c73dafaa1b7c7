"""A camera inside the machine: v4l2loopback, fed with a drawn table, seen by the service; and the kernel's vivid."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from companion.lab.machine.channel import CommandChannel
from companion.lab.machine.checks import memory
from companion.lab.machine.drivers import put
from companion.lab.phone import Phone
from companion.lab.worlds.table import standard
from companion.ports import DeviceState

FEEDS = (("MJPG", 1280, 960), ("YUYV", 640, 480), ("MJPG", 1920, 1080))
"""What the camera sends, one after another: format, width, height."""
MARKERS = [0, 1, 2, 3]
FOLDER = "/root/camera"
DEVICE = "/dev/video9"
PYTHON = "/opt/companion/current/bin/python"
LOAD = f"modprobe videodev && insmod {FOLDER}/v4l2loopback.ko video_nr=9 card_label=Drawn exclusive_caps=1"
UNLOAD = "for n in $(seq 300); do rmmod {} && exit 0; sleep 0.3; done; exit 1"
"""A driver is let go of when whoever reads from it notices that its camera is lost."""
SEEN_S = 600.0
LOOK_S = 0.5
QUALITY = 85


class CameraIsWrongError(OSError):
    """The service does not see what the camera shows."""


def pictures(width: int, height: int) -> list[bytes]:
    """Return the drawn table twice, as JPEG pictures of a size, with other noise: no camera sends the very same."""
    told = []
    for seed in range(2):
        image = standard(seed).image
        tall, wide = image.shape[:2]
        scale = min(width / wide, height / tall)
        small = cv2.resize(image, (round(wide * scale), round(tall * scale)), interpolation=cv2.INTER_AREA)
        framed = np.full((height, width, 3), 90, np.uint8)
        y, x = (height - small.shape[0]) // 2, (width - small.shape[1]) // 2
        framed[y : y + small.shape[0], x : x + small.shape[1]] = small
        told.append(bytes(cv2.imencode(".jpg", framed, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])[1]))
    return told


def watched(channel: CommandChannel, phone: Phone, module: Path) -> dict[str, Any]:
    """Have the service watch cameras that come, change and go; return the figures.

    ``module`` is v4l2loopback for the machine's kernel.

    :raises CameraIsWrongError: when it does not see what a camera shows, or does not miss one that is gone.
    """
    put(channel, module.read_bytes(), f"{FOLDER}/v4l2loopback.ko")
    put(channel, Path(__file__).with_name("feeder.py").read_bytes(), f"{FOLDER}/feeder.py")
    figures: dict[str, Any] = {}
    for number, (kind, width, height) in enumerate(FEEDS):
        channel.check(LOAD)
        told = _fed(channel, phone, (kind, width, height), first=number == 0)
        held = memory(channel)
        figures[f"{kind} {width}x{height}"] = (
            f"markers {told['table']['markers']}, {told['camera']['fps']} a second, "
            f"{held['resident, MB']} MB resident, {held['free for others, MB']} free"
        )
        channel.check("systemctl stop feeder.service")
        gone = _until(phone, _is_gone, "is not missed after its feeder ended")
        figures["its feeder ended"] = f"{gone['camera']['state']}: {gone['camera']['note']}"
        # Another form of picture is another camera: the driver keeps the first form that it was given. The reader lets
        # go of it when it is lost, and looks for it seldom.
        channel.check(UNLOAD.format("v4l2loopback"))
        gone = _until(phone, _is_gone, "is not missed after its driver was taken away")
        figures["its driver gone"] = f"{gone['camera']['state']}: {gone['camera']['note']}"
    channel.check("modprobe vivid n_devs=1 node_types=0x1")
    found = channel.check("cd /sys/class/video4linux; grep -l vivid */name | head -n 1 | cut -d / -f 1").strip()
    choose(phone, f"/dev/{found}")
    told = _until(
        phone, lambda told: _sends(told) and f"/dev/{found}" in told["camera"]["source"], "of vivid is not seen"
    )
    figures["vivid"] = f"{told['camera']['width']}x{told['camera']['height']}, markers {told['table']['markers']}"
    choose(phone, "")
    channel.check(UNLOAD.format("vivid"))
    return figures


def choose(phone: Phone, source: str) -> None:
    """Have the service watch a source; an empty one is none.

    :raises CameraIsWrongError: when it refuses.
    """
    status, said = phone.ask("POST", "/api/camera", {"source": source})
    if status != 200:
        raise CameraIsWrongError(f"{source}: {status} {said[:200]!r}")


def _fed(channel: CommandChannel, phone: Phone, feed: tuple[str, int, int], *, first: bool) -> dict[str, Any]:
    kind, width, height = feed
    names = []
    for number, picture in enumerate(pictures(width, height)):
        names.append(f"{FOLDER}/{width}-{number}.jpg")
        put(channel, picture, names[-1])
    feeder = f"{PYTHON} {FOLDER}/feeder.py {DEVICE} {kind} {width} {height} {' '.join(names)}"
    channel.check(f"systemctl reset-failed feeder.service 2>/dev/null; systemd-run --quiet --unit=feeder {feeder}")
    if first:
        choose(phone, DEVICE)
    try:
        return _until(
            phone,
            lambda told: (
                _sends(told)
                and (told["camera"]["width"], told["camera"]["height"]) == (width, height)
                and told["table"]["markers"] == MARKERS
                and told["table"]["straight"]
                and told["camera"]["fps"] > 0
            ),
            f"is not seen with {kind} {width}x{height}",
        )
    except CameraIsWrongError as error:
        said = channel.run("systemctl status --no-pager feeder.service | tail -n 4").said
        raise CameraIsWrongError(f"{error} {said}") from error


def _sends(told: dict[str, Any]) -> bool:
    camera = told["camera"]
    return camera is not None and camera["state"] == DeviceState.CONNECTED and told["table"] is not None


def _is_gone(told: dict[str, Any]) -> bool:
    return told["camera"] is not None and told["camera"]["state"] in {DeviceState.MISSING, DeviceState.SILENT}


def _until(phone: Phone, holds: Callable[[dict[str, Any]], bool], what: str) -> dict[str, Any]:
    end = time.monotonic() + SEEN_S
    told: dict[str, Any] = {}
    while time.monotonic() < end:
        told = json.loads(phone.ask("GET", "/api/state")[1])["camera"]
        if holds(told):
            return told
        time.sleep(LOOK_S)
    raise CameraIsWrongError(f"The camera {what}: {json.dumps(told)[:400]}")
