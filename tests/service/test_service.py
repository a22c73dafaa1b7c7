"""The whole service as a process: devices, rounds, what is hidden, and what survives a kill."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from companion.follow import camera as eye
from companion.lab.phone import Phone
from companion.lab.worlds.mjpeg import MjpegServer
from companion.lab.worlds.table import standard
from companion.ports import EvidencePicture
from companion.service import Service, addresses
from companion.service.options import ServeOptions
from tests.service.test_buttons import House
from tests.worlds.served import Served
from tests.worlds.wait import PATIENCE_S, wait
from vision.decode.photo import to_jpeg

pytestmark = pytest.mark.process

PLAYERS = [{"name": "Ann", "colour": "red"}, {"name": "Bob", "colour": "blue"}]
CARDS = ["4", "4/5", "5/6", "6/7", "7/8", "8/9", "9/10", "2", "3"]


def topics(phone: Phone, name: str) -> list[dict[str, Any]]:
    return [told for _, topic, _, told in phone.heard if topic == name]


def test_without_devices_it_says_so(serve: Callable[..., Served]) -> None:
    served = serve()
    wait(lambda: any("No sensor igloo is connected" in line for line in served.lines))
    health = served.get("/api/health")
    assert health["version"] and health["match"] is None
    assert not [d for d in health["devices"] if d["state"] == "connected"]
    status, body = served.host.ask("POST", "/api/simulate", {"action": "shake", "count": 4})
    assert status in {409, 400, 404}, body


@pytest.mark.parametrize(("host", "alone"), [("127.0.0.1", True), ("localhost", True), ("0.0.0.0", False)])  # noqa: S104
def test_it_says_where_phones_cannot_reach_it(serve: Callable[..., Served], host: str, alone: bool) -> None:
    served = serve("--host", host)
    wait(lambda: any(line.startswith("Data: ") for line in served.lines))
    said = "\n".join(served.lines)
    assert (f"Phones cannot reach the page: it listens on {host} only." in said) is alone
    assert f"Open this on {'this machine' if alone else 'your phone'}; it makes you" in said


def test_a_round_with_the_simulated_igloo(serve: Callable[..., Served]) -> None:
    served = serve("--simulate")
    igloo = wait(served.igloo)
    assert igloo["kind"] == "simulated"
    assert any("simulated" in line for line in served.lines)
    phone = Phone(served.port)
    phone.listen()
    wait(lambda: topics(phone, "state"))

    # Outside a live round a shake is counted, and the page hears of it.
    served.simulate("shake", 5)
    counted = wait(lambda: [c for c in topics(phone, "count") if c.get("state") == "counted"])
    assert set(counted[-1]["posterior"]) == {str(n) for n in range(2, 14)}
    assert counted[-1]["kind"] == "simulated"
    # And then it stands on the table again: nobody holds what was shaken with a tap.
    wait(lambda: "shaken" in {m.get("state") for m in topics(phone, "motion")})
    wait(lambda: topics(phone, "motion")[-1].get("state") in {"rest", "set-down"})

    # In a live round nothing reveals a count, on no way out of the house.
    assert served.do("open-match", {"game": "igloo-pop", "players": PLAYERS, "setup": {"cards": CARDS}})["ok"]
    assert served.do("moves", {"moves": ["start"]})["ok"]
    wait(lambda: topics(phone, "count")[-1]["hidden"])
    mark = len(phone.heard)
    served.simulate("shake", 7)
    wait(lambda: [1 for _, topic, _, told in phone.heard[mark:] if topic == "motion" and told["state"] == "shaken"])
    wait(lambda: topics(phone, "motion")[-1].get("state") in {"rest", "set-down"})
    for _, topic, _, told in phone.heard[mark:]:
        assert "posterior" not in json.dumps(told)
        if topic == "count":
            assert told == {"hidden": True, "state": None}
    assert served.get("/api/state")["count"] == {"hidden": True, "state": None}
    assert "posterior" not in json.dumps(served.get("/api/health"))

    # Peeking is a breach, marked as what a simulated igloo said.
    served.simulate("turn_over")
    faults = wait(lambda: served.get("/api/state")["view"]["match"]["faults"])
    assert (faults[0]["clause"], faults[0]["kind"]) == ("POP-2.4", "simulated")
    served.simulate("set_down")
    wait(lambda: topics(phone, "motion")[-1].get("state") in {"rest", "set-down"})

    # Moving it after it was placed is another.
    assert served.do("moves", {"moves": ["place red card5"], "sensor": True})["ok"]
    served.simulate("lift")
    wait(lambda: [f for f in served.get("/api/state")["view"]["match"]["faults"] if f["clause"] == "POP-2.6"])

    # The gate stays shut until the check has revealed its first igloo.
    assert served.do("check", {})["ok"]
    assert served.get("/api/state")["count"] == {"hidden": True, "state": None}
    assert served.do("moves", {"moves": ["reveal card5 7"]})["ok"]
    wait(lambda: topics(phone, "count")[-1]["hidden"] is False)


def test_a_kill_loses_nothing_and_the_night_goes_on(serve: Callable[..., Served], tmp_path: Path) -> None:
    served = serve()
    assert served.do("open-match", {"game": "igloo-pop", "players": PLAYERS, "setup": {"cards": CARDS}})["ok"]
    assert served.do("moves", {"moves": ["start"]})["ok"]
    last = served.do("moves", {"moves": ["place red card1", "place blue card1"]}, action_id="the-last-one")
    served.process.kill()
    served.process.wait(timeout=PATIENCE_S)

    again = serve()
    view = again.get("/api/state")["view"]
    assert view["seq"] == last["seq"]
    assert [i["colour"] for i in view["match"]["cards"][0]["igloos"]] == ["red", "blue"]
    # The phone did not hear the answer and asks again: the same answer, and nothing is doubled.
    repeated = again.do("moves", {"moves": ["place red card1", "place blue card1"]}, action_id="the-last-one")
    assert repeated["seq"] == last["seq"]
    assert again.get("/api/state")["view"]["seq"] == last["seq"]


def test_a_flipped_bit_in_what_was_acknowledged_is_said(serve: Callable[..., Served], tmp_path: Path) -> None:
    served = serve()
    assert served.do("open-match", {"game": "igloo-pop", "players": PLAYERS, "setup": {"cards": CARDS}})["ok"]
    assert served.do("moves", {"moves": ["start"]})["ok"]
    last = served.do("moves", {"moves": ["place red card1", "place blue card1"]})
    served.process.kill()
    served.process.wait(timeout=PATIENCE_S)
    log = tmp_path / "data" / "journal.sqlite-wal"
    data = bytearray(log.read_bytes())
    data[32 + 24 + 100] ^= 1  # in the first page of the log: the sums of all that follow fit no more
    log.write_bytes(data)

    again = serve()
    view = again.get("/api/state")["view"]
    (damage,) = view["damage"]
    assert damage["missing"] and damage["last"] == last["seq"] and damage["en"] and damage["fr"]
    # The table plays on, and the loss stays in the record.
    assert again.do("open-night", {})["ok"] or again.do("open-match", {"game": "igloo-pop", "players": PLAYERS})["ok"]
    findings = json.loads(
        "[" + ",".join(run("doctor", "--json", "--data", str(tmp_path / "data")).stdout.split("\n")[:-1]) + "]"
    )
    assert any("lost confirmed entries" in json.dumps(finding) for finding in findings)


def test_a_journal_without_a_head_is_put_aside_and_its_backup_offered(
    serve: Callable[..., Served], tmp_path: Path
) -> None:
    served = serve()
    last = served.do("open-match", {"game": "igloo-pop", "players": PLAYERS, "setup": {"cards": CARDS}})
    assert run("backup", "--data", str(tmp_path / "data")).returncode == 0
    served.process.terminate()
    served.process.wait(timeout=PATIENCE_S)
    journal = tmp_path / "data" / "journal.sqlite"
    journal.write_bytes(bytes(4096) + journal.read_bytes()[4096:])

    again = serve()
    (damage,) = again.get("/api/state")["view"]["damage"]
    assert damage["missing"] and (damage["first"], damage["last"]) == (1, last["seq"])
    assert damage["backup"] and damage["backup"] in damage["en"]
    assert again.do("open-match", {"game": "igloo-pop", "players": PLAYERS})["ok"]
    again.process.terminate()
    again.process.wait(timeout=PATIENCE_S)

    # The cure that is printed helps, or says that it did not.
    done = run("restore", "--data", str(tmp_path / "data"))
    assert done.returncode == 0, done.stderr
    view = serve().get("/api/state")["view"]
    assert view["damage"] == [] and view["seq"] == last["seq"]


def test_damaged_sessions_are_put_aside_and_phones_join_anew(serve: Callable[..., Served], tmp_path: Path) -> None:
    served = serve()
    served.process.terminate()
    served.process.wait(timeout=PATIENCE_S)
    access = tmp_path / "data" / "access.sqlite"
    access.write_bytes(b"no database" * 1000)
    again = serve()
    assert any("put aside as access.sqlite.damaged-" in line for line in again.lines)
    assert again.do("open-match", {"game": "igloo-pop", "players": PLAYERS})["ok"]
    assert list((tmp_path / "data").glob("access.sqlite.damaged-*"))


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "companion", *arguments], capture_output=True, text=True, check=False, timeout=60
    )


def test_one_line_for_bad_input(serve: Callable[..., Served], tmp_path: Path) -> None:
    served = serve()
    busy = run("serve", "--port", "0", "--data", str(tmp_path / "data"))
    assert (busy.returncode, busy.stderr.count("\n")) == (2, 1)
    assert "already uses the data folder" in busy.stderr
    taken = run("serve", "--host", "127.0.0.1", "--port", str(served.port), "--data", str(tmp_path / "other"))
    assert (taken.returncode, taken.stderr.count("\n")) == (2, 1)
    assert "cannot listen" in taken.stderr
    camera = run("serve", "--camera", "nonsense", "--port", "0", "--data", str(tmp_path / "third"))
    assert (camera.returncode, camera.stderr.count("\n")) == (2, 1)
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    (damaged / "journal.sqlite").write_bytes(b"no database" * 1000)
    torn = run("serve", "--port", "0", "--data", str(damaged))
    assert (torn.returncode, torn.stderr.count("\n")) == (2, 1)
    assert (damaged / "journal.sqlite").read_bytes() == b"no database" * 1000


def test_another_host_link_while_it_runs(serve: Callable[..., Served], tmp_path: Path) -> None:
    served = serve()
    said = run("host", "--data", str(tmp_path / "data"), "--json")
    assert said.returncode == 0
    link = json.loads(said.stdout)["links"][0]
    phone = Phone(served.port)
    status, _ = phone.ask("POST", link.split(str(served.port), 1)[1])
    assert status == 303
    again, _ = Phone(served.port).ask("POST", link.split(str(served.port), 1)[1])
    assert again == 403


def test_a_camera_that_comes_and_goes_and_what_is_kept(serve: Callable[..., Served]) -> None:
    pictures = [to_jpeg(standard(seed).image) for seed in range(3)]
    with MjpegServer(pictures) as camera:
        served = serve("--camera", camera.url)

        def table() -> dict[str, Any]:
            answer: dict[str, Any] = served.get("/api/state")["camera"]
            return answer

        wait(lambda: (table()["table"] or {}).get("straight"))
        assert table()["table"]["markers"] == [0, 1, 2, 3]
        status, straight = served.host.ask("GET", "/api/camera/table.jpg")
        assert status == 200 and straight[:2] == b"\xff\xd8"
        # Nobody who only watches sees the table.
        assert Phone(served.port).ask("GET", "/api/camera/table.jpg")[0] == 403

        # A round's pictures are kept with it: the igloos as they stood, and the result.
        assert served.do("open-match", {"game": "igloo-pop", "players": PLAYERS, "setup": {"cards": CARDS}})["ok"]
        assert served.do("moves", {"moves": ["start", "place red card1"]})["ok"]
        assert served.do("check", {})["ok"]
        wait(lambda: len(served.get("/api/state")["view"]["match"]["evidence"]) == 1)
        assert served.do("moves", {"moves": ["reveal card1 4"]})["ok"]
        wait(lambda: len(served.get("/api/state")["view"]["match"]["evidence"]) == 2)
        kept = served.get("/api/state")["view"]["match"]["evidence"]
        assert [one["round"] for one in kept] == [1, 1]
        status, data = served.host.ask("GET", f"/api/evidence/{kept[0]['sha256']}")
        assert status == 200
        assert hashlib.sha256(data).hexdigest() == kept[0]["sha256"]

        camera.unplug()
        wait(lambda: table()["camera"]["state"] in {"missing", "silent"})
        camera.replug()
        wait(lambda: table()["camera"]["state"] == "connected")


def test_a_photo_from_a_phone(serve: Callable[..., Served]) -> None:
    served = serve()
    photo = to_jpeg(standard(5).image)
    status, body = served.host.send("/api/photo", photo, "image/jpeg")
    assert status == 200, body
    assert json.loads(body)["table"]["straight"] is True
    assert served.host.ask("GET", "/api/camera/table.jpg")[0] == 200
    status, body = served.host.send("/api/photo", b"no picture at all", "image/jpeg")
    assert status == 422
    assert json.loads(body)["error"]["en"].endswith(".")


def test_examples_are_offered_where_a_developer_wants_them(tmp_path: Path, toy_game: str) -> None:
    def offered(*, option: bool) -> tuple[str, ...]:
        service = Service(ServeOptions(tmp_path / "data", example_games=option))
        try:
            return service.night.offered
        finally:
            service.close()

    assert toy_game not in offered(option=False)
    assert toy_game in offered(option=True)


def test_an_old_photo_is_no_witness_of_another_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eye, "NOW_S", 0.0)  # a photo is none of now as soon as it was taken
    companion = House(tmp_path / "data", [])
    asked: list[EvidencePicture | None] = []
    keep = companion.service.camera_service.keep_evidence
    monkeypatch.setattr(companion.service.camera_service, "keep_evidence", lambda **how: asked.append(keep(**how)))

    def turn(command: str, *moves: str) -> bool:
        """Come to a moment that is worth a picture; return whether one is kept of it."""
        before = len(asked)
        companion.do(command, {"moves": moves} if moves else {})
        wait(lambda: len(asked) > before)
        return asked[-1] is not None

    try:
        assert companion.host.send("/api/photo", to_jpeg(standard(5).image), "image/jpeg")[0] == 200
        companion.do("open-match", {"game": "igloo-pop", "players": PLAYERS, "setup": {"cards": CARDS}})
        companion.do("moves", {"moves": ["start", "place red card1"]})
        assert turn("check")
        assert not turn("moves", "reveal card1 5")
        companion.do("moves", {"moves": ["start", "place red card2"]})
        assert not turn("check")
        assert not turn("moves", "reveal card2 9")
        assert companion.host.send("/api/photo", to_jpeg(standard(6).image), "image/jpeg")[0] == 200
        companion.do("moves", {"moves": ["start", "place red card3"]})
        assert turn("check")
        kept = companion.match["evidence"]
        assert [one["round"] for one in kept] == [1, 3]
        assert len({one["sha256"] for one in kept}) == 2
    finally:
        companion.close()


def test_a_page_names_no_file_as_camera(serve: Callable[..., Served], tmp_path: Path) -> None:
    served = serve()
    secret = tmp_path / "secret.jpg"
    secret.write_bytes(to_jpeg(standard(1).image))
    for source in (str(secret), str(tmp_path), "file:///etc/passwd", "/dev/sda", "http://"):
        status, body = served.host.ask("POST", "/api/camera", {"source": source})
        assert status == 422, (source, body)
    assert served.get("/api/state")["camera"]["camera"] is None


@pytest.mark.parametrize("arguments", [[], ["shake"], ["vision"], ["firmware"], ["shake", "count", "nowhere.csv"]])
def test_every_refusal_of_the_command_line_is_one_line(arguments: list[str]) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "Traceback" not in done.stderr and "[Errno" not in done.stderr


def test_without_a_network_the_page_is_at_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "lan_addresses", list)
    assert addresses.page_urls("0.0.0.0", 80)[0] == "http://localhost:80"  # noqa: S104
    monkeypatch.setattr(addresses, "lan_addresses", lambda: ["192.168.1.9"])
    assert addresses.page_urls("0.0.0.0", 80)[0] == "http://192.168.1.9:80"  # noqa: S104
    assert addresses.page_urls("fe80::1", 80) == ["http://[fe80::1]:80"]
