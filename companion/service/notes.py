"""The sentences of the service that a page shows: constants, so that they can be translated by their text."""

from __future__ import annotations

NOT_FROM_THE_PAGE = "A camera is usb:0, pi, /dev/video0 or an http address."
NO_SIMULATED_IGLOO = "There is no simulated igloo."
NO_SUCH_COUNT = "An igloo holds 2 to 13 beads."
