"""What the documentation shows is what happens, and what is typed is what is there."""

from __future__ import annotations

import doctest
import inspect
import os
import pydoc
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from server_process import free_port

import goblin
from goblin import _bandits, _core


def documented() -> dict[str, Any]:
    """Everything public with a docstring, methods of the compiled half too, which doctest does not find by itself."""
    found: dict[str, Any] = {"goblin": goblin}
    for name in goblin.__all__:
        thing = getattr(goblin, name)
        found[name] = thing
        members = vars(thing) if inspect.ismodule(thing) else {}
        if inspect.isclass(thing):
            members = {member: getattr(thing, member) for member in dir(thing)}
        for member, value in members.items():
            if not member.startswith("_") and (
                inspect.isclass(thing) or getattr(value, "__module__", "") == thing.__name__
            ):
                found[f"{name}.{member}"] = value
    once = {inspect.getdoc(thing) or "": name for name, thing in reversed(found.items())}  # not again where inherited
    return {name: found[name] for text, name in reversed(once.items()) if ">>>" in text}


@pytest.mark.parametrize("name", documented())
def test_examples_in_docstrings(name: str) -> None:
    text = inspect.getdoc(documented()[name])
    assert text is not None
    example = doctest.DocTestParser().get_doctest(text, {}, name, None, None)
    assert example.examples
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    assert runner.run(example).failed == 0


def test_everything_public_is_documented() -> None:
    assert len(documented()) >= 27
    for kind in (
        goblin.GobLin,
        goblin.Trace,
        goblin.Sweep,
        goblin.Graph,
        goblin.Dataset,
        goblin.Cliques,
        goblin.Explanation,
        goblin.Client,
    ):
        for member in dir(kind):
            if not member.startswith("_") and member not in getattr(kind, "__annotations__", {}):
                assert inspect.getdoc(getattr(kind, member)), f"{kind.__name__}.{member}"


def test_help_teaches_the_algorithm() -> None:
    page = pydoc.render_doc(goblin.GobLin, renderer=pydoc.plaintext)
    words = ["The idea", "Laplacian", "upper confidence bound", "N^-1", "select", "update", ">>> ", "(arms, dimension)"]
    for word in words:
        assert word in page, word


def python_blocks(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text(), flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/exploration.md",
        "docs/explain.md",
        "docs/fit.md",
        "docs/forgetting.md",
        "docs/python.md",
        "docs/scaling.md",
    ],
)
def test_programs_in_pages(
    page: str, source: Path, command: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The python blocks of a page are one program. It may start goblin; where it says :8080 it gets a free port."""
    program = "\n".join(python_blocks(source / page))
    assert program
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setenv("PATH", str(command.parent), prepend=os.pathsep)
    program = program.replace(":8080", f":{free_port()}")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "page", ["README.md", "docs/architecture.md", "docs/python.md", "docs/replay.md", "docs/rivals.md"]
)
def test_pages_name_every_policy(page: str, source: Path) -> None:
    text = (source / page).read_text()
    assert [policy for policy in goblin.policies if f"`{policy}`" not in text] == []


def test_help_names_every_policy_and_every_option() -> None:
    kinds = [kind.__name__ for kind in _bandits._policies.values()]
    for text in (goblin.__doc__, goblin.Bandit.__doc__):
        assert [name for name in kinds if f"``{name}``" not in (text or "")] == []
    options = list(_bandits.Options.__annotations__)
    for kind in (goblin.Bandit, goblin.GobLin):
        assert [name for name in options if not re.search(rf"\b{name}\b", kind.__doc__ or "")] == []


EXAMPLES = ["cold_start.py", "lastfm.py", "own_data.py"]
OF_OTHER_TESTS = ["kafka_cluster.py"]  # test_kafka.py: it takes three brokers


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples(example: str, source: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    done = subprocess.run(
        [sys.executable, source / "examples" / example], cwd=tmp_path, capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    if done.stdout.startswith("no data"):
        pytest.skip(done.stdout.strip())
    assert done.stdout


def test_no_example_is_forgotten(source: Path) -> None:
    assert sorted(path.name for path in (source / "examples").glob("*.py")) == sorted(EXAMPLES + OF_OTHER_TESTS)


def test_types_of_the_package_and_the_examples(source: Path, tmp_path: Path) -> None:
    """mypy --strict over the examples, against the package as it is installed; and over the package itself."""
    mypy = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path]
    for files in (list((source / "examples").glob("*.py")), ["-p", "goblin"]):
        done = subprocess.run(
            [*mypy, "--config-file", source / "pyproject.toml", *files], cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_stubs_are_those_of_the_module(source: Path, tmp_path: Path) -> None:
    """python/goblin/_core.pyi is what nanobind makes of the module; ./dev stubs writes it."""
    made = tmp_path / "_core.pyi"
    stubgen = [sys.executable, "-m", "nanobind.stubgen", "-q", "-P", "-m", "goblin._core", "-o", made]
    subprocess.run(stubgen, check=True, cwd=tmp_path)
    assert made.read_text() == (source / "python" / "goblin" / "_core.pyi").read_text()


def test_only_numpy_is_needed(tmp_path: Path) -> None:
    program = """
import sys
for name in ("scipy", "networkx", "pandas", "polars", "matplotlib", "distributed", "mpi4py", "ray"):
    sys.modules[name] = None
import goblin
bandit = goblin.GobLin([("ann", "bob")], dimension=1)
bandit.update("ann", [1.0], 1.0)
assert bandit.select("bob", [[1.0], [-1.0]]) == 0
world = goblin.Cliques()
assert goblin.simulate(goblin.GobLin(world.graph), world, rounds=10).columns()
"""
    subprocess.run([sys.executable, "-c", program], check=True, cwd=tmp_path)


def test_versions_agree(source: Path) -> None:
    number = re.search(r"project\(goblin VERSION ([\d.]+)", (source / "CMakeLists.txt").read_text())
    package = re.search(r'^version = "([\d.]+)"', (source / "pyproject.toml").read_text(), flags=re.MULTILINE)
    assert number and package and number[1] == package[1] == goblin.__version__


def test_data_errors_are_value_errors() -> None:
    assert issubclass(goblin.DataError, ValueError) and goblin.DataError is _core.DataError
