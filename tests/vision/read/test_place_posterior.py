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


def test_a_place_is_unsure_where_a_second_reader_knows_better_of_two_taught_contents(layout: Layout) -> None:
    surely, other = Content(1, ((0, 1),)), Content(1, ((1, 1),))
    place = seen(layout, [0.99, 0.01, 0.0, 0.0, 0.0, 0.0], TAUGHT)
    assert place.content == surely and not place.unsure
    known = frozenset(TAUGHT)
    assert not replace(place, second=surely, taught=known).unsure
    disputed = replace(place, second=other, taught=known)
    assert disputed.content == surely and disputed.unsure and disputed.p == pytest.approx(place.p / 2)
    # What was never taught whole the second reader cannot know.
    assert not replace(place, second=other, taught=known - {surely}).unsure


def test_where_no_heap_may_lie_one_thing_is_not_taken_for_two() -> None:
    heaps = read_layout(
        '[board]\ncolumns = 2\nrows = 1\n[ground]\nclasses = ["home", "sea"]\n'
        '[[things]]\nkind = "peg"\nmax = 3\nheaps = ["home"]\n[[things]]\nkind = "hut"\nmax = 2\n'
    )
    counts = [[0.1, 0.3, 0.4, 0.2], [0.1, 0.2, 0.7]]
    no_heap(heaps, [0.25, 0.75], counts)
    assert counts == [pytest.approx([0.1, 0.75, 0.1, 0.05]), [0.1, 0.2, 0.7]]
