"""Simulations on executors: threads, processes, a Dask cluster; the same bits everywhere, also where workers die."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import goblin
from goblin import _core, _elsewhere, _reproduce


@pytest.fixture(scope="module", autouse=True)
def gnuplot() -> None:
    if subprocess.run(["sh", "-c", "command -v gnuplot"], capture_output=True).returncode != 0:
        pytest.skip("the report needs gnuplot")


def reproduce(out: Path, executor: Any = None, **options: Any) -> goblin.Reproduction:
    """The smallest run that there is: about 800 simulations of 10 rounds."""
    return goblin.reproduce("cliques", out=out, executor=executor, quick=True, rounds=10, seeds=2, **options)


def content_of(out: Path) -> dict[str, bytes]:
    """The report and what it was made from, without what differs from run to run: times, and the dates in PDF files."""
    files = (path for path in out.rglob("*") if path.is_file())
    kept = [path for path in files if path.suffix not in (".costs", ".pdf") and path.name != "times.csv"]
    return {str(path.relative_to(out)): path.read_bytes() for path in kept}


def cells_in(out: Path) -> int:
    return len(list(out.rglob("*.cell")))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What one process finds."""
    out = tmp_path_factory.mktemp("whole")
    found = reproduce(out)
    assert found.report == out / "index.html" and found.report.exists()
    assert found.simulations > 700 and {"claim", "verdict"} <= found.found["claims"][0].keys()
    assert repr(found) == f"Reproduction({str(found.report)!r}, {found.simulations} simulations)"
    return content_of(out)


def processes(count: int = 2) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("forkserver"))


@pytest.mark.parametrize("make", [processes, lambda: ThreadPoolExecutor(2)], ids=["processes", "threads"])
def test_an_executor_finds_the_same_bits(make: Callable[[], Executor], whole: dict[str, bytes], tmp_path: Path) -> None:
    with make() as executor:
        reproduce(tmp_path, executor)
        assert content_of(tmp_path) == whole
        (tmp_path / "index.html").unlink()
        reproduce(tmp_path, OnlySubmit(executor, limit=0))  # all cells are there: only the page is written
    assert content_of(tmp_path) == whole


class OnlyResult:
    """As little of a future as there may be."""

    def __init__(self, future: Future[Any]) -> None:
        self.result = future.result


class OnlySubmit:
    """As little of an executor as there may be. It keeps the size of what is sent, and stops after so many."""

    def __init__(self, executor: Executor, limit: int = 10**9) -> None:
        self.executor, self.limit, self.largest = executor, limit, 0

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> OnlyResult:
        self.limit -= 1
        assert self.limit >= 0, "submitted more than there was to do"
        self.largest = max(self.largest, len(pickle.dumps((function, arguments))))
        return OnlyResult(self.executor.submit(function, *arguments))


def test_submit_and_result_are_all_that_is_needed(whole: dict[str, bytes], tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as threads:
        executor = OnlySubmit(threads)
        reproduce(tmp_path, executor)
    assert content_of(tmp_path) == whole
    assert executor.largest < 2_000, "what travels is small"


def write_ring_release(folder: Path) -> None:
    """Files in the form of Last.fm's: 210 users in a ring of friends, 90 artists, 60 tags."""
    tables = {
        "artists.dat": [("id", "name", "url", "pictureURL"), *((a, f"artist{a}", "u", "p") for a in range(90))],
        "tags.dat": [("tagID", "tagValue"), *((t, f"word{t}") for t in range(60))],
        "user_friends.dat": [("userID", "friendID")],
        "user_artists.dat": [("userID", "artistID", "weight")],
        "user_taggedartists.dat": [("userID", "artistID", "tagID", "day", "month", "year")],
    }
    for user in range(210):
        other = (user + 1) % 210
        tables["user_friends.dat"] += [(user, other), (other, user)]
        tables["user_artists.dat"] += [(user, (user * 7 + k * 13) % 90, 5) for k in range(3)]
    for artist in range(90):
        tagged = [(1, artist, (artist * (k + 3) + k) % 60, 1, 4, 2009) for k in range(4)]
        tables["user_taggedartists.dat"] += tagged
    for name, rows in tables.items():
        (folder / name).write_text("".join("\t".join(map(str, row)) + "\n" for row in rows))


def test_workers_read_the_data_themselves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").mkdir()
    write_ring_release(tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    options: dict[str, Any] = {"quick": True, "rounds": 4, "seeds": 2, "reading": ["unit-contexts", "literal"]}
    here = goblin.reproduce("lastfm", "data", "here", cache="cache", **options)
    with processes() as executor:
        there = goblin.reproduce("lastfm", "data", "there", cache="cache", executor=executor, **options)
    assert here.simulations == there.simulations
    found, wanted = content_of(Path("there")), content_of(Path("here"))  # of the page, two claims are about time
    same = [name for name in wanted if name.endswith(".cell") or name == "csv/results.csv"]
    assert len(same) > 300 and found.keys() == wanted.keys()
    assert [name for name in same if found[name] != wanted[name]] == []
    assert {path.name.split("-")[0] for path in Path("there/cells").iterdir()} == {"lastfm", "linear"}


class Dying:
    """Wraps an executor; its k-th task kills the worker that takes it, once."""

    def __init__(self, executor: Executor, k: int) -> None:
        self.executor, self.left = executor, k

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        self.left -= 1
        return self.executor.submit(kill_worker if self.left == 0 else function, *arguments)


def kill_worker(*_: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_broken_pool_keeps_what_is_finished_and_says_what_to_do(whole: dict[str, bytes], tmp_path: Path) -> None:
    with processes() as executor, pytest.raises(BrokenExecutor) as caught:
        reproduce(tmp_path, Dying(executor, 100))
    message = str(caught.value)
    assert "a worker died" in message and "make a new one and call again" in message
    assert f"finished simulations are kept in {tmp_path / 'cells'}" in message
    kept = cells_in(tmp_path)  # those before the one that died, and what the other worker finished meanwhile
    assert 0 < kept < sum(name.endswith(".cell") for name in whole) and not (tmp_path / "index.html").exists()
    with processes() as executor:
        reproduce(tmp_path, executor)
    assert content_of(tmp_path) == whole


class Failing:
    """Every task of some fails, so many times, as it does where a machine goes away."""

    def __init__(self, executor: Executor, times: int, error: Exception) -> None:
        self.executor, self.times, self.error = executor, times, error
        self.seen: dict[bytes, int] = {}

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        task = pickle.dumps(arguments[1:])  # the first one is the number of the attempt
        self.seen[task] = self.seen.get(task, 0) + 1
        if list(self.seen).index(task) % 50 == 7 and self.seen[task] <= self.times:
            failed: Future[Any] = Future()
            failed.set_exception(self.error)
            return failed
        return self.executor.submit(function, *arguments)


def test_what_failed_is_tried_again_and_not_for_ever(whole: dict[str, bytes], tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as threads:
        failing = Failing(threads, _elsewhere.ATTEMPTS - 1, ConnectionError("the machine is gone"))
        reproduce(tmp_path / "again", failing)
        assert content_of(tmp_path / "again") == whole
        assert max(failing.seen.values()) == _elsewhere.ATTEMPTS
        never = Failing(threads, _elsewhere.ATTEMPTS, ConnectionError("the machine is gone"))
        with pytest.raises(ConnectionError, match="the machine is gone"):
            reproduce(tmp_path / "never", never)
        assert max(never.seen.values()) == _elsewhere.ATTEMPTS and cells_in(tmp_path / "never") > 6


def test_a_wrong_value_is_raised_at_once_and_not_taken_for_a_lost_worker(
    whole: dict[str, bytes], tmp_path: Path
) -> None:
    attempts: list[int] = []

    def wrong(k: int) -> int:
        attempts.append(k)
        raise ValueError(f"alpha: -{k}")

    # What Dask raises where a worker dies while its result is fetched.
    lost = ValueError("too many values to unpack (expected 3)")
    with processes() as executor:
        failing = Failing(executor, _elsewhere.ATTEMPTS - 1, lost)
        reproduce(tmp_path, failing)
        assert content_of(tmp_path) == whole and max(failing.seen.values()) == _elsewhere.ATTEMPTS
        with pytest.raises(ValueError, match="coupling") as caught:  # the mark travels from process to process
            _elsewhere.run_all(executor, _complain, [("coupling",)], lambda *_: None, lambda: "")
    assert getattr(caught.value, _elsewhere.OF_THE_WORK)
    with ThreadPoolExecutor(1) as threads, pytest.raises(ValueError, match="alpha: -1"):
        _elsewhere.run_all(threads, wrong, [(1,)], lambda *_: None, lambda: "")
    assert attempts == [1], "it would be as wrong again"


def _complain(name: str) -> None:
    raise ValueError(f"{name}: -1")


def test_one_that_failed_does_not_keep_the_others_waiting() -> None:
    order: list[int] = []
    tries = iter([ConnectionError("the machine is gone")])

    def work(k: int) -> int:
        if k == 0:
            for error in tries:
                raise error
        return k

    with ThreadPoolExecutor(1) as executor:
        _elsewhere.run_all(executor, work, [(k,) for k in range(5)], lambda k, _: order.append(k), lambda: "")
    assert order == [1, 2, 3, 4, 0]


def test_what_is_finished_is_kept_although_a_worker_was_interrupted_too() -> None:
    futures: list[Future[int]] = [Future() for _ in range(3)]
    futures[0].set_exception(KeyboardInterrupt())
    futures[1].set_exception(KeyboardInterrupt())
    futures[2].set_result(2)
    given = iter(futures)

    class Given:
        def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[int]:
            return next(given)

    kept: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        _elsewhere.run_all(Given(), int, [(k,) for k in range(3)], lambda k, _: kept.append(k), lambda: "")
    assert kept == [2]


def test_a_world_travels_as_it_was_made() -> None:
    vectors = np.eye(2)
    world = goblin.Linear([(0, 1)], dimension=2, user_vectors=vectors)
    vectors *= 3.0
    sweeps = [goblin.sweep([each], alphas=[0.1], rounds=20) for each in (world, pickle.loads(pickle.dumps(world)))]
    first, second = (list(sweep.results()["normalized_reward"]) for sweep in sweeps)
    assert first == second


def test_a_dask_cluster_that_loses_a_worker(whole: dict[str, bytes], tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, processes=True, threads_per_worker=1, dashboard_address=None, local_directory=tmp_path / "dask"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        workers = list(client.run(os.getpid).values())
        assert len(set(workers)) == 2

        def kill_half_way(count: int) -> None:
            if count == 400:
                os.kill(workers[0], signal.SIGKILL)

        counted = Counting(client.get_executor(), kill_half_way)
        reproduce(tmp_path / "out", counted)
        assert counted.count > 700 and workers[0] not in client.run(os.getpid).values()
        worlds = [goblin.Cliques(2, 5, 4, repetition=k) for k in range(2)]
        same_sweeps(goblin.sweep(worlds, rounds=30, executor=client.get_executor()), goblin.sweep(worlds, rounds=30))
    assert content_of(tmp_path / "out") == whole


class Counting:
    """Says how many results have been taken."""

    def __init__(self, executor: Executor, taken: Callable[[int], None]) -> None:
        self.executor, self.taken, self.count = executor, taken, 0

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Any:
        future = self.executor.submit(function, *arguments)
        original = future.result

        def result(timeout: float | None = None) -> Any:
            found = original(timeout)
            self.count += 1
            self.taken(self.count)
            return found

        future.result = result  # type: ignore[method-assign]
        return future


INTERRUPTED = """
import sys
from concurrent.futures import ProcessPoolExecutor
import goblin
with ProcessPoolExecutor(2) as executor:
    goblin.reproduce("cliques", out=sys.argv[1], quick=True, rounds=20_000, seeds=2, executor=executor)
"""


def interrupted(program: str, out: Path) -> str:
    """Presses Ctrl-C after ten simulations; what the program says. All of them would take minutes."""
    arguments = [sys.executable, "-c", program, out]
    child = subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        begin = time.monotonic()
        while cells_in(out) < 10:
            assert child.poll() is None and time.monotonic() - begin < 120
            time.sleep(0.05)
        child.send_signal(signal.SIGINT)
        return child.communicate(timeout=120)[1]
    finally:
        with contextlib.suppress(ProcessLookupError):  # its workers, if they are still there
            os.killpg(child.pid, signal.SIGKILL)


@pytest.mark.parametrize("options", ["executor=executor", "threads=1"], ids=["executor", "threads"])
def test_an_interrupt_leaves_finished_simulations(options: str, tmp_path: Path) -> None:
    said = interrupted(INTERRUPTED.replace("executor=executor", options), tmp_path)
    assert "KeyboardInterrupt" in said
    assert ("the same command goes on from there" in said) == (options == "threads=1")
    assert 10 <= cells_in(tmp_path) < 200 and not (tmp_path / "index.html").exists()
    beside = [path.name for path in (tmp_path / "cells").rglob("*") if path.is_file()]
    assert all(name.endswith((".cell", ".costs")) for name in beside), "nothing is half written"


def same_sweeps(one: goblin.Sweep, other: goblin.Sweep) -> None:
    def without_times(columns: dict[str, Any]) -> dict[str, list[str]]:
        return {name: list(map(repr, values.tolist())) for name, values in columns.items() if name != "seconds"}

    assert without_times(one.results()) == without_times(other.results())
    assert without_times(one.columns()) == without_times(other.columns())
    assert [trace.summary for trace in one.traces] == [trace.summary for trace in other.traces]


def own_data() -> goblin.Dataset:
    return goblin.Dataset(
        edges=[("ann", "bob", 2.0), ("cat", "dan")],
        items=["tea", "cake", "pie"],
        contexts=[[1.0, 0.0], [0.0, 1.0], [0.0, 0.5]],
        payoffs=[("ann", "tea", 1.0), ("bob", "tea", -1.0), ("cat", "cake", 1.0), ("eve", "pie", 0.5)],
    )


def test_a_sweep_finds_the_same_on_an_executor(tmp_path: Path) -> None:
    (tmp_path / "edges.tsv").write_text("ann\tbob\nbob\tcat\n")
    (tmp_path / "items.tsv").write_text("tea\t1\t0\ncake\t0\t1\npie\t0.5\t0.5\n")
    (tmp_path / "payoffs.tsv").write_text("ann\ttea\t1\nbob\tcake\t2\ncat\tpie\t1\n")
    worlds = [goblin.Cliques(2, 5, 4, payoff_noise=0.2, graph_noise=3, seed=k) for k in range(2)]
    with processes() as executor:
        for played, options in (
            (worlds, {"policies": ["linucb-sin", "gob.lin.macro", "gob.lin"], "clusters": 2, "ridge": [0.5, 2]}),
            (worlds[:1], {"policies": ["club", "gob.lin"], "explorations": ["thompson:0.2", "ucb:0.1"]}),
            ([goblin.Linear([("ann", "bob"), ("bob", 7, 0.5)], 3, 4, seed=5)], {"record_every": 0}),
            ([goblin.Linear(worlds[0].graph, 4, user_vectors=np.ones((10, 4)) / 2)], {}),
            ([goblin.Catalogue(own_data(), arms=2, seed=1)], {}),
            ([goblin.Catalogue(goblin.datasets.files(tmp_path), arms=2)], {}),
        ):
            here = goblin.sweep(played, rounds=60, **options)  # type: ignore[arg-type]
            same_sweeps(goblin.sweep(played, rounds=60, executor=executor, **options), here)  # type: ignore[arg-type]


def test_a_sweep_says_what_is_wrong(tmp_path: Path) -> None:
    world = goblin.Cliques(2, 5, 4)
    with pytest.raises(TypeError, match=r"^executor: 2 \(must be a concurrent"):
        goblin.sweep(world, rounds=5, executor=2)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^executor: 'dask'"):
        reproduce(tmp_path, "dask")
    with ThreadPoolExecutor(1) as executor:
        with pytest.raises(ValueError, match=r"^threads: 2 \(must not be given with an executor"):
            goblin.sweep(world, rounds=5, executor=executor, threads=2)
        with pytest.raises(ValueError, match=r"^threads: 1 \(must not be given with an executor"):
            reproduce(tmp_path, executor, threads=1)
        with pytest.raises(ValueError, match="alpha"):
            goblin.sweep(world, alphas=-1.0, rounds=5, executor=executor)
    with processes(1) as executor, pytest.raises(BrokenExecutor, match="a sweep keeps nothing, and begins anew"):
        goblin.sweep(world, rounds=5, executor=Dying(executor, 1))


def test_reproduce_says_what_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GOBLIN_DATA", raising=False)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"part": "everything"}, "part: everything not in"),
        ({"part": "lastfm"}, "data"),
        ({"part": "cliques", "rounds": 1}, r"rounds: 1 \(must be at least 2\)"),
        ({"part": "cliques", "rounds": -1}, "rounds: -1"),
        ({"part": "cliques", "seeds": 1}, r"seeds: 1 \(must be at least 2\)"),
        ({"part": "lastfm", "data": tmp_path}, "goblin data fetch"),
        ({"part": "lastfm", "data": tmp_path, "reading": "mine"}, "reading: 'mine'"),
    ]
    for options, message in wrong:
        with pytest.raises(ValueError, match=message):
            goblin.reproduce(out=tmp_path / "out", **options)
    with pytest.raises(_core.DataError, match="a cell from elsewhere"):
        _reproduce._run_cell(("cliques", "--quick"), b"something else")


def test_files_that_differ_elsewhere_are_refused(tmp_path: Path) -> None:
    (tmp_path / "edges.tsv").write_text("ann\tbob\n")
    (tmp_path / "items.tsv").write_text("tea\t1\t0\ncake\t0\t1\n")
    (tmp_path / "payoffs.tsv").write_text("ann\ttea\t1\n")
    sent = pickle.dumps(goblin.datasets.files(tmp_path))
    assert len(sent) < 1_000
    assert pickle.loads(sent).payoffs["payoff"].tolist() == [1.0]
    again = pickle.loads(pickle.dumps(pickle.loads(sent)))
    assert again.users == ["ann", "bob"]
    (tmp_path / "payoffs.tsv").write_text("ann\ttea\t2\n")
    program = "import pickle, sys; pickle.loads(bytes.fromhex(sys.argv[1]))"
    done = subprocess.run([sys.executable, "-c", program, sent.hex()], capture_output=True, text=True)
    assert "is not what was read where the world was made" in done.stderr


def test_the_slurm_script_of_the_documentation(source: Path, command: Path, tmp_path: Path) -> None:
    """As an array of two tasks that run at the same time, with fewer simulations."""
    page = (source / "docs" / "scaling.md").read_text()
    [script] = [block for block in re.findall(r"```sh\n(.*?)```", page, flags=re.DOTALL) if "#SBATCH" in block]
    asked = 'reproduce all --data "$HOME/datasets"'
    assert asked in script and "sleep 60" in script
    script = script.replace(asked, "reproduce cliques --quick --rounds 10 --seeds 2").replace("sleep 60", "sleep 0.2")
    (tmp_path / "goblin.sh").write_text(script)
    path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
    slurm = {"HOME": str(tmp_path), "PATH": path, "SLURM_CPUS_PER_TASK": "1", "SLURM_ARRAY_TASK_COUNT": "2"}
    tasks = [
        subprocess.Popen(["sh", "goblin.sh"], cwd=tmp_path, env={**slurm, "SLURM_ARRAY_TASK_ID": task})
        for task in ("1", "2")
    ]
    assert [task.wait(timeout=120) for task in tasks] == [0, 0]
    assert (tmp_path / "report" / "index.html").exists()
