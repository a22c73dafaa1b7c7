"""Every room of the page on one sheet: phone, tablet and television, light and dark, in every language.

``python -m companion.lab.contact_sheet OUT.webp`` starts the real service with a simulated igloo, leads it through an
evening and looks at each room in Chromium without a window; ``make pictures`` runs it after the README's film and
gallery. A row is a room, a column a device, theme and language. It needs what ``make test`` installs.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont
from playwright.sync_api import Browser, Page, sync_playwright

from companion.lab.bench.web import Running
from companion.lab.worlds.evening import evening
from companion.rules.i18n import languages

CHROMIUM = "/usr/bin/chromium-headless-shell"
GAP, LABEL, HEAD = 8, 170, 40
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


@dataclass(frozen=True, slots=True)
class Column:
    """One column: on which device, in which theme and language."""

    device: Screen
    dark: bool
    language: str


@dataclass(frozen=True, slots=True)
class Room:
    """One row: an address of the page, and what is there when it has come."""

    name: str
    address: str
    there: str


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
    *(Room(f"training: {part}", f"/training#{part}", "#stage > *") for part in TRAINING),
    Room("television, idle", "/tv", ".tv-invite"),
)
TABLE = Room("table", "/", ".play")
TELEVISION = Room("television", "/tv", "#board svg")
DISPUTE = Room("dispute", "/#referee", "[data-key=dispute]")
ALBUM = Room("album", "/#album", ".album-game")


def named(what: str, *rooms: Room) -> tuple[Room, ...]:
    """Return rooms under the name of what is played in them."""
    return tuple(Room(f"{what}: {room.name}", room.address, room.there) for room in rooms)


def done(service: Running, command: str, body: dict[str, Any]) -> None:
    """Send a command that has to be accepted."""
    answer = service.do(command, body)
    if not answer["ok"]:
        raise ValueError(f"The service refused {command}: {answer}")


def stages(service: Running) -> Iterator[tuple[Room, ...]]:
    """Lead the service through an evening; yield the rooms to be looked at as it stands."""
    yield IDLE
    for what, commands in evening():
        for command, body in commands:
            done(service, command, body)
        yield named(what, TABLE, TELEVISION, DISPUTE)
    yield (ALBUM,)


def shot(page: Page, origin: str, room: Room) -> Image.Image:
    """Return what a room looks like."""
    page.goto(f"{origin}{room.address}")
    page.wait_for_selector(room.there, state="attached")
    page.wait_for_timeout(SETTLE_MS)
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def looked_at(
    browser: Browser, service: Running, looks: Sequence[Column], wanted: Callable[[Room], bool]
) -> Iterator[tuple[Room, Column, Image.Image]]:
    """Yield every room that is ``wanted`` as every look has it."""
    origin = f"http://127.0.0.1:{service.port}"
    name, _, value = service.host.cookie.partition("=")
    for rooms in stages(service):
        some = [room for room in rooms if wanted(room)]
        for look in looks if some else ():
            device = look.device
            context = browser.new_context(
                viewport={"width": device.width, "height": device.height},
                color_scheme="dark" if look.dark else "light",
                locale=look.language,
                has_touch=device.width < 1000,
            )
            context.add_cookies([{"name": name, "value": value, "url": origin}])
            page = context.new_page()
            for room in some:
                yield room, look, shot(page, origin, room).resize(device.size, Image.Resampling.LANCZOS)
            context.close()


def laid_out(looks: Sequence[Column], cells: dict[tuple[str, Column], Image.Image]) -> Image.Image:
    """Return the sheet: a row for each room, in the order in which they came."""
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
            sheet.paste(cells[name, look], (left, top))
    return sheet


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the sheet."""
    parser = argparse.ArgumentParser(prog="python -m companion.lab.contact_sheet", description=__doc__)
    parser.add_argument("out", type=Path, metavar="OUT", help="the picture to write (.webp, .png)")
    parser.add_argument("--language", action="append", help="only this language; may be said again")
    parser.add_argument("--room", action="append", help="only rooms with this in their name; may be said again")
    asked = parser.parse_args(arguments)
    looks = [
        Column(device, dark, language)
        for language in asked.language or languages()
        for dark in (False, True)
        for device in DEVICES
    ]
    service = Running("--simulate")
    cells: dict[tuple[str, Column], Image.Image] = {}
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            wanted = asked.room
            for room, look, picture in looked_at(
                browser, service, looks, lambda room: not wanted or any(one in room.name for one in wanted)
            ):
                cells[room.name, look] = picture
            browser.close()
    finally:
        service.close()
    if not cells:
        parser.error("No room is called so.")
    laid_out(looks, cells).save(asked.out, quality=80)
    return 0


if __name__ == "__main__":
    sys.exit(main())
