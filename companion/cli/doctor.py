"""`companion doctor`: everything looked at, each finding with its cure in one line."""

from __future__ import annotations

from pathlib import Path

import click

from companion.cli.backup import data_option
from companion.cli.printing import as_json, console, emit, language

SIGNS = {"good": ("✓", "green"), "note": ("·", "dim"), "warning": ("!", "yellow"), "wrong": ("✗", "red")}


@click.command("doctor")
@data_option
@click.option("--header", is_flag=True, help="Draw the header with the standard pins, even where no panel is chosen.")
@language
@as_json
def command(data: Path | None, header: bool, lang: str, json_: bool) -> int:
    """Look at every device, permission and setting, and say how to mend what is wrong.

    Nothing is changed, no port is opened. Exit status 1 if something is wrong.
    """
    from companion.cli.owner import give_up_root
    from companion.doctor.finding import FindingState
    from companion.night.log.data_folder import default_folder
    from companion.panel.pins import parse
    from companion.service.checkup import check_up

    folder = data or default_folder()
    folder = give_up_root(folder)
    findings = list(check_up(folder))
    wrong = any(finding.state is FindingState.WRONG for finding in findings)
    drawings = [finding.facts["drawing"] for finding in findings if "drawing" in finding.facts]
    if header and not drawings:
        drawings = [parse(["standard"]).drawing()]
    if json_:
        for finding in findings:
            emit(finding.to_json())
        return int(wrong)
    out = console()
    for finding in findings:
        sign, style = SIGNS[finding.state]
        out.print(f"[{style}]{sign}[/] " if out.is_terminal else f"{sign} ", end="", markup=out.is_terminal)
        out.print(finding.words.of(lang), soft_wrap=out.soft_wrap)
        if finding.cure is not None and finding.state is not FindingState.GOOD:
            out.print(f"    → {finding.cure.of(lang)}", soft_wrap=out.soft_wrap)
    for lines in drawings:
        out.print()
        for line in lines:
            out.print(line, soft_wrap=True)
    return int(wrong)
