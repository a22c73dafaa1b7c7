"""How often the camera looks, and how long it waits before it says what it sees."""

from __future__ import annotations

from typing import Final

EVERY_S: Final = 0.2
"""Pictures that are considered: five a second."""
IDLE_S: Final = 1.0
QUIET_S: Final = 2.0
"""So long the record must have stood: who is entering a turn by hand is not interrupted."""
AGAIN_S: Final = 60.0
"""A board that looks the same is read anew so often: a drop of light must not hide a change for ever."""

HAND_S: Final = 8.0
"""Nobody holds a hand still over the board for so long."""
HALF_S: Final = 10.0
"""So long it is waited for the rest of a turn of which half is seen, before it is asked whether that was all."""
COVERED_AGAIN_S: Final = 3.0
LOOKS: Final = 3
"""So many pictures of a board are weighed together before anything is asked."""
