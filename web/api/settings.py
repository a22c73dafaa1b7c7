"""The API of the settings: what the host may change on the page, each with the question that it answers."""

from __future__ import annotations

import re
from typing import Literal, TypedDict

from flask import Blueprint, Response
from flask_babel import force_locale, gettext

from companion.ports import BadDataError, DeviceError
from companion.rules import games
from companion.rules.core import JSON
from companion.settings import SETTINGS, Setting, Value
from web.api.devices import said_by_device
from web.http.openapi import documented
from web.http.responses import Sentence, bad_field, both, json_response, languages, mark, refusal
from web.http.sessions import companion

views = Blueprint("api_settings", __name__, url_prefix="/api/settings")
rights_views = Blueprint("api_rights", __name__)

KNOWN = {setting.name: setting for setting in SETTINGS}
OWN_NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,251})")
CAMERA = "camera_source"
"""The house changes this one itself, for the camera is changed with it."""


SettingKind = Literal["switch", "number", "lines", "text"]


class SettingForm(TypedDict):
    """A setting: its question, how that is asked, value and limits, and whether it waits for a new start."""

    name: str
    words: Sentence
    kind: SettingKind
    value: bool | int | str | tuple[str, ...]
    low: int
    high: int
    restart: bool


class AllSettings(TypedDict):
    """Every setting; ``note`` says what of them could not be read."""

    ok: Literal[True]
    settings: list[SettingForm]
    note: str


class RightsTable(TypedDict):
    """Who may do what, and how many days pictures are kept."""

    players_move: bool
    players_pictures: bool
    watchers_pictures: bool
    joining: bool
    keep_pictures_days: int


class RightsForm(TypedDict):
    """What everybody at the table may know of the settings."""

    ok: Literal[True]
    rights: RightsTable


def kind(setting: Setting) -> SettingKind:
    """Return how the page asks: ``switch``, ``number``, ``lines`` or ``text``."""
    kinds: tuple[tuple[type, SettingKind], ...] = ((bool, "switch"), (int, "number"), (tuple, "lines"))
    return next((name for what, name in kinds if isinstance(setting.default, what)), "text")


def _form() -> AllSettings:
    settings = companion().settings
    values = settings.all()
    found: list[SettingForm] = [
        {
            "name": setting.name,
            "words": both(setting.words, game=games()[0]),
            "kind": kind(setting),
            "value": values[setting.name],
            "low": setting.low,
            "high": setting.high,
            "restart": setting.restart,
        }
        for setting in SETTINGS
    ]
    return {"ok": True, "settings": found, "note": settings.note}


RULES = {
    "switch": mark("this is yes or no."),
    "number": mark("this is a number from %(low)s to %(high)s."),
    "lines": mark("this is a list of at most 50 short lines."),
    "text": mark("this is one line of at most 500 characters."),
}
SENTENCE = mark("%(question)s: %(rule)s")
NAME_RULE = mark("write a name as in games.example, without http:// and without a port.")


def _wrong(setting: Setting, rule: str) -> Response:
    said = {}
    for language in languages():
        with force_locale(language):
            question = gettext(setting.words, game=games()[0]).rstrip("?: \u202f\u00a0")
            said[language] = gettext(
                SENTENCE, question=question, rule=gettext(rule, low=setting.low, high=setting.high)
            )
    return refusal(400, "bad-setting", said, setting=setting.name)


@rights_views.get("/api/rights")
@documented("player")
def rights() -> RightsForm:
    """Answer what the host has set of who may do what, and how many days pictures are kept."""
    settings = companion().settings
    return {
        "ok": True,
        "rights": {
            "players_move": bool(settings["players_move"]),
            "players_pictures": bool(settings["players_pictures"]),
            "watchers_pictures": bool(settings["watchers_pictures"]),
            "joining": bool(settings["joining"]),
            "keep_pictures_days": settings.number("keep_pictures_days"),
        },
    }


@views.get("")
@documented("host")
def settings() -> AllSettings:
    """Answer the host with every setting: its question (an English message id), kind, value and limits."""
    return _form()


@views.post("")
@documented("host", answer=AllSettings)
def change_settings(body: dict[str, JSON]) -> Response:
    """Change settings: ``{name: value, …}``, all or none; only the host may. Answers as the GET does."""
    changes: dict[str, Value] = {}
    for name, value in body.items():
        setting = KNOWN.get(name)
        if setting is None:
            raise bad_field(name[:40])
        try:
            changes[name] = setting.checked(value)
        except BadDataError:
            return _wrong(setting, RULES[kind(setting)])
    names = changes.get("host_names", ())
    if isinstance(names, tuple) and not all(OWN_NAME.fullmatch(name) for name in names):
        return _wrong(KNOWN["host_names"], NAME_RULE)
    source = changes.pop(CAMERA, None)
    if isinstance(source, str) and source != companion().settings.text(CAMERA):
        try:
            companion().camera_service.choose(source)
        except (BadDataError, DeviceError) as error:
            raise said_by_device(error) from None
    companion().settings.set(changes)
    return json_response(_form())
