"""The training room of the real service, with a recording as its igloo: heard, counted, guessed, told."""

from __future__ import annotations

import io
import wave
from collections.abc import Callable
from pathlib import Path

import numpy as np

from companion.igloo.simulated.device import load_bank
from companion.night.answers import TABLE
from companion.ports import CountPosterior, DeviceKind, DeviceState, IglooStatus, Samples
from companion.practice.sonify import WAV_HZ
from companion.service import Service
from companion.service.options import ServeOptions
from companion.service.practice import TablePracticeIgloo
from tests.worlds.wait import wait


def test_the_igloo_of_the_table_is_heard_guessed_and_told(tmp_path: Path) -> None:
    bank = load_bank()
    which = np.flatnonzero(bank.count == 3)
    recording = tmp_path / "shakes.npz"
    np.savez(recording, accel=bank.accel[which] * (bank.ug_per_lsb * 1e-6), rate_hz=bank.rate_hz)
    service = Service(ServeOptions(tmp_path / "data", igloo=str(recording)))
    service.start()
    try:
        room = service.training
        ann = room.add_person("Ann").id
        wait(room.igloo_kind)
        assert room.igloo_kind() == "recorded"
        dealt = room.listen(ann)
        wait(lambda: room.round(dealt["id"])["state"] == "heard")
        with wave.open(io.BytesIO(room.sound(dealt["id"], "full"))) as sound:
            assert 0.3 < sound.getnframes() / WAV_HZ < 7.0
        assert room.guess(dealt["id"], ann, 4)["state"] == "look"
        told = room.tell(dealt["id"], 3)["result"]
        assert (told["truth"], told["guesses"]) == (3, {str(ann): 4})
        assert sum(told["machine"]) > 0.99
        # A stored shake is judged by the machine that counts for the table.
        stored = room.deal(ann)
        assert len(room.guess(stored["id"], ann, 4)["result"]["machine"]) == 12
        cards = ["4/5", "2", "3/4/5", "6/7", "8", "9/10", "11/12/13", "13", "2/3"]
        players = [{"name": "Ann", "colour": "red"}, {"name": "Bob", "colour": "blue"}]
        match = {"game": "igloo-pop", "players": players, "setup": {"cards": cards}, "draw": False}
        assert service.night.do("open-match", match, by=TABLE, action_id="open-one").ok
        assert service.night.do("moves", {"moves": ["start"]}, by=TABLE, action_id="start-one").ok
        assert service.night.live_round()
        assert room.igloo_kind() is None
        assert room.figures(ann)["overall"]["own"]["answers"] == 1
    finally:
        service.close()
    assert (tmp_path / "data" / "training.sqlite").stat().st_mode & 0o777 == 0o600


class Link:
    """A link whose status a test sets."""

    def __init__(self, kind: DeviceKind) -> None:
        self.kind = kind

    def status(self) -> IglooStatus:
        return IglooStatus("one", self.kind, DeviceState.CONNECTED)

    def subscribe(self, listener: Callable[[Samples], None]) -> Callable[[], None]:
        raise NotImplementedError

    def close(self) -> None: ...


def test_the_ear_keeps_the_shake_alone_and_nothing_of_a_simulated_igloo() -> None:
    flat, began = (1 / 12,) * 12, 1000.0
    for kind, there in ((DeviceKind.REAL, True), (DeviceKind.SIMULATED, False)):
        link = Link(kind)
        ear = TablePracticeIgloo(lambda link=link: [link.status()], clock=lambda: 1000.0)
        assert ear.kind() == (kind if there else None)
        for i in range(300):
            gap = 7 if i == 100 else 0
            ear.hear(link, Samples(np.full((32, 3), float(i)), i * 0.04, 800.0, 32 * i, gap))
        ear.counted(CountPosterior("more", flat, 0.3, key="one", kind=kind))
        assert ear.heard(began) is None
        ear.counted(CountPosterior("counted", flat, 2.0, key="one", kind=kind))
        # It began two seconds ago, before this test did: who asks for a new shake does not get it.
        assert ear.heard(began) is None
        heard = ear.heard(began - 2.0)
        assert (heard is not None) is there
        if heard is not None:
            assert heard.shake.accel.shape == (2000, 3)
            assert heard.shake.accel[-1, 0] == 299.0
            assert heard.shake.accel[0, 0] > 100


def test_who_is_made_one_trains_as_one_is_renamed_and_forgotten(tmp_path: Path) -> None:
    service = Service(ServeOptions(tmp_path / "data"))
    try:
        room, people = service.training, service.people
        anni, ann = people.add("Anni"), people.add("Ann")
        one, other = room.add_person("anni").id, room.add_person("Ann").id
        for person in (one, one, other):
            room.guess(room.deal(person)["id"], person, 6)
        people.merge(anni, ann)
        assert [trainer.name for trainer in room.people()] == ["Ann"]
        assert room.figures(other)["overall"]["own"]["answers"] == 3
        people.change(ann, {"name": "Anna"})
        assert [trainer.name for trainer in room.people()] == ["Anna"]
        people.forget(ann)
        assert room.people() == []
    finally:
        service.close()
