"""What adds up: numbers shared out over places, against every way to do it; pieces counted on a strip."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from vision.board.labels import Content
from vision.board.layout import open_layout
from vision.board.patches import Sampler
from vision.read.count_constraints import shared_out
from vision.read.strip_counter import Strips, _Fit


@pytest.mark.parametrize("seed", range(6))
def test_numbers_that_add_up_are_those_of_every_way_to_share_them_out(seed: int) -> None:
    rng = np.random.default_rng(seed)
    beliefs = [rng.dirichlet(np.full(size, 0.6)) for size in (3, 2, 5, 2, 4)]
    total = 4
    ways = {
        way: float(np.prod([p[n] for p, n in zip(beliefs, way, strict=True)]))
        for way in product(*(range(len(p)) for p in beliefs))
        if sum(way) == total
    }
    counts, certain, fit = shared_out(beliefs, total)
    assert fit == pytest.approx(sum(ways.values()))
    assert tuple(counts) == max(ways, key=lambda way: ways[way])
    for place, count in enumerate(counts):
        assert certain[place] == pytest.approx(sum(p for way, p in ways.items() if way[place] == count) / fit)


def test_what_is_missing_lies_where_nobody_can_look() -> None:
    sure, hidden = np.array([0.0, 1.0]), np.full(2, 0.5)
    counts, certain, fit = shared_out([sure, np.array([1.0, 0.0]), hidden, sure], 3)
    assert (counts, certain, fit) == ([1, 0, 1, 1], [1.0, 1.0, 1.0, 1.0], 0.5)


def test_what_cannot_add_up_is_certain_of_nothing() -> None:
    counts, certain, fit = shared_out([np.array([0.0, 1.0])] * 5, 4)
    assert fit == 0 and certain == [0.0] * 5 and len(counts) == 5


def test_pieces_on_a_strip_are_counted_by_what_was_taught_of_it() -> None:
    one = 0.4
    untaught = _Fit(0, one, 2, [])
    assert untaught.read(0, 2 * one, 4).argmax() == 2
    # On this strip pieces hide a quarter of each other, and its ground looks a little like them.
    fit = _Fit(0, one, 2, [(0, 4, 3.4 * one), (0, 0, 0.4 * one), (1, 0, 0.0)])
    for many in range(5):
        p = fit.read(0, (0.4 + 0.75 * many) * one, 4)
        assert p.argmax() == many and p.sum() == pytest.approx(1)
    assert fit.read(0, 0.4 * one, 4)[0] > untaught.read(0, 0.4 * one, 4)[0]
    # What is known of a strip by now tells the next number by how much more there is than then.
    hidden = untaught.seen(0, 3, 1.8 * one)
    assert untaught.read(0, 1.4 * one, 4).argmax() == 1 and hidden.read(0, 1.4 * one, 4).argmax() == 2
    assert hidden.read(0, 1.8 * one, 4)[3] > untaught.read(0, 1.8 * one, 4)[3]
    again = hidden.seen(0, 3, 2.6 * one)
    assert again.read(0, 2.6 * one, 4).argmax() == 3, "of as many the last look counts"
    # Far more than anything that was taught is no number of pieces.
    assert fit.read(0, 40 * one, 4).max() < 0.5


def test_how_many_stand_on_a_strip_next_is_told_by_how_much_more_or_less_there_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The network saw heaps of four and no others, and says four whatever stands there."""
    sampler = Sampler(open_layout("ice-team"))
    start, village = sampler.strips
    # A straight board here is by place how much of each of two colours there is.
    monkeypatch.setattr(Strips, "_amount", lambda self, straight, number: straight[number])
    sorts = [SimpleNamespace(things=(thing,)) for thing in (0, 1)]
    network: Any = SimpleNamespace(arrays={"shape_table": None}, sorts=sorts)
    four = Content(sampler.layout.grounds.index("start"), ((0, 4), (1, 4)))
    none = Content(sampler.layout.grounds.index("village"))
    board = {start: np.array([1.6, 1.6]), village: np.zeros(2)}
    shot: Any = SimpleNamespace(straight=board, contents={start: four, village: none})
    strips = Strips(sampler, network, [shot])

    def read(amount: float) -> list[float]:
        counts = [np.full((len(sampler.layout.places), 5), 0.2) for _ in sorts]
        counts[0][start] = [0.0005, 0.0005, 0.0005, 0.0005, 0.998]
        strips.weigh(board | {start: np.array([amount, 1.6])}, SimpleNamespace(counts=counts))  # type: ignore[arg-type]
        told: list[float] = counts[0][start].tolist()
        return told

    assert np.argmax(read(1.22)) == 4
    strips.confirm(board, shot.contents)  # type: ignore[arg-type]
    assert np.argmax(read(1.6)) == 4
    assert np.argmax(read(1.22)) == 3 and np.argmax(read(0.8)) == 2
    before = read(1.3)[3]
    three = Content(four.ground, ((0, 3), (1, 4)))
    strips.confirm(board | {start: np.array([1.3, 1.6])}, {start: three})  # type: ignore[arg-type]
    assert read(1.3)[3] > before, "three look so by now"


def test_of_a_heap_that_was_never_told_apart_every_number_is_as_likely(monkeypatch: pytest.MonkeyPatch) -> None:
    sampler = Sampler(open_layout("ice-team"))
    start, village = sampler.strips
    monkeypatch.setattr(Strips, "_amount", lambda self, straight, number: np.zeros(2))
    sorts = [SimpleNamespace(things=(thing,)) for thing in (0, 1)]
    network: Any = SimpleNamespace(arrays={"shape_table": None}, sorts=sorts)
    four = Content(sampler.layout.grounds.index("start"), ((0, 4), (1, 4)))
    shot: Any = SimpleNamespace(straight=None, contents={start: four, village: Content(1)})
    strips = Strips(sampler, network, [shot])
    assert strips.lacking == (0, 1)
    counts = [np.zeros((len(sampler.layout.places), 5)) for _ in sorts]
    for part in counts:
        # The network was taught a full one only.
        part[:, 0], part[start, 0], part[start, 4] = 1, 0.0005, 0.998
    strips.weigh(None, SimpleNamespace(counts=counts))  # type: ignore[arg-type]
    assert all(part[n] == pytest.approx(np.full(5, 0.2)) for part in counts for n in (start, village))
    assert all(part[0, 0] == 1 for part in counts)
