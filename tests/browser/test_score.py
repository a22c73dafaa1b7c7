"""The score at the end without a record, and a dispute in a position set up by hand, by tapping."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from companion.lab.worlds.board import BoardShot
from companion.lab.worlds.filmed import GAME as IGLU
from companion.lab.worlds.filmed import Filmed
from companion.lab.worlds.ice_table import GAME, IceTable, played
from companion.rules.core import State
from companion.rules.inference.turns import content
from tests.browser.conftest import Phones, taken_up
from tests.browser.test_boards import stands_out
from tests.web.assembly import Service
from tests.worlds.wait import LESSON_S
from vision.board.labels import from_json

pytestmark = pytest.mark.browser


def entered(page: Page, colour: str, **values: int) -> None:
    for name, value in values.items():
        page.fill(f"input[data-seat={colour}][data-name={name}]", str(value))


def counted(page: Page) -> list[str]:
    with taken_up(page, "/api/position?"):
        page.click("[data-do=reckon]")
    expect(page.locator(".ranking .total").first).to_be_visible()
    return page.locator(".ranking .total").all_inner_texts()


@pytest.mark.parametrize(
    ("game", "numbers", "sentence"),
    [
        ("igloo-pop", {"red": {"three": 8}, "yellow": {"three": 8}}, "the box has only 12 in all"),
        ("igloo-pop", {"red": {"own": 11}}, "own thalers left: 10 at most"),
        ("iglu-iglu", {"red": {"trophies": 60}, "blue": {"trophies": 60}}, "The trophies of one box"),
        ("ice-team", {"green": {"home": 9}}, "bears in the Village: 4 at most"),
    ],
)
def test_what_no_box_holds_is_refused(
    phones: Phones, service: Service, game: str, numbers: dict[str, dict[str, int]], sentence: str
) -> None:
    page = phones.host()
    page.click("a[href='#score']")
    page.click(f"[data-do=score-game][data-game={game}]")
    expect(page.locator(f"[data-key=score-{game}]")).to_be_visible()
    for seat, values in numbers.items():
        entered(page, seat, **values)
    page.click("[data-do=reckon]")
    expect(page.locator(".refusal")).to_contain_text(sentence)
    expect(page.locator("[data-key=score-sheet]")).to_have_count(0)


@pytest.mark.parametrize(
    ("language", "dark", "width"), [("en-GB", False, 320), pytest.param("fr-FR", True, 1280, marks=pytest.mark.long)]
)
def test_every_game_is_counted(
    phones: Phones, service: Service, axe: Callable[[Page], list[str]], language: str, dark: bool, width: int
) -> None:
    page = phones.host(language=language, dark=dark, width=width, height=900)
    page.click("a[href='#score']")

    def game(game_id: str) -> None:
        page.click(f"[data-do=score-game][data-game={game_id}]")
        expect(page.locator(f"[data-key=score-{game_id}]")).to_be_visible()

    game("igloo-pop")
    entered(page, "red", three=2, one=1, own=4, captured=3)
    entered(page, "yellow", two=2, own=9)
    assert counted(page) == ["14", "13", "0"]
    expect(page.locator(".ranking .clause").first).to_be_visible()

    game("ice-team")
    entered(page, "green", fresh=3, frozen=5, home=4)
    entered(page, "red", fresh=7, frozen=1, home=2)
    assert counted(page) == ["8", "8"]

    game("arctic")
    for animal in ("fox", "fox", "moose", "moose", "moose"):
        page.click(f"[data-do=pile][data-seat=p1][data-animal={animal}]")
    page.click("[data-do=unpile][data-seat=p1]")
    page.click("[data-do=pile][data-seat=p2][data-animal=orca]")
    page.select_option("select[data-animal=bear]", "15")
    page.select_option("select[data-change=totem][data-seat=p1]", "bear")
    page.select_option("select[data-change=totem][data-seat=p2]", "fox")
    entered(page, "p1", penalty=2)
    # Runs of two foxes and two moose, two animals, the bear at 15, less two cards; an orca alone and the fox at 3.
    assert counted(page) == ["16", "3"]
    assert axe(page) == []
    assert stands_out(page) == []
    phones.shot(page, f"score-arctic-{width}", full=True)

    game("iglu-iglu")
    page.click("[data-tool=floe]")
    for square in ("c3", "c4", "d4"):
        page.click(f"[data-square={square}]")
    page.click("[data-tool='inuit red']")
    page.click("[data-square=c3]")
    page.click("[data-square=c3]")
    page.click("[data-tool='inuit blue']")
    page.click("[data-square=c4]")
    entered(page, "red", trophies=6)
    # An island of three for red, who has most there; blue is second.
    assert counted(page) == ["9", "1"]
    expect(page.locator(".note li").first).to_contain_text("5")
    signs = page.locator("[data-square]").evaluate_all(
        "(all) => all.map((one) => [one.textContent.replaceAll(/\\s/g, ''), one.getAttribute('aria-label')])"
    )
    assert any(sign for sign, _ in signs)
    assert [(sign, name) for sign, name in signs if sign not in name] == []
    assert axe(page) == []
    assert stands_out(page) == []
    phones.shot(page, f"score-iglu-{width}", full=True)


def test_a_dispute_in_a_position_set_up_by_hand(phones: Phones, service: Service) -> None:
    page = phones.player(width=768, height=1024)
    page.goto(f"{service.url}/#score")
    page.click("[data-do=score-game][data-game=iglu-iglu]")
    page.click("[data-tool=floe]")
    for square in ("c3", "c4"):
        page.click(f"[data-square={square}]")
    page.click("[data-tool='inuit red']")
    page.click("[data-square=c3]")
    page.fill("form[data-submit=judge-position] input", "walk c3 d3")
    page.click("form[data-submit=judge-position] button")
    expect(page.locator(".verdict.no")).to_be_visible()
    expect(page.locator(".verdict .cited li").first).to_be_visible()
    # The keyboard does as well as a finger.
    page.focus("[data-square=d3]")
    page.click("[data-tool=floe]")
    page.locator("[data-square=d3]").press("Enter")
    expect(page.locator("[data-square=d3]")).to_have_attribute("aria-label", "d3: floe")
    page.fill("form[data-submit=judge-position] input", "walk c3")
    page.click("form[data-submit=judge-position] button")
    expect(page.locator(".refusal")).to_be_visible()
    phones.forgive("400")


# --- a board game's sheet, filled from a photo


def taught(service: Service, shot: BoardShot, state: State[Any]) -> None:
    """Calibrate and teach as the host does in the workshop: one picture and the position in it."""
    table = service.companion.follow_service.table_of(state.position()["game"])
    table.calibrate(shot.image, shot.grid.astype(float))
    table.teach(shot.image, from_json(state.position(), table.layout))
    assert table.wait(LESSON_S), "it is still being learnt"
    assert table.taught, table.note


def sent(page: Page, game_id: str, photo: bytes) -> dict[str, Any]:
    """Send a photo into the sheet; return what the table answered."""
    with page.expect_response(f"**/api/camera/table/{game_id}/sheet") as told:
        page.set_input_files(
            "input[data-change=board-photo]", files=[{"name": "p.jpg", "mimeType": "image/jpeg", "buffer": photo}]
        )
    answer: dict[str, Any] = told.value.json()
    return answer


def never_silently_wrong(read: dict[str, Any], true: dict[str, Any]) -> list[str]:
    """Return the doubtful places; all others are what lies there."""
    assert {n for n, place in read.items() if not place["unsure"] and content(place) != content(true[n])} == set()
    return [name for name, place in read.items() if place["unsure"]]


def put_right(page: Page, read: dict[str, Any], true: dict[str, Any], things: list[dict[str, Any]]) -> None:
    """Check each doubtful place with a tap: it is so, or what lies there is said."""
    for name in [name for name, place in read.items() if place["unsure"]]:
        if content(read[name]) == content(true[name]):
            page.click(f"[data-do=sheet-yes][data-place='{name}']")
            continue
        page.locator(f"[data-key=checks] [data-do=sheet-place][data-place='{name}']").click()
        page.check(f"#dialog input[name=ground][value='{true[name]['ground']}']")
        for n, thing in enumerate(things):
            here = [one for one in true[name]["things"] if one["kind"] == thing["kind"]]
            count = sum(
                one.get("count", 1)
                for one in here
                if one.get("colour", one.get("value")) == thing.get("colour", thing.get("value"))
            )
            page.fill(f"#dialog input[name=thing-{n}]", str(count))
        page.click("#dialog button[type=submit]")
    expect(page.locator("[data-key=checks] li")).to_have_count(0)


@pytest.mark.usefixtures("prompt_lessons")
@pytest.mark.long
def test_the_sheet_of_ice_team_fills_itself_from_a_photo(
    phones: Phones, service: Service, axe: Callable[[Page], list[str]]
) -> None:
    table = IceTable(5)
    over = played(52)[-1]
    position = over.position()
    true = position["places"]
    covered = table.photo(true, 9)
    x, y = covered.grid[2]
    arm = ((x - 60, y - 40), (x + 60, y - 50), (x + 90, y + 500), (x - 60, y + 500))
    page = phones.player(width=412, height=915)
    page.goto(f"{service.url}/#score")
    page.click("[data-do=score-game][data-game=ice-team]")
    # Nobody has taught this table: the page says so, and leads to where it is done.
    assert sent(page, GAME, covered.jpeg)["error"]["code"] == "not-taught"
    phones.forgive("409")
    expect(page.locator("[data-key=untaught] a")).to_have_attribute("href", "#workshop/camera")
    shown = table.states[len(table.states) // 6]
    taught(service, table.photo(shown.position()["places"], 0, moved=0), shown)

    read = sent(page, GAME, covered.jpeg)["places"]
    never_silently_wrong(read, true)
    for colour in ("green", "red"):
        home = sum(one["count"] for one in read["village"]["things"] if one["colour"] == colour)
        expect(page.locator(f"input[data-seat={colour}][data-name=home]")).to_have_value(str(home))

    # An arm over the Village: what cannot be seen is named as what to check, and fish are not in the picture at all.
    answer = sent(page, GAME, table.photo(true, 9, hands=(arm,)).jpeg)
    read = answer["places"]
    assert "village" in never_silently_wrong(read, true)
    expect(page.locator("[data-key=checks]")).to_contain_text("Check this")
    expect(page.locator("[data-key=check-village]")).to_be_visible()
    label = page.locator("[data-key=cell-village]")
    expect(label).to_have_attribute("aria-label", re.compile("Check this"))
    expect(page.locator("[data-key=unseen]")).to_contain_text("fresh fish")
    expect(page.locator("[data-key=never-taught]")).to_contain_text("penguins 4")
    assert axe(page) == []
    assert stands_out(page) == []
    phones.shot(page, "score-ice-photo", full=True)
    put_right(page, read, true, answer["things"])
    expect(label).not_to_have_attribute("aria-label", re.compile("Check this"))
    for player in position["players"]:
        home = sum(one["count"] for one in true["village"]["things"] if one["colour"] == player["colour"])
        expect(page.locator(f"input[data-seat={player['colour']}][data-name=home]")).to_have_value(str(home))
    page.click("[data-do=reckon]")
    expect(page.locator("[data-key=score-sheet] .note").first).to_contain_text("Not everything has been checked")
    for player in position["players"]:
        entered(page, player["colour"], fresh=player.get("fresh", 0), frozen=player.get("frozen", 0))
    expect(page.locator("[data-key=unseen]")).to_have_count(0)
    totals = sorted((str(one.total) for one in over.score().sheets), key=int, reverse=True)
    assert counted(page) == totals
    expect(page.locator("[data-key=score-sheet]")).not_to_contain_text("Not everything has been checked")


@pytest.mark.usefixtures("prompt_lessons")
def test_the_sheet_of_iglu_iglu_fills_itself_from_a_photo(
    phones: Phones, service: Service, axe: Callable[[Page], list[str]]
) -> None:
    film = Filmed(5, 6, kept=1.0)
    position = film.states[5].position()
    true = position["places"]
    taught(service, film.photo(film.states[4].position()["places"], 4), film.states[4])
    page = phones.player(language="fr-FR", dark=True)
    page.goto(f"{service.url}/#score")
    page.click("[data-do=score-game][data-game=iglu-iglu]")
    _, _, right, left = film.photo(true).grid
    x, y = 0.75 * right + 0.25 * left
    arm = ((x - 35, y - 120), (x + 35, y - 130), (x + 55, y + 500), (x - 35, y + 500))
    answer = sent(page, IGLU, film.photo(true, 77, arms=(arm,)).jpeg)
    read = answer["places"]
    doubtful = never_silently_wrong(read, true)
    assert {"f1", "g1"} & set(doubtful) and len(doubtful) < 16, "an arm lies over the near edge"
    expect(page.locator(".editor .square.unsure")).to_have_count(len(doubtful))
    expect(page.locator("[data-key=checks] li")).to_have_count(len(doubtful))
    for ground in ("floe", "water", "land"):
        count = sum(place["ground"] == ground for place in read.values())
        expect(page.locator(f".editor .square.{ground}")).to_have_count(count)
    assert axe(page) == []
    assert stands_out(page) == []
    phones.shot(page, "score-iglu-photo", full=True)
    put_right(page, read, true, answer["things"])
    for player in position["players"]:
        trophies = sum(one["value"] * one.get("count", 1) for one in position["trophies"].get(player["colour"], []))
        entered(page, player["colour"], trophies=trophies)
    expect(page.locator("[data-key=unseen]")).to_have_count(0)
    assert counted(page) == sorted((str(one.total) for one in film.states[5].score().sheets), key=int, reverse=True)
