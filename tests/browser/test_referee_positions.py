"""Disputes in a position that was set up by hand, for the games without a sheet of their own, by tapping."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Phones, refused_marks, taken_up
from tests.browser.test_boards import opened, stands_out
from tests.browser.test_look import ENGLISH_ONLY, read_aloud
from tests.web.assembly import Service

pytestmark = pytest.mark.browser

POSITION = "/api/position?"


def by_hand(page: Page, service: Service, game_id: str) -> None:
    page.goto(f"{service.url}/#referee/hand")
    page.click(f"[data-do=position-game][data-game={game_id}]")
    expect(page.locator(f"[data-do=position-game][data-game={game_id}]")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".by-hand [data-do=position-ask]")).to_be_visible()


def spot(page: Page, place: str) -> None:
    page.locator(f".by-hand [data-do=tap][data-place={place}]").dispatch_event("click")


def lay(page: Page, op: str, a: object, b: object = None) -> None:
    """Alter the position, and wait until the picture is that of the altered one."""
    more = "" if b is None else f"[data-b='{b}']"
    with taken_up(page, POSITION):
        page.click(f".by-hand [data-do=edit][data-op='{op}'][data-a='{a}']{more}")


def asked(page: Page) -> None:
    page.click("[data-do=position-ask]")
    expect(page.locator("[data-do=position-edit]")).to_be_visible()


def ruled(page: Page, legal: bool, clause: str) -> None:
    verdict = page.locator(f".verdict.{'yes' if legal else 'no'}", has=page.locator(f".cited .id:text-is('{clause}')"))
    expect(verdict.locator(".sentence")).not_to_be_empty()
    expect(verdict.locator("svg.board").first).to_be_attached()
    refused_marks(verdict, legal)


SAME_IN_ALL = ("The Flying Games", "place red card4")
"""A publisher, and the notation of moves."""
LOOKS = [
    pytest.param("en-GB", False, 320, marks=pytest.mark.long),
    ("fr-FR", True, 390),
    pytest.param("fr-FR", False, 768, marks=pytest.mark.long),
]


@pytest.mark.parametrize(("language", "dark", "width"), LOOKS)
def test_each_game_is_laid_with_taps_and_ruled_on(
    phones: Phones, service: Service, axe: Callable[[Page], list[str]], language: str, dark: bool, width: int
) -> None:
    page = phones.player(language=language, dark=dark, width=width, height=900)

    def looked_at(name: str) -> None:
        assert axe(page) == []
        assert stands_out(page) == []
        if language == "fr-FR":
            said = read_aloud(page)
            for words in SAME_IN_ALL:
                said = said.replace(words, "")
            assert set(re.findall(r"[a-z]+", said.lower())) & ENGLISH_ONLY == set()
        phones.shot(page, f"hand-{name}-{width}", full=True)

    # Two bears and nothing else: a leap over the other one, and a walk onto it.
    by_hand(page, service, "ice-team")
    spot(page, "a1")
    lay(page, "bear", "green")
    spot(page, "a2")
    lay(page, "bear", "red")
    looked_at("ice")
    asked(page)
    for place in ("a1", "a3"):
        spot(page, place)
    ruled(page, True, "ICE-1.2")
    for place in ("a1", "a2"):
        spot(page, place)
    ruled(page, False, "ICE-0.3")
    looked_at("ice-ruling")

    # A hand with an igloo takes no second one.
    by_hand(page, service, "igloo-pop")
    spot(page, "card4")
    lay(page, "igloo", "yellow")
    page.click(".editor-dock [data-op=open]")
    page.click(".editor-dock [data-card='4/5']")
    expect(page.locator(".editor-circle [data-place=card4] .numbers")).to_have_text("4/5")
    looked_at("pop")
    lay(page, "hand", "red")
    asked(page)
    page.select_option("select[name=verb]", "take")
    page.click("form[data-key=judge-pop] button")
    ruled(page, False, "POP-2.2")
    page.select_option("select[name=verb]", "place")
    spot(page, "card4")
    page.click("form[data-key=judge-pop] button")
    ruled(page, True, "POP-2.3")
    looked_at("pop-ruling")

    # The visible card moves its two tokens, one up and one down.
    by_hand(page, service, "arctic")
    spot(page, "top0")
    page.click(".editor-dock [data-op=open][data-a=of-fox]")
    looked_at("arctic-card")
    lay(page, "pile", "fox-5-moose")
    page.click("[data-do=editor-close]")
    lay(page, "phase", "B")
    looked_at("arctic")
    asked(page)
    page.click("[data-do=judge-text][data-move='tokens fox+ moose-']")
    ruled(page, True, "ARC-B.1")
    page.click("[data-do=judge-text][data-move='tokens fox+ moose+']")
    ruled(page, False, "ARC-B.1")
    looked_at("arctic-ruling")


def test_a_position_that_cannot_be_is_refused_in_one_sentence(phones: Phones, service: Service) -> None:
    page = phones.player(language="fr-FR")
    by_hand(page, service, "ice-team")
    spot(page, "village")
    lay(page, "bears", "green", 4)
    spot(page, "a1")
    lay(page, "bear", "green")
    expect(page.locator(".by-hand .note li")).not_to_have_count(0)
    page.click("[data-do=position-ask]")
    expect(page.locator(".refusal p")).to_contain_text("5 ours")
    expect(page.locator("[data-do=position-edit]")).to_have_count(0)
    # One step back it can be: all four at home, which is the end of the game.
    page.click("[data-do=editor-undo]")
    expect(page.locator(".by-hand .note li")).to_have_count(0)
    asked(page)
    for place in ("start", "a1"):
        spot(page, place)
    expect(page.locator(".verdict.no .cited .id").first).to_have_text(re.compile("ICE-"))


def test_what_happened_leads_on_and_is_taken_back(phones: Phones, service: Service) -> None:
    """A move is allowed and done: the next one is asked about. By keyboard, as far as a position is laid."""
    page = phones.player(width=1280, height=900)
    by_hand(page, service, "ice-team")

    def chosen(place: str, *pieces: tuple[str, str]) -> None:
        page.locator(f".by-hand [data-do=tap][data-place={place}]").press("Enter")
        expect(page.locator(".editor-dock")).to_be_focused()
        for op, what in pieces:
            with taken_up(page, POSITION):
                page.locator(f".editor-dock [data-op={op}][data-a={what}]").press("Enter")

    chosen("a1", ("bear", "green"), ("face", "plain"))
    chosen("a4", ("face", "drift"))
    page.locator("[data-do=editor-close]").press("Enter")
    expect(page.locator(".by-hand [data-do=tap][data-place=a4]")).to_be_focused()
    expect(page.locator(".by-hand [data-do=tap][data-place=a1]")).to_have_attribute(
        "aria-label", re.compile("a1: .*green")
    )
    asked(page)
    for place in ("a1", "a4"):
        spot(page, place)
    ruled(page, True, "ICE-1.1")
    page.click("[data-do=go-on]")
    expect(page.locator(".verdict")).to_have_count(0)
    expect(page.locator(".by-hand .sentence")).to_have_text("Drift: tap where the floe ends.")
    spot(page, "a5")
    ruled(page, True, "ICE-2.6a")
    spot(page, "a7")
    spot(page, "a7")
    page.fill("input[name=move]", "drift a7")
    page.click("form[data-submit=judge] button")
    ruled(page, False, "ICE-2.6a")
    # Back to before the walk, and all the way.
    page.click("[data-do=position-edit]")
    for _ in range(4):
        expect(page.locator("[data-do=editor-undo]")).to_be_enabled()
        with taken_up(page, POSITION):
            page.click("[data-do=editor-undo]")
    expect(page.locator("[data-do=editor-undo]")).to_be_disabled()
    expect(page.locator(".by-hand [data-do=tap][data-place=a1]")).not_to_have_attribute(
        "aria-label", re.compile("green")
    )
    # Boards of another kind have spaces of another name.
    page.click("[data-do=position-layout][data-layout=squares]")
    expect(page.locator(".by-hand [data-do=tap][data-place=p1]")).to_have_count(1)


def test_it_begins_with_what_lies_on_the_table(phones: Phones, service: Service) -> None:
    """The open match is altered on the page alone: nothing of it changes."""
    opened(service, "ice-team", setup={"first": "green"})
    service.companion.moves("walk start a1", "floe a1 plain")
    page = phones.player(width=390, height=844)
    page.click(".to-referee")
    page.click("a[href='#referee/hand']")
    expect(page.locator("[data-do=position-from][data-from=table]")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".by-hand [data-do=tap][data-place=a1]")).to_have_attribute("aria-label", re.compile("green"))
    before = service.companion.night.seq
    spot(page, "a2")
    lay(page, "bear", "red")
    lay(page, "turn", "green")
    asked(page)
    for place in ("a1", "a3"):
        spot(page, place)
    ruled(page, True, "ICE-1.2")
    expect(page.locator(".verdict .answer")).to_be_in_viewport()
    assert service.companion.night.seq == before
    page.click("[data-do=position-edit]")
    page.click("[data-do=position-from][data-from=empty]")
    expect(page.locator(".by-hand [data-do=tap][data-place=a1]")).not_to_have_attribute(
        "aria-label", re.compile("green")
    )


def test_a_silent_rulebook_is_voted_on_in_a_laid_position(phones: Phones, service: Service) -> None:
    page = phones.host(width=390, height=844)
    by_hand(page, service, "igloo-pop")
    spot(page, "card1")
    page.click(".editor-dock [data-op=open]")
    page.click(".editor-dock [data-card='4/5']")
    lay(page, "igloo", "red")
    lay(page, "igloo", "yellow")
    with taken_up(page, POSITION):
        page.select_option(".editor-dock select >> nth=0", "8")
    asked(page)
    page.select_option("select[name=verb]", "reveal")
    spot(page, "card1")
    page.select_option("select[name=number]", "9")
    page.click("form[data-key=judge-pop] button")
    ruled(page, True, "POP-3.7")
    before = page.locator(".verdict .sentence").inner_text()
    page.click(".verdict .vote [data-value='\"return\"']")
    expect(page.locator(".verdict .sentence")).not_to_have_text(before)
    assert service.companion.votes.of("igloo-pop") == {"pop.none_match": "return"}
    # A number that was shown already is refused.
    page.select_option("select[name=number]", "8")
    page.click("form[data-key=judge-pop] button")
    ruled(page, False, "POP-3.10")


def test_iglu_iglu_is_laid_on_its_sheet_and_a_spectator_lays_nothing(phones: Phones, service: Service) -> None:
    page = phones.player()
    page.goto(f"{service.url}/#referee")
    page.click("a[href='#referee/hand']")
    page.click("[data-do=position-game][data-game=iglu-iglu]")
    expect(page.locator("[data-key=score-iglu-iglu] form[data-submit=judge-position]")).to_be_visible()
    watching = phones.spectator()
    watching.goto(f"{service.url}/#referee/hand")
    expect(watching.locator(".by-hand .note")).to_be_visible()
    expect(watching.locator(".refusal")).to_have_count(0)
