"""Many users at once: the same as one after the other."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pandas
import polars
import pytest

import goblin

USERS = ["ann", "bob", "cat", "dan"]
KINDS: dict[str, Any] = {
    "gob.lin": goblin.GobLin,
    "normalized": lambda *args, **options: goblin.GobLin(*args, laplacian="normalized", **options),
    "linucb-sin": goblin.LinUcbSin,
    "linucb-ind": goblin.LinUcbInd,
    "gob.lin.macro": lambda *args, **options: goblin.GobLinMacro(*args, clusters=[0, 0, 1, 1], **options),
    "gob.lin.block": lambda *args, **options: goblin.GobLinBlock(*args, clusters=[0, 0, 1, 1], **options),
    "gob.lin.hub": goblin.GobLinHub,
    "linucb.hash": lambda *args, **options: goblin.LinUcbHash(*args, buckets=32, **options),
    "club": goblin.Club,
    "dynucb": lambda *args, **options: goblin.DynUcb(*args, clusters=2, **options),
    "local": lambda *args, **options: goblin.GobLin(*args, engine="local", **options),
    "sparse": lambda *args, **options: goblin.GobLin(*args, engine="sparse", **options),
}
RULES = ["ucb:0.3", "greedy", "epsilon_greedy:0.5", "square_cb:3", "thompson:0.7", "thompson:0.7+epsilon:0.2"]


def trained(kind: Any = goblin.GobLin, exploration: str = "ucb:0.3") -> Any:
    bandit = kind([("ann", "bob"), ("bob", "cat"), ("cat", "dan")], dimension=3, exploration=exploration)
    random = np.random.default_rng(0)
    bandit.partial_fit(random.choice(USERS, 60).tolist(), random.normal(size=(60, 3)), random.normal(size=60))
    return bandit


def draws(rule: str, number: int) -> dict[str, int]:
    return {"seed": 5, "decision": number} if rule not in ("ucb:0.3", "greedy") else {}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", KINDS)
def test_many_are_one_by_one(kind: str, rule: str, random: np.random.Generator) -> None:
    bandit = trained(KINDS[kind], rule)
    users = random.choice(USERS, 50).tolist()
    X = random.normal(size=(50, 6, 3))
    allowed = random.random((50, 6)) < 0.7
    allowed[:, 2] = True
    first = draws(rule, 100)
    for flags in (None, allowed):
        arms = bandit.select(users, X, flags, **first)
        scores = bandit.scores(users, X, flags, **first)
        assert arms.shape == (50,) and arms.dtype == np.int64
        assert scores.score.shape == scores.mean.shape == scores.width.shape == (50, 6)
        for k, user in enumerate(users):
            of_row = None if flags is None else flags[k]
            assert arms[k] == bandit.select(user, X[k], of_row, **draws(rule, 100 + k))
            one = bandit.scores(user, X[k], of_row, **draws(rule, 100 + k))
            for many, single in zip(scores, one, strict=True):
                np.testing.assert_array_equal(many[k], single)


@pytest.mark.parametrize("rule", ["ucb:0.3", "thompson:0.7"])
def test_users_need_not_have_as_many_candidates(rule: str, random: np.random.Generator) -> None:
    bandit = trained(exploration=rule)
    users = random.choice(USERS, 40).tolist()
    X = [random.normal(size=(random.integers(1, 9), 3)) for _ in users]
    allowed = [random.random(len(rows)) < 0.8 for rows in X]
    for flags in allowed:
        flags[0] = True
    for X_given, flags_given in ((X, allowed), ([rows.tolist() for rows in X], tuple(f.tolist() for f in allowed))):
        arms = bandit.select(users, X_given, flags_given, **draws(rule, 7))
        scores = bandit.scores(users, X_given, flags_given, **draws(rule, 7))
        most = max(len(rows) for rows in X)
        assert scores.score.shape == (40, most)
        for k, user in enumerate(users):
            one = bandit.scores(user, X[k], allowed[k], **draws(rule, 7 + k))
            assert arms[k] == bandit.select(user, X[k], allowed[k], **draws(rule, 7 + k))
            np.testing.assert_array_equal(scores.score[k, : len(X[k])], one.score)
            assert (scores.score[k, len(X[k]) :] == -np.inf).all()
            assert (scores.mean[k, len(X[k]) :] == 0).all() and (scores.width[k, len(X[k]) :] == 0).all()
        if rule == "ucb:0.3":
            assert scores.score.argmax(axis=1).tolist() == arms.tolist()


def test_every_form_of_many(random: np.random.Generator) -> None:
    bandit = trained()
    X = random.normal(size=(4, 5, 3))
    expected = bandit.select(USERS, X).tolist()
    for users in (np.array(USERS), pandas.Series(USERS), polars.Series(USERS), pandas.Index(USERS)):
        assert bandit.select(users, X).tolist() == expected
    objects = np.empty(4, dtype=object)
    objects[:] = list(X)
    for rows in (list(X), tuple(X), X.tolist(), objects, pandas.Series(list(X)), X.astype(np.float32).astype(float)):
        assert bandit.select(USERS, rows).tolist() == bandit.select(USERS, np.asarray(X)).tolist() == expected
    assert bandit.select([], np.empty((0, 5, 3))).shape == (0,) == bandit.select([], []).shape
    assert bandit.scores([], np.empty((0, 5, 3))).score.shape == (0, 5)
    numbered = goblin.GobLin([(0, 1), (1, 2)], dimension=3)
    assert numbered.select(np.array([2, 0]), X[:2]).shape == (2,)
    assert numbered.select(np.int64(2), X[0]) == numbered.select(2, X[0])  # a number of NumPy is one user
    pairs = goblin.GobLin([((1, 2), (3, 4))], dimension=3)
    assert isinstance(pairs.select((1, 2), X[0]), int)  # and so is a tuple
    assert pairs.select([(1, 2), (3, 4)], X[:2]).shape == (2,)


def test_wrong_batches(random: np.random.Generator) -> None:
    bandit = trained()
    X = random.normal(size=(2, 5, 3))
    two = ["ann", "bob"]
    hole = X.copy()
    hole[1, 4, 2] = np.nan
    wrong: list[tuple[Any, Any, Any, type[Exception], str]] = [
        (["ann", "eve"], X, None, goblin.UnknownUser, r"^users\[1\]: 'eve' is not known$"),
        (["ann", ["eve"]], X, None, TypeError, r"^users\[1\]: \['eve'\] \(must be a text"),
        (
            two,
            X[0],
            None,
            ValueError,
            r"^X: shape \(5, 3\) \(must be \(2, arms, 3\), candidates for each user, or a list",
        ),
        (two, X[:1], None, ValueError, r"^X: shape \(1, 5, 3\) \(must be \(2, arms, 3\)"),
        (two, X[:, :, :2], None, ValueError, r"^X: shape \(2, 5, 2\) \(must be"),
        (two, X[:, :0], None, ValueError, r"^X: shape \(2, 0, 3\) \(must be"),
        (two, [X[0]], None, ValueError, r"^X: a list of 1 \(must be \(2, arms, 3\)"),
        (
            two,
            [X[0], X[1, :, :2]],
            None,
            ValueError,
            r"^X\[1\]: shape \(5, 2\) \(must be \(arms, 3\), one row a candidate\)",
        ),
        (two, [X[0], X[1, 0]], None, ValueError, r"^X\[1\]: shape \(3,\) \(must be \(arms, 3\)"),
        (two, [X[0], "x"], None, ValueError, r"^X\[1\]: an array of <U1"),
        (
            two,
            hole,
            None,
            ValueError,
            r"^X\[1\]: candidate 4: context\[2\]: nan \(must be finite\); where a number is missing",
        ),
        (two, X, np.ones((2, 4), dtype=bool), ValueError, r"^allowed\[0\]: 4 booleans \(must be 5, one a candidate\)$"),
        (two, X, np.ones(2, dtype=bool), ValueError, r"^allowed\[0\]: 1 booleans"),
        (two, X, [[True] * 5, [True] * 4], ValueError, r"^allowed\[1\]: 4 booleans \(must be 5"),
        (two, X, [[True] * 5], ValueError, r"^allowed: a list of 1 \(must have a row for each of the 2 users"),
        (two, X, [[True] * 5, [False] * 5], ValueError, r"^X\[1\]: .*leaves out all"),
    ]
    for users, rows, allowed, error, message in wrong:
        for call in (bandit.select, bandit.scores):
            with pytest.raises(error, match=message):
                call(users, rows, allowed)
    with pytest.raises(ValueError, match=r"^seed, decision: None \(must be given with thompson"):
        trained(exploration="thompson:1").select(two, X)
    with pytest.raises(TypeError, match=r"^select: X is missing$"):
        bandit.select(two)


def test_threads_decide_for_many_side_by_side(random: np.random.Generator) -> None:
    bandit = trained()
    users = random.choice(USERS, 3000).tolist()
    X = random.normal(size=(3000, 8, 3))
    expected = bandit.select(users, X)
    found: list[Any] = [None] * 4

    def decide(k: int) -> None:
        found[k] = bandit.select(users, X)

    threads = [threading.Thread(target=decide, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(arms, expected) for arms in found)


@pytest.mark.parametrize("rule", RULES)
def test_a_ranking_says_how_probable_it_was(rule: str, random: np.random.Generator) -> None:
    bandit = trained(exploration=rule)
    X = random.normal(size=(5, 3))
    ranking = bandit.ranking("ann", X, 3, seed=1, decision=4)
    assert ranking.arm.tolist() == bandit.rank("ann", X, 3, seed=1, decision=4).tolist()
    decision = bandit.decide("ann", X, seed=1, decision=4)
    assert ranking.arm[0] == decision.arm and ranking.probability[0] == pytest.approx(decision.probability)
    places = slice(0, 1) if "thompson" in rule else slice(None)  # which draws anew for every place
    scores = bandit.scores("ann", X, seed=1, decision=4).score
    np.testing.assert_array_equal(ranking.score[places], scores[ranking.arm[places]])
    left = np.ones(5, dtype=bool)
    for arm, probability in zip(ranking.arm, ranking.probability, strict=True):
        among = bandit.probabilities("ann", X, allowed=left, samples=20_000)
        assert probability == pytest.approx(among[arm], abs=0.1 if "thompson" in rule else 1e-12)
        left[arm] = False
    if rule in ("ucb:0.3", "greedy"):
        assert (bandit.ranking("ann", X, 9).probability == 1).all()
    with pytest.raises(TypeError, match=r"^ranking: k is missing$"):
        bandit.ranking("ann", X)
