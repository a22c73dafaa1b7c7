"""What does not change while a game of Ice Team is played."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from companion.rules.core import JSON
from companion.rules.ice_team.board import Layout
from companion.rules.ice_team.box import Box

if TYPE_CHECKING:
    from companion.rules.ice_team.game import IceTeam


@dataclass(frozen=True)
class Table:
    """The game, its boards, box and people; ``said`` is how the layout was named (in the box, or by a description)."""

    game: IceTeam
    layout: Layout
    said: JSON
    box: Box
    names: tuple[str, ...]
    colours: tuple[str, ...]
    options: Mapping[str, JSON]
