"""What may have been meant by a table of Arctic that no turn leads to: the steps to be asked about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from companion.rules.arctic import legality
from companion.rules.arctic.components import COMPANION, FACE_DOWN, HAND_LIMIT, MAIN, UNKNOWN
from companion.rules.arctic.inference.bounds import PLACING, Bounds
from companion.rules.arctic.inference.likelihood import LANDS, SLOTS, card_fits
from companion.rules.arctic.moves import BOTTOM, TOP, UNDER, ArcticMove, arrow
from companion.rules.arctic.position import ArcticPosition
from companion.rules.core import Reason, Ruling
from companion.rules.inference.explain import Objection, impossible
from companion.rules.inference.turns import Turn
from companion.rules.rulebook import rulebook

END = ArcticMove("end")


def near_misses(goal: Bounds, s: ArcticPosition, missed: Sequence[str]) -> Iterator[ArcticMove]:
    """Yield the steps that would have made what was seen."""
    mine = f"p{goal.me + 1}."
    if s.phase == "A" and f"{mine}pile" in missed and goal.pile is not None:
        yield from _placings(s, goal.pile)
    if any(name in LANDS for name in missed):
        yield from _strides(goal, s)
    if s.phase == "C":
        fewer = goal.hand is not None and len(goal.hand) < len(s.hands[s.seat]) + s.value - s.count
        if f"{mine}hand" in missed and fewer and s.count < s.value:
            yield END
        if any(name in SLOTS for name in missed):
            if not goal.likelihood.lost(goal.before.river) and s.count < s.value:
                yield END
            yield from (ArcticMove("draw", card) for card in _taken(goal, s))
        for seat, theirs in enumerate(goal.likelihood.penalties):
            more = theirs is not None and len(theirs) > len(s.penalties[seat])
            if seat != goal.me and more and f"p{seat + 1}.penalty" in missed:
                yield ArcticMove("give", UNKNOWN, seat)
    if s.phase == "D" and f"{mine}hand" in missed:
        yield END


def _taken(goal: Bounds, s: ArcticPosition) -> list[int]:
    """Return cards of the River at the start of the turn that were not seen there any more."""
    return [card for card in goal.before.river if not goal.likelihood.may_stay(card) and card in s.river]


def _placings(s: ArcticPosition, seen: Sequence[int]) -> Iterator[ArcticMove]:
    mine = s.piles[s.seat]
    if len(seen) <= len(mine):
        yield END
        return
    if seen[0] < UNKNOWN and not (mine and card_fits(seen[0], mine[0])):
        yield ArcticMove("place", seen[0], BOTTOM)
    hidden = [number for number in range(len(seen)) if seen[number] >= FACE_DOWN]
    for number in hidden:
        if number >= len(mine) or mine[number] < FACE_DOWN:
            yield ArcticMove("place", min(UNKNOWN, seen[number] - FACE_DOWN), UNDER)
    card = seen[len(mine)]
    if card < UNKNOWN and card not in mine:
        yield ArcticMove("place", card, TOP)


def _strides(goal: Bounds, s: ArcticPosition) -> Iterator[ArcticMove]:
    """Yield the steps of tokens that would have ended as was seen."""
    visible = s.visible(s.seat)
    may = goal.likelihood.tokens
    steps = {}
    for animal in range(6):
        if not may[animal] >> s.tokens[animal] & 1:
            higher = may[animal] >> (s.tokens[animal] + 1)
            steps[animal] = 1 if higher else -1
    if s.phase == "B" and visible >= 0:
        main, companion = MAIN[visible], COMPANION[visible]
        if not steps:
            yield END
        for up in (1, -1):
            for down in (1, -1):
                ends = (main, s.tokens[main] + up), (companion, s.tokens[companion] + down)
                if all(0 <= at <= 5 and may[animal] >> at & 1 for animal, at in ends):
                    yield ArcticMove("tokens", arrow(main, up), arrow(companion, down))
        moved = list(steps)
        if len(moved) == 2 and set(moved) != {main, companion}:
            yield ArcticMove("tokens", *(arrow(animal, steps[animal]) for animal in moved))
    elif s.phase in {"B2", "C"} and len(steps) == 1:
        yield from (ArcticMove("extra", arrow(animal, step)) for animal, step in steps.items())


def verdicts(goal: Bounds, nearest: Turn, missed: Sequence[str]) -> Iterator[tuple[ArcticMove, Ruling]]:
    """Yield the rulings on steps at a moment that the nearest turn does not have: too many cards, a fresh power."""
    me, mine = goal.me, f"p{goal.me + 1}."
    end: Any = nearest.state
    last, placing = goal.before, goal.before
    for move in nearest.moves:
        if last.phase == "A":
            placing = last
        after = last.after(move)
        if after.seat != me:
            break
        last = after
    if f"{mine}pile" in missed and goal.pile is not None:
        yield from _fresh(goal, placing, goal.pile)
        if len(goal.pile) > len(last.piles[me]) and last.phase not in PLACING:
            done = last.copy()
            done.phase = "B2"
            new = [card for card in goal.pile if card < UNKNOWN and card not in last.piles[me]]
            yield from (_with_ruling(done, ArcticMove("place", card, TOP)) for card in new[:1])
    done = last.copy()
    done.phase, done.count = "D", done.value
    if f"{mine}hand" in missed and goal.hand is not None:
        if len(goal.hand) > HAND_LIMIT:
            done.hands = (*done.hands[:me], (UNKNOWN,) * len(goal.hand), *done.hands[me + 1 :])
            yield _with_ruling(done, END)
        elif len(goal.hand) > len(end.hands[me]) and goal.before.river:
            yield _with_ruling(done, ArcticMove("draw", (_taken(goal, goal.before) or goal.before.river)[0]))
    more = goal.penalty is not None and len(goal.penalty) > len(end.penalties[me])
    if f"{mine}penalty" in missed and more and len(done.hands[me]) <= HAND_LIMIT:
        yield _with_ruling(done, ArcticMove("discard", UNKNOWN))


LIES_WRONG: Final = ("card-twice", "foreign-packs", "visible-unread")
"""Problems of a table that no turn makes."""


def plain_objections(goal: Bounds) -> Iterator[Objection]:
    """Yield what is plainly wrong with a table: a card that lies twice, a zone of somebody whose turn it is not."""
    before = goal.before
    found = list(impossible(before, goal.evidence, (), LIES_WRONG))
    yield from found
    if found:
        return
    seats = [name.partition(".")[0] for name in goal.misses(before) if goal.is_others(name)]
    for seat in dict.fromkeys(seats):
        reason = Reason("rival-zone", {"who": goal.me, "other": int(seat[1:]) - 1})
        places = frozenset({f"{seat}.hand", f"{seat}.pile"})
        yield Objection("", rulebook("arctic").ruling(False, reason, before), places)


def _fresh(goal: Bounds, placing: ArcticPosition, seen: Sequence[int]) -> Iterator[tuple[ArcticMove, Ruling]]:
    """Yield the ruling on a card put under by the fox's power that was taken only in this turn (ARC-A.5)."""
    if seen and seen[-1] < FACE_DOWN and MAIN[seen[-1]] == 0 and goal.before.owners[0] != goal.me:
        fresh = placing.copy()
        fresh.owners = (goal.me, *fresh.owners[1:])
        for move in _placings(fresh, seen):
            if move.kind == "place" and move.b != TOP and not legality.allowed(fresh, move):
                yield _with_ruling(fresh, move)


def _with_ruling(s: ArcticPosition, move: ArcticMove) -> tuple[ArcticMove, Ruling]:
    return move, s.check(move)
