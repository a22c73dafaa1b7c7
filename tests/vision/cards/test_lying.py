"""Cards on a drawn table, picture by picture: what lies as it lay is not looked for again, what came is found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from companion.lab.worlds.cards.art import CardArt
from companion.lab.worlds.cards.photos import CardScene, Laid, sheet, sheet_extent, shoot, view
from companion.lab.worlds.cards.taught import picture
from companion.rules.arctic.components import TEXT
from vision.cards.deck import teach
from vision.cards.detect import CardFinder
from vision.cards.lying import Lying, look_again
from vision.cards.pile import each_once, read_open

pytestmark = pytest.mark.learning

ART = CardArt("arctic", 1321, 1)
NAMES = list(TEXT[:12])
ROW = [Laid(name, ((n - 1.5) * 75.0, -60.0), 2.0 - n) for n, name in enumerate(NAMES[:4])]
PILE = Laid(NAMES[4], (-100.0, 80.0), 1.0)
CAMERA, LIGHT = view(77, 420, 330, width=1280, tilt=(5, 10))


@pytest.fixture(scope="module")
def finder() -> CardFinder:
    camera, light = view(3, *sheet_extent(ART, len(NAMES), 6), width=1500, tilt=(3, 8))
    photo = picture(shoot(sheet(ART, NAMES, 6, 3), camera, light, 3).jpeg)
    return CardFinder(teach("arctic", [photo], NAMES))


def shot(cards: list[Laid], noise: int, *, lamp: bool = False) -> Any:
    light = replace(LIGHT, exposure=LIGHT.exposure * 1.15, warmth=LIGHT.warmth + 0.1) if lamp else LIGHT
    return shoot(CardScene(ART, tuple(cards)), CAMERA, light, noise).image


def read(finder: CardFinder, lying: Lying) -> list[list[str]]:
    return sorted([one.name for one in group] for group in each_once(read_open(lying.found, finder.deck)))


def agreed(finder: CardFinder, lying: Lying) -> Lying:
    return lying.agreed([one for group in each_once(read_open(lying.found, finder.deck)) for one in group])


def singly(names: list[str]) -> list[list[str]]:
    return sorted([name] for name in names)


def searched(monkeypatch: pytest.MonkeyPatch, finder: CardFinder) -> list[float]:
    """Return a list that gets, of each search, how much of the picture it went through."""
    parts: list[float] = []
    search = finder.seeds

    def seeds(work: Any, where: Any = None) -> Any:
        parts.append(1.0 if where is None else float(where.mean()))
        return search(work, where)

    monkeypatch.setattr(finder, "seeds", seeds)
    return parts


@pytest.fixture(scope="module")
def begun(finder: CardFinder) -> Lying:
    lying = look_again(finder, shot([*ROW, PILE], 1), None)
    assert read(finder, lying) == singly(NAMES[:5])
    return lying


def test_what_lies_as_it_lay_is_not_looked_for_again(
    finder: CardFinder, begun: Lying, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = searched(monkeypatch, finder)
    for lamp in (False, True):
        again = look_again(finder, shot([*ROW, PILE], 2, lamp=lamp), agreed(finder, begun))
        assert read(finder, again) == singly(NAMES[:5])
        assert all(card.known for card in again.cards)
    assert parts == []
    # Of what is not agreed what it is, it is told anew by the other picture.
    again = look_again(finder, shot([*ROW, PILE], 2), begun)
    assert parts == []
    p_of = {id(one) for card in begun.cards for one in (card.card.p,)}
    assert not any(id(card.card.p) in p_of for card in again.cards)


def test_cards_that_came_are_found_where_something_changed_and_all_others_are_known(
    finder: CardFinder, begun: Lying, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = searched(monkeypatch, finder)
    nudged = [replace(one, at=(one.at[0] + 1.5, one.at[1] - 1.0), turn=one.turn + 0.7) for one in ROW[1:]]
    new = replace(ROW[0], name=NAMES[7])
    laid = Laid(NAMES[8], (PILE.at[0] + 24.0, PILE.at[1]), -1.0)
    now = look_again(finder, shot([new, *nudged, PILE, laid], 3), agreed(finder, begun))
    assert read(finder, now) == sorted([*([name] for name in (NAMES[7], *NAMES[1:4])), [NAMES[4], NAMES[8]]])
    known = {finder.deck.names[card.card.card] for card in now.cards if card.known}
    assert known == set(NAMES[1:4])
    assert len(parts) == 1
    assert parts[0] < 0.3
    # They lie where they lie now, in the photo too.
    found = {finder.deck.names[one.card]: one.middle for one in now.found}
    before = {finder.deck.names[one.card]: one.middle for one in begun.found}
    assert all(1.0 < np.linalg.norm(found[name] - before[name]) < 12.0 for name in NAMES[1:4])


def test_what_a_card_was_agreed_to_be_it_stays(finder: CardFinder, begun: Lying) -> None:
    # Alone it is likelier another, which lies elsewhere: so both are read rightly while both lie there.
    fox, other = finder.deck.index(NAMES[0]), finder.deck.index(NAMES[4])
    p = 0.1 * np.eye(len(NAMES))[other] + 0.9 * np.eye(len(NAMES))[fox]
    cards = tuple(replace(one, card=replace(one.card, p=p)) if one.card.card == other else one for one in begun.cards)
    found = tuple(replace(one, p=p) if one.card == other else one for one in begun.found)
    both = replace(begun, cards=cards, found=found)
    assert read(finder, both) == singly(NAMES[:5])
    now = look_again(finder, shot([*ROW[1:], PILE], 4), agreed(finder, both))
    assert read(finder, now) == singly(NAMES[1:5])
    # What was hardly a card is told anew.
    few = begun.agreed(
        [one for group in each_once(read_open(begun.found, finder.deck)) for one in group if one.name != NAMES[1]]
    )
    assert sorted(one.known for one in few.cards) == [False, True, True, True, True]


def test_cards_that_went_are_gone(finder: CardFinder, begun: Lying) -> None:
    now = look_again(finder, shot([*ROW[1:], PILE], 4), agreed(finder, begun))
    assert read(finder, now) == singly(NAMES[1:5])


def test_when_the_camera_was_moved_all_is_looked_at(
    finder: CardFinder, begun: Lying, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = searched(monkeypatch, finder)
    moved = [replace(one, at=(one.at[0] + 30.0, one.at[1] + 25.0)) for one in [*ROW, PILE]]
    now = look_again(finder, shot(moved, 5), agreed(finder, begun))
    assert parts == [1.0]
    assert read(finder, now) == singly(NAMES[:5])
    assert not any(card.known for card in now.cards)


def test_another_deck_knows_nothing_of_what_lay_there(finder: CardFinder, begun: Lying) -> None:
    few = CardFinder(finder.deck.only(NAMES[:6]))
    now = look_again(few, shot([*ROW, PILE], 6), agreed(finder, begun))
    assert few.deck.names == tuple(NAMES[:6])
    assert read(few, now) == singly(NAMES[:5])
    assert not any(card.known for card in now.cards)
