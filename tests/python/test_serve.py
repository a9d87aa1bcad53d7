"""goblin.Client and goblin serve, the real ones, together."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from server_process import Server

import goblin

Serve = Callable[..., Server]


@pytest.fixture
def options(tmp_path: Path) -> list[str | Path]:
    """Three users in a row, three items of two numbers."""
    (tmp_path / "edges.tsv").write_text("ann\tbob\nbob\tcat\t2\n")
    (tmp_path / "items.tsv").write_text("tea\t1\t0\nsoup\t0\t1\ncake\t0.6\t0.8\n")
    files = ["--graph", tmp_path / "edges.tsv", "--items", tmp_path / "items.tsv", "--store", tmp_path / "store"]
    return [*files, "--policy", "gob.lin", "--explore", "ucb:0.1"]


def test_decisions_are_those_of_a_bandit(serve: Serve, options: list[str | Path], random: np.random.Generator) -> None:
    client = goblin.Client(serve(*options).url)
    bandit = goblin.GobLin([("ann", "bob"), ("bob", "cat", 2.0)], dimension=2, alpha=0.1)
    for round in range(30):
        user = ["ann", "bob", "cat"][round % 3]
        X = random.normal(size=(4, 2))
        decided = client.select(user, X)
        scores = bandit.scores(user, X).score
        assert np.allclose(decided.scores, scores, rtol=1e-9, atol=1e-12)
        assert decided.arm == int(np.argmax(scores)) and decided.probability == 1.0 and decided.item is None
        reward = float(X[decided.arm, 0])
        accepted = client.reward(decided.event, reward)
        assert accepted.offset > decided.offset and not accepted.repeated
        bandit.update(user, X[decided.arm], reward)
        wait_until_learned(client)
    believed = client.user("bob")
    assert believed["rewards"] == 10 and np.allclose(believed["mean"], bandit.mean("bob"), rtol=1e-8, atol=1e-12)
    assert np.allclose(believed["deviations"], np.sqrt(np.diag(bandit.covariance("bob"))), rtol=1e-8)


def wait_until_learned(client: goblin.Client) -> None:
    while client.status()["backlog"] > 0:
        pass


def wait_until_known(client: goblin.Client, change: goblin.Accepted) -> None:
    """Changes of the graph are on disk when they are answered, and known a moment later."""
    while client.status()["learned"] < change.offset:
        pass


def test_the_same_event_gets_the_same_answer(serve: Serve, options: list[str | Path]) -> None:
    client = goblin.Client(serve(*options).url)
    first = client.select("ann", items=["tea", "soup", "cake"], event="mine")
    assert first.event == "mine" and first.item == ["tea", "soup", "cake"][first.arm]
    client.reward("mine", 1.0)
    again = client.select("ann", items=["tea", "soup", "cake"], event="mine")
    assert (again.arm, again.item, again.offset) == (first.arm, first.item, first.offset)
    assert np.array_equal(again.scores, first.scores)
    assert client.reward("mine", 1.0).repeated
    for call, status, type in [
        (lambda: client.reward("mine", 0.0), 409, "/problems/"),
        (lambda: client.reward("nobody's", 1.0), 404, "/problems/unknown-event"),
        (lambda: client.select("ann", [[1.0, 0.0, 0.0]]), 400, "/problems/wrong-dimension"),
        (lambda: client.select("ann", items=["pie"]), 404, "/problems/unknown-item"),
    ]:
        with pytest.raises(goblin.ClientError) as caught:
            call()
        assert caught.value.status == status and caught.value.type.startswith(type), str(caught.value)
        assert caught.value.detail and caught.value.request_id


def test_rankings_can_be_rewarded_place_by_place(serve: Serve, options: list[str | Path]) -> None:
    client = goblin.Client(serve(*options).url)
    places = client.rank("ann", items=["tea", "soup", "cake"], k=2)
    assert len(places) == 2 and places[0].score >= places[1].score and places[0].event != places[1].event
    results = client.rewards([{"event": place.event, "reward": 1.0} for place in places])
    assert [isinstance(result, goblin.Accepted) for result in results] == [True, True]
    only = client.rank("ann", np.eye(2), k=2, allowed=[False, True])
    assert [place.arm for place in only] == [1]


def test_rankings_of_the_same_event_are_the_same(serve: Serve, options: list[str | Path]) -> None:
    client = goblin.Client(serve(*options).url)
    first = client.rank("ann", items=["tea", "soup", "cake"], k=2, event="page")
    client.reward(first[0].event, 1.0)
    wait_until_learned(client)
    assert client.rank("ann", items=["tea", "soup", "cake"], k=2, event="page") == first


def test_many_rewards_have_their_own_results(serve: Serve, options: list[str | Path]) -> None:
    client = goblin.Client(serve(*options).url)
    decided = client.select("ann", items=["tea", "soup"])
    results = client.rewards(
        [
            {"event": decided.event, "reward": 1.0},
            {"event": "nobody's", "reward": 1.0},
            {"user": "bob", "context": np.array([0.0, 1.0]), "reward": 0.5},
            {"user": "cat", "item": "cake", "reward": 0.25},
        ]
    )
    assert [result.status for result in results if isinstance(result, goblin.ClientError)] == [404]
    offsets = [result.offset for result in results if isinstance(result, goblin.Accepted)]
    assert offsets == sorted(offsets) and len(offsets) == 3
    wait_until_learned(client)
    assert [client.user(user)["rewards"] for user in ("ann", "bob", "cat")] == [1, 1, 1]


def test_graph_and_catalogue_change_while_it_runs(serve: Serve, options: list[str | Path]) -> None:
    client = goblin.Client(serve(*options).url)
    wait_until_known(client, client.put_user("dora", friends=["ann", ("cat", 0.5)]))
    assert {row["user"]: row["weight"] for row in client.user("dora")["friends"]} == {"ann": 1.0, "cat": 0.5}
    client.put_edge("dora", "ann", 3.0)
    wait_until_known(client, client.delete_edge("dora", "cat"))
    assert {row["user"]: row["weight"] for row in client.user("dora")["friends"]} == {"ann": 3.0}
    client.put_item("a/b ü?", [0.5, 0.5])
    assert client.item("a/b ü?") == {"item": "a/b ü?", "context": [0.5, 0.5]}
    assert client.select("dora", items=["a/b ü?"]).item == "a/b ü?"
    client.delete_item("a/b ü?")
    with pytest.raises(goblin.ClientError, match="404"):
        client.item("a/b ü?")
    client.rewards([{"user": "dora", "item": "tea", "reward": 1.0}])
    wait_until_learned(client)
    explained = client.explain("ann", item="tea")
    assert explained["contributions"][0]["user"] == "dora" and explained["mean"] > 0


def test_what_was_acknowledged_is_there_after_a_crash(serve: Serve, options: list[str | Path]) -> None:
    server = serve(*options)
    client = goblin.Client(server.url)
    events = [client.select("ann", items=["tea", "soup"]).event for _ in range(20)]
    for event in events[:10]:
        client.reward(event, 1.0)
    client.put_item("pie", [1.0, 1.0])
    server.kill()
    server.start()
    assert all(client.reward(event, 1.0).repeated for event in events[:10])
    assert not any(client.reward(event, 1.0).repeated for event in events[10:])
    assert client.item("pie")["context"] == [1.0, 1.0]
    wait_until_learned(client)
    assert client.user("ann")["rewards"] == 20


def test_retries_over_a_crash_learn_once(serve: Serve, options: list[str | Path]) -> None:
    """Threads go on deciding and rewarding while the server is killed and started again."""
    server = serve(*options)
    client = goblin.Client(server.url, retries=12)
    failed: list[BaseException] = []

    def play(number: int) -> None:
        try:
            for _ in range(40):
                client.reward(client.select(f"user{number}", items=["tea", "soup"]).event, 1.0)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=play, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(3):
        server.kill()
        server.start()
    for thread in threads:
        thread.join()
    assert failed == []
    wait_until_learned(client)
    assert [client.user(f"user{number}")["rewards"] for number in range(4)] == [40] * 4


def test_the_log_is_read_by_the_other_commands(
    serve: Serve, options: list[str | Path], command: Path, tmp_path: Path, random: np.random.Generator
) -> None:
    client = goblin.Client(serve(*options[:-1], "epsilon_greedy:0.5").url)
    for round in range(60):
        decided = client.select(["ann", "bob", "cat"][round % 3], random.normal(size=(3, 2)))
        if round % 3:
            client.reward(decided.event, float(decided.arm == 1))
    wait_until_learned(client)
    lines = list(client.log())
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    logged = ["--graph", tmp_path / "edges.tsv", "--events", tmp_path / "log.jsonl"]
    fitted = run(command, "fit", *logged, "--dimension", 2, "--save", tmp_path / "model", "--json")
    assert json.loads(fitted)["learned"] == 40
    bandit = goblin.load(tmp_path / "model")
    for user in ("ann", "bob", "cat"):
        assert np.allclose(bandit.mean(user), client.user(user)["mean"], rtol=1e-8, atol=1e-12)
    assert json.loads(run(command, "evaluate", *logged, "--json"))["estimates"]
    assert "graph help" in run(command, "tune", *logged)
    replayed = subprocess.run(
        [command, "replay", "--graph", tmp_path / "edges.tsv", "--dimension", "2"],
        input=(tmp_path / "log.jsonl").read_text(), capture_output=True, text=True,
    )  # fmt: skip
    assert replayed.returncode == 0 and "40 decisions, 40 rewards learned" in replayed.stderr, replayed.stderr
    offset = lines[len(lines) // 2]["offset"]
    assert next(client.log(offset)) == lines[len(lines) // 2]


def run(command: Path, *arguments: Any) -> str:
    done = subprocess.run([command, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout or done.stderr


def test_keys(serve: Serve, options: list[str | Path], tmp_path: Path) -> None:
    rights = {"site": "decide,learn", "owner": "admin", "looker": "read"}
    lines = [
        f"{name} {hashlib.sha256(f'{name} key'.replace(' ', '-').encode()).hexdigest()} {may}\n"
        for name, may in rights.items()
    ]
    (tmp_path / "keys").write_text("".join(lines))
    url = serve(*options, "--keys", tmp_path / "keys").url
    site, owner, looker = (goblin.Client(url, key=f"{name}-key") for name in rights)
    site.reward(site.select("ann", items=["tea"]).event, 1.0)
    assert looker.status()["policy"] == "gob.lin" and owner.status()
    for call, status in [
        (lambda: goblin.Client(url).status(), 401),
        (lambda: goblin.Client(url, key="guess").status(), 401),
        (lambda: site.put_item("pie", [1.0, 1.0]), 403),
        (lambda: looker.select("ann", items=["tea"]), 403),
    ]:
        with pytest.raises(goblin.ClientError) as caught:
            call()
        assert caught.value.status == status


#: What the document cannot say: how many numbers a context has here, which policy has clusters. Of many rewards each
#: has its own result, and a bad one does not refuse the others.
EXCEPTIONS = """
[checks]
positive_data_acceptance.enabled = false

[[operations]]
include-name = "POST /v1/rewards"
checks.negative_data_rejection.enabled = false
"""


def test_every_answer_is_as_the_document_says(serve: Serve, options: list[str | Path], tmp_path: Path) -> None:
    """schemathesis makes requests of all kinds from the OpenAPI document, good ones and bad ones: no 5xx, bad ones are
    refused, and answers have the statuses, headers and fields that the document promises."""
    pytest.importorskip("schemathesis", reason="schemathesis is not installed")
    server = serve(*options)
    (tmp_path / "schemathesis.toml").write_text(EXCEPTIONS)
    run = [sys.executable, "-m", "schemathesis.cli", "run", f"{server.url}/openapi.json", "--max-time", "15"]
    usual = ["--seed", "1", "--no-color", "--generation-database", "none", "--request-timeout", "10"]
    done = subprocess.run([*run, *usual], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-20000:] + done.stderr
    assert goblin.Client(server.url).status()["ready"]
