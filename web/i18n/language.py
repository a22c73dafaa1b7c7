"""Which language a person reads: the browser's, or the one chosen on the page; and the words of the modules.

A language is there when its files are (:mod:`companion.rules.i18n`); nothing here names one.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from functools import cache
from typing import Annotated, Any

from babel import Locale
from babel.messages.mofile import read_mo
from flask import Blueprint, Flask, Response, abort, current_app, redirect, request
from flask_babel import Babel, force_locale, get_translations
from msgspec import Meta

from companion.rules.i18n import ENGLISH, catalogue_folder
from web.http.assets import FOR_EVER, Assets, accepts_gzip
from web.http.requests import Query
from web.http.responses import RefusedError, languages
from web.http.sessions import companion

COOKIE = "language"
PLURALS_UP_TO = 200
"""Plural forms are sent as a table up to here; above, the last two digits decide as from 100 on."""


class InLanguage(Query, frozen=True):
    """Words are asked for in a language; without one, or in one that nobody speaks here, in the page's."""

    lang: Annotated[str, Meta(extra_json_schema={"maxLength": 35})] = ""

    @property
    def language(self) -> str:
        """Return the language to answer in."""
        return self.lang if self.lang in languages() else choose()


def choose() -> str:
    """Return the language of this request: the cookie's, else the best that the browser asks for, else English."""
    chosen, tags = request.cookies.get(COOKIE, ""), {tag(code): code for code in languages()}
    return chosen if chosen in tags.values() else tags.get(request.accept_languages.best_match(tags) or "", ENGLISH)


def tag(code: str) -> str:
    """Return the code of a language as browsers write it: ``pt-BR``."""
    return code.replace("_", "-")


def names() -> list[tuple[str, str]]:
    """Return the languages with the name that each gives itself."""
    named = [(code, Locale.parse(code).get_display_name(code) or code) for code in languages()]
    return [(code, name[:1].upper() + name[1:]) for code, name in named]


@cache
def _catalogue_file(language: str) -> Any:
    path = catalogue_folder() / language / "LC_MESSAGES" / "messages.mo"
    if not path.exists():  # a language that has clause files only
        return ()
    with path.open("rb") as file:
        return read_mo(file)


LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
ROOMS = {
    "referee": "referee",
    "score": "score",
    "photo": "photo-cards",
    "position": "referee-position",
    "photos": "camera-photos",
    "workshop": "workshop",
    "igloo": "calibration-run",
    "balance": "balance",
    "camera": "camera-setup",
    "devices": "workshop-devices",
    "people": "people",
    "rights": "rights",
    "backups": "backups",
    "learn": "learn",
    "album": "album",
    "lively": "lively",
    "own-phone": "own-phone",
}
"""The rooms beside the game, parts of them, and what comes behind the first drawing; the words of each are a bundle
of their own, with its module."""
PAGES = {
    "main": ("main",),
    "training": ("training",),
    "tv": ("main", "tv"),  # what comes later there knows the words of the table's page
    "offline-bundle": ("offline-bundle",),
}
"""The first modules of the pages, and of what is taken along from the training room."""
TOLD = "camera"
"""The bundle that has beside the words of its modules what the service tells of camera, board and following."""


def _files() -> Assets:
    files: Assets = current_app.extensions["companion-assets"]
    return files


@cache
def _later(files: Assets) -> dict[str, list[str]]:
    """Return the modules that are fetched when they are needed, by the bundle of their words: rooms, parts of games."""
    found = {room: [f"js/{module}.js"] for room, module in ROOMS.items()}
    for game_id in files.games():
        for part, module in files.parts(game_id).items():
            found.setdefault(f"game-{part}", []).append(module)
    return found


def bundles() -> list[str]:
    """Return the bundles of the table's page: its first words, those of rooms and parts of games, and what is left."""
    return ["main", *_later(_files()), "rest"]


@cache
def _words(language: str) -> dict[str, object]:
    """Return every message of a language: its text, or the list of its plural forms."""
    if language == ENGLISH:
        return {}
    found: dict[str, object] = {}
    for message in _catalogue_file(language):
        if message.context:  # a sentence of the tables, which the server says
            continue
        if isinstance(message.id, str):
            if message.id:
                found[message.id] = message.string
        else:
            found[message.id[0]] = list(message.string)
    return found


@cache
def _said_by(files: Assets, *modules: str) -> frozenset[str]:
    """Return the texts in quotes of modules and of all that they import at once: the ids of their words are in it."""
    return frozenset(
        text.replace('\\"', '"') for name in files.modules(*modules) for text in LITERAL.findall(files.text(name))
    )


def catalogue(language: str, bundle: str = "main") -> tuple[bytes, bytes, str]:
    """Return words for the page's modules as JSON: plain, packed, and a stamp of the contents.

    ``words`` maps a message id to its text, or to the list of its plural forms; ``plural`` gives the form's index
    for the numbers 0 … 200. English is the language of the message ids and needs no words.
    """
    told = companion().follow_service.sentences() if bundle == TOLD else frozenset()
    return _catalogue(_files(), language, bundle, told)


@cache
def _catalogue(files: Assets, language: str, bundle: str, told: frozenset[str]) -> tuple[bytes, bytes, str]:
    every, first, later = _words(language), _said_by(files, "js/main.js"), _later(files)
    if bundle == "rest":
        words = {one: text for one, text in every.items() if one not in first}
    else:
        pages = [f"js/{module}.js" for module in PAGES.get(bundle, ())]
        known = (_said_by(files, *later[bundle]) | told) - first if bundle in later else _said_by(files, *pages)
        words = {one: text for one, text in every.items() if one in known}
    if language == ENGLISH:
        plural = [int(n != 1) for n in range(PLURALS_UP_TO)]
    else:
        with force_locale(language):
            form = get_translations().plural
            plural = [int(form(n)) for n in range(PLURALS_UP_TO)]
    answer = {"words": words, "plural": plural if bundle in PAGES else None}
    data = json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()
    return data, gzip.compress(data, mtime=0), hashlib.sha256(data).hexdigest()[:12]


def catalogue_urls(language: str, *bundles: str) -> dict[str, str]:
    """Return the stamped addresses of a language's words, by bundle."""
    return {bundle: f"/words/{catalogue(language, bundle)[2]}/{language}.{bundle}.json" for bundle in bundles}


views = Blueprint("language", __name__)


@views.get("/words/<stamp>/<language>.<bundle>.json")
def words(stamp: str, language: str, bundle: str) -> Response:
    """Answer with words of a language."""
    if language not in languages() or bundle not in {*PAGES, *bundles()} or stamp != catalogue(language, bundle)[2]:
        abort(404)
    plain, packed, _ = catalogue(language, bundle)
    response = Response(packed if accepts_gzip() else plain, mimetype="application/json")
    response.headers["Cache-Control"] = FOR_EVER
    response.headers["Vary"] = "Accept-Encoding"
    if accepts_gzip():
        response.headers["Content-Encoding"] = "gzip"
    return response


@views.post("/language")
def choose_language() -> Response:
    """Remember the chosen language on this device and show the page in it."""
    language = request.form.get("language", "")
    if language not in languages():
        raise RefusedError(400, "no-language", "This language is not known here.")
    # Back into the room from which it was asked; an address is never taken from a form.
    room = "/training" if request.form.get("room") == "training" else "/"
    response = current_app.make_response(redirect(room, 303))
    response.set_cookie(COOKIE, language, max_age=365 * 24 * 3600, httponly=True, samesite="Lax")
    return response


def speak(app: Flask) -> None:
    """Give ``app`` its languages."""
    app.config["BABEL_TRANSLATION_DIRECTORIES"] = str(catalogue_folder())
    Babel(app, default_locale=ENGLISH, locale_selector=choose)
    app.register_blueprint(views)
