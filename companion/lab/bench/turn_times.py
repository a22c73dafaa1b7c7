"""Random whole turns of every game, and how long the referee takes to explain them: for tests and `companion bench`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from time import process_time
from typing import Any

from companion.rules import game
from companion.rules.core import CHANCE, JSON, NOBODY, State
from companion.rules.inference.explain import explain
from companion.rules.inference.turns import Evidence, search_of

FORGOTTEN = 0.2
"""The part of the places and fields that is hidden from the search where not all is seen."""
ENOUGH = 0.8
"""How often a step that ends something is left out while another is possible: random players do much."""
PI_4 = 5.0
"""A Raspberry Pi 4's core is taken for so many times slower than a PC's. Estimated, not measured."""
KINDS = ("seen", "forgotten", "spoilt", "step")


@dataclass(frozen=True, slots=True)
class TurnTimes:
    """How long answers of ``explain`` took, in seconds of a processor, and what came of them.

    ``asked``: ``seen`` (the whole position after a played turn), ``forgotten`` (a part of it unknown), ``spoilt``
    (two places or fields exchanged) or ``step`` (one thing moved once more than was played). Hands are unknown where a
    game may leave them open. ``found`` legal turns were found, ``right`` answers are legal turns that replay to what
    was seen, or a "no" with a clause to it (never for a turn that was played); ``given_up`` searches stopped before all
    was looked at.
    """

    game: str
    asked: str
    count: int
    median: float
    p95: float
    slowest: float
    found: int
    right: int
    given_up: int

    def to_json(self) -> dict[str, JSON]:
        """Return the row of a table."""
        return {name: getattr(self, name) for name in self.__slots__}


def whole_turns(game_id: str, rng: Random, count: int, share: float = 0.2) -> Iterator[tuple[Any, list[Any], Any]]:
    """Yield whole turns of random games: the state before, the moves, the state after; a ``share`` of those played."""
    rules = game(game_id)
    turn_of = getattr(search_of(game_id), "turn_of", _iglu_turn)
    while True:
        players = rng.choice(list(rules.players))
        state: State[Any] = rules.start(rules.seats(players))
        before: Any = None
        moves: list[Any] = []
        running: Any = None
        while state.to_move != NOBODY:
            whose = turn_of(state)
            if whose != running:
                if before is not None and rng.random() < share:
                    yield before, moves, state
                    count -= 1
                    if not count:
                        return
                before, moves, running = (None if whose is None else state), [], whose
            move = state.chance(rng) if state.to_move == CHANCE else _chosen(state, rng)
            state = state.after(move)
            moves.append(move)
        if before is not None and rng.random() < share:
            yield before, moves, state
            count -= 1
            if not count:
                return


def _chosen(state: State[Any], rng: Random) -> Any:
    """Return a random move: of the kinds that are possible seldom the end of something."""
    by_verb: dict[str, list[Any]] = {}
    for move in state.moves():
        by_verb.setdefault(str(move).split(maxsplit=1)[0], []).append(move)
    verbs = list(by_verb)
    if len(verbs) > 1 and rng.random() < ENOUGH:
        verbs = [verb for verb in verbs if verb not in ("end", "stop", "pass")] or verbs
    return rng.choice(by_verb[rng.choice(verbs)])


def _iglu_turn(state: Any) -> int | None:
    """Return whose turn of Iglu Iglu runs, or None."""
    from companion.rules.iglu_iglu.position import OVER, PLACING, SETTING

    return None if state.phase in (SETTING, PLACING, OVER) else int(state.turn)


def forget(evidence: Evidence, rng: Random, part: float = FORGOTTEN) -> Evidence:
    """Return evidence without a random part of its places and fields."""
    names = [*evidence.places, *evidence.fields]
    return evidence.without(rng.sample(names, max(1, round(part * len(names)))))


def spoil(evidence: Evidence, rng: Random) -> Evidence:
    """Return evidence in which two places have changed their contents, or two fields of a kind their values."""
    kinds: dict[str, list[str]] = {}
    for name in evidence.fields:
        kinds.setdefault(name.rpartition(".")[2], []).append(name)
    alike = [names for names in kinds.values() if len(names) > 1]
    if alike and rng.random() < 0.3:
        one, two = rng.sample(rng.choice(alike), 2)
        fields = {**evidence.fields, one: evidence.fields[two], two: evidence.fields[one]}
        return Evidence(evidence.places, fields)
    one, two = rng.sample(list(evidence.places), 2)
    places = {**evidence.places, one: evidence.places[two], two: evidence.places[one]}
    return Evidence(places, evidence.fields)


def one_step(evidence: Evidence, rng: Random) -> Evidence:
    """Return evidence in which one thing lies elsewhere than it did, as after one step more; else a spoilt one."""
    places = dict(evidence.places)
    full = [name for name, seen in places.items() if next(iter(seen))[1]]
    if not full:
        return spoil(evidence, rng)
    origin = rng.choice(full)
    target = rng.choice([name for name in places if name != origin])
    ground, things = next(iter(places[origin]))
    other, there = next(iter(places[target]))
    kind, what, _ = rng.choice(things)
    counts = {(k, w): n for k, w, n in there}
    counts[kind, what] = counts.get((kind, what), 0) + 1
    left = [(k, w, n - ((k, w) == (kind, what))) for k, w, n in things]
    places[origin] = {(ground, tuple(sorted((one for one in left if one[2]), key=str))): 0.0}
    places[target] = {(other, tuple(sorted(((k, w, n) for (k, w), n in counts.items()), key=str))): 0.0}
    return Evidence(places, evidence.fields)


def _open_hands(before: State[Any]) -> State[Any]:
    """Return a state whose hands nobody knows, where a game has such: the tiles in them may lie anywhere."""
    position = before.view(None)
    if "hands" not in position:
        return before
    del position["hands"]
    states: list[State[Any]] = search_of(before.game.id).cases(position)
    return states[0]


def measure_turns(game_id: str, count: int, seed: int, done: Callable[[], object] | None = None) -> list[TurnTimes]:
    """Return how long ``explain`` takes for ``count`` random turns, each asked about in four ways, and how often it
    is right; ``done`` is called after each turn.
    """
    rng = Random(seed)
    taken: dict[str, list[float]] = {kind: [] for kind in KINDS}
    found, right, given_up = (dict.fromkeys(KINDS, 0) for _ in range(3))
    for played, _, after in whole_turns(game_id, rng, count):
        before = _open_hands(played)
        seen = Evidence.of_position(after.position(), game_id)
        asked = dict(zip(KINDS, (seen, forget(seen, rng), spoil(seen, rng), one_step(seen, rng)), strict=True))
        for kind, evidence in asked.items():
            began = process_time()
            answer = explain(before, evidence)
            told = answer.to_json()
            taken[kind].append(process_time() - began)
            found[kind] += answer.legal
            given_up[kind] += not answer.complete
            legal = answer.legal and _leads(before, answer.turns[0].moves, evidence)
            right[kind] += legal or (kind in ("spoilt", "step") and not answer.legal and bool(told["clauses"]))
        if done is not None:
            done()
    rows = []
    for kind, times in taken.items():
        times.sort()
        p95 = times[min(len(times) - 1, round(0.95 * len(times)))]
        median = times[len(times) // 2]
        what = found[kind], right[kind], given_up[kind]
        rows.append(TurnTimes(game_id, kind, count, median, p95, times[-1], *what))
    return rows


def _leads(before: State[Any], moves: Sequence[Any], evidence: Evidence) -> bool:
    """Return whether moves are legal one after the other and end as was seen.

    Games that explain for themselves know cards that nobody read and a row whose order does not count; there the end
    is theirs to judge.
    """
    state = before
    for move in moves:
        if state.refusal(move) is not None:
            return False
        state = state.after(move)
    return hasattr(search_of(before.game.id), "explain") or not evidence.misses(state.position())
