"""Cards of Igloo Pop that the table lays (POP-1.1, POP-3.11), read from a photo: which are new, and where they lie.

A card's place is only a name: which igloo stands on which card is all that counts. Places are kept all the same, so
that the drawn circle looks as the table does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, cast

from companion.night.games.capabilities import SeenDeal
from companion.night.games.igloo_pop.photo_round import lying_cards
from companion.rules.core import State
from companion.rules.igloo_pop import IglooPopState
from companion.rules.igloo_pop.components import CARD_TEXT, PLACES


class IglooPopPhotoDeal:
    """The :class:`companion.night.games.capabilities.PhotoDeal` of Igloo Pop."""

    def may_lie(self, state: State[Any]) -> list[str]:
        """Return the cards that lie, and those that nobody has seen yet; none while nothing is to be laid."""
        pop = cast("IglooPopState", state)
        if pop.phase != "deal":
            return []
        lying = lying_cards(pop).values()
        return [text for card, text in enumerate(CARD_TEXT) if text in lying or not pop.card_seen(card)]

    def seen(self, state: State[Any], cards: Sequence[str]) -> SeenDeal:
        """Return what cards that were read clockwise are to the deal.

        Those that lie already say which place the first one has; where they do not lie as they did, the new ones go
        into the empty places in their order.
        """
        pop = cast("IglooPopState", state)
        lying = {card: place for place, card in lying_cards(pop).items()}
        may_lie = set(self.may_lie(state))
        empty = [place for place, card in pop.cards.items() if card is None]
        fits = [
            turn
            for turn in range(len(PLACES))
            if len(cards) == len(PLACES)
            and all(
                lying[card] == place if card in lying else place in empty
                for card, place in zip(cards, PLACES[turn:] + PLACES[:turn], strict=True)
            )
        ]
        if not lying or len(fits) != 1:
            # Nothing says how the circle is turned.
            free = iter(empty)
            where = [lying[card] if card in lying else next(free, None) for card in cards]
        else:
            where = [*PLACES[fits[0] :], *PLACES[: fits[0]]]
        places = tuple(place if card in may_lie else None for card, place in zip(cards, where, strict=True))
        laid = {place: card for card, place in zip(cards, places, strict=True) if place is not None and place in empty}
        missing = tuple(card for card in lying if card not in cards)
        twice = frozenset(card for card, times in Counter(cards).items() if times > 1)
        return SeenDeal(places, laid, min(pop.missing_cards, pop.stack_left), missing, twice)
