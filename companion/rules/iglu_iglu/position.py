"""What a position of Iglu Iglu is made of: bit sets, counts, whose step it is; and the course of a turn.

The legality and the effect of each kind of move are in the modules by theme (:mod:`.melting`, :mod:`.red_tiles`,
:mod:`.actions`); :mod:`.state` puts them together. A position is immutable for everybody but the function that has
just copied it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, TypeVar

from companion.rules.core import JSON, NOBODY, Game, Problem
from companion.rules.iglu_iglu import components
from companion.rules.iglu_iglu.board import RING, SEA, near
from companion.rules.iglu_iglu.moves import IgluMove

# Where a game stands. START: before melting; ACT: phase 2 (IGLU-1.1). The others are questions in between.
(
    SETTING,
    PLACING,
    START,
    PEEKING,
    REVEALING,
    DRAWING,
    DRIFTING,
    DISPLACING,
    ACT,
    MOVING,
    DEFENDING,
    FLEEING,
    OVER,
) = range(13)
PHASES: tuple[str, ...] = (
    "setting",
    "placing",
    "start",
    "peeking",
    "revealing",
    "drawing",
    "drifting",
    "displacing",
    "act",
    "moving",
    "defending",
    "fleeing",
    "over",
)
"""Names of the phases, as positions and rulings have them."""

# What was played this turn, a bit a type of red tile (IGLU-1.E.5); also the order of known tiles in a hand.
PLAYED: tuple[str, ...] = ("thaw", "harpoon", "animals", "endurance")
THAW_PLAYED, HARPOON_PLAYED, ANIMALS_PLAYED, ENDURANCE_PLAYED = 1, 2, 4, 8

# A hand is a row of counts: unknown tiles first, then thaw, harpoon, animals, and a place for each endurance value.
UNKNOWN, HAND_THAW, HAND_HARPOON, HAND_ANIMALS, HAND_ENDURANCE = range(5)
TO_FACE = components.RED - 1
"""Add it to a place in a hand for the number of the face."""


@dataclass(frozen=True, slots=True)
class IgluSetup:
    """What does not change in a game: who plays, by which options, with which tiles.

    ``faults`` are problems of a position that was read and that the bit sets cannot hold (two igloos of one colour
    on a floe, land in the sea); they stay with every state made from it.
    """

    game: Game[IgluMove]
    names: tuple[str, ...]
    colours: tuple[str, ...]
    options: dict[str, JSON]
    mix: components.Mix
    first: int
    inuit_each: int
    faults: tuple[Problem, ...]
    no_repick: bool
    animals_any_phase: bool
    end_before_thaw: bool
    kayak_from_corner: bool
    together: bool
    all_three: bool
    igloo_block: bool
    island_table: bool

    @property
    def players(self) -> int:
        """Return how many play."""
        return len(self.colours)


class IgluPosition:
    """The parts of a position. Bit sets: bit 0 is a1, bit 63 is h8; seats count from 0.

    ``floes`` includes ``packs``. ``inuit`` holds for each seat the squares of its inuit, sorted, one entry each;
    ``inuit_at`` the same as bit sets and ``inuit_squares`` their union; ``igloos`` a bit set a seat and
    ``igloo_squares`` their union. ``fish`` and ``fox`` hold the tokens on the board as ``4 * square + value``, sorted;
    ``fish_at`` and ``fox_at`` bit sets by value. ``trophies`` (a seat) and ``removed`` are packed counts
    (:func:`.components.counted`). ``tiles`` counts by face what nobody has seen of the box. ``square``, ``remaining``,
    ``defender``, ``push`` belong to the phase: the square concerned, the tokens to draw or the animal steps that
    remain, the seat that answers a bear, the drift that waits for a displacement; ``looked``: floes put back this turn.
    """

    __slots__ = (
        "bears",
        "defender",
        "fish",
        "fish_at",
        "floes",
        "fox",
        "fox_at",
        "hands",
        "igloo_squares",
        "igloos",
        "inuit",
        "inuit_at",
        "inuit_squares",
        "looked",
        "melted",
        "packs",
        "phase",
        "played",
        "points",
        "push",
        "remaining",
        "removed",
        "square",
        "table",
        "tiles",
        "to_move",
        "trophies",
        "turn",
    )

    table: IgluSetup
    phase: int
    to_move: int
    turn: int
    floes: int
    packs: int
    bears: int
    inuit: tuple[tuple[int, ...], ...]
    inuit_at: tuple[int, ...]
    inuit_squares: int
    igloos: tuple[int, ...]
    igloo_squares: int
    fish: tuple[int, ...]
    fish_at: tuple[int, int, int]
    fox: tuple[int, ...]
    fox_at: tuple[int, int, int]
    trophies: tuple[int, ...]
    removed: int
    tiles: tuple[int, ...]
    hands: tuple[tuple[int, ...], ...]
    points: int
    played: int
    melted: bool
    square: int
    remaining: int
    defender: int
    push: tuple[int, str] | None
    looked: int

    # --- what the rules ask of a position -------------------------------------------------------------------------

    @property
    def game(self) -> Game[IgluMove]:
        """Return the game."""
        return self.table.game

    @property
    def names(self) -> tuple[str, ...]:
        """Return the players' names in seat order."""
        return self.table.names

    @property
    def colours(self) -> tuple[str, ...]:
        """Return the tribes in seat order."""
        return self.table.colours

    @property
    def water(self) -> int:
        """Return the water squares: no corner and no floe, whatever swims there (IGLU-G.2)."""
        return SEA & ~self.floes

    def meltable(self) -> int:
        """Return the floes one of which must be taken (IGLU-1.2), or else of the outer ring (IGLU-1.3)."""
        foxes = self.fox_at
        empty = self.floes & ~(
            self.packs | self.inuit_squares | self.igloo_squares | self.bears | foxes[0] | foxes[1] | foxes[2]
        )
        return empty & near(SEA & ~self.floes) or empty & RING

    def by_ring(self) -> bool:
        """Return whether melting has fallen back to the outer ring (IGLU-1.3)."""
        return not self.empty_floes() & near(self.water)

    def empty_floes(self) -> int:
        """Return the face-down floes with nothing on them (IGLU-G.5, G.6)."""
        return self.floes & ~(self.packs | self.inuit_squares | self.igloo_squares | self.bears | self.foxes)

    @property
    def foxes(self) -> int:
        """Return the squares with a fox."""
        return self.fox_at[0] | self.fox_at[1] | self.fox_at[2]

    @property
    def shoals(self) -> int:
        """Return the squares with fish."""
        return self.fish_at[0] | self.fish_at[1] | self.fish_at[2]

    def thawable(self) -> int:
        """Return the floes that a thaw tile may take (IGLU-1.E.7)."""
        return self.floes & ~self.packs & ~self.igloo_squares & near(SEA & ~self.floes)

    def can_play(self, seat: int, place: int) -> bool:
        """Return whether a hand holds, or may hold unknown to us, the tile at a place of the hand."""
        hand = self.hands[seat]
        return hand[place] > 0 or (hand[UNKNOWN] > 0 and self.tiles[place + TO_FACE] > 0)

    def can_harpoon(self, seat: int) -> bool:
        """Return whether a seat may use a harpoon now: held, and in one's own turn not yet played (IGLU-Q.10)."""
        if seat == self.turn and self.played & HARPOON_PLAYED:
            return False
        return self.can_play(seat, HAND_HARPOON)

    def reserve(self, token: int) -> int:
        """Return how many tokens of a kind lie beside the board."""
        out = components.counted(self.removed, token) + sum(components.counted(t, token) for t in self.trophies)
        if token == components.BEAR_TOKEN:
            out += self.bears.bit_count()
        elif token >= components.FOX:
            out += sum(code & 3 == token - components.FOX + 1 for code in self.fox)
        else:
            out += sum(code & 3 == token + 1 for code in self.fish)
        return components.IN_BOX[token] - out

    def fleeing(self) -> list[int]:
        """Return the seats with an inuit that must leave the square concerned (IGLU-1.F.4, 1.E.8)."""
        bit = 1 << self.square
        return [seat for seat, own in enumerate(self.inuit_at) if own & bit and not self.igloos[seat] & bit]

    def unknown_tiles(self) -> int:
        """Return how many tiles in hands we do not know."""
        return sum(hand[UNKNOWN] for hand in self.hands)

    def things(self, bit: int) -> list[str]:
        """Return what is on a square, as words of the game."""
        found = []
        if self.inuit_squares & bit:
            found.append("inuit")
        if self.igloo_squares & bit:
            found.append("igloo")
        if self.foxes & bit:
            found.append("fox")
        if self.shoals & bit:
            found.append("fish")
        if self.bears & bit:
            found.append("bear")
        return found

    # --- changing a fresh copy --------------------------------------------------------------------------------------

    def copy(self) -> Self:
        """Return a state equal to this one, to be changed by who asked for it."""
        new = _NEW(self.__class__)
        new.table = self.table
        new.phase = self.phase
        new.to_move = self.to_move
        new.turn = self.turn
        new.floes = self.floes
        new.packs = self.packs
        new.bears = self.bears
        new.inuit = self.inuit
        new.inuit_at = self.inuit_at
        new.inuit_squares = self.inuit_squares
        new.igloos = self.igloos
        new.igloo_squares = self.igloo_squares
        new.fish = self.fish
        new.fish_at = self.fish_at
        new.fox = self.fox
        new.fox_at = self.fox_at
        new.trophies = self.trophies
        new.removed = self.removed
        new.tiles = self.tiles
        new.hands = self.hands
        new.points = self.points
        new.played = self.played
        new.melted = self.melted
        new.square = self.square
        new.remaining = self.remaining
        new.defender = self.defender
        new.push = self.push
        new.looked = self.looked
        return new

    def set_fish(self, codes: tuple[int, ...]) -> None:
        """Set the fish on the board (of a fresh copy)."""
        self.fish = codes
        self.fish_at = _by_value(codes)

    def set_fox(self, codes: tuple[int, ...]) -> None:
        """Set the foxes on the board (of a fresh copy)."""
        self.fox = codes
        self.fox_at = _by_value(codes)

    def set_inuit(self, seat: int, squares: tuple[int, ...]) -> None:
        """Set where a seat's inuit are, sorted (of a fresh copy)."""
        own = 0
        for square in squares:
            own |= 1 << square
        inuit, inuit_at = self.inuit, self.inuit_at
        self.inuit = (*inuit[:seat], squares, *inuit[seat + 1 :])
        self.inuit_at = inuit_at = (*inuit_at[:seat], own, *inuit_at[seat + 1 :])
        inuit_squares = 0
        for some in inuit_at:
            inuit_squares |= some
        self.inuit_squares = inuit_squares

    def move_inuit(self, seat: int, origin: int, target: int) -> None:
        """Move one inuit (of a fresh copy)."""
        squares = list(self.inuit[seat])
        squares.remove(origin)
        squares.append(target)
        squares.sort()
        self.set_inuit(seat, tuple(squares))

    def take(self, seat: int, token: int) -> None:
        """Add a token to a seat's trophies (of a fresh copy)."""
        trophies = self.trophies
        self.trophies = (*trophies[:seat], trophies[seat] + components.TALLY[token], *trophies[seat + 1 :])

    def spend(self, seat: int, place: int) -> None:
        """Play a tile out of a hand: a known one, or else one that we did not know (of a fresh copy)."""
        hand = list(self.hands[seat])
        if hand[place]:
            hand[place] -= 1
        else:
            hand[UNKNOWN] -= 1
            self.see(place + TO_FACE)
        self.hands = (*self.hands[:seat], tuple(hand), *self.hands[seat + 1 :])

    def see(self, face: int) -> None:
        """Count a tile as seen (of a fresh copy)."""
        tiles = self.tiles
        self.tiles = (*tiles[:face], tiles[face] - 1, *tiles[face + 1 :])

    def harpoon(self, seat: int) -> None:
        """Play a harpoon out of a hand (of a fresh copy)."""
        self.spend(seat, HAND_HARPOON)
        if seat == self.turn:
            self.played |= HARPOON_PLAYED

    def clear_animals(self, bit: int) -> None:
        """Take fish and foxes of a square out of the game (of a fresh copy; IGLU-1.F.2, 1.E.8)."""
        square = bit.bit_length() - 1
        if self.shoals & bit:
            self.removed += sum(
                components.TALLY[components.FISH + (code & 3) - 1] for code in self.fish if code >> 2 == square
            )
            self.set_fish(tuple(code for code in self.fish if code >> 2 != square))
        if self.foxes & bit:
            self.removed += sum(
                components.TALLY[components.FOX + (code & 3) - 1] for code in self.fox if code >> 2 == square
            )
            self.set_fox(tuple(code for code in self.fox if code >> 2 != square))

    # --- the course of a turn ----------------------------------------------------------------------------------------

    def start_turn(self, seat: int) -> Self:
        """Begin a seat's turn, or find the game over (of a fresh copy; IGLU-E.1)."""
        self.turn = self.to_move = seat
        self.phase = START
        self.points = self.played = self.looked = self.remaining = 0
        self.melted = False
        self.square = self.defender = -1
        return self.test_end()

    def test_end(self) -> Self:
        """End the game where nothing can be melted (of a fresh copy; IGLU-1.4, E.1, E.4, E.5)."""
        if not self.meltable() and (self.table.end_before_thaw or not self.has_rescue()):
            return self.finish()
        return self

    def finish(self) -> Self:
        """End the game (of a fresh copy; IGLU-E.1, E.3)."""
        self.phase = OVER
        self.to_move = NOBODY
        self.square = self.defender = -1
        self.remaining = self.looked = 0
        return self

    def has_rescue(self) -> bool:
        """Return whether the player could still play a tile before melting (``iglu.end_check_before_thaw`` off)."""
        seat = self.turn
        if self.can_play(seat, HAND_THAW) and not self.played & THAW_PLAYED and self.thawable():
            return True
        allowed = self.table.animals_any_phase and not self.played & ANIMALS_PLAYED
        return allowed and self.can_play(seat, HAND_ANIMALS)

    def begin_actions(self) -> Self:
        """Go on to phase 2 with three points (of a fresh copy; IGLU-2.1)."""
        self.melted = True
        self.phase = ACT
        self.to_move = self.turn
        self.points = 3
        self.square = -1
        self.remaining = self.looked = 0
        return self

    def resume(self) -> Self:
        """Go on after an interruption: further animal steps, or where the turn stood (of a fresh copy)."""
        self.to_move = self.turn
        self.defender = self.square = -1
        if self.remaining:
            if self.has_step():
                self.phase = MOVING
                return self
            self.remaining = 0
        if self.melted:
            self.phase = ACT
            return self
        self.phase = START
        return self.test_end()

    def has_step(self) -> bool:
        """Return whether any animal can take a step (IGLU-1.E.11)."""
        water = SEA & ~self.floes
        if near(self.shoals) & water or near(self.foxes) & self.floes:
            return True
        return bool(near(self.bears) & SEA & ~self.bears)

    # --- values -------------------------------------------------------------------------------------------------------

    def key(self) -> tuple[object, ...]:
        """Return all that tells two positions of one game apart."""
        return (
            self.phase,
            self.to_move,
            self.turn,
            self.floes,
            self.packs,
            self.bears,
            self.inuit,
            self.igloos,
            self.fish,
            self.fox,
            self.trophies,
            self.removed,
            self.tiles,
            self.hands,
            self.points,
            self.played,
            self.melted,
            self.square,
            self.remaining,
            self.defender,
            self.push,
            self.looked,
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IgluPosition):
            return NotImplemented
        return self.key() == other.key() and (self.table is other.table or self.table == other.table)

    def __hash__(self) -> int:
        return hash(self.key())


S = TypeVar("S", bound=IgluPosition)
"""The kind of position that is being played: a step from one leads to another of its kind."""
_NEW = object.__new__


def _by_value(codes: tuple[int, ...]) -> tuple[int, int, int]:
    found = [0, 0, 0, 0]
    for code in codes:
        found[code & 3] |= 1 << (code >> 2)
    return found[1], found[2], found[3]
