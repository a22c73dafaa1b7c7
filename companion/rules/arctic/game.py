"""Arctic as a :class:`~companion.rules.core.Game`: options, set-up, notation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from companion.rules.arctic.cards import ANIMALS
from companion.rules.arctic.moves import ArcticMove, parse_move
from companion.rules.arctic.position import from_json
from companion.rules.arctic.state import ArcticState
from companion.rules.core import JSON, Game, Option, SetupError
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
                raise SetupError(f"The set-up does not fit at {str(move)!r}: {state.check(move).en}")
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
        raise SetupError(f"Arctic is for {allowed.start} to {allowed.stop - 1} players, not {len(players)}.")
    names = []
    for player in players:
        name = player.get("name") if isinstance(player, Mapping) else None
        if not isinstance(name, str) or not name.strip() or len(name) > 60:
            raise SetupError("Every player has a name of 1 to 60 characters.")
        names.append(name.strip())
    return tuple(names)


def _setup_moves(setup: Mapping[str, Any], n: int) -> list[ArcticMove]:
    """Return the steps of a set-up in the order in which the game asks for them."""
    unknown = set(setup) - SETUP_KEYS
    if unknown:
        raise SetupError(f"A set-up of Arctic has {', '.join(sorted(SETUP_KEYS))}, not {', '.join(sorted(unknown))}.")
    try:
        texts = [f"pack {pack}" for pack in setup.get("packs", ())]
        powers = setup.get("powers", {})
        texts += [f"side {animal} {powers[animal]}" for animal in ANIMALS if animal in powers]
        totems = setup.get("totems", ())
        texts += [f"totem p{seat + 1} {totem}" for seat, totem in enumerate(totems)]
        if "first" in setup:
            texts.append(f"first p{setup['first']}")
            hands = setup.get("hands", ())
            order = [(int(setup["first"]) - 1 + step) % n for step in range(n)]
            texts += [f"hand p{seat + 1} {card}" for seat in order if seat < len(hands) for card in hands[seat]]
        texts += [f"river {card}" for card in setup.get("river", ())]
        return [parse_move(text) for text in texts]
    except (TypeError, ValueError, KeyError, AttributeError, IndexError) as error:
        raise SetupError(f"The set-up of Arctic cannot be read: {error}") from error


GAME = Arctic()
