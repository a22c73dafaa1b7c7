"""The network that says what a place shows (:mod:`vision.board.embedding`), learnt from drawn games; by jax.

What a sort is it is never told: within each game a ridge regression from the embeddings of its taught places is solved
anew, and what that says of the asked places is what is lost (Bertinetto and others 2019), with how near the taught
places of a content lie (Snell and others 2017). Blocks are those of Liu and others (2022). On a device that draws some
twenty thousand places a second the shipped network took six minutes; its data card stands in this folder's README.
"""

from __future__ import annotations

import functools
import math
import time
import zipfile
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

# First, as it sets the flags that jax reads when it is imported.
from companion.lab.worlds.games import ASKED, CONTENTS, KINDS, TAUGHT, VIEWS, DrawnGame, Truth, draw
from companion.lab.worlds.games_art import GROUNDS, SORTS

# isort: split
import jax
import jax.numpy as jnp
from jax import lax

from companion.ports import BadDataError
from vision.board.embedding import BLOCKS, KERNEL, LENGTH, STRIDE
from vision.board.patches import PATCH

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Weights = Mapping[str, Floats]

WIDTHS: Final = (48, 96, 192)
"""Features at each scale."""
WIDER: Final = 2
"""A block is so many times as wide inside."""
TOLD: Final = (
    "contents",
    "grounds",
    "counts",
    "nearest",
    "strange",
    "contents wrong",
    "grounds wrong",
    "counts wrong",
    "nearest wrong",
    "strange wrong",
)
"""What a training tells of a step: five losses, and shares of asked places that are told wrong."""
HELD_OUT: Final = 128
"""Games that no training draws, for figures at its end."""
_HELD_OUT_SEED: Final = 999_000
_MOST: Final = 3
"""What is counted of a sort: none, one, two, or more."""
_NEVER: Final = -1e9
_PEAK: Final = 2e-3
_WARM: Final = 300
_DECAY: Final = 0.02
_LARGE: Final = 4000
"""Arrays of more numbers are stored in half precision."""


class _Learning(NamedTuple):
    """Weights, their two moments (Kingma and Ba 2015), and the running mean that stays."""

    weights: dict[str, Any]
    first: dict[str, Any]
    second: dict[str, Any]
    mean: dict[str, Any]


class Progress(NamedTuple):
    """What a training has come to: steps, what was told of the games since (n, TOLD), their kinds (n,), the weights."""

    step: int
    told: Floats
    kinds: NDArray[np.int32]
    mean: dict[str, Any]


def begin(seed: int) -> dict[str, Floats]:
    """Return weights to begin with."""
    rng = np.random.default_rng(seed)

    def drawn(*shape: int, spread: float) -> Floats:
        some: Floats = (rng.standard_normal(shape) / np.sqrt(spread)).astype(np.float32)
        return some

    inputs = KERNEL * KERNEL * 3
    weights = {
        "stem": drawn(KERNEL, KERNEL, 3, WIDTHS[0], spread=inputs / 6),
        "stem_b": np.zeros(WIDTHS[0], np.float32),
    }
    for scale, (width, many) in enumerate(zip(WIDTHS, BLOCKS, strict=True)):
        if scale:
            before = WIDTHS[scale - 1]
            weights[f"down{scale}"] = drawn(2, 2, before, width, spread=4 * before)
            weights[f"down{scale}_b"] = np.zeros(width, np.float32)
        for block in range(many):
            name, inside = f"b{scale}{block}", WIDER * width
            around = rng.standard_normal((3, 3, width)) * 0.15
            around[1, 1] += 1
            weights[f"{name}_dw"] = around.astype(np.float32)
            weights[f"{name}_1"] = drawn(width, inside, spread=width / 2)
            weights[f"{name}_1b"] = np.zeros(inside, np.float32)
            weights[f"{name}_2"] = drawn(inside, width, spread=inside) * np.float32(0.5)
            weights[f"{name}_2b"] = np.zeros(width, np.float32)
    weights["out"] = drawn(4 * 4 * WIDTHS[2], LENGTH, spread=16 * WIDTHS[2])
    # How sharply contents, grounds and counts are told, how much the regression is held back, and what is near.
    weights["scale"] = np.log(np.array([8.0, 8.0, 8.0, 0.5, 0.3], np.float32))
    weights["odd"] = np.array([1.0, -1.0], np.float32)
    return weights


def _even(x: Any) -> Any:
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-3)


def _convolved(x: Any, kernel: Any, stride: int, pad: Any) -> Any:
    numbers = ("NHWC", "HWIO", "NHWC")
    return lax.conv_general_dilated(x, kernel, (stride, stride), pad, dimension_numbers=numbers)


def embed(weights: Any, pictures: Any) -> Any:
    """Return (n, LENGTH) of pictures (n, PATCH, PATCH, 3) in −0.5…0.5, as the product does without jax."""
    x = _even(_convolved(pictures, weights["stem"], STRIDE, ((1, 1), (1, 1))) + weights["stem_b"])
    for scale, many in enumerate(BLOCKS):
        if scale:
            x = _even(_convolved(x, weights[f"down{scale}"], 2, "VALID") + weights[f"down{scale}_b"])
        for block in range(many):
            name = f"b{scale}{block}"
            p = jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
            high, wide = x.shape[1:3]
            kernel = weights[f"{name}_dw"]
            y = sum(p[:, i : i + high, j : j + wide] * kernel[i, j] for i in range(3) for j in range(3))
            y = jnp.maximum(_even(y) @ weights[f"{name}_1"] + weights[f"{name}_1b"], 0)
            x = x + y @ weights[f"{name}_2"] + weights[f"{name}_2b"]
    return _even(_even(x).reshape(x.shape[0], -1) @ weights["out"])


def _targets(truth: Truth) -> Any:
    """Return (n, contents + grounds + sorts · 4) of ones where the truth is."""
    counts = jax.nn.one_hot(jnp.minimum(truth.counts, _MOST), _MOST + 1)
    flat = counts.reshape(truth.counts.shape[0], -1)
    return jnp.concatenate([jax.nn.one_hot(truth.content, CONTENTS), jax.nn.one_hot(truth.ground, GROUNDS), flat], -1)


def _surprise(logits: Any, truth: Any) -> Any:
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), truth[..., None], -1)[..., 0]


def _mean(values: Any, counted: Any) -> Any:
    return jnp.where(counted, values, 0).sum() / jnp.maximum(counted.sum(), 1)


def _wrong(said: Any, truth: Any, counted: Any) -> Any:
    return 1 - ((said == truth) & counted).sum() / jnp.maximum(counted.sum(), 1)


def _solved(weights: Any, shown: Any, asked: Any, targets: Any, content: Any) -> Any:
    """Return what a ridge regression on the ``shown`` embeddings says of the ``asked``, as (asked, targets).

    Rare contents weigh more, by the root of how rare they are, as in :mod:`vision.learn.whole_contents`.
    """
    usual, middle = targets.mean(0), shown.mean(0)
    many = targets[:, :CONTENTS].sum(0)
    weight = 1 / jnp.sqrt(many[content])
    weight = weight / weight.mean()
    centred = shown - middle
    inner = centred.T @ (centred * weight[:, None])
    held = jnp.exp(weights["scale"][3]) * jnp.mean(jnp.sum(centred * centred, -1))
    factor = jax.scipy.linalg.cho_factor(inner + held * jnp.eye(LENGTH))
    answers = jax.scipy.linalg.cho_solve(factor, centred.T @ ((targets - usual) * weight[:, None]))
    return (asked - middle) @ answers + usual


def _nearest(weights: Any, shown: Any, asked: Any, member: Any) -> Any:
    """Return (asked, contents): how near each content's taught places lie, in logarithm."""
    far = (asked * asked).sum(-1)[:, None] + (shown * shown).sum(-1)[None] - 2 * asked @ shown.T
    near = -far * jnp.exp(weights["scale"][4]) / 8
    many = member.sum(0)
    own = near[:, :, None] + jnp.where(member[None] > 0, 0, _NEVER) - jnp.log(jnp.maximum(many, 1))
    return jnp.where(many > 0, jax.nn.logsumexp(own, axis=1), _NEVER)


def _game_loss(weights: Any, found: Any, truth: Truth) -> tuple[Any, Any]:
    """Return what is lost on the asked places of a game, and :data:`TOLD`; of embeddings (places, LENGTH).

    Only what was taught can be told: a content, a ground, a number of a sort. What is strange is to be far from all.
    """
    split = TAUGHT * VIEWS
    shown, asked = found[:split], found[split:]
    known_truth, t = (jax.tree.map(lambda v, p=part: v[p], truth) for part in (slice(split), slice(split, None)))
    targets = _targets(known_truth)
    many = targets.sum(0)
    scale = jnp.exp(weights["scale"])
    said = _solved(weights, shown, asked, targets, known_truth.content)
    clean = ~t.strange
    taught = many[:CONTENTS]
    known = taught[t.content] > 0
    counted = known & clean
    whole = jnp.where(known, t.content, jnp.argmax(taught))

    contents = jnp.where(taught > 0, said[:, :CONTENTS] * scale[0], _NEVER)
    grounds_seen = many[CONTENTS : CONTENTS + GROUNDS]
    grounds = said[:, CONTENTS : CONTENTS + GROUNDS] * scale[1] + jnp.where(grounds_seen > 0, 0, _NEVER)
    on_known = clean & (grounds_seen[t.ground] > 0)
    numbers_seen = many[CONTENTS + GROUNDS :].reshape(SORTS, _MOST + 1)
    numbers = said[:, CONTENTS + GROUNDS :].reshape(-1, SORTS, _MOST + 1) * scale[2]
    numbers = numbers + jnp.where(numbers_seen > 0, 0, _NEVER)
    counts = jnp.minimum(t.counts, _MOST)
    seen = jnp.take_along_axis(jnp.broadcast_to(numbers_seen, (ASKED, SORTS, _MOST + 1)), counts[..., None], -1)
    countable = (seen[..., 0] > 0) & clean[:, None]
    near = _nearest(weights, shown, asked, targets[:, :CONTENTS])
    odd = -near.max(-1) * jnp.exp(weights["odd"][0] - 1) + weights["odd"][1] - 1
    judged = counted | t.strange

    lost = (
        _mean(_surprise(contents, whole), counted),
        _mean(_surprise(grounds, t.ground), on_known),
        jnp.where(countable, _surprise(numbers, counts), 0).sum() / jnp.maximum(clean.sum(), 1),
        _mean(_surprise(near, whole), counted),
        _mean(jax.nn.softplus(jnp.where(t.strange, -odd, odd)), judged),
    )
    all_right = jnp.where(countable, numbers.argmax(-1) == counts, True).all(-1)
    wrong = (
        _wrong(contents.argmax(-1), t.content, counted),
        _wrong(grounds.argmax(-1), t.ground, on_known),
        _wrong(all_right, True, clean),
        _wrong(near.argmax(-1), t.content, counted),
        _wrong(odd > 0, t.strange, judged),
    )
    shares = zip((1, 0.5, 0.25, 0.5, 0.3), lost, strict=True)
    return sum(share * part for share, part in shares), jnp.stack([*lost, *wrong])


def loss(weights: Any, pictures: Any, truth: Truth) -> tuple[Any, Any]:
    """Return what is lost on games (games, places, …) in the mean, and (games, TOLD)."""
    games = pictures.shape[0]
    found = embed(weights, pictures.reshape(-1, PATCH, PATCH, 3)).reshape(games, -1, LENGTH)
    lost, told = jax.vmap(lambda own, true: _game_loss(weights, own, true))(found, truth)
    return lost.mean(), told


slopes = jax.jit(jax.grad(loss, has_aux=True))
_judged = jax.jit(lambda weights, pictures, truth: loss(weights, pictures, truth)[1])


@functools.partial(jax.jit, static_argnames="games")
def draw_games(key: Any, games: int) -> DrawnGame:
    """Draw so many games (games, …)."""
    drawn: DrawnGame = jax.vmap(draw)(jax.random.split(key, games))
    return drawn


@functools.partial(jax.jit, donate_argnums=(0,))
def _stepped(learning: _Learning, slope: Any, rate: Any, step: Any) -> _Learning:
    """Return what is learnt after a step (numbered from 1) down slopes, which are clipped to length 1."""
    size = jnp.sqrt(sum(jnp.sum(g * g) for g in slope.values()))
    clip = jnp.minimum(1, 1.0 / (size + 1e-9))
    keep = jnp.minimum(0.998, (1 + step) / (10 + step))
    weights, first, second, mean = {}, {}, {}, {}
    for name, before in learning.weights.items():
        g = slope[name] * clip
        first[name] = m = 0.9 * learning.first[name] + 0.1 * g
        second[name] = v = 0.99 * learning.second[name] + 0.01 * g * g
        move = rate * (m / (1 - 0.9**step)) / (jnp.sqrt(v / (1 - 0.99**step)) + 1e-8)
        weights[name] = before * (1 - rate * (_DECAY if before.ndim > 1 else 0)) - move
        mean[name] = keep * learning.mean[name] + (1 - keep) * weights[name]
    return _Learning(weights, first, second, mean)


def train(
    *,
    games: int,
    seed: int = 1,
    minutes: float = 60.0,
    steps: int = 0,
    first: Weights | None = None,
    progress: Callable[[Progress], None] | None = None,
    every: int = 25,
) -> dict[str, Any]:
    """Train on so many games a step, for some ``minutes`` or, if given, so many ``steps``; return the running mean.

    The rate falls as time runs out, so a training by minutes is not the same twice, one by steps is. ``first`` are
    weights to go on from; ``progress`` is told of every ``every``-th step.
    """
    started = begin(seed) if first is None else first
    learning = _Learning(
        {name: jnp.array(value) for name, value in started.items()},
        {name: jnp.zeros(value.shape) for name, value in started.items()},
        {name: jnp.zeros(value.shape) for name, value in started.items()},
        {name: jnp.array(value) for name, value in started.items()},
    )
    key = jax.random.PRNGKey(seed + 1)
    told, kinds = [], []
    begun, step, part = time.monotonic(), 0, 0.0
    while part < 1:
        drawn = draw_games(jax.random.fold_in(key, step), games)
        slope, said = slopes(learning.weights, drawn.pictures, drawn.truth)
        # A short training is warm after a twentieth of it.
        warm = min(1.0, max((step + 1) / _WARM, 20 * part))
        rate = _PEAK * warm * (0.5 + 0.5 * math.cos(math.pi * part)) + 2e-6
        step += 1
        learning = _stepped(learning, slope, rate, float(step))
        told.append(said)
        kinds.append(drawn.kind)
        part = step / steps if steps else (time.monotonic() - begun) / (60 * minutes)
        if progress is not None and (step % every == 0 or part >= 1):
            progress(Progress(step, np.concatenate(told), np.concatenate(kinds), learning.mean))
            told, kinds = [], []
    return learning.mean


def figures(weights: Any, games: int = HELD_OUT, at_once: int = 4) -> tuple[dict[str, float], dict[str, float]]:
    """Return :data:`TOLD` of games that no training draws, in the mean, and contents wrong by kind of game."""
    told, kinds = [], []
    for number in range(0, games, at_once):
        drawn = draw_games(jax.random.PRNGKey(_HELD_OUT_SEED + number), at_once)
        told.append(np.asarray(_judged(weights, drawn.pictures, drawn.truth)))
        kinds.append(np.asarray(drawn.kind))
    every, kind = np.concatenate(told)[:games], np.concatenate(kinds)[:games]
    return told_of(every), wrong_by_kind(every, kind)


def told_of(told: Floats) -> dict[str, float]:
    """Return the mean of what was told of games (n, TOLD), by name."""
    return dict(zip(TOLD, (round(float(part), 4) for part in told.mean(axis=0)), strict=True))


def wrong_by_kind(told: Floats, kinds: NDArray[np.int32]) -> dict[str, float]:
    """Return the share of contents told wrong by kind of game, of those kinds that were drawn."""
    wrong = told[:, TOLD.index("contents wrong")]
    return {name: round(float(wrong[kinds == k].mean()), 4) for k, name in enumerate(KINDS) if (kinds == k).any()}


def save(path: Path, weights: Any) -> None:
    """Write weights as the product reads them, large arrays in half precision."""
    arrays = {
        name: np.asarray(value, np.float16 if value.size > _LARGE else np.float32) for name, value in weights.items()
    }
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type]


def load(path: Path) -> dict[str, Floats]:
    """Return the weights in a file.

    :raises BadDataError: they are no weights of this network.
    """
    expected = begin(0)
    try:
        with np.load(path, allow_pickle=False) as stored:
            weights = {name: stored[name].astype(np.float32) for name in expected}
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise BadDataError(f"{path} holds no embedding of places.") from error
    if any(weights[name].shape != value.shape for name, value in expected.items()):
        raise BadDataError(f"{path} holds an embedding of another form.")
    return weights
