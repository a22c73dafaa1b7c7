"""Every test of an earlier release is one of today's, under the name that renames.txt gives it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.suite import ids

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def every_id(request: pytest.FixtureRequest) -> list[str]:
    """All ids of today: those of this run, selected or not, if it looked at the whole suite, else those of another."""
    config = request.config
    if [Path(one).resolve() for one in config.args] == [ROOT / "tests"]:
        return config.stash[ids.COLLECTED]
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "tests"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.process
def test_no_test_of_an_earlier_release_is_lost(every_id: list[str]) -> None:
    now = ids.counted(every_id)
    for path in sorted(ids.FOLDER.glob("ids-*.txt")):
        before = ids.release(path)
        assert len(before) > 2000
        assert ids.lost(before, ids.renames(), now) == []


def test_every_line_of_the_table_of_renames_is_of_use() -> None:
    before = {test for path in ids.FOLDER.glob("ids-*.txt") for test in ids.release(path)}
    for old, new in ids.renames().items():
        assert any(test.startswith(old) for test in before), f"{old} was never the name of anything"
        assert old != new
        if old.endswith("/"):
            assert new.endswith("/")
        else:
            assert ("::" in old) == ("::" in new)


def test_the_most_exact_line_counts() -> None:
    names = {
        "tests/house/": "tests/service/",
        "tests/house/sub/": "tests/below/",
        "tests/house/test_a.py": "tests/cli/test_a.py",
        "tests/house/test_a.py::test_one": "tests/cli/test_b.py::test_two",
    }
    assert ids.renamed("tests/house/test_a.py::test_one", names) == "tests/cli/test_b.py::test_two"
    assert ids.renamed("tests/house/test_a.py::TestIt::test_one", names) == "tests/cli/test_a.py::TestIt::test_one"
    assert ids.renamed("tests/house/test_b.py::test_one", names) == "tests/service/test_b.py::test_one"
    assert ids.renamed("tests/house/sub/test_b.py::test_one", names) == "tests/below/test_b.py::test_one"
    assert ids.renamed("tests/night/test_b.py::test_one", names) == "tests/night/test_b.py::test_one"


def test_what_is_lost_is_noticed() -> None:
    before = {"tests/a.py::test_one": "1", "tests/a.py::test_two": "3", "tests/a.py::test_all": "*"}
    now = ids.counted(["tests/b.py::test_one", "tests/b.py::test_two[1]", "tests/b.py::test_two[a[0]]", "3 tests"])
    assert ids.lost(before, {"tests/a.py": "tests/b.py"}, now) == [
        "tests/a.py::test_two: 2 of 3 cases as tests/b.py::test_two",
        "tests/a.py::test_all: 0 of 1 cases as tests/b.py::test_all",
    ]
