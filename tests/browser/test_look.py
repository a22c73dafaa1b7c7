"""How it looks and reads: all languages, both themes, from 320 px to 4K; no barriers that axe-core knows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

import pytest
from playwright.sync_api import Page, expect

from companion.ports import CameraStatus, DeviceKind, DeviceState, MotionState
from tests.browser.conftest import Phones, unfold
from tests.web.assembly import JPEG, Service
from web.i18n import catalogue

pytestmark = pytest.mark.browser

SIX = [
    {"name": "Ann", "colour": "red"},
    {"name": "", "colour": "blue"},
    {"name": "Christabelle-Marie", "colour": "violet"},
    {"name": "Dan", "colour": "black"},
    {"name": "Eve", "colour": "yellow"},
    {"name": "Maximilian", "colour": "green"},
]


def through_the_night(service: Service, page: Page, *, players: int = 6) -> Iterator[str]:
    """Lead the host's page through everything that a night shows; yield a name at each stop."""
    companion = service.companion
    expect(page.locator(".setup fieldset")).to_have_count(3)
    yield "setup"
    companion.plug_in()
    companion.camera_service.told = CameraStatus(
        "usb:0", DeviceKind.REAL, DeviceState.CONNECTED, 1280, 720, 15.0, "The camera sends pictures."
    )
    companion.camera_service.take_photo(JPEG)
    companion.open_match(players=SIX[:players])
    expect(page.locator(".play[data-phase=ready]")).to_be_visible()
    yield "ready"
    companion.moves("start", "place red card1", "place blue card1")
    companion.moves("place red card3")
    companion.feel(MotionState.SHAKEN)
    page.click(".who[data-colour=red]")
    expect(page.locator(".iglet")).to_have_count(3)
    yield "shaking"
    page.click(".who[data-colour=red]")
    companion.moves("take blue")
    page.click("[data-do=may]")
    expect(page.locator("#dialog .may li")).to_have_count(4)
    yield "may"
    page.keyboard.press("Escape")
    page.click("[data-do=check]")
    expect(page.locator(".refusal")).to_be_visible()
    yield "refusal"
    companion.moves("return blue")
    companion.do("fault", {"clause": "POP-2.4", "colour": "red"})
    page.click("details.menu summary")
    page.click("details.menu [data-do=fault-dialog]")
    expect(page.locator("#dialog")).to_be_visible()
    yield "fault"
    page.keyboard.press("Escape")
    page.click("details.menu summary")
    yield "menu"
    page.click("details.menu [data-do=correct-dialog]")
    expect(page.locator("#dialog")).to_be_visible()
    yield "correct"
    page.keyboard.press("Escape")
    companion.do("check")
    companion.moves("reveal card1 4")
    companion.hear(7)
    unfold(page)
    expect(page.locator(".count")).to_be_visible()
    page.click(".extras summary")
    yield "checking"
    page.click(".extras summary")
    companion.moves("reveal card1 9", "reveal card3 13")
    expect(page.locator(".picker")).to_be_visible()
    yield "picker"
    page.click(".results .clause >> nth=0")
    expect(page.locator("#dialog .clause-text")).to_be_visible()
    yield "clause"
    page.keyboard.press("Escape")
    page.click("[data-do=settings]")
    expect(page.locator("#dialog textarea").first).to_be_visible()
    yield "settings"
    page.keyboard.press("Escape")
    page.click("[data-do=invite]")
    expect(page.locator("#dialog .pin")).to_be_visible()
    yield "invite"
    page.keyboard.press("Escape")
    companion.do("pause")
    expect(page.locator(".play.paused")).to_be_visible()
    yield "paused"
    companion.do("resume")
    companion.do("deal", {"cards": {"card1": "5/6"}})
    for _ in range(10):
        if companion.night.view()["match"]["players"][0]["own"] == 0:
            break
        companion.moves("start", "place red card2")
        companion.do("check")
        companion.moves("reveal card2 13")
    expect(page.locator(".ending")).to_be_visible()
    yield "ending"


def blank(page: Page) -> int:
    """Return how many pixels the page goes on below the last thing on it."""
    return page.evaluate(
        """() => document.documentElement.scrollHeight
          - Math.max(innerHeight, document.querySelector('main').getBoundingClientRect().bottom + scrollY)"""
    )


def overflow(page: Page) -> list[str]:
    """Return what stands out of the page at the right."""
    return page.evaluate(
        """() => [...document.querySelectorAll('body *')]
          .filter((one) => one.checkVisibility() && one.getBoundingClientRect().right > innerWidth + 1)
          .filter((one) => !one.closest('.scroll, .unseen, svg'))
          .map((one) => one.className || one.nodeName)"""
    )


@pytest.mark.parametrize(
    ("width", "height", "dark", "language"),
    [
        pytest.param(320, 640, False, "en-GB", marks=pytest.mark.long),
        (320, 640, True, "de-DE"),  # whose words are the longest
        pytest.param(768, 1024, False, "en-GB", marks=pytest.mark.long),
        (1920, 1080, False, "en-GB"),
        pytest.param(1920, 1080, True, "de-DE", marks=pytest.mark.long),
        pytest.param(3840, 2160, False, "en-GB", marks=pytest.mark.long),
    ],
)
def test_nothing_stands_out_at_any_width(
    phones: Phones, service: Service, width: int, height: int, dark: bool, language: str
) -> None:
    page = phones.host(width=width, height=height, dark=dark, language=language)
    for stop in through_the_night(service, page):
        assert overflow(page) == [], stop
        assert blank(page) <= 48, stop
        phones.shot(page, f"{width}-{'dark' if dark else 'light'}-{stop}")
    phones.forgive("422")


@pytest.mark.parametrize("width", [320, 390, 768, 1920])
def test_a_long_log_with_undone_entries_makes_the_page_no_longer(phones: Phones, service: Service, width: int) -> None:
    companion = service.companion
    companion.open_match()
    for _ in range(25):
        companion.moves("start")
        companion.do("undo", {"to": 0, "agreed": True})
    page = phones.host(width=width, height=800)
    expect(page.locator(".log .undone").first).to_be_attached()
    assert page.locator(".log ol").evaluate("(log) => log.scrollHeight > log.clientHeight + 200")
    assert blank(page) <= 48
    phones.shot(page, f"undone-{width}", full=True)


@pytest.mark.parametrize(("width", "players"), [(768, 2), (768, 3), (768, 4), (1024, 3), (1200, 3), (390, 4)])
def test_names_of_ordinary_length_are_shown_whole(phones: Phones, service: Service, width: int, players: int) -> None:
    names = ("Annabel", "Bob", "Charlie", "Dominik")
    seats = [{"name": name, "colour": seat["colour"]} for name, seat in zip(names, SIX, strict=False)]
    service.companion.open_match(players=seats[:players])
    service.companion.moves("start")
    page = phones.host(width=width, height=1024)
    expect(page.locator(".seat .name")).to_have_count(players)
    cut = page.evaluate(
        "() => [...document.querySelectorAll('.seat .name')].filter((one) => one.scrollWidth > one.clientWidth)"
        ".map((one) => one.textContent)"
    )
    assert cut == []


def test_whatever_the_igloo_does_is_told_in_its_panel(phones: Phones, service: Service) -> None:
    service.companion.plug_in()
    page = phones.host()
    unfold(page)
    for state in MotionState:
        service.companion.feel(state)
        told = page.locator(f".igloo-panel [data-motion={state.value}]")
        expect(told).to_be_visible()
        assert told.evaluate("(one) => getComputedStyle(one).position") == "static", state


def test_a_round_fits_on_a_small_phone(phones: Phones, service: Service) -> None:
    """Everything that is tapped in a round is in sight at once: all nine cards, all players, all numbers."""
    service.companion.open_match(players=SIX[:4])
    service.companion.moves("start")
    page = phones.host(width=360, height=740)
    expect(page.locator(".seats")).to_be_visible()

    def hidden(selector: str) -> list[str]:
        return page.evaluate(
            """(selector) => [...document.querySelectorAll(selector)].filter((one) => {
              const box = one.getBoundingClientRect();
              const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
              return !top || !one.contains(top);
            }).map((one) => one.outerHTML.slice(0, 80))""",
            selector,
        )

    assert hidden(".card, .dock .who, .pass, .dock .main") == []
    page.click(".who[data-colour=red]")
    page.click(".card[data-place=card1]")
    expect(page.locator(".iglet")).to_have_count(1)
    page.click("[data-do=check]")
    expect(page.locator(".keypad")).to_be_visible()
    assert hidden(".card, .key") == []
    sizes = page.evaluate(
        """() => [...document.querySelectorAll('.key, .card')].map((one) => {
          const box = one.getBoundingClientRect(); return Math.min(box.width, box.height);
        })"""
    )
    assert min(sizes) >= 44


@pytest.mark.parametrize(
    ("dark", "language"),
    [pytest.param(False, "en-GB", marks=pytest.mark.long), (True, "fr-FR")],
    ids=["light-en", "dark-fr"],
)
def test_axe_finds_no_barrier(
    phones: Phones, service: Service, axe: Callable[[Page], list[str]], dark: bool, language: str
) -> None:
    guest = phones.guest(dark=dark, language=language)
    guest.goto(f"{service.url}/join")
    assert axe(guest) == []
    guest.goto(f"{service.url}/host/nothing")
    assert axe(guest) == []
    guest.goto(f"{service.url}/nothing")
    assert axe(guest) == []
    guest.goto(service.url)
    expect(guest.locator(".welcome")).to_be_visible()
    assert axe(guest) == []
    page = phones.host(dark=dark, language=language, width=1280, height=900)
    for stop in through_the_night(service, page):
        assert axe(page) == [], stop
        if stop in {"shaking", "checking", "ending"}:
            assert axe(guest) == [], stop
    phones.forgive("422", "404")


def luminance(colour: str) -> float:
    """Return the relative luminance of ``#rrggbb`` (WCAG 2.2)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_text_on_the_ice_of_the_page_can_be_read_on_both_ends_of_its_gradient() -> None:
    """What axe leaves open: words that lie on no panel, in either theme."""
    text = (catalogue.WEB / "static" / "css" / "ice.css").read_text(encoding="utf-8")
    assert text.count("gradient(") == text.count("linear-gradient(var(--ice-deep), var(--ice) 22rem)") == 1
    light, dark = (
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", part)) for part in text.split("prefers-color-scheme: dark")[:2]
    )
    for theme in (light, light | dark):
        for ink in ("ink", "ink-soft", "accent"):
            for ground in ("ice", "ice-deep", "paper"):
                low, high = sorted((luminance(theme[ink]), luminance(theme[ground])))
                assert (high + 0.05) / (low + 0.05) >= 4.5, (ink, ground)


def read_aloud(page: Page) -> str:
    """Return all that is shown or said: texts, labels, placeholders, titles."""
    return page.evaluate(
        """() => [document.title, document.body.innerText, ...[...document.querySelectorAll('*')].flatMap((one) =>
          ['aria-label', 'placeholder', 'title', 'alt'].map((name) => one.getAttribute(name) ?? ''))].join('\\n')"""
    )


ENGLISH_ONLY = frozenset(
    re.findall(
        r"\w+",
        """
    the and of this that is are was were with without not nobody everybody player players card cards round which
    when who what has have been from their there they under only shown taken back joined started opened settings
""",
    )
)
"""English words that no French sentence has: they find what was never given to the catalogue to translate."""
GERMAN_TOO = frozenset(["was"])


def english_words(said: str, language: str = "fr-FR") -> list[str]:
    """Return the words of a page that only English sentences have."""
    shared = GERMAN_TOO if language.startswith("de") else frozenset()
    return sorted(set(re.findall(r"[a-z]+", said.lower())) & ENGLISH_ONLY - shared)


@cache
def english_sentences(language: str = "fr-FR") -> tuple[dict[str, re.Pattern[str]], str]:
    """Return each English message as a pattern of how it would be shown, with any facts in it; and all other words.

    An English word that is part of those proves nothing (`Port`, `Total`).
    """
    found, translated = {}, []
    for message in catalogue.read(language[:2]):
        ids = message.id if isinstance(message.id, tuple) else (message.id,)
        said = message.string if isinstance(message.string, tuple) else (message.string,)
        translated += said
        for words in ids:
            fixed = re.split(r"%\(\w+\)s", words)
            if len(words) > 3 and words not in said and max(map(len, fixed)) > 5:
                shown = r"[^\n]{1,60}?".join(map(re.escape, fixed))
                found[words] = re.compile(rf"(?<!\w){shown}(?![\w-])")
    return found, "\n".join(translated)


def english_left(said: str, language: str = "fr-FR") -> list[str]:
    """Return what is English in what a page says: messages of the catalogue, and words that its language has not."""
    found, translated = english_sentences(language)
    left = [words for words, shown in found.items() if shown.search(said) and not shown.search(translated)]
    # What no catalogue holds: sentences of the rules and the night, words that were never given to one.
    return left + english_words(said, language)


def test_what_is_english_is_noticed() -> None:
    assert len(english_sentences()[0]) > 600
    assert english_left("Secousse suivante\nOptions\nPort") == []
    assert "Shake %(number)s of %(rounds)s" in english_left("Bien. Shake 12 of 20")
    assert english_left("Take it along") == ["Take it along"]
    assert "%(n)s answers came home." in english_left("7 answers came home.")
    assert english_left("Voir (the) igloo") == ["the"]


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("fr-FR", ("On secoue", "Manche 1", "Le contrôle", "SIMULÉ", "2,4 s de secousse")),
        ("de-DE", ("Schütteln", "Runde 1", "Die Kontrolle", "SIMULIERT", "2,4 s ")),
    ],
)
def test_no_english_is_left_in_another_language(
    phones: Phones, service: Service, language: str, words: tuple[str, ...]
) -> None:
    page = phones.host(language=language)
    assert page.evaluate("document.documentElement.lang") == language[:2]
    seen = ""
    for stop in through_the_night(service, page):
        said = read_aloud(page)
        seen += said
        assert english_left(said, language) == [], stop
    for word in words:
        assert word in seen, word
    phones.shot(page, f"{language[:2]}-ending", full=True)
    phones.forgive("422")


def test_the_language_is_switched_on_the_page(phones: Phones, service: Service) -> None:
    service.companion.open_match()
    page = phones.player()
    expect(page.locator(".sentence")).to_contain_text("Lay the cards")
    page.click(".languages [value=fr]")
    expect(page.locator(".sentence")).to_contain_text("Pose les cartes")
    # It stays on this device, and the player stays at the table.
    page.reload()
    expect(page.locator(".sentence")).to_contain_text("Pose les cartes")
    expect(page.locator("[data-do=start]")).to_be_visible()


def test_motion_is_spared_who_asks(phones: Phones, service: Service) -> None:
    page = phones.guest(reduced_motion="reduce")
    page.goto(service.url)
    expect(page.locator(".welcome")).to_be_visible()
    assert page.evaluate("getComputedStyle(document.querySelector('.languages button')).transitionDuration") == "0s"


def test_the_first_view_weighs_little_on_the_wire(phones: Phones, service: Service) -> None:
    page = phones.guest(language="fr-FR")
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    weights: list[float] = []
    session.on("Network.loadingFinished", lambda told: weights.append(told["encodedDataLength"]))
    page.goto(service.url)
    expect(page.locator(".link.live")).to_be_attached()
    assert len(weights) > 15
    assert sum(weights) < 102_000
