"""Learn a taught table in a process of its own: some seconds of a core that neither page nor camera waits for.

``python -m vision.read.learn_process LAYOUT PROFILE OUT SIZE NICE SECONDS`` writes the network alone, as ``.npz``: what
is taught meanwhile is not lost by it. :func:`learn_beside` starts it and waits.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Final

import cv2
import numpy as np

from companion.ports import BadDataError
from vision import messages
from vision.board.layout import open_layout
from vision.learn.classifier import network_of
from vision.read.lesson import learn
from vision.read.profile import Profile, load_profile

LEARN_S = 300
"""More of a core's time than any of its processes needs on the slowest machine; then something is wrong."""
WAIT_S = 3600.0
"""So long a lesson is waited for: where others leave it a tenth of a core, it takes ten times its time."""
NICE: Final = 10
"""So far a lesson stands back behind whatever else the machine does: the page, the camera."""


def learn_beside(
    layout_name: str,
    profile: Profile,
    folder: Path,
    *,
    size: float = 1.0,
    nice: int = NICE,
    stop: threading.Event | None = None,
) -> Profile:
    """Return ``profile``, which lies in ``folder``, with a network learnt from its shots in another process.

    ``layout_name``: as :func:`vision.board.layout.open_layout` takes it. ``size``: how many examples, as in ``learn``.
    ``nice``: how far it stands back. The lesson is given up when ``stop`` is set, and when it has had a core for
    :data:`LEARN_S`.

    :raises BadDataError: it could not be learnt, or was given up; one sentence.
    """
    stop = stop or threading.Event()
    with tempfile.TemporaryDirectory(prefix="companion-learn-") as place:
        out = Path(place) / "network.npz"
        # One thread is quicker than several that wait for each other on small matrices.
        environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
        what = [layout_name, str(folder), str(out), str(size), str(nice), str(LEARN_S)]
        command = [sys.executable, "-P", "-m", "vision.read.learn_process", *what]
        try:
            child = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        except OSError as error:
            raise BadDataError(messages.NOT_LEARNT) from error
        with child:
            end = time.monotonic() + WAIT_S
            try:
                while child.poll() is None and not stop.wait(0.05) and time.monotonic() < end:
                    pass
            finally:
                if child.poll() is None:
                    child.terminate()
        if child.returncode or not out.exists():
            raise BadDataError(messages.NOT_LEARNT)
        with np.load(out, allow_pickle=False) as stored:
            network = network_of(stored, profile.layout)
    return profile.learnt(network, profile.shots)


def main(arguments: list[str]) -> None:
    """Learn from the profile and write the network."""
    layout_name, folder, out, size, nice, seconds = arguments
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), resource.getrlimit(resource.RLIMIT_CPU)[1]))
        os.nice(int(nice))
    # Who is told to end leaves nobody behind.
    for ends in (signal.SIGTERM, signal.SIGXCPU):
        signal.signal(ends, lambda *_: sys.exit(1))
    # A process with threads cannot be forked safely; a part is learnt by a fork.
    cv2.setNumThreads(1)
    profile = learn(load_profile(Path(folder), open_layout(layout_name)), size=float(size), fork=True)
    if profile.network is not None:
        np.savez(out, **profile.network.arrays)  # type: ignore[arg-type]


if __name__ == "__main__":
    main(sys.argv[1:])
