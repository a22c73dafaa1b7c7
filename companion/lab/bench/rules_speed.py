"""How fast the rules are: random games in which every move is validated, as `companion bench rules` compares them."""

from __future__ import annotations

from random import Random
from time import perf_counter

from companion.rules import game
from companion.rules.core import CHANCE, NOBODY


def moves_per_second(game_id: str, seconds: float, players: int | None = None, seed: int = 1) -> float:
    """Return the moves a second of random games; each move is drawn from the legal ones, checked and played.

    ``players`` None: all numbers of players in turn. Whole games are played until ``seconds`` have passed.
    """
    played = game(game_id)
    rng = Random(seed)
    counts = list(played.players) if players is None else [players]
    moves = games = 0
    begun = now = perf_counter()
    while now - begun < seconds or games < len(counts):
        state = played.start(played.seats(counts[games % len(counts)]))
        while state.to_move != NOBODY:
            state = state.play(state.chance(rng) if state.to_move == CHANCE else rng.choice(list(state.moves())))
            moves += 1
        games += 1
        now = perf_counter()
    return moves / (now - begun)
