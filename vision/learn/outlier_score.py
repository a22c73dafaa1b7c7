"""How strange a place looks, by what was learnt of strange things.

The first igloo is much like two inuit of its tribe, and nothing of it lies far from what was taught: a small network
learns taught places against made-up strangers (:mod:`vision.learn.synthetic_unknowns`). How it judges taught places
that were kept from it tells how far it is believed: where each place has a picture of its own, the next one looks new
as well, and is not strange for that.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from vision.learn.optimiser import BATCH, TrainingConfig, fit, projected, projection
from vision.learn.synthetic_unknowns import ON

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from vision.learn.augment import Examples

    Floats = NDArray[np.float32]
    Arrays = Mapping[str, NDArray[Any]]

ARRAYS: Final = (
    "strange_mean",
    "strange_scale",
    "strange_axes",
    "strange_w1",
    "strange_b1",
    "strange_w2",
    "strange_b2",
    "strange_from",
)
"""What the network is stored as; profiles of before there was one are without."""
_ENOUGH: Final = 100
_COMPONENTS: Final = 200
_AGAINST: Final = 2.0
"""So many taught places are learnt against each stranger."""
_SEVERAL: Final = 4
"""Contents that were taught in so many places can spare one for a test."""
_SPARED: Final = 0.2
_LEAST: Final = 0.0
_CLEARLY: Final = 0.5
"""By how much (in logits) a place must be stranger than nearly all taught ones, and at the least, to be likely so."""
_NOISE: Final = 0.25
_STEPS: Final = 1400
"""Of learning; of fewer strangers by the root of it fewer."""


def strangeness(features: Floats, arrays: Arrays) -> Floats:
    """Return (n,): how likely something strange lies in each place; 0 where that was never learnt."""
    if "strange_w1" not in arrays:
        return np.zeros(len(features), np.float32)
    found: Floats = 1 / (1 + np.exp(-_logits(features, arrays) + float(arrays["strange_from"])))
    return found


@dataclass(frozen=True)
class Strangers:
    """The features (n, features) of places with something strange ``on`` them, and ``beside`` them only."""

    on: Floats
    beside: Floats


def train_strangeness(
    features: Floats, examples: Examples, strangers: Strangers, rng: np.random.Generator
) -> dict[str, NDArray[Any]]:
    """Return the :data:`ARRAYS` of examples and strangers."""
    spared = np.isin(examples.source, _to_spare(examples, rng))
    rest = np.nonzero(~spared)[0]
    some = rng.permutation(rest)[: round(_AGAINST * len(strangers.on))]
    every = np.concatenate([features[some], strangers.beside, strangers.on])
    by = projection(every, _COMPONENTS)
    targets = np.zeros((len(every), 2), np.float32)
    targets[: -len(strangers.on), 0] = targets[-len(strangers.on) :, 1] = 1
    white = projected(every, by)
    steps = _STEPS * sqrt(len(strangers.on) / ON)
    epochs = ceil(steps / max(1, len(every) // BATCH))
    course = TrainingConfig(128, epochs, 3e-3, 0.01, 0.3, float(np.sqrt(2 / white.shape[1])), _NOISE)
    net = {name: array[0] for name, array in fit(white, targets, (2,), course, rng).items()}
    arrays = {f"strange_{name}": array for name, array in (by | net).items()}
    judged = _logits(features[np.nonzero(spared)[0]], arrays)
    usual = float(np.quantile(judged, 0.99)) if len(judged) >= _ENOUGH else 0.0
    arrays["strange_from"] = np.array(max(_LEAST, usual + _CLEARLY), np.float32)
    return arrays


def _logits(features: Floats, arrays: Arrays) -> Floats:
    white = projected(features, {name: arrays[f"strange_{name}"] for name in ("mean", "scale", "axes")})
    hidden = np.maximum(white @ arrays["strange_w1"] + arrays["strange_b1"], 0)
    outputs = hidden @ arrays["strange_w2"] + arrays["strange_b2"]
    odds: Floats = outputs[:, 1] - outputs[:, 0]
    return odds


def _to_spare(examples: Examples, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return taught places (their sources) that can be kept for a test: others show the same content."""
    spared: list[int] = []
    for _, some in sorted(_sources(examples).items()):
        if len(some) >= _SEVERAL:
            spared += rng.permutation(sorted(some))[: round(_SPARED * len(some))].tolist()
    return np.array(spared, np.intp)


def _sources(examples: Examples) -> dict[int, set[int]]:
    """Return for each state the taught places that show it."""
    sources: dict[int, set[int]] = {}
    for state, source in zip(examples.state.tolist(), examples.source.tolist(), strict=True):
        if source >= 0:
            sources.setdefault(state, set()).add(source)
    return sources
