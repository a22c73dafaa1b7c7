"""The games in OpenSpiel: import this module, then ``pyspiel.load_game("arctic(players=3)")``.

OpenSpiel (Lanctot et al. 2019) is a development extra, and this is the only module that imports it. A game
is there when a module of its name stands beside this one (:mod:`companion.lab.openspiel.part`): ``igloo_pop``,
``iglu_iglu``, ``arctic``, ``ice_team``; the number of players and the options of the table are its parameters:
``igloo_pop(players=3,pop.cards_end=last_round)``. Actions are the numbers of
:mod:`companion.lab.openspiel.vocabulary`; chance is explicit, with the probabilities of :meth:`State.chances`.

What differs from the table:

- Igloo Pop's shaking, where all act at once, is put in turns: clockwise, beginning one seat further in each round.
  Nobody announces an igloo in hand, who has passed stays out of the round, and the last who could still place does not
  pass while nobody has placed anything; so a round brings the end nearer. No igloo is heard here: that is for ears.
- A game is worth the difference between those one is ahead of and those one is behind, between -1 and 1: points,
  ties and lost games are weighed as the rules rank them. The sum is zero.
- Arctic and Ice Team can go on for ever between players who want that, and so can Igloo Pop where the thalers come back
  from a card that nobody matched (``pop.none_match=return``). After ``max_game_length`` decisions they are broken off
  and ranked as they stand. The other games end before, whatever is played (see :func:`longest`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, Final

import pyspiel

from companion.lab.openspiel.part import Options, in_turns, part_of, played_games
from companion.lab.openspiel.vocabulary import Vocabulary, vocabulary
from companion.rules import game
from companion.rules.core import ANYBODY, CHANCE, JSON, NOBODY, State
from companion.rules.record import Header, Record


def longest(game_id: str, players: int, options: Options | None = None) -> tuple[int, int]:
    """Return the most decisions, and the most steps of chance, that a game can have."""
    return part_of(game_id).longest(players, game(game_id).settled_options(options))


class GameHistory:
    """A game as it was played so far: immutable, so that its copy is itself; pickled as the moves that lead to it.

    ``turn`` is the seat that decides, ``decisions`` how many have been made.
    """

    __slots__ = ("before", "decisions", "limit", "move", "over", "state", "turn", "unasked")

    before: GameHistory | None
    decisions: int
    limit: int | None
    over: bool
    state: State[Any]
    turn: int
    unasked: tuple[str, ...]

    def __init__(self, state: State[Any], move: Any = None, before: GameHistory | None = None) -> None:
        """Add a move and its state to a line; what nobody decides, the start of a round, happens at once."""
        self.move = move
        self.before = before
        self.decisions = 0 if before is None else before.decisions + (before.turn >= 0)
        self.unasked = ()
        while state.to_move == ANYBODY and (text := in_turns(state.game.id).unasked(state)) is not None:
            state = state.play(state.game.parse(text))
            self.unasked = (*self.unasked, text)
        self.state = state
        self.limit = part_of(state.game.id).broken_off(state.position()["options"]) if before is None else before.limit
        self.over = state.to_move == NOBODY or (self.limit is not None and self.decisions >= self.limit)
        self.turn = -1 if self.over or state.to_move == CHANCE else state.to_move
        if self.turn == ANYBODY:
            last = before.turn if before is not None and before.state.to_move == ANYBODY else -1
            self.turn = in_turns(state.game.id).next_seat(state, last if last >= 0 else None)

    def after(self, move: Any) -> GameHistory:
        """Return the line with one more move, which the rules check."""
        return GameHistory(self.state.play(move), move, self)

    def moves(self) -> list[Any]:
        """Return what the player whose turn it is may do."""
        if self.state.to_move == ANYBODY:
            return in_turns(self.state.game.id).choices(self.state, self.turn)
        return list(self.state.moves())

    def texts(self) -> list[str]:
        """Return the moves that lead here, as somebody or chance made them."""
        return [str(line.move) for line in self._lines()]

    def record(self) -> Record:
        """Return the whole game so far, with what happened by itself."""
        position, played = self.state.position(), self.state.game
        moves = tuple(text for line in self._lines() for text in (str(line.move), *line.unasked))
        return Record(Header(played.id, tuple(played.seats(len(position["players"]))), position["options"]), moves)

    def _lines(self) -> list[GameHistory]:
        found = []
        line = self
        while line.before is not None:
            found.append(line)
            line = line.before
        return found[::-1]

    def __deepcopy__(self, memo: object) -> GameHistory:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        position = self.state.position()
        return replayed, (self.state.game.id, len(position["players"]), self.texts(), position["options"])


def replayed(game_id: str, players: int, texts: list[str], options: Options | None = None) -> GameHistory:
    """Return the line that some moves make."""
    played = game(game_id)
    line = GameHistory(played.start(played.seats(players), options))
    for text in texts:
        line = line.after(played.parse(text))
    return line


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
    """A state of one of the games, as OpenSpiel asks for it; ``rules`` is the state of the rules."""

    def __init__(self, played: TabletopGame) -> None:
        super().__init__(played)
        self._line = played.first

    @property
    def rules(self) -> State[Any]:
        """Return the state of the rules."""
        return self._line.state

    def record(self) -> Record:
        """Return the game so far as a record, which `companion referee` judges and `companion score` counts."""
        return self._line.record()

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
    """One of the games for so many players, by some options; OpenSpiel calls a class of its own for each."""

    game_id: ClassVar[str]

    def __init__(self, params: Mapping[str, Any]) -> None:
        self._players = players = int(params["players"])
        self._options = {name: value for name, value in params.items() if name != "players"}
        words = vocabulary(self.game_id, players)
        decisions, self._chance_nodes = longest(self.game_id, players, self._options)
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
    def first(self) -> GameHistory:
        """Return the line before the first move."""
        return replayed(self.game_id, self._players, [], self._options)

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
    information = pyspiel.GameType.Information
    return pyspiel.GameType(
        short_name=game_id.replace("-", "_"),
        long_name=game_id.replace("-", " ").title(),
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=information.IMPERFECT_INFORMATION if part_of(game_id).HIDDEN else information.PERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=played.players[-1],
        min_num_players=played.players[0],
        provides_information_state_string=False,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=False,
        parameter_specification={"players": played.players[0], **played.settled_options(None)},
    )


def _class_of(game_id: str) -> type[TabletopGame]:
    said = {"game_id": game_id, "__module__": __name__, "__doc__": f"{game_id}, for OpenSpiel."}
    return type(f"{game_id.title().replace('-', '')}Game", (TabletopGame,), said)


GAMES: Final = tuple(map(_class_of, played_games()))

for _game in GAMES:
    pyspiel.register_game(_type(_game.game_id), _game)
