"""How much chance is tried: what `make test` has time for, or the larger sizes of `make bench` (COMPANION_LONG=1)."""

from __future__ import annotations

import os

LONG = bool(os.environ.get("COMPANION_LONG"))


def size(usual: int, long: int) -> int:
    """Return how many random cases a test tries today."""
    return long if LONG else usual
