"""Nothing that reveals a count leaves the house in a live round: every way out, each of them shut, and opened again.

The real service hears a recorded igloo that is shaken without end. A way out that is not listed here fails a test.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flask.testing import FlaskClient

from companion.events.hub import Hub
from companion.igloo import sample_pipeline
from companion.igloo.sample_pipeline import SamplePipeline
from companion.igloo.simulated.device import load_bank
from companion.night.answers import TABLE
from companion.ports import CountGate, CountPosterior, DeviceKind, Samples
from companion.practice import practice_run
from companion.service import Service, mqtt, waveform
from companion.service.options import ServeOptions
from tests.worlds.wait import wait
from web.app import create_app
from web.http.json_forms import count_form
from web.http.sse_state import TOPICS

ROOT = Path(__file__).resolve().parents[2]
CARDS = ["4/5", "2", "3/4/5", "6/7", "8", "9/10", "11/12/13", "13", "2/3"]
PLAYERS = [{"name": "Ann", "colour": "red"}, {"name": "Bob", "colour": "blue"}]
MATCH = {"game": "igloo-pop", "players": PLAYERS, "setup": {"cards": CARDS}, "draw": False}
TELLS = {"posterior", "machine", "sitting", "wave"}
"""Where these stand and say something, a count can be told."""
POSTERIOR = CountPosterior("counted", (0.01,) * 11 + (0.89,), 2.4, "", "one", DeviceKind.REAL, 1.0)


def tells(told: Any) -> bool:
    if isinstance(told, dict):
        return any((name in TELLS and bool(value)) or tells(value) for name, value in told.items())
    return isinstance(told, list) and any(map(tells, told))


class House:
    """The service with an igloo of three beads that is shaken again and again, its host, and what it publishes."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        bank = load_bank()
        recording = folder / "shakes.npz"
        wave = bank.accel[np.flatnonzero(bank.count == 3)[0]] * (bank.ug_per_lsb * 1e-6)
        rest = np.tile(wave.mean(axis=0), (round(0.8 * bank.rate_hz), 1))
        noise = 0.01 * np.random.default_rng(3).normal(size=3)
        accel = np.concatenate([rest, wave, wave[: round(0.6 * bank.rate_hz)], rest]) + noise
        np.savez(recording, accel=accel, rate_hz=bank.rate_hz)
        self.for_broker: Callable[[], dict[str, Any]] = dict
        monkeypatch.setattr(mqtt, "MqttPublisher", self._publisher)
        self.service = Service(ServeOptions(folder / "data", igloo=str(recording)))
        self.service.settings.set({"mqtt_address": "mqtt://broker.lan"})
        self.app = create_app(self.service)
        self.app.config["TESTING"] = True
        self.host: FlaskClient = self.app.test_client()
        self.host.environ_base["HTTP_ORIGIN"] = "http://localhost"
        self._events = self.service.hub.subscribe(TOPICS)
        self.service.start()
        assert self.host.post(f"/host/{self.service.access.host_token()}").status_code == 303
        self._stream = b""
        threading.Thread(target=self._listen, daemon=True).start()
        self._actions = 0
        self.ann = self.service.training.add_person("Ann").id
        self.done = self.waiting = self.recording = ""

    def _publisher(self, where: object, hub: Hub, state: Callable[[], dict[str, Any]]) -> SimpleNamespace:
        self.for_broker = state
        return SimpleNamespace(start=lambda: None, close=lambda: None, connected=True)

    def _listen(self) -> None:
        for chunk in self.app.test_client().get("/api/events").iter_encoded():
            self._stream += chunk

    def do(self, command: str, body: dict[str, Any] | None = None) -> None:
        self._actions += 1
        answer = self.service.night.do(command, body or {}, by=TABLE, action_id=f"do-{self._actions}")
        assert answer.ok, answer

    def post(self, path: str, body: dict[str, Any] | None = None) -> Any:
        return self.host.post(path, json=body or {})

    def get(self, path: str) -> Any:
        return self.host.get(path).json

    def sit(self) -> None:
        """Begin to record shakes at the bench."""
        wait(lambda: self.post("/api/igloo/sitting", {"task": "record", "count": 3}).status_code == 200)

    def gather(self) -> None:
        """Gather all there is to be revealed: a sitting, a recording, a shake that was answered and one that waits."""
        self.sit()
        self.recording = wait(lambda: [one for one in self.get("/api/igloo")["recordings"] if one["shakes"]])[0]["name"]
        for _ in range(2):
            self.waiting = self.post("/api/training/rounds", {"person": self.ann, "source": "igloo"}).json["id"]
            wait(lambda: self.get(f"/api/training/rounds/{self.waiting}")["state"] == "heard")
            if not self.done:
                self.done = self.waiting
                self.post(f"/api/training/rounds/{self.done}/guess", {"person": self.ann, "guess": 4})
                self.post(f"/api/training/rounds/{self.done}/truth", {"truth": 3})
        wait(self.service.igloos.count)

    def published(self) -> dict[str, list[Any]]:
        """Return what the hub says until the igloo has been shaken once more, by topic."""
        while self._events.get(0) is not None:
            pass
        self._events.caught_up()
        self._stream, found = b"", {topic: [] for topic in TOPICS}
        shaken = False
        while not shaken or found["motion"][-1]["state"] == "shaken":
            event = self._events.get(30)
            assert event is not None
            found[event.topic].append(event.data)
            shaken = shaken or event.data.get("state") == "shaken"
        return found

    def streamed(self) -> bool:
        return bool(re.search(rb'"posterior":\{|"wave":"\w|"sitting":\{', self._stream))


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        house = House(tmp_path_factory.mktemp("house"), monkeypatch)
        house.gather()
        yield house
        house.service.close()


def refused(answer: Any) -> bool:
    return bool(answer.status_code == 409 and answer.json["error"]["code"] == "live-round")


def counted(ladder: list[Any]) -> int:
    """Return how many rows of a ladder come from what was counted here: all but published people and chance."""
    return sum(row["who"] in {"person", "machine"} for row in ladder)


GATED: dict[str, Callable[[House], bool]] = {
    "GET /api/state": lambda house: tells(house.get("/api/state")),
    "GET /api/igloo": lambda house: tells(house.get("/api/igloo")),
    "GET /api/balance": lambda house: house.get("/api/balance")["now"] is not None,
    "POST /api/balance/box": lambda house: not refused(house.post("/api/balance/box", {"do": "begin"})),
    "POST /api/balance/weigh": lambda house: not refused(house.post("/api/balance/weigh", {"what": "tare"})),
    "GET /api/igloo/recordings/<name>.npz": lambda house: (
        not refused(house.host.get(f"/api/igloo/recordings/{house.recording}.npz"))
    ),
    "GET /api/training": lambda house: (
        house.get("/api/training")["igloo"] is not None or counted(house.get("/api/training")["ladder"]) > 0
    ),
    "GET /api/training/people/<person>/figures": lambda house: (
        house.get(f"/api/training/people/{house.ann}/figures")["overall"]["own"]["answers"] > 0
    ),
    "GET /api/training/people/<person>/shakes": lambda house: bool(
        house.get(f"/api/training/people/{house.ann}/shakes")["shakes"]
    ),
    "GET /api/training/rounds/<round_id>": lambda house: (
        not all(refused(house.host.get(f"/api/training/rounds/{one}")) for one in (house.done, house.waiting))
    ),
    "GET /api/training/rounds/<round_id>/<speed>.wav": lambda house: (
        not refused(house.host.get(f"/api/training/rounds/{house.waiting}/full.wav"))
    ),
    "POST /api/training/rounds": lambda house: (
        not refused(house.post("/api/training/rounds", {"person": house.ann, "source": "igloo"}))
    ),
    "POST /api/training/rounds/<round_id>/guess": lambda house: (
        not refused(house.post(f"/api/training/rounds/{house.done}/guess", {"person": house.ann, "guess": 3}))
    ),
    "POST /api/training/rounds/<round_id>/truth": lambda house: (
        not refused(house.post(f"/api/training/rounds/{house.done}/truth", {"truth": 3}))
    ),
    "POST /api/igloo/sitting/change": lambda house: not refused(house.post("/api/igloo/sitting/change", {"count": 3})),
    "the broker": lambda house: house.for_broker()["count"] is not None,
    "the service": lambda house: house.service.igloos.count() is not None,
    "the counter": lambda house: any(one._counter is not None for one in house.service.igloos._pipelines.values()),
}
"""Ways by which a count leaves: whether one does now."""
STREAM = "GET /api/events"
SILENT = {
    "/": "the page itself",
    "/tv": "the page itself",
    "/host/<token>": "a login",
    "/join": "a login",
    "/manifest.webmanifest": "how the page is called, and its icons",
    "/api": "a document",
    "/api/openapi.json": "a document",
    "/static/<stamp>/<path:name>": "files of the page",
    "/words/<stamp>/<language>.<bundle>.json": "files of the page",
    "/training": "the page itself",
    "/training/along.html": "stored shakes",
    "/api/training/along": "stored shakes",
    "/api/training/examples/<count>/<speed>.wav": "stored shakes",
    "/api/training/duels/<duel_id>": "stored shakes",
    "/api/table": "who is at the table",
    "/api/join.svg": "who is at the table",
    "/api/address.svg": "who is at the table",
    "/api/rights": "who is at the table",
    "/api/people": "who is at the table",
    "/api/portraits/<sha256>": "who is at the table",
    "/api/health": "devices",
    "/api/devices": "devices",
    "/api/settings": "settings",
    "/api/boxes/<game_id>": "what is in the box",
    "/api/cards/<game_id>": "what is in the box",
    "/api/rules/<game_id>": "rules",
    "/api/rules/<game_id>/clauses/<clause_id>": "rules",
    "/api/rules/<game_id>/search": "rules",
    "/api/rules/<game_id>/options": "rules",
    "/api/rules/<game_id>/learn/<step>": "rules",
    "/api/ballot": "rules",
    "/api/board": "the journal: what was played",
    "/api/board/dispute": "the journal: what was played",
    "/api/position/<game_id>": "the journal: what was played",
    "/api/share/bgstats": "the journal: what was played",
    "/api/share/bgstats.svg": "the journal: what was played",
    "/api/share/scores.csv": "the journal: what was played",
    "/api/share/nights.json": "the journal: what was played",
    "/api/share/album": "the journal: what was played to its end",
    "/api/share/album/<night>/<match>.svg": "the journal: what was played to its end",
    "/api/backups": "what was kept before, for the host",
    "/api/backups/<name>": "what was kept before, for the host",
    "/api/camera/table/<game_id>": "pictures of the table, not of what is under an igloo",
    "/api/camera/table/<game_id>/look": "pictures of the table, not of what is under an igloo",
    "/api/camera/question": "pictures of the table, not of what is under an igloo",
    "/api/camera/photos/ruled.jpg": "pictures of the table, not of what is under an igloo",
    "/api/camera/<which>.jpg": "pictures of the table, not of what is under an igloo",
    "/api/evidence/<sha256>": "pictures of the table, not of what is under an igloo",
}
"""Ways that never tell a count, and why."""
FILLED = {"game_id": "igloo-pop", "which": "frame", "clause_id": "POP-2.4", "count": "3", "speed": "full"}


@pytest.mark.process
def test_every_route_is_known_to_tell_a_count_or_not(house: House) -> None:
    rules = {one.rule for one in house.app.url_map.iter_rules() if "GET" in (one.methods or ())}
    gated = {name.removeprefix("GET ") for name in (*GATED, STREAM) if name.startswith("GET ")}
    assert not gated & SILENT.keys()
    assert rules == gated | SILENT.keys()


@pytest.mark.process
def test_every_way_out_is_shut_from_the_start_to_the_first_reveal(house: House) -> None:
    gate = house.service.night.gate

    def shut(phase: str) -> None:
        assert not gate.is_open(), phase
        wait(lambda: not GATED["the counter"](house))
        published = house.published()
        assert not [topic for topic in TOPICS if tells(published[topic])] and not published["wave"], phase
        assert not house.streamed(), phase
        assert [name for name, reveals in GATED.items() if reveals(house)] == [], phase
        for rule in SILENT:
            path = re.sub(r"<(?:\w+:)?(\w+)>", lambda found: FILLED.get(found[1], "x"), rule)
            answer = house.host.get(path)
            assert answer.status_code < 500, (phase, rule)
            if answer.is_json and rule != "/api/openapi.json":
                assert not tells(answer.json), (phase, rule)
        # The last door: what was published before the round began, and is told only now.
        house.service.hub.publish("count", {"hidden": False, "posterior": {"11": 1.0}})
        house.service.hub.publish("wave", {"key": "one", "first": 0, "wave": "abab"})
        house.service.hub.publish("bench", {"hidden": False, "revision": 1, "sitting": {"count": 11}})
        time.sleep(1.0)
        assert not house.streamed(), phase

    def opened() -> None:
        assert gate.is_open()
        published = wait(lambda: found if (found := house.published())["wave"] else None)
        assert tells(published["count"]) and tells(published["bench"])
        assert wait(house.streamed)
        assert [name for name, reveals in GATED.items() if not wait(lambda reveals=reveals: reveals(house))] == []

    house.do("open-match", MATCH)
    opened()
    house.do("moves", {"moves": ["start"]})
    shut("shaking")
    house.do("pause")
    shut("paused")
    house.do("resume")
    house.do("moves", {"moves": ["place red card5"]})
    house.do("check")
    shut("before the first reveal")
    house.do("moves", {"moves": ["reveal card5 7"]})
    house.sit()
    opened()


# --- on doubt, and in the very moment


def test_the_gate_is_shut_where_nobody_can_tell(caplog: pytest.LogCaptureFixture) -> None:
    def broken() -> bool:
        raise RuntimeError("the journal cannot be read")

    gate = CountGate(broken)
    assert not gate.is_open()
    assert gate.through("seven", "nothing") == "nothing"
    assert "cannot be told" in caplog.text
    assert CountGate(lambda: False).through("seven", "nothing") == "seven"


class Moment:
    """A round that begins while something is made."""

    def __init__(self) -> None:
        self.live = False
        self.gate = CountGate(lambda: self.live)

    def begins(self, answer: Any) -> Callable[..., Any]:
        def made(*_: object, **__: object) -> Any:
            self.live = True
            return answer

        return made


RUN = Samples(np.zeros((16, 3)), 0.0, 3200.0, 0)


def test_a_round_that_begins_while_a_count_is_written_hides_it(monkeypatch: pytest.MonkeyPatch) -> None:
    moment = Moment()
    assert count_form(POSTERIOR, moment.gate)["posterior"]
    monkeypatch.setattr(CountPosterior, "to_json", moment.begins({"posterior": {"13": 0.89}}))
    assert count_form(POSTERIOR, moment.gate) == {"hidden": True, "state": None}


def test_a_round_that_begins_while_a_wave_is_drawn_hides_it(monkeypatch: pytest.MonkeyPatch) -> None:
    moment, hub = Moment(), Hub()
    events = hub.subscribe(["wave"])
    waves = waveform.Waves(hub, gate=moment.gate)
    link: Any = SimpleNamespace(status=lambda: SimpleNamespace(key="one"))
    monkeypatch.setattr(waveform.Wave, "feed", lambda *_: (0, "abab"))
    waves.hear(link, RUN)
    assert events.get(0) is not None
    monkeypatch.setattr(waveform.Wave, "feed", moment.begins((0, "abab")))
    waves.hear(link, RUN)
    assert events.get(0) is None


def test_a_round_that_begins_while_it_is_counted_hides_the_count(monkeypatch: pytest.MonkeyPatch) -> None:
    moment, counted = Moment(), []
    fed: list[Samples] = []

    def feed(samples: Samples) -> CountPosterior:
        fed.append(samples)
        return POSTERIOR if len(fed) == 1 else moment.begins(POSTERIOR)()

    counter = SimpleNamespace(feed=feed)
    monkeypatch.setattr(sample_pipeline, "Counter", lambda *_: counter)
    pipeline = SamplePipeline(
        "one", DeviceKind.REAL, on_motion=lambda _: None, on_count=counted.append, gate=moment.gate
    )
    pipeline.hear(RUN)
    pipeline.hear(RUN)
    pipeline.hear(RUN)
    pipeline.close()
    assert counted == [POSTERIOR]
    assert len(fed) == 2, "the run after that is not even fed"


@pytest.mark.process
def test_a_round_that_begins_while_anything_else_is_made_hides_it(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment, service = Moment(), house.service
    for part in (service.night, service.training, service.calibration_run, service.balance_run, service.igloos):
        monkeypatch.setattr(part, "gate" if part is service.night else "_gate", moment.gate)

    def race(part: object, name: str, answer: Any, ask: Callable[[], Any]) -> Any:
        """Ask, with a round that begins while ``part`` makes its answer."""
        moment.live = False
        with monkeypatch.context() as context:
            context.setattr(part, name, moment.begins(answer))
            told = ask()
        assert moment.live
        return told

    training, book = service.training, service.training._book
    assert race(service.night, "view", service.night.view(), house.for_broker)["count"] is None
    sitting = SimpleNamespace(key="one", form=lambda: {}, paused=True, person="")
    with monkeypatch.context() as context:
        context.setattr(service.calibration_run, "_sitting", sitting)
        assert race(sitting, "form", {"count": 7}, service.calibration_run.state)["sitting"] is None
    assert race(service.balance_run, "_there", [], service.balance_run.state)["now"] is None
    file = f"/api/igloo/recordings/{house.recording}.npz"
    assert refused(race(service.calibration_run.recordings, "packed", b"shakes", lambda: house.host.get(file)))
    one = f"/api/training/rounds/{house.done}"
    assert refused(race(practice_run, "picture", "abab", lambda: house.host.get(one)))
    assert refused(race(practice_run, "wav", b"RIFF", lambda: house.host.get(f"{one}/full.wav")))

    def read(*_: object, igloo: bool, **__: object) -> list[Any]:
        moment.live = True
        return before if igloo else []

    before = book.answers(house.ann, igloo=True)
    assert before
    monkeypatch.setattr(book, "answers", read)
    for ask in (lambda: training.figures(house.ann)["overall"]["own"]["answers"], lambda: counted(training.ladder())):
        moment.live = False
        assert ask() == 0
        assert moment.live


def test_nobody_asks_past_the_gate() -> None:
    """The night tells whether a round is live; the page may show that. What may pass is asked of the gate alone."""
    found = {
        str(path.relative_to(ROOT))
        for top in ("companion", "vision", "web")
        for path in (ROOT / top).rglob("*.py")
        if ".live_round()" in path.read_text(encoding="utf-8")
    }
    assert found == {"companion/service/__init__.py"}
    service = (ROOT / "companion/service/__init__.py").read_text(encoding="utf-8")
    assert re.findall(r".*\.live_round\(\).*", service) == ['            "live_round": self.night.live_round(),']
