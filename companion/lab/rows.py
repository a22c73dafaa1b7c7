"""One line of a table of measurements: what every bench yields and ``companion bench`` prints."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]
"""One line of a table: ``what``, ``value``, ``unit``, and where they apply ``aim`` and ``note``."""


def row(what: str, value: object, unit: str = "", aim: str = "", note: str = "") -> Row:
    """Return one line of a table."""
    return {"what": what, "value": value, "unit": unit, "aim": aim, "note": note}


def percentile(values: list[float], share: float) -> float:
    """Return the value that ``share`` of ``values`` do not exceed."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]
