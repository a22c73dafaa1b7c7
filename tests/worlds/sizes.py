"""How much chance is tried: what `make test` has time for, or the larger sizes of `make test-long`.

Every test that asks is marked ``sized``: it stands in both selections, small in the one and large in the other.
"""

from __future__ import annotations

_large = False


def choose(large: bool) -> None:
    """Take the larger sizes or the usual ones: said once, before the tests are collected."""
    global _large  # noqa: PLW0603
    _large = large


def size(usual: int, long: int) -> int:
    """Return how many random cases a test tries today."""
    return long if _large else usual
