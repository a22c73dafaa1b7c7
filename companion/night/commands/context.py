"""A command on its way to an entry: who asks for what, what it would become, and the refusal where it does not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from companion.night.answers import Actor, Role
from companion.night.commands.box_contents import Boxes
from companion.night.log.match import Match
from companion.night.log.projection import NightProjection
from companion.night.messages import Words, say
from companion.ports import CompanionError
from companion.rules.core import RulesError, Ruling
from companion.rules.i18n import each

NAME_LENGTH = 40
NOTE_LENGTH = 200


class CommandRefusedError(CompanionError, ValueError):
    """A command that is not done; ``problem`` as in :class:`companion.night.answers.CommandResult`."""

    def __init__(self, problem: str, words: Words, ruling: Ruling | None = None) -> None:
        super().__init__(words.en)
        self.problem = problem
        self.words = words
        self.ruling = ruling


@dataclass(frozen=True, slots=True)
class PlannedEntry:
    """The entry that a command becomes; ``people`` (id to name) are made known with it."""

    kind: str
    body: Mapping[str, Any]
    people: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CommandContext:
    """A command on its way: the night as it stands, the body, who asks, people by id, dice, boxes, games to open."""

    projection: NightProjection
    body: Mapping[str, Any]
    by: Actor
    people: Mapping[str, str | None]
    rng: Random
    boxes: Boxes
    offered: tuple[str, ...]

    @property
    def match(self) -> Match:
        """Return the open match.

        :raises CommandRefusedError: when there is none, or it cannot go on.
        """
        match = self.projection.match
        if match is None:
            raise refused("no-match", "no-match")
        if match.broken is not None:
            raise refused("refused", "rules-changed", seq=match.broken)
        return match

    @property
    def running(self) -> Match:
        """Return the open match, which goes on only while the night is not paused."""
        match = self.match
        if self.projection.paused:
            raise refused("paused", "paused")
        if match.ended is not None:
            raise refused("refused", "ended-already")
        return match

    def flag(self, name: str) -> bool:
        """Return a yes or no of the body, no where it is missing."""
        value = self.body.get(name, False)
        if not isinstance(value, bool):
            raise refused("bad-input", "bad-field", field=name)
        return value

    def whole(self, name: str, low: int, high: int) -> int:
        """Return a whole number of the body."""
        value = self.body.get(name)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise refused("bad-input", "bad-field", field=name)
        return value

    def text(self, name: str, longest: int, *, missing: str | None = None) -> str:
        """Return a text of the body without what cannot be printed; ``missing`` where it is not there."""
        value = self.body.get(name, missing)
        if not isinstance(value, str) or len(value) > longest:
            raise refused("bad-input", "bad-field", field=name)
        kept = printable(value)
        if missing is None and not kept:
            raise refused("bad-input", "bad-field", field=name)
        return kept

    def agreed(self) -> None:
        """Return quietly when the host says that the table agrees."""
        if not self.flag("agreed"):
            raise refused("agreement", "agreement")
        if self.by.role is not Role.HOST:
            raise refused("forbidden", "host-only")


@dataclass(frozen=True, slots=True)
class Command:
    """A command: its plan, the fields it knows, whether only the host may send it, whether a stale one is refused."""

    plan: Callable[[CommandContext], PlannedEntry]
    fields: frozenset[str] = frozenset()
    host: bool = False
    stale: bool = True


def printable(text: str) -> str:
    """Return a text with runs of space made one and without what cannot be printed or stored."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def refused(problem: str, key: str, **facts: object) -> CommandRefusedError:
    """Return a refusal with one of our sentences."""
    return CommandRefusedError(problem, say(key, facts))


def said(error: RulesError) -> CommandRefusedError:
    """Return a refusal with the sentence of the rules, as far as it can be printed."""
    return CommandRefusedError("bad-input", each(lambda lang: printable(error.words.of(lang))))
