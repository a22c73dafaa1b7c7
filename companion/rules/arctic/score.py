"""Arctic's score: runs of a pile with face-down cards assigned at their best, totem, penalties (ARC-V.*)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from companion.rules.arctic.components import ANIMALS, FACE_DOWN, LANDSCAPE, MAIN, RUN_POINTS
from companion.rules.arctic.position import ArcticPosition
from companion.rules.core import PlayerScore, Reason, ScoreLine, ScoreSheet

ANY = -1
"""An animal code for a card lying face down (ARC-V.5)."""
NOTHING = -2
"""The code of a card nobody has shown us: it is in nobody's run."""

LONGEST_COUNTED = 6
"""A longer run makes no more points (ARC-V.1)."""


class Run(NamedTuple):
    """Neighbouring cards of one animal that count: ``begin`` is the lowest, ``end`` the one after the highest."""

    animal: int
    begin: int
    end: int

    @property
    def length(self) -> int:
        """Return how many cards the run has."""
        return self.end - self.begin

    @property
    def points(self) -> int:
        """Return what the run makes (ARC-V.1)."""
        return RUN_POINTS[min(self.length, LONGEST_COUNTED)]


class PileReading(NamedTuple):
    """The best reading of a pile: its points, the counted runs from the bottom up, and every card's animal."""

    points: int
    runs: tuple[Run, ...]
    animals: tuple[int, ...]


def best_reading(kinds: Sequence[int], *, alone: bool = True) -> PileReading:
    """Return the reading of a pile that scores most.

    ``kinds`` are the main animals from bottom to top, ANY for a face-down card, NOTHING for an unknown one.
    ``alone``: whether neighbouring face-down cards may be a run without a face-up card (``arc.facedown_alone``).

    What counts is one stretch of cards an animal at most, and stretches do not overlap, so the best choice is found
    from the top down, over the place in the pile and the animals that are still to be had: 64 numbers a card,
    however many cards lie face down.
    """
    chosen = _best_stretches(kinds, alone=alone) if ANY in kinds else []
    animals = list(kinds)
    for animal, begin, end in chosen:
        animals[begin:end] = [animal] * (end - begin)
    for index, animal in enumerate(animals):
        # A face-down card that no stretch needs goes with its neighbour, where it does no harm.
        if animal == ANY:
            above = next((kind for kind in animals[index:] if kind >= 0), 0)
            animals[index] = animals[index - 1] if index and animals[index - 1] >= 0 else above
    runs = _longest_runs(kinds, animals, alone=alone)
    points = sum(run.points for run in runs) + RUN_POINTS[len(runs)]
    return PileReading(points, runs, tuple(animals))


def _best_stretches(kinds: Sequence[int], *, alone: bool) -> list[Run]:
    """Return the stretches of two to six cards, one an animal, that make most points with the bonus of ARC-V.2."""
    count = len(kinds)
    # best[i][free]: (points, cards used, the stretch that begins at i or None) from card i up with these animals free.
    bonus = [(RUN_POINTS[6 - free.bit_count()], 0, None) for free in range(64)]
    best: list[list[tuple[int, int, Run | None]]] = [[] for _ in range(count)] + [list(bonus)]
    for begin in range(count - 1, -1, -1):
        row: list[tuple[int, int, Run | None]] = [(points, used, None) for points, used, _ in best[begin + 1]]
        for run in _stretches_from(kinds, begin, alone=alone):
            bit, after = 1 << run.animal, best[run.end]
            for free in range(64):
                if free & bit:
                    points, used, _ = after[free ^ bit]
                    here = (points + run.points, used + run.length)
                    if here > row[free][:2]:
                        row[free] = (*here, run)
        best[begin] = row
    chosen: list[Run] = []
    index, free = 0, 63
    while index < count:
        stretch = best[index][free][2]
        if stretch is None:
            index += 1
        else:
            chosen.append(stretch)
            index, free = stretch.end, free ^ 1 << stretch.animal
    return chosen


def _stretches_from(kinds: Sequence[int], begin: int, *, alone: bool) -> list[Run]:
    """Return the stretches of two to six cards that may be a run and begin at one card."""
    found = []
    animal, shown = ANY, False
    for end in range(begin + 1, min(begin + LONGEST_COUNTED, len(kinds)) + 1):
        kind = kinds[end - 1]
        if kind == NOTHING or (kind >= 0 and animal >= 0 and kind != animal):
            break
        if kind >= 0:
            animal, shown = kind, True
        if end - begin >= 2 and (shown or alone):
            found += [Run(one, begin, end) for one in (range(6) if animal == ANY else (animal,))]
    return found


def _longest_runs(kinds: Sequence[int], animals: Sequence[int], *, alone: bool) -> tuple[Run, ...]:
    """Return each animal's longest run in a reading, from the bottom up; of two equal ones the lower."""
    longest: dict[int, Run] = {}
    begin = 0
    for end in range(1, len(animals) + 1):
        if end < len(animals) and animals[end] == animals[begin]:
            continue
        run = Run(animals[begin], begin, end)
        shown = alone or any(kind >= 0 for kind in kinds[begin:end])
        if run.animal >= 0 and run.length >= 2 and shown:
            known = longest.get(run.animal)
            if known is None or run.length > known.length:
                longest[run.animal] = run
        begin = end
    return tuple(sorted(longest.values(), key=lambda run: run.begin))


def kinds_of(pile: Sequence[int]) -> list[int]:
    """Return the main animals of a pile's cards for :func:`best_reading`."""
    return [ANY if card >= FACE_DOWN else MAIN[card] if MAIN[card] >= 0 else NOTHING for card in pile]


def reading_of(s: ArcticPosition, seat: int) -> PileReading:
    """Return the best reading of a seat's pile, as the options of the game have it."""
    return best_reading(kinds_of(s.piles[seat]), alone=bool(s.options["arc.facedown_alone"]))


def sheet(s: ArcticPosition) -> ScoreSheet:
    """Return the score sheets of a position; a tie goes to the first in turn order from the footprint (ARC-V.4)."""
    return ScoreSheet(tuple(_player(s, seat) for seat in range(s.players)))


def _player(s: ArcticPosition, seat: int) -> PlayerScore:
    best = reading_of(s, seat)
    lines = [
        ScoreLine(
            "run",
            run.points,
            ("ARC-V.1",),
            {"animal": ANIMALS[run.animal], "length": run.length, "from": run.begin + 1, "to": run.end},
        )
        for run in best.runs
    ]
    lines.append(ScoreLine("different-runs", RUN_POINTS[len(best.runs)], ("ARC-V.2",), {"runs": len(best.runs)}))
    down = [ANIMALS[best.animals[i]] for i, card in enumerate(s.piles[seat]) if card >= FACE_DOWN]
    if down:
        lines.append(ScoreLine("face-down", 0, ("ARC-V.5",), {"animals": down}))
    totem = s.totems[seat]
    if totem >= 0:
        at = LANDSCAPE[s.tokens[totem]]
        lines.append(ScoreLine("totem", at, ("ARC-V.3",), {"animal": ANIMALS[totem]}))
    else:
        lines.append(ScoreLine("totem-secret", 0, ("ARC-V.3",), {}))
    penalty = len(s.penalties[seat])
    lines.append(ScoreLine("penalties", -penalty, ("ARC-V.3",), {"cards": penalty}))
    # Earlier in turn order is better; without a footprint holder the seats stand in their own order.
    return PlayerScore(seat, tuple(lines), (-((seat - max(s.first, 0)) % s.players),))


def decision(s: ArcticPosition) -> Reason | None:
    """Return what decides between the first and the others: points, or the order of the turn (ARC-V.4)."""
    sheets = sheet(s)
    if s.players < 2:
        return None
    first = sheets.ranking[0][0]
    points = sheets.sheets[first].total
    tied = [player.player for player in sheets.sheets if player.total == points and player.player != first]
    facts = {"who": first, "points": points, "tied": tied}
    return Reason("first-by-order" if tied else "first-by-points", facts)
