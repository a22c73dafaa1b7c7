"""What mutants of Iglu Iglu left open: the facts of rulings, and reasons in every direction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from companion.rules import game

IGLU = game("iglu-iglu")
FISH = {"d4": 1, "e4": 2, "d5": 2, "e5": 3}


def board(grounds: Mapping[str, str], things: Mapping[str, str], **fields: Any) -> Any:
    """Make a position of the opening with other grounds and with things: ``r`` a red inuit, ``f1`` a fox, ``X`` a bear.

    Inuit of red and blue that are not given stand on the edge in the south and in the north.
    """
    position = IGLU.start(IGLU.seats(2), setup={"fish": FISH}).position()
    places = position["places"]
    for square, ground in grounds.items():
        for name in [s for s in places if s == square or square in (s[0], s[1], "sea")]:
            if places[name]["ground"] != "land":
                places[name] = {"ground": ground, "things": []}
    for square, words in things.items():
        for word in words.split():
            thing: dict[str, Any] = {"kind": "bear", "value": 4}
            if word in ("r", "b"):
                thing = {"kind": "inuit", "colour": {"r": "red", "b": "blue"}[word]}
            elif word != "X":
                thing = {"kind": {"f": "fox", "s": "fish"}[word[0]], "value": int(word[1])}
            places[square]["things"].append({**thing, "count": 1})
    position |= {"phase": "act", "turn": "red", "to_move": "red", "points": 3, "melted": True, **fields}
    position.pop("pending", None)
    if "pending" in fields:
        position["pending"] = fields["pending"]
    return IGLU.from_position(position)


def reason(state: Any, text: str) -> Any:
    """Return why a move is refused, or what it does."""
    move = IGLU.parse(text)
    return state.refusal(move) or state.explain_effect(move)


def test_placing_tells_how_many_are_left() -> None:
    state = IGLU.start(IGLU.seats(2), setup={"fish": FISH})
    seen = []
    for text in ("place red a4", "place blue h4", "place red a4"):
        seen.append(reason(state, text).facts)
        state = state.play(IGLU.parse(text))
    assert seen == [
        {"who": "red", "square": "a4", "left": 4},
        {"who": "blue", "square": "h4", "left": 4},
        {"who": "red", "square": "a4", "left": 3},
    ]


@pytest.mark.parametrize(
    ("face", "clauses"),
    [
        ("thaw", ("IGLU-K.12",)),
        ("harpoon", ("IGLU-K.12",)),
        ("endurance 3", ("IGLU-K.12", "IGLU-K.13")),
        ("fish 2", ("IGLU-K.9",)),
        ("bear", ("IGLU-K.10",)),
        ("pack", ("IGLU-K.11",)),
        ("drift", ("IGLU-K.12",)),
    ],
)
def test_a_face_the_box_does_not_have_is_refused_by_the_clause_that_counts_it(
    face: str, clauses: tuple[str, ...]
) -> None:
    tiles = {"fish 2": 6, "fish 3": 4, "bear": 4, "pack": 10, "drift": 8, "thaw": 5, "harpoon": 6, "animals": 5}
    tiles["endurance 1"] = 8
    tiles["animals"] += tiles.pop(face, 0)
    start = IGLU.start(IGLU.seats(2), setup={"tiles": tiles, "fish": FISH})
    for n in range(10):
        start = start.play(IGLU.parse(f"place {('red', 'blue')[n % 2]} {'ah'[n % 2]}{3 + n // 2}"))
    state = start.play(IGLU.parse("melt d3"))
    refused = reason(state, f"reveal d3 {face}")
    assert refused.key == "reveal-none"
    assert refused.clauses == clauses
    assert refused.facts == {"face": face, "box": 0, "real": True}


@pytest.mark.parametrize(
    ("origin", "target", "key"),
    [
        ("a1", "a2", "walk-ashore"),
        ("h1", "g1", "walk-ashore"),
        ("a8", "b8", "walk-ashore"),
        ("h8", "h7", "walk-ashore"),
        ("b1", "b2", "walk"),
        ("a2", "b2", "walk"),
        ("g8", "g7", "walk"),
    ],
)
def test_who_comes_from_a_corner_walks_ashore(origin: str, target: str, key: str) -> None:
    found = reason(board({}, {origin: "r"}), f"walk {origin} {target}")
    assert found.key == key
    assert found.facts["left"] == 2


@pytest.mark.parametrize(
    ("ground", "things", "key"),
    [
        ("floe", "r", "build"),
        ("pack", "r", "build-anywhere"),
        ("floe", "r f1", "build-anywhere"),
        ("pack", "r f1", "build-anywhere"),
        ("floe", "r X", "build-anywhere"),
    ],
)
def test_pack_fox_and_bear_are_each_no_hindrance_for_an_igloo(ground: str, things: str, key: str) -> None:
    found = reason(board({"c3": ground}, {"c3": things}), "build c3")
    assert found.key == key
    assert found.facts == {"who": "red", "square": "c3", "left": 0, "igloos": 1}


def test_the_second_igloo_is_the_last() -> None:
    state = board({}, {"c3": "r"})
    state = state.play(IGLU.parse("build c3"))
    position = state.position()
    position |= {"points": 3}
    position["places"]["f3"]["things"].append({"kind": "inuit", "colour": "red", "count": 1})
    assert reason(IGLU.from_position(position), "build f3").facts["igloos"] == 0


# Water in two corners of a board of ice that touch by a corner only, for each of the four diagonals.
@pytest.mark.parametrize(
    ("wet", "origin", "target"),
    [
        (("c3", "d4"), "b3", "d5"),
        (("c3", "d4"), "d5", "b3"),
        (("d3", "c4"), "e3", "c5"),
        (("d3", "c4"), "c5", "e3"),
        (("b3", "c4", "d3"), "a3", "e3"),
        (("b3", "c4", "d3"), "e3", "a3"),
        (("c3", "d4", "c5"), "c2", "c6"),
        (("c3", "d4", "c5"), "c6", "c2"),
    ],
)
def test_water_that_touches_by_a_corner_is_named_as_such(wet: tuple[str, ...], origin: str, target: str) -> None:
    grounds = {"sea": "floe", **dict.fromkeys(wet, "water")}
    assert reason(board(grounds, {origin: "r"}), f"kayak {origin} {target}").key == "kayak-diagonal"


@pytest.mark.parametrize(
    ("wet", "origin", "target"),
    [
        (("b3", "d3"), "a3", "e3"),
        (("d3", "b3"), "e3", "a3"),
        (("c3", "c5"), "c2", "c6"),
        (("h3", "a4"), "g3", "b4"),
        (("a4", "h3"), "b4", "g3"),
        (("h3", "a5"), "g3", "b5"),
        (("a5", "h3"), "b5", "g3"),
        (("b3", "e4"), "a3", "f4"),
        (("e4", "b3"), "f4", "a3"),
    ],
)
def test_water_that_does_not_touch_at_all_is_other_water(wet: tuple[str, ...], origin: str, target: str) -> None:
    grounds = {"sea": "floe", **dict.fromkeys(wet, "water")}
    assert reason(board(grounds, {origin: "r"}), f"kayak {origin} {target}").key == "kayak-other"


@pytest.mark.parametrize(
    ("ground", "text", "kind"),
    [
        ("water", "draw c4 fox 1", "fish"),
        ("water", "draw c3 fish 1", "fish"),
        ("pack", "draw c4 fish 1", "fox"),
        ("pack", "draw c4 bear", "fox"),
        ("pack", "draw c3 fox 1", "fox"),
    ],
)
def test_another_token_than_the_one_due_is_refused(ground: str, text: str, kind: str) -> None:
    fields = {"phase": "drawing", "to_move": None, "pending": {"square": "c4", "left": 1}, "points": 0}
    refused = reason(board({"c4": ground}, {}, **fields), text)
    assert refused.key == "draw-other"
    assert refused.facts == {"kind": kind, "square": "c4", "left": 1}


def test_a_step_of_an_animal_tells_what_is_left_and_what_is_eaten() -> None:
    things = {"a4": "r r r r r", "h4": "b b b b b", "c4": "X", "d4": "s1", "c3": "f2"}
    state = board({"c4": "water"}, things, phase="moving", pending={"left": 3})
    eaten = reason(state, "move bear c4 d4")
    assert (eaten.key, eaten.facts["left"], eaten.facts["things"]) == ("step-eats", 2, ["fish"])
    eaten = reason(state, "move bear c4 c3")
    assert (eaten.key, eaten.facts["left"], eaten.facts["things"]) == ("step-eats", 2, ["fox"])


def test_what_gives_way_by_itself_is_told_by_itself() -> None:
    options = {"iglu.displace_together": False}
    state = board(
        {"d3": "floe"}, {"a4": "r r r r r", "h4": "b b b b b", "d4": "s1 s2"}, phase="drifting", options=options
    )
    state = state.play(IGLU.parse("drift d3 n"))
    told = reason(state, "displace d4 e4 fish 2")
    assert (told.key, told.facts) == ("displace", {"square": "d4", "target": "e4", "things": ["fish 2"]})


def test_who_is_asked_and_has_no_harpoon_is_told_so_and_the_next_is_asked() -> None:
    things = {"a4": "r r r r", "h4": "b b b b", "c4": "X r b", "c3": "f1"}
    state = board({}, things, phase="defending", to_move="blue", pending={"square": "c4", "asked": "blue", "left": 2})
    told = reason(state, "defend blue")
    assert (told.key, told.facts) == ("tile-none", {"who": "blue", "tile": "harpoon"})
    told = reason(state, "decline blue")
    assert (told.key, told.facts) == ("decline", {"who": "blue", "square": "c4"})
    state = state.play(IGLU.parse("decline blue"))
    told = reason(state, "decline red")
    assert (told.key, sorted(told.facts["owners"])) == ("decline-flee", ["blue", "red"])
