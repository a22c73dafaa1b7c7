"""What the camera says of the game it follows: constants, so that the page can translate them by their text."""

from __future__ import annotations

from typing import Final

NOT_FROM_THE_PAGE: Final = "A camera is usb:0, pi, /dev/video0 or an http address."

OFF: Final = "The camera does not follow the game."
NO_PICTURE: Final = "There is no picture yet."
NO_GAME: Final = "Open a game, and the camera can follow it."
NOT_THIS_GAME: Final = "This game cannot be followed by the camera."
COMPANION_DRAWS: Final = "The companion draws in this game: there is no board to look at."
SETTING_UP: Final = "The camera follows from the first turn on."
UNSEEN: Final = "Enter what the board does not show: the die, or how many fish freeze."
LAID_OTHERWISE: Final = "The camera knows another layout of the boards."
UNREAD: Final = "Enter what every floe shows. Then the camera can follow."
PAUSED: Final = "The night is paused."
NOT_CALIBRATED: Final = "The camera does not know yet where the board lies."
NOT_TAUGHT: Final = "The camera has not been taught yet what the pieces look like."
LEARNING: Final = "The camera is learning. This takes some seconds."
WATCHING: Final = "The board is as the record says."
MOVING: Final = "Something is moving, or a hand is over the board."
LOST: Final = "The board is not found in the picture. Put it back, or calibrate again."
BEHIND: Final = "The board does not show the last entry yet."
ASKING: Final = "The camera has a question."
DISAGREES: Final = "The board and the record disagree."
WAITING: Final = "The camera is waiting for the board to be put right."
ENTERED: Final = "The camera entered the turn it saw."
HALF: Final = "The camera sees half a turn, and waits for the rest."
THINKING: Final = "The camera is looking."
FAILED: Final = "The camera could not look, and tries again."

CARDS_ALONE: Final = "The camera sees cards as they are laid and what is put on them; people enter the rest of a round."
CARDS_AWAITED: Final = "The camera is waiting for all the new cards."
CARDS_UNSURE: Final = "The camera is not sure of every card. Read them from a photo, or enter them."
CARDS_ENTERED: Final = "The camera entered the cards it saw."

ROW_AGREES: Final = "The open cards lie as the record says."
ROW_UNKNOWN: Final = "The camera waits until the open cards lie as the record says. Then it follows."
ROW_PLAYING: Final = "A turn is being played."
ROW_BY_HAND: Final = "Enter the rest of this turn. Then the camera goes on."
ROW_OPEN: Final = (
    "All is entered but what nobody sees, as a Penalty card given away, or a last step. "
    "If there was none, the next turn tells it."
)
ROW_LEFT: Final = "Enter this turn by hand. Then the camera goes on."
ROW_HIDDEN: Final = (
    "Not every card can be seen that was played. Lay them so that each shows, or enter the turn by hand."
)
ROW_OTHERWISE: Final = "The open cards lie as no turn leaves them. Put them right, or correct the record."

PLACES_UNKNOWN: Final = "The camera does not know where the cards lie. It looks when they lie bare before a round."
PLACES_KNOWN: Final = "The camera sees where the cards lie, and enters what is put on them."
PLACES_LOST: Final = "The camera does not see the cards as they lay. Enter by hand what is put on them."
PLACED: Final = "The camera entered what was put on a card."
PLACED_UNSURE: Final = "The camera is not sure of something on a card. Enter it by hand."
PLACED_OTHERWISE: Final = "The record has something on a card that the camera does not see there."

CHECK_KNOWN: Final = "The camera enters the numbers on stickers as they are turned up on the cards."
CHECKED: Final = "The camera entered a number it saw on a card."
CHECK_UNSURE: Final = "The camera is not sure whose number lies on a card. Enter it by hand."
CHECK_OTHERWISE: Final = "The camera sees a number on a card that the record does not have there."

NOTHING_ASKED: Final = "This question is not open any more."
NOTHING_OTHERWISE: Final = "The camera does not know of anything that lies otherwise than the record says."
NO_RECORD: Final = "No game is open here whose record could be used."
NO_PHOTO_BEFORE: Final = "First send the photo from before."
NO_PHOTO_AFTER: Final = "First send the photo from afterwards."

NOT_TAUGHT_ALONE: Final = (
    "Pieces that stand close together cannot be counted yet: teach a position in which one of each colour stands alone."
)
