"""What must have happened in a check of which only cards and thalers are told: who had which igloos where.

A card that was won had an igloo of its winner that matches; a thaler that was won from somebody was on a wrong igloo
on a card of the winner; one that left the game was on a card that stayed, or on its owner's own. The fewest igloos
explain it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from companion.rules.igloo_pop.components import CARD_BITS, IGLOOS

WINS, LOWER, MISSES = "wins", "lower", "misses"
"""What an igloo does: it matches highest, it matches below another, it does not match."""
ANYWHERE: Final = -1
"""The place of an igloo that may stand on any card that stays."""
MOST_WAYS: Final = 60
"""Ways of spreading thalers over winners that are tried."""
MOST_TRIES: Final = 2_000
"""Numbers that are tried under igloos."""
Pairs = list[tuple[int, int]]
"""The igloos of a card: (colour, number)."""


@dataclass(frozen=True)
class Account:
    """What is told of a player over the check: cards won, thalers lost, won from others, out of the game; None: not."""

    cards: Counter[int] | None
    lost: int | None
    gained: int | None
    removed: int | None


@dataclass(frozen=True)
class SettledCards:
    """The cards that are settled in a check, and what stood on them before: ``igloos`` are ``who * 16 + number``.

    ``stays`` says of each card whether it lay there afterwards (None: not told); ``used`` are the numbers that other
    cards show; ``returns``: where none of several matches the thalers come back (``pop.none_match``).
    """

    cards: Mapping[int, int]
    igloos: Mapping[int, Sequence[int]]
    stays: Mapping[int, bool | None]
    accounts: Mapping[int, Account]
    used: frozenset[int]
    returns: bool


@dataclass
class _Part:
    """An igloo on a card: whose, what it does, the number that it has shown already (0: not yet)."""

    place: int
    who: int
    does: str
    number: int = 0


@dataclass
class _Plan:
    winners: dict[int, int]
    parts: list[_Part] = field(default_factory=list)
    open: list[_Part] = field(default_factory=list)


def reckon(table: SettledCards) -> Iterator[dict[int, Pairs]]:
    """Yield what may have stood on each card that was settled, with its numbers: the fewest igloos that explain it."""
    for winners in _winners(table, sorted(table.cards), {}):
        plan = _base(table, winners)
        for flows in _flows(table, plan):
            parts = _placed(table, plan, flows)
            numbered = None if parts is None else _numbered(table, parts, _staying(table, plan))
            if numbered is not None:
                yield numbered


def _winners(table: SettledCards, places: Sequence[int], chosen: dict[int, int]) -> Iterator[dict[int, int]]:
    """Yield who may have won which card; a card of which nothing is told was won by nobody."""
    if not places:
        yield dict(chosen)
        return
    place, card = places[0], table.cards[places[0]]
    claimants = [who for who, account in table.accounts.items() if account.cards is not None and account.cards[card]]
    options: list[int] = claimants
    if not claimants and table.stays[place] is False:
        options = [who for who, account in table.accounts.items() if account.cards is None]
    elif not claimants:
        yield from _winners(table, places[1:], chosen)
        return
    for who in options:
        yield from _winners(table, places[1:], {**chosen, place: who})


def _base(table: SettledCards, winners: dict[int, int]) -> _Plan:
    """Return what is certain: a winner's igloo on each card won, misses on the others; ``open`` may match or not."""
    plan = _Plan(winners)
    for place, igloos in table.igloos.items():
        bits = CARD_BITS[table.cards[place]]
        winner = winners.get(place)
        standing = [_Part(place, igloo >> 4, MISSES, igloo & 15) for igloo in igloos]
        if winner is None:
            plan.parts += standing
            continue
        own = [part for part in standing if part.who == winner and (not part.number or bits >> part.number & 1)]
        best = max(own, key=lambda part: part.number, default=None)
        if best is None:
            best = _Part(place, winner, WINS)
            standing.append(best)
        for part in standing:
            if part is best:
                part.does = WINS
                plan.parts.append(part)
            elif part.number:
                part.does = LOWER if bits >> part.number & 1 else MISSES
                plan.parts.append(part)
            else:
                plan.open.append(part)
    return plan


def _lost(table: SettledCards, plan: _Plan, parts: Sequence[_Part]) -> tuple[Counter[int], Counter[tuple[int, int]]]:
    """Return the thalers that leave the game, by owner, and those won from others, by (owner, winner)."""
    removed: Counter[int] = Counter()
    captured: Counter[tuple[int, int]] = Counter()
    count = Counter(part.place for part in parts)
    for part in parts:
        winner = plan.winners.get(part.place)
        if part.does != MISSES or (winner is None and table.returns and count[part.place] > 1):
            continue
        if winner in (None, part.who):
            removed[part.who] += 1
        else:
            captured[part.who, winner] += 1
    return removed, captured


def _flows(table: SettledCards, plan: _Plan) -> Iterator[tuple[Counter[int], Counter[tuple[int, int]]]]:
    """Yield the further thalers that must leave the game or be won, so that every account comes out as told."""
    removed, captured = _lost(table, plan, plan.parts)
    winners = sorted(set(plan.winners.values()))
    left: dict[int, int | None] = {}
    gone: dict[int, int | None] = {}
    for who, account in table.accounts.items():
        out = removed[who] + sum(n for (owner, _), n in captured.items() if owner == who)
        left[who] = None if account.lost is None else account.lost - out
        gone[who] = None if account.removed is None else account.removed - removed[who]
    due = {
        winner: None
        if table.accounts[winner].gained is None
        else (table.accounts[winner].gained or 0) - sum(n for (_, to), n in captured.items() if to == winner)
        for winner in winners
    }
    others = [who for who, account in table.accounts.items() if who not in winners and account.gained]
    numbers = [*left.values(), *gone.values(), *due.values()]
    if others or any(number is not None and number < 0 for number in numbers):
        return
    owners = sorted(table.accounts)
    for flow in islice(_spread(owners, winners, left, gone, due), MOST_WAYS):
        away = Counter({who: sum(n for (owner, _), n in flow.items() if owner == who) for who in owners})
        lost = {who: (gone[who] or 0) if left[who] is None else (left[who] or 0) - away[who] for who in owners}
        if all(gone[who] in (None, lost[who]) for who in owners) and min(lost.values(), default=0) >= 0:
            yield Counter(lost), flow


def _spread(
    owners: Sequence[int],
    winners: Sequence[int],
    left: Mapping[int, int | None],
    gone: Mapping[int, int | None],
    due: Mapping[int, int | None],
) -> Iterator[Counter[tuple[int, int]]]:
    """Yield the ways in which winners may have won their thalers: from whom how many."""
    pairs = [(owner, winner) for winner in winners for owner in owners if owner != winner]

    def room(owner: int, flow: Counter[tuple[int, int]]) -> int:
        whole = left[owner]
        if whole is None:
            return len(IGLOOS)
        return whole - (gone[owner] or 0) - sum(n for (one, _), n in flow.items() if one == owner)

    def go(index: int, flow: Counter[tuple[int, int]]) -> Iterator[Counter[tuple[int, int]]]:
        if index == len(pairs):
            if all(due[w] in (None, sum(n for (_, to), n in flow.items() if to == w)) for w in winners):
                yield Counter(flow)
            return
        owner, winner = pairs[index]
        wanted = due[winner]
        paid = sum(n for (_, to), n in flow.items() if to == winner)
        most = room(owner, flow)
        if wanted is not None:
            most = min(most, wanted - paid)
        elif left[owner] is None or gone[owner] is None:
            # Nothing asks for it: what is lost may as well have left the game.
            most = 0
        for count in range(max(0, most), -1, -1):
            yield from go(index + 1, flow + Counter({(owner, winner): count}))

    return go(0, Counter())


def _placed(
    table: SettledCards, plan: _Plan, flows: tuple[Counter[int], Counter[tuple[int, int]]]
) -> list[_Part] | None:
    """Return all igloos: those that may match or not are wrong as far as thalers were lost, then new ones are added."""
    out, flow = Counter(flows[0]), Counter(flows[1])
    parts = [_Part(part.place, part.who, part.does, part.number) for part in plan.parts]
    for part in plan.open:
        winner = plan.winners[part.place]
        account = out if winner == part.who else flow
        key = part.who if winner == part.who else (part.who, winner)
        wrong = account[key] > 0  # type: ignore[index]
        if wrong:
            account[key] -= 1  # type: ignore[index]
        parts.append(_Part(part.place, part.who, MISSES if wrong else LOWER))
    for (who, winner), count in flow.items():
        place = next(place for place, won_by in plan.winners.items() if won_by == winner)
        parts += [_Part(place, who, MISSES)] * count
    for who, count in out.items():
        for _ in range(count):
            losing = _place_to_lose(table, plan, parts, who)
            if losing is None:
                return None
            parts.append(_Part(losing, who, MISSES))
    return parts if len(parts) <= len(IGLOOS) else None


def _place_to_lose(table: SettledCards, plan: _Plan, parts: Sequence[_Part], who: int) -> int | None:
    """Return a card on which a thaler may be lost to the box: one that stays, else one that its owner wins."""
    taken = {part.place for part in parts}
    stays = _staying(table, plan)
    if stays and not table.returns:
        return ANYWHERE
    stays = [place for place in stays if place not in taken]
    return next(iter([*stays, *(place for place, winner in plan.winners.items() if winner == who)]), None)


def _staying(table: SettledCards, plan: _Plan) -> list[int]:
    return [place for place in sorted(table.cards) if place not in plan.winners]


def _numbered(table: SettledCards, parts: Sequence[_Part], stays: Sequence[int]) -> dict[int, Pairs] | None:
    """Return the igloos with numbers, all different: those that match first, the winner's the highest of its card."""
    order = sorted(
        range(len(parts)), key=lambda n: (not parts[n].number, (WINS, LOWER, MISSES).index(parts[n].does), n)
    )
    given: dict[int, int] = {}
    tries = iter(range(MOST_TRIES))
    wanted = {table.cards[part.place] for part in parts if part.does != MISSES}

    def where(part: _Part, number: int) -> int | None:
        """Return where an igloo stands: one that may be anywhere, on the first card that lacks its number."""
        if part.place != ANYWHERE:
            return part.place
        return next((place for place in stays if not CARD_BITS[table.cards[place]] >> number & 1), None)

    def fits(part: _Part, number: int) -> bool:
        place = where(part, number)
        if place is None:
            return False
        on = bool(CARD_BITS[table.cards[place]] >> number & 1)
        if on == (part.does == MISSES):
            return False
        here = [n for n in given if parts[n].place == place]
        if part.does == LOWER:
            return all(given[n] > number for n in here if parts[n].does == WINS)
        return part.does == MISSES or all(given[n] < number for n in here if parts[n].does == LOWER)

    def go(index: int) -> bool:
        if index == len(order):
            return True
        part = parts[order[index]]
        taken = {*table.used, *given.values()}
        numbers = [part.number] if part.number else sorted(IGLOOS, reverse=part.does == WINS)
        if part.does == MISSES and not part.number:
            numbers = sorted(numbers, key=lambda n: sum(CARD_BITS[card] >> n & 1 for card in wanted))
        for number in numbers:
            if number not in taken and fits(part, number) and next(tries, None) is not None:
                given[order[index]] = number
                if go(index + 1):
                    return True
                del given[order[index]]
        return False

    if not go(0):
        return None
    found: dict[int, Pairs] = {}
    for n, part in enumerate(parts):
        place = where(part, given[n])
        if place is not None:
            found.setdefault(place, []).append((part.who, given[n]))
    return found
