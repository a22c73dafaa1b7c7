"""`companion bench install`: install.sh in a bare Bookworm and a bare Trixie, made by debootstrap; needs root.

No systemd runs there, so the unit is checked by a test and the service is started by hand. The machine is this one:
what a Raspberry Pi would install is another processor's wheels, which a test resolves.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from companion.lab.rows import Row, row

SUITES = ("bookworm", "trixie")
LIST_SOURCES = (
    "apt-get",
    "indextargets",
    "--format",
    "$(ORIGIN)|$(RELEASE)|$(COMPONENT)|$(REPO_URI)",
    "Created-By: Packages",
)
"""What has apt say where its packages come from, a line a source; it reads its configuration alone."""

SOURCE = Path(__file__).resolve().parents[3]
PARTS = (
    "companion",
    "vision",
    "web",
    "firmware",
    "pyproject.toml",
    "requirements.txt",
    "README.md",
    "LICENSE",
    "install.sh",
)
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
"""This machine's, copied inside: a network may have an authority of its own."""

NAME = "igloo"
UDEV_VERIFIES = 254
"""udevadm can check rules from this version on: Trixie's can, Bookworm's cannot."""
JOURNAL = "var/lib/companion/journal.sqlite"


class StepError(OSError):
    """A step inside the bare system failed."""


def rows(seconds: float) -> Iterable[Row]:
    """Install, start, upgrade and uninstall in each bare system; ``seconds`` does not matter."""
    del seconds
    if os.geteuid() != 0 or shutil.which("debootstrap") is None or not (SOURCE / "install.sh").exists():
        yield row("install.sh", "not run", note="needs root, debootstrap and a checkout")
        return
    try:
        mirror = debian_among(_run(list(LIST_SOURCES), 60))
    except StepError as error:
        yield row("install.sh", "not run", note=str(error))
        return
    for suite in SUITES:
        with tempfile.TemporaryDirectory(prefix=f"companion-{suite}-") as folder:
            try:
                yield from _suite(suite, Path(folder) / "root", mirror)
            except StepError as error:
                yield row(f"{suite}", "failed", note=str(error))


def debian_among(sources: str) -> str:
    """Return the address of Debian's archive among apt's sources, as :data:`LIST_SOURCES` has them said.

    Sources of others stand beside it, and its own updates. A source that was never asked does not tell whose it is:
    one of the suites that are wanted is taken only where no other is known.

    :raises StepError: when apt has no source of Debian's.
    """
    told = [parts for line in sources.splitlines() if len(parts := line.split("|")) == 4]
    whole = [(origin, release, url) for origin, release, component, url in told if component == "main"]
    known = [url for origin, release, url in whole if origin == "Debian" and not re.search("[-/]", release)]
    known += [url for origin, release, url in whole if not origin and release in SUITES]
    if not known:
        raise StepError("apt has no source of Debian's archive (apt-get indextargets)")
    return known[0]


def _suite(suite: str, root: Path, mirror: str) -> Iterable[Row]:
    began = time.monotonic()
    include = "--include=ca-certificates,python3,python3-venv,systemd,udev"
    _run(["debootstrap", "--variant=minbase", include, suite, str(root), mirror], 1200)
    yield row(f"{suite}: bare system", f"{time.monotonic() - began:.0f}", "s")
    (root / "src").mkdir()
    for part in PARTS:
        if (SOURCE / part).is_dir():
            shutil.copytree(SOURCE / part, root / "src" / part, ignore=shutil.ignore_patterns("__pycache__", "build"))
        elif (SOURCE / part).exists():
            shutil.copy(SOURCE / part, root / "src" / part)
    for needed in ("/etc/resolv.conf", CERTIFICATES):
        shutil.copy(needed, root / needed.lstrip("/"))
    # Packages would start their services; nothing must be started in here.
    policy = root / "usr" / "sbin" / "policy-rc.d"
    policy.write_text("#!/bin/sh\nexit 101\n")
    policy.chmod(0o755)
    with _mounted(root):
        python = _inside(root, ["python3", "--version"]).strip()
        for what, options in (("installed", []), ("upgraded", ["--name", NAME])):
            began = time.monotonic()
            _inside(root, ["/src/install.sh", *options], 1800)
            yield row(f"{suite}: {what}", f"{time.monotonic() - began:.0f}", "s", note=python)
            seq, first_page_s = _served(root)
            yield row(f"{suite}: first page", f"{first_page_s:.1f}", "s", note=f"journal at {seq}; user companion")
        yield row(f"{suite}: unit and rules", _verified(root), note="as this suite's own systemd reads them")
        named = [(root / "etc" / file).read_text(encoding="utf-8") for file in ("hostname", "hosts")]
        good = named[0] == f"{NAME}\n" and f"127.0.1.1\t{NAME}\n" in named[1]
        yield row(f"{suite}: --name {NAME}", "named" if good else f"not named: {named}")
        before = (root / JOURNAL).read_bytes()
        backups = len(list((root / JOURNAL).parent.glob("backups/*.zip")))
        _inside(root, ["/src/install.sh", "--uninstall"])
        left = [str(path) for path in ("opt/companion", "usr/local/bin/companion") if (root / path).exists()]
        kept = (root / JOURNAL).read_bytes() == before and not left
        yield row(
            f"{suite}: uninstalled", "nights kept" if kept else f"left {left}", note=f"{backups} backups beside them"
        )


def _verified(root: Path) -> str:
    """Return what systemd finds wrong with the installed unit and udev with the rules: nothing, it is hoped."""
    said = _inside(root, ["systemd-analyze", "verify", "--man=no", "/etc/systemd/system/companion.service"])
    version = int(_inside(root, ["udevadm", "--version"]).split()[0])
    if version >= UDEV_VERIFIES:
        rules = sorted(f"/{path.relative_to(root)}" for path in (root / "etc" / "udev" / "rules.d").glob("*companion*"))
        _inside(root, ["udevadm", "verify", "--no-summary", *rules])
        return said.strip() or "sound"
    return said.strip() or f"unit sound; rules not asked, {version} cannot"


def _served(root: Path) -> tuple[int, float]:
    """Start the installed service by hand as its user, ask for the first page, end it; return journal and seconds."""
    began = time.monotonic()
    line = "COMPANION_DATA=/var/lib/companion exec companion serve --host 127.0.0.1 --port 0"
    command = ["chroot", str(root), "runuser", "-u", "companion", "--", "sh", "-c", line]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as service:
        said = ""
        for text in service.stdout or ():
            said += text
            if (link := re.search(r"http://127\.0\.0\.1:(\d+)/host/", text)) is not None:
                break
        else:
            raise StepError(f"The service did not start: {said[-300:]}")
        connection = http.client.HTTPConnection("127.0.0.1", int(link[1]), timeout=20)
        connection.request("GET", "/")
        status = connection.getresponse().status
        first_page_s = time.monotonic() - began
        connection.close()
        service.terminate()
        service.communicate(timeout=30)
    if status != 200:
        raise StepError(f"The first page answered {status}.")
    checked = _inside(root, ["companion", "backup", "--json"])
    return int(re.search(r'"seq": (\d+)', checked)[1]), first_page_s  # type: ignore[index]


@contextlib.contextmanager
def _mounted(root: Path) -> Iterator[None]:
    mounted: list[Path] = []
    try:
        for kind, place in (("proc", "proc"), ("devpts", "dev/pts")):
            _run(["mount", "-t", kind, kind, str(root / place)], 30)
            mounted.append(root / place)
        yield
    finally:
        for mount in reversed(mounted):
            subprocess.run(["umount", "--lazy", str(mount)], check=False)


def _inside(root: Path, command: list[str], seconds: float = 300) -> str:
    environment = ["env", "-i", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"]
    passed = [
        f"{name}={os.environ[name]}" for name in ("PIP_INDEX_URL", "http_proxy", "https_proxy") if name in os.environ
    ]
    passed.append(f"PIP_CERT={CERTIFICATES}")
    return _run(["chroot", str(root), *environment, *passed, *command], seconds)


def _run(command: list[str], seconds: float) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds)
    if done.returncode:
        words = (done.stderr.strip() or done.stdout.strip() or "no word").splitlines()[-1]
        raise StepError(f"{' '.join(command[-2:])}: {words}")
    return done.stdout
