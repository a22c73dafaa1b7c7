"""A name on the page: as long as the house takes it, counted as a reader counts, and told apart from its double."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from companion.rules.names import LONGEST_NAME
from tests.browser.conftest import Phones
from tests.web.assembly import Service

pytestmark = pytest.mark.browser

FAMILY = "👨\u200d👩\u200d👧\u200d👦"


@pytest.mark.parametrize("segmenter", [True, False])
def test_a_field_for_a_name_is_cut_between_signs_and_a_second_ann_is_marked(
    segmenter: bool, phones: Phones, service: Service
) -> None:
    page = phones.guest()
    if not segmenter:
        page.add_init_script("delete Intl.Segmenter")
    page.goto(service.host_link())
    page.click("button.main")
    field = page.locator("input[name=name-red]")
    expect(field).to_have_attribute("data-longest", str(LONGEST_NAME))
    assert field.get_attribute("maxlength") is None
    field.fill(FAMILY * (LONGEST_NAME + 3))
    expect(field).to_have_value(FAMILY * LONGEST_NAME)
    field.fill("Ann")
    page.fill("input[name=name-blue]", "ann")
    page.fill("input[name=name-green]", FAMILY)
    page.click("form.setup button[type=submit]")
    expect(page.locator(".play[data-phase=ready]")).to_be_visible()
    match = service.companion.night.view()["match"]
    assert match is not None
    assert {player["colour"]: player["name"] for player in match["players"]} == {
        "red": "Ann",
        "blue": "ann (2)",
        "green": FAMILY,
    }
    expect(page.locator("body")).to_contain_text("Ann (2)")
