"""What is in the box: animal tokens, tribes, and the mix of floe tiles (IGLU-K.1 to K.15)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from companion.rules.core import JSON, SetupError

COLOURS: tuple[str, ...] = ("red", "blue", "yellow", "green")
INUIT: dict[str, int] = {"red": 5, "blue": 5, "yellow": 3, "green": 3}
"""Inuit in the box by colour (IGLU-K.6); three a tribe are used, five with two players (IGLU-S.4, S.5)."""
IGLOOS = 2

TOKENS: tuple[tuple[str, int], ...] = (
    ("fish", 1),
    ("fish", 2),
    ("fish", 3),
    ("fox", 1),
    ("fox", 2),
    ("fox", 3),
    ("bear", 4),
)
"""Kinds of animal tokens; a token's number is its place in this row."""
TOKEN: dict[tuple[str, int], int] = {token: number for number, token in enumerate(TOKENS)}
IN_BOX: tuple[int, ...] = (8, 12, 8, 3, 4, 3, 4)
"""How many of each there are (IGLU-K.3 to K.5)."""
FISH, FOX, BEAR_TOKEN = 0, 3, 6

# Trophies and tokens out of the game are counted in one int, six bits a kind: adding a token adds TALLY[kind].
TALLY: tuple[int, ...] = tuple(1 << (6 * number) for number in range(len(TOKENS)))


def tally(counts: Mapping[int, int]) -> int:
    """Return counts by token number, packed."""
    return sum(TALLY[number] * count for number, count in counts.items())


def counted(packed: int, number: int) -> int:
    """Return how many of one kind of token a packed count holds."""
    return packed >> (6 * number) & 63


def worth(packed: int) -> int:
    """Return the points of packed trophies: the sum of their numbers (IGLU-V.A.1)."""
    return sum(value * counted(packed, number) for number, (_, value) in enumerate(TOKENS))


# Faces of the tiles, by number; endurance tiles follow, one face a value. From THAW on they have the red frame.
FACES: tuple[str, ...] = ("fish 2", "fish 3", "bear", "pack", "drift", "thaw", "harpoon", "animals")
FISH_2, FISH_3, BEAR, PACK, DRIFT, THAW, HARPOON, ANIMALS, ENDURANCE = range(9)
RED = THAW
KEPT = "kept"
"""What is said of a tile that goes to a hand unseen: red-framed, otherwise unknown (IGLU-1.5)."""
TILES = 56
MOST_ENDURANCE = 9


@dataclass(frozen=True, slots=True)
class Mix:
    """How many tiles of each face there are. ``real``: entered from a real box, not our default."""

    faces: tuple[str, ...]
    counts: tuple[int, ...]
    real: bool

    def to_json(self) -> dict[str, int]:
        """Return the tiles as ``setup.tiles`` has them."""
        return dict(zip(self.faces, self.counts, strict=True))


def endurance(face: str) -> int:
    """Return the number on an endurance tile, or 0 for another face."""
    word, _, number = face.partition(" ")
    return int(number) if word == "endurance" and number.isascii() and number.isdigit() else 0


def is_face(text: object) -> bool:
    """Return whether a text is the face of a tile, as records write it."""
    if not isinstance(text, str):
        return False
    value = endurance(text)
    return text in FACES or (1 <= value <= MOST_ENDURANCE and text == f"endurance {value}")


def mix(tiles: Mapping[str, JSON], *, real: bool = True) -> Mix:
    """Return a checked mix.

    :raises SetupError: in one sentence, when it cannot be the 56 tiles of the box.
    """
    for face, count in tiles.items():
        if not is_face(face):
            there = ", ".join(FACES)
            raise SetupError(
                "There is no floe tile {face!r}; there are {there} and endurance 1 to {most}.",
                face=str(face)[:40],
                there=there,
                most=MOST_ENDURANCE,
            )
        if type(count) is not int or not 0 <= count <= TILES:
            raise SetupError(
                "The number of {face} tiles is from 0 to {tiles}, not {count!r}.",
                face=face,
                tiles=TILES,
                count=str(count)[:40],
            )
    total = sum(tiles.values())
    if total != TILES:
        raise SetupError("The box has {tiles} floe tiles, not {total}.", tiles=TILES, total=total)
    for face, most in (("bear", 4), ("pack", 10)):
        if tiles.get(face, 0) > most:
            raise SetupError(
                "There are {most} tokens for the {face} tiles, so there cannot be {tiles} such tiles.",
                most=most,
                face=face,
                tiles=tiles[face],
            )
    fish = 2 * tiles.get("fish 2", 0) + 3 * tiles.get("fish 3", 0)
    if fish > 24:
        raise SetupError(
            "The fish tiles show {fish} fish, but only 24 of the 28 tokens are left after the set-up.", fish=fish
        )
    values = sorted((face for face in tiles if endurance(face)), key=endurance)
    faces = (*FACES, *values)
    return Mix(faces, tuple(tiles.get(face, 0) for face in faces), real)


@cache
def default_mix() -> Mix:
    """Return our default mix, which is marked as not the real box."""
    import tomllib  # noqa: PLC0415 - read once, and only where nobody entered a box

    path = Path(__file__).parents[1] / "data" / "iglu_iglu.toml"
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return mix(data["tiles"], real=data["real"])
