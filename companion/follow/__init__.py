"""The camera at the table: where the board lies, what was taught, the game that is followed, disputes by photo."""

from __future__ import annotations

from typing import Final

TABLES: Final = "tables"
"""What was taught of each game's table, in the data folder."""
