"""A row of open cards that players take from in turns (*Arctic*'s River), and the piles before them, by the camera.

A turn is entered when two pictures of a scene that lies still show the same, every new card in it is sure, and the
rules know one turn only that leaves it. Where they know a few, one question is asked; where cards may be hidden, or
nothing explains what lies there, that is said, and people enter the turn as ever.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice, product
from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import numpy as np

from companion.follow import messages, questions
from companion.follow.deals import AGREE, SURE
from companion.follow.entries import entered
from companion.follow.evidence import was_taken_back
from companion.follow.following import FollowState, Standing
from companion.follow.pace import HALF_S
from companion.night.games import game_view
from companion.night.games.capabilities import OpenRow
from companion.ports import BadDataError
from companion.rules.inference.turns import Turn
from vision.track.candidate import TURN, WORTH_ASKING, Candidate, look_alike

if TYPE_CHECKING:
    from companion.follow.cards import CardTable
    from companion.night.commands.night import MatchSnapshot, Night
    from companion.night.games.capabilities import PhotoOpenRow
    from companion.ports import ByteArray, FloatArray
    from companion.rules.core import State
    from vision.camera.frame import CapturedFrame
    from vision.cards.lying import Lying
    from vision.cards.pile import Read
    from vision.cards.tokens import OpenTable, Track

LONG_S: Final = 20.0
"""So long what nothing explains may be a turn that is being played; then it is said."""
ASKED: Final = 0.5
"""A question is asked where the turns that it offers are likelier together than this."""
_TRACK: Final = 0.998
"""How surely the pieces on the track went as they were seen to go."""
_WAYS, _READINGS = 1000, 6
"""So many ways to read the new cards are weighed, and looked at."""
_NEAR: Final = 1.2
"""A card lies at a pile's place within so many card widths of it."""

log = logging.getLogger(__name__)


class RowLook(NamedTuple):
    """How it stands after a look; with ``candidates`` a question of a ``kind`` is to be asked."""

    state: FollowState
    note: str
    candidates: tuple[Candidate, ...] = ()
    kind: str = questions.TURN


@dataclass
class _Places:
    """Where the row and the piles of a match lie in the picture: outline (n, 2) of the row, width of a card, pixels."""

    match: str
    row: FloatArray
    width: float
    piles: dict[int, FloatArray] = field(default_factory=dict)


@dataclass
class _Agreed:
    """A picture of which it is agreed what lies there, how the pieces stand in it, and what is known of their track."""

    match: str
    table: OpenTable
    pieces: Mapping[str, int]
    track: Track


@dataclass(frozen=True)
class _Sorted:
    """What lies in the open, by where: reads of the row, and those that are new on the mover's pile, lowest first."""

    row: tuple[Read, ...]
    laid: tuple[Read, ...] = ()
    joined: bool = False
    strange: bool = False

    def key(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return what it is read as."""
        return tuple(sorted(one.name for one in self.row)), tuple(one.name for one in self.laid)


class RowWatcher:
    """Follows the turns of a game with a row of open cards. For one thread alone."""

    def __init__(self, night: Night, cards: CardTable) -> None:
        """Enter through ``night`` the turns that are played with the ``cards`` that were taught."""
        self._night, self._cards = night, cards
        self._places: _Places | None = None
        self._agreed: _Agreed | None = None
        self._seen: tuple[Standing, object, int] | None = None
        self._left: Standing | None = None
        self._unexplained: tuple[Standing, float] | None = None
        self._lying: tuple[str, Lying] | None = None
        """How the table of a match lay when it was last looked at."""
        self._half: tuple[object, float] | None = None
        """What may be half a turn, and since when it lies so."""

    def wants_another(self, now: float) -> bool:
        """Return whether another picture of the same scene is wanted; what may go on is given its time."""
        waits = self._half is not None and self._seen is not None and self._seen[2] == 0
        return self._seen is not None and (not waits or self._half is None or now - self._half[1] >= HALF_S)

    def in_the_way(self, row: PhotoOpenRow, snapshot: MatchSnapshot) -> tuple[FollowState, str] | None:
        """Return why nothing can be read now."""
        unknown = self._cards.why_unknown(snapshot.game)
        if unknown:
            return FollowState.TEACH, unknown
        state = snapshot.states[-1]
        if row.awaited(state) or row.mover(_begun(row, state).state) >= 0:
            return None
        if not row.row(state):
            return FollowState.NO_GAME, messages.SETTING_UP
        return FollowState.WAITING, messages.ROW_BY_HAND

    def forget(self) -> None:
        """Forget what a scene was read as: it has changed."""
        self._seen = None

    def leave(self, record: Standing) -> None:
        """Leave this turn to people: what they were offered was none of it."""
        self._left = record

    def look(self, row: PhotoOpenRow, captured: CapturedFrame, snapshot: MatchSnapshot, now: float) -> RowLook:
        """Read a picture of a settled scene, enter what is sure; return how it stands then."""
        from vision.cards.pile import clear, each_once, side_by_side

        record, state = Standing(snapshot.match, snapshot.state), snapshot.states[-1]
        image = captured.image()
        try:
            read, lying = self._cards.open_in(snapshot.game, image, row.may_lie(state), self._former(record, now))
        except BadDataError as error:
            return RowLook(FollowState.TEACH, str(getattr(error, "note", error)))
        begun, self._lying = _begun(row, state), (snapshot.match, lying)
        if row.awaited(state):
            return self._first(row, clear(each_once(read), SURE), captured, snapshot)
        groups = clear(each_once(self._as_likely(row, read, begun.state, snapshot.match)), SURE)
        if (lie := self._places) is not None:
            parts = [side_by_side(one, lie.width if _inside(lie.row, _middle(one[0])) else np.inf) for one in groups]
            groups = [one for part in parts for one in part]
        recorded, table = row.row(state), _table(image, groups)
        if self._agrees(row, groups, snapshot):
            rest = self._as_pieces_went(row, _all_of(row.rests(state)), table, snapshot)
            if rest and rest[0].moves != begun.moves:
                return self._judged(row, rest, _Sorted(()), captured, snapshot)
            self._learn(row, table, snapshot)
            self._lying = snapshot.match, lying.agreed([one for group in groups for one in group])
            self._seen = self._unexplained = None
            return RowLook(FollowState.WATCHING, messages.ROW_OPEN if begun.moves else messages.ROW_AGREES)
        if self._places is None or self._places.match != snapshot.match:
            return RowLook(FollowState.WAITING, messages.ROW_UNKNOWN)
        found = self._sorted(self._places, row, groups, begun.state)
        if found.strange or not (found.laid or set(recorded) - {one.name for one in found.row}):
            return self._unclear(record, now)
        if record == self._left:
            return RowLook(FollowState.WAITING, messages.ROW_LEFT)
        candidates, hidden = self._candidates(row, found, begun.state)
        hidden = hidden and {one.name for one in found.row} != set(recorded)
        candidates = self._as_pieces_went(row, candidates, table, snapshot)
        if not candidates:
            self._seen = None
            return RowLook(FollowState.WATCHING, messages.ROW_HIDDEN) if hidden else self._unclear(record, now)
        seen = OpenRow(tuple(one.name for one in found.row), tuple(one.name for one in found.laid), found.joined)
        candidates = _up_to_open(row, candidates, begun.state)
        goes_on = row.goes_on(begun.state, _turn_of(candidates[0]), seen)
        if goes_on and self._is_waiting((record, found.key()), now):
            self._seen = record, None, 0
            return RowLook(FollowState.THINKING, messages.HALF)
        self._unexplained = None
        candidates = tuple(replace(one, moves=(*begun.moves, *one.moves)) for one in candidates)
        return self._judged(row, candidates, found, captured, snapshot, goes_on=goes_on)

    def _judged(
        self,
        row: PhotoOpenRow,
        candidates: tuple[Candidate, ...],
        found: _Sorted,
        captured: CapturedFrame,
        snapshot: MatchSnapshot,
        *,
        goes_on: bool = False,
    ) -> RowLook:
        """Enter what two pictures show surely, or ask; what ``goes_on`` perhaps is always asked about."""
        record, best = Standing(snapshot.match, snapshot.state), candidates[0]
        what = found.key(), best.moves
        times = 1 + (self._seen[2] if self._seen is not None and self._seen[:2] == (record, what) else 0)
        if times < AGREE and (best.p >= SURE or self._seen is None):
            self._seen = record, what, times
            return RowLook(FollowState.THINKING, messages.THINKING)
        self._seen = None
        back = best.state is not None and was_taken_back(snapshot, len(snapshot.moves), best.state)
        if best.p >= SURE and not back and not goes_on:
            return self._enter(row, found, best, captured, snapshot)
        if sum(one.p for one in candidates) < ASKED:
            return RowLook(FollowState.WATCHING, messages.CARDS_UNSURE)
        same = look_alike(candidates, partial(_seen_of, row))
        # What may have been played besides leaves the same picture, where every card is sure.
        unseen = len(same) > 1 or (len(candidates) == 1 and all(one.p >= SURE for one in (*found.row, *found.laid)))
        kind = questions.UNSEEN if unseen else questions.TURN
        return RowLook(FollowState.QUESTION, messages.ASKING, same if len(same) > 1 else candidates, kind)

    # --- where everything lies

    def _former(self, record: Standing, now: float) -> Lying | None:
        """Return how the table lay before; None where that explains nothing for long: all is looked at anew then."""
        if self._lying is None or self._lying[0] != record.match or self._is_long(record, now):
            return None
        return self._lying[1]

    def _first(
        self, row: PhotoOpenRow, groups: Sequence[tuple[Read, ...]], captured: CapturedFrame, snapshot: MatchSnapshot
    ) -> RowLook:
        """Enter the row before the first turn, when it and nothing else lies there."""
        wanted, read = row.awaited(snapshot.states[-1]), [one for group in groups for one in group]
        if len(read) < wanted:
            return RowLook(FollowState.WATCHING, messages.CARDS_AWAITED)
        if len(groups) != wanted or len(read) != wanted or any(one.p < SURE for one in read):
            return RowLook(FollowState.WATCHING, messages.CARDS_UNSURE)
        record, names = Standing(snapshot.match, snapshot.state), tuple(one.name for one in read)
        if record == self._left or len(set(names)) < wanted:
            return RowLook(FollowState.WATCHING, messages.CARDS_UNSURE)
        if self._seen is None or self._seen[:2] != (record, frozenset(names)):
            self._seen = record, frozenset(names), 1
            return RowLook(FollowState.THINKING, messages.THINKING)
        self._seen, self._left = None, None
        moves = row.fill(names)
        if any(back.moves[: len(snapshot.moves)] == snapshot.moves for back in snapshot.taken_back):
            return RowLook(FollowState.WATCHING, messages.CARDS_UNSURE)
        if not entered(self._night, "moves", {"moves": moves}, captured, snapshot).ok:
            return RowLook(FollowState.WATCHING, messages.CARDS_UNSURE)
        self._places = _places(snapshot.match, read)
        return RowLook(FollowState.ENTERED, messages.CARDS_ENTERED)

    def _agrees(self, row: PhotoOpenRow, groups: Sequence[tuple[Read, ...]], snapshot: MatchSnapshot) -> bool:
        """Return whether all that lies there is as the record says; then it is learnt where it lies."""
        state = snapshot.states[-1]
        recorded, known = set(row.row(state)), row.piles(state)
        read = [one for group in groups for one in group]
        in_row = [group[0] for group in groups if group[0].name in recorded and len(group) == 1]
        if {one.name for one in in_row} != recorded or len(in_row) != len(recorded):
            return False
        tops = [group[-1] for group in groups]
        if any(one.name not in recorded | known and (one.p >= SURE or one in tops) for one in read):
            return False
        former = self._places if self._places is not None and self._places.match == snapshot.match else None
        self._places = _places(snapshot.match, in_row, former.piles if former is not None else {})
        for seat, top in enumerate(row.tops(state)):
            for one in read:
                if one.name == top:
                    self._places.piles[seat] = _middle(one)
        return True

    def _as_likely(
        self, row: PhotoOpenRow, read: Sequence[tuple[Read, ...]], state: State[Any], match: str
    ) -> Sequence[tuple[Read, ...]]:
        """Return what was read by what may lie there: what is new in the row, and what the mover laid on their card."""
        if self._places is None or self._places.match != match:
            return read
        (laid, comes), recorded, top = row.likely(state), row.row(state), row.tops(state)[row.mover(state)]
        piles, many = row.piles(state), len(row.may_lie(state))
        rows = None if comes is None else {**comes, **dict.fromkeys(recorded, 1 / max(1, len(recorded)))}
        lie, own = dict.fromkeys(piles, 1 / max(1, len(piles))), laid if top is None else {**laid, top: 1.0}
        told = []
        for group in read:
            # It is the mover's pile by the card on top of it; others may lie on none, or be old ones.
            likely: Mapping[str, float] | None = own if any(one.name == top for one in group) else {**lie, **own}
            if any(_inside(self._places.row, _middle(one)) for one in group):
                likely = rows
            elif any(one.name in piles - {top} and one.p >= SURE for one in group):
                likely = lie
            # Of two that look alike, the lower one is the card on top before.
            above = laid if likely is own else likely
            told.append(tuple(_weighed(one, above if number else likely, many) for number, one in enumerate(group)))
        return told

    def _sorted(
        self, places: _Places, row: PhotoOpenRow, groups: Sequence[tuple[Read, ...]], state: State[Any]
    ) -> _Sorted:
        """Return what lies in the row, and what is new beside it; strange: somewhere else than a turn would put it."""
        mover, tops, known = row.mover(state), row.tops(state), row.piles(state)
        in_row = [group for group in groups if any(_inside(places.row, _middle(one)) for one in group)]
        beside = [group for group in groups if group not in in_row]
        if any(len(group) > 1 or group[0].name in known for group in in_row):
            return _Sorted((), strange=True)
        cards = tuple(group[0] for group in in_row)
        new = [group for group in beside if any(one.name not in known for one in group)]
        if not new:
            return _Sorted(cards)
        group = new[0]
        names = [one.name for one in group]
        # New cards lie above all that lay there.
        first = next(number for number, name in enumerate(names) if name not in known)
        below, laid = names[:first], group[first:]
        seen = {one.name for other in groups for one in other}
        elsewhere = any(
            seat != mover and top not in seen and seat in places.piles
            and float(np.linalg.norm(places.piles[seat] - _middle(laid[-1]))) < _NEAR * places.width
            for seat, top in enumerate(tops)
        )  # fmt: skip
        own = not below or below[-1] == tops[mover]
        twice = {one.name for one in laid} & (known | {one.name for one in cards})
        odd = len(new) > 1 or laid[-1].covered or bool(twice)
        if elsewhere or odd or not own or (not below and tops[mover] in seen):
            return _Sorted(cards, strange=True)
        joined = bool(below) and not any(one.gap_before for one in laid)
        return _Sorted(cards, laid, joined)

    def _learn(self, row: PhotoOpenRow, table: OpenTable, snapshot: MatchSnapshot) -> None:
        """Learn where the pieces lie on their track from how they went since the last picture that was agreed on."""
        from vision.cards.tokens import Track, spots

        pieces, former = row.pieces(snapshot.states[-1]), self._agreed
        if former is None or former.match != snapshot.match:
            self._agreed = _Agreed(snapshot.match, table, pieces, Track(table.width))
            return
        if pieces != former.pieces:
            way = {name: place - former.pieces[name] for name, place in pieces.items()}
            former.track.learn(spots(former.table, table), way, former.pieces)
        self._agreed = _Agreed(snapshot.match, table, pieces, former.track)

    # --- what was played

    def _as_pieces_went(
        self, row: PhotoOpenRow, candidates: tuple[Candidate, ...], table: OpenTable, snapshot: MatchSnapshot
    ) -> tuple[Candidate, ...]:
        """Return the turns by how the pieces went, where that is seen."""
        from vision.cards.tokens import spots

        agreed, now = self._agreed, row.pieces(snapshot.states[-1])
        if agreed is None or agreed.match != snapshot.match or agreed.pieces != now or not candidates:
            return candidates
        seen = spots(agreed.table, table)
        if seen is None:
            return candidates
        after = [row.pieces(one.state) if one.state is not None else now for one in candidates]
        ways: list[dict[str, int]] = []
        for pieces in after:
            way = {name: place - now[name] for name, place in pieces.items()}
            if way not in ways:
                ways.append(way)
        chosen = agreed.track.read(seen, ways, now)
        if not seen and agreed.track.frame is not None and not chosen:
            return ()  # No piece has been moved yet.
        if not 0 < len(chosen) < len(ways):
            return candidates
        whole = sum(one.p for one in candidates)
        so = [ways.index({name: place - now[name] for name, place in pieces.items()}) in chosen for pieces in after]
        fitting = sum(one.p for one, fits in zip(candidates, so, strict=True) if fits)
        share, rest = _TRACK * whole / fitting, (1 - _TRACK) * whole / (whole - fitting)
        told = [replace(one, p=one.p * (share if fits else rest)) for one, fits in zip(candidates, so, strict=True)]
        told.sort(key=lambda one: -one.p)
        return tuple(one for one in told if one.p >= WORTH_ASKING)

    def _candidates(self, row: PhotoOpenRow, found: _Sorted, state: State[Any]) -> tuple[tuple[Candidate, ...], bool]:
        """Return the turns that may have been played, the likeliest first, and whether some may be hidden."""
        recorded, hidden, told = set(row.row(state)), False, list[Candidate]()
        for cards, laid, p in _readings(found, recorded):
            turns = row.turns(state, OpenRow(cards, laid, found.joined))
            hidden = hidden or turns.hidden
            told += _all_of(turns.turns, p, others=not turns.all_told)
        told.sort(key=lambda one: -one.p)
        return tuple(one for one in told if one.p >= WORTH_ASKING), hidden

    def _enter(
        self, row: PhotoOpenRow, found: _Sorted, best: Candidate, captured: CapturedFrame, snapshot: MatchSnapshot
    ) -> RowLook:
        moves = [str(move) for move in best.moves]
        if not entered(self._night, "moves", {"moves": moves}, captured, snapshot).ok:
            log.info("A turn that was seen could not be entered, as somebody was quicker: %s", moves)
            return RowLook(FollowState.WATCHING, messages.CARDS_UNSURE)
        if self._places is not None and found.laid:
            self._places.piles[row.mover(_begun(row, snapshot.states[-1]).state)] = _middle(found.laid[-1])
        return RowLook(FollowState.ENTERED, messages.ENTERED)

    def _is_waiting(self, what: object, now: float) -> bool:
        """Return whether what lies there may be the half of a turn, of which the rest is waited for."""
        if self._half is None or self._half[0] != what:
            self._half = what, now
        return now - self._half[1] < HALF_S

    def _unclear(self, record: Standing, now: float) -> RowLook:
        """Say that a turn is being played, or after long, that nothing explains what lies there."""
        self._seen = None
        if self._unexplained is None or self._unexplained[0] != record:
            self._unexplained = record, now
        note = messages.ROW_OTHERWISE if self._is_long(record, now) else messages.ROW_PLAYING
        return RowLook(FollowState.WATCHING, note)

    def _is_long(self, record: Standing, now: float) -> bool:
        """Return whether for long nothing has explained what lies there."""
        return self._unexplained is not None and self._unexplained[0] == record and now - self._unexplained[1] >= LONG_S


def _begun(row: PhotoOpenRow, state: State[Any]) -> Turn:
    """Return where the next turn begins: where the record stands, or once the turn that may be over there is."""
    return next(iter(row.rests(state)), Turn((), state, 0.0))


def _all_of(turns: Sequence[Turn], p: float = 1.0, *, others: bool = False) -> tuple[Candidate, ...]:
    """Return turns of which each is as likely; ``others``: as likely as each it is that another one was played."""
    share = p / max(1, len(turns) + others)
    return tuple(Candidate(TURN, share, turn.moves, turn.state, total=share) for turn in turns)


def _up_to_open(row: PhotoOpenRow, candidates: Sequence[Candidate], before: State[Any]) -> tuple[Candidate, ...]:
    """Return turns that may have been played, those that part in what nobody sees up to there, as one."""
    alike: dict[str, list[Candidate]] = {}
    for one in candidates:
        alike.setdefault(repr(_seen_of(row, one.state)), []).append(one)
    told: list[Candidate] = []
    for same in alike.values():
        part, p = row.part(before, list(map(_turn_of, same))), sum(one.p for one in same)
        told += same if part is None else [replace(same[0], p=p, moves=part.moves, state=part.state)]
    return tuple(sorted(told, key=lambda one: -one.p))


def _seen_of(row: PhotoOpenRow, after: Any) -> tuple[Any, ...]:
    """Return what is seen of a position."""
    return *map(sorted, (row.row(after), row.piles(after))), row.tops(after), row.pieces(after)


def _turn_of(one: Candidate) -> Turn:
    return Turn(one.moves, cast("State[Any]", one.state), 0.0)


def _readings(found: _Sorted, recorded: set[str]) -> Iterator[tuple[tuple[str, ...], tuple[str, ...], float]]:
    """Yield ways to read the cards, the likeliest first: the row, what was laid, and how likely that is."""
    options: list[list[tuple[str, float]]] = []
    for one in (*found.row, *found.laid):
        likely = sorted(((p, name) for name, p in one.names.items() if p >= WORTH_ASKING), reverse=True)
        sure = one.name in recorded or one.p >= SURE or not likely
        options.append([(one.name, one.p)] if sure else [(name, p) for p, name in likely])
    told: dict[tuple[str, ...], float] = {}
    for way in islice(product(*options), _WAYS):
        names = tuple(name for name, _ in way)
        if len(set(names)) == len(names):
            told[names] = prod(p for name, p in way if name not in recorded)
    # Each card is there once: what is left out by that is no way to read them.
    every = prod(sum(p for _, p in one) for one in options if one[0][0] not in recorded)
    share = every / max(1e-9, sum(told.values()))
    for names in sorted(told, key=lambda way: -told[way])[:_READINGS]:
        yield names[: len(found.row)], names[len(found.row) :], share * told[names]


def _weighed(one: Read, likely: Mapping[str, float] | None, many: int) -> Read:
    from vision.cards.pile import as_likely

    return one if likely is None else as_likely(one, likely, many)


def _places(match: str, row: Sequence[Read], piles: Mapping[int, FloatArray] | None = None) -> _Places:
    """Return where a row lies: the outline of its cards."""
    import cv2

    corners = np.concatenate([one.corners for one in row]).astype(np.float32)
    width = float(np.median([np.linalg.norm(one.corners[1] - one.corners[0]) for one in row]))
    return _Places(match, np.asarray(cv2.convexHull(corners)[:, 0], float), width, dict(piles or {}))


def _table(image: ByteArray, groups: Sequence[tuple[Read, ...]]) -> OpenTable:
    """Return a picture with where cards lie in it."""
    from vision.cards.tokens import OpenTable

    cards = tuple(one.corners for group in groups for one in group)
    width = float(np.median([np.linalg.norm(corners[1] - corners[0]) for corners in cards])) if cards else 1.0
    return OpenTable(image, cards, width)


def _inside(outline: FloatArray, point: FloatArray) -> bool:
    import cv2

    return cv2.pointPolygonTest(outline.astype(np.float32), (float(point[0]), float(point[1])), False) >= 0


def _middle(one: Read) -> FloatArray:
    middle: FloatArray = one.corners.mean(axis=0)
    return middle


def row_of(snapshot: MatchSnapshot) -> PhotoOpenRow | None:
    """Return what follows the turns of this game by its open cards; None where it has none, or the companion draws."""
    cards = game_view(snapshot.game).cards
    return None if cards is None or snapshot.draw or not snapshot.goes_on else cards.open_row
