"""`companion shake record`: labelled shakes from an igloo, live, simulated, or out of a file."""

from __future__ import annotations

import json
import queue
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from companion.ports import COUNTS, BadDataError, DeviceError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from companion.igloo.recordings import Recording
    from companion.ports import Samples

    FloatArray = NDArray[np.float64]
    Shake = tuple[FloatArray, float]

FILE = click.Path(dir_okay=False, path_type=Path)
WAIT_S = 60.0
"""How long to wait for an igloo, and then for each shake."""


@click.command("record")
@click.argument("out", type=FILE)
@click.option("--count", required=True, type=click.IntRange(COUNTS.start, COUNTS.stop - 1), help="Beads inside.")
@click.option("--device", default="", help="A name for the igloo with its sensor.")
@click.option("--person", default="", help="A name for who shakes.")
@click.option("--guided", is_flag=True, help="The motion keeps to the metronome: up and down, 5 Hz, 2 cm.")
@click.option("--shakes", default=1, show_default=True, type=click.IntRange(1, 1000), help="How many to record.")
@click.option("--seconds", default=4.0, show_default=True, type=click.FloatRange(0.5, 30.0), help="Length of each.")
@click.option("--igloo", default="", metavar="PORT", help="The igloo's serial port; else it is looked for.")
@click.option("--simulate", is_flag=True, help="Shake the simulated igloo.")
@click.option("--from", "source", type=FILE, help="Take the shakes of a recording and label them.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    *,
    out: Path,
    count: int,
    device: str,
    person: str,
    guided: bool,
    shakes: int,
    seconds: float,
    igloo: str,
    simulate: bool,
    source: Path | None,
    as_json: bool,
) -> None:
    """Write what was felt to OUT (.npz), labelled; shakes that OUT already holds are kept."""
    from companion.igloo.recordings import Recording, read_recording, write_recording

    if out.suffix.lower() != ".npz":
        raise click.UsageError(f"{out.name} must end in .npz.")
    if sum([bool(igloo), simulate, source is not None]) > 1:
        raise click.UsageError("Choose one of --igloo, --simulate and --from.")
    before = read_recording(out) if out.exists() else None
    if before and not before.count:
        raise click.UsageError(f"{out.name} holds shakes without a count; name another file.")
    if source:
        heard = _of_file(source)
    elif simulate:
        heard = list(_simulated(count, shakes, seconds, before.rate_hz if before else None))
    else:
        heard = list(_live(igloo, shakes, seconds))
    if not out.parent.is_dir():
        out.parent.mkdir(parents=True)
    fresh = Recording(
        tuple(accel for accel, _ in heard),
        heard[0][1],
        count=(count,) * len(heard),
        device=(device,) * len(heard),
        person=(person,) * len(heard),
        guided=(guided,) * len(heard),
    )
    whole = joined(before, fresh, out.name)
    write_recording(out, whole)
    if as_json:
        report = {"file": str(out), "recorded": len(heard), "shakes": len(whole.shakes), "count": count}
        click.echo(json.dumps(report, ensure_ascii=False))
    else:
        click.echo(f"{out}: {len(heard)} shakes of {count} beads recorded, {len(whole.shakes)} in all.")


def joined(before: Recording | None, fresh: Recording, name: str) -> Recording:
    """Return two recordings as one, its shakes cut to the shortest.

    :raises BadDataError: when their rates or lengths are too different to stand in one file.
    """
    if before and abs(fresh.rate_hz / before.rate_hz - 1) > 0.005:
        raise BadDataError(f"{name} holds shakes at {before.rate_hz:.0f} Hz, these are at {fresh.rate_hz:.0f} Hz.")
    shakes = (*(before.shakes if before else ()), *fresh.shakes)
    shortest, longest = min(map(len, shakes)), max(map(len, shakes))
    if shortest < 0.75 * longest:
        raise BadDataError(f"The shakes have from {shortest} to {longest} samples; in {name} they are about equal.")
    if before is None:
        return replace(fresh, shakes=tuple(shake[:shortest] for shake in shakes))
    old = len(before.shakes)
    return replace(
        fresh,
        shakes=tuple(shake[:shortest] for shake in shakes),
        rate_hz=before.rate_hz,
        count=(*before.count, *fresh.count),
        device=(*(before.device or ("",) * old), *fresh.device),
        person=(*(before.person or ("",) * old), *fresh.person),
        guided=(*(before.guided or (False,) * old), *fresh.guided),
    )


def _of_file(source: Path) -> list[Shake]:
    """Return the shakes of a recording that can be used, in g.

    :raises BadDataError: when one cannot, in one sentence.
    """
    from companion.igloo.count.signal_validity import WRONG_SCALE, scale_of, unsound
    from companion.igloo.recordings import read_recording

    recording = read_recording(source)
    found = []
    for number, accel in enumerate(recording.shakes, start=1):
        scale = scale_of(accel)
        why = unsound(accel, recording.rate_hz) or ("" if scale else WRONG_SCALE)
        if why:
            raise BadDataError(f"{source.name}, shake {number}: {why}")
        if recording.missing and recording.missing[number - 1]:
            raise BadDataError(f"{source.name}, shake {number}: samples are missing inside; a labelled shake is whole.")
        found.append((accel * (scale or 1.0), recording.rate_hz))
    return found


def _simulated(count: int, shakes: int, seconds: float, rate_hz: float | None) -> Iterator[Shake]:
    """Yield shakes of the simulated igloo, through its pseudo-terminal as a real one.

    Its sensor has a true rate of its own: that of the shakes which are there already, else another one each time.
    """
    from companion.igloo.line.link import SerialLink
    from companion.igloo.simulated.device import NOMINAL_HZ, RATE_ERROR
    from companion.igloo.simulated.igloo import SimulatedIgloo

    known = rate_hz is not None and abs(rate_hz / NOMINAL_HZ - 1) < 1.1 * RATE_ERROR
    with SimulatedIgloo(rate_hz=rate_hz if known else None) as igloo, SerialLink(igloo.port) as link:
        heard: queue.Queue[Samples] = queue.Queue()
        link.subscribe(heard.put)
        for number in range(shakes):
            if number:
                _say(f"Shake {number + 1} of {shakes}.")
            begun = False

            def shake() -> None:
                nonlocal begun
                # A shake of which samples were lost, on a busy machine, is shaken again, as a hand would.
                if not begun or not igloo.seconds_left:
                    igloo.shake(count, seconds + 1.5)
                    begun = True

            yield _catch(heard, seconds, on_quiet=shake)


def _live(port: str, shakes: int, seconds: float) -> Iterator[Shake]:
    """Yield shakes of the igloo that is named, or of the only one that is found."""
    from companion.igloo.line.discovery import IglooDiscovery

    heard: queue.Queue[Samples] = queue.Queue()
    keys: set[str] = set()
    with IglooDiscovery(named=[port] if port else [], search=not port) as finder:

        def hear(link: object, samples: Samples) -> None:
            keys.add(link.status().key)  # type: ignore[attr-defined]
            heard.put(samples)

        finder.subscribe(hear)
        _say("Waiting for the igloo.")
        for number in range(shakes):
            _say(f"Shake {number + 1} of {shakes}: now, for {seconds:g} s.")
            yield _catch(heard, seconds)
            if len(keys) > 1:
                raise DeviceError(f"{len(keys)} igloos speak here; name one with --igloo PORT.")


def _catch(heard: queue.Queue[Samples], seconds: float, on_quiet: object = None) -> Shake:
    """Wait for one shake of so many seconds.

    :raises DeviceError: when nothing came for a minute.
    """
    from companion.igloo.calibration.shake_segmenter import ShakeSegmenter

    catcher = ShakeSegmenter(seconds)
    until = time.monotonic() + WAIT_S + seconds
    former_note = ""
    while (left := until - time.monotonic()) > 0:
        try:
            samples = heard.get(timeout=min(left, 1.0))
        except queue.Empty:
            continue
        if callable(on_quiet):
            on_quiet()
        shake = catcher.feed(samples)
        if catcher.note and catcher.note != former_note:
            _say(catcher.note)
        former_note = catcher.note
        if shake is not None:
            return shake, catcher.rate_hz
    why = "No igloo was heard." if not catcher.rate_hz else "The igloo was not shaken long enough."
    raise DeviceError(why)


def _say(text: str) -> None:
    """Tell the person who shakes, beside the answer."""
    click.echo(text, err=True)
