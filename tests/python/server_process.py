"""A ``goblin serve`` of the same build, for tests that talk to it."""

from __future__ import annotations

import signal
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest

PATIENCE = 60.0  # seconds; a test that passes takes much less


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


class Server:
    """A server on a port that is free, with a log in a folder; ready when it is made. In its arguments {port} is that
    port."""

    def __init__(self, command: Path, folder: Path, *arguments: str) -> None:
        self.log = folder / "server.log"
        self.port = free_port()
        self.arguments = [str(command), "serve", *(each.replace("{port}", str(self.port)) for each in arguments)]
        self.url = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self) -> None:
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [*self.arguments, "--listen", f"127.0.0.1:{self.port}"], stdout=log, stderr=log
            )
        end = time.monotonic() + PATIENCE
        while not self.is_ready():
            if self.process.poll() is not None or time.monotonic() > end:
                self.kill()
                pytest.fail(f"goblin serve is not ready:\n{self.log.read_text()}")
            time.sleep(0.05)

    def is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/readyz", timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def kill(self) -> None:
        """As a crash would."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(PATIENCE) == 0, self.log.read_text()
