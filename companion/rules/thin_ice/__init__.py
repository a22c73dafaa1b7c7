"""Thin Ice: a small game of ours, the example of how a game is added (``docs/adding-a-game.md``)."""

from companion.rules.thin_ice.game import GAME

__all__ = ["GAME"]

PLACE = None
