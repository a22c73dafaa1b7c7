"""Records: the valid prefix and the error, undo as a prefix, and bounds that hold."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.rules import game, record
from companion.rules.i18n import Words
from companion.rules.playouts import playout
from companion.rules.record import Header, Record, RecordError, Replay, open_lines, read, read_file, referee

POP = game("igloo-pop")
SEATS = [{"name": "Ann", "colour": "red"}, {"name": "Bob", "colour": "blue"}]
HEAD = json.dumps(
    {"game": "igloo-pop", "players": SEATS, "setup": {"cards": ["2", "3", "4", "5", "6", "7", "8", "9", "10"]}}
)
MOVES = ["start", "place red card1", "take blue", "place blue card1", "pass red", "pass blue", "reveal card1 2"]


def test_a_whole_record_is_replayed() -> None:
    replay = read([HEAD, *MOVES, "reveal card1 9"])
    assert replay.error is None
    assert replay.record is not None
    assert replay.record.moves == (*MOVES, "reveal card1 9")
    assert replay.state is not None
    assert replay.state.won["red"] == ((2,),)
    assert [text for text, ruling in replay.rulings() if ruling.legal] == [*MOVES, "reveal card1 9"]


def test_json_strings_bare_texts_blank_lines_and_line_ends_are_read() -> None:
    lines = ["\ufeff" + HEAD + "\r\n", "\n", '"start"\r\n', "  pl r 1  ", "", '"place red card1"']
    replay = read([line.encode() for line in lines])
    assert replay.error is None
    assert replay.record is not None
    assert replay.record.moves == ("start", "place red card1", "place red card1")


@pytest.mark.parametrize(
    ("line", "kind", "says"),
    [
        ("place red card1x", "InvalidMoveError", "'card1x' is not a place"),
        ("take b", "IllegalMoveError", "already has an igloo"),
        ("p red", "AmbiguousMoveError", "place or pass"),
        ("start", "IllegalMoveError", "cannot begin"),
        ("[1, 2]", "RecordError", "one move"),
        ("{}", "RecordError", "one move"),
        ('"start', "RecordError", "not valid JSON"),
        ("[" * 30_000, "RecordError", "nested"),
        ("1" * 250, "InvalidMoveError", "at most 200"),
        (b"\xff\xfe\x00", "RecordError", "UTF-8"),
        (HEAD.encode("utf-16"), "RecordError", "UTF-8"),
        (HEAD.encode("utf-16-le"), "RecordError", "UTF-8"),
        (b'"sta\x00rt"', "RecordError", "UTF-8"),
        ("x" * 70_000, "RecordError", "longer than"),
        ("\ud800", "RecordError", "UTF-8"),
        ('"\\ud800"', "InvalidMoveError", "is not a move"),
    ],
)
def test_a_wrong_line_gives_the_valid_prefix_and_the_error(line: str | bytes, kind: str, says: str) -> None:
    replay = read([HEAD, "", *MOVES[:2], "t bla" if line == "take b" else MOVES[2], line, *MOVES[3:]])
    assert replay.record is not None
    assert replay.error is not None
    if line == "take b":
        assert replay.error.line == 5, "nobody plays black"
        return
    assert replay.record.moves == tuple(MOVES[:3])
    assert (replay.error.line, replay.error.kind) == (6, kind)
    assert says in replay.error.words.en
    assert replay.error.words.fr and replay.error.words.fr != replay.error.words.en
    assert (replay.error.ruling is not None) == (kind == "IllegalMoveError")
    assert replay.state == replay.at(3)


@pytest.mark.parametrize(
    ("head", "kind", "says"),
    [
        ("", "RecordError", "empty"),
        ("start", "RecordError", "not valid JSON"),
        ("[]", "RecordError", "first line"),
        ('{"players": []}', "RecordError", "first line"),
        ('{"game": "chess"}', "SetupError", "chess"),
        ('{"game": "igloo-pop"}', "SetupError", "2 to 6"),
        ('{"game": "igloo-pop", "players": 3}', "RecordError", "list of objects"),
        ('{"game": "igloo-pop", "players": [3]}', "RecordError", "list of objects"),
        ('{"game": "igloo-pop", "option": {}}', "RecordError", "'option'"),
        ('{"game": "igloo-pop", "options": 3}', "RecordError", "'options'"),
        ('{"game": "igloo-pop", "position": {"places": 3}}', "SetupError", "players"),
        ("{" * 50_000, "RecordError", "valid JSON|nested"),
    ],
)
def test_a_wrong_header_is_the_error(head: str, kind: str, says: str) -> None:
    replay = read([head, *MOVES])
    assert (replay.record, replay.start, replay.state) == (None, None, None)
    assert replay.error is not None
    assert (replay.error.line, replay.error.kind) == (1, kind) or head == ""
    with pytest.raises(RecordError, match=says):
        list(referee([head]))
    with pytest.raises(IndexError):
        replay.at(0)
    assert list(replay.rulings()) == []


def test_nothing_at_all_is_an_empty_record() -> None:
    assert read([]).error == record.RecordFault(1, "RecordError", Words("The record is empty."))


def test_writing_and_reading_are_one() -> None:
    done, state = playout(POP, 3, Random(2))
    again = done.replay()
    assert (again.record, again.state) == (done, state)
    header = json.loads(next(done.lines()))
    assert Header.from_json(header).to_json() == header
    noted = Header("igloo-pop", tuple(SEATS), {}, {"cards": ["2"]}, None, "Sunday").to_json()
    assert noted["setup"] == {"cards": ["2"]}
    assert Header.from_json(noted).note == "Sunday"


def test_a_record_may_begin_from_a_position() -> None:
    done, _ = playout(POP, 3, Random(2))
    middle = done.replay().at(40)
    tail = Record(Header("igloo-pop", position=middle.position()), done.moves[40:])
    assert read(tail.lines()).state == done.replay().state


@given(st.integers(0, 400), st.integers(2, 6), st.data())
def test_undo_to_any_point_is_the_prefix_and_another_way_may_be_taken(
    seed: int, players: int, data: st.DataObject
) -> None:
    done, _ = playout(POP, players, Random(seed))
    replay = done.replay()
    cut = data.draw(st.integers(0, len(done.moves)))
    assert replay.at(cut) == done.prefix(cut).replay().state
    other = list(replay.at(cut).legal_moves)
    if other:
        move = data.draw(st.sampled_from(other))
        branch = Record(done.header, (*done.moves[:cut], str(move))).replay()
        assert branch.error is None
        assert done.replay().state == replay.state, "the original line is kept"
    with pytest.raises(IndexError):
        replay.at(len(done.moves) + 1)


def test_the_referee_judges_every_line_and_leaves_the_wrong_ones_out() -> None:
    verdicts = list(referee([HEAD, "start", "reveal card1 2", "nonsense", "place red card1", "return red", "pass red"]))
    assert [v.line for v in verdicts] == [2, 3, 4, 5, 6, 7]
    assert [v.error.kind if v.error else None for v in verdicts] == [
        None,
        "IllegalMoveError",
        "InvalidMoveError",
        None,
        "IllegalMoveError",
        None,
    ]
    assert verdicts[-1].state.passed == {"red"}
    assert [v.ruling.legal for v in verdicts if v.ruling] == [True, False, True, False, True]


def test_the_referee_ends_where_nothing_can_be_read_further() -> None:
    verdicts = list(referee([HEAD, "start", b"\xff", "pass red"]))
    assert [(v.line, v.ruling is None) for v in verdicts] == [(2, False), (3, True)]


# --- bounds ----------------------------------------------------------------------------------------------------


class Counting:
    """Lines without end, and how many were asked for."""

    def __init__(self, line: str) -> None:
        self.line, self.read = line, 0

    def __iter__(self) -> Iterator[str]:
        yield HEAD
        for _ in itertools.count():
            self.read += 1
            yield self.line


@pytest.mark.parametrize("line", ["", "nonsense", "x" * 60_000])
def test_a_record_without_end_is_not_read_on(line: str) -> None:
    lines = Counting(line)
    last: Replay | None = read(lines)
    assert last is not None and last.error is not None
    assert lines.read <= record.MAX_LINES


def test_a_million_lines_are_refused_at_the_bound() -> None:
    lines = Counting("")
    error = read(lines).error
    assert error is not None
    assert (error.line, error.kind) == (record.MAX_LINES + 1, "RecordError")
    assert lines.read == record.MAX_LINES


def test_the_size_is_bounded_as_well() -> None:
    lines = Counting(" " * 65_000)
    error = read(lines).error
    assert error is not None
    assert "bytes" in error.words.en
    assert lines.read * 65_000 <= record.MAX_BYTES + 65_000


def test_a_file_of_100_mb_is_never_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.write(HEAD.encode() + b"\n")
        file.truncate(100 * 1024 * 1024)
    error = read_file(path).error
    assert error is not None
    assert (error.line, error.kind) == (2, "RecordError")
    chunks = open_lines(path)
    assert len(next(chunks)) == len(HEAD) + 1
    assert len(next(chunks)) == record.MAX_LINE_BYTES + 1


LINES = st.one_of(
    st.text(max_size=60),
    st.binary(max_size=60),
    st.sampled_from(
        ["start", "take red", "place red card1", "pass blue", '"pass red"', "deal card1 11", "[[[", "{}", ""]
    ),
    st.recursive(st.none() | st.text(max_size=4) | st.integers(), lambda x: st.lists(x, max_size=3)).map(json.dumps),
)


@given(st.one_of(st.just(HEAD), LINES), st.lists(LINES, max_size=12))
def test_anything_is_a_prefix_and_perhaps_an_error(head: str | bytes, lines: list[str | bytes]) -> None:
    replay = read([head, *lines])
    if replay.record is None:
        assert replay.error is not None
        return
    assert replay.state == replay.at(len(replay.record.moves))
    assert len(replay.record.moves) <= len(lines)
    verdicts = list(referee([head, *lines]))
    firsts = list(itertools.takewhile(lambda v: v.error is None, verdicts))
    assert tuple(v.text for v in firsts) == replay.record.moves
    assert (replay.error is None) == (len(firsts) == len(verdicts))


PIECES = st.sampled_from(
    ['"', "{", "}", "[", "]", ":", ",", "game", "igloo-pop", "players", "colour", "red", "1e999", "null"]
)


@given(st.lists(PIECES, max_size=30).map("".join))
def test_no_header_breaks_the_reader(head: str) -> None:
    read([head, "start"])


def test_an_unknown_field_of_a_player_is_refused_as_others_are() -> None:
    with pytest.raises(RecordError, match="A player of a record has name, colour, not 'hat'"):
        Header.from_json({"game": "ice-team", "players": [{"name": "Ann", "colour": "green", "hat": 3}]})
