"""What somebody says lies in each place: read from CSV or JSON, in the one form of a board.

CSV: ``place,ground,kind,colour_or_value,count``, a thing a line, an empty kind for a place with nothing on it. JSON:
``{"places": {"d4": {"ground": "floe", "things": [{"kind", "colour" or "value", "count"}]}}}``; a missing place or null
is unknown.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from companion.ports import BadDataError
from vision.board.layout import Layout, LayoutError

LARGEST: Final = 4 * 1024 * 1024


class LabelError(BadDataError):
    """The labels cannot be read or do not fit the layout; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class Content:
    """What lies in one place: ``ground`` is a number of the layout's grounds, ``things`` (thing, count) sorted."""

    ground: int
    things: tuple[tuple[int, int], ...] = ()

    def count(self, thing: int) -> int:
        """Return how many of a thing lie here."""
        for number, count in self.things:
            if number == thing:
                return count
        return 0

    def to_json(self, layout: Layout) -> dict[str, Any]:
        """Return the place as in the one form of a board."""
        things = [{**layout.things[number].to_json(), "count": count} for number, count in self.things]
        return {"ground": layout.grounds[self.ground], "things": things}


Labels = Mapping[str, Content]


def read_label_file(path: Path, layout: Layout) -> dict[str, Content]:
    """Read the labels in a file, JSON or CSV by what it holds.

    :raises LabelError: the file cannot be read, or see :func:`read_labels`.
    """
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise LabelError(f"{path} cannot be read: {error.strerror}.") from error
    if len(data) > LARGEST:
        raise LabelError(f"{path}: the labels are larger than {LARGEST // 2**20} MB.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise LabelError(f"{path}: the labels are neither CSV nor JSON.") from None
    try:
        return read_labels(text, layout)
    except LabelError as error:
        raise LabelError(f"{path}: {error}") from error


def read_labels(text: str, layout: Layout) -> dict[str, Content]:
    """Read labels from JSON or CSV text.

    :raises LabelError: one sentence: what is wrong, and where.
    """
    if text.lstrip()[:1] in {"{", "["}:
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            raise LabelError("The labels begin like JSON but are none.") from None
        return from_json(data, layout)
    return _from_csv(text, layout)


def from_json(data: Any, layout: Layout) -> dict[str, Content]:
    """Return the labels in a board of the one form (or its ``places`` alone).

    :raises LabelError: it does not fit the layout.
    """
    places = data.get("places", data) if isinstance(data, dict) else None
    if not isinstance(places, dict):
        raise LabelError("The labels hold no places.")
    labels: dict[str, Content] = {}
    for name, place in places.items():
        if name not in layout.index:
            raise LabelError(f"The layout has no place {str(name)[:60]!r}.")
        if place is None:
            continue
        if not isinstance(place, dict) or not isinstance(place.get("things", []), list):
            raise LabelError(f"{name}: a place is a ground and a list of things.")
        if place.get("ground") is None:
            continue
        things: dict[int, int] = {}
        for thing in place.get("things") or []:
            if not isinstance(thing, dict) or not isinstance(thing.get("kind"), str):
                raise LabelError(f"{name}: a thing has a kind.")
            what = thing.get("colour", thing.get("color", thing.get("value")))
            number, count = _thing(layout, name, thing["kind"], what, thing.get("count", 1))
            things[number] = things.get(number, 0) + count
        labels[name] = _content(layout, name, place["ground"], things)
    return _some(labels)


def _from_csv(text: str, layout: Layout) -> dict[str, Content]:
    rows = csv.reader(io.StringIO(text))
    grounds: dict[str, str] = {}
    things: dict[str, dict[int, int]] = {}
    try:
        for line, row in enumerate(rows, 1):
            cells = [cell.strip() for cell in row]
            if not any(cells) or (line == 1 and cells[0].casefold() == "place"):
                continue
            name, ground, kind, what, count = (cells + [""] * 5)[:5]
            if name not in layout.index:
                raise LabelError(f"Line {line}: the layout has no place {name[:60]!r}.")
            if not ground:
                continue
            if grounds.setdefault(name, ground) != ground:
                raise LabelError(f"Line {line}: {name} has two grounds.")
            here = things.setdefault(name, {})
            if kind:
                number, many = _thing(layout, f"Line {line}", kind, what or None, count or "1")
                here[number] = here.get(number, 0) + many
    except csv.Error:
        raise LabelError("The labels are neither CSV nor JSON.") from None
    return _some({name: _content(layout, name, ground, things[name]) for name, ground in grounds.items()})


def _thing(layout: Layout, where: str, kind: str, what: object, count: object) -> tuple[int, int]:
    try:
        number = layout.find_thing(kind, what)
    except LayoutError as error:
        raise LabelError(f"{where}: {error}") from None
    if isinstance(count, str) and count.isdecimal() and len(count) < 4:
        count = int(count)
    if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count <= 100:
        raise LabelError(f"{where}: the count of a thing is a small whole number.")
    return number, count


def _content(layout: Layout, name: str, ground: object, things: dict[int, int]) -> Content:
    if ground not in layout.grounds:
        raise LabelError(f"{name}: the layout knows no ground {str(ground)[:60]!r}.")
    for number, count in things.items():
        if count > layout.most[number]:
            raise LabelError(f"{name}: the layout allows at most {layout.most[number]} of {layout.things[number]}.")
    return Content(layout.grounds.index(str(ground)), tuple(sorted((n, c) for n, c in things.items() if c)))


def _some(labels: dict[str, Content]) -> dict[str, Content]:
    if not labels:
        raise LabelError("The labels say nothing of any place.")
    return labels
