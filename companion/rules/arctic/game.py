"""Arctic as a :class:`~companion.rules.core.Game`: options, set-up, notation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from companion.rules.arctic.json_reader import from_json
from companion.rules.arctic.moves import ArcticMove, parse_move
from companion.rules.arctic.state import ArcticState
from companion.rules.core import JSON, Game, Option, RulesError, SetupError, player_name
from companion.rules.rulebook import Rulebook, rulebook

SETUP_KEYS = frozenset({"packs", "powers", "first", "totems", "hands", "river"})


class Arctic(Game[ArcticMove]):
    """Arctic for 2 to 4 players. A set-up may give packs, power sides, first seat, totems, hands and River."""

    id: ClassVar[str] = "arctic"
    players: ClassVar[range] = range(2, 5)
    options: ClassVar[tuple[Option, ...]] = (
        Option("arc.end_trigger", ("strict", "bga"), "ARC-E.3"),
        Option("arc.facedown_alone", (True, False), "ARC-V.5"),
    )
    move_types: ClassVar[tuple[type, ...]] = (ArcticMove,)

    @property
    def rulebook(self) -> Rulebook:
        """Return the clauses and sentences, read when first asked for."""
        return rulebook(self.id)

    def start(
        self,
        players: Sequence[Mapping[str, JSON]],
        options: Mapping[str, JSON] | None = None,
        setup: Mapping[str, JSON] | None = None,
    ) -> ArcticState:
        """Return the first state; what the set-up does not give is dealt by chance steps.

        ``setup``: ``packs`` [1, 3], ``powers`` {"fox": 11, …}, ``first`` 1 (a seat, from 1), ``totems`` and
        ``hands`` (lists by seat; ``"?"`` for what is secret), ``river`` (six cards).

        :raises SetupError: in one sentence.
        """
        names = _names(players, self.players)
        state = ArcticState(self, names, self.settled_options(options))
        for move in _setup_moves(setup or {}, len(names)):
            reason = state.refusal(move)
            if reason is not None:
                ruling = state.check(move)
                raise SetupError("The set-up does not fit at {move!r}: {why}", move=str(move), why=ruling.words)
            state = state.after(move)
        return state

    def parse(self, text: str) -> ArcticMove:
        """Return the step that ``text`` says."""
        return parse_move(text)

    def from_position(self, position: Mapping[str, JSON]) -> ArcticState:
        """Return a state from the one form of a board."""
        return from_json(self, position)


def _names(players: Sequence[Mapping[str, JSON]], allowed: range) -> tuple[str, ...]:
    if len(players) not in allowed:
        least, most = allowed[0], allowed[-1]
        raise SetupError(
            "Arctic is for {least} to {most} players, not {count}.", least=least, most=most, count=len(players)
        )
    names = []
    for player in players:
        name = player.get("name") if isinstance(player, Mapping) else None
        names.append(player_name(name))
    return tuple(names)


def _setup_moves(setup: Mapping[str, Any], n: int) -> list[ArcticMove]:
    """Return the steps of a set-up in the order in which the game asks for them."""
    unknown = sorted(str(key)[:40] for key in set(setup) - SETUP_KEYS)
    if unknown:
        known = ", ".join(sorted(SETUP_KEYS))
        raise SetupError("A set-up of Arctic has {known}, not {unknown}.", known=known, unknown=", ".join(unknown))
    try:
        texts = [f"pack {pack}" for pack in setup.get("packs", ())]
        powers = setup.get("powers", {})
        texts += [f"side {animal} {powers[animal]}" for animal in powers]
        texts += [f"totem p{seat + 1} {totem}" for seat, totem in enumerate(setup.get("totems", ()))]
        if "first" in setup:
            texts.append(f"first p{setup['first']}")
        hands = setup.get("hands", ())
        order = [(int(setup.get("first", 1)) - 1 + step) % n for step in range(n)]
        texts += [f"hand p{seat + 1} {card}" for seat in order if seat < len(hands) for card in hands[seat]]
        texts += [f"river {card}" for card in setup.get("river", ())]
    except (TypeError, ValueError, KeyError, AttributeError):
        raise SetupError(
            "The set-up of Arctic holds lists of cards, packs and totems, and an object of powers."
        ) from None
    try:
        return [parse_move(text) for text in texts]
    except RulesError as error:
        raise SetupError("The set-up of Arctic: {why}", why=error.words) from None


GAME = Arctic()
