"""The search for a turn: it finds every turn that was played, and proves that there is none where there is none."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from math import log
from pathlib import Path
from random import Random
from typing import Any

import pytest

from companion.cli.explain import command
from companion.lab.bench.turn_times import one_step, whole_turns
from companion.rules import game
from companion.rules.core import CHANCE, NOBODY, SetupError
from companion.rules.iglu_iglu import components
from companion.rules.iglu_iglu import moves as m
from companion.rules.iglu_iglu.inference import search
from companion.rules.iglu_iglu.position import ACT, OVER, START
from companion.rules.inference.explain import explain
from companion.rules.inference.turns import Evidence, cases, content, turns
from tests.worlds.sizes import size

# Not measured for coverage: that takes three times as long, and the other tests reach nearly every branch.
pytestmark = pytest.mark.no_cover

Make = Callable[..., Any]
IGLU = game("iglu-iglu")


def played_turns(rng: Random, count: int) -> Iterator[tuple[Any, list[str], Any]]:
    """Yield whole turns of random games in which players do much: the state before, the moves, the state after."""
    while True:
        state = IGLU.start(IGLU.seats(rng.choice((2, 3, 4))))
        before, moves = None, []
        while state.to_move != NOBODY:
            if state.phase == START and not state.played and (before is None or state.turn != before.turn):
                before, moves = state, []
            legal = list(state.legal_moves)
            by_verb: dict[str, list[Any]] = {}
            for move in legal:
                by_verb.setdefault(str(move).split()[0], []).append(move)
            if len(by_verb) > 1 and rng.random() < 0.85:
                by_verb.pop("end", None)
            move = state.chance(rng) if state.to_move == CHANCE else rng.choice(by_verb[rng.choice(list(by_verb))])
            state = state.after(move)
            moves.append(str(move))
            if before is not None and str(move) == "end" and rng.random() < 0.3:
                yield before, moves, state
                count -= 1
                if not count:
                    return


def seen(state: Any, *hidden: str) -> Evidence:
    return Evidence.of_position({"places": state.position()["places"]}).without(hidden)


def assert_good(before: Any, evidence: Evidence, found: Any) -> None:
    """Assert that every turn found is legal, move by move, and ends as was seen."""
    lengths = {len(turn.moves) for turn in found.turns}
    assert len(lengths) == 1
    kinds = [tuple(sorted(map(str, turn.moves))) for turn in found.turns]
    assert len(set(kinds)) == len(kinds)
    for turn in found.turns:
        state = before
        for move in turn.moves:
            assert state.turn == before.turn
            state = state.play(move)
        assert state == turn.state
        assert state.turn != before.turn or state.phase == OVER
        assert not evidence.misses(state.position())


@pytest.mark.sized
def test_turns_that_were_played_are_found_without_knowing_hands() -> None:
    rng = Random(11)
    for before, moves, after in played_turns(rng, size(15, 70)):
        evidence = seen(after)
        found = turns(before, evidence, limit=5)
        assert found.turns and found.complete, moves
        assert len(found.turns[0].moves) <= len(moves)
        assert_good(before, evidence, found)


@pytest.mark.sized
def test_turns_are_found_where_places_are_unknown() -> None:
    rng = Random(12)
    names = list(IGLU.start(IGLU.seats(2)).position()["places"])
    for before, moves, after in played_turns(rng, size(6, 40)):
        evidence = seen(after, *rng.sample(names, 6))
        found = turns(before, evidence, limit=3)
        assert found.turns, moves
        assert len(found.turns[0].moves) <= len(moves)
        assert_good(before, evidence, found)


# --- against all turns there are --------------------------------------------------------------------------------------

SMALL = """
+......+
........
..###...
..#.....
..##....
........
........
+......+
"""


def ends_of(before: Any) -> dict[str, int]:
    """Return every board that a turn can end with, and the fewest steps to it, by trying everything."""
    ends: dict[str, int] = {}
    level, known, steps = [before], {before}, 0
    while level:
        steps += 1
        following = []
        for state in level:
            for move in state.legal_moves:
                new = state.after(move)
                if new.turn != before.turn or new.phase == OVER:
                    ends.setdefault(json.dumps(new.position()["places"], sort_keys=True), steps)
                elif new not in known:
                    known.add(new)
                    following.append(new)
        level = following
    return ends


@pytest.mark.sized
@pytest.mark.parametrize(
    ("things", "hands"),
    [
        ({"c6": "r", "d6": "b", "c4": "f1"}, {}),
        ({"c6": "r", "d6": "b R", "d5": "1", "e5": "2"}, {}),
        ({"c6": "r", "d5": "X", "e6": "b"}, {"red": "harpoon"}),
        pytest.param({"c6": "r", "d6": "b", "c4": "f1"}, {"red": "thaw"}, marks=pytest.mark.long),
        ({"c6": "r", "d4": "b", "b5": "1"}, {"red": "animals", "blue": "harpoon"}),
    ],
)
def test_the_search_agrees_with_trying_everything(board: Make, things: dict[str, str], hands: dict[str, str]) -> None:
    # Animals that walk about make many boards: there the tile can only be pack.
    tiles = {"pack": 1} if "animals" in hands.get("red", "") else {"fish 2": 1, "bear": 1, "drift": 1, "endurance 1": 1}
    before = board(SMALL, things, hands=hands, to_move="red", piles={"tiles": {"pack": 1, **tiles}})
    ends = ends_of(before)
    rng = Random(1)
    for text in rng.sample(sorted(ends), size(25, 60)):
        evidence = Evidence.of_position({"places": json.loads(text)})
        found = turns(before, evidence)
        assert found.turns and found.complete
        assert len(found.turns[0].moves) == ends[text], "the shortest"
    impossible = 0
    for text in rng.sample(sorted(ends), size(25, 60)):
        places = json.loads(text)
        spoil(places, rng)
        after = json.dumps(places, sort_keys=True)
        found = turns(before, Evidence.of_position({"places": places}))
        assert found.complete
        assert bool(found.turns) == (after in ends), after
        impossible += after not in ends
    assert impossible > size(4, 10)


def spoil(places: dict[str, Any], rng: Random) -> None:
    """Change a small thing: an inuit elsewhere, an animal or a floe gone, an igloo built."""
    full = [name for name, place in places.items() if place["things"]]
    floes = [name for name, place in places.items() if place["ground"] in ("floe", "pack")]
    name = rng.choice(full)
    thing = places[name]["things"].pop()
    if thing["kind"] == "inuit" and floes:
        other = rng.choice(floes)
        same = [t for t in places[other]["things"] if (t["kind"], t.get("colour")) == ("inuit", thing["colour"])]
        if same:
            same[0]["count"] += 1
        else:
            places[other]["things"].insert(0, thing)
            kinds = ["inuit", "igloo", "fish", "fox", "bear"]
            places[other]["things"].sort(key=lambda t: (t.get("colour", "z") != "red", kinds.index(t["kind"])))


# --- explaining -------------------------------------------------------------------------------------------------------

OPENING = "+######+\n########\n########\n###..###\n###..###\n########\n########\n+######+"


@pytest.fixture
def apart(board: Make) -> Callable[..., Any]:
    """Make two positions: before, with things, and after, where c4 has melted and further things have changed."""

    def make(things: dict[str, str], then: dict[str, str], picture: str = OPENING, hands: str = "") -> Any:
        before = board(picture, things, hands={"red": hands} if hands else None, to_move="red")
        rows = picture.split()
        melted = "\n".join([*rows[:4], rows[4][:2] + "." + rows[4][3:], *rows[5:]])
        after = board(melted, then, to_move="blue")
        return before, seen(after)

    return make


def refusals(found: Any) -> dict[str, tuple[str, ...]]:
    return {str(move): ruling.clauses for move, ruling in found.rulings}


def test_a_legal_turn_is_told(apart: Make) -> None:
    found = explain(*apart({"b1": "r"}, {"b4": "r"}))
    assert found.legal and found.complete
    assert [str(move) for move in found.turns[0].moves] == [
        *("melt c4", "reveal c4 kept", "walk b1 b2", "walk b2 b3", "walk b3 b4", "end")
    ]
    told = found.to_json()
    assert told["legal"] and told["turns"][0][-1] == "end" and told["nearest"] is None
    assert told["en"].startswith("A legal turn leads there. The floe on c4") and "melt c4" not in told["en"]
    assert told["fr"].startswith("Un tour permis y mène. La tuile en c4")
    assert {"IGLU-1.2", "IGLU-2.A.1"} <= set(told["clauses"]), "as the other games do"
    assert [step["move"] for step in told["steps"]] == told["turns"][0]


def test_an_inuit_that_went_too_far(apart: Make) -> None:
    found = explain(*apart({"b1": "r", "e1": "b"}, {"g7": "r", "e1": "b"}))
    assert not found.legal and found.complete
    assert {difference.place for difference in found.differences} == {"b1", "g7"}
    assert "IGLU-2.A.1" in refusals(found)["walk b1 g7"]
    assert "IGLU-2.A.4" in refusals(found)["kayak b1 g7"]
    told = found.to_json()
    assert told["clauses"] and not told["legal"] and told["turns"] == []
    assert told["differences"][0]["seen"][0]["ground"] == "floe"
    assert "walk b1 g7" in told["facts"]["refused"]
    assert told["en"].startswith("No legal turn leads there.") and told["fr"].startswith("Aucun tour permis n’y mène.")


def test_a_fish_that_nobody_could_reach(apart: Make) -> None:
    found = explain(*apart({"b1": "r", "d4": "1", "e5": "3"}, {"b1": "r", "e5": "3"}))
    assert refusals(found) == {
        "hunt d4 fish 1": ("IGLU-2.B.2",),
        "harpoon d4 fish 1": ("IGLU-1.E.10", "IGLU-2.B.2"),
    }
    assert found.differences[0].to_json() == {
        "place": "d4",
        "seen": [{"ground": "water", "things": []}],
        "turn": {"ground": "water", "things": [{"kind": "fish", "value": 1, "count": 1}]},
    }


def test_a_bear_taken_without_a_harpoon(apart: Make, play: Make) -> None:
    before, evidence = apart({"b4": "r X"}, {"b4": "r"})
    assert explain(before, evidence).legal, "the tile of c4 may have been a harpoon"
    known = before.copy()
    known.tiles = tuple(0 if face == components.HARPOON else count for face, count in enumerate(known.tiles))
    found = explain(known, evidence)
    assert refusals(found)["hunt b4 bear"] == ("IGLU-2.B.3",)


def test_a_second_floe_and_a_rival_that_moved(apart: Make) -> None:
    two = OPENING.replace("########\n########\n+######+", "########\n#.#####.\n+######+", 1)
    _, evidence = apart({"b1": "r"}, {"b1": "r"}, two)
    whole = apart({"b1": "r"}, {"b1": "r"})[0]
    found = explain(whole, evidence)
    assert not found.legal and found.complete
    assert any({"IGLU-1.2", "IGLU-1.1"} & set(clauses) for clauses in refusals(found).values())
    rival = explain(*apart({"b1": "r", "h4": "b"}, {"b1": "r", "h5": "b"}))
    assert not rival.legal and {d.place for d in rival.differences} == {"h4", "h5"}


@pytest.mark.cites("IGLU-1.1", "IGLU-1.2")
def test_a_floe_far_from_water_and_none_at_all(apart: Make) -> None:
    before = apart({"b1": "r"}, {"b1": "r"})[0]
    position = {"places": before.position()["places"]}
    found = explain(before, Evidence.of_position(position, "iglu-iglu"))
    assert refusals(found) == {"end": ("IGLU-1.1", "IGLU-1.2")}, "nothing melted"
    position["places"]["b7"] = {"ground": "water", "things": []}
    found = explain(before, Evidence.of_position(position, "iglu-iglu"))
    assert refusals(found)["melt b7"] == ("IGLU-1.2", "IGLU-G.1"), "not that one had melted before"


@pytest.mark.cites("IGLU-Q.1", "IGLU-1.2")
def test_what_the_nearest_turn_makes_in_another_way_is_asked_about_too(apart: Make) -> None:
    before, after = apart({"b1": "r"}, {"a1": "r"})
    assert {"IGLU-2.A.1", "IGLU-G.3"} <= set(refusals(explain(before, after))["walk b1 a1"])
    before, after = apart({"b1": "r", "d3": "B"}, {"b1": "r"})
    position = {"places": before.position()["places"]}
    position["places"]["d3"] = {"ground": "water", "things": []}
    found = explain(before, Evidence.of_position(position, "iglu-iglu"))
    assert "IGLU-G.6" in refusals(found)["melt d3"]


def test_a_bear_need_not_tell_its_value(apart: Make) -> None:
    before = apart({"b1": "r", "b4": "X"}, {"b1": "r"})[0]
    position = {"places": before.position()["places"]}
    position["places"]["b4"]["things"] = [{"kind": "bear"}]
    position["places"]["c4"] = {"ground": "water", "things": []}
    assert explain(before, Evidence.of_position(position, "iglu-iglu")).legal


def test_an_igloo_too_many_points(apart: Make) -> None:
    found = explain(*apart({"b1": "r", "g8": "r"}, {"b1": "r R", "g7": "r"}))
    assert found.legal, "the tile of c4 may have been an endurance"
    before, evidence = apart({"b1": "r", "g8": "r"}, {"b1": "r R", "g7": "r"})
    bare = before.copy()
    bare.tiles = tuple(count if face < components.RED else 0 for face, count in enumerate(bare.tiles))
    assert not turns(bare, evidence).turns


def test_the_likeliest_comes_first(apart: Make) -> None:
    before, evidence = apart({"b1": "r"}, {"b2": "r"})
    walked, stayed = evidence.places["b2"], evidence.places["b1"]
    here, gone = next(iter(walked)), next(iter(stayed))
    places = {**evidence.places, "b2": {here: log(0.1), gone: log(0.9)}, "b1": {gone: log(0.2), here: log(0.8)}}
    found = turns(before, Evidence(places))
    assert [str(move) for move in found.turns[0].moves] == ["melt c4", "reveal c4 kept", "end"]
    assert found.turns[0].log_likelihood == pytest.approx(log(0.9) + log(0.8))
    floe, water = ("floe", ()), ("water", ())
    doubt = Evidence(
        {**places, "c4": {floe: log(0.7), water: log(0.3)}, "c5": {floe: log(0.4), water: log(0.6)}, "d4": {water: 0.0}}
    )
    found = turns(before, doubt)
    assert list(dict.fromkeys(str(turn.moves[0]) for turn in found.turns)) == ["melt c5", "melt c4"]
    assert [turn.total for turn in found.turns] == sorted((turn.total for turn in found.turns), reverse=True)
    assert Evidence(places).log_likelihood(before.position()) == float("-inf")


def test_trophies_that_were_told_must_be_so(apart: Make, play: Make) -> None:
    things = {"c5": "r", "d5": "1", "e5": "1"}
    before, evidence = apart(things, things)
    tokens = {"red": [{"kind": "fish", "value": 1, "count": 1}]}
    assert turns(before, evidence).turns
    assert not turns(before, Evidence(evidence.places, {"trophies": tokens})).turns
    hunted = play(before, "melt c4", "reveal c4 kept", "hunt d5 fish 1", "end")
    found = turns(before, Evidence.of_position(hunted.position()))
    assert [str(move) for move in found.turns[0].moves][2] == "hunt d5 fish 1"


def test_a_search_that_gives_up_says_so(apart: Make) -> None:
    before, evidence = apart({"b1": "r"}, {"b4": "r"})
    found = turns(before, evidence, most=2)
    assert not found.turns and not found.complete and found.looked == 4


def test_bounds_never_give_up_a_state_on_a_way_that_was_played() -> None:
    rng = Random(13)
    for before, moves, after in played_turns(rng, 120):
        wanted = search.SeenConstraints(seen(after), before.colours)
        state = before
        for text in moves[:-1]:
            state = state.after(IGLU.parse(text))
            assert state.phase == OVER or not search.hopeless(state, wanted), (moves, text)


def test_no_more_steps_are_thought_missing_than_were_taken() -> None:
    rng = Random(14)
    told = 0
    for before, moves, after in played_turns(rng, 120):
        names = rng.sample(list(after.position()["places"]), 12)
        for evidence in (seen(after), seen(after, *names)):
            wanted = search.SeenConstraints(evidence, before.colours)
            state = before
            for taken, text in enumerate(moves[:-1], 1):
                state = state.after(IGLU.parse(text))
                left = 0 if state.phase == OVER else search.steps_left(state, wanted)
                assert left <= len(moves) - 1 - taken, (moves, text)
                told += left
    assert told, "some were missing"


def test_a_long_turn_is_found_without_looking_at_all_longer_ones() -> None:
    """Three animals moved, one was hunted and an inuit walked, hands unknown: the walk once gave up on this."""
    *_, (before, _, after) = whole_turns("iglu-iglu", Random(7), 20)
    hidden = before.view(None)
    del hidden["hands"]
    (state,) = cases("iglu-iglu", hidden)
    found = turns(state, seen(after))
    assert found.turns and found.complete and found.looked < 6000


def test_that_no_turn_leads_there_is_found_with_little_work() -> None:
    """Ten turns with one thing moved once more than was played: 17,295 states were looked at once, 3,803 now."""
    rng = Random(24)
    looked = legal = 0
    for played, _, after in whole_turns("iglu-iglu", rng, 10):
        hidden = played.view(None)
        del hidden["hands"]
        (before,) = cases("iglu-iglu", hidden)
        found = turns(before, one_step(seen(after), rng))
        looked += found.looked
        legal += bool(found.turns)
    assert looked < 6000 and legal == 1


# --- positions as files -----------------------------------------------------------------------------------------------


def test_a_position_may_leave_open_whose_turn_it_is(board: Make) -> None:
    position = board(OPENING, {"b1": "r"}, to_move="red").position()
    bare = {"places": position["places"]}
    states = cases("iglu-iglu", bare)
    assert [state.turn for state in states] == [0, 1]
    assert [[hand[0] for hand in state.hands] for state in states] == [[4, 1], [1, 4]]
    late = cases("iglu-iglu", {**bare, "piles": {"tiles": {"thaw": 3, "pack": 10, "drift": 43}}})
    assert [hand[0] for hand in late[0].hands] == [2, 0], "one is left for the floe of the turn"
    assert [state.turn for state in cases("iglu-iglu", position)] == [0]
    assert cases("iglu-iglu", position)[0].unknown_tiles() == 0
    with pytest.raises(SetupError):
        cases("igloo-pop", bare)


def test_content_is_the_same_however_it_is_told() -> None:
    fish = {"kind": "fish", "value": 1}
    split = content({"ground": "water", "things": [fish, {**fish, "count": 2}]})
    assert split == content({"ground": "water", "things": [{**fish, "count": 3}]})
    assert split != content({"ground": "water", "things": [fish]})


@pytest.fixture
def files(tmp_path: Path, board: Make) -> Callable[..., list[str]]:
    """Write two positions and return the arguments of the command."""

    def make(before: Any, after: Any) -> list[str]:
        paths = []
        for name, position in (("before", before), ("after", after)):
            path = tmp_path / f"{name}.json"
            path.write_text(position if isinstance(position, str) else json.dumps(position), encoding="utf-8")
            paths.append(str(path))
        return ["iglu-iglu", *paths]

    return make


def call(*arguments: str) -> int:
    result = command.main(args=list(arguments), standalone_mode=False)
    assert isinstance(result, int)
    return result


def test_the_command_tells_a_legal_turn(files: Make, board: Make, capsys: pytest.CaptureFixture[str]) -> None:
    people = {"b1": "r r r r r", "b8": "b b b b b"}
    before = board(OPENING, people, to_move="red").position()
    after = copy.deepcopy(before)
    after["places"]["c4"] = {"ground": "water", "things": []}
    after["places"]["h2"] = None
    told = {"places": after["places"]}
    assert call(*files(before, told)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].strip().startswith("The floe on c4") and "[IGLU-1.2]" in lines[1] and lines[1].endswith("· melt c4")
    assert call(*files(before, told), "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["legal"] and answer["problems"] == [] and answer["clauses"][0] == "IGLU-1.2"
    assert set(answer) >= {"legal", "turns", "nearest", "differences", "clauses", "facts", "status", "en", "fr"}
    assert call(*files({"places": before["places"]}, told)) == 0, "anybody's turn, any hand"


@pytest.mark.parametrize("lang", ["en", "fr", "de"])
def test_the_command_tells_what_stands_in_the_way(
    files: Make, board: Make, lang: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = board(OPENING, {"b1": "r r r r r", "b8": "b b b b b"}, to_move="red").position()
    after = copy.deepcopy(before)
    after["places"]["c4"] = {"ground": "water", "things": []}
    after["places"]["b1"]["things"][0]["count"] = 4
    after["places"]["g7"]["things"] = [{"kind": "inuit", "colour": "red"}]
    after["places"]["d4"]["things"] = [{"kind": "bear", "count": 2}]
    del after["phase"], after["turn"], after["to_move"]
    assert call(*files(before, after), "--lang", lang) == 1
    out = capsys.readouterr().out
    assert "walk b1 g7" in out and "IGLU-2.A.1" in out
    nearest = {"en": "The nearest legal turn", "fr": "Le tour permis le plus proche", "de": "Der nächstliegende"}
    wrong = {"en": "  More than one bear", "fr": "  Plus d’un ours", "de": "  Auf d4 ist mehr als ein Bär"}
    assert nearest[lang] in out
    assert wrong[lang] in out, "with its clause among the reasons"


@pytest.mark.parametrize(
    ("before", "after"),
    [("[]", "{}"), ('{"places": {}}', '{"places": {}}'), ("nonsense", "{}"), ('{"places": []}', '{"places": {}}')],
)
def test_the_command_refuses_what_is_no_position(files: Make, before: str, after: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        call(*files(before, after))


def test_the_command_refuses_a_broken_position_afterwards(files: Make, board: Make) -> None:
    before = board(OPENING, {"b1": "r"}, to_move="red").position()
    for broken in ({"c4": {"ground": "lava"}}, {"z9": {"ground": "floe"}}):
        with pytest.raises(SetupError):
            call(*files(before, {"places": broken}))
    with pytest.raises(SetupError):
        call("arctic", *files(before, before)[1:])


def test_red_tiles_are_told_as_kept(apart: Make) -> None:
    before, evidence = apart({"b1": "r"}, {"b1": "r"})
    for turn in turns(before, evidence).turns:
        assert all(move.face == components.KEPT for move in turn.moves if isinstance(move, m.Reveal))
        assert turn.state.phase in (START, ACT, OVER)
