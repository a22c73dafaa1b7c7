"""Everybody is somebody: a phone says once who has it, and then one tap is enough for what is that person's."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from companion.lab.worlds.boards import players, record
from tests.browser.conftest import Phones, sent
from tests.browser.test_look import overflow
from tests.web.assembly import Service

pytestmark = pytest.mark.browser

THREE = [{"name": "Ann", "colour": "red"}, {"name": "Bob", "colour": "blue"}, {"name": "Zoé", "colour": "green"}]
ROUND = [
    ("red", "card1"),
    ("blue", "card3"),
    ("green", "card5"),
    ("red", "card2"),
    ("blue", "card7"),
    ("green", "card9"),
]


def middle(page: Page, selector: str) -> tuple[float, float]:
    box = page.locator(selector).first.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def put(page: Page, colour: str, place: str) -> None:
    """Tap a player, then the card."""
    page.click(f".who[data-colour={colour}]")
    page.click(f".card[data-place={place}]")


def carry(page: Page, colour: str, place: str) -> None:
    """Carry a player's thaler to a card: one movement of a finger, counted as one tap."""
    page.mouse.move(*middle(page, f".who[data-colour={colour}]"))
    page.mouse.down()
    page.mouse.move(*middle(page, f".card[data-place={place}]"), steps=4)
    page.mouse.up()


def reveal(page: Page, number: int) -> None:
    """Enter the number of the igloo that is asked for, and wait until the next one is."""
    page.click(f"[data-do=reveal][data-number='{number}']:enabled")
    page.wait_for_selector(f"[data-do=reveal][data-number='{number}']:enabled", state="detached")


@pytest.mark.parametrize(("way", "each", "all_in_all"), [(carry, 1, 14), (put, 2, 20)])
def test_a_round_of_six_igloos_takes_fourteen_taps_of_one_phone(
    phones: Phones, service: Service, way: Callable[[Page, str, str], None], each: int, all_in_all: int
) -> None:
    companion = service.companion
    companion.open_match(players=THREE, draw=True)
    page = phones.host()
    taps = 0
    page.click("[data-do=start]")
    taps += 1
    expect(page.locator(".play[data-phase=shaking]")).to_be_visible()
    for n, (colour, place) in enumerate(ROUND, 1):
        way(page, colour, place)
        taps += each
        expect(page.locator(".iglet")).to_have_count(n)
    page.click("[data-do=check]")
    taps += 1
    expect(page.locator(".play[data-phase=checking]")).to_be_visible()
    for number in range(2, 8):
        reveal(page, number)
        taps += 1
    expect(page.locator(".results li")).to_have_count(6)
    # The companion draws: the new cards lie there by themselves, and the next round can be started.
    expect(page.locator(".play[data-phase=ready] [data-do=start]")).to_be_visible()
    assert page.locator("[data-do=deal]").count() == 0
    assert taps == all_in_all
    match = companion.night.view()["match"]
    stood = {result["place"]: [one["colour"] for one in result["igloos"]] for result in match["results"]}
    assert stood == {place: [colour] for colour, place in ROUND}
    assert any(result["winner"] for result in match["results"]), "no card was won, so none was to be drawn"
    assert all(card["numbers"] for card in match["cards"])
    # A wrong last number: one way back leads to it, past the cards that were drawn by themselves.
    page.click(".tools [data-do=undo]")
    page.click("[data-do=dialog-yes]")
    expect(page.locator(".play[data-phase=checking] .key:not(:disabled)").first).to_be_visible()
    expect(page.locator(".results li")).to_have_count(5)
    reveal(page, 7)
    page.click(".play[data-phase=ready] [data-do=start]")
    expect(page.locator(".play[data-phase=shaking]")).to_be_visible()


def test_with_phones_of_their_own_the_host_taps_twice(phones: Phones, service: Service) -> None:
    companion = service.companion
    host = phones.host()
    joined = {}
    for player in THREE:
        page = phones.guest()
        page.goto(f"{service.url}/join#{companion.access.pin}")
        page.fill("#label", player["name"])
        page.click("#enter")
        expect(page.locator(".me .role")).to_have_text(player["name"])
        joined[player["name"]] = page
    # Who joined with a name is known: a face seats each.
    for player in THREE:
        host.click(f".here button:has-text('{player['name']}')")
    host.click("form.setup button[type=submit]")
    expect(host.locator("[data-do=start]")).to_be_visible()
    seated = {player["name"]: player["colour"] for player in companion.night.view()["match"]["players"]}
    mine = {seated[name]: page for name, page in joined.items()}
    taps = 0

    def tap(selector: str) -> None:
        nonlocal taps
        host.click(selector)
        taps += 1

    tap("[data-do=start]")
    for n, (colour, place) in enumerate(ROUND, 1):
        page = mine[colour]
        expect(page.locator(f".who[data-colour={colour}]")).to_have_attribute("aria-pressed", "true")
        page.click(f".card[data-place={place}]")
        expect(page.locator(".iglet")).to_have_count(n)
    expect(host.locator(".iglet")).to_have_count(len(ROUND))
    tap("[data-do=check]")
    for number in range(2, 8):
        reveal(mine["red"], number)
    expect(host.locator("[data-do=start]")).to_be_visible()
    assert taps <= 2
    log = [line["en"] for line in companion.night.view()["log"]]
    assert sum("Zoé" in line for line in log) >= 2
    # Whoever lends a hand to somebody else taps that player first, as everywhere.
    tap("[data-do=start]")
    page = mine["red"]
    expect(page.locator(".play[data-phase=shaking]")).to_be_visible()
    page.click(".who[data-colour=blue]")
    page.click(".card[data-place=card4]")
    expect(page.locator(".iglet")).to_have_count(1)
    assert companion.night.view()["match"]["cards"][3]["igloos"][0]["colour"] == "blue"
    expect(page.locator(".who[data-colour=red]")).to_have_attribute("aria-pressed", "true")


@pytest.mark.parametrize(
    ("dark", "language", "width"), [(False, "en-GB", 390), (True, "de-DE", 320), (False, "fr-FR", 390)]
)
def test_who_has_a_phone_is_said_once_for_table_seat_and_training(
    phones: Phones, service: Service, axe: Callable[[Page], list[str]], dark: bool, language: str, width: int
) -> None:
    companion = service.companion
    companion.people.add("Ann")
    page = phones.player(dark=dark, language=language, width=width)
    expect(page.locator(".own-phone [data-name=Ann]")).to_be_visible()
    assert axe(page) == []
    phones.shot(page, f"own-phone-{language}-{width}")
    page.click(".own-phone [data-name=Ann]")
    expect(page.locator(".me .role")).to_have_text("Ann")
    expect(page.locator(".own-phone")).to_have_count(0)
    expect(page.locator(".me .face")).to_be_visible()
    # At the table: the seat of that name is this phone's, from the moment the game is opened.
    host = phones.host()
    host.fill("input[name=name-red]", "Ann")
    host.click("form.setup button[type=submit]")
    host.click("[data-do=start]")
    expect(page.locator(".who[data-colour=red]")).to_have_attribute("aria-pressed", "true")
    assert axe(page) == []
    page.click(".card[data-place=card6]")
    expect(page.locator(".iglet")).to_have_count(1)
    # In the training room: the same person trains, without being asked.
    page.goto(f"{service.url}/training#drill")
    expect(page.locator(".who-trains [aria-pressed=true]")).to_have_text("Ann")


def test_who_trains_first_has_the_phone_at_the_table_too(phones: Phones, service: Service) -> None:
    page = phones.player()
    page.goto(f"{service.url}/training#drill")
    page.fill("#newcomer", "Zoé")
    with page.expect_response("**/api/me"):
        page.click(".newcomer button")
    page.goto(service.url)
    expect(page.locator(".me .role")).to_have_text("Zoé")
    assert [one["name"] for one in service.companion.people.all()] == ["Zoé"]
    # The host's phone may be the whole table's: training on it says nothing of the table.
    host = phones.host()
    host.goto(f"{service.url}/training#drill")
    host.click(".who-trains [data-do=who]")
    expect(host.locator("[data-key=drill]")).to_be_visible()
    host.goto(service.url)
    expect(host.locator(".me .role")).to_have_text("Host")


def test_a_seat_without_a_name_is_chosen_and_given_back(phones: Phones, service: Service) -> None:
    service.companion.open_match()
    page, other = phones.player(), phones.player()
    page.click("[data-key=whose] [data-colour=green]")
    expect(page.locator("[data-key=whose] [data-colour=green]")).to_have_attribute("aria-pressed", "true")
    other.click("[data-key=whose] [data-colour=green]")
    expect(other.locator(".refusal")).to_contain_text("Another phone has taken this seat")
    service.companion.moves("start")
    page.click(".card[data-place=card2]")
    expect(page.locator(".iglet")).to_have_count(1)
    page.click("[data-key=whose] [data-colour='']")
    expect(page.locator("[data-key=whose] [data-colour='']")).to_have_attribute("aria-pressed", "true")
    page.click(".card[data-place=card2]")
    sent(page)
    expect(page.locator(".sentence")).to_contain_text("now tap the player")
    phones.forgive("409")


def test_the_host_goes_back_from_a_check_that_came_too_early(phones: Phones, service: Service) -> None:
    companion = service.companion
    companion.open_match()
    companion.moves("start", "place red card1")
    page = phones.host()
    page.click("[data-do=check]")
    back = page.locator(".dock [data-do=undo]")
    expect(back).to_have_text("Not yet: keep shaking")
    # There is one way back, and nobody is asked: nothing was turned over.
    expect(page.locator("[data-do=undo]")).to_have_count(1)
    back.click()
    expect(page.locator(".play[data-phase=shaking]")).to_be_visible()
    assert page.locator("#dialog[open]").count() == 0
    expect(page.locator(".now [data-do=undo]")).to_have_count(1)
    page.click("[data-do=check]")
    expect(back).to_be_visible()
    # While the night is paused the way back is in its usual place.
    companion.do("pause")
    expect(page.locator(".now [data-do=undo]")).to_have_count(1)
    expect(back).to_have_count(0)
    companion.do("resume")
    expect(back).to_be_visible()
    companion.moves("reveal card1 4")
    expect(page.locator(".results li")).to_have_count(1)
    expect(back).to_have_count(0)


def test_what_may_be_done_is_said_at_any_time(
    phones: Phones, service: Service, axe: Callable[[Page], list[str]]
) -> None:
    companion = service.companion
    companion.open_match()
    for page in (phones.player(), phones.spectator(dark=True, width=320)):
        page.click("[data-do=may]")
        expect(page.locator("#dialog .may")).to_contain_text("The youngest counts to three")
        assert axe(page) == []
        page.click("#dialog .clause >> nth=0")
        expect(page.locator("#dialog .clause-text")).not_to_be_empty()
    companion.do("close-match")
    companion.do("open-match", {"game": "iglu-iglu", "players": THREE[:2], "draw": True})
    companion.do("deal")
    page = phones.player()
    expect(page.locator(".on-board[data-state]")).to_be_visible()
    page.click("[data-do=may]")
    moves = companion.night.board(None, "en")
    assert moves is not None
    kinds = {(move["group"] or {}).get("en", "") for move in moves["moves"]}
    expect(page.locator("#dialog .may-kind")).to_have_count(len(kinds))
    expect(page.locator("#dialog .may-kind li").first).not_to_be_empty()
    # Each kind stands with its clauses, and each of them is one tap away.
    for n in range(len(kinds)):
        expect(page.locator("#dialog .may-kind").nth(n).locator(".clause").first).to_be_visible()
    phones.shot(page, "may-iglu-iglu")
    assert axe(page) == []


@pytest.mark.parametrize("game", ["arctic", "ice-team"])
def test_what_may_be_done_on_a_board_names_its_clauses(phones: Phones, service: Service, game: str) -> None:
    companion = service.companion
    companion.do("open-match", {"game": game, "players": players(game)})
    companion.moves(*record(game, 5)[:20])
    page = phones.player(width=320)
    expect(page.locator(".on-board[data-state]")).to_be_visible()
    page.click("[data-do=may]")
    kinds = page.locator("#dialog .may-kind")
    expect(kinds.first).to_be_visible()
    for n in range(kinds.count()):
        expect(kinds.nth(n).locator(".clause").first).to_be_visible()
    clause = page.locator("#dialog .clause").first
    name = clause.inner_text()
    clause.click()
    expect(page.locator("#dialog h2")).to_have_text(name)
    expect(page.locator("#dialog .clause-text")).not_to_be_empty()


WHOLE = """() => {
  const box = document.querySelector('.play svg.circle, .play svg.board:not(.source)').getBoundingClientRect();
  return [box.top >= 0, box.bottom <= innerHeight + 1, box.left >= 0, box.right <= innerWidth + 1,
    Math.max(box.width / innerWidth, box.height / innerHeight)];
}"""


@pytest.mark.parametrize(("width", "height"), [(844, 390), (667, 375), (768, 1024), (820, 1180), (1180, 820)])
@pytest.mark.parametrize("game", ["igloo-pop", "iglu-iglu", "arctic", "ice-team"])
def test_phones_on_their_side_and_tablets_show_the_board_whole(
    phones: Phones, service: Service, game: str, width: int, height: int
) -> None:
    companion = service.companion
    if game == "igloo-pop":
        companion.open_match(players=THREE)
        companion.moves("start", "place red card4")
    else:
        companion.do("open-match", {"game": game, "players": players(game)})
        companion.moves(*record(game, 5)[:60])
    page = phones.host(width=width, height=height)
    expect(page.locator(".play:is([data-state], [data-phase=shaking])")).to_be_visible()
    page.wait_for_function(f"() => ({WHOLE})()[4] > 0.1")
    *within, share = page.evaluate(WHOLE)
    phones.shot(page, f"whole-{game}-{width}")
    assert within == [True] * 4
    assert share >= 0.5
    assert overflow(page) == []
