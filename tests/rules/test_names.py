"""What a player may be called, in every script; how long that is; and two of one name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from companion.cli import run
from companion.rules import game, games
from companion.rules.core import SetupError
from companion.rules.names import (
    LONGEST_NAME,
    clusters,
    name_key,
    proper_name,
    read_name,
    shortened,
    shown_name,
    told_apart,
)
from companion.rules.rulebook import seats

FAMILY = "👨‍👩‍👧‍👦"
KISS = "👩🏻‍❤️‍💋‍👩🏼"
TAKEN = {
    "Ann": 3,
    "O’Neil": 6,
    "Zoe\u0301": 3,
    "علی\u200cرضا": 6,
    "ක\u0dca\u200dරිස\u0dca": 3,
    "क्षत्रिय": 3,
    "র\u200d্যান্ডি": 2,
    "ന\u0d4d\u200d": 1,
    "한글": 2,
    "\u1112\u1161\u11ab\u1100\u1173\u11af": 2,
    "葛\U000e0100城": 2,
    "שָׁלוֹם": 4,
    "สมชาย": 5,
    FAMILY: 1,
    KISS: 1,
    "🧑🏽\u200d🚀": 1,
    "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f": 1,
    "🇫🇷🇩🇪": 2,
    "1\ufe0f\u20e3": 1,
    FAMILY * 40: 40,
}
REFUSED = [
    "",
    "  ",
    "\u200d",
    "\u200c\u200d",
    "\u200dAnn",
    "Ann\u200d",
    "A\u200dnn",
    "A\u200bnn",
    "Ann\u202e",
    "\u200fAnn",
    "A\u2066nn",
    "\ufeffAnn",
    "A\u00adnn",
    "A\nB",
    "A\x00",
    "\u0301",
    "\u3164",
    "\u2800",
    "A\u034fnn",
    "A\ufe00nn",
    "👨\u200d",
    "👨\u200d\u200d👩",
    "🏴\U000e0067",
    "A\U000e0041",
    "\ue000",
    "\ud800",
    "A" + "\u0301" * 20,
    "x" * 41,
    FAMILY * 41,
    "x" * 5000,
]


@pytest.mark.parametrize("name", TAKEN)
def test_names_of_every_script_are_taken_and_counted_as_a_reader_counts(name: str) -> None:
    kept = proper_name(f" {name} ")
    assert kept is not None
    assert len(clusters(kept)) == TAKEN[name]
    assert proper_name(kept) == kept == shown_name(kept), "in its form already"
    for game_id in games(examples=True):
        rules = game(game_id)
        people = [{**one, "name": name} if n == 0 else one for n, one in enumerate(rules.seats(rules.players[0]))]
        assert seats(rules.start(people))[0][0] == kept


@pytest.mark.parametrize("name", REFUSED)
def test_what_hides_something_is_no_name(name: str) -> None:
    assert proper_name(name) is None
    if name != "x" * 41:
        assert read_name(name) is None
        for game_id in games():
            rules = game(game_id)
            people = [{**one, "name": name} if n == 0 else one for n, one in enumerate(rules.seats(rules.players[0]))]
            with pytest.raises(SetupError, match="1 to 40"):
                rules.start(people)


def test_a_name_is_in_one_form_with_single_spaces() -> None:
    assert proper_name("  Zoe\u0301 \u00a0  Lê") == "Zoé Lê"
    assert name_key("ZOE\u0301") == name_key("zoé")


def test_a_long_name_of_0_1_0_is_read_still() -> None:
    assert LONGEST_NAME == 40
    assert read_name("x" * 60) == "x" * 60
    assert read_name("x" * 61) is None


def test_a_name_that_was_kept_before_is_shown_without_what_the_rule_does_not_take() -> None:
    assert shown_name("A\u202enn \u3164") == "Ann"
    assert shown_name("\u200d") == ""


def test_a_name_is_shortened_between_its_signs() -> None:
    assert shortened(f"A{FAMILY}B", 2) == f"A{FAMILY}"


def test_equal_names_get_a_mark_that_nobody_has() -> None:
    assert told_apart(["Ann", "Bob", "ANN", "", "", "ann"]) == ("Ann", "Bob", "ANN (2)", "", "", "ann (3)")
    assert told_apart(["Ann", "Ann (2)", "Ann"]) == ("Ann", "Ann (2)", "Ann (3)")
    long = told_apart(["x" * 40] * 2)[1]
    assert long == "x" * 36 + " (2)" and proper_name(long) == long


def test_two_of_one_name_keep_their_totals_and_are_told_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    golden = Path(__file__).parent / "arctic" / "playthrough_a.jsonl"
    header, *moves = golden.read_text(encoding="utf-8").splitlines()
    told = json.loads(header)
    for player in told["players"]:
        player["name"] = "Ann"
    record = tmp_path / "three.jsonl"
    record.write_text("\n".join([json.dumps(told), *moves]), encoding="utf-8")
    assert run(["referee", str(record), "--json"]) == 0
    outcome = json.loads(capsys.readouterr().out.splitlines()[-1])["outcome"]
    assert [one["name"] for one in outcome["players"]] == ["Ann", "Ann (2)", "Ann (3)"]
    assert run(["score", str(record), "--json"]) == 0
    sheet = json.loads(capsys.readouterr().out)
    assert outcome["totals"] == [one["total"] for one in sheet["players"]]
    assert sorted(seat for place in outcome["ranking"] for seat in place) == [0, 1, 2]
    assert outcome["ranking"] == sheet["ranking"] and outcome["winners"] == sheet["ranking"][0]
    assert [one["seat"] for one in sheet["players"]] == [0, 1, 2]
    assert run(["score", str(record)]) == 0
    assert "Ann (2)" in capsys.readouterr().out
