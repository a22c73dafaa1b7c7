"""One press is one press, whatever the contact does: bouncing edges, sparks, missed edges."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.panel.debounce import SETTLE_S, Debounce


def presses(edges: list[tuple[float, bool]]) -> list[float]:
    """Feed edges as the panel does, settling whenever it is due; return when a press was told."""
    contact = Debounce()
    told: list[float] = []
    ends = [*(t for t, _ in edges[1:]), edges[-1][0] + 1.0]
    for (t, level), end in zip(edges, ends, strict=True):
        contact.edge(t, level)
        if contact.due is not None and contact.due <= end and contact.settle(due := contact.due):
            told.append(due)
    return told


def bounce(t: float, level: bool, rng: random.Random, length: float) -> list[tuple[float, bool]]:
    """Return the edges of a contact that chatters for ``length`` seconds and ends at ``level``."""
    edges, now, state = [], t, level
    while now < t + length:
        edges.append((now, state))
        now += rng.uniform(0.0001, 0.003)
        state = not state
    if not edges or edges[-1][1] != level:
        edges.append((now, level))
    return edges


@pytest.mark.parametrize("length", [0.0, 0.001, 0.005, 0.010, 0.030])
def test_a_bouncing_press_is_one_press_and_a_bouncing_release_none(length: float) -> None:
    rng = random.Random(5)
    for _ in range(50):
        pushed = bounce(1.0, True, rng, length)
        edges = pushed + bounce(1.3, False, rng, length)
        (told,) = presses(edges)
        assert told == pytest.approx(pushed[-1][0] + SETTLE_S)


@given(st.integers(1, 6), st.randoms(use_true_random=False))
def test_so_many_presses_so_many_told(count: int, rng: random.Random) -> None:
    edges, t = [], 0.0
    for _ in range(count):
        edges += bounce(t, True, rng, rng.uniform(0, 0.02))
        t = edges[-1][0] + rng.uniform(0.02, 0.2)
        edges += bounce(t, False, rng, rng.uniform(0, 0.02))
        t = edges[-1][0] + rng.uniform(0.02, 0.2)
    assert len(presses(edges)) == count


@given(st.lists(st.tuples(st.floats(0.0, 10.0), st.floats(0.00001, SETTLE_S * 0.9)), min_size=1, max_size=20))
def test_sparks_are_nothing(sparks: list[tuple[float, float]]) -> None:
    edges: list[tuple[float, bool]] = []
    for start, length in sorted(sparks):
        if not edges or start > edges[-1][0]:
            edges += [(start, True), (start + length, False)]
    assert presses(edges) == []


def test_a_wire_that_never_rests_presses_nothing() -> None:
    assert presses([(n * 0.004, n % 2 == 0) for n in range(500)] + [(2.0, False)]) == []


def test_a_missed_edge_is_seen_by_reading() -> None:
    contact = Debounce()
    contact.edge(0.0, False)
    assert not contact.settle(1.0, pressed=True)
    assert contact.due == 1.0 + SETTLE_S
    assert contact.settle(1.0 + SETTLE_S, pressed=True)
    assert contact.pressed
    assert not contact.settle(5.0)


def test_held_at_the_start_is_no_press() -> None:
    contact = Debounce(pressed=True)
    contact.edge(1.0, True)
    assert not contact.settle(2.0)
    contact.edge(3.0, False)
    assert not contact.settle(4.0)
    contact.edge(5.0, True)
    assert not contact.settle(5.0 + SETTLE_S / 2)
    assert contact.settle(6.0)
