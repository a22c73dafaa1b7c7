"""The search for a turn of Arctic: it finds what was played, and proves that there is nothing where there is not."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from math import log
from random import Random
from typing import Any

import pytest

from companion.lab.bench.turn_times import forget, spoil, whole_turns
from companion.rules import game
from companion.rules.arctic.inference import search
from companion.rules.arctic.inference.bounds import in_hand
from companion.rules.arctic.inference.likelihood import ArcticLikelihood, card_fits, pile_fits, zone_fits
from companion.rules.core import SetupError
from companion.rules.inference.turns import Evidence, content, turns
from tests.worlds.sizes import size

# Not measured for coverage: that takes three times as long, and the other tests reach nearly every branch.
pytestmark = pytest.mark.no_cover

Make = Callable[..., Any]
ARCTIC: Any = game("arctic")


def legal_way(before: Any, moves: Any) -> Any:
    """Play moves, each of them checked, and return the state after them."""
    state = before
    for move in moves:
        state = state.play(move)
    return state


def named(moves: Any) -> list[str]:
    """Return the moves without the cards that came unseen."""
    return sorted(move.kind if move.kind in {"hand", "penalty"} else str(move) for move in moves)


@pytest.mark.sized
@pytest.mark.parametrize("seed", [1, 2])
def test_turns_that_were_played_are_found(seed: int) -> None:
    same = 0
    for before, moves, after in whole_turns("arctic", Random(seed), size(25, 60)):
        evidence = Evidence.of_position(after.position())
        found = turns(before, evidence, limit=60)
        assert found.turns and found.complete, list(map(str, moves))
        assert len(found.turns[0].moves) <= len(moves)
        for turn in found.turns:
            end: Any = turn.state
            assert legal_way(before, turn.moves) == end
            assert not search.ArcticGoal(before, evidence).misses(end)
        if len(found.turns[0].moves) == len(moves):
            assert named(moves) in [named(turn.moves) for turn in found.turns], list(map(str, moves))
            same += 1
    assert same > size(16, 40)


@pytest.mark.sized
def test_turns_are_found_without_seeing_what_is_hidden() -> None:
    for before, moves, after in whole_turns("arctic", Random(3), size(25, 60)):
        table = ARCTIC.from_position(before.view(None))
        evidence = Evidence.of_position(after.view(None))
        found = turns(table, evidence, limit=3)
        assert found.turns and found.complete, list(map(str, moves))
        assert len(found.turns[0].moves) <= len(moves)
        for turn in found.turns:
            assert not search.ArcticGoal(table, evidence).misses(legal_way(table, turn.moves))


@pytest.mark.sized
def test_turns_are_found_where_a_part_is_forgotten() -> None:
    rng = Random(4)
    for before, moves, after in whole_turns("arctic", rng, size(25, 60)):
        evidence = forget(Evidence.of_position(after.position()), rng, 0.15)
        found = turns(before, evidence, limit=3)
        assert found.turns or not found.complete, list(map(str, moves))
        for turn in found.turns:
            assert len(turn.moves) <= len(moves)
            assert not search.ArcticGoal(before, evidence).misses(legal_way(before, turn.moves))


@pytest.mark.sized
def test_what_was_spoilt_is_found_only_where_a_legal_turn_makes_it() -> None:
    rng = Random(5)
    refused = 0
    for before, _, after in whole_turns("arctic", rng, size(25, 60)):
        evidence = spoil(Evidence.of_position(after.position()), rng)
        found = turns(before, evidence, limit=2)
        for turn in found.turns:
            assert not search.ArcticGoal(before, evidence).misses(legal_way(before, turn.moves))
        refused += not found.turns
    assert refused > size(8, 20)


@pytest.mark.sized
def test_bounds_never_give_up_a_state_on_a_way_that_was_played() -> None:
    for before, moves, after in whole_turns("arctic", Random(6), size(60, 150)):
        goal = search.ArcticGoal(before, Evidence.of_position(after.position()))
        state = before
        for number, move in enumerate(moves[:-1], 1):
            state = state.after(move)
            changes = any(move.kind == "value" and state.phase != "A" for move in moves[number:])
            if state.count and changes:
                break  # the search changes a value before it draws
            assert goal.left(state) < 100, (list(map(str, moves)), str(move))


def test_a_hand_that_is_not_told_may_be_of_any_size(table: Make) -> None:
    position = table(pile="moose-2-bear", hand="fox-5-moose").position()
    assert len(search.cases(position)) == 1
    del position["players"][0]["hand"]
    found = search.cases(position)
    assert [len(state.hands[0]) for state in found] == [3, 0, 1, 2, 4, 5, 6, 7]
    del position["to_move"]
    assert [state.seat for state in search.cases(position)] == [0] * 8 + [1], "Bob's hand is told"
    alone = {"players": [{"pile": ["fox-5-moose"]}], "places": {}}
    with pytest.raises(SetupError, match="nobody has a turn"):
        search.cases(alone)


def test_a_search_that_gives_up_says_so(table: Make) -> None:
    before = table(pile="moose-1-fox", hand="fox-5-moose")
    after = legal_way(before, map(ARCTIC.parse, ["place fox-5-moose", "tokens fox+ moose-", "draw bear-5-fox"]))
    after = after.play(ARCTIC.parse("river fox-4-walrus"))
    evidence = Evidence.of_position(after.position())
    assert len(turns(before, evidence).turns) == 1
    found = turns(before, evidence, most=1)
    assert not found.turns and not found.complete


def test_a_camera_may_not_be_sure_of_a_card(table: Make) -> None:
    before = table(pile="moose-1-fox", hand="fox-5-moose")
    after = legal_way(before, map(ARCTIC.parse, ["place fox-5-moose", "tokens fox+ moose-", "draw bear-5-fox"]))
    after = after.play(ARCTIC.parse("river fox-4-walrus"))
    told = after.position()["places"]
    slot = next(name for name, place in told.items() if place["things"] and place["things"][0].get("value") == 4)
    cards = [content({**told[slot], "things": [{"kind": "fox", "value": value, "companion": animal}]})
             for value, animal in ((4, "walrus"), (3, "orca"))]  # fmt: skip
    places: dict[str, Any] = {name: {content(place): 0.0} for name, place in told.items()}
    places[slot] = {cards[0]: log(0.1), cards[1]: log(0.9)}
    shuffled = dict(zip(["river1", "river2"], [places["river2"], places["river1"]], strict=True))
    found = turns(before, Evidence(places | shuffled))
    assert [str(turn.moves[-1]) for turn in found.turns] == ["river fox-3-orca", "river fox-4-walrus"]
    assert [turn.log_likelihood for turn in found.turns] == pytest.approx([log(0.9), log(0.1)])


def test_what_fits_what() -> None:
    pile = ["down:?", "fox", "?", "fox-5-moose"]
    seen = ArcticLikelihood(Evidence({}, {"p1.pile": pile, "p1.hand": 2, "p1.penalty": ["?", "orca-5-puffin"]}), 1)
    here = ArcticLikelihood(
        Evidence({}, {"p1.pile": ["down:orca-5-puffin", "fox-4-walrus", "bear-1-puffin", "fox-5-moose"]}), 1
    )
    assert seen.piles[0] and here.piles[0] and seen.penalties[0] and seen.hands[0]
    assert pile_fits(seen.piles[0], here.piles[0])
    assert not pile_fits(seen.piles[0][:3], here.piles[0]) and not card_fits(seen.piles[0][0], here.piles[0][1])
    assert not card_fits(seen.piles[0][1], here.piles[0][2]), "a fox is no bear"
    orca, fox = here.piles[0][0] % 256, here.piles[0][3]
    assert zone_fits(seen.penalties[0], (fox, orca)) and not zone_fits(seen.penalties[0], (fox, fox + 1))
    assert zone_fits((fox, orca), seen.hands[0]) and not zone_fits((fox,), seen.hands[0])
    for wrong in ({"p1.pile": 3}, {"p1.hand": ["seal"]}, {"p1.powers": ["seal"]}, {"p1.penalty": -1}):
        with pytest.raises(SetupError):
            ArcticLikelihood(Evidence({}, wrong), 1)


def test_a_card_on_its_way_counts_as_held(table: Make) -> None:
    before = table(pile="moose-1-fox", hand="fox-5-moose", own="orca", sides=(8,))
    drawn = legal_way(before, map(ARCTIC.parse, ["place fox-5-moose", "tokens fox+ moose-", "draw-pile"]))
    assert (drawn.phase, in_hand(drawn)) == ("drawn", 1)


def test_a_pile_may_be_told_as_it_lies_fanned_out(table: Make) -> None:
    before = table(pile="moose-1-fox", hand="fox-5-moose")
    places = {
        "pile1": {"ground": "pile", "things": [{"kind": "moose"}]},
        "pile2": {"ground": "pile", "things": [{"kind": "fox", "value": 5, "companion": "moose"}]},
    }
    evidence = Evidence.of_position({"places": places}, "arctic")
    assert not evidence.places and evidence.fields == {"p1.pile": ["moose", "fox-5-moose"]}
    assert turns(before, evidence).turns
    wrong = copy.deepcopy(places)
    wrong["pile2"]["things"] = [{"kind": "face-down"}]
    assert not turns(before, Evidence.of_position({"places": wrong}, "arctic")).turns


# --- against all turns there are --------------------------------------------------------------------------------------


def ends_of(before: Any) -> dict[str, int]:
    """Return every position that a turn can end with, and the fewest steps to it, by trying everything."""
    ends: dict[str, int] = {}
    level, known, steps = [before], {before}, 0
    while level:
        steps += 1
        following = []
        for state in level:
            for move in state.legal_moves:
                new = state.after(move)
                if new.seat != before.seat:
                    ends.setdefault(json.dumps(told(new), sort_keys=True), steps)
                elif new not in known:
                    known.add(new)
                    following.append(new)
        level = following
    return ends


def told(state: Any) -> dict[str, Any]:
    """Return what of a position is evidence."""
    position = state.position()
    return {key: position[key] for key in ("places", "players", "pile_left")}


def spoilt(position: dict[str, Any], rng: Random) -> dict[str, Any]:
    """Return a position in which one thing is otherwise: a token, a card of the pile or hand, a power card."""
    found = copy.deepcopy(position)
    ann = found["players"][0]
    kind = rng.randrange(4)
    if kind == 0:
        here = rng.choice(
            [name for name in found["places"] if name.startswith("land") and found["places"][name]["things"]]
        )
        there = rng.choice([name for name in found["places"] if name.startswith("land") and name != here])
        found["places"][there]["things"].append(found["places"][here]["things"].pop())
    elif kind == 1 and len(ann["pile"]) > 1:
        ann["pile"][-2:] = reversed(ann["pile"][-2:])
    elif kind == 2 and ann["hand"]:
        ann["penalty"] = sorted([*ann["penalty"], ann["hand"].pop()])
    else:
        ann["powers"] = sorted({*ann["powers"]} ^ {rng.choice(["fox", "moose", "orca"])})
    return found


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param(
            {"pile": "moose-2-bear", "own": "fox puffin moose", "sides": (11, 3, 10), "stage": "last"},
            marks=pytest.mark.long,
        ),
        {"pile": "bear-1-puffin moose-3-puffin", "own": "fox puffin walrus", "sides": (12, 4, 1), "stage": "last"},
        {
            "pile": "moose-3-puffin",
            "hand": "fox-5-moose orca-5-puffin",
            "own": "walrus",
            "sides": (2,),
            "stage": "last",
        },
        {"pile": "moose-1-fox", "hand": "fox-5-moose", "own": "orca", "sides": (8,), "stage": "final"},
        {"pile": "moose-1-fox", "hand": "fox-4-walrus", "own": "moose bear", "sides": (9, 6), "penalty": "orca-4-bear"},
    ],
)
def test_the_search_agrees_with_trying_everything(table: Make, fields: dict[str, Any]) -> None:
    hand = fields.get("hand", "fox-5-moose orca-5-puffin walrus-4-puffin")
    last = fields.get("stage") == "last"
    # Of what is turned up everybody knows what it is: the packs are all but used up.
    before = table(**{**fields, "hand": hand}, pile_left=0 if last else 1, reserve=0, tokens={"fox": 10, "orca": 15})
    ends = ends_of(before)
    rng = Random(1)
    for text in rng.choices(sorted(ends), k=30):
        position = json.loads(text)
        if "?" in json.dumps(position["players"][0]):
            continue  # a card that came unseen: the search may tell it by its name
        found = turns(before, Evidence.of_position(position, "arctic"))
        assert found.turns and found.complete
        assert len(found.turns[0].moves) == ends[text], "the shortest"
    legal = {ordered(json.loads(text)) for text in ends}
    impossible = 0
    for text in rng.choices(sorted(ends), k=60):
        position = spoilt(json.loads(text), rng)
        if "?" in json.dumps(position["players"][0]):
            continue
        found = turns(before, Evidence.of_position(position, "arctic"))
        assert found.complete
        same = ordered(position) in legal
        assert bool(found.turns) == same, position
        impossible += not same
    assert impossible > 10


def ordered(position: dict[str, Any]) -> str:
    """Return what a position tells, whatever the order of tokens on a landscape card or of cards in a hand."""
    places = {
        name: sorted(json.dumps(thing, sort_keys=True) for thing in place["things"])
        for name, place in position["places"].items()
    }
    players = [
        {key: sorted(value) if key in {"hand", "penalty", "powers"} else value for key, value in player.items()}
        for player in position["players"]
    ]
    return json.dumps([places, players, position["pile_left"]], sort_keys=True)
