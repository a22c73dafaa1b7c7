"""A game that was played without the companion: kept by its score sheet, or the end of the open one by its totals.

The sheet is a position in the one form of a board. The rules read it and reckon the score, at the moment it is kept and
whenever the journal is read again; no total of a page is ever taken.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any, cast

from msgspec import UnsetType

from companion.night.answers import Role
from companion.night.commands.bodies import KeepSheetBody
from companion.night.commands.context import CommandContext, CommandRefusedError, PlannedEntry, printable, refused, said
from companion.night.commands.seating import right_seats, seated
from companion.night.games import game_view
from companion.rules import game
from companion.rules.core import JSON, Game, RulesError
from companion.rules.i18n import each
from companion.rules.rulebook import rulebook, seats


def new_id() -> str:
    """Return an id that no other night or match has, here or elsewhere."""
    return uuid.uuid4().hex


def keep_sheet(context: CommandContext, asked: KeepSheetBody) -> PlannedEntry:
    """Return the entry that keeps a score sheet: ``{position, players: [{name, colour}]}``, or with ``into`` the match.

    :raises CommandRefusedError: when it is no sheet of a game that is over, the box does not hold it, or a game is
    open.
    """
    position = asked.position
    game_id = position.get("game")
    if not isinstance(game_id, str) or game_id not in context.offered:
        raise refused("bad-input", "bad-field", field="game")
    if context.projection.paused:
        raise refused("paused", "paused")
    if not isinstance(asked.into, UnsetType):
        return _into(context, asked)
    match = context.projection.match
    if match is not None and match.ending is None:
        raise refused("refused", "match-open")
    if isinstance(asked.players, UnsetType):
        raise refused("bad-input", "bad-field", field="players")
    rules = game(game_id)
    sitting, people = seated(asked.players, context.people)
    right_seats(rules, sitting)
    kept = _kept(rules, position, [seat.colour for seat in sitting], context)
    last = context.projection.last_header
    header = {
        "match": new_id(),
        "game": game_id,
        # Who draws in the next game of a series is as it was before.
        "draw": bool(last["draw"]) if last is not None and last["game"] == game_id else True,
        "options": kept.get("options", {}),
        "setup": {},
        "players": [{"person": seat.person, "colour": seat.colour} for seat in sitting],
    }
    return PlannedEntry("keep-sheet", {**header, "position": kept}, people)


def _into(context: CommandContext, asked: KeepSheetBody) -> PlannedEntry:
    """Return the entry by which the open match ends with the totals of a sheet."""
    match = context.running
    if asked.into != match.id or match.ending is not None:
        raise refused("stale", "stale")
    if context.by.role is not Role.HOST:
        raise refused("forbidden", "host-only")
    if asked.position["game"] != match.game.id:
        raise refused("refused", "sheet-other-game", game=rulebook(match.game.id).name.en)
    if not isinstance(asked.players, UnsetType):
        raise refused("bad-input", "bad-body", field="players")
    return PlannedEntry(
        "keep-sheet", {"match": match.id, "position": _kept(match.game, asked.position, list(match.colours), context)}
    )


def _kept(
    rules: Game[Any], position: Mapping[str, JSON], colours: list[str], context: CommandContext
) -> dict[str, JSON]:
    """Return the position as it is kept: as the rules write it, in the order of the seats, without names."""
    players = position.get("players")
    if not isinstance(players, list) or not all(isinstance(player, dict) for player in players):
        raise refused("bad-input", "bad-field", field="players")
    if rules.colours:
        if sorted(str(player.get("colour")) for player in players) != sorted(colours):
            raise refused("refused", "sheet-other-players")
        players = sorted(players, key=lambda player: colours.index(player["colour"]))
    elif len(players) != len(colours):
        raise refused("refused", "sheet-other-players")
    try:
        state = rules.from_position({**_boxed(rules, position, context), "players": _nameless(players)})
        wrong = state.problems()
    except RulesError as error:
        raise said(error) from error
    if wrong:
        book = rulebook(rules.id)
        words = each(lambda lang: printable(book.problem(wrong[0], state, lang)))
        raise CommandRefusedError("refused", words)
    if state.outcome() is None:
        raise refused("refused", "sheet-not-over")
    overfull = game_view(rules.id).overfull(state)
    if overfull is not None:
        raise CommandRefusedError("refused", overfull)
    kept = state.position()
    if list(seats(state)[1] or colours) != colours:
        raise refused("refused", "sheet-other-players")
    kept["players"] = _nameless(cast("list[dict[str, JSON]]", kept["players"]))
    return kept


def _nameless(players: list[dict[str, JSON]]) -> list[dict[str, JSON]]:
    return [{key: value for key, value in player.items() if key != "name"} for player in players]


def _boxed(rules: Game[Any], position: Mapping[str, JSON], context: CommandContext) -> dict[str, JSON]:
    """Return a position with the box as this house's owner entered it, where it says nothing of a box."""
    own = context.boxes.in_position(rules.id)
    return {**position, "box": own} if own and "box" not in position else dict(position)
