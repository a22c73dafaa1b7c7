"""What may be asked of a night, by whom, and what entry it becomes: planning only, nothing is written here."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from companion.night.answers import TABLE, Actor, Role
from companion.night.commands.context import (
    NAME_LENGTH,
    NOTE_LENGTH,
    Command,
    CommandContext,
    CommandRefusedError,
    PlannedEntry,
    printable,
    refused,
    said,
)
from companion.night.commands.score_sheet_entry import keep_sheet, new_id
from companion.night.commands.seating import right_seats, seated
from companion.night.log.match import Match, Seat, undo_is_free
from companion.night.log.projection import start
from companion.rules import game
from companion.rules.core import InvalidMoveError, Move, RulesError, SetupError, State
from companion.rules.rulebook import rulebook

MOST_MOVES = 100
"""Moves in one command."""
MOST_POINTS = 200
"""The largest correction at a time."""


def plan(command: str, context: CommandContext, state: int | None) -> PlannedEntry:
    """Return the entry that a command becomes.

    :raises CommandRefusedError: when it is not to be done; nothing has changed then.
    """
    known = COMMANDS.get(command)
    if known is None:
        raise refused("bad-input", "bad-command", command=printable(command)[:NAME_LENGTH])
    role = context.by.role
    if role is Role.SPECTATOR:
        raise refused("forbidden", "watch-only")
    if known.host and role is not Role.HOST:
        raise refused("forbidden", "host-only")
    for name in context.body:
        if name not in known.fields:
            raise refused("bad-input", "bad-body", field=printable(str(name))[:NAME_LENGTH])
    if known.stale and state is not None and state != context.projection.state_no:
        raise refused("stale", "stale")
    return known.plan(context)


# --- the night and its matches -----------------------------------------------------------------------------------


def _open_night(context: CommandContext) -> PlannedEntry:
    if context.projection.match is not None and context.projection.match.ending is None:
        raise refused("refused", "match-open")
    return PlannedEntry("open-night", {"night": new_id()})


def _open_match(context: CommandContext) -> PlannedEntry:
    if context.projection.paused:
        raise refused("paused", "paused")
    if context.projection.match is not None and context.projection.match.ending is None:
        raise refused("refused", "match-open")
    game_id = context.body.get("game")
    if not isinstance(game_id, str) or game_id not in context.offered:
        raise refused("bad-input", "bad-field", field="game")
    rules = game(game_id)
    raw = context.body.get("players")
    if not isinstance(raw, list) or not raw or not all(isinstance(p, dict) for p in raw):
        raise refused("bad-input", "bad-field", field="players")
    header: dict[str, Any] = {"match": new_id(), "game": game_id, "draw": context.flag("draw")}
    for name in ("options", "setup"):
        value = context.body.get(name, {})
        if not isinstance(value, dict):
            raise refused("bad-input", "bad-field", field=name)
        header[name] = value
    seats, people = seated(raw, context.people)
    # What the set-up does not say of the box is what this house's owner entered.
    header["setup"] = {**context.boxes.setup(game_id), **header["setup"]}
    header["players"] = [{"person": seat.person, "colour": seat.colour} for seat in seats]
    try:
        header["options"] = rules.settled_options(header["options"])
        right_seats(rules, seats)
        start(rules, seats, header)
    except SetupError as error:
        raise said(error) from error
    return PlannedEntry("open-match", header, people)


def _next_game(context: CommandContext) -> PlannedEntry:
    projection = context.projection
    if projection.paused:
        raise refused("paused", "paused")
    if projection.match is not None and projection.match.ending is None:
        raise refused("refused", "not-over")
    if projection.last_header is None:
        raise refused("refused", "no-series")
    if projection.series_winners():
        raise refused("refused", "series-over")
    header = {**projection.last_header, "match": new_id(), "setup": context.boxes.setup(projection.last_header["game"])}
    rules = game(header["game"])
    try:
        start(rules, tuple(Seat(p["person"], "", p["colour"]) for p in header["players"]), header)
    except SetupError as error:  # a game that was only counted may have had seats or options that do not begin one
        raise said(error) from error
    return PlannedEntry("next-game", header)


def _close_match(context: CommandContext) -> PlannedEntry:
    if context.projection.match is None:
        raise refused("no-match", "no-match")
    return PlannedEntry("close-match", {"match": context.projection.match.id})


def _end_early(context: CommandContext) -> PlannedEntry:
    match = context.match
    if match.ending is not None:
        raise refused("refused", "ended-already")
    return PlannedEntry("end-early", {"match": match.id})


def _pause(context: CommandContext) -> PlannedEntry:
    if context.projection.paused:
        raise refused("paused", "paused")
    return PlannedEntry("pause", {})


def _resume(context: CommandContext) -> PlannedEntry:
    if not context.projection.paused:
        raise refused("refused", "not-paused")
    return PlannedEntry("resume", {})


# --- moves -------------------------------------------------------------------------------------------------------


def _moves(context: CommandContext) -> PlannedEntry:
    match = context.running
    texts = context.body.get("moves")
    if not isinstance(texts, list) or not 0 < len(texts) <= MOST_MOVES or not all(isinstance(t, str) for t in texts):
        raise refused("bad-input", "bad-field", field="moves")
    moves = _played(match, [_parsed(match, text) for text in texts], context.by)
    body: dict[str, Any] = {"moves": moves}
    if match.view.follows:
        after, drawn = _followed(match, moves, context.rng)
        body["moves"] = [*moves, *after]
        if drawn:
            body["drawn"] = True
    sensor = context.body.get("sensor", False)
    if sensor is not False:
        body["sensor"] = _sensor_key(match, sensor, len(moves))
    return PlannedEntry("moves", body)


def _parsed(match: Match, text: str) -> Move:
    try:
        move: Move = match.game.parse(text)
    except RulesError as error:
        raise said(error) from error
    return move


def _played(match: Match, moves: list[Move], by: Actor | None = None) -> list[str]:
    """Return the moves as text when the rules allow all of them, one after the other.

    Where the companion draws, nobody chooses what comes off the stack, and a hand is played by its owner only: a
    refusal would tell others what is in it. Where the table draws, what goes without saying is put in between.
    """
    state: State[Any] = match.state
    texts: list[str] = []
    for move in moves:
        if by is not None and match.draw and match.view.secret(state, move) and not _owns(match, state, by):
            raise refused("forbidden", "not-your-seat")
        while not match.draw and state.refusal(move) is not None and (step := match.view.unsaid(state)) is not None:
            texts.append(str(step))
            state = state.after(step)
        if state.refusal(move) is not None:
            ruling = state.check(move)
            raise CommandRefusedError("refused", ruling.words, ruling)
        if match.draw and match.view.drawing(state):
            raise refused("refused", "companion-draws")
        texts.append(str(move))
        state = state.after(move)
    return texts


def _owns(match: Match, state: State[Any], by: Actor) -> bool:
    return by.id == TABLE.id or (state.to_move >= 0 and by.colour == match.colours[state.to_move])


def _followed(match: Match, moves: list[str], rng: Random) -> tuple[list[str], bool]:
    """Return the steps that follow by themselves, and whether the companion drew one of them.

    They are what the companion draws, where it does, and otherwise what nobody at the table sees.
    """
    state: State[Any] = match.state
    for text in moves:
        state = state.after(match.game.parse(text))
    found: list[str] = []
    drawn = False
    while True:
        by_chance = match.draw and match.view.drawing(state)
        move = state.chance(rng) if by_chance else match.view.unsaid(state)
        if move is None:
            break
        drawn = drawn or by_chance
        found.append(str(move))
        state = state.after(move)
    return found, drawn


def _sensor_key(match: Match, sensor: object, moves: int) -> str:
    key = "*" if sensor is True else sensor
    if not isinstance(key, str) or not 0 < len(key) <= NOTE_LENGTH or not key.isprintable():
        raise refused("bad-input", "bad-field", field="sensor")
    return key


def _sensor_checked(context: CommandContext) -> PlannedEntry:
    planned = _moves(context)
    key = planned.body.get("sensor")
    if key is None:
        return planned
    match = context.match
    texts = planned.body["moves"]
    if len(texts) != 1 or match.view.placing(match.state, match.game.parse(texts[0])) is None:
        raise refused("refused", "sensor-alone")
    if any(worn.key == key or "*" in (worn.key, key) for worn in match.sensors()):
        raise refused("refused", "sensor-twice")
    return planned


def _deal(context: CommandContext) -> PlannedEntry:
    match = context.running
    if "cards" not in context.body:
        return _drawn(context, match)
    cards = context.body["cards"]
    if (
        not isinstance(cards, dict)
        or not 0 < len(cards) <= MOST_MOVES
        or not all(isinstance(v, str) for v in cards.values())
    ):
        raise refused("bad-input", "bad-field", field="cards")
    try:
        moves = match.view.lay(match.state, cards)
    except InvalidMoveError as error:
        raise said(error) from error
    return PlannedEntry("moves", {"moves": _played(match, moves), "as": "deal"})


def _drawn(context: CommandContext, match: Match) -> PlannedEntry:
    """Draw as the box would; what was drawn is journalled, so a replay needs no dice."""
    state: State[Any] = match.state
    if not match.draw and not match.view.arranging(state):
        raise refused("refused", "table-draws")
    moves: list[str] = []
    while match.view.drawing(state):
        move = state.chance(context.rng) if match.draw else _arranged(match, state, context.rng)
        if move is None:
            break
        moves.append(str(move))
        state = state.after(move)
    if not moves:
        raise refused("refused", "nothing-to-draw")
    return PlannedEntry("moves", {"moves": moves, "as": "deal", "drawn": True})


def _arranged(match: Match, state: State[Any], rng: Random) -> Move | None:
    """Return a step of the set-up as the box would give it, or what goes without saying; None where neither is due."""
    choices = match.view.arranging(state)
    if not choices:
        unsaid: Move | None = match.view.unsaid(state)
        return unsaid
    weights = {move: weight for move, weight in state.chances() if move in choices}
    drawn: Move = rng.choices(list(weights), list(weights.values()))[0] if weights else rng.choice(choices)
    return drawn


def _check(context: CommandContext) -> PlannedEntry:
    match = context.running
    moves = match.view.stopping(match.state)
    if not moves:
        raise refused("refused", "nobody-to-pass")
    return PlannedEntry("moves", {"moves": _played(match, moves), "as": "check"})


def _undo(context: CommandContext) -> PlannedEntry:
    match = context.match
    steps = match.steps
    if match.ended is not None:
        keep = context.whole("to", len(steps), len(steps))
        context.agreed()
        return PlannedEntry("undo", {"to": keep, "from": keep, "agreed": True})
    if not steps:
        raise refused("refused", "nothing-to-undo")
    keep = context.whole("to", 0, len(steps) - 1)
    agreed = context.flag("agreed")
    if agreed or not undo_is_free(match, keep, context.by.id):
        context.agreed()
    return PlannedEntry("undo", {"to": keep, "from": len(steps), "agreed": agreed})


# --- what the table agrees on, and faults ------------------------------------------------------------------------


def _correct(context: CommandContext) -> PlannedEntry:
    match = context.match
    colour = _colour(context, match)
    points = context.whole("points", -MOST_POINTS, MOST_POINTS)
    if points == 0:
        raise refused("bad-input", "bad-field", field="points")
    reason = context.text("reason", NOTE_LENGTH)
    context.agreed()
    return PlannedEntry("correct", {"colour": colour, "points": points, "reason": reason})


def _colour(context: CommandContext, match: Match) -> str:
    colour = context.body.get("colour")
    if not isinstance(colour, str):
        raise refused("bad-input", "bad-field", field="colour")
    if colour not in match.colours:
        book, kept = rulebook(match.game.id), printable(colour)[:NAME_LENGTH]
        raise refused("bad-input", "no-such-colour", colour=book.words(kept))
    return colour


def _fault(context: CommandContext) -> PlannedEntry:
    match = context.match
    clause = context.text("clause", NAME_LENGTH)
    colour = _colour(context, match) if context.body.get("colour") is not None else None
    note = context.text("note", NOTE_LENGTH, missing="")
    try:
        match.view.fault(match.state, clause, colour)
    except KeyError:
        raise refused("bad-input", "no-such-clause", clause=clause) from None
    return PlannedEntry("fault", {"clause": clause, "colour": colour, "note": note, "round": match.round})


def _dismiss_fault(context: CommandContext) -> PlannedEntry:
    match = context.match
    seq = context.whole("fault", 1, 2**53)
    fault = match.faults.get(seq)
    if fault is None or fault.dismissed:
        raise refused("refused", "no-such-fault")
    context.agreed()
    return PlannedEntry("dismiss-fault", {"fault": seq})


COMMANDS: Mapping[str, Command] = {
    "open-night": Command(_open_night, host=True),
    "open-match": Command(_open_match, frozenset({"game", "players", "options", "setup", "draw"}), host=True),
    "next-game": Command(_next_game, host=True),
    "close-match": Command(_close_match, host=True),
    "end-early": Command(_end_early, host=True),
    "keep-sheet": Command(keep_sheet, frozenset({"players", "position", "into"})),
    "pause": Command(_pause),
    "resume": Command(_resume),
    "moves": Command(_sensor_checked, frozenset({"moves", "sensor"})),
    "deal": Command(_deal, frozenset({"cards"})),
    "check": Command(_check),
    "undo": Command(_undo, frozenset({"to", "agreed"})),
    "correct": Command(_correct, frozenset({"colour", "points", "reason", "agreed"})),
    "fault": Command(_fault, frozenset({"clause", "colour", "note"}), stale=False),
    "dismiss-fault": Command(_dismiss_fault, frozenset({"fault", "agreed"}), stale=False),
}
