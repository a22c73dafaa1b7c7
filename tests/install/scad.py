"""The numbers of a model for OpenSCAD, read without it."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

MODELS = Path(__file__).parents[2] / "docs" / "hardware"


def numbers(name: str, **changed: Any) -> dict[str, Any]:
    """The model's numbers, some of them changed: its assignments are also expressions of Python."""
    known: dict[str, Any] = {
        "max": max, "min": min, "abs": abs, "sqrt": math.sqrt, "norm": lambda point: math.hypot(*point)
    }  # fmt: skip
    found = re.findall(r"^(\w+) = ([^;]+);", (MODELS / name).read_text(encoding="utf-8"), re.MULTILINE)
    for one, text in found:
        known[one] = changed[one] if one in changed else eval(text, {"__builtins__": {}}, known)  # noqa: S307
    assert set(changed) <= {one for one, _ in found}
    return known
