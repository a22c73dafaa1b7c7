"""The boards by day and by night: a palette of its own each, and paper that stays light."""

from __future__ import annotations

import io

import pytest
from PIL import Image
from playwright.sync_api import Page

from companion.lab.worlds.boards import players, record
from companion.rules.drawing import PALETTE
from tests.browser.conftest import Phones
from tests.web.assembly import Service

pytestmark = pytest.mark.browser

DARK = 0.25
"""The most that a board by night gives of a white sheet's light."""


def luminance(page: Page) -> float:
    """Return the mean luminance of the board, from 0 to 1."""
    picture = Image.open(io.BytesIO(page.locator(".sheet-of-board").first.screenshot())).convert("RGB")
    linear = [(n / 255 / 12.92 if n <= 10 else ((n / 255 + 0.055) / 1.055) ** 2.4) for n in range(256)]
    weights = (0.2126, 0.7152, 0.0722)
    counts, pixels = picture.histogram(), picture.width * picture.height
    return sum(w * linear[n] * counts[256 * at + n] for at, w in enumerate(weights) for n in range(256)) / pixels


@pytest.mark.parametrize("game_id", ["iglu-iglu", "ice-team", "arctic"])
def test_a_board_is_dark_by_night_and_light_by_day_and_on_paper(
    phones: Phones, service: Service, game_id: str, crossed: bool
) -> None:
    service.companion.do("open-match", {"game": game_id, "players": players(game_id)})
    service.companion.moves(*record(game_id, 5)[:14])
    page = phones.spectator(dark=True)
    page.wait_for_selector(".sheet-of-board svg.board [data-spot], .sheet-of-board svg.board rect", state="attached")
    page.emulate_media(color_scheme="dark")
    night = luminance(page)
    page.emulate_media(color_scheme="light")
    day = luminance(page)
    assert night < DARK < day, (night, day)
    page.emulate_media(media="print", color_scheme="dark")
    water = "getComputedStyle(document.querySelector('.sheet-of-board')).getPropertyValue('--water')"
    assert page.evaluate(water) == PALETTE["water"]
