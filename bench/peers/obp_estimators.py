"""Compares `goblin evaluate` with the estimators of the Open Bandit Pipeline (obp) on the same logs.

Not part of `./dev test`, because obp asks for torch. By hand, in an environment of its own:

    python3 -m venv build/bench/obp
    build/bench/obp/bin/pip install --no-deps --requirement bench/peers/obp_requirements.txt
    build/bench/obp/bin/python bench/peers/obp_estimators.py build/release/apps/goblin/goblin

Prints every estimate of both and their difference; the exit code is 1 if one is above 1e-9.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import subprocess
import sys
import tempfile
import types
from pathlib import Path
from typing import Any

import numpy as np


def stand_in(name: str, folder: Path | None = None) -> None:
    """A module that has every name and does nothing, or a package of which only the modules are imported."""
    module = types.ModuleType(name)
    if folder is None:
        module.__getattr__ = lambda attribute: object  # type: ignore[method-assign]
    else:
        module.__path__ = [str(folder)]
    sys.modules[name] = module


# obp's estimators need NumPy only; what else obp imports is left out.
for unused in ("torch", "pandas", "sklearn", "sklearn.utils"):
    stand_in(unused)
place = importlib.util.find_spec("obp")
assert place is not None and place.origin is not None
stand_in("obp", Path(place.origin).parent)
stand_in("obp.ope", Path(place.origin).parent / "ope")
obp: Any = importlib.import_module("obp.ope.estimators")

ROWS, USERS, ARMS, DIMENSION, EPSILON = 2000, 60, 5, 3, 0.2
ALLOWED = 1e-9


def make_log(seed: int, uniform: bool) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    contexts = random.uniform(-1, 1, (ROWS, ARMS, DIMENSION))
    user = random.integers(USERS, size=ROWS)
    p = np.full((ROWS, ARMS), 1 / ARMS)
    if not uniform:
        p = 0.05 + 0.75 * random.dirichlet(np.ones(ARMS), size=ROWS)
    action = np.array([random.choice(ARMS, p=row) for row in p])
    taste = np.random.default_rng(9).normal(0, 0.3, (USERS, DIMENSION))[user]
    shown = contexts[np.arange(ROWS), action]
    reward = (random.random(ROWS) < np.clip(0.4 + (taste * shown).sum(axis=1), 0, 1)).astype(float)
    return {"user": user, "contexts": contexts, "action": action, "reward": reward, "p": p[np.arange(ROWS), action]}


def lines(log: dict[str, Any], decided: bool) -> str:
    text = ""
    for k in range(ROWS):
        line = {"user": int(log["user"][k]), "contexts": log["contexts"][k].tolist()}
        if decided:
            line |= {"action": int(log["action"][k]), "reward": log["reward"][k], "probability": log["p"][k]}
        text += json.dumps(line) + "\n"
    return text


def goblin_says(goblin: str, folder: Path, log: dict[str, Any], rule: str, clip: float) -> tuple[Any, Any]:
    """The estimates of a bandit that was fitted to another log and is held fixed, and its means of all candidates."""

    def call(*arguments: str, given: str = "") -> str:
        done = subprocess.run([goblin, *arguments], cwd=folder, input=given, capture_output=True, text=True, check=True)
        return done.stdout

    (folder / "edges.tsv").write_text("".join(f"{k}\t{k + 1}\n" for k in range(USERS - 1)))
    (folder / "before.jsonl").write_text(lines(make_log(77, True), True))
    (folder / "log.jsonl").write_text(lines(log, True))
    new = ("--graph", "edges.tsv", "--dimension", str(DIMENSION), "--explore", rule)
    call("fit", *new, "--events", "before.jsonl", "--save", "model")
    said = json.loads(call("evaluate", "--load", "model", "--events", "log.jsonl", "--clip", str(clip), "--json"))
    decisions = call("replay", "--load", "model", given=lines(log, False)).splitlines()
    means = np.array([json.loads(line)["means"] for line in decisions])
    return {estimate["estimator"]: estimate["value"] for estimate in said["estimates"]}, means


def main() -> int:
    worst = 0.0
    for rule, epsilon in (("greedy", 0.0), (f"epsilon_greedy:{EPSILON}", EPSILON)):
        for uniform in (True, False):
            log = make_log(5, uniform)
            clip = 4.0
            with tempfile.TemporaryDirectory() as folder:
                ours, means = goblin_says(sys.argv[1], Path(folder), log, rule, clip)
            pi = np.full(means.shape, epsilon / ARMS)
            pi[np.arange(ROWS), means.argmax(axis=1)] += 1 - epsilon
            given = {
                "reward": log["reward"],
                "action": log["action"],
                "pscore": log["p"],
                "action_dist": pi[:, :, np.newaxis],
                "estimated_rewards_by_reg_model": means[:, :, np.newaxis],
                "position": np.zeros(ROWS, dtype=int),
            }
            theirs = {
                "ips": obp.InverseProbabilityWeighting(),
                "snips": obp.SelfNormalizedInverseProbabilityWeighting(),
                "dm": obp.DirectMethod(),
                "dr": obp.DoublyRobust(),
                "switch_dr": obp.SwitchDoublyRobust(tau=clip),
            }
            if epsilon == 0:
                theirs["replay"] = obp.ReplayMethod()
            print(f"{rule}, a log that chose {'uniformly' if uniform else 'otherwise'}")
            for estimator, peer in theirs.items():
                value = peer.estimate_policy_value(**given)
                difference = abs(value - ours[estimator])
                worst = max(worst, difference)
                print(f"  {estimator:10} goblin {ours[estimator]:.12f}  obp {value:.12f}  difference {difference:.1e}")
    print(f"largest difference {worst:.1e} (allowed {ALLOWED:.0e})")
    return int(worst > ALLOWED)


if __name__ == "__main__":
    sys.exit(main())
