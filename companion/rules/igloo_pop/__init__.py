"""Igloo Pop (Heinz Meister and Klaus Zoch, Zoch 2003): shake, listen, place, check.

The clauses POP-… are in ``companion/rules/clauses``; notation and forms in ``companion/rules/README.md``.
"""

from companion.rules.igloo_pop.components import CARDS, COLOURS, IGLOOS, PLACES, card_points
from companion.rules.igloo_pop.faults import FAULTS, Fault, fault_ruling
from companion.rules.igloo_pop.game import GAME, IglooPop
from companion.rules.igloo_pop.moves import IglooPopMove
from companion.rules.igloo_pop.score import series_winners
from companion.rules.igloo_pop.settling import CardResult
from companion.rules.igloo_pop.state import IglooPopState

PLACE = 1

__all__ = [
    "CARDS",
    "COLOURS",
    "FAULTS",
    "GAME",
    "IGLOOS",
    "PLACES",
    "CardResult",
    "Fault",
    "IglooPop",
    "IglooPopMove",
    "IglooPopState",
    "card_points",
    "fault_ruling",
    "series_winners",
]
