"""What POV-Ray draws lies where the camera's numbers say, and is the same for the same seed."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from companion.lab.worlds.traced import povray
from companion.lab.worlds.traced.blocks import BOARD_MM, INKS, SIDE_MM, BlockTable
from companion.lab.worlds.traced.ice_team import traced_ice
from companion.lab.worlds.traced.iglu_iglu import RIM_MM, SQUARE_MM, traced_iglu
from companion.lab.worlds.traced.tabletop import CARD_MM
from vision.board.labels import from_json
from vision.board.layout import read_layout
from vision.board.markers import find_markers
from vision.board.pose import Pose
from vision.decode.photo import read_photo

pytestmark = pytest.mark.process


@pytest.mark.parametrize("seed", [1, 2])
def test_things_are_seen_where_the_camera_says(seed: int) -> None:
    view = povray.TracedView(seed, 400, 300, 160, 120)
    for point in ((-150, -100, 0), (150, 100, 0), (140, -100, 30), (-140, 90, 60)):
        shining = f"sphere {{ {povray.vector(*point)} 5 pigment {{ rgb 1 }} finish {{ emission 1 diffuse 0 }} }}"
        light = povray.render(view.sdl() + shining, 160, 120, seed=seed)[..., 1].astype(float)
        ys, xs = np.mgrid[:120, :160]
        middle = np.array([(xs * light).sum(), (ys * light).sum()]) / light.sum()
        assert np.abs(middle - view.project([point])[0]).max() < 0.3


def test_a_table_is_the_same_for_its_seed_and_its_markers_lie_where_the_camera_says() -> None:
    one, other = (traced_iglu(3, 1, width=320) for _ in range(2))
    assert one.frames(0) == other.frames(0)
    assert len(set(one.frames(0))) == 3
    found = find_markers(one.picture(0))
    assert not found.missing
    half = 4 * SQUARE_MM + RIM_MM
    across, deep = half + CARD_MM / 2 + 7, half - CARD_MM / 2 - 4
    middles = one.view.project([(-across, deep, 0), (across, deep, 0), (across, -deep, 0), (-across, -deep, 0)])
    # They lie up to 4 mm beside.
    assert all(np.abs(found.corners[n].mean(axis=0) - middles[n]).max() < 5 for n in range(4))


def test_the_corners_of_ice_team_are_tapped_where_start_and_village_end() -> None:
    film = traced_ice(5, 1, width=320)
    corners = np.array(film.corners)
    assert corners.shape == (4, 2)
    assert np.abs(corners - film.view.project(film.outline)).max() < 6
    assert (corners[[1, 2], 0] > 200).all() and (corners[[0, 3], 0] < 120).all()


def test_a_scene_that_is_refused_says_why() -> None:
    with pytest.raises(povray.PovrayError, match=r"refused a scene: .*[Ee]rror"):
        povray.render("sphere {", 16, 12, seed=1)


def test_povray_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(povray.PovrayError, match="Debian's package povray"):
        povray.render("", 16, 12, seed=1)


def test_blocks_lean_and_carry_the_prints_that_they_are_said_to() -> None:
    table = BlockTable(3, columns=5, rows=4, high=0.6, blocks=8, tilt=(15.0, 15.0))
    layout = read_layout(table.layout)
    contents = from_json(table.position(0), layout)
    picture = read_photo(table.photo(0))
    hues = cv2.cvtColor(picture, cv2.COLOR_BGR2HSV).astype(float)
    assert sum(bool(content.things) for content in contents.values()) == 8
    for name, content in contents.items():
        if not content.things:
            continue
        place = layout.places[layout.index[name]]
        top = [(place.x - 2.5) * SIDE_MM, (2 - place.y) * SIDE_MM, BOARD_MM + 0.6 * SIDE_MM]
        x, y = np.round(table.view.project([top])[0]).astype(int)
        around = hues[y - 12 : y + 13, x - 12 : x + 13].reshape(-1, 3)
        ink = around[np.argsort(around[:, 1])[-60:], 0]
        hue = INKS[(layout.things[content.things[0][0]].colour or "").split()[0]][0]
        off = np.abs((2 * ink - hue + 180) % 360 - 180)
        assert np.median(off) < 20, name
    corners = Pose.from_corners(table.corners, 5, 4, (table.view.width, table.view.height)).corners(5, 4)
    assert corners == pytest.approx(table.corners, abs=0.01)
