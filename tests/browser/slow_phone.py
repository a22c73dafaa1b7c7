"""How quick the page is on a slow phone, in Chromium slowed six times; `python -m tests.browser.slow_phone` prints it.

First paint is the browser's own (Paint Timing), of a phone that has nothing of the page yet. What a tap takes is from
the finger's leaving until what it led to is painted: a place that is chosen, or, where the tap plays a move, the board
that the service answered with; and, beside it, until the rest of the page is painted too (the log, the scores). Motion
is reduced, as the settings of a phone may ask. The service and the browser share this machine, and nothing slows the
network.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Page, sync_playwright

from companion.lab.worlds.boards import BOARDS, players
from tests.browser.conftest import ARGUMENTS, CHROMIUM, PATIENCE_MS, Phones, sent
from tests.browser.taps import played
from tests.web.assembly import Service, served
from tests.worlds.wait import wait

SLOWER = 6
OPENED = 5
"""How often each page is opened by a phone that does not know it."""
MOVES = 30
"""How many moves of each game are tapped, from its first turn."""

WATCH = """() => {
  window.painted = [];
  const told = new MutationObserver((records) => {
    // That something is on its way is not to be seen.
    if (records.every((one) => one.attributeName === "aria-busy")) return;
    requestAnimationFrame(() => {
      const { state } = document.querySelector(".on-board .sheet-of-board").dataset;
      const channel = new MessageChannel();
      channel.port1.onmessage = () => window.painted.push({ at: performance.now(), state });
      channel.port2.postMessage(null);
    });
  });
  told.observe(document.body, {
    subtree: true, childList: true, attributes: true, characterData: true });
  addEventListener("pointerup", (event) => { window.tapped = event.timeStamp; window.painted = []; }, true);
}"""


def slowed(page: Page) -> None:
    """Have a page's processor be so much slower."""
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})


def first_paint_ms(phones: Phones, address: str) -> float:
    """Return when a phone that opens an address for the first time sees something."""
    page = phones.guest(reduced_motion="reduce")
    slowed(page)
    page.goto(address)
    paints = "performance.getEntriesByName('first-contentful-paint')"
    page.wait_for_function(f"() => {paints}.length > 0")
    found = page.evaluate(f"() => {paints}[0].startTime")
    page.context.close()
    return float(found)


class SlowFinger:
    """Taps moves with a real pointer, and notes what each tap took."""

    def __init__(self, page: Page, service: Service) -> None:
        self.page, self.service = page, service
        self.chosen: list[float] = []
        self.played: list[float] = []
        self.whole: list[float] = []

    def caught_up(self) -> bool:
        """Return whether the page shows the board as it is now."""
        shown = self.page.evaluate("() => document.querySelector('.on-board')?.dataset.state")
        return bool(shown == str(self.service.companion.night.state))

    def tap(self, selector: str) -> bool:
        """Tap; return whether that played a move."""
        before = self.service.companion.night.state
        self.page.locator(selector).first.click()
        self.page.wait_for_function("() => window.painted.length > 0")
        sent(self.page)
        wait(self.caught_up)
        # Two more frames: what was changed last is painted then.
        self.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        state = self.service.companion.night.state
        if state == before:
            self.chosen.append(self.page.evaluate("() => window.painted.at(-1).at - window.tapped"))
            return False
        first = "(now) => window.painted.find(({ state }) => state === now).at - window.tapped"
        self.played.append(self.page.evaluate(first, str(state)))
        self.whole.append(self.page.evaluate("() => window.painted.at(-1).at - window.tapped"))
        return True

    def play(self, text: str) -> None:
        """Tap a move, its places first."""
        found = self.service.companion.night.board(None, "en")
        assert found is not None
        move = next(one for one in found["moves"] if one["text"] == text)
        if move["path"] and self.page.locator(f".spot.picked:not([data-place='{move['path'][0]}'])").count():
            self.tap("[data-do=back]")
        for step in move["path"]:
            at = f"[data-do=tap][data-place='{step}']"
            if self.page.locator(f".spot.picked[data-place='{step}']").count() == 0 and self.tap(at):
                return
        self.tap(f".dock [data-move='{text}']")


def told(name: str, took: list[float]) -> str:
    """Return a line: the median, the 95 % and the slowest, in milliseconds."""
    ordered = sorted(took)
    most = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    median, slowest = statistics.median(ordered), ordered[-1]
    return f"{name}: {len(ordered)} times, median {median:.0f} ms, 95 % {most:.0f}, slowest {slowest:.0f}"


def measured(phones: Phones, service: Service, game_id: str) -> list[str]:
    """Return the lines of a game whose first moves are tapped."""
    service.companion.open_match(game=game_id, players=players(game_id), setup={})
    steps = played(game_id, 11)
    first = next(number for number, step in enumerate(steps) if not step["setup"])
    service.companion.moves(*(step["text"] for step in steps[:first]))
    page = phones.player(reduced_motion="reduce")
    page.set_default_timeout(4 * PATIENCE_MS)
    slowed(page)
    page.wait_for_selector(".on-board[data-state]")
    page.evaluate(WATCH)
    finger = SlowFinger(page, service)
    for step in steps[first : first + MOVES]:
        wait(finger.caught_up)
        finger.play(step["text"])
    page.context.close()
    opened = [first_paint_ms(phones, service.url) for _ in range(OPENED)]
    found = {
        "first paint": opened,
        "a place chosen until it is painted": finger.chosen,
        "a move played until its board is painted": finger.played,
        "a move played until all is painted": finger.whole,
    }
    return [told(f"{game_id}, {what}", took) for what, took in found.items() if took]


def main() -> None:
    """Print what pages and taps take."""
    lines = [f"processor slowed {SLOWER} times"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        for game_id in ("", *BOARDS):
            with TemporaryDirectory(prefix="companion-slow-") as folder, served(Path(folder)) as service:
                phones = Phones(browser, service)
                if game_id:
                    lines += measured(phones, service, game_id)
                else:
                    opened = [first_paint_ms(phones, service.url) for _ in range(OPENED)]
                    lines.append(told("start page, first paint", opened))
        browser.close()
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
