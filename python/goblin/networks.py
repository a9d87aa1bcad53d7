"""Social networks to try things on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import _core


def communities(
    users: int,
    communities: int = 1,
    *,
    average_degree: float = 14.0,
    mixing: float = 0.3,
    exponent: float = 2.5,
    seed: int = 0,
) -> tuple[_core.Graph, NDArray[np.int64]]:
    """A graph with communities and a heavy tail of degrees, like a social network; and each user's community.

    Parameters
    ----------
    users, communities : how many; communities have the same size, give or take one
    average_degree : friends of a user on average
    mixing : the share of a user's friends who may be of any community
    exponent : of the degrees' power law, above 2
    seed : the same seed gives the same network

    >>> import goblin
    >>> graph, community = goblin.networks.communities(100, 4, average_degree=6, seed=1)
    >>> len(graph), graph.edge_count, community.shape
    (100, 300, (100,))
    """
    return _core.communities(users, communities, average_degree, mixing, exponent, seed)
