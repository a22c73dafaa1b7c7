"""No test gets lost: those of an earlier release, as they were called, and what renames.txt says they are called now.

A release's tests stand in ids-<version>.txt by their functions, each with the number of its cases. What has a case for
every module of the product (``*``) has as many as there are modules. ``python -m tests.suite.ids < collected`` prints
such a file from what ``pytest --collect-only -q`` prints.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

import pytest

FOLDER = Path(__file__).parent
RENAMES = FOLDER / "renames.txt"
ANY_NUMBER = "*"
BY_MODULE = {"tests/test_arrows.py::test_arrows_point_one_way"}
"""Tests that have a case for every module of the product."""
COLLECTED = pytest.StashKey[list[str]]()
"""Where a run keeps the ids of all that it found, those too that its selection leaves out."""


def counted(ids: Iterable[str]) -> Counter[str]:
    """Return how many cases each test has, of the ids of all cases."""
    return Counter(one.partition("[")[0].strip() for one in ids if "::" in one)


def release(path: Path) -> dict[str, str]:
    """Return the tests of a release, each with the number of its cases, from its file: below each file its tests."""
    found, file = {}, ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            test, _, told = line.strip().partition(" ")
            found[f"{file}::{test}"] = told or "1"
        else:
            file = line
    return found


def renames(path: Path = RENAMES) -> dict[str, str]:
    """Return the table of renames."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return dict(line.split() for line in lines if line and not line.startswith("#"))


def renamed(test: str, names: Mapping[str, str]) -> str:
    """Return what a test is called now: by its own line, that of its file, or that of the nearest folder."""
    if test in names:
        return names[test]
    file, _, rest = test.partition("::")
    for old in (file, *(f"{folder}/" for folder in PurePosixPath(file).parents)):
        if old in names:
            return f"{names[old]}{file.removeprefix(old)}::{rest}"
    return test


def lost(before: Mapping[str, str], names: Mapping[str, str], now: Mapping[str, int]) -> list[str]:
    """Return a line for each test of a release that is not there any more, or not with all its cases."""
    found = []
    for test, told in before.items():
        name = renamed(test, names)
        least = 1 if told == ANY_NUMBER else int(told)
        if now.get(name, 0) < least:
            found.append(f"{test}: {now.get(name, 0)} of {least} cases as {name}")
    return found


def main() -> None:
    """Print the file of a release."""
    last = ""
    for test, count in sorted(counted(sys.stdin).items()):
        file, _, rest = test.partition("::")
        if file != last:
            sys.stdout.write(f"{file}\n")
        told = f" {ANY_NUMBER}" if test in BY_MODULE else f" {count}" if count > 1 else ""
        sys.stdout.write(f" {rest}{told}\n")
        last = file


if __name__ == "__main__":
    main()
