"""Whatever is played, the game stays whole: Hypothesis plays, and every state is looked at."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from companion.rules import game
from companion.rules.core import CHANCE, NOBODY, IllegalMoveError
from companion.rules.iglu_iglu import IgluState, components
from companion.rules.iglu_iglu import moves as m
from companion.rules.iglu_iglu.board import CORNER_SQUARES, CORNERS, SEA
from companion.rules.playouts import playout
from tests.worlds.sizes import size

# Not measured for coverage: that takes three times as long, and the other tests reach nearly every branch.
pytestmark = pytest.mark.no_cover

IGLU = game("iglu-iglu")
OPTIONS = {option.name: option.values for option in IGLU.options}
FACES = (*components.default_mix().faces, components.KEPT)

# Every move there can be, but for the 8,192 kayaks, of which those from some squares stand for all.
ALL_MOVES: list[m.IgluMove] = [
    m.DRIFT_NONE,
    m.THE_ANIMALS,
    m.THE_STOP,
    m.THE_END,
    *m.MELTS,
    *m.THAWS,
    *m.BUILDS,
    *(m.Accept(s) for s in range(64)),
    *(m.PutBack(s) for s in range(64)),
    *(m.PlaceInuit(c, s) for c in components.COLOURS for s in range(64)),
    *(m.Draw(s, t) for t in range(7) for s in range(64)),
    *(m.Reveal(s, f) for f in FACES for s in range(64)),
    *(m.Drift(s, d) for d in "nesw" for s in range(64)),
    *(m.Endurance(v) for v in range(1, 10)),
    *(m.Defend(c, h) for c in components.COLOURS for h in (True, False)),
    *(m.Hunt(s, t, h) for h in (True, False) for t in range(7) for s in range(64)),
    *(m.Walk(s, s + d, h) for h in (True, False) for s in range(64) for d in (1, -1, 8, -8, 9) if 0 <= s + d < 64),
    *(m.Step(t, s, s + d) for t in range(7) for s in range(64) for d in (1, -1, 8, -8, 9) if 0 <= s + d < 64),
    *(m.Displace(s, s + d, t) for t in (None, 0, 2, 6) for s in range(64) for d in (1, -1, 8, -8) if 0 <= s + d < 64),
    *(m.Flee(c, s, k) for c in components.COLOURS for s in range(0, 64, 3) for k in (*CORNER_SQUARES, 9)),
    *(m.Kayak(s, t, h) for h in (True, False) for s in (0, 1, 10, 19, 26, 36, 45) for t in range(64)),
]


def assert_whole(state: IgluState, first: IgluState) -> None:
    """Assert what must hold in every state that play can reach."""
    assert not state.problems(), [p.key for p in state.problems()]
    for token in range(7):
        on_board = {
            components.BEAR_TOKEN: state.bears.bit_count(),
            **{t: sum(code & 3 == t + 1 for code in state.fish) for t in range(3)},
            **{t: sum(code & 3 == t - 2 for code in state.fox) for t in range(3, 6)},
        }[token]
        won = sum(components.counted(trophies, token) for trophies in state.trophies)
        assert (
            state.reserve(token) + on_board + won + components.counted(state.removed, token) == components.IN_BOX[token]
        )
        assert state.reserve(token) >= 0
    assert state.packs & ~state.floes == 0
    assert state.floes & ~SEA == 0
    inuit_squares = igloo_squares = 0
    for inuit, own, igloos in zip(state.inuit, state.inuit_at, state.igloos, strict=True):
        assert list(inuit) == sorted(inuit)
        assert own == sum({1 << square for square in inuit})
        inuit_squares |= own
        igloo_squares |= igloos
    assert (state.inuit_squares, state.igloo_squares) == (inuit_squares, igloo_squares)
    assert all(count >= 0 for hand in state.hands for count in hand)
    assert all(0 <= left <= total for left, total in zip(state.tiles, state.table.mix.counts, strict=True))
    assert 0 <= state.points <= 3 + 2
    assert sum(state.tiles) <= sum(first.tiles)
    assert (state.to_move == NOBODY) == (state.outcome() is not None) == (not state.legal_moves)
    assert state.water & state.floes == 0 and (state.water | state.floes) & CORNERS == 0


class Game(RuleBasedStateMachine):
    """A game of random length with legal and illegal things tried on the way."""

    @initialize(
        seats=st.integers(2, 4),
        options=st.fixed_dictionaries({}, optional={name: st.sampled_from(v) for name, v in OPTIONS.items()}),
        seed=st.integers(0, 2**32),
        ahead=st.integers(0, 250),
        hidden=st.floats(0, 1),
    )
    def begin(self, seats: int, options: dict, seed: int, ahead: int, hidden: float) -> None:
        self.rng = Random(seed)
        self.first = self.state = IGLU.start(IGLU.seats(seats), options)
        self.history: list[m.IgluMove] = []
        for _ in range(ahead):
            self.step(hidden)

    def step(self, hidden: float) -> None:
        """Play one step: chance as the box draws, red tiles hidden now and then, players anyhow."""
        state = self.state
        if state.to_move == NOBODY:
            return
        moves = list(state.legal_moves)
        if state.to_move == CHANCE:
            kept = [move for move in moves if isinstance(move, m.Reveal) and move.face == components.KEPT]
            move = kept[0] if kept and self.rng.random() < hidden else state.chance(self.rng)
            assert move in state.legal_moves
        else:
            move = self.rng.choice(moves)
        self.play(move)

    def play(self, move: m.IgluMove) -> None:
        before = self.state
        points = [components.worth(trophies) for trophies in before.trophies]
        self.state = before.play(move)
        self.history.append(move)
        gained = sum(components.worth(t) for t in self.state.trophies) - sum(points)
        taken = isinstance(move, m.Hunt) or getattr(move, "harpoon", False)
        assert (gained > 0) == taken, "points come from hunting only"
        assert gained <= 4
        assert before == self.before_copy(before), "states do not change"

    @staticmethod
    def before_copy(state: IgluState) -> IgluState:
        return IGLU.from_position(state.position())

    @precondition(lambda self: self.state.to_move != NOBODY)
    @rule(data=st.data())
    def any_legal_move(self, data: st.DataObject) -> None:
        self.play(data.draw(st.sampled_from(list(self.state.legal_moves))))

    @precondition(lambda self: self.state.to_move != NOBODY)
    @rule(steps=st.integers(1, 20), hidden=st.floats(0, 1))
    def some_moves(self, steps: int, hidden: float) -> None:
        for _ in range(steps):
            self.step(hidden)

    @rule()
    def listed_is_checked(self) -> None:
        """A move is listed exactly when it is legal, and each is listed once."""
        listed = list(self.state.legal_moves)
        assert len(listed) == len(set(listed))
        known = set(listed)
        for move in (*ALL_MOVES, *listed):
            assert (self.state.refusal(move) is None) == (move in known), (str(move), str(self.state))

    @rule(move=st.sampled_from(ALL_MOVES))
    def every_ruling_says_why(self, move: m.IgluMove) -> None:
        ruling = self.state.check(move)
        assert ruling.clauses and ruling.en and ruling.fr and ruling.en != ruling.fr
        if not ruling.legal:
            with pytest.raises(IllegalMoveError):
                self.state.play(move)

    @rule(data=st.data())
    def undo_is_the_prefix(self, data: st.DataObject) -> None:
        cut = data.draw(st.integers(0, len(self.history)))
        state = self.first
        for move in self.history[:cut]:
            state = state.after(IGLU.parse(str(move)))
        again = state
        for move in self.history[cut:]:
            again = again.after(move)
        assert again == self.state

    @invariant()
    def the_game_is_whole(self) -> None:
        if hasattr(self, "state"):
            assert_whole(self.state, self.first)
            sheet = self.state.score()
            assert all(line.points >= 0 for player in sheet.sheets for line in player.lines)
            assert sorted(seat for place in sheet.ranking for seat in place) == list(range(self.state.table.players))

    @invariant()
    def what_others_see_is_a_position(self) -> None:
        if hasattr(self, "state"):
            seen = IGLU.from_position(self.state.view(None))
            assert not seen.problems()
            assert not any(any(hand[1:]) for hand in seen.hands)


TestGame = pytest.mark.sized(Game.TestCase)
TestGame.settings = settings(max_examples=size(6, 40), stateful_step_count=12)


@pytest.mark.sized
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_random_games_are_whole_from_the_first_state_to_the_last(seats: int) -> None:
    for seed in range(size(3, 8)):
        rng = Random(seed)
        options = {name: rng.choice(values) for name, values in OPTIONS.items()}
        record, last = playout(IGLU, seats, rng, options)
        first = state = record.replay().start
        for text in record.moves:
            state = state.play(IGLU.parse(text))
            assert_whole(state, first)
        assert state == last and state.to_move == NOBODY
        assert state.outcome().winners == state.score().ranking[0]
