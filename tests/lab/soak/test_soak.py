"""The soak in small: what `make soak` measures for an hour, each part once. Times are asserted nowhere."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from companion.lab.bench import command, small_machine
from companion.lab.soak import absurd_values, clients, faults, flood, fuzz, seeds, targets
from companion.lab.soak import camera as soak_camera
from companion.lab.soak.play import Player, ServedCompanion, killing
from tests.worlds.sizes import size
from tests.worlds.wait import wait

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def companion(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedCompanion]:
    made = ServedCompanion(tmp_path_factory.mktemp("soak") / "data")
    yield made
    made.close()


@pytest.mark.sized
def test_kills_lose_and_double_nothing(tmp_path: Path) -> None:
    kills = size(3, 25)
    toll = killing(tmp_path, kills, seed=21, copy_every=2)
    assert (toll.kills, toll.copies) == (kills, kills // 2 + 1)
    assert toll.acknowledged >= kills
    assert (toll.lost, toll.doubled, toll.copies_lost, toll.problems) == (0, 0, 0, [])


def test_the_comparison_would_notice(tmp_path: Path) -> None:
    """An acknowledgement that is not in the journal, as a service that lies would leave it."""
    from companion.lab.soak.play import Toll, _compare, _lost_in_copy
    from companion.night.log.journal import Journal

    journal = Journal(tmp_path / "journal.sqlite")
    journal.append("pause", {}, action_id="kept")
    journal.close()
    player, toll = Player(1), Toll()
    player.acknowledged = {"kept": 1, "gone": 2}
    _compare(tmp_path, player, toll)
    assert (toll.acknowledged, toll.lost, toll.problems) == (2, 1, [])
    assert _lost_in_copy(tmp_path, player, player._rng) == 1


def test_a_full_and_a_read_only_disk(tmp_path: Path) -> None:
    disk = faults.disk(tmp_path)
    if disk is not None:  # only root may mount a small disk; the journal's own tests fill a file besides
        assert (disk.refused_full, disk.other, disk.lost, disk.went_on) == (40, 0, 0, True)
        assert "Read-only file system" in disk.read_only


def test_a_bad_line_is_counted_and_comes_back() -> None:
    line = faults.line(2, 40)
    assert line.came_back == line.unplugs == 2
    assert line.corrupt_counted >= line.corrupt_sent
    assert line.lost_counted == line.dropped_sent > 0
    assert line.absurd_frames > 0 and line.alive


def test_sixty_phones_hear_of_every_change(companion: ServedCompanion) -> None:
    crowd = clients.crowd(companion, 60, 4)
    assert (crowd.reached, crowd.streams) == (60, 40)


def test_rude_clients_do_not_hold_up_the_others(companion: ServedCompanion) -> None:
    for rude in (clients.slow_loris(companion, 40, 1.0), clients.never_reading(companion, 15, 1.0)):
        assert rude.requests == rude.answered > 0


def test_junk_is_refused_and_the_house_stands(companion: ServedCompanion) -> None:
    junk = clients.junk(companion, 150)
    assert (junk.sent, junk.server_errors, junk.alive) == (150, 0, True)
    assert junk.unanswered == 0


def test_absurd_values_are_not_counted() -> None:
    assert absurd_values.control() > 0, "on the same way a sound shake is"
    some = dict(itertools.islice(absurd_values.STREAMS.items(), 5, None, 3))
    assert {one.what: one.counted for one in absurd_values.absurd(some)} == dict.fromkeys(some, 0)


def test_swapped_igloos_are_felt_under_their_own_names() -> None:
    assert faults.swaps(1) == faults.Swaps(1, 1)


def test_a_camera_that_fails_is_said_and_comes_back(tmp_path: Path) -> None:
    camera = soak_camera.FaultyCamera()
    companion = ServedCompanion(tmp_path / "camera", "--camera", f"http://127.0.0.1:{camera.port}/")
    try:
        for seen in soak_camera.camera_faults(companion, camera, ("gone", "black", "junk")):
            assert (seen.said in soak_camera.FAULTS[seen.fault], seen.back, seen.fault) == (True, True, seen.fault)
            assert seen.answered == seen.requests
        told, peak = soak_camera.bombs(companion, camera, 1.0)
        assert told.answered == told.requests > 0
        assert told.back
        assert peak < 280
    finally:
        companion.close()
        camera.close()


@pytest.mark.parametrize("reader", targets.TARGETS)
def test_readers_bear_the_seeds_and_what_once_made_one_stumble(reader: str) -> None:
    read = targets.TARGETS[reader]()
    given = seeds.seeds(reader)
    assert given
    for data in [*given, b"", *(data[: len(data) // 2] for data in given)]:
        targets.given(read, data)


def test_a_small_machine_is_made_or_it_is_said_that_it_cannot_be(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(small_machine, "GROUPS", tmp_path / "none")
    monkeypatch.setattr(small_machine, "_measured", lambda where, _: [command.row(where, "measured")])
    pc, small = small_machine.rows(1.0)
    assert (pc["what"], pc["value"]) == ("PC", "measured")
    assert small["value"] == "not run"
    assert "control groups" in small["note"]
    assert 5 < small_machine._memory_mb(os.getpid()) < 5000
    assert small_machine._cpu_s(os.getpid()) > 0


def test_what_takes_root_or_an_hour_runs_only_when_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    for name in command.TABLES:
        monkeypatch.setitem(command.TABLES, name, lambda _, name=name: ran.append(name) or [])
    for name in ("shake", "web", "follow"):
        monkeypatch.setattr(command, f"bench_{name}", lambda *_, name=name: ran.append(name) or [])
    CliRunner().invoke(command.command, ["--json"], catch_exceptions=False)
    assert set(command.TABLES) - set(ran) == {"install", "small", "soak", "flood", "plug", "readers", "load"}
    CliRunner().invoke(command.command, ["soak", "--json"], catch_exceptions=False)
    assert ran[-1] == "soak"


if fuzz.available():

    def test_a_guided_fuzzer_finds_nothing_in_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
        # Begun by a process that is larger than a reader may be, as that of many tests is.
        monkeypatch.setattr(fuzz, "MEMORY_MB", 400)
        large = bytearray(b"\1") * 450_000_000
        (found,) = fuzz.fuzz(["text lines"], 2, seed=7)
        assert large[-1] == 1
        assert (found.stumbled, found.culprit) == ("", b"")
        assert found.tried > 100
        assert found.edges > 20

    @pytest.mark.long
    @pytest.mark.parametrize("reader", targets.TARGETS)
    def test_a_guided_fuzzer_finds_nothing_in_a_quarter_of_a_minute(reader: str) -> None:
        (found,) = fuzz.fuzz([reader], 15)
        assert (found.stumbled, found.culprit) == ("", b"")
        assert found.tried > 100

    def test_the_fuzzer_would_notice(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        """A reader that stumbles over three letters, which only coverage leads to."""
        (tmp_path / "sitecustomize.py").write_text(
            "from companion.lab.soak import targets as soak_targets\n"
            "def _frail():\n"
            "    from companion.igloo.line.text_protocol import parse_line\n"
            "    def read(data):\n"
            "        if parse_line(data) is not None: raise ZeroDivisionError('stumbled')\n"
            "    return read\n"
            "soak_targets.TARGETS['text lines'] = _frail\n"
        )
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        (found,) = fuzz.fuzz(["text lines"], 90, seed=7)
        assert "ZeroDivisionError" in found.stumbled
        assert found.culprit


def test_memory_is_watched(companion: ServedCompanion) -> None:
    memory = faults.memory(companion, 2.0, 60.0)
    assert memory.moves >= 100
    assert 20 < memory.begin_mb <= memory.end_mb + 5 < 300
    assert 0 <= memory.span_mb < 50
    assert memory.handles > 5 and memory.span_handles <= 5


# --- floods ------------------------------------------------------------------------------------------------------


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[tuple[ServedCompanion, flood.Systemd]]:
    with flood.watched(tmp_path) as made:
        yield made


def test_two_hundred_stuffed_photos_from_one_phone(watched: tuple[ServedCompanion, flood.Systemd]) -> None:
    house, systemd = watched
    photo = flood.stuffed_png(flood.SMALL_UNPACKED_MB)
    found = flood.photos(house, systemd, photo)
    assert sum(found.answers.values()) == flood.PHOTOS
    # Refused by what they claim, or at their heads; none was unpacked, none cut off.
    assert set(found.answers) <= {"422 device", "429 photo-at-work"}
    assert found.answers["422 device"]
    beats = len(systemd.beats)
    wait(lambda: len(systemd.beats) > beats)
    assert house.view()["match"] is not None


def test_half_sent_bodies_and_streams_of_a_stranger_take_nothing_from_the_table(companion: ServedCompanion) -> None:
    assert flood.half_sent(companion, 4) == 0
    live, host_has_one = flood.streams(companion)
    assert live == 30
    assert host_has_one


def test_a_wait_counts_for_as_long_as_it_is() -> None:
    found = flood.Flood(taps_ms=[10.0] * 99 + [10_000.0])
    assert found.tap_ms(0.3) == 10.0
    assert found.tap_ms(0.95) > 8_000
    assert found.tap_ms(1.0) == 10_000.0
