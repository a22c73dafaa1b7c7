"""How high above the board the things stand that are read: what is tall is seen beside its place, the farther out more.

The camera's place is known from the board's perspective (:attr:`vision.board.pose.Pose.camera`). So for each height it
is known where a thing of it is seen; and at the right height equal things look alike, wherever on the board they stand.
That height is looked for on taught places. Where none is plainly better than the board itself, it is none.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from vision.board.patches import CONTEXT, PATCH
from vision.board.pose import lifting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from companion.ports import ByteArray, FloatArray
    from vision.board.patches import Sampler
    from vision.read.profile import TaughtPhoto

    Camera = tuple[float, float, float]
    Place = tuple[ByteArray, Camera, int]

_STEPS: Final = 12
_FINER: Final = 9
"""Heights that are tried: up to the highest, then about the best of them."""
_HIGHEST: Final = 0.25
"""Of the camera's height; what comes nearer to it than that is no piece."""
_SIDE: Final = 20
"""Pixels across a place, by which places are compared."""
_MOST: Final = 12
"""Places of each content that are compared."""
_FEWEST: Final = 4
_PLAINLY: Final = 3.0
"""So many standard errors equal things must look more alike at a height than on the board."""


def find_height(sampler: Sampler, shots: Sequence[TaughtPhoto]) -> float:
    """Return the height, in board units, at which equal things in different places look most alike; 0: on the board."""
    groups = _groups(sampler, shots)
    if len(groups) < _FEWEST:
        return 0.0
    step = _HIGHEST / _STEPS * min(camera[2] for group in groups for _, camera, _ in group)
    told = {height: _told(sampler, groups, height) for height in (step * np.arange(_STEPS + 1)).tolist()}
    best = max(told, key=lambda height: float(told[height].mean()))
    gains = told[best] - told[0.0]
    if not best or gains.mean() <= _PLAINLY * gains.std() / np.sqrt(len(gains)):
        return 0.0
    finer = np.linspace(best - step, best + step, _FINER).tolist()
    return float(max(finer, key=lambda height: float(_told(sampler, groups, height).mean())))


def raised(sampler: Sampler, shots: Sequence[TaughtPhoto], height: float) -> list[TaughtPhoto]:
    """Return the shots as they are seen at a height: what stands so high lies on its place."""
    return [_raised(sampler, shot, shot.camera, height) if height and shot.camera else shot for shot in shots]


def _raised(sampler: Sampler, shot: TaughtPhoto, camera: Camera, height: float) -> TaughtPhoto:
    left, far = sampler.box[:2]
    to_pixels = np.array([[sampler.side, 0, -left * sampler.side - 0.5], [0, sampler.side, -far * sampler.side - 0.5]])
    to_pixels = np.vstack([to_pixels, [0, 0, 1]])
    matrix = (to_pixels @ lifting(camera, height) @ np.linalg.inv(to_pixels))[:2]
    size = (shot.straight.shape[1], shot.straight.shape[0])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    seen: Any = cv2.warpAffine(shot.straight, matrix, size, flags=flags, borderMode=cv2.BORDER_REPLICATE)
    straight = seen.astype(np.uint8, copy=False)
    return replace(shot, straight=straight, close={number: sampler.close_up(straight, number) for number in shot.close})


def _groups(sampler: Sampler, shots: Sequence[TaughtPhoto]) -> list[list[Place]]:
    """Return places of equal contents: those with things, of a layout that has some; what lies at one spot counts once.

    What stands where it stood in another shot looks the same at any height.
    """
    groups: dict[object, dict[int, Place]] = {}
    for shot in shots:
        if shot.camera is None:
            continue
        for number, content in shot.contents.items():
            if number not in sampler.strips and (content.things or not sampler.layout.things):
                groups.setdefault(content, {}).setdefault(number, (shot.straight, shot.camera, number))
    return [list(group.values())[:_MOST] for group in groups.values() if len(group) > 1]


def _told(sampler: Sampler, groups: Sequence[Sequence[Place]], height: float) -> FloatArray:
    """Return (groups,): how much more alike equal things look at a height than unequal ones, however turned."""
    seen = np.stack([_seen(sampler, place, height) for group in groups for place in group])
    group = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    flat = seen.reshape(len(seen), -1)
    turned = [np.rot90(seen, way, axes=(1, 2)).reshape(len(seen), -1) for way in range(4)]
    alike = np.max([flat @ one.T for one in turned], axis=0)
    same = group[:, None] == group[None]
    equal = same & ~np.eye(len(seen), dtype=np.bool_)
    by_place = (alike * equal).sum(axis=1) / equal.sum(axis=1) - (alike * ~same).sum(axis=1) / (~same).sum(axis=1)
    told: FloatArray = np.bincount(group, by_place) / np.bincount(group)
    return told


def _seen(sampler: Sampler, seen: Place, height: float) -> FloatArray:
    """Return a place at a height as (side, side, 3) numbers of mean 0 and length 1."""
    straight, camera, number = seen
    place, lifted = sampler.layout.places[number], lifting(camera, height)
    off = (lifted @ [place.x, place.y, 1])[:2] - [place.x, place.y]
    move = np.array([[*(off / max(place.width, place.height)), 0.0, 1 / lifted[0, 0]]])
    patch: ByteArray = sampler.cut_moved(straight, [number], move)[0]
    rim = round(PATCH * (1 - 1 / CONTEXT) / 2)
    inner = cv2.resize(patch[rim:-rim, rim:-rim], (_SIDE, _SIDE), interpolation=cv2.INTER_AREA).astype(np.float64)
    inner -= inner.mean(axis=(0, 1))
    even: FloatArray = inner / (np.linalg.norm(inner) + 1e-6)
    return even
