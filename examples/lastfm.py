"""The paper's experiment on Last.fm, with the policies that are done in seconds.

The data is looked for in the folder GOBLIN_DATA, or in shared/data beside the repository; `goblin data fetch lastfm`
gets it.
"""

import os
import sys
from pathlib import Path

import goblin

folder = Path(os.environ.get("GOBLIN_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
try:
    data = goblin.datasets.lastfm(folder)
except goblin.DataError as error:
    print(f"no data: {error}")
    sys.exit()

print(f"{len(data.users)} users, {data.graph.edge_count} friendships, {len(data.items)} artists")
world = goblin.Catalogue(data, arms=25, seed=7)

bandits: list[goblin.Bandit] = [
    goblin.LinUcbSin(data.graph, dimension=25, alpha=0.05),
    goblin.LinUcbInd(data.graph, dimension=25, alpha=0.05),
    goblin.GobLinMacro(data.graph, dimension=25, alpha=0.05, clusters=50),
]
for bandit in bandits:
    trace = goblin.simulate(bandit, world, rounds=1_000, record_every=100)
    print(f"{bandit.policy:14} reward {trace.reward:6.0f}, {trace.reward / trace.random_reward:.1f} times random")

try:
    axes = trace.plot()
    axes.figure.savefig("lastfm.png")
    print("lastfm.png has the last one's reward over the rounds")
except ImportError as error:
    print(error)
