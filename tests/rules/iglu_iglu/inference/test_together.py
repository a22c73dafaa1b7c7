"""Tokens that are seen together: which of two values lies there is one doubt, not two."""

from __future__ import annotations

from math import exp, log
from random import Random
from typing import Any

import pytest

from companion.lab.bench.vision.tracker_trials import look, played_games
from companion.rules.iglu_iglu.inference.likelihood import IgluLikelihood
from companion.rules.iglu_iglu.json_form import hidden_from
from companion.rules.inference.belief import Belief, Together
from companion.rules.inference.turns import Evidence, content, turns

# Not measured for coverage: that takes three times as long, and the other tests reach nearly every branch.
pytestmark = pytest.mark.no_cover

FOXES = (("fox", 1), ("fox", 2), ("fox", 3))
FLOOR = log(3e-5)
IGLOO = Together(
    tuple(("igloo", colour) for colour in ("red", "blue", "yellow")),
    {
        (): log(1e-3),
        **{(("igloo", colour, 1),): log(p) for colour, p in (("red", 0.6), ("blue", 0.3), ("yellow", 0.1))},
    },
)


def foxes(**odds: float) -> Together:
    """One fox: ``one=0.7`` its probability of being a 1; what is left is none."""
    numbers = {"one": 1, "two": 2, "three": 3}
    ways: dict[Any, float] = {(("fox", numbers[name], 1),): log(p) for name, p in odds.items()}
    ways[()] = log(max(1e-6, 1 - sum(odds.values())))
    return Together(FOXES, ways)


def test_one_doubt_counts_once() -> None:
    """At 70 to 30 a fox is a 1 with odds of 7 to 3; each value by itself would make it 49 to 9."""
    belief = Belief({"pack": 0.0}, {}, FLOOR, (foxes(one=0.7, two=0.3),))
    one, two = (belief.get(("pack", (("fox", value, 1),))) for value in (1, 2))
    assert exp(one - two) == pytest.approx(7 / 3)
    assert belief.best() == ("pack", (("fox", 1, 1),)) and belief.most() == one
    assert ("pack", (("fox", 2, 1),)) in belief and ("pack", (("fox", 3, 1),)) not in belief
    assert [found[1] for found in belief] == [(("fox", 1, 1),), (("fox", 2, 1),)]


def test_what_was_not_thought_of_costs_the_floor_for_each_thing() -> None:
    belief = Belief({"pack": 0.0}, {}, FLOOR, (foxes(one=0.9, two=0.1),))
    best = belief.most()
    assert belief.get(("pack", (("fox", 1, 1), ("fox", 3, 1)))) == pytest.approx(FLOOR)
    assert belief.get(("pack", (("fox", 3, 1),))) == pytest.approx(best + 2 * (FLOOR - best))
    assert belief.get(("pack", (("fish", 1, 1), ("fox", 1, 1)))) == pytest.approx(best + FLOOR)


def test_the_search_weighs_them_as_they_are() -> None:
    """What the search says a board loses is exactly what the evidence says, and never less than its bound."""
    rng, weighed = Random(5), 0
    for course in (next(played_games(rng, (2, 3))) for _ in range(3)):
        for (before, _), (after, _) in zip(course[5::16], course[6::16], strict=False):
            places = dict(look(after.position(), "clear", rng).places)
            for name, place in after.position()["places"].items():
                values = [what for kind, what, _ in content(place)[1] if kind == "fox"]
                if len(values) == 1:
                    seen = places[name]
                    assert isinstance(seen, Belief)
                    plain = {thing: table for thing, table in seen.things.items() if thing[0] != "fox"}
                    places[name] = Belief(seen.ground, plain, seen.floor, (foxes(one=0.5, two=0.3, three=0.2),))
                igloos = [what for kind, what, _ in content(place)[1] if kind == "igloo"]
                seen = places[name]
                if igloos and isinstance(seen, Belief):
                    plain = {thing: table for thing, table in seen.things.items() if thing[0] != "igloo"}
                    places[name] = Belief(seen.ground, plain, seen.floor, (*seen.together, IGLOO))
            evidence = Evidence(places)
            likelihood = IgluLikelihood(evidence, before)
            weighed += len(likelihood.together)
            for state in (before, after):
                exact = likelihood.most - evidence.log_likelihood(state.position())
                assert likelihood.end(state) == pytest.approx(exact)
                assert likelihood.loss(state) <= exact + 1e-6
            found = turns(hidden_from(before, None), evidence).turns
            for turn in found[:3]:
                assert turn.log_likelihood == pytest.approx(evidence.log_likelihood(turn.state.position()))
    assert weighed > 10
