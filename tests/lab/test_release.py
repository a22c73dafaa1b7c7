"""A release: made of a commit alone, the same bytes each time, and anybody can check it."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from companion.lab.release import NAMESPACE, SUMS, ReleaseError, bill_of_materials, pins, release

pytestmark = [pytest.mark.process, pytest.mark.timeout(600)]

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def git(folder: Path, *arguments: str) -> None:
    me = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *me, *arguments], cwd=folder, check=True, capture_output=True, timeout=60)


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True, timeout=60)
    return path


def checkout(folder: Path) -> Path:
    """Commit this working tree, as it is, in a repository of its own."""
    listed = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, capture_output=True, text=True, check=True, timeout=60).stdout.split("\0")
    for name in filter(None, names):
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    git(folder, "init")
    git(folder, "add", "--all")
    git(folder, "commit", "--message", "as it is", "--date", "2026-11-20T20:00:00Z")
    return folder


# --- the bill of materials -----------------------------------------------------------------------------------------


def test_the_bill_names_every_package_of_the_lock_once() -> None:
    lock = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    pinned = pins(lock)
    assert len(pinned) == lock.count("==") > 20
    assert sum(len(digests) for _, digests in pinned.values()) == lock.count("--hash=sha256:")
    bill = bill_of_materials(PROJECT, pinned, {"igloo.hex": "0" * 64, "x.whl": "1" * 64}, 1_700_000_000)
    assert (bill["bomFormat"], bill["specVersion"], bill["version"]) == ("CycloneDX", "1.6", 1)
    assert re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", bill["serialNumber"])
    assert bill["metadata"]["timestamp"] == "2023-11-14T22:13:20Z"
    refs = [one["bom-ref"] for one in bill["components"]]
    assert len(set(refs)) == len(refs) == len(pinned) + 2
    packages = {one["purl"] for one in bill["components"] if one["type"] == "library"}
    assert packages == {f"pkg:pypi/{name}@{version}" for name, (version, _) in pinned.items()}
    (image,) = (one for one in bill["components"] if one["type"] == "firmware")
    assert image["hashes"] == [{"alg": "SHA-256", "content": "0" * 64}]
    # Whatever is depended on is a component.
    assert {one["ref"] for one in bill["dependencies"]} <= {*refs, bill["metadata"]["component"]["bom-ref"]}
    assert set(bill["dependencies"][0]["dependsOn"]) <= set(refs)
    # The same content has the same number, another one another.
    again = bill_of_materials(PROJECT, pinned, {"igloo.hex": "0" * 64, "x.whl": "1" * 64}, 1_700_000_000)
    other = bill_of_materials(PROJECT, pinned, {"igloo.hex": "0" * 64, "x.whl": "2" * 64}, 1_700_000_000)
    assert again == bill and other["serialNumber"] != bill["serialNumber"]


def test_a_lock_with_a_line_that_pins_nothing() -> None:
    with pytest.raises(ReleaseError, match="pins nothing: flask"):
        pins("flask>=3.1\n")


# --- what is refused -----------------------------------------------------------------------------------------------


@pytest.fixture
def small(tmp_path: Path) -> Path:
    folder = tmp_path / "small"
    folder.mkdir()
    git(folder, "init")
    (folder / "pyproject.toml").write_text('[project]\nname = "small"\nversion = "1"\n')
    git(folder, "add", "--all")
    git(folder, "commit", "--message", "small")
    return folder


def test_what_is_not_committed_is_not_released(small: Path, tmp_path: Path, key: Path) -> None:
    (small / "more.py").write_text("")
    with pytest.raises(ReleaseError, match="Something is not committed"):
        release(small, tmp_path / "out", key)
    assert not (tmp_path / "out").exists()


def test_what_cannot_be_built_leaves_nothing(small: Path, tmp_path: Path, key: Path) -> None:
    with pytest.raises(ReleaseError, match="hatchling"):
        release(small, tmp_path / "out", key)
    assert list((tmp_path / "out").iterdir()) == []


def test_without_a_key_there_is_no_release(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "companion.lab.release", "--key", str(tmp_path / "none"), "--out", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 1 and "make one with: ssh-keygen -t ed25519" in done.stderr
    assert "Traceback" not in done.stderr
    told = subprocess.run(["make", "-s", "release"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    assert told.returncode == 2 and "make release KEY=" in told.stderr


# --- a whole one ---------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_two_builds_give_the_same_bytes_and_anybody_can_check_them(tmp_path: Path, key: Path) -> None:
    first = checkout(tmp_path / "first")
    # Elsewhere, cloned, in another time zone, with other rights for new files.
    git(tmp_path, "clone", "--quiet", str(first), "elsewhere")
    made = []
    for folder, zone, mask in ((first, "UTC", "022"), (tmp_path / "elsewhere", "Asia/Tokyo", "077")):
        line = f"umask {mask}; TZ={zone} exec {sys.executable} -m companion.lab.release --key {key} --out {folder}/dist"
        done = subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, done.stderr
        (out,) = (folder / "dist").iterdir()
        made.append({path.name: path.read_bytes() for path in out.iterdir()})
    assert made[0] == made[1]
    title = f"{PROJECT['name']}-{PROJECT['version']}"
    under = title.replace("-", "_", 1)
    names = {f"{under}-py3-none-any.whl", f"{under}.tar.gz", f"{title}.cdx.json", SUMS, f"{SUMS}.sig"}
    images = {path.name for path in (ROOT / "companion" / "flasher" / "prebuilt").glob("igloo-*")}
    assert set(made[0]) == names | images and len(images) == 3
    # As docs/security.md says it is checked.
    (signed,) = (first / "dist").iterdir()
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", SUMS], cwd=signed, check=True, timeout=60)
    signers = tmp_path / "signers"
    signers.write_text(f"companion {key.with_suffix('.pub').read_text()}")
    verify = ["ssh-keygen", "-Y", "verify", "-f", str(signers), "-I", "companion", "-n", NAMESPACE]
    command = [*verify, "-s", f"{SUMS}.sig"]
    sums = made[0][SUMS]
    assert subprocess.run(command, input=sums, cwd=signed, check=False, capture_output=True).returncode == 0
    assert subprocess.run(command, input=sums + b" ", cwd=signed, check=False, capture_output=True).returncode != 0
    # The bill's sums are those of the files, and the source has what is needed to build and test it.
    bill = json.loads(made[0][f"{title}.cdx.json"])
    for one in bill["components"]:
        if "hashes" in one:
            assert one["hashes"][0]["content"] == hashlib.sha256(made[0][one["name"]]).hexdigest()
    with tarfile.open(signed / f"{under}.tar.gz") as source:
        inside = {name.split("/", 1)[1] for name in source.getnames()}
    assert {"install.sh", "Makefile", "companion/lab/release.py", "companion/install/companion.service"} <= inside
    with zipfile.ZipFile(signed / f"{under}-py3-none-any.whl") as wheel:
        assert "companion/flasher/prebuilt/images.json" in wheel.namelist()
