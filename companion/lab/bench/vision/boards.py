"""Figures of reading boards on rendered games: after the set-up and three further positions were taught.

Each set has art, lamp, lens and pieces of its own, of the family that nobody looks at while tuning and in light of
another sort; its positions are of a random game. Positions of such games pile up more on a place than people do.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from companion.lab.worlds import board, board_art
from companion.rules import game
from companion.rules.core import CHANCE, NOBODY
from vision.board.detect import BoardError
from vision.board.labels import Content, from_json
from vision.board.layout import Layout, open_layout
from vision.board.patches import Sampler
from vision.decode.photo import read_photo
from vision.read.calibrate import calibrate, to_profile
from vision.read.lesson import learn
from vision.read.place_posterior import PlaceLook
from vision.read.profile import printed_places
from vision.read.reader import TaughtBoard
from vision.read.relocate import BoardRelocator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from companion.ports import FloatArray

FIRST_SEED: Final = 53_000
_FAMILY: Final = 2
"""Sets that no test and no tuning has used."""
_TURNS: Final = (0.0, 0.3, 0.6, 0.9)


@dataclass
class _Tally:
    places: int = 0
    wrong: int = 0
    wrong_values: int = 0
    tokens: int = 0
    unsure: int = 0
    sure_and_wrong: int = 0
    boards: int = 0
    right_boards: int = 0
    photos: int = 0
    found: int = 0
    off: list[float] = field(default_factory=list)
    sure: list[float] = field(default_factory=list)
    right: list[bool] = field(default_factory=list)
    look_ms: list[float] = field(default_factory=list)
    calibrate_ms: list[float] = field(default_factory=list)
    hands: int = 0
    unmarked: int = 0
    found_unmarked: int = 0
    off_unmarked: list[float] = field(default_factory=list)
    claimed: list[float] = field(default_factory=list)
    noticed: int = 0


def measure_boards(sets: int, shown: int = 6) -> dict[str, float]:
    """Return the figures by name for ``sets`` rendered games, each with ``shown`` boards to read."""
    layout = open_layout("iglu-iglu")
    tally = _Tally()
    for number in range(sets):
        _one_set(layout, FIRST_SEED + number, shown, tally)
    return _figures(tally)


def positions(seed: int, players: int) -> list[dict[str, Any]]:
    """Return the places of every position of a random game, from the end of the set-up on."""
    played = game("iglu-iglu")
    rng = Random(seed)
    state: Any = played.start(played.seats(players), played.settled_options(None))
    inuit = 10 if players == 2 else 3 * players
    found: list[dict[str, Any]] = []
    while state.to_move != NOBODY:
        move = state.chance(rng) if state.to_move == CHANCE else rng.choice(list(state.moves()))
        state = state.play(move)
        places = state.position()["places"]
        here = sum(t["count"] for p in places.values() for t in p["things"] if t["kind"] == "inuit")
        if found or here == inuit:
            found.append(places)
    return found


def _one_set(layout: Layout, seed: int, shown: int, tally: _Tally) -> None:
    rng = np.random.default_rng(seed)
    game_positions = positions(seed, 2 + seed % 3)
    last = len(game_positions) - 1
    taught = [int(part * last) for part in _TURNS]
    drawn = board_art.Art(seed, _FAMILY)
    camera, light = board.random_view(seed, board.RenderedBoard({}, art=drawn))
    light = board.other_light(seed, light)
    sampler, profile = Sampler(layout), None
    for turn in taught:
        shot = _shot(drawn, game_positions[turn], camera, light, seed * 1000 + turn)
        image = read_photo(shot.jpeg)
        tally.photos += 1
        try:
            start = time.thread_time()
            found = calibrate([image], layout)
            tally.calibrate_ms.append(1000 * (time.thread_time() - start))
        except BoardError:
            continue
        tally.found += 1
        tally.off += _off(found[0].pose.corners(8, 8), shot.grid).tolist()
        profile = profile or to_profile([image], layout, found)
        pose = BoardRelocator(profile, sampler).find(image)
        if pose is not None:
            contents = from_json({"places": game_positions[turn]}, layout)
            known = {layout.index[name]: content for name, content in contents.items()}
            close = sampler.close(image, pose, printed_places(layout, known))
            profile = profile.taught(sampler.straighten(image, pose), known, close, pose.camera)
    if profile is None or not profile.shots:
        return
    table = TaughtBoard(learn(profile))
    for turn in rng.integers(1, last, shown):
        shot = _shot(drawn, game_positions[turn], camera, light, seed * 1000 + 400 + int(turn))
        _judge(table, shot, game_positions[turn], layout, tally)
    _judge_unmarked(drawn, game_positions[taught[1]], layout, seed, tally)
    _judge_hand(table, drawn, game_positions[taught[0]], camera, light, seed, tally)


def _shot(drawn: Any, places: dict[str, Any], camera: Any, light: Any, seed: int) -> Any:
    scene = board.RenderedBoard(places, art=drawn, seed=seed)
    return board.shoot(scene, *board.nearby(camera, light, seed), seed)


def _off(corners: FloatArray, truth: FloatArray) -> FloatArray:
    """Return (4,): how far the corners are off, in parts of a place."""
    unit = float(np.sqrt(cv2.contourArea(truth.astype(np.float32)))) / 8
    off: FloatArray = np.linalg.norm(corners - truth, axis=1) / unit
    return off


def _judge(table: TaughtBoard, shot: Any, places: dict[str, Any], layout: Layout, tally: _Tally) -> None:
    image = read_photo(shot.jpeg)
    tally.photos += 1
    pose = table.find(image)
    if pose is None:
        return
    tally.found += 1
    off = _off(pose.corners(8, 8), shot.grid)
    tally.off += off.tolist()
    tally.claimed.append(float(np.sqrt((off**2).mean())) / (pose.error_px / pose.unit_px(8, 8)))
    start = time.thread_time()
    seen = table.look(image, pose)
    tally.look_ms.append(1000 * (time.thread_time() - start))
    clean = True
    for name, content in from_json({"places": places}, layout).items():
        place = seen.places[name]
        right = place.content == content
        alike = _without_values(place.content, layout) == _without_values(content, layout)
        tally.places += 1
        tally.tokens += sum(count for thing, count in content.things if layout.things[thing].value is not None)
        tally.wrong += not alike
        tally.wrong_values += alike and not right
        tally.unsure += place.unsure
        tally.sure_and_wrong += not right and not place.unsure
        tally.sure.append(place.p)
        tally.right.append(right)
        clean = clean and alike
    tally.boards += 1
    tally.right_boards += clean


def _judge_unmarked(drawn: Any, places: dict[str, Any], layout: Layout, seed: int, tally: _Tally) -> None:
    """Find the board in two other views without markers, by its lines alone: right where no corner is a place off."""
    for number in (1, 2):
        scene = board.RenderedBoard(places, art=drawn, seed=seed * 1000, markers=None)
        camera, light = board.random_view(seed + 500 * number, scene)
        shot = board.shoot(scene, camera, board.other_light(seed + 500 * number, light), seed)
        tally.unmarked += 1
        try:
            found = calibrate([read_photo(shot.jpeg)], layout)
        except BoardError:
            continue
        off = _off(found[0].pose.corners(8, 8), shot.grid)
        if float(off.max()) < 0.25:
            tally.found_unmarked += 1
            tally.off_unmarked += off.tolist()


def _judge_hand(
    table: TaughtBoard,
    drawn: Any,
    places: dict[str, Any],
    camera: Any,
    light: Any,
    seed: int,
    tally: _Tally,
) -> None:
    """Hold a hand over four places: each of them is to be unsure."""
    scene = board.RenderedBoard(places, art=drawn, seed=seed * 1000)
    view, lamp = board.nearby(camera, light, seed * 1000)
    still = board.shoot(scene, view, lamp, seed)
    crossings = still.points.reshape(9, 9, 2)
    hand = tuple(tuple(crossings[row, column]) for row, column in ((2, 5), (2, 8), (4, 8), (5, 5)))
    held = board.shoot(replace(scene, hands=(hand,)), view, lamp, seed)
    seen = table.look(read_photo(held.jpeg), table.find(read_photo(still.jpeg)))
    covered: list[PlaceLook] = [seen.places[name] for name in ("f6", "g6", "h6", "f5", "g5") if name in seen.places]
    tally.hands += len(covered)
    tally.noticed += sum(place.unsure for place in covered)


def _without_values(content: Content, layout: Layout) -> tuple[int, tuple[tuple[str, str | None], ...]]:
    things = [(layout.things[t].kind, layout.things[t].colour) for t, count in content.things for _ in range(count)]
    return content.ground, tuple(sorted(things, key=str))


def interval(hits: int, of: int) -> tuple[float, float]:
    """Return the bounds in percent within which the true share lies with 95 % probability (Wilson's interval)."""
    if not of:
        return 0.0, 100.0
    z, p = 1.96, hits / of
    middle, wide = p + z * z / (2 * of), z * float(np.sqrt(p * (1 - p) / of + z * z / (4 * of * of)))
    low, high = (middle - wide) / (1 + z * z / of), (middle + wide) / (1 + z * z / of)
    return round(100 * max(low, 0.0), 2), round(100 * min(high, 1.0), 2)


def calibration_error(claimed: Sequence[float], right: Sequence[bool]) -> float:
    """Return how far probabilities are off on the whole, in fifteen bins (expected calibration error)."""
    sure, true = np.array(claimed), np.array(right, float)
    part = np.clip((sure * 15).astype(int), 0, 14)
    bins = [part == k for k in range(15) if (part == k).any()]
    return sum(abs(float(sure[b].mean() - true[b].mean())) * float(b.mean()) for b in bins)


def _bounds(name: str, hits: int, of: int) -> dict[str, float]:
    low, high = interval(hits, of)
    return {f"{name}, at least (%)": low, f"{name}, at most (%)": high}


def _figures(tally: _Tally) -> dict[str, float]:
    gap = calibration_error(tally.sure, tally.right)
    places, off = max(tally.places, 1), np.array(tally.off or [np.nan])
    return {
        "rendered boards read": tally.boards,
        "boards found in their photos (%)": round(100 * tally.found / max(tally.photos, 1), 2),
        "grid corner, mean error (% of a place)": round(100 * float(off.mean()), 2),
        "grid corner, 95 % (% of a place)": round(100 * float(np.quantile(off, 0.95)), 2),
        "places wrong, values aside (%)": round(100 * tally.wrong / places, 3),
        **_bounds("places wrong, values aside", tally.wrong, tally.places),
        "token values wrong (%)": round(100 * tally.wrong_values / max(tally.tokens, 1), 2),
        **_bounds("token values wrong", tally.wrong_values, tally.tokens),
        "boards without an error, values aside (%)": round(100 * tally.right_boards / max(tally.boards, 1), 1),
        **_bounds("boards without an error", tally.right_boards, tally.boards),
        "boards found without markers (%)": round(100 * tally.found_unmarked / max(tally.unmarked, 1), 1),
        **_bounds("boards found without markers", tally.found_unmarked, tally.unmarked),
        "grid corner without markers, mean error (% of a place)": round(
            100 * float(np.mean(tally.off_unmarked or [np.nan])), 2
        ),
        "corners off, as a multiple of error_px": round(float(np.sqrt(np.mean(np.square(tally.claimed or [0])))), 2),
        "places unsure (%)": round(100 * tally.unsure / places, 2),
        "places wrong and not unsure (%)": round(100 * tally.sure_and_wrong / places, 3),
        "expected calibration error (%)": round(100 * gap, 2),
        "places under a hand that are unsure (%)": round(100 * tally.noticed / max(tally.hands, 1), 1),
        "read a board, 1280×960 (ms, one core)": round(float(np.median(tally.look_ms or [0])), 1),
        "calibrate by markers, 1280×960 (ms, one core)": round(float(np.median(tally.calibrate_ms or [0])), 1),
    }
