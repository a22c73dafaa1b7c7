"""Pictures of rulings: `referee --svg`, one in the documents, and what else decided is dotted, in all four games."""

from __future__ import annotations

import json
import re
from colorsys import rgb_to_hls
from pathlib import Path
from random import Random
from typing import Any
from xml.etree import ElementTree

import pytest

from companion.cli import referee as referee_command
from companion.cli import run
from companion.rules import game, games
from companion.rules.core import CHANCE, State
from companion.rules.drawing import COLOURS, PALETTE, named, picture
from companion.rules.record import read_file

HERE = Path(__file__).parent
DOCS = HERE.parents[1] / "docs"
POP = HERE / "igloo_pop" / "playthrough.jsonl"
SVG = "{http://www.w3.org/2000/svg}"


def root_of(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text)  # noqa: S314 - drawn by ourselves


def classes(root: ElementTree.Element) -> list[str]:
    return [element.get("class", "") for element in root.iter()]


def late(name: str, moves: int = 60) -> State[Any]:
    """Return a position of a game in the middle of it, with most of what can lie there."""
    played, rng = game(name), Random(3)
    state = played.start(played.seats(played.players[-1]))
    for _ in range(moves):
        choices = [] if state.to_move == CHANCE else list(state.moves())
        if state.to_move != CHANCE and not choices:
            break
        state = state.after(state.chance(rng) if state.to_move == CHANCE else rng.choice(choices))
    return state


def told(root: ElementTree.Element) -> str:
    return root.findtext(f"{SVG}desc") or ""


@pytest.mark.parametrize("name", games(examples=True))
def test_every_game_draws_its_positions_and_moves(name: str) -> None:
    played = game(name)
    state = played.start(played.seats(played.players[0]))
    assert told(root_of(picture(state))) == ""
    move = next(state.moves())
    text = picture(state, move, "fr")
    assert re.search(r"</title>\s*<defs>", text), "the page looks for them there"
    drawn = root_of(text)
    assert told(drawn).startswith(f"{move}: permis ") and "legal" in classes(drawn)


@pytest.mark.parametrize("name", games(examples=True))
def test_all_that_stands_in_a_picture_has_a_shadow_and_is_painted_by_name(name: str) -> None:
    text = picture(late(name))
    root = root_of(text)
    parts = {one.get("id", ""): one for one in root.iter() if one.get("id")}
    assert {*re.findall(r'href="#([^"]+)"', text), *re.findall(r"url\(#([^)]+)\)", text)} <= parts.keys()

    def shaded(element: ElementTree.Element) -> bool:
        """Return whether an element, or what it uses, has a shadow."""
        used = [parts[one.get("href", "")[1:]] for one in element.iter() if one.tag == f"{SVG}use"]
        return "shadow" in classes(element) or any(shaded(one) for one in used)

    defined = {id(one) for part in root.iter(f"{SVG}defs") for one in part.iter()}
    drawn = [one for one in root.iter() if id(one) not in defined]
    pieces = [one for one in drawn if one.tag == f"{SVG}g" and one.get("class") and one.get("transform")]
    pieces += [one for one in drawn if one.tag == f"{SVG}g" and one.get("class") == "floe"]
    floes = [parts[name] for name in parts if name.endswith(("-floe", "-pack"))]
    assert pieces + floes, "there is something to look at"
    plain = {one.get("class") for one in pieces if not shaded(one)}
    assert plain <= {"footprint"}, "the sign of who begins lies flat"
    assert all(shaded(one) for one in floes)
    # No paper is white of itself: by night the page has other values for the same names.
    papers = [one.get("fill", "") for one in drawn if one.tag in {f"{SVG}rect", f"{SVG}polygon", f"{SVG}ellipse"}]
    assert papers and not [fill for fill in papers if re.fullmatch(r"#f[\da-f]{2}(f[\da-f]{3})?|white", fill)]
    painted = re.findall(r"var\(--([\w-]+),([^)]+)\)", text)
    assert painted and set(painted) <= PALETTE.items()


HUES = {"red": (345, 370), "yellow": (40, 65), "green": (100, 145), "blue": (200, 245), "violet": (255, 290)}


@pytest.mark.parametrize("name", HUES)
def test_a_colour_is_what_it_is_called(name: str) -> None:
    hue, light, full = rgb_to_hls(*(int(COLOURS[name][at : at + 2], 16) / 255 for at in (1, 3, 5)))
    low, high = HUES[name]
    assert low <= hue * 360 <= high or low <= hue * 360 + 360 <= high
    assert 0.25 < light < 0.65 and full > 0.35


@pytest.mark.parametrize("name", [name for name in games(examples=True) if game(name).colours])
def test_what_players_have_is_painted_with_the_colours_of_the_table(name: str) -> None:
    text = picture(late(name, 12))
    assert {colour for colour in game(name).colours if f"var(--{colour},{COLOURS[colour]})" not in text} == set()


def test_the_picture_in_the_documents_is_what_the_command_draws(tmp_path: Path) -> None:
    drawn = tmp_path / "ruling.svg"
    assert run(["referee", str(DOCS / "ruling.jsonl"), "--svg", str(drawn)]) == 1
    assert drawn.read_text(encoding="utf-8") == (DOCS / "ruling.svg").read_text(encoding="utf-8")


def test_the_water_within_reach_of_a_kayak_is_dotted() -> None:
    """IGLU-2.A.4: b8 c8 c7 d7 d6 d5 d4 e4 d3 e3 hang together; behind the bear on e6 lies f6, which does not."""
    root = root_of((DOCS / "ruling.svg").read_text(encoding="utf-8"))
    assert classes(root).count("reason") == 2 * 10
    assert classes(root).count("mark") == 2 * 2 and "refused" in classes(root)
    assert "Only a bear’s square connects the water" in told(root)


def test_the_power_that_a_step_is_without_is_dotted() -> None:
    form: dict[str, Any] = {
        "game": "arctic",
        "players": [{"name": "Ann", "hand": ["fox-5-moose"]}, {"name": "Bob", "powers": ["fox"]}],
        "powers": {"fox": 11},
        "to_move": 1,
    }
    state = game("arctic").from_position(form)
    assert classes(root_of(picture(state, game("arctic").parse("place fox-5-moose bottom")))).count("reason") == 2
    assert classes(root_of(picture(state, game("arctic").parse("place fox-5-moose")))).count("reason") == 0


def test_the_bear_that_must_move_on_is_dotted() -> None:
    """ICE-2.5: after a paw the same bear moves on; where another one is moved instead, it is shown."""
    ice = game("ice-team")
    replay = read_file(HERE / "ice_team" / "playthrough.jsonl")
    assert replay.record is not None
    states = [replay.at(number) for number in range(len(replay.record.moves))]
    state = next(s for s in states if s.phase == "act" and s.again and len(set(s.bears[4 * s.seat :][:4])) > 1)
    due = state.bears[state.bear]
    other = next(space for space in state.bears[4 * state.seat :][:4] if space not in (due, state.table.layout.village))
    here, names = state.table.layout.names[other], state.table.layout.names
    move = ice.parse(f"walk {here} {next(name for name in names if name not in (here, names[due]))}")
    root = root_of(picture(state, move))
    assert state.check(move).facts["due"] == names[due]
    assert classes(root).count("reason") == 2


def test_only_places_are_named() -> None:
    facts = {"square": "d4", "owners": ["red", "e5"], "points": 3, "again": "d4", "who": "red"}
    assert named(facts, {"d4", "e5", "f6"}) == ["d4", "e5"]


def test_a_folder_gets_a_picture_of_every_move(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = POP.read_text(encoding="utf-8").splitlines()[:14]
    record = tmp_path / "record.jsonl"
    record.write_text("\n".join([*lines, "pass orange", "place red card9 nowhere", "start"]), encoding="utf-8")
    folder = tmp_path / "pictures" / "new"
    assert run(["referee", str(record), "--svg", str(folder), "--lang", "fr", "--json"]) == 2
    rulings = [json.loads(line) for line in capsys.readouterr().out.splitlines()][:-1]
    moves = {f"line-{ruling['line']:04}.svg": ruling for ruling in rulings if ruling["status"] is not None}
    assert sorted(path.name for path in folder.iterdir()) == sorted(moves)
    for name, ruling in moves.items():
        words = told(root_of((folder / name).read_text(encoding="utf-8")))
        assert words.startswith(f"{ruling['move']}: {'permis' if ruling['legal'] else 'refusé'} {ruling['fr'][:30]}")


def test_without_a_refused_move_the_last_one_is_drawn(tmp_path: Path) -> None:
    drawn = tmp_path / "last.svg"
    assert run(["referee", str(POP), "--svg", str(drawn)]) == 0
    replay = read_file(POP)
    assert replay.record is not None
    last = len(replay.record.moves)
    before = replay.record.prefix(last - 1).replay().state
    assert before is not None
    assert drawn.read_text(encoding="utf-8") == picture(before, game("igloo-pop").parse(replay.record.moves[-1]))


def test_a_folder_is_not_filled_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(referee_command, "MOST_PICTURES", 3)
    assert run(["referee", str(POP), "--svg", str(tmp_path / "few")]) == 0
    assert [path.name for path in sorted((tmp_path / "few").iterdir())] == [f"line-000{n}.svg" for n in (2, 3, 4)]
    moves = len(POP.read_text(encoding="utf-8").splitlines()) - 1
    assert f"3 pictures at most; moves without one: {moves - 3}" in capsys.readouterr().err


def test_what_cannot_be_drawn_is_said_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    header = tmp_path / "header.jsonl"
    header.write_text(POP.read_text(encoding="utf-8").splitlines()[0] + "\n", encoding="utf-8")
    assert run(["referee", str(header), "--svg", str(tmp_path / "none.svg")]) == 0
    assert capsys.readouterr().err == "companion: There is no move to draw.\n"
    assert not (tmp_path / "none.svg").exists()
    assert run(["referee", str(POP), "--svg", str(tmp_path / "gone" / "a.svg")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert run(["referee", str(POP), "--svg", str(header)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


# --- explain ----------------------------------------------------------------------------------------------------------


def two_positions(tmp_path: Path, *, reached: bool) -> list[str]:
    """Return files of two positions of Igloo Pop, between which red placed an igloo, or a card changed by itself."""
    pop = game("igloo-pop")
    state = pop.start(
        [{"name": "Ann", "colour": "red"}, {"name": "Bob", "colour": "blue"}],
        setup={"cards": ["2", "3", "4", "5", "6", "7", "8", "9", "10"]},
    ).play(pop.parse("start"))
    after = state.play(pop.parse("place red card2")).position()
    if not reached:
        after["places"]["card5"] = {"ground": "13", "things": []}
    for name, position in (("before", state.position()), ("after", after)):
        (tmp_path / f"{name}.json").write_text(json.dumps(position), encoding="utf-8")
    return ["igloo-pop", str(tmp_path / "before.json"), str(tmp_path / "after.json")]


def test_explain_draws_the_turn_step_by_step(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = two_positions(tmp_path, reached=True)
    assert run(["explain", *files, "--json", "--svg", str(tmp_path / "steps")]) == 0
    (turn, *_) = json.loads(capsys.readouterr().out)["turns"]
    drawn = sorted((tmp_path / "steps").iterdir())
    assert [path.name for path in drawn] == [f"step-{n:02}.svg" for n in range(1, len(turn) + 1)]
    for path, move in zip(drawn, turn, strict=True):
        assert told(root_of(path.read_text(encoding="utf-8"))).startswith(f"{move}: legal ")
    assert run(["explain", *files, "--svg", str(tmp_path / "last.svg")]) == 0
    assert (tmp_path / "last.svg").read_text(encoding="utf-8") == drawn[-1].read_text(encoding="utf-8")


def test_explain_draws_what_stands_in_the_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = two_positions(tmp_path, reached=False)
    assert run(["explain", *files, "--json", "--lang", "fr", "--svg", str(tmp_path / "no.svg")]) == 1
    found = json.loads(capsys.readouterr().out)
    root = root_of((tmp_path / "no.svg").read_text(encoding="utf-8"))
    assert told(root).startswith(f"{found['facts']['refused'][0]}: refusé ") and "refused" in classes(root)
    assert found["clauses"][0] in told(root)


@pytest.mark.parametrize(("game_id", "colours"), [("ice-team", ("green", "red")), ("igloo-pop", ("green", "blue"))])
def test_who_gave_no_name_is_called_by_the_colour_in_the_readers_language(
    game_id: str, colours: tuple[str, str]
) -> None:
    names = (colours[0].capitalize(), "Bleuenn")
    players = [{"name": name, "colour": colour} for name, colour in zip(names, colours, strict=True)]
    state = game(game_id).start(players)
    for lang, name in (("en", "Green"), ("fr", "Vert"), ("de", "Grün")):
        drawn = picture(state, lang=lang)
        assert f">{name}" in drawn and ">Bleuenn" in drawn
        assert lang == "en" or "Green" not in drawn
