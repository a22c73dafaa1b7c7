"""What may have happened on a board, and what a tracker makes of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from companion.rules.core import Move, State

UNCHANGED, MOVING, HALF, ENTERED, QUESTION, DISAGREEMENT, TAKEBACK = (
    "unchanged",
    "moving",
    "half",
    "entered",
    "question",
    "disagreement",
    "takeback",
)
TURN, CONTINUED, TWO, NONE = "turn", "continued", "two", "none"

CONFIDENT, ENTERS = 0.98, 0.99
"""The probability from which on something is taken for so, and from which on a turn is entered without a question."""
WORTH_ASKING, MAX_CANDIDATES = 0.01, 5
"""Candidates less likely than this among those that are a position are not asked about, and so many at most."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """What may have happened: ``kind`` is a state of an answer, ``turn``, ``continued``, ``two`` or ``none``.

    ``moves`` and ``state`` are of the turn; ``back`` counts the confirmed positions that are taken back first.
    ``same``: other turns that leave the same on the table; no camera can tell which it was. ``total`` is what counts
    (log-likelihood and prior), ``cost`` the part of it that was so before anything was seen, ``left`` the part for
    what plainly changed and is left as it was. ``fitted``: of "none", what the board that fits best came to.
    ``surely``: so many of the moves are told by the board; what follows, as what a die showed, is one of several things
    that look the same (None: all are told). ``half``: the turn is not over after it.
    """

    kind: str
    p: float
    moves: tuple[Move, ...] = ()
    state: State[Any] | None = None
    back: int = 0
    same: tuple[tuple[Move, ...], ...] = ()
    total: float = 0.0
    cost: float = 0.0
    left: float = 0.0
    fitted: float = 0.0
    surely: int | None = None
    half: bool = False

    @property
    def told(self) -> tuple[Move, ...]:
        """Return the moves that the board tells: what is entered, and said to people."""
        return self.moves[: self.surely]

    @property
    def ends_as_told(self) -> bool:
        """Return whether the board tells all of its moves."""
        return self.told == self.moves

    def to_json(self) -> dict[str, Any]:
        """Return the documented form of a candidate."""
        return {
            "kind": self.kind,
            "turn": [str(move) for move in self.told],
            "p": round(self.p, 5),
            "back": self.back,
        }


@dataclass(frozen=True, slots=True)
class TrackingResult:
    """What the tracker makes of a look; the fields of ``vision follow --json``.

    ``state``: unchanged, moving, half, entered, question, disagreement or takeback. ``half``: what is seen is surely
    one of the candidates, and all leave the same board; for some of them the turn is not over.
    ``places`` do not fit the best candidate.
    ``back``: confirmed positions that are given up first (a takeback, or a turn that went on). ``unseen``: other turns
    that leave the same on the table.
    """

    state: str
    moves: tuple[Move, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    places: tuple[str, ...] = ()
    back: int = 0
    unseen: tuple[tuple[Move, ...], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the documented form."""
        return {
            "state": self.state,
            "turn": [str(move) for move in self.moves],
            "candidates": [candidate.to_json() for candidate in self.candidates],
            "places": list(self.places),
            "back": self.back,
            "unseen": [[str(move) for move in moves] for moves in self.unseen],
        }


def look_alike(
    candidates: Sequence[Candidate], shown: Callable[[State[Any]], Any] = lambda state: state.position()["places"]
) -> tuple[Candidate, ...]:
    """Return the candidates that leave what the likeliest leaves, by what is ``shown`` of a position (its board).

    None where it is not sure that it was one of these.
    """
    if not candidates or candidates[0].state is None:
        return ()
    seen = shown(candidates[0].state)
    same = tuple(c for c in candidates if c.state is not None and shown(c.state) == seen)
    # Of those that are as likely, the one of fewest steps first.
    same = tuple(sorted(same, key=lambda c: (-round(c.p, 6), sum(str(move) != "end" for move in c.told))))
    # What was too unlikely to be told, or was one too many, says nothing.
    return same if sum(c.p for c in same) >= ENTERS * sum(c.p for c in candidates) else ()
