"""The search for a part of a round of Igloo Pop: it finds what was played, and what explains cards and thalers."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from companion.lab.bench.turn_times import forget, one_step, spoil, whole_turns
from companion.rules import game
from companion.rules.core import SetupError
from companion.rules.igloo_pop.components import CARD_INDEX
from companion.rules.igloo_pop.inference import check_inference, search
from companion.rules.inference.explain import explain
from companion.rules.inference.turns import Evidence, turns
from tests.worlds.sizes import size

# Not measured for coverage: that takes three times as long, and the other tests reach nearly every branch.
pytestmark = pytest.mark.no_cover

Make = Callable[..., Any]
POP: Any = game("igloo-pop")


def legal_way(before: Any, moves: Any) -> Any:
    """Play moves, each of them checked, and return the state after them."""
    state = before
    for move in moves:
        state = state.play(move)
    return state


def misses(before: Any, evidence: Evidence, end: Any) -> list[str]:
    return search.PopGoal(before, evidence).misses(end)


def settled(moves: Any) -> list[str]:
    """Return what counts of a round: the placements and numbers."""
    return sorted(str(move) for move in moves if move.kind in {"place", "reveal", "deal"})


@pytest.mark.parametrize("seed", [1, 2])
def test_whole_rounds_are_found_by_what_was_shown(seed: int) -> None:
    for before, moves, after in whole_turns("igloo-pop", Random(seed), 40):
        evidence = Evidence.of_position(after.position())
        found = turns(before, evidence)
        assert found.turns and found.complete, list(map(str, moves))
        assert len(found.turns[0].moves) <= len(moves)
        for turn in found.turns:
            assert not misses(before, evidence, legal_way(before, turn.moves))
        assert Counter(settled(found.turns[0].moves)) == Counter(settled(moves)), "whatever was taken and returned"


def parts_of_rounds(rng: Random, count: int) -> Any:
    for before, moves, _ in whole_turns("igloo-pop", rng, count):
        states = [before]
        for move in moves:
            states.append(states[-1].after(move))
        one, two = sorted(rng.sample(range(len(states)), 2))
        yield states[one], moves[one:two], states[two]


@pytest.mark.sized
def test_any_part_of_a_round_is_found() -> None:
    for before, moves, after in parts_of_rounds(Random(3), size(60, 120)):
        evidence = Evidence.of_position(after.position())
        found = turns(before, evidence)
        assert found.turns and found.complete, (str(before), str(after))
        assert len(found.turns[0].moves) <= len(moves)
        for turn in found.turns:
            assert not misses(before, evidence, legal_way(before, turn.moves))


@pytest.mark.sized
def test_rounds_are_found_by_cards_and_thalers_alone() -> None:
    for before, moves, after in whole_turns("igloo-pop", Random(4), size(25, 60)):
        evidence = Evidence.of_position(after.position()).without(["results"])
        found = turns(before, evidence, limit=3)
        assert found.turns, list(map(str, moves))
        assert len(found.turns[0].moves) <= len(moves)
        for turn in found.turns:
            assert not misses(before, evidence, legal_way(before, turn.moves))


@pytest.mark.sized
def test_rounds_are_found_where_a_part_is_forgotten() -> None:
    rng = Random(5)
    for before, moves, after in whole_turns("igloo-pop", rng, size(8, 60)):
        evidence = forget(Evidence.of_position(after.position()), rng)
        found = turns(before, evidence, limit=3)
        assert found.turns, list(map(str, moves))
        assert len(found.turns[0].moves) <= len(moves)
        for turn in found.turns:
            assert not misses(before, evidence, legal_way(before, turn.moves))


def test_rounds_are_found_by_the_cards_that_lie_there_afterwards() -> None:
    cards = 0
    for before, moves, after in whole_turns("igloo-pop", Random(5), 25):
        evidence = Evidence.of_position({"game": "igloo-pop", "places": after.position()["places"]})
        found = turns(before, evidence, limit=3)
        assert found.turns, list(map(str, moves))
        assert len(found.turns[0].moves) <= len(moves)
        for turn in found.turns:
            assert not misses(before, evidence, legal_way(before, turn.moves))
        cards = max(cards, sum(str(move).startswith("deal") for move in found.turns[0].moves))
    assert cards > 2, "several cards were won by nobody knows whom"


@pytest.mark.sized
def test_what_was_spoilt_is_found_only_where_a_legal_round_makes_it() -> None:
    rng = Random(6)
    refused = 0
    for before, _, after in whole_turns("igloo-pop", rng, size(25, 60)):
        evidence = spoil(Evidence.of_position(after.position()), rng)
        found = turns(before, evidence, limit=3)
        for turn in found.turns:
            assert not misses(before, evidence, legal_way(before, turn.moves))
        refused += not found.turns
    assert refused > size(6, 15)


def test_nothing_need_have_happened(shaking: Make) -> None:
    before = shaking()
    found = turns(before, Evidence.of_position(before.position()))
    assert [turn.moves for turn in found.turns] == [()] and found.complete


def test_igloos_on_cards_that_nobody_saw_are_known_by_their_thalers(shaking: Make, play: Make) -> None:
    before = shaking("red", "blue")
    after = play(before, "place red card3", "place red card7", "place blue card7").position()
    after["places"] = {name: None if name in {"card3", "card7"} else place for name, place in after["places"].items()}
    found = turns(before, Evidence.of_position(after), limit=40)
    ways = {tuple(map(str, turn.moves)) for turn in found.turns}
    assert ["place blue card7", "place red card3", "place red card7"] in map(sorted, ways)
    assert len(ways) == 4, "two cards for each of three igloos, red's two alike, in one order"


# --- against all checks there are -------------------------------------------------------------------------------------


def ends_of(before: Any) -> list[Any]:
    """Return every state after the check of a position, by trying all numbers."""
    level = [before]
    while level[0].phase == "checking":
        level = [state.after(move) for state in level for move in state.legal_moves]
    return level


def key(position: dict[str, Any], *, results: bool) -> str:
    """Return what a position tells of a check, with or without the numbers."""
    players = [{**player, "cards": sorted(player["cards"])} for player in position["players"]]
    shown = sorted((result["place"], sorted(map(tuple, result["igloos"]))) for result in position["results"])
    return json.dumps([position["places"], players, position["phase"], shown if results else None], sort_keys=True)


def spoilt(position: dict[str, Any], rng: Random) -> dict[str, Any]:
    """Return a position in which somebody has a thaler more or fewer, or the card of another."""
    found = copy.deepcopy(position)
    one, two = rng.sample(found["players"], 2)
    tally = rng.choice(["own", "captured", "removed", "cards"])
    if tally == "cards":
        one["cards"], two["cards"] = two["cards"], one["cards"]
    else:
        one[tally] = max(0, one[tally] + rng.choice([-1, 1]))
    return found


@pytest.mark.parametrize("none_match", ["remove", "return"])
@pytest.mark.parametrize(
    "stakes", ["red green", pytest.param("red red green", marks=pytest.mark.long), "green red red"]
)
def test_the_search_agrees_with_trying_everything(shaking: Make, play: Make, stakes: str, none_match: str) -> None:
    before = shaking("red", "green", cards=("4/5", "6"), none_match=none_match)
    *first, last = stakes.split()
    before = play(
        before, *(f"place {colour} card1" for colour in first), f"place {last} card2", "pass red", "pass green"
    )
    ends = [end.position() for end in ends_of(before)]
    rng = Random(1)
    for results in (True, False):
        legal = {key(end, results=results) for end in ends}
        impossible = 0
        for number in range(60):
            position = rng.choice(ends)
            position = spoilt(position, rng) if number % 2 else position
            evidence = Evidence.of_position(position)
            found = turns(before, evidence if results else evidence.without(["results"]))
            assert bool(found.turns) == (key(position, results=results) in legal), (results, position)
            for turn in found.turns:
                legal_way(before, turn.moves)
            impossible += not found.turns
        assert impossible > 10


# --- reckoning --------------------------------------------------------------------------------------------------------

RED, BLUE, GREEN = 0, 1, 2
NOTHING: Counter[int] = Counter()


def table(
    cards: dict[int, str], accounts: dict[int, check_inference.Account], **fields: Any
) -> check_inference.SettledCards:
    """Make a table of cards, written as they are; nothing stood on them, and all stay unless they were won."""
    indices = {place: CARD_INDEX[tuple(map(int, card.split("/")))] for place, card in cards.items()}
    return check_inference.SettledCards(
        indices,
        fields.get("igloos", dict.fromkeys(cards, ())),
        fields.get("stays", dict.fromkeys(cards)),
        accounts,
        fields.get("used", frozenset()),
        fields.get("returns", False),
    )


def won(*cards: str) -> Counter[int]:
    return Counter(CARD_INDEX[tuple(map(int, card.split("/")))] for card in cards)


def test_a_card_and_thalers_won_and_lost() -> None:
    accounts = {
        RED: check_inference.Account(won("4/5"), 1, 1, 1),
        BLUE: check_inference.Account(NOTHING, 2, 0, 1),
    }
    (found,) = check_inference.reckon(table({0: "4/5", 1: "6"}, accounts))
    assert [who for who, _ in found[0]] == [RED, BLUE] and found[0][0][1] in (4, 5) and found[0][1][1] not in (4, 5)
    assert sorted(who for who, _ in found[1]) == [RED, BLUE] and all(number != 6 for _, number in found[1])
    assert len({number for pairs in found.values() for _, number in pairs}) == 4


def test_thalers_that_cannot_have_gone_so() -> None:
    two = {0: "4/5", 1: "6"}
    gained = {RED: check_inference.Account(NOTHING, 0, 1, 0), BLUE: check_inference.Account(NOTHING, 1, 0, 0)}
    assert not list(check_inference.reckon(table(two, gained))), "who won no card won no thaler"
    lost = {RED: check_inference.Account(won("6"), 0, 0, 0), BLUE: check_inference.Account(NOTHING, 1, 0, 0)}
    assert not list(check_inference.reckon(table(two, lost))), "a thaler went nowhere"
    negative = {RED: check_inference.Account(NOTHING, -1, 0, 0)}
    assert not list(check_inference.reckon(table(two, negative)))


def test_igloos_that_stood_there_already_explain_first() -> None:
    stood = {0: (RED << 4, BLUE << 4), 1: (BLUE << 4,)}
    accounts = {RED: check_inference.Account(won("4/5"), 0, 0, 0), BLUE: check_inference.Account(NOTHING, 1, 0, 1)}
    (found,) = check_inference.reckon(table({0: "4/5", 1: "6"}, accounts, igloos=stood))
    assert found[0] == [(RED, 5), (BLUE, 4)], "blue's thaler came back: it matched, below red's"
    assert [who for who, _ in found[1]] == [BLUE]


def test_where_the_thalers_come_back_none_is_lost_with_others() -> None:
    stood = {0: (RED << 4, BLUE << 4), 1: ()}
    back = {RED: check_inference.Account(NOTHING, 0, 0, 0), BLUE: check_inference.Account(NOTHING, 1, 0, 1)}
    (found,) = check_inference.reckon(table({0: "4/5", 1: "6"}, back, igloos=stood, returns=True))
    assert sorted(who for who, _ in found[0]) == [RED, BLUE] and [who for who, _ in found[1]] == [BLUE]
    assert not list(check_inference.reckon(table({0: "4/5", 1: "6"}, back, igloos=stood))), "by default both are lost"


def test_a_card_that_is_gone_was_won_by_somebody_of_whom_nothing_is_told() -> None:
    untold = check_inference.Account(None, None, None, None)
    accounts = {RED: check_inference.Account(NOTHING, 0, 0, 0), BLUE: untold, GREEN: untold}
    found = list(check_inference.reckon(table({0: "4/5"}, accounts, stays={0: False})))
    assert [pairs[0][0][0] for pairs in found] == [BLUE, GREEN]


def test_a_full_village_finds_a_number_for_everybody() -> None:
    accounts = {RED: check_inference.Account(NOTHING, 6, 0, 6), BLUE: check_inference.Account(NOTHING, 6, 0, 6)}
    (found,) = check_inference.reckon(table({0: "4/5", 1: "12/13"}, accounts))
    numbers = [number for pairs in found.values() for _, number in pairs]
    assert sorted(numbers) == list(range(2, 14))
    assert not list(check_inference.reckon(table({0: "4/5", 1: "4/5/6"}, accounts))), "4 and 5 match somewhere"
    thirteen = {**accounts, GREEN: check_inference.Account(NOTHING, 1, 0, 1)}
    assert not list(check_inference.reckon(table({0: "4/5", 1: "12/13"}, thirteen))), "there are twelve igloos"


def test_a_position_needs_its_players() -> None:
    with pytest.raises(SetupError):
        search.cases({"places": {}})


def test_where_two_things_are_wrong_the_nearest_turn_misses_no_more_than_these() -> None:
    """The turn to which the told numbers lead: before it was followed first, it missed up to eight things more."""
    chance = Random(5)
    answers = []
    for before, _, after in whole_turns("igloo-pop", chance, 14):
        found = explain(before, one_step(Evidence.of_position(after.position(), "igloo-pop"), chance))
        answers += [] if found.legal else [found]
    assert len(answers) > 5
    for found in answers:
        assert found.nearest is not None and found.nearest.moves
        assert 1 <= len(found.differences) <= 2, [one.to_json() for one in found.differences]
