"""Cards that differ by the digit in their corner alone, each taught as sharply as its photo happened to be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cv2
import numpy as np
import pytest

from vision.cards.deck import Deck
from vision.cards.detect import CardFinder
from vision.cards.joint import View, settle
from vision.cards.pile import SURE
from vision.cards.shape import WIDTH

pytestmark = pytest.mark.learning

HEIGHT = 192
TAUGHT = ((1, 0.0), (3, 2.2), (5, 1.6))
"""The values of each print, and how blurred each was when it was taught."""


def art(seed: int) -> Any:
    rng = np.random.default_rng(seed)
    card = np.full((HEIGHT, WIDTH, 3), rng.integers(120, 230, 3), np.uint8)
    for _ in range(60):
        x, y = rng.integers(0, WIDTH, 2) * np.array([1, 1.5])
        ink = tuple(int(v) for v in rng.integers(0, 255, 3))
        cv2.circle(card, (int(x), int(y)), int(rng.integers(3, 18)), ink, -1, cv2.LINE_AA)
    return card


def printed(print_: int, value: int, rng: np.random.Generator, blur: float) -> Any:
    card = art(print_)
    cv2.circle(card, (22, 24), 18, (245, 245, 245), -1, cv2.LINE_AA)
    cv2.putText(card, str(value), (12, 34), cv2.FONT_HERSHEY_DUPLEX, 0.95, (20, 20, 20), 2, cv2.LINE_AA)
    if blur:
        card = cv2.GaussianBlur(card, (0, 0), blur)
    return np.clip(card + rng.normal(0, 3, card.shape), 0, 255).astype(np.uint8)


def large(print_: int, value: int, rng: np.random.Generator, blur: float) -> Any:
    """Return a card whose digit stands large in its corner, on the art itself."""
    card = art(print_)
    for ink, wide in ((20, 9), (245, 4)):
        cv2.putText(card, str(value), (8, 62), cv2.FONT_HERSHEY_DUPLEX, 2.2, (ink, ink, ink), wide, cv2.LINE_AA)
    card = cv2.GaussianBlur(card, (0, 0), blur) if blur else card
    return np.clip(card + rng.normal(0, 3, card.shape), 0, 255).astype(np.uint8)


def photo(card: Any, rng: np.random.Generator) -> Any:
    """Return a sharp photo of a card that lies on a table in any direction."""
    table = np.clip(np.array([90, 110, 120]) + rng.normal(0, 4, (700, 900, 3)), 0, 255).astype(np.uint8)
    to = cv2.getRotationMatrix2D(((WIDTH - 1) / 2, (HEIGHT - 1) / 2), float(rng.uniform(0, 360)), 1.7)
    to[:, 2] += (450 - (WIDTH - 1) / 2, 350 - (HEIGHT - 1) / 2)
    laid = cv2.warpAffine(card, to, (900, 700))
    there = cv2.warpAffine(np.full(card.shape[:2], 255, np.uint8), to, (900, 700)) > 127
    table[there] = laid[there]
    return cv2.GaussianBlur(table, (0, 0), 0.6)


def deck_of(drawn: Callable[[int, int, np.random.Generator, float], Any]) -> CardFinder:
    rng = np.random.default_rng(0)
    taught = {f"{k}-{value}": drawn(k, value, rng, blur) for k in range(4) for value, blur in TAUGHT}
    return CardFinder(Deck("arctic", tuple(taught), np.stack(list(taught.values()))))


@pytest.fixture(scope="module")
def finder() -> CardFinder:
    return deck_of(printed)


@pytest.mark.parametrize("name", ["0-3", "1-5", "2-5", "3-1"])
def test_twins_are_told_by_the_digit_in_their_corner(finder: CardFinder, name: str) -> None:
    rng = np.random.default_rng(5)
    print_, value = (int(part) for part in name.split("-"))
    (found,) = finder.find(photo(printed(print_, value, rng, 0.0), rng))
    assert finder.deck.names[found.card] == name


def test_a_large_digit_that_the_likeliest_twin_lacks_is_no_cover() -> None:
    finder = deck_of(large)
    for name in ("0-3", "1-3", "3-3"):
        rng = np.random.default_rng(5)
        print_, value = (int(part) for part in name.split("-"))
        (found,) = finder.find(photo(large(print_, value, rng, 0.0), rng))
        assert finder.deck.names[found.card] == name
        assert found.p.max() >= SURE


def test_which_twin_it_is_stays_unsure_where_the_digit_is_hidden(finder: CardFinder) -> None:
    rng = np.random.default_rng(6)
    card = printed(0, 3, rng, 0.0)
    cv2.circle(card, (22, 24), 26, (150, 170, 200), -1, cv2.LINE_AA)
    (found,) = finder.find(photo(card, rng))
    assert finder.deck.names[found.card].startswith("0-")
    assert found.p.max() < SURE


def veiled(card: Any, strength: float) -> Any:
    """Return a card under the gleam of a lamp: bright and pale, more so towards its foot."""
    share = strength * np.linspace(0.6, 1.0, len(card))[:, None, None]
    return np.clip((1 - share) * card + share * 225, 0, 255).astype(np.uint8)


@pytest.mark.parametrize(("name", "strength"), [("0-1", 0.6), ("0-3", 0.0), ("1-5", 0.5), ("2-3", 0.3)])
def test_a_gleam_on_a_lesson_or_on_the_photo_does_not_tell_twins_apart(name: str, strength: float) -> None:
    rng = np.random.default_rng(0)
    gleams = {1: 0.0, 3: 0.65, 5: 0.35}
    taught = {f"{k}-{v}": veiled(printed(k, v, rng, 0.8), gleams[v]) for k in range(4) for v in gleams}
    finder = CardFinder(Deck("arctic", tuple(taught), np.stack(list(taught.values()))))
    print_, value = (int(part) for part in name.split("-"))
    (found,) = finder.find(photo(veiled(printed(print_, value, rng, 0.8), strength), rng))
    assert finder.deck.names[found.card] == name
    assert found.p.max() >= SURE


def view(turned: bool, well: Any) -> View:
    """Return a card of six by four blocks as it is seen, or upside down in the same place."""
    to = np.array([[-1.0, 0, WIDTH - 1], [0, -1.0, HEIGHT - 1], [0, 0, 1]]) if turned else np.eye(3)
    none = np.zeros(len(well), bool)
    return View(to, HEIGHT, HEIGHT // 16, 0, np.zeros((HEIGHT, WIDTH, 3), np.uint8), well, well, none, none)


def test_where_a_card_lies_no_other_is_found_upside_down() -> None:
    blocks = np.arange(HEIGHT // 16 * 8)
    upright = view(False, blocks < 50)
    # Upside down, other blocks look like a card as well.
    assert [one.to.tolist() for one in settle([view(True, blocks < 40), upright])] == [upright.to.tolist()]
