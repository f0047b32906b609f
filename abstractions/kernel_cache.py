"""Where compiled kernels are kept, so that none is older than the code that it was made from.

numba compiles a kernel again when its own file changes. But a compiled kernel holds the code of every kernel that it
calls, and the constants that it reads, from whatever file. So the name of a cached kernel has a hash of its file and of
all files of this project that it imports, directly or not.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from numba.core.caching import InTreeCacheLocator, UserProvidedCacheLocator, UserWideCacheLocator

ROOT = Path(__file__).parents[1]
#: ``import a.b`` or ``from a.b import c, d``, at any depth of the file.
_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+)?import[ \t]+(\([^)]*\)|[^\n]*)", re.MULTILINE)


def _modules(text: str) -> Iterator[str]:
    """Names of modules that a file may import, and of what it takes from them, which may be modules too."""
    for source, names in _IMPORT.findall(text):
        taken = re.findall(r"[\w.]+", re.sub(r"#[^\n]*|\bas\s+\w+", "", names))
        if source:
            yield source
        yield from (f"{source}.{name}" if source else name for name in taken)


@cache
def _file_of(module: str, root: Path) -> Path | None:
    """File of a module of the project; None for other modules and for names that are no module."""
    place = root.joinpath(*module.split("."))
    for path in (place.with_suffix(".py"), place / "__init__.py"):
        if path.is_file():
            return path
    return None


@cache
def _imported(path: Path, root: Path) -> tuple[bytes, tuple[Path, ...]]:
    """Hash of a file, and the files of the project that it imports."""
    content = path.read_bytes()
    files = {_file_of(module, root) for module in _modules(content.decode())}
    return hashlib.sha256(content).digest(), tuple(sorted(file for file in files if file is not None))


@cache
def closure_hash(path: Path, root: Path = ROOT) -> str:
    """Hash of a file and of all files below `root` that it imports, directly or not."""
    reached = {path}
    waiting = [path]
    while waiting:
        fresh = set(_imported(waiting.pop(), root)[1]) - reached
        reached |= fresh
        waiting += fresh
    whole = hashlib.sha256()
    for file in sorted(reached):
        whole.update(_imported(file, root)[0])
    return whole.hexdigest()[:16]


class _ByClosure:
    """Part of a numba cache locator: names tell apart what the imported files hold."""

    _py_file: str
    _lineno: int

    def get_disambiguator(self) -> str:
        """What numba puts into the names of the files of a kernel."""
        return f"{self._lineno}-{closure_hash(Path(self._py_file).resolve())}"


class UserProvided(_ByClosure, UserProvidedCacheLocator):
    """The folder of ``NUMBA_CACHE_DIR``."""


class InTree(_ByClosure, InTreeCacheLocator):
    """``__pycache__`` beside the file of the kernel."""


class UserWide(_ByClosure, UserWideCacheLocator):
    """The user's cache folder, where the package cannot be written to."""
