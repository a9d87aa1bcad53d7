"""goblin serve under load, each call as a share of a constant answer by the same stack: ./dev bench serve.

wrk runs on the same machine, with two threads and 128 connections. In every round, the constant answer and each call
take turns, so that what else the machine does meets all of them; the figures are medians over the rounds. Processor
time per request, of the server alone, is the steadier figure.

Then rewards come faster than they can be learned, by gob.lin over a graph of Last.fm's size, and the decisions that are
made meanwhile are compared with those afterwards.

What it finds goes into serve.json and served.html, and onto the page of ./dev bench where there is one.
"""

import argparse
import contextlib
import datetime
import hashlib
import html
import json
import os
import pathlib
import random
import re
import resource
import shutil
import statistics
import subprocess
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).parent
KEY = "benchmark-key"
USERS, CANDIDATES, DIMENSION = 80, 25, 25
CONNECTIONS, THREADS = 128, 2  # of wrk
FRIENDS = 1_892  # users of the graph in which learning is slow
# name, kind of load, options of the server, share of the constant answer that is asked for, and p99 in milliseconds
CALLS = [
    ("select, durable before the answer", "select", [], 0.35, 10),
    ("select, --durable-decisions no", "select", ["--durable-decisions", "no"], 0.60, 6),
    ("select by item ids, durable", "item", [], 0.50, 10),
    ("reward, durable", "reward", [], 0.50, 10),
]


def processor_seconds(process):
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Server:
    """A process that listens, and how much processor time it took."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            found = re.search(r'"address": ?"(http://[^"]+)"', line)
            if found:
                self.address = found.group(1)
                return
        raise SystemExit(f"{command[0]} did not start")

    def processor_seconds(self):
        return processor_seconds(self.process.pid)

    def stop(self):
        self.process.terminate()
        self.process.communicate()


@contextlib.contextmanager
def running(command):
    server = Server(command)
    try:
        yield server
    finally:
        server.stop()


def start_load(server, kind, seconds, share=1, users=None, rewards=()):
    """Starts wrk, with one of `share` equal parts of the connections."""
    threads = max(1, THREADS // share)
    command = ["wrk", f"-t{threads}", f"-c{CONNECTIONS // share}", f"-d{seconds}s", "-s", HERE / "load.lua"]
    command += [f"{server.address}/v1/select", "--", kind, KEY, ",".join(users or map(str, range(USERS)))]
    command += [CANDIDATES, DIMENSION, threads, *rewards]
    return subprocess.Popen([str(each) for each in command], stdout=subprocess.PIPE, text=True)


def end_load(wrk):
    """What wrk found: requests, microseconds, latency."""
    out, _ = wrk.communicate()
    figures = json.loads(out.strip().split("\n")[-1])
    if wrk.returncode != 0 or figures["errors"] > 0:
        raise SystemExit(f"{' '.join(wrk.args)[:300]}: {figures['errors']} requests went wrong")
    return figures


def load(server, kind, seconds, rewards=(), users=None):
    """Runs wrk; requests a second, latency, and the server's processor time per request."""
    before = server.processor_seconds()
    figures = end_load(start_load(server, kind, seconds, users=users, rewards=rewards))
    used = server.processor_seconds() - before
    return {
        "per_second": figures["requests"] / figures["microseconds"] * 1e6,
        "p50": figures["p50"],
        "p99": figures["p99"],
        "processor_microseconds": used / figures["requests"] * 1e6,
    }


def status(server):
    request = urllib.request.Request(f"{server.address}/v1/status", headers={"Authorization": f"Bearer {KEY}"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def log_end(server):
    return status(server)["end"]


def write_files(folder):
    """Four cliques of twenty users, a thousand items, and a key that may do everything."""
    edges = [f"{base + a}\t{base + b}\n" for base in range(0, USERS, 20) for a in range(20) for b in range(a)]
    (folder / "edges.tsv").write_text("".join(edges))
    items = [
        "\t".join([f"item{item}"] + [f"{((item * 31 + j * 17) % 199 - 99) / 100:.2f}" for j in range(DIMENSION)])
        for item in range(1000)
    ]
    (folder / "items.tsv").write_text("\n".join(items) + "\n")
    (folder / "keys").write_text(f"bench {hashlib.sha256(KEY.encode()).hexdigest()} admin\n")


def measure(arguments, folder):
    goblin = [
        str(arguments.goblin),
        "serve",
        "--graph",
        str(folder / "edges.tsv"),
        "--policy",
        "linucb-ind",
        "--items",
        str(folder / "items.tsv"),
        "--keys",
        str(folder / "keys"),
        "--listen",
        "127.0.0.1:0",
        "--threads",
        "2",
        "--log-requests",
        "none",
    ]
    rows = {name: [] for name, *_ in CALLS}
    constants = []
    for turn in range(arguments.rounds):
        for name, kind, options, *_ in CALLS:
            if arguments.only and arguments.only not in name:
                continue
            store = folder / "store"
            constant_store = folder / "constant"
            for one in (store, constant_store):
                shutil.rmtree(one, ignore_errors=True)
            with running(
                [str(arguments.constant), str(constant_store), "127.0.0.1:0", "2", str(folder / "keys")]
            ) as constant:
                base = load(constant, "select", arguments.seconds)
            with running([*goblin, "--store", str(store), *options]) as server:
                if kind == "reward":
                    first = log_end(server)
                    load(server, "item", 2 * arguments.seconds)  # decisions, for which rewards then come
                    rewards = [f"g-:{first}:{log_end(server) - 1}"]
                    figures = load(server, kind, arguments.seconds, rewards)
                else:
                    figures = load(server, kind, arguments.seconds)
            figures["share"] = figures["per_second"] / base["per_second"]
            rows[name].append(figures)
            constants.append(base)
            print(
                f"  {turn + 1}/{arguments.rounds} {name}: {figures['per_second']:.0f}/s, "
                f"{100 * figures['share']:.0f} % of {base['per_second']:.0f}/s, p99 {figures['p99']:.1f} ms, "
                f"{figures['processor_microseconds']:.1f} us ({base['processor_microseconds']:.1f} us)",
                flush=True,
            )

    def middle(list_of, field):
        return statistics.median(one[field] for one in list_of)

    fields = ("per_second", "p50", "p99", "processor_microseconds")
    result = {"constant": {field: middle(constants, field) for field in fields if constants}, "calls": []}
    for name, _, _, asked, p99 in CALLS:
        if rows[name]:
            result["calls"].append(
                {
                    "name": name,
                    "asked_share": asked,
                    "asked_p99": p99,
                    **{field: middle(rows[name], field) for field in (*fields, "share")},
                }
            )
    return result


def write_friends(path):
    """A graph of Last.fm's size."""
    draw = random.Random(1)
    edges = set()
    while len(edges) < 12_717:
        a, b = sorted(draw.sample(range(FRIENDS), 2))
        edges.add((a, b))
    path.write_text("".join(f"{a}\t{b}\n" for a, b in sorted(edges)))


def give_rewards(server, first, count):
    """Rewards for the decisions from one on, a thousand a call; all of them are accepted."""
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    for begin in range(first, first + count, 1000):
        rewards = [
            {"event": f"g-{event}", "reward": event % 2} for event in range(begin, min(begin + 1000, first + count))
        ]
        request = urllib.request.Request(f"{server.address}/v1/rewards", json.dumps(rewards).encode(), headers)
        with urllib.request.urlopen(request) as answer:
            if any(one["status"] != 200 for one in json.load(answer)["results"]):
                raise SystemExit("a reward was refused")


def measure_backlog(arguments, folder):
    """Decisions while the learner is behind, and by the same server when it has caught up."""
    write_friends(folder / "friends.tsv")
    users = [str(user) for user in range(FRIENDS)]
    command = [arguments.goblin, "serve", "--graph", folder / "friends.tsv", "--policy", "gob.lin"]
    command += ["--engine", "sparse", "--threads", "1", "--items", folder / "items.tsv", "--keys", folder / "keys"]
    command += ["--listen", "127.0.0.1:0", "--log-requests", "none", "--default-reward", "none"]
    with running([str(each) for each in [*command, "--store", folder / "behind"]]) as server:
        first = log_end(server)
        load(server, "item", arguments.seconds, users=users)
        give_rewards(server, first, 12_000)
        waiting = status(server)["backlog"]
        behind = load(server, "item", arguments.seconds, users=users)
        still_waiting = status(server)["backlog"]
        while status(server)["backlog"] > 0:
            time.sleep(0.5)
        idle = load(server, "item", arguments.seconds, users=users)
    return {"waiting": waiting, "still_waiting": still_waiting, "behind": behind, "idle": idle}


def table(head, rows):
    def row(tag, cells):
        return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>\n"

    body = "".join(row("td", each) for each in rows)
    return f"<table><thead>\n{row('th', head)}</thead><tbody>\n{body}</tbody></table>\n"


def served_html(result):
    """A part of the page of ./dev bench."""
    calls = [
        [
            call["name"],
            f"{call['per_second']:,.0f}",
            f"{100 * call['share']:.0f} %",
            f"{call['p99']:.1f} ms",
            f"{call['processor_microseconds']:.1f} us",
        ]
        for call in result["calls"]
    ]
    text = (
        f"<h2>The server under load</h2>\n<p>wrk with {CONNECTIONS} connections on the same {result['processors']} "
        f"processors, {CANDIDATES} candidates of {DIMENSION} numbers, {result['date']}, commit "
        f"{html.escape(result['commit'])}.</p>\n"
    )
    if calls:
        text += (
            "<p>A share is of a constant answer to the same calls, which came "
            f"{result['constant']['per_second']:,.0f} times a second in the same run.</p>\n"
        )
        text += table(["call", "a second", "share", "99 of 100 within", "processor time"], calls)
    if backlog := result.get("backlog"):
        rows = [
            [name, f"{one['per_second']:,.0f}", f"{one['p50']:.1f} ms", f"{one['p99']:.1f} ms"]
            for name, one in (("the learner is behind", backlog["behind"]), ("it has caught up", backlog["idle"]))
        ]
        text += (
            "<p>Decisions while rewards wait to be learned: gob.lin over a graph of Last.fm's size, "
            f"{backlog['waiting']:,} rewards waited before and {backlog['still_waiting']:,} after.</p>\n"
        )
        text += table(["select by item ids, durable", "a second", "half within", "99 of 100 within"], rows)
    return text


def put_on_page(page, text):
    """In the place that ./dev bench keeps for it."""
    begin, end = "<!-- served: begin -->\n", "<!-- served: end -->\n"
    before, rest = page.read_text().split(begin)
    page.write_text(before + begin + text + end + rest.split(end)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--goblin", type=pathlib.Path, required=True)
    parser.add_argument("--constant", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--only", help="calls whose name has this in it")
    parser.add_argument("--store", type=pathlib.Path, help="where to put the stores; a disk, not memory")
    arguments = parser.parse_args()
    if shutil.which("wrk") is None:
        raise SystemExit("wrk is missing: apt install wrk")
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    arguments.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=arguments.store or arguments.out) as name:
        folder = pathlib.Path(name)
        write_files(folder)
        result = measure(arguments, folder)
        if not arguments.only or "backlog".startswith(arguments.only):
            result["backlog"] = measure_backlog(arguments, folder)
    result |= {
        "commit": arguments.commit,
        "date": datetime.date.today().isoformat(),
        "load": os.getloadavg()[0],
        "processors": os.cpu_count(),
    }
    (arguments.out / "serve.json").write_text(json.dumps(result, indent=1) + "\n")
    (arguments.out / "served.html").write_text(served_html(result))
    if (arguments.out / "index.html").exists():
        put_on_page(arguments.out / "index.html", served_html(result))
    if result["calls"]:
        print(f"\nconstant answer: {result['constant']['per_second']:.0f}/s")
        print(f"{'call':40}{'per second':>12}{'share':>8}{'asked':>8}{'p99 ms':>8}{'us of processor':>17}")
    for row in result["calls"]:
        print(
            f"{row['name']:40}{row['per_second']:12.0f}{100 * row['share']:7.0f} %{100 * row['asked_share']:6.0f} %"
            f"{row['p99']:8.1f}{row['processor_microseconds']:17.1f}"
        )
    if backlog := result.get("backlog"):
        print(
            f"\nselect by item ids while {backlog['waiting']} to {backlog['still_waiting']} rewards wait for gob.lin:"
        )
        for name, one in (("behind", backlog["behind"]), ("caught up", backlog["idle"])):
            print(f"  {name:12}{one['per_second']:12.0f} a second, p50 {one['p50']:.1f} ms, p99 {one['p99']:.1f} ms")


if __name__ == "__main__":
    main()
