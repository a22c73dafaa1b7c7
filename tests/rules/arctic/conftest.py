"""Positions to begin from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from companion.rules import game

ANIMALS = ["fox", "moose", "walrus", "orca", "puffin", "bear"]
PACK_1 = [
    f"{main}-{5 - step}-{ANIMALS[(number + 1 + step) % 6]}" for number, main in enumerate(ANIMALS) for step in range(5)
]
"""The cards of the first pack, written out by the rule of the card list."""


def card(main: str, placement: int, pack: int = 1) -> str:
    """Return a card of a pack: the companions go round the cycle from the animal ``pack`` steps on."""
    number = ANIMALS.index(main)
    others = [ANIMALS[(number + pack + step) % 6] for step in range(6)]
    others.remove(main)
    return f"{main}-{placement}-{others[5 - placement]}"


EVERY_CARD = [card(main, placement, pack) for pack in (1, 2, 3, 4) for main in ANIMALS for placement in (5, 4, 3, 2, 1)]


@pytest.fixture
def table() -> Callable[..., Any]:
    """Make a position in which Ann is to move.

    Piles, hands and zones are texts of cards, ``river`` too (six unused bears and puffins unless told); ``own`` are
    the animals whose power cards Ann has, ``sides`` the powers in play; ``tokens`` maps animals to landscape values
    (3 unless told); ``others`` are the players after Ann, as fields of the form (three unseen cards in hand); any
    other field goes into the form.
    """

    def make(
        *,
        pile: str = "",
        hand: str = "",
        penalty: str = "",
        own: str = "",
        sides: tuple[int, ...] = (),
        tokens: Mapping[str, int] | None = None,
        river: str | None = None,
        others: tuple[Mapping[str, Any], ...] = ({},),
        totem: str = "bear",
        **fields: Any,
    ) -> Any:
        names = ["Ann", "Bob", "Cléo", "Dan"]
        players: list[dict[str, Any]] = [
            {"name": "Ann", "pile": pile.split(), "hand": hand.split(), "penalty": penalty.split(), "totem": totem}
        ]
        players[0]["powers"] = own.split()
        for name, animal, other in zip(names[1:], ANIMALS, others, strict=False):
            players.append({"name": name, "totem": animal, "hand": ["?"] * 3, **other})
        packs = fields.setdefault("packs", list(range(1, len(players) + 1)))
        lying = {
            text.removeprefix("down:")
            for p in players
            for zone in ("pile", "hand", "penalty")
            for text in p.get(zone, ())
        }
        if river is None:
            free = [card(a, v, pack) for pack in packs for a in ("bear", "puffin", "orca") for v in (5, 4, 3, 2, 1)]
            river = " ".join([text for text in free if text not in lying][:6])
        of_animal = {1: "walrus", 2: "walrus", 3: "puffin", 4: "puffin", 5: "bear", 6: "bear", 7: "orca", 8: "orca"}
        of_animal |= {9: "moose", 10: "moose", 11: "fox", 12: "fox"}
        stands = dict.fromkeys(ANIMALS, 3) | dict(tokens or {})
        places: dict[str, Any] = {
            f"land{value}": {"ground": "landscape", "things": [{"kind": a} for a in ANIMALS if stands[a] == value]}
            for value in (0, 1, 3, 6, 10, 15)
        }
        for n, text in enumerate(river.split(), 1):
            kind, value, companion = text.split("-")
            thing = {"kind": kind, "value": int(value), "companion": companion}
            places[f"river{n}"] = {"ground": "river", "things": [thing]}
        form = {
            "game": "arctic",
            "players": players,
            "places": places,
            "powers": {of_animal[power]: power for power in sides},
            "to_move": 1,
            **fields,
        }
        return game("arctic").from_position(form)

    return make


@pytest.fixture
def ann() -> Callable[[Any], dict[str, Any]]:
    """Return what Ann has, in the form of a position."""

    def run(state: Any) -> dict[str, Any]:
        found: dict[str, Any] = state.position()["players"][0]
        return found

    return run


@pytest.fixture
def at() -> Callable[[Any, str], int]:
    """Return the landscape value under a token."""

    def run(state: Any, animal: str) -> int:
        places = state.position()["places"]
        (value,) = [v for v in (0, 1, 3, 6, 10, 15) if {"kind": animal, "count": 1} in places[f"land{v}"]["things"]]
        return value

    return run
