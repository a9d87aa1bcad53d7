"""The paper's data, and your own files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, TypedDict, Unpack

from ._worlds import Dataset, dataset_read_from

Folder = str | os.PathLike[str]


class ContextOptions(TypedDict, total=False):
    """How the tags of an item become its context; docs/reproduction.md has what each does."""

    split_tags: bool
    lower_case: bool
    minimum_count: int | None
    keep_untagged: bool
    term_frequency: str
    inverse_document_frequency: bool
    smooth_idf: bool
    centre: bool
    count_untagged: bool
    zero_untagged: bool
    unit_contexts: bool


def lastfm(
    folder: Folder,
    *,
    dimension: int = 25,
    mean_length: float | None = None,
    reading: str | None = None,
    cache: Folder | None = None,
    **options: Unpack[ContextOptions],
) -> Dataset:
    """Last.fm (HetRec 2011): 1,892 users, their friends, and the artists they listen to.

    Parameters
    ----------
    folder : of the files, or the one that holds it as ``hetrec2011-lastfm-2k``; ``goblin data fetch lastfm`` gets it
    dimension : how many principal components of the artists' tags make a context
    mean_length : of the contexts, 1 if nothing else is said; 0 leaves them as they are
    reading : a named set of options, one reading of the paper's preprocessing: ``"unit-contexts"``, ``"literal"`` and
        others, which a wrong name lists
    cache : a folder where the prepared data is kept for the next time; optional
    **options : see ``ContextOptions``; those that contradict the reading are a ``ValueError``

    Raises ``goblin.DataError``, with file and line, on files of another form.
    """
    return _read("lastfm", folder, dimension, mean_length, reading, cache, options)


def delicious(
    folder: Folder,
    *,
    dimension: int = 25,
    mean_length: float | None = None,
    reading: str | None = None,
    cache: Folder | None = None,
    **options: Unpack[ContextOptions],
) -> Dataset:
    """Delicious (HetRec 2011): 1,867 users, their friends, and their bookmarks. Parameters as in ``lastfm``."""
    return _read("delicious", folder, dimension, mean_length, reading, cache, options)


def files(
    folder: Folder,
    *,
    dimension: int = 25,
    mean_length: float | None = None,
    reading: str | None = None,
    drop_self_loops: bool = False,
    repeated_payoffs: str = "refuse",
    **options: Unpack[ContextOptions],
) -> Dataset:
    """Your own ``edges.tsv``, ``items.tsv`` and ``payoffs.tsv`` in a folder: docs/own-catalogue.md has their form.

    Parameters
    ----------
    folder : of the three files
    dimension, mean_length, reading, **options : of the contexts that tags become, as in ``lastfm``
    drop_self_loops : leave out lines that join a user to themselves, which are a ``DataError`` otherwise
    repeated_payoffs : what counts where a user and an item stand together in several lines: ``"first"``, ``"last"``,
        their ``"sum"``; or ``"refuse"``, a ``DataError``
    """
    own = {"drop_self_loops": drop_self_loops, "repeated_payoffs": repeated_payoffs}
    return _read("files", folder, dimension, mean_length, reading, None, options, own)


def _read(
    kind: str,
    folder: Folder,
    dimension: int,
    mean_length: float | None,
    reading: str | None,
    cache: Folder | None,
    options: ContextOptions,
    own: Mapping[str, Any] | None = None,
) -> Dataset:
    unknown = options.keys() - ContextOptions.__annotations__.keys()
    if unknown:
        known = ", ".join(["dimension", "mean_length", "reading", *(own or {}), *ContextOptions.__annotations__])
        raise TypeError(f"{kind} has no option {min(unknown)!r}; it has {known}")
    given = {**options, **(own or {}), "dimension": dimension, "mean_length": mean_length, "reading": reading}
    return dataset_read_from(kind, os.fspath(folder), tuple(given.items()), "" if cache is None else os.fspath(cache))
