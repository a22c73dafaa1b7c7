"""A drawn round of Igloo Pop, followed by the camera while players put igloos on cards: what it enters, and what not.

Real are the night, its journal, the follower and all that it sees; time is the drawing's. Where the cards lie is the
truth: how well the circle is read is measured in :mod:`companion.lab.bench.vision.cards`.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Protocol

from companion.lab.bench.vision.watched import WatchedNight
from companion.lab.worlds.cards.photos import CardShot
from companion.lab.worlds.cards.placings import Put, drawn_round
from companion.night.answers import CAMERA
from companion.rules.igloo_pop import GAME
from vision.cards.pile import Read

EVERY_S: Final = 0.5
"""Two pictures a second are drawn: as many as a small machine looks at."""
BY_HAND_S: Final = 8.0
"""What the camera has not entered by then is entered by hand."""
AFTER_S: Final = 9.0
"""So long after the last igloo the table is left as it is."""
FAMILIES: Final = (5, 6, 7)
"""Families of art on which finding cards was not tuned."""
SEEDS: Final = range(51, 54)


class FilmedRound(Protocol):
    """A round that somebody draws: its cards clockwise, what is put down in order, and pictures of it."""

    @property
    def names(self) -> list[str]:
        """Return the cards, place by place."""

    @property
    def puts(self) -> tuple[Put, ...]:
        """Return what is put down, in order."""

    @property
    def bare(self) -> CardShot:
        """Return the circle before anything stands on it, all igloos in the village."""

    def scene(self, t: float) -> Any:
        """Return what lies and moves on the table at a time; the same where nothing moved."""

    def take(self, scene: Any, number: int) -> CardShot:
        """Return a photo of it; ``number`` is the noise's seed."""


class TrueCircle:
    """Knows where the cards of a drawn round lie, as :class:`companion.follow.cards.CardTable` would read it."""

    def __init__(self, film: FilmedRound) -> None:
        """Know the circle of ``film``."""
        self.film = film

    def why_unknown(self, game: str) -> str:
        """Return that they may be read."""
        del game
        return ""

    def circle_in(self, game: str, photo: Any) -> tuple[Read, ...]:
        """Return the cards as they lie."""
        del game, photo
        film = self.film
        return tuple(
            Read(name, 1.0, {name: 1.0}, {name: 1.0}, corners)
            for name, corners in zip(film.names, film.bare.corners, strict=True)
        )


class PlacedNight(WatchedNight):
    """A night with a round that is about to begin, and a camera that follows it."""

    def __init__(self, folder: Path, film: FilmedRound, colours: list[str]) -> None:
        """Open a match of these colours whose cards lie as in ``film``; the camera knows nothing yet."""
        self.film, self.circle = film, TrueCircle(film)
        super().__init__(folder, self.circle, EVERY_S)
        seats = [{"name": colour, "colour": colour} for colour in colours]
        self.do("open-match", {"game": GAME.id, "players": seats, "draw": False, "setup": {"cards": film.names}})

    def begin(self) -> None:
        """Let the camera see the bare circle, and begin the round."""
        for _ in range(6):
            self.show(self.film.bare)
        self.do("moves", {"moves": ["start"]})

    @property
    def entered(self) -> list[tuple[str, str, bool]]:
        """Return (place, colour, whether by the camera) of what was placed, in order."""
        snapshot = self.night.snapshot()
        assert snapshot is not None
        steps = zip(snapshot.moves, snapshot.by, strict=True)
        return [(move.place, move.colour, by == CAMERA) for move, by in steps if move.kind == "place"]

    @cached_property
    def truth(self) -> list[tuple[float, str, str]]:
        """Return (second, place, colour) of what is put down, in order."""
        return [(put.t, put.place, put.colour) for put in self.film.puts]


@dataclass
class PlacedTally:
    """What came of rounds: igloos that were put down, entered by the camera, wrongly, left to people; seconds."""

    put: int = 0
    right: int = 0
    wrong: int = 0
    left: int = 0
    swapped: int = 0
    """Entries of the camera that stand in another order than they came, half a second apart or more."""
    rounds: int = 0
    delays: list[float] = field(default_factory=list)
    work: list[float] = field(default_factory=list)


def follow_round(folder: Path, film: FilmedRound, colours: list[str], tally: PlacedTally) -> None:
    """Follow a round to its end, people entering only what the camera leaves to them, and count."""
    night = PlacedNight(folder, film, colours)
    night.begin()
    t, before = 0.0, 0
    came: list[float] = []
    pending = [(t, place, colour) for t, place, colour in night.truth]
    number, former, shot = 2, None, film.bare
    while t < film.puts[-1].t + AFTER_S:
        t, number = t + EVERY_S, number + 1
        scene = film.scene(t)
        if scene != former:
            # What lies still is drawn once.
            former, shot = scene, film.take(scene, number)
        begun = time.thread_time()
        night.show(shot)
        tally.work.append(time.thread_time() - begun)
        for place, colour, by_camera in night.entered[before:]:
            found = next((one for one in pending if one[1:] == (place, colour) and one[0] <= t), None)
            if found is None:
                tally.wrong += 1
                continue
            pending.remove(found)
            if by_camera:
                came.append(found[0])
                tally.right += 1
                tally.delays.append(t - found[0])
        before = len(night.entered)
        for began, place, colour in pending:
            if t - began >= BY_HAND_S and night.do("moves", {"moves": [f"place {colour} {place}"]}).ok:
                tally.left += 1
    night.journal.close()
    tally.put += len(film.puts)
    tally.swapped += sum(later - sooner < -EVERY_S for sooner, later in pairwise(came))
    tally.rounds += 1


def colours_of(seed: int) -> list[str]:
    """Return the colours of the three to five players of a round."""
    every = ["red", "blue", "green", "yellow", "violet", "black"]
    return every[seed % 2 : seed % 2 + 3 + seed % 3]


def measure_placings(seeds: range = SEEDS, families: tuple[int, ...] = FAMILIES) -> PlacedTally:
    """Return what came of rounds of three to five players, one a seed; in every fourth a lamp is switched on."""
    tally = PlacedTally()
    for seed in seeds:
        played = colours_of(seed)
        film = drawn_round(seed, families[seed % len(families)], played, lamp=seed % 4 == 0)
        with tempfile.TemporaryDirectory() as folder:
            follow_round(Path(folder), film, played, tally)
    return tally


def measure(seeds: range = SEEDS) -> dict[str, float]:
    """Return the figures of :func:`measure_placings` by name."""
    tally = measure_placings(seeds)
    delays = sorted(tally.delays) or [float("nan")]
    return {
        "igloos put on cards": tally.put,
        "entered by the camera": tally.right,
        "entered wrongly": tally.wrong,
        "entered in another order": tally.swapped,
        "left to people, each round": round(tally.left / max(1, tally.rounds), 2),
        "seconds to the entry, median": round(delays[len(delays) // 2], 1),
        "seconds to the entry, 95 %": round(delays[int(len(delays) * 0.95)], 1),
        "processor's seconds a look": round(sum(tally.work) / max(1, len(tally.work)), 2),
    }
