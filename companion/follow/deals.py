"""Cards that the table lays in the open, seen by the camera: entered where two pictures agree and nothing is doubtful.

What is not sure is said, once, and read from a photo on the page or entered by hand: play waits for nobody.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

from companion.follow import messages
from companion.follow.entries import entered
from companion.follow.evidence import was_taken_back
from companion.follow.following import FollowState, Standing
from companion.night.games import game_view
from companion.ports import BadDataError

if TYPE_CHECKING:
    from companion.follow.cards import CardTable
    from companion.night.commands.night import MatchSnapshot, Night
    from companion.night.games.capabilities import PhotoDeal
    from companion.rules.core import State
    from vision.camera.frame import CapturedFrame
    from vision.cards.placed import BareCircle

SURE = 0.99
"""How sure each card, or the colour of a piece, must be for the camera to enter it by itself."""
AGREE = 2
"""So many pictures must be read alike."""

log = logging.getLogger(__name__)


class _Seen(NamedTuple):
    """What a scene was read as: the new cards by their places, and by how many pictures."""

    record: Standing
    laid: tuple[tuple[str, str], ...]
    times: int


class DealWatcher:
    """Reads what is laid in a game whose cards are. For one thread alone."""

    def __init__(
        self, night: Night, cards: CardTable, on_laid: Callable[[str, Mapping[str, str], BareCircle], None]
    ) -> None:
        """Enter through ``night`` what lies there of the ``cards`` that were taught.

        ``on_laid`` is told of a match whose cards were entered which lie where, and how they look.
        """
        self._night, self._cards, self._on_laid = night, cards, on_laid
        self._seen: _Seen | None = None

    @property
    def wants_another(self) -> bool:
        """Return whether another picture of the same scene is wanted."""
        return self._seen is not None

    def in_the_way(self, deal: PhotoDeal, snapshot: MatchSnapshot) -> tuple[FollowState, str] | None:
        """Return why nothing can be read now."""
        if not deal.may_lie(snapshot.states[-1]):
            return FollowState.NO_GAME, messages.CARDS_ALONE
        unknown = self._cards.why_unknown(snapshot.game)
        return (FollowState.TEACH, unknown) if unknown else None

    def forget(self) -> None:
        """Forget what a scene was read as: it has changed."""
        self._seen = None

    def look(self, deal: PhotoDeal, captured: CapturedFrame, snapshot: MatchSnapshot) -> tuple[FollowState, str]:
        """Read a picture of a settled scene, enter what is sure; return how it stands then."""
        from vision.cards.placed import BareCircle

        record = Standing(snapshot.match, snapshot.state)
        former, self._seen = self._seen, None
        image = captured.image()
        try:
            read = self._cards.circle_in(snapshot.game, image)
        except BadDataError as error:
            return FollowState.TEACH, str(getattr(error, "note", error))
        found = deal.seen(snapshot.states[-1], [card.name for card in read])
        if found.more_to_come:
            return FollowState.WATCHING, messages.CARDS_AWAITED
        if not found.complete or any(card.p < SURE or card.covered for card in read):
            return FollowState.WATCHING, messages.CARDS_UNSURE
        laid = tuple(sorted(found.laid.items()))
        if was_taken_back(snapshot, len(snapshot.moves), _after(snapshot, found.laid)):
            return FollowState.WATCHING, messages.CARDS_UNSURE
        times = 1 + (former.times if former is not None and former[:2] == (record, laid) else 0)
        if times < AGREE:
            self._seen = _Seen(record, laid, times)
            return FollowState.THINKING, messages.THINKING
        answer = entered(self._night, "deal", {"cards": dict(laid)}, captured, snapshot)
        if not answer.ok:
            # Somebody was quicker.
            log.info("Cards that were seen could not be entered: %s", answer)
            return FollowState.WATCHING, messages.CARDS_UNSURE
        lying = [(place, card) for place, card in zip(found.places, read, strict=True) if place is not None]
        bare = BareCircle(image, {place: card.corners for place, card in lying})
        self._on_laid(snapshot.match, {place: card.name for place, card in lying}, bare)
        return FollowState.ENTERED, messages.CARDS_ENTERED


def _after(snapshot: MatchSnapshot, laid: Mapping[str, str]) -> State[Any]:
    state = snapshot.states[-1]
    return reduce(lambda state, move: state.after(move), game_view(snapshot.game).lay(state, laid), state)


def deal_of(snapshot: MatchSnapshot) -> PhotoDeal | None:
    """Return what reads the cards that are laid in this game; None where none are, or not by the table."""
    cards = game_view(snapshot.game).cards
    return None if cards is None or snapshot.draw or not snapshot.goes_on else cards.deal
