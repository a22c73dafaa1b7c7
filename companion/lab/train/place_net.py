"""Two small convolutional networks learnt on drawn places: where things stand, and what each of them is.

The *finder* gives for a place, 64 pixels with what is around it, how likely the foot of a thing stands at each of 32 ×
32 spots. The *namer* gives for a crop of 40 pixels (two thirds of a place about a spot, or the place as a whole) an
embedding of length 1, in which crops of one sort lie together, whatever their turn, light and neighbours. What a sort
is, nobody tells it: at a table, taught crops are the prototypes (Snell and others 2017).
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

# One thread and no library that asks the machine how many it has: the order of sums must not depend on it.
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import cv2
import jax
import jax.numpy as jnp
from jax import lax

from companion.lab.worlds.places import PLACE, SCENE, Scene, World
from companion.ports import BadDataError
from vision.learn.adam import Adam, half_cosine

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from companion.ports import ByteArray

    Floats = NDArray[np.float32]
    Weights = Mapping[str, NDArray[np.float32]]

PATCH: Final = 64
CELLS: Final = 32
CROP: Final = 40
LENGTH: Final = 64
"""Numbers of an embedding."""
SCENES: Final = 24
_THINGS: Final = 36
_GROUNDS: Final = 24
_NOTHINGS: Final = 24
_CLASSES: Final = 64
_SPREAD: Final = 1.1
_LAYERS: Final[dict[str, tuple[int, int, int]]] = {
    "f1": (3, 3, 16), "f2": (3, 16, 24), "f3": (3, 24, 40), "f4": (3, 40, 48), "f5": (3, 48, 64), "f6": (3, 64, 64),
    "f7": (1, 112, 40), "f8": (1, 64, 24), "f9": (3, 24, 16), "fa": (1, 16, 1),
    "n1": (5, 3, 24), "n2": (3, 24, 32), "n3": (3, 32, 48), "n4": (3, 48, 64), "n5": (3, 64, 96),
}  # fmt: skip
_DENSE: Final = {"thing": (5 * 5 * 96, LENGTH), "ground": (5 * 5 * 96, LENGTH)}


def begin(seed: int) -> dict[str, Floats]:
    """Return weights to begin with."""
    rng = np.random.default_rng([seed, 42])
    weights: dict[str, Floats] = {}
    for name, (kernel, inputs, outputs) in _LAYERS.items():
        scale = np.sqrt(2 / (kernel * kernel * inputs))
        weights[name] = (rng.standard_normal((kernel, kernel, inputs, outputs)) * scale).astype(np.float32)
        weights[f"{name}_b"] = np.zeros(outputs, np.float32)
    weights["fa_b"] -= 3
    for name, (inputs, outputs) in _DENSE.items():
        weights[name] = (rng.standard_normal((inputs, outputs)) / np.sqrt(inputs)).astype(np.float32)
    weights["sharp"] = np.log(np.array([12.0, 12.0], np.float32))
    return weights


def _conv(x: Any, weights: Any, name: str, stride: int = 1) -> Any:
    y = lax.conv_general_dilated(x, weights[name], (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return y + weights[f"{name}_b"]


def _act(x: Any) -> Any:
    """Return what is above nothing, each spot of one strength: training is quicker and light counts less."""
    y = jnp.maximum(x, 0)
    return y * lax.rsqrt(jnp.mean(y * y, axis=-1, keepdims=True) + 0.05)


def _halved(x: Any) -> Any:
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def _doubled(x: Any) -> Any:
    return jnp.repeat(jnp.repeat(x, 2, axis=1), 2, axis=2)


def heat_logits(weights: Any, patches: Any) -> Any:
    """Return (n, 32, 32) log-odds of a foot, of patches (n, 64, 64, 3) in −0.5…0.5."""
    fine = _act(_conv(_act(_conv(patches, weights, "f1", 2)), weights, "f2"))
    middle = _act(_conv(_act(_conv(_halved(fine), weights, "f3")), weights, "f4"))
    coarse = _act(_conv(_act(_conv(_halved(middle), weights, "f5")), weights, "f6"))
    joined = _act(_conv(jnp.concatenate([_doubled(coarse), middle], axis=-1), weights, "f7"))
    joined = _act(_conv(jnp.concatenate([_doubled(joined), fine], axis=-1), weights, "f8"))
    return _conv(_act(_conv(joined, weights, "f9")), weights, "fa")[..., 0]


def embeddings(weights: Any, crops: Any, head: str) -> Any:
    """Return (n, LENGTH) of length 1, of crops (n, 40, 40, 3) in −0.5…0.5; ``head`` is ``thing`` or ``ground``."""
    x = _halved(_act(_conv(_act(_conv(crops, weights, "n1", 2)), weights, "n2")))
    x = _halved(_act(_conv(_act(_conv(x, weights, "n3")), weights, "n4")))
    x = _act(_conv(x, weights, "n5"))
    flat = x.reshape(x.shape[0], -1) @ weights[head]
    return flat * lax.rsqrt(jnp.sum(flat * flat, axis=-1, keepdims=True) + 1e-8)


class Batch(NamedTuple):
    """Places of one world: what the networks are shown, and the truth. Classes of rows that are none are −1."""

    patches: Floats
    heat: Floats
    counted: Floats
    crops: Floats
    sorts: NDArray[np.int32]
    wholes: Floats
    grounds: NDArray[np.int32]


TOLD: Final = ("heat", "sorts", "grounds", "things named right", "grounds named right")
"""What a training tells of a step: three losses, and the share of crops that the others of their world name right."""


def save(path: Path, weights: Weights) -> None:
    """Write weights, in half precision."""
    np.savez_compressed(path, **{name: value.astype(np.float16) for name, value in weights.items()})  # type: ignore[arg-type]


def load(path: Path) -> dict[str, Floats]:
    """Return the weights in a file.

    :raises BadDataError: they are no weights of these networks.
    """
    expected = begin(0)
    try:
        with np.load(path, allow_pickle=False) as stored:
            weights = {name: stored[name].astype(np.float32) for name in expected}
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise BadDataError(f"{path} holds no networks of places.") from error
    if any(weights[name].shape != value.shape for name, value in expected.items()):
        raise BadDataError(f"{path} holds networks of another form.")
    return weights


def normal(pictures: ByteArray) -> Floats:
    """Return pictures as the networks take them."""
    return pictures.astype(np.float32) / np.float32(255) - np.float32(0.5)


def batch(seed: int) -> Batch:
    """Draw a world and some of its places."""
    world = World(seed)
    rng = np.random.default_rng([seed, 43])
    patches = np.zeros((SCENES, PATCH, PATCH, 3), np.uint8)
    heat = np.zeros((SCENES, CELLS, CELLS), np.float32)
    counted = np.ones((SCENES, CELLS, CELLS), np.float32)
    crops = np.zeros((_THINGS + _NOTHINGS, CROP, CROP, 3), np.uint8)
    sorts = np.full(_THINGS + _NOTHINGS, -1, np.int32)
    wholes = np.zeros((_GROUNDS, CROP, CROP, 3), np.uint8)
    grounds = np.full(_GROUNDS, -1, np.int32)
    rows, columns = np.mgrid[:CELLS, :CELLS].astype(np.float32)
    things = nothings = 0
    for number in range(SCENES):
        scene = world.scene(number)
        patches[number] = cv2.resize(scene.picture, (PATCH, PATCH), interpolation=cv2.INTER_AREA)
        for seen, heated in ((scene.things, True), (scene.hidden, False)):
            for thing in seen:
                x, y = (CELLS / 2 + v * CELLS * PLACE / SCENE - 0.5 for v in (thing.x, thing.y))
                far = (columns - x) ** 2 + (rows - y) ** 2
                if heated:
                    np.maximum(heat[number], np.exp(-far / (2 * _SPREAD**2)), out=heat[number])
                else:
                    counted[number][far < 9] = 0
        for thing in scene.things:
            if things < _THINGS and max(abs(thing.x), abs(thing.y)) < 0.56:
                off = rng.normal(0, 0.025, 2)
                crops[things] = cut(scene.picture, thing.x + off[0], thing.y + off[1])
                sorts[things] = thing.sort
                things += 1
        if nothings < _NOTHINGS and not scene.covered:
            x, y, named = _beside(scene, world, rng)
            if all(np.hypot(x - t.x, y - t.y) > 0.1 for t in scene.things):
                crops[_THINGS + nothings] = cut(scene.picture, x, y)
                sorts[_THINGS + nothings] = named
                nothings += 1
        if number < _GROUNDS and not scene.covered:
            wholes[number] = whole(scene.picture)
            grounds[number] = scene.ground
    return Batch(normal(patches), heat, counted, normal(crops), sorts, normal(wholes), grounds)


def _beside(scene: Scene, world: World, rng: np.random.Generator) -> tuple[float, float, int]:
    """Return a spot where no thing stands, and its class: that of its ground, or of the thing that it is the edge of.

    The edge of a thing is not another thing.
    """
    if scene.things and rng.random() < 0.6:
        thing = scene.things[int(rng.integers(len(scene.things)))]
        turn, far = rng.uniform(0, 2 * np.pi), rng.uniform(0.12, 0.3)
        named = len(world.sorts) + world.grounds + thing.sort
        return thing.x + float(far * np.cos(turn)), thing.y + float(far * np.sin(turn)), named
    x, y = rng.uniform(-0.5, 0.5, 2).tolist()
    return x, y, len(world.sorts) + scene.ground


def cut(picture: ByteArray, x: float, y: float) -> ByteArray:
    """Return the crop (40, 40, 3) about a spot of a scene, in places from its middle."""
    middle = (SCENE / 2 + x * PLACE - 0.5, SCENE / 2 + y * PLACE - 0.5)
    return np.asarray(cv2.getRectSubPix(picture, (CROP, CROP), middle), np.uint8)


def whole(picture: ByteArray) -> ByteArray:
    """Return the crop (40, 40, 3) of the place itself in a scene."""
    rim = (SCENE - PLACE) // 2
    inner = picture[rim : rim + PLACE, rim : rim + PLACE]
    return np.asarray(cv2.resize(inner, (CROP, CROP), interpolation=cv2.INTER_AREA), np.uint8)


def _prototype_loss(found: Any, classes: Any, sharp: Any) -> tuple[Any, Any]:
    """Return the loss of naming each crop by the middles of the others of each class, and how many are named right."""
    member = jax.nn.one_hot(classes, _CLASSES)
    sums, many = member.T @ found, member.sum(axis=0)
    likeness = found @ sums.T - member * jnp.sum(found * found, axis=1, keepdims=True)
    logits = jnp.exp(sharp) * likeness / jnp.maximum(many[None] - member, 1)
    logits = jnp.where(many[None] - member > 0, logits, -1e9)
    own = jnp.maximum(classes, 0)
    valid = (classes >= 0) & (many[own] > 1)
    loss = -jnp.take_along_axis(jax.nn.log_softmax(logits), own[:, None], axis=1)[:, 0]
    total = jnp.maximum(valid.sum(), 1)
    right = (logits.argmax(axis=1) == classes) & valid
    return jnp.where(valid, loss, 0).sum() / total, right.sum() / total


def _loss(weights: Any, b: Any) -> tuple[Any, Any]:
    logits = heat_logits(weights, b.patches)
    p = jax.nn.sigmoid(logits)
    peak = b.heat > 0.85
    far = (1 - b.heat) ** 4
    spots = jnp.where(peak, -((1 - p) ** 2) * jax.nn.log_sigmoid(logits), -far * p**2 * jax.nn.log_sigmoid(-logits))
    heat = (spots * b.counted).sum() / jnp.maximum(peak.sum(), 8)
    sorts, named = _prototype_loss(embeddings(weights, b.crops, "thing"), b.sorts, weights["sharp"][0])
    grounds, known = _prototype_loss(embeddings(weights, b.wholes, "ground"), b.grounds, weights["sharp"][1])
    return heat + sorts + 0.5 * grounds, jnp.stack([heat, sorts, grounds, named, known])


slopes = jax.jit(jax.grad(_loss, has_aux=True))


def train(
    steps: int,
    seed: int = 1,
    rate: float = 2e-3,
    progress: Callable[[int, NDArray[Any], dict[str, Floats]], None] | None = None,
    first: Weights | None = None,
) -> dict[str, Floats]:
    """Train both networks on one world a step; the weights that stay are a running mean of the last steps.

    ``first`` are weights to go on from; ``progress`` is told the step, what was lost and named right, and the mean.
    """
    weights = begin(seed) if first is None else {name: np.array(first[name], np.float32) for name in begin(seed)}
    mean = {name: value.copy() for name, value in weights.items()}
    adam = Adam(list(weights.values()), decay=0.01)
    for step in range(steps):
        drawn = batch(1_000_000 * seed + step)
        gradients, told = slopes(weights, drawn)
        size = float(np.sqrt(sum(float(jnp.sum(g * g)) for g in gradients.values())))
        clip = min(1.0, 3.0 / max(size, 1e-9))
        warm = min(1.0, (step + 1) / 50)
        adam.step(
            [np.asarray(gradients[name]) * np.float32(clip) for name in weights],
            rate * warm * half_cosine(step, steps) + 1e-6,
        )
        keep = min(0.99, (1 + step) / (10 + step))
        for name, value in weights.items():
            mean[name] += (1 - keep) * (value - mean[name])
        if progress is not None:
            progress(step + 1, np.asarray(told), mean)
    return mean
