"""A position from which a table agrees to go on, though no move of the rules leads there: a step of a record.

People forget a rule, and play. A record that could only hold legal moves would end there; so it holds what lies there
by then, and that it was set.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from companion.rules.core import JSON, Ruling, SetupError, State
from companion.rules.i18n import Words
from companion.rules.rulebook import rulebook

_KEPT: Final = ("game", "options", "layout", "box", "first")
"""What no position of a game may change: what is played, and with which box."""
SET: Final = Words("The table agreed to go on from this position, whatever led there ({places}).")
KEEPS: Final = Words("A position that is set in a game leaves {key} as it is.")
SET_ELSEWHERE: Final = Words("The table agreed to go on from this position, whatever led there.")


@dataclass(frozen=True, slots=True)
class SetPosition:
    """A step of a record: what of the position is otherwise from then on.

    ``text`` is it in the one form of a board, as JSON with sorted keys; what it does not name stays as it was.
    """

    text: str

    @classmethod
    def of(cls, change: Mapping[str, JSON]) -> SetPosition:
        """Return the step that changes so much of a position.

        :raises SetupError: when it is nested deeper than any position.
        """
        try:
            return cls(json.dumps(change, ensure_ascii=False, sort_keys=True, separators=(",", ":")))
        except RecursionError:
            raise SetupError("The line is nested too deeply.") from None

    @property
    def change(self) -> dict[str, JSON]:
        """Return what changes."""
        found: dict[str, JSON] = json.loads(self.text)
        return found

    def to_json(self) -> dict[str, JSON]:
        """Return the line of a record."""
        return {"position": self.change}

    def __str__(self) -> str:
        return json.dumps(self.to_json(), ensure_ascii=False)

    def after(self, state: State[Any]) -> State[Any]:
        """Return the state in which a game goes on.

        :raises SetupError: in one sentence, when it is no position of this game, or the rules find something wrong
            with it.
        """
        now, change = state.position(), self.change
        for key in _KEPT:
            if key in change and change[key] != now.get(key):
                raise SetupError(KEEPS, key=repr(key))
        if "players" in change and _people(change["players"]) != _people(now.get("players")):
            raise SetupError(KEEPS, key="'players'")
        new: State[Any] = state.game.from_position({**now, **change})
        if wrong := new.problems():
            book = rulebook(state.game.id)
            raise SetupError(book.problem_words(wrong[0], new))
        return new

    def places(self, state: State[Any]) -> list[str]:
        """Return the places in which something else lies from then on."""
        was, now = state.position().get("places", {}), self.change.get("places", {})
        return [name for name, place in now.items() if place != was.get(name)]

    def ruling(self, state: State[Any]) -> Ruling:
        """Return what is said of it: no clause allows it, the table does."""
        places = self.places(state)
        words = SET.filled({"places": ", ".join(places)}) if places else SET_ELSEWHERE
        return Ruling(True, (), {"set": True, "places": places}, words, "house ruling")


def _people(players: JSON) -> list[tuple[JSON, JSON]]:
    """Return who they are, whatever they have."""
    return [(player.get("name"), player.get("colour")) for player in players or () if isinstance(player, dict)]


def played(state: State[Any], step: Any) -> State[Any]:
    """Return the state after a step of a record: a move, or a position that is set.

    :raises companion.rules.core.IllegalMoveError: when the rules refuse the move.
    :raises SetupError: when the position is none in which this game goes on.
    """
    new: State[Any] = step.after(state) if isinstance(step, SetPosition) else state.play(step)
    return new


def ruling_of(state: State[Any], step: Any) -> Ruling:
    """Return the ruling on a step of a record.

    :raises SetupError: when a position is none in which this game goes on.
    """
    if not isinstance(step, SetPosition):
        ruling: Ruling = state.check(step)
        return ruling
    step.after(state)
    return step.ruling(state)
