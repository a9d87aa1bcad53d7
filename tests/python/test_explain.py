"""Whose rewards an estimate came from."""

from __future__ import annotations

import pickle
import sys
import threading
from typing import Any

import numpy as np
import pytest

import goblin

FRIENDS = [("ann", "bob"), ("bob", "cat", 2.0), ("cat", "dan"), ("eve", "fay")]


def learned(kind: type[goblin.Bandit] = goblin.GobLin, **options: Any) -> goblin.Bandit:
    bandit: Any = kind(FRIENDS, dimension=3, **options)  # type: ignore[call-arg]
    random = np.random.default_rng(1)
    users = random.choice(bandit.users, size=60)
    return bandit.partial_fit(users, random.normal(size=(60, 3)), random.normal(size=60))


@pytest.mark.parametrize("engine", ["dense", "sparse", "local"])
def test_contributions_are_those_of_the_inverse(engine: str) -> None:
    bandit = learned(engine=engine)
    names = bandit.users
    n, d = len(names), 3
    A = np.eye(n)
    for (i, j), weight in zip(*bandit.graph.edges(), strict=True):
        A[i, i] += weight
        A[j, j] += weight
        A[i, j] -= weight
        A[j, i] -= weight
    N = np.kron(A, np.eye(d))
    for k, name in enumerate(names):
        N[k * d : k * d + d, k * d : k * d + d] += bandit.evidence(name).S
    x = np.array([0.3, -1.0, 0.5])
    for k, name in enumerate(names):
        phi = np.zeros(n * d)
        phi[k * d : k * d + d] = x
        u = np.linalg.solve(N, phi).reshape(n, d)
        explained = bandit.explain(name, x, k=100)
        values = {one.user: one.value for one in explained.contributions}
        for j, other in enumerate(names):
            assert values.get(other, 0.0) == pytest.approx(u[j] @ bandit.evidence(other).c, abs=1e-9)
        assert explained.mean == pytest.approx(bandit.mean(name) @ x, abs=1e-6)
        assert sum(values.values()) + explained.rest == pytest.approx(explained.mean, abs=1e-9)
        own, others, prior, unexplained = explained.width_shares
        variance = float(x @ u[k])
        assert own == pytest.approx(u[k] @ bandit.evidence(name).S @ u[k] / variance, abs=1e-9)
        assert prior == pytest.approx(float(np.sum(u * (A @ u))) / variance, abs=1e-9)
        assert own + others + prior + unexplained == pytest.approx(1.0)
        assert explained.engine == engine
        assert explained.width == pytest.approx(bandit.scores(name, [x]).width[0], abs=1e-6)


def test_the_largest_and_the_rest() -> None:
    bandit = learned()
    everything = bandit.explain("bob", [1.0, 0.0, 0.0])
    two = bandit.explain("bob", [1.0, 0.0, 0.0], k=2)
    assert two.contributions == everything.contributions[:2]
    assert two.rest_count == len(everything.contributions) - 2 == 2
    assert two.rest == pytest.approx(sum(one.value for one in everything.contributions[2:]))
    sizes = [abs(one.value) for one in everything.contributions]
    assert sizes == sorted(sizes, reverse=True)
    columns = two.columns()
    assert list(columns) == ["user", "value", "rewards", "bound"]
    assert columns["user"].tolist() == [one.user for one in two.contributions]
    assert ("bob", "cat", 2.0) in [tuple(edge) for edge in everything.edges]
    assert everything.places[0].user == "bob" and {place.user for place in everything.places} == {
        "ann", "bob", "cat", "dan"
    }  # fmt: skip


def test_prints_as_a_table() -> None:
    explained = learned().explain("bob", [1.0, 0.0, 0.0], k=2)
    assert repr(explained).startswith("Explanation('bob': mean ")
    first, shares, empty, header, *rows = str(explained).splitlines()
    assert first.startswith("mean ") and "from the prior" in shares and empty == ""
    assert header.split() == ["user", "contribution", "rewards"]
    assert [row.split()[0] for row in rows] == [*(one.user for one in explained.contributions), "2"]
    assert pickle.loads(pickle.dumps(explained)) == explained


def test_users_of_every_kind() -> None:
    bandit = goblin.GobLin([(10, (1, "x")), ((1, "x"), b"raw")], dimension=1)
    bandit.update((1, "x"), [1.0], 1.0)
    bandit.update(b"raw", [1.0], 1.0)
    explained = bandit.explain("10", [1.0])
    assert explained.user == 10
    assert [one.user for one in explained.contributions] == [(1, "x"), b"raw"]
    assert "(1, 'x')" in str(explained)


@pytest.mark.parametrize("kind", [goblin.LinUcbSin, goblin.GobLinMacro])
def test_evidence_of_nodes_is_explained_by_nodes(kind: type[goblin.Bandit]) -> None:
    clusters = {} if kind is goblin.LinUcbSin else {"clusters": dict.fromkeys(["ann", "bob", "cat"], 0) | {
        "dan": 1, "eve": 1, "fay": 2}}  # fmt: skip
    by_node = learned(kind, evidence_per_node=True, **clusters).explain("bob", [1.0, 0.0, 0.0])
    by_user = learned(kind, **clusters).explain("bob", [1.0, 0.0, 0.0])
    assert by_node.per_node and not by_user.per_node
    assert by_node.mean == pytest.approx(by_user.mean, abs=1e-9)
    assert all(isinstance(one.user, int) for one in by_node.contributions)
    assert ("everybody" if kind is goblin.LinUcbSin else "cluster 0") in str(by_node)


def test_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    bandit = goblin.GobLin([("ann", "b$_$"), ("b$_$", "cat"), ("cat", "\udcff")], dimension=1)
    bandit.update("cat", [1.0], 1.0)
    bandit.update("\udcff", [1.0], -1.0)
    explained = bandit.explain("ann", [1.0])
    axes = explained.plot()
    axes.figure.canvas.draw()
    nodes, lines = axes.collections[1], axes.collections[0]
    assert len(nodes.get_offsets()) == 4 and len(lines.get_segments()) == 3
    assert nodes.get_array().tolist() == [place.value for place in explained.places]
    assert axes.get_title().startswith("ann: mean ")
    assert {text.get_text().split("\n")[0] for text in axes.texts} == {"ann", "b$_$", "cat", "\\udcff"}
    other = plt.subplots()[1]
    assert explained.plot(ax=other) is other
    assert (other.collections[1].get_offsets() == nodes.get_offsets()).all()
    assert goblin.GobLin([("ann", "bob")], dimension=1).explain("ann", [1.0]).plot() is not None
    plt.close("all")
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        explained.plot()


def test_says_what_is_wrong() -> None:
    bandit = learned()
    good = [1.0, 0.0, 0.0]
    with pytest.raises(KeyError, match="'zoe'"):
        bandit.explain("zoe", good)
    with pytest.raises(ValueError, match=r"x: shape \(2,\) \(must be \(3,\)\)"):
        bandit.explain("ann", [1.0, 0.0])
    with pytest.raises(ValueError, match=r"context\[2\]: nan \(must be finite\)"):
        bandit.explain("ann", [1.0, 0.0, float("nan")])
    for k in (0, -1):
        with pytest.raises(ValueError, match=rf"k: {k} \(must be"):
            bandit.explain("ann", good, k=k)
    with pytest.raises(TypeError, match="explain: x is missing"):
        bandit.explain("ann")  # type: ignore[call-arg]


def test_while_another_thread_learns() -> None:
    bandit = learned()
    stop = threading.Event()

    def learn() -> None:
        while not stop.is_set():
            bandit.update("ann", [0.1, 0.2, 0.3], 0.5)

    thread = threading.Thread(target=learn)
    thread.start()
    try:
        for _ in range(200):
            explained = bandit.explain("bob", [1.0, 0.0, 0.0])
            total = sum(one.value for one in explained.contributions) + explained.rest
            assert total == pytest.approx(explained.mean, abs=1e-9)
    finally:
        stop.set()
        thread.join()
