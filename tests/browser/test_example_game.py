"""The example game on the page: offered where a developer wants it, tapped from the set-up to the ranking, ruled on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from companion.lab.worlds.boards import record
from tests.browser.conftest import Phones
from tests.browser.test_boards import Finger, chosen
from tests.web.assembly import Service, served

pytestmark = pytest.mark.browser


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with served(tmp_path / "data", examples=True) as service:
        yield service


@pytest.mark.parametrize("lang", ["en-GB", "fr-FR"])
def test_a_whole_game_is_tapped(phones: Phones, service: Service, lang: str) -> None:
    page = phones.host(language=lang)
    chosen(page, "thin-ice", "enter")
    page.fill("input[name=name-0]", "Ann")
    phones.shot(page, f"thin-ice-setup-{lang}")
    page.click("form.setup button[type=submit]")
    finger = Finger(page, service)
    texts = record("thin-ice", 4)
    for text in texts[:5]:
        finger.play(text)
    finger.ready()
    phones.shot(page, f"thin-ice-{lang}", full=True)
    for text in texts[5:]:
        finger.play(text)
    expect(page.locator(".ending h1")).to_contain_text({"en-GB": "win", "fr-FR": "gagn"}[lang])
    expect(page.locator(".ranking li")).to_have_count(2)
    page.click(".sheet >> nth=0")
    expect(page.locator(".sheet[open] .lines li .clause").first).to_contain_text("THIN-3.2")
    phones.shot(page, f"thin-ice-ending-{lang}", full=True)


def test_a_disputed_move_is_ruled_on(phones: Phones, service: Service) -> None:
    seats = [{"name": "Ann", "colour": "red"}, {"name": "Bob", "colour": "blue"}]
    service.companion.do("open-match", {"game": "thin-ice", "players": seats})
    service.companion.moves("put b2", "roll crack")
    page = phones.player()
    page.wait_for_selector(".on-board[data-state]")
    page.click("[data-key=objection] a")
    page.fill("form[data-submit=judge] input", "put b2")
    page.click("form[data-submit=judge] button")
    expect(page.locator(".verdict .answer")).not_to_be_empty()
    expect(page.locator(".verdict")).to_contain_text("There is only water at b2")
    expect(page.locator(".verdict")).to_contain_text("THIN-2.1")
    phones.shot(page, "thin-ice-ruling")
