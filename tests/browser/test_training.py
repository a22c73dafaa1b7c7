"""The training room on a phone: a hundred rounds, a duel by taps, the igloo on the table, how it looks and reads."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

import pytest
from playwright.sync_api import Page, Route, expect

from companion.ports import COUNTS, CountPosterior, DeviceKind, DeviceState, IglooStatus
from companion.practice.shakes import CountedShake, Shake
from companion.service.practice import shake_bank
from tests.browser.conftest import Phones
from tests.browser.test_look import english_left, overflow, read_aloud
from tests.web.assembly import SIMULATED, Service, SmallCompanion
from tests.worlds.balance import felt_on_it, kept_calibration, tapped
from tests.worlds.sizes import size

pytestmark = pytest.mark.browser

REAL = IglooStatus("igloo-1", DeviceKind.REAL, DeviceState.CONNECTED, port="/dev/ttyACM0", unit=1)


def trains(page: Page, service: Service, *names: str, door: str = "drill") -> None:
    """Open the training room and enter names."""
    page.goto(f"{service.url}/training#{door}")
    expect(page.locator("#newcomer")).to_be_visible()
    for name in names:
        page.fill("#newcomer", name)
        page.click(".newcomer button")
        expect(page.locator(".who-trains .toggle[aria-pressed=true]")).to_have_text(name)


def history(companion: SmallCompanion, rounds: int = 90) -> tuple[int, int]:
    """Let two people train through the room itself; return their numbers."""
    rng = Random(8)
    ann, bob = (companion.training.add_person(name).id for name in ("Ann", "Bob"))
    for _ in range(rounds):
        dealt = companion.training.deal(ann)
        companion.training.guess(dealt["id"], ann, rng.choice(COUNTS))
    for _ in range(8):
        dealt = companion.training.deal(bob)
        companion.training.guess(dealt["id"], bob, 7)
    return ann, bob


def heard(companion: SmallCompanion) -> None:
    stored = shake_bank().shake(12)
    p = tuple(0.34 if i == 4 else 0.06 for i in range(12))
    companion.ear.newest = CountedShake(
        Shake(stored.accel, stored.rate_hz, DeviceKind.REAL), CountPosterior("counted", p, 2.0, kind=DeviceKind.REAL)
    )


def igloo_round(companion: SmallCompanion, person: int, truth: int) -> None:
    companion.igloos.told = [REAL]
    dealt = companion.training.listen(person)["id"]
    companion.training.guess(dealt, person, 8)
    companion.training.tell(dealt, truth)


def guess(page: Page, count: int) -> None:
    page.click(f".numbers [data-count='{count}']")


@pytest.mark.sized
def test_a_hundred_rounds(phones: Phones, service: Service) -> None:
    rounds = size(20, 100)
    ann, _ = history(service.companion, 0)
    page = phones.player()
    page.click("a[href='/training']")
    page.click(f".who-trains [data-person='{ann}']")
    for number in range(1, rounds + 1):
        expect(page.locator(".drill h1")).to_contain_text(f"Shake {number}")
        if number % 10:
            guess(page, 2 + number % 12)
            page.click(".next")
            continue
        expect(page.locator(".drill .simulated")).to_have_text("SIMULATED")
        assert page.locator(".truth-shown").count() == 0
        guess(page, 7)
        expect(page.locator(".truth-shown strong")).to_be_visible()
        expect(page.locator(".result-of")).to_contain_text("You said 7.")
        expect(page.locator(".result-of .wave")).to_have_attribute("aria-label", re.compile(r"2\.6 s, up to \d+ g"))
        # The next tap is where the finger and the keyboard already are.
        expect(page.locator(".next")).to_be_focused()
        page.keyboard.press("Enter")
    page.click("text=Progress")
    expect(page.locator(".progress")).to_contain_text(f"{rounds} answers so far.")
    page.click("text=Ladder")
    expect(page.locator(".ladder tbody tr")).to_have_count(5)


def test_who_turns_to_the_progress_while_the_next_shake_is_dealt_sees_it(phones: Phones, service: Service) -> None:
    ann, _ = history(service.companion, 20)
    page = phones.player()
    page.goto(f"{service.url}/training")
    page.click(f".who-trains [data-person='{ann}']")
    guess(page, 7)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/api/training/rounds", hold)
    page.click(".next")
    page.click("text=Progress")
    expect(page.locator(".progress")).to_contain_text("21 answers so far.")
    page.click("text=Ladder")
    expect(page.locator(".ladder tbody tr")).to_have_count(5)
    assert len(held) == 1
    with page.expect_response("**/api/training/rounds"):
        held[0].continue_()
    page.click("text=Drill")
    expect(page.locator(".drill h1")).to_contain_text("Shake 22")
    assert page.evaluate("audio.paused")


def test_a_shake_is_heard_at_three_speeds(phones: Phones, service: Service) -> None:
    page = phones.player()
    trains(page, service, "Ann")
    # What is heard on and on is still to be stopped when this test comes to it.
    page.evaluate("audio.loop = true")
    lengths = []
    for speed in ("full", "half", "quarter"):
        page.click(f"[data-speed={speed}]")
        page.wait_for_function("() => !audio.paused && audio.duration > 0 && audio.currentTime > 0")
        lengths.append(page.evaluate("audio.duration"))
        page.click(f"[data-speed={speed}][data-do=stop]")
        assert page.evaluate("audio.paused")
    assert lengths == pytest.approx([2.7, 5.3, 10.5], abs=0.1)


def test_after_the_answer_one_hears_what_others_of_that_number_sound_like(phones: Phones, service: Service) -> None:
    page = phones.player()
    trains(page, service, "Ann")
    assert page.locator("[data-do=example]").count() == 0
    for _ in range(2):
        guess(page, 7)
        page.click("[data-do=example] >> nth=-1")
        page.wait_for_function("() => !audio.paused && audio.currentTime > 0")
        page.click("[data-do=deal]")
    expect(page.locator(".numbers")).to_be_visible()
    guess(page, 7)
    page.click(".past summary")
    expect(page.locator(".past li")).to_have_count(2)
    page.click("[data-do=past] >> nth=0")
    page.wait_for_function("() => !audio.paused && audio.currentTime > 0")


def test_all_that_was_answered_is_heard_again_and_what_gave_way_is_said(phones: Phones, service: Service) -> None:
    companion = service.companion
    companion.settings.set({"keep_shakes": 1})
    ann, _ = history(companion, 30)
    heard(companion)
    for truth in (5, 6):
        igloo_round(companion, ann, truth)
    page = phones.player()
    page.goto(f"{service.url}/training")
    page.click(f".who-trains [data-person='{ann}']")
    guess(page, 7)
    page.click(".past summary")
    expect(page.locator(".past li")).to_have_count(23)
    expect(page.locator(".past .discarded")).to_have_text(["5, said 8: no longer kept"])
    expect(page.locator(".past")).to_contain_text("Only the last 1 shake of the igloo is kept; older ones gave way.")
    page.click("[data-do=past-more]")
    expect(page.locator(".past li")).to_have_count(32)
    expect(page.locator("[data-do=past-more]")).to_have_count(0)
    page.evaluate("audio.loop = true")
    for last in (0, -1):
        page.click(f"[data-do=past] >> nth={last}")
        page.wait_for_function("() => !audio.paused && audio.currentTime > 0")
        page.click(".past [data-do=stop]")


def test_who_trains_is_remembered_on_the_phone_and_the_shake_at_home(phones: Phones, service: Service) -> None:
    page = phones.player()
    trains(page, service, "Ann")
    expect(page.locator(".drill h1")).to_contain_text("Shake 1")
    dealt = service.companion.training.deal(1)["id"]
    page.reload()
    expect(page.locator(".who-trains [aria-pressed=true]")).to_have_text("Ann")
    expect(page.locator(".drill h1")).to_contain_text("Shake 1")
    guess(page, 7)
    expect(page.locator(".next")).to_be_visible()
    assert service.companion.training.round(dealt)["shown"]


def test_a_duel_on_two_phones_hides_the_numbers_until_both_have_answered(phones: Phones, service: Service) -> None:
    first, second = phones.player(), phones.player()
    trains(first, service, "Ann", "Bob", door="duel")
    for name in ("Ann", "Bob"):
        first.check(f"label:has-text('{name}') input")
    first.check("input[name=rounds][value='3']")
    first.click("form[data-submit=duel] .main")
    expect(first.locator(".player")).to_be_visible()
    second.goto(f"{service.url}/training#duel")
    second.click("[data-do=join-duel]")
    for number in range(1, 4):
        for page, name in ((first, "Ann"), (second, "Bob")):
            expect(page.locator("#stage h1")).to_contain_text(f"Shake {number} of 3")
            page.click(f".sources .toggle:has-text('{name}')")
        guess(first, 6)
        expect(first.locator(".duellists li", has_text="Ann")).to_contain_text("has answered")
        assert first.locator(".truth-shown").count() == 0
        guess(second, 9)
        for page in (first, second):
            expect(page.locator(".truth-shown strong")).to_be_visible()
        if number < 3:
            second.click("[data-do=duel-next]")
    for page in (first, second):
        expect(page.locator("#stage h1")).to_contain_text("The duel is over")
        assert page.locator(".duellists .winner").count() >= 1
    points = first.locator(".duellists b").all_text_contents()
    assert points == second.locator(".duellists b").all_text_contents()


def test_the_igloo_is_shaken_guessed_turned_over_and_silent_in_a_live_round(phones: Phones, service: Service) -> None:
    companion = service.companion
    companion.igloos.told = [REAL]
    page = phones.player()
    trains(page, service, "Ann")
    page.reload()
    page.click("[data-source=igloo]")
    expect(page.locator(".drill .sentence").first).to_contain_text("Take the igloo and shake it")
    assert page.locator(".drill .simulated").count() == 0
    heard(companion)
    expect(page.locator(".guess legend")).to_have_text("Your answer")
    guess(page, 6)
    expect(page.locator(".guess legend")).to_have_text("The number under the igloo")
    guess(page, 5)
    expect(page.locator(".truth-shown strong")).to_have_text("5")
    expect(page.locator(".result-of")).to_contain_text("The machine: 6 with 34%")
    companion.open_match()
    companion.moves("start")
    page.click("[data-do=deal]")
    expect(page.locator(".refusal")).to_contain_text("A round is live")
    phones.forgive("409")


@pytest.mark.parametrize(
    ("dark", "language"), [(False, "en-GB"), (True, "fr-FR"), (False, "de-DE")], ids=["light-en", "dark-fr", "light-de"]
)
def test_the_balance_knows_what_was_shaken_and_nobody_looks(
    phones: Phones, service: Service, axe: Callable[[Page], list[str]], dark: bool, language: str
) -> None:
    felt = felt_on_it(7)
    service.stop()
    kept_calibration(service.folder, felt)
    service.start()
    companion = service.companion
    companion.igloos.told = [REAL, SIMULATED]
    page = phones.player(width=320, dark=dark, language=language)
    trains(page, service, "Ann")
    page.reload()
    page.click("[data-source=igloo]")
    expect(page.locator("[data-key=drill]")).to_have_attribute("data-state", "listening")
    heard(companion)
    guess(page, 6)
    expect(page.locator("[data-key=drill]")).to_have_attribute("data-state", "look")
    weigh = page.locator("[data-key=count] [data-do=balance-weigh]")
    assert overflow(page) == []
    for what, on_it in (("tare", "tare"), ("unknown", "beads 7")):
        weigh.and_(page.locator(f"[data-what={what}]")).click()
        expect(page.locator("[data-key=listening]")).to_be_visible()
        if what == "tare":
            assert axe(page) == []
            assert overflow(page) == []
            if language == "fr-FR":
                assert english_left(read_aloud(page)) == []
            phones.shot(page, f"training-balance-{language}", full=True)
        tapped(companion.balance_run, felt[on_it])
    expect(page.locator(".truth-shown strong")).to_have_text("7")
    expect(page.locator("[data-key=count]")).to_have_count(0)
    assert companion.balance_run.state()["now"]["answer"]["count"] == 7


def test_who_chooses_the_igloo_before_the_first_shake_has_come_shakes_the_igloo(
    phones: Phones, service: Service
) -> None:
    service.companion.igloos.told = [REAL]
    page = phones.player()
    trains(page, service, "Ann")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/api/training/rounds", hold, times=1)
    with page.expect_request("**/api/training/rounds"):
        page.reload()
    page.click("[data-source=igloo]")
    held[0].continue_()
    expect(page.locator("[data-key=drill]")).to_have_attribute("data-state", "listening")


def test_a_spectator_is_asked_in(phones: Phones, service: Service) -> None:
    page = phones.guest()
    page.goto(f"{service.url}/training")
    expect(page.locator("#stage a[href='/join']")).to_be_visible()
    assert page.locator(".numbers").count() == 0


def test_a_forgotten_name_is_gone_from_every_phone(phones: Phones, service: Service) -> None:
    ann, _ = history(service.companion, 6)
    page = phones.host()
    page.goto(f"{service.url}/training#progress")
    page.click(f".who-trains [data-person='{ann}']")
    page.click("[data-do=ask-forget]")
    page.click("[data-do=forget]")
    expect(page.locator(".who-trains .toggle")).to_have_text(["Bob"])
    page.click("text=Ladder")
    expect(page.locator(".ladder")).to_contain_text("Bob")
    assert "Ann" not in page.inner_text("body")


DOORS = {
    "drill": ".drill .numbers",
    "duel": "[data-submit=duel]",
    "progress": ".confusion",
    "ladder": ".ladder",
}
"""What there is behind each door of the room when all that it asks for has come."""


def lead(page: Page, stop: str) -> None:
    if stop == "answered":
        guess(page, 9)
        expect(page.locator(".posterior")).to_be_visible()
    elif stop == "duel-play":
        for box in page.locator("[name=people]").all():
            box.check()
        page.click("form[data-submit=duel] .main")
        expect(page.locator(".duellists")).to_be_visible()
    elif stop == "duel-answered":
        for left in range(page.locator(".duellists li").count(), 0, -1):
            # Whoever has answered is gone from the list only when the companion has said so.
            expect(page.locator(".sources .toggle")).to_have_count(left)
            page.locator(".sources .toggle").first.click()
            guess(page, 8)
        expect(page.locator(".posterior")).to_be_visible()
    else:
        page.click(f".tabs [href='#{stop}']")
        expect(page.locator(DOORS[stop])).to_be_visible()
        if stop == "ladder":
            display = "getComputedStyle(document.querySelector('.ladder tr.person')).display"
            assert page.evaluate(display) == "table-row"


ALL_STOPS = ("drill", "answered", "duel", "duel-play", "duel-answered", "progress", "ladder")


@pytest.mark.parametrize(
    ("width", "dark", "language"),
    [
        (320, True, "fr-FR"),
        *(pytest.param(*look, marks=pytest.mark.long) for look in ((768, False, "fr-FR"), (1920, True, "en-GB"))),
    ],
)
def test_it_fits_has_no_barriers_and_is_in_one_language(
    phones: Phones, service: Service, axe: Callable[[Page], list[str]], width: int, dark: bool, language: str
) -> None:
    ann, _ = history(service.companion, 60)
    service.companion.igloos.told = [REAL]
    page = phones.host(width=width, height=900, dark=dark, language=language)
    page.goto(f"{service.url}/training")
    expect(page.locator("#stage h1")).to_be_visible()
    assert axe(page) == []
    page.click(f".who-trains [data-person='{ann}']")
    for stop in ALL_STOPS:
        lead(page, stop)
        assert overflow(page) == [], stop
        assert axe(page) == [], stop
        if language == "fr-FR":
            assert english_left(read_aloud(page)) == [], stop
        phones.shot(page, f"training-{width}-{'dark' if dark else 'light'}-{stop}", full=True)


def test_the_language_is_switched_where_one_is(phones: Phones, service: Service) -> None:
    page = phones.player()
    page.goto(f"{service.url}/training")
    page.click(".languages [value=fr]")
    expect(page.locator(".tabs")).to_contain_text("Classement")
    assert page.url.endswith("/training")


def test_the_room_is_walked_through_by_keyboard_alone(phones: Phones, service: Service) -> None:
    page = phones.player(width=1280)
    trains(page, service, "Ann")
    expect(page.locator(".drill .numbers")).to_be_visible()
    page.locator(".player .main").focus()
    for _ in range(3):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.dataset.count") == "2"
    page.keyboard.press("Enter")
    expect(page.locator(".next")).to_be_focused()
