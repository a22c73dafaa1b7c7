"""Learn to read digits on tokens from drawn ones: ``python -m companion.lab.train.digits`` writes its weights.

Digits come from OpenCV's own fonts and from strokes that are bent anew each time, so no font file is needed. Numpy
alone; about ten minutes of one core.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
import cv2
import numpy as np

from companion.lab.worlds.digits import MASTER, draw_digit
from vision.learn.adam import Adam, half_cosine
from vision.learn.digits import (
    DIGITS,
    FIRST,
    KERNEL,
    NAMES,
    SECOND,
    SIGN,
    STRIDE,
    WEIGHTS,
    WIDE,
    columns,
    forward,
    normal,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.ports import ByteArray
    from vision.learn.digits import Floats

_BIG: Final = 4 * SIGN
_ROUND: Final = 16_384
_BATCH: Final = 256


def token(digit: int, rng: np.random.Generator, master: ByteArray | None = None) -> tuple[Floats, NDArray[np.bool_]]:
    """Return a drawn token's inside (SIGN, SIGN), 0 to 255, and where nothing covers it."""
    master = draw_digit(digit, rng) if master is None else master
    size = rng.uniform(0.75, 1.5) * _BIG / MASTER
    stretched = np.exp(rng.normal(0, 0.1))
    turn = rng.uniform(0, 2 * np.pi)
    cos, sin = np.cos(turn), np.sin(turn)
    shear = rng.normal(0, 0.1)
    matrix = np.array([[cos, -sin], [sin, cos]]) @ np.array([[size * stretched, shear * size], [0, size / stretched]])
    half = (_BIG - 1) / 2
    off = rng.normal(0, 0.055 * _BIG, 2)
    at = half + off - matrix @ np.full(2, (MASTER - 1) / 2)
    ink = cv2.warpAffine(master, np.column_stack([matrix, at]), (_BIG, _BIG)).astype(np.float32) / 255
    base, dark = _ground(rng), rng.uniform(0.4, 1.0)
    colour = base.mean() * (1 - dark) if rng.random() < 0.6 else base.mean() + (255 - base.mean()) * dark
    if abs(colour - base.mean()) < 45:
        colour = 0.0 if base.mean() > 120 else 255.0
    picture: Any = base * (1 - ink) + colour * ink
    if rng.random() < 0.3:
        reach = rng.uniform(0.78, 1.05) * _BIG / 2
        shade = float(rng.uniform(0, 255))
        cv2.circle(picture, (round(half), round(half)), round(reach), shade, int(rng.integers(2, 7)), cv2.LINE_AA)
    if rng.random() < 0.15:
        edge = (_BIG / 2 * (1 + rng.uniform(0.0, 0.3, 2)) * rng.choice([-1, 1], 2) + half).astype(int)
        cv2.circle(picture, (int(edge[0]), int(edge[1])), int(rng.uniform(0.2, 0.4) * _BIG), float(colour), -1)
    picture = cv2.GaussianBlur(picture, (0, 0), float(rng.uniform(0.8, 4.5)))
    small: Any = cv2.resize(picture, (SIGN, SIGN), interpolation=cv2.INTER_AREA)
    small += rng.normal(0, rng.uniform(1, 6), small.shape).astype(np.float32)
    free = np.ones((SIGN, SIGN), np.bool_)
    if rng.random() < 0.2:
        way, far = rng.uniform(0, 2 * np.pi), rng.uniform(1.1, 1.5) * SIGN / 2
        offsets = np.arange(SIGN) - (SIGN - 1) / 2
        free = np.hypot(offsets[None] - far * np.cos(way), offsets[:, None] - far * np.sin(way)) > 0.5 * SIGN
    return np.clip(small, 0, 255).astype(np.float32), free


def _ground(rng: np.random.Generator) -> Floats:
    """Return (4 · SIGN, 4 · SIGN): the ground of a token, uneven."""
    coarse: Any = rng.normal(0, rng.uniform(0, 9), (6, 6)).astype(np.float32)
    ramp = np.linspace(-1, 1, _BIG, dtype=np.float32)
    tilt = rng.normal(0, 8, 2)
    smooth = cv2.resize(coarse, (_BIG, _BIG), interpolation=cv2.INTER_CUBIC)
    ground: Floats = float(rng.uniform(30, 235)) + smooth + tilt[0] * ramp[None] + tilt[1] * ramp[:, None]
    return ground.astype(np.float32)


def examples(many: int, rng: np.random.Generator) -> tuple[Floats, NDArray[np.intp]]:
    """Return normal pictures (many, SIGN, SIGN) and their digits; small digits come more often, as in games."""
    share = np.array([0.5, 1.5, 1.5, 1.5, 1.5, 1, 0.8, 0.8, 0.8, 0.8])
    digits = rng.choice(DIGITS, many, p=share / share.sum())
    drawn = [token(int(digit), rng) for digit in digits]
    return normal(np.stack([p for p, _ in drawn]), np.stack([free for _, free in drawn])), digits


def learn(rounds: int, seed: int = 0) -> dict[str, Floats]:
    """Return a network learnt in so many rounds, each of 16,384 digits drawn anew in four directions."""
    rng = np.random.default_rng(seed)
    left = (SIGN - KERNEL) // STRIDE + 1 - 2
    flat = left * left * SECOND
    shapes = {"k1": (KERNEL**2, FIRST), "k2": (9 * FIRST, SECOND), "w3": (flat, WIDE), "w4": (WIDE, DIGITS)}
    net: dict[str, Any] = {}
    for (name, shape), bias in zip(shapes.items(), ("b1", "b2", "b3", "b4"), strict=True):
        net[name] = (rng.standard_normal(shape) * np.sqrt(2 / shape[0])).astype(np.float32)
        net[bias] = np.zeros(shape[1], np.float32)
    adam = Adam([net[name] for name in NAMES], decay=0.01)
    steps, step = rounds * 4 * (_ROUND // _BATCH), 0
    for turn in range(rounds):
        pictures, digits = examples(_ROUND, rng)
        wrong = 0
        for way, at in product(range(4), range(0, _ROUND, _BATCH)):
            some = np.rot90(pictures[at : at + _BATCH], way, axes=(1, 2))
            gradients, missed = _gradients(some, digits[at : at + _BATCH], net, rng)
            wrong += missed
            step += 1
            adam.step([gradients[name] for name in NAMES], 2e-3 * half_cosine(step, steps) + 1e-6)
        click.echo(f"{turn + 1}/{rounds}: {100 * wrong / (4 * _ROUND):.2f} % wrong")
    return net


def _gradients(
    pictures: Floats, digits: NDArray[np.intp], net: dict[str, Any], rng: np.random.Generator
) -> tuple[dict[str, Floats], int]:
    n = len(pictures)
    seen = columns(pictures[..., None], KERNEL, STRIDE)
    first = np.maximum(seen @ net["k1"] + net["b1"], 0)
    around = columns(first, 3, 1)
    second = np.maximum(around @ net["k2"] + net["b2"], 0)
    flat = second.reshape(n, -1)
    wide = np.maximum(flat @ net["w3"] + net["b3"], 0)
    drop = (rng.random(wide.shape, dtype=np.float32) > 0.25).astype(np.float32) / np.float32(0.75)
    wide *= drop
    logits = wide @ net["w4"] + net["b4"]
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    error = odds / odds.sum(axis=1, keepdims=True)
    wrong = int((error.argmax(axis=1) != digits).sum())
    error[np.arange(n), digits] -= 1
    error /= n
    found: dict[str, Any] = {"w4": wide.T @ error, "b4": error.sum(axis=0)}
    back = (error @ net["w4"].T) * (wide > 0) * drop
    found |= {"w3": flat.T @ back, "b3": back.sum(axis=0)}
    back = ((back @ net["w3"].T) * (flat > 0)).reshape(second.shape)
    found |= {"k2": around.reshape(-1, around.shape[-1]).T @ back.reshape(-1, SECOND), "b2": back.sum(axis=(0, 1, 2))}
    spread = (back @ net["k2"].T).reshape(*second.shape[:3], 3, 3, FIRST)
    behind = np.zeros_like(first)
    high, across = second.shape[1:3]
    for y in range(3):
        for x in range(3):
            behind[:, y : y + high, x : x + across] += spread[:, :, :, y, x]
    behind *= first > 0
    found |= {"k1": seen.reshape(-1, KERNEL**2).T @ behind.reshape(-1, FIRST), "b1": behind.sum(axis=(0, 1, 2))}
    return found, wrong


@click.command(help=__doc__)
@click.option("--rounds", default=40, help="How many rounds of fresh digits.")
@click.option("--out", type=click.Path(path_type=Path), default=WEIGHTS)
def main(rounds: int, out: Path) -> None:
    """Learn, tell how many of fresh digits are read wrong, and write the network."""
    net = learn(rounds)
    pictures, digits = examples(4000, np.random.default_rng(999))
    wrong = (forward(pictures, net).argmax(axis=1) != digits).mean()
    click.echo(f"fresh digits wrong, in one look: {100 * wrong:.2f} %")
    np.savez_compressed(out, **{name: net[name].astype(np.float16) for name in NAMES})  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
