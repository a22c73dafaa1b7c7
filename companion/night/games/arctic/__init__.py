"""Arctic as the night sees it."""

from companion.night.games.arctic.view import ArcticView

__all__ = ["VIEW"]

VIEW = ArcticView()
