"""What is unlike anything known, and the figures after a calibration."""

from __future__ import annotations

import numpy as np
import pytest

from companion.igloo.calibration.gaussian_process import PredictiveDistribution
from companion.igloo.calibration.outlier import COMMON_ANY, COMMON_ONE, KNOWN_PART, Usual, beyond, learn_usual
from companion.igloo.calibration.store import UNLIKE, Calibration, priors, usual
from companion.igloo.count.features import FEATURES
from companion.lab.bench import calibration_measure as measured
from companion.lab.train.calibration_prior import LabelledShakes, learn

pytestmark = pytest.mark.learning


def world(seed: int, devices: int, each: int) -> tuple[np.ndarray, np.ndarray]:
    """Return pieces of igloos that differ much from each other and little within."""
    rng = np.random.default_rng(seed)
    rows, names = [], []
    for device in range(devices):
        own = rng.normal(size=8)
        rows.append(np.concatenate([own + 0.1 * rng.normal(size=(each, 8)), np.full((each, 1), 2.0)], axis=1))
        names += [device] * each
    return np.concatenate(rows), np.array(names)


@pytest.fixture(scope="module")
def known() -> Usual:
    return learn_usual(*world(1, 150, 40))


def test_what_is_usual_lies_within_the_border(known: Usual) -> None:
    fresh, names = world(2, 60, 20)
    any_igloo = np.array([known.strangeness(row[None]) for row in fresh])
    one = np.array(
        [known.strangeness(row[None], fresh[names == name][:12]) for row, name in zip(fresh, names, strict=True)]
    )
    assert np.mean(any_igloo > 1) < 0.02
    assert np.mean(one > 1) < 0.02
    assert np.quantile(any_igloo, KNOWN_PART) > 0.5


def test_another_igloo_is_unlike_this_one_but_not_unlike_any(known: Usual) -> None:
    fresh, names = world(3, 12, 20)
    others = [known.strangeness(fresh[names == d][:1], fresh[names == d - 1][:12]) for d in range(1, 12)]
    assert np.mean(np.array(others) > 1) > 0.8
    assert np.mean([known.strangeness(fresh[names == d][:1]) < 1 for d in range(12)]) > 0.9
    assert known.strangeness(fresh[:1] + 9.0) > 1


def test_counts_far_outside_the_box_are_beyond() -> None:
    narrow = 0.02 * np.eye(1)
    assert beyond(PredictiveDistribution(np.array([np.log(20.0)]), narrow)) > 0.9
    assert beyond(PredictiveDistribution(np.array([-1.0]), narrow)) > 0.9
    for count in range(2, 14):
        assert beyond(PredictiveDistribution(np.array([np.log(count)]), 0.002 * np.eye(1))) < 0.15


def test_a_shake_that_is_unlike_has_no_count() -> None:
    from companion.igloo.calibration.features import ShakeFeatures
    from companion.ports import CountPosterior

    shipped = usual()
    assert shipped is not None
    flat = CountPosterior("counted", (1 / 12,) * 12, 4.0)
    plain = priors()[3200.0, False].middle
    far, near = plain.copy(), plain.copy()
    far[:FEATURES] = shipped.middle + 12 * shipped.scale * np.resize([1, -1], FEATURES)
    near[:FEATURES] = shipped.middle
    for vector, state in ((far, "not-a-shake"), (near, "counted")):
        heard = ShakeFeatures(flat, vector[None], np.array([4.0]), 3200.0, kept=False)
        answer = Calibration.of_nothing(3200.0).count([heard])
        assert answer.state == state
        assert bool(answer.p) == (state == "counted")
        assert (answer.why == UNLIKE) == (state != "counted")


def test_the_rows_judge_what_did_not_calibrate() -> None:
    rng = np.random.default_rng(5)
    vectors, counts, devices, hands = [], [], [], []
    for device in range(12):
        shift = 0.4 * rng.normal()
        for hand in range(3):
            for k in range(48 if hand == 0 else 24):
                count = 2 + k % 12
                vectors.append([np.log(count) + shift + 0.03 * rng.normal(), 1.8 + 0.1 * rng.normal()])
                counts.append(count)
                devices.append(device)
                hands.append(hand)
    shakes = LabelledShakes(np.array(vectors), np.array(counts), np.array(devices), np.array(hands))
    prior = learn(shakes)
    number = np.arange(len(counts))
    same, new, many, own = (measured.measure(row, shakes, number, prior) for row in measured.free_rows())
    assert (same["shakes"], new["shakes"], many["shakes"], own["shakes"]) == (432, 576, 576, 144)
    for found in (same, new, many, own):
        assert found["exact"] > 0.7
        assert found["exact"] >= found["ridge"]["exact"] - 0.1 > 0.2
        low, high = found["interval"]["exact"]
        assert low <= found["exact"] <= high
        assert np.sum(found["confusion"]) == found["shakes"]
    # two pieces a shake: 24 shakes of hand 0 calibrate, 12 of each of the two others are judged
    rows = [measured.measure(row, shakes, number // 2, prior) for row in measured.guided_rows()[:3]]
    assert [row["shakes"] for row in rows] == [288, 288, 144]
    ended = measured.stopped(shakes, number // 2, prior)
    assert ended["shakes"] == 144
    assert 0 < ended["sure"] < 1
    right, sure = ended["right"]
    assert right >= 0.9 * sure
    assert measured.PIECE_S <= ended["seconds"] <= 4 * measured.PIECE_S
    # a dozen of hand 0's shakes calibrate, three more of each count are joined
    joined = measured.shaken_on(shakes, number, prior, known=12)
    assert (joined["shakes"], joined["ten"][1]) == (144, 48)
    assert joined["exact"] >= same["exact"]
    assert joined["right"][0] >= 0.9 * joined["right"][1] > 0
    assert joined["seconds"] <= 3 * measured.PIECE_S and joined["told"] == [0, 0, 0, 0]


def test_the_plain_regression_takes_the_strength_that_leaves_out_best() -> None:
    rng = np.random.default_rng(2)
    counts = np.tile(np.arange(2, 14), 3)
    slopes = rng.normal(size=40)

    def heard(n: np.ndarray) -> np.ndarray:
        return np.asarray(np.log(n)[:, None] * slopes + 0.2 * rng.normal(size=(len(n), 40)))

    guess = np.exp(measured.ridge(heard(counts), counts)(heard(counts)))
    assert np.mean(np.abs(guess - counts)) < 0.5
    shuffled = measured.ridge(heard(counts), rng.permutation(counts))(heard(counts))
    assert np.std(shuffled) < 0.5 * np.std(np.log(counts))


def test_either_surprise_makes_a_shake_unlike(known: Usual) -> None:
    """Twenty beads sound as usual and say another number; another container sounds otherwise, whatever it says."""
    fresh, names = world(4, 200, 13)
    inside, outside = (
        PredictiveDistribution(np.array([np.log(6.0)]), 0.02 * np.eye(1)),
        PredictiveDistribution(np.array([np.log(19.0)]), 0.05 * np.eye(1)),
    )
    usual_ones = [known.unlikeness(row[None], inside) for row in fresh]
    assert 0 < np.mean(np.array(usual_ones) > 1) < 0.04
    assert min(known.unlikeness(row[None], outside) for row in fresh) > max(np.quantile(usual_ones, 0.99), 1)
    assert known.unlikeness(fresh[:1] + 9.0, inside) > 1
    own = [known.unlikeness(fresh[names == d][12:13], inside, fresh[names == d][:12]) for d in range(20)]
    other = [known.unlikeness(fresh[names == d][12:13], inside, fresh[names == d - 1][:12]) for d in range(1, 20)]
    assert np.median(other) > 1 > np.median(own)


def test_what_is_usual_is_kept_and_read_with_its_common_part_or_without(known: Usual) -> None:
    again = Usual.of_arrays(known.arrays())
    assert again.any_common == pytest.approx(known.any_common)
    assert again.one_common == pytest.approx(known.one_common)
    assert 0 < again.any_common < 1
    older = Usual.of_arrays({name: value for name, value in known.arrays().items() if name != "usual/common"})
    assert (older.any_common, older.one_common) == (COMMON_ANY, COMMON_ONE)
