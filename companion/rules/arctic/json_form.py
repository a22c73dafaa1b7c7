"""Arctic in the one form of a board: a state written as JSON, whole or as one player may see it."""

from __future__ import annotations

from companion.rules.arctic.components import (
    ANIMALS,
    BOX,
    FACE_DOWN,
    LANDSCAPE,
    NOT_DEALT,
    RIVER,
    TEXT,
    UNKNOWN,
    USED,
    card_text,
    cards_of,
)
from companion.rules.arctic.position import ArcticPosition
from companion.rules.core import JSON


def to_json(s: ArcticPosition, *, viewer: int | None = None, hide: bool = False) -> dict[str, JSON]:
    """Return the position; with ``hide`` without what ``viewer`` (None: a bystander) may not see."""
    places: dict[str, JSON] = {}
    for index, value in enumerate(LANDSCAPE):
        here = [{"kind": ANIMALS[a], "count": 1} for a in range(6) if s.tokens[a] == index]
        places[f"land{value}"] = {"ground": "landscape", "things": here}
    for index in range(RIVER):
        here = [_card_thing(s.river[index])] if index < len(s.river) else []
        places[f"river{index + 1}"] = {"ground": "river", "things": here}
    return {
        "game": "arctic",
        "places": places,
        "players": [_player(s, seat, open_=not hide or viewer == seat) for seat in range(s.players)],
        "options": dict(s.options),
        "phase": s.phase,
        "stage": s.stage,
        "to_move": s.seat + 1 if s.seat >= 0 else None,
        "first": s.first + 1 if s.first >= 0 else None,
        "packs": list(s.packs),
        "powers": {ANIMALS[a]: s.powers[a] for a in range(6) if s.powers[a]},
        "held": [ANIMALS[a] for a in range(6) if s.held >> a & 1],
        "value": s.value,
        "count": s.count,
        "used": [name for name, bit in USED.items() if s.used & bit],
        "pile_left": s.pile_left,
        "reserve": s.reserve,
    }


def _card_thing(card: int) -> dict[str, JSON]:
    _, main, placement, _, companion = BOX[card]
    return {"kind": ANIMALS[main], "value": placement, "companion": ANIMALS[companion], "count": 1}


def _player(s: ArcticPosition, seat: int, *, open_: bool) -> dict[str, JSON]:
    totem = s.totems[seat]
    # Totems are shown when the last turn is played (ARC-V.3), the other hidden things never.
    shown = totem >= 0 and (open_ or s.phase in {"totems", "over"})
    return {
        "name": s.names[seat],
        "pile": [card_text(FACE_DOWN + UNKNOWN if card >= FACE_DOWN and not open_ else card) for card in s.piles[seat]],
        "hand": [TEXT[card] if open_ else "?" for card in s.hands[seat]],
        "penalty": [TEXT[card] if open_ else "?" for card in s.penalties[seat]],
        "unseen": [TEXT[card] for card in cards_of(s.veiled[seat])],
        "totem": None if totem == NOT_DEALT else ANIMALS[totem] if shown else "?",
        "powers": [ANIMALS[a] for a in range(6) if s.owners[a] == seat],
    }
