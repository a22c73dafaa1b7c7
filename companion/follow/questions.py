"""What the camera asks, or says: the forms of it, with the candidates in words and drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

from companion.night.games import game_view
from companion.night.games.board import BoardView
from companion.night.messages import Words
from companion.rules.inference.turns import content
from vision.track import candidate as tracking
from vision.track.candidate import TAKEBACK, UNCHANGED, Candidate, look_alike

if TYPE_CHECKING:
    from companion.follow.evidence import TrackedMatch
    from companion.follow.table_model import SeenTable
    from companion.night.commands.night import MatchSnapshot
    from companion.ports import ByteArray, DeviceKind
    from companion.rules.core import State
    from vision.read.reader import BoardLook
    from vision.track.candidate import TrackingResult

OFFERED = 3
"""Candidates that are drawn in one question."""
TURN, NEW, UNSEEN, DISAGREEMENT = "turn", "new", "unseen", "disagreement"


@dataclass(frozen=True)
class BoardObservation:
    """One look, and what it was looked at for: the night's match then, and the tracker's view of it.

    ``number`` is the picture's, ``kind`` the camera's; ``live``: another picture of the same scene will come.
    """

    number: int
    kind: DeviceKind
    live: bool
    snapshot: MatchSnapshot
    tracked: TrackedMatch
    table: SeenTable
    image: ByteArray
    seen: BoardLook

    def before(self, back: int) -> State[Any]:
        """Return the position in which what a question offers begins, so many turns back."""
        state: State[Any] = self.tracked.tracker.confirmed[-1 - back]
        return state


@dataclass(frozen=True)
class RowObservation:
    """A look at open cards, and the night's match then; ``number`` is the picture's, ``kind`` the camera's."""

    number: int
    kind: DeviceKind
    snapshot: MatchSnapshot

    def before(self, back: int) -> State[Any]:
        """Return the position in which what a question offers begins; of these, always the record's."""
        del back
        return self.snapshot.states[-1]


@dataclass(frozen=True)
class OpenQuestion:
    """An open question.

    ``kind``: ``turn`` (which of these was played?), ``new`` (the same, because a thing is there that was never
    taught), ``unseen`` (the same, of what leaves the same picture: only people can tell) or ``disagreement``.
    ``places`` are where what is seen does not fit.
    """

    id: str
    kind: str
    candidates: tuple[Candidate, ...]
    places: tuple[str, ...]
    observation: BoardObservation | RowObservation

    def to_json(self, lang: str) -> dict[str, Any]:
        """Return the question for the page, its pictures in a language."""
        view = game_view(self.observation.snapshot.game)
        state = self.observation.snapshot.states[-1]
        drawn = view.draw(state, lang, None) if isinstance(view, BoardView) else ""
        steps = [_steps(self, candidate) for candidate in self.candidates]
        common = _common(steps) if len(steps) > 1 else Counter()
        parted = [_parted(turn, common) for turn in steps]
        return {
            "id": self.id,
            "kind": self.kind,
            "game": self.observation.snapshot.game,
            "places": list(self.places),
            "svg": drawn,
            "number": self.observation.number,
            "played": [words.to_json() for shared, _ in parted[:1] for words in shared],
            "candidates": [
                {
                    "n": n,
                    "kind": candidate.kind,
                    "p": round(candidate.p, 3),
                    "back": candidate.back,
                    "moves": [words.to_json() for words in parted[n][1]],
                    "places": changed(state, candidate),
                    "svg": view.draw(candidate.state, lang, None)
                    if isinstance(view, BoardView) and candidate.state is not None and self.kind != UNSEEN
                    else "",
                }
                for n, candidate in enumerate(self.candidates)
            ],
        }


def asked_of(answer: TrackingResult) -> tuple[str, tuple[Candidate, ...]]:
    """Return the kind of the question that is asked where the tracker is not sure, and its candidates."""
    if answer.state == tracking.QUESTION and not answer.places:
        same = look_alike(answer.candidates)
        if len(same) > 1:
            return UNSEEN, same
    return DISAGREEMENT if answer.state == tracking.DISAGREEMENT else TURN, answer.candidates


def offered(candidates: Iterable[Candidate], kind: str) -> tuple[Candidate, ...]:
    """Return the candidates that a question shows: the likeliest few that are a position at all.

    Of what no picture tells all: nothing is drawn of them.
    """
    return tuple([c for c in candidates if c.state is not None][: None if kind == UNSEEN else OFFERED])


def _steps(question: OpenQuestion, candidate: Candidate) -> list[tuple[str, Words]]:
    """Return the steps of a candidate that the board tells, as text and in words; not those that only end something."""
    view = game_view(question.observation.snapshot.game)
    if candidate.kind in (UNCHANGED, TAKEBACK) or not isinstance(view, BoardView):
        return []
    state = question.observation.before(candidate.back)
    said = []
    for move in candidate.told:
        if str(move) != "end":
            said.append((str(move), view.name(state, move)))
        state = state.after(move)
    return said


def _common(steps: Sequence[list[tuple[str, Words]]]) -> Counter[str]:
    """Return how often each step belongs to every one of some turns."""
    counted = [Counter(text for text, _ in turn) for turn in steps]
    return reduce(and_, counted) if counted else Counter()


def _parted(turn: Sequence[tuple[str, Words]], common: Counter[str]) -> tuple[list[Words], list[Words]]:
    """Return the steps of a turn in words: those that are common ones, and the others."""
    left = Counter(common)
    shared: list[Words] = []
    own: list[Words] = []
    for text, words in turn:
        (shared if left[text] else own).append(words)
        left[text] -= left[text] > 0
    return shared, own


def changed(before: State[Any], candidate: Candidate) -> list[str]:
    """Return the places that a candidate leaves otherwise than the record has them."""
    if candidate.state is None:
        return []
    was, now = before.position()["places"], candidate.state.position()["places"]
    return [name for name in now if content(was[name]) != content(now[name])]
