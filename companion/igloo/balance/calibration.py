"""A balance's calibration: made of labelled weighings, kept as a small file, and checked as the builder would.

What is kept is what was measured, not what was reckoned of it: a later version reckons anew.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from companion.igloo.balance.loads import MUCH_LEFT, STEADY, TARE, Load, loads
from companion.igloo.balance.messages import COINS, RUBS, SLIPS, SOFT, TABLE
from companion.igloo.balance.scale import BalanceScale, KnownMass, WeighedCount, known_mass
from companion.ports import COUNTS, BadDataError

if TYPE_CHECKING:
    from companion.igloo.recordings import Recording

GRAMS: Final = "grams"
BEADS: Final = "beads"
SHELL: Final = "shell"
UNKNOWN: Final = "unknown"
WHAT: Final = (TARE, GRAMS, BEADS, SHELL, UNKNOWN)
FILE: Final = "balance.json"
MAX_BYTES: Final = 1_000_000
FORM: Final = 2
FAR_G: Final = 0.5
"""A known weight that is off by more than this, and by more than four standard errors, is not what its label says."""

DAMPED: Final = 0.03
"""A platform that loses more than this part of the critical damping rubs somewhere."""


class LabelledLoad(NamedTuple):
    """One weighing of a recording: what it was said to be, its value where it has one, and what was measured.

    The value of a shell, or of what is unknown, is the number of its sticker; that of the latter may be left out.
    """

    what: str
    value: float
    load: Load


def weighings(recording: Recording, name: str) -> list[LabelledLoad]:
    """Return the weighings of a recording in their order, which is time.

    :raises BadDataError: when it does not say what was weighed, in one sentence.
    """
    what, value = recording.what, recording.value or (math.nan,) * len(recording.what)
    if not what:
        raise BadDataError(f"{name} does not say what was weighed: it needs an array what ({', '.join(WHAT)}).")
    for kind, number in zip(what, value, strict=True):
        if kind not in WHAT:
            raise BadDataError(f"{name} has a what that is none of {', '.join(WHAT)}: {kind[:40]!r}.")
        if kind == GRAMS and not 0 < number <= 2000:
            raise BadDataError(f"{name} has a weight that is not from 0 to 2000 g.")
        if kind == BEADS and number not in COUNTS:
            raise BadDataError(f"{name} has an igloo whose beads are not {COUNTS[0]} to {COUNTS[-1]}.")
        if kind == SHELL and number not in COUNTS:
            raise BadDataError(f"{name} has a shell whose sticker is not {COUNTS[0]} to {COUNTS[-1]}.")
    found = loads(recording.shakes, recording.rate_hz, what)
    return [labelled(*one) for one in zip(what, value, found, strict=True)]


def labelled(what: str, value: float, load: Load) -> LabelledLoad:
    """Return a weighing with its label; an unknown igloo with a sticker has the shell of that number."""
    named = what == UNKNOWN and value in COUNTS
    return LabelledLoad(what, value, replace(load, igloo=int(value)) if named else load)


def made_of(weighed: Sequence[LabelledLoad]) -> BalanceScale:
    """Return the scale that labelled weighings make; what does not fit the others is left aside, and said.

    :raises BadDataError: when they are too few, in one sentence.
    """
    aside = [f"{one.what} {one.value:g}: {one.load.why}" for one in weighed if one.load.why and one.what != UNKNOWN]
    sound = [one for one in weighed if not one.load.why]
    weights = [known_mass(one.value, one.load) for one in sound if one.what == GRAMS]
    igloos = tuple(known_mass(one.value, one.load) for one in sound if one.what == BEADS)
    empty = tuple(one.load.empty_hz for one in sound if one.what == TARE)
    while len(weights) > 2:
        platform = np.median([one.value / one.load for one in weights])
        off = [abs(one.load * platform - one.value) / max(FAR_G, 4 * one.error * platform) for one in weights]
        worst = int(np.argmax(off))
        if off[worst] <= 1:
            break
        wrong = weights.pop(worst)
        aside.append(f"grams {wrong.value:g}: it weighed {wrong.load * platform:.2f} g.")
    damping = max((one.load.swing.damping for one in sound), default=0.0)
    shells = tuple(known_mass(one.value, one.load) for one in sound if one.what == SHELL)
    return BalanceScale(tuple(weights), igloos, empty, tuple(aside), damping, shells)


def with_shells(scale: BalanceScale, shells: Iterable[KnownMass]) -> BalanceScale:
    """Return a scale that knows these empty shells, too; one that was weighed before is weighed anew."""
    by_sticker = {one.value: one for one in (*scale.shells, *shells)}
    return replace(scale, shells=tuple(by_sticker[n] for n in sorted(by_sticker)))


def faults(weighed: Iterable[LabelledLoad], scale: BalanceScale) -> list[str]:
    """Return what is to be mended at the balance itself, a sentence each; none when it is good enough to count with."""
    swings = [one.load.swing for one in weighed if one.load.swing.frequency_hz]
    found = []
    if np.median([one.rest for one in swings]) > MUCH_LEFT / 3 or any(one.load.why for one in weighed):
        found.append(TABLE)
    if np.median([one.damping for one in swings]) > DAMPED:
        found.append(RUBS)
    tares = np.array(scale.empty_hz)
    if len(tares) > 1 and float(np.abs(np.diff(tares) / tares[:-1]).max()) > STEADY:
        found.append(SLIPS)
    if len(scale.weights) > 1:
        off = [abs(one.load * scale.platform_g - one.value) for one in scale.weights]
        if max(off) > FAR_G / 2:
            found.append(COINS)
    if any(max(same) - min(same) > FAR_G / 2 for same in _by_count(scale)):
        found.append(SOFT)
    return found


def _by_count(scale: BalanceScale) -> list[list[float]]:
    """Return the masses of the known igloos, g, those of one number of beads together."""
    counts = sorted({one.value for one in scale.igloos})
    return [[one.load * scale.platform_g for one in scale.igloos if one.value == n] for n in counts]


def card(scale: BalanceScale, weighed: Sequence[LabelledLoad]) -> dict[str, Any]:
    """Return what a calibration is worth, as JSON."""
    found = faults(weighed, scale)
    return {
        "platform_g": round(scale.platform_g, 3) if scale.in_grams else None,
        "empty_hz": round(float(np.median(scale.empty_hz)), 4),
        "weights": len(scale.weights),
        "igloos": len(scale.igloos),
        "shells": sorted({int(one.value) for one in scale.shells}),
        "good": not found,
        "faults": found,
        "left_aside": list(scale.left_aside),
    }


def answers(
    scale: BalanceScale, weighed: Sequence[LabelledLoad], *, together: bool = False
) -> list[tuple[int, WeighedCount]]:
    """Return (index, answer) for each weighing that is to be counted: the unknown ones, and those with a label.

    ``together``: they are igloos of one box, no two of the same number.
    """
    asked = [(at, one) for at, one in enumerate(weighed) if one.what in {UNKNOWN, BEADS}]
    told = (scale.together if together else scale.answers)([one.load for _, one in asked])
    return [(at, answer) for (at, _), answer in zip(asked, told, strict=True)]


def save(scale: BalanceScale, folder: Path) -> Path:
    """Write a calibration whole or not at all, and return the file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / FILE
    part = path.with_name(f".{FILE}.part")
    data = {
        "form": FORM,
        "weights": scale.weights,
        "igloos": scale.igloos,
        "empty_hz": scale.empty_hz,
        "left_aside": scale.left_aside,
        "damping": scale.damping,
        "shells": scale.shells,
    }
    with part.open("w", encoding="utf-8") as file:
        json.dump(data, file, ensure_ascii=False, indent=1)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    return path


def load(folder: Path) -> BalanceScale:
    """Read a calibration.

    :raises BadDataError: when the folder holds none, in one sentence.
    """
    path = folder / FILE
    if not path.is_file():
        raise BadDataError(f"{folder} holds no calibration of a balance: make one with companion balance calibrate.")
    if path.stat().st_size > MAX_BYTES:
        raise BadDataError(f"{FILE} is too large to be a calibration of a balance.")
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["form"] != FORM:
            raise BadDataError(f"{FILE} was made by another version; calibrate again.")
        return BalanceScale(
            _known(data["weights"]),
            _known(data["igloos"]),
            tuple(float(one) for one in data["empty_hz"]),
            tuple(str(one) for one in data["left_aside"]),
            float(data["damping"]),
            # A calibration of before has none.
            _known(data.get("shells", [])),
        )
    except BadDataError:
        raise
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise BadDataError(f"{FILE} is no calibration of a balance.") from error


def _known(rows: list[list[float]]) -> tuple[KnownMass, ...]:
    found = tuple(KnownMass(*map(float, row)) for row in rows)
    if not all(math.isfinite(number) for one in found for number in one) or any(one.error <= 0 for one in found):
        raise ValueError("no finite weighings")
    return found
