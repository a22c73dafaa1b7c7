"""The one writer of a game night: commands in, journal entries and answers out.

Signatures first; the body follows within the hour.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from companion.night.answers import Actor, Answer, Role
from companion.night.hub import Hub
from companion.night.journal import Journal
from companion.ports import DeviceKind, Evidence


class Night:
    """A game night over a journal. Thread-safe; every change goes through :meth:`do` or the device calls.

    Commands of :meth:`do`, their bodies, and who may send them (``state`` is checked for all but ``fault``,
    ``dismiss-fault`` and ``open-night``; None skips the check):

    ===============  ==========================================================================  ===============
    ``open-match``   ``{game, players: [{name, colour}], options?, setup?, draw?: bool}``        host
    ``moves``        ``{moves: [text …], sensor?: true | "igloo key"}``: all or nothing           player, host
    ``deal``         ``{}``: the companion draws (only with ``draw``); ``{cards: {place: "4/5"}}`` player, host
    ``check``        ``{}``: the table agrees to stop: everybody who has not passed passes       player, host
    ``undo``         ``{to: number of moves to keep, agreed?: bool}``                            player, host
    ``correct``      ``{colour, points, reason, agreed: true}``                                  host
    ``pause``        ``{}``                                                                      player, host
    ``resume``       ``{}``                                                                      player, host
    ``next-game``    ``{}``: same players, the series goes on                                    host
    ``close-match``  ``{}``: ends the match as it stands                                         host
    ``fault``        ``{clause, colour?, note?}``                                                player, host
    ``dismiss-fault`` ``{fault: seq, agreed: true}``                                             host
    ``open-night``   ``{}``: a new evening begins (no match may be open)                         host
    ===============  ==========================================================================  ===============

    ``undo`` is free for the sender's own last action; past a reveal, a card drawn by the companion or anything
    older or another's it needs ``agreed: true``, which only the host may send (``problem`` is ``agreement``).
    """

    def __init__(self, journal: Journal, hub: Hub) -> None:
        raise NotImplementedError

    def do(
        self, command: str, body: Mapping[str, Any], *, by: Actor, state: int | None = None, action_id: str
    ) -> Answer:
        """Do a command, durably, and say what became of it; never raises for what a phone may send.

        The same ``action_id`` again gets the same answer and does nothing.
        """
        raise NotImplementedError

    def view(self, role: str | Role = Role.SPECTATOR) -> dict[str, Any]:
        """Return the whole of what the page shows, as JSON (cached until something changes; do not modify).

        ``{"seq", "state", "night": {"id", "opened", "paused"},
        "match": null | {"id", "game", "options", "phase", "round", "draw", "over", "ended_by": null | "rules" | "closed",
        "problem": null | {"en", "fr"}, "moves": number of moves in force,
        "players": [{"name", "colour", "own", "captured", "captured_by_colour"?, "cards": [{"numbers", "points"}],
        "score", "correction", "lines": [{"en", "fr", "points", "clauses"}], "in_hand", "passed"}],
        "cards": [{"place", "numbers" | null, "points", "igloos": [{"colour", "number" | null, "sensor"}]}],
        "stack_left", "village_left",
        "results": [{"place", "card", "igloos", "winner" | null, "en", "fr", "clauses"}] of the round last checked,
        "ranking": [[colour …] …] best first, ties together, "ranking_why": {"en", "fr"},
        "faults": [{"seq", "clause", "en", "fr", "note", "colour", "kind" | null, "round", "dismissed"}],
        "evidence": [{"sha256", "suffix", "round", "source", "kind", "at"}],
        "can_undo": null | {"to", "en", "fr", "by", "needs_agreement"}},
        "series": null | {"games": [{"id", "scores": {colour: points}, "winners": [colour …]}], "totals": {colour: points},
        "to": 100, "winner": null | [colour …], "can_go_on": bool},
        "log": [{"seq", "at", "by": "host" | "player" | "igloo" …, "by_id", "kind", "en", "fr", "undone"} … last 60]}``

        Times are UTC milliseconds. A player's free undo shows ``needs_agreement`` false and ``by`` his actor id.
        """
        raise NotImplementedError

    @property
    def seq(self) -> int:
        """Return the journal's last number."""
        raise NotImplementedError

    @property
    def state(self) -> int:
        """Return the state number that the next command should carry."""
        raise NotImplementedError

    def live_round(self) -> bool:
        """Return whether a round of shaking is running (also while paused): nothing may reveal a count then."""
        raise NotImplementedError

    def add_evidence(self, evidence: Evidence) -> int:
        """Enter a picture kept beside the journal; return its number in the journal."""
        raise NotImplementedError

    def add_fault(
        self,
        clause: str,
        *,
        kind: DeviceKind,
        key: str,
        motion: str,
        place: str | None = None,
        colour: str | None = None,
    ) -> int:
        """Enter a breach that a device felt; its kind stays in the journal for ever; return its number."""
        raise NotImplementedError
