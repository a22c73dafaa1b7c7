"""Cards in photos, for the page: teach a game's cards by sheets, read a fanned-out pile, read a round of igloos.

Photos are looked at and forgotten; of a first photo of a round the reading is kept, in memory, until its second comes.
OpenCV is imported when somebody sends the first photo.
"""

from __future__ import annotations

import logging
import secrets
import threading
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from companion.night.games import game_view, shown_games
from companion.night.games.capabilities import TeachableCards
from companion.ports import BadDataError
from vision.cards import messages

if TYPE_CHECKING:
    from companion.ports import ByteArray
    from vision.cards.deck import Deck
    from vision.cards.detect import CardFinder, DetectedCard
    from vision.cards.lying import Lying
    from vision.cards.pile import Read

_KEPT = 4
"""So many first photos of rounds wait for their second."""
_SHOWN_SIDE = 1600

log = logging.getLogger(__name__)


def cards_of(game: str) -> TeachableCards:
    """Return the cards of a game.

    :raises KeyError: this game has none.
    """
    found = game_view(game).cards
    if found is None:
        raise KeyError(game)
    return found


def every_cards() -> dict[str, TeachableCards]:
    """Return the cards of all games that have any."""
    found = {game: game_view(game).cards for game in shown_games(examples=True)}
    return {game: cards for game, cards in found.items() if cards is not None}


@dataclass(frozen=True, slots=True)
class _First:
    photo: ByteArray
    found: tuple[DetectedCard, ...]


class CardTable:
    """What is known of the cards of this house. Every method may be called from any thread."""

    def __init__(self, folder: Path) -> None:
        """Keep what is taught in ``folder``, a file a game."""
        self._folder = folder
        self._lock = threading.Lock()
        self._finders: dict[str, CardFinder] = {}
        self._first: OrderedDict[str, _First] = OrderedDict()
        self._some: tuple[Deck, CardFinder] | None = None
        """What finds some cards of a deck: those that may lie on the table."""
        self._damaged: dict[str, int] = {}
        """Of files that could not be read, when each was written."""

    def taught(self, game: str) -> dict[str, Any]:
        """Return ``{"game", "names", "taught": [name …], "bytes"}``; of a damaged file nothing is taught.

        :raises KeyError: this game has no cards.
        """
        names = cards_of(game).names
        finder: CardFinder | None = None
        with self._lock, suppress(BadDataError):
            finder = self._finder(game)
        known = set(finder.deck.names) if finder is not None else set()
        path = self._file(game)
        size = path.stat().st_size if path.exists() else 0
        return {"game": game, "names": list(names), "taught": [one for one in names if one in known], "bytes": size}

    def forget(self, game: str) -> None:
        """Forget a game's cards: other art, or a sheet in another order than was said.

        :raises KeyError: this game has no cards.
        """
        cards_of(game)
        with self._lock:
            self._finders.pop(game, None)
            self._file(game).unlink(missing_ok=True)

    def teach(self, game: str, data: bytes, first: int, count: int) -> dict[str, Any]:
        """Learn a photo of a sheet: ``count`` cards from number ``first`` of the order on; a damaged file begins anew.

        :raises KeyError: this game has no cards.
        :raises BadDataError: it is no picture, or shows more or fewer cards; in one sentence.
        """
        from vision.cards.deck import deck_to_extend, save_deck, teach
        from vision.cards.detect import CardFinder
        from vision.cards.sheet import find_cards

        names = cards_of(game).names[first : first + count]
        photo = _read(data)
        with self._lock:
            known = self._finders.get(game)
            former = known.deck if known is not None else deck_to_extend(self._folder, game)
            deck = teach(game, [photo], names, former)
            save_deck(self._folder, deck)
            self._finders[game] = CardFinder(deck)
        outlines = [quad.round(1).tolist() for quad in find_cards(photo)]
        height, width = photo.shape[:2]
        seen = [{"card": name, "corners": quad} for name, quad in zip(names, outlines, strict=True)]
        return {"width": width, "height": height, "cards": seen}

    def pile(self, game: str, data: bytes) -> dict[str, Any]:
        """Return the cards of a fanned-out pile from the bottom up: ``{"width", "height", "cards": […]}``.

        :raises KeyError: this game has no cards.
        :raises BadDataError: it is no picture, shows no taught card, or none were taught; in one sentence.
        """
        from vision.cards.pile import read_pile

        cards_of(game)
        photo = _read(data)
        with self._lock:
            finder = self._known(game)
            cards = read_pile(finder.find(photo), finder.deck)
        if not cards:
            raise BadDataError(messages.NO_CARDS)
        height, width = photo.shape[:2]
        return {"width": width, "height": height, "cards": [card.to_json() for card in cards]}

    def round(
        self, game: str, data: bytes, first: str | None, only: Sequence[str], colours: Sequence[str]
    ) -> dict[str, Any]:
        """Return what a photo of a round shows: ``{"id", "width", "height", "cards", "igloos"}``.

        ``first`` is the id of the photo with the igloos as they were placed, for one of upturned igloos: then
        ``igloos`` are those of the first with their numbers, and cards are what both photos say. ``only`` are the
        cards of the open match, ``colours`` those that are played; empty: any.

        :raises KeyError: this game has no cards.
        :raises BadDataError: as :meth:`pile`, or the first photo is no longer known.
        """
        cards_of(game)
        from vision.cards.round import COLOURS, join, read_both, read_round

        photo = _read(data)
        played = tuple(colours) or COLOURS
        with self._lock:
            finder = self._known(game)
            found = tuple(finder.find(photo))
            if not found:
                raise BadDataError(messages.NO_CARDS)
            height, width = photo.shape[:2]
            answer: dict[str, Any] = {"width": width, "height": height}
            if first is None:
                name = secrets.token_urlsafe(9)
                self._first[name] = _First(photo, found)
                while len(self._first) > _KEPT:
                    self._first.popitem(last=False)
                return {"id": name, **answer, **read_round(photo, found, finder.deck, only, played).to_json()}
            before = self._first.get(first)
            if before is None:
                raise BadDataError(messages.FIRST_FORGOTTEN)
            both = read_both((before.photo, photo), (before.found, found), finder.deck, only, played)
        numbers = [number for _, number in join(*both)]
        body = both[0].to_json()
        high, wide = before.photo.shape[:2]
        igloos = [{**one.to_json(), "number": n} for one, n in zip(both[0].igloos, numbers, strict=True)]
        return {"id": first, "width": wide, "height": high, **body, "igloos": igloos}

    def circle(self, game: str, data: bytes) -> dict[str, Any]:
        """Return the cards that lie in the circle, clockwise from the top: ``{"width", "height", "cards": […]}``.

        :raises KeyError: this game has no cards.
        :raises BadDataError: as :meth:`pile`.
        """
        cards_of(game)
        photo = _read(data)
        cards = self.circle_in(game, photo)
        if not cards:
            raise BadDataError(messages.NO_CARDS)
        height, width = photo.shape[:2]
        return {"width": width, "height": height, "cards": [card.to_json() for card in cards]}

    def circle_in(self, game: str, photo: ByteArray) -> tuple[Read, ...]:
        """Return the cards that lie in the circle of a picture (BGR), clockwise from the top.

        :raises BadDataError: none were taught.
        """
        from vision.cards.round import read_circle

        with self._lock:
            finder = self._known(game)
            return read_circle(finder.find(photo), finder.deck)

    def open_in(
        self, game: str, photo: ByteArray, only: Sequence[str], former: Lying | None = None
    ) -> tuple[list[tuple[Read, ...]], Lying]:
        """Return what lies in the open in a picture (BGR): single cards and fans, each from the bottom up.

        ``only``: no other cards can lie there; ``former``: how the same table lay before. How it lies now comes second.

        :raises BadDataError: none were taught.
        """
        from vision.cards.lying import look_again
        from vision.cards.pile import read_open

        with self._lock:
            finder = self._known(game, only)
            lying = look_again(finder, photo, former)
        return read_open(lying.found, finder.deck, only), lying

    def why_unknown(self, game: str) -> str:
        """Return why no cards of a game can be read, as far as it is known without reading any; empty: they may be."""
        written = _written(self._file(game))
        if written is None:
            return messages.NOT_TAUGHT
        return messages.DECK_DAMAGED if self._damaged.get(game) == written else ""

    def _file(self, game: str) -> Path:
        return self._folder / f"cards-{game}.npz"

    # --- inside the lock

    def _finder(self, game: str) -> CardFinder | None:
        if game not in self._finders:
            written = _written(self._file(game))
            if written is None:
                return None
            from vision.cards.deck import DeckDamagedError, load_deck
            from vision.cards.detect import CardFinder

            try:
                deck = load_deck(self._folder, game)
            except DeckDamagedError as error:
                log.warning("%s", error)
                self._damaged[game] = written
                raise
            if deck is None:
                return None
            # One game is played at a time: a deck in use has some tens of megabytes.
            self._finders = {game: CardFinder(deck)}
        return self._finders[game]

    def _known(self, game: str, only: Sequence[str] = ()) -> CardFinder:
        """Return what finds a game's cards, or ``only`` these."""
        finder = self._finder(game)
        if finder is None:
            raise BadDataError(messages.NOT_TAUGHT)
        some = tuple(name for name in finder.deck.names if name in set(only))
        if not 0 < len(some) < len(finder.deck.names):
            return finder
        if self._some is None or self._some[0] is not finder.deck or self._some[1].deck.names != some:
            from vision.cards.detect import CardFinder

            self._some = finder.deck, CardFinder(finder.deck.only(some))
        return self._some[1]


def _written(path: Path) -> int | None:
    """Return when a file was written, in nanoseconds; None where there is none."""
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return None


def _read(data: bytes) -> ByteArray:
    """Return a photo no larger than is needed: what is read of cards is read at this size."""
    import cv2

    from vision.decode.photo import read_photo

    photo: Any = read_photo(data)
    scale = _SHOWN_SIDE / max(photo.shape[:2])
    if scale < 1:
        photo = cv2.resize(photo, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    return photo  # type: ignore[no-any-return]
