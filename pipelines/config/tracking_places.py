"""Where MLflow may record runs: known backends, and folders that somebody has made.

MLflow creates every folder on the way to a file that it is told to write, so a slip in a path would leave folders
wherever it points. Here the folder must exist, or belong to the store, which the run creates.
"""

from __future__ import annotations

import os
from urllib.parse import unquote, urlsplit

from solver.validation import rejection

_DATABASES = ("postgresql", "mysql", "mssql")
#: First bytes of an SQLite file.
_SQLITE = b"SQLite format 3\0"
_ACCEPTED = (
    "sqlite:///FILE, http://HOST or https://HOST, a database such as postgresql://USER@HOST/NAME (also mysql, "
    "mssql), or databricks"
)


def check_uri(uri: str) -> None:
    """Refuse a tracking URI that names no backend of MLflow, or none of its places."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        raise rejection("uri", uri, _ACCEPTED) from None
    if parts.scheme in ("http", "https"):
        known = bool(parts.hostname)
    elif parts.scheme.partition("+")[0] in _DATABASES:
        known = "://" in uri and bool(parts.hostname or parts.query)
    elif uri.startswith("sqlite:///"):
        known = _local_path(uri) is not None
    else:
        # MLflow no longer records into plain folders (file:FOLDER).
        known = parts.scheme == "databricks" or uri == "databricks"
    if not known:
        raise rejection("uri", uri, _ACCEPTED)


def check_folders(uri: str, artifacts: str | None, store_root: str) -> None:
    """Refuse local places whose folder does not exist, unless the run creates it with its store."""
    store = os.path.realpath(store_root)
    for key, place in (("uri", uri), ("artifacts", artifacts)):
        path = None if place is None else _local_path(place, plain=key == "artifacts")
        if path is None:
            continue
        folder = os.path.dirname(path)
        in_store = os.path.commonpath([path, store]) == store
        if not (in_store or os.path.isdir(folder)):
            raise rejection(f"tracking.{key}", place, f"a place in a folder that exists; {folder} does not")
        if key == "uri" and not _may_hold_database(path):
            raise rejection(f"tracking.{key}", place, f"an SQLite database; {path} is something else")


def _may_hold_database(path: str) -> bool:
    """Whether a path is free for an SQLite database, or holds one."""
    if not os.path.exists(path):
        return True
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(len(_SQLITE)) in (b"", _SQLITE)


def _local_path(uri: str, *, plain: bool = False) -> str | None:
    """The file or folder that a URI names on this machine; `plain`: a path without scheme counts."""
    if uri.startswith("sqlite:///"):
        name = uri.removeprefix("sqlite:///").partition("?")[0]
        return os.path.realpath(name) if name not in ("", ":memory:") else None
    if uri.startswith("file:"):
        parts = urlsplit(uri)
        here = parts.path and parts.netloc in ("", "localhost")
        return os.path.realpath(unquote(parts.path)) if here else None
    return os.path.realpath(uri) if plain and "://" not in uri else None
