"""A simulated igloo: stored shakes and made-up handling, behind the real protocol and a pseudo-terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Final

BANK: Final = Path(__file__).with_name("bank") / "bank.npz"
"""The stored shakes that it plays, made by ``companion shake simulate --bank``."""
GUIDED: Final = BANK.with_name("guided.npz")
"""Those that follow the beat of the guided count."""
