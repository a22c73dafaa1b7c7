"""Igloos of Igloo Pop as they are turned over in the check, live (POP-3.1): which are open, and what enters one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from companion.night.games.igloo_pop.photo_round import lying_cards
from companion.rules.core import State
from companion.rules.igloo_pop import GAME, IglooPopMove, IglooPopState
from companion.rules.igloo_pop.components import card_text


class IglooPopPhotoCheck:
    """The :class:`companion.night.games.capabilities.PhotoCheck` of Igloo Pop."""

    def lying(self, state: State[Any]) -> Mapping[str, str]:
        """Return the cards that lay when the check began, those won since among them; none at other times."""
        pop = cast("IglooPopState", state)
        if pop.phase != "checking":
            return {}
        return {**{one.place: card_text(one.card) for one in pop.last_results}, **lying_cards(pop)}

    def pieces(self, state: State[Any]) -> Mapping[str, Sequence[tuple[str, int | None]]]:
        """Return (colour of the thaler, number) of the igloos that stood on each card, in the order of placement."""
        pop = cast("IglooPopState", state)
        open_cards = {place: igloos for place, igloos in pop.igloos.items() if igloos}
        return {**{one.place: one.igloos for one in pop.last_results}, **open_cards}

    def move(self, state: State[Any], place: str, number: int) -> IglooPopMove | None:
        """Return the move that shows the number of a card's next igloo; None where the rules do not allow it."""
        move = GAME.parse(f"reveal {place} {number}")
        return move if state.refusal(move) is None else None
