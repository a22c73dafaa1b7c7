"""Igloo Pop as the night sees it: the circle of cards, the thalers, the check card by card."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, cast

from companion.night.games import Placing, Sensor
from companion.night.games.capabilities import Beginning, TeachableCards
from companion.night.games.igloo_pop.photo_check import IglooPopPhotoCheck
from companion.night.games.igloo_pop.photo_deal import IglooPopPhotoDeal
from companion.night.games.igloo_pop.photo_placing import IglooPopPhotoPlacing
from companion.night.games.igloo_pop.photo_round import IglooPopPhotoRound
from companion.night.games.plain import PlainView
from companion.night.messages import Words
from companion.rules.core import JSON, Move, Reason, Ruling, ScoreSheet, State
from companion.rules.i18n import joined, same
from companion.rules.igloo_pop import FAULTS, GAME, IglooPopMove, IglooPopState, card_points, fault_ruling, svg
from companion.rules.igloo_pop.components import CARD_TEXT, PLACES
from companion.rules.igloo_pop.score import GOAL, decisions, series_winners


class IglooPopView(PlainView):
    """The :class:`companion.night.games.GameView` of Igloo Pop."""

    game_id = "igloo-pop"
    series_to: int | None = GOAL
    follows = False

    @property
    def cards(self) -> TeachableCards:
        """Return the 33 cards; rounds are read from photos, and live the circle, igloos as they come, and the check."""
        return TeachableCards(
            tuple(CARD_TEXT),
            "4/5",
            round=IglooPopPhotoRound(self),
            deal=IglooPopPhotoDeal(),
            placing=IglooPopPhotoPlacing(),
            check=IglooPopPhotoCheck(),
        )

    def beginning(self, setup: Mapping[str, JSON]) -> Beginning:
        """Return a round of which no card is named: one is named where it matters."""
        del setup
        position: dict[str, JSON] = {
            "game": self.game_id,
            "places": {place: {"ground": None, "things": []} for place in PLACES},
            "players": [{"name": colour, "colour": colour} for colour in ("red", "yellow", "green")],
            "phase": "shaking",
        }
        return position, [(text, same(text)) for text in CARD_TEXT]

    def draw(self, state: State[Any], lang: str, viewer: int | None, move: Any = None) -> str:
        """Return the circle; nothing that lies on it is hidden."""
        del viewer
        return svg.draw(_pop(state), move, lang)

    def phase(self, state: State[Any]) -> str:
        """Return ``deal``, ``ready``, ``shaking``, ``checking`` or ``over``."""
        return _pop(state).phase

    def turn(self, state: State[Any]) -> int:
        """Return -1: all play at once."""
        del state
        return -1

    def round(self, state: State[Any]) -> int:
        """Return the round that runs or comes next."""
        return _pop(state).round

    def shown_round(self, state: State[Any]) -> int:
        """Return the round that lies on the table: after a check and before the next start, the one just checked."""
        pop = _pop(state)
        return pop.round - 1 if pop.phase in ("deal", "ready") and pop.last_results else pop.round

    def live(self, state: State[Any]) -> bool:
        """Return whether somebody may be shaking (POP-2.1 … POP-2.9)."""
        return _pop(state).phase == "shaking"

    def hidden(self, state: State[Any]) -> bool:
        """Return whether a count would help somebody: until the first igloo of the round is turned over (POP-3.1)."""
        pop = _pop(state)
        return pop.phase == "shaking" or (pop.phase == "checking" and pop.begun is None and not pop.last_results)

    def revealing(self, move: Any) -> bool:
        """Return whether a number is shown."""
        return cast("IglooPopMove", move).kind == "reveal"

    def drawing(self, state: State[Any]) -> bool:
        """Return whether a place of the circle waits for a card of the stack (POP-1.1, POP-3.11)."""
        return _pop(state).phase == "deal"

    def unsaid(self, state: State[Any]) -> Any | None:
        """Return None: every step is somebody's."""
        del state
        return None

    def comparable(self, state: State[Any]) -> bool:
        """Return whether no thaler stands under an igloo: such a one is nobody's points for a while."""
        return not any(_pop(state).igloos.values())

    def public_ruling(self, state: State[Any], move: Any) -> Ruling:
        """Return the ruling on a move."""
        return state.check(move)

    def lay(self, state: State[Any], things: Mapping[str, str]) -> list[Move]:
        """Return a ``deal`` for each place, clockwise."""
        del state
        moves = [GAME.parse(f"deal {place} {card}") for place, card in things.items()]
        moves.sort(key=lambda move: move.where)
        return [*moves]

    def stopping(self, state: State[Any]) -> list[Move]:
        """Return a ``pass`` for everybody who has not passed; outside a round one that the rules refuse."""
        pop = _pop(state)
        left = [c for c in pop.colours if (pop.own[c] > 0 or c in pop.hands) and c not in pop.passed]
        if pop.phase != "shaking":
            left = list(pop.colours[:1])
        return [GAME.parse(f"pass {colour}") for colour in left]

    def placing(self, state: State[Any], move: Any) -> Placing | None:
        """Return who places where, and how many igloos stand there already."""
        pop_move = cast("IglooPopMove", move)
        if pop_move.kind != "place" or pop_move.colour is None or pop_move.place is None:
            return None
        return Placing(pop_move.colour, pop_move.place, len(_pop(state).igloos[pop_move.place]))

    def acting(self, move: Any) -> str | None:
        """Return the player whose hand it is, where it is a player's."""
        return cast("IglooPopMove", move).colour

    def fault(self, state: State[Any], clause: str, colour: str | None) -> Words:
        """Return the ruling on a fault of the hands, or for another clause what it says."""
        if clause in FAULTS:
            return fault_ruling(clause, colour, state).words
        return GAME.rulebook.clause(clause).text

    def dealt(self, moves: Sequence[Any]) -> str:
        """Return the cards of a deal: ``4/5, 7``."""
        return ", ".join(str(move).split()[-1] for move in moves)

    def players(self, state: State[Any]) -> list[dict[str, JSON]]:
        """Return thalers, cards and hands of each player; ``staked`` thalers stand under igloos on cards."""
        pop = _pop(state)
        staked = Counter(colour for igloos in pop.igloos.values() for colour, _ in igloos)
        return [
            {
                "own": pop.own[colour],
                "staked": staked[colour],
                "captured": pop.captured[colour],
                "cards": [{"numbers": list(card), "points": card_points(card)} for card in pop.won[colour]],
                "in_hand": colour in pop.hands,
                "passed": colour in pop.passed,
            }
            for colour in pop.colours
        ]

    def table(self, state: State[Any], sensors: Sequence[Sensor]) -> dict[str, JSON]:
        """Return the circle, the stack, the village, and the check of the last round card by card."""
        pop = _pop(state)
        worn = {(sensor.placing.place, sensor.placing.after) for sensor in sensors}
        igloos = pop.igloos
        end = pop.end_reason
        return {
            "cards": [
                {
                    "place": place,
                    "numbers": list(card) if card is not None else None,
                    "points": card_points(card) if card is not None else 0,
                    "igloos": [
                        {"colour": colour, "number": number, "sensor": (place, index) in worn}
                        for index, (colour, number) in enumerate(igloos[place])
                    ],
                }
                for place, card in pop.cards.items()
            ],
            "stack_left": pop.stack_left,
            "village_left": pop.village_left,
            "results_round": self.shown_round(state) if pop.last_results else None,
            "results": [
                {
                    "place": result.place,
                    "card": list(result.card),
                    "igloos": [
                        {"colour": colour, "number": number, "match": number in result.card}
                        for colour, number in result.igloos
                    ],
                    "winner": result.winner,
                    **_said(_ruling(result.reason, state)),
                }
                for result in pop.last_results
            ],
            "end": _said(_ruling(end, state)) if end is not None else None,
        }

    def ranking_why(self, state: State[Any], sheet: ScoreSheet) -> Words:
        """Return what decided between the first and the others, and each tie on points below (POP-4.3, POP-4.4)."""
        return joined(_ruling(reason, state).words for reason in decisions(_pop(state), sheet))

    def series_winners(self, totals: Mapping[str, int]) -> list[str]:
        """Return who has won several games added up (POP-4.5)."""
        return list(series_winners(totals))


def _pop(state: State[Any]) -> IglooPopState:
    return cast("IglooPopState", state)


def _ruling(reason: Reason, state: State[Any]) -> Ruling:
    return GAME.rulebook.ruling(True, reason, state)


def _said(ruling: Ruling) -> dict[str, JSON]:
    return {**ruling.words.to_json(), "clauses": list(ruling.clauses), "status": ruling.status}
