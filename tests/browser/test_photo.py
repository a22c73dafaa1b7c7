"""Score by photo: a round of Igloo Pop from two photos, with a correction by taps; an Arctic pile into the sheet."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from companion.lab.worlds.cards.photos import sheet as laid_out
from companion.lab.worlds.cards.photos import sheet_extent, shoot, view
from companion.lab.worlds.cards.taught import ROUND, fanned, laid, sheets, taught_round
from tests.browser.conftest import Phones
from tests.browser.test_boards import stands_out
from tests.web.assembly import Service

pytestmark = pytest.mark.browser


def photo(page: Page, name: str, data: bytes) -> None:
    page.set_input_files(
        f"input[data-change={name}]", files=[{"name": "photo.jpg", "mimeType": "image/jpeg", "buffer": data}]
    )


def test_a_round_is_read_corrected_and_entered(
    phones: Phones, service: Service, axe: Callable[[Page], list[str]]
) -> None:
    played = taught_round(ROUND)
    companion = service.companion
    (first, names), (second, _) = sheets(played.art)
    companion.cards.teach("igloo-pop", first, 0, len(names))
    players = [{"name": name, "colour": colour} for name, colour in zip("ABC", played.colours, strict=True)]
    companion.do(
        "open-match", {"game": "igloo-pop", "players": players, "setup": {"cards": played.names}, "draw": False}
    )
    companion.moves("start")
    page = phones.host()
    page.click("a[href='#photo']")
    expect(page.locator(".teach-cards summary")).to_contain_text("18 of 33")
    expect(page.locator(".sheet-order li")).to_have_count(12)
    page.fill("[data-input=teach-count]", "15")
    expect(page.locator(".sheet-order li")).to_have_count(15)
    photo(page, "teach-sheet", second)
    expect(page.locator(".teach-cards summary")).to_contain_text("33 of 33")
    phones.shot(page, "photo-teach", full=True)

    photo(page, "round-placed", played.placed)
    expect(page.locator("[data-key=photo-round] .igloo")).to_have_count(5)
    photo(page, "round-turned", played.turned)
    expect(page.locator("[data-key=round-result]")).to_contain_text("POP-3")
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
    view = companion.night.view()["match"]
    assert view["phase"] == "deal"
    shown = {(r["place"], i["colour"], i["number"]) for r in view["results"] for i in r["igloos"]}
    assert shown == {(f"card{played.names.index(name) + 1}", colour, n) for name, colour, n in played.truth}


def test_a_pile_goes_into_the_score_sheet(phones: Phones, service: Service, axe: Callable[[Page], list[str]]) -> None:
    pile = fanned()
    for number, (sheet, names) in enumerate(pile.sheets):
        service.companion.cards.teach("arctic", sheet, 30 * number, len(names))
    page = phones.player(language="fr-FR", dark=True)
    page.goto(f"{service.url}/#photo")
    page.click("[data-do=photo-game][data-game=arctic]")
    photo(page, "pile-photo", pile.photo)
    expect(page.locator("[data-key=photo-pile] .seen")).to_have_count(len(pile.names))
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


def test_won_cards_go_into_the_score_sheet(phones: Phones, service: Service, axe: Callable[[Page], list[str]]) -> None:
    art = taught_round(ROUND).art
    (first, names), (second, rest) = sheets(art)
    for begin, (data, taught) in enumerate(((first, names), (second, rest))):
        service.companion.cards.teach("igloo-pop", data, 18 * begin, len(taught))
    won = [*names[2:5], *rest[:3]]
    camera, light = view(9, *sheet_extent(art, len(won), 3), width=1400, tilt=(3, 10))
    page = phones.player()
    page.goto(f"{service.url}/#photo")
    page.click("[data-do=photo-game][data-game=igloo-pop]")
    photo(page, "pile-photo", shoot(laid_out(art, won, 3, 4), camera, light, 9).jpeg)
    expect(page.locator("[data-key=photo-pile] .seen")).to_have_count(len(won))
    read = page.locator("p.pile .mini-card").all_inner_texts()
    doubtful = page.locator("[data-do=pile-yes]").count()
    assert len(set(won) - set(read)) <= doubtful, "what was read wrongly is among what is asked"
    # Every card is looked at, and said as it lies there.
    for index, name in enumerate(won):
        page.click(f"[data-key=chip{index}]")
        page.click(f"fieldset [data-do=pile-kind][data-name='{name}']")
    expect(page.locator("p.pile .mini-card")).to_have_text(won)
    assert axe(page) == []
    assert stands_out(page) == []
    phones.shot(page, "photo-won", full=True)
    page.click("[data-do=pile-seat][data-seat=yellow]")
    page.click("[data-do=pile-use]")
    points = [4 - len(name.split("/")) for name in won]
    for field, worth in (("three", 3), ("two", 2), ("one", 1)):
        expect(page.locator(f"input[data-seat=yellow][data-name={field}]")).to_have_value(str(points.count(worth)))
    page.fill("input[data-seat=yellow][data-name=own]", "10")
    page.click("[data-do=reckon]")
    expect(page.locator(".ranking .total").first).to_have_text(str(sum(points) + 10))
    page.locator("form[data-submit=keep-sheet] button.main").click()
    expect(page.locator("[data-key=ending]")).to_be_visible()
    entry = service.companion.night.view()["match"]
    yellow = next(player for player in entry["players"] if player["colour"] == "yellow")
    assert sorted("/".join(map(str, card["numbers"])) for card in yellow["cards"]) == sorted(won)


def test_the_referee_rules_on_a_round_by_two_photos(
    phones: Phones, service: Service, axe: Callable[[Page], list[str]]
) -> None:
    played = taught_round(ROUND)
    for begin, (data, names) in enumerate(sheets(played.art)):
        service.companion.cards.teach("igloo-pop", data, 18 * begin, len(names))
    page = phones.player()
    page.goto(f"{service.url}/#referee")
    # No game is open: one is chosen, and nothing is asked of a record.
    expect(page.locator(".by-photo [data-do=dispute-game]")).to_have_count(4)
    expect(page.locator("[data-key=photo-before]")).to_be_visible()
    expect(page.locator("input[name=dispute-before]")).to_have_count(0)
    page.click(".by-photo [data-do=dispute-game][data-game=igloo-pop]")
    photo(page, "round-placed", played.placed)
    expect(page.locator("[data-key=photo-round] .igloo")).to_have_count(5)
    photo(page, "round-turned", played.turned)
    expect(page.locator("[data-key=round-result]")).to_contain_text("POP-3")
    assert axe(page) == []
    assert stands_out(page) == []
    phones.shot(page, "referee-round", full=True)


def test_the_circle_is_read_from_one_picture_corrected_and_entered(
    phones: Phones, service: Service, axe: Callable[[Page], list[str]]
) -> None:
    played = taught_round(ROUND)
    companion = service.companion
    for begin, (data, names) in enumerate(sheets(played.art)):
        companion.cards.teach("igloo-pop", data, 18 * begin, len(names))
    players = [{"name": name, "colour": colour} for name, colour in zip("ABC", played.colours, strict=True)]
    companion.do("open-match", {"game": "igloo-pop", "players": players, "draw": False})
    page = phones.host()
    phones.shot(page, "deal", full=True)
    assert axe(page) == []
    page.click(".dock a[href='#photo']")
    expect(page.locator("input[data-change=deal-photo]")).to_have_count(1)
    expect(page.locator("[data-do=deal-camera]")).to_have_count(0)
    # What the camera sees is read as a photo is.
    companion.camera_service.choose("usb:0")
    companion.camera_service.shown["frame"] = laid(ROUND)
    page.click("[data-do=deal-camera]")
    expect(page.locator("[data-key=photo-deal] .seen")).to_have_count(9)
    photo(page, "deal-photo", laid(ROUND))
    expect(page.locator("[data-key=photo-deal] .seen")).to_have_count(9)
    expect(page.locator("[data-key=deal-photo] [role=status]")).to_have_count(0)
    enter = page.locator("[data-do=deal-enter]")
    for yes in page.locator("[data-do=deal-yes]").all():
        yes.click()
    expect(enter).to_be_enabled()
    # A card that is said to be another is that one; a card twice is not entered; one that is none is left out.
    first, other = played.names[:2]
    spare = next(name for name in sheets(played.art)[0][1] if name not in played.names)
    page.locator("[data-key=photo-deal] .seen").first.press("Enter")
    page.click(f"fieldset [data-do=deal-name][data-card='{other}']")
    expect(enter).to_be_disabled()
    page.locator("[data-key=photo-deal] .seen").first.press("Enter")
    page.click(f"fieldset [data-do=deal-name][data-card='{spare}']")
    expect(enter).to_be_enabled()
    page.locator("[data-key=photo-deal] .seen").first.press("Enter")
    assert axe(page) == []
    assert stands_out(page) == []
    phones.shot(page, "photo-deal", full=True)
    page.click("[data-do=deal-remove]")
    expect(page.locator("[data-key=not-all]")).to_be_visible()
    enter.click()
    # The ninth is entered by hand, as ever.
    page.click(f"[data-do=deal-card][data-card='{first}']")
    expect(page.locator("[data-do=start]")).to_be_visible()
    lying = {card["place"]: "/".join(map(str, card["numbers"])) for card in companion.night.view()["match"]["cards"]}
    assert lying == {f"card{n}": name for n, name in enumerate(played.names, 1)}
