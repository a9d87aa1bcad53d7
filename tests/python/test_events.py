"""Logs that Python writes are learned by the command line; bandits that learned parts of a log are merged."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pytest

import goblin

EDGES = [("ann", "bob"), ("bob", "cat", 2.0)]


def fit(command: Path, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "edges.tsv").write_text("ann\tbob\nbob\tcat\t2\n")
    fixed = ["--graph", folder / "edges.tsv", "--dimension", "3", "--events", folder / "log", "--save"]
    return subprocess.run([command, "fit", *fixed, folder / "model", *options], capture_output=True, text=True)


def some_rewards(random: np.random.Generator, count: int) -> tuple[list[str], Any, Any]:
    users = random.choice(["ann", "bob", "cat", "zo\u00eb", "7"], size=count).tolist()
    return users, random.normal(size=(count, 3)), random.normal(size=count)


def test_what_is_written_is_learned(command: Path, tmp_path: Path, random: np.random.Generator) -> None:
    users, X, rewards = some_rewards(random, 50_000)  # more than a block
    goblin.write_events(tmp_path / "log", users, X, rewards)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log"]
    done = fit(command, tmp_path)
    assert done.returncode == 0, done.stderr
    learned = goblin.load(tmp_path / "model")
    assert learned.rewards == 50_000 and set(learned.users) == {"ann", "bob", "cat", "zo\u00eb", 7}
    bandit = goblin.GobLin(EDGES, dimension=3)
    for user in learned.users[3:]:
        bandit.add_user(user)
    bandit.partial_fit(users, X, rewards)
    for user in learned.users:
        assert np.allclose(learned.mean(user), bandit.mean(user), rtol=1e-8, atol=1e-12)
        assert np.allclose(learned.covariance(user), bandit.covariance(user), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("form", [list, np.array, tuple, pandas.Series, polars.Series])
@pytest.mark.parametrize("users", [[1, 0, 2], ["1", "0", "2"], [-1, 2**40, 5], ["ann", "bob", "ann"]])
def test_users_in_any_form(form: Any, users: list[Any], command: Path, tmp_path: Path) -> None:
    goblin.write_events(tmp_path / "log", form(users), np.ones((3, 3)), [1, 2, 3])
    done = fit(command, tmp_path, "--policy", "linucb-ind")
    assert done.returncode == 0, done.stderr
    learned = goblin.load(tmp_path / "model")
    assert [learned.evidence(user).count for user in users] == [users.count(user) for user in users]


def test_names_of_other_types_are_those_of_a_model(command: Path, tmp_path: Path) -> None:
    users = [("a", 1), 2.5, b"x"]
    goblin.write_events(tmp_path / "log", users, np.ones((3, 3)), np.ones(3))
    assert fit(command, tmp_path).returncode == 0
    assert goblin.load(tmp_path / "model").users[3:] == users


def test_bad_logs_are_not_written(tmp_path: Path) -> None:
    def refused(match: str, *arguments: Any, error: type[Exception] = ValueError) -> None:
        with pytest.raises(error, match=match):
            goblin.write_events(tmp_path / "log", *arguments)
        assert list(tmp_path.iterdir()) == []

    one = np.ones((2, 3))
    refused(r"X: shape \(2, 3\) \(must be \(1, dimension\)", ["ann"], one, [1])
    refused(r"X: shape \(2,\)", ["ann", "bob"], [1, 2], [1, 1])
    refused(r"rewards: shape \(1,\) \(must be \(2,\)\)", ["ann", "bob"], one, [1])
    refused(r"rewards\[1\]: nan \(must be finite\)", ["ann", "bob"], one, [1, np.nan])
    refused(r"X\[1, 0\]: inf \(must be finite\)", ["ann", "bob"], [[1.0], [np.inf]], [1, 1])
    refused(r"X: cannot be read as an array of numbers", ["ann"], [["x"]], [1])
    refused(r"users\[1\]: None", ["ann", None], one, [1, 1])
    refused(r"users: 'ann' \(must be a list", "ann", one, [1, 1], error=TypeError)
    with pytest.raises(OSError):
        goblin.write_events(tmp_path / "no" / "log", ["ann"], one[:1], [1])


def test_a_new_file_has_the_rights_of_new_files(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        goblin.write_events(tmp_path / "log", ["ann"], [[1.0]], [1.0])
    finally:
        os.umask(before)
    assert (tmp_path / "log").stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["log"]


def test_long_names(command: Path, tmp_path: Path) -> None:
    users = [letter * 3_000_000 for letter in "abc"]  # two blocks
    goblin.write_events(tmp_path / "log", users, np.eye(3), np.ones(3))
    fit(command, tmp_path).check_returncode()
    assert goblin.load(tmp_path / "model").rewards == 3


def test_an_empty_log(command: Path, tmp_path: Path) -> None:
    goblin.write_events(tmp_path / "log", [], np.empty((0, 3)), [])
    assert fit(command, tmp_path).returncode == 0


def same_belief(a: goblin.Bandit, b: goblin.Bandit) -> bool:
    return all(np.allclose(a.mean(user), b.mean(user), rtol=1e-8, atol=1e-12) for user in a.users)


def test_two_halves_are_the_whole(random: np.random.Generator, tmp_path: Path) -> None:
    users, X, rewards = some_rewards(random, 400)
    everybody = ["ann", "bob", "cat", "zo\u00eb", 7]
    whole = goblin.GobLin(EDGES, dimension=3, users=everybody).partial_fit(users, X, rewards)
    first = goblin.GobLin(EDGES, dimension=3, users=everybody).partial_fit(users[:150], X[:150], rewards[:150])
    second = goblin.GobLin(EDGES, dimension=3, users=everybody, alpha=0.7, engine="sparse")
    second.partial_fit(users[150:], X[150:], rewards[150:]).save(tmp_path / "second")
    assert first.merge(goblin.load(tmp_path / "second")) is first  # whose users have names in C++ too
    assert first.rewards == 400 and first.alpha == goblin.GobLin(EDGES, dimension=3).alpha
    assert same_belief(first, whole)
    assert np.allclose(first.evidence("ann").S, whole.evidence("ann").S)
    assert first.copy().merge(first).rewards == 800 and first.merge(first).rewards == 800


def test_bandits_that_differ_are_not_merged() -> None:
    bandit = goblin.GobLin(EDGES, dimension=3)
    for other, message in [
        (goblin.LinUcbInd(EDGES, dimension=3), "other: policy linucb-ind (must be gob.lin, as here)"),
        (goblin.GobLin(EDGES, dimension=2), "other: dimension 2 (must be 3, as here)"),
        (goblin.GobLin(EDGES, dimension=3, ridge=2), "other: ridge 2 of node 0 (must be 1, as here)"),
        (goblin.GobLin(EDGES, dimension=3, coupling=2), "other: coupling 2 (must be 1, as here)"),
        (goblin.GobLin(EDGES[:1], dimension=3), "other: 2 users (must be 3, as here)"),
        (
            goblin.GobLin([("ann", "bob"), ("bob", "dan", 2.0)], dimension=3),
            "other: user 2 is 'dan' (must be 'cat', as here)",
        ),
        (
            goblin.GobLin([("ann", "bob"), ("bob", "cat")], dimension=3),
            "other: weight 1 between the users 1 and 2 (must be 2, as here)",
        ),
    ]:
        with pytest.raises(ValueError) as refused:
            bandit.merge(other)
        assert str(refused.value) == message
    with pytest.raises(TypeError, match=r"other: 3 \(must be a bandit\)"):
        bandit.merge(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="merge: other is missing"):
        bandit.merge()  # type: ignore[call-arg]
    assert bandit.rewards == 0
