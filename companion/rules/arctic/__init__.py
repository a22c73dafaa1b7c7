"""Arctic (Cédric Lefebvre, Ludonaute 2024): cards, powers, the landscape, the end, the score."""

from companion.rules.arctic.game import GAME

PLACE = 3

__all__ = ["GAME"]
