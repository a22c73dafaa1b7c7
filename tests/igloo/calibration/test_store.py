"""The process behind a calibration, its file, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from companion.igloo.calibration.features import counted, hear, heard_by
from companion.igloo.calibration.figures import figures_of
from companion.igloo.calibration.gaussian_process import (
    CENTRE,
    Known,
    PredictiveDistribution,
    Prior,
    combined,
    heaped,
    spread,
)
from companion.igloo.calibration.store import (
    Calibration,
    CalibrationStore,
    calibrate,
    file_of,
    load,
    prior_card,
    priors,
    save,
    undo,
)
from companion.igloo.count.counter import embed, shipped
from companion.igloo.count.ensemble import as_vector, scores
from companion.igloo.count.features import FEATURES
from companion.igloo.recordings import Recording
from companion.igloo.simulated import BANK
from companion.lab.train.calibration_prior import LabelledShakes, evened, judge, learn, trials
from companion.ports import COUNTS, BadDataError, Samples

pytestmark = pytest.mark.learning

with np.load(BANK, allow_pickle=False) as _bank:
    SHAKES = _bank["accel"] * (float(_bank["ug_per_lsb"]) * 1e-6)
    RATE = float(_bank["rate_hz"])
    TRUTH = tuple(int(n) for n in _bank["count"])
FloatArray = NDArray[np.float64]
ONE_EACH = tuple(range(0, 36, 3))


def recording(picks: tuple[int, ...], count: tuple[int, ...] | None = None, **labels: Any) -> Recording:
    counts = tuple(TRUTH[i] for i in picks) if count is None else count
    return Recording(tuple(SHAKES[i] for i in picks), RATE, count=counts, **labels)


def world(rng: np.random.Generator, devices: int, hands: int, each: int, f: int = 6) -> LabelledShakes:
    """Return shakes of igloos whose features shift from igloo to igloo."""
    rows, counts, igloos, who = [], [], [], []
    common = rng.normal(size=f)
    for device in range(devices):
        shift = rng.normal(size=f) * 0.6
        for hand in range(hands):
            for k in range(each):
                count = 2 + k % 12
                x = np.log(count) * common + shift + 0.1 * rng.normal(size=f)
                rows.append([*x, np.log(count) + 0.3 * shift[0] + 0.2 * rng.normal()])
                counts.append(count)
                igloos.append(device)
                who.append(hand)
    return LabelledShakes(np.array(rows), np.array(counts), np.array(igloos), np.array(who))


@pytest.fixture(scope="module")
def shakes() -> LabelledShakes:
    return world(np.random.default_rng(3), 12, 2, 24)


@pytest.fixture(scope="module")
def prior(shakes: LabelledShakes) -> Prior:
    return learn(shakes.of(shakes.devices < 9))


def test_learning_from_many_igloos_makes_a_new_one_well_known_from_twelve_shakes(
    shakes: LabelledShakes, prior: Prior
) -> None:
    fresh = shakes.of(shakes.devices >= 9)
    twelve = trials(fresh, sizes=(12,))
    mean, deviation, counts = judge(prior, fresh, twelve)
    after = scores(spread(mean, deviation * prior.stretch), counts)
    nothing = Known(prior, fresh.vectors[:0], fresh.counts[:0], ()).answer(fresh.vectors, ["?"] * len(fresh.counts))
    before = scores(nothing.each(prior.stretch), fresh.counts)
    assert after["exact"] > before["exact"] + 0.2
    assert after["nll"] < before["nll"] - 0.4
    assert after["ece"] < 0.1
    assert 0.7 < np.std((mean - np.log(counts)) / deviation) < 1.4


def test_the_same_shakes_teach_the_same(shakes: LabelledShakes, prior: Prior) -> None:
    again = learn(shakes.of(shakes.devices < 9))
    assert np.array_equal(again.weights, prior.weights)
    assert (again.noise, again.stretch) == (prior.noise, prior.stretch)


def test_the_process_is_what_brute_force_gives(shakes: LabelledShakes, prior: Prior) -> None:
    bent = replace(prior, curve=0.3, reach=0.8, hand_slope=0.1)
    mine = shakes.of(shakes.devices == 11)
    hands = [str(hand) for hand in mine.hands]
    x = bent.represent(mine.vectors)
    n = len(x)
    every = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            alike = float(np.mean(x[i] * x[j]))
            every[i, j] = bent.device_bias**2 + bent.device_slope**2 * alike
            every[i, j] += bent.curve**2 * np.exp(-0.5 * np.mean((x[i] - x[j]) ** 2) / bent.reach**2)
            if hands[i] == hands[j]:
                every[i, j] += bent.hand_bias**2 + bent.hand_slope**2 * alike
    every += bent.noise**2 * np.eye(n)
    known, asked = np.arange(30), np.arange(30, n)
    apart = np.log(mine.counts) - CENTRE - x @ bent.weights
    # a joint Gaussian is conditioned through its precision: nothing of the closed form's own blocks is used
    precision = np.linalg.inv(every)
    own = np.linalg.inv(precision[np.ix_(asked, asked)])
    mean = CENTRE + x[asked] @ bent.weights - own @ precision[np.ix_(asked, known)] @ apart[known]
    process = Known(bent, mine.vectors[known], mine.counts[known], hands[:30])
    answer = process.answer(mine.vectors[asked], hands[30:])
    np.testing.assert_allclose(answer.mean, mean, rtol=1e-6)
    np.testing.assert_allclose(answer.covariance, own, rtol=1e-5, atol=1e-9)


def test_each_count_is_the_likeliest_where_it_lies_twelve_too() -> None:
    for deviation in (0.05, 0.2, 0.4):
        p = spread(np.log(np.arange(2.0, 14.0)), np.full(12, deviation))
        assert list(p.argmax(axis=1)) == list(range(12))
        assert p.sum(axis=1) == pytest.approx(np.ones(12))


def test_the_counter_is_heeded_as_far_as_it_is_trusted(shakes: LabelledShakes, prior: Prior) -> None:
    trusting = replace(prior, trust=0.5, share=0.9)
    said = np.full((3, 12), 0.01)
    said[:, 2] = 0.89
    mine = shakes.of(shakes.devices == 10)
    hands = [str(hand) for hand in mine.hands]

    def of(one: Prior) -> PredictiveDistribution:
        process = Known(one, mine.vectors[:12], mine.counts[:12], hands[:12], lambda v: said[: len(v)])
        return process.answer(mine.vectors[12:15], hands[12:15])

    plain, heard = of(prior), of(trusting)
    p, q = plain.each(1.0), heard.each(1.0)
    expected = p**0.9 * said**0.5
    np.testing.assert_allclose(q, expected / expected.sum(axis=1, keepdims=True), rtol=1e-9)
    assert heard.joined(1.0)[2] > plain.joined(1.0)[2]
    assert heaped(np.log(said))[2] > 2 * np.log(0.89)  # three opinions that repeat each other are not three


def test_a_counter_that_favours_a_count_is_made_even() -> None:
    rng = np.random.default_rng(4)
    counts = np.repeat(np.arange(2, 14), 60)
    p = spread(np.log(counts) + 0.3 * rng.normal(size=len(counts)), np.full(len(counts), 0.3))
    p[:, 11] *= 3.0
    p /= p.sum(axis=1, keepdims=True)
    weighed = p * evened(p, counts)
    weighed /= weighed.sum(axis=1, keepdims=True)
    assert (p.argmax(axis=1) == 10).sum() == 0 < (weighed.argmax(axis=1) == 10).sum()
    np.testing.assert_allclose(12 * weighed.mean(axis=0), np.ones(12), atol=0.02)


def test_what_the_counter_said_of_a_shake_follows_from_its_vector() -> None:
    found = embed(SHAKES[4], RATE)
    assert found is not None
    vector = as_vector(found, shipped().tiers[found.tier])
    np.testing.assert_allclose(counted(found.tier, vector[None])[0], found.p, atol=1e-9)


def test_leaving_out_is_what_fitting_without_gives(shakes: LabelledShakes, prior: Prior) -> None:
    mine = shakes.of(shakes.devices == 10)
    hands = [str(hand) for hand in mine.hands]
    number = np.arange(len(hands)) // 2
    mean, deviation = Known(prior, mine.vectors, mine.counts, hands).left_out(number)
    rest = number != 7
    known = Known(prior, mine.vectors[rest], mine.counts[rest], [h for h, r in zip(hands, rest, strict=True) if r])
    answer = known.answer(mine.vectors[~rest], [h for h, r in zip(hands, rest, strict=True) if not r])
    assert combined(answer.mean, answer.covariance) == pytest.approx((mean[7], deviation[7]), rel=1e-6)


def test_shakes_of_one_igloo_share_errors_that_their_number_does_not_cure() -> None:
    alone = combined(np.array([1.0]), np.array([[0.05]]))
    together = combined(np.full(50, 1.0), np.full((50, 50), 0.04) + 0.01 * np.eye(50))
    assert together[1] < alone[1]
    assert together[1] > 0.2
    assert combined(np.array([1.0, 3.0]), np.diag([1.0, 3.0]))[0] == pytest.approx(1.5)


def test_one_shake_is_never_played_off_against_another() -> None:
    mean, _ = combined(np.array([1.0, 2.0]), np.array([[1.0, 1.9], [1.9, 4.0]]))
    assert 1.0 <= mean <= 2.0


def test_the_first_guess_of_an_unknown_igloo_is_the_common_part(prior: Prior, shakes: LabelledShakes) -> None:
    answer = Known(prior, shakes.vectors[:0], shakes.counts[:0], ()).answer(shakes.vectors[:3], ["?"] * 3)
    assert answer.mean == pytest.approx(CENTRE + prior.represent(shakes.vectors[:3]) @ prior.weights)
    short = Known(prior, shakes.vectors[:0], shakes.counts[:0], ()).answer(shakes.vectors[:1], ["?"], np.array([0.9]))
    assert short.covariance[0, 0] > answer.covariance[0, 0]


def test_the_shipped_priors_are_for_both_motions() -> None:
    known = priors()
    assert {(3200.0, False), (3200.0, True)} <= set(known)
    for (tier, _), one in known.items():
        bead_nets = shipped().tiers[tier].bead_nets
        assert one.weights.shape == (FEATURES + sum(bead_net.width for bead_net in bead_nets) + 1,)
        assert 0.02 < one.noise < 0.5
        # else calibrations that were made with the counter before would speak another language
        assert prior_card()["heard_by"][f"{tier:.0f}"] == heard_by(tier), "run `companion shake train-calibration`"


def test_of_an_igloo_that_was_not_measured_the_counters_own_mean_is_believed() -> None:
    for (tier, guided), prior in priors().items():
        nothing = Calibration.of_nothing(tier)
        few, many = np.tile(prior.middle, (2, 1))
        few[-1], many[-1] = np.log(3), np.log(11)
        few[:-1] += prior.scale[:-1]
        assert np.argmax(nothing.probabilities(few[None], guided=guided)) + 2 in {2, 3, 4}
        assert np.argmax(nothing.probabilities(many[None], guided=guided)) + 2 in {9, 10, 11, 12, 13}


# --- with the waveforms of the simulated igloo -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def made() -> Calibration:
    (found,) = calibrate([("bank", recording(ONE_EACH, person=("Ann",) * 12))])
    return found


def test_twelve_shakes_make_a_calibration_that_says_how_good_it_is(made: Calibration) -> None:
    figures = made.card["figures"]
    assert made.card["shakes"] == 12
    assert made.card["by_count"] == {str(n): 1 for n in COUNTS}
    assert figures["left out"]["shakes"] == 12
    low, high = figures["left out"]["exact_interval"]
    assert low < figures["left out"]["exact"] < high
    assert high - low > 0.3
    assert "new hand" not in figures
    assert figures["left out"]["nll"] < figures["before"]["nll"]


def other_sensor(shake: FloatArray) -> FloatArray:
    """Return what a sensor that hears the beads twice as loud would have felt."""
    size = 33
    hand = np.stack([np.convolve(shake[:, axis], np.ones(size) / size, mode="same") for axis in range(3)], axis=1)
    return np.asarray(hand + 2.0 * (shake - hand))


def test_an_igloo_that_sounds_otherwise_is_counted_better_after_its_own_shakes() -> None:
    loud = [other_sensor(shake) for shake in SHAKES]
    half = len(loud[0]) // 2
    hands = tuple(str(i % 3) for i in range(36))
    known = Recording(tuple(shake[:half] for shake in loud), RATE, count=TRUTH, person=hands)
    (made,) = calibrate([("loud", known)])
    before, after = [], []
    for i in range(0, 36, 2):
        heard = hear([Samples(loud[i][half:], 0.0, RATE, 0)])
        before.append(np.log(heard.answer.p[TRUTH[i] - 2]))
        after.append(np.log(made.count([heard], [hands[i]]).p[TRUTH[i] - 2]))
    assert np.mean(after) > np.mean(before) + 0.2
    assert np.mean(after) > -1.9


def test_a_calibration_is_kept_small_and_whole_and_can_be_undone(made: Calibration, tmp_path: Path) -> None:
    path = save(made, tmp_path)
    assert path.stat().st_size < 60_000
    first = load(path)
    assert first.card == made.card
    assert first.who == made.who
    assert np.allclose(first.vectors, made.vectors, atol=1e-3)
    (more,) = calibrate([("bank", recording(tuple(range(1, 36, 3)), person=("Ben",) * 12))], before=first)
    save(more, tmp_path)
    both = load(path)
    assert both.card["hands"] == ["Ann", "Ben"]
    assert both.card["figures"]["new hand"]["shakes"] == 24
    assert CalibrationStore(tmp_path).devices == [""]
    assert undo(tmp_path, "")
    assert load(path).card["hands"] == ["Ann"]
    assert not undo(tmp_path, "")
    assert not path.exists()
    with pytest.raises(BadDataError, match="holds no calibration"):
        undo(tmp_path, "")


def test_each_igloo_of_a_recording_has_a_file_of_its_own(tmp_path: Path) -> None:
    halves = recording(tuple(range(36)), device=("left",) * 18 + ("Ünten/rechts",) * 18)
    for one in calibrate([("bank", halves)]):
        save(one, tmp_path)
    store = CalibrationStore(tmp_path)
    assert set(store.devices) == {"left", "Ünten/rechts"}
    assert store.of("left") is not None
    assert store.of("") is None
    assert store.of("another") is None
    assert file_of(tmp_path, "Ünten/rechts").parent == tmp_path


def test_shakes_together_are_surer_than_each(made: Calibration) -> None:
    rest = recording((1, 2), count=(2, 2))
    heard = [hear(rest.runs(i)) for i in (0, 1)]
    each = [made.count([one]) for one in heard]
    joined = made.count(heard)
    assert joined.seconds == pytest.approx(sum(one.seconds for one in each))
    assert max(joined.p) > min(max(one.p) for one in each)
    assert sum(joined.p) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("picks", "count", "words"),
    [
        (ONE_EACH[:4], None, "only 4 usable shakes"),
        (tuple(range(12)), (5,) * 12, "All shakes are of 5 beads"),
        (ONE_EACH, (), "does not say how many beads"),
        (ONE_EACH, (1, *range(3, 14)), "a shake of 1 beads"),
        (ONE_EACH, (13, 2, 12, 3, 11, 4, 10, 5, 9, 6, 8, 7), "do not fit their labels"),
    ],
)
def test_what_cannot_calibrate_is_refused_in_a_sentence(
    picks: tuple[int, ...], count: tuple[int, ...] | None, words: str
) -> None:
    with pytest.raises(BadDataError, match=words):
        calibrate([("bank", recording(picks, count))])


def test_metres_are_converted_and_other_units_refused() -> None:
    metres = Recording(tuple(SHAKES[i] * 9.80665 for i in ONE_EACH), RATE, count=tuple(TRUTH[i] for i in ONE_EACH))
    (found,) = calibrate([("metres", metres)])
    (plain,) = calibrate([("g", recording(ONE_EACH))])
    assert np.allclose(found.vectors, plain.vectors, atol=1e-6)
    feet = Recording(tuple(SHAKES[i] * 1000 for i in ONE_EACH), RATE, count=tuple(TRUTH[i] for i in ONE_EACH))
    with pytest.raises(BadDataError, match="12 of 12 shakes cannot be used: The accelerations are not in g"):
        calibrate([("feet", feet)])


def test_a_broken_file_is_no_calibration(tmp_path: Path) -> None:
    (tmp_path / "x.npz").write_bytes(b"PK no")
    with pytest.raises(BadDataError, match="is no calibration"):
        CalibrationStore(tmp_path)
    with pytest.raises(BadDataError, match="holds no calibration"):
        CalibrationStore(tmp_path / "nowhere")


def test_few_shakes_have_a_wide_interval() -> None:
    p = np.eye(12)
    counts = np.arange(2, 14)
    low, high = figures_of(p, np.log(counts), counts)["exact_interval"]
    assert high == 1.0
    assert 0.7 < low < 0.9
