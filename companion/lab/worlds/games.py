"""Drawn games that nobody made: what a network learns from what places look like; by jax, on any device.

A game has grounds, sorts of things, some contents that places have, and five photos of light and sight of their own.
There are four kinds of games (:data:`KINDS`): pieces that stand on grounds, tiles with small marks in a corner, tall
printed blocks, and flat tokens. Places are shown as the product cuts them (:mod:`vision.board.patches`), with what is
around them. Places of four photos are for learning from, in two views each, those of the fifth are asked: of these some
hold a thing that was not shown before, which is no content of the game.

As a draw decides both whether something is so and by how much, where one key serves for two, the order of keys is part
of what the shipped embedding has seen.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

# First of all, as it sets the flags that jax reads when it is imported.
from companion.lab.worlds.games_art import (
    ART,
    DECORATIONS,
    GROUNDS,
    SORTS,
    SPRITE,
    TEXTURE,
    colours,
    over,
    sampled,
    some,
    sprites,
    textures,
    turned,
    uniform,
)

# isort: split
import jax
import jax.numpy as jnp
from jax import lax, random

from vision.board.patches import CONTEXT, PATCH

KINDS: Final = ("pieces", "tiles with marks", "tall blocks", "tokens")
CONTENTS: Final = 32
"""Contents that a game may have."""
PHOTOS: Final = 5
TAUGHT: Final = 64
"""Places that are learnt from, each in :data:`VIEWS` views: first all as they are, nearly, then moved and turned."""
VIEWS: Final = 2
ASKED: Final = 64
PLACES: Final = TAUGHT * VIEWS + ASKED
"""Pictures of a game."""
_THINGS: Final = 4
"""Things of a place at the most."""
_BESIDE: Final = 2
_AROUND: Final = 8
_ALL: Final = TAUGHT + ASKED
_NEVER: Final = -1e9
_FAR: Final = 9.0
_TILES, _BLOCKS, _TOKENS = 1, 2, 3


class Truth(NamedTuple):
    """What is true of places (n,): number of the content, ground, how many of each sort (n, SORTS), whether strange."""

    content: Any
    ground: Any
    counts: Any
    strange: Any


class DrawnGame(NamedTuple):
    """Pictures (n, PATCH, PATCH, 3) in −0.5…0.5, what is true of them, and which of :data:`KINDS` the game is."""

    pictures: Any
    truth: Truth
    kind: Any


class _Assets(NamedTuple):
    """What is one for a game: art, sizes and heights (ART,) of things, size of a ground's cell and of its cut."""

    tops: Any
    sides: Any
    grounds: Any
    size: Any
    height: Any
    cell: Any
    cut: Any


class _Lying(NamedTuple):
    """What lies in and about places (n, …): decorations, four neighbours, own things, four neighbours; nine cells."""

    sort: Any
    there: Any
    at: Any
    turn: Any
    grow: Any
    ground: Any
    ground_turn: Any
    ground_off: Any
    ground_cut: Any
    tint: Any


class _Seen(NamedTuple):
    """How places (n, …) are seen: how things lean, their shadows, the photo's light and the camera's faults."""

    lean: Any
    sun: Any
    shadow: Any
    gain: Any
    gamma: Any
    veil: Any
    blur: Any
    noise: Any
    gradient: Any
    chroma: Any
    saturation: Any
    glare: Any
    glare_at: Any
    hand: Any
    hand_way: Any
    skin: Any


class _Contents(NamedTuple):
    """Contents (CONTENTS,) of a game: ``many`` of sort ``a`` and ``more`` of sort ``b``, on a ``ground``."""

    a: Any
    b: Any
    many: Any
    more: Any
    ground: Any
    counts: Any
    same: Any
    there: Any
    grounds: Any
    sorts: Any


def _by_kind(kind: Any, tiles: Any, blocks: Any, others: Any) -> Any:
    return jnp.where(kind == _TILES, tiles, jnp.where(kind == _BLOCKS, blocks, others))


def _contents(keys: Any, kind: Any) -> _Contents:
    """Draw what a game's places may hold; of those that are alike ``same`` numbers the first."""
    few = random.randint(keys[3], (), 1, 4)
    grounds = jnp.where(kind == _BLOCKS, few, random.randint(keys[3], (), 1, 6))
    grounds = jnp.where(kind == _TILES, random.randint(keys[3], (), 3, GROUNDS + 1), grounds)
    sorts = _by_kind(kind, 1, random.randint(keys[4], (), 8, SORTS + 1), random.randint(keys[4], (), 2, 13))
    one = (CONTENTS,)
    ground = random.randint(keys[5], one, 0, GROUNDS) % grounds
    bare = some(keys[6], one, 0.3)
    a = random.randint(keys[7], one, 0, SORTS) % sorts
    b = random.randint(keys[8], one, 0, SORTS) % sorts
    many = jnp.where(bare, 0, random.choice(keys[9], jnp.array([1, 1, 1, 2, 2, 3, 4]), one))
    more = jnp.where(some(keys[10], one, 0.65), 0, random.choice(keys[11], jnp.array([1, 1, 2]), one))
    more = jnp.minimum(jnp.where(bare | (a == b), 0, more), _THINGS - many)
    i = jnp.arange(CONTENTS)
    many = _by_kind(kind, (i // grounds) % 4, (i >= grounds).astype(jnp.int32), many)
    more = jnp.where((kind == _TILES) | (kind == _BLOCKS), 0, more)
    a = _by_kind(kind, 0, (i - grounds) % sorts, a)
    ground = _by_kind(kind, i % grounds, jnp.where(i < grounds, i, grounds - 1), ground)
    total = _by_kind(
        kind,
        jnp.minimum(CONTENTS, grounds * 4),
        jnp.minimum(CONTENTS, grounds + sorts),
        random.randint(keys[12], (), 6, CONTENTS + 1),
    )
    counts = jnp.zeros((CONTENTS, SORTS), jnp.int32).at[i, a].add(many).at[i, b].add(more)
    alike = (ground[:, None] == ground[None]) & (counts[:, None] == counts[None]).all(-1)
    return _Contents(a, b, many, more, ground, counts, jnp.argmax(alike, axis=1), i < total, grounds, sorts)


def _truth(keys: Any, kind: Any, c: _Contents) -> Truth:
    """Draw what each place holds: every content that is taught once, then some oftener than others."""
    taught = c.there & some(keys[13], (CONTENTS,), 0.85)
    rate = jnp.exp(uniform(keys[14], (CONTENTS,), -2.2, 0))
    rate = rate * jnp.where((kind == _TILES) & (c.many > 1), 0.35, 1.0)
    shown = random.categorical(keys[15], jnp.where(taught, jnp.log(rate), _NEVER), shape=(TAUGHT,))
    turn = jnp.arange(TAUGHT)
    shown = jnp.where((turn < CONTENTS) & taught[turn % CONTENTS], turn % CONTENTS, shown)
    asked = random.categorical(keys[16], jnp.where(c.there, 0.0, _NEVER), shape=(ASKED,))
    content = c.same[jnp.concatenate([shown, asked])]
    strange = jnp.concatenate([jnp.zeros(TAUGHT, bool), some(keys[17], (ASKED,), 0.12)])
    return Truth(content, c.ground[content], c.counts[content], strange)


def _sizes(keys: Any, kind: Any, makes: Any) -> tuple[Any, Any]:
    """Return how large each sort is, and how high, of a place's side (ART,); things of one make are alike."""
    decoration = jnp.arange(ART) >= SORTS
    loose = uniform(keys[19], (ART,), 0.22, 0.6)[makes] * jnp.where(kind == _TOKENS, 1.2, 1.0)
    size = _by_kind(kind, uniform(keys[19], (), 0.14, 0.3), uniform(keys[19], (), 0.8, 1.0), loose)
    size = jnp.where(decoration, uniform(keys[20], (ART,), 0.15, 0.5), size)
    flat = jnp.where(kind == _TILES, 0.0, jnp.where(kind == _TOKENS, 0.15, 1.0))
    own = uniform(keys[21], (ART,), 0, 0.9)[makes] * flat
    height = jnp.where(kind == _BLOCKS, uniform(keys[21], (), 0.0, 0.7), own)
    return size, jnp.where(decoration, 0.0, height)


def _own_things(keys: Any, kind: Any, c: _Contents, truth: Truth, size: Any, turns: Any) -> tuple[Any, Any, Any, Any]:
    """Return sort, whether it is there, spot and turn of the things in places (n, _THINGS, …), strangers among them."""
    n, each = _ALL, jnp.arange(_THINGS)[None]
    content = truth.content
    which = jnp.where(each < c.many[content][:, None], c.a[content][:, None], c.b[content][:, None])
    there = each < (c.many + c.more)[content][:, None]
    # What is strange is a decoration, or of a sort beyond those of the game.
    strange = jnp.where(
        some(keys[22], (n,), 0.5),
        SORTS + random.randint(keys[22], (n,), 0, DECORATIONS),
        c.sorts + random.randint(keys[23], (n,), 0, SORTS),
    )
    strange = jnp.where(strange >= ART, SORTS, strange)
    last = _THINGS - 1
    which = which.at[:, last].set(jnp.where(truth.strange, strange, which[:, last]))
    there = there.at[:, last].set(there[:, last] | truth.strange)
    many = there.sum(1)[:, None]
    angle = uniform(keys[24], (n, 1), 0, 2 * jnp.pi) + each * 2 * jnp.pi / jnp.maximum(many, 1)
    angle = angle + 0.3 * random.normal(keys[25], (n, _THINGS))
    far = size[which] * uniform(keys[26], (n, 1), 0.25, 0.75) * (1 + 0.35 * (many > 2))
    far = jnp.where(many > 1, far, 0)
    off = random.normal(keys[27], (n, 1, 2)) * jnp.where(kind == _BLOCKS, 0.02, 0.09)
    at = jnp.clip(jnp.stack([far * jnp.cos(angle), far * jnp.sin(angle)], -1) + off, -0.4, 0.4)
    # Marks stand in a row in a corner of their tile.
    row = jnp.stack([-0.36 + jnp.arange(_THINGS) * size[0] * 1.1, jnp.full((_THINGS,), -0.36)], -1)
    row = row + uniform(keys[32], (2,), -0.02, 0.1)
    own = turns[:, 4:5]
    cos, sin = jnp.cos(own), jnp.sin(own)
    rowed = jnp.stack([cos * row[:, 0] - sin * row[:, 1], sin * row[:, 0] + cos * row[:, 1]], -1)
    at = jnp.where(kind == _TILES, rowed, at)
    wobble = random.normal(keys[34], (n, _THINGS))
    lie = jnp.where(some(keys[33], (), 0.6), uniform(keys[34], (n, _THINGS), 0, 2 * jnp.pi), 0.12 * wobble)
    return which, there, at, _by_kind(kind, own, own + 0.05 * wobble, lie)


def _lying(keys: Any, more: Any, kind: Any, c: _Contents, truth: Truth, size: Any, tint: Any) -> _Lying:
    """Draw what lies in places and about them; ``tint`` (n, 9, 3) are drawn shades of the cells."""
    n = _ALL
    ground = truth.ground
    quarter = random.randint(keys[28], (n, 9), 0, 4) * jnp.pi / 2 * some(keys[29], (), 0.55)
    loose = uniform(keys[30], (), 0, 1) ** 2
    turns = quarter + loose * 0.06 * random.normal(keys[31], (n, 9))
    which, there, at, turn = _own_things(keys, kind, c, truth, size, turns)
    busy = jnp.where(kind == _TILES, uniform(more[0], (), 0, 1), uniform(more[0], (), 0, 0.4) ** 1.5)
    usual = (jnp.arange(GROUNDS) * 3) % DECORATIONS
    decoration = usual[ground][:, None] + random.randint(more[1], (n, _BESIDE), 0, 2)
    beside = SORTS + decoration % DECORATIONS
    beside_at = uniform(more[2], (n, _BESIDE, 2), -0.36, 0.36)
    beside_there = some(more[3], (n, _BESIDE), busy)
    next_sort = random.randint(more[4], (n, _AROUND), 0, SORTS) % c.sorts
    next_there = some(more[5], (n, _AROUND), _by_kind(kind, 0.25, 0.5, 0.35))
    cells = [[-1, -1], [0, -1], [1, -1], [-1, 0], [1, 0], [-1, 1], [0, 1], [1, 1]]
    next_at = jnp.array(cells, jnp.float32)[None]
    next_at = next_at + random.normal(more[6], (n, _AROUND, 2)) * jnp.where(kind == _BLOCKS, 0.02, 0.12)
    wobble = 0.1 * random.normal(more[7], (n, _AROUND))
    any_way = some(keys[33], (), 0.6) & (kind != _BLOCKS)
    next_turn = jnp.where(any_way, uniform(more[7], (n, _AROUND), 0, 2 * jnp.pi), wobble)

    def rows(beside: Any, around: Any, own: Any) -> Any:
        """Lay what is behind first: neighbours overlap what lies in a place, and are overlapped."""
        return jnp.concatenate([beside, around[:, :4], own, around[:, 4:]], 1)

    all_turns = rows(jnp.zeros((n, _BESIDE)) + turns[:, 4:5], next_turn, turn)
    cell_ground = random.randint(more[9], (n, 9), 0, GROUNDS) % c.grounds
    cell_ground = jnp.where(jnp.arange(9)[None] == 4, ground[:, None], cell_ground)
    # Each tile is cut from its ground elsewhere, or all of a ground are alike.
    varied = some(more[12], (), 0.6)
    cut = jnp.where(varied, uniform(more[13], (n, 9, 2), 0, 1), uniform(more[13], (GROUNDS, 2), 0, 1)[cell_ground])
    return _Lying(
        sort=rows(beside, next_sort, which),
        there=rows(beside_there, next_there, there),
        at=rows(beside_at, next_at, at),
        turn=all_turns,
        grow=1 + 0.05 * random.normal(more[8], all_turns.shape),
        ground=cell_ground,
        ground_turn=turns,
        ground_off=loose * 0.025 * random.normal(more[10], (n, 9, 2)),
        ground_cut=cut,
        tint=1 + jnp.where(varied, uniform(tint[1], (), 0, 0.12), 0.01) * random.normal(tint[2], (n, 9, 3)),
    )


def _seen(more: Any, light: Any, odd: Any, photo: Any) -> _Seen:
    """Draw how each place is seen in its ``photo`` (n,): the product evens light between photos out, more or less."""
    n, one = _ALL, (PHOTOS,)
    lean = random.normal(more[15], (PHOTOS, 2)) * uniform(more[15], (), 0, 0.3)
    rough = uniform(more[18], (), 0.2, 1.0)
    gain = 0.12 * rough * random.normal(more[18], (PHOTOS, 3)) + 0.15 * rough * random.normal(more[19], (PHOTOS, 1))
    covered = (jnp.arange(n) >= TAUGHT) & some(odd[5], (n,), 0.04)
    return _Seen(
        lean=lean[photo] + random.normal(more[16], (n, 2)) * uniform(more[16], (), 0, 0.35),
        sun=(random.normal(more[17], (PHOTOS, 2)) * 0.25)[photo],
        shadow=uniform(more[17], one, 0, 0.5)[photo],
        gain=jnp.exp(gain)[photo],
        gamma=jnp.exp(0.15 * rough * random.normal(more[20], one))[photo],
        veil=(uniform(more[21], one, 0, 0.12) * rough)[photo] * uniform(more[21], (n,), 0, 1),
        blur=uniform(more[22], one, 0, 1.6)[photo],
        noise=uniform(more[23], one, 0.002, 0.045)[photo],
        gradient=0.15 * rough * random.normal(light[0], (n, 2)),
        chroma=uniform(light[1], one, 0, 1)[photo],
        saturation=jnp.exp(0.12 * rough * random.normal(light[2], one))[photo],
        glare=jnp.where(some(odd[3], (n,), 0.06), uniform(odd[3], (n,), 0.05, 0.5), 0.0),
        glare_at=uniform(odd[4], (n, 2), -1, 1),
        hand=jnp.where(covered, 0.35, _FAR),
        hand_way=uniform(odd[6], (n,), 0, 2 * jnp.pi),
        skin=colours(odd[7], (n,)),
    )


def _game(key: Any) -> tuple[Any, _Assets, _Lying, _Seen, Truth]:
    """Draw a game and all its places: those that are taught, then those that are asked."""
    keys = random.split(key, 40)
    tops, sides, makes = sprites(keys[0])
    grounds = textures(keys[1])
    kind = random.choice(keys[2], 4, p=jnp.array([0.3, 0.25, 0.25, 0.2]))
    contents = _contents(keys, kind)
    truth = _truth(keys, kind, contents)
    asked = jnp.full((ASKED,), PHOTOS - 1)
    photo = jnp.concatenate([random.randint(keys[18], (TAUGHT,), 0, PHOTOS - 1), asked])
    size, height = _sizes(keys, kind, makes)
    more, light, odd = random.split(keys[35], 24), random.split(keys[36], 4), random.split(keys[37], 8)
    muted = uniform(odd[0], (), 0.25, 1.0)

    def mute(colour: Any) -> Any:
        grey = colour.mean(-1, keepdims=True)
        return grey + (colour - grey) * muted

    assets = _Assets(
        tops=jnp.concatenate([mute(tops[..., :3]), tops[..., 3:]], -1),
        sides=mute(sides),
        grounds=mute(grounds),
        size=size,
        height=height,
        cell=jnp.where(some(more[11], (), 0.4), 1.0, uniform(more[11], (), 0.86, 1.0)),
        cut=uniform(more[14], (), 0.4, 1.0),
    )
    lying = _lying(keys, more, kind, contents, truth, size, odd)
    return kind, assets, lying, _seen(more, light, odd, photo), truth


def _spots(keys: Any, number: Any) -> tuple[Any, Any]:
    """Return where the pixels of pictures (n, PATCH, PATCH) lie, in places from the middle, moved and turned."""
    n = len(number)
    first = (jnp.arange(n) < TAUGHT) | (jnp.arange(n) >= TAUGHT * VIEWS)
    much = over(jnp.where(first, 0.35, 1.0))
    angle = random.normal(keys[0], (n, 1, 1)) * 0.06 * much
    grow = 1 + random.normal(keys[1], (n, 1, 1)) * 0.035 * much
    right, down = (random.normal(k, (n, 1, 1)) * 0.045 * much for k in keys[2:4])
    line = ((jnp.arange(PATCH) + 0.5) / PATCH - 0.5) * CONTEXT
    u, v = jnp.meshgrid(line, line)
    x, y = turned(angle, u[None] * grow, v[None] * grow)
    return x + right, y + down


def _grounds(assets: _Assets, lying: _Lying, x: Any, y: Any) -> Any:
    """Return the grounds of places and of those about them, and the table between."""
    column, row = (jnp.clip(jnp.floor(v + 0.5), -1, 1) for v in (x, y))
    cell = ((row + 1) * 3 + column + 1).astype(jnp.int32)
    rows = over(jnp.arange(len(x)))
    off = lying.ground_off[rows, cell]
    inner = turned(lying.ground_turn[rows, cell], x - column - off[..., 0], y - row - off[..., 1])
    inner_x, inner_y = (v / assets.cell for v in inner)
    ground, cut = lying.ground[rows, cell], lying.ground_cut[rows, cell]
    pixels, each = assets.grounds.reshape(-1, 3), TEXTURE * TEXTURE
    u, v = (jnp.mod(cut[..., axis] + w * assets.cut, 1) for axis, w in enumerate((inner_x, inner_y)))
    pictures = sampled(pixels, ground * each, u, v, TEXTURE, wrap=True) * lying.tint[rows, cell]
    between = jnp.full_like(ground, GROUNDS * each)
    table = sampled(pixels, between, jnp.mod(x * 0.5, 1), jnp.mod(y * 0.5, 1), TEXTURE, wrap=True)
    edge = jnp.clip((0.5 - jnp.maximum(jnp.abs(inner_x), jnp.abs(inner_y))) * 40 + 0.5, 0, 1)[..., None]
    return table + (pictures - table) * edge


def _with_things(pictures: Any, assets: _Assets, lying: _Lying, seen: _Seen, x: Any, y: Any) -> Any:
    """Return pictures with what lies there, one thing after the other: its shadow, its sides, its top."""
    pixels = assets.tops.reshape(-1, 4)

    def top(j: Any, right: Any, down: Any) -> Any:
        sort = lying.sort[:, j]
        px, py = turned(over(lying.turn[:, j]), x - over(lying.at[:, j, 0] + right), y - over(lying.at[:, j, 1] + down))
        scale = over(assets.size[sort] * lying.grow[:, j])
        px, py = px / scale + 0.5, py / scale + 0.5
        on = (px > 0) & (px < 1) & (py > 0) & (py < 1) & over(lying.there[:, j])
        return sampled(pixels, over(sort) * SPRITE * SPRITE, px, py, SPRITE, wrap=False) * on[..., None]

    def layer(pictures: Any, j: Any) -> tuple[Any, None]:
        sort = lying.sort[:, j]
        height = assets.height[sort]
        dark = over(seen.shadow * jnp.clip(height * 4, 0, 1))[..., None]
        pictures = pictures * (1 - top(j, seen.sun[:, 0] * height, seen.sun[:, 1] * height)[..., 3:] * dark)
        stands = over((height > 0.01).astype(jnp.float32))[..., None]
        for step in range(3):
            z = height * step / 3
            side = top(j, seen.lean[:, 0] * z, seen.lean[:, 1] * z)[..., 3:] * stands
            pictures = pictures * (1 - side) + side * over(assets.sides[sort]) * (0.8 + 0.2 * step / 3)
        above = top(j, seen.lean[:, 0] * height, seen.lean[:, 1] * height)
        return pictures * (1 - above[..., 3:]) + above[..., :3], None

    drawn, _ = lax.scan(layer, pictures, jnp.arange(lying.sort.shape[1]))
    return drawn


def _softer(pictures: Any) -> Any:
    """Return pictures (n, high, wide, 3) blurred by 1, 2, 1 in both ways."""
    p = jnp.pad(pictures, ((0, 0), (1, 1), (1, 1), (0, 0)), mode="edge")
    p = (p[:, 1:-1] * 2 + p[:, :-2] + p[:, 2:]) / 4
    return (p[:, :, 1:-1] * 2 + p[:, :, :-2] + p[:, :, 2:]) / 4


def _photographed(keys: Any, pictures: Any, seen: _Seen, x: Any, y: Any) -> Any:
    """Return pictures in the light of their photos, as a camera makes them, in −0.5…0.5 and 256 steps."""
    hand = jnp.cos(over(seen.hand_way)) * x + jnp.sin(over(seen.hand_way)) * y
    covered = jnp.clip((hand - over(seen.hand)) * 40 + 0.5, 0, 1)[..., None]
    pictures = pictures + (over(seen.skin) - pictures) * covered
    ramp = jnp.linspace(-1, 1, PATCH)
    across, down = (over(seen.gradient[:, axis])[..., None] for axis in (0, 1))
    pictures = pictures * (1 + across * ramp[None, None, :, None] + down * ramp[None, :, None, None])

    def each(values: Any) -> Any:
        return values[:, None, None, None]

    grey = pictures.mean(-1, keepdims=True)
    pictures = grey + (pictures - grey) * each(seen.saturation)
    pictures = jnp.clip(pictures, 1e-4, 2) ** each(seen.gamma) * over(seen.gain)
    pictures = pictures * (1 - each(seen.veil)) + each(seen.veil)
    far = (x - over(seen.glare_at[:, 0])) ** 2 + (y - over(seen.glare_at[:, 1])) ** 2
    pictures = pictures + (over(seen.glare) * jnp.exp(-far / 0.25))[..., None]
    soft = _softer(pictures)
    softer = _softer(_softer(_softer(soft)))
    blur = each(seen.blur)
    little = pictures + (soft - pictures) * blur / 0.7
    pictures = jnp.where(blur < 0.7, little, soft + (softer - soft) * (blur - 0.7) / 0.9)
    noise = random.normal(keys[4], (*pictures.shape[:3], 1)) * 0.7 + 0.5 * random.normal(keys[5], pictures.shape)
    pictures = pictures + each(seen.noise) * noise
    # Cameras keep colours in fewer pixels than light.
    grey = pictures.mean(-1, keepdims=True)
    hue = pictures - grey
    coarse = hue.reshape(len(hue), PATCH // 4, 4, PATCH // 4, 4, 3).mean((2, 4))
    coarse = jnp.repeat(jnp.repeat(coarse, 4, 1), 4, 2)
    pictures = grey + hue + (coarse - hue) * each(seen.chroma) * 0.7
    return jnp.round(jnp.clip(pictures, 0, 1) * 255) / 255 - 0.5


def draw(key: Any) -> DrawnGame:
    """Draw a game: :data:`PLACES` pictures, of which those from TAUGHT · VIEWS on are the asked ones."""
    own, sight = random.split(key)
    kind, assets, lying, seen, truth = _game(own)
    number = jnp.concatenate([jnp.tile(jnp.arange(TAUGHT), VIEWS), TAUGHT + jnp.arange(ASKED)])
    lying, seen, truth = jax.tree.map(lambda values: values[number], (lying, seen, truth))
    keys = random.split(sight, 10)
    x, y = _spots(keys, number)
    pictures = _with_things(_grounds(assets, lying, x, y), assets, lying, seen, x, y)
    return DrawnGame(_photographed(keys, pictures, seen, x, y), truth, kind)
