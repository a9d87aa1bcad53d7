"""goblin.fit: a log, learned by one process or by many, is the same bandit."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import goblin

EDGES = [("ann", "bob"), ("bob", "cat", 2.0), ("dan", "eve"), ("eve", "fay")]
USERS = ["ann", "bob", "cat", "dan", "eve", "fay", "zoe"]  # nobody knows zoe
CLUSTERS = {"ann": 0, "bob": 0, "cat": 1, "dan": 1, "eve": 2, "fay": 2}


def rewards() -> tuple[list[str], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    random = np.random.default_rng(3)
    users = [USERS[k] for k in random.integers(len(USERS), size=500)]
    return users, random.normal(size=(500, 3)), random.normal(size=500)


@pytest.fixture(params=["jsonl", "binary"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    users, contexts, payoffs = rewards()
    path = tmp_path / "log"
    if request.param == "binary":
        goblin.write_events(path, users, contexts, payoffs)
    else:
        rows = zip(users, contexts.tolist(), payoffs.tolist(), strict=True)
        path.write_text("".join(json.dumps({"user": u, "context": x, "reward": a}) + "\n" for u, x, a in rows))
    return path


def same(found: goblin.Bandit, wanted: goblin.Bandit, exactly: bool = True) -> None:
    assert found.users == wanted.users and found.rewards == wanted.rewards
    assert type(found) is type(wanted)
    for user in wanted.users:
        np.testing.assert_allclose(found.mean(user), wanted.mean(user), rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(found.covariance(user), wanted.covariance(user), rtol=1e-8, atol=1e-12)
        ours, theirs = found.evidence(user), wanted.evidence(user)
        assert ours.count == theirs.count
        assert np.array_equal(ours.S, theirs.S) or not exactly
        assert np.array_equal(ours.c, theirs.c) or not exactly


def processes() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("forkserver"))


@pytest.fixture(scope="module")
def pool() -> Iterator[Executor]:
    with processes() as executor:
        yield executor


@pytest.mark.parametrize("policy", ["gob.lin", "gob.lin.block", "gob.lin.macro", "linucb-ind", "linucb-sin"])
def test_all_ways_learn_the_same(policy: str, log: Path, pool: Executor) -> None:
    users, contexts, payoffs = rewards()
    options: dict[str, Any] = {"dimension": 3, "ridge": 0.5}
    if policy in ("gob.lin.block", "gob.lin.macro"):
        options["clusters"] = CLUSTERS
    wanted = goblin.fit(log, EDGES, policy=policy, **options)
    by_hand = type(wanted)(EDGES, **options)
    by_hand.partial_fit(users, contexts, payoffs, unknown="add")
    same(wanted, by_hand)
    same(goblin.fit(log, EDGES, policy=policy, batch=7, threads=1, **options), wanted)
    same(goblin.fit(log, EDGES, policy=policy, executor=pool, **options), wanted)
    with ThreadPoolExecutor(2) as threads:
        for shards in (1, 5):
            same(goblin.fit(log, EDGES, policy=policy, executor=threads, shards=shards, **options), wanted)


def test_whole_numbers_are_users(tmp_path: Path) -> None:
    goblin.write_events(tmp_path / "log", [20, 10, 20], [[1.0]] * 3, [1.0, 0.0, 1.0])
    with ThreadPoolExecutor(2) as executor:
        bandit = goblin.fit(tmp_path / "log", [(10, 20), (20, 30)], dimension=1, executor=executor)
    assert bandit.users == [10, 20, 30] and bandit.evidence(20).count == 2
    goblin.write_events(tmp_path / "log", [1, 2], [[1.0]] * 2, [1.0, 0.0])
    assert goblin.fit(tmp_path / "log", [(0, 1)], dimension=1).users == [0, 1, 2]


def test_items_are_looked_up(tmp_path: Path) -> None:
    (tmp_path / "items.tsv").write_text("tea\t1\t0\nsoup\t0\t2\n")
    (tmp_path / "log.jsonl").write_text('{"user": "ann", "items": ["tea", "soup"], "action": 1, "reward": 1}\n')
    bandit = goblin.fit(tmp_path / "log.jsonl", EDGES, items=tmp_path / "items.tsv", dimension=2)
    assert bandit.evidence("ann").c.tolist() == [0.0, 2.0]


class Instead:
    """Wraps an executor; something else is done instead of its second task, once."""

    def __init__(self, executor: Executor, what: Callable[..., Any]) -> None:
        self.executor, self.what, self.left = executor, what, 2

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        self.left -= 1
        return self.executor.submit(self.what if self.left == 0 else function, *arguments)


def lose(*_: Any) -> None:
    raise OSError("the worker is gone")


def die(*_: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_part_that_got_lost_is_learned_again(log: Path) -> None:
    with ThreadPoolExecutor(2) as executor:
        found = goblin.fit(log, EDGES, dimension=3, executor=Instead(executor, lose), shards=3)
    same(found, goblin.fit(log, EDGES, dimension=3))


def test_a_pool_that_breaks_says_so(log: Path) -> None:
    with processes() as executor, pytest.raises(BrokenExecutor, match="nothing of this log is kept"):
        goblin.fit(log, EDGES, dimension=3, executor=Instead(executor, die), shards=3)


def test_what_is_wrong_is_named(log: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        goblin.fit(tmp_path / "missing", EDGES, dimension=3)
    with pytest.raises(ValueError, match=r"policy: 'gob' \(must be one of .*gob.lin.block"):
        goblin.fit(log, EDGES, policy="gob")
    with pytest.raises(ValueError, match="shards: 2"):
        goblin.fit(log, EDGES, dimension=3, shards=2)
    with pytest.raises(ValueError, match="batch: 0"):
        goblin.fit(log, EDGES, dimension=3, batch=0)
    with pytest.raises(TypeError, match="executor: 'me'"):
        goblin.fit(log, EDGES, dimension=3, executor="me")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="'colour'"):
        goblin.fit(log, EDGES, colour=3)
    with ThreadPoolExecutor(1) as executor:
        with pytest.raises(ValueError, match="threads: 2"):
            goblin.fit(log, EDGES, dimension=3, executor=executor, threads=2)
        with pytest.raises(ValueError, match="shards: 0"):
            goblin.fit(log, EDGES, dimension=3, executor=executor, shards=0)
        with pytest.raises(ValueError, match="depend on the order of all rewards"):
            goblin.fit(log, EDGES, dimension=3, policy="club", executor=executor, shards=2)
        with pytest.raises(ValueError, match="window or a discount"):
            goblin.fit(log, EDGES, dimension=3, window=9, executor=executor, shards=2)
        bad = tmp_path / "bad.jsonl"
        bad.write_text('{"user": "ann", "context": [1, 0, 0], "reward": 1}\nnonsense\n')
        for options in ({}, {"executor": executor, "shards": 2}):
            with pytest.raises(goblin.DataError, match=r"bad\.jsonl:2: is not JSON"):
                goblin.fit(bad, EDGES, dimension=3, **options)
        with pytest.raises(ValueError, match="must be the dimension, 2"):
            goblin.fit(bad, EDGES, dimension=2)
    assert len(goblin.fit(log, EDGES, dimension=3, policy="club", window=0).users) == 7
