"""Answers of the API: what was done, or one sentence in every language why it was not.

The form of every refusal: ``{"ok": false, "error": {"code", "en", "fr", …, "clauses"}}``, with every language that is
known by its code.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from babel import localedata
from flask import Response, request
from flask_babel import force_locale, gettext
from werkzeug.exceptions import BadRequest

from companion.rules.i18n import languages as known

MAX_JSON_BYTES = 64 * 1024
MAX_JSON_DEPTH = 12
MAX_PHOTO_MB = 15
MAX_PHOTO_BYTES = MAX_PHOTO_MB * 1024 * 1024


class RefusedError(Exception):
    """A request that is refused; ``message`` is an English message id, answered in every language."""

    def __init__(self, status: int, code: str, message: str, **facts: object) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.facts = status, code, message, facts


def refused_as(refusals: Sequence[Callable[[], RefusedError]], code: str) -> RefusedError:
    """Return the refusal of that code from a table of them, each made when it is needed."""
    return next(refused for make in refusals if (refused := make()).code == code)


def languages() -> tuple[str, ...]:
    """Return the languages of sentences in answers, English first: those with a catalogue or clause files.

    One whose code Babel does not know cannot be spoken here.
    """
    return _spoken(known())


@cache
def _spoken(codes: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(code for code in codes if localedata.exists(code))


def mark(message: str) -> str:
    """Return a message id as it is, marked for the catalogue."""
    return message


def both(message: str, **facts: object) -> dict[str, str]:
    """Return a message id in every language, with its facts filled in."""
    said = {}
    for language in languages():
        with force_locale(language):
            said[language] = gettext(message, **facts)
    return said


def json_response(body: Mapping[str, Any], status: int = 200) -> Response:
    """Return a JSON answer that no cache keeps."""
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    response = Response(text, status, mimetype="application/json")
    response.headers["Cache-Control"] = "no-store"
    return response


def refusal(status: int, code: str, said: Mapping[str, str], clauses: Sequence[str] = (), **more: object) -> Response:
    """Return a refusal: ``said`` is the sentence by language."""
    return json_response({"ok": False, "error": {"code": code, **said, "clauses": list(clauses)}, **more}, status)


def json_body() -> dict[str, Any]:
    """Return the request's body, a JSON object.

    :raises RefusedError: when it is none, too large (413) or nested too deeply.
    """
    if request.mimetype != "application/json":
        raise RefusedError(415, "not-json", "The body of this request must be JSON.")
    if (request.content_length or 0) > MAX_JSON_BYTES:
        raise RefusedError(413, "too-large", "This is more than can be taken in.")
    request.max_content_length = MAX_JSON_BYTES
    try:
        body = json.loads(request.get_data(cache=False))
    except (ValueError, RecursionError, BadRequest):
        raise RefusedError(400, "bad-json", "The body of this request must be JSON.") from None
    if not isinstance(body, dict) or _too_deep(body, MAX_JSON_DEPTH):
        raise RefusedError(400, "bad-json", "The body of this request must be JSON.")
    return body


def photo_body(*, needed: bool = True) -> bytes:
    """Return the request's body, a picture as it was sent.

    :raises RefusedError: when it is too large (413), or empty though a photo is ``needed``.
    """
    if (request.content_length or 0) > MAX_PHOTO_BYTES:
        raise RefusedError(
            413, "too-large", "This picture is too large: at most %(limit)s MB can be taken in.", limit=MAX_PHOTO_MB
        )
    request.max_content_length = MAX_PHOTO_BYTES
    data = request.get_data(cache=False)
    if needed and not data:
        raise RefusedError(400, "no-photo", "No photo was sent.")
    return data


def _too_deep(value: object, left: int) -> bool:
    if isinstance(value, dict):
        return left == 0 or any(_too_deep(inner, left - 1) for inner in value.values())
    if isinstance(value, list):
        return left == 0 or any(_too_deep(inner, left - 1) for inner in value)
    return False


def text_field(body: Mapping[str, Any], name: str, longest: int = 100, default: str | None = None) -> str:
    """Return a text of a JSON body.

    :raises RefusedError: when it is missing without a default, no text, or longer than ``longest``.
    """
    value = body.get(name, default)
    if not isinstance(value, str) or len(value) > longest or any(0xD800 <= ord(c) <= 0xDFFF for c in value):
        raise bad_field(name)
    return value


def bad_field(name: str) -> RefusedError:
    """Return the refusal of a field of a JSON body."""
    return RefusedError(400, "bad-field", "The field %(field)s is missing or is not what it should be.", field=name)
