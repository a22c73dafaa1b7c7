"""The balance's model tells what hardware.md says of it; OpenSCAD looks at it where it is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.install.scad import MODELS, numbers

pytestmark = pytest.mark.process

PAGE = (Path(__file__).parents[2] / "hardware.md").read_text(encoding="utf-8")
MODEL = "balance.scad"


def test_it_swings_as_the_table_says() -> None:
    rows = re.findall(
        r"^\| ([\d.]+) mm(?: thick)?, (\d+) mm[^|]*\| (\d+) Hz \| (\d+) Hz \| (–|[\d.]+ %) \| ([\d.]+) mm \|",
        PAGE,
        re.MULTILINE,
    )
    assert len(rows) == 4
    for thick, free, empty, loaded, bead, sag in rows:
        one = numbers(MODEL, blade_thick=float(thick), free=float(free))
        assert (round(one["empty_hz"]), round(one["loaded_hz"])) == (int(empty), int(loaded))
        assert one["sag"] == pytest.approx(float(sag), abs=0.06)
        # What swings too slowly tells nothing, and the model says so.
        assert (one["loaded_hz"] < 12) == (bead == "–")
        if bead != "–":
            assert one["bead"] == pytest.approx(float(bead.removesuffix(" %")), abs=0.006)


def test_as_drawn_it_is_within_what_the_companion_can_tell() -> None:
    one = numbers(MODEL)
    assert 18 <= one["empty_hz"] <= 32 and one["loaded_hz"] >= 12
    assert f"empty ({one['swinging']:.0f} g swing)" in PAGE
    # The block carries two screws that keep clear of each other and of its edge.
    assert one["block"][0] / 2 > one["hole"] and one["block"][0] / 4 > one["hole"] / 2
    # The plate holds an igloo's foot, the blades are held apart further than they are wide.
    assert one["plate"] >= numbers("cap.scad")["foot"] + 10
    assert one["apart"] > 2 * one["blade_width"]


if shutil.which("openscad") is not None:  # the numbers above are looked at everywhere

    @pytest.mark.parametrize(("free", "fits"), [(95, True), (150, False)])
    def test_openscad_makes_its_parts(tmp_path: Path, free: int, fits: bool) -> None:
        made = tmp_path / "balance.stl"
        command = ["openscad", "-D", "$fn=16", "-D", f"free={free}", "-o", str(made), str(MODELS / MODEL)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=200)
        assert made.exists() == fits
        assert ("shorten the blades" in done.stderr) != fits
