"""A constant in every context, from Python."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import goblin

FRIENDS = [("ann", "bob"), ("bob", "cat")]
POLICIES: list[tuple[type[goblin.Bandit], dict[str, Any]]] = [
    (goblin.GobLin, {}),
    (goblin.GobLin, {"laplacian": "normalized"}),
    (goblin.GobLin, {"window": 10}),
    (goblin.LinUcbSin, {"discount": 0.9}),
    (goblin.LinUcbInd, {"engine": "local"}),
    (goblin.GobLinMacro, {"clusters": [0, 0, 1]}),
    (goblin.GobLinBlock, {"clusters": [0, 0, 1]}),
    (goblin.GobLinHub, {"engine": "sparse"}),
    (goblin.LinUcbHash, {"buckets": 16}),
    (goblin.Club, {}),
    (goblin.DynUcb, {"clusters": 2}),
]


def log(count: int, dimension: int) -> tuple[list[str], Any, Any]:
    rng = np.random.default_rng(4)
    users = rng.choice(["ann", "bob", "cat"], count).tolist()
    return users, rng.normal(size=(count, dimension)), (rng.random(count) < 0.24).astype(float)


def with_ones(x: Any) -> Any:
    return np.concatenate([x, np.ones((*np.shape(x)[:-1], 1))], axis=-1)


@pytest.mark.parametrize(("kind", "options"), POLICIES)
def test_is_a_column_of_ones(kind: type[goblin.Bandit], options: dict[str, Any], tmp_path: Path) -> None:
    make: Any = kind
    bandit = make(FRIENDS, dimension=3, intercept=True, **options)
    wider = make(FRIENDS, dimension=4, **options)
    assert bandit.intercept and not wider.intercept
    assert (bandit.dimension, wider.dimension) == (3, 4)
    users, x, rewards = log(40, 3)
    bandit.partial_fit(users, x, rewards)
    wider.partial_fit(users, with_ones(x), rewards)
    bandit.update("ann", x[0], 1.0)
    wider.update("ann", with_ones(x[0]), 1.0)
    bandit.save(tmp_path / "model.goblin")
    for other in (bandit, bandit.copy(), copy.deepcopy(bandit), pickle.loads(pickle.dumps(bandit))):
        same(other, wider, x)
    same(goblin.load(tmp_path / "model.goblin"), wider, x)


def same(bandit: goblin.Bandit, wider: goblin.Bandit, x: Any) -> None:
    assert bandit.intercept
    for user in ["ann", "bob", "cat"]:
        np.testing.assert_array_equal(bandit.mean(user), wider.mean(user))
        assert bandit.covariance(user).shape == (4, 4)
        np.testing.assert_array_equal(bandit.covariance(user), wider.covariance(user))
        np.testing.assert_array_equal(bandit.evidence(user).S, wider.evidence(user).S)
        np.testing.assert_array_equal(bandit.evidence(user).c, wider.evidence(user).c)
        np.testing.assert_array_equal(bandit.scores(user, x).score, wider.scores(user, with_ones(x)).score)
        assert bandit.select(user, x) == wider.select(user, with_ones(x))
        assert bandit.explain(user, x[0]).mean == wider.explain(user, with_ones(x[0])).mean
    np.testing.assert_array_equal(
        bandit.predict_expectations(["ann", "bob"], x[:2]), wider.predict_expectations(["ann", "bob"], with_ones(x[:2]))
    )


def test_a_click_rate_is_found_with_it_only() -> None:
    users, x, clicks = log(2000, 5)
    found = {}
    for intercept in (False, True):
        bandit = goblin.GobLin(FRIENDS, dimension=5, intercept=intercept).partial_fit(users, x, clicks)
        found[intercept] = float(np.mean(bandit.predict_expectations(users, x)))
    assert found[False] == pytest.approx(0.0, abs=0.02)
    assert found[True] == pytest.approx(np.mean(clicks), abs=0.01)


def test_mistakes() -> None:
    with pytest.raises(TypeError, match=r"^intercept: 1 "):
        goblin.GobLin(FRIENDS, dimension=2, intercept=1)  # type: ignore[arg-type]
    bandit = goblin.GobLin(FRIENDS, dimension=2, intercept=True)
    with pytest.raises(ValueError, match=r"shape \(3,\) \(must be \(2,\)"):
        bandit.update("ann", [1.0, 0.0, 1.0], 1.0)
    with pytest.raises(ValueError, match=r"^other: intercept false \(must be true, as here\)$"):
        bandit.merge(goblin.GobLin(FRIENDS, dimension=2))


def test_simulate_gives_it_what_the_world_has() -> None:
    world = goblin.Cliques(cliques=2, size=5, dimension=4, seed=1)
    trace = goblin.simulate(goblin.GobLin(world.graph, dimension=4, intercept=True), world, rounds=50)
    assert trace.regret_bound is not None and trace.regret_bound > 0
