"""The script that makes the README's pictures still finds its way through the page."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

pytestmark = [pytest.mark.browser, pytest.mark.long]

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_pictures_are_made_anew(tmp_path: Path) -> None:
    # As a program of its own: this process may drive a browser already, and Playwright allows one driver in each.
    program = [sys.executable, "-m", "docs.pictures", str(tmp_path)]
    done = subprocess.run(program, cwd=DOCS.parent, check=False, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    made, kept = ({path.name: path for path in folder.iterdir()} for folder in (tmp_path, DOCS / "pictures"))
    assert made.keys() == kept.keys()
    for name, path in made.items():
        with Image.open(path) as new, Image.open(kept[name]) as old:
            assert new.size == old.size, name
    with Image.open(made["film.webp"]) as film:
        assert film.n_frames > 20
