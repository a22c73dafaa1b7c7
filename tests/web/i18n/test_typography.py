"""The languages as they are set and as they speak to people: one form of address, and each language's own marks."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from babel.messages.pofile import read_po

from companion.rules.i18n import CATALOGUES, ENGLISH, FRENCH

RULES = Path(__file__).resolve().parents[3] / "companion" / "rules"


def texts(value: Any) -> Iterator[str]:
    """Yield the texts of a clause file; headings and titles are those printed in the rulebook."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            if name not in ("heading", "rulebooks"):
                yield from texts(inner)


def said(language: str) -> list[str]:
    """Return every text of a language: the catalogue, the clause files, the guided games."""
    english = language == ENGLISH  # which any other language's catalogue has as the ids
    with (CATALOGUES / (FRENCH if english else language) / "LC_MESSAGES" / "messages.po").open("rb") as file:
        catalogue = [message.id if english else message.string for message in read_po(file) if message.id]
    whole = [one for string in catalogue for one in ((string,) if isinstance(string, str) else string)]
    for path in sorted((RULES / "clauses").glob(f"*.{language}.toml")):
        whole += texts(tomllib.loads(path.read_text("utf-8")))
    for path in sorted(RULES.glob("*/learn.json")):
        json.loads(path.read_text("utf-8"), object_hook=lambda found: whole.append(found.get(language, "")) or found)
    assert len(whole) > 3000
    return whole


VOUS = r"\b(?i:vous|votre|vos|vôtres?|(?!assez\b|chez\b)\w+ez)\b"  # nobody and no table is "vous" (web/i18n/README.md)
BREAKING = r" [:;!?»](?:\W|$)|«[^\u00a0]"  # a line would break before the mark
NOT_OUR_WORDS_FR = (
    r"\b(?i:joueu(?:r|se)s?|capuchons?|perles?)\b"  # nobody is a joueur; a cap, a bead have one word each
)
NOT_OUR_WORDS_DE = r"\b(?:Spieler(?:in(?:nen)?|n)?|Sie (?:können|müssen|haben)|Kugeln?)\b"
STRAIGHT = r"(?:(?<=[^\W\d_])|(?<=\}))'(?=[^\W\d_])"


@pytest.mark.parametrize(
    ("language", "wrong"),
    [
        *(("en", STRAIGHT), ("fr", VOUS), ("fr", BREAKING), ("fr", STRAIGHT), ("de", STRAIGHT)),
        *(("fr", NOT_OUR_WORDS_FR), ("de", NOT_OUR_WORDS_DE)),
        ("de", r'"\w[^"]*"|“[^„]*“|„[^“]*„'),
    ],
    ids=[
        *("apostrophe-en", "vous", "breaking-space", "apostrophe-fr", "apostrophe-de"),
        *("words-fr", "words-de", "quotes-de"),
    ],
)
def test_a_text_is_set_and_spoken_as_its_language_is(language: str, wrong: str) -> None:
    assert [text for text in said(language) if re.search(wrong, text)] == []
