"""What docs/cli.md says is what `companion --help` and the help of each subcommand say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from companion.cli import command

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
SHARED = "as [above](#what-many-subcommands-share)"


def commands(named: str, one: click.Command) -> Iterator[tuple[str, click.Command]]:
    """Yield a command and all below it, by what is typed."""
    yield named, one
    if isinstance(one, click.Group):
        context = click.Context(one)
        for name in one.list_commands(context):
            below = one.get_command(context, name)
            assert below is not None
            yield from commands(f"{named} {name}", below)


ALL = dict(commands("companion", command))
SECTIONS: dict[str, str] = dict(re.findall(r"^##+ (companion.*)\n((?:(?!#).*\n)*)", PAGE, flags=re.MULTILINE))


def options(one: click.Command) -> set[str]:
    """Return the long names of a command's options, as they are typed."""
    given = [param for param in one.params if isinstance(param, click.Option)]
    return {name for param in given for name in (*param.opts, *param.secondary_opts) if name.startswith("--")}


def test_each_subcommand_has_a_section_and_no_other_has() -> None:
    assert sorted(SECTIONS) == sorted(ALL)
    assert len(ALL) > 30


@pytest.mark.parametrize("named", ALL)
def test_the_options_are_those_of_the_help(named: str) -> None:
    rows = [line.split(" | ")[0] for line in SECTIONS[named].splitlines() if line.startswith("| `")]
    told = [name for row in rows for name in re.findall(r"`(--[a-z-]+)`", row)]
    assert sorted(told) == sorted(options(ALL[named]))


@pytest.mark.parametrize("named", ALL)
def test_an_exit_status_of_its_own_is_told_in_both_places(named: str) -> None:
    in_help = re.search(r"exit status .*\b1: |exit status 1\b", " ".join((ALL[named].help or "").lower().split()))
    assert ("Status 1:" in SECTIONS[named]) == bool(in_help)


def test_what_is_shared_is_described_once() -> None:
    assert all(
        f"\n| `{name}` | " in PAGE.split("## companion\n")[0] for name in ("--json", "--lang", "--data", "--help")
    )
    assert SHARED in PAGE and "## What many subcommands share\n" in PAGE


def test_the_tables_of_the_bench_are_named() -> None:
    tables = next(param.type for param in ALL["companion bench"].params if param.name == "tables")
    assert isinstance(tables, click.Choice)
    assert all(f"`{name}`" in SECTIONS["companion bench"] for name in tables.choices)
