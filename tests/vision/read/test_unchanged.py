"""What looks as it did is not read again; what looks otherwise is, however little of it changed."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from companion.lab.bench.vision.boards import positions
from companion.lab.worlds import board, board_art
from companion.lab.worlds.filmed import noisy
from companion.lab.worlds.table import of_jpeg
from vision.board.labels import from_json
from vision.board.layout import open_layout
from vision.board.patches import Sampler
from vision.learn.classifier import Network
from vision.read.calibrate import calibrate, to_profile
from vision.read.kept_places import KeptPlaces
from vision.read.lesson import learn
from vision.read.profile import Profile, printed_places
from vision.read.reader import BoardLook, TaughtBoard
from vision.read.unchanged import unchanged

SEED = 62011
learning = pytest.mark.learning


def textures(n: int = 24, seed: int = 1) -> Any:
    """Return n patches, each with a texture of its own."""
    rng = np.random.default_rng(seed)
    coarse = rng.uniform(60, 190, (n, 16, 16, 3))
    return coarse.repeat(4, axis=1).repeat(4, axis=2)


def seen(patches: Any, seed: int, strength: float = 2.0) -> Any:
    """Return patches as a camera sees them."""
    noise = np.random.default_rng(seed).normal(0, strength, patches.shape)
    return np.clip(np.round(patches + noise), 0, 255).astype(np.uint8)


@pytest.mark.parametrize("strength", [0.0, 0.5, 2.0, 4.0])
def test_noise_alone_changes_nothing(strength: float) -> None:
    there = textures()
    same, _ = unchanged(seen(there, 1, strength), seen(there, 2, strength))
    assert same.all()


def test_a_thin_faint_stroke_is_seen_where_it_is_and_nowhere_else() -> None:
    there = textures()
    drawn = there.copy()
    drawn[5, 30:42, 33] += 40
    same, equal = unchanged(seen(there, 1), seen(drawn, 2))
    assert np.flatnonzero(~same).tolist() == [5]
    assert not equal.any()


def test_one_pixel_is_not_the_same_to_the_last_bit() -> None:
    there = seen(textures(), 1)
    other = there.copy()
    other[3, 0, 0, 0] += 1
    _, equal = unchanged(there, other)
    assert np.flatnonzero(~equal).tolist() == [3]


def test_a_drift_that_is_the_same_everywhere_is_noticed() -> None:
    there = textures()
    noticed = [not unchanged(seen(there, 1), seen(there - off, 2 + off))[0].any() for off in range(12)]
    assert not noticed[0]
    assert noticed[-1]


def test_a_board_of_which_all_is_new_is_no_noise() -> None:
    same, _ = unchanged(seen(textures(seed=1), 1), seen(textures(seed=2), 2))
    assert not same.any()


Shot = tuple[bytes, dict[str, Any]]


@pytest.fixture(scope="module")
def shots() -> list[Shot]:
    """Return a board at four positions of a game, and the last with another value on one token; nothing else moved."""
    game = positions(SEED, 3)
    art = board_art.Art(SEED, 1)
    camera, light = board.random_view(SEED, board.RenderedBoard({}, art=art))
    turns = [int(part * (len(game) - 1)) for part in (0.0, 0.4, 0.7, 0.9)]
    places = [game[turn] for turn in turns]
    places.append(copy.deepcopy(places[-1]))
    token = next(
        thing
        for place in places[-1].values()
        for thing in place["things"]
        if thing["kind"] == "fish" and thing["count"] == 1 and len(place["things"]) == 1
    )
    token["value"] = 1 if token["value"] != 1 else 3
    return [
        (board.shoot(board.RenderedBoard(there, art=art, seed=SEED), camera, light, 7).jpeg, there) for there in places
    ]


@pytest.fixture(scope="module")
def profile(shots: list[Shot]) -> Profile:
    layout = open_layout("iglu-iglu")
    sampler = Sampler(layout)
    first = of_jpeg(shots[0][0])
    found = calibrate([first], layout)
    profile, pose = to_profile([first], layout, found), found[0].pose
    assert pose is not None
    for jpeg, places in shots[:3]:
        image = of_jpeg(jpeg)
        known = {layout.index[name]: there for name, there in from_json({"places": places}, layout).items()}
        close = sampler.close(image, pose, printed_places(layout, known))
        profile = profile.taught(sampler.straighten(image, pose), known, close)
    return learn(profile, size=0.3)


class Counted:
    """A taught table of which it is counted how many places a look reads."""

    def __init__(self, profile: Profile, monkeypatch: pytest.MonkeyPatch) -> None:
        self.table = TaughtBoard(profile)
        self.read: list[int] = []
        original = Network.read

        def read(network: Network, patches: Any) -> Any:
            self.read.append(len(patches))
            return original(network, patches)

        monkeypatch.setattr(Network, "read", read)

    def look(self, image: Any) -> tuple[BoardLook, int]:
        """Look; return what is seen, and how many places were read for it."""
        self.read.clear()
        look = self.table.look(image)
        return look, sum(self.read)


@pytest.fixture
def counted(profile: Profile, monkeypatch: pytest.MonkeyPatch) -> Counted:
    return Counted(profile, monkeypatch)


def frames(shot: Shot, count: int) -> list[Any]:
    """Return pictures of one scene, each with a noise of its own."""
    return [of_jpeg(jpeg) for jpeg in noisy(shot[0], count, SEED)]


def numbers(look: BoardLook) -> Any:
    """Return (places, 2): how likely the likeliest content of each place is, and how likely it is something else."""
    return np.array([[place.p, place.odd] for place in look.places.values()])


@learning
def test_the_same_picture_is_read_once_and_tells_the_same_to_the_last_bit(counted: Counted, shots: list[Shot]) -> None:
    image = of_jpeg(shots[3][0])
    first, read = counted.look(image)
    again, none = counted.look(image)
    assert (read, none) == (64, 0)
    assert np.array_equal(numbers(first), numbers(again))
    assert first.contents() == again.contents()


@learning
def test_a_scene_is_read_from_two_pictures_and_then_only_where_noise_is_uncommon(
    counted: Counted, shots: list[Shot]
) -> None:
    read = [counted.look(image)[1] for image in frames(shots[3], 6)]
    assert read[:2] == [64, 64]
    assert max(read[2:]) <= 6


@learning
def test_a_token_that_was_turned_over_is_read_in_the_next_picture(
    counted: Counted, profile: Profile, shots: list[Shot]
) -> None:
    for image in frames(shots[3], 3):
        counted.look(image)
    changed = [name for name, there in shots[4][1].items() if there != shots[3][1][name]]
    one, other = frames(shots[4], 5)[3:]
    look, read = counted.look(one)
    assert len(changed) == 1
    assert 1 <= read < 32
    fresh = TaughtBoard(profile).look(one).places[changed[0]]
    assert (
        look.places[changed[0]].content == fresh.content == from_json({"places": shots[4][1]}, look.layout)[changed[0]]
    )
    assert look.places[changed[0]].p == pytest.approx(fresh.p, abs=0.02)
    # What is new has its say in two pictures, too.
    assert counted.look(other)[1] >= 1


@learning
def test_a_shade_that_grows_slowly_is_not_swallowed(counted: Counted, shots: list[Shot]) -> None:
    pictures = frames(shots[3], 3)
    for image in pictures:
        look, _ = counted.look(image)
    corners = look.pose.project(np.array([[2.0, 2.0], [3.0, 3.0]])) if look.pose is not None else None
    assert corners is not None
    (left, top), (right, bottom) = np.sort(np.round(corners).astype(int), axis=0)
    read = 0
    for step in range(1, 25):
        image = pictures[step % 3].copy()
        part = image[top:bottom, left:right].astype(int)
        image[top:bottom, left:right] = np.clip(part - 3 * step, 0, 255)
        look, now = counted.look(image)
        read += now
    truth, shaded = TaughtBoard(counted.table.profile).look(image).places["c6"], look.places["c6"]
    assert read >= 10
    assert shaded.p == pytest.approx(truth.p, abs=0.1)
    assert shaded.odd == pytest.approx(truth.odd, abs=0.1)


@learning
def test_what_was_confirmed_weighs_in_the_next_look_though_nothing_is_read(
    counted: Counted, profile: Profile, shots: list[Shot]
) -> None:
    image = of_jpeg(shots[3][0])
    truth = from_json({"places": shots[3][1]}, profile.layout)
    other = TaughtBoard(profile)
    before = [table.look(image) for table in (counted.table, other)]
    for table, look in zip((counted.table, other), before, strict=True):
        table.confirm(look, truth)
    # The other table is told the same, and has kept nothing.
    other._kept = KeptPlaces(other.sampler)
    after, anew = counted.table.look(image), other.look(image)
    assert np.allclose(numbers(after), numbers(anew), atol=1e-5)
    assert numbers(after)[:, 0].mean() > numbers(before[0])[:, 0].mean()


@learning
def test_a_board_that_was_moved_is_read_as_a_whole(counted: Counted, shots: list[Shot]) -> None:
    pictures = frames(shots[3], 3)
    for image in pictures:
        counted.look(image)
    moved = np.roll(pictures[0], 9, axis=1)
    assert counted.look(moved)[1] == 64
