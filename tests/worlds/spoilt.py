"""A filmed board of Iglu Iglu as no turn leaves it: an inuit was moved far away."""

from __future__ import annotations

from companion.lab.worlds.filmed import Filmed


def moved(film: Filmed) -> tuple[str, str]:
    """Return from where to where an inuit is moved that could not walk there."""
    now = film.states[0].position()["places"]
    here = next(name for name, place in now.items() if any(t["kind"] == "inuit" for t in place["things"]))
    return here, "e6" if here[0] < "d" else "c3"


def spoilt(film: Filmed) -> bytes:
    """Return a picture of the board after that, as JPEG."""
    board = film.states[0].position()
    here, there = moved(film)
    board["places"][there]["things"] = board["places"][here]["things"]
    board["places"][here]["things"] = []
    return film.shot(board["places"])
