"""Random complete games in bulk, with every state of them looked at: for ``companion bench rules`` and for tests.

What may be wrong is told, not raised, with the seed that plays the game again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any, Final

from companion.rules import game
from companion.rules.core import CHANCE, JSON, NOBODY, State
from companion.rules.playouts import LONGEST
from companion.rules.record import Header, Record

LISTED: Final = 20
"""Violations that are told one by one; the others are counted."""
UNDOS: Final = 2
"""Undos tried in each game."""

Count = tuple[str, int, int]
"""What is counted, how much there is, and how much there must be."""


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
        yield f"the record leads elsewhere: {replay.error.en if replay.error else str(replay.state)}"


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
    for what, there, wanted in CONSERVED[state.game.id](state.position()):
        if there != wanted:
            yield f"there are {there} {what}, not {wanted}"
    over = state.to_move == NOBODY
    if (state.outcome() is not None) != over or bool(state.legal_moves) == over:
        yield "an end with moves, or moves without an end"


# --- what must stay as much as it was, counted in the one form of a board ---------------------------------------------


def _things(position: Mapping[str, Any], kind: str, *places: str) -> Iterator[Mapping[str, Any]]:
    for name in places or position["places"]:
        yield from (thing for thing in position["places"][name]["things"] if thing["kind"] == kind)


def _igloo_pop(position: Mapping[str, Any]) -> Iterator[Count]:
    """Yield thalers, igloos and cards."""
    players, piles = position["players"], position["piles"]
    staked = list(_things(position, "igloo"))
    thalers = sum(player["own"] + player["captured"] + player["removed"] for player in players) + len(staked)
    yield "thalers", thalers, 10 * len(players)
    in_hand = sum(player["in_hand"] for player in players)
    yield "igloos", len(staked) + in_hand + piles["village"], 12
    laid = sum(place["ground"] != "empty" for place in position["places"].values())
    yield "cards", laid + sum(len(player["cards"]) for player in players) + piles["stack"], 33


def _iglu_iglu(position: Mapping[str, Any]) -> Iterator[Count]:
    """Yield figures, and tokens that are more than the box has; the floes and tiles of the box."""
    colours = [player["colour"] for player in position["players"]]
    tribe = 5 if len(colours) == 2 else 3
    if position["phase"] not in ("setting", "placing"):
        for colour in colours:
            there = sum(thing["count"] for thing in _things(position, "inuit") if thing["colour"] == colour)
            yield f"{colour} inuit", there, tribe
    gone = [*position["trophies"].values(), position["piles"]["removed"]]
    for kind, value, most in (
        *(("fish", value, count) for value, count in ((1, 8), (2, 12), (3, 8))),
        *(("fox", value, count) for value, count in ((1, 3), (2, 4), (3, 3))),
        ("bear", 4, 4),
    ):
        here = sum(thing["count"] for thing in _things(position, kind) if thing["value"] == value)
        out = sum(t["count"] for pile in gone for t in pile if (t["kind"], t["value"]) == (kind, value))
        yield f"{kind} {value} tokens", max(here + out, most), most
    face_down = sum(place["ground"] == "floe" for place in position["places"].values())
    turned = 1 if position["phase"] in ("peeking", "revealing") else 0
    unseen = position["piles"]["tiles"]
    hands = [hand["tiles"].get("thaw", 0) for hand in position["hands"].values()]
    # A thaw that was played took a floe whose tile nobody has seen.
    thawed = position["box"]["tiles"]["thaw"] - unseen.get("thaw", 0) - sum(hands)
    yield "unseen tiles", sum(unseen.values()), face_down + turned + thawed


def _arctic(position: Mapping[str, Any]) -> Iterator[Count]:
    """Yield the cards of the packs in play, and the six tokens of the landscape."""
    players = position["players"]
    held = sum(len(player[zone]) for player in players for zone in ("hand", "pile", "penalty"))
    river = sum(1 for name, place in position["places"].items() if name.startswith("river") and place["things"])
    yield "cards", held + river + position["pile_left"] + position["reserve"], 30 * len(players)
    yield "tokens", sum(len(position["places"][name]["things"]) for name in position["places"] if "land" in name), 6


def _ice_team(position: Mapping[str, Any]) -> Iterator[Count]:
    """Yield the bears of each team, the igloos, and the floes on the boards and out of the game."""
    for player in position["players"]:
        there = sum(thing["count"] for thing in _things(position, "bear") if thing["colour"] == player["colour"])
        yield f"{player['colour']} bears", there, 4
    grounds = [place["ground"] for place in position["places"].values()]
    igloos = grounds.count("igloo") + grounds.count("searched")
    yield "igloos", igloos, 8
    others = igloos + sum(grounds.count(ground) for ground in ("sea", "start", "village"))
    yield "floes", len(grounds) - others + len(position["removed"]), 24


CONSERVED: Final[Mapping[str, Callable[[Mapping[str, Any]], Iterator[Count]]]] = {
    "igloo-pop": _igloo_pop,
    "iglu-iglu": _iglu_iglu,
    "arctic": _arctic,
    "ice-team": _ice_team,
}
"""What each game must neither lose nor make."""
