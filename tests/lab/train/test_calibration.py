"""What is known before a calibration can be learnt anew, and is read as it was written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from companion.igloo.calibration.store import prior_card, priors, usual
from companion.lab.train.calibration import SimulationPlan, build, write

pytestmark = pytest.mark.learning

PLAN = SimulationPlan(devices=4, guided=3, hands=2, rounds=1, seconds=1.2, seed=7)


def test_a_small_training_gives_priors_for_every_rate_and_both_motions(tmp_path: Path) -> None:
    told: list[str] = []
    found, typical, card = build(PLAN, lambda what, done, of: told.append(what))
    assert set(found) == {(tier, guided) for tier in (3200.0, 1600.0, 800.0) for guided in (False, True)}
    assert {"Shaking", "Shaking with the beat"} < set(told)
    path = tmp_path / "calibration.npz"
    write(path, found, typical, card)
    again = priors(path)
    for key, prior in found.items():
        assert np.allclose(again[key].weights, prior.weights, atol=1e-6)
        assert again[key].noise == prior.noise
    assert usual(path) is not None
    assert prior_card(path)["shakes"] == {"free": 96, "guided": 72}
    assert path.stat().st_size < 400_000
