"""The figures against counting by hand, and the drill chooser against what it promises."""

from __future__ import annotations

import doctest
from datetime import datetime
from math import sqrt
from random import Random

import pytest

from companion.ports import COUNTS
from companion.practice import drills, statistics
from companion.practice.drills import beliefs, choose, weakest
from companion.practice.statistics import AnsweredShake, ladder, overall, published, score, standing


def answers(*pairs: tuple[int, int], person: int = 1, machine: int | None = None, at: int = 0) -> list[AnsweredShake]:
    p = () if machine is None else tuple(0.9 if n == machine else 0.1 / 11 for n in COUNTS)
    return [AnsweredShake(at, person, truth, guess, p) for truth, guess in pairs]


@pytest.mark.parametrize("module", [drills, statistics])
def test_examples_are_true(module: object) -> None:
    tested = doctest.testmod(module)
    assert tested.attempted > 0
    assert tested.failed == 0


def test_published_people_are_as_published() -> None:
    people = overall(published(count) for count in COUNTS)
    assert people.exact == pytest.approx(0.42, abs=0.005)
    assert people.error == pytest.approx(0.9, abs=0.06)
    errors = [published(count).error for count in COUNTS]
    assert errors == sorted(errors)
    assert published(2).exact > 0.9


def test_a_score_is_what_one_counts_by_hand() -> None:
    found = score([0, 0, 1, -3])
    assert (found.answers, found.exact, found.near, found.error, found.bias) == (4, 0.5, 0.75, 1.0, -0.5)
    assert found.spread == pytest.approx(sqrt((0.25 + 0.25 + 2.25 + 6.25) / 4))
    assert score([]).error is None


def test_two_of_ten_are_a_fifth_beside_people_on_the_same_shakes() -> None:
    made = statistics.figures(answers((3, 3), (3, 3), *[(12, 10)] * 8))
    assert made["overall"]["own"]["answers"] == 10
    assert made["overall"]["own"]["exact"] == 0.2
    assert made["overall"]["own"]["error"] == 1.6
    assert made["overall"]["own"]["bias"] == -1.6
    people = 0.2 * published(3).error + 0.8 * published(12).error
    assert made["overall"]["published"]["error"] == pytest.approx(people, abs=1e-4)


def test_each_count_weighs_alike_in_the_spread_that_is_a_share_of_it() -> None:
    made = statistics.figures(answers((3, 3), *[(12, 10)] * 9))
    assert made["weber"] == pytest.approx(sqrt((0 + (2 / 12) ** 2) / 2), abs=1e-4)


def test_the_confusion_matrix_counts_every_answer_at_its_place() -> None:
    made = statistics.figures(answers((2, 2), (2, 3), (13, 11), (13, 11)))
    assert made["confusion"][0][:2] == [1, 1]
    assert made["confusion"][11][9] == 2
    assert sum(map(sum, made["confusion"])) == 4
    assert [one["count"] for one in made["counts"]] == list(COUNTS)
    assert made["counts"][5]["own"]["error"] is None


def test_the_machine_is_judged_on_the_same_shakes() -> None:
    made = statistics.figures([*answers((5, 7), machine=5), *answers((9, 9), machine=8), *answers((4, 4))])
    assert made["overall"]["machine"]["answers"] == 2
    assert made["overall"]["machine"]["exact"] == 0.5
    assert made["counts"][2]["machine"]["answers"] == 0


def test_weeks_begin_on_monday_and_come_in_order() -> None:
    def at(day: int) -> int:
        return int(datetime(2026, 3, day, 12).timestamp() * 1000)

    made = statistics.figures([*answers((5, 5), at=at(16)), *answers((5, 6), at=at(22)), *answers((5, 8), at=at(2))])
    assert [(one["week"], one["answers"], one["error"]) for one in made["weeks"]] == [
        ("2026-03-02", 1, 3.0),
        ("2026-03-16", 2, 0.5),
    ]


def test_no_answers_make_no_figures_and_no_failure() -> None:
    made = statistics.figures([])
    assert made["overall"]["own"] == {
        "answers": 0, "exact": None, "near": None, "error": None, "bias": None, "spread": None
    }  # fmt: skip
    assert made["weber"] is None
    assert made["weeks"] == []


def test_one_lucky_answer_does_not_lead_the_ladder() -> None:
    lucky = answers((9, 9), person=1)
    steady = answers(*[(count, count) for count in COUNTS for _ in range(4)], person=2)
    wild = answers(*[(count, 2 if count > 7 else 13) for count in COUNTS for _ in range(4)], person=3)
    rows = ladder([*lucky, *steady, *wild], {1: "Lucky", 2: "Steady", 3: "Wild", 4: "Nobody"})
    assert [row.get("name", row["who"]) for row in rows] == ["Steady", "Lucky", "published", "chance", "Wild"]
    assert rows[0]["standing"] == pytest.approx(overall(published(count) for count in COUNTS).error / 3, abs=1e-3)


def test_the_machine_stands_on_the_ladder() -> None:
    rows = ladder(answers(*[(count, count) for count in COUNTS], machine=7), {})
    assert [row["who"] for row in rows] == ["published", "machine", "chance"]
    assert rows[1]["answers"] == 12


def test_nobody_known_stands_where_published_people_do() -> None:
    nobody = {count: score([]) for count in COUNTS}
    assert standing(nobody) == pytest.approx(overall(published(count) for count in COUNTS).error)


# --- drills ------------------------------------------------------------------------------------------------------


def test_a_belief_follows_the_answers_and_forgets_old_ones() -> None:
    missed, met = beliefs([(9, 5)])[9]
    assert (missed, met) == (2.0, 1.0)
    missed, met = beliefs([(9, 10)])[9]
    assert (missed, met) == pytest.approx((4 / 3, 5 / 3))
    old = beliefs([(9, 5), *[(4, 4)] * drills.FADES_AFTER])[9]
    assert old[0] == pytest.approx(1.5)


def test_the_first_drills_are_of_all_counts() -> None:
    rng = Random(3)
    drawn = [choose([], rng) for _ in range(1200)]
    assert all(60 < drawn.count(count) < 140 for count in COUNTS)


def test_the_weak_counts_are_drilled_most_and_none_is_forgotten() -> None:
    tried = [(count, count if count <= 6 else count - 3) for count in COUNTS for _ in range(8)]
    rng = Random(4)
    drawn = [choose(tried, rng) for _ in range(1200)]
    weak = sum(count > 6 for count in drawn)
    assert weak > 950
    assert all(drawn.count(count) >= 10 for count in COUNTS)


def test_who_learnt_a_count_is_drilled_in_others() -> None:
    bad = [(9, 5)] * 30
    better = [*bad, *[(9, 9)] * 120, *[(12, 9)] * 12]
    rng = Random(5)
    assert sum(choose(better, rng) == 12 for _ in range(400)) > 2 * sum(choose(better, rng) == 9 for _ in range(400))


def test_the_weakest_are_named_only_when_they_were_tried() -> None:
    assert weakest([(9, 5)] * 4) == []
    assert weakest([*[(9, 5)] * 6, *[(11, 10)] * 6, *[(3, 3)] * 6], most=2) == [9, 11]
