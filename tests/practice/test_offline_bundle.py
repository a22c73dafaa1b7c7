"""What is taken along: a supply made ahead, a file that fetches nothing, results that count once."""

from __future__ import annotations

import json
import re
import threading
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from random import Random
from typing import Any

import numpy as np
import pytest
from flask import Flask
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from companion.ports import COUNTS, CountGate, CountPosterior, DeviceError
from companion.practice.database import TAKEN_KEPT, PracticeDatabase, Taken, now_ms
from companion.practice.offline_bundle import MOST_ANSWERS, RESULTS_FORMAT, OfflineBundle, make_shake, results
from companion.practice.practice_run import PracticeRun
from companion.practice.shakes import Shake, TrainingError, cut
from companion.practice.sonify import BAND_HZ, HIGH_HZ, LOW_HZ, MU, band
from companion.service.practice import shake_bank
from tests.web.api.test_practice import Phone
from tests.web.assembly import SmallCompanion, SmallEar, quick_machine
from tests.worlds.wait import PATIENCE_S
from web.app import create_app
from web.http.assets import Assets
from web.http.single_file import script, source_hash

DAY_MS = 24 * 3600 * 1000


class FewShakes:
    """Two stored shakes of each count, so that a supply is made in a moment."""

    def of(self, count: int) -> list[int]:
        return list(shake_bank().of(count))[:2]

    def shake(self, number: int) -> Shake:
        return shake_bank().shake(number)


def few(path: Path | None = None, **more: Any) -> OfflineBundle:
    return OfflineBundle(path, FewShakes, quick_machine, rng=Random(3), rests=0.0, **more)


def made(offline_bundle: OfflineBundle) -> list[dict[str, Any]]:
    """Wait for what makes the supply, and take it."""
    if not offline_bundle.status()["ready"]:
        finished(offline_bundle)
    return offline_bundle.take()


def finished(offline_bundle: OfflineBundle) -> None:
    assert offline_bundle._thread is not None
    offline_bundle._thread.join(PATIENCE_S)
    assert not offline_bundle._thread.is_alive()


@pytest.fixture
def room(tmp_path: Path) -> Iterator[PracticeRun]:
    room = PracticeRun(
        PracticeDatabase(tmp_path / "training.sqlite"),
        FewShakes,
        quick_machine,
        SmallEar(list),
        gate=CountGate(lambda: False),
        offline_bundle=few(),
    )
    yield room
    room.close()


@pytest.fixture
def companion(tmp_path: Path) -> Iterator[SmallCompanion]:
    companion = SmallCompanion(tmp_path)
    companion.training.close()
    companion.training = PracticeRun(
        PracticeDatabase(tmp_path / "training.sqlite"),
        FewShakes,
        quick_machine,
        companion.ear,
        gate=companion.night.gate,
        offline_bundle=few(),
    )
    yield companion
    companion.close()


@pytest.fixture
def app(companion: SmallCompanion) -> Flask:
    return create_app(companion)


@pytest.fixture
def player(app: Flask, companion: SmallCompanion) -> Phone:
    phone = Phone(app.test_client())
    assert phone.post("/api/join", {"pin": companion.access.pin}).status_code == 200
    return phone


def ready(room: PracticeRun) -> dict[str, Any]:
    if not room.along_status()["ready"]:
        finished(room._offline_bundle)
    return room.take_along()


def parcel(taken: dict[str, Any], *answers: tuple[int, int, int]) -> dict[str, Any]:
    return {"format": RESULTS_FORMAT, "file": taken["file"], "answers": [list(one) for one in answers]}


def test_a_supply_has_every_shake_once_of_every_number_and_several_igloos(tmp_path: Path) -> None:
    offline_bundle = few(tmp_path / "supply.json")
    try:
        supply = made(offline_bundle)
        numbers = [one["shake"] for one in supply]
        assert sorted(numbers) == sorted(number for count in COUNTS for number in FewShakes().of(count))
        assert all(sum(one["machine"]) == pytest.approx(10_000, abs=6) for one in supply)
        # What is given next was drawn anew.
        finished(offline_bundle)
        later = offline_bundle.take()
        assert [one["shake"] for one in later] == numbers
        assert all(a["seed"] != b["seed"] and a["sound"] != b["sound"] for a, b in zip(supply, later, strict=True))
    finally:
        offline_bundle.close()
    igloos = {len(shake_bank().shake(number).accel) for count in COUNTS for number in shake_bank().of(count)}
    assert len(igloos) == 12


def test_a_supply_outlives_a_restart_and_a_torn_one_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "supply.json"
    first = few(path)
    made(first)
    finished(first)
    first.close()
    kept = json.loads(path.read_text())["shakes"]
    again = few(path)
    assert again.take() == kept
    again.close()
    for torn in (path.read_bytes()[:5000], b"", b"[]", b'{"format": 1, "shakes": []}', b'{"format": 9}', b"[" * 9000):
        path.write_bytes(torn)
        offline_bundle = few(path)
        with pytest.raises(TrainingError, match="not-ready"):
            offline_bundle.take()
        made(offline_bundle)
        offline_bundle.close()


def test_no_shake_is_counted_while_a_round_is_live() -> None:
    may = threading.Event()
    counted: list[int] = []
    asked: SimpleQueue[int] = SimpleQueue()

    def may_work() -> bool:
        asked.put(len(counted))
        return may.is_set()

    def machine(shake: Shake) -> CountPosterior:
        counted.append(1)
        return quick_machine(shake)

    offline_bundle = OfflineBundle(None, FewShakes, machine, may_work=may_work, rests=0.0)
    offline_bundle.status()
    # It asks after the first shake, and again after a while: nothing was counted between the two.
    assert [asked.get(timeout=PATIENCE_S) for _ in range(2)] == [1, 1]
    assert len(counted) == 1 and not offline_bundle.status()["ready"]
    may.set()
    made(offline_bundle)
    offline_bundle.close()


def test_a_supply_that_cannot_be_made_is_said() -> None:
    def broken(shake: Shake) -> CountPosterior:
        raise DeviceError("no model")

    offline_bundle = OfflineBundle(None, FewShakes, broken, rests=0.0)
    offline_bundle.status()
    finished(offline_bundle)
    assert offline_bundle._failed
    offline_bundle.close()


def test_the_packed_band_is_the_knocks_of_the_shake() -> None:
    """Unpacked, it has the spectrum that the table's own sound is made of, to a hundredth of its strength."""
    shake = cut(shake_bank().shake(40), 5)
    packed = band(shake, 5)
    codes = (np.frombuffer(packed.codes, dtype=np.uint8).astype(float) - 128.0) / 127.0
    heard = np.sign(codes) * np.expm1(np.abs(codes) * np.log1p(MU)) / MU
    assert len(heard) == pytest.approx(len(shake.accel) / shake.rate_hz * BAND_HZ, abs=1)
    rng = np.random.default_rng(5)
    side = rng.normal(size=3)
    felt = (shake.accel - shake.accel.mean(axis=0)) @ (side / np.linalg.norm(side)) * np.sqrt(3.0)
    ramp = np.clip(np.arange(len(felt)) / (0.02 * shake.rate_hz), 0.0, 1.0)
    seconds = len(felt) / shake.rate_hz
    knocks = np.fft.rfft(felt * ramp * ramp[::-1])
    hz = np.fft.rfftfreq(len(felt), 1.0 / shake.rate_hz)
    inside = (hz > LOW_HZ + 100) & (hz < HIGH_HZ - 100)
    wanted = np.abs(knocks * hz)[inside]
    lowest = round(LOW_HZ * seconds)
    got = np.abs(np.fft.rfft(heard))[np.flatnonzero(inside) - lowest]
    assert float(np.corrcoef(wanted, got)[0, 1]) > 0.995


def test_answers_from_the_way_count_once_whoever_brings_them(room: PracticeRun) -> None:
    ann, bob = room.add_person("Ann").id, room.add_person("Bob").id
    taken = ready(room)
    at = now_ms()
    told = parcel(taken, (0, 2, at), (5, 4, at + 1), (0, 3, at + 2))
    assert room.bring_home(ann, told) == {"new": 3, "known": 0}
    assert room.bring_home(ann, told) == {"new": 0, "known": 3}
    assert room.bring_home(bob, told) == {"new": 0, "known": 3}
    more = parcel(taken, (0, 2, at), (5, 4, at + 1), (0, 3, at + 2), (7, 5, at + 3))
    assert room.bring_home(ann, more) == {"new": 1, "known": 3}
    figures = room.figures(ann)
    assert figures["overall"]["own"]["answers"] == 4
    assert room.figures(bob)["overall"]["own"]["answers"] == 0
    truths = [taken["shakes"][place]["truth"] for place in (0, 5, 0, 7)]
    for truth, guess in zip(truths, (2, 4, 3, 5), strict=True):
        assert figures["confusion"][truth - 2][guess - 2] >= 1
    assert next(row for row in room.ladder() if row["who"] == "machine")["answers"] == 4


def test_a_shake_from_the_way_can_be_heard_at_home_and_the_drills_go_on(room: PracticeRun) -> None:
    ann = room.add_person("Ann").id
    taken, at = ready(room), now_ms()
    room.bring_home(ann, parcel(taken, (3, 9, at)))
    told = room.round(f"{taken['file']}.{at}")
    assert told["result"]["truth"] == taken["shakes"][3]["truth"]
    assert told["result"]["wave"] == taken["shakes"][3]["wave"]
    assert told["result"]["machine"] == taken["shakes"][3]["machine"]
    assert sum(told["result"]["machine"]) == pytest.approx(1.0, abs=1e-3)
    assert room.sound(f"{taken['file']}.{at}", "full")[:4] == b"RIFF"
    assert room.deal(ann)["number"] == 2


def test_a_phone_whose_clock_is_wrong_is_believed_in_all_but_the_time(room: PracticeRun) -> None:
    ann = room.add_person("Ann").id
    taken = ready(room)
    room.bring_home(ann, parcel(taken, (0, 5, 1), (1, 5, 2), (2, 5, now_ms() + 900 * DAY_MS)))
    weeks = room.figures(ann)["weeks"]
    assert sum(week["answers"] for week in weeks) == 3
    assert len(weeks) <= 2


def test_of_very_old_files_nothing_is_known(tmp_path: Path) -> None:
    book = PracticeDatabase(tmp_path / "training.sqlite")
    shake = Taken(0, 1, 5, (0.5,) * 12)
    for number in range(TAKEN_KEPT + 1):
        book.take_along(f"file-{number:07}", [shake])
    assert book.taken("file-0000001")[1] == [shake]
    with pytest.raises(TrainingError, match="no-file"):
        book.taken("file-0000000")
    book.close()


WRONG: list[Any] = [
    {},
    {"format": RESULTS_FORMAT, "file": "x" * 12},
    {"format": "companion-along-2", "file": "x" * 12, "answers": [[0, 5, 1]]},
    {"format": RESULTS_FORMAT, "file": "x" * 11, "answers": [[0, 5, 1]]},
    {"format": RESULTS_FORMAT, "file": "../../../etc", "answers": [[0, 5, 1]]},
    {"format": RESULTS_FORMAT, "file": "x" * 12, "answers": []},
    {"format": RESULTS_FORMAT, "file": "x" * 12, "answers": {}},
    *(
        {"format": RESULTS_FORMAT, "file": "x" * 12, "answers": answers}
        for answers in (
            [[0, 5]],
            [[0, 5, 1, 1]],
            [[0, 1, 1]],
            [[0, 14, 1]],
            [[-1, 5, 1]],
            [[0, 5, 0]],
            [[0, 5, 2**53]],
            [[0, 5.0, 1]],
            [[True, 5, 1]],
            [["0", 5, 1]],
            [[0, 5, 7], [1, 5, 7]],
            [[0, 5, 7], [1, 5, 6]],
            [[0, 5, at] for at in range(1, MOST_ANSWERS + 2)],
        )
    ),
    {"format": RESULTS_FORMAT, "file": "x" * 12, "answers": [[0, 5, 1]], "truth": 4},
]


@pytest.mark.parametrize("told", WRONG, ids=lambda told: json.dumps(told)[:60])
def test_what_is_not_wholly_right_is_refused_whole(told: Any) -> None:
    with pytest.raises(TrainingError, match="bad-results"):
        results(told)


def test_a_shake_that_the_file_does_not_hold_takes_nothing_in(room: PracticeRun) -> None:
    ann = room.add_person("Ann").id
    taken = ready(room)
    with pytest.raises(TrainingError, match="bad-results"):
        room.bring_home(ann, parcel(taken, (0, 5, 10), (len(taken["shakes"]), 5, 11)))
    with pytest.raises(TrainingError, match="no-file"):
        room.bring_home(ann, {**parcel(taken, (0, 5, 10)), "file": "A" * 12})
    assert room.figures(ann)["overall"]["own"]["answers"] == 0


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=14) | st.just(RESULTS_FORMAT),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=7), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.fixed_dictionaries(
        {
            "format": st.just(RESULTS_FORMAT) | JUNK,
            "file": st.from_regex(r"[A-Za-z0-9_-]{12}", fullmatch=True) | JUNK,
            "answers": st.lists(st.tuples(st.integers(), st.integers(1, 14), st.integers()).map(list) | JUNK) | JUNK,
        }
    )
    | st.dictionaries(st.text(max_size=8), JUNK)
)
def test_junk_is_refused_and_nothing_stumbles(told: dict[str, Any]) -> None:
    try:
        file, answers = results(told)
    except TrainingError as error:
        assert error.code == "bad-results"
    else:
        assert file == told["file"]
        assert [[one.place, one.guess, one.at] for one in answers] == told["answers"]


def held(page: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(re.search(r'id="page">(.*?)</script>', page, re.DOTALL)[1])  # type: ignore[index]
    return found


def test_the_file_holds_all_of_itself_and_may_fetch_nothing(player: Phone, companion: SmallCompanion) -> None:
    assert player.refused("/api/training/along", {"person": 1, "results": {}})[0] in {400, 404}
    if not player.told("/api/training/along")["ready"]:
        finished(companion.training._offline_bundle)
    answer = player.get("/training/along.html", **{"Accept-Language": "fr"})
    assert answer.status_code == 200
    assert "attachment" in answer.headers["Content-Disposition"]
    page = answer.text
    told = held(page)
    assert told["language"] == "fr" and told["words"]["words"]["Next shake"] == "Secousse suivante"
    assert {one["truth"] for one in told["shakes"]} == set(COUNTS)
    assert all(len(b64decode(one["sound"])) > 6000 for one in told["shakes"])
    without = re.sub(r'<script type="application/json".*?</script>', "", page, flags=re.DOTALL)
    assert re.findall(r'(?:src|href)="(?!#)[^"]*"', without) == []
    assert "@import" not in page and "url(" not in without
    rules = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)[1].replace("&#39;", "'")  # type: ignore[index]
    assert rules.startswith("default-src 'none'; ") and "unsafe" not in rules and "connect-src" not in rules
    code, style = (
        re.search(r"<script>(.*?)</script>", page, re.DOTALL)[1],
        re.search(r"<style>(.*?)</style>", page, re.DOTALL)[1],
    )  # type: ignore[index]
    assert source_hash(code) in rules and source_hash(style) in rules
    here = player.get("/training/along.html?here=1")
    assert "Content-Disposition" not in here.headers
    assert here.headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert held(here.text)["file"] != told["file"]


def test_who_only_watches_takes_nothing_along(app: Flask) -> None:
    guest = Phone(app.test_client())
    assert guest.get("/training/along.html").status_code == 403
    assert guest.refused("/api/training/along") == (403, "watching")
    assert guest.refused("/api/training/along", {}) == (403, "watching")


def test_the_whole_file_is_light_enough_for_a_phone() -> None:
    """Twelve shakes of one igloo are weighed; the file has them of fourteen, and its own modules and styles."""
    numbers = [number for count in COUNTS for number in shake_bank().of(count)]
    some = numbers[:: len(numbers) // 12][:12]
    each = max(len(json.dumps(make_shake(shake_bank(), quick_machine, number, 7))) for number in some)
    assert len(numbers) == 168
    assert each * len(numbers) + len(script(Assets(), "offline-bundle")) + 60_000 < 2_500_000


def test_modules_become_one_script_or_are_refused(tmp_path: Path) -> None:
    js = tmp_path / "js"
    js.mkdir()
    (js / "a.js").write_text('import { b as other } from "./b.js";\nexport function a() { return other; }\n')
    (js / "b.js").write_text("export const b = 2;\n")
    made_of = script(Assets(tmp_path), "a")
    assert "const { b: other } = module_b;" in made_of
    assert made_of.index("module_b = ") < made_of.index("module_a = ")
    (js / "b.js").write_text('import { a } from "./a.js";\nexport const b = 2;\n')
    with pytest.raises(ValueError, match="imports itself"):
        script(Assets(tmp_path), "a")
    for wrong in ("export default 3;\n", 'import * as x from "./b.js";\n', "await 3;\n", "export let x = 1;\n"):
        (js / "c.js").write_text(wrong)
        with pytest.raises(ValueError, match="more of modules"):
            script(Assets(tmp_path), "c")
