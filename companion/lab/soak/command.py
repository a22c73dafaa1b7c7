"""`companion bench soak`, which `make soak` runs for an hour: faults, and what they did."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

from companion.lab.rows import Row, row
from companion.lab.soak import absurd_values, clients, faults, flood, fuzz, journal_at_rest, plug, sd_card
from companion.lab.soak import camera as soak_camera
from companion.lab.soak.play import ServedCompanion, killing
from companion.lab.soak.targets import TARGETS

KILLS_PER_HOUR = 1000
PLUG_CUTS_PER_HOUR = 1000
FUZZ_S = 600.0


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
        yield from _at_rest(max(10, round(300 * share)))
        yield from _disk(folder)
        yield from _card(folder)
        yield from plug.rows(max(20, round(PLUG_CUTS_PER_HOUR * share)))
        yield from _line(share)
        yield from _camera(folder, share)
        house = ServedCompanion(folder / "house", "--simulate")
        try:
            yield from _clients(house, share)
        finally:
            house.close()
        yield from flood.rows(seconds)
        yield from _fuzz(max(10.0, FUZZ_S * share))
        house = ServedCompanion(folder / "long", "--simulate")
        try:
            yield from _memory(house, seconds)
        finally:
            house.close()


def _at_rest(tries: int) -> Iterable[Row]:
    for attack, one in journal_at_rest.at_rest(tries).items():
        note = f"{one.whole} whole, {one.told} told and played on, {one.refused} refused, of {tries}"
        if one.culprits:
            note += f"; {one.culprits[0]}"
        yield row(f"{attack}: silent or stumbled", one.silent + one.stumbled, "", "0", note)


def _disk(folder: Path) -> Iterable[Row]:
    disk = faults.disk(folder)
    if disk is None:
        yield row("full and read-only disk", "not run", note="needs root, to mount a small one")
        return
    note = f"went on afterwards: {disk.went_on}; acknowledged and lost: {disk.lost}"
    yield row("refused with the sentence: full disk", disk.refused_full, "", "> 0", note)
    yield row("refused with other words", disk.other, "", "0")
    yield row("read-only card at the start", disk.read_only or "not said", note="the one line that is printed")


def _card(folder: Path) -> Iterable[Row]:
    house = ServedCompanion(folder / "held")
    try:
        held = sd_card.held(house)
    finally:
        house.close()
    note = f"acknowledged and lost: {held.lost}; other answers: {len(held.other)}; went on afterwards: {held.went_on}"
    yield row("refused while the kernel refuses every write", held.refused, "", "10", note)
    if why := sd_card.impossible():
        yield row("a card that dies in mid-run", "not run", note=why)
        return
    (folder / "dying").mkdir()
    dying = sd_card.dying(folder / "dying")
    note = f"page readable: {dying.readable}; nights saved from it: {dying.saved}; the doctor: {dying.doctor}"
    yield row("a card that dies in mid-run: refused with the sentence", dying.refused, "", "13", note)
    yield row("… acknowledged and lost", dying.lost, "", "0", f"mended and started anew: went on {dying.went_on}")


def _line(share: float) -> Iterable[Row]:
    line = faults.line(max(5, round(100 * share)), max(500, round(50_000 * share)))
    note = (
        f"counted: {line.corrupt_counted} bad frames for {line.corrupt_sent} flipped (unplugging tears more), "
        f"{line.lost_counted} of {line.dropped_sent} dropped samples"
    )
    yield row("came back after an unplug", f"{line.came_back} of {line.unplugs}", "", "all", note)
    yield row("absurd frames borne", line.absurd_frames, "", "", f"the link lives: {line.alive}")
    for what, streams, aim in (
        ("absurd values that were counted", absurd_values.STREAMS, "0"),
        ("values wrong in a shake's own way that were counted", absurd_values.SHAKE_LIKE, "0"),
    ):
        found = list(absurd_values.absurd(streams))
        believed = [one.what for one in found if one.counted]
        yield row(what, len(believed), "", aim, f"of {len(found)} kinds" + "".join(f"; {one}" for one in believed))
    yield row("the same way, a sound shake", absurd_values.control(), "counts", "> 0", "or the zero would mean nothing")
    swaps = faults.swaps(max(2, round(20 * share)))
    yield row("two igloos swapped, heard under their own names", f"{swaps.right} of {swaps.swaps}", "", "all")


def _camera(folder: Path, share: float) -> Iterable[Row]:
    camera = soak_camera.FaultyCamera()
    try:
        house = ServedCompanion(folder / "camera", "--camera", f"http://127.0.0.1:{camera.port}/")
        try:
            for seen in soak_camera.camera_faults(house, camera):
                note = f"back: {seen.back}; page answered {seen.answered} of {seen.requests}"
                late = f"{seen.said_s:.1f}" if seen.said else "never"
                yield row(f"camera {seen.fault}: said after", late, "s", "≤ 10 s", note)
            result, peak = soak_camera.bombs(house, camera, 10 + 110 * share)
            note = f"from camera and phones; the service's memory at most {peak:.0f} MB; camera back: {result.back}"
            yield row(
                "asked beside pictures that are bombs",
                f"{result.answered} of {result.requests} answered",
                "",
                "all",
                note,
            )
        finally:
            house.close()
    finally:
        camera.close()


def _clients(house: ServedCompanion, share: float) -> Iterable[Row]:
    crowd = clients.crowd(house, 60, 40)
    note = f"{crowd.streams} streams, the others ask again; latest {crowd.worst_ms:.0f} ms after the last change"
    yield row("phones that heard of every change", f"{crowd.reached} of {crowd.phones}", "", "all", note)
    for what, rude in (
        ("asked beside slow-loris clients", clients.slow_loris(house, 100, 10 + 20 * share)),
        ("asked beside streams that nobody reads", clients.never_reading(house, 30, 10 + 20 * share)),
    ):
        note = f"{rude.clients} of them; slowest answer {rude.worst_ms:.0f} ms"
        yield row(what, f"{rude.answered} of {rude.requests} answered", "", "all", note)
    junk = clients.junk(house, max(300, round(20_000 * share)))
    note = f"{junk.sent} malformed requests, {junk.unanswered} without an answer, alive: {junk.alive}"
    yield row("answered with a server's error", junk.server_errors, "", "0", note)


def _fuzz(seconds: float) -> Iterable[Row]:
    if not fuzz.available():
        yield row("fuzzed readers", "not run", note="atheris is not installed; it has wheels for x86-64 only")
        return
    for found in fuzz.fuzz(TARGETS, seconds / len(TARGETS)):
        note = f"{found.tried} inputs, {found.edges} edges"
        if found.stumbled:
            note += f"; {found.stumbled}: {found.culprit[:60]!r}"
        yield row(f"fuzzed reader of {found.reader}: stumbled", int(bool(found.stumbled)), "", "0", note)


def _memory(house: ServedCompanion, seconds: float) -> Iterable[Row]:
    memory = faults.memory(house, seconds)
    note = f"{memory.moves} moves in {memory.seconds:.0f} s; from {memory.begin_mb:.1f} to {memory.end_mb:.1f} MB"
    yield row("memory, slope", f"{memory.slope_mb_per_hour:.2f}", "MB an hour", "flat", note)
    yield row("memory, slope", f"{memory.slope_kb_per_1000_moves:.1f}", "kB per 1000 moves", "flat", "last two thirds")
    yield row("memory, most less least", f"{memory.span_mb:.1f}", "MB", "≤ 5 MB", "last two thirds")
    note = f"files, sockets and pipes; {memory.handles} at the end, last two thirds"
    yield row("open handles, most less least", memory.span_handles, "", "flat", note)
