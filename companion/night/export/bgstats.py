"""Finished games for BG Stats: one link a game, which the app opens on the phone (nothing is sent anywhere by us).

The form is BG Stats' own ("Push plays to BG Stats from other apps or websites"): a JSON object, URL-encoded. Ids stay
the same for ever, so a game that is pushed twice is recognised, and people and games are matched only once.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from companion.night.export.files import nights
from companion.night.log.journal import Journal
from companion.night.log.match import Match
from companion.night.messages import say
from companion.ports import BadDataError
from companion.rules import games
from companion.rules.rulebook import rulebook

URL = "https://app.bgstatsapp.com/createPlay.html?data="
SOURCE = "Tabletop companion"
LINE = re.compile(r"(?P<game>\S+) +(?P<number>[0-9]{1,9}) *")


def bgg_ids(lines: tuple[str, ...]) -> dict[str, int]:
    """Return BoardGameGeek's numbers as the owner entered them, a line a game: ``GAME 12345``.

    :raises BadDataError: for a line of another form.
    """
    found: dict[str, int] = {}
    for line in lines:
        said = LINE.fullmatch(line)
        if said is None or said["game"] not in games(examples=True):
            raise BadDataError(f"A line is a game and its number, such as {games()[0]} 12345, not {line!r}.")
        found[said["game"]] = int(said["number"])
    return found


def plays(journal: Journal, bgg: Mapping[str, int] | None = None, lang: str = "en") -> list[dict[str, Any]]:
    """Return every game that has ended, oldest first, each with its ``url`` and the ``play`` that the link carries.

    One that was ended early has its standing then, no winner, and a comment that says so (none in which nothing was
    done is among them); one that was kept by its score sheet says that. Comments are in ``lang``.
    """
    found = []
    times = {entry.seq: entry.at for entry in journal.since(0)}
    for projection in nights(journal):
        for match in projection.matches:
            if match.over or (match.ending == "early" and match.steps):
                play = _play(match, times, bgg or {}, lang)
                found.append(
                    {"match": match.id, "play": play, "url": URL + quote(json.dumps(play, ensure_ascii=False))}
                )
    return found


def _play(match: Match, times: Mapping[int, int], bgg: Mapping[str, int], lang: str) -> dict[str, Any]:
    sheet = match.score()
    end = max((times[step.seq] for step in match.steps if step.seq in times), default=match.opened)
    if match.ended is not None:
        end = match.ended.at
    places, early = sheet.ranks, match.ending == "early"
    game: dict[str, Any] = {
        "name": rulebook(match.game.id).name.en,
        "sourceGameId": match.game.id,
        "highestWins": True,
        "noPoints": False,
    }
    if match.game.id in bgg:
        game["bggId"] = bgg[match.game.id]
    play: dict[str, Any] = {
        "sourceName": SOURCE,
        "sourcePlayId": match.id,
        # UTC of the end, as the app wants it.
        "playDate": time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(end / 1000)),
        "game": game,
        "players": [
            {
                "name": seat.name or seat.colour,
                "sourcePlayerId": seat.person or f"{match.id}-{seat.colour}",
                "rank": places[player],
                "score": score.total,
                "winner": places[player] == 1 and not early,
                "startPlayer": False,
                "role": seat.colour,
            }
            for player, (seat, score) in enumerate(zip(match.seats, sheet.sheets, strict=True))
        ],
    }
    if early or match.ending == "sheet":
        play["comments"] = say(f"shared-{match.ending}").of(lang)
    # A clock that was put back in the middle gives no length rather than a wrong one.
    minutes = round((end - match.opened) / 60_000)
    if 0 < minutes < 24 * 60:
        play["durationMin"] = minutes
    return play
