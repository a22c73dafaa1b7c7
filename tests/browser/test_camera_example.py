"""Thin Ice, the example game, followed on the page from rendered frames: the empty board is all that is taught."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from companion.lab.bench.follow import comes_to, is_truth
from companion.lab.worlds.filmed_example import FilmedExample
from companion.lab.worlds.mjpeg import MjpegServer
from companion.night.answers import CAMERA
from companion.service import Service
from tests.browser.filmed import (
    PATIENCE_MS,
    choose_camera,
    choose_candidate,
    filming,
    follow_on,
    host_page,
    shows_scores,
)
from tests.worlds.sizes import size
from tests.worlds.wait import LESSON_S, wait

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("prompt_lessons")]


@pytest.fixture
def film() -> FilmedExample:
    return FilmedExample(2, size(2, 4))


@pytest.fixture
def camera(film: FilmedExample) -> Iterator[MjpegServer]:
    with MjpegServer(film.frames(0), fps=5) as camera:
        yield camera


@pytest.fixture
def service(tmp_path: Path, film: FilmedExample) -> Iterator[Service]:
    with filming(tmp_path, None, film) as service:
        yield service


@pytest.fixture
def page(chromium: Browser, service: Service) -> Iterator[Page]:
    with host_page(chromium, service) as page:
        yield page


@pytest.mark.sized
@pytest.mark.timeout(900)
def test_penguins_that_no_picture_showed_before_are_asked_about_and_then_known(
    page: Page, service: Service, camera: MjpegServer, film: FilmedExample
) -> None:
    expect.set_options(timeout=PATIENCE_MS)
    choose_camera(page, camera)
    page.click("[data-do=camera-find]")
    expect(page.locator("[data-key=finding]")).to_contain_text("Found by its four markers.")
    expect(page.locator(".camera-picture .cell")).to_have_count(9)
    page.click("[data-do=camera-teach]")
    expect(page.locator("[data-key=teach]")).to_contain_text("1 photo was taught.", timeout=1000 * LESSON_S)
    follow_on(page)
    expect(page.locator("[data-key=camera]")).to_contain_text("The board is as the record says.")
    asked = 0
    for number in range(1, len(film.states)):
        truth = film.states[number]
        camera.show(film.frames(number))
        while not is_truth(service.night.snapshot().states[-1], truth):
            wait(
                lambda truth=truth: (
                    is_truth(service.night.snapshot().states[-1], truth) or service.follow_service.open_question()
                ),
                LESSON_S,
                seen=service.follow_service.status,
            )
            question = service.follow_service.open_question()
            if question is None:
                continue
            asked += 1
            told = [[str(move) for move in one.moves] for one in question.candidates]
            played = film.played[number - 1]
            right = [
                n for n, one in enumerate(question.candidates) if comes_to(one, question.observation, played, truth)
            ]
            assert right, (question.kind, question.places, told, played)
            choose_candidate(page, question.id, right[0])
            wait(lambda asked=question: (now := service.follow_service.open_question()) is None or now.id != asked.id)
        # What a penguin looks like is new: the first is asked about for certain.
        assert asked
        expect(page.locator("[data-key=camera]")).to_contain_text("The board is as the record says.")
        expect(page.locator(".on-board")).to_have_attribute("data-state", str(service.night.snapshot().state))
    assert is_truth(service.night.snapshot().states[-1], film.states[-1])
    shows_scores(page, service)
    assert asked + service.night.snapshot().by.count(CAMERA) >= len(film.played)
