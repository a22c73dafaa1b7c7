"""What the steps of an emulated machine gave: kept in a file for resuming, and printed as a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rich.box import SIMPLE
from rich.table import Table

BASIS = "emulated: QEMU -M virt, cortex-a72; seconds say nothing of a Pi"


class Results:
    """The figures of the finished steps of one product, in one file; those of another one are forgotten.

    ``product`` is a digest of what is installed, ``commit`` where it was last carried in from; ``kept`` is what steps
    tell each other.
    """

    def __init__(self, path: Path, product: str, commit: str) -> None:
        self._path, self._product = path, product
        self.steps: dict[str, dict[str, Any]] = {}
        self.kept: dict[str, Any] = {}
        self.commit = commit
        if path.exists():
            told = json.loads(path.read_text(encoding="utf-8"))
            if told["product"] == product:
                self.steps, self.kept = told["steps"], told["kept"]

    def done(self, step: str) -> bool:
        """Tell whether a step is finished."""
        return step in self.steps

    def add(self, step: str, figures: dict[str, Any]) -> None:
        """Keep what a step gave; the file is the old or the new one, whole."""
        self.steps[step] = figures
        told = {"product": self._product, "commit": self.commit, "basis": BASIS, "steps": self.steps, "kept": self.kept}
        part = self._path.with_suffix(".part")
        part.write_text(json.dumps(told, indent=1, ensure_ascii=False), encoding="utf-8")
        part.replace(self._path)

    def forget(self, steps: set[str]) -> None:
        """Have steps done again."""
        self.steps = {name: figures for name, figures in self.steps.items() if name not in steps}


def words(figures: dict[str, Any]) -> str:
    """Return figures as one line for people."""
    told = []
    for name, value in figures.items():
        if isinstance(value, dict):
            told += [f"{inner}: {one}" for inner, one in value.items()]
        elif value != []:
            told.append(f"{name} {value}")
    return "; ".join(told)


def table(suite: str, results: Results) -> Table:
    """Return a table of all steps."""
    shown = Table(box=SIMPLE, title=f"{suite}, commit {results.commit[:8]} ({BASIS})", title_justify="left")
    shown.add_column("step", no_wrap=True)
    shown.add_column("what it gave")
    for step, figures in results.steps.items():
        shown.add_row(step, words(figures))
    return shown
