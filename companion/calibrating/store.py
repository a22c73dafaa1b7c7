"""The igloos' own calibrations in the data folder, and which of them count now: by igloo, and by whose hand.

There is one for each igloo (:mod:`companion.igloo.calibration.store`), named by its key; all simulated igloos are one,
for a pseudo-terminal has no name that stays. What the table chose lies beside them in ``chosen.json``.
"""

from __future__ import annotations

import json
import logging
import tempfile
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from companion.calibrating.messages import NOT_CALIBRATED, NOTHING_TO_UNDO
from companion.night.log.data_folder import write_small
from companion.ports import BadDataError, DeviceKind

if TYPE_CHECKING:
    from companion.igloo.calibration.store import Calibration
    from companion.igloo.count.counter import CalibratedModel

CHOSEN = "chosen.json"
MOST_BYTES = 64 * 1024
log = logging.getLogger(__name__)


def device_name(key: str, kind: DeviceKind) -> str:
    """Return the name under which an igloo is calibrated: its key, but one name for everything simulated."""
    return key if kind is DeviceKind.REAL else str(kind) if kind is DeviceKind.SIMULATED else f"{kind}-{key}"


@dataclass(frozen=True, slots=True)
class Choice:
    """Whether an igloo's calibration counts, and whose hand is taken to shake it ("" is nobody it knows)."""

    use: bool = True
    person: str = ""


class Calibrations:
    """The calibrations of one data folder. Every method may be called from any thread."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.RLock()
        self._loaded: dict[str, Calibration | None] = {}
        self._calibrated_models: dict[str, CalibratedModel | None] = {}
        self._choices = self._read()

    def of(self, device: str) -> Calibration | None:
        """Return the calibration of an igloo, or None."""
        with self._lock:
            if device not in self._loaded:
                from companion.igloo.calibration.store import known

                self._loaded[device] = known(self.folder, device)
            return self._loaded[device]

    def calibrated_model(self, device: str) -> CalibratedModel | None:
        """Return what makes a counter count as this igloo in the chosen hand; None where nothing is known or used.

        Asked for every run of samples: made once, until something is changed.
        """
        try:
            return self._calibrated_models[device]
        except KeyError:
            pass
        with self._lock:
            choice, made = self.choice(device), self.of(device)
            calibrated_model = made.live_model(choice.person) if made is not None and choice.use else None
            self._calibrated_models[device] = calibrated_model
            return calibrated_model

    def choice(self, device: str) -> Choice:
        """Return what was chosen for an igloo."""
        with self._lock:
            return self._choices.get(device, Choice())

    def choose(self, device: str, *, use: bool | None = None, person: str | None = None) -> None:
        """Choose whether an igloo's calibration counts, and whose hand shakes it; None leaves that as it is.

        :raises OSError: when it cannot be written.
        """
        with self._lock:
            before = self.choice(device)
            chosen = Choice(before.use if use is None else use, before.person if person is None else person)
            self._write({**self._choices, device: chosen})
            self._calibrated_models.pop(device, None)

    def changed(self, device: str) -> None:
        """Have the calibration of an igloo read anew."""
        with self._lock:
            self._loaded.pop(device, None)
            self._calibrated_models.pop(device, None)

    def undo(self, device: str) -> None:
        """Bring back the calibration that was there before the last one, or, where there was none, remove it.

        :raises BadDataError: when there is nothing to undo.
        """
        from companion.igloo.calibration.store import file_of, undo

        with self._lock:
            if not file_of(self.folder, device).exists():
                raise BadDataError(NOTHING_TO_UNDO)
            undo(self.folder, device)
            self.changed(device)

    def forget(self, device: str) -> None:
        """Remove an igloo's calibration, the one before it, and what was chosen.

        :raises BadDataError: when it has none.
        """
        from companion.igloo.calibration.store import BEFORE, file_of

        with self._lock:
            path = file_of(self.folder, device)
            if not path.exists():
                raise BadDataError(NOT_CALIBRATED)
            path.with_suffix(f"{BEFORE}.npz").unlink(missing_ok=True)
            path.unlink()
            self._write({name: choice for name, choice in self._choices.items() if name != device})
            self.changed(device)

    def rename(self, old: str, new: str) -> None:
        """Give a person another name in every calibration, "" for none; also in those before the last."""
        from companion.igloo.calibration.store import load, save

        with self._lock:
            for path in sorted(self.folder.glob("*.npz")) if self.folder.is_dir() else ():
                try:
                    made = load(path)
                except BadDataError:
                    continue
                if old not in made.who:
                    continue
                hands = sorted({new if name == old else name for name in made.card.get("hands", [])})
                named = replace(
                    made,
                    who=tuple(new if name == old else name for name in made.who),
                    card={**made.card, "hands": hands},
                ).adapted()
                with tempfile.TemporaryDirectory(dir=self.folder) as beside:
                    save(named, Path(beside)).replace(path)
                self.changed(made.device)
            if any(one.person == old for one in self._choices.values()):
                self._write(
                    {
                        device: replace(one, person=new if one.person == old else one.person)
                        for device, one in self._choices.items()
                    }
                )
                self._calibrated_models.clear()

    def listed(self) -> list[dict[str, Any]]:
        """Return every calibration with its figures, whether it counts, in whose hand, and whether it can be undone."""
        from companion.igloo.calibration.store import listed

        found = []
        for one in listed(self.folder) if self.folder.is_dir() else ():
            choice = self.choice(one.device)
            found.append(
                {
                    "device": one.device,
                    "shakes": one.card.get("shakes", 0),
                    "by_count": one.card.get("by_count", {}),
                    "guided": one.card.get("guided", 0),
                    "people": [name for name in one.card.get("hands", []) if name],
                    "figures": figures_form(one.card),
                    "undoable": one.undoable,
                    "use": choice.use,
                    "person": choice.person,
                }
            )
        return found

    def _read(self) -> dict[str, Choice]:
        path = self.folder / CHOSEN
        try:
            if not path.exists():
                return {}
            if path.stat().st_size > MOST_BYTES:
                raise ValueError("too large")
            data = json.loads(path.read_text(encoding="utf-8"))
            return {str(name): Choice(bool(one["use"]), str(one["person"])) for name, one in data.items()}
        except (OSError, ValueError, RecursionError, TypeError, KeyError, AttributeError) as error:
            log.error("What was chosen of the calibrations could not be read: %s", error)
            return {}

    def _write(self, choices: dict[str, Choice]) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_json(
            self.folder / CHOSEN, {name: {"use": one.use, "person": one.person} for name, one in choices.items()}
        )
        self._choices = choices


def figures_form(card: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the figures of a data card for a page: ``before``, ``now``, ``new_hand``, each exact, within_one, mae."""
    if not card or "figures" not in card:
        return None
    names = {"before": "before", "left out": "now", "new hand": "new_hand"}
    return {
        names[name]: {key: one[key] for key in ("exact", "within_one", "mae", "exact_interval", "shakes")}
        for name, one in card["figures"].items()
        if name in names
    }


def write_json(path: Path, data: object) -> None:
    """Write a small file whole or not at all, so that it survives a power cut."""
    write_small(path, json.dumps(data, ensure_ascii=False))
