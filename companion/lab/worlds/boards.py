"""A board game that a table plays with its own box: a random record in the moves that a page offers."""

from __future__ import annotations

from random import Random
from typing import Any

from companion.night.games import game_view
from companion.night.games.board import BoardView
from companion.rules import game

BOARDS = ("iglu-iglu", "arctic", "ice-team")


def view_of(game_id: str) -> BoardView:
    view = game_view(game_id)
    assert isinstance(view, BoardView)
    return view


def players(game_id: str) -> list[dict[str, str]]:
    return [
        {"name": name, "colour": str(seat.get("colour", f"p{number}"))}
        for number, (name, seat) in enumerate(zip(("Ann", "Bob"), game(game_id).seats(2), strict=True), 1)
    ]


def offered(game_id: str, state: Any) -> list[dict[str, Any]]:
    """Return what the page offers at a table that draws for itself."""
    return view_of(game_id).taps(state, None, drawn=False)


def settled(game_id: str, state: Any) -> Any:
    """Return the state after what goes without saying."""
    while (step := view_of(game_id).unsaid(state)) is not None:
        state = state.after(step)
    return state


def record(game_id: str, seed: int, *, most: int = 5000) -> list[str]:
    """Return the moves that somebody enters in a whole random game, without those that go without saying."""
    rng = Random(seed)
    found: list[str] = []
    state: Any = game(game_id).start(players(game_id))
    while state.outcome() is None and len(found) < most:
        text = rng.choice(offered(game_id, state))["text"]
        found.append(text)
        state = state.play(game(game_id).parse(text))
        state = settled(game_id, state)
    assert state.outcome() is not None
    return found
