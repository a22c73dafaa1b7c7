"""A game of Iglu Iglu as a camera sees it: a calm random game in moves, and rendered pictures of its board.

Players here do what can be told from the board at the end of a turn: nothing that was drawn in a turn is hunted in it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import Any

import cv2
import numpy as np

from companion.lab.worlds.board import BoardShot, RenderedBoard, random_view, shoot
from companion.lab.worlds.board_art import Art
from companion.lab.worlds.boards import offered, players, settled
from companion.lab.worlds.table import Light, PinholeCamera, of_jpeg
from companion.rules import game
from companion.rules.core import State

GAME = "iglu-iglu"
FISH = {"d4": 1, "e4": 1, "d5": 2, "e5": 3}


@dataclass(frozen=True)
class Filmed:
    """A game of ``turns`` turns for two: ``set_up`` are its first moves, ``played`` those of each turn."""

    seed: int
    turns: int
    family: int = 0
    """The family of the art; see :class:`companion.lab.worlds.board_art.Art`."""
    scale: float = 1.0
    """Of 1280×960 pixels."""
    kept: float = 0.6
    """How many of the tiles go to a hand, so that no animals are drawn."""
    game: str = GAME
    setup: dict[str, Any] = field(default_factory=lambda: {"fish": FISH})
    set_up: list[str] = field(default_factory=list)
    played: list[list[str]] = field(default_factory=list)
    states: list[State[Any]] = field(default_factory=list)
    """The position after the set-up and after each turn."""

    def __post_init__(self) -> None:
        rng = Random(self.seed)
        state: Any = game(GAME).start(players(GAME), None, {"fish": FISH})
        while state.position()["phase"] == "placing":
            state = self._step(state, rng.choice(offered(GAME, state))["text"], self.set_up)
        self.states.append(state)
        while len(self.played) < self.turns and state.outcome() is None:
            moves: list[str] = []
            state = self._turn(state, rng, moves)
            self.played.append(moves)
            self.states.append(state)

    @staticmethod
    def _step(state: Any, text: str, moves: list[str]) -> Any:
        moves.append(text)
        return settled(GAME, state.play(game(GAME).parse(text)))

    def _turn(self, state: Any, rng: Random, moves: list[str]) -> Any:
        whose, left, drawn = state.turn, rng.randint(1, 3), set()
        while state.outcome() is None and state.turn == whose:
            texts = [move["text"] for move in offered(GAME, state)]
            by_verb: dict[str, list[str]] = {}
            for text in texts:
                by_verb.setdefault(text.split()[0], []).append(text)
            calm = [t for t in by_verb.get("hunt", []) if t.split(" ", 2)[1] not in drawn]
            if "reveal" in by_verb:
                kept = [text for text in texts if text.endswith("kept")]
                text = kept[0] if kept and rng.random() < self.kept else rng.choice(texts)
            elif "melt" in by_verb:
                text = rng.choice(by_verb["melt"])
            elif "end" in by_verb:
                walks = [*by_verb.get("walk", []), *by_verb.get("build", []), *by_verb.get("kayak", [])]
                text = rng.choice(calm or walks or ["end"]) if left > 0 else "end"
                left -= 1
            else:
                text = rng.choice(texts)
            if text.startswith("draw"):
                drawn.add(text.split()[1])
            state = self._step(state, text, moves)
        return state

    @property
    def lessons(self) -> tuple[tuple[bytes, State[Any]], ...]:
        """None: the set-up is enough to begin with."""
        return ()

    @property
    def corners(self) -> None:
        """None: the board's lines are found."""

    @cached_property
    def _view(self) -> tuple[PinholeCamera, Light]:
        return random_view(self.seed, RenderedBoard({}, art=self._art), scale=self.scale)

    @cached_property
    def _art(self) -> Art:
        return Art(self.seed, self.family)

    def picture(self, number: int, *, hand: bool = False) -> bytes:
        """Return the rendered board after so many turns, as JPEG; with a hand over its middle."""
        return self.shot(self.states[number].position()["places"], 100 + number, hand=hand)

    def shot(self, places: Any, noise: int = 99, *, hand: bool = False) -> bytes:
        """Return any board on this table, as JPEG."""
        return self.photo(places, noise, hand=hand).jpeg

    def photo(self, places: Any, noise: int = 99, *, hand: bool = False, arms: tuple[Any, ...] = ()) -> BoardShot:
        """Return any board on this table, with where it truly lies; ``arms`` are outlines in pixels, over it."""
        camera, light = self._view
        held = arms
        if hand:
            w, h = camera.width, camera.height
            held = (((0.3 * w, 0.4 * h), (0.7 * w, 0.4 * h), (0.6 * w, 1.0 * h), (0.4 * w, 1.0 * h)),)
        scene = RenderedBoard(places, art=self._art, seed=1000 * self.seed, hands=held)
        return shoot(scene, camera, light, noise)

    def frames(self, number: int, count: int = 3, *, hand: bool = False) -> list[bytes]:
        """Return some pictures of the same board: each has a noise of its own, as a camera's have."""
        return noisy(self.picture(number, hand=hand), count, self.seed + number)


def noisy(jpeg: bytes, count: int, seed: int) -> list[bytes]:
    """Return a picture several times, each with noise of its own."""
    image = of_jpeg(jpeg)
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        noise = rng.normal(0, 1.5, image.shape).astype(np.float32)
        seen = np.clip(image.astype(np.float32) + noise, 0, 255).astype(np.uint8)
        found.append(cv2.imencode(".jpg", seen, [cv2.IMWRITE_JPEG_QUALITY, 92])[1].tobytes())
    return found
