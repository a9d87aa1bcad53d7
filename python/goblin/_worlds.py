"""What a bandit plays in."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Hashable, Iterable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._graph import Graph, Users, columns_of, distinct_names, graph_of, must_be, numbers_of, read_edges, values_of
from ._missing import advice, check_finite


class World(_core.World):
    """What a bandit plays in. Round t is the same for everybody who asks: it comes from (seed, repetition, t)."""

    #: How it was made, for pickles: a world travels to another process as a few numbers.
    _made_by: tuple[Callable[..., World], tuple[Any, ...]]

    def __reduce__(self) -> Any:
        return self._made_by

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.users)} users, dimension={self.dimension}, seed={self.seed})"


class Cliques(World):
    """The paper's 4Cliques: users of a clique have the same unit vector, and bandits see the graph with noise.

    Parameters
    ----------
    cliques, size : how many cliques, of how many users
    dimension, arms : numbers in a context, candidates in a round
    graph_noise : the expected number of pairs of users whose edge is made or broken
    payoff_noise : payoffs are ``u_i . x`` plus noise that is uniform between -payoff_noise and payoff_noise
    drift_after : after so many rounds every clique gets another vector; None: tastes never change
    seed, repetition : what every random number comes from; another repetition has other vectors and rounds

    >>> import goblin
    >>> world = goblin.Cliques(payoff_noise=0.1, seed=1)
    >>> len(world.users), world.round(0).X.shape
    (100, (10, 25))
    """

    def __init__(
        self,
        cliques: int = 4,
        size: int = 25,
        dimension: int = 25,
        arms: int = 10,
        *,
        graph_noise: float = 0.0,
        payoff_noise: float = 0.0,
        drift_after: int | None = None,
        seed: int = 0,
        repetition: int = 0,
    ) -> None:
        options = (cliques, size, dimension, arms, graph_noise, payoff_noise, drift_after, seed, repetition)
        super().__init__(_core.cliques(*options))
        self._made_by = (_world_again, (type(self), "cliques", options))


class Linear(World):
    """Payoffs ``u_i . x`` plus noise on any graph, ``|u_i| = 1``; contexts are uniform in [-1, 1]^d, then unit.

    Parameters
    ----------
    edges, users : as in ``Graph``
    dimension, arms : numbers in a context, candidates in a round
    payoff_noise : the noise is uniform between -payoff_noise and payoff_noise
    smoothing : how alike friends are; 0 gives everybody a vector of their own
    user_vectors : array of shape (users, dimension), the vectors themselves; optional
    seed, repetition : what every random number comes from

    >>> import goblin
    >>> world = goblin.Linear([("ann", "bob"), ("bob", "cat")], dimension=3, arms=5)
    >>> world.round(0).user in world.users, world.round(0).payoffs.shape
    (True, (5,))
    """

    def __init__(
        self,
        edges: Any,
        dimension: int = 25,
        arms: int = 10,
        *,
        payoff_noise: float = 0.0,
        smoothing: float = 10.0,
        user_vectors: ArrayLike | None = None,
        seed: int = 0,
        repetition: int = 0,
        users: Users = None,
    ) -> None:
        graph = graph_of(edges, users)
        if user_vectors is not None:
            user_vectors = np.array(user_vectors)  # a copy travels to other processes, whatever becomes of the caller's
        options = (user_vectors, dimension, arms, payoff_noise, smoothing, seed, repetition)
        super().__init__(_core.linear(graph, *options))
        self._made_by = (_linear_again, (type(self), graph.users, *graph.edges(), options))


class Dataset(_core.Dataset):
    """Users and their friends, items and their contexts, and what items pay to whom: your own data.

    Parameters
    ----------
    edges : who is a friend of whom, as in ``Graph``
    contexts : array or frame of shape (items, dimension), a row for each item
    payoffs : who gets what from which item: rows ``(user, item, payoff)``, as a list, an array or a frame of three
        columns, or a SciPy sparse matrix of shape (users, items). What is not listed pays 0, whether it was shown and
        not clicked or never shown. So this is for data that knows what users like, ratings say, and not for a log of
        what was shown: from such a log learn with ``partial_fit``, which takes the rows that there are and no others
    items : the items' names, in the order of the rows of ``contexts``; 0, 1, ... without
    users : as in ``Graph``; a user who only has payoffs is added, without friends
    name : what the data is called

    ``goblin.datasets`` reads the paper's data.

    >>> import goblin
    >>> data = goblin.Dataset(edges=[("ann", "bob")], items=["tea", "cake"], contexts=[[1.0, 0.0], [0.0, 1.0]],
    ...                       payoffs=[("ann", "tea", 1.0), ("zoe", "cake", 1.0)])
    >>> data.users, data.items, data.dimension
    (['ann', 'bob', 'zoe'], ['tea', 'cake'], 2)
    """

    def __init__(
        self,
        edges: Any,
        contexts: Any,
        payoffs: Any,
        *,
        items: Iterable[Hashable] | None = None,
        users: Users = None,
        name: str = "own",
    ) -> None:
        try:
            rows = np.asarray(contexts, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"contexts: cannot be read as an array of numbers: {error}") from None
        if rows.ndim != 2:
            raise ValueError(f"contexts: shape {rows.shape} (must be (items, dimension), one row an item)")
        check_finite("contexts", rows, "number")
        item_names = list(range(len(rows))) if items is None else distinct_names(_listed(values_of(items)), "items")
        if len(item_names) != len(rows):
            raise ValueError(f"contexts: shape {rows.shape} (must be ({len(item_names)}, dimension), one row an item)")
        read = read_edges(edges, users)
        payoff_users, payoff_items, values = _payoff_columns(payoffs, read.users, item_names)
        everybody, user_index = _core.numbered_names(payoff_users, 1, "payoffs", known=read.users)
        if users is not None and len(everybody) > len(read.users):
            raise KeyError(f"user {everybody[len(read.users)]!r} has a payoff and is not among the users")
        item_index = _item_indices(payoff_items, item_names)
        _check_once(user_index, item_index, payoff_users, payoff_items)
        graph = _core.Graph(everybody, read.ends, read.weights)
        super().__init__(graph, item_names, rows, user_index, item_index, values, name)

    #: How it was read, where it came from files: to another process it then travels as the name of their folder.
    _read_from: tuple[str, str, tuple[tuple[str, Any], ...], str] | None = None

    def __reduce__(self) -> Any:
        users, items, payoffs = self._payoffs()
        contexts = self.contexts
        ends, weights = self.graph.edges()
        if self._read_from is not None:
            return _dataset_read_again, (*self._read_from, _checksum(ends, weights, contexts, users, items, payoffs))
        parts = (self.users, ends, weights, self.items, contexts, users, items, payoffs, self.name)
        return _dataset_again, (type(self), *parts)

    @property
    def payoffs(self) -> dict[str, NDArray[Any]]:
        """The payoffs other than 0 as columns ``user``, ``item``, ``payoff``."""
        users, items, payoffs = self._payoffs()
        return {"user": names_array(self.users)[users], "item": names_array(self.items)[items], "payoff": payoffs}

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}, {len(self.users)} users, {len(self.items)} items, dimension={self.dimension})"


def _dataset_again(kind: type[Dataset], names: list[Any], ends: Any, weights: Any, *parts: Any) -> Dataset:
    """What pickle calls."""
    data = kind.__new__(kind)
    _core.Dataset.__init__(data, _core.Graph(names, ends, weights), *parts)
    return data


def dataset_read_from(kind: str, folder: str, options: tuple[tuple[str, Any], ...], cache: str) -> Dataset:
    """The data set that the files in a folder become."""
    data = Dataset.__new__(Dataset)
    _core.Dataset.__init__(data, _core.read(kind, folder, dict(options), cache))
    data._read_from = (kind, os.path.abspath(folder), options, os.path.abspath(cache) if cache else "")
    return data


_read_once = lru_cache(maxsize=4)(dataset_read_from)


def _dataset_read_again(kind: str, folder: str, options: Any, cache: str, checksum: int) -> Dataset:
    """What pickle calls, once for each data set in a process."""
    data = _read_once(kind, folder, options, cache)
    ends, weights = data.graph.edges()
    users, items, payoffs = data._payoffs()
    if _checksum(ends, weights, data.contexts, users, items, payoffs) != checksum:
        raise ValueError(f"data: what is read from {folder} here is not what was read where the world was made")
    return data


def _checksum(*arrays: Any) -> int:
    checksum = 0
    for array in arrays:
        checksum = zlib.crc32(np.ascontiguousarray(array).tobytes(), checksum)
    return checksum


def _listed(values: Any) -> list[Any]:
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


def _payoff_columns(payoffs: Any, users: list[Any], items: list[Any]) -> tuple[list[Any], list[Any], Any]:
    if hasattr(payoffs, "tocoo"):
        if payoffs.shape != (len(users), len(items)):
            raise ValueError(f"payoffs: shape {payoffs.shape} (must be {(len(users), len(items))}, users and items)")
        entries = payoffs.tocoo()
        return [users[k] for k in entries.row], [items[k] for k in entries.col], entries.data.astype(np.float64)
    columns = columns_of(payoffs, "payoffs")
    if len(columns) != 3:
        raise ValueError(f"payoffs: {len(columns)} columns (must be 3: user, item, payoff)")
    values = numbers_of(columns[2], "payoffs[{row}]: payoff")
    missing = np.flatnonzero(np.isnan(values))
    if len(missing):
        raise ValueError(f"payoffs[{missing[0]}]: payoff nan (must be finite){advice('reward')}")
    return _listed(columns[0]), _listed(columns[1]), values


def _item_indices(payoff_items: list[Any], items: list[Any]) -> NDArray[np.int64]:
    _, index = _core.numbered_names(payoff_items, 1, "payoffs", known=items)
    unknown = np.flatnonzero(index >= len(items))
    if len(unknown):
        count = len(unknown) - 1
        rows = "is the item of 1 more row" if count == 1 else f"are the items of {count} more rows"
        more = f"; nor {rows}" if count else ""
        raise KeyError(f"payoffs[{unknown[0]}]: item {payoff_items[unknown[0]]!r} is not known{more}")
    return index


def _check_once(
    users: NDArray[np.int64], items: NDArray[np.int64], user_names: list[Any], item_names: list[Any]
) -> None:
    """Of two payoffs for the same user and item nobody can say which is meant."""
    if not len(users):
        return
    _, first = np.unique(users * (items.max() + 1) + items, return_index=True)
    again = np.setdiff1d(np.arange(len(users)), first)
    if len(again):
        pair = f"user {user_names[again[0]]!r} and item {item_names[again[0]]!r}"
        remedy = "add them up or drop some, with frame.groupby([user, item]).sum() say"
        raise ValueError(
            f"payoffs[{again[0]}]: {pair} again (must be one row for each pair; {len(again)} of the {len(users)} rows "
            f"are for a pair that an earlier row has: {remedy})"
        )


def names_array(names: list[Any]) -> NDArray[Any]:
    """Names as an array, of texts or whole numbers where all are."""
    if all(type(name) is str for name in names):
        return np.array(names, dtype=np.str_)
    if all(type(name) is int for name in names):
        return np.array(names, dtype=np.int64)
    array = np.empty(len(names), dtype=object)
    array[:] = names
    return array


class Catalogue(World):
    """A dataset, played the paper's way: a user at random, an item that pays, and arms - 1 others at random.

    Parameters
    ----------
    data : a ``Dataset``, your own or one of ``goblin.datasets``
    arms : candidates in a round
    seed, repetition : what every random number comes from

    >>> import goblin
    >>> data = goblin.Dataset([("ann", "bob")], contexts=[[1.0, 0.0], [0.0, 1.0]], payoffs=[("ann", 0, 1.0)])
    >>> goblin.Catalogue(data, arms=2).round(0).user
    'ann'
    """

    def __init__(self, data: _core.Dataset, arms: int = 25, *, seed: int = 0, repetition: int = 0) -> None:
        must_be(data, _core.Dataset, "data")
        options = (data, arms, seed, repetition)
        super().__init__(_core.catalogue(*options))
        self._made_by = (_world_again, (type(self), "catalogue", options))


def _world_again(kind: type[World], make: str, options: tuple[Any, ...]) -> World:
    """What pickle calls."""
    world = kind.__new__(kind)
    _core.World.__init__(world, getattr(_core, make)(*options))
    world._made_by = (_world_again, (kind, make, options))
    return world


def _linear_again(kind: type[World], users: list[Any], ends: Any, weights: Any, options: tuple[Any, ...]) -> World:
    """What pickle calls."""
    world = _world_again(kind, "linear", (_core.Graph(users, ends, weights), *options))
    world._made_by = (_linear_again, (kind, users, ends, weights, options))
    return world


__all__ = ["Catalogue", "Cliques", "Dataset", "Graph", "Linear", "World"]
