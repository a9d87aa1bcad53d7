"""Graphs from whatever people keep their edges in."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core

Users = int | Iterable[Hashable] | None


@dataclass
class Edges:
    """Users, and for each edge the indices of its ends, shape (edges, 2), and its weight, shape (edges,)."""

    users: list[Any]
    ends: NDArray[np.int64]
    weights: NDArray[np.float64]


class Graph(_core.Graph):
    """Users and who is a friend of whom.

    Parameters
    ----------
    edges : one of
        - an integer array of shape (edges, 2), or any array of shape (edges, 3) whose last column is a weight
        - pairs ``(user, user)`` or triples ``(user, user, weight)``; users are any hashable objects
        - a pandas or polars frame of two or three such columns
        - a SciPy sparse matrix of shape (users, users); users are its rows, 0, 1, ...
        - a NetworkX graph, with its ``weight`` attributes
        - another ``Graph``
    users : all users, as names or as the number n of users 0, 1, ..., n - 1; optional. Without it the users are those
        who have an edge, in the order in which they appear; with it, users without friends can be named too.

    Edges have no direction, and a second edge between two users adds to the weight of the first. A sparse matrix that
    is symmetric has every edge twice and it counts once.

    >>> import goblin
    >>> graph = goblin.Graph([("ann", "bob"), ("bob", "cat", 2.0)])
    >>> graph.users, graph.edge_count
    (['ann', 'bob', 'cat'], 2)
    >>> goblin.Graph([(0, 1)], users=3).users
    [0, 1, 2]
    """

    def __init__(self, edges: Any, users: Users = None) -> None:
        read = read_edges(edges, users)
        super().__init__(read.users, read.ends, read.weights)

    def __repr__(self) -> str:
        return f"Graph({len(self)} users, {self.edge_count} edges)"


def graph_of(edges: Any, users: Users = None) -> _core.Graph:
    """The graph itself where it is one already."""
    return edges if isinstance(edges, _core.Graph) and users is None else Graph(edges, users)


def read_edges(edges: Any, users: Users = None) -> Edges:
    """Edges in whatever form, and all users: those that are given, or those that appear."""
    names = None if users is None else list(range(users)) if isinstance(users, int) else list(users)
    if isinstance(edges, _core.Graph):
        ends, weights = edges.edges()
        return _renamed(Edges(edges.users, ends, weights), names)
    if hasattr(edges, "tocoo"):
        return _from_sparse(edges, names)
    if hasattr(edges, "nodes") and hasattr(edges, "edges"):
        triples = list(edges.edges(data="weight", default=1.0))
        nodes = list(edges.nodes) if names is None else names
        return _from_columns(_transposed(triples, "edges"), nodes)
    return _from_columns(columns_of(edges, "edges"), names)


def columns_of(table: Any, name: str) -> list[Any]:
    """The columns of a frame, of a two-dimensional array, or of rows."""
    if hasattr(table, "columns") and not isinstance(table, np.ndarray):
        return [values_of(table[column]) for column in table.columns]
    if isinstance(table, np.ndarray):
        if table.ndim != 2:
            raise ValueError(f"{name}: shape {table.shape} (must be two-dimensional, a row each)")
        return [table[:, k] for k in range(table.shape[1])]
    if isinstance(table, str | bytes) or not isinstance(table, Iterable):
        raise ValueError(f"{name}: {type(table).__name__} (must be an array, a list of rows or a frame)")
    return _transposed(list(table), name)


def values_of(column: Any) -> Any:
    """A column as an array where it has numbers, as a list else."""
    array = column.to_numpy() if hasattr(column, "to_numpy") else np.asarray(column)
    return array if array.dtype.kind in "iuf" else array.tolist()


def _transposed(rows: Sequence[Any], name: str) -> list[Any]:
    if not rows:
        return [[], []]
    width = max(len(row) for row in rows)
    for k, row in enumerate(rows):
        if isinstance(row, str | bytes) or not 2 <= len(row) <= 3:
            raise ValueError(f"{name}[{k}]: {row!r} (must be a pair or a triple)")
    return [[row[0] for row in rows], [row[1] for row in rows]] + (
        [[row[2] if len(row) == 3 else 1.0 for row in rows]] if width == 3 else []
    )


def _from_columns(columns: list[Any], names: list[Any] | None) -> Edges:
    if len(columns) not in (2, 3):
        raise ValueError(f"edges: {len(columns)} columns (must be 2, or 3 with weights)")
    first, second = columns[0], columns[1]
    count = len(first)
    try:
        weights = np.ones(count) if len(columns) == 2 else np.asarray(columns[2], dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"edges: a weight is no number: {error}") from None
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray) and first.dtype.kind in "iuf":
        users, ends = _numbered(np.stack([_whole(first), _whole(second)], axis=1))
        return _renamed(Edges(users, ends, weights), names)
    if isinstance(first, np.ndarray):
        first, second = first.tolist(), second.tolist()
    index: dict[Any, int] = {}
    flat = [index.setdefault(user, len(index)) for pair in zip(first, second, strict=True) for user in pair]
    ends = np.array(flat, dtype=np.int64).reshape(count, 2)
    return _renamed(Edges(list(index), ends, weights), names)


def _whole(users: NDArray[Any]) -> NDArray[np.int64]:
    whole = users.astype(np.int64) if users.dtype.kind in "iu" or np.all(np.isfinite(users)) else None
    if whole is None or not np.array_equal(whole, users):
        raise ValueError("edges: an array with a user that is no whole number (users of other types come in lists)")
    return whole


def _numbered(ends: NDArray[np.int64]) -> tuple[list[int], NDArray[np.int64]]:
    """The distinct numbers in the order in which they appear, and the ends as indices of them."""
    distinct, first, inverse = np.unique(ends.ravel(), return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(distinct), dtype=np.int64)
    place[order] = np.arange(len(distinct))
    return distinct[order].tolist(), place[inverse.ravel()].reshape(-1, 2)


def _renamed(edges: Edges, names: list[Any] | None) -> Edges:
    """The same edges among the given users, who must be all of those who have one."""
    if names is None or names == edges.users:
        return edges
    index = {name: k for k, name in enumerate(names)}
    for user in edges.users:
        if user not in index:
            raise KeyError(f"user {user!r} has an edge and is not among the users")
    places = np.array([index[user] for user in edges.users], dtype=np.int64)
    return Edges(names, places[edges.ends] if len(places) else edges.ends, edges.weights)


def _from_sparse(matrix: Any, names: list[Any] | None) -> Edges:
    rows, columns = matrix.shape
    if rows != columns:
        raise ValueError(f"edges: shape {matrix.shape} (a sparse matrix must be square, a row and a column a user)")
    if names is not None and len(names) != rows:
        raise ValueError(f"users: {len(names)} (must be {rows}, a row of the matrix each)")
    symmetric = (matrix != matrix.T).nnz == 0
    entries = matrix.tocoo()
    kept = (entries.data != 0) & ((entries.row <= entries.col) if symmetric else True)
    ends = np.stack([entries.row[kept], entries.col[kept]], axis=1).astype(np.int64)
    return Edges(list(range(rows)) if names is None else names, ends, entries.data[kept].astype(np.float64))


@dataclass(frozen=True)
class Clustering:
    """Which cluster each user is in, and how good that is.

    ``labels[k]`` is the cluster of ``users[k]``, 0, 1, ...; ``sizes`` the number of users of each. ``normalized_cut``
    is the sum over clusters of (weight of the edges that leave) / (sum of the degrees inside), ``inside`` the share of
    the weight whose two ends are in the same cluster.
    """

    users: list[Any]
    labels: NDArray[np.int64]
    sizes: NDArray[np.int64]
    normalized_cut: float
    mean_normalized_cut: float
    inside: float

    def as_dict(self) -> dict[Any, int]:
        """The cluster of each user by name."""
        return dict(zip(self.users, self.labels.tolist(), strict=True))


def cluster(
    edges: Any,
    k: int = 0,
    *,
    users: Users = None,
    method: str = "ncut",
    max_size: int = 0,
    imbalance: float = 3.0,
    seed: int = 0,
) -> Clustering:
    """Clusters the users so that few edges leave a cluster.

    Parameters
    ----------
    edges, users : as in ``Graph``
    k : how many clusters; none for the method ``components``
    method : ``ncut`` (a small normalized cut), ``metis`` (clusters of about the same size) or ``components``
    max_size : no cluster has more users; 0: no cap
    imbalance : clusters of ``ncut`` have between 1 / imbalance and imbalance times the average number of users
    seed : the same seed gives the same clusters

    >>> import goblin
    >>> clustering = goblin.cluster([("ann", "bob"), ("cat", "dan"), ("dan", "eve")], 2)
    >>> clustering.as_dict()
    {'ann': 0, 'bob': 0, 'cat': 1, 'dan': 1, 'eve': 1}
    """
    graph = graph_of(edges, users)
    return Clustering(users=graph.users, **_core.partition(graph, k, method, max_size, imbalance, seed))


def labels_of(graph: _core.Graph, clusters: Any, seed: int = 0) -> NDArray[np.int64]:
    """A label for each user from clusters in whatever form: their number, a Clustering, labels by user or in order."""
    if isinstance(clusters, int | np.integer):
        return cluster(graph, int(clusters), seed=seed).labels
    users = graph.users
    if isinstance(clusters, Clustering):
        clusters = clusters.as_dict()
    if isinstance(clusters, Mapping):
        missing = next((user for user in users if user not in clusters), None)
        if missing is not None:
            raise KeyError(f"user {missing!r} has no cluster")
        clusters = [clusters[user] for user in users]
    given = values_of(clusters)
    if len(given) != len(users):
        raise ValueError(f"clusters: {len(given)} labels (must be {len(users)}, one a user)")
    index: dict[Any, int] = {}
    if isinstance(given, np.ndarray) and given.dtype.kind in "iu" and np.all((given >= 0) & (given < len(users))):
        return given.astype(np.int64)
    return np.array([index.setdefault(label, len(index)) for label in given], dtype=np.int64)
