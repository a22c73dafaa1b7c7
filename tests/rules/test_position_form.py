"""One codec for the forms of all games: there and back, every fault with its place, and never another exception."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion import rules
from companion.rules import game, games
from companion.rules.core import CHANCE, NOBODY, RulesError, SetupError
from companion.rules.i18n import Words
from companion.rules.position_form import (
    MOST_FAULTS,
    NEEDED,
    AnyObject,
    Anything,
    Boolean,
    ByName,
    DictRecord,
    Field,
    Form,
    Group,
    Items,
    Name,
    Notation,
    OneOf,
    PlaceRecord,
    Reading,
    Things,
    TupleRecord,
    Whole,
    numbered,
    shown,
)
from tests.worlds.sizes import size

SQUARES = tuple(f"{column}{row}" for row in (1, 2, 3) for column in "abc")
COLOURS = ("white", "black")
COLOUR = Field("colour", OneOf(COLOURS), NEEDED)
COUNT = Field("count", Whole(0, 3), 1)


def _dice(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split("+")))


PLACE = PlaceRecord(
    OneOf(numbered(("ice", "sea"))),
    Things({"stone": (COLOUR, COUNT), "mark": (Field("value", Whole(1, 3), brief=True), COUNT)}, 4),
    0,
)
FORM = Form(
    "three",
    Words("A position of Three", {"fr": "Une position de Three"}),
    Field("players", Items(TupleRecord(Field("name", Name()), COLOUR), 2), ()),
    Field("options", AnyObject(), {}),
    Field("places", ByName(dict.fromkeys(SQUARES, PLACE), places_of="Three"), {}),
    Field("turn", OneOf({**numbered(COLOURS), None: -1}), -1, of="seat"),
    Field("over", Boolean(), False),
    Field(
        "dice", Notation(_dice, lambda held: "+".join(map(str, held)), Words("dice like 1+2", {"fr": "dés comme 1+2"}))
    ),
    Field("last", Group(OneOf(SQUARES), Whole(0, 9), wish=Words("a pair", {"fr": "une paire"})), brief=True),
    Field("piles", DictRecord(Field("left", Whole(0, 9), 9), Field("told", Anything())), {}, of="piles", brief=True),
    Field("first", OneOf({**numbered(COLOURS), None: None}), 0, null=False),
)


def table(**fields: Any) -> SimpleNamespace:
    """Return a state of Three."""
    usual = {"players": (), "options": {}, "places": {}, "seat": -1, "over": False, "dice": (1,), "last": None}
    return SimpleNamespace(**{**usual, "piles": {}, "first": 0, **fields})


def faults(form: Form, data: Any) -> list[tuple[str, str]]:
    """Return everything that is wrong with a form: where, and the sentence."""
    with pytest.raises(SetupError) as wrong:
        form.decode(data)
    assert type(wrong.value) is SetupError, "its class is told in answers"
    for fault in wrong.value.faults:
        assert fault.words.en != fault.words.fr and "{" not in fault.words.en + fault.words.fr
    return [(fault.at, fault.words.en) for fault in wrong.value.faults]


# --- there and back ---------------------------------------------------------------------------------------------------


def test_what_is_declared_is_written_and_read_back() -> None:
    stones = (("stone", "black", 2), ("mark", 3, 1), ("mark", None, 1))
    state = table(
        players=(("Ann", "white"),), places={"a1": (1, stones), "b2": None}, seat=1, dice=(2, 5), last=("c3", 4)
    )
    state.piles = SimpleNamespace(left=4, told=["x"])
    written = FORM.write(state)
    assert written == {
        "game": "three",
        "players": [{"name": "Ann", "colour": "white"}],
        "options": {},
        "places": {
            "a1": {
                "ground": "sea",
                "things": [
                    {"kind": "stone", "colour": "black", "count": 2},
                    {"kind": "mark", "value": 3, "count": 1},
                    {"kind": "mark", "count": 1},
                ],
            },
            "b2": None,
        },
        "turn": "black",
        "over": False,
        "dice": "2+5",
        "last": ["c3", 4],
        "piles": {"left": 4, "told": ["x"]},
        "first": "white",
    }
    read = FORM.decode(json.loads(json.dumps(written)))
    assert read["places"] == {"a1": (1, stones)} and read["players"] == (("Ann", "white"),)
    assert (read["turn"], read["dice"], read["last"], read["piles"]) == (
        1,
        (2, 5),
        ("c3", 4),
        {"left": 4, "told": ["x"]},
    )
    assert "last" not in FORM.write(table()) and "piles" not in FORM.write(table())


def test_what_is_left_out_or_null_is_the_default() -> None:
    bare = FORM.decode({})
    assert bare == FORM.decode(dict.fromkeys(("game", "players", "places", "turn", "over", "dice", "last", "piles")))
    assert (bare["turn"], bare["over"], bare["dice"], bare["places"], bare["first"]) == (-1, False, None, {}, 0)
    assert FORM.decode({"first": None})["first"] is None, "here null is a value of its own"
    assert FORM.decode({"places": {"a1": {}}})["places"] == {"a1": (0, ())}
    assert FORM.decode({"players": [{"name": " Ann ", "colour": "black"}]})["players"] == (("Ann", "black"),)


def test_the_form_of_the_readme_is_written_and_read() -> None:
    text = Path(rules.__file__).with_name("README.md").read_text(encoding="utf-8")
    (block,) = [part.split("```")[0] for part in text.split("```python\n") if "def from_json" in part]
    names: dict[str, Any] = {}
    exec(block, names)  # noqa: S102 - it is ours
    stones = (("stone", "black", 1),)
    state = table(players=(("Ann", "white"), ("Bob", "black")), places={"b2": (1, stones)}, seat=0)
    written = names["to_json"](state)
    assert written["places"] == {"b2": {"ground": "sea", "things": [{"kind": "stone", "colour": "black", "count": 1}]}}
    read = names["from_json"](game("arctic"), json.loads(json.dumps(written)))
    assert read == (state.players, game("arctic").settled_options(None), {"b2": (1, stones)}, 0)
    with pytest.raises(SetupError) as wrong:
        names["from_json"](game("arctic"), written | {"turn": "red", "options": {"tea": 1}, "x": 1})
    assert [fault.at for fault in wrong.value.faults] == ["x", "turn", "options.tea"]


# --- what is wrong ----------------------------------------------------------------------------------------------------


def test_every_fault_is_told_with_its_place() -> None:
    found = faults(
        FORM,
        {
            "game": "four",
            "turns": 1,
            "players": [{"name": "", "colour": "pink", "age": 9}, 3],
            "places": {"a1": {"ground": "lava", "things": [{"kind": "cat"}, {"kind": "stone", "count": 4}]}, "d4": {}},
            "over": 1,
            "dice": "one",
            "last": ["a1", 10],
            "piles": {"left": True},
        },
    )
    assert found == [
        (
            "turns",
            "A position of Three has no field 'turns'; it has game, players, options, places, turn, over, dice, "
            "last, piles, first.",
        ),
        ("game", "game is one of three, not 'four'."),
        ("players[1].age", "players[1] has no field 'age'; it has name, colour."),
        (
            "players[1].name",
            "A player’s name is a text of 1 to 40 characters, all of them visible, not '' (players[1].name).",
        ),
        ("players[1].colour", "players[1].colour is one of white, black, not 'pink'."),
        ("players[2]", "players[2] is an object, not 3."),
        ("places.a1.ground", "places.a1.ground is one of ice, sea, not 'lava'."),
        ("places.a1.things[1].kind", "places.a1.things[1].kind is one of stone, mark, not 'cat'."),
        ("places.a1.things[2].colour", "places.a1.things[2].colour is one of white, black, not None."),
        ("places.a1.things[2].count", "places.a1.things[2].count is a whole number from 0 to 3, not 4."),
        ("places.d4", "Three has no place 'd4'; it has a1, b1, c1, a2, b2, c2, a3, b3, c3."),
        ("over", "over is true or false, not 1."),
        ("dice", "dice is dice like 1+2, not 'one'."),
        ("last[2]", "last[2] is a whole number from 0 to 9, not 10."),
        ("piles.left", "piles.left is a whole number from 0 to 9, not True."),
    ]


@pytest.mark.parametrize("data", [None, [], "a1", 5, True, 1.5])
def test_what_is_no_position_is_one_fault(data: Any) -> None:
    assert faults(FORM, data) == [("", f"A position of Three is an object, not {data!r}.")]


def test_the_error_says_the_first_fault_and_counts_the_rest() -> None:
    with pytest.raises(SetupError) as one:
        FORM.decode({"over": 1})
    assert one.value.en == "over is true or false, not 1." and one.value.fr == "over est true ou false, pas 1."
    with pytest.raises(SetupError) as many:
        FORM.decode({"places": {f"{n}": {} for n in range(9)}, "over": 1})
    assert many.value.en.startswith("Three has no place '0'; it has a1, b1") and many.value.en.endswith(
        "8 more things are wrong."
    )
    assert many.value.fr.endswith("8 autres choses ne vont pas.") and len(many.value.faults) == 10
    with pytest.raises(SetupError) as flood:
        FORM.decode({"places": {f"{n}": {} for n in range(9999)}})
    assert len(flood.value.faults) == MOST_FAULTS


def test_true_is_no_number_and_what_has_no_hash_is_no_word() -> None:
    number, word = OneOf((0, 1)), OneOf(("a", "b"))
    for element, value in ((number, True), (number, 1.0), (word, []), (word, {}), (word, None), (Whole(0, 2), True)):
        reading = Reading()
        assert element.read(value, None, reading) is None and len(reading.faults) == 1, value
    reading = Reading()
    assert number.read(1, None, reading) == 1 and not reading.faults


def test_a_value_is_shown_in_one_short_line() -> None:
    deep: Any = []
    for _ in range(900):
        deep = [deep]
    for value in (10**6000, deep, "x" * 999, "a\nb\ud800", [list(range(99))] * 99, {"k" * 99: "v" * 99}, float("nan")):
        text = shown(value)
        assert len(text) <= 44 and "\n" not in text and text.encode()
    reading = Reading()
    FORM.read({"a\nb\ud800": 1}, None, reading)
    assert reading.faults[0].at.encode() and "\n" not in reading.faults[0].at


def test_a_notation_may_say_itself_what_is_wrong() -> None:
    def refuse(text: str) -> int:
        raise SetupError("There is no card {text}.", text=text)

    reading = Reading()
    Notation(refuse, str, Words("a card", {"fr": "une carte"})).read("7", (None, "card"), reading)
    assert [(fault.at, fault.words.en) for fault in reading.faults] == [("card", "There is no card 7. (card)")]


def test_what_the_rest_depends_on_is_read_first() -> None:
    head = DictRecord(*FORM.fields[:3], part=True)
    reading = Reading()
    had = head.read({"players": [{"colour": "pink"}], "places": 3}, None, reading)
    assert not reading.sound("players") and reading.sound("places")
    FORM.read({"players": [{"colour": "pink"}], "places": 3, "x": 1}, None, reading, had)
    assert [fault.at for fault in reading.faults] == ["players[1].colour", "x", "places"], "each is told once"
    assert not reading.sound("places")


# --- the four games ---------------------------------------------------------------------------------------------------


def somewhere(name: str, seed: int, moves: int) -> Any:
    """Return a state that play reached."""
    rng, played = Random(seed), game(name)
    count = rng.choice(list(played.players))
    options = {option.name: rng.choice(option.values) for option in played.options}
    state = played.start(played.seats(count), options)
    for _ in range(moves):
        if state.to_move == NOBODY:
            break
        state = state.after(state.chance(rng) if state.to_move == CHANCE else rng.choice(list(state.moves())))
    return state


@pytest.mark.sized
@pytest.mark.parametrize("name", games(examples=True))
@settings(max_examples=size(25, 150))
@given(seed=st.integers(0, 9999), moves=st.integers(0, 160))
def test_every_position_of_every_game_comes_back(name: str, seed: int, moves: int) -> None:
    state = somewhere(name, seed, moves)
    for form in (state.position(), state.view(None), state.view(0)):
        written = json.loads(json.dumps(form))
        assert written == form, "it is JSON"
        again = game(name).from_position(written)
        assert again.position() == form
        assert list(again.position()) == list(form), "the fields are in their order"
    assert game(name).from_position(state.position()) == state


def objects(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield where the objects of a form stand."""
    if isinstance(value, dict):
        yield at
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from objects(inner, (*at, key))


@pytest.mark.parametrize("name", games(examples=True))
def test_a_field_that_nobody_knows_is_refused_wherever_it_stands(name: str) -> None:
    seen = set()
    for seed in range(6):
        form = somewhere(name, seed, 40 * seed).position()
        for at in objects(form):
            kind = tuple(key if isinstance(key, str) else 0 for key in at)
            if kind in seen:
                continue
            seen.add(kind)
            spoilt = deepcopy(form)
            node: Any = spoilt
            for key in at:
                node = node[key]
            node["mispelt"] = 1
            with pytest.raises(SetupError, match="mispelt") as wrong:
                game(name).from_position(spoilt)
            (fault,) = wrong.value.faults
            assert fault.at.endswith(("mispelt", "box.tiles")) and "'mispelt'" in fault.words.fr
    assert {(), ("players", 0), ("places",), ("options",)} <= seen


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=10,
)


@st.composite
def spoilt(draw: st.DrawFn, name: str) -> Any:
    """Return anything, or a real position in which some values are anything."""
    if draw(st.integers(0, 9)) == 0:
        return draw(ANY_JSON)
    form = deepcopy(somewhere(name, draw(st.integers(0, 20)), draw(st.integers(0, 120))).position())
    for _ in range(draw(st.integers(1, 5))):
        node: Any = form
        while isinstance(node, dict | list) and node:
            key = draw(st.sampled_from(sorted(node) if isinstance(node, dict) else range(len(node))))
            if not isinstance(node[key], dict | list) or not node[key] or draw(st.integers(0, 3)) == 0:
                node[key] = draw(ANY_JSON)
                break
            node = node[key]
    return form


@pytest.mark.sized
@pytest.mark.parametrize("name", games(examples=True))
@settings(max_examples=size(60, 600))
@given(data=st.data())
def test_any_json_is_a_position_or_refused_with_all_that_is_wrong(name: str, data: st.DataObject) -> None:
    form = data.draw(spoilt(name))
    try:
        state = game(name).from_position(form)
    except RulesError as error:
        assert isinstance(error, SetupError) and error.en and error.fr and "\n" not in error.en + error.fr
        assert len(error.en) < 700
        places = [fault.at for fault in error.faults]
        assert len(places) == len(set(zip(places, (fault.words.en for fault in error.faults), strict=True)))
        for fault in error.faults:
            assert fault.words.en and fault.words.fr and "\n" not in fault.at + fault.words.en
            json.dumps([fault.at, fault.words.to_json()], ensure_ascii=False).encode()
    else:
        state.problems()
        json.dumps(state.position())


@pytest.mark.parametrize(
    ("name", "places"),
    [
        ("igloo-pop", {"card1": {"ground": "x"}, "card2": {"things": [{"kind": "bear"}]}}),
        ("iglu-iglu", {"b1": {"ground": "x"}, "c1": {"ground": "floe", "things": [{"kind": "seal"}]}}),
        ("arctic", {"land0": {"things": 3}, "river1": {"things": [{"kind": "seal"}]}}),
        ("ice-team", {"a1": {"ground": "x"}, "a3": {"things": [{"kind": "seal"}]}}),
    ],
)
def test_what_is_wrong_in_several_places_is_told_at_once(name: str, places: dict[str, Any]) -> None:
    form = somewhere(name, 1, 0).position()
    form["places"].update(places)
    form["players"][1]["age"] = 9
    form["options"]["tea"] = True
    form["phase"] = "lunch"
    with pytest.raises(SetupError) as wrong:
        game(name).from_position(form)
    told = {fault.at for fault in wrong.value.faults}
    assert {"players[2].age", "options.tea", "phase"} <= told
    assert sum(at.startswith("places.") for at in told) == 2
