"""The state of a game of Iglu Iglu: its position, and what may be done in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from companion.rules.core import JSON, Outcome, Problem, Reason, ScoreSheet, State
from companion.rules.iglu_iglu import actions, drifting, json_form, melting, problems, red_tiles, score
from companion.rules.iglu_iglu import moves as m
from companion.rules.iglu_iglu.board import SQUARES
from companion.rules.iglu_iglu.moves import IgluMove
from companion.rules.iglu_iglu.position import (
    ACT,
    DEFENDING,
    DISPLACING,
    DRAWING,
    DRIFTING,
    FLEEING,
    MOVING,
    OVER,
    PEEKING,
    PHASES,
    PLACING,
    REVEALING,
    SETTING,
    START,
    IgluPosition,
)


class IgluState(IgluPosition, State[IgluMove]):
    """A position of Iglu Iglu; its parts are described in :class:`~.position.IgluPosition`."""

    __slots__ = ()

    def moves(self) -> Iterator[IgluMove]:
        """Yield every legal move once."""
        return iter(MOVES[self.phase](self))

    def refusal(self, move: IgluMove) -> Reason | None:
        """Return why a move is refused, or None."""
        if PHASES_OF[move.kind] >> self.phase & 1:
            return REFUSALS[move.kind](self, move)
        return out_of_phase(self, move)

    def explain_effect(self, move: IgluMove) -> Reason:
        """Return what a legal move does and by which clauses."""
        return EXPLANATIONS[move.kind](self, move)

    def after(self, move: IgluMove) -> IgluState:
        """Return the state after a legal move."""
        return EFFECTS[move.kind](self, move)

    def chances(self) -> list[tuple[IgluMove, float]]:
        """Return the tiles or tokens that the box may give, with their probabilities."""
        return melting.chances(self)

    def problems(self) -> tuple[Problem, ...]:
        """Return everything that is wrong with this position."""
        return problems.find(self)

    def score(self) -> ScoreSheet:
        """Return the score sheet as it stands now."""
        return score.sheet(self)

    def outcome(self) -> Outcome | None:
        """Return who won, or None while the game goes on."""
        if self.phase != OVER:
            return None
        return Outcome(score.sheet(self).ranking[0], ("IGLU-E.1", "IGLU-E.3", "IGLU-V.1"))

    @property
    def end_reason(self) -> Reason | None:
        """Return how the game ended."""
        if self.phase != OVER:
            return None
        return Reason("ended", {"who": self.table.colours[self.turn]})

    @property
    def ranking_reason(self) -> Reason | None:
        """Return what decides between the first and the others: points, trophies, or nothing (IGLU-V.1)."""
        return score.why_first(self)

    def position(self) -> dict[str, JSON]:
        """Return the position in the one form of a board."""
        return json_form.to_json(self)

    def view(self, player: int | None) -> dict[str, JSON]:
        """Return the position as a player sees it: the tiles of others are only counted."""
        return json_form.to_json(json_form.hidden_from(self, player))

    def __str__(self) -> str:
        return json_form.describe(self)


def _nothing(s: IgluState) -> list[IgluMove]:
    del s
    return []


def _draws(s: IgluState) -> list[IgluMove]:
    return [m.Draw(s.square, token) for token in melting.drawn_tokens(s)]


MOVES: tuple[Callable[[IgluState], list[IgluMove]], ...] = (
    _draws,
    melting.moves_placing,
    actions.moves_start,
    melting.moves_peek,
    melting.moves_reveal,
    _draws,
    drifting.moves_drift,
    drifting.moves_displace,
    actions.moves_act,
    red_tiles.moves_moving,
    red_tiles.moves_defending,
    red_tiles.moves_fleeing,
    _nothing,
)
"""The legal moves by phase."""

# kind of move -> the phases it belongs to, why it is refused there, what comes after it, what it does in words.
_RULES: dict[int, tuple[tuple[int, ...], Any, Any, Any]] = {
    m.PLACE: ((PLACING,), melting.refuse_place, melting.place, melting.say_place),
    m.DRAW: ((SETTING, DRAWING), melting.refuse_draw, melting.draw, melting.say_draw),
    m.MELT: ((START,), melting.refuse_melt, melting.melt, melting.say_melt),
    m.ACCEPT: ((PEEKING,), melting.refuse_accept, melting.accept, melting.say_accept),
    m.PUT_BACK: ((PEEKING,), melting.refuse_put_back, melting.put_back, melting.say_put_back),
    m.REVEAL: ((REVEALING,), melting.refuse_reveal, melting.reveal, melting.say_reveal),
    m.DRIFT: ((DRIFTING,), drifting.refuse_drift, drifting.drift, drifting.say_drift),
    m.DISPLACE: ((DISPLACING,), drifting.refuse_displace, drifting.displace, drifting.say_displace),
    m.THAW: ((START, ACT), red_tiles.refuse_thaw, red_tiles.thaw, red_tiles.say_thaw),
    m.ENDURANCE: ((START, ACT), actions.refuse_endurance, actions.endurance, actions.say_endurance),
    m.ANIMALS: ((START, ACT), red_tiles.refuse_animals, red_tiles.animals, red_tiles.say_animals),
    m.STEP: ((MOVING,), red_tiles.refuse_step, red_tiles.step, red_tiles.say_step),
    m.STOP: ((MOVING,), red_tiles.refuse_stop, red_tiles.stop, red_tiles.say_stop),
    m.DEFEND: ((DEFENDING,), red_tiles.refuse_defend, red_tiles.defend, red_tiles.say_defend),
    m.FLEE: ((FLEEING,), red_tiles.refuse_flee, red_tiles.flee, red_tiles.say_flee),
    m.WALK: ((ACT,), actions.refuse_walk, actions.walk, actions.say_walk),
    m.KAYAK: ((ACT,), actions.refuse_kayak, actions.kayak, actions.say_kayak),
    m.HUNT: ((ACT,), actions.refuse_hunt, actions.hunt, actions.say_hunt),
    m.BUILD: ((ACT,), actions.refuse_build, actions.build, actions.say_build),
    m.END: ((START, ACT), actions.refuse_end, actions.end, actions.say_end),
}
PHASES_OF: tuple[int, ...] = tuple(sum(1 << phase for phase in _RULES[kind][0]) for kind in range(len(_RULES)))
REFUSALS: tuple[Callable[[IgluState, Any], Reason | None], ...] = tuple(_RULES[k][1] for k in range(len(_RULES)))
EFFECTS: tuple[Callable[[IgluState, Any], IgluState], ...] = tuple(_RULES[k][2] for k in range(len(_RULES)))
EXPLANATIONS: tuple[Callable[[IgluState, Any], Reason], ...] = tuple(_RULES[k][3] for k in range(len(_RULES)))

# What a move that belongs to an interruption is told while a turn takes its course.
_NOT_DUE: dict[int, str] = {
    m.PLACE: "due-place",
    m.DRAW: "due-draw",
    m.ACCEPT: "due-peek",
    m.PUT_BACK: "due-peek",
    m.REVEAL: "due-reveal",
    m.DRIFT: "due-drift",
    m.DISPLACE: "due-displace",
    m.STEP: "due-step",
    m.STOP: "due-step",
    m.DEFEND: "due-defend",
    m.FLEE: "due-flee",
}


def out_of_phase(s: IgluState, move: IgluMove) -> Reason:
    """Return what must be done first, or that nothing of the kind is due."""
    facts: dict[str, JSON] = {}
    if s.turn >= 0:
        facts["who"] = s.table.colours[s.turn]
    if s.square >= 0:
        facts["square"] = SQUARES[s.square]
    if s.phase in (START, ACT):
        if move.kind in _NOT_DUE:
            return Reason(_NOT_DUE[move.kind], facts)
        return Reason("first-melt" if s.phase == START else "melted-already", facts)
    if s.phase == DEFENDING:
        facts["asked"] = s.table.colours[s.defender]
    facts["left"] = s.remaining
    return Reason(f"first-{PHASES[s.phase]}", facts)
