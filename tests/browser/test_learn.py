"""The guided first game: set-up and first turns on pictures, the place that is asked for tapped by the reader."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from companion.rules import games
from companion.rules.learn import has_lesson, lesson
from tests.browser.conftest import Phones
from tests.browser.test_look import overflow
from tests.web.assembly import Service

pytestmark = pytest.mark.browser

TAUGHT = [game_id for game_id in games() if has_lesson(game_id)]


def entered(page: Page, service: Service, game_id: str) -> None:
    page.goto(f"{service.url}/#learn/{game_id}")
    expect(page.locator(".learn h1")).to_be_visible()


def place(page: Page, name: str) -> None:
    page.locator(f".learn [data-do=learn-tap][data-place={name}]").first.click()


@pytest.mark.parametrize("game_id", TAUGHT)
def test_it_is_gone_through_tap_by_tap(phones: Phones, service: Service, game_id: str) -> None:
    page = phones.spectator()
    entered(page, service, game_id)
    steps = lesson(game_id)
    for n, step in enumerate(steps):
        expect(page.locator(".learn h1")).to_have_text(step.title["en"])
        expect(page.locator(".learn .board").first).to_be_visible()
        if step.tap:
            expect(page.locator(".learn .sentence")).to_have_text(step.ask["en"] if step.ask else "")
            place(page, step.tap)
        expect(page.locator(".learn .sentence")).to_have_text(step.text["en"])
        if step.ruling:
            expect(page.locator(".learn-no")).to_contain_text(step.ruling.en)
        expect(page.locator(".learn-ways")).to_contain_text(f"{n + 1} of {len(steps)}")
        if n + 1 < len(steps):
            page.click("[data-do=learn-go].main")
    # At its end one is back at the table, and the next time it begins anew.
    page.click("[data-do=learn-end]")
    expect(page.locator(".learn")).to_have_count(0)
    entered(page, service, game_id)
    expect(page.locator(".learn h1")).to_have_text(steps[0].title["en"])


def test_a_wrong_place_is_no_dead_end_and_every_clause_is_one_tap_away(phones: Phones, service: Service) -> None:
    page = phones.host()
    page.click("[data-do=choose-game][data-game=igloo-pop]")
    page.click("a.way[href='#learn/igloo-pop']")
    steps = lesson("igloo-pop")
    asked = next(n for n, step in enumerate(steps) if step.tap)
    for _ in range(asked):
        page.click("[data-do=learn-go].main")
    wrong = next(f"card{n}" for n in range(1, 10) if f"card{n}" != steps[asked].tap)
    place(page, wrong)
    expect(page.locator(".learn .note")).to_have_text("Not there. Look again.")
    assert page.locator(".learn .spot.lit").count() == 0
    place(page, wrong)
    expect(page.locator(f".learn .spot.lit[data-place={steps[asked].tap}]")).to_have_count(1)
    page.click("[data-do=learn-show]")
    expect(page.locator(".learn .sentence")).to_have_text(steps[asked].text["en"])
    page.click(f".learn [data-do=clause][data-id='{steps[asked].clauses[0]}']")
    expect(page.locator("#dialog")).to_contain_text(steps[asked].clauses[0])
    page.keyboard.press("Escape")
    # Who comes back goes on where they were.
    page.reload()
    expect(page.locator(".learn h1")).to_have_text(steps[asked].title["en"])
    assert service.companion.night.view()["match"] is None


SIZES = [(320, 640, True, "de-DE"), (768, 1024, False, "fr-FR"), (1920, 1080, True, "en-GB")]


@pytest.mark.parametrize("game_id", TAUGHT)
@pytest.mark.parametrize(("width", "height", "dark", "language"), SIZES)
def test_it_reads_well_and_has_no_barrier(
    phones: Phones,
    service: Service,
    axe: Callable[[Page], list[str]],
    game_id: str,
    width: int,
    height: int,
    dark: bool,
    language: str,
) -> None:
    page = phones.spectator(width=width, height=height, dark=dark, language=language)
    entered(page, service, game_id)
    tried = next(n for n, step in enumerate(lesson(game_id)) if step.ruling)
    for n in range(len(lesson(game_id))):
        expect(page.locator(".learn .board").first).to_be_visible()
        phones.shot(page, f"learn-{game_id}-{width}-{n}", full=True)
        assert overflow(page) == []
        if n in (tried, 2):
            assert axe(page) == []
        if page.locator("[data-do=learn-show]").count():
            page.click("[data-do=learn-show]")
        if n + 1 < len(lesson(game_id)):
            page.click("[data-do=learn-go].main")
            expect(page.locator(".learn-ways")).to_contain_text(f"{n + 2}")


SEEN = """() => {
  const bar = document.querySelector('.doors').getBoundingClientRect().top;
  const box = (one) => document.querySelector(one).getBoundingClientRect();
  const [said, drawn] = [box('.learn .sentence'), box('.learn .sheet-of-board')];
  return [said.top >= 0 && said.bottom <= bar, Math.min(drawn.bottom, bar) - Math.max(drawn.top, said.bottom)];
}"""
"""Tells whether what is asked is in sight whole, and how much of the picture is with it, in pixels."""


@pytest.mark.parametrize("game_id", TAUGHT)
def test_on_a_small_phone_the_picture_is_in_sight_with_what_is_asked(
    phones: Phones, service: Service, game_id: str
) -> None:
    page = phones.spectator(width=320, height=568, language="de-DE")
    entered(page, service, game_id)
    steps = lesson(game_id)
    asked = next(n for n, step in enumerate(steps) if step.tap)
    for n in range(asked):
        page.click("[data-do=learn-go].main")
        expect(page.locator(".learn-ways")).to_contain_text(f"{n + 2}")
    expect(page.locator(".learn.asked .sentence")).to_be_visible()
    whole, seen = page.evaluate(SEEN)
    assert whole
    assert seen >= 120
    phones.shot(page, f"learn-asked-{game_id}")
    # Who looks for the place further down still reads what is asked, and the place is not under it.
    spot = page.locator(f".learn [data-do=learn-tap][data-place={steps[asked].tap}]").first
    spot.evaluate("(one) => one.scrollIntoView({ block: 'center' })")
    whole, seen = page.evaluate(SEEN)
    assert whole
    assert seen >= 120
    place(page, steps[asked].tap or "")
    expect(page.locator(".learn:not(.asked) .sentence")).to_have_text(steps[asked].text["de"])
