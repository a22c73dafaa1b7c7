"""Igloos that are new since a picture of the bare circle, in drawn pictures."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from companion.lab.worlds.cards.checks import LIFTED_S, drawn_check
from companion.lab.worlds.cards.photos import CardShot, shoot
from companion.lab.worlds.cards.placings import DrawnRound, drawn_round
from companion.rules.igloo_pop.components import PLACES
from vision.cards.igloos import _colours
from vision.cards.loose import loose_thalers, thalers_beside
from vision.cards.placed import BareCircle, igloos_in_check, is_bare, new_igloos

COLOURS = ("red", "blue", "green", "black")


@cache
def film() -> DrawnRound:
    return drawn_round(2, 1, COLOURS, lamp=True)


@cache
def bare() -> BareCircle:
    return BareCircle(film().bare.image, dict(zip(PLACES, film().bare.corners, strict=True)))


def found(shot: CardShot) -> list[tuple[str | None, str]]:
    return sorted((one.place or "", one.colour) for one in new_igloos(bare(), shot.image) or ())


def test_what_was_put_on_cards_is_found_in_any_light_and_nothing_else() -> None:
    last = film().puts[-1].t + 9
    put = sorted((one.place, one.colour) for one in film().puts)
    assert len(put) == 11
    assert found(film().frame(last, 3)) == put
    assert found(replace(film(), lamp_t=None).frame(last, 4)) == put


@pytest.mark.parametrize("light", ["the same", "another"])
def test_bare_cards_are_bare_in_any_light(light: str) -> None:
    scene = replace(film(), puts=(), rests=(), lamp_t=None if light == "the same" else -1.0)
    shot = scene.frame(0.0, 5)
    assert found(shot) == []
    assert is_bare(bare(), shot.image)
    assert not is_bare(bare(), film().frame(film().puts[0].t + 1).image)


def test_an_igloo_in_a_hand_is_not_free_and_one_beside_it_is() -> None:
    first, second = (replace(put, t=t) for put, t in zip(film().puts[:2], (0.0, 10.0), strict=True))
    assert first.place != second.place
    held = new_igloos(bare(), replace(film(), puts=(first, second), rests=(), lamp_t=None).frame(9.99).image)
    assert held is not None
    assert {one.place: one.free for one in held} == {first.place: True, second.place: False}


def test_the_first_igloo_is_found_though_cards_print_more_that_looks_like_one() -> None:
    film = drawn_round(112, 6, ("red", "blue", "green", "yellow"), lamp=True)
    bare = BareCircle(film.bare.image, dict(zip(PLACES, film.bare.corners, strict=True)))
    here = new_igloos(bare, film.frame(3.0).image)
    assert here is not None
    assert [(one.place, one.colour, one.free) for one in here] == [("card1", "blue", True)]


@pytest.mark.parametrize(
    ("hue", "lightness", "colour"), [(28.0, 79.0, "yellow"), (22.0, 88.0, "yellow"), (4.0, 45.0, "red")]
)
def test_red_and_yellow_are_told_by_their_lightness_too(hue: float, lightness: float, colour: str) -> None:
    likely = _colours(2 * hue, np.array([lightness, 50.0, 60.0]), ("red", "yellow", "green", "blue"))
    assert likely[colour] >= 0.99
    # Neither an orange nor a red in a glare is sure.
    assert max(_colours(30.0, np.array([66.0, 50.0, 60.0]), ("red", "yellow")).values()) < 0.99
    assert max(_colours(24.0, np.array([75.0, 20.0, 40.0]), ("red", "yellow")).values()) < 0.99


def test_in_the_check_igloos_stand_or_lie_on_their_cards_and_those_in_the_village_on_none() -> None:
    check = drawn_check(101, 1, COLOURS)
    bare = BareCircle(check.film.bare.image, dict(zip(PLACES, check.film.bare.corners, strict=True)))
    # Cards were won and taken by then; of the igloos on the card that is checked both lie, and the hand is gone.
    begun = next(one for one in check.turned if sum(other.put.place == one.put.place for other in check.turned) > 1)
    assert check.taken
    t = max(one.until for one in check.turned if one.put.place == begun.put.place) - 0.1
    here = igloos_in_check(bare, shoot(*check.scene(t), 3).image)
    assert here is not None
    standing = {(one.put.place, one.put.colour) for one in check.turned if one.t - LIFTED_S > t}
    lying = {(one.put.place, one.number) for one in check.turned if one.t <= t < one.until and one.at is not None}
    assert lying
    assert {(one.place, one.colour) for one in here.upright} == standing
    assert {(one.place, one.number) for one in here.turned if one.place is not None} == lying
    assert all(one.free for one in here.turned if one.place is not None)
    # Their thalers lie beside them, and tell whose they are.
    stood = igloos_in_check(bare, shoot(*check.scene(0.0), 3).image)
    assert stood is not None
    known = {one.colour: [one] for one in stood.upright}
    thalers = loose_thalers(here.change, known, [*here.stickers, *(one.at for one in stood.upright)], bare.width)
    lie = {one.number: one.at for one in here.turned if one.place == begun.put.place}
    whose = {one.number: one.put.colour for one in check.turned if one.put.place == begun.put.place}
    assert thalers_beside(lie, thalers, Counter(whose.values()), bare.width) == whose
    # What lies in the village later is read, and at no place.
    gone = igloos_in_check(bare, shoot(*check.scene(check.end_t + 2), 3).image)
    assert gone is not None
    assert gone.upright == ()
    assert {one.place for one in gone.turned} <= {None}


def test_pictures_that_cannot_be_compared_tell_nothing() -> None:
    image = film().bare.image
    assert new_igloos(bare(), image[:-2]) is None
    assert igloos_in_check(bare(), image[:-2]) is None
    rng = np.random.default_rng(1)
    assert new_igloos(bare(), rng.integers(0, 256, image.shape).astype(np.uint8)) is None
    assert not is_bare(bare(), image[:-2])
