"""What each room of the contact sheet weighs on the wire: first of all that somebody sees, and after the start."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from companion.lab.contact_sheet import IDLE, Room
from companion.lab.worlds.boards import players
from tests.browser.conftest import Phones
from tests.browser.weight import Scales
from tests.web.assembly import Service

pytestmark = pytest.mark.browser

FIRST, NEXT = 120_000, 60_000
"""Bytes of a room that somebody comes to first, and of one after the start page."""
HOST = Room("host", "", "button.main")
"""Where a host's link leads."""
PLAYED = (
    Room("table", "/", ".on-board svg"),
    Room("referee", "/#referee", ".ask [data-question]"),
    Room("a position by hand", "/#referee/hand", "[data-do=position-ask]"),
)
"""Rooms that weigh more while a game on a board is open."""


@pytest.mark.parametrize("language", ["fr-FR", pytest.param("de-DE", marks=pytest.mark.long)])
@pytest.mark.parametrize("room", [*IDLE, HOST], ids=lambda room: room.name)
def test_a_room_weighs_little_first_and_after_the_start(
    phones: Phones, service: Service, room: Room, language: str
) -> None:
    service.companion.plug_in()
    address = f"{service.url}{room.address}" if room.address else service.host_link()
    page = phones.host(language=language)
    after = Scales(page, cold=False)
    page.goto(service.url)
    expect(page.locator(".tile").first).to_be_visible()
    after.begin()
    page.goto(address)
    expect(page.locator(room.there).first).to_be_attached()
    assert after.weight() < NEXT, after.list()
    first = Scales(page, cold=True)
    page.goto(address)
    expect(page.locator(room.there).first).to_be_attached()
    assert 5_000 < first.weight() < FIRST, first.list()
    # Each room has its words at once: those of all the others were not asked for.
    assert [one for one in (*after.addresses, *first.addresses) if ".rest." in one] == []


@pytest.mark.parametrize("room", PLAYED, ids=lambda room: room.name)
def test_a_room_beside_an_open_game_weighs_little(phones: Phones, service: Service, room: Room) -> None:
    service.companion.open_match(game="arctic", players=players("arctic"), setup={})
    page = phones.host(language="fr-FR")
    first = Scales(page, cold=True)
    page.goto(f"{service.url}{room.address}")
    expect(page.locator(room.there).first).to_be_attached()
    assert 50_000 < first.weight() < FIRST, first.list()
    assert [one for one in first.addresses if ".rest." in one or "/api/rules/igloo-pop" in one] == []
