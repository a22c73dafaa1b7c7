"""The referee by photo: from before and after, or from the record and a photo, to a ruling drawn over the photo."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from companion.follow import messages
from companion.follow.evidence import certain
from companion.night.games import game_view
from companion.night.games.board import BoardView
from companion.night.views.boards import cited
from companion.ports import BadDataError
from companion.rules.core import InvalidMoveError, Ruling, State
from companion.rules.inference.explain import explain_best
from companion.rules.inference.explanation import Explanation
from companion.rules.inference.turns import cases
from companion.rules.rulebook import rulebook
from vision.board.draw_ruling import draw_ruling
from vision.decode.photo import read_photo, to_jpeg

if TYPE_CHECKING:
    from companion.follow.table_model import SeenTable
    from companion.night.commands.night import MatchSnapshot
    from companion.ports import ByteArray
    from vision.read.reader import BoardLook

KEPT: Final = 8
"""Pairs of photos that are kept: one for each phone that asks, the oldest go."""
SHARED: Final = ("players", "options", "layout", "box", "packs", "powers", "first")


@dataclass(frozen=True)
class Photo:
    """A photo and what was read in it."""

    image: ByteArray
    seen: BoardLook


@dataclass(frozen=True)
class Ruled:
    """A ruling: its JSON form, the photo it is drawn over, and what was found from which state."""

    ruling: Mapping[str, Any]
    image: ByteArray
    start: State[Any]
    found: Explanation


class DisputePhotos:
    """The photos that phones sent for a dispute, by who sent them and which it is: ``before`` or ``after``."""

    def __init__(self) -> None:
        """Hold none."""
        self._photos: dict[str, dict[str, Photo]] = {}
        self._ruled: dict[str, Ruled] = {}

    def take(self, who: str, which: str, data: bytes, table: SeenTable) -> dict[str, Any]:
        """Read a photo and keep it; return what it shows.

        :raises BadDataError: it is no photo, shows no board, or nothing was taught; one sentence.
        """
        return self.keep(who, which, read_photo(data), table)

    def keep(self, who: str, which: str, image: ByteArray, table: SeenTable) -> dict[str, Any]:
        """Keep a picture that is decoded; see :meth:`take`."""
        seen = table.look(image)
        if not seen.found:
            raise BadDataError(seen.note)
        mine = self._photos.pop(who, {})
        self._photos[who] = {**mine, which: Photo(image, seen)}
        for old in list(self._photos)[:-KEPT]:
            del self._photos[old]
            self._ruled.pop(old, None)
        self._ruled.pop(who, None)
        return {"places": len(seen.places), "unsure": [name for name, place in seen.places.items() if place.unsure]}

    def rule(self, who: str, snapshot: MatchSnapshot | None, *, record: bool, game_id: str, lang: str) -> Ruled:
        """Return the ruling on what lies between the photos of somebody, or between the record and the second one.

        :raises BadDataError: a photo or the record is missing.
        :raises companion.rules.core.RulesError: the first photo shows no position of the game.
        """
        mine = self._photos.get(who, {})
        after = mine.get("after")
        if after is None:
            raise BadDataError(messages.NO_PHOTO_AFTER)
        if record:
            if snapshot is None or snapshot.game != game_id:
                raise BadDataError(messages.NO_RECORD)
            states = [snapshot.states[-1]]
        else:
            before = mine.get("before")
            if before is None:
                raise BadDataError(messages.NO_PHOTO_BEFORE)
            states = cases(game_id, position_of(before.seen, game_id, snapshot))
        ruled = judged(states, after, game_id, lang)
        self._ruled[who] = ruled
        return ruled

    def picture(self, who: str) -> bytes | None:
        """Return the photo with the last ruling drawn over it, as JPEG."""
        ruled = self._ruled.get(who)
        return None if ruled is None else to_jpeg(ruled.image)


def position_of(seen: BoardLook, game_id: str, snapshot: MatchSnapshot | None) -> dict[str, Any]:
    """Return the position that a photo shows; who plays with what is as in the open match of that game."""
    places = {name: place.content.to_json(seen.layout) for name, place in seen.places.items()}
    shared: dict[str, Any] = {}
    if snapshot is not None and snapshot.game == game_id:
        recorded = snapshot.states[-1].position()
        shared = {key: recorded[key] for key in SHARED if recorded.get(key) is not None}
    return {**shared, "game": game_id, "places": places}


def judged(states: list[State[Any]], after: Photo, game_id: str, lang: str) -> Ruled:
    """Return the ruling on how a photo came about from one of these states, drawn over the photo."""
    evidence = certain(after.seen)
    start, found = explain_best(states, evidence)
    wrong = [difference.place for difference in found.differences]
    changed = evidence.misses(start.position())
    ruling = {
        **found.to_json(),
        "wrong": wrong,
        "changed": changed,
        "unsure": [name for name, place in after.seen.places.items() if place.unsure],
        "cited": _cited(game_id, found),
        "svg": _drawn(game_id, start, found, lang),
    }
    pose, layout = after.seen.pose, after.seen.layout
    right = [name for name in changed if name not in wrong] if found.legal or wrong else []
    if pose is None:
        raise BadDataError(after.seen.note)
    if not found.legal and not wrong:
        wrong = changed
    return Ruled(ruling, draw_ruling(after.image, pose, layout, wrong=wrong, right=right), start, found)


def _cited(game_id: str, found: Explanation) -> list[Mapping[str, Any]]:
    book = rulebook(game_id)
    by_id: dict[str, Mapping[str, Any]] = {}
    for _, ruling in (*found.rulings, *found.because):
        by_id.update({str(clause["id"]): clause for clause in cited(book, ruling)})
    return list(by_id.values())


def _drawn(game_id: str, start: State[Any], found: Explanation, lang: str) -> str:
    """Return the position before with the first refused step, or the last step of the turn, drawn into it."""
    view = game_view(game_id)
    if not isinstance(view, BoardView):
        return ""
    if found.legal:
        state, last = start, None
        for move in found.turns[0].moves:
            if str(move) != "end":
                before, last = state, move
            state = state.after(move)
        return view.draw(before, lang, None, last) if last is not None else view.draw(start, lang, None)
    refused: list[tuple[Any, Ruling]] = list(found.rulings)
    for text, _ in refused:
        try:
            return view.draw(start, lang, None, start.game.parse(str(text)))
        except InvalidMoveError:
            continue
    return view.draw(start, lang, None)
