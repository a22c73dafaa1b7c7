"""The training room over a real book and the real bank of shakes: what it deals, hides, shows, keeps."""

from __future__ import annotations

import io
import sqlite3
import wave
from collections.abc import Iterator
from pathlib import Path
from random import Random

import numpy as np
import pytest

from companion.igloo.count.counter import count_recording
from companion.igloo.simulated.device import load_bank
from companion.ports import COUNTS, CountGate, CountPosterior, DeviceKind
from companion.practice.database import PracticeDatabase, PracticeDatabaseError
from companion.practice.practice_run import PAST, PracticeRun
from companion.practice.shakes import HEARD_S, CountedShake, Shake, TrainingError, cut
from companion.practice.sonify import WAV_HZ, sound, wav
from companion.practice.stored_shakes import StoredShakes
from companion.practice.waveform import COLUMN_S, LEVELS, picture
from companion.service.practice import SimulatedShakeBank, machine, shake_bank
from tests.worlds.read_only import read_only_card


class Table:
    """A table whose igloo a test shakes, and whose round a test begins."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "training.sqlite"
        self.newest: CountedShake | None = None
        self.real = True
        self.open = True
        self.judged = 0
        self.keep = 3
        self.room = self.opened()

    def opened(self) -> PracticeRun:
        stored = StoredShakes(self.path.with_name("heard"), lambda: self.keep)
        return PracticeRun(
            PracticeDatabase(self.path),
            shake_bank,
            self.count,
            self,
            gate=CountGate(lambda: not self.open),
            rng=Random(5),
            stored_shakes=stored,
        )

    def restart(self) -> None:
        self.room.close()
        self.room = self.opened()

    def count(self, shake: Shake) -> CountPosterior:
        self.judged += 1
        assert shake.kind is DeviceKind.SIMULATED
        return CountPosterior("counted", tuple(0.45 if i == 5 else 0.05 for i in range(12)), 2.0)

    def kind(self) -> DeviceKind | None:
        return DeviceKind.REAL if self.real else None

    def heard(self, since: float) -> CountedShake | None:
        assert since > 0
        return self.newest

    def shake(self, stored: int) -> None:
        accel = shake_bank().shake(stored)
        p = tuple(0.34 if i == 3 else 0.06 for i in range(12))
        self.newest = CountedShake(
            Shake(accel.accel, accel.rate_hz, DeviceKind.REAL), CountPosterior("counted", p, 2.0, kind=DeviceKind.REAL)
        )


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    table = Table(tmp_path)
    yield table
    table.room.close()


def truth_of(table: Table, round_id: str) -> int:
    with sqlite3.connect(table.path) as db:
        found = db.execute("SELECT truth FROM rounds WHERE id = ?", (round_id,)).fetchone()
    db.close()
    return int(found[0])


def code(refused: pytest.ExceptionInfo[TrainingError]) -> str:
    return refused.value.code


def test_a_drill_says_nothing_of_its_truth_before_the_answer_and_everything_after(table: Table) -> None:
    ann = table.room.add_person("Ann").id
    dealt = table.room.deal(ann)
    assert set(dealt) == {"id", "number", "kind", "source", "person", "duel", "shown", "answered", "state", "sound"}
    assert dealt["kind"] == "simulated"
    assert not dealt["shown"]
    truth = truth_of(table, dealt["id"])
    told = table.room.guess(dealt["id"], ann, 7)
    assert told["result"]["truth"] == truth
    assert told["result"]["guesses"] == {str(ann): 7}
    assert len(told["result"]["machine"]) == 12
    assert table.judged == 1


def test_an_answer_counts_once_and_a_shake_is_not_skipped(table: Table) -> None:
    ann = table.room.add_person("Ann").id
    first = table.room.deal(ann)
    assert table.room.deal(ann)["id"] == first["id"]
    table.room.guess(first["id"], ann, 7)
    again = table.room.guess(first["id"], ann, 8)
    assert again["result"]["guesses"] == {str(ann): 7}
    assert table.room.figures(ann)["overall"]["own"]["answers"] == 1
    assert table.room.deal(ann)["id"] != first["id"]


def test_a_shake_belongs_to_whom_it_was_dealt(table: Table) -> None:
    ann, bob = table.room.add_person("Ann").id, table.room.add_person("Bob").id
    dealt = table.room.deal(ann)
    with pytest.raises(TrainingError) as refused:
        table.room.guess(dealt["id"], bob, 7)
    assert code(refused) == "not-yours"
    assert table.room.round(dealt["id"])["answered"] == []


def test_a_restart_loses_no_round_and_sounds_the_same(table: Table) -> None:
    ann = table.room.add_person("Ann").id
    dealt = table.room.deal(ann)
    before, truth = table.room.sound(dealt["id"], "full"), truth_of(table, dealt["id"])
    table.restart()
    assert table.room.deal(ann)["id"] == dealt["id"]
    assert table.room.sound(dealt["id"], "full") == before
    assert table.room.guess(dealt["id"], ann, truth)["result"]["truth"] == truth
    table.restart()
    assert table.room.figures(ann)["overall"]["own"]["exact"] == 1.0


def test_the_igloo_is_heard_guessed_and_then_looked_under(table: Table) -> None:
    ann = table.room.add_person("Ann").id
    dealt = table.room.listen(ann)
    assert (dealt["state"], dealt["source"], dealt["kind"], dealt["sound"]) == ("listening", "igloo", "real", False)
    with pytest.raises(TrainingError) as refused:
        table.room.guess(dealt["id"], ann, 5)
    assert code(refused) == "no-sound"
    table.shake(9)
    heard = table.room.round(dealt["id"])
    assert heard["state"] == "heard"
    assert "result" not in heard
    assert table.room.sound(dealt["id"], "half")
    with pytest.raises(TrainingError) as refused:
        table.room.tell(dealt["id"], 5)
    assert code(refused) == "no-answer"
    guessed = table.room.guess(dealt["id"], ann, 6)
    assert guessed["state"] == "look"
    assert "result" not in guessed
    assert table.room.figures(ann)["overall"]["own"]["answers"] == 0
    done = table.room.tell(dealt["id"], 5)
    assert done["result"]["truth"] == 5
    assert done["result"]["machine"][3] == 0.34
    # What was told stays.
    assert table.room.tell(dealt["id"], 9)["result"]["truth"] == 5
    assert table.room.listen(ann)["id"] != dealt["id"]


def test_a_live_round_shuts_everything_of_the_igloo(table: Table) -> None:
    ann = table.room.add_person("Ann").id
    answered = table.room.listen(ann)["id"]
    table.shake(9)
    table.room.guess(answered, ann, 6)
    table.room.tell(answered, 5)
    waiting = table.room.listen(ann)["id"]
    assert table.room.figures(ann)["overall"]["own"]["answers"] == 1
    table.open = False
    assert table.room.igloo_kind() is None
    for work in (
        lambda: table.room.listen(ann),
        lambda: table.room.round(answered),
        lambda: table.room.round(waiting),
        lambda: table.room.sound(answered, "full"),
        lambda: table.room.sound(waiting, "full"),
        lambda: table.room.guess(waiting, ann, 3),
        lambda: table.room.guess(answered, ann, 3),
        lambda: table.room.tell(answered, 3),
    ):
        with pytest.raises(TrainingError) as refused:
            work()
        assert code(refused) == "live-round"
    # What was heard of it before is in no figure either; stored shakes go on.
    shut = table.room.figures(ann)
    assert shut["overall"]["own"]["answers"] == 0
    assert sum(map(sum, shut["confusion"])) == 0
    assert [row["who"] for row in table.room.ladder()] == ["published", "chance"]
    stored = table.room.deal(ann)
    assert table.room.guess(stored["id"], ann, 6)["shown"]
    table.open = True
    assert table.room.figures(ann)["overall"]["own"]["answers"] == 2


def test_without_an_igloo_nothing_is_listened_to(table: Table) -> None:
    table.real = False
    ann = table.room.add_person("Ann").id
    assert table.room.igloo_kind() is None
    with pytest.raises(TrainingError) as refused:
        table.room.listen(ann)
    assert code(refused) == "no-igloo"


def igloo_round(table: Table, person: int, truth: int) -> str:
    dealt: str = table.room.listen(person)["id"]
    table.shake(truth)
    table.room.guess(dealt, person, truth)
    table.room.tell(dealt, truth)
    return dealt


def test_every_stored_shake_is_heard_again_also_after_a_restart(table: Table) -> None:
    ann = table.room.add_person("Ann").id
    dealt = []
    for guess in range(PAST + 5):
        one = table.room.deal(ann)["id"]
        table.room.guess(one, ann, 2 + guess % 12)
        dealt.append((one, 2 + guess % 12, table.room.sound(one, "full") if guess in {0, PAST} else b""))
    table.restart()
    told = table.room.past(ann, 2**53)
    assert [one["id"] for one in told["shakes"]] == [one for one, _, _ in reversed(dealt)][:PAST]
    rest = table.room.past(ann, told["more"])
    assert rest["more"] is None
    every = told["shakes"] + rest["shakes"]
    assert [(one["id"], one["guess"]) for one in every] == [(one, guess) for one, guess, _ in reversed(dealt)]
    assert all(one["sound"] and one["truth"] == truth_of(table, one["id"]) for one in every)
    for one, _, heard in dealt:
        assert not heard or table.room.sound(one, "full") == heard


def test_shakes_of_the_igloo_are_kept_until_newer_ones_need_the_room(table: Table) -> None:
    ann = table.room.add_person("Ann").id
    rounds = [igloo_round(table, ann, truth) for truth in (4, 9, 5)]
    before = [table.room.round(one)["result"]["wave"] for one in rounds]
    heard = [table.room.sound(one, "half") for one in rounds]
    table.restart()
    assert [table.room.round(one)["result"]["wave"] for one in rounds] == before
    assert len(table.room.sound(rounds[0], "half")) == len(heard[0])
    again = np.frombuffer(table.room.sound(rounds[0], "half")[44:], dtype="<i2").astype(float)
    assert float(np.corrcoef(again, np.frombuffer(heard[0][44:], dtype="<i2").astype(float))[0, 1]) > 0.999
    rounds.append(igloo_round(table, ann, 7))
    table.restart()
    told = table.room.past(ann, 2**53)
    assert [one["sound"] for one in told["shakes"]] == [True, True, True, False]
    assert told["kept"] == 3
    with pytest.raises(TrainingError) as refused:
        table.room.sound(rounds[0], "full")
    assert code(refused) == "given-away"
    assert table.room.round(rounds[0])["result"]["wave"] == ""
    assert table.room.figures(ann)["overall"]["own"]["answers"] == 4
    # A live round shuts these, too; and who keeps none keeps none.
    table.open = False
    assert table.room.past(ann, 2**53)["shakes"] == []
    table.open = True
    table.keep = 0
    kept_none = igloo_round(table, ann, 3)
    table.restart()
    assert [one["sound"] for one in table.room.past(ann, 2**53)["shakes"] if one["id"] == kept_none] == [False]


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 torn", b"\x93NUMPY"])
def test_a_kept_shake_that_cannot_be_read_is_no_shake(table: Table, content: bytes) -> None:
    ann = table.room.add_person("Ann").id
    one = igloo_round(table, ann, 4)
    (table.path.parent / "heard" / f"{one}.npz").write_bytes(content)
    table.restart()
    with pytest.raises(TrainingError) as refused:
        table.room.sound(one, "full")
    assert code(refused) == "given-away"
    with pytest.raises(TrainingError):
        table.room.sound("../../training", "full")


def test_a_duel_hides_every_answer_until_all_are_in(table: Table) -> None:
    ann, bob = table.room.add_person("Ann").id, table.room.add_person("Bob").id
    duel = table.room.open_duel([ann, bob], 2)
    first = duel["round"]["id"]
    truth = truth_of(table, first)
    half = table.room.guess(first, ann, truth)
    assert "result" not in half
    assert half["answered"] == [ann]
    assert table.room.duel(duel["id"])["people"][0]["points"] == 0
    assert table.room.figures(ann)["overall"]["own"]["answers"] == 0
    with pytest.raises(TrainingError) as refused:
        table.room.next_in_duel(duel["id"], 1)
    assert code(refused) == "no-answer"
    near = truth + 1 if truth < 13 else truth - 1
    whole = table.room.guess(first, bob, near)
    assert whole["result"]["points"] == {str(ann): 3, str(bob): 1}
    second = table.room.next_in_duel(duel["id"], 1)["round"]
    assert second["number"] == 2
    assert table.room.next_in_duel(duel["id"], 1)["round"]["id"] == second["id"]
    far = 13 if truth_of(table, second["id"]) < 8 else 2
    table.room.guess(second["id"], ann, far)
    table.room.guess(second["id"], bob, far)
    ended = table.room.next_in_duel(duel["id"], 2)
    assert ended["over"]
    assert ended["winners"] == [ann]
    assert [one["points"] for one in ended["people"]] == [3, 1]
    assert table.room.duels() == []


def test_a_duel_that_is_ended_shows_what_was_answered(table: Table) -> None:
    ann, bob, cid = (table.room.add_person(name).id for name in ("Ann", "Bob", "Cid"))
    duel = table.room.open_duel([ann, bob], 5)
    assert table.room.duels()[0]["people"] == ["Ann", "Bob"]
    with pytest.raises(TrainingError):
        table.room.guess(duel["round"]["id"], cid, 5)
    table.room.guess(duel["round"]["id"], ann, 5)
    ended = table.room.close_duel(duel["id"])
    assert ended["over"]
    assert "result" in ended["round"]
    with pytest.raises(TrainingError) as refused:
        table.room.guess(duel["round"]["id"], bob, ended["round"]["result"]["truth"])
    assert code(refused) == "over"


@pytest.mark.parametrize("people", [[1], [1, 1], list(range(1, 10)), []])
def test_a_duel_needs_two_to_eight_different_people(table: Table, people: list[int]) -> None:
    for name in range(9):
        table.room.add_person(f"P{name}")
    with pytest.raises(TrainingError) as refused:
        table.room.open_duel(people, 3)
    assert code(refused) == "duellists"


def test_a_forgotten_name_is_nowhere_and_the_figures_stay(table: Table) -> None:
    ann = table.room.add_person("Annabelle-Forgotten").id
    for _ in range(3):
        table.room.guess(table.room.deal(ann)["id"], ann, 6)
    table.room.rename(ann, None)
    assert table.room.people() == []
    with pytest.raises(TrainingError) as refused:
        table.room.figures(ann)
    assert code(refused) == "no-person"
    machine_row = next(row for row in table.room.ladder() if row["who"] == "machine")
    assert machine_row["answers"] == 3
    table.room.close()
    for path in table.path.parent.iterdir():
        assert b"Annabelle-Forgotten" not in path.read_bytes(), path


def test_names_are_one_persons(table: Table) -> None:
    ann, bob = table.room.add_person("Ann").id, table.room.add_person("Bob").id
    assert table.room.add_person("Ann").id == ann
    with pytest.raises(TrainingError) as refused:
        table.room.rename(bob, "Ann")
    assert code(refused) == "name-taken"
    table.room.rename(bob, "Bo")
    assert [one.name for one in table.room.people()] == ["Ann", "Bo"]


def test_two_entries_of_one_person_train_as_one(table: Table) -> None:
    anni, bob, ann = (table.room.add_person(name).id for name in ("Anni-Merged", "Bob", "Ann"))
    for person, rounds in ((anni, 3), (ann, 2), (bob, 1)):
        for _ in range(rounds):
            table.room.guess(table.room.deal(person)["id"], person, 6)
    duel = table.room.open_duel([anni, bob], 2)
    table.room.merge(anni, ann)
    assert [one.name for one in table.room.people()] == ["Bob", "Ann"]
    assert table.room.figures(ann)["overall"]["own"]["answers"] == 5
    assert next(row for row in table.room.ladder() if row.get("name") == "Ann")["answers"] == 5
    assert table.room.deal(ann)["number"] == 6
    # The duel that was going on goes on under the name that stays.
    assert [one["name"] for one in table.room.duel(duel["id"])["people"]] == ["Ann", "Bob"]
    for person in (anni, bob):
        told = table.room.guess(duel["round"]["id"], person, 6)
    assert told["shown"]
    assert table.room.figures(ann)["overall"]["own"]["answers"] == 6
    # A chain ends at its end.
    cid = table.room.add_person("Cid").id
    table.room.merge(ann, cid)
    assert table.room.figures(cid)["overall"]["own"]["answers"] == 6
    assert table.room.figures(anni)["name"] == "Cid"
    with pytest.raises(TrainingError):
        table.room.merge(cid, 99)
    table.room.close()
    assert all(b"Anni-Merged" not in path.read_bytes() for path in table.path.parent.iterdir())


def test_a_book_from_before_people_were_made_one_is_read_on(table: Table) -> None:
    ann, bob = table.room.add_person("Ann").id, table.room.add_person("Bob").id
    table.room.guess(table.room.deal(ann)["id"], ann, 6)
    table.room.close()
    with sqlite3.connect(table.path) as db:
        db.execute("PRAGMA foreign_keys = OFF")
        db.execute("ALTER TABLE people DROP COLUMN same_as")
    db.close()
    table.room.merge(ann, bob)
    assert table.room.figures(bob)["overall"]["own"]["answers"] == 1


def test_answers_stay_as_they_were_given(table: Table) -> None:
    ann = table.room.add_person("Ann").id
    dealt = table.room.deal(ann)
    table.room.guess(dealt["id"], ann, 6)
    db = sqlite3.connect(table.path)
    for change in (
        "UPDATE answers SET guess = 5",
        "DELETE FROM answers",
        "DELETE FROM people",
        "UPDATE rounds SET truth = 2",
    ):
        with pytest.raises(sqlite3.IntegrityError):
            db.execute(change)
    db.close()


@pytest.mark.parametrize("content", [b"", b"no database at all, but long enough to be looked at" * 50])
def test_a_file_that_is_no_book_is_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "training.sqlite"
    path.write_bytes(content)
    with pytest.raises(PracticeDatabaseError):
        PracticeDatabase(path).people()
    assert path.read_bytes() == content


def test_a_card_that_the_kernel_made_read_only_takes_no_answer(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    ann = table.room.add_person("Ann").id
    dealt = table.room.deal(ann)
    with read_only_card(monkeypatch), pytest.raises(PracticeDatabaseError, match="read-only"):
        table.room.guess(dealt["id"], ann, 6)
    assert table.room.figures(ann)["overall"]["own"]["answers"] == 0
    table.room.guess(dealt["id"], ann, 6)


def test_every_count_is_dealt_and_the_weak_ones_more_often(table: Table) -> None:
    ann = table.room.add_person("Ann").id
    dealt: list[int] = []
    for _ in range(150):
        one = table.room.deal(ann)
        truth = truth_of(table, one["id"])
        dealt.append(truth)
        table.room.guess(one["id"], ann, truth if truth < 9 else max(2, truth - 3))
    assert set(dealt) == set(COUNTS)
    assert sum(truth >= 9 for truth in dealt) > 100
    assert table.room.figures(ann)["weakest"][0] >= 9


def test_no_shake_comes_again_before_all_of_its_number_were_heard(table: Table) -> None:
    ann, bob = (table.room.add_person(name).id for name in ("Ann", "Bob"))
    seen: dict[int, list[int]] = {}
    for _ in range(60):
        dealt = table.room.deal(ann)
        one = PracticeDatabase(table.path).round(dealt["id"])
        assert one.shake is not None and one.truth is not None
        seen.setdefault(one.truth, []).append(one.shake)
        table.room.guess(dealt["id"], ann, one.truth)
    assert all(len(set(shakes[:8])) == len(shakes[:8]) for shakes in seen.values())
    duel = table.room.open_duel([ann, bob], 1)
    one = PracticeDatabase(table.path).round(duel["round"]["id"])
    assert one.truth is not None and (one.shake not in seen.get(one.truth, []) or len(seen[one.truth]) >= 8)


def test_the_shake_is_drawn_when_its_number_is_out(table: Table) -> None:
    ann = table.room.add_person("Ann").id
    dealt = table.room.deal(ann)
    assert "wave" not in str(dealt)
    told = table.room.guess(dealt["id"], ann, 5)["result"]["wave"]
    one = PracticeDatabase(table.path).round(dealt["id"])
    assert one.shake is not None
    shake = cut(shake_bank().shake(one.shake), one.seed)
    assert told == picture(shake.accel, shake.rate_hz)
    assert len(told) == 2 * int(len(shake.accel) / shake.rate_hz / COLUMN_S)
    # A stroke of 4 g to one side: the letter of 4 g is the middle's and half of the reach.
    stroke = np.zeros((800, 3))
    stroke[400:440] = [0.0, 4.0, 0.0]
    drawn = picture(stroke, 3200.0)
    levels = [LEVELS.index(letter) for letter in drawn]
    assert max(levels) - 32 in {15, 16} or 32 - min(levels) in {15, 16}


# --- sound -------------------------------------------------------------------------------------------------------


def knocks(times: list[float], seconds: float = 2.0, rate: float = 3200.0) -> Shake:
    """A strong hand at 4 Hz, and short knocks at given times."""
    t = np.arange(int(seconds * rate)) / rate
    accel = np.zeros((len(t), 3))
    accel[:, 0] = 3.0 * np.sin(2.0 * np.pi * 4.0 * t)
    for at in times:
        after = t - at
        accel[:, :] += (np.where(after >= 0, np.exp(-after / 0.003) * np.sin(2 * np.pi * 900 * after), 0.0))[:, None]
    return Shake(accel, rate, DeviceKind.SIMULATED)


@pytest.mark.parametrize("speed", [1.0, 0.5, 0.25])
def test_knocks_are_heard_when_they_happened_and_the_hand_is_not(speed: float) -> None:
    times = [0.4, 0.9, 1.35]
    heard = np.abs(sound(knocks(times), speed))
    assert len(heard) == int(2.0 * WAV_HZ / speed)
    at = np.arange(len(heard)) / WAV_HZ * speed
    near = np.zeros(len(heard), dtype=bool)
    for time in times:
        near |= (at > time - 0.01) & (at < time + 0.05)
        assert heard[(at > time - 0.005) & (at < time + 0.02)].max() > 0.5
    assert heard[~near].max() < 0.1


def test_a_slowed_shake_sounds_as_high_as_before() -> None:
    middles = []
    for speed in (1.0, 0.5, 0.25):
        made = sound(cut(shake_bank().shake(20), 3), speed, 9)
        power = np.abs(np.fft.rfft(made)) ** 2
        middles.append(float((np.fft.rfftfreq(len(made), 1 / WAV_HZ) * power).sum() / power.sum()))
    assert all(1500 < middle < 3200 for middle in middles)


def test_stored_shakes_of_all_counts_are_about_as_loud_and_never_cut_off() -> None:
    for number in range(0, 36, 5):
        made = sound(cut(shake_bank().shake(number), number))
        assert 0.08 < made.std() < 0.2
        assert np.abs(made).max() < 1.0


def test_a_wav_is_what_it_says() -> None:
    with wave.open(io.BytesIO(wav(cut(shake_bank().shake(0), 1), 0.5, 1))) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, WAV_HZ)
        assert file.getnframes() / WAV_HZ == pytest.approx(2 * HEARD_S + 0.1, abs=0.01)


def test_the_same_shake_is_cut_and_heard_in_many_ways() -> None:
    shake = shake_bank().shake(0)
    assert len({wav(cut(shake, seed), 1.0, seed) for seed in range(5)}) == 5


def test_the_stored_shakes_are_those_of_the_bank_and_the_machine_is_the_real_one() -> None:
    shakes, bank = SimulatedShakeBank(), load_bank()
    for count in COUNTS:
        assert shakes.of(count)
        assert len(shakes.of(count)) == 14
        own = [number for number in shakes.of(count) if number < len(bank.count)]
        assert len(own) == 3 and all(bank.count[number] == count for number in own)
    with pytest.raises(KeyError):
        shakes.shake(168)
    rates = {round(shakes.shake(number).rate_hz, 2) for number in shakes.of(7)}
    assert len(rates) == 12
    one = cut(shakes.shake(0), 4)
    assert machine(one).p == count_recording(one.accel, one.rate_hz).p
