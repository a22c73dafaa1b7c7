"""What is done in an emulated machine, step by step; each step gives figures, and a finished one is not done again."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from companion.lab.machine import checks, trouble
from companion.lab.machine.camera import watched
from companion.lab.machine.channel import LIMIT_S
from companion.lab.machine.checks import journal
from companion.lab.machine.drivers import drivers
from companion.lab.machine.emulator import Machine
from companion.lab.machine.evening import PATIENCE_S, close_match, do, health, host_phone, play
from companion.lab.machine.image import CARRIED, carried, disks, image
from companion.lab.machine.network import announced, order
from companion.lab.machine.pins import library, pressed
from companion.lab.machine.usb import plugged
from companion.lab.phone import Phone
from companion.lab.worlds.evening import SEATS, SHAKEN

Figures = dict[str, Any]
INSTALL_S = 6 * 3600.0
"""How long an installation may take: unpacking, compiling and watching take a quarter of an hour on two free cores."""
OFFLINE = f"PIP_NO_INDEX=1 PIP_FIND_LINKS={CARRIED}/wheels"
MAKE_INSTALL = "make install"
FULL_MB, SMALL_MB = 1024, 512
LATE_DAYS = 40
"""So far behind is the clock of a machine without one of its own, until the network tells it the time."""


class FailedError(OSError):
    """A step showed that something does not hold."""


@dataclass
class Visit:
    """The machine that the steps of one suite work in, and what they tell each other.

    ``kept`` is written to the results: it must be known after an interruption, too.
    """

    suite: str
    cache: Path
    moves: int
    kept: dict[str, Any]
    machine: Machine | None = None
    name: str = ""
    memory_mb: int = 0
    phone: Phone | None = None

    def on(
        self, name: str, memory_mb: int = FULL_MB, *, anew: bool = False, afresh: bool = False, clock: str = ""
    ) -> Machine:
        """Return the machine of a name, switched on; another one, or one of another size, is shut down before.

        ``anew``: it is switched off and on, and has only begun to boot; ``afresh``: its disk is a new one, too.
        ``clock``: what it believes the time is when it is switched on.
        """
        there = self.machine is not None and self.machine.on and (self.name, self.memory_mb) == (name, memory_mb)
        if self.machine is not None and there and not anew and not afresh:
            return self.machine
        self.off()
        own = disks(self.suite, self.cache, name, afresh=afresh)
        self.machine = Machine(own, self.cache / self.suite / name, memory_mb, clock)
        self.name, self.memory_mb = name, memory_mb
        if not anew:
            self.machine.wait_ready()
        return self.machine

    def off(self, *, cut: bool = False) -> None:
        """Shut the machine down, or pull its plug."""
        if self.machine is not None:
            if cut:
                self.machine.cut()
            else:
                self.machine.off()
        self.machine = self.phone = None

    def run(self, machine: Machine, script: str, limit_s: float = LIMIT_S) -> str:
        """Run a script that must succeed; what it prints goes into the machine's log, too."""
        with (self.cache / self.suite / self.name / "said.log").open("a", encoding="utf-8") as log:
            log.write(f"$ {script}\n")
            return machine.channel.check(script, limit_s, heard=lambda text: _written(log, text))

    def host(self, machine: Machine) -> Phone:
        """Return the host's phone; it becomes the host by `companion host` inside, once for each start."""
        if self.phone is None or self.phone.port != machine.port:
            said = self.run(machine, "companion host --json")
            self.phone = host_phone(machine.port, json.loads(said.strip().splitlines()[-1])["token"])
        return self.phone


def _written(log: Any, text: str) -> None:
    log.write(text)
    log.flush()


def program(machine: Machine) -> str:
    """Return the folder of the version that is installed: both call themselves 0.1.0."""
    return machine.channel.check("readlink /opt/companion/current").strip()


def same(what: str, before: object, after: object) -> None:
    """Stop where something that must stay is not what it was."""
    if before != after:
        raise FailedError(f"{what}: {before!r} before, {after!r} after")


# --- the steps


def make_image(visit: Visit) -> Figures:
    """The suite as an image."""
    _, initrd, base = image(visit.suite, visit.cache / visit.suite)
    return {"disk, MB": round(base.stat().st_blocks * 512 / 1e6), "initrd, MB": round(initrd.stat().st_size / 1e6)}


def make_carried(visit: Visit) -> Figures:
    """The checkout, 0.1.0, and wheels for both on a disk."""
    return {"disk, MB": round(carried(visit.suite, visit.cache / visit.suite).stat().st_blocks * 512 / 1e6)}


def boot(visit: Visit) -> Figures:
    """A fresh machine with 1 GB, switched on."""
    began = time.monotonic()
    machine = visit.on("first", afresh=True)
    return {
        "seconds": round(time.monotonic() - began),
        "kernel": machine.channel.check("uname -rm").strip(),
        "systemd": machine.channel.check("systemctl --version | head -n 1").strip(),
        "python": machine.channel.check("python3 --version").strip(),
    }


def install(visit: Visit) -> Figures:
    """`make install`, as at a Pi: the unit active, the page answered."""
    machine = visit.on("first")
    began = time.monotonic()
    visit.run(machine, f"cd {CARRIED}/now && {OFFLINE} {MAKE_INSTALL}", INSTALL_S)
    took = time.monotonic() - began
    return {"seconds": round(took), **_stands(machine)}


def _stands(machine: Machine) -> Figures:
    state = machine.channel.run(f"systemctl is-active {checks.UNIT}").said.strip()
    same("the unit", "active", state)
    told = health(Phone(machine.port, patience_s=PATIENCE_S))
    starts = machine.channel.check(f"systemctl show -P NRestarts {checks.UNIT}").strip()
    return {"unit": state, "version": told["version"], "starts anew": int(starts)}


def evening(visit: Visit) -> Figures:
    """Host link, and a game of each of the four from outside."""
    machine = visit.on("first")
    machine.wait_page()
    before = checks.written_mb(machine.channel)
    began = time.monotonic()
    played = play(visit.host(machine), visit.moves)
    took = time.monotonic() - began
    figures = {"seconds": round(took), **played.figures()}
    figures["written, MB"] = round(checks.written_mb(machine.channel) - before, 1)
    visit.kept["journal"] = journal(machine.channel)["digest"]
    return figures | checks.memory(machine.channel)


def restart(visit: Visit) -> Figures:
    """`systemctl restart`: the same state, the same journal, the phone still the host's."""
    machine = visit.on("first")
    machine.wait_page()
    phone = visit.host(machine)
    before, entries = health(phone)["journal"], journal(machine.channel)
    began = time.monotonic()
    visit.run(machine, f"systemctl restart {checks.UNIT}")
    machine.wait_page()
    took = time.monotonic() - began
    same("the state", before, health(phone)["journal"])
    same("the journal", entries["digest"], journal(machine.channel)["digest"])
    close_match(phone)
    visit.kept["journal"] = journal(machine.channel)["digest"]
    return {"seconds": round(took), "entries": entries["entries"]}


def backup(visit: Visit) -> Figures:
    """`companion backup` beside the running service, examined."""
    machine = visit.on("first")
    machine.wait_page()
    said = visit.run(machine, "companion backup --json")
    told = json.loads(said.strip().splitlines()[-1])
    same("the newest entry", journal(machine.channel)["entries"], told["seq"])
    return {"kB": round(told["size"] / 1000), "files": told["files"], "entry": told["seq"]}


def network(visit: Visit) -> Figures:
    """The machine's name and its page by mDNS, and what was there before the service started."""
    machine = visit.on("first")
    machine.wait_page()
    return announced(machine.channel) | order(machine.channel)


def usb(visit: Visit) -> Figures:
    """The igloo's real firmware at a USB socket, plugged in and pulled out 30 times while games go on."""
    machine, phone = _idle(visit)
    began = time.monotonic()
    figures = plugged(machine.channel, phone, machine.folder / "qmp")
    figures["seconds"] = round(time.monotonic() - began)
    _leave(visit)
    return figures


def camera(visit: Visit) -> Figures:
    """Cameras that come, change and go: v4l2loopback fed with a drawn table, and vivid."""
    machine, phone = _idle(visit)
    figures = watched(machine.channel, phone, _modules(visit, machine)["v4l2loopback"])
    _leave(visit)
    return figures


def pins(visit: Visit) -> Figures:
    """Buttons and lights of the panel at simulated pins of the kernel, through gpiozero and lgpio."""
    machine = visit.on("first")
    return pressed(
        machine.channel, _modules(visit, machine)["gpio-sim"], library(visit.suite, visit.cache / visit.suite)
    )


def troubles(visit: Visit) -> Figures:
    """A runaway, a clock that jumps, a full disk, a disk that only reads, a page that hangs."""
    machine, phone = _idle(visit)
    figures: Figures = {}
    for happens in (trouble.runaway, trouble.jump, trouble.full, trouble.hang):
        figures |= happens(machine.channel, phone)
        machine.wait_page()
    told, kept = trouble.read_only(machine.channel, phone)
    visit.off(cut=True)
    machine = visit.on("first")
    machine.wait_page()
    trouble.still_there(machine.channel, visit.host(machine), kept)
    _leave(visit)
    return figures | told


def _modules(visit: Visit, machine: Machine) -> dict[str, Path]:
    kernel = machine.channel.check("uname -r").strip()
    return drivers(visit.suite, visit.cache / visit.suite / "drivers", kernel)


def _idle(visit: Visit) -> tuple[Machine, Phone]:
    """Return the first machine and its host's phone, with no match open."""
    machine = visit.on("first")
    machine.wait_page()
    phone = visit.host(machine)
    close_match(phone)
    return machine, phone


def _leave(visit: Visit) -> None:
    """Leave the first machine as it was found: no match open, and its journal known to the steps that follow."""
    machine, _ = _idle(visit)
    visit.kept["journal"] = journal(machine.channel)["digest"]


def restrict(visit: Visit) -> Figures:
    """The unit's restrictions, tried from inside."""
    machine = visit.on("first")
    machine.wait_page()
    found = checks.restrictions(machine.channel)
    if found["wrong"]:
        raise FailedError(f"not as meant: {', '.join(found['wrong'])}: {json.dumps(found['tries'])}")
    return found


def small(visit: Visit) -> Figures:
    """The same disk with 512 MB, switched off and on: from power-on to the first page, and an evening."""
    began = time.monotonic()
    machine = visit.on("first", SMALL_MB, anew=True)
    page = machine.wait_page()
    machine.wait_ready()
    same("the journal", visit.kept.get("journal"), journal(machine.channel)["digest"])
    before = checks.written_mb(machine.channel)
    phone = visit.host(machine)
    close_match(phone)
    played = play(phone, visit.moves)
    figures = {"power-on to first page, s": round(page), **played.figures()}
    figures["seconds"] = round(time.monotonic() - began)
    figures["written, MB"] = round(checks.written_mb(machine.channel) - before, 1)
    return figures | checks.memory(machine.channel) | _stands(machine)


def small_camera(visit: Visit) -> Figures:
    """Half the memory, and the cameras: what is left beside them."""
    machine = visit.on("first", SMALL_MB)
    machine.wait_page()
    phone = visit.host(machine)
    figures = watched(machine.channel, phone, _modules(visit, machine)["v4l2loopback"])
    return figures | checks.memory(machine.channel) | _stands(machine)


def plug(visit: Visit) -> Figures:
    """The plug pulled right after a change was acknowledged; booted with a late clock, which jumps in play."""
    machine = visit.on("first", SMALL_MB)
    machine.wait_page()
    phone = visit.host(machine)
    close_match(phone)
    do(phone, "open-match", {"game": SHAKEN, "players": SEATS, "draw": True})
    entries = health(phone)["journal"]
    visit.off(cut=True)
    began = time.monotonic()
    late = datetime.now(UTC) - timedelta(days=LATE_DAYS)
    machine = visit.on("first", SMALL_MB, clock=late.strftime("%Y-%m-%dT%H:%M:%S"))
    machine.wait_page()
    took = time.monotonic() - began
    phone = visit.host(machine)
    same("the state", entries, health(phone)["journal"])
    believed = machine.channel.check("date +%F").strip()
    close_match(phone)
    visit.run(machine, f"date -s @{time.time():.0f}")
    do(phone, "open-match", {"game": SHAKEN, "players": SEATS, "draw": True})
    close_match(phone)
    figures = {"seconds": round(took), "entries": entries["seq"], "booted on": believed}
    visit.kept["journal"] = journal(machine.channel)["digest"]
    return figures | _stands(machine)


def former(visit: Visit) -> Figures:
    """A fresh machine with 0.1.0, on a data folder of then, and an entry more."""
    machine = visit.on("second", afresh=True)
    began = time.monotonic()
    visit.run(machine, f"cd {CARRIED}/then && {OFFLINE} ./install.sh --no-apt --no-start", INSTALL_S)
    took = time.monotonic() - began
    own = "/var/lib/companion"
    visit.run(machine, f"cp -r {CARRIED}/data/data/. {own}/ && chown -R companion:companion {own}")
    visit.run(machine, f"systemctl restart {checks.UNIT}")
    machine.wait_page()
    phone = visit.host(machine)
    close_match(phone)
    do(phone, "open-match", {"game": SHAKEN, "players": SEATS, "draw": True})
    kept = journal(machine.channel)
    visit.kept["then"] = {"entries": kept["entries"], "digest": kept["digest"], "program": program(machine)}
    return {"seconds": round(took), "entries": kept["entries"], **_stands(machine)}


def upgrade(visit: Visit) -> Figures:
    """`make install` of this checkout over 0.1.0: every entry of then is there, and play goes on."""
    machine = visit.on("second")
    then = visit.kept["then"]
    began = time.monotonic()
    visit.run(machine, f"cd {CARRIED}/now && {OFFLINE} {MAKE_INSTALL}", INSTALL_S)
    took = time.monotonic() - began
    visit.kept["upgrade, s"] = round(took)
    if program(machine) == then["program"]:
        raise FailedError("The former version is still the one in place.")
    machine.wait_page()
    now = journal(machine.channel)
    same("the entries of then", then["digest"], now["digest of"][then["entries"]])
    phone = visit.host(machine)
    do(phone, "close-match", {})
    kept = journal(machine.channel)
    visit.kept["upgraded"] = {"entries": kept["entries"], "digest": kept["digest"]}
    return {"seconds": round(took), "entries": kept["entries"], **_stands(machine)}


def rollback(visit: Visit) -> Figures:
    """`install.sh --rollback`: 0.1.0 answers again; nights that it cannot read are refused, none is lost."""
    machine = visit.on("second")
    upgraded = visit.kept["upgraded"]
    began = time.monotonic()
    first = machine.channel.run(f"cd {CARRIED}/now && ./install.sh --rollback", INSTALL_S)
    told, how = first.said, "--rollback"
    if first.status and "--old-nights" in told:
        same("the journal", upgraded["digest"], journal(machine.channel)["digest"])
        how = "--rollback --old-nights"
        told = visit.run(machine, f"cd {CARRIED}/now && ./install.sh {how}", INSTALL_S)
    elif first.status:
        raise FailedError(told.strip().splitlines()[-1])
    took = time.monotonic() - began
    visit.kept["way back, s"] = round(took)
    machine.wait_page()
    now = journal(machine.channel)
    then = visit.kept["then"]
    same("the program", then["program"], program(machine))
    same("the entries of then", then["digest"], now["digest of"][then["entries"]])
    said = re.findall(r"Installed: (.*?), nights", told)
    figures = {"seconds": round(took), "how": how, "said": said[-1] if said else "", "entries": now["entries"]}
    return figures | _stands(machine)


STEPS: tuple[tuple[str, Callable[[Visit], Figures]], ...] = (
    ("image", make_image),
    ("carried", make_carried),
    ("boot", boot),
    ("install", install),
    ("evening", evening),
    ("restart", restart),
    ("backup", backup),
    ("restrictions", restrict),
    ("network", network),
    ("usb", usb),
    ("camera", camera),
    ("pins", pins),
    ("trouble", troubles),
    ("512 MB", small),
    ("512 MB, camera", small_camera),
    ("plug", plug),
    ("0.1.0", former),
    ("upgrade", upgrade),
    ("rollback", rollback),
)
AFRESH = {"boot": {"install", "evening", "restart", "backup", "restrictions", "512 MB", "512 MB, camera", "plug"}}
AFRESH["boot"] |= {"network", "usb", "camera", "pins", "trouble"}
AFRESH["0.1.0"] = {"upgrade", "rollback"}
"""Steps that begin a machine afresh, with those that are then to be done again."""
