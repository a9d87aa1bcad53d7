"""What policies would have earned: the formulas in NumPy, the command line, frames, and what is refused."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import goblin

ROWS, USERS, ARMS = 600, 40, 4


@pytest.fixture
def log(random: np.random.Generator) -> dict[str, Any]:
    """Decisions that prefer one candidate; every user likes another mix of the two numbers."""
    contexts = random.random((ROWS, ARMS, 2))
    user = random.integers(USERS, size=ROWS)
    p = np.full((ROWS, ARMS), 0.2)
    p[np.arange(ROWS), contexts[:, :, 0].argmax(axis=1)] = 0.4
    action = np.array([random.choice(ARMS, p=row) for row in p])
    shown = contexts[np.arange(ROWS), action]
    taste = np.stack([np.linspace(0, 1, USERS), np.linspace(1, 0, USERS)], axis=1)[user]
    reward = (random.random(ROWS) < (shown * taste).sum(axis=1)).astype(float)
    probability = p[np.arange(ROWS), action]
    return {"user": user, "contexts": contexts, "action": action, "reward": reward, "probability": probability}


def fitted(log: dict[str, Any], exploration: str) -> goblin.Bandit:
    edges = [(k, k + 1) for k in range(USERS - 1)]
    bandit = goblin.GobLin(edges, dimension=2, exploration=exploration)
    shown = log["contexts"][np.arange(ROWS), log["action"]]
    return bandit.partial_fit(log["user"][:100], shown[:100], log["reward"][:100])


def values(result: goblin.Evaluation) -> dict[str, float]:
    columns = result.columns()
    return dict(zip(columns["estimator"].tolist(), columns["value"].tolist(), strict=True))


@pytest.mark.parametrize("exploration", ["ucb:0.2", "epsilon_greedy:0.3", "square_cb:4"])
def test_formulas(log: dict[str, Any], exploration: str) -> None:
    bandit = fitted(log, exploration)
    found = values(goblin.evaluate(log, bandit, learn="none", clip=2.0, seed=3))
    pi = np.array([bandit.probabilities(u, X) for u, X in zip(log["user"], log["contexts"], strict=True)])
    q = bandit.predict_expectations(log["user"], log["contexts"])
    rows = np.arange(ROWS)
    a, r = log["action"], log["reward"]
    w = pi[rows, a] / log["probability"]
    v = (pi * q).sum(axis=1)
    correction = w * (r - q[rows, a])
    own = np.array(
        [
            bandit.decide(u, X, seed=3, decision=k).arm
            for k, (u, X) in enumerate(zip(log["user"], log["contexts"], strict=True))
        ]
    )
    expected = {
        "replay": r[own == a].mean(),
        "ips": (w * r).mean(),
        "clipped_ips": (np.minimum(w, 2.0) * r).mean(),
        "snips": (w * r).sum() / w.sum(),
        "dm": v.mean(),
        "dr": (v + correction).mean(),
        "switch_dr": (v + correction * (w <= 2.0)).mean(),
    }
    assert list(found) == list(expected)
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, abs=1e-9), name


def test_the_command_line_says_the_same(log: dict[str, Any], command: Path, tmp_path: Path) -> None:
    bandit = goblin.GobLin([(k, k + 1) for k in range(USERS - 1)], dimension=2, alpha=0.2)
    result = goblin.evaluate(log, bandit)
    (tmp_path / "edges.tsv").write_text("".join(f"{k}\t{k + 1}\n" for k in range(USERS - 1)))
    names = ("user", "contexts", "action", "reward", "probability")
    lines = [json.dumps({name: np.asarray(log[name][k]).tolist() for name in names}) for k in range(ROWS)]
    (tmp_path / "log.jsonl").write_text("\n".join(lines) + "\n")
    words = ["evaluate", "--graph", "edges.tsv", "--events", "log.jsonl", "--alpha", "0.2", "--json"]
    said = json.loads(subprocess.run([command, *words], cwd=tmp_path, capture_output=True, check=True).stdout)
    assert said["log"] == pytest.approx(result.log, abs=1e-12)
    assert said["log_low"] == pytest.approx(result.log_interval[0], abs=1e-12)
    columns = result.columns()
    for k, estimate in enumerate(said["estimates"]):
        assert estimate["estimator"] == columns["estimator"][k]
        for name in ("value", "low", "high"):
            assert estimate[name] == pytest.approx(columns[name][k], abs=1e-9)


def test_frames_of_all_kinds(log: dict[str, Any]) -> None:
    bandit = goblin.LinUcbSin([(0, 1)], dimension=2)
    lists = {name: column.tolist() for name, column in log.items()}
    rows = [{name: column[k] for name, column in lists.items()} for k in range(ROWS)]
    expected = values(goblin.evaluate(log, bandit))
    for given in (pd.DataFrame(lists), pl.DataFrame(lists), lists, rows):
        assert values(goblin.evaluate(given, bandit)) == expected
    frame = goblin.evaluate(log, bandit).frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame.loc[frame.estimator == "dr", "value"].item() == expected["dr"]
    assert bandit.rewards == 0 and len(bandit) == 2  # copies went through the log


def test_items_by_name(log: dict[str, Any]) -> None:
    names = [f"item{k}" for k in range(12)]
    numbers = np.random.default_rng(1).random((12, 2))
    chosen = np.random.default_rng(2).integers(12, size=(ROWS, ARMS))
    bandit = goblin.LinUcbSin([(0, 1)], dimension=2)
    by_name = {**log, "items": [[names[k] for k in row] for row in chosen]}
    del by_name["contexts"]
    expected = values(goblin.evaluate({**log, "contexts": numbers[chosen]}, bandit))
    assert values(goblin.evaluate(by_name, bandit, items=dict(zip(names, numbers, strict=True)))) == expected
    frame = pd.DataFrame({"name": names, "a": numbers[:, 0], "b": numbers[:, 1]})
    assert values(goblin.evaluate(by_name, bandit, items=frame)) == expected
    with pytest.raises(ValueError, match=r"row 0: items: 'item.*' is not one of the 1 items"):
        goblin.evaluate(by_name, bandit, items={"tea": [1.0, 0.0]})


def test_one_item_shown(log: dict[str, Any]) -> None:
    shown = log["contexts"][np.arange(ROWS), log["action"]]
    one = {"user": log["user"], "context": shown, "reward": log["reward"]}
    result = goblin.evaluate(one, {"mine": goblin.GobLin([(0, 1)], dimension=2)}, learn="all")
    assert result.columns() == {}
    found = result.diagnostics()
    assert found["name"].tolist() == ["mine"]
    assert found["squared_error_of_mean"][0] == pytest.approx(0.25, abs=0.02)
    assert "no decisions" in repr(result)
    with pytest.raises(ValueError, match="nothing to draw"):
        result.plot()


def test_several_bandits_have_names(log: dict[str, Any]) -> None:
    edges = [(k, k + 1) for k in range(USERS - 1)]
    bandits = [goblin.GobLin(edges, dimension=2, alpha=a) for a in (0.0, 0.3)] + [goblin.LinUcbInd(edges, dimension=2)]
    result = goblin.evaluate(log, bandits)
    assert list(result.warnings) == ["gob.lin ucb:0", "gob.lin ucb:0.3", "linucb-ind"]
    assert "the log did not choose uniformly" in result.warnings["linucb-ind"][0]
    assert repr(result).startswith("Evaluation(the log earned 0.")


def test_plot(log: dict[str, Any]) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    result = goblin.evaluate(log, goblin.LinUcbSin([(0, 1)], dimension=2))
    axes = result.plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "linucb-sin snips",
        "linucb-sin dr",
        "linucb-sin switch_dr",
    ]
    assert result.plot(ax=axes, estimators=["ips"]) is axes
    with pytest.raises(ValueError, match="estimators: 'some'"):
        result.plot(estimators=["some"])


def test_what_is_refused(log: dict[str, Any]) -> None:
    bandit = goblin.LinUcbSin([(0, 1)], dimension=2)

    def changed(**columns: Any) -> dict[str, Any]:
        return {name: column for name, column in {**log, **columns}.items() if column is not None}

    action, probability, reward = log["action"].copy(), log["probability"].copy(), log["reward"].copy()
    action[7], probability[8], reward[9] = 4, 0.0, np.nan
    for given, message in (
        (changed(probability=None), "no column 'probability'.*uniform=True"),
        (changed(probability=probability), r"row 8: probability: 0 \(must be above 0"),
        (changed(action=action), r"row 7: action: 4 \(must be a whole number from 0 to 3\)"),
        (changed(action=None), "no column 'action'"),
        (changed(reward=reward), r"row 9: reward: nan \(must be finite\)"),
        (changed(contexts=log["contexts"][:, :, :1]), r"row 0: contexts: shape \(4, 1\) \(must be \(candidates, 2\)\)"),
        (changed(contexts=None), "must have one of contexts, items, context, item"),
        (changed(user=log["user"][:-1]), "contexts: 600 rows .must be 599"),
        ({name: column[:1] for name, column in log.items()}, r"log: 1 rows \(must be at least 2\)"),
    ):
        with pytest.raises(ValueError, match=message):
            goblin.evaluate(given, bandit)
    with pytest.raises(ValueError, match="uniform: True"):
        goblin.evaluate(log, bandit, uniform=True)
    with pytest.raises(ValueError, match="learn: 'some'"):
        goblin.evaluate(log, bandit, learn="some")
    with pytest.raises(ValueError, match="clip: 0"):
        goblin.evaluate(log, bandit, clip=0)
    with pytest.raises(ValueError, match="bandits: none"):
        goblin.evaluate(log, [])
    with pytest.raises(TypeError, match=r"bandits\[0\]: 3"):
        goblin.evaluate(log, [3])  # type: ignore[list-item]
    assert bandit.rewards == 0 and len(bandit) == 2
