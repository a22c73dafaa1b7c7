"""The picture of a position: well-formed, complete, and told by more than colour."""

from __future__ import annotations

import re
from random import Random
from xml.etree import ElementTree

from companion.rules import game
from companion.rules.core import CHANCE, NOBODY
from companion.rules.igloo_pop import svg

POP = game("igloo-pop")
PLAYERS = [{"name": "Ann & Co <1>", "colour": "red"}, {"name": "Bob", "colour": "blue"}]
CARDS = ["4", "4/5", "5/6", "6/7", "7/8", "8/9", "9/10", "2", "11/12/13"]


def test_a_drawn_round_shows_cards_igloos_and_the_ruling() -> None:
    state = POP.start(PLAYERS, None, {"cards": CARDS})
    for text in ("start", "place red card2", "place blue card2"):
        state = state.play(POP.parse(text))
    drawn = svg.draw(state, POP.parse("place red card9"))
    ElementTree.fromstring(drawn)  # noqa: S314 - our own text
    assert drawn.count('class="red"') == drawn.count('class="blue"') == 1
    for card in CARDS:
        assert f">{card}</text>" in drawn
    assert "place red card9: legal" in drawn and "POP-" in drawn
    refused = svg.draw(state, POP.parse("place green card9"), "fr")
    assert "refusé" in refused and 'stroke-dasharray="9 6"' in refused


def test_every_state_of_a_game_can_be_drawn() -> None:
    rng = Random(3)
    state = POP.start(PLAYERS)
    while state.to_move != NOBODY:
        drawn = svg.draw(state, lang=rng.choice(["en", "fr", "de"]))
        ElementTree.fromstring(drawn)  # noqa: S314 - our own text
        numbers = sum(n is not None for igloos in state.igloos.values() for _, n in igloos)
        assert len(re.findall(r'paint-order="stroke"', drawn)) == numbers
        moves = list(state.moves())
        state = state.play(state.chance(rng) if state.to_move == CHANCE else rng.choice(moves))


def test_each_colour_has_a_shape_of_its_own() -> None:
    assert len(set(svg.SHAPE.values())) == len(POP.colours)


def test_what_the_players_have_stands_below() -> None:
    state = POP.from_position(
        {"places": {}, "players": [{**PLAYERS[0], "own": 4, "captured": 2, "cards": ["7", "4/5"]}, PLAYERS[1]]}
    )
    assert ">Ann &amp; Co &lt;1&gt;: thalers 4 + 2 · cards 2</text>" in svg.draw(state)
    assert ">Bob\u00a0: pièces 10 + 0 · cartes 0</text>" in svg.draw(state, lang="fr")


def test_the_card_that_a_ruling_names_is_dotted() -> None:
    """A begun card is finished first (POP-3.1): the reveal elsewhere is refused, and the begun card shown."""
    state = POP.start(PLAYERS, None, {"cards": CARDS})
    for text in ("start", "place red card2", "place blue card2", "place red card5", "pass red", "pass blue"):
        state = state.play(POP.parse(text))
    state = state.play(POP.parse("reveal card2 4"))
    root = ElementTree.fromstring(svg.draw(state, POP.parse("reveal card5 7")))  # noqa: S314 - our own text
    classes = [element.get("class") for element in root.iter() if element.get("class")]
    assert classes.count("mark") == classes.count("reason") == 2, "each with its rim"
    assert classes.count("refused") == 1
    assert state.check(POP.parse("reveal card5 7")).clauses[0].startswith("POP-")


def test_a_picture_can_be_read_on_a_phone() -> None:
    """A phone of 390 px leaves a picture 310: cards, thalers and cards won are written so large that one reads them."""
    state = POP.start(PLAYERS, None, {"cards": CARDS}).play(POP.parse("start"))
    root = ElementTree.fromstring(svg.draw(state, POP.parse("place red card9")))  # noqa: S314 - our own text
    told = [one for one in root.iter() if one.tag.endswith("text")]
    sizes = sorted((float(one.get("font-size", "0")) * 310 / svg.WIDTH, one.text) for one in told)
    shown = {text: size for size, text in sizes}
    assert all(shown[card] >= 11 for card in CARDS)
    assert all(size >= 10 for text, size in shown.items() if text and "thalers 10 + 0" in text)
    # What stands below in words is marked as such: the page says it beside the picture.
    assert next(one for one in told if one.get("class") == "caption").text == "place red card9: legal"
    # The longest card keeps to its frame.
    assert shown["11/12/13"] * svg.WIDTH / 310 * 0.6 * len("11/12/13") < svg.CARD_W
