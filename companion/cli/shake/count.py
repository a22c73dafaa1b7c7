"""The answers of `companion shake count`, with a calibration and without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from companion.igloo.calibration.features import hear
from companion.igloo.calibration.store import NOT_KNOWN, Calibration, CalibrationStore
from companion.igloo.count.counter import count_runs, shipped, together
from companion.ports import CountPosterior, DeviceKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from companion.igloo.recordings import Recording


def answers(
    recording: Recording, name: str, store: CalibrationStore | None, *, guided: bool, together: bool
) -> Iterator[CountPosterior]:
    """Yield an answer for every shake of a recording, or one for all of them together.

    Shakes are of the igloo and by the hand that the recording names; a shake counts as guided where it says so or
    ``guided`` is set.
    """
    every = range(len(recording.shakes))
    groups = [list(every)] if together else [[i] for i in every]
    for group in groups:
        yield _answer(recording, group, name, store, guided=guided)


def _answer(
    recording: Recording, group: list[int], name: str, store: CalibrationStore | None, *, guided: bool
) -> CountPosterior:
    """Return one answer for shakes with the same number of beads."""
    devices = {recording.device[i] if recording.device else "" for i in group}
    known: Calibration | None = store.of(devices.pop()) if store and len(devices) == 1 else None
    beat = guided or (bool(recording.guided) and all(recording.guided[i] for i in group))
    if known is None and not beat:
        model = shipped()
        plain = [count_runs(recording.runs(i), model=model, key=name, kind=DeviceKind.RECORDED) for i in group]
        found = together(plain, model=model) if len(plain) > 1 else plain[0]
        return _noted(found, NOT_KNOWN) if store else found
    heard = [hear(recording.runs(i), key=name) for i in group]
    who = [recording.person[i] if recording.person else "" for i in group]
    if known is None:
        tiers = {one.tier for one in heard if len(one.vectors)}
        known = Calibration.of_nothing(tiers.pop() if len(tiers) == 1 else 0.0)
        found = known.count(heard, who, guided=beat)
        return _noted(found, NOT_KNOWN) if store else found
    return known.count(heard, who, guided=beat)


def _noted(answer: CountPosterior, why: str) -> CountPosterior:
    """Return an answer with a reason, where it has none of its own."""
    from dataclasses import replace

    return answer if answer.why else replace(answer, why=why)
