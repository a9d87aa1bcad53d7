"""The policies."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from typing import Any, ClassVar, Self, TypedDict, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from ._graph import Users, graph_of, in_order, labels_of, numbers_of


class Options(TypedDict, total=False):
    """What every policy takes beside its graph, its dimension and its alpha; ``Bandit`` says what each means."""

    users: Users
    ridge: ArrayLike | Mapping[Any, float]
    coupling: float
    intercept: bool
    evidence_per_node: bool
    window: int
    discount: float
    exploration: str | None
    printed_bound: tuple[float, float, float] | None
    engine: str
    tolerance: float
    local_tolerance: float
    memory_limit: int
    threads: int


#: Parameters that every policy has in front of its options.
_not_options = ("self", "edges", "options")


class Bandit(_core.Bandit):
    """What all policies can do: a linear bandit for every user, which learn from each other over a graph.

    Use one of the policies ``GobLin``, ``LinUcbSin``, ``LinUcbInd``, ``GobLinMacro``, ``GobLinBlock``, or their rivals
    ``GobLinHub``, ``LinUcbHash``, and ``Club`` and ``DynUcb``, which find the clusters themselves. The first
    five differ in nothing but the graph: with a node for every user, or for everybody, or for every cluster of users,
    and

        ``A = ridge I + coupling L``,   L the Laplacian of the graph over the nodes,

    a policy believes, after rewards ``a_s`` for contexts ``x_s`` at nodes ``i_s``, in the Gaussian with precision and
    mean

        ``N = A (x) I_d + sum phi_s phi_s'``,   ``w = N^-1 sum a_s phi_s``,   ``phi_s`` = ``x_s`` at ``i_s``, else 0.

    It plays the arm with the highest ``w_i . x + alpha sqrt(x' C_i x ln(t + 1))``, ``C_i`` the i-th block of ``N^-1``
    and ``t`` one more than the number of rewards learned. ``exploration`` is another way to choose.

    Parameters of every policy, after ``edges``, ``dimension`` and ``alpha`` and by name:

    users : all users, where some have no edge; see ``Graph``, which also says what a user is
    ridge, coupling : how strongly vectors are drawn to zero, and those of friends to each other. Both are 1 if they
        are not given, but for ``GobLinHub``. ``ridge`` may also be an array with one for each user (``GobLinMacro``:
        for each cluster), or a dict by user
    intercept : ``True`` puts a 1 after the numbers of every context, so that an estimate need not be 0 where the
        context is. Most rewards need that: clicks, which are 0 or 1, and ratings. Then contexts must not have a
        constant column themselves. ``mean``, ``covariance`` and ``evidence`` have one number more, the last
    evidence_per_node : for ``LinUcbSin``, ``LinUcbHash`` and ``GobLinMacro``: do not keep what each user brought, which
        is ``dimension (dimension + 3) / 2`` numbers a user; then users cannot move, and have no ``evidence``
    window, discount : what is forgotten, where tastes change; at most one of them, and not for ``Club`` and
        ``DynUcb``. ``window=1000``: only the last 1000
        rewards count, of all users together; 0 for all. ``discount=0.95``: when a reward of a user is learned, what
        this user's earlier rewards say is first multiplied by 0.95; 1 forgets nothing
    exploration : how to choose, instead of by ``alpha``: ``goblin.thompson(0.2)`` or its text, ``"thompson:0.2"``.
        There are ``ucb``, ``printed_bound``, ``thompson``, ``epsilon_greedy``, ``greedy`` and ``square_cb``; where
        chance has a part, ``select`` needs ``seed`` and ``decision``
    printed_bound : ``(noise, delta, norm)``; short for ``exploration=goblin.printed_bound(noise, delta, norm)``
    engine : ``automatic``, ``dense``, ``sparse`` or ``local``: how the belief is kept. ``local`` is for thousands of
        users who are all joined, and says in ``bounds`` how far its scores can be off; the others are exact
    tolerance : how exactly the sparse engine solves
    local_tolerance : how far the local engine's scores aim to be off at most; ``bounds`` says what it kept
    memory_limit : bytes the bandit may take; ``MemoryError`` before anything is allocated. 0: what the machine has
    threads : how many threads learning many rewards at once may use; 0: as many as the machine has

    Threads may call everything at the same time. Reading calls (``select``, ``decide``, ``probabilities``, ``scores``,
    ``bounds``, ``rank``, ``ranking``, ``predict_expectations``) run beside each other, changing ones alone.
    """

    _policy: ClassVar[str] = ""
    #: Options that have a longer name where those of all policies stand together: in ``sweep`` and the compiled half.
    _short_names: ClassVar[Mapping[str, str]] = {}

    def __init__(
        self,
        edges: Any,
        dimension: int,
        alpha: float,
        clusters: Any = None,
        _own: Mapping[str, Any] | None = None,
        **options: Unpack[Options],
    ) -> None:
        """``_own`` is what one policy has that the others have not."""
        if not self._policy:
            names = ", ".join(kind.__name__ for kind in _policies.values())
            raise TypeError(f"{type(self).__name__} has no policy: use one of {names}")
        if clusters is not None and self._policy not in _core.clustered_policies():
            raise TypeError(f"{type(self).__name__} has no option 'clusters'")
        unknown = options.keys() - Options.__annotations__.keys()
        if unknown:
            of_policy = [name for name in inspect.signature(type(self).__init__).parameters if name not in _not_options]
            known = ", ".join([*of_policy, *Options.__annotations__])
            raise TypeError(f"{type(self).__name__} has no option {min(unknown)!r}; it has {known}")
        if options.get("exploration") is not None:
            if alpha != _core.default_alpha:
                raise ValueError(f"alpha: {alpha!r} (must not be given with exploration, which has its own numbers)")
            if options.get("printed_bound") is not None:
                raise ValueError("printed_bound: must not be given with exploration")
        users = options.pop("users", None)
        graph = graph_of(edges, users)
        labels = labels_of(graph, clusters) if self._policy in _core.clustered_policies() else None
        if "ridge" in options:
            options["ridge"] = _ridge_of(options["ridge"], graph, *self._nodes(graph, labels))
        given = {**options, **(_own or {}), "dimension": dimension, "alpha": alpha}
        super().__init__(self._policy, graph, labels, given)

    def _nodes(self, graph: _core.Graph, labels: Any) -> tuple[int, str]:
        """How many beliefs there are, and what they are called in a message."""
        return len(graph), f"one for each of the {len(graph)} users"

    @property
    def options(self) -> dict[str, Any]:
        """All options of the bandit, by the names that the policy takes them by.

        Made with them on the bandit's graph, a new bandit is this one before it learned anything. ``exploration`` says
        ``alpha``, too. A file holds neither ``memory_limit`` nor ``threads``: a loaded bandit has the usual ones.

        >>> import goblin
        >>> bandit = goblin.GobLin([("ann", "bob")], dimension=2, ridge=0.5, window=100)
        >>> bandit.options["ridge"], bandit.options["window"], bandit.options["exploration"]
        (0.5, 100, 'ucb:0.1')
        >>> goblin.GobLin(bandit.graph, **bandit.options)
        GobLin(2 users, dimension=2, alpha=0.1, ridge=0.5, window=100, 0 rewards)
        """
        return {self._short_names.get(name, name): value for name, value in self._options().items()}

    def __repr__(self) -> str:
        rule = self.exploration
        plain = rule.startswith("ucb:") and "+" not in rule
        shown = [f"{len(self)} users", f"dimension={self.dimension}"]
        shown.append(f"alpha={self.alpha:g}" if plain else f"exploration={rule!r}")
        usual = _core.default_options(self.policy)
        for name, value in self._options().items():
            if name in ("dimension", "exploration", "clusters"):
                continue
            if np.ndim(value) > 0:
                shown.append(f"{name}=<{len(value)} numbers>")
            elif value != usual[name]:
                shown.append(f"{self._short_names.get(name, name)}={value!r}")
        return f"{type(self).__name__}({', '.join(shown)}, {self.rewards} rewards)"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the bandit to a file, all of it or nothing; the command line and C++ read it too.

        Users are texts in the file: a whole number is written as its digits, so the user ``10`` here is the user ``10``
        there. Decimal numbers, bytes and tuples are written as Python writes them, after an equals sign. Where the
        users are 0, 1, 2, ... the file has no names.

        >>> import goblin, tempfile, os
        >>> bandit = goblin.GobLin([("ann", "bob")], dimension=1)
        >>> bandit.update("ann", [1.0], 1.0)
        >>> path = os.path.join(tempfile.mkdtemp(), "model")
        >>> bandit.save(path)
        >>> goblin.load(path).rewards
        1
        """
        self._save(os.fsdecode(path))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The bandit of a file that ``save``, the command line or C++ wrote; it goes on as if nothing had happened.

        ``goblin.load`` does the same for whatever policy the file has; of a policy's own ``load`` another one is a
        ``ValueError``. Users whose names are digits come back as whole numbers, and are found by both.
        """
        os.stat(path)  # a missing file is the OSError that everybody knows
        loaded = _Loaded.__new__(_Loaded)
        _core.Bandit.__init__(loaded, os.fsdecode(path))
        kind = _policies[loaded.policy]
        if not issubclass(kind, cls) and not issubclass(cls, kind):
            wanted = f"must be {cls._policy}; goblin.load reads any"
            raise ValueError(f"{os.fsdecode(path)}: the policy is {loaded.policy} ({wanted})")
        made: Any = cls if issubclass(cls, kind) else kind
        made = made.__new__(made)
        _core.Bandit.__init__(made, loaded)
        return cast(Self, made)

    def copy(self) -> Self:
        """Another bandit with the same belief; what one learns from now on the other does not.

        >>> import goblin
        >>> bandit = goblin.GobLin([("ann", "bob")], dimension=1)
        >>> other = bandit.copy()
        >>> other.update("ann", [1.0], 1.0)
        >>> bandit.rewards, other.rewards
        (0, 1)
        """
        made = type(self).__new__(type(self))
        _core.Bandit.__init__(made, self)
        made.__dict__.update(self.__dict__)
        return made

    def __copy__(self) -> Self:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), *self._content()), self.__dict__ or None


class _Loaded(_core.Bandit):
    """A bandit whose policy is not known yet."""


class GobLin(Bandit):
    """GOB.Lin: a linear bandit for every user, which learn from each other over a social graph.

    The setting
        In every round a user comes, you have some candidates (articles, songs, offers), each described by a vector
        ``x`` of ``dimension`` numbers, and you show one of them. Then you see a reward for the one you showed, a click
        say, and for no other. The expected reward of ``x`` for user ``i`` is taken to be ``u_i . x``, with a vector
        ``u_i`` that nobody knows.

    The idea
        Friends like similar things: ``u_i`` and ``u_j`` are close where i and j are friends. So a click of yours tells
        something about your friends, and a little about their friends. A user who is new but has friends is not a
        blank page.

    The algorithm
        Before anything is seen, the vectors of all n users together are Gaussian with precision ``A (x) I_d``, where
        ``A = ridge I + coupling L`` and L is the Laplacian of the graph: the penalty is
        ``ridge sum |u_i|^2 + coupling sum over edges weight |u_i - u_j|^2``. A reward ``a`` for ``x`` at user i adds
        ``x x'`` to the precision and ``a x`` to the right-hand side at i, and the belief becomes

            ``N = A (x) I_d + diag(S_1, ..., S_n)``,   ``w = N^-1 c``,   ``S_i = sum x x'``,  ``c_i = sum a x``.

        ``w_i`` is the estimate of ``u_i``, and ``C_i``, the i-th d x d block of ``N^-1``, says how uncertain it is. The
        arm to play is the one with the highest upper confidence bound,

            ``w_i . x + alpha sqrt(x' C_i x ln(t + 1))``,

        which is high for candidates that are good and for those about which little is known. This is the algorithm
        of *A Gang of Bandits* (Cesa-Bianchi, Gentile, Zappella; 2013), exactly, without its dn x dn matrix.

    The other Laplacian
        With ``laplacian="normalized"``, L is ``I - D^-1/2 W D^-1/2``, W the weights and D the degrees: all friends of
        a user together hold the user as strongly as one friend would. So a user with many friends, whom the
        ``"combinatorial"`` Laplacian ties to their average, is free to differ from it. An edge then changes all that
        its component believes, which is computed anew: add many of them at once.

    Parameters
    ----------
    edges : who is a friend of whom: an array, pairs or triples, a frame, a SciPy sparse
        matrix, a NetworkX graph; see ``Graph``
    dimension : how many numbers a context has
    alpha : how much uncertainty attracts; 0 never explores
    laplacian : ``"combinatorial"``, the paper's, or ``"normalized"``
    **options : ``users``, ``ridge``, ``coupling``, ``intercept``, ``evidence_per_node``, ``window``, ``discount``,
        ``exploration``, ``printed_bound``, ``engine``, ``tolerance``, ``local_tolerance``, ``memory_limit``,
        ``threads``; see ``Bandit``

    Cost: ``select`` O(arms dimension^2) however many users there are; ``update`` some passes over the user's connected
    component, O(n dimension^2) memory.

    Example
    -------
    Two friends and a stranger; ann likes the second of two items. ``select`` chooses, ``update`` learns:

    >>> import numpy as np, goblin
    >>> bandit = goblin.GobLin([("ann", "bob")], dimension=2, alpha=0.1, users=["ann", "bob", "zoe"])
    >>> items = np.array([[1.0, 0.0],
    ...                   [0.0, 1.0]])
    >>> for _ in range(20):
    ...     arm = bandit.select("ann", items)
    ...     bandit.update("ann", items[arm], reward=float(arm == 1))
    >>> bandit.select("ann", items)
    1
    >>> bandit.mean("bob").round(2)      # bob has seen nothing, and is thought to be half like ann
    array([0.  , 0.46])
    >>> bandit.mean("zoe").round(2)      # nobody knows about zoe
    array([0., 0.])
    """

    _policy = "gob.lin"

    def __init__(
        self,
        edges: Any,
        dimension: int = 25,
        alpha: float = _core.default_alpha,
        laplacian: str = "combinatorial",
        **options: Unpack[Options],
    ) -> None:
        super().__init__(edges, dimension, alpha, _own={"laplacian": laplacian}, **options)


class LinUcbSin(Bandit):
    """LinUCB with a single belief for everybody: what one user teaches holds for all. The graph only says who there is.

    ``w = N^-1 c`` with ``N = ridge I_d + sum x x'`` and ``c = sum a x`` over all users' rewards; the rest is as in
    ``GobLin``, whose parameters it has.

    >>> import goblin
    >>> bandit = goblin.LinUcbSin([("ann", "bob")], dimension=1, users=["ann", "bob", "zoe"])
    >>> bandit.update("ann", [1.0], 1.0)
    >>> bandit.mean("zoe")
    array([0.5])
    """

    _policy = "linucb-sin"

    def _nodes(self, graph: _core.Graph, labels: Any) -> tuple[int, str]:
        return 1, "a list of one: everybody shares a belief"

    def __init__(
        self, edges: Any, dimension: int = 25, alpha: float = _core.default_alpha, **options: Unpack[Options]
    ) -> None:
        super().__init__(edges, dimension, alpha, **options)


class LinUcbInd(Bandit):
    """LinUCB with an independent belief for every user: nobody learns from anybody. The graph only says who there is.

    ``w_i = N_i^-1 c_i`` with ``N_i = ridge I_d + sum x x'`` over the user's own rewards; the rest is as in ``GobLin``,
    whose parameters it has.

    >>> import goblin
    >>> bandit = goblin.LinUcbInd([("ann", "bob")], dimension=1)
    >>> bandit.update("ann", [1.0], 1.0)
    >>> bandit.mean("ann"), bandit.mean("bob")
    (array([0.5]), array([0.]))
    """

    _policy = "linucb-ind"

    def __init__(
        self, edges: Any, dimension: int = 25, alpha: float = _core.default_alpha, **options: Unpack[Options]
    ) -> None:
        super().__init__(edges, dimension, alpha, **options)


class GobLinMacro(Bandit):
    """GOB.Lin over clusters of users: one belief for each cluster, and clusters learn from each other.

    Two clusters are joined by an edge with the weight of all edges between their users; over that small graph it is
    ``GobLin``. It is fast on large networks, and good where people of a cluster like the same.

    Parameters
    ----------
    edges, dimension, alpha, **options : as in ``GobLin``
    clusters : how many clusters to make with ``cluster``; or the clusters themselves: a ``Clustering``, labels by user
        (a dict), or a label for each user in order

    >>> import goblin
    >>> friends = [("ann", "bob"), ("cat", "dan")]
    >>> bandit = goblin.GobLinMacro(friends, dimension=1, clusters={"ann": "A", "bob": "A", "cat": "B", "dan": "B"})
    >>> bandit.update("ann", [1.0], 1.0)
    >>> bandit.mean("bob"), bandit.mean("cat")
    (array([0.5]), array([0.]))
    """

    _policy = "gob.lin.macro"

    def _nodes(self, graph: _core.Graph, labels: Any) -> tuple[int, str]:
        count = int(labels.max()) + 1 if len(labels) else 0
        return count, f"one for each of the {count} clusters"

    def __init__(
        self,
        edges: Any,
        dimension: int = 25,
        alpha: float = _core.default_alpha,
        clusters: Any = 50,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(edges, dimension, alpha, clusters, **options)


class GobLinBlock(Bandit):
    """GOB.Lin inside clusters of users: a belief for every user, and friends of the same cluster learn from each other.

    Leaving out the edges between clusters makes small blocks, which are cheap; it is ``GobLin`` on the graph that
    remains.

    Parameters
    ----------
    edges, dimension, alpha, **options : as in ``GobLin``
    clusters : how many clusters to make with ``cluster``; or the clusters themselves, as in ``GobLinMacro``

    >>> import goblin
    >>> bandit = goblin.GobLinBlock([(0, 1), (1, 2)], dimension=1, clusters=[7, 7, 8])
    >>> bandit.update(1, [1.0], 1.0)
    >>> bandit.mean(0).round(3), bandit.mean(2)
    (array([0.2]), array([0.]))
    """

    _policy = "gob.lin.block"

    def __init__(
        self,
        edges: Any,
        dimension: int = 25,
        alpha: float = _core.default_alpha,
        clusters: Any = 20,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(edges, dimension, alpha, clusters, **options)


class GobLinHub(Bandit):
    """GOB.Lin with a hub: users learn from their friends, and from what all users have in common.

    The hub is somebody who is joined to everybody and never comes. ``GobLin`` draws every user to zero, so that n users
    together hold back what they all like with n times the ridge. Here a user is drawn to the hub instead, and hardly
    anything draws the hub to zero: what most users like is known after few rewards, also for a user who is new and has
    no friends: this is the policy that has a prior for them. With ``coupling=0`` friends do not count, and this is the
    hierarchical bandit.

    Parameters
    ----------
    edges, dimension, alpha, **options : as in ``GobLin``, but ``ridge`` is 0.01 if it is not given
    hub : how strongly every user is drawn to the hub; ``coupling`` does not multiply it. Above some 7,800 users,
        where ``automatic`` takes ``local``, give ``ridge=0.1`` or ``engine="sparse"``: with 0.01 ``bounds`` are wider
        than the scores
    hub_ridge : how strongly the hub is drawn to zero

    >>> import goblin
    >>> bandit = goblin.GobLinHub([("ann", "bob")], dimension=1, users=["ann", "bob", "zoe"])
    >>> for user in ("ann", "bob"):
    ...     for _ in range(5):
    ...         bandit.update(user, [1.0], 1.0)
    >>> bandit.mean("zoe").round(2)      # who knows nobody is thought to be like everybody
    array([0.98])
    """

    _policy = "gob.lin.hub"

    def __init__(
        self,
        edges: Any,
        dimension: int = 25,
        alpha: float = _core.default_alpha,
        hub: float = _core.default_hub,
        hub_ridge: float = _core.default_hub_ridge,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(edges, dimension, alpha, _own={"hub": hub, "hub_ridge": hub_ridge}, **options)


class LinUcbHash(Bandit):
    """LinUCB with feature hashing: one belief for everybody, in which every user has numbers of their own, too.

    Every coordinate k of a context is added, with a sign, to one of ``buckets`` numbers that all users have for it, and
    to another that only this user has; a hash draws both. On the longer vectors ``phi(u, x)`` it is LinUCB:

        ``w = N^-1 c`` with ``N = ridge I + sum phi phi'`` and ``c = sum a phi``.

    So what everybody likes is learned from all, and what sets a user apart from the user's own rewards. Where two
    coordinates share a bucket they disturb each other; of a product that is 0 on average, and the less the more buckets
    there are. Without any, it is ``GobLin`` on the graph in which everybody knows everybody. The graph only says who
    there is. A user keeps the numbers when others join later.

    Parameters
    ----------
    edges, dimension, alpha, **options : as in ``GobLin``
    buckets : how many numbers the belief has, 1 to 65,536; the more, the fewer share one
    hash_seed : another one draws other buckets

    Cost: ``select`` O(dimension^2) an arm; ``update`` O(buckets^2), and 12 bytes times ``buckets^2`` of memory.

    >>> import goblin
    >>> bandit = goblin.LinUcbHash([("ann", "bob")], dimension=1, buckets=64)
    >>> for _ in range(10):
    ...     bandit.update("ann", [1.0], 1.0)
    >>> bandit.mean("ann").round(2), bandit.mean("bob").round(2)      # half of it may be what all like
    (array([0.95]), array([0.48]))
    """

    _policy = "linucb.hash"

    def _nodes(self, graph: _core.Graph, labels: Any) -> tuple[int, str]:
        return 1, "a list of one: everybody shares a belief"

    def __init__(
        self,
        edges: Any,
        dimension: int = 25,
        alpha: float = _core.default_alpha,
        buckets: int = _core.default_buckets,
        hash_seed: int = 0,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(edges, dimension, alpha, _own={"buckets": buckets, "hash_seed": hash_seed}, **options)


class Club(Bandit):
    """CLUB: one belief for each cluster of users, where users who turn out to differ are parted.

    At first everybody may be like their friends. Each user's own rewards give an estimate
    ``w_i = (ridge I + S_i)^-1 c_i``. After a reward of user i, the edge to j goes if

        ``|w_i - w_j| > separation (F(T_i) + F(T_j))``,   ``F(T) = sqrt((1 + ln(1 + T)) / (1 + T))``,

    where ``T`` counts a user's rewards. Users whom edges still join are a cluster, and share one LinUCB on all their
    rewards; clusters do not learn from each other. This is the algorithm of *Online Clustering of Bandits* (Gentile,
    Li, Zappella; 2014), whose graph is ``"complete"`` or ``"random"``.

    Which cluster a user is in depends on the order of the rewards. So ``partial_fit`` learns them one after the other,
    ``merge`` and ``move_user`` are refused, and ``ridge`` is one number. Friends who are added later may be alike, too;
    a friendship that ends is an edge that goes. With another graph than the social one, friends do not matter, and a
    user who joins later stays alone.

    Parameters
    ----------
    edges, dimension, alpha, **options : as in ``GobLin``
    graph : whom users may be like at first: ``"social"``, their friends; ``"complete"``, everybody, for up to 4,000
        users; ``"random"``, about ``3 ln n`` others, drawn
    separation : how many times their uncertainty the estimates of like users may differ; the larger, the fewer clusters
    seed : of the random graph

    Cost: ``update`` O(dimension^3), and O(dimension) for each edge that is left to the user.

    >>> import goblin
    >>> bandit = goblin.Club([("ann", "bob"), ("bob", "cat")], dimension=1)
    >>> for _ in range(20):
    ...     bandit.update("ann", [1.0], 1.0)
    ...     bandit.update("bob", [1.0], 1.0)
    ...     bandit.update("cat", [1.0], -1.0)
    >>> bandit.cluster("ann") == bandit.cluster("bob"), bandit.cluster("bob") == bandit.cluster("cat")
    (True, False)
    >>> bandit.summary()["clusters"]
    2
    """

    _policy = "club"
    _short_names: ClassVar[Mapping[str, str]] = {"club_graph": "graph", "club_seed": "seed"}

    def _nodes(self, graph: _core.Graph, labels: Any) -> tuple[int, str]:
        return 0, ""

    def __init__(
        self,
        edges: Any,
        dimension: int = 25,
        alpha: float = _core.default_alpha,
        graph: str = "social",
        separation: float = _core.default_separation,
        seed: int = 0,
        **options: Unpack[Options],
    ) -> None:
        own = {"club_graph": graph, "separation": separation, "club_seed": seed}
        super().__init__(edges, dimension, alpha, _own=own, **options)


class DynUcb(Bandit):
    """DynUCB: a fixed number of clusters, one belief for each, and users who move to where they are most alike.

    Users are put into clusters at random. Each user's own rewards give an estimate ``w_i = (ridge I + S_i)^-1 c_i``.
    After a reward the user moves to the cluster whose centroid, the mean of its members' estimates, is nearest; of
    equals to the lowest number. A cluster is one LinUCB on all rewards of its users. The graph only says who there is.
    This is the algorithm of *Dynamic Clustering of Contextual Multi-Armed Bandits* (Nguyen, Lauw; 2014).

    Which cluster a user is in depends on the order of the rewards. So ``partial_fit`` learns them one after the other,
    ``merge`` and ``move_user`` are refused, and ``ridge`` is one number.

    Parameters
    ----------
    edges, dimension, alpha, **options : as in ``GobLin``
    clusters : how many
    seed : of where users are at first

    Cost: ``update`` O(dimension^3 + clusters dimension), and, where the user moves, O(dimension^2) for each user of the
    cluster that is left.

    >>> import goblin
    >>> bandit = goblin.DynUcb([], dimension=1, clusters=2, users=["ann", "bob", "cat", "dan"])
    >>> for _ in range(20):
    ...     for user, reward in {"ann": 1.0, "bob": 1.0, "cat": -1.0, "dan": -1.0}.items():
    ...         bandit.update(user, [1.0], reward)
    >>> bandit.cluster("ann") == bandit.cluster("bob"), bandit.cluster("ann") == bandit.cluster("cat")
    (True, False)
    """

    _policy = "dynucb"
    _short_names: ClassVar[Mapping[str, str]] = {"dynucb_clusters": "clusters", "dynucb_seed": "seed"}

    def _nodes(self, graph: _core.Graph, labels: Any) -> tuple[int, str]:
        return 0, ""

    def __init__(
        self,
        edges: Any,
        dimension: int = 25,
        alpha: float = _core.default_alpha,
        clusters: int = 10,
        seed: int = 0,
        **options: Unpack[Options],
    ) -> None:
        own = {"dynucb_clusters": clusters, "dynucb_seed": seed}
        super().__init__(edges, dimension, alpha, _own=own, **options)


def _ridge_of(given: Any, graph: _core.Graph, nodes: int, one_each: str) -> Any:
    """The ridge as it is where it is one number; else an array, whose numbers are checked here, because the library has
    another name for them.
    """
    names: list[Any] | range = range(nodes)
    if isinstance(given, Mapping):
        names = graph.users
        given = in_order(names, given, "ridge")
    if isinstance(given, str | bytes) or not hasattr(given, "__len__"):
        return given
    numbers = numbers_of(given, "ridge[{row}]")
    if numbers.ndim == 0:
        return given
    wanted = f"must be one number, or {one_each}" if one_each else "must be one number"
    if numbers.ndim > 1 or not one_each:
        raise ValueError(f"ridge: shape {numbers.shape} ({wanted})")
    if len(numbers) != nodes:
        raise ValueError(f"ridge: {len(numbers)} number{'s' * (len(numbers) != 1)} ({wanted})")
    wrong = np.flatnonzero(~((numbers >= 1e-100) & (numbers <= 1e100)))
    if len(wrong):
        raise ValueError(f"ridge[{names[wrong[0]]!r}]: {numbers[wrong[0]]:g} (must be between 1e-100 and 1e100)")
    return numbers


#: The names of all policies, as the command line and ``sweep`` take them.
policies: tuple[str, ...] = _core.policy_names()

_policies: dict[str, type[Bandit]] = {
    kind._policy: kind
    for kind in (GobLin, LinUcbSin, LinUcbInd, GobLinMacro, GobLinBlock, GobLinHub, LinUcbHash, Club, DynUcb)
}


def load(path: str | os.PathLike[str]) -> Bandit:
    """The bandit of a model file, of whatever policy; see ``Bandit.load``."""
    return Bandit.load(path)


def _restored(kind: type[Bandit], content: bytes, users: list[Any]) -> Bandit:
    """What pickle calls."""
    made = kind.__new__(kind)
    _core.Bandit.__init__(made, content, users)
    return made
