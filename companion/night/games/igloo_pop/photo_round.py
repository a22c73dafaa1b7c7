"""A round of Igloo Pop that was read from photos, through the rules: the moves that enter it, and what comes of it.

A photo tells which card lies where, whose igloos stand on it and what is under them; the round's moves follow from it:
place, pass, reveal. Nothing is entered here: the page sends the moves when somebody has looked at them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from companion.night.games import GameView
from companion.rules.core import JSON, IllegalMoveError, SetupError, State
from companion.rules.igloo_pop import GAME, IglooPopState
from companion.rules.igloo_pop.components import COLOURS, IGLOOS, PLACES, card_text

MOST_IGLOOS = 12


@dataclass(frozen=True, slots=True)
class SeenCard:
    """A card of the round: its place, its numbers as text, and the igloos on it (colour, number or None)."""

    place: str
    card: str
    igloos: tuple[tuple[str, int | None], ...]


def seen_cards(body: Any) -> tuple[SeenCard, ...]:
    """Return ``[{"place", "card", "igloos": [{"colour", "number"}]}]`` checked.

    :raises companion.rules.core.SetupError: when the form is broken.
    """
    if not isinstance(body, list) or len(body) > len(PLACES):
        raise _broken()
    cards = []
    for one in body:
        igloos = one.get("igloos", []) if isinstance(one, Mapping) else None
        if not isinstance(igloos, list) or len(igloos) > MOST_IGLOOS or one.get("place") not in PLACES:
            raise _broken()
        found = []
        for igloo in igloos:
            if not isinstance(igloo, Mapping) or igloo.get("colour") not in COLOURS:
                raise _broken()
            number = igloo.get("number")
            if number is not None and (isinstance(number, bool) or number not in IGLOOS):
                raise _broken()
            found.append((str(igloo["colour"]), number))
        card = one.get("card")
        if not isinstance(card, str) or len(card) > 12:
            raise _broken()
        cards.append(SeenCard(str(one["place"]), card, tuple(found)))
    if len({one.place for one in cards}) != len(cards):
        raise _broken()
    return tuple(cards)


def _broken() -> SetupError:
    return SetupError("A round is a list of places with a card and its igloos.")


@dataclass(frozen=True, slots=True)
class IglooPopPhotoRound:
    """The :class:`companion.night.games.capabilities.PhotoRound` of Igloo Pop, in the words of the night's view."""

    view: GameView

    def lying(self, state: State[Any]) -> list[str]:
        """Return the cards of the circle."""
        return list(lying_cards(cast("IglooPopState", state)).values())

    def judge(self, cards: Any, state: State[Any] | None = None) -> dict[str, JSON]:
        """Return what a round comes to; without the state of a match everybody begins with ten thalers.

        ``results`` are those of the night's view, ``players`` what each has after it, ``open`` how many igloos still
        want a number, ``refused`` null or the ruling on the first move that the rules do not allow.

        :raises companion.rules.core.SetupError: a broken form, two cards alike, a colour that nobody plays, or no round
        to be scored.
        """
        return _judged(self.view, seen_cards(cards), state)


def _judged(view: GameView, cards: Sequence[SeenCard], state: State[Any] | None) -> dict[str, JSON]:
    now = _alone(cards) if state is None else state
    if not isinstance(now, IglooPopState) or now.phase not in {"shaking", "checking"}:
        raise SetupError("No round of Igloo Pop is being played: start it, or check it, first.")
    _same_cards(cards, now)
    moves: list[str] = []
    refused = None
    wanted = _wanted(cards, now)
    try:
        for text in wanted:
            now = _played(now, text)
            moves.append(text)
    except IllegalMoveError as error:
        ruling = error.ruling
        refused = {"move": wanted[len(moves)], **ruling.words.to_json(), "clauses": list(ruling.clauses)}
    left = sum(number is None for one in cards for _, number in one.igloos)
    shown = view.table(now, ())
    players = [
        {"name": name, "colour": colour, **player}
        for name, colour, player in zip(now.names, now.colours, view.players(now), strict=True)
    ]
    return {"moves": [*moves], "results": shown["results"], "players": [*players], "open": left, "refused": refused}


def _played(state: IglooPopState, text: str) -> IglooPopState:
    return state.play(GAME.parse(text))


def _alone(cards: Sequence[SeenCard]) -> IglooPopState:
    """Return a first round that lies as the photo shows it, before anybody has placed anything."""
    staked = Counter(colour for one in cards for colour, _ in one.igloos)
    playing = [colour for colour in COLOURS if staked[colour]]
    playing += [colour for colour in COLOURS if colour not in playing][: max(0, 2 - len(playing))]
    lying = {one.place: one.card for one in cards}
    begun: Any = GAME.from_position(
        {
            "game": GAME.id,
            "phase": "shaking",
            "places": {place: {"ground": lying.get(place, "empty"), "things": []} for place in PLACES},
            "players": [{"name": colour, "colour": colour} for colour in playing],
        }
    )
    return cast("IglooPopState", begun)


def lying_cards(state: IglooPopState) -> dict[str, str]:
    """Return the cards that lie, by their places."""
    return {place: card_text(card) for place, card in state.cards.items() if card is not None}


def _same_cards(cards: Sequence[SeenCard], state: IglooPopState) -> None:
    texts = [one.card for one in cards]
    if len(set(texts)) != len(texts):
        raise SetupError("A card is there twice.")
    lying = lying_cards(state)
    for one in cards:
        if one.igloos and lying.get(one.place) != one.card:
            raise SetupError(
                "In this game {card} does not lie at place {place}.",
                card=one.card,
                place=one.place.removeprefix("card"),
            )
        for colour, _ in one.igloos:
            if colour not in state.colours:
                colour_words = GAME.rulebook.words(colour)
                raise SetupError("Nobody plays {colour}.", colour=colour_words)


def _wanted(cards: Sequence[SeenCard], state: IglooPopState) -> list[str]:
    """Return the moves from a state to the end of its round, as far as numbers are known."""
    moves = []
    stand = {place: [colour for colour, _ in igloos] for place, igloos in state.igloos.items()}
    if state.phase == "shaking":
        for one in cards:
            already = Counter(stand[one.place])
            for colour, _ in one.igloos:
                if already[colour]:
                    already[colour] -= 1
                else:
                    moves.append(f"place {colour} {one.place}")
                    stand[one.place].append(colour)
        moves += _passes(state, moves, sum(map(len, stand.values())))
    for one in cards:
        numbers = [(colour, number) for colour, number in one.igloos if number is not None]
        shown = {number for _, number in state.igloos[one.place] if number}
        numbers = [pair for pair in numbers if pair[1] not in shown]
        for index, colour in enumerate(stand[one.place]):
            if index < len(state.igloos[one.place]) and state.igloos[one.place][index][1]:
                continue
            match = next((pair for pair in numbers if pair[0] == colour), None)
            if match is None:
                # The next of a card cannot be shown before this one: what is open is asked about first.
                break
            numbers.remove(match)
            moves.append(f"reveal {one.place} {match[1]}")
    return moves


def _passes(state: IglooPopState, placed: Sequence[str], standing: int) -> list[str]:
    """Return that everybody passes who may still shake; with all igloos on cards nobody may (POP-2.9)."""
    if standing >= MOST_IGLOOS:
        return []
    used = Counter(text.split()[1] for text in placed)
    return [
        f"pass {colour}"
        for colour in state.colours
        if state.own[colour] - used[colour] > 0 and (colour not in state.passed or used[colour])
    ]
