"""What a policy would have earned, from a log of somebody else's decisions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._experiment import Columns, _axes
from ._graph import must_be


@dataclass(frozen=True, repr=False)
class Evaluation:
    """What bandits would have earned, and what the log earned itself, ``log``, with ``log_interval``.

    ``warnings`` says for each bandit, in sentences, which estimates cannot be trusted and why. A log without decisions
    has no estimates: then ``diagnostics`` says how well rewards were foretold.
    """

    log: float
    log_interval: tuple[float, float]
    users: int
    warnings: dict[str, list[str]]
    results: list[dict[str, Any]]

    def columns(self) -> Columns:
        """A row for every bandit and estimator, as columns for ``pandas.DataFrame`` or ``polars.DataFrame``.

        ``value`` is what a decision would have earned, between ``low`` and ``high`` (95 %, users drawn anew), ``gain``
        how much more than the log. ``bernstein_`` and ``clopper_pearson_`` take rounds for independent; nan where they
        say nothing.
        """
        rows = [
            {"name": result["name"], **_rule(result), **row} for result in self.results for row in result["estimates"]
        ]
        return _columns(rows)

    def diagnostics(self) -> Columns:
        """A row for every bandit: how much of the log speaks of it, and how well it foretold rewards."""
        return _columns([{"name": result["name"], **_rule(result), **result["diagnostics"]} for result in self.results])

    def frame(self) -> Any:
        """``columns()`` as a ``pandas.DataFrame``."""
        try:
            import pandas
        except ImportError:
            raise ImportError("frame needs pandas: pip install pandas, or take the columns() as they are") from None
        return pandas.DataFrame(self.columns())

    def plot(self, ax: Any = None, estimators: Sequence[str] = ("snips", "dr", "switch_dr"), **bars: Any) -> Any:
        """Draws estimates with their intervals beside what the log earned, into the given axes or new ones."""
        axes = _axes(ax)
        columns = self.columns()
        if not columns:
            raise ValueError("the log has no decisions, so there is nothing to draw; diagnostics() has what there is")
        places: list[int] = []
        labels: list[str] = []
        for result in self.results:
            for name in estimators:
                row = (columns["name"] == result["name"]) & (columns["estimator"] == name)
                if not row.any():
                    known = ", ".join(dict.fromkeys(columns["estimator"].tolist()))
                    raise ValueError(f"estimators: {name!r} (must be some of {known})")
                value, low, high = (float(columns[part][row][0]) for part in ("value", "low", "high"))
                places.append(len(places))
                labels.append(f"{result['name']} {name}")
                axes.errorbar(
                    [value], [places[-1]], xerr=[[value - low], [high - value]], **{"fmt": "o", "capsize": 3, **bars}
                )
        axes.axvline(self.log, linestyle="--", color="gray", label="the log")
        axes.axvspan(*self.log_interval, color="gray", alpha=0.15)
        axes.set_yticks(places, labels)
        axes.invert_yaxis()
        axes.set_xlabel("reward a decision")
        axes.legend()
        return axes

    def __repr__(self) -> str:
        best = [
            f"{result['name']} {row['value']:.4g} ({row['low']:.4g} to {row['high']:.4g})"
            for result in self.results
            for row in result["estimates"]
            if row["estimator"] == "dr"
        ]
        return f"Evaluation(the log earned {self.log:.4g}; by dr: {', '.join(best) if best else 'no decisions'})"


def evaluate(
    log: Any,
    bandits: _core.Bandit | Iterable[_core.Bandit] | Mapping[str, _core.Bandit],
    *,
    items: Any = None,
    learn: str = "matched",
    uniform: bool = False,
    clip: float = 100.0,
    resamples: int = 1000,
    seed: int = 0,
) -> Evaluation:
    """What bandits would have earned, from a log of decisions that somebody else took.

    The log says for each decision what could have been shown, what was, what that earned, and how probable it was that
    it would be shown. The bandits stay as they are: copies of them go through the log.

    Parameters
    ----------
    log : a pandas or polars frame, a dict of columns, or a list of dicts, with the columns
        ``user``; a user whom a bandit does not know joins it without friends;
        ``contexts``, an array of shape (candidates, dimension) in every row, or ``items``, a list of names;
        ``action``, which of them was shown, and its ``reward``;
        ``probability``, that with which the log chose it.
        With ``context`` or ``item`` in the place of ``contexts``, nobody knows what else could have been shown: it is
        only said how well rewards are foretold
    bandits : one, several, or a dict that gives them names
    items : the items' contexts: a dict, or a frame with the names in its first column and numbers in the others
    learn : what the copies learn on the way: ``"matched"``, the rewards of decisions that are their own, as they would
        live; ``"all"``; or ``"none"``, for bandits that were fitted before
    uniform : the log chose every candidate with the same probability, and has no column ``probability``
    clip : weights above it are cut off by ``clipped_ips``, and not used by ``switch_dr``
    resamples, seed : of the bootstrap, and of the chance in decisions

    >>> import goblin
    >>> import numpy as np
    >>> random = np.random.default_rng(1)
    >>> contexts = random.random((500, 3, 2))
    >>> action = random.integers(3, size=500)
    >>> reward = contexts[np.arange(500), action, 0]                      # everybody likes the first number
    >>> log = {"user": np.arange(500) % 50, "contexts": contexts, "action": action, "reward": reward}
    >>> result = goblin.evaluate(log, goblin.LinUcbSin([(0, 1)], dimension=2), uniform=True)
    >>> dr = result.columns()["estimator"] == "dr"
    >>> bool(result.columns()["gain_low"][dr][0] > 0.1)                   # it would earn more, surely
    True
    """
    named = _named(bandits)
    if not named:
        raise ValueError("bandits: none (must be at least 1)")
    dimension = next(iter(named.values())).dimension
    for name, bandit in named.items():
        if bandit.dimension != dimension:
            raise ValueError(
                f"bandits: {name} is of dimension {bandit.dimension} (must be that of the first, {dimension})"
            )
    table = _table(log)
    rows = len(table["user"])
    if rows < 2:
        raise ValueError(f"log: {rows} rows (must be at least 2)")
    contexts, ends, one_each = _contexts(table, items, dimension)
    actions = np.full(rows, -1, dtype=np.int64) if one_each else _whole(_column(table, "action"), "action")
    if one_each:
        probabilities = np.ones(rows)
    else:
        counts = np.diff(ends, prepend=0)
        wrong = np.flatnonzero((actions < 0) | (actions >= counts))
        if wrong.size:
            row = int(wrong[0])
            raise ValueError(f"row {row}: action: {actions[row]} (must be a whole number from 0 to {counts[row] - 1})")
        probabilities = _probabilities(table, counts, uniform)
    rewards = _numbers(_column(table, "reward"), "reward")
    users, numbers = _core.numbered_names(table["user"], 1, "user")
    copies = [bandit.copy() for bandit in named.values()]
    for bandit in copies:
        for user in users:
            if user not in bandit:
                bandit.add_user(user)
    results = _core.evaluate(
        copies, table["user"], numbers, contexts, ends, actions, rewards, probabilities, learn, seed, clip, resamples
    )
    for result, name in zip(results, named, strict=True):
        result["name"] = name
    first = results[0]
    return Evaluation(
        log=first["log"],
        log_interval=(first["log_low"], first["log_high"]),
        users=first["users"],
        warnings={result["name"]: result["warnings"] for result in results},
        results=results,
    )


def _named(bandits: Any) -> dict[str, Any]:
    """The bandits by their names: those that are given, or else their policies, told apart by their rules."""
    if isinstance(bandits, Mapping):
        given = {str(name): bandit for name, bandit in bandits.items()}
    else:
        listed = [bandits] if isinstance(bandits, _core.Bandit) else list(bandits)
        for k, bandit in enumerate(listed):
            must_be(bandit, _core.Bandit, f"bandits[{k}]")
        policies = [bandit.policy for bandit in listed]
        given = {}
        for policy, bandit in zip(policies, listed, strict=True):
            name = policy if policies.count(policy) == 1 else f"{policy} {bandit.exploration}"
            given[name if name not in given else f"{name} #{len(given)}"] = bandit
    for name, bandit in given.items():
        must_be(bandit, _core.Bandit, f"bandits[{name!r}]")
    return given


def _table(log: Any) -> dict[str, Any]:
    """The columns of a log by name, each something with a length."""
    if hasattr(log, "columns") and hasattr(log, "__getitem__"):
        table = {str(name): log[name] for name in log.columns}
    elif isinstance(log, Mapping):
        table = {str(name): column for name, column in log.items()}
    else:
        rows = list(log)
        for k, row in enumerate(rows):
            if not isinstance(row, Mapping) or row.keys() != rows[0].keys():
                raise ValueError(f"row {k}: {row!r} (must be a dict with the names that all rows have)")
        table = {str(name): [row[name] for row in rows] for name in (rows[0] if rows else {})}
    table = {name: column.to_list() if hasattr(column, "to_list") else column for name, column in table.items()}
    users = _column(table, "user")
    table["user"] = users.tolist() if hasattr(users, "tolist") else list(users)
    for name, column in table.items():
        if len(column) != len(table["user"]):
            raise ValueError(f"{name}: {len(column)} rows (must be {len(table['user'])}, as many as users)")
    return table


def _column(table: dict[str, Any], name: str) -> Any:
    if name not in table:
        raise ValueError(f"log: no column {name!r} (there are {', '.join(table) or 'none'})")
    return table[name]


def _contexts(table: dict[str, Any], items: Any, dimension: int) -> tuple[NDArray[Any], NDArray[np.int64], bool]:
    """All contexts below each other, where those of each row end, and whether each row has one, which was shown."""
    kinds = [name for name in ("contexts", "items", "context", "item") if name in table]
    if len(kinds) != 1:
        raise ValueError(
            f"log: has {' and '.join(kinds) or 'neither'} (must have one of contexts, items, context, item)"
        )
    kind = kinds[0]
    one_each = kind in ("context", "item")
    if kind in ("items", "item"):
        known = _items(items)
        parts = [_looked_up(known, [row] if one_each else row, kind, k) for k, row in enumerate(table[kind])]
    else:
        parts = [np.asarray(row, dtype=np.float64) for row in table[kind]]
        parts = [part[np.newaxis] if one_each else part for part in parts]
    for row, part in enumerate(parts):
        if part.ndim != 2 or part.shape[0] == 0 or part.shape[1] != dimension:
            shape = part.shape[1:] if one_each else part.shape
            wanted = f"({dimension},)" if one_each else f"(candidates, {dimension})"
            raise ValueError(f"row {row}: {kind}: shape {shape} (must be {wanted})")
    ends = np.cumsum([len(part) for part in parts], dtype=np.int64)
    return np.concatenate(parts), ends, one_each


def _items(items: Any) -> dict[Any, NDArray[np.float64]]:
    if items is None:
        raise ValueError(
            "items: None (must say what the items of the log are: a dict from item to numbers, or a frame)"
        )
    if hasattr(items, "columns"):
        names, *numbers = (items[name] for name in items.columns)
        rows = np.column_stack([np.asarray(column, dtype=np.float64) for column in numbers])
        return dict(zip(names, rows, strict=True))
    return {name: np.asarray(numbers, dtype=np.float64) for name, numbers in items.items()}


def _looked_up(known: dict[Any, NDArray[np.float64]], names: Any, kind: str, row: int) -> NDArray[np.float64]:
    for name in names:
        if name not in known:
            raise ValueError(f"row {row}: {kind}: {name!r} is not one of the {len(known)} items")
    return np.array([known[name] for name in names])


def _numbers(column: Any, name: str) -> NDArray[np.float64]:
    try:
        numbers = np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: has something else than numbers (must be one number a row)") from None
    if numbers.ndim != 1:
        raise ValueError(f"{name}: shape {numbers.shape} (must be one number a row)")
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if wrong.size:
        raise ValueError(f"row {int(wrong[0])}: {name}: {numbers[wrong[0]]} (must be finite)")
    return numbers


def _whole(column: Any, name: str) -> NDArray[np.int64]:
    numbers = _numbers(column, name)
    wrong = np.flatnonzero(numbers != np.floor(numbers))
    if wrong.size:
        raise ValueError(f"row {int(wrong[0])}: {name}: {numbers[wrong[0]]} (must be a whole number)")
    return numbers.astype(np.int64)


def _probabilities(table: dict[str, Any], counts: NDArray[np.int64], uniform: bool) -> NDArray[np.float64]:
    if "probability" not in table:
        if not uniform:
            raise ValueError(
                "log: no column 'probability': that with which the log chose what was shown. Log it with every "
                "decision (Bandit.decide gives it); if every candidate was as probable as the others, say uniform=True"
            )
        return 1.0 / counts
    probabilities = _numbers(table["probability"], "probability")
    if uniform and not np.allclose(probabilities * counts, 1.0, rtol=1e-6):
        raise ValueError("uniform: True (must be False: the log has other probabilities)")
    return probabilities


def _rule(result: dict[str, Any]) -> dict[str, Any]:
    return {"policy": result["policy"], "exploration": result["exploration"]}


def _columns(rows: list[dict[str, Any]]) -> Columns:
    return {name: np.array([row[name] for row in rows]) for name in rows[0]} if rows else {}
