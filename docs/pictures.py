"""Makes the pictures of README.md anew: a film of a first round, and the gallery.

``python docs/pictures.py`` starts the real service with a simulated igloo, opens its page in Chromium without a window
and taps as a person would. It writes into ``docs/pictures/`` (or the folder that is named): ``film.webp`` and the
screenshots of :data:`GALLERY`. What is drawn at random (cards, landscapes) differs each time, so look at what was made
before you commit it. It needs what ``make test`` installs.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

from PIL import Image, ImageDraw
from playwright.sync_api import Browser, Page, sync_playwright

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from companion.lab.bench.web import Running  # noqa: E402
from companion.rules import game  # noqa: E402

CHROMIUM = "/usr/bin/chromium-headless-shell"
PHONE, TABLET, TELEVISION = (390, 780), (1180, 820), (1920, 1080)
FILM_SIZE = (390, 700)
PLAYERS = (("red", "Ann"), ("green", "Ben"), ("blue", "Cleo"))
CARDS = ["5/6", "6/7", "8/9", "4/5", "10/11", "2/3", "9/10/11", "7/8", "3/4"]
LOOK_MS, TAP_MS, SHAKE_MS = 1000, 500, 250
FELT = ".igloo-panel p.motion"
"""What the hand does with the igloo, and all that the page says below it."""
DOT = 17
"""Radius of the dot that shows a tap, in pixels."""

GALLERY = {
    "round-phone": 300,
    "referee-phone": 300,
    "training-phone": 300,
    "board-phone": 300,
    "board-tablet": 640,
    "check-television": 640,
}
"""The screenshots, by the names of their files, and how many pixels wide they are kept."""


class Film:
    """Pictures of a page and how long each is shown; a tap is a dot on the picture before it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.pictures: list[tuple[Image.Image, int]] = []

    def look(self, milliseconds: int = LOOK_MS) -> None:
        """Keep the page as it is now."""
        self.pictures.append((picture_of(self.page), milliseconds))

    def tap(self, selector: str, after: int = TAP_MS, *, until: str = "") -> None:
        """Tap something, with a dot in the picture before and without one in the picture after, ``until`` it shows."""
        target = self.page.locator(selector).first
        target.scroll_into_view_if_needed()
        box = target.bounding_box()
        if box is None:
            raise LookupError(f"The page shows no {selector}.")
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        shown = picture_of(self.page)
        veil = Image.new("RGBA", shown.size)
        ImageDraw.Draw(veil).ellipse((x - DOT, y - DOT, x + DOT, y + DOT), fill=(230, 120, 20, 150), outline="white")
        self.pictures.append((Image.alpha_composite(shown.convert("RGBA"), veil).convert("RGB"), TAP_MS))
        target.click()
        self.page.wait_for_selector(".link-words[aria-busy=false]", state="attached")
        if until:
            self.page.wait_for_selector(until, state="attached")
        self.page.wait_for_timeout(350)
        self.page.evaluate("scrollTo(0, 0)")
        self.page.wait_for_timeout(150)
        self.look(after)

    def write(self, path: Path) -> None:
        """Write all pictures as one animated WebP."""
        images, times = zip(*self.pictures, strict=True)
        images[0].save(path, save_all=True, append_images=images[1:], duration=times, loop=0, quality=62, method=6)


def picture_of(page: Page) -> Image.Image:
    """Return a screenshot."""
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def keep(page: Page, path: Path) -> None:
    """Write a screenshot of :data:`GALLERY`, made small."""
    width = GALLERY[path.name]
    page.wait_for_timeout(600)
    shown = picture_of(page)
    height = round(shown.height * width / shown.width)
    shown.resize((width, height), Image.Resampling.LANCZOS).save(path.with_suffix(".webp"), quality=80, method=6)


@contextmanager
def host_page(browser: Browser, service: Running, size: tuple[int, int], *, dark: bool = False) -> Iterator[Page]:
    """Open the page as the host of the table, in an empty profile."""
    made = [sys.executable, "-m", "companion", "host", "--data", service.folder.name, "--json"]
    token = json.loads(subprocess.run(made, capture_output=True, text=True, check=True).stdout)["token"]
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if dark else "light",
        locale="en-GB",
        has_touch=size[0] < TABLET[0],
    )
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{service.port}/host/{token}")
    page.click("button.main")
    page.wait_for_selector("#stage > *")
    yield page
    context.close()


def heard(service: Running) -> None:
    """Wait until the simulated igloo has been found."""
    end = time.monotonic() + 60
    while not any(device.get("rate_hz") for device in asked(service, "/api/health")["devices"]):
        if time.monotonic() > end:
            raise LookupError("The simulated igloo was not found.")
        time.sleep(0.2)


def asked(service: Running, path: str) -> dict[str, Any]:
    """Return what the service answers the host."""
    answer: dict[str, Any] = json.loads(service.host.ask("GET", path)[1])
    return answer


def done(service: Running, command: str, body: dict[str, Any]) -> None:
    """Send a command that has to be accepted."""
    answer = service.do(command, body)
    if not answer["ok"]:
        raise ValueError(f"The service refused {command}: {answer}")


def simulate(service: Running, action: str, count: int | None = None) -> None:
    """Move the simulated igloo."""
    service.host.ask("POST", "/api/simulate", {"action": action, "count": count})


def scroll_to(page: Page, selector: str) -> None:
    """Bring something to the upper edge; what comes late above it moves it once more."""
    for _ in range(3):
        page.evaluate("(what) => scrollBy(0, document.querySelector(what).getBoundingClientRect().top - 12)", selector)
        page.wait_for_timeout(250)


def film(browser: Browser, service: Running, out: Path) -> None:
    """Film a first round of Igloo Pop: seats, shaking, placing, the check, and a shake that is counted."""
    with host_page(browser, service, FILM_SIZE) as page:
        shown = Film(page)
        shown.look()
        for colour, name in PLAYERS:
            page.fill(f"input[name=name-{colour}]", name)
        page.evaluate("document.activeElement.blur()")
        shown.look()
        shown.tap("form.setup button[type=submit]")
        shown.tap("[data-do=start]", LOOK_MS)

        # In a live round the page says that the igloo is shaken, and no more.
        page.click("details.igloo-panel > summary")
        scroll_to(page, FELT)
        simulate(service, "shake", 4)
        page.wait_for_selector(f"{FELT}[data-motion=shaken]")
        scroll_to(page, FELT)
        shown.look(2 * LOOK_MS)
        page.wait_for_selector(f"{FELT}:not([data-motion=shaken])")
        simulate(service, "set_down")
        page.evaluate("scrollTo(0, 0)")
        page.wait_for_timeout(600)
        for number, (colour, place) in enumerate((("red", "card1"), ("green", "card3"), ("blue", "card3"))):
            shown.tap(f".who[data-colour={colour}]", 150)
            shown.tap(f".card[data-place={place}]", until=f".iglet >> nth={number}")
        shown.tap("[data-do=check]")
        for right in (True, False, True):
            key = page.locator(f"[data-do=reveal]:enabled{'.printed' if right else ':not(.printed)'}").first
            key.wait_for()
            before = asked(service, "/api/health")["journal"]["state"]
            shown.tap(f"[data-do=reveal][data-number='{key.get_attribute('data-number')}']")
            # Until the page has heard of it the keys are still those of the igloo before.
            page.wait_for_function(
                "async (before) => (await (await fetch('/api/health')).json()).journal.state > before", arg=before
            )
        shown.look()
        scroll_to(page, ".results")
        shown.look(3 * LOOK_MS)

        # After the check the beads are counted.
        simulate(service, "shake", 4)
        page.wait_for_selector(".igloo-panel .wave .signal")
        scroll_to(page, FELT)
        while page.locator(f"{FELT}[data-motion=shaken]").count():
            shown.look(SHAKE_MS)
            page.wait_for_timeout(SHAKE_MS // 2)
        shown.look(4 * LOOK_MS)
        simulate(service, "set_down")
        shown.write(out / "film.webp")


def board_game(service: Running, game_id: str, colours: tuple[str, ...], moves: int, *, walk: bool = False) -> str:
    """Open a game on a board, drawn by the companion, and play so many legal moves.

    With ``walk`` they go on until something can go from place to place, and its place is returned.
    """
    service.state = None
    service.do("close-match", {})
    seats = [{"name": name, "colour": colour} for (_, name), colour in zip(PLAYERS, colours, strict=False)]
    done(service, "open-match", {"game": game_id, "players": seats})
    done(service, "deal", {})
    rng, rules = Random(3), game(game_id)  # noqa: S311 - the same game each time, as far as the set-up lets it
    for number in range(10 * moves):
        offered = asked(service, "/api/board?lang=en")["board"]["moves"]
        ways = [move["path"] for move in offered if len(move["path"]) == 2 and "=" not in "".join(move["path"])]
        if number >= moves and (len(ways) > 4 or not walk):
            return str(ways[0][0]) if walk else ""
        done(service, "moves", {"moves": [str(rules.parse(rng.choice(offered)["text"]))]})
    raise LookupError(f"Nothing of {game_id} could be moved.")


def touch(page: Page, place: str) -> None:
    """Tap a place of the drawn board."""
    page.locator(f".spot[data-place='{place}']").first.dispatch_event("click")


def ask_in_vain(page: Page, start: str) -> None:
    """Ask the referee whether something may go to one place and another, until it may not."""
    page.click(".on-board a[href='#referee']")
    page.wait_for_selector(".dispute-panel .spot")
    places = page.locator(".dispute-panel .spot").evaluate_all("(all) => all.map((one) => one.dataset.place)")
    for place in reversed(places):
        touch(page, start)
        touch(page, place)
        page.wait_for_timeout(300)
        if page.locator(".verdict.no svg .refused").count():
            return
    raise LookupError("The referee allowed everything.")


def gallery(browser: Browser, service: Running, out: Path) -> None:
    """Make the screenshots."""
    seats = [{"name": name, "colour": colour} for colour, name in PLAYERS]
    service.state = None
    service.do("close-match", {})
    done(service, "open-match", {"game": "igloo-pop", "players": seats, "setup": {"cards": CARDS}})
    placed = ("red card1", "blue card1", "green card4", "red card7", "blue card9")
    done(service, "moves", {"moves": ["start", *(f"place {one}" for one in placed)]})
    with host_page(browser, service, PHONE) as page:
        page.wait_for_selector(".iglet")
        keep(page, out / "round-phone")
    done(service, "check", {})
    done(service, "moves", {"moves": ["reveal card1 6", "reveal card1 9"]})
    with host_page(browser, service, TELEVISION, dark=True) as page:
        page.wait_for_selector("[data-do=reveal]")
        keep(page, out / "check-television")

    start = board_game(service, "iglu-iglu", ("red", "blue", "green"), 40, walk=True)
    with host_page(browser, service, TABLET) as page:
        page.wait_for_selector(".on-board[data-state]")
        touch(page, start)
        keep(page, out / "board-tablet")
    with host_page(browser, service, PHONE, dark=True) as page:
        ask_in_vain(page, start)
        scroll_to(page, ".verdict")
        keep(page, out / "referee-phone")
    board_game(service, "arctic", ("p1", "p2"), 15)
    with host_page(browser, service, PHONE, dark=True) as page:
        page.wait_for_selector(".on-board[data-state]")
        keep(page, out / "board-phone")
    with host_page(browser, service, PHONE) as page:
        page.goto(f"http://127.0.0.1:{service.port}/training#drill")
        page.fill("#newcomer", "Ann")
        page.click(".newcomer button")
        page.wait_for_selector(".numbers [data-count='7']")
        page.click(".numbers [data-count='7']")
        page.wait_for_selector(".truth-shown strong")
        page.evaluate("scrollTo(0, 0)")
        keep(page, out / "training-phone")


def main(out: Path = HERE / "pictures") -> None:
    """Make all pictures anew."""
    out.mkdir(parents=True, exist_ok=True)
    service = Running("--simulate")
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            heard(service)
            film(browser, service, out)
            gallery(browser, service, out)
            browser.close()
    finally:
        service.close()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
