"""Draws the rooms and the arrows between them, from the imports: ``python -m companion.lab.draw_architecture``.

An arrow leads from a room to one that it imports, and is left out where a longer way shows it already. The same imports
give the same bytes.
"""

from __future__ import annotations

import ast
from itertools import pairwise
from pathlib import Path

from companion.lab.layered_layout import lay_out, reduced
from companion.rules import games, package_name

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs" / "architecture.svg"
WIDTH, GAP, LINE, HEAD, BETWEEN, MARGIN, APART = 172, 24, 15, 40, 54, 14, 13
GAME = "(a game)"
"""The folders of the games, in the small print of a room that has one for each."""
LETTERS = 24
"""So many letters of the names of a room's inner rooms stand on a line."""
STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#586069;text-anchor:middle}.name{font-size:15px;font-weight:600;"
    "fill:#1f2328}rect{fill:#f6f8fa;stroke:#8c959f}.vision rect{fill:#fff3dc}.web rect{fill:#e2f2ff}.lab rect{"
    "fill:none;stroke-dasharray:5 4}path{fill:none;stroke:#6e7781;stroke-width:1.3}"
    "marker path{fill:#6e7781;stroke:none}"
    "@media(prefers-color-scheme:dark){text{fill:#a5adb6}.name{fill:#f0f3f6}rect{fill:#262c36;stroke:#768390}"
    ".vision rect{fill:#453615}.web rect{fill:#16374f}.lab rect{fill:none}path{stroke:#909dab}"
    "marker path{fill:#909dab}}"
)
FRAME = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img"><title>The rooms'
    " of the companion; an arrow leads from a room to one that it imports</title><style>{2}</style><defs>"
    '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
    '<path d="M0 0L8 4L0 8z"/></marker></defs>\n{3}\n</svg>\n'
)


def rooms() -> tuple[dict[str, list[str]], dict[str, set[str]]]:
    """Return each room with the rooms inside it, and with the rooms that it imports."""
    paths = [path for top in ("companion", "vision", "web") for path in sorted((ROOT / top).rglob("*.py"))]
    modules = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in paths}
    own = set(map(package_name, games(examples=True)))
    inner: dict[str, list[str]] = {}
    imports: dict[str, set[str]] = {}
    for module, path in modules.items():
        if not (room := _room_of(module)):
            continue
        inside, found = inner.setdefault(room, []), imports.setdefault(room, set())
        if path.name == "__init__.py" and path.parent.parent.name == room:
            name = GAME if path.parent.name in own else path.parent.name
            inside += [name] if name not in inside else []
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {_room_of(alias.name) for alias in node.names if alias.name in modules}
            elif isinstance(node, ast.ImportFrom) and node.module in modules:
                names = [f"{node.module}.{alias.name}" for alias in node.names]
                found |= {_room_of(name if name in modules else node.module) for name in names}
        found -= {room, ""}
    return inner, imports


def _room_of(module: str) -> str:
    """Return the room of a module; nothing for ``companion`` itself."""
    top, *rest = module.split(".")
    return top if top != "companion" else rest[0] if rest and rest[0] != "__main__" else ""


def picture() -> str:
    """Return the picture as SVG."""
    inner, imports = rooms()
    laid = lay_out(reduced(imports), WIDTH + GAP, APART + GAP)
    layer = laid.layer
    left = min(at - (WIDTH / 2 if one in inner else 0) for one, at in laid.middle.items()) - MARGIN
    middle = {one: at - left for one, at in laid.middle.items()}
    lines = {room: _wrapped(names) for room, names in inner.items()}
    high = {room: HEAD + LINE * len(names) for room, names in lines.items()}
    top, bottom, y = {}, {}, MARGIN
    for at in range(max(layer.values()), -1, -1):
        top[at], bottom[at] = y, y + max(high[room] for room in high if layer[room] == at)
        y = bottom[at] + BETWEEN
    joints = sorted(pair for way in laid.ways for pair in pairwise(way))

    def across(one: str, other: str) -> int:
        """Return where an arrow between the two leaves or meets the first: arrows of one side stand apart."""
        beside = [b if a == one else a for a, b in joints if (a, layer[b]) == (one, layer[one] - 1) or b == one]
        beside = [n for n in beside if (layer[n] < layer[one]) == (layer[other] < layer[one])]
        beside.sort(key=lambda n: (middle[n], n))
        aside = (beside.index(other) - (len(beside) - 1) / 2) * APART if one in inner else 0
        return round(middle[one] + aside)

    parts = []
    for way in laid.ways:
        path = f"M{across(way[0], way[1])} {top[layer[way[0]]] + high[way[0]]}"
        for a, b in pairwise(way):
            x, u, start, end = across(a, b), across(b, a), bottom[layer[a]], top[layer[b]]
            path += f"V{start}C{x} {(start + end) // 2} {u} {(start + end) // 2} {u} {end}"
        parts.append(f'<path d="{path}" marker-end="url(#tip)"/>')
    for room, names in lines.items():
        x, y = round(middle[room]), top[layer[room]]
        words = "".join(f'<text x="{x}" y="{y + 41 + n * LINE}">{name}</text>' for n, name in enumerate(names))
        parts.append(
            f'<g class="{room}"><rect x="{x - WIDTH // 2}" y="{y}" width="{WIDTH}" height="{high[room]}" rx="7"/>'
            f'<text class="name" x="{x}" y="{y + 25}">{room}</text>{words}</g>'
        )
    wide = round(max(at + (WIDTH / 2 if one in inner else 0) for one, at in middle.items())) + MARGIN
    return FRAME.format(wide, bottom[0] + MARGIN, STYLE, "\n".join(parts))


def _wrapped(words: list[str]) -> list[str]:
    lines: list[str] = []
    for word in words:
        if lines and len(lines[-1]) + len(word) + 3 <= LETTERS:
            lines[-1] += f" · {word}"
        else:
            lines.append(word)
    return lines


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
