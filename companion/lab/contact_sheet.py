"""Every room of the page on one sheet: phone, tablet and television, light and dark, in every language.

``python -m companion.lab.contact_sheet OUT.webp`` starts the real service with a simulated igloo, leads it through an
evening and looks at each room in Chromium without a window; ``make pictures`` runs it after the README's film and
gallery. A row is a room or a window over it, as the host, a player or somebody who watches has it; a column is a
device, theme and language. Behind so many rows another sheet begins (``OUT-2.webp``). It needs what ``make test``
installs.
"""

from __future__ import annotations

import argparse
import io
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urljoin

from PIL import Image, ImageDraw, ImageFont
from playwright.sync_api import Browser, Page, TimeoutError, sync_playwright

from companion.lab.bench.web import Running
from companion.lab.phone import Phone, serve_command
from companion.lab.worlds.boards import BOARDS, record
from companion.lab.worlds.evening import CARDS, MOVES, SEATS, SEED, SHAKEN, evening
from companion.rules.i18n import languages

CHROMIUM = "/usr/bin/chromium-headless-shell"
GAP, LABEL, HEAD = 8, 170, 40
ROWS = 24
"""So many rooms stand on one sheet: a picture in WebP has 16,383 rows of pixels at most."""
SETTLE_MS = 350
"""What fades in has come by then."""


@dataclass(frozen=True, slots=True)
class Screen:
    """A screen: its size in pixels of the page, and how many pixels wide it is on the sheet."""

    name: str
    width: int
    height: int
    shown: int

    @property
    def size(self) -> tuple[int, int]:
        """Return its size on the sheet."""
        return self.shown, round(self.height * self.shown / self.width)


DEVICES = (
    Screen("phone", 390, 844, 150),
    Screen("tablet", 820, 1180, 215),
    Screen("television", 1920, 1080, 400),
)


class MissingError(Exception):
    """A room, or the window over it, did not come."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: on which device, in which theme and language."""

    device: Screen
    dark: bool
    language: str


@dataclass(frozen=True, slots=True)
class Room:
    """One row: an address of the page, and what is there when it has come.

    ``taps``: what is tapped then, one after the other, and ``shown``: what that opens. ``who`` looks: "host", "player"
    or "watcher".
    """

    name: str
    address: str
    there: str
    taps: tuple[str, ...] = ()
    shown: str = ""
    who: str = "host"


WORKSHOP = ("igloo", "balance", "camera", "devices", "people", "rights", "backups")
TRAINING = ("drill", "duel", "progress", "ladder", "along")
IDLE = (
    Room("start", "/", ".tile"),
    Room("join", "/join", "#pin"),
    Room("learn the game", "/#learn", ".learn .board"),
    Room("score", "/#score", "[data-do=score-game]"),
    Room("score by photo", "/#photo", ".photo-room"),
    Room("referee", "/#referee", ".entry"),
    Room("a position by hand", "/#referee/hand", "[data-do=position-ask]"),
    *(Room(f"workshop: {part}", f"/#workshop/{part}", f"[data-key=part-{part}] > :not(.quiet)") for part in WORKSHOP),
    *(Room(f"training: {part}", f"/training#{part}", "#stage > :not(.quiet)") for part in TRAINING),
    Room("television, idle", "/tv", ".tv-invite"),
)
BESIDE = (
    *(Room(f"learn: {game}", f"/#learn/{game}", ".learn .board") for game in BOARDS),
    Room("nothing here", "/attic", "main"),
    Room("this phone", "/", ".tile", ("[data-do=who-am-i]",), "dialog[open]"),
    Room("invitation", "/", ".tile", ("[data-do=invite]",), "dialog[open] svg"),
    Room("settings", "/", ".tile", ("[data-do=settings]",), "dialog[open]"),
    Room("no game yet, who watches", "/", ".welcome", who="watcher"),
    Room("no game yet, a player", "/", ".welcome", who="player"),
)
"""What is not a room by itself, or not the host's."""
TABLE = Room("table", "/", ".play")
TELEVISION = Room("television", "/tv", "#board svg")
DISPUTE = Room("dispute", "/#referee", "[data-key=dispute]")
ALBUM = Room("album", "/#album", ".album-game")
ON_BOARD = (
    Room("what can be done", "/", ".on-board", ("[data-do=may]",), "dialog[open] .may-kind"),
    Room("turn clock", "/", ".on-board", ("details.menu summary", "[data-do=clock]"), "dialog[open] [data-minutes]"),
    Room("passed on", "/", ".on-board", ("[data-do=pass-round]",), ".pass-on"),
    Room("who watches", "/", ".on-board", who="watcher"),
    Room("a player", "/", ".on-board", who="player"),
)
"""What lies over a game on a board, and how others have it."""
ENDED = (TABLE, TELEVISION, Room("share", "/", ".ending", ("[data-do=share]",), "dialog[open] .result-picture"))


def named(what: str, *rooms: Room) -> tuple[Room, ...]:
    """Return rooms under the name of what is played in them."""
    return tuple(replace(room, name=f"{what}: {room.name}") for room in rooms)


def done(service: Running, command: str, body: dict[str, Any]) -> None:
    """Send a command that has to be accepted."""
    answer = service.do(command, body)
    if not answer["ok"]:
        raise ValueError(f"The service refused {command}: {answer}")


@contextmanager
def certificate() -> Iterator[Room]:
    """Serve under TLS, too, which the other service does not; yield where a phone installs the certificate of that."""
    with TemporaryDirectory(prefix="companion-sheet-") as folder:
        line = [*serve_command(), "--data", folder, "--tls", "--tls-port", "0"]
        with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            try:
                said = map(str.strip, process.stdout or ())
                yield Room("certificate", next(word for word in said if word.endswith("/trust")), "main")
            finally:
                process.terminate()


def stages(service: Running, *more: Room) -> Iterator[tuple[Room, ...]]:
    """Lead the service through an evening, its last game to the end; yield the rooms to be looked at as it stands."""
    yield (*IDLE, *BESIDE, *more, Room("host", service.link, "button.main", who="watcher"))
    opening = {"game": SHAKEN, "players": SEATS, "draw": False}
    for what, setup in (("cards to be named", {}), ("cards that were named", {"cards": CARDS})):
        done(service, "open-match", {**opening, "setup": setup})
        yield named(what, TABLE)
        done(service, "close-match", {})
    for what, commands in evening():
        for command, body in commands:
            done(service, command, body)
        yield named(what, TABLE, TELEVISION, DISPUTE)
    last = BOARDS[-1]
    yield named(last, *ON_BOARD)
    for text in record(last, SEED)[MOVES:]:
        done(service, "moves", {"moves": [text]})
    yield (*named("end on a board", *ENDED), ALBUM)


def shot(page: Page, origin: str, room: Room) -> Image.Image:
    """Return what a room looks like.

    :raises MissingError: what should be there did not come.
    """
    page.goto("about:blank")
    page.goto(urljoin(origin, room.address))
    try:
        page.wait_for_selector(room.there, state="attached")
        opened(page, room)
    except TimeoutError as error:
        raise MissingError(str(error).partition("\n")[0]) from error
    page.wait_for_timeout(SETTLE_MS)
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    if room.taps:
        # What was said on this phone is said for this picture only.
        page.evaluate("() => localStorage.clear()")
    return picture


def opened(page: Page, room: Room) -> None:
    """Tap what opens a window over a room, where there is one."""
    for tap in room.taps:
        page.locator(tap).first.click()
    if room.shown:
        page.wait_for_selector(room.shown)


def looked_at(
    browser: Browser, service: Running, looks: Sequence[Column], wanted: Callable[[Room], bool], *more: Room
) -> Iterator[tuple[Room, Column, Image.Image | None]]:
    """Yield every room that is ``wanted`` as every look has it; what did not come is said, and has no picture.

    ``more``: rooms elsewhere.
    """
    origin = f"http://127.0.0.1:{service.port}"
    cookies = {"host": service.host.cookie, "player": _joined(service), "watcher": ""}
    for rooms in stages(service, *more):
        some = [room for room in rooms if wanted(room)]
        for look, who in ((look, who) for look in looks for who in cookies):
            if not any(room.who == who for room in some):
                continue
            device = look.device
            context = browser.new_context(
                viewport={"width": device.width, "height": device.height},
                color_scheme="dark" if look.dark else "light",
                locale=look.language,
                has_touch=device.width < 1000,
            )
            name, given, value = cookies[who].partition("=")
            if given:
                context.add_cookies([{"name": name, "value": value, "url": origin}])
            page = context.new_page()
            for room in (room for room in some if room.who == who):
                try:
                    picture = shot(page, origin, room)
                except MissingError as error:
                    sys.stderr.write(f"{room.name}, {device.name}, {look.language}: {error}\n")
                    yield room, look, None
                else:
                    yield room, look, picture.resize(device.size, Image.Resampling.LANCZOS)
            context.close()


def _joined(service: Running) -> str:
    """Return the cookie of a phone that has joined with the PIN."""
    phone = Phone(service.port, 1)
    phone.ask("POST", "/api/join", {"pin": json.loads(service.host.ask("GET", "/api/table")[1])["pin"]})
    return phone.cookie


def laid_out(looks: Sequence[Column], cells: dict[tuple[str, Column], Image.Image | None]) -> Image.Image:
    """Return a sheet: a row for each room, in the order in which they came; red is what did not come."""
    rooms = list(dict.fromkeys(name for name, _ in cells))
    lefts = [LABEL + sum(look.device.shown + GAP for look in looks[:n]) for n in range(len(looks))]
    high = max(look.device.size[1] for look in looks) + GAP
    width = lefts[-1] + looks[-1].device.shown + GAP
    sheet = Image.new("RGB", (width, HEAD + high * len(rooms)), "#8a97a1")
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(15)
    for left, look in zip(lefts, looks, strict=True):
        words = f"{look.device.name}\n{look.language}, {'dark' if look.dark else 'light'}"
        pen.text((left, 2), words, fill="white", font=font)
    for row, name in enumerate(rooms):
        top = HEAD + row * high
        pen.text((GAP, top), name.replace(": ", ":\n"), fill="white", font=font)
        for left, look in zip(lefts, looks, strict=True):
            sheet.paste(cells[name, look] or Image.new("RGB", look.device.size, "red"), (left, top))
    return sheet


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the sheet."""
    parser = argparse.ArgumentParser(prog="python -m companion.lab.contact_sheet", description=__doc__)
    parser.add_argument(
        "out",
        type=Path,
        metavar="OUT",
        help="the picture to write (.webp, .png); with more rooms than fit, others beside it",
    )
    parser.add_argument("--language", action="append", help="only this language; may be said again")
    parser.add_argument("--room", action="append", help="only rooms with this in their name; may be said again")
    parser.add_argument(
        "--device",
        action="append",
        choices=[device.name for device in DEVICES],
        help="only this device; may be said again",
    )
    asked = parser.parse_args(arguments)
    looks = [
        Column(device, dark, language)
        for language in asked.language or languages()
        for dark in (False, True)
        for device in DEVICES
        if device.name in (asked.device or [device.name])
    ]
    service = Running("--simulate")
    cells: dict[tuple[str, Column], Image.Image | None] = {}
    try:
        with sync_playwright() as playwright, certificate() as trust:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            wanted = asked.room
            for room, look, picture in looked_at(
                browser, service, looks, lambda room: not wanted or any(one in room.name for one in wanted), trust
            ):
                cells[room.name, look] = picture
            browser.close()
    finally:
        service.close()
    if not cells:
        parser.error("No room is called so.")
    rooms = list(dict.fromkeys(name for name, _ in cells))
    for number, first in enumerate(range(0, len(rooms), ROWS), 1):
        here = rooms[first : first + ROWS]
        sheet = laid_out(looks, {at: picture for at, picture in cells.items() if at[0] in here})
        out = asked.out if number == 1 else asked.out.with_stem(f"{asked.out.stem}-{number}")
        sheet.save(out, quality=80)
    return int(None in cells.values())


if __name__ == "__main__":
    sys.exit(main())
