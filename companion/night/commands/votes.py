"""How this house has voted where a rulebook is silent: the values of options that its next games begin with."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path

from companion.night.log.data_folder import read_small, write_small
from companion.rules import game, games
from companion.rules.core import JSON

log = logging.getLogger(__name__)

MOST_BYTES = 64 * 1024


class Votes:
    """The votes of one data folder, in one small file (None: nothing is kept)."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def of(self, game_id: str) -> dict[str, JSON]:
        """Return the options of a game on which the house has voted, with the value that won."""
        known = {option.name: option.values for option in game(game_id).options}
        return {name: value for name, value in self._read().items() if _one_of(value, known.get(name, ()))}

    def vote(self, name: str, value: JSON) -> None:
        """Keep a vote.

        :raises KeyError: when no game has such an option, or the option no such value.
        :raises OSError: when it cannot be written.
        """
        if value is None or not known_value(name, value):
            raise KeyError(name)
        if self._path is None:
            raise OSError("There is no data folder.")
        write_small(self._path, json.dumps({**self._read(), name: value}))

    def _read(self) -> dict[str, JSON]:
        if self._path is None or not self._path.exists():
            return {}
        try:
            if self._path.stat().st_size > MOST_BYTES:
                raise ValueError("too large")
            found = json.loads(read_small(self._path))
        except (OSError, ValueError, RecursionError) as error:
            log.error("The votes of the house could not be read: %s", error)
            return {}
        return dict(found) if isinstance(found, Mapping) else {}


def known_value(name: str, value: JSON) -> bool:
    """Return whether some game has such an option, and the option such a value (None: whatever value)."""
    options = (option for one in games(examples=True) for option in game(one).options)
    values = next((option.values for option in options if option.name == name), ())
    return bool(values) if value is None else _one_of(value, values)


def _one_of(value: JSON, values: tuple[JSON, ...]) -> bool:
    return any(value == one and type(value) is type(one) for one in values)
