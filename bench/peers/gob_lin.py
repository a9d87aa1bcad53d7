"""GOB.Lin and LinUCB in plain NumPy, as one would write them from the paper: the whole inverse, rank-one updates.

With A = I + L over the graph's nodes and phi the context x at the user's node, N = A (x) I_d + sum phi phi^T; the
inverse of N is kept as one matrix of (nodes * d)^2 numbers. A context is scored by

    x.w_i + alpha sqrt(x^T C_i x ln(t + 1)),     w = N^-1 sum a phi,   C_i the block of N^-1 of node i,

t being one more than the number of rewards seen.
"""

import math

import numpy


class GobLin:
    """One node for each user, joined by edges [(a, b)]; without edges and with one node it is LinUCB."""

    def __init__(self, nodes, edges, dimension, alpha):
        precision = numpy.eye(nodes)
        for a, b in edges:
            precision[a, a] += 1.0
            precision[b, b] += 1.0
            precision[a, b] -= 1.0
            precision[b, a] -= 1.0
        self.inverse = numpy.kron(numpy.linalg.inv(precision), numpy.eye(dimension))
        self.weights = numpy.zeros(nodes * dimension)
        self.dimension = dimension
        self.alpha = alpha

    def block(self, node):
        return slice(node * self.dimension, (node + 1) * self.dimension)

    def scores(self, node, contexts, t):
        block = self.block(node)
        variances = numpy.einsum("kd,kd->k", contexts @ self.inverse[block, block], contexts)
        return contexts @ self.weights[block] + self.alpha * numpy.sqrt(variances * math.log(t + 1))

    def update(self, node, context, reward):
        block = self.block(node)
        u = self.inverse[:, block] @ context
        scale = 1.0 / (1.0 + context @ u[block])
        self.weights += u * (scale * (reward - context @ self.weights[block]))
        self.inverse -= numpy.outer(scale * u, u)


class Policy:
    """linucb-sin: one node for everybody; linucb-ind: one model for each user; gob.lin: the graph."""

    follows = True

    def __init__(self, name, world):
        self.alone = name == "linucb-ind"
        self.shared = name == "linucb-sin"
        if self.alone:
            self.models = [GobLin(1, [], world.dimension, world.alpha) for _ in range(world.users)]
        else:
            nodes, edges = (1, []) if self.shared else (world.users, world.edges)
            self.models = [GobLin(nodes, edges, world.dimension, world.alpha)]

    def model_and_node(self, user):
        return (self.models[user], 0) if self.alone else (self.models[0], 0 if self.shared else user)

    def scores(self, user, contexts, t):
        model, node = self.model_and_node(user)
        return model.scores(node, contexts, t)

    def update(self, user, context, reward):
        model, node = self.model_and_node(user)
        model.update(node, context, reward)
