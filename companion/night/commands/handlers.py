"""What may be asked of a night, by whom, and what entry it becomes: planning only, nothing is written here."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from msgspec import UnsetType

from companion.night.answers import TABLE, Actor, Role
from companion.night.commands.bodies import (
    SHORT_LENGTH,
    ClockBody,
    CommandBody,
    CorrectBody,
    DealBody,
    DismissFaultBody,
    FaultBody,
    KeepSheetBody,
    MovesBody,
    OpenMatchBody,
    SetPositionBody,
    UndoBody,
)
from companion.night.commands.context import (
    Command,
    CommandContext,
    CommandRefusedError,
    PlannedEntry,
    needed,
    printable,
    refused,
    said,
)
from companion.night.commands.score_sheet_entry import keep_sheet, new_id
from companion.night.commands.seating import right_seats, seated
from companion.night.log.match import Match, Seat, end_is_free, undo_is_free
from companion.night.log.projection import start
from companion.rules import game
from companion.rules.core import InvalidMoveError, Move, RulesError, SetupError, State
from companion.rules.rulebook import rulebook
from companion.rules.set_position import SetPosition


def plan(command: str, context: CommandContext, state: int | None) -> PlannedEntry:
    """Return the entry that a command becomes.

    :raises CommandRefusedError: when it is not to be done; nothing has changed then.
    """
    known = COMMANDS.get(command)
    if known is None:
        raise refused("bad-input", "bad-command", command=printable(command)[:SHORT_LENGTH])
    role = context.by.role
    if role is Role.SPECTATOR:
        raise refused("forbidden", "watch-only")
    if known.host and role is not Role.HOST:
        raise refused("forbidden", "host-only")
    for name in context.body:
        if name not in known.fields:
            raise refused("bad-input", "bad-body", field=printable(str(name))[:SHORT_LENGTH])
    if known.stale and state is not None and state != context.projection.state_no and not _beside(context, state):
        raise refused("stale", "stale")
    return known.planned(context)


def _beside(context: CommandContext, state: int) -> bool:
    """Return whether all play at once since ``state``, and only others did: what these do now stands beside it."""
    match, since = context.projection.match, context.projection.live_since
    moves = context.body.get("moves")
    if match is None or since is None or state < since or not isinstance(moves, list):
        return False
    try:
        acting = {match.view.acting(match.game.parse(text)) for text in moves}
    except (RulesError, TypeError, AttributeError):
        return False
    done = {match.view.acting(step.move) for step in match.steps if step.seq > state}
    return bool(acting) and None not in acting and not acting & done


# --- the night and its matches -----------------------------------------------------------------------------------


def _open_night(context: CommandContext, _: CommandBody) -> PlannedEntry:
    if context.projection.match is not None and context.projection.match.ending is None:
        raise refused("refused", "match-open")
    return PlannedEntry("open-night", {"night": new_id()})


def _open_match(context: CommandContext, asked: OpenMatchBody) -> PlannedEntry:
    if context.projection.paused:
        raise refused("paused", "paused")
    if context.projection.match is not None and context.projection.match.ending is None:
        raise refused("refused", "match-open")
    if asked.game not in context.offered:
        raise refused("bad-input", "bad-field", field="game")
    rules = game(asked.game)
    seats, people = seated(asked.players, context.people)
    # What the set-up does not say of the box is what this house's owner entered.
    header: dict[str, Any] = {
        "match": new_id(),
        "game": asked.game,
        "draw": asked.draw,
        "options": asked.options,
        "setup": {**context.boxes.setup(asked.game), **asked.setup},
        "players": [{"person": seat.person, "colour": seat.colour} for seat in seats],
    }
    try:
        header["options"] = rules.settled_options(header["options"])
        right_seats(rules, seats)
        start(rules, seats, header)
    except SetupError as error:
        raise said(error) from error
    return PlannedEntry("open-match", header, people)


def _next_game(context: CommandContext, _: CommandBody) -> PlannedEntry:
    projection = context.projection
    if projection.paused:
        raise refused("paused", "paused")
    if projection.match is not None and projection.match.ending is None:
        raise refused("refused", "not-over")
    if projection.last_header is None:
        raise refused("refused", "no-series")
    if projection.series_winners():
        raise refused("refused", "series-over")
    last = projection.last_header
    # How the boards of the box lie stays; what was laid out or drawn for the last game does not.
    kept = {name: value for name, value in last.get("setup", {}).items() if name == "layout"}
    header = {**last, "match": new_id(), "setup": context.boxes.setup(last["game"]) | kept}
    rules = game(header["game"])
    try:
        start(rules, tuple(Seat(p["person"], "", p["colour"]) for p in header["players"]), header)
    except SetupError as error:  # a game that was only counted may have had seats or options that do not begin one
        raise said(error) from error
    return PlannedEntry("next-game", header)


def _close_match(context: CommandContext, _: CommandBody) -> PlannedEntry:
    if context.projection.match is None:
        raise refused("no-match", "no-match")
    return PlannedEntry("close-match", {"match": context.projection.match.id})


def _end_early(context: CommandContext, _: CommandBody) -> PlannedEntry:
    match = context.match
    if match.ending is not None:
        raise refused("refused", "ended-already")
    return PlannedEntry("end-early", {"match": match.id})


def _pause(context: CommandContext, _: CommandBody) -> PlannedEntry:
    if context.projection.paused:
        raise refused("paused", "paused")
    return PlannedEntry("pause", {})


def _resume(context: CommandContext, _: CommandBody) -> PlannedEntry:
    if not context.projection.paused:
        raise refused("refused", "not-paused")
    return PlannedEntry("resume", {})


def _clock(context: CommandContext, asked: ClockBody) -> PlannedEntry:
    match = context.projection.match
    if match is None or match.ending is not None:
        raise refused("refused", "no-match")
    return PlannedEntry("clock", {"minutes": asked.minutes})


# --- moves -------------------------------------------------------------------------------------------------------


def _moves(context: CommandContext, asked: MovesBody) -> PlannedEntry:
    match = context.running
    moves = _played(match, [_parsed(match, text) for text in asked.moves], context.by)
    body: dict[str, Any] = {"moves": moves}
    if match.view.follows:
        after, drawn = _followed(match, moves, context.rng)
        body["moves"] = [*moves, *after]
        if drawn:
            body["drawn"] = True
    if asked.sensor is not False:
        body["sensor"] = _sensor_key(asked.sensor)
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


def _sensor_key(sensor: bool | str) -> str:
    key = sensor if isinstance(sensor, str) else "*"
    if not key.isprintable():
        raise refused("bad-input", "bad-field", field="sensor")
    return key


def _sensor_checked(context: CommandContext, asked: MovesBody) -> PlannedEntry:
    planned = _moves(context, asked)
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


def _deal(context: CommandContext, asked: DealBody) -> PlannedEntry:
    match = context.running
    if isinstance(asked.cards, UnsetType):
        return _drawn(context, match)
    try:
        moves = match.view.lay(match.state, asked.cards)
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


def _check(context: CommandContext, _: CommandBody) -> PlannedEntry:
    match = context.running
    moves = match.view.stopping(match.state)
    if not moves:
        raise refused("refused", "nobody-to-pass")
    return PlannedEntry("moves", {"moves": _played(match, moves), "as": "check"})


def _undo(context: CommandContext, asked: UndoBody) -> PlannedEntry:
    match = context.match
    steps = match.steps
    keep = asked.to
    if match.ended is not None:
        _at_most(keep, len(steps), len(steps))
        if asked.agreed or not end_is_free(match, context.by.id):
            context.agreed(asked.agreed)
        return PlannedEntry("undo", {"to": keep, "from": keep, "agreed": asked.agreed})
    if not steps:
        raise refused("refused", "nothing-to-undo")
    _at_most(keep, 0, len(steps) - 1)
    if asked.agreed or not undo_is_free(match, keep, context.by.id):
        context.agreed(asked.agreed)
    return PlannedEntry("undo", {"to": keep, "from": len(steps), "agreed": asked.agreed})


def _at_most(to: int, low: int, high: int) -> None:
    if not low <= to <= high:
        raise refused("bad-input", "bad-field", field="to")


# --- what the table agrees on, and faults ------------------------------------------------------------------------


def _set_position(context: CommandContext, asked: SetPositionBody) -> PlannedEntry:
    """Go on from what lies there, though no move leads to it: marked as what the table agreed on."""
    match = context.running
    context.agreed(asked.agreed)
    if match.ending is not None:
        raise refused("refused", "ended-already")
    try:
        step = SetPosition.of(asked.position)
        if step.after(match.state).position() == match.state.position():
            raise refused("refused", "nothing-set")
    except RulesError as error:
        raise said(error) from error
    return PlannedEntry("set-position", {**step.to_json(), "agreed": True})


def _correct(context: CommandContext, asked: CorrectBody) -> PlannedEntry:
    match = context.match
    colour = _colour(asked.colour, match)
    if asked.points == 0:
        raise refused("bad-input", "bad-field", field="points")
    reason = needed(asked.reason, "reason")
    context.agreed(asked.agreed)
    return PlannedEntry("correct", {"colour": colour, "points": asked.points, "reason": reason})


def _colour(colour: str, match: Match) -> str:
    if colour not in match.colours:
        book, kept = rulebook(match.game.id), printable(colour)[:SHORT_LENGTH]
        raise refused("bad-input", "no-such-colour", colour=book.words(kept))
    return colour


def _fault(context: CommandContext, asked: FaultBody) -> PlannedEntry:
    match = context.match
    clause = needed(asked.clause, "clause")
    colour = _colour(asked.colour, match) if asked.colour is not None else None
    note = printable(asked.note)
    try:
        match.view.fault(match.state, clause, colour)
    except KeyError:
        raise refused("bad-input", "no-such-clause", clause=clause) from None
    return PlannedEntry("fault", {"clause": clause, "colour": colour, "note": note, "round": match.round})


def _dismiss_fault(context: CommandContext, asked: DismissFaultBody) -> PlannedEntry:
    match = context.match
    fault = match.faults.get(asked.fault)
    if fault is None or fault.dismissed:
        raise refused("refused", "no-such-fault")
    context.agreed(asked.agreed)
    return PlannedEntry("dismiss-fault", {"fault": asked.fault})


COMMANDS: Mapping[str, Command[Any]] = {
    "open-night": Command(_open_night, CommandBody, host=True),
    "open-match": Command(_open_match, OpenMatchBody, host=True),
    "next-game": Command(_next_game, CommandBody, host=True),
    "close-match": Command(_close_match, CommandBody, host=True),
    "end-early": Command(_end_early, CommandBody, host=True),
    "keep-sheet": Command(keep_sheet, KeepSheetBody),
    "clock": Command(_clock, ClockBody, host=True, stale=False),
    "pause": Command(_pause, CommandBody),
    "resume": Command(_resume, CommandBody),
    "moves": Command(_sensor_checked, MovesBody),
    "deal": Command(_deal, DealBody),
    "check": Command(_check, CommandBody),
    "undo": Command(_undo, UndoBody),
    "set-position": Command(_set_position, SetPositionBody),
    "correct": Command(_correct, CorrectBody),
    "fault": Command(_fault, FaultBody, stale=False),
    "dismiss-fault": Command(_dismiss_fault, DismissFaultBody, stale=False),
}
