"""Igloo Pop followed on the page from rendered frames: the circle as it is laid, what is put on it, and the check."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from companion.follow.messages import CHECK_KNOWN, PLACED, PLACES_KNOWN
from companion.lab.worlds.cards.checks import DrawnCheck, drawn_check
from companion.lab.worlds.cards.photos import shoot
from companion.lab.worlds.cards.placings import GOES_S, DrawnRound
from companion.lab.worlds.filmed import noisy
from companion.lab.worlds.mjpeg import MjpegServer
from companion.night.answers import CAMERA
from companion.rules.igloo_pop.components import CARD_TEXT
from companion.service import Service
from tests.browser.filmed import (
    PATIENCE_MS,
    choose_camera,
    follow_on,
    host_page,
    serving,
    shows_scores,
    teach_few,
    until,
)
from tests.worlds.sizes import size
from tests.worlds.wait import wait

pytestmark = pytest.mark.browser

GAME = "igloo-pop"
COLOURS = ["red", "blue", "green"]
LOOKS = 4
"""One more than what lies still is entered by, if it is: the first may still be of the scene before."""


class Circle:
    """The table of a drawn round, and its camera."""

    def __init__(self, check: DrawnCheck, camera: MjpegServer) -> None:
        self.check, self.camera, self.number = check, camera, 0

    @property
    def film(self) -> DrawnRound:
        return self.check.film

    def show(self, scene: Any) -> None:
        """Show what lies there, in pictures that each have their noise."""
        self.number += 1
        self.camera.show(noisy(shoot(*scene, self.number).jpeg, 3, self.number))

    def standing(self, count: int, *, hand: bool = False) -> None:
        """Show so many igloos put on cards, the last of them still in a hand or not."""
        puts = self.film.puts[:count]
        t = puts[-1].t if puts else 0.0
        self.show(replace(self.film, puts=puts).scene(t - 0.4 if hand else t + 2 * GOES_S))

    def turned(self, number: int) -> None:
        """Show what lies there when the ``number``-th igloo was turned over, and all hands have gone."""
        one = sorted(self.check.turned, key=lambda one: one.t)[number]
        later = (self.check.scene(t) for t in np.arange(one.t + GOES_S, one.until, 0.1))
        self.show(next(scene for scene in later if not scene[0].hands))


@pytest.fixture(scope="module")
def check() -> DrawnCheck:
    return drawn_check(3, 1, COLOURS, count=size(1, 3))


@pytest.fixture
def camera() -> Iterator[MjpegServer]:
    with MjpegServer([], fps=5) as camera:
        yield camera


@pytest.fixture
def service(tmp_path: Path, check: DrawnCheck) -> Iterator[Service]:
    names = check.film.names
    spare = [name for name in CARD_TEXT if name not in names]
    teach_few(tmp_path, GAME, check.film.art, [*names, *spare[:3]])
    seats = [{"name": colour, "colour": colour} for colour in COLOURS]
    with serving(tmp_path, {"game": GAME, "players": seats, "draw": False}) as service:
        yield service


@pytest.fixture
def page(chromium: Browser, service: Service) -> Iterator[Page]:
    with host_page(chromium, service) as page:
        yield page


def some_looks(service: Service) -> None:
    """Wait until the camera has looked so often that it would have entered what lies still."""
    follower = service.follow_service._follower
    for _ in range(LOOKS):
        before = follower.now.looked_t
        wait(lambda before=before: follower.now.looked_t > before, seen=service.follow_service.status)


def noted(service: Service, note: str) -> None:
    wait(lambda: service.follow_service.status()["note"] == note, seen=service.follow_service.status)


@pytest.mark.sized
@pytest.mark.timeout(300)
def test_a_round_is_followed_from_its_cards_to_its_check(
    page: Page, service: Service, camera: MjpegServer, check: DrawnCheck, axe: Callable[[Page], list[str]]
) -> None:
    expect.set_options(timeout=PATIENCE_MS)
    circle = Circle(check, camera)
    circle.standing(0)
    choose_camera(page, camera)
    follow_on(page)

    # The nine cards are read as they lie, igloos standing in the middle.
    until(service, lambda now: all(now.states[-1].cards.values()))
    lying = {card["place"]: "/".join(map(str, card["numbers"])) for card in service.night.view()["match"]["cards"]}
    assert lying == {f"card{n}": name for n, name in enumerate(circle.film.names, 1)}
    expect(page.locator(".log li .kind.simulated").first).to_be_visible()
    expect(page.locator("[data-key=camera]")).to_contain_text(PLACES_KNOWN)
    page.click("[data-do=start]")
    until(service, lambda now: now.states[-1].phase == "shaking")

    def placed() -> list[tuple[str, str]]:
        now = service.night.snapshot()
        steps = zip(now.moves, now.by, strict=True)
        return [(move.place, move.colour) for move, by in steps if move.kind == "place" and by == CAMERA]

    puts = [(put.place, put.colour) for put in circle.film.puts]
    for count in range(1, len(puts) + 1):
        # A hand over a card is not a move.
        circle.standing(count, hand=True)
        some_looks(service)
        assert placed() == puts[: count - 1]
        circle.standing(count)
        wait(lambda count=count: len(placed()) == count, seen=service.follow_service.status)
        expect(page.locator("[data-key=camera]")).to_contain_text(PLACED)
    assert placed() == puts

    # A number that lies there before the check is not read.
    circle.turned(0)
    some_looks(service)
    assert "reveal" not in {move.kind for move in service.night.snapshot().moves}
    cards = service.night.view()["match"]["cards"]
    assert {igloo["number"] for card in cards for igloo in card["igloos"]} == {None}
    circle.standing(len(puts))
    noted(service, PLACES_KNOWN)
    assert axe(page) == []

    page.click("[data-do=check]")
    until(service, lambda now: now.states[-1].phase == "checking")
    noted(service, CHECK_KNOWN)
    some_looks(service)
    for number in range(len(check.turned)):
        circle.turned(number)
        until(service, lambda now, number=number: sum(move.kind == "reveal" for move in now.moves) > number)
    truth = {(one.put.place, one.put.colour, one.number) for one in check.turned}
    results = service.night.view()["match"]["results"]
    assert {(card["place"], one["colour"], one["number"]) for card in results for one in card["igloos"]} == truth
    expect(page.locator("[data-key=results] .one")).to_have_count(len(truth))
    shows_scores(page, service)
    assert {
        by
        for move, by in zip(service.night.snapshot().moves, service.night.snapshot().by, strict=True)
        if move.kind in {"deal", "place", "reveal"}
    } == {CAMERA}
