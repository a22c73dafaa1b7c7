"""The one writer of a game night: commands in; entries of the journal, answers and views out."""

from __future__ import annotations

import contextlib
import hashlib
import json
import random
import secrets
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from companion.events.hub import Hub
from companion.night.answers import TABLE, Actor, CommandResult, Role
from companion.night.commands.box_contents import Boxes
from companion.night.commands.context import (
    CommandContext,
    CommandRefusedError,
    PlannedEntry,
    printable,
    refused,
)
from companion.night.commands.handlers import plan
from companion.night.commands.score_sheet_entry import new_id
from companion.night.games import Sensor, shown_games
from companion.night.log.database import StorageError
from companion.night.log.journal import Entry, Journal
from companion.night.log.match import LogLine, TakenBack
from companion.night.log.projection import NightProjection
from companion.night.messages import say
from companion.night.views.boards import board, dispute, seat_of
from companion.night.views.page import page
from companion.ports import BadDataError, CountGate, DeviceKind, EvidencePicture
from companion.rules.core import State
from companion.rules.names import LONGEST_NAME, proper_name

REMEMBERED = 500
"""Answers kept in memory, for phones that ask again because an answer was lost on the way."""

EVENING_MS = 8 * 3600 * 1000
"""A game that is opened so long after the last entry begins another night."""

ACTION_ID_LENGTH = 100
MOST_BYTES = 32 * 1024
"""The longest command, as JSON."""


@dataclass(frozen=True, slots=True)
class Witness:
    """What a sensor igloo must know of the round: does one run, and was this igloo placed in it."""

    live: bool
    sensor: Sensor | None


@dataclass(frozen=True, slots=True)
class MatchSnapshot:
    """The open match as who follows it with a camera must know it.

    ``states[n]`` is the state after n steps, ``moves[n]`` the step that follows it and ``by[n]`` who entered that;
    ``state`` is the state number that a command should carry. ``goes_on`` is False while the night is paused and when
    the game is over. ``taken_back`` is what people took back, in the order in which they did.
    """

    match: str
    game: str
    state: int
    draw: bool
    goes_on: bool
    colours: tuple[str, ...]
    states: tuple[State[Any], ...]
    moves: tuple[Any, ...]
    by: tuple[str, ...]
    taken_back: tuple[TakenBack, ...]


class Night:
    """A game night over a journal. Thread-safe; every change goes through :meth:`do` or the device calls.

    Commands of :meth:`do`, their bodies, and who may send them:

    ================= ========================================================================== ============
    ``open-match``    ``{game, players: [{name, colour}], options?, setup?, draw?: bool}``        host
    ``moves``         ``{moves: [text …], sensor?: true | "igloo key"}``: all or nothing          player, host
    ``deal``          ``{}``: the companion draws (with ``draw``, or what it may of a set-up);    player, host
                      ``{cards: {place: "4/5"}}``: as they lie on the table
    ``check``         ``{}``: the table agrees to stop: everybody who has not passed passes       player, host
    ``undo``          ``{to: number of moves to keep, agreed?: bool}``                            player, host
    ``set-position``  ``{position, agreed: true}``: what is otherwise, whatever led there        host
    ``correct``       ``{colour, points, reason, agreed: true}``                                  host
    ``clock``         ``{minutes}``: a turn clock, of the next game too (0: none); enforces nothing host
    ``pause``         ``{}``                                                                      player, host
    ``resume``        ``{}``                                                                      player, host
    ``next-game``     ``{}``: same players, the series goes on                                    host
    ``close-match``   ``{}``: puts the match away; unfinished, it is kept as ended early          host
    ``end-early``     ``{}``: the table ends the open match; its standing is kept, it counts for  host
                      nothing (no series, no figures)
    ``keep-sheet``    ``{position, players: [{name, colour}]}``: a game that was only counted;    player, host
                      ``{position, into: match id}``: the open match ends with these totals      (into: host)
    ``fault``         ``{clause, colour?, note?}``                                                player, host
    ``dismiss-fault`` ``{fault: seq, agreed: true}``                                              host
    ``open-night``    ``{}``: a new evening begins (no unfinished match may be open); it begins    host
                      by itself with the first match after eight hours of rest
    ================= ========================================================================== ============

    With ``draw`` nobody else chooses cards: neither ``moves`` nor ``deal`` with ``cards`` lay one.
    ``state`` is the state number the sender saw (None: unchecked; ``fault``, ``dismiss-fault`` and ``clock`` never
    check it).
    ``keep-sheet`` takes a position in the one form of a board, whose score the rules reckon; it is refused when the
    rules find anything wrong with it, or the game in it is not over. Names are in ``players`` only.
    ``undo`` of an end that the table made (``end-early``, ``keep-sheet``) says how many moves there are as ``to``. It
    is free for the sender's own last entry: an early end while no count was hidden, moves, a check of which nothing
    was turned over. Past a score sheet, a reveal, cards that the companion drew, or the beginning or the end of a live
    round, and for anything older or another's, it needs ``agreed: true``, which only the host may say (``problem`` is
    ``agreement`` without it, ``forbidden`` from a player). The log says so when counts could be seen before the table
    went back into a round.
    """

    def __init__(
        self,
        journal: Journal,
        hub: Hub,
        *,
        rng: random.Random | None = None,
        boxes: Boxes | None = None,
        damage: Sequence[Mapping[str, Any]] = (),
        offered: tuple[str, ...] | None = None,
    ) -> None:
        """Go on where the journal ends; in an empty journal, begin a night. ``offered``: games that may be opened.

        ``damage`` is what the page says of entries that the card lost or changed, as
        :func:`companion.night.views.damage.damage_report` has it.

        :raises companion.night.log.database.StorageError: when the journal cannot be read or written.
        """
        self._journal = journal
        self._hub = hub
        self._damage = list(damage)
        self._boxes = boxes or Boxes(None)
        self.offered = shown_games() if offered is None else offered
        """The games that may be opened, in the order of the page."""
        self._rng = rng or random.SystemRandom()
        self._lock = threading.RLock()
        self._answers: OrderedDict[str, tuple[str, CommandResult]] = OrderedDict()
        self._view: dict[str, Any] | None = None
        self._boards: dict[tuple[int, str | None, str], dict[str, Any] | None] = {}
        self._reading = secrets.randbelow(2**40)
        if journal.last_of("open-night") == 0:
            journal.append("open-night", {"night": new_id()}, by=TABLE.id, by_role=str(TABLE.role))
        self._projection = self._folded()
        self.gate = CountGate(self.live_round)
        """Asked by everything that could reveal a count on its way out of the house."""

    def do(
        self, command: str, body: Mapping[str, Any], *, by: Actor, state: int | None = None, action_id: str
    ) -> CommandResult:
        """Do a command, durably, and say what became of it; never raises for what a phone may send.

        The same ``action_id`` again gets the same answer and does nothing, also after a restart.
        """
        with self._lock:
            if not 0 < len(action_id) <= ACTION_ID_LENGTH or not action_id.isprintable():
                return self._no(refused("bad-input", "bad-action-id"))
            request_digest = _digest(command, body)
            if request_digest is None:
                return self._no(refused("bad-input", "not-json"))
            try:
                known = self._known(action_id)
                if known is not None:
                    return known[1] if known[0] == request_digest else self._no(refused("bad-input", "id-reused"))
                try:
                    planned = plan(command, self._context(body, by), state)
                except CommandRefusedError as refusal:
                    answer = self._no(refusal)
                else:
                    answer = self._write(planned, by, action_id, request_digest)
            except StorageError as error:
                # Not remembered: when there is room again, the same action may be tried again.
                words = say(error.key, error.facts)
                return CommandResult(False, self._projection.seq, self._projection.state_no, words, None, "storage")
            self._remember(action_id, request_digest, answer)
            return answer

    def view(self, role: str | Role = Role.SPECTATOR) -> dict[str, Any]:
        """Return the whole of what the page shows, as JSON (made once for each change: do not modify it).

        ``{"seq", "state", "night": {"id", "opened", "paused"}, "match", "series", "log", "damage"}``; times are UTC
        milliseconds. ``log`` holds the last 60 entries, oldest first: ``{"seq", "at", "by": "host" | "player" |
        "igloo" | "camera", "by_id", "kind", "device": what kind of device said it | null, "en", "fr", "undone"}``.

        ``match`` is null or ``{"id", "game", "title": {"en", "fr"}, "opened", "options", "draw", "phase", "round",
        "moves": how many are in force, "over", "ended_by": null | "rules" | "sheet" | "early",
        "clock": null | {"minutes", "since": when the turn began, pauses left out},
        "problem": null | {"en", "fr"}, "players",
        "ranking": [[colour …] …] best first and ties together, "ranking_why": {"en", "fr"},
        "story": null, or at the end as :func:`companion.night.views.summary.story` has it,
        "faults": [{"seq", "clause", "en", "fr", "note", "colour", "place", "motion", "kind": null | "real" |
        "recorded" | "simulated", "round", "dismissed"}], "evidence": [{"sha256", "suffix", "round", "source",
        "kind", "at"}], "can_undo": null | {"to", "en", "fr", "by": actor id, "needs_agreement"}}`` and, for Igloo
        Pop, ``{"cards": [{"place", "numbers" | null, "points", "igloos": [{"colour", "number" | null, "sensor"}]}],
        "stack_left", "village_left", "results_round", "results": [{"place", "card", "igloos": [{"colour",
        "number", "match"}], "winner" | null, "en", "fr", "clauses", "status"}], "end": null | {"en", "fr",
        "clauses", "status"}}``.

        For a game on a board (``"board": true``) it has instead ``{"to_move": seat | null, "chance", "points": left in
        the turn | null, "prompt": {"en", "fr"}, "stand_in": whether nobody entered the box, "hands": whether players
        hold what others may not see, "arrange": whether ``deal`` draws the set-up, "end"}``; the picture and the
        legal moves are asked for with :meth:`board`. Its ``players`` have ``{"turn", "notes": [{"en", "fr"}]}``.

        ``players``: ``[{"name" (empty: none given), "colour", "score", "place": 1, 1, 3 …, "correction",
        "lines": [{"en", "fr", "points", "clauses"}], "own", "staked", "captured",
        "cards": [{"numbers", "points"}], "in_hand", "passed"}]``.

        ``series`` is null or ``{"game", "games": [{"id", "scores": {colour: points}, "winners": [colour …]}],
        "totals": {colour: points}, "to": 100, "winner": null | [colour …] (several share it), "can_go_on"}``; a
        game that is over counts although it is still open.

        ``role`` decides what is hidden; this view never holds a hand: only :meth:`board` does, for its own seat.
        """
        Role(role)
        with self._lock:
            if self._view is None:
                self._view = page(self._projection, self._damage)
            return self._view

    def board(self, colour: str | None, lang: str) -> dict[str, Any] | None:
        """Return the drawn board as the phone that plays ``colour`` (None: no seat) may see it; None without one.

        ``{"state", "match", "seat", "svg", "moves": [{"text", "path": [place …], "en", "fr", "group", "short", "cost",
        "keys"}], "gestures": [{"text", "en", "fr"}], "about": [place …], "names": {place: what it is called,
        with what lies there}, "private": [{"en", "fr"}]}``: see
        :class:`companion.night.games.board.Tap`. Made once for each change, seat and language: do not modify it.
        """
        with self._lock:
            match, state = self._projection.match, self._projection.state_no
            if match is None:
                return None
            key = (state, colour if colour in match.colours else None, lang)
            if key not in self._boards:
                made = board(match, colour, lang)
                self._boards[key] = None if made is None else {"state": state, **made}
            return self._boards[key]

    def snapshot(self) -> MatchSnapshot | None:
        """Return the course of the open match; None without one, or where its record cannot be played any more."""
        with self._lock:
            match, projection = self._projection.match, self._projection
            if match is None or match.broken is not None:
                return None
            return MatchSnapshot(
                match.id,
                match.game.id,
                projection.state_no,
                match.draw,
                not projection.paused and match.ending is None,
                match.colours,
                tuple(match.states),
                tuple(step.move for step in match.steps),
                tuple(step.by for step in match.steps),
                tuple(match.taken_back),
            )

    def dispute(self, colour: str | None, lang: str, path: Sequence[str], text: str) -> list[dict[str, Any]]:
        """Return the rulings on a move of the open match, as :func:`companion.night.views.boards.dispute` does.

        :raises companion.rules.core.RulesError: for a text that is no move.
        :raises companion.ports.BadDataError: without an open match, or for a hand that is not of this phone.
        """
        with self._lock:
            match = self._projection.match
            if match is None:
                raise BadDataError(say("no-match").en)
            return dispute(match, colour, lang, path, text)

    def position(self, colour: str | None) -> dict[str, Any] | None:
        """Return the open match as a phone with this seat may see it, in the one form of a board; None without one."""
        with self._lock:
            match = self._projection.match
            if match is None or match.broken is not None:
                return None
            return match.state.view(seat_of(match, colour))

    def play(self, bgg: Mapping[str, int], lang: str = "en") -> dict[str, Any] | None:
        """Return the open match as BG Stats takes it (see :mod:`~companion.night.export.bgstats`), None before its end.

        ``bgg`` are BoardGameGeek's numbers by game; comments are in ``lang``.
        """
        from companion.night.export.bgstats import plays  # noqa: PLC0415 - only who shares a game pays for it

        with self._lock:
            match = self._projection.match
            if match is None or match.ending is None:
                return None
            return next((one for one in plays(self._journal, bgg, lang) if one["match"] == match.id), None)

    def exported(self, form: str) -> str:
        """Return all nights as ``csv`` (the scores) or ``json`` (everything)."""
        from companion.night.export.files import to_csv, to_json  # noqa: PLC0415

        with self._lock:
            if form == "csv":
                return to_csv(self._journal)
            return json.dumps(to_json(self._journal), ensure_ascii=False, indent=1) + "\n"

    @property
    def seq(self) -> int:
        """Return the journal's last number."""
        with self._lock:
            return self._projection.seq

    @property
    def reading(self) -> int:
        """Return a number that is another one whenever the journal was read anew, as when somebody is renamed."""
        with self._lock:
            return self._reading

    @property
    def state(self) -> int:
        """Return the state number that the next command should carry."""
        with self._lock:
            return self._projection.state_no

    def live_round(self) -> bool:
        """Return whether nothing may reveal a count: from the start of a round to the first igloo its check reveals.

        It stays true while the night is paused, and between the shaking and the first reveal, or a pause or a check
        that is taken back would be the way to peek. A round that ends without igloos to check, or whose match is put
        away, is over at once. What the igloo may not be made to do is asked of :meth:`witness`.
        """
        with self._lock:
            return self._projection.hidden

    def witness(self, key: str) -> Witness:
        """Return what the sensor igloo ``key`` must know: a round that is live and not paused, and its placement."""
        with self._lock:
            projection = self._projection
            live = projection.live and not projection.paused
            worn = projection.match.sensors() if projection.match is not None and live else []
            return Witness(live, next((sensor for sensor in worn if sensor.key in (key, "*")), None))

    def add_evidence(self, evidence: EvidencePicture) -> int:
        """Enter a picture kept beside the journal, with the round it belongs to; return its number in the journal.

        :raises companion.night.log.database.StorageError: when it could not be written.
        """
        with self._lock:
            match = self._projection.match
            body = {
                "match": match.id if match is not None else None,
                "round": match.view.shown_round(match.state) if match is not None else None,
                "sha256": evidence.sha256,
                "suffix": evidence.suffix,
                "width": evidence.width,
                "height": evidence.height,
                "source": printable(evidence.source),
                "markers": list(evidence.markers),
            }
            return self._device("evidence", body, "camera", evidence.source, evidence.kind)

    def add_fault(self, clause: str, *, kind: DeviceKind, key: str, motion: str, sensor: Sensor | None) -> int | None:
        """Enter a breach that the igloo ``key`` felt; return its number, or None when no live round runs any more.

        ``motion`` is what was felt (``turned``, ``lifted``, ``carried``, ``shaken``), ``sensor`` the placement it
        offends. ``kind`` stays in the journal for ever.

        :raises companion.night.log.database.StorageError: when it could not be written.
        """
        with self._lock:
            match = self._projection.match
            if match is None or not self._projection.live or self._projection.paused:
                return None
            body = {
                "clause": clause,
                "motion": motion,
                "round": match.round,
                "place": sensor.placing.place if sensor is not None else None,
            }
            return self._device("fault", body, "igloo", key, kind)

    def people(self) -> dict[str, str | None]:
        """Return everybody this journal knows by id with their name; None for somebody who was forgotten."""
        with self._lock:
            return dict(self._people)

    def name_person(self, person: str, name: str | None) -> bool:
        """Rename somebody, or with None forget the name (scores stay); return whether there is such a person.

        :raises companion.ports.BadDataError: for what is no name (:mod:`companion.rules.names`).
        :raises companion.night.log.database.StorageError: when it could not be written.
        """
        with self._lock:
            kept = proper_name(name) if name is not None else None
            if kept is None and name is not None:
                raise BadDataError(f"A name has 1 to {LONGEST_NAME} characters, all of them visible.")
            found = self._journal.name_person(person, kept)
            if found:
                self.people_changed()
            return found

    def people_changed(self) -> None:
        """Read the people anew: states and sentences hold names, a new reading of the journal has the new ones only."""
        with self._lock:
            self._answers.clear()
            self._projection = self._folded()
            self._reading += 1
            self._changed()

    @contextlib.contextmanager
    def standing(self) -> Iterator[NightProjection]:
        """Hold the night still and look at it; nothing of it may be altered or kept."""
        with self._lock:
            yield self._projection

    # --- inside the lock

    def _context(self, body: Mapping[str, Any], by: Actor) -> CommandContext:
        people = {person: name for person, name in self._people.items() if person not in self._same}
        return CommandContext(self._projection, body, by, people, self._rng, self._boxes, self.offered)

    def _folded(self, before: int | None = None) -> NightProjection:
        """Read the night that holds the last entry (before ``before``) from the journal."""
        self._people, self._same = self._journal.people(), self._journal.same()
        projection = NightProjection(self._people, self._same)
        begun = self._journal.last_of("open-night", before=before)
        for entry in self._journal.since(max(begun - 1, 0), before=before):
            projection.apply(entry)
        return projection

    def _known(self, action_id: str) -> tuple[str, CommandResult] | None:
        """Return what was asked under an action id and answered, from memory or from the journal."""
        if action_id in self._answers:
            return self._answers[action_id]
        entry = self._journal.of_action(action_id)
        if entry is None:
            return None
        line = next((line for line in reversed(self._projection.log) if line.entry.seq == entry.seq), None)
        line = line or self._folded(before=entry.seq + 1).log[-1]
        answer = _accepted(line)
        self._remember(action_id, entry.request_digest or "", answer)
        return entry.request_digest or "", answer

    def _remember(self, action_id: str, request_digest: str, answer: CommandResult) -> None:
        self._answers[action_id] = (request_digest, answer)
        while len(self._answers) > REMEMBERED:
            self._answers.popitem(last=False)

    def _write(self, planned: PlannedEntry, by: Actor, action_id: str, request_digest: str) -> CommandResult:
        begins = planned.kind == "open-match" or (planned.kind == "keep-sheet" and "game" in planned.body)
        if begins and self._journal.rested_ms() > EVENING_MS:
            self._apply(self._journal.append("open-night", {"night": new_id()}, by=TABLE.id, by_role=str(TABLE.role)))
        entry = self._journal.append(
            planned.kind,
            planned.body,
            by=by.id,
            by_role=by.id if by.device is not None else str(by.role),
            action_id=action_id,
            request_digest=request_digest,
            device_kind=None if by.device is None else str(by.device),
            people=planned.people,
        )
        self._people.update(planned.people)
        self._apply(entry)
        return _accepted(self._projection.log[-1])

    def _device(self, kind: str, body: Mapping[str, Any], role: str, key: str, device: DeviceKind) -> int:
        entry = self._journal.append(kind, body, by=printable(key), by_role=role, device_kind=str(device))
        self._apply(entry)
        return entry.seq

    def _apply(self, entry: Entry) -> None:
        self._projection.apply(entry)
        self._changed()

    def _changed(self) -> None:
        self._view = None
        self._boards.clear()
        self._hub.publish("state", self.view(Role.SPECTATOR), self._projection.seq)

    def _no(self, refusal: CommandRefusedError) -> CommandResult:
        words = refusal.words
        projection = self._projection
        return CommandResult(False, projection.seq, projection.state_no, words, refusal.ruling, refusal.problem)


def _accepted(line: LogLine) -> CommandResult:
    """Return the answer that an entry got: a reading of the journal like everything else."""
    return CommandResult(True, line.entry.seq, line.state_no, line.words, line.ruling())


def _digest(command: str, body: Mapping[str, Any]) -> str | None:
    """Return a digest of what is asked; None when it is no JSON that can be kept, or too much of it."""
    try:
        request = json.dumps([command, body], sort_keys=True, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError):
        return None
    return hashlib.sha256(request).hexdigest()[:32] if len(request) <= MOST_BYTES else None
