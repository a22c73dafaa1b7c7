"""The stored shakes of the training room: made as they say, and read back as a bank."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from companion.igloo.simulated.device import load_bank
from companion.lab.physics import practice
from companion.ports import COUNTS

pytestmark = pytest.mark.learning


def test_an_igloo_of_the_training_room_is_made_written_and_read(tmp_path: Path) -> None:
    done: list[int] = []
    made = practice.igloo(1, progress=lambda: done.append(1))
    assert len(done) == len(COUNTS)
    practice.write(made, tmp_path / "igloo-1.npz")
    bank = load_bank(tmp_path / "igloo-1.npz")
    assert bank.count.tolist() == list(COUNTS)
    assert (bank.accel == made["accel"]).all()
    felt = bank.accel * (bank.ug_per_lsb * 1e-6)
    assert felt.shape[1] == int(practice.SECONDS * bank.rate_hz)
    assert 0.3 < float(np.median(felt.std(axis=(1, 2)))) < 4.0
    assert (tmp_path / "igloo-1.npz").stat().st_size < 360_000
