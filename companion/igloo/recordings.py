"""Recordings: what an igloo felt, as ``.csv`` (t,ax,ay,az in s and g) or ``.npz`` (accel, rate_hz and labels).

A file comes from anybody, so it is read within bounds and checked: whatever is wrong with it is one sentence.
"""

from __future__ import annotations

import csv
import math
import os
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from companion.ports import BadDataError, Samples

MAX_FILE_BYTES = 256 * 1024 * 1024
"""A longer file is not read (a quarter of an hour at 3200 Hz as text is half of that)."""

MAX_ARRAY_BYTES = 1024 * 1024 * 1024
"""What a file may unpack to, all its numbers with the eight bytes that they have in memory, …"""

MAX_RATIO, SMALL_BYTES = 50, 1024 * 1024
"""… how many times its own size, and how much in any case: what an igloo felt packs to a half or a tenth."""

MAX_SHAKES = 100_000

KEYS = frozenset({"accel", "rate_hz", "ug_per_lsb", "count", "device", "person", "guided"})
"""The arrays that are read; others are left packed."""

RATES_HZ = (5.0, 20_000.0)

COLUMNS = ("t", "ax", "ay", "az")
DELIMITERS = (",", ";", "\t")

MANY_HOLES = 20_000
"""More places without samples than this are no recording."""
COARSE = 0.2
"""Times in steps of more than this part of a period are rounded ones."""
STEADY = 0.1
"""Times that stray by more than this part of a period are unsteady: only what lasts is then a gap."""
BRIDGED, BRIDGED_PART = 2, 0.03
"""Up to so many missing in a row are put in, where they are no more than this part of all."""
FEW_GAPS, FEWEST_HEARD, RUN_S = 4, 0.5, 0.3
"""With more gaps, and less than this part of the samples in runs of so many seconds, too much is missing."""

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """What a file holds: ``shakes`` are arrays (n, 3) in g, all at ``rate_hz``.

    ``missing`` lists for each shake (sample, how many): before that sample so many are missing. The labels
    ``count``, ``device``, ``person`` and ``guided`` are empty or have one entry a shake. ``bridged`` samples of a text
    were missing one by one and were put in; the first run says so as a gap before it.
    """

    shakes: tuple[FloatArray, ...]
    rate_hz: float
    missing: tuple[tuple[tuple[int, int], ...], ...] = ()
    count: tuple[int, ...] = ()
    device: tuple[str, ...] = ()
    person: tuple[str, ...] = ()
    guided: tuple[bool, ...] = ()
    bridged: int = 0

    def runs(self, shake: int, t0: float = 0.0) -> list[Samples]:
        """Return one shake as runs without a gap inside, its first sample at host time ``t0``."""
        accel = self.shakes[shake]
        gaps = dict(self.missing[shake]) if self.missing else {}
        edges = [0, *sorted(gaps), len(accel)]
        runs, index = [], 0
        for start, end in pairwise(edges):
            gap = gaps.get(start, 0)
            index += gap
            begin = t0 + index / self.rate_hz
            runs.append(Samples(accel[start:end], begin, self.rate_hz, index, gap or (0 if start else self.bridged)))
            index += end - start
        return runs


def read_recording(path: str | os.PathLike[str]) -> Recording:
    """Return what a recording holds.

    :raises BadDataError: when it is no recording, in one sentence.
    :raises OSError: when the file cannot be read at all.
    """
    file = Path(path)
    name = file.name
    size = file.stat().st_size
    if size > MAX_FILE_BYTES:
        raise BadDataError(f"{name} is larger than {MAX_FILE_BYTES // 2**20} MB.")
    if file.suffix.lower() == ".npz":
        return _read_npz(file)
    if file.suffix.lower() == ".csv":
        return _read_csv(file)
    raise BadDataError(f"{name} is neither .csv nor .npz.")


# --- text ----------------------------------------------------------------------------------------------------------


def _read_csv(file: Path) -> Recording:
    name = file.name
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            first_line = lines.readline(4096)
            between = max(DELIMITERS, key=first_line.count)
            head = [cell.strip().lower() for cell in next(csv.reader([first_line], delimiter=between), [])]
            absent = [column for column in COLUMNS if column not in head]
            if absent:
                raise BadDataError(f"{name} has no column {' or '.join(absent)}; its first line names them.")
            # where columns are parted by semicolons, a comma is a decimal one
            body = (line.replace(",", ".") if between == ";" else line for line in lines if line.strip())
            first = next(body, None)
            if first is None:
                raise BadDataError(f"{name} has no samples.")
            table = np.loadtxt(
                chain([first], body),
                delimiter=between,
                quotechar='"',
                usecols=[head.index(column) for column in COLUMNS],
                ndmin=2,
                dtype=np.float64,
                comments=None,
            )
    except BadDataError:
        raise
    except UnicodeDecodeError:
        raise BadDataError(f"{name} is not text.") from None
    except (ValueError, IndexError, csv.Error, OverflowError) as error:
        raise BadDataError(f"{name} has a line that is not numbers: {_first_sentence(error)}.") from None
    if len(table) < 2:
        raise BadDataError(f"{name} has fewer than two samples.")
    t, accel = table[:, 0], np.ascontiguousarray(table[:, 1:])
    _check_accel(accel, name, first_row=2)
    if not np.isfinite(t).all():
        raise BadDataError(
            f"{name} has a time that is not a number in row {int(np.flatnonzero(~np.isfinite(t))[0]) + 2}."
        )
    rate, missing = _rate_and_gaps(t, name)
    accel, left, bridged = _bridged(accel, missing)
    runs = np.diff([0, *(at for at, _ in left), len(accel)])
    if len(left) > FEW_GAPS and runs[runs >= RUN_S * rate].sum() < FEWEST_HEARD * len(accel):
        raise BadDataError(f"{name} has too many gaps: samples are missing in {len(left)} places.")
    return Recording((accel,), rate, (left,), bridged=bridged)


def _bridged(
    accel: FloatArray, missing: tuple[tuple[int, int], ...]
) -> tuple[FloatArray, tuple[tuple[int, int], ...], int]:
    """Put in single missing samples, on a straight line, where they are few; return the gaps left and how many."""
    small = [(at, n) for at, n in missing if n <= BRIDGED]
    many = sum(n for _, n in small)
    if not many or many > BRIDGED_PART * len(accel):
        return accel, missing, 0
    more = np.zeros(len(accel), dtype=np.int64)
    for at, n in small:
        more[at] = n
    index = np.arange(len(accel)) + np.cumsum(more)
    every = np.arange(int(index[-1]) + 1)
    whole = np.stack([np.interp(every, index, accel[:, axis]) for axis in range(3)], axis=1)
    return whole, tuple((int(index[at]), n) for at, n in missing if n > BRIDGED), many


def _first_sentence(error: Exception) -> str:
    return " ".join(str(error).split(";")[0].split(". ")[0].split())[:120].rstrip(".")


def _rate_and_gaps(t: FloatArray, name: str) -> tuple[float, tuple[tuple[int, int], ...]]:
    """Return the rate, and where samples are missing; times may be rounded to coarser steps than the samples."""
    step = np.diff(t)
    if (step < 0).any():
        raise BadDataError(f"{name} has a time that goes back in row {int(np.flatnonzero(step < 0)[0]) + 3}.")
    coarse = _resolution(step) > COARSE * float(np.median(step))
    steady = float(np.median(np.abs(step - np.median(step)))) < STEADY * float(np.median(step))
    period = float(np.median(step)) if steady and not coarse else _mean_period(step)
    low, high = 1.0 / RATES_HZ[1], 1.0 / RATES_HZ[0]
    if not low <= period <= high:
        raise BadDataError(
            f"{name} has times that give no sample rate from {RATES_HZ[0]:g} to {RATES_HZ[1]:g} Hz; t is in seconds."
        )
    holes = np.flatnonzero(step > 1.5 * period + (_resolution(step) if coarse else 0.0))
    if not steady and not coarse and len(holes) <= MANY_HOLES:
        holes = _lasting(t, holes, period)
    if len(holes) > min(len(step) // 4, MANY_HOLES):
        raise BadDataError(f"{name} has no steady sample rate.")
    period = float(np.delete(step, holes).mean())
    missing = np.maximum(1, np.rint(step[holes] / period).astype(np.int64) - 1)
    more = np.zeros(len(t))
    more[holes + 1] = missing
    index = np.arange(len(t)) + np.cumsum(more)
    x, y = index - index.mean(), t - t.mean()
    rate = float(x @ x) / float(x @ y)
    return rate, tuple((int(hole) + 1, int(n)) for hole, n in zip(holes, missing, strict=True))


def _resolution(step: FloatArray) -> float:
    """Return the steps in which times were written, in seconds: the least difference between two of them."""
    sizes = np.unique(np.rint(step * 1e9)) * 1e-9
    return float(np.diff(sizes, prepend=0.0)[sizes > 0].min(initial=np.inf))


def _mean_period(step: FloatArray) -> float:
    """Return the time from sample to sample where single steps say little: the median over 64 of them."""
    across = min(64, len(step))
    sums = np.concatenate([[0.0], np.cumsum(step)])
    return float(np.median(sums[across:] - sums[:-across])) / across


def _lasting(t: FloatArray, holes: NDArray[np.int64], period: float) -> NDArray[np.int64]:
    """Return the holes after which samples are missing; of several near each other the widest.

    Times that stray come back to where they should be; after a gap the 64 that follow are all late.
    """
    lead = t - period * np.arange(len(t))
    kept: list[int] = []
    for hole in holes:
        after, before = lead[hole + 1 : hole + 65], lead[max(0, hole - 63) : hole + 1]
        if float(np.median(after) - np.median(before)) <= 0.75 * period:
            continue
        if kept and hole - kept[-1] <= 64:
            if t[hole + 1] - t[hole] <= t[kept[-1] + 1] - t[kept[-1]]:
                continue
            kept.pop()
        kept.append(int(hole))
    return np.asarray(kept, dtype=np.int64)


# --- arrays --------------------------------------------------------------------------------------------------------


def _read_npz(file: Path) -> Recording:
    name = file.name
    try:
        with zipfile.ZipFile(file) as packed:
            unpacked = sum(member.file_size for member in packed.infolist())
            if unpacked <= MAX_ARRAY_BYTES:
                unpacked = sum(_in_memory(packed, member) for member in packed.infolist())
        if unpacked > MAX_ARRAY_BYTES:
            raise BadDataError(f"{name} unpacks to more than {MAX_ARRAY_BYTES // 2**20} MB.")
        if unpacked > max(SMALL_BYTES, MAX_RATIO * file.stat().st_size):
            raise BadDataError(f"{name} unpacks to more than {MAX_RATIO} times its size: no recording does.")
        with np.load(file, allow_pickle=False) as arrays:
            found = {key: arrays[key] for key in arrays.files if key in KEYS}
            if not all(isinstance(value, np.ndarray) for value in found.values()):
                raise BadDataError(f"{name} has something that is no array.")  # numpy hands other members out as bytes
    except BadDataError:
        raise
    except Exception:  # a broken file breaks zip, its compressions and numpy's headers each in their own way
        raise BadDataError(f"{name} is not a whole .npz file of plain arrays.") from None
    if not {"accel", "rate_hz"} <= found.keys():
        raise BadDataError(f"{name} has no {' or '.join(sorted({'accel', 'rate_hz'} - found.keys()))}.")
    accel = _scaled(found, name)
    rate = _rate(found["rate_hz"], name)
    shakes = tuple(accel) if accel.ndim == 3 else (accel,)
    for shake in shakes:
        _check_accel(shake, name)
    return Recording(
        shakes,
        rate,
        count=_labels(found, "count", len(shakes), name, int),
        device=_labels(found, "device", len(shakes), name, str),
        person=_labels(found, "person", len(shakes), name, str),
        guided=_labels(found, "guided", len(shakes), name, bool),
    )


def _in_memory(packed: zipfile.ZipFile, member: zipfile.ZipInfo) -> int:
    """Return the bytes that a member takes in memory: numbers that are read become floats, however small they lie."""
    if member.filename.removesuffix(".npy") != "accel":
        return member.file_size
    with packed.open(member) as stream:
        try:
            version = np.lib.format.read_magic(stream)
        except ValueError:
            return member.file_size  # no array, which is said when it is read
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, _ = read(stream)
    return max(member.file_size, 8 * math.prod(shape))


def _scaled(found: dict[str, NDArray[Any]], name: str) -> FloatArray:
    accel = found["accel"]
    if accel.ndim not in (2, 3) or accel.shape[-1] != 3 or min(accel.shape) < 1 or accel.shape[-2] < 2:
        raise BadDataError(f"{name} has an accel of shape {accel.shape}; (n, 3) or (k, n, 3) is meant.")
    if accel.ndim == 3 and len(accel) > MAX_SHAKES:
        raise BadDataError(f"{name} has more than {MAX_SHAKES} shakes.")
    if accel.dtype.kind == "f":
        return accel.astype(np.float64)
    if accel.dtype.kind not in "iu":
        raise BadDataError(f"{name} has an accel that is not numbers.")
    if "ug_per_lsb" not in found:
        raise BadDataError(f"{name} has an accel of whole numbers and no ug_per_lsb that says how much one is.")
    scale = np.asarray(found["ug_per_lsb"])
    if scale.size != 1 or scale.dtype.kind not in "fiu" or not 0.0 < float(scale.reshape(())) <= 1e6:
        raise BadDataError(f"{name} has a ug_per_lsb that is no scale.")
    felt = accel.astype(np.float64)
    felt *= float(scale.reshape(())) * 1e-6
    return felt


def _rate(value: NDArray[Any], name: str) -> float:
    rate = float(value.reshape(())) if value.size == 1 and value.dtype.kind in "fiu" else float("nan")
    if not RATES_HZ[0] <= rate <= RATES_HZ[1]:
        raise BadDataError(f"{name} has a rate_hz that is not one number from {RATES_HZ[0]:g} to {RATES_HZ[1]:g}.")
    return rate


def _labels(found: dict[str, NDArray[Any]], key: str, shakes: int, name: str, kind: Any) -> tuple[Any, ...]:
    if key not in found:
        return ()
    values = np.atleast_1d(found[key])
    if values.shape != (shakes,):
        raise BadDataError(f"{name} has {shakes} shakes and a {key} of shape {values.shape}.")
    try:
        return tuple(kind(value) for value in values.tolist())
    except (ValueError, TypeError, OverflowError):
        raise BadDataError(f"{name} has a {key} that cannot be one.") from None


def _check_accel(accel: FloatArray, name: str, first_row: int | None = None) -> None:
    bad = ~np.isfinite(accel).all(axis=1)
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        where = f"sample {at}" if first_row is None else f"row {at + first_row}"
        raise BadDataError(f"{name} has an acceleration that is not a number in {where}.")


# --- writing -------------------------------------------------------------------------------------------------------


@contextmanager
def _whole(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file that is there as a whole or, when anything fails, not at all."""
    target = Path(path)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write_recording(path: str | os.PathLike[str], recording: Recording) -> None:
    """Write a recording, ``.csv`` (one shake, no labels; missing samples show in t) or ``.npz`` by its name.

    :raises BadDataError: when the recording does not fit into that kind of file.
    """
    kind = Path(path).suffix.lower()
    if kind == ".csv":
        if len(recording.shakes) != 1:
            raise BadDataError("A .csv file holds one shake; .npz holds more.")
        with _whole(path) as file:
            file.write(b"t,ax,ay,az\n")
            for run in recording.runs(0):
                t = run.t0 + np.arange(len(run.accel)) / run.rate_hz
                np.savetxt(file, np.column_stack([t, run.accel]), fmt=["%.6f", "%.5f", "%.5f", "%.5f"], delimiter=",")
        return
    if kind != ".npz":
        raise BadDataError("A recording is written as .csv or .npz.")
    if any(recording.missing):
        raise BadDataError("A .npz file cannot say where samples are missing; .csv can.")
    if len({len(shake) for shake in recording.shakes}) != 1:
        raise BadDataError("The shakes of a .npz file are equally long.")
    labels: dict[str, Any] = {
        key: np.array(value) for key in ("count", "device", "person", "guided") if (value := getattr(recording, key))
    }
    with _whole(path) as file:
        np.savez_compressed(
            file, accel=np.stack(recording.shakes).astype(np.float32), rate_hz=np.float64(recording.rate_hz), **labels
        )
