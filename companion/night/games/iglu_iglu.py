"""Iglu Iglu as the night sees it: squares to tap, tiles in hands that only their owner sees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, cast

from companion.night.games.board import BoardView, Tap, fill
from companion.night.games.capabilities import only_known, toml_text
from companion.night.messages import Words
from companion.rules.core import JSON, SetupError, State
from companion.rules.i18n import joined, same
from companion.rules.iglu_iglu import moves as m
from companion.rules.iglu_iglu import position as at
from companion.rules.iglu_iglu import svg
from companion.rules.iglu_iglu.board import DIRECTIONS, NUMBER, SQUARES
from companion.rules.iglu_iglu.components import FACES, MOST_ENDURANCE, RED, TILES, TOKENS, default_mix, mix, worth
from companion.rules.iglu_iglu.state import IgluState

PROMPTS: dict[str, Words] = {
    "setting": Words("Which fish lies on {square}?"),
    "placing": Words("Place an inuit on the outer ring."),
    "start": Words("Melt a floe: tap it. Tiles may be played first."),
    "peeking": Words("Does the floe of {square} stay taken?"),
    "revealing": Words("What does the tile of {square} show?"),
    "drawing": Words("Which animal is drawn for {square}?"),
    "drifting": Words("Drift: tap a floe, then where it goes."),
    "displacing": Words("What swims on {square} gives way: tap where to."),
    "act": Words("Tap an inuit, then where it goes; or an animal."),
    "moving": Words("Move animals: {left:plural|# step|# steps} left."),
    "defending": Words("A bear attacks {square}: a harpoon?"),
    "fleeing": Words("The inuit on {square} flee: tap a corner."),
    "over": Words("The game is over."),
}

VERBS: dict[int, Words] = {
    m.PLACE: Words("Place on {place}"),
    m.MELT: Words("Melt {place}"),
    m.ACCEPT: Words("It stays taken"),
    m.PUT_BACK: Words("Put it back"),
    m.STOP: Words("No more animal steps"),
    m.BUILD: Words("Build an igloo on {place}"),
    m.END: Words("End the turn"),
    m.ANIMALS: Words("Play an animal movement"),
    m.ENDURANCE: Words("Play endurance {value}"),
    m.THAW: Words("Thaw {place}"),
}
DRIFT_NONE = Words("No drift is possible")
KEPT = Words("Red frame: it goes to the hand")
PLAY_THAW = Words("Play a thaw")
PLAY_HARPOON = Words("Hunt with a harpoon")
WALK = Words("Walk from {a} to {b}")
KAYAK = Words("Kayak from {a} to {b}")
WITH_HARPOON = Words("{what}, with a harpoon")
MOVE = Words("Move {animal} from {a} to {b}")
HUNT = Words("Hunt {animal} on {place}")
DRIFT = Words("Push {a} to {b}")
GIVE_WAY = Words("{what} from {a} to {b}")
FLEE = Words("{who} flees to {place}")
DEFEND = Words("{who}: a harpoon")
DECLINE = Words("{who}: none")
IN_HANDS = Words("tiles in hand: {count}")
TROPHIES = Words("trophies: {count}")
IN_HAND = Words("In your hand: {tiles}")
NOTHING_IN_HAND = Words("Your hand is empty.")
PLAYED = {"thaw", "harpoon", "animals", "endurance"}


class IgluIgluBox:
    """The mix of floe tiles of a real box."""

    def default(self) -> dict[str, Any]:
        """Return our stand-in."""
        found = default_mix()
        return {"real": found.real, "tiles": found.to_json()}

    def checked(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return how many tiles of each face there are."""
        only_known(data, ("real", "tiles"))
        tiles = data.get("tiles")
        if not isinstance(tiles, Mapping):
            raise SetupError("Say how many tiles of each face there are.")
        return {"real": True, "tiles": mix(tiles).to_json()}

    def toml(self, data: Mapping[str, Any]) -> str:
        """Return the file of an owner's box."""
        rows = [f"{toml_text(face)} = {count}" for face, count in data["tiles"].items()]
        return "\n".join(
            ["# The floe tiles of this house's box of Iglu Iglu.", "real = true", "", "[tiles]", *rows, ""]
        )

    def choices(self) -> dict[str, JSON]:
        """Return the faces, and how many tiles there are in all."""
        return {"faces": [*FACES, *(f"endurance {n}" for n in range(1, MOST_ENDURANCE + 1))], "total": TILES}

    def real(self, data: Mapping[str, Any]) -> bool:
        """Return whether it was read from a box."""
        return bool(data["real"])

    def setup(self, data: Mapping[str, Any]) -> dict[str, JSON]:
        """Return the tiles."""
        return {"tiles": data["tiles"]}

    def in_position(self, data: Mapping[str, Any]) -> dict[str, JSON]:
        """Return the tiles as those of a real box."""
        return {"tiles": data["tiles"], "real": True}


class IgluIgluView(BoardView):
    """Iglu Iglu on the page."""

    game_id = "iglu-iglu"
    box = IgluIgluBox()
    followed = True
    hands: ClassVar[bool] = True
    chances: ClassVar[frozenset[str]] = frozenset({"reveal", "draw"})

    def phase(self, state: State[Any]) -> str:
        """Return the phase's name."""
        return at.PHASES[_iglu(state).phase]

    def turn(self, state: State[Any]) -> int:
        """Return whose turn it is."""
        return _iglu(state).turn

    def points(self, state: State[Any]) -> int | None:
        """Return the action points left, in phase 2."""
        s = _iglu(state)
        return s.points if s.phase in (at.ACT, at.MOVING, at.DEFENDING, at.FLEEING) and s.melted else None

    def prompt(self, state: State[Any]) -> Words:
        """Return what the phase asks for."""
        s = _iglu(state)
        facts = {"square": SQUARES[s.square] if s.square >= 0 else "", "left": s.remaining}
        return PROMPTS[at.PHASES[s.phase]].filled(facts)

    def draw(self, state: State[Any], lang: str, viewer: int | None, move: Any = None) -> str:
        """Return the board; it hides nothing."""
        del viewer
        return svg.draw(_iglu(state), move, lang)

    def notes(self, state: State[Any], seat: int) -> list[Words]:
        """Return how many tiles are in hand, and the trophies."""
        s = _iglu(state)
        return [IN_HANDS.filled({"count": sum(s.hands[seat])}), TROPHIES.filled({"count": worth(s.trophies[seat])})]

    def stand_in(self, state: State[Any]) -> bool:
        """Return whether the mix of tiles is our default."""
        return not _iglu(state).table.mix.real

    def about(self, state: State[Any]) -> list[str]:
        """Return the square that is asked about."""
        s = _iglu(state)
        return [SQUARES[s.square]] if s.square >= 0 and s.phase != at.ACT else []

    def private(self, state: State[Any], seat: int) -> list[Words]:
        """Return the tiles in hand that the companion knows."""
        s = _iglu(state)
        hand = s.hands[seat]
        if not sum(hand):
            return [NOTHING_IN_HAND]
        named = [self.both(face) for face in s.table.mix.faces[RED:]]
        known = [(words, count) for words, count in zip(named, hand[1:], strict=True) if count]
        parts = [joined((words, same(f"×{n}"))) if n > 1 else words for words, n in known]
        unknown = [same(f"? ×{hand[0]}")] if hand[0] else []
        return [IN_HAND.filled({"tiles": joined([*parts, *unknown], ", ")})]

    def public(self, state: State[Any], move: Any) -> Any:
        """Return a red tile that is drawn as one that goes to the hand unseen (IGLU-1.5)."""
        del state
        return m.public(move)

    def secret(self, state: State[Any], move: Any) -> bool:
        """Return whether a move plays a tile of a hand, or declines to."""
        harpoon = getattr(move, "harpoon", False)
        return bool(harpoon) or move.kind in (m.THAW, m.ENDURANCE, m.ANIMALS, m.DEFEND)

    def offered(self, state: State[Any], moves: list[Any], *, drawn: bool) -> list[Any]:
        """Leave out what nobody enters: red faces where the table draws, a kayak where a walk does the same."""
        walked = {(move.origin, move.target, move.harpoon) for move in moves if move.kind == m.WALK}
        return [
            move
            for move in moves
            if not (move.kind == m.KAYAK and (move.origin, move.target, move.harpoon) in walked)
            and not (move.kind == m.REVEAL and not drawn and m.public(move) != move)
        ]

    def comparable(self, state: State[Any]) -> bool:
        """Return whether all inuit are placed: before that the whole board is the island of whoever was first."""
        return _iglu(state).phase not in (at.SETTING, at.PLACING)

    def unsaid(self, state: State[Any]) -> Any | None:
        """Return the end of a turn without a choice left; who has tiles says so, or it would tell what they are not."""
        s = _iglu(state)
        return None if s.to_move >= 0 and any(s.hands[s.to_move]) else super().unsaid(state)

    def arranging(self, state: State[Any]) -> list[Any]:
        """Return the fish that may lie in the middle (IGLU-S.2)."""
        s = _iglu(state)
        return list(s.moves()) if s.phase == at.SETTING else []

    def tap(self, state: State[Any], move: Any) -> Tap:
        """Return how a move is tapped: squares of the board, or a button."""
        s = _iglu(state)
        cost = self._cost(s, move)
        match move:
            case m.Draw():
                return Tap((), self.both(m.token_text(move.token)))
            case m.Reveal():
                return Tap((), KEPT if move.face == "kept" else self.both(move.face))
            case m.Drift():
                if move.square < 0:
                    return Tap((), DRIFT_NONE)
                a, b = SQUARES[move.square], SQUARES[move.square + DIRECTIONS[move.direction]]
                return Tap((a, b), DRIFT.filled({"a": a, "b": b}))
            case m.Displace():
                a, b = SQUARES[move.origin], SQUARES[move.target]
                what = self.both(m.token_text(move.token)) if move.token is not None else Words("All")
                return Tap((b,), fill(GIVE_WAY, {"what": what, "a": a, "b": b}))
            case m.Walk() | m.Kayak():
                return self._way(move, cost)
            case m.Step():
                a, b = SQUARES[move.origin], SQUARES[move.target]
                return Tap((a, b), fill(MOVE, {"animal": self.both(m.token_text(move.token)), "a": a, "b": b}))
            case m.Hunt():
                place = SQUARES[move.square]
                words = fill(HUNT, {"animal": self.both(m.token_text(move.token)), "place": place})
                if not move.harpoon:
                    return Tap((place,), words, cost=cost)
                with_one = fill(WITH_HARPOON, {"what": words})
                return Tap(("=harpoon", place), with_one, cost=cost, keys=(("=harpoon", PLAY_HARPOON),))
            case m.Defend():
                return Tap((), fill(DEFEND if move.harpoon else DECLINE, {"who": self.both(move.colour)}))
            case m.Flee():
                place = SQUARES[move.corner]
                return Tap((place,), fill(FLEE, {"who": self.both(move.colour), "place": place}))
        place = SQUARES[move.square] if getattr(move, "square", -1) >= 0 else ""
        words = VERBS[move.kind].filled({"place": place, "value": getattr(move, "value", "")})
        if move.kind == m.THAW:
            return Tap(("=thaw", place), words, keys=(("=thaw", PLAY_THAW),))
        # Staying with a tile or putting it back is asked of one square: a button says it.
        on_board = place and move.kind not in (m.ACCEPT, m.PUT_BACK)
        return Tap((place,) if on_board else (), words, cost=cost)

    def _way(self, move: m.Walk | m.Kayak, cost: int | None) -> Tap:
        a, b = SQUARES[move.origin], SQUARES[move.target]
        words = (WALK if isinstance(move, m.Walk) else KAYAK).filled({"a": a, "b": b})
        return Tap((a, b), fill(WITH_HARPOON, {"what": words}) if move.harpoon else words, cost=cost)

    @staticmethod
    def _cost(s: IgluState, move: Any) -> int | None:
        if s.phase != at.ACT or move.kind not in (m.WALK, m.KAYAK, m.HUNT, m.BUILD) or s.refusal(move) is not None:
            return None
        spent = s.points - s.after(move).points
        return spent if spent >= 0 else s.points

    def lying_so(self, state: Any, places: Mapping[str, JSON], turn: str) -> dict[str, JSON]:
        """Return what changes: the turn begins, and what was hunted on the board is whose turn it was."""
        position = state.position()
        was = _tokens(position["places"][name] for name in places)
        now = _tokens(places.values())
        trophies = position["trophies"]
        hunter = position["turn"]
        own = _tokens([{"things": trophies[hunter]}])
        taken = [{"kind": kind, "value": value, "count": n} for (kind, value), n in (own + (was - now)).items()]
        return super().lying_so(state, places, turn) | {
            "phase": "start",
            "to_move": turn,
            "points": None,
            "melted": None,
            "played": [],
            "pending": {},
            "trophies": trophies | {hunter: taken},
        }

    def attempts(self, state: State[Any], path: Sequence[str]) -> Iterator[str]:
        """Yield what two squares, or one, may mean; a square may also hold an animal to hunt or move."""
        s = _iglu(state)
        squares = [name for name in path if name in NUMBER]
        if len(squares) >= 2:
            a, b = squares[-2:]
            yield from (f"walk {a} {b}", f"kayak {a} {b}")
            if s.bears >> NUMBER[b] & 1:
                yield from (f"walk {a} {b} harpoon", f"kayak {a} {b} harpoon")
            step = NUMBER[b] - NUMBER[a]
            yield from (f"drift {a} {name}" for name, by in DIRECTIONS.items() if by == step)
            if s.phase == at.MOVING:
                yield from (f"move {m.token_text(token)} {a} {b}" for token in self._on(s, a))
            return
        for a in squares:
            yield from (f"{how} {a} {m.token_text(token)}" for how in ("hunt", "harpoon") for token in self._on(s, a))
            yield from (f"melt {a}", f"build {a}", f"thaw {a}")
            if s.phase == at.PLACING and s.to_move >= 0:
                yield f"place {s.table.colours[s.to_move]} {a}"

    def gestures(self, state: State[Any]) -> list[str]:
        """Return the tiles that are played without a square, and the end of the turn."""
        faces = _iglu(state).table.mix.faces
        return ["end", "animals", "stop", *(face for face in faces if face.startswith("endurance"))]

    @staticmethod
    def _on(s: IgluState, name: str) -> list[int]:
        """Return the tokens on a square."""
        square, found = NUMBER[name], []
        for kind, codes in (("fish", s.fish), ("fox", s.fox)):
            found += [TOKENS.index((kind, value)) for value in (1, 2, 3) if 4 * square + value in codes]
        return [*found, TOKENS.index(("bear", 4))] if s.bears >> square & 1 else found


def _tokens(places: Iterable[Mapping[str, Any]]) -> Counter[tuple[str, int]]:
    """Return how many fish, foxes and bears of each value lie in places."""
    found: Counter[tuple[str, int]] = Counter()
    for thing in (thing for place in places for thing in place["things"] if "value" in thing):
        found[thing["kind"], thing["value"]] += thing.get("count", 1)
    return found


def _iglu(state: State[Any]) -> IgluState:
    return cast("IgluState", state)


VIEW = IgluIgluView()
