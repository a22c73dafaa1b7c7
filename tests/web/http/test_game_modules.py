"""The games' own modules of the page: found by themselves, and nothing outside them names a game."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from companion.rules import game, games
from companion.rules.i18n import languages
from companion.rules.rulebook import rulebook
from tests.web.assembly import SmallCompanion
from web.http.assets import COMMENT, FOLDER, Assets, lean
from web.http.game_modules import REGISTRY

WEB = FOLDER.parent
MINIMAL = 'export default { seats: { least: 2, most: 2, colours: ["green", "red"] } };\n'


def told_of(game_id: str) -> re.Pattern[str]:
    """Return what would name a game: its id in any spelling, its name, its clauses, its options."""
    spelt = game_id.replace("-", "[-_ ]?")
    name = re.escape(rulebook(game_id).name.en)
    clauses = {clause.partition("-")[0] for clause in rulebook(game_id).clauses}
    options = {option.name.partition(".")[0] for option in game(game_id).options}
    marks = [rf"\b(?:{'|'.join(clauses)})\b(?=[-\"'`]|:)", rf"[\"'`](?:{'|'.join(sorted(options))})(?=[.\"'`])"]
    return re.compile("|".join([rf"(?i:{spelt}|{name})", *marks]))


def code_of(path: Path) -> str:
    """Return a source of the page without its comments."""
    text = lean(path.name, path.read_bytes()).decode()
    return re.sub(r"(?<!:)//[^\n\"'`]*$|\{#.*?#\}|<!--.*?-->", "", text, flags=re.MULTILINE | re.DOTALL)


def test_no_source_of_the_page_names_a_game_but_its_own() -> None:
    looked = 0
    for path in sorted(one for one in WEB.rglob("*") if one.suffix in {".js", ".css", ".html", ".svg"}):
        place = path.relative_to(FOLDER / "js" / "games").parts[0] if (FOLDER / "js" / "games") in path.parents else ""
        own = place.removesuffix(".js")
        for game_id in games():
            if game_id != own:
                found = told_of(game_id).search(code_of(path))
                assert not found, f"{path.relative_to(WEB)} names {game_id}: {found and found[0]}"
        looked += 1
    assert looked > 70


def test_what_names_a_game_is_found() -> None:
    """The test above looks for what used to stand in the page."""
    for text in (
        '"igloo-pop"',
        "iglooPop",
        "Igloo Pop",
        'POP: "x"',
        '["POP-4.5"]',
        '{ "pop.cards_end": 1 }',
        "igloo_pop",
    ):
        assert told_of("igloo-pop").search(text), text
    for text in ("igloo", ".pop()", "population", 'href="css/ice.css"', "--ice-deep"):
        assert not told_of("igloo-pop").search(text), text
        assert not told_of("ice-team").search(text), text
    assert COMMENT.sub("", "// Igloo Pop\nx\n") == "x\n"


def folder_with(tmp_path: Path, **modules: str) -> Path:
    for name, text in {"main": 'import { GAMES } from "./registry.js";\n', **modules}.items():
        path = tmp_path / "js" / f"{name.replace('__', '/').replace('_', '-')}.js"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_the_registry_imports_what_is_offered_in_its_order(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = folder_with(tmp_path, games__ice_team=MINIMAL, games__arctic__game=MINIMAL, games__iglu_iglu=MINIMAL)
    with caplog.at_level(logging.WARNING):
        files = Assets(folder, ("ice-team", "igloo-pop", "arctic"))
    assert [record.args for record in caplog.records] == [("igloo-pop",)]
    text = files.text(REGISTRY)
    assert re.findall(r'from "(.*?)"', text) == ["./games/ice-team.js", "./games/arctic/game.js"]
    entries = [
        json.loads(re.sub(r"\.\.\.game\d, ", "", one)) for one in re.findall(r"^  (\{.*\}),$", text, re.MULTILINE)
    ]
    assert [one["id"] for one in entries] == ["ice-team", "arctic"]
    assert entries[0] == {"id": "ice-team", "name": dict.fromkeys(languages(), "Ice Team"), "clauses": "ICE"}
    # What is offered is fetched with the first modules; what is not offered is not.
    assert files.modules("js/main.js") == ["js/games/arctic/game.js", "js/games/ice-team.js", "js/main.js", REGISTRY]
    assert files.games() == ["arctic", "ice-team", "iglu-iglu"]


def test_another_choice_of_games_has_another_stamp(tmp_path: Path) -> None:
    """A browser that keeps the registry of yesterday asks for the one of today."""
    folder = folder_with(tmp_path, games__ice_team=MINIMAL)
    assert Assets(folder, ("ice-team",)).stamp != Assets(folder).stamp
    assert "GAMES = [\n];" in Assets(folder).text(REGISTRY)


def test_every_game_has_a_module_and_parts_that_are_there(app: Flask) -> None:
    files: Assets = app.extensions["companion-assets"]
    assert tuple(re.findall(r'"id": "([\w-]+)"', files.text(REGISTRY))) == games()
    for game_id in games():
        for part, module in files.parts(game_id).items():
            assert "export default " in files.text(module), (game_id, part)
            # Parts come when they are needed, not before.
            assert module not in files.modules("js/main.js"), (game_id, part)


def test_a_round_of_an_open_game_is_fetched_with_the_page(
    guest: FlaskClient, companion: SmallCompanion, app: Flask
) -> None:
    files: Assets = app.extensions["companion-assets"]
    own = files.url(files.parts("igloo-pop")["play"])
    preload = f'<link rel="modulepreload" href="{own}">'
    assert preload not in guest.get("/").text
    companion.open_match()
    assert preload in guest.get("/").text


def test_a_part_of_a_game_has_its_words(guest: FlaskClient) -> None:
    page = guest.get("/", headers={"Accept-Language": "fr"})
    urls = json.loads(re.search(r'id="page">(.*?)</script>', page.text)[1])["words"]
    assert "Has everybody stopped?" in guest.get(urls["game-play"]).json["words"]
    assert "Where each animal’s token stands" in guest.get(urls["game-sheet"]).json["words"]
    assert "Where each animal’s token stands" not in guest.get(urls["main"]).json["words"]
