"""How many beads are in a shaken igloo: from acceleration to a distribution over the counts."""

from __future__ import annotations

from pathlib import Path
from typing import Final

MODEL: Final = Path(__file__).with_name("model") / "count.npz"
"""The shipped model, made by ``companion shake train``."""
