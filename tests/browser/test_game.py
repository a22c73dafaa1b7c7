"""Igloo Pop by tapping: from the host link to the ranking; several phones; stale ones; restarts."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from companion.ports import LinkCounts, MotionState
from companion.settings import OFFERED, write_settings
from tests.browser.conftest import Phones, sent, unfold
from tests.web.assembly import JPEG, NAME, PLAYERS, SIMULATED, Service
from tests.worlds.wait import wait
from web.http import sse
from web.http.json_forms import igloos_form
from web.http.sse import POLL_MS

pytestmark = pytest.mark.browser

COLOURS = ["red", "blue", "green"]


class Taps:
    """A finger that counts."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.count = 0

    def __call__(self, selector: str) -> None:
        self.page.click(selector)
        self.count += 1

    def place(self, colour: str, place: str) -> None:
        before = self.page.locator(".iglet").count()
        self(f".who[data-colour={colour}]")
        self(f".card[data-place={place}]")
        expect(self.page.locator(".iglet")).to_have_count(before + 1)

    def number(self, n: int) -> None:
        self(f"[data-do=reveal][data-number='{n}']")


def match(service: Service) -> dict[str, Any]:
    found = service.companion.night.view()["match"]
    assert found is not None
    return found


def numbers_on(service: Service, place: str) -> list[int]:
    return next(card["numbers"] for card in match(service)["cards"] if card["place"] == place)


def test_a_whole_game_by_tapping(phones: Phones, service: Service) -> None:
    page = phones.guest()
    tap = Taps(page)
    page.goto(service.host_link())
    tap("button.main")
    assert page.evaluate("isSecureContext") is False
    assert page.evaluate("'serviceWorker' in navigator || 'wakeLock' in navigator") is False
    assert page.evaluate("'clipboard' in navigator || typeof crypto.randomUUID === 'function'") is False

    # Set-up: red, blue and green stand ready; names are optional.
    page.fill("input[name=name-red]", "Ann")
    tap("form.setup button[type=submit]")
    expect(page.locator(".play[data-phase=ready]")).to_be_visible()
    assert [player["name"] for player in match(service)["players"]] == ["Ann", "", ""]

    # Round 1: everybody places one igloo, in either order of taps.
    tap("[data-do=start]")
    expect(page.locator(".play[data-phase=shaking]")).to_be_visible()
    one, two = numbers_on(service, "card1"), numbers_on(service, "card2")
    wrong = next(n for n in range(2, 14) if n not in one and n not in two)
    tap(".card[data-place=card1]")
    tap(".who[data-colour=red]")
    expect(page.locator(".iglet")).to_have_count(1)
    tap.place("blue", "card2")
    tap.place("green", "card2")
    tap("[data-do=check]")
    expect(page.locator("#question")).to_contain_text("igloo of Ann")
    tap.number(one[0])
    expect(page.locator("#question")).to_contain_text("igloo of Blue")
    assert page.locator(f".key[data-number='{one[0]}']").is_disabled()
    right = next(n for n in two if n != one[0]) if set(two) - {one[0]} else wrong
    tap.number(right)
    tap.number(wrong if wrong != right else next(n for n in range(2, 14) if n not in {one[0], right}))
    expect(page.locator(".results li")).to_have_count(2)
    expect(page.locator(".results")).to_contain_text("POP-3.2")
    taps_to_first_round = tap.count
    assert taps_to_first_round <= 14
    phones.shot(page, "game-first-round")

    # A clause opens, and closes with Escape.
    page.click(".results .clause >> nth=0")
    expect(page.locator("#dialog .clause-text")).not_to_be_empty()
    page.keyboard.press("Escape")
    expect(page.locator("#dialog")).not_to_be_visible()

    # New cards lie there by themselves. In a long round Ann is wrong ten times: she has no thaler left, the game ends
    # (POP-4.1).
    tap("[data-do=start]")
    expect(page.locator(".play[data-phase=shaking]")).to_be_visible()
    target = next(c["place"] for c in match(service)["cards"] if len(c["numbers"]) == 1)
    printed = set(numbers_on(service, target))
    while match(service)["players"][0]["own"] > 0:
        own = match(service)["players"][0]["own"]
        tap.place("red", target)
        assert match(service)["players"][0]["own"] == own - 1
    expect(page.locator(".who[data-colour=red]")).to_be_disabled()
    tap("[data-do=pass][data-colour=blue]")
    expect(page.locator(".seat.blue.passed")).to_be_visible()
    tap("[data-do=pass][data-colour=green]")
    expect(page.locator(".play[data-phase=checking]")).to_be_visible()
    left = [n for n in range(2, 14) if n not in printed]
    while match(service)["phase"] == "checking":
        before = service.companion.night.seq
        tap.number(left.pop())
        sent(page)
        assert service.companion.night.seq == before + 1

    # The end: ranking with the reason, sheets with clauses, the series.
    expect(page.locator(".ending h1")).to_contain_text("wins")
    expect(page.locator(".ranking li")).to_have_count(3)
    totals = [int(text) for text in page.locator(".ranking .total").all_inner_texts()]
    assert totals == sorted(totals, reverse=True)
    assert totals == [p["score"] for p in sorted(match(service)["players"], key=lambda p: -p["score"])]
    expect(page.locator(".ending")).to_contain_text("POP-4.1")
    page.click(".sheet >> nth=1")
    expect(page.locator(".sheet[open] .lines li").first).to_contain_text("POP-4.3")
    expect(page.locator(".series tfoot")).to_contain_text(str(totals[0]))
    phones.shot(page, "game-end", full=True)

    # Another game with the same players.
    tap("[data-do=next-game]")
    expect(page.locator(".play[data-phase=ready]")).to_be_visible()
    assert match(service)["players"][0]["own"] == 10


def test_cards_are_entered_as_they_lie(phones: Phones, service: Service) -> None:
    page = phones.host(width=320, height=640)
    page.click("form.setup .extras summary")
    page.click("input[name=draw][value=false]")
    page.click("form.setup button[type=submit]")
    cards = ["2", "13", "4/5", "7/8", "11/12/13", "2/3/4", "9", "10", "6/7/8"]
    for n, card in enumerate(cards, 1):
        expect(page.locator("#question")).to_contain_text(f"Place {n}:")
        page.click(f".picker [data-card='{card}']")
        expect(page.locator(f".card[data-key=card{n}] .numbers")).to_have_text(card)
    expect(page.locator(".play[data-phase=ready]")).to_be_visible()
    assert ["/".join(map(str, card["numbers"])) for card in match(service)["cards"]] == cards
    # The device remembers the choice for the next time.
    service.companion.do("close-match")
    expect(page.locator("input[name=draw][value=false]")).to_be_checked()


def test_two_phones_and_a_spectator(phones: Phones, service: Service) -> None:
    service.companion.open_match()
    host, player, watcher = phones.host(), phones.player(), phones.spectator(width=1280, height=720)
    expect(watcher.locator("[data-do=start]")).to_have_count(0)
    player.click("[data-do=start]")
    for page in (host, player, watcher):
        expect(page.locator(".play[data-phase=shaking]")).to_be_visible()
    assert watcher.locator(".dock button, .card[role=button], .tools button:not([data-do=may])").count() == 0

    host.click(".who[data-colour=red]")
    player.click(".who[data-colour=blue]")
    # Somebody else's entry neither moves my choice nor takes my focus.
    host.click(".card[data-place=card1]")
    expect(player.locator(".iglet")).to_have_count(1)
    expect(player.locator(".who[data-colour=blue]")).to_have_attribute("aria-pressed", "true")
    expect(player.locator(".who[data-colour=blue]")).to_be_focused()
    player.click(".card[data-place=card1]")
    for page in (host, player, watcher):
        expect(page.locator(".card[data-key=card1] .iglet")).to_have_count(2)
    expect(watcher.locator("#announcer")).to_contain_text("Bob")

    # The last entry is the player's: he takes it back by himself; the host's, only if the table agrees.
    player.click("[data-do=undo]")
    expect(host.locator(".iglet")).to_have_count(1)
    expect(player.locator("[data-do=undo]")).to_have_count(0)
    host.click("[data-do=undo]")
    expect(host.locator(".iglet")).to_have_count(0)


def test_undo_past_another_needs_the_table(phones: Phones, service: Service) -> None:
    service.companion.open_match()
    service.companion.moves("start")
    host, player = phones.host(), phones.player()
    player.click(".who[data-colour=red]")
    player.click(".card[data-place=card3]")
    expect(host.locator(".iglet")).to_have_count(1)
    host.click("[data-do=undo]")
    expect(host.locator("#dialog")).to_contain_text("Does the table agree?")
    host.click("[data-do=close-dialog-window] >> nth=1")
    expect(host.locator("#dialog")).not_to_be_visible()
    expect(host.locator(".iglet")).to_have_count(1)
    host.click("[data-do=undo]")
    host.click("[data-do=dialog-yes]")
    expect(player.locator(".iglet")).to_have_count(0)
    expect(player.locator(".log .undone")).to_have_count(1)


def test_a_stale_phone_is_refused_with_the_reason(phones: Phones, service: Service) -> None:
    service.companion.open_match()
    service.companion.moves("start")
    player = phones.player()
    expect(player.locator(".play[data-phase=shaking]")).to_be_visible()
    # From now on this phone hears nothing, as one that is just waking up.
    player.route(re.compile(r"/api/(events|state)"), lambda route: route.abort())
    player.evaluate("dispatchEvent(new Event('pagehide'))")
    service.companion.moves("place red card1")
    player.click(".who[data-colour=red]")
    player.click(".card[data-place=card1]")
    expect(player.locator(".refusal")).to_contain_text("The table has moved on")
    assert len(match(service)["cards"][0]["igloos"]) == 1
    player.unroute(re.compile(r"/api/(events|state)"))
    player.evaluate("dispatchEvent(new Event('online'))")
    expect(player.locator(".iglet")).to_have_count(1)
    phones.forgive("409")
    phones.overlook("ERR_FAILED")


def test_what_the_rules_forbid_shows_the_clause(phones: Phones, service: Service) -> None:
    service.companion.open_match()
    service.companion.moves("start", "take red", "take blue")
    player = phones.player()
    service.companion.hub.close()
    player.click("[data-do=pass][data-colour=red]")
    expect(player.locator(".refusal")).to_contain_text("Ann (red)")
    expect(player.locator(".refusal .clause").first).to_be_visible()
    phones.shot(player, "refusal")
    player.click("[data-do=close-refusal]")
    expect(player.locator(".refusal")).to_have_count(0)
    phones.forgive("422")


def test_a_restart_of_the_service_is_survived(phones: Phones, service: Service) -> None:
    service.companion.open_match()
    service.companion.moves("start")
    host, watcher = phones.host(), phones.spectator()
    expect(host.locator(".link.live")).to_be_visible()
    service.stop()
    # A tap while the service is away is not lost, and not done twice.
    host.click(".who[data-colour=red]")
    host.click(".card[data-place=card4]")
    expect(host.locator(".link-words")).to_have_text("sending")
    service.start()
    for page in (host, watcher):
        expect(page.locator(".card[data-key=card4] .iglet")).to_have_count(1)
        expect(page.locator(".link.live")).to_be_visible()
    assert len(match(service)["cards"][3]["igloos"]) == 1
    service.companion.moves("place blue card5")
    expect(watcher.locator(".card[data-key=card5] .iglet")).to_have_count(1)
    phones.overlook("ERR_")


def test_a_lost_network_is_survived(phones: Phones, service: Service) -> None:
    service.companion.open_match()
    page = phones.spectator()
    expect(page.locator(".link.live")).to_be_visible()
    # Nothing tells the page: requests fail, and its stream is cut on the way, as where the WLAN ends.
    page.context.set_offline(True)
    service.cut_off()
    expect(page.locator(".link.live")).to_have_count(0)
    service.companion.moves("start")
    service.companion.moves("place red card2")
    assert page.locator(".iglet").count() == 0
    page.context.set_offline(False)
    expect(page.locator(".iglet")).to_have_count(1)
    expect(page.locator(".log li").first).to_contain_text("Ann")
    expect(page.locator(".link.live")).to_be_visible()
    phones.overlook("ERR_")


def test_a_page_out_of_sight_gives_its_place_away(phones: Phones, service: Service) -> None:
    service.companion.open_match()
    page = phones.guest()
    page.clock.install()
    page.goto(service.url)
    expect(page.locator(".link.live")).to_be_visible()

    def show(state: str) -> None:
        page.evaluate(
            """(state) => {
              Object.defineProperty(document, 'visibilityState', {get: () => state, configurable: true});
              document.dispatchEvent(new Event('visibilitychange'));
            }""",
            state,
        )

    places = service.app.extensions["companion-streams"]
    show("hidden")
    assert len(places) == 1
    page.clock.fast_forward(21_000)
    wait(lambda: len(places) == 0)
    service.companion.moves("start")
    service.companion.moves("place red card2")
    show("visible")
    expect(page.locator(".iglet")).to_have_count(1)
    expect(page.locator(".link.live")).to_be_visible()
    assert len(places) == 1


PLANS = """(() => {
  const plan = setTimeout;
  window.planned = [];
  window.setTimeout = (work, ms, ...more) => {
    planned.push(ms);
    return plan(work, ms, ...more);
  };
})()"""
"""Has a page keep, as `planned`, in how many milliseconds each time it wants to go on."""
FIRST_MS = 100
"""So soon a page that has no place among the streams asks for the first time."""


def test_beyond_the_cap_the_page_polls(phones: Phones, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    service.stop()
    # One place, whether one has joined or not; the host's two are beside it.
    monkeypatch.setattr(sse, "MEMBER_PLACES", sse.HOST_PLACES)
    service.streams = 1
    service.start()
    service.companion.open_match()
    first = phones.spectator()
    expect(first.locator(".link.live")).to_be_visible()
    # Its clock stands still, and goes on by as much as the test says.
    second = phones.guest()
    second.clock.install(time=1_000_000_000)
    second.clock.pause_at(1_000_000_001)
    second.context.add_init_script(PLANS)
    second.goto(f"{service.url}/join#{service.companion.access.pin}")
    second.click("#enter")
    second.wait_for_function(f"() => planned.includes({FIRST_MS})")
    second.clock.run_for(FIRST_MS)
    expect(second.locator(".link.polling")).to_be_visible()
    # It asks as often as the service has told it to: 1.5 s lie between an answer and the next request, and no less.
    told = second.evaluate("JSON.parse(document.getElementById('page').textContent).poll_ms")
    assert told == POLL_MS == 1500
    asked: list[str] = []
    second.on("request", lambda request: asked.append(request.url) if "/api/state?after=" in request.url else None)
    for number in range(1, 5):
        second.wait_for_function(f"() => planned.filter((ms) => ms === {told}).length === {number}")
        second.clock.run_for(told - 1)
        assert len(asked) == number - 1
        with second.expect_request("**/api/state?after=*"):
            second.clock.run_for(1)
        assert len(asked) == number
    second.clock.resume()
    service.companion.moves("start")
    expect(second.locator(".play[data-phase=shaking]")).to_be_visible()
    # Its own entries show at once, without a stream.
    second.click(".who[data-colour=green]")
    second.click(".card[data-place=card9]")
    expect(second.locator(".iglet")).to_have_count(1)
    expect(first.locator(".iglet")).to_have_count(1)
    phones.forgive("503")


def test_a_phone_that_polls_hears_of_another_name(
    phones: Phones, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is played: the name is another one in the scores, in the log, and on the drawn board."""
    service.stop()
    # One place, whether one has joined or not; the host's two are beside it.
    monkeypatch.setattr(sse, "MEMBER_PLACES", sse.HOST_PLACES)
    service.streams = 1
    service.start()
    companion = service.companion
    companion.open_match(game="iglu-iglu", players=PLAYERS[:2], setup={})
    first, second = phones.spectator(), phones.player()
    expect(first.locator(".link.live")).to_be_visible()
    expect(second.locator(".link.polling")).to_be_visible()
    expect(second.locator(".on-board .board")).to_be_visible()
    ann = next(one["id"] for one in companion.people.all() if one["name"] == "Ann")
    companion.people.change(ann, {"name": "Annabel"})
    for page in (first, second):
        expect(page.locator(".scores")).to_contain_text("Annabel")
        expect(page.locator(".turns")).to_contain_text("Annabel")
        expect(page.locator(".on-board .board")).to_be_visible()
    phones.forgive("503")


def test_the_igloo_live(phones: Phones, service: Service) -> None:
    companion = service.companion
    companion.open_match()
    page = phones.player()
    expect(page.locator(".play")).to_be_visible()
    expect(page.locator(".igloo-panel")).to_have_count(0)
    companion.plug_in()
    panel = page.locator(".igloo-panel")
    # A family sees one dot, and that the igloo is ready; what it feels and counts unfolds from there.
    expect(panel).to_have_text(re.compile("^The igloo *ready *SIMULATED"))
    expect(panel.locator(".lamp.connected")).to_be_visible()
    expect(panel.locator(".motion")).not_to_be_visible()
    seen = panel.bounding_box()
    assert seen is not None
    assert seen["height"] < 80
    unfold(page)
    # Port, rate, samples and losses are for the workshop.
    expect(panel.locator(".facts")).to_have_count(0)
    page.click(".doors [href='#workshop']")
    expect(page.locator(".igloo-panel .facts")).to_contain_text("3,197.4 Hz")
    expect(page.locator(".igloo-panel .facts")).to_contain_text("16 samples lost")
    page.click(".doors [href='#']")
    unfold(page)
    companion.feel(MotionState.SHAKEN)
    expect(panel.locator(".motion")).to_contain_text("shaken")
    companion.hear(7)
    expect(panel.locator(".count")).to_have_attribute("data-count", "7")
    expect(panel.locator(".count svg")).to_have_attribute("aria-label", "Most likely 7 beads, 89%")
    phones.shot(page, "igloo", full=True)

    # In a live round nothing of it is left on the page.
    companion.moves("start")
    expect(panel).to_contain_text("hidden until the first igloo")
    companion.hear(9)
    companion.feel(MotionState.TURNED)
    expect(panel.locator(".motion")).to_contain_text("turned over")
    expect(panel.locator(".count")).to_have_count(0)

    # The next igloo placed wears the cap of the one igloo that is connected.
    page.click("[data-do=cap]")
    page.click(".who[data-colour=red]")
    page.click(".card[data-place=card6]")
    expect(page.locator(".iglet .waves")).to_have_count(1)
    assert match(service)["cards"][5]["igloos"] == [{"colour": "red", "number": None, "sensor": True}]
    assert service.companion.journal.since(0)[-1].body["sensor"] == "sim-1"
    expect(page.locator("[data-do=cap]")).to_have_count(0)

    page.click(".extras summary")
    page.click(".extras [data-count='5']")
    page.click(".extras [data-action=unplug]")
    wait(lambda: companion.played == [("shake", 5), ("unplug", None)])
    expect(page.locator(".refusal")).to_have_count(0)
    companion.do("check")
    companion.moves("reveal card6 9")
    expect(panel.locator(".count")).to_have_attribute("data-count", "9")


def test_coming_back_is_no_loss_in_the_workshop(phones: Phones, service: Service) -> None:
    companion = service.companion
    companion.igloos.told = [SIMULATED, replace(SIMULATED, key="sim-2", unit=2, counts=LinkCounts(reconnects=3))]
    page = phones.player()
    page.click(".doors [href='#workshop']")
    second = page.locator(".device").nth(1)
    expect(second).to_contain_text("came back 3 times")
    expect(second.locator(".bad")).to_have_count(0)
    companion.igloos.told[1] = replace(companion.igloos.told[1], counts=LinkCounts(glitches=2))
    companion.hub.publish("igloo", igloos_form(companion.igloos.told, simulated=True))
    expect(second.locator(".bad")).to_contain_text("2 wild samples left out")


def test_of_several_igloos_the_user_says_which(phones: Phones, service: Service) -> None:
    companion = service.companion
    companion.open_match()
    companion.moves("start")
    page = phones.player()
    companion.igloos.told = [SIMULATED, replace(SIMULATED, key="sim-2", unit=2, counts=LinkCounts(reconnects=3))]
    companion.hub.publish("igloo", igloos_form(companion.igloos.told, simulated=True))
    expect(page.locator("[data-do=cap]")).to_have_count(2)
    for igloo, colour in (("sim-2", "red"), ("sim-1", "blue")):
        page.click(f"[data-do=cap][data-igloo={igloo}]")
        expect(page.locator(f"[data-do=cap][data-igloo={igloo}]")).to_have_attribute("aria-pressed", "true")
        page.click(f".who[data-colour={colour}]")
        page.click(".card[data-place=card6]")
        wait(lambda igloo=igloo: companion.journal.since(0)[-1].body.get("sensor") == igloo)
    expect(page.locator("[data-do=cap]")).to_have_count(0)


def test_the_check_is_asked_for_only_where_it_cannot_be_taken_back(phones: Phones, service: Service) -> None:
    service.companion.open_match()
    service.companion.moves("start", "pass blue")
    page, other = phones.player(), phones.player()
    # Where no igloo stands a check ends the round, and no player brings it back: then it is asked first.
    page.click("[data-do=check]")
    expect(page.locator("#dialog")).to_contain_text("Has everybody stopped?")
    expect(page.locator("#dialog")).to_contain_text("Not yet passed: Ann and Green.")
    page.click("#dialog .second")
    expect(page.locator(".play[data-phase=shaking]")).to_be_visible()
    assert match(service)["phase"] == "shaking"
    # Else it is done at once, and who did it goes back.
    service.companion.moves("place red card1")
    expect(page.locator(".iglet")).to_have_count(1)
    page.click("[data-do=check]")
    expect(page.locator(".play[data-phase=checking]")).to_be_visible()
    expect(page.locator("[data-do=undo]")).to_have_count(1)
    expect(other.locator(".play[data-phase=checking]")).to_be_visible()
    expect(other.locator("[data-do=undo]")).to_have_count(0)
    page.click(".dock [data-do=undo]")
    expect(other.locator(".play[data-phase=shaking]")).to_be_visible()
    assert page.locator("#dialog[open]").count() == 0


def test_the_series_goes_on_after_new_players_was_tapped(phones: Phones, service: Service) -> None:
    companion = service.companion
    companion.open_match()
    for place in range(10):
        companion.moves("start", "place red card2")
        companion.do("check")
        companion.moves("reveal card2 13")
        assert match(service)["over"] == (place == 9)
    page = phones.host()
    page.click("[data-do=new-players]")
    expect(page.locator("form.setup")).to_be_visible()
    expect(page.locator(".go-on")).to_contain_text("The series to 100 points")
    page.click(".go-on [data-do=next-game]")
    expect(page.locator(".play")).to_be_visible()
    assert [player["name"] for player in match(service)["players"]] == ["Ann", "Bob", ""]


def test_the_host_changes_the_settings(phones: Phones, service: Service, tmp_path: Path) -> None:
    player = phones.player()
    expect(player.locator("[data-do=settings]")).to_have_count(0)
    page = phones.host()
    settings = service.companion.settings
    settings._path = tmp_path / "settings.json"
    write_settings(tmp_path / OFFERED, {"mqtt_address": "mqtt://other", "watchers_pictures": True})
    page.click("[data-do=settings]")
    # What a backup that was brought back says is shown, and taken where the host wants it.
    expect(page.locator("#dialog .note")).to_contain_text(["yes", "mqtt://other"])
    page.click("#dialog [data-do=take-offered][data-name=mqtt_address]")
    expect(page.locator("#dialog [name=mqtt_address]")).to_have_value("mqtt://other")
    expect(page.locator("#dialog textarea[name=host_names]")).to_have_value(NAME)
    page.fill("#dialog [name=house_name]", "Chez nous")
    page.fill("#dialog [name=host_names]", f"{NAME}\nhttp://games.example")
    page.uncheck("#dialog [name=evidence_each_round]")
    page.click("#dialog button[type=submit]")
    expect(page.locator("#settings-complaint")).to_contain_text("without http://")
    page.fill("#dialog [name=host_names]", f"{NAME}\ngames.example\n")
    phones.shot(page, "settings")
    page.click("#dialog button[type=submit]")
    expect(page.locator("#dialog")).not_to_be_visible()
    expect(page).to_have_title("Chez nous")
    assert service.companion.settings.lines("host_names") == (NAME, "games.example")
    assert service.companion.settings["evidence_each_round"] is False
    assert settings.text("mqtt_address") == "mqtt://other"
    assert not settings["watchers_pictures"] and settings.offered() == {}
    phones.forgive("400")


def test_faults_pause_and_correction(phones: Phones, service: Service) -> None:
    service.companion.open_match()
    service.companion.moves("start")
    host, watcher = phones.host(), phones.spectator()

    def menu(action: str) -> None:
        host.click("details.menu summary")
        host.click(f"details.menu [data-do={action}]")

    menu("fault-dialog")
    host.check("#dialog input[value='POP-2.4']")
    host.check("#dialog input[name=colour][value=blue]")
    host.click("#dialog button[type=submit]")
    expect(watcher.locator(".faults")).to_contain_text("Bob (blue)")
    expect(watcher.locator(".faults .clause")).to_have_text("POP-2.4")
    host.click("[data-do=dismiss-fault]")
    host.click("[data-do=dialog-yes]")
    expect(watcher.locator(".faults")).to_have_count(0)

    menu("pause")
    expect(watcher.locator(".sentence")).to_have_text("The night is paused.")
    expect(host.locator(".card[role=button]")).to_have_count(0)
    host.click(".dock [data-do=resume]")
    expect(host.locator(".seats button.who").first).to_be_enabled()

    menu("correct-dialog")
    host.check("#dialog input[name=colour][value=green]")
    host.fill("#points", "-2")
    host.fill("#reason", "counted twice")
    host.check("#dialog input[name=agreed]")
    host.click("#dialog button[type=submit]")
    expect(watcher.locator(".sheet.green .total")).to_have_text("8")
    expect(watcher.locator(".log li").first).to_contain_text("counted twice")


def test_a_photo_from_a_phone(phones: Phones, service: Service) -> None:
    service.companion.open_match()
    player, watcher = phones.player(), phones.spectator()
    with player.expect_response("**/api/photo") as sent:
        player.set_input_files("input[type=file]", {"name": "t.jpg", "mimeType": "image/jpeg", "buffer": JPEG})
    assert sent.value.ok
    expect(player.locator("[data-key=photo]")).to_contain_text("Corner markers 2 and 3 are not seen.")
    expect(player.locator(".picture img")).to_have_attribute("src", "/api/camera/frame.jpg?n=1")
    expect(watcher.locator(".picture, [data-key=photo]")).to_have_count(0)
    player.click("[data-do=keep]")
    expect(player.locator(".evidence li")).to_have_count(1)
    expect(watcher.locator(".evidence")).to_have_count(0)

    player.set_input_files("input[type=file]", {"name": "t.txt", "mimeType": "text/plain", "buffer": b"hello"})
    expect(player.locator(".refusal")).to_contain_text("This is no picture")
    phones.forgive("422")


def test_others_join_with_the_code(phones: Phones, service: Service) -> None:
    host = phones.host()
    host.click("[data-do=invite]")
    expect(host.locator("#dialog .pin")).to_have_text(service.companion.access.pin)
    expect(host.locator("#dialog")).to_contain_text(service.url)
    assert host.evaluate("document.querySelector('#dialog img').decode().then(() => true)")
    phones.shot(host, "invite")

    guest = phones.guest()
    guest.goto(f"{service.url}/join")
    guest.fill("#pin", "000000" if service.companion.access.pin != "000000" else "111111")
    guest.click("#enter")
    expect(guest.locator("[role=alert]")).to_contain_text("not the PIN")
    guest.fill("#pin", service.companion.access.pin)
    guest.fill("#label", "Zoé")
    guest.click("#enter")
    expect(guest.locator(".role")).to_have_text("Zoé")
    expect(guest.locator(".welcome")).to_contain_text("You are at the table.")
    phones.forgive("403")


def test_by_keyboard_alone(phones: Phones, service: Service) -> None:
    page = phones.host(width=1280, height=800)
    page.locator("form.setup button[type=submit]").focus()
    page.keyboard.press("Enter")
    expect(page.locator("[data-do=start]")).to_be_visible()
    page.locator("[data-do=start]").focus()
    page.keyboard.press("Space")
    expect(page.locator(".play[data-phase=shaking]")).to_be_visible()
    # The pressed button is gone; the focus stays in the game.
    assert page.evaluate("document.activeElement.id") == "stage"
    for _ in range(3):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.nodeName") == "SUMMARY"
    page.keyboard.press("Enter")
    expect(page.locator("details.menu[open]")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("details.menu[open]")).to_have_count(0)
    assert page.evaluate("document.activeElement.nodeName") == "SUMMARY"
    page.locator(".card[data-place=card2]").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".card[data-place=card2]")).to_have_attribute("aria-pressed", "true")
    # Tabbing goes on from the circle to the players.
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.dataset.colour") == "red":
            break
    page.keyboard.press("Enter")
    expect(page.locator(".card[data-key=card2] .iglet")).to_have_count(1)


def test_the_cards_end_question_is_asked(phones: Phones, service: Service) -> None:
    page = phones.host()
    page.click("form.setup .extras summary")
    question = page.locator("fieldset", has_text="When do the cards end the game?")
    # The table is asked before the game: the questions stand above the button that starts it.
    button = page.locator("form.setup button[type=submit]")
    assert question.bounding_box()["y"] < button.bounding_box()["y"]
    expect(question.locator("input").first).to_be_checked()
    expect(question).to_contain_text("(usual)")
    question.locator("input").nth(1).check()
    page.click("form.setup button[type=submit]")
    expect(page.locator(".play[data-phase=ready]")).to_be_visible()
    assert match(service)["options"]["pop.cards_end"] == "last_round"


def test_an_upgrade_reloads_the_page(phones: Phones, service: Service) -> None:
    page = phones.spectator()
    expect(page.locator(".link.live")).to_be_visible()
    page.evaluate("window.before = true")
    service.stop()
    service.stamp = "0123456789ab"
    service.start()
    page.wait_for_function("() => window.before === undefined")
    phones.overlook("ERR_", "404")
