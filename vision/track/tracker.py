"""Which turn was played: what a look at the board shows, weighed against what the rules allow.

A :class:`Tracker` holds the positions that were confirmed. Of each settled look it asks the rules' search for the turns
that explain it, and weighs them against "nothing changed", "taken back", "the last turn went on" and "none of these".
It enters a turn only where hardly anything else is possible; else it asks, or says where board and record disagree. It
never goes on from a position that nobody confirmed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp, inf, log
from typing import Any

from companion.rules.core import NOBODY, Move, State
from companion.rules.inference.belief import Belief
from companion.rules.inference.turns import Evidence, Turn, content, turns
from vision.track.candidate import (
    CONFIDENT,
    CONTINUED,
    DISAGREEMENT,
    ENTERED,
    ENTERS,
    HALF,
    MAX_CANDIDATES,
    NONE,
    QUESTION,
    TAKEBACK,
    TURN,
    TWO,
    UNCHANGED,
    WORTH_ASKING,
    Candidate,
    TrackingResult,
    look_alike,
)
from vision.track.evidence import LEAST, usual_loss
from vision.track.parts import entered_in_parts, is_half, told_so_far

ALONE = 0.8
"""That nothing changed is taken for so from here on where no turn explains the board: there is nothing to ask."""
CHANGES, BACK, GOES_ON, LONGER = 0.7, 6.0, 6.0, 2.0
"""What it costs beforehand that a turn was played, one was taken back, the last one went on otherwise or longer."""
UNLAWFUL, SPREADS = 8.0, 2.0
"""What it costs that no turn explains the board: this, and so many spreads of what a true board usually loses."""
DEAREST = 14.0
"""Turns that cost more beforehand are less believed than that there was none."""
STRANGE = 8.0
"""What it costs that a place that shows something never taught is as it was."""
NUDGED, LEFT_MOST = 1 / 20, 2
"""How often a place that is as it was looks plainly otherwise, nudged only, before anything is known of this table; so
many places at most count."""
CLEAR = 3.0
"""Parts of a place that are less likely than the likeliest by more than this disagree."""
STRONG = 6.0
"""No turn is entered where one place is less likely than this compared with what was seen there."""
BEYOND = 10.0
"""What is so much less likely than something else that may have happened is not looked for."""
PATIENCE = 3.5
"""How far beyond the best turn the search must have looked for one to be entered."""
LONG, FIRST = 40_000, 2_000
"""States that are looked at then, and for the first of two turns."""
FIRSTS, ONE_PLACE = 8, -log(LEAST)
"""So many first turns of two are looked at; one may leave a place open that another explains, which costs so much."""
SECOND = 8_000
"""So many states are looked at for second turns, half a second of a PC: who waits for a question waits for that."""
ALIKE: Mapping[str, float] = {}
"""No place looks otherwise than it did."""
_HIDDEN = ("hands", "piles", "box", "options", "players", "pending", "played", "melted")


@dataclass(frozen=True, slots=True)
class Stood:
    """So many ``places`` were as they had been when a turn was agreed on; ``nudged`` looked otherwise all the same."""

    places: float = 0.0
    nudged: float = 0.0

    def __add__(self, other: Stood) -> Stood:
        """Return both together."""
        return Stood(self.places + other.places, self.nudged + other.nudged)

    @property
    def left(self) -> float:
        """Return what it costs that a place that looks plainly otherwise is as it was.

        The rule of succession (Laplace 1814), begun with one nudged place of ``1 / NUDGED``.
        """
        return log((1 / NUDGED + self.places) / (1 + self.nudged))


@dataclass
class Tracker:
    """Follows a game by what is seen; ``confirmed`` are the positions between turns, the last one holds now.

    ``remember``: how many earlier positions may be gone back to. ``stood``: how often
    what stayed as it was looked otherwise at this table.
    """

    confirmed: list[State[Any]]
    remember: int = 6
    turns_entered: list[tuple[Move, ...]] = field(default_factory=list)
    stood: Stood = Stood()

    @property
    def state(self) -> State[Any]:
        """Return the position that holds now."""
        return self.confirmed[-1]

    def observe(
        self, evidence: Evidence, strange: Sequence[str] = (), unlike: Mapping[str, float] = ALIKE
    ) -> TrackingResult:
        """Weigh a look; a turn or takeback that is sure is entered (see :meth:`confirm` for the answer to a question).

        ``strange``: places that show what was never taught, and so hardly what lay there before; ``unlike`` as in
        :meth:`candidates`.
        """
        answer = self.judge(self.candidates(evidence, strange, unlike), evidence)
        if answer.state == TAKEBACK:
            del self.confirmed[-answer.back :]
            del self.turns_entered[-answer.back :]
        elif answer.state == ENTERED:
            self.confirm(answer.candidates[0])
        return answer

    def judge(self, candidates: tuple[Candidate, ...], evidence: Evidence) -> TrackingResult:
        """Return what follows from candidates; ``entered`` and ``takeback`` say what may be, nothing is done."""
        best = candidates[0]
        places = tuple(misfits(evidence, best.state or self.state))
        fits = best.state is not None and _fits(evidence, best.state)
        alone = all(candidate.state is None for candidate in candidates[1:])
        if best.kind == UNCHANGED and best.p >= (ALONE if alone else CONFIDENT) and fits:
            return TrackingResult(UNCHANGED, candidates=candidates)
        # Where nothing else explains the board, a place that is plainly not so is said all the same.
        if best.kind == NONE or not best.state or (best.kind == UNCHANGED and best.p >= CONFIDENT):
            return self._disagreement(evidence, candidates)
        if best.p >= CONFIDENT and fits:
            if best.kind == TAKEBACK:
                return TrackingResult(TAKEBACK, candidates=candidates, back=best.back)
            if best.kind in (TURN, CONTINUED) and best.p >= ENTERS:
                return TrackingResult(ENTERED, best.told, candidates, places, best.back, best.same)
        none = next((candidate.p for candidate in candidates if candidate.kind == NONE), 0.0)
        if none > 0.5:
            return self._disagreement(evidence, candidates)
        waits = fits and self._waits(candidates)
        return TrackingResult(HALF if waits else QUESTION, candidates=candidates, places=places)

    def _waits(self, candidates: Sequence[Candidate]) -> bool:
        """Return whether the next action will tell what was played: the board is sure, and the turn may go on."""
        best = candidates[0]
        if best.kind != TURN or best.state is None:
            return False
        return any(c.half for c in look_alike(candidates))

    def again(self, candidates: Sequence[Candidate], evidence: Evidence) -> tuple[Candidate, ...]:
        """Weigh the candidates of a look by another look at the same board: two must agree before a turn is entered.

        Nothing is searched: what the first look had no candidate for is as far from what fits best as it was.
        """
        usual, spread = usual_loss(evidence)
        fitted = evidence.most()
        found = []
        for candidate in candidates:
            if candidate.state is not None:
                cost = candidate.cost + candidate.left + (BACK + candidate.back if candidate.kind == TAKEBACK else 0.0)
                total = evidence.log_likelihood(candidate.state.position()) - cost
                found.append(replace(candidate, total=total))
        best = max(found, key=lambda candidate: candidate.total)
        none = fitted - usual - SPREADS * spread - UNLAWFUL - min(best.cost, DEAREST)
        unknown = [replace(c, total=max(none, c.total + fitted - c.fitted)) for c in candidates if c.state is None]
        return _weighed([*found, *unknown], fitted)

    def confirm(self, chosen: Candidate) -> None:
        """Enter a candidate: the answer to a question, or what was sure.

        :raises ValueError: for "none of these".
        """
        if chosen.kind == NONE or chosen.state is None:
            raise ValueError("there is no position to confirm")
        if chosen.back:
            del self.confirmed[-chosen.back :]
            del self.turns_entered[-chosen.back :]
        if chosen.moves:
            self.confirmed.append(chosen.state)
            self.turns_entered.append(chosen.moves)

    def _disagreement(self, evidence: Evidence, candidates: tuple[Candidate, ...]) -> TrackingResult:
        """Return the answer that nothing fits: the places that the best there is leaves open."""
        lawful = [candidate for candidate in candidates if candidate.state is not None]
        best = max(lawful, key=lambda candidate: candidate.total)
        places = tuple(misfits(evidence, best.state)) if best.state is not None else ()
        return TrackingResult(DISAGREEMENT, candidates=candidates, places=places)

    # --- weighing -----------------------------------------------------------------------------------------------------

    def candidates(
        self, evidence: Evidence, strange: Sequence[str] = (), unlike: Mapping[str, float] = ALIKE
    ) -> tuple[Candidate, ...]:
        """Return what may have happened, the likeliest first; the probabilities sum to 1 with what is left out.

        ``unlike``: places that look otherwise than they did in the position that holds now, and how plainly (up to 1).
        """
        now = self.state
        found = [Candidate(UNCHANGED, 0.0, state=now, total=evidence.log_likelihood(now.position()))]
        usual, spread = usual_loss(evidence)
        top = evidence.most()
        none = top - usual - SPREADS * spread - UNLAWFUL
        plain = any(much >= 1 for much in unlike.values())
        if found[0].total < top - CLEAR or strange or plain or misfits(evidence, now):
            found += self._back(evidence)
            found[1:1] = self._turns(now, evidence, TURN, self._bar(found, strange, unlike))
            poor = top - usual - SPREADS * spread - CLEAR - CHANGES
            # A turn that was entered may have been only the first half of one.
            if self.turns_entered and (bar := self._bar(found, strange, unlike)) + BEYOND < poor:
                found += self._otherwise(found, self._turns(self.confirmed[-2], evidence, CONTINUED, bar))
            if (bar := self._bar(found, strange, unlike)) + BEYOND < poor:
                found += self._two(evidence, bar)
        found = [self._marked(candidate, strange, unlike) for candidate in found]
        # What was not looked at leaves no less as it was than what was.
        least = min(candidate.left for candidate in found if candidate.state is not None)
        found = [c if c.state is not None else replace(c, total=c.total - least) for c in found]
        # A long turn is no less lawful than a short one: what it costs beforehand is not held against it here.
        best_so_far = max(found, key=lambda candidate: candidate.total)
        found.append(Candidate(NONE, 0.0, total=none - min(best_so_far.cost, DEAREST)))
        return _weighed(found, top)

    def _bar(self, found: Sequence[Candidate], strange: Sequence[str], unlike: Mapping[str, float]) -> float:
        """Return what a further turn must come to for it to matter beside those found."""
        lawful = [self._marked(candidate, strange, unlike) for candidate in found if candidate.state is not None]
        return max(candidate.total for candidate in lawful) - BEYOND

    def _marked(self, candidate: Candidate, strange: Sequence[str], unlike: Mapping[str, float]) -> Candidate:
        """Return a candidate with what it costs that places are as they were which do not look so."""
        if strange:
            candidate = self._strange(candidate, strange)
        return self._left(candidate, unlike) if unlike else candidate

    def _strange(self, candidate: Candidate, strange: Sequence[str]) -> Candidate:
        """Return a candidate that is less likely where it leaves every strange place as it was."""
        if candidate.state is None:
            return candidate
        was, now = self.state.position()["places"], candidate.state.position()["places"]
        if any(content(was[name]) != content(now[name]) for name in strange):
            return candidate
        return replace(candidate, total=candidate.total - STRANGE, cost=candidate.cost + STRANGE)

    def _left(self, candidate: Candidate, unlike: Mapping[str, float]) -> Candidate:
        """Return a candidate that is less likely where it leaves a place as it was that looks otherwise."""
        if candidate.state is None:
            return candidate
        was, now = self.state.position()["places"], candidate.state.position()["places"]
        same = sum(much for name, much in unlike.items() if content(was[name]) == content(now[name]))
        left = self.stood.left * min(same, LEFT_MOST)
        return replace(candidate, total=candidate.total - left, left=left)

    def _otherwise(self, found: Sequence[Candidate], further: list[Candidate]) -> list[Candidate]:
        """Return turns that went on otherwise; of those entered in parts, none that goes on from the part."""
        if not entered_in_parts(self.state):
            return further
        there = [candidate.state for candidate in found if candidate.kind == TURN]
        return [candidate for candidate in further if candidate.state is None or candidate.state not in there]

    def _back(self, evidence: Evidence) -> list[Candidate]:
        earlier = self.confirmed[-1 - self.remember : -1]
        found = []
        for back, state in enumerate(reversed(earlier), 1):
            total = evidence.log_likelihood(state.position()) - BACK - back
            found.append(Candidate(TAKEBACK, 0.0, state=state, back=back, total=total))
        return found

    def _two(self, evidence: Evidence, bar: float) -> list[Candidate]:
        """Return what two turns leave: one of those that come nearest to what is seen, and another after it.

        Not of turns that are entered in parts: there the first part is.
        """
        if self.state.to_move == NOBODY or entered_in_parts(self.state):
            return []
        found: dict[str, Candidate] = {}
        firsts: dict[str, Turn] = {}
        for first in turns(self.state, evidence, limit=FIRSTS, most=FIRST, within=ONE_PLACE).turns[:FIRSTS]:
            # Of those that leave the same for all to see, one.
            firsts.setdefault(public_view(first.state), first)
        looked = 0
        for first in firsts.values():
            if first.state.to_move == NOBODY:
                continue
            if looked >= SECOND:
                break
            search = turns(first.state, evidence, limit=MAX_CANDIDATES, most=FIRST, above=bar)
            looked += search.looked
            for then in search.turns:
                cost = CHANGES + GOES_ON - first.log_prior - then.log_prior
                total, seen = then.log_likelihood - cost, public_view(then.state)
                if seen not in found or found[seen].total < total:
                    moves = (*first.moves, *then.moves)
                    found[seen] = Candidate(TWO, 0.0, moves, then.state, total=total, cost=cost)
        return list(found.values())

    def _turns(self, before: State[Any], evidence: Evidence, kind: str, bar: float) -> list[Candidate]:
        """Return the turns that explain a look, one for each position that people can tell apart.

        Those that come to less than ``bar`` are not looked for.
        """
        if before.to_move == NOBODY:
            return []
        price, back = (GOES_ON, 1) if kind == CONTINUED else (CHANGES, 0)
        above = bar + min(price, LONGER)
        search = turns(before, evidence, limit=40, above=above)
        reached = -inf
        while reached < search.reached < PATIENCE and search.longer is not None:
            if not search.turns or misfits(evidence, search.turns[0].state):
                break
            # It fits: look longer for others that do.
            reached, search = search.reached, search.longer(LONG)
        grouped: dict[str, list[Turn]] = {}
        for turn in search.turns:
            grouped.setdefault(public_view(turn.state) + told_so_far(before, turn), []).append(turn)
        found = []
        for group in grouped.values():
            first = group[0]
            same = tuple(turn.moves for turn in group[1:4])
            cost = price
            if kind == CONTINUED and _goes_on(self.turns_entered[-1], first.moves):
                cost = LONGER
            total = first.total - cost
            candidate = Candidate(kind, 0.0, first.moves, first.state, back, same, total, cost - first.log_prior)
            found.append(replace(candidate, surely=first.told, half=is_half(before, first.state)))
        if found and (search.reached < PATIENCE or not misfits(evidence, found[0].state or before)):
            # What was not looked at may be as likely as what is just beyond.
            rest = found[0].total - max(0.0, search.reached)
            found.append(Candidate(NONE, 0.0, total=rest))
        return found


# --- questions that nobody has answered yet ---------------------------------------------------------------------------


class Follower:
    """Follows a row of looks that nobody answers: after a question every candidate is followed for itself.

    What comes later may settle it; until then a turn is entered where all that may have been before agree on it.
    """

    def __init__(self, tracker: Tracker) -> None:
        """Begin with what is known of a record."""
        self.branches: list[tuple[float, Tracker]] = [(0.0, tracker)]

    @property
    def open(self) -> bool:
        """Return whether a question is still to be answered."""
        return len(self.branches) > 1

    def observe(
        self, evidence: Evidence, strange: Sequence[str] = (), unlike: Mapping[str, float] = ALIKE
    ) -> TrackingResult:
        """Weigh a settled look; ``strange`` and ``unlike`` are of the record, and count while no question is open."""
        if not self.open:
            tracker = self.branches[0][1]
            answer = tracker.observe(evidence, strange, unlike)
            if answer.state in (QUESTION, HALF):
                answer = replace(answer, state=QUESTION)
                self._follow(
                    [(log(c.p), tracker, c) for c in answer.candidates if c.state is not None and c.p >= WORTH_ASKING]
                )
            return answer
        found = [
            (likely + candidate.total, tracker, candidate)
            for likely, tracker in self.branches
            for candidate in tracker.candidates(evidence)
        ]
        top = max(total for total, _, _ in found)
        whole = sum(exp(total - top) for total, _, _ in found)
        groups: dict[tuple[str, tuple[str, ...]], list[tuple[float, Tracker, Candidate]]] = {}
        for total, tracker, candidate in found:
            key = (candidate.kind, tuple(map(str, candidate.moves)))
            groups.setdefault(key, []).append((total - top - log(whole), tracker, candidate))
        for group in groups.values():
            group.sort(key=lambda one: -one[0])
        ranked = sorted(groups.values(), key=lambda group: -sum(exp(one[0]) for one in group))
        candidates = tuple(
            replace(group[0][2], p=sum(exp(one[0]) for one in group)) for group in ranked[:MAX_CANDIDATES]
        )
        best = candidates[0]
        if best.kind == NONE or best.state is None:
            return TrackingResult(
                DISAGREEMENT, candidates=candidates, places=tuple(misfits(evidence, self.branches[0][1].state))
            )
        places = tuple(misfits(evidence, best.state))
        if best.p >= CONFIDENT and _fits(evidence, best.state):
            self._follow(ranked[0])
            kind = best.kind if best.kind in (UNCHANGED, TAKEBACK) else ENTERED
            return TrackingResult(kind, best.told, candidates, places, best.back, best.same)
        self._follow([one for group in ranked[:MAX_CANDIDATES] for one in group if one[2].state is not None])
        return TrackingResult(QUESTION, candidates=candidates, places=places)

    def _follow(self, chosen: Sequence[tuple[float, Tracker, Candidate]]) -> None:
        """Go on with what may have been: the likeliest few, those that came to the same as one."""
        branches: dict[str, tuple[float, Tracker]] = {}
        for likely, tracker, candidate in sorted(chosen, key=lambda one: -one[0]):
            new = Tracker(list(tracker.confirmed), tracker.remember, list(tracker.turns_entered), tracker.stood)
            new.confirm(candidate)
            key = public_view(new.state)
            if key in branches:
                before, kept = branches[key]
                branches[key] = (before + log(1 + exp(likely - before)), kept)
            elif len(branches) < MAX_CANDIDATES and likely > log(WORTH_ASKING):
                branches[key] = (likely, new)
        if branches:
            self.branches = list(branches.values())


def _weighed(found: Sequence[Candidate], fitted: float) -> tuple[Candidate, ...]:
    """Return candidates with their probabilities, "none of these" as one, those worth telling.

    ``fitted``: the log-likelihood of the board that fits best, lawful or not.
    """
    top = max(candidate.total for candidate in found)
    weights = [exp(candidate.total - top) for candidate in found]
    whole = sum(weights)
    none = sum(w for w, candidate in zip(weights, found, strict=True) if candidate.kind == NONE)
    offered = [
        replace(candidate, p=w / whole) for w, candidate in zip(weights, found, strict=True) if candidate.kind != NONE
    ]
    offered.sort(key=lambda candidate: -candidate.p)
    # However little anything fits: what is the likeliest of it is what people are shown.
    least = WORTH_ASKING * (1 - none / whole)
    offered = [c for n, c in enumerate(offered) if not n or (c.p >= least and n < MAX_CANDIDATES)]
    offered.append(Candidate(NONE, none / whole, total=top + log(none) if none else -inf, fitted=fitted))
    return tuple(sorted(offered, key=lambda candidate: -candidate.p))


def _goes_on(entered: Sequence[Move], moves: Sequence[Move]) -> bool:
    """Return whether a turn holds all the steps of another but its end."""
    left = list(map(str, moves))
    for step in map(str, entered[:-1]):
        if step not in left:
            return False
        left.remove(step)
    return True


def public_view(state: State[Any]) -> str:
    """Return what people at the table can tell of a position."""
    view: Mapping[str, Any] = state.view(None)
    return str({key: value for key, value in view.items() if key not in _HIDDEN})


def misfits(evidence: Evidence, state: State[Any]) -> list[str]:
    """Return the places of a state that are not as they were seen."""
    return evidence.misses(state.position())


def _fits(evidence: Evidence, state: State[Any]) -> bool:
    """Return whether no place is far from what was seen."""
    places = state.position()["places"]
    for name, seen in evidence.places.items():
        if isinstance(seen, Belief) and seen.get(content(places[name])) < seen.most() - STRONG:
            return False
    return True
