"""Every move there can be in a game, numbered: what a bot that knows nothing of the notation chooses from.

A number is the place of a move's text in a list that follows from the game and the number of players alone, so it is
the same in every process and by all options; decisions and chance are numbered apart. The lists are made of the words
of the notation, so they hold moves that no position allows, but every move that one does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from typing import Any, Final

from companion.rules import game
from companion.rules.core import State

Texts = tuple[Iterator[str], Iterator[str]]
"""Decisions and chance, as text."""


@dataclass(frozen=True)
class Vocabulary:
    """The decisions and the outcomes of chance of a game for so many players; a number is a place in its row."""

    decisions: tuple[Any, ...]
    outcomes: tuple[Any, ...]
    decision_numbers: Mapping[Any, int]
    outcome_numbers: Mapping[Any, int]


@cache
def vocabulary(game_id: str, players: int) -> Vocabulary:
    """Return the numbered moves of a game for so many players.

    :raises SetupError: when there is no such game, or it is not for so many.
    """
    played = game(game_id)
    state = played.start(played.seats(players))
    decisions, outcomes = (_numbered(state, texts) for texts in _TEXTS[game_id](state))
    return Vocabulary(tuple(decisions), tuple(outcomes), decisions, outcomes)


def _numbered(state: State[Any], texts: Iterable[str]) -> dict[Any, int]:
    """Return each move of some texts with its number, in their order."""
    parse = state.game.parse
    return {move: number for number, move in enumerate(dict.fromkeys(map(parse, texts)))}


def _igloo_pop(state: State[Any]) -> Texts:
    """Return ``place``, ``pass``; and ``deal``, ``reveal``: announcing and the start of a round are nobody's choice."""
    from companion.rules.igloo_pop import CARDS, IGLOOS, PLACES

    colours = _colours(state)

    def decisions() -> Iterator[str]:
        yield from (f"place {colour} {place}" for colour in colours for place in PLACES)
        yield from (f"pass {colour}" for colour in colours)

    def outcomes() -> Iterator[str]:
        yield from (f"deal {place} {'/'.join(map(str, card))}" for place in PLACES for card in CARDS)
        yield from (f"reveal {place} {number}" for place in PLACES for number in IGLOOS)

    return decisions(), outcomes()


def _iglu_iglu(state: State[Any]) -> Texts:
    """Return all kinds of moves on all squares that can have them; a kept tile is known to the box."""
    from companion.rules.iglu_iglu.board import CORNERS, NEAR, SEA, SQUARES, names
    from companion.rules.iglu_iglu.components import TOKENS, default_mix, endurance
    from companion.rules.iglu_iglu.moves import token_text

    colours, sea, corners = _colours(state), names(SEA), names(CORNERS)
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


def _arctic(state: State[Any]) -> Texts:
    """Return all kinds of moves with all cards and animals; nothing is hidden from the box."""
    from companion.rules.arctic.components import ANIMALS, SIDES, TEXT

    cards = TEXT[:120]
    seats = [f"p{seat + 1}" for seat in range(_count(state))]
    arrows = [f"{animal}{way}" for animal in ANIMALS for way in "+-"]

    def decisions() -> Iterator[str]:
        yield from (f"place {card}{where}" for where in ("", " bottom", " under") for card in cards)
        yield from (f"swap {mine} {card}" for mine, card in permutations(cards, 2))
        yield from ("take-back", "value +1", "value -1")
        yield from (f"tokens {one} {other}" for one, other in permutations(arrows, 2) if one[:-1] != other[:-1])
        yield from (f"extra {way}" for way in arrows)
        yield from (f"{verb} {card}" for verb in ("draw", "draw-penalty", "discard") for card in cards)
        yield from ("draw-pile", "refill")
        yield from (f"give {card} {seat}" for card in cards for seat in seats)
        yield "end"

    def outcomes() -> Iterator[str]:
        yield from (f"pack {pack}" for pack in (1, 2, 3, 4))
        yield from (f"side {animal} {power}" for number, animal in enumerate(ANIMALS) for power in SIDES[number])
        yield from (f"totem {seat} {animal}" for seat in seats for animal in ANIMALS)
        yield from (f"first {seat}" for seat in seats)
        yield from (f"hand {seat} {card}" for seat in seats for card in cards)
        yield from (f"{verb} {card}" for verb in ("river", "penalty") for card in cards)

    return decisions(), outcomes()


def _ice_team(state: State[Any]) -> Texts:
    """Return all kinds of moves on the spaces of the layout that is played."""
    from companion.rules.ice_team.components import DIE_FACES, FACES

    places = state.position()["places"]
    spaces = [name for name in places if name not in ("start", "village")]

    def decisions() -> Iterator[str]:
        for verb in ("walk", "leap", "swim"):
            yield from (f"{verb} {here} {there}" for here, there in permutations(places, 2))
        yield "stop"
        yield from (f"{verb} {die}" for verb in ("pick", "choose") for die in (1, 2))
        yield from (f"freeze {fish}" for fish in range(4))
        yield from (f"{verb} {space}" for verb in ("drift", "push") for space in spaces)

    def outcomes() -> Iterator[str]:
        yield from (f"floe {space} {face}" for space in spaces for face in FACES)
        yield from (f"first {colour}" for colour in _colours(state))
        yield from (f"roll {die} {face}" for die in (1, 2) for face in DIE_FACES)

    return decisions(), outcomes()


def _colours(state: State[Any]) -> list[str]:
    return [player["colour"] for player in state.position()["players"]]


def _count(state: State[Any]) -> int:
    return len(state.position()["players"])


_TEXTS: Final = {"igloo-pop": _igloo_pop, "iglu-iglu": _iglu_iglu, "arctic": _arctic, "ice-team": _ice_team}
