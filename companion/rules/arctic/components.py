"""The 120 animal cards and the twelve powers as numbers (ARC-K.1 … ARC-K.7, ARC-P.1 … ARC-P.12).

A card is a small integer. 0 … 119 are the cards of the box; ``UNKNOWN`` is a card nobody has shown us, and
``KIND + animal`` a card of which only the main animal is known (a camera reads a fanned pile so).
``FACE_DOWN + card`` lies face down in a pile (ARC-P.12).
"""

from __future__ import annotations

from collections.abc import Sequence

from companion.rules.core import AmbiguousMoveError, InvalidMoveError

ANIMALS = ("fox", "moose", "walrus", "orca", "puffin", "bear")
"""In the order of the cycle that the companions follow (ARC-K.5)."""

LANDSCAPE = (0, 1, 3, 6, 10, 15)
"""The landscape cards' values, in order (ARC-K.1)."""

RUN_POINTS = (0, 0, 1, 3, 6, 10, 15)
"""Points of a run of 0 … 6 cards, and of 0 … 6 different animals with a run (ARC-V.1, ARC-V.2)."""

UNKNOWN = 120
KIND = 121
FACE_DOWN = 256
NOT_DEALT = -2
"""The totem of a seat that has none yet; -1 is one that is secret."""

SIDES = {0: (11, 12), 1: (9, 10), 2: (1, 2), 3: (7, 8), 4: (3, 4), 5: (5, 6)}
"""The two powers that each animal's card may show (ARC-P.*)."""
ANIMAL_OF_POWER = {power: animal for animal, sides in SIDES.items() for power in sides}
PHASE_OF_POWER = {1: "B", 2: "B", 3: "A", 4: "A", 5: "C", 6: "C", 7: "C", 8: "C", 9: "C", 10: "A", 11: "A", 12: "A"}

RESERVE = {2: 5, 3: 10, 4: 15}
"""Cards set aside by number of players (ARC-S.3)."""

HAND_LIMIT = 7
RIVER = 6

USED = {"swap": 1, "take-back": 2, "place-value": 4, "extra": 8, "draw-value": 16, "give": 32, "discard": 64}
"""What a player has done in this turn and cannot do again, or (discard) what ends phase C: name -> bit."""
USED_SWAP, USED_TAKE_BACK, USED_PLACE_VALUE, USED_EXTRA, USED_DRAW_VALUE, USED_GIVE, USED_DISCARD = USED.values()


def _box() -> tuple[tuple[int, int, int, int, int], ...]:
    """Return (pack, main, placement, draw, companion) of every card; the rule is that of ARC-K.4 and ARC-K.5."""
    cards: list[tuple[int, int, int, int, int]] = []
    for pack in (1, 2, 3, 4):
        for main in range(6):
            others = [(main + pack + step) % 6 for step in range(6)]
            others.remove(main)
            cards.extend((pack, main, placement, 6 - placement, others[5 - placement]) for placement in range(5, 0, -1))
    return tuple(cards)


BOX = _box()
PACK = tuple(card[0] for card in BOX)
MAIN = (*(card[1] for card in BOX), -1, 0, 1, 2, 3, 4, 5)
PLACEMENT = (*(card[2] for card in BOX), *(0,) * 7)
DRAW = (*(card[3] for card in BOX), *(0,) * 7)
COMPANION = (*(card[4] for card in BOX), *(-1,) * 7)
PACK_MASK = tuple(sum(1 << card for card in range(120) if PACK[card] == pack) for pack in range(5))

TEXT = (
    *(f"{ANIMALS[main]}-{placement}-{ANIMALS[companion]}" for _, main, placement, _, companion in BOX),
    "?",
    *ANIMALS,
)
"""A card's name: main animal, placement value, companion; ``?`` and a bare animal for what is not fully known."""

_BY_TEXT = {text: card for card, text in enumerate(TEXT)}


def in_play(packs: Sequence[int]) -> int:
    """Return the mask of the cards of these packs."""
    mask = 0
    for pack in packs:
        mask |= PACK_MASK[pack]
    return mask


def cards_of(mask: int) -> list[int]:
    """Return the cards of a mask, lowest first."""
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


def card_text(card: int) -> str:
    """Return a card's name; ``down:`` stands before a card that lies face down."""
    return f"down:{TEXT[card - FACE_DOWN]}" if card >= FACE_DOWN else TEXT[card]


def parse_card(text: str) -> int:
    """Return the card of the box that ``text`` names, or UNKNOWN for ``?``; animals may be shortened.

    :raises InvalidMoveError: when there is no such card in the box.
    :raises AmbiguousMoveError: when the text fits several.
    """
    card = _BY_TEXT.get(text)
    if card is not None and card < KIND:
        return card
    main, *rest = text.split("-")
    if main and len(rest) <= 2:
        value, companion = (*rest, "", "")[:2]
        readings = [name for name in TEXT[:UNKNOWN] if _fits(name.split("-"), main, value, companion)]
        if len(readings) == 1:
            return _BY_TEXT[readings[0]]
        if readings:
            shown = readings if len(readings) <= 6 else [*readings[:5], "…"]
            raise AmbiguousMoveError("{text!r} may be several cards: {shown}.", text=text[:40], shown=", ".join(shown))
    raise InvalidMoveError(
        "{text!r} is not an animal card; a card reads like fox-5-moose (animal, placement value, companion).",
        text=text[:40],
    )


def _fits(name: Sequence[str], main: str, value: str, companion: str) -> bool:
    return name[0].startswith(main) and value in ("", name[1]) and name[2].startswith(companion)


def parse_animal(text: str) -> int:
    """Return an animal's number; its name may be shortened.

    :raises InvalidMoveError: for a word that names none.
    """
    for number, animal in enumerate(ANIMALS):
        if text and animal.startswith(text):
            return number
    raise InvalidMoveError(
        "{text!r} is not an animal in Arctic; the animals are {animals}.", text=text[:40], animals=", ".join(ANIMALS)
    )
