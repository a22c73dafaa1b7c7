"""Shake-counting as a game: what is played, what is answered, what the answers say, and who is best at it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

BANK: Final = Path(__file__).with_name("bank")
"""The stored shakes of further igloos, made by ``companion shake simulate --practice``."""
