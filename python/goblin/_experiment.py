"""Bandits in worlds, and what came of it."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._elsewhere import Executor, check_executor, check_no_threads, run_all
from ._exploration import ucb
from ._graph import labels_of, must_be, numbers_of
from ._worlds import names_array

Columns = dict[str, NDArray[Any]]

#: How a setting that a policy has not looks as a text.
_ABSENT = {"", "nan"}


@dataclass(frozen=True, repr=False)
class Trace:
    """What a bandit did in a world.

    ``reward`` is the sum of the payoffs, ``random_reward`` what choosing at random gets on average,
    ``normalized_reward`` their difference: the paper's measure. ``regret`` is what was lost against the best candidates
    and ``regret_bound`` the right-hand side of the paper's Theorem 1, where the users' true vectors are known.
    ``settings`` has the ridge, the coupling and what else a sweep has tried.
    """

    world: str
    policy: str
    alpha: float | None
    exploration: str
    seed: int
    repetition: int
    rounds: int
    reward: float
    random_reward: float
    normalized_reward: float
    regret: float | None
    regret_bound: float | None
    seconds: float
    summary: dict[str, Any]
    settings: dict[str, Any]
    rows: Columns

    def columns(self) -> Columns:
        """A row for every recorded round, as columns for ``pandas.DataFrame`` or ``polars.DataFrame``.

        ``world``, ``policy``, ``alpha`` (nan where the rule has none), ``exploration``, ``seed``, ``repetition`` and
        the ``settings`` stand in every row, so that the columns of several traces can be put below each other.
        ``probability`` is that of the arm, before chance decided; ``reward``, ``normalized_reward`` and ``regret`` are
        sums up to the round.
        """
        count = len(self.rows["round"])
        same = {name: getattr(self, name) for name in ("world", "policy", "alpha", "exploration", "seed", "repetition")}
        same["alpha"] = np.nan if self.alpha is None else self.alpha
        same.update(self.settings)
        return {**{name: np.full(count, value) for name, value in same.items()}, **self.rows}

    def plot(self, column: str = "normalized_reward", ax: Any = None, **line: Any) -> Any:
        """Draws a column over the rounds with matplotlib, into the given axes or new ones, which it gives back."""
        _check_recorded(self.rows)
        axes = _axes(ax)
        axes.plot(self.rows["round"], self.rows[column], **{"label": f"{self.policy}, {self.exploration}", **line})
        return _labelled(axes, column)

    def __repr__(self) -> str:
        return (
            f"Trace({self.policy} in {self.world}: {self.rounds} rounds, reward {self.reward:g}, "
            f"normalized {self.normalized_reward:g})"
        )


@dataclass(frozen=True, repr=False)
class Sweep:
    """Every policy with every exploration and settings in every world: the traces, and the results over the worlds."""

    traces: list[Trace]
    rows: list[dict[str, Any]]

    def results(self) -> Columns:
        """A row for every policy, exploration and settings, as columns: means over the worlds and standard errors.

        A setting that a policy has not is nan, or an empty text.
        """
        return {name: np.array([row[name] for row in self.rows]) for name in self.rows[0]} if self.rows else {}

    def columns(self) -> Columns:
        """The recorded rounds of all traces, below each other."""
        parts = [trace.columns() for trace in self.traces]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]} if parts else {}

    def plot(self, column: str = "normalized_reward", ax: Any = None, **line: Any) -> Any:
        """Draws, for every policy, exploration and settings, the mean of a column over the worlds."""
        for trace in self.traces:
            _check_recorded(trace.rows)
        axes = _axes(ax)
        groups: dict[str, list[Trace]] = {}
        several = _settings_that_differ(self.traces)
        for trace in self.traces:
            settings = [
                f"{name} {trace.settings[name]}" for name in several if str(trace.settings[name]) not in _ABSENT
            ]
            groups.setdefault(", ".join([trace.policy, trace.exploration, *settings]), []).append(trace)
        for label, traces in groups.items():
            mean = np.mean([trace.rows[column] for trace in traces], axis=0)
            axes.plot(traces[0].rows["round"], mean, **{"label": label, **line})
        return _labelled(axes, column)

    def __repr__(self) -> str:
        return f"Sweep({len(self.rows)} cases, {len(self.traces)} traces)"


def simulate(
    bandit: _core.Bandit,
    world: _core.World,
    rounds: int = 10_000,
    *,
    record_every: int = 1,
    delta: float = 0.1,
    samples: int = 0,
) -> Trace:
    """Plays rounds 0, 1, ... of a world: choose, see the payoff, learn. A keyboard interrupt stops it.

    Parameters
    ----------
    bandit : its users must be those of the world, in the same order: make it with ``world.graph``
    rounds : how many
    record_every : the trace has a row for every so many rounds, and one for the last; 0: none
    delta : Theorem 1's bound fails with this probability
    samples : how many draws the column ``probability`` is estimated by with ``thompson``; 0: it is nan there. With
        every other rule it is exact

    >>> import goblin
    >>> world = goblin.Cliques(cliques=2, size=5, dimension=4, seed=1)
    >>> trace = goblin.simulate(goblin.GobLin(world.graph, dimension=4), world, rounds=200)
    >>> trace.rounds, trace.reward > trace.random_reward
    (200, True)
    >>> sorted(trace.columns())[:4]
    ['alpha', 'arm', 'average_payoff', 'coupling']
    """
    must_be(bandit, _core.Bandit, "bandit")
    must_be(world, _core.World, "world")
    ridge = bandit.ridge
    settings = {"ridge": np.nan if np.ndim(ridge) else ridge, "coupling": bandit.coupling}
    played = _core.simulate(bandit, world, rounds, record_every, delta, samples)
    return _trace(played, settings, world.users, world.items)


_usual = tuple(policy for policy in _core.paper_policies() if policy not in _core.clustered_policies())


class SweepOptions(TypedDict, total=False):
    """Options of policies that ``sweep`` tries: one value, or several."""

    window: int | Iterable[int]
    discount: float | Iterable[float]
    laplacian: str | Iterable[str]
    hub: float | Iterable[float]
    hub_ridge: float | Iterable[float]
    buckets: int | Iterable[int]
    hash_seed: int | Iterable[int]
    club_graph: str | Iterable[str]
    separation: float | Iterable[float]
    club_seed: int | Iterable[int]
    dynucb_clusters: int | Iterable[int]
    dynucb_seed: int | Iterable[int]


def sweep(
    worlds: _core.World | Sequence[_core.World],
    policies: Iterable[str] = _usual,
    alphas: float | Iterable[float] | None = None,
    *,
    explorations: str | Iterable[str] | None = None,
    rounds: int = 10_000,
    clusters: Any = None,
    ridge: float | Iterable[float] | None = None,
    coupling: float | Iterable[float] = 1.0,
    engine: str = "automatic",
    record_every: int | None = None,
    threads: int | None = None,
    executor: Executor | None = None,
    **options: Unpack[SweepOptions],
) -> Sweep:
    """Plays every policy with every exploration and all settings in every world, each from scratch, several at a time.

    Parameters
    ----------
    worlds : one or several, usually repetitions of the same: ``[goblin.Cliques(repetition=k) for k in range(5)]``
    policies : some of ``goblin.policies``; without it those of the paper that need no clusters
    alphas : each policy is tried with each; 0.1 without it
    explorations : the same with other ways to choose, in the place of alphas: ``["ucb:0.1", goblin.thompson(0.1)]``
    rounds : as in ``simulate``
    record_every : a trace has a row for every so many rounds, and one for the last; a hundred rows without it, 0: none
    clusters : for ``gob.lin.macro`` and ``gob.lin.block``: a number of clusters, or what else ``GobLinMacro`` takes
    ridge, coupling : as in ``Bandit``, one or several: ``ridge=[0.1, 1, 10]``. Without a ridge every policy has its
        usual one. The coupling is tried with the policies that have one, those that begin with ``gob.lin``
    engine : as in ``Bandit``
    threads : simulations at the same time; as many as the machine has. The results do not depend on it
    executor : runs the simulations somewhere else, in the place of threads: any ``concurrent.futures.Executor``, such
        as ``ProcessPoolExecutor`` or Dask's ``client.get_executor()``; docs/scaling.md has more. Results are the same,
        but for their seconds. If a worker dies, its simulations are run again. A ``Dataset`` that was read from files
        travels as the name of their folder, one of your own as a whole
    **options : options of the policies, one value or several: ``window``, ``discount``; ``laplacian``; ``hub``,
        ``hub_ridge``; ``buckets``, ``hash_seed``; ``club_graph``, ``separation``, ``club_seed``; ``dynucb_clusters``,
        ``dynucb_seed``. Each policy is tried with all combinations of those that it has

    >>> import goblin
    >>> worlds = [goblin.Cliques(cliques=2, size=5, dimension=4, repetition=k) for k in range(2)]
    >>> results = goblin.sweep(worlds, ["linucb-ind", "gob.lin"], rounds=100).results()
    >>> results["policy"], results["repetitions"]
    (array(['linucb-ind', 'gob.lin'], dtype='<U10'), array([2, 2]))
    >>> tried = goblin.sweep(worlds, ["linucb-ind", "gob.lin"], ridge=[0.1, 1], coupling=[1, 10], rounds=100).results()
    >>> list(zip(tried["policy"].tolist(), tried["ridge"].tolist(), tried["coupling"].tolist()))[1:4]
    [('linucb-ind', 1.0, nan), ('gob.lin', 0.1, 1.0), ('gob.lin', 0.1, 10.0)]
    """
    played = [worlds] if isinstance(worlds, _core.World) else list(worlds)
    if not played:
        raise ValueError("worlds: none (must be at least 1)")
    for k, world in enumerate(played):
        must_be(world, _core.World, f"worlds[{k}]")
    names = [policies] if isinstance(policies, str) else [str(policy) for policy in policies]
    tried = {"ridge": [None] if ridge is None else _several(ridge, "ridge"), "coupling": _several(coupling, "coupling")}
    tried.update((name, _several(values, name)) for name, values in options.items())
    _check_options(options.keys(), names)
    cases = [
        (policy, {"engine": engine, "exploration": rule, **settings})
        for policy in names
        for rule in _rules_of(alphas, explorations)
        for settings in _settings_of(policy, tried)
    ]
    clustered = [policy for policy in names if policy in _core.clustered_policies()]
    if clustered and clusters is None:
        raise ValueError(f"clusters: None ({clustered[0]} needs a number of clusters or labels)")
    labels = _labels_for(played, clusters) if clustered else [None] * len(played)
    if executor is None:
        threads = (os.cpu_count() or 1) if threads is None else threads
        traces, rows = _core.sweep(played, labels, cases, rounds, record_every, threads)
    else:
        check_no_threads(threads)
        traces, rows = _sweep_elsewhere(executor, played, labels, cases, rounds, record_every)
    shown = [_shown_settings(policy, settings, tried) for policy, settings in cases]
    of_worlds = [(world.users, world.items) for world in played]
    return Sweep(
        [_trace(trace, shown[k // len(played)], *of_worlds[k % len(played)]) for k, trace in enumerate(traces)],
        [{**row, **settings} for row, settings in zip(rows, shown, strict=True)],
    )


def _sweep_elsewhere(
    executor: Executor,
    worlds: list[_core.World],
    labels: list[Any],
    cases: list[tuple[str, dict[str, Any]]],
    rounds: int,
    record_every: int | None,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What ``_core.sweep`` gives, each simulation on its own on the executor."""
    check_executor(executor)
    clustered = _core.clustered_policies()
    tasks = [
        (world, label if case[0] in clustered else None, case, rounds, record_every)
        for case in cases
        for world, label in zip(worlds, labels, strict=True)
    ]
    traces: list[dict[str, Any]] = [{}] * len(tasks)
    run_all(executor, _simulate_case, tasks, traces.__setitem__, lambda: "a sweep keeps nothing, and begins anew")
    of_cases = [traces[k : k + len(worlds)] for k in range(0, len(traces), len(worlds))]
    return traces, [_core.summarize(of_case) for of_case in of_cases]


def _simulate_case(
    world: _core.World, labels: Any, case: tuple[str, dict[str, Any]], rounds: int, record_every: int | None
) -> dict[str, Any]:
    """What a worker does."""
    [trace], _ = _core.sweep([world], [labels], [case], rounds, record_every, 1)
    return trace


def _several(given: Any, name: str) -> list[Any]:
    """One value or several, as a list."""
    values = list(given) if isinstance(given, Iterable) and not isinstance(given, str | bytes) else [given]
    if not values:
        raise ValueError(f"{name}: none (must be at least 1)")
    return values


def _check_options(given: Iterable[str], policies: list[str]) -> None:
    unknown = set(given) - SweepOptions.__annotations__.keys()
    if unknown:
        raise TypeError(f"sweep has no option {min(unknown)!r}; it has {', '.join(SweepOptions.__annotations__)}")
    for name in given:
        if not any(name in _core.default_options(policy) for policy in policies):
            raise ValueError(f"{name}: must not be given, as none of the policies has it ({', '.join(policies)})")


def _has(policy: str, name: str) -> bool:
    return policy in _core.coupled_policies() if name == "coupling" else name in _core.default_options(policy)


def _settings_of(policy: str, tried: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """All combinations of what the policy has."""
    names = [name for name in tried if _has(policy, name) and tried[name] != [None]]
    return [dict(zip(names, values, strict=True)) for values in itertools.product(*(tried[name] for name in names))]


def _shown_settings(policy: str, settings: dict[str, Any], tried: dict[str, list[Any]]) -> dict[str, Any]:
    """A value for everything that was tried: what the policy has not is nan, or an empty text."""
    shown = {}
    for name, values in tried.items():
        if name in settings:
            shown[name] = settings[name]
        elif _has(policy, name):
            shown[name] = _core.default_options(policy)[name]
        else:
            shown[name] = "" if isinstance(values[0], str) else np.nan
    return shown


def _settings_that_differ(traces: list[Trace]) -> list[str]:
    names = list(traces[0].settings) if traces else []
    return [name for name in names if len({str(trace.settings[name]) for trace in traces} - _ABSENT) > 1]


def _rules_of(alphas: float | Iterable[float] | None, explorations: str | Iterable[str] | None) -> list[str]:
    if explorations is None:
        alphas = _core.default_alpha if alphas is None else alphas
        tried = numbers_of([alphas] if isinstance(alphas, float | int) else list(alphas), "alphas[{row}]").tolist()
        return [ucb(alpha) for alpha in tried]
    if alphas is not None:
        raise ValueError("alphas: must not be given with explorations, which have their own numbers")
    return [explorations] if isinstance(explorations, str) else [str(rule) for rule in explorations]


def _labels_for(worlds: Sequence[_core.World], clusters: Any) -> list[Any]:
    """Clusters of each world's users; worlds that have the same graph share them."""
    labels: list[Any] = []
    last: Any = None
    for world in worlds:
        ends, weights = world.graph.edges()
        same = last is not None and np.array_equal(last[0], ends) and np.array_equal(last[1], weights)
        labels.append(labels[-1] if same else labels_of(world.graph, clusters, seed=world.seed))
        last = ends, weights
    return labels


def _trace(raw: dict[str, Any], settings: dict[str, Any], users: list[Any], items: list[Any]) -> Trace:
    raw = {name: value for name, value in raw.items() if name != "negative_payoffs"}
    rows = dict(raw.pop("columns"))
    rows["user"] = names_array(users)[rows["user"]] if users else rows["user"]
    if "item" in rows:
        rows["item"] = names_array(items)[rows["item"]]
    return Trace(**raw, settings=settings, rows=rows)


def _check_recorded(rows: Columns) -> None:
    if len(rows["round"]) == 0:
        raise ValueError("no round was recorded, so there is nothing to draw (record_every must be above 0)")


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plot needs matplotlib: pip install matplotlib, or draw the columns() yourself") from None
    return plt.subplots()[1]


def _labelled(axes: Any, column: str) -> Any:
    axes.set_xlabel("round")
    axes.set_ylabel(column.replace("_", " "))
    axes.legend()
    return axes
