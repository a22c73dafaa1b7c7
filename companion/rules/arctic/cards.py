"""The 120 animal cards and the twelve powers as numbers (ARC-K.1 … ARC-K.7, ARC-P.1 … ARC-P.12).

A card is a small integer. 0 … 119 are the cards of the box; ``UNKNOWN`` is a card nobody has shown us, and
``KIND + animal`` a card of which only the main animal is known (a camera reads a fanned pile so).
``FACE_DOWN + card`` lies face down in a pile (ARC-P.12).
"""

from __future__ import annotations

from companion.rules.core import InvalidMoveError

ANIMALS = ("fox", "moose", "walrus", "orca", "puffin", "bear")
"""In the order of the cycle that the companions follow (ARC-K.5)."""

LANDSCAPE = (0, 1, 3, 6, 10, 15)
"""The landscape cards' values, in order (ARC-K.1)."""

RUN_POINTS = (0, 0, 1, 3, 6, 10, 15)
"""Points of a run of 0 … 6 cards, and of 0 … 6 different animals with a run (ARC-V.1, ARC-V.2)."""

UNKNOWN = 120
KIND = 121
FACE_DOWN = 256

# The two powers that each animal's card may show (ARC-P.*).
SIDES = {0: (11, 12), 1: (9, 10), 2: (1, 2), 3: (7, 8), 4: (3, 4), 5: (5, 6)}
PHASE_OF_POWER = {1: "B", 2: "B", 3: "A", 4: "A", 5: "C", 6: "C", 7: "C", 8: "C", 9: "C", 10: "A", 11: "A", 12: "A"}

RESERVE = {2: 5, 3: 10, 4: 15}
"""Cards set aside by number of players (ARC-S.3)."""

HAND_LIMIT = 7


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


def card_text(card: int) -> str:
    """Return a card's name; ``down:`` stands before a card that lies face down."""
    return f"down:{TEXT[card - FACE_DOWN]}" if card >= FACE_DOWN else TEXT[card]


def parse_card(text: str, *, partial: bool = False) -> int:
    """Return the card that ``text`` names.

    ``partial`` allows a bare animal and a card lying face down, as positions have them.

    :raises InvalidMoveError: when there is no such card in the box.
    """
    down = partial and text.startswith("down:")
    name = text[5:] if down else text
    card = _BY_TEXT.get(name)
    if card is None or (card >= KIND and not partial):
        raise InvalidMoveError(
            f"{text!r} is no animal card; a card reads like fox-5-moose (animal, placement value, companion)."
        )
    return card + FACE_DOWN if down else card


def parse_animal(text: str) -> int:
    """Return an animal's number.

    :raises InvalidMoveError: for a word that names none.
    """
    if text not in ANIMALS:
        raise InvalidMoveError(f"{text!r} is no animal of Arctic; they are {', '.join(ANIMALS)}.")
    return ANIMALS.index(text)
