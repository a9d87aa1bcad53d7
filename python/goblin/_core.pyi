"""The compiled half of goblin; use the package goblin."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, Self, overload

import numpy
import numpy.typing

import goblin._explanation
import goblin._types


class DataError(ValueError):
    pass

class Graph:
    """Users and who is a friend of whom; made by goblin.Graph."""

    def __init__(self, users: Iterable[Hashable], ends: numpy.typing.ArrayLike, weights: numpy.typing.ArrayLike) -> None: ...

    def __len__(self) -> int:
        """The number of users."""

    @property
    def users(self) -> list[Any]:
        """The users' names in the order of their indices."""

    @property
    def edge_count(self) -> int:
        """The number of edges, each counted once."""

    def edges(self) -> tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64]]:
        """
        Every edge once: the indices of its ends, shape (edges, 2), and its weight, shape (edges,).
        """

def partition(graph: Graph, clusters: int, argument: str, method: str, max_size: int, imbalance: float, seed: int) -> dict[str, Any]:
    """Clusters the users of a graph."""

def communities(users: int, communities: int, average_degree: float, mixing: float, exponent: float, seed: int) -> tuple[Graph, numpy.typing.NDArray[numpy.int64]]:
    """A social network with communities, and each user's community."""

def numbered_names(names: Iterable[Any], per_row: int, argument: str, known: Iterable[Any] = ()) -> tuple[list[Any], numpy.typing.NDArray[numpy.int64]]:
    """
    The distinct names, known ones first, in the order in which they appear, and the index of each.
    """

def name_texts(names: Iterable[Any]) -> list[bytes]:
    """The names as files have them."""

def policy_names() -> tuple[str, ...]:
    """All policies."""

def clustered_policies() -> tuple[str, ...]:
    """Those that need clusters of the users."""

def paper_policies() -> tuple[str, ...]:
    """The paper's five."""

def coupled_policies() -> tuple[str, ...]:
    """Those whose beliefs are coupled by edges."""

def default_options(policy: str) -> dict[str, Any]:
    """The options that a policy has, and what each is if it is not given."""

default_alpha: float = 0.1

default_buckets: int = 1024

default_hub: float = 1.0

default_hub_ridge: float = 0.01

default_separation: float = 1.0

def exploration_names() -> tuple[str, ...]:
    """All rules of exploration."""

def exploration(rule: str, numbers: Mapping[str, float], epsilon: float) -> str:
    """The text of a rule with its numbers, once they are checked."""

class Bandit:
    """What all policies can do; goblin.Bandit is the class to use."""

    @overload
    def __init__(self, policy: str, graph: Graph, clusters: numpy.typing.ArrayLike | None, options: Mapping[str, Any]) -> None: ...

    @overload
    def __init__(self, other: Bandit) -> None: ...

    @overload
    def __init__(self, path: str) -> None: ...

    @overload
    def __init__(self, content: bytes, users: Iterable[Any]) -> None: ...

    @overload
    def select(self, user: Hashable, X: numpy.typing.ArrayLike, allowed: numpy.typing.ArrayLike | None = None, *, seed: int | None = None, decision: int | None = None) -> int: ...

    @overload
    def select(self, user: goblin._types.ManyUsers, X: goblin._types.Rows, allowed: goblin._types.Rows | None = None, *, seed: int | None = None, decision: int | None = None) -> numpy.typing.NDArray[numpy.int64]:
        """
        The arm to play for a user: the candidate with the highest score.

        The score of candidate x is its upper confidence bound, ``w_i . x + alpha sqrt(x' C_i x ln(t + 1))``: the reward that
        the user's belief expects, and how uncertain it is. Deciding changes nothing, and many threads may do it at once. Ties
        go to the lowest index. With another ``exploration`` the choice is made as that says; ``decide`` also tells how probable
        it was.

        Many users at once are one call, which costs less than a call for each and gives the same: an array of arms.

        Parameters
        ----------
        user : a user of the bandit; ``KeyError`` if it is none. Or n users, as a list, an array or a column; a tuple is one user
        X : array of shape (arms, dimension), a row for each candidate. For n users of shape (n, arms, dimension), or a list of n
            arrays, which need not have as many candidates
        allowed : booleans of shape (arms,), optional; candidates with False are left out. For n users of shape (n, arms), or a
            list of n arrays
        seed, decision : two whole numbers that chance follows from, where the exploration leaves something to it. The same
            numbers are the same luck: give every decision a number of its own. Of n users the first has the number ``decision``,
            the next one ``decision + 1``, and so on: the next call begins at ``decision + n``

        >>> import goblin
        >>> bandit = goblin.GobLin([("ann", "bob"), ("bob", "cat")], dimension=2)
        >>> bandit.update("ann", [0.0, 1.0], 1.0)
        >>> bandit.select("bob", [[1.0, 0.0], [0.0, 1.0]])
        1
        >>> bandit.select("bob", [[1.0, 0.0], [0.0, 1.0]], allowed=[True, False])
        0
        >>> bandit.select(["bob", "cat"], [[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]]]).tolist()
        [1, 0]
        """

    def decide(self, user: Hashable, X: numpy.typing.ArrayLike, allowed: numpy.typing.ArrayLike | None = None, *, seed: int | None = None, decision: int | None = None, samples: int = 512, every_arm: bool = False) -> goblin._types.Decision:
        """
        What ``select`` chooses, and how probable that was: a ``Decision``.

        ``probability`` is that of the arm which was chosen, before chance decided; 1 where it has no part. It is what off-policy
        evaluation wants of a log. With ``thompson`` it is an estimate and ``probability_error`` its standard error; else it is
        exact.

        Parameters
        ----------
        user, X, allowed, seed, decision : as in ``select``
        samples : how many draws the estimate is made of; 0: ``probability`` is nan
        every_arm : whether ``probabilities`` is wanted, an array with that of each candidate

        >>> import goblin
        >>> bandit = goblin.GobLin([("ann", "bob")], dimension=2, exploration="epsilon_greedy:0.1")
        >>> bandit.update("ann", [0.0, 1.0], 1.0)
        >>> decision = bandit.decide("ann", [[1.0, 0.0], [0.0, 1.0]], seed=7, decision=0)
        >>> decision.arm, round(decision.probability, 3)
        (1, 0.95)
        """

    def probabilities(self, user: Hashable, X: numpy.typing.ArrayLike, allowed: numpy.typing.ArrayLike | None = None, samples: int = 512) -> numpy.typing.NDArray[numpy.float64]:
        """
        How probable it is that each candidate is chosen: an array of shape (arms,), whose sum is 1.

        Candidates that ``allowed`` leaves out have 0. Exact, but for ``thompson``, where the standard error is at most
        about ``sqrt(p (1 - p) / samples)``.

        Parameters
        ----------
        user, X, allowed : as in ``select``
        samples : how many draws the estimate is made of, with ``thompson``

        >>> import goblin
        >>> bandit = goblin.GobLin([("ann", "bob")], dimension=1, exploration="square_cb:10")
        >>> bandit.update("ann", [1.0], 1.0)
        >>> bandit.probabilities("ann", [[1.0], [0.5], [0.0]]).round(3)
        array([0.657, 0.2  , 0.143])
        """

    @overload
    def scores(self, user: Hashable, X: numpy.typing.ArrayLike, allowed: numpy.typing.ArrayLike | None = None, *, seed: int | None = None, decision: int | None = None) -> goblin._types.Scores: ...

    @overload
    def scores(self, user: goblin._types.ManyUsers, X: goblin._types.Rows, allowed: goblin._types.Rows | None = None, *, seed: int | None = None, decision: int | None = None) -> goblin._types.Scores:
        """
        How every candidate is judged: ``(score, mean, width)``, a named tuple of arrays.

        ``mean = w_i . x`` is the expected reward, ``width`` the half width of the confidence interval, ``score`` their sum.
        Candidates that ``allowed`` leaves out have mean and width 0 and score -inf. With ``thompson`` the score is what was
        drawn and the width its standard deviation; with ``greedy`` and ``square_cb`` the width is 0.

        Of n users at once the arrays have the shape (n, arms). Where some have fewer candidates than others, those that are not
        there are like those that are left out.

        Parameters
        ----------
        user, X, allowed : as in ``select``
        seed, decision : as in ``select``; only with ``thompson``

        >>> import goblin
        >>> bandit = goblin.LinUcbInd([("ann", "bob")], dimension=2, alpha=1.0)
        >>> for _ in range(3):
        ...     bandit.update("ann", [1.0, 0.0], 1.0)
        >>> bandit.scores("ann", [[1.0, 0.0], [0.0, 1.0]]).mean.round(3)
        array([0.75, 0.  ])
        >>> bandit.scores(["ann", "bob"], [[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0]]]).mean.round(3)
        array([[0.75, 0.  ],
               [0.  , 0.  ]])
        """

    def bounds(self, user: Hashable, X: numpy.typing.ArrayLike, allowed: numpy.typing.ArrayLike | None = None) -> numpy.typing.NDArray[numpy.float64]:
        """
        How far each score can be from that of the exact algorithm: an array of shape (arms,).

        Proved for each candidate anew with the engine ``local``, which learns only near a user and to a tolerance. The engines
        ``dense`` and ``sparse`` say 0: they are exact but for rounding and the tolerance of their solves.

        >>> import goblin
        >>> friends = [(k, k + 1) for k in range(1000)]
        >>> exact, local = (goblin.GobLin(friends, dimension=1, engine=engine) for engine in ("dense", "local"))
        >>> for bandit in (exact, local):
        ...     for k in range(0, 1000, 10):
        ...         bandit.update(k, [1.0], 1.0)
        >>> off = abs(exact.scores(55, [[1.0]]).score - local.scores(55, [[1.0]]).score)
        >>> bool(off <= local.bounds(55, [[1.0]]))
        True
        """

    def rank(self, user: Hashable, X: numpy.typing.ArrayLike, k: int, allowed: numpy.typing.ArrayLike | None = None, *, seed: int | None = None, decision: int | None = None) -> numpy.typing.NDArray[numpy.int64]:
        """
        The ``k`` best candidates, best first: an array of arms; all that are allowed if there are fewer. ``ranking`` also tells
        how probable they were.

        Parameters
        ----------
        user, X, allowed, seed, decision : as in ``select``
        k : how many, at least 1

        Where chance has a part, these are k choices, one after the other, each among the candidates that those before have left.

        >>> import goblin
        >>> bandit = goblin.LinUcbSin([("ann", "bob")], dimension=1)
        >>> bandit.update("ann", [1.0], 1.0)
        >>> bandit.rank("bob", [[0.1], [0.3], [0.2]], k=2).tolist()
        [1, 2]
        """

    def ranking(self, user: Hashable, X: numpy.typing.ArrayLike, k: int, allowed: numpy.typing.ArrayLike | None = None, *, seed: int | None = None, decision: int | None = None, samples: int = 512) -> goblin._types.Ranking:
        """
        What ``rank`` gives, and how probable it was: a ``Ranking`` of arrays, a place each.

        ``probability`` is that of the arm to be chosen for its place, given those before it; their product is the probability of
        the whole ranking. 1 where chance has no part, an estimate with ``thompson``.

        Parameters
        ----------
        user, X, k, allowed, seed, decision : as in ``rank``
        samples : how many draws an estimate is made of; 0: ``probability`` is nan

        >>> import goblin
        >>> bandit = goblin.LinUcbSin([("ann", "bob")], dimension=1, exploration="epsilon_greedy:0.3")
        >>> bandit.update("ann", [1.0], 1.0)
        >>> ranking = bandit.ranking("bob", [[0.1], [0.3], [0.2]], k=2, seed=1, decision=0)
        >>> ranking.arm.tolist(), ranking.probability.round(3)
        ([1, 2], array([0.8 , 0.85]))
        """

    def predict_expectations(self, users: Iterable[Hashable], X: numpy.typing.ArrayLike) -> numpy.typing.NDArray[numpy.float64]:
        """
        Expected rewards ``w_i . x`` for a batch.

        Parameters
        ----------
        users : n users, as a list, an array or a column
        X : array of shape (n, dimension), a context for each; gives shape (n,).
            Or of shape (n, arms, dimension), candidates for each; gives shape (n, arms)

        >>> import goblin
        >>> bandit = goblin.GobLin([(0, 1)], dimension=1)
        >>> bandit.update(0, [1.0], 1.0)
        >>> bandit.predict_expectations([0, 1], [[1.0], [1.0]]).round(3)
        array([0.4, 0.2])
        """

    def explain(self, user: Hashable, x: numpy.typing.ArrayLike, k: int = 10) -> goblin._explanation.Explanation:
        """
        Whose rewards the estimate for a context came from.

        The estimate ``w_i . x`` is a sum with a term for every user: ``u_j . c_j``, where ``c_j`` is the sum of the user's
        contexts times rewards and ``N u = phi_i(x)``. The ``k`` largest terms are listed, the others are ``rest``; together they
        are the ``mean``. ``print`` shows a table, ``plot`` draws the users as a graph.

        Parameters
        ----------
        user : a user of the bandit; ``KeyError`` if it is none
        x : array of shape (dimension,)
        k : how many contributions to list, the largest

        >>> import goblin
        >>> bandit = goblin.GobLin([("ann", "bob"), ("bob", "cat")], dimension=2)
        >>> bandit.update("ann", [0.0, 1.0], 1.0)
        >>> bandit.update("cat", [0.0, 1.0], -0.5)
        >>> explained = bandit.explain("bob", [0.0, 1.0])
        >>> print(explained)
        mean 0.0714286, width 0.0770796
        the width's square: 0.0 % from noise in own rewards, 9.5 % from that in others', 90.5 % from the prior
        <BLANKLINE>
        user  contribution  rewards
        ann       0.142857        1
        cat      -0.071429        1
        >>> round(explained.mean, 9) == round(sum(one.value for one in explained.contributions), 9)
        True
        """

    def update(self, user: Hashable, x: numpy.typing.ArrayLike, reward: float) -> None:
        """
        Learns that user got ``reward`` for context ``x``, whenever and in whatever order rewards come.

        The user's evidence becomes ``S_i + x x'`` and ``c_i + reward x``; what that means for the user, the friends and the
        friends of friends is worked out at once.

        Parameters
        ----------
        user : a user of the bandit; ``KeyError`` if it is none
        x : array of shape (dimension,), the context of the arm that was played
        reward : a number

        >>> import goblin
        >>> bandit = goblin.GobLin([("ann", "bob")], dimension=1)
        >>> bandit.update("ann", [1.0], 1.0)
        >>> bandit.mean("ann").round(3), bandit.mean("bob").round(3)   # bob learns from ann
        (array([0.4]), array([0.2]))
        """

    def partial_fit(self, users: Iterable[Hashable], X: numpy.typing.ArrayLike, rewards: numpy.typing.ArrayLike, unknown: str = 'error') -> Self:
        """
        Learns a batch of rewards, all of it or, if something in it is wrong, nothing. Gives the bandit.

        Many at once cost far less a reward than one by one. The first thousand are learned, then the rest; in between other
        threads get their turns, and a keyboard interrupt stops it. So does a ``MemoryError``, if the rest at once would not fit
        into memory. The first thousand, where they are learned by then, are kept, and ``rewards`` tells how many there are.

        Parameters
        ----------
        users : n users, as a list, an array or a column
        X : array of shape (n, dimension)
        rewards : array of shape (n,)
        unknown : what to do about users who are not there. ``"error"``: refuse the batch, with ``UnknownUser``. ``"add"``: let
            them join, without friends, once all else is checked; they stay if learning is stopped. ``"skip"``: leave their rows
            out. Of both, an ``UnknownUserWarning`` says how many; ``warnings.simplefilter("ignore", goblin.UnknownUserWarning)``
            makes it quiet

        >>> import goblin
        >>> bandit = goblin.GobLin([(0, 1)], dimension=2)
        >>> bandit.partial_fit([0, 1], [[1.0, 0.0], [0.0, 1.0]], [1.0, 0.0]).rewards
        2
        >>> import warnings
        >>> warnings.simplefilter("ignore", goblin.UnknownUserWarning)
        >>> bandit.partial_fit([1, 7], [[1.0, 0.0], [0.0, 1.0]], [1.0, 0.0], unknown="add").users
        [0, 1, 7]
        """

    def merge(self, other: Bandit) -> Self:
        """
        Adds everything that another bandit has learned, as if this one had learned it too. Gives the bandit.

        Two processes may each learn half of a log, from the same start without rewards; merged they are the bandit of the whole
        log. The other must have the same policy, users, edges, clusters, dimension, intercept, ridge, coupling, evidence_per_node
        and options of its policy, and neither may forget, nor be one of ``Club`` and ``DynUcb``;
        ``ValueError`` says in what it differs. Its alpha and its engine may be others.

        >>> import goblin
        >>> first = goblin.GobLin([("ann", "bob")], dimension=1)
        >>> second = first.copy()
        >>> first.update("ann", [1.0], 1.0)
        >>> second.update("bob", [1.0], 0.0)
        >>> first.merge(second).rewards
        2
        """

    def add_user(self, user: Hashable, cluster: int | None = None, friends: Iterable[Hashable] | Mapping[Any, float] | None = None) -> None:
        """
        A new user: a text, a number, bytes or a tuple of these; with friends or without.

        The user and the friends come together, or, if something is wrong with one of them, nobody comes.

        Parameters
        ----------
        user : who must not be there yet
        cluster : for policies whose clusters are given: a number, or a new cluster without it
        friends : users who are there, or pairs ``(user, weight)``, or a dict of weights. A tuple is always such a pair: a friend
            whose name is a tuple needs a weight, ``((1, "x"), 1.0)``

        >>> import goblin
        >>> bandit = goblin.GobLin([("ann", "bob")], dimension=1)
        >>> bandit.update("ann", [1.0], 1.0)
        >>> bandit.add_user("cat", friends=["ann", ("bob", 0.5)])
        >>> bandit.users, bandit.mean("cat").round(2)
        (['ann', 'bob', 'cat'], array([0.17]))
        """

    def remove_user(self, user: Hashable | goblin._types.ManyUsers) -> None:
        """
        A user goes, or many do: their friendships and all that was learned from their rewards.

        What is believed becomes what it would be had they never been there; ``rewards`` does not count theirs any more. With
        ``Club`` and ``DynUcb`` the clusters that were found stay. Many at once, all of them or none, cost less than one by one:
        the bandit is copied for it. Not with ``evidence_per_node`` where users share a belief: nobody can tell what was theirs.

        Parameters
        ----------
        user : a user of the bandit, or a list, an array or a column of them; ``KeyError`` if one is none

        >>> import goblin
        >>> bandit = goblin.GobLin([("ann", "bob"), ("bob", "cat")], dimension=1)
        >>> bandit.update("ann", [1.0], 1.0)
        >>> bandit.update("cat", [1.0], -1.0)
        >>> bandit.remove_user("cat")
        >>> bandit.users, bandit.rewards, bandit.mean("bob").round(3)
        (['ann', 'bob'], 1, array([0.2]))
        """

    def add_edge(self, user: Hashable, friend: Hashable, weight: float = 1.0) -> None:
        """
        Makes two users friends, or better ones: a second edge adds to the weight of the first.

        The belief becomes what it would be had the graph always been so: ``N`` gets ``coupling weight`` times the Laplacian of
        the edge.

        >>> import goblin
        >>> bandit = goblin.GobLin([("ann", "bob")], dimension=1, users=["ann", "bob", "cat"])
        >>> bandit.update("ann", [1.0], 1.0)
        >>> bandit.mean("cat")
        array([0.])
        >>> bandit.add_edge("cat", "ann", weight=2.0)
        >>> bandit.mean("cat").round(3)
        array([0.211])
        """

    def remove_edge(self, user: Hashable, friend: Hashable) -> None:
        """
        Ends a friendship, whatever its weight.

        The belief becomes what it would be had it never been; ``ValueError`` if the two are no friends.

        >>> import goblin
        >>> bandit = goblin.GobLin([("ann", "bob")], dimension=1)
        >>> bandit.update("ann", [1.0], 1.0)
        >>> bandit.remove_edge("ann", "bob")
        >>> bandit.mean("ann").round(3)
        array([0.5])
        """

    def update_edges(self, edges: Iterable[tuple[Hashable, ...]]) -> None:
        """
        Many changes of friendships at once, all or none: the belief is that of one after the other.

        Each is ``(user, friend)`` or ``(user, friend, weight)``. The weight, 1 if it is left out, adds to what there is between
        the two; 0 ends their friendship. Cheaper than one by one where there are many.

        >>> import goblin
        >>> bandit = goblin.GobLin([("ann", "bob")], dimension=1, users=["ann", "bob", "cat"])
        >>> bandit.update_edges([("cat", "ann", 2.0), ("bob", "cat"), ("ann", "bob", 0)])
        >>> bandit.update("ann", [1.0], 1.0)
        >>> bandit.mean("cat").round(3)
        array([0.2])
        """

    def move_user(self, user: Hashable, cluster: int) -> None:
        """
        Puts a user into another cluster, for the policies whose clusters are given.

        The belief becomes what it would be had the user always been there. A number that is one more than the largest makes a
        new cluster.

        >>> import goblin
        >>> friends = [("ann", "bob"), ("bob", "cat")]
        >>> bandit = goblin.GobLinMacro(friends, dimension=1, clusters=[0, 0, 1])
        >>> bandit.update("bob", [1.0], 1.0)
        >>> bandit.move_user("bob", 1)
        >>> bandit.cluster("bob")
        1
        """

    @property
    def alpha(self) -> float:
        """
        How much uncertainty attracts; 0 never explores. May be set at any time.

        It is the number of the rule ``ucb``; with another ``exploration`` there is none. Alpha has no part in what is learned, only in how candidates are scored, so a new one holds from the next decision on.

        >>> import goblin
        >>> bandit = goblin.GobLin([("ann", "bob")], dimension=1, alpha=1.0)
        >>> bandit.scores("ann", [[1.0]]).width.round(3)
        array([0.68])
        >>> bandit.alpha = 0.5
        >>> bandit.scores("ann", [[1.0]]).width.round(3)
        array([0.34])
        """

    @alpha.setter
    def alpha(self, value: float, /) -> None: ...

    @property
    def exploration(self) -> str:
        """
        How candidates are chosen, as a text. May be set at any time.

        It has no part in what is learned. ``goblin.ucb``, ``printed_bound``, ``thompson``, ``epsilon_greedy``, ``greedy`` and
        ``square_cb`` make such texts.

        >>> import goblin
        >>> bandit = goblin.GobLin([("ann", "bob")], dimension=1)
        >>> bandit.exploration
        'ucb:0.1'
        >>> bandit.exploration = goblin.thompson(0.2)
        >>> bandit.exploration
        'thompson:0.2'
        """

    @exploration.setter
    def exploration(self, value: str, /) -> None: ...

    def mean(self, user: Hashable) -> numpy.typing.NDArray[numpy.float64]:
        """
        ``w_i``, what is believed of the user's vector: an array of shape (dimension,).

        With ``intercept=True`` it has one number more, the last, and so have the evidence and the covariance.

        >>> import goblin
        >>> bandit = goblin.LinUcbInd([("ann", "bob")], dimension=2)
        >>> bandit.update("ann", [1.0, 0.0], 1.0)
        >>> bandit.mean("ann")
        array([0.5, 0. ])
        """

    def covariance(self, user: Hashable) -> numpy.typing.NDArray[numpy.float64]:
        """
        ``C_i``, how uncertain the user's vector is: an array of shape (dimension, dimension).

        The width of candidate x is ``alpha sqrt(x' C_i x ln(t + 1))``.

        >>> import goblin
        >>> bandit = goblin.LinUcbInd([("ann", "bob")], dimension=2)
        >>> bandit.update("ann", [1.0, 0.0], 1.0)
        >>> bandit.covariance("ann")
        array([[0.5, 0. ],
               [0. , 1. ]])
        """

    def evidence(self, user: Hashable) -> goblin._types.Evidence:
        """
        All that was learned from the user's own rewards: ``S``, ``c``, ``count`` and ``squared_rewards``.

        ``S`` is the sum of ``x x'``, ``c`` that of ``reward x``, ``count`` the number of rewards, ``squared_rewards`` the sum of
        their squares. Everything that the bandit believes follows from these sums and the graph.

        >>> import goblin
        >>> bandit = goblin.GobLin([("ann", "bob")], dimension=2)
        >>> bandit.update("ann", [1.0, 2.0], 3.0)
        >>> bandit.evidence("ann").S
        array([[1., 2.],
               [2., 4.]])
        >>> bandit.evidence("ann").c, bandit.evidence("ann").count, bandit.evidence("bob").count
        (array([3., 6.]), 1, 0)
        """

    def cluster(self, user: Hashable) -> int | None:
        """The user's cluster, where the policy has clusters."""

    def summary(self) -> dict[str, Any]:
        """
        What was asked for and what is used: the engine of each connected component and why, the bytes.
        """

    def _options(self) -> dict[str, Any]: ...

    def __len__(self) -> int:
        """The number of users."""

    def __contains__(self, user: object) -> bool:
        """Whether it is a user."""

    @property
    def users(self) -> list[Any]:
        """The users' names, in the order they came."""

    @property
    def graph(self) -> Graph:
        """The users' graph as it is now."""

    @property
    def policy(self) -> str:
        """The policy's name, as everywhere in goblin."""

    @property
    def dimension(self) -> int:
        """How many numbers a context has."""

    @property
    def intercept(self) -> bool:
        """Whether the bandit puts a 1 after the numbers of every context."""

    @property
    def ridge(self) -> float | numpy.typing.NDArray[numpy.float64]:
        """
        How strongly vectors are drawn to zero: one number, or an array with one for each node if the bandit
        was made so. Fixed when the bandit is made; a node that comes later has the policy's usual ridge.
        """

    @property
    def coupling(self) -> float:
        """
        How strongly the vectors of friends are drawn to each other; fixed when the bandit is made.
        """

    @property
    def rewards(self) -> int:
        """The number of rewards learned."""

    @property
    def log_determinant(self) -> float:
        """``ln |M_t|`` of the paper's Theorem 1."""

    def _save(self, path: str) -> None: ...

    def _content(self) -> tuple[bytes, list[Any]]: ...

class Dataset:
    """
    Users, friends, items and payoffs; made by goblin.Dataset and goblin.datasets.
    """

    @overload
    def __init__(self, graph: Graph, items: Iterable[Any], contexts: numpy.typing.ArrayLike, payoff_users: numpy.typing.NDArray[numpy.int64], payoff_items: numpy.typing.NDArray[numpy.int64], payoffs: numpy.typing.ArrayLike, name: str) -> None: ...

    @overload
    def __init__(self, other: Dataset) -> None: ...

    @property
    def name(self) -> str:
        """What the data is called."""

    @property
    def graph(self) -> Graph:
        """The users and their friends."""

    @property
    def users(self) -> list[Any]:
        """The users' names."""

    @property
    def items(self) -> list[Any]:
        """The items' names."""

    @property
    def dimension(self) -> int:
        """How many numbers a context has."""

    @property
    def contexts(self) -> numpy.typing.NDArray[numpy.float64]:
        """The items' contexts, shape (items, dimension)."""

    def _payoffs(self) -> tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64]]: ...

class World:
    """What a bandit plays in: round t is the same for everybody who asks."""

    def __init__(self, other: World) -> None: ...

    @property
    def name(self) -> str:
        """What the world is called."""

    @property
    def dimension(self) -> int:
        """How many numbers a context has."""

    @property
    def seed(self) -> int:
        """What every random number of the world comes from."""

    @property
    def repetition(self) -> int:
        """Other rounds from the same seed."""

    @property
    def users(self) -> list[Any]:
        """The users' names."""

    @property
    def items(self) -> list[Any]:
        """The items' names; empty where there are no items."""

    @property
    def graph(self) -> Graph:
        """What the bandits get to see of who is a friend of whom."""

    def round(self, t: int) -> goblin._types.Round:
        """
        Round t = 0, 1, ...: the user, the candidates' contexts (arms, dimension) and what each would pay.
        """

def cliques(cliques: int, size: int, dimension: int, arms: int, graph_noise: float, payoff_noise: float, drift_after: int | None, seed: int, repetition: int) -> World: ...

def linear(graph: Graph, user_vectors: numpy.typing.ArrayLike | None, dimension: int, arms: int, payoff_noise: float, smoothing: float, seed: int, repetition: int) -> World: ...

def catalogue(data: Dataset, arms: int, seed: int, repetition: int) -> World: ...

def read(kind: str, folder: str, options: dict[str, Any], cache: str) -> Dataset: ...

def simulate(bandit: Bandit, world: World, rounds: int, record_every: int, delta: float, samples: int) -> dict[str, Any]: ...

def sweep(worlds: list[World], clusters: list[Any], cases: list[tuple[str, dict[str, Any]]], rounds: int, record_every: int | None, threads: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]: ...

def summarize(traces: list[dict[str, Any]]) -> dict[str, Any]: ...

def evaluate(bandits: list[Bandit], users: Any, numbers: Any, contexts: Any, ends: Any, actions: Any, rewards: Any, probabilities: Any, learn: str, seed: int, clip: float, resamples: int) -> list[dict[str, Any]]: ...

def fit_log(model: bytes, log: str, items: str, shard: int, shards: int, batch: int, threads: int) -> bytes: ...

def reproduce(arguments: list[str], elsewhere: Callable[[list[bytes], Callable[[int, bytes], None]], None] | None) -> str: ...

class CellRunner:
    """Runs simulations of goblin.reproduce, which come as bytes."""

    def __init__(self, arguments: list[str]) -> None: ...

    def run(self, cell: bytes) -> bytes:
        """What the simulation found, as bytes."""

def tune(graph: Graph, users: numpy.typing.ArrayLike, contexts: numpy.typing.ArrayLike, rewards: numpy.typing.ArrayLike, policies: list[str], clusters: numpy.typing.ArrayLike | None, rewirings: int, seed: int, threads: int, rounds: tuple[Any, ...] | None) -> dict[str, Any]: ...
