"""Whatever is played, the game stays whole: Hypothesis plays, and every state is looked at."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from companion.rules import game
from companion.rules.arctic.components import ANIMALS, SIDES, TEXT
from companion.rules.core import CHANCE, NOBODY
from tests.worlds.sizes import size

# Not measured for coverage: that takes three times as long, and the other tests reach nearly every branch.
pytestmark = pytest.mark.no_cover

ARCTIC = game("arctic")
CARDS = TEXT[:120]


def any_text(rng: Random) -> str:
    """Return a step of the notation, most often one that no position allows."""
    card, other, seat = rng.choice(CARDS), rng.choice(CARDS), f"p{rng.randint(1, 4)}"
    animal, power = rng.randrange(6), rng.randrange(2)
    ways = [f"{rng.choice(ANIMALS)}{rng.choice('+-')}" for _ in range(2)]
    unseen = rng.choice([card, card, "?"])
    return rng.choice(
        [
            f"pack {rng.randint(1, 4)}",
            f"side {ANIMALS[animal]} {SIDES[animal][power]}",
            f"totem {seat} {rng.choice([*ANIMALS, '?'])}",
            f"first {seat}",
            f"hand {seat} {unseen}",
            f"river {card}",
            f"penalty {unseen}",
            f"swap {card} {other}",
            "take-back",
            f"value {rng.choice(['+1', '-1'])}",
            f"place {card}{rng.choice(['', ' bottom', ' under'])}",
            "place ? under",
            f"tokens {ways[0]} {ways[1]}",
            f"extra {ways[0]}",
            f"draw {card}",
            f"draw-penalty {unseen}",
            "draw-pile",
            "refill",
            f"give {unseen} {seat}",
            f"discard {unseen}",
            "end",
        ]
    )


class Game(RuleBasedStateMachine):
    """A game of random length with every legal and illegal thing tried on the way; some of it unseen."""

    state: Any

    @initialize(
        players=st.integers(2, 4),
        end=st.sampled_from(["strict", "bga"]),
        alone=st.booleans(),
        table=st.booleans(),
        seed=st.integers(0, 2**32),
        steps=st.integers(0, 60),
        short=st.booleans(),
    )
    def begin(self, players: int, end: str, alone: bool, table: bool, seed: int, steps: int, short: bool) -> None:
        rng = Random(seed)
        options = {"arc.end_trigger": end, "arc.facedown_alone": alone}
        setup = {"totems": ["?"] * players} if table else {}
        self.state = ARCTIC.start(ARCTIC.seats(players), options, setup)
        self.secret, self.history = table, []
        while self.state.phase == "setup":
            self.state = self.state.play(self.state.chance(rng))
        if short:
            # The end is near: most of the pile is out of the way, face down in the first player's.
            position = self.state.position()
            left = rng.randint(0, 6)
            position["players"][0]["pile"] = ["down:?"] * (position["pile_left"] - left)
            position["powers"]["fox"] = 12
            self.state = ARCTIC.from_position(position | {"pile_left": left})
        self.first = self.state
        self._play_on(rng, steps)

    def _play(self, move: Any) -> None:
        self.state = self.state.play(move)
        self.history.append(move)

    def _play_on(self, rng: Random, steps: int) -> None:
        for _ in range(steps):
            if self.state.to_move == CHANCE and (not self.secret or rng.random() < 0.5):
                self._play(self.state.chance(rng))
            elif self.state.to_move != NOBODY:
                self._play(rng.choice(list(self.state.legal_moves)))

    @precondition(lambda self: self.state.to_move != NOBODY)
    @rule(data=st.data())
    def any_legal_move(self, data: st.DataObject) -> None:
        self._play(data.draw(st.sampled_from(list(self.state.legal_moves))))

    @precondition(lambda self: self.state.to_move != NOBODY)
    @rule(seed=st.integers(0, 2**32), steps=st.integers(1, 40))
    def many_moves(self, seed: int, steps: int) -> None:
        self._play_on(Random(seed), steps)

    @rule(seed=st.integers(0, 2**32))
    def every_ruling_cites_and_speaks_both_languages(self, seed: int) -> None:
        rng = Random(seed)
        legal = list(self.state.legal_moves)
        tried = [ARCTIC.parse(any_text(rng)) for _ in range(40)] + rng.sample(legal, min(len(legal), 8))
        for move in tried:
            ruling = self.state.check(move)
            assert ruling.legal == (move in legal) == (move in self.state.legal_moves)
            assert set(ruling.clauses) <= set(ARCTIC.rulebook.clauses)
            assert ruling.clauses and ruling.en and ruling.fr and ruling.en != ruling.fr
            assert "{" not in ruling.en + ruling.fr

    @rule(cut=st.floats(0, 1))
    def undo_is_the_replay_of_the_prefix(self, cut: float) -> None:
        self.history = self.history[: int(len(self.history) * cut + 0.999)]
        state = self.first
        for move in self.history:
            state = state.play(ARCTIC.parse(str(move)))
        self.state = state

    @invariant()
    def nothing_is_wrong(self) -> None:
        assert self.state.problems() == ()

    @invariant()
    def a_move_is_listed_exactly_when_it_is_legal(self) -> None:
        listed = list(self.state.moves())
        assert len(listed) == len(set(listed)) == len(self.state.legal_moves)
        assert all(self.state.refusal(move) is None for move in listed)

    @invariant()
    def there_is_a_move_until_the_end(self) -> None:
        assert bool(self.state.legal_moves) == (self.state.to_move != NOBODY)
        assert (self.state.outcome() is None) == (self.state.to_move != NOBODY)
        if self.state.to_move == CHANCE:
            assert not any("?" in str(move) for move, _ in self.state.chances())

    @invariant()
    def every_card_of_the_packs_is_in_exactly_one_place(self) -> None:
        s = self.state
        if s.phase == "setup":
            return
        zones = [*s.hands, *s.piles, *s.penalties, s.river]
        lying = [card & 255 if card >= 256 else card for zone in zones for card in zone]
        known = Counter(card for card in lying if card < 120)
        unseen = sum(card == 120 for card in lying)
        assert set(known.values()) <= {1}
        assert len(lying) + s.pile_left + s.reserve == 30 * s.players
        # What nobody has seen is in the pile, the Reserve, or among somebody's unseen cards.
        spoken_for = sum(mask.bit_count() for mask in s.veiled)
        assert s.pool().bit_count() == unseen - spoken_for + s.pile_left + s.reserve
        for seat in range(s.players):
            assert s.veiled[seat].bit_count() <= s.unseen(seat)

    @invariant()
    def power_cards_and_tokens_are_where_they_can_be(self) -> None:
        s = self.state
        assert all(0 <= at <= 5 for at in s.tokens)
        assert all(-1 <= owner < s.players for owner in s.owners)
        assert 0 <= s.value <= 6 and 0 <= s.count <= 6

    @invariant()
    def forms_round_trip(self) -> None:
        position = self.state.position()
        assert ARCTIC.from_position(position) == self.state
        for move in self.history[-3:]:
            assert ARCTIC.parse(str(move)) == move

    @invariant()
    def whoever_sees_less_sees_no_secret_and_no_problem(self) -> None:
        if self.state.phase == "setup":
            return
        view = self.state.view(None)
        for player in view["players"]:
            assert set(player["hand"]) <= {"?"} and set(player["penalty"]) <= {"?"}
            assert not any(card.startswith("down:") and card != "down:?" for card in player["pile"])
        assert ARCTIC.from_position(view).problems() == ()

    @invariant()
    def points_are_the_lines_and_within_the_table(self) -> None:
        sheet = self.state.score()
        places = [seat for place in sheet.ranking for seat in place]
        assert sorted(places) == list(range(self.state.players)) and len(sheet.ranking) == len(places), (
            "no shared place"
        )
        for player in sheet.sheets:
            penalties = len(self.state.penalties[player.player])
            assert -penalties <= player.total <= 6 * 15 + 15 + 15 - penalties


Game.TestCase.settings = settings(max_examples=size(5, 40), stateful_step_count=12)
TestGame = pytest.mark.sized(Game.TestCase)
