"""Cards in photos on the command line and in Python: sheets, decks, rounds, piles, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import CliRunner, Result

from companion.cli.vision import command
from companion.lab.worlds.cards.taught import ROUND, RoundPhotos, fanned, picture, sheets, taught_round
from companion.lab.worlds.table import PinholeCamera
from companion.ports import BadDataError
from vision.cards.deck import Deck, file_of, load_deck, save_deck, teach
from vision.cards.detect import CardFinder, DetectedCard
from vision.cards.joint import View, settle
from vision.cards.pile import Read, as_likely, each_once, read_cards, read_pile, side_by_side
from vision.cards.plane import fit_plane
from vision.cards.round import IglooRead, RoundRead, as_recorded, join, overlooked, printed
from vision.cards.shape import WIDTH, corners_of
from vision.cards.sheet import find_cards, in_rows

pytestmark = pytest.mark.learning


@pytest.fixture(scope="module")
def played() -> RoundPhotos:
    return taught_round(ROUND)


@pytest.fixture(scope="module")
def profile(played: RoundPhotos, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a profile in which Igloo Pop's cards are taught."""
    folder = tmp_path_factory.mktemp("profile")
    photos = sheets(played.art)
    order = [name for _, names in photos for name in names]
    save_deck(folder, teach("igloo-pop", [picture(data) for data, _ in photos], order))
    return folder


def run(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(one) for one in arguments])


def kept(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def test_rows_are_read_as_the_cards_lie_though_they_lean() -> None:
    card = np.array([[0, 0], [40, 0], [40, 60], [0, 60]], float)
    turn = np.radians(14)
    lean = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    laid = [(card + np.array([50 * column, 72 * row])) @ lean.T for row in range(3) for column in range(5)]
    shuffled = [laid[i] for i in np.random.default_rng(1).permutation(len(laid))]
    assert [one.tolist() for one in in_rows(shuffled)] == [one.tolist() for one in laid]
    assert in_rows([]) == []


def test_a_photo_without_cards_has_none() -> None:
    assert find_cards(np.full((300, 400, 3), 90, np.uint8)) == []


def test_another_number_of_cards_than_named_is_refused(played: RoundPhotos) -> None:
    data, names = sheets(played.art)[1]
    with pytest.raises(BadDataError, match=f"The photos show {len(names)} cards, and the order names 3"):
        teach("igloo-pop", [picture(data)], names[:3])
    with pytest.raises(BadDataError, match="names a card twice"):
        teach("igloo-pop", [picture(data)], [names[0]] * len(names))


def test_a_deck_comes_back_as_it_was_kept_and_a_damaged_one_is_said(profile: Path, tmp_path: Path) -> None:
    deck = load_deck(profile, "igloo-pop")
    assert deck is not None
    assert len(deck.names) == 33
    assert load_deck(tmp_path, "igloo-pop") is None
    for damage in (b"", b"no archive", file_of(profile, "igloo-pop").read_bytes()[:5000]):
        file_of(tmp_path, "igloo-pop").write_bytes(damage)
        with pytest.raises(BadDataError, match="Teach the cards again"):
            load_deck(tmp_path, "igloo-pop")


def test_a_deck_of_damaged_pictures_is_said(profile: Path, tmp_path: Path) -> None:
    with np.load(file_of(profile, "igloo-pop")) as stored:
        parts = {name: stored[name] for name in stored.files}
    for jpegs in (np.zeros_like(parts["jpegs"]), parts["jpegs"][: len(parts["jpegs"]) // 2]):
        np.savez(file_of(tmp_path, "igloo-pop"), **{**parts, "jpegs": jpegs})
        with pytest.raises(BadDataError, match="Teach the cards again"):
            load_deck(tmp_path, "igloo-pop")


def _views_of(poses: list[tuple[np.ndarray, bool]]) -> list[View]:
    """Return views of cards of 8 × 12 blocks that are seen as a whole, or look like the bare table."""
    views = []
    for to, seen in poses:
        here = np.full(96, seen)
        picture = np.zeros((192, WIDTH, 3), np.uint8)
        views.append(View(to, 192, 12, 0, picture, here, here, ~here, ~here))
    return views


def _at(x: float, y: float) -> np.ndarray:
    return np.array([[1.0, 0, x], [0, 1, y], [0, 0, 1]])


def test_of_cards_in_one_place_one_stays_and_on_the_bare_table_none() -> None:
    views = _views_of([(_at(50, 50), True), (_at(52, 51), True), (_at(300, 50), True), (_at(500, 400), False)])
    kept = settle(views)
    assert sorted(float(view.to[0, 2]) // 10 for view in kept) == [5, 30]
    assert all(view.sure > 0.99 for view in kept)
    assert settle([]) == []


def test_a_strip_tells_where_the_rest_of_a_card_lies() -> None:
    rng = np.random.default_rng(5)
    camera = PinholeCamera(1600, 1200, 420, 18, 7, 3, (0, 0), 1500, -0.05, 0.0)
    height, corners, pairs = 192, [], []
    strip = np.stack(np.meshgrid(np.linspace(6, 40, 4), np.linspace(6, height - 6, 5)), -1).reshape(-1, 2)
    for index in range(7):
        turn = np.radians(6.0 * (index - 3))
        frame = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])

        def seen(own: np.ndarray, frame: np.ndarray = frame, index: int = index) -> np.ndarray:
            flat = ((own - [63.5, 95.5]) * 0.45) @ frame.T + [18.0 * (index - 3), 3.0 * (index - 3) ** 2]
            return camera.project(np.column_stack([flat, np.zeros(len(flat))]))

        corners.append(seen(corners_of(height)))
        pairs.append((strip, seen(strip) + rng.normal(0, 0.3, strip.shape)))
    plane = fit_plane(pairs, height, (1600, 1200))
    assert plane is not None
    for (own, there), truth in zip(pairs, corners, strict=True):
        to = plane.to(plane.pose(own, there))
        laid = cv2.perspectiveTransform(corners_of(height)[None], to)[0]
        assert np.abs(laid - truth).max() < 0.04 * np.linalg.norm(truth[1] - truth[0])
    assert fit_plane(pairs[:2], height, (1600, 1200)) is None
    scattered = [(own, rng.uniform(0, 1200, there.shape)) for own, there in pairs]
    assert fit_plane(scattered, height, (1600, 1200)) is None


@pytest.mark.parametrize("missing", [0, 4, 8])
def test_a_card_of_a_pile_that_was_never_taught_is_not_passed_over_in_silence(missing: int) -> None:
    pile = fanned()
    (data, names), *_ = pile.sheets
    whole = teach("arctic", [picture(data)], names)
    kept = [i for i, name in enumerate(whole.names) if name != pile.names[missing]]
    deck = Deck("arctic", tuple(whole.names[i] for i in kept), whole.pictures[kept])
    read = read_pile(CardFinder(deck).find(picture(pile.photo)), deck)
    kinds = [name.split("-")[0] for name in pile.names]
    assert any(card.gap_before or not card.kind_sure for card in read) or [card.kind for card in read] == kinds


def test_an_igloo_that_only_the_second_photo_shows_is_asked_about() -> None:
    square = np.array([[0, 0], [100, 0], [100, 140], [0, 140]], float)
    cards = tuple(
        Read(name, 1.0, {name: 1.0}, {name: 1.0}, square + np.array([x, 0.0]))
        for name, x in (("4/5", 0.0), ("6", 200.0))
    )
    known = IglooRead(0, (50, 40), (0.0, -0.3), {"red": 0.99, "blue": 0.01})
    upturned = [IglooRead(0, (52, 41), (0.02, -0.29), {}, 7), IglooRead(1, (250, 90), (0.0, 0.2), {}, 9)]
    first, second = RoundRead(cards, (known,)), RoundRead(cards, tuple(upturned))
    (more,) = overlooked(first, second, ("red", "blue"))
    assert (more.card, more.number, more.unsure) == (1, 9, True)
    assert more.at == pytest.approx((250, 90))
    told = join(RoundRead(cards, (known, more)), second)
    assert [(one.card, number) for one, number in told] == [(0, 7), (1, 9)]
    assert told[0][0].colour == "red"
    assert set(more.colours) == {"red", "blue"}


def test_cards_that_igloos_hide_are_told_by_the_order_around_the_ring() -> None:
    names = ("4", "4/5", "5/6", "6/7", "7/8", "8/9")
    deck = Deck("igloo-pop", names, np.zeros((6, 96, WIDTH, 3), np.uint8))

    def lying(cards: list[int | None]) -> list[DetectedCard]:
        p = [np.full(6, 1 / 6) if card is None else np.eye(6)[card] for card in cards]
        return [DetectedCard(np.eye(3), one, np.ones((6, 8), bool), 48, 96) for one in p]

    def told(cards: list[int | None], only: tuple[str, ...] = names) -> list[str]:
        return [names[one.card] if one.p.max() > 0.9 else "?" for one in as_recorded(lying(cards), deck, only)]

    assert told([2, 3, None, 5, 0, None]) == ["5/6", "6/7", "7/8", "8/9", "4", "4/5"]
    assert told([3, 2, 1, None, 5, None]) == ["6/7", "5/6", "4/5", "4", "8/9", "7/8"]
    assert told([3, 2, 0, None, 5, None]) == ["6/7", "5/6", "4", "?", "8/9", "?"]
    assert told([3, None, None, None, 5, 0]) == ["6/7", "?", "?", "?", "8/9", "4"]
    assert told([2, 3, None, 5, 0, None], names[:5]) == ["5/6", "6/7", "?", "8/9", "4", "?"]


def test_a_print_that_looks_like_an_igloo_is_none() -> None:
    seen, hidden = np.ones((12, 8), bool), np.zeros((12, 8), bool)
    lying = DetectedCard(np.eye(3), np.ones(1), seen, 96, 192)
    covered = DetectedCard(np.eye(3), np.ones(1), hidden, 0, 192)
    igloo = IglooRead(0, (64.0, 96.0), (0.0, 0.0), {"red": 1.0})
    assert printed(igloo, lying)
    assert not printed(igloo, covered)


def test_what_is_known_of_who_holds_which_card_tells_two_readings_apart() -> None:
    corners = np.array([[0, 0], [60, 0], [60, 90], [0, 90]], float)
    read = Read("fox-4-walrus", 0.5, {"fox-4-walrus": 0.5, "fox-4-orca": 0.45}, {"fox": 0.95}, corners)
    told = as_likely(read, {"fox-4-orca": 0.25, "fox-4-walrus": 0.004}, 60)
    assert (told.name, told.p > 0.97) == ("fox-4-orca", True)
    # What cannot lie there is not made of what can by that alone: what is known may be wrong.
    other = as_likely(replace(read, names={"fox-4-walrus": 0.95, "fox-4-orca": 0.0001}), {"fox-4-orca": 0.004}, 60)
    assert (other.name, other.p < 0.5) == ("fox-4-walrus", True)


def test_what_cannot_lie_in_one_place_is_left_to_another() -> None:
    corners = np.array([[0, 0], [60, 0], [60, 90], [0, 90]], float)
    strip = Read("fox-3-moose", 0.5, {"fox-3-moose": 0.5, "fox-5-moose": 0.5}, {"fox": 1.0}, corners)
    card = Read("fox-3-moose", 0.9, {"fox-3-moose": 0.9, "fox-1-orca": 0.1}, {"fox": 1.0}, corners + 200)
    # Of the strip it is known by the record that it is the five.
    likely = as_likely(strip, {"fox-5-moose": 0.1}, 60)
    told = [one for group in each_once([(likely,), (card,)]) for one in group]
    assert [one.name for one in told] == ["fox-5-moose", "fox-3-moose"]
    assert told[1].p == pytest.approx(0.9, abs=0.01)
    assert each_once([(strip,), (card,)])[1][0].p < 0.8


def test_cards_that_do_not_overlap_are_no_fan() -> None:
    corners = np.array([[0, 0], [60, 0], [60, 90], [0, 90]], float)
    near, far = (
        tuple(Read(name, 1.0, {name: 1.0}, {}, corners + np.array([step * n, 0])) for n, name in enumerate("abc"))
        for step in (25, 68)
    )
    assert side_by_side(near, 60) == [near]
    assert side_by_side(far, 60) == [(one,) for one in far]


def test_a_card_may_be_there_once_only() -> None:
    deck = Deck("arctic", ("fox-5-moose", "fox-4-walrus"), np.zeros((2, 96, WIDTH, 3), np.uint8))
    assert read_cards([], deck) == []
    assert CardFinder(deck).find(np.full((200, 300, 3), 120, np.uint8)) == []


def test_a_round_is_scored_on_the_command_line(played: RoundPhotos, profile: Path, tmp_path: Path) -> None:
    first, second = kept(tmp_path, "a.jpg", played.placed), kept(tmp_path, "b.jpg", played.turned)
    out = tmp_path / "drawn.jpg"
    done = run("round", first, second, "--profile", profile, "--json", "--out", out)
    told = json.loads(done.output)
    assert out.read_bytes()[:2] == b"\xff\xd8"
    seen = {(one["card"], i["colour"], i["number"]) for one in told["cards"] for i in one["igloos"]}
    # Two igloos hide the numbers of one card: without the open game that card is not known, with it it is.
    hidden = {one for one in played.truth if one[0] == played.names[3]}
    assert seen >= set(played.truth) - hidden
    assert [one["card"] for one in told["cards"] if one["card"] in played.names]
    assert done.exit_code in {0, 1}


def test_a_pile_is_scored_on_the_command_line(tmp_path: Path) -> None:
    pile = fanned()
    (data, names), *_ = pile.sheets
    order = kept(tmp_path, "order.txt", "\n".join(names).encode())
    sheet, photo = kept(tmp_path, "sheet.jpg", data), kept(tmp_path, "pile.jpg", pile.photo)
    learnt = run("teach-cards", "arctic", sheet, "--order", order, "--profile", tmp_path / "p", "--json")
    assert learnt.exit_code == 0, learnt.output
    assert json.loads(learnt.output)["cards"] == 20
    done = run("pile", photo, "--profile", tmp_path / "p", "--json", "--count", len(pile.names))
    assert done.exit_code == 0
    told = json.loads(done.output)
    assert [card["kind"] for card in told["pile"]] == [name.split("-")[0] for name in pile.names]
    assert told["total"] == pile.points
    assert {clause for line in told["lines"] for clause in line["clauses"]} == {"ARC-V.1", "ARC-V.2"}
    deck = load_deck(tmp_path / "p", "arctic")
    assert deck is not None
    upside_down = np.ascontiguousarray(picture(pile.photo)[::-1, ::-1])
    turned = read_pile(CardFinder(deck).find(upside_down), deck)
    assert [card.kind for card in turned] == [name.split("-")[0] for name in pile.names]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("pile", "a.jpg", "--profile", "nowhere"), "No cards of this game have been taught yet"),
        (("teach-cards", "arctic", "a.jpg", "--order", "nothing.txt", "--profile", "p"), "cannot be read"),
        (("teach-cards", "igloo-pop", "a.jpg", "--order", "wrong.txt", "--profile", "p"), "is no card of igloo-pop"),
        (("teach-cards", "igloo-pop", "a.jpg", "--profile", "p"), "The photos show 0 cards, and the order names 33"),
    ],
)
def test_bad_input_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    cv2.imwrite("a.jpg", np.full((200, 300, 3), 120, np.uint8))
    Path("wrong.txt").write_text("4/5\n5/7\n")
    done = run(*arguments)
    assert isinstance(done.exception, BadDataError)
    assert sentence in str(done.exception)
