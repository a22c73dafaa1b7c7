"""From what a look at the board tells of each place to what the rules' search asks for.

``vision look`` gives probabilities: of each ground, of the things that seem to lie there, and of "something else" (a
hand, a cup). The search wants log-likelihoods that leave nothing out, because a camera may always be wrong.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping, Sequence
from math import exp, log, sqrt
from typing import TYPE_CHECKING, Any

from companion.rules.inference.belief import Belief, Lying, Thing, Together
from companion.rules.inference.turns import Evidence

if TYPE_CHECKING:
    from vision.board.labels import Content
    from vision.board.layout import Layout
    from vision.read.place_posterior import PlaceLook

LEAST = 1e-5
"""What is left to everything that was not thought of."""
UNTAUGHT = 3e-3
"""What is left to a thing, or to more of it on one place, that the table was never shown."""
ODDITY = 0.02
"""What of the probability of something else counts as doubt in each thing that is read: where a place looks odd, it is
read right nearly as often as its probabilities say."""
ODDEST = 0.25
"""The same where something else is likelier than not, but no hand is over the board."""
UNHEARD = 0.5
"""The same where it may be a thing of a kind that was never taught."""
SURELY_NEW = 0.97
"""How sure it is at the most that something lies there that was never taught: what looks odd may only look odd."""
IN_ITS_COLOUR = 0.1
"""What a thing that was never taught has of the probability of one more of what else has its colour."""
HIDDEN = 0.5
"""From this probability of something else on, nothing is known of a place."""
AS_WAS = 8.0
"""How much likelier (natural logarithm) it is that nothing changed in a place that looks just as it did."""

AS_WAS_WITHIN = 0.5 * AS_WAS
"""The same where only its middle looks as it did, and one piece at most may lie there: a shadow fell on its rim."""

OF_A_KIND = 0.2
"""What a value that was never taught has of the probability of one that was: who has seen no other reads this one."""
WORTH_A_THOUGHT = 0.02
"""Less likely ways of tokens to lie are not thought of with other values."""

Way = tuple[tuple[int, int], ...]
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
    for key, probabilities in counts.items():
        # The rest belongs to none, and a little of it to one more or one fewer than was told.
        rest = max(0.0, 1.0 - sum(probabilities.values()))
        near = {n + d for n in probabilities for d in (-1, 1) if n + d > 0} - set(probabilities)
        spread = {**dict.fromkeys(near, 0.2 * rest / max(1, len(near))), **probabilities}
        spread.setdefault(0, rest * (0.8 if near else 1.0))
        things[key] = logs(spread, odd)
    ground = logs({str(name): float(p) for name, p in place["ground"].items()}, odd)
    return Belief(ground, things, log(max(LEAST, odd / 10)))


def belief_of_look(
    look: PlaceLook,
    layout: Layout,
    taught: Mapping[int, int] | None = None,
    unlike: float = 0.0,
    was: Content | None = None,
) -> Belief:
    """Return what is believed of a place that was looked at, with every count of every thing.

    ``taught``: the most of each thing (by its number in the layout) that the table was ever shown on one place. Of
    what it was never shown it cannot be sure: the first bear of the evening must stay possible, and the more so the
    odder the place looks. ``unlike``: how plainly (up to 1) it looks otherwise than when it held ``was``; as far as it
    is read as that still, it is misread, or was nudged only.
    """
    unknown: frozenset[int] = frozenset() if taught is None else never_taught(layout, taught)
    fresh = belief_of_strange(layout, taught) if look.odd >= HIDDEN and taught is not None else None
    odd = look.odd * (ODDITY if look.odd < HIDDEN else ODDEST if fresh is None else UNHEARD)
    if was is not None:
        odd = max(odd, ODDEST * unlike * look.probability(was))
    ground = dict(zip(layout.grounds, (float(p) for p in look.grounds()), strict=True))
    if taught is not None and look.taught:
        least = UNTAUGHT if unknown else max(UNTAUGHT, UNHEARD * max(look.odd, unlike))
        ground |= _new_grounds(look, layout, ground, least)
    things: dict[tuple[str, Any], dict[int, float]] = {}
    groups = []
    for members in look.members:
        if len(members) > 1:
            ways = _ways_of(look, members, layout, taught, unknown)
            if ways.get((), 0.0) < 1 - LEAST:
                keys = tuple(_key(layout, number) for number in sorted(members))
                groups.append(Together(keys, logs(ways, odd)))
            continue
        (number,) = members
        spread = {n: look.count_probability(number, n) for n in range(layout.most[number] + 1)}
        more = None if taught is None else taught.get(number, 0) + 1
        if more in spread:
            spread[more] = max(spread[more], _first(look, unknown, number))
        if spread[0] < 1 - LEAST:
            things[_key(layout, number)] = logs(spread, odd)
    if taught is not None:
        groups += _of_other_colours(things, layout, taught)
        grouped = {thing for group in groups for thing in group.things}
        groups += _in_their_colour(things, layout, [n for n in unknown if _key(layout, n) not in grouped])
    if fresh is not None:
        groups = [group for group in groups if not all(fresh.things[thing][0] for thing in group.things)]
        grouped = {thing for group in groups for thing in group.things}
        new = tuple(
            sorted((thing for thing, odds in fresh.things.items() if odds[0] and thing not in grouped), key=str)
        )
        things = {thing: odds for thing, odds in things.items() if thing not in new}
        sure = min(look.odd, SURELY_NEW)
        one_of_them: dict[Lying, float] = {(): 1 - sure, **{((*thing, 1),): sure / len(new) for thing in new}}
        groups += [Together(new, logs(one_of_them))] if new else []
        return Belief(logs(ground, odd), things, log(UNTAUGHT), tuple(groups))
    return Belief(logs(ground, odd), things, log(max(LEAST, odd)), tuple(groups))


def _new_grounds(look: PlaceLook, layout: Layout, read: Mapping[str, float], least: float) -> dict[str, float]:
    """Return how likely the grounds are that no board showed yet; each may look like any other.

    A searched igloo is a ground that no set-up has: it is read as one that was taught, the odder it looks the less.
    Where a thing of a kind never taught may lie there, that is what looks odd.
    """
    known = {content.ground for content in look.taught}
    return {name: max(read[name], least) for number, name in enumerate(layout.grounds) if number not in known}


def _of_other_colours(
    things: dict[Thing, dict[int, float]], layout: Layout, taught: Mapping[int, int]
) -> list[Together]:
    """Take single things of a kind out of ``things`` where one may have a colour that was never taught; return them.

    The first blue igloo looks more like the red ones than like anything else.
    """
    groups = []
    alone = [n for n, most in enumerate(layout.most) if most == 1 and layout.things[n].colour is not None]
    for kind in sorted({layout.things[n].kind for n in alone}):
        sorts = {_key(layout, n): n for n in alone if layout.things[n].kind == kind}
        read = {key: exp(things[key][1]) for key, n in sorts.items() if key in things and taught.get(n)}
        if max(read.values(), default=0.0) <= WORTH_A_THOUGHT or all(taught.get(n) for n in sorts.values()):
            continue
        most_read = max(read.values())
        ways: dict[Lying, float] = {(): max(0.0, 1 - sum(read.values()))}
        for key, number in sorts.items():
            p = exp(things[key][1]) if key in things else 0.0
            ways[((*key, 1),)] = p if taught.get(number) else max(p, OF_A_KIND * most_read)
            things.pop(key, None)
        groups.append(Together(tuple(sorts), logs(ways)))
    return groups


def _in_their_colour(things: dict[Thing, dict[int, float]], layout: Layout, unknown: Collection[int]) -> list[Together]:
    """Take things out of ``things`` that something never taught of their colour may be taken for; return both together.

    The first red igloo, with a red inuit beside it, looks like two red inuit.
    """
    groups = []
    for number in sorted(unknown):
        colour = layout.things[number].colour
        if colour is None or layout.most[number] != 1:
            continue
        same = [n for n, other in enumerate(layout.things) if other.colour == colour and n not in unknown]
        read = [_key(layout, n) for n in same if _key(layout, n) in things]
        if len(read) != 1:
            continue
        new, known = _key(layout, number), read[0]
        there = {n: exp(p) for n, p in things.pop(known).items()}
        own = {n: exp(p) for n, p in things.pop(new, {0: 0.0}).items()}
        ways: dict[Lying, float] = {}
        for count, p in there.items():
            ways[_lying({known: count})] = p * own.get(0, 1.0)
            instead = IN_ITS_COLOUR * there.get(count + 1, 0.0)
            ways[_lying({known: count, new: 1})] = max(p * own.get(1, UNTAUGHT), instead)
        groups.append(Together((known, new), logs(ways)))
    return groups


def _lying(counts: Mapping[Thing, int]) -> Lying:
    return tuple(sorted(((*thing, count) for thing, count in counts.items() if count), key=str))


def _key(layout: Layout, number: int) -> Thing:
    thing = layout.things[number]
    return thing.kind, thing.value if thing.colour is None else thing.colour


def never_taught(layout: Layout, taught: Mapping[int, int]) -> frozenset[int]:
    """Return the things that may come and look like nothing that was taught.

    All of a kind of which none was; and single things in a colour that was taught in other things only: the first
    igloo of a tribe whose inuit are known. Nothing is expected in a colour that was never seen: nobody plays it.
    """
    known = [n for n, most in taught.items() if most]
    kinds = {layout.things[n].kind for n in known}
    colours = {layout.things[n].colour for n in known} - {None}
    found = {n for n, thing in enumerate(layout.things) if thing.kind not in kinds}
    single = {n for n, most in enumerate(layout.most) if most == 1 and layout.things[n].colour in colours}
    return frozenset(found | single - set(known))


def _first(look: PlaceLook, unknown: Container[int], thing: int) -> float:
    """Return the least probability of one more of a thing than was ever taught, by how odd the place looks."""
    return max(UNTAUGHT, UNHEARD * look.odd) if thing in unknown else UNTAUGHT


def _ways_of(
    look: PlaceLook,
    members: frozenset[int],
    layout: Layout,
    taught: Mapping[int, int] | None,
    unknown: Container[int],
) -> dict[Lying, float]:
    """Return how likely the tokens of a kind lie in a place in which way; one never taught may be any that is read."""
    found = _factor(look, members)
    if taught is not None:
        more = [way for way in found if _one_more(way, taught)]
        found |= {way: max(found[way], _first(look, unknown, way[0][0]) / len(more)) for way in more}
        for number in members:
            if taught.get(number) or number in look.legible:
                continue
            for way, p in list(found.items()):
                for thing in dict(way) if p > WORTH_A_THOUGHT else ():
                    if taught.get(thing):
                        other = _instead(way, thing, number)
                        found[other] = max(found.get(other, 0.0), OF_A_KIND * p)
    return {
        tuple(sorted(((*_key(layout, thing), count) for thing, count in way), key=str)): p for way, p in found.items()
    }


def _factor(look: PlaceLook, members: frozenset[int]) -> dict[Way, float]:
    """Return the probability of each way that some things lie in a place, whole contents counted in."""
    found = dict(look.factors[look.members.index(members)])
    if look.known:
        found = {way: look.parts * p for way, p in found.items()}
        for content, p in look.known.items():
            way = tuple(pair for pair in content.things if pair[0] in members)
            found[way] = found.get(way, 0.0) + p
        found = {way: max(p, 0.0) for way, p in found.items()}
    return found


def _instead(way: Way, thing: int, other: int) -> Way:
    """Return a way with one token of another value."""
    counts = dict(way)
    counts[thing] -= 1
    counts[other] = counts.get(other, 0) + 1
    return tuple(sorted((number, count) for number, count in counts.items() if count))


def _one_more(way: Way, taught: Mapping[int, int]) -> bool:
    """Return whether a way has one token more of a value, and of one only, than was ever shown."""
    return sum(max(0, count - taught.get(thing, 0)) for thing, count in way) == 1


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
    """Return what is believed of a place that shows what was never taught (see :func:`never_taught`).

    None where nothing is left that never was: then it is read as any other, with more doubt.
    """
    fresh = never_taught(layout, taught)
    if not fresh:
        return None
    things: dict[tuple[str, Any], dict[int, float]] = {}
    for number, (thing, most) in enumerate(zip(layout.things, layout.most, strict=True)):
        what = thing.value if thing.colour is None else thing.colour
        odds = {n: log(0.5 if n < 2 else UNTAUGHT) for n in range(most + 1)}
        things[thing.kind, what] = odds if number in fresh else dict.fromkeys(range(most + 1), 0.0)
    return Belief(dict.fromkeys(layout.grounds, 0.0), things, log(UNTAUGHT))


def belief_as_was(seen: Belief, content: Content, layout: Layout, more: float = AS_WAS) -> Belief:
    """Return what is believed of a place that looks just as it did when ``content`` lay there.

    ``seen``: as it is read; ``more``: how much likelier (natural logarithm) it is that nothing changed.
    """
    here = {_key(layout, number): count for number, count in content.things}
    groups = []
    for group in seen.together:
        way = tuple(sorted(((*thing, here.pop(thing)) for thing in group.things if thing in here), key=str))
        groups.append(Together(group.things, _leaning(group.likely, way, more)))
    things = {key: _leaning(table, here.pop(key, 0), more) for key, table in seen.things.items()}
    for key, count in here.items():
        things[key] = _leaning({0: 0.0, count: seen.floor}, count, more)
    return Belief(_leaning(seen.ground, layout.grounds[content.ground], more), things, seen.floor, tuple(groups))


def _leaning(table: Mapping[Any, float], known: Any, more: float) -> dict[Any, float]:
    likely = {key: exp(p) for key, p in table.items()}
    likely[known] = likely.get(known, LEAST) * exp(more)
    return logs(likely)


def belief_of_several(looks: Sequence[Belief]) -> Belief:
    """Return what several looks at the same place tell together.

    What misleads one look misleads the next: they are no witnesses of their own, so the mean of their probabilities
    counts, not the product.
    """
    if all(look is looks[0] for look in looks):
        return looks[0]
    floors = [look.floor for look in looks]
    ground = _mean([look.ground for look in looks], floors)
    kinds = {group.things for look in looks for group in look.together}
    grouped = {thing for kind in kinds for thing in kind}
    keys = {key for look in looks for key in look.things} - grouped
    things = {key: _mean([look.things.get(key, {0: 0.0}) for look in looks], floors) for key in keys}
    groups = []
    for kind in sorted(kinds, key=str):
        likely = [next((g.likely for g in look.together if g.things == kind), {(): 0.0}) for look in looks]
        groups.append(Together(kind, _mean(likely, floors)))
    return Belief(ground, things, max(floors), tuple(groups))


def _mean(tables: Sequence[Mapping[Any, float]], floors: Sequence[float]) -> dict[Any, float]:
    keys = {key for table in tables for key in table}
    return logs({key: sum(exp(t.get(key, floor)) for t, floor in zip(tables, floors, strict=True)) for key in keys})


def several(looks: Sequence[Evidence]) -> Evidence:
    """Return the evidence of several looks at a board that lay still; a place that one of them hides is unknown."""
    if len(looks) == 1:
        return looks[0]
    names = [name for name in looks[0].places if all(name in look.places for look in looks)]
    found: dict[str, Belief] = {}
    for name in names:
        beliefs = [seen for look in looks if isinstance(seen := look.places[name], Belief)]
        found[name] = belief_of_several(beliefs)
    return Evidence(found)


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
        tables += [group.likely for group in seen.together]
        for table in tables:
            # What a table of logarithms expects of itself: the mean and the variance of what its truth loses.
            top = max(table.values(), default=0.0)
            weights = [(top - p, exp(p)) for p in table.values()]
            whole = sum(p for _, p in weights) or 1.0
            one = sum(loss * p for loss, p in weights) / whole
            mean += one
            spread += sum((loss - one) ** 2 * p for loss, p in weights) / whole
    return mean, sqrt(spread)
