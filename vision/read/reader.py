"""A taught table: where the board lies in a photo, and what lies in each of its places.

``TaughtBoard`` holds a profile. :meth:`TaughtBoard.look` finds the board again (by the last place it was seen, its
markers, its own picture, or its lines), brings it into the taught light, and reads every place.
:meth:`TaughtBoard.confirm` says what lies there now: until the profile is taught anew, places that still look so are
read with more certainty. :meth:`TaughtBoard.learn` takes in at once what was taught since.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vision import messages
from vision.board.features import describe
from vision.board.illumination import Palette, apply_field, fit_field, tone
from vision.board.labels import Content
from vision.board.layout import Layout
from vision.board.patches import Sampler
from vision.learn.augment import make_views
from vision.learn.classifier import Network, PlacePrediction
from vision.learn.count_amounts import Amounts
from vision.learn.cutouts import LabelledBoard
from vision.learn.whole_contents import may_be_added, views_of, with_views
from vision.read.height import raised
from vision.read.kept_places import KeptPlaces, ReadPlaces, rows_of
from vision.read.place_posterior import PlaceLook, bare_of, factors_of, members_of, no_heap
from vision.read.profile import Profile, ProfileError, TaughtPhoto, load_profile
from vision.read.relocate import BoardRelocator
from vision.read.strip_counter import Strips
from vision.read.tokens import TokenReader
from vision.read.untaught_values import UntaughtValues

_LOOKS = 6
_ALIKE = 0.6
_MEMORY = 60.0
_SAME_LIGHT = 0.05
"""Of the logarithm of light: fields that differ by less anywhere need not both be tried."""
_WORTH_READING, _WORTH_A_TRY = 0.05, 0.01
"""Numbers of tokens that are likelier are looked at close up; one token more than these, that is likelier than that."""
_MOST_TOKENS = 4
_SURE = 0.99
"""A place that is surer by its parts is not looked at as a whole."""
_HEAP, _MORE = 3, 0.1
"""Where so many may lie on each other, one more than the network tells may lie there, and how likely it is."""

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.ports import ByteArray, FloatArray
    from vision.board.pose import Pose

    Floats = NDArray[np.float32]


@dataclass(frozen=True)
class BoardLook:
    """A look at the board: ``pose`` is None and ``places`` empty where no board was found, and ``note`` says why.

    ``straight`` is the board as it is seen at the height at which it is read, ``close`` are places of it close up.
    """

    layout: Layout
    pose: Pose | None
    places: Mapping[str, PlaceLook]
    straight: ByteArray | None = field(default=None, repr=False)
    close: Mapping[int, ByteArray] = field(default_factory=dict, repr=False)
    note: str = messages.BOARD_FOUND

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


class TaughtBoard:
    """A taught table that is looked at; keeps where the board was seen last. Not for several threads at once."""

    def __init__(self, profile: Profile) -> None:
        """Take a profile with a network (see :func:`vision.read.lesson.learn`).

        :raises ProfileError: nothing was taught.
        """
        if profile.network is None or not profile.shots:
            raise ProfileError(messages.NOTHING_TAUGHT)
        self.profile = profile
        self.layout = profile.layout
        self.sampler = Sampler(profile.layout)
        self._network: Network = profile.network
        self._members = members_of(profile.layout)
        contents = [c for shot in profile.shots for c in shot.contents.values()]
        learnt = [shot for shot in profile.shots if shot.name not in profile.unlearnt]
        self._contents = frozenset(c for shot in learnt for c in shot.contents.values())
        self._bare = bare_of(profile.layout, contents)
        self._told = [kind for kind in range(len(self.layout.valued)) if self._network.sums_marks(kind)]
        self._learnt = [shot.contents for shot in learnt]
        self._untaught = UntaughtValues.of(profile.layout, self._learnt, self._told)
        self._heard: dict[Content, int] = {}
        self._finder = BoardRelocator(profile, self.sampler)
        shots, palette = common_light(self.sampler, raised(self.sampler, profile.shots, self._network.height))
        self._memory = _Memory(self.sampler, self._network, shots, palette)
        self._tokens = TokenReader(self.sampler, shots)
        self._kept = KeptPlaces(self.sampler)
        self.strips = Strips(self.sampler, self._network, shots)
        self._amounts = Amounts(
            self._network.arrays["shape_table"],
            self._network.sorts,
            [(shot.contents, self.sampler.cut(shot.straight, sorted(shot.contents))) for shot in shots],
        )

    @classmethod
    def open(cls, layout: Layout, folder: Path) -> TaughtBoard:
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
            return BoardLook(self.layout, None, {}, note=messages.NO_BOARD)
        unmoved, lifted = self._kept.lies_at(pose), pose.lifted(self._network.height)
        straight, patches, seen = self._memory.relit(self.sampler.straighten(image, lifted), unmoved=unmoved)
        numbers = self._kept.to_read(image, pose, lifted, patches)
        reading = self._network.read(patches[numbers]) if seen is None else rows_of(seen, numbers)
        self._network.count(patches[numbers], reading)
        self._amounts.weigh(patches[numbers], reading)
        kept = self._kept.take(pose, patches, numbers, reading)
        self.strips.weigh(straight, kept.reading)
        printed = numbers if self._network.marked else self._printed_on(kept.reading, numbers)
        close = self.sampler.close(image, lifted, printed)
        kept.close.update(close)
        if self._network.marked and close:
            self._network.count_marks(kept.reading, close)
        places = self._places(kept)
        named = {place.name: seen for place, seen in zip(self.layout.places, places, strict=True)}
        return BoardLook(self.layout, pose, named, straight, dict(kept.close))

    def confirm(self, look: BoardLook, contents: Mapping[str, Content]) -> None:
        """Remember that ``look`` showed ``contents``, for the next looks at these places."""
        if look.straight is not None:
            known = {self.layout.index[name]: content for name, content in contents.items()}
            self._memory.confirm(TaughtPhoto("", look.straight, known))
            self._kept.confirmed(self._tokens.confirm(look.straight, look.close, known))

    def learn(self, shot: TaughtPhoto) -> None:
        """Know from now on the contents that the places of a ``shot`` show and that are not read so, wherever they lie.

        The second reader learns them in a second of a PC's core at the most, unless they are too many for that;
        everything else is learnt by the next lesson (:func:`vision.read.lesson.learn`). Things that nothing but it
        knows yet are what to the first reader is strange.
        """
        arrays = self._network.arrays
        (lit,) = raised(self.sampler, [shot], self._network.height)
        lit = self._memory.in_taught_light(lit)
        numbers = [n for n in sorted(lit.contents) if n not in self.sampler.strips]
        patches = self.sampler.cut(lit.straight, numbers)
        told = self._network.whole(patches, describe(patches, arrays))
        missed = {
            number: lit.contents[number]
            for number, whole in zip(numbers, told, strict=True)
            if max(whole.items(), key=itemgetter(1), default=(None, 0.0))[0] != lit.contents[number]
        }
        many = views_of([*(c for known in self._learnt for c in known.values()), *missed.values()])
        if not may_be_added(arrays, sum(many[content] for content in missed.values())):
            return
        if missed:
            views = make_views(self.sampler, [LabelledBoard(lit.straight, missed)], many, len(arrays["whole_rows"]))
            self._network = replace(self._network, arrays=with_views(arrays, describe(views.patches, arrays), views))
        self._learnt.append({n: lit.contents[n] for n in numbers})
        self._untaught = UntaughtValues.of(self.layout, self._learnt, self._told)
        grounds = {content.ground for content in self._contents}
        things = self._tokens.legible.union(thing for content in self._contents for thing, _ in content.things)
        heard = dict(self._heard)
        for content in (lit.contents[number] for number in numbers):
            if content.ground not in grounds or not things.issuperset(thing for thing, _ in content.things):
                heard[content] = heard.get(content, 0) + 1
        self._heard, self._kept = heard, KeptPlaces(self.sampler)

    def _reads(self, kind: int) -> bool:
        """Return whether the values of a kind are read token by token; not where counted marks tell them."""
        return self._tokens.reads(kind) and not self._network.sums_marks(kind)

    def _printed_on(self, reading: PlacePrediction, numbers: Sequence[int]) -> list[int]:
        """Return those of some places where tokens may lie whose values are to be read."""
        kinds = [kind for kind in range(len(self.layout.valued)) if self._reads(kind)]
        if not kinds:
            return []
        some = np.max([1 - reading.totals[kind][:, 0] for kind in kinds], axis=0)
        return [number for number in numbers if some[number] > _WORTH_READING]

    def _read(self, number: int, totals: list[list[float]], patch: ByteArray, close: ByteArray) -> dict[Any, Any]:
        """Return how likely which values are, for each kind whose tokens are read and each likely number of them.

        Weighs the ``totals`` by how well so many tokens are found there.
        """
        found: dict[Any, Any] = {}
        for kind, total in enumerate(totals):
            likely = [n for n in range(1, min(len(total), _MOST_TOKENS + 1)) if total[n] > _WORTH_READING]
            if len(total) - 1 in likely and len(total) > _HEAP:
                # The network says "so many or more".
                total[-1:] = [(1 - _MORE) * total[-1], _MORE * total[-1]]
                likely.append(len(total) - 1)
            one_more = max(likely, default=_MOST_TOKENS) + 1
            if one_more < min(len(total), _MOST_TOKENS + 1) and total[one_more] > _WORTH_A_TRY:
                likely.append(one_more)
            if likely and self._reads(kind):
                ways, odds = self._tokens.read(patch, close, number, kind, likely)
                found |= {(kind, many): read for many, read in ways.items()}
                weighed = {many: total[many] * more for many, more in odds.items()}
                whole = sum(total[many] for many in odds) / sum(weighed.values())
                for many, chance in weighed.items():
                    total[many] = chance * whole
        return found

    def _places(self, kept: ReadPlaces) -> list[PlaceLook]:
        """Return what lies in each place; what is kept of it is not made anew."""
        reading, inside = kept.reading, self.sampler.inside(kept.pose)
        lacking = [number for number, look in enumerate(kept.looks) if look is None]
        some = rows_of(reading, lacking)
        every = [p.tolist() for p in some.totals]
        counts = [p.tolist() for p in some.counts]
        odd = some.strange.astype(np.float64).tolist()
        made: dict[int, PlaceLook] = {}
        for row, (number, ground) in enumerate(zip(lacking, some.ground.astype(np.float64), strict=True)):
            totals = [p[row] for p in every]
            close = kept.close.get(number)
            read = {} if close is None else self._read(number, totals, kept.patches[number], close)
            numbers = [p[row] for p in counts]
            no_heap(self.layout, ground.tolist(), numbers)
            made[number] = PlaceLook(
                ground,
                factors_of(self.layout, self._members, numbers, totals, read, self._untaught),
                self._members,
                odd[row],
                seen=inside[number],
                legible=self._tokens.legible,
                bare=self._bare,
                taught=self._contents,
                untaught=self._untaught,
                heard=self._heard,
            )
        # On a strip the number is what counts, and that was taught for few numbers only.
        doubtful = [n for n, look in made.items() if (look.p < _SURE or self._heard) and n not in self.sampler.strips]
        asked = [n for n in doubtful if n not in kept.wholes]
        kept.wholes.update(zip(asked, self._network.whole(kept.patches[asked], reading.features[asked]), strict=True))
        for number in doubtful:
            whole = kept.wholes[number]
            # Who is sure may be so for never having heard of what it is.
            if made[number].p < _SURE or sum(whole.get(content, 0.0) for content in self._heard) > 1 - _SURE:
                made[number] = made[number].pooled(whole)
        for number, look in made.items():
            kept.looks[number] = look
        kept.weighed.update(self._memory.weigh(reading.inside, kept.unweighed()))
        return [kept.weighed[number] for number in range(len(kept.looks))]


@dataclass(frozen=True)
class _Relit:
    """A straight picture in another ``light``, its patches, what is read in them, and how ``strange`` they look."""

    light: FloatArray | None
    strange: float
    straight: ByteArray
    patches: ByteArray
    reading: PlacePrediction


class _Memory:
    """What each place looked like when its content was known, whitened; and the light all of it was taught in."""

    def __init__(self, sampler: Sampler, network: Network, lit: Sequence[TaughtPhoto], palette: Palette) -> None:
        self._sampler = sampler
        self._network = network
        self._seen: dict[int, list[tuple[Content, FloatArray]]] = {}
        self._tones: list[FloatArray] = []
        self._spots = _spots(sampler)
        self._palette = palette
        self._last: FloatArray | None = None
        self._agreed: FloatArray | None = None
        lights = [self._contents_tell(shot) for shot in lit]
        self._usual_light: FloatArray = np.mean(
            [light for light in lights if light is not None] or [np.zeros(3)], axis=0
        )
        for shot in lit:
            self.remember(shot)
        self._same, self._changed = self._usual(lit[-1])

    def remember(self, shot: TaughtPhoto) -> None:
        """Keep what the places of a shot look like, at most six looks of each."""
        patches = self._sampler.cut(shot.straight)
        white = self._network.read(patches).inside
        for number, content in shot.contents.items():
            self._seen.setdefault(number, []).append((content, white[number].astype(np.float64)))
            del self._seen[number][:-_LOOKS]
        self._tones.append(tone(patches))
        del self._tones[1:-4]

    def confirm(self, shot: TaughtPhoto) -> None:
        """Keep what the places of a look show that was relit, in the taught light as its contents tell it.

        Looks that were brought into the light of looks before them would leave it little by little.
        """
        self.remember(self.in_taught_light(shot))

    def in_taught_light(self, shot: TaughtPhoto) -> TaughtPhoto:
        """Return a shot in the light that everything was taught in, as its contents tell it."""
        light = self._contents_tell(shot)
        # The same contents look a little otherwise elsewhere on the board, and did so when they were taught.
        off = None if light is None else light - self._usual_light
        return shot if off is None else replace(shot, straight=apply_field(shot.straight, off))

    def _contents_tell(self, shot: TaughtPhoto) -> FloatArray | None:
        """Return the light that brings a board to the usual tones of its contents, wherever they lie."""
        return self._palette.light(self._spots, tone(self._sampler.cut(shot.straight)), shot.contents, {})

    def relit(self, straight: ByteArray, *, unmoved: bool) -> tuple[ByteArray, ByteArray, PlacePrediction | None]:
        """Return the straight picture in the taught light, its patches, and what was read in them if that had to be.

        The light is told by the places that look as they did; where few do, by what the places are read as: in the
        light of the last such picture first, and where they tell another, in none and in the likeliest. Of a board that
        is ``unmoved`` a light like the last is taken for the last: what was read in the one holds in the other.
        """
        now = tone(self._sampler.cut(straight))
        for taught in reversed(self._tones):
            light = fit_field(self._spots, now, taught, agree=_ALIKE)
            if light is not None:
                if unmoved and self._agreed is not None and _alike(light, self._agreed):
                    light = self._agreed
                self._agreed = light
                straight = apply_field(straight, light)
                return straight, self._sampler.cut(straight), None
        tried: list[FloatArray] = []
        best = None
        if self._last is not None:
            best = self._seen_in(straight, self._last)
            tried.append(self._last)
            light = self._estimated_light(best, now)
            if light is not None and _alike(light, self._last):
                return best.straight, best.patches, best.reading
        for start in (None, self._palette.guess(now)):
            light = start
            for _ in range(3):
                if light is not None and any(_alike(light, other) for other in tried):
                    break
                if light is not None:
                    tried.append(light)
                seen = self._seen_in(straight, light)
                if best is None or seen.strange < best.strange:
                    best = seen
                light = self._estimated_light(seen, now)
                if light is None:
                    break
        if best is None:
            return straight, self._sampler.cut(straight), None
        self._last = best.light
        return best.straight, best.patches, best.reading

    def _seen_in(self, straight: ByteArray, light: FloatArray | None) -> _Relit:
        lit = straight if light is None else apply_field(straight, light)
        patches = self._sampler.cut(lit)
        reading = self._network.read(patches)
        strange = float(reading.strange.mean()) + 1 - float(reading.ground.max(axis=1).mean())
        return _Relit(light, strange, lit, patches, reading)

    def _estimated_light(self, seen: _Relit, now: FloatArray) -> FloatArray | None:
        """Return the light that what is read tells, by the tones that the places have ``now``."""
        read = _bare(seen.reading)
        most = seen.reading.ground.max(axis=1).tolist()
        sure = {n: most[n] ** 2 for n in read}
        return self._palette.light(self._spots, now, read, sure)

    def weigh(self, inside: Floats, places: Mapping[int, PlaceLook]) -> dict[int, PlaceLook]:
        """Return the looks of places, by number, sharpened where one looks much as it did with a known content."""
        weighed = dict(places)
        known = [(n, content, white) for n, seen in self._seen.items() if n in places for content, white in seen]
        if not known:
            return weighed
        owners = np.array([number for number, _, _ in known])
        distances = np.linalg.norm(np.stack([white for _, _, white in known]) - inside[owners], axis=1)
        nearest: dict[int, int] = {}
        for row, number in enumerate(owners.tolist()):
            if number not in nearest or distances[row] < distances[nearest[number]]:
                nearest[number] = row
        # How much likelier these distances are where nothing changed than where something did.
        d = np.maximum(np.log(distances[list(nearest.values())] + 1e-6), self._same[0])
        odds = np.clip(_density(d, *self._same) / (_density(d, *self._changed) + 1e-9), 1 / _MEMORY, _MEMORY)
        for (number, row), more in zip(nearest.items(), odds.tolist(), strict=True):
            if more > 1:
                content = known[row][1]
                p, odd = places[number].probability(content), places[number].odd
                # What looks as it did when it was known is so much the less something that nobody knows.
                odd /= odd + (1 - odd) * more
                more_of_it = (more - 1) * p / (1 + (more - 1) * p)
                weighed[number] = replace(places[number].remembering(content, more_of_it), odd=odd)
        return weighed

    def _usual(self, newest: TaughtPhoto) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return mean and spread of the logarithm of distances of unchanged and of changed places."""
        same: list[float] = []
        changed: list[float] = []
        for looks in self._seen.values():
            for i, (content, look) in enumerate(looks):
                for earlier, there in looks[:i]:
                    (same if earlier == content else changed).append(float(np.linalg.norm(look - there)))
        known = sorted(newest.contents)
        white = self._network.read(self._sampler.cut(newest.straight, known)).inside
        if len(same) < 20:
            moved = self._sampler.cut_moved(newest.straight, known, np.tile([0.03, -0.03, 0.02, 1.02], (len(known), 1)))
            same += np.linalg.norm(self._network.read(moved).inside - white, axis=1).tolist()
        # Other contents in other places stand for changes that nobody has taught.
        for i, number in enumerate(known):
            other = [j for j, n in enumerate(known) if newest.contents[n] != newest.contents[number]]
            if other:
                changed.append(float(np.linalg.norm(white[other] - white[i], axis=1).min()))
        log_same, log_changed = np.log(np.array(same) + 1e-6), np.log(np.array(changed or [2 * max(same)]) + 1e-6)
        return (float(np.median(log_same)), max(float(log_same.std()), 0.2)), (
            float(np.median(log_changed)),
            max(float(log_changed.std()), 0.25),
        )


def _alike(light: FloatArray, other: FloatArray) -> bool:
    return bool(np.abs(light - other).sum(axis=0).max() < _SAME_LIGHT)


def _density(values: FloatArray, mean: float, spread: float) -> FloatArray:
    density: FloatArray = np.exp(-0.5 * ((values - mean) / spread) ** 2) / spread
    return density


def _bare(reading: PlacePrediction) -> dict[int, Content]:
    """Return the places that are read as nothing but their ground."""
    bare = np.ones(len(reading.ground), np.bool_)
    for p in reading.counts:
        bare &= p.argmax(axis=1) == 0
    grounds = reading.ground.argmax(axis=1).tolist()
    return {n: Content(grounds[n]) for n in np.nonzero(bare)[0].tolist()}


def _spots(sampler: Sampler) -> FloatArray:
    """Return (places, 2): where the places are in the straight picture, −1…1."""
    left, far, right, near = sampler.box
    centre = np.array([left + right, far + near]) / 2
    spots = np.array([[p.x, p.y] for p in sampler.layout.places])
    return (spots - centre) / (np.array([right - left, near - far]) / 2)


def common_light(sampler: Sampler, shots: Sequence[TaughtPhoto]) -> tuple[list[TaughtPhoto], Palette]:
    """Return the shots in the light of the first, by what lies in their places, and the usual tones of all contents."""
    spots = _spots(sampler)
    palette = Palette()
    lit = []
    for shot in shots:
        tones = tone(sampler.cut(shot.straight))
        light = palette.light(spots, tones, shot.contents, {})
        straight = shot.straight if light is None else apply_field(shot.straight, light)
        if light is not None:
            tones = tone(sampler.cut(straight))
        palette.add(tones, shot.contents)
        lit.append(replace(shot, straight=straight))
    return lit, palette
