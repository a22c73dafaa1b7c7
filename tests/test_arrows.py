"""The arrows between packages point one way (the house rules of the README)."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# room -> rooms it may import beside itself; those of TOP may import all (the lab but by name), and nobody imports them.
MAY = {
    "ports": set(),
    "rules": set(),
    "igloo": {"ports"},
    "panel": {"ports"},
    "flasher": set(),
    "events": set(),
    "settings": {"ports"},
    "night": {"rules", "events", "settings", "ports", "practice"},
    "access": {"night", "ports", "settings"},
    "practice": {"ports"},
    "doctor": {"igloo", "panel", "night", "access", "settings", "ports"},
    "vision": {"rules", "ports"},
    "follow": {"vision", "night", "rules", "settings", "ports"},
    "calibrating": {"igloo", "night", "events", "ports"},
    "web": {"rules", "night", "events", "access", "practice", "settings", "ports"},
}
TOP = {"lab", "service", "cli", "__main__"}
HEAVY_ALLOWED = {"flask": {"web"} | TOP, "cv2": {"vision", "follow"} | TOP, "pyspiel": {"lab"}, "open_spiel": set()}
PACKAGES = ("companion", "vision", "web")


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
            found.update(f"{stem}.{alias.name}" for alias in node.names)
    return found


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def circles(arrows: dict[str, set[str]]) -> list[list[str]]:
    """Return the strongly connected components of more than one node (R. Tarjan 1972)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        number[node] = low[node] = len(number)
        stack.append(node)
        for other in sorted(arrows.get(node, ())):
            if other not in number:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == number[node]:
            whole = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(whole) > 1:
                found.append(sorted(whole))

    for node in arrows:
        if node not in number:
            visit(node)
    return found


FILES = sorted(p for top in PACKAGES for p in (ROOT / top).rglob("*.py"))
MODULES = {name_of(path): path for path in FILES}
ARROWS = {
    name: {other if other in MODULES else other.rpartition(".")[0] for other in imports(path)} & MODULES.keys() - {name}
    for name, path in MODULES.items()
}
"""What each module imports, wherever in it the import stands: on top, in a function or for types only."""
FOLDERS = sorted(name for name, path in MODULES.items() if path.name == "__init__.py" and name not in PACKAGES[:1])


def between(folder: str) -> dict[str, set[str]]:
    """Return the arrows between what lies in a folder: a folder in it is one room, a module counts by itself."""
    depth = folder.count(".") + 2
    room = {name: ".".join(name.split(".")[:depth]) for name in MODULES if f"{name}.".startswith(f"{folder}.")}
    found: dict[str, set[str]] = {own: set() for own in room.values()}
    for name, own in room.items():
        found[own] |= {room[other] for other in ARROWS[name] if other in room} - {own}
    return found


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


def test_no_modules_import_each_other() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [["b", "c"]]
    assert circles(ARROWS) == []


def test_no_rooms_import_each_other() -> None:
    rooms: dict[str, set[str]] = {}
    for name, others in ARROWS.items():
        own = str(room_of(name))
        rooms.setdefault(own, set()).update({str(room_of(other)) for other in others} - {own})
    assert circles(rooms) == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_rooms_of_a_room_import_each_other(folder: str) -> None:
    assert circles(between(folder)) == []


def test_the_product_does_without_its_lab_and_its_tests() -> None:
    for name, path in MODULES.items():
        found = {other for other in imports(path) if other.split(".")[0] == "tests"}
        if not name.startswith("companion.lab"):
            found |= {other for other in imports(path) if f"{other}.".startswith("companion.lab.")}
        assert not found, f"{name} may not import {sorted(found)}"
        text = path.read_text(encoding="utf-8")
        assert "sys.path" not in text, name
        # The one way there is by name, and says in a sentence what is missing where there is no lab.
        if name != "companion.cli.lab" and not name.startswith("companion.lab"):
            assert "import_module(" not in text or "companion.lab" not in text, name


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
