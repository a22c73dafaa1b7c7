"""The television: the board as large as the screen, read from four metres, with nothing to tap."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from companion.lab.worlds.boards import players, record
from tests.browser.conftest import Phones
from tests.browser.test_look import overflow
from tests.web.assembly import Service

pytestmark = pytest.mark.browser

SMALL = """() => [...document.querySelectorAll('body *')].filter((one) => {
  const own = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  const box = one.getBoundingClientRect();
  if (!own || !box.width || one.closest('.unseen, noscript, defs')) return false;
  const at = one.ownerSVGElement ? one.getScreenCTM() : { a: 1, b: 0 };
  const scale = Math.hypot(at.a, at.b);
  return parseFloat(getComputedStyle(one).fontSize) * scale < 23.9;
}).map((one) => `${one.textContent} ${getComputedStyle(one).fontSize}`)"""
SHARES = """() => {
  const drawing = document.querySelector('#board svg.board, #board svg.circle');
  const { x, y, width, height } = drawing.viewBox.baseVal;
  const { a, d, e, f } = drawing.getScreenCTM();
  const [left, top, right, bottom] = [e + a * x, f + d * y, e + a * (x + width), f + d * (y + height)];
  const seen = (Math.min(innerWidth, right) - Math.max(0, left)) * (Math.min(innerHeight, bottom) - Math.max(0, top));
  const panel = document.getElementById('board').getBoundingClientRect();
  return [seen, panel.width * panel.height].map((one) => one / innerWidth / innerHeight);
}"""
"""Of the screen, what the drawn board takes itself, and what its panel takes with the sea or the table round it."""
LEAST = {"igloo-pop": 0.70, "arctic": 0.70, "ice-team": 0.54, "iglu-iglu": 0.56}
"""The least share of the board itself: a square comes to 0.56 at most, a board three times as long as high to 0.6."""
CODE = """(from) => {
  const code = document.querySelector('.tv-invite .code');
  return code?.naturalWidth > 0 && new URL(code.src).pathname === from;
}"""
TAPPED = "() => document.querySelectorAll('a, button, input, select, [role=button], [data-do]').length"


def shown(page: Page, service: Service) -> None:
    page.goto(f"{service.url}/tv")


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("game_id", ["igloo-pop", "arctic", "ice-team", "iglu-iglu"])
def test_the_board_fills_the_screen(
    phones: Phones, service: Service, axe: Callable[[Page], list[str]], game_id: str, dark: bool
) -> None:
    companion = service.companion
    if game_id == "igloo-pop":
        companion.open_match()
        companion.moves("start", "place red card4")
    else:
        companion.do("open-match", {"game": game_id, "players": players(game_id)})
        companion.moves(*record(game_id, 5)[:60])
    page = phones.spectator(width=1920, height=1080, dark=dark)
    shown(page, service)
    expect(page.locator("#board svg")).to_be_visible()
    # The first drawing has the whole width: its letters and lines come to rest with the second.
    page.wait_for_selector("body.lively")
    board, panel = page.evaluate(SHARES)
    assert board >= LEAST[game_id]
    assert panel >= 0.7
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight && scrollX === 0")
    expect(page.locator(".tv-scores li")).to_have_count(len(companion.night.view()["match"]["players"]))
    told = page.locator(".tv-last").inner_text()
    last = companion.night.view()["log"][-1]["en"]
    # Of a whole game at once what came last is told, in whole sentences.
    assert told == last or (told.startswith("… ") and last.endswith(f". {told[2:]}"))
    assert (
        page.evaluate(
            "(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)(document.querySelector('.tv-last'))"
        )
        <= 1
    )
    phones.shot(page, f"tv-{game_id}-{'dark' if dark else 'light'}")
    assert page.evaluate(SMALL) == []
    assert page.evaluate(TAPPED) == 0
    assert axe(page) == []


@pytest.mark.parametrize(
    ("language", "game_id", "stage"),
    [
        ("fr-FR", "igloo-pop", "check"),
        ("de-DE", "igloo-pop", "end"),
        ("fr-FR", "arctic", "pause"),
        ("de-DE", "ice-team", "end"),
        ("de-DE", "iglu-iglu", "pause"),
    ],
)
def test_all_of_it_can_be_read_from_the_sofa(
    phones: Phones, service: Service, language: str, game_id: str, stage: str
) -> None:
    companion = service.companion
    if game_id == "igloo-pop":
        companion.open_match()
        companion.moves("start", "place red card4", "place blue card2")
        companion.do("check")
        companion.moves("reveal card2 2")
    else:
        companion.do("open-match", {"game": game_id, "players": players(game_id)})
        companion.moves(*record(game_id, 5)[:60])
    if stage != "check":
        companion.do("end-early" if stage == "end" else "pause")
    page = phones.spectator(width=1920, height=1080, language=language)
    shown(page, service)
    expect(page.locator("html")).to_have_attribute("lang", language[:2])
    expect(page.locator("#board svg")).to_be_visible()
    page.wait_for_selector("body.lively")
    assert page.evaluate("document.fonts.ready.then(() => document.documentElement.scrollHeight <= innerHeight)")
    phones.shot(page, f"tv-{game_id}-{stage}-{language[:2]}")
    assert page.evaluate(SMALL) == []
    beside = page.locator("#beside").evaluate("(one) => one.scrollHeight - one.clientHeight")
    assert beside <= 1
    if stage == "pause":
        assert companion.night.view()["night"]["paused"]
        expect(page.locator(".tv-now p")).not_to_be_empty()


MEETING = """() => {
  const letters = [...document.querySelectorAll('#board svg text')].map((one) => [one, one.getBoundingClientRect()]);
  const seen = letters.filter(([one, box]) => box.width && one.checkVisibility());
  const meet = ([, a], [, b]) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 6;
  return seen.flatMap((one, i) => seen.slice(i + 1).filter((other) => meet(one, other))
    .map(([other]) => `${one[0].textContent} | ${other.textContent}`));
}"""
"""Tells of letters that lie over each other; a line's box is some pixels higher than what is written in it."""


@pytest.mark.parametrize(("game_id", "width", "height"), [("ice-team", 390, 844), ("iglu-iglu", 820, 1180)])
def test_on_a_screen_held_upright_the_players_are_below_the_board(
    phones: Phones, service: Service, game_id: str, width: int, height: int
) -> None:
    service.companion.do("open-match", {"game": game_id, "players": players(game_id)})
    service.companion.moves(*record(game_id, 5)[:60])
    page = phones.spectator(width=width, height=height)
    shown(page, service)
    page.wait_for_selector("body.lively")
    board, beside, last = (page.locator(one).bounding_box() for one in ("#board", "#beside", ".tv-last"))
    assert board and beside and last
    assert board["width"] == beside["width"] == width
    assert board["y"] + board["height"] <= beside["y"]
    assert last["y"] + last["height"] <= height
    assert overflow(page) == []


APART = """() => {
  const boxes = [...document.querySelectorAll('#board .slice, #beside')].map((one) => one.getBoundingClientRect());
  return boxes.slice(1).every((one, i) => one.top >= boxes[i].bottom - 1 && one.left >= 0 && one.right <= innerWidth);
}"""


def test_a_table_of_cards_in_the_hand_is_folded_and_scrolled(
    phones: Phones, service: Service, axe: Callable[[Page], list[str]]
) -> None:
    service.companion.do("open-match", {"game": "arctic", "players": players("arctic")})
    service.companion.moves(*record("arctic", 5)[:60])
    page = phones.spectator(width=320, height=640, dark=True)
    shown(page, service)
    page.wait_for_selector("body.lively")
    phones.shot(page, "tv-arctic-in-the-hand")
    assert page.locator("#board .slice").count() > 5
    assert page.evaluate(APART)
    # Nothing of a row is drawn beside it.
    assert {page.locator(".slice").nth(i).evaluate("(one) => getComputedStyle(one).overflow") for i in range(5)} == {
        "hidden"
    }
    assert overflow(page) == []
    assert axe(page) == []


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_no_letters_of_a_table_of_many_lie_over_each_other(phones: Phones, service: Service, seats: int) -> None:
    names = ("Ann", "Bob", "Christabelle-Marie", "Zoé")
    playing = [{"colour": f"p{n}", "name": name} for n, name in enumerate(names[:seats], 1)]
    service.companion.do("open-match", {"game": "arctic", "players": playing, "draw": True})
    service.companion.do("deal")
    page = phones.spectator(width=1920, height=1080)
    shown(page, service)
    expect(page.locator("#board svg")).to_be_visible()
    page.wait_for_selector("body.lively")
    phones.shot(page, f"tv-arctic-{seats}")
    assert page.evaluate(SMALL) == []
    assert page.evaluate(MEETING) == []


def test_who_watches_on_a_wide_screen_is_offered_the_television(phones: Phones) -> None:
    narrow = phones.spectator()
    expect(narrow.locator("a[href='/tv']")).to_be_hidden()
    wide = phones.spectator(width=1920, height=1080)
    wide.click("a[href='/tv']")
    expect(wide.locator(".tv-invite")).to_be_visible()


def test_it_shows_what_everybody_may_see_also_on_a_phone_that_has_a_seat(phones: Phones, service: Service) -> None:
    companion = service.companion
    companion.do("open-match", {"game": "arctic", "players": players("arctic")})
    companion.moves(*record("arctic", 5)[:20])
    page = phones.player(width=1920, height=1080)
    page.goto(service.url)
    colour = companion.night.view()["match"]["players"][0]["colour"]
    companion.access.bind(page.evaluate("fetch('/api/state').then((a) => a.json()).then((a) => a.me.id)"), colour)
    shown(page, service)
    expect(page.locator("#board svg")).to_be_visible()
    assert page.evaluate("fetch('/api/board?open=1').then((a) => a.json()).then((a) => a.board.seat)") is None
    assert page.evaluate("fetch('/api/board').then((a) => a.json()).then((a) => a.board.seat)") == colour


def test_the_last_move_and_the_end_come_by_themselves(phones: Phones, service: Service) -> None:
    companion = service.companion
    companion.open_match()
    companion.moves("start")
    page = phones.spectator(width=1920, height=1080)
    shown(page, service)
    expect(page.locator(".tv-now h1")).to_have_text("Round 1")
    companion.moves("place red card2")
    expect(page.locator(".tv-last")).to_contain_text("Ann")
    expect(page.locator(".iglet")).to_have_count(1)
    companion.do("check")
    companion.moves("reveal card2 2")
    expect(page.locator(".tv-scores li", has_text="Ann").locator("b")).to_have_text("13")
    companion.do("end-early")
    expect(page.locator(".tv-now h1")).to_contain_text("Ann")
    expect(page.locator(".tv-scores li").first).to_contain_text("Ann")


def test_an_idle_television_invites_and_keeps_awake(phones: Phones, service: Service) -> None:
    page = phones.host(width=1920, height=1080)
    page.click("a[href='/tv']")
    pin = page.locator(".tv-invite .pin")
    expect(pin).to_have_text(service.companion.access.pin)
    page.wait_for_function(CODE, arg="/api/join.svg")
    assert page.evaluate(SMALL) == []
    assert page.evaluate(TAPPED) == 0
    phones.shot(page, "tv-idle")
    # Plain HTTP has no lock for the screen: a film that goes on does what it would do.
    assert page.evaluate("'wakeLock' in navigator") is False
    page.wait_for_function("() => document.querySelector('video')?.paused === false")
    # Who opened it without the host's word sees the way to the table, as a code too, and no PIN.
    other = phones.spectator(width=1920, height=1080)
    shown(other, service)
    expect(other.locator(".tv-invite")).to_contain_text("Others join at")
    other.wait_for_function(CODE, arg="/api/address.svg")
    expect(other.locator(".pin")).to_have_count(0)
    assert service.companion.access.pin not in other.content()
    assert other.evaluate(SMALL) == []
    phones.shot(other, "tv-idle-watching")
