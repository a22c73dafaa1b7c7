"""The learnt bead network: what runs on numpy is what was trained with jax, and a toy is learnt."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from companion.igloo.count import convnet
from companion.igloo.count.convnet import BeadNet, NetInput, prepare
from companion.igloo.count.features import TIERS
from companion.lab.train import dataset, train_convnet
from companion.lab.train.train_convnet import BeadNetTrainingConfig

pytestmark = pytest.mark.learning

SMALL = BeadNetTrainingConfig(
    augment=(True,),
    ema_decay=(0.9,),
    heads=2,
    filters=6,
    sound=(8, 8, 10),
    cells=12,
    dense=16,
    epochs=40,
    crops=((1536, 32),),
)


def rattle(count: int, seed: int, seconds: float = 1.6, rate: float = 3200.0) -> NDArray[np.float64]:
    """A toy: a hand at 4 Hz, and clicks whose number goes with the count, in g."""
    rng = np.random.default_rng(seed)
    n = int(rate * seconds)
    t = np.arange(n) / rate
    accel = np.column_stack([0 * t, 1.5 * np.sin(2 * np.pi * 4 * t + rng.uniform(0, 6)), 1 + 0 * t])
    for at in rng.integers(20, n - 60, int(12 * count * seconds)):
        ring = np.exp(-np.arange(30) / 6) * np.cos(1.3 * np.arange(30))
        accel[at : at + 30] += rng.normal(size=3) * (ring - ring.mean())[:, None]
    return np.asarray(accel + rng.normal(size=accel.shape) * 0.02)


def heard(count: int, seed: int, seconds: float = 1.6) -> NetInput:
    found = dataset.listen(rattle(count, seed, seconds), 3200.0, TIERS[0]).heard
    assert found is not None
    return found


@pytest.mark.parametrize("samples", [1536, 2000, 5000])
def test_numpy_says_what_jax_was_trained_to_say(samples: int) -> None:
    rng = np.random.default_rng(0)
    weights = {name: np.asarray(value) for name, value in train_convnet._begin(BeadNetTrainingConfig(), rng).items()}
    weights["w10"] = weights["w10"] * 10
    for name in ("b2", "b4", "b5", "b7", "b9"):
        weights[name] = rng.normal(size=weights[name].shape).astype(np.float32) * 0.1
    one = NetInput(
        rng.normal(size=(samples, 3)).astype(np.float32), rng.normal(size=(samples // 32, 5)).astype(np.float32)
    )
    bead_net = BeadNet(weights)
    mu, s = bead_net.says(bead_net.hidden(one)[None])
    told = train_convnet.forward(weights, one.sound[None], one.motion[None])
    assert mu[0] == pytest.approx(float(told[0][0]), abs=1e-3)
    assert np.log(s[0]) == pytest.approx(float(told[1][0]), abs=1e-3)


def test_the_mounting_does_not_matter_to_a_listener() -> None:
    accel = rattle(5, 1)
    q, _ = np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))
    q *= np.linalg.det(q)  # a turn, no mirror
    bead_net = BeadNet(dict(train_convnet._begin(BeadNetTrainingConfig(), np.random.default_rng(0))))
    found = []
    for turned in (accel, accel @ q.T):
        one = dataset.listen(turned, 3200.0, TIERS[0]).heard
        assert one is not None
        found.append(bead_net.hidden(one))
    np.testing.assert_allclose(found[0], found[1], atol=2e-3)


def test_the_loudness_is_told_apart_from_the_sound() -> None:
    one, two = (prepare([np.full((64, 6), 0.0, np.float32) + part]) for part in _parts())
    np.testing.assert_allclose(one.sound, two.sound, atol=1e-5)
    np.testing.assert_allclose(one.motion[:, :4], two.motion[:, :4], atol=1e-5)
    np.testing.assert_allclose(two.motion[:, 4] - one.motion[:, 4], np.log2(3), atol=1e-5)


def _parts() -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    part = np.random.default_rng(1).normal(size=(64, 6)).astype(np.float32)
    louder = part.copy()
    louder[:, :3] *= 3
    return part, louder


def test_silence_and_too_little_do_not_break_a_listener() -> None:
    bead_net = BeadNet(dict(train_convnet._begin(BeadNetTrainingConfig(), np.random.default_rng(0))))
    for samples in (convnet.FEWEST, 2000):
        assert np.isfinite(bead_net.hidden(prepare([np.zeros((samples, 6), np.float32)]))).all()
    assert dataset.listen(rattle(3, 1, 0.4), 3200.0, TIERS[0]).heard is None


def test_a_listener_learns_a_toy_the_same_each_time() -> None:
    counts = np.tile(np.arange(2, 14), 12)
    shakes = [heard(int(n), i) for i, n in enumerate(counts)]
    told: list[tuple[int, int]] = []
    bead_net = train_convnet.train_one(shakes, counts, SMALL, 0, lambda done, of: told.append((done, of)))
    assert told[-1][0] == told[-1][1]
    brief = replace(SMALL, epochs=4)
    one, two = (train_convnet.train_one(shakes, counts, brief, 0) for _ in range(2))
    for name, value in one.weights.items():
        np.testing.assert_array_equal(value, two.weights[name])
    given = {name: value.copy() for name, value in one.weights.items()}
    slower = [
        dataset.listen(dataset.slower(rattle(int(n), i), 2), 1600.0, TIERS[1]).heard for i, n in enumerate(counts)
    ]
    slowed = train_convnet.slow_down(one, [found for found in slower if found is not None], counts, brief, 2)
    assert not np.array_equal(slowed.weights["w9"], given["w9"])
    for name, value in given.items():
        np.testing.assert_array_equal(one.weights[name], value)
    fresh = [heard(n, 900 + n) for n in range(2, 14)]
    mu, _ = bead_net.says(np.array([bead_net.hidden(one) for one in fresh]))
    assert np.corrcoef(mu, np.log(np.arange(2, 14)))[0, 1] > 0.8
