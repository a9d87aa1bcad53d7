"""Settings from a log, and whether its graph helps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas
import polars
import pytest

import goblin


def friends() -> list[tuple[int, int]]:
    return [(a, b) for a in range(24) for b in range(a) if a // 8 == b // 8]


def log(rows: int = 600, noise: float = 0.3) -> dict[str, Any]:
    random = np.random.default_rng(3)
    tastes = np.repeat(random.normal(size=(3, 2)), 8, axis=0)
    user = random.integers(24, size=rows)
    x = random.normal(size=(rows, 2))
    reward = (x * tastes[user]).sum(axis=1) + noise * random.normal(size=rows)
    return {"user": user, "x": x[:, 0], "y": x[:, 1], "reward": reward}


def test_finds_the_noise_and_that_the_graph_helps() -> None:
    result = goblin.tune(log(), friends())
    assert result.graph_helps == "yes"
    assert result.best == "gob.lin"
    assert result.settings("gob.lin")["alpha"] == pytest.approx(0.3, rel=0.1)
    assert sorted(result.settings("linucb-ind")) == ["alpha", "ridge"]
    bandit = goblin.GobLin(friends(), dimension=2, **result.settings("gob.lin"))
    assert bandit.dimension == 2
    assert "yes" in repr(result)


def test_takes_every_form_of_a_log() -> None:
    columns = log(200)
    x = np.column_stack([columns["x"], columns["y"]])
    same = {"user": columns["user"], "reward": columns["reward"]}
    expected = goblin.tune(columns, friends()).columns()
    shown = np.arange(200) % 3
    candidates = np.zeros((200, 3, 2))
    candidates[np.arange(200), shown] = x
    items = {k: x[k] for k in range(200)}
    for form in (
        pandas.DataFrame(columns),
        polars.DataFrame(columns),
        {**same, "context": x},
        {**same, "contexts": candidates, "action": shown},
        {**same, "item": np.arange(200)},
    ):
        found = goblin.tune(form, goblin.Graph(friends()), items=items).columns()
        assert found["log_likelihood"].tolist() == expected["log_likelihood"].tolist()
    with pytest.raises(ValueError, match="action"):
        goblin.tune({**same, "contexts": candidates, "action": shown + 1}, friends())


def test_gives_frames_and_a_plot() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    result = goblin.tune(log(200), friends(), policies=["gob.lin.block", "gob.lin.hub"], clusters=3)
    assert list(result.frame()["policy"]) == ["linucb-sin", "linucb-ind", "gob.lin", "gob.lin.block", "gob.lin.hub"]
    assert result.frame("by_cluster")["users"].sum() == len(result.frame("user_gains"))
    assert set(result.columns("tried")["policy"]) == set(result.columns()["policy"])
    assert "hub_weight" in result.settings("gob.lin.hub")
    assert len(result.plot().get_lines()) == 6
    with pytest.raises(ValueError, match="table"):
        result.columns("nothing")


def test_knows_what_to_do_with_strangers() -> None:
    columns = log(200)
    columns["user"] = columns["user"].copy()
    columns["user"][7] = 99
    with pytest.raises(goblin.UnknownUser, match="row 7: user 99"):
        goblin.tune(columns, friends())
    assert goblin.tune(columns, friends(), unknown="skip").rewards == 199
    assert goblin.tune(columns, friends(), unknown="add").rewards == 200
    with pytest.raises(ValueError, match="unknown"):
        goblin.tune(columns, friends(), unknown="ignore")


def test_an_intercept_helps_where_rewards_are_high() -> None:
    columns = log(400)
    columns["reward"] = columns["reward"] + 5.0
    without = goblin.tune(columns, friends())
    assert any("intercept" in warning for warning in without.warnings)
    with_one = goblin.tune(columns, friends(), intercept=True)
    assert with_one.columns()["squared_error"].min() < 0.2 * without.columns()["squared_error"].min()


def test_refuses_bad_logs() -> None:
    with pytest.raises(ValueError, match="at least 2"):
        goblin.tune({"user": [0], "x": [1.0], "reward": [1.0]}, friends())
    with pytest.raises(ValueError, match="must differ"):
        goblin.tune({"user": [0, 1], "x": [1.0, 2.0], "reward": [1.0, 1.0]}, friends())
    with pytest.raises(ValueError, match="reward"):
        goblin.tune({"user": [0, 1], "x": [1.0, 2.0]}, friends())
    with pytest.raises(ValueError, match="finite"):
        goblin.tune({"user": [0, 1], "x": [1.0, np.nan], "reward": [1.0, 0.0]}, friends())
    with pytest.raises(ValueError, match="when: has something else than numbers"):
        goblin.tune({"user": [0, 1], "x": [1.0, 2.0], "when": ["monday", "friday"], "reward": [1.0, 0.0]}, friends())
    with pytest.raises(ValueError, match=r"reward: shape \(2, 1\)"):
        goblin.tune({"user": [0, 1], "x": [1.0, 2.0], "reward": [[1.0], [0.0]]}, friends())
    with pytest.raises(ValueError, match="policy"):
        goblin.tune(log(50), friends(), policies="club")


def decisions(rows: int = 2500) -> dict[str, Any]:
    """A log that chose one of five candidates at random."""
    random = np.random.default_rng(4)
    tastes = np.repeat(random.normal(size=(3, 2)), 8, axis=0)
    user = random.integers(24, size=rows)
    contexts = random.normal(size=(rows, 5, 2))
    action = random.integers(5, size=rows)
    shown = contexts[np.arange(rows), action]
    reward = (shown * tastes[user]).sum(axis=1) + 0.3 * random.normal(size=rows)
    return {
        "user": user,
        "contexts": contexts,
        "action": action,
        "reward": reward,
        "probability": np.full(rows, 0.2),
    }


def test_finds_alpha_by_replay() -> None:
    columns = decisions()
    result = goblin.tune(columns, friends(), replay=True, rewirings=1, intercept=True)
    alphas = result.frame("alphas")
    assert list(alphas[alphas["policy"] == "linucb-ind"]["of_noise"]) == [0.0, 0.01, 0.1, 0.3, 1.0, 3.0]
    assert list(alphas[alphas["policy"] == "gob.lin"]["of_noise"]) == [0.0, 0.01, 0.1, 0.3, 1.0, 3.0] + [0.01, 0.1] * 2
    assert list(alphas[alphas["policy"] == "gob.lin"]["of_coupling"])[6:] == [0.1, 0.1, 0.03, 0.03]
    policies = result.frame().set_index("policy")
    for policy, row in policies.iterrows():
        tried = alphas[alphas["policy"] == policy]
        assert tried[tried["chosen"]]["alpha"].tolist() == [row["alpha"]]
        assert (row["alpha_by"] == "replay") == (row["replay"] == "another")
        assert row["coupling_by_replay"] == (tried[tried["chosen"]]["of_coupling"].item() != 1.0)
        assert row["replay_reason"]
        noise = tried[tried["of_noise"] == 1.0].iloc[0]
        assert noise["gain"] == 0.0
        assert np.allclose(tried["gain"], tried["value"] - noise["value"])
    assert result.settings("gob.lin")["alpha"] == policies.loc["gob.lin", "alpha"]
    del columns["probability"]
    same = goblin.tune(columns, friends(), replay=True, uniform=True, rewirings=1, intercept=True, threads=1)
    assert same.frame("alphas").equals(alphas)


def test_says_why_alpha_is_not_found_by_replay() -> None:
    without = goblin.tune(log(200), friends(), rewirings=1)
    assert without.columns()["replay"].tolist() == ["", "", ""]
    assert without.columns("alphas") == {}
    shown = goblin.tune(log(200), friends(), rewirings=1, replay=True)
    assert set(shown.columns()["replay"]) == {"not done"}
    assert "no decisions" in shown.columns()["replay_reason"][0]
    columns = decisions(300)
    few = goblin.tune(columns, friends(), rewirings=1, replay=True)
    assert "too few" in few.columns()["replay_reason"][0]
    del columns["probability"]
    unknown = goblin.tune(columns, friends(), rewirings=1, replay=True)
    assert "300 of 300 decisions have no probability" in unknown.columns()["replay_reason"][0]
    with pytest.raises(ValueError, match="uniform: True"):
        goblin.tune(columns, friends(), uniform=True)
    with pytest.raises(ValueError, match=r"row 3: probability: 1\.5 \(must be above 0 and at most 1\)"):
        goblin.tune({**columns, "probability": [0.2] * 3 + [1.5] * 297}, friends(), replay=True)
    columns["contexts"][7, (columns["action"][7] + 1) % 5, 0] = np.inf
    columns["user"][2] = 99
    with pytest.raises(ValueError, match=r"row 7: .*finite"):
        goblin.tune(columns, friends(), rewirings=0, replay=True, uniform=True, unknown="skip")
