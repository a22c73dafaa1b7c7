"""Gradient descent by Adam, and how its rate falls: one for all networks of this project, with numpy alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Adam:
    """Descends along gradients (Kingma and Ba 2015); what is no bias decays a little beside (Loshchilov and Hutter)."""

    def __init__(self, parameters: Sequence[NDArray[np.floating[Any]]], *, decay: float) -> None:
        """Take the parameters, which are changed in place, and of how much of itself the rate takes at a step."""
        self._parameters, self._decay = list(parameters), decay
        self._first = [np.zeros_like(p) for p in parameters]
        self._second = [np.zeros_like(p) for p in parameters]
        self._room = [np.empty_like(p) for p in parameters]
        self._step = 0

    def step(self, gradients: Sequence[NDArray[np.floating[Any]]], rate: float) -> None:
        """Take one step at a rate, along the gradient of each parameter."""
        self._step += 1
        by = -rate / (1 - 0.9**self._step)
        for k, (p, gradient) in enumerate(zip(self._parameters, gradients, strict=True)):
            first, second, size = self._first[k], self._second[k], self._room[k]
            first *= 0.9
            first += np.multiply(gradient, 0.1, out=size)
            second *= 0.999
            second += np.multiply(np.square(gradient, out=size), 0.001, out=size)
            np.sqrt(np.multiply(second, 1 / (1 - 0.999**self._step), out=size), out=size)
            size += 1e-8
            np.divide(first, size, out=size)
            size *= by
            np.add(p, size, out=p)
            if p.ndim > 1:
                np.multiply(p, 1 - rate * self._decay, out=p)


def half_cosine(step: int, steps: int) -> float:
    """Return what is left of a rate at a step: it falls from 1 to 0 as half a cosine (Loshchilov and Hutter)."""
    return 0.5 + 0.5 * math.cos(math.pi * min(step / steps, 1))
