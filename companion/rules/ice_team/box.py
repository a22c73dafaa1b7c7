"""What lies in the box of Ice Team: floe faces, dice, tokens; read from the data file and checked."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from companion.rules.core import SetupError
from companion.rules.ice_team.board import Layout, make_layout

DATA = Path(__file__).parents[1] / "data" / "ice_team.toml"

_BASES = ("plain", "penguin1", "penguin2", "penguin3", "drift")
FACES: tuple[str, ...] = (*_BASES, *(f"{base}-fragile" for base in _BASES), "paw")
"""Every face a floe may show. A paw is always fragile (ICE-2.5)."""

# Codes of what lies on a space. A face has its index in FACES plus FIRST_FACE.
SEA, IGLOO, SEARCHED, UNKNOWN, FIRST_FACE = 0, 1, 2, 3, 4
TILE_TEXT = ("sea", "igloo", "igloo-searched", "?", *FACES)
FRAGILE = (*(False,) * FIRST_FACE, *(face == "paw" or face.endswith("-fragile") for face in FACES))
PENGUINS = (*(0,) * FIRST_FACE, *(int(face[7]) if face.startswith("penguin") else 0 for face in FACES))
DRIFTS = (*(False,) * FIRST_FACE, *(face.startswith("drift") for face in FACES))
PAW = TILE_TEXT.index("paw")

DIE_FACES = ("fish1", "fish2", "fish3", "fish4", "steal")


@dataclass(frozen=True)
class Box:
    """The owner's box: pairs of faces (codes), two dice (indices into DIE_FACES), and whether it was read from one."""

    real: bool
    tiles: tuple[tuple[int, int], ...]
    dice: tuple[tuple[int, ...], tuple[int, ...]]
    tokens: tuple[int, int, int, int]
    boards: Mapping[str, Any]
    layouts: Mapping[str, Any]

    def layout(self, name: str) -> Layout:
        """Return one of the box's layouts.

        :raises SetupError: when there is none of that name, or it breaks a rule.
        """
        if name not in self.layouts:
            raise SetupError(f"There is no layout {name!r}; there is {', '.join(self.layouts)}.")
        return make_layout(self.boards, self.layouts[name])

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


def read_box(data: Mapping[str, Any]) -> Box:
    """Return the box that the data describe.

    :raises SetupError: in one sentence, when they cannot be a box of Ice Team.
    """
    tiles = data.get("tiles")
    if not isinstance(tiles, list) or len(tiles) != 24:
        raise SetupError("A box of Ice Team has 24 floe tiles (ICE-K.5).")
    pairs = []
    for pair in tiles:
        if not isinstance(pair, Sequence) or len(pair) != 2 or not all(face in FACES for face in pair):
            raise SetupError(f"A floe tile has two faces out of {', '.join(FACES)}, not {pair!r}.")
        pairs.append((TILE_TEXT.index(pair[0]), TILE_TEXT.index(pair[1])))
    dice = data.get("dice")
    if not isinstance(dice, list) or len(dice) != 2:
        raise SetupError("A box of Ice Team has two dice (ICE-K.10).")
    read: list[tuple[int, ...]] = []
    for die in dice:
        if not isinstance(die, list) or len(die) != 6 or not all(face in DIE_FACES for face in die):
            raise SetupError(f"A die has six faces out of {', '.join(DIE_FACES)}.")
        read.append(tuple(DIE_FACES.index(face) for face in die))
    tokens = data.get("fish_tokens", {})
    numbers = tuple(tokens.get(key, 0) for key in ("stated", "ones", "twos", "threes"))
    if not all(isinstance(n, int) and 0 <= n < 200 for n in numbers):
        raise SetupError("The numbers of fish tokens are whole numbers.")
    return Box(
        bool(data.get("real_box")),
        tuple(pairs),
        (read[0], read[1]),
        (numbers[0], numbers[1], numbers[2], numbers[3]),
        data.get("boards", {}),
        data.get("layouts", {}),
    )


@cache
def default_box() -> Box:
    """Return the box of the data file."""
    return read_box(tomllib.loads(DATA.read_text(encoding="utf-8")))
