"""Arctic followed on the page from rendered frames: the River as it is laid, and turns by what lies there then."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from companion.follow.messages import FAILED, ROW_AGREES, ROW_OPEN
from companion.follow.questions import TURN
from companion.lab.bench.vision.rivers import opening_of, shown
from companion.lab.worlds.cards.river import SHEET, DrawnTable, PlayedTurn, RiverScene, begun, drawn_table, played
from companion.lab.worlds.filmed import noisy
from companion.lab.worlds.mjpeg import MjpegServer
from companion.night.answers import CAMERA, TABLE
from companion.rules.arctic.components import TEXT, UNKNOWN
from companion.service import Service
from tests.browser.filmed import (
    PATIENCE_MS,
    choose_camera,
    choose_candidate,
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


@dataclass(frozen=True)
class Drawn:
    """A game that is drawn: ``turns`` are its first ones, ``many``."""

    seed: int
    family: int
    players: int
    many: int

    @cached_property
    def turns(self) -> list[PlayedTurn]:
        return played(self.seed, self.players)[: self.many]

    @property
    def table(self) -> DrawnTable:
        return drawn_table(self.seed, self.family)


USUAL = Drawn(1, 1, 2, 3)
GIVING = Drawn(93, 5, 3, 4)
"""In its fourth turn a player may give a Penalty card away, which no picture shows."""


class River:
    """The table of a drawn game, and its camera."""

    def __init__(self, game: Drawn, camera: MjpegServer) -> None:
        self.table: DrawnTable = game.table
        self.scene: RiverScene = begun(game.turns[0].before)
        self.camera, self.number, self.picture = camera, 0, b""

    def show(self, *, hand: bool = False) -> None:
        """Show what lies there, a hand over it or not, in pictures that each have their noise."""
        self.number += 1
        shot = self.table.shot(self.scene, self.number, hand=hand)
        self.picture = shot.jpeg
        self.camera.show(noisy(shot.jpeg, 3, self.number))


def damaged(jpeg: bytes) -> bytes:
    """Return a picture whose head is in order, and whose first table of codes is not."""
    table = jpeg.index(b"\xff\xc4") + 4
    return jpeg[:table] + b"\x77" * 16 + jpeg[table + 16 :]


@pytest.fixture
def camera() -> Iterator[MjpegServer]:
    with MjpegServer([], fps=5) as camera:
        yield camera


@pytest.fixture
def game(request: pytest.FixtureRequest) -> Drawn:
    found: Drawn = getattr(request, "param", USUAL)
    return found


@pytest.fixture
def service(tmp_path: Path, game: Drawn) -> Iterator[Service]:
    # The cards that lie in the open in these turns, and some others.
    turns = game.turns
    lying = {TEXT[card] for turn in turns for state in (turn.before, turn.after) for card in state.river}
    lying |= {card for turn in turns for card in turn.laid}
    spare = [card for card in TEXT[:UNKNOWN] if card not in lying]
    teach_few(tmp_path, "arctic", game.table.art, [*sorted(lying), *spare][:SHEET])
    with serving(tmp_path, opening_of(game.turns[0].before)) as service:
        yield service


@pytest.fixture
def page(chromium: Browser, service: Service) -> Iterator[Page]:
    with host_page(chromium, service) as page:
        yield page


@pytest.mark.sized
@pytest.mark.timeout(300)
def test_the_river_is_entered_and_the_first_turn_is_asked_about(
    page: Page, service: Service, game: Drawn, camera: MjpegServer, axe: Callable[[Page], list[str]]
) -> None:
    river = laid_and_entered(page, service, game, camera)

    # A picture that cannot be read is said to be none that was looked at; with the next it goes on.
    camera.show([damaged(river.picture)])
    expect(page.locator("[data-key=camera] .note")).to_contain_text(FAILED)
    river.show()
    expect(page.locator("[data-key=camera]")).to_contain_text(ROW_AGREES)

    asked = [play(page, service, river, turn, axe) for turn in game.turns[: size(1, 3)]]
    assert asked[0] == TURN, "in the first turn nobody knows which token is whose"


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("game", [GIVING], indirect=True)
def test_what_no_picture_shows_is_left_open_and_entered_by_people(
    page: Page, service: Service, game: Drawn, camera: MjpegServer, axe: Callable[[Page], list[str]]
) -> None:
    river = laid_and_entered(page, service, game, camera)
    for turn in game.turns[:-1]:
        play(page, service, river, turn, axe)
    turn, before = game.turns[-1], len(service.night.snapshot().moves)
    lay(service, river, turn)
    expect(page.locator("[data-key=camera]")).to_contain_text(ROW_OPEN)
    assert service.follow_service.open_question() is None
    # All is entered but whether a card was given away: that is for people to say.
    entered = service.night.snapshot().moves[before:]
    rest = [str(move) for move in turn.moves[len(entered) :]]
    assert rest and service.night.do("moves", {"moves": rest}, by=TABLE, action_id="rest").ok
    assert shown(service.night.snapshot().states[-1]) == shown(turn.after)
    expect(page.locator("[data-key=camera]")).to_contain_text(ROW_AGREES)


def laid_and_entered(page: Page, service: Service, game: Drawn, camera: MjpegServer) -> River:
    """Lay the River before the camera, and wait until it is entered, in two looks."""
    expect.set_options(timeout=PATIENCE_MS)
    river = River(game, camera)
    river.show()
    choose_camera(page, camera)
    # Nothing is asked for that cards do not need: no board to find, no markers.
    expect(page.locator("[data-key=by-cards] a[href='#photo']")).to_be_visible()
    expect(page.locator("[data-do=camera-find], .camera-panel figcaption")).to_have_count(0)
    follow_on(page)
    until(service, lambda now: sorted(now.states[-1].river) == sorted(game.turns[0].before.river))
    assert set(service.night.snapshot().by) == {CAMERA}
    expect(page.locator(".log li .kind.simulated").first).to_be_visible()
    return river


def lay(service: Service, river: River, turn: PlayedTurn) -> None:
    """Play a turn before the camera, and wait until it is entered or asked about."""

    def status(key: str) -> Any:
        return service.follow_service.status()[key]

    wait(lambda: status("note") == ROW_AGREES, seen=service.follow_service.status)
    before = len(service.night.snapshot().moves)
    river.show(hand=True)
    wait(lambda: status("state") == "moving", seen=service.follow_service.status)
    river.scene = river.scene.then(turn.after, turn.laid, turn.before.seat)
    river.show()
    wait(
        lambda: status("asking") or len(service.night.snapshot().moves) > before,
        seen=service.follow_service.status,
    )


def play(page: Page, service: Service, river: River, turn: PlayedTurn, axe: Callable[[Page], list[str]]) -> str | None:
    """Play a turn before the camera, and answer on the page what is asked; return of what kind the question was."""

    before = len(service.night.snapshot().moves)
    lay(service, river, turn)
    asked = service.follow_service.open_question()
    if asked is not None:
        # What was placed and drawn is said once; the turns differ in how the tokens went, or in what no picture shows.
        expect(page.locator("[data-key=in-each]")).to_contain_text("Place")
        words = page.locator(".camera-choice button").all_inner_texts()
        assert len(words) > 1
        assert not any("Place" in one or "Take" in one for one in words)
        assert axe(page) == []
        truth = shown(turn.after)
        right = [n for n, one in enumerate(asked.candidates) if shown(one.state) == truth]
        choose_candidate(page, asked.id, right[0])
        until(service, lambda now: len(now.moves) > before)
        expect(page.locator(".camera-question")).to_have_count(0)
    assert shown(service.night.snapshot().states[-1]) == shown(turn.after)
    # The page has the position and the score of the record.
    expect(page.locator(".on-board")).to_have_attribute("data-state", str(service.night.snapshot().state))
    shows_scores(page, service)
    return None if asked is None else asked.kind
