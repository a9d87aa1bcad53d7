"""Arrays go in without a copy where they can, and wrong ones are refused with their name and shape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas
import polars
import pytest

import goblin


@pytest.fixture
def bandit() -> goblin.GobLin:
    made = goblin.GobLin([("ann", "bob")], dimension=3)
    made.update("ann", [1.0, 2.0, 3.0], 1.0)
    return made


def test_float64_in_c_order_is_not_copied(bandit: goblin.GobLin, monkeypatch: pytest.MonkeyPatch) -> None:
    def copies(*_: Any, **__: Any) -> None:
        raise AssertionError("copied")

    monkeypatch.setattr(np, "ascontiguousarray", copies)
    X = np.eye(3)
    frozen = np.eye(3)
    frozen.setflags(write=False)
    for plain in (X, X[1:], frozen, memoryview(X)):
        bandit.select("ann", plain)
        bandit.scores("ann", plain)
    bandit.update("ann", X[0], 1.0)
    bandit.partial_fit(["ann"] * 3, X, np.ones(3))
    bandit.predict_expectations(["ann"] * 3, X)
    for other in (X.astype(np.float32), X[:, ::-1], np.asfortranarray(np.arange(9.0).reshape(3, 3)), X.tolist()):
        with pytest.raises(AssertionError, match="copied"):
            bandit.select("ann", other)


def test_other_forms_are_the_same_numbers(bandit: goblin.GobLin) -> None:
    X = np.arange(12.0).reshape(4, 3) / 8.0
    expected = bandit.scores("ann", X).score
    forms = [
        X.astype(np.float32),
        np.asfortranarray(X),
        np.repeat(X, 2, axis=0)[::2],
        X.astype(">f8"),
        X.tolist(),
        X.astype(object),
        pandas.DataFrame(X),
        polars.DataFrame(X),
    ]
    for form in forms:
        np.testing.assert_array_equal(bandit.scores("ann", form).score, expected)
    assert np.array_equal(bandit.scores("ann", np.eye(3, dtype=int)).score, bandit.scores("ann", np.eye(3)).score)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones((2, 4)), r"X: shape \(2, 4\) \(must be \(arms, 3\)"),
        (np.ones(3), r"X: shape \(3,\) \(must be \(arms, 3\)"),
        (np.ones((0, 3)), r"X: shape \(0, 3\)"),
        (np.ones((2, 2, 3)), r"X: shape \(2, 2, 3\)"),
        (np.array(1.0), r"X: shape \(\)"),
        ([[1, 2, 3], [1, np.nan, 3]], r"X: shape \(2, 3\): candidate 1: context\[1\]: nan \(must be finite\)"),
        ([[1, 2, np.inf]], r"X: shape \(1, 3\): .*inf"),
        ([["a", "b", "c"]], r"X: an array of <U1"),
        ([[1j, 2, 3]], r"X: an array of complex128"),
        ([[1, 2, 3], [1, 2]], r"X: cannot be read as an array of numbers"),
        ([[None, 2, 3]], r"X: .*"),
        ([[1e6, 0, 0]], r"X: shape \(1, 3\): candidate 0: context: length 1e\+06"),
    ],
)
def test_wrong_candidates(bandit: goblin.GobLin, X: Any, message: str) -> None:
    for call in (bandit.select, bandit.scores, lambda user, X: bandit.rank(user, X, 1)):
        with pytest.raises(ValueError, match=message):
            call("ann", X)


@pytest.mark.parametrize(
    ("x", "reward", "message"),
    [
        (np.ones(2), 1.0, r"x: shape \(2,\) \(must be \(3,\)\)"),
        (np.ones((1, 3)), 1.0, r"x: shape \(1, 3\)"),
        ([1, np.nan, 3], 1.0, r"x: shape \(3,\): context\[1\]: nan"),
        (np.ones(3), np.nan, r"reward: nan"),
        (np.ones(3), -np.inf, r"reward: -inf"),
    ],
)
def test_wrong_rewards(bandit: goblin.GobLin, x: Any, reward: float, message: str) -> None:
    before = bandit.mean("ann")
    with pytest.raises(ValueError, match=message):
        bandit.update("ann", x, reward)
    assert np.array_equal(bandit.mean("ann"), before) and bandit.rewards == 1


def test_wrong_batches(bandit: goblin.GobLin) -> None:
    with pytest.raises(ValueError, match=r"X: shape \(3, 3\) \(must be \(2, 3\), one row a user\)"):
        bandit.partial_fit(["ann", "bob"], np.ones((3, 3)), np.ones(2))
    with pytest.raises(ValueError, match=r"rewards: shape \(3,\) \(must be \(2,\)\)"):
        bandit.partial_fit(["ann", "bob"], np.ones((2, 3)), np.ones(3))
    with pytest.raises(ValueError, match=r"X: shape \(2, 5, 4\) \(must be \(2, arms, 3\)\)"):
        bandit.predict_expectations(["ann", "bob"], np.ones((2, 5, 4)))
    with pytest.raises(TypeError, match="users: 'ann'"):
        bandit.partial_fit("ann", np.ones((3, 3)), np.ones(3))


def test_missing_values_are_named_with_what_to_do(bandit: goblin.GobLin) -> None:
    fill = "; where a number is missing, fill it in, with the mean of its column for instance, or leave the row out$"
    leave = "; a reward that is not known is left out, with its row$"
    hole = pandas.DataFrame({"a": [1.0, 2.0], "b": [1, None], "c": [1.0, 1.0]})
    gap = hole.convert_dtypes()  # pandas.NA, which is no number
    wrong: list[tuple[Any, str]] = [
        (
            lambda: bandit.select("ann", hole),
            r"^X: shape \(2, 3\): candidate 1: context\[1\]: nan \(must be finite\)" + fill,
        ),
        (lambda: bandit.scores("ann", [[None, 1, 2]]), r"candidate 0: context\[0\]: nan \(must be finite\)" + fill),
        (
            lambda: bandit.update("ann", [1, None, 2], 1.0),
            r"^x: shape \(3,\): context\[1\]: nan \(must be finite\)" + fill,
        ),
        (lambda: bandit.update("ann", [1, 1, 2], np.nan), r"^reward: nan \(must be finite\)" + leave),
        (
            lambda: bandit.partial_fit(["ann"] * 2, hole, [1, 2]),
            r"batch\[1\]: context\[1\]: nan \(must be finite\)" + fill,
        ),
        (
            lambda: bandit.partial_fit(["ann"] * 2, np.eye(2, 3), [1, None]),
            r"rewards\[1\] is nan \(must be finite\)" + leave,
        ),
        (lambda: bandit.predict_expectations(["ann"] * 2, hole), r"nan \(must be finite\)" + fill),
        (
            lambda: bandit.partial_fit(["ann"] * 2, gap.astype(object), [1, 2]),
            r"^X\[1, 1\]: <NA> \(must be a number\)" + fill,
        ),
        (
            lambda: bandit.partial_fit(["ann"] * 2, np.eye(2, 3), pandas.Series([1, pandas.NA], dtype=object)),
            r"^rewards\[1\]: <NA> \(must be a number\)" + leave,
        ),
        (lambda: goblin.Dataset([(0, 1)], hole, [(0, 0, 1.0)]), r"^contexts\[1, 1\]: nan \(must be finite\)" + fill),
        (
            lambda: goblin.Dataset([(0, 1)], np.eye(2), [(0, 0, np.nan)]),
            r"^payoffs\[0\]: payoff nan \(must be finite\)" + leave,
        ),
    ]
    for call, message in wrong:
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(ValueError, match=r"context\[1\]: inf \(must be finite\)$"):  # nothing is missing there
        bandit.select("ann", [[1, np.inf, 1]])
    assert bandit.rewards == 1


def test_unknown_users(bandit: goblin.GobLin) -> None:
    calls: list[Any] = [
        lambda user: bandit.select(user, np.eye(3)),
        lambda user: bandit.scores(user, np.eye(3)),
        lambda user: bandit.rank(user, np.eye(3), 1),
        lambda user: bandit.update(user, np.ones(3), 1.0),
        lambda user: bandit.partial_fit([user], np.ones((1, 3)), [1.0]),
        lambda user: bandit.predict_expectations([user], np.ones((1, 3))),
        lambda user: bandit.add_edge("ann", user),
        lambda user: bandit.remove_edge(user, "ann"),
        bandit.mean,
        bandit.covariance,
        bandit.cluster,
    ]
    for call in calls:
        for user in ("dan", 0, None, ("ann",)):
            with pytest.raises(KeyError, match="is not known"):
                call(user)
    numbered = goblin.GobLin([(0, 1)], dimension=1)
    for number in (2, -1, 10**30, "2", 0.5):
        with pytest.raises(KeyError):
            numbered.select(number, [[1.0]])
    with pytest.raises(KeyError):
        numbered.partial_fit(np.array([0, 2]), np.ones((2, 1)), np.ones(2))
    with pytest.raises(TypeError, match=r"^user: \['ann'\] \(must be a text, a number, bytes or a tuple of these"):
        bandit.rank(["ann"], np.eye(3), 1)  # type: ignore[arg-type]


def test_columns_of_users(bandit: goblin.GobLin) -> None:
    X = np.ones((2, 3))
    expected = bandit.predict_expectations(["bob", "ann"], X)
    for form in (np.array, pandas.Series, polars.Series, tuple):
        users = form(["bob", "ann"])
        np.testing.assert_array_equal(bandit.predict_expectations(users, X), expected)
