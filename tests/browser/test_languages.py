"""A further language, there because its files are: nothing on the page is said in another."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Phones
from tests.browser.test_look import read_aloud, through_the_night
from tests.web.assembly import Service, served
from tests.worlds.pseudo import CODE, untranslated

NAMES = frozenset("ann bob".split())
"""Names are what people typed."""

Speak = Callable[[str], None]


def english_on(page: Page) -> list[str]:
    return untranslated(read_aloud(page), NAMES)


@pytest.fixture
def foreign(tmp_path: Path, speak: Speak, request: pytest.FixtureRequest):
    speak("whole")
    with served(tmp_path / "foreign") as service:
        yield service


def test_a_night_in_another_language(chromium, foreign: Service) -> None:
    phones = Phones(chromium, foreign)
    page = phones.host(language=CODE)
    assert page.evaluate("document.documentElement.lang") == CODE
    for stop in through_the_night(foreign, page):
        print(stop, english_on(page))
    guest = phones.guest(language=CODE)
    for path in ("/join", "/host/nothing", "/nothing", "/"):
        guest.goto(foreign.url + path)
        guest.wait_for_timeout(500)
        print(path, english_on(guest))
    for path in ("/#referee", "/#referee/rules", "/#referee/hand", "/#score", "/#photo", "/#workshop", "/#workshop/igloo", "/#workshop/camera", "/training"):
        page.goto(foreign.url + path)
        page.wait_for_timeout(1500)
        print(path, len(read_aloud(page)), english_on(page))
    phones.close()
