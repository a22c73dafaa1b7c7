"""`companion bench soak`, which `make soak` runs for an hour: faults, and what they did."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

from companion.cli import soak_clients, soak_faults
from companion.cli.bench import Row, row
from companion.cli.soak_play import House, killing

KILLS_PER_HOUR = 1000


def rows(seconds: float) -> Iterable[Row]:
    """Yield the table; ``seconds`` is the length of the memory run, and the other parts grow with it."""
    share = min(1.0, seconds / 3600)
    with tempfile.TemporaryDirectory(prefix="companion-soak-") as name:
        folder = Path(name)
        toll = killing(folder, max(5, round(KILLS_PER_HOUR * share)))
        note = f"{toll.kills} kills, {toll.acknowledged} acknowledged, {toll.resent} sent again"
        yield row("acknowledged entries lost by kill -9", toll.lost, "", "0", note)
        yield row("acknowledged entries doubled", toll.doubled, "", "0", "; ".join(toll.problems) or "journal sound")
        yield row(
            "lost in torn copies", toll.copies_lost, "", "0", f"{toll.copies} copies of the files at a stopped instant"
        )
        yield from _disk(folder)
        yield from _line(share)
        house = House(folder / "house", "--simulate")
        try:
            crowd = soak_clients.crowd(house, 60, 40)
            note = (
                f"{crowd.streams} streams, the others ask again; latest {crowd.worst_ms:.0f} ms after the last change"
            )
            yield row("phones that heard of every change", f"{crowd.told} of {crowd.phones}", "", "all", note)
            for what, rude in (
                ("asked beside slow-loris clients", soak_clients.slow_loris(house, 100, 10 + 20 * share)),
                ("asked beside streams that nobody reads", soak_clients.never_reading(house, 30, 10 + 20 * share)),
            ):
                note = f"{rude.clients} of them; slowest answer {rude.worst_ms:.0f} ms"
                yield row(what, f"{rude.answered} of {rude.asked} answered", "", "all", note)
            junk = soak_clients.junk(house, max(300, round(20_000 * share)))
            note = f"{junk.sent} malformed requests, {junk.unanswered} without an answer, alive: {junk.alive}"
            yield row("answered with a server's error", junk.server_errors, "", "0", note)
        finally:
            house.close()
        for reader, (given, stumbled) in soak_clients.parsers(max(2.0, 600 * share)).items():
            yield row(f"junk to the reader of {reader}: stumbled", stumbled, "", "0", f"{given} pieces")
        house = House(folder / "long", "--simulate")
        try:
            yield from _memory(house, seconds)
        finally:
            house.close()


def _disk(folder: Path) -> Iterable[Row]:
    disk = soak_faults.disk(folder)
    if disk is None:
        yield row("full and read-only disk", "not run", note="needs root, to mount a small one")
        return
    note = f"went on afterwards: {disk.went_on}; acknowledged and lost: {disk.lost}"
    yield row("refused with the sentence: full disk", disk.refused_full, "", "> 0", note)
    yield row("refused with other words", disk.other, "", "0")
    yield row("read-only card at the start", disk.read_only or "not said", note="the one line that is printed")


def _line(share: float) -> Iterable[Row]:
    line = soak_faults.line(max(5, round(100 * share)), max(500, round(50_000 * share)))
    note = (
        f"counted: {line.corrupt_counted} bad frames for {line.corrupt_sent} flipped (unplugging tears more), "
        f"{line.lost_counted} of {line.dropped_sent} dropped samples"
    )
    yield row("came back after an unplug", f"{line.came_back} of {line.unplugs}", "", "all", note)
    yield row("absurd frames borne", line.absurd_frames, "", "", f"the link lives: {line.alive}")


def _memory(house: House, seconds: float) -> Iterable[Row]:
    memory = soak_faults.memory(house, seconds)
    note = f"{memory.moves} moves in {memory.seconds:.0f} s; from {memory.begin_mb:.1f} to {memory.end_mb:.1f} MB"
    yield row("memory, slope", f"{memory.slope_mb_per_hour:.2f}", "MB an hour", "flat", note)
    yield row("memory, slope", f"{memory.slope_kb_per_1000_moves:.1f}", "kB per 1000 moves", "flat", "last two thirds")
