"""Score by photo: a round of Igloo Pop from two photos, with a correction by taps; an Arctic pile into the sheet."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.conftest import Phones
from tests.browser.test_boards import stands_out
from tests.web.assembly import Service
from tests.worlds.card_table import ROUND, fanned, sheets, taught_round

PATIENCE_MS = 60_000


def photo(page: Page, name: str, data: bytes) -> None:
    page.set_input_files(
        f"input[data-change={name}]", files=[{"name": "photo.jpg", "mimeType": "image/jpeg", "buffer": data}]
    )


def test_a_round_is_read_corrected_and_entered(
    phones: Phones, service: Service, axe: Callable[[Page], list[str]]
) -> None:
    played = taught_round(ROUND)
    house = service.house
    (first, names), (second, _) = sheets(played.art)
    house.cards.teach("igloo-pop", first, 0, len(names))
    players = [{"name": name, "colour": colour} for name, colour in zip("ABC", played.colours, strict=True)]
    house.do("open-match", {"game": "igloo-pop", "players": players, "setup": {"cards": played.names}, "draw": False})
    house.moves("start")
    page = phones.host()
    page.click("a[href='#photo']")
    expect(page.locator(".teach-cards summary")).to_contain_text("18 of 33")
    expect(page.locator(".sheet-order li")).to_have_count(12)
    page.fill("[data-input=teach-count]", "15")
    expect(page.locator(".sheet-order li")).to_have_count(15)
    photo(page, "teach-sheet", second)
    expect(page.locator(".teach-cards summary")).to_contain_text("33 of 33", timeout=PATIENCE_MS)
    phones.shot(page, "photo-teach", full=True)

    photo(page, "round-placed", played.placed)
    expect(page.locator("[data-key=photo-round] .igloo")).to_have_count(5, timeout=PATIENCE_MS)
    photo(page, "round-turned", played.turned)
    expect(page.locator("[data-key=round-result]")).to_contain_text("POP-3", timeout=PATIENCE_MS)
    enter = page.locator("[data-do=photo-enter]")
    for yes in page.locator("[data-do=photo-yes]").all():
        yes.click()
    expect(enter).to_be_enabled()
    assert axe(page) == []
    assert stands_out(page) == []
    phones.shot(page, "photo-round", full=True)
    # A tap on an igloo, and a number that is there already: the rules refuse it, and it is not entered.
    number = str(played.truth[1][2])
    page.locator("[data-key=photo-round] .igloo").first.press("Enter")
    right = page.locator("fieldset [data-do=photo-number][aria-pressed=true]").get_attribute("data-number")
    page.click(f"fieldset [data-do=photo-number][data-number='{number if number != right else played.truth[0][2]}']")
    expect(enter).to_be_disabled()
    page.click(f"fieldset [data-do=photo-number][data-number='{right}']")
    expect(enter).to_be_enabled()
    enter.click()
    expect(page.locator("[data-key=round-result]")).to_contain_text("The round is entered.")
    view = house.night.view()["match"]
    assert view["phase"] == "deal"
    shown = {(r["place"], i["colour"], i["number"]) for r in view["results"] for i in r["igloos"]}
    assert shown == {(f"card{played.names.index(name) + 1}", colour, n) for name, colour, n in played.truth}


def test_a_pile_goes_into_the_score_sheet(phones: Phones, service: Service, axe: Callable[[Page], list[str]]) -> None:
    pile = fanned()
    for number, (sheet, names) in enumerate(pile.sheets):
        service.house.cards.teach("arctic", sheet, 30 * number, len(names))
    page = phones.player(language="fr-FR", dark=True)
    page.goto(f"{service.url}/#photo")
    page.click("[data-do=photo-game][data-game=arctic]")
    photo(page, "pile-photo", pile.photo)
    expect(page.locator("[data-key=photo-pile] .seen")).to_have_count(len(pile.names), timeout=PATIENCE_MS)
    phones.shot(page, "photo-pile", full=True)
    assert axe(page) == []
    assert stands_out(page) == []
    for index, name in enumerate(pile.names):
        page.click(f"[data-key=chip{index}]")
        page.click(f"fieldset [data-do=pile-kind][data-name={name.split('-')[0]}]")
    page.click("[data-do=pile-seat][data-seat=p2]")
    page.click("[data-do=pile-use]")
    expect(page.locator("[data-key=pile-p2] .mini-card")).to_have_count(len(pile.names))
    page.click("[data-do=reckon]")
    expect(page.locator(".ranking .total").first).to_have_text(str(pile.points))


def test_a_guest_is_told_to_join(phones: Phones, service: Service) -> None:
    page = phones.spectator()
    page.goto(f"{service.url}/#photo")
    expect(page.locator(".photo-room .note")).to_be_visible()
    assert page.locator("input[type=file]").count() == 0
