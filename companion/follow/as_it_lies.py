"""What lies on a board that no legal turn leaves so, as a position that the table may agree to go on from."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from companion.follow import messages
from companion.follow.evidence import contents_of, since_agreed
from companion.follow.questions import DISAGREEMENT, BoardObservation
from companion.night.games import game_view
from companion.night.games.board import BoardView
from companion.ports import BadDataError
from companion.rules.core import RulesError
from companion.rules.set_position import SetPosition
from vision.track.evidence import HIDDEN

if TYPE_CHECKING:
    from companion.follow.following import Following
    from companion.follow.questions import OpenQuestion
    from companion.night.answers import Actor, CommandResult
    from companion.night.commands.night import Night


def otherwise(now: Following, question: OpenQuestion) -> dict[str, Any]:
    """Return what lies otherwise than the record says, by place, in the one form of a board.

    What looks as it did when people and camera last agreed is as it was, what people said was misread is not read so
    again, and what is covered or strange is not known.
    """
    observation, memory = question.observation, now.memory
    if question.kind != DISAGREEMENT or not isinstance(observation, BoardObservation):
        return {}
    seen, snapshot, layout = observation.seen, observation.snapshot, observation.seen.layout
    recorded = contents_of(snapshot.states[-1], layout)
    as_before = since_agreed(memory.agreed, snapshot, seen).known
    as_said = {name for name, wrong in memory.misread.items() if name in seen.places and wrong.again(seen.places[name])}
    return {
        name: place.content.to_json(layout)
        for name, place in seen.places.items()
        if place.seen and place.odd < HIDDEN and name in recorded and place.content != recorded[name]
        if name not in as_before and name not in as_said
    }


def set_position(now: Following, question: OpenQuestion, turn: str | None) -> SetPosition:
    """Return the position to go on from: as the board lies, and the turn of a colour (None: of the next) begins.

    :raises BadDataError: nothing lies otherwise, as far as it is known.
    """
    places = otherwise(now, question)
    snapshot = question.observation.snapshot
    view = game_view(snapshot.game)
    if not places or not isinstance(view, BoardView) or turn not in (None, *snapshot.colours):
        raise BadDataError(messages.NOTHING_OTHERWISE)
    state = snapshot.states[-1]
    following = snapshot.colours[(view.turn(state) + 1) % len(snapshot.colours)]
    return SetPosition.of(view.lying_so(state, places, turn or following))


def drawn(now: Following, question: OpenQuestion, lang: str) -> dict[str, Any] | None:
    """Return what the table may agree on, for the page: ``{"places", "svg", "turn", "turns", "problem"}``.

    ``places`` lie otherwise, ``turn`` is whose turn would be next of all ``turns``, ``problem`` why the rules know no
    such position. None where nothing lies otherwise.
    """
    try:
        step = set_position(now, question, None)
    except BadDataError:
        return None
    snapshot = question.observation.snapshot
    state, view = snapshot.states[-1], game_view(snapshot.game)
    told = {"places": step.places(state), "turn": step.change["turn"], "turns": list(snapshot.colours)}
    try:
        after = step.after(state)
    except RulesError as error:
        return {**told, "svg": "", "problem": error.words.to_json()}
    return {**told, "svg": view.draw(after, lang, None) if isinstance(view, BoardView) else "", "problem": None}


def agree(night: Night, now: Following, question: OpenQuestion, turn: str | None, by: Actor) -> CommandResult:
    """Enter that the table agrees to go on from the board as it lies.

    :raises BadDataError: nothing lies otherwise, as far as it is known.
    """
    step = set_position(now, question, turn)
    body = {**step.to_json(), "agreed": True}
    number = question.observation.snapshot.state
    return night.do("set-position", body, by=by, state=number, action_id=f"camera-{uuid.uuid4().hex}")
