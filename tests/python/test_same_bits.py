"""The same rounds through C++, the command line and Python give the same scores, to the last bit."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import goblin

POLICIES = {
    "linucb-sin": goblin.LinUcbSin,
    "linucb-ind": goblin.LinUcbInd,
    "gob.lin": goblin.GobLin,
    "gob.lin.macro": goblin.GobLinMacro,
    "gob.lin.block": goblin.GobLinBlock,
    "gob.lin.hub": goblin.GobLinHub,
    "linucb.hash": goblin.LinUcbHash,
    "club": goblin.Club,
    "dynucb": goblin.DynUcb,
}
CLUSTERED = ("gob.lin.macro", "gob.lin.block")
BUCKETS = 96  # of linucb.hash: few enough that some are shared


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def fields(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text().splitlines()]


def decisions_of_python(folder: Path, policy: str, engine: str) -> list[dict[str, Any]]:
    edges = [(a, b, float(weight)) for a, b, weight in fields(folder / "edges.tsv")]
    clusters = {"clusters": dict(fields(folder / "labels.tsv"))} if policy in CLUSTERED else {}
    buckets = {"buckets": BUCKETS} if policy == "linucb.hash" else {}
    bandit = POLICIES[policy](edges, dimension=7, alpha=0.3, engine=engine, **clusters, **buckets)
    decisions = []
    for event in lines((folder / "events.jsonl").read_text()):
        user = event["user"]
        if user not in bandit:
            bandit.add_user(user)
        if "context" in event:
            bandit.update(user, event["context"], event["reward"])
            continue
        X = np.array(event["contexts"])
        scores = bandit.scores(user, X)
        arm = bandit.select(user, X)
        assert arm == bandit.rank(user, X, 1)[0]
        named = {"scores": scores.score, "means": scores.mean, "widths": scores.width}
        if engine == "local":
            named["bounds"] = bandit.bounds(user, X)
        decisions.append({"arm": arm, **{name: values.tolist() for name, values in named.items()}})
        if "rewards" in event:
            bandit.update(user, X[arm], event["rewards"][arm])
    return decisions


@pytest.mark.parametrize("engine", ["dense", "sparse", "local"])
@pytest.mark.parametrize("policy", POLICIES)
def test_scores_are_the_same(policy: str, engine: str, command: Path, same_rounds: Path, tmp_path: Path) -> None:
    subprocess.run([same_rounds, tmp_path, policy, engine], check=True)
    in_cpp = lines((tmp_path / "decisions.jsonl").read_text())
    assert len(in_cpp) == 258

    options = ["--graph", tmp_path / "edges.tsv", "--dimension", "7", "--policy", policy, "--alpha", "0.3"]
    if policy in CLUSTERED:
        options += ["--labels", tmp_path / "labels.tsv"]
    if policy == "linucb.hash":
        options += ["--buckets", str(BUCKETS)]
    with open(tmp_path / "events.jsonl") as events:
        replayed = subprocess.run(
            [command, "replay", *options, "--engine", engine], stdin=events, capture_output=True, check=True, text=True
        )
    assert lines(replayed.stdout) == in_cpp
    assert decisions_of_python(tmp_path, policy, engine) == in_cpp


def test_a_model_goes_from_python_to_the_command_line_and_back(command: Path, tmp_path: Path) -> None:
    bandit = goblin.GobLin([("ann", "bob"), ("bob", "zoë")], dimension=2, alpha=0.5)
    bandit.update("ann", [1.0, 0.5], 1.0)
    bandit.save(tmp_path / "model")
    event = {"user": "zoë", "contexts": [[1, 0], [0, 1]], "rewards": [0.25, 0.5]}
    replayed = subprocess.run(
        [command, "replay", "--load", tmp_path / "model", "--save", tmp_path / "after"],
        input=json.dumps(event),
        capture_output=True,
        check=True,
        text=True,
    )
    [decision] = lines(replayed.stdout)
    assert decision["scores"] == bandit.scores("zoë", event["contexts"]).score.tolist()

    bandit.update("zoë", event["contexts"][decision["arm"]], event["rewards"][decision["arm"]])
    after = goblin.GobLin.load(tmp_path / "after")
    assert after.users == ["ann", "bob", "zoë"]
    assert after.scores("bob", np.eye(2)).score.tolist() == bandit.scores("bob", np.eye(2)).score.tolist()
