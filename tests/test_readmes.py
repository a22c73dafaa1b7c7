"""Each room says what it is for, and what the documents name is there: links, paths, modules and what they define."""

from __future__ import annotations

import ast
import os
import re
from functools import cache
from pathlib import Path

import pytest

from companion.igloo.line.registry import GROUP as DRIVERS
from companion.rules import games, package_name

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"
PACKAGES = ("companion", "vision", "web")
FOREIGN = {"vendor", "node_modules", "build", "mutants", "__pycache__"}

LINK = re.compile(r"\]\(([^()\s]+)\)|\b(?:src|href)=\"([^\"]+)\"")
PATH = re.compile(r"`((?:companion|vision|web|tests|firmware|docs)/[^`\s]*)`")
DOTTED = re.compile(r"(?<![\w./-])(?:companion|vision|web)(?:\.[A-Za-z_]\w*)+")
IMPORTED = re.compile(r"^from ((?:companion|vision|web)[\w.]*) import (.+)$", re.MULTILINE)
ROW = re.compile(r"^\| `(\w+)` \|", re.MULTILINE)


def documents() -> list[Path]:
    found = []
    for folder, inner, names in os.walk(ROOT):
        inner[:] = sorted(name for name in inner if name not in FOREIGN and not name.startswith("."))
        found += [Path(folder, name) for name in sorted(names) if name.endswith(".md")]
    return found


def rooms() -> list[Path]:
    return sorted({path.parent for top in PACKAGES for path in (ROOT / top).rglob("*.py")})


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


DOCUMENTS = documents()


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def headings(path: Path) -> set[str]:
    """Return the anchors of a document, as GitHub names them."""
    outside = re.sub(r"^```.*?^```", "", text_of(path), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", outside, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title).strip().lower().replace(" ", "-") for title in titles}


@cache
def defined(module: Path) -> dict[str, set[str]]:
    """Return the names of a module, classes with the names inside them."""
    found: dict[str, set[str]] = {}
    body = ast.parse(module.read_text(encoding="utf-8")).body
    for node in [one for part in body for one in (part.body if isinstance(part, ast.If) else [part])]:
        if isinstance(node, ast.ClassDef):
            found[node.name] = {name for part in node.body for name in names_of(part)}
            written = (part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute))
            found[node.name] |= set(written)
        else:
            found |= {name: set() for name in names_of(node)}
    return found


def names_of(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def is_there(dotted: str) -> bool:
    """Return whether a dotted name is a package, a module, or what one defines, or the group of the drivers."""
    if dotted == DRIVERS:
        return True
    place, parts = ROOT, dotted.split(".")
    while parts and (place / parts[0]).is_dir():
        place /= parts.pop(0)
    module = place / "__init__.py"
    if parts and (place / f"{parts[0]}.py").exists():
        module = place / f"{parts.pop(0)}.py"
    if not parts:
        return module.exists()
    inner = defined(module).get(parts[0]) if module.exists() else None
    return inner is not None and (len(parts) == 1 or parts[1] in inner)


def test_there_is_something_to_check() -> None:
    assert len(rooms()) > 40
    assert len(DOCUMENTS) > 40


@pytest.mark.parametrize("room", rooms(), ids=name_of)
def test_a_room_says_what_it_is_for_and_names_its_modules(room: Path) -> None:
    page = text_of(room / "README.md")
    title, purpose, *_ = page.split("\n\n")
    assert title == f"# {name_of(room)}"
    assert purpose.endswith((".", ")")), purpose
    assert page.index("**In:**") < page.index("**Out:**")
    table = page.split("| module | does |", 1)[1].split("\n\n")[0] if "| module | does |" in page else ""
    # A module of a game's name is found by that name, and a new game changes no page of another room.
    apart = {"__init__", *map(package_name, games(examples=True))}
    assert sorted(ROW.findall(table)) == sorted({path.stem for path in room.glob("*.py")} - apart)


def test_the_front_page_is_short_and_its_pictures_are_small() -> None:
    page = ROOT / "README.md"
    assert page.stat().st_size <= 6_000
    shown = {path for path in PICTURES.iterdir() if f'src="{name_of(path)}"' in text_of(page)}
    assert shown == set(PICTURES.iterdir()), "docs/pictures.py makes what the front page shows, and no more"
    assert (PICTURES / "film.webp").stat().st_size <= 1_500_000
    pictures = [path for path in (ROOT / "docs").rglob("*") if path.suffix in {".webp", ".png", ".jpg", ".svg", ".gif"}]
    assert sum(path.stat().st_size for path in pictures) <= 3_000_000


@pytest.mark.parametrize("page", DOCUMENTS, ids=name_of)
def test_what_a_document_names_is_there(page: Path) -> None:
    wrong = []
    for link in map("".join, LINK.findall(text_of(page))):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in headings(target)):
            wrong.append(f"link {link}")
    for path in PATH.findall(text_of(page)):
        if not any(ROOT.glob(re.sub(r"<[^>]*>", "*", path).rstrip("/"))):
            wrong.append(f"path {path}")
    named = DOTTED.findall(text_of(page))
    named += [f"{module}.{name}" for module, names in IMPORTED.findall(text_of(page)) for name in names.split(", ")]
    wrong += [f"name {name}" for name in named if not is_there(name)]
    assert not wrong, f"{name_of(page)}: {', '.join(wrong)}"
