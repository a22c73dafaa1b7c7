"""Where the bare systems of `companion bench install` come from: apt of this machine knows."""

from __future__ import annotations

import pytest

from companion.lab.bench.install import StepError, debian_among

OTHERS = """
Raspberry Pi Foundation|bookworm|main|http://pi.example/debian/
Debian|bookworm-updates|main|http://updates.example/debian/
Debian|bookworm-security|main|http://security.example/debian-security/
Debian|bookworm|contrib|http://contrib.example/debian/
somebody|stable|main|https://somebody.example/apt/
|cloud-bookworm|main|https://cloud.example/apt/
not a source
"""


@pytest.mark.parametrize("release", ["bookworm", "trixie", "stable"])
def test_debian_is_found_among_other_sources(release: str) -> None:
    assert (
        debian_among(f"{OTHERS}Debian|{release}|main|http://debian.example/debian/\n")
        == "http://debian.example/debian/"
    )


def test_a_source_that_was_never_asked_is_taken_where_no_other_is_known() -> None:
    untold = "|trixie|main|http://untold.example/debian/"
    assert debian_among(f"{OTHERS}{untold}") == "http://untold.example/debian/"
    known = "Debian|bookworm|main|http://debian.example/debian/"
    assert debian_among(f"{untold}\n{known}") == "http://debian.example/debian/"


@pytest.mark.parametrize("sources", ["", OTHERS])
def test_without_debian_it_says_so(sources: str) -> None:
    with pytest.raises(StepError, match="no source of Debian's archive"):
        debian_among(sources)
