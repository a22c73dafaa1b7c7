"""How strange a place looks: by its distance to everything that was taught, and by what was learnt of strange things.

The distance tells what is like nothing at all. What is like something (an igloo is much like two inuit of its tribe) is
told by a small network that has learnt taught places against made-up strangers
(:mod:`vision.learn.synthetic_unknowns`). How it judges taught places that were kept from it tells how far it is
believed: where each place has a picture of its own, the next one looks new as well, and is not strange for that.
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

ARRAYS: Final = ("bank", "usual", "most_beside")
"""What the distance is stored as."""
LEARNT: Final = (
    "strange_mean",
    "strange_scale",
    "strange_axes",
    "strange_w1",
    "strange_b1",
    "strange_w2",
    "strange_b2",
    "strange_from",
)
"""What the network of strange things is stored as; profiles of before there was one are without."""
_BANK: Final = 2500
_NEIGHBOURS: Final = 3
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


def distances(white: Floats, arrays: Arrays) -> Floats:
    """Return how far each place (n, components) is from all examples, against how far those are from each other."""
    found: Floats = _nearest(white, arrays["bank"]) / float(arrays["usual"])
    return found


def beside(features: Floats, white: Floats, arrays: Arrays) -> Floats:
    """Return (n, 2): how much of a place its whitened features do not tell, and how strange its colours are."""
    whole = (((features - arrays["mean"]) * arrays["scale"]) ** 2).sum(axis=1)
    explained = (white**2 / (arrays["axes"] ** 2).sum(axis=0)).sum(axis=1)
    return np.column_stack([np.sqrt(np.maximum(whole - explained, 0)), features[:, -1]]).astype(np.float32)


def oddness(features: Floats, white: Floats, arrays: Arrays) -> Floats:
    """Return (n,): how unlike everything taught each place looks; 1 is as far as taught things come."""
    strange = beside(features, white, arrays) / arrays["most_beside"]
    odd: Floats = np.maximum(distances(white, arrays), strange.max(axis=1))
    return odd


def strangeness(features: Floats, arrays: Arrays) -> Floats:
    """Return (n,): how likely something strange lies in each place; 0 where that was never learnt."""
    if "strange_w1" not in arrays:
        return np.zeros(len(features), np.float32)
    found: Floats = 1 / (1 + np.exp(-_logits(features, arrays) + float(arrays["strange_from"])))
    return found


def train_distance(
    features: Floats, white: Floats, arrays: Arrays, examples: Examples, rng: np.random.Generator
) -> dict[str, NDArray[Any]]:
    """Return the :data:`ARRAYS` of examples; ``arrays`` hold their projection."""
    order = rng.permutation(len(white))
    kept = min(_BANK, len(white) - len(white) // 4)
    bank, rest = order[:kept], order[kept : 2 * kept]
    usual = float(np.quantile(_nearest(white[rest], white[bank]), 0.98)) if len(rest) > 20 else 1.0
    most = np.quantile(beside(features, white, arrays), 0.99, axis=0).astype(np.float32) + 1e-6
    wider = max(1.0, _wider(white, examples, bank, rest) / usual)
    return {
        "bank": white[bank],
        "usual": np.array(usual * wider, np.float32),
        "most_beside": most * np.float32(wider),
    }


@dataclass(frozen=True)
class Strangers:
    """The features (n, features) of places with something strange ``on`` them, and ``beside`` them only."""

    on: Floats
    beside: Floats


def train_strangeness(
    features: Floats, examples: Examples, strangers: Strangers, rng: np.random.Generator
) -> dict[str, NDArray[Any]]:
    """Return the :data:`LEARNT` arrays of examples and strangers."""
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


def _nearest(white: Floats, bank: Floats, same: NDArray[np.bool_] | None = None) -> Floats:
    """Return how far each row is from the few of the bank nearest to it, without those that are the ``same``."""
    distance = (white * white).sum(axis=1)[:, None] + (bank * bank).sum(axis=1)[None] - 2 * white @ bank.T
    if same is not None:
        distance[same] = np.inf
    rows = np.arange(len(distance))
    near = []
    for _ in range(_NEIGHBOURS):
        first = distance.argmin(axis=1)
        near.append(distance[rows, first])
        distance[rows, first] = np.inf
    found: Floats = np.sqrt(np.maximum(np.mean(near, axis=0), 0))
    return found


def _wider(white: Floats, examples: Examples, bank: NDArray[np.intp], rest: NDArray[np.intp]) -> float:
    """Return how far places come from all other places, of those whose content was taught in several; 0 where few were.

    Where each place of a class has a picture of its own, the next one will look as new as they do to each other.
    """
    sources = _sources(examples)
    shared = np.array([len(sources.get(state, ())) > 1 for state in range(int(examples.state.max()) + 1)])
    rows = rest[(examples.source[rest] >= 0) & shared[examples.state[rest]]]
    if len(rows) < _ENOUGH:
        return 0.0
    same = examples.source[rows][:, None] == examples.source[bank][None]
    return float(np.quantile(_nearest(white[rows], white[bank], same), 0.98))
