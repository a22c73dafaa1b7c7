"""A rendered game, followed by the service's camera over HTTP MJPEG: of those that can be rendered, the one named.

What no picture of the board shows, as what a die showed, is entered by hand when the companion asks for it.
Every question is answered with the truth where it is among the candidates; what is entered and is not what lay there is
taken back and counted.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from companion.lab.rows import Row, row
from companion.lab.worlds import boards, filmed, filmed_example, filmed_ice, ice_table, mjpeg
from companion.lab.worlds.traced import ice_team as traced_ice
from companion.lab.worlds.traced import iglu_iglu as traced_iglu
from companion.lab.worlds.traced.film import Course

TURNS = 40
PATIENCE_S = 60.0
LESSON_S = 300.0
"""How long a board that was learnt is waited for."""
TIME_AIM = "median ≤ 1 s, 95 % ≤ 2 s"
UNSEEN_CAUSE = "no picture shows it"
SEED = 61
"""The game, art, lamp and lens; the first stalls of the follower were cured on this one."""


class FilmedGame(Course, Protocol):
    """A game as a camera sees it: its course, and its pictures."""

    @property
    def corners(self) -> list[list[float]] | None:
        """The board's corners as people tap them, where it is not found by itself."""
        ...

    @property
    def lessons(self) -> tuple[tuple[bytes, Any], ...]:
        """Positions that are taught beside the set-up: each as JPEG, with its state."""
        ...

    def frames(self, number: int) -> list[bytes]:
        """Return pictures, as JPEG, of the board after so many turns."""
        ...


FILMS: dict[str, dict[str, Callable[[int, int], FilmedGame]]] = {
    "drawn": {
        filmed.GAME: lambda seed, turns: filmed.Filmed(seed, turns, seed % 2, kept=0.7),
        filmed_example.GAME: lambda seed, turns: filmed_example.FilmedExample(seed, turns, seed % 2),
        ice_table.GAME: lambda seed, turns: filmed_ice.FilmedIce(seed, turns, seed % 2, evening=False),
    },
    "traced": {filmed.GAME: traced_iglu.traced_iglu, ice_table.GAME: traced_ice.traced_ice},
}
"""The games that can be filmed, by seed and turns, in the worlds that draw them."""


@dataclass
class FollowedGame:
    """What came of a game that was followed: ``typed`` turns had to be entered by hand; times in seconds.

    ``among``: questions with the truth among the candidates, ``first``: as the first. ``causes``: of how many questions
    what was the cause (:func:`cause_of`).
    """

    turns: int = 0
    questions: int = 0
    among: int = 0
    first: int = 0
    disagreements: int = 0
    wrong: int = 0
    typed: int = 0
    causes: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    work: list[float] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    """Each question and each wrong entry, in a line: what was played, and what was offered."""


def rows(turns: int = TURNS, seed: int = SEED, game: str = filmed.GAME, world: str = "drawn") -> Iterable[Row]:
    """Follow one game and tell what came of it."""
    film = FILMS[world][game](seed, turns)
    with tempfile.TemporaryDirectory() as folder, mjpeg.MjpegServer(film.frames(0), fps=5) as camera:
        tally, score = followed(Path(folder), film, camera)
    truth = [sheet.total for sheet in film.states[-1].score().sheets]
    yield row("turns followed", tally.turns, note=f"{game}, seed {seed}; {world}, 1280×960, five frames a second")
    yield row("wrong entries", tally.wrong, aim="0")
    yield from question_rows(tally.turns, tally.questions, tally.causes, tally.among, tally.first)
    yield row("disagreements", tally.disagreements)
    yield row("turns typed by hand", tally.typed, aim="0")
    yield row("score at the end is the truth", score == truth, aim="True", note=f"{score}")
    note = "from the first look to the entry or the question, the wait for further pictures too"
    yield from time_rows(tally.seconds, tally.work, note)
    for number, line in enumerate(tally.told, 1):
        yield row(f"looked at, {number}", line.split(":")[0], note=line)


def question_rows(turns: int, asked: int, causes: Counter[str], among: int, first: int) -> Iterable[Row]:
    """Return the rows of the questions of a game: how many a picture could answer, their causes, what they offered."""
    of_sight = asked - causes[UNSEEN_CAUSE]
    note = f"{20 * of_sight / max(1, turns):.1f} in 20 turns"
    yield row("questions that a picture can answer", of_sight, aim="1 in 20", note=note)
    for cause, count in causes.most_common():
        yield row(f"questions: {cause}", count)
    yield row("the truth among the candidates", f"{among} of {asked}", aim="99 %", note=f"the first in {first}")


def time_rows(seconds: Sequence[float], work: Sequence[float], note: str) -> Iterable[Row]:
    """Return the rows of how soon answers came, in seconds, and what of them was the processor's."""
    for what, every, aim in (("to the answer", seconds, TIME_AIM), ("the same, time of the processor", work, "")):
        ordered = sorted(every) or [0.0]
        late = f"95 % {ordered[int(len(ordered) * 0.95)]:.2f} s"
        yield row(what, f"{ordered[len(ordered) // 2]:.2f}", "s", aim, f"{late}; {note}" if every is seconds else late)


def followed(folder: Path, film: FilmedGame, camera: mjpeg.MjpegServer) -> tuple[FollowedGame, list[int]]:
    """Follow a film with the service's camera; return what came of it, and the scores at its end.

    ``camera`` shows the film's first picture; ``folder`` is empty.
    """
    from companion.events.hub import Hub
    from companion.follow.api import FollowService
    from companion.follow.camera import CameraService
    from companion.follow.cards import CardTable
    from companion.follow.evidence import contents_of
    from companion.lab.worlds.table import of_jpeg
    from companion.night.answers import TABLE
    from companion.night.commands.night import Night
    from companion.night.games import shown_games
    from companion.night.log.journal import Journal
    from companion.night.log.pictures import EvidenceStore
    from companion.settings import Settings

    game, tally, count = film.game, FollowedGame(), iter(range(10**6))
    journal = Journal(folder / "journal.sqlite")
    night, settings = Night(journal, Hub(), offered=shown_games(examples=True)), Settings(None)
    camera_service = CameraService(settings, EvidenceStore(folder / "evidence"), on_view=lambda: None)
    tables = folder / "tables"
    cards = CardTable(tables)
    follow_service = FollowService(tables, night, settings, camera_service, cards, on_change=lambda: None)

    def do(command: str, body: dict[str, Any]) -> None:
        answer = night.do(command, body, by=TABLE, action_id=f"bench-{next(count)}")
        assert answer.ok, answer

    def steps() -> int:
        snapshot = night.snapshot()
        return len(snapshot.moves) if snapshot is not None else 0

    def settle(before: int, unseen: list[str]) -> None:
        """Wait for the camera's entry or question; enter what the board does not show, of ``unseen``, as it was."""
        begun = _state(night)

        def done() -> bool:
            if follow_service.status()["asking"] is not None:
                return True
            state = _state(night)
            if (step := unseen_step(state, unseen)) is not None:
                do("moves", {"moves": [step]})
                return False
            return steps() != before and not _is_half(begun, state)

        _until(done)

    do("open-match", {"game": game, "players": boards.players(game), "setup": dict(film.setup)})
    if film.set_up:
        do("moves", {"moves": film.set_up})
    camera_service.use(camera.url)
    try:
        _until(lambda: camera_service.newest() is not None)
        follow_service.start()
        follow_service.calibrate(game, film.corners)
        follow_service.teach(game, None)
        table = follow_service.table_of(game)
        for jpeg, state in film.lessons:
            table.teach(of_jpeg(jpeg), contents_of(state, table.layout))
        table.wait(LESSON_S)
        follow_service.follow(True)
        _until(lambda: follow_service.status()["state"] == "watching")
        for number, played in enumerate(film.played, 1):
            before = steps()
            camera.show(film.frames(number))
            unseen, truth = list(played), film.states[number]
            settle(before, unseen)
            tally.turns += 1
            question = follow_service.open_question()
            if question is not None:
                tally.questions += 1
                tally.disagreements += question.kind == "disagreement"
                tally.causes[cause_of(question, table.learnt(), truth)] += 1
                observed = question.observation
                right = [n for n, c in enumerate(question.candidates) if comes_to(c, observed, played, truth)]
                tally.among += bool(right)
                tally.first += right[:1] == [0]
                tally.told.append(f"turn {number}: {said(question)}; played {played}, right {right}")
                if right:
                    follow_service.answer(question.id, right[0], TABLE)
                    settle(before, unseen)
            elif steps() != before and not is_truth(_state(night), truth):
                tally.wrong += 1
                snapshot = night.snapshot()
                entered = [str(move) for move in snapshot.moves[before:]] if snapshot is not None else []
                tally.told.append(f"turn {number}: wrong, entered {entered}; played {played}")
            if not is_truth(_state(night), truth):
                tally.typed += 1
                if steps() != before:
                    do("undo", {"to": before, "agreed": True})
                do("moves", {"moves": played})
            _until(lambda: follow_service.status()["state"] == "watching" and not table.learning, LESSON_S)
            question = follow_service.open_question()
            if question is not None and question.kind == "disagreement":
                tally.disagreements += 1
                tally.told.append(f"turn {number}, after it: {said(question)}; played {played}")
                follow_service.resolve(question.id, "record")
        tally.seconds, tally.work = follow_service.times(), follow_service.work()
        return tally, [player["score"] for player in night.view()["match"]["players"]]
    finally:
        follow_service.close()
        camera_service.close()
        journal.close()


def cause_of(question: Any, learnt: Mapping[int, int], truth: Any) -> str:
    """Return why something was asked, in words for a table; ``learnt``: what was taught by then, and how many of it."""
    from companion.follow.evidence import never_taught
    from companion.follow.questions import UNSEEN

    observed = question.observation
    if question.kind == UNSEEN:
        return UNSEEN_CAUSE
    if never_taught(observed.before(0), truth, learnt, observed.table.layout):
        return "a thing that was never taught"
    return "nothing fits" if question.kind == "disagreement" else "read unsurely"


def _state(night: Any) -> Any:
    return night.snapshot().states[-1]


def said(question: Any) -> str:
    """Return what a question asks about: its kind, the places that do not fit, and what it offers."""
    offered = [f"{[str(move) for move in c.moves]} {c.p:.3f}" for c in question.candidates]
    return f"{question.kind} at {', '.join(question.places) or 'no place'}, offered {' or '.join(offered) or 'nothing'}"


def _same(state: Any, truth: Any) -> bool:
    """Return whether everybody at the table would say that the positions are the same."""
    from companion.rules.inference.turns import content

    if state is None:
        return False
    one, other = state.position(), truth.position()
    boards = [{name: content(place) for name, place in p["places"].items()} for p in (one, other)]
    return boards[0] == boards[1] and one.get("trophies") == other.get("trophies")


def _is_half(begun: Any, state: Any) -> bool:
    """Return whether the camera has more to enter of the turn that ``begun`` is in."""
    from vision.track.parts import is_half, is_unseen

    return state.outcome() is None and (is_unseen(state) or is_half(begun, state))


def is_truth(state: Any, truth: Any) -> bool:
    """Return whether a record stands where the truth does; where turns are entered in parts, to the last fish."""
    from vision.track.parts import entered_in_parts

    if not _same(state, truth):
        return False
    keys = ("players", "turn", "actions", "phase") if entered_in_parts(truth) else ()
    return all(state.position().get(key) == truth.position().get(key) for key in keys)


def comes_to(candidate: Any, observation: Any, played: list[str], truth: Any) -> bool:
    """Return whether a candidate is what was played, what the board does not show being as it was played."""
    from vision.track.parts import entered_in_parts, is_unseen

    if candidate.state is None or not entered_in_parts(truth):
        return _same(candidate.state, truth)
    guessed = state = observation.tracked.tracker.confirmed[-1 - candidate.back]
    unseen = list(played)
    for move in candidate.moves:
        shown, guessed = not is_unseen(guessed), guessed.after(move)
        if shown:
            while (step := unseen_step(state, unseen)) is not None:
                state = state.after(state.game.parse(step))
            if state.refusal(move) is not None:
                return False
            state = state.after(move)
    while (step := unseen_step(state, unseen)) is not None:
        state = state.after(state.game.parse(step))
    return is_truth(state, truth)


def unseen_step(state: Any, played: list[str]) -> str | None:
    """Return, and take out of what was played, the next step that no board shows; None where another is next.

    It is what came of the same floe. Where the record went another way to the same board, fish that did not freeze
    there are none.
    """
    from vision.track.parts import is_unseen

    if not is_unseen(state):
        return None
    legal, here = set(map(str, state.moves())), state.table.layout.names[state.bears[state.bear]]
    steps = [n for n, text in enumerate(played) if text in legal]
    there = [n for n in steps if n and played[n - 1].split()[-1] == here]
    if there or steps:
        return played.pop((there or steps)[0])
    return "freeze 0" if "freeze 0" in legal else None


def _until(found: Callable[[], bool], seconds: float = PATIENCE_S) -> None:
    end = time.monotonic() + seconds
    while not found() and time.monotonic() < end:
        time.sleep(0.05)
