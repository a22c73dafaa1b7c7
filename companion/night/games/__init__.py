"""What the night must know of a game beyond its rules: a module of the game's name, imported when it is played."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple, Protocol, cast

from companion.night.games.capabilities import Beginning, BoxContents, TeachableCards
from companion.night.messages import Words
from companion.rules import find_part, games, package_name
from companion.rules.core import JSON, Move, Ruling, ScoreSheet, State


class Placing(NamedTuple):
    """A placement that may wear the sensor: by whom, where, and after how many others on that place."""

    colour: str
    place: str
    after: int


class Sensor(NamedTuple):
    """A placement with a sensor: the igloo's ``key`` (``*``: whichever is connected), and the entry that said so."""

    key: str
    seq: int
    round: int | None
    placing: Placing


class GameView(Protocol):
    """A game as the night sees it. ``state`` is always one of that game's states."""

    @property
    def follows(self) -> bool:
        """Return whether steps of chance follow a player's step at once, in the same entry."""
        ...

    @property
    def series_to(self) -> int | None:
        """Return the points to which several games are added up; None where the rules know no series."""
        ...

    @property
    def box(self) -> BoxContents | None:
        """Return what an owner may enter of the real box; None where the rulebook tells all of it."""
        ...

    @property
    def cards(self) -> TeachableCards | None:
        """Return the cards that a camera can learn; None where there are none."""
        ...

    @property
    def followed(self) -> bool:
        """Return whether every turn can be told from the board: then a camera may follow the game."""
        ...

    def beginning(self, setup: Mapping[str, JSON]) -> Beginning:
        """Return where laying a position by hand begins, with an owner's box and a layout; and what may be laid.

        :raises companion.rules.core.SetupError: for a layout that the game does not have.
        """
        ...

    def overfull(self, state: State[Any]) -> Words | None:
        """Return that a score sheet has more of something than the box, where the rules do not count it; else None."""
        ...

    def draw(self, state: State[Any], lang: str, viewer: int | None, move: Any = None) -> str:
        """Return the picture as ``viewer`` (a seat) may see it, with the marks of a move in question."""
        ...

    def phase(self, state: State[Any]) -> str:
        """Return the phase as the page names it."""
        ...

    def turn(self, state: State[Any]) -> int:
        """Return whose turn it is, a seat; -1 where it is nobody's, or all play at once."""
        ...

    def round(self, state: State[Any]) -> int | None:
        """Return the round, 1 …, where the game has rounds."""
        ...

    def shown_round(self, state: State[Any]) -> int | None:
        """Return the round to which a picture of the table belongs now."""
        ...

    def live(self, state: State[Any]) -> bool:
        """Return whether a live round runs: what is done to a sensor igloo may be a breach then."""
        ...

    def hidden(self, state: State[Any]) -> bool:
        """Return whether nothing may reveal a count: in a live round, and then until its check reveals something."""
        ...

    def revealing(self, move: Any) -> bool:
        """Return whether ``move`` reveals what was hidden: it is not undone without agreement."""
        ...

    def drawing(self, state: State[Any]) -> bool:
        """Return whether the next step is one that the companion may draw (a card of the stack)."""
        ...

    def arranging(self, state: State[Any]) -> list[Any]:
        """Return what the companion may draw of a set-up that the table lays out; nothing outside it."""
        ...

    def unsaid(self, state: State[Any]) -> Any | None:
        """Return the step that goes without saying: what nobody sees, or the end of a turn without a choice left."""
        ...

    def secret(self, state: State[Any], move: Any) -> bool:
        """Return whether ``move`` names what only the player to move may know."""
        ...

    def seen(self, state: State[Any]) -> State[Any]:
        """Return the state as a bystander knows it: what is shown and scored until the end."""
        ...

    def comparable(self, state: State[Any]) -> bool:
        """Return whether scores may be compared with earlier ones: nothing is staked."""
        ...

    def public_ruling(self, state: State[Any], move: Any) -> Ruling:
        """Return the ruling on a legal move as everybody may read it."""
        ...

    def lay(self, state: State[Any], things: Mapping[str, str]) -> list[Move]:
        """Return the moves that enter what the table laid, a place each.

        :raises companion.rules.core.InvalidMoveError: when a place or a thing is none of this game.
        """
        ...

    def stopping(self, state: State[Any]) -> list[Move]:
        """Return the moves by which the table agrees to stop: in Igloo Pop, everybody passes."""
        ...

    def placing(self, state: State[Any], move: Any) -> Placing | None:
        """Return the placement that ``move`` is in ``state``, if it is one that can wear the sensor."""
        ...

    def acting(self, move: Any) -> str | None:
        """Return the colour of whose move it is where all play at once; None where a turn, or nobody, says whose."""
        ...

    def fault(self, state: State[Any], clause: str, colour: str | None) -> Words:
        """Return the sentence for a fault somebody called.

        :raises KeyError: when the rulebook has no such clause.
        """
        ...

    def dealt(self, moves: Sequence[Any]) -> str:
        """Return the things of a deal in a few words that need no language (``4/5, 7``)."""
        ...

    def players(self, state: State[Any]) -> list[dict[str, JSON]]:
        """Return what the page shows of each player, in seat order, beside name and score."""
        ...

    def table(self, state: State[Any], sensors: Sequence[Sensor]) -> dict[str, JSON]:
        """Return what the page shows of the table; nothing that is hidden from a bystander."""
        ...

    def ranking_why(self, state: State[Any], sheet: ScoreSheet) -> Words:
        """Return why the first is first, and what broke each tie below: a sentence each."""
        ...

    def series_winners(self, totals: Mapping[str, int]) -> list[str]:
        """Return who has won the series, nobody while it goes on; several share it."""
        ...


def shown_games(*, examples: bool = False) -> tuple[str, ...]:
    """Return the ids of the games that a night can be played with, without importing them; ``examples``: those too."""
    return tuple(name for name in games(examples=examples) if find_spec(f"{__name__}.{package_name(name)}"))


def game_view(game_id: str) -> GameView:
    """Return the night's view of a game.

    :raises KeyError: when the night cannot show this game.
    """
    found = find_part(__name__, game_id)
    if found is None:
        raise KeyError(game_id)
    return cast("GameView", found.VIEW)
