"""Positions: the form, there and back; what is wrong with one; what others may see; the picture."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any
from xml.etree import ElementTree

import pytest

from companion.rules import game
from companion.rules.core import CHANCE, SetupError
from companion.rules.iglu_iglu import components, svg
from companion.rules.playouts import playout
from companion.rules.rulebook import rulebook

Make = Callable[..., Any]
IGLU = game("iglu-iglu")
OPENING = "+######+\n########\n########\n###..###\n###..###\n########\n########\n+######+"


def keys(state: Any) -> set[str]:
    for problem in state.problems():
        assert rulebook("iglu-iglu").problem(problem, state, "en") != rulebook("iglu-iglu").problem(
            problem, state, "fr"
        )
        assert set(problem.clauses) <= set(rulebook("iglu-iglu").clauses)
    return {problem.key for problem in state.problems()}


@pytest.fixture
def full(board: Make) -> Callable[..., Any]:
    """Make a position of two with nothing wrong: five inuit each, packs for foxes; things may be added."""

    def make(picture: str = OPENING, things: dict[str, str] | None = None, **fields: Any) -> Any:
        people = {"b1": "r r r r r", "b8": "b b b b b"}
        return board(picture, {**people, **(things or {})}, to_move="red", **fields)

    return make


def test_a_plain_position_is_enough_and_has_no_problem(full: Make) -> None:
    state = full(things={"d4": "1", "e4": "1", "d5": "2", "e5": "3"})
    assert state.problems() == ()
    assert (state.colours, state.names) == (("red", "blue"), ("red", "blue"))
    assert (state.phase, state.to_move, state.points) == (2, 0, 0)
    assert IGLU.from_position(json.loads(json.dumps(state.position()))) == state


@pytest.mark.parametrize("seats", [*(pytest.param(few, marks=pytest.mark.long) for few in (2, 3)), 4])
def test_every_position_of_a_game_comes_back(seats: int) -> None:
    options = {"iglu.no_repick": False, "iglu.displace_together": False, "iglu.animals_all_three": "warn"}
    record, last = playout(IGLU, seats, Random(seats), options)
    replay = record.replay()
    state = replay.start
    phases = set()
    for text in (*record.moves, ""):
        again = IGLU.from_position(json.loads(json.dumps(state.position())))
        assert again == state and hash(again) == hash(state) and str(again) == str(state)
        assert set(map(str, again.legal_moves)) == set(map(str, state.legal_moves))
        phases.add(state.phase)
        state = state.after(IGLU.parse(text)) if text else state
    assert state == last
    assert phases >= set(range(6)) | {8, 12}


def test_states_differ_where_the_game_differs(full: Make) -> None:
    state = full()
    assert state != full(things={"d4": "1"})
    assert state != full(options={"variant.igloo_block": True})
    assert state != "a state"
    assert len({state, full(), full(points=1)}) == 2


# --- what is wrong --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("picture", "things", "fields", "key"),
    [
        (OPENING.replace("+######+", "#######+", 1), {}, {}, "ground-corner"),
        (OPENING.replace("########", "###+####", 1), {}, {}, "ground-land"),
        (OPENING, {"d4": "r"}, {}, "inuit-water"),
        (OPENING, {"d4": "R"}, {}, "igloo-no-floe"),
        (OPENING, {"a1": "R"}, {}, "igloo-no-floe"),
        (OPENING, {"c4": "R R"}, {}, "igloo-twice"),
        (OPENING, {"c4": "R B"}, {}, "igloos-two"),
        (OPENING, {"c4": "2"}, {}, "fish-dry"),
        (OPENING, {"a1": "2"}, {}, "fish-dry"),
        (OPENING, {"d4": "f2"}, {}, "fox-afloat"),
        (OPENING, {"a1": "X"}, {}, "bear-ashore"),
        (OPENING, {"d4": "X X"}, {}, "bears-together"),
        (OPENING, {"c4": "r"}, {}, "inuit-many"),
        (OPENING, {"b1": "r r"}, {}, "inuit-few"),
        (OPENING, {"c4": "R", "c3": "R", "c2": "R"}, {}, "igloos-many"),
        (OPENING, {"c4": "f1"}, {}, "foxes-packs"),
        (OPENING, dict.fromkeys(("d4", "e4", "d5", "e5", "c4"), "X"), {}, "tokens-many"),
        (OPENING, {"d4": "1 1 1 1 1 1 1 1 1"}, {}, "tokens-many"),
        (OPENING, {"c4": "f3 f3 f3 f3"}, {}, "tokens-many"),
        (OPENING, {"d4": "1 1 1 1 1"}, {"piles": {"tiles": {"thaw": 5, "pack": 51}}}, "tiles-many"),
        (OPENING, {"d4": "1 1 1 1 1"}, {"piles": {"tiles": components.default_mix().to_json()}}, "fish-tiles"),
        (
            OPENING.replace("###..###", "##P..###", 1),
            {},
            {"piles": {"tiles": components.default_mix().to_json()}},
            "packs-many",
        ),
        (OPENING, {"d4": "X"}, {"piles": {"tiles": components.default_mix().to_json()}}, "bears-tiles"),
        (OPENING, {}, {"hands": {"red": "harpoon, " * 7}}, "hands-many"),
        (OPENING, {}, {"hands": {"red": "?, " * 25}}, "hands-unknown"),
        (OPENING, {}, {"hands": {"red": "?, "}}, "floes-many"),
        (OPENING.replace("###..###", "########", 1), {}, {}, "floes-many"),
        (OPENING, {}, {"points": 13}, "points-many"),
        (OPENING, {"b2": "r"}, {"phase": "placing"}, "placing-off"),
        (OPENING, {"c4": "y"}, {"players": [{"colour": "red"}, {"colour": "blue"}]}, "stranger"),
        (OPENING, {"b1": "y y y"}, {"players": [{"colour": "red"}, {"colour": "yellow"}]}, "two-tribes"),
    ],
)
def test_each_wrong_is_a_problem(full: Make, picture: str, things: Any, fields: Any, key: str) -> None:
    assert key in keys(full(picture, things, **fields))


def test_all_problems_are_said_not_only_the_first(full: Make) -> None:
    things = {"d4": "r X", "e4": "X", "d5": "X", "e5": "X", "c4": "X R B 1", "a1": "f1"}
    assert keys(full(things=things)) >= {
        "inuit-water",
        "inuit-many",
        "igloos-two",
        "fish-dry",
        "fox-afloat",
        "tokens-many",
        "foxes-packs",
    }


def test_three_tribes_are_filled_up(board: Make) -> None:
    assert board(things={"c4": "g"}).colours == ("red", "blue", "green")
    assert board(things={"c4": "g y"}).colours == ("red", "yellow", "green")
    assert board(things={}).colours == ("red", "blue")
    assert board(things={}, hands={"yellow": "?"}).colours == ("red", "blue", "yellow")
    assert board(things={}, trophies={"green": []}).colours == ("red", "blue", "green")


def broken(**change: Any) -> dict[str, Any]:
    position = IGLU.start(IGLU.seats(2), None, {"fish": {"d4": 1, "e4": 1, "d5": 1, "e5": 1}}).position()
    for path, value in change.items():
        *way, last = path.split("__")
        inner = position
        for step in way:
            inner = inner[step]
        if value is KeyError:
            del inner[last]
        else:
            inner[last] = value
    return position


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"game": "arctic"}, "'arctic'"),
        ({"colour": 1}, "no field 'colour'"),
        ({"places": KeyError}, "places is an object"),
        ({"places__c4": KeyError}, "c4"),
        ({"places__c4": None}, "c4"),
        ({"places__i9": {}}, "'i9'"),
        ({"places__c4": 5}, "places.c4"),
        ({"places__c4__ground": "lava"}, "'lava'"),
        ({"places__c4__ground": ["floe"]}, "places.c4.ground"),
        ({"places__c4__tower": 1}, "'tower'"),
        ({"places__c4__things": {}}, "places.c4.things"),
        ({"places__c4__things": [5]}, "places.c4.things"),
        ({"places__c4__things": [{"kind": "seal"}]}, "'seal'"),
        ({"places__c4__things": [{"kind": "inuit", "colour": "pink"}]}, "'pink'"),
        ({"places__c4__things": [{"kind": "fish"}]}, "None"),
        ({"places__c4__things": [{"kind": "fish", "value": 4}]}, "4"),
        ({"places__c4__things": [{"kind": "fish", "value": True}]}, "True"),
        ({"places__c4__things": [{"kind": "bear", "count": -1}]}, "-1"),
        ({"places__c4__things": [{"kind": "bear", "count": 1.5}]}, "1.5"),
        ({"places__c4__things": [{"kind": "bear", "size": 1}]}, "'size'"),
        ({"phase": "lunch"}, "'lunch'"),
        ({"turn": "green"}, "'green'"),
        ({"to_move": "blue"}, "to_move"),
        ({"to_move": "red", "phase": "over"}, "to_move"),
        ({"melted": 1}, "melted"),
        ({"points": -3}, "-3"),
        ({"played": ["lunch"]}, "'lunch'"),
        ({"played": "thaw"}, "played"),
        ({"hands__green": {}}, "'green'"),
        ({"hands__red__tiles": {"bear": 1}}, "'bear'"),
        ({"hands__red__more": 1}, "'more'"),
        ({"hands__red__unknown": "2"}, "'2'"),
        ({"trophies__red": [{"kind": "inuit"}]}, "'inuit'"),
        ({"trophies__red": [{"kind": "fish", "value": 1, "count": 32}]}, "32"),
        ({"trophies__red": [{"kind": "fish", "value": 1, "count": 31}] * 2}, "62"),
        ({"piles__cards": 1}, "'cards'"),
        ({"piles__tiles": {"seal": 1}}, "'seal'"),
        ({"box__tiles": {"bear": 4}}, "56"),
        ({"box__real": 1}, "box.real"),
        ({"box__size": 1}, "'size'"),
        ({"first": "green"}, "'green'"),
        ({"players": []}, "2 to 4"),
        ({"options": {"iglu.speed": 1}}, "iglu.speed"),
        ({"options": [1]}, "options"),
        ({"pending": {"squares": 1}}, "'squares'"),
        ({"pending": {"square": "z9"}}, "'z9'"),
        ({"pending": {"drift": ["d3"]}}, "pending.drift"),
        ({"pending": {"drift": ["d3", "up"]}}, "'up'"),
        ({"pending": {"left": 4}}, "pending.left"),
        ({"pending": {"looked": ["z9"]}}, "'z9'"),
        ({"phase": "setting"}, "pending"),
        ({"phase": "peeking"}, "pending"),
        ({"phase": "revealing", "pending": {"square": "c4"}}, "pending"),
        ({"phase": "drawing", "pending": {"square": "c4"}}, "pending"),
        ({"phase": "displacing", "pending": {"square": "d4", "drift": ["d4", "n"]}}, "pending"),
        ({"phase": "displacing", "pending": {"square": "d4"}}, "pending"),
        ({"phase": "moving"}, "pending"),
        ({"phase": "defending", "pending": {"square": "c4", "asked": "red"}}, "pending"),
        ({"phase": "fleeing", "pending": {"square": "c4"}}, "pending"),
    ],
)
def test_a_broken_form_is_one_sentence(change: dict[str, Any], says: str) -> None:
    with pytest.raises(SetupError) as error:
        IGLU.from_position(broken(**change))
    assert says in error.value.en
    assert "\n" not in error.value.en + error.value.fr
    assert error.value.fr != error.value.en


@pytest.mark.parametrize("position", [None, [], "a1", 5, {}, {"places": []}, {"places": {}}])
def test_what_is_no_position_is_refused(position: Any) -> None:
    with pytest.raises(SetupError):
        IGLU.from_position(position)


def test_many_missing_squares_are_counted() -> None:
    with pytest.raises(SetupError, match=r"b1, c1, d1, e1, f1 … \(60 squares\)"):
        IGLU.from_position({"places": {"a1": None}})
    places = IGLU.start(IGLU.seats(2)).position()["places"]
    with pytest.raises(SetupError, match=r"lies on e4\.$"):
        IGLU.from_position({"places": {**places, "e4": None}})


# --- what is hidden -------------------------------------------------------------------------------------------------


def test_a_view_counts_the_tiles_of_others(full: Make) -> None:
    state = full(
        hands={"red": "thaw, ?", "blue": "harpoon, harpoon"}, piles={"tiles": {"thaw": 4, "harpoon": 4, "pack": 10}}
    )
    mine = state.view(0)
    assert mine["hands"] == {"red": {"tiles": {"thaw": 1}, "unknown": 1}, "blue": {"tiles": {}, "unknown": 2}}
    assert mine["piles"]["tiles"]["harpoon"] == 6, "what others hold is unseen"
    assert mine["piles"]["tiles"]["thaw"] == 4
    all_hidden = state.view(None)
    assert [all_hidden["hands"][c]["tiles"] for c in ("red", "blue")] == [{}, {}]
    assert [all_hidden["hands"][c]["unknown"] for c in ("red", "blue")] == [2, 2]
    assert "harpoon" not in json.dumps(all_hidden["hands"])
    assert state.position()["hands"]["blue"]["tiles"] == {"harpoon": 2}


def test_a_play_from_an_unknown_hand_is_legal_if_it_can_be(
    full: Make, allowed: Make, refused: Make, play: Make
) -> None:
    tiles = {"thaw": 1, "harpoon": 0, "animals": 1, "endurance 1": 1, "pack": 10}
    state = full(hands={"red": "?, ?"}, points=3, piles={"tiles": tiles})
    assert allowed(state, "thaw c4").legal
    assert refused(state, "endurance 2").clauses == ("IGLU-1.E.5",), "no such tile can be left"
    after = play(state, "thaw c4")
    assert after.position()["hands"]["red"] == {"tiles": {}, "unknown": 1}
    assert after.tiles[components.THAW] == 0
    empty = play(after, "endurance 1")
    assert refused(empty, "animals").clauses == ("IGLU-1.E.5",), "nothing is left in the hand"


def test_red_tiles_in_hands_are_counted_when_one_is_revealed(
    full: Make, play: Make, refused: Make, texts: Make
) -> None:
    tiles = {"thaw": 1, "pack": 10, "drift": 45}
    state = play(full(hands={"blue": "?"}, piles={"tiles": tiles}), "melt c4")
    assert texts(state) == {"reveal c4 pack", "reveal c4 drift"}, "the one thaw is in blue's hand"
    for hidden in ("reveal c4 thaw", "reveal c4 kept"):
        assert "IGLU-1.5" in refused(state, hidden).clauses
    assert {str(state.chance(Random(n))) for n in range(40)} == texts(state)


def test_chance_draws_as_the_box_would(full: Make, play: Make) -> None:
    tiles = {"thaw": 14, "pack": 14, "drift": 28}
    state = play(full(piles={"tiles": tiles}), "melt c4")
    rng = Random(7)
    drawn = [str(state.chance(rng)) for _ in range(4000)]
    for face, share in (("thaw", 0.25), ("pack", 0.25), ("drift", 0.5)):
        assert abs(drawn.count(f"reveal c4 {face}") / 4000 - share) < 0.03
    assert "reveal c4 kept" not in drawn
    held = play(full(hands={"blue": "?, ?, ?, ?, ?, ?, ?"}, piles={"tiles": tiles}), "melt c4")
    drawn = [str(held.chance(rng)) for _ in range(4000)]
    assert abs(drawn.count("reveal c4 thaw") / 4000 - 7 / 49) < 0.03, "seven thaws lie in blue's hand"
    fish = IGLU.start(IGLU.seats(2))
    tokens = [str(fish.chance(rng)) for _ in range(4000)]
    assert abs(tokens.count("draw d4 fish 2") / 4000 - 12 / 28) < 0.03
    assert fish.to_move == CHANCE


# --- text and picture -----------------------------------------------------------------------------------------------


def test_the_line_of_a_position(board: Make) -> None:
    state = board(OPENING.replace("########", "P#######", 1), {"a7": "f2", "c4": "r r B", "d4": "1 3 X"}, points=3)
    assert (
        str(state)
        == "+######+/P(f2)#######/########/###..###/##" + "#(rrB).(13X).###/########/########/+######+ red act 3"
    )


@pytest.mark.parametrize("lang", ["en", "fr", "de"])
def test_the_picture_says_what_lies_where(board: Make, lang: str) -> None:
    things = {"c4": "r r R b B f1 f2", "d4": "1 1 3", "e4": "X", "a1": "y", "h8": "g"}
    text = svg.draw(board(OPENING, things, points=3), lang=lang)
    tree = ElementTree.fromstring(text)  # noqa: S314 - drawn by ourselves
    space = "{http://www.w3.org/2000/svg}"
    grounds = [r.get("class") for r in tree.iter(f"{space}rect") if r.get("id")]
    assert len(grounds) == 64
    assert {g: grounds.count(g) for g in set(grounds)} == {"floe": 56, "water": 4, "land": 4}
    classes = sorted(g.get("class") for g in tree.iter(f"{space}g") if g.get("class"))
    tribes = ["igloo blue", "igloo red", "inuit blue", "inuit green", "inuit red", "inuit yellow"]
    assert classes == sorted([*tribes, "bear 4", "fish 1", "fish 3", "fox 1", "fox 2"])
    words = [t.text for t in tree.iter(f"{space}text")]
    assert words.count("×2") == 2
    assert {"en": {"Y", "G"}, "fr": {"J", "V"}, "de": {"Ge", "Gr"}}[lang] <= set(words), (
        "tribes have letters, not colours alone"
    )


@pytest.mark.parametrize(
    ("text", "legal", "marks"),
    [
        ("walk c4 c3", True, 2),
        ("walk c4 d4", False, 2),
        ("walk c4 c4", False, 2),
        ("kayak c4 f4", True, 2),
        ("hunt d4 fish 1", True, 1),
        ("build c4", True, 1),
        ("end", True, 0),
        ("drift c3 n", False, 6),
        ("drift none", False, 0),
        ("flee red c4 a1", False, 2),
        ("displace d4 d5", False, 2),
        ("move fish 1 d4 e4", False, 2),
        ("melt c3", False, 1),
    ],
)
def test_the_picture_marks_the_move_and_says_why(board: Make, text: str, legal: bool, marks: int) -> None:
    state = board(OPENING, {"c4": "r", "d4": "1"}, points=3, to_move="red")
    for lang in ("en", "fr", "de"):
        tree = ElementTree.fromstring(svg.draw(state, IGLU.parse(text), lang))  # noqa: S314 - drawn by ourselves
        space = "{http://www.w3.org/2000/svg}"
        found = [r for r in tree.iter(f"{space}rect") if r.get("class") == "mark"]
        assert len(found) == 2 * marks
        dashed = any(r.get("stroke-dasharray") for r in found)
        assert dashed == (not legal and marks > 0)
        caption = tree.find(f"{space}desc").text
        ruling = state.check(IGLU.parse(text))
        assert ruling.legal is legal
        assert caption.startswith(f"{text}: ")
        assert all(clause in caption for clause in ruling.clauses)
        assert ruling.words.of(lang)[:20] in caption
