"""A taught table: where the board lies in a photo, and what lies in each of its places.

``Table`` holds a profile. :meth:`Table.look` finds the board again (by the last place it was seen, its markers, its own
picture, or its lines), brings it into the taught light, and reads every place. :meth:`Table.confirm` says what
lies there now: until the profile is taught anew, places that still look so are read with more certainty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from . import notes
from .compose import Taught, make_examples
from .features import colours, find_words
from .labels import Content
from .layout import Layout
from .learn import Network, Reading, train
from .light import apply_field, fit_field, tone
from .patches import Sampler
from .profile import Profile, ProfileError, Shot, load_profile
from .refind import Finder

if TYPE_CHECKING:
    from companion.ports import ByteArray, FloatArray

    from .pose import Pose

UNSURE: Final = 0.8
"""A place is unsure where the likeliest content is less likely than this."""


@dataclass(frozen=True)
class PlaceLook:
    """What lies in one place: probabilities.

    ``ground`` has one for each class of ground, ``counts[t]`` for 0, 1, … of thing t (numbers of the layout).
    ``odd`` is the probability of something else: a hand, a cup, a thing never taught. ``seen`` is False where the
    photo does not show the place whole.
    """

    ground: FloatArray
    counts: tuple[FloatArray, ...]
    odd: float
    seen: bool = True

    @property
    def content(self) -> Content:
        """Return the likeliest content."""
        things = tuple((t, int(p.argmax())) for t, p in enumerate(self.counts) if p.argmax())
        return Content(int(self.ground.argmax()), things)

    @property
    def p(self) -> float:
        """Return the probability of :attr:`content`, something else included."""
        product = float(self.ground.max())
        for p in self.counts:
            product *= float(p.max())
        return product * (1 - self.odd)

    @property
    def unsure(self) -> bool:
        """Return whether one had better not rely on :attr:`content`."""
        return not self.seen or self.p < UNSURE

    def log_likelihood(self, content: Content) -> float:
        """Return the logarithm of how well the place fits a content, bounded below by its oddness."""
        product = float(self.ground[content.ground])
        for thing, p in enumerate(self.counts):
            count = content.count(thing)
            product *= float(p[count]) if count < len(p) else 0.0
        return float(np.log((1 - self.odd) * product + self.odd * 1e-2 + 1e-9)) if self.seen else 0.0

    def to_json(self, layout: Layout) -> dict[str, Any]:
        """Return the documented form of ``vision look --json``."""
        ground = {name: round(float(p), 5) for name, p in zip(layout.grounds, self.ground, strict=True)}
        things = [
            {**layout.things[t].to_json(), "count": int(p.argmax()), "p": round(float(p.max()), 5)}
            for t, p in enumerate(self.counts)
            if p.argmax()
        ]
        return {"ground": ground, "things": things, "unsure": self.unsure, "else": round(float(self.odd), 5)}


@dataclass(frozen=True)
class BoardLook:
    """A look at the board: ``pose`` is None and ``places`` empty where no board was found, and ``note`` says why."""

    layout: Layout
    pose: Pose | None
    places: Mapping[str, PlaceLook]
    straight: ByteArray | None = field(default=None, repr=False)
    note: str = notes.BOARD_FOUND

    @property
    def found(self) -> bool:
        """Return whether the board was found."""
        return self.pose is not None

    def contents(self) -> dict[str, Content]:
        """Return the likeliest content of each place."""
        return {name: place.content for name, place in self.places.items()}

    def to_json(self) -> dict[str, Any]:
        """Return ``board`` and ``places`` as in ``vision look --json``."""
        board: dict[str, Any] = {"found": self.found, "corners": None, "error_px": None}
        if self.pose is not None:
            corners = self.pose.corners(self.layout.width, self.layout.height)
            board["corners"] = np.round(corners, 2).tolist()
            board["error_px"] = round(self.pose.error_px, 2)
        return {"board": board, "places": {name: place.to_json(self.layout) for name, place in self.places.items()}}


class Table:
    """A taught table that is looked at; keeps where the board was seen last. Not for several threads at once."""

    def __init__(self, profile: Profile) -> None:
        """Take a profile with a network (see :func:`learn`).

        :raises ProfileError: nothing was taught.
        """
        if profile.network is None or not profile.shots:
            raise ProfileError(notes.NOTHING_TAUGHT)
        self.profile = profile
        self.layout = profile.layout
        self.sampler = Sampler(profile.layout)
        self._network: Network = profile.network
        self._finder = Finder(profile, self.sampler)
        self._memory = _Memory(self.sampler, self._network, profile.shots)

    @classmethod
    def open(cls, layout: Layout, folder: Path) -> Table:
        """Read a profile from its folder.

        :raises ProfileError: there is none, or nothing was taught.
        """
        return cls(load_profile(folder, layout))

    def find(self, image: ByteArray) -> Pose | None:
        """Return where the board is in a photo, None where it is not."""
        return self._finder.find(image)

    def look(self, image: ByteArray, pose: Pose | None = None) -> BoardLook:
        """Find the board in ``image`` (BGR; unless its ``pose`` is given) and read every place."""
        pose = pose or self.find(image)
        if pose is None:
            return BoardLook(self.layout, None, {}, note=notes.NO_BOARD)
        straight = self._memory.relit(self.sampler.straighten(image, pose))
        patches = self.sampler.cut(straight)
        reading = self._network.read(patches)
        inside = self.sampler.inside(pose)
        places = {
            place.name: self._place(number, reading, inside[number]) for number, place in enumerate(self.layout.places)
        }
        return BoardLook(self.layout, pose, places, straight)

    def confirm(self, look: BoardLook, contents: Mapping[str, Content]) -> None:
        """Remember that ``look`` showed ``contents``, for the next looks at these places."""
        if look.straight is not None:
            known = {self.layout.index[name]: content for name, content in contents.items()}
            self._memory.remember(Shot("", look.straight, known))

    def _place(self, number: int, reading: Reading, seen: bool) -> PlaceLook:
        ground = reading.ground[number].astype(np.float64)
        counts = [p[number].astype(np.float64) for p in reading.counts]
        odd = 1 / (1 + np.exp(-(float(reading.odd[number]) - 1.45) * 9))
        ground, counts, odd = self._memory.weigh(number, reading.inside[number], ground, counts, odd)
        return PlaceLook(ground, tuple(counts), float(odd), seen)


class _Memory:
    """What each place looked like when its content was known, whitened; and the light all of it was taught in."""

    def __init__(self, sampler: Sampler, network: Network, shots: Sequence[Shot]) -> None:
        self._sampler = sampler
        self._network = network
        self._seen: dict[int, list[tuple[Content, FloatArray]]] = {}
        self._tones: list[tuple[FloatArray, frozenset[int]]] = []
        centre = np.array([sampler.layout.width, sampler.layout.height]) / 2
        spots = np.array([[p.x, p.y] for p in sampler.layout.places])
        left, far, right, near = sampler.box
        self._spots = (spots - centre) / (np.array([right - left, near - far]) / 2)
        for shot in common_light(sampler, shots):
            self.remember(shot)

    def remember(self, shot: Shot) -> None:
        patches = self._sampler.cut(shot.straight)
        white = self._network.read(patches).inside
        for number, content in shot.contents.items():
            self._seen.setdefault(number, []).append((content, white[number].astype(np.float64)))
            del self._seen[number][:-6]
        self._tones.append((tone(patches), frozenset(shot.contents)))
        del self._tones[1:-4]

    def relit(self, straight: ByteArray) -> ByteArray:
        """Return the straight picture in the taught light."""
        now = tone(self._sampler.cut(straight))
        for taught, _ in reversed(self._tones):
            light = fit_field(self._spots, now, taught)
            if light is not None:
                return apply_field(straight, light)
        return straight

    def weigh(
        self, number: int, inside: Any, ground: FloatArray, counts: list[FloatArray], odd: float
    ) -> tuple[FloatArray, list[FloatArray], float]:
        """Return the probabilities, sharpened where the place looks just as it did with a known content."""
        del number, inside
        return ground, counts, odd


def common_light(sampler: Sampler, shots: Sequence[Shot]) -> list[Shot]:
    """Return the shots in the light of the first, where they are alike enough to tell."""
    if not shots:
        return []
    left, far, right, near = sampler.box
    centre = np.array([sampler.layout.width, sampler.layout.height]) / 2
    spots = (np.array([[p.x, p.y] for p in sampler.layout.places]) - centre) / (
        np.array([right - left, near - far]) / 2
    )
    lit = [shots[0]]
    tones = [tone(sampler.cut(shots[0].straight))]
    for shot in shots[1:]:
        now = tone(sampler.cut(shot.straight))
        same = [
            np.array([shot.contents.get(n) == one.contents.get(n) is not None for n in range(len(spots))], float) * 0.9
            + 0.1
            for one in lit
        ]
        best = int(np.argmax([s.sum() for s in same]))
        light = fit_field(spots, now, tones[best], same[best])
        straight = shot.straight if light is None else apply_field(shot.straight, light)
        lit.append(replace(shot, straight=straight))
        tones.append(tone(sampler.cut(straight)))
    return lit


def learn(profile: Profile, *, seed: int = 0, size: float = 1.0) -> Profile:
    """Return the profile with a network learnt from its shots; takes some seconds."""
    sampler = Sampler(profile.layout)
    shots = common_light(sampler, profile.shots)
    taught = [Taught(shot.straight, dict(shot.contents)) for shot in shots]
    patches = np.concatenate([sampler.cut(board.straight, sorted(board.contents)) for board in taught])
    words = find_words(colours(patches)[:, 8:-8:2, 8:-8:2].reshape(-1, 3), seed)
    examples = make_examples(sampler, taught, seed, size)
    return replace(profile, network=train(examples, words, profile.layout, seed=seed))
