"""The arrows between packages point one way (the house rules of the README)."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# room -> rooms it may import beside itself; service and cli may import all, and nobody imports them.
MAY = {
    "ports": set(),
    "rules": set(),
    "igloo": {"ports"},
    "panel": {"ports"},
    "flasher": set(),
    "events": set(),
    "access": {"night", "ports"},
    "night": {"rules", "events", "settings", "ports"},
    "practice": {"ports"},
    "doctor": {"igloo", "panel", "night", "access", "settings", "ports"},
    "settings": {"ports"},
    "vision": {"rules", "ports"},
    "web": {"rules", "night", "events", "access", "practice", "settings", "ports"},
}
TOP = {"lab", "service", "follow", "calibrating", "cli", "__main__"}
HEAVY_ALLOWED = {"flask": {"web"} | TOP, "cv2": {"vision"} | TOP, "pyspiel": {"lab"}, "open_spiel": set()}


def room_of(module: str) -> str | None:
    parts = module.split(".")
    if parts[0] in {"vision", "web"}:
        return parts[0]
    if parts[0] == "companion":
        return parts[1] if len(parts) > 1 else "companion"
    return None


def imports(path: Path) -> set[str]:
    package = path.relative_to(ROOT).with_suffix("").parts
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = list(package[: len(package) - node.level]) if node.level else []
            stem = ".".join(base + ([node.module] if node.module else []))
            found.add(stem)
            found.update(f"{stem}.{alias.name}" for alias in node.names)
    return found


FILES = sorted(p for top in ("companion", "vision", "web") for p in (ROOT / top).rglob("*.py"))


def test_there_is_something_to_check() -> None:
    assert len(FILES) > 20


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_arrows_point_one_way(path: Path) -> None:
    own = room_of(".".join(path.relative_to(ROOT).with_suffix("").parts))
    assert own is not None
    wrong = set()
    for name in imports(path):
        head = name.split(".")[0]
        if head in HEAVY_ALLOWED and own not in HEAVY_ALLOWED[head]:
            wrong.add(name)
        other = room_of(name)
        if other is None or own in TOP:
            continue
        if other in {own, "companion"} or (other == "__init__"):
            continue
        # `from companion import __version__` names no room
        if name in {"companion.__version__"}:
            continue
        if other not in MAY.get(own, set()):
            wrong.add(name)
    assert not wrong, f"{path.relative_to(ROOT)} ({own}) may not import {sorted(wrong)}"


def test_rules_use_the_standard_library_only() -> None:
    import sys

    for path in (ROOT / "companion" / "rules").rglob("*.py"):
        for name in imports(path):
            head = name.split(".")[0]
            assert head == "companion" or head in sys.stdlib_module_names, f"{path}: {name}"


def test_nothing_reads_the_shared_folder() -> None:
    needle = "../" + "shared"
    for top in ("companion", "vision", "web", "firmware", "tests"):
        for path in (ROOT / top).rglob("*"):
            if path.suffix in {".py", ".toml", ".c", ".h", ".js", ".html"} and "build" not in path.parts:
                assert needle not in path.read_text(encoding="utf-8"), path
