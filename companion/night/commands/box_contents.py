"""What an owner entered of the real boxes: TOML files in the data folder that take the place of our stand-ins.

A rulebook may show some of its pieces in pictures only. Whoever owns the box enters once what is in it; it is checked
as the rules check it, kept beside the journal in the form of the rules' own data files, and goes into the set-up of
every match that is opened from then on (so a replay does not depend on this file).
"""

from __future__ import annotations

import logging
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from companion.night.games import game_view
from companion.night.games.capabilities import BoxContents
from companion.night.log.data_folder import read_small, real_folder, write_small
from companion.rules.core import JSON

log = logging.getLogger(__name__)

MOST_BYTES = 64 * 1024


class Boxes:
    """The owner's boxes of one data folder (None: only the stand-ins, nothing can be kept)."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def setup(self, game_id: str) -> dict[str, JSON]:
        """Return what a match's set-up takes from the owner's box: ``tiles``, ``box``, or nothing."""
        own = self._own(game_id)
        return {} if own is None else _box(game_id).setup(own)

    def in_position(self, game_id: str) -> dict[str, JSON]:
        """Return what a position says as ``box`` of the owner's box, or nothing."""
        own = self._own(game_id)
        return {} if own is None else _box(game_id).in_position(own)

    def form(self, game_id: str) -> dict[str, JSON]:
        """Return ``{"game", "own", "real", "data", "faces", "dice"}``: what is played with, and what may be chosen.

        ``own`` says that an owner entered it, ``real`` that it is from a box and no stand-in of ours.

        :raises KeyError: for a game whose box needs no entering.
        """
        box = _box(game_id)
        own = self._own(game_id)
        data = own if own is not None else box.default()
        return {"game": game_id, "own": own is not None, "real": box.real(data), "data": data, **box.choices()}

    def keep(self, game_id: str, data: Mapping[str, Any]) -> None:
        """Keep what an owner entered.

        :raises KeyError: for a game whose box needs no entering.
        :raises SetupError: in one sentence, when it cannot be a box of the game.
        :raises OSError: when it cannot be written.
        """
        box = _box(game_id)
        text = box.toml(box.checked(data))
        if self._folder is None:
            raise OSError("There is no data folder.")
        real_folder(self._folder, make=True)
        write_small(self._path(game_id), text)

    def forget(self, game_id: str) -> None:
        """Play with our stand-in again.

        :raises KeyError: for a game whose box needs no entering.
        """
        _box(game_id)
        if self._folder is not None:
            self._path(game_id).unlink(missing_ok=True)

    def _path(self, game_id: str) -> Path:
        return Path(self._folder or "") / f"{game_id}.toml"

    def _own(self, game_id: str) -> dict[str, Any] | None:
        box = game_view(game_id).box
        if self._folder is None or box is None or not self._path(game_id).exists():
            return None
        path = self._path(game_id)
        try:
            if path.stat().st_size > MOST_BYTES:
                raise ValueError("too large")
            return box.checked(tomllib.loads(read_small(path)))
        except (OSError, ValueError, RecursionError) as error:  # also SetupError, TOMLDecodeError, UnicodeDecodeError
            log.error("The box of %s could not be read, so the stand-in is played: %s", game_id, error)
            return None


def _box(game_id: str) -> BoxContents:
    """Return what may be entered of a game's box.

    :raises KeyError: for a game whose box needs no entering.
    """
    box = game_view(game_id).box
    if box is None:
        raise KeyError(game_id)
    return box
