"""The album: the games of an evening that have come to an end, each with its last picture. A reading of the journal.

A live game is never in it. Tonight's games are those of the open night; an earlier evening is read from the journal
when somebody leafs back to it, and only the one read last is kept in memory, by the last state of each of its games.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any, TypedDict

from companion.night.commands.night import Night
from companion.night.games import GameView
from companion.night.log.journal import Journal
from companion.night.log.match import Match
from companion.night.log.projection import NightProjection
from companion.rules.core import State
from companion.rules.rulebook import rulebook


class AlbumPlayer(TypedDict):
    """A player of a game: ``score`` in points, ``place`` 1, 1, 3 …"""

    name: str
    colour: str
    score: int
    place: int


class AlbumGame(TypedDict):
    """A game of the album: ``title`` by language, ``opened`` UTC milliseconds, players in their ranking.

    ``ended`` is ``rules``, ``sheet`` or ``early``; ``drawn`` is whether there is a picture of it: a score sheet tells
    what was counted, not how the table lay. ``photos`` are the SHA-256 of the pictures that were kept with it, oldest
    first.
    """

    match: str
    game: str
    title: dict[str, str]
    opened: int
    ended: str
    drawn: bool
    players: list[AlbumPlayer]
    photos: list[str]


class AlbumNight(TypedDict):
    """An evening: ``night`` names it, ``earlier`` and ``later`` those beside it; ``opened`` is UTC milliseconds."""

    night: int
    opened: int | None
    earlier: int | None
    later: int | None
    games: list[AlbumGame]


@dataclass(frozen=True, slots=True)
class _Kept:
    """A game of the album and what its picture is drawn from."""

    form: AlbumGame
    view: GameView
    state: State[Any] | None


class Album:
    """The album of a data folder. Thread-safe; the night goes on while an earlier evening is read."""

    def __init__(self, journal: Journal, night: Night) -> None:
        """Read nothing yet."""
        self._journal, self._night = journal, night
        self._lock = threading.Lock()
        self._known: tuple[tuple[int, int, int], int | None, list[_Kept]] | None = None

    def night(self, first: int | None = None) -> AlbumNight | None:
        """Return the evening that begins with entry ``first`` (None: tonight), games in order; None where none does.

        Evenings in which no entry followed the first are passed over when somebody leafs.
        """
        nights = self._journal.nights()
        at = next((i for i, (begun, _) in enumerate(nights) if begun == first), None if first else len(nights) - 1)
        if at is None:
            return None
        if at == len(nights) - 1:
            with self._night.standing() as projection:
                opened, games = projection.opened, [_form(match) for match in _ended(projection)]
        else:
            opened, kept = self._read(*nights[at])
            games = [one.form for one in kept]
        return {
            "night": nights[at][0],
            "opened": opened,
            "earlier": next((begun for begun, last in reversed(nights[:at]) if last > begun), None),
            "later": next((begun for begun, last in nights[at + 1 :] if last > begun or begun == nights[-1][0]), None),
            "games": games,
        }

    def picture(self, first: int, match: str, lang: str) -> str | None:
        """Return the last picture of a game of that evening (SVG), as all may see it; None where there is none."""
        nights = self._journal.nights()
        found = next((one for one in nights if one[0] == first), None)
        if found is None:
            return None
        if found == nights[-1]:
            with self._night.standing() as projection:
                games = [_kept(one) for one in _ended(projection) if one.id == match]
        else:
            games = self._read(*found)[1]
        kept = next((one for one in games if one.form["match"] == match), None)
        return None if kept is None or kept.state is None else kept.view.draw(kept.state, lang, None)

    def _read(self, first: int, last: int) -> tuple[int | None, list[_Kept]]:
        """Return when an earlier evening was opened, and its games."""
        with self._lock:
            key = first, last, self._night.reading
            if self._known is None or self._known[0] != key:
                self._known = None
                projection = NightProjection(self._journal.people(), self._journal.same())
                for entry in self._journal.since(first - 1, before=last + 1):
                    projection.apply(entry)
                self._known = key, projection.opened, [_kept(match) for match in _ended(projection)]
            return self._known[1:]


def _ended(projection: NightProjection) -> list[Match]:
    """Return the games that have come to an end; one in which nothing was done is none."""
    return [one for one in projection.matches if one.ending == "sheet" or (one.ending is not None and one.steps)]


def _kept(match: Match) -> _Kept:
    return _Kept(_form(match), match.view, _shown(match))


def _shown(match: Match) -> State[Any] | None:
    """Return what is drawn: of a game that did not come to its end hands are still nobody else's."""
    if match.ending == "sheet":
        return None
    return match.state if match.ending == "rules" else match.view.seen(match.state)


def _form(match: Match) -> AlbumGame:
    ending = match.ending or ""
    sheet = match.score()
    ranks = sheet.ranks
    players: list[AlbumPlayer] = [
        {"name": seat.name, "colour": seat.colour, "score": one.total, "place": ranks[one.player]}
        for seat, one in zip(match.seats, sheet.sheets, strict=True)
    ]
    return {
        "match": match.id,
        "game": match.game.id,
        "title": rulebook(match.game.id).name.to_json(),
        "opened": match.opened,
        "ended": ending,
        "drawn": ending != "sheet",
        "players": sorted(players, key=lambda one: one["place"]),
        "photos": list(dict.fromkeys(one["sha256"] for one in match.evidence)),
    }
