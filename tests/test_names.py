"""One word names one thing: no two public classes share a name, and no module repeats its package's."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted(path for top in ("companion", "vision", "web") for path in (ROOT / top).rglob("*.py"))


def test_public_classes_have_names_of_their_own() -> None:
    where: dict[str, list[str]] = defaultdict(list)
    for path in FILES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                where[node.name].append(str(path.relative_to(ROOT)))
    assert len(where) > 200
    assert not {name: paths for name, paths in where.items() if len(paths) > 1}


def test_no_module_repeats_the_name_of_its_package() -> None:
    assert not [str(path.relative_to(ROOT)) for path in FILES if path.stem == path.parent.name]
