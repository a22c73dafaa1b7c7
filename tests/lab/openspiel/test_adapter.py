"""OpenSpiel holds our games to its own tests, and plays them with its own bots."""

from __future__ import annotations

import ast
import copy
import pickle
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy
import pyspiel
import pytest
from open_spiel.integration_tests import api_test
from open_spiel.python.algorithms import mcts

from companion.lab.bench.random_games import faults
from companion.lab.openspiel import adapter
from companion.lab.openspiel.adapter import GAMES, beyond, longest, worth
from companion.rules import game, games
from companion.rules.core import SetupError
from companion.rules.record import read, referee
from tests.worlds.sizes import size

# Not measured for coverage: that takes three times as long, and the other tests reach nearly every branch.
pytestmark = pytest.mark.no_cover

EVERY = [(one.game_id, players) for one in GAMES for players in game(one.game_id).players]
WITH_OPTIONS = [one.game_id for one in GAMES if game(one.game_id).settled_options(None)]
OTHERWISE = {
    # All options otherwise than by default; then what a table may well choose.
    "igloo_pop(players=3,pop.cards_end=last_round,pop.none_match=return)": {
        "pop.cards_end": "last_round",
        "pop.none_match": "return",
    },
    "iglu_iglu(players=2,iglu.no_repick=False,iglu.animal_move_timing=phase_2_only,iglu.end_check_before_thaw=False,"
    "iglu.kayak_from_corner=True,iglu.displace_together=False,iglu.animals_all_three=warn,variant.igloo_block=True,"
    "variant.island_table=True)": {
        "iglu.no_repick": False,
        "iglu.animal_move_timing": "phase_2_only",
        "iglu.end_check_before_thaw": False,
        "iglu.kayak_from_corner": True,
        "iglu.displace_together": False,
        "iglu.animals_all_three": "warn",
        "variant.igloo_block": True,
        "variant.island_table": True,
    },
    "arctic(players=4,arc.end_trigger=bga,arc.facedown_alone=False)": {
        "arc.end_trigger": "bga",
        "arc.facedown_alone": False,
    },
    "ice_team(ice.simple_drift_straight=True,ice.block_picks_up=False,ice.blocked_second_action=lose)": {
        "ice.simple_drift_straight": True,
        "ice.block_picks_up": False,
        "ice.blocked_second_action": "lose",
    },
    "igloo_pop(players=5,pop.cards_end=last_round)": {"pop.cards_end": "last_round"},
    "iglu_iglu(players=3,variant.igloo_block=True,variant.island_table=True)": {
        "variant.igloo_block": True,
        "variant.island_table": True,
    },
}


def load(name: str, players: int) -> Any:
    return pyspiel.load_game(f"{name.replace('-', '_')}(players={players})")


def random_game(played: Any, seed: int) -> list[Any]:
    """Return every state of a random game."""
    rng = random.Random(seed)
    state = played.new_initial_state()
    found = [state.clone()]
    while not state.is_terminal():
        if state.is_chance_node():
            actions, weights = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(rng.choices(actions, weights)[0])
        else:
            state.apply_action(rng.choice(state.legal_actions()))
        found.append(state.clone())
    return found


@pytest.mark.sized
@pytest.mark.parametrize(("name", "players"), EVERY)
def test_random_simulations_with_our_invariants(name: str, players: int) -> None:
    looked = 0

    def whole(state: Any) -> None:
        nonlocal looked
        looked += 1
        assert list(faults(state.rules)) == []

    pyspiel.random_sim_test(load(name, players), size(1, 2), serialize=True, verbose=False, state_checker_fn=whole)
    assert looked > size(15, 30)


@pytest.mark.parametrize("text", OTHERWISE)
def test_random_simulations_by_other_options(text: str) -> None:
    played = pyspiel.load_game(text)
    looked = 0

    def whole(state: Any) -> None:
        nonlocal looked
        looked += 1
        options = state.rules.position()["options"]
        assert OTHERWISE[text].items() <= options.items()
        assert list(faults(state.rules)) == []

    pyspiel.random_sim_test(played, 1, serialize=True, verbose=False, state_checker_fn=whole)
    assert looked > 30
    last = random_game(played, 2)[-1]
    by_chance = sum(step.player == pyspiel.PlayerId.CHANCE for step in last.full_history())
    assert len(last.history()) - by_chance <= played.max_game_length()
    assert by_chance <= played.max_chance_nodes_in_history()
    back = pickle.loads(pickle.dumps(last._line))  # noqa: S301 - our own
    assert (back.state, back.over) == (last.rules, True)


def test_the_options_are_all_of_them() -> None:
    """The first of each game differs from the defaults in every option there is."""
    for one, options in zip(WITH_OPTIONS, OTHERWISE.values(), strict=False):
        defaults = game(one).settled_options(None)
        assert options.keys() == defaults.keys()
        assert not any(options[name] == value for name, value in defaults.items())


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("ice_team(ice.blocked_second_action=never)", "Option ice.blocked_second_action is one of forfeit, lose"),
        ("igloo_pop(players=7)", "igloo-pop is for 2 to 6 players, not 7"),
    ],
)
def test_an_option_or_a_number_that_is_none_is_refused_in_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(SetupError, match=sentence):
        pyspiel.load_game(text)


@pytest.mark.parametrize("name", WITH_OPTIONS)
def test_the_numbers_of_the_actions_do_not_depend_on_options(name: str) -> None:
    plain = load(name, 2)
    other = next(pyspiel.load_game(text) for text in OTHERWISE if text.startswith(name.replace("-", "_")))
    if plain.num_players() == other.num_players():
        assert plain.num_distinct_actions() == other.num_distinct_actions()
    words = adapter.vocabulary(name, other.num_players())
    for state in random_game(other, 4):
        for action in state.legal_actions():
            player = state.current_player()
            row = words.outcomes if state.is_chance_node() else words.decisions
            assert state.action_to_string(player, action) == str(row[action])


@pytest.mark.parametrize("text", ["igloo_pop(players=2)", list(OTHERWISE)[2]])
def test_a_game_of_bots_is_a_record_for_the_referee(text: str) -> None:
    state = random_game(pyspiel.load_game(text), 6)[-1]
    replay = read(state.record().lines())
    assert replay.error is None
    assert replay.state == state.rules
    assert all(verdict.ruling is not None and verdict.ruling.legal for verdict in referee(state.record().lines()))


def test_the_checker_of_a_simulation_is_listened_to() -> None:
    def never(state: Any) -> None:
        raise AssertionError(str(state.rules))

    with pytest.raises(AssertionError, match="round 1"):
        pyspiel.random_sim_test(load("igloo-pop", 2), 1, serialize=False, verbose=False, state_checker_fn=never)


class OurGame(api_test.EnforceAPIOnPartialTreeBase):
    """OpenSpiel's API test, on the states it samples (which are early ones) and on those of a whole random game."""

    __test__ = False
    game_id = ""

    @classmethod
    def setUpClass(cls) -> None:
        random.seed(1)
        cls.game = cls.load()
        cls.game_name = cls.game.get_type().short_name
        super().setUpClass()
        cls.some_states = [*cls.some_states, *random_game(cls.game, 1)]

    @classmethod
    def load(cls) -> Any:
        return load(cls.game_id, game(cls.game_id).players[0])


class ByOtherOptions(OurGame):
    """The same by the options that are otherwise in all."""

    __test__ = False

    @classmethod
    def load(cls) -> Any:
        return pyspiel.load_game(next(text for text in OTHERWISE if text.startswith(cls.game_id.replace("-", "_"))))


class TestIglooPopOtherwise(ByOtherOptions):
    __test__ = True
    game_id = "igloo-pop"


class TestIgluIgluOtherwise(ByOtherOptions):
    __test__ = True
    game_id = "iglu-iglu"


class TestArcticOtherwise(ByOtherOptions):
    __test__ = True
    game_id = "arctic"


class TestIceTeamOtherwise(ByOtherOptions):
    __test__ = True
    game_id = "ice-team"


class TestIglooPop(OurGame):
    __test__ = True
    game_id = "igloo-pop"


class TestIgluIglu(OurGame):
    __test__ = True
    game_id = "iglu-iglu"


class TestArctic(OurGame):
    __test__ = True
    game_id = "arctic"


class TestIceTeam(OurGame):
    __test__ = True
    game_id = "ice-team"


@pytest.mark.sized
@pytest.mark.parametrize(("name", "players"), EVERY)
def test_a_game_is_no_longer_than_it_says(name: str, players: int) -> None:
    decisions, outcomes = longest(name, players)
    played = load(name, players)
    assert (played.max_game_length(), played.max_chance_nodes_in_history()) == (decisions, outcomes)
    for seed in range(size(1, 2)):
        last = random_game(played, seed)[-1]
        by_chance = sum(step.player == pyspiel.PlayerId.CHANCE for step in last.full_history())
        assert len(last.history()) - by_chance <= decisions
        assert by_chance <= outcomes
        assert last.rules.outcome() is not None, "random games end by themselves"


@pytest.mark.parametrize(("name", "players"), [one for one in EVERY if one[0] in games()])
def test_the_readme_tells_the_sizes(name: str, players: int) -> None:
    played = load(name, players)
    readme = Path(adapter.__file__).with_name("README.md").read_text(encoding="utf-8")
    row = next(line for line in readme.splitlines() if line.startswith(f"| `{played.get_type().short_name}`"))
    assert f"{played.max_game_length():,}" in row
    if players in (game(name).players[0], game(name).players[-1]):
        assert f"{played.num_distinct_actions():,}" in row
        assert f"{played.max_chance_outcomes():,}" in row


def test_the_longest_round_of_igloo_pop_ends() -> None:
    """Everybody passes wherever they may: each round has one igloo all the same, and the game ends."""
    state = load("igloo-pop", 3).new_initial_state()
    while not state.is_terminal():
        if state.is_chance_node():
            state.apply_action(state.chance_outcomes()[-1][0])
        else:
            passes = [a for a in state.legal_actions() if state.action_to_string(a).startswith("pass")]
            state.apply_action(passes[0] if passes else state.legal_actions()[-1])
    assert all(len(result.igloos) == 1 for result in state.rules.last_results)
    assert state.rules.round > 5


def test_shaking_goes_round_and_who_has_passed_stays_out() -> None:
    state = load("igloo-pop", 3).new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    assert state.rules.phase == "shaking"
    seats = []
    for words in ("place red card1", "pass yellow", "place green card2", "place red card2", "pass green"):
        seats.append(state.current_player())
        assert state.legal_actions(state.current_player() - 1 if state.current_player() else 2) == []
        state.apply_action(state.string_to_action(words))
    assert seats == [0, 1, 2, 0, 2]
    assert state.current_player() == 0
    state.apply_action(state.string_to_action("pass red"))
    assert state.is_chance_node()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    assert (state.rules.round, state.current_player()) == (2, 1), "the next round begins one seat further"


def test_the_last_who_could_place_does_not_pass_an_empty_round() -> None:
    state = load("igloo-pop", 2).new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    state.apply_action(state.string_to_action("pass red"))
    assert {state.action_to_string(a).split()[0] for a in state.legal_actions()} == {"place"}


@pytest.mark.parametrize("name", [one.game_id for one in GAMES])
def test_a_copy_and_a_pickle_are_the_same_game(name: str) -> None:
    played = load(name, game(name).players[-1])
    states = random_game(played, 3)
    state = states[len(states) // 2]
    line = state._line
    assert copy.deepcopy(line) is line
    back = pickle.loads(pickle.dumps(line))  # noqa: S301 - our own
    assert back is not line
    assert (back.state, back.turn, back.decisions) == (line.state, line.turn, line.decisions)
    _, again = pyspiel.deserialize_game_and_state(pyspiel.serialize_game_and_state(played, state))
    assert str(again) == str(state)
    assert again.legal_actions() == state.legal_actions()


def test_an_endless_game_is_broken_off_and_ranked_as_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("companion.lab.openspiel.arctic.BROKEN_OFF", 40)
    played = load("arctic", 3)
    assert played.max_game_length() == 40
    last = random_game(played, 5)[-1]
    assert last.is_terminal() and last.rules.outcome() is None
    assert last.legal_actions() == []
    assert sum(last.returns()) == pytest.approx(0)
    assert last.returns() == worth(last.rules, 3)


def test_the_example_of_the_readme_plays_a_game_that_the_referee_accepts(capsys: pytest.CaptureFixture[str]) -> None:
    readme = Path(adapter.__file__).with_name("README.md").read_text(encoding="utf-8")
    code = next(block.split("```")[0] for block in readme.split("```python\n") if "is_terminal" in block)
    exec(compile(code, "README.md", "exec"), {})  # noqa: S102 - our own
    printed = capsys.readouterr()
    assert abs(sum(ast.literal_eval(printed.err))) < 1e-9
    replay = read(printed.out.splitlines())
    assert replay.error is None and replay.state is not None and replay.state.outcome() is not None
    assert replay.state.position()["options"]["pop.cards_end"] == "last_round"


class Ranked:
    def __init__(self, *places: tuple[int, ...]) -> None:
        self.ranking = places

    def score(self) -> Any:
        return self


@pytest.mark.parametrize(
    ("places", "returns"),
    [
        ([(1,), (0,)], [-1, 1]),
        ([(0, 1)], [0, 0]),
        ([(2,), (0, 3), (1,)], [0, -1, 1, 0]),
        ([(1, 2), (0,)], [-1, 0.5, 0.5]),
    ],
)
def test_a_game_is_worth_whom_one_is_ahead_of(places: Any, returns: list[float]) -> None:
    assert worth(Ranked(*places), len(returns)) == returns  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["iglu-iglu", "arctic"])
def test_a_player_sees_no_other_hand(name: str) -> None:
    played = load(name, 2)
    seen = 0
    for state in random_game(played, 2):
        if not state.is_chance_node():
            both = state.observation_string(0), state.observation_string(1)
            seen += both[0] != both[1]
    assert seen > 20


def test_what_is_beyond_is_what_others_do_not_see() -> None:
    assert beyond({"a": 1, "b": [1, {"c": 2}], "d": {}}, {"a": 1, "b": [1, {"c": 3}]}) == {"b": [{"c": 2}]}
    assert beyond({"a": [1, 2]}, {"a": [1]}) == {"a": [1, 2]}
    assert beyond({"a": 1}, {"a": 1}) == {}


def test_an_action_that_is_not_legal_is_refused_by_the_rules() -> None:
    state = load("igloo-pop", 2).new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    wrong = state.rules.game.parse("place yellow card1")
    numbers = adapter.vocabulary("igloo-pop", 2).decision_numbers
    with pytest.raises(Exception, match=r"not legal|not a legal|Illegal|illegal"):
        state.apply_action_with_legality_check(numbers[wrong])


def test_bots_of_openspiel_play_our_games() -> None:
    played = load("ice-team", 2)
    # The search in Python: that in C++ ends in a segmentation fault with any game in Python (OpenSpiel 2.0.2).
    evaluator = mcts.RandomRolloutEvaluator(1, numpy.random.RandomState(3))
    searcher = mcts.MCTSBot(played, 1.4, 2, evaluator, random_state=numpy.random.RandomState(4))
    picker = pyspiel.make_uniform_random_bot(1, 4)
    state = played.new_initial_state()
    for _ in range(60):
        if state.is_terminal():
            break
        if state.is_chance_node():
            action = state.chance_outcomes()[0][0]
        else:
            action = (searcher, picker)[state.current_player()].step(state)
            assert action in state.legal_actions()
        state.apply_action(action)
    assert state.move_number() > 30


@pytest.mark.process
def test_a_process_that_registered_our_games_ends_in_peace() -> None:
    code = "import companion.lab.openspiel.adapter, pyspiel; print(pyspiel.load_game('arctic(players=4)'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("arctic(")
