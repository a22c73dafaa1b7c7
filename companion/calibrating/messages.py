"""The sentences of calibrating that a page shows: constants, so that they can be translated by their text."""

from __future__ import annotations

NOT_CALIBRATED = "This igloo has no calibration."
NOTHING_TO_UNDO = "There is no calibration to take back."
TOO_MANY_SHAKES = "Too many shakes are kept here already; forget some first."
NO_IGLOO = "No igloo with a sensor is connected."
NOT_THIS_RATE = "This igloo’s sensor is too slow for counting beads: motion only."
BUSY = "Somebody is measuring an igloo already; end that first."
NOTHING_MEASURED = "Nothing is being measured now."
NO_MORE_TO_TAKE_BACK = "There is no shake from this sitting to take back."
TOO_FEW = "There are too few shakes yet, or they do not fit their numbers."
NEVER_IN_BOUNDS = "The motion did not keep to the beat long enough to be counted."
NO_SIMULATED_IGLOO = "There is no simulated igloo."
NO_BALANCE = "The balance is not there: plug it in, and say in the workshop which device it is."
BALANCE_BUSY = "The balance is weighing; wait a moment."
NOT_CALIBRATED_BALANCE = "The balance has not been calibrated yet."
NO_BOX = "No box is being checked now."
