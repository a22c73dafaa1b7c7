"""The script that makes the README's pictures still finds its way through the page."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from PIL import Image

pytestmark = [pytest.mark.browser, pytest.mark.long]

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_pictures_are_made_anew(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("docs_pictures", DOCS / "pictures.py")
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    script.main(tmp_path)
    made, kept = ({path.name: path for path in folder.iterdir()} for folder in (tmp_path, DOCS / "pictures"))
    assert made.keys() == kept.keys()
    for name, path in made.items():
        with Image.open(path) as new, Image.open(kept[name]) as old:
            assert new.size == old.size, name
    with Image.open(made["film.webp"]) as film:
        assert film.n_frames > 20
