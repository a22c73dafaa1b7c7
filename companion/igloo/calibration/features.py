"""From a recorded shake to what calibration learns from: features of its pieces, and what the counter says of each."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from companion.igloo.count.counter import CountModel, count_runs, embed, shipped
from companion.igloo.count.ensemble import as_vector
from companion.igloo.count.features import FEATURES, FeatureStream
from companion.igloo.count.guided_gauge import kept
from companion.igloo.count.signal_validity import scale_of
from companion.ports import CountPosterior, DeviceKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from companion.ports import Samples

    FloatArray = NDArray[np.float64]

PIECE_S = 4.0
"""A longer shake is cut into pieces of about this length, whose errors are then known to go together."""
SHORTEST_PIECE_S = 0.6


@cache
def heard_by(tier: float) -> str:
    """Return a name of what makes vectors at this tier: only vectors of the same name may be compared."""
    ensemble = shipped().tiers[tier]
    digest = hashlib.sha256(np.array([ensemble.stretch, ensemble.trust]).tobytes())
    for values in (*(part for net in ensemble.nets for layer in net.layers for part in layer),):
        digest.update(np.ascontiguousarray(values).tobytes())
    for bead_net in ensemble.bead_nets:
        for name in sorted(bead_net.weights):
            digest.update(np.ascontiguousarray(bead_net.weights[name]).tobytes())
    return digest.hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class ShakeFeatures:
    """One shake as calibration sees it: ``vectors`` (pieces, f + h + 1) and how long each piece was.

    ``answer`` is the counter's own; where it has no probabilities there are no pieces either. ``kept`` tells whether
    the motion kept to the beat of the guided count.
    """

    answer: CountPosterior
    vectors: FloatArray
    seconds: FloatArray
    tier: float
    kept: bool


@dataclass(frozen=True, slots=True)
class Labelled:
    """One shake of a known number of beads: what was heard, by whose hand, and whether it kept to the beat."""

    heard: ShakeFeatures
    count: int
    who: str
    guided: bool


def vector(
    accel: FloatArray, rate_hz: float, model: CountModel | None = None
) -> tuple[FloatArray, float, float] | None:
    """Return (vector, seconds, tier) of a piece of shaking (n, 3) in g; None where there is too little.

    The vector is the features, the last hidden layers of the counter's bead networks and, last, the mean log count that
    the counter says. It means the same as long as :func:`heard_by` does.
    """
    model = model or shipped()
    found = embed(accel, rate_hz, model=model)
    if found is None:
        return None
    return as_vector(found, model.tiers[found.tier]), found.seconds, found.tier


def counted(tier: float, vectors: FloatArray) -> FloatArray:
    """Return the counter's own probabilities (n, 12) of the pieces that :func:`as_vector` made vectors (n, …) of."""
    ensemble = shipped().tiers[tier]
    layers = [net.hidden(ensemble.standard(vectors[:, :FEATURES])) for net in ensemble.nets]
    at = FEATURES
    for bead_net in ensemble.bead_nets:
        layers.append(vectors[:, at : at + bead_net.width])
        at += bead_net.width
    return ensemble.answer(*ensemble.says(layers))


def pieces(accel: FloatArray, rate_hz: float) -> Iterator[FloatArray]:
    """Yield what samples (n, 3) are cut into, of about :data:`PIECE_S` each; less than the shortest is left out."""
    parts = max(1, round(len(accel) / rate_hz / PIECE_S))
    for start, end in pairwise(np.linspace(0, len(accel), parts + 1).astype(np.int64)):
        if end - start >= SHORTEST_PIECE_S * rate_hz:
            yield accel[start:end]


def hear(runs: Sequence[Samples], *, model: CountModel | None = None, key: str = "") -> ShakeFeatures:
    """Return what is heard of one shake that came in runs, in g or, said in the answer, in m/s²."""
    model = model or shipped()
    answer = count_runs(runs, model=model, key=key, kind=DeviceKind.RECORDED)
    nothing = ShakeFeatures(answer, np.zeros((0, 0)), np.zeros(0), 0.0, False)
    if not answer.p:
        return nothing
    scale = scale_of(np.concatenate([run.accel for run in runs])) or 1.0
    vectors, lengths, tier, beat = [], [], 0.0, []
    for run in runs:
        rate = run.rate_hz
        stream = FeatureStream(rate)
        stream.feed(run.accel * scale)
        beat.append(kept(stream.cells))
        for piece in pieces(run.accel * scale, rate):
            found = vector(piece, rate, model)
            if found:
                vectors.append(found[0])
                lengths.append(found[1])
                tier = found[2]
    if not vectors:
        return nothing
    return ShakeFeatures(answer, np.asarray(vectors), np.asarray(lengths), tier, all(beat))


def answered(heard: Sequence[ShakeFeatures], p: Iterable[float], why: str = "") -> CountPosterior:
    """Return the answer of several shakes with other probabilities."""
    seconds = float(sum(one.seconds.sum() for one in heard))
    counted = any(one.answer.state == "counted" for one in heard) or seconds >= 1.5
    last = heard[-1].answer
    state = "counted" if counted else "more"
    note = why or (last.why if not counted or last.why else "")
    return replace(last, state=state, p=tuple(float(v) for v in p), seconds=seconds, why=note)
