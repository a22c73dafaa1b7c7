"""What lies over the board: an arm, a strange piece; and the course of a game as the tracker asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from companion.events.hub import Hub
from companion.follow.evidence import (
    Agreed,
    KeptBeliefs,
    Since,
    certain,
    contents_of,
    covered,
    evidence_of,
    is_hand,
    misread_in,
    only_new_ground,
    since_agreed,
    stood_through,
    tracked_match,
    unheard_of,
)
from companion.lab.worlds.boards import players
from companion.lab.worlds.filmed import FISH, GAME, Filmed
from companion.lab.worlds.filmed_ice import FilmedIce
from companion.night.answers import TABLE
from companion.night.commands.night import Night
from companion.night.log.journal import Journal
from companion.rules.inference.belief import Belief
from vision.board.labels import Content
from vision.board.layout import open_layout
from vision.board.patches import Sampler
from vision.read.place_posterior import PlaceLook, Things, members_of
from vision.read.reader import BoardLook
from vision.track.tracker import Stood, Tracker

LAYOUT = open_layout(GAME)


def seen(*strange: str) -> BoardLook:
    """A look at empty floes, with something else over some places."""
    members = members_of(LAYOUT)
    ground = np.array([1.0 if name == "floe" else 0.0 for name in LAYOUT.grounds])
    places = {
        place.name: PlaceLook(ground, tuple({(): 1.0} for _ in members), members, 0.9 if place.name in strange else 0.0)
        for place in LAYOUT.places
    }
    return BoardLook(LAYOUT, None, places)


@pytest.mark.parametrize(
    ("strange", "hand"),
    [
        ((), False),
        (("e6", "e5", "e7"), False),  # a new igloo in the middle, and its shadow
        (("a8", "a7"), False),
        (("d4", "c6", "f2", "g7"), False),  # strange tokens here and there
        (("e1", "e2", "e3", "d3"), True),  # an arm from the near side
        (tuple(f"{c}{r}" for c in "cdef" for r in (3, 4, 5)), True),
    ],
)
def test_a_hand_is_told_from_a_strange_piece(strange: tuple[str, ...], hand: bool) -> None:
    look = seen(*strange)
    assert is_hand(look) is hand
    assert set(covered(look)) == set(strange)
    assert set(certain(look).places) == {place.name for place in LAYOUT.places} - set(strange)


def test_the_course_of_a_night_is_a_story_of_turns(tmp_path: Path) -> None:
    film = Filmed(8, 3, kept=1.0)
    night = Night(Journal(tmp_path / "journal.sqlite"), Hub())
    opening: dict[str, Any] = {"game": GAME, "players": players(GAME), "setup": {"fish": FISH}}
    for number, (command, body) in enumerate(
        [("open-match", opening), ("moves", {"moves": film.set_up}), *(("moves", {"moves": m}) for m in film.played)]
    ):
        assert night.do(command, body, by=TABLE, action_id=f"step-{number}").ok
    snapshot = night.snapshot()
    assert snapshot is not None
    tracked = tracked_match(snapshot)
    begun = len(film.set_up)
    ends = [begun + sum(len(moves) for moves in film.played[:n]) for n in range(4)]
    assert tracked.marks[-4:] == tuple(ends)
    assert [list(map(str, turn)) for turn in tracked.tracker.turns_entered[-3:]] == film.played
    assert tracked.tracker.state is snapshot.states[-1]
    assert contents_of(snapshot.states[-1], LAYOUT) == contents_of(film.states[-1], LAYOUT)


def test_a_place_that_looks_as_it_did_is_under_no_hand() -> None:
    """Late in a game a whole column may look odd; what has not changed since it was agreed on is covered by nothing."""
    column = ("a4", "a5", "a6", "a7", "a8")
    look = seen(*column)
    assert is_hand(look) and not is_hand(look, {"a5", "a6"})
    assert is_hand(look, {"e4"})


def test_a_strange_piece_whose_neighbours_look_odd_is_no_hand_where_they_have_not_plainly_changed() -> None:
    look = seen("a1", "a2", "a3", "b1", "b2")
    assert is_hand(look) and is_hand(look, (), {"a1": 1.0, "a2": 1.0, "b2": 1.0})
    assert not is_hand(look, (), {"a1": 0.9, "a2": 1.0, "b2": 0.5}) and not is_hand(look, (), {})


def test_what_was_misread_where_it_looked_strange_is_not_there_for_ever() -> None:
    """Who walks off a ground that was never taught leaves it as strange as before, but bare."""
    red, water = LAYOUT.find_thing("inuit", "red"), LAYOUT.grounds.index("water")
    assert red is not None
    bare = seen("d3")
    one: Mapping[Things, float] = {((red, 1),): 1.0}
    none: Mapping[Things, float] = {(): 1.0}
    factors = tuple(one if red in some else none for some in bare.places["d3"].members)
    stood = replace(bare, places={**bare.places, "d3": replace(bare.places["d3"], factors=factors)})
    misread = misread_in(stood, {"d3": Content(water, ((red, 1),)), "d4": bare.places["d4"].content})
    assert set(misread) == {"d3"}
    taught = dict(enumerate(LAYOUT.most))
    there, gone = (evidence_of(look, LAYOUT, taught, misread).places["d3"] for look in (stood, bare))
    with_one, without = ("water", (("inuit", "red", 1),)), ("water", ())
    assert isinstance(there, Belief) and isinstance(gone, Belief)
    assert there.get(with_one) > there.get(without) + 3
    assert gone.get(with_one) < gone.get(without) - 1
    # Read alike once more, in a place that changed since: it is not what was misread.
    changed = evidence_of(stood, LAYOUT, taught, {"d3": replace(misread["d3"], true=Content(water))})
    anew = evidence_of(
        stood, LAYOUT, taught, {"d3": replace(misread["d3"], true=Content(water))}, Since(unlike={"d3": 1.0})
    )
    before, after = (one_look.places["d3"] for one_look in (changed, anew))
    assert isinstance(before, Belief) and isinstance(after, Belief)
    assert before.get(without) > before.get(with_one) + 3
    assert after.get(with_one) > after.get(without)


def test_where_one_piece_may_lie_a_shadow_on_the_rim_is_no_change(tmp_path: Path) -> None:
    """A bear stands in the middle of its floe; of several inuit one may stand anywhere."""
    film = FilmedIce(5, 1)
    night = Night(Journal(tmp_path / "journal.sqlite"), Hub())
    opening: dict[str, Any] = {"game": film.game, "players": players(film.game), "setup": dict(film.setup)}
    for number, (command, body) in enumerate([("open-match", opening), ("moves", {"moves": film.set_up})]):
        assert night.do(command, body, by=TABLE, action_id=f"step-{number}").ok
    snapshot = night.snapshot()
    assert snapshot is not None
    layout = open_layout(film.game)
    sampler, members = Sampler(layout), members_of(layout)
    left, far, right, near = sampler.box
    size = round((near - far) * sampler.side), round((right - left) * sampler.side), 3
    picture = np.random.default_rng(1).integers(80, 90, size).astype(np.uint8)
    dark = picture.copy()
    x, y, side = sampler.middle(layout.index["b2"])
    dark[round(y - 0.5 * side) : round(y - 0.35 * side), round(x - 0.5 * side) : round(x + 0.5 * side)] = 20
    ground = np.full(len(layout.grounds), 1 / len(layout.grounds))
    place = PlaceLook(ground, tuple({(): 1.0} for _ in members), members, 0.0)
    still, shaded = (BoardLook(layout, None, {p.name: place for p in layout.places}, seen) for seen in (picture, dark))
    since = since_agreed(Agreed(snapshot.match, snapshot.moves, still), snapshot, shaded)
    there = contents_of(snapshot.states[-1], layout)["b2"]
    assert since.within == {"b2": there} and "b2" not in since.known and not since.unlike
    odds = evidence_of(shaded, layout, {0: 4, 1: 4}, None, since).places["b2"]
    assert isinstance(odds, Belief) and odds.best()[0] == layout.grounds[there.ground]


def read_as(contents: Mapping[str, Content], ice: Any, known: frozenset[Content]) -> BoardLook:
    """Return a look that reads surely what lies there."""
    members = members_of(ice)
    places = {}
    for name, there in contents.items():
        ground = np.eye(len(ice.grounds))[there.ground]
        factors = tuple({tuple(pair for pair in there.things if pair[0] in some): 1.0} for some in members)
        places[name] = PlaceLook(ground, factors, members, 0.0, taught=known)
    return BoardLook(ice, None, places)


def test_a_place_that_surely_changed_is_not_what_it_was_however_it_is_read() -> None:
    """A bear took an igloo's fish and came back: nothing else changed, and no set-up shows a searched igloo."""
    before, igloo = FilmedIce(1, 2).states[1], "a8"
    after = before
    for move in ("leap start a8", "roll 1 fish1", "leap a8 start"):
        after = after.after(after.game.parse(move))
    ice = open_layout("ice-team")
    was, known = contents_of(before, ice), frozenset(map(Content, range(len(ice.grounds))))
    look = read_as(was, ice, known - {Content(ice.grounds.index("searched"))})
    others = {name: there for name, there in was.items() if name != igloo}
    since = Since(others, {}, {igloo: 1.0}, {igloo: was[igloo]}, whole=True)
    told = Tracker([before]).candidates(evidence_of(look, ice, {0: 4, 1: 4}, None, since), (), since.unlike)
    assert told[0].state is not None
    assert told[0].state.position()["places"] == after.position()["places"] and told[0].p > 0.7
    # As far as nothing tells that it changed, it did not.
    still = replace(since, unlike={}, was={}, known=was)
    same = Tracker([before]).candidates(evidence_of(look, ice, {0: 4, 1: 4}, None, still))
    assert (same[0].kind, round(same[0].p, 2)) == ("unchanged", 1.0)


def test_what_is_read_as_it_was_where_it_changed_is_misread() -> None:
    """A bear stands on an igloo that is read bare, as it was; a bear that is read where none stood is not doubted."""
    ice = open_layout("ice-team")
    igloo, searched = (Content(ice.grounds.index(name)) for name in ("igloo", "searched"))
    known = frozenset(map(Content, range(len(ice.grounds))))
    with_bear = ("searched", (("bear", "red", 1),))
    odds = []
    for since in (Since(), Since(unlike={"a8": 1.0}, was={"a8": igloo})):
        belief = evidence_of(read_as({"a8": igloo}, ice, known), ice, {0: 4, 1: 4}, None, since).places["a8"]
        assert isinstance(belief, Belief)
        odds.append(belief.get(with_bear) - belief.get(("igloo", ())))
    assert odds[1] > odds[0] + 5
    bear = Content(searched.ground, ((ice.find_thing("bear", "red") or 0, 1),))
    look = read_as({"a8": bear}, ice, known)
    alone, changed = (
        evidence_of(look, ice, {0: 4, 1: 4}, None, since).places["a8"]
        for since in (Since(), Since(unlike={"a8": 1.0}, was={"a8": igloo}))
    )
    assert alone == changed


def test_what_is_not_read_again_is_not_thought_about_again() -> None:
    kept, first = KeptBeliefs(), seen("c3")
    water = LAYOUT.grounds.index("water")
    changed = replace(first.places["d4"], ground=np.eye(len(LAYOUT.grounds))[water])
    second = replace(first, places={**first.places, "d4": changed})
    since = Since(known={"e5": Content(water)})
    taught = dict(enumerate(LAYOUT.most))
    one, two, three = (
        evidence_of(look, LAYOUT, taught, None, told, kept).places
        for look, told in ((first, Since()), (second, Since()), (second, since))
    )
    assert {name for name in one if one[name] is not two[name]} == {"d4"}
    assert {name for name in two if two[name] is not three[name]} == {"e5"}
    assert three == evidence_of(second, LAYOUT, taught, None, since).places, "it is what it would be if made anew"
    # Another lesson may change what is believed of everything.
    assert not any(evidence_of(second, LAYOUT, {}, None, since, kept).places[name] is three[name] for name in three)


def test_of_what_never_was_taught_a_kind_is_new_and_a_colour_is_not() -> None:
    """The first blue igloo follows from who played; the first igloo of all does not."""
    red, blue, bear = (LAYOUT.find_thing(*what) for what in (("igloo", "red"), ("igloo", "blue"), ("bear", 4)))
    assert red is not None and blue is not None and bear is not None
    assert unheard_of([Content(1, ((blue, 1),))], (), LAYOUT)
    assert not unheard_of([Content(1, ((blue, 1),))], (red,), LAYOUT)
    assert unheard_of([Content(1, ((blue, 1),)), Content(0, ((bear, 1),))], (red,), LAYOUT)


def test_what_was_agreed_holds_for_the_record_it_was_agreed_on(tmp_path: Path) -> None:
    """The places that look as they did hold what the record said then, as long as nobody took that back."""
    film = Filmed(8, 2, kept=1.0)
    night = Night(Journal(tmp_path / "journal.sqlite"), Hub())
    opening: dict[str, Any] = {"game": GAME, "players": players(GAME), "setup": {"fish": FISH}}
    for number, (command, body) in enumerate(
        [("open-match", opening), ("moves", {"moves": film.set_up}), ("moves", {"moves": film.played[0]})]
    ):
        assert night.do(command, body, by=TABLE, action_id=f"step-{number}").ok
    snapshot = night.snapshot()
    assert snapshot is not None
    sampler = Sampler(LAYOUT)
    left, far, right, near = sampler.box
    size = round((near - far) * sampler.side), round((right - left) * sampler.side), 3
    picture = np.random.default_rng(1).integers(80, 90, size).astype(np.uint8)
    still = BoardLook(LAYOUT, None, seen().places, picture)
    agreed = Agreed(snapshot.match, snapshot.moves, still)
    assert since_agreed(agreed, snapshot, still).known == contents_of(film.states[1], LAYOUT)
    assert since_agreed(None, snapshot, still).known == {} == since_agreed(agreed, snapshot, seen()).known
    taken_back = replace(snapshot, moves=snapshot.moves[:-1], states=snapshot.states[:-1])
    assert since_agreed(agreed, taken_back, still).known == {}
    assert since_agreed(replace(agreed, match="another"), snapshot, still).known == {}
    # Of a turn that was entered in part: what looks otherwise where the record changed since is no news.
    other = picture.copy()
    names = [place.name for place in LAYOUT.places]
    begun, now = (contents_of(state, LAYOUT) for state in film.states[:2])
    changed = next(name for name in names if begun[name] != now[name])
    same = next(name for name in names if begun[name] == now[name] and name[0] not in changed)
    for name in (changed, same):
        x, y, side = sampler.middle(LAYOUT.index[name])
        other[round(y - side / 3) : round(y + side / 3), round(x - side / 3) : round(x + side / 3)] = 200
    earlier = replace(agreed, moves=snapshot.moves[: len(film.set_up)])
    otherwise = replace(still, straight=other)
    assert since_agreed(earlier, snapshot, otherwise).unlike == {same: 1.0}
    assert not since_agreed(earlier, snapshot, otherwise).whole
    assert set(since_agreed(agreed, snapshot, otherwise).unlike) == {same, changed}
    # What a turn left as it was, and looks otherwise all the same, was nudged; of a turn in parts nothing is told.
    assert stood_through(agreed, snapshot, otherwise, snapshot.states[-1]) == Stood(len(names), 2.0)
    assert stood_through(agreed, snapshot, otherwise, film.states[0]).nudged == 1.0
    assert stood_through(earlier, snapshot, otherwise, snapshot.states[-1]) == Stood()
    # What is read as water, for sure and wrongly, in a place that did not change: it is the floe that it was.
    odds = evidence_of(still, LAYOUT, {}, None, Since({"d3": Content(LAYOUT.grounds.index("water"))})).places["d3"]
    assert isinstance(odds, Belief) and odds.ground["floe"] - odds.ground["water"] < 4


@pytest.mark.parametrize(
    ("changes", "taught", "told"),
    [
        (("igloo",), ("igloo",), True),
        (("igloo",), ("igloo", "searched"), False),
        (("igloo",), (), False),
        (("igloo", "bear"), ("igloo",), False),
        (("igloo", "floe"), ("igloo", "sea"), False),
        ((), ("igloo",), False),
    ],
    ids=[
        "a search there and back",
        "taught before",
        "nothing to teach",
        "and a bear stays",
        "and ice broke",
        "nothing",
    ],
)
def test_a_turn_that_leaves_but_a_ground_never_shown_is_told(
    changes: tuple[str, ...], taught: tuple[str, ...], told: bool
) -> None:
    before: Any = FilmedIce(1, 0).states[0]
    layout, position = open_layout("ice-team"), before.position()
    places = dict(position["places"])
    igloo = next(name for name, place in places.items() if place["ground"] == "igloo")
    floe = next(name for name in places if name[0] == "a" and name != igloo)
    if "igloo" in changes:
        bears = [{"kind": "bear", "colour": "red", "count": 1}] if "bear" in changes else []
        places[igloo] = {**places[igloo], "ground": "searched", "things": bears}
    if "floe" in changes:
        places[floe] = {**places[floe], "ground": "sea"}
    after: Any = SimpleNamespace(position=lambda: {**position, "places": places})
    shown = frozenset(Content(layout.grounds.index(ground), ()) for ground in taught)
    looks = {name: PlaceLook(np.zeros(len(layout.grounds)), (), (), 0.0, taught=shown) for name in places}
    assert only_new_ground(before, after, BoardLook(layout, None, looks)) == ((igloo,) if told else ())
