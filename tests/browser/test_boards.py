"""Iglu Iglu, Arctic and Ice Team by tapping: from the set-up to the ranking, and what a tap means."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from companion.lab.worlds.boards import players, record
from tests.browser.conftest import Phones, sent
from tests.browser.taps import first_round, turns
from tests.browser.test_look import english_words, read_aloud
from tests.web.assembly import Service
from tests.worlds.sizes import size
from tests.worlds.wait import wait

pytestmark = pytest.mark.browser


GAMES = ("iglu-iglu", "arctic", "ice-team")
ARCTIC: dict[str, Any] = {
    "packs": [1, 2],
    "powers": {"fox": 11, "moose": 9, "walrus": 1, "orca": 7, "puffin": 3, "bear": 5},
    "totems": ["?", "?"],
    "first": 1,
    "hands": [["?", "?", "?"]] * 2,
    "river": ["fox-4-walrus", "fox-3-orca", "moose-5-walrus", "moose-4-orca", "walrus-5-orca", "orca-5-puffin"],
}
"""A set-up of Arctic in which nobody's hand is known."""


class Finger:
    """Taps moves as a person would: places on the picture, then the button that decides; and counts."""

    def __init__(self, page: Page, service: Service) -> None:
        self.page, self.service, self.count = page, service, 0

    def ready(self) -> None:
        self.page.wait_for_selector(".on-board[data-state], .ending")
        sent(self.page)
        wait(self.caught_up)

    def caught_up(self) -> bool:
        # A board that the page is still changing has no state: what is tapped then is not heard.
        shown = self.page.evaluate(
            "() => document.querySelector('.ending') ? 'over' : document.querySelector('.on-board')?.dataset.state"
        )
        return shown in ("over", str(self.service.companion.night.state))

    def tap(self, selector: str) -> None:
        self.page.locator(selector).first.dispatch_event("click")
        self.count += 1

    def play(self, text: str) -> None:
        """Tap a move that the page offers, and wait until it is done."""
        self.ready()
        night = self.service.companion.night
        before = night.state
        found = night.board(None, "en")
        assert found is not None
        move = next(one for one in found["moves"] if one["text"] == text)
        # The piece that moved last is still chosen: what is not meant for it begins with "Choose again".
        if move["path"] and self.page.locator(f".spot.picked:not([data-place='{move['path'][0]}'])").count():
            self.tap("[data-do=back]")
        for step in move["path"]:
            if self.page.locator(f".spot.picked[data-place='{step}']").count() == 0:
                self.tap(f"[data-do=tap][data-place='{step}']")
            # Where only one way leads on, the first tap is enough. Looked at in this order nothing slips between.
            if self.page.locator(".link-words[aria-busy=true]").count() or night.state > before:
                break
        button = self.page.locator(f".dock [data-move='{text}']")
        if night.state == before and (not move["path"] or button.count()):
            self.tap(f".dock [data-move='{text}']")
        sent(self.page)
        assert night.state > before, text


def chosen(page: Page, game_id: str, way: str) -> None:
    page.click(f"[data-do=choose-game][data-game={game_id}]")
    expect(page.locator(f"form[data-key=setup-{game_id}]")).to_be_visible()
    page.click("form.setup .extras summary")
    page.check(f"input[name=box][value={way}]")


@pytest.mark.sized
@pytest.mark.parametrize("game_id", GAMES)
def test_a_whole_game_by_tapping(phones: Phones, service: Service, game_id: str) -> None:
    """First and last steps are tapped, what lies between goes through the API; `make test-long` taps them all."""
    page = phones.host(width=768, height=1024)
    chosen(page, game_id, "enter")
    page.fill("input[name=name-0]", "Ann")
    page.click("form.setup button[type=submit]")
    finger = Finger(page, service)
    finger.ready()
    texts = record(game_id, 11)
    begun = size(14, len(texts) - 6)
    for text in texts[:begun]:
        finger.play(text)
    middle = texts[begun:-6]
    while middle:
        chunk, middle = middle[:90], middle[90:]
        service.companion.moves(*chunk)
    for text in texts[-6:]:
        finger.play(text)
    expect(page.locator(".ending h1")).to_contain_text("win")
    expect(page.locator(".ranking li")).to_have_count(2)
    expect(page.locator(".ending .sentence")).not_to_be_empty()
    expect(page.locator(".ending .clause").first).to_be_visible()
    phones.shot(page, f"{game_id}-ending", full=True)
    page.click(".sheet >> nth=0")
    expect(page.locator(".sheet[open] .lines li .clause").first).to_be_visible()
    page.click("[data-do=share]")
    # The picture comes first; below it what other programs read.
    expect(page.locator("#dialog .result-picture")).to_have_js_property("naturalWidth", 1080)
    expect(page.locator("#dialog a.main")).to_have_attribute("download", f"{game_id}.png")
    assert page.evaluate("document.querySelector('#dialog :is(img, a)').matches('.result-picture')")
    expect(page.locator("#dialog .code ~ .row a").first).to_have_attribute("href", re.compile("bgstatsapp"))
    expect(page.locator("#dialog .code")).to_have_js_property("complete", True)
    phones.shot(page, f"{game_id}-picture")
    page.keyboard.press("Escape")
    page.click("[data-do=new-players]")
    expect(page.locator("form.setup")).to_be_visible()


def opened(service: Service, game_id: str, **more: Any) -> None:
    service.companion.open_match(**{"game": game_id, "players": players(game_id), "setup": {}, **more})


def placed(service: Service) -> None:
    """Set up Iglu Iglu for two: red in the upper row, blue in the lower one."""
    opened(service, "iglu-iglu", setup={"fish": {"d4": 1, "e4": 1, "d5": 2, "e5": 3}})
    for n in range(5):
        service.companion.moves(f"place red {'bcdef'[n]}8", f"place blue {'bcdef'[n]}1")


def test_an_ordinary_turn_takes_few_taps(phones: Phones, service: Service) -> None:
    """Melt, turn the tile, put it away, walk three times, hand over: no more taps than actions and one."""
    placed(service)
    page = phones.player()
    finger = Finger(page, service)
    finger.ready()
    finger.tap(".spot[data-place=d3]")
    page.wait_for_selector("[data-move='reveal d3 kept']")
    finger.tap("[data-move='reveal d3 kept']")
    finger.ready()
    finger.tap(".spot[data-place=b8]")
    expect(page.locator(".spot.lit[data-place=b7]")).to_have_text("1")
    assert page.locator(".spot.lit[data-place=h5]").count() == 0
    for square in ("b7", "b6", "b5"):
        finger.tap(f".spot[data-place={square}]")
        sent(page)
        finger.ready()
    log = [line["en"] for line in service.companion.night.view()["log"]]
    assert sum("walks" in line for line in log) == 3
    actions = 5
    assert finger.count <= actions + 1


def test_an_ordinary_turn_of_arctic_takes_few_taps(phones: Phones, service: Service) -> None:
    """Place a card of a hand that nobody knows, move both tokens, draw four cards, fill the River."""
    opened(service, "arctic", setup=ARCTIC)
    page = phones.player()
    finger = Finger(page, service)
    finger.play("place fox-2-puffin")
    finger.play("tokens fox+ puffin-")
    for card in ARCTIC["river"][:4]:
        finger.play(f"draw {card}")
    fresh = ["bear-5-fox", "bear-4-moose", "bear-3-walrus", "bear-2-orca"]
    for card in fresh:
        finger.play(f"river {card}")
    expect(page.locator(".turn.on")).to_contain_text("Bob")
    # A card placed, its power card taken, two tokens moved, four cards drawn, four turned up.
    actions = 1 + 1 + 2 + 4 + 4
    assert finger.count <= actions + 1


def test_an_ordinary_turn_of_ice_team_takes_few_taps(phones: Phones, service: Service) -> None:
    """Two bears go on, one after the other; floes that nobody has read are told when a bear stands on them."""
    opened(service, "ice-team", setup={"first": "green"})
    page = phones.player()
    finger = Finger(page, service)
    finger.play("walk start a1")
    finger.play("floe a1 plain")
    finger.count = 0
    # Red's turn: to a4 only one way leads, so one tap does; to a7 two bears could go.
    for taps in (["a4"], ["start", "a7"]):
        finger.ready()
        for space in taps:
            finger.tap(f".spot[data-place={space}]")
        page.wait_for_selector(f"[data-move='floe {space} plain']")
        finger.play(f"floe {space} plain")
    expect(page.locator(".turn.on")).to_contain_text("Ann")
    # Two bears moved, two floes looked at.
    assert finger.count <= 4 + 1


def middle(page: Page, place: str) -> tuple[float, float]:
    box = page.locator(f".spot[data-place={place}]").bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


AS_DRAWN = """() => {
  const told = (node) => node.nodeType === Node.TEXT_NODE ? node.data : [node.nodeName,
    [...node.attributes].map(({ name, value }) => `${name}=${value}`).sort(), [...node.childNodes].map(told)];
  return JSON.stringify([...document.querySelectorAll(".play .sheet-of-board")].map(told));
}"""
"""Tells what the page has of a board, down to the last attribute."""
BEGUN = 20
"""Moves of a record after which a game has begun."""


@pytest.mark.sized
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("game_id", GAMES)
def test_a_board_that_changed_is_as_one_drawn_anew(phones: Phones, service: Service, game_id: str, width: int) -> None:
    companion = service.companion
    companion.do("open-match", {"game": game_id, "players": players(game_id)})
    moves = record(game_id, 5)
    companion.moves(*moves[:BEGUN])
    page, other = (phones.player(width=width) for _ in range(2))
    tried, changed = size(6, 40), 0
    for move in moves[BEGUN : BEGUN + tried]:
        before = page.evaluate(AS_DRAWN)
        companion.moves(move)
        for one in (page, other):
            if one is other:
                other.reload()
            one.wait_for_selector(f".on-board[data-state='{companion.night.state}']")
        now = page.evaluate(AS_DRAWN)
        assert now == other.evaluate(AS_DRAWN)
        changed += now != before
    # Where one only goes on, nothing on the board need be another.
    assert changed > tried / 2


@pytest.mark.parametrize("game_id", GAMES)
def test_what_did_not_change_stays_as_it_is(phones: Phones, service: Service, game_id: str) -> None:
    companion = service.companion
    companion.do("open-match", {"game": game_id, "players": players(game_id)})
    moves = record(game_id, 5)
    companion.moves(*moves[:BEGUN])
    page = phones.player(width=1280)
    page.wait_for_selector(f".on-board[data-state='{companion.night.state}']")
    page.evaluate("() => { for (const one of document.querySelectorAll('.play svg.board *')) one.seen = true; }")
    companion.moves(moves[BEGUN])
    page.wait_for_selector(f".on-board[data-state='{companion.night.state}']")
    seen, all_of_it = page.evaluate("""() => {
      const all = [...document.querySelectorAll('.play svg.board *')];
      return [all.filter((one) => one.seen).length, all.length];
    }""")
    # One move changes a few pieces, and which places can be tapped.
    assert all_of_it > seen > 0.8 * all_of_it


def test_a_piece_is_carried_with_the_mouse(phones: Phones, service: Service) -> None:
    placed(service)
    service.companion.moves("melt c4", "reveal c4 kept")
    page = phones.player(width=1280, height=900)
    Finger(page, service).ready()

    def carry(origin: str, *way: str) -> None:
        page.mouse.move(*middle(page, origin))
        page.mouse.down()
        for place in way:
            page.mouse.move(*middle(page, place), steps=4)
            expect(page.locator(".dragged")).to_be_visible()
        page.mouse.up()
        expect(page.locator(".dragged")).to_have_count(0)

    carry("b8", "d8", "b7")
    wait(lambda: "walks" in service.companion.night.view()["log"][-1]["en"])
    Finger(page, service).ready()
    # Where it may not stand it is said why; let go of where it was, or beside the board, nothing happens.
    state = service.companion.night.state
    carry("c8", "c5")
    expect(page.locator(".refusal")).to_contain_text("C5 is not beside c8")
    page.click("[data-do=close-refusal]")
    carry("c8", "c7", "c8")
    expect(page.locator(".spot.picked")).to_have_count(0)
    expect(page.locator(".refusal")).to_have_count(0)
    page.mouse.move(*middle(page, "c8"))
    page.mouse.down()
    page.mouse.move(20, 60, steps=4)
    expect(page.locator(".spot.picked[data-place=c8]")).to_have_count(1)
    page.mouse.up()
    expect(page.locator(".spot.picked")).to_have_count(0)
    assert service.companion.night.state == state


def test_a_piece_is_carried_with_a_finger_and_two_taps_still_do(phones: Phones, service: Service) -> None:
    placed(service)
    service.companion.moves("melt c4", "reveal c4 kept")
    page = phones.player()
    Finger(page, service).ready()
    page.locator(".board").scroll_into_view_if_needed()
    session = page.context.new_cdp_session(page)

    def touch(kind: str, *at: float) -> None:
        points = [dict(zip("xy", at, strict=True))] if at else []
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    (x, y), (_, low) = middle(page, "b8"), middle(page, "b7")
    touch("touchStart", x, y)
    for n in range(1, 6):
        touch("touchMove", x, y + (low - y) * n / 5)
    touch("touchEnd")
    wait(lambda: "walks" in service.companion.night.view()["log"][-1]["en"])
    Finger(page, service).ready()
    state = service.companion.night.state
    page.locator(".spot[data-place=c8]").tap()
    expect(page.locator(".spot.picked[data-place=c8]")).to_have_count(1)
    page.locator(".spot[data-place=c7]").tap()
    wait(lambda: service.companion.night.state > state)


@pytest.mark.parametrize("game_id", GAMES)
def test_turns_take_hardly_more_taps_than_the_hands_do(phones: Phones, service: Service, game_id: str) -> None:
    """Over a whole random game, with the page's own taps.js; `python -m tests.browser.taps` measures more of them."""
    page = phones.spectator()
    found = turns(page, game_id, 1)
    assert found.total() > 15
    assert max(found) <= 3
    assert sum(count for more, count in found.items() if more <= 1) >= 0.95 * found.total()


def test_a_newcomer_scores_the_first_round_after_few_taps(phones: Phones, service: Service) -> None:
    assert first_round(phones.guest(), service) <= 12


def test_a_place_that_is_not_legal_says_why(phones: Phones, service: Service) -> None:
    placed(service)
    page = phones.player()
    Finger(page, service).ready()
    page.locator(".spot[data-place=d4]").dispatch_event("click")
    expect(page.locator(".refusal")).to_contain_text("d4")
    expect(page.locator(".refusal .clause").first).to_be_visible()
    phones.shot(page, "board-refusal")
    assert service.companion.night.view()["match"]["moves"] == 10


def test_undo_and_a_second_phone(phones: Phones, service: Service) -> None:
    placed(service)
    host, watcher = phones.host(), phones.spectator(width=1280, height=800)
    finger = Finger(host, service)
    finger.play("melt c4")
    expect(watcher.locator(".sentence")).to_contain_text("c4")
    assert watcher.locator(".dock button, .spot[role=button]").count() == 0
    host.click("[data-do=undo]")
    expect(watcher.locator(".sentence")).to_contain_text("Melt a floe")
    finger.play("melt c4")
    # Past a reveal the table must agree; also where what is taken back is still on its way, and tapped twice.
    for key in ("[data-move='reveal c4 kept']", "[data-do=undo]"):
        expect(host.locator(key).first).to_be_visible()
    host.evaluate(
        """() => {
          document.querySelector("[data-move='reveal c4 kept']").click();
          document.querySelector("[data-do=undo]").click();
          document.querySelector("[data-do=undo]").click();
        }"""
    )
    expect(host.locator("#dialog")).to_contain_text("Does the table agree?")
    host.click("[data-do=dialog-yes]")
    expect(watcher.locator(".log .undone")).to_have_count(2)


def test_a_hand_is_on_the_phone_of_its_owner(phones: Phones, service: Service) -> None:
    opened(service, "arctic", draw=True)
    service.companion.do("deal")
    ann, bob = phones.player(), phones.player()
    first = service.companion.night.view()["match"]["to_move"]
    colour, other = ("p1", "p2") if first == 0 else ("p2", "p1")
    expect(bob.locator(".hint")).to_contain_text("Only the owner of the hand")
    ann.click(f"[data-do=seat][data-colour={colour}]")
    expect(ann.locator(".private")).to_contain_text("Your totem")
    expect(ann.locator(".dock [data-move^='place ']").first).to_be_visible()
    phones.shot(ann, "arctic-hand", full=True)
    assert bob.locator(".dock [data-move^='place ']").count() == 0
    # The seat is taken: another phone is told so, and sees nothing.
    bob.click(f"[data-do=seat][data-colour={colour}]")
    expect(bob.locator(".refusal")).to_contain_text("Another phone has taken this seat")
    bob.click(f"[data-do=seat][data-colour={other}]")
    expect(bob.locator(".private")).to_contain_text("Your totem")
    phones.forgive("409")


def test_the_keyboard_is_enough(phones: Phones, service: Service) -> None:
    placed(service)
    page = phones.player(width=1280, height=900)
    Finger(page, service).ready()
    page.locator(".spot[data-place=c4]").focus()
    assert page.locator(".spot[data-place=c4]").get_attribute("aria-label") == "c4: Melt c4"
    page.keyboard.press("Enter")
    expect(page.locator(".sentence")).to_contain_text("What does the tile of c4 show?")


SIZES = [(320, 640, False, "de-DE"), (768, 1024, True, "fr-FR"), (1920, 1080, False, "fr-FR")]


@pytest.mark.parametrize(("width", "height", "dark", "language"), SIZES)
def test_nothing_stands_out_and_no_barrier(
    phones: Phones,
    service: Service,
    axe: Callable[[Page], list[str]],
    width: int,
    height: int,
    dark: bool,
    language: str,
) -> None:
    page = phones.host(width=width, height=height, dark=dark, language=language)
    for game_id in GAMES:
        page.click(f"[data-do=choose-game][data-game={game_id}]")
        page.click("form.setup .extras summary")
        expect(page.locator("form.setup .choices fieldset").nth(1)).to_be_visible()
        assert stands_out(page) == []
        if width < 1000:
            assert axe(page) == []
        phones.shot(page, f"{game_id}-{width}-setup", full=True)
        opened(service, game_id)
        service.companion.moves(*record(game_id, 4)[:45])
        Finger(page, service).ready()
        if page.locator(".spot.lit").count():
            page.locator(".spot.lit").first.dispatch_event("click")
        assert stands_out(page) == []
        if width < 1000:
            assert axe(page) == []
        if language != "en-GB":
            assert english_words(read_aloud(page), language) == []
        phones.shot(page, f"{game_id}-{width}-play", full=True)
        service.companion.do("close-match")
        expect(page.locator("form.setup")).to_be_visible()


def stands_out(page: Page) -> list[str]:
    return page.evaluate(
        """() => [...document.querySelectorAll('body *')]
          .filter((one) => one.getBoundingClientRect().right > innerWidth + 1 && !one.closest('.scroll, .unseen, svg'))
          .map((one) => one.className || one.nodeName)"""
    )


def test_what_changed_since_i_looked(phones: Phones, service: Service) -> None:
    placed(service)
    page = phones.spectator()
    Finger(page, service).ready()

    def show(state: str) -> None:
        page.evaluate(
            """(state) => {
              Object.defineProperty(document, 'visibilityState', {get: () => state, configurable: true});
              document.dispatchEvent(new Event('visibilitychange'));
            }""",
            state,
        )

    show("hidden")
    service.companion.moves("melt c4")
    service.companion.moves("reveal c4 kept")
    show("visible")
    expect(page.locator(".since")).to_contain_text("2 entries since you looked")
    expect(page.locator(".log li.fresh")).to_have_count(2)
    page.click("[data-do=looked]")
    expect(page.locator(".log li.fresh")).to_have_count(0)


def test_what_changed_is_told_to_who_opens_the_page_anew(phones: Phones, service: Service) -> None:
    placed(service)
    page = phones.spectator()
    Finger(page, service).ready()
    assert page.locator(".since").count() == 0
    page.reload()
    Finger(page, service).ready()
    assert page.locator(".since").count() == 0
    page.goto("about:blank")
    service.companion.moves("melt c4")
    service.companion.moves("reveal c4 kept")
    page.goto(service.url)
    expect(page.locator(".since")).to_contain_text("2 entries since you looked")
    # What was not said to be seen is still new after another reload, and what came since with it.
    service.companion.do("pause")
    page.reload()
    expect(page.locator(".since")).to_contain_text("3 entries since you looked")
    page.click("[data-do=looked]")
    expect(page.locator(".since")).to_have_count(0)
    page.reload()
    Finger(page, service).ready()
    assert page.locator(".since").count() == 0
    # A journal that is behind what was seen, as after a restore, is no news.
    page.evaluate("localStorage.setItem('companion.looked', '999999')")
    page.reload()
    Finger(page, service).ready()
    assert page.locator(".since").count() == 0


def test_a_drift_that_has_one_way_takes_one_tap(phones: Phones, service: Service) -> None:
    opened(service, "iglu-iglu")
    companion, rng = service.companion, Random(5)
    found: list[dict[str, Any]] = []
    while not found:
        moves = (companion.night.board(None, "en") or {})["moves"]
        drifts = [move for move in moves if move["text"].startswith("drift") and move["path"]]
        if drifts and len(drifts) == len(moves):
            starts = [move["path"][0] for move in drifts]
            found = [move for move in drifts if starts.count(move["path"][0]) == 1]
        if not found:
            companion.moves(rng.choice(moves)["text"])
    page = phones.player()
    Finger(page, service).ready()
    state = companion.night.state
    page.locator(f".spot[data-place='{found[0]['path'][0]}']").dispatch_event("click")
    wait(lambda: companion.night.state > state)
    assert found[0]["en"].split(" to ")[0].split()[-1] in companion.night.view()["log"][-1]["en"]


def test_how_many_play_and_where_they_sit(phones: Phones, service: Service) -> None:
    """Three of four colours in an order of their own."""
    page = phones.host(width=768, height=1024)
    page.click("[data-do=choose-game][data-game=iglu-iglu]")
    page.check("input[name=count][value='3']")
    expect(page.locator(".seat-choices li")).to_have_count(3)
    page.select_option("select[name=colour-1]", "green")
    page.select_option("select[name=colour-2]", "green")
    page.click("form.setup button[type=submit]")
    expect(page.locator("#setup-complaint")).to_contain_text("a colour of their own")
    page.select_option("select[name=colour-2]", "blue")
    page.click("form.setup button[type=submit]")
    expect(page.locator(".turns .turn")).to_have_count(3)
    match = service.companion.night.view()["match"]
    assert [player["colour"] for player in match["players"]] == ["red", "green", "blue"]
    expect(page.locator(".sentence")).to_contain_text("Place an inuit")
    # This device remembers who sat where.
    service.companion.do("close-match")
    expect(page.locator("select[name=colour-1]")).to_have_value("green")
