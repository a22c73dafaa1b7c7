"""A whole box on the simulated balance, heard as one line: what goes right, and each thing that people do wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from companion.igloo.balance.box import AFTER, BEFORE, DONE, BoxCheck
from companion.igloo.balance.calibration import with_shells
from companion.igloo.balance.messages import (
    BOX_FULL,
    BOX_NOTHING,
    BOX_ORDER,
    BOX_STILL,
    BOX_TAKE_OFF,
    BOX_TOO_EARLY,
    BOX_TWICE,
    CLIPPED,
    SHAKEN,
    TOO_HEAVY,
)
from companion.igloo.balance.scale import BalanceScale, KnownMass
from companion.lab.physics.balance import RATE_HZ, Weighing, box, built, filled
from companion.lab.physics.balance_box import BoxPart, BoxSitting, box_sessions, through
from companion.ports import COUNTS, Samples

HELD = {**{n: n for n in COUNTS}, 8: 9, 9: 8}
"""What each igloo holds: two of them each other's beads."""
MUG, KNOCKED, SHELL = 12, 13, 14


@dataclass
class Table:
    """One balance and its box: what is felt, part by part, and what is known of the balance."""

    scale: BalanceScale
    parts: list[BoxPart]
    shell_g: float

    @property
    def shell(self) -> BoxPart:
        return self.on(SHELL + 2)

    @property
    def tare(self) -> BoxPart:
        return self.parts[0]

    @property
    def hands(self) -> BoxPart:
        return next(one for one in self.parts[3:] if one.what == "hands")

    def on(self, igloo: int) -> BoxPart:
        """What is felt while the igloo with this sticker lies there; 14: a mug; 15: igloo 2, the table is knocked."""
        return next(one for one in self.parts if one.on_it == igloo - 2)

    def begun(self, *igloos: int) -> BoxCheck:
        """Return a check that has heard the empty platform, and hands."""
        check = BoxCheck(self.scale, igloos or COUNTS)
        self.plays(check, self.tare, self.hands)
        return check

    @staticmethod
    def plays(check: BoxCheck, *parts: BoxPart) -> list[str]:
        """Let it hear some parts; return what it says, each sentence once."""
        return list(dict.fromkeys(check.note.text for _ in through(check, parts) if check.note))


@pytest.fixture(scope="module")
def table() -> Table:
    rng = np.random.default_rng(1907)
    balance, of = built(rng, "B"), box(rng)
    igloos = [filled(rng, of, at, HELD[n], float(rng.normal(0, 0.006))) for at, n in enumerate(COUNTS)]
    shell = Weighing(of.shells_g[0], 0.004, 0.025)
    things = [*igloos, Weighing(160.0), igloos[0]._replace(on_table=True), shell]
    (parts,) = box_sessions([BoxSitting(balance, things, rng)])
    whole = balance.platform_g
    known = [KnownMass(n, (of.shells_g[n - 2] + n * of.bead_g) / whole, 3e-4) for n in (4, 11)]
    scale = BalanceScale((KnownMass(8.5, 8.5 / whole, 1e-4),), tuple(known), (balance.empty_hz,), damping=0.02)
    return Table(scale, parts, shell.grams)


def test_twelve_igloos_are_told_within_two_minutes_and_what_is_not_as_its_sticker_says(table: Table) -> None:
    check = BoxCheck(table.scale)
    assert (check.stage, check.igloo) == (BEFORE, 2)
    of_the_box = [one for one in table.parts[:-1] if one.on_it < MUG]
    del of_the_box[-4:-1]  # nobody's hands go to the mug, the knocked table and the shell
    table.plays(check, *of_the_box, table.parts[-1])
    assert check.stage == DONE
    assert {one.igloo: one.answer.posterior.count for one in check.told} == HELD
    assert [one.igloo for one in check.told if one.disagrees] == [8, 9]
    assert sum(one.agrees for one in check.told) == 10
    assert check.seconds <= 120
    form = check.to_json()
    assert [(one["igloo"], one["count"], one["agrees"]) for one in form["told"]][6:8] == [(8, 9, False), (9, 8, False)]
    assert not check.feed(Samples(table.tare.accel, 0.0, RATE_HZ, 0))


def test_an_igloo_that_is_taken_off_too_early_is_put_on_again(table: Table) -> None:
    check = table.begun()
    early = table.on(2)._replace(accel=table.on(2).accel[: int(2.0 * RATE_HZ)])
    assert table.plays(check, early, table.hands) == [BOX_TOO_EARLY]
    assert (check.igloo, check.weighed) == (2, [])
    assert table.plays(check, table.on(2), table.hands, table.on(3)) == []
    assert (check.igloo, check.weighed) == (4, [2, 3])


def test_one_that_is_put_on_twice_is_asked_about_and_may_be_two_that_weigh_the_same(table: Table) -> None:
    check = table.begun()
    assert table.plays(check, table.on(2), table.hands, table.on(2)) == [BOX_TWICE]
    assert check.note is not None and str(check.note).startswith("This weighs just what igloo 2 did. If it is igloo 3,")
    assert check.weighed == [2]
    table.plays(check, table.hands, table.on(3))
    assert (check.note, check.weighed) == (None, [2, 3])
    assert table.plays(check, table.hands, table.on(2)) == [BOX_TWICE]
    table.plays(check, table.on(2))
    assert check.weighed == [2, 3, 4]


def test_who_taps_on_and_on_is_told_that_it_is_still_the_same(table: Table) -> None:
    check = table.begun()
    assert table.plays(check, table.on(2), table.on(2), table.on(2)) == [BOX_STILL]
    assert (check.igloo, check.weighed) == (3, [2])
    assert table.plays(check, table.hands, table.on(3))[1:] == []
    assert check.weighed == [2, 3]


def test_another_order_is_seen_and_put_right(table: Table) -> None:
    check = table.begun()
    assert table.plays(check, table.on(5), table.hands) == [BOX_ORDER]
    assert (check.note, check.weighed) == ((BOX_ORDER, 2, 5), [2])
    check.was(5)
    assert (check.igloo, check.weighed) == (2, [5])
    table.plays(check, table.on(2), table.hands)
    assert (check.igloo, check.weighed) == (3, [5, 2])
    check.choose(7)
    table.plays(check, table.on(7), table.hands)
    assert (check.igloo, check.weighed) == (8, [5, 2, 7])


def test_an_empty_platform_a_mug_and_a_forgotten_igloo_are_not_counted(table: Table) -> None:
    check = table.begun(2, 3)
    assert table.plays(check, table.tare, table.tare) == [BOX_NOTHING]
    assert table.plays(check, table.on(MUG + 2))[-1:] == [TOO_HEAVY]
    table.plays(check, table.hands, table.on(2), table.hands, table.on(3))
    assert (check.stage, check.weighed) == (AFTER, [2, 3])
    assert table.plays(check, table.on(3)) == [BOX_TAKE_OFF]
    table.plays(check, table.hands, table.tare)
    assert [one.answer.posterior.count for one in check.told] == [2, 3]
    # What is told may be weighed once more, and one more with it.
    check.choose(3)
    assert check.stage != DONE and check.told == []
    table.plays(check, table.hands, table.on(3), table.hands, table.tare)
    assert [(one.igloo, one.agrees) for one in check.told] == [(2, True), (3, True)]


def test_something_on_the_platform_is_no_tare(table: Table) -> None:
    check = BoxCheck(table.scale)
    assert table.plays(check, table.on(2)) == [BOX_TAKE_OFF]
    table.plays(check, table.hands, table.tare)
    assert check.igloo == 2 and check.stage != BEFORE


def test_a_knock_on_the_table_is_never_a_wrong_count(table: Table) -> None:
    check = table.begun(2, 3)
    table.plays(check, table.on(KNOCKED + 2), table.hands)
    check.choose(2)
    table.plays(check, table.on(2), table.hands, table.on(3), table.hands, table.tare)
    assert [one.answer.posterior.count for one in check.told] == [2, 3]


def test_who_shakes_the_table_or_taps_too_hard_is_told_why_nothing_comes(table: Table) -> None:
    on, rng = table.on(2), np.random.default_rng(5)

    def felt(accel: NDArray[np.float64]) -> BoxPart:
        return on._replace(accel=accel)

    for many, why in ((0.2 * rng.normal(size=on.accel.shape), SHAKEN), (np.zeros_like(on.accel), CLIPPED)):
        check = table.begun()
        accel = on.accel + many
        if why == CLIPPED:
            accel[::500, 2] += 20.0
        assert why in table.plays(check, felt(accel), felt(accel))
        assert check.weighed == []


def test_a_hole_in_the_line_begins_the_taps_anew(table: Table) -> None:
    check, accel = table.begun(2, 3), table.on(2).accel
    for at in range(0, len(accel), 320):
        check.feed(Samples(accel[at : at + 320], 0.0, RATE_HZ, at, gap_before=7 if at % 3200 == 0 else 0))
    assert check.weighed == []
    table.plays(check, table.on(2))
    assert check.weighed == [2]


def test_empty_shells_are_weighed_once_each_and_a_full_igloo_is_none(table: Table) -> None:
    check = BoxCheck(table.scale, (2, 3), empty=True)
    table.plays(check, table.tare, table.hands)
    assert table.plays(check, table.on(9)) == [BOX_FULL]
    # Two shells of the same mass are nothing strange.
    table.plays(check, table.hands, table.shell, table.hands, table.shell)
    assert (check.stage, check.note, check.weighed) == (AFTER, None, [2, 3])
    table.plays(check, table.hands, table.tare)
    assert check.stage == DONE and check.told == []
    grams = [one.load * table.scale.platform_g for one in check.shells]
    assert [one.value for one in check.shells] == [2, 3]
    assert grams == pytest.approx([table.shell_g] * 2, abs=0.1)
    # Weighed again, one replaces what was.
    once = with_shells(table.scale, check.shells)
    assert [one.value for one in with_shells(once, check.shells[:1]).shells] == [2, 3]


def test_these_are_all(table: Table) -> None:
    check = table.begun()
    check.end()
    assert check.stage != AFTER  # nothing was weighed yet
    table.plays(check, table.on(2), table.hands)
    check.end()
    table.plays(check, table.tare)
    assert (check.stage, [one.igloo for one in check.told]) == (DONE, [2])
    check.was(7)
    assert [one.igloo for one in check.told] == [2]
