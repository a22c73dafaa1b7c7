"""Where the nodes of a graph without circles stand in a layered drawing (Sugiyama, Tagawa and Toda 1981).

A node stands above all that it points to, a long arrow bends in the layers between, nodes of a layer change places
while fewer arrows cross by it, and each is drawn towards those that it is joined to. The same graph gives the same
layout.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from itertools import combinations, pairwise

Graph = Mapping[str, Set[str]]


@dataclass(frozen=True, slots=True)
class LayeredLayout:
    """Layer (0 at the bottom) and middle of each node and bend, and each arrow as the row of these that it passes."""

    layer: dict[str, int]
    middle: dict[str, float]
    ways: list[list[str]]


def reduced(graph: Graph) -> dict[str, Set[str]]:
    """Return the graph without the arrows that a longer way shows already (its transitive reduction)."""

    def below(node: str) -> Set[str]:
        return set(graph[node]).union(*map(below, graph[node]))

    return {node: set(ends).difference(*map(below, ends)) for node, ends in graph.items()}


def layers(graph: Graph) -> dict[str, int]:
    """Return the layer of each node; what has more arrows to it than from it stands near where they come from."""

    def height(node: str) -> int:
        return 1 + max(map(height, graph[node]), default=-1)

    layer = {node: height(node) for node in graph}
    for node in sorted(graph, key=lambda one: (-layer[one], one)):
        above = [layer[one] for one, ends in graph.items() if node in ends]
        if len(above) > len(graph[node]):
            layer[node] = min(above) - 1
    return layer


def lay_out(graph: Graph, width: float, bend: float) -> LayeredLayout:
    """Return the layout for nodes that take this width, and bends that take ``bend``."""
    layer = layers(graph)
    ways = []
    for node, end in sorted((node, end) for node, ends in graph.items() for end in ends):
        bends = {f"{node}>{end}>{at}": at for at in range(layer[node] - 1, layer[end], -1)}
        layer.update(bends)
        ways.append([node, *bends, end])
    joints = [pair for way in ways for pair in pairwise(way)]
    rows = [sorted(one for one in layer if layer[one] == at) for at in range(max(layer.values()) + 1)]
    _untangle(rows, joints, layer)
    near = {one: [a if b == one else b for a, b in joints if one in (a, b)] for one in layer}
    middle = {one: (n - len(row) / 2) * width for row in rows for n, one in enumerate(row)}
    for _ in range(200):
        for row in rows:
            wish = [sum(middle[n] for n in near[one]) / max(len(near[one]), 1) for one in row]
            half = [width / 2 if one in graph else bend / 2 for one in row]
            middle.update(zip(row, _apart(wish, half), strict=True))
    return LayeredLayout(layer, middle, ways)


def _untangle(rows: list[list[str]], joints: list[tuple[str, str]], layer: Mapping[str, int]) -> None:
    """Change places in the rows as long as fewer arrows cross by it, or as many run straighter."""

    def cost() -> tuple[int, float]:
        at = {one: n - len(row) / 2 for row in rows for n, one in enumerate(row)}
        pairs = [(layer[a], at[a], at[b]) for a, b in joints]
        crossed = sum(p[0] == q[0] and (p[1] - q[1]) * (p[2] - q[2]) < 0 for p, q in combinations(pairs, 2))
        return crossed, sum((a - b) ** 2 for _, a, b in pairs)

    best, before = cost(), (-1, 0.0)
    while best != before:
        before = best
        for row in rows:
            for a, b in combinations(range(len(row)), 2):
                row[a], row[b] = row[b], row[a]
                if (now := cost()) < best:
                    best = now
                else:
                    row[a], row[b] = row[b], row[a]


def _apart(wish: list[float], half: list[float]) -> list[float]:
    """Return places as near to the wishes as order and width allow (isotonic regression)."""
    offset = [sum(half[: n + 1]) + sum(half[:n]) for n in range(len(half))]
    blocks: list[tuple[float, int]] = []
    for n, at in enumerate(wish):
        blocks.append((at - offset[n], 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (a, m), (b, k) = blocks.pop(), blocks.pop()
            blocks.append(((a * m + b * k) / (m + k), m + k))
    flat = [value for value, size in blocks for _ in range(size)]
    return [value + more for value, more in zip(flat, offset, strict=True)]
