"""A board game as the night sees it: legal moves as taps on the picture, and what each viewer may know.

One class for all games that are played by turns on a drawn board; a game adds what its moves touch and how they are
called. The page needs nothing else of a game: it lights the places of :class:`Tap` on the game's own picture.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from companion.night.games import Placing, Sensor
from companion.night.games.plain import PlainView
from companion.night.messages import Words
from companion.rules.core import (
    CHANCE,
    JSON,
    AmbiguousMoveError,
    InvalidMoveError,
    Move,
    Reason,
    Ruling,
    ScoreSheet,
    State,
)
from companion.rules.i18n import NOTHING, each, joined, same

CLOSING = frozenset({"end", "stop"})
"""Steps that only say that nothing more is done."""


@dataclass(frozen=True, slots=True)
class Tap:
    """A move as somebody taps it.

    ``path`` are the places tapped one after the other, as the picture names them; an element that begins with ``=``
    is a button of its own, whose words are in ``keys``. ``words`` say the move, ``group`` heads those that belong
    together; ``short`` is what is enough below that heading, as the picture writes it. ``cost`` is what it takes of
    the points of the turn (None where the game has none).
    """

    path: tuple[str, ...]
    words: Words
    group: Words = NOTHING
    cost: int | None = None
    keys: tuple[tuple[str, Words], ...] = ()
    short: Words = NOTHING


class BoardView(PlainView):
    """The :class:`companion.night.games.GameView` of a board game; a game's own view fills in the rest."""

    follows = True
    hands: ClassVar[bool] = False
    """Whether players hold what others may not see."""

    # --- what a game adds

    @abstractmethod
    def tap(self, state: State[Any], move: Any) -> Tap:
        """Return how a move is tapped."""

    @abstractmethod
    def prompt(self, state: State[Any]) -> Words:
        """Return what is to be done now, in one sentence."""

    @abstractmethod
    def draw(self, state: State[Any], lang: str, viewer: int | None, move: Any = None) -> str:
        """Return the picture as ``viewer`` (a seat) may see it, with the marks of a move in question."""

    @abstractmethod
    def phase(self, state: State[Any]) -> str:
        """Return the phase as the rules name it."""

    @abstractmethod
    def turn(self, state: State[Any]) -> int:
        """Return whose turn it is, a seat, or -1."""

    @abstractmethod
    def attempts(self, state: State[Any], path: Sequence[str]) -> Iterator[str]:
        """Yield the texts of the moves that somebody may mean who taps these places, legal or not."""

    @abstractmethod
    def notes(self, state: State[Any], seat: int) -> list[Words]:
        """Return what everybody may know of a player beside the score, a few words each."""

    def gestures(self, state: State[Any]) -> list[str]:
        """Return the texts of moves without a place of their own, legal or not: what a dispute may be about."""
        del state
        return []

    def points(self, state: State[Any]) -> int | None:
        """Return the points left in the turn, where the game has them."""
        del state
        return None

    def stand_in(self, state: State[Any]) -> bool:
        """Return whether it is played with pieces that nobody read from a real box."""
        del state
        return False

    def about(self, state: State[Any]) -> list[str]:
        """Return the places that the question of this phase is about."""
        del state
        return []

    def private(self, state: State[Any], seat: int) -> list[Words]:
        """Return what only this player may know, a line each."""
        del state, seat
        return []

    def public(self, state: State[Any], move: Any) -> Any:
        """Return a move as everybody may read it in the log."""
        del state
        return move

    def offered(self, state: State[Any], moves: list[Any], *, drawn: bool) -> list[Any]:
        """Return the moves worth offering; ``drawn``: the companion knows all that is hidden."""
        del state, drawn
        return moves

    def forced(self, state: State[Any]) -> Any | None:
        """Return the step of chance at a table that draws for itself that nobody sees, and so nobody enters."""
        del state
        return None

    def lying_so(self, state: State[Any], places: Mapping[str, JSON], turn: str) -> dict[str, JSON]:
        """Return what of a position changes where its ``places`` lie otherwise and the turn of a colour begins.

        What left the board is where a turn of this game would put it. It is for
        :class:`companion.rules.set_position.SetPosition`, which says whether it is a position at all.
        """
        return {"places": {**state.position()["places"], **places}, "turn": turn}

    def unsaid(self, state: State[Any]) -> Any | None:
        """Return the step that goes without saying: what nobody sees, or the end of a turn without a choice left."""
        if state.to_move == CHANCE:
            return self.forced(state)
        if state.to_move < 0:
            return None
        moves = state.moves()
        first = next(moves, None)
        return first if first is not None and str(first) in CLOSING and next(moves, None) is None else None

    grounds: ClassVar[Mapping[str, Words]] = {}
    """What a ground is called where the rulebook has no word for it."""
    kinds: ClassVar[Mapping[str, Words]] = {}
    """What a piece is called where the rulebook has no word for it."""

    def places(self, state: State[Any], viewer: int | None) -> dict[str, Words]:
        """Return what the places of the picture are called, with what lies there, as ``viewer`` may know it.

        Who cannot see the picture hears this; a place that is not in it is called by its name.
        """
        shown: Any = state.view(viewer)["places"]
        return {name: self._lying(name, place) for name, place in shown.items() if place}

    def _lying(self, name: str, place: Mapping[str, Any]) -> Words:
        parts = [self.both(name)] if place["ground"] == name else [same(name), self.ground(place["ground"])]
        parts += [self._thing(thing) for thing in place["things"]]
        head, *rest = parts
        return LYING.filled({"place": head, "what": joined(rest, ", ")}) if rest else head

    def ground(self, ground: str) -> Words:
        """Return what a ground is called."""
        return self.grounds.get(ground) or self.both(ground)

    def _thing(self, thing: Mapping[str, Any]) -> Words:
        kind = self.kinds.get(thing["kind"]) or self.both(thing["kind"])
        more = [self.both(thing["colour"])] if "colour" in thing else []
        more += [same(str(thing["value"]))] if "value" in thing else []
        count = thing.get("count", 1)
        more += [same(f"×{count}")] if count > 1 else []
        return joined((kind, *more))

    # --- what a night asks of every game

    def round(self, state: State[Any]) -> int | None:
        """Return None: these games count no rounds."""
        del state
        return None

    def shown_round(self, state: State[Any]) -> int | None:
        """Return None: a picture belongs to no round."""
        del state
        return None

    def live(self, state: State[Any]) -> bool:
        """Return False: nobody shakes."""
        del state
        return False

    def hidden(self, state: State[Any]) -> bool:
        """Return False: there are no counts to hide."""
        del state
        return False

    def drawing(self, state: State[Any]) -> bool:
        """Return whether chance is next."""
        return state.to_move == CHANCE

    def revealing(self, move: Any) -> bool:
        """Return whether a move says what a tile, a card or a die shows."""
        return str(move).split()[0] in self.chances

    chances: ClassVar[frozenset[str]] = frozenset()
    """The first words of the moves of chance."""

    def lay(self, state: State[Any], things: Mapping[str, str]) -> list[Move]:
        """Refuse: what lies on the table is entered by ``moves``."""
        raise InvalidMoveError("Enter what lies on the table as moves.")

    def stopping(self, state: State[Any]) -> list[Move]:
        """Return nothing: no round is stopped."""
        del state
        return []

    def placing(self, state: State[Any], move: Any) -> Placing | None:
        """Return None: no igloo wears a sensor here."""
        del state, move
        return None

    def fault(self, state: State[Any], clause: str, colour: str | None) -> Words:
        """Return what a clause says.

        :raises KeyError: when the rulebook has no such clause.
        """
        del state, colour
        return self.book.clause(clause).text

    def dealt(self, moves: Sequence[Any]) -> str:
        """Return the number of steps."""
        return str(len(moves))

    def comparable(self, state: State[Any]) -> bool:
        """Return True: nothing is staked in these games."""
        del state
        return True

    def public_ruling(self, state: State[Any], move: Any) -> Ruling:
        """Return the ruling on a legal move as everybody may read it."""
        return self.book.ruling(True, state.explain_effect(self.public(state, move)), state)

    def colours(self, state: State[Any]) -> tuple[str, ...]:
        """Return the colours in seat order."""
        found: tuple[str, ...] = getattr(state, "colours", ())
        return found

    def players(self, state: State[Any]) -> list[dict[str, JSON]]:
        """Return what the page shows of each player beside name and score."""
        turn = self.turn(state)
        seats = len(state.score().sheets)
        return [
            {"turn": seat == turn, "notes": [words.to_json() for words in self.notes(state, seat)]}
            for seat in range(seats)
        ]

    def table(self, state: State[Any], sensors: Sequence[Sensor]) -> dict[str, JSON]:
        """Return what the page shows without the picture: whose step it is, what is to be done, how it ended."""
        del sensors
        end = state.end_reason
        ruling = self.book.ruling(True, end, state) if end is not None else None
        return {
            "board": True,
            "to_move": state.to_move if state.to_move >= 0 else None,
            "chance": state.to_move == CHANCE,
            "points": self.points(state),
            "prompt": self.prompt(state).to_json(),
            "stand_in": self.stand_in(state),
            "hands": self.hands,
            "arrange": bool(self.arranging(state)),
            "end": None if ruling is None else {**ruling.words.to_json(), "clauses": list(ruling.clauses)},
        }

    def ranking_why(self, state: State[Any], sheet: ScoreSheet) -> Words:
        """Return what decides between the first and the others."""
        del sheet
        reason: Reason | None = state.ranking_reason
        if reason is None:
            return NOTHING
        return self.book.ruling(True, reason, state).words

    # --- what a phone asks

    def taps(self, state: State[Any], seat: int | None, *, drawn: bool) -> list[dict[str, JSON]]:
        """Return the legal moves as ``seat`` (None: a bystander) may see them offered, each as it is tapped."""
        moves = self.offered(state, list(state.moves()), drawn=drawn)
        if drawn and seat != state.to_move:
            moves = [move for move in moves if not self.secret(state, move)]
        found = []
        for move in moves:
            tap = self.tap(state, move)
            found.append(
                {
                    "text": str(move),
                    "path": list(tap.path),
                    **tap.words.to_json(),
                    "group": tap.group.to_json() if tap.group.en else None,
                    "short": tap.short.to_json() if tap.short.en else None,
                    "cost": tap.cost,
                    "keys": {key: words.to_json() for key, words in tap.keys},
                }
            )
        return found

    def name(self, state: State[Any], move: Any) -> Words:
        """Return a move in words, legal or not; one that leads off the board by its text."""
        try:
            return self.tap(state, move).words
        except (IndexError, KeyError):
            return same(str(move))

    def dispute(self, state: State[Any], path: Sequence[str], *, blind: bool) -> list[tuple[Any, Ruling]]:
        """Return the rulings on what somebody may mean who taps these places: the legal ones first.

        Refused ones follow: first those of a kind that is due now, whose reason is the place and not the time. Who is
        ``blind`` may not know the hand of the player to move, and hears nothing that would tell it.
        """
        due = {str(move).split()[0] for move in state.moves()}
        found = []
        for text in dict.fromkeys(self.attempts(state, path)):
            try:
                move = self.rules.parse(text)
            except (InvalidMoveError, AmbiguousMoveError):
                continue
            if blind and self.secret(state, move):
                continue
            found.append((move, state.check(move)))
        return sorted(found, key=lambda one: (not one[1].legal, str(one[0]).split()[0] not in due))


LYING = Words("{place}: {what}")


def fill(words: Words, facts: Mapping[str, object]) -> Words:
    """Return a sentence with facts that may be words themselves, each in its language, and a capital first letter."""
    said = words.filled(facts)
    return each(lambda lang: said.of(lang)[:1].upper() + said.of(lang)[1:])
