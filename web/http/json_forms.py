"""The JSON forms of device values, on the live stream and in the API: one form, made in one place.

The service publishes ``hub.publish("igloo", igloos_form(...))`` and so on, and the API answers with the same.
Sentences in ``note`` and ``why`` are English message ids; the page translates them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from companion.rules import game, games
from companion.rules.rulebook import rulebook
from web.protocols.companion import CompanionApi

if TYPE_CHECKING:
    from companion.ports import CameraStatus, CountPosterior, IglooStatus, Motion, TableStatus


def igloo_form(status: IglooStatus) -> dict[str, Any]:
    """Return one igloo link: what, where, how fast (Hz), and everything that went wrong on the line."""
    return {
        "key": status.key,
        "kind": str(status.kind),
        "state": str(status.state),
        "port": status.port,
        "unit": status.unit,
        "rate_hz": None if status.rate_hz is None else round(status.rate_hz, 2),
        "nominal_hz": status.nominal_hz,
        "protocol": status.protocol,
        "counts": asdict(status.counts),
        "sensor_state": status.sensor_state,
        "note": status.note,
    }


def igloos_form(statuses: Iterable[IglooStatus], *, simulated: bool) -> dict[str, Any]:
    """Return the data of topic ``igloo``; ``simulated`` says whether the page may offer to play with one."""
    return {"igloos": [igloo_form(status) for status in statuses], "simulated": simulated}


def motion_form(motion: Motion | None) -> dict[str, Any]:
    """Return the data of topic ``motion``; ``state`` is null when nothing was felt yet."""
    if motion is None:
        return {"state": None}
    tilt = None if motion.tilt_deg is None else round(motion.tilt_deg, 1)
    return {"key": motion.key, "state": str(motion.state), "kind": str(motion.kind), "tilt_deg": tilt}


def count_form(count: CountPosterior | None, *, hidden: bool) -> dict[str, Any]:
    """Return the data of topic ``count``; while ``hidden`` it holds nothing that a count could be told from."""
    if hidden or count is None:
        return {"hidden": hidden, "state": None}
    return {"hidden": False, "key": count.key, "kind": str(count.kind), **count.to_json()}


def table_form(table: TableStatus | None) -> dict[str, Any] | None:
    """Return what the newest picture shows of the markers."""
    if table is None:
        return None
    return {
        "markers": list(table.markers),
        "missing": list(table.missing),
        "straight": table.straight,
        "number": table.number,
        "note": table.note,
    }


def camera_form(status: CameraStatus | None, table: TableStatus | None, follow: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data of topic ``camera``; ``camera`` is null when no source was chosen.

    ``follow`` is how the following of the game stands (:meth:`web.protocols.camera.CameraApi.status`).
    """
    camera = None
    if status is not None:
        camera = {
            "source": status.source,
            "kind": str(status.kind),
            "state": str(status.state),
            "width": status.width,
            "height": status.height,
            "fps": round(status.fps, 1),
            "note": status.note,
        }
    return {"camera": camera, "table": table_form(table), "follow": dict(follow)}


def ballot_form(companion: CompanionApi) -> dict[str, Any]:
    """Return the open vote as everybody may know it, with its question and values in every language."""
    form = companion.ballots.form()
    return form if form["option"] is None else {**form, **option_words(form["option"])}


def option_words(option: str) -> dict[str, Any]:
    """Return an option's game, question and values with their words in every language."""
    found = next(one for one in games(examples=True) if any(known.name == option for known in game(one).options))
    values = next(known.values for known in game(found).options if known.name == option)
    text = rulebook(found).option(option)
    return {
        "game": found,
        "question": text.question.to_json(),
        "values": [{"value": value, **text.value(value).to_json()} for value in values],
    }
