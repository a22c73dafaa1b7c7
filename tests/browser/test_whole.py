"""The whole way: the real firmware in simavr, the serial line, the service as a process, the page in Chromium."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import PATIENCE_MS, unfold
from tests.web.assembly import NAME
from tests.worlds.balance import felt_on_it, kept_calibration
from tests.worlds.served import Served
from tests.worlds.wait import wait

pytestmark = pytest.mark.browser

BANK = Path(__file__).resolve().parents[2] / "companion" / "igloo" / "simulated" / "bank" / "bank.npz"
PLAYERS = [{"name": "Ann", "colour": "red"}, {"name": "Bob", "colour": "blue"}]
CARDS = ["4", "4/5", "5/6", "6/7", "7/8", "8/9", "9/10", "2", "3"]


def stored(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return one handling of the bank (lifted, shaken, set down, at rest) in g, and the pose in which it rests."""
    with np.load(BANK) as bank:
        shake = bank["accel"][int(np.flatnonzero(bank["count"] == count)[0])]
        parts = [bank["move_lift"], shake, bank["move_set_down"], bank["move_rest"]]
        scale = float(bank["ug_per_lsb"]) / 1e6
        return np.concatenate(parts) * scale, bank["move_rest"].mean(axis=0) * scale


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context(viewport={"width": 390, "height": 844}, locale="en-GB", has_touch=True)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    yield page
    context.close()


def host(page: Page, served: Served) -> None:
    """Open the table in a browser with another host link."""
    token = json.loads(served.run("host", "--json").stdout)["token"]
    page.goto(f"http://{NAME}:{served.port}/host/{token}")
    page.click("button.main")
    page.wait_for_selector("#stage > *")
    assert page.evaluate("isSecureContext") is False


def serve(data: Path, *arguments: str, port: int = 0) -> Served:
    return Served(data, *arguments, port=port, names=(NAME,))


def test_a_game_with_the_real_firmware_connected(simavr: Callable[..., Any], page: Page, tmp_path: Path) -> None:
    handling, pose = stored(5)
    igloo = simavr(mhz=16, rate_error=0.02).start()
    igloo.rest(pose)
    served = serve(tmp_path / "data", "--igloo", igloo.port)
    try:
        host(page, served)
        device = page.locator(".igloo-panel .device")
        expect(device).to_have_class("device connected")
        # A pseudo-terminal is no wire: what comes through one is marked as simulated.
        expect(device).to_contain_text("simulated", ignore_case=True)
        unfold(page)
        expect(page.locator("[data-motion=rest]")).to_be_visible()

        # Shaken outside a live round: the motion is shown, and the count as a distribution.
        igloo.play(handling)
        expect(page.locator("[data-motion=shaken]")).to_be_visible()
        expect(page.locator("figure.count .bead")).to_have_count(12)
        expect(page.locator("[data-motion=rest], [data-motion='set-down']")).to_be_visible()
        wait(lambda: abs(served.igloo()["rate_hz"] / (3200 * 1.02) - 1) < 0.002)
        expect(page.locator(".igloo-panel .lamp.connected")).to_be_visible()
        assert served.igloo()["counts"]["lost"] == 0

        # A game from set-up to ranking. In the round the same shake reveals nothing.
        opening = {"game": "igloo-pop", "players": PLAYERS, "setup": {"cards": CARDS}}
        assert served.do("open-match", opening)["ok"]
        page.click("[data-do=start]")
        expect(page.locator(".play[data-phase=shaking]")).to_be_visible()
        expect(page.locator("figure.count")).to_have_count(0)
        igloo.play(handling)
        expect(page.locator("[data-motion=shaken]")).to_be_visible()
        expect(page.locator("[data-motion=rest], [data-motion='set-down']")).to_be_visible()
        expect(page.locator("figure.count")).to_have_count(0)
        expect(page.locator(".hidden-count")).to_be_visible()

        number = 2
        while page.locator(".ending").count() == 0:
            if page.locator("[data-do=start]").count():
                page.click("[data-do=start]")
            expect(page.locator(".play[data-phase=shaking]")).to_be_visible()
            # Bob is wrong with all he has: his thalers leave the game, and with the last one the game ends.
            staked = 0
            while page.locator(".who[data-colour=blue]").is_enabled() and staked < 11:
                before = page.locator(".iglet").count()
                page.click(".who[data-colour=blue]")
                page.click(".card[data-place=card8]")
                expect(page.locator(".iglet")).to_have_count(before + 1)
                staked += 1
            page.click("[data-do=pass][data-colour=red]")
            expect(page.locator(".play[data-phase=checking]")).to_be_visible()
            for number in range(3, 3 + staked):
                seq = served.get("/api/state")["seq"]
                page.click(f"[data-do=reveal][data-number='{number}']")
                wait(lambda seq=seq: served.get("/api/state")["seq"] > seq)
            # The page has the last number a moment later than the service.
            expect(page.locator(".play[data-phase=checking]")).to_have_count(0)
        expect(page.locator(".ending h1")).to_contain_text("Ann")
        expect(page.locator(".ranking li")).to_have_count(2)
        counts = served.igloo()["counts"]
        assert (counts["lost"], counts["corrupt"], counts["overflows"]) == (0, 0, 0)
        assert counts["samples"] > 3200 * 5
    finally:
        served.close()


def test_the_balance_counts_from_its_sensor_to_the_page(simavr: Callable[..., Any], page: Page, tmp_path: Path) -> None:
    """The balance is the world that the sensor feels: tapped again and again, empty and with igloos on it."""
    felt, data = felt_on_it(7, 10), tmp_path / "data"
    kept_calibration(data, felt)
    igloo = simavr(mhz=16, rate_error=0.02).start()
    igloo.play(felt["tare"], loop=True)
    served = serve(data, "--igloo", igloo.port)
    try:
        host(page, served)
        page.goto(f"http://{NAME}:{served.port}/#referee")
        count = page.locator("[data-key=count]")
        expect(count.locator("[data-what=unknown]")).to_be_disabled()
        count.locator("[data-what=tare]").click()
        expect(count.locator("[data-what=unknown]")).to_be_enabled()
        for n in (7, 10):
            igloo.play(felt[f"beads {n}"], loop=True)
            count.locator("[data-what=unknown]").click()
            expect(page.locator(f"[data-key=answer][data-count='{n}']")).to_have_attribute("data-state", "counted")
        # The balance is no igloo: nothing counts it as shaken.
        assert served.get("/api/state")["igloo"]["igloos"] == []
        assert served.get("/api/health")["devices"][0]["counts"]["lost"] == 0
    finally:
        served.close()


def test_a_box_is_checked_from_the_balances_sensor_to_the_page(
    simavr: Callable[..., Any], page: Page, tmp_path: Path
) -> None:
    """Igloo 7 holds ten, igloo 9 its nine; each is tapped until the page asks for the next."""
    felt, data = felt_on_it(9, 10), tmp_path / "data"
    kept_calibration(data, felt)
    igloo = simavr(mhz=16, rate_error=0.02).start()
    igloo.play(felt["tare"], loop=True)
    served = serve(data, "--igloo", igloo.port)
    try:
        host(page, served)
        page.goto(f"http://{NAME}:{served.port}/#workshop/balance")
        box = page.locator("[data-key=box]")
        page.click("[data-do=balance-box]")
        expect(box).to_have_attribute("data-stage", "igloo")
        for sticker, holds in ((7, 10), (9, 9)):
            page.click(f"[data-do=balance-choose][data-igloo='{sticker}']")
            igloo.play(felt[f"beads {holds}"], loop=True)
            expect(page.locator(f"[data-do=balance-choose][data-igloo='{sticker}']")).to_have_attribute(
                "data-weighed", "yes"
            )
        page.click("[data-do=balance-box-end]")
        igloo.play(felt["tare"], loop=True)
        expect(box).to_have_attribute("data-stage", "done")
        expect(page.locator("[data-key=box-told] li")).to_have_count(1)
        expect(page.locator("[data-key=box-told] li[data-igloo='7'][data-count='10']")).to_be_visible()
        expect(page.locator("[data-right='1']")).to_be_visible()
    finally:
        served.close()


def test_the_page_survives_a_killed_service(page: Page, tmp_path: Path) -> None:
    data = tmp_path / "data"
    served = serve(data)
    port = served.port
    try:
        host(page, served)
        assert served.do("open-match", {"game": "igloo-pop", "players": PLAYERS, "setup": {"cards": CARDS}})["ok"]
        page.click("[data-do=start]")
        page.click(".who[data-colour=red]")
        page.click(".card[data-place=card3]")
        expect(page.locator(".iglet")).to_have_count(1)
        seq = served.get("/api/state")["seq"]
    finally:
        served.process.kill()
        served.close()
    again = serve(data, port=port)
    try:
        assert again.get("/api/state")["seq"] == seq
        # The page comes back by itself, still the host's, and goes on where it was.
        page.click(".who[data-colour=blue]")
        page.click(".card[data-place=card3]")
        expect(page.locator(".iglet")).to_have_count(2)
        assert again.get("/api/state")["seq"] == seq + 1
    finally:
        again.close()


def test_a_backup_from_this_device_is_added_brought_back_and_shown(page: Page, tmp_path: Path) -> None:
    """From another companion's backup: checked and listed, asked for, and after the restart the page shows its game."""
    theirs = serve(tmp_path / "theirs")
    try:
        assert theirs.do("open-match", {"game": "igloo-pop", "players": PLAYERS, "setup": {"cards": CARDS}})["ok"]
        assert theirs.do("moves", {"moves": ["start", "place red card3"]})["ok"]
        file = tmp_path / "theirs.zip"
        status, made = theirs.host.ask("POST", "/api/backups")
        assert status == 200
        file.write_bytes(theirs.host.ask("GET", f"/api/backups/{json.loads(made)['backup']['name']}")[1])
    finally:
        theirs.close()
    served = serve(tmp_path / "ours")
    try:
        # A minute after the start the companion would make one by itself.
        assert served.host.ask("POST", "/api/settings", {"nightly_backups": 0})[0] == 200
        host(page, served)
        page.goto(f"http://{NAME}:{served.port}/#workshop/backups")
        (tmp_path / "cat.zip").write_bytes(b"\xff\xd8 a cat")
        page.set_input_files("input[data-change=add-backup]", tmp_path / "cat.zip")
        expect(page.locator(".refusal")).to_contain_text("cat.zip is not a companion’s backup")
        page.set_input_files("input[data-change=add-backup]", file)
        expect(page.locator(".backup")).to_have_count(1)
        expect(page.locator("#dialog")).to_contain_text("not lost")
        assert served.get("/api/health")["match"] is None
        page.click("[data-do=dialog-yes]")
        # The service starts anew; the page waits for it, still the host's, and shows the night of the file.
        expect(page.locator(".iglet")).to_have_count(1)
        expect(page.locator("[data-do=check]")).to_be_visible()
        assert "#" not in page.url
        assert next((tmp_path / "ours").glob("before-restore-*")).is_dir()
    finally:
        served.close()
