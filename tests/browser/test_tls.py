"""The page over TLS in Chromium: what a browser gives to it that it gives to no plain page."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from playwright.sync_api import Browser, Page, expect

from companion.access.authority import FOLDER
from tests.browser.conftest import ARGUMENTS, CHROMIUM, PATIENCE_MS
from tests.browser.test_look import overflow
from tests.web.secured import Secured

pytestmark = pytest.mark.browser

HIDDEN = """
  Object.defineProperty(document, "hidden", { get: () => window.away === true });
  window.told = [];
  window.Notification = class {
    static permission = "default";
    static requestPermission() { this.permission = "granted"; return Promise.resolve("granted"); }
    constructor(title, options) {
      if (window.workersOnly) throw new TypeError("Illegal constructor");
      window.told.push(options.body);
    }
  };
  ServiceWorker.prototype.postMessage = (message) => window.told.push(`worker: ${message.options.body}`);
"""
"""A window that nobody sees, and notifications: a Chromium without windows has neither. All else is its own."""


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Secured]:
    found = Secured(tmp_path / "data")
    yield found
    found.close()


@pytest.fixture
def phone(chromium: Browser, house: Secured, tmp_path: Path) -> Iterator[Page]:
    """A browser of its own that takes this house's certificate, and no other, for one that it trusts."""
    leaf = x509.load_pem_x509_certificate((tmp_path / "data" / FOLDER / "server.pem").read_bytes())
    key = leaf.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    trusted = base64.b64encode(hashlib.sha256(key).digest()).decode()
    context = chromium.browser_type.launch_persistent_context(
        tmp_path / "profile",
        executable_path=CHROMIUM,
        args=[*ARGUMENTS, f"--ignore-certificate-errors-spki-list={trusted}"],
        locale="en-GB",
        viewport={"width": 390, "height": 844},
    )
    context.add_init_script(HIDDEN)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    wake = {"permissions": ["wakeLockScreen"], "origin": f"https://127.0.0.1:{house.server.port}"}
    context.new_cdp_session(page).send("Browser.grantPermissions", wake)
    yield page
    context.close()


def test_a_phone_is_led_to_the_certificate_and_from_there_to_the_table(phone: Page, house: Secured) -> None:
    phone.goto(f"http://127.0.0.1:{house.plain.port}/")
    expect(phone.locator("h1")).to_have_text("Trust this table")
    assert phone.url.endswith("/trust")
    phone.wait_for_function("() => document.querySelector('.code').naturalWidth > 0")
    with phone.expect_download() as told:
        phone.click("a[download]")
    assert Path(told.value.path()).read_bytes() == house.authority.root
    phone.click("#to-table")
    phone.wait_for_selector("#stage > *")
    assert phone.url.startswith(f"https://127.0.0.1:{house.server.port}/")
    assert phone.evaluate("isSecureContext")


@pytest.mark.long
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("language", ["en-GB", "fr-FR", "de-DE"])
def test_the_way_to_the_certificate_has_no_barrier(
    chromium: Browser, house: Secured, axe: Callable[[Page], list[str]], language: str, dark: bool
) -> None:
    context = chromium.new_context(locale=language, color_scheme="dark" if dark else "light")
    page = context.new_page()
    for width in (320, 1024, 3840):
        page.set_viewport_size({"width": width, "height": 768})
        page.goto(f"http://127.0.0.1:{house.plain.port}/trust")
        assert page.evaluate("document.documentElement.lang") == language[:2]
        assert axe(page) == []
        assert overflow(page) == []
        # Another phone reads the code off the screen: dark on white, by day and by night.
        seen = cv2.imdecode(np.frombuffer(page.locator("img.code").screenshot(), np.uint8), cv2.IMREAD_GRAYSCALE)
        assert seen is not None
        # One address in some thousand is a code that one of the two ways to read it does not make out.
        ways = (cv2.QRCodeDetector(), cv2.QRCodeDetectorAruco())
        assert page.url in [way.detectAndDecode(seen)[0] for way in ways]
        assert float(np.median(seen)) == 255
    context.close()


def test_this_phone_stays_awake_and_is_told_while_it_is_hidden(phone: Page, house: Secured) -> None:
    house.companion.open_match()
    phone.goto(f"https://127.0.0.1:{house.server.port}/join#{house.companion.access.pin}")
    phone.click("#enter")
    phone.click("[data-do=who-am-i]")
    awake, notify = phone.locator("[data-what=awake]"), phone.locator("[data-what=notify]")
    expect(notify).to_have_attribute("aria-pressed", "false")
    notify.click()
    expect(notify).to_have_attribute("aria-pressed", "true")
    awake.click()
    expect(awake).to_have_attribute("aria-pressed", "true")
    # It is let go of when nobody looks, and comes back by itself.
    phone.evaluate("() => { window.away = true; document.dispatchEvent(new Event('visibilitychange')); }")
    expect(awake).to_have_attribute("aria-pressed", "false")
    house.companion.moves("start")
    phone.wait_for_function("() => window.told.length > 0")
    assert phone.evaluate("window.told") == ["A round has begun: shake!"]
    phone.evaluate("() => { window.away = false; document.dispatchEvent(new Event('visibilitychange')); }")
    expect(awake).to_have_attribute("aria-pressed", "true")
    # Once more means no.
    awake.click()
    expect(awake).to_have_attribute("aria-pressed", "false")
    notify.click()
    expect(notify).to_have_attribute("aria-pressed", "false")


def test_where_a_browser_knows_only_a_workers_notifications(phone: Page, house: Secured) -> None:
    phone.add_init_script("window.workersOnly = true")
    house.companion.open_match()
    phone.goto(f"https://127.0.0.1:{house.server.port}/")
    phone.click("[data-do=who-am-i]")
    phone.click("[data-what=notify]")
    expect(phone.locator("[data-what=notify]")).to_have_attribute("aria-pressed", "true")
    active = "(await navigator.serviceWorker.getRegistrations()).some((one) => one.active?.state === 'activated')"
    phone.wait_for_function(f"async () => {active}")
    phone.evaluate("() => { window.away = true; }")
    house.companion.moves("start")
    phone.wait_for_function("() => window.told.length > 0")
    assert phone.evaluate("window.told") == ["worker: A round has begun: shake!"]


def test_the_browser_finds_what_it_needs_for_the_home_screen(phone: Page, house: Secured) -> None:
    phone.goto(f"https://127.0.0.1:{house.server.port}/")
    phone.wait_for_selector("#stage > *")
    manifest = phone.context.new_cdp_session(phone).send("Page.getAppManifest")
    assert manifest["url"].endswith("/manifest.webmanifest") and manifest["errors"] == []
    assert '"standalone"' in manifest["data"]


def test_a_plain_page_has_a_name_and_a_picture_for_the_home_screen_of_any_phone(phones: Any, service: Any) -> None:
    service.companion.settings.set({"house_name": "Chez Zoé"})
    page = phones.player()
    manifest = page.context.new_cdp_session(page).send("Page.getAppManifest")
    assert manifest["errors"] == [] and json.loads(manifest["data"])["name"] == "Chez Zoé"
    assert page.locator("meta[name=apple-mobile-web-app-title]").get_attribute("content") == "Chez Zoé"
    # An iPhone takes no drawing: it gets the page's own, as points, square, with no edge to show through.
    shown = """async (link) => {
      const drawn = async (src) => {
        const picture = Object.assign(new Image(), { src });
        await picture.decode();
        const canvas = Object.assign(document.createElement("canvas"), { width: 180, height: 180 });
        const context = canvas.getContext("2d");
        context.drawImage(picture, 0, 0, 180, 180);
        return { size: picture.naturalWidth, points: context.getImageData(0, 0, 180, 180).data };
      };
      const [points, drawing] = [await drawn(link.href), await drawn(document.querySelector("link[rel=icon]").href)];
      let far = 0;
      for (let at = 0; at < points.points.length; at += 4) {
        if (drawing.points[at + 3] === 255 && Math.abs(points.points[at] - drawing.points[at]) > 40) far += 1;
      }
      return [points.size, far, points.points.filter((_, at) => at % 4 === 3).every((one) => one === 255)];
    }"""
    size, far, whole = page.locator("link[rel=apple-touch-icon]").evaluate(shown)
    assert (size, whole) == (180, True) and far < 0.01 * 180 * 180


def test_a_plain_page_has_none_of_it(phones: Any, service: Any) -> None:
    service.companion.open_match()
    page = phones.player()
    page.click("[data-do=who-am-i]")
    expect(page.locator(".comforts [data-what=awake]")).to_be_visible()
    expect(page.locator(".comforts").locator("[data-what=notify], [data-what=home], [href='/trust']")).to_have_count(0)
