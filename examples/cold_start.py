"""A new user in a social network: nothing is known about her, but something about her friends.

Five hundred users in ten communities are served for a while by a bandit that knows the graph (GOB.Lin) and by one
that does not (a LinUCB for each user). Then somebody joins. What is she shown
first, before she has clicked on anything?
"""

import numpy as np

import goblin

DIMENSION = 10
ARMS = 20

# A network with communities, and users whose tastes are alike where they are friends.
graph, community = goblin.networks.communities(500, communities=10, average_degree=12, mixing=0.1, seed=1)
world = goblin.Linear(graph, dimension=DIMENSION, arms=ARMS, payoff_noise=0.2, smoothing=20.0, seed=1)
print(f"{len(graph)} users, {graph.edge_count} friendships")

# Both bandits serve the same 5,000 requests.
alone = goblin.LinUcbInd(graph, dimension=DIMENSION, alpha=0.1)
friends = goblin.GobLin(graph, dimension=DIMENSION, alpha=0.1)
for bandit in (alone, friends):
    trace = goblin.simulate(bandit, world, rounds=5_000, record_every=0)
    print(f"{bandit.policy:10}  reward {trace.reward:7.1f}, at random {trace.random_reward:7.1f}")

# Dora joins and makes eight friends in community 3.
circle = [int(user) for user in np.flatnonzero(community == 3)[:8]]
for bandit in (alone, friends):
    bandit.add_user("dora")
    for friend in circle:
        bandit.add_edge("dora", friend)

# She likes what her friends like on average: their true vectors, which least squares gets out of what the world pays.
rounds = [round for round in map(world.round, range(5_000)) if round.user in circle]
X = np.concatenate([round.X for round in rounds])
expected = np.concatenate([round.expected for round in rounds if round.expected is not None])
taste = np.linalg.lstsq(X, expected, rcond=None)[0]

random = np.random.default_rng(5)
best = chosen_alone = chosen_friends = 0.0
for _ in range(200):
    items = random.uniform(-1.0, 1.0, (ARMS, DIMENSION))
    pays = items @ taste
    best += pays.max()
    chosen_alone += pays[alone.select("dora", items)]
    chosen_friends += pays[friends.select("dora", items)]
print(f"her first item, of the best: {chosen_alone / best:.0%} alone, {chosen_friends / best:.0%} with friends")
assert chosen_friends > 0.7 * best > 3 * chosen_alone
