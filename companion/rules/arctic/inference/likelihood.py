"""What was seen of a table of Arctic, as numbers: tokens, River, piles, zones, power cards; and what fits what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from companion.rules.arctic.components import (
    ANIMALS,
    FACE_DOWN,
    KIND,
    LANDSCAPE,
    MAIN,
    PLACEMENT,
    RIVER,
    TEXT,
    UNKNOWN,
    parse_card,
)
from companion.rules.core import JSON, RulesError, SetupError
from companion.rules.inference.turns import Content, Evidence, content

NOTHING: Final = -1
"""Where no card lies."""
LANDS: Final = {f"land{value}": index for index, value in enumerate(LANDSCAPE)}
SLOTS: Final = tuple(f"river{index}" for index in range(1, RIVER + 1))
ZONES: Final = ("pile", "hand", "penalty", "powers")
MOST_CARDS: Final = 120


def fields(position: Mapping[str, Any]) -> dict[str, JSON]:
    """Return what a position tells beyond its places: ``p1.pile``, ``p1.hand`` … and ``pile_left``.

    A pile that is fanned out as ``pile1`` … is the first player's.
    """
    found: dict[str, JSON] = {}
    for seat, player in enumerate(position.get("players") or (), 1):
        found.update({f"p{seat}.{zone}": player[zone] for zone in ZONES if player.get(zone) is not None})
    fanned = _fanned(position.get("places") or {})
    if fanned:
        found["p1.pile"] = fanned
    if position.get("pile_left") is not None:
        found["pile_left"] = position["pile_left"]
    return found


def _fanned(places: Mapping[str, Any]) -> list[str]:
    pile: list[str] = []
    gap = 0
    for index in range(1, MOST_CARDS + 1):
        place = places.get(f"pile{index}")
        if place is None:
            gap += 1
            continue
        if place.get("things"):
            pile += ["?"] * gap + [_text(place["things"][0])]
        gap = 0
    return pile


def _text(thing: Mapping[str, Any]) -> str:
    if thing["kind"] == "face-down":
        return "down:?"
    if thing.get("value") is None or thing.get("companion") is None:
        return str(thing["kind"])
    return f"{thing['kind']}-{thing['value']}-{thing['companion']}"


def evidence_of(position: Mapping[str, Any]) -> tuple[dict[str, dict[Content, float]], dict[str, JSON]]:
    """Return what a position is evidence of: landscape and River as places, all else as fields."""
    known = {name: place for name, place in position["places"].items() if name in LANDS or name in SLOTS}
    places = {name: {content(place): 0.0} for name, place in known.items() if place is not None}
    return places, fields(position)


class ArcticLikelihood:
    """The evidence of a position: for every token where it may be, for every slot of the River which cards may lie.

    ``piles``, ``hands`` and ``penalties`` have for each seat the cards that were told, or None; ``powers`` the mask of
    the animals whose power card a seat has, or None. ``spoken`` is the mask of all the cards that were named.
    """

    def __init__(self, evidence: Evidence, players: int) -> None:
        """Compile the evidence.

        :raises SetupError: when a card of it cannot be read.
        """
        self.evidence = evidence
        self.tokens = [63] * 6
        for name, index in LANDS.items():
            if name in evidence.places:
                self._see_land(index, list(evidence.places[name]))
        self.slots = {name: _cards(list(evidence.places[name])) for name in SLOTS if name in evidence.places}
        self.open_slots = RIVER - len(self.slots)
        self.need = {next(iter(cards)) for cards in self.slots.values() if len(cards) == 1} - {NOTHING}
        get = evidence.fields.get
        seats = range(1, players + 1)
        self.piles = [_read(get(f"p{seat}.pile"), _pile_card) for seat in seats]
        self.hands = [_zone(get(f"p{seat}.hand")) for seat in seats]
        self.penalties = [_zone(get(f"p{seat}.penalty")) for seat in seats]
        self.powers = [_mask(get(f"p{seat}.powers")) for seat in seats]
        self.pile_left = get("pile_left")
        named = set(self.need)
        for zone in (*self.piles, *self.hands, *self.penalties):
            named |= {card % FACE_DOWN for card in zone or ()}
        self.spoken = sum(1 << card for card in named if card < UNKNOWN)

    def _see_land(self, index: int, contents: Sequence[Content]) -> None:
        for animal, name in enumerate(ANIMALS):
            here = [any(kind == name and count for kind, _, count in things) for _, things in contents]
            if not any(here):
                self.tokens[animal] &= ~(1 << index)
            elif all(here):
                self.tokens[animal] &= 1 << index

    def may_stay(self, card: int) -> bool:
        """Return whether a card may lie in the River that was seen."""
        return bool(self.open_slots) or any(card in cards for cards in self.slots.values())

    def lost(self, river: Sequence[int]) -> list[str]:
        """Return the slots that cannot be had with a River: none where it may be the one that was seen."""
        left = [*river, *[NOTHING] * (RIVER - len(river))]
        missed = []
        rest = {}
        for name, cards in self.slots.items():
            if len(cards) > 1:
                rest[name] = cards
            elif (card := next(iter(cards), None)) in left:
                left.remove(card)
            else:
                missed.append(name)
        return missed + [name for name in rest if name not in _match(rest, left)]

    def likely(self, places: Mapping[str, Any]) -> float:
        """Return how likely a table looks as was seen, with the cards of the River in their best order."""
        total = 0.0
        for name in LANDS:
            seen = self.evidence.places.get(name)
            if seen is not None:
                total += seen.get(content(places[name]), float("-inf"))
        left = [content(places[slot]) for slot in SLOTS]
        doubtful = []
        for name in self.slots:
            contents = list(self.evidence.places[name])
            if len(contents) > 1:
                doubtful.append(name)
            elif contents[0] in left:
                left.remove(contents[0])
        return total + _best(self.evidence, doubtful, left)


def _best(evidence: Evidence, names: Sequence[str], left: Sequence[Content]) -> float:
    """Return the best sum of likelihoods of some slots, each with a card of its own."""
    if not names:
        return 0.0
    seen = evidence.places[names[0]]
    best = float("-inf")
    for number, found in enumerate(left):
        if found in seen and found not in left[:number]:
            rest = [*left[:number], *left[number + 1 :]]
            best = max(best, seen.get(found, float("-inf")) + _best(evidence, names[1:], rest))
    return best


def _match(slots: Mapping[str, frozenset[int]], cards: Sequence[int]) -> dict[str, int]:
    """Return a card of its own for as many slots as can have one (augmenting paths; a River is small)."""
    owner: dict[int, str] = {}

    def give(name: str, tried: set[int]) -> bool:
        for number, card in enumerate(cards):
            if card in slots[name] and number not in tried:
                tried.add(number)
                if number not in owner or give(owner[number], tried):
                    owner[number] = name
                    return True
        return False

    for name in slots:
        give(name, set())
    return {name: number for number, name in owner.items()}


def _cards(contents: Iterable[Content]) -> frozenset[int]:
    """Return the cards that may lie in a slot."""
    found: set[int] = set()
    for _, things in contents:
        if not things:
            found.add(NOTHING)
        for kind, what, _ in things[:1]:
            value, companion = what if isinstance(what, tuple) else (what, None)
            if value is not None and companion is not None:
                name = f"{kind}-{value}-{companion}"
                found |= {TEXT.index(name)} if name in TEXT else set()
            else:
                alike = (c for c in range(UNKNOWN) if ANIMALS[MAIN[c]] == kind)
                found |= {card for card in alike if value in (None, PLACEMENT[card])}
    return frozenset(found)


def _pile_card(text: Any) -> int:
    if isinstance(text, str) and text.startswith("down:"):
        return FACE_DOWN + _card(text[5:])
    return KIND + ANIMALS.index(text) if text in ANIMALS else _card(text)


def _card(text: Any) -> int:
    try:
        return parse_card(text if isinstance(text, str) else repr(text)[:40])
    except RulesError as error:
        raise SetupError("{why}", why=error.words) from None


def _read(value: Any, read: Any) -> tuple[int, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list):
        raise SetupError("A pile is a list of cards.")
    return tuple(read(text) for text in value)


def _zone(value: Any) -> tuple[int, ...] | None:
    """Read a hand or Penalty zone: a list of cards, or how many there are."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_CARDS:
        return (UNKNOWN,) * value
    found = _read(value, _card)
    return None if found is None else tuple(sorted(found))


def _mask(value: Any) -> int | None:
    if value is None:
        return None
    if not isinstance(value, list) or not all(animal in ANIMALS for animal in value):
        raise SetupError("powers is a list of animals.")
    return sum({1 << ANIMALS.index(animal) for animal in value})


# --- what fits what ---------------------------------------------------------------------------------------------------


def card_fits(seen: int, here: int) -> bool:
    """Return whether a card of a pile may have been read so: not at all, or only its animal."""
    if seen == here:
        return True
    if (seen >= FACE_DOWN) != (here >= FACE_DOWN):
        return False
    one, two = seen % FACE_DOWN, here % FACE_DOWN
    if UNKNOWN in (one, two):
        return True
    return max(one, two) >= KIND and MAIN[one] == MAIN[two]


def zone_fits(seen: Sequence[int], here: Sequence[int]) -> bool:
    """Return whether a zone may be the one that was told: as many cards, and none too many that are known."""
    if len(seen) != len(here):
        return False
    known, shown = ({card for card in zone if card != UNKNOWN} for zone in (here, seen))
    return len(shown - known) <= list(here).count(UNKNOWN) and len(known - shown) <= list(seen).count(UNKNOWN)


def pile_fits(seen: Sequence[int], here: Sequence[int]) -> bool:
    """Return whether a pile may have been read so."""
    return len(seen) == len(here) and all(map(card_fits, seen, here))
