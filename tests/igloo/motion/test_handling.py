"""Motion on simulated handling: hands, mountings, tables and mishaps drawn from the ranges."""

from __future__ import annotations

import pytest

from companion.lab.bench import motion
from companion.ports import MotionState as S
from tests.worlds.sizes import size


@pytest.mark.sized
def test_handling_is_recognised() -> None:
    tally = motion.MotionScore()
    for episode in motion.episodes(seed=41, count=size(2, 8)):
        motion.add(tally, episode, motion.detections(episode))
    assert tally.seconds > size(17, 70)
    assert sum(tally.shown.values()) > size(12, 50)
    assert sum(tally.found.values()) >= 0.97 * sum(tally.shown.values())
    for state in (S.REST, S.LIFTED, S.SHAKEN, S.TURNED, S.SET_DOWN):
        assert tally.recall(state) >= 0.9, state
    assert tally.wrong.get(S.TURNED, 0) == 0
    assert tally.wrong.get(S.DROPPED, 0) == 0


def test_the_simulated_truth_is_a_story_of_a_turn() -> None:
    episode = next(motion.episodes(seed=42, count=1))
    begins = [label.begin for label in episode.truth]
    assert begins == sorted(begins)
    assert episode.truth[0].state is S.REST
    assert episode.truth[-1].end <= len(episode.accel) / episode.rate_hz + 0.2
    assert all(label.end > label.begin for label in episode.truth)
