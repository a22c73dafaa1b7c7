"""From what a look at the board tells of each place to what the rules' search asks for.

``vision look`` gives probabilities: of each ground, of the things that seem to lie there, and of "something else" (a
hand, a cup). The search wants log-likelihoods that leave nothing out, because a camera may always be wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, log, sqrt
from typing import TYPE_CHECKING, Any

from companion.rules.belief import Belief
from companion.rules.turns import Evidence

if TYPE_CHECKING:
    from .labels import Content
    from .layout import Layout
    from .placelook import PlaceLook

LEAST = 3e-5
"""What is left to everything that was not thought of."""
UNTAUGHT = 3e-3
"""What is left to a thing, or to more of it on one place, that the table was never shown."""
HIDDEN = 0.5
"""From this probability of something else on, nothing is known of a place."""

Places = Mapping[str, Mapping[str, Any]]
"""Places as ``vision look --json`` prints them."""


def evidence_of(places: Places) -> Evidence:
    """Return the evidence of places in the form of ``vision look --json``; hidden ones are left unknown."""
    return Evidence({name: belief_of(place) for name, place in places.items() if place and not hidden(place)})


def hidden(place: Mapping[str, Any]) -> bool:
    """Return whether something else seems to lie over a place, or it says nothing."""
    return float(place.get("else", 0.0)) >= HIDDEN or not place.get("ground")


def belief_of(place: Mapping[str, Any]) -> Belief:
    """Return what is believed of a place; a thing may come with several counts, each with its probability."""
    odd = min(1.0, max(0.0, float(place.get("else", 0.0))))
    counts: dict[tuple[str, Any], dict[int, float]] = {}
    for thing in place.get("things", ()):
        key = (str(thing["kind"]), thing.get("colour", thing.get("value")))
        counts.setdefault(key, {})[int(thing.get("count", 1))] = float(thing["p"])
    things = {}
    for key, told in counts.items():
        # The rest belongs to none, and a little of it to one more or one fewer than was told.
        rest = max(0.0, 1.0 - sum(told.values()))
        near = {n + d for n in told for d in (-1, 1) if n + d > 0} - set(told)
        spread = {**dict.fromkeys(near, 0.2 * rest / max(1, len(near))), **told}
        spread.setdefault(0, rest * (0.8 if near else 1.0))
        things[key] = logs(spread, odd)
    ground = logs({str(name): float(p) for name, p in place["ground"].items()}, odd)
    return Belief(ground, things, log(max(LEAST, odd / 10)))


def belief_of_look(look: PlaceLook, layout: Layout, taught: Mapping[int, int] | None = None) -> Belief:
    """Return what is believed of a place that was looked at, with every count of every thing.

    ``taught``: the most of each thing (by its number in the layout) that the table was ever shown on one place. Of
    what it was never shown it cannot be sure: the first bear of the evening must stay possible.
    """
    ground = dict(zip(layout.grounds, (float(p) for p in look.grounds()), strict=True))
    things: dict[tuple[str, Any], dict[int, float]] = {}
    for number, (thing, most) in enumerate(zip(layout.things, layout.most, strict=True)):
        spread = {n: look.count_probability(number, n) for n in range(most + 1)}
        if taught is not None:
            known = taught.get(number, 0)
            spread = {n: p if n <= known else max(p, UNTAUGHT) for n, p in spread.items()}
        if spread[0] < 1 - LEAST:
            what = thing.value if thing.colour is None else thing.colour
            things[thing.kind, what] = logs(spread, look.odd)
    return Belief(logs(ground, look.odd), things, log(max(LEAST, look.odd / 10)))


def belief_of_known(content: Content, layout: Layout, sure: float = 0.97) -> Belief:
    """Return what is believed of a place that looks as it did when people said what lies there."""
    grounds = {name: (sure if n == content.ground else 1 - sure) for n, name in enumerate(layout.grounds)}
    things: dict[tuple[str, Any], dict[int, float]] = {}
    for number, (thing, most) in enumerate(zip(layout.things, layout.most, strict=True)):
        here = content.count(number)
        if here:
            what = thing.value if thing.colour is None else thing.colour
            things[thing.kind, what] = logs({n: (sure if n == here else 1 - sure) for n in range(most + 1)})
    return Belief(logs(grounds), things, log(UNTAUGHT))


def belief_of_strange(layout: Layout, taught: Mapping[int, int]) -> Belief | None:
    """Return what is believed of a place that shows what was never taught: one of the things that never were.

    None where there are none left: then nothing is known of it.
    """
    fresh = [n for n in range(len(layout.things)) if not taught.get(n)]
    if not fresh:
        return None
    things: dict[tuple[str, Any], dict[int, float]] = {}
    for number, (thing, most) in enumerate(zip(layout.things, layout.most, strict=True)):
        what = thing.value if thing.colour is None else thing.colour
        odds = {n: log(0.5 if n < 2 else UNTAUGHT) for n in range(most + 1)}
        things[thing.kind, what] = odds if number in fresh else dict.fromkeys(range(most + 1), 0.0)
    return Belief(dict.fromkeys(layout.grounds, 0.0), things, log(UNTAUGHT))


def logs(probabilities: Mapping[Any, float], odd: float = 0.0) -> dict[Any, float]:
    """Return logarithms of probabilities, the more alike the likelier something else is; none below ``LEAST``."""
    total = sum(probabilities.values()) or 1.0
    even = 1 / max(2, len(probabilities))
    return {key: log(max(LEAST, (1 - odd) * p / total + odd * even)) for key, p in probabilities.items()}


def usual_loss(evidence: Evidence) -> tuple[float, float]:
    """Return how much less likely than the best the true board is to be expected, and the spread of that."""
    mean = spread = 0.0
    for seen in evidence.places.values():
        if not isinstance(seen, Belief):
            continue
        tables: list[Mapping[Any, float]] = [seen.ground, *seen.things.values()]
        for table in tables:
            # What a table of logarithms expects of itself: the mean and the variance of what its truth loses.
            top = max(table.values(), default=0.0)
            weights = [(top - p, exp(p)) for p in table.values()]
            whole = sum(p for _, p in weights) or 1.0
            one = sum(loss * p for loss, p in weights) / whole
            mean += one
            spread += sum((loss - one) ** 2 * p for loss, p in weights) / whole
    return mean, sqrt(spread)


def most(evidence: Evidence) -> float:
    """Return the log-likelihood of the board that fits best, legal or not."""
    total = 0.0
    for seen in evidence.places.values():
        total += seen.most() if isinstance(seen, Belief) else max(seen.values(), default=0.0)
    return total
