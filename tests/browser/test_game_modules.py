"""A game of which the page knows no more than who may play, one of which it knows nothing, and the form of them all."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from companion.lab.worlds.boards import record
from companion.rules import games
from tests.browser.conftest import Phones
from tests.browser.test_boards import Finger
from tests.web.assembly import Service, served
from web.http import assets

pytestmark = pytest.mark.browser

MINIMAL = """// A game of which the page knows no more than who may play.

export default {
  seats: { least: 2, most: 4, colours: ["p1", "p2", "p3", "p4"] },
};
"""
FORM = """async (registry) => {
  const { GAMES } = await import(registry);
  const keys = new Set();
  for (const { parts, ...game } of GAMES) {
    for (const [name, value] of Object.entries(game)) {
      keys.add(name);
      if (["seats", "places", "setup"].includes(name)) for (const inner of Object.keys(value)) keys.add(inner);
    }
    for (const [name, load] of Object.entries(parts)) {
      keys.add(name);
      for (const inner of Object.keys((await load()).default)) keys.add(inner);
    }
  }
  return [...keys];
}"""


SMALL = pytest.mark.parametrize("service", ["small"], indirect=True)
"""The page has a small module of Arctic, and none of Ice Team."""


@pytest.fixture
def service(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    if getattr(request, "param", None) == "small":
        folder = tmp_path / "static"
        shutil.copytree(assets.FOLDER, folder)
        for name in ("arctic", "ice-team"):
            shutil.rmtree(folder / "js" / "games" / name)
        (folder / "js" / "games" / "arctic.js").write_text(MINIMAL)
        monkeypatch.setattr(assets, "shipped", lambda offered: assets.Assets(folder, offered))
    with served(tmp_path / "data") as service:
        yield service


@SMALL
def test_a_game_is_played_that_only_says_who_may_play(phones: Phones, service: Service) -> None:
    page = phones.host()
    names = page.locator("[data-do=choose-game]")
    expect(names).to_have_text(["Igloo Pop", "Iglu Iglu", "Arctic"])
    page.click("[data-do=choose-game][data-game=arctic]")
    expect(page.locator("form.setup h2")).to_have_text("Arctic: who plays?")
    expect(page.locator("form.setup .quiet").first).to_contain_text("In the order you sit")
    page.fill("input[name=name-0]", "Ann")
    page.click("form.setup .extras summary")
    page.check("input[name=box][value=enter]")
    page.click("form.setup button[type=submit]")
    finger = Finger(page, service)
    finger.ready()
    texts = record("arctic", 11)
    for text in texts[:12]:
        finger.play(text)
    middle = texts[12:-4]
    for n in range(0, len(middle), 90):
        service.companion.moves(*middle[n : n + 90])
    finger.ready()
    page.click(".menu summary")
    # What it has no part for is not offered.
    expect(page.locator(".menu [data-do=close-dialog]")).to_be_visible()
    expect(page.locator(".menu [href='#score'], .menu [data-do=fault-dialog]")).to_have_count(0)
    page.click(".menu summary")
    for text in texts[-4:]:
        finger.play(text)
    expect(page.locator(".ending h1")).to_contain_text("win")
    expect(page.locator(".ranking li")).to_have_count(2)
    page.click(".sheet >> nth=0")
    page.locator(".sheet[open] .lines .clause").first.click()
    expect(page.locator("#dialog h2")).to_have_text(re.compile("^ARC-"))


@SMALL
def test_its_moves_are_ruled_on_by_taps_and_in_its_notation(phones: Phones, service: Service) -> None:
    service.companion.do(
        "open-match", {"game": "arctic", "players": [{"name": "Ann", "colour": "p1"}, {"name": "Bob", "colour": "p2"}]}
    )
    service.companion.moves(*record("arctic", 11)[:30])
    page = phones.player()
    page.wait_for_selector(".on-board[data-state]")
    page.click("[data-key=objection] a")
    field = page.locator("form[data-submit=judge] input")
    expect(field).not_to_have_attribute("placeholder", re.compile("."))
    field.fill("end")
    page.click("form[data-submit=judge] button")
    expect(page.locator(".verdict .answer")).to_be_visible()
    page.locator("[data-do=tap][data-place^=land]").first.dispatch_event("click")
    expect(page.locator(".verdict, .dispute-panel .quiet").first).to_be_visible()
    page.goto(page.url.replace("#referee", "#score"))
    expect(page.locator("[data-do=score-game]")).to_have_text(["Igloo Pop", "Iglu Iglu"])
    page.goto(page.url.replace("#score", "#referee/hand"))
    expect(page.locator("[data-do=position-game]")).to_have_text(["Igloo Pop", "Iglu Iglu"])


def test_the_form_of_a_module_is_documented(phones: Phones) -> None:
    """Each field that a game's module or a part of one has stands in the README of the modules."""
    page = phones.spectator()
    registry = page.evaluate(
        "() => document.querySelector('script[type=module]').src.replace(/main\\.js/, 'registry.js')"
    )
    fields = set(page.evaluate(FORM, registry))
    readme = (assets.FOLDER / "js" / "README.md").read_text(encoding="utf-8").replace("```", "")
    named = {word for code in re.findall(r"`([^`]+)`", readme) for word in re.findall(r"\w+", code)}
    assert fields - named == set()
    assert {"seats", "sheet", "position", "ops", "draw"} <= fields
    assert len(games()) == page.evaluate("async (url) => (await import(url)).GAMES.length", registry)
