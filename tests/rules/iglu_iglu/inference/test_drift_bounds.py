"""What a drift can win, line by line: never less than any drift does."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from companion.rules.iglu_iglu import drifting
from companion.rules.iglu_iglu import moves as m
from companion.rules.iglu_iglu.board import ALL, CORNERS
from companion.rules.iglu_iglu.inference.drift_bounds import LINES, sure
from companion.rules.iglu_iglu.inference.likelihood import IgluLikelihood
from companion.rules.iglu_iglu.position import DRIFTING, START
from companion.rules.inference.turns import Evidence
from tests.rules.iglu_iglu.inference.test_best_first import played, vague
from tests.worlds.sizes import size


def drifted(s: Any) -> Iterator[tuple[int, Any]]:
    """Yield every drift of a state and every way things give way to it: its line and the state afterwards."""
    move: Any
    for move in drifting.drifts(s):
        line = move.square // 8 if move.direction in "ew" else 8 + move.square % 8
        level = [s.after(move)]
        while level:
            state = level.pop()
            if state.push is None:
                yield line, state
            else:
                level += [state.after(way) for way in drifting.moves_displace(state)]


def drifting_now(s: Any) -> Any:
    """Return a state in which a drift is due."""
    new = s.copy()
    new.phase, new.to_move = DRIFTING, s.turn
    return new


@pytest.mark.sized
def test_no_drift_wins_more_than_its_line_may() -> None:
    rng = Random(3)
    lines = set()
    for before, _, after in played(51, 60)[:: size(12, 2)]:
        likelihood = IgluLikelihood(vague(after.position(), rng), before)
        now = drifting_now(before)
        for line, state in drifted(now):
            lines.add(line)
            grounds = likelihood.lines.grounds(now.floes, now.packs, 0)
            assert grounds[line] <= likelihood.grounds(state.floes, state.packs) + 1e-9
            for seat, inuit in enumerate(now.inuit):
                after_drift = likelihood.tribe(seat, state.inuit[seat], state.igloos[seat])
                gain = likelihood.tribe(seat, inuit, now.igloos[seat]) - after_drift
                assert gain <= likelihood.lines.tribe(seat, inuit, now.igloos[seat])[line] + 1e-9
            herds = likelihood.animals(now.fish, now.fox, now.bears)
            gain = herds - likelihood.animals(state.fish, state.fox, state.bears)
            assert gain <= likelihood.lines.animals(now.fish, now.fox, now.bears)[line] + 1e-9
    assert len(lines) > len(LINES) / 2


@pytest.mark.sized
@pytest.mark.parametrize("thaw", [False, True])
def test_floes_that_go_are_counted_in(thaw: bool) -> None:
    rng = Random(4)
    for before, _, after in played(52, 40)[:: size(24, 4)]:
        if before.phase != START:
            continue
        likelihood = IgluLikelihood(vague(after.position(), rng), before)
        grounds = likelihood.lines.grounds(before.floes, before.packs, 1 + thaw)
        for melt in before.legal_moves:
            if not isinstance(melt, m.Melt):
                continue
            for line, state in drifted(drifting_now(before.after(melt))):
                floes = [
                    state.floes,
                    *(state.floes & ~(1 << q) for q in range(64) if thaw and state.thawable() >> q & 1),
                ]
                assert grounds[line] <= min(likelihood.grounds(left, state.packs) for left in floes) + 1e-9


def test_a_line_without_loss_is_one_that_a_drift_made() -> None:
    rng = Random(5)
    before, _, _ = played(53, 20)[-1]
    now = drifting_now(before)
    line, state = rng.choice(list(drifted(now)))
    grounds = IgluLikelihood(Evidence.of_position(state.position()), before).lines.grounds(now.floes, now.packs, 0)
    assert grounds[line] == 0 < grounds[-1]
    # Shifted to the other side of the board, no floe is where it was seen.
    assert min(IgluLikelihood(vague(state.position(), rng), before).lines.grounds(ALL & ~CORNERS, 0, 0)) > 0


@pytest.mark.sized
def test_a_drift_that_comes_is_sure_where_a_floe_can_be_pushed_whatever_is_melted() -> None:
    told = set()
    for before, _, _ in played(54, 60)[:: size(30, 1)]:
        if before.phase != START:
            continue
        certain = sure(before, early=False)
        told.add(certain)
        assert certain or not sure(before, early=True)
        for melt in before.legal_moves:
            if isinstance(melt, m.Melt) and certain:
                melted = before.after(melt)
                assert sure(melted, early=False) and drifting.drifts(drifting_now(melted))
    assert True in told
