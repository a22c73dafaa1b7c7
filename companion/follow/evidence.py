"""From a look at the board to evidence, and from the night's match to what the tracker asks for."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from companion.follow import messages
from companion.night.answers import CAMERA
from companion.night.games import game_view
from companion.rules.core import CHANCE, RulesError
from companion.rules.inference.turns import Content as PlaceContent
from companion.rules.inference.turns import Evidence, content, search_of
from vision.board.labels import Content, from_json
from vision.board.patches import Sampler
from vision.read.diff import compare
from vision.read.place_posterior import UNSURE
from vision.track.evidence import (
    AS_WAS,
    AS_WAS_WITHIN,
    HIDDEN,
    belief_as_was,
    belief_of_known,
    belief_of_look,
    belief_of_strange,
)
from vision.track.parts import entered_in_parts, is_unseen, turn_starts
from vision.track.tracker import Stood, Tracker, misfits, public_view

if TYPE_CHECKING:
    from companion.night.commands.night import MatchSnapshot
    from companion.rules.core import Move, State
    from companion.rules.inference.belief import Belief
    from vision.board.layout import Layout, Place
    from vision.read.place_posterior import PlaceLook
    from vision.read.reader import BoardLook

REMEMBER = 6
"""So many turns may be gone back."""
AN_ARM = 4
"""Places in a group that an arm covers at least."""
BESIDE = 1.3
"""Places whose centres lie no farther apart than this in either direction, in board units, lie beside each other."""
RIM = 0.5
"""A place that begins within so many units of the board's edge lies at it."""
MANY = 10
"""With so many strange places, wherever they are, there is nothing to be read."""


NOTHING_STOOD = Stood()
"""Nothing is known of the table yet."""


@dataclass(frozen=True, slots=True)
class TrackedMatch:
    """A match as the tracker sees it; ``marks`` tells of each of its positions after how many steps it was reached."""

    tracker: Tracker
    marks: tuple[int, ...]


def tracked_match(snapshot: MatchSnapshot, stood: Stood = NOTHING_STOOD) -> TrackedMatch:
    """Return the last turns of a match, with the state it is in and what ``stood`` in it, for the tracker."""
    marks = turn_starts(snapshot.states)[-1 - REMEMBER :]
    turns = [tuple(snapshot.moves[one:other]) for one, other in pairwise(marks)]
    return TrackedMatch(Tracker([snapshot.states[n] for n in marks], REMEMBER, turns, stood), tuple(marks))


@dataclass(frozen=True, slots=True)
class Misread:
    """A place that was read wrongly, as people said: as what it was read, if it looked strange, and what lies there.

    A strange place is read all the same: from which a bear walked off looks as strange as before, but is read as bare.
    """

    read: Content
    odd: bool
    true: Content

    def again(self, place: PlaceLook) -> bool:
        """Return whether the place is read so once more."""
        return (self.read, self.odd) == _read(place)


def misread_in(seen: BoardLook, contents: Mapping[str, Content]) -> dict[str, Misread]:
    """Return the places of a look that are not read as what people say lies there."""
    return {
        name: Misread(*_read(place), contents[name])
        for name, place in seen.places.items()
        if name in contents and _read(place) != (contents[name], False)
    }


def _read(place: PlaceLook) -> tuple[Content, bool]:
    return place.content, place.odd >= HIDDEN


@dataclass(frozen=True, slots=True)
class Agreed:
    """A look at a board of which it is agreed what lies there: that of a match after these moves."""

    match: str
    moves: tuple[Move, ...]
    seen: BoardLook


@dataclass(frozen=True, slots=True)
class Since:
    """What a look tells against one of which it is agreed what lay there.

    ``known``: what lay in the places that look just as they did then; ``within``: in those whose middle does, where one
    piece at most may lie. ``unlike``: those that look otherwise, and how much of that is plain (up to 1), but for those
    where the record has something else since; ``was``: what lay in these. ``whole``: there are none
    of these, since it is the record's position that was agreed on.
    """

    known: Mapping[str, Content] = field(default_factory=dict)
    within: Mapping[str, Content] = field(default_factory=dict)
    unlike: Mapping[str, float] = field(default_factory=dict)
    was: Mapping[str, Content] = field(default_factory=dict)
    whole: bool = False


def since_agreed(agreed: Agreed | None, snapshot: MatchSnapshot, seen: BoardLook) -> Since:
    """Return what changed since it was agreed what lies there; nothing is told where that was never so."""
    if agreed is None or agreed.match != snapshot.match or snapshot.moves[: len(agreed.moves)] != agreed.moves:
        return Since()
    if agreed.seen.straight is None or seen.straight is None:
        return Since()
    contents = contents_of(snapshot.states[len(agreed.moves)], seen.layout)
    found = compare(Sampler(seen.layout), agreed.seen.straight, seen.straight)
    known = {name: contents[name] for name in found.quiet if name in contents and seen.places[name].seen}
    rest = set(contents) - set(known) - set(found.unlike) if any(seen.layout.heaps) and found.quiet else ()
    within = {name: contents[name] for name in rest if seen.places[name].seen}
    recorded = contents_of(snapshot.states[-1], seen.layout)
    names = [name for name in found.unlike if seen.places[name].seen and recorded[name] == contents[name]]
    whole = len(agreed.moves) == len(snapshot.moves)
    unlike, was = {name: found.unlike[name] for name in names}, {name: contents[name] for name in names}
    return Since(known, within, unlike, was, whole)


def looks_alike(one: BoardLook, other: BoardLook) -> bool:
    """Return whether nothing that is seen in one look looks otherwise in another, by their pictures."""
    if one.straight is None or other.straight is None or one.straight.shape != other.straight.shape:
        return False
    return not compare(Sampler(one.layout), one.straight, other.straight).unlike


def stood_through(agreed: Agreed | None, snapshot: MatchSnapshot, seen: BoardLook, after: State[Any]) -> Stood:
    """Return what stood as it was while the turn was played that leads from a record to ``after``, now seen."""
    since = since_agreed(agreed, snapshot, seen)
    if not since.whole:
        return Stood()
    was, now = contents_of(snapshot.states[-1], seen.layout), contents_of(after, seen.layout)
    same = [name for name, there in was.items() if now[name] == there and seen.places[name].seen]
    return Stood(len(same), sum(since.unlike.get(name, 0.0) for name in same))


def was_taken_back(snapshot: MatchSnapshot, kept: int, after: State[Any], since: int = 0) -> bool:
    """Return whether people took back, after the entry ``since``, what leads from ``kept`` moves to a position.

    People know better: what they took back is not for the camera to enter again by itself. Where turns are entered in
    parts, neither is a turn in which what they took back is one part of what changes.
    """
    shown, before = public_view(after), snapshot.states[kept]
    in_parts = entered_in_parts(before)
    return any(
        back.seq > since
        and back.moves[:kept] == snapshot.moves[:kept]
        and any(public_view(state) == shown or (in_parts and _holds(before, after, state)) for state in back.states)
        for back in snapshot.taken_back
    )


def _holds(before: State[Any], after: State[Any], part: State[Any]) -> bool:
    """Return whether what changed to one position changed to another too, with whatever else did."""
    was, now, then = (
        {name: content(place) for name, place in state.position()["places"].items()} for state in (before, after, part)
    )
    changed = [name for name, there in then.items() if there != was[name]]
    return bool(changed) and all(_as_much(was[name], now[name], then[name]) for name in changed)


def _as_much(was: PlaceContent, now: PlaceContent, then: PlaceContent) -> bool:
    """Return whether a place changed from what it was at least as it did ``then``: of a heap so many left, or came."""
    if now[0] != then[0]:
        return False
    before, after, part = ({(kind, what): n for kind, what, n in there[1]} for there in (was, now, then))
    for thing in {*before, *part}:
        change, whole = (there.get(thing, 0) - before.get(thing, 0) for there in (part, after))
        if change and (whole * change < 0 or abs(whole) < abs(change)):
            return False
    return True


def unheard_of(contents: Iterable[Content], known: Iterable[int], layout: Layout) -> bool:
    """Return whether things of a kind are among contents of which none was ever taught."""
    kinds = {layout.things[thing].kind for thing in known}
    return any(layout.things[thing].kind not in kinds for content in contents for thing, _ in content.things)


class KeptBeliefs:
    """What is believed of places, as long as a look holds what another held of them. Not for several threads at once.

    A place that looks as it did is not read again, and need not be thought about again.
    """

    def __init__(self) -> None:
        """Know none yet."""
        self._taught: Mapping[int, int] | None = None
        self._known: dict[str, tuple[PlaceLook, Told, Belief]] = {}

    def of(self, name: str, place: PlaceLook, layout: Layout, taught: Mapping[int, int], told: Told) -> Belief:
        """Return what is believed of a place that was looked at, and of which this is told beside."""
        if taught != self._taught:
            self._taught, self._known = dict(taught), {}
        if (known := self._known.get(name)) is not None and known[0] is place and known[1] == told:
            return known[2]
        belief = told.belief(place, layout, taught)
        self._known[name] = (place, told, belief)
        return belief


@dataclass(frozen=True, slots=True)
class Told:
    """What is told of a place beside what is read there.

    ``unlike`` and ``was`` as in :func:`vision.track.evidence.belief_of_look`; ``true``: what people said lies there,
    which is read as it was then; ``same``: what lay there when it looked so, and how much likelier that is.
    """

    unlike: float = 0.0
    was: Content | None = None
    true: Content | None = None
    same: tuple[Content, float] | None = None

    def belief(self, place: PlaceLook, layout: Layout, taught: Mapping[int, int]) -> Belief:
        """Return what is believed of the place."""
        if self.true is not None:
            belief = belief_of_known(self.true, layout)
        else:
            belief = belief_of_look(place, layout, taught, self.unlike, self.was)
        return belief if self.same is None else belief_as_was(belief, self.same[0], layout, self.same[1])


def evidence_of(
    seen: BoardLook,
    layout: Layout,
    taught: Mapping[int, int],
    misread: Mapping[str, Misread] | None = None,
    since: Since | None = None,
    kept: KeptBeliefs | None = None,
) -> Evidence:
    """Return what a look tells the tracker; of strange places, that what never was taught lies there, if anything.

    What is read as it was when people said that it is something else is that still, unless it looks otherwise
    ``since``: searched igloos may be read alike with a bear and without. ``kept``: what was believed of the looks
    before.
    """
    since = since or Since()
    kept = kept or KeptBeliefs()
    same = {
        name: (there, more)
        for known, more in ((since.within, AS_WAS_WITHIN), (since.known, AS_WAS))
        for name, there in known.items()
    }
    places = {}
    for name, place in seen.places.items():
        wrong = None if name in since.unlike else (misread or {}).get(name)
        true = wrong.true if wrong is not None and wrong.again(place) else None
        if place.seen or true is not None:
            told = Told(since.unlike.get(name, 0.0), since.was.get(name), true, same.get(name))
            places[name] = kept.of(name, place, layout, taught, told)
    return Evidence(places)


def _plain(seen: BoardLook) -> list[str]:
    return [name for name, place in seen.places.items() if place.seen and place.odd < HIDDEN]


def covered(seen: BoardLook) -> tuple[str, ...]:
    """Return the places over which something else lies: a hand, a cup, a piece that was never taught."""
    return tuple(name for name, place in seen.places.items() if place.seen and place.odd >= HIDDEN)


def is_hand(seen: BoardLook, known: Container[str] = (), unlike: Mapping[str, float] | None = None) -> bool:
    """Return whether what lies over some places is a hand or the like, not only a strange piece on one of them.

    An arm comes in over the board's edge and covers several places in a row; a strange piece, with its shadow, at
    most its neighbours. Places that are ``known`` to look as they did are under no hand, however odd they look. Where
    it can be told which places look plainly otherwise (``unlike``: 1), a hand makes most of those so which it covers.
    """
    names = [name for name in covered(seen) if name not in known]
    if len(names) >= MANY:
        return True
    places, left = {place.name: place for place in seen.layout.places}, set(names)
    while left:
        group, edge = [left.pop()], False
        for name in group:
            here = places[name]
            edge = edge or _at_edge(here, seen.layout)
            beside = {n for n in left if max(abs(places[n].x - here.x), abs(places[n].y - here.y)) <= BESIDE}
            left -= beside
            group += beside
        changed = group if unlike is None else [name for name in group if unlike.get(name, 0.0) >= 1]
        if edge and len(group) >= AN_ARM and 2 * len(changed) > len(group):
            return True
    return False


def _at_edge(place: Place, layout: Layout) -> bool:
    left, far = place.x - place.width / 2, place.y - place.height / 2
    return min(left, far, layout.width - left - place.width, layout.height - far - place.height) < RIM


def certain(seen: BoardLook, *, doubtful: bool = False) -> Evidence:
    """Return what a look shows where it is sure (with ``doubtful`` everywhere), as positions are compared."""
    return Evidence(
        {
            name: {content(place.content.to_json(seen.layout)): 0.0}
            for name in _plain(seen)
            if (place := seen.places[name]) and (doubtful or place.p >= UNSURE)
        }
    )


def strange_in(
    seen: BoardLook,
    taught: Mapping[int, int],
    recorded: Mapping[str, Content],
    misread: Container[str],
    known: Container[str],
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the places that show what was never taught: those that the record leaves so, and those it explains."""
    if belief_of_strange(seen.layout, taught) is None:
        return (), ()
    places = [name for name in covered(seen) if name in recorded and name not in misread and name not in known]
    explained = tuple(name for name in places if any(thing not in taught for thing, _ in recorded[name].things))
    return tuple(name for name in places if name not in explained), explained


@dataclass(frozen=True, slots=True)
class LookAtMatch:
    """What a look tells of the turn that was played since the record's last.

    ``unlike``: places that look otherwise than when it was agreed what lies there, and how plainly so (up to 1).
    ``strange``: those that show what was never taught and that the record leaves so; ``explained``: those that it
    explains.
    """

    evidence: Evidence
    unlike: Mapping[str, float]
    strange: tuple[str, ...]
    explained: tuple[str, ...]


def look_at_match(
    seen: BoardLook,
    snapshot: MatchSnapshot,
    taught: Mapping[int, int],
    agreed: Agreed | None,
    misread: Mapping[str, Misread],
    kept: KeptBeliefs | None = None,
) -> LookAtMatch | None:
    """Return what a look tells of a match; None while a hand or the like lies over the board.

    ``kept``: what was believed of the looks before.
    """
    since = since_agreed(agreed, snapshot, seen)
    if is_hand(seen, since.known, since.unlike if since.whole else None):
        return None
    recorded = contents_of(snapshot.states[-1], seen.layout)
    strange, explained = strange_in(seen, taught, recorded, misread, since.known)
    evidence = evidence_of(seen, seen.layout, taught, misread, since, kept)
    return LookAtMatch(evidence, since.unlike, strange, explained)


def never_taught(before: State[Any], after: State[Any], taught: Iterable[int], layout: Layout) -> tuple[str, ...]:
    """Return the places in which a turn leaves a thing of a kind that was never taught."""
    was, now, known = contents_of(before, layout), contents_of(after, layout), list(taught)
    return tuple(n for n, there in now.items() if there != was[n] and unheard_of([there], known, layout))


def only_new_ground(before: State[Any], after: State[Any], seen: BoardLook) -> tuple[str, ...]:
    """Return what a turn changes where that is nothing but grounds that no board has shown yet; else nothing.

    They are read as others: that a turn was played is told by how these places look alone, as a nudged piece does.
    """
    was, now = contents_of(before, seen.layout), contents_of(after, seen.layout)
    changed = tuple(name for name, there in now.items() if there != was[name])
    known = {name: {content.ground for content in seen.places[name].taught} for name in changed}
    new = all(known[name] and now[name].ground not in known[name] for name in changed)
    return changed if new and all(now[name].things == was[name].things for name in changed) else ()


def is_behind(matched: int | None, snapshot: MatchSnapshot, evidence: Evidence) -> bool:
    """Return whether the board stands as it was after ``matched`` steps, and people have entered more since."""
    if matched is None or matched >= len(snapshot.by) or CAMERA in snapshot.by[matched:]:
        return False
    return bool(misfits(evidence, snapshot.states[-1])) and not misfits(evidence, snapshot.states[matched])


def contents_of(state: State[Any], layout: Layout) -> dict[str, Content]:
    """Return what lies in the places of a state, as the layout numbers it."""
    places = state.position()["places"]
    return from_json({name: place for name, place in places.items() if name in layout.index}, layout)


def in_the_way(snapshot: MatchSnapshot | None) -> str:
    """Return why the camera cannot follow now; empty where it can."""
    if snapshot is None:
        return messages.NO_GAME
    view = game_view(snapshot.game)
    if not view.followed:
        return messages.NOT_THIS_GAME
    if snapshot.draw:
        return messages.COMPANION_DRAWS
    if not snapshot.goes_on:
        return messages.PAUSED if snapshot.states[-1].outcome() is None else messages.NO_GAME
    if is_unseen(snapshot.states[-1]):
        return messages.UNSEEN
    try:
        early = not view.comparable(snapshot.states[-1]) or snapshot.states[-1].to_move == CHANCE
    except RulesError:
        return messages.NOT_THIS_GAME
    if early:
        return messages.SETTING_UP
    search: Any = search_of(snapshot.game)
    for test, note in (("is_as_taught", messages.LAID_OTHERWISE), ("is_laid", messages.UNREAD)):
        if hasattr(search, test) and not getattr(search, test)(snapshot.states[-1]):
            return note
    return ""
