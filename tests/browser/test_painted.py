"""The measure of painted texts, on a page whose contrasts are known."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from tests.browser.painted import faint

pytestmark = pytest.mark.browser

PAGE = """<!doctype html><style>
  body { margin: 0; background: #fff; font: 16px sans-serif; }
  #slope { background: linear-gradient(90deg, #000, #fff); color: #fff; width: 300px; }
  #even { background: linear-gradient(90deg, #000, #222); color: #fff; }
  #half { opacity: 0.5; color: #444; background: none; }
  #list { height: 40px; overflow: auto; }
  #bar { position: fixed; inset: auto 0 0 0; height: 90vh; background: #fff; }
  #big, #small { color: #888; }
  #field { color: #ccc; background: #fff; }
  #big { font-size: 32px; }
</style>
<p id=slope>White upon a slope that ends in white, so that nobody can read its end</p>
<p id=even>White on what is nearly black</p>
<p id=half>Grey that is half as strong as it says</p>
<div id=list><p>First</p><p>Second</p><p>Third</p><p id=below style="color: #bbb">Below all others</p></div>
<p id=under style="color: #ccc">Covered by what floats over the page</p>
<p id=big>3.5 is enough for large letters</p>
<p id=small>3.5 is too little for small ones</p>
<p id=empty></p>
<input id=field value="Written in a field">
<svg width="300" height="80">
  <rect width="300" height="80" fill="#123"/>
  <text id=dark x="10" y="20" fill="#234">Dark on dark</text>
  <text id=light x="10" y="40" fill="#fff">Light on dark</text>
  <text id=rimmed x="10" y="60" fill="#234" stroke="#fff" stroke-width="4" paint-order="stroke">Rimmed</text>
</svg>
<div id=bar></div>"""


def test_what_is_painted_too_faintly_is_found_and_nothing_else(chromium: Browser) -> None:
    page = chromium.new_page()
    page.set_content(PAGE)
    before = page.content()
    names = ["slope", "even", "half", "below", "under", "big", "small", "empty", "field", "dark", "light", "rimmed"]
    found = faint(page, [f"#{name}" for name in names])
    assert set(found) == {f"#{name}" for name in ("slope", "half", "below", "under", "small", "field", "dark")}
    assert found["#small"] == pytest.approx(3.54, abs=0.05)
    assert found["#below"] == pytest.approx(1.92, abs=0.05)
    # The page is as it was.
    assert page.content() == before
    page.close()
