"""Cards that POV-Ray traces are taught by a sheet and read, twins by their digits."""

from __future__ import annotations

import pytest

from companion.lab.worlds.traced.cards import TracedCard, TracedScene, sheet_shot, trace
from companion.lab.worlds.traced.cards_art import MANNERS, Faces
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
