"""Who asks, and what they are told: the values at the door of a night."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from companion.ports import DeviceKind
from companion.rules.core import Ruling
from companion.rules.i18n import Words


class Role(StrEnum):
    """What somebody at the table may do; see :mod:`companion.access.store`."""

    HOST = "host"
    PLAYER = "player"
    SPECTATOR = "spectator"


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts: a role, and a public id that tells one phone from another (never the session's secret).

    ``colour`` is set where a session is bound to a player. ``device`` is set where a device acts by itself: the
    journal keeps its ``id`` instead of a role, and what kind of device it was.
    """

    role: Role
    id: str
    colour: str | None = None
    device: DeviceKind | None = None


TABLE = Actor(Role.HOST, "table")
"""The companion itself, for commands that no phone sent (the command line, a button on the table)."""

CAMERA = "camera"
"""The id of the camera that follows a game: anybody who plays may take back what it entered last."""


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What became of a command.

    ``seq`` is the journal's last number after it, ``state`` the state number that the next command should carry.
    ``ruling`` is the referee's where the rules spoke. ``problem`` is None when ``ok``, else one of ``stale``,
    ``refused`` (by the rules, with a ruling), ``forbidden`` (the role may not), ``agreement`` (the table must
    agree first), ``paused``, ``no-match``, ``bad-input``, ``storage`` (nothing could be written: nothing was done).
    """

    ok: bool
    seq: int
    state: int
    message: Words
    ruling: Ruling | None = None
    problem: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the answer as the page and the API give it."""
        return {
            "ok": self.ok,
            "seq": self.seq,
            "state": self.state,
            "problem": self.problem,
            "message": self.message.to_json(),
            "ruling": self.ruling.to_json() if self.ruling is not None else None,
        }
