"""Makes a position of Arctic of the one form of a board, whoever wrote it: a record, a person, a camera.

What the form itself is, and what breaks it, stands in :mod:`.json_form`. What contradicts itself, or is missing where
it must be, is kept as far as it can be and told by ``problems()``: those are the state's ``flaws``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from companion.rules.arctic.components import (
    ANIMALS,
    DRAW,
    FACE_DOWN,
    KIND,
    LANDSCAPE,
    NOT_DEALT,
    PACK,
    PLACEMENT,
    RESERVE,
    RIVER,
    SIDES,
    TEXT,
    UNKNOWN,
    USED,
)
from companion.rules.arctic.json_form import FORM, MAX_CARDS
from companion.rules.arctic.moves import ArcticMove
from companion.rules.arctic.problems import flaw
from companion.rules.arctic.state import ArcticState
from companion.rules.core import Game, Problem
from companion.rules.i18n import Words
from companion.rules.position_form import Reading, Whole

_NOBODY_MOVES = frozenset({"setup", "totems", "over"})
_NOTHING_SAID: tuple[Any, ...] = (None, None, (), (), (), (), -1, ())
"""A player of whom nothing is known."""


def from_json(game: Game[ArcticMove], data: Mapping[str, Any]) -> ArcticState:
    """Return the state that a position describes; what it leaves out is unknown, empty or as at the start.

    The first player's pile may also stand in ``places``, fanned out as ``pile1`` … from bottom to top; then there
    need be no players at all.

    :raises SetupError: when the form is broken, with all that is wrong with it.
    """
    reading = Reading()
    told = FORM.read(data, None, reading)
    options = reading.options(game, told["options"])
    _check(told, reading)
    reading.finish()
    seats = told["players"] or (_NOTHING_SAID,)
    names = tuple(name or f"Player {n}" for n, (name, *_) in enumerate(seats, 1))
    state = ArcticState(game, names, options)
    state.phase, state.stage = told["phase"], told["stage"]
    first, seat = told["first"], told["to_move"]
    state.first = first - 1 if first is not None else -1 if state.phase == "setup" else 0
    if state.phase in _NOBODY_MOVES:
        state.seat = -1
    else:
        state.seat = max(state.first, 0) if seat is None else seat - 1
    found: list[Problem] = []
    found += _read_players(state, seats)
    if state.phase in {"totems", "over"}:
        # The game is over when the last secret totem has been shown.
        state.phase = "totems" if -1 in state.totems else "over"
    found += _read_places(state, told["places"])
    found += _read_pile(state, told["places"])
    _read_powers(state, told)
    _read_packs(state, told["packs"])
    _read_counts(state, told)
    state.flaws = tuple(found)
    return state


def _check(told: Mapping[str, Any], reading: Reading) -> None:
    """Keep seats that nobody sits on, and powers that an animal's card does not have."""
    if reading.sound("players", "first", "to_move"):
        seats = Whole(1, len(told["players"]) or 1)
        for key in ("first", "to_move"):
            if told[key] is not None:
                seats.read(told[key], (None, key), reading)
    for animal, power in (told["powers"] if reading.sound("powers") else {}).items():
        one, two = SIDES[ANIMALS.index(animal)]
        if power not in (one, two) and not (power == 0 and told["phase"] == "setup"):
            words = Words("powers: the {animal} card has the powers {one} and {two}, not {power}.")
            facts = {"animal": animal, "one": one, "two": two, "power": power}
            reading.say(((None, "powers"), animal), words.filled(facts))


def _read_players(state: ArcticState, seats: Sequence[tuple[Any, ...]]) -> list[Problem]:
    owners = [-1] * 6
    totems, veiled, twice = [], [], []
    for seat, (_, _, _, _, _, unseen, totem, powers) in enumerate(seats):
        veiled.append(sum(1 << card for card in set(unseen) if card < UNKNOWN))
        totems.append(-1 if totem == NOT_DEALT and state.phase != "setup" else totem)
        for animal in map(ANIMALS.index, powers):
            if owners[animal] not in (-1, seat):
                twice.append(animal)
            else:
                owners[animal] = seat
    state.piles = tuple(pile for _, _, pile, *_ in seats)
    state.hands = tuple(tuple(sorted(hand)) for _, _, _, hand, *_ in seats)
    state.penalties = tuple(tuple(sorted(penalty)) for _, _, _, _, penalty, *_ in seats)
    state.totems, state.owners, state.veiled = tuple(totems), tuple(owners), tuple(veiled)
    return [flaw("power-twice", animal=ANIMALS[number]) for number in dict.fromkeys(twice)]


def _read_places(state: ArcticState, places: Mapping[str, Any]) -> list[Problem]:
    """Read tokens and River; a token that is nowhere counts as on 3, and that is said where it matters."""
    found: list[Problem] = []
    stands: dict[str, list[int]] = {animal: [] for animal in ANIMALS}
    has_landscape = False
    for index, value in enumerate(LANDSCAPE):
        if f"land{value}" in places:
            has_landscape = True
            for kind, _ in places[f"land{value}"][1]:
                stands[kind].append(index)
    state.tokens = tuple((stands[animal] or [2])[0] for animal in ANIMALS)
    for number, animal in enumerate(ANIMALS):
        if len(stands[animal]) > 1:
            found.append(flaw("token-twice", animal=animal))
        if not stands[animal] and (has_landscape or number in state.totems):
            found.append(flaw("token-missing", animal=animal))
    river = []
    for index in range(1, RIVER + 1):
        card, wrong = _card_at(places, f"river{index}")
        found += wrong
        if 0 <= card < UNKNOWN:
            river.append(card)
        elif card >= KIND:
            found.append(flaw("card-unread", place=f"river{index}"))
    state.river = tuple(sorted(river))
    return found


def _read_pile(state: ArcticState, places: Mapping[str, Any]) -> list[Problem]:
    """Read a fanned-out pile; an empty place is no card, an unknown one between two cards is an unknown card."""
    found: list[Problem] = []
    pile: list[int] = []
    gap = 0
    if len(places) <= RIVER + len(LANDSCAPE) and not any(name.startswith("pile") for name in places):
        return found
    for index in range(1, MAX_CARDS + 1):
        name = f"pile{index}"
        if name not in places:
            gap += 1
            continue
        card, wrong = _card_at(places, name)
        found += wrong
        if card >= 0:
            pile += [UNKNOWN] * gap + [card]
        gap = 0
    if pile:
        state.piles = (tuple(pile), *state.piles[1:])
    return found


def _read_powers(state: ArcticState, told: Mapping[str, Any]) -> None:
    powers, setup = told["powers"], state.phase == "setup"
    state.powers = tuple(powers.get(animal, 0 if setup else SIDES[number][0]) for number, animal in enumerate(ANIMALS))
    held = told["held"]
    if held is None:
        state.held = sum(1 << a for a in range(6) if state.seat >= 0 and state.owners[a] == state.seat)
    else:
        state.held = sum(1 << ANIMALS.index(animal) for animal in set(held))


def _read_packs(state: ArcticState, packs: Sequence[int] | None) -> None:
    """Read the packs in play; where they are not told, they are those that are seen, and as many as there must be."""
    n = len(state.names)
    if packs is not None:
        state.packs = tuple(sorted(set(packs)))
        return
    if state.phase == "setup":
        return
    seen = {PACK[card] for card in state.all_cards() if card < UNKNOWN}
    for pack in (1, 2, 3, 4):
        if len(seen) < (n if n > 1 else 4):
            seen.add(pack)
    state.packs = tuple(sorted(seen))


def _read_counts(state: ArcticState, told: Mapping[str, Any]) -> None:
    cards = state.all_cards()
    located = sum(1 << card for card in {card for card in cards if card < UNKNOWN})
    for mask in state.veiled:
        located |= mask
    state.located = located
    usual = RESERVE.get(len(state.names), 0) if state.stage == "normal" else 0
    state.reserve = usual if told["reserve"] is None else told["reserve"]
    packs = len(state.names) if state.phase == "setup" else len(state.packs)
    rest = min(MAX_CARDS, max(0, 30 * packs - len(cards) - state.reserve))
    state.pile_left = rest if told["pile_left"] is None else told["pile_left"]
    visible = state.visible(state.seat) if state.seat >= 0 else -1
    if state.seat < 0:
        usual = 0
    elif state.phase == "A":
        usual = PLACEMENT[visible] if visible >= 0 else 1
    else:
        usual = DRAW[visible] if visible >= 0 else 0
    state.value = usual if told["value"] is None else told["value"]
    state.count = told["count"]
    state.used = sum(USED[name] for name in set(told["used"]))


def _card_at(places: Mapping[str, Any], name: str) -> tuple[int, list[Problem]]:
    """Return the card at a place, -1 for none, and what is wrong with it; KIND + animal where it is not fully read."""
    things = places[name][1] if name in places else ()
    if not things:
        return -1, []
    found: list[Problem] = []
    count = sum(thing[-1] for thing in things)
    if count != 1:
        found.append(flaw("place-crowded", place=name, count=count))
    kind, value, companion, _ = things[0]
    if kind == "face-down":
        return FACE_DOWN + UNKNOWN, found
    bare = KIND + ANIMALS.index(kind)
    if value is None or companion is None:
        return bare, found
    text = f"{kind}-{value}-{companion}"
    if text in TEXT:
        return TEXT.index(text), found
    return bare, [*found, flaw("no-such-card", card=text, place=name)]
