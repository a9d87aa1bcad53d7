"""NumPy's GOB.Lin and LinUCB choose what goblin chooses, in a small world. Usage: numpy_test.py GOBLIN_PEERS PEERS

Without NumPy it says so and exits with 77: skipped.
"""

import subprocess
import sys
import tempfile

try:
    import numpy  # noqa: F401
except ImportError:
    print("skipped: no NumPy")
    sys.exit(77)

goblin_peers, peers = sys.argv[1:]
sys.path.insert(0, peers)
sys.dont_write_bytecode = True

import gob_lin  # noqa: E402

import world  # noqa: E402

failures = 0
with tempfile.TemporaryDirectory() as folder:
    for size, dimension, noise in ((4, 3, 6), (1, 1, 0), (5, 8, 20)):
        subprocess.run(
            [
                goblin_peers,
                "--out",
                folder,
                "--cliques",
                "3",
                "--size",
                str(size),
                "--dimension",
                str(dimension),
                "--arms",
                "5",
                "--graph-noise",
                str(noise),
                "--rounds",
                "300",
            ],
            check=True,
        )
        rounds = world.World(folder)
        for policy, goblin in rounds.goblin.items():
            outcome = world.play(gob_lin.Policy(policy, rounds), rounds, goblin["choices"])
            same = outcome["agreement"]
            print(f"{policy}, {rounds.users} users, d = {dimension}: {100 * same:.1f} % of choices the same")
            failures += same < 1.0 or abs(outcome["reward"] - goblin["reward"]) > 1e-9
sys.exit(1 if failures else 0)
