"""What lies in a place as one answer over whole contents: read, left out, and told from what is new."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from vision.board.embedding import LENGTH, embed
from vision.board.labels import Content
from vision.board.patches import PATCH
from vision.learn import whole_contents
from vision.learn.augment import Examples
from vision.learn.whole_contents import closer, read_whole, train_whole, views_of, with_views

CONTENTS = (Content(0), Content(1, ((0, 2),)), Content(1), Content(0, ((0, 1),)))
INKS = np.array([[200, 180, 160], [60, 90, 200], [70, 160, 60], [190, 120, 40]], np.float64)


def patches_of(states: list[int], seed: int) -> Any:
    """Return a patch for each state: a disc of its own colour and size on a noisy ground, moved a little."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:PATCH, :PATCH] - (PATCH - 1) / 2
    patches = []
    for state in states:
        dx, dy = rng.normal(0, 3, 2)
        disc = (np.hypot(x - dx, y - dy) < 6 + 4 * state)[..., None]
        picture = np.where(disc, INKS[state], [120, 130, 140]) * rng.uniform(0.9, 1.1) + rng.normal(0, 4, (64, 64, 3))
        patches.append(np.clip(picture, 0, 255).astype(np.uint8))
    return np.stack(patches)


def described(patches: Any) -> Any:
    """Return what stands for the table's own features; groups as :func:`vision.board.features.groups` has them."""
    from vision.board.features import length

    small = patches[:, ::8, ::8].reshape(len(patches), -1).astype(np.float32)
    return np.pad(small, ((0, 0), (0, length() - small.shape[1])))


def views(states: list[int], seed: int, each: int = 3) -> Examples:
    every = [state for state in states for _ in range(each)]
    ground = np.array([CONTENTS[s].ground for s in every])
    counts = np.array([[CONTENTS[s].count(0)] for s in every])
    source = np.repeat(np.arange(len(states)), each)
    return Examples(patches_of(every, seed), ground, counts, np.array(every), source)


@pytest.fixture(scope="module")
def learnt() -> dict[str, Any]:
    some = views([0] * 9 + [1] * 9 + [2], 1)
    return train_whole(described(some.patches), some)


def test_whole_contents_are_read_also_one_that_was_seen_once(learnt: dict[str, Any]) -> None:
    states = [0, 1, 2] * 6
    asked = patches_of(states, 2)
    read = read_whole(described(asked), asked, learnt)
    for said, state in zip(read, states, strict=True):
        assert max(said, key=lambda content: said[content]) == CONTENTS[state]
        assert sum(said.values()) <= 1 + 1e-6
    assert np.mean([said[CONTENTS[s]] for said, s in zip(read, states, strict=True) if s < 2]) > 0.8


def test_what_was_never_taught_is_held_to_be_new_sooner_than_what_was(learnt: dict[str, Any]) -> None:
    known, new = patches_of([0, 1] * 6, 3), patches_of([3] * 6, 3)
    left = [1 - sum(said.values()) for said in read_whole(described(known), known, learnt)]
    fresh = [1 - sum(said.values()) for said in read_whole(described(new), new, learnt)]
    assert max(left) < 0.1 < min(fresh)


def test_views_that_are_added_are_known_at_once_and_the_rest_as_before(learnt: dict[str, Any]) -> None:
    more = views([3], 5, each=4)
    again = with_views(learnt, described(more.patches), more)
    known, new = patches_of([0, 1] * 6, 3), patches_of([3] * 6, 6)
    for said in read_whole(described(new), new, again):
        assert max(said, key=lambda content: said[content]) == CONTENTS[3]
    for said, state in zip(read_whole(described(known), known, again), [0, 1] * 6, strict=True):
        assert max(said, key=lambda content: said[content]) == CONTENTS[state]
        assert said[CONTENTS[state]] > 0.8
    # Another view of what is known adds no content.
    assert len(with_views(again, described(more.patches), more)["whole_ground"]) == len(again["whole_ground"]) == 4


def test_to_what_was_learnt_before_views_could_be_added_none_is(learnt: dict[str, Any]) -> None:
    old = {name: array for name, array in learnt.items() if name != "whole_rows"}
    assert whole_contents.may_be_added(learnt, 3)
    assert not whole_contents.may_be_added(old, 3)


def test_more_views_are_not_added_than_a_moment_is_enough_for(learnt: dict[str, Any]) -> None:
    assert not whole_contents.may_be_added(learnt, 2 * whole_contents._MOST)


def test_leaving_a_place_out_is_as_not_having_learnt_from_it() -> None:
    """The closed form against a regression that is solved anew without the place."""
    rng = np.random.default_rng(4)
    seen, rows, source = rng.normal(size=(30, 5)).astype(np.float32), np.arange(30) % 3, np.arange(30) // 3
    fitted = whole_contents._Regression(seen, rows, held=0.5)
    rest = source != 4
    alike = whole_contents._likeness(seen, seen)
    targets = (np.eye(3)[rows] - fitted.usual)[rest]
    anew = np.linalg.solve(alike[np.ix_(rest, rest)] + 0.5 * np.eye(rest.sum()), targets)
    assert fitted.without(source)[~rest] == pytest.approx(alike[np.ix_(~rest, rest)] @ anew + fitted.usual, abs=1e-4)


@pytest.mark.parametrize("zoom", [1.5, 2.2])
def test_prints_that_fill_little_of_a_place_are_looked_at_from_near_by(zoom: float) -> None:
    """Three small signs of one ink on blocks of one colour, among neighbours that tell nothing of them."""
    rng = np.random.default_rng(7)

    def signs(states: list[int]) -> Any:
        patches = np.full((len(states), PATCH, PATCH, 3), 60, np.uint8)
        for patch, state in zip(patches, states, strict=True):
            patch[:8], patch[-8:], patch[:, :8], patch[:, -8:] = rng.integers(0, 255, (4, 3), dtype=np.uint8)
            x, y = rng.integers(-2, 3, 2) + PATCH // 2
            square, bar = patch[y - 6 : y + 6, x - 6 : x + 6], patch[y - 2 : y + 2, x - 6 : x + 6]
            (square if state == 0 else bar)[:] = (40, 40, 200)
            if state == 2:
                patch[y - 6 : y + 6, x - 2 : x + 2] = (40, 40, 200)
        return patches

    states = [0, 1, 2] * 12
    every = signs(states * 2)
    rows = np.array(states * 2)
    some = Examples(every, np.zeros(72, int), np.eye(3, dtype=int)[rows], rows, np.tile(np.arange(36), 2))
    learnt = train_whole(described(every), some, single=True)
    near, asked = closer(every, zoom), signs(states)
    assert near.shape == every.shape and np.array_equal(closer(every, 1.0), every)
    assert (near == [40, 40, 200]).all(axis=3).sum() > 1.5 * (every == [40, 40, 200]).all(axis=3).sum()
    assert learnt["whole_zoom"].max() > 1
    # Where two may lie in one place, or were taught there, another may lie at its edge.
    two = replace(some, counts=2 * some.counts)
    assert train_whole(described(every), two, single=True)["whole_zoom"].tolist() == [1]
    assert train_whole(described(every), some)["whole_zoom"].tolist() == [1]
    read = [max(said, key=lambda content: said[content]) for said in read_whole(described(asked), asked, learnt)]
    assert sum(content.count(state) == 1 for content, state in zip(read, states, strict=True)) >= 34


def test_two_distances_are_looked_from_where_both_tell_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Signs that fill all of the place or a little of its middle: each distance tells half of what is to be told."""

    def signs(states: list[int], seed: int) -> Any:
        rng = np.random.default_rng(seed)
        patches = rng.integers(60, 72, (len(states), PATCH, PATCH, 3), dtype=np.uint8)
        for patch, state in zip(patches, states, strict=True):
            patch[3:7, 3:7] = 250 if state % 2 else 60
            small = patch[30:34, 30:34]
            small[:] = rng.integers(90, 110)
            if state > 1:
                small[:2, :2] = small[2:, 2:] = 200
        return patches

    # What the far look sees is the corner alone, what the near one sees the middle alone.
    def seen(patches: Any) -> Any:
        corner, middle = patches[:, 4:6, 4:6].mean(axis=(1, 2)), patches[:, 30:32, 30:32].mean(axis=(1, 2))
        near = (patches[:, 0, 0] == 0).all(axis=1)
        said = np.where(near[:, None], middle, corner) / 60
        return np.repeat(said, LENGTH, axis=1)[:, :LENGTH].astype(np.float32)

    def closer(patches: Any, zoom: float) -> Any:
        marked = patches.copy()
        marked[:, 0, 0] = 0 if zoom > 1 else 1
        return marked

    monkeypatch.setattr(whole_contents, "embed", seen)
    monkeypatch.setattr(whole_contents, "closer", closer)
    states = np.array([0, 1, 2, 3] * 8)
    every = np.concatenate([signs(states.tolist(), 1), signs(states.tolist(), 2)])
    rows = np.tile(states, 2)
    some = Examples(every, np.zeros(64, int), np.eye(4, dtype=int)[rows], rows, np.tile(np.arange(32), 2))
    plain = np.zeros_like(described(every))
    learnt = train_whole(plain, some, single=True)
    assert len(learnt["whole_zoom"]) == 2
    asked = signs([0, 1, 2, 3] * 3, 3)
    read = [max(said, key=lambda content: said[content]) for said in read_whole(plain[:12], asked, learnt)]
    assert [content.things[0][0] for content in read] == [0, 1, 2, 3] * 3


def test_what_is_seen_everywhere_is_learnt_from_fewer_views_than_what_was_taught_once() -> None:
    bare, seldom, once = Content(0), Content(1), Content(0, ((0, 1),))
    assert views_of([bare] * 10) == {bare: 16}
    many = views_of([bare] * 150 + [seldom] * 30 + [once])
    assert 2 <= many[bare] < many[seldom] < many[once] == 16
    assert 900 < 150 * many[bare] + 30 * many[seldom] + many[once] <= 1024
    assert views_of([bare] * 150 + [once]) == views_of([once] + [bare] * 150)
    assert views_of([bare] * 2048) == {bare: 2}
    assert views_of([bare] * 10, 0.5) == {bare: 8}
    assert views_of([]) == {}


def test_a_profile_of_before_has_no_such_answer() -> None:
    for of_before in ({}, {"whole_answers": np.zeros((40, 2), np.float32), "whole_usual": np.zeros(2, np.float32)}):
        assert read_whole(np.zeros((2, 40), np.float32), patches_of([0, 1], 1), of_before) == [{}, {}]


def test_an_embedding_has_one_strength_and_knows_light_from_things() -> None:
    seen = embed(patches_of([0, 0, 1], 5))
    assert seen.shape == (3, LENGTH) and seen.dtype == np.float32
    assert (seen**2).mean(axis=1) == pytest.approx(1, abs=0.01)
    assert np.linalg.norm(seen[0] - seen[1]) < np.linalg.norm(seen[0] - seen[2])
    assert embed(np.zeros((0, PATCH, PATCH, 3), np.uint8)).shape == (0, LENGTH)
