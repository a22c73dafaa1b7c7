"""`companion balance`: beads counted by weighing the igloo on the referee's balance."""

from __future__ import annotations

import json
import queue
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from companion.ports import COUNTS, BadDataError, DeviceError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from companion.igloo.balance.box import BoxCheck
    from companion.igloo.balance.calibration import LabelledLoad
    from companion.igloo.balance.scale import WeighedCount
    from companion.ports import Samples

FILE = click.Path(dir_okay=False, path_type=Path)
WAIT_S = 60.0
"""How long to wait for the balance."""
IGLOO = click.option(
    "--igloo", "port", default="", metavar="PORT", help="The balance's serial port; else it is looked for."
)
IGLOOS = click.option(
    "--igloos", default="", metavar="N,N…", help="Only the igloos with these stickers, in this order."
)
KEYS = "A number and Enter: that igloo is next. = and a number: the last one was that igloo. end: these are all."


@click.group()
def command() -> None:
    """Count beads by weighing them: the referee's balance."""


def _weighings(file: Path) -> list[LabelledLoad]:
    from companion.igloo.balance.calibration import weighings
    from companion.igloo.recordings import read_recording

    return weighings(read_recording(file), file.name)


@command.command()
@click.option("--from", "files", multiple=True, required=True, type=FILE, help="Labelled weighings (.npz).")
@click.option(
    "--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="The folder of the calibration."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def calibrate(files: tuple[Path, ...], out: Path, as_json: bool) -> None:
    """Calibrate the balance by tares, known weights and igloos whose beads were counted; say whether it is good.

    Two igloos of different numbers are needed; coins besides tell grams and the masses of shell and bead.
    """
    from companion.igloo.balance.calibration import card, made_of, save

    weighed = [one for file in files for one in _weighings(file)]
    scale = made_of(weighed)
    path = save(scale, out)
    told = card(scale, weighed)
    if as_json:
        click.echo(json.dumps({"file": str(path), **told}, ensure_ascii=False))
        return
    grams = f"The platform weighs {told['platform_g']:.2f} g and" if scale.in_grams else "The platform"
    click.echo(f"{grams} swings at {told['empty_hz']:.2f} Hz when it is empty. Kept in {path}.")
    click.echo(f"{told['igloos']} igloos and {told['weights']} known weights were used.")
    for line in told["left_aside"]:
        click.echo(f"Left aside: {line}")
    click.echo("\n".join(told["faults"]) if told["faults"] else "The balance is good enough to count with.")


@command.command()
@click.argument("files", nargs=-1, required=True, type=FILE)
@click.option(
    "--calibration",
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder that `balance calibrate` made.",
)
@click.option("--together", is_flag=True, help="The igloos of a file are one box: no two hold the same number.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@click.pass_context
def count(ctx: click.Context, files: tuple[Path, ...], calibration: Path, together: bool, as_json: bool) -> None:
    """Count the beads of weighed igloos; each is held against the tare before it."""
    from companion.cli import sentence
    from companion.igloo.balance.calibration import answers, load
    from companion.ports import CountPosterior

    scale = load(calibration)
    unread = 0
    for file in files:
        try:
            found = answers(scale, _weighings(file), together=together)
        except (ValueError, OSError) as error:
            click.echo(f"companion: {sentence(error)}", err=True)
            unread += 1
            if as_json:
                _tell(file, None, CountPosterior("bad-data", why=sentence(error)).to_json(), None, None)
            continue
        for number, (index, answer) in enumerate(found, 1):
            if as_json:
                swing = answer.load.swing
                _tell(file, index, answer.posterior.to_json(), answer.grams, swing.frequency_hz or None)
            elif together and answer.posterior.state == "counted":
                click.echo(f"{file.name}: igloo {number} holds {answer.posterior.count}.")
            else:
                click.echo(f"{file.name} {index}: {_in_words(answer)}")
    if unread:
        ctx.exit(2)


@command.command()
@click.option(
    "--calibration",
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder that `balance calibrate` made.",
)
@IGLOO
@IGLOOS
@click.option("--json", "as_json", is_flag=True, help="One JSON object an igloo.")
@click.pass_context
def box(ctx: click.Context, calibration: Path, port: str, igloos: str, as_json: bool) -> None:
    """Check a whole box at the balance: put one igloo after another on and tap it three times.

    Exit status 1: an igloo does not hold what its sticker says, or is not surely told.
    """
    from companion.igloo.balance.box import BoxCheck
    from companion.igloo.balance.calibration import load

    check = BoxCheck(load(calibration), _stickers(igloos))
    _listen(check, port)
    for one in check.told:
        if as_json:
            posterior = one.answer.posterior.to_json()
            grams = None if one.answer.grams is None else round(one.answer.grams, 3)
            click.echo(json.dumps({"igloo": one.igloo, "agrees": one.agrees, **posterior, "grams": grams}))
        elif one.answer.posterior.state == "counted":
            off = "" if one.agrees else " That is not what its sticker says."
            click.echo(f"Igloo {one.igloo} holds {one.answer.posterior.count}.{off}")
        else:
            click.echo(f"Igloo {one.igloo} is not surely told: {_in_words(one.answer)}")
    _say(f"It took {check.seconds:.0f} s.")
    ctx.exit(0 if all(one.agrees for one in check.told) else 1)


@command.command()
@click.option(
    "--calibration",
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder that `balance calibrate` made; the shells are kept there.",
)
@IGLOO
@IGLOOS
def shells(calibration: Path, port: str, igloos: str) -> None:
    """Weigh the empty shells of a box once each, so that light beads are counted better from then on."""
    from companion.igloo.balance.box import BoxCheck
    from companion.igloo.balance.calibration import load, save, with_shells

    scale = load(calibration)
    check = BoxCheck(scale, _stickers(igloos), empty=True)
    _listen(check, port)
    save(with_shells(scale, check.shells), calibration)
    for one in check.shells:
        grams = f": {one.load * scale.platform_g:.2f} g" if scale.in_grams else " was weighed"
        click.echo(f"Shell {one.value:.0f}{grams}.")


def _listen(check: BoxCheck, port: str) -> None:
    """Let a check hear the balance, and people read and type, until it is done."""
    from companion.igloo.balance.box import DONE

    asked: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_keys, args=(asked,), daemon=True).start()
    _say(f"Waiting for the balance. {KEYS}")
    told = ""
    for samples in _heard(port):
        while not asked.empty():
            _answer(check, asked.get())
            told = ""
        if told != (told := _next(check)):
            _say(told)
        if check.feed(samples) and check.note:
            _say(str(check.note))
        if check.stage == DONE:
            return


def _stickers(igloos: str) -> tuple[int, ...]:
    """Return the numbers of a list of stickers; all twelve where it is empty.

    :raises BadDataError: when it is no list of stickers.
    """
    try:
        found = tuple(int(one) for one in igloos.split(",")) if igloos else tuple(COUNTS)
    except ValueError:
        found = ()
    if not found or not set(found) <= set(COUNTS):
        raise BadDataError(f"--igloos needs numbers from {COUNTS[0]} to {COUNTS[-1]}, with commas between them.")
    return found


def _keys(asked: queue.Queue[str]) -> None:
    """Read what somebody types, a line each; nothing where nobody can type."""
    with suppress(OSError):
        for line in sys.stdin:
            asked.put(line.strip())


def _answer(check: BoxCheck, line: str) -> None:
    """Do what somebody typed."""
    number = line.removeprefix("=").strip()
    if line == "end":
        check.end()
    elif number.isdecimal() and int(number) in COUNTS:
        (check.was if line.startswith("=") else check.choose)(int(number))
    elif line:
        _say(KEYS)


def _next(check: BoxCheck) -> str:
    from companion.igloo.balance.box import BEFORE, IGLOO

    if check.stage == BEFORE:
        return "Tap the empty platform lightly, three times."
    if check.stage == IGLOO:
        thing = "the empty shell of igloo" if check.empty else "igloo"
        return f"Put {thing} {check.igloo} on, let go, and tap it three times."
    return "Take it off, and tap the empty platform three times."


def _heard(port: str) -> Iterator[Samples]:
    """Yield what the balance feels, at the port that is named or the only one that is found.

    :raises DeviceError: when nothing was heard for a minute, or more than one sensor speaks.
    """
    from companion.igloo.line.discovery import IglooDiscovery

    heard: queue.Queue[Samples] = queue.Queue()
    keys: set[str] = set()

    def hear(link: Any, samples: Samples) -> None:
        keys.add(link.status().key)
        heard.put(samples)

    with IglooDiscovery(named=[port] if port else [], search=not port) as finder:
        finder.subscribe(hear)
        until = time.monotonic() + WAIT_S
        while True:
            try:
                samples = heard.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty as empty:
                raise DeviceError("The balance was not heard.") from empty
            if len(keys) > 1:
                raise DeviceError(f"{len(keys)} sensors speak here; name the balance with --igloo PORT.")
            until = time.monotonic() + WAIT_S
            yield samples


def _say(text: str) -> None:
    """Tell the person at the balance, beside the answer."""
    click.echo(text, err=True)


def _tell(file: Path, index: int | None, posterior: Any, grams: float | None, hz: float | None) -> None:
    """Print one answer in the documented form."""
    told = {"file": str(file), "index": index, **posterior}
    told["grams"] = None if grams is None else round(grams, 3)
    told["frequency_hz"] = None if hz is None else round(hz, 5)
    click.echo(json.dumps(told, ensure_ascii=False))


def _in_words(answer: WeighedCount) -> str:
    """Return one answer as a line for people."""
    posterior = answer.posterior
    if not posterior.p:
        return f"{posterior.state}: {posterior.why}"
    grams = "" if answer.grams is None else f", {answer.grams:.2f} g"
    sure = f"{posterior.count} beads ({100 * max(posterior.p):.0f} %){grams}. {posterior.why}"
    return sure.rstrip()
