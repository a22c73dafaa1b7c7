"""A balance at the table for tests: what its sensor feels, from the lab's physics."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from companion.igloo.balance.calibration import LabelledLoad, card, made_of, save
from companion.igloo.balance.loads import loads
from companion.lab.physics.balance import RATE_HZ, Weighing, box, built, filled, weigh
from companion.ports import DeviceKind, DeviceState, IglooStatus, Samples

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from companion.calibrating.balance_run import BalanceRun

CALIBRATION = ("grams 2.3", "grams 7.5", "grams 8.5", "beads 5", "beads 12")


def felt_on_it(*igloos: int, seed: int = 19, shells: bool = False) -> dict[str, NDArray[np.float64]]:
    """Return what is felt, (n, 3) in g at 3200 Hz, by name: ``tare``, three coins, ``beads 5``, ``beads 12``, more.

    ``shells``: and the empty ones of these igloos, ``shell 5`` …
    """
    rng = np.random.default_rng(seed)
    balance, of = built(rng, "A"), box(rng)
    on_it = {"tare": Weighing(0.0), **{f"grams {grams}": Weighing(grams) for grams in (2.3, 7.5, 8.5)}}
    for shell, n in enumerate((5, 12, *igloos)):
        on_it[f"beads {n}"] = filled(rng, of, shell, n)
        if shells:
            on_it[f"shell {n}"] = Weighing(of.shells_g[shell], 0.0, 0.025)
    made = weigh(balance, list(on_it.values()), rng)
    return dict(zip(on_it, made, strict=True))


def kept_calibration(folder: Path, felt: Mapping[str, NDArray[np.float64]]) -> None:
    """Calibrate by what is felt, and keep it in a data folder as the balance of everything simulated."""
    what, value, accel = zip(*sequence(felt), strict=True)
    found = loads(accel, RATE_HZ, what)
    weighed = [LabelledLoad(*one) for one in zip(what, value, found, strict=True)]
    scale = made_of(weighed)
    save(scale, folder / "balance")
    (folder / "balance" / "card.json").write_text(json.dumps(card(scale, weighed)), encoding="utf-8")
    (folder / "balance" / "role.json").write_text(json.dumps({"device": "simulated"}), encoding="utf-8")


def runs(accel: NDArray[np.float64], each: int = 320) -> Iterator[Samples]:
    """Yield a weighing as a line brings it, and half a second more."""
    whole = np.concatenate([accel, accel[:1600]])
    for at in range(0, len(whole), each):
        yield Samples(whole[at : at + each], at / RATE_HZ, RATE_HZ, at)


class _Line:
    def status(self) -> IglooStatus:
        return IglooStatus("sim-1", DeviceKind.SIMULATED, DeviceState.CONNECTED)


def tapped(balance: BalanceRun, accel: NDArray[np.float64]) -> None:
    """Let the simulated igloo's line tell a balance what its sensor felt."""
    for samples in runs(accel):
        balance.hear(_Line(), samples)  # type: ignore[arg-type]


def sequence(felt: Mapping[str, NDArray[np.float64]]) -> Iterator[tuple[str, float, NDArray[np.float64]]]:
    """Yield what is weighed to calibrate: each thing twice, a tare before each and at the end."""
    for name in CALIBRATION * 2:
        yield "tare", 0.0, felt["tare"]
        what, value = name.split()
        yield what, float(value), felt[name]
    yield "tare", 0.0, felt["tare"]
