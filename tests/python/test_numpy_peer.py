"""GOB.Lin and LinUCB in plain NumPy, with which the benchmarks compare, choose what goblin chooses in small worlds."""

from __future__ import annotations

import importlib
import subprocess
from pathlib import Path

import pytest


@pytest.mark.parametrize(("size", "dimension", "noise"), [(4, 3, 6), (1, 1, 0), (5, 8, 20)])
def test_numpy_chooses_what_goblin_chooses(
    size: int,
    dimension: int,
    noise: int,
    source: Path,
    peers_program: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(source / "bench" / "peers"))
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    gob_lin, world = importlib.import_module("gob_lin"), importlib.import_module("world")
    options = {"cliques": 3, "size": size, "dimension": dimension, "arms": 5, "graph-noise": noise, "rounds": 300}
    arguments = [f"--{name}={value}" for name, value in options.items()]
    subprocess.run([peers_program, f"--out={tmp_path}", *arguments], check=True)
    rounds = world.World(str(tmp_path))
    assert len(rounds.goblin) > 1
    for policy, goblin in rounds.goblin.items():
        outcome = world.play(gob_lin.Policy(policy, rounds), rounds, goblin["choices"])
        assert outcome["agreement"] == 1.0, policy
        assert outcome["reward"] == pytest.approx(goblin["reward"], abs=1e-9), policy
