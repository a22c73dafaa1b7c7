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
from functools import partial
from itertools import permutations
from math import dist, prod
from typing import TYPE_CHECKING, Any, Final

from companion.follow import messages
from companion.follow.deals import AGREE, SURE
from companion.follow.entries import entered
from companion.follow.following import FollowState
from companion.follow.pace import AGAIN_S, LOOKS
from companion.night.games import game_view
from vision.camera.stillness import SceneMemory

if TYPE_CHECKING:
    from companion.follow.placings import PlacingWatcher
    from companion.night.commands.night import MatchSnapshot, Night
    from companion.night.games.capabilities import PhotoCheck
    from vision.camera.frame import CapturedFrame
    from vision.cards.placed import BareCircle, CheckLook, NewIgloo, TurnedIgloo

LEFT_S: Final = 4.0
"""So long a number is doubtful, or another than the record's, before that is said."""
_POSSIBLE: Final = 0.01
_MOST: Final = 5
"""More pieces than this do not stand on a card."""
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
class _Beside:
    """Of which colour the thaler beside a number is: in how many looks just so, since when; ``whole``: whether every
    piece of its card lay there.
    """

    colour: str
    since: float
    whole: bool
    looks: int = 1


@dataclass(slots=True)
class _Seen:
    """What is known of one check, which began after the moves ``of`` of a match.

    ``stood``: the pieces of a card by colour, from a look in which all stood there, while they were placed or since.
    ``lying``: the numbers that lie on cards now, by card and number; ``over``: all that were seen on or over a card.
    ``whose``: of which colours they may be, by all looks that told it, hand or no hand. ``beside``: what thalers tell
    of them. ``empty``: since when all pieces of a card are gone. ``told``: the numbers of a card, and whose they are.
    ``doubts``: what is said when it stays so, and since when: (note, card).
    """

    match: str
    of: tuple[Any, ...]
    stood: dict[str, list[tuple[str, NewIgloo]]] = field(default_factory=dict)
    lying: dict[tuple[str, int], _Number] = field(default_factory=dict)
    whose: dict[tuple[str, int], set[str]] = field(default_factory=dict)
    beside: dict[tuple[str, int], _Beside] = field(default_factory=dict)
    over: dict[str, set[int]] = field(default_factory=dict)
    empty: dict[str, float] = field(default_factory=dict)
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
        self._sight: SceneMemory[CheckLook | None] = SceneMemory(AGAIN_S, LOOKS)
        self._open = True
        """Whether the last look left anything open: what lies so is looked at in every picture."""

    def is_check(self, check: PhotoCheck | None, snapshot: MatchSnapshot | None) -> bool:
        """Return whether pieces are being turned over. At all other times nothing is known of any."""
        if check is None or snapshot is None or not check.lying(snapshot.states[-1]):
            self._check = self._number = None
            return False
        before = snapshot.moves[: _began(check, snapshot)]
        if self._check is None or (self._check.match, self._check.of) != (snapshot.match, before):
            self._check, self._number = _Seen(snapshot.match, before), None
            self._sight.forget()
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
        bare, seen = self._bare(check, snapshot), self._check
        found = None
        if bare is not None:
            found = self._sight.see(now, captured.small(), partial(_igloos, bare, captured), anew=self._open)
        self._open = True
        if seen is None or bare is None or found is None:
            return FollowState.LOST, messages.PLACES_LOST
        record, lying = check.pieces(snapshot.states[-1]), check.lying(snapshot.states[-1])
        for place, pieces in record.items():
            if place not in seen.stood:
                _stood(seen, place, pieces, self._placings.seen_standing(snapshot.match, lying, place))
                _stood(seen, place, pieces, [one for one in found.upright if one.place == place])
        gone = {place: _gone(seen, place, pieces, found, bare.width) for place, pieces in record.items()}
        _track(seen, found.turned, gone, bare.width, now)
        _look_beside(seen, found, gone, bare.width, now)
        doubts = _tell(seen, record, gone, now - settle)
        _tell_rest(seen, record, gone, found, bare.width, now, settle)
        doubts |= {(messages.CHECK_OTHERWISE, place) for place in record if _contradicts(seen, place, record)}
        moves = self._sure(check, seen, snapshot, doubts)
        told = {(place, number) for place in seen.told for number in seen.told_on(place)}
        self._open = bool(moves or doubts) or not seen.lying.keys() <= told
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


def _igloos(bare: BareCircle, captured: CapturedFrame) -> CheckLook | None:
    from vision.cards.placed import igloos_in_check

    return igloos_in_check(bare, captured.image())


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


def _stood(seen: _Seen, place: str, pieces: Pieces, upright: Sequence[NewIgloo]) -> None:
    """Keep where which of a card's pieces stands, if all of them do here and it is sure which is which."""
    if place in seen.stood or len(upright) != len(pieces) or not 0 < len(pieces) <= _MOST:
        return
    ways = {
        way: prod(one.colours.get(colour, 0.0) for colour, one in zip(way, upright, strict=True))
        for way in set(permutations(colour for colour, _ in pieces))
    }
    best = max(ways, key=ways.__getitem__)
    likely = all(one.colours.get(colour, 0.0) >= _POSSIBLE for colour, one in zip(best, upright, strict=True))
    if likely and ways[best] >= SURE * sum(ways.values()):
        seen.stood[place] = list(zip(best, upright, strict=True))


def _gone(seen: _Seen, place: str, pieces: Pieces, found: CheckLook, width: float) -> Counter[str] | None:
    """Return the colours of a card's pieces that do not stand there and whose numbers nobody knows; None: not told."""
    every = Counter(colour for colour, _ in pieces)
    if place in seen.stood:
        standing = Counter(colour for colour, one in seen.stood[place] if _stands(colour, one, place, found, width))
    elif len(every) == 1:
        standing = Counter(dict.fromkeys(every, sum(one.place == place for one in found.upright)))
    else:
        return None
    shown = {(colour, number) for colour, number in pieces if number is not None}
    return every - standing - Counter(colour for colour, _ in shown | set(seen.told.get(place, ())))


def _stands(colour: str, stood: NewIgloo, place: str, found: CheckLook, width: float) -> bool:
    """Return whether a piece stands where it stood."""
    return any(
        one.place == place and dist(one.at, stood.at) <= _SAME * width and one.colours.get(colour, 0) >= _POSSIBLE
        for one in found.upright
    )


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
        seen.over.setdefault(one.place or "", set()).add(one.number)
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


def _look_beside(
    seen: _Seen, found: CheckLook, gone: Mapping[str, Counter[str] | None], width: float, now: float
) -> None:
    """Keep whose the numbers of a card are by the thalers beside them, where pieces of several colours are gone.

    People tell them apart so, too: what becomes of a thaler depends on the number of its igloo.
    """
    from vision.cards.loose import loose_thalers, thalers_beside

    unsure = {
        place: left
        for place, left in gone.items()
        if left is not None and len(left) > 1 and any(where == place for where, _ in seen.lying)
    }
    if not unsure:
        return
    known: dict[str, list[NewIgloo]] = {}
    for colour, one in (every for stood in seen.stood.values() for every in stood):
        known.setdefault(colour, []).append(one)
    # Where an igloo stood it may stand, though it is not found; what looks like one elsewhere may be a loose thaler.
    others = [one.at for stood in seen.stood.values() for _, one in stood]
    others += [*found.stickers, *(one.at for one in found.upright if one.place not in seen.stood)]
    thalers = loose_thalers(found.change, known, others, width)
    for place, left in unsure.items():
        here = {number: one for (where, number), one in seen.lying.items() if where == place}
        told = seen.told_on(place)
        if not all(one.seen.free for one in here.values()):
            continue
        expected = left + Counter(told[number] for number in here if number in told)
        beside = thalers_beside({n: one.seen.at for n, one in here.items()}, thalers, expected, width) or {}
        for number, colour in beside.items():
            former, whole = seen.beside.get((place, number)), len(here) == expected.total()
            if former is not None and (former.colour, former.whole) == (colour, whole):
                former.looks += 1
            else:
                seen.beside[place, number] = _Beside(colour, now, whole)


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
        beside = seen.beside.get((place, number))
        if beside is not None and beside.looks >= AGREE and not colours:
            # Whose piece is not seen to lie may yet put it down beside another's thaler.
            whose = beside.colour if beside.whole or beside.since <= since - LEFT_S else None
        if number in entered_at or all(shown is not None for _, shown in record.get(place, ())):
            doubts.add((messages.CHECK_OTHERWISE, place))
        elif number in told_at or whose is None or left is None or not left[whose]:
            doubts.add((messages.CHECK_UNSURE, place))
        elif one.seen.free and one.looks >= AGREE and one.since <= since:
            seen.told.setdefault(place, []).append((whose, number))
            left[whose] -= 1
    return doubts


def _tell_rest(
    seen: _Seen,
    record: Mapping[str, Pieces],
    gone: Mapping[str, Counter[str] | None],
    found: CheckLook,
    width: float,
    now: float,
    settle: float,
) -> None:
    """Keep whose the numbers are that were seen over a card whose pieces are all gone: read in a hand, or briefly.

    There must be as many as are wanted, and no other card may want one that was not seen there.
    """
    known = {number for told in seen.told.values() for _, number in told}
    known |= {number for pieces in record.values() for _, number in pieces if number is not None}
    over = {place: seen.over.get(place, set()) - known for place in record}
    upright = Counter(one.place for one in found.upright)
    want = {
        place: sum(number is None for _, number in pieces) - upright[place] if left is None else left.total()
        for (place, pieces), left in zip(record.items(), gone.values(), strict=True)
    }
    for place, pieces in record.items():
        left, stood = gone[place], [one for _, one in seen.stood.get(place, ())]
        here = upright[place] or any(where == place for where, _ in seen.lying)
        if not left or here or len(stood) != len(pieces) or not all(found.is_free(one.at, width) for one in stood):
            seen.empty.pop(place, None)
            continue
        numbers = over[place] - {number for _, number in seen.lying}
        wanted = any(want[other] > len(over[other]) for other in record if other != place)
        if seen.empty.setdefault(place, now) > now - settle or len(numbers) != left.total() or wanted:
            continue
        whose = {number: _whose(seen, place, number) for number in numbers}
        rest = left - Counter(colour for colour in whose.values() if colour)
        # Two pieces whose numbers only a hand showed are told apart by nothing.
        if "" not in whose.values() and len(rest) <= 1 and rest.total() == list(whose.values()).count(None):
            only = next(iter(rest), "")
            seen.told.setdefault(place, []).extend((colour or only, number) for number, colour in whose.items())
            left.clear()


def _whose(seen: _Seen, place: str, number: int) -> str | None:
    """Return the colour that was seen to be a number's, by who stood meanwhile or by its thaler.

    None: nothing told it; empty: looks told otherwise.
    """
    colours, beside = seen.whose.get((place, number), set[str]()), seen.beside.get((place, number))
    if colours:
        return next(iter(colours)) if len(colours) == 1 else ""
    return beside.colour if beside is not None and beside.looks >= AGREE else None


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
