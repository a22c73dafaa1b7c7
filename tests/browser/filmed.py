"""The real service with a camera that films a rendered game, and the host's page of it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page

from companion.follow import TABLES
from companion.follow.api import FollowService
from companion.lab.bench.follow import FilmedGame
from companion.lab.worlds.boards import players
from companion.lab.worlds.mjpeg import MjpegServer
from companion.night.answers import TABLE
from companion.service import Service
from companion.service.options import ServeOptions
from tests.browser.conftest import HEARD
from tests.web.assembly import NAME
from web.app import create_app
from web.http.server import make_server

PATIENCE_MS = 90_000


@contextmanager
def filming(folder: Path, camera: MjpegServer, film: FilmedGame) -> Iterator[Service]:
    """Serve a night with a camera on the network and the film's game, which is set up; its lessons are short ones."""
    service = Service(ServeOptions(folder, host="127.0.0.1", port=0, camera=camera.url))
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
    opening = {"game": film.game, "players": players(film.game), "setup": dict(film.setup)}
    assert service.night.do("open-match", opening, by=TABLE, action_id="open").ok
    assert service.night.do("moves", {"moves": film.set_up}, by=TABLE, action_id="set-up").ok
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
def host_page(chromium: Browser, service: Service) -> Iterator[Page]:
    """Open the host's page on a tablet; nothing in it may complain."""
    context = chromium.new_context(viewport={"width": 768, "height": 1024}, locale="en-GB", has_touch=True)
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


def choose_candidate(page: Page, question: str, number: int) -> None:
    """Tap a candidate of the open question."""
    # What is tapped is of this question, and not of the one before.
    page.wait_for_function("(id) => heard.some(([, told]) => told.question?.id === id)", arg=question)
    choice = page.locator(f".camera-question [data-do=camera-answer][data-n='{number}']")
    if choice.evaluate("(one) => Boolean(one.closest('details:not([open])'))"):
        # Where nothing fits well, what it might have been is folded away.
        page.click(".camera-question details summary")
    choice.click()
