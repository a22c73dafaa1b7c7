"""What the places of a board were read as, kept while board and camera lie still and the places look as they did.

A place is compared with the picture it was read from, never with a later one, so that nothing is lost that changes
slowly. It is read from two pictures before it is kept: their noise is not the same, and whoever asks whether two
pictures agree on what is new is to hear both. Strips are read in every picture.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from vision.learn.classifier import PlacePrediction
from vision.read.unchanged import unchanged

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.ports import ByteArray
    from vision.board.labels import Content
    from vision.board.patches import Sampler
    from vision.board.pose import Pose
    from vision.read.place_posterior import PlaceLook


@dataclass
class ReadPlaces:
    """The places of a board at a ``pose`` as they were read last: their pictures, and what was made of them.

    ``twice``: of which two pictures were read. ``looks``: what lies in each, without what is remembered, None where
    that is to be told anew; ``weighed``: with it, where that was told. ``wholes``: what the second reader says, where
    it was asked.
    """

    pose: Pose
    patches: ByteArray
    close: dict[int, ByteArray]
    twice: NDArray[np.bool_]
    reading: PlacePrediction
    looks: list[PlaceLook | None]
    weighed: dict[int, PlaceLook] = field(default_factory=dict)
    wholes: dict[int, Mapping[Content, float]] = field(default_factory=dict)

    def unweighed(self) -> dict[int, PlaceLook]:
        """Return the looks with which what is remembered is to be weighed."""
        return {n: look for n, look in enumerate(self.looks) if look is not None and n not in self.weighed}


class KeptPlaces:
    """What is kept from look to look; nothing at first."""

    def __init__(self, sampler: Sampler) -> None:
        """Keep the places of a sampler's layout."""
        self._sampler = sampler
        self._read: ReadPlaces | None = None

    def lies_at(self, pose: Pose) -> bool:
        """Return whether the board lies where it lay when it was read."""
        read = self._read
        return read is not None and read.pose.size == pose.size and np.array_equal(read.pose.matrix, pose.matrix)

    def to_read(self, image: ByteArray, pose: Pose, lifted: Pose, patches: ByteArray) -> list[int]:
        """Return the places that are to be read in a photo with the board at a pose; all others are as they were kept.

        ``lifted`` is the pose of what is read there, ``patches`` are all of its places in the taught light.
        """
        every = list(range(len(patches)))
        read = self._read
        if read is None or not self.lies_at(pose):
            self._read = None
            return every
        same, equal = unchanged(read.patches, patches)
        looked = [n for n in read.close if same[n]]
        if looked:
            now = self._sampler.close(image, lifted, looked)
            near = unchanged(np.stack([read.close[n] for n in looked]), np.stack([now[n] for n in looked]))
            same[looked], equal[looked] = near[0], equal[looked] & near[1]
        same[list(self._sampler.strips)] = False
        kept = same & (read.twice | equal)
        read.twice = same & (read.twice | ~equal)
        return [n for n in every if not kept[n]]

    def take(
        self,
        pose: Pose,
        patches: ByteArray,
        numbers: Sequence[int],
        reading: PlacePrediction,
    ) -> ReadPlaces:
        """Take in what was read in those places of ``patches`` (all of them); return all that is kept now.

        Whoever reads fills in the close-ups of these places, and the looks and second readings that are lacking.
        """
        read = self._read
        if read is None:
            many = len(patches)
            read = ReadPlaces(pose, patches, {}, np.zeros(many, np.bool_), reading, [None] * many)
            self._read = read
            return read
        read.patches[numbers] = patches[numbers]
        for into, of in zip(_arrays(read.reading), _arrays(reading), strict=True):
            into[numbers] = of
        for number in numbers:
            read.looks[number] = None
            for known in (read.weighed, read.close, read.wholes):
                known.pop(number, None)
        return read

    def confirmed(self, anew: Collection[int]) -> None:
        """Something was confirmed: what is remembered is weighed anew, and in places ``anew`` what is printed, too."""
        if self._read is not None:
            self._read.weighed.clear()
            for number in anew:
                self._read.looks[number] = None


def rows_of(reading: PlacePrediction, numbers: Iterable[int]) -> PlacePrediction:
    """Return what is read in some of the places, as a copy."""
    rows = list(numbers)
    parts: dict[str, Any] = {}
    for one in fields(reading):
        value = getattr(reading, one.name)
        parts[one.name] = tuple(part[rows] for part in value) if isinstance(value, tuple) else value[rows]
    return PlacePrediction(**parts)


def _arrays(reading: PlacePrediction) -> list[Any]:
    values = [getattr(reading, one.name) for one in fields(reading)]
    return [array for value in values for array in (value if isinstance(value, tuple) else (value,))]
