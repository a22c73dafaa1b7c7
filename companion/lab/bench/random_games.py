"""Random complete games in bulk, with every state of them looked at: for ``companion bench rules`` and for tests.

What may be wrong is told, not raised, with the seed that plays the game again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any, Final

from companion.lab.conserved import conserved
from companion.rules import game
from companion.rules.core import CHANCE, JSON, NOBODY, State
from companion.rules.playouts import LONGEST
from companion.rules.record import Header, Record

LISTED: Final = 20
"""Violations that are told one by one; the others are counted."""
UNDOS: Final = 2
"""Undos tried in each game."""


def random_games(
    game_id: str,
    players: int,
    games: int = 1000,
    seed: int = 1,
    done: Callable[[], object] | None = None,
    options: Mapping[str, JSON] | None = None,
) -> dict[str, JSON]:
    """Play random complete games and return what was found; ``done`` is called after each.

    The answer is ``{"game", "players", "games", "moves", "longest", "broken", "violations"}``: ``broken`` counts what
    did not hold, ``violations`` tells the first of it as ``{"seed", "move", "what"}``. Of every state: nothing is
    wrong with it, nothing of the box is lost or made, and somebody can move until the end. Of every move: it is listed
    once and legal, its text reads back, and chance draws what it says it may. Of every game: an undo is the replay of
    the prefix, and the record leads to the last state.

    :raises SetupError: when there is no such game, it is not for so many, or does not know an option.
    """
    played = game(game_id)
    header = Header(played.id, tuple(played.seats(players)), played.settled_options(options))
    moves = longest = broken = 0
    violations: list[dict[str, JSON]] = []
    for number in range(games):
        source = f"{game_id} {players} {seed} {number}"
        texts: list[str] = []
        for what in _one_game(header, Random(source), texts):
            broken += 1
            if len(violations) < LISTED:
                violations.append({"seed": source, "move": len(texts), "what": what})
        moves += len(texts)
        longest = max(longest, len(texts))
        if done is not None:
            done()
    return {
        "game": game_id,
        "players": players,
        "games": games,
        "moves": moves,
        "longest": longest,
        "broken": broken,
        "violations": violations,
    }


def _one_game(header: Header, rng: Random, texts: list[str]) -> Iterator[str]:
    """Play one game into ``texts`` and yield whatever is wrong on the way."""
    state = header.start()
    states = [state]
    yield from faults(state)
    while state.to_move != NOBODY and len(texts) < LONGEST:
        listed = list(state.moves())
        move = state.chance(rng) if state.to_move == CHANCE else rng.choice(listed)
        yield from move_faults(state, move, listed)
        state = state.after(move)
        texts.append(str(move))
        states.append(state)
        yield from faults(state)
    if state.to_move != NOBODY:
        yield f"the game goes on after {LONGEST} moves"
    record = Record(header, tuple(texts))
    for _ in range(UNDOS):
        cut = rng.randrange(len(states))
        if record.prefix(cut).replay().state != states[cut]:
            yield f"the replay of the first {cut} moves is another state than was there"
    replay = record.replay()
    if replay.error is not None or replay.state != state:
        yield f"the record leads elsewhere: {replay.error.words.en if replay.error else str(replay.state)}"


def move_faults(state: State[Any], move: Any, listed: list[Any]) -> Iterator[str]:
    """Yield what is wrong with a move that is about to be played, where ``listed`` are the legal ones."""
    if len(set(listed)) != len(listed):
        yield "a move is listed twice"
    if move not in listed or state.refusal(move) is not None:
        yield f"{move} is played and not legal"
    if state.game.parse(str(move)) != move:
        yield f"{move} reads back as another move"
    if state.to_move == CHANCE:
        chances = state.chances()
        if move not in [may for may, _ in chances]:
            yield f"{move} is drawn and cannot be"
        if abs(sum(p for _, p in chances) - 1) > 1e-9 or min(p for _, p in chances) <= 0:
            yield "the probabilities of chance are none"


def faults(state: State[Any]) -> Iterator[str]:
    """Yield what is wrong with a state that play can reach: its problems, what is lost or made, dead ends."""
    for problem in state.problems():
        yield f"{problem.key} {dict(problem.facts)}"
    for what, there, wanted in conserved(state.game.id, state.position()):
        if there != wanted:
            yield f"there are {there} {what}, not {wanted}"
    over = state.to_move == NOBODY
    if (state.outcome() is not None) != over or bool(state.legal_moves) == over:
        yield "an end with moves, or moves without an end"
