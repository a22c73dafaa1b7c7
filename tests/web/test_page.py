"""The shell of the page, its parts, its weight, and its two languages."""

from __future__ import annotations

import ast
import gzip
import json
import posixpath
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from companion.lab.worlds.boards import players, record
from companion.night.answers import Role
from companion.rules.i18n import CATALOGUES
from tests.web.assembly import SmallCompanion
from web.i18n import catalogue

FIRST_VIEW_BYTES = 117_000
"""What lives at the table is told in all languages at once: each further language weighs some 300 bytes."""

SHIPPED = ("de", "fr")
"""The languages beside English that are complete; a further one may lack words, which are English then."""


def unpacked(page: Any) -> str:
    return gzip.decompress(page.data).decode()


def linked_at_once(page: Any) -> set[str]:
    """Return what a page links; a phone fetches the picture for its home screen when it puts it there."""
    return set(re.findall(r'(?<!rel="apple-touch-icon" )(?:src|href)="(/static/[^"]+)"', unpacked(page)))


@pytest.mark.parametrize("language", SHIPPED)
def test_the_first_view_is_light(guest: FlaskClient, language: str) -> None:
    """Everything that the browser fetches before the first drawing, as it goes over the wire."""
    accept = {"Accept-Encoding": "gzip", "Accept-Language": language}
    page = guest.get("/", headers=accept)
    linked = linked_at_once(page)
    linked.add(json.loads(re.search(r'id="page">(.*?)</script>', unpacked(page))[1])["words"]["main"])
    linked.add(next(path for path in linked if path.endswith("/icon.svg")).replace("icon.svg", "icons.svg"))
    linked |= {"/api/rules/igloo-pop/options", "/api/state"}
    answers = {path: guest.get(path, headers=accept) for path in linked}
    assert {answer.status_code for answer in answers.values()} == {200}
    headers = 400 * (len(answers) + 1)
    weight = len(page.data) + sum(len(answer.data) for answer in answers.values()) + headers
    assert weight < FIRST_VIEW_BYTES
    assert len(linked) > 15


@pytest.mark.parametrize("language", SHIPPED)
def test_the_referee_opened_directly_is_light_too(
    guest: FlaskClient, companion: SmallCompanion, app: Flask, language: str
) -> None:
    """With a game of Arctic on the table, whose picture is the largest, and its whole rulebook."""
    companion.do("open-match", {"game": "arctic", "players": players("arctic")})
    for text in record("arctic", 3)[:40]:
        companion.moves(text)
    accept = {"Accept-Encoding": "gzip", "Accept-Language": language}
    page = guest.get("/", headers=accept)
    words = json.loads(re.search(r'id="page">(.*?)</script>', unpacked(page))[1])["words"]
    linked = {
        *linked_at_once(page),
        words["main"],
        words["referee"],
        words["game-dispute"],
    }
    files = app.extensions["companion-assets"]
    linked |= {
        files.url(name) for name in ("icons.svg", *files.modules("js/referee.js", files.parts("arctic")["dispute"]))
    }
    linked |= {f"/api/rules/arctic?lang={language}", "/api/rules/arctic/options", f"/api/board?lang={language}"}
    answers = {path: guest.get(path, headers=accept) for path in linked}
    assert {answer.status_code for answer in answers.values()} == {200}
    state = app.extensions["companion-blocks"].block(app.extensions["companion-texts"].event(Role.SPECTATOR, None)[1])
    weight = len(page.data) + sum(len(answer.data) + 400 for answer in answers.values()) + len(state) + 400
    assert weight < FIRST_VIEW_BYTES


def test_parts_are_kept_for_ever_under_their_stamp(guest: FlaskClient, app: Flask) -> None:
    url = app.extensions["companion-assets"].url("css/ice.css")
    plain = guest.get(url, headers={"Accept-Encoding": "identity"})
    packed = guest.get(url, headers={"Accept-Encoding": "gzip"})
    assert gzip.decompress(packed.data) == plain.data
    assert "immutable" in packed.headers["Cache-Control"]
    assert packed.headers["Vary"] == "Accept-Encoding"
    assert guest.get(url.replace(app.extensions["companion-assets"].stamp, "0" * 12)).status_code == 404


def test_every_module_that_is_imported_is_announced(app: Flask) -> None:
    assets = app.extensions["companion-assets"]
    for name in assets.names(".js"):
        for wanted in others(name, assets.text(name)):
            assert assets.get(wanted) is not None, (name, wanted)
        assert set(assets.modules(name)) <= {*assets.names(".js")}


def others(name: str, code: str) -> set[str]:
    """Return the modules that a module imports, at once or later."""
    folder = posixpath.dirname(name)
    return {posixpath.normpath(f"{folder}/{other}") for other in re.findall(r'(?:from |import\()"(\.[^"]+)"', code)}


def test_no_module_of_the_page_imports_itself_through_others(app: Flask) -> None:
    """Neither at once nor later: what is fetched when it is needed never leads back to who fetches it."""
    assets = app.extensions["companion-assets"]
    left = {name: others(name, assets.text(name)) for name in assets.names(".js")}
    while free := [name for name, wanted in left.items() if not wanted & left.keys()]:
        for name in free:
            del left[name]
    assert not left


def test_every_icon_that_is_named_is_drawn(app: Flask) -> None:
    assets = app.extensions["companion-assets"]
    drawn = set(re.findall(r'<symbol id="([a-z]+)"', assets.get("icons.svg").plain.decode()))
    named = set()
    for name in assets.names(".js"):
        named |= set(re.findall(r'\bicon\("([a-z]+)"', assets.get(name).plain.decode()))
    assert named <= drawn
    assert len(named) > 10


def test_without_scripts_the_scores_are_there(guest: FlaskClient, companion: SmallCompanion) -> None:
    companion.open_match()
    text = guest.get("/").text
    table = text[text.index("<noscript>") : text.index("</noscript>")]
    assert re.search(r"Ann</th><td>10</td>", table)


def test_a_name_cannot_become_markup(host: FlaskClient, companion: SmallCompanion) -> None:
    name = "</script><img src=x onerror=alert(1)>"
    companion.open_match(players=[{"name": name, "colour": "red"}, {"name": "Bob", "colour": "blue"}])
    companion.settings.set({"house_name": "<b>Chez nous</b>"})
    text = host.get("/").text
    assert "<img src=x" not in text
    assert "<b>Chez" not in text


# --- languages ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "spoken"),
    [
        ("fr", "fr"),
        ("fr-CA,fr;q=0.9", "fr"),
        ("en-GB", "en"),
        ("de-AT", "de"),
        ("pl", "en"),
        ("pl,fr;q=0.5", "fr"),
        ("", "en"),
    ],
)
def test_the_browser_chooses_the_language(guest: FlaskClient, asked: str, spoken: str) -> None:
    assert f'<html lang="{spoken}">' in guest.get("/", headers={"Accept-Language": asked}).text


def test_a_person_chooses_otherwise(guest: FlaskClient) -> None:
    assert guest.post("/language", data={"language": "fr"}).status_code == 303
    text = guest.get("/join", headers={"Accept-Language": "en"}).text
    assert '<html lang="fr">' in text
    assert "Rejoindre la table" in text
    assert guest.post("/language", data={"language": "xx"}).status_code == 400
    assert '<html lang="fr">' in guest.get("/").text


@pytest.mark.parametrize("language", SHIPPED)
def test_no_word_is_missing_in_any_language(language: str) -> None:
    """If this fails: `python -m web.i18n.catalogue`, then translate what is empty in messages.po and run it again."""
    wanted = {(message.id, message.context) for message in catalogue.collect() if message.id}
    known = catalogue.read(language)
    assert len(wanted) > 200
    there = {(message.id, message.context) for message in known if message.id}
    assert wanted == there, "the catalogue is not up to date"
    for message in known:
        if not message.id:
            continue
        assert not message.fuzzy, message.id
        strings = message.string if isinstance(message.string, tuple) else (message.string,)
        assert all(strings), f"not translated: {message.id}"
        ids = message.id if isinstance(message.id, tuple) else (message.id,)
        fact = r"\{(\w+)" if message.context else r"%\(\w+\)s"
        facts = set(re.findall(fact, " ".join(ids)))
        assert all(set(re.findall(fact, string)) <= facts for string in strings), message.id
        assert set(re.findall(fact, strings[-1])) == facts, message.id
    assert not known.obsolete


@pytest.mark.parametrize("language", SHIPPED)
def test_the_compiled_words_are_those_of_the_text(language: str) -> None:
    _, binary = catalogue.files(language)
    assert binary.read_bytes() == catalogue.compiled(catalogue.read(language)), "run `python -m web.i18n.catalogue`"


def test_the_modules_get_their_words_with_plural_forms(guest: FlaskClient) -> None:
    page = guest.get("/", headers={"Accept-Language": "fr"})
    urls = json.loads(re.search(r'id="page">(.*?)</script>', page.text)[1])["words"]
    told = guest.get(urls["main"]).json
    assert told["words"]["%(n)s entry since you looked"] == [
        "%(n)s entrée depuis ton dernier regard",
        "%(n)s entrées depuis ton dernier regard",
    ]
    assert told["plural"][:3] == [0, 0, 1]
    # A part of a game has words of its own.
    assert guest.get(urls["game-play"]).json["words"]["%(n)s card"] == ["%(n)s carte", "%(n)s cartes"]
    english = guest.get("/", headers={"Accept-Language": "en"})
    told = guest.get(json.loads(re.search(r'id="page">(.*?)</script>', english.text)[1])["words"]["main"]).json
    assert told == {"words": {}, "plural": [int(n != 1) for n in range(200)]}


def test_a_page_fetches_the_words_that_it_needs_first(guest: FlaskClient) -> None:
    page = guest.get("/", headers={"Accept-Language": "fr"})
    urls = json.loads(re.search(r'id="page">(.*?)</script>', page.text)[1])["words"]
    words = {bundle: guest.get(url).json["words"] for bundle, url in urls.items()}
    assert set(words["main"]) & set(words["rest"]) == set()
    every = {
        one.id if isinstance(one.id, str) else one.id[0] for one in catalogue.read("fr") if one.id and not one.context
    }
    assert set(words["main"]) | set(words["rest"]) == every
    for room in ("referee", "score", "photo"):
        assert set() < set(words[room]) <= set(words["rest"]), room
    assert "the rulebook is silent" not in words["main"]
    assert len(words["referee"]) > 15
    training = guest.get("/training", headers={"Accept-Language": "fr"})
    urls = json.loads(re.search(r'id="page">(.*?)</script>', training.text)[1])["words"]
    assert len(guest.get(urls["main"]).json["words"]) > 40
    assert guest.get(urls["main"].replace("training.json", "nothing.json")).status_code == 404


def test_every_word_of_the_modules_is_collected(app: Flask) -> None:
    """Also those inside template strings, which an extractor passes over unless it is told not to."""
    assets = app.extensions["companion-assets"]
    wanted = {
        message.id if isinstance(message.id, str) else message.id[0]
        for message in catalogue.collect()
        if not message.context
    }
    asked = set()
    for name in assets.names(".js"):
        asked |= set(re.findall(r'\btn?\("((?:[^"\\]|\\.)+)"', assets.get(name).plain.decode()))
    assert asked - wanted == set()
    assert {"shared", "usual"} <= asked


def test_the_catalogue_brings_itself_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(CATALOGUES / "fr", tmp_path / "fr")
    monkeypatch.setattr(catalogue, "catalogue_folder", lambda: tmp_path)
    text, binary = catalogue.files("fr")
    committed = binary.read_bytes()
    assert catalogue.update("fr") == 0
    assert binary.read_bytes() == committed
    lines = text.read_text(encoding="utf-8")
    text.write_text(lines.replace('msgstr "Fermer"', 'msgstr ""'), encoding="utf-8")
    assert catalogue.update("fr") == 1
    assert catalogue.update("de") > 200


def test_what_devices_say_is_in_the_catalogue() -> None:
    said = set()
    for top in catalogue.DEVICES:
        for path in top.rglob("*.py"):
            said.update(catalogue.device_sentences(path))
    wanted = {message.id for message in catalogue.collect() if not message.context}
    assert said <= wanted
    assert "The igloo is not plugged in." in said


def test_refusals_use_sentences_that_the_catalogue_can_know() -> None:
    """A sentence put together at run time would have no translation."""
    for path in catalogue.WEB.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "RefusedError":
                message = node.args[2]
                constant = isinstance(message, ast.Constant) and isinstance(message.value, str)
                of_a_device = path.name in {"balance.py", "camera.py", "devices.py", "igloo.py"}
                by_device = of_a_device and "error" in ast.unparse(message)
                assert constant or by_device, ast.unparse(node)
