"""The dev container names what is there: targets of the Makefile, packages, the port, and a Debian we install on."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8")
CONTAINER = json.loads(re.sub(r"^\s*//.*$", "", TEXT, flags=re.MULTILINE))


def test_it_sets_up_by_the_makefile() -> None:
    command = CONTAINER["postCreateCommand"].split()
    assert command[0] == "make"
    planned = subprocess.run(
        [*command, "--dry-run", "--always-make"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "--group dev" in planned.stdout and "apt-get install" in planned.stdout


def test_it_installs_what_the_makefile_needs_before_anything() -> None:
    packages = CONTAINER["onCreateCommand"].split("--no-install-recommends ")[1].split()
    assert {"git", "make", "python3", "python3-venv"} <= set(packages)


def test_it_is_the_oldest_debian_that_the_installer_is_for() -> None:
    assert CONTAINER["image"] == "debian:bookworm"
    assert "Bookworm" in (ROOT / "install.sh").read_text(encoding="utf-8")
    assert CONTAINER["forwardPorts"] == [8080]
