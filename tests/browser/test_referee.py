"""The referee's room and the owner's boxes, by tapping."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from companion.service.buttons import DOUBT
from tests.browser.conftest import Phones, refused_marks, taken_up
from tests.browser.test_boards import ARCTIC, Finger, opened, placed, stands_out
from tests.browser.test_look import english_left, read_aloud
from tests.web.assembly import Service

pytestmark = pytest.mark.browser


def test_you_cannot_do_that(phones: Phones, service: Service, axe: Callable[[Page], list[str]]) -> None:
    """From the live game: tap from where to where; yes or no, the sentence, the clauses, the picture."""
    placed(service)
    service.companion.moves("melt c4", "reveal c4 kept")
    page = phones.host(width=390, height=844)
    Finger(page, service).ready()
    page.click(".on-board a[href='#referee']")
    expect(page.locator(".referee h1")).to_be_visible()
    before = service.companion.night.seq
    for square in ("b8", "b7"):
        page.locator(f".dispute-panel .spot[data-place={square}]").dispatch_event("click")
    expect(page.locator(".verdict.yes")).to_contain_text("IGLU-2.A.1")
    # A third tap begins anew; the ruling on the first place of two comes late and changes nothing any more.
    held: list[Route] = []
    page.route("**/api/board/dispute*path=b8", lambda route: held.append(route))  # noqa: PLW0108
    for square in ("b8", "b5"):
        page.locator(f".dispute-panel .spot[data-place={square}]").dispatch_event("click")
    expect(page.locator(".verdict.no .answer")).to_contain_text("No")
    with taken_up(page, "path=b8"):
        held[0].continue_()
    expect(page.locator(".verdict.no .answer")).to_contain_text("No")
    page.click("[data-do=which-ruling] >> nth=1")
    expect(page.locator("[data-do=which-ruling][aria-pressed=true]")).to_contain_text("Kayak")
    expect(page.locator(".verdict .cited li").first).to_contain_text("rules of the game")
    expect(page.locator(".verdict svg .refused")).to_have_count(1)
    assert axe(page) == []
    assert stands_out(page) == []
    phones.shot(page, "referee-dispute", full=True)
    # Asking changes nothing; a move may be written too, and a text that is none is refused in a sentence.
    page.fill("input[name=move]", "build c1")
    page.click("form[data-submit=judge] button")
    expect(page.locator(".verdict.no")).to_be_visible()
    page.fill("input[name=move]", "fly b8")
    page.click("form[data-submit=judge] button")
    expect(page.locator(".refusal")).to_be_visible()
    assert service.companion.night.seq == before
    # When the table moves on, the ruling goes.
    page.fill("input[name=move]", "walk b8 b7")
    page.click("form[data-submit=judge] button")
    expect(page.locator(".verdict.yes")).to_be_visible()
    service.companion.moves("walk b8 b7")
    expect(page.locator(".verdict")).to_have_count(0)
    phones.forgive("400")


def test_the_button_on_the_table_calls_everybody_to_the_referee(phones: Phones, service: Service) -> None:
    placed(service)
    host, watching, busy = phones.host(), phones.spectator(), phones.player()
    busy.evaluate("location.hash = '#score'")
    for page in (host, watching):
        expect(page.locator("#stage h1")).to_have_text("Ann plays")
    service.companion.hub.publish("notice", {"panel": "dispute", **DOUBT.to_json()})
    for page in (host, watching):
        expect(page.locator(".referee h1")).to_be_visible()
        expect(page).to_have_url(re.compile("#referee$"))
    # Who is busy hears of it, and is left there in the same moment.
    expect(busy.locator("#announcer")).to_contain_text(DOUBT.to_json()["en"])
    assert busy.url.endswith("#score")


def test_a_dispute_in_igloo_pop(phones: Phones, service: Service) -> None:
    service.companion.open_match()
    service.companion.moves("start", "take red")
    page = phones.player(width=1280, height=900)
    page.click(".to-referee")
    page.select_option("select[name=colour]", "red")
    page.select_option("select[name=verb]", "take")
    page.click("form[data-key=judge-pop] button")
    expect(page.locator(".verdict.no")).to_contain_text("POP-2.2")
    phones.shot(page, "referee-pop", full=True)


def test_a_dispute_in_arctic(phones: Phones, service: Service, axe: Callable[[Page], list[str]]) -> None:
    """A card by its animals and value, and a step that has no place."""
    opened(service, "arctic", draw=True)
    service.companion.do("deal")
    # The narrowest page with the longest words.
    page = phones.player(width=320, height=640, language="fr-FR")
    page.click(".to-referee")
    page.select_option("select[name=verb]", "draw")
    for part, value in (("main", "fox"), ("value", "4"), ("companion", "walrus")):
        page.select_option(f"form[data-key=judge-card] select[name={part}]", value)
    page.click("form[data-key=judge-card] button")
    # A card that there is, and that the River does not hold: the answer is a ruling, not that nothing was understood.
    expect(page.locator(".verdict.no .cited .id").first).to_contain_text("ARC-")
    assert page.locator(".refusal").count() == 0
    page.click(".dispute-panel .extras summary")
    page.click("[data-do=judge-text][data-move=refill]")
    expect(page.locator(".verdict.no .cited .id").first).to_contain_text("ARC-")
    assert axe(page) == []
    assert stands_out(page) == []
    phones.shot(page, "referee-arctic", full=True)


@pytest.mark.parametrize(("language", "dark"), [("en-GB", False), ("fr-FR", True)])
def test_the_rulebooks_are_searched(
    phones: Phones, service: Service, axe: Callable[[Page], list[str]], language: str, dark: bool
) -> None:
    page = phones.spectator(language=language, dark=dark, width=768, height=1024)
    page.click(".to-referee")
    for game_id, word, clause in (
        ("iglu-iglu", "kayak", "IGLU-2.A.4"),
        ("arctic", "totem", "ARC-S.4"),
        ("ice-team", "village", "ICE-2.7"),
        ("igloo-pop", "POP-4", "POP-4.1"),
    ):
        page.click(f"[data-do=rules-of][data-game={game_id}]")
        expect(page.locator(".entries li").nth(30)).to_be_attached()
        nothing_found(page)
        page.fill("#rule-search", word)
        expect(page.locator(f".answers > li:nth-child(-n+2)[data-key='{clause}']")).to_be_visible()
        # The best answers first, and few of them: the board stays in reach.
        assert page.locator(".answers > li").count() <= 3
    assert axe(page) == []
    assert stands_out(page) == []
    if language == "fr-FR":
        assert english_left(read_aloud(page)) == []
    phones.shot(page, f"rulebook-{language}", full=True)


@pytest.mark.parametrize(
    ("language", "question"),
    [("en-GB", "How do I win?"), ("fr-FR", "Comment on gagne ?"), ("de-DE", "Wie gewinne ich?")],
)
def test_the_referee_is_asked_first(
    phones: Phones, service: Service, axe: Callable[[Page], list[str]], language: str, question: str
) -> None:
    """One box as people ask, the best answer under it; then the board to be tapped, and the form below the board."""
    service.companion.open_match()
    service.companion.moves("start", "take red")
    page = phones.player(width=320, height=844, language=language)
    page.click(".to-referee")
    page.click(f".ask [data-question='{question}']")
    expect(page.locator("#rule-search")).to_have_value(question)
    expect(page.locator(".answers > li").first).to_have_attribute("data-key", "POP-4.4")
    page.fill("#rule-search", "card")
    expect(page.locator("[data-do=more-answers]")).to_be_visible()
    shown = page.locator(".answers > li")
    expect(shown).to_have_count(3)
    page.click("[data-do=more-answers]")
    expect(shown.nth(3)).to_be_visible()
    order = [".ask form", ".ask .answers", ".dispute-panel .circle", "form[data-key=judge-pop]", ".rulebook"]
    for one in order:
        expect(page.locator(one)).to_be_attached()
    # All at one moment: the page may still be scrolling.
    tops = page.evaluate("(all) => all.map((one) => document.querySelector(one).getBoundingClientRect().top)", order)
    assert tops == sorted(tops)
    # What is tapped is what the form below asks for.
    page.locator(".dispute-panel .card[data-place=card4]").dispatch_event("click")
    expect(page.locator(".dispute-panel .card[data-place=card4]")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("form[data-key=judge-pop] select[name=card]")).to_have_value("card4")
    assert axe(page) == []
    assert stands_out(page) == []
    phones.shot(page, f"referee-asked-{language}", full=True)


TEN = {
    "igloo-pop": {
        "POP-Q.2": "several igloos none matches what happens",
        "POP-Q.5": "highest number wrong win",
    },
    "iglu-iglu": {
        "IGLU-Q.1": "walk onto a corner",
        "IGLU-Q.3": "kayak start from a corner",
        "IGLU-Q.9": "must all points of an animal movement be used",
    },
    "arctic": {"ARC-Q.5": "puffin uncovers face-down placement", "ARC-Q.10": "which card is last placed"},
    "ice-team": {
        "ICE-Q.1": "bear come out of the village again",
        "ICE-Q.12": "block meets another floe",
        "ICE-Q.16": "first action possible, second not",
    },
}
"""Ten listed disputes, and what somebody may type who has one: none of them is said by its number."""


def nothing_found(page: Page) -> None:
    """Search for what no rulebook says: what stands there afterwards was found."""
    page.fill("#rule-search", "zzzzqq")
    expect(page.locator(".ask [role=status]")).to_contain_text(re.compile("nothing|Rien"))
    expect(page.locator(".answers > li")).to_have_count(0)


def test_an_answer_that_does_not_come_is_asked_for_again(phones: Phones, service: Service) -> None:
    service.companion.open_match()
    page = phones.player()
    lost: list[str] = []

    def lose_the_first(route: Route) -> None:
        lost.append(route.request.url)
        if len(lost) == 1:
            route.abort()
        else:
            route.continue_()

    page.route("**/api/rules/*/search?*", lose_the_first)
    page.click(".to-referee")
    page.fill("#rule-search", "POP-4.4")
    expect(page.locator(".answers > li").first).to_have_attribute("data-key", "POP-4.4")
    assert len(lost) == 2
    phones.forgive("ERR_FAILED")


def test_ten_listed_disputes_are_answered(phones: Phones, service: Service) -> None:
    page = phones.spectator(width=1280, height=900)
    page.click(".to-referee")
    for game_id, disputes in TEN.items():
        page.click(f"[data-do=rules-of][data-game={game_id}]")
        expect(page.locator(".entries > li").nth(30)).to_be_attached()
        for dispute, words in disputes.items():
            nothing_found(page)
            page.fill("#rule-search", words)
            # The clause that the dispute is about may stand before it.
            entry = page.locator(f".answers > li:nth-child(-n+2)[data-key='{dispute}']")
            expect(entry).to_be_visible()
            expect(entry.locator("h3")).to_contain_text("?")
            expect(entry.locator(".clause-text")).not_to_be_empty()
            expect(entry.locator(".clause").first).to_be_visible()
    entry.locator(".clause").first.click()
    expect(page.locator("#dialog .clause-text")).not_to_be_empty()


RULED = {
    "igloo-pop": [
        ("take red", False, "POP-2.2"),
        ("pass red", False, "POP-2.3"),
        ("place red card3", True, "POP-2.3"),
    ],
    "iglu-iglu": [
        ("walk b8 b5", False, "IGLU-2.A.1"),
        ("kayak b8 c4", False, "IGLU-2.A.4"),
        ("walk b8 b7", True, "IGLU-2.A.1"),
    ],
    "arctic": [("tokens fox+ puffin-", False, "ARC-A.1"), ("draw fox-4-walrus", False, "ARC-A.1")],
    "ice-team": [("walk start a1", True, "ICE-1.1"), ("leap start a1", False, "ICE-1.2")],
}


def seated(service: Service, game_id: str) -> None:
    if game_id == "igloo-pop":
        service.companion.open_match()
        service.companion.moves("start", "take red")
    elif game_id == "iglu-iglu":
        placed(service)
        service.companion.moves("melt c4", "reveal c4 kept")
    elif game_id == "arctic":
        opened(service, game_id, setup=ARCTIC)
    else:
        opened(service, game_id, setup={"first": "green"})


def test_ten_disputes_of_live_games_are_ruled_on(phones: Phones, service: Service) -> None:
    """A large yes or no, one sentence, the clause with its rulebook, and the picture; nothing of the game changes."""
    page = phones.player(width=768, height=1024, language="fr-FR")
    for game_id, disputes in RULED.items():
        seated(service, game_id)
        page.goto(f"{service.url}/#referee")
        # The page begins with this game: what it has not heard of yet would take the ruling away again.
        page.reload()
        before = service.companion.night.seq
        for text, legal, clause in disputes:
            page.fill("form[data-submit=judge] input[name=move]", text)
            page.click("form[data-submit=judge] button")
            verdict = page.locator(f".verdict.{'yes' if legal else 'no'}", has=page.locator(f"text={clause}"))
            expect(verdict.locator(".answer")).to_contain_text("Oui" if legal else "Non")
            expect(verdict.locator(".cited li").first).to_contain_text("règle")
            expect(verdict.locator("svg.board")).to_be_attached()
            refused_marks(verdict, legal)
        assert service.companion.night.seq == before
        service.companion.do("close-match")
        page.goto(f"{service.url}/#")


def test_a_silent_rulebook_is_voted_on(phones: Phones, service: Service) -> None:
    host, player = phones.host(width=768, height=1024), phones.player(width=768, height=1024)
    for page in (host, player):
        page.click(".to-referee")
        page.click("[data-do=rules-of][data-game=iglu-iglu]")
        page.fill("#rule-search", "IGLU-1.6")
        expect(page.locator(".answers .vote").first).to_be_visible()
    assert player.locator("[data-do=vote]").first.is_disabled()
    vote = host.locator(".answers [data-do=vote][data-option='iglu.no_repick'][data-value='false']").first
    vote.click()
    expect(vote).to_have_attribute("aria-pressed", "true")
    phones.shot(host, "vote", full=True)
    assert service.companion.votes.of("iglu-iglu") == {"iglu.no_repick": False}
    # The next set-up asks with that answer marked.
    host.click(".referee a[href='#']")
    host.click("[data-do=choose-game][data-game=iglu-iglu]")
    host.click("form.setup .extras summary")
    expect(host.locator("input[name='iglu.no_repick'][value=false]")).to_be_checked()
    expect(host.locator("form.setup")).to_contain_text("as this house voted")


def test_an_owner_enters_the_box_once(phones: Phones, service: Service, axe: Callable[[Page], list[str]]) -> None:
    page = phones.host(width=390, height=844)
    page.click("[data-do=choose-game][data-game=iglu-iglu]")
    page.click("form.setup .extras summary")
    page.click("[data-do=box]")
    expect(page.locator("#dialog .note")).to_contain_text("not the real box")
    assert axe(page) == []
    phones.shot(page, "box-iglu")
    page.fill("#dialog input[name=drift]", "9")
    page.click("#dialog button[type=submit]")
    expect(page.locator("#box-complaint")).to_contain_text("56 floe tiles, not 57")
    page.fill("#dialog input[name=thaw]", "4")
    page.click("#dialog button[type=submit]")
    expect(page.locator("#dialog")).to_contain_text("Entered from your box.")
    assert service.companion.boxes.setup("iglu-iglu")["tiles"]["drift"] == 9
    page.keyboard.press("Escape")
    page.click("form.setup button[type=submit]")
    expect(page.locator(".on-board .sentence")).to_contain_text("Place an inuit")
    assert service.companion.night.view()["match"]["stand_in"] is False
    service.companion.do("close-match")
    page.click("[data-do=choose-game][data-game=ice-team]")
    page.click("form.setup .extras summary")
    page.click("[data-do=box]")
    page.select_option("#dialog select[name=die-0-5]", "fish6")
    # Boards are drawn and tapped: a floe for the sea, the sea for a floe, and a board that lies elsewhere.
    page.click("#dialog details.extras summary")
    for cell, words in (("1,1", "open sea"), ("0,1", "a space for a floe")):
        expect(page.locator(f".box-map [data-cell='{cell}']")).to_have_attribute("aria-label", re.compile(words))
    page.click(".box-map [data-cell='1,1']")
    page.locator(".box-map [data-cell='0,1']").press("Enter")
    page.locator(".box-map [data-cell='0,1']").press("Enter")
    page.click("[data-nudge='3'][data-by='1,0']")
    page.click("#dialog button[type=submit]")
    expect(page.locator("#box-complaint")).to_contain_text("lie on the same place")
    page.click("[data-nudge='3'][data-by='-1,0']")
    page.click("#dialog [data-tool=start]")
    page.click(".box-map [data-cell='-1,4']")
    phones.shot(page, "box-boards")
    assert axe(page) == []
    phones.shot(page, "box-ice")
    page.click("#dialog button[type=submit]")
    expect(page.locator("#dialog")).to_contain_text("Entered from your box.")
    kept = service.companion.boxes.setup("ice-team")["box"]
    assert kept["dice"][0][5] == "fish6"
    assert kept["boards"]["a"]["rows"] == ["fIf", ".ff", "fIf"]
    assert kept["layouts"]["line"]["start"] == [[-1, 0], [-1, 1], [-1, 2], [-1, 3], [-1, 4]]
    page.click("[data-do=forget-box]")
    expect(page.locator("#dialog .note")).to_contain_text("not the real box")
    phones.forgive("422")


def test_a_board_that_is_a_stand_in_says_so(phones: Phones, service: Service) -> None:
    opened(service, "ice-team")
    page = phones.spectator()
    expect(page.locator(".on-board")).to_contain_text("stand-in")


@pytest.mark.parametrize(("game", "language"), [("arctic", "fr-FR"), ("arctic", "en-GB"), ("ice-team", "fr-FR")])
def test_places_are_called_by_their_names(phones: Phones, service: Service, game: str, language: str) -> None:
    opened(service, game, draw=True)
    page = phones.player(language=language, width=1280, height=900)
    rooms = {"#referee": "[data-key=dispute] .spot", "#referee/hand": ".by-hand .spot"}
    for room, where in rooms.items():
        page.goto(f"{service.url}/{room}")
        page.reload()
        if room.endswith("hand"):
            page.click(f"[data-do=position-game][data-game={game}]")
        expect(page.locator(where).first).to_be_attached()
        labels = page.eval_on_selector_all(where, "all => all.map(one => one.getAttribute('aria-label'))")
        assert len(labels) > 20
        raw = re.compile(r"\b(card|player|land|power|top|hand|penalty|totem|ghost)\d|\b(gap|phase|reserve)\b")
        assert [label for label in labels if not label or raw.search(label)] == []
        word = {"arctic": {"en-GB": "Landscape 3", "fr-FR": "Paysage 3"}, "ice-team": {"fr-FR": "banquise"}}[game][
            language
        ]
        assert word in " ".join(labels)


def test_a_move_is_written_in_french(phones: Phones, service: Service) -> None:
    placed(service)
    service.companion.moves("melt c4", "reveal c4 kept")
    page = phones.player(language="fr-FR")
    page.goto(f"{service.url}/#referee")
    field = page.locator("form[data-submit=judge] input")
    expect(field).to_have_attribute("placeholder", "marcher b2 b3")
    for text in ("marcher b8 b7", "Bâtir c1", "walk b8 b7"):
        field.fill(text)
        with page.expect_response("**/api/board/dispute?*") as told:
            page.click("form[data-submit=judge] button")
        assert told.value.status == 200
        assert told.value.json()["rulings"][0]["move"] == {"Bâtir c1": "build c1"}.get(text, "walk b8 b7")
