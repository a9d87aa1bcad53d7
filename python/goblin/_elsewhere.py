"""Work on any ``concurrent.futures.Executor``: threads, processes, or machines."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor
from typing import Any, Protocol, TypeVar

Result = TypeVar("Result")


class Future(Protocol):
    """What is used of a future. One that also has ``cancel`` is cancelled when its result is no longer wanted."""

    def result(self, timeout: float | None = None) -> Any: ...


class Executor(Protocol):
    """What is used of an executor: those of ``concurrent.futures`` have it, and those of Dask, mpi4py and others."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Any: ...


#: A piece of work is tried so many times before its error is raised.
ATTEMPTS = 3
#: Set on an error that came from the work: an executor that loses a worker may raise anything, a ``ValueError`` too.
OF_THE_WORK = "goblin_of_the_work"


def check_executor(executor: Any) -> None:
    if not callable(getattr(executor, "submit", None)):
        raise TypeError(f"executor: {executor!r} (must be a concurrent.futures.Executor, or have its submit)")


def check_no_threads(threads: int | None) -> None:
    if threads is not None:
        raise ValueError(f"threads: {threads} (must not be given with an executor, which has its own workers)")


def run_all(
    executor: Executor,
    function: Callable[..., Result],
    tasks: Sequence[tuple[Any, ...]],
    done: Callable[[int, Result], None],
    kept: Callable[[], str],
) -> None:
    """Calls ``done(k, function(*tasks[k]))`` for every k, the functions on the executor and ``done`` here.

    What failed because a worker died is submitted again, ``ATTEMPTS`` times in all. A wrong value that the function
    itself complains of would be as wrong again: it is raised at once. Whatever ends this early, an interrupt say: what
    was finished by then is done, and the rest is cancelled. ``kept`` says what of the work is not lost, for the message
    of a broken pool.
    """
    futures: dict[int, Any] = {}
    try:
        for k, task in enumerate(tasks):
            futures[k] = executor.submit(_work, 1, function, *task)
        waiting = deque(range(len(tasks)))
        attempts = [1] * len(tasks)
        while waiting:
            k = waiting.popleft()
            try:
                result = futures[k].result()
            except BrokenExecutor:
                raise
            except Exception as error:
                if attempts[k] == ATTEMPTS or getattr(error, OF_THE_WORK, False):
                    raise
                attempts[k] += 1
                futures[k] = executor.submit(_work, attempts[k], function, *tasks[k])
                waiting.append(k)  # the executor comes to it last, too: the others do not wait for it
                continue
            del futures[k]
            done(k, result)
    except BrokenExecutor as error:
        _take_finished(futures, done)
        raise BrokenExecutor(
            f"a worker died, and this {type(executor).__name__} takes no more work: make a new one and call again; "
            f"{kept()} ({error})"
        ) from error
    except BaseException:
        _take_finished(futures, done)
        raise


def _work(attempt: int, function: Callable[..., Result], *task: Any) -> Result:
    """What is submitted. ``attempt`` is for executors, such as Dask's, that answer equal calls with one future."""
    try:
        return function(*task)
    except (ValueError, TypeError) as error:
        setattr(error, OF_THE_WORK, True)
        raise


def _take_finished(futures: dict[int, Any], done: Callable[[int, Any], None]) -> None:
    """What is finished is done; the rest is cancelled, lest whoever closes the executor waits for it."""
    for future in futures.values():
        getattr(future, "cancel", bool)()
    for k, future in futures.items():
        try:
            result = future.result(timeout=0)
        except BaseException:  # not finished, or failed: with KeyboardInterrupt, if a worker heard of Ctrl-C, too
            continue
        done(k, result)
