"""Cards in photos on the command line and in Python: sheets, decks, rounds, piles, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from companion.cli.vision import command
from companion.ports import BadDataError
from tests.worlds.card_table import ROUND, Round, fanned, picture, sheets, taught_round
from vision.cards_deck import WIDTH, Deck, file_of, load_deck, save_deck, teach
from vision.cards_find import CardFinder
from vision.cards_pile import read_cards, read_pile
from vision.cards_sheet import find_cards, in_rows


@pytest.fixture(scope="module")
def played() -> Round:
    return taught_round(ROUND)


@pytest.fixture(scope="module")
def profile(played: Round, tmp_path_factory: pytest.TempPathFactory) -> Path:
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


def test_another_number_of_cards_than_named_is_refused(played: Round) -> None:
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
        with pytest.raises(BadDataError, match="Teach them again"):
            load_deck(tmp_path, "igloo-pop")


def test_a_card_may_be_there_once_only() -> None:
    deck = Deck("arctic", ("fox-5-moose", "fox-4-walrus"), np.zeros((2, 96, WIDTH, 3), np.uint8))
    assert read_cards([], deck) == []
    assert CardFinder(deck).find(np.full((200, 300, 3), 120, np.uint8)) == []


def test_a_round_is_scored_on_the_command_line(played: Round, profile: Path, tmp_path: Path) -> None:
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
    told = json.loads(run("pile", photo, "--profile", tmp_path / "p", "--json").output)
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
        (("pile", "a.jpg", "--profile", "nowhere"), "No cards of this game were taught yet"),
        (("teach-cards", "arctic", "a.jpg", "--order", "nothing.txt", "--profile", "p"), "cannot be read"),
        (("teach-cards", "igloo-pop", "a.jpg", "--order", "wrong.txt", "--profile", "p"), "is no card of igloo-pop"),
        (("teach-cards", "igloo-pop", "a.jpg", "--profile", "p"), "The photos show 0 cards, and the order names 33"),
    ],
)
def test_bad_input_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], sentence: str
) -> None:
    import cv2

    monkeypatch.chdir(tmp_path)
    cv2.imwrite("a.jpg", np.full((200, 300, 3), 120, np.uint8))
    Path("wrong.txt").write_text("4/5\n5/7\n")
    done = run(*arguments)
    assert isinstance(done.exception, BadDataError)
    assert sentence in str(done.exception)
