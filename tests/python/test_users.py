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
        bandit.select(user, ONE)


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
