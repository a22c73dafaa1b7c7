"""The sentences that vision says to people: constants, so that the page can translate them by their message id.

What varies (a path, an address, the ids of markers) stands in fields of its own beside the sentence.
"""

from __future__ import annotations

from typing import Final

from companion.ports import DeviceError

# --- the table ---
TABLE_FOUND: Final = "All four markers were found."
NO_MARKERS: Final = "No marker was found. Lay the four printed markers beside the corners of the board."
SOME_MISSING: Final = "Not all four markers were found. One may be covered, in glare, or out of the picture."
DOUBLED: Final = "One marker is there twice. Take the second copy away."
MIRRORED: Final = "The picture is mirrored. Switch mirroring off in the camera."
WRONG_ORDER: Final = "The markers lie in the wrong order. Clockwise from the far left they are 0, 1, 2, 3."
WRONG_SHAPE: Final = "The markers do not fit one flat table. Print all four at one scale and lay them flat."

# --- the board ---
BOARD_FOUND: Final = "The board was found."
NO_BOARD: Final = "The board was not found in the photo."
NO_GRID: Final = "No grid was found in the photo. Lay markers beside the board’s corners, or give the corners."
PARTLY: Final = "The board is partly out of the picture."
CORNERS_NEEDED: Final = "This layout is not a grid. Give the board’s four corners."
CORNERS_ORDER: Final = "The four corners do not go clockwise around the board from the far left."
CORNERS_OUTSIDE: Final = "The corners lie outside the photo."
NOTHING_TAUGHT: Final = "Nothing has been taught yet. Show a photo whose contents are known: companion vision teach."
NOT_LEARNT: Final = "What was taught could not be learnt. Teach it again."

# --- a photo ---
PHOTO_EMPTY: Final = "The photo is empty."
PHOTO_TOO_LARGE: Final = "The photo is larger than 32 MB."
PHOTO_TOO_MANY_PIXELS: Final = "The photo has too many pixels. Send it in a smaller size."
PHOTO_TOO_SMALL: Final = "The photo is too small to show a table."
PHOTO_WRONG_TYPE: Final = "This is not a JPEG, PNG or WebP picture."
PHOTO_HEIC: Final = "This is a HEIC or AVIF picture. Set the phone’s camera to JPEG and take it again."
PHOTO_CUT_OFF: Final = "The photo is cut off. Send it again."
PHOTO_DAMAGED: Final = "The photo is damaged and cannot be read."
SHORT_MEMORY: Final = "This machine is short of memory just now. Try again in a moment."

# --- a camera ---
SOURCE_UNKNOWN: Final = (
    "This is not a camera that can be opened. Give usb:0, /dev/video0, pi, an http:// address, a photo, "
    "a folder of pictures or a video."
)
NO_CAMERA: Final = "No camera was chosen."
PHOTO_SHOWN: Final = "A photo is shown."
CAMERA_SEARCHING: Final = "The camera is being opened."
CAMERA_RUNS: Final = "The camera sends pictures."
CAMERA_CLOSED: Final = "The camera was closed."
CAMERA_NOT_FOUND: Final = "No such camera is connected."
CAMERA_BUSY: Final = "The camera cannot be opened. Another program may be using it."
CAMERA_LOST: Final = "The camera was lost and is being looked for."
CAMERA_SILENT: Final = "The camera has sent no picture for some seconds."
CAMERA_FROZEN: Final = "The picture has not changed at all for some seconds. The camera may be frozen."
CAMERA_BLACK: Final = "The picture is black. Check the lens cap and the light."
CAMERA_ENDED: Final = "The recording has ended. Its last picture stays."
PI_PROGRAM_MISSING: Final = "The program rpicam-vid is not installed. The Pi camera needs the package rpicam-apps."
PI_STOPPED: Final = "The Pi camera’s program has stopped."
HTTP_NO_ANSWER: Final = "The camera’s address does not answer."
HTTP_PASSWORD: Final = "The camera’s address asks for a name and a password."  # noqa: S105 (a sentence, not a password)
HTTP_NO_STREAM: Final = "The address answers, but not with a stream of MJPEG pictures."
FILE_UNREADABLE: Final = "The file cannot be read."
FOLDER_EMPTY: Final = "The folder holds no JPEG, PNG or WebP picture."
VIDEO_UNREADABLE: Final = "The video cannot be read."
VIDEO_TOO_MUCH: Final = "The video takes too much memory or time. Make its pictures smaller."


class CameraError(DeviceError):
    """A camera is missing, was lost, or does not send pictures.

    ``note`` is the constant sentence, ``detail`` the fact beside it in whatever words the system gave (may be empty).
    """

    def __init__(self, note: str, detail: str = "") -> None:
        """Hold the sentence and the fact; ``str()`` joins both on one line."""
        self.note = note
        self.detail = " ".join(detail.split())[:200]
        super().__init__(f"{note} ({self.detail})" if self.detail else note)
