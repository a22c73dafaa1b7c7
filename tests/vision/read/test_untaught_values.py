"""Values that a layout has and nobody taught."""

from __future__ import annotations

import numpy as np
import pytest

from vision.board.labels import Content
from vision.board.layout import Layout, read_layout
from vision.read.place_posterior import PlaceLook, factors_of, members_of
from vision.read.untaught_values import NONE_UNTAUGHT, UntaughtValues

ONE, TWO, THREE = range(3)


@pytest.fixture
def layout() -> Layout:
    return read_layout(
        'game = "foxes"\n[board]\nkind = "grid"\ncolumns = 4\nrows = 4\n[ground]\nclasses = ["floe"]\n'
        '[[things]]\nkind = "fox"\nvalues = [1, 2, 3]\nmax = 2\n'
    )


def fox(thing: int) -> Content:
    return Content(0, ((thing, 1),))


def seen(layout: Layout, untaught: UntaughtValues, read: dict[int, float] | None = None) -> PlaceLook:
    """Return a look at one fox, which the network takes for a 2; a closer look may have ``read`` its value."""
    counts = [[0.999, 0.001], [0.01, 0.99], [0.999, 0.001]]
    ways = {(0, 1): {((thing, 1),): p for thing, p in read.items()}} if read else {}
    members = members_of(layout)
    factors = factors_of(layout, members, counts, [[0.0, 1.0]], ways, untaught)
    return PlaceLook(np.ones(1), factors, members, 0.0, untaught=untaught)


def test_a_fox_may_be_of_a_value_that_nobody_taught(layout: Layout) -> None:
    # One 2 in two places, and in two photos of one of them.
    shots = [{3: fox(TWO)}, {3: fox(TWO), 5: fox(TWO)}]
    place = seen(layout, UntaughtValues.of(layout, shots))
    assert place.content == fox(TWO)
    # Two tokens were seen, and there are three values.
    assert place.probability(fox(ONE)) == pytest.approx(1 / 5, abs=0.01)
    assert place.unsure
    # However sure the second reader is, it never saw another one either.
    place = place.pooled({fox(TWO): 0.999})
    assert place.content == fox(TWO)
    assert place.probability(fox(THREE)) == pytest.approx(1 / 5, abs=0.02)
    assert place.unsure


def test_where_all_values_were_taught_the_readers_are_believed(layout: Layout) -> None:
    untaught = UntaughtValues.of(layout, [{n: fox(n) for n in range(3)}])
    assert seen(layout, untaught).factors == seen(layout, NONE_UNTAUGHT).factors
    place = seen(layout, untaught).pooled({fox(TWO): 0.98, fox(ONE): 0.01, fox(THREE): 0.01})
    assert place.content == fox(TWO)
    assert not place.unsure


def test_the_more_foxes_were_seen_the_less_is_a_new_value_to_be_expected(layout: Layout) -> None:
    many = UntaughtValues.of(layout, [{place: fox(place % 2) for place in range(16)}])
    assert many.instead(((TWO, 1),)) == {((THREE, 1),): pytest.approx(1 / 19)}
    assert not seen(layout, many).unsure


def test_a_digit_that_is_read_tells_a_value_that_the_second_reader_never_saw(layout: Layout) -> None:
    untaught = UntaughtValues.of(layout, [{3: fox(TWO)}])
    place = seen(layout, untaught, {ONE: 0.03, TWO: 0.03, THREE: 0.94}).pooled({fox(TWO): 0.998})
    assert place.content == fox(THREE)
    assert not place.unsure
    place = seen(layout, untaught, {ONE: 0.03, TWO: 0.94, THREE: 0.03}).pooled({fox(TWO): 0.998})
    assert place.content == fox(TWO)
    assert not place.unsure


def test_of_several_foxes_one_may_be_of_a_value_never_taught(layout: Layout) -> None:
    untaught = UntaughtValues.of(layout, [{3: fox(ONE), 4: fox(TWO)}])
    assert set(untaught.instead(((ONE, 1), (TWO, 1)))) == {((TWO, 1), (THREE, 1)), ((ONE, 1), (THREE, 1))}
    assert set(untaught.instead(((TWO, 2),))) == {((TWO, 1), (THREE, 1))}
    shared = untaught.shared({(): 0.5, ((TWO, 2),): 0.5})
    assert sum(shared.values()) == pytest.approx(1)
    assert shared[()] == 0.5


def test_marks_that_are_counted_tell_every_value(layout: Layout) -> None:
    untaught = UntaughtValues.of(layout, [{3: fox(TWO)}], told=[0])
    assert seen(layout, untaught).probability(fox(TWO)) > 0.95


def test_of_many_tokens_what_was_taught_stays_possible() -> None:
    """However many values nobody taught, no probability is below none."""
    values = tuple(range(1, 13))
    layout = read_layout(
        '[board]\ncolumns = 2\nrows = 1\n[ground]\nclasses = ["sea"]\n'
        f'[[things]]\nkind = "coin"\nvalues = {list(values)}\nmax = 1\n'
    )
    taught = UntaughtValues.of(layout, [{n: Content(0, ((n, 1),)) for n in range(4)}])
    shared = taught.shared({((0, 1), (1, 1), (2, 1), (3, 1)): 1.0})
    assert min(shared.values()) >= 0
    assert sum(shared.values()) == pytest.approx(1)
