"""What users see of nodes: the normalized Laplacian, and hashed features."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import goblin

STAR = [("ann", name) for name in ("bob", "cat", "dan", "eve")]


def normalized_inverse(
    bandit: goblin.Bandit, evidence: dict[str, np.ndarray], ridge: float, coupling: float
) -> np.ndarray:
    """N^-1 from its formula."""
    n, d = len(bandit.users), bandit.dimension
    weights = np.zeros((n, n))
    for a, b, weight in STAR_WEIGHTS:
        weights[a, b] = weights[b, a] = weight
    degrees = weights.sum(axis=1)
    prior = (ridge + coupling) * np.eye(n) - coupling * weights / np.sqrt(np.outer(degrees, degrees))
    precision = np.kron(prior, np.eye(d))
    for k, user in enumerate(bandit.users):
        precision[k * d : (k + 1) * d, k * d : (k + 1) * d] += evidence[user]
    return np.linalg.inv(precision)


STAR_WEIGHTS = [(0, k, 0.5 * k) for k in range(1, 5)]


@pytest.mark.parametrize("engine", ["dense", "sparse", "local"])
def test_the_normalized_laplacian_is_its_formula(engine: str, random: np.random.Generator) -> None:
    edges = [(f"u{a}", f"u{b}", weight) for a, b, weight in STAR_WEIGHTS]
    bandit = goblin.GobLin(
        edges, dimension=2, laplacian="normalized", ridge=0.7, coupling=1.5, engine=engine, local_tolerance=1e-12
    )
    evidence = {user: np.zeros((2, 2)) for user in bandit.users}
    rewards = {user: np.zeros(2) for user in bandit.users}
    for _ in range(20):
        user = bandit.users[random.integers(5)]
        x, reward = random.normal(size=2), random.normal()
        bandit.update(user, x, reward)
        evidence[user] += np.outer(x, x)
        rewards[user] += reward * x
    inverse = normalized_inverse(bandit, evidence, 0.7, 1.5)
    means = (inverse @ np.concatenate([rewards[user] for user in bandit.users])).reshape(5, 2)
    for k, user in enumerate(bandit.users):
        assert np.allclose(bandit.mean(user), means[k], atol=1e-8)
        assert np.allclose(bandit.covariance(user), inverse[2 * k : 2 * k + 2, 2 * k : 2 * k + 2], atol=1e-8)
        assert np.allclose(bandit.evidence(user).S, evidence[user])


def test_edges_change_the_normalized_bandit_to_what_it_would_always_have_been(random: np.random.Generator) -> None:
    live = goblin.GobLin([], dimension=2, laplacian="normalized", users=["ann", "bob", "cat", "dan", "eve"])
    always = goblin.GobLin(STAR, dimension=2, laplacian="normalized")
    for _ in range(12):
        user, x, reward = always.users[random.integers(5)], random.normal(size=2), random.normal()
        live.update(user, x, reward)
        always.update(user, x, reward)
    for a, b in STAR:
        live.add_edge(a, b)
    for user in always.users:
        assert np.allclose(live.mean(user), always.mean(user), atol=1e-10)
    assert np.isclose(live.explain("bob", [1.0, 0.0]).mean, always.mean("bob")[0], atol=1e-10)


def test_hashing_without_collisions_is_goblin_on_the_complete_graph(random: np.random.Generator) -> None:
    users = ["ann", "bob", "cat"]
    complete = [("ann", "bob"), ("ann", "cat"), ("bob", "cat")]
    gob = goblin.GobLin(complete, dimension=2, users=users, ridge=0.25, coupling=0.25)
    # Where coordinates share a bucket it is another: with few buckets most seeds do, with many hardly any.
    for seed in range(20):
        hashed = goblin.LinUcbHash(complete, dimension=2, users=users, buckets=4096, hash_seed=seed)
        prior = [hashed.covariance(user) for user in users]
        if all(np.array_equal(covariance, 2 * np.eye(2)) for covariance in prior):
            break
    rewards = [(users[random.integers(3)], random.normal(size=2), random.normal()) for _ in range(30)]
    for user, x, reward in rewards:
        for bandit in (gob, hashed):
            bandit.update(user, x, reward)
    X = random.normal(size=(4, 2))
    for user in users:
        assert np.allclose(hashed.mean(user), gob.mean(user), atol=1e-10)
        assert np.allclose(hashed.scores(user, X).score, gob.scores(user, X).score, atol=1e-9)
    assert np.isclose(hashed.log_determinant, gob.log_determinant)


def test_hashed_bandits_are_kept_and_merged(tmp_path: Path, random: np.random.Generator) -> None:
    first = goblin.LinUcbHash(STAR, dimension=3, buckets=16, hash_seed=7)
    second = first.copy()
    whole = first.copy()
    for k in range(40):
        user, x, reward = first.users[random.integers(5)], random.normal(size=3), random.normal()
        (first if k % 2 else second).update(user, x, reward)
        whole.update(user, x, reward)
    first.merge(second)
    whole.save(tmp_path / "model")
    loaded = goblin.load(tmp_path / "model")
    assert isinstance(loaded, goblin.LinUcbHash)
    restored = pickle.loads(pickle.dumps(whole))
    for user in whole.users:
        assert np.array_equal(loaded.mean(user), whole.mean(user))
        assert np.array_equal(restored.mean(user), whole.mean(user))
        assert np.allclose(first.mean(user), whole.mean(user), atol=1e-9)
    explained = whole.explain("ann", [1.0, 0.0, 0.0])
    assert np.isclose(sum(one.value for one in explained.contributions) + explained.rest, whole.mean("ann")[0])


def test_says_what_is_wrong() -> None:
    with pytest.raises(ValueError, match="laplacian: 'best' \\(must be combinatorial or normalized\\)"):
        goblin.GobLin(STAR, laplacian="best")
    with pytest.raises(ValueError, match="buckets: 0"):
        goblin.LinUcbHash(STAR, buckets=0)
    with pytest.raises(ValueError, match=r"^buckets: 70000 \(must be between 1 and 65536\)"):
        goblin.LinUcbHash(STAR, buckets=70_000)
    with pytest.raises(ValueError, match="hash_seed: -1"):
        goblin.LinUcbHash(STAR, hash_seed=-1)
    with pytest.raises(MemoryError, match="buckets"):
        goblin.LinUcbHash(STAR, buckets=4096, memory_limit=1_000_000)
