"""`make machine`: a Debian for aarch64 in QEMU, with its own kernel and systemd, and the first evening on it.

With ``--soak`` (`make machine-soak`) the plug is pulled from it at fifteen moments, with a whole boot after each.
Progress is a line a step. A step that is finished for what is installed is not done again: begin it once more to go on
where it was left. Images and results lie in ``$XDG_CACHE_HOME/companion-machine`` (``~/.cache``), outside the tree.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from rich.console import Console

from companion.lab.machine.cuts import CUTS
from companion.lab.machine.image import PYTHONS, head, product, recipe
from companion.lab.machine.results import Results, table, words
from companion.lab.machine.steps import AFRESH, STEPS, Visit

MOVES = 40
"""How many moves of each board game are played; whole ones take an hour in an emulator."""


def main() -> int:
    """Do the steps that are not done yet, print the table, and return 0 when all of them held."""
    parser = argparse.ArgumentParser(prog="python -m companion.lab.machine", description=__doc__)
    parser.add_argument("--suite", choices=sorted(PYTHONS), default="bookworm")
    parser.add_argument("--moves", type=int, default=MOVES, help="of each board game; 0: to its end")
    parser.add_argument("--again", action="store_true", help="forget what was finished; images stay")
    parser.add_argument(
        "--step", action="append", choices=[name for name, _ in (*STEPS, *CUTS)], help="only this one, again"
    )
    parser.add_argument("--soak", action="store_true", help="pull the plug, too, again and again")
    given = parser.parse_args()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "companion-machine"
    (cache / given.suite).mkdir(parents=True, exist_ok=True)
    results = Results(cache / given.suite / "results.json", f"{recipe(given.suite)} {product()}", head())
    every = (*STEPS, *(CUTS if given.soak or given.step else ()))
    again = {name for name, _ in every} if given.again else set(given.step or ())
    results.forget(again.union(*(AFRESH.get(name, set()) for name in again)))
    visit = Visit(given.suite, cache, given.moves, results.kept)
    began, bad = time.monotonic(), False
    try:
        for name, step in every:
            if results.done(name) or (given.step and name not in given.step):
                continue
            print(f"{given.suite}: {name}: {(step.__doc__ or '').strip()}", flush=True)
            started = time.monotonic()
            try:
                figures = step(visit)
            except (OSError, ValueError, KeyError) as error:
                print(f"  failed after {time.monotonic() - started:.0f} s: {error}", file=sys.stderr, flush=True)
                bad = True
                break
            results.add(name, figures)
            print(f"  {time.monotonic() - started:.0f} s: {words(figures)}", flush=True)
    finally:
        visit.off()
    Console().print(table(given.suite, results))
    print(f"{time.monotonic() - began:.0f} s in all; {cache / given.suite}/results.json has it for programs.")
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
