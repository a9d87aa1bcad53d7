"""Graphs from whatever people keep their edges in."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._types import UnknownUser

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
        - pairs ``(user, user)`` or triples ``(user, user, weight)``
        - a pandas or polars frame of two or three such columns
        - a SciPy sparse matrix of shape (users, users); users are its rows, 0, 1, ...
        - a NetworkX graph, with its ``weight`` attributes
        - another ``Graph``
    users : all users, as names or as the number n of users 0, 1, ..., n - 1; optional. Without it the users are those
        who have an edge, in the order in which they appear; with it, users without friends can be named too.
    drop_self_loops : leave out edges that join a user to itself, which are a ``ValueError`` otherwise

    A user is a text, a number, bytes or a tuple of these. A whole number and its digits are the same user: ``10``,
    ``"10"`` and ``numpy.int64(10)`` are one.

    Edges have no direction. A pair of users that is listed again in the same direction adds to the weight. Where a pair
    is listed in both directions, the two are one edge with the larger weight: a symmetric matrix, a list that has every
    friendship twice and a directed NetworkX graph mean what they seem to. A warning says so, but for a matrix that is
    symmetric.

    >>> import goblin
    >>> graph = goblin.Graph([("ann", "bob"), ("bob", "cat", 2.0)])
    >>> graph.users, graph.edge_count
    (['ann', 'bob', 'cat'], 2)
    >>> goblin.Graph([(0, 1)], users=3).users
    [0, 1, 2]
    """

    def __init__(self, edges: Any, users: Users = None, *, drop_self_loops: bool = False) -> None:
        read = read_edges(edges, users, drop_self_loops)
        super().__init__(read.users, read.ends, read.weights)

    def __repr__(self) -> str:
        return f"Graph({len(self)} users, {self.edge_count} edges)"


def must_be(value: Any, kind: type, name: str) -> None:
    """Refuses a value of another class by its name."""
    if not isinstance(value, kind):
        raise TypeError(f"{name}: {value!r} (must be a goblin.{kind.__name__})")


def graph_of(edges: Any, users: Users = None) -> _core.Graph:
    """The graph itself where it is one already."""
    return edges if isinstance(edges, _core.Graph) and users is None else Graph(edges, users)


def read_edges(edges: Any, users: Users = None, drop_self_loops: bool = False) -> Edges:
    """Edges in whatever form, each pair of users once, and all users: those that are given, or those that appear."""
    names = _all_users(users)
    if isinstance(edges, _core.Graph):
        ends, weights = edges.edges()
        return _among(Edges(edges.users, ends, weights), names)
    if hasattr(edges, "tocoo"):
        read = _checked(_from_sparse(edges, names), "edges", drop_self_loops)
        return _each_pair_once(read, both_directions_are_usual=True)
    if hasattr(edges, "nodes") and hasattr(edges, "edges"):
        columns = _transposed(list(edges.edges(data="weight", default=1.0)), "edges")
        names = list(edges.nodes) if names is None else names
    else:
        columns = columns_of(edges, "edges")
    read = _checked(_among(_from_columns(columns), names), "edges[{row}]", drop_self_loops)
    return _each_pair_once(read)


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


def numbers_of(values: Any, name: str) -> NDArray[np.float64]:
    """A column of numbers; of a value that is none the error says the row. ``name`` has a place for it."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        for row, value in enumerate(values):
            try:
                float(value)
            except (TypeError, ValueError):
                raise ValueError(f"{name.format(row=row)}: {value!r} (must be a number)") from None
        raise


def _transposed(rows: Sequence[Any], name: str) -> list[Any]:
    for k, row in enumerate(rows):
        if isinstance(row, str | bytes) or not hasattr(row, "__len__") or not 2 <= len(row) <= 3:
            raise ValueError(f"{name}[{k}]: {row!r} (must be a pair or a triple)")
    columns: list[Any] = [[row[0] for row in rows], [row[1] for row in rows]]
    if any(len(row) == 3 for row in rows):
        columns.append([row[2] if len(row) == 3 else 1.0 for row in rows])
    return columns


def _all_users(users: Any) -> list[Any] | None:
    if users is None:
        return None
    if isinstance(users, bool | np.bool_):
        raise TypeError(f"users: {users!r} (must be the users, or their number)")
    if isinstance(users, Real):  # 100, or 100.0
        count = float(users)
        if not count.is_integer() or count < 0:
            raise ValueError(f"users: {users!r} (must be a whole number, at least 0, or the users)")
        return list(range(int(count)))
    if not isinstance(users, Iterable):
        raise TypeError(f"users: {users!r} (must be the users, or their number)")
    return list(users)


def _from_columns(columns: list[Any]) -> Edges:
    if len(columns) not in (2, 3):
        raise ValueError(f"edges: {len(columns)} columns (must be 2, or 3 with weights)")
    first, second = columns[0], columns[1]
    count = len(first)
    weights = np.ones(count) if len(columns) == 2 else numbers_of(columns[2], "edges[{row}]: weight")
    if (
        isinstance(first, np.ndarray)
        and isinstance(second, np.ndarray)
        and {first.dtype.kind, second.dtype.kind} <= {*"iuf"}
    ):
        users, ends = _numbered(np.stack([_whole(first), _whole(second)], axis=1))
        return Edges(users, ends, weights)
    flat: list[Any] = [None] * (2 * count)
    flat[0::2] = first.tolist() if isinstance(first, np.ndarray) else first
    flat[1::2] = second.tolist() if isinstance(second, np.ndarray) else second
    users, index = _core.numbered_names(flat, 2, "edges")
    return Edges(users, index.reshape(count, 2), weights)


def _whole(users: NDArray[Any]) -> NDArray[np.int64]:
    with np.errstate(invalid="ignore"):
        whole = users.astype(np.int64)
    wrong = np.flatnonzero(whole != users)
    if len(wrong):
        row = wrong[0]
        missing = "a missing value is no user" if np.isnan(users[row]) else "users of other types come in a list"
        raise ValueError(f"edges[{row}]: {users[row]} (must be a whole number in an array of numbers; {missing})")
    return whole


def _numbered(ends: NDArray[np.int64]) -> tuple[list[int], NDArray[np.int64]]:
    """The distinct numbers in the order in which they appear, and the ends as indices of them."""
    distinct, first, inverse = np.unique(ends.ravel(), return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(distinct), dtype=np.int64)
    place[order] = np.arange(len(distinct))
    return distinct[order].tolist(), place[inverse.ravel()].reshape(-1, 2)


def _among(edges: Edges, names: list[Any] | None) -> Edges:
    """The same edges among the given users, who must be all of those who have one."""
    if names is None or names == edges.users:
        return edges
    users = distinct_names(names, "users")
    everybody, places = _core.numbered_names(edges.users, 1, "edges", known=users)
    if len(everybody) > len(users):
        raise KeyError(f"user {everybody[len(users)]!r} has an edge and is not among the users")
    return Edges(users, places[edges.ends] if len(places) else edges.ends, edges.weights)


def distinct_names(given: list[Any], argument: str) -> list[Any]:
    """The names as plain values; of two that are the same the error says where."""
    names, index = _core.numbered_names(given, 1, argument)
    if len(names) < len(given):
        again = int(np.flatnonzero(index != np.arange(len(given)))[0])
        raise ValueError(f"{argument}[{again}]: {given[again]!r} stands twice (must be distinct)")
    return names


def _from_sparse(matrix: Any, names: list[Any] | None) -> Edges:
    rows, columns = matrix.shape
    if rows != columns:
        raise ValueError(f"edges: shape {matrix.shape} (a sparse matrix must be square, a row and a column a user)")
    if names is not None and len(names) != rows:
        raise ValueError(f"users: {len(names)} (must be {rows}, a row of the matrix each)")
    entries = matrix.tocoo()
    kept = entries.data != 0
    ends = np.stack([entries.row[kept], entries.col[kept]], axis=1).astype(np.int64)
    return Edges(list(range(rows)) if names is None else names, ends, entries.data[kept].astype(np.float64))


def _checked(edges: Edges, where: str, drop_self_loops: bool) -> Edges:
    """The edges, whose weights must be positive and whose ends two users; ``where`` names a row in messages."""
    wrong = np.flatnonzero(~(np.isfinite(edges.weights) & (edges.weights > 0)))
    if len(wrong):
        a, b = (edges.users[end] for end in edges.ends[wrong[0]])
        weight = f"weight {edges.weights[wrong[0]]:g} between {a!r} and {b!r}"
        raise ValueError(f"{where.format(row=wrong[0])}: {weight} (must be finite and positive)")
    loops = edges.ends[:, 0] == edges.ends[:, 1]
    if drop_self_loops:
        return Edges(edges.users, edges.ends[~loops], edges.weights[~loops])
    if loops.any():
        row = int(np.argmax(loops))
        more = f"; {loops.sum() - 1} more do so" if loops.sum() > 1 else ""
        remedy = "goblin.Graph(edges, drop_self_loops=True) leaves such edges out"
        user = edges.users[edges.ends[row, 0]]
        raise ValueError(
            f"{where.format(row=row)}: joins user {user!r} to itself{more} (must join two users; {remedy})"
        )
    return edges


def _each_pair_once(edges: Edges, both_directions_are_usual: bool = False) -> Edges:
    """Makes one edge of the two directions of a pair: it has the weight of the heavier one. A direction that is listed
    several times weighs their sum. A matrix is expected to have both; elsewhere a warning tells.
    """
    low, high = edges.ends.min(axis=1), edges.ends.max(axis=1)
    pair = low * len(edges.users) + high
    forward = edges.ends[:, 0] == low
    both = np.intersect1d(pair[forward], pair[~forward])
    if not len(both):
        return edges
    distinct, place = np.unique(pair, return_inverse=True)
    ahead = np.bincount(place[forward], edges.weights[forward], minlength=len(distinct))
    back = np.bincount(place[~forward], edges.weights[~forward], minlength=len(distinct))
    surprising = (ahead > 0) & (back > 0) & ((ahead != back) | (not both_directions_are_usual))
    ends = np.stack([distinct // len(edges.users), distinct % len(edges.users)], axis=1)
    if surprising.any():
        k = int(np.argmax(surprising))
        a, b = (edges.users[end] for end in ends[k])
        count = surprising.sum()
        pairs = "a pair of users is" if count == 1 else f"{count} pairs of users are"
        example = f"{a!r} and {b!r}" + (f" with weights {ahead[k]:g} and {back[k]:g}" if ahead[k] != back[k] else "")
        rule = "both are one edge, with the larger weight of the two"
        warn(f"edges: {pairs} listed in both directions ({example}{', ...' if count > 1 else ''}): {rule}")
    return Edges(edges.users, ends, np.maximum(ahead, back))


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warns about the line of the caller's own program that called goblin."""
    package = str(Path(__file__).parent)
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


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
    return Clustering(users=graph.users, **_core.partition(graph, k, "k", method, max_size, imbalance, seed))


def labels_of(graph: _core.Graph, clusters: Any, seed: int = 0) -> NDArray[np.int64]:
    """A label for each user from clusters in whatever form: their number, a Clustering, labels by user or in order."""
    if isinstance(clusters, Real | np.bool_):
        made = _core.partition(graph, clusters, "clusters", "ncut", 0, 3.0, seed)  # type: ignore[arg-type]
        return np.asarray(made["labels"])
    users = graph.users
    if isinstance(clusters, Clustering):
        clusters = clusters.as_dict()
    if isinstance(clusters, Mapping):
        clusters = in_order(users, clusters, "clusters")
    if isinstance(clusters, str | bytes) or not hasattr(clusters, "__len__"):
        wanted = "a number of clusters, a Clustering, or a label for each user"
        raise TypeError(f"clusters: {clusters!r} (must be {wanted})")
    given = values_of(clusters)
    if len(given) != len(users):
        raise ValueError(f"clusters: {len(given)} labels (must be {len(users)}, one a user)")
    index: dict[Any, int] = {}
    if isinstance(given, np.ndarray) and given.dtype.kind in "iu" and np.all((given >= 0) & (given < len(users))):
        return given.astype(np.int64)
    return np.array([index.setdefault(label, len(index)) for label in given], dtype=np.int64)


def in_order(users: list[Any], by_user: Mapping[Any, Any], argument: str) -> list[Any]:
    """What a mapping has for each of the users, who may be spelled 10 here and "10" there."""
    everybody, index = _core.numbered_names(by_user, 1, argument, known=users)
    if len(everybody) > len(users):
        raise UnknownUser(f"{argument}: user {everybody[len(users)]!r} is not known (must have the bandit's users)")
    found = dict(zip(index.tolist(), by_user.values(), strict=True))
    missing = next((k for k in range(len(users)) if k not in found), None)
    if missing is not None:
        raise ValueError(f"{argument}: nothing for user {users[missing]!r} (must have one for each user)")
    return [found[k] for k in range(len(users))]
