"""Everything that can be wrong with a position of Arctic, as a camera or a person may report it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from companion.rules.arctic.components import (
    ANIMALS,
    FACE_DOWN,
    HAND_LIMIT,
    KIND,
    PACK_MASK,
    RESERVE,
    RIVER,
    TEXT,
    UNKNOWN,
    cards_of,
    in_play,
)
from companion.rules.arctic.position import ArcticPosition
from companion.rules.core import JSON, Problem
from companion.rules.rulebook import rulebook

_BEFORE_DRAWING = frozenset({"A", "penalty", "B", "B2"})
_OF_PHASE_C = frozenset({"C", "drawn", "refill", "D"})
_TURNS_UP = frozenset({"penalty", "drawn", "refill"})


def flaw(key: str, **facts: JSON) -> Problem:
    """Return something wrong with a position, with the clauses of its sentence."""
    return Problem(key, facts, rulebook("arctic").sentences[key].clauses)


def problems(s: ArcticPosition) -> tuple[Problem, ...]:
    """Return everything that is wrong, not only the first."""
    return (*s.flaws, *_cards(s), *_counts(s), *_seats(s), *_phase(s))


def _cards(s: ArcticPosition) -> Iterator[Problem]:
    lying = Counter(card for card in s.all_cards() if card < UNKNOWN)
    lying.update(card for mask in s.veiled for card in cards_of(mask))
    for card, count in sorted(lying.items()):
        if count > 1:
            yield flaw("card-twice", card=TEXT[card], count=count)
    foreign = [TEXT[card] for card in sorted(lying) if not in_play(s.packs) & 1 << card]
    if foreign:
        yield flaw("foreign-packs", cards=", ".join(foreign))


def _counts(s: ArcticPosition) -> Iterator[Problem]:
    if s.phase == "setup":
        return
    if s.players > 1 and len(s.packs) != s.players:
        yield flaw("packs-wrong", packs=len(s.packs), players=s.players)
    total, box = len(s.all_cards()) + s.pile_left + s.reserve, sum(PACK_MASK[pack].bit_count() for pack in s.packs)
    if total != box:
        yield flaw("cards-wrong", cards=total, box=box)
    reserve = RESERVE.get(s.players, 0) if s.stage == "normal" else 0
    if s.reserve != reserve:
        yield flaw("reserve-wrong", cards=s.reserve, should=reserve)
    if s.players > 1 and s.phase in _BEFORE_DRAWING and len(s.river) < RIVER and s.pile_left + s.reserve:
        yield flaw("river-short", cards=len(s.river))


def _seats(s: ArcticPosition) -> Iterator[Problem]:
    for animal in range(6):
        if s.totems.count(animal) > 1:
            yield flaw("totem-twice", animal=ANIMALS[animal])
        if s.held >> animal & 1 and s.owners[animal] != s.seat:
            yield flaw("held-not-owned", who=s.seat, animal=ANIMALS[animal])
    for seat in range(s.players):
        hand, seen = len(s.hands[seat]), s.veiled[seat].bit_count()
        # The limit is for the end of phase C: within a turn one may hold more, and so after a last turn (ARC-E.1).
        if hand > HAND_LIMIT + (s.stage == "last") and seat != s.seat:
            yield flaw("hand-long", who=seat, cards=hand)
        if seen > s.unseen(seat):
            yield flaw("unseen-too-many", who=seat, cards=s.unseen(seat), seen=seen)
        down = sum(card >= FACE_DOWN for card in s.piles[seat])
        if down and s.players > 1 and s.powers[0] != 12:
            yield flaw("down-without-power", who=seat, cards=down)
        top = s.piles[seat][-1] if s.piles[seat] else -1
        if s.players > 1 and UNKNOWN <= top < FACE_DOWN and s.phase not in {"totems", "over"}:
            yield flaw("visible-unread", who=seat, animal=TEXT[top] if top >= KIND else "?")


def _phase(s: ArcticPosition) -> Iterator[Problem]:
    if s.phase in _TURNS_UP and not s.pile_left:
        yield flaw("nothing-to-turn-up", phase=s.phase)
    if s.phase in {"B", "B2"} and s.visible(s.seat) < 0:
        yield flaw("visible-missing", who=s.seat)
    over = s.count >= s.value if s.phase in {"A", "penalty"} else s.count > s.value
    if over:
        yield flaw("count-over", count=s.count, value=s.value, phase=s.phase)
    if s.phase in _OF_PHASE_C and s.stage == "last":
        yield flaw("no-phase-c", phase=s.phase)
