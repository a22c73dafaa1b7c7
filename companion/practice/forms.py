"""The JSON of the training room, as its page gets it."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class ScoreForm(TypedDict):
    """How answers were: shares (``exact``, ``near``: one beside at most) and beads; null where there are none."""

    answers: int | None
    exact: float | None
    near: float | None
    error: float | None
    bias: float | None
    spread: float | None


class CountScores(TypedDict):
    """The scores of one count."""

    count: int
    own: ScoreForm
    machine: ScoreForm
    published: ScoreForm


class OverallScores(TypedDict):
    """The scores of all counts, each weighing alike."""

    own: ScoreForm
    machine: ScoreForm
    published: ScoreForm


class WeekScore(ScoreForm):
    """The score of a week, which is named by its Monday."""

    week: str


class AnswerFigures(TypedDict):
    """All figures of some answers; ``confusion[i][j]`` is how often i + 2 beads were called j + 2."""

    counts: list[CountScores]
    overall: OverallScores
    weber: float | None
    confusion: list[list[int]]
    weeks: list[WeekScore]


class PersonFigures(AnswerFigures):
    """A person's progress, and the counts to be drilled."""

    person: int
    name: str | None
    weakest: list[int]


class LadderRow(ScoreForm):
    """A row of the ladder: ``who`` is ``person``, ``machine``, ``published`` or ``chance``; ``standing`` in beads."""

    who: str
    standing: float
    person: NotRequired[int]
    name: NotRequired[str]


class RoundResult(TypedDict):
    """What a shake was: guesses and points by person, the machine's posterior, the drawing."""

    truth: int
    guesses: dict[str, int]
    points: dict[str, int]
    machine: list[float] | None
    wave: str


class RoundForm(TypedDict):
    """What may be known of a shake; ``result`` only when it was answered."""

    id: str
    number: int
    kind: str
    source: str
    person: int | None
    duel: str | None
    shown: bool
    answered: list[int]
    state: str
    sound: bool
    result: NotRequired[RoundResult]


class PastShake(TypedDict):
    """A shake that was answered; ``sound``: whether it can be heard again."""

    id: str
    truth: int | None
    guess: int
    kind: str
    sound: bool


class PastShakes(TypedDict):
    """Shakes that were answered; ``kept``: so many of the igloo are; ``more``: the number to go on from, or null."""

    shakes: list[PastShake]
    kept: int
    more: int | None


class OpenDuel(TypedDict):
    """A duel that a phone can join."""

    id: str
    people: list[str | None]


class DuellistForm(TypedDict):
    """Somebody in a duel."""

    person: int
    name: str | None
    points: int


class DuelForm(TypedDict):
    """A duel: points of the rounds that are out, and the present one."""

    id: str
    rounds: int
    people: list[DuellistForm]
    round: RoundForm
    over: bool
    winners: list[int]


class BundleStatus(TypedDict):
    """How far the shakes to be taken along are."""

    ready: bool
    made: int
    of: int
    failed: bool


class BroughtHome(TypedDict):
    """How many answers were new, and how many were here before."""

    new: int
    known: int
