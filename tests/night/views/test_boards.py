"""Games on a board through the night: what follows by itself, what each phone may know, disputes by tapping."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from companion.lab.worlds.boards import offered, players, record, settled, view_of
from companion.night.answers import Actor, Role
from companion.night.games.arctic import VIEW as ARCTIC
from companion.rules import game
from companion.rules.arctic.components import TEXT
from tests.night.conftest import Table

GAMES = ("iglu-iglu", "arctic", "ice-team")


@pytest.fixture
def night(tmp_path: Path) -> Iterator[Table]:
    table = Table(tmp_path / "journal.sqlite")
    yield table
    table.close()


def opened(table: Table, game_id: str, **more: Any) -> None:
    table.do("open-match", {"game": game_id, "players": players(game_id), **more})


def now(table: Table) -> Any:
    match = table.night._projection.match
    assert match is not None
    return match


def match(table: Table) -> dict[str, Any]:
    found: dict[str, Any] = table.night.view()["match"]
    return found


@pytest.mark.parametrize("game_id", GAMES)
def test_a_whole_game_of_a_table_with_its_own_box(night: Table, game_id: str) -> None:
    opened(night, game_id)
    texts = record(game_id, 11)
    while texts:
        chunk, texts = texts[:60], texts[60:]
        night.moves(*chunk)
    found = match(night)
    assert found["over"]
    assert found["ranking_why"]["en"] != found["ranking_why"]["fr"]
    assert found["end"]["clauses"]
    assert all(line["clauses"] for player in found["players"] for line in player["lines"])
    # A restart reads the same game from the journal.
    before = night.night.view()
    night.restart()
    assert night.night.view() == before


@pytest.mark.parametrize(
    "game_id", ["arctic", *(pytest.param(game_id, marks=pytest.mark.long) for game_id in ("iglu-iglu", "ice-team"))]
)
def test_a_whole_game_that_the_companion_draws(night: Table, game_id: str) -> None:
    opened(night, game_id, draw=True)
    night.do("deal")
    rng = Random(3)
    while not match(night)["over"]:
        assert not match(night)["chance"]
        colour = now(night).colours[now(night).state.to_move]
        board = night.night.board(colour, "en")
        assert board is not None
        night.moves(rng.choice(board["moves"])["text"], by=Actor(Role.PLAYER, "one", colour))
    assert len(match(night)["ranking"]) >= 1


@pytest.mark.parametrize("game_id", GAMES)
def test_every_offered_move_has_a_path_of_its_own(game_id: str) -> None:
    """No two moves are tapped and called alike, or a person could not tell them apart."""
    state: Any = game(game_id).start(players(game_id))
    for text in record(game_id, 5)[:150]:
        taps = [
            (tuple(tap["path"]), tap[lang], str(tap["group"])) for tap in offered(game_id, state) for lang in ("en",)
        ]
        assert len(taps) == len(set(taps))
        state = settled(game_id, state.play(game(game_id).parse(text)))


def test_what_the_companion_may_draw_of_a_set_up(night: Table) -> None:
    opened(night, "arctic")
    night.do("deal")
    state = now(night).state
    assert len(state.packs) == 2
    assert 0 not in state.powers
    # Hands and totems are dealt by the table, and nobody shows them; the River is entered.
    assert [len(hand) for hand in state.hands] == [3, 3]
    assert set(state.totems) == {-1}
    assert match(night)["chance"]
    assert match(night)["prompt"]["en"] == "Which cards lie in the River?"
    night.no("refused", "deal")


def test_a_hand_is_shown_to_its_owner_only(night: Table) -> None:
    opened(night, "arctic", draw=True)
    night.do("deal")
    state = now(night).state
    seat = state.seat
    mine, other = now(night).colours[seat], now(night).colours[1 - seat]
    hands = [[TEXT[card] for card in hand] for hand in state.hands]
    words = [ARCTIC.card(card) for card in state.hands[seat]]

    def told(colour: str | None, lang: str) -> str:
        return json.dumps([night.night.board(colour, lang), night.night.view()], ensure_ascii=False)

    for lang in ("en", "fr", "de"):
        assert all(name in told(mine, lang) for name in hands[seat])
        for colour in (other, None):
            said = told(colour, lang)
            assert not any(name in said for name in hands[seat])
            assert not any(word in said for pair in words for word in pair.to_json().values())
        assert not any(name in told(mine, lang) for name in hands[1 - seat])
    # The totem counts for nobody before it is shown, and only its owner reads it.
    lines = [line for player in match(night)["players"] for line in player["lines"]]
    assert all(line["points"] == 0 for line in lines if "totem" in line["en"].lower())
    assert "Your totem" in told(mine, "en")
    assert "Your totem" not in told(None, "en")


def test_nobody_plays_from_another_hand(night: Table) -> None:
    opened(night, "arctic", draw=True)
    night.do("deal")
    state = now(night).state
    card = TEXT[state.hands[state.seat][0]]
    colours = now(night).colours
    body = {"moves": [f"place {card}"]}
    night.no("forbidden", "moves", body, by=Actor(Role.PLAYER, "other", colours[1 - state.seat]))
    night.no("forbidden", "moves", body, by=Actor(Role.HOST, "host-x", None))
    night.do("moves", body, by=Actor(Role.PLAYER, "owner", colours[state.seat]))


def test_a_red_tile_goes_to_the_hand_unseen(night: Table) -> None:
    opened(night, "iglu-iglu", draw=True)
    night.do("deal")
    rng, owner = Random(1), {}
    for _ in range(400):
        if match(night)["over"]:
            break
        seat = now(night).state.to_move
        colour = now(night).colours[seat]
        board = night.night.board(colour, "en")
        assert board is not None
        moves = [move["text"] for move in board["moves"]]
        night.moves(rng.choice(moves), by=Actor(Role.PLAYER, "one", colour))
        kept = [sum(hand) for hand in now(night).state.hands]
        if max(kept) and not owner:
            owner = {"seat": kept.index(max(kept))}
            break
    assert owner
    hand = now(night).state.hands[owner["seat"]]
    assert hand[0] == 0
    log = json.dumps(night.night.view()["log"])
    assert "thaw" not in log.lower()
    assert "harpoon" not in log.lower()
    held = night.night.board(now(night).colours[owner["seat"]], "en")
    other = night.night.board(now(night).colours[1 - owner["seat"]], "en")
    assert held is not None
    assert other is not None
    assert held["private"][0]["en"].startswith("In your hand: ")
    assert other["private"][0]["en"] == "Your hand is empty."


def test_what_two_taps_may_mean_is_ruled_on(night: Table) -> None:
    opened(night, "iglu-iglu", setup={"fish": {"d4": 1, "e4": 1, "d5": 2, "e5": 3}})
    for n in range(5):
        night.moves(f"place red {'abcde'[n]}8" if n else "place red b8", f"place blue {'bcdef'[n]}1")
    rulings = night.night.dispute(None, "en", ["d4"], "")
    assert {one["move"] for one in rulings} >= {"melt d4"}
    melt = next(one for one in rulings if one["move"] == "melt d4")
    assert not melt["legal"]
    assert melt["cited"][0]["book"]["en"]
    assert "refused" in melt["svg"]
    legal = night.night.dispute(None, "fr", ["c4"], "")
    assert legal[0]["move"] == "melt c4"
    assert legal[0]["legal"]
    assert "permis" in legal[0]["svg"]
    told = night.night.dispute(None, "en", [], "walk b8 b7")
    assert [one["legal"] for one in told] == [False]


def test_seats_of_a_game_without_colours(night: Table) -> None:
    seats = [{"name": "", "colour": "p1"}, {"name": "", "colour": "p2"}]
    night.do("open-match", {"game": "arctic", "players": seats})
    night.moves("pack 1", "pack 2", "side fox 11", "side moose 9", "side walrus 1", "side orca 7", "side puffin 3")
    night.moves("side bear 5", "first p2")
    assert "P2" in json.dumps(night.night.view()["log"])
    night.do("close-match")
    night.no("bad-input", "open-match", {"game": "arctic", "players": list(reversed(seats))})


@pytest.mark.parametrize("game_id", GAMES)
def test_whatever_is_asked_is_ruled_on(game_id: str) -> None:
    """Any places, and every gesture, in any phase: a ruling that agrees with what is legal, and never a crash."""
    view, rng = view_of(game_id), Random(8)
    state: Any = game(game_id).start(players(game_id))
    asked = 0
    for n, text in enumerate(record(game_id, 6)[:160]):
        if n % 4 == 0:
            places = [*dict.fromkeys(re.findall(r'<(?:rect|g) id="([^"]+)"', view.draw(state, "en", 0)))]
            legal = set(state.moves())
            for _ in range(6):
                path = rng.choices(places, k=rng.choice((1, 2)))
                for move, ruling in view.dispute(state, path, blind=False):
                    assert ruling.legal == (move in legal)
                    assert view.name(state, move).en
                    asked += 1
            for gesture in view.gestures(state):
                move = game(game_id).parse(gesture)
                assert state.check(move).legal == (move in legal)
                assert view.name(state, move).fr
                asked += 1
        state = settled(game_id, state.play(game(game_id).parse(text)))
    assert asked > 100


def test_cards_are_told_in_words_in_french(night: Table) -> None:
    night.do("open-match", {"game": "arctic", "players": players("arctic")})
    drawn = ""
    for drawn in record("arctic", 3):
        night.moves(drawn)
        if drawn.startswith("draw "):
            break
    fr = {"fox": "renard", "moose": "élan", "walrus": "morse", "orca": "orque", "puffin": "macareux", "bear": "ours"}
    main, value, other = drawn.split()[1].split("-")
    assert f"{fr[main]} {value} avec {fr[other]}" in night.view["log"][-1]["fr"]


@pytest.mark.parametrize("game_id", GAMES)
def test_every_place_of_a_picture_is_called_in_both_languages(game_id: str) -> None:
    view = view_of(game_id)
    state: Any = settled(game_id, game(game_id).start(players(game_id)))
    for text in record(game_id, 11)[:90]:
        state = settled(game_id, state.play(game(game_id).parse(text)))
        names = view.places(state, None)
        drawn = set(re.findall('<(?:rect|g) id="([^"]+)" class=', view.draw(state, "en", None)))
        assert len(drawn) > 20
        assert drawn <= set(names)
    for place, words in names.items():
        # A square is called by its name first; a card, a player, a power has no name but what it is.
        if re.fullmatch("[a-h][0-9]+", place):
            assert words.en.startswith(place) and words.fr.startswith(place)
        else:
            assert place not in (words.en, words.fr)
            assert not re.search(r"[a-z]\d", words.en)
    assert len({words.fr for words in names.values()} & {words.en for words in names.values()}) < len(names) / 3
    things = " ".join(words.fr for words in names.values())
    assert {"iglu-iglu": "inuit rouge", "arctic": "Paysage 3, ", "ice-team": "ours vert"}[game_id] in things


def test_names_of_places_tell_no_hand() -> None:
    view = view_of("arctic")
    state: Any = game("arctic").start(players("arctic"))
    rng = Random(4)
    while state.phase == "setup":
        state = state.after(state.chance(rng))
    named = " ".join(words.en for words in view.places(state, 0).values())
    for seat in (0, 1):
        assert state.hands[seat]
        assert not any(view.card(card).en in named for card in state.hands[seat])
    assert "Hand of Ann: 3" in named
