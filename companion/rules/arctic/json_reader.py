"""Reads a position of Arctic from the one form of a board, whoever wrote it: a record, a person, a camera.

A form that is broken is refused in one sentence. What contradicts itself, or is missing where it must be, is kept as
far as it can be and told by ``problems()``: those are the state's ``flaws``.
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
    parse_card,
)
from companion.rules.arctic.moves import ArcticMove
from companion.rules.arctic.position import PHASES, STAGES
from companion.rules.arctic.problems import flaw
from companion.rules.arctic.state import ArcticState
from companion.rules.core import Game, Problem, RulesError, SetupError, only_fields

FIELDS = (
    *("game", "places", "players", "options", "phase", "stage", "to_move", "first", "packs", "powers", "held", "value"),
    *("count", "used", "pile_left", "reserve"),
)
PLAYER = ("name", "colour", "pile", "hand", "penalty", "unseen", "totem", "powers")
PLACES = (*(f"land{value}" for value in LANDSCAPE), *(f"river{n}" for n in range(1, RIVER + 1)))
MAX_CARDS = 120
MAX_NAME = 60
_NOBODY_MOVES = frozenset({"setup", "totems", "over"})


def from_json(game: Game[ArcticMove], data: Mapping[str, Any]) -> ArcticState:
    """Return the state that a position describes; what it leaves out is unknown, empty or as at the start.

    The first player's pile may also stand in ``places``, fanned out as ``pile1`` … from bottom to top; then there
    need be no players at all.

    :raises SetupError: when the form is broken, in one sentence.
    """
    only_fields(data, FIELDS, "A position of Arctic", "Une position d’Arctic")
    places = _mapping(_field(data, "places", {}), "places")
    _only_places(places)
    players = _list(_field(data, "players", []), "players", 4)
    seats = [_mapping(player, "players") for player in players or [{}]]
    for given in seats:
        only_fields(given, PLAYER, "A player of Arctic", "Un joueur d’Arctic")
    names = tuple(_name(_field(seat, "name", f"Player {n + 1}")) for n, seat in enumerate(seats))
    state = ArcticState(game, names, game.settled_options(_mapping(_field(data, "options", {}), "options")))
    n = len(names)
    state.phase = _word(_field(data, "phase", "A"), PHASES, "phase")
    state.stage = _word(_field(data, "stage", "normal"), STAGES, "stage")
    first, seat = data.get("first"), data.get("to_move")
    state.first = _whole(first, 1, n, "first") - 1 if first is not None else -1 if state.phase == "setup" else 0
    if state.phase in _NOBODY_MOVES:
        state.seat = -1
    else:
        state.seat = max(state.first, 0) if seat is None else _whole(seat, 1, n, "to_move") - 1
    found: list[Problem] = []
    found += _read_players(state, seats)
    if state.phase in {"totems", "over"}:
        # The game is over when the last secret totem has been shown.
        state.phase = "totems" if -1 in state.totems else "over"
    found += _read_places(state, places)
    found += _read_pile(state, places)
    _read_powers(state, data)
    _read_packs(state, data)
    _read_counts(state, data)
    state.flaws = tuple(found)
    return state


def _only_places(places: Mapping[str, Any]) -> None:
    for name in places:
        number = name.removeprefix("pile")
        if name not in PLACES and not (name != number and number.isascii() and number.isdigit() and number[0] != "0"):
            shown = repr(str(name)[:40])
            raise SetupError(
                "Arctic has no place {shown}; it has {places} and pile1, pile2 and so on.",
                "Arctic n’a pas de place {shown} ; il y a {places} et pile1, pile2, etc.",
                shown=shown,
                places=", ".join(PLACES),
            )


def _read_players(state: ArcticState, seats: Sequence[Mapping[str, Any]]) -> list[Problem]:
    owners = [-1] * 6
    piles, hands, penalties, totems, veiled, twice = [], [], [], [], [], []
    for seat, player in enumerate(seats):
        piles.append(tuple(_pile_card(text) for text in _list(_field(player, "pile", []), "pile", MAX_CARDS)))
        hands.append(_zone(player.get("hand"), "hand"))
        penalties.append(_zone(player.get("penalty"), "penalty"))
        unseen = _zone(player.get("unseen"), "unseen")
        veiled.append(sum(1 << card for card in set(unseen) if card < UNKNOWN))
        totem = player.get("totem", "?")
        if totem is None and state.phase == "setup":
            totems.append(NOT_DEALT)
        else:
            totems.append(-1 if totem in (None, "?") else ANIMALS.index(_word(totem, ANIMALS, "totem")))
        for animal in _list(_field(player, "powers", []), "powers", 6):
            number = ANIMALS.index(_word(animal, ANIMALS, "powers"))
            if owners[number] not in (-1, seat):
                twice.append(number)
            else:
                owners[number] = seat
    state.piles, state.hands, state.penalties = tuple(piles), tuple(hands), tuple(penalties)
    state.totems, state.owners, state.veiled = tuple(totems), tuple(owners), tuple(veiled)
    return [flaw("power-twice", animal=ANIMALS[number]) for number in dict.fromkeys(twice)]


def _read_places(state: ArcticState, places: Mapping[str, Any]) -> list[Problem]:
    """Read tokens and River; a token that is nowhere counts as on 3, and that is said where it matters."""
    found: list[Problem] = []
    stands: dict[int, list[int]] = {}
    for index, value in enumerate(LANDSCAPE):
        for thing in _things(places, f"land{value}"):
            animal = ANIMALS.index(_word(thing.get("kind"), ANIMALS, f"land{value}"))
            stands.setdefault(animal, []).append(index)
    state.tokens = tuple(stands.get(animal, [2])[0] for animal in range(6))
    has_landscape = any(places.get(f"land{value}") is not None for value in LANDSCAPE)
    for animal in range(6):
        at = stands.get(animal, [])
        if len(at) > 1:
            found.append(flaw("token-twice", animal=ANIMALS[animal]))
        if not at and (has_landscape or animal in state.totems):
            found.append(flaw("token-missing", animal=ANIMALS[animal]))
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
    for index in range(1, MAX_CARDS + 1):
        place = f"pile{index}"
        if places.get(place) is None:
            gap += 1
            continue
        card, wrong = _card_at(places, place)
        found += wrong
        if card >= 0:
            pile += [UNKNOWN] * gap + [card]
        gap = 0
    if pile:
        state.piles = (tuple(pile), *state.piles[1:])
    return found


def _read_powers(state: ArcticState, data: Mapping[str, Any]) -> None:
    powers = _mapping(_field(data, "powers", {}), "powers")
    for animal in powers:
        _word(animal, ANIMALS, "powers")
    sides = []
    for number, animal in enumerate(ANIMALS):
        one, two = SIDES[number]
        power = powers.get(animal, 0 if state.phase == "setup" else one)
        if isinstance(power, bool) or power not in (0, one, two) or (power == 0 and state.phase != "setup"):
            raise SetupError(
                "powers: the {animal} card has the powers {one} and {two}, not {short}.",
                "powers : la carte {animal} a les pouvoirs {one} et {two}, pas {short}.",
                animal=animal,
                one=one,
                two=two,
                short=_short(power),
            )
        sides.append(int(power))
    state.powers = tuple(sides)
    held = data.get("held")
    if held is None:
        state.held = sum(1 << a for a in range(6) if state.seat >= 0 and state.owners[a] == state.seat)
    else:
        names = {_word(animal, ANIMALS, "held") for animal in _list(held, "held", 6)}
        state.held = sum(1 << ANIMALS.index(name) for name in names)


def _read_packs(state: ArcticState, data: Mapping[str, Any]) -> None:
    """Read the packs in play; where they are not told, they are those that are seen, and as many as there must be."""
    packs, n = data.get("packs"), len(state.names)
    if packs is not None:
        state.packs = tuple(sorted({_whole(pack, 1, 4, "packs") for pack in _list(packs, "packs", 4)}))
        return
    if state.phase == "setup":
        return
    seen = {PACK[card] for card in state.all_cards() if card < UNKNOWN}
    for pack in (1, 2, 3, 4):
        if len(seen) < (n if n > 1 else 4):
            seen.add(pack)
    state.packs = tuple(sorted(seen))


def _read_counts(state: ArcticState, data: Mapping[str, Any]) -> None:
    cards = state.all_cards()
    located = sum(1 << card for card in {card for card in cards if card < UNKNOWN})
    for mask in state.veiled:
        located |= mask
    state.located = located
    usual = RESERVE.get(len(state.names), 0) if state.stage == "normal" else 0
    state.reserve = _whole(_field(data, "reserve", usual), 0, 15, "reserve")
    packs = len(state.names) if state.phase == "setup" else len(state.packs)
    rest = max(0, 30 * packs - len(cards) - state.reserve)
    state.pile_left = _whole(_field(data, "pile_left", rest), 0, MAX_CARDS, "pile_left")
    visible = state.visible(state.seat) if state.seat >= 0 else -1
    if state.seat < 0:
        usual = 0
    elif state.phase == "A":
        usual = PLACEMENT[visible] if visible >= 0 else 1
    else:
        usual = DRAW[visible] if visible >= 0 else 0
    state.value = _whole(_field(data, "value", usual), 0, 12, "value")
    state.count = _whole(_field(data, "count", 0), 0, 12, "count")
    names = [_word(name, tuple(USED), "used") for name in _list(_field(data, "used", []), "used", len(USED))]
    state.used = sum({USED[name] for name in names})


# --- words, numbers, cards -----------------------------------------------------------------------------------


def _field(data: Mapping[str, Any], key: str, default: Any) -> Any:
    """Return what a form says; null and nothing are the same."""
    value = data.get(key)
    return default if value is None else value


def _short(value: Any) -> str:
    return repr(value)[:40]


def _whole(value: Any, low: int, high: int, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise SetupError(
            "{what} is a whole number from {low} to {high}, not {short}.",
            "{what} est un nombre entier de {low} à {high}, pas {short}.",
            what=what,
            low=low,
            high=high,
            short=_short(value),
        )
    return value


def _word(value: Any, words: Sequence[str], what: str) -> str:
    if not isinstance(value, str) or value not in words:
        raise SetupError(
            "{what} is one of {words}, not {short}.",
            "{what} est l’un de {words}, pas {short}.",
            what=what,
            words=", ".join(words),
            short=_short(value),
        )
    return value


def _name(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > MAX_NAME:
        raise SetupError(
            "A player’s name has 1 to {most} characters, unlike {short}.",
            "Un nom a de 1 à {most} caractères, pas {short}.",
            most=MAX_NAME,
            short=_short(value),
        )
    return value.strip()


def _mapping(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise SetupError(
            "{what}: an object is wanted, not {short}.",
            "{what} : il faut un objet, pas {short}.",
            what=what,
            short=_short(value),
        )
    return value


def _list(value: Any, what: str, most: int) -> list[Any]:
    if not isinstance(value, list) or len(value) > most:
        raise SetupError(
            "{what} is a list of at most {most}, not {short}.",
            "{what} est une liste d’au plus {most}, pas {short}.",
            what=what,
            most=most,
            short=_short(value),
        )
    return value


def _zone(value: Any, what: str) -> tuple[int, ...]:
    """Read a hand or Penalty zone: a list of cards, ``?`` for an unseen one; or how many unseen ones there are."""
    if value is None:
        return ()
    if isinstance(value, int):
        return (UNKNOWN,) * _whole(value, 0, MAX_CARDS, what)
    return tuple(sorted(_card(text) for text in _list(value, what, MAX_CARDS)))


def _card(text: Any) -> int:
    try:
        return parse_card(text if isinstance(text, str) else _short(text))
    except RulesError as error:
        raise SetupError("{why}", "{why}", why=error.words) from None


def _pile_card(text: Any) -> int:
    """Read a card of a pile: ``down:`` stands before one that lies face down; a bare animal is not fully read."""
    if isinstance(text, str) and text.startswith("down:"):
        return FACE_DOWN + _card(text[5:])
    return KIND + ANIMALS.index(text) if text in ANIMALS else _card(text)


def _things(places: Mapping[str, Any], place: str) -> list[Mapping[str, Any]]:
    content = places.get(place)
    if content is None:
        return []
    things = content.get("things", []) if isinstance(content, Mapping) else None
    if not isinstance(things, list) or not all(isinstance(thing, Mapping) for thing in things):
        raise SetupError("{place} has a list of things.", "{place} a une liste de things.", place=place)
    return things


def _card_at(places: Mapping[str, Any], place: str) -> tuple[int, list[Problem]]:
    """Return the card at a place, -1 for none, and what is wrong with it; KIND + animal where it is not fully read."""
    things = _things(places, place)
    if not things:
        return -1, []
    found: list[Problem] = []
    count = sum(_whole(thing.get("count", 1), 0, MAX_CARDS, f"{place}: count") for thing in things)
    if count != 1:
        found.append(flaw("place-crowded", place=place, count=count))
    thing = things[0]
    kind = _word(thing.get("kind"), (*ANIMALS, "face-down"), place)
    if kind == "face-down":
        return FACE_DOWN + UNKNOWN, found
    value, companion = thing.get("value"), thing.get("companion")
    bare = KIND + ANIMALS.index(kind)
    if value is None or companion is None:
        return bare, found
    _whole(value, 1, 5, f"{place}: value")
    name = f"{kind}-{value}-{_word(companion, ANIMALS, f'{place}: companion')}"
    if name in TEXT:
        return TEXT.index(name), found
    return bare, [*found, flaw("no-such-card", card=name, place=place)]
