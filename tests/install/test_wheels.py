"""What the companion needs exists ready-made for a Raspberry Pi: Python 3.11 (Bookworm) and 3.13 (Trixie), aarch64.

Asks the package registry; nothing is downloaded but descriptions.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
GLIBC = (17, 24, 26, 27, 28, 31, 34, 35, 36)
"""Of manylinux tags that Debian 12 (glibc 2.36) and later accept."""


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
FROM_SOURCE = {"chess"}
"""Pure Python that its authors publish as source only: no wheel is wanted of it."""


def chosen_for(machine: str, python: str, target: Path, *wanted: str) -> dict[str, dict[str, Any]]:
    """Return what pip would install there, wheels only: by name, version, file and what each one needs itself."""
    how = ["--quiet", "--dry-run", "--ignore-installed", "--only-binary=:all:", "--target", str(target)]
    platforms = [f"--platform=manylinux_2_{minor}_{machine}" for minor in GLIBC]
    whom = [*platforms, f"--platform=manylinux2014_{machine}", f"--python-version={python}", "--implementation=cp"]
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", *how, "--report", "-", *whom, *wanted],
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    items = json.loads(done.stdout)["install"]
    assert [item["metadata"]["name"] for item in items if item["is_yanked"]] == []
    return {
        canonicalize_name(item["metadata"]["name"]): {
            "url": item["download_info"]["url"],
            "needs": item["metadata"].get("requires_dist", []),
        }
        for item in items
    }


def left_out(chosen: dict[str, dict[str, Any]], machine: str, python: str) -> set[str]:
    """Return what is needed there by a marker that pip read as this machine's, and is not chosen."""
    there = {
        "platform_machine": machine,
        "python_version": python,
        "python_full_version": f"{python}.2",
        "sys_platform": "linux",
        "platform_system": "Linux",
        "os_name": "posix",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
        "extra": "",
    }
    needed = [Requirement(text) for one in chosen.values() for text in one["needs"]]
    return {
        canonicalize_name(need.name) for need in needed if need.marker is None or need.marker.evaluate(there)
    } - set(chosen)


@pytest.mark.parametrize("python", ["3.11", "3.13"])
def test_every_dependency_has_a_wheel(python: str, tmp_path: Path) -> None:
    chosen = chosen_for("aarch64", python, tmp_path, "--require-hashes", "-r", str(ROOT / "requirements.txt"))
    assert {"numpy", "opencv-python-headless", "flask", "gpiozero", "pyserial"} <= set(chosen)
    assert all(one["url"].endswith(".whl") for one in chosen.values())
    for name in ("numpy", "opencv-python-headless"):
        assert "aarch64" in chosen[name]["url"]
    assert left_out(chosen, "aarch64", python) == set()
    project = PROJECT["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["mqtt"]]
    assert {re.split(r"[\[<>=]", one)[0].lower() for one in wanted} <= set(chosen)
    # lgpio is apt's: a wheel exists for 3.11 only, so nothing of ours may ask pip for it.
    assert "lgpio" not in chosen


@pytest.mark.parametrize(("machine", "python"), [("aarch64", "3.13")])
def test_what_development_needs_has_wheels_too(machine: str, python: str, tmp_path: Path) -> None:
    groups = PROJECT["dependency-groups"]
    named = [Requirement(one) for group in ("dev", "train") for one in groups[group] if isinstance(one, str)]
    there = {"platform_machine": machine, "python_version": python, "sys_platform": "linux"}
    wanted = [one for one in named if one.marker is None or one.marker.evaluate(there)]
    for one in wanted:
        one.marker = None
    asked = [str(one) for one in wanted if one.name not in FROM_SOURCE]
    chosen = chosen_for(machine, python, tmp_path, *asked, "--constraint", str(ROOT / "constraints.txt"))
    assert {canonicalize_name(Requirement(one).name) for one in asked} <= set(chosen)
    assert ("atheris" in chosen) == (machine == "x86_64")
    assert left_out(chosen, machine, python) == set()


def test_both_locks_agree_and_name_a_hash_for_each_file() -> None:
    pins = {}
    for name in ("requirements.txt", "constraints.txt"):
        text = (ROOT / name).read_text(encoding="utf-8")
        entries = re.findall(
            r"^([\w.-]+)==(\S+) \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", text, re.MULTILINE
        )
        assert "".join(f"{one}=={version} \\\n{files}" for one, version, files in entries) == text
        pins[name] = {(re.sub(r"[-_.]+", "-", one).lower(), version) for one, version, _ in entries}
    assert pins["requirements.txt"] <= pins["constraints.txt"]
