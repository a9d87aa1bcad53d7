"""The same rounds through goblin and its peers, side by side: ./dev bench peers.

goblin_peers writes the rounds (4Cliques) and what goblin chose; every peer then plays them in a process of its own, on
one thread. Times are processor time of that thread for select and update of one round, memory is what the process grew
by while it played (goblin's: by its own count). A peer that does the same work learns from goblin's choices and must
agree with them; one that does other work goes its own way, and is not compared. Fails if NumPy's choices are others.
"""

import argparse
import datetime
import importlib.metadata
import json
import os
import pathlib
import platform
import resource
import subprocess
import sys

CONTENDERS = [
    ("linucb-sin", ["numpy", "mabwiser", "contextualbandits", "vowpalwabbit"]),
    ("linucb-ind", ["numpy", "mabwiser", "contextualbandits", "vowpalwabbit"]),
    ("gob.lin", ["numpy"]),
]
ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}


def resident_megabytes():
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def play_one(name, policy, folder):
    """In a process of its own: plays, and prints what came out as JSON."""
    import contenders

    import world

    rounds = world.World(folder)
    contenders.prepare(name, rounds)
    before = resident_megabytes()
    contender = contenders.make(name, policy, rounds)
    outcome = world.play(contender, rounds, rounds.goblin[policy]["choices"])
    outcome["megabytes"] = resident_megabytes() - before
    print(json.dumps(outcome))


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().split("\n"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def verdict(row):
    share = f"{100 * row['agreement']:.4g} % of choices"
    if row["same_work"]:
        return f"{row['times_slower']:.3g} times the time for the same work; agrees with {share}"
    return f"other work (see below), not comparable; {share} happen to be the same"


def table(results):
    lines = [f"{'policy':<12} {'system':<18} {'a round':>11} {'memory':>10} {'reward':>9}  against goblin"]
    lines.append("-" * 92)
    for row in results["rows"]:
        if "error" in row:
            lines.append(f"{row['policy']:<12} {row['system']:<18} failed: {row['error']}")
            continue
        against = f"engine {row['engine']}" if row["system"] == "goblin" else verdict(row)
        lines.append(
            f"{row['policy']:<12} {row['system']:<18} {1e3 * row['seconds']:>8.4f} ms {row['megabytes']:>7.1f} MB "
            f"{row['reward']:>9.1f}  {against}"
        )
    lines.append("")
    for system, abilities in results["abilities"].items():
        version = results["versions"].get(system, "")
        lines.append(f"{system} {version}".strip())
        lines += [f"  {name + ':':<8} {words}" for name, words in abilities.items()]
    return "\n".join(lines)


def measure(arguments):
    import contenders

    import world

    folder = pathlib.Path(arguments.out)
    data = folder / "rounds"
    subprocess.run([arguments.goblin, "--out", str(data), "--rounds", str(arguments.rounds)], check=True)
    rounds = world.World(data)
    rows = []
    for policy, systems in CONTENDERS:
        goblin = rounds.goblin[policy]
        rows.append(
            {
                "policy": policy,
                "system": "goblin",
                **{name: goblin[name] for name in ("engine", "seconds", "reward", "megabytes")},
            }
        )
        for system in systems:
            print(f"peers: {policy} through {system}", file=sys.stderr)
            done = subprocess.run(
                [sys.executable, __file__, "--play", system, policy, str(data)],
                env={**os.environ, **ONE_THREAD},
                capture_output=True,
                text=True,
            )
            row = {"policy": policy, "system": system}
            if done.returncode != 0:
                row["error"] = done.stderr.strip().split("\n")[-1]
            else:
                row.update(json.loads(done.stdout.strip().split("\n")[-1]))
                if row["same_work"]:
                    row["times_slower"] = row["seconds"] / goblin["seconds"]
            rows.append(row)
    versions = {}
    for system in ("numpy", "vowpalwabbit", "mabwiser", "contextualbandits"):
        try:
            versions[system] = importlib.metadata.version(system)
        except importlib.metadata.PackageNotFoundError:
            versions[system] = "not installed"
    results = {
        "commit": arguments.commit,
        "time": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M"),
        "machine": {"processor": processor(), "cores": os.cpu_count(), "load_before": arguments.load},
        "method": "processor time of one thread for select and update of a round; memory: what the process grew "
        "by, goblin's by its own count; goblin is called from C++, the others from Python",
        "world": {
            "name": "4cliques",
            "users": rounds.users,
            "edges": rounds.edge_count,
            "dimension": rounds.dimension,
            "arms": rounds.arms,
            "rounds": rounds.rounds,
            "alpha": rounds.alpha,
        },
        "versions": {**versions, "python": platform.python_version()},
        "abilities": contenders.ABILITIES,
        "rows": rows,
    }
    (folder / "peers.json").write_text(json.dumps(results, indent=1) + "\n")
    print(
        f"4Cliques: {rounds.users} users, {rounds.edge_count} edges, d = {rounds.dimension}, {rounds.arms} candidates, "
        f"{rounds.rounds} rounds, alpha {rounds.alpha}\n{processor()}, {os.cpu_count()} cores, commit "
        f"{arguments.commit}\n\n{table(results)}\n\nwritten: {folder / 'peers.json'}"
    )
    exact = [row for row in rows if row["system"] == "numpy"]
    return 0 if all(row.get("agreement") == 1.0 for row in exact) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--goblin", help="the program goblin_peers")
    parser.add_argument("--out", help="the folder to write to")
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--play", nargs=3, metavar=("SYSTEM", "POLICY", "FOLDER"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.play:
        play_one(*arguments.play)
        return 0
    arguments.load = os.getloadavg()[0]
    return measure(arguments)


if __name__ == "__main__":
    sys.exit(main())
