"""The one optimiser: it takes the steps of the papers, whatever the parameters' form and precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vision.learn.adam import Adam, half_cosine

RATE, DECAY = 0.01, 0.1


def by_the_paper(start: np.ndarray, gradients: list[np.ndarray], decay: float) -> np.ndarray:
    """Kingma and Ba 2015, algorithm 1, line by line, and the decay beside it."""
    p, m, v = start.copy(), np.zeros_like(start), np.zeros_like(start)
    for t, g in enumerate(gradients, 1):
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g**2
        p = p - RATE * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
        p = p - RATE * decay * p
    return p


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_steps_are_those_of_the_paper_and_only_biases_do_not_decay(dtype: Any) -> None:
    rng = np.random.default_rng(1)
    starts = [rng.normal(size=shape) for shape in ((4,), (4, 3), (2, 4, 3))]
    gradients = [[rng.normal(size=p.shape) for p in starts] for _ in range(20)]
    parameters = [p.astype(dtype) for p in starts]
    adam = Adam(parameters, decay=DECAY)
    for one in gradients:
        adam.step([g.astype(dtype) for g in one], RATE)
    for k, (start, found) in enumerate(zip(starts, parameters, strict=True)):
        told = by_the_paper(start, [one[k] for one in gradients], 0.0 if start.ndim == 1 else DECAY)
        assert found.dtype == dtype
        np.testing.assert_allclose(found, told, rtol=1e-12 if dtype is np.float64 else 1e-5)


def test_a_gradient_for_every_parameter_is_asked_for() -> None:
    with pytest.raises(ValueError, match="zip"):
        Adam([np.zeros(2), np.zeros(3)], decay=0.0).step([np.ones(2)], RATE)


def test_the_rate_falls_as_half_a_cosine_and_stays_there() -> None:
    found = [half_cosine(step, 100) for step in (0, 25, 50, 75, 100, 130)]
    assert found == pytest.approx([1, 0.8535534, 0.5, 0.1464466, 0, 0])
