"""The real service with a camera that films a rendered game, and the host's page of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect

from companion.follow import TABLES
from companion.follow.api import FollowService
from companion.lab.bench.follow import FilmedGame
from companion.lab.worlds.boards import players
from companion.lab.worlds.cards.art import CardArt
from companion.lab.worlds.cards.photos import sheet, sheet_extent, shoot, view
from companion.lab.worlds.cards.taught import picture
from companion.lab.worlds.mjpeg import MjpegServer
from companion.night.answers import TABLE
from companion.service import Service
from companion.service.options import ServeOptions
from tests.browser.conftest import HEARD
from tests.web.assembly import NAME
from tests.worlds.wait import wait
from vision.cards.deck import save_deck, teach
from web.app import create_app
from web.http.server import make_server

PATIENCE_MS = 40_000


@contextmanager
def serving(folder: Path, opening: Mapping[str, Any], moves: Sequence[str] = (), camera: str = "") -> Iterator[Service]:
    """Serve a night in which a game was opened and begun; lessons are short ones. ``camera``: its address."""
    service = Service(ServeOptions(folder, host="127.0.0.1", port=0, camera=camera, example_games=True))
    service.follow_service = FollowService(
        folder / TABLES,
        service.night,
        service.settings,
        service.camera_service,
        service.cards,
        on_change=service._publish_camera,
        lesson=0.5,
    )
    service.settings.set({"host_names": [NAME], "camera_settle_tenths": 3})
    assert service.night.do("open-match", dict(opening), by=TABLE, action_id="open").ok
    if moves:
        assert service.night.do("moves", {"moves": list(moves)}, by=TABLE, action_id="set-up").ok
    server = make_server(create_app(service), "127.0.0.1", 0)
    service.announce(server.port)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    service.start()
    yield service
    server.stop()
    service.close()
    thread.join(timeout=15)


@contextmanager
def filming(folder: Path, camera: MjpegServer | None, film: FilmedGame) -> Iterator[Service]:
    """Serve a night with a camera on the network, or none yet, and the film's game, which is set up."""
    opening = {"game": film.game, "players": players(film.game), "setup": dict(film.setup)}
    with serving(folder, opening, film.set_up, camera.url if camera is not None else "") as service:
        yield service


@contextmanager
def host_page(chromium: Browser, service: Service, **how: Any) -> Iterator[Page]:
    """Open the host's page on a tablet, or ``how`` it is said; nothing in it may complain."""
    how = {"viewport": {"width": 768, "height": 1024}, **how}
    context = chromium.new_context(locale="en-GB", has_touch=True, **how)
    context.add_init_script(HEARD)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(f"{error}\n{error.stack}"))
    address = service.addresses()[0].replace("127.0.0.1", NAME)
    page.goto(f"{address}/host/{service.access.host_token()}")
    page.click("button.main")
    page.wait_for_selector("#stage > *")
    yield page
    context.close()
    assert complaints == []


def choose_camera(page: Page, camera: MjpegServer) -> None:
    """Choose a camera on the network in the workshop, as the host does, and wait until it is seen to run."""
    page.evaluate("location.hash = '#workshop/camera'")
    page.click("[data-key=source] summary")
    page.fill("#camera-source", camera.url)
    page.click("form[data-submit=camera] button")
    expect(page.locator(".camera-panel .lamp.connected")).to_be_visible()


def follow_on(page: Page) -> None:
    """Switch the following on in the workshop, and go back to the game."""
    page.click("[data-do=camera-follow]")
    expect(page.locator("[data-do=camera-follow][aria-pressed=true]")).to_be_visible()
    page.evaluate("location.hash = ''")


def teach_few(folder: Path, game: str, art: CardArt, names: Sequence[str]) -> None:
    """Have one photo of a sheet of these cards taught in a service's folder."""
    seed = 3
    camera, light = view(seed, *sheet_extent(art, len(names), 6), width=2000, tilt=(3, 8))
    photo = picture(shoot(sheet(art, list(names), 6, seed), camera, light, seed).jpeg)
    (folder / TABLES).mkdir(parents=True)
    save_deck(folder / TABLES, teach(game, [photo], names))


def until(service: Service, found: Callable[[Any], object]) -> None:
    """Wait until something is so of the record's newest snapshot."""
    wait(
        lambda: found(service.night.snapshot()),
        seen=lambda: (service.follow_service.status(), [str(move) for move in service.night.snapshot().moves]),
    )


def shows_scores(page: Page, service: Service) -> None:
    """Expect the page to show what everybody has by now."""
    for player in service.night.view()["match"]["players"]:
        total = page.locator(f"[data-key=scores] [data-key='{player['colour']}'] .total")
        expect(total).to_have_text(str(player["score"]))


def choose_candidate(page: Page, question: str, number: int) -> None:
    """Tap a candidate of the open question."""
    # What is tapped is of this question, and not of the one before.
    page.wait_for_function("(id) => heard.some(([, told]) => told.question?.id === id)", arg=question)
    choice = page.locator(f".camera-question [data-do=camera-answer][data-n='{number}']")
    if choice.evaluate("(one) => Boolean(one.closest('details:not([open])'))"):
        # Where nothing fits well, what it might have been is folded away.
        page.click(".camera-question details summary")
    choice.click()
