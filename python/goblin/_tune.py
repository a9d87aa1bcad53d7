"""Settings from a log, and whether its graph helps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._evaluate import _column, _columns, _contexts, _numbers, _probabilities, _table, _whole
from ._experiment import Columns, _axes
from ._graph import Graph, graph_of, labels_of
from ._types import UnknownUser

_FRAMES = ("policies", "tried", "alphas", "curve", "comparisons", "user_gains", "by_cluster", "by_degree", "by_rewards")


@dataclass(frozen=True, repr=False)
class Tuning:
    """What a log says: ``graph_helps`` is "yes", "no" or "not decided", and ``reasons`` says why, in sentences.

    ``best`` is the policy with the smallest squared error, ``warnings`` what to look out for. ``constant_error`` is
    the squared error of predicting the mean of the rewards so far.
    """

    graph_helps: str
    reasons: list[str]
    warnings: list[str]
    best: str
    rewards: int
    constant_error: float
    tables: dict[str, Columns]

    def columns(self, table: str = "policies") -> Columns:
        """A table as columns for ``pandas.DataFrame`` or ``polars.DataFrame``.

        ``policies`` has the settings and errors of each policy, ``tried`` all settings that were tried, ``curve`` the
        squared error up to so many rewards, ``comparisons`` the gain of ``gob.lin`` over its rivals, ``user_gains``
        that over ``linucb-ind`` for each user, and ``by_cluster``, ``by_degree`` and ``by_rewards`` the same for
        groups of users. A gain is how much smaller the squared error is, a reward, between ``low`` and ``high`` (95 %).

        After ``tune(..., replay=True)``, ``alphas`` has what a decision would have earned with each alpha and coupling,
        ``value``, and how much more that is than with the noise as alpha, ``gain``, between ``gain_low`` and
        ``gain_high`` (all of them together with 95 %). In ``policies``, ``replay`` says what came of it ("another",
        "noise", "not decided" or "not done"), and ``replay_reason`` why.
        """
        if table not in self.tables:
            raise ValueError(f"table: {table!r} (must be one of {', '.join(_FRAMES)})")
        return self.tables[table]

    def frame(self, table: str = "policies") -> Any:
        """``columns(table)`` as a ``pandas.DataFrame``."""
        try:
            import pandas
        except ImportError:
            raise ImportError("frame needs pandas: pip install pandas, or take the columns() as they are") from None
        return pandas.DataFrame(self.columns(table))

    def settings(self, policy: str | None = None) -> dict[str, float]:
        """The arguments of a policy's bandit: ``goblin.GobLin(edges, dimension=d, **tuning.settings("gob.lin"))``.

        Without a policy those of the best one.
        """
        policies = self.tables["policies"]
        wanted = self.best if policy is None else policy
        rows = np.flatnonzero(policies["policy"] == wanted)
        if rows.size == 0:
            raise ValueError(f"policy: {wanted!r} (must be one of {', '.join(policies['policy'].tolist())})")
        row = {name: float(policies[name][rows[0]]) for name in ("ridge", "coupling", "alpha", "hub_weight")}
        if not np.isnan(row["hub_weight"]):
            row["hub_ridge"] = row["ridge"]
        return {name: value for name, value in row.items() if not np.isnan(value)}

    def plot(self, ax: Any = None, **line: Any) -> Any:
        """Draws the squared error of each policy against the rewards so far, into the given axes or new ones."""
        axes = _axes(ax)
        curve = self.tables["curve"]
        for policy in self.tables["policies"]["policy"]:
            rows = curve["policy"] == policy
            axes.plot(curve["rewards"][rows], curve["squared_error"][rows], **{"label": policy, **line})
        axes.axhline(self.constant_error, linestyle="--", color="gray", label="a constant")
        axes.set_xlabel("rewards")
        axes.set_ylabel("squared error so far")
        axes.set_title(f"does the graph help: {self.graph_helps}")
        axes.legend()
        return axes

    def __repr__(self) -> str:
        return f"Tuning(the graph helps: {self.graph_helps}; best of {self.rewards} rewards: {self.best})"


def tune(
    log: Any,
    edges: Any,
    *,
    policies: str | Iterable[str] = (),
    features: Sequence[str] | None = None,
    items: Any = None,
    clusters: Any = None,
    intercept: bool = False,
    unknown: str = "error",
    replay: bool = False,
    uniform: bool = False,
    rewirings: int = 5,
    seed: int = 0,
    threads: int = 0,
) -> Tuning:
    """The ridge, coupling and alpha that fit a log, and whether its graph helps. A keyboard interrupt stops it.

    Parameters
    ----------
    log : a pandas or polars frame, a dict of columns, or a list of dicts, in the order of time, with the columns
        ``user``, ``reward`` and one of
        ``context``, an array of numbers in every row;
        ``item``, a name that ``items`` has numbers for;
        ``contexts`` or ``items``, what could have been shown, and ``action``, which of them was.
        Without any of these, all other columns are the numbers of the context
    edges : as in ``Graph``, or a ``Graph``
    policies : beside ``linucb-sin``, ``linucb-ind`` and ``gob.lin``, which are always tuned: ``gob.lin.macro``,
        ``gob.lin.block``, ``gob.lin.hub``
    features : the columns that are the numbers of the context
    items : the items' contexts: a dict, or a frame with the names in its first column and numbers in the others
    clusters : for ``gob.lin.macro`` and ``gob.lin.block``: a number of clusters, or what else ``GobLinMacro`` takes
    intercept : contexts get a constant 1
    unknown : for users who are not in the graph: ``"error"``, ``"add"`` (without friends) or ``"skip"`` (their rewards)
    replay : alpha and coupling are looked for by what the policies would have earned in the log's decisions, where it
        allows that: it needs ``contexts`` or ``items``, ``action`` and ``probability``. Without it, alpha is the noise
    uniform : for ``replay``: the log chose every candidate with the same probability, and has no ``probability``
    rewirings : how many graphs with the same degrees and other edges the graph is compared with
    seed : of these graphs and of the bootstrap
    threads : 0 stands for as many as the machine has; the result is the same

    >>> import goblin
    >>> import numpy as np
    >>> random = np.random.default_rng(1)
    >>> tastes = np.repeat(random.normal(size=(3, 2)), 8, axis=0)          # three groups of eight friends
    >>> friends = [(a, b) for a in range(24) for b in range(a) if a // 8 == b // 8]
    >>> user = random.integers(24, size=600)
    >>> x = random.normal(size=(600, 2))
    >>> reward = (x * tastes[user]).sum(axis=1) + 0.5 * random.normal(size=600)
    >>> result = goblin.tune({"user": user, "x": x[:, 0], "y": x[:, 1], "reward": reward}, friends)
    >>> result.graph_helps
    'yes'
    >>> bandit = goblin.GobLin(friends, dimension=2, **result.settings("gob.lin"))
    """
    graph = graph_of(edges)
    table = _table(log)
    if uniform and not replay:
        raise ValueError("uniform: True (must be False without replay=True)")
    candidates, ends, actions = _candidates(table, features, items)
    rewards = _numbers(_column(table, "reward"), "reward")
    graph, users, known = _users_in(graph, table["user"], unknown)
    if intercept:
        candidates = np.column_stack([candidates, np.ones(len(candidates))])
    counts = np.diff(ends, prepend=0)
    contexts = candidates[ends - counts + np.maximum(actions, 0)]
    rounds = _rounds(table, candidates, counts, actions, known, uniform) if replay else None
    labels = None if clusters is None else labels_of(graph, clusters, seed)
    names = [policies] if isinstance(policies, str) else [str(policy) for policy in policies]
    raw = _core.tune(
        graph, users[known], contexts[known], rewards[known], names, labels, rewirings, seed, threads, rounds
    )
    tables = {name: _columns(raw.pop(name)) for name in _FRAMES}
    return Tuning(**raw, tables=tables)


def _candidates(
    table: dict[str, Any], features: Sequence[str] | None, items: Any
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """All contexts below each other, where those of each row end, and which of them was shown.

    That is -1 where the row has the context of what was shown and nothing else.
    """
    forms = [name for name in ("contexts", "items", "context", "item") if name in table]
    if features is not None or not forms:
        others = [name for name in table if name not in ("user", "reward", "action", "probability")]
        names = others if features is None else list(features)
        if not names:
            raise ValueError(
                "log: no column has numbers of a context (must have context, item, contexts or some others)"
            )
        columns = np.column_stack([_numbers(_column(table, name), name) for name in names])
        return columns, np.arange(1, len(columns) + 1), np.full(len(columns), -1)
    first = table[forms[0]][0] if len(table["user"]) else []
    dimension = _dimension(forms[0], first, items)
    contexts, ends, one_each = _contexts(table, items, dimension)
    if one_each:
        return contexts, ends, np.full(len(ends), -1)
    actions = _whole(_column(table, "action"), "action")
    counts = np.diff(ends, prepend=0)
    wrong = np.flatnonzero((actions < 0) | (actions >= counts))
    if wrong.size:
        row = int(wrong[0])
        raise ValueError(f"row {row}: action: {actions[row]} (must be a whole number from 0 to {counts[row] - 1})")
    return contexts, ends, actions


def _rounds(
    table: dict[str, Any],
    candidates: NDArray[np.float64],
    counts: NDArray[np.int64],
    actions: NDArray[np.int64],
    known: NDArray[np.bool_],
    uniform: bool,
) -> tuple[NDArray[Any], ...]:
    """What ``_core.tune`` goes through for alpha, of the rows that count."""
    if (actions < 0).all() or ("probability" not in table and not uniform):
        probabilities = np.full(len(counts), np.nan)  # it says in words that this is not enough
    else:
        probabilities = _probabilities(table, counts, uniform)
        wrong = np.flatnonzero(~((probabilities > 0.0) & (probabilities <= 1.0)))
        if wrong.size:
            row = int(wrong[0])
            raise ValueError(f"row {row}: probability: {probabilities[row]} (must be above 0 and at most 1)")
    return (
        candidates if known.all() else candidates[np.repeat(known, counts)],
        np.cumsum(counts[known]),
        actions[known],
        probabilities[known],
        np.flatnonzero(known),
    )


def _dimension(form: str, first: Any, items: Any) -> int:
    if form in ("contexts", "context"):
        shape = np.shape(first)
        return int(shape[-1]) if shape else 0
    if hasattr(items, "columns"):
        return len(items.columns) - 1
    return len(next(iter(items.values()))) if items else 0


def _users_in(
    graph: _core.Graph, users: list[Any], unknown: str
) -> tuple[_core.Graph, NDArray[np.int64], NDArray[np.bool_]]:
    """The graph with all users that count, the index of each row's user, and which rows count."""
    if unknown not in ("error", "add", "skip"):
        raise ValueError(f"unknown: {unknown!r} (must be 'error', 'add' or 'skip')")
    everybody, index = _core.numbered_names(users, 1, "user", known=graph.users)
    known = index < len(graph)
    if not known.all() and unknown == "error":
        row = int(np.flatnonzero(~known)[0])
        raise UnknownUser(
            f"row {row}: user {users[row]!r} is not in the graph (must be; unknown='add' takes such users without "
            f"friends, unknown='skip' leaves their rewards out; {len(everybody) - len(graph)} such users)"
        )
    if unknown == "add" and not known.all():
        graph = Graph(graph, users=everybody)
        known = np.ones(len(index), dtype=bool)
    return graph, index, known
