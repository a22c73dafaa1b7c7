"""The walk through a turn of Arctic for :mod:`companion.rules.inference.turns`: which steps may lead to what was seen.

A turn is phases A, B and C with penalties, refills and cards put away, up to the next player's. Cards that nobody saw,
before or after, are not told apart: one of them stands for all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from companion.rules.arctic import legality
from companion.rules.arctic.components import (
    FACE_DOWN,
    HAND_LIMIT,
    KIND,
    PLACEMENT,
    RIVER,
    UNKNOWN,
    cards_of,
)
from companion.rules.arctic.game import GAME
from companion.rules.arctic.inference import near_misses
from companion.rules.arctic.inference.bounds import Bounds
from companion.rules.arctic.inference.likelihood import LANDS, SLOTS, card_fits, evidence_of, pile_fits
from companion.rules.arctic.moves import BOTTOM, TOP, UNDER, ArcticMove
from companion.rules.arctic.position import ArcticPosition
from companion.rules.core import Ruling, SetupError
from companion.rules.inference import depth_first
from companion.rules.inference.explain import Objection
from companion.rules.inference.explanation import Explanation
from companion.rules.inference.turns import Evidence, SearchResult, Turn

__all__ = ["cases", "evidence_of", "explain", "find", "turn_of"]

END = ArcticMove("end")


class ArcticGoal(Bounds):
    """What was seen after a turn of Arctic, and the steps that may lead there."""

    def candidates(self, s: ArcticPosition) -> Iterable[ArcticMove]:
        """Yield the legal steps that may lead to what was seen; of cards that nobody saw one stands for all."""
        return _STEPS[s.phase](self, s)

    def decides(self, s: ArcticPosition) -> bool:
        """Return whether a step is a ground: of the cards that fill the River any might have come."""
        return s.phase != "refill"

    def _anyone(self, s: ArcticPosition, mask: int) -> list[int]:
        """Return a card that stands for all of a mask of which nothing was said."""
        del s
        return cards_of(mask & ~self.likelihood.spoken)[:1] or cards_of(mask)[:1]

    def _place(self, s: ArcticPosition) -> Iterator[ArcticMove]:
        hand = s.hands[s.seat]
        if s.count == 0:
            yield from self._before_placing(s)
        if not hand or s.count >= s.value:
            yield END
            return
        last = legality.is_last(s)
        for card in self._next_cards(s, last=last):
            yield ArcticMove("place", card, TOP)
        if last and legality.usable(s, 11):
            seen = None if self.pile is None else self.pile[0] if self.pile else NOBODY
            yield from (ArcticMove("place", card, BOTTOM) for card in self._held(s, seen))
        if last and s.visible(s.seat) >= 0 and legality.usable(s, 12):
            yield from self._under(s)

    def _before_placing(self, s: ArcticPosition) -> Iterator[ArcticMove]:
        hand = s.hands[s.seat]
        if hand and legality.usable(s, 3):
            mine = [card for card in hand if card != UNKNOWN]
            if UNKNOWN in hand:
                may = s.may_be(s.seat)
                need = [card for card in sorted(self.likelihood.need) if may >> card & 1 and card not in s.river]
                mine += dict.fromkeys([*need, *self._anyone(s, may)])
            yield from (ArcticMove("swap", card, river) for card in mine for river in s.river)
        if s.visible(s.seat) >= 0 and legality.usable(s, 4):
            yield ArcticMove("take-back")
        if legality.usable(s, 10):
            yield ArcticMove("value", 1)
            if s.value:
                yield ArcticMove("value", -1)

    def _next_cards(self, s: ArcticPosition, *, last: bool) -> list[int]:
        """Return the cards that may come on top of the pile next."""
        mine = s.piles[s.seat]
        if self.pile is not None:
            ways = [pile for pile in self.ways(s, self.pile) if len(pile) > len(mine)]
            wanted = {pile[len(mine)] for pile in ways if pile_fits(pile[: len(mine)], mine)}
            return sorted({card for seen in wanted for card in self._held(s, seen)})
        cards = self._held(s, None) if not last else legality.zone_cards(s, s.hands[s.seat])
        cards = [card for card in cards if self.hand is None or card not in self.hand]
        # The order of what nobody saw is not told apart.
        return cards if last or not s.count else [card for card in cards if card > mine[-1]] or cards

    def _held(self, s: ArcticPosition, seen: int | None) -> list[int]:
        """Return the cards of the hand that may have been read so; None: nobody read it."""
        hand = s.hands[s.seat]
        known = [card for card in hand if card != UNKNOWN]
        may = s.may_be(s.seat) if UNKNOWN in hand else 0
        if seen is None:
            return known + self._anyone(s, may)
        if seen < UNKNOWN:
            return [seen] if seen in known or (seen >= 0 and may >> seen & 1) else []
        fitting = [card for card in known if card_fits(seen, card)]
        unseen = sum(1 << card for card in cards_of(may) if card_fits(seen, card))
        return fitting + (cards_of(unseen & ~self.likelihood.spoken) if seen >= KIND else self._anyone(s, unseen))

    def _under(self, s: ArcticPosition) -> Iterator[ArcticMove]:
        hand = s.hands[s.seat]
        seen = self.pile[-2] if self.pile is not None and len(self.pile) > 1 else None
        if self.pile is not None and (seen is None or seen < FACE_DOWN):
            return
        if seen is not None and seen - FACE_DOWN < UNKNOWN:
            yield from (ArcticMove("place", card, UNDER) for card in self._held(s, seen - FACE_DOWN))
        elif legality.moves_unseen(s, hand):
            yield ArcticMove("place", UNKNOWN, UNDER)
        else:
            yield from (ArcticMove("place", card, UNDER) for card in hand)

    def _penalties(self, s: ArcticPosition) -> Iterator[ArcticMove]:
        if s.pile_left:
            cards, unseen = _coming(self.penalty, s.penalties[s.seat], s.pool())
            # It may go on to the hand (P.6) or to somebody else (P.5).
            taken = self._named(s.pool(), hand=legality.usable(s, 6), others=legality.usable(s, 5))
            yield from (ArcticMove("penalty", card) for card in dict.fromkeys([*cards[:1], *taken]))
            if unseen or not cards:
                yield ArcticMove("penalty", UNKNOWN)

    def _named(self, pool: int, *, hand: bool = True, others: bool = True) -> list[int]:
        """Return the cards of the pool that were seen in the hand or a Penalty zone: they came there by some way."""
        zones = [card for zone in self.likelihood.penalties for card in zone or ()] if others else []
        zones += (self.hand or ()) if hand else ()
        return [card for card in zones if card < UNKNOWN and pool >> card & 1]

    def _tokens(self, s: ArcticPosition) -> Iterator[ArcticMove]:
        return (ArcticMove("tokens", a, b) for a, b in legality.token_steps(s))

    def _drawn(self, s: ArcticPosition) -> Iterator[ArcticMove]:
        cards, unseen = _coming(self.hand, s.hands[s.seat], s.pool())
        cards = list(dict.fromkeys([*cards, *self._named(s.pool())]))
        yield from (ArcticMove("hand", s.seat, card) for card in cards)
        if unseen or not cards:
            yield ArcticMove("hand", s.seat, UNKNOWN)

    def _draws(self, s: ArcticPosition) -> Iterator[ArcticMove]:
        if not s.count and legality.usable(s, 9):
            yield ArcticMove("value", 1)
            if s.value:
                yield ArcticMove("value", -1)
        yield from self._gives(s)
        if s.count >= s.value or not s.river:
            yield END
        if s.count >= s.value:
            return
        spare = len(s.hands[s.seat]) + s.value - s.count > HAND_LIMIT or self.hand is None or UNKNOWN in self.hand
        # The order of draws makes no difference: first those that must be.
        must = self.must_draw(s)
        for card in must[:1] or s.river:
            if must or (card not in self.likelihood.need and (spare or self.hand is None)):
                yield ArcticMove("draw", card)
        if must:
            return
        mine = s.penalties[s.seat]
        if mine and legality.usable(s, 6):
            yield from (
                ArcticMove("draw-penalty", card) for card in self._leaving(s, mine, None if spare else self.hand)
            )
        if s.pile_left + s.reserve and legality.usable(s, 8):
            yield ArcticMove("draw-pile")
        if legality.may_fill(s):
            yield ArcticMove("refill")

    def _leaving(self, s: ArcticPosition, zone: Sequence[int], goes_to: Sequence[int] | None) -> list[int]:
        """Return the cards that may leave a zone of this player for another, whose cards may have been told."""
        named = [card for card in goes_to or () if card < UNKNOWN]
        known = [card for card in zone if card != UNKNOWN]
        may = s.may_be(s.seat) if UNKNOWN in zone else 0
        cards = [card for card in named if card in known or may >> card & 1]
        if goes_to is not None and UNKNOWN not in goes_to:
            return cards
        if legality.moves_unseen(s, tuple(zone)):
            return [*cards, UNKNOWN]
        return known

    def _gives(self, s: ArcticPosition) -> Iterator[ArcticMove]:
        if legality.can_give(s):
            for seat in range(s.players):
                theirs = self.likelihood.penalties[seat]
                if seat != s.seat and (theirs is None or len(theirs) > len(s.penalties[seat])):
                    cards = self._leaving(s, s.penalties[s.seat], theirs)
                    yield from (ArcticMove("give", card, seat) for card in cards)

    def _refills(self, s: ArcticPosition) -> Iterator[ArcticMove]:
        """Yield the cards that come into the River: those that were seen there first, in one order."""
        if not s.pile_left or len(s.river) >= RIVER:
            return
        pool, likelihood = s.pool(), self.likelihood
        need = [card for card in sorted(likelihood.need) if card not in s.river and pool >> card & 1]
        if s.count < s.value:
            # It may be drawn at once (P.7).
            cards = [*need, *self._named(pool), *self._anyone(s, pool)]
        elif need:
            cards = need[:1]
        else:
            doubtful = sum(1 << c for cards in likelihood.slots.values() if len(cards) > 1 for c in cards if c >= 0)
            cards = cards_of(pool & doubtful) + (self._anyone(s, pool & ~doubtful) if likelihood.open_slots else [])
        yield from (ArcticMove("river", card) for card in dict.fromkeys(cards))

    def _closing(self, s: ArcticPosition) -> Iterator[ArcticMove]:
        yield from self._gives(s)
        hand = s.hands[s.seat]
        if len(hand) <= HAND_LIMIT:
            yield END
            return
        cards = self._leaving(s, hand, self.penalty)
        if self.hand is not None and UNKNOWN not in self.hand:
            cards = [card for card in cards if card not in self.hand][:1]
        elif self.penalty is None or UNKNOWN not in self.penalty:
            cards = cards[:1]
        yield from (ArcticMove("discard", card) for card in cards)

    def variants(self) -> Iterator[Evidence]:
        """Yield the pile that was seen with one card more, one fewer, or another one."""
        name, evidence = f"p{self.me + 1}.pile", self.evidence
        if self.pile is None or name not in self.misses(self.before):
            return
        seen = list(evidence.fields[name])
        old = len(self.before.piles[self.me])
        piles = [[*seen, "?"], seen[:-1], *([*seen[:n], "?", *seen[n + 1 :]] for n in range(old, len(seen)))]
        yield from (Evidence(evidence.places, {**evidence.fields, name: pile}) for pile in piles)

    def groups(self, missed: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the parts that may be wrong: each zone, the landscape, the River."""
        every = (*self.evidence.places, *self.evidence.fields)
        mine = f"p{self.me + 1}."
        order = [f"{mine}{zone}" for zone in ("hand", "penalty", "pile")]
        found: list[tuple[str, ...]] = [(name,) for name in order if name in self.evidence.fields]
        found += [tuple(name for name in every if name in LANDS), tuple(name for name in every if name in SLOTS)]
        found += [tuple(name for name in every if name.endswith(".powers"))]
        found += [tuple(name for name in every if name.endswith(".penalty") and not name.startswith(mine))]
        found += [(name,) for name in missed if self.is_others(name)]
        found += [("pile_left",)] if "pile_left" in self.evidence.fields else []
        wrong = set(missed)
        return sorted((group for group in found if group), key=lambda group: not wrong & set(group))

    def near_misses(self, s: ArcticPosition, missed: Sequence[str]) -> Iterator[ArcticMove]:
        """Yield the steps that would have made what was seen."""
        return near_misses.near_misses(self, s, missed)

    def verdicts(self, nearest: Turn, missed: Sequence[str]) -> Iterator[tuple[ArcticMove, Ruling]]:
        """Yield the rulings on steps at a moment that the nearest turn does not have."""
        return near_misses.verdicts(self, nearest, missed)


NOBODY = 2 * FACE_DOWN
"""No card at all: nothing is read so."""


def _coming(seen: Sequence[int] | None, zone: Sequence[int], pool: int) -> tuple[list[int], bool]:
    """Return the cards of the pool that were seen in a zone and are not there yet, and whether unseen ones may come."""
    if seen is None:
        return [], True
    cards = [card for card in seen if card < UNKNOWN and card not in zone and pool >> card & 1]
    return cards, UNKNOWN in seen or not cards


_STEPS = {
    "A": ArcticGoal._place,
    "penalty": ArcticGoal._penalties,
    "B": ArcticGoal._tokens,
    "B2": lambda _, s: legality.moves(s),
    "C": ArcticGoal._draws,
    "drawn": ArcticGoal._drawn,
    "refill": ArcticGoal._refills,
    "D": ArcticGoal._closing,
}


# --- what a game's search offers --------------------------------------------------------------------------------------


def find(before: ArcticPosition, evidence: Evidence, limit: int, most: int) -> SearchResult:
    """Return the shortest legal turns of the player to move that end as was seen."""
    return depth_first.find(before, ArcticGoal(_playing(before), evidence), limit, min(most, ArcticGoal.MOST))


def explain(before: ArcticPosition, evidence: Evidence, limit: int) -> Explanation:
    """Return the legal turns to what was seen, or the nearest one and the clauses in the way."""
    return depth_first.explain(_playing(before), evidence, ArcticGoal, limit)


def objections(before: ArcticPosition, evidence: Evidence) -> Iterator[Objection]:
    """Yield what no turn explains: a table that cannot be, a hand or a pile of somebody else that changed."""
    return near_misses.plain_objections(ArcticGoal(_playing(before), evidence))


def of_others(before: ArcticPosition, evidence: Evidence) -> set[str]:
    """Return the zones of other players that only their own turn changes, with what both turns change."""
    goal = ArcticGoal(_playing(before), evidence)
    missed = goal.misses(before)
    theirs = {name for name in missed if goal.is_others(name)}
    shared = {name for name in missed if not name.startswith(f"p{goal.me + 1}.")}
    return theirs | shared if theirs else set()


def _playing(before: ArcticPosition) -> ArcticPosition:
    if before.players < 2 or before.phase not in _STEPS:
        raise SetupError("In this position nobody has a turn: a turn needs two players or more, and a phase A to D.")
    return before


def turn_of(s: ArcticPosition) -> int | None:
    """Return whose turn runs, or None."""
    return s.seat if s.phase in _STEPS else None


def cases(position: Mapping[str, Any]) -> list[ArcticPosition]:
    """Return the states that a position may stand for: each seat's turn, and any size of a hand that is not told.

    :raises SetupError: when it is no position, or nobody has a turn in it.
    """
    first = _playing(GAME.from_position(position))
    seats = [first.seat] if position.get("to_move") is not None else list(range(first.players))
    found: list[ArcticPosition] = []
    for seat in seats:
        case = {**position, "to_move": seat + 1}
        players = [dict(player) for player in position["players"]]
        if players[seat].get("hand") is not None:
            found.append(GAME.from_position(case))
            continue
        visible = first.visible(seat)
        enough = (PLACEMENT[visible] if visible >= 0 else 1) + 1
        for size in (enough, *(size for size in range(HAND_LIMIT + 1) if size != enough)):
            players[seat] = {**players[seat], "hand": size}
            found.append(GAME.from_position({**case, "players": list(players)}))
    return found
