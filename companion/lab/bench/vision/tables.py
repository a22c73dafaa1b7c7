"""Figures of vision on rendered tables, for ``companion bench vision``: accuracy, speed, and the cost of watching.

The tables come from our renderer (:mod:`companion.lab.worlds.table`), whose truth is known to a hundredth of a pixel.
Light, art, lens and the way the markers lie vary from scene to scene.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from companion.lab.bench.vision.boards import measure_boards
from companion.lab.worlds import table
from companion.lab.worlds.mjpeg import MjpegServer
from vision.board.markers import find_markers, find_table, plane_of
from vision.camera.sources import open_source
from vision.camera.watcher import CameraWatcher

if TYPE_CHECKING:
    from collections.abc import Callable

    from companion.ports import ByteArray

SCENES: Final = 60
FIRST_SEED: Final = 50_000
"""Scenes that no test and no tuning has used."""
GAMES: Final = 6
_WATCH_S: Final = 8.0


def measure(scenes: int = SCENES, watch_s: float = _WATCH_S, games: int = GAMES) -> dict[str, float]:
    """Return the figures by name, units in the names; OpenCV is held to one core meanwhile.

    ``games`` are the rendered games of which boards are read; see :mod:`companion.lab.bench.vision.boards`.
    """
    threads = cv2.getNumThreads()
    cv2.setNumThreads(1)
    try:
        figures = _accuracy(scenes)
        figures |= _speed()
        figures |= _watching(watch_s)
        if games:
            figures |= measure_boards(games)
    finally:
        cv2.setNumThreads(threads)
    return figures


def _inside(corners: Any, camera: Any) -> bool:
    """Return whether a marker and its quiet zone lie inside the frame."""
    rim = float(np.linalg.norm(corners[0] - corners[1])) / 6
    high = np.array([camera.width, camera.height]) - 1 - rim
    return bool((corners >= rim).all() and (corners <= high).all())


def _accuracy(scenes: int) -> dict[str, float]:
    errors: list[float] = []
    shapes: list[float] = []
    whole = seen = 0
    for seed in range(FIRST_SEED, FIRST_SEED + scenes):
        scene, camera, light = table.random_scene(seed)
        picture = table.render(scene, camera, light, seed=seed)
        found = find_markers(picture.image)
        for number, corners in found.corners.items():
            errors += np.linalg.norm(corners - picture.corners[number], axis=1).tolist()
        if not all(_inside(corners, camera) for corners in picture.corners.values()):
            continue
        whole += 1
        plane = plane_of(found, picture.image)
        if isinstance(plane, str):
            continue
        seen += 1
        board = cv2.perspectiveTransform(picture.board[None], plane.to_picture)[0]
        across, down = board[1] - board[0] + board[2] - board[3], board[3] - board[0] + board[2] - board[1]
        aspect = np.linalg.norm(across) / np.linalg.norm(down) * scene.board[1] / scene.board[0]
        shapes.append(abs(float(aspect) - 1))
    return {
        "marker corner error, mean (px)": round(float(np.mean(errors)), 3),
        "marker corner error, 99 % (px)": round(float(np.quantile(errors, 0.99)), 3),
        "marker corner error, max (px)": round(max(errors), 3),
        "marker corners measured": len(errors),
        "tables with all markers in the frame": whole,
        "of these found and straightened (%)": round(100 * seen / max(whole, 1), 2),
        "aspect of the straightened board, mean error (%)": round(100 * float(np.mean(shapes)), 2),
        "aspect of the straightened board, max error (%)": round(100 * max(shapes), 2),
    }


def _milliseconds(work: Callable[[], object], rounds: int = 15) -> float:
    work()
    start = time.thread_time()
    for _ in range(rounds):
        work()
    return round(1000 * (time.thread_time() - start) / rounds, 1)


def _speed() -> dict[str, float]:
    picture = table.standard(seed=1)
    image: ByteArray = picture.image
    return {
        "find markers, 1280×960 (ms, one core)": _milliseconds(lambda: find_markers(image)),
        "find and straighten, 1280×960 (ms, one core)": _milliseconds(lambda: find_table(image)),
    }


def _watching(watch_s: float) -> dict[str, float]:
    """Watch a still table at 5 pictures a second over HTTP; count the watcher thread's own time on a core."""
    pictures = [table.standard(seed=seed).jpeg for seed in range(4)]
    figures: dict[str, float] = {}
    with MjpegServer(pictures, fps=5) as server:
        for name, listener in (("with a listener", lambda look: None), ("without a listener", None)):
            with CameraWatcher(open_source(server.url), on_look=listener) as watcher:
                time.sleep(min(2.5, watch_s))
                thread = next(t for t in threading.enumerate() if t.name == f"camera {watcher.status().source}")
                clock = time.pthread_getcpuclockid(thread.ident or 0)
                start = time.clock_gettime(clock)
                time.sleep(watch_s)
                used = time.clock_gettime(clock) - start
            figures[f"idle watcher {name}, 1280×960 at 5 fps (% of a core)"] = round(100 * used / watch_s, 2)
    return figures
