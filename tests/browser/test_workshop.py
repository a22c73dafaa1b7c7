"""The workshop: people, who may do what, backups; who is here tonight; the buttons of the table; the keyboard alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest
from playwright.sync_api import Page, expect

from companion.lab.worlds.boards import record
from companion.service.buttons import Buttons
from tests.browser.conftest import Phones, taken_up
from tests.browser.test_boards import opened
from tests.browser.test_look import english_left, overflow, read_aloud
from tests.browser.test_narrow import with_panel
from tests.web.assembly import CARDS, Service

pytestmark = pytest.mark.browser


def face(path: Path) -> Path:
    image = np.full((300, 500, 3), (180, 120, 60), np.uint8)
    cv2.circle(image, (250, 150), 90, (120, 190, 240), -1)
    cv2.imwrite(str(path), image)
    return path


def profile(page: Page, name: str) -> None:
    page.locator(".profile summary", has_text=name).click()


@pytest.mark.parametrize(("width", "language"), [(320, "de-DE"), (1280, "fr-FR")])
def test_what_somebody_came_to_is_drawn(
    phones: Phones, service: Service, axe: Callable[[Page], list[str]], width: int, language: str
) -> None:
    """Evening by evening, and head to head: the charts say in words what they show."""
    won = 0
    for seed in (1, 2, 3):
        opened(service, "ice-team")
        for text in record("ice-team", seed):
            service.companion.moves(text)
        match = service.companion.night.view()["match"]
        won += next(one["place"] == 1 for one in match["players"] if one["name"] == "Ann")
        service.companion.do("close-match")
    page = phones.player(width=width, language=language)
    page.goto(f"{service.url}/#workshop/people")
    profile(page, "Ann")
    evening = page.locator(".profile[open] .evenings-chart svg")
    expect(evening).to_have_attribute("aria-label", re.compile(rf"{won} (sur|von) 3"))
    expect(evening.locator("rect")).to_have_count(2)
    newest = page.locator(".profile[open] .streak-chart svg")
    expect(newest.locator("circle")).to_have_count(3)
    expect(newest.locator("circle.won")).to_have_count(won)
    against = page.locator(".profile[open] .rivals-chart li")
    expect(against).to_have_count(1)
    expect(against.locator(".name")).to_have_text("Bob")
    expect(against.locator("b")).to_have_text(re.compile(rf"^{won} : \d$"))
    assert axe(page) == []
    assert overflow(page) == []
    phones.shot(page, f"people-charts-{width}", full=True)


def test_people_are_met_seated_renamed_made_one_and_forgotten(
    phones: Phones, service: Service, axe: Callable[[Page], list[str]], tmp_path: Path
) -> None:
    host = phones.host(width=1000)
    host.goto(f"{service.url}/#workshop/people")
    for name in ("Zoé", "Ann", "Bob"):
        host.fill("#new-person", name)
        host.click("[data-submit=person-add] button")
        expect(host.locator(".profile", has_text=name)).to_be_visible()
    profile(host, "Ann")
    host.click(".profile[open] [data-colour=violet]")
    expect(host.locator(".profile[open] [data-colour=violet]")).to_have_attribute("aria-pressed", "true")
    host.click(".profile[open] [data-token=fox]")
    expect(host.locator(".profile[open] summary .face svg")).to_be_visible()
    host.set_input_files(".profile[open] input[type=file]", face(tmp_path / "face.png"))
    expect(host.locator(".profile[open] summary .face img")).to_be_visible()
    host.wait_for_function("() => document.querySelector('.profile[open] .face img').naturalWidth === 256")
    phones.shot(host, "workshop-people")
    # Who is here tonight: a tap seats, at the favourite colour; another tap lets the seat go.
    host.goto(f"{service.url}/#")
    for name in ("Ann", "Bob", "Zoé"):
        host.click(f".person:has-text('{name}')")
    expect(host.locator("input[name=name-violet]")).to_have_value("Ann")
    expect(host.locator("input[name=plays][value=violet]")).to_be_checked()
    expect(host.locator(".person[aria-pressed=true]")).to_have_count(3)
    expect(host.locator("input[name=plays]:checked")).to_have_count(3)
    phones.shot(host, "who-is-here")
    assert axe(host) == []
    host.click(".person:has-text('Bob')")
    expect(host.locator(".person[aria-pressed=true]")).to_have_count(2)
    host.click(".person:has-text('Bob')")
    host.click("[data-submit=open-match] button[type=submit]")
    expect(host.locator(".scores .face img")).to_be_visible()
    assert {p["name"] for p in service.companion.night.view()["match"]["players"]} >= {"Ann", "Bob", "Zoé"}
    # Renamed on the page, the new name is everywhere at once.
    host.goto(f"{service.url}/#workshop/people")
    profile(host, "Zoé")
    host.click(".profile[open] [data-do=person-rename]")
    host.fill("#rename", "Zoé Marie")
    host.click("#dialog button[type=submit]")
    expect(host.locator(".profile", has_text="Zoé Marie")).to_be_visible()
    assert "Zoé Marie" in {p["name"] for p in service.companion.night.view()["match"]["players"]}
    # Two who play together are two; somebody new may be the same.
    host.click(".profile[open] [data-do=person-merge]")
    host.click("#dialog button[type=submit]")
    expect(host.locator(".refusal")).to_contain_text("two people")
    phones.forgive("409")
    host.fill("#new-person", "Zouzou")
    host.click("[data-submit=person-add] button")
    profile(host, "Zouzou")
    host.click(".profile:has-text('Zouzou') [data-do=person-merge]")
    host.click("#dialog label:has-text('Zoé Marie')")
    host.click("#dialog button[type=submit]")
    expect(host.locator(".profile", has_text="Zouzou")).to_have_count(0)
    # To be forgotten is asked for once more, and then nowhere.
    host.click(".profile:has-text('Zoé Marie') [data-do=person-forget]")
    expect(host.locator("#dialog")).to_contain_text("the scores stay")
    host.click("[data-do=dialog-yes]")
    expect(host.locator(".profile", has_text="Zoé")).to_have_count(0)
    assert "Zoé Marie" not in {p["name"] for p in service.companion.night.view()["match"]["players"]}


def test_the_host_sets_who_may_do_what(phones: Phones, service: Service) -> None:
    player = phones.player()
    host = phones.host(width=1000)
    host.goto(f"{service.url}/#workshop/rights")
    with taken_up(host, "/api/settings"):
        host.uncheck("input[name=players_move]")
    expect(host.locator("input[name=players_move]")).not_to_be_checked()
    host.fill("#keep-days", "7")
    with taken_up(host, "/api/settings"):
        host.click("[data-submit=keep-days] button")
    pin = host.locator(".pin").inner_text()
    host.click("[data-do=new-pin]")
    host.click("[data-do=dialog-yes]")
    expect(host.locator(".pin")).not_to_have_text(pin)
    phones.shot(host, "workshop-rights")
    assert service.companion.settings.number("keep_pictures_days") == 7
    service.companion.open_match()
    player.click("[data-do=start]")
    expect(player.locator(".refusal")).to_contain_text("the host enters the moves")
    player.goto(f"{service.url}/#workshop/rights")
    expect(player.locator("input[name=players_move]")).to_be_disabled()
    expect(player.locator(".pin")).to_have_count(0)
    expect(host.locator(".phone")).to_have_count(2)
    expect(host.locator(".phone", has=host.locator("[data-do=end-session]"))).to_contain_text("Chrome on Linux")
    host.click("[data-do=end-session]")
    host.click("[data-do=dialog-yes]")
    expect(host.locator("[data-do=end-session]")).to_have_count(0)
    expect(host.locator("[data-do=end-others]")).to_have_count(0)
    player.goto(f"{service.url}/")
    player.reload()
    expect(player.locator(".role")).to_have_text("Watching")
    phones.forgive("403")


def test_the_host_ends_all_other_phones_at_once(phones: Phones, service: Service) -> None:
    player = phones.player()
    for label in ("Zoé", "Christabelle-Marie"):
        service.companion.access.join(service.companion.access.pin, "a", label, ("Samsung Internet", "Android"))
    host = phones.host()
    host.goto(f"{service.url}/#workshop/rights")
    expect(host.locator(".phone")).to_have_count(4)
    host.click("[data-do=end-others]")
    host.click("[data-do=dialog-yes]")
    expect(host.locator(".phone")).to_have_count(1)
    expect(host.locator(".phone")).to_contain_text("this one")
    # The page of that phone knows it without being opened again.
    expect(player.locator(".role")).to_have_text("Watching")
    expect(host.locator(".role")).to_have_text("Host")


def test_a_backup_is_made_and_brought_back_on_the_page(phones: Phones, service: Service) -> None:
    service.companion.open_match()
    host = phones.host(width=1000)
    host.goto(f"{service.url}/#workshop/backups")
    host.click("[data-do=make-backup]")
    expect(host.locator(".backup")).to_have_count(1)
    with host.expect_download() as told:
        host.click(".backup a")
    assert told.value.suggested_filename.endswith(".zip")
    phones.shot(host, "workshop-backups")
    host.click("[data-do=restore]")
    expect(host.locator("#dialog")).to_contain_text("not lost")
    assert not service.companion.begun_again
    host.click("[data-do=dialog-yes]")
    expect(host.locator("#dialog-title")).to_have_text("It is being brought back")
    assert service.companion.begun_again == [True]


def test_backups_are_encrypted_and_one_of_another_passphrase_asks_for_it(phones: Phones, service: Service) -> None:
    service.companion.open_match()
    host = phones.host(width=1000)
    host.goto(f"{service.url}/#workshop/backups")
    for passphrase in ("four words on paper", "four other words on paper"):
        host.click("[data-do=encrypt-backups]")
        expect(host.locator("#dialog")).to_contain_text("A lost passphrase is a lost backup")
        host.fill("#passphrase", passphrase)
        host.click("#dialog [type=submit]")
        expect(host.locator("[data-do=encrypt-no-more]")).to_be_visible()
        if not host.locator(".backup").count():
            host.click("[data-do=make-backup]")
            expect(host.locator(".backup")).to_contain_text("2 entries")
    expect(host.locator(".backup")).to_contain_text("Encrypted with another passphrase.")
    phones.shot(host, "workshop-backups-encrypted")
    for passphrase in ("not these words", "four words on paper"):
        host.click("[data-do=restore]")
        host.fill("#passphrase", passphrase)
        host.click("#dialog [type=submit]")
        host.click("[data-do=dialog-yes]")
        if passphrase == "not these words":
            expect(host.locator(".refusal")).to_contain_text("This is not the passphrase of companion-0001-")
            phones.forgive("409")
    expect(host.locator("#dialog-title")).to_have_text("It is being brought back")
    assert service.companion.begun_again == [True]


def test_the_buttons_of_the_table_call_everybody(phones: Phones, service: Service) -> None:
    # Where the table has none, the page has none either.
    service.companion.open_match()
    bare = phones.host(width=1000)
    expect(bare.locator(".play")).to_be_visible()
    expect(bare.locator(".table-buttons")).to_have_count(0)
    service.companion.buttons = with_panel(service.companion)
    tablet, other = phones.host(width=1000), phones.spectator()
    tablet.click("[data-button=shake]")
    expect(other.locator(".play[data-phase=shaking]")).to_be_visible()
    tablet.click("[data-button=shake]")
    expect(tablet.locator(".refusal")).to_contain_text("nothing to go on with")
    phones.forgive("422")
    # There is one way back, at the head of the game.
    expect(tablet.locator("[data-do=undo]")).to_have_count(1)
    tablet.click(".now [data-do=undo]")
    tablet.click("[data-do=dialog-yes]")
    expect(other.locator(".play[data-phase=ready]")).to_be_visible()
    tablet.click("[data-button=dispute]")
    expect(other).to_have_url(re.compile("#referee$"))


def test_the_devices_their_settings_and_what_the_doctor_finds(phones: Phones, service: Service) -> None:
    companion = service.companion
    companion.buttons = Buttons(companion.night, companion.hub, ("next 5", "undo 5"))
    companion.buttons.start()
    companion.mqtt = {"state": "searching", "note": "The broker does not answer; the companion keeps trying."}
    (companion.folder / "settings.json").write_text("{")
    player = phones.player()
    player.goto(f"{service.url}/#workshop/devices")
    expect(player.locator("[data-key=panel] .device-head")).to_contain_text("faulty")
    expect(player.locator("[data-key=mqtt]")).to_contain_text("The broker does not answer")
    assert player.locator("[data-do=doctor], .part form").count() == 0
    host = phones.host(language="fr-FR", width=768, height=1024)
    host.goto(f"{service.url}/#workshop/devices")
    host.fill("#device-panel_pins", "next 5\ndispute 6")
    host.click("[data-key=setting-panel_pins] button")
    expect(host.locator("[data-key=setting-panel_pins] [role=status]")).to_contain_text("prochain démarrage")
    assert companion.settings.lines("panel_pins") == ("next 5", "dispute 6")
    host.fill("#device-mqtt_address", "mqtt://pi")
    host.click("[data-key=setting-mqtt_address] button")
    expect(host.locator("[data-key=setting-mqtt_address] [role=status]")).to_be_visible()
    assert companion.settings.text("mqtt_address") == "mqtt://pi"
    host.click("[data-do=doctor]")
    bad = host.locator(".finding[data-state=wrong]", has_text="Les réglages sont illisibles")
    expect(bad).to_contain_text("Ce qui aide : Règle-le à nouveau sur la page.")
    states = (
        host.locator(".findings >> nth=0")
        .locator(".finding")
        .evaluate_all("all => all.map((one) => one.dataset.state)")
    )
    order = ["wrong", "warning", "note"]
    assert states == sorted(states, key=order.index)
    phones.shot(host, "workshop-devices-768", full=True)


ONE_MOMENT = re.compile("One moment …|Un instant…")
"""What stands in a part until all that it asks for has come."""
PARTS = ("igloo", "camera", "devices", "people", "rights", "backups")


@pytest.mark.parametrize(("dark", "language"), [(False, "fr-FR"), (True, "en-GB")])
def test_no_barrier_and_no_overflow_in_the_workshop(
    phones: Phones, service: Service, axe: Callable[[Page], list[str]], dark: bool, language: str
) -> None:
    companion = service.companion
    companion.open_match()
    ann = next(one["id"] for one in companion.people.all() if one["name"] == "Ann")
    companion.people.change(ann, {"colour": "yellow", "token": "owl"})
    companion.backup_retention.make()
    companion.access.join(companion.access.pin, "a", "Christabelle-Marie", ("Samsung Internet", "Android"))
    companion.access.join(companion.access.pin, "a")
    page = phones.host(dark=dark, language=language, width=320 if dark else 1920, height=900)
    for part in PARTS:
        page.goto(f"{service.url}/#workshop/{part}")
        expect(page.locator(f"[data-key=part-{part}]")).to_be_visible()
        expect(page.locator(f"[data-key=part-{part}]")).not_to_contain_text(ONE_MOMENT)
        if part == "people":
            profile(page, "Ann")
        phones.shot(page, f"workshop-{part}-{'dark' if dark else 'light'}", full=True)
        assert axe(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), part
        if part == "devices":
            page.click("[data-do=doctor]")
            expect(page.locator(".findings").first).to_be_visible()
            phones.shot(page, f"workshop-{part}-checked-{'dark' if dark else 'light'}", full=True)
            assert axe(page) == []
        if language.startswith("fr"):
            assert english_left(read_aloud(page).replace(str(companion.folder), "")) == [], part
    page.goto(f"{service.url}/api")
    assert axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_round_is_played_with_the_keyboard_alone(phones: Phones, service: Service) -> None:
    service.companion.open_match()
    page = phones.host(width=1280, height=900)

    def reach(selector: str, key: str = "Enter") -> None:
        for _ in range(140):
            page.keyboard.press("Tab")
            if page.evaluate("(s) => document.activeElement?.matches(s) ?? false", selector):
                box = page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle")
                assert box != "none" or "card" in selector
                page.keyboard.press(key)
                return
        raise AssertionError(f"{selector} is not reached")

    page.locator("body").focus()
    reach("[data-do=start]")
    expect(page.locator(".play[data-phase=shaking]")).to_be_visible()
    for colour, place in (("red", "card1"), ("blue", "card2")):
        reach(f".who[data-colour={colour}]", "Space")
        reach(f".card[data-place={place}]")
    expect(page.locator(".iglet")).to_have_count(2)
    reach("[data-do=check]")
    expect(page.locator(".play[data-phase=checking]")).to_be_visible()
    for place, number in (("card1", int(CARDS[0].split("/")[0])), ("card2", 2)):
        asked = f"[data-do=reveal][data-place={place}][data-number='{number}']"
        expect(page.locator(asked)).to_be_visible()
        reach(asked)
    expect(page.locator(".play[data-phase=deal]")).to_be_visible()
    assert len(service.companion.night.view()["match"]["results"]) == 2
