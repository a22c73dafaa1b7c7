"""The sizes of noise, trust, slopes and hands that an igloo's own shakes choose."""

from __future__ import annotations

import json
from dataclasses import astuple, replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from companion.igloo.calibration.features import Labelled, hear
from companion.igloo.calibration.figures import left_out
from companion.igloo.calibration.gaussian_process import CENTRE, OPINION, Known, Prior
from companion.igloo.calibration.sizes import SHIPPED, LeaveOneOut, Sizes, chosen
from companion.igloo.calibration.store import Calibration, load, of_shakes, save
from companion.igloo.simulated.device import load_bank
from companion.ports import BadDataError, Samples

pytestmark = pytest.mark.learning

FloatArray = NDArray[np.float64]
F = 6
PRIOR = Prior(
    np.zeros(F), np.ones(F), np.array([0.3, 0.2, 0.1, 0.0, 0.0, 0.1]), 0.2, 0.1, 0.02, 0.05, 0.1, trust=0.5, share=0.9
)


def says_nothing(vectors: FloatArray) -> FloatArray:
    return np.full((len(vectors), 12), 1 / 12)


def drawn(sizes: Sizes, many: int, hands: int = 1, seed: int = 1) -> tuple[FloatArray, NDArray[np.int64], list[str]]:
    """Return so many shakes, their counts and who shook, drawn from the process with these sizes."""
    rng = np.random.default_rng(seed)
    prior = sizes.applied(PRIOR)
    vectors = rng.normal(size=(many, F))
    vectors[:, -1] /= OPINION
    who = [str(i % hands) for i in range(many)]
    x = prior.represent(vectors)
    every = prior.covariance(x, who, x, who) + prior.noise**2 * np.eye(many)
    log_count = CENTRE + x @ prior.weights + np.linalg.cholesky(every) @ rng.normal(size=many)
    return vectors, np.clip(np.rint(np.exp(log_count)), 2, 13).astype(np.int64), who


def of(sizes: Sizes, many: int, hands: int = 1, judged: int | None = None) -> Sizes:
    """Return the sizes that so many drawn shakes choose."""
    vectors, counts, who = drawn(sizes, many, hands)
    process = Known(PRIOR, vectors, counts, who, says_nothing)
    told = np.arange(many) < (many if judged is None else judged)
    return chosen(LeaveOneOut(process, vectors, np.arange(many), told))


def test_where_shakes_are_noisier_the_noise_grows_and_where_they_are_steadier_it_shrinks() -> None:
    steady, as_shipped, noisy = (of(Sizes(noise=factor), 120).noise for factor in (0.3, 1.0, 3.0))
    assert steady < 0.75
    assert steady < as_shipped < noisy
    assert noisy > 1.8


def test_where_hands_are_unlike_it_is_seen() -> None:
    assert of(Sizes(hand=8.0), 240, hands=6).hand > 1.5 * of(Sizes(hand=0.1), 240, hands=6).hand


def test_a_counter_that_is_always_right_is_trusted_and_one_that_is_wrong_is_not() -> None:
    vectors, counts, who = drawn(SHIPPED, 120)

    def trusted(said: NDArray[np.int64]) -> float:
        opinion = np.full((120, 12), 0.02)
        opinion[np.arange(120), said - 2] = 0.78
        process = Known(PRIOR, vectors, counts, who, lambda _: opinion)
        return chosen(LeaveOneOut(process, vectors, np.arange(120), np.ones(120, dtype=np.bool_))).trust

    assert trusted(counts) > 1.3
    assert trusted(15 - counts) < 0.8


def test_without_a_shake_to_judge_the_shipped_sizes_stay_to_the_last_bit() -> None:
    assert of(Sizes(noise=3.0), 40, judged=0) == SHIPPED
    assert SHIPPED.applied(PRIOR) == PRIOR


def test_the_more_shakes_the_farther_sizes_go_and_few_change_little() -> None:
    far = [abs(np.log(of(Sizes(noise=3.0), 240, judged=many).noise)) for many in (1, 6, 60, 240)]
    assert far[0] <= 0.5
    assert far == sorted(far)
    assert far[-1] > far[0] + 0.3


def test_the_same_shakes_choose_the_same_in_any_order() -> None:
    vectors, counts, who = drawn(Sizes(noise=2.0), 60)
    order = np.random.default_rng(2).permutation(60)
    everything = np.ones(60, dtype=np.bool_)
    there = chosen(LeaveOneOut(Known(PRIOR, vectors, counts, who), vectors, np.arange(60), everything))
    mixed = Known(PRIOR, vectors[order], counts[order], [who[i] for i in order])
    assert chosen(LeaveOneOut(mixed, vectors[order], order, everything)) == pytest.approx(there)


def test_two_pieces_of_one_shake_do_not_tell_each_other() -> None:
    vectors, counts, who = drawn(Sizes(noise=3.0), 60)
    twice = Known(PRIOR, np.repeat(vectors, 2, axis=0), np.repeat(counts, 2), list(np.repeat(who, 2)))
    number, everything = np.repeat(np.arange(60), 2), np.ones(120, dtype=np.bool_)
    evidence = LeaveOneOut(twice, np.repeat(vectors, 2, axis=0), number, everything)
    # else a copy would be foreseen by its copy, and noise would vanish
    assert chosen(evidence).noise > 1.0


def test_sizes_that_a_hand_chose_hold_for_that_hand_alone() -> None:
    vectors, counts, who = drawn(SHIPPED, 40, hands=2)
    process = Known(PRIOR, vectors, counts, who)
    own = process.adapted({"0": Sizes(noise=2.0).applied(PRIOR)})
    for names in (["?"] * 3, ["0", "?", "?1"], ["1"] * 3):
        np.testing.assert_array_equal(own.answer(vectors[:3], names).mean, process.answer(vectors[:3], names).mean)
    known = own.answer(vectors[:3], ["0"] * 3)
    assert (np.diag(known.covariance) > np.diag(process.answer(vectors[:3], ["0"] * 3).covariance)).all()


# --- with the waveforms of the simulated igloo -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def made() -> Calibration:
    bank = load_bank()
    heard = [hear([Samples(wave * (bank.ug_per_lsb * 1e-6), 0.0, bank.rate_hz, 0)]) for wave in bank.accel]
    return of_shakes("", [Labelled(one, int(n), "Ann", False) for one, n in zip(heard, bank.count, strict=True)])


def test_a_calibration_keeps_its_sizes_and_answers_with_them(made: Calibration, tmp_path: Path) -> None:
    assert made.card["shakes"] == 36  # none was refused
    assert list(made.free_sizes) == ["Ann"]
    assert made.beat_sizes == {}  # no shake had the beat
    fixed = replace(made, free_sizes={})
    again = load(save(made, tmp_path))
    assert (again.free_sizes, again.beat_sizes) == (made.free_sizes, made.beat_sizes)
    some = made.vectors[:1]
    assert again.probabilities(some, "Ann") == pytest.approx(made.probabilities(some, "Ann"), abs=1e-3)
    assert made.probabilities(some, "Ann") != pytest.approx(fixed.probabilities(some, "Ann"), abs=1e-3)
    np.testing.assert_array_equal(made.probabilities(some, "Ben"), fixed.probabilities(some, "Ben"))
    shown, before = made.card["figures"]["left out"], left_out(fixed.free, fixed.vectors, fixed.shake)
    assert shown["nll"] < before["nll"]


def test_shakes_with_the_beat_say_nothing_of_free_ones(made: Calibration) -> None:
    beaten = replace(made, guided=(True,) * len(made.guided), free_sizes={}).adapted()
    assert beaten.free_sizes == {}
    assert list(beaten.beat_sizes) == ["Ann"]


def test_a_hand_of_few_shakes_keeps_to_the_shipped_sizes_beside_one_of_many(made: Calibration) -> None:
    who = tuple("Ben" if i % 12 == 0 else "Ann" for i in range(36))
    both = replace(made, who=who).adapted()
    ann, ben = (sum(np.log(astuple(both.free_sizes.get(name, SHIPPED))) ** 2) for name in ("Ann", "Ben"))
    assert ann > ben
    renamed, nobody = (replace(made, who=(name,) * 36).adapted() for name in ("Anna", ""))
    assert renamed.free_sizes == {"Anna": made.free_sizes["Ann"]}
    assert nobody.free_sizes == {}


def test_a_calibration_of_before_counts_as_it_did_and_one_with_absurd_sizes_is_none(
    made: Calibration, tmp_path: Path
) -> None:
    path = save(made, tmp_path)
    with np.load(path) as arrays:
        kept = dict(arrays)
    sizes = json.loads(str(kept.pop("sizes")))
    np.savez(path, **kept)
    assert load(path).free_sizes == {}
    for absurd in (
        [{"Ann": [1.0, 1.0, float("nan"), 1.0]}, {}],
        [{"Ann": [-1.0] * 4}, {}],
        [{"Ann": [1.0] * 5}, {}],
        7,
    ):
        np.savez(path, **kept, sizes=np.asarray(json.dumps(absurd)))
        with pytest.raises(BadDataError):
            load(path)
    np.savez(path, **kept, sizes=np.asarray(json.dumps(sizes)))
    assert load(path).free_sizes == made.free_sizes
