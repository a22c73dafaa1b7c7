"""Lessons that take longer than the game: what is taught and not learnt yet is as new to the camera as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from companion.follow.evidence import contents_of
from companion.follow.table_model import SeenTable
from companion.lab.worlds.boards import players
from companion.lab.worlds.filmed import FISH, GAME, Filmed
from companion.night.answers import TABLE
from companion.rules.inference.turns import content
from tests.web.assembly import SmallCompanion
from tests.worlds.wait import LESSON_S, wait

pytestmark = [pytest.mark.learning, pytest.mark.usefixtures("prompt_lessons")]

BLUE, RED = 4, 7
"""The turns of the film in which each tribe builds its first igloo."""


@pytest.mark.long
def test_the_first_red_igloo_while_the_blue_one_is_not_learnt_yet(tmp_path: Path) -> None:
    """On a busy machine the lesson on the first igloo may come after the second one."""
    film = Filmed(5, RED, kept=1.0)
    assert film.played[BLUE - 1][2] == "build a7" and film.played[RED - 1][2] == "build e6"
    companion = SmallCompanion(tmp_path)
    companion.settings.set({"camera_settle_tenths": 3})
    companion.do("open-match", {"game": GAME, "players": players(GAME), "setup": {"fish": FISH}})
    companion.moves(*film.set_up)
    companion.watched.take_photo(film.picture(0))
    companion.follow_service.start()
    companion.follow_service.calibrate(GAME, None)
    companion.follow_service.teach(GAME, None)
    table = companion.follow_service.table_of(GAME)
    blue = table.layout.find_thing("igloo", "blue")
    assert table.wait(LESSON_S)
    assert table.taught and not table.new_things(contents_of(film.states[0], table.layout).values())
    assert table.learnt() == table.most()
    # From here on no lesson comes to its end.
    table.close()
    for moves in film.played[: RED - 1]:
        companion.moves(*moves)
    igloo = contents_of(film.states[BLUE], table.layout)
    newest = companion.watched.newest()
    assert newest is not None and blue in table.new_things(igloo.values())
    companion.watched.take_photo(film.picture(BLUE))
    shown = wait(lambda: (captured := companion.watched.newest()) is not newest and captured)
    table.teach(shown.image(), igloo)
    again = SeenTable(GAME, tmp_path / "tables" / GAME, on_change=lambda: None)
    for known in (table, again):
        assert blue in known.most() and blue not in known.learnt(), "taught, and not learnt"
        assert not known.new_things(igloo.values()), "nobody need teach it twice"

    companion.watched.take_photo(film.picture(RED - 1))
    companion.follow_service.follow(True)
    wait(lambda: companion.follow_service.status()["state"] == "watching", LESSON_S)
    begun = len(companion.night.snapshot().by)
    companion.watched.take_photo(film.picture(RED))
    wait(lambda: companion.follow_service.status()["asking"] or len(companion.night.snapshot().by) > begun, LESSON_S)
    asked = companion.follow_service.open_question()
    states = [candidate.state for candidate in asked.candidates] if asked else [companion.night.snapshot().states[-1]]
    truth = {name: content(place) for name, place in film.states[RED].position()["places"].items()}
    found = [{name: content(p) for name, p in state.position()["places"].items()} for state in states]
    assert truth in found, [[str(m) for m in candidate.moves] for candidate in asked.candidates]
    if asked:
        assert companion.follow_service.answer(asked.id, found.index(truth), TABLE).ok
    companion.close()
