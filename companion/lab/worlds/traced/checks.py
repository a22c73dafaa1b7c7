"""A traced check of Igloo Pop as a camera sees it: igloos are turned over, their thalers beside them, card by card.

What becomes of what is the course of :mod:`companion.lab.worlds.cards.checks`; all pictures are traced. Seconds from
the check's start.
"""

from __future__ import annotations

from dataclasses import replace

from companion.lab.worlds.cards.checks import GOES_S, LIFTED_S, CheckCourse, course_of
from companion.lab.worlds.traced.cards import Arm, Dome, Place, TracedScene
from companion.lab.worlds.traced.placings import HELD_MM, TracedRound, village
from companion.rules.igloo_pop.components import PLACES


class TracedCheck(CheckCourse[TracedRound]):
    """A check whose pictures are traced."""

    def scene(self, t: float) -> TracedScene:
        """Return what lies and moves on the table at a time."""
        spots = village(0)
        domes = [Dome(at, turn=20.0 * index) for index, at in enumerate(spots) if index >= len(self.turned)]
        thalers, arms = list[tuple[str, Place]](), list[Arm]()
        order = {put: index for index, put in enumerate(self.film.puts)}
        for index, one in enumerate(self.turned):
            side = self.film.seats[one.put.colour]
            if t < one.t - LIFTED_S:
                domes.append(Dome(one.put.at, one.put.colour, turn=37.0 * order[one.put]))
            elif t < one.t:
                # It is turned over a little outside of where it stood, and looked at.
                x, y = one.put.at[0] * 1.06, one.put.at[1] * 1.06
                if t >= one.t - LIFTED_S / 2:
                    domes.append(Dome((x, y), number=one.number, turn=one.turn))
                arms.append(Arm((x, y), side).back(HELD_MM))
            elif one.at is not None and t < one.until:
                domes.append(Dome(one.at, number=one.number, turn=one.turn))
                thalers.append((one.put.colour, one.thaler))
                if t < one.t + GOES_S:
                    arms.append(Arm(one.at, side).back(2 * HELD_MM + 60 * (t - one.t)))
            else:
                spot = spots[index]
                up = Dome(spot, number=one.number, turn=one.turn)
                domes.append(up if one.sticker_up else Dome(spot, turn=20.0 * index))
                if t < (one.t if one.at is None else one.until) + GOES_S:
                    arms.append(Arm(spot, side).back(2 * HELD_MM))
        gone = {place for place, since in self.taken if since <= t}
        cards = tuple(card for place, card in zip(PLACES, self.film.laid.cards, strict=True) if place not in gone)
        return replace(self.film.laid, cards=cards, domes=tuple(domes), arms=tuple(arms), thalers=tuple(thalers))


def traced_check(seed: int, film: TracedRound) -> TracedCheck:
    """Return the check of a round."""
    turned, taken, _ = course_of(seed, film.puts, film.names)
    return TracedCheck(film, turned, taken)
