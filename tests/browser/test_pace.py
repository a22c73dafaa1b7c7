"""The turn clock: a ring on every screen, one nudge, nothing enforced; and a phone that says that it is its turn."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from companion.lab.worlds.boards import players, record
from tests.browser.conftest import Phones
from tests.browser.test_lively import HEARD_SOUNDS, WATCH
from tests.browser.test_look import overflow
from tests.web.assembly import Service, SmallCompanion

pytestmark = pytest.mark.browser

TREMBLES = "window.trembled = []; Navigator.prototype.vibrate = (how) => { trembled.push(how); return true; };"
"""Has a page keep, as `trembled`, how it vibrates: a machine without a motor only says that it did."""
NUDGES = "shown.filter((one) => one.text.startsWith('Whenever you are ready')).map((one) => one.text)"


def playing(service: Service, moves: int = 20) -> list[str]:
    """Open a game of Iglu Iglu in which somebody is to move; return the moves that are left."""
    companion, rest = service.companion, record("iglu-iglu", 5)
    companion.do("open-match", {"game": "iglu-iglu", "players": players("iglu-iglu")})
    if moves:
        companion.moves(*rest[:moves])
    return rest[moves:]


def whose(companion: SmallCompanion) -> dict[str, object]:
    found: list[dict[str, object]] = [one for one in companion.night.view()["match"]["players"] if one["turn"]]
    return found[0]


def bound(phones: Phones, service: Service, colour: object) -> Page:
    """Return the phone of whoever has a seat, after a tap on it."""
    page = phones.player()
    for script in (WATCH, HEARD_SOUNDS, TREMBLES):
        page.add_init_script(script)
    who = page.evaluate("fetch('/api/state').then((a) => a.json()).then((a) => a.me.id)")
    service.companion.access.bind(who, str(colour))
    return page


def opened(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_selector("body.lively", state="attached")
    page.mouse.click(2, 2)  # a browser lets a page be heard once it was tapped on


def test_the_host_sets_a_clock_in_the_games_menu_and_every_screen_shows_it(phones: Phones, service: Service) -> None:
    playing(service)
    page, tv = phones.host(), phones.spectator(width=1920, height=1080)
    tv.goto(f"{service.url}/tv")
    expect(page.locator(".pace")).to_have_count(0)
    page.click("details.menu summary")
    page.click("[data-do=clock]")
    page.click("[data-do=clock][data-minutes='3']")
    for one in (page, tv):
        one.wait_for_function("() => /^[23]:[0-5][0-9]$/.test(document.querySelector('.pace')?.textContent)")
    assert tv.evaluate("parseFloat(getComputedStyle(document.querySelector('.pace')).fontSize)") >= 24
    expect(page.locator(".log")).to_contain_text("A turn clock runs: 3 minutes a turn.")
    page.click("details.menu summary")
    page.click("[data-do=clock]")
    expect(page.locator("[data-do=clock][data-minutes='3']")).to_have_attribute("aria-pressed", "true")
    page.click("[data-do=clock][data-minutes='0']")
    for one in (page, tv):
        expect(one.locator(".pace")).to_have_count(0)


def test_one_nudge_when_the_time_is_over_and_no_more(phones: Phones, service: Service) -> None:
    companion = service.companion
    rest = playing(service)
    player = whose(companion)
    mine, other = bound(phones, service, player["colour"]), phones.spectator()
    other.add_init_script(WATCH)
    other.add_init_script(HEARD_SOUNDS)
    for page in (mine, other):
        page.clock.install()
        opened(page, service.url)
    companion.do("clock", {"minutes": 1})
    for page in (mine, other):
        page.wait_for_selector(".pace")
        page.wait_for_function("() => !document.querySelector('.pace.over')")
        page.evaluate("() => { window.played = 0; window.trembled = []; }")
        page.clock.fast_forward(61_000)
        page.wait_for_selector(".pace.over")
        page.wait_for_function(f"() => {NUDGES}.length === 1")
        page.clock.run_for(5_000)
        assert page.evaluate(NUDGES) == [f"Whenever you are ready, {player['name']}"]
        expect(page.locator(".pace")).to_have_text("0:00")
    # It is heard and felt where it is meant, and nowhere else.
    assert mine.evaluate("played") > 0 and mine.evaluate("trembled") == [200]
    assert other.evaluate("played") == 0
    # Nothing is enforced: the turn goes on, and the next one begins with a whole ring.
    while whose(companion) == player or not rest:
        assert companion.moves(rest.pop(0)).ok
        if not [one for one in companion.night.view()["match"]["players"] if one["turn"]]:
            assert companion.moves(rest.pop(0)).ok
    fresh = phones.spectator()
    expect(fresh.locator(".pace:not(.over)")).to_be_visible()


@pytest.mark.parametrize("room", ["", "/#score", "/#referee/hand", "/training"])
def test_a_phone_says_that_it_is_its_turn_in_whatever_room(phones: Phones, service: Service, room: str) -> None:
    companion = service.companion
    rest = playing(service)
    colours = [one["colour"] for one in companion.night.view()["match"]["players"]]
    later = next(colour for colour in colours if colour != whose(companion)["colour"])
    page = bound(phones, service, later)
    page.goto("about:blank")  # what the page keeps begins anew
    page.goto(service.url + room)
    page.wait_for_function(f"() => document.title.startsWith('{whose(companion)['name']} plays')")
    page.mouse.click(2, 2)
    page.evaluate("() => { window.trembled = []; window.played = 0; }")
    while not any(one["turn"] and one["colour"] == later for one in companion.night.view()["match"]["players"]):
        assert companion.moves(rest.pop(0)).ok
    page.wait_for_function("() => document.title.startsWith('It is your turn.')")
    page.wait_for_function("() => trembled.length === 1 && played > 0")
    if room == "/training":
        return
    # Off by one tap, remembered on this phone.
    page.click("[data-do=who-am-i]")
    page.click("[data-what=tremble]")
    expect(page.locator("[data-what=tremble]")).to_have_attribute("aria-pressed", "false")
    assert page.evaluate("trembled.length") == 1


def test_a_game_that_begins_with_my_turn_is_a_turn_that_comes(phones: Phones, service: Service) -> None:
    companion = service.companion
    playing(service, 0)
    first = whose(companion)["colour"]
    page = bound(phones, service, first)
    opened(page, service.url)
    assert page.evaluate("trembled") == [], "the page was opened, and no turn came"
    companion.do("close-match")
    page.wait_for_selector(".welcome", state="attached")
    playing(service, 0)
    assert whose(companion)["colour"] == first
    page.wait_for_function("() => document.title.startsWith('It is your turn.')")
    page.wait_for_function("() => trembled.length === 1 && played > 0")


@pytest.mark.parametrize(("width", "height", "dark"), [(320, 640, True), (1024, 768, False), (1920, 1080, True)])
def test_the_ring_reads_well(
    phones: Phones, service: Service, axe: Callable[[Page], list[str]], width: int, height: int, dark: bool
) -> None:
    playing(service)
    service.companion.do("clock", {"minutes": 2})
    page = phones.player(width=width, height=height, dark=dark, language="de-DE")
    page.goto(service.url + ("/tv" if width > 1900 else ""))
    expect(page.locator(".pace")).to_be_visible()
    phones.shot(page, f"pace-{width}")
    assert overflow(page) == []
    assert axe(page) == []
