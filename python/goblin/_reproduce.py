"""The paper's experiments, on one machine or on many."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from . import _core
from ._elsewhere import Executor, check_executor, check_no_threads, run_all

Folder = str | os.PathLike[str]


@dataclass(frozen=True, repr=False)
class Reproduction:
    """What came of ``reproduce``: the page, and what it says in short.

    ``report`` is the HTML page, ``simulations`` how many it took. ``found`` has the rest as the command line prints it
    with ``--json``: for the paper's experiments ``found["claims"]``, each with its verdict; for ``"rivals"``
    ``found["answers"]``.
    """

    report: Path
    simulations: int
    found: dict[str, Any]

    def __repr__(self) -> str:
        return f"Reproduction({str(self.report)!r}, {self.simulations} simulations)"


def reproduce(
    part: str = "all",
    data: Folder | None = None,
    out: Folder = "reproduction",
    *,
    executor: Executor | None = None,
    quick: bool = False,
    rounds: int | None = None,
    seeds: int | None = None,
    reading: str | Iterable[str] | None = None,
    cache: Folder | None = None,
    threads: int | None = None,
) -> Reproduction:
    """Runs the paper's experiments and writes a page with every figure and verdict: ``goblin reproduce``.

    Every finished simulation is a file in ``out/cells``, so a call that was stopped goes on where it was. The program
    gnuplot draws the figures. docs/scaling.md has examples for several machines.

    Parameters
    ----------
    part : ``"cliques"``, ``"lastfm"``, ``"delicious"`` or ``"all"``; or ``"rivals"``
    data : the folder that holds the data sets, for all but ``"cliques"``; without it ``GOBLIN_DATA`` of the environment
    out : folder of the page and of finished simulations. Only this process writes there
    executor : runs the simulations somewhere else: any ``concurrent.futures.Executor``, ``ProcessPoolExecutor``, Dask's
        ``client.get_executor()`` or mpi4py's ``MPIPoolExecutor``, say. Workers need goblin and, under the same name,
        the folder ``data``, which each reads once. What they find is what this process would find, to the last bit on
        the same kind of processor. If a worker dies, its simulations are run again
    quick : fewer rounds, seeds and settings, to see what there is
    rounds, seeds : other numbers of rounds and of evaluation seeds
    reading : how the paper's preprocessing is read, one name or several; a wrong name lists them
    cache : where prepared data is kept, on workers too
    threads : without an executor, simulations at the same time; as many as the machine has
    """
    arguments = [part]
    data = os.environ.get("GOBLIN_DATA") or None if data is None else data
    if data is not None:
        arguments += ["--data", os.path.abspath(data)]
    if cache is not None:
        arguments += ["--cache", os.path.abspath(cache)]
    if quick:
        arguments.append("--quick")
    for name, number in (("--rounds", rounds), ("--seeds", seeds)):
        if number is not None:
            arguments += [name, str(number)]
    for each in [reading] if isinstance(reading, str) else reading or []:
        arguments += ["--reading", each]
    here = [*arguments, "--out", os.fspath(out)]
    if threads is not None:
        here += ["--threads", str(threads)]
    elsewhere = None
    if executor is not None:
        check_executor(executor)
        check_no_threads(threads)
        elsewhere = _sender(executor, tuple(arguments), os.path.join(os.fspath(out), "cells"))
    found = json.loads(_core.reproduce(here, elsewhere))
    return Reproduction(Path(found["report"]), found["simulations"], found)


def _sender(executor: Executor, arguments: tuple[str, ...], folder: str) -> Callable[..., None]:
    """What sends simulations to the executor, and hands over what comes back."""

    def send(cells: list[bytes], done: Callable[[int, bytes], None]) -> None:
        places: dict[bytes, list[int]] = {}  # two figures may show the same simulation
        for k, cell in enumerate(cells):
            places.setdefault(cell, []).append(k)

        def done_once(k: int, outcome: bytes) -> None:
            for place in places[tasks[k][1]]:
                done(place, outcome)

        tasks = [(arguments, cell) for cell in places]
        run_all(executor, _run_cell, tasks, done_once, lambda: f"finished simulations are kept in {folder}")

    return send


_making = threading.Lock()


@lru_cache(maxsize=2)
def _runner(arguments: tuple[str, ...]) -> _core.CellRunner:
    return _core.CellRunner(list(arguments))


def _run_cell(arguments: tuple[str, ...], cell: bytes) -> bytes:
    """What a worker does. The first time it reads the data."""
    with _making:
        runner = _runner(arguments)
    return runner.run(cell)
