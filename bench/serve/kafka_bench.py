"""goblin serve over a Kafka topic, beside a store of its own: ./dev bench kafka.

One broker, the servers and wrk share this machine, so that figures say what all of them together can do on it. In every
round each way takes its turn. Afterwards: how long it takes from the kill of a server to its next good answer, and how
fast one with an empty store reads the log.
"""

import argparse
import contextlib
import datetime
import json
import os
import pathlib
import shutil
import statistics
import sys
import tempfile
import time

from serve_bench import CANDIDATES, DIMENSION, USERS, Server, load, log_end, write_files

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "examples"))
from kafka_cluster import Brokers, libraries

CALLS = [("select", "select"), ("select by item ids", "item"), ("reward", "reward")]
#: The way, and how many servers there are.
WAYS = [("a store of its own", 0), ("Kafka, one server", 1), ("Kafka, two servers, one called", 2)]


class Servers:
    """So many servers over one topic of their own, or one with a store."""

    def __init__(self, arguments, folder, brokers, name, count):
        self.stores = [folder / f"{name}-{k}" for k in range(max(count, 1))]
        log = []
        if count > 0:
            os.system(f"{arguments.goblin} topic create {brokers.address}/{name} >/dev/null 2>&1")
            log = ["--log", f"{brokers.address}/{name}"]
        files = ["--graph", folder / "edges.tsv", "--items", folder / "items.tsv", "--keys", folder / "keys"]
        self.commands = [
            [
                *map(str, [arguments.goblin, "serve", *files, *log, "--store", store, "--policy", "linucb-ind"]),
                *["--listen", "127.0.0.1:0", "--threads", "2", "--log-requests", "none", "--default-reward", "none"],
                *(["--process", store.name] if log else []),
            ]
            for store in self.stores
        ]
        self.servers = [Server(command) for command in self.commands]

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


def measure_ways(arguments, folder, brokers):
    rows = {}
    for turn in range(arguments.rounds):
        for way, count in WAYS:
            for call, kind in CALLS:
                with running(arguments, folder, brokers, f"bench-{turn}-{count}-{kind}", count) as servers:
                    first = servers.servers[0]
                    before = log_end(first)
                    rest = ()
                    if kind == "reward":
                        load(first, "item", 2 * arguments.seconds)
                        rest = (before, log_end(first) - 1)
                    figures = load(first, kind, arguments.seconds, *rest)
                rows.setdefault((way, call), []).append(figures)
                print(
                    f"  {turn + 1}/{arguments.rounds} {way}, {call}: {figures['per_second']:.0f}/s, "
                    f"p99 {figures['p99']:.1f} ms",
                    flush=True,
                )
    return [
        {"way": way, "call": call, **{field: statistics.median(one[field] for one in some) for field in some[0]}}
        for (way, call), some in rows.items()
    ]


def wait_until_ready(server, since):
    while True:
        try:
            log_end(server)
            return time.monotonic() - since
        except OSError:
            time.sleep(0.01)


def measure_starts(arguments, folder, brokers):
    """From the kill of a server to its next good answer, and how fast an empty store is filled from the log."""
    with running(arguments, folder, brokers, "starts", 2) as servers:
        load(servers.servers[0], "item", 2 * arguments.seconds)
        records = log_end(servers.servers[0]) - 1
        again = []
        for _ in range(5):
            servers.servers[1].process.kill()
            servers.servers[1].process.communicate()
            since = time.monotonic()
            servers.servers[1] = Server(servers.commands[1])
            again.append(wait_until_ready(servers.servers[1], since))
        servers.servers[1].stop()
        shutil.rmtree(servers.stores[1])
        since = time.monotonic()
        servers.servers[1] = Server(servers.commands[1])
        empty = wait_until_ready(servers.servers[1], since)
    return {"restart_seconds": statistics.median(again), "records": records, "empty_start_seconds": empty}


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
    print(f"\n{'':34}{'call':22}{'a second':>10}{'p50 ms':>9}{'p99 ms':>9}{'us of processor':>17}")
    for row in result["ways"]:
        print(
            f"{row['way']:34}{row['call']:22}{row['per_second']:10.0f}{row['p50']:9.1f}{row['p99']:9.1f}"
            f"{row['processor_microseconds']:17.1f}"
        )
    starts = result["starts"]
    print(f"\nfrom the start of a killed server to its first answer: {starts['restart_seconds']:.2f} s")
    print(
        f"with an empty store, {starts['records']} records: {starts['empty_start_seconds']:.2f} s, "
        f"{starts['records'] / starts['empty_start_seconds']:.0f} records/s"
    )


if __name__ == "__main__":
    main()
