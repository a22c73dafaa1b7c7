"""The table votes on a silent rulebook: everybody on a phone of their own, in two languages, and once each."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Phones
from tests.browser.test_look import overflow
from tests.web.assembly import PLAYERS, Service
from web.http import sse

pytestmark = pytest.mark.browser

OPTION = "iglu.no_repick"
NO = f"[data-option='{OPTION}'][data-value='false']"
YES = f"[data-option='{OPTION}'][data-value='true']"


def test_everybody_votes_on_their_own_phone(phones: Phones, service: Service, axe: Callable[[Page], list[str]]) -> None:
    service.companion.open_match(players=PLAYERS[:2])
    host = phones.host()
    bob = phones.player(language="fr-FR", dark=True)
    watcher = phones.spectator()
    host.click(".to-referee")
    host.click("[data-do=rules-of][data-game=iglu-iglu]")
    host.fill("#rule-search", "IGLU-1.6")
    # The same button stands in the whole rulebook below, which is folded: it is that of the answer.
    host.click(f".answers [data-do=ballot-call][data-option='{OPTION}']")
    # It is asked above the game, also on the phones that are not in the referee's room.
    for page in (bob, watcher):
        expect(page.locator(".ballot")).to_be_visible()
    expect(watcher.locator(".ballot [data-do=ballot-cast]").first).to_be_disabled()
    expect(bob.locator(".ballot")).to_contain_text("0 voix sur 2")
    assert axe(bob) == []
    assert overflow(bob) == []
    phones.shot(bob, "vote-390-dark")
    bob.click(f".ballot {NO}")
    expect(bob.locator(f".ballot {NO}")).to_have_attribute("aria-pressed", "true")
    expect(host.locator(".ballot")).to_contain_text("1 of 2 have voted.")
    phones.shot(host, "vote-390-light")
    # Another tap is another opinion, not another vote; and a reload forgets neither.
    bob.click(f".ballot {YES}")
    expect(bob.locator(f".ballot {YES}")).to_have_attribute("aria-pressed", "true")
    bob.reload()
    expect(bob.locator(f".ballot {YES}")).to_have_attribute("aria-pressed", "true")
    host.click(f".ballot {NO}")
    # One for each: the host decides.
    expect(bob.locator(".ballot")).to_contain_text("l’hôte tranche")
    expect(bob.locator(f".ballot {NO}")).to_be_disabled()
    host.click(f".ballot [data-do=ballot-decide]{NO}")
    for page in (bob, watcher):
        expect(page.locator(".ballot")).to_have_count(0)
    expect(host.locator(f".answers [data-do=vote]{NO}").first).to_have_attribute("aria-pressed", "true")
    expect(bob.locator("#announcer")).to_contain_text("l’hôte a tranché")
    assert service.companion.votes.of("iglu-iglu") == {OPTION: False}


def test_a_phone_that_polls_votes_too(phones: Phones, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    service.stop()
    # One place, whether one has joined or not; the host's two are beside it.
    monkeypatch.setattr(sse, "MEMBER_PLACES", sse.HOST_PLACES)
    service.streams = 1
    service.start()
    service.companion.open_match(players=PLAYERS[:2])
    ann = phones.player()
    expect(ann.locator(".link.live")).to_be_visible()
    bob = phones.player()
    expect(bob.locator(".link.polling")).to_be_visible()
    service.companion.ballots.call(OPTION, 2)
    expect(bob.locator(".ballot")).to_contain_text("0 of 2 have voted.")
    ann.reload()
    expect(ann.locator(".ballot")).to_be_visible()
    ann.click(f".ballot {NO}")
    expect(bob.locator(".ballot")).to_contain_text("1 of 2 have voted.")
    # The last vote closes it, and is its own phone's; the other hears of it.
    bob.click(f".ballot {NO}")
    for page in (ann, bob):
        expect(page.locator(".ballot")).to_have_count(0)
    assert service.companion.votes.of("iglu-iglu") == {OPTION: False}
    phones.forgive("503")
