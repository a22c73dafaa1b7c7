"""The workshop's igloo: calibrated, counted with it through the pty, kept over a restart; how it looks and reads."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, Route, expect

from companion.calibrating.recordings import Recordings, ShakeLabel
from companion.igloo.calibration.store import UNLIKE
from companion.igloo.count import guided
from companion.igloo.count.counter import SHAKE_ON
from companion.igloo.simulated.device import load_bank
from companion.ports import CountPosterior, DeviceKind, Samples
from tests.browser.conftest import PATIENCE_MS, Phones, unfold
from tests.browser.test_look import ENGLISH_ONLY, overflow, read_aloud
from tests.web.assembly import NAME, SIMULATED, Service, SmallCompanion
from tests.worlds.beat import beat
from tests.worlds.served import Served
from tests.worlds.wait import wait
from web.http.json_forms import count_form

pytestmark = pytest.mark.browser

OFF = 6
"""The calibration of the test believes in so many beads more than there are, so that its count is known from others."""


def left_over(data: Path) -> None:
    """Leave a sitting that was cut off, of shakes of the simulated igloo that all have a wrong number."""
    bank = load_bank()
    recordings = Recordings(data / "shakes")
    name = recordings.begin(str(DeviceKind.SIMULATED), "calibrate")
    for count in (4, 5, 6, 7):
        for number in np.flatnonzero(bank.count == count)[:2]:
            accel = bank.accel[number] * (bank.ug_per_lsb * 1e-6)
            recordings.add(name, accel, bank.rate_hz, ShakeLabel(count + OFF, "Ann", False))


NOTES = """() => {
  window.notes = [];
  let last = document.querySelector("[data-key=note]").textContent;
  new MutationObserver(() => {
    const text = document.querySelector("[data-key=note]")?.textContent ?? "";
    if (text && text !== last) notes.push(text);
    last = text;
  }).observe(document.body, { childList: true, subtree: true, characterData: true });
}"""
"""Has a page keep, as `notes`, what it says of each shake."""


def test_a_calibration_counts_for_the_simulated_igloo_also_after_a_restart(chromium: Browser, tmp_path: Path) -> None:
    data = tmp_path / "data"
    left_over(data)
    served = Served(data, "--simulate", names=(NAME,))
    context = chromium.new_context(viewport={"width": 390, "height": 844}, locale="en-GB", has_touch=True)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    try:
        token = json.loads(served.run("host", "--json").stdout)["token"]
        page.goto(f"http://{NAME}:{served.port}/host/{token}")
        page.click("button.main")
        expect(page.locator(".device .kind")).to_have_text("SIMULATED")
        unfold(page)
        page.click("[data-key=to-workshop] a")

        # What was recorded before is gone on with: eight shakes, and how good the count is with them.
        page.click("[data-do=go-on]")
        expect(page.locator(".stages")).to_contain_text("8 of 12 shakes")
        expect(page.locator(".quality .calibrated")).to_contain_text("Calibrated")
        # One more through the line; then it is taken back.
        page.click(".another summary")
        page.click(f".another [data-count='{5 + OFF}']")
        expect(page.locator(".wanted strong")).to_have_text(f"{5 + OFF}")
        # Where samples of the simulated hand come late the page says that the shake was too short: then once more.
        page.evaluate(NOTES)
        for n in range(1, 10):
            served.simulate("shake", 5)
            page.wait_for_function("(n) => notes.length >= n", arg=n)
            if page.locator(".outcome.good").count():
                break
        expect(page.locator(".sitting .wave .signal")).to_have_count(1)
        expect(page.locator(".outcome.good")).to_contain_text(f"It was {5 + OFF} beads.")
        expect(page.locator(".stages")).to_contain_text("9 of 12 shakes")
        page.click("[data-do=run-undo]")
        expect(page.locator(".stages")).to_contain_text("8 of 12 shakes")
        page.click("[data-do=run-save]")
        expect(page.locator("[data-key=used]")).to_be_visible()
        page.click("[data-do=run-stop]")
        expect(page.locator(".known[data-device=simulated]")).to_contain_text("8 shakes")

        # The service as it comes back counts with it, in the hand that was chosen.
        served.close()
        served = Served(data, "--simulate", port=served.port, names=(NAME,))
        wait(served.igloo)
        expect(page.locator(".known[data-device=simulated] input[type=checkbox]")).to_be_checked()
        expect(page.locator(".hands [data-person='Ann']")).to_have_attribute("aria-pressed", "true")
        page.evaluate("location.hash = ''")
        panel = page.locator(".igloo-panel")
        expect(panel.locator(".device .lamp.connected")).to_be_visible()
        unfold(page)
        served.simulate("shake", 5)
        expect(panel.locator(".wave .signal")).to_have_count(1)
        page.wait_for_function("() => Number(document.querySelector('figure.count')?.dataset.count) >= 8")
        assert complaints == []
    finally:
        context.close()
        served.close()


def tell(companion: SmallCompanion, count: CountPosterior) -> None:
    companion.igloos.newest_count = count
    companion.hub.publish("count", count_form(count, companion.night.gate))


class Line:
    def status(self) -> object:
        return SIMULATED


def feel(companion: SmallCompanion, seconds: float) -> None:
    """Let the igloo feel a hand that keeps the beat, and blows as beads give."""
    accel = beat(5.0, seconds, 3200.0, np.array([0.0, 0.0, 1.0]))
    for at in range(0, len(accel), 320):
        companion.calibration_run.hear(Line(), Samples(accel[at : at + 320], at / 3200, 3200.0, at))


def shake(companion: SmallCompanion, count: int, which: int) -> None:
    """Let the igloo feel a stored shake of so many beads, between rests."""
    bank = load_bank()
    wave = bank.accel[np.flatnonzero(bank.count == count)[which]] * (bank.ug_per_lsb * 1e-6)
    rest = np.tile(wave.mean(axis=0), (2600, 1))
    felt = np.concatenate([rest, wave, wave[:3800], rest])
    for at in range(0, len(felt), 400):
        companion.calibration_run.hear(Line(), Samples(felt[at : at + 400], at / bank.rate_hz, bank.rate_hz, at))


@pytest.mark.parametrize(
    ("width", "dark", "language"),
    [(320, True, "fr-FR"), pytest.param(1024, False, "en-GB", marks=pytest.mark.long)],
    ids=["phone-dark-fr", "tablet-en"],
)
def test_the_igloos_part_reads_well_and_has_no_barrier(
    phones: Phones,
    service: Service,
    axe: Callable[[Page], list[str]],
    monkeypatch: pytest.MonkeyPatch,
    width: int,
    dark: bool,
    language: str,
) -> None:
    companion = service.companion
    left_over(service.folder)
    companion.plug_in()
    page = phones.host(width=width, dark=dark, language=language, reduced_motion="reduce")

    def look(stop: str) -> None:
        assert axe(page) == [], stop
        assert overflow(page) == [], stop
        if language.startswith("fr"):
            assert set(re.findall(r"[a-z]+", read_aloud(page).lower())) & ENGLISH_ONLY == set(), stop
        phones.shot(page, f"igloo-{width}-{stop}", full=True)

    page.goto(f"{service.url}/#workshop/igloo")
    expect(page.locator("[data-key=calibrate]")).to_be_visible()
    look("begin")
    # By keyboard alone: the form is sent with Enter.
    page.focus("#calibrate-person")
    page.keyboard.type("Zoé")
    page.check("[data-submit=calibrate] [name=guided]")
    page.focus("#calibrate-person")
    page.keyboard.press("Enter")
    expect(page.locator(".sitting .gauge")).to_be_visible()
    feel(companion, 2.0)
    expect(page.locator(".gauge[data-good=yes]")).to_be_visible()
    look("calibrate")
    page.click("[data-do=run-stop]")
    page.click("[data-do=go-on]")
    expect(page.locator(".quality")).to_be_visible()
    look("gone-on")
    page.click("[data-do=run-save]")
    expect(page.locator("[data-key=used]")).to_be_visible()
    page.click("[data-do=run-stop]")
    expect(page.locator(".sitting")).to_have_count(0)
    expect(page.locator(".known[data-device=simulated]")).to_be_visible()
    page.click(".hands [data-person='']")
    expect(page.locator(".hands [data-person='']")).to_have_attribute("aria-pressed", "true")
    look("known")
    # An answer that was under way while somebody chose again is asked for once more.
    late: list[Route] = []
    page.route("**/api/people", lambda route: late.append(route), times=1)  # noqa: PLW0108
    with page.expect_request("**/api/people"):
        page.click(".hands [data-person='']")
    with page.expect_response("**/api/igloo/calibration"):
        page.click(".hands [data-person='Ann']")
    late.pop().continue_()
    expect(page.locator(".hands [data-person='Ann']")).to_have_attribute("aria-pressed", "true")
    page.click("[data-submit=referee] .main")
    expect(page.locator("[data-task=referee]")).to_be_visible()
    monkeypatch.setattr(guided, "LONGEST_S", 3.0)
    feel(companion, 6.0)
    expect(page.locator("[data-task=referee][data-done=yes] figure.count")).to_be_visible()
    look("referee")
    page.click("[data-do=run-stop]")
    # Shaken as anybody shakes: joined, with how sure it is; from the second on also with what more would bring.
    page.check("[data-submit=referee] [value=shake-on]")
    page.click("[data-submit=referee] .main")
    sitting = page.locator("[data-task=shake-on]")
    expect(sitting.locator("[data-key=no-ahead]")).to_be_visible()
    shake(companion, 4, 0)
    expect(sitting.locator("figure.count")).to_be_visible()
    first = sitting.locator("[data-key=ahead]").inner_text()
    shake(companion, 4, 2)
    expect(sitting.locator("[data-key=joined]")).to_contain_text("2")
    expect(sitting.locator("[data-key=ahead]")).not_to_have_text(first)
    look("shake-on")
    page.click("[data-do=run-undo]")
    expect(sitting.locator("[data-key=joined]")).to_contain_text("1")
    expect(sitting.locator("[data-key=ahead]")).to_have_text(first)
    page.click("[data-do=run-stop]")

    # A round is live: nothing is measured here; and afterwards the cards are told their chances.
    companion.open_match()
    companion.moves("start")
    expect(page.locator("[data-key=hidden]")).to_be_visible()
    assert page.locator(".sitting").count() == 0
    look("live")
    companion.do("check")
    companion.hear(5)
    page.evaluate("location.hash = ''")
    unfold(page)
    expect(page.locator(".chances li").first).to_have_attribute("data-chance", "0.910")
    look("chances")
    # It may need more, or know nothing like it.
    tell(companion, CountPosterior("more", (1 / 12,) * 12, 0.5, SHAKE_ON, "sim-1", DeviceKind.SIMULATED))
    expect(page.locator(".igloo-panel .more")).to_be_visible()
    tell(companion, CountPosterior("not-a-shake", (), 2.0, UNLIKE, "sim-1", DeviceKind.SIMULATED))
    expect(page.locator("[data-key=no-count]")).to_have_attribute("data-state", "not-a-shake")
    assert page.locator("figure.count").count() == 0
    look("unlike")
