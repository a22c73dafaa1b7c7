"""Arctic as the night sees it: cards as buttons, the River to tap; hands, penalties and totems only for their owner."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, cast

from companion.night.games.arctic.photo_row import ArcticPhotoRow
from companion.night.games.board import BoardView, Tap, fill
from companion.night.games.capabilities import Beginning, TeachableCards
from companion.night.messages import Words
from companion.rules.arctic import GAME, svg
from companion.rules.arctic.components import (
    ANIMALS,
    BOX,
    FACE_DOWN,
    HAND_LIMIT,
    LANDSCAPE,
    MAIN,
    PACK_MASK,
    PHASE_OF_POWER,
    RIVER,
    TEXT,
    UNKNOWN,
    cards_of,
)
from companion.rules.arctic.legality import setup_needs
from companion.rules.arctic.moves import BOTTOM, TOP, UNDER, ArcticMove, arrow_step
from companion.rules.arctic.state import ArcticState
from companion.rules.core import JSON, State
from companion.rules.i18n import NOTHING, joined, same

PROMPTS: dict[str, Words] = {
    "A": Words("Place cards: {count} of {value}."),
    "penalty": Words("Cards are missing: one goes to the Penalty zone."),
    "B": Words("Move the two tokens."),
    "B2": Words("One token may go a step further."),
    "C": Words("Draw cards: {count} of {value}. Tap the River."),
    "drawn": Words("Which card was drawn?"),
    "refill": Words("Which card comes into the River?"),
    "D": Words("The turn ends."),
    "totems": Words("Show the totems."),
    "over": Words("The game is over."),
}
BEYOND = Words("Cards beyond seven go to the Penalty zone.")
SETUP: dict[str, Words] = {
    "pack": Words("Which packs are in the game?"),
    "side": Words("Which powers lie there?"),
    "totem": Words("Totems are dealt."),
    "first": Words("Who has the footprint?"),
    "hand": Words("{who} gets three cards."),
    "river": Words("Which cards lie in the River?"),
}
CARD = Words("{main} {value}, with {companion}")
UNSEEN = Words("an unseen card")
PACK = Words("Pack {n}")
PACKS = Words("Packs")
POWERS = Words("Powers")
SIDE = Words("{animal}: power {n} (phase {phase})")
TOTEM = Words("{who}: {animal}")
SECRET_TOTEM = Words("{who}: secret")
FIRST = Words("{who} begins")
BOTTOM_CARD = Words("Under the whole pile")
UNDER_CARD = Words("Face down under the top card")
ON_TOP = Words("Place {card}")
AT_BOTTOM = Words("{card} under the whole pile")
HIDING = Words("{card} face down")
SWAP = Words("Exchange with the River")
SWAPPED = Words("{card} for {river}")
TAKE_BACK = Words("Take the top card back")
VALUE = Words("Value {n}")
UP, DOWN = (
    Words("{animal} up to {land}"),
    Words("{animal} down to {land}"),
)
AND = Words("{a}, {b}")
DRAW = Words("Take {card}")
FROM_PENALTY = Words("From Penalty: {card}")
FROM_PILE = Words("From the pile, unseen")
REFILL = Words("Fill the River first")
GIVE, GIVE_UNSEEN = Words("{card} to {who}"), Words("Give {who} a Penalty card")
GIFTS = Words("Give a Penalty card")
DISCARD = Words("Put away {card}")
END: dict[str, Words] = {
    "A": Words("No more cards"),
    "B2": Words("No extra step"),
    "C": Words("Stop drawing"),
    "D": Words("End the turn"),
}
PLACES: dict[str, Words] = {
    "phase": Words("Whose turn it is"),
    "gap": Words("An empty place in the River"),
    "pile": Words("The pile: {count}"),
    "reserve": Words("The Reserve: {count}"),
    "land": Words("Landscape {n}"),
    "card": Words("River: {card}"),
    "power": Words("Power of the {animal}, {who}"),
    "player": Words("Pile of {who}: {count}"),
    "top": Words("Top card of {who}: {card}"),
    "hand": Words("Hand of {who}: {count}"),
    "penalty": Words("Penalty of {who}: {count}"),
    "totem": Words("Totem of {who}"),
}
NOBODY_HAS = Words("nobody’s")
NO_CARD = Words("no card")
HAND = Words("cards in hand: {count}")
PENALTY = Words("Penalty: {count}")
MANY_CARDS = Words(
    "The piles have {count:plural|one card|# cards} of {animal}, but the packs for this many players have {most}."
)
MY_TOTEM = Words("Your totem: {animal}")
MY_PENALTY = Words("Your Penalty cards: {cards}")


class ArcticView(BoardView):
    """Arctic on the page."""

    game_id = "arctic"
    hands: ClassVar[bool] = True
    chances: ClassVar[frozenset[str]] = frozenset({"pack", "side", "totem", "first", "hand", "river", "penalty"})

    @property
    def cards(self) -> TeachableCards:
        """Return the 120 cards: a pile of them is scored from a photo, and turns are followed by River and piles."""
        return TeachableCards(TEXT[:UNKNOWN], "fox-5-moose", pile=_pile_alone, open_row=ArcticPhotoRow())

    def beginning(self, setup: Mapping[str, JSON]) -> Beginning:
        """Return two players with three cards each that nobody named, all tokens on 3, and one card of each animal."""
        del setup
        river: dict[str, JSON] = {}
        for index in range(RIVER):
            main, value, companion = TEXT[5 * index + index % 5].split("-")
            card = {"kind": main, "value": int(value), "companion": companion, "count": 1}
            river[f"river{index + 1}"] = {"ground": "river", "things": [card]}
        players = [{"name": name, "pile": [], "hand": ["?"] * 3, "penalty": 0, "powers": []} for name in ("P1", "P2")]
        position = {
            "game": self.game_id,
            "places": {**_lands(), **river},
            "players": players,
            "phase": "A",
            "to_move": 1,
        }
        return position, [(TEXT[card], self.card(card)) for card in range(UNKNOWN)]

    def overfull(self, state: State[Any]) -> Words | None:
        """Return when piles have more cards of an animal than the packs of so many players can have (ARC-S.1)."""
        s = _arctic(state)
        a_pack = Counter(MAIN[card] for card in cards_of(PACK_MASK[1]))
        lying = Counter(MAIN[card % FACE_DOWN] for pile in s.piles for card in pile)
        for animal, name in enumerate(ANIMALS):
            most = s.players * a_pack[animal]
            if lying[animal] > most:
                return MANY_CARDS.filled({"count": lying[animal], "most": most, "animal": self.both(name)})
        return None

    def phase(self, state: State[Any]) -> str:
        """Return the phase's name."""
        return _arctic(state).phase

    def turn(self, state: State[Any]) -> int:
        """Return whose turn it is."""
        return _arctic(state).seat

    def prompt(self, state: State[Any]) -> Words:
        """Return what the phase, or the set-up, asks for."""
        s = _arctic(state)
        if s.phase == "setup":
            need, seat = next(iter(setup_needs(s).items()))
            return SETUP[need].filled({"who": s.names[seat] if seat >= 0 else ""})
        if s.phase == "D" and len(s.hands[s.seat]) > HAND_LIMIT:
            return BEYOND
        return PROMPTS[s.phase].filled({"count": s.count, "value": s.value})

    def draw(self, state: State[Any], lang: str, viewer: int | None, move: Any = None) -> str:
        """Return the table, with the hand of the viewer."""
        return svg.draw(_arctic(state), move, lang, viewer=viewer)

    def notes(self, state: State[Any], seat: int) -> list[Words]:
        """Return how many cards are in hand and in the Penalty zone."""
        s = _arctic(state)
        return [HAND.filled({"count": len(s.hands[seat])}), PENALTY.filled({"count": len(s.penalties[seat])})]

    def private(self, state: State[Any], seat: int) -> list[Words]:
        """Return the totem and the Penalty cards that the companion knows."""
        s = _arctic(state)
        found = [fill(MY_TOTEM, {"animal": self.both(ANIMALS[s.totems[seat]])})] if s.totems[seat] >= 0 else []
        known = [self.card(card) for card in s.penalties[seat] if card < UNKNOWN]
        if known:
            found.append(fill(MY_PENALTY, {"cards": joined(known, "; ")}))
        return found

    def seen(self, state: State[Any]) -> State[Any]:
        """Return the table without hands, totems and face-down cards, until the totems are shown."""
        s = _arctic(state)
        if s.phase == "over":
            return s
        return s.game.from_position(s.view(None))

    def public(self, state: State[Any], move: Any) -> Any:
        """Return a step with what goes unseen as ``?`` (ARC-A.3, ARC-C.2, ARC-P.5, P.6, P.8, P.12)."""
        del state
        kind, a, b = cast("ArcticMove", move)
        if kind == "hand":
            return ArcticMove("hand", a, UNKNOWN)
        if kind in {"penalty", "draw-penalty", "discard"}:
            return ArcticMove(kind, UNKNOWN)
        if kind == "give" or (kind == "place" and b == UNDER):
            return ArcticMove(kind, UNKNOWN, b)
        return move

    def secret(self, state: State[Any], move: Any) -> bool:
        """Return whether a step names a card of a hand or of a Penalty zone."""
        del state
        return cast("ArcticMove", move).kind in {"place", "swap", "discard", "give", "draw-penalty"}

    def offered(self, state: State[Any], moves: list[Any], *, drawn: bool) -> list[Any]:
        """Where the table draws for itself, offer unseen cards as such: nobody names what lies hidden."""
        if drawn:
            return moves
        if _arctic(state).phase == "setup":
            moves = [move for move in moves if move.kind != "totem"]
        unseen = {self._unseen(move) for move in moves if UNKNOWN in move}
        return [move for move in moves if UNKNOWN in move or self._unseen(move) not in unseen]

    @staticmethod
    def _unseen(move: ArcticMove) -> tuple[str, int]:
        return move.kind, move.b if move.kind in {"place", "give"} else move.a if move.kind == "hand" else 0

    def forced(self, state: State[Any]) -> Any | None:
        """Return what nobody sees: hands and totems that are dealt, a card for the Penalty zone."""
        s = _arctic(state)
        if s.phase == "penalty":
            return ArcticMove("penalty", UNKNOWN)
        if s.phase == "drawn":
            return ArcticMove("hand", s.seat, UNKNOWN)
        if s.phase == "setup":
            needs = setup_needs(s)
            if "hand" in needs:
                return ArcticMove("hand", needs["hand"], UNKNOWN)
            if "totem" in needs:
                return ArcticMove("totem", needs["totem"], -1)
        return None

    def arranging(self, state: State[Any]) -> list[Any]:
        """Return packs, power sides and the footprint, which may be drawn for the table (ARC-S.2, ARC-S.4)."""
        s = _arctic(state)
        if s.phase != "setup":
            return []
        return [move for move in s.moves() if move.kind in {"pack", "side", "first"}]

    def places(self, state: State[Any], viewer: int | None) -> dict[str, Words]:
        """Return what the places of the table are called: landscapes, the River, powers, what each player has."""
        del viewer
        s = _arctic(state)
        found = {
            "phase": PLACES["phase"],
            "gap": PLACES["gap"],
            "pile": PLACES["pile"].filled({"count": s.pile_left}),
            "reserve": PLACES["reserve"].filled({"count": s.reserve}),
        }
        for index, value in enumerate(LANDSCAPE):
            here = [self.both(ANIMALS[number]) for number in range(6) if s.tokens[number] == index]
            head = PLACES["land"].filled({"n": value})
            found[f"land{value}"] = joined((head, *here), ", ")
        for card in s.river:
            found[f"card{card}"] = fill(PLACES["card"], {"card": self.card(card)})
        for number, owner in enumerate(s.owners):
            who = same(s.names[owner]) if owner >= 0 else NOBODY_HAS
            found[f"power{number}"] = fill(PLACES["power"], {"animal": self.both(ANIMALS[number]), "who": who})
        for seat, name in enumerate(s.names):
            visible = self.card(s.visible(seat)) if s.visible(seat) >= 0 else NO_CARD
            facts: dict[str, dict[str, object]] = {
                "player": {"count": len(s.piles[seat])},
                "top": {"card": visible},
                "hand": {"count": len(s.hands[seat])},
                "penalty": {"count": len(s.penalties[seat])},
                "totem": {},
            }
            found |= {f"{what}{seat}": fill(PLACES[what], {"who": name, **more}) for what, more in facts.items()}
        return found

    # --- taps

    def card(self, card: int) -> Words:
        """Return a card in words: its animal, its placement value, its companion."""
        if card >= UNKNOWN:
            return UNSEEN
        _, main, value, _, companion = BOX[card]
        facts = {"main": self.both(ANIMALS[main]), "value": value, "companion": self.both(ANIMALS[companion])}
        return fill(CARD, facts)

    def _short(self, card: int) -> Words:
        """Return what tells a card from the others of its animal, its value and its companion: ``5 moose``."""
        if card >= UNKNOWN:
            return NOTHING
        _, _, value, _, companion = BOX[card]
        return joined((same(str(value)), self.both(ANIMALS[companion])))

    def _group(self, card: int) -> Words:
        return fill(self.both(ANIMALS[BOX[card][1]]), {}) if card < UNKNOWN else NOTHING

    def tap(self, state: State[Any], move: Any) -> Tap:
        """Return how a step is tapped: a card of the River on the picture, everything else as a button."""
        s = _arctic(state)
        kind, a, b = cast("ArcticMove", move)
        match kind:
            case "place":
                return self._place(a, b)
            case "swap":
                keys = (("=swap", SWAP), (f"={TEXT[a]}", self.card(a)))
                words = fill(SWAPPED, {"card": self.card(a), "river": self.card(b)})
                return Tap(("=swap", f"={TEXT[a]}", f"card{b}"), words, keys=keys)
            case "draw":
                return Tap((f"card{a}",), fill(DRAW, {"card": self.card(a)}))
            case "draw-pile":
                return Tap(("pile",), FROM_PILE)
            case "river" | "penalty":
                return Tap((), self.card(a), self._group(a), short=self._short(a))
            case "hand":
                return Tap((), self.card(b), self._group(b), short=self._short(b))
            case "tokens":
                one, two = (self._step(s, code) for code in (a, b))
                return Tap((), fill(AND, {"a": one, "b": two}))
            case "extra":
                return Tap((), self._step(s, a))
            case "discard" | "draw-penalty":
                verb = DISCARD if kind == "discard" else FROM_PENALTY
                return Tap((), fill(verb, {"card": self.card(a)}))
            case "give":
                words = GIVE if a < UNKNOWN else GIVE_UNSEEN
                return Tap((), fill(words, {"card": self.card(a), "who": s.names[b]}), GIFTS)
            case "value":
                return Tap((), VALUE.filled({"n": s.value + a}))
            case "pack":
                return Tap((), PACK.filled({"n": a}), PACKS)
            case "side":
                facts = {"animal": self.both(ANIMALS[a]), "n": b, "phase": PHASE_OF_POWER[b]}
                return Tap((), fill(SIDE, facts), POWERS)
            case "totem":
                facts = {"who": s.names[a], "animal": self.both(ANIMALS[b]) if b >= 0 else ""}
                return Tap((), fill(TOTEM if b >= 0 else SECRET_TOTEM, facts), SETUP["totem"])
            case "first":
                return Tap((), FIRST.filled({"who": s.names[a]}))
        if kind == "end":
            return Tap((), END.get(s.phase, END["D"]))
        return Tap((), TAKE_BACK if kind == "take-back" else REFILL)

    def _place(self, card: int, where: int) -> Tap:
        words, key = self.card(card), f"={TEXT[card]}"
        if where == TOP:
            return Tap((), fill(ON_TOP, {"card": words}), self._group(card), short=self._short(card))
        how, name, said = ("=bottom", BOTTOM_CARD, AT_BOTTOM) if where == BOTTOM else ("=under", UNDER_CARD, HIDING)
        return Tap((how, key), fill(said, {"card": words}), self._group(card), keys=((how, name), (key, words)))

    def _step(self, s: ArcticState, code: int) -> Words:
        animal, step = arrow_step(code)
        at = s.tokens[animal] + step
        # Beyond the ends there is no landscape: such a step is called by its text.
        facts = {"animal": self.both(ANIMALS[animal]), "land": LANDSCAPE[at if at >= 0 else len(LANDSCAPE)]}
        return fill(UP if step > 0 else DOWN, facts)

    def gestures(self, state: State[Any]) -> list[str]:
        """Return the steps that need no card: powers, both ways of the visible card's tokens, no more."""
        s = _arctic(state)
        steps = ["take-back", "value +1", "value -1", "refill", "draw-pile", "end"]
        visible = s.visible(s.seat) if s.seat >= 0 else -1
        if visible < 0:
            return steps
        main, companion = (ANIMALS[BOX[visible][part]] for part in (1, 4))
        ways = [f"tokens {main}{one} {companion}{two}" for one in "+-" for two in "+-"]
        return [*ways, *(f"extra {animal}{way}" for animal in (main, companion) for way in "+-"), *steps]

    def attempts(self, state: State[Any], path: Sequence[str]) -> Iterator[str]:
        """Yield what a place may mean: a card of the River, the pile."""
        del state
        for place in path[-1:]:
            if place.startswith("card") and place[4:].isdigit() and int(place[4:]) < UNKNOWN:
                yield f"draw {TEXT[int(place[4:])]}"
            elif place == "pile":
                yield from ("draw-pile", "refill")


def _lands() -> dict[str, JSON]:
    """Return the landscape with all tokens on 3."""
    tokens = [{"kind": animal, "count": 1} for animal in ANIMALS]
    return {f"land{n}": {"ground": "landscape", "things": [*tokens] if n == 3 else []} for n in LANDSCAPE}


def _pile_alone(kinds: Sequence[str]) -> dict[str, JSON]:
    """Return the end of a game in which the first player has this pile and nobody has anything else."""
    players = [{"name": name, "pile": pile, "hand": 0} for name, pile in (("pile", list(kinds)), ("nobody", []))]
    return {"game": GAME.id, "places": _lands(), "players": players, "phase": "totems", "stage": "last"}


def _arctic(state: State[Any]) -> ArcticState:
    return cast("ArcticState", state)
