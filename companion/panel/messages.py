"""The sentences a panel's status can carry: few and constant, so that the page can translate them by their text."""

from __future__ import annotations

NO_LIBRARY = "The library for the pins is missing; sudo apt install python3-lgpio installs it."
NO_HEADER = "This machine has no pins for buttons and lights."
NO_PERMISSION = "The pins may not be used by this user; joining the group gpio helps."
BUSY = "Another program uses these pins."
CANNOT_OPEN = "The pins cannot be used."
BAD_PINS = "The pins of the panel do not fit; companion doctor says why."

NOTES: tuple[str, ...] = tuple(
    value for name, value in sorted(globals().items()) if name.isupper() and isinstance(value, str)
)
"""All of them, for the test that asks whether every one is translated."""
