"""What a game may offer beside its view, and most do not: a box to enter, cards to teach, photos of cards."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from companion.night.messages import Words
from companion.rules.core import JSON, SetupError, State
from companion.rules.inference.turns import Turn


class BoxContents(Protocol):
    """What an owner may enter of the real box, where the rulebook shows some of its pieces in pictures only."""

    def default(self) -> dict[str, Any]:
        """Return our stand-in, in the form that is kept."""
        ...

    def checked(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return what an owner entered in the form that is kept.

        :raises SetupError: in one sentence, when it cannot be a box of the game.
        """
        ...

    def toml(self, data: Mapping[str, Any]) -> str:
        """Return the file of an owner's box."""
        ...

    def choices(self) -> dict[str, JSON]:
        """Return what may be chosen: faces, dice, how many in all."""
        ...

    def real(self, data: Mapping[str, Any]) -> bool:
        """Return whether a box is a real one and no stand-in."""
        ...

    def setup(self, data: Mapping[str, Any]) -> dict[str, JSON]:
        """Return what the set-up of a match takes from an owner's box."""
        ...

    def in_position(self, data: Mapping[str, Any]) -> dict[str, JSON]:
        """Return what a position says as ``box`` of an owner's box."""
        ...


class PhotoRound(Protocol):
    """A round of cards with igloos on them, read from photos, through the rules."""

    def lying(self, state: State[Any]) -> list[str]:
        """Return the cards on the table, by their names."""
        ...

    def judge(self, cards: Any, state: State[Any] | None = None) -> dict[str, JSON]:
        """Return what a round comes to: ``{"moves", "results", "players", "open", "refused"}``.

        ``cards`` are ``[{"place", "card", "igloos": [{"colour", "number"}]}]``; ``state`` is that of the open match,
        without one the round stands alone.

        :raises SetupError: when the form is broken, or it is no round to be scored.
        """
        ...


@dataclass(frozen=True, slots=True)
class SeenDeal:
    """What cards that were read in a photo are to a deal.

    ``places``: where each lies, in their order; None where it cannot lie there. ``laid``: the new ones by their places,
    as the command ``deal`` takes them. ``wanted``: so many are to be laid. ``missing``: cards that the record has there
    and that were not read. ``twice``: cards that were read in two places, where each can lie once.
    """

    places: tuple[str | None, ...]
    laid: Mapping[str, str]
    wanted: int
    missing: tuple[str, ...]
    twice: frozenset[str]

    @property
    def more_to_come(self) -> bool:
        """Return whether fewer cards were read than are to lie there."""
        there = {place for place in self.places if place is not None and place not in self.laid}
        return len(self.places) < self.wanted + len(there) + len(self.missing)

    @property
    def complete(self) -> bool:
        """Return whether all that is to be laid was read, and all that lay there, each once, and nothing else."""
        whole = len(self.laid) == self.wanted and not self.missing and None not in self.places
        return whole and not self.twice


class PhotoDeal(Protocol):
    """Cards that the table lays in the open, read from a photo, through the rules."""

    def may_lie(self, state: State[Any]) -> list[str]:
        """Return the cards that may lie there, by their names, those that do among them; none while none is laid."""
        ...

    def seen(self, state: State[Any], cards: Sequence[str]) -> SeenDeal:
        """Return what cards that were read, clockwise, are to the deal."""
        ...


class PhotoPlacing(Protocol):
    """Pieces that everybody puts on cards at once, seen by a camera, through the rules."""

    def lying(self, state: State[Any]) -> Mapping[str, str]:
        """Return the cards of a round by their places; none while some are still to be laid, or it is being settled."""
        ...

    def may_place(self, state: State[Any]) -> bool:
        """Return whether pieces are being placed."""
        ...

    def standing(self, state: State[Any]) -> Sequence[tuple[str, str]]:
        """Return (place, colour) of every piece that stands on a card."""
        ...

    def move(self, state: State[Any], place: str, colour: str) -> Any | None:
        """Return the move that places a piece; None where the rules do not allow it."""
        ...


class PhotoCheck(Protocol):
    """What lies under pieces that stand on cards, seen by a camera as they are turned over, through the rules."""

    def lying(self, state: State[Any]) -> Mapping[str, str]:
        """Return the cards that lay when the pieces came to be turned over, by their places; none at other times."""
        ...

    def pieces(self, state: State[Any]) -> Mapping[str, Sequence[tuple[str, int | None]]]:
        """Return the pieces that stood on each card, in the order in which numbers are entered.

        Each is (colour, number or None where none was entered); those of cards that are settled too.
        """
        ...

    def move(self, state: State[Any], place: str, number: int) -> Any | None:
        """Return the move that enters the number of the next piece of a card; None where the rules do not allow it."""
        ...


@dataclass(frozen=True, slots=True)
class OpenRow:
    """What lies in the open: the cards of the row that all may take from, and what is new beside it.

    ``laid`` are the cards that the player to move laid, from the lowest up; ``joined``: whether they were seen to lie
    on what lay there before, so that none of them can be hidden.
    """

    row: tuple[str, ...]
    laid: tuple[str, ...] = ()
    joined: bool = False


@dataclass(frozen=True, slots=True)
class RowTurns:
    """What may have been played: the turns that leave what is seen, each other to look at; ``all_told``: no others do.

    ``hidden``: cards may lie below those that are seen, which only people can tell.
    """

    turns: tuple[Turn, ...]
    all_told: bool = True
    hidden: bool = False


class PhotoOpenRow(Protocol):
    """A row of open cards from which players take in turns, and piles that they lay before themselves."""

    def may_lie(self, state: State[Any]) -> list[str]:
        """Return the cards that may lie in the open, by their names."""
        ...

    def row(self, state: State[Any]) -> tuple[str, ...]:
        """Return the cards of the row; fewer than lie there while it is being filled."""
        ...

    def awaited(self, state: State[Any]) -> int:
        """Return how many cards the row is to get before the first turn; 0 where it lies, or something else is due."""
        ...

    def fill(self, row: Sequence[str]) -> list[str]:
        """Return the moves that lay the row before the first turn."""
        ...

    def tops(self, state: State[Any]) -> tuple[str | None, ...]:
        """Return the open card on top of each seat's pile; None: there is none."""
        ...

    def piles(self, state: State[Any]) -> frozenset[str]:
        """Return the cards that are known to lie in piles: fanned out, they are seen."""
        ...

    def pieces(self, state: State[Any]) -> Mapping[str, int]:
        """Return where each piece stands on the track that all share: its place, counted from 0."""
        ...

    def mover(self, state: State[Any]) -> int:
        """Return the seat whose turn begins here; -1 where none does."""
        ...

    def likely(self, state: State[Any]) -> tuple[Mapping[str, float], Mapping[str, float] | None]:
        """Return how likely each card is laid next by the player to move, and comes into the row; None: it may be any.

        What is not told is impossible.
        """
        ...

    def turns(self, state: State[Any], seen: OpenRow) -> RowTurns:
        """Return the turns that leave what is seen."""
        ...

    def goes_on(self, before: State[Any], turn: Turn, seen: OpenRow) -> bool:
        """Return whether what a turn leaves may as well be seen in its middle."""
        ...

    def part(self, before: State[Any], turns: Sequence[Turn]) -> Turn | None:
        """Return what some turns begin with alike, where only people know how they end, or the next turn tells."""
        ...

    def rests(self, state: State[Any]) -> tuple[Turn, ...]:
        """Return how a turn may end of which such a part is in the record; none elsewhere.

        The first: nothing more was played. The others are what is seen by the pieces on the track.
        """
        ...


@dataclass(frozen=True, slots=True)
class TeachableCards:
    """The cards of a game that a camera can learn, by their names in the order in which they are asked for.

    ``example`` shows how one is written. ``pile`` makes of the kinds of a fanned-out pile, from the bottom up, the
    position in which the first player is scored for it; ``round`` reads a round, ``deal`` the cards that are laid,
    ``placing`` what is put on them, ``check`` what is under that; ``open_row`` follows turns that take cards from a
    row. None: the game has no such thing.
    """

    names: tuple[str, ...]
    example: str
    pile: Callable[[Sequence[str]], dict[str, JSON]] | None = None
    round: PhotoRound | None = None
    deal: PhotoDeal | None = None
    placing: PhotoPlacing | None = None
    check: PhotoCheck | None = None
    open_row: PhotoOpenRow | None = None


Beginning = tuple[dict[str, JSON], list[tuple[str, Words]]]
"""A position in the one form of a board, and what may be laid in it: each thing's id and words."""


# --- an owner's box as a file --------------------------------------------------------------------------------------


def only_known(data: Mapping[str, Any], keys: Collection[str]) -> None:
    """Refuse what no box of a game has.

    :raises SetupError: in one sentence.
    """
    if not isinstance(data, Mapping) or set(data) - set(keys):
        there = ", ".join(keys)
        raise SetupError("A box has {there} and nothing else.", there=there)


def toml_text(value: str) -> str:
    """Return a basic string of TOML: its escapes are those of JSON, and characters outside ASCII may stand."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_value(value: Any) -> str:
    """Return a value of TOML on one line.

    :raises SetupError: for what is neither text nor number, nor made of these.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, str):
        return toml_text(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{toml_text(key)} = {toml_value(one)}' for key, one in value.items())} }}"
    raise SetupError("A box is made of texts and numbers.")
