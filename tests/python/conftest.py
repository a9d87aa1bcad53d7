"""What the tests need from outside, by the environment: ./dev test sets it, ./dev wheel leaves some out."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from server_process import Server


def pytest_configure() -> None:
    """Some tests press Ctrl-C; a shell that runs this in the background has switched that off for its children."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def from_environment(name: str) -> Path:
    path = os.environ.get(name)
    if path is None:
        pytest.skip(f"{name} is not set")
    return Path(path)


@pytest.fixture
def command() -> Path:
    """The command line of the same build: GOBLIN_COMMAND."""
    return from_environment("GOBLIN_COMMAND")


@pytest.fixture
def serve(command: Path, tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Starts servers with these arguments, and stops them at the end."""
    started: list[Server] = []

    def start(*arguments: str | Path) -> Server:
        started.append(Server(command, tmp_path, *map(str, arguments)))
        return started[-1]

    yield start
    for server in started:
        server.stop()


@pytest.fixture
def same_rounds() -> Path:
    """The C++ program that plays rounds: GOBLIN_SAME_ROUNDS."""
    return from_environment("GOBLIN_SAME_ROUNDS")


@pytest.fixture
def peers_program() -> Path:
    """The C++ program that plays the rounds of ./dev bench peers: GOBLIN_PEERS."""
    return from_environment("GOBLIN_PEERS")


@pytest.fixture(scope="session")
def source() -> Path:
    """The source folder: GOBLIN_SOURCE."""
    return from_environment("GOBLIN_SOURCE")


def data_folder() -> Path | None:
    """The paper's data: in the folder GOBLIN_DATA, or beside the source folder."""
    named = os.environ.get("GOBLIN_DATA")
    if named is None and "GOBLIN_SOURCE" in os.environ:
        named = os.path.join(os.environ["GOBLIN_SOURCE"], "..", "shared", "data")
    return Path(named) if named is not None and Path(named).is_dir() else None


@pytest.fixture
def data() -> Path:
    folder = data_folder()
    if folder is None:
        pytest.skip("no datasets: set GOBLIN_DATA to the folder that holds the dataset folders")
    return folder


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(7)
