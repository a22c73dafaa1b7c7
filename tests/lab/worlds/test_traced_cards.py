"""Cards that POV-Ray traces are taught by a sheet and read, twins by their digits."""

from __future__ import annotations

import numpy as np
import pytest

from companion.lab.worlds.traced.cards import Arm, Dome, TracedCard, TracedScene, sheet_shot, trace
from companion.lab.worlds.traced.cards_art import MANNERS, Faces
from companion.lab.worlds.traced.checks import traced_check
from companion.lab.worlds.traced.placings import traced_round
from companion.lab.worlds.traced.povray import Lamps, TracedView
from companion.rules.arctic.components import TEXT, UNKNOWN
from companion.rules.igloo_pop.components import CARD_TEXT
from vision.cards.deck import teach
from vision.cards.detect import CardFinder
from vision.cards.pile import read_cards

pytestmark = pytest.mark.process

TWINS = [name for name in TEXT[:UNKNOWN] if name.startswith("fox-") and name.endswith("-moose")]


@pytest.mark.parametrize("manner", range(len(MANNERS)))
def test_every_card_of_a_box_has_a_face_of_its_own(manner: int) -> None:
    for game, names in (("arctic", TEXT[:UNKNOWN:29]), ("igloo-pop", CARD_TEXT[::8])):
        faces = Faces(game, 3, manner)
        assert len({faces.face(name).tobytes() for name in names}) == len(names)
        assert faces.face(names[0]).tobytes() == Faces(game, 3, manner).face(names[0]).tobytes()


def test_a_traced_sheet_is_taught_and_a_traced_card_is_read() -> None:
    faces = Faces("arctic", 6, 0)
    names = [*TWINS[:3], "orca-2-puffin", "bear-4-fox", "walrus-1-moose"]
    deck = teach("arctic", [sheet_shot(faces, names, 0, width=800).image], names)
    laid = TracedScene(
        faces, (TracedCard(TWINS[1], (-45.0, 0.0), 12.0), TracedCard("orca-2-puffin", (45.0, 0.0), 190.0))
    )
    shot = trace(laid, TracedView(8, 240, 150, 640, 480), Lamps(8), 8)
    found = CardFinder(deck).find(shot.image)
    assert {card.name for card in read_cards(found, deck)} == {TWINS[1], "orca-2-puffin"}


def test_what_stands_in_a_traced_check_lies_upturned_beside_its_thaler_and_goes_to_the_village() -> None:
    check = traced_check(3, traced_round(3, 0, ["red", "blue"], count=4))
    before, over = check.scene(-1.0), check.scene(check.end_t + 9)
    assert sorted(dome.colour for dome in before.domes if dome.colour) == sorted(put.colour for put in check.film.puts)
    assert len(before.domes) == len(over.domes) == 12
    assert not before.thalers + over.thalers
    assert not [dome for dome in over.domes if dome.colour]
    one = next(turned for turned in check.turned if turned.at is not None)
    lying = check.scene(one.t)
    assert Dome(one.at or (0, 0), number=one.number, turn=one.turn) in lying.domes
    assert (one.put.colour, one.thaler) in lying.thalers
    assert len(check.scene(check.end_t + 9).cards) == 9 - len(check.taken)


def test_a_loose_thaler_is_traced_where_it_lies() -> None:
    faces, view = Faces("igloo-pop", 6, 0), TracedView(9, 160, 120, 320, 240)
    shot = trace(TracedScene(faces, (), thalers=(("red", (20.0, 10.0)),)), view, Lamps(9), 9)
    x, y = view.project([[20.0, 10.0, 3.4]])[0].round().astype(int)
    blue, green, red = map(int, shot.image[y, x])
    assert red > 2 * max(blue, green)


def test_players_reach_over_the_table_from_where_they_sit() -> None:
    film = traced_round(5, 0, ["red", "blue", "green", "yellow"])
    assert film.seats == traced_round(5, 0, ["red", "blue", "green", "yellow"]).seats
    sides = sorted(film.seats.values())
    apart = np.diff([*sides, sides[0] + 360])
    assert apart == pytest.approx(90), "they sit around it"
    on_cards = [put.at for put in film.puts]
    for put in film.puts:
        held = film.scene(put.t - 0.5)
        hand = next(arm for arm in held.arms if arm.side == film.seats[put.colour])
        igloo = next(dome for dome in held.domes if dome.colour == put.colour and dome.at not in on_cards)
        beside = np.subtract(hand.at, igloo.at)
        way = np.radians(hand.side)
        assert beside == pytest.approx(18 * np.array([np.sin(way), -np.cos(way)])), "held on the player's side"


@pytest.mark.parametrize("side", [0, 90, 180, 270])
def test_an_arm_covers_what_lies_on_its_side_and_nothing_else(side: int) -> None:
    faces, view = Faces("igloo-pop", 6, 0), TracedView(9, 400, 400, 160, 120)
    bare, under = (
        trace(TracedScene(faces, (), arms=arms), view, Lamps(9), 9).image.astype(float)
        for arms in ((), (Arm((0.0, 0.0), side),))
    )
    for other in (0, 90, 180, 270):
        way = np.radians(other)
        x, y = view.project([[130 * np.sin(way), -130 * np.cos(way), 0]])[0].round().astype(int)
        changed = np.abs(under - bare)[y - 2 : y + 3, x - 2 : x + 3].mean()
        assert (changed > 20) == (other == side), (other, changed)
