"""The tiles with the red frame but endurance and hunting: thaw, animal movement, and bears that attack.

IGLU-1.E.5 to E.8, E.11, E.12 and IGLU-1.F. For each kind of move three functions: why it is refused, what comes after
it, what it does in words.
"""

from __future__ import annotations

from collections.abc import Iterator

from companion.rules.core import Reason
from companion.rules.iglu_iglu import components
from companion.rules.iglu_iglu.board import CORNER_SQUARES, CORNERS, NEAR, SEA, SQUARES, numbers
from companion.rules.iglu_iglu.moves import (
    THAWS,
    THE_STOP,
    Animals,
    Defend,
    Flee,
    IgluMove,
    Step,
    Stop,
    Thaw,
    token_text,
)
from companion.rules.iglu_iglu.position import (
    ANIMALS_PLAYED,
    DEFENDING,
    FLEEING,
    HAND_ANIMALS,
    HAND_HARPOON,
    HAND_THAW,
    HARPOON_PLAYED,
    START,
    THAW_PLAYED,
    IgluPosition,
    S,
)


def refuse_tile(s: IgluPosition, place: int, tile: str, played: int) -> Reason | None:
    """Refuse a second tile of a type in one turn, and one that is not in the hand (IGLU-1.E.5)."""
    who = s.table.colours[s.turn]
    if s.played & played:
        return Reason("tile-twice", {"who": who, "tile": tile})
    if not s.can_play(s.turn, place):
        return Reason("tile-none", {"who": who, "tile": tile})
    return None


# --- thaw ---------------------------------------------------------------------------------------------------------


def moves_thaw(s: IgluPosition) -> list[IgluMove]:
    """Return the floes that a thaw may take, where one can be played (IGLU-M.7)."""
    if s.played & THAW_PLAYED or not s.can_play(s.turn, HAND_THAW):
        return []
    return [THAWS[square] for square in numbers(s.thawable())]


def refuse_thaw(s: IgluPosition, move: Thaw) -> Reason | None:
    """Refuse packs, igloos, and floes away from the water (IGLU-1.E.7)."""
    refused = refuse_tile(s, HAND_THAW, "thaw", THAW_PLAYED)
    if refused is not None:
        return refused
    bit = 1 << move.square
    if s.thawable() & bit:
        return None
    facts = {"square": SQUARES[move.square]}
    if not s.floes & bit:
        return Reason("thaw-no-floe", facts)
    if s.packs & bit:
        return Reason("thaw-pack", facts)
    if s.igloo_squares & bit:
        return Reason("thaw-igloo", facts)
    return Reason("thaw-dry" if s.thawable() else "thaw-nowhere", facts)


def thaw(s: S, move: Thaw) -> S:
    """Remove the floe and its animals; its inuit flee one by one (IGLU-1.E.8)."""
    new = s.copy()
    bit = 1 << move.square
    new.spend(s.turn, HAND_THAW)
    new.played |= THAW_PLAYED
    new.floes = s.floes & ~bit
    if s.foxes & bit:
        new.clear_animals(bit)
    if s.bears & bit:
        new.bears = s.bears & ~bit
        new.removed += components.TALLY[components.BEAR_TOKEN]
    if s.inuit_squares & bit:
        new.square = move.square
        new.phase = FLEEING
        return new
    return new.resume()


def say_thaw(s: IgluPosition, move: Thaw) -> Reason:
    """Say what the thaw takes."""
    bit = 1 << move.square
    facts = {"square": SQUARES[move.square], "who": s.table.colours[s.turn], "things": s.things(bit)}
    if s.inuit_squares & bit:
        return Reason("thaw-inuit", facts)
    return Reason("thaw-animals" if (s.foxes | s.bears) & bit else "thaw", facts)


# --- animal movement ----------------------------------------------------------------------------------------------


def can_move_animals(s: IgluPosition) -> bool:
    """Return whether an animal movement tile can be played now (IGLU-1.E.12)."""
    if s.played & ANIMALS_PLAYED or (s.phase == START and not s.table.animals_any_phase):
        return False
    return s.can_play(s.turn, HAND_ANIMALS)


def refuse_animals(s: IgluPosition, move: Animals) -> Reason | None:
    """Refuse the tile where the table keeps it for phase 2, or none is left to play."""
    if s.phase == START and not s.table.animals_any_phase:
        return Reason("animals-early", {})
    return refuse_tile(s, HAND_ANIMALS, "animals", ANIMALS_PLAYED)


def animals(s: S, move: Animals) -> S:
    """Play the tile: three steps to give (IGLU-1.E.11)."""
    new = s.copy()
    new.spend(s.turn, HAND_ANIMALS)
    new.played |= ANIMALS_PLAYED
    new.remaining = 3
    return new.resume()


def say_animals(s: IgluPosition, move: Animals) -> Reason:
    """Say that three steps are due."""
    key = "animals" if s.phase != START else "animals-before"
    return Reason(key if s.has_step() else "animals-nothing", {"who": s.table.colours[s.turn]})


def steps(s: IgluPosition) -> Iterator[Step]:
    """Yield every step an animal can take (IGLU-1.E.11a to d)."""
    water = SEA & ~s.floes
    for value, squares in enumerate(s.fish_at):
        for origin in numbers(squares):
            for target in numbers(NEAR[origin] & water):
                yield Step(components.FISH + value, origin, target)
    for value, squares in enumerate(s.fox_at):
        for origin in numbers(squares):
            for target in numbers(NEAR[origin] & s.floes):
                yield Step(components.FOX + value, origin, target)
    free = SEA & ~s.bears
    for origin in numbers(s.bears):
        for target in numbers(NEAR[origin] & free):
            yield Step(components.BEAR_TOKEN, origin, target)


def moves_moving(s: IgluPosition) -> list[IgluMove]:
    """Return the steps, and where the table only warns, stopping."""
    found: list[IgluMove] = list(steps(s))
    if not (s.table.all_three and found):
        found.append(THE_STOP)
    return found


def _stands(s: IgluPosition, token: int, square: int) -> bool:
    if token == components.BEAR_TOKEN:
        return bool(s.bears >> square & 1)
    if token >= components.FOX:
        return bool(s.fox_at[token - components.FOX] >> square & 1)
    return bool(s.fish_at[token] >> square & 1)


def refuse_step(s: IgluPosition, move: Step) -> Reason | None:
    """Refuse absent animals, far squares and the wrong ground (IGLU-1.E.11a to d)."""
    facts = {
        "token": token_text(move.token),
        "square": SQUARES[move.origin],
        "target": SQUARES[move.target],
    }
    if not _stands(s, move.token, move.origin):
        return Reason("animal-absent", facts)
    bit = 1 << move.target
    if not NEAR[move.origin] & bit:
        return Reason("step-far", facts)
    if CORNERS & bit:
        return Reason("step-corner", facts)
    if move.token == components.BEAR_TOKEN:
        return Reason("step-bear", facts) if s.bears & bit else None
    if move.token >= components.FOX:
        return None if s.floes & bit else Reason("step-fox", facts)
    return Reason("step-fish", facts) if s.floes & bit else None


def step(s: S, move: Step) -> S:
    """Move the animal; a bear attacks whom it meets (IGLU-1.F.1, F.2)."""
    new = s.copy()
    new.remaining = s.remaining - 1
    origin, target = move.origin, move.target
    if move.token < components.BEAR_TOKEN:
        fox = move.token >= components.FOX
        value = move.token - (components.FOX if fox else components.FISH) + 1
        codes = list(s.fox if fox else s.fish)
        codes.remove(4 * origin + value)
        codes.append(4 * target + value)
        codes.sort()
        if fox:
            new.set_fox(tuple(codes))
        else:
            new.set_fish(tuple(codes))
        return new.resume()
    bit = 1 << target
    new.bears = s.bears & ~(1 << origin) | bit
    if (s.shoals | s.foxes) & bit:
        new.clear_animals(bit)
    if not s.inuit_squares & bit:
        return new.resume()
    new.square = target
    new.phase = DEFENDING
    new.defender = new.to_move = _next_defender(new, new.turn)
    return new


def say_step(s: IgluPosition, move: Step) -> Reason:
    """Say where the animal goes, and whom a bear attacks."""
    bit = 1 << move.target
    facts = {
        "token": token_text(move.token),
        "square": SQUARES[move.origin],
        "target": SQUARES[move.target],
        "left": s.remaining - 1,
        "things": [thing for thing in s.things(bit) if thing in ("fish", "fox")],
    }
    if move.token != components.BEAR_TOKEN:
        kind = components.TOKENS[move.token][0]
        return Reason(f"step-to-bear-{kind}" if s.bears & bit else f"step-ok-{kind}", facts)
    if s.inuit_squares & bit:
        owners = [s.table.colours[seat] for seat, own in enumerate(s.inuit_at) if own & bit]
        return Reason("step-attack", {**facts, "owners": owners})
    return Reason("step-eats" if (s.shoals | s.foxes) & bit else "step-ok-bear", facts)


def refuse_stop(s: IgluPosition, move: Stop) -> Reason | None:
    """Refuse to leave steps unused while one is possible (IGLU-Q.9)."""
    example = next(steps(s), None)
    if s.table.all_three and example is not None:
        return Reason("stop-early", {"left": s.remaining, "example": str(example)})
    return None


def stop(s: S, move: Stop) -> S:
    """Leave the rest unused."""
    new = s.copy()
    new.remaining = 0
    return new.resume()


def say_stop(s: IgluPosition, move: Stop) -> Reason:
    """Warn that all three points should be used."""
    return Reason("stop", {"left": s.remaining})


# --- a bear attacks -----------------------------------------------------------------------------------------------


def _next_defender(s: IgluPosition, seat: int) -> int:
    """Return the next owner of an inuit there after ``seat``, the mover last; -1 when all were asked."""
    bit = 1 << s.square
    seat = (seat + 1) % s.table.players
    while True:
        if s.inuit_at[seat] & bit:
            return seat
        if seat == s.turn:
            return -1
        seat = (seat + 1) % s.table.players


def moves_defending(s: IgluPosition) -> list[IgluMove]:
    """Return declining, and the harpoon where there may be one (IGLU-M.10)."""
    colour = s.table.colours[s.defender]
    found: list[IgluMove] = [Defend(colour, False)]
    if s.can_harpoon(s.defender):
        found.append(Defend(colour, True))
    return found


def refuse_defend(s: IgluPosition, move: Defend) -> Reason | None:
    """Refuse answers out of turn and harpoons that are not there (IGLU-1.F.3, E.5)."""
    who = s.table.colours[s.defender]
    if move.colour != who:
        return Reason("defend-turn", {"who": who, "other": move.colour, "square": SQUARES[s.square]})
    if not move.harpoon:
        return None
    if s.defender == s.turn:
        return refuse_tile(s, HAND_HARPOON, "harpoon", HARPOON_PLAYED)
    return refuse_tile_of(s, s.defender)


def refuse_tile_of(s: IgluPosition, seat: int) -> Reason | None:
    """Refuse the harpoon of a player who has none, in another's turn."""
    if s.can_play(seat, HAND_HARPOON):
        return None
    return Reason("tile-none", {"who": s.table.colours[seat], "tile": "harpoon"})


def defend(s: S, move: Defend) -> S:
    """Kill the bear, or let the next owner answer; when all have declined, inuit without shelter flee."""
    new = s.copy()
    if move.harpoon:
        new.harpoon(s.defender)
        new.bears = s.bears & ~(1 << s.square)
        new.take(s.defender, components.BEAR_TOKEN)
        return new.resume()
    # The mover comes last: after him nobody is left to ask.
    following = _next_defender(s, s.defender) if s.defender != s.turn else -1
    if following >= 0:
        new.defender = new.to_move = following
        return new
    return flight(new)


def flight(new: S) -> S:
    """Let the inuit that cannot hide flee (of a fresh copy; IGLU-1.F.4)."""
    if new.fleeing():
        new.defender = -1
        new.phase = FLEEING
        new.to_move = new.turn
        return new
    return new.resume()


def say_defend(s: IgluPosition, move: Defend) -> Reason:
    """Say what the answer brings."""
    facts = {"who": move.colour, "square": SQUARES[s.square]}
    if move.harpoon:
        own = s.defender == s.turn
        hidden = bool(s.igloos[s.defender] >> s.square & 1)
        return Reason("defend-own" if own else "defend-hidden" if hidden else "defend", facts)
    if s.defender != s.turn and _next_defender(s, s.defender) >= 0:
        return Reason("decline", facts)
    owners = [s.table.colours[seat] for seat in s.fleeing()]
    return Reason("decline-flee" if owners else "decline-hide", {**facts, "owners": owners})


def moves_fleeing(s: IgluPosition) -> list[IgluMove]:
    """Return every tribe's next inuit to each corner (IGLU-M.11)."""
    colours = s.table.colours
    return [Flee(colours[seat], s.square, corner) for seat in s.fleeing() for corner in CORNER_SQUARES]


def refuse_flee(s: IgluPosition, move: Flee) -> Reason | None:
    """Refuse other squares, inuit that hide or are not there, and anything but a corner (IGLU-1.F.4, F.5)."""
    facts: dict[str, object] = {
        "who": move.colour,
        "square": SQUARES[s.square],
        "target": SQUARES[move.corner],
    }
    if move.square != s.square:
        return Reason("flee-other", facts)
    if not CORNERS >> move.corner & 1:
        return Reason("flee-corner", facts)
    if move.colour not in s.table.colours:
        return Reason("flee-absent", facts)
    seat = s.table.colours.index(move.colour)
    if not s.inuit_at[seat] >> s.square & 1:
        return Reason("flee-absent", facts)
    if s.igloos[seat] >> s.square & 1:
        return Reason("flee-hidden", facts)
    return None


def flee(s: S, move: Flee) -> S:
    """Put one inuit on the corner."""
    new = s.copy()
    new.move_inuit(s.table.colours.index(move.colour), move.square, move.corner)
    return new if new.fleeing() else new.resume()


def say_flee(s: IgluPosition, move: Flee) -> Reason:
    """Say who goes where, and from what."""
    facts = {"who": move.colour, "square": SQUARES[move.square], "target": SQUARES[move.corner]}
    return Reason("flee" if s.floes >> s.square & 1 else "flee-thaw", facts)
