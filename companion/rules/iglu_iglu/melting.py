"""Set-up and phase 1: placing, melting, what the tile shows (IGLU-S, IGLU-1.2 to 1.5, IGLU-1.E.1 to E.3).

For each kind of move three functions: why it is refused, what comes after it, what it does in words.
"""

from __future__ import annotations

from companion.rules.core import CHANCE, Reason
from companion.rules.iglu_iglu import components
from companion.rules.iglu_iglu.board import CENTRE_SQUARES, CORNERS, RING, SQUARES, near, numbers
from companion.rules.iglu_iglu.moves import (
    MELTS,
    PLACES,
    Accept,
    Draw,
    IgluMove,
    Melt,
    PlaceInuit,
    PutBack,
    Reveal,
    token_text,
)
from companion.rules.iglu_iglu.position import (
    DRAWING,
    DRIFTING,
    PEEKING,
    PLACING,
    REVEALING,
    SETTING,
    START,
    TO_FACE,
    UNKNOWN,
    IgluPosition,
    S,
)

# --- set-up ---------------------------------------------------------------------------------------------------------


def moves_placing(s: IgluPosition) -> list[IgluMove]:
    """Return the squares for the next inuit (IGLU-M.1)."""
    places = PLACES[s.table.colours[s.turn]]
    return [places[square] for square in numbers(RING & s.floes)]


def refuse_place(s: IgluPosition, move: PlaceInuit) -> Reason | None:
    """Refuse another player's inuit and squares off the outer ring (IGLU-S.7, S.8)."""
    colour = s.table.colours[s.turn]
    if move.colour != colour:
        return Reason("place-turn", {"who": colour, "other": move.colour})
    if not RING & s.floes & 1 << move.square:
        return Reason("place-ring", {"square": SQUARES[move.square]})
    return None


def place(s: S, move: PlaceInuit) -> S:
    """Put the inuit there; after the last one the first player begins (IGLU-S.9)."""
    new = s.copy()
    seat = s.turn
    new.set_inuit(seat, tuple(sorted((*s.inuit[seat], move.square))))
    following = (seat + 1) % s.table.players
    if len(new.inuit[following]) == s.table.inuit_each:
        return new.start_turn(s.table.first)
    new.turn = new.to_move = following
    return new


def say_place(s: IgluPosition, move: PlaceInuit) -> Reason:
    """Say where the inuit goes."""
    to_place = s.table.inuit_each - len(s.inuit[s.turn]) - 1
    return Reason("place", {"who": move.colour, "square": SQUARES[move.square], "left": to_place})


# --- tokens and tiles from the box ------------------------------------------------------------------------------------


def drawn_tokens(s: IgluPosition) -> list[int]:
    """Return the tokens that can be drawn now: fish, or on a fresh pack foxes."""
    first = components.FOX if s.packs >> s.square & 1 else components.FISH
    return [token for token in range(first, first + 3) if s.reserve(token) > 0]


def refuse_draw(s: IgluPosition, move: Draw) -> Reason | None:
    """Refuse a token that is not due, and one more than the box has (IGLU-K.3, K.4)."""
    first = components.FOX if s.packs >> s.square & 1 else components.FISH
    if move.square != s.square or not first <= move.token < first + 3:
        kind = "fox" if first == components.FOX else "fish"
        return Reason("draw-other", {"kind": kind, "square": SQUARES[s.square], "left": s.remaining})
    if s.reserve(move.token) <= 0:
        return Reason(
            "draw-none", {"token": token_text(move.token), "box": components.IN_BOX[move.token]}, _box(move.token)
        )
    return None


def _box(token: int) -> tuple[str, ...]:
    return ("IGLU-K.5" if token == components.BEAR_TOKEN else "IGLU-K.4" if token >= components.FOX else "IGLU-K.3",)


def draw(s: S, move: Draw) -> S:
    """Put the token on the square; after the last one set-up, or the turn, goes on."""
    new = s.copy()
    if move.token >= components.FOX:
        new.set_fox(tuple(sorted((*s.fox, 4 * move.square + move.token - components.FOX + 1))))
    else:
        new.set_fish(tuple(sorted((*s.fish, 4 * move.square + move.token + 1))))
    new.remaining = s.remaining - 1
    if new.remaining:
        return new
    if s.phase == DRAWING:
        return new.begin_actions()
    return begin_placing(new)


def begin_placing(new: S) -> S:
    """Ask for the fish of the next centre square, or for the first inuit (of a fresh copy; IGLU-S.2, S.7)."""
    waiting = [square for square in CENTRE_SQUARES if not new.shoals >> square & 1]
    if waiting:
        new.phase, new.to_move, new.square, new.remaining = SETTING, CHANCE, waiting[0], 1
    else:
        new.phase, new.square, new.remaining = PLACING, -1, 0
        new.turn = new.to_move = new.table.first
    return new


def say_draw(s: IgluPosition, move: Draw) -> Reason:
    """Say what was drawn."""
    key = "draw-setup" if s.phase == SETTING else "draw-fox" if move.token >= components.FOX else "draw-fish"
    return Reason(key, {"token": token_text(move.token), "square": SQUARES[move.square]})


# --- melting ----------------------------------------------------------------------------------------------------------


def moves_melt(s: IgluPosition) -> list[IgluMove]:
    """Return the floes that may be taken (IGLU-M.2)."""
    return [MELTS[square] for square in numbers(takeable(s))]


def takeable(s: IgluPosition) -> int:
    """Return the floes that may be taken: those put back this turn only where no other is left."""
    can = s.meltable()
    return can & ~s.looked or can


def refuse_melt(s: IgluPosition, move: Melt) -> Reason | None:
    """Refuse what is no empty, face-down floe at the water, or of the outer ring where there is none."""
    bit = 1 << move.square
    if takeable(s) & bit:
        return None
    can = s.meltable()
    facts: dict[str, object] = {"square": SQUARES[move.square]}
    if CORNERS & bit:
        return Reason("melt-land", facts)
    if not s.floes & bit:
        return Reason("melt-water", facts)
    if s.packs & bit:
        return Reason("melt-pack", facts)
    if not s.empty_floes() & bit:
        return Reason("melt-occupied", {**facts, "things": s.things(bit)})
    if can & bit:
        return Reason("melt-looked", facts)
    if can and s.by_ring():
        return Reason("melt-ring", facts)
    if can:
        edge = RING & bit or near(bit) & CORNERS
        return Reason("melt-dry-edge" if edge else "melt-dry", facts)
    return Reason("melt-nothing", facts)


def melt(s: S, move: Melt) -> S:
    """Take the floe; its square is water, its face is still to be said."""
    new = s.copy()
    new.floes = s.floes & ~(1 << move.square)
    new.square = move.square
    if s.table.no_repick:
        new.phase, new.to_move = REVEALING, CHANCE
    else:
        new.phase = PEEKING
    return new


def say_melt(s: IgluPosition, move: Melt) -> Reason:
    """Say which floe was taken and by which of the two rules."""
    return Reason("melt-by-ring" if s.by_ring() else "melt", {"square": SQUARES[move.square]})


def moves_peek(s: IgluPosition) -> list[IgluMove]:
    """Return staying with the tile, or putting it back while another is left (``iglu.no_repick`` off)."""
    found: list[IgluMove] = [Accept(s.square)]
    if _others(s):
        found.append(PutBack(s.square))
    return found


def _others(s: IgluPosition) -> int:
    back = _put_back(s)
    return back.meltable() & ~back.looked


def refuse_accept(s: IgluPosition, move: Accept) -> Reason | None:
    """Refuse another square than that of the tile in hand."""
    return None if move.square == s.square else Reason("reveal-other", {"square": SQUARES[s.square]})


def accept(s: S, move: Accept) -> S:
    """Stay with the tile."""
    new = s.copy()
    new.phase, new.to_move = REVEALING, CHANCE
    return new


def say_accept(s: IgluPosition, move: Accept) -> Reason:
    """Say that the choice stands."""
    return Reason("accept", {"square": SQUARES[move.square]})


def refuse_put_back(s: IgluPosition, move: PutBack) -> Reason | None:
    """Refuse another square, and putting back where no other floe is left to look at."""
    if move.square != s.square:
        return Reason("reveal-other", {"square": SQUARES[s.square]})
    return None if _others(s) else Reason("putback-none", {"square": SQUARES[s.square]})


def _put_back(s: S) -> S:
    new = s.copy()
    new.floes |= 1 << s.square
    new.looked |= 1 << s.square
    new.square = -1
    new.phase = START
    return new


def put_back(s: S, move: PutBack) -> S:
    """Put the tile back; it cannot be taken again this turn."""
    return _put_back(s)


def say_put_back(s: IgluPosition, move: PutBack) -> Reason:
    """Say that another floe is to be taken."""
    return Reason("putback", {"square": SQUARES[move.square]})


# --- what the tile shows ----------------------------------------------------------------------------------------------


def hidden_red(s: IgluPosition) -> int:
    """Return how many red-framed tiles nobody has: unseen ones, less those that lie unknown in hands."""
    return sum(s.tiles[components.RED :]) - s.unknown_tiles()


def moves_reveal(s: IgluPosition) -> list[IgluMove]:
    """Return every face the tile may show, and ``kept`` where it may be a red one."""
    red = hidden_red(s) > 0
    found: list[IgluMove] = []
    for face, count in enumerate(s.tiles):
        if count > 0 and (red if face >= components.RED else not _token_missing(s, face)):
            found.append(Reveal(s.square, s.table.mix.faces[face]))
    if red:
        found.append(Reveal(s.square, components.KEPT))
    return found


def _token_missing(s: IgluPosition, face: int) -> int | None:
    """Return the token kind that is used up so that this face cannot come, or None."""
    if face == components.BEAR and s.reserve(components.BEAR_TOKEN) <= 0:
        return components.BEAR_TOKEN
    if face == components.PACK and all(s.reserve(token) <= 0 for token in range(components.FOX, components.FOX + 3)):
        return components.FOX
    if (
        face <= components.FISH_3
        and sum(s.reserve(token) for token in range(components.FISH, components.FISH + 3)) < face + 2
    ):
        return components.FISH
    return None


def refuse_reveal(s: IgluPosition, move: Reveal) -> Reason | None:
    """Refuse another square, and a face of which the box has no more."""
    if move.square != s.square:
        return Reason("reveal-other", {"square": SQUARES[s.square]})
    mix = s.table.mix
    if move.face == components.KEPT:
        return None if hidden_red(s) > 0 else Reason("reveal-no-red", {})
    face = mix.faces.index(move.face) if move.face in mix.faces else -1
    in_box = mix.counts[face] if face >= 0 else 0
    if face < 0 or s.tiles[face] <= 0:
        return Reason("reveal-none", {"face": move.face, "box": in_box, "real": mix.real}, _counted_by(move.face))
    if face >= components.RED:
        return None if hidden_red(s) > 0 else Reason("reveal-no-red", {})
    missing = _token_missing(s, face)
    if missing is not None:
        kind = components.TOKENS[missing][0]
        return Reason("reveal-no-token", {"face": move.face, "kind": kind}, _box(missing))
    return None


def _counted_by(face: str) -> tuple[str, ...]:
    """Return the clauses that say how many tiles of a face there are."""
    word = face.partition(" ")[0]
    known = {"fish": "IGLU-K.9", "bear": "IGLU-K.10", "pack": "IGLU-K.11"}.get(word)
    if known is not None:
        return (known,)
    return ("IGLU-K.12", "IGLU-K.13") if word == "endurance" else ("IGLU-K.12",)


def reveal(s: S, move: Reveal) -> S:
    """Turn the tile: put it into the hand, or let its event begin."""
    new = s.copy()
    if move.face == components.KEPT:
        _to_hand(new, UNKNOWN)
        return new.begin_actions()
    face = s.table.mix.faces.index(move.face)
    new.see(face)
    if face >= components.RED:
        _to_hand(new, face - TO_FACE)
        return new.begin_actions()
    bit = 1 << s.square
    if face == components.BEAR:
        new.bears |= bit
        return new.begin_actions()
    if face == components.DRIFT:
        new.phase, new.to_move = DRIFTING, s.turn
        return new
    new.phase, new.to_move = DRAWING, CHANCE
    if face == components.PACK:
        new.floes |= bit
        new.packs |= bit
        new.remaining = 1
    else:
        new.remaining = face + 2
    return new


def _to_hand(new: IgluPosition, place: int) -> None:
    hand = list(new.hands[new.turn])
    hand[place] += 1
    new.hands = (*new.hands[: new.turn], tuple(hand), *new.hands[new.turn + 1 :])


def say_reveal(s: IgluPosition, move: Reveal) -> Reason:
    """Say what the tile does."""
    facts = {"square": SQUARES[move.square], "face": move.face, "who": s.table.colours[s.turn]}
    if move.face == components.KEPT or s.table.mix.faces.index(move.face) >= components.RED:
        return Reason("reveal-kept", facts)
    word, _, number = move.face.partition(" ")
    return Reason(f"reveal-{word}", {**facts, "fish": int(number)} if number else facts)


def chances(s: IgluPosition) -> list[tuple[IgluMove, float]]:
    """Return the tiles or tokens that the box may give with their probabilities, every unseen one alike."""
    found: list[tuple[IgluMove, float]] = []
    if s.phase == REVEALING:
        red = hidden_red(s)
        unseen_red = sum(s.tiles[components.RED :])
        for move in moves_reveal(s):
            if isinstance(move, Reveal) and move.face != components.KEPT:
                face = s.table.mix.faces.index(move.face)
                found.append((move, s.tiles[face] * (red / unseen_red if face >= components.RED else 1.0)))
    else:
        found += [(Draw(s.square, token), s.reserve(token)) for token in drawn_tokens(s)]
    total = sum(weight for _, weight in found)
    return [(move, weight / total) for move, weight in found]
