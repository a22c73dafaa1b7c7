"""Learn a taught table in a process of its own: some seconds of a core that neither page nor camera waits for.

``python -m vision.learner LAYOUT PROFILE OUT SIZE`` writes the network alone, as ``.npz``: what is taught meanwhile
is not lost by it. :func:`learn_beside` starts it and waits.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from companion.ports import BadDataError

from . import notes
from .layout import open_layout
from .learn import ARRAYS, Network, heads_of
from .look import learn
from .profile import Profile, load_profile

LEARN_S = 300.0
"""Longer than the slowest machine takes; then something is wrong."""


def learn_beside(layout_name: str, profile: Profile, folder: Path, *, size: float = 1.0) -> Profile:
    """Return ``profile``, which lies in ``folder``, with a network learnt from its shots in another process.

    ``layout_name``: as :func:`vision.layout.open_layout` takes it. ``size``: how many examples, as in ``learn``.

    :raises BadDataError: it could not be learnt; one sentence.
    """
    with tempfile.TemporaryDirectory(prefix="companion-learn-") as place:
        out = Path(place) / "network.npz"
        # One thread is quicker than several that wait for each other on small matrices.
        environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "vision.learner", layout_name, str(folder), str(out), str(size)]
        try:
            done = subprocess.run(command, env=environment, capture_output=True, timeout=LEARN_S, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise BadDataError(notes.NOT_LEARNT) from error
        if done.returncode or not out.exists():
            raise BadDataError(notes.NOT_LEARNT)
        with np.load(out, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in ARRAYS}
    return replace(profile, network=Network(arrays, heads_of(profile.layout), len(profile.layout.things)))


def main(arguments: list[str]) -> None:
    """Learn from the profile and write the network."""
    layout_name, folder, out, size = arguments
    with contextlib.suppress(OSError):
        os.nice(10)
    profile = learn(load_profile(Path(folder), open_layout(layout_name)), size=float(size))
    if profile.network is not None:
        np.savez(out, **profile.network.arrays)  # type: ignore[arg-type]


if __name__ == "__main__":
    main(sys.argv[1:])
