"""A command on its way to an entry: who asks for what, what it would become, and the refusal where it does not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, Generic, TypeVar

import msgspec

from companion.night.answers import Actor, Role
from companion.night.commands.bodies import CommandBody, misfit
from companion.night.commands.box_contents import Boxes
from companion.night.log.match import Match
from companion.night.log.projection import NightProjection
from companion.night.messages import Words, say
from companion.ports import CompanionError
from companion.rules.core import RulesError, Ruling
from companion.rules.i18n import each

B = TypeVar("B", bound=CommandBody)


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

    def agreed(self, said: bool) -> None:
        """Return quietly when the host says that the table agrees."""
        if not said:
            raise refused("agreement", "agreement")
        if self.by.role is not Role.HOST:
            raise refused("forbidden", "host-only")


@dataclass(frozen=True)
class Command(Generic[B]):
    """A command: its plan, what it takes, whether only the host may send it, whether a stale one is refused."""

    plan: Callable[[CommandContext, B], PlannedEntry]
    body: type[B]
    host: bool = False
    stale: bool = True

    @property
    def fields(self) -> frozenset[str]:
        """Return the names of the fields that it knows."""
        return frozenset(self.body.__struct_encode_fields__)

    def planned(self, context: CommandContext) -> PlannedEntry:
        """Return the entry that this command becomes.

        :raises CommandRefusedError: when a field is not what it should be, or the command is not to be done.
        """
        try:
            asked = msgspec.convert(dict(context.body), self.body)
        except msgspec.ValidationError as error:
            raise refused("bad-input", "bad-field", field=misfit(error) or "body") from None
        return self.plan(context, asked)


def needed(text: str, name: str) -> str:
    """Return a text of a body without what cannot be printed.

    :raises CommandRefusedError: when nothing is left of it.
    """
    kept = printable(text)
    if not kept:
        raise refused("bad-input", "bad-field", field=name)
    return kept


def printable(text: str) -> str:
    """Return a text with runs of space made one and without what cannot be printed or stored."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def refused(problem: str, key: str, **facts: object) -> CommandRefusedError:
    """Return a refusal with one of our sentences."""
    return CommandRefusedError(problem, say(key, facts))


def said(error: RulesError) -> CommandRefusedError:
    """Return a refusal with the sentence of the rules, as far as it can be printed."""
    return CommandRefusedError("bad-input", each(lambda lang: printable(error.words.of(lang))))
