"""The API of cards in photos: teach them by sheets, read a fanned-out pile, a deal, read and score a round of igloos.

The body of a reading is the photo. What was read is answered with probabilities; nothing is entered before somebody
has looked at it. Photos of the table are for those who take part, and are forgotten when they were read.
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from flask import Blueprint, Response
from msgspec import Meta

from companion.night.games import game_view
from companion.night.games.capabilities import PhotoDeal, PhotoRound, TeachableCards
from companion.ports import BadDataError
from companion.rules.core import JSON, RulesError
from web.api.devices import said_by_device
from web.http.openapi import DoneForm, documented
from web.http.requests import Body, GameId, Query, photo_body
from web.http.responses import RefusedError, json_response, refusal
from web.http.sessions import companion

views = Blueprint("api_cards", __name__, url_prefix="/api/cards")

MOST_ON_A_SHEET = 60
Corner = list[float]


class TaughtCards(TypedDict):
    """The cards of a game in the order of its sheets, and which of them were taught."""

    game: str
    names: list[str]
    taught: list[str]
    bytes: int


class SheetPlace(Query, frozen=True):
    """So many cards from a number of the order on."""

    first: Annotated[int, Meta(ge=0, le=200)]
    count: Annotated[int, Meta(ge=1, le=MOST_ON_A_SHEET)]


class LearntSheet(TypedDict):
    """What was found on a sheet."""

    ok: Literal[True]
    width: int
    height: int
    cards: list[dict[str, JSON]]


class CardRead(TypedDict):
    """A card in a photo, with how likely it is."""

    card: str
    p: float
    kind: str
    kind_p: float
    unsure: bool
    corners: list[Corner]


class PileRead(TypedDict):
    """A pile from the bottom up."""

    ok: Literal[True]
    width: int
    height: int
    cards: list[CardRead]


class CardOfDeal(CardRead):
    """A card that lies in the open: its place, null where it cannot lie there, and whether it is a new one."""

    place: str | None
    new: bool


class DealRead(TypedDict):
    """The cards that lie in the open, clockwise; ``wanted``: so many are to be laid; ``missing`` were not read."""

    ok: Literal[True]
    width: int
    height: int
    cards: list[CardOfDeal]
    wanted: int
    missing: list[str]


class IglooOnCard(TypedDict):
    """An igloo in a photo: ``on_card`` is the place of its card in the list."""

    on_card: int
    at: Corner
    colour: str | None
    number: int | None
    unsure: bool


class RoundReading(PileRead):
    """A round: its cards and igloos; ``id`` is what the photo after it calls ``first``."""

    id: str
    igloos: list[IglooOnCard]


class RoundQuery(Query, frozen=True):
    """The id of the photo before the igloos were turned up."""

    first: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{8,20}$(?!\n)")] | None = None


class IglooSeen(TypedDict):
    """An igloo on a card, and its number, null where nobody knows."""

    colour: Annotated[str, Meta(max_length=10)]
    number: NotRequired[Annotated[int, Meta(ge=2, le=13)] | None]


class CardSeen(TypedDict):
    """A card of a round, where it lay, and what stood on it."""

    place: Annotated[str, Meta(max_length=8)]
    card: Annotated[str, Meta(max_length=12)]
    igloos: NotRequired[list[IglooSeen]]


class RoundSeen(Body, frozen=True):
    """A round as it was read and corrected; ``match``: in the open one."""

    cards: list[CardSeen]
    match: bool = False


class JudgedRound(TypedDict):
    """What each card comes to, and the moves that would enter it."""

    ok: Literal[True]
    moves: list[str]
    results: list[dict[str, JSON]]
    players: list[dict[str, JSON]]
    open: int
    refused: dict[str, JSON] | None


def _no_cards() -> RefusedError:
    return RefusedError(404, "no-cards", "This game has no cards that could be taught.")


def _cards_of(game_id: str) -> TeachableCards | None:
    """Return the cards of a game that is offered, None where it has none."""
    return game_view(game_id).cards if game_id in companion().night.offered else None


def _round_of(game_id: str) -> PhotoRound:
    """Return what judges a round of a game that was read from photos.

    :raises RefusedError: when the game has no such rounds.
    """
    cards = _cards_of(game_id)
    if cards is None or cards.round is None:
        raise RefusedError(404, "no-rounds", "Rounds of this game are not read from photos.")
    return cards.round


def _deal_of(game_id: str) -> PhotoDeal:
    """Return what makes of cards that were read what the table laid.

    :raises RefusedError: when no cards of the game are read so.
    """
    cards = _cards_of(game_id)
    if cards is None or cards.deal is None:
        raise RefusedError(404, "no-deals", "No cards of this game are read as they are laid.")
    return cards.deal


@views.get("/<game_id>")
@documented("player", answer=TaughtCards, packed=True)
def taught(game_id: GameId) -> Response:
    """Answer which cards the game has, in the order in which sheets show them, and which were taught."""
    try:
        return json_response(companion().cards.taught(game_id))
    except KeyError:
        raise _no_cards() from None
    except BadDataError as error:
        raise said_by_device(error) from None


@views.post("/<game_id>/forget")
@documented("host")
def forget(game_id: GameId) -> DoneForm:
    """Forget what was taught of a game's cards."""
    try:
        companion().cards.forget(game_id)
    except KeyError:
        raise _no_cards() from None
    except OSError as error:
        raise RefusedError(503, "storage", "This could not be saved to the disk.") from error
    return {"ok": True}


@views.post("/<game_id>/teach")
@documented("host", media="image/*", answer=LearntSheet, packed=True)
def teach(game_id: GameId, query: SheetPlace) -> Response:
    """Teach a photo of a sheet (the body): ``?count=`` cards, row by row, from number ``?first=`` of the order on."""
    try:
        answer = companion().cards.teach(game_id, photo_body(), query.first, query.count)
    except KeyError:
        raise _no_cards() from None
    except BadDataError as error:
        raise said_by_device(error) from None
    except OSError as error:
        raise RefusedError(503, "storage", "This could not be saved to the disk.") from error
    return json_response({"ok": True, **answer})


@views.post("/<game_id>/pile")
@documented("player", media="image/*", answer=PileRead, packed=True)
def pile(game_id: GameId) -> Response:
    """Read a photo of a fanned-out pile (the body) and answer its cards, from the bottom up."""
    try:
        answer = companion().cards.pile(game_id, photo_body())
    except KeyError:
        raise _no_cards() from None
    except BadDataError as error:
        raise said_by_device(error) from None
    return json_response({"ok": True, **answer})


@views.post("/<game_id>/deal")
@documented("player", media="image/*", answer=DealRead, packed=True)
def read_deal(game_id: GameId) -> Response:
    """Read a photo (the body) of the cards that the table has laid for the open game.

    Nothing is entered: the command ``deal`` does that when somebody has looked at them.
    """
    reader = _deal_of(game_id)
    with companion().night.standing() as night:
        match = night.match
        here = match is not None and match.game.id == game_id and match.ending is None
        state = match.state if match is not None and here else None
    if state is None or not reader.may_lie(state):
        raise RefusedError(409, "no-deal", "There are no cards to lay now.")
    try:
        answer = companion().cards.circle(game_id, photo_body())
    except BadDataError as error:
        raise said_by_device(error) from None
    deal = reader.seen(state, [card["card"] for card in answer["cards"]])
    cards = []
    for card, place in zip(answer["cards"], deal.places, strict=True):
        unsure = card["unsure"] or place is None or card["card"] in deal.twice
        cards.append({**card, "place": place, "new": place in deal.laid, "unsure": unsure})
    told = {"wanted": deal.wanted, "missing": list(deal.missing)}
    return json_response({"ok": True, **answer, "cards": cards, **told})


@views.post("/<game_id>/round")
@documented("player", media="image/*", answer=RoundReading, packed=True)
def read_round(game_id: GameId, query: RoundQuery) -> Response:
    """Read a photo of a round (the body): igloos as placed, or upturned, then with ``?first=``, the first one's id.

    While a game is open, only its cards and its players' colours are thought of.
    """
    rounds = _round_of(game_id)
    only: list[str] = []
    colours: list[str] = []
    with companion().night.standing() as night:
        match = night.match
        if match is not None and match.game.id == game_id and match.ending is None:
            only, colours = rounds.lying(match.state), list(match.colours)
    try:
        answer = companion().cards.round(game_id, photo_body(), query.first, only, colours)
    except BadDataError as error:
        raise said_by_device(error) from None
    return json_response({"ok": True, **answer})


@views.post("/<game_id>/judge")
@documented("player", answer=JudgedRound, packed=True)
def judge(game_id: GameId, body: RoundSeen) -> Response:
    """Score a round as it was read and corrected: what each card comes to, and the moves that would enter it.

    ``match``: in the open match, as it stands; else as a round of its own. Nothing is entered.
    """
    rounds = _round_of(game_id)
    try:
        with companion().night.standing() as night:
            state = night.match.state if body.match and night.match is not None else None
            if body.match and state is None:
                raise RefusedError(409, "no-match", "No game is open.")
            answer = rounds.judge(body.cards, state)
    except RulesError as error:
        return refusal(400, "no-round", error.words.to_json())
    return json_response({"ok": True, **answer})
