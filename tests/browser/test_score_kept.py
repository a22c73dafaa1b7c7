"""A game that was only counted is kept, one is ended early, and who only watches counts for himself: by tapping."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Phones
from tests.browser.test_boards import stands_out
from tests.browser.test_score import counted, entered
from tests.night.commands.test_score_sheet_entry import kept
from tests.web.assembly import Service

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(("language", "dark", "width"), [("en-GB", False, 390), ("fr-FR", True, 1280)])
def test_a_game_that_was_only_counted_is_kept(
    phones: Phones, service: Service, axe: Callable[[Page], list[str]], language: str, dark: bool, width: int
) -> None:
    service.companion.people.add("Ann")
    page = phones.host(language=language, dark=dark, width=width)
    other = phones.player()
    page.click("a[href='#score']")
    page.click("[data-do=score-game][data-game=igloo-pop]")
    # Three points and nine thalers, twice ten thalers: a place is shared, and none is second.
    entered(page, "red", one=1, own=9)
    entered(page, "yellow", own=10)
    entered(page, "green", own=9)
    assert counted(page) == ["10", "10", "9"]
    # Yellow and red have ten points; red has a card, which decides.
    expect(page.locator(".ranking .place")).to_have_text(["1", "2", "3"])
    entered(page, "red", one=0)
    assert counted(page) == ["10", "9", "9"]
    expect(page.locator(".ranking .place")).to_have_text(["1", "2", "2"])
    expect(page.locator("[data-key=cannot-keep]")).to_have_count(0)
    page.locator("button.person", has_text="Ann").click()
    page.fill("input[name=name-yellow]", "Bob")
    assert axe(page) == []
    assert stands_out(page) == []
    phones.shot(page, f"score-keep-{width}", full=True)
    page.locator("form[data-submit=keep-sheet] button.main").click()

    for phone in (page, other):
        expect(phone.locator("[data-key=ending] h1")).to_contain_text("Bob")
        expect(phone.locator("[data-key=ending] .place")).to_have_text(["1", "2", "2"])
        expect(phone.locator("[data-key=story]")).to_be_visible()
        expect(phone.locator("svg.chart")).to_have_count(0)
    assert axe(page) == []
    phones.shot(page, f"score-kept-{width}", full=True)
    page.click("[data-do=share]")
    expect(page.locator("#dialog img.code")).to_be_visible()
    expect(page.locator("img.result-picture")).to_be_visible()
    phones.shot(page, f"score-kept-picture-{width}")
    page.click("[data-do=close-dialog-window]")
    assert [one["name"] for one in service.companion.people.all()] == ["Ann", "Bob"]
    # A player may not take it out; the host, with the table's agreement, may.
    expect(other.locator("[data-do=undo]")).to_have_count(0)
    page.click("[data-do=undo]")
    page.click("#dialog [data-do=dialog-yes]")
    expect(page.locator("[data-key=ending]")).to_have_count(0)
    assert service.companion.night.view()["match"] is None


@pytest.mark.parametrize(("language", "dark", "width"), [("de-DE", True, 320), ("en-GB", False, 1280)])
def test_a_series_is_drawn_game_by_game(
    phones: Phones, service: Service, axe: Callable[[Page], list[str]], language: str, dark: bool, width: int
) -> None:
    page = phones.spectator(language=language, dark=dark, width=width)
    service.companion.do("keep-sheet", kept("igloo-pop", "Ann", "Bob"))
    expect(page.locator(".series tfoot td")).to_have_text(["14", "11"])
    expect(page.locator(".series .chart")).to_have_count(0)
    for _ in range(2):
        service.companion.do("keep-sheet", kept("igloo-pop", "Ann", "Bob"))
    expect(page.locator(".series tfoot td")).to_have_text(["42", "33"])
    chart = page.locator(".series .chart")
    told = (
        "Die Serie bis 100 Punkte. Ann: 42 und Bob: 33"
        if language == "de-DE"
        else "The series to 100 points. Ann: 42 and Bob: 33"
    )
    expect(chart).to_have_attribute("aria-label", told)
    # A line a player with a point before the first game and one after each; what they play to is as high as it goes.
    assert [
        len(one.split("L"))
        for one in chart.locator(".ink").evaluate_all("(all) => all.map((one) => one.getAttribute('d'))")
    ] == [4, 4]
    expect(chart.locator("text")).to_have_text(["0", "100"])
    # The figures beside it are read on a phone, too.
    assert min(chart.locator("text").evaluate_all("(all) => all.map((one) => one.getBoundingClientRect().height)")) > 11
    phones.shot(page, f"series-{width}", full=True)
    assert stands_out(page) == []
    assert axe(page) == []


def test_an_open_game_ends_with_a_sheet_or_early(phones: Phones, service: Service) -> None:
    page = phones.host()
    page.click("[data-do=choose-game][data-game=ice-team]")
    page.click("form.setup button.main")
    expect(page.locator("[data-key=menu]")).to_be_visible()
    page.click("[data-key=menu] summary")
    page.click("[data-do=close-dialog]")
    expect(page.locator("[data-key=ending] h1")).to_contain_text("Ended early")
    expect(page.locator("[data-do=undo]")).to_have_text(["Not yet: play on"])
    expect(page.locator("[data-key=early]")).to_contain_text("nobody has won")
    phones.shot(page, "ended-early", full=True)
    page.click("[data-do=share]")
    expect(page.locator("#dialog .note")).to_contain_text("without a winner")
    expect(page.locator("img.result-picture")).to_be_visible()
    phones.shot(page, "ended-early-picture")
    # On paper: the ranking and the score lines, unfolded, and nothing that is tapped.
    page.evaluate("() => { window.print = () => { window.printed = true; }; }")
    page.click("[data-do=print-result]")
    page.wait_for_function("() => window.printed")
    page.emulate_media(media="print")
    expect(page.locator(".ending .ranking")).to_be_visible()
    expect(page.locator(".scores .sheet[open] .lines li").first).to_be_visible()
    expect(page.locator(".scores .sheet:not([open])")).to_have_count(0)
    for tapped in (".doors", ".log", ".ending button", ".clause"):
        expect(page.locator(tapped).locator("visible=true")).to_have_count(0)
    phones.shot(page, "ended-early-printed", full=True)
    page.emulate_media(media="screen")
    # It was done at once, and goes back as easily.
    page.click("[data-do=undo]")
    expect(page.locator("[data-key=ending]")).to_have_count(0)
    assert page.locator("#dialog[open]").count() == 0

    page.click("[data-key=menu] summary")
    page.click("[data-key=menu] a[href='#score']")
    expect(page.locator("[data-key=score-ice-team]")).to_be_visible()
    entered(page, "green", fresh=3, frozen=5, home=4)
    entered(page, "red", fresh=7, frozen=1, home=2)
    assert counted(page) == ["8", "8"]
    expect(page.locator(".ranking .place")).to_have_text(["1", "2"])
    phones.shot(page, "score-into", full=True)
    page.click("[data-do=keep-into]")
    expect(page.locator("[data-key=ending] .place")).to_have_text(["1", "2"])
    assert service.companion.night.view()["match"]["ended_by"] == "sheet"


def test_who_only_watches_counts_for_himself(phones: Phones, service: Service) -> None:
    page = phones.spectator()
    page.click("a[href='#score']")
    expect(page.locator("[data-key=watching]")).to_contain_text("count here for yourself")
    for game in ("iglu-iglu", "ice-team"):
        page.click(f"[data-do=score-game][data-game={game}]")
        expect(page.locator(f"[data-key=score-{game}]")).to_be_visible()
        expect(page.locator("input[type=file], a[href='#photo']")).to_have_count(0)
    entered(page, "green", fresh=3, home=4)
    assert counted(page) == ["3", "0"]
    phones.shot(page, "score-watching", full=True)
    expect(page.locator("[data-submit=keep-sheet], [data-do=keep-into], [data-key=cannot-keep]")).to_have_count(0)
