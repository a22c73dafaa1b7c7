"""Random whole turns of every game, and how long it takes to find them again: for tests and `companion bench`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from time import perf_counter
from typing import Any

from companion.rules import game
from companion.rules.core import CHANCE, JSON, NOBODY, State
from companion.rules.inference.explain import explain
from companion.rules.inference.turns import Evidence, search_of, turns

FORGOTTEN = 0.2
"""The part of the places and fields that is hidden from the search where not all is seen."""
ENOUGH = 0.8
"""How often a step that ends something is left out while another is possible: random players do much."""


@dataclass(frozen=True, slots=True)
class TurnTimes:
    """How long searches took, in seconds, and what came of them; ``asked`` says what was searched for.

    ``asked``: ``seen`` (the whole position after a played turn), ``forgotten`` (a part of it unknown), ``spoilt``
    (something in it changed: it is explained, legal or not). ``found`` turns were found, ``given_up`` searches ended
    before all was looked at.
    """

    game: str
    asked: str
    count: int
    median: float
    p95: float
    slowest: float
    found: int
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


def measure_turns(game_id: str, count: int, seed: int) -> list[TurnTimes]:
    """Return how long it takes to find ``count`` random turns again: seen whole, partly forgotten, and spoilt."""
    rng = Random(seed)
    taken: dict[str, list[float]] = {"seen": [], "forgotten": [], "spoilt": []}
    found = dict.fromkeys(taken, 0)
    given_up = dict.fromkeys(taken, 0)
    for before, _, after in whole_turns(game_id, rng, count):
        seen = Evidence.of_position(after.position(), game_id)
        for kind, evidence in (("seen", seen), ("forgotten", forget(seen, rng)), ("spoilt", spoil(seen, rng))):
            began = perf_counter()
            answer = explain(before, evidence) if kind == "spoilt" else turns(before, evidence)
            taken[kind].append(perf_counter() - began)
            found[kind] += bool(answer.turns)
            given_up[kind] += not answer.complete
    rows = []
    for kind, times in taken.items():
        times.sort()
        p95 = times[min(len(times) - 1, round(0.95 * len(times)))]
        median = times[len(times) // 2]
        rows.append(TurnTimes(game_id, kind, count, median, p95, times[-1], found[kind], given_up[kind]))
    return rows
