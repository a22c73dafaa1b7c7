"""A drawn game of Arctic, followed by the camera to its last turn: what it enters, what it asks, what it leaves.

Real are the night, its journal, the follower, the deck and all that is read; time is the drawing's. Of each turn the
camera sees a hand over the River, the cards laid while nothing is drawn yet, and what lies there at its end.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Final, Protocol

from companion.follow.cards import CardTable
from companion.follow.messages import HALF
from companion.follow.pace import EVERY_S, HALF_S
from companion.follow.questions import UNSEEN
from companion.lab.bench.follow import UNSEEN_CAUSE
from companion.lab.bench.follow import said as told_of
from companion.lab.bench.vision.watched import WatchedNight
from companion.lab.worlds.cards.photos import CardShot
from companion.lab.worlds.cards.river import (
    SHEET,
    PlayedTurn,
    RiverScene,
    begun,
    drawn_table,
    played,
)
from companion.night.answers import TABLE
from companion.night.games import game_view
from companion.ports import BadDataError
from companion.rules.arctic import GAME
from companion.rules.arctic.components import ANIMALS, HAND_LIMIT, UNKNOWN

LOOKS: Final = 9
"""So many pictures are shown of a scene: it settles, and is looked at twice."""
FAMILIES: Final = (5, 6, 7)
"""Families of art on which finding cards was not tuned."""
SEEDS: Final = (71, 72, 73)


class RiverTable(Protocol):
    """A table of Arctic that somebody draws."""

    @property
    def seed(self) -> int:
        """Return the seed; in the second half of a game with an even one another lamp is lit."""

    def shot(self, scene: RiverScene, number: int, *, hand: bool = False, lamp: bool = False) -> CardShot:
        """Return a picture of what lies there, a hand over the River or not, another lamp lit or not."""

    def sheet(self, first: int, attempt: int = 0) -> bytes:
        """Return a photo of ``SHEET`` cards from number ``first`` on; each ``attempt`` from another side."""


class RiverNight(WatchedNight):
    """A night with a game of Arctic, and a camera that follows it."""

    def __init__(self, folder: Path, first: Any, cards: CardTable) -> None:
        """Open a match set up as ``first``, but for the River, with what is secret unseen; the cards were taught."""
        super().__init__(folder, cards, EVERY_S, camera_settle_tenths=3)
        opened = self.do("open-match", opening_of(first))
        if not opened.ok:
            raise RuntimeError(str(opened))

    def kept(self, before: Any) -> int:
        """Return after how many moves a position of the record stood."""
        snapshot = self.night.snapshot()
        return 0 if snapshot is None else max(n for n, state in enumerate(snapshot.states) if state == before)

    @property
    def state(self) -> Any:
        """Return the record's position."""
        snapshot = self.night.snapshot()
        if snapshot is None:
            raise LookupError("no match is open")
        return snapshot.states[-1]


def opening_of(first: Any) -> dict[str, Any]:
    """Return what opens a match set up as ``first``, but for the River, with what is secret unseen."""
    setup = {
        "packs": list(first.packs),
        "powers": dict(zip(ANIMALS, first.powers, strict=True)),
        "first": first.first + 1,
        "totems": ["?"] * first.players,
        "hands": [["?"] * 3] * first.players,
    }
    seats = [{"name": name, "colour": f"p{number}"} for number, name in enumerate(first.names, 1)]
    return {"game": GAME.id, "players": seats, "draw": False, "setup": setup}


def shown(state: Any) -> dict[str, Any]:
    """Return what everybody at the table can tell of a position."""
    view = state.view(None)
    players = [(one["pile"], one["powers"], len(one["hand"]), len(one["penalty"])) for one in view["players"]]
    return {"places": view["places"], "players": players, "to_move": view.get("to_move"), "stage": view["stage"]}


@dataclass
class RiverTally:
    """What came of games: turns, those entered by the camera, wrongly; asked, with the truth offered; left to people.

    ``first``: asked with the truth offered first; ``typed``: turns that people had to enter by hand.
    ``causes``: of those asked about, of how many what was the cause (:func:`cause_of`).
    ``told``: turns of which people entered what nobody sees (a Penalty card given away, that the game is over).
    ``early``: entered while the turn was still being played. ``work``: processor's seconds of each turn's pictures.
    ``answers``: seconds from the first picture of what was entered or asked about, those of the processor added;
    ``answer_work``: of these, those of the processor. ``scores``: of each game, whether all that everybody can tell
    of the score at its end is the truth.
    """

    turns: int = 0
    entered: int = 0
    wrong: int = 0
    asked: int = 0
    among: int = 0
    first: int = 0
    typed: int = 0
    left: int = 0
    told: int = 0
    early: int = 0
    rivers: int = 0
    games: int = 0
    causes: Counter[str] = field(default_factory=Counter)
    notes: dict[str, int] = field(default_factory=dict)
    work: list[float] = field(default_factory=list)
    answers: list[float] = field(default_factory=list)
    answer_work: list[float] = field(default_factory=list)
    scores: list[bool] = field(default_factory=list)


def taught(folder: Path, table: RiverTable) -> CardTable:
    """Return the cards of a table as they are taught."""
    return taught_by_sheets(folder, GAME.id, UNKNOWN, SHEET, table.sheet)


def taught_by_sheets(folder: Path, game: str, many: int, each: int, sheet: Callable[[int, int], bytes]) -> CardTable:
    """Return the first ``many`` cards of a game, taught by photos of ``each`` of them.

    ``sheet`` takes a photo of those from a number on; one of which not every card is found is taken again.
    """
    cards = CardTable(folder)
    for first in range(0, many, each):
        for attempt in range(20):
            data = sheet(first, attempt)
            try:
                cards.teach(game, data, first, min(each, many - first))
                break
            except BadDataError:
                continue
    return cards


def follow_game(
    folder: Path, table: RiverTable, turns: list[PlayedTurn], tally: RiverTally, cards: CardTable, said: Any = None
) -> None:
    """Follow a game to its end, people entering only what the camera leaves to them, and count."""
    view = game_view(GAME.id)
    night = RiverNight(folder, turns[0].before, cards)
    scene, number = begun(turns[0].before), 0
    night.show(table.shot(scene, number), LOOKS)
    if sorted(night.state.river) == sorted(turns[0].before.river):
        tally.rivers += 1
    else:
        tally.wrong += bool(night.state.river)
        night.do("moves", {"moves": [f"river {card}" for card in scene.slots if card is not None]})
    night.show(table.shot(scene, number), 12)
    for index, turn in enumerate(turns):
        number += 1
        lamp = index >= len(turns) // 2 and table.seed % 2 == 0
        seat, before = turn.before.seat, night.state
        worked = night.worked
        night.show(table.shot(scene, number, hand=True, lamp=lamp), 2)
        middle, laid = _laid(turn)
        half: RiverScene = scene.then(middle, laid, seat)
        night.show(table.shot(half, number, lamp=lamp), LOOKS)
        tally.early += night.state != before
        scene = scene.then(turn.after, turn.laid, seat)
        whole = table.shot(scene, number, lamp=lamp)
        began, began_work = night.time, night.worked
        answered = _until_answered(night, whole, before, LOOKS + 3)
        if night.told[1] == HALF:
            answered = _until_answered(night, whole, before, round(HALF_S / EVERY_S) + LOOKS)
        if answered is not None:
            tally.answer_work.append(answered[1] - began_work)
            tally.answers.append(answered[0] - began - EVERY_S + answered[1] - began_work)
        tally.work.append(night.worked - worked)
        tally.turns += 1
        kind, last = "entered", index + 1 == len(turns)
        truth = _with_rest(night, turn, tally, last=last)
        question = night.follower.now.question
        if shown(night.state) == truth:
            tally.entered += 1
        elif night.state != before:
            kind = "wrong"
            tally.wrong += 1
            night.do("undo", {"to": night.kept(before), "agreed": True})
        elif question is not None:
            kind = "asked"
            tally.asked += 1
            tally.causes[cause_of(question)] += 1
            right = [n for n, c in enumerate(question.candidates) if c.state is not None and _is_so(c.state, turn)]
            tally.among += bool(right)
            tally.first += right[:1] == [0]
            night.follower.answer(question.id, right[0] if right else None, TABLE)
            truth = _with_rest(night, turn, tally, last=last)
        else:
            kind = "left"
            tally.left += 1
            note = night.told[1]
            tally.notes[note] = tally.notes.get(note, 0) + 1
        if said is not None:
            said(index, kind, night.told[1] if question is None else told_of(question), turn)
        if shown(night.state) != truth:
            tally.typed += 1
            ended = [rest.moves for rest in view.cards.open_row.rests(night.state)][:1]  # type: ignore[union-attr]
            moves = [str(move) for one in ended for move in one]
            moves += [str(view.public(turn.before, move)) for move in turn.moves]  # type: ignore[attr-defined]
            answer = night.do("moves", {"moves": moves})
            if not answer.ok or shown(night.state) != truth:
                raise RuntimeError(f"The turn could not be entered: {moves} {answer}")
        if kind != "entered":
            # The camera sees that board and record agree again.
            night.show(whole, LOOKS + 3)
    tally.scores.append(_open_score(night.state) == _open_score(turns[-1].after))
    night.journal.close()
    tally.games += 1


def _with_rest(night: RiverNight, turn: PlayedTurn, tally: RiverTally, *, last: bool) -> dict[str, Any]:
    """Let people enter what nobody sees of a turn; return what the record is to say then.

    That there was nothing, the next turn tells, if there is one.
    """
    rest = unseen_rest(night.state, turn)
    if rest is None:
        return shown(turn.after)
    if rest or last:
        tally.told += 1
        night.do("moves", {"moves": rest or ["end"]})
    return shown(night.state)


def _is_so(state: Any, turn: PlayedTurn) -> bool:
    """Return whether a position is what a turn left, but for what people enter."""
    return shown(state) == shown(turn.after) or unseen_rest(state, turn) is not None


def unseen_rest(state: Any, turn: PlayedTurn) -> list[str] | None:
    """Return what people enter of a turn of which the camera entered a part: nothing, where no more was played.

    None where it entered no such part.
    """
    rests = game_view(GAME.id).cards.open_row.rests(state)  # type: ignore[union-attr]
    if not rests or state.seat != turn.before.seat:
        return None
    given = [f"give ? p{move.b + 1}" for move in turn.moves if move.kind == "give"]
    after = state
    for text in given:
        after = after.after(GAME.parse(text))
    while given and after.seat == state.seat and len(after.hands[after.seat]) > HAND_LIMIT:
        given.append("discard ?")
        after = after.after(GAME.parse("discard ?"))
    for move in () if given else rests[0].moves:
        after = after.after(move)
    return given if shown(after) == shown(turn.after) else None


def cause_of(question: Any) -> str:
    """Return why something was asked, in words for a table."""
    if question.kind == UNSEEN:
        return UNSEEN_CAUSE
    row = game_view(GAME.id).cards.open_row  # type: ignore[union-attr]
    lying = {str((row.row(c.state), row.tops(c.state))) for c in question.candidates}  # type: ignore[union-attr]
    return "which cards lie there" if len(lying) > 1 else "how the tokens went"


def _open_score(state: Any) -> list[int]:
    """Return the points of each player, without those of the totem, which nobody shows."""
    return [sum(line.points for line in sheet.lines if line.what != "totem") for sheet in state.score().sheets]


def _until_answered(night: RiverNight, shot: CardShot, before: Any, times: int) -> tuple[float, float] | None:
    """Show a picture so many times; return when it was entered or asked about, and the processor's seconds by then."""
    answered = None
    for _ in range(times):
        night.show(shot)
        if answered is None and (night.state != before or night.follower.now.question is not None):
            answered = night.time, night.worked
    return answered


def _laid(turn: PlayedTurn) -> tuple[Any, tuple[str, ...]]:
    """Return the position when all cards are laid and nothing is drawn yet."""
    state = turn.before
    for move in turn.moves:
        if move.kind not in {"place", "swap", "take-back", "value", "penalty", "end"} or state.phase not in {
            "A",
            "penalty",
        }:
            break
        state = state.after(move)
    return state, turn.laid


def measure_rivers(seeds: tuple[int, ...] = SEEDS, families: tuple[int, ...] = FAMILIES) -> RiverTally:
    """Return what came of games of two and three players, one a seed."""
    tally = RiverTally()
    for seed in seeds:
        table = drawn_table(seed, families[seed % len(families)])
        with tempfile.TemporaryDirectory() as folder:
            cards = taught(Path(folder) / "tables", table)
            follow_game(Path(folder), table, played(seed, 2 + seed % 2), tally, cards)
    return tally


def measure(seeds: tuple[int, ...] = SEEDS[:1]) -> dict[str, float]:
    """Return the figures of :func:`measure_rivers` by name."""
    tally = measure_rivers(seeds)
    return {
        "turns played": tally.turns,
        "entered by the camera": tally.entered,
        "entered wrongly": tally.wrong,
        "entered before the turn was over": tally.early,
        "asked about": tally.asked,
        "asked about, the truth among what was offered": tally.among,
        "asked about what no picture shows": tally.causes[UNSEEN_CAUSE],
        "left to people": tally.left,
        "first Rivers entered": tally.rivers,
        "processor's seconds a turn": round(sum(tally.work) / max(1, tally.turns), 1),
        "seconds to the answer, median": round(median(tally.answers), 1) if tally.answers else 0.0,
    }
