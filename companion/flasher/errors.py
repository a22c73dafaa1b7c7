"""The one error of this package."""

from __future__ import annotations


class FirmwareError(OSError):
    """The firmware cannot be built or flashed, or an image is not what it should be; the message is one sentence."""
