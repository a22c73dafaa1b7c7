"""Who may do what: host links, the table's PIN, sessions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from companion.night.answers import Actor, Role
from companion.ports import CompanionError


class TooManyTriesError(CompanionError, PermissionError):
    """Somebody guesses; ``wait_s`` is how long to wait."""

    def __init__(self, wait_s: float) -> None:
        super().__init__("Too many wrong tries; wait a little.")
        self.wait_s = wait_s


@dataclass(frozen=True, slots=True)
class Session:
    """A phone that joined: a public ``id``, its role, the name it gave, the colour it plays (None: any)."""

    id: str
    role: Role
    label: str
    colour: str | None
    created: int

    @property
    def actor(self) -> Actor:
        """Return who acts when this phone does."""
        return Actor(self.role, self.id, self.colour)


class Access:
    """Host tokens (one-time), the PIN (6 digits), sessions. Thread-safe, and several processes may open the file."""

    def __init__(self, path: Path) -> None:
        raise NotImplementedError

    def host_token(self) -> str:
        """Return a fresh one-time host token for a link; only its hash is kept."""
        raise NotImplementedError

    def redeem(self, token: str, client: str, label: str = "") -> tuple[str, Session] | None:
        """Return (secret for the cookie, host session) for a valid token, which is then spent; None for a wrong one.

        :raises TooManyTriesError: after many wrong tries from ``client`` (its address).
        """
        raise NotImplementedError

    @property
    def pin(self) -> str:
        """Return the table's PIN, for the host to show."""
        raise NotImplementedError

    def new_pin(self) -> str:
        """Make and return another PIN; who joined stays."""
        raise NotImplementedError

    def join(self, pin: str, client: str, label: str = "") -> tuple[str, Session] | None:
        """Return (secret for the cookie, player session) for the right PIN, None for a wrong one.

        :raises TooManyTriesError: after many wrong tries from ``client`` (its address).
        """
        raise NotImplementedError

    def session(self, secret: str) -> Session | None:
        """Return the session of a cookie's secret; None when it is unknown or revoked (the phone may watch)."""
        raise NotImplementedError

    def sessions(self) -> list[Session]:
        """Return who may do things, the eldest first."""
        raise NotImplementedError

    def revoke(self, session_id: str) -> bool:
        """End a session; return whether there was one."""
        raise NotImplementedError

    def bind(self, session_id: str, colour: str | None) -> bool:
        """Say which colour a phone plays (None: any); return whether there is such a session."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the file."""
        raise NotImplementedError
