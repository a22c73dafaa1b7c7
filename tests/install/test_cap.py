"""The printed cap's numbers fit together: read from the model itself, and by OpenSCAD where it is installed."""

from __future__ import annotations

import math
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.install.scad import MODELS, numbers

pytestmark = pytest.mark.process

NANO, PICO = [45, 20, 8], [52, 22, 6]


def fits(cap: dict[str, Any]) -> bool:
    """As the model's own assert says."""
    return max(cap["module_far"], cap["board_far"]) <= cap["radius"] + 0.001


@pytest.mark.parametrize(
    ("changed", "fit"),
    [
        ({}, True),
        ({"foot": 54}, True),
        ({"foot": 50}, False),
        ({"board_size": PICO}, False),
        ({"board_size": PICO, "stacked": 1}, True),
        ({"board_size": PICO, "stacked": 1, "foot": 58}, False),
        ({"board_size": NANO, "stacked": 1}, True),
        ({"board_size": NANO, "foot": 66}, True),
    ],
)
def test_the_boards_lie_in_the_cap_beside_each_other(changed: dict[str, Any], fit: bool) -> None:
    cap = numbers("cap.scad", **changed)
    assert fits(cap) == fit
    if not fit:
        return
    corners = []
    for size, y in ((cap["module_size"], cap["module_y"]), (cap["board_size"], cap["board_y"])):
        corners += [math.hypot(size[0] / 2, y + side * size[1] / 2) for side in (-1, 1)]
    # The foot stands on a ledge all around.
    assert max(corners) <= cap["foot"] / 2 + cap["gap"] - cap["ledge"] + 0.001
    if cap["stacked"]:
        assert cap["room"] > cap["module_size"][2] + cap["board_size"][2]
    else:
        apart = cap["board_y"] - cap["board_size"][1] / 2 - (cap["module_y"] + cap["module_size"][1] / 2)
        assert apart == pytest.approx(cap["between"])
    # The clips must be able to yield, and the cap stays flat enough to clip under any igloo unnoticed.
    assert cap["bump"] < cap["foot_height"] / 2
    assert cap["height"] <= 22


def test_the_sensor_lies_in_the_middle_where_there_is_room() -> None:
    assert numbers("cap.scad", foot=90)["module_y"] == 0
    assert numbers("cap.scad", stacked=1)["module_y"] == 0
    assert abs(numbers("cap.scad")["module_y"]) < 8


if shutil.which("openscad") is not None:  # the numbers above are looked at everywhere

    @pytest.mark.parametrize(("changed", "whole"), [({}, True), ({"foot": 50}, False)])
    def test_openscad_makes_one_body_of_it(tmp_path: Path, changed: dict[str, Any], whole: bool) -> None:
        made = tmp_path / "cap.stl"
        named = [part for name, value in changed.items() for part in ("-D", f"{name}={value}")]
        command = ["openscad", "-D", "$fn=16", *named, "-o", str(made), str(MODELS / "cap.scad")]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=200)
        if not whole:
            assert "The igloo is too small for these boards" in done.stderr and not made.exists()
            return
        # A body and what is around it: nothing hangs in the air, and there is no hollow.
        assert re.search(r"Simple: +yes", done.stderr) and re.search(r"Volumes: +2\b", done.stderr), done.stderr
        points = re.findall(r"vertex (\S+) (\S+) (\S+)", made.read_text(encoding="ascii"))
        assert min(float(z) for *_, z in points) == 0
        assert max(float(z) for *_, z in points) == pytest.approx(numbers("cap.scad", **changed)["height"], abs=0.01)
