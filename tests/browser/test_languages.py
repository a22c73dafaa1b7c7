"""A further language, there because its files are: nothing on the page is said in another."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from companion.lab.worlds.boards import players, record
from tests.browser.conftest import PATIENCE_MS, Phones
from tests.browser.test_boards import GAMES
from tests.browser.test_look import SIX, english_words, overflow, read_aloud, through_the_night
from tests.browser.test_referee_positions import by_hand
from tests.browser.test_training import DOORS, guess, history, trains
from tests.web.assembly import Service, served
from tests.worlds.pseudo import CODE, untranslated

pytestmark = pytest.mark.browser

Speak = Callable[[str], None]

NOT_TRANSLATED = frozenset(
    word.casefold()
    for words in (
        *(player["name"] for player in SIX),
        # What people and machines are called, and the games; the house has its own name.
        "Ann Bob Igloo Pop Iglu Arctic Ice Team companion test sim usb dev",
        # Languages are named in their own words, and by their codes.
        "English Français Deutsch Esperanto EN DE EO",
    )
    for word in re.findall(r"\w+", words)
)
"""Declared: names are the same in every language."""
KEPT = re.compile(
    r"\b(?:POP|IGLU|ARC|ICE)-[A-Z0-9]+(?:\.[A-Z0-9]+)*[a-z]?"  # clauses are cited by their ids
    r"|^[a-z0-9]+(?: [\w/+-]+)*: (?=⟦)"  # the caption of a drawn ruling begins with the move as records have it
    r"|\b(?:Chrome|Linux)\b"  # of which browser a phone joined
    r"|\b[a-h]\d?\b|\bP\.\d+ · [A-E]"  # squares, powers and phases are written as on the boards
)


FRENCH_ONLY = frozenset(["est", "une", "les", "des", "pour", "tu", "la", "manche", "carte", "partie"])
"""French words that no English sentence of the page has."""


@pytest.fixture
def phones_of(chromium: Browser, tmp_path: Path, speak: Speak) -> Iterator[Callable[[str], tuple[Phones, Service]]]:
    """Return what opens phones on a service with the files of a language."""
    expect.set_options(timeout=PATIENCE_MS)
    open_ones = []

    def begin(kind: str) -> tuple[Phones, Service]:
        speak(kind)
        companion = served(tmp_path / kind)
        phones = Phones(chromium, service := companion.__enter__())
        open_ones.append((phones, companion))
        return phones, service

    yield begin
    for phones, companion in open_ones:
        phones.close()
        companion.__exit__(None, None, None)
        assert phones.complaints == []


def left(page: Page) -> list[str]:
    """Return the lines of a page that have a word which was never translated."""
    return [line for line in read_aloud(page).splitlines() if untranslated(KEPT.sub("", line), NOT_TRANSLATED)]


THERE = {
    "#referee": ".referee .entry",
    "#referee/hand": ".by-hand .spot, .by-hand [data-do=tap]",
    "#score": ".numbers-of",
    "#photo": ".photo-room",
    **{
        part: f"[data-key=part-{part}] > :not(.quiet)"
        for part in ("igloo", "balance", "camera", "devices", "people", "rights", "backups")
    },
}
"""What there is in a room, or a part of the workshop, when all that it asks for has come."""


def learnt(page: Page) -> None:
    """Wait until no word stands there as the sign that it is not known yet."""
    page.wait_for_function(
        """() => [...document.querySelectorAll('main *')]
          .every((one) => one.children.length || one.textContent !== '…')"""
    )


@pytest.mark.long
def test_a_night_in_another_language(phones_of: Callable[[str], tuple[Phones, Service]]) -> None:
    phones, service = phones_of("whole")
    page = phones.host(language=CODE)
    assert page.evaluate("document.documentElement.lang") == CODE
    assert page.locator(".languages button[aria-current]").get_attribute("value") == CODE
    for stop in through_the_night(service, page):
        assert left(page) == [], stop
    phones.shot(page, "pseudo-ending", full=True)
    guest = phones.guest(language=CODE)
    for path in ("/join", "/host/nothing", "/nothing", "/"):
        guest.goto(service.url + path)
        assert "⟦" in read_aloud(guest)
        assert left(guest) == [], path
    phones.forgive("422", "404")


@pytest.mark.parametrize("game_id", GAMES)
def test_a_game_on_a_board_in_another_language(
    phones_of: Callable[[str], tuple[Phones, Service]], game_id: str
) -> None:
    phones, service = phones_of("whole")
    page = phones.host(language=CODE, width=1280, height=900)
    page.click(f"[data-do=choose-game][data-game={game_id}]")
    expect(page.locator(f"form[data-key=setup-{game_id}]")).to_be_visible()
    assert left(page) == []
    companion, texts = service.companion, record(game_id, 11)
    companion.open_match(game=game_id, players=players(game_id), setup={})
    for part in (texts[:20], texts[20:-6], texts[-6:]):
        for at in range(0, len(part), 90):
            companion.moves(*part[at : at + 90])
        expect(page.locator(f".on-board[data-state='{companion.night.state}'], .ending").first).to_be_visible()
        learnt(page)
        assert left(page) == []
    expect(page.locator(".ending h1")).to_contain_text("⟦")
    if game_id != "iglu-iglu":  # which is laid on its score sheet
        by_hand(page, service, game_id)
        assert left(page) == []


def rooms_of(page: Page, service: Service) -> Iterator[str]:
    """Lead a page through the rooms beside the game and the parts of the workshop; yield the address of each."""
    page.goto(f"{service.url}/#workshop")
    expect(page.locator("a[href^='#workshop/']").first).to_be_visible()
    parts = page.evaluate("() => [...document.querySelectorAll('a[href^=\"#workshop/\"]')].map((one) => one.hash)")
    assert len(set(parts)) > 3
    for room in ("#referee", "#referee/hand", "#score", "#photo", *dict.fromkeys(parts)):
        page.goto(f"{service.url}/{room}")
        expect(page.locator(THERE[room.removeprefix("#workshop/")]).first).to_be_attached()
        learnt(page)
        yield room


def doors_of(page: Page, service: Service) -> Iterator[str]:
    """Lead a page through the training room; yield the name of each door."""
    trains(page, service, "Ann")
    guess(page, 5)
    expect(page.locator(".next")).to_be_visible()
    yield "drill"
    for door in ("progress", "ladder", "duel"):
        page.goto(f"{service.url}/training#{door}")
        expect(page.locator(DOORS[door])).to_be_visible()
        learnt(page)
        yield door


@pytest.mark.parametrize(
    "language",
    [
        "de-DE",  # whose words are the longest
        pytest.param("fr-FR", marks=pytest.mark.long),
        pytest.param("en-GB", marks=pytest.mark.long),
    ],
)
def test_every_room_fits_the_narrowest_phone(
    phones: Phones, service: Service, axe: Callable[[Page], list[str]], language: str
) -> None:
    service.companion.plug_in()
    history(service.companion, rounds=30)
    page = phones.host(language=language, width=320, height=640)
    for stop in chain(rooms_of(page, service), doors_of(page, service)):
        assert overflow(page) == [], stop
        assert axe(page) == [], stop
        if language != "en-GB":
            assert english_words(read_aloud(page), language) == [], stop
        phones.shot(page, f"{language}-320-{stop.strip('#').replace('/', '-')}", full=True)


@pytest.mark.parametrize(
    ("language", "letters"),
    [("en-GB", ["R", "B", "Y", "G"]), ("fr-FR", ["R", "B", "J", "V"]), ("de-DE", ["R", "B", "Ge", "Gr"])],
)
def test_pieces_are_told_apart_by_letters(phones: Phones, service: Service, language: str, letters: list[str]) -> None:
    """Two colours of German begin with the same letter; the pictures of the server have the same signs."""
    seats = [{"name": name, "colour": name} for name in ("red", "blue", "yellow", "green")]
    service.companion.do("open-match", {"game": "iglu-iglu", "players": seats})
    page = phones.spectator(language=language)
    pieces = page.locator(".turn .piece text")
    expect(pieces).to_have_count(4)
    assert sorted(pieces.all_text_contents()) == sorted(letters)


def test_the_rooms_beside_the_game_in_another_language(phones_of: Callable[[str], tuple[Phones, Service]]) -> None:
    phones, service = phones_of("whole")
    service.companion.plug_in()
    history(service.companion, rounds=30)
    page = phones.host(language=CODE, width=1280, height=900)
    for room in rooms_of(page, service):
        expect(page.locator("main h1, main h2").first).to_contain_text("⟦")
        assert left(page) == [], room
    for door in doors_of(page, service):
        assert left(page) == [], door


def test_a_language_without_words_is_english_and_breaks_nothing(
    phones_of: Callable[[str], tuple[Phones, Service]],
) -> None:
    phones, service = phones_of("empty")
    page, english = phones.host(language=CODE), phones.player(language="en-GB")
    assert page.evaluate("document.documentElement.lang") == CODE
    for stop in through_the_night(service, page):
        foreign = set(re.findall(r"\w+", read_aloud(page).lower())) & FRENCH_ONLY
        assert foreign == set(), stop
    expect(english.locator(".ending h1")).to_be_visible()
    for part in (".ending .sentence", ".ranking li >> nth=0", ".log li >> nth=0"):
        assert page.locator(part).first.text_content() == english.locator(part).first.text_content(), part
    phones.forgive("422")
