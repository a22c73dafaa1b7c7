"""What lies in a place, as one choice over whole contents."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from vision.board.labels import Content
from vision.board.layout import Layout, open_layout, read_layout
from vision.read.place_posterior import PlaceLook, bare_of, factors_of, members_of, no_heap


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    path = tmp_path / "blocks.toml"
    path.write_text(
        'game = "blocks"\n[board]\nkind = "grid"\ncolumns = 4\nrows = 4\n[ground]\nclasses = ["field", "block"]\n'
        '[[things]]\nkind = "print"\ncolours = ["a", "b", "c", "d", "e", "f"]\nmax = 1\non = ["block"]\n'
    )
    return open_layout(path)


def seen(layout: Layout, p: list[float], taught: list[Content]) -> PlaceLook:
    """Return a look at a block of which each print is seen with a probability of its own."""
    members = members_of(layout)
    factors = factors_of(layout, members, [[1 - one, one] for one in p], [], {})
    return PlaceLook(np.array([0.05, 0.95]), factors, members, 0.0, bare=bare_of(layout, taught))


TAUGHT = [Content(0)] * 12 + [Content(1, ((n % 6, 1),)) for n in range(24)]


def test_doubts_of_many_things_do_not_make_a_bare_place_that_was_never_taught(layout: Layout) -> None:
    place = seen(layout, [0.4, 0.1, 0.1, 0.05, 0.05, 0.05], TAUGHT)
    assert place.content == Content(1, ((0, 1),))
    assert place.unsure


def test_a_bare_place_that_was_taught_is_read_as_before(layout: Layout) -> None:
    doubts = [0.4, 0.1, 0.1, 0.05, 0.05, 0.05]
    place = seen(layout, doubts, [*TAUGHT, Content(1)])
    assert place.content == Content(1)
    assert place.probability(Content(1)) == pytest.approx(0.95 * np.prod([1 - p for p in doubts]))


def test_a_ground_that_was_never_taught_may_be_bare(layout: Layout) -> None:
    assert bare_of(layout, [Content(0)]).tolist() == [1.0, 1.0]
    assert bare_of(layout, [Content(1, ((0, 1),))] * 3).tolist() == [1.0, 0.25]


def test_probabilities_of_whole_contents_and_of_their_parts_belong_together(layout: Layout) -> None:
    place = seen(layout, [0.4, 0.2, 0.1, 0.0, 0.0, 0.0], TAUGHT)
    ways = [tuple((n, 1) for n in range(3) if mask >> n & 1) for mask in range(8)]
    every = {
        Content(ground, things): place.probability(Content(ground, things)) for ground in (0, 1) for things in ways
    }
    assert sum(every.values()) == pytest.approx(1)
    for ground in (0, 1):
        own = sum(p for content, p in every.items() if content.ground == ground)
        assert place.grounds()[ground] == pytest.approx(own)
    for count in (0, 1):
        own = sum(p for content, p in every.items() if content.count(0) == count)
        assert place.count_probability(0, count) == pytest.approx(own)


def test_two_readers_who_agree_are_surer_and_two_who_do_not_are_unsure(layout: Layout) -> None:
    surely, other = Content(1, ((0, 1),)), Content(1, ((1, 1),))
    place = seen(layout, [0.99, 0.01, 0.0, 0.0, 0.0, 0.0], TAUGHT)
    assert place.content == surely and not place.unsure
    same = place.pooled({surely: 0.98, other: 0.01})
    assert same.content == surely and not same.unsure and same.agreed > 0.95
    disputed = place.pooled({surely: 0.01, other: 0.98})
    assert disputed.unsure and disputed.agreed < 0.3
    assert place.pooled({}) is place


def test_what_the_second_reader_never_learnt_is_left_to_the_first(layout: Layout) -> None:
    surely, other = Content(1, ((0, 1),)), Content(1, ((1, 1),))
    place = seen(layout, [0.99, 0.01, 0.0, 0.0, 0.0, 0.0], TAUGHT)
    # It knows the other only, and says that this is likely something new.
    assert place.pooled({other: 0.1}).content == surely
    assert place.pooled({other: 0.1}).probability(surely) > 0.9


def test_a_number_that_the_second_reader_never_saw_is_told_by_the_first() -> None:
    pegs = read_layout(
        '[board]\ncolumns = 2\nrows = 1\n[ground]\nclasses = ["sand", "sea"]\n[[things]]\nkind = "peg"\nmax = 3\n'
    )
    counts = [[0.02, 0.08, 0.89, 0.01]]
    factors = factors_of(pegs, members_of(pegs), counts, [], {})
    place = PlaceLook(np.array([0.95, 0.05]), factors, members_of(pegs), 0.0)
    one, two = Content(0, ((0, 1),)), Content(0, ((0, 2),))
    # It knows one peg on sand and a bare sea: whether there are two it cannot say, that it is sand it can.
    pooled = place.pooled({one: 0.97, Content(1): 0.01})
    assert pooled.content == two and pooled.probability(two) > 0.6
    # Where it knows both numbers it has its say.
    assert place.pooled({one: 0.985, two: 0.005}).content == one
    # Where it is sure of another ground the two do not agree.
    assert place.pooled({Content(1, ((0, 1),)): 0.97, Content(1): 0.01}).agreed < 0.3 < pooled.agreed


def test_pooled_probabilities_and_those_of_parts_belong_together(layout: Layout) -> None:
    place = seen(layout, [0.4, 0.2, 0.1, 0.0, 0.0, 0.0], TAUGHT)
    place = place.pooled({Content(1, ((0, 1),)): 0.5, Content(1): 0.2, Content(0): 0.1})
    place = place.remembering(Content(1, ((1, 1),)), 0.25)
    ways = [tuple((n, 1) for n in range(3) if mask >> n & 1) for mask in range(8)]
    every = {
        Content(ground, things): place.probability(Content(ground, things)) for ground in (0, 1) for things in ways
    }
    assert sum(every.values()) == pytest.approx(1, abs=1e-4)
    for ground in (0, 1):
        own = sum(p for content, p in every.items() if content.ground == ground)
        assert place.grounds()[ground] == pytest.approx(own, abs=1e-4)
    for count in (0, 1):
        own = sum(p for content, p in every.items() if content.count(0) == count)
        assert place.count_probability(0, count) == pytest.approx(own, abs=1e-4)


def test_where_no_heap_may_lie_one_thing_is_not_taken_for_two() -> None:
    heaps = read_layout(
        '[board]\ncolumns = 2\nrows = 1\n[ground]\nclasses = ["home", "sea"]\n'
        '[[things]]\nkind = "peg"\nmax = 3\nheaps = ["home"]\n[[things]]\nkind = "hut"\nmax = 2\n'
    )
    counts = [[0.1, 0.3, 0.4, 0.2], [0.1, 0.2, 0.7]]
    no_heap(heaps, [0.25, 0.75], counts)
    assert counts == [pytest.approx([0.1, 0.75, 0.1, 0.05]), [0.1, 0.2, 0.7]]


def test_what_the_second_reader_knows_is_nothing_strange(layout: Layout) -> None:
    surely = Content(1, ((0, 1),))
    place = replace(seen(layout, [0.97, 0.02, 0.0, 0.0, 0.0, 0.0], TAUGHT), odd=0.6)
    assert place.unsure
    known = place.pooled({surely: 0.98, Content(1, ((1, 1),)): 0.01})
    assert known.odd < 0.15 and not known.unsure
    # A number that it never saw may be of known things: nothing is the stranger for that.
    assert place.pooled({surely: 0.1}).odd == place.odd
    calm = replace(place, odd=0.01)
    assert calm.pooled({surely: 0.1}).odd == calm.odd


def test_what_was_heard_of_since_is_what_looked_strange(layout: Layout) -> None:
    """The factors cannot name it; that something is strange there is all that they can say for it."""
    fresh, known = Content(1, ((2, 1),)), Content(1, ((0, 1),))
    place = replace(seen(layout, [0.9, 0.02, 0.0, 0.0, 0.0, 0.0], TAUGHT), odd=0.4)
    told = replace(place, heard={fresh: 1}).pooled({fresh: 0.97, known: 0.01})
    assert place.pooled({known: 0.01}).content == known
    assert told.content == fresh
    # One place that showed it makes nothing sure, many do.
    assert told.unsure and 0.5 < told.p < 2 / 3
    often = replace(place, heard={fresh: 50}).pooled({fresh: 0.97, known: 0.01})
    assert often.p > told.p and often.odd < told.odd
    # Where the second reader sees something known, or neither knows what it sees, nothing was heard.
    calm = replace(place, heard={fresh: 1}, odd=0.01).pooled({fresh: 0.001, known: 0.98})
    assert calm.content == known and not calm.unsure
    assert replace(place, heard={fresh: 1}).pooled({known: 0.1}) == replace(place.pooled({known: 0.1}), heard={})


def test_probabilities_with_what_was_heard_belong_together(layout: Layout) -> None:
    fresh = Content(0, ((2, 1),))
    place = replace(seen(layout, [0.4, 0.2, 0.1, 0.0, 0.0, 0.0], TAUGHT), heard={fresh: 2}, odd=0.3)
    place = place.pooled({fresh: 0.5, Content(1, ((0, 1),)): 0.2, Content(1): 0.1})
    ways = [tuple((n, 1) for n in range(3) if mask >> n & 1) for mask in range(8)]
    every = [place.probability(Content(ground, things)) for ground in (0, 1) for things in ways]
    assert sum(every) == pytest.approx(1, abs=1e-4)
    assert 0 < place.odd < 1
