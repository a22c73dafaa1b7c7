"""Whatever is played, the game stays whole: Hypothesis plays, and every state is looked at."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from companion.rules import game
from companion.rules.core import CHANCE, NOBODY
from companion.rules.igloo_pop import CARDS, COLOURS, PLACES, IglooPopState
from companion.rules.igloo_pop import moves as m
from tests.worlds.sizes import size

# Not measured for coverage: that takes three times as long, and the other tests reach nearly every branch.
pytestmark = pytest.mark.no_cover

POP = game("igloo-pop")
ALL_MOVES = [
    m.START_MOVE,
    *m.TAKES,
    *m.RETURNS,
    *m.PASSES,
    *(move for row in (*m.PLACINGS, *m.REVEALS) for move in row),
    *(move for row in m.DEALS for move in row),
]


class Night(RuleBasedStateMachine):
    """A game of random length with every legal and illegal thing tried on the way."""

    state: IglooPopState

    @initialize(
        colours=st.lists(st.sampled_from(COLOURS), min_size=2, max_size=6, unique=True),
        cards_end=st.sampled_from(["immediate", "last_round"]),
        none_match=st.sampled_from(["remove", "return"]),
        seed=st.integers(0, 2**32),
        laid=st.booleans(),
    )
    def begin(self, colours: list[str], cards_end: str, none_match: str, seed: int, laid: bool) -> None:
        rng = Random(seed)
        cards = ["/".join(map(str, card)) for card in rng.sample(CARDS, 9)] if laid else []
        players = [{"name": f"N{n}", "colour": c} for n, c in enumerate(colours)]
        options = {"pop.cards_end": cards_end, "pop.none_match": none_match}
        self.first = self.state = POP.start(players, options, {"cards": cards})
        self.history: list = []

    def _play(self, move: m.IglooPopMove) -> None:
        self.state = self.state.play(move)
        self.history.append(move)

    @precondition(lambda self: self.state.to_move != NOBODY)
    @rule(data=st.data())
    def any_legal_move(self, data: st.DataObject) -> None:
        self._play(data.draw(st.sampled_from(list(self.state.legal_moves))))

    @precondition(lambda self: self.state.to_move == CHANCE)
    @rule(seed=st.integers(0, 1000), steps=st.integers(1, 40))
    def chance(self, seed: int, steps: int) -> None:
        rng = Random(seed)
        for _ in range(steps):
            if self.state.to_move == CHANCE:
                self._play(self.state.chance(rng))

    @precondition(lambda self: self.state.phase == "shaking")
    @rule(seed=st.integers(0, 1000), steps=st.integers(1, 14))
    def everybody_places(self, seed: int, steps: int) -> None:
        rng = Random(seed)
        for _ in range(steps):
            placings = [move for move in self.state.legal_moves if move.kind == "place"]
            if placings:
                self._play(rng.choice(placings))

    @precondition(lambda self: self.state.phase == "shaking")
    @rule()
    def everybody_passes(self) -> None:
        for colour in self.state.colours:
            for text in (f"return {colour}", f"pass {colour}"):
                if POP.parse(text) in self.state.legal_moves:
                    self._play(POP.parse(text))

    @rule(moves=st.lists(st.sampled_from(ALL_MOVES), min_size=20, max_size=20))
    def every_ruling_cites_and_speaks_both_languages(self, moves: list[m.IglooPopMove]) -> None:
        for move in moves:
            ruling = self.state.check(move)
            assert ruling.legal == (move in self.state.legal_moves)
            assert set(ruling.clauses) <= set(POP.rulebook.clauses)
            assert ruling.clauses and ruling.en and ruling.fr and ruling.en != ruling.fr
            assert "{" not in ruling.en + ruling.fr

    @rule(cut=st.floats(0, 1))
    def undo_is_the_replay_of_the_prefix(self, cut: float) -> None:
        self.history = self.history[: int(len(self.history) * cut + 0.999)]
        state = self.first
        for move in self.history:
            state = state.play(move)
        self.state = state

    @invariant()
    def nothing_is_wrong(self) -> None:
        assert self.state.problems() == ()

    @invariant()
    def a_move_is_listed_exactly_when_it_is_legal(self) -> None:
        listed = list(self.state.moves())
        assert len(listed) == len(set(listed)) == len(self.state.legal_moves)
        legal = set(listed)
        for move in ALL_MOVES:
            assert (self.state.refusal(move) is None) == (move in legal)
        for move in listed[:2]:
            assert self.state.check(move).legal

    @invariant()
    def there_is_a_move_until_the_end(self) -> None:
        assert bool(self.state.legal_moves) == (self.state.to_move != NOBODY)
        assert (self.state.outcome() is None) == (self.state.to_move != NOBODY)

    @invariant()
    def thalers_and_igloos_are_conserved(self) -> None:
        s = self.state
        on_cards = [colour for igloos in s.igloos.values() for colour, _ in igloos]
        assert len(on_cards) + len(s.hands) + s.village_left == 12
        assert s.removed is not None
        everywhere = sum(s.own.values()) + sum(s.captured.values()) + sum(s.removed.values()) + len(on_cards)
        assert everywhere == 10 * len(s.colours)
        for colour in s.colours:
            assert 0 <= s.own[colour] + on_cards.count(colour) + s.removed[colour] <= 10

    @invariant()
    def cards_are_conserved(self) -> None:
        s = self.state
        seen = [card for card in s.cards.values() if card] + [card for won in s.won.values() for card in won]
        assert len(seen) == len(set(seen))
        assert len(seen) + s.stack_left == 33

    @invariant()
    def forms_round_trip(self) -> None:
        position = self.state.position()
        assert POP.from_position(position) == self.state
        assert self.state.view(None) == position
        assert set(position["places"]) == set(PLACES)
        for move in self.history[-3:]:
            assert POP.parse(str(move)) is move

    @invariant()
    def points_are_the_lines_and_never_more_than_there_are(self) -> None:
        sheet = self.state.score()
        assert [s.player for s in sheet.sheets] == list(range(len(self.state.colours)))
        assert sorted(seat for place in sheet.ranking for seat in place) == list(range(len(self.state.colours)))
        assert sum(s.total for s in sheet.sheets) <= 68 + 10 * len(self.state.colours)


Night.TestCase.settings = settings(max_examples=size(8, 60), stateful_step_count=25)
TestNight = pytest.mark.sized(Night.TestCase)
