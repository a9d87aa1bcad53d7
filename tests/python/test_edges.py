"""Graphs from every form, and their clusters."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import networkx
import numpy as np
import pandas
import polars
import pytest
import scipy.sparse

import goblin


def weights_of(graph: Any) -> dict[frozenset[Any], float]:
    ends, weights = graph.edges()
    return {frozenset((graph.users[a], graph.users[b])): weight for (a, b), weight in zip(ends, weights, strict=True)}


PLAIN = {frozenset((0, 1)): 1.0, frozenset((1, 2)): 1.0}
WEIGHTED = {frozenset((0, 1)): 0.5, frozenset((1, 2)): 2.0}
MATRIX = np.array([[0, 0.5, 0], [0.5, 0, 2.0], [0, 2.0, 0]])


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        (np.array([[0, 1], [1, 2]]), PLAIN),
        (np.array([[0, 1], [1, 2]], dtype=np.uint8), PLAIN),
        (np.array([[0.0, 1.0], [1.0, 2.0]]), PLAIN),
        ([(0, 1), (1, 2)], PLAIN),
        ([[0, 1], [1, 2]], PLAIN),
        (((0, 1), (1, 2, 1.0)), PLAIN),
        (iter([(0, 1), (1, 2)]), PLAIN),
        (networkx.path_graph(3), PLAIN),
        (pandas.DataFrame({"a": [0, 1], "b": [1, 2]}), PLAIN),
        (polars.DataFrame({"a": [0, 1], "b": [1, 2]}), PLAIN),
        (goblin.Graph([(0, 1), (1, 2)]), PLAIN),
        (np.array([[0, 1, 0.5], [1, 2, 2.0]]), WEIGHTED),
        ([(0, 1, 0.5), (1, 2, 2.0)], WEIGHTED),
        (scipy.sparse.csr_matrix(MATRIX), WEIGHTED),
        (scipy.sparse.csr_array(MATRIX), WEIGHTED),
        (scipy.sparse.coo_matrix(np.triu(MATRIX)), WEIGHTED),
        (networkx.from_numpy_array(MATRIX), WEIGHTED),
        (pandas.DataFrame({"a": [0, 1], "b": [1, 2], "w": [0.5, 2.0]}), WEIGHTED),
        ([(0, 1, 0.25), (0, 1, 0.25), (1, 2, 2.0)], WEIGHTED),
    ],
)
def test_every_form(edges: Any, expected: dict[Any, float]) -> None:
    graph = goblin.Graph(edges)
    assert graph.users == [0, 1, 2] and len(graph) == 3
    assert weights_of(graph) == expected


def both_ways(edges: Any) -> list[Any]:
    return [*edges, *((b, a, *weight) for a, b, *weight in edges)]


DIRECTED = [(0, 1, 0.5), (1, 2, 2.0)]


@pytest.mark.parametrize(
    "edges",
    [
        both_ways(DIRECTED),
        np.array(both_ways(DIRECTED)),
        pandas.DataFrame(both_ways(DIRECTED)),
        polars.DataFrame(both_ways(DIRECTED), orient="row"),
        networkx.from_numpy_array(MATRIX, create_using=networkx.DiGraph),
        [*DIRECTED, (1, 0, 0.25), (1, 0, 0.25)],  # the same direction adds up
        [*DIRECTED, (1, 0, 0.25)],  # the larger direction counts
        scipy.sparse.csr_matrix(MATRIX - np.array([[0, 0, 0], [0.25, 0, 0], [0, 0, 0]])),
    ],
    ids=["list", "array", "pandas", "polars", "DiGraph", "again", "larger", "matrix"],
)
def test_both_directions_are_one_edge(edges: Any) -> None:
    with pytest.warns(
        UserWarning, match=r"edges: (2 pairs of users are|a pair of users is) listed in both directions \("
    ) as warned:
        graph = goblin.Graph(edges)
    assert weights_of(graph) == WEIGHTED and graph.users == [0, 1, 2]
    assert warned[0].filename == __file__
    with pytest.warns(UserWarning) as warned:
        goblin.GobLin(edges, dimension=1)
    assert warned[0].filename == __file__


def test_a_symmetric_matrix_is_no_surprise() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert weights_of(goblin.Graph(scipy.sparse.csr_matrix(MATRIX))) == WEIGHTED
        assert weights_of(goblin.Graph(networkx.from_numpy_array(MATRIX))) == WEIGHTED
        assert weights_of(goblin.Graph([(0, 1), (0, 1), (1, 2)])) == {frozenset((0, 1)): 2.0, frozenset((1, 2)): 1.0}


def test_self_loops() -> None:
    edges = [("ann", "bob"), ("cat", "cat"), ("dan", "dan")]
    with pytest.raises(ValueError, match=r"^edges\[1\]: joins user 'cat' to itself; 1 more do so \(.*drop_self_loops"):
        goblin.Graph(edges)
    graph = goblin.Graph(edges, drop_self_loops=True)
    assert graph.users == ["ann", "bob", "cat", "dan"] and graph.edge_count == 1
    matrix = scipy.sparse.csr_matrix(MATRIX + np.eye(3))
    with pytest.raises(ValueError, match=r"^edges: joins user 0 to itself"):
        goblin.Graph(matrix)
    assert weights_of(goblin.Graph(matrix, drop_self_loops=True)) == WEIGHTED


def test_names_of_every_type() -> None:
    names: list[Any] = ["ann", 7, ("x", 1), b"raw", 2.5]
    graph = goblin.Graph(list(itertools.pairwise(names)))
    assert graph.users == names
    bandit = goblin.GobLin(graph, dimension=1)
    for name in names:
        bandit.update(name, [1.0], 1.0)
    text = goblin.Graph(np.array([["ann", "bob"], ["bob", "cat"]]))
    assert text.users == ["ann", "bob", "cat"]
    assert weights_of(goblin.Graph(np.array([("ann", "bob", 0.5)], dtype=object))) == {frozenset(("ann", "bob")): 0.5}
    social = networkx.Graph()
    social.add_edge("ann", "bob", weight=3.0)
    social.add_node("zoe")
    assert goblin.Graph(social).users == ["ann", "bob", "zoe"]


def test_users_in_order_of_appearance_or_as_given() -> None:
    assert goblin.Graph(np.array([[30, 10], [10, 20]])).users == [30, 10, 20]
    assert goblin.Graph([(30, 10), (10, 20)]).users == [30, 10, 20]
    given = goblin.Graph(np.array([[30, 10], [10, 20]]), users=[10, 20, 30, 40])
    assert given.users == [10, 20, 30, 40] and weights_of(given) == {frozenset((10, 30)): 1.0, frozenset((10, 20)): 1.0}
    assert goblin.Graph([(2, 0)], users=4).users == [0, 1, 2, 3]
    assert goblin.Graph([], users=["ann"]).users == ["ann"]
    assert goblin.Graph(np.empty((0, 2), dtype=int), users=2).edge_count == 0
    assert goblin.Graph(scipy.sparse.csr_matrix(MATRIX), users="abc").users == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("edges", "error", "message"),
    [
        (np.ones(4), ValueError, r"edges: shape \(4,\)"),
        (np.ones((2, 4)), ValueError, "edges: 4 columns"),
        (np.array([[0, 1], [0.5, 1.0]]), ValueError, r"^edges\[1\]: 0\.5 \(must be a whole number .* come in a list\)"),
        (np.array([[0, 1], [1.0, np.nan]]), ValueError, r"^edges\[1\]: nan \(must be a whole number .* is no user\)"),
        ([1, 2], ValueError, r"^edges\[0\]: 1 \(must be a pair or a triple\)"),
        ([(0, 1), (1,)], ValueError, r"edges\[1\]: \(1,\) \(must be a pair or a triple\)"),
        (["ab"], ValueError, r"edges\[0\]: 'ab'"),
        ([(0, 1, 2.0), (0, 1, "heavy")], ValueError, r"^edges\[1\]: weight: 'heavy' \(must be a number\)"),
        ([(0, 1, -1.0)], ValueError, r"^edges\[0\]: weight -1 between 0 and 1 \(must be finite and positive\)"),
        ([(0, 1, np.nan)], ValueError, "finite"),
        ([(0, 0)], ValueError, "itself|self"),
        ("edges.tsv", ValueError, "edges: str"),
        (7, ValueError, "edges: int"),
        (scipy.sparse.csr_matrix(np.ones((2, 3))), ValueError, r"edges: shape \(2, 3\)"),
        ([([], 1)], TypeError, r"^edges\[0\]: \[\] \(must be a text, a number, bytes or a tuple of these"),
    ],
)
def test_wrong_edges(edges: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        goblin.GobLin(edges)


def test_wrong_users() -> None:
    with pytest.raises(KeyError, match="user 2 has an edge"):
        goblin.Graph([(0, 2)], users=2)
    with pytest.raises(ValueError, match="'ann' stands twice"):
        goblin.Graph([], users=["ann", "ann"])


def test_clusters() -> None:
    edges = [(a, b) for group in range(3) for a in range(5 * group, 5 * group + 5) for b in range(a + 1, 5 * group + 5)]
    clustering = goblin.cluster(edges, 3)
    assert clustering.labels.tolist() == [k // 5 for k in range(15)]
    assert clustering.sizes.tolist() == [5, 5, 5] and clustering.normalized_cut == 0 and clustering.inside == 1
    assert goblin.cluster(edges, method="components").sizes.tolist() == [5, 5, 5]
    named = goblin.cluster([(f"u{a}", f"u{b}") for a, b in edges], 3, method="metis").as_dict()
    assert named["u0"] == named["u4"] != named["u5"]
    for count in (0, 16):
        wanted = rf": {count} \(must be between 1 and the number of users, 15\)$"
        with pytest.raises(ValueError, match="^k" + wanted):
            goblin.cluster(edges, count)
        with pytest.raises(ValueError, match="^clusters" + wanted):
            goblin.GobLinMacro(edges, clusters=count)
    with pytest.raises(ValueError, match=r"^k: 2 \(must be 0 for the method components"):
        goblin.cluster(edges, 2, method="components")
    with pytest.raises(ValueError, match=r"^clusters: 2\.5 \(must be a whole number\)$"):
        goblin.GobLinMacro(edges, clusters=2.5)


def test_networks() -> None:
    graph, community = goblin.networks.communities(60, 3, average_degree=4, mixing=0.1, seed=2)
    again, _ = goblin.networks.communities(60, 3, average_degree=4, mixing=0.1, seed=2)
    assert weights_of(graph) == weights_of(again)
    ends, _ = graph.edges()
    assert np.mean(community[ends[:, 0]] == community[ends[:, 1]]) > 0.6
