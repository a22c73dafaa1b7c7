"""The score sheet of Iglu Iglu: trophies and islands (IGLU-V), and the island table of the advanced game (IGLU-X)."""

from __future__ import annotations

from dataclasses import dataclass

from companion.rules.core import PlayerScore, Reason, ScoreLine, ScoreSheet
from companion.rules.iglu_iglu import components
from companion.rules.iglu_iglu.board import CORNERS, groups, names
from companion.rules.iglu_iglu.position import IgluPosition

ISLAND_TABLE: tuple[int, ...] = (0, 1, 3, 6, 10, 15, 21)
"""Values of islands by size in the advanced game; the last counts for every larger one (IGLU-X.2)."""
IGLOO_STRENGTH = 2


@dataclass(frozen=True, slots=True)
class Island:
    """A group of floes and the tribes on it: ``strength`` by seat, 0 where a tribe is absent (IGLU-V.B.3)."""

    squares: int
    size: int
    strength: tuple[int, ...]


def islands(s: IgluPosition) -> tuple[Island, ...]:
    """Return the islands, in the order of their first square (IGLU-V.B.1, V.B.2)."""
    found = []
    for squares in groups(s.floes & ~CORNERS):
        strength = tuple(
            sum(squares >> square & 1 for square in inuit) + IGLOO_STRENGTH * (igloos & squares).bit_count()
            for inuit, igloos in zip(s.inuit, s.igloos, strict=True)
        )
        found.append(Island(squares, squares.bit_count(), strength))
    return tuple(found)


def value(size: int) -> int:
    """Return what an island is worth by the table of the advanced game."""
    return ISLAND_TABLE[min(size, len(ISLAND_TABLE) - 1)]


def award(island: Island, *, table: bool) -> dict[int, tuple[str, int]]:
    """Return for each tribe present how it stands and its points: ``alone``, ``first``, ``second`` or ``third``.

    ``table``: by the island table of the advanced game, without squaring (IGLU-X.2 to X.4).
    """
    present = sorted({strength for strength in island.strength if strength}, reverse=True)
    tribes = sum(1 for strength in island.strength if strength)
    full = value(island.size) if table else island.size
    found = {}
    for seat, strength in enumerate(island.strength):
        if not strength:
            continue
        if tribes == 1:
            found[seat] = ("alone", full if table else full * full)
        elif strength == present[0]:
            found[seat] = ("first", full)
        elif strength == present[1]:
            found[seat] = ("second", full // 2)
        else:
            found[seat] = ("third", 0)
    return found


_CLAUSES: dict[tuple[bool, str], tuple[str, ...]] = {
    (False, "alone"): ("IGLU-V.B.1", "IGLU-V.B.3", "IGLU-V.B.5"),
    (False, "first"): ("IGLU-V.B.1", "IGLU-V.B.3", "IGLU-V.B.4"),
    (False, "second"): ("IGLU-V.B.1", "IGLU-V.B.3", "IGLU-V.B.4"),
    (False, "third"): ("IGLU-V.B.1", "IGLU-V.B.3", "IGLU-V.B.4"),
    (True, "alone"): ("IGLU-V.B.1", "IGLU-X.2", "IGLU-X.3"),
    (True, "first"): ("IGLU-V.B.3", "IGLU-V.B.4", "IGLU-X.2"),
    (True, "second"): ("IGLU-V.B.3", "IGLU-V.B.4", "IGLU-X.2", "IGLU-X.4"),
    (True, "third"): ("IGLU-V.B.3", "IGLU-V.B.4", "IGLU-X.2"),
}


def sheet(s: IgluPosition) -> ScoreSheet:
    """Return every player's sheet: trophies, each island with the tribe on it, inuit on corners that do not count."""
    table = s.table.island_table
    found = islands(s)
    awards = [award(island, table=table) for island in found]
    sheets = []
    for seat in range(s.table.players):
        lines = [_trophies(s.trophies[seat])]
        for island, places in zip(found, awards, strict=True):
            if seat in places:
                lines.append(_island(s, seat, island, *places[seat], table=table))
        ashore = [square for square in s.inuit[seat] if CORNERS >> square & 1]
        if ashore:
            lines.append(ScoreLine("corner", 0, ("IGLU-V.B.2",), {"count": len(ashore), "squares": _on(ashore)}))
        sheets.append(PlayerScore(seat, tuple(lines), (lines[0].points,)))
    return ScoreSheet(tuple(sheets))


def _on(squares: list[int]) -> list[str]:
    return names(sum({1 << square for square in squares}))


def _trophies(packed: int) -> ScoreLine:
    fish, foxes, bears = (
        sum(components.counted(packed, number) for number, (kind, _) in enumerate(components.TOKENS) if kind == wanted)
        for wanted in ("fish", "fox", "bear")
    )
    facts = {"fish": fish, "foxes": foxes, "bears": bears}
    return ScoreLine("trophies", components.worth(packed), ("IGLU-V.A.1",), facts)


def _island(s: IgluPosition, seat: int, island: Island, rank: str, points: int, *, table: bool) -> ScoreLine:
    facts = {
        "squares": names(island.squares),
        "size": island.size,
        "value": value(island.size) if table else island.size,
        "inuit": sum(island.squares >> square & 1 for square in s.inuit[seat]),
        "igloos": (s.igloos[seat] & island.squares).bit_count(),
        "strength": island.strength[seat],
        "strengths": {s.table.colours[other]: power for other, power in enumerate(island.strength) if power},
    }
    return ScoreLine(f"{'table' if table else 'island'}-{rank}", points, _CLAUSES[table, rank], facts)


def why_first(s: IgluPosition) -> Reason:
    """Return what decides for the first as it stands: points, the better trophies, or nothing (IGLU-V.1)."""
    standing = sheet(s)
    first = standing.ranking[0]
    colours = s.table.colours
    best = standing.sheets[first[0]]
    facts = {"who": [colours[seat] for seat in first], "total": best.total, "trophies": best.tie_break[0]}
    level = [sheet.player for sheet in standing.sheets if sheet.total == best.total]
    if len(first) > 1:
        return Reason("rank-shared", facts)
    return Reason("rank-trophies" if len(level) > 1 else "rank-points", facts)
