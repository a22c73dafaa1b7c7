"""Every room of the contact sheet, and the windows over them, at every width: no barrier, and none left undecided."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from companion.lab.contact_sheet import ALBUM, DISPUTE, IDLE, TABLE, TELEVISION, Room, named
from companion.lab.worlds.boards import BOARDS, record
from companion.lab.worlds.evening import MOVES, SEED, evening
from tests.browser.conftest import Phones
from tests.web.assembly import Service

pytestmark = [pytest.mark.browser, pytest.mark.long, pytest.mark.timeout(1200)]

WIDTHS = {320: 640, 1024: 768, 3840: 2160}
"""How wide a page is, and how high."""
LANGUAGES = ("en-GB", "fr-FR", "de-DE")
SETTLED = "() => document.fonts.ready.then(() => new Promise((done) => requestIdleCallback(done, {timeout: 2000})))"
"""What moves without an end, as large as a wall, leaves a browser without a graphics card no idle moment."""


def rooms(service: Service) -> Iterator[tuple[Room, ...]]:
    """Lead the table through the evening of the contact sheet, and its last game to the end; yield what is there."""
    companion = service.companion
    companion.plug_in()
    yield IDLE
    for what, commands in evening():
        for command, body in commands:
            companion.do(command, body)
        yield named(what, TABLE, TELEVISION, DISPUTE)
    yield (Room("turn clock", "/", ".play"),)
    left = record(BOARDS[-1], SEED)[MOVES:]
    for at in range(0, len(left), MOVES):
        companion.moves(*left[at : at + MOVES])
    yield (*named("end on a board", TABLE, TELEVISION), Room("share", "/", ".ending"), ALBUM)


def opened(page: Page, room: Room) -> None:
    """Tap what opens a window over a room, where there is one."""
    if room.name == "share":
        page.click("[data-do=share]")
        expect(page.locator("#dialog .result-picture")).to_have_js_property("naturalWidth", 1080)
    elif room.name == "turn clock":
        page.click("details.menu summary")
        page.click("[data-do=clock]")
        expect(page.locator("#dialog [data-minutes]").first).to_be_visible()


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_room_has_a_barrier(
    phones: Phones, service: Service, axe: Callable[[Page], list[str]], language: str
) -> None:
    """Each room is looked at in each language, each time at another of three widths, light and dark in turn."""
    page = phones.host(language=language)
    turn = LANGUAGES.index(language)
    found: list[str] = []
    looks = 0
    for some in rooms(service):
        for room in some:
            width = [*WIDTHS][(looks + turn) % len(WIDTHS)]
            page.emulate_media(color_scheme="dark" if (looks + turn) % 2 else "light")
            looks += 1
            page.set_viewport_size({"width": width, "height": WIDTHS[width]})
            page.goto("about:blank")
            page.goto(f"{service.url}{room.address}")
            expect(page.locator(room.there).first).to_be_attached()
            opened(page, room)
            page.evaluate(f"({SETTLED})().then(() => null)")
            found += [f"{room.name}, {width}: {one}" for one in axe(page)]
    assert looks > 40
    assert not found, "\n".join(found)
