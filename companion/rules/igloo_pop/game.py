"""Igloo Pop as a game: its players, options and set-up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from companion.rules.core import JSON, Game, Option, SetupError, player_name
from companion.rules.igloo_pop.components import CARD_INDEX, CARDS, COLOURS, PLACES, THALERS
from companion.rules.igloo_pop.json_reader import Seat, read_position
from companion.rules.igloo_pop.moves import IglooPopMove, parse
from companion.rules.igloo_pop.parts import CIRCLE, DEAL, EMPTY, READY, Ledger, PopSetup, make_table
from companion.rules.igloo_pop.state import IglooPopState, make_state
from companion.rules.rulebook import Rulebook, rulebook


class IglooPop(Game[IglooPopMove]):
    """The game for 2 to 6 players; there is one instance, :data:`GAME`.

    >>> pop = IglooPop()
    >>> state = pop.start([{"name": "Ann", "colour": "red"}, {"name": "Bob", "colour": "blue"}])
    >>> state.play(pop.parse("deal card1 4/5")).cards["card1"]
    (4, 5)
    """

    id: ClassVar[str] = "igloo-pop"
    players: ClassVar[range] = range(2, 7)
    colours: ClassVar[tuple[str, ...]] = COLOURS
    options: ClassVar[tuple[Option, ...]] = (
        Option("pop.cards_end", ("immediate", "last_round"), "POP-4.2"),
        Option("pop.none_match", ("remove", "return"), "POP-3.7"),
    )
    move_types: ClassVar[tuple[type, ...]] = (IglooPopMove,)

    @property
    def rulebook(self) -> Rulebook:
        """Return the clauses and sentences of Igloo Pop."""
        return rulebook(self.id)

    def start(
        self,
        players: Sequence[Mapping[str, JSON]],
        options: Mapping[str, JSON] | None = None,
        setup: Mapping[str, JSON] | None = None,
    ) -> IglooPopState:
        """Return the first state. ``setup`` may give ``cards``: what lies at card1, card2 … already.

        :raises SetupError: in one sentence, when players, options or set-up do not fit.
        """
        table = self._table(players, options)
        cards = self._first_cards(setup or {})
        laid = [card for card in cards if card != EMPTY]
        nobody = (0,) * len(COLOURS)
        ledger = Ledger(
            round=1,
            cards=tuple(cards),
            shown=sum(1 << where for where, card in enumerate(cards) if card != EMPTY),
            stack=len(CARDS) - len(laid),
            seen=sum(1 << card for card in laid),
            captured=nobody,
            won=((),) * len(COLOURS),
            removed=nobody,
            results=(),
            short=False,
            ended=0,
            flaws=(),
        )
        own = tuple(THALERS if who in table.seats else 0 for who in range(len(COLOURS)))
        return make_state(table, ledger, READY if len(laid) == CIRCLE else DEAL, own)

    def parse(self, text: str) -> IglooPopMove:
        """Return the move that ``text`` says.

        :raises InvalidMoveError: when it says none.
        :raises AmbiguousMoveError: when a shortened word has more than one reading.
        """
        return parse(text)

    def from_position(self, position: Mapping[str, JSON]) -> IglooPopState:
        """Return a state from the one form of a board.

        :raises SetupError: when the form itself is broken, with all that is wrong with it.
        """
        return read_position(self, position, self._seated)

    def _seated(self, seats: Sequence[Seat], options: Mapping[str, JSON]) -> PopSetup:
        return self._table([{"name": name or colour, "colour": colour} for name, colour in seats], options)

    def _table(self, players: Sequence[Mapping[str, JSON]], options: Mapping[str, JSON] | None) -> PopSetup:
        if len(players) not in self.players:
            raise SetupError("Igloo Pop is for 2 to 6 players, not {count} (POP-Q.10).", count=len(players))
        found: list[tuple[str, str]] = []
        for player in players:
            if not isinstance(player, Mapping):
                raise SetupError("A player is an object with a name and a colour.")
            colour = player.get("colour")
            if colour not in COLOURS:
                raise SetupError(
                    "A player’s colour is one of {colours}, not {colour!r} (POP-K.6).",
                    colours=", ".join(COLOURS),
                    colour=str(colour)[:40],
                )
            if any(colour == other for _, other in found):
                raise SetupError(
                    "Two players cannot both play {colour}: each takes the thalers of a colour (POP-1.1).",
                    colour=self.rulebook.words(str(colour)),
                )
            name = player.get("name", colour)
            found.append((player_name(name), str(colour)))
        return make_table(self, tuple(found), self.settled_options(options))

    def _first_cards(self, setup: Mapping[str, JSON]) -> list[int]:
        for key in setup:
            if key != "cards":
                raise SetupError("The set-up of Igloo Pop has cards, not {key!r}.", key=str(key)[:40])
        given = setup.get("cards", [])
        if not isinstance(given, list | tuple) or len(given) > CIRCLE:
            raise SetupError(
                "The cards of the set-up are a list of up to {most} cards such as 4/5 (POP-1.1).", most=CIRCLE
            )
        cards = []
        for place, text in zip(PLACES, given, strict=False):
            if text is None:
                cards.append(EMPTY)
                continue
            try:
                card = CARD_INDEX[tuple(map(int, text.split("/")))]
            except (AttributeError, ValueError, KeyError):
                raise SetupError(
                    "There is no card {text!r} in the box ({place}; POP-K.4).", text=str(text)[:40], place=place
                ) from None
            if card in cards:
                raise SetupError(
                    "The card {text} is in the box once, but the set-up lays it twice (POP-K.4).", text=text
                )
            cards.append(card)
        return cards + [EMPTY] * (CIRCLE - len(cards))


GAME: Final = IglooPop()
"""The one instance; the registry hands it out."""
