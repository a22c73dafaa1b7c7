"""The plug is pulled while the box is installed, upgraded and brought back: it is one version, whole, or the other."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from companion.lab.soak.recorded_card import RecordedCard, after, cuts, impossible, made
from companion.night.log.journal import Journal
from tests.install.machine import Machine, sources
from tests.install.test_upgrade import OPTIONS, PLAYERS, do, hosted
from tests.worlds.sizes import size

pytestmark = [
    pytest.mark.process,
    pytest.mark.timeout(900),
    pytest.mark.skipif(bool(impossible()), reason=impossible()),
]

PLACES = (
    "etc/systemd/system/companion.service",
    "etc/udev/rules.d/70-companion.rules",
    "etc/udev/rules.d/99-companion-braille.rules",
    "etc/avahi/services/companion.service",
    "usr/local/bin/companion",
)
NEXT_UNIT = {"companion/install/companion.service": ("WatchdogSec=60\n", "WatchdogSec=61\n")}


def tree(folder: Path) -> dict[str, str]:
    """Return what a version consists of: the sum, or the aim, of each file; what Python keeps beside them apart."""
    return {
        str(path.relative_to(folder)): str(path.readlink()) if path.is_symlink() else sum_of(path)
        for path in folder.rglob("*")
        if (path.is_symlink() or path.is_file()) and "__pycache__" not in path.parts
    }


def sum_of(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


class Story:
    """What was done to a box, and where in its card's log each step began and ended."""

    def __init__(self, box: Machine, card: RecordedCard) -> None:
        self.box, self.card = box, card
        self.steps: list[tuple[int, int, str]] = []
        self.trees: dict[str, dict[str, str]] = {}
        self.places: dict[str, dict[str, str]] = {}
        self.entered: list[tuple[int, int]] = []

    def run(self, script: Path, *options: str) -> None:
        begin = self.card.position()
        done = self.box.run(script, *options, *OPTIONS)
        end = self.card.position()
        assert done.returncode == 0, done.stderr
        now = self.box.current
        self.steps.append((begin, end, now))
        self.trees[now] = tree(self.box.root / "opt" / "companion" / now)
        self.places[now] = {place: sum_of(self.box.root / place) for place in PLACES}

    def enter(self, command: str, **body: object) -> None:
        do(hosted(self.box), command, **body)
        entries = len(self.entered) + 1
        self.entered.append((self.card.position(), entries))

    def wrong(self, root: Path, at: int) -> Iterator[str]:
        """Yield what is not as it must be on a card whose power was cut there."""
        ended = [version for _, end, version in self.steps if end <= at]
        begun = [version for begin, _, version in self.steps if begin <= at]
        if not ended:
            return  # the first installation is begun again
        may_be = {ended[-1], *begun[len(ended) :]}
        current = (root / "opt" / "companion" / "current").readlink().name
        if current not in may_be:
            yield f"current is {current}"
        elif tree(root / "opt" / "companion" / current) != self.trees[current]:
            yield f"{current} is not whole"
        for place in PLACES:
            there = sum_of(root / place) if (root / place).is_file() else "nothing"
            if there not in {self.places[version][place] for version in may_be}:
                yield f"{place} is of no version ({(root / place).stat().st_size if there != 'nothing' else 'gone'})"
        with contextlib.closing(Journal(root / "var" / "lib" / "companion" / "journal.sqlite")) as journal:
            yield from map(str, journal.damage)
            wanted = sum(moment <= at for moment, _ in self.entered)
            if len([one for one in journal.since(0) if one.kind in ("open-match", "close-match")]) < wanted:
                yield "an entry is lost"


@pytest.mark.sized
def test_whenever_the_power_goes_it_is_one_version_whole(tmp_path: Path) -> None:
    scripts = [sources(tmp_path / "old", "0.0.1"), sources(tmp_path / "new", "0.0.2", changed=NEXT_UNIT)]
    card = RecordedCard(tmp_path, made(tmp_path / "new.img", mib=384))
    try:
        box = Machine(card.place / "root")
        try:
            story = Story(box, card)
            story.run(scripts[0])
            story.enter("open-match", game="igloo-pop", players=PLAYERS, draw=True)
            story.run(scripts[1])
            story.enter("close-match")
            story.run(scripts[1], "--rollback")
            story.enter("open-match", game="igloo-pop", players=PLAYERS, draw=True)
        finally:
            box.end()
    finally:
        card.close()
    assert len({version for *_, version in story.steps}) == 2
    moments = [end for _, end, _ in story.steps] + [at for at, _ in story.entered]
    rng = random.Random(22)
    where = cuts(card.log, size(16, 200), moments, rng, since=story.steps[0][1])
    found = {
        (cut.at, cut.chance): wrong
        for cut, place in after(card, where, tmp_path, rng)
        if (wrong := list(story.wrong(place / "root", cut.at)))
    }
    assert found == {}
