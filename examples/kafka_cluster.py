"""Three Kafka brokers and two servers on this machine, one of each killed under load: nothing is lost.

    ./dev build && python examples/kafka_cluster.py

takes a minute, the first time two more: Maven fetches Kafka, 45 MB. Needs Java and Maven (apt install
default-jre-headless maven) and the Python package (pip install .); the command ``goblin`` is that of build/release, or
GOBLIN_COMMAND.
"""

from __future__ import annotations

import base64
import fcntl
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import uuid
from collections.abc import Sequence
from pathlib import Path

PATIENCE = 60.0  # seconds
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>goblin.examples</groupId>
  <artifactId>broker</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>4.3.1</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>
  </dependencies>
</project>
"""

JAVA = ["-Xms64m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
JAVA += ["-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"]


class NoKafkaError(Exception):
    """What is missing to run a broker here."""


def libraries(folder: Path) -> Path:
    """The broker's jars, which Maven fetches into a folder, once."""
    missing = [program for program in ("java", "mvn") if shutil.which(program) is None]
    if missing:
        raise NoKafkaError(f"a broker needs {' and '.join(missing)} (apt install default-jre-headless maven)")
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:  # tests run in several processes
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            (folder / "pom.xml").write_text(POM)
            copy = ["dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={folder / 'libs'}"]
            done = subprocess.run(["mvn", "-B", "-q", "-f", folder / "pom.xml", *copy], capture_output=True, text=True)
            if done.returncode != 0:
                raise NoKafkaError(f"Maven could not fetch it: {done.stdout[-500:]}")
            (folder / "complete").touch()
    return folder / "libs"


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


class Brokers:
    """So many brokers, each of which is a controller, too. More settings of theirs come behind the usual ones."""

    def __init__(self, libs: Path, folder: Path, count: int = 1, settings: Sequence[str] = ()) -> None:
        self.java = ["java", *JAVA, "-cp", f"{libs}/*"]
        self.folder = folder
        self.ports = [free_port() for _ in range(count)]
        controllers = [free_port() for _ in range(count)]
        voters = ",".join(f"{k + 1}@127.0.0.1:{port}" for k, port in enumerate(controllers))
        cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        self.processes: list[subprocess.Popen[bytes]] = []
        for k, (port, controller) in enumerate(zip(self.ports, controllers, strict=True)):
            (folder / f"broker{k}").mkdir(parents=True)
            self.settings_file(k).write_text(
                "\n".join(
                    [
                        "process.roles=broker,controller",
                        f"node.id={k + 1}",
                        f"controller.quorum.voters={voters}",
                        f"listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}",
                        f"advertised.listeners=PLAINTEXT://127.0.0.1:{port}",
                        "controller.listener.names=CONTROLLER",
                        "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
                        f"log.dirs={folder / f'broker{k}' / 'data'}",
                        f"offsets.topic.replication.factor={count}",
                        "offsets.topic.num.partitions=1",
                        "broker.session.timeout.ms=3000",
                        "broker.heartbeat.interval.ms=500",
                        "group.initial.rebalance.delay.ms=0",
                        "group.min.session.timeout.ms=1000",
                        *settings,
                        "",
                    ]
                )
            )
            format_it = ["kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(self.settings_file(k))]
            subprocess.run([*self.java, *format_it], check=True, capture_output=True)
        for k in range(count):
            self.processes.append(self.started(k))
        self.wait()

    @property
    def address(self) -> str:
        return "kafka://" + ",".join(f"127.0.0.1:{port}" for port in self.ports)

    def settings_file(self, k: int) -> Path:
        return self.folder / f"broker{k}" / "server.properties"

    def started(self, k: int) -> subprocess.Popen[bytes]:
        with open(self.folder / f"broker{k}" / "log", "ab") as log:
            return subprocess.Popen([*self.java, "kafka.Kafka", str(self.settings_file(k))], stdout=log, stderr=log)

    def wait(self) -> None:
        end = time.monotonic() + PATIENCE
        for k, port in enumerate(self.ports):
            while self.processes[k].poll() is None:
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=1).close()
                    break
                except OSError:
                    if time.monotonic() > end:
                        raise RuntimeError(f"broker {k} does not listen:\n{self.said(k)}") from None
                    time.sleep(0.1)
            else:
                raise RuntimeError(f"broker {k} ended:\n{self.said(k)}")

    def said(self, k: int) -> str:
        return (self.folder / f"broker{k}" / "log").read_text()[-3000:]

    def kill(self, k: int) -> None:
        """As a crash of the machine would, but for what the system has still to write."""
        self.processes[k].send_signal(signal.SIGKILL)
        self.processes[k].wait()

    def restart(self, *which: int) -> None:
        for k in which:
            self.processes[k] = self.started(k)
        self.wait()

    def stop(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                os.kill(process.pid, signal.SIGKILL)
                process.wait()


class Server:
    """One of the servers."""

    def __init__(self, command: str, folder: Path, topic: str, name: str) -> None:
        self.url = f"http://127.0.0.1:{free_port()}"
        listen = self.url.removeprefix("http://")
        self.arguments = [command, "serve", "--log", topic, "--process", name, "--listen", listen]
        self.arguments += ["--graph", str(folder / "edges.tsv"), "--dimension", "3", "--store", str(folder / name)]
        self.log = folder / f"{name}.log"
        self.start()

    def start(self) -> None:
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.arguments, stderr=log)
        end = time.monotonic() + PATIENCE
        while True:
            try:
                urllib.request.urlopen(f"{self.url}/readyz", timeout=5).close()
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError(f"the server is not ready:\n{self.log.read_text()}") from None
                time.sleep(0.05)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def traffic(servers: list[Server], acknowledged: dict[str, float], stop: threading.Event) -> None:
    """Decides at any server, and rewards at any server, until it is told to stop. A call that fails is made again, at
    another server, with the same event: it is learned once."""
    import goblin

    clients = [goblin.Client(server.url, timeout=10, retries=0) for server in servers]
    while not stop.is_set():
        event, reward = uuid.uuid4().hex, float(random.randint(0, 1))
        contexts = [[random.gauss(0, 1) for _ in range(3)] for _ in range(5)]
        try:
            random.choice(clients).select(f"u{random.randrange(20)}", contexts, event=event)
        except (goblin.ClientError, OSError):
            continue
        while not stop.is_set():
            try:
                random.choice(clients).reward(event, reward)
                acknowledged[event] = reward
                break
            except goblin.ClientError as error:
                # What was decided while the brokers were away comes into the log a moment later.
                if error.status not in (None, 404, 503):
                    raise
            except OSError:
                pass
            time.sleep(0.01)


def main() -> None:
    import goblin

    root = Path(__file__).resolve().parents[1]
    command = os.environ.get("GOBLIN_COMMAND") or str(root / "build/release/apps/goblin/goblin")
    if shutil.which(command) is None:
        sys.exit(f"{command} is not there: ./dev build makes it, or say where it is in GOBLIN_COMMAND")
    try:
        libs = libraries(root / "build" / "kafka")
    except NoKafkaError as missing:
        sys.exit(f"no Kafka: {missing}")
    with tempfile.TemporaryDirectory(prefix="goblin-") as name:
        folder = Path(name)
        (folder / "edges.tsv").write_text("".join(f"u{k}\tu{(k + step) % 20}\n" for k in range(20) for step in (1, 4)))
        print("three brokers start ...", flush=True)
        brokers = Brokers(libs, folder / "kafka", 3)
        servers: list[Server] = []
        try:
            topic = f"{brokers.address}/clicks"
            subprocess.run([command, "topic", "create", topic, "--replicas", "3"], check=True, capture_output=True)
            servers += [Server(command, folder, topic, each) for each in ("one", "two")]
            acknowledged: dict[str, float] = {}
            stop = threading.Event()
            callers = [threading.Thread(target=traffic, args=(servers, acknowledged, stop)) for _ in range(4)]
            for caller in callers:
                caller.start()

            def pause(what: str, seconds: float = 3.0) -> None:
                before = len(acknowledged)
                time.sleep(seconds)
                print(f"{what}: {len(acknowledged) - before} rewards acknowledged in {seconds:g} s", flush=True)

            pause("two servers over three brokers")
            servers[1].kill()
            pause("server two was killed (kill -9)")
            brokers.kill(0)
            pause("and one of the brokers", 8.0)
            servers[1].start()
            pause("server two is back")
            brokers.restart(0)
            pause("the broker, too")
            stop.set()
            for caller in callers:
                caller.join()

            counts = []
            for server in servers:
                with goblin.Client(server.url) as client:
                    while client.status()["backlog"] > 0:
                        time.sleep(0.05)
                    lost = 0
                    for event, reward in acknowledged.items():
                        # The same reward again: it is there, once, or it would be learned only now.
                        lost += not client.reward(event, reward).repeated
                    counts.append(client.status()["rewards"])
                    print(f"{server.arguments[5]}: {len(acknowledged)} acknowledged, {lost} lost, {counts[-1]} learned")
                    if lost > 0:
                        sys.exit("something was lost")
            if len(set(counts)) > 1:
                sys.exit("the servers have learned different things")
            print("nothing was lost, and nothing was learned twice")
        finally:
            for server in servers:
                server.kill()
            brokers.stop()


if __name__ == "__main__":
    main()
