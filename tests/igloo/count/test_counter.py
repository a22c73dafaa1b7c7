"""The bead counter with the model that is shipped, on stored simulated shakes and on bad data."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from companion.igloo import simulated
from companion.igloo.count import counter as count_counter
from companion.igloo.count import signal_validity
from companion.igloo.count.counter import Counter, CountModel, count_recording, count_runs, shipped, together
from companion.ports import COUNTS, BadDataError, CountPosterior, DeviceKind, Samples

FloatArray = NDArray[np.float64]

with np.load(Path(simulated.__file__).with_name("bank") / "bank.npz", allow_pickle=False) as _bank:
    BANK = {key: _bank[key] for key in _bank.files}
RATE = float(BANK["rate_hz"])
SCALE = float(BANK["ug_per_lsb"]) * 1e-6


def shake(number: int) -> FloatArray:
    return np.asarray(BANK["accel"][number] * SCALE)


def move(name: str) -> FloatArray:
    return np.asarray(BANK[f"move_{name}"] * SCALE)


def stream(
    accel: FloatArray, rate: float = RATE, *, portion: int = 16, counter: Counter | None = None, t0: float = 0.0
) -> list[CountPosterior]:
    counter = counter or Counter("igloo", DeviceKind.SIMULATED)
    found = []
    for start in range(0, len(accel), portion):
        answer = counter.feed(Samples(accel[start : start + portion], t0 + start / rate, rate, start))
        if answer is not None:
            found.append(answer)
    return found


# --- good shakes


def test_stored_shakes_are_counted_far_better_than_by_chance() -> None:
    answers = [count_recording(shake(i), RATE) for i in range(len(BANK["count"]))]
    assert {answer.state for answer in answers} <= {"counted"}
    guesses = np.array([answer.count for answer in answers])
    assert np.abs(guesses - BANK["count"]).mean() < 2.4
    for answer in answers:
        assert len(answer.p) == len(COUNTS)
        assert sum(answer.p) == pytest.approx(1.0)
        assert min(answer.p) > 0
        assert 3.0 < answer.seconds <= 3.84


def test_a_stream_ends_with_what_the_file_says() -> None:
    for number in (4, 20):
        accel = shake(number)
        last = stream(accel)[-1]
        whole = count_recording(accel, RATE)
        assert last.count == whole.count
        np.testing.assert_allclose(last.p, whole.p, atol=0.05)


def test_a_stream_answers_from_the_first_half_second_and_grows_surer() -> None:
    answers = stream(shake(0))
    assert answers[0].state == "more" or max(answers[0].p) >= count_counter.SURE_P
    assert answers[0].seconds <= 0.8
    assert answers[-1].state == "counted"
    assert [a.seconds for a in answers] == sorted(a.seconds for a in answers)
    assert 8 <= len(answers) <= 4 * 4
    assert all(a.key == "igloo" and a.kind is DeviceKind.SIMULATED for a in answers)


@pytest.mark.parametrize("portion", [1, 333, 20000])
def test_the_portions_in_which_samples_come_do_not_matter(portion: int) -> None:
    accel = shake(10)
    assert stream(accel, portion=portion)[-1].p == pytest.approx(stream(accel)[-1].p, abs=0.05)


def test_a_pause_begins_a_new_shake() -> None:
    counter = Counter("igloo", DeviceKind.SIMULATED)
    one = stream(shake(0), counter=counter)[-1]
    stream(move("rest")[: int(1.2 * RATE)], counter=counter, t0=4.0)
    again = stream(shake(33), counter=counter, t0=5.2)
    assert again[0].seconds < one.seconds
    assert again[-1].p == pytest.approx(count_recording(shake(33), RATE).p, abs=0.2)


@pytest.mark.parametrize("factor", [2, 4])
def test_slower_sensors_are_counted_by_their_own_networks(factor: int) -> None:
    from companion.lab.train.dataset import slower

    found = [count_recording(slower(shake(i), factor), RATE / factor) for i in range(0, 36, 3)]
    assert all(len(answer.p) == 12 for answer in found)


# --- what is no shake


def test_rest_holding_and_turning_over_are_not_counted() -> None:
    for name in ("rest", "hold", "turned", "set_down", "lift"):
        assert not count_recording(move(name), RATE).p, name
        assert not any(answer.p for answer in stream(move(name))), name
    assert count_recording(move("rest"), RATE).why == count_counter.STILL


def test_moving_about_without_a_to_and_fro_is_not_a_shake() -> None:
    t = np.arange(int(3 * RATE)) / RATE
    noise = np.random.default_rng(1).normal(size=(len(t), 3)) * 0.02
    a = np.radians(60 * np.sin(2 * np.pi * 0.3 * t))
    answer = count_recording(np.column_stack([np.sin(a), 0 * a, np.cos(a)]) + noise, RATE)
    assert answer.state == "not-a-shake"
    assert answer.why


def test_too_little_shaking_is_said() -> None:
    answer = count_recording(shake(0)[int(RATE) : int(1.25 * RATE)], RATE)
    assert answer.state == "not-a-shake"
    assert answer.why == count_counter.TOO_SHORT


def test_an_empty_recording_is_no_shake() -> None:
    assert count_recording(np.zeros((0, 3)), RATE).state == "not-a-shake"


# --- bad data, each in one sentence


@pytest.mark.parametrize("rate", [50.0, 100.0, 400.0, 700.0])
def test_a_rate_below_800_hz_is_refused_with_the_reason(rate: float) -> None:
    accel = shake(0)[:: int(RATE / rate)]
    answer = count_recording(accel, rate)
    assert (answer.state, answer.why) == ("bad-data", signal_validity.TOO_SLOW)
    live = stream(accel, rate)
    assert {(a.state, a.why) for a in live} == {("bad-data", signal_validity.TOO_SLOW)}
    assert len(live) <= 3


def test_what_is_not_a_number_is_refused() -> None:
    accel = shake(0).copy()
    accel[5000, 1] = np.nan
    assert count_recording(accel, RATE).why == signal_validity.NOT_NUMBERS
    assert signal_validity.NOT_NUMBERS in {answer.why for answer in stream(accel)}


def test_a_dead_axis_is_refused() -> None:
    accel = shake(0).copy()
    accel[:, 2] = 0.0
    assert count_recording(accel, RATE).why == signal_validity.DEAD_AXIS
    assert signal_validity.DEAD_AXIS in {answer.why for answer in stream(accel)}


def test_a_sensor_at_its_limit_is_refused() -> None:
    accel = np.clip(shake(18) * 8, -2.0, 2.0)
    assert count_recording(accel, RATE).why == signal_validity.AT_LIMIT
    assert signal_validity.AT_LIMIT in {answer.why for answer in stream(accel)}


def test_a_shake_that_turns_about_the_wrist_is_in_g_from_whichever_swing_it_begins() -> None:
    rest = move("rest")[: round(0.8 * RATE)]
    for start in (1200, 2400, 3600):  # one second of it feels up to 3.9 g
        answers = stream(np.concatenate([rest, np.roll(shake(27), -start, axis=0)]))
        assert answers[-1].state == "counted"
        assert "bad-data" not in {one.state for one in answers}


def test_metres_per_second_squared_are_converted_and_said() -> None:
    answer = count_recording(shake(7) * 9.80665, RATE)
    assert signal_validity.METRES in answer.why
    assert answer.p == pytest.approx(count_recording(shake(7), RATE).p)
    assert signal_validity.WRONG_SCALE in {one.why for one in stream(shake(7) * 9.80665)}


@pytest.mark.parametrize("scale", [0.01, 256.0, 1000.0])
def test_another_scale_is_refused(scale: float) -> None:
    answer = count_recording(shake(7) * scale, RATE)
    assert answer.state in {"bad-data", "not-a-shake"}
    assert not answer.p


def test_two_axes_are_refused() -> None:
    assert count_recording(shake(0)[:, :2], RATE).why == signal_validity.NOT_THREE


# --- gaps


def runs(accel: FloatArray, at: float, missing: int, *, overflow: bool = False) -> list[Samples]:
    cut = int(at * RATE)
    first = Samples(accel[:cut], 0.0, RATE, 0)
    gap = 0 if overflow else missing
    return [first, Samples(accel[cut + missing :], (cut + missing) / RATE, RATE, cut + missing, gap, overflow)]


def feed(parts: list[Samples]) -> list[CountPosterior]:
    counter = Counter("igloo", DeviceKind.REAL)
    found = []
    for part in parts:
        for start in range(0, len(part.accel), 16):
            piece = Samples(
                part.accel[start : start + 16],
                part.t0 + start / RATE,
                RATE,
                part.index + start,
                part.gap_before if start == 0 else 0,
                part.overflow_before and start == 0,
            )
            if (answer := counter.feed(piece)) is not None:
                found.append(answer)
    return found


def test_a_short_known_gap_is_left_out_and_said() -> None:
    parts = runs(shake(16), 2.0, 300)
    answers = feed(parts)
    assert count_counter.LOST in answers[-1].why
    assert answers[-1].seconds < 3.8 - 300 / RATE
    assert count_counter.LOST in count_runs(parts).why


@pytest.mark.parametrize("overflow", [True, False])
def test_after_an_unknown_or_large_loss_the_count_begins_anew(overflow: bool) -> None:
    parts = runs(shake(16), 2.0, 20 if overflow else int(0.5 * RATE), overflow=overflow)
    answers = feed(parts)
    after = [a for a in answers if a.t > parts[1].t0 + 0.05]
    assert after[0].seconds < 0.9
    assert count_counter.LOST_MANY in after[-1].why
    assert after[-1].seconds <= 1.8


# --- several shakes, cards, the model


def test_several_shakes_of_one_igloo_are_worth_more_but_not_as_much_as_if_independent() -> None:
    one = CountPosterior("counted", tuple(np.full(12, 0.05) + np.eye(12)[3] * 0.4), 2.0)
    model = replace(shipped(), repeats=0.5)
    two = together([one, one], model=model)
    assert max(one.p) < max(two.p) < max(together([one, one], model=replace(model, repeats=0.0)).p)
    assert together([one, one], model=replace(model, repeats=1.0)).p == pytest.approx(one.p)
    assert two.seconds == 4.0
    assert together([], model=model).state == "not-a-shake"
    bad = CountPosterior("bad-data", why="x")
    assert together([bad], model=model) is bad


def test_the_chance_of_a_card_is_the_sum_of_its_numbers() -> None:
    one = count_recording(shake(0), RATE)
    assert count_counter.chance(one, (2, 3, 4)) == pytest.approx(sum(one.p[:3]))
    assert count_counter.chance(one, COUNTS) == pytest.approx(1.0)
    assert count_counter.chance(CountPosterior("not-a-shake"), (2,)) == 0


def test_the_model_is_small_and_carries_its_card() -> None:
    assert count_counter.MODEL.stat().st_size <= 2_000_000
    card = shipped().card
    assert card["trained_on"]["shakes"] >= 1000
    assert card["trained_on"]["ranges"]["bead_mm"] == [4.0, 8.0]
    assert "simulated" in card["limits"]
    assert len(card["figures"]) >= 2
    for scores in card["figures"].values():
        assert 0 < scores["whole"]["exact"] < 1
        assert scores["whole"]["interval"]["mae"][0] <= scores["whole"]["mae"] <= scores["whole"]["interval"]["mae"][1]
        assert scores["ridge, whole"]["mae"] > 0
        assert np.sum(scores["confusion"]) == scores["shakes"]


def test_a_model_is_saved_and_read_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "count.npz"
    shipped().save(file)
    again = CountModel.load(file)
    assert json.dumps(again.card) == json.dumps(shipped().card)
    ours = count_recording(shake(5), RATE, model=again)
    assert ours.p == pytest.approx(count_recording(shake(5), RATE).p)
    assert [p.name for p in tmp_path.iterdir()] == ["count.npz"]


@pytest.mark.parametrize("content", [b"", b"no model", None])
def test_a_file_that_is_no_model_is_refused_in_a_sentence(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "other.npz"
    if content is None:
        np.savez(file, accel=np.zeros(3))
    else:
        file.write_bytes(content)
    with pytest.raises(BadDataError, match="is no model of the bead counter"):
        CountModel.load(file)


# --- what lies behind an answer


def test_an_embedding_goes_with_the_answer_at_every_rate() -> None:
    from companion.lab.train.dataset import slower

    for factor, tier in ((1, 3200.0), (2, 1600.0), (4, 800.0)):
        found = [count_counter.embed(slower(shake(i), factor), RATE / factor) for i in (0, 18, 35)]
        for one in found:
            assert one is not None
            assert one.tier == tier
            assert np.isfinite(one.features).all() and np.isfinite(one.hidden).all()
            assert one.p.sum() == pytest.approx(1.0)
            assert 0.6 < one.mu < 2.6
            assert one.seconds == pytest.approx(3.84, abs=0.33)
        first, last = found[0], found[2]
        assert first is not None and last is not None
        assert np.abs(first.hidden - last.hidden).max() > 0.3


def test_an_embedding_says_the_same_of_a_shake_however_mounted() -> None:
    q, _ = np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))
    one, two = count_counter.embed(shake(9), RATE), count_counter.embed(shake(9) @ q.T, RATE)
    assert one is not None and two is not None
    np.testing.assert_allclose(one.features, two.features, atol=0.35)
    assert one.mu == pytest.approx(two.mu, abs=0.05)


def test_there_is_no_embedding_of_stillness() -> None:
    assert count_counter.embed(move("rest"), RATE) is None
