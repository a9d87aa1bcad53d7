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


def play(contender, world, goblin):
    """Scores and learns in every round. The seconds are processor time of this thread for one round of both.

    A contender that does the same work as goblin learns what goblin chose (`goblin`, an arm a round), and agrees in a
    round if goblin's choice has its own highest score, up to 1e-9: contexts of unit length tie before the first reward,
    and rounding then picks. Any other goes its own way, and agrees where it happens to choose the same.
    """
    agreed, reward = 0, 0.0
    begin = time.thread_time()
    for index in range(world.rounds):
        user, contexts = world.user_of[index], world.contexts[index]
        scores = contender.scores(user, contexts, index + 1)
        arm = goblin[index] if contender.follows else int(numpy.argmax(scores))
        agreed += scores[goblin[index]] >= scores.max() - 1e-9 if contender.follows else arm == goblin[index]
        payoff = world.payoffs[index, arm]
        contender.update(user, contexts[arm], payoff)
        reward += payoff
    seconds = (time.thread_time() - begin) / world.rounds
    return {
        "seconds": seconds,
        "reward": float(reward),
        "agreement": float(agreed) / world.rounds,
        "same_work": contender.follows,
    }
