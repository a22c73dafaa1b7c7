"""Which count is drilled next: where a person is weakest, without ever becoming sure of it.

Thompson sampling (Thompson 1933): for each count there is a belief about how much the person misses there, a Beta
distribution over the loss of an answer (0 for a right one, 1 for one that is three or more off). One loss is drawn
from each belief, and the count with the largest is drilled. A count that was hardly tried has a broad belief and is
drawn often; one that is mastered sinks; and old answers fade, so that what was learnt is believed. One shake in five
is drawn from all counts alike: nobody can reckon with a weakness alone, and no count is ever forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random

from companion.ports import COUNTS

FADES_AFTER = 60
"""An answer that lies so many answers back weighs half."""
FAR = 3
"""Who is so many beads off, or more, missed altogether."""
ALIKE = 0.2
"""The share of shakes that are drawn from all counts alike."""

Tried = tuple[int, int]
"""How many beads there were, and what the person said."""


def beliefs(tried: Sequence[Tried]) -> dict[int, tuple[float, float]]:
    """Return for each count the two parameters of the belief about its loss; ``tried`` is in order, oldest first.

    >>> beliefs([(4, 4), (9, 6)])[4] < beliefs([(4, 4), (9, 6)])[9]
    True
    """
    found = dict.fromkeys(COUNTS, (1.0, 1.0))
    for age, (truth, guess) in enumerate(reversed(tried)):
        weight = 0.5 ** (age / FADES_AFTER)
        loss = min(abs(guess - truth), FAR) / FAR
        missed, met = found[truth]
        found[truth] = (missed + weight * loss, met + weight * (1.0 - loss))
    return found


def choose(tried: Sequence[Tried], rng: Random) -> int:
    """Return the count of the next shake."""
    if rng.random() < ALIKE:
        return rng.choice(COUNTS)
    drawn = {count: rng.betavariate(missed, met) for count, (missed, met) in beliefs(tried).items()}
    return max(drawn, key=drawn.__getitem__)


def weakest(tried: Sequence[Tried], most: int = 3, least: int = 5) -> list[int]:
    """Return up to ``most`` counts with the largest expected loss, of those that were tried ``least`` times."""
    often = _often(truth for truth, _ in tried)
    expected = {
        count: missed / (missed + met)
        for count, (missed, met) in beliefs(tried).items()
        if often.get(count, 0) >= least
    }
    return sorted(expected, key=lambda count: (-expected[count], count))[:most]


def _often(counts: Iterable[int]) -> dict[int, int]:
    found: dict[int, int] = {}
    for count in counts:
        found[count] = found.get(count, 0) + 1
    return found
