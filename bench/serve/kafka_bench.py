"""goblin serve over a Kafka topic, beside a store of its own: ./dev bench kafka.

One broker, the servers and wrk share this machine, so that figures say what all of them together can do on it. In every
round each way takes its turn. Where the processor's time of a request goes (servers, broker, wrk) is measured, too: it
is what the model of docs/scaling.md is made of, and from what one server takes it foretells the others' figures here.
Afterwards: how long it takes from the kill of a server to the next good answer, and how fast one with an empty store
reads the log.
"""

import argparse
import contextlib
import dataclasses
import datetime
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

from serve_bench import (
    CANDIDATES,
    DIMENSION,
    KEY,
    USERS,
    Server,
    end_load,
    processor_seconds,
    start_load,
    status,
    write_files,
)

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "examples"))
from kafka_cluster import Brokers, free_port, libraries

CALLS = [("select", "select"), ("select by item ids", "item"), ("reward", "reward")]


@dataclasses.dataclass(frozen=True)
class Way:
    """`asked`: for whose users the callers ask a server: "anybody", "own", "others", or "first": one alone is asked."""

    name: str
    partitions: int  # 0: no Kafka
    servers: int
    asked: str = "anybody"


WAYS = [
    Way("a store of its own", 0, 1),
    Way("1 partition, 1 server", 1, 1),
    Way("2 partitions, 1 server", 2, 1),
    Way("4 partitions, 1 server", 4, 1),
    Way("1 partition, 2 servers, one asked", 1, 2, "first"),
    Way("1 partition, 2 servers", 1, 2),
    Way("2 partitions, 2 servers, own users", 2, 2, "own"),
    Way("4 partitions, 2 servers, own users", 4, 2, "own"),
    Way("4 partitions, 2 servers, anybody", 4, 2),
    Way("4 partitions, 2 servers, others' users", 4, 2, "others"),
]


class Servers:
    """Those of one way, over a topic that is new."""

    def __init__(self, arguments, folder, brokers, name, way):
        self.way = way
        self.stores = [folder / f"{name}-{k}" for k in range(way.servers)]
        files = ["--graph", folder / "edges.tsv", "--items", folder / "items.tsv", "--keys", folder / "keys"]
        shared, self.users_of = [], {0: [str(user) for user in range(USERS)]}
        if way.partitions > 0:
            topic = f"{brokers.address}/{name}"
            make = [arguments.goblin, "topic", "create", topic, "--partitions", way.partitions]
            shared = ["--log", topic]
            if way.partitions > 1:
                table = folder / f"{name}.tsv"
                make += ["--graph", folder / "edges.tsv", "--table", table]
                shared += ["--table", table]
            if way.partitions > 1 and way.servers > 1:
                shared += ["--replica-group", "a"]
            subprocess.run([str(each) for each in make], check=True, stdout=subprocess.DEVNULL)
            if way.partitions > 1:
                self.users_of = {partition: [] for partition in range(way.partitions)}
                for line in table.read_text().splitlines():
                    user, partition = line.split("\t")
                    self.users_of[int(partition)].append(user)
        options = ["--policy", "linucb-ind", "--threads", "2", "--log-requests", "none", "--default-reward", "none"]
        self.commands = []
        for store in self.stores:
            command = [arguments.goblin, "serve", *files, *shared, "--store", store, *options]
            command += ["--listen", f"127.0.0.1:{free_port()}"]
            self.commands.append([str(each) for each in [*command, *(["--process", store.name] if shared else [])]])
        self.servers = [Server(command) for command in self.commands]
        self.wait_until_shared()

    def rows(self):
        """What each server says of each partition."""
        said = [status(server) for server in self.servers]
        return [one.get("partitions", [{"partition": 0, "here": True, "end": one["end"]}]) for one in said]

    def here(self):
        """The partitions that each server has."""
        return [{row["partition"] for row in rows if row["here"]} for rows in self.rows()]

    def wait_until_shared(self):
        """Until those of a group have divided the partitions."""
        end = time.monotonic() + 60
        while not all(self.here()) or (
            self.way.partitions > 1 and sum(map(len, self.here())) != self.way.partitions
        ):  # all of a group's partitions are somewhere, once
            if time.monotonic() > end:
                raise SystemExit(f"{self.way.name}: {self.here()}")
            time.sleep(0.05)

    def ends(self):
        """Where each partition's log ends."""
        return {row["partition"]: row["end"] for rows in self.rows() for row in rows if row["here"]}

    def asked(self):
        """Which servers are asked, each for the users of which partitions."""
        every = set(self.users_of)
        if self.way.asked == "first":
            return [(self.servers[0], every)]
        here = self.here()
        of = {"anybody": [every] * len(here), "own": here, "others": [every - own for own in here]}[self.way.asked]
        return list(zip(self.servers, of, strict=True))

    def stop(self):
        for server in self.servers:
            server.stop()
        for store in self.stores:
            shutil.rmtree(store, ignore_errors=True)


@contextlib.contextmanager
def running(*arguments):
    servers = Servers(*arguments)
    try:
        yield servers
    finally:
        servers.stop()


def load(servers, brokers, kind, seconds, since=None):
    """Asks all servers at once. `since`: rewards are for the decisions after these ends of the logs."""

    def used():
        own = resource.getrusage(resource.RUSAGE_CHILDREN)  # wrk: nobody else ends meanwhile
        return [
            sum(server.processor_seconds() for server in servers.servers),
            sum(processor_seconds(broker.pid) for broker in brokers.processes),
            own.ru_utime + own.ru_stime,
        ]

    asked = servers.asked()
    ends = servers.ends()
    before = used()
    started = []
    for place, (server, partitions) in enumerate(asked):
        users = [user for partition in partitions for user in servers.users_of[partition]]
        sharers = [k for k, (_, its) in enumerate(asked) if its == partitions]  # of the same decisions
        rewards = []
        for partition in sorted(partitions) if since else []:
            event = f"g-{partition}:" if len(servers.users_of) > 1 else "g-"
            count = (ends[partition] - since[partition]) // len(sharers)
            first = since[partition] + sharers.index(place) * count
            rewards.append(f"{event}:{first}:{first + count - 1}")
        started.append(start_load(server, kind, seconds, len(asked), users, rewards))
    figures = [end_load(wrk) for wrk in started]
    requests = sum(one["requests"] for one in figures)
    spent = [1e6 * (after - at_first) / requests for at_first, after in zip(before, used(), strict=True)]
    return {
        "per_second": sum(one["requests"] / one["microseconds"] * 1e6 for one in figures),
        "p50": max(one["p50"] for one in figures),
        "p99": max(one["p99"] for one in figures),
        **dict(zip(("servers_microseconds", "broker_microseconds", "wrk_microseconds"), spent, strict=True)),
    }


def measure_ways(arguments, folder, brokers):
    rows = {}
    for turn in range(arguments.rounds):
        for number, way in enumerate(WAYS):
            for call, kind in CALLS:
                with running(arguments, folder, brokers, f"bench-{turn}-{number}-{kind}", way) as servers:
                    since = servers.ends() if kind == "reward" else None
                    if since:
                        load(servers, brokers, "item", 2 * arguments.seconds)
                    figures = load(servers, brokers, kind, arguments.seconds, since)
                rows.setdefault((way, call), []).append(figures)
                print(
                    f"  {turn + 1}/{arguments.rounds} {way.name}, {call}: {figures['per_second']:.0f}/s, "
                    f"p99 {figures['p99']:.1f} ms",
                    flush=True,
                )
    return [
        {
            **dataclasses.asdict(way),
            "call": call,
            **{field: statistics.median(one[field] for one in some) for field in some[0]},
        }
        for (way, call), some in rows.items()
    ]


def add_model(rows):
    """What one server's figures foretell of the others: a request takes as much of servers, broker and wrk, a share of
    them is passed on, and the machine's processors are what there is of. What passing on takes is from the way in which
    half of the requests are passed on; so that row is no test of it, and "others' users", where all are, is."""
    by = {(row["call"], row["name"]): row for row in rows}
    parts = ("servers_microseconds", "broker_microseconds", "wrk_microseconds")

    def total(row):
        return sum(row[part] for part in parts)

    for row in rows:
        one = by[row["call"], "1 partition, 1 server"]
        row["busy"] = row["per_second"] * total(row) / 1e6 / os.cpu_count()
        if row["partitions"] == 0 or (row["partitions"] == 1 and row["servers"] > 1):
            continue  # no broker, or servers that overtake each other, of which the model says nothing
        own, half = (by[row["call"], f"4 partitions, 2 servers, {who}"] for who in ("own users", "anybody"))
        passing = 2 * (half["servers_microseconds"] - own["servers_microseconds"])
        share = {"own": 0.0, "others": 1.0}.get(row["asked"], 1 - 1 / row["servers"])
        row["foretold"] = one["per_second"] * total(one) / (total(one) + share * passing)
        row["passing_microseconds"] = passing


def request_one(server, user):
    body = json.dumps({"user": user, "items": ["item1", "item2"]}).encode()
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    urllib.request.urlopen(urllib.request.Request(f"{server.address}/v1/select", body, headers), timeout=1).close()


def wait_for_answer(server, user, since):
    while True:
        try:
            request_one(server, user)
            return time.monotonic() - since
        except OSError:
            time.sleep(0.01)


def kill(server):
    server.process.kill()
    server.process.communicate()


def measure_starts(arguments, folder, brokers):
    """From the kill of a server to the next good answer, and how fast an empty store is filled from the log."""
    with running(arguments, folder, brokers, "starts", Way("", 1, 2, "first")) as servers:
        load(servers, brokers, "item", 2 * arguments.seconds)
        records = status(servers.servers[0])["end"] - 1
        again = []
        for _ in range(5):
            kill(servers.servers[1])
            since = time.monotonic()
            servers.servers[1] = Server(servers.commands[1])
            again.append(wait_for_answer(servers.servers[1], "1", since))
        servers.servers[1].stop()
        shutil.rmtree(servers.stores[1])
        since = time.monotonic()
        servers.servers[1] = Server(servers.commands[1])
        empty = wait_for_answer(servers.servers[1], "1", since)
    taken_over = []
    with running(arguments, folder, brokers, "taken-over", Way("", 4, 2, "own")) as servers:
        load(servers, brokers, "item", arguments.seconds)
        for _ in range(3):
            lost = next(iter(servers.here()[1]))
            kill(servers.servers[1])
            taken_over.append(wait_for_answer(servers.servers[0], servers.users_of[lost][0], time.monotonic()))
            servers.servers[1] = Server(servers.commands[1])
            servers.wait_until_shared()
    return {
        "restart_seconds": statistics.median(again),
        "taken_over_seconds": statistics.median(taken_over),
        "records": records,
        "empty_start_seconds": empty,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("goblin", "source", "out"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=5)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=arguments.out) as name:
        folder = pathlib.Path(name)
        write_files(folder)
        brokers = Brokers(libraries(arguments.source / "build" / "kafka"), folder / "kafka")
        try:
            result = {
                "ways": measure_ways(arguments, folder, brokers),
                "starts": measure_starts(arguments, folder, brokers),
            }
        finally:
            brokers.stop()
    add_model(result["ways"])
    result |= {
        "commit": arguments.commit,
        "date": datetime.date.today().isoformat(),
        "processors": os.cpu_count(),
        "load": os.getloadavg()[0],
        "users": USERS,
        "candidates": CANDIDATES,
        "dimension": DIMENSION,
    }
    (arguments.out / "kafka.json").write_text(json.dumps(result, indent=1) + "\n")
    print(
        f"{'':40}{'call':20}{'a second':>10}{'foretold':>10}{'p50 ms':>8}{'p99 ms':>8}"
        f"{'servers':>9}{'broker':>8}{'wrk':>7}{'busy':>7}"
    )
    for row in result["ways"]:
        foretold = f"{row['foretold']:.0f}" if "foretold" in row else ""
        print(
            f"{row['name']:40}{row['call']:20}{row['per_second']:10.0f}{foretold:>10}{row['p50']:8.1f}{row['p99']:8.1f}"
            f"{row['servers_microseconds']:9.1f}{row['broker_microseconds']:8.1f}{row['wrk_microseconds']:7.1f}"
            f"{100 * row['busy']:5.0f} %"
        )
    for call, _ in CALLS:
        row = next(row for row in result["ways"] if row["call"] == call and "passing_microseconds" in row)
        print(f"passing a {call} on: {row['passing_microseconds']:.1f} us of both servers")
    starts = result["starts"]
    print(f"\nfrom the start of a killed server to its first answer: {starts['restart_seconds']:.2f} s")
    print(f"from its kill until another one of its group answers for it: {starts['taken_over_seconds']:.2f} s")
    print(
        f"with an empty store, {starts['records']} records: {starts['empty_start_seconds']:.2f} s, "
        f"{starts['records'] / starts['empty_start_seconds']:.0f} records/s"
    )


if __name__ == "__main__":
    main()
