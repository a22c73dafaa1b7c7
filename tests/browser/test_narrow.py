"""Wide pictures on narrow phones: nothing scrolls sideways, everything that is legal can be tapped."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from companion.lab.worlds.boards import players, record
from companion.service.buttons import Buttons
from tests.browser.conftest import Phones, sent
from tests.web.assembly import Service, SmallCompanion

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(("game_id", "width"), [("arctic", 320), ("ice-team", 390)])
def test_a_wide_board_fits_a_phone(
    phones: Phones, service: Service, axe: Callable[[Page], list[str]], game_id: str, width: int
) -> None:
    companion = service.companion
    companion.do("open-match", {"game": game_id, "players": players(game_id)})
    texts = iter(record(game_id, 3))
    kinds = {"arctic": "draw", "ice-team": "walk"}
    page = phones.player(width=width)
    for text in texts:
        if len(companion.night.view()["log"]) > 20 and text.split()[0] == kinds[game_id]:
            break
        companion.moves(text)
    expect(page.locator(".sheet-of-board.narrow .spot.lit").first).to_be_attached()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    frames = "[...document.querySelectorAll('.sheet-of-board, .dock')]"
    assert page.evaluate(f"{frames}.filter((one) => one.scrollWidth > one.clientWidth + 1).length") == 0
    state = companion.night.state
    small = """[...document.querySelectorAll('.spot.lit')].map((one) => one.getBoundingClientRect())
      .filter((box) => Math.min(box.width, box.height) < 24 || box.left < 0 || box.right > innerWidth).length"""
    assert page.evaluate(small) == 0
    # Each place of the whole picture is here once.
    places = page.evaluate("[...document.querySelectorAll('.spot')].map((one) => one.dataset.place)")
    assert len(places) == len(set(places)) > 8
    assert axe(page) == []
    phones.shot(page, f"narrow-{game_id}-{width}", full=True)
    page.locator(".spot.lit").first.click()
    sent(page)
    if companion.night.state == state:
        # It was no whole move yet: the page offers how it may go on.
        page.locator(".spot.lit:not(.picked), .dock [data-do=say]").first.click()
        sent(page)
    assert companion.night.state != state


@pytest.mark.parametrize("width", [320, 390])
def test_a_frame_stands_whole_round_what_a_player_has(phones: Phones, service: Service, width: int) -> None:
    companion = service.companion
    companion.do("open-match", {"game": "arctic", "players": players("arctic")})
    for text in record("arctic", 5)[:120]:
        companion.moves(text)
    page = phones.player(width=width)
    frames = page.locator(".narrow .framed")
    expect(frames).to_have_count(2)
    expect(page.locator(".narrow .framed.on")).to_have_count(1)
    # No line of the picture that is wider than a row is left to be cut by it.
    torn = """[...document.querySelectorAll('.narrow .slice rect[stroke]')]
      .filter((one) => one.width.baseVal.value > 460).length"""
    assert page.evaluate(torn) == 0
    # A line that goes on in the next row is drawn in both.
    runs = "[...document.querySelectorAll('.slice')].map((row) => row.querySelectorAll('path.run').length)"
    assert len(set(page.evaluate(runs))) == 1 and page.evaluate(runs)[0] > 0
    within = """[...document.querySelectorAll('.narrow .framed')].every((frame) => {
      const [out, ...rows] = [frame, ...frame.children].map((one) => one.getBoundingClientRect());
      return rows.length > 2 && rows.every((row) => row.left >= out.left && row.right <= out.right
        && row.top >= out.top && row.bottom <= out.bottom);
    })"""
    assert page.evaluate(within)
    phones.shot(page, f"narrow-arctic-frames-{width}", full=True)


def test_a_place_that_stays_keeps_the_focus_while_the_table_changes(phones: Phones, service: Service) -> None:
    companion = service.companion
    companion.do("open-match", {"game": "arctic", "players": players("arctic")})
    rest = record("arctic", 5)
    page = phones.player(width=390)

    def tapped() -> set[str]:
        board = companion.night.board(None, "en")
        assert board is not None
        page.wait_for_selector(f".on-board[data-state='{companion.night.state}']")
        return {path[0] for move in board["moves"] if (path := move["path"]) and not path[0].startswith("=")}

    companion.moves(*rest[:20])
    row = "(place) => document.querySelector(`.spot[data-place=${place}]`).closest('.slice').dataset.key"
    stayed = 0
    for text in rest[20:60]:
        places = sorted(tapped())
        if places:
            page.locator(f".spot[data-place={places[-1]}]").focus()
            before = page.evaluate(row, places[-1])
        companion.moves(text)
        # What lies in another row now is another element.
        if places and places[-1] in tapped() and page.evaluate(row, places[-1]) == before:
            stayed += 1
            assert page.evaluate("document.activeElement.dataset.place") == places[-1]
    assert stayed > 3


def test_a_turned_phone_draws_the_board_as_it_is(phones: Phones, service: Service) -> None:
    service.companion.do("open-match", {"game": "ice-team", "players": players("ice-team")})
    page = phones.spectator(width=390)
    expect(page.locator(".narrow")).to_have_count(1)
    page.set_viewport_size({"width": 844, "height": 390})
    expect(page.locator(".narrow")).to_have_count(0)
    expect(page.locator(".sheet-of-board.wide")).to_have_count(1)
    # Beside the names stand the pieces that the picture draws.
    for colour in ("red", "green"):
        shape = f".turn[data-key={colour}] .piece.{colour} > :not(text)"
        drawn = page.locator(f".board #it-{colour} > g").last.evaluate("(one) => one.lastElementChild.outerHTML")
        assert page.locator(shape).last.evaluate("(one) => one.getAttribute('d') ?? one.getAttribute('r')") in drawn


def with_panel(companion: SmallCompanion) -> Buttons:
    """Return a table with buttons at its pins, whether or not this machine has any."""
    buttons = Buttons(companion.night, companion.hub, ("next 5", "undo 6"))
    buttons.start()
    return buttons


@pytest.mark.parametrize("width", [320, 390, 768])
def test_no_button_of_the_table_stands_alone(phones: Phones, service: Service, width: int) -> None:
    service.companion.buttons = with_panel(service.companion)
    service.companion.open_match()
    service.companion.moves("start")
    page = phones.host(width=width)
    buttons = page.locator(".table-buttons .table-button")
    expect(buttons).to_have_count(3)
    tops = buttons.evaluate_all("all => all.map(one => Math.round(one.getBoundingClientRect().top))")
    assert {tops.count(top) for top in tops} == {3}
    # The ruling's picture shows no sentence a second time, in letters that nobody reads.
    page.goto(f"{service.url}/#referee")
    page.fill("form[data-submit=judge] input", "place red card3")
    page.click("form[data-submit=judge] button")
    expect(page.locator(".verdict svg > rect").first).to_be_visible()
    expect(page.locator(".verdict svg .caption")).to_have_count(0)
    sizes = page.eval_on_selector_all(
        ".verdict svg text.player", "all => all.map(one => one.getBoundingClientRect().height)"
    )
    assert len(sizes) == 3
    assert min(sizes) > (8 if width < 390 else 10)
    phones.shot(page, f"ruling-pop-{width}", full=True)


@pytest.mark.parametrize("language", ["en-GB", "fr-FR", "de-DE"])
def test_the_head_of_the_narrowest_phone_is_one_line(phones: Phones, service: Service, language: str) -> None:
    service.companion.open_match()
    for page in (phones.host(width=320, language=language), phones.spectator(width=320, language=language)):
        expect(page.locator(".status-bar .role")).to_be_visible()
        boxes = [page.locator(part).first.bounding_box() for part in (".status-bar", ".languages")]
        status, languages = (box or {} for box in boxes)
        assert abs(status["y"] + status["height"] / 2 - languages["y"] - languages["height"] / 2) < 8


CUT = """(all) => all.filter((one) => {
    const box = one.getBoundingClientRect(), words = one.querySelector('span').getBoundingClientRect();
    return box.left < 0 || box.right > innerWidth || box.bottom > innerHeight || Math.min(box.width, box.height) < 44
      || words.left < box.left || words.right > box.right || words.height > 20 || one.innerText.trim().length < 4;
  }).map((one) => one.outerHTML)"""
"""Tells of doors that are cut, or too small for a finger."""


@pytest.mark.parametrize("language", ["en-GB", "fr-FR", "de-DE"])
@pytest.mark.parametrize("width", [320, 360, 390])
def test_rooms_have_names_under_the_thumb_and_languages_are_all_offered(
    phones: Phones, service: Service, width: int, language: str
) -> None:
    service.companion.open_match()
    page = phones.host(width=width, language=language)
    doors = page.locator(".doors > :not(.for-screens)")
    expect(doors).to_have_count(5)
    assert doors.evaluate_all(CUT) == []
    # What is tapped in the game lies above them, and both other languages stand in the head.
    dock, first = page.locator(".play .dock").bounding_box(), doors.first.bounding_box()
    assert dock is not None and first is not None
    assert dock["y"] + dock["height"] <= first["y"]
    others = page.locator(".languages button:not([aria-current])")
    expect(others).to_have_count(2)
    for n in range(2):
        box = others.nth(n).bounding_box()
        assert box is not None
        assert box["x"] >= 0 and box["x"] + box["width"] <= width and min(box["width"], box["height"]) >= 24
    phones.shot(page, f"doors-{width}-{language}")


@pytest.mark.parametrize("language", ["en-GB", "fr-FR", "de-DE"])
def test_the_training_room_has_the_same_doors(phones: Phones, service: Service, language: str) -> None:
    page = phones.host(width=320, height=568, language=language)
    page.goto(f"{service.url}/training")
    expect(page.locator("#newcomer")).to_be_visible()
    doors = page.locator(".doors > a")
    expect(doors).to_have_count(4)
    assert doors.evaluate_all(CUT) == []
    assert page.locator(".doors [aria-current=page]").get_attribute("href") == "/training"
    # The last thing of the room is not covered by them.
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    last, bar = page.locator("#stage > :last-child").bounding_box(), page.locator(".doors").bounding_box()
    assert last is not None and bar is not None
    assert last["y"] + last["height"] <= bar["y"] < bar["y"] + bar["height"] == 568
    for href, there in (("/#referee", ".ask"), ("/#workshop", ".workshop, [data-key^=part]"), ("/#", ".tile")):
        page.goto(f"{service.url}/training")
        page.click(f".doors a[href='{href}']")
        expect(page.locator(there).first).to_be_visible()
    assert page.url == f"{service.url}/#"
