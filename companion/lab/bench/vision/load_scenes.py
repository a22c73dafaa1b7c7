"""What a camera sees of each game while it is measured what following costs: tables as they lie, and turns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from companion.follow import messages
from companion.lab.bench.follow import is_truth
from companion.lab.bench.vision.rivers import opening_of, shown, taught
from companion.lab.worlds import boards, filmed, filmed_ice
from companion.lab.worlds.cards import checks, photos, river
from companion.lab.worlds.cards.taught import sheets
from companion.night.games import game_view

if TYPE_CHECKING:
    from companion.night.commands.night import MatchSnapshot

SEED: Final = 3
COLOURS: Final = ("red", "blue", "green")


@dataclass(frozen=True)
class LoadScene:
    """What is seen of a game: what lies there at first, and each turn's end with its moves (none: left to the camera).

    ``teach`` teaches what is to be known into a folder; None: the board is found and taught as it lies at first.
    ``ready``: what the camera says when it has seen what lies there at first; ``then``: commands that people give
    after it, and ``lying`` what lies there from then on (None: the same); ``followed``: what the camera says then.
    ``right``: whether a record stands where a turn's end does.
    """

    game: str
    opening: dict[str, Any]
    still: bytes
    turns: Sequence[tuple[bytes, Sequence[str]]]
    right: Callable[[MatchSnapshot, int], bool]
    set_up: Sequence[str] = ()
    corners: list[list[float]] | None = None
    teach: Callable[[Path], object] | None = None
    ready: str = messages.WATCHING
    then: Sequence[tuple[str, dict[str, Any]]] = field(default=())
    lying: bytes | None = None
    followed: str = messages.WATCHING


def board_scene(film: Any) -> LoadScene:
    """Return what is seen of a filmed game on a board."""
    opening = {"game": film.game, "players": boards.players(film.game), "setup": dict(film.setup)}
    turns = [(film.picture(number), moves) for number, moves in enumerate(film.played, 1)]

    def right(now: MatchSnapshot, number: int) -> bool:
        return is_truth(now.states[-1], film.states[number + 1])

    return LoadScene(film.game, opening, film.picture(0), turns, right, film.set_up, film.corners)


def river_scene(turns: int) -> LoadScene:
    """Return what is seen of a game of Arctic."""
    table, played = river.drawn_table(SEED, 1), river.played(SEED, 2)[:turns]
    view: Any = game_view("arctic")
    scene = river.begun(played[0].before)
    first, later = table.shot(scene, 0).jpeg, []
    for number, turn in enumerate(played, 1):
        scene = scene.then(turn.after, turn.laid, turn.before.seat)
        moves = [str(view.public(turn.before, move)) for move in turn.moves]
        later.append((table.shot(scene, number).jpeg, moves))

    def right(now: MatchSnapshot, number: int) -> bool:
        return shown(now.states[-1]) == shown(played[number].after)

    return LoadScene(
        "arctic",
        opening_of(played[0].before),
        first,
        later,
        right,
        teach=lambda folder: taught(folder, table),
        ready=messages.ROW_AGREES,
        followed=messages.ROW_AGREES,
    )


def circle_scene(turns: int, *, checking: bool = False) -> LoadScene:
    """Return what is seen of a round of Igloo Pop, while igloos are put on cards, or while they are turned over."""
    check = checks.drawn_check(SEED, 1, list(COLOURS), count=min(turns, 11))
    film = check.film
    then: list[tuple[str, dict[str, Any]]] = [("moves", {"moves": ["start"]})]
    later: list[tuple[bytes, list[str]]] = []
    for number, put in enumerate(film.puts, 1):
        shot = photos.shoot(*replace(film, puts=film.puts[:number]).scene(put.t + 5), number)
        later.append((shot.jpeg, [f"place {put.colour} {put.place}"]))
    lying, kind = None, "place"
    if checking:
        lying, kind = photos.shoot(*check.scene(-1.0), 1).jpeg, "reveal"
        then += [("moves", {"moves": [move for _, moves in later for move in moves]}), ("check", {})]
        later = []
        for one in sorted(check.turned, key=lambda one: one.t):
            shot = photos.shoot(*check.scene(one.t + checks.GOES_S + 0.01), len(later))
            # Numbers are entered in the order in which igloos were placed: people who enter one enter all of its card.
            later.append((shot.jpeg, []))

    def right(now: MatchSnapshot, number: int) -> bool:
        return sum(bool(move.kind == kind) for move in now.moves) > number

    return LoadScene(
        "igloo-pop",
        {
            "game": "igloo-pop",
            "players": [{"name": colour, "colour": colour} for colour in COLOURS],
            "draw": False,
            "setup": {"cards": film.names},
        },
        film.bare.jpeg,
        later,
        right,
        teach=lambda folder: _teach_circle(folder, film.art),
        ready=messages.PLACES_KNOWN,
        then=then,
        lying=lying,
        followed=messages.CHECK_KNOWN if checking else messages.PLACES_KNOWN,
    )


def _teach_circle(folder: Path, art: Any) -> None:
    from companion.follow.cards import CardTable

    cards, begin = CardTable(folder), 0
    for data, names in sheets(art):
        cards.teach("igloo-pop", data, begin, len(names))
        begin += len(names)


SCENES: Final[Mapping[str, Callable[[int], LoadScene]]] = {
    filmed.GAME: lambda turns: board_scene(filmed.Filmed(SEED, turns, SEED % 2, kept=0.7)),
    "ice-team": lambda turns: board_scene(filmed_ice.FilmedIce(SEED, turns, SEED % 2, evening=False)),
    "arctic": river_scene,
    "igloo-pop, placing": circle_scene,
    "igloo-pop, check": lambda turns: circle_scene(turns, checking=True),
}
"""What is seen of each game, by how many turns are played."""
