"""The votes of the house: kept across restarts, and a broken file is no vote."""

from __future__ import annotations

from pathlib import Path

import pytest

from companion.night.commands.votes import Votes


def test_votes_stay(tmp_path: Path) -> None:
    path = tmp_path / "votes.json"
    votes = Votes(path)
    votes.vote("iglu.no_repick", False)
    votes.vote("pop.none_match", "return")
    again = Votes(path)
    assert again.of("iglu-iglu") == {"iglu.no_repick": False}
    assert again.of("igloo-pop") == {"pop.none_match": "return"}
    assert again.of("ice-team") == {}
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(("name", "value"), [("iglu.no_repick", 0), ("iglu.no_repick", "no"), ("chess.castling", True)])
def test_what_is_no_option_is_no_vote(tmp_path: Path, name: str, value: object) -> None:
    votes = Votes(tmp_path / "votes.json")
    with pytest.raises(KeyError):
        votes.vote(name, value)
    assert not (tmp_path / "votes.json").exists()


@pytest.mark.parametrize("text", ["{", "[1]", '{"iglu.no_repick": 3}', "x" * 70_000, "[" * 5000])
def test_a_broken_file_is_no_vote(tmp_path: Path, text: str) -> None:
    path = tmp_path / "votes.json"
    path.write_text(text)
    assert Votes(path).of("iglu-iglu") == {}
