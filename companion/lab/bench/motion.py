"""How well motion is recognised on simulated handling: for the tests and the bench."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from companion.igloo.motion.detector import MotionDetector
from companion.lab.physics import handling, world
from companion.lab.physics.ranges import Ranges
from companion.ports import DeviceKind, MotionState, Samples

FloatArray = NDArray[np.float64]

LATE = {MotionState.SET_DOWN: 0.45, MotionState.KNOCKED: 0.45, MotionState.DROPPED: 0.45, MotionState.REST: 0.45}
"""How long after its end a state may still be told, in seconds; 0.2 for the others."""
SHORTEST_CARRY_S = 0.45
"""Shorter pauses in the hand, between a shake and the next thing, need no name of their own."""


@dataclass(slots=True)
class MotionScore:
    """Recall a state, how late it was told, and what was told wrongly; ``seconds`` of handling in all."""

    shown: dict[MotionState, int] = field(default_factory=dict)
    found: dict[MotionState, int] = field(default_factory=dict)
    delays: dict[MotionState, list[float]] = field(default_factory=dict)
    wrong: dict[MotionState, int] = field(default_factory=dict)
    seconds: float = 0.0

    def recall(self, state: MotionState) -> float:
        """Return the part of a state's occurrences that was told."""
        return self.found.get(state, 0) / max(self.shown.get(state, 0), 1)

    def wrong_an_hour(self, state: MotionState) -> float:
        """Return how often in an hour a state is told that is not there."""
        return 3600 * self.wrong.get(state, 0) / max(self.seconds, 1e-9)


def episodes(seed: int, count: int, *, peeks: bool = True, drops: bool = True) -> Iterator[handling.Episode]:
    """Simulate so many turns at an igloo, each with a sensor, mounting and hand of its own."""
    ranges = Ranges()
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        device, person = ranges.device(rng), ranges.person(rng)
        script = handling.Script(device, person, rng)
        handling.play(script, peek=peeks and number % 3 == 1, mishap=drops and number % 3 == 2)
        recording = world.record(device, person.grip, script.path(), int(rng.integers(2, 14)), rng)
        yield handling.Episode(recording.g, recording.rate_hz, handling.joined(script.labels))


def detections(episode: handling.Episode, portion: int = 16) -> list[tuple[MotionState, float]]:
    """Return what the detector tells of an episode, with the time at which it was told."""
    detector = MotionDetector("simulated", DeviceKind.SIMULATED)
    answers = []
    for start in range(0, len(episode.accel), portion):
        part = episode.accel[start : start + portion]
        run = Samples(part, start / episode.rate_hz, episode.rate_hz, start)
        now = (start + len(part)) / episode.rate_hz
        answers += [(motion.state, now) for motion in detector.feed(run)]
    return answers


def add(tally: MotionScore, episode: handling.Episode, answers: list[tuple[MotionState, float]]) -> None:
    """Compare what was told with the truth."""
    tally.seconds += len(episode.accel) / episode.rate_hz
    for label in episode.truth:
        state = label.state
        if state is MotionState.CARRIED and label.end - label.begin < SHORTEST_CARRY_S:
            continue
        tally.shown[state] = tally.shown.get(state, 0) + 1
        late = LATE.get(state, 0.2)
        times = [at for what, at in answers if what is state and label.begin - 0.1 <= at <= label.end + late]
        before = [what for what, at in answers if at <= label.begin + 0.05]
        if not times and before and before[-1] is state:
            times = [label.begin]
        if times:
            tally.found[state] = tally.found.get(state, 0) + 1
            tally.delays.setdefault(state, []).append(min(times) - label.begin)
    for state, at in answers:
        if not _excused(episode.truth, state, at):
            tally.wrong[state] = tally.wrong.get(state, 0) + 1


def _excused(truth: tuple[handling.HandlingLabel, ...], state: MotionState, at: float) -> bool:
    """Tell whether a state told at a time is right, or right enough."""
    for label in truth:
        if label.state is state and label.begin - 0.3 <= at <= label.end + 0.6:
            return True
        # a long lift becomes carrying; so does the way back from a peek
        if state is MotionState.CARRIED and label.state is MotionState.LIFTED and label.begin <= at <= label.end:
            return True
        if state is MotionState.CARRIED and label.state is MotionState.TURNED and label.end <= at <= label.end + 1.2:
            return True
        # what was dropped lies there
        if state is MotionState.REST and label.state is MotionState.DROPPED and at > label.end:
            return True
    return False
