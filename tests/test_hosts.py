"""The tree names no registry or mirror of packages: whoever builds has said to pip and apt where theirs are."""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

ROOT = Path(__file__).resolve().parents[1]
NOT_OURS = {".git", ".venv", "build", "node_modules", "mutants", "__pycache__", ".hypothesis"}

# In parts, so that this file does not name what it looks for.
KNOWN = {
    ".".join(parts)
    for parts in (
        *((kind, "debian", "org") for kind in ("deb", "security", "archive", "snapshot", "ftp", "httpredir")),
        *((kind, "ubuntu", "com") for kind in ("archive", "security", "ports")),
        *(("archive", "raspberrypi", end) for end in ("org", "com")),
        *((kind, "raspbian", "org") for kind in ("archive", "mirrordirector")),
        ("pypi", "org"),
        ("pypi", "python", "org"),
        ("files", "pythonhosted", "org"),
        ("piwheels", "org"),
        ("anaconda", "org"),
        ("npmjs", "org"),
        ("npmjs", "com"),
        ("yarnpkg", "com"),
        ("crates", "io"),
        ("golang", "org"),
        ("docker", "io"),
        ("ghcr", "io"),
        ("quay", "io"),
    )
}


def files() -> Iterator[Path]:
    for folder, inner, names in os.walk(ROOT):
        inner[:] = [name for name in inner if name not in NOT_OURS and not name.endswith("_cache")]
        yield from (path for name in names if (path := Path(folder, name)).is_file() and name != ".git")


def hosts_of(addresses: str) -> set[str]:
    """Return the names of hosts among addresses, without those that are none of a network."""
    found = {urlsplit(address).hostname or "" for address in re.findall(r"https?://[^\s\"']+", addresses)}
    return {host for host in found if "." in host and not _is_number(host)}


def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def set_here() -> set[str]:
    """Return the hosts that pip and apt use on this machine, which may be of one house only."""
    said = [text for name, text in os.environ.items() if re.fullmatch(r"(PIP|UV)_.*(INDEX|LINKS|HOST).*", name)]
    for path in (
        Path("/etc/pip.conf"),
        Path.home() / ".config/pip/pip.conf",
        Path.home() / ".pip/pip.conf",
        *Path("/etc/apt").glob("sources.list*"),
        *Path("/etc/apt/sources.list.d").glob("*"),
    ):
        if path.is_file() and os.access(path, os.R_OK):
            said.append(path.read_text(encoding="utf-8", errors="replace"))
    return hosts_of("\n".join(said))


def named_in(data: bytes, hosts: set[str]) -> set[str]:
    """Return the hosts that are named, whole or as the end of a longer name."""
    found = re.findall(rb"(?<![\w-])(?:[\w-]+\.)+[A-Za-z]{2,}(?![\w-])", data)
    names = {name.decode("ascii", "replace").lower() for name in found}
    return {host for host in hosts if any(name == host or name.endswith(f".{host}") for name in names)}


def test_no_file_names_a_registry_or_a_mirror() -> None:
    hosts = KNOWN | set_here()
    wrong = {str(path.relative_to(ROOT)): named for path in files() if (named := named_in(path.read_bytes(), hosts))}
    assert not wrong


@pytest.mark.parametrize("host", sorted(KNOWN))
def test_one_would_be_noticed(host: str) -> None:
    for text in (f"http://{host}/debian", f"--index-url=https://user@www.{host.upper()}/simple", f"({host})"):
        assert named_in(text.encode(), KNOWN) >= {host}
    assert host not in named_in(f"x{host} {host}x {host.replace('.', '-')}".encode(), KNOWN)


def test_what_a_machine_is_set_to() -> None:
    said = "index-url = https://me:secret@packages.example.net:8080/simple\nURIs: http://10.0.0.1/debian http://localhost/x"
    assert hosts_of(said) == {"packages.example.net"}
