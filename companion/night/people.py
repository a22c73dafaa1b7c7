"""The people of the house: remembered with name, colour and picture; renamed, merged, forgotten.

Names, colours and pictures stand beside the journal, whose entries hold ids only; so a person can be forgotten while
the scores stay. Whoever is forgotten goes from the present database, from the backups on this card, from the training
room, from the names of phones, and from the notes that people wrote by hand; the id is noted outside all backups, so
that a restored one does not bring the name back. A note in which the name is a part of a longer word keeps it, and is
counted for the host to know.
"""

from __future__ import annotations

import contextlib
import json
import threading
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypedDict

from companion.night.backup.erase_name import erase_name
from companion.night.commands.night import Night
from companion.night.log.chain import NOTES
from companion.night.log.data_folder import FORGOTTEN, PEOPLE, read_small, write_small
from companion.night.log.journal import Journal
from companion.night.log.pictures import EvidenceStore
from companion.night.statistics import PlayerFigures, Statistics
from companion.ports import CompanionError
from companion.rules.names import name_key, proper_name

COLOURS = ("red", "yellow", "green", "blue", "violet", "black")
TOKENS = ("bear", "fox", "fish", "penguin", "seal", "owl", "igloo", "star")
"""The drawn pictures that a person may have instead of a photo."""

MOST_PEOPLE = 300


class PeopleError(CompanionError, ValueError):
    """Something that is not done with a person; ``code`` says what."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class PersonForm(TypedDict):
    """Somebody who is remembered; ``picture`` is a SHA-256, ``figures`` null for who never played."""

    id: str
    name: str
    colour: str | None
    token: str | None
    picture: str | None
    figures: PlayerFigures | None


class People:
    """Everybody of a data folder. Thread-safe; ``renamed(old, new)`` is called when a name changed or went (None)."""

    def __init__(
        self,
        folder: Path,
        journal: Journal,
        night: Night,
        *,
        renamed: Callable[[str, str | None], None] = lambda _old, _new: None,
    ) -> None:
        """Open, and forget again whom a restored backup brought back."""
        self._folder, self._journal, self._night, self._renamed = folder, journal, night, renamed
        self._pictures = EvidenceStore(folder / PEOPLE)
        self._statistics = Statistics(journal, night)
        self._lock = threading.RLock()
        known = {one["id"]: one for one in journal.profiles()}
        for person in self._forgotten():
            if person in known and known[person]["name"] is not None:
                self.forget(person)

    def all(self) -> list[PersonForm]:
        """Return everybody who is remembered, with statistics, who played last first."""
        statistics = self._statistics.people()
        found: list[PersonForm] = [
            {
                "id": one["id"],
                "name": one["name"],
                "colour": one["colour"],
                "token": one["token"],
                "picture": one["picture"],
                "figures": statistics.get(one["id"]),
            }
            for one in self._journal.profiles()
            if one["name"] is not None
        ]
        return sorted(found, key=lambda one: (-one["figures"]["last"] if one["figures"] else 0, one["name"].casefold()))

    def add(self, name: str) -> str:
        """Enter somebody and return the id.

        :raises PeopleError: ``name`` (it is none), ``name-taken``, ``too-many``.
        """
        with self._lock:
            kept = self._free(name, None)
            if len(self._journal.profiles()) >= MOST_PEOPLE:
                raise PeopleError("too-many")
            person = uuid.uuid4().hex[:12]
            self._journal.add_person(person, kept)
            self._night.people_changed()
            return person

    def change(self, person: str, what: Mapping[str, str | None]) -> None:
        """Change ``name``, ``colour`` or ``token`` of a person; None takes a colour or a token away.

        :raises PeopleError: ``no-person``, or as :meth:`add` does; ``colour`` and ``token`` for unknown ones.
        """
        with self._lock:
            known = self._known(person)
            new = dict(what)
            for field, values in (("colour", COLOURS), ("token", TOKENS)):
                if new.get(field) is not None and new[field] not in values:
                    raise PeopleError(field)
            if "name" in new:
                new["name"] = self._free(new["name"] or "", person)
            if new.get("token") is not None:
                self._drop_picture(person)
                new["picture"] = None
            self._journal.draw_person(person, new)
            if "name" in new and new["name"] != known["name"]:
                self._renamed(known["name"], new["name"])
            self._night.people_changed()

    def picture(self, person: str, jpeg: bytes | None) -> str | None:
        """Keep a photo (JPEG) of a person, or with None take it away; return its SHA-256.

        :raises PeopleError: ``no-person``.
        :raises companion.night.log.pictures.EvidenceError: when it cannot be written.
        """
        with self._lock:
            self._known(person)
            sha256 = None if jpeg is None else self._pictures.keep(jpeg, ".jpg")
            self._drop_picture(person, but=sha256)
            self._journal.draw_person(person, {"picture": sha256, **({"token": None} if sha256 else {})})
            self._night.people_changed()
            return sha256

    def photo(self, sha256: str) -> tuple[bytes, str] | None:
        """Return the photo of somebody who is remembered, with its media type."""
        return self._pictures.open(sha256)

    def merge(self, person: str, into: str) -> None:
        """Make two entries one: games and scores of both count for ``into``, whose name stays.

        :raises PeopleError: ``no-person``, ``itself``, or ``played-together``: then they are two people.
        """
        with self._lock:
            old = self._known(person)
            kept = self._known(into)
            if person == into:
                raise PeopleError("itself")
            same = self._journal.same()
            for night in self._statistics.nights():
                for game in night["games"]:
                    here = {same.get(seat["person"], seat["person"]) for seat in game["seats"]}
                    if {person, into} <= here:
                        raise PeopleError("played-together")
            with self._night.standing() as projection:
                if projection.match is not None and {person, into} <= {seat.person for seat in projection.match.seats}:
                    raise PeopleError("played-together")
            self._drop_picture(person)
            inherited = {field: old[field] for field in ("colour", "token") if kept[field] is None}
            self._journal.draw_person(into, inherited)
            self._journal.merge_people(person, into)
            self._renamed(old["name"], kept["name"])
            self._night.people_changed()

    def forget(self, person: str) -> int:
        """Forget name, colour and picture of a person, here and in the backups on this card; the scores stay.

        In notes it is blotted out where it is a word of its own. Return in how many it is left, as part of another.

        :raises PeopleError: ``no-person``.
        """
        with self._lock:
            known = self._known(person)
            self._note_forgotten(person)
            self._drop_picture(person)
            self._journal.draw_person(person, dict.fromkeys(("name", "colour", "token", "picture")))
            self._journal.blot(known["name"])
            self._renamed(known["name"], None)
            self._night.people_changed()
            erase_name(self._folder, {person}, known["name"])
            return self._mentions(known["name"])

    # --- inside the lock

    def _known(self, person: str) -> dict[str, Any]:
        for one in self._journal.profiles():
            if one["id"] == person and one["name"] is not None:
                return one
        raise PeopleError("no-person")

    def _free(self, name: str, person: str | None) -> str:
        kept = proper_name(name)
        if kept is None:
            raise PeopleError("name")
        for one in self._journal.profiles():
            if one["id"] != person and one["name"] is not None and name_key(one["name"]) == name_key(kept):
                raise PeopleError("name-taken")
        return kept

    def _drop_picture(self, person: str, *, but: str | None = None) -> None:
        profiles = self._journal.profiles()
        sha256 = next((one["picture"] for one in profiles if one["id"] == person), None)
        others = {one["picture"] for one in profiles if one["id"] != person}
        if sha256 is not None and sha256 != but and sha256 not in others:
            (self._folder / PEOPLE / f"{sha256}.jpg").unlink(missing_ok=True)

    def _mentions(self, name: str) -> int:
        wanted = name.casefold()
        return sum(
            wanted in str(entry.body.get(NOTES[entry.kind], "")).casefold()
            for first, last in self._journal.nights()
            for entry in self._journal.since(first - 1, before=last + 1)
            if entry.kind in NOTES
        )

    def _forgotten(self) -> list[str]:
        with contextlib.suppress(OSError, ValueError, RecursionError):
            stored = json.loads(read_small(self._folder / FORGOTTEN))
            if isinstance(stored, list):
                return [one for one in stored if isinstance(one, str)]
        return []

    def _note_forgotten(self, person: str) -> None:
        ids = self._forgotten()
        if person in ids:
            return
        write_small(self._folder / FORGOTTEN, json.dumps([*ids, person]))
