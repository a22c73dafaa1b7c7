"""Igloo Pop as the night sees it."""

from companion.night.games.igloo_pop.view import IglooPopView

__all__ = ["VIEW"]

VIEW = IglooPopView()
