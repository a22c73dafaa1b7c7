"""The score at the end without a record, and a dispute in a position set up by hand, by tapping."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Phones
from tests.browser.test_boards import stands_out
from tests.web.assembly import Service


def entered(page: Page, colour: str, **values: int) -> None:
    for name, value in values.items():
        page.fill(f"input[data-seat={colour}][data-name={name}]", str(value))


def counted(page: Page) -> list[str]:
    page.click("[data-do=reckon]")
    expect(page.locator(".ranking .total").first).to_be_visible()
    return page.locator(".ranking .total").all_inner_texts()


@pytest.mark.parametrize(("language", "dark", "width"), [("en-GB", False, 320), ("fr-FR", True, 1280)])
def test_every_game_is_counted(
    phones: Phones, service: Service, axe: Callable[[Page], list[str]], language: str, dark: bool, width: int
) -> None:
    page = phones.host(language=language, dark=dark, width=width, height=900)
    page.click("a[href='#score']")

    def game(game_id: str) -> None:
        page.click(f"[data-do=score-game][data-game={game_id}]")
        expect(page.locator(f"[data-key=score-{game_id}]")).to_be_visible()

    game("igloo-pop")
    entered(page, "red", three=2, one=1, own=4, captured=3)
    entered(page, "yellow", two=2, own=9)
    assert counted(page) == ["14", "13", "0"]
    expect(page.locator(".ranking .clause").first).to_be_visible()

    game("ice-team")
    entered(page, "green", fresh=3, frozen=5, home=4)
    entered(page, "red", fresh=7, frozen=1, home=2)
    assert counted(page) == ["8", "8"]

    game("arctic")
    for animal in ("fox", "fox", "moose", "moose", "moose"):
        page.click(f"[data-do=pile][data-seat=p1][data-animal={animal}]")
    page.click("[data-do=unpile][data-seat=p1]")
    page.click("[data-do=pile][data-seat=p2][data-animal=orca]")
    page.select_option("select[data-animal=bear]", "15")
    page.select_option("select[data-change=totem][data-seat=p1]", "bear")
    page.select_option("select[data-change=totem][data-seat=p2]", "fox")
    entered(page, "p1", penalty=2)
    # Runs of two foxes and two moose, two animals, the bear at 15, less two cards; an orca alone and the fox at 3.
    assert counted(page) == ["16", "3"]
    assert axe(page) == []
    assert stands_out(page) == []
    phones.shot(page, f"score-arctic-{width}", full=True)

    game("iglu-iglu")
    page.click("[data-tool=floe]")
    for square in ("c3", "c4", "d4"):
        page.click(f"[data-square={square}]")
    page.click("[data-tool='inuit red']")
    page.click("[data-square=c3]")
    page.click("[data-square=c3]")
    page.click("[data-tool='inuit blue']")
    page.click("[data-square=c4]")
    entered(page, "red", trophies=6)
    # An island of three for red, who has most there; blue is second.
    assert counted(page) == ["9", "1"]
    expect(page.locator(".note li").first).to_contain_text("5")
    assert axe(page) == []
    assert stands_out(page) == []
    phones.shot(page, f"score-iglu-{width}", full=True)


def test_a_dispute_in_a_position_set_up_by_hand(phones: Phones, service: Service) -> None:
    page = phones.player(width=768, height=1024)
    page.goto(f"{service.url}/#score")
    page.click("[data-do=score-game][data-game=iglu-iglu]")
    page.click("[data-tool=floe]")
    for square in ("c3", "c4"):
        page.click(f"[data-square={square}]")
    page.click("[data-tool='inuit red']")
    page.click("[data-square=c3]")
    page.fill("form[data-submit=judge-position] input", "walk c3 d3")
    page.click("form[data-submit=judge-position] button")
    expect(page.locator(".verdict.no")).to_be_visible()
    expect(page.locator(".verdict .cited li").first).to_be_visible()
    # The keyboard does as well as a finger.
    page.focus("[data-square=d3]")
    page.click("[data-tool=floe]")
    page.locator("[data-square=d3]").press("Enter")
    expect(page.locator("[data-square=d3]")).to_have_attribute("aria-label", "d3: floe")
    page.fill("form[data-submit=judge-position] input", "walk c3")
    page.click("form[data-submit=judge-position] button")
    expect(page.locator(".refusal")).to_be_visible()
    phones.forgive("400")
