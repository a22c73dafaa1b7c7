"""What players put on cards, all at once, seen by the camera: entered where it stands still and nothing is doubtful.

Nobody waits for anybody here and hands are everywhere, so the scene as a whole never settles: every piece does by
itself. What is not sure is said and left to people; what they enter themselves is set beside what is seen, and as long
as the two differ about a colour or a card, nothing of that colour or on that card is entered.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import dist
from typing import TYPE_CHECKING, Final

from companion.follow import messages
from companion.follow.deals import AGREE, SURE
from companion.follow.entries import entered
from companion.follow.following import FollowState
from companion.follow.pace import AGAIN_S, LOOKS
from companion.night.games import game_view
from companion.ports import BadDataError
from vision.camera.stillness import SceneMemory

if TYPE_CHECKING:
    from companion.follow.cards import CardTable
    from companion.night.commands.night import MatchSnapshot, Night
    from companion.night.games.capabilities import PhotoPlacing
    from vision.camera.frame import CapturedFrame
    from vision.cards.placed import BareCircle, NewIgloo

BY_HAND_S: Final = 4.0
"""So long it waits for who was quicker with the last piece of a colour."""
LEFT_S: Final = 4.0
"""So long a piece is doubtful, or missing, before that is said."""
ALIKE: Final = 10.0
"""So near in colour (Lab) to one whose colour the record says, a piece is of that colour; twice as near to others, not.
"""
_OTHERWISE: Final = 0.05
"""So likely a piece of a colour looks otherwise than all of that colour that stand or stood there."""
_POSSIBLE: Final = 0.01
_SAME: Final = 0.2
_STILL: Final = 0.08
"""Seen so far off (card widths) it is the same piece, and so far off it has not moved."""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Piece:
    """What was seen on a card: since when just so, in how many looks; ``known``: whether the record ever had it."""

    seen: NewIgloo
    since: float
    looks: int = 1
    known: bool = False


class PlacingWatcher:
    """Follows what is put on cards. For one thread alone."""

    def __init__(self, night: Night, cards: CardTable) -> None:
        """Enter through ``night`` what is put on the ``cards`` that were taught."""
        self._night, self._cards = night, cards
        self._round: tuple[str, Mapping[str, str]] | None = None
        self._bare: BareCircle | None = None
        self._pieces: list[_Piece] = []
        self._tones: list[tuple[str, tuple[float, ...]]] = []
        """How pieces look of which the record says the colour, in this match."""
        self._quicker: set[str] = set()
        """Colours whose last piece was entered by hand though nothing was doubtful."""
        self._differs_since: float | None = None
        self._began_bare = False
        """Whether in this round nothing was seen on the cards before something was."""
        self._sight: SceneMemory[tuple[NewIgloo, ...] | None] = SceneMemory(AGAIN_S, LOOKS)
        self._open = True
        """Whether the last look left anything open: what lies so is looked at in every picture."""

    def laid(self, match: str, lying: Mapping[str, str], bare: BareCircle) -> None:
        """Take it that these cards, by their places, lie so and bare in this match."""
        if self._round is None or self._round[0] != match:
            self._tones, self._quicker = [], set()
        self._round, self._bare = (match, dict(lying)), bare
        self._begin()

    def _begin(self) -> None:
        self._pieces, self._differs_since, self._began_bare = [], None, True
        self._sight.forget()

    def bare_of(self, match: str, lying: Mapping[str, str]) -> BareCircle | None:
        """Return how these cards of a match lay bare; None where that was not seen."""
        return self._bare if self._round == (match, dict(lying)) else None

    def seen_standing(self, match: str, lying: Mapping[str, str], place: str) -> list[NewIgloo]:
        """Return the pieces of a card of a match as they were seen last, those that the record has."""
        if self.bare_of(match, lying) is None:
            return []
        return [one.seen for one in self._pieces if one.known and one.seen.place == place]

    def is_round(self, placing: PhotoPlacing, snapshot: MatchSnapshot) -> bool:
        """Return whether pieces are being placed, or will be as soon as the round begins."""
        if placing.lying(snapshot.states[-1]):
            return True
        self._began_bare = False
        return False

    def why_not(self, placing: PhotoPlacing, snapshot: MatchSnapshot) -> tuple[FollowState, str] | None:
        """Return why nothing can be followed now."""
        if self._knows(placing, snapshot):
            return None
        unknown = self._cards.why_unknown(snapshot.game)
        if unknown:
            return FollowState.TEACH, unknown
        if placing.standing(snapshot.states[-1]):
            return FollowState.WAITING, messages.PLACES_UNKNOWN
        return None

    def wants_circle(self, placing: PhotoPlacing, snapshot: MatchSnapshot) -> bool:
        """Return whether the bare cards are to be looked at, once the scene lies still."""
        return not placing.may_place(snapshot.states[-1]) or not self._knows(placing, snapshot)

    def look_at_circle(
        self, placing: PhotoPlacing, captured: CapturedFrame, snapshot: MatchSnapshot
    ) -> tuple[FollowState, str]:
        """See in a picture of a settled scene where the cards lie, nothing standing on them; return how it stands."""
        from vision.cards.placed import BareCircle, is_bare

        lying = placing.lying(snapshot.states[-1])
        image = captured.image()
        if self._bare is not None and self._knows(placing, snapshot) and is_bare(self._bare, image):
            self.laid(snapshot.match, lying, BareCircle(image, self._bare.corners))
            return FollowState.WATCHING, messages.PLACES_KNOWN
        try:
            read = self._cards.circle_in(snapshot.game, image)
        except BadDataError as error:
            return FollowState.TEACH, str(getattr(error, "note", error))
        places = {card: place for place, card in lying.items()}
        corners = {places[card.name]: card.corners for card in read if card.name in places}
        if len(read) != len(lying) or len(corners) != len(lying) or any(one.p < SURE or one.covered for one in read):
            return FollowState.WAITING, messages.PLACES_UNKNOWN
        self.laid(snapshot.match, lying, BareCircle(image, corners))
        return FollowState.WATCHING, messages.PLACES_KNOWN

    def look(
        self, placing: PhotoPlacing, captured: CapturedFrame, snapshot: MatchSnapshot, now: float, settle: float
    ) -> tuple[FollowState, str]:
        """Look once while pieces are being placed, enter what is sure; return how it stands then.

        ``now``: the clock's seconds; ``settle``: so many seconds a piece must stand still.
        """
        bare = self._bare
        found = None
        if bare is not None:
            found = self._sight.see(now, captured.small(), partial(_new_igloos, bare, captured), anew=self._open)
        self._open = True
        if bare is None or found is None:
            self._pieces = [one for one in self._pieces if one.known]
            return FollowState.LOST, messages.PLACES_LOST
        if not self._began_bare:
            # What stands there may have been left from the round before.
            if found:
                return FollowState.WAITING, messages.PLACES_UNKNOWN
            self._begin()
        here = self._track(found, bare.width, now)
        missing = self._beside_record(here, placing.standing(snapshot.states[-1]), now - settle - LEFT_S)
        sure = [one for one in here if self._is_sure(one, snapshot, missing, now, settle)]
        any_entered = self._enter(sorted(sure, key=lambda one: one.since), placing, captured, snapshot, bool(missing))
        self._differs_since = (self._differs_since or now) if missing else None
        self._open = any_entered or bool(missing) or not all(one.known for one in here)
        if any_entered:
            return FollowState.ENTERED, messages.PLACED
        if self._differs_since is not None and now - self._differs_since >= LEFT_S:
            return FollowState.WATCHING, messages.PLACED_OTHERWISE
        if any(not one.known and now - one.since >= self._wait(one, settle) + LEFT_S for one in here):
            return FollowState.WATCHING, messages.PLACED_UNSURE
        return FollowState.WATCHING, messages.PLACES_KNOWN

    def _knows(self, placing: PhotoPlacing, snapshot: MatchSnapshot) -> bool:
        return self._round == (snapshot.match, placing.lying(snapshot.states[-1]))

    def _track(self, found: Sequence[NewIgloo], width: float, now: float) -> list[_Piece]:
        """Return the pieces that a look shows; those the record had once are remembered while they are hidden."""
        left, here = list(found), []
        for piece in self._pieces:
            near = min(left, key=lambda one: _apart(one, piece.seen), default=None)
            if near is None or _apart(near, piece.seen) > _SAME * width:
                continue
            left.remove(near)
            alike = (near.place, near.colour, near.free) == (piece.seen.place, piece.seen.colour, piece.seen.free)
            if alike and _apart(near, piece.seen) <= _STILL * width:
                piece.looks += 1
            else:
                piece.looks, piece.since = 1, now
            piece.seen = near
            here.append(piece)
        here += [_Piece(one, now) for one in left]
        self._pieces = here + [one for one in self._pieces if one.known and one not in here]
        return here

    def _beside_record(
        self, here: Sequence[_Piece], standing: Sequence[tuple[str, str]], left: float
    ) -> Counter[tuple[str, str]]:
        """Set what is seen beside the record; return what that has and nobody sees: (place, colour), how often.

        What stands since ``left`` was left to people.
        """
        wanted = Counter(standing)
        # What was recorded before is what is recorded now; and what is surely it, before what only may be.
        order = sorted(here, key=lambda one: (not one.known, one.since))
        taken: list[_Piece] = []
        for piece in order:
            key = (piece.seen.place or "", piece.seen.colour)
            if wanted[key] > 0:
                wanted[key] -= 1
                self._entered_by_hand(piece, key[1], left)
                taken.append(piece)
        for piece in order:
            if piece in taken:
                continue
            may_be = [
                key for key in +wanted
                if piece.seen.place in (None, key[0]) and piece.seen.colours.get(key[1], 0.0) >= _POSSIBLE
            ]  # fmt: skip
            if may_be:
                key = max(may_be, key=lambda key: piece.seen.colours[key[1]])
                wanted[key] -= 1
                self._entered_by_hand(piece, key[1], left)
        return +wanted

    def _entered_by_hand(self, piece: _Piece, colour: str, left: float) -> None:
        """Take it that people entered a piece, unless it was entered before."""
        if piece.known:
            return
        if piece.since > left:
            self._quicker.add(colour)
        else:
            self._quicker.discard(colour)
        self._is(piece, colour)

    def _is(self, piece: _Piece, colour: str) -> None:
        """Take it that a piece is what the record has, and learn how its colour looks tonight."""
        if piece.seen.free and piece.seen.tone:
            self._tones.append((colour, piece.seen.tone))
        piece.known = True

    def _knows_colour(self, seen: NewIgloo, played: Sequence[str]) -> bool:
        """Return whether the likeliest colour is sure: by itself, or by what the record says of others like it."""
        if seen.colour not in played:
            return False
        off = [(colour, dist(tone, seen.tone)) for colour, tone in self._tones if seen.tone]
        if any(colour != seen.colour and far <= 2 * ALIKE for colour, far in off):
            return False
        # Of a colour that nobody plays there is nothing on the table; and how others look is known once one is.
        otherwise = {colour for colour, _ in off} - {colour for colour, far in off if far <= 2 * ALIKE}
        likely = sum(
            seen.colours.get(colour, 0.0) * (_OTHERWISE if colour in otherwise - {seen.colour} else 1.0)
            for colour in played
        )
        return seen.colours[seen.colour] >= SURE * likely or any(far <= ALIKE for _, far in off)

    def _is_sure(
        self, piece: _Piece, snapshot: MatchSnapshot, missing: Counter[tuple[str, str]], now: float, settle: float
    ) -> bool:
        """Return whether a piece is to be entered. What the record ever had and has no more, people took back."""
        seen = piece.seen
        if piece.known or seen.place is None or not seen.free or piece.looks < AGREE:
            return False
        if not self._knows_colour(seen, snapshot.colours):
            return False
        if any(place == seen.place or colour == seen.colour for place, colour in missing):
            return False
        return now - piece.since >= self._wait(piece, settle)

    def _wait(self, piece: _Piece, settle: float) -> float:
        """Return how many seconds a piece must stand before it is entered: who enters by hand is not overtaken."""
        return settle + (BY_HAND_S if piece.seen.colour in self._quicker else 0.0)

    def _enter(
        self,
        pieces: Sequence[_Piece],
        placing: PhotoPlacing,
        captured: CapturedFrame,
        snapshot: MatchSnapshot,
        missing: bool,
    ) -> bool:
        """Enter pieces in their order, one of each colour in a look; return whether any was."""
        state, done = snapshot.states[-1], set[str]()
        for piece in pieces:
            colour = piece.seen.colour
            move = placing.move(state, piece.seen.place or "", colour)
            if move is None or colour in done:
                continue
            after = state.after(move)
            if missing and not placing.may_place(after):
                # What ends the placing is entered only where all that is recorded is seen.
                continue
            answer = entered(self._night, "moves", {"moves": [str(move)]}, captured, snapshot)
            if not answer.ok:
                # Somebody was quicker: the next look is set beside what the record says by then.
                log.info("A piece that was seen could not be entered: %s", answer)
                continue
            self._is(piece, colour)
            self._quicker.discard(colour)
            state = after
            done.add(colour)
        return bool(done)


def _new_igloos(bare: BareCircle, captured: CapturedFrame) -> tuple[NewIgloo, ...] | None:
    from vision.cards.placed import new_igloos

    return new_igloos(bare, captured.image())


def _apart(one: NewIgloo, other: NewIgloo) -> float:
    """Return how far two pieces stand apart, in pixels."""
    return dist(one.at, other.at)


def placing_of(snapshot: MatchSnapshot) -> PhotoPlacing | None:
    """Return what reads the pieces that are put on cards in this game; None where none are, or not on the table."""
    cards = game_view(snapshot.game).cards
    return None if cards is None or snapshot.draw or not snapshot.goes_on else cards.placing
