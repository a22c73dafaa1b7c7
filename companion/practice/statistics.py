"""What the answers say: how well a person counts, beside the machine on the same shakes and beside published people.

Over all counts every answer weighs alike: two of ten is 20 %. Drills ask more often where one is weak, so machine and
published people are reckoned over the same shakes; only the ladder's order (:func:`standing`) and :func:`weber` weigh
every count alike.

Published: people who shake a box are right up to about three objects and say too few above (Plaisier & Smeets 2017;
Frissen et al. 2023). A spread of 15 % of the number, rounded to whole beads, is 42 % of exact answers and a mean
error of 0.9 over 2 … 13; :func:`published` is that person.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import cache
from math import erf, sqrt

from companion.ports import COUNTS
from companion.practice.forms import AnswerFigures, LadderRow, ScoreForm

SPREAD = 0.15
"""The spread of published people's answers, as a share of the number."""
TRUST = 2.0
"""On the ladder every count has two answers of the published person beforehand: nobody leads by luck."""


@dataclass(frozen=True, slots=True)
class AnsweredShake:
    """One answered shake. ``at`` is UTC milliseconds; ``machine`` the machine's posterior, empty where it had none."""

    at: int
    person: int
    truth: int
    guess: int
    machine: tuple[float, ...] = ()
    kind: str = "simulated"

    @property
    def machine_guess(self) -> int | None:
        """Return the machine's most likely number."""
        if not self.machine:
            return None
        return COUNTS.start + max(range(len(self.machine)), key=self.machine.__getitem__)


@dataclass(frozen=True, slots=True)
class Score:
    """How answers to one count, or to all, were: shares and beads; all None where there are no answers."""

    answers: int
    exact: float | None = None
    near: float | None = None
    error: float | None = None
    bias: float | None = None
    spread: float | None = None

    def to_json(self) -> ScoreForm:
        """Return the form of the API, rounded."""
        return {
            "answers": self.answers,
            "exact": _rounded(self.exact),
            "near": _rounded(self.near),
            "error": _rounded(self.error),
            "bias": _rounded(self.bias),
            "spread": _rounded(self.spread),
        }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def score(misses: Sequence[int]) -> Score:
    """Return the score of answers that were so many beads too high."""
    n = len(misses)
    if not n:
        return Score(0)
    bias = sum(misses) / n
    return Score(
        n,
        exact=sum(miss == 0 for miss in misses) / n,
        near=sum(abs(miss) <= 1 for miss in misses) / n,
        error=sum(map(abs, misses)) / n,
        bias=bias,
        spread=sqrt(sum((miss - bias) ** 2 for miss in misses) / n),
    )


def overall(scores: Iterable[Score]) -> Score:
    """Return the mean of the scores of the counts that were asked: every answer weighs alike."""
    known = [one for one in scores if one.answers]
    answers = sum(one.answers for one in known)

    def mean(name: str) -> float | None:
        values = [(one.answers, value) for one in known if (value := getattr(one, name)) is not None]
        return sum(weight * value for weight, value in values) / answers if values else None

    return Score(answers, mean("exact"), mean("near"), mean("error"), mean("bias"), mean("spread"))


@cache
def published(count: int) -> Score:
    """Return how the published person answers a count: a normal spread of 15 %, rounded to whole beads, unbiased.

    >>> persons = overall(published(count) for count in COUNTS)
    >>> round(persons.exact, 2), round(persons.error, 1)
    (0.42, 0.9)
    """
    chances = {miss: _within(miss - 0.5, miss + 0.5, SPREAD * count) for miss in range(-count, count + 1)}
    return Score(
        1,
        exact=chances[0],
        near=sum(chances[miss] for miss in (-1, 0, 1)),
        error=sum(abs(miss) * p for miss, p in chances.items()),
        bias=0.0,
        spread=sqrt(sum(miss * miss * p for miss, p in chances.items())),
    )


@cache
def by_chance(count: int) -> Score:
    """Return how somebody answers a count who says any of the numbers 2 … 13, each as often as another.

    >>> chance = overall(by_chance(count) for count in COUNTS)
    >>> round(chance.exact, 3), round(chance.error, 2)
    (0.083, 3.97)
    """
    return replace(score([guess - count for guess in COUNTS]), answers=1)


def _within(low: float, high: float, spread: float) -> float:
    return 0.5 * (erf(high / (spread * sqrt(2.0))) - erf(low / (spread * sqrt(2.0))))


def weber(answers: Iterable[AnsweredShake]) -> float | None:
    """Return the root mean square of the error as a share of the count (published people: 0.15), or None.

    Each count weighs alike.
    """
    by_count: dict[int, list[float]] = {}
    for one in answers:
        by_count.setdefault(one.truth, []).append(((one.guess - one.truth) / one.truth) ** 2)
    if not by_count:
        return None
    return sqrt(sum(sum(values) / len(values) for values in by_count.values()) / len(by_count))


def _scores(answers: Sequence[AnsweredShake], said: Callable[[AnsweredShake], int | None]) -> dict[int, Score]:
    misses: dict[int, list[int]] = {count: [] for count in COUNTS}
    for one in answers:
        guess = said(one)
        if guess is not None:
            misses[one.truth].append(guess - one.truth)
    return {count: score(found) for count, found in misses.items()}


def week_of(at: int) -> date:
    """Return the Monday of the week of a moment (UTC milliseconds), in the time of this house."""
    day = datetime.fromtimestamp(at / 1000.0).date()
    return day - timedelta(days=day.weekday())


def figures(answers: Sequence[AnsweredShake]) -> AnswerFigures:
    """Return all figures of some answers as JSON: by count, over all, by week, and the confusion matrix.

    ``confusion[i][j]`` is how often i + 2 beads were called j + 2.
    """
    own, machine = _scores(answers, lambda one: one.guess), _scores(answers, lambda one: one.machine_guess)
    confusion = [[0] * len(COUNTS) for _ in COUNTS]
    weeks: dict[date, list[AnsweredShake]] = {}
    for one in answers:
        confusion[one.truth - COUNTS.start][one.guess - COUNTS.start] += 1
        weeks.setdefault(week_of(one.at), []).append(one)
    fraction = weber(answers)
    return {
        "counts": [
            {
                "count": count,
                "own": own[count].to_json(),
                "machine": machine[count].to_json(),
                "published": published(count).to_json(),
            }
            for count in COUNTS
        ],
        "overall": {
            "own": overall(own.values()).to_json(),
            "machine": overall(machine.values()).to_json(),
            "published": overall(
                replace(published(count), answers=own[count].answers if answers else 1) for count in COUNTS
            ).to_json(),
        },
        "weber": None if fraction is None else round(fraction, 4),
        "confusion": confusion,
        "weeks": [
            {"week": week.isoformat(), **overall(_scores(found, lambda one: one.guess).values()).to_json()}
            for week, found in sorted(weeks.items())
        ],
    }


def standing(scores: dict[int, Score]) -> float:
    """Return the error that ranks on the ladder: each count's own, with the published person's beforehand."""
    total = 0.0
    for count in COUNTS:
        own, people = scores[count], published(count)
        known = (own.error or 0.0) * own.answers
        total += (known + TRUST * (people.error or 0.0)) / (own.answers + TRUST)
    return total / len(COUNTS)


def ladder(answers: Sequence[AnsweredShake], names: dict[int, str]) -> list[LadderRow]:
    """Return the ladder, best first: people of ``names`` with answers, the machine on all shakes, published, chance.

    ``who`` is ``person``, ``machine``, ``published`` or ``chance``; ``standing`` is a mean error in beads.
    """
    rows: list[LadderRow] = []

    def add(who: str, scores: dict[int, Score]) -> None:
        found = overall(scores.values()).to_json()
        rows.append(
            {
                "who": who,
                "answers": found["answers"],
                "exact": found["exact"],
                "near": found["near"],
                "error": found["error"],
                "bias": found["bias"],
                "spread": found["spread"],
                "standing": round(standing(scores), 4),
            }
        )

    for person, name in names.items():
        own = [one for one in answers if one.person == person]
        if own:
            add("person", _scores(own, lambda one: one.guess))
            rows[-1]["person"], rows[-1]["name"] = person, name
    if any(one.machine for one in answers):
        add("machine", _scores(answers, lambda one: one.machine_guess))
    for who, answered in (("published", published), ("chance", by_chance)):
        add(who, {count: answered(count) for count in COUNTS})
        rows[-1]["answers"] = None
        rows[-1]["standing"] = rows[-1]["error"] or 0.0
    return sorted(rows, key=lambda row: row["standing"])


def points(guess: int, truth: int) -> int:
    """Return the points of an answer in a duel: three for the right number, one for a neighbour."""
    return {0: 3, 1: 1}.get(abs(guess - truth), 0)
