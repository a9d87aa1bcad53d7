"""goblin serve --log: several servers over one topic of real brokers, which are killed, frozen and started again.

One broker, as a rule; ``./dev test kafka`` has three, and kills and restarts those, too.
"""

from __future__ import annotations

import ctypes
import dataclasses
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from server_process import PATIENCE, Server

import goblin

examples = Path(os.environ.get("GOBLIN_SOURCE", "")) / "examples"
if not (examples / "kafka_cluster.py").exists():
    pytest.skip("needs the source folder: GOBLIN_SOURCE", allow_module_level=True)
sys.path.insert(0, str(examples))
from kafka_cluster import Brokers, NoKafkaError, libraries  # noqa: E402

USERS = [f"u{k}" for k in range(12)]
COUNT = int(os.environ.get("GOBLIN_KAFKA_BROKERS", "1"))

several = pytest.mark.skipif(COUNT < 3, reason="takes three brokers: ./dev test kafka")


@pytest.fixture(scope="module")
def brokers(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brokers]:
    try:
        libs = libraries(source / "build" / "kafka")
    except NoKafkaError as missing:
        if "GOBLIN_KAFKA_BROKERS" in os.environ:
            raise  # whoever asks for brokers wants them
        pytest.skip(str(missing))
    made = Brokers(libs, tmp_path_factory.mktemp("kafka"), COUNT)
    yield made
    made.stop()


@pytest.fixture
def command() -> Path:
    if "GOBLIN_COMMAND" not in os.environ:
        pytest.skip("needs the command line: GOBLIN_COMMAND")
    return Path(os.environ["GOBLIN_COMMAND"])


@pytest.fixture
def topic(brokers: Brokers, command: Path, request: pytest.FixtureRequest) -> str:
    name = "".join(c if c.isalnum() else "-" for c in request.node.name)
    replicas = ["--replicas", str(COUNT)] if COUNT > 1 else []
    subprocess.run([command, "topic", "create", f"{brokers.address}/{name}", *replicas], check=True)
    return f"{brokers.address}/{name}"


Serve = Callable[..., Server]


@pytest.fixture
def serve(command: Path, topic: str, tmp_path: Path) -> Iterator[Serve]:
    (tmp_path / "edges.tsv").write_text("".join(f"u{k}\tu{(k + step) % 12}\n" for k in range(12) for step in (1, 3)))
    started: list[Server] = []

    def start(name: str, *arguments: str, policy: str = "gob.lin", log: str = topic, store: str = "--store") -> Server:
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        options = ["--graph", tmp_path / "edges.tsv", "--dimension", "3", "--policy", policy, "--log", log]
        options += [store, folder / "store", "--process", name, "--default-reward", "none", *arguments]
        server = Server(command, folder, *map(str, options))
        started.append(server)
        return server

    yield start
    for server in started:
        if server.process.poll() is None:
            server.process.send_signal(signal.SIGCONT)
            server.process.kill()
            server.process.wait()


class Traffic:
    """Decides and rewards through one server, also while it comes and goes; keeps what was acknowledged."""

    def __init__(self, url: str, seed: int) -> None:
        self.url, self.random = url, random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.acknowledged: dict[str, float] = {}
        self.refused = 0
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self) -> None:
        with goblin.Client(self.url, timeout=10, retries=0) as client:
            while not self.stop.is_set():
                try:
                    decided = client.select(self.random.choice(USERS), self.numbers.normal(size=(4, 3)))
                    reward = float(self.random.randint(-3, 3))
                    for attempt in range(3):  # a caller who does not know whether it arrived says it again
                        try:
                            client.reward(decided.event, reward)
                            self.acknowledged[decided.event] = reward
                            break
                        except (goblin.ClientError, OSError):
                            time.sleep(0.05 * attempt)
                except (goblin.ClientError, OSError):
                    self.refused += 1
                    time.sleep(0.02)

    def end(self) -> dict[str, float]:
        self.stop.set()
        self.thread.join()
        return self.acknowledged


def log_of(server: Server) -> list[dict[str, Any]]:
    with urllib.request.urlopen(f"{server.url}/v1/log?from=1") as answer:
        return [json.loads(line) for line in answer.read().splitlines()]


def wait_until_even(*servers: Server) -> None:
    """All have learned all there is."""
    end = time.monotonic() + PATIENCE
    while True:
        states = [goblin.Client(server.url).status() for server in servers]
        most = max(state["end"] for state in states)
        if all(state["end"] == most and state["learned"] == most - 1 for state in states):
            return
        assert time.monotonic() < end, states
        time.sleep(0.05)


def check_all(servers: list[Server], acknowledged: list[dict[str, float]]) -> None:
    """Every server has what was acknowledged, once; scores are those of one bandit that learned the log in order."""
    wait_until_even(*servers)
    logs = [log_of(server) for server in servers]
    assert all(log == logs[0] for log in logs)
    rewards = [row for row in logs[0] if "reward" in row]
    events = [row["event"] for row in rewards if "event" in row]
    assert len(events) == len(set(events)), "a decision was rewarded twice"
    known = {row["event"]: row["reward"] for row in rewards if "event" in row}
    for some in acknowledged:
        missing = {event: reward for event, reward in some.items() if known.get(event) != reward}
        assert not missing
    edges = [(f"u{k}", f"u{(k + step) % 12}") for k in range(12) for step in (1, 3)]
    oracle = goblin.GobLin(edges, dimension=3)
    for row in rewards:
        contexts = row.get("contexts")
        oracle.update(row["user"], row["context"] if contexts is None else contexts[row["action"]], row["reward"])
    candidates = np.random.default_rng(1).normal(size=(5, 3))
    end = goblin.Client(servers[0].url).status()["end"] - 1
    for server in servers:
        with goblin.Client(server.url) as client:
            for user in USERS:
                decided = client.select(user, candidates, after=end)
                np.testing.assert_allclose(decided.scores, oracle.scores(user, candidates).score, rtol=1e-8, atol=1e-8)
            state = client.status()
            assert state["ready"] and not state["trouble"], state


def test_two_servers_are_one_bandit(serve: Serve) -> None:
    one, two = serve("one"), serve("two")
    traffic = [Traffic(server.url, k) for k, server in enumerate((one, two, one))]
    time.sleep(3)
    acknowledged = [each.end() for each in traffic]
    assert min(map(len, acknowledged)) > 20 and all(each.refused == 0 for each in traffic)
    check_all([one, two], acknowledged)
    for server in (one, two):
        server.stop()


@dataclasses.dataclass
class Answer:
    """A decision as its caller saw it: after which offset it was asked for, and which one it has."""

    user: str
    contexts: np.ndarray[Any, Any]
    scores: np.ndarray[Any, Any]
    after: int
    offset: int


def ask_under_way(servers: list[Server], seed: int, answers: list[Answer]) -> None:
    """Each reward goes to another server than the decision after it, which has to wait for it."""
    random_user, numbers = random.Random(seed), np.random.default_rng(seed)
    clients = [goblin.Client(server.url, timeout=10) for server in servers]
    after = 0
    for turn in range(60):
        user, contexts = random_user.choice(USERS), numbers.normal(size=(4, 3))
        decided = clients[turn % len(clients)].select(user, contexts, after=after or None)
        answers.append(Answer(user, contexts, np.array(decided.scores), after, decided.offset))
        reward = float(random_user.randint(-3, 3))
        after = clients[(turn + 1) % len(clients)].reward(decided.event, reward).offset


def test_answers_under_way_are_those_of_the_log_up_to_some_offset_between(serve: Serve) -> None:
    # Of the means: the number of rewards that a width counts may be that before a reward which the mean has already.
    servers = [serve(name, "--explore", "ucb:0") for name in ("one", "two")]
    answers: list[Answer] = []
    threads = [threading.Thread(target=ask_under_way, args=(servers, seed, answers)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 240
    wait_until_even(*servers)
    rewards = [row for row in log_of(servers[0]) if "reward" in row]
    assert len(rewards) == 240
    # One bandit learns the log. After each reward it is asked what servers were asked that may have been as far.
    edges = [(f"u{k}", f"u{(k + step) % 12}") for k in range(12) for step in (1, 3)]
    oracle = goblin.GobLin(edges, dimension=3, alpha=0)
    waiting = answers
    ends = [row["offset"] for row in rewards[1:]]
    for row, until in zip([None, *rewards], [rewards[0]["offset"], *ends, sys.maxsize], strict=True):
        if row is not None:
            contexts = row.get("contexts")
            oracle.update(row["user"], row["context"] if contexts is None else contexts[row["action"]], row["reward"])
        begin = 0 if row is None else row["offset"]
        waiting = [
            each
            for each in waiting
            if not (
                each.after < until
                and each.offset > begin
                and np.allclose(oracle.scores(each.user, each.contexts).score, each.scores, rtol=1e-8, atol=1e-8)
            )
        ]
    assert not waiting, f"{len(waiting)} answers are of no log between what they came after and themselves"


def test_a_torn_snapshot_is_named_and_the_one_before_is_used(serve: Serve) -> None:
    one, two = serve("one", store="--snapshots"), serve("two")
    acknowledged = []
    for turn in range(2):
        traffic = [Traffic(one.url, 2 * turn), Traffic(two.url, 2 * turn + 1)]
        time.sleep(1)
        acknowledged += [each.end() for each in traffic]
        one.stop()  # with a snapshot
        if turn == 0:
            one.start()
    snapshots = sorted((one.log.parent / "store" / "snapshots").glob("*.goblin"), key=lambda path: int(path.stem))
    assert len(snapshots) >= 2
    with open(snapshots[-1], "r+b") as torn:
        torn.truncate(snapshots[-1].stat().st_size // 2)
    said = len(one.log.read_text())
    one.start()
    words = one.log.read_text()[said:]
    assert f"{snapshots[-1]}: is truncated" in words and "an older snapshot is used" in words
    check_all([one, two], acknowledged)


def test_servers_that_are_killed_lose_nothing(serve: Serve) -> None:
    servers = [serve("one"), serve("two")]
    traffic = [Traffic(server.url, k) for k, server in enumerate(servers * 2)]
    chance = random.Random(5)
    for turn in range(6):
        time.sleep(0.2 + chance.random())
        servers[turn % 2].kill()
        time.sleep(chance.random())
        servers[turn % 2].start()
    time.sleep(1)
    acknowledged = [each.end() for each in traffic]
    assert sum(map(len, acknowledged)) > 100
    third = serve("three")  # with an empty store: all of it is in the log
    check_all([*servers, third], acknowledged)


def test_a_server_that_was_frozen_comes_back(serve: Serve) -> None:
    one, two = serve("one"), serve("two")
    traffic = [Traffic(one.url, 1), Traffic(two.url, 2)]
    time.sleep(1)
    one.process.send_signal(signal.SIGSTOP)
    before = len(traffic[1].acknowledged)
    time.sleep(12)  # longer than a server waits for an entry that it knows to be there
    assert len(traffic[1].acknowledged) > before + 20, "the other one goes on"
    one.process.send_signal(signal.SIGCONT)
    time.sleep(2)
    check_all([one, two], [each.end() for each in traffic])


class Message(ctypes.Structure):
    """librdkafka's."""

    _fields_: ClassVar = [
        ("error", ctypes.c_int),
        ("topic", ctypes.c_void_p),
        ("partition", ctypes.c_int32),
        ("payload", ctypes.c_void_p),
        ("size", ctypes.c_size_t),
    ]


class Stranger:
    """Somebody else who reads and writes a topic, without goblin."""

    def __init__(self, address: str) -> None:
        self.library = ctypes.CDLL("librdkafka.so.1")
        for name in ("conf_new", "new", "topic_new", "consume"):
            getattr(self.library, f"rd_kafka_{name}").restype = ctypes.c_void_p
        self.brokers, self.topic = address.removeprefix("kafka://").split("/")

    def made(self, kind: int) -> tuple[ctypes.c_void_p, ctypes.c_void_p]:
        """A producer (0) or a consumer (1), and the topic to it."""
        settings = ctypes.c_void_p(self.library.rd_kafka_conf_new())
        self.library.rd_kafka_conf_set(settings, b"bootstrap.servers", self.brokers.encode(), None, 0)
        client = ctypes.c_void_p(self.library.rd_kafka_new(kind, settings, None, 0))
        return client, ctypes.c_void_p(self.library.rd_kafka_topic_new(client, self.topic.encode(), None))

    def read(self) -> list[bytes]:
        """What is there, and perhaps some of what comes meanwhile."""
        client, topic = self.made(1)
        end = time.monotonic() + 2
        self.library.rd_kafka_consume_start(topic, 0, ctypes.c_int64(0))
        found: list[bytes] = []
        while time.monotonic() < end:
            pointer = self.library.rd_kafka_consume(topic, 0, 200)
            if not pointer:
                continue
            message = Message.from_address(pointer)
            if message.error == 0:
                found.append(ctypes.string_at(message.payload, message.size))
            self.library.rd_kafka_message_destroy(ctypes.c_void_p(pointer))
        self.library.rd_kafka_consume_stop(topic, 0)
        self.library.rd_kafka_topic_destroy(topic)
        self.library.rd_kafka_destroy(client)
        return found

    def delete_before(self, entry: int) -> None:
        """As brokers do by themselves where a topic has a retention."""
        library = self.library
        client, topic = self.made(0)
        for name in ("topic_partition_list_new", "DeleteRecords_new", "queue_new", "queue_poll"):
            getattr(library, f"rd_kafka_{name}").restype = ctypes.c_void_p
        library.rd_kafka_event_error_string.restype = ctypes.c_char_p
        until = ctypes.c_void_p(library.rd_kafka_topic_partition_list_new(1))
        library.rd_kafka_topic_partition_list_add(until, self.topic.encode(), 0)
        library.rd_kafka_topic_partition_list_set_offset(until, self.topic.encode(), 0, ctypes.c_int64(entry))
        wish = ctypes.c_void_p(library.rd_kafka_DeleteRecords_new(until))
        queue = ctypes.c_void_p(library.rd_kafka_queue_new(client))
        library.rd_kafka_DeleteRecords(client, ctypes.byref(wish), ctypes.c_size_t(1), None, queue)
        event = ctypes.c_void_p(library.rd_kafka_queue_poll(queue, 30_000))
        assert event, "nobody answers"
        assert library.rd_kafka_event_error(event) == 0, library.rd_kafka_event_error_string(event)
        library.rd_kafka_event_destroy(event)
        library.rd_kafka_queue_destroy(queue)
        library.rd_kafka_DeleteRecords_destroy(wish)
        library.rd_kafka_topic_partition_list_destroy(until)
        library.rd_kafka_topic_destroy(topic)
        library.rd_kafka_destroy(client)

    def write(self, messages: list[bytes]) -> None:
        client, topic = self.made(0)
        copy = 2
        for message in messages:
            self.library.rd_kafka_produce(
                topic, 0, copy, message, ctypes.c_size_t(len(message)), None, ctypes.c_size_t(0), None
            )
        assert self.library.rd_kafka_flush(client, 30_000) == 0
        self.library.rd_kafka_topic_destroy(topic)
        self.library.rd_kafka_destroy(client)


def test_what_is_there_twice_or_is_not_goblins_means_nothing(serve: Serve, topic: str) -> None:
    one, two = serve("one"), serve("two")
    stranger = Stranger(topic)
    acknowledged = []
    for turn in range(2):
        traffic = [Traffic(one.url, 2 * turn), Traffic(two.url, 2 * turn + 1)]
        time.sleep(0.5)
        entries = stranger.read()
        stranger.write([b"", b"poison", *entries, *(entry[: len(entry) // 2] for entry in entries[-20:])])
        time.sleep(0.5)
        acknowledged += [each.end() for each in traffic]
    assert len(entries) > 40
    check_all([one, two, serve("three")], acknowledged)


def test_entries_that_brokers_have_deleted(serve: Serve, topic: str, tmp_path: Path) -> None:
    """Whoever has a copy goes on, and an empty store is refused with what to do: to take the copy of another one."""
    one = serve("one")
    traffic = Traffic(one.url, 1)
    time.sleep(1)
    acknowledged = [traffic.end()]
    wait_until_even(one)
    one.stop()
    entries = len(Stranger(topic).read())
    assert entries > 10
    Stranger(topic).delete_before(entries - 3)
    one.start()
    message = said_at_start(serve, "two")
    assert f"begins at entry {entries - 3}, because older ones were deleted" in message
    one.stop()
    shutil.rmtree(tmp_path / "two")
    shutil.copytree(tmp_path / "one" / "store", tmp_path / "two" / "store")
    one.start()
    two = serve("two")
    traffic = Traffic(two.url, 2)
    time.sleep(1)
    check_all([one, two], [*acknowledged, traffic.end()])


def decide(server: Server, user: str) -> dict[str, Any]:
    """A decision that the caller gives no name."""
    body = json.dumps({"user": user, "contexts": [[1, 0, 0], [0, 1, 0]]}).encode()
    request = urllib.request.Request(f"{server.url}/v1/select", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        made: dict[str, Any] = json.load(answer)
        return made


def test_while_the_brokers_are_gone_decisions_go_on(serve: Serve, brokers: Brokers) -> None:
    one, two = serve("one"), serve("two")
    client = goblin.Client(one.url, retries=0, timeout=20)
    known = client.select("u1", np.eye(3))
    with pytest.raises(goblin.ClientError) as unknown:
        client.reward("nobody's", 1.0)
    assert unknown.value.status == 404
    for k in range(COUNT):
        brokers.kill(k)
    try:
        begin = time.monotonic()
        with pytest.raises(goblin.ClientError) as unknown:
            client.reward("nobody's", 1.0)
        assert unknown.value.status == 503 and time.monotonic() - begin < 15, "nobody can say whether it is there"
        with pytest.raises(goblin.ClientError, match="cannot be appended to") as refused:
            client.reward(known.event, 1.0)
        assert refused.value.status == 503
        for _ in range(2):  # which proves nothing
            with pytest.raises(goblin.ClientError, match="503"):
                client.reward("nobody's", 1.0)
        with pytest.raises(urllib.error.HTTPError, match="503"):
            urllib.request.urlopen(f"{one.url}/readyz")
        decided = [decide(one, "u2")["event"] for _ in range(5)]
    finally:
        brokers.restart(*range(COUNT))
    end = time.monotonic() + PATIENCE
    while not (one.is_ready() and two.is_ready()) and time.monotonic() < end:
        time.sleep(0.1)
    acknowledged = {}
    with goblin.Client(two.url) as other:
        for event in [known.event, *decided]:
            while True:  # what was decided meanwhile comes into the log
                try:
                    other.reward(event, 2.0)
                    break
                except goblin.ClientError as error:
                    assert error.status in (404, 503) and time.monotonic() < end, error
                    time.sleep(0.1)
            acknowledged[event] = 2.0
    check_all([one, two], [acknowledged])


@several
def test_brokers_that_are_killed_one_by_one(serve: Serve, brokers: Brokers) -> None:
    servers = [serve("one"), serve("two")]
    traffic = [Traffic(server.url, k) for k, server in enumerate(servers)]
    for k in range(COUNT):
        time.sleep(1)
        before = sum(len(each.acknowledged) for each in traffic)
        brokers.kill(k)
        end = time.monotonic() + 30
        while sum(len(each.acknowledged) for each in traffic) < before + 10:
            assert time.monotonic() < end, "two of three brokers are enough"
            time.sleep(0.1)
        brokers.restart(k)
        time.sleep(4)  # until it is in sync again
    check_all(servers, [each.end() for each in traffic])


@several
def test_two_of_three_brokers_gone_and_back(serve: Serve, brokers: Brokers) -> None:
    servers = [serve("one"), serve("two")]
    traffic = [Traffic(server.url, k) for k, server in enumerate(servers)]
    time.sleep(1)
    for k in (0, 1):
        brokers.kill(k)
    time.sleep(13)  # longer than a server waits for an entry that it knows to be there
    brokers.restart(0, 1)
    before = sum(len(each.acknowledged) for each in traffic)
    end = time.monotonic() + PATIENCE
    while sum(len(each.acknowledged) for each in traffic) < before + 20:
        assert time.monotonic() < end, "it goes on when they are back"
        time.sleep(0.1)
    check_all(servers, [each.end() for each in traffic])


@several
def test_the_example(source: Path) -> None:
    run = [sys.executable, source / "examples" / "kafka_cluster.py"]
    done = subprocess.run(run, capture_output=True, text=True)
    assert done.returncode == 0 and "nothing was lost, and nothing was learned twice" in done.stdout, done


def said_at_start(serve: Serve, name: str, **options: Any) -> str:
    with pytest.raises(pytest.fail.Exception) as failure:
        serve(name, **options)
    return str(failure.value)


def test_what_does_not_fit_is_named(serve: Serve, brokers: Brokers, topic: str, tmp_path: Path) -> None:
    for _ in range(2):  # the first one must not make it, although brokers would
        assert "the brokers have no such topic; 'goblin topic create" in said_at_start(
            serve, "a", log=f"{brokers.address}/nothing"
        )
    assert "no broker answers" in said_at_start(serve, "b", log="kafka://127.0.0.1:1/clicks")
    assert "--log: 'clicks' (must be kafka://BROKER:PORT/TOPIC" in said_at_start(serve, "c", log="clicks")
    serve("one").stop()
    assert "begins with gob.lin of dimension 3" in said_at_start(serve, "d", policy="linucb-ind")
    assert "another topic" in said_at_start(serve, "e", policy="linucb-ind")
    # The store of one topic at another one.
    other = f"{brokers.address}/other-{os.getpid()}"
    subprocess.run([os.environ["GOBLIN_COMMAND"], "topic", "create", other], check=True)
    assert "is not the log that the store is a copy of" in said_at_start(serve, "one", log=other)
    described = subprocess.run(
        [os.environ["GOBLIN_COMMAND"], "topic", "describe", topic], check=True, capture_output=True, text=True
    )
    assert "begins with gob.lin of dimension 3" in described.stdout + described.stderr
    again = subprocess.run([os.environ["GOBLIN_COMMAND"], "topic", "create", topic], capture_output=True, text=True)
    assert again.returncode == 1 and "is there already; 'goblin topic describe" in again.stderr


PARTITIONS = 3
CLUSTER_OF = [k // 2 for k in range(12)]
EDGES = [(f"u{k}", f"u{(k + step) % 12}") for k in range(12) for step in (1, 3)]


class Group:
    """Servers over a topic with several partitions: those of a group share them."""

    def __init__(self, serve: Serve, command: Path, address: str, folder: Path, replicas: int) -> None:
        self.serve, self.address, self.folder = serve, address, folder
        labels = folder / "clusters.tsv"
        labels.write_text("".join(f"u{k}\t{cluster}\n" for k, cluster in enumerate(CLUSTER_OF)))
        made = ["--partitions", str(PARTITIONS), "--graph", folder / "edges.tsv", "--labels", labels]
        made += ["--table", folder / "table.tsv", "--replicas", str(replicas)]
        subprocess.run([command, "topic", "create", address, *map(str, made)], check=True)
        rows = [line.split("\t") for line in (folder / "table.tsv").read_text().splitlines()]
        self.partition_of = {user: int(partition) for user, partition in rows if not user.startswith("#")}
        (folder / "kafka.conf").write_text("session.timeout.ms=2000\nheartbeat.interval.ms=300\n")

    def start(self, name: str, group: str | None = None, *arguments: str) -> Server:
        options = ["--labels", str(self.folder / "clusters.tsv"), "--table", str(self.folder / "table.tsv")]
        options += ["--kafka", str(self.folder / "kafka.conf")]
        if group is not None:
            options += ["--replica-group", group, "--advertise", "http://127.0.0.1:{port}"]
        return self.serve(name, *options, *arguments, policy="gob.lin.block", log=self.address)

    def here(self, server: Server) -> set[int]:
        """The partitions that a server has."""
        return {row["partition"] for row in goblin.Client(server.url).status()["partitions"] if row["here"]}

    def wait_until_shared(self, *servers: Server) -> list[set[int]]:
        """Until each partition is with one of them, and all of them know it."""
        end = time.monotonic() + PATIENCE
        while True:
            have = [self.here(server) for server in servers]
            if sorted(partition for some in have for partition in some) == list(range(PARTITIONS)):
                owner = {partition: servers[k].url for k, some in enumerate(have) for partition in some}
                rows = [row for server in servers for row in goblin.Client(server.url).status()["partitions"]]
                if all(row.get("server") == owner[row["partition"]] for row in rows):
                    return have
            assert time.monotonic() < end, have
            time.sleep(0.05)

    def check(self, oracle: Server, servers: list[Server], acknowledged: list[dict[str, float]]) -> None:
        """The logs, which `oracle` has whole, hold what was acknowledged, once; and whoever has a partition has the
        scores of one bandit that learned its log in order."""
        rows: dict[int, list[dict[str, Any]]] = {}
        ends = {}
        for partition in range(PARTITIONS):
            with urllib.request.urlopen(f"{oracle.url}/v1/log?from=1&partition={partition}") as answer:
                rows[partition] = [json.loads(line) for line in answer.read().splitlines()]
            ends[partition] = max((row["offset"] for row in rows[partition]), default=0)
        rewards = [row for some in rows.values() for row in some if "reward" in row]
        known = {row["event"]: row["reward"] for row in rewards}
        assert len(known) == len(rewards), "a decision was rewarded twice"
        for some in acknowledged:
            missing = {event: reward for event, reward in some.items() if known.get(event) != reward}
            assert not missing
        candidates = np.random.default_rng(1).normal(size=(5, 3))
        clients = [goblin.Client(server.url) for server in servers]
        for partition, learned in rows.items():
            bandit = goblin.GobLinBlock(EDGES, dimension=3, clusters={f"u{k}": c for k, c in enumerate(CLUSTER_OF)})
            for row in learned:
                assert self.partition_of[row["user"]] == partition
                bandit.update(row["user"], row["contexts"][row["action"]], row["reward"])
            for user in (user for user, its in self.partition_of.items() if its == partition):
                expected = bandit.scores(user, candidates).score
                for client in clients:
                    decided = client.select(user, candidates, after=ends[partition] or None)
                    np.testing.assert_allclose(decided.scores, expected, rtol=1e-8, atol=1e-8)
        for client in clients:
            assert not client.status()["trouble"]


@pytest.fixture
def group(serve: Serve, command: Path, brokers: Brokers, topic: str, tmp_path: Path) -> Group:
    return Group(serve, command, f"{topic}-shared", tmp_path, COUNT)


def test_servers_share_the_partitions_of_a_topic(group: Group) -> None:
    one, two, other = group.start("one", "a"), group.start("two", "a"), group.start("other", "b")
    have = group.wait_until_shared(one, two)
    assert all(have), "each has some of them"
    assert group.here(other) == set(range(PARTITIONS)), "another group has all of them, too"
    traffic = [Traffic(server.url, k) for k, server in enumerate((one, two, other))]
    time.sleep(3)
    third = group.start("three", "a")  # takes over some of them, under load
    while not group.here(third):
        time.sleep(0.05)
    time.sleep(1)
    acknowledged = [each.end() for each in traffic]
    assert min(map(len, acknowledged)) > 20
    group.wait_until_shared(one, two, third)
    whole = group.start("whole")  # in no group, with an empty store
    group.check(whole, [one, two, third, other, whole], acknowledged)
    for server in (one, two, third, other, whole):
        server.stop()


def test_partitions_of_a_server_that_is_killed_or_frozen_go_to_the_others(group: Group) -> None:
    one, two, other = group.start("one", "a"), group.start("two", "a"), group.start("other", "b")
    group.wait_until_shared(one, two)
    traffic = [Traffic(server.url, k) for k, server in enumerate((one, other, one))]
    time.sleep(1)
    two.kill()
    end = time.monotonic() + PATIENCE
    while group.here(one) != set(range(PARTITIONS)):
        assert time.monotonic() < end, "its partitions go to the one that is left"
        time.sleep(0.05)
    two.start()
    group.wait_until_shared(one, two)
    time.sleep(0.5)
    two.process.send_signal(signal.SIGSTOP)
    while group.here(one) != set(range(PARTITIONS)):
        assert time.monotonic() < end, "so they do if it is frozen for longer than the session may be silent"
        time.sleep(0.05)
    time.sleep(0.5)
    two.process.send_signal(signal.SIGCONT)
    group.wait_until_shared(one, two)
    acknowledged = [each.end() for each in traffic]
    assert min(map(len, acknowledged)) > 20
    group.check(group.start("whole"), [one, two, other], acknowledged)


def test_a_server_that_is_stopped_hands_its_partitions_over(group: Group, brokers: Brokers) -> None:
    session = 30
    (group.folder / "kafka.conf").write_text(f"session.timeout.ms={session * 1000}\nheartbeat.interval.ms=300\n")
    one, two = group.start("one", "a"), group.start("two", "a")
    group.wait_until_shared(one, two)
    traffic = Traffic(one.url, 1)
    begin = time.monotonic()
    two.stop()
    while group.here(one) != set(range(PARTITIONS)):
        assert time.monotonic() < begin + session / 2, "nobody has to wait until its session ends"
        time.sleep(0.05)
    time.sleep(0.5)
    two.start()
    group.wait_until_shared(one, two)
    acknowledged = traffic.end()
    assert len(acknowledged) > 20
    group.check(group.start("whole"), [one, two], [acknowledged])
    # Nor does it wait for brokers that are gone.
    for k in range(COUNT):
        brokers.kill(k)
    try:
        begin = time.monotonic()
        two.stop()
        assert time.monotonic() < begin + session, "it ends all the same"
    finally:
        brokers.restart(*range(COUNT))


def test_what_does_not_fit_partitions_is_named(group: Group, serve: Serve, command: Path, tmp_path: Path) -> None:
    def said(name: str, *arguments: str, policy: str = "gob.lin.block") -> str:
        with pytest.raises(pytest.fail.Exception) as failure:
            serve(name, *arguments, policy=policy, log=group.address)
        return str(failure.value)

    clusters = ["--labels", str(tmp_path / "clusters.tsv")]
    assert "has 3 partitions (must have 1 for gob.lin" in said("a", policy="gob.lin")
    assert "there is none, and so cluster 0 has users of the partitions" in said("b", *clusters)
    (tmp_path / "small.tsv").write_text("u0\t0\nstranger\t1\n")
    small = said("c", *clusters, "--table", str(tmp_path / "small.tsv"))
    assert 'users who are not in the graph: 1, "stranger" first (must be made from the same graph' in small
    (tmp_path / "short.tsv").write_text("u0\t0\n")
    short = said("c", *clusters, "--table", str(tmp_path / "short.tsv"))
    assert 'users of the graph are missing: 11, "u1" first (must be made from the same graph' in short
    (tmp_path / "wide.tsv").write_text("".join(f"u{k}\t{k // 2}\n" for k in range(12)))
    too_wide = said("d", *clusters, "--table", str(tmp_path / "wide.tsv"))
    assert "partition '3' (must be a whole number below 3" in too_wide
    group.start("one").stop()
    # Another table is another log: users would be elsewhere than their rewards.
    other = {"0": "1", "1": "0", "2": "2"}
    rows = [line.split("\t") for line in (tmp_path / "table.tsv").read_text().splitlines() if line[0] != "#"]
    (tmp_path / "other.tsv").write_text("".join(f"{user}\t{other[partition]}\n" for user, partition in rows))
    assert "another topic" in said("e", *clusters, "--table", str(tmp_path / "other.tsv"))


def test_tls_and_passwords(serve: Serve, command: Path, source: Path, tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    made += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", tmp_path / "key", "-out", tmp_path / "certificate"]
    subprocess.run(made, check=True, capture_output=True)
    (tmp_path / "store.pem").write_text((tmp_path / "key").read_text() + (tmp_path / "certificate").read_text())
    jaas = "org.apache.kafka.common.security.plain.PlainLoginModule required"
    own = [
        "listener.security.protocol.map=PLAINTEXT:SASL_SSL,CONTROLLER:PLAINTEXT",
        "ssl.keystore.type=PEM",
        f"ssl.keystore.location={tmp_path / 'store.pem'}",
        "ssl.truststore.type=PEM",
        f"ssl.truststore.location={tmp_path / 'certificate'}",
        "sasl.enabled.mechanisms=PLAIN",
        "sasl.mechanism.inter.broker.protocol=PLAIN",
        f'listener.name.plaintext.plain.sasl.jaas.config={jaas} username="broker" password="one" '
        'user_broker="one" user_goblin="right";',
    ]
    right = "security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.username=goblin\nsasl.password=right\n"
    right += f"ssl.ca.location={tmp_path / 'certificate'}\n"
    (tmp_path / "right").write_text(right)
    (tmp_path / "wrong").write_text(right.replace("password=right", "password=guessed"))
    (tmp_path / "unknown").write_text(right.replace("ssl.ca.location", "#"))  # who signed the certificate
    guarded = Brokers(libraries(source / "build" / "kafka"), tmp_path / "guarded", settings=own)
    try:
        clicks = f"{guarded.address}/clicks"
        make = [command, "topic", "create", clicks, "--kafka"]
        for file, reason in (("wrong", "uthentication"), ("unknown", "ertificate")):
            refused = subprocess.run([*make, tmp_path / file], capture_output=True, text=True)
            assert refused.returncode == 1 and reason in refused.stderr and "--kafka" in refused.stderr, refused.stderr
            assert "guessed" not in refused.stderr, "no password is said"
        subprocess.run([*make, tmp_path / "right"], check=True)
        for file, reason in (("wrong", "uthentication"), ("unknown", "ertificate")):
            with pytest.raises(pytest.fail.Exception) as failure:
                serve(f"with-{file}", "--kafka", str(tmp_path / file), log=clicks)
            assert reason in str(failure.value) and "--kafka" in str(failure.value)
        one = serve("one", "--kafka", str(tmp_path / "right"), log=clicks)
        two = serve("two", "--kafka", str(tmp_path / "right"), log=clicks)
        traffic = [Traffic(one.url, 1), Traffic(two.url, 2)]
        time.sleep(1)
        acknowledged = [each.end() for each in traffic]
        assert min(map(len, acknowledged)) > 5
        check_all([one, two], acknowledged)
        one.stop()
        two.stop()
    finally:
        guarded.stop()
