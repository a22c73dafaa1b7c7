"""What was seen of a board of Iglu Iglu, as losses: what a thing costs where it lies, and what could still be won.

A loss is the log-likelihood of the best that a part of a place could be, less that of what is there: 0 or more.
Grounds, tribes and animals are looked at apart, each once for every arrangement of theirs (the same ones come back in
thousands of states). Beside the loss of an arrangement stands its bound: the least loss that the means left to a turn
can make of it. Each bound takes more to be possible than is, so it never gives up a turn that could still be the best.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any

from companion.rules.iglu_iglu import components
from companion.rules.iglu_iglu.board import CORNER_SQUARES, CORNERS, NUMBER, SEA, numbers
from companion.rules.iglu_iglu.inference.bounds import DISTANCE
from companion.rules.iglu_iglu.inference.drift_bounds import Lines
from companion.rules.iglu_iglu.inference.gains import (
    BUILT,
    FLED,
    HELD,
    NEVER,
    POINT,
    TRAVELLED,
    Crowds,
    Drawn,
    Losses,
    came,
    excess,
    fetched,
    gained,
    matched,
    standing,
)
from companion.rules.iglu_iglu.json_form import to_json
from companion.rules.iglu_iglu.position import IgluPosition
from companion.rules.inference.belief import Belief, Content, Together
from companion.rules.inference.turns import Evidence

_NOBODY: tuple[tuple[int, ...], ...] = ((),) * len(components.TOKENS)


class IgluLikelihood:
    """The losses of everything everywhere, and the bounds; ``most`` is the log-likelihood of a board without loss."""

    def __init__(self, evidence: Evidence, before: IgluPosition) -> None:
        """Compile what was seen for the players of a game."""
        self.evidence = evidence
        self.most = 0.0
        self.colours = before.table.colours
        seats = len(self.colours)
        none: Losses = (0.0,) * HELD
        # Grounds: water, face-down floe, pack.
        self.ground: list[tuple[float, float, float]] = [(0.0, 0.0, 0.0)] * 64
        self.inuit: list[list[Losses]] = [[none] * 64 for _ in range(seats)]
        self.igloo: list[list[Losses]] = [[none] * 64 for _ in range(seats)]
        self.token: list[list[Losses]] = [[none] * 64 for _ in components.TOKENS]
        self.listed: dict[str, Mapping[Content, float]] = {}
        # What tokens that are seen together lose on top of their shares, by square.
        self.together: dict[int, list[tuple[Together, float]]] = {}
        self.always = 0.0
        for name, seen in evidence.places.items():
            if isinstance(seen, Belief):
                self._belief(NUMBER[name], seen)
            else:
                self._list(NUMBER[name], name, seen)
        self._settle(before)

    # --- compiling ----------------------------------------------------------------------------------------------------

    def _tables(self) -> dict[tuple[str, Any], list[Losses]]:
        tables: dict[tuple[str, Any], list[Losses]] = {
            components.TOKENS[n]: table for n, table in enumerate(self.token)
        }
        tables["bear", None] = self.token[components.BEAR_TOKEN]
        for seat, colour in enumerate(self.colours):
            tables["inuit", colour] = self.inuit[seat]
            tables["igloo", colour] = self.igloo[seat]
        return tables

    def _belief(self, square: int, seen: Belief) -> None:
        self.most += seen.most()
        if seen.ground and not CORNERS >> square & 1:
            top = max(seen.ground.values())
            water, floe, pack = (top - seen.ground.get(g, seen.floor) for g in ("water", "floe", "pack"))
            self.ground[square] = (water, floe, pack)
        tables = self._tables()
        absent = (0.0, *(-seen.floor,) * (HELD - 1))
        for table in tables.values():
            table[square] = absent
        for thing, counts in seen.things.items():
            top = max(counts.values())
            losses = tuple(top - counts.get(n, seen.floor) for n in range(HELD))
            if thing in tables:
                tables[thing][square] = losses
            else:
                # A tribe that does not play, or nothing of this game: it is not there.
                self.always += losses[0]
        for group in seen.together:
            self._group(square, group, seen.floor, tables)

    def _group(self, square: int, group: Together, floor: float, tables: Mapping[Any, list[Losses]]) -> None:
        """Share the loss of each way evenly among the things that differ in it from the likeliest way."""
        top = max(group.likely.values())
        usual = {(kind, what): count for kind, what, count in group.best}
        shares: dict[Any, dict[int, float]] = {thing: {usual.get(thing, 0): 0.0} for thing in group.things}
        for way, likely in group.likely.items():
            counts = {(kind, what): count for kind, what, count in way}
            differ = [thing for thing in group.things if counts.get(thing, 0) != usual.get(thing, 0)]
            for thing in differ if counts.keys() <= tables.keys() else ():
                share = shares[thing]
                n = counts.get(thing, 0)
                share[n] = min(share.get(n, NEVER), (top - likely) / len(differ))
        for thing in group.things:
            losses = tuple(shares[thing].get(n, top - floor) for n in range(HELD))
            if thing in tables:
                tables[thing][square] = losses
            else:
                self.always += losses[0]
        self.together.setdefault(square, []).append((group, floor))

    def _list(self, square: int, name: str, seen: Mapping[Content, float]) -> None:
        """Share the loss of each listed content among its parts, never more than the whole; the rest is in ``end``."""
        top = max(seen.values(), default=0.0)
        self.most += top
        self.listed[name] = seen
        unshared = {found: top - likely for found, likely in seen.items()}
        if not CORNERS >> square & 1:
            shares = _share(unshared, lambda found: found[0])
            water, floe, pack = (shares.get(g, NEVER) for g in ("water", "floe", "pack"))
            self.ground[square] = (water, floe, pack)
        tables = self._tables()
        for thing, table in tables.items():
            if thing == ("bear", None):
                continue
            same = {thing, ("bear", None)} if thing == ("bear", 4) else {thing}
            shares = _share(unshared, lambda found, same=same: sum(n for k, v, n in found[1] if (k, v) in same))
            table[square] = tuple(shares.get(n, NEVER) for n in range(HELD))

    def _settle(self, before: IgluPosition) -> None:
        """Note where something could be won, and the loss of an empty board."""
        self.known: dict[Any, Any] = {}
        self.lines = Lines(self.ground, self.inuit, self.igloo, self.token)
        self.all_three = before.table.all_three
        self.stocked = sum({1 << (code >> 2) for code in (*before.fish, *before.fox)})
        self.floes, self.packs = before.floes, before.packs
        self.base = sum(
            self.ground[q][2 if before.packs >> q & 1 else 1 if before.floes >> q & 1 else 0] for q in range(64)
        )
        self.wants_water = sum(1 << q for q, (w, d, p) in enumerate(self.ground) if w < max(d, p))
        self.wants_floe = sum(1 << q for q, (w, d, p) in enumerate(self.ground) if min(d, p) < w)
        # Where a floe may have melted, or a pack lie: elsewhere that is impossible.
        self.may_water = sum(1 << q for q, losses in enumerate(self.ground) if losses[0] < NEVER)
        self.may_pack = sum(1 << q for q, losses in enumerate(self.ground) if losses[2] < NEVER)
        self.no_bear = sum(1 << q for q, losses in enumerate(self.token[components.BEAR_TOKEN]) if losses[1] >= NEVER)
        self.wants_pack = sum(1 << q for q, (w, d, p) in enumerate(self.ground) if p < max(d, w))
        self.no_inuit = [sum(losses[0] for losses in table) for table in self.inuit]
        self.no_igloo = [sum(losses[0] for losses in table) for table in self.igloo]
        self.no_token = [sum(losses[0] for losses in table) for table in self.token]
        self.wants_inuit = [_wanting(table) for table in self.inuit]
        self.wants_igloo = [_wanting(table) for table in self.igloo]
        self.wants_token = [_wanting(table) for table in self.token]
        # The least that inuit lose who come where none is wanted.
        self.least_come = [
            min(excess(losses, 0) for q, losses in enumerate(table) if SEA >> q & 1) for table in self.inuit
        ]

    # --- losses -------------------------------------------------------------------------------------------------------

    def loss(self, s: IgluPosition) -> float:
        """Return the loss of a whole board (for listed contents a part of it: see :meth:`end`)."""
        total = self.always + self.grounds(s.floes, s.packs) + self.animals(s.fish, s.fox, s.bears)
        for seat, inuit in enumerate(s.inuit):
            total += self.tribe(seat, inuit, s.igloos[seat])
        return total

    def end(self, s: IgluPosition) -> float:
        """Return the whole loss of a board at the end of a turn: exactly ``most`` less its log-likelihood."""
        loss = self.loss(s)
        if loss >= NEVER:
            return loss
        if not self.listed:
            return loss + self._beyond(s) if self.together else loss
        likely = self.evidence.log_likelihood(to_json(s))
        return min(NEVER, self.most - likely)

    def _beyond(self, s: IgluPosition) -> float:
        """Return what things lose together on top of what each of them does."""
        key = ("beyond", s.fish, s.fox, s.igloos, s.inuit)
        total: float | None = self.known.get(key)
        if total is None:
            counts: dict[int, dict[tuple[str, Any], int]] = {}
            for (_, _, there), thing in zip(self._things(s), self._order(), strict=True):
                for square in there:
                    here = counts.setdefault(square, {})
                    here[thing] = here.get(thing, 0) + 1
            # Most places are bare.
            total = self._bare_beyond
            for square, here in counts.items():
                if square in self.together:
                    total += self._beyond_at(square, tuple(here.items())) - self._beyond_at(square, ())
            self.known[key] = total
        return total

    @cached_property
    def _bare_beyond(self) -> float:
        return sum(self._beyond_at(square, ()) for square in self.together)

    def _beyond_at(self, square: int, things: tuple[tuple[tuple[str, Any], int], ...]) -> float:
        """Return what the things of a place lose together on top of what each of them does."""
        key = ("beyond at", square, things)
        total: float | None = self.known.get(key)
        if total is None:
            total, tables, counts = 0.0, self._tables(), dict(things)
            for group, floor in self.together[square]:
                loss = max(group.likely.values()) - group.get(counts, floor)
                known = [thing for thing in group.things if thing in tables]
                loss -= sum(tables[thing][square][min(counts.get(thing, 0), HELD - 1)] for thing in known)
                total += max(0.0, loss)
            self.known[key] = total
        return total

    def _order(self) -> Iterator[tuple[str, Any]]:
        """Yield the things as :meth:`_things` goes through them."""
        for colour in self.colours:
            yield "inuit", colour
            yield "igloo", colour
        yield from components.TOKENS

    def grounds(self, floes: int, packs: int) -> float:
        """Return the loss of the floes."""
        key = (floes, packs)
        total: float | None = self.known.get(key)
        if total is None:
            total = self.base
            for q in numbers((floes ^ self.floes) | (packs ^ self.packs)):
                losses = self.ground[q]
                was = 2 if self.packs >> q & 1 else 1 if self.floes >> q & 1 else 0
                total += losses[2 if packs >> q & 1 else 1 if floes >> q & 1 else 0] - losses[was]
            self.known[key] = total
        return total

    def tribe(self, seat: int, inuit: tuple[int, ...], igloos: int) -> float:
        """Return the loss of a tribe."""
        key = (seat, inuit, igloos)
        total: float | None = self.known.get(key)
        if total is None:
            table = self.inuit[seat]
            total = self.no_inuit[seat] + self.no_igloo[seat]
            for q in set(inuit):
                total += table[q][inuit.count(q)] - table[q][0]
            for q in numbers(igloos):
                losses = self.igloo[seat][q]
                total += losses[1] - losses[0]
            self.known[key] = total
        return total

    def animals(self, fish: Sequence[int], fox: Sequence[int], bears: int) -> float:
        """Return the loss of the animals."""
        key = (fish, fox, bears)
        total: float | None = self.known.get(key)
        if total is None:
            total = sum(self.no_token)
            for kind, first in ((fish, components.FISH), (fox, components.FOX)):
                for code in set(kind):
                    losses = self.token[first + (code & 3) - 1][code >> 2]
                    total += losses[min(kind.count(code), HELD - 1)] - losses[0]
            for q in numbers(bears):
                losses = self.token[components.BEAR_TOKEN][q]
                total += losses[1] - losses[0]
            self.known[key] = total
        return total

    # --- what may still be won ----------------------------------------------------------------------------------------

    def grounds_bound(self, floes: int, packs: int, removals: int, fresh: int) -> float:
        """Return the least loss of the floes when so many may go, and on one of ``fresh`` a pack comes."""
        key = (floes, packs, removals, fresh)
        total: float | None = self.known.get(key)
        if total is not None:
            return total
        total = self.grounds(floes, packs)
        ground = self.ground
        if removals:
            total -= gained([ground[q][1] - ground[q][0] for q in numbers(floes & ~packs & self.wants_water)], removals)
        if fresh:
            total -= max(
                (max(ground[q][:2]) if floes >> q & 1 else ground[q][0]) - ground[q][2] for q in numbers(fresh)
            )
        self.known[key] = total
        return total

    def _things(self, s: IgluPosition) -> Iterator[tuple[list[Losses], int, list[int]]]:
        """Yield for each kind of thing its losses, where it is wanted and where it is."""
        for seat, inuit in enumerate(s.inuit):
            yield self.inuit[seat], self.wants_inuit[seat], list(inuit)
            yield self.igloo[seat], self.wants_igloo[seat], list(numbers(s.igloos[seat]))
        for token, table in enumerate(self.token):
            if token == components.BEAR_TOKEN:
                held = list(numbers(s.bears))
            else:
                first, codes = (components.FISH, s.fish) if token < components.FOX else (components.FOX, s.fox)
                held = [code >> 2 for code in codes if code & 3 == token - first + 1]
            yield table, self.wants_token[token], held

    def own_bound(self, seat: int, inuit: tuple[int, ...], igloos: int, flight: bool, drift: bool = False) -> Losses:
        """Return for 0, 1 … points the least loss of the tribe to move, with what its actions cost."""
        key = (seat, inuit, igloos, flight, drift)
        found: Losses | None = self.known.get(key)
        if found is not None:
            return found
        loss = self.tribe(seat, inuit, igloos)
        table = self.inuit[seat]
        here = set(inuit)
        # Where there are too many, and what leaving costs elsewhere.
        over, gone, several = [], NEVER, False
        for q in here:
            losses, n = table[q], inuit.count(q)
            win = losses[n] - min(losses[: n + 1])
            if win > 0:
                over.append(win)
                several |= n > 1
            else:
                gone = min(gone, losses[n - 1] - losses[n])
        over.sort(reverse=True)
        wins, heap = self._arrivals(seat, inuit, flight, drift)
        # Who goes must come somewhere, who comes must have gone from somewhere.
        come = 0.0
        if drift or heap:
            gone = 0.0
        else:
            come = min((self.least_come[seat], *(excess(table[q], inuit.count(q)) for q in here)))
            if flight:
                come = min(come, self._corner(seat, inuit))
            if several or gone == NEVER:
                gone = 0.0
        found = matched(loss, wins, over, come, gone, flight)
        houses = [
            self.igloo[seat][q][0] - self.igloo[seat][q][1] - BUILT + 3 * POINT
            for q in numbers(self.wants_igloo[seat] & ~igloos)
        ]
        houses = sorted((win for win in houses if win > 0), reverse=True)[:2]
        if houses:
            raised = [0.0, *accumulate(houses)]
            found = tuple(
                min(found[p - 3 * n] - win for n, win in enumerate(raised) if p >= 3 * n) for p in range(len(found))
            )
        self.known[key] = found
        return found

    def _arrivals(
        self, seat: int, inuit: tuple[int, ...], flight: bool, drift: bool
    ) -> tuple[list[tuple[float, int]], bool]:
        """Return what may be won on each square that lacks inuit, less the price of getting there, and the points.

        And whether one of them lacks more than one.
        """
        table = self.inuit[seat]
        wins = []
        heap = False
        for q in numbers(self.wants_inuit[seat]):
            losses, n = table[q], inuit.count(q)
            win = losses[n] - min(losses[n:])
            if win <= 0:
                continue
            heap |= losses.index(min(losses)) > n + 1
            if CORNERS >> q & 1:
                if flight:
                    wins.append((win - FLED, 0))
                continue
            row = DISTANCE[q]
            far = min((row[o] for o in inuit if o != q), default=3)
            if flight:
                far = min(far, *(row[corner] for corner in CORNER_SQUARES))
            if drift:
                far = max(1, far - 1)
            wins.append((win - TRAVELLED, min(far, 3)))
        return wins, heap

    def _corner(self, seat: int, inuit: tuple[int, ...]) -> float:
        """Return the least that inuit lose who flee to a corner: 0 where one is wanted there."""
        table = self.inuit[seat]
        least = NEVER
        for q in CORNER_SQUARES:
            n = inuit.count(q)
            least = min(least, min(table[q][n + 1 :]) - table[q][n])
        return max(0.0, least)

    def other_bound(self, seat: int, inuit: tuple[int, ...], igloos: int, flight: bool) -> float:
        """Return the least loss of another tribe: its inuit can only flee to the corners."""
        loss = self.tribe(seat, inuit, igloos)
        if not flight or loss <= 0:
            return loss
        key = (seat, inuit, igloos, "other")
        found: float | None = self.known.get(key)
        if found is None:
            table = self.inuit[seat]
            over = sum(table[q][inuit.count(q)] - min(table[q][: inuit.count(q) + 1]) for q in set(inuit))
            come = sum(table[q][inuit.count(q)] - min(table[q][inuit.count(q) :]) for q in CORNER_SQUARES)
            found = loss - max(0.0, over + come - FLED - self._corner(seat, inuit))
            self.known[key] = found
        return found

    def animals_bound(
        self,
        fish: tuple[int, ...],
        fox: tuple[int, ...],
        bears: int,
        steps: int,
        free: int,
        fresh: int = 0,
        drawn: Drawn | None = None,
        drift: bool = False,
    ) -> Losses:
        """Return for 0, 1 … points the least loss of the animals, with what draws and actions cost.

        ``steps``: of an animal movement. ``free``: squares that may be cleared otherwise (harpoon, thaw). ``fresh``:
        squares on one of which what is ``drawn`` comes from the box.
        """
        key = (fish, fox, bears, steps, free, fresh, drawn, drift)
        found: Losses | None = self.known.get(key)
        if found is not None:
            return found
        crowds = self._crowds(fish, fox, bears)
        loss = crowds.loss - (self._fetched(crowds, key, steps, fresh, drawn, drift) if steps else 0.0)
        if drawn is not None:
            loss -= self._came(fresh, drawn, crowds.stands, steps > 0, free > 0)
        clear = free
        if steps:
            # A step clears the square it leaves, and one on which a bear arrives.
            fierce = bool(bears) or drift or (drawn is not None and drawn[0] == components.BEAR_TOKEN)
            clear += 2 * steps if fierce else steps
        found = tuple([loss - win for win in crowds.won(clear)])
        self.known[key] = found
        return found

    def _came(self, fresh: int, drawn: Drawn, stands: Sequence[Sequence[int]], steps: bool, free: bool) -> float:
        """Return the most that is won by what comes to one of the squares ``fresh``."""
        taken = {q for squares in stands[drawn[0] : drawn[0] + 3] for q in squares if fresh >> q & 1}
        best = max((self._came_to(q, drawn, stands, steps, free) for q in taken), default=-NEVER)
        bare = fresh & ~sum(1 << q for q in taken)
        if not bare & (bare - 1):
            return max(best, self._came_to(bare.bit_length() - 1, drawn, _NOBODY, steps, free)) if bare else best
        key = (drawn, steps, free)
        order: list[tuple[float, int]] | None = self.known.get(key)
        if order is None:
            found = ((self._came_to(q, drawn, _NOBODY, steps, free), q) for q in range(64))
            order = self.known[key] = sorted(found, reverse=True)
        return max(best, next(win for win, q in order if bare >> q & 1))

    def _came_to(self, q: int, drawn: Drawn, stands: Sequence[Sequence[int]], steps: bool, free: bool) -> float:
        """Return the most that is won by what comes to one square: it matters what stands there already."""
        key = (q, drawn, *[squares.count(q) for squares in stands[drawn[0] : drawn[0] + 3]], steps, free)
        found: float | None = self.known.get(key)
        if found is None:
            found = self.known[key] = came(self.token, q, drawn, stands, steps, free)
        return found

    def _fetched(
        self, crowds: Crowds, key: tuple[Any, ...], steps: int, fresh: int, drawn: Drawn | None, drift: bool
    ) -> float:
        """Return the most that animals win who step where they lack."""
        same = (*key[:4], *key[5:])
        win: float | None = self.known.get(same)
        if win is None:
            win = fetched(self.token, self.wants_token, crowds.stands, steps, fresh, drawn, drift)
            if win <= 0 and self.all_three and steps % 2 and drawn is None and not drift:
                # A step leads to a square of the other colour of a chessboard: not all can be where they were.
                win = -crowds.missed
            self.known[same] = win
        return win

    def _crowds(self, fish: tuple[int, ...], fox: tuple[int, ...], bears: int) -> Crowds:
        key = ("crowds", fish, fox, bears)
        found: Crowds | None = self.known.get(key)
        if found is None:
            found = self.known[key] = Crowds(self.token, standing(fish, fox, bears), self.animals(fish, fox, bears))
        return found


def _share(unshared: dict[Any, float], part: Any) -> dict[Any, float]:
    """Return the least loss of each value of a part, and take it out of what is left to be shared."""
    shares: dict[Any, float] = {}
    for found, loss in unshared.items():
        value = part(found)
        shares[value] = min(shares.get(value, NEVER), loss)
    for found in unshared:
        unshared[found] -= shares[part(found)]
    return shares


def _wanting(table: list[Losses]) -> int:
    """Return the squares where some number is better than none, or more than fewer."""
    return sum(1 << q for q, losses in enumerate(table) if any(losses[n] < losses[n - 1] for n in range(1, HELD)))
