"""The voice of one chosen device, and what else a device does for who holds it: it stays on, it trembles."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from companion.lab.worlds.boards import players, record
from tests.browser.conftest import Phones
from tests.browser.test_look import overflow
from tests.web.assembly import Service, SmallCompanion

pytestmark = pytest.mark.browser

VOICES = """(() => {
  window.spoken = [];
  const voice = (lang, localService) => ({ lang, localService, name: lang });
  const voices = [voice('fr-FR', false), voice('en-US', true), voice('fr-CA', true)];
  window.SpeechSynthesisUtterance = class { constructor(text) { this.text = text; } };
  const speech = new EventTarget();
  Object.assign(speech, { pending: false, getVoices: () => voices, cancel: () => {},
    speak: ({ text, lang, voice }) => { if (text) spoken.push({ text, lang, local: voice.localService }); } });
  Object.defineProperty(window, 'speechSynthesis', { value: speech });
})()"""
"""A browser's speech that keeps, as `spoken`, what it is to say: Chromium without a window has no voice of its own."""


def whose(companion: SmallCompanion) -> str:
    """Return who is to move by name; nobody while a tile is turned over."""
    return next((one["name"] for one in companion.night.view()["match"]["players"] if one["turn"]), "")


def said(french: str) -> str:
    """Return a French sentence as the page writes it: signs keep to the word before them."""
    return re.sub(r" (?=[?!:;»])|(?<=«) ", "\u00a0", french)


def chosen(page: Page, service: Service) -> Page:
    """Open the table on the device that speaks."""
    page.goto(service.url)
    page.wait_for_selector("body.lively", state="attached")
    page.click("[data-do=who-am-i]")
    voice = page.locator("[data-what=voice]")
    expect(voice).to_have_attribute("aria-pressed", "false")
    voice.click()
    expect(voice).to_have_attribute("aria-pressed", "true")
    return page


def heard(page: Page, text: str) -> None:
    page.wait_for_function("(text) => spoken.some((one) => one.text.includes(text))", arg=text)


def test_one_device_says_the_ruling_and_whose_turn_it_is_in_its_own_language(phones: Phones, service: Service) -> None:
    companion = service.companion
    companion.do("open-match", {"game": "iglu-iglu", "players": players("iglu-iglu")})
    moves = record("iglu-iglu", 5)
    companion.moves(*moves[:20])
    moves = moves[19:]
    page, other = phones.guest(language="fr-FR"), phones.guest()
    for one in (page, other):
        one.add_init_script(VOICES)
    other.goto(service.url)
    other.wait_for_selector("body.lively", state="attached")
    heard(chosen(page, service), "Cet appareil dit ce qui se passe.")
    first = whose(companion)
    while whose(companion) in {first, ""}:
        moves = moves[1:]
        companion.moves(moves[0])
    heard(page, said(companion.night.view()["log"][-1]["fr"]))
    # The ruling says already who is next.
    page.wait_for_function("(who) => spoken.at(-1).text.split(who).length === 2", arg=whose(companion))
    told = page.evaluate("spoken")
    # By a voice of this device: one that asks a server of somebody else's is none.
    assert {(one["lang"], one["local"]) for one in told} == {("fr-CA", True)}
    assert other.evaluate("spoken") == []
    # It is remembered on this device, and what is over is not said once more.
    page.goto(service.url)
    page.wait_for_selector("body.lively", state="attached")
    page.wait_for_function(
        "() => performance.getEntriesByType('resource').some((one) => one.name.endsWith('/voice.js'))"
    )
    companion.moves(moves[1])
    page.wait_for_function("() => spoken.length > 0")
    page.click("[data-do=who-am-i]")
    page.click("[data-what=voice]")
    expect(page.locator("[data-what=voice]")).to_have_attribute("aria-pressed", "false")


def test_a_count_is_said_no_sooner_than_everybody_may_know_it(phones: Phones, service: Service) -> None:
    companion = service.companion
    companion.open_match()
    companion.plug_in()
    page = phones.guest()
    page.add_init_script(VOICES)
    chosen(page, service)
    companion.moves("start", "place red card2", "place blue card4")
    companion.hear(7)
    companion.do("check")
    heard(page, "Bob")
    page.wait_for_function("() => document.querySelector('.play').dataset.phase === 'checking'")
    assert "bead" not in " ".join(one["text"] for one in page.evaluate("spoken"))
    companion.moves("reveal card2 2")
    companion.hear(7)
    heard(page, "7 beads, most likely")
    told = " ".join(one["text"] for one in page.evaluate("spoken"))
    assert "Ann" in told and "shown" not in told


def test_a_refusal_is_said_with_its_reason(phones: Phones, service: Service) -> None:
    service.companion.open_match()
    page = phones.player()
    page.add_init_script(VOICES)
    chosen(page, service)
    page.keyboard.press("Escape")
    service.companion.moves("start")
    page.wait_for_selector(".play[data-phase=shaking]")
    page.evaluate(
        "() => import(document.querySelector('script[type=module]').src.replace('main.js', 'net.js'))"
        ".then(({ act }) => act('moves', { moves: ['reveal card2 5'] }))"
    )
    refused = page.locator(".refusal p").first
    expect(refused).to_be_visible()
    heard(page, refused.inner_text()[:30])
    phones.forgive("422")


@pytest.mark.parametrize("language", ["en-GB", "de-DE"])
def test_where_the_browser_has_no_voice_none_is_offered(phones: Phones, service: Service, language: str) -> None:
    page = phones.spectator(language=language)
    if language == "de-DE":  # voices there are, but none that speaks German
        page.add_init_script(VOICES)
        page.goto(service.url)
    page.click("[data-do=who-am-i]")
    expect(page.locator("[data-what=awake]")).to_be_visible()
    expect(page.locator("[data-what=voice]")).to_have_count(0)


def test_a_television_speaks_with_the_second_press_of_its_key(phones: Phones, service: Service) -> None:
    page = phones.guest(width=1920, height=1080)
    page.add_init_script(VOICES)
    page.goto(f"{service.url}/tv")
    sounds = page.locator(".tv-sounds")
    expect(sounds).to_contain_text("Sounds are off")
    for said in ("adds a voice", "Sounds and voice are on", "Sounds are off"):
        page.keyboard.press("Enter")
        expect(sounds).to_contain_text(said)


@pytest.mark.parametrize(("width", "dark"), [(320, True), (1024, False)])
def test_what_this_phone_does_is_asked_in_one_window(
    phones: Phones, service: Service, axe: Callable[[Page], list[str]], width: int, dark: bool
) -> None:
    service.companion.open_match()
    page = phones.player(width=width, dark=dark, language="de-DE")
    page.add_init_script(VOICES.replace("en-US", "de-DE"))
    chosen(page, service)
    phones.shot(page, f"this-phone-{width}")
    assert overflow(page) == []
    assert axe(page) == []


@pytest.mark.parametrize(("answer", "kept"), [("[data-on=yes]", True), (":not([data-on])", False)])
def test_whether_the_screen_stays_on_is_asked_once_at_the_first_game(
    phones: Phones, service: Service, answer: str, kept: bool
) -> None:
    host, player = phones.host(), phones.player()
    asked = ".stays-on"
    assert host.locator(asked).count() == 0
    service.companion.do("open-match", {"game": "iglu-iglu", "players": players("iglu-iglu")})
    expect(host.locator(asked)).to_be_visible()
    # A phone that one has for oneself is not asked, one that goes round is.
    expect(player.locator(".on-board[data-state]")).to_be_visible()
    assert player.locator(asked).count() == 0
    player.evaluate("localStorage.setItem('companion.round', 'true')")
    player.reload()
    player.click(".pass-on [data-do], .pass-on button")
    expect(player.locator(asked)).to_be_visible()
    host.click(f"{asked} [data-do=stays-on]{answer}")
    expect(host.locator(asked)).to_have_count(0)
    assert host.evaluate("document.querySelectorAll('video').length") == int(kept)
    # It is not asked again, and what was said is what *This phone* shows.
    host.reload()
    expect(host.locator(".on-board[data-state]")).to_be_visible()
    host.click("[data-do=who-am-i]")
    expect(host.locator("[data-what=awake]")).to_be_visible()
    assert host.locator(asked).count() == 0
    assert host.evaluate("localStorage.getItem('companion.awake')") == str(kept).lower()


def test_the_screen_stays_on_over_plain_http_with_one_tap(phones: Phones, service: Service) -> None:
    service.companion.open_match()
    page = phones.player()
    assert page.evaluate("'wakeLock' in navigator") is False
    page.click("[data-do=who-am-i]")
    awake = page.locator("[data-what=awake]")
    expect(awake).to_have_attribute("aria-pressed", "false")
    awake.click()
    expect(awake).to_have_attribute("aria-pressed", "true")
    # A film that goes on, and lies in sight: of one that does not, a browser thinks that nobody looks at it.
    page.wait_for_function(
        "() => { const one = document.querySelector('video'); return !one.paused && one.currentTime > 0; }"
    )
    box = page.locator("video").bounding_box()
    assert box is not None and box["width"] == 2 and 0 <= box["y"] < 844
    # It is remembered on this device, and once more means no.
    page.reload()
    page.wait_for_function("() => document.querySelector('video')?.paused === false")
    page.click("[data-do=who-am-i]")
    awake.click()
    expect(awake).to_have_attribute("aria-pressed", "false")
    expect(page.locator("video")).to_have_count(0)
