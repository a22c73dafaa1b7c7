"""The rulebook, clause by clause, as far as the examples and disputes have not said it."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from companion.rules import game
from companion.rules.core import CHANCE, NOBODY, SetupError

Make = Callable[..., Any]
ICE = game("ice-team")


def ground(state: Any, space: str) -> str:
    return state.position()["places"][space]["ground"]


def begun(seed: int = 1, **setup: Any) -> Any:
    """Return a game whose floes are laid by chance, with green to begin."""
    state = ICE.start(ICE.seats(2), None, setup)
    rng = Random(seed)
    while state.position()["phase"] == "setup":
        state = state.play(state.chance(rng))
    return state


@pytest.mark.cites("ICE-K.1", "ICE-K.2", "ICE-K.5", "ICE-K.7", "ICE-K.8", "ICE-S.3", "ICE-S.4", "ICE-S.5")
def test_the_boards_are_set_up_with_floes_igloos_fish_and_bears() -> None:
    state = begun()
    places = state.position()["places"]
    assert len(places) == 4 * 9 + 2
    grounds = [place["ground"] for place in places.values()]
    assert grounds.count("igloo") == 8 and grounds.count("sea") == 4
    assert len([g for g in grounds if g not in ("igloo", "sea", "start", "village")]) == 24
    assert places["start"]["things"] == [
        {"kind": "bear", "colour": "green", "count": 4},
        {"kind": "bear", "colour": "red", "count": 4},
    ]
    assert (state.fresh, state.frozen, state.actions) == ((0, 0), (0, 0), 1)
    assert not state.problems()


@pytest.mark.cites("ICE-S.3", "ICE-K.5")
def test_floes_are_laid_one_on_each_illustrated_space_and_the_box_is_counted(play: Make, refused: Make) -> None:
    state = ICE.start(ICE.seats(2))
    assert state.to_move == CHANCE
    assert refused(state, "floe a2 plain").clauses == ("ICE-S.3",), "an igloo"
    assert refused(state, "floe a5 plain").clauses == ("ICE-S.3",), "open sea"
    assert refused(state, "floe start plain").clauses == ("ICE-S.3",)
    assert refused(state, "floe x9 plain").clauses == ("ICE-K.1",)
    assert "ICE-2.5" in refused(state, "floe a1 lava").clauses
    laid = play(state, "floe a1 penguin3")
    assert refused(laid, "floe a1 plain").clauses == ("ICE-S.3",)
    assert refused(laid, "floe a3 penguin3").clauses == ("ICE-K.5",), "the box has one tile with three penguins"
    assert refused(laid, "floe a3 drift-fragile").clauses == ("ICE-K.5",), "which is the other side of that tile"
    assert refused(laid, "walk start a1").clauses == ("ICE-S.3", "ICE-S.5")


@pytest.mark.cites("ICE-S.3", "ICE-K.5")
def test_a_choice_of_tiles_that_ran_out_is_made_anew() -> None:
    """Any faces that the box can show may be laid, in any order, though only one side of a tile is ever seen."""
    anew = 0
    for seed in range(12):
        rng = Random(seed)
        state = ICE.start(ICE.seats(2))
        while any(text.startswith("floe") for text in map(str, state.legal_moves)):
            before = set(state.left)
            floes = [move for move in state.legal_moves if move.kind == "floe"]
            rare = [move for move in floes if move.b != "plain"]
            state = state.play(rng.choice(rare or floes))
            assert state.table.box.matched(state.seen()) is not None
            assert len(state.left) == 24 - len(state.seen()), "every tile that was seen is one of the box"
            anew += not before > set(state.left)
        assert not state.problems() and state.left == ()
    assert anew > 3


@pytest.mark.cites("ICE-S.5")
def test_either_may_begin_and_nobody_else(play: Make, refused: Make) -> None:
    state = ICE.start([{"name": "Ann", "colour": "red"}, {"name": "Bob", "colour": "green"}])
    assert state.colours == ("red", "green")
    assert play(state, "first red").to_move == 0
    assert play(state, "first green").to_move == 1
    with pytest.raises(SetupError, match="teams"):
        ICE.start([{"name": "Ann", "colour": "blue"}, {"name": "Bob"}])
    with pytest.raises(SetupError, match="different"):
        ICE.start([{"name": "Ann", "colour": "red"}, {"name": "Bob", "colour": "red"}])
    assert refused(play(state, "first red"), "first green").clauses == ("ICE-0.1", "ICE-0.2")


@pytest.mark.cites("ICE-0.1", "ICE-0.2")
def test_a_turn_is_two_actions_with_one_bear_or_two(ice: Make, play: Make, texts: Make, refused: Make) -> None:
    state = ice(green="a1 b1", red="c1")
    same = play(state, "walk a1 a4", "walk a4 a7")
    other = play(state, "walk a1 a4", "walk b1 a3")
    for after in (same, other):
        assert after.colours[after.to_move] == "red"
        assert all(text.split()[1] in ("c1", "start") for text in texts(after))
    assert "stop" not in texts(state), "actions are compulsory"
    assert refused(state, "walk c1 c2").clauses == ("ICE-0.1",), "a bear of the other team"
    assert refused(state, "walk b2 b1").clauses == ("ICE-0.2",), "no bear at all"


@pytest.mark.cites("ICE-0.2", "ICE-2.1", "ICE-1.1")
def test_a_plain_floe_does_nothing(ice: Make, play: Make, allowed: Make) -> None:
    state = ice(green="a1", fresh=(2, 2))
    ruling = allowed(state, "walk a1 a4")
    assert ruling.clauses == ("ICE-1.1", "ICE-2.1") and ruling.status == "text"
    after = play(state, "walk a1 a4")
    assert (after.fresh, after.frozen, after.actions) == ((2, 2), (0, 0), 1)


@pytest.mark.cites("ICE-0.3")
def test_one_bear_a_tile_and_any_number_on_start_and_village(ice: Make, refused: Make, allowed: Make) -> None:
    state = ice(green="a1 d3 village", red="a4 village village")
    assert refused(state, "walk a1 a4").clauses == ("ICE-0.3",)
    assert "ICE-0.3" in refused(state, "leap a1 a4").clauses
    assert allowed(state, "walk d3 village").legal
    assert allowed(state, "walk a1 start").legal
    igloo = ice(green="a1", red="a2")
    assert refused(igloo, "walk a1 a2").clauses == ("ICE-0.3",)


@pytest.mark.cites("ICE-0.4")
def test_start_is_next_to_all_that_touches_it(ice: Make, texts: Make, refused: Make) -> None:
    assert texts(ice(), "walk") == {"walk start a1", "walk start a4", "walk start a7"}
    assert refused(ice(), "walk start a3").clauses == ("ICE-1.1",)
    assert {"walk d3 village", "walk d9 village"} <= texts(ice(green="d3 d9"), "walk")


@pytest.mark.cites("ICE-1.1", "ICE-M.1")
def test_one_walks_to_what_is_adjacent_and_not_into_the_sea(ice: Make, texts: Make, refused: Make) -> None:
    state = ice(green="a6")
    assert texts(state, "walk a6") == {"walk a6 a3", "walk a6 b1", "walk a6 b4", "walk a6 a8", "walk a6 a9"}
    ruling = refused(state, "walk a6 a5")
    assert ruling.clauses == ("ICE-1.1", "ICE-1.2", "ICE-1.3") and "sea" in ruling.en
    assert refused(state, "walk a6 a1").clauses == ("ICE-1.1",)
    ruling = refused(state, "walk a6 b5")
    assert set(ruling.clauses) == {"ICE-1.1", "ICE-1.2", "ICE-1.3"}
    assert "sea" in ruling.en and "do not touch" in ruling.en, "both reasons are told"
    assert refused(ice(turn="red", red="a1"), "walk a1 a9").clauses == ("ICE-1.1",)


@pytest.mark.cites("ICE-1.2", "ICE-1.2a", "ICE-M.2")
def test_one_leaps_over_one_bear_to_the_space_straight_behind(ice: Make, refused: Make, allowed: Make) -> None:
    full = "oIo ooI ooo oIo\nooo ooo IoI ooo\noIo Ioo ooo oIo"
    state = ice(full, green="a4 a5", red="b4")
    assert allowed(state, "leap a4 a6").clauses[0] == "ICE-1.2"
    assert refused(state, "leap a4 b5").clauses == ("ICE-1.2", "ICE-1.2a"), "over two, with a gap"
    assert refused(state, "leap a5 b5").status == "house ruling", "the bear is not next to the leaper"
    assert refused(state, "leap a4 a2").clauses == ("ICE-1.2",), "next to it, over nobody"
    assert refused(state, "leap a5 a7").clauses == ("ICE-1.2",)
    row = ice(full, green="a4 a5", red="a6")
    assert "ICE-0.3" in refused(row, "leap a4 a6").clauses, "two in a row: the space behind is taken"
    sea = ice("oIo ooI ooo oIo\noo. ooo IoI ooo\noIo Ioo ooo oIo", green="a4 a5")
    assert refused(sea, "leap a4 a6").clauses == ("ICE-1.1", "ICE-1.2", "ICE-1.3")


@pytest.mark.cites("ICE-1.2")
def test_a_chain_may_turn_and_is_one_action(ice: Make, play: Make, refused: Make) -> None:
    state = play(ice(green="a1 c1", red="a2 a6"), "leap a1 a3")
    assert state.actions == 2
    assert refused(state, "walk a3 b1").clauses == ("ICE-1.2",)
    assert refused(state, "leap c1 c2").clauses == ("ICE-0.2", "ICE-1.2")
    assert refused(state, "leap a3 nowhere").clauses == ("ICE-K.1",)
    assert refused(state, "leap a3 b2").clauses == ("ICE-1.2",)
    assert play(state, "stop").actions == 1
    turned = play(state, "leap a3 a9", "stop")
    assert turned.actions == 1
    assert turned.position()["places"]["a9"]["things"] == [{"kind": "bear", "colour": "green", "count": 1}]


@pytest.mark.cites("ICE-1.3", "ICE-1.3a", "ICE-M.3")
def test_one_swims_straight_to_the_first_tile(ice: Make, refused: Make, allowed: Make) -> None:
    state = ice("oIo ooI ooo oIo\no.. .oo I.I oo.\noIo Ioo ooo oIo", green="a4", red="c4")
    ruling = allowed(state, "swim a4 b5")
    assert ruling.clauses == ("ICE-1.3", "ICE-2.1") and ruling.status == "text"
    assert refused(state, "swim a4 b6").clauses == ("ICE-1.3", "ICE-1.3a")
    assert refused(state, "swim a4 b2").clauses == ("ICE-1.3",)
    assert refused(state, "swim a4 a7").clauses == ("ICE-1.3",)
    assert "no sea" in refused(state, "swim a4 a7").en
    assert refused(state, "swim a4 a6").clauses == ("ICE-1.1", "ICE-1.2", "ICE-1.3")
    taken = ice("oIo ooI ooo oIo\no.. .oo I.I oo.\noIo Ioo ooo oIo", green="a4", red="b5")
    assert refused(taken, "swim a4 b5").clauses == ("ICE-0.3",)
    assert refused(taken, "swim a4 b6").status == "house ruling", "not past the bear either"


@pytest.mark.cites("ICE-1.4", "ICE-2.6")
def test_cracked_ice_breaks_before_the_effect_and_only_where_the_bear_came_from(ice: Make, play: Make) -> None:
    state = play(ice("OIo ooI ooo oIo\n~.o o.o I.I oo.\noIo Ioo ooo oIo", green="a1"), "walk a1 a4")
    assert state.phase == "drift" and ground(state, "a1") == "sea"
    assert state.position()["removed"] == ["plain-fragile"]
    swum = play(ice("OIo ooI ooo oIo\nO.O o.o I.I oo.\noIo Ioo ooo oIo", green="a4"), "swim a4 a6")
    assert [ground(swum, space) for space in ("a1", "a4", "a6")] == ["plain-fragile", "sea", "plain-fragile"]
    paws = play(ice("*Io ooI ooo oIo\no.o o.o I.I oo.\noIo Ioo ooo oIo", green="a1"), "walk a1 a4")
    assert ground(paws, "a1") == "sea", "paws are always cracked"


@pytest.mark.cites("ICE-2.2", "ICE-M.4")
def test_an_igloo_gives_its_fish_and_what_the_die_shows(ice: Make, play: Make, allowed: Make, texts: Make) -> None:
    state = ice(green="a1")
    ruling = allowed(state, "walk a1 a2")
    assert set(ruling.clauses) == {"ICE-1.1", "ICE-2.2", "ICE-S.4"} and ruling.status == "text"
    state = play(state, "walk a1 a2")
    assert texts(state) == {"roll 1 fish1", "roll 1 fish2", "roll 1 fish3", "roll 1 steal"}
    after = play(state, "roll 1 fish3")
    assert after.fresh == (4, 0) and ground(after, "a2") == "searched"


@pytest.mark.cites("ICE-2.2", "ICE-2.7")
def test_the_die_is_the_one_that_is_due(ice: Make, play: Make, refused: Make) -> None:
    igloo = play(ice(green="a1"), "walk a1 a2")
    assert refused(igloo, "roll 2 fish1").clauses == ("ICE-2.2",)
    assert refused(igloo, "roll 1 fish6").clauses == ("ICE-K.10",)
    assert refused(igloo, "roll 1 paw").clauses == ("ICE-K.10",)
    assert refused(igloo, "stop").clauses == ("ICE-2.2",)
    village = play(ice(green="d3"), "walk d3 village")
    assert refused(village, "roll 2 fish1").clauses == ("ICE-2.7",)
    assert refused(village, "choose 1").clauses == ("ICE-2.7",)
    both = play(village, "roll 1 fish1", "roll 2 fish3")
    assert refused(both, "roll 2 fish3").clauses == ("ICE-2.7",)
    assert [play(both, f"choose {die}").fresh for die in (1, 2)] == [(1, 0), (3, 0)]


@pytest.mark.cites("ICE-2.4")
def test_penguins_without_fresh_fish_ask_nothing(ice: Make, play: Make, allowed: Make, refused: Make) -> None:
    picture = "1Io ooI ooo oIo\no.o o.o I.I oo.\noIo Ioo ooo oIo"
    state = ice(picture, green="a4", frozen=(3, 0))
    assert "no fresh fish" in allowed(state, "walk a4 a1").en
    assert play(state, "walk a4 a1").actions == 1
    asked = play(ice(picture, green="a4", fresh=(3, 0)), "walk a4 a1")
    assert refused(asked, "walk a1 a4").clauses == ("ICE-2.4",)
    assert play(asked, "freeze 1").frozen == (1, 0)


@pytest.mark.cites("ICE-2.6a", "ICE-2.6", "ICE-M.7")
def test_a_simple_drift_goes_over_open_sea_only(ice: Make, play: Make, refused: Make) -> None:
    state = play(ice("~Io ooI ooo oIo\n..o o.o I.I oo.\noIo Ioo ooo oIo"), "walk start a1")
    assert refused(state, "drift a3").clauses == ("ICE-2.6a",), "a tile lies there"
    assert refused(state, "drift b5").clauses == ("ICE-2.6a",), "sea, but not joined"
    assert refused(state, "drift start").clauses == ("ICE-2.6a",)
    assert refused(state, "drift moon").clauses == ("ICE-K.1",)
    assert refused(state, "push moon").clauses == ("ICE-K.1",)


@pytest.mark.cites("ICE-2.6b", "ICE-2.6c", "ICE-M.8")
def test_a_block_drift_pushes_the_floes_in_front_while_there_is_sea(
    ice: Make, play: Make, allowed: Make, refused: Make, texts: Make
) -> None:
    picture = "oIo ooI ooo oIo\no~o o.. IoI ooo\noIo Ioo ooo oIo"
    state = play(ice(picture, green="a4"), "walk a4 a5")
    assert texts(state) == {"push a6", "push b4"}
    ruling = allowed(state, "push b4")
    assert ruling.clauses == ("ICE-2.6", "ICE-2.6b") and ruling.status == "text" and ruling.facts["floes"] == 2
    after = play(state, "push b4")
    assert [ground(after, s) for s in ("a5", "a6", "b4", "b5", "b6")] == ["sea", "sea", "drift", "plain", "plain"]
    edge = play(ice("oIo ooI ooo oIo\noooo~oIoIoo.\noIo Ioo ooo oIo", green="b4"), "walk b4 b5")
    assert edge.phase == "act", "an igloo behind the floe: no drift at all"
    last = play(ice("oIo ooI ooo oIo\nooo ooo IoI ~o.\noIo Ioo ooo oIo", green="c6"), "walk c6 d4")
    assert texts(last) == {"push d5"}
    ruling = refused(last, "push d6")
    assert ruling.clauses == ("ICE-2.6b", "ICE-2.6c")
    nothing = play(ice("oIo ooI ooo oIo\no~. ooo IoI ooo\noIo Ioo ooo oIo", green="a4"), "walk a4 a5")
    assert refused(nothing, "push a6").clauses == ("ICE-2.6b",)
    assert texts(nothing) == {"drift a6"}


@pytest.mark.cites("ICE-2.7", "ICE-M.9")
def test_every_bear_that_comes_home_rolls_both_dice(ice: Make, play: Make, allowed: Make) -> None:
    state = ice(green="d3 d9")
    assert "ICE-2.7" in allowed(state, "walk d3 village").clauses
    state = play(state, "walk d3 village", "roll 1 fish1", "roll 2 fish2", "choose 2")
    assert (state.fresh, state.actions) == ((2, 0), 1)
    state = play(state, "walk d9 village", "roll 1 fish3", "roll 2 fish2", "choose 1")
    assert state.fresh == (5, 0) and state.home(0) == 2


@pytest.mark.cites("ICE-E.1", "ICE-E.2")
def test_the_higher_total_wins_even_when_the_other_is_home(ice: Make, play: Make) -> None:
    state = ice(green="village village village d3", fresh=(0, 4), frozen=(1, 3))
    over = play(state, "walk d3 village", "roll 1 fish1", "roll 2 fish2", "choose 2")
    sheet = over.score()
    assert [(line.what, line.points) for line in sheet.sheets[1].lines] == [("fresh-fish", 4), ("frozen-fish", 3)]
    assert over.outcome().winners == (1,)
    assert over.ranking_reason.key == "rank-fish"
    assert over.actions == 2, "the second action is not made"


@pytest.mark.cites("ICE-E.3")
def test_whoever_cannot_move_at_all_has_lost(islands: Make, play: Make, allowed: Make) -> None:
    players = [{"name": "Ann", "colour": "green"}, {"name": "Bob", "colour": "red", "fresh": 9}]
    grounds = {"p1": "plain", "p9": "plain"}
    bears = {"green": "start", "red": "village village village p9"}
    state = islands(grounds, **bears, players=players, actions=1)
    ruling = allowed(state, "walk start p1")
    assert "ICE-E.3" in ruling.clauses and ruling.status == "text" and "Bob (red) cannot move any bear" in ruling.en
    lost = play(state, "walk start p1")
    assert lost.to_move == NOBODY
    assert lost.outcome().winners == (0,) and lost.outcome().clauses == ("ICE-E.3",), "whatever the fish say"
    assert (lost.end_reason.key, lost.ranking_reason.key) == ("ended-blocked", "rank-blocked")
    assert lost.end_reason.facts == {"who": "red"}
    assert lost.score().ranking == ((0,), (1,))
    read = islands(grounds, **bears, players=players, turn="red")
    assert read.outcome().winners == (0,), "a position in which the player to move is blocked is a lost one"
    turned = islands(grounds, green=bears["red"], red=bears["green"], players=players, actions=1, turn="red")
    lost = play(turned, "walk start p1")
    assert (lost.outcome().winners, lost.end_reason.key) == ((1,), "ended-blocked"), "the first seat is no other"
    assert lost.end_reason.facts == {"who": "green"}


@pytest.mark.cites("ICE-E.3")
def test_who_is_blocked_before_the_first_action_has_lost_too(play: Make, allowed: Make) -> None:
    """Start touches one space of sea, and its line ends there: an owner's odd board, and no way to begin."""
    data = ICE.start(ICE.seats(2)).table.box.to_json()
    data["boards"] = data["boards"] | {"p": {"grid": "square", "rows": [".", "ffI", "fIf", "ff"]}}
    layout = {
        "boards": [{"board": name, "at": [3 * n, min(n, 1)]} for n, name in enumerate("pqrt")],
        "start": [[-1, 0]],
        "village": [[12, 1]],
    }
    state = ICE.start(ICE.seats(2), None, {"box": data, "layout": layout})
    ruling = allowed(state, "first red")
    assert "ICE-E.3" in ruling.clauses and "Player 2 (red) cannot move any bear" in ruling.en
    assert play(state, "first red").outcome().winners == (0,)


@pytest.mark.cites("ICE-E.3", "ICE-E.2")
def test_a_level_game_that_goes_on_is_level(ice: Make) -> None:
    state = ice(fresh=(2, 1), frozen=(1, 2))
    assert state.score().ranking == ((0, 1),)
    assert state.ranking_reason.key == "rank-level"
    assert state.outcome() is None and state.end_reason is None


@pytest.mark.cites("ICE-Q.11", "ICE-2.6b")
def test_an_igloo_on_the_first_space_of_the_boards_stops_a_push_as_well(islands: Make, play: Make) -> None:
    state = islands({"p1": "igloo", "p2": "plain", "p3": "drift", "q1": "plain"}, green="q1")
    state = play(state, "walk q1 p3")
    reason = state.refusal(ICE.parse("push p2"))
    assert reason.key == "push-igloo" and reason.facts["to"] == "p2"


@pytest.mark.cites("ICE-0.1")
def test_whose_turn_it_is_and_how_many_actions_are_left_is_told(islands: Make) -> None:
    state = islands({"p1": "plain", "p2": "plain", "q1": "plain"}, green="p1", red="q1")
    reason = state.refusal(ICE.parse("walk q1 p2"))
    assert (reason.key, reason.facts["other"], reason.facts["left"]) == ("not-your-turn", "red", 2)


@pytest.mark.cites("ICE-2.2", "ICE-K.10")
def test_a_face_that_a_die_does_not_have_is_refused_with_the_die(islands: Make, play: Make) -> None:
    state = islands({"p1": "igloo", "p2": "plain"}, green="p2")
    state = play(state, "walk p2 p1")
    die = state.die_to_roll() + 1 if state.phase == "roll" else 0
    assert die == 1, "the dice are equal: nobody picks one"
    reason = state.refusal(ICE.parse("roll 1 fish3")._replace(b="fish9"))
    assert (reason.key, reason.facts) == ("no-die-face", {"face": "fish9", "die": 1})


@pytest.mark.cites("ICE-2.2", "ICE-2.7")
def test_the_die_that_is_due_is_told(ice: Make, play: Make) -> None:
    igloo = play(ice(green="a1"), "walk a1 a2")
    assert igloo.refusal(ICE.parse("roll 2 fish1")).facts == {"die": 1}
    home = play(ice(green="d3"), "walk d3 village", "roll 1 fish1")
    assert home.refusal(ICE.parse("roll 1 fish1")).facts == {"die": 2}


@pytest.mark.cites("ICE-K.5", "ICE-S.3")
def test_a_floe_that_nobody_read_may_show_any_face_that_is_left(ice: Make, play: Make, texts: Make) -> None:
    state = play(ice("?Io ooI ooo oIo\no.o o.o I.I oo.\noIo Ioo ooo oIo", green="a4"), "walk a4 a1")
    assert state.phase == "turn-up"
    listed = texts(state)
    assert listed and all(text.startswith("floe a1 ") for text in listed)
    assert len(listed) == len(list(state.legal_moves)), "each once"
    assert all(ICE.parse(text) in state.legal_moves for text in listed)
