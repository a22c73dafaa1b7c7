"""What a turn of Arctic can still bring about: the bounds that prune the search of :mod:`.search`.

Each is a lower bound: it never gives up a state that could still succeed. Tokens that are away from where they were
seen, cards that must still be placed, drawn or put away, power cards in the wrong hands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from companion.rules.arctic import legality
from companion.rules.arctic.components import COMPANION, DRAW, FACE_DOWN, HAND_LIMIT, MAIN, RIVER, UNKNOWN
from companion.rules.arctic.inference.likelihood import LANDS, ArcticLikelihood, card_fits, fields, pile_fits, zone_fits
from companion.rules.arctic.position import ArcticPosition
from companion.rules.core import JSON
from companion.rules.inference import depth_first
from companion.rules.inference.turns import Evidence

PLACING = frozenset({"A", "penalty"})
MOVING = frozenset({"B", "B2"})


class Bounds(depth_first.Goal):
    """What was seen after a turn of Arctic, what differs from it, and how many steps are missing at least."""

    MOST = 40_000
    RELAXED = 2_000
    EACH = 200

    def __init__(self, before: ArcticPosition, evidence: Evidence) -> None:
        """Compile what was seen."""
        super().__init__(before, evidence)
        self.me = before.seat
        self.likelihood = ArcticLikelihood(evidence, before.players)
        self.pile = self.likelihood.piles[self.me]
        self.hand = self.likelihood.hands[self.me]
        self.penalty = self.likelihood.penalties[self.me]
        # What no turn of this player changes must be so already.
        self.never = any(name.startswith("p") and self.is_others(name) for name in self.misses(before))

    def is_others(self, name: str) -> bool:
        seat, _, zone = name.partition(".")
        return zone in {"pile", "hand"} and seat != f"p{self.me + 1}"

    @staticmethod
    def fields(position: Mapping[str, JSON]) -> dict[str, JSON]:
        """Return the zones of each seat, and how many cards the pile has."""
        return fields(position)

    def ends(self, s: ArcticPosition) -> bool:
        """Return whether the turn has passed, or the last one was played."""
        return s.seat != self.me

    def misses(self, s: ArcticPosition) -> list[str]:
        """Return what is not as it was seen."""
        likelihood, evidence = self.likelihood, self.evidence
        wrong = {s.tokens[animal] for animal in range(6) if not likelihood.tokens[animal] >> s.tokens[animal] & 1}
        if wrong:
            for animal in range(6):
                if not likelihood.tokens[animal] >> s.tokens[animal] & 1:
                    wrong |= {index for index in range(6) if likelihood.tokens[animal] == 1 << index}
        missed = [name for name, index in LANDS.items() if index in wrong and name in evidence.places]
        missed += likelihood.lost(s.river)
        for seat in range(s.players):
            mine = sum(1 << animal for animal in range(6) if s.owners[animal] == seat)
            pile, powers = likelihood.piles[seat], likelihood.powers[seat]
            hand, penalty = likelihood.hands[seat], likelihood.penalties[seat]
            for zone, wanted in (
                ("pile", pile is None or pile_fits(pile, s.piles[seat])),
                ("hand", hand is None or zone_fits(hand, s.hands[seat])),
                ("penalty", penalty is None or zone_fits(penalty, s.penalties[seat])),
                ("powers", powers is None or powers == mine),
            ):
                if not wanted:
                    missed.append(f"p{seat + 1}.{zone}")
        return missed + ["pile_left"] * (likelihood.pile_left is not None and likelihood.pile_left != s.pile_left)

    def likely(self, s: ArcticPosition) -> float:
        """Return how likely a state looks as was seen."""
        return self.likelihood.likely(s.position()["places"])

    # --- bounds -------------------------------------------------------------------------------------------------------

    def left(self, s: ArcticPosition) -> int:
        """Return how many steps are missing at least, HOPELESS where what was seen cannot come about."""
        if self.never or not self._tokens_can(s) or not self._powers_can(s) or not self._pile_can(s):
            return depth_first.HOPELESS
        if s.phase not in PLACING and not self._draws_can(s):
            return depth_first.HOPELESS
        return self._steps(s)

    def _tokens_can(self, s: ArcticPosition) -> bool:
        away = [animal for animal in range(6) if not self.likelihood.tokens[animal] >> s.tokens[animal] & 1]
        if not away or s.phase in PLACING:
            return len(away) <= 2
        visible = s.visible(s.seat)
        if s.phase == "B":
            return all(animal in (MAIN[visible], COMPANION[visible]) for animal in away)
        return s.phase == "B2" and away == [legality.extra_animal(s)]

    def _powers_can(self, s: ArcticPosition) -> bool:
        wrong = 0
        for seat, powers in enumerate(self.likelihood.powers):
            if powers is not None:
                wrong |= powers ^ sum(1 << animal for animal in range(6) if s.owners[animal] == seat)
        return not wrong or (s.phase in PLACING and wrong.bit_count() == 1)

    def _pile_can(self, s: ArcticPosition) -> bool:
        seen = self.pile
        if seen is None:
            return True
        mine = s.piles[s.seat]
        if s.phase != "A":
            return pile_fits(seen, mine)
        if s.count == 0 and legality.usable(s, 4) and mine and self._grows(s, mine[:-1], seen):
            return True
        least, most = self._to_place(s)
        return least <= len(seen) - len(mine) <= most and self._grows(s, mine, seen)

    def _to_place(self, s: ArcticPosition) -> tuple[int, int]:
        """Return how many more cards are placed at least and at most."""
        value = s.value - s.count
        change = 1 if legality.usable(s, 10) else 0
        cards = len(s.hands[s.seat])
        return min(cards, max(0, value - change)), min(cards, value + change)

    def _grows(self, s: ArcticPosition, mine: Sequence[int], seen: Sequence[int]) -> bool:
        """Return whether a pile can become the one that was seen."""
        return any(pile_fits(pile[: len(mine)], mine) for pile in self.ways(s, seen))

    def ways(self, s: ArcticPosition, seen: Sequence[int]) -> list[Sequence[int]]:
        """Return the pile that was seen without the card that may come last, under the pile or the visible card."""
        ways: list[Sequence[int]] = [seen]
        if legality.usable(s, 11):
            ways.append(seen[1:])
        if legality.usable(s, 12) and len(seen) > 1 and seen[-2] >= FACE_DOWN:
            ways.append([*seen[:-2], seen[-1]])
        return ways

    def _draws_can(self, s: ArcticPosition) -> bool:
        """Return whether the cards that left the River can all be drawn, and hand and Penalty zone come out right."""
        change = bool(legality.usable(s, 9) and (s.phase in MOVING or not s.count))
        draws = self._to_draw(s)
        if self._gone(s, draws + change):
            return False
        if s.pile_left + s.reserve <= 2 * RIVER:
            return True
        cards = in_hand(s)
        least, most = max(0, draws - change), draws + change
        if self.hand is not None and len(self.hand) <= HAND_LIMIT:
            more = len(self.hand) - cards
            if more > most or (len(self.hand) < HAND_LIMIT and more < least):
                return False
            if self.penalty is not None:
                more += len(self.penalty) - len(s.penalties[s.seat])
                least = 0 if legality.usable(s, 6) else least - legality.can_give(s)
                return least <= more <= most
        return self.hand is None or len(self.hand) <= HAND_LIMIT

    def _gone(self, s: ArcticPosition, draws: int) -> bool:
        """Return whether more cards have left the River than may be drawn."""
        return len(s.river) > 0 and len(self.must_draw(s)) > draws

    def must_draw(self, s: ArcticPosition) -> list[int]:
        """Return the cards of the River that lie in the hand afterwards, or at least no longer in the River."""
        hand = self.hand or ()
        return [card for card in s.river if card in hand or not self.likelihood.may_stay(card)]

    def _to_draw(self, s: ArcticPosition) -> int:
        """Return how many cards are still to be drawn."""
        if s.phase in MOVING:
            visible = s.visible(s.seat)
            return DRAW[visible] if visible >= 0 and s.stage != "last" else 0
        return max(0, s.value - s.count)

    def _steps(self, s: ArcticPosition) -> int:
        cards = in_hand(s)
        if s.phase in PLACING:
            if s.pile_left + s.reserve <= 2 * RIVER:
                return 1
            visible = self.pile[-1] if self.pile else -1
            place = max(0, s.value - s.count - legality.usable(s, 10))
            drawn = DRAW[visible] if 0 <= visible < UNKNOWN and s.stage != "last" else 0
            left = cards - (s.value - s.count + legality.usable(s, 10) if s.phase == "A" else 0)
            return max(1, place + (1 + self._drawing(s, drawn, left) if drawn else 0))
        if s.phase in MOVING:
            return 1 + (self._drawing(s, self._to_draw(s), cards) if s.stage != "last" else 0)
        return max(1, self._drawing(s, self._to_draw(s), cards))

    def _drawing(self, s: ArcticPosition, draws: int, cards: int) -> int:
        """Return how many steps the drawing takes, with the refill and the cards put away; ``cards`` are in hand."""
        draws = max(0, draws - legality.usable(s, 9))
        left = s.pile_left + s.reserve
        if left <= 2 * RIVER:
            return 0
        elsewhere = legality.usable(s, 6) or legality.usable(s, 8)
        keeps = HAND_LIMIT if self.hand is None else len(self.hand)
        return draws + RIVER - len(s.river) + (0 if elsewhere else draws) + max(0, cards + draws - keeps)

    def distance(self, s: ArcticPosition) -> int:
        """Return how much is not as it was seen: steps of tokens, cards of my pile, and all else that is missed."""
        far = 0
        for animal, may in enumerate(self.likelihood.tokens):
            far += min((abs(at - s.tokens[animal]) for at in range(6) if may >> at & 1), default=6)
        if self.pile is not None:
            mine = s.piles[self.me]
            fitting = sum(map(card_fits, self.pile, mine))
            far += max(len(self.pile), len(mine)) - fitting
        own = f"p{self.me + 1}.pile"
        return far + sum(name not in LANDS and name != own for name in self.misses(s))


def in_hand(s: ArcticPosition) -> int:
    """Return how many cards the player to move holds, with one that is just being drawn from the pile."""
    return len(s.hands[s.seat]) + (s.phase == "drawn")
