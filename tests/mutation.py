"""Mutation testing of the scoring and legality of the games: ``make mutation``, and the end of ``make bench``.

mutmut changes one thing at a time in the modules that ``[tool.mutmut]`` of pyproject.toml names, and runs the tests
that touch it; what no test notices has survived. A full run takes hours, so a random sample of given size and seed is
the rule, the same number from each game; ``--sample 0`` runs all. ``--minutes`` ends a run in time: mutants are tried
in the order in which they were drawn, so what was tried until then is a sample too. Survivors are printed as what was
changed.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from fnmatch import fnmatch
from itertools import chain, zip_longest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STATS = ROOT / "mutants" / "mutmut-stats.json"
NOTICED = {"killed", "timeout", "segfault", "suspicious"}
UNTRIED = "not checked"

CALL = "from mutmut.__main__ import cli; cli()"
CALL_IN_ORDER = (
    # mutmut tries the quickest first: a run that is stopped would have seen the easy ones.
    "import signal, sys, mutmut.__main__ as m; places = {n: i for i, n in enumerate(sys.argv)}; "
    # What is started in the background does not hear an interrupt, and this is how it is stopped in time.
    "signal.signal(signal.SIGINT, signal.default_int_handler); "
    "m.estimated_worst_case_time = places.__getitem__; m.cli()"
)


def command(code: str, *arguments: str) -> list[str]:
    """Return the command that runs mutmut."""
    return [sys.executable, "-c", code, *arguments]


def mutmut(*arguments: str) -> str:
    """Run mutmut in the root of the checkout and return what it prints."""
    return subprocess.run(command(CALL, *arguments), cwd=ROOT, capture_output=True, text=True, check=False).stdout


def metas() -> Iterator[tuple[Path, dict[str, dict[str, object]]]]:
    """Yield mutmut's file of each mutated module, and what it holds."""
    for path in sorted((ROOT / "mutants").rglob("*.meta")):
        yield path, json.loads(path.read_text(encoding="utf-8"))


def mutants(pattern: str) -> list[str]:
    """Return the names of all mutants of modules that fit a pattern, in their order."""
    return [name for _, meta in metas() for name in meta["exit_code_by_key"] if fnmatch(name, pattern)]


def forget(names: Collection[str]) -> None:
    """Forget what became of some mutants in an earlier run."""
    for path, meta in metas():
        codes = meta["exit_code_by_key"]
        meta["exit_code_by_key"] = {name: None if name in names else code for name, code in codes.items()}
        path.write_text(json.dumps(meta), encoding="utf-8")


def statuses(names: Collection[str]) -> dict[str, str]:
    """Return what became of some mutants."""
    lines = (line.strip().rpartition(": ") for line in mutmut("results", "--all", "true").splitlines())
    return {name: status for name, _, status in lines if name in names}


def stale() -> bool:
    """Return whether tests or rules were written since it was seen which test touches what."""
    folders = (ROOT / "companion" / "rules", ROOT / "tests" / "rules")
    written = [path for folder in folders for path in folder.rglob("*.*") if path.suffix != ".pyc"]
    return not STATS.exists() or any(path.stat().st_mtime > STATS.stat().st_mtime for path in written)


def game_of(name: str) -> str:
    """Return the game a mutant belongs to: the package below ``companion.rules``."""
    return name.split(".")[2]


def drawn(every: Sequence[str], sample: int, seed: int) -> list[str]:
    """Return a sample of the mutants, as many of each game in turn; 0: all of them."""
    by_game: dict[str, list[str]] = {}
    for name in every:
        by_game.setdefault(game_of(name), []).append(name)
    rng = random.Random(seed)
    rows = [rng.sample(names, len(names)) for names in by_game.values()]
    mixed = [name for name in chain.from_iterable(zip_longest(*rows)) if name is not None]
    return mixed[: sample or None]


def tried(names: Sequence[str], children: int, minutes: float) -> dict[str, str]:
    """Run mutants in their order until all are done or time is up, and return what became of those that were run."""
    forget(set(names))
    output = None if sys.stdout.isatty() else subprocess.DEVNULL
    arguments = command(CALL_IN_ORDER, "run", "--max-children", str(children), *names)
    with subprocess.Popen(arguments, cwd=ROOT, stdout=output) as running:
        try:
            running.wait(minutes * 60 if minutes else None)
        except subprocess.TimeoutExpired:
            running.send_signal(signal.SIGINT)
    return {name: status for name, status in statuses(set(names)).items() if status != UNTRIED}


def share(noticed: int, count: int) -> str:
    """Return a score in words."""
    return f"{noticed} of {count} mutants noticed ({100 * noticed / max(1, count):.1f} %)"


def main() -> int:
    """Run a sample and print its score; status 1 where a game is below ``--least``, 2 where nothing was tried."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=400, help="how many mutants; 0: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=0, help="stop after so many minutes; 0: when all are done")
    parser.add_argument("--only", default="companion.rules.*", help="names of mutants, as a pattern")
    parser.add_argument("--children", type=int, default=1, help="processes at the same time")
    parser.add_argument("--least", type=float, default=90.0, help="the score in per cent that each game must reach")
    asked = parser.parse_args()
    if stale():
        # No mutant has this name: all are made, and the tests are run once to see which of them touch what. Copies of
        # data files that mutmut made once it keeps, so all is made anew.
        shutil.rmtree(ROOT / "mutants", ignore_errors=True)
        mutmut("run", "--max-children", str(asked.children), "none")
    every = mutants(asked.only)
    chosen = drawn(every, asked.sample, asked.seed)
    found = tried(chosen, asked.children, asked.minutes) if chosen else {}
    if not found:
        print("No mutant was tried; see `mutmut run`.")
        return 2
    for name, status in sorted(found.items()):
        if status not in NOTICED:
            print(mutmut("show", name))
    by_module: dict[str, Counter[bool]] = {}
    by_game: dict[str, Counter[bool]] = {}
    for name, status in found.items():
        by_module.setdefault(name.rpartition(".")[0], Counter())[status in NOTICED] += 1
        by_game.setdefault(game_of(name), Counter())[status in NOTICED] += 1
    for what, split in (*sorted(by_module.items()), *sorted(by_game.items())):
        print(f"{what}: {share(split[True], split.total())}")
    noticed = sum(status in NOTICED for status in found.values())
    print(f"All: {share(noticed, len(found))}; a sample of {len(chosen)} of {len(every)}, seed {asked.seed}")
    if len(found) < len(chosen):
        print(f"Time was up before {len(chosen) - len(found)} of the sample were tried.")
    return 0 if all(100 * split[True] >= asked.least * split.total() for split in by_game.values()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
