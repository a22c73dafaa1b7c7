"""Everything that is wrong with a position of Iglu Iglu, not only the first thing (IGLU-K, IGLU-G)."""

from __future__ import annotations

from collections.abc import Iterator

from companion.rules.core import Problem
from companion.rules.iglu_iglu import components
from companion.rules.iglu_iglu.board import CORNERS, RING, SEA, names
from companion.rules.iglu_iglu.moves import token_text
from companion.rules.iglu_iglu.position import (
    FLEEING,
    PEEKING,
    PLACING,
    REVEALING,
    SETTING,
    TO_FACE,
    UNKNOWN,
    IgluPosition,
)

MOST_POINTS = 3 + components.MOST_ENDURANCE


def find(s: IgluPosition) -> tuple[Problem, ...]:
    """Return every problem; none in a position that play can reach."""
    return (*s.table.faults, *_squares(s), *_tribes(s), *_tokens(s), *_tiles(s), *_turn(s))


def _squares(s: IgluPosition) -> Iterator[Problem]:
    """Yield what stands where it cannot."""
    floes = s.floes & SEA
    # Inuit on a thawed floe are on their way to a corner: they stand in the water until they flee.
    leaving = 1 << s.square if s.phase == FLEEING and s.square >= 0 else 0
    for seat, colour in enumerate(s.table.colours):
        wet = s.inuit_at[seat] & ~floes & ~CORNERS & ~leaving
        if wet:
            yield Problem("inuit-water", {"who": colour, "squares": names(wet)}, ("IGLU-2.A.1", "IGLU-2.A.4"))
        loose = s.igloos[seat] & ~floes
        if loose:
            yield Problem("igloo-no-floe", {"who": colour, "squares": names(loose)}, ("IGLU-2.C.1", "IGLU-2.C.2"))
        for other in range(seat):
            both = s.igloos[seat] & s.igloos[other]
            if both:
                facts = {"owners": [s.table.colours[other], colour], "squares": names(both)}
                yield Problem("igloos-two", facts, ("IGLU-G.7", "IGLU-2.C.1"))
    dry = s.shoals & ~s.water
    if dry:
        yield Problem("fish-dry", {"squares": names(dry)}, ("IGLU-1.E.1", "IGLU-1.E.11a"))
    afloat = s.foxes & ~floes
    if afloat:
        yield Problem("fox-afloat", {"squares": names(afloat)}, ("IGLU-1.E.3", "IGLU-1.E.11b"))
    ashore = s.bears & CORNERS
    if ashore:
        yield Problem("bear-ashore", {"squares": names(ashore)}, ("IGLU-1.E.11d",))


def _tribes(s: IgluPosition) -> Iterator[Problem]:
    """Yield tribes with too many or too few figures."""
    table = s.table
    if table.players == 2 and set(table.colours) != {"red", "blue"}:
        yield Problem("two-tribes", {"owners": list(table.colours)}, ("IGLU-S.5",))
    placing = s.phase in (SETTING, PLACING)
    for seat, colour in enumerate(table.colours):
        count = len(s.inuit[seat])
        wanted = min(table.inuit_each, components.INUIT[colour])
        facts = {"who": colour, "count": count, "wanted": wanted}
        if count > wanted:
            yield Problem("inuit-many", facts, ("IGLU-K.6", "IGLU-S.5" if table.players == 2 else "IGLU-S.4"))
        elif count < wanted and not placing:
            yield Problem("inuit-few", facts, ("IGLU-S.7", "IGLU-S.5" if table.players == 2 else "IGLU-S.4"))
        igloos = s.igloos[seat].bit_count()
        if igloos > components.IGLOOS:
            facts = {"who": colour, "count": igloos, "wanted": components.IGLOOS}
            yield Problem("igloos-many", facts, ("IGLU-K.7", "IGLU-2.C.1"))
        off = s.inuit_at[seat] & ~RING
        if placing and off:
            yield Problem("placing-off", {"who": colour, "squares": names(off)}, ("IGLU-S.7", "IGLU-S.8"))


def _tokens(s: IgluPosition) -> Iterator[Problem]:
    """Yield animals beyond the box, and foxes without a pack."""
    for token in range(len(components.TOKENS)):
        reserve = s.reserve(token)
        if reserve < 0:
            clause = (
                "IGLU-K.5" if token == components.BEAR_TOKEN else "IGLU-K.4" if token >= components.FOX else "IGLU-K.3"
            )
            facts = {
                "token": token_text(token),
                "count": components.IN_BOX[token] - reserve,
                "box": components.IN_BOX[token],
            }
            yield Problem("tokens-many", facts, (clause,))
    packs = (s.packs & SEA).bit_count()
    foxes = sum(components.IN_BOX[token] - s.reserve(token) for token in range(components.FOX, components.FOX + 3))
    if foxes > packs:
        yield Problem("foxes-packs", {"count": foxes, "packs": packs}, ("IGLU-1.E.3",))


def _tiles(s: IgluPosition) -> Iterator[Problem]:
    """Yield what the 56 tiles cannot account for."""
    mix = s.table.mix
    seen = [total - unseen for total, unseen in zip(mix.counts, s.tiles, strict=True)]
    held = [sum(hand[place] for hand in s.hands) for place in range(len(s.hands[0]))]
    for face, name in enumerate(mix.faces):
        if seen[face] < 0:
            yield Problem("tiles-many", {"face": name, "count": s.tiles[face], "box": mix.counts[face]}, ("IGLU-K.2",))
        if face >= components.RED and held[face - TO_FACE] > max(seen[face], 0):
            facts = {"face": name, "count": held[face - TO_FACE], "box": mix.counts[face]}
            yield Problem("hands-many", facts, ("IGLU-K.2", "IGLU-K.12"))
    unseen_red = sum(s.tiles[components.RED :])
    if held[UNKNOWN] > unseen_red:
        yield Problem("hands-unknown", {"count": held[UNKNOWN], "left": unseen_red}, ("IGLU-K.12", "IGLU-1.5"))
    packs = (s.packs & SEA).bit_count()
    if packs > seen[components.PACK]:
        facts = {"count": packs, "seen": seen[components.PACK], "box": mix.counts[components.PACK]}
        yield Problem("packs-many", facts, ("IGLU-K.11",))
    bears = components.IN_BOX[components.BEAR_TOKEN] - s.reserve(components.BEAR_TOKEN)
    if bears > seen[components.BEAR]:
        facts = {"count": bears, "seen": seen[components.BEAR], "box": mix.counts[components.BEAR]}
        yield Problem("bears-tiles", facts, ("IGLU-1.E.2", "IGLU-K.10"))
    fish = sum(components.IN_BOX[token] - s.reserve(token) for token in range(3))
    most = 4 + 2 * seen[components.FISH_2] + 3 * seen[components.FISH_3]
    if fish > most:
        yield Problem("fish-tiles", {"count": fish, "most": most}, ("IGLU-1.E.1", "IGLU-K.9"))
    turned = 1 if s.phase in (PEEKING, REVEALING) else 0
    face_down = (s.floes & SEA & ~s.packs).bit_count()
    unseen = sum(s.tiles)
    if unseen < face_down + held[UNKNOWN] + turned:
        facts = {"floes": face_down, "hands": held[UNKNOWN] + turned, "left": unseen}
        yield Problem("floes-many", facts, ("IGLU-K.2", "IGLU-S.1"))


def _turn(s: IgluPosition) -> Iterator[Problem]:
    """Yield points that nobody can have."""
    if s.points > MOST_POINTS:
        yield Problem("points-many", {"points": s.points, "most": MOST_POINTS}, ("IGLU-2.1",))
