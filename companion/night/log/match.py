"""A match of the night: who plays, what was entered, where it stands, how it ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from companion.night.answers import CAMERA
from companion.night.games import GameView, Sensor
from companion.night.log.journal import Entry
from companion.night.messages import Words
from companion.rules.core import Game, PlayerScore, Ruling, ScoreLine, ScoreSheet, State
from companion.rules.set_position import SetPosition

CORRECTION = "night.correction"
"""The key of the line in a score sheet that a correction makes."""


@dataclass(frozen=True, slots=True)
class Seat:
    """A player of a match: the person's id (None: nobody gave a name), the name now, the colour."""

    person: str | None
    name: str
    colour: str


@dataclass(frozen=True, slots=True)
class AppliedMove:
    """A move in force, or a position that was set: its entry, who entered it, whether the companion drew it."""

    move: Any
    seq: int
    by: str
    drawn: bool
    sensor: Sensor | None = None


@dataclass(frozen=True, slots=True)
class TakenBack:
    """What people took back by entry ``seq``: those of ``moves`` after the first ``kept``, which led to ``states``."""

    seq: int
    moves: tuple[Any, ...]
    kept: int
    states: tuple[State[Any], ...]


@dataclass(frozen=True, slots=True)
class CalledFault:
    """A breach that somebody called or a device felt (``kind``, ``motion``)."""

    seq: int
    clause: str
    round: int | None
    colour: str | None
    note: str
    kind: str | None
    motion: str | None
    place: str | None
    words: Words
    dismissed: bool = False


@dataclass(frozen=True, slots=True)
class Ended:
    """An end that the table made, by entry ``seq`` of ``by``: early (no ``state``), or by a score sheet.

    ``state`` is what the sheet says; ``alone`` whether nothing of the game was entered before it.
    """

    seq: int
    at: int
    by: str
    state: State[Any] | None = None
    alone: bool = False


@dataclass(slots=True)
class LogLine:
    """A line of the night's log; its words are made when first read."""

    entry: Entry
    state_no: int
    make: Callable[[], Words]
    ruling: Callable[[], Ruling | None]
    undone: bool = False
    _words: Words | None = None

    @property
    def words(self) -> Words:
        """Return what happened."""
        if self._words is None:
            self._words = self.make()
        return self._words


@dataclass(slots=True)
class Match:
    """A game from its opening on. While it is open, ``states[n]`` is the state after n steps."""

    id: str
    game: Game[Any]
    view: GameView
    seats: tuple[Seat, ...]
    header: Mapping[str, Any]
    opened: int
    states: list[State[Any]]
    steps: list[AppliedMove] = field(default_factory=list)
    corrections: list[tuple[int, str, int, str]] = field(default_factory=list)
    faults: dict[int, CalledFault] = field(default_factory=dict)
    evidence: list[dict[str, Any]] = field(default_factory=list)
    disputes: list[tuple[tuple[object, ...], Words]] = field(default_factory=list)
    """What the table took back together, set, corrected or reported: what it was about, and the sentence for it."""
    taken_back: list[TakenBack] = field(default_factory=list)
    closed: int | None = None
    broken: int | None = None
    ended: Ended | None = None
    minutes: int = 0
    """How many minutes a turn is meant to take; 0: there is no clock."""
    turn: tuple[int, int] = -1, 0
    """Who was last to move, a seat, and since when, in UTC milliseconds; while the night is paused no time passes."""

    @property
    def state(self) -> State[Any]:
        """Return the state as it stands: what a score sheet says, or else what was entered."""
        if self.ended is not None and self.ended.state is not None:
            return self.ended.state
        return self.states[-1]

    @property
    def ending(self) -> str | None:
        """Return what ended it: ``sheet``, ``rules``, ``early`` (the table, before its end); None while it goes on."""
        if self.ended is not None and self.ended.state is not None:
            return "sheet"
        if self.state.outcome() is not None:
            return "rules"
        return "early" if self.ended is not None or self.closed is not None else None

    @property
    def over(self) -> bool:
        """Return whether it counts: the rules have ended it, or a score sheet told its end."""
        return self.ending in {"rules", "sheet"}

    @property
    def draw(self) -> bool:
        """Return whether the companion draws the cards."""
        return bool(self.header["draw"])

    @property
    def colours(self) -> tuple[str, ...]:
        """Return the colours in seat order."""
        return tuple(seat.colour for seat in self.seats)

    @property
    def round(self) -> int | None:
        """Return the round."""
        return self.view.round(self.state)

    def sensors(self) -> list[Sensor]:
        """Return the placements of this round that wear a sensor."""
        now = self.round
        return [s.sensor for s in self.steps if s.sensor is not None and s.sensor.round == now]

    def score(self) -> ScoreSheet:
        """Return the score sheet with the corrections that the table agreed on."""
        sheet = self.view.seen(self.state).score()
        if not self.corrections:
            return sheet
        lines: dict[int, list[ScoreLine]] = {}
        for seq, colour, points, reason in self.corrections:
            line = ScoreLine(CORRECTION, points, (), {"seq": seq, "reason": reason})
            lines.setdefault(self.colours.index(colour), []).append(line)
        return ScoreSheet(
            tuple(PlayerScore(s.player, (*s.lines, *lines.get(s.player, ())), s.tie_break) for s in sheet.sheets),
            sheet.places,
        )

    def scores(self) -> dict[str, int]:
        """Return the points of each colour."""
        return {self.colours[sheet.player]: sheet.total for sheet in self.score().sheets}

    def winners(self) -> list[str]:
        """Return the colours in the first place."""
        ranking = self.score().ranking
        return [self.colours[player] for player in ranking[0]] if ranking else []


def end_is_free(match: Match, who: str | None = None) -> bool:
    """Return whether the end that the table made may be taken back without agreement.

    It must be an early one, made by ``who`` (None: anybody), and no count may have come to light by it: the end of a
    game opens what a round keeps hidden.
    """
    ended = match.ended
    if ended is None or ended.state is not None or match.view.hidden(match.state):
        return False
    return who is None or ended.by == who


def way_back(match: Match) -> int:
    """Return how many steps stay when what was done last is taken back; there is at least one step.

    That is the last entry. Cards that were drawn behind the last number of a check, by the same hand, go with that
    number: the page draws them by itself, and who mistyped wants to be back at the number.
    """
    steps = match.steps
    keep = next(n for n, step in enumerate(steps) if step.seq == steps[-1].seq)
    if keep == 0 or not steps[-1].drawn:
        return keep
    before = steps[keep - 1]
    if before.drawn or before.by != steps[-1].by or not match.view.revealing(before.move):
        return keep
    return next(n for n, step in enumerate(steps) if step.seq == before.seq)


def undo_is_free(match: Match, keep: int, who: str | None = None) -> bool:
    """Return whether the steps after ``keep`` may go without agreement.

    They must be (of) the last entry, made by ``who`` (None: anybody), and neither reveal nor draw anything, nor be a
    position that the table agreed on. Nor may they begin or end a live round: who could step out of one and in again
    alone could hear a count in between. A round that was ended and of which nothing was turned over is such a one no
    more: counts stayed hidden throughout. What the camera entered by itself goes with a tap: it revealed nothing that
    did not lie there for all to see.
    """
    steps = match.steps
    last = steps[-1]
    if any(isinstance(step.move, SetPosition) for step in steps[keep:]):
        return False
    between = match.states[keep:]
    round_stands = len({match.view.live(state) for state in between}) == 1 or all(map(match.view.hidden, between))
    if last.by == CAMERA:
        return round_stands and all(step.seq == last.seq for step in steps[keep:])
    return round_stands and all(
        step.seq == last.seq
        and (who is None or step.by == who)
        and not step.drawn
        and not match.view.revealing(step.move)
        for step in steps[keep:]
    )
