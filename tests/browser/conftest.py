"""Debian's Chromium without a window against the real server, reached over plain HTTP by a LAN name, not localhost."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, TimeoutError, expect, sync_playwright

from tests.browser.painted import faint
from tests.web.assembly import NAME, Service, served

CHROMIUM = "/usr/bin/chromium-headless-shell"
ARGUMENTS = ["--no-sandbox", "--disable-background-networking", f"--host-resolver-rules=MAP {NAME} 127.0.0.1"]
PATIENCE_MS = 60_000
"""So long that only what never comes takes so long, however busy the machine is."""
LISTEN_MS = 200


HEARD = """(() => {
  window.heard = [];
  const { json } = Response.prototype;
  Response.prototype.json = async function () {
    const told = await json.call(this);
    // A task of its own comes behind all that the page makes of it at once.
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => heard.push([this.url, told]);
    port2.postMessage(null);
    return told;
  };
})()"""
"""Has a page keep, as `heard`, the address and the data of each answer that it has taken up."""


@contextmanager
def taken_up(page: Page, part: str) -> Iterator[None]:
    """Do what asks the service at an address with ``part``; go on when the page has drawn what it was answered."""
    known = "([part, n]) => heard.filter(([url]) => url.includes(part)).length > n"
    before = page.evaluate("(part) => heard.filter(([url]) => url.includes(part)).length", part)
    with page.expect_response(lambda response: part in response.url):
        yield
    page.wait_for_function(known, arg=[part, before])


def sent(page: Page) -> None:
    """Wait until the service has answered what was tapped; a tap that sends says so in the moment it is made."""
    page.wait_for_function("() => !document.querySelector('.link-words[aria-busy=true]')")


def unfold(page: Page) -> None:
    """Unfold what the igloo feels and counts from the dot that says that it is ready."""
    page.click("details.igloo-panel:not([open]) > summary")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # Not measured for coverage: the service in this process would be a third slower, and the API's tests reach it too.
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.no_cover)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        expect.set_options(timeout=PATIENCE_MS)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with served(tmp_path / "data") as service:
        yield service


class Phones:
    """Opens pages, each in an empty profile of its own, and hears every complaint of the browser."""

    def __init__(self, browser: Browser, service: Service, *, crossed: bool = False, shots: str | None = None) -> None:
        self._browser, self._service = browser, service
        self._crossed, self._shots = crossed, shots
        self._pages: list[Page] = []
        self._forgiven: tuple[str, ...] = ()
        self.complaints: list[str] = []

    def guest(
        self, *, width: int = 390, height: int = 844, dark: bool = False, language: str = "en-GB", **more: Any
    ) -> Page:
        """Return a page with nothing opened yet."""
        context = self._browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark != self._crossed else "light",
            locale=language,
            has_touch=width < 1000,
            **more,
        )
        context.add_init_script(HEARD)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("pageerror", lambda error: self.complaints.append(f"{error}\n{error.stack}"))
        page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        self._pages.append(page)
        return page

    def host(self, **how: Any) -> Page:
        """Return a page that came by a host link."""
        page = self.guest(**how)
        page.goto(self._service.host_link())
        page.click("button.main")
        page.wait_for_selector("#stage > *")
        return page

    def player(self, **how: Any) -> Page:
        """Return a page that came with the PIN."""
        page = self.guest(**how)
        page.goto(f"{self._service.url}/join#{self._service.companion.access.pin}")
        page.click("#enter")
        page.wait_for_selector("#stage > *")
        return page

    def spectator(self, **how: Any) -> Page:
        """Return a page that only watches."""
        page = self.guest(**how)
        page.goto(self._service.url)
        page.wait_for_selector("#stage > *")
        return page

    def shot(self, page: Page, name: str, *, full: bool = False) -> None:
        """Keep a screenshot, where people asked for them."""
        if self._shots:
            page.screenshot(path=Path(self._shots) / f"{name}.png", full_page=full)

    def forgive(self, *parts: str) -> None:
        """Forget the complaints that a test provoked, each kind of which has to come.

        Chromium tells of a failed request after the page may long have shown it: what has not been said yet is
        waited for here, and what of its kind is said still later is forgotten when the pages close.
        """
        for part in parts:
            until = time.monotonic() + PATIENCE_MS / 1000
            while not any(part in said for said in self.complaints):
                assert time.monotonic() < until, f"nothing was said of {part}"
                # While one page is listened to, what the others complain of is heard, too.
                with suppress(TimeoutError):
                    listened = next(page for page in self._pages if not page.is_closed())
                    listened.wait_for_event("console", timeout=LISTEN_MS)
        self.overlook(*parts)

    def overlook(self, *parts: str) -> None:
        """Forget complaints that may come or not: how a request fails is chance where the network goes away."""
        self._forgiven += parts
        self._forget()

    def close(self) -> None:
        for page in self._pages:
            page.context.close()
        self._forget()

    def _forget(self) -> None:
        self.complaints = [said for said in self.complaints if not any(part in said for part in self._forgiven)]


def refused_marks(verdict: Locator, legal: bool) -> None:
    """Expect that what was refused is marked once, and nothing that was not.

    Where a table is folded, a mark beside the fold is in the rows on both sides of it, cut to each: it counts where its
    middle is.
    """
    marks = verdict.locator("svg .refused")
    expect(marks).to_have_count(0) if legal else expect(marks.first).to_be_attached()
    seen = marks.evaluate_all("""(all) => all.filter((one) => {
      const [mark, row] = [one, one.ownerSVGElement].map((node) => node.getBoundingClientRect());
      const [x, y] = [mark.left + mark.width / 2, mark.top + mark.height / 2];
      return x >= row.left && x <= row.right && y >= row.top && y <= row.bottom;
    }).length""")
    assert seen == (0 if legal else 1)


@pytest.fixture
def crossed(request: pytest.FixtureRequest) -> bool:
    """Whether what is tested light is tested dark and the other way round, as `make test-long` does with colours.

    What it tries once more in another size anyway is tried in the other theme then.
    """
    again = request.config.getoption("--long") and {"sized", "colours"} <= {m.name for m in request.node.iter_markers()}
    return bool(request.config.getoption("--crossed") or again)


@pytest.fixture
def phones(chromium: Browser, service: Service, crossed: bool, pytestconfig: pytest.Config) -> Iterator[Phones]:
    expect.set_options(timeout=PATIENCE_MS)
    phones = Phones(chromium, service, crossed=crossed, shots=pytestconfig.getoption("--shots"))
    yield phones
    phones.close()
    assert phones.complaints == []


@pytest.fixture(scope="session")
def axe() -> Callable[[Page], list[str]]:
    """Return what finds the barriers on a page: a line each, none when there are none."""
    source = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")

    def find(page: Page) -> list[str]:
        page.evaluate(source)
        # Fades would be measured half way.
        page.evaluate("() => document.getAnimations().forEach((one) => one.finish())")
        found = page.evaluate("() => axe.run(document, {resultTypes: ['violations', 'incomplete']})")
        unsure = [(rule, node) for rule in found["incomplete"] for node in rule["nodes"]]
        colours = [node["target"][0] for rule, node in unsure if rule["id"] == "color-contrast"]
        low = faint(page, colours) if colours else {}
        lines = [
            f"{rule['id']}: {node['html'][:160]} {node.get('failureSummary')}"
            for rule in found["violations"]
            for node in rule["nodes"]
        ]
        for rule, node in unsure:
            if rule["id"] == "color-contrast":
                ratio = low.get(node["target"][0])
                if ratio is not None:
                    lines.append(f"painted with a contrast of {ratio:.2f}: {node['html'][:160]}")
            elif not known(rule, node):
                lines.append(f"{rule['id']}, undecided: {node['html'][:160]} {node.get('failureSummary')}")
        return lines

    return find


UNDECIDED = {
    "label-content-name-mismatch": {
        None: "a letter or a number on a piece is no word to axe; test_score holds that it is a part of the name",
    },
}
"""What axe cannot decide by itself, by rule and by the reason that it gives, and why it is in order here."""


def known(rule: dict[str, Any], node: dict[str, Any]) -> bool:
    """Return whether every reason for which axe is not sure of a node is one that was looked at."""
    told = [check.get("data") for check in (*node["any"], *node["all"], *node["none"])]
    reasons = [one.get("messageKey") if isinstance(one, dict) else None for one in told]
    return bool(reasons) and all(reason in UNDECIDED.get(rule["id"], {}) for reason in reasons)
