"""A compiled kernel is never older than the code that it was made from, wherever that code stands."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import abstractions
from abstractions import evaluator, kernel_cache
from abstractions.evaluator import _sorted_board
from abstractions.kernel_cache import closure_hash

KERNEL = """
from numba import njit
from game.rules import (
    double,  # a comment
)
from game.sizes import STEP as step


@njit(cache=True)
def play(x):
    return double(x) + step
"""
RULES = """
from numba import njit


@njit(cache=True)
def double(x):
    return FACTOR * x
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A kernel that calls one kernel of another file and reads a constant of a third."""
    shutil.copytree(
        Path(abstractions.__file__).parent,
        tmp_path / "abstractions",
        ignore=lambda _, names: [name for name in names if name not in ("__init__.py", "kernel_cache.py")],
    )
    game = tmp_path / "game"
    game.mkdir()
    (game / "__init__.py").write_text("")
    (game / "kernel.py").write_text(KERNEL)
    (game / "rules.py").write_text(RULES.replace("FACTOR", "2"))
    (game / "sizes.py").write_text("STEP = 1\n")
    (game / "words.py").write_text("GREETING = 'hello'\n")
    return tmp_path


def played(project: Path) -> tuple[int, int]:
    """What the kernel gives for 10 in a new process, and how many times it was read from the cache."""
    program = (
        "import abstractions; from game.kernel import play;"
        "print(play(10), sum(play.stats.cache_hits.values()))"
    )
    environment = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    environment["PYTHONPATH"] = str(project)
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    value, hits = map(int, done.stdout.split())
    return value, hits


def test_a_cached_kernel_follows_the_kernels_and_constants_that_it_uses(project: Path) -> None:
    assert played(project) == (21, 0)
    assert played(project) == (21, 1)
    (project / "game" / "rules.py").write_text(RULES.replace("FACTOR", "3"))
    assert played(project) == (31, 0)
    (project / "game" / "sizes.py").write_text("STEP = 2\n")
    assert played(project) == (32, 0)
    (project / "game" / "words.py").write_text("GREETING = 'good morning'\n")
    assert played(project) == (32, 1)


def test_the_hash_covers_what_is_imported_and_nothing_else(project: Path) -> None:
    def fresh(name: str) -> str:
        kernel_cache._imported.cache_clear()
        closure_hash.cache_clear()
        return closure_hash(project / "game" / name, project)

    kernel, words = fresh("kernel.py"), fresh("words.py")
    (project / "game" / "sizes.py").write_text("STEP = 5\n")
    assert fresh("kernel.py") != kernel
    assert fresh("words.py") == words


def test_the_kernels_of_this_project_are_kept_under_their_hash() -> None:
    locator = _sorted_board._cache._impl.locator
    assert locator.get_disambiguator().endswith(closure_hash(Path(evaluator.__file__)))
