"""Your own data, from pandas frames: friends, items with features, and who liked what.

The frames here are made up; yours come from files or a database. Users and items are whatever they are called there.
"""

import numpy as np
import pandas as pd

import goblin

random = np.random.default_rng(3)

# Sixty people in three clubs, who know most of their club and now and then somebody else.
people = [f"person {k}" for k in range(60)]
club = np.arange(60) % 3
friends = pd.DataFrame(
    [
        (people[a], people[b], 1.0 if club[a] == club[b] else 0.2)
        for a in range(60)
        for b in range(a)
        if random.random() < (0.3 if club[a] == club[b] else 0.02)
    ],
    columns=["person", "friend", "closeness"],
)

# Two hundred dishes with four features; a club has a taste, and people like some of what fits it.
dishes = pd.DataFrame(random.normal(size=(200, 4)), columns=["hot", "sweet", "sour", "salty"])
dishes["dish"] = [f"dish {k}" for k in range(200)]
features = ["hot", "sweet", "sour", "salty"]
taste = np.array([[2.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, -1.0], [0.0, -1.0, 2.0, 0.0]])
fits = taste[club] @ dishes[features].to_numpy().T
likes = pd.DataFrame(
    [(people[k], f"dish {item}", 1.0) for k, item in np.argwhere(fits + random.normal(size=fits.shape) > 3.0)],
    columns=["person", "dish", "liked"],
)
print(f"{len(people)} people, {len(friends)} friendships, {len(dishes)} dishes, {len(likes)} likes")

# The frames go in as they are.
data = goblin.Dataset(edges=friends, items=dishes["dish"], contexts=dishes[features], payoffs=likes, users=people)

# Which policy earns most? Three repetitions, five policies, two values of alpha.
worlds = [goblin.Catalogue(data, arms=20, seed=1, repetition=k) for k in range(3)]
policies = ["linucb-sin", "linucb-ind", "gob.lin", "gob.lin.macro", "gob.lin.block"]
sweep = goblin.sweep(worlds, policies, alphas=[0.1, 0.5], rounds=1_000, clusters=3)

# The results come out as columns.
results = pd.DataFrame(sweep.results())
shown = ["policy", "alpha", "reward", "normalized_reward", "normalized_reward_standard_error"]
print(results[shown].to_string(index=False))

# And in use: what to show to whom.
bandit = goblin.GobLin(data.graph, dimension=4, alpha=0.1)
trace = goblin.simulate(bandit, worlds[0], rounds=1_000)
log = pd.DataFrame(trace.columns())
print(log.groupby("user")["payoff"].mean().sort_values(ascending=False).head(3).to_string())
menu = dishes[features].to_numpy()
print("for person 7:", ", ".join(dishes["dish"].iloc[bandit.rank("person 7", menu, k=3)]))
