"""The album: the games of an evening with their last pictures, large on a tap, evening by evening, on paper."""

from __future__ import annotations

import io
import re
from collections.abc import Callable

import pytest
from PIL import Image, ImageStat
from playwright.sync_api import Locator, Page, expect

from companion.lab.worlds.boards import players, record
from tests.browser.conftest import Phones
from tests.browser.test_look import overflow
from tests.night.commands.test_score_sheet_entry import kept
from tests.web.assembly import Service

pytestmark = pytest.mark.browser

MOST_MOVES = 60
ROOM_BYTES = 60_000
EVENING = 12
PRINTED = """
  window.printed = null;
  window.print = () => {
    window.printed = [...document.querySelectorAll(".album img")].map((one) => one.naturalWidth);
  };
"""
"""Instead of printing, a page notes how wide each picture is at that moment; 0 is one that has not come."""


def photo(colour: str) -> bytes:
    made = io.BytesIO()
    Image.new("RGB", (64, 36), colour).save(made, "JPEG")
    return made.getvalue()


def opened(service: Service, game_id: str) -> None:
    service.companion.open_match(game=game_id, players=players(game_id), setup={})


def played(service: Service, game_id: str, *colours: str) -> None:
    """Play a game to its end; keep a photo of each colour with it."""
    opened(service, game_id)
    for colour in colours:
        service.companion.camera_service.take_photo(photo(colour))
        service.companion.camera_service.keep_evidence()
    texts = record(game_id, 11)
    for n in range(0, len(texts), MOST_MOVES):
        service.companion.moves(*texts[n : n + MOST_MOVES])


def broken_off(service: Service) -> None:
    opened(service, "ice-team")
    service.companion.moves(record("ice-team", 11)[0])
    service.companion.do("close-match")


def popped(service: Service) -> None:
    """Play a round of Igloo Pop, and let the table end the game then."""
    companion = service.companion
    companion.open_match()
    companion.moves("start", "place red card2", "place blue card1")
    companion.do("check")
    companion.moves("reveal card2 2", "reveal card1 13")
    companion.do("end-early")


def come(picture: Locator) -> None:
    """Wait until a picture is there, at its own size."""
    picture.scroll_into_view_if_needed()
    expect(picture).to_be_visible()
    picture.evaluate("(one) => one.decode()")
    assert picture.evaluate("(one) => one.naturalWidth") > 0


def test_each_game_that_ended_has_its_picture_its_result_and_its_photos(phones: Phones, service: Service) -> None:
    played(service, "ice-team", "navy", "maroon")
    page = phones.player()
    page.click(".ending a[href='#album']")
    expect(page.locator(".album h1")).to_have_text("Album")
    game = page.locator(".album-game")
    expect(game).to_have_count(1)
    expect(game.locator("h2")).to_have_text("Ice Team")
    expect(game.locator(".sentence")).to_have_text("Bob wins")
    assert [" ".join(one.split()) for one in game.locator(".album-ranking li").all_inner_texts()] == [
        "1 R Bob 14",
        "2 G Ann 10",
    ]
    come(game.locator(".album-picture img"))
    expect(game.locator(".album-picture img")).to_have_attribute(
        "alt", "Ice Team, how the table lay at the end. Bob: 14 and Ann: 10"
    )
    expect(game.locator(".album-photo")).to_have_count(2)
    come(game.locator(".album-photo img").last)
    # Without a mouse: what has the focus is opened, and has it again afterwards.
    game.locator(".album-picture").focus()
    page.keyboard.press("Enter")
    large = page.locator("#dialog .album-large img")
    come(large)
    small = game.locator(".album-picture img")
    assert large.evaluate("(one) => one.clientWidth") > 1.4 * small.evaluate("(one) => one.clientWidth")
    assert large.get_attribute("alt") == small.get_attribute("alt")
    page.keyboard.press("Escape")
    expect(page.locator("#dialog")).to_be_hidden()
    expect(game.locator(".album-picture")).to_be_focused()
    game.locator(".album-photo").last.click()
    expect(page.locator("#dialog .album-large img")).to_have_attribute("alt", "Photo 2 of 2")
    page.keyboard.press("Escape")
    # The next game is not in it before its end; it is then, without anybody's doing.
    service.companion.do("next-game")
    service.companion.moves(record("ice-team", 11)[0])
    expect(game).to_have_count(1)
    service.companion.do("end-early")
    expect(game).to_have_count(2)
    expect(game.last.locator(".sentence")).to_contain_text("Ended early")


def test_one_leafs_from_evening_to_evening(phones: Phones, service: Service) -> None:
    page = phones.host()
    played(service, "ice-team")
    service.companion.do("close-match")
    service.companion.do("open-night")
    page.goto(f"{service.url}/#album")
    expect(page.locator(".album [data-key=none]")).to_have_text("No game was finished on this evening.")
    service.companion.do("keep-sheet", kept("igloo-pop", "Ann", "Bob"))
    expect(page.locator(".album-game[data-game=igloo-pop]")).to_contain_text("only counted at the end")
    expect(page.locator(".album img")).to_have_count(0)
    page.click(".album [data-key=earlier]")
    expect(page.locator(".album-game[data-game=ice-team]")).to_have_count(1)
    come(page.locator(".album-picture img"))
    expect(page.locator(".album [data-key=earlier]")).to_have_count(0)
    # A name that is another is so on every evening.
    ann = next(one["id"] for one in service.companion.people.all() if one["name"] == "Ann")
    service.companion.people.change(ann, {"name": "Annabelle"})
    expect(page.locator(".album-ranking")).to_contain_text("Annabelle")
    page.click(".album [data-key=later]")
    expect(page.locator(".album-game[data-game=igloo-pop]")).to_have_count(1)
    page.goto(f"{service.url}/#album/999999")
    expect(page.locator(".album .panel")).to_have_text("No such evening is known here.")
    phones.forgive("404")


def test_who_watches_is_asked_in(phones: Phones, service: Service) -> None:
    played(service, "ice-team")
    page = phones.spectator()
    expect(page.locator(".ending")).to_be_visible()
    expect(page.locator("a[href='#album']")).to_have_count(0)
    page.goto(f"{service.url}/#album")
    expect(page.locator("#stage .panel")).to_contain_text("Join with the table’s PIN")


def test_on_paper_each_game_has_a_page_and_no_picture_is_missing(phones: Phones, service: Service) -> None:
    for _ in range(EVENING):
        broken_off(service)
    page = phones.guest(width=390, height=700)
    page.add_init_script(PRINTED)
    asked: list[str] = []
    page.on("request", lambda told: asked.append(told.url) if "/api/share/album/" in told.url else None)
    page.goto(service.host_link())
    page.click("button.main")
    page.wait_for_selector("#stage > *")
    page.goto(f"{service.url}/#album")
    expect(page.locator(".album-game")).to_have_count(EVENING)
    come(page.locator(".album-picture img").first)
    # What is far below is not drawn and not sent before it is wanted.
    assert len(set(asked)) < EVENING
    page.click("[data-do=album-print]")
    page.wait_for_function("() => window.printed")
    assert len(page.evaluate("window.printed")) == EVENING
    assert all(page.evaluate("window.printed"))
    assert len(set(asked)) == EVENING
    assert len(re.findall(rb"/Type /Page\b", page.pdf(format="A4"))) == EVENING


def luminance(picture: bytes) -> float:
    """Return how light a picture is: 0 black, 1 white."""
    with Image.open(io.BytesIO(picture)) as image:
        return float(ImageStat.Stat(image.convert("L")).mean[0]) / 255


@pytest.mark.parametrize("game_id", ["ice-team", "igloo-pop"])
def test_at_night_the_pictures_are_dark_and_on_paper_light(phones: Phones, service: Service, game_id: str) -> None:
    if game_id == "igloo-pop":
        popped(service)
    else:
        played(service, game_id)
    seen = []
    for dark in (False, True):
        page = phones.player(dark=dark)
        page.goto(f"{service.url}/#album")
        picture = page.locator(".album-picture img")
        come(picture)
        phones.shot(page, f"album-{game_id}-{dark}")
        seen.append(luminance(picture.screenshot()))
        picture.click()
        large = page.locator(".album-large img")
        come(large)
        assert abs(luminance(large.screenshot()) - seen[-1]) < 0.15
        page.keyboard.press("Escape")
        page.emulate_media(media="print")
        assert luminance(picture.screenshot()) > 0.5
    day, night = sorted(seen, reverse=True)
    assert day > 0.5
    assert night < 0.3


PAPER = "window.printed = 0; window.print = () => { window.printed += 1; };"
"""Instead of printing, a page counts how often it would have."""
ON_PAPER = """() => {
  const shown = (all) => [...document.querySelectorAll(all)].filter((one) => one.checkVisibility());
  const wide = document.documentElement.clientWidth;
  const beyond = (one) => one.getBoundingClientRect().right > wide + 1
    || (one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX !== 'visible');
  const read = (sheet) => [...sheet.querySelectorAll('td, th, li')].some((line) => line.checkVisibility());
  return {
    tapped: shown('button, input, select, a').map((one) => one.outerHTML),
    cut: shown('main *').filter(beyond).map((one) => one.outerHTML.slice(0, 200)),
    ranks: shown('.ranking .rank').length,
    lines: shown('.scores .sheet').map((one) => one.open && read(one)),
    ink: [...new Set(shown('.ranking .name').map((one) => getComputedStyle(one).color))],
  };
}"""
"""Tells what of a page is on paper."""


@pytest.mark.parametrize(("game_id", "dark"), [("ice-team", True), ("igloo-pop", False)])
def test_a_result_on_paper_is_whole_and_has_nothing_to_tap(
    phones: Phones, service: Service, game_id: str, dark: bool
) -> None:
    if game_id == "igloo-pop":
        popped(service)
    else:
        played(service, game_id)
    page = phones.guest(dark=dark)
    page.add_init_script(PAPER)
    page.goto(service.host_link())
    page.click("button.main")
    page.click("[data-do=share]")
    page.click("[data-do=print-result]")
    page.wait_for_function("() => printed === 1")
    expect(page.locator("#dialog")).not_to_be_visible()
    page.set_viewport_size({"width": 680, "height": 960})  # A4 less its margins, as a browser lays it out
    page.emulate_media(media="print")
    phones.shot(page, f"print-{game_id}", full=True)
    told = page.evaluate(ON_PAPER)
    assert told["tapped"] == []
    assert told["cut"] == []
    # Black on white, whatever the phone prefers.
    assert luminance(page.screenshot()) > 0.8
    seats = len(service.companion.night.view()["match"]["players"])
    assert told["ranks"] == seats
    assert told["lines"] == [True] * seats
    assert told["ink"] == ["rgb(0, 0, 0)"]
    assert 1 <= len(re.findall(rb"/Type /Page\b", page.pdf(format="A4"))) <= 3


def test_the_room_weighs_little(phones: Phones, service: Service) -> None:
    played(service, "ice-team")
    page = phones.host(language="fr-FR")
    expect(page.locator(".ending")).to_be_visible()
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    weights: list[float] = []
    session.on("Network.loadingFinished", lambda told: weights.append(told["encodedDataLength"]))
    page.click(".ending a[href='#album']")
    come(page.locator(".album-picture img"))
    expect(page.locator(".album .sentence").last).to_have_text("Bob gagne")
    page.wait_for_function("() => [...document.styleSheets].some((one) => one.href?.endsWith('album.css'))")
    assert len(weights) > 3
    assert sum(weights) < ROOM_BYTES


SIZES = [
    (320, 640, True, "de-DE"),
    (360, 740, False, "fr-FR"),
    (820, 1180, True, "fr-FR"),
    (1920, 1080, False, "en-GB"),
]


@pytest.mark.parametrize(("width", "height", "dark", "language"), SIZES)
def test_it_reads_well_and_has_no_barrier(
    phones: Phones,
    service: Service,
    axe: Callable[[Page], list[str]],
    width: int,
    height: int,
    dark: bool,
    language: str,
) -> None:
    played(service, "ice-team", "navy")
    service.companion.do("close-match")
    service.companion.do("keep-sheet", kept("igloo-pop", "Christabelle-Marie", "Maximilian"))
    page = phones.host(width=width, height=height, dark=dark, language=language)
    page.goto(f"{service.url}/#album")
    expect(page.locator(".album-game")).to_have_count(2)
    come(page.locator(".album-picture img"))
    come(page.locator(".album-photo img"))
    phones.shot(page, f"album-{width}", full=True)
    assert overflow(page) == []
    assert axe(page) == []
    page.click(".album-picture")
    come(page.locator("#dialog .album-large img"))
    phones.shot(page, f"album-large-{width}")
    assert overflow(page) == []
    assert axe(page) == []
