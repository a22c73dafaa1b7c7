"""A second scorer, written from the rulebook and nothing else: it tries every animal for every face-down card."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import pytest

from companion.rules import game

# Not measured for coverage: that takes three times as long, and the other tests reach nearly every branch.
pytestmark = pytest.mark.no_cover

ANIMALS = ["fox", "moose", "walrus", "orca", "puffin", "bear"]
TABLE = {2: 1, 3: 3, 4: 6, 5: 10}


def worth(number: int) -> int:
    """Read the table of the rulebook."""
    if number < 2:
        return 0
    return TABLE.get(number, 15)


def count(cards: list[str], was_down: list[bool], alone: bool) -> int:
    """Score a pile with every card's animal known: isolate the longest series of each animal."""
    longest = dict.fromkeys(ANIMALS, 0)
    for begin in range(len(cards)):
        for end in range(begin + 1, len(cards) + 1):
            if cards[end - 1] != cards[begin]:
                break
            if cards[begin] in longest and (alone or not all(was_down[begin:end])):
                longest[cards[begin]] = max(longest[cards[begin]], end - begin)
    series = [length for length in longest.values() if length >= 2]
    return sum(worth(length) for length in series) + worth(len(series))


def best(cards: list[str], alone: bool) -> int:
    """Try all animals for all face-down cards (``_``)."""
    down = [card == "_" for card in cards]
    choices: list[list[str]] = [ANIMALS if card == "_" else [card] for card in cards]
    return max(count(list(chosen), down, alone) for chosen in product(*choices))


def random_pile(rng: Random, most_down: int) -> list[str]:
    """Make a pile in which series are as common as at a table; ``?`` is a card nobody has read."""
    kinds = rng.sample(ANIMALS, rng.randint(1, 4))
    cards: list[str] = []
    for _ in range(rng.randint(0, 14)):
        cards.append(cards[-1] if cards and rng.random() < 0.5 else rng.choice(kinds))
    for place in rng.sample(range(len(cards)), min(len(cards), rng.randint(0, most_down))):
        cards[place] = "_"
    if cards and rng.random() < 0.1:
        cards[rng.randrange(len(cards))] = "?"
    return cards


def engine(cards: list[str], alone: bool) -> Any:
    """Return the engine's sheet for a pile."""
    words = {"_": "down:?", "?": "?"}
    pile = [words.get(card, card) for card in cards]
    form = {"game": "arctic", "players": [{"name": "Ann", "pile": pile}], "options": {"arc.facedown_alone": alone}}
    return game("arctic").from_position(form).score().sheets[0]


@pytest.mark.parametrize(("piles", "most_down", "seed"), [(1500, 1, 1), (400, 2, 2), (60, 4, 3)])
@pytest.mark.parametrize("alone", [True, False])
def test_the_engine_scores_piles_as_the_naive_scorer_does(piles: int, most_down: int, seed: int, alone: bool) -> None:
    rng = Random(seed)
    bridged = 0
    for _ in range(piles):
        cards = random_pile(rng, most_down)
        sheet = engine(cards, alone)
        assert sheet.total == best(cards, alone), (cards, alone)
        bridged += any(line.what == "face-down" for line in sheet.lines)
    assert bridged > piles / 4


@pytest.mark.parametrize("alone", [True, False])
def test_the_animals_that_are_shown_make_the_points_that_are_told(alone: bool) -> None:
    rng = Random(7)
    for _ in range(600):
        cards = random_pile(rng, 8)
        sheet = engine(cards, alone)
        shown = [line.facts["animals"] for line in sheet.lines if line.what == "face-down"]
        named = iter(shown[0] if shown else [])
        read = [next(named) if card == "_" else card for card in cards]
        assert sheet.total == count(read, [card == "_" for card in cards], alone)
        for line in sheet.lines:
            if line.what == "run":
                stretch = read[line.facts["from"] - 1 : line.facts["to"]]
                assert stretch == [line.facts["animal"]] * line.facts["length"]
                assert line.points == worth(line.facts["length"])
