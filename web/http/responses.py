"""Answers of the API: what was done, or one sentence in every language why it was not.

The form of every refusal: ``{"ok": false, "error": {"code", "en", "fr", …, "clauses"}}``, with every language that is
known by its code.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, Literal, TypedDict

from babel import localedata
from flask import Response
from flask_babel import force_locale, gettext
from msgspec import Meta

from companion.rules.i18n import languages as known

Sentence = Annotated[Mapping[str, str], Meta(extra_json_schema={"required": ["en", "fr"]})]
"""A sentence in every language, by its code."""


class RefusalReason(TypedDict):
    """A code, one sentence in every language (further ones stand beside these two), and the clauses it rests on."""

    code: str
    en: str
    fr: str
    clauses: list[str]


class Refusal(TypedDict):
    """The form of every refusal."""

    ok: Literal[False]
    error: RefusalReason


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


def short_memory() -> RefusedError:
    """Return the refusal of what there is no memory for now; whether something was done already it does not say."""
    return RefusedError(
        503, "short-memory", "This machine is short of memory just now. Try again in a moment.", wait_s=5
    )


def bad_field(name: str) -> RefusedError:
    """Return the refusal of a field of a JSON body, or of a query parameter."""
    return RefusedError(400, "bad-field", "The field %(field)s is missing or is not what it should be.", field=name)
