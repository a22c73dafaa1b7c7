"""The balance on a phone: found, calibrated, checked, and the referee's "put it on, tap three times: 7"."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from numpy.typing import NDArray
from playwright.sync_api import Page, expect

from tests.browser.conftest import Phones
from tests.browser.test_look import ENGLISH_ONLY, overflow, read_aloud
from tests.web.assembly import SIMULATED, Service
from tests.worlds.balance import felt_on_it, runs, sequence

pytestmark = pytest.mark.browser


class Line:
    def status(self) -> object:
        return SIMULATED


@pytest.mark.parametrize(
    ("dark", "language"), [(False, "en-GB"), (True, "fr-FR"), (True, "de-DE")], ids=["light-en", "dark-fr", "dark-de"]
)
def test_a_balance_is_set_up_and_counts_on_a_phone(
    phones: Phones, service: Service, axe: Callable[[Page], list[str]], dark: bool, language: str
) -> None:
    companion = service.companion
    companion.plug_in()
    felt = felt_on_it(7)
    page = phones.host(width=360, dark=dark, language=language, reduced_motion="reduce")

    def look(stop: str) -> None:
        assert axe(page) == [], stop
        assert overflow(page) == [], stop
        if language.startswith("fr"):
            assert set(re.findall(r"[a-z]+", read_aloud(page).lower())) & ENGLISH_ONLY == set(), stop
        phones.shot(page, f"balance-{language}-{stop}", full=True)

    def tap(accel: NDArray[float]) -> None:
        for samples in runs(accel):
            companion.balance_run.hear(Line(), samples)  # type: ignore[arg-type]

    page.goto(f"{service.url}/#workshop/balance")
    page.click("[data-do=balance-role][data-to=sim-1]")
    expect(page.locator("[data-key=calibrating]")).to_be_visible()
    look("begin")
    known = 0
    for number, (what, value, accel) in enumerate(sequence(felt)):
        page.click(f"[data-key='calibrating'] [data-what={what}][data-value='{value:g}']")
        expect(page.locator("[data-key=listening]")).to_be_visible()
        if number == 1:
            look("listening")
        tap(accel)
        known += what != "tare"
        expect(page.locator("[data-key=listening]")).to_have_count(0)
        expect(page.locator("[data-key=known]")).to_contain_text(re.compile(rf"^{known} .*· {number // 2 + 1} "))
    page.click("[data-do=balance-keep]")
    expect(page.locator("[data-good=yes]")).to_be_visible()
    look("good")

    page.goto(f"{service.url}/#referee")
    page.click("[data-key=count] [data-what=unknown]")
    tap(felt["beads 7"])
    expect(page.locator("[data-key=answer]")).to_have_attribute("data-count", "7")
    look("referee")
    page.click("[data-key=count] [data-what=unknown]")
    tap(felt["beads 12"])
    expect(page.locator("[data-key=answer]")).to_have_attribute("data-count", "12")
    page.goto(f"{service.url}/#workshop/balance")
    page.click("[data-do=balance-together]")
    expect(page.locator(".box-told li[data-count='12']")).to_be_visible()
    look("box")

    # A round is live: nothing is weighed, and nothing of it is told.
    companion.open_match()
    companion.moves("start")
    expect(page.locator("[data-key=hidden]")).to_be_visible()
    look("live")
