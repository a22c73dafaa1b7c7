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

import pytest

ROOT = Path(__file__).parents[2]
GLIBC = (17, 24, 26, 27, 28, 31, 34, 35, 36)
"""Of manylinux tags that Debian 12 (glibc 2.36) and later accept."""


@pytest.mark.parametrize("python", ["3.11", "3.13"])
def test_every_dependency_has_a_wheel(python: str, tmp_path: Path) -> None:
    platforms = [f"--platform=manylinux_2_{minor}_aarch64" for minor in GLIBC]
    how = [
        "--quiet",
        "--dry-run",
        "--ignore-installed",
        "--only-binary=:all:",
        "--target",
        str(tmp_path),
        "--report",
        "-",
    ]
    whom = [*platforms, "--platform=manylinux2014_aarch64", f"--python-version={python}", "--implementation=cp"]
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", *how, *whom, "--require-hashes", "-r", str(ROOT / "requirements.txt")],
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    chosen = {
        item["metadata"]["name"].lower(): item["download_info"]["url"] for item in json.loads(done.stdout)["install"]
    }
    assert {"numpy", "opencv-python-headless", "flask", "gpiozero", "pyserial"} <= set(chosen)
    assert all(url.endswith(".whl") for url in chosen.values())
    for name in ("numpy", "opencv-python-headless"):
        assert "aarch64" in chosen[name]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["mqtt"]]
    assert {re.split(r"[\[<>=]", one)[0].lower() for one in wanted} <= set(chosen)
    # lgpio is apt's: a wheel exists for 3.11 only, so nothing of ours may ask pip for it.
    assert "lgpio" not in chosen


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
