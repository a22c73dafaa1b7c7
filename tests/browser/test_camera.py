"""The camera on the page: calibrate, teach, and a rendered game of Iglu Iglu that nobody types a move of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from companion.lab.worlds.filmed import Filmed, noisy
from companion.lab.worlds.mjpeg import MjpegServer
from companion.night.answers import CAMERA
from companion.rules.inference.turns import content
from companion.service import Service
from tests.browser.filmed import PATIENCE_MS, choose_candidate, filming, host_page
from tests.worlds.sizes import size
from tests.worlds.spoilt import moved, spoilt
from tests.worlds.wait import LESSON_S, wait

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("prompt_lessons")]


@pytest.fixture(scope="module")
def film() -> Filmed:
    return Filmed(5, size(4, 8), kept=1.0)


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


def answered(page: Page, service: Service, film: Filmed, number: int) -> None:
    """Tap the candidate that was played: the truth is always among them."""
    asked = service.follow_service.open_question()
    truth = {name: content(place) for name, place in film.states[number].position()["places"].items()}
    right = [
        n
        for n, candidate in enumerate(asked.candidates)
        if {name: content(place) for name, place in candidate.state.position()["places"].items()} == truth
    ]
    told = [[str(move) for move in candidate.moves] for candidate in asked.candidates]
    assert right, (asked.kind, asked.places, told, film.played[number - 1])
    choose_candidate(page, asked.id, right[0])


@pytest.mark.sized
@pytest.mark.timeout(900)  # four minutes with ten others on two cores
def test_a_rendered_game_without_a_typed_move(
    page: Page, service: Service, camera: MjpegServer, film: Filmed, axe: Callable[[Page], list[str]]
) -> None:
    expect.set_options(timeout=PATIENCE_MS)
    page.evaluate("location.hash = '#workshop/camera'")
    page.click("[data-do=camera-find]")
    expect(page.locator("[data-key=finding]")).to_contain_text("Found by its four markers.")
    expect(page.locator(".camera-picture .cell")).to_have_count(64)
    # The corners can be put right by the arrow keys alone; the lines of the board are found beside them.
    page.click("[data-do=camera-corners]")
    page.focus("[data-corner='1']")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.click("[data-do=camera-corners-use]")
    expect(page.locator("[data-key=finding]")).to_contain_text("Found by the corners that were tapped.")
    page.click("[data-do=camera-teach]")
    expect(page.locator("[data-key=teach]")).to_contain_text("1 photo was taught.", timeout=1000 * LESSON_S)
    assert axe(page) == []
    page.click("[data-do=camera-follow]")
    expect(page.locator("[data-key=following]")).to_contain_text("The board is as the record says.")
    page.evaluate("location.hash = ''")

    questions = 0
    with ThreadPoolExecutor(1) as renderer:
        coming = renderer.submit(film.frames, 1)
        for number in range(1, len(film.states)):
            begun = len(service.night.snapshot().by)
            camera.show(coming.result())
            if number < len(film.states) - 1:
                coming = renderer.submit(film.frames, number + 1)
            wait(
                lambda begun=begun: (
                    len(service.night.snapshot().by) > begun or service.follow_service.status()["asking"]
                ),
                LESSON_S,
            )
            if len(service.night.snapshot().by) == begun:
                questions += 1
                expect(page.locator(".camera-question svg.board").first).to_be_visible()
                if questions == 1:
                    assert axe(page) == []
                answered(page, service, film, number)
                wait(lambda begun=begun: len(service.night.snapshot().by) > begun, LESSON_S)
            wait(lambda: service.follow_service.status()["state"] in ("watching", "entered"), LESSON_S)

    course = service.night.snapshot()
    entered = course.by[len(film.set_up) :]
    # Taught in short lessons it asks more than it would; nobody typed a move.
    assert entered.count(CAMERA) >= len(entered) / 4
    assert course.states[-1].position()["places"] == film.states[-1].position()["places"]
    truth = [sheet.total for sheet in film.states[-1].score().sheets]
    expect(page.locator(".turns .turn b")).to_have_text([f"Points {points}" for points in truth])
    expect(page.locator(".log li .kind.simulated").first).to_be_visible()
    # The referee rules on what the camera sees against the record, with the ruling drawn over the picture. Taught in
    # short lessons it may misread a place and say No (that the ruling is right is for tests/web/api/test_camera.py);
    # either way the page says what was ruled.
    page.evaluate("location.hash = '#referee'")
    page.click("[data-do=dispute-camera][data-which=after]")
    with page.expect_response("**/api/camera/photos/rule?*") as told:
        page.click("[data-do=dispute-rule]")
    ruling = told.value.json()["ruling"]
    verdict = page.locator(".by-photo .verdict")
    expect(verdict.locator(".answer")).to_have_text(
        "Yes, that is allowed" if ruling["legal"] else "No, that is not allowed"
    )
    expect(verdict).to_contain_text(ruling["en"])
    expect(page.locator(".by-photo figure img")).to_have_js_property("naturalWidth", 1280)
    assert axe(page) == []
    page.evaluate("location.hash = ''")
    # The score sheet of a board fills itself from what the camera sees, the doubtful places are named, and it counts.
    page.evaluate("location.hash = '#score'")
    page.click("[data-do=score-game][data-game=iglu-iglu]")
    with page.expect_response("**/api/camera/table/iglu-iglu/sheet") as told:
        page.click("[data-do=board-camera]")
    read = told.value.json()["places"]
    for ground in ("floe", "water", "land"):
        count = sum(place["ground"] == ground for place in read.values())
        expect(page.locator(f".editor .square.{ground}")).to_have_count(count)
    expect(page.locator(".editor .square.unsure")).to_have_count(sum(place["unsure"] for place in read.values()))
    inuit = sum(thing["kind"] == "inuit" for place in read.values() for thing in place["things"])
    expect(page.locator(".editor .thing.inuit")).to_have_count(inuit)
    assert inuit >= 4
    assert axe(page) == []
    page.click("[data-do=reckon]")
    expect(page.locator(".ranking .total")).to_have_count(2)
    page.evaluate("location.hash = ''")
    # What the camera entered last goes with one tap, by somebody who is not the host too.
    if course.by[-1] == CAMERA:
        service.follow_service.follow(False)
        page.click("[data-do=undo]")
        wait(lambda: len(service.night.snapshot().by) < len(course.by))


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
    here, there = moved(film)
    camera.show(noisy(spoilt(film), 3, 7))
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
