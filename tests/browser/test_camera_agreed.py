"""A board that no turn leaves so: the page offers to go on from it, drawn, and the table agrees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from companion.lab.worlds.filmed import Filmed, noisy
from companion.lab.worlds.mjpeg import MjpegServer
from companion.service import Service
from tests.browser.filmed import PATIENCE_MS, filming, host_page
from tests.worlds.wait import LESSON_S, wait

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("prompt_lessons")]


@pytest.fixture(scope="module")
def film() -> Filmed:
    return Filmed(5, 1, kept=1.0)


@pytest.fixture
def camera(film: Filmed) -> Iterator[MjpegServer]:
    with MjpegServer(film.frames(0), fps=5) as camera:
        yield camera


@pytest.fixture
def service(tmp_path: Path, camera: MjpegServer, film: Filmed) -> Iterator[Service]:
    with filming(tmp_path, camera, film) as service:
        yield service


@pytest.fixture
def page(chromium: Browser, service: Service) -> Iterator[Page]:
    with host_page(chromium, service) as page:
        yield page


def spoilt(film: Filmed) -> tuple[list[bytes], str, str]:
    """Return pictures of the board with an inuit where none can walk to, and from where to where it went."""
    board = film.states[0].position()
    here = next(n for n, place in board["places"].items() if any(t["kind"] == "inuit" for t in place["things"]))
    there = "e6" if here[0] < "d" else "c3"
    board["places"][there]["things"], board["places"][here]["things"] = board["places"][here]["things"], []
    return noisy(film.shot(board["places"]), 3, 7), here, there


@pytest.mark.timeout(600)
def test_the_table_goes_on_from_a_board_that_no_turn_leaves(
    page: Page, service: Service, camera: MjpegServer, film: Filmed, axe: Callable[[Page], list[str]]
) -> None:
    expect.set_options(timeout=PATIENCE_MS)
    follow = service.follow_service
    wait(lambda: service.camera_service.newest() is not None)
    follow.calibrate(film.game, None)
    follow.teach(film.game, None)
    follow.table_of(film.game).wait(LESSON_S)
    follow.follow(True)
    wait(lambda: follow.status()["state"] == "watching", LESSON_S, seen=follow.status)
    pictures, here, there = spoilt(film)
    camera.show(pictures)
    question = page.locator(".camera-question")
    expect(question).to_be_visible(timeout=1000 * LESSON_S)
    if question.get_attribute("data-kind") != "disagreement":
        page.click("[data-do=camera-answer][data-n=none]")
    page.click("[data-do=camera-agree]")
    dialog = page.locator("#dialog")
    expect(dialog.locator("svg.board")).to_be_visible()
    expect(dialog).to_contain_text(here)
    expect(dialog).to_contain_text(there)
    assert axe(page) == []
    # Nothing is entered before somebody says that the table agrees.
    page.click("#dialog button.main")
    assert len(service.night.snapshot().moves) == len(film.set_up)
    first = service.night.snapshot().colours[0]
    page.check(f"#dialog input[name=turn][value={first}]")
    page.check("#dialog input[name=agreed]")
    page.click("#dialog button.main")
    expect(page.locator(".log")).to_contain_text("The table agreed to go on from this position")
    wait(lambda: follow.status()["state"] == "watching", LESSON_S, seen=follow.status)
    state = service.night.snapshot().states[-1].position()
    was = film.states[0].position()["places"]
    assert state["places"][there]["things"] == was[here]["things"] and state["turn"] == first
    expect(question).to_have_count(0)
