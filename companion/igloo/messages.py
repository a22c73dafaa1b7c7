"""The sentences an igloo's status can carry: few and constant, so that the page can translate them by their text."""

from __future__ import annotations

MISSING = "The igloo is not plugged in."
LISTENING = "Listening for an igloo."
NOTHING_ARRIVES = "The port is open, but nothing arrives."
NOISE = "What arrives at this port cannot be read; check the cable and the wiring."
NO_SAMPLES = "The igloo answers, but sends no samples."
NOT_AN_IGLOO = "A device is talking on this port, but not the way an igloo does."
NO_PERMISSION = "This port may not be opened by this user; joining the group dialout helps."
BUSY = "Another program holds this port."
CANNOT_OPEN = "This port cannot be opened."
NOT_A_PORT = "This is not a serial port."
OTHER_KIND = "Another kind of device is now at this port."
OTHER_UNIT = "Another igloo is now at this port."
SAME_UNIT = "Two igloos say that they are the same unit."
NO_HELLO = "The igloo has not said yet what it is."
BAD_SCALE = "The igloo reports a scale that no sensor has."
NO_SENSOR = "The board answers, but finds no sensor; check the wiring."
NOT_SET_UP = "The sensor does not keep its settings; check the wiring."
SENSOR_LOST = "The sensor was lost; check the wiring."
NO_CLOCK = "The igloo’s clock makes no sense, so its samples are not used."
TOO_SLOW = "The samples come too slowly to count beads: motion only."
UNIT_UNKNOWN = "Hold the igloo still for a second, so that the unit of its numbers can be found."
NOT_ACCELERATION = "The device prints three numbers a line, but they are not accelerations in g or m/s²."
ENDED = "The recording has ended."

NOTES: tuple[str, ...] = tuple(
    value for name, value in sorted(globals().items()) if name.isupper() and isinstance(value, str)
)
"""All of them, for the test that asks whether every one is translated."""
