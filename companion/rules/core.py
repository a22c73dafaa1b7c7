"""What every game offers: moves, states, rulings, scores.

A game is a :class:`Game` that makes immutable :class:`State` values. A state says which moves are legal
(:attr:`State.legal_moves`), why one is or is not (:meth:`State.check`), what comes after (:meth:`State.play`),
everything that is wrong with it (:meth:`State.problems`) and the score sheet, line by line
(:meth:`State.score`). The inner loop works with small :class:`Reason` values (a key and facts); sentences and
clauses are looked up in the rulebook only when somebody asks.

Style: python-chess (moves as values, lazy legal moves, three error classes), scalachess (immutable states),
OpenSpiel (chance is an explicit player).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar, cast

from companion.rules.i18n import Words
from companion.rules.names import LONGEST_NAME, read_name

JSON = Any
"""A JSON value; what it holds is documented per game in ``companion/rules/README.md``."""

CHANCE = -1
"""``to_move`` when the next step is chance, or something hidden that is being revealed."""

ANYBODY = -2
"""``to_move`` when several players act at the same time (shaking in Igloo Pop)."""

NOBODY = -4
"""``to_move`` when the game is over."""


class RulesError(Exception):
    """The base of what the rules raise: one clear sentence, in every language (the English one is the message).

    It is a template where it has ``facts``; a fact that is :class:`Words` itself takes the language.
    """

    def __init__(self, said: str | Words, /, **facts: object) -> None:
        words = Words(said) if isinstance(said, str) else said
        self.words = words.filled(facts) if facts else words
        super().__init__(self.words.en)

    @property
    def en(self) -> str:
        """Return the sentence in English."""
        return self.words.en

    @property
    def fr(self) -> str:
        """Return the sentence in French."""
        return self.words.fr


class InvalidMoveError(RulesError, ValueError):
    """Not a move of this game at all."""


class AmbiguousMoveError(RulesError, ValueError):
    """A move text with more than one reading here."""


class IllegalMoveError(RulesError, ValueError):
    """A move of this game that is not allowed here; ``ruling`` says why."""

    def __init__(self, ruling: Ruling, position: str) -> None:
        super().__init__(
            Words("{ruling} [{clauses}] in {position}"),
            ruling=ruling.words,
            clauses=", ".join(ruling.clauses),
            position=position,
        )
        self.ruling = ruling
        self.position = position


class FormFault(NamedTuple):
    """One thing wrong with a position's form: where (``players[1].colour``; empty: all of it), and the sentence."""

    at: str
    words: Words


class SetupError(RulesError, ValueError):
    """Players, options or a set-up that the rules do not know; the message is one clear sentence.

    ``faults`` is everything that is wrong with the form of a position (:mod:`companion.rules.position_form`).
    """

    faults: tuple[FormFault, ...] = ()


class Move(Protocol):
    """A small hashable value whose text form round-trips: ``game.parse(str(move)) == move``."""

    def __hash__(self) -> int: ...

    def __str__(self) -> str: ...


class Reason(NamedTuple):
    """Why a move is refused, or what it does: the key of a sentence in the clause files, and its facts.

    ``clauses`` is given only where they depend on the case; otherwise the sentence in the clause file has them.
    """

    key: str
    facts: Mapping[str, JSON] = {}
    clauses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ruling:
    """The referee's answer: never a bare False.

    ``status`` is the weakest ground among the clauses: ``text``, ``deduced``, ``outside source``,
    ``house ruling`` or ``unknown``; ``option`` names the option that changes a house ruling, where there is one.
    """

    legal: bool
    clauses: tuple[str, ...]
    facts: Mapping[str, JSON]
    words: Words
    status: str = "text"
    option: str | None = None

    @property
    def en(self) -> str:
        """Return the sentence in English."""
        return self.words.en

    @property
    def fr(self) -> str:
        """Return the sentence in French."""
        return self.words.fr

    def to_json(self) -> dict[str, JSON]:
        """Return the documented form (``referee --json``)."""
        return {
            "legal": self.legal,
            "clauses": list(self.clauses),
            "status": self.status,
            "option": self.option,
            "facts": dict(self.facts),
            **self.words.to_json(),
        }


@dataclass(frozen=True, slots=True)
class Option:
    """A choice the table makes before a game: ``name`` as in the rules reference, ``values[0]`` is the default."""

    name: str
    values: tuple[str | bool | int, ...]
    clause: str

    @property
    def default(self) -> str | bool | int:
        """Return what is played when nobody says otherwise."""
        return self.values[0]


def player_name(name: object) -> str:
    """Return a player's name as it is kept (:mod:`companion.rules.names`).

    :raises SetupError: when it is none.
    """
    kept = read_name(name) if isinstance(name, str) else None
    if kept is None:
        raise SetupError("A player’s name has 1 to {most} characters, all of them visible.", most=LONGEST_NAME)
    return kept


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """One line of a player's sheet: ``what`` keys a sentence in the clause files, with ``facts``."""

    what: str
    points: int
    clauses: tuple[str, ...]
    facts: Mapping[str, JSON]


@dataclass(frozen=True, slots=True)
class PlayerScore:
    """A player's sheet; ``tie_break`` compares after ``total``, larger is better."""

    player: int
    lines: tuple[ScoreLine, ...]
    tie_break: tuple[int, ...] = ()

    @property
    def total(self) -> int:
        """Return the sum of the lines."""
        return sum(line.points for line in self.lines)


@dataclass(frozen=True, slots=True)
class ScoreSheet:
    """All sheets in seat order. ``ranking`` lists places, best first; players who share a place stand together.

    ``places`` is given where the rules rank otherwise than by points (a blocked player has lost, ICE-E.3).
    """

    sheets: tuple[PlayerScore, ...]
    places: tuple[tuple[int, ...], ...] = ()

    @property
    def ranking(self) -> tuple[tuple[int, ...], ...]:
        """Return the places: tuples of player indices, ties together."""
        if self.places:
            return self.places
        order = sorted(self.sheets, key=lambda s: (s.total, s.tie_break), reverse=True)
        places: list[list[int]] = []
        last: tuple[int, tuple[int, ...]] | None = None
        for sheet in order:
            here = (sheet.total, sheet.tie_break)
            if here == last:
                places[-1].append(sheet.player)
            else:
                places.append([sheet.player])
            last = here
        return tuple(tuple(place) for place in places)

    @property
    def ranks(self) -> dict[int, int]:
        """Return each player's place, 1 the best; who shares one leaves free as many below it: 1, 1, 3."""
        found: dict[int, int] = {}
        for place in self.ranking:
            found.update(dict.fromkeys(place, len(found) + 1))
        return found


@dataclass(frozen=True, slots=True)
class Outcome:
    """Who won (several: a shared victory) and the clauses by which the game ended."""

    winners: tuple[int, ...]
    clauses: tuple[str, ...]


class Problem(NamedTuple):
    """One thing wrong with a position: the key of a sentence, its facts, and the clauses it offends."""

    key: str
    facts: Mapping[str, JSON]
    clauses: tuple[str, ...]


M = TypeVar("M", bound=Move)
S = TypeVar("S", bound="State[Any]")


def evenly(moves: Sequence[M]) -> list[tuple[M, float]]:
    """Return moves with the same probability each, as :meth:`State.chances` has them."""
    return [(move, 1 / len(moves)) for move in moves]


class LegalMoves(Generic[M]):
    """A lazy view of the legal moves: ``move in view``, ``bool(view)``, ``len(view)``, iteration."""

    __slots__ = ("_state",)

    def __init__(self, state: State[M]) -> None:
        self._state = state

    def __iter__(self) -> Iterator[M]:
        return self._state.moves()

    def __contains__(self, move: object) -> bool:
        return isinstance(move, self._state.game.move_types) and self._state.refusal(cast("M", move)) is None

    def __bool__(self) -> bool:
        return next(self._state.moves(), None) is not None

    def __len__(self) -> int:
        return sum(1 for _ in self._state.moves())


class State(ABC, Generic[M]):
    """An immutable position of a game. Subclasses hold the fields and implement the abstract methods."""

    __slots__ = ()

    @property
    @abstractmethod
    def game(self) -> Game[M]:
        """Return the game this state belongs to."""

    @property
    @abstractmethod
    def to_move(self) -> int:
        """Return the player's index, or CHANCE, ANYBODY or NOBODY."""

    @abstractmethod
    def moves(self) -> Iterator[M]:
        """Yield every legal move once, as they are found."""

    @abstractmethod
    def refusal(self, move: M) -> Reason | None:
        """Return why ``move`` is refused here, or None when it is legal. Fast: builds no sentence."""

    @abstractmethod
    def explain_effect(self, move: M) -> Reason:
        """Return what a legal ``move`` does here and by which clauses."""

    @abstractmethod
    def after(self, move: M) -> State[M]:
        """Return the state after ``move``, which must be legal: nothing is checked."""

    @abstractmethod
    def problems(self) -> tuple[Problem, ...]:
        """Return everything that is wrong with this position, not only the first."""

    @abstractmethod
    def outcome(self) -> Outcome | None:
        """Return who won, or None while the game goes on."""

    @abstractmethod
    def score(self) -> ScoreSheet:
        """Return the score sheet as it stands now."""

    @abstractmethod
    def position(self) -> dict[str, JSON]:
        """Return the position in the one form of a board (``{"game", "places", …}``)."""

    @property
    def end_reason(self) -> Reason | None:
        """Return how the game ended as a sentence key with facts, or None while it goes on (or has no sentence)."""
        return None

    @property
    def ranking_reason(self) -> Reason | None:
        """Return what decides between the first and the others as it stands, or None where a game has no sentence."""
        return None

    def view(self, player: int | None) -> dict[str, JSON]:
        """Return :meth:`position` without what ``player`` (None: a bystander) may not see."""
        del player
        return self.position()

    def chances(self) -> list[tuple[M, float]]:
        """Return what :meth:`chance` draws from: each move with its probability; together they are 1."""
        return evenly(list(self.moves()))

    def chance(self, rng: Random) -> M:
        """Return a move for CHANCE, drawn as the box would draw it."""
        moves, weights = zip(*self.chances(), strict=True)
        drawn: M = rng.choices(moves, weights)[0]
        return drawn

    @property
    def legal_moves(self) -> LegalMoves[M]:
        """Return the lazy view of the legal moves."""
        return LegalMoves(self)

    def check(self, move: M) -> Ruling:
        """Return the ruling on ``move`` here, legal or not, with clauses, facts and sentences."""
        reason = self.refusal(move)
        legal = reason is None
        return self.game.rulebook.ruling(legal, reason if reason is not None else self.explain_effect(move), self)

    def play(self: S, move: M) -> S:
        """Return the state after ``move``.

        :raises IllegalMoveError: when the rules refuse it; the error carries the ruling.
        """
        if self.refusal(move) is not None:
            raise IllegalMoveError(self.check(move), str(self))
        return self.after(move)  # type: ignore[return-value]


class RulebookApi(Protocol):
    """What a game needs of :mod:`companion.rules.rulebook`: sentences and clauses in every language."""

    def ruling(self, legal: bool, reason: Reason, state: State[Any]) -> Ruling:
        """Return the full ruling for a reason in a state."""
        ...


class Game(ABC, Generic[M]):
    """A game: its name, its options, its set-up and its notation. One instance a game."""

    id: ClassVar[str]
    players: ClassVar[range]
    colours: ClassVar[tuple[str, ...]] = ()
    options: ClassVar[tuple[Option, ...]]
    settable: ClassVar[frozenset[str]] = frozenset()
    """The fields of a position that a table may set while it plays: what lies open, and whose turn it is."""
    move_types: ClassVar[tuple[type, ...]]

    @property
    @abstractmethod
    def rulebook(self) -> RulebookApi:
        """Return the clauses and sentences of this game (loaded when first asked for)."""

    @abstractmethod
    def start(
        self,
        players: Sequence[Mapping[str, JSON]],
        options: Mapping[str, JSON] | None = None,
        setup: Mapping[str, JSON] | None = None,
    ) -> State[M]:
        """Return the first state of a game.

        ``players`` are objects with ``name`` and, where the game has colours, ``colour``, in seat order
        (clockwise). ``setup`` holds what the table knows of the box (per game, documented).

        :raises SetupError: in one sentence, when players, options or set-up do not fit.
        """

    @abstractmethod
    def parse(self, text: str) -> M:
        """Return the move that ``text`` says.

        :raises InvalidMoveError: when it says none.
        """

    @abstractmethod
    def from_position(self, position: Mapping[str, JSON]) -> State[M]:
        """Return a state from the one form of a board; what it does not say is unknown.

        :raises SetupError: when the form itself is broken; a wrong *position* is answered by ``problems()``.
        """

    def seats(self, count: int) -> list[dict[str, JSON]]:
        """Return ``count`` players as a game without people has them: numbered names, and colours in their order.

        :raises SetupError: when the game is not for so many.
        """
        if count not in self.players:
            least, most = self.players[0], self.players[-1]
            raise SetupError(
                "{game} is for {least} to {most} players, not {count}.",
                game=self.id,
                least=least,
                most=most,
                count=count,
            )
        seats: list[dict[str, JSON]] = [{"name": f"Player {n + 1}"} for n in range(count)]
        for seat, colour in zip(seats, self.colours, strict=False):
            seat["colour"] = colour
        return seats

    def settled_options(self, options: Mapping[str, JSON] | None) -> dict[str, JSON]:
        """Return all options with defaults filled in.

        :raises SetupError: for an unknown option or value.
        """
        known = {option.name: option for option in self.options}
        chosen = {name: option.default for name, option in known.items()}
        for name, value in (options or {}).items():
            if name not in known:
                there = ", ".join(known) or "-"
                raise SetupError("{game} has no option {name!r}; it has {there}.", game=self.id, name=name, there=there)
            if not any(value == v and type(value) is type(v) for v in known[name].values):
                allowed = ", ".join(map(str, known[name].values))
                raise SetupError(
                    "Option {name} is one of {allowed}, not {value!r}.", name=name, allowed=allowed, value=value
                )
            chosen[name] = value
        return chosen
