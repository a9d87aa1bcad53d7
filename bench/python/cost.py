"""What Python adds to the time of C++, and how threads scale. Usage: cost.py GOBLIN_BENCH"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable

import numpy as np

import goblin

DIMENSION = 25


def seconds(work: Callable[[], object], times: int, runs: int = 50) -> float:
    """The best of several short runs, for one of the `times` things that the work does."""
    best = float("inf")
    for _ in range(runs):
        begin = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begin)
    return best / times


def cplusplus(program: str) -> dict[str, float]:
    """The best of several runs of each benchmark in C++, in seconds."""
    with tempfile.NamedTemporaryFile() as file:
        arguments = ["filter=python_", "repetitions=50", f"out={file.name}", "out_format=json"]
        command = [program, *(f"--benchmark_{argument}" for argument in arguments)]
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        runs = json.load(file)["benchmarks"]
    unit = {"us": 1e-6, "ms": 1e-3}
    best: dict[str, float] = {}
    for run in runs:
        if run["run_type"] == "iteration":
            taken = run["real_time"] * unit[run["time_unit"]]
            name = run["run_name"].split("/")[0]
            best[name] = min(taken, best.get(name, taken))
    return best


def round_of_one_user() -> float:
    world = goblin.Cliques(cliques=1, size=1, dimension=DIMENSION, arms=25)
    rounds = [world.round(t) for t in range(500)]
    bandit = goblin.GobLin(world.graph, dimension=DIMENSION)

    def play() -> None:
        for round in rounds:
            arm = bandit.select(0, round.X)
            bandit.update(0, round.X[arm], round.payoffs[arm])

    def only_indexing() -> None:  # what the loop itself costs is not the package's
        for round in rounds:
            _ = round.X[0], round.payoffs[0]

    play()
    return seconds(play, 500) - seconds(only_indexing, 500)


def batches() -> tuple[float, float]:
    world = goblin.Cliques()
    rounds = [world.round(t) for t in range(10_000)]
    users = np.array([round.user for round in rounds])
    X = np.array([round.X[0] for round in rounds])
    rewards = np.array([round.payoffs[0] for round in rounds])
    bandit = goblin.LinUcbInd(world.graph, dimension=DIMENSION)
    return (
        seconds(lambda: bandit.partial_fit(users, X, rewards), 1),
        seconds(lambda: bandit.predict_expectations(users, X), 1),
    )


def selects_a_second(threads: int, arms: int, runs: int = 100) -> float:
    """The median of several runs of some milliseconds, in which all threads select from the same bandit."""
    world = goblin.Cliques(cliques=1, size=25, dimension=DIMENSION, arms=arms)
    X = world.round(0).X
    bandit = goblin.GobLin(world.graph, dimension=DIMENSION)
    for t in range(100):
        bandit.update(t % 25, X[t % arms], 1.0)
    calls = max(5, 80_000 // arms)
    together = threading.Barrier(threads)
    begins, ends = np.zeros((runs, threads)), np.zeros((runs, threads))

    def work(thread: int) -> None:
        for run in range(runs):
            together.wait()
            begins[run, thread] = time.perf_counter()
            for k in range(calls):
                bandit.select(k % 25, X)
            ends[run, thread] = time.perf_counter()

    workers = [threading.Thread(target=work, args=(thread,)) for thread in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return float(threads * calls / np.median(ends.max(axis=1) - begins.min(axis=1)))


def main() -> None:
    in_cpp = cplusplus(sys.argv[1])
    played = round_of_one_user()
    print("n = 1, d = 25, 25 arms            C++        Python     added")
    base = in_cpp["python_round"]
    print(f"select + update           {base * 1e6:8.2f} us {played * 1e6:9.2f} us {(played - base) * 1e6:6.2f} us")
    fit, predict = batches()
    for name, measured in (("python_partial_fit", fit), ("python_predict", predict)):
        base = in_cpp[name]
        print(f"{name[7:]:12} 10,000 rows {base * 1e3:9.2f} ms {measured * 1e3:9.2f} ms {measured / base:6.2f} times")
    print("\nselects a second    1 thread   2 threads   times")
    for arms in (25, 100, 200, 400, 1000, 4000):
        one, two = selects_a_second(1, arms), selects_a_second(2, arms)
        print(f"{arms:6} arms       {one:10.0f}  {two:10.0f}  {two / one:6.2f}")


main()
