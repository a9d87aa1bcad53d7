"""What a bandit does: the algorithm, users and friends, files and copies."""

from __future__ import annotations

import copy
import gc
import inspect
import pickle
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import goblin
from goblin import _core

PATH = [("ann", "bob"), ("bob", "cat")]
KINDS: list[Any] = [
    goblin.GobLin,
    goblin.LinUcbSin,
    goblin.LinUcbInd,
    lambda *args, **kwargs: goblin.GobLinMacro(*args, clusters=[0, 0, 1], **kwargs),
    lambda *args, **kwargs: goblin.GobLinBlock(*args, clusters=[0, 0, 1], **kwargs),
    goblin.GobLinHub,
    lambda *args, **kwargs: goblin.LinUcbHash(*args, buckets=32, **kwargs),
]
#: Those whose users change their clusters as rewards come in.
FINDERS: list[Any] = [goblin.Club, goblin.DynUcb]


def trained(kind: Any = goblin.GobLin, edges: Any = PATH, rewards: int = 30) -> goblin.Bandit:
    bandit: goblin.Bandit = kind(edges, dimension=3, alpha=0.2)
    random = np.random.default_rng(1)
    for _ in range(rewards):
        bandit.update(bandit.users[random.integers(3)], random.normal(size=3), random.normal())
    return bandit


def hub_prior(laplacian: Any, hub: float = 1.0, hub_ridge: float = 0.01, ridge: Any = 0.01) -> Any:
    """A of ``GobLinHub``; the hub comes first."""
    n = len(laplacian)
    A = np.zeros((n + 1, n + 1))
    A[0, 0] = hub_ridge + n * hub
    A[0, 1:] = A[1:, 0] = -hub
    A[1:, 1:] = laplacian + np.diag(np.broadcast_to(ridge, n) + hub)
    return A


def same_belief(a: goblin.Bandit, b: goblin.Bandit, tolerance: float = 0.0) -> bool:
    X = np.random.default_rng(2).normal(size=(5, 3))
    return all(
        np.allclose(a.scores(left, X).score, b.scores(right, X).score, rtol=tolerance, atol=tolerance)
        for left, right in zip(a.users, b.users, strict=True)
    )


def test_bounds_hold_and_are_not_all_zero(random: np.random.Generator) -> None:
    friends = [(k, (k + step) % 300) for k in range(300) for step in (1, 7)]
    exact, local = (
        goblin.GobLin(friends, dimension=3, engine=engine, local_tolerance=0.01) for engine in ("dense", "local")
    )
    X = random.normal(size=(300, 3)) / 3
    for k in range(300):
        for bandit in (exact, local):
            bandit.update(37 * k % 300, X[k], X[k, 0])
        bounds = local.bounds(k, X[:10])
        assert np.all(np.abs(exact.scores(k, X[:10]).score - local.scores(k, X[:10]).score) <= bounds + 1e-12)
        assert np.all(exact.bounds(k, X[:10]) == 0)
    assert np.all(bounds > 0)


@pytest.mark.parametrize("kind", KINDS[:-1])  # LinUcbHash: test_lenses.py
def test_scores_are_the_formula(kind: Any, random: np.random.Generator) -> None:
    bandit = kind(PATH, dimension=2, alpha=0.3)
    A = np.eye(3)
    node_of = {"ann": 0, "bob": 1, "cat": 2}
    if bandit.policy == "linucb-sin":
        A, node_of = np.eye(1), dict.fromkeys(node_of, 0)
    if bandit.policy == "gob.lin":
        A = np.eye(3) + np.array([[1, -1, 0], [-1, 2, -1], [0, -1, 1]])
    if bandit.policy == "gob.lin.macro":
        A, node_of = np.eye(2) + np.array([[1, -1], [-1, 1]]), {"ann": 0, "bob": 0, "cat": 1}
    if bandit.policy == "gob.lin.block":
        A = np.eye(3) + np.array([[1, -1, 0], [-1, 1, 0], [0, 0, 0]])
    if bandit.policy == "gob.lin.hub":
        A, node_of = hub_prior(np.array([[1, -1, 0], [-1, 2, -1], [0, -1, 1]])), {"ann": 1, "bob": 2, "cat": 3}
    N = np.kron(A, np.eye(2))
    c = np.zeros(len(N))
    for t in range(25):
        user = bandit.users[t % 3]
        block = slice(2 * node_of[user], 2 * node_of[user] + 2)
        X = random.normal(size=(4, 2))
        w, C = np.linalg.solve(N, c)[block], np.linalg.inv(N)[block, block]
        width = 0.3 * np.sqrt(np.einsum("ki,ij,kj->k", X, C, X) * np.log(t + 2))
        found = bandit.scores(user, X)
        np.testing.assert_allclose(found.mean, X @ w, atol=1e-10)
        np.testing.assert_allclose(found.width, width, atol=1e-10)
        np.testing.assert_array_equal(found.score, found.mean + found.width)
        assert bandit.select(user, X) == np.argmax(found.score)
        assert bandit.rank(user, X, 3).tolist() == np.argsort(-found.score)[:3].tolist()
        np.testing.assert_allclose(bandit.mean(user), w, atol=1e-10)
        np.testing.assert_allclose(bandit.covariance(user), C, atol=1e-10)
        reward = random.normal()
        bandit.update(user, X[0], reward)
        N[block, block] += np.outer(X[0], X[0])
        c[block] += reward * X[0]
    assert bandit.rewards == 25


def test_a_batch_is_its_rows(random: np.random.Generator) -> None:
    one, batch = trained(rewards=0), trained(rewards=0)
    users = random.choice(["ann", "bob", "cat"], size=40)
    X, rewards = random.normal(size=(40, 3)), random.normal(size=40)
    for user, x, reward in zip(users, X, rewards, strict=True):
        one.update(str(user), x, reward)
    assert batch.partial_fit(users, X, rewards) is batch
    assert same_belief(one, batch, tolerance=1e-9)
    means = batch.predict_expectations(users, X)
    assert means.tolist() == [batch.scores(str(user), x[None]).mean[0] for user, x in zip(users, X, strict=True)]
    blocks = random.normal(size=(40, 4, 3))
    assert batch.predict_expectations(list(users), blocks).shape == (40, 4)
    assert batch.predict_expectations(users, blocks)[7].tolist() == batch.scores(str(users[7]), blocks[7]).mean.tolist()
    assert batch.predict_expectations([], np.empty((0, 3))).shape == (0,)


def test_a_bad_batch_changes_nothing() -> None:
    bandit = trained()
    before = bandit.copy()
    with pytest.raises(ValueError, match=r"X: shape \(2, 3\).*nan"):
        bandit.partial_fit(["ann", "bob"], [[1, 2, 3], [1, np.nan, 3]], [1, 2])
    with pytest.raises(KeyError, match="'dan'"):
        bandit.partial_fit(["ann", "dan"], np.ones((2, 3)), [1, 2])
    with pytest.raises(ValueError, match=r"rewards: shape \(2,\).*rewards\[1\] is inf"):
        bandit.partial_fit(["ann", "bob"], np.ones((2, 3)), [1, np.inf])
    assert same_belief(bandit, before)


def test_masks_leave_candidates_out() -> None:
    bandit = trained()
    X = np.eye(3)
    best = bandit.select("ann", X)
    allowed = np.arange(3) != best
    assert bandit.select("ann", X, allowed) == bandit.rank("ann", X, 2)[1]
    assert best not in bandit.rank("ann", X, 3, allowed=allowed)
    assert bandit.scores("ann", X, allowed).score[best] == -np.inf
    with pytest.raises(ValueError, match=r"allowed: shape \(2,\) \(must be \(3,\)"):
        bandit.select("ann", X, [True, False])
    with pytest.raises(ValueError, match="leaves out all"):
        bandit.select("ann", X, [False] * 3)


@pytest.mark.parametrize("kind", KINDS)
def test_users_and_friends_come_and_go(kind: Any) -> None:
    bandit = trained(kind)
    before = bandit.copy()
    bandit.add_user(("dan", 4))
    if kind is goblin.GobLinHub:  # to whom everybody is joined, so that who joins tells the others something
        before.add_user(("dan", 4))
    assert ("dan", 4) in bandit and "dan" not in bandit and len(bandit) == 4
    bandit.add_edge(("dan", 4), "cat", weight=0.5)
    bandit.remove_edge(("dan", 4), "cat")
    X = np.eye(3)
    for user in before.users:
        np.testing.assert_allclose(bandit.scores(user, X).score, before.scores(user, X).score, atol=1e-10)
    with pytest.raises(ValueError, match="must not be there already"):
        bandit.add_user("ann")
    with pytest.raises(KeyError, match="'eve'"):
        bandit.add_edge("eve", "ann")
    with pytest.raises(ValueError, match="must be in the graph"):
        bandit.remove_edge("ann", ("dan", 4))


@pytest.mark.parametrize("kind", KINDS)
def test_many_friendships_change_at_once(kind: Any) -> None:
    at_once = trained(kind)
    one_by_one = at_once.copy()
    at_once.update_edges([("ann", "cat", 2.0), ["cat", "bob"], ("ann", "cat", 0)])
    one_by_one.add_edge("cat", "bob")
    X = np.eye(3)
    for user in at_once.users:
        np.testing.assert_allclose(at_once.scores(user, X).score, one_by_one.scores(user, X).score, atol=1e-8)
    before = at_once.scores("ann", X).score
    wrong: Any
    for wrong, message in (
        (("ann", "ann", 0), r"^edges\[1\]: edge: 'ann' to 'ann' \(must be in the graph\)$"),
        (("cat", "ann", 0), r"^edges\[1\]: edge: 'cat' to 'ann' \(must be in the graph\)$"),
        (("ann", "ann"), r"^edges\[1\]: friend: 'ann' \(must be somebody else than the user\)$"),
        (("ann", "bob", -1), r"^edges\[1\]: weight: -1 \(must be finite and positive\)$"),
    ):
        with pytest.raises(ValueError, match=message):
            at_once.update_edges([("ann", "bob", 2.0), wrong])
    with pytest.raises(KeyError, match=r"edges\[1\]: user 'eve' is not known"):
        at_once.update_edges([("ann", "cat"), ("eve", "ann")])
    with pytest.raises(TypeError, match=r"^edges\[1\]: \['eve'\]"):
        at_once.update_edges([("ann", "cat"), (["eve"], "ann")])
    with pytest.raises(ValueError, match=r"^edges\[0\]: 'ann' \(must be \(user, friend\)"):
        at_once.update_edges(["ann"])
    with pytest.raises(TypeError, match=r"^edges: 'ann'"):
        at_once.update_edges("ann")
    np.testing.assert_array_equal(at_once.scores("ann", X).score, before)


def test_numbered_users_may_get_other_names() -> None:
    bandit = goblin.GobLin([(0, 1)], dimension=1)
    bandit.add_user(2)
    bandit.add_user(17)
    bandit.add_user("ann")
    assert bandit.users == [0, 1, 2, 17, "ann"]
    bandit.update(np.int64(17), [1.0], 1.0)
    assert bandit.mean(17)[0] > 0 and bandit.mean(1)[0] == 0
    assert 3 not in bandit and -1 not in bandit and 10**30 not in bandit


def test_clusters_in_every_form() -> None:
    labels = [0, 0, 1]
    named = {"cat": "x", "bob": "y", "ann": "y"}
    for clusters in (labels, np.array(labels), named, goblin.cluster(PATH, 2)):
        bandit = goblin.GobLinMacro(PATH, dimension=1, clusters=clusters)
        assert bandit.summary()["nodes"] == 2
    assert bandit.cluster("ann") in (0, 1)
    assert goblin.GobLin(PATH).cluster("ann") is None
    bandit.add_user("dan", cluster=1)
    assert bandit.cluster("dan") == 1
    with pytest.raises(ValueError, match="2 labels"):
        goblin.GobLinBlock(PATH, clusters=[0, 1])
    with pytest.raises(ValueError, match=r"^clusters: nothing for user 'cat' \(must have one for each user\)$"):
        goblin.GobLinBlock(PATH, clusters={"ann": 1, "bob": 1})
    with pytest.raises(goblin.UnknownUser, match=r"^clusters: user 'zoe' is not known"):
        goblin.GobLinBlock(PATH, clusters={**named, "zoe": "x"})


@pytest.mark.parametrize("kind", KINDS)
def test_files_pickles_and_copies_go_on_to_the_last_bit(kind: Any, tmp_path: Path) -> None:
    bandit = trained(kind)
    bandit.add_user("dan")
    bandit.save(tmp_path / "model")
    others = [
        goblin.load(tmp_path / "model"),
        type(bandit).load(str(tmp_path / "model")),
        pickle.loads(pickle.dumps(bandit)),
        copy.copy(bandit),
        copy.deepcopy(bandit),
        bandit.copy(),
    ]
    for other in others:
        assert type(other) is type(bandit) and other.users == bandit.users
        assert same_belief(other, bandit)
    before = bandit.copy()
    for other in others:
        other.update("ann", [1.0, 0.0, 0.0], 1.0)
    assert same_belief(bandit, before)  # a copy is a copy
    bandit.update("ann", [1.0, 0.0, 0.0], 1.0)
    assert all(same_belief(bandit, other) for other in others)


def test_a_cycle_is_collected() -> None:
    bandit: Any = goblin.GobLin(PATH, dimension=1)
    bandit.itself = bandit
    gone = weakref.ref(bandit)
    del bandit
    gc.collect()
    assert gone() is None


class Loud(goblin.GobLin):
    """A class of one's own."""


def test_subclasses_keep_their_type_and_attributes(tmp_path: Path) -> None:
    bandit = Loud(PATH, dimension=2)
    bandit.volume = 11  # type: ignore[attr-defined]
    for other in (pickle.loads(pickle.dumps(bandit)), copy.copy(bandit)):
        assert type(other) is Loud and other.volume == 11
    bandit.save(tmp_path / "model")
    assert type(Loud.load(tmp_path / "model")) is Loud


def test_wrong_files(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        goblin.load(tmp_path / "nothing")
    (tmp_path / "text").write_text("hello")
    with pytest.raises(goblin.DataError, match="is not a goblin model file"):
        goblin.load(tmp_path / "text")
    trained().save(tmp_path / "model")
    with pytest.raises(ValueError, match=r"the policy is gob\.lin \(must be linucb-sin"):
        goblin.LinUcbSin.load(tmp_path / "model")
    with pytest.raises(OSError, match="cannot be written"):
        trained().save(tmp_path / "no" / "such" / "folder")


def test_wrong_options() -> None:
    with pytest.raises(ValueError, match="alpha: -1"):
        goblin.GobLin(PATH, alpha=-1.0)
    with pytest.raises(ValueError, match="dimension: 0"):
        goblin.GobLin(PATH, dimension=0)
    with pytest.raises(TypeError, match="no option 'rigde'"):
        goblin.GobLin(PATH, rigde=2.0)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="engine"):
        goblin.GobLin(PATH, engine="steam")
    with pytest.raises(MemoryError, match="more than the 10 bytes"):
        goblin.GobLin(PATH, memory_limit=10)
    with pytest.raises(TypeError, match="has no policy"):
        goblin.Bandit(PATH, 2, 0.1)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"dimension": 2.5}, ValueError, r"^dimension: 2\.5 \(must be a whole number\)$"),
        ({"dimension": [2]}, TypeError, r"^dimension: \[2\] \(must be a whole number\)$"),
        ({"dimension": None}, TypeError, r"^dimension: None \(must be a whole number\)$"),
        ({"dimension": "2"}, TypeError, r"^dimension: '2' \(must be a whole number\)$"),
        ({"dimension": 10**30}, ValueError, r"^dimension: 1000.* \(must be at most"),
        ({"dimension": float("nan")}, ValueError, r"^dimension: nan \(must be a whole number\)$"),
        ({"dimension": True}, TypeError, r"^dimension: True \(must be a whole number\)$"),
        ({"dimension": np.True_}, TypeError, r"^dimension: np\.True_ \(must be a whole number\)$"),
        ({"evidence_per_node": "x"}, TypeError, r"^evidence_per_node: 'x' \(must be True or False\)$"),
        ({"evidence_per_node": 1}, TypeError, r"^evidence_per_node: 1 \(must be True or False\)$"),
        ({"users": True}, TypeError, r"^users: True \(must be the users, or their number\)$"),
        ({"alpha": [0.1]}, TypeError, r"^alpha: \[0\.1\] \(must be a number\)$"),
        ({"alpha": None}, TypeError, r"^alpha: None \(must be a number\)$"),
        ({"coupling": "1"}, TypeError, r"^coupling: '1' \(must be a number\)$"),
        ({"engine": 3}, TypeError, r"^engine: 3 \(must be a text\)$"),
        ({"memory_limit": 1.5}, ValueError, r"^memory_limit: 1\.5 \(must be a whole number\)$"),
        ({"exploration": 0.2}, TypeError, r"^exploration: 0\.2 \(must be a text\)$"),
        ({"exploration": "best"}, ValueError, r"^exploration: 'best' \(must be ucb:ALPHA, .* or square_cb:GAMMA"),
        ({"exploration": "thompson:-1"}, ValueError, r"^v: -1 \(must be between 0 and 1e100\)$"),
        ({"exploration": "greedy", "alpha": 0.3}, ValueError, r"^alpha: 0\.3 \(must not be given with exploration"),
        ({"exploration": "greedy", "printed_bound": (1, 1, 1)}, ValueError, r"^printed_bound: must not be given"),
        ({"printed_bound": 1.0}, ValueError, r"^printed_bound: 1\.0 \(must be three numbers"),
        ({"printed_bound": (1.0, [2], 3.0)}, TypeError, r"^printed_bound\[1\]: \[2\] \(must be a number\)$"),
        ({"users": 2.5}, ValueError, r"^users: 2\.5 \(must be a whole number"),
    ],
)
def test_arguments_of_a_wrong_type(change: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        goblin.GobLin(**{"edges": PATH, "dimension": 2, **change})


def test_calls_with_arguments_of_a_wrong_type() -> None:
    bandit: Any = trained()
    wrong: list[tuple[Any, str]] = [
        (lambda: bandit.update("ann", np.ones(3), [1.0]), r"^reward: \[1\.0\] \(must be a number\)$"),
        (lambda: bandit.update("ann", np.ones(3), None), r"^reward: None \(must be a number\)$"),
        (lambda: bandit.rank("ann", np.eye(3), [2]), r"^k: \[2\] \(must be a whole number\)$"),
        (lambda: bandit.add_edge("ann", "cat", "heavy"), r"^weight: 'heavy' \(must be a number\)$"),
        (lambda: bandit.add_user("dan", cluster="x"), r"^cluster: 'x' \(must be a whole number\)$"),
        (lambda: goblin.cluster(PATH, [2]), r"^k: \[2\] \(must be a whole number\)$"),
        (lambda: goblin.Cliques(size=[3]), r"^size: \[3\] \(must be a whole number\)$"),
        (lambda: goblin.Cliques(payoff_noise="x"), r"^payoff_noise: 'x' \(must be a number\)$"),
        (lambda: goblin.Linear(PATH, arms=None), r"^arms: None \(must be a whole number\)$"),
        (lambda: goblin.sweep(goblin.Cliques(), rounds="x"), r"^rounds: 'x' \(must be a whole number\)$"),
        (lambda: goblin.networks.communities([3]), r"^users: \[3\] \(must be a whole number\)$"),
        (lambda: bandit.partial_fit(None, np.eye(3), np.ones(3)), r"^users: None \(must be a list or an array"),
        (lambda: goblin.simulate(goblin.Cliques(), bandit), r"^bandit: Cliques\(.* \(must be a goblin\.Bandit\)$"),
        (lambda: goblin.simulate(bandit, "x"), r"^world: 'x' \(must be a goblin\.World\)$"),
        (lambda: goblin.Catalogue("x"), r"^data: 'x' \(must be a goblin\.Dataset\)$"),
        (lambda: bandit.rank("ann", np.eye(3), True), r"^k: True \(must be a whole number\)$"),
        (lambda: goblin.GobLinMacro(PATH, clusters=True), r"^clusters: True \(must be a whole number\)$"),
        (lambda: goblin.GobLinMacro(PATH, clusters=None), r"^clusters: None \(must be a number of clusters"),
        (lambda: goblin.GobLinMacro(PATH, clusters="two"), r"^clusters: 'two' \(must be a number of clusters"),
    ]
    before = bandit.copy()
    for call, message in wrong:
        with pytest.raises(TypeError, match=message):
            call()
    assert same_belief(bandit, before) and len(bandit) == 3


def test_missing_arguments_are_named() -> None:
    bandit: Any = trained()
    one = np.ones(3)
    missing: list[tuple[Any, str]] = [
        (lambda: bandit.update([1, 0], 1), "update: reward is missing"),
        (lambda: bandit.update("ann", reward=1.0), "update: x is missing"),
        (lambda: bandit.update(), "update: user is missing"),
        (lambda: bandit.partial_fit(["ann"], [one]), "partial_fit: rewards is missing"),
        (lambda: bandit.select([one]), "select: X is missing"),
        (lambda: bandit.scores(X=[one]), "scores: user is missing"),
        (lambda: bandit.bounds("ann"), "bounds: X is missing"),
        (lambda: bandit.rank("ann", [one]), "rank: k is missing"),
        (lambda: bandit.rank([one], k=1), "rank: X is missing"),
        (lambda: bandit.predict_expectations(["ann"]), "predict_expectations: X is missing"),
        (lambda: bandit.add_user(), "add_user: user is missing"),
        (lambda: bandit.add_edge("ann"), "add_edge: friend is missing"),
        (lambda: bandit.remove_edge("ann"), "remove_edge: friend is missing"),
        (lambda: bandit.move_user("ann"), "move_user: cluster is missing"),
    ]
    for call, message in missing:
        with pytest.raises(TypeError, match=f"^{message}$"):
            call()


def test_booleans_of_numpy_are_booleans() -> None:
    bandit = goblin.LinUcbSin(PATH, dimension=1, evidence_per_node=np.True_)  # type: ignore[arg-type]
    assert bandit.summary() == goblin.LinUcbSin(PATH, dimension=1, evidence_per_node=True).summary()
    assert bandit.summary() != goblin.LinUcbSin(PATH, dimension=1, evidence_per_node=np.False_).summary()  # type: ignore[arg-type]


def test_whole_numbers_may_be_floats() -> None:
    bandit = goblin.GobLin(PATH, dimension=2.0, memory_limit=1e9)  # type: ignore[arg-type]
    assert bandit.dimension == 2 and bandit.rank("ann", np.eye(2), 1.0).shape == (1,)  # type: ignore[arg-type]
    assert goblin.GobLinMacro(PATH, dimension=np.int64(2), clusters=2.0).summary()["nodes"] == 2  # type: ignore[arg-type]
    assert len(goblin.Graph([(0, 1)], users=3.0)) == 3  # type: ignore[arg-type]


def test_options_matter() -> None:
    X = np.eye(3)
    plain = trained().scores("bob", X)
    other: Any
    for other in ({"ridge": 2.0}, {"coupling": 3.0}, {"printed_bound": (1.0, 0.1, 1.0)}):
        bandit = trained(lambda *args, other=other, **kwargs: goblin.GobLin(*args, **kwargs, **other))
        assert not np.allclose(bandit.scores("bob", X).score, plain.score)
    sparse = trained(lambda *args, **kwargs: goblin.GobLin(*args, **kwargs, engine="sparse"))
    assert sparse.summary()["components"][0]["engine"] == "sparse"
    np.testing.assert_allclose(sparse.scores("bob", X).score, plain.score, atol=1e-7)


def test_evidence_is_what_was_learned(random: np.random.Generator) -> None:
    for kind in KINDS:
        bandit = kind(PATH, dimension=3)
        X, rewards = random.normal(size=(20, 3)), random.normal(size=20)
        bandit.partial_fit(["ann"] * 15 + ["bob"] * 5, X, rewards)
        seen = bandit.evidence("ann")
        np.testing.assert_allclose(seen.S, X[:15].T @ X[:15], atol=1e-12)
        np.testing.assert_allclose(seen.c, X[:15].T @ rewards[:15], atol=1e-12)
        assert seen.count == 15 and seen.squared_rewards == pytest.approx(np.sum(rewards[:15] ** 2))
        nothing = bandit.evidence("cat")
        assert nothing.count == 0 and not nothing.S.any() and nothing.c.shape == (3,)
    bare = goblin.LinUcbSin(PATH, dimension=3, evidence_per_node=True)
    with pytest.raises(ValueError, match="evidence_per_node"):
        bare.evidence("ann")
    with pytest.raises(goblin.UnknownUser):
        bandit.evidence("nobody")


@pytest.mark.parametrize("kind", [goblin.GobLinMacro, goblin.GobLinBlock])
def test_a_user_who_moved_has_always_been_there(kind: Any) -> None:
    def learn(clusters: list[int]) -> goblin.Bandit:
        return trained(lambda *args, **kwargs: kind(*args, clusters=clusters, **kwargs))

    moved, always = learn([0, 0, 1]), learn([0, 1, 1])
    moved.move_user("bob", 1)
    assert moved.cluster("bob") == 1
    for user in moved.users:
        np.testing.assert_allclose(moved.mean(user), always.mean(user), atol=1e-10)
        np.testing.assert_allclose(moved.covariance(user), always.covariance(user), atol=1e-10)
    wrong: list[tuple[Any, Any, type[Exception]]] = [
        ("bob", 7, ValueError),
        ("bob", -1, ValueError),
        ("bob", [1], TypeError),
        ("bob", 2**40, ValueError),
        ("dan", 1, goblin.UnknownUser),
    ]
    for user, cluster, error in wrong:
        with pytest.raises(error):
            moved.move_user(user, cluster)
    assert moved.cluster("bob") == 1
    with pytest.raises(ValueError, match="must be one with clusters"):
        trained().move_user("ann", 0)


def test_a_ridge_for_each_user(tmp_path: Path) -> None:
    def learn(ridge: Any) -> goblin.Bandit:
        return trained(lambda *args, **kwargs: goblin.GobLin(*args, ridge=ridge, **kwargs))

    assert same_belief(learn([2.0, 2.0, 2.0]), learn(2.0))
    ridges = np.array([0.5, 1.0, 4.0])
    bandit = learn(ridges)
    assert same_belief(bandit, learn({"cat": 4.0, "ann": 0.5, "bob": 1.0}))
    assert not same_belief(bandit, learn(1.0))
    prior = goblin.LinUcbInd(PATH, dimension=1, ridge=ridges)
    assert [prior.covariance(user)[0, 0] for user in prior.users] == pytest.approx([2.0, 1.0, 0.25])
    bandit.save(tmp_path / "model")
    for kept in (bandit, goblin.load(tmp_path / "model"), pickle.loads(pickle.dumps(bandit))):
        assert np.array_equal(kept.ridge, ridges)
        kept.add_user("dan")
        assert np.array_equal(kept.ridge, [*ridges, 1.0])
    macro = goblin.GobLinMacro(PATH, dimension=1, clusters=[0, 0, 1], ridge=[1.0, 2.0])
    assert macro.covariance("ann") > macro.covariance("cat")
    bounds = r"\(must be between 1e-100 and 1e100\)$"
    one_each = r"\(must be one number, or one for each of the 3 users\)$"
    wrong: list[tuple[Any, type[Exception], str]] = [
        ([1, 2], ValueError, r"^ridge: 2 numbers " + one_each),
        ([1], ValueError, r"^ridge: 1 number " + one_each),
        ([], ValueError, r"^ridge: 0 numbers " + one_each),
        ([1, 2, -1], ValueError, r"^ridge\[2\]: -1 " + bounds),
        (np.array([1, np.nan, 1]), ValueError, r"^ridge\[1\]: nan " + bounds),
        ([1.0, "x", 1.0], ValueError, r"^ridge\[1\]: 'x' \(must be a number\)$"),
        ([[1.0], [2.0], [3.0]], ValueError, r"^ridge: shape \(3, 1\) " + one_each),
        ("x", TypeError, r"^ridge: 'x' \(must be a number\)$"),
        (None, TypeError, r"^ridge: None \(must be a number\)$"),
        ({"ann": 1.0, "bob": -1.0, "cat": 1.0}, ValueError, r"^ridge\['bob'\]: -1 " + bounds),
        ({"ann": 1.0, "cat": 1.0}, ValueError, r"^ridge: nothing for user 'bob' \(must have one for each user\)$"),
        ({"ann": 1, "bob": 1, "cat": 1, "zoe": 1}, goblin.UnknownUser, r"^ridge: user 'zoe' is not known \(must"),
    ]
    for ridge, error, message in wrong:
        with pytest.raises(error, match=message):
            learn(ridge)
    with pytest.raises(ValueError, match=r"^ridge: 3 numbers \(must be one number, or one for each of the 2 clusters"):
        goblin.GobLinMacro(PATH, clusters=[0, 0, 1], ridge=[1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"^ridge: 3 numbers \(must be one number, or a list of one: everybody shares"):
        goblin.LinUcbSin(PATH, ridge=[1.0, 2.0, 3.0])
    assert learn(np.float32(2.0)).ridge == learn(np.array(2.0)).ridge == 2.0


def test_alpha_may_change() -> None:
    """It only scores: the same belief with another alpha."""
    bandit, X = trained(), np.eye(3)
    other = trained(lambda *args, **kwargs: goblin.GobLin(*args, **{**kwargs, "alpha": 0.7}))
    bandit.alpha = 0.7
    assert bandit.alpha == 0.7 and "alpha=0.7" in repr(bandit)
    assert np.array_equal(bandit.scores("ann", X).score, other.scores("ann", X).score)
    for wrong, error in (
        (-1.0, ValueError),
        (np.nan, ValueError),
        (np.inf, ValueError),
        ([1], TypeError),
        (None, TypeError),
    ):
        with pytest.raises(error, match=r"^alpha: .*must be"):
            bandit.alpha = wrong  # type: ignore[assignment]
    assert bandit.alpha == 0.7
    assert pickle.loads(pickle.dumps(bandit)).alpha == bandit.copy().alpha == 0.7


def test_defaults_are_those_of_the_library() -> None:
    assert {kind(PATH).alpha for kind in KINDS} == {_core.default_alpha} == {0.1}
    assert inspect.signature(goblin.GobLin).parameters["alpha"].default == 0.1
    assert goblin.sweep(goblin.Cliques(), "linucb-sin", rounds=1).traces[0].alpha == 0.1


def test_a_hub_has_its_own_numbers() -> None:
    laplacian = 2.0 * np.array([[1, -1, 0], [-1, 2, -1], [0, -1, 1]])
    for ridge in (0.3, [0.1, 0.2, 0.4]):
        bandit = goblin.GobLinHub(PATH, dimension=1, hub=0.7, hub_ridge=0.2, ridge=ridge, coupling=2.0)
        covariance = np.linalg.inv(hub_prior(laplacian, 0.7, 0.2, ridge))
        for k, user in enumerate(bandit.users):
            assert bandit.covariance(user)[0, 0] == pytest.approx(covariance[k + 1, k + 1])
        assert np.all(bandit.ridge == ridge)
        assert bandit.add_user("dan") is None
        assert np.shape(bandit.ridge) in [(), (4,)]
    assert bandit.summary()["nodes"] == 5
    alone = goblin.GobLinHub(PATH, dimension=1, coupling=0.0)
    assert alone.summary()["edges"] == 3
    assert goblin.GobLinHub(PATH, dimension=1).ridge == 0.01
    for wrong, message in (({"hub": 0}, r"^hub: 0 \(must be above"), ({"hub_ridge": -1}, "^hub_ridge: -1 ")):
        with pytest.raises(ValueError, match=message):
            goblin.GobLinHub(PATH, dimension=1, **wrong)
    with pytest.raises(TypeError, match=r"^hub: "):
        goblin.GobLinHub(PATH, dimension=1, hub="strong")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="GobLin has no option 'hub'"):
        goblin.GobLin(PATH, dimension=1, hub=1.0)  # type: ignore[call-arg]


def test_policies_are_those_of_the_library() -> None:
    assert set(goblin.policies) == {kind(PATH, dimension=1).policy for kind in KINDS + FINDERS}
    assert set(_core.clustered_policies()) == {"gob.lin.macro", "gob.lin.block"}


@pytest.mark.parametrize("kind", FINDERS)
def test_found_clusters_are_kept_and_go_on(kind: Any, tmp_path: Path, random: np.random.Generator) -> None:
    bandit = kind(PATH, dimension=3, alpha=0.2)
    X, users = random.normal(size=(200, 3)), random.choice(bandit.users, size=200)
    rewards = np.where(users == "cat", -1.0, 1.0) * X[:, 0]
    whole = bandit.copy().partial_fit(users, X, rewards)
    for user, x, reward in zip(users[:120], X, rewards, strict=False):
        bandit.update(user, x, reward)
    bandit.save(tmp_path / "model")
    for half in (goblin.load(tmp_path / "model"), pickle.loads(pickle.dumps(bandit))):
        assert type(half) is kind
        half.partial_fit(users[120:], X[120:], rewards[120:])
        assert same_belief(half, whole)
        assert [half.cluster(user) for user in half.users] == [whole.cluster(user) for user in whole.users]
    assert whole.summary()["clusters"] == len({whole.cluster(user) for user in whole.users})
    assert sum(one.value for one in whole.explain("ann", X[0]).contributions) == pytest.approx(
        whole.explain("ann", X[0]).mean
    )


@pytest.mark.parametrize("kind", FINDERS)
def test_found_clusters_say_what_they_cannot_do(kind: Any) -> None:
    bandit = kind(PATH, dimension=1)
    with pytest.raises(ValueError, match=r"^policy: \w+ \(must be one whose clusters are given"):
        bandit.move_user("ann", 0)
    with pytest.raises(ValueError, match=r"^policy: \w+ \(must be one whose clusters are given"):
        bandit.merge(bandit.copy())
    with pytest.raises(ValueError, match=r"^cluster: 0 \(must not be given"):
        bandit.add_user("dan", cluster=0)
    with pytest.raises(ValueError, match=r"^evidence_per_node: true \(must be false for"):
        kind(PATH, dimension=1, evidence_per_node=True)
    with pytest.raises(ValueError, match=r"^ridge: shape \(3,\) \(must be one number\)$"):
        kind(PATH, dimension=1, ridge=[1.0, 2.0, 3.0])


def test_options_of_found_clusters_are_checked() -> None:
    with pytest.raises(ValueError, match=r"^graph: 'x' \(must be social, complete or random\)$"):
        goblin.Club(PATH, graph="x")
    with pytest.raises(ValueError, match=r"^separation: -1 \(must be finite and at least 0\)$"):
        goblin.Club(PATH, separation=-1)
    with pytest.raises(ValueError, match=r"^seed: "):
        goblin.Club(PATH, seed=-1)
    with pytest.raises(ValueError, match=r"^graph: complete for 4001 users \(must be at most 4000"):
        goblin.Club([], users=range(4001), graph="complete")
    with pytest.raises(ValueError, match=r"^clusters: 1000001 \(must be between 1 and 1000000\)$"):
        goblin.DynUcb(PATH, clusters=1_000_001)
    with pytest.raises(ValueError, match=r"^clusters: 0 "):
        goblin.DynUcb(PATH, clusters=0)
    assert goblin.Club(PATH, dimension=1, graph="complete").summary()["clusters"] == 1
    assert goblin.DynUcb(PATH, dimension=1, clusters=7).summary()["nodes"] == 7


def test_friends_that_are_refused_are_named() -> None:
    bandit = trained()
    with pytest.raises(ValueError, match=r"^friend: 'ann' \(must be somebody else than the user\)$"):
        bandit.add_edge("ann", "ann")
    with pytest.raises(ValueError, match=r"^edge: 'ann' to 'cat' \(must be in the graph\)$"):
        bandit.remove_edge("ann", "cat")
    with pytest.raises(ValueError, match=r"^weight: -1 \(must be finite and positive\)$"):
        bandit.add_edge("ann", "cat", -1)


def test_what_a_bandit_says_of_itself() -> None:
    bandit = trained()
    assert repr(bandit) == "GobLin(3 users, dimension=3, alpha=0.2, 30 rewards)"
    assert (bandit.policy, bandit.dimension, bandit.alpha, bandit.users) == ("gob.lin", 3, 0.2, ["ann", "bob", "cat"])
    assert bandit.graph.edge_count == 2 and bandit.log_determinant > 0
    assert bandit.summary()["rewards"] == 30
    other = goblin.GobLin(PATH, ridge=2.0, coupling=0.5)
    assert (bandit.ridge, bandit.coupling, other.ridge, other.coupling) == (1.0, 1.0, 2.0, 0.5)


OPTIONS: dict[str, tuple[Any, dict[str, Any]]] = {
    "gob.lin": (goblin.GobLin, {"laplacian": "normalized", "window": 9, "coupling": 3.0, "engine": "sparse"}),
    "linucb-sin": (goblin.LinUcbSin, {"evidence_per_node": True, "ridge": [0.5]}),
    "linucb-ind": (goblin.LinUcbInd, {"ridge": {"ann": 1, "bob": 2, "cat": 3}, "tolerance": 1e-9}),
    "gob.lin.macro": (goblin.GobLinMacro, {"clusters": {"ann": "x", "bob": "y", "cat": "x"}, "ridge": [2, 3]}),
    "gob.lin.block": (goblin.GobLinBlock, {"clusters": [0, 1, 1], "discount": 0.9}),
    "gob.lin.hub": (goblin.GobLinHub, {"hub": 2.0, "hub_ridge": 0.5, "exploration": "thompson:0.5+epsilon:0.1"}),
    "linucb.hash": (goblin.LinUcbHash, {"buckets": 64, "hash_seed": 5, "memory_limit": 10**9}),
    "club": (goblin.Club, {"graph": "random", "separation": 0.5, "seed": 3, "threads": 2}),
    "dynucb": (goblin.DynUcb, {"clusters": 2, "seed": 4, "local_tolerance": 0.1}),
}


@pytest.mark.parametrize("policy", goblin.policies)
def test_a_bandit_says_its_options(policy: str, tmp_path: Path) -> None:
    kind, given = OPTIONS[policy]
    bandit = kind(PATH, dimension=3, **given)
    options = bandit.options
    for name, value in given.items():
        expected = list(value.values()) if name == "ridge" and isinstance(value, dict) else value
        if name == "clusters" and isinstance(value, dict):
            expected = [0, 1, 0]
        np.testing.assert_array_equal(options[name], expected)
    again = kind(bandit.graph, **options)
    assert again.options.keys() == options.keys()
    for name, value in options.items():
        np.testing.assert_array_equal(again.options[name], value)
    np.testing.assert_array_equal(bandit.covariance("bob"), again.covariance("bob"))
    bandit.save(tmp_path / "model")
    loaded = goblin.load(tmp_path / "model").options
    for name in options.keys() - {"memory_limit", "threads"}:  # a file holds neither
        np.testing.assert_array_equal(loaded[name], options[name])
    options["ridge"] = -1  # changes nothing
    assert np.all(bandit.options["ridge"] == again.options["ridge"])
    plain = kind(PATH, dimension=3, **({"clusters": 2} if "clusters" in given else {}))
    assert repr(plain) == f"{kind.__name__}(3 users, dimension=3, alpha=0.1, 0 rewards)" or policy == "dynucb"
    for name in given.keys() - {"clusters", "ridge", "exploration"}:
        assert f"{name}={given[name]!r}" in repr(bandit)


def test_a_bandit_shows_what_differs() -> None:
    bandit = goblin.GobLin(PATH, dimension=3, ridge=0.5, window=100, exploration="greedy")
    assert repr(bandit) == "GobLin(3 users, dimension=3, exploration='greedy', ridge=0.5, window=100, 0 rewards)"
    uneven = goblin.GobLin(PATH, dimension=3, ridge=[1, 2, 3])
    assert repr(uneven) == "GobLin(3 users, dimension=3, alpha=0.1, ridge=<3 numbers>, 0 rewards)"
    assert repr(goblin.Club(PATH, dimension=3, graph="complete")).startswith(
        "Club(3 users, dimension=3, alpha=0.1, graph='complete', "
    )
    bandit.exploration = "ucb:0.25"
    assert bandit.options["exploration"] == "ucb:0.25"
