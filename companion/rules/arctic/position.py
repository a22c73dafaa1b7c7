"""Arctic in the one form of a board: to JSON, from JSON, and everything that may be wrong with a position."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from companion.rules.arctic.cards import (
    ANIMALS,
    BOX,
    FACE_DOWN,
    HAND_LIMIT,
    KIND,
    LANDSCAPE,
    PACK_MASK,
    SIDES,
    TEXT,
    UNKNOWN,
    card_text,
    parse_card,
)
from companion.rules.core import JSON, InvalidMoveError, Problem, SetupError

if TYPE_CHECKING:
    from companion.rules.arctic.game import Arctic
    from companion.rules.arctic.state import ArcticState

NOT_DEALT = -2
PHASES = ("setup", "A", "penalty", "B", "B2", "C", "drawn", "refill", "D", "totems", "over")
STAGES = ("normal", "final", "last")
MAX_CARDS = 120


def _card_thing(card: int) -> dict[str, JSON]:
    if card >= KIND:
        return {"kind": ANIMALS[card - KIND], "count": 1}
    _, main, placement, _, companion = BOX[card]
    return {"kind": ANIMALS[main], "value": placement, "companion": ANIMALS[companion], "count": 1}


def to_json(s: ArcticState, *, viewer: int | None = None, hide: bool = False) -> dict[str, JSON]:
    """Return the position; with ``hide`` without what ``viewer`` (None: a bystander) may not see."""
    places: dict[str, JSON] = {}
    for index, value in enumerate(LANDSCAPE):
        here = [{"kind": ANIMALS[a], "count": 1} for a in range(6) if s.tokens[a] == index]
        places[f"land{value}"] = {"ground": "landscape", "things": here}
    for index in range(6):
        here = [_card_thing(s.river[index])] if index < len(s.river) else []
        places[f"river{index + 1}"] = {"ground": "river", "things": here}
    players = []
    for seat, name in enumerate(s.names):
        mine = not hide or viewer == seat
        totem = s.totems[seat]
        secret = not mine and s.phase != "over"
        pile = [card_text(FACE_DOWN + UNKNOWN if card >= FACE_DOWN and not mine else card) for card in s.piles[seat]]
        players.append(
            {
                "name": name,
                "pile": pile,
                "hand": [TEXT[card] if mine else "?" for card in s.hands[seat]],
                "penalty": [TEXT[card] if mine else "?" for card in s.penalties[seat]],
                "totem": None if totem == NOT_DEALT else "?" if totem < 0 or secret else ANIMALS[totem],
                "powers": [ANIMALS[a] for a in range(6) if s.owners[a] == seat],
            }
        )
    return {
        "game": "arctic",
        "places": places,
        "players": players,
        "options": dict(s.options),
        "phase": s.phase,
        "stage": s.stage,
        "to_move": s.seat + 1 if s.seat >= 0 else None,
        "first": s.first + 1 if s.first >= 0 else None,
        "packs": list(s.packs),
        "powers": {ANIMALS[a]: s.powers[a] for a in range(6) if s.powers[a]},
        "held": [ANIMALS[a] for a in range(6) if s.held >> a & 1],
        "value": s.value,
        "count": s.count,
        "used": s.used,
        "pile_left": s.pile_left,
        "reserve": s.reserve,
    }


def _whole(value: Any, low: int, high: int, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise SetupError(f"{what} is a whole number from {low} to {high}, not {value!r}.")
    return value


def _word(value: Any, words: tuple[str, ...], what: str) -> str:
    if value not in words:
        raise SetupError(f"{what} is one of {', '.join(words)}, not {value!r}.")
    return str(value)


def _cards(value: Any, what: str) -> tuple[int, ...]:
    if not isinstance(value, list) or len(value) > MAX_CARDS:
        raise SetupError(f"{what} is a list of at most {MAX_CARDS} cards.")
    try:
        return tuple(parse_card(str(text), partial=True) for text in value)
    except InvalidMoveError as error:
        raise SetupError(f"{what}: {error}") from error


def _things(places: Mapping[str, Any], place: str) -> list[Mapping[str, Any]]:
    content = places.get(place)
    if content is None:
        return []
    things = content.get("things") if isinstance(content, Mapping) else None
    if not isinstance(things, list) or not all(isinstance(thing, Mapping) for thing in things):
        raise SetupError(f"Place {place} has a list of things.")
    return things


def _card_of(thing: Mapping[str, Any]) -> int:
    kind = _word(thing.get("kind"), (*ANIMALS, "face-down"), "A card's kind")
    if kind == "face-down":
        return FACE_DOWN + UNKNOWN
    value, companion = thing.get("value"), thing.get("companion")
    if value is None or companion is None:
        return KIND + ANIMALS.index(kind)
    return parse_card(f"{kind}-{value}-{companion}")


def from_json(game: Arctic, data: Mapping[str, Any]) -> ArcticState:
    """Return the state that a position describes; what it leaves out is unknown or empty.

    A single fanned-out pile may stand in ``places`` as ``pile1`` … from bottom to top, without players.

    :raises SetupError: when the form is broken, in one sentence.
    """
    from companion.rules.arctic.state import ArcticState  # noqa: PLC0415 - the state draws itself with this module

    places = data.get("places", {})
    players = data.get("players", [{"name": "Player 1"}])
    if not isinstance(places, Mapping) or not isinstance(players, list) or not 1 <= len(players) <= 4:
        raise SetupError("A position of Arctic has places and a list of 1 to 4 players.")
    if not all(isinstance(player, Mapping) for player in players):
        raise SetupError("Each player of a position is an object.")
    names = tuple(str(player.get("name", f"Player {i + 1}"))[:60] for i, player in enumerate(players))
    state = ArcticState(game, names, game.settled_options(data.get("options")))
    n = len(names)
    state.phase = _word(data.get("phase", "A"), PHASES, "The phase")
    state.stage = _word(data.get("stage", "normal"), STAGES, "The stage")
    seat, first = data.get("to_move", 1), data.get("first", 1)
    state.seat = -1 if seat is None else _whole(seat, 1, n, "to_move") - 1
    state.first = -1 if first is None else _whole(first, 1, n, "first") - 1
    packs = data.get("packs", [1, 2, 3, 4][: max(n, 1)] if n > 1 else [1, 2, 3, 4])
    if not isinstance(packs, list):
        raise SetupError("packs is a list.")
    state.packs = tuple(sorted({_whole(pack, 1, 4, "A pack") for pack in packs}))
    powers = data.get("powers", {})
    if not isinstance(powers, Mapping) or not set(powers) <= set(ANIMALS):
        raise SetupError("powers maps animals to numbers of powers.")
    default = 0 if state.phase == "setup" else None
    sides = []
    for a, animal in enumerate(ANIMALS):
        power = powers.get(animal, default if default is not None else SIDES[a][0])
        if power != 0 and power not in SIDES[a]:
            raise SetupError(f"The {animal}'s powers are {SIDES[a][0]} and {SIDES[a][1]}, not {power!r}.")
        sides.append(int(power))
    state.powers = tuple(sides)
    _read_places(state, places)
    _read_players(state, players, places)
    held = data.get("held")
    mine = [ANIMALS[a] for a in range(6) if state.owners[a] == state.seat and state.seat >= 0]
    held = mine if held is None else held
    if not isinstance(held, list):
        raise SetupError("held is a list of animals.")
    state.held = sum(1 << ANIMALS.index(_word(animal, ANIMALS, "held")) for animal in set(held))
    _read_counts(state, data)
    return state


def _read_places(state: ArcticState, places: Mapping[str, Any]) -> None:
    tokens = [2] * 6
    for index, value in enumerate(LANDSCAPE):
        for thing in _things(places, f"land{value}"):
            tokens[ANIMALS.index(_word(thing.get("kind"), ANIMALS, "A token"))] = index
    state.tokens = tuple(tokens)
    river = []
    for index in range(1, 7):
        things = _things(places, f"river{index}")
        if things:
            card = _card_of(things[0])
            if card >= UNKNOWN:
                raise SetupError(f"The card at river{index} needs its animal, value and companion.")
            river.append(card)
    state.river = tuple(sorted(river))


def _read_players(state: ArcticState, players: list[Any], places: Mapping[str, Any]) -> None:
    owners = [-1] * 6
    piles, hands, penalties, totems = [], [], [], []
    for seat, player in enumerate(players):
        pile = _cards(player.get("pile", []), "A pile")
        if not pile and seat == 0:
            pile = _fanned(places)
        piles.append(pile)
        hands.append(tuple(sorted(_cards(player.get("hand", []), "A hand"))))
        penalties.append(tuple(sorted(_cards(player.get("penalty", []), "A Penalty zone"))))
        totem = player.get("totem", "?")
        if totem is None:
            totems.append(NOT_DEALT)
        else:
            totems.append(-1 if totem == "?" else ANIMALS.index(_word(totem, ANIMALS, "A totem")))
        for animal in player.get("powers", []):
            owners[ANIMALS.index(_word(animal, ANIMALS, "A power"))] = seat
    state.piles, state.hands, state.penalties = tuple(piles), tuple(hands), tuple(penalties)
    state.totems, state.owners = tuple(totems), tuple(owners)


def _fanned(places: Mapping[str, Any]) -> tuple[int, ...]:
    pile = []
    for index in range(1, MAX_CARDS + 1):
        if f"pile{index}" not in places:
            break
        things = _things(places, f"pile{index}")
        pile.append(_card_of(things[0]) if things else UNKNOWN)
    return tuple(pile)


def _read_counts(state: ArcticState, data: Mapping[str, Any]) -> None:
    located, cards = 0, 0
    for card in _all_cards(state):
        cards += 1
        if card < UNKNOWN:
            located |= 1 << card
    state.located = located
    state.reserve = _whole(data.get("reserve", 0 if state.stage != "normal" else state.reserve), 0, 15, "reserve")
    rest = max(0, 30 * len(state.packs) - cards - state.reserve)
    state.pile_left = _whole(data.get("pile_left", rest), 0, 120, "pile_left")
    visible = state.visible(state.seat) if state.seat >= 0 else -1
    default = BOX[visible][2] if 0 <= visible < UNKNOWN else 1
    state.value = _whole(data.get("value", default), 0, 12, "value")
    state.count = _whole(data.get("count", 0), 0, 12, "count")
    state.used = _whole(data.get("used", 0), 0, 63, "used")


def _all_cards(s: ArcticState) -> list[int]:
    """Return every card that lies somewhere, face-down ones as the card they are."""
    zones = [*s.hands, *s.piles, *s.penalties, s.river]
    return [card - FACE_DOWN if card >= FACE_DOWN else card for zone in zones for card in zone]


def problems(s: ArcticState) -> tuple[Problem, ...]:
    """Return everything that is wrong: cards twice, foreign packs, counts that do not add up, impossible zones."""
    found: list[Problem] = []
    cards = _all_cards(s)
    known = [card for card in cards if card < UNKNOWN]
    for card in sorted({card for card in known if known.count(card) > 1}):
        found.append(Problem("card-twice", {"card": TEXT[card]}, ("ARC-K.4", "ARC-K.5")))
    in_play = 0
    for pack in s.packs:
        in_play |= PACK_MASK[pack]
    foreign = sorted({card for card in known if not in_play >> card & 1})
    if foreign:
        found.append(Problem("foreign-pack", {"cards": [TEXT[card] for card in foreign]}, ("ARC-S.2",)))
    if s.phase != "setup":
        if s.players > 1 and len(s.packs) != s.players:
            found.append(Problem("packs-wrong", {"packs": len(s.packs), "players": s.players}, ("ARC-S.2",)))
        total, box = len(cards) + s.pile_left + s.reserve, 30 * len(s.packs)
        if total != box:
            found.append(Problem("cards-missing", {"cards": total, "box": box}, ("ARC-K.3", "ARC-S.2")))
    secret = [ANIMALS[a] for a in range(6) if s.totems.count(a) > 1]
    if secret:
        found.append(Problem("totem-twice", {"animals": secret}, ("ARC-S.4",)))
    if len(s.river) > 6:
        found.append(Problem("river-long", {"cards": len(s.river)}, ("ARC-C.1",)))
    for seat in range(s.players):
        # The limit is for the end of one's turn: within it draws, and ARC-P.4, may go over.
        if len(s.hands[seat]) > HAND_LIMIT and seat != s.seat:
            found.append(Problem("hand-long", {"who": seat, "cards": len(s.hands[seat])}, ("ARC-C.2",)))
        down = [card for card in s.piles[seat] if card >= FACE_DOWN]
        if down and s.powers[0] != 12:
            found.append(Problem("down-without-power", {"who": seat, "cards": len(down)}, ("ARC-P.12",)))
    visible = s.visible(s.seat) if s.seat >= 0 else -1
    if visible >= KIND and s.phase in {"A", "B", "B2", "C"}:
        found.append(Problem("visible-unread", {"who": s.seat, "animal": TEXT[visible]}, ("ARC-0.1",)))
    return tuple(found)
