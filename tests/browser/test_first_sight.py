"""What a family sees first: four games, who is here, and a start that is always in reach."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Phones
from tests.browser.test_look import english_left, overflow, read_aloud
from tests.browser.test_stumbles import in_view
from tests.web.assembly import Service

pytestmark = pytest.mark.browser

GAMES = ["igloo-pop", "iglu-iglu", "arctic", "ice-team"]
START = "form.setup button[type=submit]"
PLACES = """() => [...document.querySelectorAll('.tile .scene use')].map((one) => one.getBBox())
  .filter((box) => box.width > 100 && box.height > 60).length"""


COUNT = "input[name=count][value='3']"


@pytest.mark.parametrize(("game", "before"), [("igloo-pop", []), ("iglu-iglu", [COUNT]), ("arctic", [COUNT])])
def test_three_shake_or_move_within_nine_taps_and_no_typing(
    phones: Phones, service: Service, game: str, before: list[str]
) -> None:
    page = phones.guest()
    taps = 0

    def tap(selector: str) -> None:
        nonlocal taps
        page.click(selector)
        taps += 1

    page.goto(service.host_link())
    tap("button.main")
    tap(f"[data-do=choose-game][data-game={game}]")
    for selector in before:
        tap(selector)
    tap(START)
    if game == "igloo-pop":
        tap("[data-do=start]")
        expect(page.locator(".play[data-phase=shaking]")).to_be_visible()
    else:
        # A place of the board or, where a card of the hand is played, the card.
        expect(page.locator(".on-board[data-state] :is(.spot.lit, .group button)").first).to_be_attached()
    assert len(service.companion.night.view()["match"]["players"]) == 3
    assert taps <= 9


@pytest.mark.parametrize("game", GAMES)
def test_who_is_known_is_at_the_table_with_one_tap(phones: Phones, service: Service, game: str) -> None:
    people = service.companion.people
    for name in ("Ann", "Bob", "Zoé"):
        people.add(name)
    known = {one["name"]: one["id"] for one in people.all()}
    page = phones.host()
    page.click(f"[data-do=choose-game][data-game={game}]")
    names = ["Ann", "Bob"] if game == "ice-team" else ["Ann", "Bob", "Zoé"]
    for name in names:
        page.click(f".here [data-person='{known[name]}']")
        expect(page.locator(f".here [data-person='{known[name]}']")).to_have_attribute("aria-pressed", "true")
    page.click(START)
    expect(page.locator(".play")).to_be_visible()
    players = service.companion.night.view()["match"]["players"]
    assert sorted(player["name"] for player in players) == names


@pytest.mark.parametrize(
    ("width", "height", "dark", "language"),
    [
        (320, 640, True, "de-DE"),
        (390, 844, False, "fr-FR"),
        (844, 390, True, "en-GB"),
        (768, 1024, False, "de-DE"),
        (1920, 1080, True, "fr-FR"),
    ],
)
def test_the_start_is_in_reach_on_every_screen(
    phones: Phones,
    service: Service,
    axe: Callable[[Page], list[str]],
    width: int,
    height: int,
    dark: bool,
    language: str,
) -> None:
    for name in ("Ann", "Christabelle-Marie", "Zoé"):
        service.companion.people.add(name)
    page = phones.host(width=width, height=height, dark=dark, language=language)
    expect(page.locator(".tile")).to_have_count(4)
    page.wait_for_function(f"() => ({PLACES})() === 4")
    for game in GAMES:
        page.click(f"[data-do=choose-game][data-game={game}]")
        expect(page.locator(".extras summary small")).not_to_be_empty()
        expect(page.locator(f".tile[data-game={game}]")).to_have_attribute("aria-pressed", "true")
        page.evaluate("scrollTo(0, 0)")
        assert in_view(page, ".tile >> nth=0")
        assert in_view(page, START), game
        assert overflow(page) == [], game
        if not language.startswith("en"):
            assert english_left(read_aloud(page), language) == []
        if game in {"igloo-pop", "ice-team"}:
            assert axe(page) == []
        phones.shot(page, f"start-{width}-{game}-{language}-{'dark' if dark else 'light'}")
        page.evaluate("scrollTo(0, document.querySelector('form.setup').getBoundingClientRect().bottom + scrollY)")
    page.click("form.setup .extras summary")
    assert overflow(page) == []


def test_what_is_usual_is_folded_away_and_said_in_a_line(phones: Phones, service: Service) -> None:
    page = phones.host()
    line = page.locator("form.setup .extras summary small")
    expect(line).to_have_text("The companion draws the cards · the usual rules")
    expect(page.locator("input[name=draw]").first).to_be_hidden()
    page.click("form.setup .extras summary")
    page.click("input[name=draw][value=false]")
    expect(line).to_have_text("You draw the cards · the usual rules")
    page.locator("fieldset", has_text="When do the cards end the game?").locator("input").nth(1).check()
    expect(line).to_have_text("You draw the cards · 1 house rule of your own")
    page.click("[data-do=choose-game][data-game=arctic]")
    expect(line).to_have_text("With the box; the companion draws the set-up · the usual rules")


def test_the_other_ways_are_there_for_everybody(phones: Phones, service: Service) -> None:
    for page in (phones.host(), phones.player(), phones.spectator()):
        ways = page.locator(".ways a")
        expect(ways).to_have_text(["Learn the game", "Score a finished game", "Ask the referee", "Train your ear"])
        ways.nth(1).click()
        expect(page.locator("[data-do=score-game]").first).to_be_visible()


@pytest.mark.parametrize("game", GAMES)
def test_one_tap_and_the_same_play_again(phones: Phones, service: Service, game: str) -> None:
    companion = service.companion
    colours = {"arctic": ("p1", "p2"), "ice-team": ("green", "red")}.get(game, ("red", "blue"))
    seats = [{"name": name, "colour": colour} for name, colour in zip(("Ann", "Bob"), colours, strict=True)]
    setup = {"layout": "bend"} if game == "ice-team" else {}
    companion.do("open-match", {"game": game, "players": seats, "draw": game == "igloo-pop", "setup": setup})
    first = companion.night.view()["match"]["id"]
    page = phones.host()
    expect(page.locator(".play")).to_be_visible()
    companion.do("end-early")
    page.click(".ending [data-do=next-game]")
    expect(page.locator(".play:not(.ending)")).to_be_visible()
    match = companion.night.view()["match"]
    assert match["id"] != first
    assert (match["game"], [(one["name"], one["colour"]) for one in match["players"]]) == (
        game,
        [(one["name"], one["colour"]) for one in seats],
    )
    with companion.night.standing() as standing:
        assert standing.match is not None
        assert standing.match.header["setup"].get("layout") == setup.get("layout")
    # What the companion draws is drawn: the table can begin.
    page.wait_for_function("() => !document.querySelector('[data-do=deal]')")


def test_a_series_that_was_won_is_followed_by_another(phones: Phones, service: Service) -> None:
    companion = service.companion
    companion.open_match()
    companion.do("correct", {"colour": "red", "points": 95, "reason": "a test", "agreed": True})
    companion.moves("start", *["place blue card8"] * 10)
    companion.do("check")
    companion.moves(*[f"reveal card8 {n}" for n in range(2, 12)])
    assert companion.night.view()["series"]["winner"] == ["red"]
    page = phones.host()
    page.click(".ending [data-do=next-game]")
    expect(page.locator(".play:not(.ending)")).to_be_visible()
    view = companion.night.view()
    assert view["series"]["games"] == []
    assert [one["name"] for one in view["match"]["players"]] == ["Ann", "Bob", ""]
