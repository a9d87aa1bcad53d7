"""The rounds that goblin_peers wrote, and how a contender plays them."""

import json
import pathlib
import time

import numpy


class World:
    """Rounds t = 1, 2, ...: a user, the candidates' contexts (arms x d) and their payoffs."""

    def __init__(self, folder):
        folder = pathlib.Path(folder)
        described = json.loads((folder / "goblin.json").read_text())
        self.users, self.dimension, self.arms = described["users"], described["dimension"], described["arms"]
        self.rounds, self.alpha, self.edge_count = described["rounds"], described["alpha"], described["edges"]
        self.goblin = {policy["policy"]: policy for policy in described["policies"]}
        lines = (folder / "edges.tsv").read_text().split("\n")
        self.edges = [tuple(map(int, line.split("\t"))) for line in lines if line]
        numbers = numpy.fromfile(folder / "rounds.bin").reshape(self.rounds, -1)
        middle = 1 + self.arms * self.dimension
        self.user_of = numbers[:, 0].astype(int)
        self.contexts = numbers[:, 1:middle].reshape(self.rounds, self.arms, self.dimension).copy()
        self.payoffs = numbers[:, middle:].copy()


def play(contender, world, rounds=None):
    """Selects and updates in every round; seconds are processor time of this thread for one round of both."""
    choices, reward = [], 0.0
    count = rounds or world.rounds
    begin = time.thread_time()
    for index in range(count):
        user, contexts = world.user_of[index], world.contexts[index]
        arm = contender.select(user, contexts, index + 1)
        payoff = world.payoffs[index, arm]
        contender.update(user, contexts[arm], payoff)
        choices.append(arm)
        reward += payoff
    seconds = (time.thread_time() - begin) / count
    return {"seconds": seconds, "reward": reward, "choices": choices, "rounds": count}


def agreement(choices, others):
    """The share of rounds with the same choice."""
    return sum(a == b for a, b in zip(choices, others)) / len(choices)
