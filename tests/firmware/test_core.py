"""The portable core on the host, in C, under the address and undefined-behaviour sanitizers."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.process

SOURCE = Path(__file__).with_name("core_test.c").read_text(encoding="utf-8")
TESTS = re.findall(r"^    TEST\((\w+)\),$", SOURCE, re.MULTILINE)


def test_all_tests_are_run() -> None:
    written = set(re.findall(r"^static void (\w+)\(void\)\n\{", SOURCE, re.MULTILINE))
    assert written == set(TESTS) and len(TESTS) > 25


@pytest.mark.parametrize("name", TESTS)
def test_core(name: str, bench: ModuleType) -> None:
    bench.make("core-test")
    result = subprocess.run(
        [str(bench.BENCH.with_name("core-test")), name], capture_output=True, text=True, check=False, timeout=60
    )
    assert result.returncode == 0, result.stderr
