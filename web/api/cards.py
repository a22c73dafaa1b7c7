"""The API of cards in photos: teach them by sheets, read a fanned-out pile, read and score a round of igloos.

The body of a reading is the photo. What was read is answered with probabilities; nothing is entered before somebody
has looked at it. Photos of the table are for those who take part, and are forgotten when they were read.
"""

from __future__ import annotations

import re

from flask import Blueprint, Response, request

from companion.night.games import game_view
from companion.night.games.capabilities import PhotoRound
from companion.ports import BadDataError
from companion.rules.core import RulesError
from web.api.devices import said_by_device
from web.http.assets import packed
from web.http.openapi import FLAG, NUMBER, OBJECT, TEXT, WHOLE, documented, fields, listed, maybe, text, whole
from web.http.responses import RefusedError, bad_field, json_body, json_response, photo_body, refusal
from web.http.sessions import companion, host, member

views = Blueprint("api_cards", __name__, url_prefix="/api/cards")

MOST_ON_A_SHEET = 60
READING = re.compile(r"[A-Za-z0-9_-]{8,20}")
POINT = listed(NUMBER)
CARD = fields(card=TEXT, p=NUMBER, kind=TEXT, kind_p=NUMBER, unsure=FLAG, corners=listed(POINT))
IGLOO = fields(on_card=WHOLE, at=POINT, colour=maybe(TEXT), number=maybe(WHOLE), unsure=FLAG)
SEEN = fields(place=text(8), card=text(12), igloos=listed(fields(colour=text(10), number=maybe(whole(2, 13)))))


def _number(name: str, given: str, low: int, high: int) -> int:
    if not given.isascii() or not given.isdecimal() or len(given) > 4 or not low <= int(given) <= high:
        raise bad_field(name)
    return int(given)


def _no_cards() -> RefusedError:
    return RefusedError(404, "no-cards", "This game has no cards that could be taught.")


def _round_of(game_id: str) -> PhotoRound:
    """Return what judges a round of a game that was read from photos.

    :raises RefusedError: when the game has no such rounds.
    """
    cards = game_view(game_id).cards if game_id in companion().night.offered else None
    if cards is None or cards.round is None:
        raise RefusedError(404, "no-rounds", "Rounds of this game are not read from photos.")
    return cards.round


@views.get("/<game_id>")
@documented("player", answer=fields(game=TEXT, names=listed(TEXT), taught=listed(TEXT), bytes=WHOLE))
def taught(game_id: str) -> Response:
    """Answer which cards the game has, in the order in which sheets show them, and which were taught."""
    member()
    try:
        return packed(json_response(companion().cards.taught(game_id)))
    except KeyError:
        raise _no_cards() from None
    except BadDataError as error:
        raise said_by_device(error) from None


@views.post("/<game_id>/forget")
@documented("host")
def forget(game_id: str) -> Response:
    """Forget what was taught of a game's cards."""
    host()
    try:
        companion().cards.forget(game_id)
    except KeyError:
        raise _no_cards() from None
    except OSError as error:
        raise RefusedError(503, "storage", "This could not be kept on the disk.") from error
    return json_response({"ok": True})


@views.post("/<game_id>/teach")
@documented(
    "host",
    query={"first": whole(0, 200), "count": whole(1, MOST_ON_A_SHEET)},
    media="image/*",
    answer=fields(ok=FLAG, width=WHOLE, height=WHOLE, cards=listed(OBJECT)),
)
def teach(game_id: str) -> Response:
    """Teach a photo of a sheet (the body): ``?count=`` cards, row by row, from number ``?first=`` of the order on."""
    host()
    first = _number("first", request.args.get("first", ""), 0, 200)
    count = _number("count", request.args.get("count", ""), 1, MOST_ON_A_SHEET)
    try:
        answer = companion().cards.teach(game_id, photo_body(), first, count)
    except KeyError:
        raise _no_cards() from None
    except BadDataError as error:
        raise said_by_device(error) from None
    except OSError as error:
        raise RefusedError(503, "storage", "This could not be kept on the disk.") from error
    return packed(json_response({"ok": True, **answer}))


@views.post("/<game_id>/pile")
@documented("player", media="image/*", answer=fields(ok=FLAG, width=WHOLE, height=WHOLE, cards=listed(CARD)))
def pile(game_id: str) -> Response:
    """Read a photo of a fanned-out pile (the body) and answer its cards, from the bottom up."""
    member()
    try:
        answer = companion().cards.pile(game_id, photo_body())
    except KeyError:
        raise _no_cards() from None
    except BadDataError as error:
        raise said_by_device(error) from None
    return packed(json_response({"ok": True, **answer}))


@views.post("/<game_id>/round")
@documented(
    "player",
    query={"first": text(20)},
    media="image/*",
    answer=fields(ok=FLAG, id=TEXT, width=WHOLE, height=WHOLE, cards=listed(CARD), igloos=listed(IGLOO)),
)
def read_round(game_id: str) -> Response:
    """Read a photo of a round (the body): igloos as placed, or upturned, then with ``?first=``, the first one's id.

    While a game is open, only its cards and its players' colours are thought of.
    """
    member()
    rounds = _round_of(game_id)
    first = request.args.get("first")
    if first is not None and not READING.fullmatch(first):
        raise bad_field("first")
    only: list[str] = []
    colours: list[str] = []
    with companion().night.standing() as night:
        match = night.match
        if match is not None and match.game.id == game_id and match.ending is None:
            only, colours = rounds.lying(match.state), list(match.colours)
    try:
        answer = companion().cards.round(game_id, photo_body(), first, only, colours)
    except BadDataError as error:
        raise said_by_device(error) from None
    return packed(json_response({"ok": True, **answer}))


@views.post("/<game_id>/judge")
@documented(
    "player",
    body=fields(("match",), cards=listed(SEEN), match=FLAG),
    answer=fields(ok=FLAG, moves=listed(TEXT), results=listed(OBJECT), players=listed(OBJECT), open=WHOLE),
)
def judge(game_id: str) -> Response:
    """Score a round as it was read and corrected: what each card comes to, and the moves that would enter it.

    ``match``: in the open match, as it stands; else as a round of its own. Nothing is entered.
    """
    member()
    rounds = _round_of(game_id)
    body = json_body()
    inside = body.get("match", False)
    if not isinstance(inside, bool):
        raise bad_field("match")
    try:
        with companion().night.standing() as night:
            state = night.match.state if inside and night.match is not None else None
            if inside and state is None:
                raise RefusedError(409, "no-match", "No game is open.")
            answer = rounds.judge(body.get("cards"), state)
    except RulesError as error:
        return refusal(400, "no-round", error.words.to_json())
    return packed(json_response({"ok": True, **answer}))
