"""The projection: what a night is after some entries of its journal.

:class:`NightProjection` takes entries one by one, live and at a restart alike, so what the page shows is always a
reading of the journal. States of the rules are immutable; a match keeps the one after every step, which makes undo a
cut.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace as replaced
from typing import Any

from companion.night.answers import CAMERA, Role
from companion.night.games import Placing, Sensor, game_view
from companion.night.log.journal import LOST, Entry
from companion.night.log.match import AppliedMove, CalledFault, Ended, LogLine, Match, Seat, TakenBack
from companion.night.messages import Words, say
from companion.rules import game
from companion.rules.core import JSON, Game, InvalidMoveError, RulesError, Ruling, State
from companion.rules.i18n import joined
from companion.rules.names import shown_name, told_apart
from companion.rules.rulebook import rulebook
from companion.rules.set_position import SetPosition

LOG_LENGTH = 60
"""Entries that the page shows."""

LISTED_ONE_BY_ONE = 6
"""Steps of chance that the log tells one by one; a whole set-up is only counted."""


class NightProjection:
    """A night after some entries. Not thread-safe: its owner holds a lock."""

    def __init__(self, names: Mapping[str, str | None], same: Mapping[str, str] | None = None) -> None:
        """Begin before the first entry; ``names`` are the people by id, ``same`` the ids that are somebody else's."""
        self._names = names
        self._same = same or {}
        self._begin_night("", None)

    def _begin_night(self, night_id: str, opened: int | None) -> None:
        self.id = night_id
        self.opened = opened
        self.paused = False
        self._paused_at = 0
        self.match: Match | None = None
        self.last_header: Mapping[str, Any] | None = None
        self._before: tuple[list[Match], Mapping[str, Any] | None] = [], None
        """The series as it was before a game was entered by its score sheet."""
        self.games: list[Match] = []
        """The finished games of the series, without the one that is still open."""
        self.matches: list[Match] = []
        """Every match of the night."""
        self.log: deque[LogLine] = deque(maxlen=LOG_LENGTH)
        self.seq = 0
        self.state_no = 0
        self.live_since: int | None = None
        """The state with which the live round began; None without one."""

    @property
    def live(self) -> bool:
        """Return whether a live round runs, paused or not."""
        return self.match is not None and self.match.ending is None and self.match.view.live(self.match.state)

    @property
    def hidden(self) -> bool:
        """Return whether nothing may reveal a count, paused or not."""
        return self.match is not None and self.match.ending is None and self.match.view.hidden(self.match.state)

    def totals(self) -> dict[str, int]:
        """Return the points of the series by colour, with the open game once it is over (POP-4.5)."""
        totals: dict[str, int] = {}
        for match in self.series():
            for colour, points in match.scores().items():
                totals[colour] = totals.get(colour, 0) + points
        return totals

    def series(self) -> list[Match]:
        """Return the finished games of the series, with the open one once it is over."""
        open_one = [self.match] if self.match is not None and self.match.over else []
        return [*self.games, *open_one]

    def series_winners(self) -> list[str]:
        """Return who has won the series; nobody while it goes on."""
        games = self.series()
        return games[-1].view.series_winners(self.totals()) if games else []

    def apply(self, entry: Entry) -> None:
        """Take the next entry of the journal."""
        # A kind this program does not know is kept in the journal and passed over here.
        handler = _HANDLERS.get(entry.kind)
        line = handler(self, entry) if handler is not None else None
        self._pass_turn(entry.at)
        self.seq = entry.seq
        if entry.kind not in _ASIDE:
            self.state_no = entry.seq
        if not self.live:
            self.live_since = None
        elif self.live_since is None:
            self.live_since = self.state_no
        if line is not None:
            line.state_no = self.state_no
            self.log.append(line)

    def _pass_turn(self, at: int) -> None:
        """Note since when somebody is to move, where a clock runs."""
        match = self.match
        if match is not None and match.minutes and match.ending is None:
            turn = match.view.turn(match.state)
            if turn not in (-1, match.turn[0]):
                match.turn = turn, at

    # --- one method a kind of entry

    def _open_night(self, entry: Entry) -> LogLine:
        self._begin_night(entry.body["night"], entry.at)
        return _line(entry, "night-opened")

    def _open_match(self, entry: Entry) -> LogLine:
        self._finish()
        self.games = []
        return self._begin(entry, "match-opened")

    def _next_game(self, entry: Entry) -> LogLine:
        minutes = self.match.minutes if self.match is not None else 0
        self._finish()
        line = self._begin(entry, "next-game")
        if self.match is not None:
            self.match.minutes = minutes
        return line

    def _close_match(self, entry: Entry) -> LogLine | None:
        if self.match is not None:
            self.match.closed = entry.at
        self._finish()
        return _line(entry, "match-closed")

    def _finish(self) -> None:
        if self.match is not None:
            if self.match.over:
                self.games.append(self.match)
            # A match that is put away needs its end only, so a long evening stays small.
            del self.match.states[:-1]
            self.match.taken_back.clear()
            self.match = None

    def _begin(self, entry: Entry, key: str) -> LogLine:
        """Begin a match; one that this program cannot play (an older program reads a newer night) is passed over."""
        header = entry.body
        self.last_header = None
        seats = self._seats(header)
        try:
            rules, view = game(header["game"]), game_view(header["game"])
            state = start(rules, seats, header)
        except (KeyError, RulesError):
            return _line(entry, "rules-changed", {"seq": entry.seq})
        self.match = Match(header["match"], rules, view, seats, header, entry.at, [state])
        self.matches.append(self.match)
        self.last_header = header
        return _line(entry, key, {"game": rulebook(rules.id).name})

    def _seats(self, header: Mapping[str, Any]) -> tuple[Seat, ...]:
        players = header["players"]
        named = [shown_name(self._names.get(p["person"]) or "") if p["person"] else "" for p in players]
        return tuple(  # two who were made one person sit here under one name
            Seat(self._same.get(p["person"], p["person"]), name, p["colour"])
            for p, name in zip(players, told_apart(named), strict=True)
        )

    def _keep_sheet(self, entry: Entry) -> LogLine:
        """Enter a score sheet: the end of the open match, or of a game that nothing was entered of."""
        body = entry.body
        match = self.match
        if "match" in body and match is not None and match.id == body["match"]:
            try:
                state = sheet_state(match.game, match.seats, body["position"])
            except RulesError:
                return _line(entry, "rules-changed", {"seq": entry.seq})
            match.ended = Ended(entry.seq, entry.at, entry.by, state)
            return _line(entry, "sheet-ends")
        seats = self._seats(body)
        try:
            rules, view = game(body["game"]), game_view(body["game"])
            state = sheet_state(rules, seats, body["position"])
        except (KeyError, RulesError):
            return _line(entry, "rules-changed", {"seq": entry.seq})
        self._finish()
        self._before = list(self.games), self.last_header
        if not self._goes_on(body):
            self.games = []
        header = {key: value for key, value in body.items() if key != "position"}
        self.match = Match(body["match"], rules, view, seats, header, entry.at, [state])
        self.match.ended = Ended(entry.seq, entry.at, entry.by, state, alone=True)
        self.matches.append(self.match)
        self.last_header = header
        return _line(entry, "sheet-kept", {"game": rulebook(rules.id).name})

    def _goes_on(self, header: Mapping[str, Any]) -> bool:
        """Return whether a game that was only counted belongs to the series: the same game, players and colours."""
        last = self.last_header
        if last is None or last["game"] != header["game"] or not self.games or self.series_winners():
            return False
        return {(p["colour"], p["person"]) for p in last["players"]} == {
            (p["colour"], p["person"]) for p in header["players"]
        }

    def _end_early(self, entry: Entry) -> LogLine | None:
        if self.match is None:
            return None
        self.match.ended = Ended(entry.seq, entry.at, entry.by)
        return _line(entry, "ended-early")

    def _reopen(self, match: Match, ended: Ended, entry: Entry) -> LogLine:
        """Take back an end that the table made."""
        match.ended = None
        for line in self.log:
            line.undone = line.undone or line.entry.seq == ended.seq
        if not ended.alone:
            return _said(entry, "goes-on-again", *(["undone-seen"] if match.view.hidden(match.state) else []))
        self.matches.pop()
        self.match = None
        self.games, self.last_header = self._before
        return _line(entry, "sheet-taken-out")

    def _moves(self, entry: Entry) -> LogLine | None:
        match = self.match
        if match is None or match.broken is not None or match.ended is not None:
            return None
        body = entry.body
        first = len(match.steps)
        for text in body["moves"]:
            try:
                move = match.game.parse(text)
                refused = match.state.refusal(move) is not None
            except RulesError:
                refused = True
            if refused:
                match.broken = entry.seq
                break
            match.steps.append(
                AppliedMove(
                    move,
                    entry.seq,
                    entry.by,
                    bool(body.get("drawn")),
                    _sensor(match, move, entry),
                )
            )
            match.states.append(match.state.after(move))
        moves = [step.move for step in match.steps[first:]]
        before = match.states[first:-1]
        if not moves:
            return None

        def rulings() -> list[Ruling]:
            return [match.view.public_ruling(state, move) for state, move in zip(before, moves, strict=True)]

        def words() -> Words:
            match body.get("as"):
                case "deal" if not match.view.follows:
                    return say("dealt", {"cards": match.view.dealt(moves)})
                case "deal" if len(moves) > LISTED_ONE_BY_ONE:
                    return say("arranged", {"count": len(moves)})
                case "check":
                    return say("stopped")
            said = rulings()
            return joined(ruling.words for ruling in said)

        return LogLine(entry, 0, words, lambda: match.view.public_ruling(before[-1], moves[-1]))

    def _set_position(self, entry: Entry) -> LogLine | None:
        match = self.match
        if match is None or match.broken is not None or match.ended is not None:
            return None
        try:
            step = SetPosition.of(entry.body["position"])
            state, ruling = step.after(match.state), step.ruling(match.state)
        except RulesError:
            match.broken = entry.seq
            return None
        match.steps.append(AppliedMove(step, entry.seq, entry.by, drawn=False))
        match.states.append(state)
        match.disputes.append((("position", *ruling.facts["places"]), ruling.words))
        return LogLine(entry, 0, lambda: ruling.words, lambda: ruling)

    def _undo(self, entry: Entry) -> LogLine | None:
        match = self.match
        if match is None:
            return None
        if match.ended is not None:
            return self._reopen(match, match.ended, entry)
        keep = entry.body["to"]
        gone = match.steps[keep:]
        hidden = match.view.hidden
        seen = hidden(match.states[keep]) and not all(hidden(state) for state in match.states[keep + 1 :])
        if entry.by != CAMERA:
            moves = tuple(step.move for step in match.steps)
            match.taken_back.append(TakenBack(entry.seq, moves, keep, tuple(match.states[keep + 1 :])))
        del match.steps[keep:]
        del match.states[keep + 1 :]
        left = {step.seq for step in match.steps}
        lost = {step.seq for step in gone} - left
        if entry.body["agreed"]:
            first = next((line for line in self.log if line.entry.seq in lost), None)
            if first is not None:
                match.disputes.append((("move", keep, str(gone[0].move)), first.words))
        for line in self.log:
            if line.entry.seq in lost:
                line.undone = True
        key = ("undone" if len(gone) != 1 else "undone-one") + ("-agreed" if entry.body["agreed"] else "")
        return _said(entry, key, *(["undone-seen"] if seen else []), facts={"count": len(gone)})

    def _correct(self, entry: Entry) -> LogLine | None:
        match = self.match
        if match is None:
            return None
        body = entry.body
        match.corrections.append((entry.seq, body["colour"], body["points"], body["reason"]))
        book = rulebook(match.game.id)
        name = next((seat.name for seat in match.seats if seat.colour == body["colour"]), "")
        colour = book.words(body["colour"])
        facts = {
            "who": Words("{name} ({colour})").filled({"name": name, "colour": colour}) if name else colour,
            "points": body["points"],
            "reason": body["reason"],
        }
        line = _line(entry, "corrected", facts)
        match.disputes.append((("score", body["colour"]), line.words))
        return line

    def _lost(self, entry: Entry) -> LogLine:
        return _line(entry, "entries-lost", {"count": entry.body["last"] - entry.body["first"] + 1})

    def _pause(self, entry: Entry) -> LogLine:
        self.paused = True
        self._paused_at = entry.at
        return _line(entry, "paused-now")

    def _resume(self, entry: Entry) -> LogLine:
        if self.paused and self.match is not None:
            turn, since = self.match.turn
            self.match.turn = turn, since + max(entry.at - max(self._paused_at, since), 0)
        self.paused = False
        return _line(entry, "resumed")

    def _clock(self, entry: Entry) -> LogLine | None:
        match, minutes = self.match, entry.body["minutes"]
        if match is None:
            return None
        match.minutes, match.turn = minutes, (-1, entry.at)
        return _line(entry, "clock-set" if minutes else "clock-off", {"count": minutes})

    def _fault(self, entry: Entry) -> LogLine | None:
        match = self.match
        if match is None:
            return None
        body = entry.body
        words = fault_words(match, body)
        match.faults[entry.seq] = CalledFault(
            entry.seq,
            body["clause"],
            body["round"],
            body.get("colour"),
            body.get("note", ""),
            entry.device_kind,
            body.get("motion"),
            body.get("place"),
            words,
        )
        match.disputes.append((("fault", body["clause"], body.get("colour")), words))
        return LogLine(entry, 0, lambda: words, _no_ruling)

    def _dismiss(self, entry: Entry) -> LogLine | None:
        match = self.match
        if match is None or entry.body["fault"] not in match.faults:
            return None
        seq = entry.body["fault"]
        match.faults[seq] = replaced(match.faults[seq], dismissed=True)
        return _line(entry, "fault-dismissed")

    def _evidence(self, entry: Entry) -> LogLine | None:
        if self.match is not None:
            self.match.evidence.append({**entry.body, "kind": entry.device_kind, "at": entry.at})
        return _line(entry, "evidence-kept")


_HANDLERS: dict[str, Callable[[NightProjection, Entry], LogLine | None]] = {
    "open-night": NightProjection._open_night,
    "open-match": NightProjection._open_match,
    "next-game": NightProjection._next_game,
    "close-match": NightProjection._close_match,
    "keep-sheet": NightProjection._keep_sheet,
    "end-early": NightProjection._end_early,
    "moves": NightProjection._moves,
    "set-position": NightProjection._set_position,
    "undo": NightProjection._undo,
    "correct": NightProjection._correct,
    LOST: NightProjection._lost,
    "clock": NightProjection._clock,
    "pause": NightProjection._pause,
    "resume": NightProjection._resume,
    "fault": NightProjection._fault,
    "dismiss-fault": NightProjection._dismiss,
    "evidence": NightProjection._evidence,
}

_ASIDE = frozenset({"fault", "dismiss-fault", "evidence", "clock"})
"""Kinds after which a phone's next action still fits: they do not change what may be played."""


def start(rules: Game[Any], seats: tuple[Seat, ...], header: Mapping[str, Any]) -> State[Any]:
    """Return the first state of a match.

    :raises companion.rules.core.SetupError: when players, options or set-up do not fit.
    """
    named = zip(seat_names(rules, seats), seats, strict=True)
    players = [{"name": name, "colour": seat.colour} for name, seat in named]
    return rules.start(players, header["options"], header["setup"])


def sheet_state(rules: Game[Any], seats: tuple[Seat, ...], position: Mapping[str, JSON]) -> State[Any]:
    """Return the state that a score sheet's position describes, with the players' names as they are now.

    :raises companion.rules.core.RulesError: when the position is broken.
    """
    players = position.get("players")
    if not isinstance(players, list) or len(players) != len(seats) or not all(isinstance(p, dict) for p in players):
        raise InvalidMoveError("The sheet names other players.")
    named = [{**player, "name": name} for player, name in zip(players, seat_names(rules, seats), strict=True)]
    return rules.from_position({**position, "players": named})


def seat_names(rules: Game[Any], seats: tuple[Seat, ...]) -> list[str]:
    """Return what players are called: without a name by the colour, or where there are none by the seat, P1 … P4.

    The capital tells a colour's name from the colour itself, which sentences write in their own language.
    """
    return [seat.name or (seat.colour.capitalize() if rules.colours else seat.colour.upper()) for seat in seats]


def fault_words(match: Match, body: Mapping[str, Any]) -> Words:
    """Return the sentence for a fault, felt or called."""
    motion = body.get("motion")
    if motion is None:
        try:
            return match.view.fault(match.state, body["clause"], body.get("colour"))
        except KeyError:  # a clause of a newer rulebook
            return say("fault-said", {"clause": body["clause"]})
    return say(f"fault-{motion}-placed" if motion == "turned" and body.get("place") else f"fault-{motion}")


def _sensor(match: Match, move: Any, entry: Entry) -> Sensor | None:
    key = entry.body.get("sensor")
    placing: Placing | None = match.view.placing(match.state, move) if key else None
    return Sensor(key, entry.seq, match.round, placing) if key and placing else None


def _said(entry: Entry, *keys: str, facts: Mapping[str, object] | None = None) -> LogLine:
    """Return a line of several sentences."""
    words = joined([say(key, facts) for key in keys])
    return LogLine(entry, 0, lambda: words, _no_ruling)


def _line(entry: Entry, key: str, facts: Mapping[str, object] | None = None) -> LogLine:
    return LogLine(entry, 0, lambda: say(key, facts), _no_ruling)


def _no_ruling() -> None:
    return None


def role_of(entry: Entry) -> str:
    """Return who an entry is from, as the log names it: a role, or the device ``igloo`` or ``camera``."""
    return entry.by_role or str(Role.HOST)
