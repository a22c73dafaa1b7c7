"""What was taught of a table, on disk: straightened pictures with labels, the board's look, the learnt network.

A folder with ``profile.json`` and arrays as ``.npz`` (never pickled). A file is written whole under a name of its own
before ``profile.json`` names it, so a power cut leaves the profile as it was before.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from companion.ports import BadDataError
from vision.board.features import length
from vision.board.labels import Content, LabelError, from_json
from vision.board.layout import Layout
from vision.decode.photo import read_whole
from vision.learn.classifier import Network, network_of
from vision.learn.count_marks import may_be_marked
from vision.whole_file import WriteError, write_whole

if TYPE_CHECKING:
    from companion.ports import ByteArray, FloatArray

VERSION: Final = 3
MOST_PLACES: Final = 2600
"""Taught places that are kept; the oldest photos go first, the first of all (the set-up) last."""
_LARGEST = 64 * 1024 * 1024


class ProfileError(BadDataError):
    """A profile is missing, damaged, or of another layout; the message is one sentence."""


@dataclass(frozen=True)
class TaughtPhoto:
    """A taught photo: the straightened board (BGR), what lies where by place number; ``name`` is its file's.

    ``close`` are close-ups of the places with small print (see :func:`printed_places`). ``camera``: where it was taken
    from, as :attr:`vision.board.pose.Pose.camera` says it; None where that is not known.
    """

    name: str
    straight: ByteArray
    contents: Mapping[int, Content]
    close: Mapping[int, ByteArray] = field(default_factory=dict, repr=False)
    camera: tuple[float, float, float] | None = None


@dataclass(frozen=True)
class Profile:
    """A taught table. ``size`` (width, height), ``corners`` (4, 2) and ``bend`` are of the calibration.

    ``score`` says how clear the grid's lines were. ``markers`` (4, 4, 2) are the markers' corners in board units, where
    they lay beside the board. ``unlearnt``: the names of shots that the network has not learnt from yet.
    """

    layout: Layout
    size: tuple[int, int] = (0, 0)
    corners: FloatArray | None = None
    bend: float = 0.0
    error_px: float = 0.0
    score: float = 0.0
    markers: FloatArray | None = None
    look: ByteArray | None = None
    shots: tuple[TaughtPhoto, ...] = ()
    network: Network | None = field(default=None, repr=False)
    unlearnt: frozenset[str] = frozenset()

    def taught(
        self,
        straight: ByteArray,
        contents: Mapping[int, Content],
        close: Mapping[int, ByteArray] | None = None,
        camera: tuple[float, float, float] | None = None,
    ) -> Profile:
        """Return the profile with one more taught photo, not yet learnt from.

        Without close-ups of its printed places values are read less well, without its ``camera`` what is tall.
        """
        name = hashlib.sha256(straight.tobytes()).hexdigest()[:12]
        shots = [shot for shot in self.shots if shot.name != name]
        while len(shots) > 1 and sum(len(shot.contents) for shot in shots) + len(contents) > MOST_PLACES:
            del shots[1]
        shots.append(TaughtPhoto(name, straight, dict(contents), dict(close or {}), camera))
        return replace(self, shots=tuple(shots), unlearnt=self.unlearnt | {name})

    def learnt(self, network: Network | None, shots: Iterable[TaughtPhoto]) -> Profile:
        """Return the profile with a network that was learnt from ``shots``."""
        return replace(self, network=network, unlearnt=self.unlearnt - {shot.name for shot in shots})


def printed_places(layout: Layout, contents: Mapping[int, Content]) -> list[int]:
    """Return the places whose close-ups are taught, too: with things that have values, or all of a small board."""
    if may_be_marked(layout):
        return sorted(contents)
    valued = {thing for kind in layout.valued for thing in kind}
    return [n for n, content in sorted(contents.items()) if any(thing in valued for thing, _ in content.things)]


def fingerprint(layout: Layout) -> str:
    """Return what two layouts must share for a profile to fit both."""
    said = [layout.columns, layout.rows, [p.name for p in layout.places], list(layout.grounds)]
    said.append([[str(t), most] for t, most in zip(layout.things, layout.most, strict=True)])
    if not layout.is_grid:
        said.append([layout.width, layout.height, [[p.x, p.y, p.width, p.height] for p in layout.places]])
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]


def load_profile(folder: Path, layout: Layout) -> Profile:
    """Read a profile.

    :raises ProfileError: there is none, it is damaged, or it is of another layout.
    """
    path = folder / "profile.json"
    try:
        data = json.loads(_read(path))
    except FileNotFoundError:
        raise ProfileError(f"{folder} holds no profile. Calibrate first: companion vision calibrate.") from None
    except (OSError, ValueError, RecursionError) as error:
        raise ProfileError(f"{path} cannot be read.") from error
    try:
        return _from_json(folder, data, layout)
    except ProfileError:
        raise
    except (OSError, ValueError, KeyError, TypeError, IndexError, zipfile.BadZipFile, LabelError, cv2.error) as error:
        raise ProfileError(f"{folder}: the profile is damaged.") from error


def _from_json(folder: Path, data: Any, layout: Layout) -> Profile:
    if data["version"] != VERSION:
        raise ProfileError(f"{folder}: the profile is of another version of the companion.")
    if data["layout"] != fingerprint(layout):
        raise ProfileError(f"{folder}: the profile was taught with another layout.")
    shots = []
    for entry in data["shots"]:
        contents = from_json(entry["places"], layout)
        straight = _picture(folder / _plain(entry["picture"]))
        known = {layout.index[name]: content for name, content in contents.items()}
        close = {}
        if entry.get("close"):
            strip = _picture(folder / _plain(entry["close"]))
            printed = printed_places(layout, known)
            if strip.shape[0] != len(printed) * strip.shape[1]:
                raise ValueError(entry["close"])
            close = dict(zip(printed, np.split(strip, len(printed)), strict=True))
        camera = None
        if entry.get("camera"):
            x, y, z = (float(v) for v in entry["camera"])
            camera = x, y, z
        shots.append(TaughtPhoto(str(entry["name"]), straight, known, close, camera))
    network = None
    if data.get("network"):
        with np.load(io.BytesIO(_read(folder / _plain(data["network"]))), allow_pickle=False) as stored:
            network = network_of(stored, layout)
        if network.arrays["mean"].shape != (length(),) or network.arrays["b2"].shape[-1] != sum(network.heads):
            raise ProfileError(f"{folder}: the profile is of another version of the companion. Teach it anew.")
    corners = np.asarray(data["corners"], np.float64).reshape(4, 2) if data.get("corners") else None
    markers = np.asarray(data["markers"], np.float64).reshape(4, 4, 2) if data.get("markers") else None
    look = _picture(folder / _plain(data["look"])) if data.get("look") else None
    width, height = (int(v) for v in data["size"])
    return Profile(
        layout,
        (width, height),
        corners,
        float(data["bend"]),
        float(data["error_px"]),
        float(data["score"]),
        markers,
        look,
        tuple(shots),
        network,
        frozenset(map(str, data.get("unlearnt", ()))),
    )


def _plain(name: Any) -> str:
    if not isinstance(name, str) or "/" in name or "\\" in name or name.startswith("."):
        raise ValueError(name)
    return name


def _read(path: Path) -> bytes:
    if path.stat().st_size > _LARGEST:
        raise ValueError(path)
    return path.read_bytes()


def _picture(path: Path) -> ByteArray:
    # A profile may come from another house, in a backup: its pictures are read as a stranger's are.
    return read_whole(_read(path))


def save_profile(folder: Path, profile: Profile) -> None:
    """Write a profile; files that it no longer names are removed.

    :raises WriteError: it cannot be written; what was there still is.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteError(f"{folder} cannot be written: {error.strerror}.") from error
    kept = {"profile.json"}

    def keep(name: str, data: bytes) -> str:
        kept.add(name)
        if not (folder / name).exists():
            write_whole(folder / name, data)
        return name

    shots = []
    for shot in profile.shots:
        places = {profile.layout.places[n].name: c.to_json(profile.layout) for n, c in sorted(shot.contents.items())}
        said_shot = {"name": shot.name, "picture": keep(f"shot-{shot.name}.png", _png(shot.straight)), "places": places}
        if shot.camera is not None:
            said_shot["camera"] = np.round(shot.camera, 4).tolist()
        printed = printed_places(profile.layout, shot.contents)
        if printed and all(number in shot.close for number in printed):
            strip = _png(np.concatenate([shot.close[number] for number in printed]))
            said_shot["close"] = keep(f"close-{hashlib.sha256(strip).hexdigest()[:12]}.png", strip)
        shots.append(said_shot)
    network = None
    if profile.network is not None:
        buffer = io.BytesIO()
        np.savez(buffer, **profile.network.arrays)  # type: ignore[arg-type]
        network = keep(f"network-{hashlib.sha256(buffer.getvalue()).hexdigest()[:12]}.npz", buffer.getvalue())
    look = None
    if profile.look is not None:
        data = _png(profile.look)
        look = keep(f"look-{hashlib.sha256(data).hexdigest()[:12]}.png", data)
    said = {
        "version": VERSION,
        "game": profile.layout.game,
        "layout": fingerprint(profile.layout),
        "size": list(profile.size),
        "corners": None if profile.corners is None else np.round(profile.corners, 3).tolist(),
        "bend": profile.bend,
        "error_px": profile.error_px,
        "score": profile.score,
        "markers": None if profile.markers is None else np.round(profile.markers, 5).tolist(),
        "look": look,
        "shots": shots,
        "network": network,
        "unlearnt": sorted(profile.unlearnt),
    }
    write_whole(folder / "profile.json", json.dumps(said, ensure_ascii=False).encode())
    for path in folder.iterdir():
        if (
            path.name not in kept
            and path.name.partition("-")[0] in {"shot", "close", "network", "look"}
            and path.is_file()
        ):
            path.unlink(missing_ok=True)


def _png(image: ByteArray) -> bytes:
    done, data = cv2.imencode(".png", image)
    if not done:
        raise WriteError("A picture of the profile cannot be written.")
    return data.tobytes()
