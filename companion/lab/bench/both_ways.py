"""Trained on one simulator and tested on the other, both ways, in a smaller size; a plain ridge beside it.

    python -m companion.lab.bench.both_ways --train B --shakes 4800 --igloos 30

A line of JSON for each simulator that is tested on. Simulator A is companion.lab.physics (soft spheres), which the
shipped model learnt from; B is companion/lab/worlds/shake_impulse.py (rigid spheres by impulses). Both draw from the
same ranges.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from companion.igloo.count.counter import CountModel
from companion.igloo.count.features import TIERS
from companion.lab.physics import draws, world
from companion.lab.train import counter, ensemble, gather
from companion.lab.train.counter import Tested
from companion.lab.train.train_convnet import BeadNetTrainingConfig
from companion.lab.worlds import shake_impulse
from companion.ports import COUNTS

SECONDS = 4.0
RECORD = {"A": world.record, "B": shake_impulse.record}
SMALLER = BeadNetTrainingConfig(augment=(True,), ema_decay=(0.99,), epochs=12)
"""One bead network of the shipped form, with less time."""


def fresh(which: str, seed: int, igloos: int) -> list[Tested]:
    """Return a shake of every count in each of so many igloos, by one hand each."""
    return [
        (*gather.labelled(draws.again(seed, igloo, count, 0, SECONDS, record=RECORD[which])), igloo)
        for igloo in range(igloos)
        for count in COUNTS
    ]


def trained(which: str, shakes: int) -> tuple[CountModel, Any]:
    """Return a model learnt from one simulator alone, and the ridge of the same features."""
    ensemble_config = ensemble.EnsembleTrainingConfig(nets=2)
    plan = gather.DatasetPlan(
        shakes=shakes, seconds=SECONDS, seed=1, devices=1, ensemble_config=ensemble_config, few=1.0
    )
    made = (
        draws.shake(plan.seed, i, plan.length(i), beat=plan.with_beat(i), record=RECORD[which]) for i in range(shakes)
    )
    found = gather.gather(map(gather.labelled, made), plan)
    model = CountModel(gather.fit(found, plan, SMALLER), 1.0, {})
    return model, counter.ridge_of(found[TIERS[0]])


def main() -> None:
    """Train, test on both, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", choices=sorted(RECORD), required=True)
    parser.add_argument("--shakes", type=int, default=4800)
    parser.add_argument("--igloos", type=int, default=30)
    parser.add_argument("--seed", type=int, default=30000)
    arguments = parser.parse_args()
    model, ridge = trained(arguments.train, arguments.shakes)
    for which in RECORD:
        scores = counter.figures(model, fresh(which, arguments.seed, arguments.igloos), ridge)
        print(
            json.dumps(
                {
                    "trained_on": arguments.train,
                    "tested_on": which,
                    "shakes": arguments.shakes,
                    "igloos": arguments.igloos,
                    "whole": scores["whole"],
                    "ridge": scores["ridge, whole"],
                }
            ),
            flush=True,
        )


if __name__ == "__main__":
    main()
