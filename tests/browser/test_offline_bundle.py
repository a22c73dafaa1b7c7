"""Training on the way: the file is taken along, played with the network off, and its results come home once."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from companion.ports import COUNTS
from companion.practice.drills import beliefs, weakest
from companion.practice.offline_bundle import heard_as, make_shake
from companion.practice.shakes import cut
from companion.practice.sonify import SPEEDS, WAV_HZ, sound
from companion.practice.statistics import AnsweredShake, figures, published
from companion.service.practice import shake_bank
from tests.browser.conftest import Phones
from tests.browser.test_look import english_left, overflow, read_aloud
from tests.browser.test_training import guess, trains
from tests.web.assembly import Service, quick_machine

pytestmark = pytest.mark.browser

ROUNDS = 12


class Traveller:
    """A phone without a network that opens files; everything that it asks for beyond its files is noted."""

    def __init__(self, browser: Browser, *, crossed: bool) -> None:
        self._browser, self._crossed = browser, crossed
        self.asked: list[str] = []
        self.complaints: list[str] = []

    def opens(self, file: Path, *, width: int = 390, dark: bool = False) -> Page:
        context = self._browser.new_context(
            viewport={"width": width, "height": 844}, color_scheme="dark" if dark != self._crossed else "light"
        )
        context.set_offline(True)
        context.on("request", lambda asked: self.asked.append(asked.url))
        page = context.new_page()
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        page.goto(file.as_uri())
        expect(page.locator(".drill h1")).to_contain_text("1")
        return page


@pytest.fixture
def traveller(chromium: Browser, crossed: bool) -> Iterator[Traveller]:
    yield Traveller(chromium, crossed=crossed)


def taken(page: Page, service: Service, folder: Path) -> Path:
    page.goto(f"{service.url}/training#along")
    with page.expect_download() as started:
        page.click("[data-key=take] a.main")
    assert started.value.suggested_filename.startswith("companion-training-")
    file = folder / "along.html"
    started.value.save_as(file)
    return file


def test_twelve_rounds_without_a_network_come_home_once(
    phones: Phones, service: Service, traveller: Traveller, axe: Callable[[Page], list[str]], tmp_path: Path
) -> None:
    home = phones.player()
    trains(home, service, "Ann")
    file = taken(home, service, tmp_path)
    assert 1_000_000 < file.stat().st_size < 2_500_000
    page = traveller.opens(file)
    expect(page.locator(".drill .simulated")).to_have_text("SIMULATED")
    told = json.loads(page.text_content("#page") or "")
    said = []
    for number in range(1, ROUNDS + 1):
        expect(page.locator(".drill h1")).to_contain_text(f"Shake {number}")
        assert page.locator(".truth-shown").count() == 0
        guess(page, 1 + number)
        truth = int(page.inner_text(".truth-shown strong"))
        said.append((truth, 1 + number))
        expect(page.locator(".next")).to_be_focused()
        if number == 1:
            # What is heard on and on is still to be stopped when this test comes to it.
            page.evaluate("audio.loop = true")
            for speed in SPEEDS:
                page.click(f"[data-speed={speed}][data-do=play]")
                page.wait_for_function("() => !audio.paused && audio.currentTime > 0")
                assert page.evaluate("audio.duration") == pytest.approx(0.1 + 2.6 / SPEEDS[speed], abs=0.02)
                page.click(f"[data-speed={speed}][data-do=stop]")
            expect(page.locator(".posterior figcaption")).to_have_text(re.compile(r"^The machine: \d+ with 45%\."))
            assert axe(page) == []
        if number < ROUNDS:
            page.press(".next", "Enter")
    right = sum(truth == one for truth, one in said)
    near = sum(abs(truth - one) == 1 for truth, one in said)
    expect(page.locator(".tally")).to_contain_text(f"Right: {right}. One off: {near}.")
    phones.shot(page, "along-390-drill", full=True)
    # What was answered is there when the file is opened again.
    page.reload()
    expect(page.locator(".drill h1")).to_contain_text(f"Shake {ROUNDS + 1}")
    page.click("a[href='#progress']")
    expect(page.locator(".progress")).to_contain_text("12 answers so far.")
    assert axe(page) == []
    phones.shot(page, "along-390-progress", full=True)
    page.click("a[href='#home']")
    assert axe(page) == []
    with page.expect_download() as started:
        page.click("[data-do=save]")
    results = tmp_path / "results.json"
    started.value.save_as(results)
    assert json.loads(results.read_text()) == json.loads(page.input_value("#results"))
    assert traveller.complaints == []
    assert [url for url in traveller.asked if not url.startswith(("file:", "blob:"))] == []
    assert len(told["shakes"]) == 168

    home.set_input_files("#results-file", results)
    expect(home.locator("[data-key=import] [role=status]")).to_have_text("12 answers came home.")
    home.fill("#results-text", results.read_text())
    home.click("form[data-submit=import-results] [type=submit]")
    expect(home.locator("[data-key=import] [role=status]")).to_have_text("Nothing new: it has all been counted before.")
    home.click("a[href='#progress']")
    expect(home.locator(".progress")).to_contain_text("12 answers so far.")
    matrix = service.companion.training.figures(1)["confusion"]
    assert sum(map(sum, matrix)) == ROUNDS
    for truth, one in said:
        assert matrix[truth - 2][one - 2] >= 1
    home.click("a[href='#along']")
    home.fill("#results-text", "{}")
    home.click("form[data-submit=import-results] [type=submit]")
    expect(home.locator(".refusal")).to_contain_text("These are not results")
    home.fill("#results-text", "no JSON at all")
    home.click("form[data-submit=import-results] [type=submit]")
    expect(home.locator("[data-key=import] .complaint")).to_contain_text("These are not results")
    page.context.close()
    phones.forgive("400")


def test_opened_from_the_room_it_is_brought_home_from_the_same_browser(
    phones: Phones, service: Service, axe: Callable[[Page], list[str]]
) -> None:
    home = phones.player(language="fr-FR", dark=True, width=768)
    trains(home, service, "Ann", door="along")
    expect(home.locator("[data-key=open]")).to_be_visible()
    assert axe(home) == []
    assert overflow(home) == []
    assert english_left(read_aloud(home)) == []
    phones.shot(home, "along-768-room", full=True)
    with home.expect_popup() as opened:
        home.click("[data-key=open]")
    page = opened.value
    page.context.set_offline(True)
    for count in (4, 9):
        guess(page, count)
        expect(page.locator(".truth-shown strong")).to_be_visible()
        assert overflow(page) == []
        assert axe(page) == []
        assert english_left(read_aloud(page)) == []
        page.click(".next")
    phones.shot(page, "along-768-drill", full=True)
    page.context.set_offline(False)
    home.reload()
    home.click("[data-do=import-stored]")
    expect(home.locator("[data-key=import] [role=status]")).to_have_text("2 réponses sont arrivées.")
    expect(home.locator("[data-do=import-stored]")).to_have_count(0)


MODULES = "Promise.all(['drills', 'statistics', 'sound'].map((name) => import(`${base}/training-${name}.js`)))"


@pytest.fixture
def sums(phones: Phones, service: Service) -> Page:
    """A page on which the modules of the file can be asked what they make of something."""
    page = phones.guest()
    page.goto(f"{service.url}/training")
    page.evaluate(
        "async () => { const base = document.querySelector('script[type=module]').src.replace(/[/][^/]*$/, '');"
        f" const [drills, statistics, sound] = await {MODULES}; window.m = {{drills, statistics, sound}}; }}"
    )
    return page


def nearly(found: Any, wanted: Any) -> None:
    if isinstance(wanted, dict):
        assert set(found) == set(wanted)
        for key, value in wanted.items():
            nearly(found[key], value)
    elif isinstance(wanted, list):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            nearly(one, other)
    elif isinstance(wanted, float):
        assert found == pytest.approx(wanted, abs=6e-5)
    else:
        assert found == wanted


@pytest.mark.parametrize("answers", [0, 1, 240])
def test_the_file_reckons_as_the_room_does(sums: Page, answers: int) -> None:
    rng = Random(answers)
    told = []
    for _ in range(answers):
        machine = [rng.random() for _ in COUNTS]
        told.append({"truth": rng.choice(COUNTS), "guess": rng.choice(COUNTS), "machine": machine})
    tried = [(one["truth"], one["guess"]) for one in told]
    known = {str(count): published(count).to_json() for count in COUNTS}
    found = sums.evaluate("([told, known]) => m.statistics.statistics(told, known)", [told, known])
    room = figures([AnsweredShake(0, 1, one["truth"], one["guess"], tuple(one["machine"])) for one in told])
    nearly(found.pop("weakest"), weakest(tried))
    del room["weeks"]
    for side in (found, room):
        side["overall"]["published"].pop("answers")
    nearly(found, room)
    mine = sums.evaluate("(tried) => m.drills.beliefs(tried)", tried)
    nearly(mine, {str(count): list(belief) for count, belief in beliefs(tried).items()})


def test_the_file_drills_what_is_weak_and_forgets_no_number(sums: Page) -> None:
    tried = [(count, count if count < 9 else count - 3) for count in COUNTS for _ in range(10)]
    drawn = sums.evaluate("(tried) => Array.from({length: 2000}, () => m.drills.choose(tried))", tried)
    assert set(drawn) == set(COUNTS)
    # 80 % go by the beliefs, hence almost all of those to the weak ones; a fifth is drawn alike.
    assert sum(count >= 9 for count in drawn) / 2000 > 0.8
    fresh = sums.evaluate("() => Array.from({length: 3000}, () => m.drills.choose([]))")
    assert min(fresh.count(count) for count in COUNTS) > 150


def test_the_file_sounds_as_the_room_does(sums: Page) -> None:
    number, seed = 40, 77
    packed = make_shake(shake_bank(), quick_machine, number, seed)
    whole = cut(shake_bank().shake(number), seed)
    for speed in SPEEDS.values():
        heard = sums.evaluate(
            "([packed, speed, how]) => { const made = m.sound.sounded(packed, speed, how);"
            " return {rate: made.rate, samples: Array.from(made.samples)}; }",
            [packed, speed, heard_as()],
        )
        room = sound(whole, speed, seed)
        mine = np.interp(
            np.arange(len(room)) / WAV_HZ, np.arange(len(heard["samples"])) / heard["rate"], heard["samples"]
        )
        assert heard["rate"] == 10_000
        assert len(heard["samples"]) / heard["rate"] == pytest.approx(len(room) / WAV_HZ, abs=0.01)
        assert float(np.std(heard["samples"])) == pytest.approx(float(room.std()), rel=0.05)
        # How loud it is, moment by moment: what tells the knocks apart.
        step = WAV_HZ // 100
        loud = [np.sqrt((one[: len(one) // step * step].reshape(-1, step) ** 2).mean(axis=1)) for one in (room, mine)]
        assert float(np.corrcoef(*loud)[0, 1]) > 0.97
        spectrum = np.abs(np.fft.rfft(heard["samples"]))
        hz = np.fft.rfftfreq(len(heard["samples"]), 1 / heard["rate"])
        middle = float((spectrum**2 * hz).sum() / (spectrum**2).sum())
        theirs = np.abs(np.fft.rfft(room))
        their_hz = np.fft.rfftfreq(len(room), 1 / WAV_HZ)
        assert middle == pytest.approx(float((theirs**2 * their_hz).sum() / (theirs**2).sum()), abs=25.0)
