"""The learnt reader of places: drawn worlds, a short training, and what is taught to it on site."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from companion.cli.vision import command
from companion.lab.train import place_net
from companion.lab.train.place_net import CROP, LENGTH, PATCH, batch, begin, embeddings, heat_logits, normal
from companion.lab.train.place_reader import PlaceReader, _near, _peaks
from companion.lab.worlds.places import SCENE, World
from companion.ports import BadDataError
from vision.board.labels import Content
from vision.board.layout import Layout, read_layout

pytestmark = pytest.mark.learning


def layout_of(world: World) -> Layout:
    """Return a layout with the world's grounds and sorts."""
    grounds = ", ".join(f'"g{n}"' for n in range(world.grounds))
    kinds = ", ".join(f'"s{n}"' for n in range(len(world.sorts)))
    return read_layout(
        f'[board]\nkind="grid"\ncolumns=3\nrows=3\n[ground]\nclasses=[{grounds}]\n'
        f'[[things]]\nkind="thing"\ncolours=[{kinds}]\nmax=5'
    )


def test_the_same_seed_draws_the_same_world_and_another_another() -> None:
    first, again, other = (World(seed).scene(3) for seed in (5, 5, 6))
    assert np.array_equal(first.picture, again.picture)
    assert first.things == again.things
    assert not np.array_equal(first.picture, other.picture)
    assert first.picture.shape == (SCENE, SCENE, 3)


def test_worlds_are_wide() -> None:
    worlds = [World(seed) for seed in range(40)]
    forms = {sort.form for world in worlds for sort in world.sorts}
    assert {"pawn", "dome", "block", "disc", "cone", "figure", "ring", "token", "mark"} == forms
    scenes = [world.scene(n) for world in worlds for n in range(3)]
    assert {True, False} == {scene.covered for scene in scenes}
    assert {0, 1, 2, 3} <= {len(scene.things) for scene in scenes}
    assert any(scene.hidden for scene in scenes)


def test_a_batch_shows_a_peak_of_heat_for_each_thing_that_is_seen() -> None:
    drawn = batch(8)
    world = World(8)
    for number in range(len(drawn.patches)):
        if world.scene(number).things:
            assert drawn.heat[number].max() > 0.5
        else:
            assert drawn.heat[number].max() == 0
    assert drawn.crops.shape[1:] == (CROP, CROP, 3)
    assert drawn.sorts.max() < len(world.sorts) * 2 + world.grounds


def test_training_lowers_what_is_lost_and_is_the_same_twice() -> None:
    told: list[np.ndarray] = []
    place_net.train(12, 3, progress=lambda _step, lost, _mean: told.append(lost))
    assert np.mean([t[0] for t in told[-4:]]) < np.mean([t[0] for t in told[:4]])
    weights, again = place_net.train(2, 3), place_net.train(2, 3)
    assert all(np.array_equal(weights[name], again[name]) for name in weights)


def test_embeddings_have_length_one() -> None:
    weights = begin(1)
    crops = normal(np.random.default_rng(1).integers(0, 255, (3, CROP, CROP, 3)).astype(np.uint8))
    for head in ("thing", "ground"):
        found = np.asarray(embeddings(weights, crops, head))
        assert found.shape == (3, LENGTH)
        assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-3)
    assert heat_logits(weights, np.zeros((2, PATCH, PATCH, 3), np.float32)).shape == (2, 32, 32)


def test_spots_are_local_peaks_in_the_place_the_likeliest_first() -> None:
    logits = np.full((32, 32), -9.0)
    logits[16, 16], logits[16, 17], logits[10, 20], logits[0, 0] = 2.0, 1.0, 3.0, 5.0
    found = _peaks(logits)
    assert found[:, 2].tolist() == [3.0, 2.0]
    assert np.allclose(found[1, :2], 0.025, atol=1e-6)
    assert _near(found)[0] == 0
    assert _near(np.array([[0.0, 0.0, 2.0], [0.1, 0.0, 1.0], [0.5, 0.5, 0.0]])).tolist() == [
        0.0,
        pytest.approx(0.75),
        0,
    ]


def test_what_was_taught_is_read_where_the_network_knows_nothing_yet() -> None:
    world = World(8)
    layout = layout_of(world)
    scenes = [world.scene(n) for n in range(24)]
    bare = [s for s in scenes if not s.things and not s.covered]
    reader = PlaceReader(begin(1), layout)
    reader.teach([(scene.picture, Content(scene.ground)) for scene in bare])
    read = reader.read(np.stack([scene.picture for scene in bare]))
    assert [content.ground for content, _ in read] == [scene.ground for scene in bare]
    assert all(0 <= p <= 1 for _, p in read)
    assert all(content.things == () for content, _ in read)


def test_networks_are_trained_and_gone_on_with_on_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "places.npz"
    answer = CliRunner().invoke(command, ["train", "--steps", "1", "--out", str(file), "--json"])
    assert answer.exit_code == 0, answer.output
    assert json.loads(answer.output)["step"] == 1
    assert file.stat().st_size < 3e6
    more = CliRunner().invoke(command, ["train", "--steps", "1", "--from", str(file), "--out", str(file)])
    assert more.exit_code == 0
    assert more.output.startswith("1/1: heat")


@pytest.mark.parametrize("damage", ["nothing", "another form"])
def test_what_holds_no_networks_is_said(tmp_path: Path, damage: str) -> None:
    file = tmp_path / "places.npz"
    if damage == "nothing":
        file.write_bytes(b"none")
    else:
        np.savez(file, **{name: np.zeros(3, np.float16) for name in begin(1)})  # type: ignore[arg-type]
    with pytest.raises(BadDataError, match=r"holds no networks of places|of another form"):
        place_net.load(file)
