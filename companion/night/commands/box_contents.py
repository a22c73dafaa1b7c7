"""What an owner entered of the real boxes: TOML files in the data folder that take the place of our stand-ins.

The rulebooks of Iglu Iglu and Ice Team show some of their pieces in pictures only. Whoever owns a box enters once what
is in it; it is checked as the rules check it, kept beside the journal in the form of the rules' own data files, and
goes into the set-up of every match that is opened from then on (so a replay does not depend on this file).
"""

from __future__ import annotations

import json
import logging
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from companion.night.log.data_folder import write_small
from companion.rules.core import JSON, SetupError

log = logging.getLogger(__name__)

MOST_BYTES = 64 * 1024


class Boxes:
    """The owner's boxes of one data folder (None: only the stand-ins, nothing can be kept)."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def setup(self, game_id: str) -> dict[str, JSON]:
        """Return what a match's set-up takes from the owner's box: ``tiles``, ``box``, or nothing."""
        own = self._own(game_id)
        if own is None:
            return {}
        return {"tiles": own["tiles"]} if game_id == "iglu-iglu" else {"box": own}

    def form(self, game_id: str) -> dict[str, JSON]:
        """Return ``{"game", "own", "real", "data", "faces", "dice"}``: what is played with, and what may be chosen.

        ``own`` says that an owner entered it, ``real`` that it is from a box and no stand-in of ours.

        :raises KeyError: for a game whose box needs no entering.
        """
        box = _BOXES[game_id]
        own = self._own(game_id)
        data = own if own is not None else box.default()
        real = data["real" if game_id == "iglu-iglu" else "real_box"]
        return {"game": game_id, "own": own is not None, "real": real, "data": data, **box.choices()}

    def keep(self, game_id: str, data: Mapping[str, Any]) -> None:
        """Keep what an owner entered.

        :raises KeyError: for a game whose box needs no entering.
        :raises SetupError: in one sentence, when it cannot be a box of the game.
        :raises OSError: when it cannot be written.
        """
        text = _BOXES[game_id].toml(_BOXES[game_id].checked(data))
        if self._folder is None:
            raise OSError("There is no data folder.")
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_small(self._path(game_id), text)

    def forget(self, game_id: str) -> None:
        """Play with our stand-in again.

        :raises KeyError: for a game whose box needs no entering.
        """
        if game_id not in _BOXES:
            raise KeyError(game_id)
        if self._folder is not None:
            self._path(game_id).unlink(missing_ok=True)

    def _path(self, game_id: str) -> Path:
        return Path(self._folder or "") / f"{game_id}.toml"

    def _own(self, game_id: str) -> dict[str, Any] | None:
        if self._folder is None or game_id not in _BOXES or not self._path(game_id).exists():
            return None
        path = self._path(game_id)
        try:
            if path.stat().st_size > MOST_BYTES:
                raise ValueError("too large")
            return _BOXES[game_id].checked(tomllib.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, RecursionError) as error:  # also SetupError, TOMLDecodeError, UnicodeDecodeError
            log.error("The box of %s could not be read, so the stand-in is played: %s", game_id, error)
            return None


class _Box:
    """How one game's box is checked and written."""

    def __init__(
        self,
        default: Callable[[], dict[str, Any]],
        checked: Callable[[Mapping[str, Any]], dict[str, Any]],
        toml: Callable[[Mapping[str, Any]], str],
        choices: Callable[[], dict[str, JSON]],
    ) -> None:
        self.default, self.checked, self.toml, self.choices = default, checked, toml, choices


def _known(data: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    if not isinstance(data, Mapping) or set(data) - set(keys):
        there = ", ".join(keys)
        raise SetupError("A box has {there} and nothing else.", "Une boîte a {there} et rien d’autre.", there=there)


# --- Iglu Iglu ---------------------------------------------------------------------------------------------------


def _iglu_default() -> dict[str, Any]:
    from companion.rules.iglu_iglu.components import default_mix  # noqa: PLC0415 - a game is imported when it is played

    mix = default_mix()
    return {"real": mix.real, "tiles": mix.to_json()}


def _iglu_checked(data: Mapping[str, Any]) -> dict[str, Any]:
    from companion.rules.iglu_iglu.components import mix  # noqa: PLC0415

    _known(data, ("real", "tiles"))
    tiles = data.get("tiles")
    if not isinstance(tiles, Mapping):
        raise SetupError("Say how many tiles of each face there are.", "Dites combien il y a de tuiles de chaque face.")
    return {"real": True, "tiles": mix(tiles).to_json()}


def _iglu_toml(data: Mapping[str, Any]) -> str:
    rows = [f"{_text(face)} = {count}" for face, count in data["tiles"].items()]
    return "\n".join(["# The floe tiles of this house's box of Iglu Iglu.", "real = true", "", "[tiles]", *rows, ""])


def _iglu_choices() -> dict[str, JSON]:
    from companion.rules.iglu_iglu.components import FACES, MOST_ENDURANCE, TILES  # noqa: PLC0415

    return {"faces": [*FACES, *(f"endurance {n}" for n in range(1, MOST_ENDURANCE + 1))], "total": TILES}


# --- Ice Team ----------------------------------------------------------------------------------------------------


def _ice_default() -> dict[str, Any]:
    from companion.rules.ice_team.components import default_box  # noqa: PLC0415

    return default_box().to_json()


def _ice_checked(data: Mapping[str, Any]) -> dict[str, Any]:
    from companion.rules.ice_team.components import read_box  # noqa: PLC0415

    _known(data, ("real_box", "tiles", "dice", "fish_tokens", "boards", "layouts"))
    box = read_box({**data, "real_box": True})
    for name in box.layouts:
        box.layout(name)
    return box.to_json()


def _ice_toml(data: Mapping[str, Any]) -> str:
    lines = [
        "# This house's box of Ice Team.",
        "real_box = true",
        f"tiles = {_value(data['tiles'])}",
        f"dice = {_value(data['dice'])}",
        f"fish_tokens = {_value(data['fish_tokens'])}",
    ]
    for part in ("boards", "layouts"):
        for name, one in data[part].items():
            lines += ["", f"[{part}.{_text(name)}]", *(f"{_text(key)} = {_value(value)}" for key, value in one.items())]
    return "\n".join([*lines, ""])


def _ice_choices() -> dict[str, JSON]:
    from companion.rules.ice_team.components import DIE_FACES, FACES  # noqa: PLC0415

    return {"faces": list(FACES), "dice": list(DIE_FACES)}


_BOXES: Mapping[str, _Box] = {
    "iglu-iglu": _Box(_iglu_default, _iglu_checked, _iglu_toml, _iglu_choices),
    "ice-team": _Box(_ice_default, _ice_checked, _ice_toml, _ice_choices),
}


# --- TOML --------------------------------------------------------------------------------------------------------


def _text(value: str) -> str:
    """Return a basic string of TOML: its escapes are those of JSON, and characters outside ASCII may stand."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_text(key)} = {_value(one)}' for key, one in value.items())} }}"
    raise SetupError("A box is made of texts and numbers.", "Une boîte est faite de textes et de nombres.")
