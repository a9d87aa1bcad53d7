"""Windows and discounts, from Python."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import goblin

FRIENDS = [("ann", "bob"), ("bob", "cat"), ("cat", "dan")]
NAMES = ["ann", "bob", "cat", "dan"]


def log(count: int) -> tuple[list[str], np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    return rng.choice(NAMES, count).tolist(), rng.normal(size=(count, 3)), rng.normal(size=count)


def expect_same(bandit: goblin.Bandit, expected: goblin.Bandit) -> None:
    for name in NAMES:
        np.testing.assert_allclose(bandit.mean(name), expected.mean(name), atol=1e-9)
        np.testing.assert_allclose(bandit.covariance(name), expected.covariance(name), atol=1e-9)


@pytest.mark.parametrize("engine", ["dense", "sparse", "local"])
def test_window_counts_the_last_rewards(engine: str) -> None:
    users, contexts, rewards = log(100)
    options: dict[str, Any] = {"dimension": 3, "engine": engine, "local_tolerance": 1e-12}
    expected = goblin.GobLin(FRIENDS, **options)
    expected.partial_fit(users[-15:], contexts[-15:], rewards[-15:])
    one_by_one = goblin.GobLin(FRIENDS, window=15, **options)
    for user, context, reward in zip(users, contexts, rewards, strict=True):
        one_by_one.update(user, context, reward)
    expect_same(one_by_one, expected)
    at_once = goblin.GobLin(FRIENDS, window=15, **options)
    at_once.partial_fit(users[:40], contexts[:40], rewards[:40])
    at_once = pickle.loads(pickle.dumps(at_once))
    at_once.partial_fit(users[40:], contexts[40:], rewards[40:])
    expect_same(at_once, expected)
    assert at_once.rewards == one_by_one.rewards == 100


@pytest.mark.parametrize("engine", ["dense", "sparse", "local"])
def test_discount_weighs_what_a_user_said_before(engine: str) -> None:
    users, contexts, rewards = log(60)
    options: dict[str, Any] = {"dimension": 3, "engine": engine, "local_tolerance": 1e-12}
    weights = np.array([0.8 ** users[k + 1 :].count(user) for k, user in enumerate(users)])
    roots = np.sqrt(weights)
    expected = goblin.GobLin(FRIENDS, **options)
    expected.partial_fit(users, roots[:, None] * contexts, roots * rewards)
    bandit = goblin.GobLin(FRIENDS, discount=0.8, **options)
    for user, context, reward in zip(users[:30], contexts, rewards, strict=False):
        bandit.update(user, context, reward)
    bandit.partial_fit(users[30:], contexts[30:], rewards[30:])
    expect_same(bandit, expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"window": -1}, "window: -1"),
        ({"window": 2.5}, "window: 2.5"),
        ({"discount": 0.0}, "discount: 0 \\(must be above 0 and at most 1\\)"),
        ({"discount": 1.1}, "discount: 1.1 \\(must be above 0 and at most 1\\)"),
        ({"window": 3, "discount": 0.5}, "window: 3 \\(must be 0 where discount is 0.5\\)"),
    ],
)
def test_bad_options_name_the_bound(options: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        goblin.GobLin(FRIENDS, dimension=3, **options)


def test_a_window_that_does_not_fit_is_refused() -> None:
    with pytest.raises(MemoryError, match="take a smaller window"):
        goblin.GobLin(FRIENDS, dimension=3, window=10**12)
