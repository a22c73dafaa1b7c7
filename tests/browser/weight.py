"""What a page brings over the wire, as the browser tells it."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.worlds.wait import wait

QUIET = "() => new Promise((done) => requestIdleCallback(() => done(null), {timeout: 2000}))"
"""What came was taken up: whatever a page asks for because of it has been asked for."""


class Scales:
    """Weighs what comes to a page from now on: packed, with headers; the stream has no end and no weight."""

    def __init__(self, page: Page, *, cold: bool) -> None:
        self._page = page
        self._asked: dict[str, str] = {}
        self._ended: set[str] = set()
        self._weights: dict[str, float] = {}
        page.goto("about:blank")  # what the page before still waits for is given up, and not counted
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.send("Network.setCacheDisabled", {"cacheDisabled": cold})
        session.on("Network.requestWillBeSent", lambda told: self._begun(told["requestId"], told["request"]["url"]))
        session.on("Network.loadingFailed", lambda told: self._over(told["requestId"], 0.0))
        session.on("Network.loadingFinished", lambda told: self._over(told["requestId"], told["encodedDataLength"]))

    def _begun(self, one: str, url: str) -> None:
        self._asked[one] = url

    def _over(self, one: str, weight: float) -> None:
        self._ended.add(one)
        self._weights[one] = weight

    def on_the_way(self) -> list[str]:
        """Return what was asked for and has not come yet: all but the stream."""
        self._page.evaluate(QUIET)  # what the browser tells is heard while it is asked something
        return [url for one, url in self._asked.items() if one not in self._ended and "/api/events" not in url]

    def all_come(self) -> None:
        """Wait until nothing is on the way."""
        wait(lambda: not self.on_the_way() and not self.on_the_way(), seen=self.on_the_way)

    def begin(self) -> None:
        """Forget what came up to now."""
        self.all_come()
        self._weights.clear()
        self._asked.clear()

    @property
    def addresses(self) -> list[str]:
        """What was asked for."""
        return [*self._asked.values()]

    def weight(self) -> float:
        """Return what came, in bytes."""
        self.all_come()
        return sum(self._weights.values())

    def list(self) -> list[tuple[str, float]]:
        """Return what came, the heaviest first."""
        named = [(self._asked.get(one, one), weight) for one, weight in self._weights.items()]
        return sorted(named, key=lambda one: -one[1])
