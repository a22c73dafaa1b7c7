"""What makes the page lively: things move as they happen, and sound."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from companion.lab.worlds.boards import players, record
from companion.rules.drawing import PALETTE
from tests.browser.conftest import Phones
from tests.web.assembly import Service, SmallCompanion

pytestmark = pytest.mark.browser

WATCH = """(() => {
  window.shown = [];
  new MutationObserver((records) => {
    for (const one of records) for (const node of one.addedNodes) {
      if (node.classList?.contains('moving')) {
        const thaler = node.querySelector('.thaler')?.getAttribute('class');
        const snow = getComputedStyle(node).getPropertyValue('--snow');
        shown.push({ what: node.getAttribute('class'), text: node.textContent, thaler, snow });
      }
    }
  }).observe(document, { childList: true, subtree: true });
})()"""
"""Has a page keep, as `shown`, everything that ever moved over it."""

HEARD_SOUNDS = """(() => {
  window.played = 0;
  const begin = OscillatorNode.prototype.start;
  OscillatorNode.prototype.start = function (...when) { window.played += 1; return begin.apply(this, when); };
})()"""
"""Has a page count, as `played`, the tones that it plays by the real Web Audio."""


def watched(page: Page) -> Page:
    page.add_init_script(WATCH)
    page.add_init_script(HEARD_SOUNDS)
    return page


def opened(page: Page, address: str) -> None:
    """Open a page, and wait until what comes behind its first drawing is there."""
    page.goto(address)
    page.wait_for_selector("body.lively", state="attached")
    page.wait_for_selector("#stage .play, #board svg")


@pytest.mark.parametrize("where", ["", "/tv"])
def test_the_check_is_a_moment(phones: Phones, service: Service, where: str) -> None:
    companion = service.companion
    companion.open_match()
    companion.moves("start", "place red card2", "place blue card2", "place green card1")
    companion.do("check")
    page = watched(phones.spectator(width=1920, height=1080) if where else phones.spectator())
    opened(page, service.url + where)
    companion.moves("reveal card2 5")
    page.wait_for_function("() => shown.some((one) => one.what.includes('number') && one.text === '5')")
    companion.moves("reveal card2 2")
    # Blue had the number of the card: the thalers of both go to Bob, and he is told to have won.
    page.wait_for_function("() => shown.filter((one) => one.what.includes('thaler-flies')).length === 2")
    page.wait_for_function("() => shown.some((one) => one.text.startsWith('Bob +'))")
    told = page.evaluate("shown")
    assert {one["text"] for one in told if "number" in one["what"]} == {"5", "2"}
    assert {one["thaler"] for one in told if "thaler" in one["what"]} == {"thaler red", "thaler blue"}
    # Each igloo was turned over before its number came.
    whats = [one["what"] for one in told]
    assert [one for one in whats if one in ("moving turn", "moving number")] == ["moving turn", "moving number"] * 2
    # What moved goes by itself, and leaves the page as it is drawn.
    expect(page.locator("svg.moment")).to_have_count(0)
    assert not any(word["text"].startswith("Ann +") for word in told)


def test_who_wants_no_motion_is_told_the_same_at_once(phones: Phones, service: Service) -> None:
    companion = service.companion
    companion.open_match()
    companion.moves("start", "place red card2")
    companion.do("check")
    page = watched(phones.guest(reduced_motion="reduce"))
    opened(page, service.url)
    companion.moves("reveal card2 2")
    page.wait_for_function("() => shown.some((one) => one.text.startsWith('Ann +'))")
    assert {one["what"] for one in page.evaluate("shown")} == {"moving said"}
    still = page.evaluate("""() => [...document.querySelectorAll('.moment .said')].flatMap((one) => one.getAnimations())
      .map(({ effect }) => new Set(effect.getKeyframes().map((one) => `${one.transform} ${one.opacity}`)).size)""")
    assert set(still) <= {1}


def test_pieces_stand_still_for_who_wants_no_motion(phones: Phones, service: Service) -> None:
    companion, (steps, _) = service.companion, STEPS["iglu-iglu"]
    companion.do("open-match", {"game": "iglu-iglu", "players": players("iglu-iglu")})
    rest = record("iglu-iglu", 5)
    companion.moves(*rest[: steps[0]])
    page = watched(phones.guest(reduced_motion="reduce"))
    opened(page, service.url)
    for move in rest[steps[0] : steps[1] + 1]:
        companion.moves(move)
    page.wait_for_selector(f".on-board[data-state='{companion.night.state}']")
    assert {one["what"] for one in page.evaluate("shown")} <= {"moving said"}


@pytest.mark.parametrize("where", ["", "/tv"])
def test_one_two_three_shake_is_counted_on_every_screen(phones: Phones, service: Service, where: str) -> None:
    service.companion.open_match()
    page = watched(phones.spectator(width=1920, height=1080) if where else phones.spectator())
    opened(page, service.url + where)
    service.companion.moves("start")
    page.wait_for_function("() => shown.length >= 4")
    assert [one["text"] for one in page.evaluate("shown")] == ["one", "two", "three", "shake!"]
    expect(page.locator("svg.moment")).to_have_count(0)


STORE = "() => document.querySelector('script[type=module]').src.replace(/(main|tv)\\.js/, 'store.js')"


PAINTED = """(url) => import(url).then(({ change }) => new Promise((done) => {
  change(() => {}, (paint) => { paint(); done(); });
}))"""
"""Has a page draw what it knows and has not drawn yet; some of it waits for what may come behind it."""


def drawn(page: Page, state: int) -> None:
    """Wait until the board of a state is on the screen."""
    url = page.evaluate(STORE)
    page.wait_for_function(
        "([url, state]) => import(url).then(({ store }) => store.board?.state === state)", arg=[url, state]
    )
    page.evaluate(PAINTED, url)


STEPS = {
    # A floe melts and its bear comes, an inuit walks, a floe drifts, a kayak goes far.
    "iglu-iglu": ([14, 15, 20, 68, 86], {"melt", "come", "move", "drift", "leap"}),
    # A bear swims far, a floe drifts with what stands on it.
    "ice-team": ([11, 12, 18, 31], {"move", "drift", "leap"}),
    # A card is laid, the animals go their ways.
    "arctic": ([15, 16, 17], {"come", "move"}),
}
"""By game the moves of a record that are looked at, and what they look like."""


def stepped(page: Page, companion: SmallCompanion, move: str) -> None:
    """Play a move, and have the page show how it went.

    A page that lost the table on the way catches up without moving anything, as it should: then it is played again.
    """
    for _ in range(3):
        before, snapshot = page.evaluate("shown.length"), companion.night.snapshot()
        assert snapshot is not None
        companion.moves(move)
        drawn(page, companion.night.state)
        if page.evaluate("shown.length") > before:
            return
        companion.do("undo", {"to": len(snapshot.moves), "agreed": True})
        drawn(page, companion.night.state)
        page.evaluate("(before) => { shown.length = before; }", before)
    raise AssertionError(f"Nothing moved at {move}.")


@pytest.mark.colours
@pytest.mark.parametrize("where", ["", "/tv"])
@pytest.mark.parametrize("game_id", STEPS)
def test_pieces_and_floes_go_where_they_went(
    phones: Phones, service: Service, crossed: bool, game_id: str, where: str
) -> None:
    companion, (steps, wanted) = service.companion, STEPS[game_id]
    companion.do("open-match", {"game": game_id, "players": players(game_id)})
    rest = record(game_id, 5)
    companion.moves(*rest[: steps[0]])
    dark = game_id == "ice-team"
    page = watched(phones.spectator(width=1920, height=1080) if where else phones.spectator(dark=dark))
    opened(page, service.url + where)
    drawn(page, companion.night.state)
    done = steps[0]
    for step in steps:
        if done < step:
            companion.moves(*rest[done:step])
            drawn(page, companion.night.state)
        stepped(page, companion, rest[step])
        done = step + 1
    kinds = {one["what"].removeprefix("moving ") for one in page.evaluate("shown")}
    assert wanted - kinds == set()
    if not where:
        # By day and by night what flies is painted as the board below it.
        board = page.evaluate("getComputedStyle(document.querySelector('svg.board')).getPropertyValue('--snow')")
        assert {one["snow"] for one in page.evaluate("shown") if "said" not in one["what"]} == {board}
        assert (board == PALETTE["snow"]) == (dark == crossed)
    # What moved goes by itself, and leaves the board as it is drawn.
    expect(page.locator("svg.moment")).to_have_count(0)


HELD = """(() => {
  const fetched = window.fetch;
  window.asked = [];
  window.fetch = async (...what) => {
    const answer = await fetched(...what);
    if (String(what[0]).includes("/api/board")) await new Promise((go) => asked.push(go));
    return answer;
  };
})()"""
"""Has a page hold each board that it asked for, until its place in `asked` is called."""


def test_a_board_that_was_asked_for_and_comes_late_does_not_bring_back_what_was(
    phones: Phones, service: Service
) -> None:
    companion = service.companion
    companion.do("open-match", {"game": "iglu-iglu", "players": players("iglu-iglu")})
    done, then = record("iglu-iglu", 5)[:14], record("iglu-iglu", 5)[14]
    companion.moves(*done)
    page = phones.spectator()
    page.add_init_script(HELD)
    opened(page, service.url)
    drawn(page, companion.night.state)
    store = page.evaluate(STORE)
    page.evaluate("(url) => import(url).then(({ change }) => change((store) => { store.board = null; }))", store)
    page.wait_for_function("() => asked.length === 1")
    companion.moves(then)
    drawn(page, companion.night.state)
    page.evaluate("() => { asked[0](); }")
    page.wait_for_function("() => new Promise((go) => setTimeout(() => go(true)))")
    expect(page.locator("[data-key=board-play]")).to_have_attribute("data-state", str(companion.night.state))
    assert page.evaluate("asked.length") == 1


def test_sounds_are_off_by_one_tap_and_off_at_first_for_who_watches(phones: Phones, service: Service) -> None:
    companion = service.companion
    companion.open_match()
    page, other = watched(phones.player()), watched(phones.spectator())
    tv = watched(phones.spectator(width=1920, height=1080))
    for one, where in ((page, ""), (other, ""), (tv, "/tv")):
        opened(one, service.url + where)
        one.evaluate("() => { window.played = 0; }")
    mine, theirs = page.locator("[data-do=sounds]"), other.locator("[data-do=sounds]")
    expect(mine).to_have_attribute("aria-pressed", "true")
    expect(theirs).to_have_attribute("aria-pressed", "false")
    for one in (page, other):
        one.locator("#sentence").click()  # a browser lets a page be heard once it was tapped on
    companion.moves("start")
    page.wait_for_function("() => played >= 4")
    for one in (other, tv):
        one.wait_for_function("() => shown.length >= 4")
        assert one.evaluate("played") == 0
    # One tap, remembered on this device; a television has a wish of its own, told by a key.
    mine.click()
    expect(mine).to_have_attribute("aria-pressed", "false")
    theirs.click()
    expect(theirs).to_have_attribute("aria-pressed", "true")
    tv.keyboard.press("Enter")
    opened(page, service.url)
    expect(mine).to_have_attribute("aria-pressed", "false")
    page.locator("#sentence").click()
    companion.moves("place red card2")
    companion.do("check")
    for one in (page, other, tv):  # what comes at once with what was before it is a catching up, and makes no sound
        one.wait_for_function(
            "([url, state]) => import(url).then(({ store }) => store.view?.state === state)",
            arg=[one.evaluate(STORE), companion.night.state],
        )
    before = page.evaluate("played")
    companion.moves("reveal card2 2")
    for one in (other, tv):
        one.wait_for_function("() => played >= 4")
    page.wait_for_function("() => shown.some((one) => one.text.startsWith('Ann +'))")
    assert page.evaluate("played") == before
