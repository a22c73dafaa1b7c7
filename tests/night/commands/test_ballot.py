"""The vote of the table: one a person, closed by the last or the host, ties decided, noted, kept across restarts."""

from __future__ import annotations

from pathlib import Path

import pytest

from companion.night.commands.ballot import KEPT, BallotError, Ballots
from companion.night.commands.votes import Votes

OPTION = "iglu.no_repick"


class Table:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.open()

    def open(self) -> None:
        self.votes = Votes(self.folder / "votes.json")
        self.ballots = Ballots(self.folder / "ballots.json", self.votes)

    def cast(self, voter: str, value: object, seat: str | None = None) -> None:
        self.ballots.cast(OPTION, voter, value, seat=seat, at=7)  # type: ignore[arg-type]


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return Table(tmp_path)


def refused(code: str) -> pytest.RaisesExc[BallotError]:
    return pytest.raises(BallotError, match=f"^{code}$")


def test_it_closes_with_the_last_vote_and_the_most_wins(table: Table) -> None:
    table.ballots.call(OPTION, 3)
    table.cast("a", False)
    table.cast("b", True)
    assert table.ballots.form() == {"option": OPTION, "votes": 2, "of": 3, "tied": [], "last": None}
    assert table.votes.of("iglu-iglu") == {}
    table.cast("c", False)
    told = table.ballots.form()
    assert told["option"] is None
    assert told["last"] == {"option": OPTION, "value": False, "how": "votes", "votes": [[False, 2], [True, 1]], "at": 7}
    assert table.votes.of("iglu-iglu") == {OPTION: False}
    with refused("none"):
        table.cast("d", True)


def test_a_person_has_one_vote_also_from_another_phone(table: Table) -> None:
    table.ballots.call(OPTION, 3)
    for value in (True, False, True):
        table.cast("a", value)
    assert table.ballots.form()["votes"] == 1
    assert table.ballots.mine("a") is True
    table.cast("phone", True, seat="red")
    table.cast("tablet", False, seat="red")
    assert table.ballots.form()["votes"] == 2
    assert table.ballots.mine("phone") is None
    assert table.ballots.mine("tablet") is False


def test_a_tie_is_the_hosts_or_what_was_valid_stays(table: Table) -> None:
    for value, how in ((True, "host"), (None, "default")):
        table.votes.vote(OPTION, False)
        table.ballots.call(OPTION, 2)
        table.cast("a", False)
        table.cast("b", True)
        assert table.ballots.form()["tied"] == [False, True]
        with refused("tied"):
            table.cast("a", True)
        with refused("tied"):
            table.ballots.close(OPTION, 8)
        with refused("no-value"):
            table.ballots.decide(OPTION, "whatever", 9)
        table.open()
        table.ballots.decide(OPTION, value, 9)
        assert table.ballots.form()["last"]["how"] == how
        assert table.votes.of("iglu-iglu") == {OPTION: value is True}
    assert [one["how"] for one in table.ballots.log(OPTION)] == ["host", "default"]
    assert table.ballots.log("pop.none_match") == []


def test_the_host_closes_it_before_all_have_voted(table: Table) -> None:
    table.ballots.call(OPTION, None)
    with refused("none"):
        table.ballots.decide(OPTION, False, 8)
    table.cast("a", False)
    table.ballots.close(OPTION, 8)
    assert table.votes.of("iglu-iglu") == {OPTION: False}
    table.ballots.call(OPTION, 4)
    table.ballots.close(OPTION, 8)
    assert table.ballots.form()["option"] is None
    assert len(table.ballots.log(OPTION)) == 1


def test_one_vote_at_a_time_and_only_for_what_there_is(table: Table) -> None:
    with refused("no-value"):
        table.ballots.call("chess.castling", 2)
    table.ballots.call(OPTION, 2)
    table.ballots.call(OPTION, 2)
    with refused("open"):
        table.ballots.call("pop.none_match", 2)
    for wrong in (0, "no", 1):
        with refused("no-value"):
            table.cast("a", wrong)
    with refused("none"):
        table.ballots.close("pop.none_match", 1)


def test_an_open_vote_outlives_a_restart(table: Table) -> None:
    table.ballots.call(OPTION, 3)
    table.cast("a", False, seat="red")
    before = table.ballots.form()
    table.open()
    assert table.ballots.form() == before
    assert table.ballots.mine("a") is False
    table.cast("z", True, seat="red")
    assert table.ballots.form()["votes"] == 1


def test_what_the_disk_refuses_changes_nothing(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    table.ballots.call(OPTION, 3)

    def full(*_: object) -> None:
        raise OSError(28, "full")

    monkeypatch.setattr("companion.night.commands.ballot.write_small", full)
    with pytest.raises(OSError, match="full"):
        table.cast("a", False)
    assert table.ballots.form()["votes"] == 0


def test_only_the_newest_are_noted(table: Table) -> None:
    for number in range(KEPT + 2):
        table.ballots.call(OPTION, 1)
        table.ballots.cast(OPTION, "a", number % 2 == 0, seat=None, at=number)
    assert [one["at"] for one in table.ballots.log(OPTION)] == list(range(2, KEPT + 2))


@pytest.mark.parametrize(
    "text",
    ["{", "[]", "{}", '{"open": 3, "done": []}', '{"open": {"option": "x"}, "done": [4]}', "[" * 9000, "x" * 300_000],
)
def test_a_broken_file_is_no_vote(tmp_path: Path, text: str) -> None:
    (tmp_path / "ballots.json").write_text(text)
    table = Table(tmp_path)
    assert table.ballots.form() == {"option": None, "last": None}
    table.ballots.call(OPTION, 2)
