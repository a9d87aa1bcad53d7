"""Logs of rewards as files that ``goblin fit`` learns from."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Hashable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._missing import check_finite

# docs/events-file.md has the form.
_MAGIC = b"\x89GOE\r\n\x1a\n"
_NAMES, _REWARDS, _END = 1, 2, 3
_BLOCK_BYTES = 4_000_000


def write_events(path: str | os.PathLike[str], users: Iterable[Hashable], X: ArrayLike, rewards: ArrayLike) -> None:
    """Writes rewards to a file that ``goblin fit`` reads, a few times faster than JSON lines; all of it or nothing.

    Users are what they are for a bandit, and so are the names in the file: ``10`` and ``"10"`` are the same.

    Parameters
    ----------
    path : the file
    users : n users, as a list, an array or a column
    X : array of shape (n, dimension)
    rewards : array of shape (n,)

    >>> import goblin, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "log.gobe")
    >>> goblin.write_events(path, ["ann", "bob"], [[1.0, 0.0], [0.0, 1.0]], [1.0, 0.0])
    >>> os.path.getsize(path)
    182
    """
    contexts = _numbers(X, "X")
    payoffs = _numbers(rewards, "rewards")
    texts, index = _numbered(users)
    if contexts.ndim != 2 or len(contexts) != len(index) or contexts.shape[1] == 0:
        raise ValueError(f"X: shape {contexts.shape} (must be ({len(index)}, dimension), one row a user)")
    if payoffs.shape != (len(index),):
        raise ValueError(f"rewards: shape {payoffs.shape} (must be ({len(index)},))")
    check_finite("X", contexts, "number")
    check_finite("rewards", payoffs, "reward")
    descriptor, temporary = _new_file_beside(os.fsdecode(path))
    try:
        with open(descriptor, "wb") as file:
            for part in _parts(texts, index, contexts, payoffs):
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _new_file_beside(path: str) -> tuple[int, str]:
    """A file that was not there, open to be written, with the rights of any new file."""
    number = 0
    while True:
        name = f"{path}.{os.getpid()}-{number}"
        try:
            return os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), name
        except FileExistsError:
            number += 1


def _numbers(given: ArrayLike, name: str) -> NDArray[np.float64]:
    try:
        return np.asarray(given, dtype="<f8", order="C")
    except (ValueError, TypeError) as error:
        raise ValueError(f"{name}: cannot be read as an array of numbers: {error}") from None


def _numbered(users: Any) -> tuple[list[bytes], NDArray[np.uint32]]:
    """The users' names in the file, and which of them each row has; no names where the users are such numbers."""
    array = users.to_numpy() if hasattr(users, "to_numpy") else users
    is_whole = isinstance(array, np.ndarray) and array.dtype.kind in "iu" and array.ndim == 1
    if is_whole and (array.size == 0 or (int(array.min()) >= 0 and int(array.max()) < 2**32)):
        return [], array.astype("<u4")
    given = array.tolist() if hasattr(array, "tolist") else array
    if isinstance(given, str | bytes) or not hasattr(given, "__iter__"):
        raise TypeError(f"users: {given!r} (must be a list or an array, one a row)")
    names, index = _core.numbered_names(given, 1, "users")
    return _core.name_texts(names), index.astype("<u4")


def _parts(
    texts: list[bytes], index: NDArray[np.uint32], contexts: NDArray[np.float64], rewards: NDArray[np.float64]
) -> Iterator[bytes]:
    dimension = contexts.shape[1]
    header = _MAGIC + struct.pack("<IQI", 1, dimension, 1 if texts else 0)
    yield header + struct.pack("<I", zlib.crc32(header))
    for some in _names_of_blocks(texts):
        yield from _block(_NAMES, b"".join(some))
    step = max(1, _BLOCK_BYTES // (12 + 8 * dimension))
    for begin in range(0, len(index), step):
        rows = slice(begin, begin + step)
        columns = [index[rows].tobytes(), rewards[rows].tobytes(), contexts[rows].tobytes()]
        yield from _block(_REWARDS, b"".join([struct.pack("<Q", len(index[rows])), *columns]))
    yield from _block(_END, struct.pack("<Q", len(index)))


def _names_of_blocks(texts: list[bytes]) -> Iterator[list[bytes]]:
    some: list[bytes] = []
    size = 0
    for text in texts:
        some.append(struct.pack("<Q", len(text)) + text)
        size += len(some[-1])
        if size >= _BLOCK_BYTES:
            yield some
            some, size = [], 0
    if some:
        yield some


def _block(kind: int, content: bytes) -> tuple[bytes, bytes]:
    header = struct.pack("<IQI", kind, len(content), zlib.crc32(content))
    return header + struct.pack("<I", zlib.crc32(header)), content
