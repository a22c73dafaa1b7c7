"""A vote of the table on a silent rulebook: every player on a phone of their own, one open at a time.

It closes when as many have voted as play, or when the host closes it. The value with the most votes is kept for the
house; where the most is shared the host decides between those, or what was valid stays. What came of it is noted.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NotRequired, TypedDict, cast

from companion.night.commands.votes import Votes, known_value
from companion.night.log.data_folder import read_small, write_small
from companion.rules.core import JSON

MOST_BYTES = 256 * 1024
KEPT = 100
"""So many votes are noted."""

log = logging.getLogger(__name__)


class BallotError(ValueError):
    """What was asked of a vote cannot be; ``code`` names the reason: ``open``, ``none``, ``tied``, ``no-value``."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class Cast:
    """Somebody's vote; ``seat`` is the colour that the phone plays, None without one."""

    value: JSON
    seat: str | None = None


@dataclass(slots=True)
class _Open:
    option: str
    of: int | None
    votes: dict[str, Cast] = field(default_factory=dict)
    tied: list[JSON] = field(default_factory=list)

    def tally(self) -> list[tuple[JSON, int]]:
        """Return each value that has votes with their number, the most first."""
        found: list[tuple[JSON, int]] = []
        for one in self.votes.values():
            at = next((i for i, (value, _) in enumerate(found) if _same(value, one.value)), None)
            if at is None:
                found.append((one.value, 1))
            else:
                found[at] = (one.value, found[at][1] + 1)
        return sorted(found, key=lambda pair: -pair[1])


class ClosedBallot(TypedDict):
    """What came of a vote, by ``votes``, ``host`` or ``default``; ``votes`` are pairs of a value and how many."""

    option: str
    value: JSON
    how: str
    votes: list[list[JSON]]
    at: int


class OpenBallot(TypedDict):
    """The open vote: how many have voted, of how many who may, and what is level; ``last`` is what came of the last."""

    option: str | None
    last: ClosedBallot | None
    votes: NotRequired[int]
    of: NotRequired[int | None]
    tied: NotRequired[list[JSON]]


class Ballots:
    """The votes of one data folder: the open one, and what came of the last. Every method may be called at once.

    :raises OSError: from every method that changes something, when the disk refuses; nothing was changed then.
    """

    def __init__(self, path: Path | None, votes: Votes) -> None:
        self._path, self._votes = path, votes
        self._lock = threading.Lock()
        self._open, self._done = self._read()

    def form(self) -> OpenBallot:
        """Return what everybody may know: no option, or option, number of votes, of how many, and ties.

        How many voted for what is told when the vote is closed; ``last`` is the newest that was.
        """
        with self._lock:
            last = self._done[-1] if self._done else None
            if self._open is None:
                return {"option": None, "last": last}
            one = self._open
            return {"option": one.option, "votes": len(one.votes), "of": one.of, "tied": list(one.tied), "last": last}

    def mine(self, voter: str) -> JSON:
        """Return what somebody has voted for in the open vote, None for nothing."""
        with self._lock:
            found = self._open.votes.get(voter) if self._open is not None else None
            return None if found is None else found.value

    def log(self, option: str) -> list[ClosedBallot]:
        """Return what came of the votes on an option, oldest first."""
        with self._lock:
            return [one for one in self._done if one["option"] == option]

    def call(self, option: str, of: int | None) -> None:
        """Open a vote on an option; ``of`` is how many play, None where nobody knows.

        :raises BallotError: ``open`` while another is; ``no-value`` where there is no such option.
        """
        with self._lock:
            if self._open is not None:
                if self._open.option == option:
                    return
                raise BallotError("open")
            if not known_value(option, None):
                raise BallotError("no-value")
            self._keep(_Open(option, of if of is None or of > 0 else None), self._done)

    def cast(self, option: str, voter: str, value: JSON, *, seat: str | None, at: int) -> None:
        """Take a vote, or another one instead of it; a seat at the table has one, from whatever phone.

        :raises BallotError: ``none`` (that vote is not open), ``tied`` (it is over), ``no-value``.
        """
        with self._lock:
            one = self._of(option)
            if one.tied:
                raise BallotError("tied")
            if not known_value(option, value):
                raise BallotError("no-value")
            votes = {who: cast for who, cast in one.votes.items() if seat is None or cast.seat != seat}
            after = _Open(option, one.of, {**votes, voter: Cast(value, seat)})
            if after.of is not None and len(after.votes) >= after.of:
                self._count(after, at)
            else:
                self._keep(after, self._done)

    def close(self, option: str, at: int) -> None:
        """Count the votes now; one without any is forgotten."""
        with self._lock:
            one = self._of(option)
            if one.tied:
                raise BallotError("tied")
            self._count(one, at)

    def decide(self, option: str, value: JSON, at: int) -> None:
        """Settle a tie: with one of the values that share the most, or with None: what was valid stays.

        :raises BallotError: ``none`` where that vote is no tie, ``no-value`` for a value that does not share it.
        """
        with self._lock:
            one = self._of(option)
            if not one.tied:
                raise BallotError("none")
            if value is None:
                self._keep(None, [*self._done, self._note(one, None, "default", at)])
            elif any(_same(value, tied) for tied in one.tied):
                self._settle(one, value, "host", at)
            else:
                raise BallotError("no-value")

    def _of(self, option: str) -> _Open:
        if self._open is None or self._open.option != option:
            raise BallotError("none")
        return self._open

    def _count(self, one: _Open, at: int) -> None:
        tally = one.tally()
        most = [value for value, votes in tally if votes == tally[0][1]]
        if not most:
            self._keep(None, self._done)
        elif len(most) > 1:
            self._keep(_Open(one.option, one.of, one.votes, most), self._done)
        else:
            self._settle(one, most[0], "votes", at)

    def _settle(self, one: _Open, value: JSON, how: str, at: int) -> None:
        self._votes.vote(one.option, value)
        self._keep(None, [*self._done, self._note(one, value, how, at)])

    @staticmethod
    def _note(one: _Open, value: JSON, how: str, at: int) -> ClosedBallot:
        tally = [[voted, votes] for voted, votes in one.tally()]
        return {"option": one.option, "value": value, "how": how, "votes": tally, "at": at}

    def _keep(self, now: _Open | None, done: list[ClosedBallot]) -> None:
        done = done[-KEPT:]
        if self._path is not None:
            form = None
            if now is not None:
                votes = {who: [cast.value, cast.seat] for who, cast in now.votes.items()}
                form = {"option": now.option, "of": now.of, "votes": votes, "tied": now.tied}
            write_small(self._path, json.dumps({"open": form, "done": done}))
        self._open, self._done = now, done

    def _read(self) -> tuple[_Open | None, list[ClosedBallot]]:
        """Return what was kept; of what cannot be read nothing is left, and that is said."""
        if self._path is None or not self._path.exists():
            return None, []
        try:
            if self._path.stat().st_size > MOST_BYTES:
                raise ValueError("too large")
            stored = json.loads(read_small(self._path))
            done: list[ClosedBallot] = [
                cast("ClosedBallot", dict(one)) for one in stored["done"] if known_value(one["option"], None)
            ]
            return _opened(stored["open"]), done
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            log.error("The votes of the table could not be read: %s", error)
            return None, []


def _opened(stored: Mapping[str, Any] | None) -> _Open | None:
    if stored is None or not known_value(stored["option"], None):
        return None
    option = stored["option"]
    votes = {who: Cast(value, seat) for who, (value, seat) in stored["votes"].items() if known_value(option, value)}
    return _Open(option, stored["of"], votes, [one for one in stored["tied"] if known_value(option, one)])


def _same(one: JSON, other: JSON) -> bool:
    return one == other and type(one) is type(other)
