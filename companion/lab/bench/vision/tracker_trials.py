"""Simulated looks at simulated games, and what the tracker makes of them: for tests and `companion bench`.

A look is made of a true board by noise of a kind. The numbers say nothing about a camera: they say how search and
tracker behave when a camera is as sure, or as wrong, as the noise is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import log
from random import Random
from time import perf_counter
from typing import Any

from companion.rules import game
from companion.rules.core import CHANCE, NOBODY, State
from companion.rules.inference.belief import Belief
from companion.rules.inference.turns import Evidence, content
from companion.rules.inference.turns import turns as search_turns
from vision.track.candidate import CONTINUED, DISAGREEMENT, ENTERED, QUESTION, TURN, Candidate, TrackingResult
from vision.track.evidence import LEAST, logs
from vision.track.tracker import Tracker, public_view

KINDS = ("clear", "calibrated", "wrong", "confused", "covered", "half", "unlawful")
"""Clear sight; honest doubts; sure and wrong now and then; numbers hardly read; things over the board; a turn not
finished; a board that no turn leads to."""
_THINGS: tuple[tuple[str, Any, tuple[int, ...]], ...] = (
    *(("inuit", colour, (0, 1, 2, 3)) for colour in ("red", "blue", "yellow", "green")),
    *(("igloo", colour, (0, 1)) for colour in ("red", "blue", "yellow", "green")),
    *(("fish", value, (0, 1, 2)) for value in (1, 2, 3)),
    *(("fox", value, (0, 1, 2)) for value in (1, 2, 3)),
    ("bear", 4, (0, 1)),
)


def look(position: Mapping[str, Any], kind: str, rng: Random) -> Evidence:
    """Return what a camera with noise of a kind might believe of a board of Iglu Iglu."""
    names = list(position["places"])
    covered = set(rng.sample(names, rng.randint(1, 3))) if kind == "covered" else set()
    places = {}
    for name, place in position["places"].items():
        if name in covered:
            continue
        ground, things = content(place)
        there = {(what, value): count for what, value, count in things}
        table = _doubt(("water", "floe", "pack"), ground, kind, rng) if ground != "land" else {"land": 1.0}
        counts: dict[tuple[str, Any], dict[int, float]] = {}
        for what, value, usual in _THINGS:
            true = there.get((what, value), 0)
            if not true and rng.random() < 0.97:
                continue
            options = usual if true in usual else (*usual, true)
            counts[what, value] = _doubt(options, true, kind, rng)
        if kind == "confused":
            _confuse(counts, there, rng)
        places[name] = Belief(logs(table), {thing: logs(p) for thing, p in counts.items()}, log(LEAST))
    return Evidence(places)


def _doubt(options: Sequence[Any], true: Any, kind: str, rng: Random) -> dict[Any, float]:
    """Return a calibrated belief: as often right as it says (but for the noise that is sure and wrong)."""
    sure = 0.9997
    if kind in ("calibrated", "confused"):
        sure = rng.choices((0.9997, 0.97, 0.8), (0.985, 0.01, 0.005))[0]
    right = rng.random() < sure
    if kind == "wrong" and rng.random() < 0.0005:
        right = False
    likeliest = true if right else rng.choice([option for option in options if option != true])
    rest = (1 - sure) / (len(options) - 1)
    return {option: sure if option == likeliest else rest for option in options}


def _confuse(
    counts: dict[tuple[str, Any], dict[int, float]], there: Mapping[tuple[str, Any], int], rng: Random
) -> None:
    """Make the numbers of single fish and foxes hard to read: each is believed to be another now and then."""
    for kind in ("fish", "fox"):
        values = [value for what, value in there if what == kind]
        if len(values) != 1 or there[kind, values[0]] != 1 or rng.random() < 0.9:
            continue
        sure = rng.choice((0.6, 0.85))
        others = [value for value in (1, 2, 3) if value != values[0]]
        likeliest = values[0] if rng.random() < sure else rng.choice(others)
        for value in (1, 2, 3):
            p = sure if value == likeliest else (1 - sure) / 2
            counts[kind, value] = {0: 1 - p, 1: p}


# --- simulated games --------------------------------------------------------------------------------------------------


def played_games(rng: Random, players: Sequence[int] = (2, 3, 4)) -> Iterator[list[tuple[Any, list[Any]]]]:
    """Yield random games without end: for each the positions between turns, each with the moves that led to it."""
    rules = game("iglu-iglu")
    while True:
        state: State[Any] = rules.start(rules.seats(rng.choice(list(players))))
        course: list[tuple[Any, list[Any]]] = []
        moves: list[Any] = []
        while state.to_move != NOBODY:
            begins = state.position()["phase"] == "start" and (not course or "end" in map(str, moves))
            if begins:
                course.append((state, moves))
                moves = []
            verbs: dict[str, list[Any]] = {}
            for move in state.legal_moves:
                verbs.setdefault(str(move).split()[0], []).append(move)
            if len(verbs) > 1 and rng.random() < 0.7:
                verbs.pop("end", None)
            if "melt" in verbs and rng.random() < 0.95:
                verbs = {"melt": verbs["melt"]}
            step = state.chance(rng) if state.to_move == CHANCE else rng.choice(verbs[rng.choice(list(verbs))])
            state = state.after(step)
            moves.append(step)
        course.append((state, moves))
        yield course


def spoil(position: Mapping[str, Any], rng: Random) -> dict[str, Any]:
    """Return a board on which somebody has moved or taken what no turn moves."""
    places = {
        name: {"ground": place["ground"], "things": [dict(thing) for thing in place["things"]]}
        for name, place in position["places"].items()
    }
    floes = [name for name, place in places.items() if place["ground"] in ("floe", "pack")]
    for _ in range(rng.randint(1, 3)):
        full = [name for name, place in places.items() if place["things"]]
        if not full or not floes:
            break
        here = rng.choice(full)
        thing = places[here]["things"].pop(rng.randrange(len(places[here]["things"])))
        if rng.random() < 0.6:
            places[rng.choice(floes)]["things"].append(thing)
        elif rng.random() < 0.5:
            places[rng.choice(floes)]["ground"] = "water"
    return {"places": places}


# --- what the tracker makes of them ---------------------------------------------------------------------------------


@dataclass
class TrackerScore:
    """What came of the looks of one kind; ``wrong``: entered, and not what lay there."""

    kind: str
    turns: int = 0
    entered: int = 0
    wrong: int = 0
    questions: int = 0
    among: int = 0
    disagreements: int = 0
    other: int = 0
    seconds: list[float] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return the row of a table; times in seconds."""
        ordered = sorted(self.seconds)
        return {
            "kind": self.kind,
            "turns": self.turns,
            "entered": self.entered,
            "wrong": self.wrong,
            "questions": self.questions,
            "truth among candidates": self.among,
            "disagreements": self.disagreements,
            "other": self.other,
            "median": round(ordered[len(ordered) // 2], 3) if ordered else None,
            "p95": round(ordered[int(len(ordered) * 0.95)], 3) if ordered else None,
        }


def measure(turns: int = 200, seed: int = 1, kinds: Sequence[str] = KINDS) -> list[dict[str, Any]]:
    """Return for each kind of noise what the tracker did in so many turns of random games of Iglu Iglu."""
    return [follow(kind, turns, Random(f"{seed} {kind}")).to_json() for kind in kinds]


def follow(kind: str, turns: int, rng: Random) -> TrackerScore:
    """Follow random games under noise of one kind."""
    tally = TrackerScore(kind)
    for course in played_games(rng):
        tracker = Tracker([hidden(course[0][0])])
        for (before, _), (after, moves) in pairwise(course):
            if tally.turns >= turns:
                return tally
            tally.turns += 1
            if kind == "unlawful":
                _unlawful(tally, tracker, after, rng)
            elif kind == "half":
                _half(tally, tracker, before, moves, after, rng)
            else:
                _whole(tally, tracker, after, kind, rng)
    return tally


def hidden(state: Any) -> Any:
    """Return the state with the hands that nobody saw, as a record of what was seen has them."""
    from companion.rules.iglu_iglu.json_form import hidden_from

    return hidden_from(state, None)


def _look(tally: TrackerScore, tracker: Tracker, evidence: Evidence) -> TrackingResult:
    begun = perf_counter()
    answer = tracker.observe(evidence)
    tally.seconds.append(perf_counter() - begun)
    return answer


def _whole(tally: TrackerScore, tracker: Tracker, after: Any, kind: str, rng: Random) -> None:
    before = tracker.state
    answer = _look(tally, tracker, look(after.position(), kind, rng))
    truth = public_view(after)
    right = [c for c in answer.candidates if c.state is not None and public_view(c.state) == truth]
    if answer.state == ENTERED:
        tally.entered += 1
        if public_view(tracker.state) != truth:
            tally.wrong += 1
            tracker.confirmed[:] = [before, hidden(after)]
    else:
        if answer.state == QUESTION:
            tally.questions += 1
            tally.among += bool(right)
        elif answer.state == DISAGREEMENT:
            tally.disagreements += 1
        else:
            tally.other += 1
            tally.wrong += public_view(before) != truth
        if public_view(before) != truth:
            _correct(tracker, right, after)


def _correct(tracker: Tracker, right: Sequence[Candidate], after: Any) -> None:
    """Do what people do: choose the right candidate, or set the position up."""
    turn = next((c for c in right if c.kind in (TURN, CONTINUED)), None)
    if turn is not None:
        tracker.confirm(turn)
    else:
        tracker.confirmed.append(hidden(after))
        tracker.turns_entered.append(())


def _unlawful(tally: TrackerScore, tracker: Tracker, after: Any, rng: Random) -> None:
    board = spoil(after.position(), rng)
    before = list(tracker.confirmed)
    answer = _look(tally, tracker, look(board, "clear", rng))
    seen = {name: content(place) for name, place in board["places"].items()}
    if answer.state == ENTERED:
        tally.entered += 1
        places = tracker.state.position()["places"]
        tally.wrong += any(content(places[name]) != expected for name, expected in seen.items())
    elif answer.state == QUESTION:
        tally.questions += 1
    elif answer.state == DISAGREEMENT:
        tally.disagreements += 1
    else:
        tally.other += 1
    tracker.confirmed[:] = [*before, hidden(after)]
    tracker.turns_entered.append(())


def _half(tally: TrackerScore, tracker: Tracker, before: Any, moves: Sequence[Any], after: Any, rng: Random) -> None:
    """Look in the middle of a turn, perhaps with an inuit in somebody's hand, then at its end."""
    state = before
    for move in moves[: rng.randrange(1, len(moves) + 1)]:
        state = state.after(move)
    board = state.position()
    if rng.random() < 0.5:
        full = [p for p in board["places"].values() if any(t["kind"] == "inuit" for t in p["things"])]
        if full:
            place = rng.choice(full)
            place["things"].remove(rng.choice([t for t in place["things"] if t["kind"] == "inuit"]))
    kept = list(tracker.confirmed), list(tracker.turns_entered)
    answer = _look(tally, tracker, look(board, "clear", rng))
    if answer.state == ENTERED:
        places = tracker.state.position()["places"]
        shown = any(content(places[name]) != content(place) for name, place in board["places"].items())
        tally.wrong += shown
        if shown:
            tracker.confirmed[:], tracker.turns_entered[:] = kept
    _whole(tally, tracker, after, "clear", rng)


def measure_search(count: int = 100, seed: int = 1, kinds: Sequence[str] = KINDS[:5]) -> list[dict[str, Any]]:
    """Return for each kind of noise how often the search alone puts the turn that was played first, and how long.

    ``board``: the first turn leaves the board that lay there; ``top``: the trophies too; ``among``: one of those told
    does; ``complete``: all that might be better was looked at. Times in seconds.
    """
    rows = []
    for kind in kinds:
        rng = Random(f"{seed} search {kind}")
        row: dict[str, Any] = {"kind": kind, "turns": 0, "board": 0, "top": 0, "among": 0, "complete": 0}
        seconds = []
        for course in played_games(rng):
            for (before, _), (after, _) in pairwise(course):
                if row["turns"] == count:
                    break
                if rng.random() > 0.3:
                    continue
                evidence = look(after.position(), kind, rng)
                begun = perf_counter()
                found = search_turns(hidden(before), evidence)
                seconds.append(perf_counter() - begun)
                truth = public_view(after)
                positions = [public_view(turn.state) for turn in found.turns]
                row["turns"] += 1
                row["top"] += positions[:1] == [truth]
                row["among"] += truth in positions
                row["complete"] += found.complete
                row["board"] += (
                    bool(positions) and found.turns[0].state.position()["places"] == after.position()["places"]
                )
            if row["turns"] == count:
                break
        seconds.sort()
        rows.append({**row, "median": round(seconds[count // 2], 3), "p95": round(seconds[int(count * 0.95)], 3)})
    return rows
