"""Mutation testing of the scoring and legality of the games: ``make mutation``.

mutmut changes one thing at a time in the modules that ``[tool.mutmut]`` of pyproject.toml names, and runs the tests
that touch it; what no test notices has survived. A full run takes hours, so a random sample of given size and seed is
the rule; ``--sample 0`` runs all. Survivors are printed as what was changed.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from collections import Counter
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NOTICED = {"killed", "timeout", "segfault", "suspicious"}
UNTRIED = "not checked"


def mutmut(*arguments: str, quiet: bool = False) -> str:
    """Run mutmut in the root of the checkout and return what it prints."""
    command = [sys.executable, "-c", "from mutmut.__main__ import cli; cli()", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=quiet, text=True, check=False)
    return done.stdout or ""


def mutants(pattern: str) -> list[str]:
    """Return the names of all mutants of modules that fit a pattern, in their order."""
    found: list[str] = []
    for meta in sorted((ROOT / "mutants").rglob("*.meta")):
        found += json.loads(meta.read_text(encoding="utf-8"))["exit_code_by_key"]
    return [name for name in found if fnmatch(name, pattern)]


def statuses(names: set[str]) -> dict[str, str]:
    """Return what became of some mutants."""
    lines = (line.strip().rpartition(": ") for line in mutmut("results", "--all", "true", quiet=True).splitlines())
    return {name: status for name, _, status in lines if name in names}


def main() -> int:
    """Run a sample and print its score; status 1 where it is below ``--least``, or was not finished."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=400, help="how many mutants; 0: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="companion.rules.*", help="names of mutants, as a pattern")
    parser.add_argument("--children", type=int, default=1, help="processes at the same time")
    parser.add_argument("--least", type=float, default=90.0, help="the score in per cent that must be reached")
    asked = parser.parse_args()
    if not (ROOT / "mutants" / "mutmut-stats.json").exists():
        # No mutant has this name: all are made, and the tests are run once to see which of them touch what.
        mutmut("run", "--max-children", str(asked.children), "none", quiet=True)
    every = mutants(asked.only)
    if not every:
        print("mutmut made no mutants; see `mutmut run`.")
        return 2
    chosen = every if not asked.sample else random.Random(asked.seed).sample(every, min(asked.sample, len(every)))
    mutmut("run", "--max-children", str(asked.children), *chosen)
    found = statuses(set(chosen))
    for name, status in sorted(found.items()):
        if status not in (*NOTICED, UNTRIED):
            print(mutmut("show", name, quiet=True))
    counts = Counter(found.values())
    tried = [name for name in chosen if found.get(name, UNTRIED) != UNTRIED]
    by_module: dict[str, Counter[bool]] = {}
    for name in tried:
        by_module.setdefault(name.rpartition(".")[0], Counter())[found[name] in NOTICED] += 1
    for module, split in sorted(by_module.items()):
        print(f"{module}: {split[True]} of {split.total()}")
    noticed = sum(counts[status] for status in NOTICED)
    score = 100 * noticed / max(1, len(tried))
    print(f"{noticed} of {len(tried)} mutants noticed ({score:.1f} %); a sample of {len(chosen)} of {len(every)}")
    if len(tried) < len(chosen):
        print("The run was stopped: the quick ones come first, so this is no fair sample.")
    return 0 if score >= asked.least and len(tried) == len(chosen) else 1


if __name__ == "__main__":
    raise SystemExit(main())
