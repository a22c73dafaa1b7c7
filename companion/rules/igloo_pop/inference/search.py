"""The walk through a round of Igloo Pop for the shared search: which steps may lead to what was seen.

Two positions may be any part of one round apart: cards laid, igloos placed, the check, the refill. Steps whose order
makes no difference come in one order; numbers that nobody told are one that matches or one that does not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations_with_replacement, islice, pairwise
from typing import Any, Final, NamedTuple

from companion.rules.core import Ruling
from companion.rules.igloo_pop import moves as m
from companion.rules.igloo_pop import settling
from companion.rules.igloo_pop.components import CARD_BITS, CARDS, COLOURS, IGLOOS, PLACES
from companion.rules.igloo_pop.game import GAME
from companion.rules.igloo_pop.inference import check_inference, near_misses
from companion.rules.igloo_pop.inference.likelihood import AFTER, TALLIES, PopLikelihood, evidence_of
from companion.rules.igloo_pop.moves import IglooPopMove
from companion.rules.igloo_pop.parts import EMPTY, PHASES, UNKNOWN
from companion.rules.igloo_pop.position import PopPosition
from companion.rules.inference import depth_first
from companion.rules.inference.explain import Objection
from companion.rules.inference.explanation import Explanation
from companion.rules.inference.turns import Evidence, SearchResult, Turn

__all__ = ["cases", "evidence_of", "explain", "find", "turn_of"]

GUESSES: Final = 60
"""Guesses at what is not told that are followed."""
NEAR: Final = 4
"""Guesses whose ends are looked at first for the nearest turn."""
LONGEST: Final = 99
"""Steps that such a way has at most: twelve igloos taken, placed and read, nine cards laid, and what is between."""
TOO_MANY: Final = -1


class Guess(NamedTuple):
    """What is not told, and is taken for so: the phase, the igloos that a card had at the end, the results."""

    phase: str
    wants: tuple[Counter[int], ...]
    results: Mapping[int, Sequence[tuple[int, int]]]


class PopGoal(PopLikelihood):
    """What was seen after a part of a round of Igloo Pop; with a guess at what is not told, the way there is plain."""

    MOST = 2_000
    RELAXED = 1_500
    EACH = 150
    ASKS_LAST = True

    def __init__(
        self, before: PopPosition, evidence: Evidence, guess: Guess | None = None, *, loose: bool = False
    ) -> None:
        """Compile what was seen; ``loose``: a way is followed even where it cannot lead there."""
        super().__init__(before, evidence)
        self.guess = guess
        self.loose = loose
        self.reckoned = False
        self.remove = before.options["pop.none_match"] == "remove"
        # Whose igloos a card lacks, by what stands on it.
        self.dues: dict[tuple[int, tuple[int, ...]], tuple[int, ...]] = {}

    # --- what is not told ---------------------------------------------------------------------------------------------

    def guesses(self) -> Iterator[Guess]:
        """Yield what may have been where it is not told, the simplest first; no phase keeps the others waiting."""
        seen_phase = self.evidence.fields.get("phase")
        waiting = [self._in_phase(phase) for phase in ([seen_phase] if seen_phase is not None else PHASES)]
        while waiting:
            for one in list(waiting):
                guess = next(one, None)
                if guess is None:
                    waiting.remove(one)
                else:
                    yield guess

    def _in_phase(self, phase: str) -> Iterator[Guess]:
        if phase in AFTER and self.before.phase in AFTER and self._same_round():
            yield Guess(phase, self._standing(), {})
        if phase == "shaking" and self.before.phase != "checking":
            yield from (Guess(phase, wants, {}) for wants in self._shared_out({}))
        elif phase == "checking" or (phase in AFTER and (self.loose or not any(self.stand))):
            yield from self._checks(phase)

    def _same_round(self) -> bool:
        seen_round = self.evidence.fields.get("round")
        return seen_round is None or seen_round == self.before.round

    def _standing(self) -> tuple[Counter[int], ...]:
        """Return the igloos on each card where they were seen, and where they were not, those that stood there."""
        before = self.before
        return tuple(
            Counter(igloo >> 4 for igloo in before.igloos_at(where)) if seen is None else seen
            for where, seen in enumerate(self.stand)
        )

    def _shared_out(self, gone: Mapping[int, int], settled: Iterable[int] = ()) -> Iterator[tuple[Counter[int], ...]]:
        """Yield what may stand on cards: what was seen, and on those not seen what thalers were paid for.

        ``gone`` are the thalers that each player has lost in the check so far, ``settled`` the places it came to.
        """
        stands = self._standing()
        wants = [Counter[int]() if where in settled else stand for where, stand in enumerate(stands)]
        igloos: list[int] = []
        for who in self.seats:
            own = self.tallies["own"][who]
            if own is not None:
                paid = self.before.own[COLOURS[who]] + self._staked(who) - own - gone.get(who, 0)
                igloos += [who] * max(0, paid - sum(want[who] for want in wants))
        free = [w for w, seen in enumerate(self.stand) if seen is None and w not in settled and self.before.has_card(w)]
        ways = combinations_with_replacement(free, len(igloos)) if igloos else iter([()])
        for places in islice(ways, GUESSES):
            more = [Counter[int]() for _ in PLACES]
            for where, who in zip(places, igloos, strict=True):
                more[where][who] += 1
            yield tuple(want + plus for want, plus in zip(wants, more, strict=True))

    def _staked(self, who: int) -> int:
        """Return how many igloos a player had on cards before."""
        return sum(igloo >> 4 == who for where in range(len(PLACES)) for igloo in self.before.igloos_at(where))

    def _checks(self, phase: str) -> Iterator[Guess]:
        """Yield how the check may have gone, as far as it went: as told, or the fewest igloos that explain it."""
        before, checking = self.before, phase == "checking"
        # What still stands has not been settled; where nothing was seen it is taken to stand, while the check goes on.
        standing = self._standing() if checking else (Counter[int](),) * len(PLACES)
        if self.results is None:
            self.reckoned = True
            for settled in islice(check_inference.reckon(self._table(phase, standing)), GUESSES):
                yield Guess(phase, _together(settled, standing), settled)
            return
        results = {where: [(COLOURS.index(c), n) for c, n in pairs] for where, pairs in self.results.items()}
        if not checking or before.phase == "checking":
            yield Guess(phase, _together(results, standing), results)
            return
        lost: Counter[int] = Counter()
        for where, pairs in results.items():
            bits = CARD_BITS[before.card_at(where)] if before.card_at(where) >= 0 else 0
            wrong = [who for who, number in pairs if not bits >> number & 1]
            spare = before.options["pop.none_match"] == "return" and len(wrong) == len(pairs) > 1
            lost.update([] if spare else wrong)
        yield from (Guess(phase, _together(results, stands), results) for stands in self._shared_out(lost, results))

    def _table(self, phase: str, standing: Sequence[Counter[int]]) -> check_inference.SettledCards:
        before = self.before
        settling = [w for w in range(len(PLACES)) if before.card_at(w) >= 0 and not standing[w]]
        cards = {where: before.card_at(where) for where in settling}
        stays = {where: None if (seen := self.cards[where]) is None else seen == cards[where] for where in settling}
        staying = Counter(who for stand in standing for who in stand.elements()) if phase == "checking" else Counter()
        used = {n for result in before.last_results for _, n in result.igloos} if before.phase == "checking" else set()
        used |= {number for pairs in self.numbers.values() for _, number in pairs}
        return check_inference.SettledCards(
            cards,
            {where: before.igloos_at(where) for where in settling},
            stays,
            {who: self._account(who, staying[who]) for who in self.seats},
            frozenset(used),
            before.options["pop.none_match"] == "return",
        )

    def _account(self, who: int, staying: int) -> check_inference.Account:
        before, colour = self.before, COLOURS[who]
        own, captured, removed = (self.tallies[key][who] for key in ("own", "captured", "removed"))
        cards = self.won[who]
        return check_inference.Account(
            None if cards is None else cards - Counter(before.won_cards(who)),
            None if own is None else before.own[colour] + self._staked(who) - staying - own,
            None if captured is None else captured - before.captured[colour],
            None if removed is None or before.removed is None else removed - before.removed[colour],
        )

    def moved_card(self) -> bool:
        """Return whether a card was seen elsewhere than it lies: a card stays where it is until somebody wins it."""
        lies = {self.before.card_at(where): where for where in range(len(PLACES))}
        return any(
            card is not None and card >= 0 and lies.get(card, where) != where for where, card in enumerate(self.cards)
        )

    def adds_up(self, guess: Guess) -> bool:
        """Return whether thalers and cards come to what was told if a guess is right: if not, no walk need be taken."""
        before = self.before
        if any(before.card_at(where) < 0 for where in guess.results):
            return True
        stakes = Counter(who for want in guess.wants for who in want.elements())
        fates = [
            settling.thalers(before.card_at(where), [16 * who + number for who, number in igloos], self.remove)
            for where, igloos in guess.results.items()
        ]
        back, won, removed = (Counter[int]() for _ in range(3))
        for fate in fates:
            back.update(fate.back)
            won[fate.winner] += len(fate.losers)
            removed.update(fate.removed)
        for who in self.seats:
            colour = COLOURS[who]
            own = before.own[colour] + self._staked(who) - stakes[who] + back[who]
            lost = None if before.removed is None else before.removed[colour] + removed[who]
            ends = {"own": own, "captured": before.captured[colour] + won[who], "removed": lost}
            if any(self.tallies[key][who] not in (None, end) for key, end in ends.items() if end is not None):
                return False
        return True

    # --- the way to what was seen -------------------------------------------------------------------------------------

    def ends(self, s: PopPosition) -> bool:
        """Return whether what was seen may have been seen here: the phase is right, and what each has."""
        if self.guess is None or self.loose:
            return self.guess is None or s.phase == self.guess.phase
        own = self.tallies["own"]
        return s.phase == self.guess.phase and all(own[who] in (None, s.own[COLOURS[who]]) for who in self.seats)

    def closed(self, s: PopPosition) -> bool:
        """Return whether nothing may follow: the game is over."""
        return s.phase == "over"

    def left(self, s: PopPosition) -> int:
        """Return how many steps are missing at least: one."""
        del s
        return 1

    def candidates(self, s: PopPosition) -> Iterable[IglooPopMove]:
        """Yield the legal steps that may lead to what was seen; a guess leaves few."""
        if self.guess is None:
            return ()
        steps = {"shaking": self._shaking, "checking": self._checking, "deal": self._dealing}.get(s.phase)
        moves = (*self._naming(s), *(self._starting(s) if steps is None else steps(s, self.guess)))
        return [move for move in moves if s.refusal(move) is None]

    def _coming(self, s: PopPosition, where: int) -> list[int]:
        """Return the cards that may be laid at a place: the one seen there, one that was won later, or any."""
        seen = self.cards[where]
        found = [] if seen is None or seen < 0 else [seen]
        if s.round == self.before.round:
            found += [card for cards in self.won.values() for card in cards or ()]
        if seen is None or seen < 0:
            found += self._other_cards(s)
        found = [card for card in dict.fromkeys(found) if not s.card_seen(card)]
        return found or (self._other_cards(s) if self.loose else [])

    def _other_cards(self, s: PopPosition) -> list[int]:
        """Return a card that nobody has seen, if there is one."""
        return [card for card in range(len(CARDS)) if not s.card_seen(card) and card not in self.spoken][:1]

    def _dealing(self, s: PopPosition, guess: Guess) -> Iterator[IglooPopMove]:
        # A place that was seen empty is filled last, if at all.
        missing = [where for where in range(len(PLACES)) if s.card_at(where) == EMPTY]
        order = sorted(missing, key=lambda where: (guess.phase == "deal" and self.cards[where] == EMPTY, where))
        yield from (m.DEALS[where][card] for where in order[:1] for card in self._coming(s, where))

    def _naming(self, s: PopPosition) -> Iterator[IglooPopMove]:
        for where in range(len(PLACES)):
            if s.card_at(where) == UNKNOWN and (self.cards[where] not in (None, UNKNOWN) or s.igloos_at(where)):
                yield from (m.DEALS[where][card] for card in self._coming(s, where))

    def _starting(self, s: PopPosition) -> Iterator[IglooPopMove]:
        if s.phase == "ready" and s.round == self.before.round:
            yield m.START_MOVE

    def _shaking(self, s: PopPosition, guess: Guess) -> Iterator[IglooPopMove]:
        # The order of what must be done makes no difference but for the village, which may be empty: hands first.
        inside = guess.phase == "shaking"
        holding = [who for who in self.seats if COLOURS[who] in s.hands]
        spare = [who for who in holding if not inside or not self.tallies["in_hand"][who]]
        missing = []
        for where, want in enumerate(guess.wants):
            igloos = s.igloos_at(where)
            due = self.dues.get((where, igloos))
            if due is None:
                due = self.dues[where, igloos] = self._due(where, Counter(igloo >> 4 for igloo in igloos), want)
            if TOO_MANY in due:
                return
            missing += [(who not in holding, COLOURS[who] not in s.passed, where, who) for who in due]
        if missing:
            # While igloos are left, whoever had passed places first: else the round might be over before.
            empty = not s.village_left
            other, _, where, who = min(missing, key=lambda one: (empty and one[0], *one[1:]))
            yield m.RETURNS[spare[0]] if empty and other and spare else m.PLACINGS[who][where]
        elif inside:
            yield from self._hands(s, spare)
        elif holding:
            yield m.RETURNS[holding[0]]
        else:
            waiting = (who for who in self.seats if COLOURS[who] not in s.passed and s.own[COLOURS[who]])
            yield from (m.PASSES[who] for who in islice(waiting, 1))

    def _due(self, where: int, now: Counter[int], want: Counter[int]) -> tuple[int, ...]:
        """Return whose igloos a card still lacks; ``TOO_MANY`` where it has some that are not wanted."""
        if now - want:
            return (TOO_MANY,)
        # On a card that is half checked those that were turned over came first.
        first = Counter(COLOURS.index(colour) for colour, _ in self.numbers[where])
        return tuple(first - now or want - now)

    def _hands(self, s: PopPosition, spare: Sequence[int]) -> Iterator[IglooPopMove]:
        """Yield what makes the hands as they were told, and who has passed: one after the other."""
        in_hand = self.tallies["in_hand"]
        for who in spare:
            if in_hand[who] is False:
                yield m.RETURNS[who]
                return
        for who in self.seats:
            # Whoever had passed and has not any more took an igloo in between.
            again = self.tallies["passed"][who] is False and COLOURS[who] in s.passed
            if (in_hand[who] or again) and COLOURS[who] not in s.hands:
                yield m.RETURNS[spare[0]] if spare and not s.village_left else m.TAKES[who]
                return
        passing = (who for who in self.seats if self.tallies["passed"][who] and COLOURS[who] not in s.passed)
        yield from (m.PASSES[who] for who in islice(passing, 1))

    def _checking(self, s: PopPosition, guess: Guess) -> Iterator[IglooPopMove]:
        if s.begun is not None:
            where = PLACES.index(s.begun)
        else:
            standing = [where for where in range(len(PLACES)) if s.igloos_at(where)]
            half = [where for where in standing if self.numbers[where] and where not in guess.results]
            where = next((where for where in standing if where in guess.results), half[0] if half else -1)
        if where < 0 or s.card_at(where) == UNKNOWN:
            return
        igloos = s.igloos_at(where)
        who = next(igloo >> 4 for igloo in igloos if not igloo & 15)
        shown = guess.results.get(where) or [(COLOURS.index(colour), number) for colour, number in self.numbers[where]]
        known = [igloo & 15 for igloo in igloos]
        numbers = [number for owner, number in shown if owner == who and number not in known and number in IGLOOS]
        yield from (m.REVEALS[where][number - IGLOOS[0]] for number in numbers[:1])

    # --- what may have been meant -------------------------------------------------------------------------------------

    def near(self) -> Iterator[Turn]:
        """Yield where the first guesses lead, whatever they miss: a check of which every number was told."""
        if not self.results:
            return
        loose = PopGoal(self.before, self.evidence, loose=True)
        for guess in islice(loose.guesses(), NEAR):
            goal = PopGoal(self.before, self.evidence, guess, loose=True)
            state, moves = self.before, list[IglooPopMove]()
            best: tuple[int, Turn] | None = None
            while len(moves) < LONGEST:
                if goal.ends(state):
                    misses = goal.misses(state)
                    missed = len(misses)
                    # The numbers that were read are believed.
                    if "results" not in misses and (best is None or missed < best[0]):
                        best = missed, Turn(tuple(moves), state, 0.0)
                move = next(iter(goal.candidates(state)), None)
                if move is None:
                    break
                state = state.after(move)
                moves.append(move)
            if best is not None:
                yield best[1]

    def groups(self, missed: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the parts that may be wrong: each card, each player, what is told of the round."""
        every = (*self.evidence.fields, *self.evidence.places)
        found = [tuple(name for name in every if name.partition(".")[0] == COLOURS[who]) for who in self.seats]
        found += [tuple(name for name in every if name.partition(".")[0] == place) for place in PLACES]
        found += [tuple(name for name in ("phase", "round", "stack") if name in every)]
        # The numbers that were read are believed, unless two igloos would have the same.
        found += [("results",)] if "results" in every and near_misses.twice(self) else []
        wrong = set(missed)
        groups = [group for group in found if group and set(group) <= set(every)]
        return sorted(groups, key=lambda group: not wrong & set(group))

    def maker(self, name: str, states: Sequence[Any]) -> int | None:
        """Return the step that settled the last card on which a player's thalers stood."""
        colour, _, tally = name.partition(".")
        found = None
        for number, (one, two) in enumerate(pairwise(states)):
            if tally in TALLIES and len(two.last_results) > len(one.last_results):
                found = number if colour in dict(two.last_results[-1].igloos) else found
        return found

    def near_misses(self, s: PopPosition, missed: Sequence[str]) -> Iterator[IglooPopMove]:
        """Yield the moves that would have made what was seen."""
        return near_misses.near_misses(self, s, missed)

    def verdicts(self, nearest: Turn, missed: Sequence[str]) -> Iterator[tuple[IglooPopMove | str, Ruling]]:
        """Yield the faults of hands, and what follows an end."""
        return near_misses.verdicts(self, nearest, missed)


def _together(
    settled: Mapping[int, Sequence[tuple[int, int]]], standing: Sequence[Counter[int]]
) -> tuple[Counter[int], ...]:
    """Return the igloos that each card had when the check began."""
    return tuple(Counter(who for who, _ in settled.get(w, ())) + stands for w, stands in enumerate(standing))


# --- what a game's search offers --------------------------------------------------------------------------------------


def find(before: PopPosition, evidence: Evidence, limit: int, most: int) -> SearchResult:
    """Return the shortest legal parts of a round that end as was seen, one for each guess at what is not told."""
    turns: list[Turn] = []
    looked, complete = 0, True
    goal = PopGoal(before, evidence)
    if goal.moved_card():
        return SearchResult((), True, 1)
    for number, guess in enumerate(goal.guesses()):
        if looked >= most or number > GUESSES:
            complete = False
            break
        if not goal.adds_up(guess):
            looked += 1
            continue
        found = depth_first.find(before, PopGoal(before, evidence, guess), limit, most - looked)
        looked += found.looked
        complete = complete and found.complete
        if found.turns and turns and len(found.turns[0].moves) < len(turns[0].moves):
            turns = []
        if found.turns and (not turns or len(found.turns[0].moves) == len(turns[0].moves)):
            turns += [turn for turn in found.turns if turn.moves not in [known.moves for known in turns]]
        if len(turns) >= limit:
            break
    # What was reckoned are the likely ways, not all there are.
    complete = complete and (bool(turns) or not goal.reckoned)
    return SearchResult(tuple(sorted(turns, key=lambda turn: -turn.log_likelihood)[:limit]), complete, looked)


def explain(before: PopPosition, evidence: Evidence, limit: int) -> Explanation:
    """Return the legal parts of a round to what was seen, or the nearest one and the clauses in the way."""
    return depth_first.explain(before, evidence, PopGoal, limit, find)


def objections(before: PopPosition, evidence: Evidence) -> Iterator[Objection]:
    """Yield what no round explains: a table that cannot be, a number that was read and came to nothing."""
    return near_misses.plain_objections(PopGoal(before, evidence))


def turn_of(s: PopPosition) -> int | None:
    """Return which round runs, with the refill after it; None after the end."""
    return None if s.phase == "over" else s.round - (s.phase == "deal")


def cases(position: Mapping[str, Any]) -> list[PopPosition]:
    """Return the state that a position stands for.

    :raises SetupError: when it is no position.
    """
    return [GAME.from_position(position)]
