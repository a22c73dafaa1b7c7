"""The one form of a board, everything that may be wrong with it, the line of text and the picture."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.cli import run
from companion.rules import game
from companion.rules.core import NOBODY, SetupError
from companion.rules.ice_team import svg
from companion.rules.ice_team.legality import PHASES
from tests.worlds.sizes import size

Make = Callable[..., Any]
ICE = game("ice-team")
BEAR = {"kind": "bear", "colour": "green"}


def keys(state: Any) -> list[str]:
    found = [problem.key for problem in state.problems()]
    for problem in state.problems():
        words = [state.game.rulebook.problem(problem, state, lang) for lang in ("en", "fr")]
        assert all(words) and words[0] != words[1] and problem.clauses
    return found


def mixed(**places: Any) -> dict[str, Any]:
    """Return a position that the default box can show, with some places as given."""
    return {"places": places}


# --- reading ----------------------------------------------------------------------------------------------------------


def test_a_position_says_as_much_as_it_knows() -> None:
    state = ICE.from_position({})
    assert (state.phase, state.colours[state.to_move], state.actions) == ("act", "green", 2)
    assert keys(state) == []
    places = state.position()["places"]
    assert [places[name]["ground"] for name in ("a1", "a2", "a5", "start")] == ["floe", "igloo", "sea", "start"]
    same = ICE.from_position({"places": {"a1": None, "a2": {"ground": None}, "start": {"things": [BEAR]}}})
    assert same == state
    red = ICE.from_position({"to_move": "red", "actions": 1})
    assert (red.colours[red.to_move], red.actions) == ("red", 1)


@pytest.mark.cites("ICE-Q.21")
def test_a_form_that_is_broken_is_refused_in_a_sentence() -> None:
    act = {"bear": "start"}
    for position, words in [
        ([], "object"),
        ({"players": 3}, "list"),
        ({"players": [{"name": "Ann"}]}, "two players"),
        (
            {"players": [{"name": "Ann", "fresh": -1}, {"name": "Bob"}]},
            "fresh fish a team has is a whole number",
        ),
        (
            {"players": [{"name": "Ann", "frozen": 1000}, {"name": "Bob"}]},
            "frozen fish a team has is a whole number",
        ),
        (
            {"players": [{"name": "Ann", "fresh": True}, {"name": "Bob"}]},
            "fresh fish a team has is a whole number",
        ),
        ({"options": []}, "options is an object"),
        ({"options": {"ice.block_picks_up": 3}}, "block_picks_up is one of"),
        ({"box": 3}, "box is an object"),
        ({"box": {"data": {}}}, "24 floe tiles"),
        ({"layout": "x"}, "no layout of that name"),
        ({"removed": 3}, "removed is a list of at most 24"),
        ({"removed": ["plain"] * 25}, "removed is a list of at most 24"),
        ({"removed": ["sea"]}, r"removed\[1\] is one of"),
        ({"places": []}, "places is an object"),
        ({"places": {"z1": {}}}, "name of the layout"),
        ({"places": {"a1": 3}}, "A place is an object"),
        ({"places": {"a1": {"ground": "moss"}}}, "ground is one of"),
        ({"places": {"a1": {"ground": []}}}, "ground is one of"),
        ({"places": {"a1": {"things": {}}}}, "things is a list"),
        ({"places": {"a1": {"things": [3]}}}, "A thing is an object"),
        ({"places": {"a1": {"things": [{"kind": "fox"}]}}}, "kind is one of bear"),
        ({"places": {"a1": {"things": [{"kind": "bear", "colour": "blue"}]}}}, "colour is one of"),
        (
            {"places": {"a1": {"things": [{**BEAR, "count": 9}]}}},
            "How many bears stand there is a whole number from 0 to",
        ),
        ({"phase": "tea"}, "phase is one of"),
        ({"turn": "blue"}, "turn is one of"),
        ({"actions": 0}, "actions are left is a whole number"),
        ({"actions": 3}, "actions are left is a whole number"),
        ({"phase": "over", "loser": "blue"}, "loser is one of"),
        ({"pending": []}, "pending in Ice Team is an object"),
        ({"pending": {"bear": "a1"}}, "bear of the action"),
        ({"pending": {"bear": 3}}, "name of the layout"),
        ({"pending": {**act, "arrival": "e"}}, "arrival is a list"),
        ({"pending": {**act, "arrival": ["up"]}}, "direction is one of"),
        ({"pending": {**act, "arrival": ["s"]}}, "direction is one of"),
        ({"pending": {**act, "by": "boat"}}, "by is one of"),
        ({"pending": {**act, "again": 1}}, "true or false"),
        ({"pending": {"die": 3}}, "die is rolled is one of 1, 2"),
        ({"pending": {"dice": {}}}, "dice is a list"),
        ({"pending": {"dice": ["paw"]}}, "die is one of"),
        ({"pending": {"landed": [3]}}, "is a landing such as"),
        ({"pending": {"landed": ["a1"]}}, "direction is one of"),
    ]:
        with pytest.raises(SetupError, match=words) as wrong:
            ICE.from_position(position)
        assert wrong.value.fr != wrong.value.en


ON_A1 = {"a1": {"ground": "penguin1", "things": [BEAR]}}
ON_DRIFT = {"a4": {"ground": "drift", "things": [BEAR]}}


@pytest.mark.parametrize(
    ("phase", "fields", "pending"),
    [
        ("act", {}, {"again": True}),
        ("hop", {}, {}),
        ("hop", {"places": ON_A1}, {"bear": "a1"}),
        ("hop", {"places": ON_A1}, {"bear": "a1", "origin": "a1"}),
        ("hop", {"places": ON_A1}, {"bear": "a1", "origin": "village"}),
        ("turn-up", {"places": ON_A1}, {"bear": "a1"}),
        ("turn-up", {}, {"bear": "start"}),
        ("turn-up", {"places": ON_A1}, {"bear": "a1", "origin": "a2"}),
        ("turn-up", {"places": ON_A1}, {"bear": "a1", "origin": "start"}),
        ("roll", {}, {}),
        ("freeze", {"places": ON_DRIFT}, {"bear": "a4"}),
        ("freeze", {}, {"bear": "start"}),
        ("drift", {"places": ON_A1}, {"bear": "a1"}),
        ("drift", {"places": ON_DRIFT | {"a5": {"ground": "plain"}}}, {"bear": "a4"}),
        ("roll-both", {}, {"dice": ["fish1", "fish1"]}),
        ("choose", {}, {"dice": ["fish1"]}),
        ("choose", {}, {}),
    ],
)
def test_a_phase_without_what_its_step_needs_is_refused(phase: str, fields: dict, pending: dict) -> None:
    with pytest.raises(SetupError, match=f"phase {phase} needs") as wrong:
        ICE.from_position({"phase": phase, **fields, "pending": pending})
    assert phase in wrong.value.fr


@pytest.mark.parametrize(
    ("phase", "fields", "pending", "legal"),
    [
        ("pick", {}, {}, {"pick 1", "pick 2"}),
        ("roll", {}, {"die": 2}, {"roll 2 fish1", "roll 2 fish2", "roll 2 fish3", "roll 2 steal"}),
        ("roll-both", {}, {"dice": ["fish1"]}, {"roll 2 fish1", "roll 2 fish2", "roll 2 fish3", "roll 2 steal"}),
        ("choose", {}, {"dice": ["fish1", "steal"]}, {"choose 1", "choose 2"}),
        ("freeze", {"places": ON_A1}, {"bear": "a1"}, {"freeze 0"}),
        ("drift", {"places": ON_DRIFT}, {"bear": "a4"}, {"drift a5"}),
        ("hop", {"places": ON_A1}, {"bear": "a1", "origin": "a3"}, {"stop"}),
        ("over", {"loser": "red"}, {}, set()),
    ],
)
def test_a_position_in_the_middle_of_an_action_is_read(
    phase: str, fields: dict, pending: dict, legal: set, texts: Make
) -> None:
    state = ICE.from_position({"phase": phase, **fields, "pending": pending})
    assert texts(state) == legal
    assert ICE.from_position(state.position()) == state


def test_a_position_whose_player_cannot_move_goes_on_to_what_follows(islands: Make) -> None:
    grounds = {"p9": "paw", "q2": "plain"}
    stuck = islands(grounds, green="village village village p9", actions=1)
    assert (stuck.colours[stuck.to_move], stuck.actions) == ("red", 2)
    paws = islands(grounds, green="p9", pending={"bear": "p9", "again": True})
    assert (paws.colours[paws.to_move], paws.actions) == ("green", 1)
    lost = islands(grounds, green="village village village p9")
    assert lost.to_move == NOBODY and lost.loser == 0
    assert lost.ranking_reason.key == "rank-blocked" and lost.score().ranking == ((1,), (0,))


@pytest.mark.cites("ICE-S.3")
def test_unknown_floes_are_read_when_they_are_reached_and_when_they_are_left(play: Make, texts: Make) -> None:
    state = ICE.from_position({"places": {"a1": {"things": [BEAR]}}})
    ruling = state.check(ICE.parse("walk a1 a4"))
    assert ruling.legal and "tile on a1" in ruling.en
    state = play(state, "walk a1 a4")
    assert state.phase == "turn-up" and {text.split()[1] for text in texts(state)} == {"a1"}
    assert state.check(ICE.parse("floe a4 plain")).clauses == ("ICE-0.2",)
    assert state.check(ICE.parse("walk a4 a1")).clauses == ("ICE-0.2",)
    assert state.chance(Random(1)) in state.legal_moves
    ruling = state.check(ICE.parse("floe a1 plain-fragile"))
    assert "ICE-1.4" in ruling.clauses and "tile on a4" in ruling.en
    left = play(state, "floe a1 plain-fragile")
    assert left.position()["places"]["a1"]["ground"] == "sea" and left.phase == "turn-up"
    assert ICE.from_position(left.position()) == left
    assert left.chance(Random(1)) in left.legal_moves
    paw = play(left, "floe a4 paw")
    assert paw.position()["pending"] == {"bear": "a4", "again": True}
    assert "ICE-2.5" in left.check(ICE.parse("floe a4 paw")).clauses
    assert texts(play(left, "floe a4 drift")) == {"drift a1", "drift a5"}
    solid = play(state, "floe a1 plain", "floe a4 plain")
    assert solid.actions == 1 and "floe a3 plain" not in texts(solid)
    assert "pending" not in solid.position()
    assert keys(solid) == []


def test_a_tile_that_turns_out_to_drift_is_pushed_as_the_bear_came(play: Make, texts: Make) -> None:
    places = {"a4": {"ground": "plain", "things": [BEAR]}, "a5": {"ground": "floe"}, "b4": {"ground": "sea"}}
    state = play(ICE.from_position({"places": places}), "walk a4 a5")
    assert state.position()["pending"] == {"bear": "a5", "arrival": ["e"], "by": "walk"}
    assert ICE.from_position(state.position()) == state
    drift = play(state, "floe a5 drift")
    assert texts(drift) == {"push a6", "push b4"}, "b5 is sea behind them"
    pushed = play(drift, "push a6")
    assert pushed.position()["places"]["b4"]["ground"] == "floe", "a floe that nobody read is pushed unread"
    assert "pending" not in pushed.position()


# --- what may be wrong ------------------------------------------------------------------------------------------------


@pytest.mark.cites("ICE-K.8", "ICE-0.3", "ICE-1.1", "ICE-S.5")
def test_what_is_wrong_with_bears_is_said() -> None:
    five = ICE.from_position({"places": {"a1": {"things": [{**BEAR, "count": 5}]}}})
    assert keys(five) == ["too-many-bears", "bears-together"]
    assert five.problems()[0].facts == {"team": "green", "count": 5}
    assert five.position()["places"]["a1"]["things"] == [{"kind": "bear", "colour": "green", "count": 5}]
    assert ICE.from_position(five.position()) == five
    assert five.legal_moves and "ggggg" in str(five)
    two = {"a1": {"things": [BEAR, {"kind": "bear", "colour": "red"}]}}
    assert keys(ICE.from_position({"places": two})) == ["bears-together"]
    left = ICE.from_position({"places": two}).play(ICE.parse("walk a1 a4"))
    assert left.taken & 1, "the other bear is still there"
    assert keys(ICE.from_position({"places": {"a5": {"things": [BEAR]}}})) == ["bear-at-sea"]
    assert keys(ICE.from_position({"phase": "setup", "places": {"a1": {"things": [BEAR]}}})) == ["bears-early"]


@pytest.mark.cites("ICE-K.5", "ICE-K.6", "ICE-K.7", "ICE-1.4")
def test_what_is_wrong_with_tiles_is_said() -> None:
    assert keys(ICE.from_position(mixed(a2={"ground": "sea"}))) == ["igloo-missing"]
    assert keys(ICE.from_position(mixed(a1={"ground": "searched"}))) == ["igloo-misplaced"]
    assert keys(ICE.from_position(mixed(a5={"ground": "floe"}))) == ["too-many-floes"]
    assert keys(ICE.from_position({"removed": ["paw"]})) == ["too-many-floes"]
    threes = {f"a{n}": {"ground": "penguin3"} for n in (1, 3)}
    assert keys(ICE.from_position(mixed(**threes))) == ["too-many-of-a-face"]
    both = {"a1": {"ground": "penguin3"}, "a3": {"ground": "drift-fragile"}}
    assert keys(ICE.from_position(mixed(**both))) == ["foreign-floes"]
    gone = {"places": {"a1": {"ground": "sea"}}, "removed": ["plain"]}
    assert keys(ICE.from_position(gone)) == ["solid-tile-gone"]
    assert keys(ICE.from_position({**gone, "removed": ["plain-fragile"]})) == []


@pytest.mark.cites("ICE-E.1", "ICE-E.3")
def test_what_is_wrong_with_an_end_is_said() -> None:
    home = {"village": {"things": [{**BEAR, "count": 4}]}}
    other = {"kind": "bear", "colour": "red", "count": 4}
    assert keys(ICE.from_position({"places": home, "turn": "red"})) == ["game-was-over"]
    assert keys(ICE.from_position({"places": home, "phase": "over", "turn": "green"})) == []
    assert keys(ICE.from_position({"places": home, "phase": "over", "turn": "red"})) == ["game-was-over"]
    assert keys(ICE.from_position({"places": home, "phase": "roll-both", "turn": "green"})) == []
    assert keys(ICE.from_position({"places": home, "phase": "act", "turn": "green"})) == ["game-was-over"]
    both = {"village": {"things": [{**BEAR, "count": 4}, other]}}
    assert keys(ICE.from_position({"places": both, "phase": "over", "turn": "green"})) == ["both-home"]
    assert keys(ICE.from_position({"phase": "over", "turn": "green"})) == ["not-over"]
    assert keys(ICE.from_position({"phase": "over", "turn": "green", "loser": "green"})) == []


@pytest.mark.cites("ICE-E.1", "ICE-E.2", "ICE-T.7")
@pytest.mark.parametrize("told", [{}, {"turn": "red"}, {"phase": "over"}, {"to_move": "red"}])
def test_a_team_that_is_home_has_ended_the_game(told: dict[str, Any]) -> None:
    ann = {"name": "Ann", "colour": "green", "fresh": 6, "frozen": 6}
    players = [ann, {"name": "Bob", "colour": "red", "fresh": 12}]
    village = {"things": [{"kind": "bear", "colour": "red", "count": 4}]}
    state = ICE.from_position({"players": players, "places": {"village": village}, **told})
    assert keys(state) == [] and state.phase == "over"
    assert state.score().ranking == ((1,), (0,)) and state.outcome().winners == (1,)


def test_everything_wrong_is_said_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    position = {
        "game": "ice-team",
        "places": {
            "a1": {"ground": "igloo"},
            "a2": {"ground": "sea", "things": [{**BEAR, "count": 2}]},
            "village": {"things": [{**BEAR, "count": 3}]},
        },
        "removed": ["drift"],
        "phase": "over",
    }
    state = ICE.from_position(position)
    assert keys(state) == [
        *("too-many-bears", "bears-together", "bear-at-sea"),
        *("igloo-misplaced", "igloo-missing", "solid-tile-gone", "not-over"),
    ]
    path = tmp_path / "p.json"
    path.write_text(json.dumps(position), encoding="utf-8")
    assert run(["score", "--position", str(path), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)["problems"]
    assert [problem["key"] for problem in found] == keys(state)


# --- junk -------------------------------------------------------------------------------------------------------------

WHOLE = ICE.from_position(
    {"places": ON_A1, "phase": "freeze", "pending": {"bear": "a1", "arrival": ["e"], "by": "walk"}}
).position()
WORDS = ["a1", "start", "red", "paw", "e", "hop", "\ud800"]
FIELDS = ["a1", "bear", "count"]
PENDING = ["bear", "origin", "arrival", "by", "landed", "again", "die", "dice"]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 30) | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.sized
@settings(max_examples=size(110, 300))
@given(
    key=st.sampled_from([*WHOLE, "loser", "pending", "removed"]),
    value=VALUES,
    inner=st.sampled_from(PENDING),
    pending=VALUES,
    phase=st.sampled_from(PHASES),
)
def test_any_rubbish_is_a_position_or_refused(key: str, value: Any, inner: str, pending: Any, phase: str) -> None:
    position = copy.deepcopy(WHOLE) | {"phase": phase}
    position["pending"][inner] = pending
    for attempt in (position, position | {key: value}):
        try:
            state = ICE.from_position(attempt)
        except SetupError as wrong:
            assert wrong.en and wrong.fr and len(wrong.en) < 400
        else:
            state.problems()
            assert str(state) and state.score()
            for move in list(state.legal_moves)[:20]:
                assert state.check(move).en and state.play(move)
            for text in ("walk start a1", "stop", "drift a5", "push a2", "freeze 1", "roll 1 steal", "floe a1 paw"):
                assert state.check(ICE.parse(text)).fr
            assert svg.draw(state)


# --- text and picture -------------------------------------------------------------------------------------------------

PICTURE = """
OIo 1iI 2o% *Io
~.3 o.? I.I oo.
oI* Ioo O~o oIo
"""


def test_the_line_of_a_position(ice: Make) -> None:
    state = ice(PICTURE, green="a4 b1 village", red="a7", fresh=(3, 1), frozen=(0, 2))
    assert str(state) == (
        "a o!Io~(g).3o(r)I*, b 1(g)iIo.?Ioo, c 2o~!I.Io!~o, d *Iooo.oIo, start grrr, village g, "
        "green 3+0, red 1+2, green act 2"
    )
    assert str(ICE.start(ICE.seats(2))).endswith("start ggggrrrr, village -, green 0+0, red 0+0, setup 0")


@pytest.mark.parametrize("layout", ["line", "squares"])
@pytest.mark.parametrize("lang", ["en", "fr", "de"])
def test_the_picture_says_what_lies_where(ice: Make, lang: str, layout: str) -> None:
    first = "a" if layout == "line" else "p"
    state = ice(PICTURE, layout=layout, green=f"{first}4 village", red=f"{first}7", fresh=(3, 1), frozen=(0, 2))
    tree = ElementTree.fromstring(svg.draw(state, lang=lang))  # noqa: S314 - drawn by ourselves
    space = "{http://www.w3.org/2000/svg}"
    for defined in tree.findall(f"{space}defs"):
        tree.remove(defined)
    groups = {g.get("id"): g.get("class") for g in tree.iter(f"{space}g") if g.get("id")}
    assert groups == {n: place["ground"] for n, place in state.position()["places"].items()}
    signs = [g.get("class") for g in tree.iter() if g.get("class")]
    assert signs.count("penguin") == 1 + 2 + 3
    assert signs.count("cracks") == 3 + 2, "three cracked tiles and two paws"
    assert signs.count("pad") == 2 and signs.count("waves") == 3
    assert signs.count("dome") == 8 and signs.count("dome empty") == 1
    bears = [c for c in signs if c.startswith("bear")]
    assert bears.count("bear green") == 3 + 1 and bears.count("bear red") == 2 + 1, "and one of each below"
    words = [t.text for t in tree.iter(f"{space}text")]
    assert words.count("×2") == 1 and words.count("×3") == 1 and "?" in words
    signs = {"en": {"G", "R", "Start"}, "fr": {"V", "R", "Départ"}, "de": {"Gr", "R", "Dorf"}}
    assert signs[lang] <= set(words), "letters, not colours alone"
    fish = [t.text for t in tree.iter(f"{space}text") if t.get("class") == "fish"]
    stock = {
        "en": "3 fresh, 0 frozen, to move",
        "fr": "3 frais, 0 congelés, à son tour",
        "de": "3 frisch, 0 gefroren, am Zug",
    }
    assert stock[lang] in fish[0]


@pytest.mark.parametrize(
    ("text", "legal", "marks", "arrows"),
    [
        ("walk a4 a7", True, 2, 1),
        ("walk a4 a6", False, 2, 1),
        ("walk a4 a4", False, 1, 0),
        ("walk start a1", True, 2, 1),
        ("walk start village", False, 2, 1),
        ("walk moon a1", False, 1, 0),
        ("leap a4 d9", False, 2, 1),
        ("stop", False, 0, 0),
        ("floe b6 paw", False, 1, 0),
        ("floe moon paw", False, 0, 0),
        ("drift a5", False, 1, 0),
        ("drift moon", False, 0, 0),
        ("first red", False, 0, 0),
    ],
)
def test_the_picture_marks_the_move_and_says_why(ice: Make, text: str, legal: bool, marks: int, arrows: int) -> None:
    assert_marks(ice(PICTURE, green="a4"), text, legal, marks, arrows)


def test_the_picture_marks_drifts_and_what_is_asked(ice: Make, play: Make) -> None:
    row = "oIo ooI ooo oIo\no~o o.. IoI ooo\noIo Ioo ooo oIo"
    state = play(ice(row, green="a4"), "walk a4 a5")
    assert_marks(state, "push b4", True, 4, 1)
    assert_marks(state, "push a4", False, 2, 1)
    assert_marks(state, "push a5", False, 1, 0)
    assert_marks(state, "drift b5", False, 2, 1)
    penguin = play(ice("1Io ooI ooo oIo\no.o o.. IoI ooo\noIo Ioo ooo oIo", fresh=(1, 1)), "walk start a1")
    assert_marks(penguin, "freeze 1", True, 1, 0)


def assert_marks(state: Any, text: str, legal: bool, marks: int, arrows: int) -> None:
    space = "{http://www.w3.org/2000/svg}"
    for lang in ("en", "fr", "de"):
        tree = ElementTree.fromstring(svg.draw(state, ICE.parse(text), lang))  # noqa: S314 - drawn by ourselves
        found = [p for p in tree.iter(f"{space}polygon") if p.get("class") == "mark"]
        assert len(found) == 2 * marks
        assert any(p.get("stroke-dasharray") for p in found) == (not legal and marks > 0)
        assert len([p for p in tree.iter(f"{space}path") if p.get("class") == "arrow"]) == 2 * arrows
        verdicts = [g for g in tree.iter(f"{space}g") if g.get("class") == ("legal" if legal else "refused")]
        assert len(verdicts) == (marks > 0)
        caption = tree.find(f"{space}desc").text
        ruling = state.check(ICE.parse(text))
        assert ruling.legal is legal
        assert caption.startswith(f"{text}: ")
        assert all(clause in caption for clause in ruling.clauses)
        assert ruling.words.of(lang)[:20] in caption


def test_a_name_cannot_break_the_picture(ice: Make) -> None:
    players = [{"name": "<b>&\"'", "colour": "green"}, {"name": "x" * 60, "colour": "red"}]
    text = svg.draw(ICE.from_position({"players": players}), ICE.parse("walk start a1"))
    assert "<b>" not in text and ElementTree.fromstring(text) is not None  # noqa: S314 - drawn by ourselves


def test_how_a_bear_came_is_nothing_without_a_direction(ice: Make) -> None:
    """It could not be said again: text and JSON of a state are one with it."""
    state = ice(green="a1", pending={"bear": "a1", "by": "swim"})
    assert ICE.from_position(state.position()) == state
