"""A second Igloo Pop, written from the rulebook and nothing else, slow and plain: it must agree with the engine.

It shares no code with `companion.rules`: moves are words, a card is a text, every case of the check is told as the
rulebook tells it, one after the other.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from companion.rules import game
from tests.worlds.sizes import size

# Not measured for coverage: that takes three times as long, and the other tests reach nearly every branch.
pytestmark = pytest.mark.no_cover

COLOURS = ["red", "yellow", "green", "blue", "violet", "black"]
PLACES = ["card1", "card2", "card3", "card4", "card5", "card6", "card7", "card8", "card9"]
SINGLES = [str(a) for a in range(2, 14)]
PAIRS = [f"{a}/{a + 1}" for a in range(2, 13)]
TRIPLES = [f"{a}/{a + 1}/{a + 2}" for a in range(2, 12)]
BOX = SINGLES + PAIRS + TRIPLES

EVERY_TEXT = (
    [f"deal {place} {card}" for place in PLACES for card in BOX]
    + ["start"]
    + [f"{word} {colour}" for word in ("take", "return", "pass") for colour in COLOURS]
    + [f"place {colour} {place}" for colour in COLOURS for place in PLACES]
    + [f"reveal {place} {number}" for place in PLACES for number in range(2, 14)]
)


def check_card(card: str, igloos: list[tuple[str, int]], none_match: str) -> dict[str, Any]:
    """Tell who gets the card, and for each igloo in order who owns its thaler afterwards (None: the box)."""
    numbers = [int(n) for n in card.split("/")]
    matching = [igloo for igloo in igloos if igloo[1] in numbers]
    # There is just one igloo on a card.
    if len(igloos) == 1:
        owner, number = igloos[0]
        if number in numbers:
            return {"card": owner, "thalers": [owner]}
        return {"card": None, "thalers": [None]}
    # There are several igloos on a card: all the numbers match.
    if len(matching) == len(igloos):
        winner = max(igloos, key=lambda igloo: igloo[1])[0]
        return {"card": winner, "thalers": [owner for owner, _ in igloos]}
    # Only one number matches.
    if len(matching) == 1:
        winner, right = matching[0]
        thalers = []
        for owner, number in igloos:
            if number == right or owner != winner:
                thalers.append(winner)
            else:
                thalers.append(None)
        return {"card": winner, "thalers": thalers}
    # Some, but not all, match.
    if matching:
        highest = max(number for _, number in matching)
        winner = next(owner for owner, number in matching if number == highest)
        thalers = []
        for owner, number in igloos:
            if number in numbers:
                thalers.append(owner)
            elif owner == winner:
                thalers.append(None)
            else:
                thalers.append(winner)
        return {"card": winner, "thalers": thalers}
    # None matches: not in the rulebook; the table's house ruling.
    if none_match == "remove":
        return {"card": None, "thalers": [None for _ in igloos]}
    return {"card": None, "thalers": [owner for owner, _ in igloos]}


class Naive:
    """The whole game with dictionaries and lists."""

    def __init__(self, colours: list[str], cards_end: str, none_match: str) -> None:
        self.colours, self.cards_end, self.none_match = colours, cards_end, none_match
        self.circle: dict[str, str] = {}
        self.laid: list[str] = []
        self.thalers = {owner: {colour: 10 if owner == colour else 0 for colour in colours} for owner in colours}
        self.won: dict[str, list[str]] = {colour: [] for colour in colours}
        self.hands: set[str] = set()
        self.passed: set[str] = set()
        self.on: dict[str, list[list[Any]]] = {place: [] for place in PLACES}
        self.phase = "deal"
        self.shown: set[int] = set()
        self.short = False

    def out_of_thalers(self, colour: str) -> bool:
        return self.thalers[colour][colour] == 0

    def village(self) -> int:
        return 12 - sum(len(igloos) for igloos in self.on.values()) - len(self.hands)

    def half_checked(self) -> list[str]:
        return [p for p in PLACES if any(number for _, number in self.on[p])]

    def legal(self, text: str) -> bool:
        word, *rest = text.split()
        if word == "deal":
            place, card = rest
            stack = 33 - len(self.laid)
            return self.phase == "deal" and place not in self.circle and card not in self.laid and stack > 0
        if word == "start":
            return self.phase == "ready"
        if word == "reveal":
            place, number = rest[0], int(rest[1])
            if self.phase != "checking" or not self.on[place] or number in self.shown:
                return False
            return self.half_checked() in ([], [place])
        colour = rest[0]
        if self.phase != "shaking" or colour not in self.colours:
            return False
        if word == "return":
            return colour in self.hands
        if word == "pass":
            return colour not in self.hands and not self.out_of_thalers(colour) and colour not in self.passed
        if self.out_of_thalers(colour):
            return False
        if word == "take":
            return colour not in self.hands and self.village() > 0
        return rest[1] in self.circle and (colour in self.hands or self.village() > 0)

    def do(self, text: str) -> None:
        word, *rest = text.split()
        if word == "deal":
            self.circle[rest[0]] = rest[1]
            self.laid.append(rest[1])
            if len(self.circle) == 9 or len(self.laid) == 33:
                self.phase = "ready"
        elif word == "start":
            self.phase, self.short = "shaking", len(self.circle) < 9
            self.hands, self.passed, self.shown = set(), set(), set()
        elif word == "take":
            self.hands.add(rest[0])
            self.passed.discard(rest[0])
        elif word == "return":
            self.hands.discard(rest[0])
        elif word == "pass":
            self.passed.add(rest[0])
        elif word == "place":
            self.hands.discard(rest[0])
            self.passed.discard(rest[0])
            self.thalers[rest[0]][rest[0]] -= 1
            self.on[rest[1]].append([rest[0], None])
        else:
            self.turn_over(rest[0], int(rest[1]))
        self.go_on()

    def turn_over(self, place: str, number: int) -> None:
        self.shown.add(number)
        next(igloo for igloo in self.on[place] if igloo[1] is None)[1] = number
        if all(number for _, number in self.on[place]):
            igloos = [(owner, number) for owner, number in self.on[place]]
            told = check_card(self.circle[place], igloos, self.none_match)
            for (owner, _), keeper in zip(igloos, told["thalers"], strict=True):
                if keeper is not None:
                    self.thalers[keeper][owner] += 1
            if told["card"] is not None:
                self.won[told["card"]].append(self.circle.pop(place))
            self.on[place] = []

    def go_on(self) -> None:
        if self.phase == "shaking":
            wanting = [c for c in self.colours if c in self.hands or not (c in self.passed or self.out_of_thalers(c))]
            if not wanting or sum(map(len, self.on.values())) == 12:
                self.phase = "checking"
        if self.phase == "checking" and not any(self.on.values()):
            stack, missing = 33 - len(self.laid), 9 - len(self.circle)
            over = any(self.out_of_thalers(c) for c in self.colours) or self.short
            if missing > stack and self.cards_end == "immediate":
                over = True
            if not self.circle and not stack:
                over = True
            if over:
                self.phase = "over"
            else:
                self.phase = "deal" if missing and stack else "ready"

    def scores(self) -> dict[str, tuple[int, int, int]]:
        """Return points, number of cards and thalers of others for each player."""
        found = {}
        for colour in self.colours:
            eskimos = sum(3 if card in SINGLES else 2 if card in PAIRS else 1 for card in self.won[colour])
            others = sum(n for owner, n in self.thalers[colour].items() if owner != colour)
            own = self.thalers[colour][colour]
            found[colour] = (eskimos + own + others, len(self.won[colour]), others)
        return found


def agree(naive: Naive, state: Any) -> None:
    """Assert that both hold the same position."""
    assert state.phase == naive.phase
    assert {p: "/".join(map(str, c)) for p, c in state.cards.items() if c} == naive.circle
    assert {p: [list(i) for i in igloos] for p, igloos in state.igloos.items()} == naive.on
    assert state.own == {c: naive.thalers[c][c] for c in naive.colours}
    assert {c: ["/".join(map(str, k)) for k in won] for c, won in state.won.items()} == naive.won
    assert state.stack_left == 33 - len(naive.laid)
    scores = {c: (s.total, *s.tie_break) for c, s in zip(state.colours, state.score().sheets, strict=True)}
    assert scores == naive.scores()


def random_table(rng: Random) -> tuple[Naive, Any]:
    colours = rng.sample(COLOURS, rng.randint(2, 6))
    cards_end, none_match = rng.choice(["immediate", "last_round"]), rng.choice(["remove", "return"])
    options = {"pop.cards_end": cards_end, "pop.none_match": none_match}
    state = game("igloo-pop").start([{"colour": c} for c in colours], options)
    return Naive(colours, cards_end, none_match), state


def likely(rng: Random, naive: Naive, texts: list[str]) -> str:
    """Choose a move; igloos match more often than by chance, so that some games run out of cards."""
    if naive.phase == "checking" and rng.random() < 0.7:
        right = [t for t in texts if t.split()[2] in naive.circle[t.split()[1]].split("/")]
        return rng.choice(right or texts)
    return rng.choice(texts)


@pytest.mark.sized
def test_the_plain_game_and_the_engine_allow_the_same_moves_and_reach_the_same_scores() -> None:
    rng, parse = Random(11), game("igloo-pop").parse
    moves = {text: parse(text) for text in EVERY_TEXT}
    assert len(moves) == 9 * 33 + 1 + 18 + 54 + 108
    ends: set[str] = set()
    for _ in range(size(3, 12)):
        naive, state = random_table(rng)
        while naive.phase != "over":
            legal = [text for text in EVERY_TEXT if naive.legal(text)]
            assert sorted(map(str, state.moves())) == sorted(legal)
            assert [text for text, move in moves.items() if state.refusal(move) is None] == legal
            text = likely(rng, naive, legal)
            naive.do(text)
            state = state.play(moves[text])
            agree(naive, state)
        assert state.outcome() is not None
        ends.add(state.end_reason.key)
    assert {"end-cards", "end-short-round"} <= ends | {"end-both"}


@pytest.mark.sized
def test_thousands_of_random_rounds_are_scored_alike() -> None:
    rng, parse = Random(12), game("igloo-pop").parse
    keys: set[str] = set()
    for _ in range(size(1500, 3000)):
        naive, state = random_table(rng)
        cards = rng.sample(BOX, 9)
        for place, card in zip(PLACES, cards, strict=True):
            text = f"deal {place} {card}"
            naive.do(text)
            state = state.after(parse(text))
        texts = ["start"]
        places = rng.sample(PLACES, rng.randint(1, 4))
        for _ in range(rng.randint(1, 12)):
            texts.append(f"place {rng.choice(naive.colours)} {rng.choice(places)}")
        for text in texts:
            if naive.legal(text):
                naive.do(text)
                state = state.play(parse(text))
        for colour in naive.colours:
            if naive.legal(f"pass {colour}"):
                naive.do(f"pass {colour}")
                state = state.play(parse(f"pass {colour}"))
        while naive.phase == "checking":
            place = naive.half_checked() or [p for p in PLACES if naive.on[p]]
            near = [n for n in range(2, 14) if n not in naive.shown]
            right = [n for n in near if str(n) in naive.circle[place[0]].split("/")]
            number = rng.choice(right if right and rng.random() < 0.6 else near)
            naive.do(f"reveal {place[0]} {number}")
            state = state.play(parse(f"reveal {place[0]} {number}"))
        agree(naive, state)
        keys |= {result.reason.key for result in state.last_results}
    assert len(keys) == 11, "every kind of result came up"


@pytest.mark.cites("POP-3.2", "POP-3.3", "POP-3.4", "POP-3.5", "POP-3.6", "POP-3.9")
def test_one_rule_covers_all_cases_of_the_check() -> None:
    rng = Random(13)
    for _ in range(5000):
        igloos = [(rng.choice(COLOURS), n) for n in rng.sample(range(2, 14), rng.randint(1, 6))]
        card = rng.choice(BOX)
        told = check_card(card, igloos, "remove")
        right = [i for i in igloos if str(i[1]) in card.split("/")]
        winner = max(right, key=lambda i: i[1])[0] if right else None
        assert told["card"] == winner
        for (owner, number), keeper in zip(igloos, told["thalers"], strict=True):
            if str(number) in card.split("/"):
                assert keeper == owner
            else:
                assert keeper == (winner if winner != owner else None)
