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
from typing import TYPE_CHECKING, Any, Final, Protocol

from companion.lab.bench.vision.watched import WatchedNight
from companion.lab.worlds.cards.photos import CardShot
from companion.lab.worlds.cards.placings import Put, drawn_round
from companion.night.answers import CAMERA
from companion.rules.igloo_pop import GAME
from companion.rules.igloo_pop.components import PLACES
from vision.cards.pile import Read

if TYPE_CHECKING:
    from companion.follow.cards import CardTable

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

    def __init__(self, folder: Path, film: FilmedRound, colours: list[str], deck: CardTable | None = None) -> None:
        """Open a match of these colours whose cards lie as in ``film``; the camera knows nothing yet.

        With a ``deck`` that was taught nobody enters the cards: the camera is to read the circle.
        """
        self.film, self.circle, self._deck = film, TrueCircle(film), deck
        self.read = False
        """Whether all of the circle was entered by the camera, as it lies."""
        super().__init__(folder, deck or self.circle, EVERY_S)
        seats = [{"name": colour, "colour": colour} for colour in colours]
        setup = {} if deck is not None else {"setup": {"cards": film.names}}
        self.do("open-match", {"game": GAME.id, "players": seats, "draw": False, **setup})

    def begin(self) -> None:
        """Let the camera see the bare circle, enter of it what the camera does not, and begin the round."""
        self.show(self.film.bare, 6)
        if self._deck is not None:
            self._deal()
        self.do("moves", {"moves": ["start"]})

    def _deal(self) -> None:
        truth = dict(zip(PLACES, self.film.names, strict=True))
        self.read = self.lying == truth
        if not self.read:
            wrong = any(truth[place] != card for place, card in self.lying.items())
            if wrong:
                self.do("undo", {"to": 0, "agreed": True})
            self.do("deal", {"cards": {place: card for place, card in truth.items() if place not in self.lying}})
            self.show(self.film.bare, 6)

    @property
    def lying(self) -> dict[str, str]:
        """Return the cards that lie by the record, by their places."""
        snapshot = self.night.snapshot()
        assert snapshot is not None
        state: Any = snapshot.states[-1]
        return {place: "/".join(map(str, card)) for place, card in state.cards.items() if card is not None}

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
    notes: list[str] = field(default_factory=list)


def follow_round(night: PlacedNight, tally: PlacedTally) -> None:
    """Follow a round to its end, people entering only what the camera leaves to them, and count."""
    film = night.film
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
                tally.notes.append(f"wrong {place} {colour} at {t} s")
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
                tally.notes.append(f"left {place} {colour} of {began:.1f} s: {night.told[1]}")
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
            night = PlacedNight(Path(folder), film, played)
            follow_round(night, tally)
            night.journal.close()
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
