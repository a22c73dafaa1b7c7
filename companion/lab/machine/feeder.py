"""Runs inside: feeds pictures into a loopback camera, as a USB camera would send them, until it is ended.

    feeder.py DEVICE MJPG|YUYV WIDTH HEIGHT PICTURE…

Needs the companion's environment, which has OpenCV. Pictures are shown in turn, each of them a JPEG
of this size.
"""

from __future__ import annotations

import fcntl
import itertools
import os
import struct
import sys
import time
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

PER_S = 5.0
# linux/videodev2.h: VIDIOC_S_FMT, and a struct v4l2_format that holds a v4l2_pix_format
SET_FORMAT = 0xC0D05605
FORMAT = struct.Struct("I4x12I152x")
OUTPUT, NO_FIELD, SRGB = 2, 1, 8


def yuyv(image: NDArray[Any]) -> bytes:
    """Return a BGR picture, an even number of columns wide, as YUYV."""
    yuv = cv2.cvtColor(image, cv2.COLOR_BGR2YUV)
    told = np.empty((*image.shape[:2], 2), np.uint8)
    told[..., 0] = yuv[..., 0]
    told[:, 0::2, 1] = yuv[:, 0::2, 1]
    told[:, 1::2, 1] = yuv[:, 0::2, 2]
    return told.tobytes()


def main() -> None:
    """Feed for ever."""
    device, kind, width, height, *places = sys.argv[1:]
    size = int(width), int(height)
    frames = [Path(place).read_bytes() for place in places]
    if kind == "YUYV":
        frames = [yuyv(np.asarray(cv2.imdecode(np.frombuffer(one, np.uint8), cv2.IMREAD_COLOR))) for one in frames]
    most = 2 * size[0] * size[1]
    (fourcc,) = struct.unpack("<I", kind.encode("ascii"))
    line = 2 * size[0] if kind == "YUYV" else 0
    port = os.open(device, os.O_RDWR)
    fcntl.ioctl(port, SET_FORMAT, FORMAT.pack(OUTPUT, *size, fourcc, NO_FIELD, line, most, SRGB, 0, 0, 0, 0, 0))
    for frame in itertools.cycle(frames):
        os.write(port, frame)
        time.sleep(1 / PER_S)


if __name__ == "__main__":
    main()
