"""`companion balance box` with the real firmware: the balance is the world that the emulated sensor feels."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from companion.cli import run
from companion.igloo.balance.calibration import load
from tests.worlds.balance import felt_on_it, kept_calibration

pytestmark = pytest.mark.process

WITHIN_S = 300


def checked(
    igloo: Any, felt: dict[str, Any], folder: Path, script: list[tuple[str, str]], *more: str, command: str = "box"
) -> tuple[int, list[str], list[str]]:
    """Run the command; at each line that begins as the script's next one, put something on (felt), or type (``> ``).

    Returns its status, what it asked for, and its answer.
    """
    line = [sys.executable, "-m", "companion", "balance", command, "--igloo", igloo.port, *more]
    line += ["--calibration", str(folder / "balance")]
    asked, left = [], list(script)
    igloo.play(felt["tare"], loop=True)
    with subprocess.Popen(
        line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as box:
        assert box.stderr is not None and box.stdout is not None and box.stdin is not None
        for said in box.stderr:
            asked.append(said.strip())
            if left and said.startswith(left[0][0]):
                _, does = left.pop(0)
                if does.startswith("> "):
                    box.stdin.write(f"{does.removeprefix('> ')}\n")
                    box.stdin.flush()
                else:
                    igloo.play(felt[does], loop=True)
        told = box.stdout.read().splitlines()
        status = box.wait(timeout=WITHIN_S)
    assert left == [], asked
    return status, asked, told


def test_a_box_is_checked_from_the_sensor_to_the_list(simavr: Callable[..., Any], tmp_path: Path) -> None:
    """Igloo 7 holds six. Each thing is put on when the command asks for it, and tapped until it asks for the next."""
    felt = felt_on_it(6, 10)
    kept_calibration(tmp_path, felt)
    script = [
        ("Put igloo 5 on", "beads 5"),
        ("Put igloo 7 on", "beads 6"),
        ("What was put on as igloo 7 weighs the same as one with 6 beads. Was it igloo 6?", "beads 6"),
        ("Put igloo 10 on", "beads 10"),
        ("Put igloo 12 on", "beads 12"),
        ("Take it off", "tare"),
    ]
    igloo = simavr(mhz=16, rate_error=0.02).start()
    status, asked, told = checked(igloo, felt, tmp_path, script, "--igloos", "5,7,10,12", "--json")
    assert (status, asked[0].split(".")[0]) == (1, "Waiting for the balance")
    assert [(one["igloo"], one["count"], one["agrees"]) for one in map(json.loads, told)] == [
        (5, 5, True),
        (7, 6, False),
        (10, 10, True),
        (12, 12, True),
    ]


def test_who_types_may_say_which_igloo_it_is(simavr: Callable[..., Any], tmp_path: Path) -> None:
    felt = felt_on_it()
    kept_calibration(tmp_path, felt)
    script = [
        ("Put igloo 5 on", "> 12"),
        ("Put igloo 12 on", "beads 5"),
        ("What was put on as igloo 12", "> =5"),
        ("Put igloo 12 on", "> nonsense"),
        ("A number and Enter", "> 13"),
        ("Put igloo 13 on", "> 12"),
        ("Put igloo 12 on", "beads 12"),
        ("Put igloo 13 on", "> end"),
        ("Take it off", "tare"),
    ]
    igloo = simavr(mhz=16).start()
    status, _, told = checked(igloo, felt, tmp_path, script, "--igloos", "5,12")
    assert (status, told) == (0, ["Igloo 5 holds 5.", "Igloo 12 holds 12."])


def test_empty_shells_are_weighed_and_kept_in_the_calibration(simavr: Callable[..., Any], tmp_path: Path) -> None:
    felt = felt_on_it(shells=True)
    kept_calibration(tmp_path, felt)
    # These two weigh nearly the same: that the first was taken off is seen by the empty platform.
    felt["then shell 12"] = np.concatenate([felt["tare"][: 2 * 3200], felt["shell 12"]])
    script = [
        ("Put the empty shell of igloo 5 on", "beads 12"),
        ("This weighs more than an empty shell", "shell 5"),
        ("Put the empty shell of igloo 12 on", "then shell 12"),
        ("Take it off", "tare"),
    ]
    status, _, told = checked(simavr(mhz=16).start(), felt, tmp_path, script, "--igloos", "5,12", command="shells")
    assert status == 0 and [one.split(":")[0] for one in told] == ["Shell 5", "Shell 12"]
    kept = load(tmp_path / "balance")
    assert [one.value for one in kept.shells] == [5, 12]
    assert [one.load * kept.platform_g for one in kept.shells] == pytest.approx([kept.shell_g] * 2, abs=0.3)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (["--igloos", "2,14"], "needs numbers from 2 to 13"),
        (["--igloos", "two"], "needs numbers from 2 to 13"),
        (["--igloo", "/dev/nowhere"], "was not heard"),
    ],
)
def test_what_cannot_be_is_one_sentence(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, more: list[str], why: str
) -> None:
    kept_calibration(tmp_path, felt_on_it())
    monkeypatch.setattr("companion.cli.balance.WAIT_S", 0.0)
    capfd.readouterr()
    assert run(["balance", "box", "--calibration", str(tmp_path / "balance"), *more]) == 2
    last = capfd.readouterr().err.splitlines()[-1]
    assert why in last and last.startswith("companion: ")
