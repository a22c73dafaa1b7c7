"""Make many examples of few: taught places moved and turned, and things cut out of them and laid elsewhere.

A thing alone on a known ground is cut out where it differs from that ground's empty places; laid on other places,
several at a time, it shows what nobody has taught yet: two of them on a floe, or one beside an igloo.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from vision.board.illumination import CODED
from vision.board.labels import Content
from vision.board.patches import CONTEXT, PATCH, Sampler
from vision.learn.cutouts import Cutout, Cutouts, LabelledBoard, find_cutouts, find_pieces, taught_places

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.ports import ByteArray, FloatArray
    from vision.board.layout import Layout

REAL: Final = 3600
MADE: Final = 3200
MOST_NOISE: Final = 2.5
"""Grey levels: the deviation of the strongest noise in which places are learnt."""
_PLACE: Final = PATCH / CONTEXT
_RAMP: Final = np.linspace(-0.5, 0.5, PATCH, dtype=np.float32)
_PLANE: Final = np.stack([np.ones(PATCH**2, np.float32), np.tile(_RAMP, PATCH), np.repeat(_RAMP, PATCH)], axis=1)
_BLACK: Final = np.zeros((PATCH, PATCH, 3), np.uint8)
_VEILED: Final = 0.25
_VEIL: Final = 0.04
"""How often a place lies under a veil of mirrored light, and how thick that is in the mean, in parts of white."""
_RIM: Final = 0.02
"""Of a strip: so far around a piece is its shade, and no colour of the ground."""
_CANDIDATES: Final = 6
_ELSEWHERE: Final = 0.15
"""How often a thing is laid on a ground where its kind was never seen, if the layout does not say where it may lie."""


@dataclass(frozen=True)
class Examples:
    """Patches (n, PATCH, PATCH, 3) with their ``ground`` (n,) and the ``counts`` (n, things) of things.

    ``state`` (n,) numbers equal contents, ``source`` (n,) the taught places, −1 for what was put together.
    """

    patches: ByteArray
    ground: NDArray[np.int64]
    counts: NDArray[np.int64]
    state: NDArray[np.int64]
    source: NDArray[np.int64]


def make_examples(
    sampler: Sampler, taught: Sequence[LabelledBoard], cutouts: Cutouts, seed: int = 0, size: float = 1.0
) -> Examples:
    """Return the examples to learn from, with the ``cutouts`` of the boards; ``size`` scales how many."""
    rng = np.random.default_rng(seed)
    layout = sampler.layout
    emptied = _emptied(sampler, taught)
    taught = [*taught, *emptied]
    owned = taught_places(taught)
    patches, contents, source = _moved(sampler, taught, owned, rng, round(REAL * size))
    if emptied:
        cutouts = find_cutouts(sampler, taught, owned)
    made = _composed(sampler, taught, owned, cutouts, rng, round(MADE * size))
    if made is not None:
        patches = np.concatenate([patches, made[0]])
        contents += made[1]
        source = np.concatenate([source, np.full(len(made[1]), -1)])
    patches = in_other_light(patches, rng)
    return _examples(layout, patches, contents, source)


def make_views(
    sampler: Sampler, taught: Sequence[LabelledBoard], many: Mapping[Content, int], seed: int = 0
) -> Examples:
    """Return taught places in the light they were taught in: all as they are, then all moved and turned, and again.

    Each comes as ``many`` times as its content is to; without strips, unless there is nothing else.
    """
    rng = np.random.default_rng([seed, 5])
    owned = taught_places(taught)
    owned = [entry for entry in owned if entry[1] not in sampler.strips] or owned
    patches, contents, source = [], [], []
    for view in range(max(many[content] for _, _, content in owned)):
        for number, board in enumerate(taught):
            some = [index for index, entry in enumerate(owned) if entry[0] == number and view < many[entry[2]]]
            places = [owned[index][1] for index in some]
            still = np.tile([0.0, 0.0, 0.0, 1.0], (len(places), 1))
            patches.append(sampler.cut_moved(board.straight, places, draw_moves(len(places), rng) if view else still))
            contents += [owned[index][2] for index in some]
            source += some
    return _examples(sampler.layout, np.concatenate(patches), contents, np.array(source))


def _examples(layout: Layout, patches: ByteArray, contents: Sequence[Content], source: NDArray[np.int64]) -> Examples:
    names: dict[Content, int] = {}
    state = np.array([names.setdefault(content, len(names)) for content in contents])
    counts = np.zeros((len(contents), len(layout.things)), np.int64)
    for row, content in enumerate(contents):
        for thing, many in content.things:
            counts[row, thing] = many
    return Examples(patches, np.array([content.ground for content in contents]), counts, state, source)


def _emptied(sampler: Sampler, taught: Sequence[LabelledBoard]) -> list[LabelledBoard]:
    """Return boards on which places are emptied, for grounds that were never seen empty: what is around is drawn in."""
    seen = {content.ground for board in taught for content in board.contents.values() if not content.things}
    boards = []
    for board in taught:
        straight, bare = board.straight, {}
        mask = np.zeros(straight.shape[:2], np.uint8)
        for number, content in board.contents.items():
            x, y, size = sampler.middle(number)
            if content.ground in seen:
                continue
            if number in sampler.strips:
                found = find_pieces(sampler, board.straight, number, content)
                if found:
                    straight = _emptied_strip(sampler, straight, number, [p for some in found.values() for p in some])
                    bare[number] = Content(content.ground)
            elif len(content.things) == 1:
                cv2.circle(mask, (round(x), round(y)), round(0.36 * size), 255, -1)
                bare[number] = Content(content.ground)
        if bare:
            filled = cv2.inpaint(straight, mask, 3, cv2.INPAINT_TELEA).astype(np.uint8, copy=False)
            boards.append(LabelledBoard(filled, bare))
    return boards


def _emptied_strip(
    sampler: Sampler, straight: ByteArray, number: int, pieces: Sequence[NDArray[np.bool_]]
) -> ByteArray:
    """Return a straight board without the pieces of a strip: its ground is drawn in, and what is beside it."""
    size = sampler.middle(number)[2]
    around = np.ones((2 * round(_RIM * size) + 1,) * 2, np.uint8)
    covered = cv2.dilate(np.any(pieces, axis=0).astype(np.uint8), around) > 0
    within = sampler.within(number, straight.shape[:2])
    emptied = straight.copy()
    for own in (within, ~within):
        unknown = (covered | ~own).astype(np.uint8) * np.uint8(255)
        filled: Any = cv2.inpaint(straight, unknown, 3, cv2.INPAINT_TELEA)
        emptied[covered & own] = filled[covered & own]
    return emptied


def _moved(
    sampler: Sampler,
    taught: Sequence[LabelledBoard],
    owned: list[tuple[int, int, Content]],
    rng: np.random.Generator,
    many: int,
) -> tuple[ByteArray, list[Content], NDArray[np.int64]]:
    """Return taught places, each state about as often by the root of how often it was seen, moved and turned."""
    states: dict[Content, list[int]] = {}
    for index, (_, _, content) in enumerate(owned):
        states.setdefault(content, []).append(index)
    share = {content: np.sqrt(len(indices)) for content, indices in states.items()}
    total = sum(share.values())
    chosen: list[int] = []
    for content, indices in states.items():
        number = max(len(indices), round(many * share[content] / total))
        chosen += [indices[i] for i in rng.permutation(np.arange(number) % len(indices))]
    patches = np.empty((len(chosen), PATCH, PATCH, 3), np.uint8)
    moves = draw_moves(len(chosen), rng)
    for shot in range(len(taught)):
        rows = [row for row, index in enumerate(chosen) if owned[index][0] == shot]
        if rows:
            places = [owned[chosen[row]][1] for row in rows]
            patches[rows] = sampler.cut_moved(taught[shot].straight, places, moves[rows])
    return patches, [owned[index][2] for index in chosen], np.array(chosen)


def draw_moves(many: int, rng: np.random.Generator) -> FloatArray:
    """Return (many, 4) moves: small ones, and any of four directions for most."""
    quarter = np.where(rng.random(many) < 0.4, 0, rng.integers(0, 4, many)) * np.pi / 2
    return np.column_stack(
        [
            rng.normal(0, 0.035, many),
            rng.normal(0, 0.035, many),
            quarter + rng.normal(0, 0.05, many),
            np.exp(rng.normal(0, 0.03, many)),
        ]
    )


def _composed(
    sampler: Sampler,
    taught: Sequence[LabelledBoard],
    owned: list[tuple[int, int, Content]],
    cutouts: Cutouts,
    rng: np.random.Generator,
    many: int,
) -> tuple[ByteArray, list[Content]] | None:
    layout, things = sampler.layout, sorted(cutouts)
    if not things or not many:
        return None
    grounds = _grounds_of(sampler, owned)
    bases = [entry for entry in owned if not entry[2].things]
    if not bases:
        return None
    by_ground: dict[int, list[tuple[int, int, Content]]] = {}
    for entry in bases:
        by_ground.setdefault(entry[2].ground, []).append(entry)
    strips = {ground for ground, some in by_ground.items() if any(place in sampler.strips for _, place, _ in some)}
    heaps = float(np.prod([layout.most[t] + 1.0 for t in things])) / (len(things) + 1)
    full = [entry for entry in owned if entry[2].things and any(_fits(layout, t, entry[2]) for t in things)]
    patches = np.empty((many, PATCH, PATCH, 3), np.uint8)
    contents: list[Content] = []
    while len(contents) < many:
        first = int(rng.choice(things))
        allowed = [g for g in sorted(grounds[first]) if g in by_ground]
        if not allowed:
            allowed = list(by_ground)
        if full and rng.random() < 0.25:
            base = full[int(rng.integers(len(full)))]
            number = 1
        else:
            if not layout.on[first] and rng.random() < _ELSEWHERE:
                allowed = list(by_ground)
            choice = by_ground[int(rng.choice(allowed, p=_shares(allowed, strips, heaps)))]
            base = choice[int(rng.integers(len(choice)))]
            number = int(rng.choice([1, 2, 3, 4], p=[0.45, 0.35, 0.15, 0.05]))
            if base[1] in sampler.strips:
                number = int(rng.integers(1, 1 + sum(layout.most[t] for t in things)))
        counts = dict(base[2].things)
        laid: list[int] = []
        for k in range(number):
            ground = base[2].ground
            fitting = [
                t
                for t in things
                if _fits(layout, t, Content(ground, tuple(counts.items())))
                and (ground in grounds[t] or (k == 0 and t == first))
            ]
            thing = first if k == 0 and first in fitting else (int(rng.choice(fitting)) if fitting else -1)
            # The same again is as likely as another.
            if laid and rng.random() < 0.4 and laid[-1] in fitting:
                thing = laid[-1]
            if thing < 0:
                break
            counts[thing] = counts.get(thing, 0) + 1
            laid.append(thing)
        if not laid:
            # Everything is full here: try another place, in the hope that not all are.
            if rng.random() < 0.02:
                return (patches[: len(contents)], contents) if contents else None
            continue
        move = draw_moves(1, rng)
        patch = sampler.cut_moved(taught[base[0]].straight, [base[1]], move)[0]
        pieces = [cutouts[t][int(rng.integers(len(cutouts[t])))] for t in laid]
        if base[1] in sampler.strips:
            _lay_on_strip(patch, pieces, sampler, base[1], move[0], rng)
        else:
            lay(patch, pieces, bool(base[2].things), rng)
        patches[len(contents)] = patch
        contents.append(Content(base[2].ground, tuple(sorted(counts.items()))))
    return patches, contents


def _grounds_of(sampler: Sampler, owned: Sequence[tuple[int, int, Content]]) -> dict[int, set[int]]:
    """Return for each thing the grounds it may lie on: as the layout says, or where its kind was seen, or anywhere.

    A kind that was seen on a strip may lie on any; that tells nothing of where else it may.
    """
    layout = sampler.layout
    seen: dict[str, set[int]] = {}
    heaped: set[str] = set()
    for _, place, content in owned:
        for thing, _ in content.things:
            kind = layout.things[thing].kind
            if place in sampler.strips:
                heaped.add(kind)
            else:
                seen.setdefault(kind, set()).add(content.ground)
    strips = {content.ground for _, place, content in owned if place in sampler.strips}
    grounds = {}
    for number, named in enumerate(layout.things):
        allowed = {layout.grounds.index(name) for name in layout.on[number]}
        elsewhere = seen.get(named.kind) or set(range(len(layout.grounds)))
        grounds[number] = allowed or (elsewhere | (strips if named.kind in heaped else set()))
    return grounds


def _shares(allowed: Sequence[int], strips: Container[int], heaps: float) -> FloatArray | None:
    """Return how often each ground is laid on: a strip by the root of how many heaps it may show; None: all alike."""
    long = [ground in strips for ground in allowed]
    if not any(long):
        return None
    share: FloatArray = np.where(long, max(float(np.sqrt(heaps)), 1.0), 1.0)
    share /= share.sum()
    return share


def _fits(layout: Layout, thing: int, there: Content) -> bool:
    """Return whether a place has room for one more of a thing; heaps may lie on some grounds only."""
    if there.count(thing) >= layout.most[thing]:
        return False
    kind = layout.things[thing].kind
    heap = any(layout.things[other].kind == kind for other, _ in there.things)
    return not heap or not layout.heaps[thing] or layout.grounds[there.ground] in layout.heaps[thing]


def lay(patch: ByteArray, things: list[Cutout], beside: bool, rng: np.random.Generator) -> None:
    """Lay cutouts onto a patch: one about the middle, several around it."""
    many = len(things) + (1 if beside else 0)
    spread = 0.06 if many == 1 else (0.2 if many < 4 else 0.26)
    turn0 = rng.uniform(0, 2 * np.pi)
    laid = []
    for number, thing in enumerate(things):
        around = turn0 + 2 * np.pi * number / many
        ring = spread * rng.uniform(0.5, 1.2) if many > 1 else 0.0
        at = (PATCH - 1) / 2 + _PLACE * (ring * np.array([np.cos(around), np.sin(around)]) + rng.normal(0, 0.05, 2))
        small = float(rng.normal(0, 12))
        turn = float(rng.uniform(-180, 180)) if rng.random() < 0.5 else small
        grown = float(np.exp(rng.normal(0, 0.05)))
        # However a piece is turned, its shade falls the same way.
        if thing.darkens:
            shade = cv2.warpAffine(thing.shade, _onto(thing, at, small, grown), (PATCH, PATCH), borderValue=1.0)
            cv2.blendLinear(patch, _BLACK, shade, 1 - shade, dst=patch)
        laid.append((thing, _onto(thing, at, turn, grown)))
    for thing, matrix in laid:
        put(patch, thing, matrix)


def _lay_on_strip(
    patch: ByteArray,
    things: Sequence[Cutout],
    sampler: Sampler,
    number: int,
    move: FloatArray,
    rng: np.random.Generator,
) -> None:
    """Lay cutouts anywhere on a strip that was moved in its patch, as large as they are there, rather apart."""
    place, small = sampler.layout.places[number], sampler.shrunk(number)
    free = np.array([place.width, place.height]) / max(place.width, place.height) - small / 2
    right, down, turn, grown = move.tolist()
    cos, sin = grown * np.cos(turn), grown * np.sin(turn)
    spots: list[FloatArray] = []
    for thing in things:
        some = rng.uniform(-0.5, 0.5, (_CANDIDATES, 2)) * free
        apart = [min((float(np.linalg.norm(one - other)) for other in spots), default=0.0) for one in some]
        spots.append(some[int(np.argmax(apart))])
        x, y = spots[-1] - [right, down]
        at = (PATCH - 1) / 2 + _PLACE * np.array([cos * x + sin * y, cos * y - sin * x])
        size = small * grown * float(np.exp(rng.normal(0, 0.05)))
        put(patch, thing, _onto(thing, at, float(rng.uniform(-180, 180)), size))


def put(patch: ByteArray, thing: Cutout, matrix: Any) -> None:
    """Put a cutout, brought there by a matrix (2, 3), over what a patch shows."""
    cover = cv2.warpAffine(thing.cover, matrix, (PATCH, PATCH)).astype(np.float32) * np.float32(1 / 255)
    picture = cv2.warpAffine(thing.picture, matrix, (PATCH, PATCH), borderMode=cv2.BORDER_REPLICATE)
    cv2.blendLinear(patch, picture, 1 - cover, cover, dst=patch)


def _onto(thing: Cutout, at: FloatArray, turn: float, grown: float) -> Any:
    """Return the matrix (2, 3) that brings a cutout's middle to a point, turned by degrees and grown."""
    matrix: Any = cv2.getRotationMatrix2D((float(thing.middle[0]), float(thing.middle[1])), turn, grown)
    matrix[:, 2] += at - thing.middle
    return matrix


def in_other_light(patches: ByteArray, rng: np.random.Generator) -> ByteArray:
    """Return the patches in a little other light each, some blurred, all with noise."""
    n = len(patches)
    gain = np.exp(rng.normal(0, 0.08, (n, 1)) + rng.normal(0, 0.03, (n, 3))).astype(np.float32)
    slope = rng.normal(0, 0.06, (n, 2)).astype(np.float32)
    soft = np.where(rng.random(n) < 0.3, rng.uniform(0.4, 1.0, n), 0.0).tolist()
    rough = rng.uniform(0.5, MOST_NOISE, n).tolist()
    # Noise is drawn once and taken from anywhere in it: to draw it for each patch would take longer than to learn.
    grain = rng.standard_normal(64 * PATCH * PATCH * 3, dtype=np.float32)
    start = rng.integers(0, len(grain) - PATCH * PATCH * 3, n).tolist()
    veil = np.where(rng.random(n) < _VEILED, rng.exponential(_VEIL, n), 0.0).astype(np.float32)
    thick = rng.uniform(-0.8, 0.8, (n, 2)).astype(np.float32)
    # Each colour is lit along a plane.
    planes = np.concatenate([np.ones((n, 1), np.float32), slope], axis=1)[:, :, None] * gain[:, None]
    lit = np.empty_like(patches)
    out: Any = np.empty((PATCH, PATCH, 3), np.float32)
    for row in range(n):
        cv2.multiply(patches[row], (_PLANE @ planes[row]).reshape(out.shape), dst=out, dtype=cv2.CV_32F)
        if veil[row]:
            haze = veil[row] * (1 + _PLANE[:, 1:] @ thick[row])
            out *= np.float32(1 / 255)
            np.power(out, CODED, out=out)
            out += haze.reshape(PATCH, PATCH, 1)
            np.power(out, 1 / CODED, out=out)
            out *= 255
        if soft[row]:
            cv2.GaussianBlur(out, (0, 0), soft[row], dst=out)
        noise = grain[start[row] : start[row] + PATCH * PATCH * 3].reshape(out.shape)
        cv2.addWeighted(out, 1, noise, rough[row], -0.5, dst=lit[row], dtype=cv2.CV_8U)
    return lit
