"""The embedding: what it is learnt from, a short training, and that the product reads what is written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from companion.cli.vision import command
from companion.lab.train import embedding
from companion.lab.train.embedding import TOLD, begin, load, save
from companion.lab.worlds import games, games_art
from companion.lab.worlds.games import ASKED, PLACES, TAUGHT, VIEWS, DrawnGame, Truth
from companion.ports import BadDataError
from vision.board import embedding as shipped
from vision.board.patches import PATCH

import jax  # isort: skip - after the lab, which sets its flags

pytestmark = pytest.mark.learning


def plain_game() -> DrawnGame:
    """Return a game whose contents are four pale hues, each place in a light of its own that differs by far more."""
    rng = np.random.default_rng(1)
    content = np.resize(np.arange(4), PLACES)
    colour = np.array([[-0.3, -0.3, -0.3], [0.3, -0.3, -0.3], [-0.3, 0.3, -0.3], [0.3, 0.3, -0.3]])[content]
    light = rng.uniform(-0.3, 0.3, (PLACES, 1, 1, 1))
    pictures = 0.05 * colour[:, None, None] + light + rng.normal(0, 0.1, (PLACES, PATCH, PATCH, 3))
    counts = np.zeros((PLACES, games_art.SORTS), np.int32)
    counts[:, 0] = content % 2
    truth = Truth(content.astype(np.int32), (content // 2).astype(np.int32), counts, np.zeros(PLACES, bool))
    return DrawnGame(pictures.astype(np.float32), truth, np.int32(3))


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each game be the plain one: to draw others takes a minute, most of it to compile the drawing."""

    def repeated(_key: object, many: int) -> DrawnGame:
        game: DrawnGame = jax.tree.map(lambda values: np.stack([values] * many), plain_game())
        return game

    monkeypatch.setattr(embedding, "draw_games", repeated)


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield a file that is the product's for the length of a test."""
    file = tmp_path / "embedding.npz"
    monkeypatch.setattr(shipped, "WEIGHTS", file)
    shipped.shipped.cache_clear()
    yield file
    shipped.shipped.cache_clear()


def test_the_same_key_draws_the_same_places_and_another_others() -> None:
    drawn = jax.jit(places)
    first, again, other = (drawn(jax.random.PRNGKey(seed)) for seed in (5, 5, 6))
    assert all(np.array_equal(a, b) for a, b in zip(jax.tree.leaves(first), jax.tree.leaves(again), strict=True))
    assert not np.array_equal(first[0], other[0])


def places(key: jax.Array) -> tuple[jax.Array, Truth]:
    """Return the grounds of a game, and what its places hold."""
    keys = jax.random.split(key, 40)
    kind = jax.random.choice(keys[2], 4)
    return games_art.textures(keys[1]), games._truth(keys, kind, games._contents(keys, kind))


def test_only_what_was_taught_is_asked_of_places_that_are_not_strange() -> None:
    _, truth = jax.jit(places)(jax.random.PRNGKey(3))
    assert truth.content.shape == (TAUGHT + ASKED,)
    assert not truth.strange[:TAUGHT].any()
    assert truth.counts.sum(axis=1).max() <= 4
    for content in set(truth.content.tolist()):
        own = truth.content == content
        assert len(set(truth.ground[own].tolist())) == 1
        assert len(np.unique(truth.counts[own], axis=0)) == 1


@pytest.mark.long
def test_of_games_that_no_training_drew_the_shipped_network_tells_most_contents() -> None:
    drawn, again = (embedding.draw_games(jax.random.PRNGKey(7), 1) for _ in range(2))
    pictures = np.asarray(drawn.pictures)
    assert pictures.shape == (1, PLACES, PATCH, PATCH, 3)
    assert np.array_equal(pictures, again.pictures)
    assert np.allclose((pictures + 0.5) * 255, np.round((pictures + 0.5) * 255), atol=1e-3)
    told, kinds = embedding.figures(load(shipped.WEIGHTS), 8, 1)
    assert told["contents wrong"] < 0.35
    assert told["grounds wrong"] < 0.1
    assert set(kinds) <= set(games.KINDS)


def test_signs_are_drawn_in_six_fonts() -> None:
    signs = games_art.glyphs()
    assert signs.shape == (29 * 6, 32, 32)
    assert (signs.max(axis=(1, 2)) > 0.5).all()


@pytest.mark.usefixtures("plain")
def test_training_lowers_what_is_lost_and_is_the_same_twice() -> None:
    told: list[np.ndarray] = []
    mean = embedding.train(games=1, steps=4, seed=3, progress=lambda done: told.append(done.told[0]), every=1)
    again = embedding.train(games=1, steps=4, seed=3)
    assert told[-1][0] < told[0][0] / 10
    assert all(np.array_equal(mean[name], again[name]) for name in mean)


@pytest.mark.usefixtures("plain")
def test_what_the_command_writes_the_product_reads_as_it_was_learnt(
    written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "HELD_OUT", 1)
    asked = ["train", "--steps", "1", "--games", "1", "--out", str(written), "--json"]
    answer = CliRunner().invoke(command, asked)
    assert answer.exit_code == 0, answer.output
    step, held_out = (json.loads(line) for line in answer.output.splitlines())
    assert step["step"] == 1
    assert set(TOLD) <= set(step) & set(held_out)
    assert list(held_out["by kind"]) == ["tokens"]
    patches = np.random.default_rng(1).integers(0, 255, (6, PATCH, PATCH, 3)).astype(np.uint8)
    found = embedding.embed(load(written), patches[..., ::-1].astype(np.float32) / 255 - 0.5)
    assert np.abs(shipped.embed(patches) - np.asarray(found)).max() < 1e-4

    more = CliRunner().invoke(command, [*asked[:-1], "--from", str(written)])
    assert more.exit_code == 0, more.output
    assert more.output.startswith("1 (")
    assert "of 1 held-out games: " in more.output


def test_the_shipped_network_can_be_gone_on_with() -> None:
    assert {name: value.shape for name, value in load(shipped.WEIGHTS).items()} == {
        name: value.shape for name, value in begin(0).items()
    }


def test_large_arrays_are_written_in_half_precision(tmp_path: Path) -> None:
    save(tmp_path / "e.npz", begin(1))
    with np.load(tmp_path / "e.npz") as stored:
        assert stored["out"].dtype == np.float16
        assert stored["scale"].dtype == np.float32
    assert TAUGHT * VIEWS + ASKED == PLACES


@pytest.mark.parametrize("damage", ["nothing", "another form"])
def test_what_holds_no_network_is_said(tmp_path: Path, damage: str) -> None:
    file = tmp_path / "embedding.npz"
    if damage == "nothing":
        file.write_bytes(b"none")
    else:
        np.savez(file, **{name: np.zeros(3, np.float16) for name in begin(1)})  # type: ignore[arg-type]
    with pytest.raises(BadDataError, match=r"holds no embedding of places|of another form"):
        load(file)


@pytest.mark.parametrize("wrong", [["--steps", "0"], ["--minutes", "0"], ["--games", "0"], ["--from", "nowhere.npz"]])
def test_options_that_cannot_be_are_said_in_a_sentence(tmp_path: Path, wrong: list[str]) -> None:
    answer = CliRunner().invoke(command, ["train", "--out", str(tmp_path / "e.npz"), *wrong])
    assert answer.exit_code == 2
    assert wrong[0] in answer.output
    assert "Traceback" not in answer.output
