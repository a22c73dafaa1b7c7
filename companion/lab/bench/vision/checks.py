"""How much of a check of Igloo Pop the camera enters, how soon, and how often wrongly, on drawn rounds.

The real parts are here the night, its journal, the follower and all that it sees; time is the drawing's. Where the
cards lie is the truth, and who stands where was entered by hand, without a fault, and stood there a second before the
check.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

from companion.follow.cards import CardTable
from companion.lab.bench.vision.placings import BY_HAND_S, EVERY_S, FAMILIES, FilmedRound, PlacedNight, colours_of
from companion.lab.worlds.cards.checks import Turned, drawn_check
from companion.lab.worlds.cards.placings import Put
from companion.night.answers import CAMERA
from companion.rules.igloo_pop.components import IGLOOS, PLACES

AFTER_S: Final = 9.0
"""So long after the last igloo went to the village it is looked on."""
SEEDS: Final = range(151, 154)


class FilmedCheck(Protocol):
    """A check that somebody draws: its round, and what is turned over in order."""

    @property
    def film(self) -> FilmedRound:
        """Return the round."""

    @property
    def turned(self) -> tuple[Turned, ...]:
        """Return what is turned over, in order."""

    @property
    def end_t(self) -> float:
        """Return when the last igloo goes to the village."""

    def number_of(self, put: Any) -> int:
        """Return what lies under an igloo."""

    def scene(self, t: float) -> Any:
        """Return what lies and moves on the table at a time; the same where nothing moved."""


@dataclass
class CheckTally:
    """What came of checks: igloos turned over, entered by the camera, wrongly, left to people; seconds.

    ``ended_right``: rounds at whose end the record has every number where it was, what people entered too.
    """

    turned: int = 0
    right: int = 0
    wrong: int = 0
    left: int = 0
    never_lay: int = 0
    """Of those left to people: read in a hand only."""
    rounds: int = 0
    ended_right: int = 0
    delays: list[float] = field(default_factory=list)
    work: list[float] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class CheckedNight(PlacedNight):
    """A night with a round that comes to its check."""

    def __init__(self, folder: Path, check: FilmedCheck, colours: list[str], deck: CardTable | None = None) -> None:
        """Open a match, as :class:`PlacedNight` does."""
        super().__init__(folder, check.film, colours, deck)
        self.check = check

    def place(self) -> None:
        """Let the camera see the bare circle, and place what is placed by hand."""
        self.begin()
        assert self.do("moves", {"moves": [f"place {put.colour} {put.place}" for put in self.film.puts]}).ok

    def put_right(self) -> None:
        """Enter by hand what stands there where the record has anything else."""
        truth = [(put.place, put.colour) for put in self.film.puts]
        if sorted((place, colour) for place, colour, _ in self.entered) != sorted(truth):
            snapshot = self.night.snapshot()
            assert snapshot is not None
            kept = [move.kind for move in snapshot.moves].index("start") + 1
            assert self.do("undo", {"to": kept, "agreed": True}).ok
            assert self.do("moves", {"moves": [f"place {colour} {place}" for place, colour in truth]}).ok

    def turn_over(self) -> None:
        """Let the camera see what stands there, and everybody pass."""
        self.put_right()
        self.show(self.film.take(self.check.scene(-1.0), 2), 2)
        if len(self.film.puts) < len(IGLOOS):
            assert self.do("check", {}).ok

    def stood(self, place: str) -> list[Put]:
        """Return what stands on a card, in the order of the record."""
        here = [put for put in self.film.puts if put.place == place]
        order = [colour for where, colour, _ in self.entered if where == place]
        by_colour = {colour: iter([put for put in here if put.colour == colour]) for colour in order}
        return [next(by_colour[colour]) for colour in order]

    @property
    def revealed(self) -> list[tuple[str, int, bool]]:
        """Return (place, number, whether by the camera) of what was shown, in order."""
        snapshot = self.night.snapshot()
        assert snapshot is not None
        steps = zip(snapshot.moves, snapshot.by, strict=True)
        return [(move.place, move.number, by == CAMERA) for move, by in steps if move.kind == "reveal"]

    def by_hand(self, place: str) -> int:
        """Enter what is missing on a card; return how many numbers that were."""
        snapshot = self.night.snapshot()
        assert snapshot is not None
        state: Any = snapshot.states[-1]
        stood = self.stood(place)
        moves = [
            f"reveal {place} {self.check.number_of(put)}"
            for put, (_, number) in zip(stood, state.igloos[place], strict=False)
            if number is None
        ]
        return len(moves) if moves and self.do("moves", {"moves": moves}).ok else 0


def follow_check(night: CheckedNight, tally: CheckTally) -> None:
    """Follow a check of what is placed to its end, people entering only what the camera leaves to them, and count."""
    check = night.check
    night.turn_over()
    whose = {(one.put.place, one.put.colour, one.number) for one in check.turned}
    lay = {one.number: one.t for one in check.turned}
    ready = {place: max((one.t for one in check.turned if one.put.place == place), default=None) for place in PLACES}
    t, counted, number, former, shot = 0.0, 0, 2, None, None
    while t < check.end_t + AFTER_S:
        t, number = t + EVERY_S, number + 1
        scene = check.scene(t)
        if shot is None or scene != former:
            former, shot = scene, check.film.take(scene, number)
        begun = time.thread_time()
        night.show(shot)
        tally.work.append(time.thread_time() - begun)
        every = night.revealed
        for index, (place, shown, by_camera) in enumerate(every[counted:], counted):
            if not by_camera:
                continue
            turn = sum(where == place for where, *_ in every[:index])
            colour = night.stood(place)[turn].colour
            if (place, colour, shown) in whose and lay[shown] <= t:
                tally.right += 1
                tally.delays.append(t - lay[shown])
            else:
                tally.wrong += 1
                tally.notes.append(f"{place} {colour} {shown} at {t}")
        counted = len(every)
        for place, since in ready.items():
            if since is not None and t >= since + BY_HAND_S and (left := night.by_hand(place)):
                tally.left += left
                tally.notes.append(f"left {place} {left} at {t}: {night.told[1]}")
        counted = len(night.revealed)
    tally.turned += len(check.turned)
    tally.never_lay += sum(one.at is None for one in check.turned)
    tally.rounds += 1
    tally.ended_right += {(place, shown) for place, shown, _ in night.revealed} == {
        (one.put.place, one.number) for one in check.turned
    }


def measure_checks(seeds: range = SEEDS, families: tuple[int, ...] = FAMILIES) -> CheckTally:
    """Return what came of checks of three to five players, one a seed; in every fourth a lamp is switched on."""
    tally = CheckTally()
    for seed in seeds:
        played = colours_of(seed)
        check = drawn_check(seed, families[seed % len(families)], played, lamp=seed % 4 == 0)
        with tempfile.TemporaryDirectory() as folder:
            night = CheckedNight(Path(folder), check, played)
            night.place()
            follow_check(night, tally)
            night.journal.close()
    return tally


def measure(seeds: range = SEEDS) -> dict[str, float]:
    """Return the figures of :func:`measure_checks` by name."""
    tally = measure_checks(seeds)
    delays = sorted(tally.delays) or [float("nan")]
    return {
        "igloos turned over": tally.turned,
        "entered by the camera": tally.right,
        "entered wrongly": tally.wrong,
        "left to people, each round": round(tally.left / max(1, tally.rounds), 2),
        "of these read in a hand only": round(tally.never_lay / max(1, tally.rounds), 2),
        "seconds to the entry, median": round(delays[len(delays) // 2], 1),
        "seconds to the entry, 95 %": round(delays[int(len(delays) * 0.95)], 1),
        "processor's seconds a look": round(sum(tally.work) / max(1, len(tally.work)), 2),
    }
