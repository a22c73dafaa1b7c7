"""Igloos of Igloo Pop as they are placed on cards, live (POP-2.3): what stands where, and the move that enters one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from companion.night.games.igloo_pop.photo_round import lying_cards
from companion.rules.core import State
from companion.rules.igloo_pop import GAME, IglooPopMove, IglooPopState

_ROUND = frozenset({"ready", "shaking"})


class IglooPopPhotoPlacing:
    """The :class:`companion.night.games.capabilities.PhotoPlacing` of Igloo Pop."""

    def lying(self, state: State[Any]) -> Mapping[str, str]:
        """Return the cards of a round by their places; none before all lie, and none during the check."""
        pop = cast("IglooPopState", state)
        return lying_cards(pop) if pop.phase in _ROUND else {}

    def may_place(self, state: State[Any]) -> bool:
        """Return whether igloos are being shaken and placed."""
        return cast("IglooPopState", state).phase == "shaking"

    def standing(self, state: State[Any]) -> Sequence[tuple[str, str]]:
        """Return (place, colour of the thaler) of every igloo that stands on a card."""
        igloos = cast("IglooPopState", state).igloos
        return [(place, colour) for place, here in igloos.items() for colour, _ in here]

    def move(self, state: State[Any], place: str, colour: str) -> IglooPopMove | None:
        """Return the move that places an igloo; None where the rules do not allow it."""
        move = GAME.parse(f"place {colour} {place}")
        return move if state.refusal(move) is None else None
