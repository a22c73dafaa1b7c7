"""The drift: pushing a row of floes, and what swims where it goes (IGLU-1.E.4, IGLU-Q.5 to Q.7).

For each kind of move three functions: why it is refused, what comes after it, what it does in words.
"""

from __future__ import annotations

from companion.rules.core import Reason
from companion.rules.iglu_iglu import components
from companion.rules.iglu_iglu.board import CORNERS, DIRECTIONS, NEAR, RAYS, SEA, SQUARES, near, numbers
from companion.rules.iglu_iglu.moves import DRIFT_NONE, DRIFTS, Displace, Drift, IgluMove, token_text
from companion.rules.iglu_iglu.position import DISPLACING, IgluPosition, S

_BACK = {"n": "s", "s": "n", "e": "w", "w": "e"}


def line(s: IgluPosition, square: int, direction: str) -> tuple[int, int]:
    """Return the row of floes that a push moves, and the square it ends on (-1: outside the board)."""
    row = 1 << square
    for ahead in RAYS[direction][square]:
        bit = 1 << ahead
        if not s.floes & bit:
            return row, ahead
        row |= bit
    return row, -1


def shelters(s: IgluPosition, square: int) -> int:
    """Return where what swims on a square can be displaced: water beside it without a bear (IGLU-Q.7)."""
    return NEAR[square] & SEA & ~s.floes & ~s.bears


def _swims(s: IgluPosition, square: int) -> bool:
    return bool((s.shoals | s.bears) >> square & 1)


def drifts(s: IgluPosition) -> list[IgluMove]:
    """Return the legal drifts, found backwards from the water squares that a row can be pushed onto."""
    found: list[IgluMove] = []
    floes = s.floes
    for end in numbers(SEA & ~floes & near(floes)):
        if _swims(s, end) and not shelters(s, end):
            continue
        for direction, moves in DRIFTS.items():
            for square in RAYS[_BACK[direction]][end]:
                if not floes >> square & 1:
                    break
                found.append(moves[square])
    return found


def moves_drift(s: IgluPosition) -> list[IgluMove]:
    """Return the legal drifts, or ``drift none`` where there is none (IGLU-M.5, M.6)."""
    return drifts(s) or [DRIFT_NONE]


def refuse_drift(s: IgluPosition, move: Drift) -> Reason | None:
    """Refuse pushes onto land, out of the board, and onto animals that cannot give way (IGLU-1.E.4a to d)."""
    if move.square < 0:
        found = drifts(s)
        return Reason("drift-must", {"count": len(found), "example": str(found[0])}) if found else None
    facts: dict[str, object] = {"square": SQUARES[move.square]}
    if not s.floes >> move.square & 1:
        return Reason("drift-no-floe", facts)
    _, end = line(s, move.square, move.direction)
    if end < 0:
        return Reason("drift-outside", facts)
    facts["end"] = SQUARES[end]
    if CORNERS >> end & 1:
        return Reason("drift-corner", facts)
    if _swims(s, end) and not shelters(s, end):
        return Reason("drift-stuck", {**facts, "things": s.things(1 << end)})
    return None


def drift(s: S, move: Drift) -> S:
    """Push, or ask first where the animals at the end go (IGLU-1.E.4d)."""
    new = s.copy()
    if move.square < 0:
        return new.begin_actions()
    row, end = line(s, move.square, move.direction)
    if _swims(s, end):
        new.phase = DISPLACING
        new.square = end
        new.push = (move.square, move.direction)
        return new
    return _push(new, row, move.direction)


def _push(new: S, row: int, direction: str) -> S:
    """Shift a row of floes with everything on it (of a fresh copy; IGLU-1.E.4c)."""
    step = DIRECTIONS[direction]

    def shifted(squares: int) -> int:
        on_row = squares & row
        moved = on_row << step if step > 0 else on_row >> -step
        return squares & ~row | moved

    new.floes = shifted(new.floes)
    if new.packs & row:
        new.packs = shifted(new.packs)
    if new.bears & row:
        new.bears = shifted(new.bears)
    if new.igloo_squares & row:
        new.igloos = tuple(shifted(own) for own in new.igloos)
        new.igloo_squares = shifted(new.igloo_squares)
    if new.inuit_squares & row:
        for seat, own in enumerate(new.inuit_at):
            if own & row:
                there = (square + step if row >> square & 1 else square for square in new.inuit[seat])
                new.set_inuit(seat, tuple(sorted(there)))
    if new.foxes & row:
        new.set_fox(tuple(sorted(code + 4 * step if row >> (code >> 2) & 1 else code for code in new.fox)))
    new.push = None
    return new.begin_actions()


def say_drift(s: IgluPosition, move: Drift) -> Reason:
    """Say what is pushed where."""
    if move.square < 0:
        return Reason("drift-none", {})
    row, end = line(s, move.square, move.direction)
    facts = {
        "square": SQUARES[move.square],
        "end": SQUARES[end],
        "count": row.bit_count(),
        "things": s.things(1 << end),
    }
    if _swims(s, end):
        return Reason("drift-first", facts)
    return Reason("drift-igloo" if s.igloo_squares & row else "drift", facts)


# --- displacement -----------------------------------------------------------------------------------------------------


def swimmers(s: IgluPosition) -> list[int]:
    """Return the kinds of tokens on the square that a drift needs, each once."""
    found = [token for token in range(3) if s.fish_at[token] >> s.square & 1]
    return [*found, components.BEAR_TOKEN] if s.bears >> s.square & 1 else found


def moves_displace(s: IgluPosition) -> list[IgluMove]:
    """Return where the swimmers may go: all together, or one by one (IGLU-Q.6)."""
    tokens: list[int | None] = [None] if s.table.together else list(swimmers(s))
    return [
        Displace(s.square, target, token)
        for token in tokens
        if token != components.BEAR_TOKEN or not _strands(s)
        for target in numbers(shelters(s, s.square))
    ]


def _strands(s: IgluPosition) -> bool:
    """Return whether a bear that goes first would leave the fish without a square."""
    return bool(s.shoals >> s.square & 1) and shelters(s, s.square).bit_count() < 2


def refuse_displace(s: IgluPosition, move: Displace) -> Reason | None:
    """Refuse squares that are no free water beside it (IGLU-1.E.4d, Q.7)."""
    if move.origin != s.square:
        return Reason("displace-other", {"square": SQUARES[s.square]})
    facts: dict[str, object] = {"square": SQUARES[move.origin], "target": SQUARES[move.target]}
    if s.table.together and move.token is not None:
        return Reason("displace-together", facts)
    if not s.table.together and move.token is None:
        return Reason("displace-each", facts)
    if move.token is not None and move.token not in swimmers(s):
        return Reason("displace-absent", {**facts, "token": token_text(move.token)})
    bit = 1 << move.target
    if not NEAR[move.origin] & bit:
        return Reason("displace-far", facts)
    if not SEA & ~s.floes & bit:
        return Reason("displace-dry", facts)
    if s.bears & bit:
        return Reason("displace-bear", facts)
    if move.token == components.BEAR_TOKEN and _strands(s):
        return Reason("displace-strands", facts)
    return None


def displace(s: S, move: Displace) -> S:
    """Move the swimmers; when none is left the floes follow."""
    new = s.copy()
    origin, target = move.origin, move.target
    bear = bool(s.bears >> origin & 1) and move.token in (None, components.BEAR_TOKEN)
    if bear:
        new.clear_animals(1 << target)
        new.bears = s.bears & ~(1 << origin) | 1 << target
    if move.token is None:
        codes = [4 * target + (code & 3) if code >> 2 == origin else code for code in new.fish]
        new.set_fish(tuple(sorted(codes)))
    elif move.token != components.BEAR_TOKEN:
        codes = list(new.fish)
        codes.remove(4 * origin + move.token + 1)
        new.set_fish(tuple(sorted((*codes, 4 * target + move.token + 1))))
    if (new.shoals | new.bears) >> origin & 1:
        return new
    if s.push is None:
        raise AssertionError("a displacement without a drift")
    row, _ = line(new, *s.push)
    return _push(new, row, s.push[1])


def say_displace(s: IgluPosition, move: Displace) -> Reason:
    """Say what gives way, and whether a bear eats what it meets."""
    moved = s.things(1 << move.origin) if move.token is None else [token_text(move.token)]
    bear = bool(s.bears >> move.origin & 1) and move.token in (None, components.BEAR_TOKEN)
    eats = bear and bool(s.shoals >> move.target & 1)
    facts = {"square": SQUARES[move.origin], "target": SQUARES[move.target], "things": moved}
    return Reason("displace-eats" if eats else "displace", facts)
