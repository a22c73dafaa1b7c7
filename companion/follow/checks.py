"""What lies under the pieces on cards, seen by the camera as they are turned over: entered where it is surely whose.

Nothing is looked at before the check begins, and no picture that was taken before. A number is read from a sticker that
lies still on or beside a card, with no hand near it. Whose it is, is told by the pieces of that card that do not stand
there any more. What is not sure is said and left to people; what they enter themselves is set beside what is seen.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import dist
from typing import TYPE_CHECKING, Any, Final

from companion.follow import messages
from companion.follow.deals import AGREE, SURE, entered
from companion.follow.following import FollowState
from companion.night.games import game_view

if TYPE_CHECKING:
    from companion.follow.placings import PlacingWatcher
    from companion.night.commands.night import MatchSnapshot, Night
    from companion.night.games.capabilities import PhotoCheck
    from vision.camera.frame import CapturedFrame
    from vision.cards.placed import BareCircle, NewIgloo, TurnedIgloo

LEFT_S: Final = 4.0
"""So long a number is doubtful, or another than the record's, before that is said."""
_POSSIBLE: Final = 0.01
_SAME: Final = 0.2
_STILL: Final = 0.08
"""Seen so far off (card widths) a piece is the same, and so far off it has not moved."""

Pieces = Sequence[tuple[str, int | None]]
"""The pieces of a card in the record: (colour, number or None where none was entered)."""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Number:
    """A number that lies on a card: in how many looks just so, and since when."""

    seen: TurnedIgloo
    since: float
    looks: int


@dataclass(slots=True)
class _Seen:
    """What is known of one check, which began after the moves ``of`` of a match.

    ``stood``: the pieces of a card by colour and where, from a look in which all stood there. ``lying``: the numbers
    that lie on cards now, by card and number. ``whose``: of which colours they may be, by all looks that told it, hand
    or no hand. ``told``: the numbers of a card that lay there with no hand near, and whose they are.
    ``doubts``: what is said when it stays so, and since when: (note, card).
    """

    match: str
    of: tuple[Any, ...]
    stood: dict[str, list[tuple[str, tuple[float, float]]]] = field(default_factory=dict)
    lying: dict[tuple[str, int], _Number] = field(default_factory=dict)
    whose: dict[tuple[str, int], set[str]] = field(default_factory=dict)
    told: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    doubts: dict[tuple[str, str], float] = field(default_factory=dict)

    def told_on(self, place: str) -> dict[int, str]:
        """Return the numbers that were told on a card, and of which colours their pieces are."""
        return {number: colour for colour, number in self.told.get(place, ())}


class CheckWatcher:
    """Follows what is turned over on cards. For one thread alone."""

    def __init__(self, night: Night, placings: PlacingWatcher) -> None:
        """Enter through ``night`` what lies on the cards of which ``placings`` knows how they lay bare."""
        self._night, self._placings = night, placings
        self._check: _Seen | None = None
        self._number: int | None = None
        """The newest picture that is not to be looked at any more; None: the next may be from before the check."""

    def is_check(self, check: PhotoCheck | None, snapshot: MatchSnapshot | None) -> bool:
        """Return whether pieces are being turned over. At all other times nothing is known of any."""
        if check is None or snapshot is None or not check.lying(snapshot.states[-1]):
            self._check = self._number = None
            return False
        before = snapshot.moves[: _began(check, snapshot)]
        if self._check is None or (self._check.match, self._check.of) != (snapshot.match, before):
            self._check, self._number = _Seen(snapshot.match, before), None
        return True

    def why_not(self, check: PhotoCheck, snapshot: MatchSnapshot) -> tuple[FollowState, str] | None:
        """Return why nothing can be followed now."""
        if self._bare(check, snapshot) is None:
            return FollowState.WAITING, messages.PLACES_UNKNOWN
        return None

    def may_look(self, captured: CapturedFrame) -> bool:
        """Return whether a picture is another than the last, and surely none from before the check."""
        former, self._number = self._number, captured.number
        return former not in (None, captured.number)

    def look(
        self, check: PhotoCheck, captured: CapturedFrame, snapshot: MatchSnapshot, now: float, settle: float
    ) -> tuple[FollowState, str]:
        """Look once while pieces are turned over, enter what is sure; return how it stands then.

        ``now``: the clock's seconds; ``settle``: so many seconds a number must lie still.
        """
        from vision.cards.placed import igloos_in_check

        bare, seen = self._bare(check, snapshot), self._check
        found = None if bare is None else igloos_in_check(bare, captured.image())
        if seen is None or bare is None or found is None:
            return FollowState.LOST, messages.PLACES_LOST
        record = check.pieces(snapshot.states[-1])
        gone = {
            place: _gone(seen, place, pieces, [one for one in found[0] if one.place == place], bare.width)
            for place, pieces in record.items()
        }
        _track(seen, found[1], gone, bare.width, now)
        doubts = _tell(seen, record, gone, now - settle)
        doubts |= {(messages.CHECK_OTHERWISE, place) for place in record if _contradicts(seen, place, record)}
        moves = self._sure(check, seen, snapshot, doubts)
        seen.doubts = {doubt: seen.doubts.get(doubt, now) for doubt in doubts}
        if moves:
            answer = entered(self._night, "moves", {"moves": moves}, captured, snapshot)
            if answer.ok:
                return FollowState.ENTERED, messages.CHECKED
            # Somebody was quicker: the next look is set beside what the record says by then.
            log.info("Numbers that were seen could not be entered: %s", answer)
        lasting = {note for (note, _), since in seen.doubts.items() if now - since >= LEFT_S}
        for note in (messages.CHECK_OTHERWISE, messages.CHECK_UNSURE):
            if note in lasting:
                return FollowState.WATCHING, note
        return FollowState.WATCHING, messages.CHECK_KNOWN

    def _bare(self, check: PhotoCheck, snapshot: MatchSnapshot) -> BareCircle | None:
        return self._placings.bare_of(snapshot.match, check.lying(snapshot.states[-1]))

    def _sure(self, check: PhotoCheck, seen: _Seen, snapshot: MatchSnapshot, doubts: set[tuple[str, str]]) -> list[str]:
        """Return the moves that enter what was told, in the order in which it was; add what is left to people."""
        back, state, moves = _taken_back(check, snapshot), snapshot.states[-1], list[str]()
        places = [place for place in seen.told if (messages.CHECK_OTHERWISE, place) not in doubts]
        while places:
            for place in places:
                number = _next(seen, place, check.pieces(state).get(place, ()))
                move = None if number is None else check.move(state, place, number)
                if move is not None and str(move) not in back:
                    moves.append(str(move))
                    state = state.after(move)
                    break
            else:
                break
        for place in places:
            pieces = check.pieces(state).get(place, ())
            left = set(seen.told_on(place)) - {number for _, number in pieces}
            number = _next(seen, place, pieces)
            if left and check.lying(state) and (number is None or f"{check.move(state, place, number)}" in back):
                doubts.add((messages.CHECK_UNSURE, place))
        return moves


def _began(check: PhotoCheck, snapshot: MatchSnapshot) -> int:
    """Return how many moves there were before the check began."""
    began = len(snapshot.moves)
    while began and check.lying(snapshot.states[began - 1]):
        began -= 1
    return began


def _taken_back(check: PhotoCheck, snapshot: MatchSnapshot) -> set[str]:
    """Return what people took back in this check. They know better: it is not entered again by itself."""
    began = _began(check, snapshot)
    return {
        str(move)
        for back in snapshot.taken_back
        if back.moves[:began] == snapshot.moves[:began]
        for move in back.moves[max(began, back.kept) :]
    }


def _gone(seen: _Seen, place: str, pieces: Pieces, upright: Sequence[NewIgloo], width: float) -> Counter[str] | None:
    """Return the colours of a card's pieces that do not stand there and whose numbers nobody knows; None: not told."""
    every = Counter(colour for colour, _ in pieces)
    if place not in seen.stood and len(upright) == len(pieces):
        colours = [_of_these(one, every) for one in upright]
        if Counter(colours) == every:
            seen.stood[place] = [(colour or "", one.at) for colour, one in zip(colours, upright, strict=True)]
    if place in seen.stood:
        standing = Counter(
            colour
            for colour, at in seen.stood[place]
            if any(dist(one.at, at) <= _SAME * width and one.colours.get(colour, 0) >= _POSSIBLE for one in upright)
        )
    elif len(every) == 1:
        standing = Counter(dict.fromkeys(every, len(upright)))
    else:
        return None
    shown = {(colour, number) for colour, number in pieces if number is not None}
    return every - standing - Counter(colour for colour, _ in shown | set(seen.told.get(place, ())))


def _of_these(one: NewIgloo, colours: Iterable[str]) -> str | None:
    """Return which of these colours a piece has; None where that is not sure."""
    likely = {colour: one.colours.get(colour, 0.0) for colour in colours}
    best = max(likely, key=likely.__getitem__)
    return best if likely[best] >= max(_POSSIBLE, SURE * sum(likely.values())) else None


def _track(
    seen: _Seen, found: Iterable[TurnedIgloo], gone: Mapping[str, Counter[str] | None], width: float, now: float
) -> None:
    """Follow the numbers that lie on cards, and keep whose they are; what moves begins anew.

    While all pieces of a card stand but those of one colour, what lies there is of that colour: those that stand are
    seen, so one look tells it. Looks that tell otherwise make it doubtful.
    """
    lying = {}
    here = [one for one in found if one.place is not None]
    for one in here:
        key, left = (one.place or "", one.number), gone.get(one.place or "")
        told = seen.told_on(key[0])
        others = Counter(
            colour
            for other in here
            if other.place == one.place and other.number not in (one.number, *told)
            for colour in seen.whose.get((key[0], other.number), ())
        )
        may_be = Counter[str]() if left is None else left - others
        if len(may_be) == 1 and one.number not in told:
            seen.whose.setdefault(key, set()).update(may_be)
        former = seen.lying.get(key)
        moved = former is None or dist(former.seen.at, one.at) > _STILL * width
        lying[key] = (
            _Number(one, now, 1) if former is None or moved else replace(former, seen=one, looks=former.looks + 1)
        )
    seen.lying = lying


def _tell(
    seen: _Seen, record: Mapping[str, Pieces], gone: Mapping[str, Counter[str] | None], since: float
) -> set[tuple[str, str]]:
    """Keep whose the numbers are that have lain still since a time; return what is doubtful, as (note, card)."""
    doubts = set()
    entered_at = {number: place for place, pieces in record.items() for _, number in pieces if number is not None}
    told_at = {number: place for place in seen.told for number in seen.told_on(place)}
    for (place, number), one in sorted(seen.lying.items(), key=lambda item: item[1].since):
        if place in (entered_at.get(number), told_at.get(number)):
            continue
        left, colours = gone.get(place), seen.whose.get((place, number), set[str]())
        whose = next(iter(colours)) if len(colours) == 1 else None
        if number in entered_at or all(shown is not None for _, shown in record.get(place, ())):
            doubts.add((messages.CHECK_OTHERWISE, place))
        elif number in told_at or whose is None or left is None or not left[whose]:
            doubts.add((messages.CHECK_UNSURE, place))
        elif one.seen.free and one.looks >= AGREE and one.since <= since:
            seen.told.setdefault(place, []).append((whose, number))
            left[whose] -= 1
    return doubts


def _contradicts(seen: _Seen, place: str, record: Mapping[str, Pieces]) -> bool:
    """Return whether the record has other numbers than those that were told on a card."""
    shown = {number: colour for colour, number in record[place] if number is not None}
    elsewhere = {number for other, pieces in record.items() if other != place for _, number in pieces}
    told = seen.told_on(place)
    if any(number in elsewhere or shown.get(number, colour) != colour for number, colour in told.items()):
        return True
    unentered = Counter(colour for number, colour in told.items() if number not in shown)
    return bool(unentered - Counter(colour for colour, number in record[place] if number is None))


def _next(seen: _Seen, place: str, pieces: Pieces) -> int | None:
    """Return the number of a card's next piece, where it was told."""
    shown = {number for _, number in pieces}
    colour = next((colour for colour, number in pieces if number is None), None)
    return next((number for whose, number in seen.told.get(place, ()) if whose == colour and number not in shown), None)


def check_of(snapshot: MatchSnapshot) -> PhotoCheck | None:
    """Return what reads the pieces that are turned over in this game; None where none are, or not on the table."""
    cards = game_view(snapshot.game).cards
    return None if cards is None or snapshot.draw or not snapshot.goes_on else cards.check
