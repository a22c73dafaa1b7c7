"""The tracker: what it enters is what lies there; what it cannot tell it asks; what cannot be it says."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import log
from random import Random
from typing import Any

import numpy as np
import pytest

from companion.lab.bench.vision.tracker_trials import KINDS, follow, look, played_games, spoil
from companion.rules import game
from companion.rules.iglu_iglu.json_form import hidden_from
from companion.rules.inference.belief import Belief
from companion.rules.inference.turns import Evidence, content
from companion.rules.record import read_file
from vision.board.labels import Content
from vision.board.layout import open_layout
from vision.camera.stillness import Settler
from vision.read.place_posterior import PlaceLook, members_of
from vision.track import candidate as tracking
from vision.track.candidate import Candidate
from vision.track.evidence import (
    HIDDEN,
    LEAST,
    UNTAUGHT,
    belief_of,
    belief_of_look,
    belief_of_strange,
    evidence_of,
    hidden,
    logs,
    never_taught,
    usual_loss,
)
from vision.track.parts import turn_starts
from vision.track.tracker import NUDGED, STRONG, Follower, Stood, Tracker

RULES = game("iglu-iglu")


def short_game(seed: int, turns: int = 6) -> list[Any]:
    """Return the positions between the first turns of a random game in which players do little."""
    rng = Random(seed)
    course = next(played_games(rng, (2,)))
    return [hidden_from(state, None) for state, _ in course[: turns + 1]]


@pytest.fixture(scope="module")
def positions() -> list[Any]:
    return short_game(4)


def after_moves(state: Any, *texts: str) -> Any:
    """Return a state after some moves."""
    for text in texts:
        state = state.after(RULES.parse(text))
    return state


def clear(state: Any, seed: int = 1) -> Evidence:
    return look(state.position(), "clear", Random(seed))


def places_of(state: Any) -> Any:
    return state.position()["places"]


# --- the tracker ------------------------------------------------------------------------------------------------------


def test_nothing_changed(positions: list[Any]) -> None:
    tracker = Tracker(positions[:1])
    seen = clear(positions[0])
    assert tracker.observe(seen).state == "unchanged"
    assert tracker.confirmed == positions[:1]


def test_a_turn_is_entered_and_taken_back(positions: list[Any]) -> None:
    tracker = Tracker(positions[:1])
    answer = tracker.observe(clear(positions[1]))
    assert answer.state == "entered" and answer.candidates[0].p >= tracking.CONFIDENT
    state = positions[0]
    for move in answer.moves:
        state = state.play(move)
    assert places_of(state) == places_of(positions[1]) == places_of(tracker.state)
    told = answer.to_json()
    assert told["state"] == "entered" and told["turn"][-1] == "end" and told["candidates"][0]["kind"] == "turn"
    back = tracker.observe(clear(positions[0]))
    assert back.state == "takeback" and back.back == 1 and tracker.confirmed == positions[:1]
    assert tracker.turns_entered == []


def test_a_turn_that_was_entered_too_early_goes_on(board_of: Any) -> None:
    before = board_of({"b1": "red", "g8": "blue"})
    half = after_moves(before, "melt c4", "reveal c4 kept", "walk b1 b2")
    whole = after_moves(half, "walk b2 b3", "walk b3 c3", "end")
    tracker = Tracker([before])
    first = tracker.observe(clear(half))
    assert first.state == "entered" and first.back == 0
    second = tracker.observe(clear(whole))
    assert second.state == "entered" and second.back == 1 and len(tracker.confirmed) == 2
    assert places_of(tracker.state) == places_of(whole)
    assert str(second.moves[0]) == "melt c4"


def test_a_turn_that_was_entered_too_early_goes_on_with_something_strange(board_of: Any) -> None:
    """An igloo is built where the inuit stood, after a pause; nobody ever showed one, so the place is only strange."""
    before = board_of({"b1": "red", "g8": "blue"})
    half = after_moves(before, "melt c4", "reveal c4 kept", "walk b1 b2")
    whole = after_moves(half, "build b2", "end")
    layout = open_layout("iglu-iglu")
    things = {n for n, thing in enumerate(layout.things) if thing.kind != "igloo"}
    fresh = belief_of_strange(layout, dict.fromkeys(things, 1))
    assert fresh is not None
    tracker = Tracker([before])
    assert tracker.observe(clear(half)).state == "entered"
    seen = Evidence({**clear(whole).places, "b2": fresh})
    answer = tracker.judge(tracker.candidates(seen, ("b2",)), seen)
    assert answer.state == "question"
    shown = [(one.kind, places_of(one.state)) for one in answer.candidates if one.state is not None]
    assert (tracking.CONTINUED, places_of(whole)) in shown
    # That the place looks plainly otherwise than it did settles it.
    seen_so = tracker.candidates(seen, ("b2",), {"b2": 1.0})
    assert seen_so[0].kind == tracking.CONTINUED and places_of(seen_so[0].state) == places_of(whole)


def test_what_no_turn_explains_is_said_and_where(board_of: Any) -> None:
    before = board_of({"b1": "red", "g8": "blue"})
    tracker = Tracker([before])
    moved = before.position()
    moved["places"]["g8"]["things"] = []
    moved["places"]["e7"]["things"] = [{"kind": "inuit", "colour": "blue", "count": 1}]
    answer = tracker.observe(look(moved, "clear", Random(2)))
    assert answer.state == "disagreement" and {"g8", "e7"} <= set(answer.places)
    assert answer.candidates[0].kind == "none" and tracker.confirmed == [before]
    with pytest.raises(ValueError, match="no position"):
        tracker.confirm(answer.candidates[0])


def test_what_may_be_two_turns_is_asked(board_of: Any) -> None:
    before = board_of({"b1": "red", "g8": "blue"})
    after = after_moves(before, "melt c4", "reveal c4 kept")
    one = after.after(RULES.parse("walk b1 b2"))
    seen = clear(one)
    # Where it stands cannot be told: on b2 or on c1.
    places = dict(seen.places)
    for name in ("b2", "c1"):
        places[name] = Belief({"floe": 0.0}, {("inuit", "red"): logs({0: 0.5, 1: 0.5})}, log(LEAST))
    tracker = Tracker([before])
    answer = tracker.observe(Evidence(places))
    assert answer.state == "question" and tracker.confirmed == [before]
    boards = [places_of(c.state) for c in answer.candidates if c.state is not None]
    assert places_of(one) in boards and 2 <= len(boards) <= tracking.MAX_CANDIDATES
    chosen = next(c for c in answer.candidates if c.state is not None and places_of(c.state) == places_of(one))
    tracker.confirm(chosen)
    assert places_of(tracker.state) == places_of(one)


def test_a_question_is_settled_by_what_comes_later(board_of: Any) -> None:
    before = board_of({"b1": "red", "g8": "blue"})
    one = after_moves(before, "melt c4", "reveal c4 kept", "walk b1 b2", "end")
    two = after_moves(one, "melt c3", "reveal c3 kept", "walk g8 g7", "end")
    places = dict(clear(one).places)
    for name in ("b2", "c1"):
        places[name] = Belief({"floe": 0.0}, {("inuit", "red"): logs({0: 0.5, 1: 0.5})}, log(LEAST))
    follower = Follower(Tracker([before]))
    assert follower.observe(Evidence(places)).state == "question" and follower.open
    answer = follower.observe(clear(two))
    assert answer.state == "entered" and not follower.open
    assert [str(move) for move in answer.moves] == ["melt c3", "reveal c3 kept", "walk g8 g7", "end"]
    assert places_of(follower.branches[0][1].state) == places_of(two)


@pytest.fixture
def board_of() -> Any:
    """Make an opening position with an inuit here and there, red to move, nothing known of the tiles in hands."""

    def make(inuit: dict[str, str]) -> Any:
        grounds = {}
        for row in range(1, 9):
            for column in "abcdefgh":
                name = f"{column}{row}"
                ground = (
                    "land"
                    if name in ("a1", "h1", "a8", "h8")
                    else "water"
                    if name in ("d4", "e4", "d5", "e5")
                    else "floe"
                )
                things = [{"kind": "inuit", "colour": inuit[name], "count": 1}] if name in inuit else []
                grounds[name] = {"ground": ground, "things": things}
        return RULES.from_position({"game": "iglu-iglu", "places": grounds, "to_move": "red"})

    return make


def test_two_looks_must_agree(board_of: Any) -> None:
    before = board_of({"b1": "red", "g8": "blue"})
    after = after_moves(before, "melt c4", "reveal c4 kept", "walk b1 b2")
    tracker = Tracker([before])
    found = tracker.candidates(look(after.position(), "clear", Random(1)))
    same = tracker.again(found, look(after.position(), "clear", Random(2)))
    assert same[0].moves == found[0].moves and same[0].p >= tracking.ENTERS
    # The second look shows the inuit back where it was: nothing is sure any more.
    other = tracker.again(found, look(before.position(), "clear", Random(3)))
    assert other[0].kind != "turn" or other[0].p < tracking.ENTERS
    assert sum(candidate.p for candidate in other) == pytest.approx(1.0, abs=0.02)


def test_a_second_look_that_is_worse_everywhere_makes_no_doubt(board_of: Any) -> None:
    """A token far off is read less surely: that speaks neither for the turn nor for what nobody thought of."""
    before = board_of({"b1": "red", "g8": "blue"})
    after = after_moves(before, "melt c4", "reveal c4 kept", "walk b1 b2")
    tracker = Tracker([before])
    good = clear(after)
    found = tracker.candidates(good)
    water = Belief({"water": log(0.2), "floe": log(0.1)}, {("fish", 1): {0: log(0.15), 1: log(0.1)}})
    assert places_of(after)["h4"] == {"ground": "floe", "things": []}
    worse = Evidence({**good.places, "h4": water})
    again = tracker.again(found, worse)
    none = [next(c.p for c in told if c.kind == "none") for told in (found, again)]
    assert again[0].moves == found[0].moves and none[1] < 2 * none[0]


def test_a_strange_place_is_hardly_as_it_was(board_of: Any) -> None:
    """A bear has come to a floe, and nobody ever showed one: that nothing was played is no answer."""
    before = board_of({"b1": "red", "g8": "blue"})
    after = after_moves(before, "melt c4", "reveal c4 bear")
    layout = open_layout("iglu-iglu")
    bear = layout.find_thing("bear", 4)
    taught = {n: 1 for n in range(len(layout.things)) if n != bear}
    fresh = belief_of_strange(layout, taught)
    assert fresh is not None and fresh.things["bear", 4][1] == fresh.things["bear", 4][0] == log(0.5)
    assert fresh.get(("floe", (("bear", 4, 2),))) <= log(UNTAUGHT)
    assert belief_of_strange(layout, taught | {bear: 1}) is None
    evidence = look(after.position(), "clear", Random(1))
    seen = Evidence({**evidence.places, "c4": fresh})
    answer = Tracker([before]).observe(seen, strange=("c4",))
    assert answer.state != "unchanged"
    moves = [" ".join(map(str, candidate.moves)) for candidate in answer.candidates]
    assert any("reveal c4 bear" in text for text in moves), moves


@pytest.mark.parametrize("odd", [0.3, 0.45, 0.6, 0.9])
def test_the_first_igloo_of_a_tribe_looks_like_nothing_taught(board_of: Any, odd: float) -> None:
    """Blue igloos are known, red ones never were: with an inuit inside, one is read as two inuit."""
    layout = open_layout("iglu-iglu")
    thing = {(t.kind, t.colour): n for n, t in enumerate(layout.things) if t.colour}
    taught = {thing[what]: 1 for what in (("inuit", "red"), ("inuit", "blue"), ("igloo", "blue"))}
    unknown = never_taught(layout, taught)
    assert thing["igloo", "red"] in unknown and thing["igloo", "blue"] not in unknown
    assert not {n for (_, colour), n in thing.items() if colour in ("yellow", "green")} & unknown, "nobody plays them"
    assert {n for n, t in enumerate(layout.things) if t.kind in ("fish", "fox", "bear")} <= unknown
    members = members_of(layout)
    one, two = ((thing["inuit", "red"], 1),), ((thing["inuit", "red"], 2),)
    factors = tuple({one: 0.01, two: 0.99} if thing["inuit", "red"] in group else {(): 1.0} for group in members)
    ground = np.array([1.0 if name == "floe" else 0.0 for name in layout.grounds])
    read = belief_of_look(PlaceLook(ground, factors, members, odd), layout, taught)
    before = board_of({"b1": "red", "g8": "blue"})
    after = after_moves(before, "melt c4", "reveal c4 kept", "build b1", "end")
    evidence = Evidence({**clear(after).places, "b1": read})
    candidates = Tracker([before]).candidates(evidence, ("b1",) if odd >= HIDDEN else ())
    shown = [places_of(c.state) for c in candidates if c.state is not None][:3]
    assert places_of(after) in shown
    assert odd < HIDDEN or shown[0] == places_of(after)


def test_the_first_igloo_with_an_inuit_beside_it_may_be_read_as_two_inuit() -> None:
    layout = open_layout("iglu-iglu")
    thing = {(t.kind, t.colour): n for n, t in enumerate(layout.things) if t.colour}
    inuit, igloo = thing["inuit", "red"], thing["igloo", "red"]
    members = members_of(layout)
    two = tuple({((inuit, 2),): 1.0} if inuit in group else {(): 1.0} for group in members)
    look_ = PlaceLook(np.array([1.0 if g == "floe" else 0.0 for g in layout.grounds]), two, members, 0.02)
    with_igloo = ("floe", (("igloo", "red", 1), ("inuit", "red", 1)))
    first = belief_of_look(look_, layout, {inuit: 2})
    assert first.best() == ("floe", (("inuit", "red", 2),))
    assert first.most() - first.get(with_igloo) < 3 < first.most() - first.get(("floe", (("inuit", "red", 1),)))
    assert first.get(("floe", (("igloo", "blue", 1), ("inuit", "red", 1)))) < first.get(with_igloo) - 3
    # An igloo that is read, and may be of a colour never taught, is told of once.
    blue = thing["igloo", "blue"]
    read = tuple(
        {((blue, 1),): 0.9, (): 0.1} if blue in group else way for way, group in zip(two, members, strict=True)
    )
    other = belief_of_look(PlaceLook(look_.ground, read, members, 0.02), layout, {inuit: 2, blue: 1})
    things = [*other.things, *(thing for group in other.together for thing in group.things)]
    assert len(things) == len(set(things))
    known = belief_of_look(look_, layout, {inuit: 2, igloo: 1})
    assert known.most() - known.get(with_igloo) > 8


def test_a_strange_place_holds_one_of_the_things_that_are_new() -> None:
    """A bear stands on the water: the stranger the place looks, the less it is bare water."""
    layout = open_layout("iglu-iglu")
    thing = {(t.kind, t.colour): n for n, t in enumerate(layout.things)}
    taught = {thing["inuit", "red"]: 2, thing["inuit", "blue"]: 2}
    members = members_of(layout)
    ground = np.array([1.0 if g == "water" else 0.0 for g in layout.grounds])
    bear = ("water", (("bear", layout.things[thing["bear", None]].value, 1),))
    odds = []
    for odd in (0.6, 0.95):
        seen = belief_of_look(PlaceLook(ground, ({(): 1.0},) * len(members), members, odd), layout, taught)
        odds.append(seen.get(bear) - seen.get(("water", ())))
    assert odds[0] < odds[1] and odds[1] > 0


@pytest.mark.parametrize("odd", [0.0, 0.02, 0.95])
def test_a_ground_that_no_board_showed_yet_is_possible(odd: float) -> None:
    """No set-up has a searched igloo: the first one is read as some floe, and looks odd, or not even that."""
    layout = open_layout("ice-team")
    members = members_of(layout)
    ground = np.array([1.0 if name == "penguin1-fragile" else 0.0 for name in layout.grounds])
    nothing = ({(): 1.0},) * len(members)
    every = [Content(number) for number in range(len(layout.grounds))]
    searched = layout.grounds.index("searched")
    first, known = (
        belief_of_look(PlaceLook(ground, nothing, members, odd, taught=frozenset(taught)), layout, {0: 4, 1: 4})
        for taught in (every[:searched] + every[searched + 1 :], every)
    )
    as_read, new = ("penguin1-fragile", ()), ("searched", ())
    assert first.most() - first.get(new) < STRONG, "a turn may be entered that leaves it there"
    assert first.get(as_read) - first.get(new) < known.get(as_read) - known.get(new)
    assert odd < HIDDEN or first.get(as_read) - first.get(new) < 1
    assert first.get(("sea", ())) < first.get(new) - 1, "what is known does not look so"


def test_what_plainly_changed_was_hardly_nudged_only(board_of: Any) -> None:
    """A new igloo is read as nothing new: the board is asked about, not taken for what it was."""
    before = board_of({"b1": "red", "g8": "blue"})
    after = after_moves(before, "melt c4", "reveal c4 kept", "build b1", "end")
    evidence = clear(after)
    doubt = Belief({"floe": 0.0}, {("inuit", "red"): {1: 0.0}, ("igloo", "red"): logs({0: 0.97, 1: 0.03})}, log(LEAST))
    seen = Evidence({**evidence.places, "b1": doubt})
    short = Tracker([before]).candidates(seen)
    assert places_of(short[0].state)["b1"] == places_of(before)["b1"] and short[0].p > 0.9
    told = Tracker([before]).candidates(seen, unlike={"b1": 1.0, "c4": 1.0})
    assert Tracker([before]).judge(told, seen).state == "question"
    assert places_of(after) in [places_of(c.state) for c in told if c.state is not None]
    again = Tracker([before]).again(told, seen)
    assert again[0].p == pytest.approx(told[0].p, abs=0.02), "the second look knows it too"
    # Nothing was played, and three pieces were nudged: that is no turn, and no question.
    still = clear(before)
    nudged = Tracker([before])
    assert (
        nudged.judge(nudged.candidates(still, unlike=dict.fromkeys(("b1", "e3", "g8"), 1.0)), still).state
        == "unchanged"
    )


def test_what_looks_a_little_otherwise_is_a_little_less_likely_as_it_was(board_of: Any) -> None:
    """Which of two inuit went is hardly read; the one whose floe looks otherwise did, the more surely."""
    before = board_of({"b1": "red", "b3": "red", "g8": "blue"})
    moved = after_moves(before, "melt c4", "reveal c4 kept", "walk b1 b2", "end")
    evidence = clear(moved)
    doubt = Belief({"floe": 0.0}, {("inuit", "red"): logs({0: 0.5, 1: 0.5})}, log(LEAST))
    seen = Evidence({**evidence.places, "b1": doubt, "b3": doubt})
    shares = []
    for much in (0.0, 0.5, 1.0):
        told = Tracker([before]).candidates(seen, unlike={"b1": much})
        shares.append(sum(c.p for c in told if c.state is not None and places_of(c.state) == places_of(moved)))
    assert shares[0] < shares[1] < shares[2] and shares[1] > 0.75


def test_how_often_what_stays_looks_otherwise_is_learnt_at_the_table(board_of: Any) -> None:
    """Where nothing is nudged turn after turn, what looks otherwise changed; where much is, it may have been nudged."""
    before = board_of({"b1": "red", "b3": "red", "g8": "blue"})
    moved = after_moves(before, "melt c4", "reveal c4 kept", "walk b1 b2", "end")
    doubts = {
        name: Belief({"floe": 0.0}, {("inuit", "red"): logs({0: p, 1: 1 - p})}, log(LEAST))
        for name, p in (("b1", 0.1), ("b3", 0.9))
    }
    seen = Evidence({**clear(moved).places, **doubts})
    shares = []
    for stood in (Stood(300.0, 60.0), Stood(), Stood(300.0, 1.0), Stood(300.0)):
        told = Tracker([before], stood=stood).candidates(seen, unlike={"b1": 1.0})
        shares.append(sum(c.p for c in told if c.state is not None and places_of(c.state) == places_of(moved)))
    assert shares == sorted(shares) and shares[0] < 0.5 * shares[-1], shares
    assert Stood().left == pytest.approx(-log(NUDGED))
    assert Stood(10.0, 1.0) + Stood(5.0, 0.5) == Stood(15.0, 1.5)


def test_a_piece_that_was_nudged_besides_makes_a_turn_no_more_doubtful(board_of: Any) -> None:
    before = board_of({"b1": "red", "g8": "blue"})
    after = after_moves(before, "melt c4", "reveal c4 kept", "walk b1 b2", "end")
    seen = clear(after)
    still, nudged = (
        Tracker([before]).candidates(seen, unlike=dict.fromkeys(("b1", "b2", "c4", *others), 1.0))
        for others in ((), ("g8",))
    )
    assert places_of(nudged[0].state) == places_of(still[0].state) == places_of(after)
    doubt, more = (next(c.p for c in candidates if c.kind == "none") for candidates in (still, nudged))
    assert 0 < more < 1.5 * doubt


def test_where_hardly_anything_fits_the_likeliest_are_shown_all_the_same(board_of: Any) -> None:
    before = board_of({"b1": "red", "g8": "blue", "d7": "blue"})
    after = after_moves(before, "melt c4", "reveal c4 kept", "walk b1 b2")
    moved = after.position()
    for name in ("g8", "d7"):
        moved["places"][name]["things"] = []
    places = dict(look(moved, "clear", Random(2)).places)
    for name in ("b2", "c1"):
        places[name] = Belief({"floe": 0.0}, {("inuit", "red"): logs({0: 0.5, 1: 0.5})}, log(LEAST))
    answer = Tracker([before]).observe(Evidence(places))
    assert answer.state == "disagreement" and answer.candidates[0].kind == "none" and answer.candidates[0].p > 0.99
    shown = [places_of(c.state) for c in answer.candidates if c.state is not None]
    assert places_of(after) in shown and len(shown) > 1


def test_that_nothing_changed_is_not_asked_about_alone() -> None:
    state = short_game(4, 1)[0]
    seen = Evidence(dict(clear(state).places))
    tracker = Tracker([state])
    unchanged, none = Candidate("unchanged", 0.95, state=state), Candidate("none", 0.05)
    assert tracker.judge((unchanged, none), seen).state == "unchanged"
    other = Candidate("turn", 0.03, state=state)
    assert tracker.judge((unchanged, other, none), seen).state == "question"
    doubtful = Candidate("unchanged", 0.6, state=state), Candidate("none", 0.4)
    assert tracker.judge(doubtful, seen).state == "question"


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_wrong_is_ever_entered(kind: str) -> None:
    tally = follow(kind, 3, Random(f"test {kind}"))
    told = tally.to_json()
    assert told["turns"] == 3 and told["wrong"] == 0
    if kind == "clear":
        assert tally.entered + tally.among == 3
    assert tally.questions == 0 or kind == "unlawful" or tally.among >= tally.questions - 1


def test_a_spoilt_board_is_another_board(positions: list[Any]) -> None:
    spoilt = spoil(positions[3].position(), Random(3))["places"]
    assert any(content(spoilt[name]) != content(place) for name, place in places_of(positions[3]).items())


def test_the_positions_between_the_turns_of_a_record() -> None:
    course = next(played_games(Random(8), (2,)))[:4]
    state = course[0][0]
    states = [state]
    for _, moves in course[1:]:
        for move in moves:
            state = state.after(move)
            states.append(state)
    assert [states[number] for number in turn_starts(states)] == [state for state, _ in course]


# --- evidence ---------------------------------------------------------------------------------------------------------


def test_a_look_becomes_beliefs() -> None:
    place = {
        "ground": {"floe": 0.97, "water": 0.03},
        "things": [
            {"kind": "inuit", "colour": "red", "count": 1, "p": 0.9},
            {"kind": "fox", "value": 2, "count": 1, "p": 0.6},
        ],
        "unsure": False,
    }
    belief = belief_of(place)
    assert belief.best() == ("floe", (("fox", 2, 1), ("inuit", "red", 1)))
    assert belief.get(("floe", (("inuit", "red", 1),))) > belief.get(("floe", (("fox", 2, 1),)))
    assert belief.get(("pack", ())) > 3 * log(LEAST)
    hand = {**place, "else": 0.9}
    assert hidden(hand) and hidden({"ground": {}}) and not hidden(place)
    assert set(evidence_of({"d4": place, "d5": hand}).places) == {"d4"}
    doubtful = belief_of({**place, "else": 0.4})
    assert doubtful.get(("water", ())) > belief.get(("water", ())) and doubtful.floor > belief.floor


def test_what_a_true_board_usually_loses() -> None:
    even = Evidence({"a": Belief(logs({"x": 0.5, "y": 0.5})), "b": Belief(logs({"x": 1.0, "y": 0.0}))})
    mean, spread = usual_loss(even)
    assert mean < 0.01 and spread < 0.1
    doubt = Evidence({"a": Belief(logs({"x": 0.8, "y": 0.2}))})
    assert usual_loss(doubt)[0] == pytest.approx(0.2 * log(4))
    assert doubt.most() == pytest.approx(log(0.8))


# --- settling ---------------------------------------------------------------------------------------------------------


def frames(*, moving: range, hand: range = range(0), count: int = 40) -> Iterator[tuple[float, float, bool]]:
    """Yield frames at five a second: time, difference, hand."""
    for n in range(count):
        yield n / 5, (25.0 if n in moving else 3.0), n in hand


def test_a_board_is_looked_at_only_when_it_lies_still() -> None:
    settler = Settler(seconds=1.5)
    settled = [settler.feed(at, d, hand=hand) for at, d, hand in frames(moving=range(5, 12), hand=range(12, 20))]
    assert not any(settled[: 20 + 7]) and all(settled[28:])
    assert not settler.feed(0.0, 0.1), "the clock went back: it begins anew"
    settler.reset()
    assert not settler.feed(100.0, 0.1) and settler.feed(101.5, 0.1)


def test_pairs_of_positions_are_a_turn_apart(positions: list[Any]) -> None:
    for before, after in pairwise(positions):
        assert before.turn != after.turn and places_of(before) != places_of(after)


def test_a_record_that_is_read_can_be_followed() -> None:
    replay = read_file("tests/rules/iglu_iglu/playthrough.jsonl")
    assert replay.error is None and replay.start is not None and replay.record is not None
    states = [replay.start]
    for text in replay.record.moves[:40]:
        states.append(states[-1].after(RULES.parse(text)))
    assert len(turn_starts(states)) > 2
