"""The box and the set-up: ARC-K.1 to K.7, ARC-S.1 to S.5, ARC-T.9."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from companion.rules import game
from companion.rules.arctic.components import ANIMALS, BOX, LANDSCAPE, SIDES, TEXT
from companion.rules.core import CHANCE, SetupError

Make = Callable[..., Any]
ARCTIC = game("arctic")

# The companions of the cards with placement and draw value 5/1, 4/2, 3/3, 2/4, 1/5; a line a pack.
CARD_LIST = """
fox 1 moose walrus orca puffin bear
fox 2 walrus orca puffin bear moose
fox 3 orca puffin bear moose walrus
fox 4 puffin bear moose walrus orca
moose 1 walrus orca puffin bear fox
moose 2 orca puffin bear fox walrus
moose 3 puffin bear fox walrus orca
moose 4 bear fox walrus orca puffin
walrus 1 orca puffin bear fox moose
walrus 2 puffin bear fox moose orca
walrus 3 bear fox moose orca puffin
walrus 4 fox moose orca puffin bear
orca 1 puffin bear fox moose walrus
orca 2 bear fox moose walrus puffin
orca 3 fox moose walrus puffin bear
orca 4 moose walrus puffin bear fox
puffin 1 bear fox moose walrus orca
puffin 2 fox moose walrus orca bear
puffin 3 moose walrus orca bear fox
puffin 4 walrus orca bear fox moose
bear 1 fox moose walrus orca puffin
bear 2 moose walrus orca puffin fox
bear 3 walrus orca puffin fox moose
bear 4 orca puffin fox moose walrus
"""


def listed() -> set[tuple[int, str, int, int, str]]:
    found = set()
    for line in CARD_LIST.strip().splitlines():
        main, pack, *companions = line.split()
        for placement, companion in zip((5, 4, 3, 2, 1), companions, strict=True):
            found.add((int(pack), main, placement, 6 - placement, companion))
    return found


@pytest.mark.cites("ARC-K.3", "ARC-K.4", "ARC-K.5")
def test_the_box_has_the_120_cards_of_the_list() -> None:
    assert {(p, ANIMALS[m], v, d, ANIMALS[c]) for p, m, v, d, c in BOX} == listed()
    assert len(BOX) == 120 and Counter(card[0] for card in BOX) == dict.fromkeys((1, 2, 3, 4), 30)
    assert all(placement + draw == 6 for _, _, placement, draw, _ in BOX)
    pairs = Counter((main, companion) for _, main, _, _, companion in BOX)
    assert len(pairs) == 30 and set(pairs.values()) == {4}
    assert len(set(TEXT)) == len(TEXT), "a card is known by animal, value and companion alone"


@pytest.mark.cites("ARC-K.1", "ARC-K.2", "ARC-S.1")
def test_six_tokens_begin_on_three_of_six_landscape_cards() -> None:
    places = ARCTIC.start(ARCTIC.seats(3)).position()["places"]
    assert [name for name in places if name.startswith("land")] == [f"land{v}" for v in (0, 1, 3, 6, 10, 15)]
    assert sorted(LANDSCAPE) == list(LANDSCAPE)
    assert sorted(thing["kind"] for thing in places["land3"]["things"]) == sorted(ANIMALS)
    assert not any(places[f"land{v}"]["things"] for v in (0, 1, 6, 10, 15))


@pytest.mark.cites("ARC-K.6")
def test_six_power_cards_have_twelve_sides(texts: Make) -> None:
    assert sorted(power for sides in SIDES.values() for power in sides) == list(range(1, 13))
    sides = texts(ARCTIC.start(ARCTIC.seats(2)), "side")
    assert sides == {f"side {ANIMALS[a]} {power}" for a, pair in SIDES.items() for power in pair}


def dealt(players: int, seed: int = 1) -> Any:
    """Return a game as it stands when the set-up is done."""
    state, rng = ARCTIC.start(ARCTIC.seats(players)), Random(seed)
    while state.to_move == CHANCE:
        state = state.play(state.chance(rng))
    return state


@pytest.mark.cites("ARC-T.9", "ARC-S.2", "ARC-S.3", "ARC-S.5")
@pytest.mark.parametrize(("players", "cards", "reserve", "pile"), [(2, 60, 5, 43), (3, 90, 10, 65), (4, 120, 15, 87)])
def test_t9_packs_reserve_and_pile(players: int, cards: int, reserve: int, pile: int) -> None:
    position = dealt(players).position()
    assert len(position["packs"]) == players and 30 * players == cards
    assert (position["reserve"], position["pile_left"]) == (reserve, pile)
    assert all(len(player["hand"]) == 3 for player in position["players"])
    river = [position["places"][f"river{n}"]["things"] for n in range(1, 7)]
    assert all(len(things) == 1 for things in river)


@pytest.mark.cites("ARC-S.4", "ARC-K.7")
def test_the_set_up_is_dealt_at_random_and_the_footprint_holder_begins() -> None:
    state = dealt(4, seed=9)
    position = state.position()
    totems = [player["totem"] for player in position["players"]]
    assert len(set(totems)) == 4 and set(totems) <= set(ANIMALS)
    assert set(position["powers"]) == set(ANIMALS)
    assert position["to_move"] == position["first"] == state.to_move + 1
    assert len({dealt(4, seed).to_move for seed in range(20)}) == 4
    assert len({dealt(4, seed).powers for seed in range(20)}) > 10


@pytest.mark.cites("ARC-S.2", "ARC-S.4")
def test_the_set_up_refuses_what_the_box_cannot_give(play: Make, refused: Make, allowed: Make) -> None:
    state = ARCTIC.start(ARCTIC.seats(2), setup={"packs": [1], "totems": ["fox"]})
    for text, clause in (
        ("pack 1", "ARC-S.2"),
        ("river fox-5-moose", "ARC-S.4"),
        ("place fox-5-moose", "ARC-S.4"),
        ("totem p1 bear", "ARC-S.4"),
        ("totem p2 fox", "ARC-K.7"),
        ("first p3", "ARC-S.2"),
    ):
        assert clause in refused(state, text).clauses, text
    state = play(state, "pack 3", "side fox 12", "totem p2 ?", "first p2")
    assert "ARC-S.4" in refused(state, "side fox 11").clauses
    state = play(state, *(f"side {a} {p}" for a, p in zip(ANIMALS[1:], (9, 1, 7, 3, 5), strict=True)))
    assert "ARC-S.4" in refused(state, "hand p1 fox-5-moose").clauses, "the first player is dealt first"
    state = play(state, "hand p2 fox-5-moose", "hand p2 ?")
    assert "ARC-K.4" in refused(state, "hand p2 fox-5-moose").clauses
    assert "ARC-S.2" in refused(state, "hand p2 fox-5-walrus").clauses, "that is a card of pack 2"
    assert allowed(state, "hand p2 fox-5-orca").clauses == ("ARC-S.4",)


def test_a_set_up_of_what_the_table_knows() -> None:
    setup = {
        "packs": [1, 2],
        "powers": {"fox": 12, "moose": 10, "walrus": 1, "orca": 7, "puffin": 4, "bear": 6},
        "totems": ["?", "fox"],
        "first": 2,
        "hands": [["?", "?", "?"], ["fox-5-moose", "fox-5-walrus", "bear-1-puffin"]],
        "river": ["moose-5-walrus", "moose-4-orca", "moose-3-puffin", "moose-2-bear", "moose-1-fox", "orca-1-walrus"],
    }
    state = ARCTIC.start([{"name": "Ann"}, {"name": "Bob"}], setup=setup)
    assert state.to_move == 1
    position = state.position()
    assert position["phase"] == "A" and position["players"][0]["hand"] == ["?", "?", "?"]
    assert state.problems() == ()


@pytest.mark.parametrize(
    "setup",
    [
        {"pack": [1]},
        {"packs": 3},
        {"packs": [1, 1]},
        {"packs": [5]},
        {"powers": ["fox"]},
        {"powers": {"cat": 3}},
        {"powers": {"fox": 3}},
        {"totems": ["fox", "fox"]},
        {"totems": [3]},
        {"first": 3},
        {"first": "me"},
        {"first": None},
        {"hands": [["fox-5-moose"]]},
        {"hands": 3},
        {"river": ["fox-9-moose"]},
        {"packs": [1, 2], "first": 1, "river": ["fox-5-moose"]},
    ],
)
def test_a_set_up_that_does_not_fit_is_refused_in_a_sentence(setup: dict[str, Any]) -> None:
    with pytest.raises(SetupError) as caught:
        ARCTIC.start(ARCTIC.seats(2), setup=setup)
    assert caught.value.en.count("\n") == 0
    assert caught.value.fr != caught.value.en


@pytest.mark.parametrize(
    "players", [[], [{"name": "A"}], [{"name": "A"}] * 5, [{"name": ""}, {}], [{"name": "x" * 61}, {}]]
)
def test_players_that_do_not_fit_are_refused_in_a_sentence(players: list[dict[str, Any]]) -> None:
    with pytest.raises(SetupError) as caught:
        ARCTIC.start(players)
    assert caught.value.fr != caught.value.en


def test_options_have_their_defaults() -> None:
    assert ARCTIC.settled_options({}) == {"arc.end_trigger": "strict", "arc.facedown_alone": True}
