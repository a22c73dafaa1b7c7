"""How well what is no igloo of the box is told on simulator B, kind by kind, with a calibration and without.

    python -m companion.lab.bench.unlike --igloos 16 --others 20 --seed 31000

A line of JSON for each measure: areas under the curve, over all kinds and for each.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from companion.igloo.calibration.gaussian_process import Known
from companion.igloo.calibration.outlier import beyond
from companion.igloo.calibration.store import priors, usual
from companion.igloo.count.features import TIERS
from companion.lab.bench.calibration import CalibrationTrial, embed_vectors, gather
from companion.lab.worlds import shake_impulse, shake_others

MEASURES = ("strangeness", "beyond", "their sum", "unlikeness")
CALIBRATED = 12


def area(foreign: list[float], own: list[float]) -> float:
    """Return how often something else has the greater value; a draw counts half."""
    a, b = np.array(foreign)[:, None], np.array(own)[None]
    return float((a > b).mean() + 0.5 * (a == b).mean())


def measure(igloos: int, others: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield the areas; each igloo is shaken 12 times for its calibration and 12 times by a new hand."""
    known, prior = usual(), priors()[TIERS[0], False]
    if known is None:
        raise ValueError("The priors do not say what is usual.")
    part = CalibrationTrial("unlike", ((0, CALIBRATED, 4.0), (1, 12, 4.0)))
    shakes, _ = gather(shake_impulse.record, part, igloos, seed).shakes()
    nothing = Known(prior.unmeasured(), shakes.vectors[:0], shakes.counts[:0], ())
    heard: list[tuple[str, Any]] = []
    for kind in shake_others.KINDS:
        for number in range(others):
            try:
                vector = embed_vectors(shake_others.other(kind, seed + 1, number, shake_impulse.record))
            except ValueError:  # what does not fit into this shell
                continue
            if vector is not None:
                heard.append((kind, vector))

    def values(vectors: Any, process: Known, mine: Any) -> list[float]:
        answer = process.answer(vectors, ["?"])
        strange = known.strangeness(vectors, mine)
        return [strange, beyond(answer), strange + beyond(answer), known.unlikeness(vectors, answer, mine)]

    for after in (0, CALIBRATED):
        own: list[list[float]] = []
        processes = []
        for device in np.unique(shakes.devices):
            mine = shakes.of((shakes.devices == device) & (shakes.hands == 0))
            rest = shakes.of((shakes.devices == device) & (shakes.hands == 1)).vectors
            process = Known(prior, mine.vectors, mine.counts, ["0"] * len(mine.counts)) if after else nothing
            processes.append((process, mine.vectors if after else None))
            own += [values(vector[None], *processes[-1]) for vector in rest]
        found = [(kind, values(vector, *processes[k % len(processes)])) for k, (kind, vector) in enumerate(heard)]
        for place, name in enumerate(MEASURES):
            usual_ones = [one[place] for one in own]
            row = {"calibrated with": after, "measure": name, "known": len(own), "others": len(found)}
            row["all"] = round(area([one[place] for _, one in found], usual_ones), 3)
            for kind in shake_others.KINDS:
                row[kind] = round(area([one[place] for what, one in found if what == kind], usual_ones), 3)
            yield row


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--igloos", type=int, default=16)
    parser.add_argument("--others", type=int, default=20)
    parser.add_argument("--seed", type=int, default=31_000)
    arguments = parser.parse_args()
    for line in measure(arguments.igloos, arguments.others, arguments.seed):
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()
