"""The balance on a phone: found, calibrated, checked, and the referee's "put it on, tap three times: 7"."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from numpy.typing import NDArray
from playwright.sync_api import Page, expect

from tests.browser.conftest import Phones
from tests.browser.test_look import ENGLISH_ONLY, overflow, read_aloud
from tests.web.assembly import Service
from tests.worlds.balance import felt_on_it, sequence, tapped

pytestmark = pytest.mark.browser


def test_an_answer_that_comes_late_does_not_bring_back_what_was(phones: Phones, service: Service) -> None:
    """What a phone is answered and what it hears come by two ways; under load the older may come last."""
    companion = service.companion
    companion.plug_in()
    companion.balance_run.appoint("sim-1")
    page = phones.host()
    page.goto(f"{service.url}/#workshop/balance")
    companion.balance_run.weigh("tare")
    old = {"ok": True, **companion.balance_run.state()}
    expect(page.locator("[data-key=listening]")).to_be_visible()
    tapped(companion.balance_run, felt_on_it()["tare"])
    expect(page.locator("[data-key=known]")).to_contain_text("1 tare")
    page.route("**/api/balance/weigh", lambda route: route.fulfill(json=old))
    page.click("[data-key=calibrating] [data-what=tare]")
    page.wait_for_function("() => heard.some(([url]) => url.endsWith('/weigh'))")
    expect(page.locator("[data-key=known]")).to_contain_text("1 tare")
    expect(page.locator("[data-key=listening]")).to_have_count(0)
    expect(page.locator("[data-what=grams]").first).to_be_enabled()


@pytest.mark.parametrize(
    ("dark", "language"), [(False, "en-GB"), (True, "fr-FR"), (True, "de-DE")], ids=["light-en", "dark-fr", "dark-de"]
)
def test_a_balance_is_set_up_and_counts_on_a_phone(
    phones: Phones, service: Service, axe: Callable[[Page], list[str]], dark: bool, language: str
) -> None:
    companion = service.companion
    companion.plug_in()
    felt = felt_on_it(7, shells=True)
    page = phones.host(width=360, dark=dark, language=language, reduced_motion="reduce")

    def look(stop: str) -> None:
        assert axe(page) == [], stop
        assert overflow(page) == [], stop
        if language.startswith("fr"):
            assert set(re.findall(r"[a-z]+", read_aloud(page).lower())) & ENGLISH_ONLY == set(), stop
        phones.shot(page, f"balance-{language}-{stop}", full=True)

    def tap(accel: NDArray[float]) -> None:
        expect(page.locator("[data-key=listening]")).to_be_visible()
        tapped(companion.balance_run, accel)

    page.goto(f"{service.url}/#workshop/balance")
    page.click("[data-do=balance-role][data-to=sim-1]")
    expect(page.locator("[data-key=calibrating]")).to_be_visible()
    look("begin")
    known = 0
    for number, (what, value, accel) in enumerate(sequence(felt)):
        page.click(f"[data-key='calibrating'] [data-what={what}][data-value='{value:g}']")
        if number == 1:
            expect(page.locator("[data-key=listening]")).to_be_visible()
            look("listening")
        tap(accel)
        known += what != "tare"
        expect(page.locator("[data-key=listening]")).to_have_count(0)
        expect(page.locator("[data-key=known]")).to_contain_text(re.compile(rf"^{known} .*· {number // 2 + 1} "))
    page.click("[data-do=balance-keep]")
    expect(page.locator("[data-good=yes]")).to_be_visible()
    look("good")

    page.goto(f"{service.url}/#referee")
    page.click("[data-key=count] .row [data-what=unknown]")
    tap(felt["beads 7"])
    expect(page.locator("[data-key=answer]")).to_have_attribute("data-count", "7")
    look("referee")
    page.click("[data-key=count] .row [data-what=unknown]")
    tap(felt["beads 12"])
    expect(page.locator("[data-key=answer]")).to_have_attribute("data-count", "12")

    # A whole box, of which there are three igloos: nobody touches the page, but to say what is not there.
    page.goto(f"{service.url}/#workshop/balance")
    box = page.locator("[data-key=box]")
    page.click("[data-do=balance-box]")
    expect(box).to_have_attribute("data-stage", "before")
    look("box-begin")
    tapped(companion.balance_run, felt["tare"])
    expect(box).to_have_attribute("data-igloo", "2")
    page.click("[data-do=balance-choose][data-igloo='5']")
    expect(box).to_have_attribute("data-igloo", "5")
    tapped(companion.balance_run, felt["beads 5"])
    expect(box).to_have_attribute("data-igloo", "6")
    # What stands there as igloo 6 is igloo 7; and then igloo 8 holds twelve.
    tapped(companion.balance_run, felt["beads 7"])
    expect(page.locator("[data-key=box-note]")).to_be_visible()
    look("box-order")
    page.click("[data-do=balance-was][data-igloo='7']")
    expect(page.locator("[data-do=balance-was]")).to_have_count(0)
    expect(box).to_have_attribute("data-igloo", "6")
    page.click("[data-do=balance-choose][data-igloo='8']")
    expect(box).to_have_attribute("data-igloo", "8")
    tapped(companion.balance_run, felt["beads 12"])
    expect(box).to_have_attribute("data-igloo", "9")
    expect(page.locator("[data-key=count]")).to_have_count(0)
    page.click("[data-do=balance-box-end]")
    expect(box).to_have_attribute("data-stage", "after")
    tapped(companion.balance_run, felt["tare"])
    expect(box).to_have_attribute("data-stage", "done")
    expect(page.locator("[data-right='2']")).to_be_visible()
    expect(page.locator("[data-key=box-told] li")).to_have_count(1)
    expect(page.locator("[data-key=box-told] li[data-igloo='8'][data-count='12']")).to_be_visible()
    look("box-told")
    page.click("[data-do=balance-choose][data-igloo='8']")
    expect(box).to_have_attribute("data-stage", "igloo")
    page.click("[data-key=box-stop]")

    # Empty shells, weighed in the same way; then an igloo is counted with its own.
    page.click("[data-do=balance-shells]")
    expect(box).to_have_attribute("data-stage", "before")
    tapped(companion.balance_run, felt["tare"])
    expect(box).to_have_attribute("data-stage", "igloo")
    page.click("[data-do=balance-choose][data-igloo='7']")
    expect(box).to_have_attribute("data-igloo", "7")
    tapped(companion.balance_run, felt["shell 7"])
    expect(box).to_have_attribute("data-igloo", "8")
    look("shells")
    page.click("[data-do=balance-box-end]")
    expect(box).to_have_attribute("data-stage", "after")
    tapped(companion.balance_run, felt["tare"])
    expect(page.locator("[data-key=shells-done]")).to_be_visible()
    page.click("[data-key=box-stop]")
    page.click("[data-key=count] [data-what=unknown][data-value='7']")
    tap(felt["beads 7"])
    expect(page.locator("[data-key=answer]")).to_have_attribute("data-count", "7")
    look("shells-count")
    page.click("[data-do=balance-box]")
    expect(box).to_have_attribute("data-stage", "before")

    # A round is live: nothing is weighed, and nothing of it is told.
    companion.open_match()
    companion.moves("start")
    expect(page.locator("[data-key=hidden]")).to_be_visible()
    look("live")
    assert companion.balance_run.state()["now"] is None
