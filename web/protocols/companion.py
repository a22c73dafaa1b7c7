"""All that the page may ask of the house: the Protocol that ``companion/service/`` implements.

The page knows no device: it asks the house, and the house answers with the frozen values of
:mod:`companion.ports`. What the house publishes on its hub has the forms of :mod:`web.http.json_forms`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from companion.access.store import Access
    from companion.events.hub import Hub
    from companion.night.album import Album
    from companion.night.answers import Actor, CommandResult
    from companion.night.backup.retention import BackupRetention
    from companion.night.commands.ballot import Ballots
    from companion.night.commands.box_contents import Boxes
    from companion.night.commands.night import Night
    from companion.night.commands.votes import Votes
    from companion.night.log.pictures import EvidenceStore
    from companion.night.people import People
    from companion.ports import (
        CameraStatus,
        CountPosterior,
        EvidencePicture,
        IglooStatus,
        Motion,
        SimulatedAction,
        TableStatus,
    )
    from companion.practice.practice_run import PracticeRun
    from companion.settings import Settings
    from web.protocols.camera import CameraApi
    from web.protocols.cards import CardsApi


class CalibrationApi(Protocol):
    """What is measured of an igloo, one sitting at a time, never in a live round; answers are JSON for the page.

    Methods raise :class:`companion.ports.DeviceError` or :class:`companion.ports.BadDataError` with one constant
    sentence, and KeyError for a recording that there is not. ``key`` is an igloo's, or "" for any.
    """

    def state(self) -> dict[str, Any]:
        """Return what the sitting is at: the data of topic ``bench``; in a live round only that it is hidden."""
        ...

    def overview(self) -> dict[str, Any]:
        """Return igloos, calibrations and recordings, beside the state."""
        ...

    def calibrate(
        self, key: str, *, person: str, guided: bool, way: str, anew: bool = False, resume: str | None = None
    ) -> None:
        """Begin to calibrate (``way`` is ``cap`` or ``filled``), or go on with a recording."""
        ...

    def record(self, key: str, *, person: str, guided: bool, count: int) -> None:
        """Begin to record shakes of so many beads."""
        ...

    def referee(self, key: str, *, person: str, free: bool = False) -> None:
        """Begin the referee's count, guided or by free shakes."""
        ...

    def alter(self, *, count: int | None = None, paused: bool | None = None, person: str | None = None) -> None:
        """Change what the sitting takes the next shake for, or let it rest."""
        ...

    def other_hand(self) -> None:
        """Say that somebody else shakes from now on, in the referee's count."""
        ...

    def take_back(self) -> None:
        """Forget the last shake."""
        ...

    def keep(self) -> None:
        """Count by what was gathered from now on."""
        ...

    def stop(self) -> None:
        """End the sitting."""
        ...

    def shake_simulated(self) -> None:
        """Shake the simulated igloo with the number that is asked for."""
        ...

    def choose(self, device: str, *, use: bool | None, person: str | None) -> None:
        """Choose whether a calibration counts, and whose hand shakes."""
        ...

    def undo(self, device: str) -> None:
        """Bring back the calibration before the last."""
        ...

    def forget(self, device: str) -> None:
        """Remove a calibration."""
        ...

    def recording(self, name: str) -> bytes:
        """Return a recording as a labelled .npz file."""
        ...

    def forget_recording(self, name: str) -> None:
        """Remove a recording."""
        ...


class IgloosApi(Protocol):
    """The sensor igloos of this table."""

    def statuses(self) -> Sequence[IglooStatus]:
        """Return every igloo that is known, with its health."""
        ...

    def motion(self) -> Motion | None:
        """Return the newest change of motion, if there was one."""
        ...

    def count(self) -> CountPosterior | None:
        """Return the newest bead count; None while a live round hides it."""
        ...

    @property
    def simulated(self) -> bool:
        """Return whether a simulated igloo is there to be played with."""
        ...

    def simulate(self, action: SimulatedAction, count: int | None = None) -> None:
        """Do something to the simulated igloo; ``count`` (2 … 13) chooses the beads of a shake.

        :raises companion.ports.DeviceError: when no simulated igloo is there, in one sentence.
        """
        ...


class CameraServiceApi(Protocol):
    """The newest picture, from a camera or from a phone."""

    def status(self) -> CameraStatus | None:
        """Return the health of the camera, or None when no source was chosen."""
        ...

    def table(self) -> TableStatus | None:
        """Return what the newest picture shows of the markers, or None when there is no picture."""
        ...

    def jpeg(self, which: str) -> bytes | None:
        """Return the newest ``frame`` or the newest straightened ``table`` as JPEG, or None."""
        ...

    def choose(self, text: str) -> None:
        """Change the source of pictures (``usb:0``, ``pi``, an http address, or empty for none) and remember it.

        :raises companion.ports.BadDataError: for a text that names no source, in one sentence.
        """
        ...

    def take_photo(self, data: bytes) -> TableStatus:
        """Take a photo that a phone sent as the newest picture.

        :raises companion.ports.BadDataError: when it is no picture, or too large a one, in one sentence.
        """
        ...

    def keep_evidence(self) -> EvidencePicture | None:
        """Keep the newest picture beside the journal and enter it in the open match; None without a picture."""
        ...


class BalanceApi(Protocol):
    """The referee's balance, never in a live round; answers are JSON for the page.

    Methods raise :class:`companion.ports.DeviceError` or :class:`companion.ports.BadDataError` with one constant
    sentence.
    """

    def state(self) -> dict[str, Any]:
        """Return what the balance is at: the data of topic ``balance``; in a live round only that it is hidden."""
        ...

    def appoint(self, key: str) -> None:
        """Make a connected device the balance; "": none is."""
        ...

    def weigh(self, what: str, value: float = 0.0) -> None:
        """Listen to one weighing: ``tare``, ``grams``, ``beads`` or ``unknown``."""
        ...

    def stop(self) -> None:
        """Leave the present weighing."""
        ...

    def take_back(self) -> None:
        """Forget the last weighing that was no tare."""
        ...

    def anew(self) -> None:
        """Forget the weighings of this sitting."""
        ...

    def keep(self) -> None:
        """Calibrate by what was weighed."""
        ...

    def box(self, what: str, igloo: int = 0) -> None:
        """Check a box: ``begin``, or its empty ``shells``; ``choose`` an igloo, it ``was`` another one, ``end``."""
        ...


class ButtonsApi(Protocol):
    """The buttons of the table, real ones or those on a phone."""

    def press(self, button: str, by: Actor) -> CommandResult | None:
        """Press ``next``, ``shake`` or ``dispute``; None for the last, which changes nothing."""
        ...


class CompanionApi(Protocol):
    """The running companion as the page sees it: a record of its parts. They may be called from any thread."""

    @property
    def version(self) -> str:
        """Return the version of the companion."""
        ...

    @property
    def night(self) -> Night:
        """Return the one writer of the journal."""
        ...

    @property
    def hub(self) -> Hub:
        """Return where changes are published: ``state``, ``igloo``, ``motion``, ``count``, ``wave``, ``bench``,
        ``balance``, ``camera``, ``ballot``, ``notice``.
        """
        ...

    @property
    def access(self) -> Access:
        """Return who may do what: host links, the table's PIN, sessions."""
        ...

    @property
    def igloos(self) -> IgloosApi:
        """Return the sensor igloos, and the simulated one."""
        ...

    @property
    def camera_service(self) -> CameraServiceApi:
        """Return the source of pictures."""
        ...

    @property
    def pictures(self) -> EvidenceStore:
        """Return the pictures that were kept as evidence."""
        ...

    @property
    def buttons(self) -> ButtonsApi:
        """Return the buttons of the table."""
        ...

    @property
    def portrait(self) -> Callable[[bytes], bytes]:
        """Return what makes a small square JPEG of a photo, or raises :class:`companion.ports.BadDataError`."""
        ...

    @property
    def boxes(self) -> Boxes:
        """Return what an owner entered of the real boxes."""
        ...

    @property
    def votes(self) -> Votes:
        """Return how the house voted where a rulebook is silent."""
        ...

    @property
    def ballots(self) -> Ballots:
        """Return the votes that the table casts on its phones."""
        ...

    @property
    def training(self) -> PracticeRun:
        """Return the training room: shake-counting as a game."""
        ...

    @property
    def people(self) -> People:
        """Return the people of the house."""
        ...

    @property
    def album(self) -> Album:
        """Return the games of each evening with their last pictures."""
        ...

    @property
    def backup_retention(self) -> BackupRetention:
        """Return the backups beside the journal."""
        ...

    @property
    def calibration_run(self) -> CalibrationApi:
        """Return the bench on which an igloo is calibrated, recorded, and counted for the referee."""
        ...

    @property
    def balance_run(self) -> BalanceApi:
        """Return the referee's balance."""
        ...

    @property
    def settings(self) -> Settings:
        """Return the settings of the house."""
        ...

    @property
    def follow_service(self) -> CameraApi:
        """Return the camera at the table: where the board lies, what was taught, the game it follows."""
        ...

    @property
    def cards(self) -> CardsApi:
        """Return what is known of the games' cards: taught by photos, read in photos."""
        ...

    def health(self) -> dict[str, Any]:
        """Return the JSON of ``/api/health``: version, devices with their kind, the open match, journal position."""
        ...

    def addresses(self) -> Sequence[str]:
        """Return the addresses (``http://host:port``) under which phones reach the page, the best first."""
        ...

    def other_devices(self) -> dict[str, Any]:
        """Return ``{"panel", "mqtt"}``: how buttons and lights and the line to a broker are doing; null for none."""
        ...

    def check_up(self) -> list[dict[str, Any]]:
        """Return what the doctor finds: ``{"check", "state", "en", "fr", "cure": {"en", "fr"} or null, "facts"}``."""
        ...
