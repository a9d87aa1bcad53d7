"""Small types that the compiled half gives back or raises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class UnknownUser(KeyError):  # noqa: N818 - the name that C++ has for it
    """A user was asked for whom the bandit does not have; ``add_user`` lets users join."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""  # KeyError would put it into quotes


@dataclass(frozen=True)
class Evidence:
    """What was learned from a user's own rewards ``a`` for contexts ``x``.

    ``S`` is the sum of ``x x'``, shape (dimension, dimension); ``c`` the sum of ``a x``, shape (dimension,); ``count``
    the number of rewards and ``squared_rewards`` the sum of ``a^2``.
    """

    S: NDArray[np.float64]
    c: NDArray[np.float64]
    count: int
    squared_rewards: float


class Scores(NamedTuple):
    """How the candidates of a round are judged: ``score = mean + width``, arrays of shape (arms,)."""

    score: NDArray[np.float64]
    mean: NDArray[np.float64]
    width: NDArray[np.float64]


class Decision(NamedTuple):
    """What was decided, and how probable that was before chance decided.

    ``probability_error`` is the standard error of an estimated ``probability``, 0 where it is exact. ``probabilities``
    has that of each candidate, where it was asked for. ``score``, ``mean`` and ``width`` are those of ``Scores``.
    """

    arm: int
    probability: float
    probability_error: float
    probabilities: NDArray[np.float64] | None
    score: NDArray[np.float64]
    mean: NDArray[np.float64]
    width: NDArray[np.float64]


class Round(NamedTuple):
    """One round of a world.

    ``X`` has shape (arms, dimension) and ``payoffs`` shape (arms,); ``expected`` are the payoffs without their noise,
    where anybody knows, and ``items`` the candidates' names, where they have some.
    """

    user: Any
    X: NDArray[np.float64]
    payoffs: NDArray[np.float64]
    expected: NDArray[np.float64] | None
    items: list[Any] | None
