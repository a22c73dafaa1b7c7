"""What lies in the box of Ice Team: floe faces, dice, tokens; read from the data file and checked."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from companion.rules.core import JSON, SetupError
from companion.rules.ice_team.board import TrackLayout, make_layout
from companion.rules.ice_team.moves import MOST_PENGUINS

DATA: Final = Path(__file__).parents[1] / "data" / "ice_team.toml"

MOST_FISH: Final = 6
"""The rulebook's dice are in pictures; no face that we can read shows more."""

_BASES = ("plain", *(f"penguin{n + 1}" for n in range(MOST_PENGUINS)), "drift")
FACES: Final[tuple[str, ...]] = (*_BASES, *(f"{base}-fragile" for base in _BASES), "paw")
"""Every face a floe may show. A paw is always fragile (ICE-2.5)."""

# Codes of what lies on a space. A face has its index in FACES plus FIRST_FACE; UNKNOWN is a floe not yet read.
SEA, IGLOO, SEARCHED, UNKNOWN, FIRST_FACE = 0, 1, 2, 3, 4
TILE_TEXT: Final = ("sea", "igloo", "searched", "floe", *FACES)
FRAGILE: Final = (*(False,) * FIRST_FACE, *(face == "paw" or face.endswith("-fragile") for face in FACES))
PENGUINS: Final = (*(0,) * FIRST_FACE, *(int(face[7]) if face.startswith("penguin") else 0 for face in FACES))
DRIFTS: Final = (*(False,) * FIRST_FACE, *(face.startswith("drift") for face in FACES))
PAW: Final = TILE_TEXT.index("paw")

DIE_FACES: Final = (*(f"fish{n + 1}" for n in range(MOST_FISH)), "steal")
STEAL: Final = DIE_FACES.index("steal")
TOKENS: Final = ("stated", "ones", "twos", "threes")


@dataclass(frozen=True)
class Box:
    """The owner's box: pairs of faces (codes), two dice (indices into DIE_FACES), and whether it was read from one.

    ``tokens`` are the fish tokens: the number that the rulebook states, then those with 1, 2 and 3 fish.
    """

    real: bool
    tiles: tuple[tuple[int, int], ...]
    dice: tuple[tuple[int, ...], tuple[int, ...]]
    tokens: tuple[int, int, int, int]
    boards: Mapping[str, Any]
    layouts: Mapping[str, Any]
    made: dict[str, TrackLayout] = field(default_factory=dict, compare=False, repr=False)

    def layout(self, which: JSON = None) -> TrackLayout:
        """Return one of the box's layouts by its name (None: the first), or the one that an object describes.

        :raises SetupError: when there is none of that name, or it breaks a rule.
        """
        if isinstance(which, Mapping):
            return make_layout(self.boards, which)
        name = next(iter(self.layouts)) if which is None else which
        if not isinstance(name, str) or name not in self.layouts:
            there = ", ".join(self.layouts)
            raise SetupError("There is no layout of that name; there is {there}.", there=there)
        if name not in self.made:
            self.made[name] = make_layout(self.boards, self.layouts[name])
        return self.made[name]

    def matched(self, faces: Sequence[int]) -> frozenset[int] | None:
        """Return tiles that can show ``faces`` at the same time, each used once, or None when the box cannot.

        Augmenting paths (Kuhn 1955): a greedy choice of tiles could run out although another choice would do.
        """
        taken: dict[int, int] = {}

        def place(index: int, seen: set[int]) -> bool:
            for tile, pair in enumerate(self.tiles):
                if faces[index] in pair and tile not in seen:
                    seen.add(tile)
                    if tile not in taken or place(taken[tile], seen):
                        taken[tile] = index
                        return True
            return False

        return frozenset(taken) if all(place(index, set()) for index in range(len(faces))) else None

    def warnings(self) -> tuple[str, ...]:
        """Return the keys of what is doubtful: not the real box, the rulebook's contradiction (ICE-K.9)."""
        stated, *values = self.tokens
        found = [] if self.real else ["not-the-real-box"]
        return (*found, "fish-contradiction") if sum(values) != stated else tuple(found)

    def to_json(self) -> dict[str, JSON]:
        """Return the box in the form of the data file, as :func:`read_box` takes it."""
        return {
            "real_box": self.real,
            "tiles": [[TILE_TEXT[face] for face in pair] for pair in self.tiles],
            "dice": [[DIE_FACES[face] for face in die] for die in self.dice],
            "fish_tokens": dict(zip(TOKENS, self.tokens, strict=True)),
            "boards": dict(self.boards),
            "layouts": dict(self.layouts),
        }


def read_box(data: Mapping[str, Any]) -> Box:
    """Return the box that the data describe.

    :raises SetupError: in one sentence, when they cannot be a box of Ice Team.
    """
    real = data.get("real_box", False)
    if not isinstance(real, bool):
        raise SetupError("real_box is true or false.")
    tiles = data.get("tiles")
    if not isinstance(tiles, list) or len(tiles) != 24:
        raise SetupError("A box of Ice Team has 24 floe tiles (ICE-K.5).")
    pairs = []
    for pair in tiles:
        if not isinstance(pair, list | tuple) or len(pair) != 2 or not all(face in FACES for face in pair):
            known = ", ".join(FACES)
            raise SetupError("A floe tile has two faces out of {known}.", known=known)
        pairs.append((TILE_TEXT.index(pair[0]), TILE_TEXT.index(pair[1])))
    tokens = data.get("fish_tokens", {})
    numbers = tuple(tokens.get(key, 0) for key in TOKENS) if isinstance(tokens, Mapping) else ("",)
    if not all(isinstance(n, int) and not isinstance(n, bool) and 0 <= n < 200 for n in numbers):
        raise SetupError("Say how many fish tokens of each kind there are, in whole numbers from 0 to 199.")
    boards, layouts = data.get("boards"), data.get("layouts")
    if not isinstance(boards, Mapping) or not isinstance(layouts, Mapping) or not layouts:
        raise SetupError("A box of Ice Team has boards and layouts by name.")
    stated, ones, twos, threes = numbers
    return Box(real, tuple(pairs), _dice(data.get("dice")), (stated, ones, twos, threes), boards, layouts)


def _dice(dice: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    if not isinstance(dice, list | tuple) or len(dice) != 2:
        raise SetupError("A box of Ice Team has two dice (ICE-K.10).")
    for die in dice:
        if not isinstance(die, list | tuple) or len(die) != 6 or not all(face in DIE_FACES for face in die):
            known = ", ".join(DIE_FACES)
            raise SetupError("A die has six faces out of {known}.", known=known)
    first, second = (tuple(DIE_FACES.index(face) for face in die) for die in dice)
    return first, second


@cache
def default_box() -> Box:
    """Return the box of the data file."""
    return read_box(tomllib.loads(DATA.read_text(encoding="utf-8")))
