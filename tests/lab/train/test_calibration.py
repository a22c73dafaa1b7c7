"""What is known before a calibration can be learnt anew, and is read as it was written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from companion.igloo.calibration.gaussian_process import Prior
from companion.igloo.calibration.store import prior_card, priors, usual
from companion.igloo.recordings import Recording
from companion.lab.physics import draws, guided, people, world
from companion.lab.train import calibration_prior
from companion.lab.train.calibration import REAL, SimulationPlan, build, listen, recorded, shaken, write
from companion.lab.train.calibration_prior import LabelledShakes
from companion.lab.train.dataset import slower
from companion.ports import BadDataError

pytestmark = pytest.mark.learning

PLAN = SimulationPlan(
    devices=4, guided=3, hands=2, rounds=1, seconds=1.2, seed=7, measured={"bead_mm": (6.0, 6.5), "cap_g": (8.0, 9.0)}
)


def a_recording(seed: int, scale: float = 1.0) -> Recording:
    """Six shakes of one simulated igloo by two people, one of them no shake; the last three with the beat."""
    igloo, hand = draws.pair(seed, 0)
    shakes = []
    for i, count in enumerate((2, 5, 9, 3, 7, 12)):
        rng = draws.generator(seed, 0, 0, i)
        path = guided.guided(hand, 2.0, rng, rng) if i >= 3 else people.shake(hand, 2.0, rng)
        shakes.append(world.record(igloo, hand.grip, path, count, rng).g * scale)
    shakes[1] = np.tile([0.0, 0.0, scale], (len(shakes[1]), 1))
    return Recording(
        tuple(shakes),
        igloo.rate_hz,
        count=(2, 5, 9, 3, 7, 12),
        device=("igloo",) * 6,
        person=("Ada", "Ada", "Ada", "Ben", "Ben", "Ada"),
        guided=(False, False, False, True, True, True),
    )


def test_a_small_training_gives_priors_for_every_rate_and_both_motions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    taught: list[set[int]] = []
    learn = calibration_prior.learn

    def seen(shakes: LabelledShakes, **how: Any) -> Prior:
        taught.append({int(device) for device in shakes.devices})
        return learn(shakes, **how)

    monkeypatch.setattr(calibration_prior, "learn", seen)
    real = recorded([("mine.npz", a_recording(1))])
    found, typical, card = build(PLAN, lambda what, done, of: told.append(what), real)
    assert taught == [{0, 1, 2, 3, REAL}] * 3 + [{0, 1, 2, REAL}] * 3
    assert set(found) == {(tier, guided) for tier in (3200.0, 1600.0, 800.0) for guided in (False, True)}
    assert {"Shaking", "Shaking with the beat"} < set(told)
    path = tmp_path / "calibration.npz"
    write(path, found, typical, card)
    again = priors(path)
    for key, prior in found.items():
        assert np.allclose(again[key].weights, prior.weights, atol=1e-6)
        assert again[key].noise == prior.noise
    assert usual(path) is not None
    assert prior_card(path)["real"] == {"igloos": 1, "pieces": 5, "refused": 1}
    assert prior_card(path)["box"] == {"bead_mm": [6.0, 6.5], "cap_g": [8.0, 9.0]}
    assert prior_card(path)["shakes"] == {"free": 96, "guided": 72}
    assert path.stat().st_size < 400_000


def test_igloos_of_recordings_are_taken_in_beside_the_simulated_ones() -> None:
    mine, yours = a_recording(1), a_recording(2, 9.80665)
    real = recorded([("mine.npz", mine), ("yours.npz", yours)])
    assert (real.igloos, real.refused) == (2, 2)
    every = real.free + real.beat
    # of two owners whose igloos have one name each is one of its own, and m/s² are g as all others
    assert len({one[3] for one in every}) == 2
    assert max(float(np.abs(one[0].mean(axis=0)).max()) for one in every) < 2.0
    assert sorted((one[2], one[4]) for one in every) == sorted(2 * [(2, 0), (9, 0), (3, 1), (7, 1), (12, 0)])
    assert {one[2] for one in real.beat} <= {3, 7, 12}


def test_a_recording_at_a_low_rate_teaches_the_low_rates_only() -> None:
    one = a_recording(3)
    slow = tuple(slower(shake, 4) for shake in one.shakes)
    real = recorded([("slow.npz", replace(one, shakes=slow, rate_hz=one.rate_hz / 4))])
    heard = listen(real.free + real.beat)
    assert set(heard) == {800.0}
    assert len(heard[800.0].counts) >= 4


def test_a_recording_without_labels_is_refused() -> None:
    with pytest.raises(BadDataError, match="does not say how many beads"):
        recorded([("plain.npz", replace(a_recording(4), count=()))])


def test_shakes_for_a_box_are_not_those_for_any() -> None:
    few = replace(PLAN, devices=1, hands=1)
    any_box = list(shaken(replace(few, measured={}), guided=False))
    assert [one[0].shape for one in any_box] != [one[0].shape for one in shaken(few, guided=False)]
