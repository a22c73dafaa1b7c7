"""`companion bench shake`: costs that are measured, figures that the data card has, and their pictures."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from companion.cli import run
from companion.igloo.count.counter import shipped


def test_costs_and_the_cards_figures_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "new" / "pictures"
    assert run(["bench", "shake", "--seconds", "0.1", "--igloos", "0", "--json", "--pictures", str(folder)]) == 0
    said_out, said_err = capsys.readouterr()
    rows = {row["what"]: row for row in map(json.loads, said_out.splitlines())}
    assert float(rows["a count from 2 s at 3200 Hz"]["value"]) > 0
    assert rows["model file"]["aim"] == "≤ 2 MB"
    for name, figures in shipped().card["figures"].items():
        said = rows[f"{name}: whole"]["value"]
        assert f"{100 * figures['whole']['exact']:.0f}" in said
        low, high = figures["whole"]["interval"]["mae"]
        assert f"({low:.2f} to {high:.2f})" in said
    pictures = sorted(folder.glob("*.svg"))
    assert len(pictures) == len(shipped().card["figures"])
    assert all(str(picture) in said_err for picture in pictures)
    texts = [node.text for node in ElementTree.parse(pictures[0]).iter("{http://www.w3.org/2000/svg}text")]  # noqa: S314
    assert texts[0] in shipped().card["figures"]


def test_pictures_go_with_the_shakes_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "vision", "--pictures", str(tmp_path / "pictures")]) == 2
    assert "--pictures goes with the table shake." in capsys.readouterr().err
    assert not (tmp_path / "pictures").exists()


def test_the_shipped_file_keeps_its_bounds() -> None:
    from companion.igloo.count.counter import MODEL

    assert MODEL.stat().st_size <= 2_000_000
    card = shipped().card
    assert {"trained_on", "figures", "version", "limits", "recipe"} <= set(card)
