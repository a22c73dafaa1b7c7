"""What lies in a place as one answer over whole contents: on features of a few drawn contents."""

from __future__ import annotations

import numpy as np

from vision.board.labels import Content
from vision.learn.augment import Examples
from vision.learn.whole_contents import read_whole, train_whole

CONTENTS = (Content(0), Content(1, ((0, 2),)), Content(1))


def drawn(many: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return features (many, 40) and which of the contents each shows; the last is seldom."""
    rng = np.random.default_rng(seed)
    state = rng.choice(3, many, p=[0.48, 0.48, 0.04])
    middles = np.random.default_rng(0).normal(0, 1, (3, 40))
    return (middles[state] + rng.normal(0, 1, (many, 40))).astype(np.float32), state


def examples_of(state: np.ndarray, source: np.ndarray) -> Examples:
    ground = np.array([CONTENTS[s].ground for s in state])
    counts = np.array([[CONTENTS[s].count(0)] for s in state])
    return Examples(np.zeros((len(state), 0, 0, 3), np.uint8), ground, counts, state, source)


def test_whole_contents_are_read_also_seldom_ones() -> None:
    features, state = drawn(300, 1)
    by = {"mean": features.mean(axis=0), "scale": np.ones(40, np.float32)}
    arrays = by | train_whole(features, by, examples_of(state, np.arange(300)))
    asked, truth = drawn(200, 2)
    read = read_whole(asked, arrays)
    assert read is not None
    right = [content == CONTENTS[s] for content, s in zip(read, truth, strict=True)]
    assert np.mean(right) > 0.95
    assert all(r for r, s in zip(right, truth, strict=True) if s == 2)


def test_what_was_put_together_teaches_nothing() -> None:
    features, state = drawn(300, 1)
    by = {"mean": features.mean(axis=0), "scale": np.ones(40, np.float32)}
    arrays = by | train_whole(features, by, examples_of(state, np.where(state == 1, -1, 0)))
    read = read_whole(features, arrays)
    assert read is not None
    assert CONTENTS[1] not in read


def test_a_profile_of_before_has_no_such_answer() -> None:
    assert read_whole(np.zeros((2, 40), np.float32), {}) is None
