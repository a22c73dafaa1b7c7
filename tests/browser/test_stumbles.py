"""What new players stumbled over on the page: each of these was in somebody's way at a table."""

from __future__ import annotations

import re
from contextlib import nullcontext
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from companion.lab.worlds.boards import players
from companion.ports import CameraStatus, DeviceKind, DeviceState
from tests.browser.conftest import Phones, sent, taken_up
from tests.browser.test_training import history
from tests.web.assembly import Service
from web.http.json_forms import camera_form

pytestmark = pytest.mark.browser


def in_view(page: Page, selector: str) -> bool:
    """Return whether something lies wholly within the window."""
    box = page.locator(selector).first.bounding_box()
    size = page.viewport_size
    assert box is not None and size is not None
    return box["y"] >= 0 and box["y"] + box["height"] <= size["height"]


@pytest.mark.parametrize("game", ["igloo-pop", "arctic"])
def test_a_game_that_begins_is_seen_from_its_top(phones: Phones, service: Service, game: str) -> None:
    host, player = phones.host(), phones.player()
    host.click(f"[data-do=choose-game][data-game={game}]")
    player.evaluate("scrollTo(0, document.body.scrollHeight)")
    host.evaluate("scrollTo(0, document.body.scrollHeight)")
    assert host.evaluate("scrollY") > 0
    host.click("form.setup button[type=submit]")
    for page in (host, player):
        expect(page.locator(".play .now h1")).to_be_visible()
        page.wait_for_function("() => scrollY === 0")
        assert in_view(page, ".play .now h1")


def test_the_best_turn_is_told_without_a_ruling(phones: Phones, service: Service) -> None:
    played_out(service)
    host = phones.host()
    expect(host.locator("[data-key=best]")).to_contain_text("The best round: Ann, 3 points.")


def played_out(service: Service) -> None:
    """Let red win a card of three points, and then lose all thalers in a round: the game is over."""
    companion = service.companion
    companion.open_match()
    companion.moves("start", "place red card2")
    companion.do("check")
    companion.moves("reveal card2 2")
    companion.do("deal", {"cards": {"card2": "3"}})
    companion.moves("start", *["place red card8"] * 10)
    companion.do("check")
    companion.moves(*[f"reveal card8 {n}" for n in range(2, 12)])


def test_a_good_result_stands_alone_and_in_sight(phones: Phones, service: Service) -> None:
    page = phones.host()
    page.goto(f"{service.url}/#score")
    page.click("[data-do=score-game][data-game=igloo-pop]")
    page.fill("input[data-seat=red][data-name=own]", "11")
    page.click("[data-do=reckon]")
    expect(page.locator(".refusal")).to_contain_text("own thalers left: 10 at most")
    page.fill("input[data-seat=red][data-name=own]", "8")
    with taken_up(page, "/api/position?"):
        page.click("[data-do=reckon]")
    expect(page.locator("[data-key=score-sheet] .ranking")).to_be_visible()
    expect(page.locator(".refusal")).to_have_count(0)
    assert in_view(page, "[data-key=score-sheet] .rank")


def test_a_double_tap_is_one_igloo_and_not_the_next_player_s(phones: Phones, service: Service) -> None:
    companion = service.companion
    companion.open_match()
    companion.moves("start")
    page = phones.player()
    page.click(".who[data-colour=red]")
    page.dblclick(".card[data-place=card4]")
    expect(page.locator(".iglet")).to_have_count(1)
    page.click(".who[data-colour=blue]")
    sent(page)
    expect(page.locator(".who[data-colour=blue]")).to_have_attribute("aria-pressed", "true")
    page.click(".card[data-place=card6]")
    expect(page.locator(".iglet")).to_have_count(2)
    cards = companion.night.view()["match"]["cards"]
    assert [[one["colour"] for one in cards[n]["igloos"]] for n in (3, 5)] == [["red"], ["blue"]]


def test_a_table_that_does_not_answer_is_told_on_a_phone(phones: Phones, service: Service) -> None:
    service.companion.open_match()
    page = phones.player()
    late: list[Route] = []
    page.route("**/api/do", lambda route: late.append(route), times=1)  # noqa: PLW0108
    with page.expect_request("**/api/do"):
        page.click("[data-do=start]")
    told = page.locator(".refusal-slot [role=status]")
    expect(told).to_contain_text("The table does not answer yet. What you tapped is kept and sent again by itself.")
    assert in_view(page, ".refusal-slot [role=status]")
    phones.shot(page, "no-answer-yet")
    late.pop().continue_()
    expect(page.locator(".play[data-phase=shaking]")).to_be_visible()
    expect(told).to_have_count(0)


def calibrating(*, before: float, now: float) -> dict[str, Any]:
    """Return a sitting as it is told after twelve shakes, with the share of right counts before and now."""

    def how(exact: float) -> dict[str, Any]:
        return {"exact": exact, "exact_interval": [0.1, 0.9], "within_one": 0.9, "mae": 2 * (1 - exact), "shakes": 12}

    return {
        "task": "calibrate", "igloo": "sim-1", "device": "simulated", "kind": "simulated", "there": True,
        "paused": False, "person": "", "way": "cap", "guided": False, "count": 5, "kept": 12, "own": 12,
        "stages": [12], "goal": 36, "last": 5, "good": True, "note": None, "used": False,
        "seconds": 4.0, "shaken_s": 0.0, "gauge": None,
        "by_count": {"5": 12}, "figures": {"before": how(before), "now": how(now), "new_hand": None},
    }  # fmt: skip


@pytest.mark.parametrize("worse", [True, False])
def test_a_calibration_that_is_not_better_is_not_the_first_choice(
    phones: Phones, service: Service, monkeypatch: pytest.MonkeyPatch, worse: bool
) -> None:
    run = service.companion.calibration_run
    sitting = calibrating(before=0.58, now=0.42 if worse else 0.83)
    told = run.state()
    monkeypatch.setattr(run, "state", lambda: {**told, "hidden": False, "sitting": sitting})
    service.companion.plug_in()
    page = phones.host()
    page.goto(f"{service.url}/#workshop/igloo")
    expect(page.locator(".sitting .quality")).to_contain_text("42" if worse else "83")
    buttons = page.locator("[data-key=acts] button")
    if not worse:
        expect(page.locator("[data-key=acts] .main")).to_have_text("Use it")
        return
    expect(page.locator(".sitting .note")).to_contain_text("Not better than uncalibrated yet")
    expect(page.locator("[data-key=acts] .main")).to_have_count(0)
    assert buttons.last.inner_text() == "Use it anyway"
    expect(page.locator("[data-key=full]")).to_have_text("Keep shaking: 36 shakes are better.")
    phones.shot(page, "calibration-worse", full=True)


def test_photos_of_cards_that_were_never_taught_lead_to_the_teaching(phones: Phones, service: Service) -> None:
    host, player = phones.host(), phones.player()
    for page in (host, player):
        page.goto(f"{service.url}/#score")
        page.click("a[href='#photo']")
        expect(page.locator("[data-key=untaught]")).to_contain_text("Show them to it once")
        expect(page.locator("[data-change^=round], [data-change=pile-photo]")).to_have_count(0)
    expect(player.locator(".teach-cards")).to_contain_text("The host teaches the cards.")
    assert in_view(host, ".teach-cards summary")
    expect(host.locator("[data-change=teach-sheet]")).to_have_count(1)
    phones.shot(host, "photo-untaught", full=True)


def test_a_series_of_one_game_stands_in_no_other(phones: Phones, service: Service) -> None:
    played_out(service)
    service.companion.do("close-match")
    host = phones.host()
    host.click("[data-do=choose-game][data-game=igloo-pop]")
    expect(host.locator("[data-key=go-on]")).to_contain_text("The series to 100 points")
    expect(host.locator("[data-key=go-on] .thaler")).to_have_count(3)
    for game in ("arctic", "ice-team", "iglu-iglu"):
        host.click(f"[data-do=choose-game][data-game={game}]")
        expect(host.locator(f"[data-key=setup-{game}]")).to_be_visible()
        expect(host.locator("[data-key=go-on]")).to_have_count(0)


def test_the_hidden_count_says_until_when_also_during_the_check(phones: Phones, service: Service) -> None:
    companion = service.companion
    companion.plug_in()
    companion.open_match()
    companion.moves("start", "place red card2")
    page = phones.player()
    hidden = page.locator("[data-key=igloo] [data-key=hidden]")
    expect(hidden).to_contain_text("hidden until the first igloo of the check is turned over")
    companion.do("check")
    expect(page.locator(".play[data-phase=checking]")).to_be_visible()
    expect(hidden).to_contain_text("hidden until the first igloo of the check is turned over")
    companion.moves("reveal card2 2")
    expect(hidden).to_have_count(0)


def test_the_training_room_has_one_figure_for_one_thing(phones: Phones, service: Service) -> None:
    ann, _ = history(service.companion)
    training = service.companion.training
    own = training.figures(ann)
    right = sum(one["own"]["answers"] * (one["own"]["exact"] or 0.0) for one in own["counts"])
    off = sum(one["own"]["answers"] * (one["own"]["error"] or 0.0) for one in own["counts"])
    answers = own["overall"]["own"]["answers"]
    page = phones.player()
    page.goto(f"{service.url}/training#progress")
    page.click(f".who-trains [data-person='{ann}']")
    mine = page.locator(".sums tr.own td")
    expect(mine.nth(0)).to_have_text(f"{right / answers:.0%}")
    expect(mine.nth(1)).to_have_text(f"{off / answers:.2f}")
    page.click("text=Ladder")
    rung = page.locator(".ladder tr.person", has_text="Ann").locator("td")
    expect(rung.nth(1)).to_have_text(f"{off / answers:.2f}")
    expect(rung.nth(2)).to_have_text(f"{right / answers:.0%}")


def test_the_title_says_whose_turn_it_is_and_that_it_is_mine(phones: Phones, service: Service) -> None:
    companion = service.companion
    companion.do("open-match", {"game": "arctic", "players": players("arctic"), "draw": True})
    companion.do("deal")
    turn = next(one for one in companion.night.view()["match"]["players"] if one["turn"])
    page = phones.player()
    page.wait_for_function(f"() => document.title === '{turn['name']} plays · Tabletop Companion'")
    page.click(f"[data-do=seat][data-colour={turn['colour']}]")
    page.wait_for_function("() => document.title === 'It is your turn. · Tabletop Companion'")
    companion.do("end-early")
    page.wait_for_function("() => document.title === 'Tabletop Companion'")


def test_igloos_are_shown_where_the_game_is_played_with_them(phones: Phones, service: Service) -> None:
    service.companion.plug_in()
    service.companion.do("open-match", {"game": "arctic", "players": players("arctic")})
    page = phones.player()
    expect(page.locator(".scores")).to_be_visible()
    expect(page.locator(".igloo-panel")).to_have_count(0)


TECHNICAL = re.compile(r"usb:|http address|No camera|No igloo|1,?280|Port|Sample|/s")


@pytest.mark.parametrize("game", [None, "igloo-pop", "iglu-iglu", "arctic", "ice-team"])
def test_a_table_without_devices_has_no_panel_of_them(phones: Phones, service: Service, game: str | None) -> None:
    companion = service.companion
    if game == "igloo-pop":
        companion.open_match()
    elif game:
        companion.do("open-match", {"game": game, "players": players(game)})
    page = phones.host(width=1280)
    side = page.locator("#side")
    expect(page.locator(".play" if game else "form.setup")).to_be_visible()
    expect(side.locator(".settings-link")).to_be_visible()
    expect(side.locator("[data-key=igloo], [data-key=camera]")).to_have_count(0)
    # A photo is sent where the rounds of a game are scored by photo.
    expect(side.locator("[data-change=photo]")).to_have_count(int(game == "igloo-pop"))
    expect(side).not_to_contain_text(TECHNICAL)
    # With a camera there is one line of it, and what it is stands in the workshop.
    companion.camera_service.choose("usb:7")
    camera = CameraStatus("usb:7", DeviceKind.REAL, DeviceState.CONNECTED, 1280, 720, 15.0)
    companion.camera_service.told = camera
    companion.hub.publish("camera", camera_form(camera, None, companion.follow_service.status()))
    expect(side.locator("[data-key=camera]")).to_have_text(re.compile("^The camera *ready *real$"))
    expect(side.locator("[data-key=camera] .lamp.connected")).to_be_visible()
    expect(side).not_to_contain_text(TECHNICAL)
    phones.shot(page, f"devices-{game}")
    # This camera only says that it is there: it has no picture for the workshop, which asks for one where a board is.
    on_board = game not in ("igloo-pop", "arctic")
    with page.expect_response(lambda one: one.status == 404) if on_board else nullcontext():
        page.evaluate("location.hash = '#workshop/camera'")
    panel = page.locator(".camera-panel")
    expect(panel).to_contain_text("1280 × 720, 15.0/s")
    expect(panel.locator("[data-change=photo]")).to_have_count(1)
    page.click(".camera-panel summary")
    expect(panel).to_contain_text("usb:0, pi, or the http address of a stream")
    page.fill("#camera-source", "")
    page.click(".source button")
    expect(panel).to_contain_text("No camera is chosen")
    page.evaluate("location.hash = '#workshop/igloo'")
    expect(page.locator("[data-key=part-igloo]")).to_contain_text("No igloo with a sensor is connected")
    if on_board:
        phones.forgive("404")


@pytest.mark.parametrize(("there", "module"), [("/", "lively"), ("/tv", "lively"), ("/#learn", "learn")])
def test_what_could_not_be_fetched_comes_when_the_table_is_back(
    phones: Phones, service: Service, there: str, module: str
) -> None:
    phones.host().click("form.setup button[type=submit]")
    page = phones.guest()
    cut = re.compile(rf"/js/{module}\.js")
    page.route(cut, lambda route: route.abort("internetdisconnected"))
    with page.expect_event("requestfailed", lambda one: bool(cut.search(one.url))):
        page.goto(f"{service.url}{there}")
    expect(page.locator(".link.live, .tv-now").first).to_be_visible()
    page.unroute(cut)
    page.wait_for_selector("body.lively" if module == "lively" else "#stage h1", state="attached")
    phones.forgive("ERR_INTERNET_DISCONNECTED")


@pytest.mark.parametrize(("language", "said"), [("de-DE", "0,0 MB"), ("fr-FR", "0,0 Mo")])
def test_fractions_are_written_as_the_reader_does(phones: Phones, service: Service, language: str, said: str) -> None:
    # The language of the page is chosen on it, whatever the phone speaks.
    page = phones.host(width=1000)
    page.click(f".languages [value={language[:2]}]")
    page.goto(f"{service.url}/#workshop/backups")
    page.click("[data-do=make-backup]")
    expect(page.locator(".backup")).to_contain_text(said)
    words = "document.querySelector('script[type=module]').src.replace('main.js', 'words.js')"
    assert page.evaluate(f"async () => (await import({words})).t('%(mb)s MB', {{ mb: 1.25 }})") == said.replace(
        "0,0", "1,25"
    )
    assert page.evaluate(f"async () => (await import({words})).t('%(mb)s MB', {{ mb: 2026 }})") == said.replace(
        "0,0", "2026"
    )
