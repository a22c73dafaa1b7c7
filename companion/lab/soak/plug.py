"""The plug is pulled at hundreds of moments of an evening; the nights are opened after each: `companion bench plug`.

A real service plays on a real ext4 whose every write is noted (:mod:`companion.lab.soak.recorded_card`). Afterwards
the card is made anew as each cut would have left it, mounted, and opened as the service opens it.
"""

from __future__ import annotations

import contextlib
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from companion.access.store import Access
from companion.lab.rows import Row, row
from companion.lab.soak.play import Player, ServedCompanion
from companion.lab.soak.recorded_card import RecordedCard, after, cuts, impossible, made
from companion.night.backup.archive import examine
from companion.night.backup.restore import SETTINGS_FILE, settle
from companion.night.log.data_folder import ACCESS, JOURNAL
from companion.night.log.journal import Journal
from companion.ports import CompanionError, DeviceError
from companion.settings import read_settings

CARD_MIB = 64
SETTING = "nightly_backups"
DATA = "data"
SERVED_EVERY = 25
"""Each so many-th cut the whole service is started on what is left, and plays on."""


@dataclass(slots=True)
class Diary:
    """What was acknowledged in an evening, each with the place in the card's log at which the answer had come."""

    entries: dict[str, int] = field(default_factory=dict)
    """By the action's id."""
    people: dict[str, int] = field(default_factory=dict)
    settings: list[tuple[int, int]] = field(default_factory=list)
    """A value, asked for and acknowledged: place before, place after, in turn with :attr:`values`."""
    values: list[int] = field(default_factory=list)
    backups: dict[str, int] = field(default_factory=dict)
    secret: tuple[str, int] = ("", 0)
    """The host's session."""
    restoring: tuple[int, int] | None = None
    """From where to where in the log the nights were brought back …"""
    brought: frozenset[str] = frozenset()
    """… and what these nights held."""

    def moments(self) -> list[int]:
        """Return the places at which an answer had come."""
        ends = [end for _, end in self.settings]
        restored = [] if self.restoring is None else [self.restoring[1]]
        return [*self.entries.values(), *self.people.values(), *ends, *self.backups.values(), *restored]


@dataclass(slots=True)
class Pulled:
    """What pulling the plug cost: how often it was pulled, and what was then not as it had been said to be."""

    cuts: int = 0
    hard: int = 0
    """Cuts in the very moment of an answer, with nothing left that was not flushed."""
    acknowledged: int = 0
    writes: int = 0
    flushes: int = 0
    served: int = 0
    """Cuts after which the whole service was started, and played on."""
    lost: int = 0
    problems: list[str] = field(default_factory=list)


def evening(card: RecordedCard, steps: int) -> Diary:
    """Play on a card: first start, moves, a name, a setting, backups, a restart, nights brought back, moves."""
    diary, player = Diary(), Player(22)
    data = card.place / DATA
    house = ServedCompanion(data)
    try:
        diary.secret = (house.host.cookie.partition("=")[2], card.position())
        for number in range(steps):
            _step(house, player, diary, card)
            if number % 8 == 3:
                _name(house, f"Guest {number}", diary, card)
                _set(house, 1 + number % 20, diary, card)
            if number == steps // 4:
                _back_up(data, diary, card)
        held = frozenset(diary.entries)
        backup = _back_up(data, diary, card)
        for _ in range(steps // 4):
            _step(house, player, diary, card)
        house.close()
        house.start()
        for _ in range(steps // 4):
            _step(house, player, diary, card)
        house.close()
        begin = card.position()
        _companion("restore", str(data / "backups" / backup), "--data", str(data))
        diary.restoring, diary.brought = (begin, card.position()), held
        house.start()
        for number in range(steps // 4):
            action = f"after-{number}"
            told = house.do("fault", {"clause": "POP-2.3", "colour": "red", "note": "x" * 40}, action)
            if told["ok"]:
                diary.entries[action] = card.position()
    finally:
        house.close()
    return diary


def pulled(folder: Path, count: int, *, steps: int = 40, seed: int = 1) -> Pulled:
    """Play an evening on a card in ``folder``, cut the power ``count`` times, and look at what each cut left."""
    rng = random.Random(seed)
    card = RecordedCard(folder, made(folder / "new.img", mib=CARD_MIB))
    try:
        diary = evening(card, steps)
    finally:
        card.close()
    moments = diary.moments()
    where = cuts(card.log, count, moments, rng)
    result = Pulled(acknowledged=len(moments))
    result.writes, result.flushes = card.counted()
    for number, (cut, place) in enumerate(after(card, where, folder, rng)):
        result.cuts += 1
        result.hard += cut.at in moments and cut.chance == 0.0
        data = place / DATA
        try:
            found = list(_missing(data, diary, cut.at))
            result.lost += len(found)
            result.problems += [f"cut at {cut.at}: {one}" for one in found]
            if number % SERVED_EVERY == 0:
                _plays_on(data)
                result.served += 1
        except (CompanionError, OSError, ValueError) as error:
            result.problems.append(f"cut at {cut.at}, {cut.chance:.0%} of the rest: {error!r}")
    return result


def _missing(data: Path, diary: Diary, at: int) -> Iterator[str]:
    """Yield what was acknowledged before a cut and is not there, or is not sound."""
    if not data.exists():
        if any(moment <= at for moment in diary.moments()):
            yield "the whole data folder"
        return
    settle(data)
    if (data / JOURNAL).exists() or any(moment <= at for moment in diary.entries.values()):
        yield from _missing_entries(data, diary, at)
    secret, joined = diary.secret
    if joined <= at:
        with contextlib.closing(Access(data / ACCESS)) as access:
            if access.session(secret) is None:
                yield "the host's session"
    yield from _wrong_setting(data, diary, at)
    backups = data / "backups"
    for path in sorted(backups.glob("companion-*")) if backups.exists() else ():
        examine(path)
    yield from (
        f"backup {name}" for name, moment in diary.backups.items() if moment <= at and not (backups / name).exists()
    )


def _missing_entries(data: Path, diary: Diary, at: int) -> Iterator[str]:
    with contextlib.closing(Journal(data / JOURNAL)) as journal:
        there = {entry.action_id for entry in journal.since(0)}
        yield from (str(one) for one in journal.damage)
        yield from journal.check()
        names = set(journal.people().values())
    wanted = {action for action, moment in diary.entries.items() if moment <= at}
    people = {name for name, moment in diary.people.items() if moment <= at}
    if diary.restoring is not None and at >= diary.restoring[0]:
        since = {action for action, moment in diary.entries.items() if diary.restoring[1] < moment <= at}
        former = {action for action in wanted - since if action not in diary.brought}
        if at >= diary.restoring[1] or former & there != former:
            # They are brought back: whole, and nothing of the former ones is among them.
            wanted = {*diary.brought, *since}
            yield from (f"{action} is of the former nights" for action in sorted(former & there))
    yield from (f"entry {action}" for action in sorted(wanted - there))
    if diary.restoring is None or at < diary.restoring[0]:
        yield from (f"person {name}" for name in sorted(people - names))


def _wrong_setting(data: Path, diary: Diary, at: int) -> Iterator[str]:
    """Yield a setting that is neither the last acknowledged one nor one that was being written."""
    known = [value for value, (_, end) in zip(diary.values, diary.settings, strict=True) if end <= at]
    begun = [value for value, (begin, _) in zip(diary.values, diary.settings, strict=True) if begin <= at]
    if not known or (diary.restoring is not None and at >= diary.restoring[0]):
        return
    path = data / SETTINGS_FILE
    value = read_settings(path)[0].get(SETTING) if path.exists() else None
    if value not in {known[-1], *begun[len(known) :]}:
        yield f"setting {value} instead of {known[-1]}"


def _plays_on(data: Path) -> None:
    """Start the service on what a cut left, and play.

    :raises DeviceError: it does not start, or refuses.
    """
    house = ServedCompanion(data)
    try:
        if house.host.ask("GET", "/")[0] != 200:
            raise DeviceError("The page was not answered.")
        if house.view()["match"] is not None and not house.do("close-match", {}, "plug-close")["ok"]:
            raise DeviceError("The game cannot be ended.")
        Player(23).step(house)
    finally:
        house.close()


def _step(house: ServedCompanion, player: Player, diary: Diary, card: RecordedCard) -> None:
    before = set(player.acknowledged)
    player.step(house)
    at = card.position()
    diary.entries.update(dict.fromkeys(set(player.acknowledged) - before, at))


def _name(house: ServedCompanion, name: str, diary: Diary, card: RecordedCard) -> None:
    if house.host.ask("POST", "/api/people", {"name": name})[0] != 200:
        raise DeviceError(f"{name} was refused.")
    diary.people[name] = card.position()


def _set(house: ServedCompanion, value: int, diary: Diary, card: RecordedCard) -> None:
    begin = card.position()
    if house.host.ask("POST", "/api/settings", {SETTING: value})[0] != 200:
        raise DeviceError("A setting was refused.")
    diary.values.append(value)
    diary.settings.append((begin, card.position()))


def _back_up(data: Path, diary: Diary, card: RecordedCard) -> str:
    name = Path(json.loads(_companion("backup", "--json", "--data", str(data)))["file"]).name
    diary.backups[name] = card.position()
    return name


def _companion(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "companion", *arguments], capture_output=True, text=True, check=False, timeout=120
    )
    if done.returncode:
        raise DeviceError(f"companion {arguments[0]}: {' '.join(done.stderr.split())[-300:]}")
    return done.stdout


def rows(count: int) -> Iterable[Row]:
    """Yield the table, for so many cuts."""
    if why := impossible():
        yield row("the plug", "not run", note=why)
        return
    with tempfile.TemporaryDirectory(prefix="companion-plug-") as name:
        found = pulled(Path(name), count)
    note = f"{found.cuts} cuts ({found.hard} as an answer had come), {found.acknowledged} answers, "
    note += f"{found.writes} writes, {found.flushes} flushes"
    yield row("acknowledged and lost by a power cut", found.lost, "", "0", note)
    said = "; ".join(found.problems[:3]) or f"the service started and played on after {found.served} of them"
    yield row("anything wrong after a power cut", len(found.problems), "", "0", said)
