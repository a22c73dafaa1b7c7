"""What the page may ask of the camera at the table: the Protocol that ``companion/follow`` implements.

Pictures and what is read in them are for those who take part; how the following stands is for everybody. Errors are
:class:`companion.ports.BadDataError` with one sentence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypedDict

from companion.rules.core import JSON

if TYPE_CHECKING:
    from companion.night.answers import Actor, CommandResult


class PlaceRead(TypedDict):
    """What lies in a place, how likely that is, and whether a person had better check it."""

    ground: str
    things: list[JSON]
    p: float
    unsure: bool


class BoardPose(TypedDict):
    """Where a board lies in the frame: corners and cells in pixels, ``error_place`` in percent of a place."""

    how: str
    size: list[int]
    corners: list[list[float]]
    error_px: float
    error_place: float
    moved: bool
    cells: dict[str, list[list[float]]]


class BoardInFrame(TypedDict):
    """A game's board at the table: where it lies, what was taught, what the record says, and what is read there now."""

    game: str
    board: BoardPose | None
    taught: bool
    lessons: int
    learning: bool
    note: str
    grounds: list[str]
    things: list[dict[str, JSON]]
    followed: bool
    record: dict[str, JSON] | None
    seen: dict[str, PlaceRead] | None


class Untaught(TypedDict):
    """What was never taught: it is read as something else where it lies."""

    grounds: list[str]
    things: list[dict[str, JSON]]


class SheetReading(TypedDict):
    """A photo read for a score sheet; cells are corners in the photo."""

    width: int
    height: int
    places: dict[str, PlaceRead]
    cells: dict[str, list[list[float]]]
    grounds: list[str]
    things: list[dict[str, JSON]]
    untaught: Untaught
    note: str


class CandidateForm(TypedDict):
    """What the camera holds for possible, drawn."""

    n: int
    kind: str
    p: float
    back: JSON
    moves: list[dict[str, str]]
    places: list[str]
    svg: str


class LyingForm(TypedDict):
    """A board that no legal turn leaves so: what lies otherwise, drawn; whose turn it may be; why it cannot be so."""

    places: list[str]
    svg: str
    turn: str
    turns: list[str]
    problem: dict[str, str] | None


class OpenQuestionForm(TypedDict):
    """What the camera asks: ``kind`` is ``turn``, ``new``, ``unseen`` or ``disagreement``."""

    id: str
    kind: str
    game: str
    places: list[str]
    svg: str
    number: int
    candidates: list[CandidateForm]
    lies: LyingForm | None


class CameraApi(Protocol):
    """Where the board lies, what was taught, the game that is followed, and disputes by photo."""

    def status(self) -> Mapping[str, Any]:
        """Return how the following stands; it goes to every page.

        ``{"following", "state", "note", "asking": id or null, "places", "everyone": whether every player may answer,
        "settle_tenths"}``.
        """
        ...

    def sentences(self) -> frozenset[str]:
        """Return all that may be told of camera, board and following: the message ids of their notes."""
        ...

    def board(self, game_id: str) -> dict[str, Any]:
        """Return a :class:`BoardInFrame`."""
        ...

    def look(self, game_id: str) -> dict[str, Any]:
        """Return what lies in each place of the newest picture, read now."""
        ...

    def calibrate(self, game_id: str, corners: Sequence[Sequence[float]] | None) -> None:
        """Find the board in the newest picture, by four corners (frame pixels) where they are given."""
        ...

    def teach(self, game_id: str, places: Mapping[str, Any] | None) -> None:
        """Teach the newest picture what lies in it: these places, or with None all that the record says."""
        ...

    def follow(self, on: bool) -> None:
        """Follow the game, or stop."""
        ...

    def question(self, lang: str) -> dict[str, Any] | None:
        """Return the open question with its candidates drawn, an :class:`OpenQuestionForm`."""
        ...

    def answer(self, question_id: str, choice: int | None, by: Actor) -> CommandResult:
        """Answer the open question by a candidate's number, or with None: none of these."""
        ...

    def resolve(self, question_id: str, way: str) -> None:
        """Leave a disagreement: people put the ``board`` right, or the ``record`` is right and the camera learns."""
        ...

    def agree(self, question_id: str, turn: str | None, by: Actor) -> CommandResult:
        """Go on from the board as it lies, whatever led there, with the turn of a colour (None: of the next)."""
        ...

    def take_photo(self, who: str, which: str, data: bytes | None, game_id: str) -> dict[str, Any]:
        """Read a photo (None: the camera's newest picture) as somebody's ``before`` or ``after``."""
        ...

    def sheet(self, game_id: str, data: bytes | None) -> dict[str, Any] | None:
        """Return a photo (None: the newest picture) as a :class:`SheetReading`; None where nothing was taught."""
        ...

    def rule(self, who: str, game_id: str, *, record: bool, lang: str) -> Mapping[str, Any]:
        """Return the ruling on what lies between somebody's photos, or between the record and the second one."""
        ...

    def ruled_photo(self, who: str) -> bytes | None:
        """Return the photo with somebody's last ruling drawn over it, as JPEG."""
        ...
