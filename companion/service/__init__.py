"""The composition root: the only place, with cli/, where the rooms meet.

It opens a data folder, finds the devices, listens to the igloos behind a gate that is closed in live rounds,
watches the camera, and serves the page. It implements :class:`web.protocols.companion.CompanionApi`, which is all the
page may ask.
"""

from __future__ import annotations

import fcntl
import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from companion import __version__
from companion.access.store import open_or_begin_anew
from companion.calibrating.balance_run import BalanceRun
from companion.calibrating.calibration_run import CalibrationRun
from companion.calibrating.store import device_name
from companion.events.hub import Hub, Subscription
from companion.follow import TABLES
from companion.follow.api import FollowService
from companion.follow.camera import CameraService
from companion.follow.cards import CardTable
from companion.follow.pictures import Moment, forget_old, moment, portrait, worth_a_picture
from companion.night.album import Album
from companion.night.backup.restore import settle
from companion.night.backup.retention import BackupRetention
from companion.night.commands.ballot import Ballots
from companion.night.commands.box_contents import Boxes
from companion.night.commands.igloo_watch import RoundWatch
from companion.night.commands.night import Night
from companion.night.commands.votes import Votes
from companion.night.games import shown_games
from companion.night.log.data_folder import (
    ACCESS,
    BALLOTS,
    BOXES,
    EVIDENCE,
    JOURNAL,
    VOTES,
    own_file,
    remove_address,
    write_address,
)
from companion.night.log.database import StorageError
from companion.night.log.pictures import EvidenceStore
from companion.night.log.salvage import open_or_salvage
from companion.night.people import People
from companion.night.views.damage import damage_report
from companion.ports import (
    BadDataError,
    CountPosterior,
    DeviceState,
    Motion,
)
from companion.practice.database import PracticeDatabaseError
from companion.practice.shakes import TrainingError
from companion.service.addresses import page_urls
from companion.service.buttons import Buttons
from companion.service.igloos import Igloos
from companion.service.maintenance import Maintenance
from companion.service.messages import BROKER_AWAY
from companion.service.options import DataFolderBusyError, ServeOptions
from companion.service.practice import TRAINING, TablePracticeIgloo, practice_run
from companion.service.waveform import Waves
from companion.settings import Settings
from web.http.json_forms import CameraForm, camera_form, count_form, igloo_form, igloos_form, motion_form

if TYPE_CHECKING:
    from companion.service.mqtt import MqttPublisher

AGAIN_S = 0.5
"""How long a request that starts the service anew has to be answered."""

HEALTH_EVERY_S = 1.0
"""How often the page hears of the devices' health, if it changed."""

TIDY_EVERY_S = 3600.0
"""How often pictures that are older than the host wants are looked for."""

log = logging.getLogger(__name__)


class Service:
    """The running companion over one data folder; its Protocol is :class:`web.protocols.companion.CompanionApi`."""

    version = __version__

    def __init__(self, options: ServeOptions) -> None:
        """Open the data folder: settings, journal, access, pictures. Devices start with :meth:`start`.

        :raises DataFolderBusyError: when another service uses the folder.
        :raises companion.night.log.database.StorageError: when the journal is damaged or cannot be read.
        """
        self.options = options
        try:
            options.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise BadDataError(f"The data folder {options.data} cannot be used: {error.strerror}.") from error
        self._folder_lock = _lock_folder(options.data)
        settle(options.data)
        self.settings = Settings(options.data / "settings.json")
        self.hub = Hub()
        self._journal = open_or_salvage(options.data / JOURNAL)
        self.boxes = Boxes(options.data / BOXES)
        self.votes = Votes(options.data / VOTES)
        self.ballots = Ballots(options.data / BALLOTS, self.votes)
        damage = damage_report(self._journal, options.data)
        self._journal.own_up()
        offered = shown_games(examples=options.example_games)
        self.night = Night(self._journal, self.hub, boxes=self.boxes, damage=damage, offered=offered)
        for one in damage:
            log.error("%s", one["en"])
        self.access, self.access_note = open_or_begin_anew(options.data / ACCESS, self.settings)
        self.pictures = EvidenceStore(options.data / EVIDENCE)
        self.portrait = portrait
        self._maintenance = Maintenance(options.data, self._journal, self.settings, self.hub)
        self._watch = RoundWatch(self.night)
        self.igloos = Igloos(
            port=options.igloo,
            simulate=options.simulate,
            settings=self.settings,
            gate=self.night.gate,
            on_motion=self._on_motion,
            on_count=self._on_count,
            is_balance=lambda key, kind: self.balance_run.is_balance(key, kind),  # noqa: PLW0108 - it comes after this
            known=lambda key, kind: self.calibration_run.calibrations.calibrated_model(device_name(key, kind)),
        )
        self.balance_run = BalanceRun(
            options.data,
            self.hub,
            statuses=self.igloos.every_status,
            gate=self.night.gate,
            changed=self.igloos.sort_anew,
        )
        self.igloos.subscribe_balance(self.balance_run.hear)
        self.calibration_run = CalibrationRun(
            options.data,
            self.hub,
            statuses=self.igloos.statuses,
            gate=self.night.gate,
            shake=self.igloos.shake_for,
        )
        self.igloos.subscribe(self.calibration_run.hear)
        waves = Waves(self.hub, gate=self.night.gate)
        self.igloos.subscribe(waves.hear)
        self._ear = TablePracticeIgloo(self.igloos.statuses)
        self.igloos.subscribe(self._ear.hear)
        self.training = practice_run(
            options.data / TRAINING,
            self._ear,
            gate=self.night.gate,
            keep=lambda: self.settings.number("keep_shakes"),
        )
        self.people = People(options.data, self._journal, self.night, renamed=self._renamed)
        self.album = Album(self._journal, self.night)
        self.backup_retention = BackupRetention(
            options.data, keep=lambda: self.settings.number("nightly_backups"), again=self._begin_again
        )
        self.again = False
        self._end: Callable[[], None] = lambda: None
        self.buttons = Buttons(self.night, self.hub, self.settings.lines("panel_pins"))
        self._mqtt: MqttPublisher | None = None
        self._mqtt_note = ""
        self.camera_service = CameraService(
            self.settings, self.pictures, on_view=self._publish_camera, on_kept=self.night.add_evidence
        )
        self.cards = CardTable(options.data / TABLES)
        self.follow_service = FollowService(
            options.data / TABLES,
            self.night,
            self.settings,
            self.camera_service,
            self.cards,
            on_change=self._publish_camera,
        )
        self._closing = threading.Event()
        self._threads: list[threading.Thread] = []
        self._urls: list[str] = []

    # --- life ------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start looking for devices and telling the page of them."""
        self.camera_service.use(self.options.camera or self.settings.text("camera_source"))
        self.follow_service.start()
        self.calibration_run.start()
        self.igloos.start()
        self._maintenance.start()
        self.buttons.start()
        self._start_mqtt()
        # What is played while the threads begin counts, too.
        states, begun = self.hub.subscribe(["state"]), moment(self.night.view())
        for name, work in (
            ("tell health", self._tell_health),
            ("keep pictures", lambda: self._keep_pictures(states, begun)),
        ):
            thread = threading.Thread(target=work, name=name, daemon=True)
            thread.start()
            self._threads.append(thread)

    def _start_mqtt(self) -> None:
        """Tell the house's automation, where the owner named a broker; what is wrong with it is said, and no more."""
        address = self.settings.text("mqtt_address")
        if not address:
            return
        from companion.service.mqtt import MqttPublisher, broker, state_of

        def state() -> dict[str, Any]:
            # The count is asked last: a round that has begun since hides it.
            view = self.night.view()
            count = self.igloos.count()
            return state_of(view, None if count is None else count.count)

        try:
            self._mqtt = MqttPublisher(broker(address), self.hub, state)
        except BadDataError as error:
            log.error("%s", error)
            self._mqtt_note = str(error)
            return
        self._mqtt.start()

    def other_devices(self) -> dict[str, Any]:
        """Return how the panel and the line to the home's automation are doing, as JSON; null where there is none."""
        panel, mqtt = self.buttons.status(), None
        if self._mqtt is not None:
            up = self._mqtt.connected
            state = DeviceState.CONNECTED if up else DeviceState.SEARCHING
            mqtt = {"state": str(state), "note": "" if up else BROKER_AWAY}
        elif self._mqtt_note:
            mqtt = {"state": str(DeviceState.FAULTY), "note": self._mqtt_note}
        return {"panel": None if panel is None else panel.to_json(), "mqtt": mqtt}

    def check_up(self) -> list[dict[str, Any]]:
        """Return what the doctor finds: check, state, the sentence in each language, the cure or null."""
        from companion.service.checkup import check_up

        return [finding.to_json() for finding in check_up(self.options.data)]

    def announce(self, port: int, scheme: str = "http") -> list[str]:
        """Note the addresses of the page, best first, also for `companion host`."""
        self._urls = page_urls(self.options.host, port, scheme)
        write_address(self.options.data, self._urls)
        return self._urls

    def close(self) -> None:
        """Stop the devices and close the journal; what was acknowledged is on disk already."""
        self._closing.set()
        if self._mqtt is not None:
            self._mqtt.close()
        self.hub.close()
        self.buttons.close()
        self.igloos.close()
        self.calibration_run.close()
        self.balance_run.close()
        self.follow_service.close()
        self.camera_service.close()
        self._maintenance.close()
        for thread in self._threads:
            thread.join(timeout=5)
        remove_address(self.options.data)
        self.access.close()
        self.training.close()
        self._journal.close()
        os.close(self._folder_lock)

    def describe(self) -> list[str]:
        """Return a line a device for the terminal: what was found, and what is missing."""
        lines = []
        for status in self.igloos.every_status():
            driver = f", {status.protocol}" if status.protocol else ""
            unit = f", unit {status.unit}" if status.unit else ""
            rate = f", {status.nominal_hz:.0f} Hz" if status.nominal_hz else ""
            how = f"{status.state} ({status.kind}) at {status.port}{driver}{unit}{rate}"
            name = "Balance" if self.balance_run.is_balance(status.key, status.kind) else "Igloo"
            lines.append(f"{name} {status.key}: {how}. {status.note}")
        camera = self.camera_service.status()
        if camera is not None:
            lines.append(f"Camera {camera.source}: {camera.state} ({camera.kind}). {camera.note}")
        panel = self.buttons.status()
        if panel is not None:
            words = " ".join(part for part in (panel.note, panel.detail) if part)
            lines.append(f"Panel: {panel.state} ({panel.kind}). {words}")
        if not self.igloos.statuses():
            lines.insert(0, "No sensor igloo is connected.")
        if camera is None:
            lines.append("No camera is chosen.")
        return [line.strip() for line in lines]

    def when_again(self, end: Callable[[], None]) -> None:
        """Have ``end`` called when the service is to end and to be started anew: :attr:`again` is true then."""
        self._end = end

    def _begin_again(self) -> None:
        self.again = True
        # Whoever asked for it hears that it is done before the line is cut.
        threading.Timer(AGAIN_S, self._end).start()

    def _renamed(self, old: str, new: str | None) -> None:
        """Give who trains, and phones, the name that a person has now, or none."""
        self.access.relabel(old, new or "")
        try:
            for trainer in self.training.people():
                if trainer.name.casefold() != old.casefold():
                    continue
                # In a house a name is one person: who is made one with somebody trains as one, too.
                kept = next((one.id for one in self.training.people() if one.name == new), None)
                if kept is None:
                    self.training.rename(trainer.id, new)
                else:
                    self.training.merge(trainer.id, kept)
        except (TrainingError, PracticeDatabaseError) as error:
            log.warning("The training book keeps a name: %s", error)
        try:
            self.calibration_run.rename(old, new)
        except (BadDataError, OSError) as error:
            log.warning("An igloo's shakes keep a name: %s", error)

    # --- what the page asks ----------------------------------------------------------------------------------

    def addresses(self) -> Sequence[str]:
        """Return the addresses of the page, best first."""
        return self._urls

    def health(self) -> dict[str, Any]:
        """Return version, devices with their kind, the open match and the journal's position."""
        view = self.night.view()
        match = view["match"]
        devices: list[dict[str, Any]] = [
            {"device": "igloo", **igloo_form(status)} for status in self.igloos.every_status()
        ]
        camera = self.camera_service.status()
        if camera is not None:
            devices.append({"device": "camera", "kind": camera.kind, "state": camera.state, "source": camera.source})
        panel = self.buttons.status()
        if panel is not None:
            devices.append({"device": "panel", "kind": panel.kind, "state": panel.state, "note": panel.note})
        return {
            "version": __version__,
            "devices": devices,
            "match": None if match is None else {key: match[key] for key in ("id", "game", "phase", "round", "over")},
            "journal": {"seq": view["seq"], "state": view["state"]},
            "live_round": self.night.live_round(),
            "backups": self._maintenance.status(),
            "started": _STARTED,
            "uptime_s": round(time.monotonic() - _STARTED_S, 1),
        }

    # --- what the devices say --------------------------------------------------------------------------------

    def _on_motion(self, motion: Motion) -> None:
        self.hub.publish("motion", motion_form(motion))
        try:
            fault = self._watch.on_motion(motion)
        except StorageError as error:
            log.error("A breach could not be written: %s", error)
            return
        if fault is not None:
            self.hub.publish("notice", {"fault": fault})

    def _on_count(self, posterior: CountPosterior) -> None:
        self._ear.counted(posterior)
        self.hub.publish("count", count_form(posterior, self.night.gate))

    def _publish_camera(self) -> None:
        self.hub.publish("camera", self._camera_form())

    def _camera_form(self) -> CameraForm:
        camera = self.camera_service
        return camera_form(camera.status(), camera.table(), self.follow_service.status())

    def _tell_health(self) -> None:
        """Tell the page of the devices' health when it changed, and that a round hides or shows the count."""
        last: dict[str, Any] = {}
        tidied = -TIDY_EVERY_S
        while not self._closing.wait(HEALTH_EVERY_S):
            if time.monotonic() - tidied > TIDY_EVERY_S:
                tidied = time.monotonic()
                if self._maintenance.may_forget():
                    forget_old(self.pictures.folder, self.settings.number("keep_pictures_days"))
            self.balance_run.look()
            count = count_form(self.igloos.count(), self.night.gate)
            news = {
                "igloo": igloos_form(self.igloos.statuses(), simulated=self.igloos.simulated),
                "camera": camera_form(
                    self.camera_service.status(), self.camera_service.table(), self.follow_service.status()
                ),
            }
            if count["hidden"] != last.get("hidden"):
                last["hidden"] = count["hidden"]
                self.hub.publish("count", count)
            for topic, data in news.items():
                if data != last.get(topic):
                    last[topic] = data
                    self.hub.publish(topic, data)

    def _keep_pictures(self, states: Subscription, before: Moment) -> None:
        """Keep a picture of the table when a round goes to the check and when its result stands."""
        with states:
            while not self._closing.is_set():
                event = states.get(timeout=1.0)
                if states.lagging:
                    states.caught_up()
                elif event is None:
                    continue
                now = moment(self.night.view())
                if now == before:
                    continue
                turned, before = (before, now), now
                if self.settings["evidence_each_round"] and worth_a_picture(*turned):
                    try:
                        self.camera_service.keep_evidence(fresh=True)
                    except OSError as error:
                        log.error("A picture could not be kept: %s", error)


_STARTED, _STARTED_S = token_hex(8), time.monotonic()


def _lock_folder(folder: Path) -> int:
    """Hold the data folder for this process; the lock goes with the process, however it ends."""
    try:
        handle = own_file(folder / "lock", os.O_RDWR | os.O_CREAT)
    except OSError as error:
        raise BadDataError(
            f"The data folder {folder} cannot be written: {error.strerror}. "
            "companion backup --stick still copies the nights; companion doctor says more."
        ) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        raise DataFolderBusyError(f"Another companion already uses the data folder {folder}.") from error
    return handle
