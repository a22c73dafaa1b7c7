"""Igloos that are new since a picture of the bare circle, in drawn pictures."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from companion.lab.worlds.cards import CardShot
from companion.lab.worlds.placings import DrawnRound, drawn_round
from companion.rules.igloo_pop.components import PLACES
from vision.cards.placed import BareCircle, is_bare, new_igloos

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


def test_pictures_that_cannot_be_compared_tell_nothing() -> None:
    image = film().bare.image
    assert new_igloos(bare(), image[:-2]) is None
    rng = np.random.default_rng(1)
    assert new_igloos(bare(), rng.integers(0, 256, image.shape).astype(np.uint8)) is None
    assert not is_bare(bare(), image[:-2])
