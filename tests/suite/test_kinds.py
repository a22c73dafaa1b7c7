"""Each test is of one kind, and what is called pure is."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.suite.kinds import BROWSER, KINDS, KindError, kind_of

TESTS = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize(
    ("marks", "path", "kind"),
    [
        (set(), TESTS / "test_a.py", "pure"),
        ({"no_cover", "long"}, TESTS / "test_a.py", "pure"),
        ({"learning", "long"}, TESTS / "test_a.py", "learning"),
        ({"browser"}, BROWSER / "test_a.py", "browser"),
        ({"browser", "sized"}, BROWSER / "below" / "test_a.py", "browser"),
    ],
)
def test_a_kind_is_told_by_marks(marks: set[str], path: Path, kind: str) -> None:
    assert kind_of(marks, path) == kind


@pytest.mark.parametrize(
    ("marks", "path"),
    [
        ({"process", "learning"}, TESTS / "test_a.py"),
        ({"pure", "process"}, TESTS / "test_a.py"),
        ({"browser"}, TESTS / "test_a.py"),
        (set(), BROWSER / "test_a.py"),
        ({"process"}, BROWSER / "test_a.py"),
    ],
)
def test_two_kinds_or_the_wrong_one_are_refused(marks: set[str], path: Path) -> None:
    with pytest.raises(KindError):
        kind_of(marks, path)


def test_every_test_of_this_run_has_one_kind(request: pytest.FixtureRequest) -> None:
    for item in request.session.items:
        kinds = {mark.name for mark in item.iter_markers()} & KINDS.keys()
        assert len(kinds) == 1, item.nodeid
        assert (BROWSER in item.path.parents) == (kinds == {"browser"}), item.nodeid


def test_a_pure_test_begins_no_child_process() -> None:
    with pytest.raises(KindError, match="child process"):
        subprocess.run([sys.executable, "-c", ""], check=True)


@pytest.mark.process
def test_a_test_of_processes_may() -> None:
    subprocess.run([sys.executable, "-c", ""], check=True)


def test_who_asks_for_sizes_is_marked() -> None:
    for path in TESTS.rglob("test_*.py"):
        text = path.read_text(encoding="utf-8")
        if "from tests.worlds.sizes import size\n" in text:
            assert "mark.sized" in text, path


def test_no_environment_variable_is_a_switch_of_the_suite() -> None:
    """Options are, which `pytest --help` lists; and what the product itself reads may be set."""
    for path in TESTS.rglob("*.py"):
        for line in path.read_text(encoding="utf-8").splitlines():
            assert not re.search(r"environ(\.get\(|\[)\W*COMPANION|getenv\(|COMPANION_\w+\W in os\.environ", line), path
