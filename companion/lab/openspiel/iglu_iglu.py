"""Iglu Iglu in OpenSpiel: its moves, and how long a game can last."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import Any, Final

from companion.lab.openspiel.part import Options, Texts, colours_of
from companion.rules.core import State
from companion.rules.iglu_iglu.board import CORNERS, NEAR, SEA, SQUARES, names
from companion.rules.iglu_iglu.components import FISH, FOX, IN_BOX, TOKENS, default_mix, endurance
from companion.rules.iglu_iglu.moves import token_text

HIDDEN: Final = True


def broken_off(options: Options) -> None:
    """Return None: every turn melts a floe, so a game always ends by itself."""
    del options


def longest(players: int, options: Options) -> tuple[int, int]:
    """Return the most decisions, and the most steps of chance, that a game can have.

    Each turn melts one of 56 floes, with a drift, what gives way to it, three points and an end at most; each tile is
    played once: a thaw lets inuit flee, an animal movement has three steps, each of which may make every player answer
    and all inuit flee, an endurance tile gives its points. Where a floe may be put back, all that are left may be
    looked at before one is taken; where tokens give way one by one, all of a square may have to.
    """
    mix = default_mix()
    tiles = dict(zip(mix.faces, mix.counts, strict=True))
    melted = sum(mix.counts)
    inuit = players * (5 if players == 2 else 3)
    gives_way = 1 if options["iglu.displace_together"] else sum(IN_BOX[FISH:FOX]) + 1
    looks = 0 if options["iglu.no_repick"] else melted * (melted + 1)
    floes = (1 + gives_way) * tiles["drift"] + tiles["thaw"] * (1 + inuit) + tiles["harpoon"]
    animals = tiles["animals"] * (1 + 3 * (1 + players + inuit))
    endurances = sum(count * (1 + endurance(face)) for face, count in tiles.items() if endurance(face))
    drawn = 4 + 2 * tiles["fish 2"] + 3 * tiles["fish 3"] + tiles["pack"]
    return inuit + melted * (1 + 3 + 1) + looks + floes + animals + endurances, melted + drawn


def texts(state: State[Any]) -> Texts:
    """Return all kinds of moves on all squares that can have them; a kept tile is known to the box."""
    colours, sea, corners = colours_of(state), names(SEA), names(CORNERS)
    animals = [token_text(number) for number in range(len(TOKENS))]
    faces = default_mix().faces
    steps = [(here, there) for number, here in enumerate(SQUARES) for there in names(NEAR[number] & SEA)]

    def decisions() -> Iterator[str]:
        yield from (f"place {colour} {square}" for colour in colours for square in sea)
        for verb in ("melt", "thaw", "build"):
            yield from (f"{verb} {square}" for square in sea)
        yield from (f"drift {square} {direction}" for square in sea for direction in "nesw")
        yield "drift none"
        yield from (f"displace {here} {there}" for here, there in steps if here in sea)
        yield from (f"endurance {endurance(face)}" for face in faces if endurance(face))
        yield from ("animals", "stop", "end")
        yield from (f"move {animal} {here} {there}" for animal in animals for here, there in steps if here in sea)
        yield from (f"{verb} {colour}" for colour in colours for verb in ("defend", "decline"))
        yield from (f"flee {colour} {square} {corner}" for colour in colours for square in sea for corner in corners)
        for harpoon in ("", " harpoon"):
            yield from (f"walk {here} {there}{harpoon}" for here, there in steps)
            yield from (f"kayak {here} {there}{harpoon}" for here, there in permutations(sea, 2))
        for verb in ("hunt", "harpoon"):
            yield from (f"{verb} {square} {animal}" for animal in animals for square in sea)
        # What only some options allow comes last: the numbers of the others do not depend on it.
        yield from (f"{verb} {square}" for verb in ("accept", "putback") for square in sea)
        swimmers = [animal for animal in animals if not animal.startswith("fox")]
        yield from (f"displace {here} {there} {one}" for one in swimmers for here, there in steps if here in sea)
        for harpoon in ("", " harpoon"):
            yield from (f"kayak {here} {there}{harpoon}" for here in corners for there in sea)

    def outcomes() -> Iterator[str]:
        yield from (f"draw {square} {animal}" for animal in animals if animal != "bear" for square in sea)
        yield from (f"reveal {square} {face}" for face in faces for square in sea)

    return decisions(), outcomes()
