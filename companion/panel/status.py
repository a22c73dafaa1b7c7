"""How the panel is doing, as a value; light, so that a house without a panel never loads the pins' library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from companion.ports import DeviceError, DeviceKind, DeviceState


@dataclass(frozen=True, slots=True)
class PanelStatus:
    """How the panel is doing; ``note`` is one constant sentence (English), ``detail`` the system's own words."""

    kind: DeviceKind
    state: DeviceState
    pins: Mapping[str, int]
    note: str = ""
    detail: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the form of the API."""
        return {
            "kind": str(self.kind),
            "state": str(self.state),
            "pins": dict(self.pins),
            "note": self.note,
            "detail": self.detail,
        }


class PanelError(DeviceError):
    """The panel cannot be used; ``note`` says why."""

    def __init__(self, note: str, detail: str = "") -> None:
        super().__init__(note)
        self.note = note
        self.detail = detail
