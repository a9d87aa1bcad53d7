"""A log, learned by one process or by many."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from . import _core
from ._bandits import Bandit, _policies, load, policies
from ._elsewhere import Executor, check_executor, check_no_threads, run_all

File = str | os.PathLike[str]


def fit(
    log: File,
    edges: Any,
    *,
    policy: str = "gob.lin",
    executor: Executor | None = None,
    shards: int | None = None,
    items: File | None = None,
    batch: int | None = None,
    threads: int | None = None,
    **options: Any,
) -> Bandit:
    """A bandit that has learned the rewards of a log: ``goblin fit``, on one machine or on many.

    Evidence is a sum. So several processes can each learn a part of the log, and what they learned is added up: the
    result is the bandit that one process would have made, to its engine's tolerance, and its evidence to the last bit
    (but for policies that keep it for clusters or for everybody, where sums are taken in another order).

    Parameters
    ----------
    log : a file of JSON lines, or one that ``write_events`` wrote; docs/fit.md has the forms
    edges : who is a friend of whom; see ``Graph``
    policy : the name of one; ``policies`` has them. With ``club``, ``dynucb``, a window or a discount, the order of all
        rewards counts, so that one process has to learn them
    executor : learns somewhere else: any ``concurrent.futures.Executor``, ``ProcessPoolExecutor``, Dask's
        ``client.get_executor()`` or mpi4py's ``MPIPoolExecutor``, say. Workers need goblin and, under the same names,
        the files. If a worker dies, its part is learned again
    shards : with an executor, how many parts: as many as it has workers, or 2 where it does not say how many. Each
        worker reads all of the log and learns its part: whole clusters, where the policy has some, and otherwise every
        so-manieth user
    items : where the log names items, the file that says what they are: ``item <tab> number <tab> number ...``
    batch : how many rewards are learned at once; ``None``: a million, or fewer where they would take more than a
        gigabyte
    threads : without an executor; as many as the machine has
    **options : those of the policy, ``dimension`` and ``users`` say

    A bad line is a ``DataError`` that names it, and nothing is learned. Users whom the graph does not have join without
    friends, in the order of the log.

    >>> import goblin, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "log.gobe")
    >>> goblin.write_events(path, ["ann", "bob", "ann"], [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1.0, 0.0, 1.0])
    >>> goblin.fit(path, [("ann", "bob")], dimension=2)
    GobLin(2 users, dimension=2, alpha=0.1, 3 rewards)
    """
    if policy not in policies:
        raise ValueError(f"policy: {policy!r} (must be one of {', '.join(policies)})")
    if batch is not None and batch < 1:
        raise ValueError(f"batch: {batch} (must be at least 1)")
    empty = _policies[policy](edges, **options)
    for file in (log, items):
        if file is not None:
            os.stat(file)  # a missing file is the OSError that everybody knows
    log_path, items_path = os.path.abspath(log), "" if items is None else os.path.abspath(items)
    with tempfile.TemporaryDirectory(prefix="goblin-") as folder:
        model = Path(folder) / "model.goblin"
        empty.save(model)
        content = model.read_bytes()

        def bandit_of(learned: bytes) -> Bandit:
            model.write_bytes(learned)
            return load(model)

        if executor is None:
            if shards is not None:
                raise ValueError(f"shards: {shards} (must be given with an executor)")
            return bandit_of(_fit_shard(content, log_path, items_path, 0, 1, batch or 0, threads or 0))
        check_executor(executor)
        check_no_threads(threads)
        return _merged(executor, _shard_count(executor, shards), (content, log_path, items_path), batch or 0, bandit_of)


def _shard_count(executor: Executor, shards: int | None) -> int:
    if shards is None:
        workers = getattr(executor, "_max_workers", None)  # the pools of Python and mpi4py have it
        return workers if isinstance(workers, int) and workers > 0 else 2
    if shards < 1:
        raise ValueError(f"shards: {shards} (must be at least 1)")
    return shards


def _merged(executor: Executor, shards: int, task: tuple[Any, ...], batch: int, bandit_of: Any) -> Bandit:
    """What the shards learned, added up in their order: the sum does not depend on who is ready first."""
    merged: list[Bandit] = []
    added = 0
    waiting: dict[int, bytes] = {}

    def done(k: int, learned: bytes) -> None:
        nonlocal added
        waiting[k] = learned
        while added in waiting:
            part = bandit_of(waiting.pop(added))
            if merged:
                merged[0].merge(part)
            else:
                merged.append(part)
            added += 1

    tasks = [(*task, k, shards, batch, 1) for k in range(shards)]
    run_all(executor, _fit_shard, tasks, done, lambda: "nothing of this log is kept")
    return merged[0]


def _fit_shard(model: bytes, log: str, items: str, shard: int, shards: int, batch: int, threads: int) -> bytes:
    """What a worker does."""
    return _core.fit_log(model, log, items, shard, shards, batch, threads)
