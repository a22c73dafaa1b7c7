"""Wait until something has come about: where nothing tells of it, it is looked at again and again.

Where an event tells of it (a line, an :class:`threading.Event`, a response, the page's own drawing) that is waited for.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

PATIENCE_S: Final = 60.0
"""So much longer than anything takes that only what never comes takes so long, however busy the machine is."""
LESSON_S: Final = 240.0
"""As much longer than a table's lesson takes; a test's own limit is a little more."""
EVERY_S: Final = 0.01

T = TypeVar("T")


def wait(found: Callable[[], T], seconds: float = PATIENCE_S, *, seen: Callable[[], object] | None = None) -> T:
    """Return the first answer of ``found`` that is true.

    ``seen`` tells what there is instead, where nothing comes; without it that is the last answer.
    """
    end = time.monotonic() + seconds
    while not (answer := found()):
        # What came while this thread was kept from looking has come.
        assert time.monotonic() < end or found(), (
            f"nothing came within {seconds} s; seen last: {seen() if seen is not None else answer!r}"
        )
        time.sleep(EVERY_S)
    return answer
