"""Threads may do anything at the same time."""

from __future__ import annotations

import pickle
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import goblin


def together(*works: Callable[[], Any]) -> None:
    failures: list[BaseException] = []

    def guarded(work: Callable[[], Any]) -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
        assert not thread.is_alive(), "a thread hangs"
    assert not failures, failures


def test_selects_at_the_same_time_are_those_one_after_the_other(random: np.random.Generator) -> None:
    bandit = goblin.GobLin([(k, k + 1) for k in range(20)], dimension=10)
    X = random.normal(size=(300, 10))
    for user in range(20):
        bandit.update(user, X[user], 1.0)
    expected = [[bandit.select(user, X[:arms]) for user in range(20)] for arms in (10, 300)]

    def work() -> None:
        for _ in range(20):
            assert [[bandit.select(user, X[:arms]) for user in range(20)] for arms in (10, 300)] == expected

    together(*[work] * 4)


def test_everything_at_the_same_time(random: np.random.Generator) -> None:
    bandit = goblin.GobLin([(k, k + 1) for k in range(30)], dimension=8)
    X = random.normal(size=(40, 8))
    rounds = 150

    def select() -> None:
        for k in range(rounds):
            assert 0 <= bandit.select(k % 30, X) < 40
            bandit.predict_expectations([0, 1], X[:2])

    def update() -> None:
        for k in range(rounds):
            bandit.update(k % 30, X[k % 40], 1.0)

    def grow(name: str) -> None:
        for k in range(rounds // 5):
            bandit.add_user((name, k))
            bandit.add_edge((name, k), k % 30)
            bandit.update((name, k), X[0], 1.0)

    def copy() -> None:
        for _ in range(10):
            other = bandit.copy()
            assert len(other.graph.users) == len(other) == other.summary()["users"]
            assert len(pickle.loads(pickle.dumps(bandit)).graph) >= len(other)

    together(select, select, update, lambda: grow("a"), lambda: grow("b"), copy)
    assert bandit.rewards == rounds + 2 * (rounds // 5) and len(bandit) == 31 + 2 * (rounds // 5)
    index = {user: k for k, user in enumerate(bandit.users)}
    ends, _ = bandit.graph.edges()
    joined = {frozenset(pair) for pair in ends.tolist()}
    assert all(frozenset((index[(name, k)], k % 30)) in joined for name in "ab" for k in range(rounds // 5))


def test_other_threads_run_while_it_works() -> None:
    """A simulation holds neither the GIL nor, for other bandits, anything else."""
    world = goblin.Cliques(graph_noise=500)
    done = threading.Event()
    ticks = 0

    def simulate() -> None:
        goblin.simulate(goblin.GobLin(world.graph), world, rounds=3000, record_every=0)
        done.set()

    thread = threading.Thread(target=simulate)
    thread.start()
    while not done.is_set():
        time.sleep(0.001)
        ticks += 1
    thread.join()
    assert ticks > 20


def test_decisions_go_on_during_a_simulation() -> None:
    """They see the bandit as it was, and when the simulation is done, as it is."""
    world = goblin.Cliques(graph_noise=500)
    bandit = goblin.GobLin(world.graph)
    X = world.round(0).X
    bandit.update(1, X[0], 1.0)
    before = bandit.scores(1, X).score
    done = threading.Event()
    decisions = 0

    def simulate() -> None:
        goblin.simulate(bandit, world, rounds=3000, record_every=0)
        done.set()

    thread = threading.Thread(target=simulate)
    thread.start()
    while not done.is_set():
        scores = bandit.scores(1, X).score
        if bandit.rewards == 1:
            assert (scores == before).all()
            decisions += 1
    thread.join()
    assert decisions > 20
    assert bandit.rewards == 3001 and (bandit.scores(1, X).score != before).any()


def test_selects_and_a_long_update_take_turns() -> None:
    """Nobody waits with the GIL held, and nobody starves."""
    world = goblin.Cliques(graph_noise=500)
    bandit = goblin.GobLin(world.graph)
    X = world.round(0).X
    together(
        lambda: bandit.partial_fit(np.arange(500) % 100, np.tile(X, (50, 1)), np.ones(500)),
        *[lambda: [bandit.select(user, X) for user in range(100)]] * 3,
    )
    assert bandit.rewards == 500
