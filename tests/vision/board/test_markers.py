"""Markers and the straightened table, on rendered pictures whose truth is known."""

from __future__ import annotations

import dataclasses
import math

import cv2
import numpy as np
import pytest

from companion.lab.worlds import table
from vision import messages
from vision.board.marker_plane import PlaneError, bend_of, fit_plane
from vision.board.markers import MarkersFound, find_markers, find_table, plane_of, refine


def errors(found: MarkersFound, picture: table.Picture) -> np.ndarray:
    return np.concatenate([np.linalg.norm(c - picture.corners[n], axis=1) for n, c in found.corners.items()])


def true_shape(picture: table.Picture, to_picture: np.ndarray) -> tuple[float, float]:
    """Return the board's aspect and its worst angle's distance from 90°, straightened."""
    board = cv2.perspectiveTransform(picture.board[None], to_picture)[0]
    sides = np.roll(board, -1, axis=0) - board
    lengths = np.linalg.norm(sides, axis=1)
    turns = np.einsum("ij,ij->i", sides, np.roll(sides, 1, axis=0)) / (lengths * np.roll(lengths, 1))
    aspect = (lengths[0] + lengths[2]) / (lengths[1] + lengths[3])
    return float(aspect), math.degrees(math.asin(float(np.abs(turns).max())))


def test_corners_over_many_tables() -> None:
    off: list[float] = []
    for seed in (11, 12, 13, 14, 15, 16):
        scene, camera, light = table.random_scene(seed)
        camera = dataclasses.replace(camera, distance=1150.0)  # all four well inside the frame
        picture = table.render(scene, camera, light, seed=seed)
        found = find_markers(picture.image)
        assert found.missing == ()
        off += errors(found, picture).tolist()
        plane = plane_of(found, picture.image)
        assert not isinstance(plane, str)
        aspect, skew = true_shape(picture, plane.to_picture)
        assert aspect == pytest.approx(400 / 340, rel=0.025)
        assert skew < 1.0
    assert max(off) <= 0.5
    assert np.mean(off) <= 0.1


@pytest.mark.parametrize("tilt", [0, 8, 17, 25])
def test_tilt(tilt: float) -> None:
    picture = table.render(
        table.TableScene(tuple(table.cards(loose=25, seed=tilt))), table.PinholeCamera(tilt=tilt, distance=1050)
    )
    found = find_markers(picture.image)
    assert found.missing == ()
    assert errors(found, picture).max() <= 0.3


def test_linear_light_is_what_makes_it_exact() -> None:
    # The same corners refined in gamma-coded values come out half a pixel and more inside the black square.
    picture = table.render(table.TableScene(tuple(table.cards())), light=table.Light(blur=1.4, noise=0.002))
    grey = cv2.cvtColor(picture.image, cv2.COLOR_BGR2GRAY)
    coded = []
    for number, corners in find_markers(picture.image).corners.items():
        start = corners.astype(np.float32).reshape(-1, 1, 2).copy()
        usual = cv2.cornerSubPix(grey, start, (5, 5), (-1, -1), (3, 40, 0.01)).reshape(4, 2)
        coded += np.linalg.norm(usual - picture.corners[number], axis=1).tolist()
    assert np.mean(coded) > 0.5
    assert errors(find_markers(picture.image), picture).mean() < 0.1


@pytest.mark.parametrize(
    ("light", "limit"),
    [
        (table.Light(blur=2.2), 0.5),
        (table.Light(noise=0.04, exposure=0.4), 0.5),
        (table.Light(quality=40), 0.5),
        (table.Light(motion=2.5), 0.5),
        (table.Light(exposure=0.12), 0.5),
        (table.Light(warmth=0.4, slope=0.9), 0.5),
        (table.Light(glare=((260, 170, 60, 0.15),)), 0.5),
    ],
    ids=["blur", "noise", "jpeg", "motion", "dark", "warm lamp from the side", "glare beside"],
)
def test_bad_light(light: table.Light, limit: float) -> None:
    picture = table.render(table.TableScene(tuple(table.cards(loose=20, seed=5))), light=light, seed=2)
    found = find_markers(picture.image)
    assert found.missing == ()
    assert errors(found, picture).max() <= limit


def test_small_markers_and_a_phones_large_photo() -> None:
    far = table.render(table.TableScene(tuple(table.cards())), table.PinholeCamera(distance=2200))
    found = find_markers(far.image)
    assert found.missing == ()  # 27 pixels a side
    assert errors(found, far).max() <= 0.5
    phone = table.PinholeCamera(width=2040, height=1536, focal=1800, distance=1000)
    half = table.render(
        table.TableScene(tuple(table.cards(loose=20, seed=4))), phone, table.Light(blur=1.0, quality=None)
    )
    large = cv2.resize(half.image, (4080, 3072), interpolation=cv2.INTER_CUBIC)
    found = find_markers(large)
    assert found.missing == ()
    truth = {number: (corners + 0.5) * 2 - 0.5 for number, corners in half.corners.items()}
    assert errors(found, dataclasses.replace(half, corners=truth)).max() <= 0.5
    view = find_table(large)
    assert view.image is not None
    assert max(view.image.shape) <= 1600


def test_a_card_that_stands_up_a_little() -> None:
    laid = table.cards()
    laid[1] = dataclasses.replace(laid[1], slope=20.0)
    picture = table.render(table.TableScene(tuple(laid)))
    assert errors(find_markers(picture.image), picture).max() <= 0.3
    # It is no square of the common size any more, but the table is still straight to a few per cent.
    plane = plane_of(find_markers(picture.image), picture.image)
    assert not isinstance(plane, str)
    assert true_shape(picture, plane.to_picture)[0] == pytest.approx(400 / 340, rel=0.06)


def test_markers_laid_loosely_make_the_same_straight_board() -> None:
    # The markers' places say nothing of right angles: a quarter of the way off, the board's shape is the same.
    shapes = []
    for seed in (1, 2):
        picture = table.render(
            table.TableScene(tuple(table.cards(loose=60, seed=seed))), table.PinholeCamera(tilt=20, distance=1150)
        )
        plane = plane_of(find_markers(picture.image), picture.image)
        assert not isinstance(plane, str)
        shapes.append(true_shape(picture, plane.to_picture))
    assert [aspect for aspect, _ in shapes] == pytest.approx([400 / 340] * 2, rel=0.01)
    assert max(skew for _, skew in shapes) < 0.5


def test_the_view(still: list[table.Picture]) -> None:
    view = find_table(still[0].image)
    assert sorted(view.markers) == [0, 1, 2, 3]
    assert view.missing == ()
    assert view.note == messages.TABLE_FOUND
    assert view.image is not None
    # Clockwise from the far left, around everything.
    corners = np.array(view.corners)
    assert corners[0, 0] < corners[1, 0]
    assert corners[0, 1] < corners[3, 1]
    assert cv2.contourArea(corners.astype(np.float32), oriented=True) > 0
    for quad in still[0].corners.values():
        for corner in quad:
            assert cv2.pointPolygonTest(corners.astype(np.float32), tuple(corner.tolist()), False) > 0
    # The straight picture shows the markers again, upright and in their corners.
    again = find_markers(view.image)
    height, width = view.image.shape[:2]
    middles = {n: quad.mean(axis=0) / (width, height) for n, quad in again.corners.items()}
    assert [tuple((middles[n] > 0.5).tolist()) for n in range(4)] == [
        (False, False),
        (True, False),
        (True, True),
        (False, True),
    ]


def test_the_size_of_the_straight_picture_stays(still: list[table.Picture]) -> None:
    sizes = {find_table(picture.image).image.shape for picture in still}  # type: ignore[union-attr]
    assert len(sizes) == 1
    assert find_table(still[0].image).image.tobytes() == find_table(still[0].image).image.tobytes()  # type: ignore[union-attr]


def test_a_camera_on_the_other_side_gets_the_picture_by_the_markers(still: list[table.Picture]) -> None:
    upright = find_table(still[0].image).image
    turned = find_table(np.ascontiguousarray(still[0].image[::-1, ::-1])).image
    assert upright is not None
    assert turned is not None
    assert upright.shape == turned.shape
    assert np.abs(upright.astype(int) - turned).mean() < 4


def test_a_hidden_marker_is_missing(hidden: table.Picture) -> None:
    view = find_table(hidden.image)
    assert view.missing == (2,)
    assert view.image is None
    assert view.corners == ()
    assert view.note == messages.SOME_MISSING


def test_a_finger_over_an_edge_moves_no_corner(still: list[table.Picture]) -> None:
    quad = still[0].corners[0]
    grey = cv2.cvtColor(still[0].image, cv2.COLOR_BGR2GRAY)
    # A finger comes over a quarter of the far edge, between its corners.
    middle = (quad[0] * 0.6 + quad[1] * 0.4 - (0, 3)).round().astype(int)
    cv2.circle(grey, tuple(middle.tolist()), 7, 150, -1, cv2.LINE_AA)
    refined = refine(grey, np.round(quad))
    assert np.linalg.norm(refined - quad, axis=1).max() < 0.5


def scene_with(*more: table.TableCard, drop: tuple[int, ...] = ()) -> np.ndarray:
    laid = [card for card in table.cards() if card.id not in drop]
    return table.render(table.TableScene((*more, *laid))).image


def test_a_doubled_marker_is_said() -> None:
    view = find_table(scene_with(table.TableCard(2, (-40.0, 190.0), turn=30)))
    assert view.missing == (2,)
    assert view.note == messages.DOUBLED
    assert view.image is None


def test_other_prints_are_left_alone() -> None:
    other = table.TableCard(7, (0.0, 195.0))
    another = table.TableCard(1, (-120.0, 200.0), dictionary=cv2.aruco.DICT_5X5_50, modules=7)
    view = find_table(scene_with(other, another))
    assert sorted(view.markers) == [0, 1, 2, 3]
    assert view.image is not None
    strangers = tuple(dataclasses.replace(card, id=card.id + 20) for card in table.cards())
    view = find_table(table.render(table.TableScene(strangers)).image)
    assert view.markers == {}
    assert view.note == messages.NO_MARKERS


def test_a_mirrored_picture_is_said(still: list[table.Picture]) -> None:
    view = find_table(np.ascontiguousarray(still[0].image[:, ::-1]))
    assert view.note == messages.MIRRORED
    assert view.markers == {}


def test_the_wrong_order_is_said() -> None:
    laid = table.cards()
    swapped = (dataclasses.replace(laid[0], at=laid[1].at), dataclasses.replace(laid[1], at=laid[0].at), *laid[2:])
    view = find_table(table.render(table.TableScene(swapped)).image)
    assert view.missing == ()
    assert view.note == messages.WRONG_ORDER
    assert view.image is None


def test_prints_of_different_size_are_said() -> None:
    laid = table.cards()
    laid[3] = dataclasses.replace(laid[3], side=16.0)
    view = find_table(table.render(table.TableScene(tuple(laid))).image)
    assert view.missing == ()
    assert view.note == messages.WRONG_SHAPE


def test_the_table_half_out_of_the_picture() -> None:
    view = find_table(table.render(table.TableScene(tuple(table.cards())), table.PinholeCamera(target=(260, 0))).image)
    assert view.missing == (0, 3) or set(view.missing) >= {0, 3}
    assert view.note == messages.SOME_MISSING


@pytest.mark.parametrize("shape", [(1, 1, 3), (8, 4000, 3), (30, 30), (480, 640), (480, 640, 3)])
def test_pictures_without_a_table(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(3)
    for image in (np.zeros(shape, np.uint8), rng.integers(0, 256, shape, np.uint8)):
        view = find_table(image)
        assert view.image is None
        assert view.note == messages.NO_MARKERS


def test_art_alone_shows_no_marker() -> None:
    for art in range(4):
        picture = table.render(table.TableScene((), board=(700.0, 560.0), art=art), table.PinholeCamera(distance=800))
        assert find_markers(picture.image).corners == {}


@pytest.mark.parametrize("k1", [-0.12, 0.0, 0.06])
def test_markers_tell_how_the_lens_bends(k1: float) -> None:
    camera = table.PinholeCamera(tilt=15, azimuth=9, k1=k1)
    picture = table.render(table.TableScene(tuple(table.cards(loose=25, seed=4))), camera)
    quads = list(find_markers(picture.image).corners.values())
    assert len(quads) == 4
    true = k1 * (camera.width / 2 / camera.focal) ** 2
    for shown in (quads, quads[:3], quads[1:]):
        bend, error = bend_of(shown, (camera.width, camera.height))
        assert abs(bend - true) < 0.005
        assert abs(bend - true) < 4 * error < 0.03


def test_prints_that_are_no_squares_tell_nothing_of_the_lens() -> None:
    rng = np.random.default_rng(5)
    quads = [
        np.array([[x, y], [x + 60, y], [x + 60, y + 60], [x, y + 60]]) + rng.normal(0, 8, (4, 2))
        for x, y in ((200.0, 200.0), (900, 200), (900, 700), (200, 700))
    ]
    assert bend_of(quads, (1280, 960))[1] > 0.02


def test_planes_that_cannot_be() -> None:
    square = np.array([[0.0, 0], [40, 0], [40, 40], [0, 40]])
    places = [(100, 100), (700, 100), (700, 500), (100, 500)]
    good = [square + place for place in places]
    assert fit_plane(good, (1280, 960)).error < 1e-9
    point = [np.full((4, 2), 5.0) + i for i in range(4)]
    for quads in (good[::-1], [good[0]] * 4, [good[0], good[1], good[2], good[2] + 3], point):
        with pytest.raises(PlaneError):
            fit_plane(quads, (1280, 960))
