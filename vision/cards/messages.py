"""What reading cards says to people: constants, so that the page can translate them by their message id."""

from __future__ import annotations

from typing import Final

NAMED_TWICE: Final = "The order names a card twice."
DECK_DAMAGED: Final = "The file of the taught cards is damaged. Teach the cards again."
NOT_TAUGHT: Final = "No cards of this game have been taught yet. Photograph them in sheets first."
NO_CARDS: Final = "No taught card was found in the photo."
FIRST_FORGOTTEN: Final = "The first photo is no longer known. Send it again."
WRONG_NUMBER: Final = "The photo shows a different number of cards than was asked for. Leave a gap around each card."
