"""The 8 by 8 board as bit sets: square ``a1`` is bit 0, ``b1`` bit 1, ``a2`` bit 8, ``h8`` bit 63.

A bit set is an ``int``; one operation moves, joins or compares any number of squares at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

SQUARES: tuple[str, ...] = tuple(f"{column}{row}" for row in range(1, 9) for column in "abcdefgh")
"""Names of the squares by number."""

NUMBER: dict[str, int] = {name: number for number, name in enumerate(SQUARES)}
"""Number of a square by its name."""

ALL = (1 << 64) - 1
NOT_A = 0xFEFEFEFEFEFEFEFE
NOT_H = 0x7F7F7F7F7F7F7F7F


def bits(*names: str) -> int:
    """Return the bit set of named squares."""
    return sum(1 << NUMBER[name] for name in names)


CORNERS = bits("a1", "h1", "a8", "h8")
"""The four squares of land (IGLU-G.3)."""
CORNER_SQUARES: tuple[int, ...] = tuple(NUMBER[name] for name in ("a1", "h1", "a8", "h8"))
CENTRE = bits("d4", "e4", "d5", "e5")
"""Open water at the start, with a fish on each (IGLU-S.1, S.2)."""
CENTRE_SQUARES: tuple[int, ...] = tuple(NUMBER[name] for name in ("d4", "e4", "d5", "e5"))
SEA = ALL & ~CORNERS
"""The sixty squares that are water or floe (IGLU-K.1)."""
RING = SEA & ~sum(1 << (8 * row + column) for row in range(1, 7) for column in range(1, 7))
"""The outer ring: 24 edge squares without the corners (IGLU-S.8)."""

DIRECTIONS: dict[str, int] = {"n": 8, "s": -8, "e": 1, "w": -1}
"""Steps of the four directions; north is up the rows, away from row 1."""


def near(squares: int) -> int:
    """Return every square that shares a side with one of ``squares`` (IGLU-G.1)."""
    return ((squares << 8) | (squares >> 8) | ((squares & NOT_H) << 1) | ((squares & NOT_A) >> 1)) & ALL


def numbers(squares: int) -> Iterator[int]:
    """Yield the numbers of a bit set, lowest first."""
    while squares:
        low = squares & -squares
        yield low.bit_length() - 1
        squares ^= low


def names(squares: int) -> list[str]:
    """Return the names of a bit set, in the order a1, b1 … h8."""
    return [SQUARES[number] for number in numbers(squares)]


NEAR: tuple[int, ...] = tuple(near(1 << square) for square in range(64))
"""The neighbours of each square."""


def beyond(square: int, direction: str) -> int:
    """Return the next square in a direction, or -1 outside the board."""
    step = DIRECTIONS[direction]
    target = square + step
    return target if 0 <= target < 64 and NEAR[square] >> target & 1 else -1


def rays() -> dict[str, tuple[tuple[int, ...], ...]]:
    """Return for each direction and square the squares ahead, nearest first."""
    table = {}
    for direction in DIRECTIONS:
        rows = []
        for square in range(64):
            ahead = []
            ahead_of = beyond(square, direction)
            while ahead_of >= 0:
                ahead.append(ahead_of)
                ahead_of = beyond(ahead_of, direction)
            rows.append(tuple(ahead))
        table[direction] = tuple(rows)
    return table


RAYS: dict[str, tuple[tuple[int, ...], ...]] = rays()
"""What lies ahead of a square, by direction."""


@lru_cache(maxsize=8192)
def stretches(water: int) -> tuple[tuple[int, int], ...]:
    """Return the connected stretches of ``water`` (by sides, IGLU-2.A.5), each with the squares around it."""
    found = []
    while water:
        part = water & -water
        while True:
            grown = (part | (part << 8) | (part >> 8) | ((part & NOT_H) << 1) | ((part & NOT_A) >> 1)) & water
            if grown == part:
                break
            part = grown
        found.append((part, near(part)))
        water ^= part
    return tuple(found)


def groups(squares: int) -> list[int]:
    """Return the groups of squares that hang together by sides, as islands do (IGLU-V.B.1)."""
    return [part for part, _ in stretches(squares)]
