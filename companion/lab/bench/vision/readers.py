"""Readers side by side, taught with the same four boards: the product's, a part of it alone, and two plain peers.

The boards are rendered ones that no test and no tuning has used, or photos of your own in a folder: ``layout.toml``,
photos in the order of their names, and beside each what lies on it (``NAME.json`` or ``NAME.csv``); ``corners.txt``
where the grid's corners are to be given. The first four are taught, the others read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from companion.lab.bench.vision.boards import calibration_error, positions
from companion.lab.rows import Row, row
from companion.lab.worlds import board, board_art
from vision.board.features import describe, find_vocabulary
from vision.board.labels import Content, from_json, read_label_file
from vision.board.layout import Layout, open_layout
from vision.board.patches import PATCH, Sampler
from vision.decode.photo import read_photo, read_photo_file
from vision.learn.augment import Examples, make_views
from vision.learn.cutouts import LabelledBoard
from vision.learn.optimiser import scale_of
from vision.learn.whole_contents import read_whole, train_whole, views_of
from vision.read.calibrate import calibrate, to_profile
from vision.read.lesson import learn
from vision.read.place_posterior import UNSURE
from vision.read.profile import printed_places
from vision.read.reader import TaughtBoard
from vision.read.relocate import BoardRelocator

if TYPE_CHECKING:
    from companion.ports import ByteArray, FloatArray
    from vision.board.pose import Pose

TAUGHT: Final = 4
FIRST_SEED: Final = 64_000
_FAMILY: Final = 2
_SHOWN: Final = 6
_CELLS: Final = 8
_DIRECTIONS: Final = 9
_HELD: Final = 0.1
"""How much the plain ridge regression is held back, of its inputs' mean square."""

Read = tuple[Content, float, bool]
"""A content, how likely it is, and whether one had better not rely on it."""
Shown = tuple["ByteArray", "Pose", Mapping[int, Content]]
"""A photo, where the board is in it, and what lies in its places."""


@dataclass(frozen=True)
class BoardSet:
    """Photos of one table with what lies in their places; ``corners`` (4, 2) of the grid in the first, if given."""

    name: str
    layout: Layout
    photos: Sequence[tuple[ByteArray, Mapping[int, Content]]]
    corners: FloatArray | None = None


@dataclass
class _Tally:
    places: int = 0
    wrong: int = 0
    sure_and_wrong: int = 0
    unsure: int = 0
    boards: int = 0
    clean: int = 0
    claimed: list[float] = field(default_factory=list)
    right: list[bool] = field(default_factory=list)


def rendered_sets(many: int) -> Iterator[BoardSet]:
    """Yield so many rendered games of Iglu Iglu, each with ten boards."""
    layout = open_layout("iglu-iglu")
    for seed in range(FIRST_SEED, FIRST_SEED + many):
        places, rng = positions(seed, 2 + seed % 3), np.random.default_rng(seed)
        art, last = board_art.Art(seed, _FAMILY), len(places) - 1
        camera, light = board.random_view(seed, board.RenderedBoard({}, art=art))
        light = board.other_light(seed, light)
        turns = [int(part * last) for part in (0.0, 0.3, 0.6, 0.9)] + rng.integers(1, last, _SHOWN).tolist()
        photos = []
        for number, turn in enumerate(turns):
            scene = board.RenderedBoard(places[turn], art=art, seed=seed * 100 + number)
            shot = board.shoot(scene, *board.nearby(camera, light, seed * 100 + number), number)
            photos.append((read_photo(shot.jpeg), _numbered(layout, from_json({"places": places[turn]}, layout))))
        yield BoardSet(f"rendered {seed}", layout, photos)


def folder_set(folder: Path) -> BoardSet:
    """Return the boards in a folder.

    :raises BadDataError: the layout, a photo or its labels cannot be read.
    """
    layout = open_layout(str(folder / "layout.toml"))
    photos = []
    for photo in sorted(path for path in folder.iterdir() if path.suffix.lower() in {".jpg", ".png"}):
        said = next(path for path in (photo.with_suffix(".json"), photo.with_suffix(".csv")) if path.exists())
        photos.append((read_photo_file(photo), _numbered(layout, read_label_file(said, layout))))
    given = folder / "corners.txt"
    corners = np.loadtxt(given, delimiter=",").reshape(4, 2) if given.exists() else None
    return BoardSet(folder.name, layout, photos, corners)


def _numbered(layout: Layout, contents: Mapping[str, Content]) -> dict[int, Content]:
    return {layout.index[name]: content for name, content in contents.items()}


def compare(boards: BoardSet, *, taught: int = TAUGHT, pose: Pose | None = None) -> Iterator[Row]:
    """Yield a line for each reader: places of known things that it reads wrong, and what else there is to know.

    The first ``taught`` boards are; with a ``pose`` the board is not looked for in the photos.
    """
    sampler = Sampler(boards.layout)
    first = boards.photos[0][0]
    found = to_profile([first], boards.layout, calibrate([first], boards.layout, boards.corners))
    finder = BoardRelocator(found, sampler)
    places = [(image, pose or finder.find(image), contents) for image, contents in boards.photos]
    shown = [(image, place, contents) for image, place, contents in places if place is not None]
    learnt, asked = shown[:taught], shown[taught:]
    readers: dict[str, Callable[[], Callable[[ByteArray, Pose], Sequence[Read]]]] = {
        "the product's": lambda: _present(boards.layout, sampler, found, learnt),
        "nearest place, colour and HOG": lambda: _nearest(sampler, learnt),
        "ridge, colour and HOG": lambda: _ridge(sampler, learnt),
        "whole contents": lambda: _whole(sampler, learnt),
    }
    known = set().union(*(_parts(content) for _, _, contents in learnt for content in contents.values()))
    for name, teach in readers.items():
        start = time.thread_time()
        read = teach()
        took = time.thread_time() - start
        tally, start = _Tally(), time.thread_time()
        for image, place, contents in asked:
            _judge(read(image, place), contents, known, tally)
        each = (time.thread_time() - start) / max(len(asked), 1)
        yield _line(f"{boards.name}: {name}", tally, took, each)


def _line(name: str, tally: _Tally, learnt: float, each: float) -> Row:
    note = (
        f"known places wrong, values too; of {tally.places}; sure and wrong {tally.sure_and_wrong}, "
        f"unsure {tally.unsure / max(tally.places, 1):.1%}, boards without an error {tally.clean} of {tally.boards}, "
        f"calibration error {calibration_error(tally.claimed, tally.right):.1%}, "
        f"taught in {learnt:.1f} s, read in {1000 * each:.0f} ms"
    )
    return row(name, round(100 * tally.wrong / max(tally.places, 1), 2), "%", note=note)


def _judge(read: Sequence[Read], contents: Mapping[int, Content], known: set[object], tally: _Tally) -> None:
    """Count a board; what holds something that was never taught counts only where it is read surely and wrong."""
    clean = True
    for number, content in contents.items():
        got, p, unsure = read[number]
        wrong = got != content
        if not _parts(content) <= known and not (wrong and not unsure):
            continue
        tally.places += 1
        tally.wrong += wrong
        tally.unsure += unsure
        tally.sure_and_wrong += wrong and not unsure
        tally.claimed.append(p)
        tally.right.append(not wrong)
        clean = clean and not wrong
    tally.boards += 1
    tally.clean += clean


def _parts(content: Content) -> set[object]:
    return {("ground", content.ground), *(thing for thing, _ in content.things)}


def _present(
    layout: Layout, sampler: Sampler, found: Any, taught: Sequence[Shown]
) -> Callable[[ByteArray, Pose], Sequence[Read]]:
    profile = found
    for image, pose, contents in taught:
        close = sampler.close(image, pose, printed_places(layout, contents))
        profile = profile.taught(sampler.straighten(image, pose), contents, close, pose.camera)
    table = TaughtBoard(learn(profile))

    def read(image: ByteArray, pose: Pose) -> Sequence[Read]:
        places = table.look(image, pose).places
        return [(places[p.name].content, places[p.name].p, places[p.name].unsure) for p in layout.places]

    return read


def _nearest(sampler: Sampler, taught: Sequence[Shown]) -> Callable[[ByteArray, Pose], Sequence[Read]]:
    seen, lying = [], []
    for image, pose, contents in taught:
        patches = sampler.cut(sampler.straighten(image, pose))
        seen += [described(patches[number]) for number in contents]
        lying += list(contents.values())
    every = np.stack(seen)

    def read(image: ByteArray, pose: Pose) -> Sequence[Read]:
        patches = sampler.cut(sampler.straighten(image, pose))
        nearest = [int(((every - described(patch)) ** 2).sum(axis=1).argmin()) for patch in patches]
        return [(lying[index], 1.0, False) for index in nearest]

    return read


def _views(sampler: Sampler, taught: Sequence[Shown]) -> tuple[list[LabelledBoard], Examples]:
    """Return the taught boards in the light of their photos, and their places moved and turned, as in the product."""
    boards = [LabelledBoard(sampler.straighten(image, pose), dict(contents)) for image, pose, contents in taught]
    many = views_of([content for board in boards for content in board.contents.values()])
    return boards, make_views(sampler, boards, many)


def _ridge(sampler: Sampler, taught: Sequence[Shown]) -> Callable[[ByteArray, Pose], Sequence[Read]]:
    """Teach ridge regression from colours and HOG, one answer for each content that was taught."""
    _, views = _views(sampler, taught)
    _, first, rows = np.unique(views.state, return_index=True, return_inverse=True)
    names = [_content(views, row) for row in first.tolist()]
    features = np.stack([described(patch) for patch in views.patches]).astype(np.float32)
    mean, scale = features.mean(axis=0), scale_of(features)
    seen = (features - mean) * scale
    usual = np.bincount(rows) / len(rows)
    weight = (1 / np.sqrt(np.bincount(rows))[rows])[:, None]
    weight /= weight.mean()
    inner = seen.T @ (seen * weight) + _HELD * (seen**2).sum(axis=1).mean() * np.eye(seen.shape[1])
    answers = np.linalg.solve(inner, seen.T @ ((np.eye(len(usual))[rows] - usual) * weight))

    def read(image: ByteArray, pose: Pose) -> Sequence[Read]:
        patches = sampler.cut(sampler.straighten(image, pose))
        seen = np.stack([described(patch) for patch in patches]).astype(np.float32)
        scores = (seen - mean) * scale @ answers + usual
        return [(names[index], 1.0, False) for index in scores.argmax(axis=1).tolist()]

    return read


def _content(views: Examples, row: int) -> Content:
    things = tuple((thing, many) for thing, many in enumerate(views.counts[row].tolist()) if many)
    return Content(int(views.ground[row]), things)


def _whole(sampler: Sampler, taught: Sequence[Shown]) -> Callable[[ByteArray, Pose], Sequence[Read]]:
    """Teach the part of the product that answers with whole contents alone: what was never taught so, it cannot read.

    It sees each photo in its own light.
    """
    boards, views = _views(sampler, taught)
    patches = np.concatenate([sampler.cut(board.straight, sorted(board.contents)) for board in boards])
    arrays = find_vocabulary(patches)
    arrays |= train_whole(describe(views.patches, arrays), views, single=max(sampler.layout.most, default=1) <= 1)

    def read(image: ByteArray, pose: Pose) -> Sequence[Read]:
        cut = sampler.cut(sampler.straighten(image, pose))
        likely = [max(p.items(), key=lambda way: way[1]) for p in read_whole(describe(cut, arrays), cut, arrays)]
        return [(content, p, p < UNSURE) for content, p in likely]

    return read


def described(patch: ByteArray) -> FloatArray:
    """Return a patch as colours on a coarse grid and histograms of edges' directions (Dalal and Triggs 2005)."""
    lab: Any = cv2.cvtColor(patch, cv2.COLOR_BGR2LAB)
    colours = cv2.resize(lab, (_CELLS, _CELLS), interpolation=cv2.INTER_AREA).astype(np.float64).ravel() / 25
    grey = cv2.cvtColor(patch, cv2.COLOR_BGR2GRAY).astype(np.float32)
    gx, gy = cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1)
    size, turn = np.hypot(gx, gy), (np.arctan2(gy, gx) % np.pi) / np.pi * _DIRECTIONS
    side = PATCH // _CELLS
    cells = np.empty((_CELLS, _CELLS, _DIRECTIONS))
    for k in range(_DIRECTIONS):
        off = np.abs((turn - k + _DIRECTIONS / 2) % _DIRECTIONS - _DIRECTIONS / 2)
        share = size * np.maximum(1 - off, 0)
        cells[..., k] = share.reshape(_CELLS, side, _CELLS, side).sum(axis=(1, 3))
    four = np.stack([cells[y : y + 2, x : x + 2].ravel() for y in range(_CELLS - 1) for x in range(_CELLS - 1)])
    even = four / (np.linalg.norm(four, axis=1, keepdims=True) + 50)
    return np.concatenate([colours, even.ravel()])
