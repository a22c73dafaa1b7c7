"""Digits on tokens: read in fonts that the network never saw, believed only where the table's own tokens agree."""

from __future__ import annotations

from importlib.resources import files

import cv2
import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from tests.vision.read.test_tokens import LAYOUT, NAMES, Laid, shot
from vision.board.layout import read_layout
from vision.board.patches import Sampler
from vision.learn.digits import SIGN, read_digits
from vision.read.tokens import TokenReader

pytestmark = pytest.mark.learning

FONTS = ("Vera.ttf", "VeraBd.ttf", "VeraIt.ttf")
WIDE = 90


def drawn(digit: int, font: str, turn: float, light: bool, rng: np.random.Generator) -> np.ndarray:
    """Return (SIGN, SIGN): a token's inside with a digit of a font, turned, blurred and noisy."""
    face = ImageFont.truetype(str(files("reportlab").joinpath("fonts", font)), 60)
    picture = Image.new("L", (WIDE, WIDE), 60 if light else 200)
    ImageDraw.Draw(picture).text((WIDE / 2, WIDE / 2), str(digit), 230 if light else 40, font=face, anchor="mm")
    matrix = cv2.getRotationMatrix2D(((WIDE - 1) / 2, (WIDE - 1) / 2), turn, float(rng.uniform(0.85, 1.15)))
    turned = cv2.warpAffine(np.asarray(picture), matrix, (WIDE, WIDE), borderMode=cv2.BORDER_REPLICATE)
    soft = cv2.GaussianBlur(turned, (0, 0), 2.5)
    small = cv2.resize(soft, (SIGN, SIGN), interpolation=cv2.INTER_AREA).astype(np.float32)
    return small + rng.normal(0, 3, small.shape).astype(np.float32)


def test_digits_of_fonts_that_were_never_seen_are_read_in_any_direction() -> None:
    rng = np.random.default_rng(5)
    digits = np.tile([1, 2, 3, 4], 60)
    pictures = np.stack(
        [drawn(int(d), FONTS[i % 3], float(rng.uniform(0, 360)), i % 5 == 0, rng) for i, d in enumerate(digits)]
    )
    read = read_digits(pictures)[:, 1:5]
    right = read.argmax(axis=1) + 1 == digits
    assert right.mean() > 0.95, list(zip(digits[~right], read[~right].round(2).tolist(), strict=True))


def test_a_digit_under_another_token_is_read_from_what_is_seen_of_it() -> None:
    rng = np.random.default_rng(6)
    ys, xs = np.indices((SIGN, SIGN))
    free = np.hypot(xs - 26, ys - 10) > 11
    pictures = np.stack([np.where(free, drawn(d % 3 + 1, FONTS[d % 3], 0.0, False, rng), 250) for d in range(60)])
    told = read_digits(pictures, np.broadcast_to(free, pictures.shape))[:, 1:4].argmax(axis=1)
    assert (told == np.arange(60) % 3).mean() > 0.9


def taught(kind: str, values: list[int]) -> Laid:
    return {name: (kind, [values[i % len(values)]]) for i, name in enumerate(NAMES[::3])}


@pytest.mark.parametrize("blank", [False, True])
def test_digits_are_believed_where_the_taught_tokens_are_read_rightly(blank: bool) -> None:
    layout = read_layout(LAYOUT)
    reader = TokenReader(Sampler(layout), [shot(layout, taught("coin", [1, 2, 7]), 3, blank)])
    coins = {n for n, thing in enumerate(layout.things) if thing.kind == "coin"}
    assert (coins <= reader.legible) is not blank


@pytest.mark.parametrize("aside", [False, True])
def test_a_value_that_was_never_taught_is_read_by_its_digit(aside: bool) -> None:
    layout = read_layout(LAYOUT)
    sampler = Sampler(layout)
    reader = TokenReader(sampler, [shot(layout, taught("coin", [1, 2]), 3, aside=aside)])
    later = shot(layout, {name: ("coin", [7]) for name in NAMES[1::4]}, 4, aside=aside)
    seven = next(n for n, t in enumerate(layout.things) if (t.kind, t.value) == ("coin", 7))
    right = []
    for place, content in later.contents.items():
        if content.things:
            patch = sampler.cut(later.straight, [place])[0]
            ways = reader.read(patch, later.close[place], place, 0, [1])[0][1]
            right.append(max(ways, key=lambda way: ways[way]) == ((seven, 1),))
    assert np.mean(right) >= 0.8
