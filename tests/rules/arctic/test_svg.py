"""The picture of a position: whole, well-formed, and with the marks of the step in question."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any
from xml.etree import ElementTree

import pytest

from companion.rules import game
from companion.rules.arctic.components import ANIMALS
from companion.rules.arctic.svg import TOKEN_SCALE, draw
from companion.rules.arctic.svg_parts import FILL, SILHOUETTES
from companion.rules.core import CHANCE, NOBODY
from companion.rules.record import read_file

Make = Callable[..., Any]
ARCTIC = game("arctic")
HERE = Path(__file__).parent
SVG = "{http://www.w3.org/2000/svg}"


def drawn(state: Any, text: str | None = None, lang: str = "en", **fields: Any) -> ElementTree.Element:
    move = ARCTIC.parse(text) if text else None
    return ElementTree.fromstring(draw(state, move, lang, **fields))  # noqa: S314 - our own text


def words(root: ElementTree.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def classed(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [element for element in root.iter() if name in element.get("class", "").split()]


def test_a_picture_shows_what_lies_open(table: Make) -> None:
    state = table(pile="fox-5-moose fox-4-walrus", hand="orca-5-puffin", own="fox", sides=(12,), tokens={"bear": 15})
    root = drawn(state)
    shown = words(root)
    assert {"0", "1", "3", "6", "10", "15"} <= set(shown)
    assert {"P.12 · A", "Ann", "Bob", "hand: 1", "Penalty: 0", str(state.pile_left)} <= set(shown)
    assert "points: 1" in shown, "the run of two foxes"
    assert len(classed(root, "run")) == 1 and len(classed(root, "footprint")) == 1
    # Six tokens, six power cards, six River cards with a companion each, two pile cards, the visible one's two.
    assert sum(len(classed(root, animal)) for animal in ANIMALS) == 6 + 6 + 12 + 2 + 2


def test_nothing_is_told_by_colour_alone() -> None:
    assert len(set(SILHOUETTES)) == len(set(FILL)) == 6


def test_secrets_are_not_in_the_picture(table: Make) -> None:
    state = table(
        pile="moose-1-fox down:walrus-2-fox orca-3-fox", hand="fox-4-walrus", penalty="fox-3-orca", sides=(12,)
    )
    text = draw(state)
    assert not any(card in text for card in ("fox-4-walrus", "fox-3-orca", "walrus-2-fox"))
    assert "totem:" in text and ElementTree.fromstring(text) is not None  # noqa: S314
    mine, theirs = drawn(state, viewer=0), drawn(state, viewer=1)
    foxes = [len(classed(root, "fox")) for root in (drawn(state), mine, theirs)]
    assert foxes[1] == foxes[0] + 1, "the fox in Ann's hand"
    assert foxes[2] == foxes[0], "Bob's cards are unseen"


@pytest.mark.parametrize(
    ("text", "legal", "marks", "arrows"),
    [
        ("place orca-5-puffin", True, 1, 0),
        ("place orca-5-puffin under", True, 1, 0),
        ("place orca-5-puffin bottom", False, 1, 0),
        ("place walrus-5-orca", False, 1, 0),
        ("swap orca-5-puffin bear-5-fox", False, 2, 0),
        ("draw bear-5-fox", False, 1, 0),
        ("give ? p2", False, 2, 0),
        ("take-back", False, 1, 0),
        ("tokens fox+ moose-", False, 0, 2),
        ("extra fox+", False, 0, 1),
        ("discard orca-5-puffin", False, 2, 0),
        ("draw-pile", False, 1, 0),
        ("refill", False, 1, 0),
        ("value +1", False, 1, 0),
        ("end", False, 1, 0),
        ("hand p2 ?", False, 1, 0),
        ("totem p1 fox", False, 1, 0),
        ("first p2", False, 1, 0),
        ("side fox 12", False, 1, 0),
        ("pack 3", False, 1, 0),
        ("river fox-5-moose", False, 1, 0),
        ("penalty ?", False, 1, 0),
        ("draw-penalty ?", False, 1, 0),
        ("give ? p4", False, 1, 0),
    ],
)
@pytest.mark.parametrize("lang", ["en", "fr", "de"])
def test_a_step_is_marked_and_ruled(table: Make, text: str, legal: bool, marks: int, arrows: int, lang: str) -> None:
    state = table(pile="moose-1-fox", hand="orca-5-puffin", own="fox", sides=(12,))
    ruling = state.check(ARCTIC.parse(text))
    assert ruling.legal == legal
    root = drawn(state, text, lang)
    assert len(classed(root, "mark")) == 2 * marks and len(classed(root, "arrow")) == 4 * arrows
    (badge,) = classed(root, "legal" if legal else "refused")
    assert badge is not None
    caption = " ".join(words(root))
    assert ruling.clauses[0] in caption and text.split(maxsplit=1)[0] in caption
    described = root.find(f"{SVG}desc")
    assert described is not None and described.text
    dashed = [element for element in root.iter() if element.get("stroke-dasharray") == "9 6"]
    assert bool(dashed) == (not legal)


def test_the_example_pile_alone() -> None:
    pile = "walrus fox fox fox puffin puffin moose moose moose moose moose moose bear".split()  # noqa: SIM905
    places = {f"pile{n}": {"things": [{"kind": kind}]} for n, kind in enumerate([*pile, "face-down"], 1)}
    state = ARCTIC.from_position({"game": "arctic", "places": places})
    root = drawn(state)
    assert "points: 3 + 1 + 15 + 1 + 6 (animals) = 26" in words(root)
    assert len(classed(root, "run")) == 4
    assert drawn(state, "place fox-5-moose", "fr") is not None


def test_a_run_goes_on_in_the_next_row() -> None:
    places = {f"pile{n}": {"things": [{"kind": "fox"}]} for n in range(1, 46)}
    root = drawn(ARCTIC.from_position({"game": "arctic", "places": places}))
    assert len(classed(root, "run")) == 3 and words(root).count("15") == 1


def test_every_state_of_a_game_is_drawn() -> None:
    rng = Random(3)
    for players in (2, 4):
        state = ARCTIC.start([{"name": f"<N&{n}>"} for n in range(players)])
        while state.to_move != NOBODY:
            move = state.chance(rng) if state.to_move == CHANCE else rng.choice(list(state.moves()))
            if rng.random() < 0.15:
                drawn(state, str(move), rng.choice(["en", "fr", "de"]), viewer=rng.choice([None, 0]))
            state = state.after(move)
        assert any("=" in line and "totem" in line for line in words(drawn(state)))


def test_the_golden_game_is_drawn_to_its_end() -> None:
    state = read_file(HERE / "playthrough_b.jsonl").state
    assert state is not None
    shown = words(drawn(state, lang="fr"))
    for player in state.score().sheets:
        total = str(player.total).replace("-", "−")
        assert any(line.startswith("points") and line.endswith(f"= {total}") for line in shown)


def test_no_token_covers_the_number_of_its_landscape(table: Make) -> None:
    root = drawn(table(pile="fox-5-moose", hand="", tokens=dict.fromkeys(ANIMALS, 3)))
    (number,) = (one for one in root.iter(f"{SVG}text") if one.text == "3" and one.get("font-size") == "26")
    left, top = float(number.get("x", "")) - 20, float(number.get("y", "")) - 20
    tokens = [one.get("transform", "") for name in ANIMALS for one in classed(root, name)]
    on_land = [one for one in tokens if f"scale({TOKEN_SCALE:g})" in one]
    assert len(on_land) >= 6
    for token in on_land:
        x, y = (float(value) for value in token.removeprefix("translate(").partition(")")[0].split())
        assert not (x + 18 * TOKEN_SCALE > left and y + 16 * TOKEN_SCALE > top and y < top + 20), token
