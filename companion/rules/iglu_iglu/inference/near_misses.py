"""What may have been meant by a board of Iglu Iglu that no turn leads to: the moves to be asked about."""

from __future__ import annotations

from collections.abc import Iterator

from companion.rules.iglu_iglu import components
from companion.rules.iglu_iglu import moves as m
from companion.rules.iglu_iglu.board import CORNER_SQUARES, names, numbers
from companion.rules.iglu_iglu.inference.bounds import DISTANCE, SeenConstraints
from companion.rules.iglu_iglu.moves import IgluMove
from companion.rules.iglu_iglu.position import ACT, DRIFTING, START
from companion.rules.iglu_iglu.state import IgluState
from companion.rules.inference.turns import Evidence


def near_misses(s: IgluState, evidence: Evidence) -> Iterator[IgluMove]:
    """Yield the moves that would make a difference good at once, were they legal: the ones to be asked about."""
    w = SeenConstraints(evidence, s.table.colours)
    seat = s.turn
    if s.phase == START:
        yield from (m.MELTS[square] for square in numbers(s.floes & ~w.may_floe))
        if all(_lies_there_still(evidence, name) for name in names(s.floes)):
            yield m.THE_END
        return
    if s.phase == DRIFTING:
        for square in numbers(s.floes & ~w.may_floe):
            yield from (m.Drift(square, direction) for direction in ("n", "e", "s", "w"))
        return
    if s.phase != ACT:
        return
    for square in numbers(s.floes & ~w.may_floe):
        yield from (m.THAWS[square], m.MELTS[square])
    origins = [square for square in sorted(set(s.inuit[seat])) if s.inuit[seat].count(square) > w.most[seat][square]]
    targets = [square for square, least in w.least[seat].items() if s.inuit[seat].count(square) < least]
    for origin in origins:
        for target in targets or [n for n in numbers(w.unknown) if DISTANCE[origin][n] == 1]:
            for harpoon in (False, True) if s.bears >> target & 1 else (False,):
                # A longer way on foot is several walks: verdicts speak of it.
                if DISTANCE[origin][target] == 1:
                    yield m.Walk(origin, target, harpoon)
                yield m.Kayak(origin, target, harpoon)
    yield from (m.BUILDS[square] for square in numbers(w.must_igloo[seat] & ~s.igloos[seat]))
    for token in range(7):
        stand = (
            s.bears if token == 6 else s.fish_at[token] if token < components.FOX else s.fox_at[token - components.FOX]
        )
        may = w.may_bear if token == 6 else w.may_token[token]
        must = w.must_bear if token == 6 else w.must_token[token]
        for square in numbers(stand & ~may):
            yield m.Hunt(square, token)
            yield m.Hunt(square, token, True)
            yield from (m.Step(token, square, n) for n in numbers(must & ~stand) if DISTANCE[square][n] <= 3)
    for other, own in enumerate(s.table.colours):
        if other == seat:
            continue
        for square in sorted(set(s.inuit[other])):
            if s.inuit[other].count(square) > w.most[other][square]:
                corners = [c for c in CORNER_SQUARES if s.inuit[other].count(c) < w.least[other].get(c, 0)]
                yield from (m.Flee(own, square, corner) for corner in corners)


def in_place(s: IgluState, move: IgluMove) -> bool:
    """Return whether a move would have its place in a phase: a floe melts at the start of a turn."""
    return s.phase == START or not isinstance(move, m.Melt)


def _lies_there_still(evidence: Evidence, name: str) -> bool:
    """Return whether a floe was seen face down where it lay."""
    return name in evidence.places and {ground for ground, _ in evidence.places[name]} == {"floe"}
