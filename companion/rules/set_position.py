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

SET: Final = Words("The table agreed to go on from this position, whatever led there ({places}).")
NONE: Final = Words("In this game no position is set; take moves back, or correct the score.")
KEEPS: Final = Words("A position that is set in a game leaves {key} as it is.")
NO_PLACES: Final = Words("The places of a position are objects by their names.")
NO_TEXT: Final = Words("The line is not text in UTF-8.")
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

        :raises SetupError: when it is nested deeper than any position, or cannot be written.
        """
        try:
            text = json.dumps(change, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
            text.encode()
        except RecursionError:
            raise SetupError("The line is nested too deeply.") from None
        except ValueError:
            raise SetupError(NO_TEXT) from None
        return cls(text)

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
        change, settable = self.change, state.game.settable
        if not settable:
            raise SetupError(NONE)
        for key in change:
            if key not in settable:
                raise SetupError(KEEPS, key=repr(key))
        places = change.get("places", {})
        if not isinstance(places, dict) or not all(isinstance(place, dict) for place in places.values()):
            raise SetupError(NO_PLACES)
        now = state.position()
        new: State[Any] = state.game.from_position({**now, **change})
        if new.problems() and "tiles" in now.get("piles", {}):
            # What was turned up without a move is counted anew from what lies there.
            new = state.game.from_position({**now, **change, "piles": {**now["piles"], "tiles": None}})
        if wrong := new.problems():
            raise SetupError(rulebook(state.game.id).problem_words(wrong[0], new))
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
