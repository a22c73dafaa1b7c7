"""The balance from labelled weighings to counts, in two worlds of other laws; and every way in which it says no."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.igloo.balance.calibration import (
    FILE,
    LabelledLoad,
    answers,
    card,
    faults,
    labelled,
    load,
    made_of,
    save,
    weighings,
)
from companion.igloo.balance.loads import Load, loads
from companion.igloo.balance.messages import (
    LEANS,
    MORE_THAN_A_BOX,
    NO_TARE,
    NOT_OF_THE_BOX,
    NOTHING,
    NOTHING_KNOWN,
    RUBS,
    SHAKEN,
    SLIPS,
    SOFT,
    TOO_HEAVY,
    TOO_LIGHT,
    TWO,
)
from companion.igloo.balance.ringdown import Ringdown, ringdown
from companion.igloo.balance.scale import (
    BalanceScale,
    KnownMass,
    assigned,
)
from companion.igloo.recordings import Recording
from companion.lab.bench.balance import outcome, trials, weighed
from companion.lab.physics.balance import (
    RATE_HZ,
    LabelledWeighings,
    Weighing,
    box,
    built,
    calibration_of,
    filled,
    weigh,
)
from companion.ports import COUNTS, BadDataError

PLATFORM, SHELL, BEAD = 30.0, 35.0, 0.67


def lying(grams: float, error: float = 1e-4) -> Load:
    """Return a sound weighing of so many grams."""
    return Load(Ringdown(20.0, 1e-4, 0.004, 4, 3.0), grams / PLATFORM, error, 30.0)


def known(*beads: int) -> BalanceScale:
    """Return a balance that knows a coin and igloos with so many beads."""
    igloos = tuple(KnownMass(n, (SHELL + n * BEAD) / PLATFORM, 1e-4) for n in beads for _ in range(2))
    return BalanceScale((KnownMass(8.5, 8.5 / PLATFORM, 1e-4),), igloos, (30.0,))


def test_twelve_counts_are_right_on_a_balance_built_well() -> None:
    for one in trials([41, 42], 0.67):
        told, wrong = outcome(one)
        assert wrong == []
        assert told["weighed"] == told["right"] == told["counted"] == 12


def test_fine_beads_are_never_surely_wrong() -> None:
    (one,) = trials([43], 0.164)
    told, wrong = outcome(one)
    assert wrong == []
    assert told["sure and wrong"] == told["wrong and counted"] == 0
    assert told["right"] >= 8


def test_fine_beads_are_told_by_weighing_the_twelve_together() -> None:
    for one in trials([44, 45], 0.164):
        told, wrong = outcome(one, together=True)
        assert wrong == []
        assert told["right"] == told["weighed"] == 12
        assert told["sure and wrong"] == 0


def test_a_soft_platform_a_slipping_clamp_and_one_that_rubs_are_noticed() -> None:
    found = {sentence for one in trials((2, 5, 6), 0.67, well=False) for sentence in outcome(one)[1]}
    assert {SOFT, SLIPS, RUBS} <= found


def test_an_odd_shell_among_shells_alike_is_not_told_surely_and_wrong() -> None:
    """An igloo of four weighs nearly what one of five would, which is lighter than usual: all others look alike."""
    bead, error = 0.168, 0.01 / PLATFORM
    off = {2: 0.001, 3: 0.004, 4: 0.12, 5: -0.07, 6: 0.002, 7: -0.004, 8: -0.019, 9: -0.006, 10: 0.035, 11: 0.04}
    off |= {12: 0.004, 13: -0.002}
    counted = ((2, -0.013), (5, 0.018), (8, 0.004), (10, 0.006), (12, 0.013), (13, -0.011))
    igloos = tuple(KnownMass(n, (SHELL + n * bead + g) / PLATFORM, error) for n, g in counted for _ in range(2))
    scale = BalanceScale(known(4, 11).weights, igloos, (30.0,))
    weighed = [lying(SHELL + n * bead + g, error) for n, g in off.items()]
    for told in (scale.answers(weighed), scale.together(weighed)):
        by_count = dict(zip(off, (one.posterior for one in told), strict=True))
        assert max(max(by_count[n].p) for n in (4, 5)) < 0.97
        assert by_count[9].count == 9


def test_a_number_that_is_weighed_twice_is_one_igloo() -> None:
    """Its shell is the same both times: two weighings of two igloos tell no more of a box than one of each does."""
    apart = np.array([0.05, -0.05])

    def knows(times: int) -> BalanceScale:
        igloos = [
            KnownMass(n, (SHELL + n * 0.164 + off) / PLATFORM, 3e-4) for n, off in zip((4, 11), apart, strict=True)
        ]
        return BalanceScale(known(4, 11).weights, tuple(igloos * times), (30.0,))

    def bead(scale: BalanceScale) -> tuple[float, float]:
        draws, logs = scale._drawn()
        w = np.exp(logs - logs.max())
        mean = float(w @ draws[:, 1] / w.sum())
        return mean, float(np.sqrt(w @ (draws[:, 1] - mean) ** 2 / w.sum()))

    once, twice = bead(knows(1)), bead(knows(2))
    assert twice[0] == pytest.approx(once[0], rel=0.02)
    assert twice[1] == pytest.approx(once[1], rel=0.05)


def test_what_an_igloo_off_the_middle_weighs_too_much_is_learnt_and_taken_off() -> None:
    """Off the middle the platform pitches, which is seen across, and an igloo weighs more by the square of it."""
    too_heavy, error = 7000.0, 1e-6

    def at(grams: float, pitch: float) -> Load:
        return replace(lying(grams + too_heavy * pitch), pitch=pitch, pitch_error=error)

    rows = [(n, at(SHELL + n * 0.164, pitch)) for n in (4, 11) for pitch in (2e-6, 12e-6)]
    igloos = tuple(KnownMass(n, one.load, one.error, one.pitch, one.pitch_error) for n, one in rows)
    scale = BalanceScale(known(4, 11).weights, igloos, (30.0,))
    # At 20 millionths it weighs as much as another with nearly one bead more.
    for n in (3, 6, 10):
        others = [at(SHELL + other * 0.164, 2e-6) for other in COUNTS if other != n]
        (answer, *_) = scale.answers([at(SHELL + n * 0.164, 20e-6), *others])
        assert (answer.posterior.state, answer.posterior.count) == ("counted", n)
        assert answer.grams == pytest.approx(SHELL + n * 0.164, abs=0.03)


@pytest.mark.parametrize("seed", [1, 2])
def test_an_igloo_that_leans_on_the_frame_is_noticed_before_it_is_miscounted(seed: int) -> None:
    rng = np.random.default_rng(seed)
    balance, of = built(rng, "AB"[seed % 2]), box(rng)
    labelled = weighed(calibration_of(balance, of, rng))
    igloo = filled(rng, of, 2, 7)
    leaning = (0.0, 0.001, 0.003, 0.01, 0.03, 0.12)
    on_it = [one for newtons in leaning for one in (Weighing(0.0), igloo._replace(lean_n=newtons))]
    found = loads(list(weigh(balance, on_it, rng)), RATE_HZ, ["tare", "unknown"] * len(leaning))
    free, *others = (one.posterior for one in made_of(labelled).answers(found[1::2]))
    assert (free.state, free.count) == ("counted", 7)
    assert {one.count for one in others} <= {7, None}
    assert [one.state for one in others[1:]] == ["bad-data"] * 4
    assert LEANS in {one.why for one in others}


@pytest.mark.parametrize("n", COUNTS)
def test_a_mass_on_the_ladder_is_its_count(n: int) -> None:
    (answer,) = known(4, 11).answers([lying(SHELL + n * BEAD)])
    assert (answer.posterior.state, answer.posterior.count) == ("counted", n)
    assert answer.grams == pytest.approx(SHELL + n * BEAD, abs=0.02)
    assert sum(answer.posterior.p) == pytest.approx(1)


def test_a_box_is_told_together_as_the_sum_over_all_assignments_says() -> None:
    likely = np.random.default_rng(3).random((3, 2, 12)) ** 4
    weight = np.array([0.3, 0.7])
    by_hand = np.zeros((3, 12))
    for numbers in permutations(range(12), 3):
        p = float(np.prod([likely[i, :, n] for i, n in enumerate(numbers)], axis=0) @ weight)
        for i, n in enumerate(numbers):
            by_hand[i, n] += p
    np.testing.assert_allclose(assigned(likely, weight), by_hand / by_hand.sum(axis=1, keepdims=True))


def test_each_number_once_settles_what_one_weighing_leaves_open() -> None:
    scale = known(4, 11)
    # One igloo weighs as if it had 7 beads and a half; its neighbours are sure.
    masses = {n: SHELL + n * BEAD for n in COUNTS if n != 8}
    weighed = [lying(SHELL + 7.55 * BEAD, 8e-3), *(lying(grams) for grams in masses.values())]
    alone, together = scale.answers(weighed)[0].posterior, scale.together(weighed)
    assert alone.state == "more"
    assert (together[0].posterior.state, together[0].posterior.count) == ("counted", 8)
    assert [one.posterior.count for one in together[1:]] == list(masses)
    # What is no igloo is told so, and does not take a number.
    cup, only = scale.together([lying(300.0), lying(SHELL + 5 * BEAD)])
    assert (cup.posterior.state, only.posterior.count) == ("not-an-igloo", 5)
    assert scale.together([lying(300.0)])[0].posterior.state == "not-an-igloo"
    with pytest.raises(BadDataError, match=MORE_THAN_A_BOX):
        scale.together([*weighed, weighed[-1]])


@pytest.mark.parametrize(
    ("grams", "why"),
    [
        (0.3, NOTHING),
        (20.0, TOO_LIGHT),
        (SHELL - 0.5, TOO_LIGHT),
        (SHELL + 20 * BEAD, TOO_HEAVY),
        (2 * SHELL + 14 * BEAD, TWO),
        (300.0, TOO_HEAVY),
    ],
)
def test_what_is_no_igloo_of_the_box_is_never_counted(grams: float, why: str) -> None:
    (answer,) = known(2, 5, 9, 13).answers([lying(grams)])
    assert (answer.posterior.state, answer.posterior.count, answer.posterior.why) == ("not-an-igloo", None, why)


def test_between_two_steps_of_the_ladder_it_is_not_of_the_box_or_not_sure() -> None:
    heavy = BalanceScale(
        (), tuple(KnownMass(n, (35 + 3.0 * n) / 30, 1e-5) for n in range(2, 14) for _ in range(2)), (30.0,)
    )
    (answer,) = heavy.answers([lying(35 + 3.0 * 6.5)])
    assert (answer.posterior.state, answer.posterior.why) == ("not-an-igloo", NOT_OF_THE_BOX)
    (answer,) = known(4, 11).answers([lying(SHELL + 6.5 * BEAD)])
    assert answer.posterior.state == "more" and max(answer.posterior.p) < 0.9


def test_a_wide_error_is_never_sure() -> None:
    (answer,) = known(4, 11).answers([lying(SHELL + 7 * BEAD, error=0.6 / PLATFORM)])
    assert answer.posterior.state == "more"


def test_without_coins_it_counts_and_tells_no_grams() -> None:
    scale = BalanceScale((), known(4, 11).igloos, (30.0,))
    (answer,) = scale.answers([lying(SHELL + 7 * BEAD)])
    assert (answer.posterior.count, answer.grams) == (7, None)
    assert card(scale, [LabelledLoad("tare", 0.0, lying(0.0))])["platform_g"] is None


def test_a_shell_that_was_weighed_tells_light_beads_whose_shells_differ_by_more(tmp_path: Path) -> None:
    """Shells differ by more than a bead of 5 mm weighs, so that the igloo with fewer beads may be the heavier one."""
    bead, error, rng = 0.164, 0.01 / PLATFORM, np.random.default_rng(8)
    shells = {n: SHELL + float(rng.uniform(-0.12, 0.12)) for n in COUNTS}

    def row(what: str, n: int, grams: float) -> LabelledLoad:
        return labelled(what, n, lying(grams, error))

    known_ones = [LabelledLoad("tare", 0.0, lying(0.0)), LabelledLoad("grams", 8.5, lying(8.5))]
    known_ones += [row("beads", n, shells[n] + n * bead) for n in (4, 11) for _ in range(2)]
    weighed = [row("shell", n, grams) for n, grams in shells.items()]
    scale = made_of([*known_ones, *weighed])
    assert card(scale, known_ones)["shells"] == list(COUNTS)
    save(scale, tmp_path)
    assert load(tmp_path) == scale
    # Each count in another igloo's shell, told by its sticker.
    held = {n: 15 - n for n in COUNTS}
    there = [row("unknown", n, shells[n] + beads * bead) for n, beads in held.items()]
    told = [answer.posterior for _, answer in answers(scale, there)]
    assert [one.count for one in told] == list(held.values())
    assert {one.state for one in told} == {"counted"}
    # Without the shells, or where nobody says which igloo it is, they are not told.
    unnamed = [row("unknown", 0, one.load.load * PLATFORM) for one in there]
    for one, asked in ((made_of(known_ones), there), (scale, unnamed)):
        assert "more" in {answer.posterior.state for _, answer in answers(one, asked)}


def test_a_known_igloo_with_another_shell_than_its_number_is_not_held_against_it() -> None:
    scale = known(4, 11)
    shells = tuple(KnownMass(n, (SHELL + off) / PLATFORM, 3e-4) for n, off in ((4, 0.0), (11, -0.02)))
    assert replace(scale, shells=shells)._own_shells()
    off = replace(scale, shells=(shells[0]._replace(load=(SHELL - 0.5) / PLATFORM), shells[1]))
    assert not off._own_shells()
    assert off.answers([lying(SHELL + 9 * BEAD)])[0].posterior.count == 9


def test_two_known_igloos_must_differ() -> None:
    with pytest.raises(BadDataError, match="at least two igloos"):
        BalanceScale((), known(4, 11).igloos[:2])
    with pytest.raises(BadDataError, match="right order"):
        BalanceScale((), (KnownMass(4, 2.0, 1e-4), KnownMass(9, 1.0, 1e-4)))
    assert NOTHING_KNOWN.endswith(".")


def test_a_weight_that_is_not_what_its_label_says_is_left_aside() -> None:
    rows = [LabelledLoad("grams", g, lying(g)) for g in (2.3, 7.5, 8.5)] + [LabelledLoad("grams", 3.06, lying(7.5))]
    rows += [LabelledLoad("beads", n, lying(SHELL + n * BEAD)) for n in (4, 11)]
    scale = made_of(rows)
    assert len(scale.weights) == 3
    assert scale.platform_g == pytest.approx(PLATFORM, rel=1e-3)
    assert "grams 3.06: it weighed 7.50 g." in scale.left_aside
    assert faults([*rows, LabelledLoad("tare", 0.0, lying(0.0))], scale) == []


@pytest.fixture(scope="module")
def tables() -> LabelledWeighings:
    """A balance with its calibration, weighed once for several tests."""
    rng = np.random.default_rng(7)
    return calibration_of(built(rng), box(rng), rng)


def test_without_a_tare_before_it_nothing_is_weighed(tables: LabelledWeighings) -> None:
    accel, what = tables.accel, tables.what
    first, second = loads([accel[1], accel[0]], RATE_HZ, [what[1], what[0]])
    assert (first.why, second.why) == (NO_TARE, "")


def test_a_tare_that_is_unlike_its_neighbours_is_not_used(tables: LabelledWeighings) -> None:
    tare, igloo = tables.accel[0], tables.accel[13]
    rows, what = [tare, igloo, igloo, igloo, tare], ["tare", "unknown", "tare", "unknown", "tare"]
    found = loads(rows, RATE_HZ, what)
    assert found[3].load == pytest.approx(found[1].load, rel=1e-6) and found[3].load > 0.5


def test_somebody_who_leans_on_the_table_is_told_to_tap_again(tables: LabelledWeighings) -> None:
    swing = ringdown(tables.accel[13], RATE_HZ).frequency_hz
    accel = tables.accel[13].copy()
    t = np.arange(len(accel)) / RATE_HZ
    accel[:, 2] += 0.1 * np.sin(2 * np.pi * 1.06 * swing * t)
    (_, held) = loads([tables.accel[0], accel], RATE_HZ, ["tare", "unknown"])
    assert held.why == SHAKEN


def test_a_sitting_is_kept_and_read_as_it_was(tables: LabelledWeighings, tmp_path: Path) -> None:
    rows = weighed(tables)
    scale = made_of(rows)
    assert save(scale, tmp_path).name == FILE
    again = load(tmp_path)
    assert again == scale
    assert card(scale, rows)["good"]
    told = dict(answers(again, rows))
    assert {told[at].posterior.count for at, one in enumerate(rows) if one.value == 4} == {4}


@given(st.recursive(st.none() | st.floats() | st.text(max_size=5), lambda x: st.lists(x, max_size=4), max_leaves=9))
def test_a_calibration_from_anybody_is_read_or_refused_in_one_sentence(
    tmp_path_factory: pytest.TempPathFactory, part: object
) -> None:
    folder = tmp_path_factory.mktemp("scale")
    igloos = [[4, 1.1, 1e-4, 1e-6, 1e-7], [9, 1.2, 1e-4, 1e-6, 1e-7]]
    good = {"form": 2, "weights": [], "igloos": igloos, "empty_hz": [], "left_aside": [], "damping": 0.004}
    for key in good:
        (folder / FILE).write_text(json.dumps({**good, key: part}), encoding="utf-8")
        try:
            load(folder)
        except BadDataError as error:
            assert str(error).endswith(".") and "\n" not in str(error)


def test_what_was_weighed_must_be_said() -> None:
    accel = (np.zeros((10, 3)),)
    for recording, why in (
        (Recording(accel, 800.0), "does not say what"),
        (Recording(accel, 800.0, what=("cup",), value=(1.0,)), "none of tare"),
        (Recording(accel, 800.0, what=("grams",)), "0 to 2000"),
        (Recording(accel, 800.0, what=("beads",), value=(14.0,)), "not 2 to 13"),
        (Recording(accel, 800.0, what=("beads",), value=(2.5,)), "not 2 to 13"),
        (Recording(accel, 800.0, what=("shell",), value=(1.0,)), "shell whose sticker is not 2 to 13"),
    ):
        with pytest.raises(BadDataError, match=why):
            weighings(recording, "x.npz")


def test_the_same_sitting_is_drawn_alike_again() -> None:
    one, two = (weigh(built(np.random.default_rng(3)), [Weighing(8.5)], np.random.default_rng(4)) for _ in range(2))
    assert np.array_equal(one, two)
