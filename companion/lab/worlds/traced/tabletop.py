"""What lies below and beside a traced board: a table of wood, cloth or stone, and the printed markers of the kit."""

from __future__ import annotations

from companion.lab.worlds.traced.povray import paint, placed
from companion.lab.worlds.traced.solids import chance, coloured, hsv, pattern, slab, times
from vision.board.print_kit import MODULE_MM, QUIET_MM, SIDE_MM, marker_boxes

CARD_MM = SIDE_MM + 2 * QUIET_MM
"""The side of a marker's card, with its white rim."""


def table(seed: int) -> str:
    """Return the table's top, at z = 0: planks, a cloth, a stone or lacquer, in colours of its own."""
    rng = chance("table", seed)
    kind = rng.choice(["planks", "cloth", "stone", "lacquer"])
    if kind == "planks":
        base = hsv(rng.uniform(18, 38), rng.uniform(0.35, 0.65), rng.uniform(0.35, 0.75))
        shades = [times(base, v) for v in (1.0, 0.86, 0.95, 0.72, 1.0)]
        grain = pattern("wood", shades, float(rng.uniform(9, 18)), "specular 0.1 roughness 0.05", 0.06)
        texture = grain.replace("scale", "rotate y * 87 rotate x * 4 scale", 1)
        turned = f"rotate z * {rng.uniform(-12, 12):.2f}"
        planks = "".join(
            coloured(slab((-1500, y + 0.5, -20), (1500, y + 119.5, 0)), f"{texture} translate {31 * n}")
            for n, y in enumerate(range(-1200, 1200, 120))
        )
        gap = coloured(slab((-1500, -1500, -21), (1500, 1500, -1)), paint(times(base, 0.25)))
        return f"union {{ {planks} {gap} {turned} }}\n"
    if kind == "cloth":
        base = hsv(rng.uniform(0, 360), rng.uniform(0.1, 0.6), rng.uniform(0.25, 0.8))
        texture = pattern("granite", [base, times(base, 0.88), times(base, 1.06)], 9, warp=0.0)
    elif kind == "stone":
        base = hsv(rng.uniform(20, 220), rng.uniform(0.02, 0.15), rng.uniform(0.4, 0.85))
        texture = pattern("agate", [base, times(base, 0.8), times(base, 0.95)], 160, "specular 0.2 roughness 0.02")
    else:
        base = hsv(rng.uniform(0, 360), rng.uniform(0.05, 0.35), rng.uniform(0.55, 0.9))
        texture = paint(base, "specular 0.25 roughness 0.01")
    return coloured("plane { z, 0 }", texture)


def marker(number: int, x: float, y: float, turn: float) -> str:
    """Return a marker's card of the kit, with its middle at (x, y), turned by some degrees from how it is read."""
    half = CARD_MM / 2
    card = coloured(slab((-half, -half, 0.05), (half, half, 0.3)), paint((0.93, 0.93, 0.91)))
    shapes = {0.0: "", 1.0: ""}
    for box in marker_boxes(number, 0.0, 0.0, MODULE_MM):
        left, top = box.x - SIDE_MM / 2, SIDE_MM / 2 - box.y
        high = 0.32 if box.grey == 0 else 0.34
        shapes[box.grey] += slab((left, top - box.height, 0.2), (left + box.width, top, high))
    printed = coloured(shapes[0.0], paint((0.06, 0.06, 0.07))) + coloured(shapes[1.0], paint((0.93, 0.93, 0.91)))
    return placed(card + printed, x, y, 0.0, turn)


def markers(seed: int, x: float, y: float) -> str:
    """Return the four markers around (±x, ±y), a little askew: 0 at the far left, clockwise from there."""
    rng = chance("markers", seed)
    cards = ""
    for number, (side, deep) in enumerate(((-1, 1), (1, 1), (1, -1), (-1, -1))):
        dx, dy = rng.uniform(-4, 4, 2)
        cards += marker(number, side * x + float(dx), deep * y + float(dy), float(rng.uniform(-7, 7)))
    return cards
