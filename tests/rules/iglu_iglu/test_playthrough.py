"""A golden game: every ruling and the score of one whole game, so that a change of behaviour shows itself.

After a wanted change, write it anew and read the difference:
`companion referee tests/rules/iglu_iglu/playthrough.jsonl > tests/rules/iglu_iglu/playthrough.txt`, and the same with
`companion score --json` and `playthrough.score.json`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from companion.cli import run
from companion.rules.record import read_file

HERE = Path(__file__).parent
RECORD = HERE / "playthrough.jsonl"


@pytest.mark.parametrize(
    ("command", "golden"), [(["referee"], "playthrough.txt"), (["score", "--json"], "playthrough.score.json")]
)
def test_the_golden_game_is_ruled_and_scored_as_it_was(
    command: list[str], golden: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*command, str(RECORD)]) == 0
    out = capsys.readouterr()
    assert out.err == ""
    assert out.out == (HERE / golden).read_text(encoding="utf-8")


def test_the_golden_game_has_every_kind_of_move() -> None:
    replay = read_file(RECORD)
    assert replay.error is None
    assert replay.record is not None
    kinds = {text.split()[0] for text in replay.record.moves}
    assert kinds == {
        *("draw", "place", "melt", "reveal", "drift", "displace", "thaw", "endurance", "animals", "move"),
        *("defend", "decline", "flee", "walk", "kayak", "hunt", "harpoon", "build", "end"),
    }
    assert any(text.endswith(" harpoon") and not text.startswith("reveal") for text in replay.record.moves)


def test_the_golden_game_says_the_same_in_french(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["referee", str(RECORD), "--lang", "fr"]) == 0
    french = capsys.readouterr().out.splitlines()
    english = (HERE / "playthrough.txt").read_text(encoding="utf-8").splitlines()
    assert len(french) == len(english)
    assert not set(french) & set(english)
