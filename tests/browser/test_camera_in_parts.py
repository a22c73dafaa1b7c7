"""Ice Team followed on the page from rendered frames: its corners tapped, its bears known from their heap on Start."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from companion.lab.bench.follow import comes_to, is_truth, unseen_step
from companion.lab.worlds.filmed_ice import FilmedIce
from companion.lab.worlds.mjpeg import MjpegServer
from companion.night.answers import CAMERA, TABLE
from companion.service import Service
from tests.browser.filmed import PATIENCE_MS, choose_candidate, filming, host_page
from tests.worlds.wait import LESSON_S, wait

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("prompt_lessons")]


@pytest.fixture
def film() -> FilmedIce:
    """In the second turn a die is rolled between two actions."""
    return FilmedIce(5, 2, 1)


@pytest.fixture
def camera(film: FilmedIce) -> Iterator[MjpegServer]:
    with MjpegServer(film.frames(0), fps=5) as camera:
        yield camera


@pytest.fixture
def service(tmp_path: Path, camera: MjpegServer, film: FilmedIce) -> Iterator[Service]:
    with filming(tmp_path, camera, film) as service:
        yield service


@pytest.fixture
def page(chromium: Browser, service: Service) -> Iterator[Page]:
    with host_page(chromium, service) as page:
        yield page


def tap_corners(page: Page, film: FilmedIce) -> None:
    """Tap the board's corners in the picture, clockwise from the far left."""
    picture = page.locator(".camera-picture")
    box = picture.bounding_box()
    assert box is not None
    page.click("[data-do=camera-corners]")
    for x, y in film.corners:
        picture.click(position={"x": x * box["width"] / 1280, "y": y * box["height"] / 960}, force=True)
    page.click("[data-do=camera-corners-use]")
    expect(page.locator("[data-key=finding]")).to_contain_text("Found by the corners that were tapped.")


def played(page: Page, service: Service, film: FilmedIce, number: int) -> int:
    """Wait until a turn is entered, and answer what is asked with what was played; return how often that was."""
    turn, questions, truth = film.played[number - 1], 0, film.states[number]
    unseen = list(turn)

    def state() -> object:
        return service.night.snapshot().states[-1]

    while not is_truth(state(), truth):
        wait(
            lambda: (
                is_truth(state(), truth)
                or service.follow_service.open_question() is not None
                or service.follow_service.status()["state"] == "waiting"
            ),
            LESSON_S,
            seen=service.follow_service.status,
        )
        asked = service.follow_service.open_question()
        if asked is not None:
            questions += 1
            right = [n for n, c in enumerate(asked.candidates) if comes_to(c, asked.observation, turn, truth)]
            assert right, (asked.kind, asked.places, [[str(move) for move in c.moves] for c in asked.candidates])
            choose_candidate(page, asked.id, right[0])
            wait(lambda asked=asked: (now := service.follow_service.open_question()) is None or now.id != asked.id)
        elif (step := unseen_step(state(), unseen)) is not None:
            # What the die showed is entered by people; the camera goes on from there.
            expect(page.locator("body")).to_contain_text("Enter what the board does not show")
            action = f"die-{number}-{len(unseen)}"
            assert service.night.do("moves", {"moves": [step]}, by=TABLE, action_id=action).ok
    return questions


@pytest.mark.long
@pytest.mark.timeout(900)
def test_bears_that_were_taught_in_a_heap_are_followed_over_the_floes(
    page: Page, service: Service, camera: MjpegServer, film: FilmedIce, axe: Callable[[Page], list[str]]
) -> None:
    expect.set_options(timeout=PATIENCE_MS)
    page.evaluate("location.hash = '#workshop/camera'")
    tap_corners(page, film)
    page.click("[data-do=camera-teach]")
    expect(page.locator("[data-key=teach]")).to_contain_text("1 photo was taught.", timeout=1000 * LESSON_S)
    assert axe(page) == []
    page.click("[data-do=camera-follow]")
    expect(page.locator("[data-key=following]")).to_contain_text("The board is as the record says.")
    page.evaluate("location.hash = ''")
    questions = 0
    for number in range(1, len(film.states)):
        camera.show(film.frames(number))
        questions += played(page, service, film, number)
    entered = service.night.snapshot().by[len(film.set_up) :]
    assert entered.count(CAMERA) + questions >= len(film.played)
    assert service.night.snapshot().states[-1].position() == film.states[-1].position()
