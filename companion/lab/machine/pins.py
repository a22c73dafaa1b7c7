"""Pins inside the machine: the kernel's own simulated ones, pressed and read beside the companion's panel."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from companion.lab.machine.channel import CommandChannel
from companion.lab.machine.checks import quoted
from companion.lab.machine.drivers import put
from companion.lab.machine.image import PYTHONS, BuildError, run

FOLDER = "/root/pins"
PYTHON = "/opt/companion/current/bin/python"
LINES = 28
REVISION = "a020d3"
"""Of a Raspberry Pi 3 B+: gpiozero asks which one it is on."""
MAKE = f"""
modprobe configfs
lsmod | grep -q ^gpio_sim || insmod {FOLDER}/gpio-sim.ko
chip=/sys/kernel/config/gpio-sim/header
if [ ! -d $chip ]; then
  mkdir -p $chip/bank && echo {LINES} > $chip/bank/num_lines && echo 1 > $chip/live
fi
name=$(cat $chip/bank/chip_name)
# lgpio opens the first chip, as on a Pi; here that one is the machine's own.
rm -f /dev/gpiochip0 && mknod /dev/gpiochip0 c $(tr : ' ' < /sys/bus/gpio/devices/$name/dev)
grep -q {REVISION} /proc/cpuinfo || {{
  (cat /proc/cpuinfo; echo 'Revision : {REVISION}') > {FOLDER}/cpuinfo && mount --bind {FOLDER}/cpuinfo /proc/cpuinfo
}}
echo /sys/devices/platform/$(cat $chip/dev_name)/$name
"""
PRESSED = """
import json, sys, time
from pathlib import Path
from companion.panel.gpio import Panel
from companion.panel.pins import BUTTONS, STANDARD, Pins
chip, pressed = Path(sys.argv[1]), []
def line(name):
    return chip / f"sim_gpio{STANDARD[name]}"
def until(holds):
    end = time.monotonic() + 60
    while not holds() and time.monotonic() < end:
        time.sleep(0.01)
    return bool(holds())
panel = Panel(Pins(STANDARD), pressed.append)
told = {"library": type(panel.factory).__name__, "kind": str(panel.kind), "pressed": {}, "lights": {}}
for name in BUTTONS:
    for times in range(1, 4):
        (line(name) / "pull").write_text("pull-down")
        until(lambda: pressed.count(name) == times)
        time.sleep(0.3)
        (line(name) / "pull").write_text("pull-up")
        time.sleep(0.3)
    told["pressed"][name] = pressed.count(name)
def value(name):
    return (line(name) / "value").read_text().strip()
for colour, lamps in {"red": "100", "yellow": "110", "violet": "101", "white": "111", None: "000"}.items():
    panel.turn(colour)
    told["lights"][str(colour)] = until(
        lambda: "".join(value(f"turn-{one}") for one in ("red", "green", "blue")) == lamps)
panel.doubt(True)
told["lights"]["doubt"] = until(lambda: value("doubt") == "1")
panel.doubt(False)
told["lights"]["doubt off"] = until(lambda: value("doubt") == "0")
panel.close()
print(json.dumps(told))
"""


class PinsAreWrongError(OSError):
    """A press or a light did not come."""


def library(suite: str, folder: Path) -> bytes:
    """Return lgpio as a wheel for the machine's Python, fetched by this host's pip.

    :raises BuildError: when there is none.
    """
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary=:all:", "--no-deps"]
    command += [f"--platform=manylinux_2_{minor}_aarch64" for minor in (17, 34)]
    run([*command, f"--python-version={PYTHONS[suite]}", "--implementation=cp", "lgpio", "--dest", str(folder)], 600)
    found = sorted(folder.glob("lgpio-*.whl"))
    if not found:
        raise BuildError("There is no lgpio for this Python.")
    return found[-1].read_bytes()


def pressed(channel: CommandChannel, module: Path, wheel: bytes) -> dict[str, Any]:
    """Press each button three times and read the lights back; return the figures.

    ``module`` is gpio-sim for the machine's kernel, ``wheel`` is lgpio.

    :raises PinsAreWrongError: when one does not come, or comes otherwise.
    """
    put(channel, module.read_bytes(), f"{FOLDER}/gpio-sim.ko")
    put(channel, wheel, f"{FOLDER}/lgpio.whl")
    channel.check(f"cd {FOLDER} && python3 -m zipfile -e lgpio.whl lib")
    chip = channel.check(MAKE).strip().splitlines()[-1]
    said = channel.check(f"cd {FOLDER}; PYTHONPATH={FOLDER}/lib " + quoted([PYTHON, "-c", PRESSED, chip]))
    told: dict[str, Any] = json.loads(said.strip().splitlines()[-1])
    wrong = [name for name, times in told["pressed"].items() if times != 3]
    wrong += [name for name, came in told["lights"].items() if not came]
    if wrong or told["library"] != "LGPIOFactory":
        raise PinsAreWrongError(f"{wrong}: {told}")
    return {
        "library": told["library"],
        "presses": sum(told["pressed"].values()),
        "lights read back": len(told["lights"]),
    }
