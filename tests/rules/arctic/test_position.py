"""Positions: the one form of a board, read and written, and everything that can be wrong with one."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.rules import arctic, game
from companion.rules.arctic.moves import KINDS
from companion.rules.core import CHANCE, NOBODY, RulesError, SetupError
from companion.rules.rulebook import rulebook
from tests.worlds.sizes import size

Make = Callable[..., Any]
ARCTIC = game("arctic")


def keys(state: Any) -> set[str]:
    """Return what is wrong, each with sentences in both languages and clauses."""
    book = rulebook("arctic")
    for problem in state.problems():
        en, fr = book.problem(problem, state, "en"), book.problem(problem, state, "fr")
        assert en and fr and en != fr and "{" not in en + fr
        assert problem.clauses and set(problem.clauses) <= set(book.clauses)
    return {problem.key for problem in state.problems()}


def somewhere(players: int, seed: int, moves: int) -> Any:
    """Return a state that play reached."""
    rng = Random(seed)
    state = ARCTIC.start(ARCTIC.seats(players))
    for _ in range(moves):
        if state.to_move != NOBODY:
            state = state.after(state.chance(rng) if state.to_move == CHANCE else rng.choice(list(state.moves())))
    return state


def test_a_position_is_json_and_reads_back() -> None:
    for players in (2, 3, 4):
        for moves in range(0, 300, 23):
            state = somewhere(players, moves, moves)
            position = json.loads(json.dumps(state.position()))
            again = ARCTIC.from_position(position)
            assert again == state and hash(again) == hash(state)
            assert again.position() == position
            assert keys(again) == set()


def test_a_position_has_the_places_of_a_camera(table: Make) -> None:
    places = table(tokens={"fox": 15}).position()["places"]
    assert set(places) == {*(f"land{v}" for v in (0, 1, 3, 6, 10, 15)), *(f"river{n}" for n in range(1, 7))}
    assert places["land15"] == {"ground": "landscape", "things": [{"kind": "fox", "count": 1}]}
    (thing,) = places["river1"]["things"]
    assert set(thing) == {"kind", "value", "companion", "count"}


def test_what_a_position_leaves_out() -> None:
    state = ARCTIC.from_position({"game": "arctic"})
    assert state.players == 1 and state.phase == "A" and keys(state) == set()
    two = ARCTIC.from_position({"game": "arctic", "players": [{}, {"name": "Bob"}], "packs": [2, 4]})
    assert two.names == ("Player 1", "Bob")
    assert (two.reserve, two.pile_left, two.value, two.to_move) == (5, 55, 1, 0)
    assert two.packs == (2, 4) and two.totems == (-1, -1)
    seen = ARCTIC.from_position({"game": "arctic", "players": [{"pile": ["fox-5-orca"]}, {}]})
    assert seen.packs == (1, 3), "the pack that is seen, and another"
    placed = ARCTIC.from_position({"game": "arctic", "players": [{"pile": ["fox-5-moose"], "hand": 3}, {}]})
    assert placed.value == 5 and placed.hands[0] == (120,) * 3
    drawing = ARCTIC.from_position({"game": "arctic", "players": [{"pile": ["fox-5-moose"]}, {}], "phase": "C"})
    assert drawing.value == 1, "the draw value in phase C"


# --- one thing wrong at a time ----------------------------------------------------------------------------------------


def sound() -> dict[str, Any]:
    """Return a sound position: Ann, with a pile of two, is to place three cards; the fox hides cards."""
    form: dict[str, Any] = {
        "game": "arctic",
        "players": [
            {
                "name": "Ann",
                "pile": ["moose-1-fox", "orca-3-fox"],
                "hand": ["fox-5-moose", "fox-4-walrus", "fox-3-orca"],
                "totem": "fox",
                "powers": ["orca", "fox"],
            },
            {"name": "Bob", "pile": ["moose-3-puffin"], "hand": ["?", "?"], "totem": "?", "powers": ["moose"]},
        ],
        "packs": [1, 2],
        "powers": {"fox": 12},
    }
    state = ARCTIC.from_position(form)
    places = state.position()["places"]
    for n, text in enumerate(
        ["bear-5-fox", "bear-4-moose", "bear-3-walrus", "bear-2-orca", "puffin-5-bear", "puffin-4-fox"], 1
    ):
        kind, value, companion = text.split("-")
        places[f"river{n}"]["things"] = [{"kind": kind, "value": int(value), "companion": companion, "count": 1}]
    whole: dict[str, Any] = ARCTIC.from_position(form | {"places": places}).position()
    return whole


def test_the_sound_position_is_sound() -> None:
    state = ARCTIC.from_position(sound())
    assert keys(state) == set() and state.position() == sound()


def wrong(key: str) -> dict[str, Any]:
    """Return the sound position with one thing wrong."""
    p = sound()
    ann, bob = p["players"]
    places = p["places"]
    if key == "card-twice":
        bob["pile"] = ["fox-5-moose"]
        bob["hand"] = ["?", "?"]
    elif key == "no-such-card":
        places["river1"]["things"] = [{"kind": "puffin", "value": 4, "companion": "bear"}]
        p["pile_left"] += 1
    elif key == "card-unread":
        places["river1"]["things"] = [{"kind": "bear"}]
    elif key == "place-crowded":
        places["river1"]["things"].append({"kind": "fox", "count": 1})
    elif key == "foreign-packs":
        bob["pile"] = ["fox-5-puffin"]
    elif key == "packs-wrong":
        p["packs"], p["pile_left"] = [1, 2, 3], p["pile_left"] + 30
    elif key == "cards-wrong":
        p["pile_left"] -= 1
    elif key == "reserve-wrong":
        p["reserve"], p["pile_left"] = 6, p["pile_left"] - 1
    elif key == "river-short":
        places["river1"]["things"], p["pile_left"] = [], p["pile_left"] + 1
    elif key == "token-twice":
        places["land10"]["things"] = [{"kind": "fox"}]
    elif key == "token-missing":
        places["land3"]["things"].pop()
    elif key == "power-twice":
        bob["powers"] = ["orca"]
    elif key == "held-not-owned":
        p["held"] = ["moose"]
    elif key == "totem-twice":
        bob["totem"] = "fox"
    elif key == "hand-long":
        bob["hand"], p["pile_left"] = ["?"] * 8, p["pile_left"] - 6
    elif key == "down-without-power":
        p["powers"]["fox"] = 11
        bob["pile"], p["pile_left"] = ["down:?", "moose-3-puffin"], p["pile_left"] - 1
    elif key == "visible-unread":
        bob["pile"] = ["moose"]
    elif key == "visible-missing":
        p["phase"], ann["pile"], p["pile_left"] = "B", [], p["pile_left"] + 2
    elif key == "unseen-too-many":
        bob["unseen"] = ["walrus-5-orca", "walrus-4-puffin", "walrus-3-bear"]
    elif key == "nothing-to-turn-up":
        p |= {"phase": "penalty", "stage": "final", "reserve": 0, "pile_left": 0}
        bob["pile"] = [f"down:{c}" for c in ("walrus-5-orca", "walrus-4-puffin")]
        ann["pile"] = ["?"] * (60 - 6 - 3 - 2 - 2 - 1) + ["orca-3-fox"]
    elif key == "count-over":
        p["count"] = 3
    elif key == "no-phase-c":
        p |= {"phase": "C", "stage": "last", "pile_left": p["pile_left"] + p["reserve"], "reserve": 0}
    else:
        raise AssertionError(key)
    return p


PROBLEMS = [
    "card-twice",
    "no-such-card",
    "card-unread",
    "place-crowded",
    "foreign-packs",
    "packs-wrong",
    "cards-wrong",
    "reserve-wrong",
    "river-short",
    "token-twice",
    "token-missing",
    "power-twice",
    "held-not-owned",
    "totem-twice",
    "hand-long",
    "down-without-power",
    "visible-unread",
    "visible-missing",
    "unseen-too-many",
    "nothing-to-turn-up",
    "count-over",
    "no-phase-c",
]
ALONG = {"no-such-card": {"card-unread", "river-short"}, "card-unread": {"river-short", "cards-wrong"}}
"""What cannot be wrong alone: a River card that is not read is missing from the River."""


@pytest.mark.parametrize("key", PROBLEMS)
def test_one_thing_wrong_is_one_problem(key: str) -> None:
    state = ARCTIC.from_position(wrong(key))
    assert keys(state) - ALONG.get(key, set()) == {key}


def test_all_that_is_wrong_is_told() -> None:
    p = wrong("token-twice")
    p["players"][1]["totem"] = "fox"
    p["players"][1]["pile"] = ["fox-5-moose"]
    p["pile_left"] -= 3
    assert keys(ARCTIC.from_position(p)) == {"token-twice", "totem-twice", "card-twice", "cards-wrong"}


def test_every_problem_of_the_rules_is_tested() -> None:
    named = set()
    for name in ("problems.py", "json_reader.py"):
        tree = ast.parse((Path(arctic.__file__).parent / name).read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "flaw":
                named.add(node.args[0].value)  # type: ignore[attr-defined]
    assert named == set(PROBLEMS)


def test_a_camera_reads_a_card_that_is_not_in_the_box() -> None:
    places = {"pile1": {"things": [{"kind": "fox", "value": 4, "companion": "moose"}]}}
    state = ARCTIC.from_position({"game": "arctic", "places": places})
    assert keys(state) == {"no-such-card"} and len(state.piles[0]) == 1, "its animal still counts"


# --- forms that are broken --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fields",
    [
        {"places": 3},
        {"places": []},
        {"places": {"land3": {"things": 4}}},
        {"places": {"land3": 7}},
        {"places": {"land3": {"things": ["fox"]}}},
        {"places": {"land3": {"things": [{"kind": "cat"}]}}},
        {"places": {"river1": {"things": [{"kind": "fox", "value": 9, "companion": "moose"}]}}},
        {"places": {"river1": {"things": [{"kind": "fox", "value": 5, "companion": "cat"}]}}},
        {"places": {"river1": {"things": [{"kind": "fox", "count": "two"}]}}},
        {"players": "Ann"},
        {"players": ["Ann"]},
        {"players": [{}] * 5},
        {"players": [{"name": 3}]},
        {"players": [{"name": ""}]},
        {"players": [{"name": "x" * 61}]},
        {"players": [{"pile": "fox"}]},
        {"players": [{"pile": ["fox-4-moose"]}]},
        {"players": [{"pile": [3]}]},
        {"players": [{"pile": ["?"] * 121}]},
        {"players": [{"hand": ["fox"]}]},
        {"players": [{"hand": ["down:fox-5-moose"]}]},
        {"players": [{"hand": -1}]},
        {"players": [{"hand": True}]},
        {"players": [{"penalty": 121}]},
        {"players": [{"totem": "cat"}]},
        {"players": [{"totem": 3}]},
        {"players": [{"powers": ["cat"]}]},
        {"players": [{"powers": "fox"}]},
        {"options": {"arc.speed": 3}},
        {"options": 3},
        {"phase": "E"},
        {"phase": ["A"]},
        {"stage": "middle"},
        {"to_move": 2},
        {"to_move": "Ann"},
        {"first": 0},
        {"packs": 3},
        {"packs": [0]},
        {"packs": [1.5]},
        {"powers": {"fox": 1}},
        {"powers": {"fox": True}},
        {"powers": {"walrus": True}},
        {"powers": {"cat": 1}},
        {"powers": ["fox"]},
        {"powers": {"fox": 0}},
        {"held": "fox"},
        {"held": ["cat"]},
        {"value": -1},
        {"value": 1.0},
        {"count": 13},
        {"used": ["flight"]},
        {"used": 7},
        {"pile_left": 121},
        {"reserve": 16},
    ],
)
def test_a_broken_form_is_refused_in_one_sentence(fields: dict[str, Any]) -> None:
    with pytest.raises(SetupError) as caught:
        ARCTIC.from_position({"game": "arctic", **fields})
    assert caught.value.en != caught.value.fr
    assert "\n" not in caught.value.en and len(caught.value.en) < 300


@st.composite
def mangled(draw: st.DrawFn) -> dict[str, Any]:
    """Return a real position with a few of its values replaced by anything."""
    position = deepcopy(
        somewhere(draw(st.integers(2, 4)), draw(st.integers(0, 50)), draw(st.integers(0, 250))).position()
    )
    junk = st.sampled_from(
        [
            None,
            0,
            1,
            2,
            3,
            7,
            -1,
            "?",
            "fox",
            "bear-5-fox",
            "down:?",
            "A",
            "B",
            "B2",
            "C",
            "D",
            "drawn",
            "refill",
            "last",
            True,
            [],
            {},
        ]
    )
    for _ in range(draw(st.integers(1, 4))):
        node: Any = position
        while isinstance(node, dict | list) and node:
            at = draw(st.sampled_from(sorted(node) if isinstance(node, dict) else range(len(node))))
            if not isinstance(node[at], dict | list) or not node[at] or draw(st.integers(0, 5)) == 0:
                node[at] = draw(junk)
                break
            node = node[at]
    return position


TEXTS = """
take-back; draw-pile; refill; end; place ? under; discard ?; give ? p1; give fox-5-moose p2; value +1; value -1;
place fox-5-moose; place bear-1-puffin bottom; draw fox-5-moose; draw bear-5-fox; discard bear-1-puffin; draw-penalty ?;
draw-penalty fox-5-moose; river fox-5-moose; penalty bear-1-puffin; tokens fox+ moose-; extra fox+; extra bear-;
swap fox-5-moose bear-5-fox; hand p1 ?; totem p2 fox; first p2; pack 4; side fox 12
"""
STEPS = [ARCTIC.parse(text) for text in TEXTS.split(";")]


def test_the_steps_are_of_every_kind() -> None:
    assert {move.kind for move in STEPS} == set(KINDS)


@pytest.mark.sized
@settings(max_examples=size(90, 250))
@given(mangled())
def test_whatever_a_position_says_it_is_refused_or_judged(position: dict[str, Any]) -> None:
    try:
        state = ARCTIC.from_position(position)
    except RulesError as error:
        assert error.en and error.fr
        return
    keys(state)
    state.score()
    state.outcome()
    state.view(0)
    listed = list(state.moves())
    legal = set(listed)
    assert len(legal) == len(listed)
    for move in (*listed[:30], *STEPS):
        ruling = state.check(move)
        assert ruling.legal == (move in legal), str(move)
        assert ruling.clauses and ruling.en != ruling.fr and "{" not in ruling.en + ruling.fr
    for move in listed[:10]:
        state.after(move).position()


# --- positions that play does not reach -------------------------------------------------------------------------------


def test_where_nothing_can_be_turned_up_nothing_is(refused: Make) -> None:
    for phase, text in (("penalty", "penalty ?"), ("drawn", "hand p1 ?"), ("refill", "river walrus-5-orca")):
        p = wrong("nothing-to-turn-up") | {"phase": phase}
        state = ARCTIC.from_position(p)
        assert not state.legal_moves and "ARC-E.1" in refused(state, text).clauses
    full = ARCTIC.from_position(sound() | {"phase": "refill"})
    assert not full.legal_moves and refused(full, "river walrus-5-orca").clauses == ("ARC-C.1",)


def test_phase_b_without_a_visible_card_has_no_step(refused: Make) -> None:
    state = ARCTIC.from_position(wrong("visible-missing"))
    assert not state.legal_moves
    for text in ("tokens fox+ moose-", "end", "extra fox+", "place fox-5-moose"):
        assert "ARC-0.1" in refused(state, text).clauses, text
    extra = ARCTIC.from_position(wrong("visible-missing") | {"phase": "B2"})
    assert [str(move) for move in extra.legal_moves] == ["end"]
    assert refused(extra, "extra fox+").clauses
    assert refused(extra, "draw bear-5-fox").clauses


def test_a_phase_that_should_be_over_can_only_end(refused: Make, play: Make) -> None:
    state = ARCTIC.from_position(wrong("count-over"))
    assert [str(move) for move in state.legal_moves] == ["end"]
    assert refused(state, "place fox-5-moose").clauses == ("ARC-A.1",)
    assert refused(state, "draw bear-5-fox").clauses
    assert play(state, "end").phase == "B"


def test_a_game_is_over_when_the_last_totem_is_shown() -> None:
    p = sound() | {"phase": "over", "stage": "last", "reserve": 0, "pile_left": sound()["pile_left"] + 5}
    p["held"] = []
    secret = ARCTIC.from_position(p)
    assert secret.phase == "totems" and secret.outcome() is None and secret.legal_moves
    p["players"][1]["totem"] = "bear"
    known = ARCTIC.from_position(p | {"phase": "totems"})
    assert known.phase == "over" and known.outcome() is not None and keys(known) == set()


def test_a_position_may_be_of_the_set_up(play: Make) -> None:
    rng = Random(1)
    state = ARCTIC.start(ARCTIC.seats(2))
    for _ in range(17):
        assert ARCTIC.from_position(state.position()) == state
        state = state.play(state.chance(rng))
    bare = ARCTIC.from_position({"game": "arctic", "players": [{"totem": None}, {}], "phase": "setup"})
    assert (
        bare.packs == () and bare.to_move == CHANCE and {m.kind for m in bare.legal_moves} >= {"pack", "first", "totem"}
    )
