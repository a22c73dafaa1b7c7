"""`companion serve --simulate` as a new user meets it: the simulated igloo, a photo, a round, its evidence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from companion.lab.worlds.table import standard
from tests.browser.conftest import PATIENCE_MS, unfold
from tests.web.assembly import NAME
from tests.worlds.served import Served

pytestmark = pytest.mark.browser


def test_a_first_evening_without_any_hardware(chromium: Browser, tmp_path: Path) -> None:
    served = Served(tmp_path / "data", "--simulate", names=(NAME,))
    context = chromium.new_context(viewport={"width": 390, "height": 844}, locale="en-GB", has_touch=True)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    try:
        token = json.loads(served.run("host", "--json").stdout)["token"]
        page.goto(f"http://{NAME}:{served.port}/host/{token}")
        page.click("button.main")
        assert page.evaluate("isSecureContext") is False

        # The page says plainly that the igloo is simulated; it can be shaken, and the beads appear.
        panel = page.locator(".igloo-panel")
        expect(panel.locator(".device .kind")).to_have_text("SIMULATED")
        unfold(page)
        expect(panel.locator("[data-motion=rest]")).to_be_visible()
        page.click(".igloo-panel .extras summary")
        page.click(".igloo-panel .extras [data-action=shake][data-count='5']")
        expect(panel.locator("[data-motion=shaken]")).to_be_visible()
        expect(panel.locator("figure.count .bead")).to_have_count(12)
        expect(panel.locator("figure.count .best")).to_have_count(1)
        page.click(".igloo-panel .extras [data-action=set_down]")
        expect(panel.locator("[data-motion=rest]")).to_be_visible()
        page.click(".igloo-panel .extras [data-action=unplug]")
        expect(panel.locator(".device")).to_contain_text("The igloo is not plugged in.")
        page.click(".igloo-panel .extras [data-action=replug]")
        expect(panel.locator(".lamp.connected")).to_be_visible()

        expect(panel.locator("[data-motion=rest]")).to_be_visible()

        page.fill("input[name=name-red]", "Ann")
        page.click("form.setup button[type=submit]")

        # A photo from the phone: the table is found and straightened.
        photo = {"name": "table.jpg", "mimeType": "image/jpeg", "buffer": standard().jpeg}
        page.set_input_files("[data-key=photo] input[type=file]", photo)
        expect(page.locator("[data-key=photo]")).to_contain_text("All four markers were found.")
        picture = page.locator(".picture img")
        expect(picture).to_have_attribute("alt", "The table from above, straightened")
        assert picture.evaluate("(img) => img.decode().then(() => img.naturalWidth)") > 100

        # A round: Ann's igloo wears the cap, and is a witness.
        page.click("[data-do=start]")
        expect(page.locator(".hidden-count")).to_be_visible()
        page.click(".igloo-panel .extras [data-action=turn_over]")
        expect(page.locator(".faults .clause", has_text="POP-2.4")).to_have_count(1)
        expect(page.locator(".faults .kind")).to_have_text("SIMULATED")
        page.click(".igloo-panel .extras [data-action=turn_over]")
        page.click(".igloo-panel .extras [data-action=set_down]")
        expect(panel.locator("[data-motion=rest]")).to_be_visible()
        page.click("[data-do=cap]")
        page.click(".who[data-colour=red]")
        page.click(".card[data-place=card1]")
        expect(page.locator(".iglet .waves")).to_have_count(1)
        page.click(".who[data-colour=blue]")
        page.click(".card[data-place=card2]")
        expect(page.locator(".iglet")).to_have_count(2)
        page.click(".igloo-panel .extras [data-action=shake][data-count='7']")
        expect(page.locator(".faults .clause", has_text="POP-2.6")).to_have_count(1)
        expect(page.locator("figure.count")).to_have_count(0)

        # The check; the picture of the table stands with the round.
        page.click("[data-do=check]")
        for revealed in (1, 2):
            # The igloo is still shaken: what is told of it moves the keys about under a pointer.
            # The toys' keys are keys, too: only one that reveals is meant.
            page.wait_for_selector("[data-do=reveal]:enabled")
            page.evaluate("() => document.querySelector('[data-do=reveal]:enabled').click()")
            expect(page.locator(".results li")).to_have_count(revealed)
        kept = page.locator(".evidence a", has_text="Round 1").first
        expect(kept).to_be_visible()
        status = page.evaluate("(url) => fetch(url).then((one) => one.status)", kept.get_attribute("href"))
        assert status == 200
        assert complaints == []
    finally:
        context.close()
        served.close()
