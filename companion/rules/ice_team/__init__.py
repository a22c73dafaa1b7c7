"""Ice Team (Bruno Cathala & Matthew Dunstan, The Flying Games 2019): eight bears on drifting ice."""

from companion.rules.ice_team.game import GAME

PLACE = 4

__all__ = ["GAME"]
