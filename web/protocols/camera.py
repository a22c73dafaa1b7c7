"""What the page may ask of the camera at the table: the Protocol that ``companion/follow`` implements.

Pictures and what is read in them are for those who take part; how the following stands is for everybody. Errors are
:class:`companion.ports.BadDataError` with one sentence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from companion.night.answers import Actor, CommandResult


class CameraApi(Protocol):
    """Where the board lies, what was taught, the game that is followed, and disputes by photo."""

    def status(self) -> Mapping[str, Any]:
        """Return how the following stands; it goes to every page.

        ``{"following", "state", "note", "asking": id or null, "places", "everyone": whether every player may answer,
        "settle_tenths"}``.
        """
        ...

    def board(self, game_id: str) -> dict[str, Any]:
        """Return where the board lies in the frame, what was taught, and what is read there now.

        ``{"game", "board": null | {"how", "size", "corners", "error_px", "error_place" (percent), "moved", "cells":
        {place: corners}}, "taught", "lessons", "learning", "note", "grounds", "things", "followed", "record": null |
        {place: …}, "seen": null | {place: {"ground", "things", "p", "unsure"}}}``.
        """
        ...

    def look(self, game_id: str) -> dict[str, Any]:
        """Return what lies in each place of the newest picture, read now."""
        ...

    def calibrate(self, game_id: str, corners: Sequence[Sequence[float]] | None) -> None:
        """Find the board in the newest picture, by four corners (frame pixels) where they are given."""
        ...

    def teach(self, game_id: str, places: Mapping[str, Any] | None) -> None:
        """Teach the newest picture what lies in it: these places, or with None all that the record says."""
        ...

    def follow(self, on: bool) -> None:
        """Follow the game, or stop."""
        ...

    def question(self, lang: str) -> dict[str, Any] | None:
        """Return the open question with its candidates drawn.

        ``{"id", "kind": "turn" | "new" | "disagreement", "game", "places", "svg", "number", "candidates": [{"n",
        "kind", "p", "back", "moves": [{"en", "fr"}], "places", "svg"}]}``.
        """
        ...

    def answer(self, question_id: str, choice: int | None, by: Actor) -> CommandResult:
        """Answer the open question by a candidate's number, or with None: none of these."""
        ...

    def resolve(self, question_id: str, way: str) -> None:
        """Leave a disagreement: people put the ``board`` right, or the ``record`` is right and the camera learns."""
        ...

    def take_photo(self, who: str, which: str, data: bytes | None, game_id: str) -> dict[str, Any]:
        """Read a photo (None: the camera's newest picture) as somebody's ``before`` or ``after``."""
        ...

    def sheet(self, game_id: str, data: bytes | None) -> dict[str, Any] | None:
        """Read a photo (None: the camera's newest picture) for a score sheet; None where nothing was taught.

        ``{"width", "height", "places": {name: {"ground", "things", "p", "unsure"}}, "cells": {name: corners in the
        photo}, "grounds", "things", "untaught": {"grounds", "things"}, "note"}``.
        """
        ...

    def rule(self, who: str, game_id: str, *, record: bool, lang: str) -> Mapping[str, Any]:
        """Return the ruling on what lies between somebody's photos, or between the record and the second one."""
        ...

    def ruled_photo(self, who: str) -> bytes | None:
        """Return the photo with somebody's last ruling drawn over it, as JPEG."""
        ...
