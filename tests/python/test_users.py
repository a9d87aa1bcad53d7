"""Who a user is: the same in Python, in files and on the command line. What can be no user is refused at the door."""

from __future__ import annotations

import enum
import json
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pandas
import polars
import pytest

import goblin

ONE = [[1.0]]


def two(user: Any, other: Any = "other") -> goblin.GobLin:
    return goblin.GobLin([(user, other)], dimension=1)


class Name(str):
    __slots__ = ()


class Colour(enum.StrEnum):
    RED = "red"


# 2, 2.0 and "2" are one user, however NumPy or an enumeration wraps them.
SPELLINGS: list[list[Any]] = [
    [10, "10", np.int64(10), np.uint8(10), np.str_("10"), 10.0, np.float64(10), np.float32(10), Name("10")],
    [-3, "-3", np.int8(-3)],
    [0, "0", np.uint8(0)],
    [10**30, str(10**30)],
    ["ann", np.str_("ann"), Name("ann")],
    ["red", Colour.RED],
    [2.5, np.float64(2.5), np.float32(2.5)],
    [b"x", np.bytes_(b"x")],
    [(1, "a"), (np.int64(1), np.str_("a")), (1.0, "a")],
]


@pytest.mark.parametrize("spellings", SPELLINGS, ids=lambda spellings: repr(spellings[0]))
def test_one_user_by_every_spelling(spellings: list[Any], tmp_path: Path) -> None:
    for given in spellings:
        bandit = two(given)
        bandit.update(given, [1.0], 1.0)
        assert len(bandit) == 2 and type(bandit.users[0]) in (int, str, float, bytes, tuple)
        bandit.save(tmp_path / "model")
        for kept in (bandit, goblin.load(tmp_path / "model"), pickle.loads(pickle.dumps(bandit)), bandit.copy()):
            for other in spellings:
                assert other in kept
                assert kept.mean(other) == kept.mean(given) == bandit.mean(given) != 0
                assert kept.predict_expectations([other], ONE).shape == (1,)
                with pytest.raises(ValueError, match="must not be there already"):
                    kept.add_user(other)
            assert len(kept) == 2


def test_other_texts_are_other_users() -> None:
    bandit = goblin.GobLin([("10", "010"), ("+10", "10.0"), (" 10", "-0"), ("0", "1_0")], dimension=1)
    assert len(bandit) == 8
    digits = "9" * 5000  # Python reads no number that long
    assert two(digits).users == [digits, "other"]


def test_numbered_users_by_their_digits() -> None:
    bandit = goblin.GobLin([(0, 1), (1, 2)], dimension=1)
    bandit.partial_fit(["0", 1, np.int64(2), "2"], np.ones((4, 1)), np.ones(4))
    assert bandit.users == [0, 1, 2] and bandit.rewards == 4
    assert bandit.mean("1") == bandit.mean(1)
    for stranger in ("3", "-1", "00", 3, -1, 10**30, "x", 0.5):
        assert stranger not in bandit
        with pytest.raises(goblin.UnknownUser):
            bandit.select(stranger, ONE)
    with pytest.raises(ValueError, match="already"):
        bandit.add_user("1")
    bandit.add_user("3")
    assert bandit.users == [0, 1, 2, "3"] and bandit.mean(3) == 0


def test_edges_know_who_is_who() -> None:
    graph = goblin.Graph([(10, "ann"), ("10", "bob"), (np.int64(10), "cat")])
    assert graph.users == [10, "ann", "bob", "cat"] and graph.edge_count == 3
    assert goblin.Graph([("1", "2")], users=[1, 2, 3]).users == [1, 2, 3]
    labels = {1: "x", 2: "x", 3: "y"}
    assert goblin.GobLinMacro([("1", "2"), ("2", "3")], dimension=1, clusters=labels).cluster(3) == 1
    with pytest.raises(ValueError, match=r"^users\[1\]: '1' stands twice"):
        goblin.Graph([], users=[1, "1"])
    data = goblin.Dataset([("1", "2")], np.eye(2), [(1, "0", 1.0), (2, 1, 1.0)], items=[0, 1])
    assert data.users == ["1", "2"] and len(data.payoffs["payoff"]) == 2


NO_USERS: list[tuple[Any, type[Exception]]] = [
    (None, ValueError),
    (float("nan"), ValueError),
    (np.float64("nan"), ValueError),
    (float("inf"), ValueError),
    ("\ud800", ValueError),
    ("\udcc3\udca4", ValueError),  # becomes another text in a file
    (10**5000, ValueError),
    ("", ValueError),
    (np.str_(""), ValueError),
    (("ann", ""), TypeError),
    (True, TypeError),
    (np.False_, TypeError),
    (np.array(True), TypeError),
    (("ann", True), TypeError),
    (["ann"], TypeError),
    ({"ann": 1}, TypeError),
    (np.array([1, 2]), TypeError),
    (pandas.NA, TypeError),
    (pandas.NaT, TypeError),
    (object(), TypeError),
    (frozenset({3}), TypeError),
    (("ann", None), TypeError),
    (("ann", []), TypeError),
]


@pytest.mark.parametrize(("user", "error"), NO_USERS, ids=lambda value: type(value).__name__)
def test_no_users(user: Any, error: type[Exception]) -> None:
    """What a file could not keep, or is no value, does not get in; and the refused call has changed nothing."""
    bandit = two("ann")
    message = r"must be a text"
    with pytest.raises(error, match=r"^user: .*" + message):
        bandit.add_user(user)
    assert len(bandit) == bandit.summary()["users"] == 2
    assert len(pickle.loads(pickle.dumps(bandit))) == 2
    with pytest.raises(error, match=r"^edges\[1\]: .*" + message):
        goblin.Graph([("ann", "bob"), ("cat", user)])
    with pytest.raises(error, match=r"^users\[1\]: .*" + message):
        goblin.Graph([], users=["ann", user])
    with pytest.raises((KeyError, TypeError)):
        bandit.rank(user, ONE, 1)


def test_missing_values_in_frames_are_no_users() -> None:
    texts = {"a": ["ann", "bob", "cat"], "b": ["bob", None, "dan"]}
    numbers = {"a": [0, 1, 2], "b": [1, None, 3]}
    for columns in (texts, numbers):
        for frame in (pandas.DataFrame(columns), pandas.DataFrame(columns).convert_dtypes(), polars.DataFrame(columns)):
            with pytest.raises((ValueError, TypeError), match=r"edges\[1\]: (nan|None|<NA>) \(must be"):
                goblin.Graph(frame)
    graph = networkx.Graph()
    graph.add_edge("ann", float("nan"))
    with pytest.raises(ValueError, match=r"nan \(must be"):
        goblin.Graph(graph)
    with pytest.raises(ValueError, match=r"payoffs\[1\]: None"):
        goblin.Dataset([(0, 1)], np.eye(2), [(0, 0, 1.0), (None, 1, 1.0)])


@pytest.mark.parametrize("users", [["ann", "bob"], [0, 1]])
def test_a_refused_user_leaves_the_bandit_as_it_was(users: list[Any]) -> None:
    bandit = goblin.GobLinMacro([users], dimension=1, clusters=[0, 1])
    wrong: list[tuple[Any, Any]] = [([], None), (users[1], None), ("cat", 9), ("cat", -1), ("cat", "x"), ({}, 0)]
    for user, cluster in wrong:
        with pytest.raises((ValueError, TypeError)):
            bandit.add_user(user, cluster)
        assert len(bandit) == bandit.summary()["users"] == 2
        assert pickle.loads(pickle.dumps(bandit)).users == users
    bandit.add_user("cat", 1)
    assert bandit.cluster("cat") == 1


def test_a_lookup_outlives_what_it_calls() -> None:
    """A user's own __hash__ or __eq__ may add users, here or in another thread: the names must not vanish under it."""
    program = """
import threading, goblin
bandit = goblin.GobLin([(f"u{k}", f"u{k + 1}") for k in range(1000)], dimension=1)

class Evil:
    text = "u5"
    def __hash__(self):
        return hash(self.text)
    def __eq__(self, other):
        thread = threading.Thread(target=bandit.add_user, args=(f"new {len(bandit)}",))
        thread.start(); thread.join()
        junk = [{str(k): k} for k in range(2000)]
        return False

class EvilText(Evil, str):
    __hash__, __eq__ = Evil.__hash__, Evil.__eq__

for user in (Evil(), EvilText("u5"), (Evil(),), Evil()):
    try:
        bandit.select(user, [[1.0]])
    except KeyError:
        pass
    user in bandit
print("alive")
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONMALLOC": "debug"},
        timeout=120,
    )
    assert done.returncode == 0 and done.stdout == "alive\n", done.stderr


def test_saving_while_users_join(tmp_path: Path) -> None:
    bandit = goblin.LinUcbSin([], dimension=1, users=[f"user {k}" for k in range(2000)])
    stop = threading.Event()

    def join() -> None:
        for k in range(2000, 10**6):
            if stop.is_set():
                break
            bandit.add_user(f"user {k}")

    switch_interval = sys.getswitchinterval()
    thread = threading.Thread(target=join)
    thread.start()
    try:
        sys.setswitchinterval(1e-5)
        for _ in range(5):
            bandit.save(tmp_path / "model")
            users = goblin.load(tmp_path / "model").users
            assert users == [f"user {k}" for k in range(len(users))]
    finally:
        sys.setswitchinterval(switch_interval)
        stop.set()
        thread.join()
    assert len(users) > 2000


@pytest.mark.parametrize(
    "users",
    [[10, 20, 30], ["=a", " ", "x"], ["==", "=None", "=1"], [2.5, b"x", (1, "1")], [0, 1, 2], ["\n", "\udcff", "ü"]],
)
def test_files_keep_names(users: list[Any], tmp_path: Path) -> None:
    bandit = goblin.GobLin([(users[0], users[1]), (users[1], users[2])], dimension=1)
    for user in users:
        bandit.update(user, [1.0], 1.0)
    bandit.save(tmp_path / "model")
    loaded = goblin.load(tmp_path / "model")
    assert loaded.users == users and [type(user) for user in loaded.users] == [type(user) for user in users]


@pytest.mark.parametrize("users", [["ann", "bob"], [10, 20], [(1, 2), "x"], [0, 1]])
def test_users_join_a_loaded_bandit(users: list[Any], tmp_path: Path) -> None:
    two(*users).save(tmp_path / "model")
    bandit = goblin.load(tmp_path / "model")
    for another in (bandit, bandit.copy(), pickle.loads(pickle.dumps(bandit))):
        for user in ("cat", 30, ("x", 1), " ", "=1"):
            another.add_user(user)
        assert another.users == [*users, "cat", 30, ("x", 1), " ", "=1"]
        another.add_edge("cat", users[0])
        another.save(tmp_path / "grown")
        assert goblin.load(tmp_path / "grown").users == another.users


def replay(command: Path, model: Path, saved: Path, events: list[dict[str, Any]]) -> None:
    subprocess.run(
        [command, "replay", "--load", model, "--save", saved],
        input="\n".join(json.dumps(event) for event in events),
        check=True,
        capture_output=True,
        text=True,
    )


def test_names_that_python_used_to_write(command: Path, tmp_path: Path) -> None:
    """Files of an older goblin have whole numbers as =10. What is no Python value after the sign is a plain text."""
    (tmp_path / "edges.tsv").write_text("=10\t=(1, 'x')\n=whatever\t=None\n")
    subprocess.run(
        [command, "replay", "--graph", tmp_path / "edges.tsv", "--dimension", "1", "--save", tmp_path / "model"],
        stdin=subprocess.DEVNULL,
        check=True,
        capture_output=True,
    )
    loaded = goblin.load(tmp_path / "model")
    assert loaded.users == [10, (1, "x"), "=whatever", "=None"]
    loaded.save(tmp_path / "model")
    assert goblin.load(tmp_path / "model").users == loaded.users


@pytest.mark.parametrize("users", [[10, 20, 30], [0, 1, 2], ["ann", "7", "bob"]])
def test_the_command_line_knows_the_users_of_python(users: list[Any], command: Path, tmp_path: Path) -> None:
    bandit = goblin.GobLin([(users[0], users[1]), (users[1], users[2])], dimension=1)
    bandit.save(tmp_path / "model")
    spelled = [users[0], str(users[1]), users[2]]
    events = [{"user": user, "context": [1.0], "reward": 1.0} for user in spelled]
    replay(command, tmp_path / "model", tmp_path / "after", events)
    bandit.partial_fit(users, np.ones((3, 1)), np.ones(3))
    after = goblin.load(tmp_path / "after")
    assert len(after) == 3 and after.rewards == 3
    assert [after.mean(user) for user in users] == [bandit.mean(user) for user in users]


def test_a_loaded_bandit_plays_its_world(tmp_path: Path) -> None:
    """The users of a dataset are texts, digits among them, and a loaded bandit has numbers for these."""
    data = goblin.Dataset([("1", "ann")], np.eye(2), [("1", 0, 1.0), ("ann", 1, 1.0)])
    world = goblin.Catalogue(data, arms=2)
    goblin.GobLin(world.graph, dimension=2).save(tmp_path / "model")
    loaded = goblin.load(tmp_path / "model")
    assert loaded.users == [1, "ann"] and world.users == ["1", "ann"]
    assert goblin.simulate(loaded, world, rounds=10).rounds == 10


def test_unknown_users_of_a_batch_are_named_by_row() -> None:
    bandit = two("ann", "bob")
    users = ["ann", "x49", "bob", "x50", "x49"]
    message = r"^users\[1\]: 'x49' is not known; nor are the users of 2 more rows$"
    for form in (list, np.array, pandas.Series, polars.Series):
        with pytest.raises(goblin.UnknownUser, match=message):
            bandit.partial_fit(form(users), np.ones((5, 1)), np.ones(5))
        with pytest.raises(goblin.UnknownUser, match=message):
            bandit.predict_expectations(form(users), np.ones((5, 1)))
    numbered = goblin.GobLin([(0, 1)], dimension=1)
    for numbers in ([0, 7, 1, -1], np.array([0, 7, 1, -1])):
        with pytest.raises(goblin.UnknownUser, match=r"^users\[1\]: 7 is not known; nor is the user of 1 more row$"):
            numbered.partial_fit(numbers, np.ones((4, 1)), np.ones(4))
    with pytest.raises(TypeError, match=r"^users\[1\]: \['bob'\] \(must be a text"):
        bandit.partial_fit(["ann", ["bob"]], np.ones((2, 1)), np.ones(2))  # type: ignore[list-item]
    with pytest.raises(goblin.UnknownUser, match=r"^user 'zed' is not known$"):
        bandit.mean("zed")
    assert issubclass(goblin.UnknownUser, KeyError) and bandit.rewards == 0


KINDS: list[Any] = [
    goblin.GobLin,
    lambda *args, **options: goblin.GobLin(*args, laplacian="normalized", **options),
    goblin.LinUcbSin,
    goblin.LinUcbInd,
    lambda *args, **options: goblin.GobLinMacro(*args, clusters=[0, 0, 1], **options),
    lambda *args, **options: goblin.GobLinBlock(*args, clusters=[0, 0, 1], **options),
    goblin.GobLinHub,
    lambda *args, **options: goblin.LinUcbHash(*args, buckets=32, **options),
    goblin.Club,
    goblin.DynUcb,
]


def three(kind: Any = goblin.GobLin, **options: Any) -> Any:
    bandit = kind([("ann", "bob"), ("bob", "cat")], dimension=2, **options)
    random = np.random.default_rng(3)
    users = random.choice(["ann", "bob", "cat"], 30).tolist()
    return bandit.partial_fit(users, random.normal(size=(30, 2)), random.normal(size=30))


@pytest.mark.parametrize("kind", KINDS)
def test_a_user_comes_with_friends(kind: Any) -> None:
    at_once, one_by_one = three(kind), three(kind)
    at_once.add_user("dan", friends=["ann", ("cat", 0.5)])
    one_by_one.add_user("dan")
    one_by_one.add_edge("dan", "ann")
    one_by_one.add_edge("dan", "cat", 0.5)
    assert at_once.users == one_by_one.users == ["ann", "bob", "cat", "dan"]
    for user in at_once.users:
        np.testing.assert_allclose(at_once.mean(user), one_by_one.mean(user), atol=1e-9)
        np.testing.assert_allclose(at_once.covariance(user), one_by_one.covariance(user), atol=1e-9)
    at_once.update("dan", [1.0, 0.0], 1.0)
    ends, weights = at_once.graph.edges()
    assert sorted(zip(*ends.T.tolist(), weights.tolist(), strict=True)) == [
        (0, 1, 1.0),
        (0, 3, 1.0),
        (1, 2, 1.0),
        (2, 3, 0.5),
    ]
    by_dict = three(kind)
    by_dict.add_user("dan", friends={"ann": 1, "cat": 0.5})
    assert by_dict.graph.edges()[1].tolist() == at_once.graph.edges()[1].tolist()


def test_friends_come_all_or_nobody(tmp_path: Path) -> None:
    three().save(tmp_path / "model")
    for bandit in (three(), goblin.load(tmp_path / "model"), three(ridge=1e-3, coupling=1e3)):
        before = bandit.scores(["ann", "bob", "cat"], np.ones((3, 1, 2))).score
        wrong: list[tuple[Any, type[Exception], str]] = [
            (["ann", "eve"], goblin.UnknownUser, r"^friends\[1\]: user 'eve' is not known$"),
            (["ann", "dan"], ValueError, r"^friends\[1\]: 'dan' \(must be somebody else than the user\)$"),
            (["ann", ("bob", 0)], ValueError, r"^friends\[1\]: weight: 0.0 \(must be finite and positive\)$"),
            (["ann", ("bob", float("nan"))], ValueError, r"^friends\[1\]: weight: nan"),
            (["ann", ("bob", "x")], TypeError, r"^friends\[1\]\[1\]: 'x' \(must be a number\)$"),
            (["ann", ("bob", 1, 2)], ValueError, r"^friends\[1\]: \('bob', 1, 2\) \(must be \(user, weight\)\)$"),
            (["ann", ["bob"]], TypeError, r"^friends\[1\]: \['bob'\]"),
            (["ann", None], goblin.UnknownUser, r"^friends\[1\]: user None is not known$"),
            ("ann", TypeError, r"^friends: 'ann' \(must be a list"),
            (3, TypeError, r"^friends: 3 \(must be a list"),
            (["ann", ("bob", 1e30)], ValueError, r"^friends\[1\]: "),  # a weight that the library refuses
        ]
        for friends, error, message in wrong:
            with pytest.raises(error, match=message):
                bandit.add_user("dan", friends=friends)
            assert len(bandit) == bandit.summary()["users"] == 3 and "dan" not in bandit
        np.testing.assert_array_equal(bandit.scores(["ann", "bob", "cat"], np.ones((3, 1, 2))).score, before)
        bandit.add_user("dan", friends=[])
        bandit.add_user((1, "x"), friends=["dan"])
        bandit.add_user("eve", friends=[((1, "x"), 2.0), "dan"])  # a friend who is a tuple
        assert len(bandit.graph.edges()[1]) == 5 and len(pickle.loads(pickle.dumps(bandit))) == 6


def quietly(bandit: Any, *given: Any, **options: Any) -> str:
    with pytest.warns(goblin.UnknownUserWarning) as warned:
        bandit.partial_fit(*given, **options)
    assert [Path(one.filename).name for one in warned] == ["test_users.py"]
    return str(warned[0].message)


@pytest.mark.parametrize("kind", KINDS)
def test_unknown_users_of_a_batch_join_or_are_left_out(kind: Any, tmp_path: Path) -> None:
    users = ["ann", "new", 7, "bob", "7", "new", "ann"]
    random = np.random.default_rng(4)
    X, rewards = random.normal(size=(7, 2)), random.normal(size=7)
    known = [0, 3, 6]

    joined, expected = three(kind), three(kind)
    message = quietly(joined, users, X, rewards, unknown="add")
    assert message == "partial_fit: 2 new users, with 4 of 7 rewards; the first is users[1]: 'new'"
    expected.add_user("new")
    expected.add_user(7)
    expected.partial_fit(users, X, rewards)
    assert joined.users == expected.users == ["ann", "bob", "cat", "new", 7] and joined.rewards == 37
    for user in joined.users:
        np.testing.assert_array_equal(joined.mean(user), expected.mean(user))

    left, expected = three(kind), three(kind)
    message = quietly(left, users, X, rewards, unknown="skip")
    assert message == "partial_fit: 4 of 7 rewards left out, whose users are not known; the first is users[1]: 'new'"
    expected.partial_fit(["ann", "bob", "ann"], X[known], rewards[known])
    assert left.users == ["ann", "bob", "cat"] and left.rewards == 33
    for user in left.users:
        np.testing.assert_array_equal(left.mean(user), expected.mean(user))

    joined.save(tmp_path / "model")
    loaded = goblin.load(tmp_path / "model")
    quietly(loaded, ["zoe"], [[1.0, 0.0]], [1.0], unknown="add")
    assert loaded.users[-1] == "zoe"


@pytest.mark.filterwarnings("error")
def test_unknown_users_change_nothing_where_something_is_wrong() -> None:
    bandit: Any = three()
    one, two = np.ones((1, 2)), np.ones((2, 2))
    assert bandit.partial_fit(["ann"], one, [1.0], unknown="add").rewards == 31  # nobody is new: no warning
    assert bandit.partial_fit(["ann"], one, [1.0], unknown="skip").rewards == 32
    long = np.array([[1.0, 0.0], [1e9, 0.0]])
    wrong: list[tuple[Any, Any, Any, str, type[BaseException], str]] = [
        (["ann", "x"], two, [1, 1], "error", goblin.UnknownUser, r"^users\[1\]: 'x' is not known$"),
        (["ann", "x"], two, [1, 1], "ad", ValueError, r"^unknown: 'ad' \(must be add, skip or error\)$"),
        (["ann", "x"], two, [1, 1], None, TypeError, r"^unknown: None \(must be a text\)$"),  # type: ignore[list-item]
        (["ann", None], two, [1, 1], "add", ValueError, r"^users\[1\]: None \(must be a text"),
        (["ann", "x"], two, [1, np.nan], "add", ValueError, r"rewards\[1\] is nan \(must be finite\); a reward that"),
        (["x", "ann"], two, [1, np.nan], "skip", ValueError, r"rewards\[1\] is nan"),
        (["ann", "x"], long, [1, 1], "add", ValueError, r"^X: shape \(2, 2\): batch\[1\]: context: length 1e\+09"),
        (["x", "ann"], long, [1, 1], "skip", ValueError, r"^X: shape \(2, 2\): batch\[1\]: context: length 1e\+09"),
        (["ann", "x"], np.ones((3, 2)), [1, 1], "add", ValueError, r"^X: shape \(3, 2\)"),
        (["ann", "x"], two, [1, 1], "add", goblin.UnknownUserWarning, r"1 new user, with 1 of 2 rewards"),
        (["ann", "x"], two, [1, 1], "skip", goblin.UnknownUserWarning, r"1 of 2 rewards left out"),
    ]
    for users, X, rewards, unknown, error, message in wrong:
        with pytest.raises(error, match=message):
            bandit.partial_fit(users, X, rewards, unknown=unknown)
        assert bandit.rewards == 32 and bandit.users == ["ann", "bob", "cat"] and bandit.summary()["users"] == 3
    with pytest.warns(goblin.UnknownUserWarning):
        bandit.partial_fit(["x", "ann"], [[np.nan, 1e9], [1, 1]], [np.nan, 1], unknown="skip")
    assert bandit.rewards == 33


def test_numbered_users_join_in_a_batch() -> None:
    bandit = goblin.GobLin([(0, 1)], dimension=1)
    message = quietly(bandit, np.array([0, 5, 2, 5]), np.ones((4, 1)), np.ones(4), unknown="add")
    assert "2 new users, with 3 of 4 rewards; the first is users[1]: 5" in message
    assert bandit.users == [0, 1, 5, 2] and bandit.evidence(5).count == 2


@pytest.mark.parametrize("kind", KINDS)
def test_who_is_removed_was_never_there(kind: Any, tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    users = random.choice(["ann", "bob", "cat", "dan"], 40).tolist()
    X, rewards = random.normal(size=(40, 2)), random.normal(size=40)
    bandit, expected = three(kind), three(kind)
    bandit.add_user("dan", friends=["ann", "cat"])
    bandit.partial_fit(users, X, rewards)
    bandit.remove_user("dan")
    stay = [k for k, user in enumerate(users) if user != "dan"]
    expected.partial_fit([users[k] for k in stay], X[stay], rewards[stay])
    bandit.save(tmp_path / "model")
    for kept in (bandit, bandit.copy(), pickle.loads(pickle.dumps(bandit)), goblin.load(tmp_path / "model")):
        assert kept.users == ["ann", "bob", "cat"] and len(kept) == kept.summary()["users"] == 3
        assert "dan" not in kept and kept.rewards == expected.rewards
        assert kept.graph.users == kept.users
        for ours, theirs in zip(kept.graph.edges(), expected.graph.edges(), strict=True):
            np.testing.assert_array_equal(ours, theirs)
        if kind not in (goblin.Club, goblin.DynUcb):  # which keep the clusters that they found
            for user in kept.users:
                np.testing.assert_allclose(kept.mean(user), expected.mean(user), atol=1e-9)
        assert type(kept)(kept.graph, **kept.options).users == kept.users
        with pytest.raises(goblin.UnknownUser, match=r"^user 'dan' is not known$"):
            kept.select("dan", [[1.0, 0.0]])
        with pytest.raises(goblin.UnknownUser, match=r"^user 'dan' is not known$"):
            kept.remove_user("dan")
        kept.add_user("dan", friends=["bob"])  # somebody else of that name
        assert kept.users == ["ann", "bob", "cat", "dan"] and kept.evidence("dan").count == 0
        kept.update("dan", [1.0, 0.0], 1.0)
        kept.remove_user(["dan", "ann"])
        assert kept.users == ["bob", "cat"] and goblin.Graph(kept.graph).users == ["bob", "cat"]


@pytest.mark.parametrize("users", [[0, 1, 2], [10, 20, 30], ["ann", "1", "cat"]])
def test_numbers_and_names_are_removed(users: list[Any], tmp_path: Path) -> None:
    bandit = goblin.GobLin([(users[0], users[1]), (users[1], users[2])], dimension=1, ridge=[1, 2, 3])
    other = bandit.copy()
    bandit.partial_fit(users, np.ones((3, 1)), np.ones(3))
    bandit.remove_user(users[1])
    assert bandit.users == [users[0], users[2]] and other.users == users
    assert bandit.ridge.tolist() == bandit.options["ridge"].tolist() == [1.0, 3.0]
    assert bandit.mean(users[2]).round(9) == 0.25
    bandit.save(tmp_path / "model")
    for kept in (goblin.load(tmp_path / "model"), pickle.loads(pickle.dumps(bandit))):
        assert kept.users == bandit.users and str(users[1]) not in kept
        kept.add_user("new")
        kept.save(tmp_path / "again")
        assert goblin.load(tmp_path / "again").users == [users[0], users[2], "new"]
        assert kept.select([users[2], "new"], np.ones((2, 1, 1))).tolist() == [0, 0]
        with pytest.raises(goblin.UnknownUser):
            kept.partial_fit(np.array([users[1]]), [[1.0]], [1.0])
    with pytest.raises(ValueError, match="other: "):
        other.merge(bandit)


def test_removals_are_all_or_none() -> None:
    bandit: Any = three()
    wrong: list[tuple[Any, type[Exception], str]] = [
        (["ann", "eve"], goblin.UnknownUser, r"^users\[1\]: 'eve' is not known$"),
        (["ann", "ann"], ValueError, r"^user: somebody stands twice \(must be distinct\)$"),
        (None, goblin.UnknownUser, "None is not known"),
        ({}, TypeError, r"^user: \{\} \(must be a text"),
    ]
    for users, error, message in wrong:
        with pytest.raises(error, match=message):
            bandit.remove_user(users)
        assert len(bandit) == bandit.summary()["users"] == 3 and bandit.rewards == 30
    with pytest.raises(TypeError, match=r"^remove_user: user is missing$"):
        bandit.remove_user()
    shared = three(goblin.LinUcbSin, evidence_per_node=True)
    with pytest.raises(ValueError, match="evidence_per_node"):
        shared.remove_user("ann")
    assert len(shared) == 3
    bandit.remove_user([])
    bandit.remove_user(np.array(["ann", "bob", "cat"]))
    assert len(bandit) == bandit.rewards == 0 and bandit.users == [] and bandit.graph.edge_count == 0
