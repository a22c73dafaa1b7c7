"""`make release KEY=…`: a version as files that others can check, from what is committed, the same bytes each time.

Wheel, source, the igloo's images, what they are made of (CycloneDX 1.6: https://cyclonedx.org/docs/1.6/json/), the
SHA-256 sums of all, and a signature of the sums (ssh-keygen(1), -Y sign). Times in them are the commit's
(SOURCE_DATE_EPOCH, https://reproducible-builds.org/specs/source-date-epoch/).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from companion.flasher.images import FirmwareError, build
from companion.ports import CompanionError

SOURCE = Path(__file__).resolve().parents[2]
NAMESPACE = "companion-release"
"""What the signature is for: one that was made for something else does not pass for it."""

SUMS = "SHA256SUMS"
PIN = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)==([^\s\\;]+)")
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


class ReleaseError(CompanionError, OSError):
    """A release could not be made; the message says what to do."""


def release(source: Path, out: Path, key: Path) -> Path:
    """Make the release of what is committed in ``source`` below ``out``, signed with ``key``, and return its folder.

    ``key`` is a file of ssh-keygen: a private key, or a public one whose private one an agent holds.

    :raises ReleaseError: when something is not committed, or a step fails; then nothing has the release's name.
    """
    if not key.is_file():
        raise ReleaseError(f"There is no key {key}; make one with: ssh-keygen -t ed25519 -f {key}")
    if _run(["git", "status", "--porcelain"], source).strip():
        raise ReleaseError("Something is not committed: a release is made of a commit alone.")
    epoch = int(_run(["git", "log", "-1", "--format=%ct"], source))
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".release-", dir=out) as name:
        tree, files = Path(name, "tree"), Path(name, "files")
        files.mkdir()
        packed = subprocess.run(["git", "archive", "HEAD"], cwd=source, capture_output=True, check=True).stdout
        tree.mkdir()
        # By tar itself: Bookworm's Python knows no filter of members, and later ones warn where there is none.
        subprocess.run(["tar", "-x", "-C", str(tree)], input=packed, check=True)
        project = tomllib.loads((tree / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        title = f"{project['name']}-{project['version']}"
        _packages(tree, files, epoch)
        _images(tree, files)
        made = sorted(files.iterdir())
        lock = (tree / "requirements.txt").read_text(encoding="utf-8")
        bill = bill_of_materials(project, pins(lock), {path.name: _sha256(path) for path in made}, epoch)
        (files / f"{title}.cdx.json").write_text(json.dumps(bill, indent=1) + "\n", encoding="utf-8")
        _sums(files, sorted(files.iterdir()))
        _sign(files / SUMS, key)
        for path in files.iterdir():
            path.chmod(0o644)
        target = out / title
        shutil.rmtree(target, ignore_errors=True)
        files.rename(target)
    return target


def _packages(tree: Path, files: Path, epoch: int) -> None:
    """Build wheel and source distribution, with the commit's time in them."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(epoch), "PYTHONDONTWRITEBYTECODE": "1"}
    for target in ("wheel", "sdist"):
        _run([sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(files)], tree, environment)


def _images(tree: Path, files: Path) -> None:
    """Build the igloo's images, which have to be those that the wheel holds."""
    try:
        images = build(source=tree / "firmware")
    except FirmwareError as error:
        raise ReleaseError(str(error)) from error
    for image in images:
        built = tree / "firmware" / "build" / image.file
        held = tree / "companion" / "flasher" / "prebuilt" / image.file
        if not held.is_file() or held.read_bytes() != built.read_bytes():
            raise ReleaseError(
                f"{image.file} in the package is not what its source gives: firmware build --for-release"
            )
        shutil.copy(built, files / image.file)


def pins(lock: str) -> dict[str, tuple[str, list[str]]]:
    """Return what a lock pins: for each name the version, and the SHA-256 of each file that may be it."""
    found = {}
    for entry in re.split(r"\n(?=\S)", lock.strip()):
        pin = PIN.match(entry)
        if pin is None:
            raise ReleaseError(f"The lock has a line that pins nothing: {entry.splitlines()[0]}")
        found[re.sub(r"[-_.]+", "-", pin[1]).lower()] = (pin[2], HASH.findall(entry))
    return found


def bill_of_materials(
    project: Mapping[str, Any],
    pinned: Mapping[str, tuple[str, list[str]]],
    made: Mapping[str, str],
    epoch: int,
) -> dict[str, Any]:
    """Return the bill of materials: the release's files with their SHA-256, and every package that the lock pins.

    A package is known by its package URL. The lock is flat, so each one stands as something that the whole needs.
    """
    name, version = project["name"], project["version"]
    whole = f"pkg:generic/{name}@{version}"
    packages = [
        {
            "type": "library",
            "bom-ref": f"pkg:pypi/{one}@{pin}",
            "name": one,
            "version": pin,
            "purl": f"pkg:pypi/{one}@{pin}",
            "properties": [{"name": "companion:lock:sha256", "value": digest} for digest in digests],
        }
        for one, (pin, digests) in sorted(pinned.items())
    ]
    own = [
        {
            "type": "firmware" if file.endswith((".hex", ".uf2")) else "file",
            "bom-ref": f"file:{file}",
            "name": file,
            "version": version,
            "hashes": [{"alg": "SHA-256", "content": digest}],
        }
        for file, digest in sorted(made.items())
    ]
    bill: dict[str, Any] = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch)),
            "component": {
                "type": "application",
                "bom-ref": whole,
                "name": name,
                "version": version,
                "description": project["description"],
                "licenses": [{"license": {"id": project["license"]}}],
                "purl": whole,
            },
        },
        "components": [*own, *packages],
        "dependencies": [
            {"ref": whole, "dependsOn": sorted(str(one["bom-ref"]) for one in packages)},
            *({"ref": one["bom-ref"]} for one in packages),
        ],
    }
    # A number of its own for each content, the same for the same content.
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(bill, sort_keys=True))
    return {"$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json", "serialNumber": f"urn:uuid:{serial}", **bill}


def _sums(files: Path, made: Iterable[Path]) -> None:
    text = "".join(f"{_sha256(path)}  {path.name}\n" for path in made)
    (files / SUMS).write_text(text, encoding="ascii")


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _sign(path: Path, key: Path) -> None:
    """Sign a file; the key's own passphrase is asked for at the terminal."""
    command = ["ssh-keygen", "-q", "-Y", "sign", "-f", str(key), "-n", NAMESPACE, str(path)]
    done = subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
    if done.returncode or not path.with_name(f"{path.name}.sig").is_file():
        raise ReleaseError(f"ssh-keygen could not sign with {key} (see above).")


def _run(command: list[str], folder: Path, environment: Mapping[str, str] | None = None) -> str:
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        why = (done.stderr.strip() or done.stdout.strip() or "no word").splitlines()[-1]
        raise ReleaseError(f"{' '.join(command[:3])}: {why}")
    return done.stdout


@click.command()
@click.option("--key", required=True, type=click.Path(path_type=Path), help="The key that signs, a file of ssh-keygen.")
@click.option("--out", default=SOURCE / "dist", type=click.Path(file_okay=False, path_type=Path), help="Where to.")
def command(key: Path, out: Path) -> None:
    """Make a release of what is committed: packages, images, bill of materials, sums, signature."""
    try:
        folder = release(SOURCE, out, key.expanduser())
    except ReleaseError as error:
        raise click.ClickException(str(error)) from error
    for path in sorted(folder.iterdir()):
        click.echo(f"{path.stat().st_size:>10}  {path.name}")
    click.echo(f"Signed, in {folder}")


if __name__ == "__main__":
    command()
