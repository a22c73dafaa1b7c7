"""Pictures that POV-Ray traces: a scene as text becomes a photo; a camera whose every number is known, lamps, a sensor.

Lengths are millimetres on the table: x to the right, y away from who looks, z up. The camera is given by its four
vectors, so nothing is mirrored and a text lies in the xy plane as it is read. POV-Ray is Debian's package ``povray``;
only what was traced here is developed here: nothing of ``board.py`` and ``table.py`` is used.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.uint8]
Floats = NDArray[np.float64]
Colour = tuple[float, float, float]
FONTS = Path("/usr/share/fonts/truetype/dejavu")
BOLD = "DejaVuSans-Bold.ttf"
SERIF = "DejaVuSerif-Bold.ttf"
TIMEOUT_S = 300
_HEADER = """#version 3.7;
global_settings {{ assumed_gamma 1.0 max_trace_level 6 }}
#default {{ finish {{ ambient 0.0 diffuse 0.8 }} }}
#declare Chance = seed({seed});
#macro Written(Font, What, High, Thick, Paint)
  #local T = text {{ ttf Font What 1 0 }}
  #local Low = min_extent(T); #local Top = max_extent(T);
  object {{ T translate -(Low + Top) / 2 scale <High / (Top.y - Low.y), High / (Top.y - Low.y), Thick>
    translate z * Thick / 2 texture {{ Paint }} }}
#end
"""


class PovrayError(RuntimeError):
    """POV-Ray is missing, or did not trace a scene; the text says why in one sentence."""


def render(
    scene: str, width: int, height: int, *, seed: int, files: Mapping[str, bytes] = MappingProxyType({})
) -> Image:
    """Trace a scene (camera, lamps and objects, as text) and return (height, width, 3) uint8, BGR, as sRGB.

    The same scene and seed give the same picture. The scene may draw numbers from ``Chance`` (POV-Ray's ``rand``,
    begun with ``seed``), write with :func:`text`, and use the fonts of DejaVu by their files' names, and pictures
    by their names in ``files``. Raises
    :class:`PovrayError` where POV-Ray is missing or refuses the scene.
    """
    program = shutil.which("povray")
    if program is None:
        raise PovrayError("POV-Ray is missing: install Debian's package povray.")
    with tempfile.TemporaryDirectory(prefix="traced-") as named:
        folder = Path(named)
        (folder / "scene.pov").write_text(_HEADER.format(seed=seed) + scene, encoding="utf-8")
        # Debian's POV-Ray reads files of its own folder only.
        for font in set(re.findall(r'"(DejaVu[A-Za-z-]+\.ttf)"', scene)):
            if not (FONTS / font).exists():
                raise PovrayError(f"The font {font} is missing: install Debian's package fonts-dejavu-core.")
            shutil.copy(FONTS / font, folder / font)
        for name, data in files.items():
            (folder / name).write_bytes(data)
        asked = ["+Iscene.pov", "+Oout.png", f"+W{width}", f"+H{height}", "+FN8", "File_Gamma=sRGB"]
        asked += ["+A0.3", "+AM1", "+R2", "-J", "-D", "-P", "+WT1", "-GA"]
        try:
            done = subprocess.run(
                [program, *asked], cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise PovrayError(f"POV-Ray took longer than {TIMEOUT_S} s over a scene.") from error
        picture = cv2.imread(str(folder / "out.png"), cv2.IMREAD_COLOR)
        if done.returncode != 0 or picture is None:
            raise PovrayError(f"POV-Ray refused a scene: {_complaint(done.stderr)}")
    return np.asarray(picture, np.uint8)


def _complaint(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if "error" in line.lower()]
    return lines[0] if lines else "it did not say why."


def vector(*values: float) -> str:
    """Return a vector as POV-Ray reads it."""
    return "<" + ", ".join(f"{float(value):.5f}" for value in values) + ">"


def paint(colour: Colour, finish: str = "") -> str:
    """Return the inside of a texture of one colour (red, green, blue as sRGB, 0…1); ``finish`` is POV-Ray's."""
    return f"pigment {{ srgb {vector(*colour)} }} finish {{ diffuse 0.8 {finish} }}"


def text(what: str, high: float, paint_: str, *, font: str = BOLD, thick: float = 0.1) -> str:
    """Return a text as an object, its middle at the origin, ``high`` mm high, from z = 0 to ``thick``."""
    safe = re.sub(r'["\\]', "", what)
    return f'Written("{font}", "{safe}", {high:.4f}, {thick:.4f}, texture {{ {paint_} }})'


def placed(objects: str, x: float, y: float, z: float = 0.0, turn: float = 0.0) -> str:
    """Return objects as one, turned by ``turn`` degrees (anticlockwise from above) and then moved."""
    return f"union {{ {objects} rotate z * {turn:.4f} translate {vector(x, y, z)} }}\n"


@dataclass(frozen=True)
class TracedView:
    """A camera above the middle of a table that sees ``across`` by ``deep`` mm of it, drawn from a seed."""

    seed: int
    across: float
    deep: float
    width: int = 1280
    height: int = 960
    tilt: tuple[float, float] = (3.0, 20.0)
    """Degrees away from straight above; one of these is drawn."""
    spare: tuple[float, float] = (1.03, 1.12)
    """How many times farther away than it must be."""

    @cached_property
    def axes(self) -> Floats:
        """(3, 3): the camera's right, up and forward on the table's axes, each of length 1."""
        rng = np.random.default_rng([31, self.seed])
        tilt, swing, roll = np.radians([rng.uniform(*self.tilt), rng.uniform(-10, 10), rng.uniform(-3, 3)])
        forward = np.array([-np.sin(tilt) * np.sin(swing), np.sin(tilt) * np.cos(swing), -np.cos(tilt)])
        right = np.array([np.cos(swing), np.sin(swing), 0.0])
        up = np.cross(right, forward)
        return np.stack([np.cos(roll) * right + np.sin(roll) * up, np.cos(roll) * up - np.sin(roll) * right, forward])

    @cached_property
    def focal(self) -> float:
        """In picture widths."""
        return float(np.random.default_rng([32, self.seed]).uniform(0.8, 1.2))

    @cached_property
    def place(self) -> Floats:
        """(3,): where the camera is."""
        rng = np.random.default_rng([33, self.seed])
        spare = float(rng.uniform(*self.spare))
        middle = np.append(rng.uniform(-0.01, 0.01, 2) * self.across, 0.0)
        corners = np.array([[x * self.across, y * self.deep, 0.0] for x in (-0.5, 0.5) for y in (-0.5, 0.5)])
        seen = (corners - middle) @ self.axes.T
        half = np.array([0.5, 0.5 * self.height / self.width])
        needed = np.abs(seen[:, :2]) * self.focal / half - seen[:, 2:]
        return np.asarray(middle - self.axes[2] * float(needed.max()) * spare)

    def project(self, points: Any) -> Floats:
        """Return (n, 2): where points (n, 3) in mm are in the picture, in pixels; (0, 0) is a pixel's middle."""
        seen = (np.asarray(points, float).reshape(-1, 3) - self.place) @ self.axes.T
        at = seen[:, :2] / seen[:, 2:] * self.focal * self.width
        return np.column_stack([at[:, 0] + self.width / 2 - 0.5, self.height / 2 - 0.5 - at[:, 1]])

    def sdl(self) -> str:
        """Return the camera as POV-Ray reads it."""
        right, up, forward = self.axes
        return (
            f"camera {{ perspective location {vector(*self.place)} right {vector(*right)}"
            f" up {vector(*(up * self.height / self.width))} direction {vector(*(forward * self.focal))} }}\n"
        )


@dataclass(frozen=True)
class Lamps:
    """One lamp with soft shadows, seldom two, and a room's dim light, drawn from a seed; ``reach`` in mm."""

    seed: int
    reach: float = 900.0
    """How far away the lamps are, about."""

    def sdl(self) -> str:
        """Return the lamps as POV-Ray reads them."""
        rng = np.random.default_rng([34, self.seed])
        many = int(rng.integers(1, 3))
        warm = float(rng.uniform(-0.12, 0.18))
        tint = np.array([1 + warm, 1.0, 1 - warm])
        fill = float(rng.uniform(0.3, 0.5))
        lamps = []
        for share in [(1 - fill) * part for part in ([1.0] if many == 1 else [0.65, 0.35])]:
            around, low = rng.uniform(0, 2 * np.pi), rng.uniform(0.35, 0.9)
            at = self.reach * np.array([low * np.cos(around), low * np.sin(around), rng.uniform(0.9, 1.3)])
            wide = float(rng.uniform(0.06, 0.2)) * self.reach
            lamps.append(
                f"light_source {{ {vector(*at)} rgb {vector(*(share * 1.5 * tint))}"
                f" area_light {vector(wide, 0, 0)}, {vector(0, wide, 0)}, 5, 5 adaptive 0 }}"
            )
        # What walls and ceiling send back: without shadows, from all around.
        for x, y in ((0.8, 0.3), (-0.5, 0.7), (-0.3, -0.9)):
            at = self.reach * np.array([x, y, 1.5])
            lamps.append(f"light_source {{ {vector(*at)} rgb {vector(*(fill * 0.45 * tint))} shadowless }}")
        return "\n".join(lamps) + "\n"


def develop(picture: Image, seed: int, *, light: int = 0) -> bytes:
    """Return a traced picture as a camera's JPEG: exposure, white balance, softness, noise and compression from a seed.

    ``light`` seeds what a camera keeps from one picture to the next (exposure, white balance, softness, quality);
    ``seed`` the noise.
    """
    kept, own = np.random.default_rng([35, light]), np.random.default_rng([36, light, seed])
    linear = (picture.astype(np.float32) / 255) ** 2.2
    linear *= float(kept.uniform(0.7, 1.15))
    linear *= 1 + kept.uniform(-0.06, 0.06, 3).astype(np.float32)
    blur = float(kept.uniform(0.4, 0.9)) * picture.shape[1] / 1280
    linear = np.asarray(cv2.GaussianBlur(linear, (0, 0), max(blur, 0.2)), np.float32)
    linear += (
        own.normal(0, 1, linear.shape).astype(np.float32)
        * np.sqrt(np.maximum(linear, 0.01))
        * float(kept.uniform(0.004, 0.012))
    )
    shown = np.clip(linear, 0, 1) ** (1 / 2.2) * 255
    quality = int(kept.integers(80, 95))
    return bytes(cv2.imencode(".jpg", shown.astype(np.uint8), [cv2.IMWRITE_JPEG_QUALITY, quality])[1].tobytes())
