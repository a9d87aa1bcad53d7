"""Small types that the compiled half gives back or raises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray


class Column(Protocol):
    """A column of a pandas or polars frame."""

    __hash__: ClassVar[None]  # type: ignore[assignment]

    def to_list(self) -> list[Any]: ...


#: Many users where one could stand: a list, an array or a column. A tuple is one user.
ManyUsers = list[Any] | NDArray[Any] | Column

#: A row for each user: one array, or a list with an array for each.
Rows = ArrayLike | Sequence[ArrayLike] | Column


class UnknownUser(KeyError):  # noqa: N818 - the name that C++ has for it
    """A user was asked for whom the bandit does not have; ``add_user`` lets users join."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""  # KeyError would put it into quotes


class UnknownUserWarning(UserWarning):
    """``partial_fit`` met users whom the bandit did not have, and added them or left their rows out."""


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
    """How candidates are judged, ``score = mean + width``: arrays of shape (arms,), for n users at once (n, arms)."""

    score: NDArray[np.float64]
    mean: NDArray[np.float64]
    width: NDArray[np.float64]


class Ranking(NamedTuple):
    """The best candidates, best first, and how probable each was for its place: arrays of shape (places,).

    ``probability`` is given the places before, so that the product is the probability of the whole ranking.
    """

    arm: NDArray[np.int64]
    score: NDArray[np.float64]
    probability: NDArray[np.float64]


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
