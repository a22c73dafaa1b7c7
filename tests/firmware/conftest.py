"""Fixtures of the firmware's tests."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from companion.lab.worlds import simavr as simavr_bench


def load(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def wire() -> ModuleType:
    """The tests' own reader of the line, which shares no code with the companion's."""
    return load("tests_firmware_wire_reader", Path(__file__).with_name("wire_reader.py"))


@pytest.fixture
def bench() -> ModuleType:
    """The module that runs simavr, for what is not in the fixture ``simavr``."""
    return simavr_bench
