"""Iglu Iglu (Bruno Faidutti and Bruno Cathala, Goldsieber 2004): melt, drift, hunt, and hold the islands.

The clauses IGLU-… are in ``companion/rules/clauses``; notation and forms in this folder's ``README.md``.
"""

from companion.rules.iglu_iglu.game import GAME, IgluIglu
from companion.rules.iglu_iglu.moves import IgluMove, public
from companion.rules.iglu_iglu.state import IgluState

PLACE = 2

__all__ = ["GAME", "IgluIglu", "IgluMove", "IgluState", "public"]
