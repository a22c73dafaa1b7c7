"""The way from the command line to the lab, which measures and trains and is in a checkout only."""

from __future__ import annotations

import importlib
from types import ModuleType

import click

NO_LAB = "This measures or trains the companion and needs a checkout of the project; an installed one has no lab."
NO_NUMBA = "Simulating shakes needs numba: install the dependency group, `pip install --group train`."


def lab(name: str) -> ModuleType:
    """Import a module of :mod:`companion.lab`, by its name there.

    :raises click.ClickException: in one sentence, where the lab, or what its simulators need, is not installed.
    """
    try:
        return importlib.import_module(f"companion.lab.{name}")
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if missing == "companion.lab" or missing.startswith("companion.lab."):
            raise click.ClickException(NO_LAB) from error
        if missing == "numba":
            raise click.ClickException(NO_NUMBA) from error
        raise
