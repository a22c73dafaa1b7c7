"""Every command that answers in notation: a sentence in the reader's language, and the notation beside it."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from companion.cli import run
from companion.cli.vision import follow
from companion.ports import BadDataError
from companion.rules import game
from vision.messages import NO_BOARD
from vision.track.candidate import TrackingResult

RULES = game("iglu-iglu")
SET_UP = ["draw d4 fish 1", "draw e4 fish 3", "draw d5 fish 2", "draw e5 fish 3"]
INUIT = (("b1", "f1"), ("a5", "h3"), ("c8", "g8"), ("e1", "a3"), ("h6", "d8"))
PLACED = [*SET_UP, *(f"place {c} {q}" for pair in INUIT for c, q in zip(("red", "blue"), pair, strict=True))]
TURN = ["melt c4", "reveal c4 kept", "walk b1 b2", "walk b2 b3", "walk c8 c7"]
MELTS = {
    "en": "The floe on c4 is face down, empty and beside water: it melts.",
    "fr": "La tuile en c4 est face cachée, vide et au bord de l’eau\u00a0: elle fond.",
    "de": "Die Eisscholle auf c4 ist verdeckt, leer und am Wasser: Sie schmilzt.",
}
LANGUAGES = ("en", "fr", "de")


@pytest.fixture(autouse=True)
def a_pipe_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)


def played(*moves: str) -> Any:
    state: Any = RULES.start(RULES.seats(2))
    for text in moves:
        state = state.play(RULES.parse(text))
    return state


def file(path: Path, state: Any) -> str:
    path.write_text(json.dumps(state.position()), encoding="utf-8")
    return str(path)


def beside(out: str, sentence: str, notation: str) -> bool:
    """Return whether a line has the sentence first, and the notation after it."""
    return any(sentence in line and line.index(sentence) < line.rfind(notation) for line in out.splitlines())


@pytest.mark.parametrize("lang", LANGUAGES)
def test_explain_tells_each_step(lang: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, after = played(*PLACED), played(*PLACED, *TURN, "end")
    files = file(tmp_path / "before.json", before), file(tmp_path / "after.json", after)
    assert run(["explain", "iglu-iglu", *files, "--lang", lang]) == 0
    assert beside(capsys.readouterr().out, MELTS[lang], "melt c4")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_referee_says_what_each_move_does(lang: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = tmp_path / "game.jsonl"
    header = json.dumps({"game": "iglu-iglu", "players": RULES.seats(2)})
    record.write_text("\n".join([header, *PLACED, *TURN, "walk b3 h8"]) + "\n", encoding="utf-8")
    assert run(["referee", str(record), "--lang", lang]) == 1
    told = capsys.readouterr()
    (line,) = [line for line in told.out.splitlines() if MELTS[lang] in line]
    assert "melt c4" in line
    refusal = played(*PLACED, *TURN).check(RULES.parse("walk b3 h8")).words.of(lang)
    assert refusal in told.out and refusal in told.err


@pytest.mark.parametrize("lang", LANGUAGES)
def test_vision_follow_says_what_each_step_does(lang: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = played(*PLACED)
    moves = tuple(RULES.parse(text) for text in TURN)
    follow._say(Path("1.jpg"), TrackingResult("entered", moves), SimpleNamespace(found=True), before, lang)  # type: ignore[arg-type]
    assert beside(capsys.readouterr().out, MELTS[lang], "melt c4")


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("en", "line 2: "),
        ("fr", "ligne 2\u00a0: "),
        ("de", "Zeile 2: "),
    ],
)
def test_a_wrong_line_of_a_record_is_told_in_the_readers_language(lang: str, words: str, tmp_path: Path) -> None:
    record = tmp_path / "game.jsonl"
    header = json.dumps({"game": "iglu-iglu", "players": RULES.seats(2)})
    record.write_text(f"{header}\nmelt c4\n", encoding="utf-8")
    refusal = played().check(RULES.parse("melt c4")).words.of(lang)
    with pytest.raises(BadDataError, match=words) as caught:
        follow.states_of(str(record), lang)
    assert refusal in str(caught.value)


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("en", "No rulebook mentions 'xyzzy'."),
        ("fr", "Aucune règle ne parle de 'xyzzy'."),
        ("de", "Kein Regelheft spricht von 'xyzzy'."),
    ],
)
def test_rule_says_in_the_readers_language_that_there_is_none(
    lang: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["rule", "xyzzy", "--lang", lang]) == 1
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("lang", LANGUAGES)
def test_score_says_what_each_line_is_for(lang: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state = played(*PLACED)
    assert run(["score", "--position", file(tmp_path / "board.json", state), "--lang", lang]) == 0
    told = capsys.readouterr().out
    words = {"en": "Trophies: 0 fish", "fr": "Tableau de chasse\u00a0: 0 poisson", "de": "Trophäen: 0 Fische"}
    assert words[lang] in told and "[IGLU-V.A.1]" in told


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("en", "The board was not found in the photo."),
        ("fr", "Le plateau n’a pas été trouvé sur la photo."),
        ("de", "Der Spielplan ist auf dem Foto nicht zu finden."),
    ],
)
def test_a_photo_without_a_board_is_told_in_the_readers_language(
    lang: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = SimpleNamespace(found=False, note=NO_BOARD)
    follow._say(Path("1.jpg"), TrackingResult("moving"), seen, played(), lang)  # type: ignore[arg-type]
    assert capsys.readouterr().out == f"1.jpg: {words}\n"
