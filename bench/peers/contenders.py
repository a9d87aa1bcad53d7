"""The peers, each made to play the rounds of the bench as well as it can.

A contender has scores(user, contexts, t), of which the highest is its choice, and update(user, context, reward);
t = 1, 2, ... is the round. One that does the same work as goblin `follows` it (world.play says how). The width of
goblin's LinUCB is alpha sqrt(x^T C x ln(t + 1)). MABWiser and contextualbandits have alpha sqrt(x^T C x): before every
decision their alpha is set to alpha sqrt(ln(t + 1)), so that they do the same work, choice for choice.
"""

import importlib
import math

import numpy


class MabWiser:
    """LinUCB with one arm, which stands for the model: the candidates are scored as a batch of contexts."""

    follows = True

    def __init__(self, policy, world):
        from mabwiser.mab import MAB, LearningPolicy

        count = world.users if policy == "linucb-ind" else 1
        self.alpha = world.alpha
        self.bandits = []
        for _ in range(count):
            bandit = MAB(arms=["model"], learning_policy=LearningPolicy.LinUCB(alpha=world.alpha, l2_lambda=1.0))
            # It wants to be fitted before it decides; a context of zeros teaches nothing.
            bandit.fit(["model"], [0.0], numpy.zeros((1, world.dimension)))
            self.bandits.append(bandit)

    def bandit_of(self, user):
        return self.bandits[user if len(self.bandits) > 1 else 0]

    def scores(self, user, contexts, t):
        bandit = self.bandit_of(user)
        bandit._imp.arm_to_model["model"].alpha = self.alpha * math.sqrt(math.log(t + 1))
        return numpy.array([expectation["model"] for expectation in bandit.predict_expectations(contexts)])

    def update(self, user, context, reward):
        self.bandit_of(user).partial_fit(["model"], [reward], context.reshape(1, -1))


class ContextualBandits:
    """LinUCB by Sherman and Morrison's formula, in double precision. The first of two choices, fewer it does not take,
    stands for the model; the second is never rewarded, but scored all the same.
    """

    follows = True

    def __init__(self, policy, world):
        from contextualbandits.online import LinUCB

        count = world.users if policy == "linucb-ind" else 1
        self.alpha = world.alpha
        self.bandits = [
            LinUCB(
                nchoices=2,
                alpha=world.alpha,
                lambda_=1.0,
                fit_intercept=False,
                use_float=False,
                method="sm",
                ucb_from_empty=True,
                beta_prior=None,
                smoothing=None,
                random_state=1,
                njobs=1,
            )
            for _ in range(count)
        ]
        for bandit in self.bandits:
            # It decides at random before it is fitted; a context of zeros teaches nothing.
            bandit.partial_fit(numpy.zeros((1, world.dimension)), numpy.zeros(1, dtype=int), numpy.zeros(1))

    def bandit_of(self, user):
        return self.bandits[user if len(self.bandits) > 1 else 0]

    def scores(self, user, contexts, t):
        bandit = self.bandit_of(user)
        # What reset_alpha is for, which fails in this version: its setter names a variable that is not there.
        bandit._oracles.algos[0]._alpha = self.alpha * math.sqrt(math.log(t + 1))
        return bandit.decision_function(contexts)[:, 0]

    def update(self, user, context, reward):
        self.bandit_of(user).partial_fit(context.reshape(1, -1), numpy.zeros(1, dtype=int), numpy.array([reward]))


class VowpalWabbit:
    """cb_explore_adf with RegCB's optimistic rule, its nearest kin of LinUCB: gradient steps on a hashed linear model.

    For a model of each user, the user is crossed with every feature. The text of the contexts, its input, is written
    before the clock starts; reading it is part of the round. It does other work, so it goes its own way.
    """

    follows = False

    def __init__(self, policy, world):
        import vowpalwabbit

        # Payoffs are within 1 + the noise of 0.25; costs are payoffs with the other sign.
        options = "--cb_explore_adf --regcbopt --cb_min_cost -1.25 --cb_max_cost 1.25 --noconstant --quiet"
        self.alone = policy == "linucb-ind"
        if self.alone:
            options += " -q ua --ignore_linear u --ignore_linear a"
        self.workspace = vowpalwabbit.Workspace(options)
        self.texts = world.texts
        self.users = [f"shared |u {user}" for user in range(world.users)]

    def examples(self, user, t):
        return ([self.users[user]] if self.alone else []) + self.texts[t - 1]

    def scores(self, user, contexts, t):
        self.round = t
        probabilities = numpy.array(self.workspace.predict(self.examples(user, t)))
        self.arm = int(numpy.argmax(probabilities))
        return probabilities

    def update(self, user, context, reward):
        examples = self.examples(user, self.round)
        at = len(examples) - len(self.texts[self.round - 1]) + self.arm
        examples[at] = f"0:{-reward:.9g}:1 {examples[at]}"
        self.workspace.learn(examples)


def prepare(name, world):
    """What is there before a contender is: its package, and for Vowpal Wabbit the contexts as text."""
    importlib.import_module(
        {"numpy": "gob_lin", "mabwiser": "mabwiser.mab", "contextualbandits": "contextualbandits.online"}.get(
            name, name
        )
    )
    if name == "vowpalwabbit":
        world.texts = [
            ["|a " + " ".join(f"{k}:{value:.9g}" for k, value in enumerate(context)) for context in contexts]
            for contexts in world.contexts
        ]


def make(name, policy, world):
    if name == "numpy":
        import gob_lin

        return gob_lin.Policy(policy, world)
    return {"vowpalwabbit": VowpalWabbit, "mabwiser": MabWiser, "contextualbandits": ContextualBandits}[name](
        policy, world
    )


# What each can and cannot do, as far as this bench has to do with it.
ABILITIES = {
    "goblin": {
        "exact": "yes; sparse solves to a stated tolerance",
        "users": "a model for each user, or one for all, or one for each cluster",
        "graph": "yes",
        "arms": "candidates with features, other ones in every round",
        "memory": "n d^2 (sparse), (n d)^2 (dense, small components)",
    },
    "numpy": {
        "exact": "yes",
        "users": "yes",
        "graph": "yes, as one inverse of (n d)^2 numbers: 18 GB at 1,892 users and d = 25",
        "arms": "candidates with features",
        "memory": "(n d)^2",
    },
    "vowpalwabbit": {
        "exact": "no: gradient steps; the width comes from a step's sensitivity (RegCB), not from x^T C x",
        "users": "by crossing the user with every feature, in one hashed table",
        "graph": "no",
        "arms": "candidates with features",
        "memory": "one table (2^18 weights here), whatever n is; collisions beyond",
    },
    "mabwiser": {
        "exact": "yes; inverts d x d anew for every reward",
        "users": "no; here one object for each user",
        "graph": "no",
        "arms": "no: a model for each arm of a fixed list, one context for all; here one arm stands for the model",
        "memory": "d^2 for each model",
    },
    "contextualbandits": {
        "exact": "yes (rank-one updates); single precision unless told otherwise",
        "users": "no; here one object for each user",
        "graph": "no",
        "arms": "no: a model for each arm of a fixed list, one context for all; one arm of two stands for the model",
        "memory": "d^2 for each model",
    },
}
