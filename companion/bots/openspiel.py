"""The four games in OpenSpiel: ``import companion.bots.openspiel``, then ``pyspiel.load_game("arctic(players=3)")``.

OpenSpiel (Lanctot et al. 2019) is a development extra, and this is the only module that imports it. The games are
called ``igloo_pop``, ``iglu_iglu``, ``arctic`` and ``ice_team``; each is played by its default options. Actions are the
numbers of :mod:`companion.bots.vocabulary`; chance is explicit, with the probabilities of :meth:`State.chances`.

What differs from the table:

- Igloo Pop's shaking, where all act at once, is put in turns: clockwise, beginning one seat further in each round.
  Nobody announces an igloo in hand, who has passed stays out of the round, and the last who could still place does not
  pass while nobody has placed anything; so a round brings the end nearer. No igloo is heard here: that is for ears.
- A game is worth the difference between those one is ahead of and those one is behind, between -1 and 1: points,
  ties and lost games are weighed as the rules rank them. The sum is zero.
- Arctic and Ice Team can go on for ever between players who want that. After ``max_game_length`` decisions they are
  broken off and ranked as they stand. The other two end before, whatever is played (see :func:`longest`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, Final

import pyspiel

from companion.bots.vocabulary import Vocabulary, vocabulary
from companion.rules import game
from companion.rules.core import ANYBODY, CHANCE, JSON, NOBODY, State
from companion.rules.iglu_iglu.box import default_mix, endurance

BROKEN_OFF: Final = {"arctic": 2000, "ice-team": 5000}
"""Decisions after which a game without an end of its own is broken off; random games end long before."""


def longest(game_id: str, players: int) -> tuple[int, int]:
    """Return the most decisions, and the most steps of chance, that a game can have.

    Igloo Pop: a round has up to twelve placements and a pass a player. In each but the last, a card is won (24 in the
    stack replace those that are) or an own thaler is lost (nine a player before somebody has none). Iglu Iglu: each
    turn melts one of 56 floes, with a drift, a displacement, three points and an end at most; each tile is played
    once: a thaw lets inuit flee, an animal movement has three steps, each of which may make every player answer and
    all inuit flee, an endurance tile gives its points.
    """
    if game_id == "igloo-pop":
        rounds = 24 + 9 * players + 1
        return rounds * (12 + players), 33 + 12 * rounds
    if game_id == "iglu-iglu":
        mix = default_mix()
        tiles = dict(zip(mix.faces, mix.counts, strict=True))
        inuit = players * (5 if players == 2 else 3)
        turns = sum(mix.counts) * (1 + 3 + 1)
        floes = 2 * tiles["drift"] + tiles["thaw"] * (1 + inuit) + tiles["harpoon"]
        animals = tiles["animals"] * (1 + 3 * (1 + players + inuit))
        endurances = sum(count * (1 + endurance(face)) for face, count in tiles.items() if endurance(face))
        drawn = 4 + 2 * tiles["fish 2"] + 3 * tiles["fish 3"] + tiles["pack"]
        return inuit + turns + floes + animals + endurances, sum(mix.counts) + drawn
    # Arctic: packs, power sides, totems, the first player, all cards. Ice Team: 24 floes, who begins, a die for each
    # of the eight igloos, two for each of the eight bears that come home.
    chance = players + 6 + players + 1 + 30 * players if game_id == "arctic" else 24 + 1 + 8 + 2 * 8
    return BROKEN_OFF[game_id], chance


class Line:
    """A game as it was played so far: immutable, so that its copy is itself; pickled as the moves that lead to it.

    ``turn`` is the seat that decides, ``decisions`` how many have been made.
    """

    __slots__ = ("before", "decisions", "move", "over", "state", "turn")

    before: Line | None
    decisions: int
    over: bool
    state: State[Any]
    turn: int

    def __init__(self, state: State[Any], move: Any = None, before: Line | None = None) -> None:
        """Add a move and its state to a line; what nobody decides, the start of a round, happens at once."""
        self.move = move
        self.before = before
        self.decisions = 0 if before is None else before.decisions + (before.turn >= 0)
        while state.to_move == ANYBODY and state.phase == "ready":  # type: ignore[attr-defined]
            state = state.play(state.game.parse("start"))
        self.state = state
        limit = BROKEN_OFF.get(state.game.id, self.decisions + 1)
        self.over = state.to_move == NOBODY or self.decisions >= limit
        self.turn = -1 if self.over or state.to_move == CHANCE else state.to_move
        if self.turn == ANYBODY:
            self.turn = _next_to_shake(state, before)

    def after(self, move: Any) -> Line:
        """Return the line with one more move, which the rules check."""
        return Line(self.state.play(move), move, self)

    def moves(self) -> list[Any]:
        """Return what the player whose turn it is may do."""
        if self.state.to_move == ANYBODY:
            return _shaking(self.state, self.turn)
        return list(self.state.moves())

    def texts(self) -> list[str]:
        """Return the moves that lead here."""
        found = []
        line = self
        while line.before is not None:
            found.append(str(line.move))
            line = line.before
        return found[::-1]

    def __deepcopy__(self, memo: object) -> Line:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        players = len(self.state.position()["players"])
        return replayed, (self.state.game.id, players, self.texts())


def replayed(game_id: str, players: int, texts: list[str]) -> Line:
    """Return the line that some moves make."""
    played = game(game_id)
    line = Line(played.start(played.seats(players)))
    for text in texts:
        line = line.after(played.parse(text))
    return line


def _next_to_shake(state: Any, before: Line | None) -> int:
    """Return the next seat that may still place in a round of Igloo Pop."""
    players = len(state.colours)
    running = before is not None and before.turn >= 0 and before.state.to_move == ANYBODY
    seat = before.turn + 1 if running and before is not None else (state.round - 1) % players
    while state.colours[seat % players] in state.passed or not state.own[state.colours[seat % players]]:
        seat += 1
    return int(seat % players)


def _shaking(state: Any, seat: int) -> list[Any]:
    """Return the placements of a seat, and passing unless nobody else can place and nobody has."""
    colour = state.colours[seat]
    alone = len(state.passed) == len(state.colours) - 1 and not any(state.igloos.values())
    kinds = {"place"} if alone else {"place", "pass"}
    return [move for move in state.moves() if move.colour == colour and move.kind in kinds]


def worth(state: State[Any], players: int) -> list[float]:
    """Return for each seat the share of the others it is ahead of, less the share it is behind."""
    found = [0.0] * players
    ahead = players
    behind = 0
    for place in state.score().ranking:
        ahead -= len(place)
        for seat in place:
            found[seat] = (ahead - behind) / (players - 1)
        behind += len(place)
    return found


class TabletopState(pyspiel.State):  # type: ignore[misc]
    """A state of one of the four games, as OpenSpiel asks for it; ``rules`` is the state of the rules."""

    def __init__(self, played: TabletopGame) -> None:
        super().__init__(played)
        self._line = played.first

    @property
    def rules(self) -> State[Any]:
        """Return the state of the rules."""
        return self._line.state

    @property
    def _words(self) -> Vocabulary:
        state = self._line.state
        return vocabulary(state.game.id, self.num_players())

    def current_player(self) -> int:
        """Return the seat to decide, chance, or the end."""
        if self._line.over:
            return int(pyspiel.PlayerId.TERMINAL)
        return self._line.turn if self._line.turn >= 0 else int(pyspiel.PlayerId.CHANCE)

    def _legal_actions(self, player: int) -> list[int]:
        del player
        numbers = self._words.decision_numbers
        return sorted(numbers[move] for move in self._line.moves())

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return what chance may bring, with its probabilities."""
        numbers = self._words.outcome_numbers
        return sorted((numbers[move], probability) for move, probability in self._line.state.chances())

    def _apply_action(self, action: int) -> None:
        words = self._words
        self._line = self._line.after((words.decisions if self._line.turn >= 0 else words.outcomes)[action])

    def _action_to_string(self, player: int, action: int) -> str:
        words = self._words
        return str((words.outcomes if player == int(pyspiel.PlayerId.CHANCE) else words.decisions)[action])

    def is_terminal(self) -> bool:
        """Tell whether the game is over, or was broken off."""
        return self._line.over

    def returns(self) -> list[float]:
        """Return what the game is worth to each player; nothing before its end."""
        players = self.num_players()
        return worth(self._line.state, players) if self._line.over else [0.0] * players

    def __str__(self) -> str:
        return json.dumps({**self._line.state.position(), "seat": self._line.turn})


class TabletopObserver:
    """What a player sees, as JSON text; there is no tensor. ``kind`` says which parts are asked for."""

    tensor = None

    def __init__(self, kind: Any) -> None:
        self.dict: dict[str, Any] = {}
        self._public = kind.public_info
        self._private = kind.private_info

    def set_from(self, state: TabletopState, player: int) -> None:
        """Do nothing: there is no tensor to set."""

    def string_from(self, state: TabletopState, player: int) -> str:
        """Return the position as the player sees it, or the private part of that alone (empty where there is none)."""
        everybody = self._private == pyspiel.PrivateInfoType.ALL_PLAYERS
        nobody = self._private == pyspiel.PrivateInfoType.NONE
        rules = state.rules
        seen = rules.position() if everybody else rules.view(None if nobody else player)
        if not self._public:
            seen = beyond(seen, rules.view(None))
        return json.dumps(seen) if seen else ""


def beyond(seen: JSON, public: JSON) -> JSON:
    """Return the parts of a JSON value that another one does not have, by key or by place: empty where all is there."""
    if isinstance(seen, Mapping) and isinstance(public, Mapping):
        parts = {key: beyond(value, public.get(key)) for key, value in seen.items() if value != public.get(key)}
        return {key: part for key, part in parts.items() if part not in ({}, [])}
    if isinstance(seen, list) and isinstance(public, list) and len(seen) == len(public):
        return [beyond(one, other) for one, other in zip(seen, public, strict=True) if one != other]
    return seen


class TabletopGame(pyspiel.Game):  # type: ignore[misc]
    """One of the four games for so many players; each has a class of its own, which OpenSpiel calls."""

    game_id: ClassVar[str]

    def __init__(self, params: Mapping[str, Any]) -> None:
        self._players = players = int(params["players"])
        words = vocabulary(self.game_id, players)
        decisions, self._chance_nodes = longest(self.game_id, players)
        info = pyspiel.GameInfo(
            num_distinct_actions=len(words.decisions),
            max_chance_outcomes=len(words.outcomes),
            num_players=players,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=decisions,
        )
        super().__init__(_type(self.game_id), info, dict(params))

    @cached_property
    def first(self) -> Line:
        """Return the line before the first move."""
        return replayed(self.game_id, self._players, [])

    def new_initial_state(self) -> TabletopState:
        """Return the first state."""
        return TabletopState(self)

    def max_chance_nodes_in_history(self) -> int:
        """Return the most steps of chance that a game can have."""
        return self._chance_nodes

    def make_py_observer(self, kind: Any = None, params: object = None) -> TabletopObserver | None:
        """Return an observer of what a player sees now; None for perfect recall, which is not offered."""
        del params
        kind = kind or pyspiel.IIGObservationType(perfect_recall=False)
        return None if kind.perfect_recall else TabletopObserver(kind)


def _type(game_id: str) -> Any:
    """Return what OpenSpiel wants to know about a game."""
    played = game(game_id)
    hidden = game_id in ("iglu-iglu", "arctic")
    information = pyspiel.GameType.Information
    return pyspiel.GameType(
        short_name=game_id.replace("-", "_"),
        long_name=game_id.replace("-", " ").title(),
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=information.IMPERFECT_INFORMATION if hidden else information.PERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=played.players[-1],
        min_num_players=played.players[0],
        provides_information_state_string=False,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=False,
        parameter_specification={"players": played.players[0]},
    )


class IglooPopGame(TabletopGame):
    """``igloo_pop``, for 2 to 6."""

    game_id = "igloo-pop"


class IgluIgluGame(TabletopGame):
    """``iglu_iglu``, for 2 to 4."""

    game_id = "iglu-iglu"


class ArcticGame(TabletopGame):
    """``arctic``, for 2 to 4."""

    game_id = "arctic"


class IceTeamGame(TabletopGame):
    """``ice_team``, for 2."""

    game_id = "ice-team"


GAMES: Final = (IglooPopGame, IgluIgluGame, ArcticGame, IceTeamGame)

for _game in GAMES:
    pyspiel.register_game(_type(_game.game_id), _game)
