"""Phase 2: walking, the kayak, hunting, the harpoon, igloos, endurance, the end of a turn (IGLU-2).

For each kind of move three functions: why it is refused, what comes after it, what it does in words.
"""

from __future__ import annotations

from companion.rules.core import Reason
from companion.rules.iglu_iglu import components
from companion.rules.iglu_iglu.board import ALL, CORNERS, NEAR, NOT_A, NOT_H, SEA, SQUARES, near, numbers, stretches
from companion.rules.iglu_iglu.melting import moves_melt
from companion.rules.iglu_iglu.moves import (
    BUILDS,
    ENDURANCES,
    HARPOONS,
    HUNTS,
    KAYAKS,
    THE_ANIMALS,
    THE_END,
    WALKS,
    Build,
    End,
    Endurance,
    Hunt,
    IgluMove,
    Kayak,
    Walk,
    token_text,
)
from companion.rules.iglu_iglu.position import (
    ENDURANCE_PLAYED,
    HAND_ENDURANCE,
    HAND_HARPOON,
    HARPOON_PLAYED,
    START,
    TO_FACE,
    IgluPosition,
    S,
)
from companion.rules.iglu_iglu.red_tiles import can_move_animals, moves_thaw, refuse_tile

COST_WALK, COST_KAYAK, COST_IGLOO = 1, 3, 3


def moves_start(s: IgluPosition) -> list[IgluMove]:
    """Return melting, and the tiles that may be played before it; giving up where nothing can be melted."""
    found = moves_melt(s)
    if any(s.hands[s.turn]):
        found += moves_thaw(s)
        if can_move_animals(s):
            found.append(THE_ANIMALS)
    if not s.meltable():
        found.append(THE_END)
    return found


def moves_act(s: IgluPosition) -> list[IgluMove]:
    """Return every action, every tile that may be played, and the end of the turn."""
    found: list[IgluMove] = [THE_END]
    points = s.points
    seat = s.turn
    mine = s.inuit_at[seat]
    holds = any(s.hands[seat])
    harpoon = holds and s.can_harpoon(seat)
    floes = s.floes
    bears = s.bears
    if points:
        open_floes = _enterable(s)
        safe = open_floes & ~bears
        origins = list(numbers(mine))
        for origin in origins:
            found += WALKS[origin][NEAR[origin] & safe]
        if harpoon and bears & open_floes:
            found += [
                Walk(origin, target, True)
                for origin in origins
                for target in numbers(NEAR[origin] & bears & open_floes)
            ]
        _hunts(s, found, points)
        if points >= COST_KAYAK:
            if s.igloos[seat].bit_count() < components.IGLOOS:
                found += [BUILDS[square] for square in numbers(_sites(s))]
            for origin in numbers(mine if s.table.kayak_from_corner else mine & floes):
                reach = reachable(s, origin) & open_floes
                row = KAYAKS[origin]
                found += [row[target] for target in numbers(reach & ~bears)]
                if harpoon and reach & bears:
                    found += [Kayak(origin, target, True) for target in numbers(reach & bears)]
    if holds:
        _tiles(s, found, harpoon)
    return found


def _enterable(s: IgluPosition) -> int:
    """Return the floes an inuit may enter, bears aside: in the advanced game not those with rival igloos (X.1)."""
    return s.floes & ~(s.igloo_squares & ~s.igloos[s.turn]) if s.table.igloo_block else s.floes


def _sites(s: IgluPosition) -> int:
    """Return the floes where the player may build (IGLU-2.C.1)."""
    mine = s.inuit_at[s.turn]
    rivals = 0
    for seat, own in enumerate(s.inuit_at):
        if seat != s.turn:
            rivals |= own
    return mine & s.floes & ~s.igloo_squares & ~rivals


def _hunts(s: IgluPosition, found: list[IgluMove], points: int) -> None:
    standing = s.inuit_at[s.turn] & s.floes
    waters = near(standing)
    for value in range(min(points, 3)):
        fish = s.fish_at[value] & waters
        if fish:
            hunts = HUNTS[components.FISH + value]
            found += [hunts[square] for square in numbers(fish)]
        fox = s.fox_at[value] & standing
        if fox:
            hunts = HUNTS[components.FOX + value]
            found += [hunts[square] for square in numbers(fox)]


def reachable(s: IgluPosition, origin: int) -> int:
    """Return every other square on the shore of the stretches of water that a square borders (IGLU-2.A.4)."""
    bit = 1 << origin
    reach = 0
    for _, shore in stretches(SEA & ~s.floes & ~s.bears):
        if shore & bit:
            reach |= shore
    return reach & ~bit


def _tiles(s: IgluPosition, found: list[IgluMove], harpoon: bool) -> None:
    """Add the tiles that may be played in phase 2."""
    seat = s.turn
    found += moves_thaw(s)
    if can_move_animals(s):
        found.append(THE_ANIMALS)
    if not s.played & ENDURANCE_PLAYED:
        faces = s.table.mix.faces
        for place in range(HAND_ENDURANCE, len(s.hands[seat])):
            if s.can_play(seat, place):
                found.append(ENDURANCES[components.endurance(faces[place + TO_FACE])])
    if harpoon:
        standing = s.inuit_at[seat] & s.floes
        waters = near(standing)
        for value in range(3):
            found += [HARPOONS[components.FISH + value][square] for square in numbers(s.fish_at[value] & waters)]
            found += [HARPOONS[components.FOX + value][square] for square in numbers(s.fox_at[value] & standing)]
        found += [HARPOONS[components.BEAR_TOKEN][square] for square in numbers(s.bears & standing)]


# --- walking and the kayak ----------------------------------------------------------------------------------------


def refuse_walk(s: IgluPosition, move: Walk) -> Reason | None:
    """Refuse far squares, land, water, rival igloos (advanced game), bears without a harpoon (IGLU-2.A.1 to A.3)."""
    bit = 1 << move.target
    if not (NEAR[move.origin] & bit and s.floes & bit and s.inuit_at[s.turn] >> move.origin & 1 and s.points):
        return _why_no_walk(s, move)
    return _refuse_entry(s, move)


def _why_no_walk(s: IgluPosition, move: Walk) -> Reason:
    facts = _way(s, move, COST_WALK)
    bit = 1 << move.target
    if not s.inuit_at[s.turn] >> move.origin & 1:
        return Reason("no-inuit", facts)
    if not NEAR[move.origin] & bit:
        return Reason("walk-far", facts)
    if CORNERS & bit:
        return Reason("walk-corner", facts)
    if not s.floes & bit:
        return Reason("walk-water", facts)
    return Reason("walk-points", facts)


def _way(s: IgluPosition, move: Walk | Kayak, cost: int) -> dict[str, object]:
    return {
        "who": s.table.colours[s.turn],
        "square": SQUARES[move.origin],
        "target": SQUARES[move.target],
        "points": s.points,
        "cost": cost,
    }


def _refuse_entry(s: IgluPosition, move: Walk | Kayak) -> Reason | None:
    """Refuse a floe that may not be entered although it is within reach (IGLU-2.A.3, X.1)."""
    bit = 1 << move.target
    if s.igloo_squares & bit and not _enterable(s) & bit:
        facts = {"target": SQUARES[move.target], "owners": _owners(s, s.igloos, bit)}
        return Reason("rival-igloo", facts)
    if s.bears & bit:
        facts = {"who": s.table.colours[s.turn], "target": SQUARES[move.target]}
        if s.can_harpoon(s.turn):
            return None if move.harpoon else Reason("bear-say-harpoon", facts)
        key = "bear-second-harpoon" if s.played & HARPOON_PLAYED else "bear-no-harpoon"
        return Reason(key, facts)
    if move.harpoon:
        return Reason("harpoon-needless", {"target": SQUARES[move.target]})
    return None


def _owners(s: IgluPosition, sets: tuple[int, ...], bit: int) -> list[str]:
    """Return the other tribes that have something on a square."""
    return [s.table.colours[seat] for seat, own in enumerate(sets) if own & bit and seat != s.turn]


def walk(s: S, move: Walk) -> S:
    """Walk there; a harpoon takes the bear."""
    return _travel(s, move, COST_WALK)


def _travel(s: S, move: Walk | Kayak, cost: int) -> S:
    new = s.copy()
    seat = s.turn
    new.points = s.points - cost
    new.move_inuit(seat, move.origin, move.target)
    if move.harpoon:
        new.harpoon(seat)
        new.bears = s.bears & ~(1 << move.target)
        new.take(seat, components.BEAR_TOKEN)
    return new


def say_walk(s: IgluPosition, move: Walk) -> Reason:
    """Say where the inuit walks."""
    facts = {**_way(s, move, COST_WALK), "left": s.points - COST_WALK}
    if move.harpoon:
        return Reason("walk-bear", facts)
    return Reason("walk-ashore" if CORNERS >> move.origin & 1 else "walk", facts)


def refuse_kayak(s: IgluPosition, move: Kayak) -> Reason | None:
    """Refuse other stretches of water, starts and ends that are no floe, and what walking refuses (IGLU-2.A.4)."""
    origin, target = move.origin, move.target
    bit = 1 << target
    facts = _way(s, move, COST_KAYAK)
    if not s.inuit_at[s.turn] >> origin & 1:
        return Reason("no-inuit", facts)
    if not s.floes >> origin & 1 and not s.table.kayak_from_corner:
        return Reason("kayak-from-corner", facts)
    if CORNERS & bit:
        return Reason("kayak-corner", facts)
    if not s.floes & bit:
        return Reason("kayak-water", facts)
    if origin == target:
        return Reason("kayak-nowhere", facts)
    if not reachable(s, origin) & bit:
        return _why_no_kayak(s, origin, bit, facts)
    if s.points < COST_KAYAK:
        return Reason("kayak-points", facts)
    return _refuse_entry(s, move)


def _why_no_kayak(s: IgluPosition, origin: int, bit: int, facts: dict[str, object]) -> Reason:
    if not NEAR[origin] & s.water:
        return Reason("kayak-dry", facts)
    if not near(bit) & s.water:
        return Reason("kayak-dry-end", facts)
    with_bears = 0
    for _, shore in stretches(s.water):
        if shore >> origin & 1:
            with_bears |= shore
    if with_bears & bit:
        return Reason("kayak-bear", facts)
    return Reason("kayak-diagonal" if _diagonal(s, origin) & bit else "kayak-other", facts)


def _diagonal(s: IgluPosition, origin: int) -> int:
    """Return what could be reached if stretches of water were connected by corners too (IGLU-2.A.5)."""
    water = SEA & ~s.floes & ~s.bears
    part = NEAR[origin] & water
    while True:
        rows = (part | part << 8 | part >> 8) & ALL
        grown = (rows | (rows & NOT_H) << 1 | (rows & NOT_A) >> 1) & water
        if grown == part:
            return near(part)
        part = grown


def kayak(s: S, move: Kayak) -> S:
    """Paddle there; a harpoon takes the bear."""
    return _travel(s, move, COST_KAYAK)


def say_kayak(s: IgluPosition, move: Kayak) -> Reason:
    """Say where the inuit paddles."""
    facts = {**_way(s, move, COST_KAYAK), "left": s.points - COST_KAYAK}
    if move.harpoon:
        return Reason("kayak-with-harpoon", facts)
    return Reason("kayak-ashore" if CORNERS >> move.origin & 1 else "kayak", facts)


# --- hunting ------------------------------------------------------------------------------------------------------


def refuse_hunt(s: IgluPosition, move: Hunt) -> Reason | None:
    """Refuse animals out of reach, bears for points, too few points, no harpoon (IGLU-2.B, 1.E.10)."""
    token = move.token
    who = s.table.colours[s.turn]
    value = components.TOKENS[token][1]
    facts: dict[str, object] = {
        "who": who,
        "token": token_text(token),
        "square": SQUARES[move.square],
        "points": s.points,
        "cost": value,
    }
    bit = 1 << move.square
    mine = s.inuit_at[s.turn]
    standing = mine & s.floes
    if token == components.BEAR_TOKEN:
        if not s.bears & bit:
            return Reason("animal-absent", facts)
        if not move.harpoon:
            return Reason("hunt-bear", facts)
        if not standing & bit:
            return Reason("hunt-bear-far", facts)
    elif token >= components.FOX:
        if not s.fox_at[token - components.FOX] & bit:
            return Reason("animal-absent", facts)
        if not standing & bit:
            return Reason("harpoon-far" if move.harpoon else "hunt-fox-far", facts)
    else:
        if not s.fish_at[token] & bit:
            return Reason("animal-absent", facts)
        if not near(standing) & bit:
            if move.harpoon:
                return Reason("harpoon-far", facts)
            return Reason("hunt-from-corner" if near(mine & CORNERS) & bit else "hunt-fish-far", facts)
    if move.harpoon:
        return refuse_tile(s, HAND_HARPOON, "harpoon", HARPOON_PLAYED)
    return Reason("hunt-points", facts) if s.points < value else None


def hunt(s: S, move: Hunt) -> S:
    """Take the token."""
    new = s.copy()
    seat = s.turn
    token = move.token
    if move.harpoon:
        new.harpoon(seat)
    else:
        new.points = s.points - components.TOKENS[token][1]
    new.take(seat, token)
    if token == components.BEAR_TOKEN:
        new.bears = s.bears & ~(1 << move.square)
    elif token >= components.FOX:
        codes = list(s.fox)
        codes.remove(4 * move.square + token - components.FOX + 1)
        new.set_fox(tuple(codes))
    else:
        codes = list(s.fish)
        codes.remove(4 * move.square + token + 1)
        new.set_fish(tuple(codes))
    return new


def say_hunt(s: IgluPosition, move: Hunt) -> Reason:
    """Say what is taken, and at what price."""
    kind, value = components.TOKENS[move.token]
    facts = {
        "who": s.table.colours[s.turn],
        "token": token_text(move.token),
        "square": SQUARES[move.square],
        "cost": value,
        "left": s.points - value,
    }
    if move.harpoon:
        return Reason("harpoon-bear" if kind == "bear" else "harpoon", facts)
    return Reason(f"hunt-{kind}", facts)


# --- igloos, endurance, the end of the turn -----------------------------------------------------------------------


def refuse_build(s: IgluPosition, move: Build) -> Reason | None:
    """Refuse land, a second igloo, rivals, a third igloo of the tribe, too few points (IGLU-2.C.1)."""
    bit = 1 << move.square
    facts: dict[str, object] = {
        "who": s.table.colours[s.turn],
        "square": SQUARES[move.square],
        "points": s.points,
        "cost": COST_IGLOO,
    }
    if CORNERS & bit:
        return Reason("build-corner", facts)
    if not s.inuit_at[s.turn] & bit:
        return Reason("build-no-inuit", facts)
    if s.igloo_squares & bit:
        return Reason("build-second", facts)
    if not _sites(s) & bit:
        return Reason("build-rival", {**facts, "owners": _owners(s, s.inuit_at, bit)})
    if s.igloos[s.turn].bit_count() >= components.IGLOOS:
        return Reason("build-none-left", facts)
    return Reason("build-points", facts) if s.points < COST_IGLOO else None


def build(s: S, move: Build) -> S:
    """Put the igloo there."""
    new = s.copy()
    bit = 1 << move.square
    seat = s.turn
    new.points = s.points - COST_IGLOO
    new.igloos = (*s.igloos[:seat], s.igloos[seat] | bit, *s.igloos[seat + 1 :])
    new.igloo_squares = s.igloo_squares | bit
    return new


def say_build(s: IgluPosition, move: Build) -> Reason:
    """Say where the igloo stands."""
    bit = 1 << move.square
    odd = bool((s.packs | s.foxes | s.bears) & bit)
    facts = {
        "who": s.table.colours[s.turn],
        "square": SQUARES[move.square],
        "left": s.points - COST_IGLOO,
        "igloos": components.IGLOOS - s.igloos[s.turn].bit_count() - 1,
    }
    return Reason("build-anywhere" if odd else "build", facts)


def refuse_endurance(s: IgluPosition, move: Endurance) -> Reason | None:
    """Refuse phase 1, a second one, and numbers that are not in the hand (IGLU-1.E.5, E.9)."""
    if s.phase == START:
        return Reason("endurance-early", {"value": move.value})
    face = f"endurance {move.value}"
    faces = s.table.mix.faces
    if face not in faces and not s.played & ENDURANCE_PLAYED:
        return Reason("endurance-unknown", {"value": move.value, "real": s.table.mix.real})
    place = faces.index(face) - TO_FACE if face in faces else HAND_ENDURANCE
    return refuse_tile(s, place, face, ENDURANCE_PLAYED)


def endurance(s: S, move: Endurance) -> S:
    """Add the points."""
    new = s.copy()
    new.spend(s.turn, s.table.mix.faces.index(f"endurance {move.value}") - TO_FACE)
    new.played |= ENDURANCE_PLAYED
    new.points = s.points + move.value
    return new


def say_endurance(s: IgluPosition, move: Endurance) -> Reason:
    """Say how many points there are now."""
    facts = {"who": s.table.colours[s.turn], "value": move.value, "points": s.points + move.value}
    return Reason("endurance", facts)


def refuse_end(s: IgluPosition, move: End) -> Reason | None:
    """Refuse to end a turn before something has melted (IGLU-1.1)."""
    if s.phase == START and s.meltable():
        return Reason("end-early", {"who": s.table.colours[s.turn]})
    return None


def end(s: S, move: End) -> S:
    """Go on to the left neighbour; where nothing could be melted the game is over (IGLU-1.1, 1.4)."""
    new = s.copy()
    if s.phase == START:
        return new.finish()
    return new.start_turn((s.turn + 1) % s.table.players)


def say_end(s: IgluPosition, move: End) -> Reason:
    """Say whose turn is over, and whether the game is."""
    from_start = s.phase == START
    following = (s.turn + 1) % s.table.players
    over = from_start or not end(s, move).meltable()
    facts = {"who": s.table.colours[s.turn], "other": s.table.colours[following], "lost": s.points}
    if from_start:
        return Reason("end-give-up", facts)
    if over and s.table.end_before_thaw:
        return Reason("end-game", facts)
    return Reason("end" if s.points else "end-spent", facts)
