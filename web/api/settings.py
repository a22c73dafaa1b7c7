"""The API of the settings: what the host may change on the page, each with the question that it answers."""

from __future__ import annotations

import re
from typing import Any

from flask import Blueprint, Response
from flask_babel import force_locale, gettext

from companion.ports import BadDataError, DeviceError
from companion.settings import SETTINGS, Setting, Value
from web.api.devices import said_by_device
from web.http.openapi import FLAG, OBJECT, TEXT, WHOLE, choice, documented, fields, listed
from web.http.responses import bad_field, both, json_body, json_response, languages, mark, refusal
from web.http.sessions import companion, host, member

views = Blueprint("api_settings", __name__, url_prefix="/api/settings")
rights_views = Blueprint("api_rights", __name__)

KNOWN = {setting.name: setting for setting in SETTINGS}
OWN_NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,251})")
ALL_SETTINGS = fields(ok=choice(True), settings=listed(OBJECT), note=TEXT)
CAMERA = "camera_source"
"""The house changes this one itself, for the camera is changed with it."""


def kind(setting: Setting) -> str:
    """Return how the page asks: ``switch``, ``number``, ``lines`` or ``text``."""
    for what, name in ((bool, "switch"), (int, "number"), (tuple, "lines")):
        if isinstance(setting.default, what):
            return name
    return "text"


def _form() -> dict[str, Any]:
    settings = companion().settings
    values = settings.all()
    found = [
        {
            "name": setting.name,
            "words": both(setting.words),
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
            question = gettext(setting.words).rstrip("?: \u202f\u00a0")
            said[language] = gettext(
                SENTENCE, question=question, rule=gettext(rule, low=setting.low, high=setting.high)
            )
    return refusal(400, "bad-setting", said, setting=setting.name)


RIGHTS = ("players_move", "players_pictures", "watchers_pictures", "joining")
"""The settings that say who may do what; everybody at the table may know them."""


@rights_views.get("/api/rights")
@documented(
    "player",
    answer=fields(ok=choice(True), rights=fields(**dict.fromkeys(RIGHTS, FLAG), keep_pictures_days=WHOLE)),
)
def rights() -> Response:
    """Answer what the host has set of who may do what, and how many days pictures are kept."""
    member()
    settings = companion().settings
    rights: dict[str, Value] = {name: settings[name] for name in (*RIGHTS, "keep_pictures_days")}
    return json_response({"ok": True, "rights": rights})


@views.get("")
@documented("host", answer=ALL_SETTINGS)
def settings() -> Response:
    """Answer the host with every setting: its question (an English message id), kind, value and limits."""
    host()
    return json_response(_form())


@views.post("")
@documented("host", body=OBJECT, answer=ALL_SETTINGS)
def change_settings() -> Response:
    """Change settings: ``{name: value, …}``, all or none; only the host may. Answers as the GET does."""
    host()
    changes: dict[str, Value] = {}
    for name, value in json_body().items():
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
            companion().use_camera(source)
        except (BadDataError, DeviceError) as error:
            raise said_by_device(error) from None
    companion().settings.set(changes)
    return json_response(_form())
