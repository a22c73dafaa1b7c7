"""One finding: what was looked at, how it stands, in every language, and the cure in one line where one is needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from companion.doctor.messages import CURES, SENTENCES
from companion.night.messages import Words


class FindingState(StrEnum):
    """How something stands."""

    GOOD = "good"
    NOTE = "note"
    """Worth knowing; nothing is wrong (nothing is plugged in, say)."""
    WARNING = "warning"
    """It works now, and may not tomorrow."""
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor's report. ``facts`` are values for programs, with units in their names."""

    check: str
    state: FindingState
    words: Words
    cure: Words | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the form of ``companion doctor --json``: one object a line."""
        return {
            "check": self.check,
            "state": str(self.state),
            **self.words.to_json(),
            "cure": self.cure.to_json() if self.cure is not None else None,
            "facts": dict(self.facts),
        }


def found(check: str, state: FindingState, key: str, /, *, cure: str = "", **facts: Any) -> Finding:
    """Return a finding by the keys of its sentence and cure; ``facts`` fill both."""
    return Finding(
        check,
        state,
        SENTENCES[key].filled(facts),
        CURES[cure].filled(facts) if cure else None,
        {name: value for name, value in facts.items() if not isinstance(value, Words)},
    )
