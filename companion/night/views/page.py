"""What the page shows: the whole of a night as JSON, made from its projection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from companion.night.log.match import CORRECTION, LogLine, Match, end_is_free, undo_is_free, way_back
from companion.night.log.projection import NightProjection, role_of, seat_names
from companion.night.messages import say
from companion.night.views.summary import story
from companion.rules.core import ScoreLine, ScoreSheet
from companion.rules.i18n import NOTHING
from companion.rules.rulebook import rulebook


def page(projection: NightProjection, damage: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """Return the view of a night; its form is documented at :meth:`companion.night.commands.night.Night.view`."""
    return {
        "seq": projection.seq,
        "state": projection.state_no,
        "night": {"id": projection.id, "opened": projection.opened, "paused": projection.paused},
        "match": _match(projection, projection.match) if projection.match is not None else None,
        "series": _series(projection),
        "log": [_log_line(line) for line in projection.log],
        "damage": list(damage),
    }


def _match(projection: NightProjection, match: Match) -> dict[str, Any]:
    state = match.view.seen(match.state)
    sheet = match.score()
    ending = match.ending
    why = match.view.ranking_why(state, sheet)
    name = rulebook(match.game.id).name
    shown = match.view.table(state, match.sensors())
    if ending == "sheet":
        shown["end"] = None  # a sheet tells the scores, not what ended the game
    return {
        "id": match.id,
        "game": match.game.id,
        "title": name.to_json(),
        "opened": match.opened,
        "options": dict(match.header["options"]),
        "draw": match.draw,
        "phase": match.view.phase(state) if ending is None else "over",
        "round": match.round,
        "moves": len(match.steps),
        "over": ending is not None,
        "ended_by": ending,
        "clock": _clock(match),
        "problem": say("rules-changed", {"seq": match.broken}).to_json() if match.broken is not None else None,
        "players": _players(match, sheet),
        **shown,
        "ranking": [[match.colours[player] for player in place] for place in sheet.ranking],
        "ranking_why": why.to_json(),
        "story": story(match),
        "faults": [
            {
                "seq": fault.seq,
                "clause": fault.clause,
                **fault.words.to_json(),
                "note": fault.note,
                "colour": fault.colour,
                "place": fault.place,
                "motion": fault.motion,
                "kind": fault.kind,
                "round": fault.round,
                "dismissed": fault.dismissed,
            }
            for fault in match.faults.values()
        ],
        "evidence": [
            {key: picture[key] for key in ("sha256", "suffix", "round", "source", "kind", "at")}
            for picture in match.evidence
        ],
        "can_undo": _can_undo(projection, match),
    }


def _clock(match: Match) -> dict[str, int] | None:
    turn, since = match.turn
    return {"minutes": match.minutes, "since": since} if match.minutes and turn >= 0 else None


def _players(match: Match, sheet: ScoreSheet) -> list[dict[str, Any]]:
    corrections = dict.fromkeys(match.colours, 0)
    ranks = sheet.ranks
    for _, colour, points, _ in match.corrections:
        corrections[colour] += points
    return [
        {
            "name": seat.name,
            "colour": seat.colour,
            "score": score.total,
            "place": ranks[score.player],
            "correction": corrections[seat.colour],
            "lines": [_score_line(match, line) for line in score.lines],
            **shown,
        }
        for seat, score, shown in zip(
            match.seats, sheet.sheets, match.view.players(match.view.seen(match.state)), strict=True
        )
    ]


def _score_line(match: Match, line: ScoreLine) -> dict[str, Any]:
    if line.what == CORRECTION:
        words = say("correction-line", line.facts)
    else:
        book = rulebook(match.game.id)
        names = seat_names(match.game, match.seats)
        words = book.line_words(line, names=names, colours=match.colours)
    return {**words.to_json(), "points": line.points, "clauses": list(line.clauses)}


def _can_undo(projection: NightProjection, match: Match) -> dict[str, Any] | None:
    if match.ended is not None:
        line = next((line for line in reversed(projection.log) if line.entry.seq == match.ended.seq), None)
        said = line.words if line is not None else say("ended-early")
        agreement = not end_is_free(match)
        return {"to": len(match.steps), **said.to_json(), "by": match.ended.by, "needs_agreement": agreement}
    if not match.steps:
        return None
    keep = way_back(match)
    first = match.steps[keep]
    line = next((line for line in reversed(projection.log) if line.entry.seq == first.seq), None)
    return {
        "to": keep,
        **(line.words if line is not None else NOTHING).to_json(),
        "by": first.by,
        "needs_agreement": not undo_is_free(match, keep),
    }


def _series(projection: NightProjection) -> dict[str, Any] | None:
    games = projection.series()
    newest = projection.match or (games[-1] if games else None)
    if newest is None or newest.view.series_to is None:
        return None
    winners = projection.series_winners()
    return {
        "game": newest.game.id,
        "games": [{"id": match.id, "scores": match.scores(), "winners": match.winners()} for match in games],
        "totals": {colour: projection.totals().get(colour, 0) for colour in newest.colours},
        "to": newest.view.series_to,
        "winner": winners or None,
        "can_go_on": bool(games) and not winners and (projection.match is None or projection.match.ending is not None),
    }


def _log_line(line: LogLine) -> dict[str, Any]:
    entry = line.entry
    return {
        "seq": entry.seq,
        "at": entry.at,
        "by": role_of(entry),
        "by_id": entry.by,
        "kind": entry.body.get("as", entry.kind) if entry.kind == "moves" else entry.kind,
        "device": entry.device_kind,
        **line.words.to_json(),
        "undone": line.undone,
    }
