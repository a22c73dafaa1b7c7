"""One phone for all: between two turns it says to whom it is passed, and no hand is on it until that one has it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from companion.lab.worlds.boards import players
from tests.browser.conftest import Phones
from tests.browser.test_look import overflow
from tests.web.assembly import Service

pytestmark = pytest.mark.browser

ENOUGH = 200
"""Moves within which a turn ends, whatever is played in it."""


def play_the_turn(service: Service) -> str:
    """Play the first legal moves until somebody else is to move; return that seat's colour."""
    night = service.companion.night
    before = night.view()["match"]["to_move"]
    for _ in range(ENOUGH):
        match = night.view()["match"]
        if match["to_move"] not in (before, -1):
            return str(match["players"][match["to_move"]]["colour"])
        board = night.board(match["players"][match["to_move"]]["colour"], "en")
        assert board is not None
        service.companion.moves(board["moves"][0]["text"])
    raise AssertionError("the turn does not end")


@pytest.mark.parametrize(("width", "height", "language"), [(320, 568, "de-DE"), (1280, 800, "fr-FR")])
def test_no_hand_is_seen_while_the_phone_is_passed(
    phones: Phones, service: Service, axe: Callable[[Page], list[str]], width: int, height: int, language: str
) -> None:
    people = [{**one, "name": name} for one, name in zip(players("arctic"), ("Ann", "Zoé"), strict=False)]
    service.companion.open_match(game="arctic", players=people, setup={}, draw=True)
    service.companion.do("deal")
    match = service.companion.night.view()["match"]
    first = match["players"][match["to_move"]]
    page = phones.host(width=width, height=height, language=language)
    page.click("[data-do=pass-round]")
    cover = page.locator(".pass-on")
    expect(cover.locator("h1")).to_contain_text(first["name"])
    page.click(".pass-on [data-do=seat]")
    mine = page.locator(".private")
    expect(mine).to_be_visible()
    next_colour = play_the_turn(service)
    following = next(one for one in match["players"] if one["colour"] == next_colour)
    expect(cover.locator("h1")).to_contain_text(following["name"])
    # Nothing of a hand is in the page, and nothing under the cover can be reached.
    covered = [page.locator(one) for one in (".private", ".spot", ".dock [data-move]")]
    for one in covered:
        expect(one).to_have_count(0)
    box = cover.bounding_box()
    assert box is not None
    assert (box["x"], box["y"], box["width"], box["height"]) == (0, 0, width, height)
    expect(page.locator(".doors")).to_be_hidden()
    assert overflow(page) == []
    assert axe(page) == []
    phones.shot(page, f"pass-on-{language}")
    # Neither the referee's room nor loading the page anew shows what was under it.
    page.evaluate("location.hash = '#referee'")
    page.reload()
    expect(cover.locator("h1")).to_contain_text(following["name"])
    page.evaluate("location.hash = ''")
    page.click(".pass-on [data-do=seat]")
    expect(mine).to_be_visible()
    told = service.companion.night.board(next_colour, language[:2])["private"][0][language[:2]]
    assert told in mine.inner_text()
    # Whoever has a phone of his own is not waited for on this one.
    play_the_turn(service)
    expect(cover.locator("h1")).to_contain_text(first["name"])
    page.click("[data-do=pass-not]")
    expect(page.locator(".on-board")).to_be_visible()
    page.click("[data-do=pass-round]")
    expect(page.locator("[data-key=hand-null]")).to_be_visible()


def test_a_phone_that_stays_with_its_owner_is_never_covered(phones: Phones, service: Service) -> None:
    service.companion.open_match(game="ice-team", players=players("ice-team"), setup={"first": "green"})
    page, watching = phones.player(), phones.spectator()
    expect(page.locator("[data-do=pass-round]")).to_have_attribute("aria-pressed", "false")
    expect(page.locator(".pass-on")).to_have_count(0)
    page.click("[data-do=pass-round]")
    expect(page.locator(".pass-on")).to_be_visible()
    expect(watching.locator(".on-board")).to_be_visible()
    expect(watching.locator("[data-do=pass-round]")).to_have_count(0)
