"""The API of the referee's balance: which device it is, tare, calibrate, and count; in a live round there is none.

What it is at is in ``GET /api/balance`` and, as it happens, in the events ``balance`` of the stream.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal, TypedDict

from flask import Blueprint
from msgspec import Meta

from companion.ports import COUNTS
from companion.rules.core import JSON
from web.api.igloo import device_refusals
from web.http.openapi import documented
from web.http.requests import Body
from web.http.responses import RefusedError, bad_field
from web.http.sessions import companion
from web.protocols.companion import BalanceApi

views = Blueprint("api_balance", __name__, url_prefix="/api/balance")

MOST_G = 2000.0


class BalanceState(TypedDict):
    """What the balance is at; in a live round only that it is hidden. Of two the one with the higher revision holds."""

    hidden: bool
    revision: int
    now: dict[str, JSON] | None


class BalanceAnswer(BalanceState):
    """What the balance is at, now that it was done."""

    ok: Literal[True]


class BalanceRole(Body, frozen=True):
    """Which connected device is the balance; empty: none."""

    key: Annotated[str, Meta(max_length=200)] = ""


class WeighingRequest(Body, frozen=True):
    """What is weighed: ``value`` is grams or beads where they are known, or the sticker of an unknown igloo."""

    what: Literal["tare", "grams", "beads", "unknown"]
    value: Annotated[float, Meta(ge=0, le=MOST_G)] = 0.0


class BoxCheckRequest(Body, frozen=True):
    """What is so: a box, or its empty shells, are begun; this igloo is the next, or was the last; these are all."""

    do: Literal["begin", "shells", "choose", "was", "end"]
    igloo: int = 0


def _balance() -> BalanceApi:
    """Return the balance, when no round is live.

    :raises RefusedError: while a round is live.
    """
    if not companion().night.gate.is_open():
        raise RefusedError(409, "live-round", "A round is live: until it is over, nothing is weighed.")
    return companion().balance_run


def _done(work: Callable[[], None]) -> BalanceAnswer:
    """Do something at the balance and answer what it is at; its refusals become ours."""
    with device_refusals("balance"):
        work()
    state = companion().balance_run.state()
    return {"ok": True, "hidden": state["hidden"], "revision": state["revision"], "now": state["now"]}


@views.get("")
@documented("player", answer=BalanceState)
def overview() -> dict[str, JSON]:
    """Answer which device is the balance, how good it is, and what was weighed last."""
    return companion().balance_run.state()


@views.post("/role")
@documented("player")
def role(body: BalanceRole) -> BalanceAnswer:
    """Say which connected device is the balance: from then on it counts no shakes and enters no round."""
    balance = _balance()
    return _done(lambda: balance.appoint(body.key))


@views.post("/weigh")
@documented("player")
def weigh(body: WeighingRequest) -> BalanceAnswer:
    """Listen to three taps: the empty platform, a known weight, an igloo of known beads, or one to be counted."""
    balance = _balance()
    stickers = {"beads": COUNTS, "unknown": (0, *COUNTS)}.get(body.what)
    if (stickers and body.value not in stickers) or (body.what == "grams" and body.value == 0):
        raise bad_field("value")
    return _done(lambda: balance.weigh(body.what, body.value))


@views.post("/stop")
@documented("player")
def stop() -> BalanceAnswer:
    """Leave the present weighing."""
    return _done(companion().balance_run.stop)


@views.post("/take-back")
@documented("player")
def take_back() -> BalanceAnswer:
    """Forget the last weighing that was no tare."""
    return _done(_balance().take_back)


@views.post("/anew")
@documented("player")
def anew() -> BalanceAnswer:
    """Forget the weighings of this sitting; the calibration stays."""
    return _done(_balance().anew)


@views.post("/keep")
@documented("player")
def keep() -> BalanceAnswer:
    """Calibrate by what was weighed, and answer how good the balance is and what is to be mended."""
    return _done(_balance().keep)


@views.post("/box")
@documented("player")
def box(body: BoxCheckRequest) -> BalanceAnswer:
    """Check a whole box: igloo after igloo is put on and tapped, and at the end it is told what each holds."""
    balance = _balance()
    if body.do in {"choose", "was"} and body.igloo not in COUNTS:
        raise bad_field("igloo")
    return _done(lambda: balance.box(body.do, body.igloo))
