"""Whatever is played, the game stays whole: Hypothesis plays, and every state is looked at."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from companion.rules import game
from companion.rules.core import CHANCE, NOBODY, IllegalMoveError
from companion.rules.ice_team.components import DIE_FACES, FACES
from companion.rules.ice_team.moves import IceMove
from companion.rules.playouts import playout
from companion.rules.record import Header, Record
from tests.worlds.sizes import size

# Not measured for coverage: that takes three times as long, and the other tests reach nearly every branch.
pytestmark = pytest.mark.no_cover

ICE = game("ice-team")
OPTIONS = {option.name: option.values for option in ICE.options}
LAYOUTS = ("line", "bend", "squares")
TWO_DICE = ICE.start(ICE.seats(2)).table.box.to_json() | {"dice": [["fish1", "fish2"] * 3, ["fish4", "steal"] * 3]}


def every_move(state: Any) -> list[IceMove]:
    """Return every step that there can be on the boards of a state, and a few that never can."""
    names = [*state.table.layout.names, "z1"]
    return [
        *(IceMove(kind, a, b) for kind in ("walk", "leap", "swim") for a in names for b in names),
        *(IceMove(kind, a) for kind in ("drift", "push") for a in names),
        *(IceMove("floe", a, face) for a in names for face in (*FACES, "igloo")),
        *(IceMove("roll", die, face) for die in "12" for face in (*DIE_FACES, "paw")),
        *(IceMove(kind, die) for kind in ("pick", "choose") for die in "12"),
        *(IceMove("freeze", fish) for fish in "01234"),
        *(IceMove("first", colour) for colour in ICE.colours),
        IceMove("stop"),
    ]


def assert_whole(state: Any) -> None:
    """Assert what must hold in every state that play can reach."""
    assert not state.problems(), [problem.key for problem in state.problems()]
    position = state.position()
    places = position["places"]
    grounds = [place["ground"] for name, place in places.items() if name not in ("start", "village")]
    floes = [ground for ground in grounds if ground not in ("sea", "igloo", "searched")]
    assert len(floes) + len(position["removed"]) == 24, "floes are on the board or have left it"
    assert sum(ground in ("igloo", "searched") for ground in grounds) == 8
    for colour in state.colours:
        things = [thing for place in places.values() for thing in place["things"] if thing["colour"] == colour]
        assert sum(thing["count"] for thing in things) == 4
    assert all(fish >= 0 for fish in (*state.fresh, *state.frozen))
    over = state.outcome() is not None
    assert (state.to_move == NOBODY) == over == (not state.legal_moves) == (state.end_reason is not None)
    assert ICE.from_position(json.loads(json.dumps(position))) == state
    assert state.sea == sum(1 << n for n, ground in enumerate(grounds) if ground == "sea")
    assert state.taken == state.standing()


def assert_fish(before: Any, move: IceMove, after: Any) -> None:
    """Assert that fish come from igloos and the bank only, and that theft and ice keep their number."""
    total = sum(after.fresh) + sum(after.frozen) - sum(before.fresh) - sum(before.frozen)
    face = DIE_FACES[before.dice[int(move.a) - 1]] if move.kind == "choose" else move.b
    bank = before.phase == "roll" or move.kind == "choose"
    igloos = [state.position()["places"] for state in (before, after)]
    opened = sum(a["ground"] == "igloo" for a in igloos[0].values()) - sum(
        a["ground"] == "igloo" for a in igloos[1].values()
    )
    assert opened in (0, 1)
    assert total == opened + (int(face[4:]) if bank and face.startswith("fish") else 0)
    if move.kind != "freeze":
        assert after.frozen == before.frozen
    else:
        seat = before.seat
        assert after.frozen[seat] - before.frozen[seat] == before.fresh[seat] - after.fresh[seat] == int(move.a)


class Game(RuleBasedStateMachine):
    """A game of random length with legal and illegal things tried on the way."""

    @initialize(
        options=st.fixed_dictionaries({}, optional={name: st.sampled_from(v) for name, v in OPTIONS.items()}),
        layout=st.sampled_from(LAYOUTS),
        two_dice=st.booleans(),
        read=st.booleans(),
        seed=st.integers(0, 2**32),
        ahead=st.integers(0, 400),
    )
    def begin(self, options: dict, layout: str, two_dice: bool, read: bool, seed: int, ahead: int) -> None:
        self.rng = Random(seed)
        self.header = Header("ice-team", tuple(ICE.seats(2)), options, {"layout": layout})
        if two_dice:
            self.header.setup["box"] = TWO_DICE
        self.first = self.state = ICE.start(ICE.seats(2), options, self.header.setup)
        self.history: list[IceMove] = []
        for _ in range(self.rng.randrange(24) if read else 24):
            self.play(self.state.chance(self.rng))
        self.play(IceMove("first", self.rng.choice(ICE.colours)))  # floes not laid are read when they are reached
        for _ in range(ahead):
            self.step()

    def play(self, move: IceMove) -> None:
        before = self.state
        said = str(before)
        self.state = before.play(move)
        self.history.append(move)
        assert str(before) == said, "states do not change"
        assert_fish(before, move, self.state)

    def step(self) -> None:
        if self.state.to_move == NOBODY:
            return
        if self.state.to_move == CHANCE:
            move = self.state.chance(self.rng)
            assert move in self.state.legal_moves
        else:
            move = self.rng.choice(list(self.state.legal_moves))
        self.play(move)

    @precondition(lambda self: self.state.to_move != NOBODY)
    @rule(data=st.data())
    def any_legal_move(self, data: st.DataObject) -> None:
        self.play(data.draw(st.sampled_from(list(self.state.legal_moves))))

    @precondition(lambda self: self.state.to_move != NOBODY)
    @rule(steps=st.integers(1, 20))
    def some_moves(self, steps: int) -> None:
        for _ in range(steps):
            self.step()

    @rule()
    def listed_is_checked(self) -> None:
        """A move is listed exactly when it is legal, and each is listed once."""
        listed = list(self.state.legal_moves)
        known = set(listed)
        assert len(listed) == len(known)
        for move in (*every_move(self.state), *listed):
            assert (self.state.refusal(move) is None) == (move in known), (str(move), str(self.state))

    @rule(data=st.data())
    def every_ruling_says_why(self, data: st.DataObject) -> None:
        move = data.draw(st.sampled_from([*every_move(self.state)[:: self.rng.randrange(1, 40)], *self.state.moves()]))
        ruling = self.state.check(move)
        assert ruling.clauses and ruling.en and ruling.fr and ruling.en != ruling.fr
        assert json.dumps(ruling.to_json())
        if not ruling.legal:
            with pytest.raises(IllegalMoveError):
                self.state.play(move)

    @rule(data=st.data())
    def undo_is_the_prefix(self, data: st.DataObject) -> None:
        record = Record(self.header, tuple(map(str, self.history)))
        assert record.replay().state == self.state
        cut = data.draw(st.integers(0, len(self.history)))
        state = record.prefix(cut).replay().state
        for move in self.history[cut:]:
            state = state.after(move)
        assert state == self.state

    @invariant()
    def the_game_is_whole(self) -> None:
        if hasattr(self, "state"):
            assert_whole(self.state)
            sheet = self.state.score()
            assert sorted(seat for place in sheet.ranking for seat in place) == [0, 1]
            assert self.state.game.rulebook.ruling(True, self.state.ranking_reason, self.state).en


TestGame = pytest.mark.sized(Game.TestCase)
TestGame.settings = settings(max_examples=size(5, 25), stateful_step_count=10)


@pytest.mark.sized
@pytest.mark.parametrize("layout", LAYOUTS)
def test_random_games_are_whole_from_the_first_state_to_the_last(layout: str) -> None:
    for seed in range(size(1, 2)):
        rng = Random(seed)
        options = {name: rng.choice(values) for name, values in OPTIONS.items()}
        state = ICE.start(ICE.seats(2), options, {"layout": layout})
        while state.to_move != NOBODY:
            state = state.play(state.chance(rng) if state.to_move == CHANCE else rng.choice(list(state.moves())))
            assert_whole(state)
        assert state.outcome().winners == state.score().ranking[0]


@pytest.mark.sized
def test_a_hundred_random_games_come_to_an_end() -> None:
    ends = set()
    for seed in range(size(25, 100)):
        record, last = playout(ICE, 2, Random(seed))
        assert last.to_move == NOBODY and len(record.moves) < 5000
        assert record.replay().state == last if seed < 5 else True
        ends.add(last.outcome().winners)
    assert {(0,), (1,)} <= ends
