"""What people came to over all nights: games played and won, by game and by night. A reading of the journal.

A night that is over is read once; what it came to is kept beside the journal, by the ids of people, never by names.
"""

from __future__ import annotations

from typing import Any, TypedDict

from companion.night.commands.night import Night
from companion.night.log.journal import Journal
from companion.night.log.match import Match
from companion.night.log.projection import NightProjection

NightSummary = dict[str, Any]


def summarise(projection: NightProjection) -> NightSummary:
    """Return what a night came to: ``{"opened", "games": [{"game", "at", "seats": [{"person", "score", "place"}]}]}``.

    Only games that the rules have ended are in it, and only seats of people who gave a name.
    """
    return {"opened": projection.opened, "games": [_game(match) for match in projection.matches if match.over]}


def _game(match: Match) -> NightSummary:
    sheet = match.score()
    places = sheet.ranks
    return {
        "game": match.game.id,
        "at": match.opened,
        "seats": [
            {"person": seat.person, "score": one.total, "place": places[one.player]}
            for seat, one in zip(match.seats, sheet.sheets, strict=True)
            if seat.person is not None
        ],
    }


class GameFigures(TypedDict):
    """What somebody achieved in a game; ``mean`` and ``best`` are scores."""

    game: str
    played: int
    won: int
    best: int
    mean: float


class NightFigures(TypedDict):
    """What somebody played in a night, which began ``at`` (UTC milliseconds)."""

    at: int
    played: int
    won: int


NEWEST = 24
"""Games whose ends are told one by one."""


class RivalFigures(TypedDict):
    """Games that two people played together: in how many the one came before the other, and the other way round."""

    person: str
    played: int
    before: int
    behind: int


class PlayerFigures(TypedDict):
    """What somebody played; a shared victory counts as won; ``last`` is when the last game was opened.

    ``streak`` is how many of the newest games were won one after the other, ``longest`` the most that ever were,
    ``newest`` which of the newest games were won (1) and which were not (0), the oldest of them first;
    ``rivals`` are those who played against this person, who did so most often first.
    """

    nights: int
    played: int
    won: int
    last: int
    streak: int
    longest: int
    newest: list[int]
    rivals: list[RivalFigures]
    games: list[GameFigures]
    course: list[NightFigures]


class Statistics:
    """The statistics of everybody. Thread-safe; the night goes on while nights that are over are read."""

    def __init__(self, journal: Journal, night: Night) -> None:
        self._journal, self._night = journal, night

    def nights(self) -> list[NightSummary]:
        """Return what every night came to, oldest first, as :func:`summarise` does."""
        *over, _ = self._journal.nights()
        found = [self._over(first, last) for first, last in over]
        with self._night.standing() as projection:
            found.append(summarise(projection))
        return found

    def _over(self, first: int, last: int) -> NightSummary:
        known: NightSummary | None = self._journal.summary(first, last)
        if known is None:
            projection = NightProjection({})
            for entry in self._journal.since(first - 1, before=last + 1):
                projection.apply(entry)
            known = summarise(projection)
            self._journal.keep_summary(first, last, known)
        return known

    def people(self) -> dict[str, PlayerFigures]:
        """Return everybody's figures by id."""
        same = self._journal.same()
        found: dict[str, dict[str, Any]] = {}
        for night in self.nights():
            here: dict[str, dict[str, int]] = {}
            for one in night["games"]:
                seats = [(same.get(seat["person"], seat["person"]), seat) for seat in one["seats"]]
                for person, seat in seats:
                    won = int(seat["place"] == 1)
                    statistics = found.setdefault(person, _nothing())
                    statistics["streak"] = won and statistics["streak"] + 1
                    statistics["longest"] = max(statistics["longest"], statistics["streak"])
                    statistics["newest"] = [*statistics["newest"], won][-NEWEST:]
                    for rival, other in seats:
                        if rival != person:
                            met = statistics["rivals"].setdefault(rival, [0, 0, 0])
                            met[0] += 1
                            met[1] += seat["place"] < other["place"]
                            met[2] += seat["place"] > other["place"]
                    statistics["played"] += 1
                    statistics["won"] += won
                    statistics["last"] = max(statistics["last"], one["at"])
                    statistics["by"].setdefault(one["game"], []).append((seat["score"], won))
                    tonight = here.setdefault(person, {"at": night["opened"], "played": 0, "won": 0})
                    tonight["played"] += 1
                    tonight["won"] += won
            for person, tonight in here.items():
                found[person]["course"].append(tonight)
        return {
            person: {
                "nights": len(statistics["course"]),
                "played": statistics["played"],
                "won": statistics["won"],
                "last": statistics["last"],
                "streak": statistics["streak"],
                "longest": statistics["longest"],
                "newest": statistics["newest"],
                "rivals": _rivals(statistics["rivals"]),
                "games": [_by_game(game, results) for game, results in statistics["by"].items()],
                "course": statistics["course"],
            }
            for person, statistics in found.items()
        }


def _nothing() -> dict[str, Any]:
    numbers = dict.fromkeys(("played", "won", "last", "streak", "longest"), 0)
    return {**numbers, "newest": [], "rivals": {}, "by": {}, "course": []}


def _rivals(met: dict[str, list[int]]) -> list[RivalFigures]:
    often = sorted(met.items(), key=lambda one: -one[1][0])
    return [{"person": who, "played": all_, "before": over, "behind": under} for who, (all_, over, under) in often]


def _by_game(game: str, results: list[tuple[int, int]]) -> GameFigures:
    scores = [score for score, _ in results]
    return {
        "game": game,
        "played": len(results),
        "won": sum(won for _, won in results),
        "best": max(scores),
        "mean": round(sum(scores) / len(scores), 1),
    }
